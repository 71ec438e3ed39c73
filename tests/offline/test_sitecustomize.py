"""Tests, and what they start, reach nobody but this machine."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from tests.offline.sitecustomize import NetworkForbidden, is_here

ELSEWHERE = ("198.51.100.1", 443)  # An address that is for examples.


def test_a_connection_to_another_machine_is_refused() -> None:
    with socket.socket() as tcp:
        for connect in (tcp.connect, tcp.connect_ex):
            with pytest.raises(NetworkForbidden, match=r"198\.51\.100\.1"):
                connect(ELSEWHERE)
    with socket.socket(type=socket.SOCK_DGRAM) as udp:
        for arguments in ((b"x", ELSEWHERE), (b"x", 0, ELSEWHERE)):
            with pytest.raises(NetworkForbidden):
                udp.sendto(*arguments)


def test_no_name_is_looked_up() -> None:
    with pytest.raises(NetworkForbidden, match="huggingface"):
        socket.create_connection(("huggingface.co", 443))
    with pytest.raises(NetworkForbidden):
        socket.gethostbyname("huggingface.co")


def test_this_machine_answers() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(("localhost", server.getsockname()[1])),
    ):
        pass


def test_it_holds_in_processes_that_tests_start() -> None:
    code = "import socket; socket.create_connection(('198.51.100.1', 443), timeout=0.1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "NetworkForbidden" in done.stderr


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *((host, True) for host in ("localhost", "127.0.0.1", "127.1.2.3", "::1", "", None)),
        *((host, False) for host in ("10.0.0.1", "fe80::1%eth0", "localhost.example.org", b"x.y")),
    ],
)
def test_which_hosts_are_this_machine(host: object, expected: bool) -> None:
    assert is_here(host) is expected
