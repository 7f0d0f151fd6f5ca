# SPDX-License-Identifier: MIT
"""Sub-commands that start a guest: run, shell, demo."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import stat
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from zvmlab.agent.results import ENVIRONMENT, RunResult
from zvmlab.base.errors import EXIT_PASS, Timeout, UsageError, ZvmlabError
from zvmlab.base.plain import harmless
from zvmlab.base.progress import Progress
from zvmlab.builder.elf import check_file, is_elf, is_s390x
from zvmlab.builder.tool_names import is_tool
from zvmlab.cli.options import (
    counts_of,
    coverage_options,
    guest_options,
    guest_workload_options,
    seconds,
    system_option,
    top_command,
)
from zvmlab.cli.say import say
from zvmlab.guest.artifacts import prepare, with_built_modules
from zvmlab.guest.config import (
    DEFAULT_STORAGE,
    TRACE_DATA,
    GuestConfig,
    normal_storage,
)
from zvmlab.guest.guest import Guest
from zvmlab.guest.names import DRIVER
from zvmlab.guest.run_dir import RunningGuest, check_name, find_guest

if TYPE_CHECKING:
    import socket

    from zvmlab.agent.agent import Agent
    from zvmlab.fabricate.model import Config
    from zvmlab.guest.cover import Block, Cover

RUN_SECONDS = 60.0
_POWER_OFF_SECONDS = 30.0
STDIN_MAX = 8 << 20
_ELF_HEAD = 4096
_PT_INTERP = 3
# The guest is asked for its counts when the shell has ended, and then turned off.
_STAYS, _SHELL_ENDED = "zvmlab.stays=1", "; the guest stays"
_GREETING = "[guest {name}: #cp COMMAND goes to CP; exit, or #cp LOGOFF, ends the guest]\n"


def add_commands(commands: Any) -> None:
    """run, shell, demo."""
    run = top_command(
        commands,
        "run",
        "  zvmlab run -- cat /proc/sysinfo\n"
        "  zvmlab run --kernel trixie --cpus 2 ./my-test --verbose\n"
        "  zvmlab run --storage '0.140M 200M.200M' -- cat /proc/iomem\n"
        "  zvmlab run --module monreader --cp class=G -- dmesg\n"
        "  zvmlab run --module dm-mod -- dmmon list\n"
        "  zvmlab run --workload examples/busy-day.json -- monread --html /out/report.html\n"
        "  zvmlab run --guest ALICE -- cat /proc/sysinfo",
    )
    _more_options(run)
    guest_workload_options(run)
    run.add_argument(
        "--blocks",
        type=Path,
        metavar="FILE",
        help="write to FILE which blocks of the kernel's code run meanwhile, as SYMBOL+OFFSET, and of a"
        " kernel that is built from a source tree the line of each (QEMU)",
    )
    run.add_argument(
        "--blocks-of",
        action="append",
        default=[],
        metavar="NAME",
        help="of a module, a function, functions such as 'iucv_*', or 'kernel'; may be repeated"
        " (default: modules, all that are loaded)",
    )
    run.add_argument(
        "--timeout",
        type=seconds,
        default=RUN_SECONDS,
        metavar="S",
        help="time limit for the program in seconds (default: %(default)g)",
    )
    _running_options(run)
    run.add_argument(
        "program", metavar="PROGRAM", help="local static s390x program, or a program in the guest"
    )
    run.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS")
    run.set_defaults(command=run_run)

    shell = top_command(
        commands,
        "shell",
        "  zvmlab shell\n  zvmlab shell --kernel sid --name test\n  zvmlab shell --guest BOB\n"
        "in it:\n  guest# cat /proc/sysinfo\n  guest# #cp query monitor",
    )
    _more_options(shell)
    _running_options(shell)
    shell.set_defaults(command=run_shell)

    demo = top_command(
        commands,
        "demo",
        "  zvmlab demo\n  zvmlab demo --kernel trixie --cpus 2 --sets 100",
    )
    guest_options(demo)
    demo.add_argument(
        "--sets", type=int, default=int(os.environ.get("SETS") or 20), metavar="N",
        help="data sets to read (default: 20)",
    )  # fmt: skip
    demo.set_defaults(command=run_demo)


def _more_options(parser: argparse.ArgumentParser) -> None:
    guest_options(parser)
    coverage_options(parser)
    add = parser.add_argument
    add(
        "--storage",
        default=DEFAULT_STORAGE,
        metavar="EXTENTS",
        help="storage, as DEF STOR CONFIG has it (default: 0.128M; more for TREE:full:debug)",
    )
    add(
        "--segment",
        action="append",
        metavar="DEF",
        help="saved segment, such as 'MONDCSS 9000-97FF SC RSTD'; may be repeated",
    )
    add(
        "--cp",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="pass an option to CP, " "such as 'class=G'",
    )
    add(
        "--module",
        action="append",
        default=[],
        metavar="NAME|PATH|DIR",
        help="put this module into the guest and load it; a folder (DIR/) is built for its kernel first",
    )
    add(
        "--device",
        action="append",
        default=[],
        metavar="DEF",
        help="add a device: 'virtio-blk-ccw,file=disk.img' in QEMU, '0120 3390 disk.cckd'"
        " in Hercules",
    )
    add(
        "--append",
        default="",
        metavar="WORDS",
        help="add kernel parameters, such as 'conmode=3215'",
    )
    add(
        "--tool",
        action="append",
        default=[],
        metavar="NAME",
        help="put monread, dmmon, taskmon, dmsetup or iucvconn into the guest",
    )
    add(
        "--file",
        action="append",
        default=[],
        metavar="LOCAL[:REMOTE]",
        help="put this file into the guest",
    )
    add("--name", metavar="NAME", help="name of the guest, for zvmlab cp and zvmlab list")
    add(
        "--deterministic",
        action="store_true",
        help="make two runs give the same trace, byte for byte (QEMU)",
    )
    add(
        "--schedule",
        type=int,
        default=0,
        metavar="SEED",
        help="let this number decide how long each CPU's turn is, with --deterministic",
    )
    add(
        "--trace-data",
        default="short",
        choices=TRACE_DATA,
        help="contents of the trace; a full one can be replayed (default: short)",
    )
    add(
        "--trace-limit",
        type=int,
        default=1024,
        metavar="MIB",
        help="end the trace of --keep after this number of MiB (default: 1024)",
    )
    add(
        "--keep",
        type=Path,
        metavar="DIR",
        help="keep the console, the trace and the emulator's log in this folder",
    )


def _running_options(parser: argparse.ArgumentParser) -> None:
    """--guest and --system; and what none of the options may be that would make a guest."""
    kept = {"tool", "file", "timeout"}
    making = {
        action.dest: action
        for action in parser._actions
        if action.option_strings and action.dest not in kept and action.default != "==SUPPRESS=="
    }
    parser.add_argument(
        "--guest",
        metavar="NAME",
        help="user ID of a guest that zvmlab up has started, to use instead of a new one",
    )
    system_option(parser)
    parser.set_defaults(making=making)


def _chosen(arguments: argparse.Namespace) -> RunningGuest | None:
    """The running guest of --guest or --system, if there is one of them."""
    if arguments.guest is None and arguments.system is None:
        return None
    for dest, action in arguments.making.items():
        if getattr(arguments, dest) != action.default:
            option = action.option_strings[-1]
            raise UsageError(f"{option} is for a new guest, and --guest names one that runs")
    return find_guest(arguments.guest, arguments.system)


def _files(arguments: argparse.Namespace) -> dict[str, Path]:
    files = {}
    for text in arguments.file:
        local, _, remote = text.partition(":")
        remote = remote or f"/{Path(local).name}"
        if not Path(local).is_file():
            raise UsageError(f"--file {text}: {local} is not a file")
        if not remote.startswith("/"):
            raise UsageError(f"--file {text}: the guest's path {remote} does not begin with /")
        check_file(Path(local))
        files[remote] = Path(local)
    for name in arguments.tool:
        files |= _tool(name)
    return files


def _tool(name: str) -> dict[str, Path]:
    from zvmlab.builder.guesttools import any_tool  # which few guests need

    return any_tool(name, Progress())


def _config(arguments: argparse.Namespace, files: dict[str, Path], **more: Any) -> GuestConfig:
    options = {}
    for text in arguments.cp:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"invalid --cp: {text} (KEY=VALUE, for example userid=TEST)")
        options[key] = value
    if arguments.segment is not None:
        more["segments"] = tuple(arguments.segment)
    check_name(arguments.name)
    config = GuestConfig(
        kernel=arguments.kernel,
        cpus=arguments.cpus,
        storage=normal_storage(arguments.storage),
        cp=options,
        modules=tuple(arguments.module),
        backend=arguments.backend,
        driver=arguments.driver,
        faults=arguments.faults,
        cold=arguments.cold,
        deterministic=arguments.deterministic,
        schedule=arguments.schedule,
        devices=tuple(arguments.device),
        command_line=arguments.append,
        files=files,
        trace=arguments.keep is not None,
        trace_data=arguments.trace_data,
        trace_limit=arguments.trace_limit,
        name=arguments.name,
        **more,
    )
    return with_built_modules(config, Progress(brief=True))


def check_program(path: Path) -> None:
    """Refuse a local program that cannot run in the guest, and say why."""
    with open(path, "rb") as file:
        head = file.read(_ELF_HEAD)
    if not is_elf(head):
        raise UsageError(
            f"{path} is not a program for s390x; run a script with"
            f" zvmlab run --file {path}:/script -- sh /script"
        )
    try:
        (offset,) = struct.unpack_from(">Q", head, 32)
        size, count = struct.unpack_from(">HH", head, 54)
        if not is_s390x(head):
            raise UsageError(
                f"{path} is a program for another machine;"
                " build it with s390x-linux-gnu-gcc -static"
            )
        kinds = [struct.unpack_from(">I", head, offset + size * i)[0] for i in range(count)]
    except (struct.error, ValueError) as error:
        raise UsageError(f"{path} is damaged; its ELF header cannot be read") from error
    if _PT_INTERP in kinds:
        raise UsageError(
            f"{path} needs shared libraries, which the guest does not have; link it with -static"
        )


def _local_program(text: str) -> Path | None:
    path = Path(text)
    if path.is_file() and ("/" in text or os.access(path, os.X_OK)):
        return path
    if "/" in text and not text.startswith("/"):
        raise UsageError(f"no such program: {text}; a path in the guest begins with /")
    return None


def _stdin() -> bytes:
    """Read piped input; leave a terminal alone."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return b""
    data = sys.stdin.buffer.read(STDIN_MAX + 1)
    if len(data) > STDIN_MAX:
        raise UsageError("standard input has more than 8 MiB; use --file")
    return data


def _guest_argv(program: str, arguments: list[str], files: dict[str, Path]) -> list[str]:
    """The command as the guest runs it: a path, a file put there, or busybox's."""
    if program.startswith("/"):
        return [program, *arguments]
    for folder in ENVIRONMENT["PATH"].split(":"):
        if f"{folder}/{program}" in files:
            return [f"{folder}/{program}", *arguments]
    return ["/bin/busybox", program, *arguments]


def _exit_status(result: RunResult, limit: float) -> int:
    """The exit status as a shell has it."""
    if result.timed_out:
        raise Timeout(f"'{' '.join(result.argv)}' did not end within {limit:g} s in the guest")
    if result.signal is not None:
        return 128 + result.signal
    assert result.status is not None, "a program that has ended has a status or a signal"
    return result.status


def _workload(arguments: argparse.Namespace) -> Config | None:
    """The workload that was asked for; its segment, unless another one was."""
    if (arguments.workload, arguments.hours, arguments.pace) == (None, None, "max"):
        return None
    from zvmlab.cli import workload as cli_workload

    found = cli_workload.read(arguments)
    if found and arguments.segment is None:
        arguments.segment = [cli_workload.segment(found)]
    return found


def run_run(arguments: argparse.Namespace) -> int:
    """Boot, run, end; the program's exit status."""
    running = _chosen(arguments)
    counts = counts_of(arguments)
    workload = _workload(arguments)
    local = _local_program(arguments.program)
    files = _files(arguments)
    if local is not None:
        check_program(local)
        argv = [f"/bin/{local.name}", *arguments.arguments]
        files[argv[0]] = local
    else:
        if is_tool(arguments.program):
            files |= _tool(arguments.program)
        argv = _guest_argv(arguments.program, arguments.arguments, files)
    if running is not None:
        return _run_there(running, argv, files, arguments.timeout)
    config = _config(arguments, files, busybox=local is None)
    stdin = _stdin()
    with (
        _blocks_file(arguments) as blocks,
        _guest(config, arguments.keep) as guest,
        _blocks(guest, blocks, arguments.blocks_of),
    ):
        try:
            if workload:
                from zvmlab.cli import workload as cli_workload

                result = cli_workload.run(guest, argv, stdin, workload, arguments)
            else:
                result = guest.agent.run(argv, stdin=stdin, timeout=arguments.timeout)
        except OSError as error:
            raise _cannot_run(argv, error) from error
        finally:
            if counts is not None:
                counts.keep(guest, f"run {' '.join(argv)}")
        _write(result)
        guest.check()
        if workload:
            cli_workload.fetch(guest, argv, arguments.out)
        code = _outcome(result, arguments.timeout)
        guest.shut_down()
    return code


def _cannot_run(argv: list[str], error: OSError) -> UsageError:
    return UsageError(
        f"{argv[0]} cannot be run: {error.strerror}; name a static s390x program here,"
        " or one that the guest has (busybox)"
    )


def _write(result: RunResult) -> None:
    """What the program has written, to where it has written it."""
    sys.stdout.buffer.write(result.stdout)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(result.stderr)
    sys.stderr.buffer.flush()


def _outcome(result: RunResult, limit: float) -> int:
    """The exit status; ZvmlabError if not all of the output is there."""
    code = _exit_status(result, limit)
    if result.cut:
        raise ZvmlabError("the program wrote more than 8 MiB; the rest is lost")
    return code


def _agent_of(running: RunningGuest) -> Agent:
    """The agent of a guest that another process has started."""
    from zvmlab.agent.shared import connect

    if not running.agent.exists():
        raise UsageError(
            f"{running.shown} takes no programs of others: it is not a guest of zvmlab up,"
            " or is not up yet"
        )
    return connect(running.agent)


def _put(agent: Agent, remote: str, local: Path) -> None:
    """Write a local file into the guest, with the folders that it needs there."""
    for folder in reversed(Path(remote).parents[:-1]):
        made = agent.mkdir(str(folder))
        if made.errno != errno.EEXIST:
            made.check()
    agent.write_file(remote, local.read_bytes(), stat.S_IMODE(local.stat().st_mode))


def _run_there(running: RunningGuest, argv: list[str], files: dict[str, Path], limit: float) -> int:
    """Run a program in a guest that goes on afterwards; one that is given up is killed."""
    stdin = _stdin()
    agent = _agent_of(running)
    try:
        for remote, local in files.items():
            _put(agent, remote, local)
        process = agent.spawn(argv, stdin=stdin)
    except OSError as error:
        raise _cannot_run(argv, error) from error
    try:
        result = process.wait(limit, kill=True)
    except BaseException:
        with contextlib.suppress(OSError, ZvmlabError):
            process.kill()
        raise
    finally:
        agent.close_connection()
    _write(result)
    return _outcome(result, limit)


@contextlib.contextmanager
def _blocks_file(arguments: argparse.Namespace) -> Iterator[TextIO | None]:
    """Where --blocks are written; opened before the guest boots."""
    if arguments.blocks is not None:
        with arguments.blocks.open("w", encoding="utf-8", errors="surrogateescape") as file:
            yield file
    elif arguments.blocks_of:
        raise UsageError("--blocks-of needs --blocks FILE, where the blocks are written")
    else:
        yield None


@contextlib.contextmanager
def _blocks(guest: Guest, file: TextIO | None, names: list[str]) -> Iterator[None]:
    """To *file*: what runs within the block, also if it ends with an error."""
    if file is None:
        yield
        return
    cover = guest.cover(*names or ["modules"])
    try:
        yield
    finally:
        blocks = cover.blocks()
        lines: dict[Block, str] = {}
        try:
            # Whoever ends the program does not wait for a compiler.
            if not isinstance(sys.exc_info()[1], (KeyboardInterrupt, SystemExit)):
                lines = _lines(cover, blocks, file.name)
        finally:
            file.writelines(f"{block}{lines.get(block, '')}\n" for block in blocks)
    if cover.lost:
        raise ZvmlabError(f"{file.name} lacks some blocks: there were too many of them")


def _lines(cover: Cover, blocks: list[Block], name: str) -> dict[Block, str]:
    """What stands behind blocks whose lines are known; of others it is said why they are not."""
    try:
        found = cover.lines(blocks, Progress(brief=True))
    except ZvmlabError as error:
        say(f"{name} has no lines: {error}")
        return {}
    for why in found.missing:
        say(why)
    return {block: f"  {found.shown(block)}" for block in found.lines}


@contextlib.contextmanager
def _guest(config: GuestConfig, keep: Path | None) -> Iterator[Guest]:
    """A guest with its modules loaded, booted with a progress line."""
    progress = Progress(brief=True)
    artifacts = prepare(config, progress)
    with Guest(config, keep, artifacts) as guest:
        with progress.step(f"booting {artifacts.kernel_version}"):
            guest.boot()
        load_modules(guest)
        yield guest


def load_modules(guest: Guest) -> None:
    """Load the modules of --module."""
    for name in guest.config.modules:
        guest.agent.modprobe(Path(name).stem if "/" in name else name).check()


def _connect_console(guest: Guest) -> socket.socket:
    import socket

    path = guest.channels.console_socket
    assert path is not None, "an interactive guest has a console socket"
    console = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    console.connect(str(path))
    return console


def _set_up(guest: Guest) -> str:
    """Prepare an interactive guest before the user is told that it is ready."""
    from zvmlab.monitor.monitor import start_monitor

    guest.boot()
    load_modules(guest)
    guest.agent.modprobe(DRIVER).check()
    start_monitor(guest)
    guest.emulator.expect_exit()
    return _GREETING.format(name=guest.name)


def run_shell(arguments: argparse.Namespace) -> int:
    """Join the terminal to a guest until its shell, or the user, ends it."""
    running = _chosen(arguments)
    if running is not None:
        from zvmlab.cli.console import ENTER, FIRST_FREE, connect_terminal

        # Its shell waits since the boot, when nobody saw its prompt.
        return connect_terminal(running, FIRST_FREE, first=ENTER)
    from concurrent.futures import ThreadPoolExecutor

    from zvmlab.guest.terminal import Session, raw_terminal

    counts = counts_of(arguments)
    if counts is not None:
        arguments.append = f"{arguments.append} {_STAYS}".strip()
    config = _config(arguments, _files(arguments), interactive=True)
    artifacts = prepare(config, Progress())
    with (
        ThreadPoolExecutor(1) as pool,
        Guest(config, arguments.keep, artifacts) as guest,
        contextlib.ExitStack() as open_things,
    ):
        guest.start()
        console = open_things.enter_context(_connect_console(guest))
        open_things.enter_context(raw_terminal(sys.stdin.fileno()))
        session = Session(
            console, lambda text: harmless(guest.cp(text).response), lines=config.has_3215
        )
        # The terminal shows the guest booting meanwhile.
        setting_up = pool.submit(_set_up, guest)

        def over() -> bool:
            if setting_up.done():
                session.announce(setting_up.result())
            guest.console.check()
            left = counts is not None and _SHELL_ENDED in guest.console.text()
            return left or not guest.emulator.alive

        session.run(over)
        if counts is not None:
            counts.keep(guest, "shell")
        guest.console.check()
        if session.logged_off:
            return EXIT_PASS
        if counts is not None and guest.emulator.alive:
            guest.shut_down()
        else:
            guest.emulator.check_power_off(_POWER_OFF_SECONDS)
    return EXIT_PASS


def run_demo(arguments: argparse.Namespace) -> int:
    """See zvmlab.cli.demo."""
    from zvmlab.cli.demo import demo  # the table is needed here only

    config = GuestConfig(
        kernel=arguments.kernel,
        backend=arguments.backend,
        driver=arguments.driver,
        faults=arguments.faults,
        cold=arguments.cold,
        cpus=arguments.cpus,
        trace=False,
    )
    return demo(config, arguments.sets)
