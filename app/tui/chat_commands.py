"""What each command does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gemma_local.app.counted import counted
from gemma_local.app.errors import UsageError
from gemma_local.app.tui.suspending import suspend
from gemma_local.app.tui.transcript.answer_item import AnswerItem

if TYPE_CHECKING:
    # A page, and what it needs, is loaded when it is opened: the first picture waits for none.
    from gemma_local.app.agent.consent import Mode
    from gemma_local.app.best.wish import Wish
    from gemma_local.app.dialogue import Dialogue
    from gemma_local.app.quick_tasks import Source, TaskName
    from gemma_local.app.sessions.entry import Entry, SessionInfo
    from gemma_local.app.tui.commands.arguments import CopyWhat
    from gemma_local.app.tui.commands.target import Setting
    from gemma_local.app.tui.screens.chat import ChatScreen
    from gemma_local.app.tui.screens.rewind import Verb

_FILE_NAME = 40


class ChatCommands:
    """Carries commands out on the chat screen; see ``CommandTarget`` for what each is to do."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._tasks = 0

    # ---------------------------------------------------------------------------- conversation

    def clear(self) -> None:
        self._open_first()
        self._screen.desk.begin_new()

    def resume(self, session: str) -> None:
        screen = self._screen
        store = screen.desk.store
        self._open_first()
        if store is None:
            raise UsageError("nothing is saved here, so there is no other conversation")
        if session:
            screen.desk.resume(store.find(session).id)
            return
        from gemma_local.app.sessions.command import remove_states
        from gemma_local.app.tui.screens.sessions import SessionPicker

        current = screen.opened.label if screen.opened is not None else None
        picker = SessionPicker(
            store,
            screen.gemma.folder,
            current=current,
            remove_states=remove_states,
            glyphs=screen.gemma.glyphs,
        )
        screen.app.push_screen(picker, lambda id_: screen.desk.resume(id_) if id_ else None)

    def branch(self, number: int | None) -> None:
        self._go_back("branch", number)

    def rewind(self, number: int | None) -> None:
        self._go_back("rewind", number)

    def _go_back(self, verb: Verb, number: int | None) -> None:
        self._open_first()
        screen, desk = self._screen, self._screen.desk

        def go(entry: int | None) -> None:
            if entry is not None and verb == "rewind":
                desk.rewind(entry)
            elif entry is not None:
                desk.branch(entry - 1)

        def choose(entries: Sequence[Entry]) -> None:
            said = [
                entry.number
                for entry in entries
                if entry.message.role == "user" and entry.kind == "message"
            ]
            if number is None:
                from gemma_local.app.tui.screens.rewind import RewindPicker

                picker = RewindPicker(entries, verb, glyphs=screen.gemma.glyphs)
                screen.app.push_screen(picker, go)
            elif number > len(said):
                screen.toast(f"you have said {len(said)} messages; give one of their numbers")
            else:
                go(said[number - 1])

        self.with_entries(choose)

    def retry(self) -> None:
        self._open_first()
        self._screen.retry()

    def undo(self) -> None:
        self._open_first()
        self._screen.desk.undo()

    def redo(self) -> None:
        self._open_first()
        self._screen.desk.undo(again=True)

    def go_on(self) -> None:
        self._open_first()
        self._screen.go_on()

    def best(self, wish: Wish) -> None:
        self._open_first()
        self._screen.sending.best(wish)

    def compact(self) -> None:
        self._open_first()
        self._screen.desk.compact()

    def context(self) -> None:
        from gemma_local.app.tui.screens.context import ContextScreen

        self._open_first()
        self._screen.app.push_screen(ContextScreen(glyphs=self._screen.gemma.glyphs))
        self._screen.desk.count()

    def title(self, title: str) -> None:
        opened, store = self._screen.opened, self._screen.desk.store
        if opened is None or store is None or not opened.label:
            raise UsageError("this conversation is not saved, so it has no title")
        if not self._screen.gemma.chat_label:
            raise UsageError("nothing was said yet, so there is nothing that could have a title")
        kept = store.rename(opened.label, title)
        self._screen.say(f"this conversation is now called {kept}")

    # ----------------------------------------------------------------------------------- model

    def model(self, name: str) -> None:
        if name:
            self._screen.starting.use(name)
        else:
            self._screen.starting.pick()

    def think(self, tokens: int | None) -> None:
        self._open_first()
        words = {None: "off", 0: "on"}.get(tokens, f"on, at most {tokens} tokens")
        self._screen.desk.think(tokens, f"thinking is {words} from the next message on")

    def draft(self, length: int | None) -> None:
        self._open_first()
        words = {None: "as many tokens as pay", 0: "nothing"}.get(length, f"{length} tokens")
        self._screen.desk.draft(length, f"the drafter drafts {words} from the next message on")

    def stats(self) -> None:
        from gemma_local.app.tui.screens.stats import StatsScreen

        screen = self._screen
        measured = screen.speedometer.measured(screen.desk.engine_pid)
        screen.app.push_screen(StatsScreen(measured, glyphs=screen.gemma.glyphs))

    def mode(self, mode: Mode) -> None:
        self._screen.change_mode(mode)

    # ----------------------------------------------------------------------------------- texts

    def quick_task(self, name: TaskName, text: str) -> None:
        self._open_first()
        self._screen.errands.prepare_task(name, text)

    def read_source(self, text: str) -> Source:
        """The text that a task works on. Reads files and the clipboard: not for the thread that
        draws. Raises NothingToDo, NoClipboard, Unreadable."""
        from gemma_local.app import clipboard
        from gemma_local.app.attachments import attach
        from gemma_local.app.quick_tasks import source_of

        folder = self._screen.gemma.folder

        def read_file(path: str) -> str:
            attached = attach(f'@"{path}"', folder)
            if not attached.spans:
                raise UsageError(f"there is no file {path}; give one of this folder behind the @")
            start, end = attached.spans[0]
            return attached.text[start:end]

        return source_of(text, clipboard.paste, read_file)

    def begin_task(self, name: TaskName, source: Source) -> None:
        """The text for a task is there."""
        from gemma_local.app.quick_tasks import shown_as

        self._tasks += 1
        label = f"/{name}" + (f" {source.label}" if source.label else "")
        self._screen.begin_task(self._tasks, label, shown_as(name), source, name)

    def copy(self, what: CopyWhat) -> None:
        items = self._screen.transcript.items
        answers = [item for item in items if isinstance(item, AnswerItem) and item.plain()]
        if what.kind == "all":
            text = "\n\n".join(item.plain() for item in items if item.plain())
            self._screen.errands.copy(text, "the conversation")
        elif not answers:
            raise UsageError("there is no answer yet that could be copied")
        elif what.kind == "last":
            self._screen.errands.copy(answers[-1].plain(), "the last answer")
        else:
            latest = answers[-1].code()
            blocks = latest or [code for item in answers for code in item.code()]
            if not blocks:
                raise UsageError("there is no code yet that could be copied")
            if what.number > len(blocks):
                have = "the last answer has" if latest else "the answers have"
                raise UsageError(f"{have} {counted(len(blocks), 'block')} of code")
            self._screen.errands.copy(blocks[what.number - 1], "the code")

    def export(self, path: Path | None) -> None:
        opened, store = self._screen.opened, self._screen.desk.store
        if opened is None:
            raise UsageError("there is no conversation yet")
        screen = self._screen

        def write(entries: Sequence[Entry]) -> None:
            from gemma_local.app.sessions.exporting import exported, format_of

            if not entries:
                screen.toast("nothing was said yet")
                return
            info = store.find(opened.label) if store and opened.label else _unsaved(screen, entries)
            target = path or screen.gemma.folder / _file_name(info.title)
            screen.errands.export(target, exported(info, entries, format_of(target)))

        self.with_entries(write)

    def edit(self) -> None:
        self._screen.composer.edit_externally()

    # ---------------------------------------------------------------------------------- screen

    def find(self, words: str) -> None:
        self._screen.open_find(words)

    def thoughts(self, shown: bool | None) -> None:
        look = self._screen.transcript.look
        self._screen.change_look(
            replace(look, thoughts=not look.thoughts if shown is None else shown)
        )

    def tint(self, on: bool | None) -> None:
        look = self._screen.transcript.look
        self._screen.change_look(replace(look, tint=not look.tint if on is None else on))

    def theme(self, name: str) -> None:
        self._screen.gemma.change_theme(name)

    def tell(self, setting: Setting) -> None:
        screen, options = self._screen, self._screen.desk.options
        match setting:
            case "draft":
                value = {None: "auto", 0: "off"}.get(options.draft, str(options.draft))
            case "think":
                value = {None: "off", 0: "on"}.get(options.think, str(options.think))
            case "theme":
                value = screen.app.theme
            case "mode":
                value = screen.mode
        screen.say(f"/{setting} is {value}")

    def help(self) -> None:
        from gemma_local.app.tui.screens.help import HelpScreen

        gemma = self._screen.gemma
        gemma.push_screen(HelpScreen(gemma.keys, glyphs=gemma.glyphs))

    def suspend(self) -> None:
        suspend(self._screen.app)

    def exit(self) -> None:
        self._screen.app.exit()

    # ---------------------------------------------------------------------------------- inside

    def _open_first(self) -> None:
        if not self._screen.is_open:
            raise UsageError("no model is loaded yet; /model chooses one")

    def with_entries(self, use: Callable[[Sequence[Entry]], None]) -> None:
        """Have ``use`` called with the conversation's entries, in the thread that draws."""
        screen = self._screen

        def look(dialogue: Dialogue) -> None:
            entries = tuple(dialogue.conversation.entries)
            screen.app.call_from_thread(use, entries)

        screen.desk.look(look)


def _unsaved(screen: ChatScreen, entries: Sequence[Entry]) -> SessionInfo:
    from gemma_local.app.sessions.entry import SessionInfo

    now = datetime.now(UTC)
    model = screen.opened.ready.name if screen.opened is not None else ""
    return SessionInfo(
        id="",
        title="conversation",
        folder=screen.gemma.folder,
        model=model,
        tokenizer="",
        created=entries[0].at,
        updated=now,
        messages=len(entries),
    )


def _file_name(title: str) -> str:
    """A name for a file that no system minds."""
    kept = "".join(letter if letter.isalnum() else "-" for letter in title.lower())
    words = "-".join(part for part in kept.split("-") if part)
    return f"{words[:_FILE_NAME].rstrip('-') or 'conversation'}.md"
