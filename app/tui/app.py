"""The app: it opens screens, passes the desk's news to them, and knows the settings."""

from __future__ import annotations

import locale
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.message import Message

from gemma_local.app.errors import BadSettings
from gemma_local.app.options import AnswerOptions
from gemma_local.app.settings import Settings
from gemma_local.app.settings_file import remember
from gemma_local.app.tui.attention import Attention, driver_write
from gemma_local.app.tui.commands.key_names import display
from gemma_local.app.tui.commands.keys import KEYS, Key, binding, chosen_keys, keymap, shown_key
from gemma_local.app.tui.commands.provider import PALETTE_CSS, CommandProvider
from gemma_local.app.tui.desk import Desk
from gemma_local.app.tui.glyphs import glyphs_for
from gemma_local.app.tui.news import News, NewsBuffer
from gemma_local.app.tui.palette import Palette
from gemma_local.app.tui.screens.chat import ChatScreen
from gemma_local.app.tui.terminal_answers import is_dark_by_environment
from gemma_local.app.tui.themes import DARK, LIGHT, THEMES
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.update_pace import UpdatePace
from gemma_local.models.errors import GemmaLocalError

if TYPE_CHECKING:
    from textual.driver import Driver

    from gemma_local.app.agent.consent import Mode
    from gemma_local.app.tui.early_terminal import EarlyTerminal
    from gemma_local.app.tui.status.page_screen import PageScreen


TOASTS_CSS: Final = """
ToastRack { align: right top; margin: 0; overflow: hidden; }
ChatScreen > ToastRack { dock: top; }
Toast { padding: 0 1; background: $panel; }
"""
"""For the app's CSS: where something is written at the bottom, what goes by itself shows up at the
top."""


class GemmaLocalApp(App[None]):
    """gemma-local on the screen."""

    TITLE = "gemma-local"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {CommandProvider}
    # Without it Textual would add one of its own, which no setting could change.
    BINDINGS: ClassVar[list[BindingType]] = [replace(binding("palette"), show=False)]
    CSS = f"{PALETTE_CSS}{TOASTS_CSS}"

    class NewsCame(Message):
        """Something waits to be told."""

    def __init__(
        self,
        options: AnswerOptions,
        settings: Settings,
        on_shown: Callable[[], None] = lambda: None,
        terminal: EarlyTerminal | None = None,
    ) -> None:
        """``on_shown`` is called when the first picture is on the screen. ``terminal`` was taken
        before."""
        super().__init__(driver_class=_driver_class(terminal))
        self.terminal = terminal
        self._on_shown = on_shown
        self.options = options
        self.settings = settings
        self.folder = Path.cwd()
        """Where it was started, also when that folder is gone."""
        self.keys: tuple[Key, ...] = KEYS
        """What keys do, the person's own among them."""
        self.glyphs = glyphs_for(settings.screen.glyphs, locale.getencoding(), os.environ)
        self.failure: GemmaLocalError | None = None
        """Why it could not even begin."""
        self.is_interrupted = False
        """Whether it was ended from outside, and must not take its time."""
        self._heard_interrupts: Any = None
        """What heard Ctrl-C before; None before it is heard here."""
        self._news = NewsBuffer(self._call)
        self._chat: ChatScreen | None = None
        self._pace = UpdatePace()
        self._wants_terminals_theme = False
        self.mode = cast("Mode", options.mode or settings.agent.mode)
        """What the model may do when it begins."""
        agent = settings.agent.model_copy(update={"mode": self.mode})
        self.desk = Desk(replace(options), agent, self._news.put, self._steering)
        self.attention = Attention(settings.notify, driver_write(self))
        for theme in THEMES:
            self.register_theme(theme)

    # -------------------------------------------------------------------------------- lifetime

    def on_mount(self) -> None:
        self._set_theme(self.settings.screen.theme)
        try:
            self.keys = chosen_keys(self.settings.keys)
            self.set_keymap(keymap(self.settings.keys))
        except BadSettings as error:
            self.notify(str(error), severity="error", markup=False, timeout=20)
        self._heed_signals()
        self._chat = ChatScreen(self)
        self.push_screen(self._chat)
        self.call_after_refresh(self._shown)

    def _shown(self) -> None:
        self._on_shown()
        self.desk.open()

    def on_unmount(self) -> None:
        self.attention.give_back()
        if self._heard_interrupts is not None:
            signal.signal(signal.SIGINT, self._heard_interrupts)

    def end(self) -> None:
        """End all that runs besides the screens, when they are gone; what was read is written down
        unless this was ended from outside."""
        try:
            if self._chat is not None:
                self._chat.shell.end()
        finally:
            self.desk.close(at_once=self.is_interrupted)

    def _heed_signals(self) -> None:
        """The terminal is closed, or somebody wants us gone: leave it as it was."""
        import asyncio

        loop = asyncio.get_running_loop()

        def interrupted(number: int, _frame: object) -> None:
            loop.call_soon_threadsafe(self._end_by_signal, number)

        # Not on Windows, and not where this is no main thread.
        with suppress(NotImplementedError, RuntimeError, ValueError):
            if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
                # Not by the loop, which would also hear the Ctrl-C that is for the person's editor.
                self._heard_interrupts = signal.signal(signal.SIGINT, interrupted)
            for number in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, self._end_by_signal, number)

    @property
    def crash(self) -> Exception | None:
        """What nobody thought of and what ended it."""
        return self._exception

    def _fatal_error(self) -> None:
        # Textual would show a traceback with the values of variables: what was said, that is.
        self._close_messages_no_wait()

    def _end_by_signal(self, number: int) -> None:
        self.is_interrupted = True
        self.exit(return_code=128 + number)

    def fail(self, error: GemmaLocalError) -> None:
        """What was asked for on the command line cannot be done: leave, and say why."""
        self.failure = error
        self.exit()

    @property
    def chat(self) -> ChatScreen:
        """The screen with the conversation."""
        assert self._chat is not None
        return self._chat

    @property
    def farewell(self) -> str:
        """What to say when the screens are gone: how to go on with the conversation."""
        label = self.chat_label
        return f"gemma-local --resume {label}  goes on with this conversation" if label else ""

    chat_label = ""
    """The session of the conversation, "" if nothing of it is kept."""

    # ------------------------------------------------------------------------------------ news

    def on_gemma_local_app_news_came(self) -> None:
        """Tell it, but not more often than anybody can see."""
        if wait := self._pace.wait:
            self.set_timer(wait, self._tell_news)
        else:
            self._tell_news()

    def tell(self, news: News) -> None:
        """News from elsewhere than the desk, from any thread."""
        self._news.put(news)

    def _steering(self) -> Sequence[str]:
        """What waits to be said, for a model that works with tools. Called by the desk."""
        return self._chat.sending.take_for_steering() if self._chat is not None else ()

    def _call(self) -> None:
        # In the thread of whoever has news: messages may be posted from any.
        self.post_message(self.NewsCame())

    def _tell_news(self) -> None:
        self._pace.begin()
        news = self._news.take()
        # At the very end there is nobody left to hear it.
        if news and self.chat.is_attached:
            self.chat.hear(news)

    # ------------------------------------------------------------------------------------ keys

    async def on_event(self, event: events.Event) -> None:
        """See every key before whatever it is for."""
        if isinstance(event, events.Key | events.Paste) and self._chat is not None:
            self._chat.disarm(event.key if isinstance(event, events.Key) else "")
        await super().on_event(event)

    def get_key_display(self, binding: Binding) -> str:
        """One spelling of keys, wherever they are named."""
        return display(binding)

    def key(self, action: str) -> str:
        """The key that does something, as people read it."""
        return shown_key(action, self.keys)

    # ---------------------------------------------------------------------------------- screen

    def look(self) -> Look:
        """How text is painted with the theme as it is."""
        theme, screen = self.current_theme, self.settings.screen
        palette = Palette.of(self.theme_variables, dark=theme.dark, ansi=theme.ansi)
        return Look(palette, self.glyphs, screen.tint, screen.thoughts, screen.columns)

    def change_theme(self, name: str) -> None:
        """Another theme, now and from now on."""
        if name == "auto" and self.terminal is not None:
            self.terminal.ask(driver_write(self))
        self._set_theme(name)
        self.keep_setting("screen.theme", name)

    def keep_setting(self, key: str, value: object) -> None:
        """Write a setting to the person's file; that it could not be done is only said."""
        try:
            remember(key, value)
        except (BadSettings, OSError) as error:
            self.notify(f"not remembered: {error}", severity="warning", markup=False)

    def _set_theme(self, name: str) -> None:
        self._wants_terminals_theme = name == "auto"
        if name == "auto":
            name = self._theme_of_terminal()
        if name not in self.available_themes:
            self.notify(f"there is no theme {name!r}; /theme names them", markup=False)
            name = DARK.name
        self.theme = name

    def _theme_of_terminal(self) -> str:
        """The one of our own that is as dark as the terminal, or as light."""
        is_dark = self.terminal.answers.is_dark if self.terminal is not None else None
        if is_dark is None:
            is_dark = is_dark_by_environment(os.environ)
        return (LIGHT if is_dark is False else DARK).name

    def on_background_told(self) -> None:
        """The terminal has answered late."""
        if self._wants_terminals_theme:
            self._set_theme("auto")

    def on_page_screen_copy_asked(self, event: PageScreen.CopyAsked) -> None:
        self.chat.errands.copy(event.text, "the page")

    def on_context_screen_compact_asked(self) -> None:
        self.chat.commands.compact()

    def on_app_blur(self) -> None:
        self.attention.focused = False

    def on_app_focus(self) -> None:
        self.attention.focused = True


def _driver_class(terminal: EarlyTerminal | None) -> type[Driver] | None:
    """The driver for a terminal that was taken before; None leaves it to Textual."""
    if terminal is None:
        return None
    # Here: there is none of it on Windows.
    from gemma_local.app.tui.terminal_driver import TerminalDriver

    return TerminalDriver
