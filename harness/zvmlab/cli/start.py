# SPDX-License-Identifier: MIT
"""The first thing that the zvmlab command executes, before it imports the rest of itself.

That takes a moment, in which a signal finds no handler of ours and Python would show
where it was.  A file that is opened instead of a standard one that is
closed would be written to by whoever prints.
"""

from __future__ import annotations

import os
import sys

from zvmlab.base.version import VERSION_LINE

TYPE_CHECKING = False  # of typing, which takes as long to import as all else that --version needs
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

_INTERRUPTED = "zvmlab: interrupted"
_STDOUT, _STDERR = 1, 2


def _interrupted(number: int, _frame: FrameType | None) -> NoReturn:
    os.write(_STDERR, f"{_INTERRUPTED}\n".encode())
    os._exit(128 + number)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _open_standard_files() -> bool:
    """Open each that is closed, so that nothing else gets its number; was standard output open?"""
    closed = [number for number in range(3) if not _is_open(number)]
    for _ in closed:
        os.open(os.devnull, os.O_RDWR)
    if _STDERR in closed:
        sys.stderr = open(_STDERR, "w", encoding="utf-8", closefd=False)
    return _STDOUT not in closed


def main() -> int:
    """Run the command line; the exit code."""
    if sys.argv[1:] == ["--version"] and _is_open(_STDOUT):
        print(VERSION_LINE)
        return 0
    return _run()


def _run() -> int:
    # pylint: disable=import-outside-toplevel
    import signal

    from zvmlab.base.errors import EXIT_INTERRUPTED, EXIT_USAGE

    # Who ignores it, as a shell's background jobs may, goes on doing so.
    interruptible = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    if interruptible:
        signal.signal(signal.SIGINT, _interrupted)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if not _open_standard_files():
        print(
            "zvmlab: standard output is closed; send it to a file, or to /dev/null",
            file=sys.stderr,
        )
        return EXIT_USAGE
    from zvmlab.cli.main import main as run

    try:
        if interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return run()
    except KeyboardInterrupt:
        print(_INTERRUPTED, file=sys.stderr)
        return EXIT_INTERRUPTED
