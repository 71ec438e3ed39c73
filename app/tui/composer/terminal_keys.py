"""Keys that Textual does not know by what terminals send for them."""

from __future__ import annotations

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.keys import Keys


def teach_alt_enter() -> None:
    """Let Alt-Enter make a new line in terminals without the kitty protocol.

    They send Escape and Enter, which Textual takes for Enter alone, after a wait: it would send a
    message that is not finished.
    """
    # A dict, though declared as a Mapping.
    table: dict[str, tuple[Keys, ...] | str] = ANSI_SEQUENCES_KEYS  # type: ignore[assignment]
    for sequence in ("\x1b\r", "\x1b\n"):
        table.setdefault(sequence, (Keys.ControlJ,))
