"""Says that the engine is gone, and what to do about it."""

from __future__ import annotations

from textual.widgets import Static


class EngineBanner(Static):
    """Above the composer while the engine's process is gone."""

    DEFAULT_CSS = """
    EngineBanner {
        display: none; height: auto; padding: 0 2;
        background: $error-muted; color: $text-error;
    }
    """

    def __init__(self, restart: str, *, id: str | None = None) -> None:  # noqa: A002
        """``restart`` is the key that starts the engine again, as people read it."""
        text = (
            f"The engine has ended, and nothing of the conversation is lost. {restart} starts it "
            "again; so does the next message."
        )
        super().__init__(text, id=id, markup=False)

    def show(self, *, is_down: bool) -> bool:
        """Be there or not; whether that is a change."""
        is_change = self.display != is_down
        self.display = is_down
        return is_change
