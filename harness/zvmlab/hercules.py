# SPDX-License-Identifier: MIT
"""A guest in Hercules: the files it is started with, and its panel's commands.

Hercules has no options beyond its configuration, loads relative to a .ins file
and reads commands from standard input.  All its files are in the guest's run
directory, which is its working directory, so that none of them holds a path.

``python3 -m zvmlab.hercules [KERNEL [PARAMETER…]]`` puts what is loaded into this
folder, for Hercules started by hand (hercules-conf/README.md).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from zvmlab.emulator import Emulator
from zvmlab.errors import Timeout, UsageError, ZvmlabError
from zvmlab.guest_config import HERCULES, MIB, Channels, GuestConfig, Products
from zvmlab.herculesbuild import program
from zvmlab.herculesload import LOAD, write_load
from zvmlab.run_dir import cannot_write

SLOWNESS = 4.0
CONFIGURATION = "guest.cnf"
OPTIONS = "guest.options"
MODULE = "zvmcp.so"
CONSOLE = 0x0009
TIMER_MICROSECONDS = 1000
# What the module writes when it takes a command.
_READY = b"zvmlab: ready\n"
_POLL_SECONDS = 0.005


def check_program() -> None:
    """Raise CannotRun if Hercules is not installed."""
    program()


def configuration(config: GuestConfig) -> str:
    """Hercules' own configuration."""
    lines = (
        "ARCHMODE z/Arch",
        f"MAINSIZE {config.emulated_storage() // MIB}",
        f"NUMCPU {config.cpus}",
        f"MAXCPU {config.cpus}",
        # By itself Hercules is nice to all others but for its clock, which it looks at
        # every 50 microseconds; on a busy machine a guest would starve.
        "HERCPRIO 0",
        "CPUPRIO 0",
        "DEVPRIO 0",
        "TODPRIO 0",
        f"TIMERINT {TIMER_MICROSECONDS}",
        "OSTAILOR QUIET",
        "LOGOPT NOTIMESTAMP",
        f"LDMOD ./{MODULE}",
        f"{CONSOLE:04X} ZVMCP {OPTIONS}",
    )
    return "".join(f"{line}\n" for line in lines)


def folder(channels: Channels) -> Path:
    """Where all files of the guest are."""
    return channels.control.parent.absolute()


def _with_path(segment: str) -> str:
    """A segment's definition; its file is found from any folder."""
    rest, found, path = segment.partition("FILE=")
    return f"{rest}FILE={Path(path).absolute()}" if found else rest


def options(config: GuestConfig, channels: Channels) -> str:
    """The module's options: the CP's, and where its files and sockets are."""
    words = {**config.cp_options(), "segment": ";".join(map(_with_path, config.segments))}
    paths = {
        "control": channels.control,
        "log": channels.console_log,
        "trace": channels.trace,
        "socket": channels.console_socket,
    }
    words |= {key: str(path.absolute()) for key, path in paths.items() if path is not None}
    for key, value in words.items():
        if "\n" in value:
            raise UsageError(f"the CP option {key} has more than one line: {value!r}")
    return "".join(f"{key} {value}\n" for key, value in words.items())


def prepare(config: GuestConfig, products: Products, channels: Channels) -> list[str]:
    """Write all files; the command line, to be run in their folder."""
    into = folder(channels)
    try:
        (into / MODULE).symlink_to(products.emulator)
        (into / CONFIGURATION).write_text(configuration(config), encoding="utf-8")
        (into / OPTIONS).write_text(options(config, channels), encoding="utf-8")
        write_load(into, config, products)
    except OSError as error:
        raise cannot_write(into, error) from error
    return [str(program()), "-d", "-f", CONFIGURATION]


class Panel:
    """Commands by standard input; the module says when one has been executed."""

    def __init__(self, emulator: Emulator, seconds: float, check: Callable[[], None]) -> None:
        self._emulator = emulator
        self._seconds = seconds
        self._check = check
        self._said = 0
        self._loaded = False
        self._await()

    def _await(self) -> None:
        """Wait until Hercules is ready for the next command."""
        self._said += 1
        limit = time.monotonic() + self._seconds
        while self._emulator.log.read_bytes().count(_READY) < self._said:
            self._check()
            if time.monotonic() > limit:
                raise Timeout(f"Hercules was not ready within {self._seconds:g} s")
            time.sleep(_POLL_SECONDS)

    def _command(self, text: str) -> None:
        self._emulator.command(text)
        self._await()

    def go_on(self) -> None:
        """Load the machine, or start its CPUs again."""
        self._command("startall" if self._loaded else f"ipl {LOAD}")
        self._loaded = True

    def pause(self) -> None:
        """Stop the CPUs."""
        self._command("stopall")

    def close(self) -> None:
        """Nothing is open but the emulator's standard input."""


def main(arguments: Sequence[str]) -> int:
    """Return: exit code."""
    from zvmlab.products import prepare as prepare_products  # which needs this module

    kernel, *parameters = arguments or ["bookworm"]
    try:
        config = GuestConfig(
            kernel=kernel,
            backend=HERCULES,
            interactive=True,
            command_line=" ".join(parameters),
        )
        write_load(Path.cwd(), config, prepare_products(config))
    except ZvmlabError as error:
        print(f"zvmlab: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"zvmlab: {cannot_write(Path.cwd(), error)}", file=sys.stderr)
        return cannot_write(Path.cwd(), error).exit_code
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
