"""Who carries commands out."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

from gemma_local.app.agent.consent import Mode
from gemma_local.app.best.wish import Wish
from gemma_local.app.quick_tasks import TaskName
from gemma_local.app.tui.commands.arguments import CopyWhat

Setting = Literal["draft", "think", "theme", "mode"]
"""What can be asked for by a command without an argument."""


class CommandTarget(Protocol):
    """One method for each command, called in the app's own thread.

    A method may raise GemmaLocalError, whose sentence is shown. What takes long it only begins.
    """

    # ---------------------------------------------------------------------------- conversation

    def clear(self) -> None:
        """Begin a new conversation; the one that ends stays among the sessions."""

    def resume(self, session: str) -> None:
        """Go on with another conversation: an id, its beginning or a title; "" shows a list."""

    def branch(self, number: int | None) -> None:
        """Go on in a copy that ends before the person's ``number``-th message; None lets them
        choose."""

    def rewind(self, number: int | None) -> None:
        """Go back to before the person's ``number``-th message; None lets them choose."""

    def retry(self) -> None:
        """Have the last message answered again."""

    def undo(self) -> None:
        """Take back what the last turn did to files."""

    def redo(self) -> None:
        """Do what was taken back last again."""

    def go_on(self) -> None:
        """Have the model go on with work that was stopped."""

    def best(self, wish: Wish) -> None:
        """Have several attempts made at a task, and offer the best."""

    def compact(self) -> None:
        """Make room in the context now."""

    def context(self) -> None:
        """Show what takes how much of the context."""

    def title(self, title: str) -> None:
        """Give the conversation this title."""

    # ----------------------------------------------------------------------------------- model

    def model(self, name: str) -> None:
        """Change to another model, by size or path; "" shows a list."""

    def think(self, tokens: int | None) -> None:
        """Let the model think first: at most so many tokens, 0 without a limit, None not at all."""

    def draft(self, length: int | None) -> None:
        """Draft so many tokens, 0 none; None lets the engine choose."""

    def stats(self) -> None:
        """Show what was measured."""

    def mode(self, mode: Mode) -> None:
        """What the model may do without asking."""

    # ----------------------------------------------------------------------------------- texts

    def quick_task(self, name: TaskName, text: str) -> None:
        """A small task beside the conversation; ``text`` as ``quick_tasks.source_of`` takes it."""

    def copy(self, what: CopyWhat) -> None:
        """Copy something said to the clipboard."""

    def export(self, path: Path | None) -> None:
        """Write the conversation to a file, whose ending says how; None: in this folder, named
        after its title."""

    def edit(self) -> None:
        """Go on writing in an editor."""

    # ---------------------------------------------------------------------------------- screen

    def find(self, words: str) -> None:
        """Search the conversation; "" lets the person type."""

    def thoughts(self, shown: bool | None) -> None:
        """Open or close all thoughts; None: the other of the two."""

    def tint(self, on: bool | None) -> None:
        """Tint what was drafted, or not; None: the other of the two."""

    def theme(self, name: str) -> None:
        """Change to a theme that there is."""

    def tell(self, setting: Setting) -> None:
        """Say what something is set to now."""

    def help(self) -> None:
        """Show keys and commands."""

    def suspend(self) -> None:
        """Give the terminal to the shell until it brings the app back."""

    def exit(self) -> None:
        """Leave."""
