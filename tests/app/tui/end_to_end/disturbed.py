"""gemma-local with keys that disturb it: ``python -m tests.app.tui.end_to_end.disturbed ...``.

F1 raises what nobody thought of. F2 writes to fd 2, from C and in a thread, as llama.cpp does. With
Ctrl-T a thread begins that never ends.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from unittest import mock

from gemma_local.app.cli import main
from gemma_local.app.tui import start
from gemma_local.app.tui.screens.chat import ChatScreen
from gemma_local.app.tui.screens.chat_keys import ChatKeys

OUTCRY = b"ggml: a word from C\n"


def fail(screen: ChatKeys) -> None:
    assert isinstance(screen, ChatScreen)
    secret = screen.transcript.items[0].plain()
    raise LookupError(f"nobody thought of this, {len(secret)}")


def write(_screen: ChatKeys) -> None:
    def cry() -> None:
        ctypes.CDLL(None).write(2, OUTCRY, len(OUTCRY))

    threading.Thread(target=cry).start()


def stay(screen: ChatKeys) -> None:
    assert isinstance(screen, ChatScreen)
    threading.Thread(target=threading.Event().wait).start()
    screen.say("it stays")


if __name__ == "__main__":
    start.LONGEST_GOODBYE = 2
    with mock.patch.multiple(ChatKeys, action_help=fail, action_stats=write, action_tint=stay):
        sys.exit(main())
