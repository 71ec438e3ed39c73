"""Ways out of a sandbox, tried for real. Each is a line of bash that prints DONE if it worked.

``$OUTSIDE`` is a folder beside the workspace, with a file in it, ``$TERMINAL`` one that the person
could be at. What is listed under ``GAPS`` is known to work where there is Landlock alone; the
sandbox says so.
"""

from __future__ import annotations

from typing import Final

ESCAPES: Final = {
    # Writing elsewhere.
    "mode": 'chmod 777 "$OUTSIDE/file" && echo DONE',
    "times": 'touch -d 2001-01-01 "$OUTSIDE/file" && echo DONE',
    "redirection": 'echo x >"$OUTSIDE/new" && echo DONE',
    "append": 'echo x >>"$OUTSIDE/file" && echo DONE',
    "dots": 'echo x >"../outside/new" && echo DONE',
    "symlink": 'ln -s "$OUTSIDE" out && echo x >out/new && echo DONE',
    "symlink to a file": 'ln -s "$OUTSIDE/file" l && echo x >l && echo DONE',
    "hard link": 'ln "$OUTSIDE/file" l && echo x >l && echo DONE',
    "/proc/self/root": 'echo x >"/proc/self/root$OUTSIDE/new" && echo DONE',
    "/proc/self/cwd": "echo x >/proc/self/cwd/../outside/new && echo DONE",
    "/proc of the parent": 'echo x >"/proc/$PPID/root$OUTSIDE/new" && echo DONE',
    "/proc of another": 'echo x >"/proc/$OTHER/root$OUTSIDE/new" && echo DONE',
    "an open folder": 'exec 9<"$OUTSIDE" && echo x >/proc/self/fd/9/new && echo DONE',
    "rename out": 'touch a && mv a "$OUTSIDE/new" && echo DONE',
    "rename in": 'mv "$OUTSIDE/file" a && [ ! -e "$OUTSIDE/file" ] && echo DONE',
    "delete": 'rm -f "$OUTSIDE/file" && echo DONE',
    "delete all": 'rm -rf "$OUTSIDE" ; [ -e "$OUTSIDE/file" ] || echo DONE',
    "new folder": 'mkdir "$OUTSIDE/new" && echo DONE',
    "truncate": (
        'python3 -c \'import os; os.truncate(os.environ["OUTSIDE"] + "/file", 0)\' && echo DONE'
    ),
    "home": 'echo x >"$HOME/.bashrc" && echo DONE',
    "/tmp": "echo x >/tmp/gemma-local-$$ && rm /tmp/gemma-local-$$ && echo DONE",
    "kernel settings": (
        'name=$(cat /proc/sys/kernel/hostname) && echo "$name" >/proc/sys/kernel/hostname'
        " && echo DONE"
    ),
    "device": "mknod disk b 253 0 && echo DONE",
    "disk": 'disk=$(ls /dev/vd? /dev/sd? 2>/dev/null | head -1); true >>"$disk" && echo DONE',
    # In the background, and later.
    "background": '(sleep 0.3; echo x >"$OUTSIDE/new" && echo DONE) & wait',
    "chroot": 'chroot "$OUTSIDE" / true; chroot / bash -c "echo x >$OUTSIDE/new" && echo DONE',
    # Undoing the sandbox.
    "unmount": 'umount "$HOME/.ssh"; umount -l "$HOME/.ssh"; cat "$HOME/.ssh/id_rsa" && echo DONE',
    "remount": (
        'mount -o remount,rw /; mount -o remount,rw,bind "$OUTSIDE"; echo x >"$OUTSIDE/new"'
        " && echo DONE"
    ),
    "own namespaces": (
        "unshare -Urm bash -c 'mount -o remount,rw,bind /; echo x >\"$OUTSIDE/new\"' && echo DONE"
    ),
    "enter namespaces": 'nsenter -t "$OTHER" -m bash -c \'echo x >"$OUTSIDE/new"\' && echo DONE',
    "privileges": "grep -q 'NoNewPrivs:.*0' /proc/self/status && echo DONE",
    # Secrets.
    "key": 'cat "$HOME/.ssh/id_rsa" && echo DONE',
    "password file": 'grep SECRET "$HOME/.netrc" && echo DONE',
    "key by a link": 'ln -s "$HOME/.ssh" s && cat s/id_rsa && echo DONE',
    "key by a hard link": 'ln "$HOME/.ssh/id_rsa" k && cat k && echo DONE',
    "key by /proc/self/root": 'cat "/proc/self/root$HOME/.ssh/id_rsa" && echo DONE',
    "key by rename": 'mv "$HOME/.ssh" s && cat s/id_rsa && echo DONE',
    "environment of another": (
        'tr "\\0" "\\n" <"/proc/$OTHER/environ" | grep HIDDEN_TOKEN && echo DONE'
    ),
    "memory of another": 'head -c 1 "/proc/$OTHER/mem" && echo DONE',
    # Other processes.
    "signal": 'kill -9 "$OTHER" && echo DONE',
    "service": (
        "python3 -c 'import os, socket; socket.socket(socket.AF_UNIX).connect("
        'os.environ["HOME"] + "/.ssh/agent")\' && echo DONE'
    ),
    "service elsewhere": (
        "python3 -c 'import os, socket; socket.socket(socket.AF_UNIX).connect("
        'os.environ["OUTSIDE"] + "/../agent")\' && echo DONE'
    ),
    "terminal": 'echo x >"$TERMINAL" && echo DONE',
    # The network.
    "TCP": 'exec 9<>"/dev/tcp/127.0.0.1/$PORT" && echo DONE',
    "TCP, IPv6": 'exec 9<>"/dev/tcp/::1/$PORT" && echo DONE',
    "UDP": "python3 -c 'import os, socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
    '.sendto(b"x", ("127.0.0.1", int(os.environ["PORT"])))\' && [ -z "$LOOPBACK" ] && echo DONE',
    "abstract socket": (
        "python3 -c 'import os, socket; socket.socket(socket.AF_UNIX).connect("
        'chr(0) + "gemma-local-" + os.environ["PORT"])\' && echo DONE'
    ),
    "raw packets": "python3 -c 'import socket; socket.socket(17, socket.SOCK_RAW)' && echo DONE",
    "to the host of a virtual machine": (
        "python3 -c 'import socket; socket.socket(40, socket.SOCK_STREAM)' && echo DONE"
    ),
    "another network": 'nsenter -t "$OTHER" -n true && echo DONE',
    # What a person would run later.
    "git hook": "echo x >.git/hooks/pre-commit && echo DONE",
    "git settings": "git config core.hooksPath evil && echo DONE",
    "git settings by rename": "mv .git/config old && echo DONE",
    "git settings of a copy": (
        "mv .git another && cp -r another .git && echo >>.git/config && echo DONE"
    ),
}

GAPS: Final = frozenset(
    [
        *("mode", "times", "service", "service elsewhere", "terminal", "git hook", "git settings"),
        *("git settings by rename", "git settings of a copy"),
    ]
)
"""Open with Landlock alone."""
