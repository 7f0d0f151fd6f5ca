# SPDX-License-Identifier: MIT
"""Sub-commands that start no guest of their own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from zvmlab.base.errors import EXIT_CANNOT_RUN, EXIT_FAILED, EXIT_PASS, UsageError
from zvmlab.base.plain import harmless
from zvmlab.base.progress import Progress
from zvmlab.cli import doctor
from zvmlab.cli.options import (
    backend_option,
    running_guest,
    running_option,
    top_command,
)
from zvmlab.cli.say import say
from zvmlab.cp.control import Control
from zvmlab.guest.run_dir import RunningGuest, members_of, running_guests, running_systems

REQUEST_SECONDS = 30.0


def add_commands(commands: Any) -> None:
    """cp, list, trace, fetch, build, doctor."""
    cp = top_command(
        commands,
        "cp",
        "  zvmlab cp 'QUERY MONITOR'\n  zvmlab cp --guest g1a2b3 'MSG LINUX001 HELLO' 'QUERY TIME'",
    )
    cp.add_argument("text", nargs="+", metavar="COMMAND", help="a CP command; several may be given")
    running_option(cp)
    cp.set_defaults(command=run_cp)

    listing = top_command(commands, "list", "  zvmlab list")
    listing.set_defaults(command=run_list)

    trace = top_command(
        commands,
        "trace",
        "  zvmlab trace run/trace.jsonl\n"
        "  zvmlab trace run/trace.jsonl --call 'iucv.*' --call interrupt --user 'CPU 0'\n"
        "  zvmlab trace run/trace.jsonl --since 1200 --raw\n"
        "  zvmlab trace run/trace.jsonl --since-test overflow\n"
        "  zvmlab trace run/trace.jsonl --perfetto out.json\n"
        "  zvmlab trace --guest ALICE --call 'iucv.*'\n"
        "  zvmlab trace --system three-guests --call interrupt",
    )
    trace.add_argument("file", nargs="?", type=Path, metavar="FILE", help="trace.jsonl of a guest")
    running_option(trace)
    add = trace.add_argument
    add(
        "--call",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only calls that match, such as 'iucv.*'; may be repeated",
    )
    add(
        "--user",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only calls of this user, or of 'CPU 0' and so on for the guest itself; may be "
        "repeated",
    )
    begin = trace.add_mutually_exclusive_group()
    begin.add_argument("--since", type=int, default=0, metavar="SEQ", help="begin with this number")
    begin.add_argument(
        "--since-test",
        metavar="NAME",
        help="begin with the last test whose name contains this; for a trace kept by tests",
    )
    add(
        "--raw",
        action="store_true",
        help="print bytes of parameter lists and interrupt buffers instead of words, and each"
        " DIAGNOSE X'44' and X'9C' of a CPU that waits",
    )
    add("--perfetto", type=Path, metavar="OUT", help="write a timeline for ui.perfetto.dev")
    trace.set_defaults(command=run_trace)

    fetch = top_command(
        commands,
        "fetch",
        "  zvmlab fetch\n"
        "  zvmlab fetch bookworm trixie sid\n"
        "  zvmlab fetch ~/linux source:6.12:debug",
    )
    fetch.add_argument(
        "kernel", nargs="*", metavar="KERNEL", help="as for --kernel (default: bookworm)"
    )
    fetch.set_defaults(command=run_fetch)

    build = top_command(
        commands,
        "build",
        "  zvmlab build\n"
        "  zvmlab build --backend hercules\n"
        "  zvmlab build --entry          the key under which CI can keep the cache",
    )
    backend_option(build)
    build.add_argument(
        "--entry",
        action="store_true",
        help="print the name of the cache entry, which changes with its sources; build nothing",
    )
    build.set_defaults(command=run_build)

    check = top_command(
        commands,
        "doctor",
        "  zvmlab doctor",
    )
    check.set_defaults(command=run_doctor)


def run_cp(arguments: argparse.Namespace) -> int:
    """Responses on standard output; 1 if CP refused a command."""
    found = running_guest(arguments)
    worst = EXIT_PASS
    with Control.connect(found.control, REQUEST_SECONDS) as control:
        for text in arguments.text:
            answer = control.cp(text)
            sys.stdout.write(harmless(answer.response))
            if answer.rc != 0:
                worst = EXIT_FAILED
    return worst


def run_list(_arguments: argparse.Namespace) -> int:
    """One line for each guest; those of a system follow a line of its own."""
    guests = running_guests()
    systems = running_systems()
    for system in systems:
        members = [guest for guest in guests if guest.system == system.name]
        users = "1 guest" if len(members) == 1 else f"{len(members)} guests"
        _print(f"{system.name:<16} pid {system.pid:<8} system of {users}  file {system.file}")
        for guest in sorted(members, key=lambda guest: guest.userid):
            _print(f"  {guest.userid:<14} pid {guest.pid:<8} {_machine(guest)}")
    names = {system.name for system in systems}
    for guest in guests:
        if guest.system not in names:
            _print(f"{guest.name:<16} pid {guest.pid:<8} {_machine(guest)}")
    return EXIT_PASS


def _machine(guest: RunningGuest) -> str:
    return f"{guest.cpus} CPU  kernel {guest.kernel}"


def _print(line: str) -> None:
    print(harmless(line, lines=False))


def run_trace(arguments: argparse.Namespace) -> int:
    """Hand over to the trace's own modules."""
    from zvmlab.cp import trace_tests, tracefmt  # only this command needs them

    traces = _traces_of(arguments)
    since = arguments.since
    if arguments.since_test is not None:
        if arguments.file is None:
            raise UsageError("--since-test is for a trace that tests have kept; name its file")
        since = trace_tests.first_of(arguments.file, arguments.since_test)
    choice = tracefmt.Choice(tuple(arguments.call), tuple(arguments.user), since, arguments.raw)
    single = next(iter(traces.values())) if arguments.system is None or arguments.guest else None
    records = tracefmt.read_system(traces) if single is None else tracefmt.read(single)
    if arguments.perfetto is not None:
        tracefmt.write_perfetto(records, arguments.perfetto, choice)
    else:
        tracefmt.print_records(records, sys.stdout, choice)
    return EXIT_PASS


def _traces_of(arguments: argparse.Namespace) -> dict[str, Path]:
    """The file that was named, that of a member of a running system, or those of all, by user ID."""
    if (arguments.file is not None) == (
        arguments.guest is not None or arguments.system is not None
    ):
        raise UsageError(
            "trace needs either a file, or --guest or --system for what runs in a system"
        )
    if arguments.file is not None:
        return {"": Path(arguments.file)}
    if arguments.guest is None:
        members = members_of(arguments.system)
    else:
        members = [running_guest(arguments)]
    found = {guest.userid: Path(guest.trace) for guest in members if guest.trace}
    if not found and arguments.guest is None:
        raise UsageError(f"no guest of the system {arguments.system} is logged on")
    if not found:
        raise UsageError(
            f"{members[0].shown} is a member of no system, or has no trace; zvmlab run --keep keeps"
            " one"
        )
    return found


def run_fetch(arguments: argparse.Namespace) -> int:
    """Resolve, fetch and verify; print what each name means today."""
    from zvmlab.builder.kernels import resolve

    progress = Progress()
    for name in arguments.kernel or ["bookworm"]:
        kernel = resolve(name, progress=progress)
        print(f"{name}: {kernel.version} {kernel.image}")
    return EXIT_PASS


def run_build(arguments: argparse.Namespace) -> int:
    """Build it unless it is there."""
    from zvmlab.guest.backends import backend_of

    backend = backend_of(arguments.backend)
    print(backend.entry() if arguments.entry else backend.build(Progress()))
    return EXIT_PASS


def run_doctor(_arguments: argparse.Namespace) -> int:
    """The findings; 77 if guests cannot run here."""
    return EXIT_PASS if doctor.report() else EXIT_CANNOT_RUN
