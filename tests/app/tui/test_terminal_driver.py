"""What is written to a terminal that is gone."""

from __future__ import annotations

import os
import sys
import threading

import pytest
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from gemma_local.app.tui.terminal_driver import LastingOutput

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pty")


def test_whoever_writes_to_a_closed_window_is_not_kept() -> None:
    import pty

    master, slave = pty.openpty()
    os.close(master)
    file = os.fdopen(slave, "w", closefd=False)
    file.write("text")
    with pytest.raises(OSError, match="Input/output error"):
        file.flush()
    output = LastingOutput(file)
    assert output.fileno() == slave
    thread = WriterThread(output)  # type: ignore[arg-type]
    thread.start()

    def write() -> None:
        for _ in range(3 * MAX_QUEUED_WRITES):
            thread.write("text")
        thread.stop()

    writing = threading.Thread(target=write, daemon=True)
    writing.start()
    writing.join(60)
    assert not writing.is_alive()
    assert not thread.is_alive()
    os.close(slave)
