"""Makes ``.venv`` and installs gemma-local into it: ``python3 packaging/make_venv.py [EXTRA...]``.

The standard library is enough for it, and a second call with nothing to do ends at once. This file
keeps to what any Python 3 can read, so that an old one gets a sentence and no traceback.
"""

import sys

MINIMUM = (3, 11)


def refusal(version: "tuple[int, int]", executable: str) -> "str | None":
    """Why this Python can't be used, or None if it can."""
    if version >= MINIMUM:
        return None
    return (
        f"gemma-local needs Python {MINIMUM[0]}.{MINIMUM[1]} or newer, and {executable} is "
        f"Python {version[0]}.{version[1]}: install a newer one and name it, for example "
        "`make run PYTHON=python3.12`."
    )


def main(extras: "list[str]") -> int:
    """Set ``.venv`` up and return the exit code."""
    problem = refusal(sys.version_info[:2], sys.executable)
    if problem:
        print(problem, file=sys.stderr)
        return 1

    # Not at the top: these modules use what only a Python that passed the check above has.
    from pathlib import Path

    from setup_steps import SetupProblem, set_up

    try:
        set_up(Path(__file__).resolve().parent.parent, extras)
    except SetupProblem as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Setting .venv up failed: {error}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
