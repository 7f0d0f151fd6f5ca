# SPDX-License-Identifier: MIT
"""``zvmlab top``: what a system does, live, out of its monitor data."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from zvmlab.base.errors import EXIT_PASS, EmulatorError, UsageError, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.cli.options import monwrite_option, running_guest, running_option, top_command
from zvmlab.cli.tools import REQUEST_SECONDS
from zvmlab.cp.control import Control

_END_SECONDS = 60.0


def add_commands(commands: Any) -> None:
    """top."""
    parser = top_command(
        commands,
        "top",
        "  zvmlab top\n  zvmlab top --guest g1a2b3\n"
        "  zvmlab top --monwrite monitor.data --every 0.2",
    )
    add = parser.add_argument
    add("file", nargs="?", type=Path, metavar="FILE", help="a recording (default: a running guest)")
    monwrite_option(parser)
    running_option(parser)
    add("--release", default="5.3", metavar="V.R", help="release of z/VM (default: 5.3)")
    add(
        "--every", type=float, default=0.0, metavar="S",
        help="for a file: seconds between intervals (default: as fast as it is read)",
    )  # fmt: skip
    parser.set_defaults(command=run_top)


def program(progress: Progress) -> Path:
    """monread for this machine, built into the cache if need be."""
    from zvmlab.builder import hostbuild

    return hostbuild.program(progress, "monread", "monread", "tools/monread")


class _Feeder(threading.Thread):
    """Sets of a guest into monread's standard input, until either is gone."""

    def __init__(self, control: Control, pipe: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._control, self._pipe = control, pipe
        self.error: ZvmlabError | None = None
        self.start()

    def run(self) -> None:
        from zvmlab.monitor.monuser import MonitorUser

        try:
            with MonitorUser(self._control) as user:
                for data_set in user.sets():
                    self._pipe.write(data_set)
                    self._pipe.flush()
        except (EmulatorError, OSError, ValueError):
            pass  # The guest has ended, or monread has.
        except ZvmlabError as error:
            self.error = error
        with contextlib.suppress(OSError, ValueError):
            self._pipe.close()


@contextlib.contextmanager
def _lines(arguments: argparse.Namespace) -> Iterator[Iterator[dict[str, Any]]]:
    """An object for each interval."""
    argv = [os.fspath(program(Progress())), "--activity", "--release", arguments.release]
    feeder = None
    with contextlib.ExitStack() as open_things:
        if arguments.file is not None:
            argv += ["--monwrite"] * arguments.monwrite + [os.fspath(arguments.file)]
            process = _start(argv, subprocess.DEVNULL)
        else:
            found = running_guest(arguments)
            control = Control.connect(found.control, REQUEST_SECONDS)
            open_things.callback(control.close)
            process = _start([*argv, "-"], subprocess.PIPE)
            assert process.stdin is not None
            feeder = _Feeder(control, process.stdin)
        open_things.callback(_end, process)
        assert process.stdout is not None
        # A line without its end is what a kill has left of it.
        yield (json.loads(line) for line in process.stdout if line.endswith(b"\n"))
        if feeder is not None and feeder.error is not None:
            raise feeder.error
        _complain(process)


def _start(argv: list[str], stdin: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(argv, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _complain(process: subprocess.Popen[bytes]) -> None:
    """Report that no data come any more, with monread's complaint if it has one."""
    assert process.stderr is not None
    said = process.stderr.read().decode(errors="replace").splitlines()
    if process.wait(_END_SECONDS) and said and said[0].startswith("monread: "):
        raise ZvmlabError(said[0])


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()


def run_top(arguments: argparse.Namespace) -> int:
    """On a terminal the view is renewed in place; elsewhere each interval is printed."""
    from rich.console import Console
    from rich.live import Live

    from zvmlab.mondata.monrec import parse_release
    from zvmlab.monitor.topview import View

    parse_release(arguments.release)
    if arguments.monwrite and arguments.file is None:
        raise UsageError("--monwrite needs a file")
    if not 0 <= arguments.every <= 3600:
        raise UsageError(f"invalid --every: {arguments.every:g} (seconds, 0 to 3600)")
    console = Console(file=sys.stdout)
    view = View(max(5, console.size.height - 16) if console.is_terminal else 15)
    with _lines(arguments) as lines, contextlib.ExitStack() as open_things:
        live = None
        if console.is_terminal:
            live = open_things.enter_context(Live(view, console=console, screen=False))
        for line in lines:
            view.take(line)
            if live is not None:
                live.update(view)
            else:
                console.print(view)
            # Not a wait for anything: so long people want to look at it.
            time.sleep(arguments.every if arguments.file is not None else 0.0)
    return EXIT_PASS
