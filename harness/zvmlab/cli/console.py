# SPDX-License-Identifier: MIT
"""The sub-command console: a terminal of a running guest, by IUCV."""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from zvmlab.base.errors import EXIT_PASS, EmulatorError, Timeout
from zvmlab.cli.options import system_option, top_command
from zvmlab.cli.say import say
from zvmlab.cli.tools import REQUEST_SECONDS
from zvmlab.cp.control import Control
from zvmlab.cp.hvciucv import DEFAULT, TERMINALS, IucvTerminal, TerminalGone
from zvmlab.cp.peer import Peer
from zvmlab.guest.run_dir import RunningGuest, find_guest
from zvmlab.guest.terminal import ESCAPE, raw_terminal

USER = "CONSOLE"
FIRST_FREE = "lnxhvc"
"""Name of whichever terminal nobody is connected to."""
ENTER = b"\r"
_LOOK_SECONDS = 0.2
_SILENCE_SECONDS = 10.0
_CHUNK = 4096
_END_OF_FILE = b"\x04"


def add_commands(commands: Any) -> None:
    """console."""
    parser = top_command(
        commands,
        "console",
        "  zvmlab console --iucv\n"
        "  zvmlab console --iucv test --terminal lnxhvc3 --user OPERATOR\n"
        "  echo 'uname -r; exit' | zvmlab console --iucv test",
    )
    parser.add_argument(
        "--iucv",
        nargs="?",
        const="",
        required=True,
        metavar="GUEST",
        help="name of the guest whose hvc_iucv has the terminal (default: the only running guest)",
    )
    parser.add_argument(
        "--terminal",
        choices=[FIRST_FREE, *(f"lnxhvc{number}" for number in range(TERMINALS))],
        default=DEFAULT,
        metavar="NAME",
        help=f"lnxhvc0 to lnxhvc{TERMINALS - 1}, /dev/hvc0 to /dev/hvc{TERMINALS - 1} in the guest;"
        " lnxhvc is the first free one (default: %(default)s)",
    )
    parser.add_argument(
        "--user",
        default=USER,
        metavar="NAME",
        help="user ID to connect with (default: %(default)s)",
    )
    system_option(parser)
    parser.set_defaults(command=run_console)


def run_console(arguments: argparse.Namespace) -> int:
    """Join standard input and output to the terminal until the guest, or Ctrl-], ends it."""
    found = find_guest(arguments.iucv or None, arguments.system)
    return connect_terminal(found, arguments.terminal, arguments.user)


def connect_terminal(
    found: RunningGuest, name: str = DEFAULT, user: str = USER, first: bytes = b""
) -> int:
    """The same of a guest that was found; *first* is typed as soon as it is connected."""
    with contextlib.ExitStack() as stack:
        control = stack.enter_context(Control.connect(found.control, REQUEST_SECONDS))
        guest = control.execute("query-cp")["userid"]
        peer = stack.enter_context(Peer(control, user))
        terminal = stack.enter_context(IucvTerminal(peer, guest, name))
        say(f"{name} of {guest} is connected; Ctrl-] ends that")
        stack.enter_context(raw_terminal(sys.stdin.fileno()))
        stack.enter_context(_window_size(terminal))
        if first:
            terminal.send(first)
        Joined(terminal, sys.stdin.fileno(), sys.stdout.fileno()).run()
    return EXIT_PASS


@contextlib.contextmanager
def _window_size(terminal: IucvTerminal) -> Iterator[None]:
    """Tell the guest of the window's size now, and whenever it changes."""
    if not os.isatty(sys.stdin.fileno()):
        yield
        return
    changed = threading.Event()
    changed.set()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        changed.set()

    def tell() -> None:
        # A signal's handler must not wait for what the interrupted thread does.
        while not ended.is_set():
            if changed.wait(_LOOK_SECONDS):
                changed.clear()
                size = os.get_terminal_size(sys.stdin.fileno())
                with contextlib.suppress(TerminalGone, EmulatorError):
                    terminal.resize(size.lines, size.columns)

    ended = threading.Event()
    before = signal.signal(signal.SIGWINCH, on_signal)
    teller = threading.Thread(target=tell, name="window size")
    teller.start()
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)
        ended.set()
        teller.join()


class Joined:
    """A terminal, what is typed into it and where it is shown."""

    def __init__(self, terminal: IucvTerminal, stdin: int, stdout: int) -> None:
        self._terminal = terminal
        self._stdin = stdin
        self._stdout = stdout
        self._over = threading.Event()
        self._shown = 0.0

    def run(self) -> None:
        """Until the guest severs, ESCAPE is typed, or the guest is gone.

        The end of what is piped in is typed as Ctrl-D, which ends a shell; then it is also over
        when the guest has shown nothing for a while.
        """
        shower = threading.Thread(target=self._show, name="console")
        shower.start()
        try:
            with contextlib.suppress(TerminalGone, EmulatorError):
                self._type()
        finally:
            self._over.set()
            shower.join()

    def _show(self) -> None:
        with contextlib.suppress(TerminalGone, EmulatorError):
            while not self._over.is_set():
                with contextlib.suppress(Timeout):
                    data = self._terminal.read(_LOOK_SECONDS)
                    if not data:
                        break
                    self._shown = time.monotonic()
                    while data:
                        data = data[os.write(self._stdout, data) :]
        self._over.set()

    def _type(self) -> None:
        while not self._over.is_set():
            if not select.select([self._stdin], [], [], _LOOK_SECONDS)[0]:
                continue
            typed = os.read(self._stdin, _CHUNK)
            if ESCAPE in typed and os.isatty(self._stdin):
                self._terminal.send(typed[: typed.index(ESCAPE)])
                return
            self._terminal.send(typed or _END_OF_FILE)
            if not typed:
                self._await_silence()
                return

    def _await_silence(self) -> None:
        """The guest may not notice that nobody types any more."""
        self._shown = time.monotonic()
        while not self._over.wait(_LOOK_SECONDS):
            if time.monotonic() - self._shown > _SILENCE_SECONDS:
                return
