# SPDX-License-Identifier: MIT
"""A terminal that belongs to the guest's console, and to CP after ``#cp``.

What is typed goes to the guest.  A line that begins with ``#cp`` goes to CP, as
on a real virtual console; ``#cp`` alone and Ctrl-] give a prompt whose lines all
go to CP until an empty one.  On a 3215 a line is edited here before it is sent, and
CP itself knows those that begin with ``#cp``.
"""

from __future__ import annotations

import contextlib
import enum
import os
import re
import select
import socket
import termios
import time
import tty
from collections.abc import Callable, Iterator

ESCAPE = 0x1D
_PREFIX = b"#cp"
_PROMPT = b"#cp> "
_ENTER = b"\r\n"
_ERASE = b"\x08\x7f"
_KILL = b"\x15"
_CANCEL = b"\x03\x04"
_END_OF_FILE = b"\x04"
# CURSOR POSITION REPORT (ECMA-48): the answer to a shell that asks for it.
_ESC = 0x1B
_REPORT_END = ord("R")
_REPORT_SO_FAR = re.compile(rb"\x1b(\[([0-9]+(;([0-9]+R?)?)?)?)?")
LINE_MAX = 240
# Bytes for a guest that does not read; no more is taken from the user until it does.
_UNSENT_MAX = 65536


class _Mode(enum.Enum):
    GUEST = enum.auto()
    PREFIX = enum.auto()
    """The line so far may become ``#cp``; nothing of it has gone to the guest."""
    LINE = enum.auto()
    """The rest of a ``#cp`` line."""
    PROMPT = enum.auto()


class Typing:
    """Sorts keys into those for the guest and commands for CP; echoes the latter."""

    def __init__(
        self,
        guest: Callable[[bytes], None],
        command: Callable[[str], None],
        echo: Callable[[bytes], None],
        restore: Callable[[], None],
        lines: bool = False,
    ) -> None:
        self._guest = guest
        self._restore = restore
        self._command = command
        self._echo = echo
        self._lines = lines
        self._mode = _Mode.GUEST
        self._line_start = True
        self._report = b""
        self._held = bytearray()

    def feed(self, data: bytes) -> None:
        """Take what was typed."""
        for key in data:
            if self._mode is _Mode.GUEST and self._lines:
                self._keyboard(key)
            elif self._mode is _Mode.GUEST:
                self._to_guest(key)
            elif self._mode is _Mode.PREFIX:
                self._prefix(key)
            else:
                self._edit(key)

    def _to_guest(self, key: int) -> None:
        if key == ESCAPE:
            self._echo(b"\r\n")
            self._prompt()
        elif self._line_start and not self._report and key == _PREFIX[0]:
            self._hold(key)
            self._mode = _Mode.PREFIX
        else:
            self._line_start = self._at_line_start(key)
            self._guest(bytes([key]))

    def _keyboard(self, key: int) -> None:
        """That of a 3215: a line is sent as a whole, and printed there."""
        if key == ESCAPE:
            self._held.clear()
            self._echo(b"\r\n")
            self._prompt()
        elif key in _ENTER or key in _CANCEL:
            self._echo(b"\b \b" * len(self._held))
            line = bytes([*self._held, key if key in _CANCEL else _ENTER[-1]])
            self._held.clear()
            self._guest(line)
        elif not self._erase(key) and key >= 0x20:
            self._hold(key)

    def _erase(self, key: int) -> bool:
        """Take back one character, or all, if it is the key for that."""
        if key not in _ERASE and key not in _KILL:
            return False
        count = len(self._held) if key in _KILL else min(1, len(self._held))
        del self._held[len(self._held) - count :]
        self._echo(b"\b \b" * count)
        return True

    def _at_line_start(self, key: int) -> bool:
        """Is the line still empty?  A terminal's report of its cursor puts nothing into it."""
        if self._line_start and (key == _ESC or self._report):
            self._report += bytes([key])
            if _REPORT_SO_FAR.fullmatch(self._report):
                if key == _REPORT_END:
                    self._report = b""
                return True
        self._report = b""
        return key in _ENTER or key in _CANCEL

    def _hold(self, key: int) -> None:
        self._held.append(key)
        self._echo(bytes([key]))

    def _prefix(self, key: int) -> None:
        expected = _PREFIX[len(self._held)] if len(self._held) < len(_PREFIX) else None
        if expected is not None and bytes([key]).lower() == bytes([expected]):
            self._hold(key)
        elif expected is None and key in b" \t":
            self._hold(key)
            self._held.clear()
            self._mode = _Mode.LINE
        elif expected is None and key in _ENTER:
            self._echo(b"\r\n")
            self._prompt()
        else:
            self._release(key)

    def _release(self, key: int) -> None:
        """It was no ``#cp`` after all: take the echo back and give it to the guest."""
        self._echo(b"\b \b" * len(self._held))
        held = bytes(self._held)
        self._held.clear()
        self._mode = _Mode.GUEST
        self._line_start = False
        if key in _ERASE:
            held, key_left = held[:-1], b""
            self._line_start = not held
        else:
            key_left = bytes([key])
        if held:
            self._guest(held)
        self.feed(key_left)

    def _prompt(self) -> None:
        self._held.clear()
        self._mode = _Mode.PROMPT
        self._echo(_PROMPT)

    def _edit(self, key: int) -> None:
        if key in _ENTER:
            self._finish()
        elif self._erase(key):
            pass
        elif key in _CANCEL or key == ESCAPE:
            self._held.clear()
            self._echo(b"\r\n")
            self._leave()
        elif 0x20 <= key < 0x7F and len(self._held) < LINE_MAX:
            self._hold(key)

    def _finish(self) -> None:
        text = self._held.decode("ascii").strip()
        self._held.clear()
        self._echo(b"\r\n")
        if text:
            self._command(text)
        if text and self._mode is _Mode.PROMPT:
            self._prompt()
        else:
            self._leave()

    def _leave(self) -> None:
        """Back to the guest, whose unfinished line is shown again."""
        self._mode = _Mode.GUEST
        self._line_start = True
        self._restore()


@contextlib.contextmanager
def raw_terminal(fd: int) -> Iterator[None]:
    """Every key as it is typed, if the descriptor is a terminal; put right afterwards."""
    if not os.isatty(fd):
        yield
        return
    before = termios.tcgetattr(fd)
    try:
        tty.setraw(fd)
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _no_echo(_: bytes) -> None:
    """Nobody sees what is typed before the console prints it."""


class Session:
    """Joins standard input and output, the console's socket and CP until told to end."""

    def __init__(
        self,
        console: socket.socket,
        cp: Callable[[str], str],
        stdin: int = 0,
        stdout: int = 1,
        lines: bool = False,
    ) -> None:
        self._console = console
        self._cp = cp
        self._stdin = stdin
        self._stdout = stdout
        self._ended = False
        self._unended = False
        self._unsent = b""
        self._announced = ""
        self._line = b""
        echo = self._show if not lines or os.isatty(stdin) else _no_echo
        self._typing = Typing(
            self._send, self._run, echo, lambda: self._show(self._line), lines=lines
        )

    def _show(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._stdout, data) :]

    def announce(self, text: str) -> None:
        """Show a line of our own once, without losing the guest's."""
        if text != self._announced:
            self._announced = text
            self._show(b"\r\n" + text.replace("\n", "\r\n").encode() + self._line)

    def _run(self, command: str) -> None:
        """CP's answer, or the end of the session: LOGOFF ends a virtual machine."""
        if command.upper() in ("LOGOFF", "LOG"):
            self._ended = True
        else:
            self._show(self._cp(command).replace("\n", "\r\n").encode("latin-1", "replace"))

    @property
    def logged_off(self) -> bool:
        """Whether the user ended it with LOGOFF."""
        return self._ended

    def run(self, ended: Callable[[], bool]) -> None:
        """Until *ended* says so (asked several times a second), or LOGOFF.

        A terminal is listened to from the beginning; what is piped in waits for
        the announcement, because a shell that starts discards what was typed
        before.  The end of it ends the guest's shell.
        """
        self._console.setblocking(False)
        listening = os.isatty(self._stdin)
        finished = 0.0
        while not self._ended and not ended():
            listening = listening or bool(self._announced)
            sources: list[int | socket.socket] = [self._console]
            if listening and not finished and len(self._unsent) < _UNSENT_MAX:
                sources.append(self._stdin)
            full = [self._console] if self._unsent else []
            ready, writable, _ = select.select(sources, full, [], 0.1)
            if self._console in ready and not self._from_guest():
                return
            if writable:
                self._send(b"")
            if self._stdin in ready and not self._from_user():
                finished = time.monotonic()
            if finished and time.monotonic() >= finished and not self._unsent:
                # Said again: a program that reads the console may take it for its own.
                self._send(_END_OF_FILE)
                finished = time.monotonic() + 1.0

    def _send(self, data: bytes) -> None:
        """Send as much as the console takes now, and keep the rest for later."""
        self._unsent += data
        # If the guest has gone, the next recv() says so.
        with contextlib.suppress(ConnectionError, BlockingIOError):
            self._unsent = self._unsent[self._console.send(self._unsent) :]

    def _from_guest(self) -> bool:
        try:
            data = self._console.recv(65536)
        except BlockingIOError:
            return True
        except ConnectionError:
            data = b""
        self._show(data)
        self._line = (self._line + data).rpartition(b"\n")[2][-LINE_MAX:]
        return bool(data)

    def _from_user(self) -> bool:
        data = os.read(self._stdin, 4096)
        if data:
            self._unended = not data.endswith((b"\n", b"\r"))
        # A shell that is given a file runs its last line, too, when that has no end.
        self._typing.feed(data or (b"\n" if self._unended else b""))
        return bool(data)
