# Homebrew formula of gemma-local, filled by packaging/release.py. It installs a bundle, whose
# wheels are all built: nothing is compiled and nothing else is fetched.
class GemmaLocal < Formula
  desc "Chat and coding assistant that runs Gemma 4 on this machine, offline"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "Apache-2.0"

  depends_on "python@@PYTHON@"

@BUNDLES@
  def install
    python = Formula["python@@PYTHON@"].opt_bin/"python@PYTHON@"
    system python, "install.py", "--prefix", libexec, "--bin", bin, "--share", share
  end

  def caveats
    <<~TEXT
      `gemma-local models get E2B` downloads a model; `gemma-local paths` lists what stays on this
      machine when the formula is removed.
    TEXT
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/gemma-local --version")
  end
end
