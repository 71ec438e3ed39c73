"""Runs a command in confinement: ``python -m gemma_local.app.agent.run.confine JSON COMMAND...``.

A process of its own, because what is given up here is given up for good. It has a second one below
it that all processes of the command come back to, whatever they do to be forgotten: when the
command ends they end.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from gemma_local.app.agent.run import landlock, namespaces, seccomp
from gemma_local.app.agent.run.confinement import NOT_SET_UP, REFUSED, Confinement
from gemma_local.app.agent.run.system_calls import (
    adopt_orphans,
    die_with_parent,
    drop_capabilities,
    forgo_privileges,
)

NOT_FOUND: Final = 127

DEVICES: Final = tuple(
    Path("/dev", name)
    for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
)
_ACCELERATORS: Final = ("nvidia*", "dri/render*", "kfd")

_KEPT: Final = frozenset((0, 1, 3, 4, 5, 6, 7, 10))
"""Of root's capabilities those about files and users (chown, dac_override, fowner, fsetid, kill,
setgid, setuid) and low ports; not those about the machine."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Confine and run; ends as the command ended, also by its signal."""
    text, *command = sys.argv[1:] if arguments is None else arguments
    confinement = Confinement.from_json(text)
    # The command is asked to end; this waits until it has.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        if confinement.has_namespaces:
            namespaces.leave(confinement)
        die_with_parent(signal.SIGKILL)
        reading, writing = os.pipe()
        child = os.fork()
    except OSError as error:
        _refuse(error)
    if not child:
        os.close(reading)
        _keep(confinement, command, writing)
    os.close(writing)
    told = os.read(reading, 8)
    _, status = os.waitpid(child, 0)
    _end_as(int.from_bytes(told, sys.byteorder) if told else status)


def _keep(confinement: Confinement, command: Sequence[str], writing: int) -> NoReturn:
    """Run the command as a child, and end what it leaves behind."""
    try:
        die_with_parent(signal.SIGKILL)
        if not confinement.has_own_processes:
            adopt_orphans()
        _give_up(confinement)
        child = os.fork()
    except OSError as error:
        _refuse(error)
    if not child:
        os.close(writing)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        try:
            die_with_parent(signal.SIGKILL)
            os.execvp(command[0], list(command))
        except OSError as error:
            sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
            sys.stderr.flush()
            os._exit(NOT_FOUND)
    status = _wait_for(child)
    os.write(writing, status.to_bytes(8, sys.byteorder))
    # In namespaces of its own the end of the first process is the end of all.
    if not confinement.has_own_processes:
        _end_the_rest()
    os._exit(0)


def _give_up(confinement: Confinement) -> None:
    """All rights that the command is not to have. Raises OSError."""
    if confinement.has_namespaces:
        namespaces.arrange(confinement)
    drop_capabilities(_KEPT)
    forgo_privileges()
    # What is mounted over needs no hiding, and the folder itself is below the new mount.
    os.chdir(confinement.folder)
    if confinement.abi:
        landlock.restrict(
            # Semaphores and shared memory; in namespaces they are the command's own.
            [*(Path(path) for path in confinement.writable), Path("/dev/shm")],
            [*DEVICES, *(path for name in _ACCELERATORS for path in Path("/dev").glob(name))],
            [] if confinement.has_namespaces else [Path(path) for path in confinement.hidden],
            [Path(path) for path in confinement.shown],
            has_network=confinement.has_network or confinement.has_namespaces,
            abi=confinement.abi,
        )
    if not confinement.has_network and seccomp.is_known():
        # A network namespace has the loopback device alone.
        inner = seccomp.INTERNET if confinement.has_namespaces else ()
        seccomp.allow_sockets((*seccomp.LOCAL, *inner))


def _wait_for(child: int) -> int:
    """How ``child`` ended; others that end meanwhile are let go."""
    while True:
        ended, status = os.wait()
        if ended == child:
            return status


def _end_the_rest() -> None:
    """End all children until there are none: those of a process that ends become children here."""
    own = os.getpid()
    while True:
        try:
            text = Path(f"/proc/{own}/task/{own}/children").read_text(encoding="ascii")
            for child in text.split():
                os.kill(int(child), signal.SIGKILL)
        except (OSError, ValueError):
            pass
        try:
            os.wait()
        except ChildProcessError:
            return


def _end_as(status: int) -> NoReturn:
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number:
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if not number else 128 + number)


def _refuse(error: OSError) -> NoReturn:
    sys.stderr.write(f"{REFUSED}{error}\n")
    sys.stderr.flush()
    os._exit(NOT_SET_UP)


if __name__ == "__main__":
    main()
