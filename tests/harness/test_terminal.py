# SPDX-License-Identifier: MIT
"""Keys for the guest, commands for CP."""

from __future__ import annotations

import os
import socket
import threading

import pytest

from zvmlab.guest.terminal import Session, Typing


class Ends:
    """What reaches the guest, CP and the screen."""

    def __init__(self, lines: bool = False) -> None:
        self.guest = b""
        self.commands: list[str] = []
        self.screen = b""
        self.restored = 0
        self.typing = Typing(
            self._guest, self.commands.append, self._echo, self._restore, lines=lines
        )

    def _guest(self, data: bytes) -> None:
        self.guest += data

    def _echo(self, data: bytes) -> None:
        self.screen += data

    def _restore(self) -> None:
        self.restored += 1


@pytest.mark.parametrize(
    ("typed", "guest", "commands"),
    [
        (b"ls -l\r", b"ls -l\r", []),
        (b"#cp query time\r", b"", ["query time"]),
        (b"#CP QUERY TIME\r", b"", ["QUERY TIME"]),
        (b"ls\r#cp q names\rpwd\r", b"ls\rpwd\r", ["q names"]),
        (b"echo #cp x\r", b"echo #cp x\r", []),
        (b"#comment\r", b"#comment\r", []),
        (b"#cpx\r", b"#cpx\r", []),
        (b"#c\x7fx\r", b"#x\r", []),
        (b"#\x7f#cp q time\r", b"", ["q time"]),
        (b"#cp q tx\x7fime\r", b"", ["q time"]),
        (b"#cp abc\x15q time\r", b"", ["q time"]),
        (b"#cp\rq time\rq names\r\rls\r", b"ls\r", ["q time", "q names"]),
        (b"\x1dq time\r\rls\r", b"ls\r", ["q time"]),
        (b"sleep 9\x1dq time\r\x03 9\r", b"sleep 9 9\r", ["q time"]),
        (b"#cp q \x03ls\r", b"ls\r", []),
        (b"#cp  \rls\r", b"ls\r", []),
        (b"cat\r\x03#cp q time\r", b"cat\r\x03", ["q time"]),
        (b"\x1b[A\r", b"\x1b[A\r", []),
        (b"\x1b[A#cp\r", b"\x1b[A#cp\r", []),
        (b"\x1b[24;80R#cp q time\r", b"\x1b[24;80R", ["q time"]),
        (b"\x1b[24#cp\r", b"\x1b[24#cp\r", []),
    ],
)
def test_typing(typed: bytes, guest: bytes, commands: list[str]) -> None:
    whole, single = Ends(), Ends()
    whole.typing.feed(typed)
    for key in typed:
        single.typing.feed(bytes([key]))
    for ends in (whole, single):
        assert (ends.guest, ends.commands) == (guest, commands)


@pytest.mark.parametrize(
    ("typed", "guest", "commands", "screen"),
    [
        (b"ls\r", b"ls\n", [], b"ls" + b"\b \b" * 2),
        (b"ls\n\r", b"ls\n\n", [], b"ls" + b"\b \b" * 2),
        # CP sees what is for it.
        (b"#cp q time\r", b"#cp q time\n", [], b"#cp q time" + b"\b \b" * 10),
        (b"lx\x7fs\r", b"ls\n", [], b"lx\b \bs" + b"\b \b" * 2),
        (b"\x7f\x15a\x15b\r", b"b\n", [], b"a\b \bb\b \b"),
        (b"slee\x03\x04", b"slee\x03\x04", [], b"slee" + b"\b \b" * 4),
        (b"ab\x1dq time\r\r", b"", ["q time"], b"ab\r\n#cp> q time\r\n#cp> \r\n"),
        (b"\t\x1b[A\r", b"[A\n", [], b"[A" + b"\b \b" * 2),
    ],
)
def test_the_keyboard_of_a_3215(
    typed: bytes, guest: bytes, commands: list[str], screen: bytes
) -> None:
    """A line goes to the guest when it ends, and what was shown of it is taken back."""
    ends = Ends(lines=True)
    ends.typing.feed(typed)
    assert (ends.guest, ends.commands, ends.screen) == (guest, commands, screen)


def test_a_taken_back_prefix_leaves_no_echo() -> None:
    ends = Ends()
    ends.typing.feed(b"#cx")
    assert ends.screen == b"#c" + b"\b \b" * 2


def test_line_length_is_limited() -> None:
    ends = Ends()
    ends.typing.feed(b"#cp " + b"x" * 1000 + b"\r")
    assert ends.commands == ["x" * 240]


def test_the_guests_line_is_shown_again() -> None:
    ends = Ends()
    ends.typing.feed(b"#cp q time\r")
    assert ends.restored == 1


def test_session_joins_all_four_ends() -> None:
    console, guest = socket.socketpair()
    keys_out, keys_in = os.pipe()
    screen_out, screen_in = os.pipe()
    session = Session(console, lambda text: f"answer to {text}\n", keys_out, screen_in)
    session.announce("hello")
    runner = threading.Thread(target=session.run, args=(lambda: False,), daemon=True)
    runner.start()
    guest.sendall(b"one\r\n/ # ")
    seen = b""
    while not seen.endswith(b"/ # "):
        seen += os.read(screen_out, 100)
    os.write(keys_in, b"pwd\r")
    assert guest.recv(4, socket.MSG_WAITALL) == b"pwd\r"
    os.write(keys_in, b"#cp q time\r#cp logoff\r")
    runner.join(60)
    assert not runner.is_alive()
    os.close(screen_in)
    while data := os.read(screen_out, 1000):
        seen += data
    assert seen == (b"\r\nhelloone\r\n/ # #cp q time\r\nanswer to q time\r\n/ # #cp logoff\r\n/ # ")
    for fd in (keys_out, keys_in, screen_out):
        os.close(fd)
    console.close()
    guest.close()


def test_what_is_piped_in_waits_for_the_announcement_and_ends_the_shell() -> None:
    console, guest = socket.socketpair()
    null = os.open(os.devnull, os.O_RDWR)
    session = Session(console, lambda text: text, null, null)
    runner = threading.Thread(target=session.run, args=(lambda: False,), daemon=True)
    runner.start()
    guest.settimeout(0.3)
    with pytest.raises(TimeoutError):
        guest.recv(100)
    session.announce("ready")
    guest.settimeout(60)
    for _ in range(2):
        assert guest.recv(1) == b"\x04"
    guest.close()
    runner.join(60)
    assert not runner.is_alive()
    console.close()
    os.close(null)


def test_last_line_that_is_piped_in_needs_no_end() -> None:
    console, guest = socket.socketpair()
    keys_out, keys_in = os.pipe()
    os.write(keys_in, b"one\ntwo")
    os.close(keys_in)
    null = os.open(os.devnull, os.O_RDWR)
    session = Session(console, lambda text: text, keys_out, null)
    session.announce("ready")
    runner = threading.Thread(target=session.run, args=(lambda: False,), daemon=True)
    runner.start()
    guest.settimeout(60)
    got = b""
    while b"\x04" not in got:
        got += guest.recv(100)
    assert got.startswith(b"one\ntwo\n\x04")
    guest.close()
    runner.join(60)
    assert not runner.is_alive()
    console.close()
    for fd in (keys_out, null):
        os.close(fd)


def test_guest_that_does_not_read_loses_nothing_and_holds_nothing_up() -> None:
    """More than its socket and the session hold is piped in before it reads at all."""
    sent = b"".join(b"line %d\n" % number for number in range(200_000))
    console, guest = socket.socketpair()
    keys_out, keys_in = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    session = Session(console, lambda text: text, keys_out, null)
    session.announce("ready")
    asked = threading.Semaphore(0)
    over = threading.Event()

    def ended() -> bool:
        asked.release()
        return over.is_set()

    def pipe_in() -> None:
        with open(keys_in, "wb") as keys:
            keys.write(sent)

    writer = threading.Thread(target=pipe_in, daemon=True)
    runner = threading.Thread(target=session.run, args=(ended,), daemon=True)
    writer.start()
    runner.start()
    writer.join(0.5)
    assert writer.is_alive()
    while asked.acquire(blocking=False):
        pass
    for _ in range(2):
        assert asked.acquire(timeout=60)
    guest.settimeout(60)
    got = bytearray()
    while not got.endswith(b"\x04"):
        got += guest.recv(65536)
    assert got == sent + b"\x04"
    over.set()
    runner.join(60)
    assert not runner.is_alive()
    console.close()
    guest.close()
    for fd in (keys_out, null):
        os.close(fd)
