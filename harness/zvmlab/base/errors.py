# SPDX-License-Identifier: MIT
"""Errors a user can meet, and the exit codes that go with them."""

from __future__ import annotations

import sys

from zvmlab.base.plain import harmless

TYPE_CHECKING = False  # of typing, which no help needs and takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EXIT_PASS = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_CANNOT_RUN = 77
EXIT_TIMEOUT = 124
EXIT_INTERRUPTED = 128 + 2  # SIGINT
EXIT_PANIC = 255


class ZvmlabError(Exception):
    """Something a user can act on; the text is one clear sentence.

    It may quote what a guest or a file says: it is harmless for a terminal.
    """

    exit_code = EXIT_FAILED

    def __str__(self) -> str:
        return harmless(super().__str__())


class StepFailed(ZvmlabError):
    """A step of a build failed.  *log* has what it said; *tail* is its end.

    Who removes the folder that the log is in keeps the log, and says here where.
    """

    def __init__(self, why: str, log: Path, tail: str = "") -> None:
        super().__init__(why)
        self.log = log
        self.tail = tail

    def __str__(self) -> str:
        end = f" and ends with:\n{harmless(self.tail)}" if self.tail else ""
        return f"{super().__str__()}; the log is {self.log}{end}"


class UsageError(ZvmlabError):
    """Wrong options or arguments."""

    exit_code = EXIT_USAGE


class CannotRun(ZvmlabError):
    """Something is missing on this machine; the text says what and how to get it."""

    exit_code = EXIT_CANNOT_RUN


class Timeout(ZvmlabError):
    """A wait reached its limit; the text says what it waited for and how long."""

    exit_code = EXIT_TIMEOUT


class GuestPanic(ZvmlabError):
    """The guest's kernel panicked, oopsed or warned; carries the console's tail."""

    exit_code = EXIT_PANIC

    def __init__(self, text: str, tail: str = "") -> None:
        super().__init__(text)
        self.tail = tail


class EmulatorError(ZvmlabError):
    """The emulator could not be started, or ended unexpectedly."""


def exit_code(program: Callable[[], int | None], name: str = "zvmlab") -> int:
    """Run a program; its exit code.  An error is a sentence on standard error, after *name*.

    Whoever presses Ctrl-C sees one, too.
    """
    try:
        return program() or EXIT_PASS
    except ZvmlabError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
