from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.attachments import attach
from gemma_local.app.workspace.errors import Sensitive, Unreadable

NUMBERED = "".join(f"line {number}\n" for number in range(1, 101))


def test_a_file_stands_behind_the_message(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("import os\n")
    attached = attach("Explain @src/a.py please", tmp_path)
    assert attached.text == (
        "Explain @src/a.py please\n\nFile src/a.py:\n```python\nimport os\n```"
    )
    (span,) = attached.spans
    assert attached.text[slice(*span)] == "import os\n"
    (file,) = attached.files
    assert (file.path, file.lines, file.characters) == ("src/a.py", None, 10)


def test_lines_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(NUMBERED)
    attached = attach("@a.txt:10-12 @a.txt:99-200 @a.txt:1", tmp_path)
    texts = [attached.text[slice(*span)] for span in attached.spans]
    assert texts == ["line 10\nline 11\nline 12\n", "line 99\nline 100\n", "line 1\n"]
    assert "File a.txt, lines 99-100:" in attached.text and "a.txt, line 1:" in attached.text
    with pytest.raises(Unreadable, match="fewer than 101 lines"):
        attach("@a.txt:101", tmp_path)


def test_lines_of_a_file_that_is_too_large_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "big.log").write_text(NUMBERED * 1000)
    with pytest.raises(Unreadable, match=r"792 kB.*big\.log:1-200"):
        attach("@big.log", tmp_path)
    attached = attach("@big.log:99901-99910", tmp_path)
    assert attached.text.count("line ") == 10
    with pytest.raises(Unreadable, match="fewer of them"):
        attach("@big.log:1-99999", tmp_path)


def test_what_is_no_file_stays_text(tmp_path: Path) -> None:
    text = "Write to me@example.org about @property and @gone/away.py or @gone.py"
    attached = attach(text, tmp_path)
    assert attached.text == text and not attached.spans
    assert attached.missing == ("gone/away.py", "gone.py")


def test_a_file_is_attached_once(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    attached = attach(f"@a.py @./a.py @{tmp_path}/a.py @a.py:1", tmp_path)
    assert [file.lines for file in attached.files] == [None, (1, 1)]


def test_folders_are_refused_and_their_list_is_offered(tmp_path: Path) -> None:
    (tmp_path / "src/in").mkdir(parents=True)
    (tmp_path / "src/in/b.py").touch()
    (tmp_path / "src/a.py").touch()
    with pytest.raises(Unreadable, match="write @src/ to attach a list"):
        attach("@src", tmp_path)
    attached = attach("@src/", tmp_path)
    assert attached.text.endswith("Files in src/:\n```\na.py\nin/b.py\n```")
    assert [attached.text[slice(*span)] for span in attached.spans] == ["a.py\nin/b.py"]


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        (b"\xef\xbb\xbfa\r\nb\rc", "a\nb\nc", ""),
        ("ä\n€".encode("utf-16"), "ä\n€", ""),
        ("ä€".encode("utf-32"), "ä€", ""),
        (b"caf\xe9", "café", "a.txt: it is not UTF-8: read as Latin-1"),
        (b"x" * 9000 + b"\0", "x" * 9000 + "\ufffd", ""),
        (b"", "", ""),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, text: str, note: str) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    attached = attach("@a.txt", tmp_path)
    assert "".join(attached.text[slice(*span)] for span in attached.spans) == text
    assert attached.notes == ((note,) if note else ())


def test_lines_of_utf_16(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("ä\r\nö\r\nü\r\n".encode("utf-16"))
    attached = attach("@a.txt:2-3", tmp_path)
    assert attached.text[slice(*attached.spans[0])] == "ö\nü\n"


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"GIF89a\0\1")
    with pytest.raises(Unreadable, match="binary"):
        attach("@a.bin", tmp_path)
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(Unreadable, match="no ordinary file"):
            attach("@pipe", tmp_path)
        (tmp_path / "shut").write_text("x")
        (tmp_path / "shut").chmod(0)
        if os.geteuid():
            with pytest.raises(Unreadable, match="permission denied"):
                attach("@shut", tmp_path)


@pytest.mark.parametrize(
    "name", [".env", ".env.local", "server.pem", "id_rsa", ".ssh/config", "ID_ED25519", "a.key"]
)
def test_secrets_want_a_yes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("token")
    with pytest.raises(Sensitive, match="confirm") as caught:
        attach(f"@{name}", tmp_path)
    assert caught.value.paths == (name,)
    assert "token" in attach(f"@{name}", tmp_path, may_read_secrets=True).text
    if sys.platform != "win32":
        (tmp_path / "harmless").symlink_to(tmp_path / name)
        with pytest.raises(Sensitive):
            attach("@harmless", tmp_path)


@pytest.mark.parametrize("name", [".env.example", "id_generator.py", "id_rsa.pub", "keys.py"])
def test_what_only_sounds_like_a_secret_wants_none(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    assert attach(f"@{name}", tmp_path).spans


CONTENT = st.text(st.sampled_from("ab `~\n\t#é😀"), max_size=60)


@given(st.lists(CONTENT, min_size=1, max_size=4), CONTENT)
def test_spans_are_the_files_and_no_fence_ends_early(
    tmp_path_factory: pytest.TempPathFactory, contents: list[str], said: str
) -> None:
    folder = tmp_path_factory.mktemp("attached")
    for number, content in enumerate(contents):
        (folder / f"{number}.md").write_bytes(content.encode())
    names = " ".join(f"@{number}.md" for number in range(len(contents)))
    attached = attach(f"{said} {names}", folder)
    taken = [attached.text[slice(*span)] for span in attached.spans]
    assert taken == [content for content in contents if content]
    assert attached.text.startswith(f"{said} {names}\n\n")
    # Read as Markdown: headings and fences, and within each the file and nothing else.
    rest = attached.text.removeprefix(f"{said} {names}")
    for number, content in enumerate(contents):
        heading, _, rest = rest.removeprefix("\n\n").partition("\n")
        assert heading == f"File {number}.md:"
        opening, _, rest = rest.partition("\n")
        fence = opening.removesuffix("markdown")
        assert set(fence) == {"`"} and fence not in content
        body = content if content.endswith("\n") or not content else f"{content}\n"
        assert rest.startswith(body + fence)
        rest = rest.removeprefix(body + fence)
    assert rest == ""
