"""The sandbox: commands change the workspace and a temporary folder, and reach no network.

It is made of what the machine offers. Best are Linux namespaces and Landlock together: neither
needs to be installed. Where namespaces are not allowed Landlock alone leaves gaps, which are said.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from gemma_local.app import folders
from gemma_local.app.agent.run import bubblewrap, landlock, seatbelt
from gemma_local.app.agent.run.confinement import Confinement
from gemma_local.app.agent.run.git_files import GitFiles
from gemma_local.app.agent.run.git_guard import GitGuard
from gemma_local.app.agent.run.tables import table

Opening = Literal["network", "outside", "git"]
"""What the person has allowed a command beyond the sandbox: the network, everything, or changes of
git's own settings and hooks."""

_PROBE_SECONDS: Final = 10.0
_MOST_SOCKETS: Final = 300
"""That are hidden one by one; all paths go to the launcher in one argument."""
_MOST_GUARDED: Final = 200
"""Files and folders of git's that are held fast, for the same reason."""
KEPT_PREFIX: Final = "gemma-local-kept-"
"""How the temporary folders begin that keep what a conversation without a name has put out."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What this machine has for a sandbox. ``abi`` is Landlock's version, 0 if there is none."""

    abi: int = 0
    has_namespaces: bool = False
    has_own_processes: bool = False
    bubblewrap: str = ""
    seatbelt: str = ""

    @property
    def is_any(self) -> bool:
        """Whether commands can be confined at all."""
        return bool(self.abi or self.has_namespaces or self.bubblewrap or self.seatbelt)

    @property
    def means(self) -> str:
        """What is used, for a person who asks."""
        if self.has_namespaces:
            return "namespaces and Landlock" if self.abi else "namespaces"
        if self.abi:
            return f"Landlock (version {self.abi})"
        return "bubblewrap" if self.bubblewrap else "sandbox-exec" if self.seatbelt else "none"

    @property
    def gaps(self) -> tuple[str, ...]:
        """What is not kept apart although it should be, for a person who asks."""
        if not self.is_any:
            return (_why_none(),)
        if self.has_namespaces or self.bubblewrap or self.seatbelt:
            return ()
        found = ["services of this machine can be asked through their sockets"]
        found.append(
            "owner, mode and times of files elsewhere can be changed, and git's hooks and settings"
            " until a command ends"
        )
        found.append(
            "shared memory of your other programs can be changed, and terminals written to"
        )
        if self.abi < 3:
            found.append("files elsewhere can be emptied (Linux 6.2 or newer prevents it)")
        if self.abi < 4:
            found.append("on processors other than x86-64, ARM and RISC-V the network is open")
        if self.abi < 6:
            found.append("signals reach your other processes (Linux 6.12 or newer prevents it)")
        return tuple(found)


@cache
def offered() -> Offer:
    """What this machine offers, found out by trying. Takes up to a second the first time: not for
    the thread that draws."""
    system: str = sys.platform
    if system == "darwin":
        return Offer(seatbelt=seatbelt.program())
    if system != "linux":
        return Offer()
    abi = landlock.version()
    abi = abi if abi >= landlock.LEAST else 0
    with tempfile.TemporaryDirectory(prefix="gemma-local-") as name:
        folder = str(Path(name).resolve())
        for has_own_processes in (True, False):
            # Without Landlock nothing else would keep other processes, and root's devices, apart.
            if not abi and (not has_own_processes or os.geteuid() == 0):
                continue
            offer = Offer(abi, has_namespaces=True, has_own_processes=has_own_processes)
            if _works(_by_launcher(_confinement(offer, folder, (folder,)), ["true"])):
                return offer
        if abi and _works(_by_launcher(_confinement(Offer(abi), folder, (folder,)), ["true"])):
            return Offer(abi)
        program = bubblewrap.program()
        own = Confinement(folder, (folder,))
        if program and _works(bubblewrap.wrapped(program, own, ["true"])):
            return Offer(bubblewrap=program)
    return Offer()


class Sandbox:
    """For one conversation; its temporary folder goes with it."""

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        has_network: bool = False,
        offer: Offer | None = None,
        shown: Sequence[Path] = (),
    ) -> None:
        """``roots`` are the folders that commands may change. ``offer`` is what to use, all that
        there is unless given. ``shown`` are folders that may be read although they lie in one that
        is hidden."""
        self.roots = tuple(root.resolve() for root in roots)
        self._shown = tuple(shown)
        self.has_network = has_network
        self._offer = offered() if offer is None else offer
        self._temporary = tempfile.TemporaryDirectory(
            prefix="gemma-local-", ignore_cleanup_errors=True
        )
        self.temporary = Path(self._temporary.name).resolve()
        for folder in table("sandbox")["caches"].values():
            (self.temporary / folder).mkdir(parents=True, exist_ok=True)

    def close(self) -> None:
        """Remove the temporary folder."""
        self._temporary.cleanup()

    @property
    def is_any(self) -> bool:
        """Whether commands are confined."""
        return self._offer.is_any

    def is_in_force(self, openings: frozenset[Opening] = frozenset()) -> bool:
        """Whether a command with these openings is confined."""
        return self.is_any and "outside" not in openings

    def wrapped(
        self,
        command: Sequence[str],
        folder: Path,
        openings: frozenset[Opening] = frozenset(),
        *,
        git: GitFiles | None = None,
    ) -> list[str]:
        """The command that runs ``command`` in the sandbox, beginning in ``folder``. ``git`` is
        what there is of git's own, if that was looked for already."""
        if not self.is_in_force(openings):
            return list(command)
        if git is None and self._guards(openings):
            git = self._git_files(nested=False)
        confinement = self._confinement(folder, openings, git)
        if self._offer.seatbelt:
            return seatbelt.wrapped(self._offer.seatbelt, confinement, command)
        if self._offer.bubblewrap:
            return bubblewrap.wrapped(self._offer.bubblewrap, confinement, command)
        return _by_launcher(confinement, command)

    def git_before(self, openings: frozenset[Opening] = frozenset()) -> GitFiles | None:
        """What there is of git's own before a command runs, None if it may change that."""
        return self._git_files(nested=True) if self._guards(openings) else None

    def git_guard(self, before: GitFiles) -> GitGuard:
        """What sees to it, once the command has ended, that git runs nothing of its making."""
        return GitGuard(before, before.guarded()[:_MOST_GUARDED] if self._holds else ())

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """``base`` with temporary files and caches in the folder of the sandbox."""
        environment = dict(base)
        temporary = str(self.temporary)
        environment |= {"TMPDIR": temporary, "TMP": temporary, "TEMP": temporary}
        if self.is_any:
            # Models that were fetched before are read where they are.
            cache_home = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
            environment.setdefault("HF_HOME", str(Path(cache_home, "huggingface")))
            for name, below in table("sandbox")["caches"].items():
                environment[name] = str(self.temporary / below)
        return environment

    def words(self, openings: frozenset[Opening] = frozenset()) -> str:
        """What holds for a command, such as "sandbox: writes only in the workspace, no network"."""
        if not self.is_any:
            return f"no sandbox: {_why_none()}"
        if "outside" in openings:
            return "without the sandbox"
        network = "with the network" if self._network(openings) else "no network"
        return f"sandbox: writes only in the workspace, {network}"

    @property
    def gaps(self) -> tuple[str, ...]:
        """What is not kept apart here although it should be, for a person who asks."""
        return self._offer.gaps

    def _network(self, openings: frozenset[Opening]) -> bool:
        return self.has_network or "network" in openings

    def _guards(self, openings: frozenset[Opening]) -> bool:
        return self.is_in_force(openings) and "git" not in openings

    @property
    def _holds(self) -> bool:
        """Whether single files can be kept from commands."""
        return bool(self._offer.has_namespaces or self._offer.bubblewrap or self._offer.seatbelt)

    def _git_files(self, *, nested: bool) -> GitFiles:
        if self._holds:
            for folder in GitFiles.there(self.roots, nested=False).repositories:
                # Nothing can be mounted where nothing is, and hooks are what is run first of all.
                with suppress(OSError):
                    if (folder / "HEAD").is_file():
                        (folder / "hooks").mkdir()
        return GitFiles.there(self.roots, nested=nested)

    def _confinement(
        self, folder: Path, openings: frozenset[Opening], git: GitFiles | None
    ) -> Confinement:
        writable = (*self.roots, self.temporary)
        hidden = hidden_paths(self.roots)
        if self._offer.has_namespaces or self._offer.bubblewrap:
            # Landlock knows nothing of sockets.
            hidden += sockets_of_person(but_below=(*writable, *hidden))
        guarded, pinned = git_paths(git) if git is not None else ([], [])
        if git is not None and self._offer.seatbelt:
            # Its rules are about names: also of what is not there yet.
            guarded += git.missing()
        return _confinement(
            self._offer,
            str(folder),
            tuple(map(str, writable)),
            hidden=tuple(map(str, hidden)),
            shown=tuple(str(path.resolve()) for path in self._shown if path.is_dir()),
            guarded=tuple(map(str, guarded)),
            pinned=tuple(map(str, pinned)),
            has_network=self._network(openings),
        )


def hidden_paths(roots: Sequence[Path]) -> list[Path]:
    """Files and folders that are there and not to be read: secrets, sockets of services, and what
    other conversations said and put out. What the workspace lies in is not among them."""
    home = Path.home()
    data = table("sandbox")
    wanted = [home / name for name in data["secrets"]] + [Path(name) for name in data["services"]]
    wanted += [folders.sessions_path().parent, folders.prompts_path(), folders.state_path()]
    wanted.append(folders.checkpoints_path())
    for pattern in ("ssh-*", f"{KEPT_PREFIX}*"):
        wanted += [path for path in Path(tempfile.gettempdir()).glob(pattern) if path.is_dir()]
    found = []
    for path in wanted:
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError):
            continue
        if real not in found and not any(root.is_relative_to(real) for root in roots):
            found.append(real)
    return found


def sockets_of_person(but_below: Sequence[Path] = ()) -> list[Path]:
    """Sockets of the person's own programs, such as a multiplexer of terminals or an editor, which
    do what they are asked for; without those below ``but_below``."""
    try:
        listed = Path("/proc/net/unix").read_bytes().splitlines()[1:]
    except OSError:
        return []
    found: dict[Path, None] = {}
    for line in listed:
        path = Path(os.fsdecode(line.split(None, 7)[-1]))
        try:
            state = path.lstat() if path.is_absolute() else None
            if state is None or not stat.S_ISSOCK(state.st_mode) or state.st_uid != os.geteuid():
                continue
            real = path.resolve()
        except (OSError, ValueError):
            continue
        if not any(map(real.is_relative_to, but_below)):
            found[real] = None
    return list(found)[:_MOST_SOCKETS]


def git_paths(git: GitFiles) -> tuple[list[Path], list[Path]]:
    """Files and folders of git's that are held fast, and folders whose place nothing can take."""
    return git.guarded()[:_MOST_GUARDED], git.pinned()[:_MOST_GUARDED]


def _why_none() -> str:
    system: str = sys.platform
    if system == "linux":
        return (
            "this Linux has neither Landlock (5.19 or newer) nor user namespaces, and no"
            " bubblewrap is installed"
        )
    if system == "darwin":
        return "sandbox-exec is missing"
    return "there is none for this system"


def _confinement(
    offer: Offer,
    folder: str,
    writable: tuple[str, ...],
    *,
    hidden: tuple[str, ...] = (),
    shown: tuple[str, ...] = (),
    guarded: tuple[str, ...] = (),
    pinned: tuple[str, ...] = (),
    has_network: bool = False,
) -> Confinement:
    return Confinement(
        folder,
        writable,
        hidden,
        guarded,
        has_network,
        offer.abi,
        offer.has_namespaces,
        offer.has_own_processes,
        pinned,
        shown,
    )


def _by_launcher(confinement: Confinement, command: Sequence[str]) -> list[str]:
    # Nothing that the environment or the folder names may run before the command is confined.
    launcher = [sys.executable, "-E", "-P", "-m", "gemma_local.app.agent.run.confine"]
    return [*launcher, confinement.to_json(), *command]


def _works(command: Sequence[str]) -> bool:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
