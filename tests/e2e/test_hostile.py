# SPDX-License-Identifier: MIT
"""A hostile guest without an operating system, on four CPUs: docs/hostile-guest.md.

ZVMLAB_HOSTILE_SEED and ZVMLAB_HOSTILE_SECONDS say what it does and how long.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zvmlab.base.errors import EmulatorError
from zvmlab.guest.config import QEMU, GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

pytestmark = pytest.mark.first_kernel(always=True)
MARK = "HOSTILE!".encode("cp037")
CPUS = 4
FEW, MINUTE = 4, 60
SEED = 20261122
SILENCE = 120
"""Seconds without a word of the guest's, which speaks every second, on a busy machine."""
MIB = 1 << 20
STORAGE = 64 * MIB
"""What is mapped in one piece of this size is the guest's."""
ARENA = 64 * MIB
"""Where glibc lets each part of a thread's heap begin."""
GROWTH = 2 * MIB
PATHS = 64
# Without these it has no subchannel in QEMU; Hercules has devices of its own.
DIRECTORY = (
    "IUCV ALLOW;IUCV ANY;IUCV *MSG;IUCV *MONITOR MSGLIMIT 255;NAMESAVE MONDCSS;"
    "SPOOL 00C 2540 READER *;SPOOL 00D 2540 PUNCH A;SPOOL 00E 1403 A;"
    "MDISK 0200 FB-512 V-DISK 64 MW;MDISK 0201 FB-512 V-DISK 64 R"
)


@dataclass
class Life:
    """Observations of a guest until its end: rounds of each CPU, bytes of the emulator."""

    rounds: list[list[int]] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    ended: bool = False


@pytest.fixture
def guest_config(
    bare: Build, zvmlab_dir: Path, zvmlab_backend: str, request: pytest.FixtureRequest
) -> GuestConfig:
    """The bare-metal program with its seed and time."""
    seconds = int(os.environ.get("ZVMLAB_HOSTILE_SECONDS", request.param))
    seed = SEED if seconds == FEW else random.randrange(1 << 32)
    seed = int(os.environ.get("ZVMLAB_HOSTILE_SEED", seed))
    print(f"ZVMLAB_HOSTILE_SEED={seed} ZVMLAB_HOSTILE_SECONDS={seconds}")
    image = bare("hostile").read_bytes()
    assert image.count(MARK) == 1
    at = image.index(MARK) + len(MARK)
    zvmlab_dir.mkdir(exist_ok=True)
    kernel = zvmlab_dir / "hostile"
    own = seed.to_bytes(8, "big") + seconds.to_bytes(8, "big")
    kernel.write_bytes(image[:at] + own + image[at + len(own) :])
    cp = {"directory": DIRECTORY} if zvmlab_backend == QEMU else {}
    return GuestConfig(kernel=str(kernel), cpus=CPUS, trace=False, translations=32, cp=cp)


def _memory(guest: Guest) -> int:
    """Bytes that the emulator uses: of malloc() what it has been given, of the rest what is there.

    What malloc() was given back and keeps does not count: how much that is depends on
    which thread needed most at one time.
    """
    total: int = guest.control.execute("query-counters")["heap"]
    smaps = Path(f"/proc/{guest.emulator.pid}/smaps").read_text(encoding="ascii")
    for mapping in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", smaps, flags=re.MULTILINE)[1:]:
        start, end = (int(address, 16) for address in mapping.split()[0].split("-"))
        of_malloc = "[heap]" in mapping or start % ARENA == 0
        dirty = re.search(r"^Private_Dirty: +(\d+) kB$", mapping, re.MULTILINE)
        assert dirty is not None
        if end - start < STORAGE and not of_malloc:
            total += int(dirty[1]) << 10
    return total


def _growth(memory: Sequence[int]) -> int:
    """From the second quarter to the last, at the lowest: what is freed again does not count."""
    quarter = len(memory) // 4
    return min(memory[-quarter:]) - min(memory[quarter : 2 * quarter])


def _reports(guest: Guest) -> list[list[str]]:
    """CPU 0's reports since the last call: word, and rounds of each CPU in hexadecimal digits.

    Everything that has come is taken at once: the guest floods the console, and what
    waits for long is displaced.
    """
    first = guest.control.wait_event("console", SILENCE, user="OPERATOR")
    events = [first, *guest.control.events("console")]
    said = [e.data["text"].split("LINUX001: ")[-1].split() for e in events]
    return [words for words in said if len(words) == CPUS + 1 and words[0] in ("ALIVE", "ENDED")]


def _listen(guest: Guest) -> Life:
    """Until the guest says that it has ended."""
    life = Life()
    heard = time.monotonic()
    while not life.ended:
        try:
            reports = _reports(guest)
        except EmulatorError:
            # Its last words may be lost when it ends: the exit code and the time count.
            break
        for word, *rounds in reports:
            heard = time.monotonic()
            life.ended = life.ended or word == "ENDED"
            life.rounds.append([int(count, 16) for count in rounds])
        if reports and not life.ended:
            with contextlib.suppress(EmulatorError, OSError):
                # It may have ended meanwhile: then the line that says so is on its way.
                life.memory.append(_memory(guest))
                paths = guest.control.execute("query-paths", user="LINUX001")["paths"]
                assert len(paths) <= PATHS
        assert time.monotonic() < heard + SILENCE, f"silent after {life.rounds[-1:]}"
    return life


@pytest.mark.representative
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "guest_config",
    [FEW, pytest.param(MINUTE, marks=pytest.mark.full)],
    ids=["few-seconds", "minute"],
    indirect=True,
)
def test_emulator_outlives_a_hostile_guest(made_guest: Guest) -> None:
    made_guest.start()
    made_guest.emulator.expect_exit()
    begun = time.monotonic()
    made_guest.resume()
    life = _listen(made_guest)
    assert made_guest.emulator.wait(SILENCE) == 0
    assert time.monotonic() > begun + FEW - 1
    print(f"rounds {life.rounds[-1]}, MiB {[round(m / MIB, 1) for m in life.memory]}")
    assert all(last > 0 for last in life.rounds[-1])
    if len(life.rounds) > 20:
        half = len(life.rounds) // 2
        # Every CPU was alive in the second half, too.
        assert all(b > a for a, b in zip(life.rounds[half], life.rounds[-1], strict=True))
        assert _growth(life.memory) < GROWTH
