"""A folder in which files are changed as the model's tools change them, and its checkpoints."""

from __future__ import annotations

from pathlib import Path

from gemma_local.app.agent.checkpoints import Checkpoints
from gemma_local.app.agent.files.open_folder import OpenFolder


class Work:
    """A folder with files, and the checkpoints of what is done in it."""

    def __init__(self, folder: Path, most_bytes: int = 1_000_000) -> None:
        self.root = folder.resolve() / "project"
        self.root.mkdir(exist_ok=True)
        self.store = folder / "checkpoints"
        self.most_bytes = most_bytes
        self.reopen()

    def reopen(self) -> None:
        """As after a restart."""
        self.checkpoints = Checkpoints(
            self.store,
            lambda path: path.relative_to(self.root).as_posix(),
            most_bytes=self.most_bytes,
        )

    def write(self, message: int, name: str, content: bytes) -> None:
        """As a tool does it."""
        self.checkpoints.begin(message)
        path = self.root / name
        self.checkpoints.keep(path, content)
        with OpenFolder(path.parent, create=True) as folder:
            folder.write(path.name, content)

    def run(self, message: int, name: str, content: bytes | None) -> None:
        """As a command does it, of which is only known what it touches."""
        self.checkpoints.begin(message)
        path = self.root / name
        self.checkpoints.keep(path)
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        elif path.exists():
            path.unlink()
        self.checkpoints.settle()

    def undo(self) -> bool:
        plan = self.checkpoints.undo()
        if plan is not None:
            self.checkpoints.carry_out(plan)
        return plan is not None

    def redo(self) -> bool:
        plan = self.checkpoints.redo()
        if plan is not None:
            self.checkpoints.carry_out(plan)
        return plan is not None

    def tree(self) -> dict[str, tuple[int, bytes | None]]:
        """Every file and folder with mode and content."""
        return {
            path.relative_to(self.root).as_posix(): (
                path.stat().st_mode,
                path.read_bytes() if path.is_file() else None,
            )
            for path in sorted(self.root.rglob("*"))
        }
