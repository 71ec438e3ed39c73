"""Writes what is found out of each recorded machine.

Read the difference before keeping it: a golden file is a claim about a machine.
"""

from __future__ import annotations

import json

from tests.engine.hardware.recorded import FOLDER, NAMES, found

if __name__ == "__main__":
    for name in NAMES:
        path = FOLDER / name / "golden.json"
        path.write_text(json.dumps(found(name), indent=1) + "\n", encoding="utf-8")
