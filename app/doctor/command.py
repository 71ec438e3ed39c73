"""Running ``gemma-local doctor``."""

from __future__ import annotations

from gemma_local.app.doctor.arguments import DoctorOptions
from gemma_local.app.doctor.examination import examine
from gemma_local.app.doctor.screen import screen
from gemma_local.app.errors import UsageError
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.model_choice import size_named
from gemma_local.app.output import write_json


def run(options: DoctorOptions) -> ExitCode:
    """Examine the machine and say what was found. Raises UsageError for a size there is not."""
    label = size_named(options.size) if options.size is not None else None
    if options.size is not None and label is None:
        raise UsageError(
            f"--size: {options.size!r} is no size of Gemma 4; give E2B, E4B, 12B, 26B-A4B or 31B"
        )
    found = examine()
    if options.json:
        write_json(found.as_json())
    else:
        print(screen(found, label))
    return ExitCode.FAILED if found.is_broken else ExitCode.OK
