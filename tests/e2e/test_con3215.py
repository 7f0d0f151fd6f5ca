# SPDX-License-Identifier: MIT
"""con3215: the kernel's console and terminal on a 3215, Hercules' or that of CP in QEMU."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from keyboard import type_keys
from waiting import LIMIT, wait_until
from zvmlab.agent.calls import BatchResult
from zvmlab.agent.worker import Pending, Worker
from zvmlab.guest.config import HERCULES, GuestConfig
from zvmlab.guest.guest import Guest

TERMINAL = "/dev/ttyS0"
DEVICE = "/sys/bus/ccw/drivers/3215/0.0.0009"
pytestmark = pytest.mark.representative


@pytest.fixture
def guest_config(guest_config: GuestConfig, zvmlab_backend: str) -> GuestConfig:
    """In Hercules every guest has a 3215."""
    if zvmlab_backend == HERCULES:
        return guest_config
    return guest_config._replace(cp={**guest_config.cp, "conmode": "3215"})


class Terminal:
    """The terminal as a program of the guest has it open."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self.worker: Worker = guest.agent.worker("terminal")
        self.fd = self.worker.open(TERMINAL, os.O_RDWR | os.O_NOCTTY).check()

    def start_read(self) -> Pending[BatchResult]:
        batch = self.worker.batch()
        batch.read(self.fd, 4096)
        return batch.start(timeout=LIMIT)

    def type(self, line: str) -> None:
        """Type a line; at Hercules' panel, which gives the console what is behind a slash."""
        if self.guest.config.backend == HERCULES:
            self.guest.emulator.command(f"/{line}")
        else:
            type_keys(self.guest, f"{line}\n".encode())

    def log(self) -> str:
        return self.guest.channels.console_log.read_text(encoding="utf-8", errors="replace")


@pytest.fixture
def terminal(guest: Guest) -> Iterator[Terminal]:
    found = Terminal(guest)
    yield found
    found.worker.close(found.fd).check()


def taken(pending: Pending[BatchResult]) -> bytes:
    (result,) = pending.result()
    return result.data[: result.check()]


@pytest.mark.requirement("O1")
def test_the_console_is_the_3215(guest: Guest) -> None:
    """Its device by the driver, and the console of the kernel's log; CP was told of it."""
    agent = guest.agent
    assert agent.read_file(f"{DEVICE}/cutype") == b"3215/00\n"
    assert agent.read_file(f"{DEVICE}/online") == b"1\n"
    (line,) = agent.read_file("/proc/consoles").decode().splitlines()
    name, *_, number = line.split()
    assert (name, number) == ("ttyS0", "4:64")


@pytest.mark.requirement("O2")
def test_lines_of_a_program_arrive(terminal: Terminal) -> None:
    """All lines arrive in their order, also long ones."""
    # The kernel's own would come between two writes, in the middle of a line.
    terminal.guest.agent.write_file("/proc/sys/kernel/printk", b"1")
    lines = [f"line {number} " + "x" * number for number in range(0, 300, 7)]
    text = "".join(f"{line}\n" for line in lines).encode()
    batch = terminal.worker.batch()
    for at in range(0, len(text), 1000):
        batch.write(terminal.fd, text[at : at + 1000])
    assert sum(result.check() for result in batch.run(LIMIT)) == len(text)
    wait_until(lambda: lines[-1] in terminal.log(), "the last line", terminal.log)
    found = [line for line in terminal.log().splitlines() if line.startswith("line ")]
    assert found == lines


@pytest.mark.requirement("O2")
def test_tabs_end_at_each_eighth_column(terminal: Terminal) -> None:
    """A 3215 has no tabs, so the driver puts blanks; a line may come in several pieces."""
    terminal.guest.agent.write_file("/proc/sys/kernel/printk", b"1")
    lines = ["tab\tb\tc", "tab4567\tb", "tab45678\tb", "tab\t\t|", f"tab{'x' * 70}\ty\tz"]
    pieces = ["tab\ta", "\tpiece"]
    batch = terminal.worker.batch()
    for text in (*(f"{line}\n" for line in lines), pieces[0], f"{pieces[1]}\n"):
        batch.write(terminal.fd, text.encode())
    for result in batch.run(LIMIT):
        result.check()
    wait_until(lambda: "piece" in terminal.log(), "the last line", terminal.log)
    found = [line for line in terminal.log().splitlines() if line.startswith("tab")]
    assert found == [line.expandtabs(8) for line in (*lines, "".join(pieces))]


@pytest.mark.requirement("O3")
@pytest.mark.parametrize(
    ("typed", "found"),
    [("Hello, World", b"Hello, World\n"), ("", b"\n"), ("one^n", b"one"), ("^d", b"\x04")],
    ids=["line", "empty", "without-its-end", "control-character"],
)
def test_what_is_typed_is_read(terminal: Terminal, typed: str, found: bytes) -> None:
    """^n takes the end of the line away; ^d alone is a character, which the terminal passes on."""
    reading = terminal.start_read()
    terminal.type(typed)
    assert taken(reading) == found
