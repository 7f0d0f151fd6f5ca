# SPDX-License-Identifier: MIT
"""The zvmlab command: its sub-commands, its exit codes, its manners with errors.

Every error a user can act on is one sentence on standard error; ZVMLAB_DEBUG=1
adds where it came from.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import signal
import sys

from zvmlab.base.version import VERSION_LINE
from zvmlab.base.errors import (
    EXIT_CANNOT_RUN,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_PASS,
    GuestPanic,
    ZvmlabError,
)
from zvmlab.base.hints import did_you_mean
from zvmlab.base.plain import harmless
from zvmlab.cli.commands import COMMANDS, HEADINGS
from zvmlab.cli.say import say
from zvmlab.cli.translate import HelpParser

TYPE_CHECKING = False  # as in zvmlab.base.errors
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType
    from typing import Any

_EPILOG = """\
examples:
  zvmlab run -- cat /proc/sysinfo          run a program in a z/VM guest
  zvmlab run --kernel trixie ./my-test     run your own static program
  zvmlab run --kernel ~/linux -- uname -a  build a kernel's source tree, and run that
  zvmlab shell                             use a guest interactively; try #cp QUERY MONITOR
  zvmlab cp 'QUERY NAMES'                  give a CP command from another terminal
  zvmlab console --iucv                    use its terminal lnxhvc0 as another z/VM user
  zvmlab demo                              read monitor data sets and compare them

exit codes: 0 pass, 1 failed, 2 usage, 77 cannot run here, 124 time-out,
255 guest panic; zvmlab run returns the exit code of the program.
"""


class Parser(HelpParser):
    """Says where the help is instead of printing the whole usage."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.exit(2, f"zvmlab: {harmless(message)}; see {self.prog} --help\n")

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Report unknown words by the parser of the sub-command, which knows its options."""
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            options = [word for action in self._actions for word in action.option_strings]
            hint = did_you_mean(rest[0].partition("=")[0], options)
            self.error(f"unrecognized arguments: {' '.join(rest)}{hint.rstrip('?')}")
        return found, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            shown = getattr(action, "_choices_actions", None)  # of sub-commands: not the old names
            words = (
                [choice.dest for choice in shown] if shown else list(map(str, action.choices or ()))
            )
            hint = did_you_mean(str(value), words).rstrip("?")
            text = f"invalid choice: {value!r} (possible: {', '.join(words)}){hint}"
            raise argparse.ArgumentError(action, text) from error


class _Unread:
    """The parser of a command that the command line does not have."""

    def __init__(self, **_: object) -> None:
        pass


def parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command line; of *words* alone, if they are given.

    Of other commands it then has the names only, so that their modules are not imported.
    """
    top = Parser(
        prog="zvmlab",
        description="z/VM behaviour for Linux on Z guests without a mainframe",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=VERSION_LINE)
    top.headings = HEADINGS
    commands = top.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=Parser, prog=top.prog
    )
    wanted = next((word for word in words or () if not word.startswith("-")), None)
    chosen = (
        COMMANDS.items()
        if words is None
        else [(wanted, COMMANDS[wanted])]
        if wanted in COMMANDS
        else []
    )
    for module in dict.fromkeys(command.module for _, command in chosen):
        importlib.import_module(f"zvmlab.cli.{module}").add_commands(commands)
    known = set(commands.choices)
    commands._parser_class = _Unread  # type: ignore[assignment]
    for name, command in COMMANDS.items():
        if name not in known:
            commands.add_parser(name, help=command.text)
    order = list(COMMANDS)
    commands._choices_actions.sort(key=lambda shown: order.index(shown.dest))
    return top


def _terminated(number: int, _frame: FrameType | None) -> None:
    """SIGTERM and SIGHUP end the guests in order, as an exit from main() does."""
    sys.exit(128 + number)


def _trace_back() -> None:
    """For those who want to know where an error came from."""
    if os.environ.get("ZVMLAB_DEBUG"):
        import traceback

        traceback.print_exc()


def _explain(error: ZvmlabError) -> None:
    if isinstance(error, GuestPanic) and error.tail:
        print(f"{harmless(error.tail)}\n", file=sys.stderr)
    for note in getattr(error, "__notes__", []):
        print(f"{harmless(note)}\n", file=sys.stderr)
    print(f"zvmlab: {error}", file=sys.stderr)


@contextlib.contextmanager
def _told_of_busy_machine() -> Iterator[None]:
    """After the block, tell its user if a busy machine made it slow, even if it failed.

    Only a person is: what a program reads must not depend on what else the machine does.
    """
    from zvmlab.base.busy import Busy

    busy = Busy()
    try:
        yield
    finally:
        found = busy.explanation()
        if found is not None and sys.stderr.isatty():
            say(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    # A thread cannot set handlers; who calls from there ends the process in its own way.
    with contextlib.suppress(ValueError):
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup(1) has it
                signal.signal(number, _terminated)
    # A name in a report must not end a command in whose locale nobody has that name.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        words = sys.argv[1:] if argv is None else argv
        arguments = parser(words).parse_args(words)
        from zvmlab.base.descriptors import allow_descriptors  # which no help needs

        allow_descriptors()
        with _told_of_busy_machine():
            code: int = arguments.command(arguments)
        sys.stdout.flush()
        return code
    except ZvmlabError as error:
        _trace_back()
        _explain(error)
        return error.exit_code
    except KeyboardInterrupt:
        print("zvmlab: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has had enough; Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except OSError as error:
        _trace_back()
        place = f" {error.filename}" if error.filename else ""
        print(f"zvmlab: cannot go on:{place} {error.strerror or error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_CANNOT_RUN


__all__ = ["EXIT_PASS", "main", "parser"]
