# SPDX-License-Identifier: MIT
"""Random channel programs in a guest without an operating system: docs/fuzzing.md.

ZVMLAB_CHANNEL_SEED is the first seed and ZVMLAB_CHANNEL_SEEDS their number; one seed alone repeats
a finding.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zvmlab.base.errors import EmulatorError
from zvmlab.guest.config import HERCULES, GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

pytestmark = pytest.mark.first_kernel(always=True)
MARK = "PROGRAMS".encode("cp037")
SEED, SEEDS = 20261128, 256
SILENCE = 300
"""Seconds without a word of the guest's, which speaks after 64 seeds, on a busy machine."""
GROWTH = (32 + 2) << 20
"""What spool files may take, which punch and printer write, and a little."""
DIRECTORY = (
    "SPOOL 00C 2540 READER *;SPOOL 00D 2540 PUNCH A;SPOOL 00E 1403 A;"
    "MDISK 0200 FB-512 V-DISK 64 MW;MDISK 0201 FB-512 V-DISK 64 R"
)
DEVICES = 5
BROKEN = {
    1: "a subchannel has more than one interruption pending",
    2: "status was stored twice, by one TEST SUBCHANNEL after the other",
    3: "TEST SUBCHANNEL stored no status, with condition code 0",
    4: "a program that ended without a check did not end behind one of its CCWs",
    5: "a program, list or block was changed",
    6: "storage was changed that no CCW names",
}


@pytest.fixture
def guest_config(bare: Build, zvmlab_backend: str, zvmlab_dir: Path) -> GuestConfig:
    """The bare-metal program with its seeds, and the devices that its programs are for."""
    if zvmlab_backend == HERCULES:
        pytest.skip("its devices are Hercules' own; SPOOL and MDISK statements are for QEMU only")
    seed = int(os.environ.get("ZVMLAB_CHANNEL_SEED", SEED))
    seeds = int(os.environ.get("ZVMLAB_CHANNEL_SEEDS", SEEDS))
    print(f"ZVMLAB_CHANNEL_SEED={seed} ZVMLAB_CHANNEL_SEEDS={seeds}")
    image = bare("programs").read_bytes()
    assert image.count(MARK) == 1
    at = image.index(MARK) + len(MARK)
    zvmlab_dir.mkdir(exist_ok=True)
    kernel = zvmlab_dir / "programs"
    own = seed.to_bytes(8, "big") + seeds.to_bytes(8, "big")
    kernel.write_bytes(image[:at] + own + image[at + len(own) :])
    return GuestConfig(kernel=str(kernel), trace=False, cp={"directory": DIRECTORY})


def _said(guest: Guest) -> Iterator[tuple[str, int, int, int]]:
    """The lines of the guest: word, number, kind, detail."""
    while True:
        event = guest.control.wait_event("console", SILENCE, user="OPERATOR")
        words = event.data["text"].split("LINUX001: ")[-1].split()
        yield words[0], *(int(word, 16) for word in words[1:])  # type: ignore[misc]


@pytest.mark.timeout(7200)
def test_channel_programs(made_guest: Guest) -> None:
    """The emulator answers all the time, does not grow, and does what holds for all programs."""
    guest = made_guest
    guest.start()
    guest.emulator.expect_exit()
    guest.resume()
    began, last, findings = 0, SEED, []
    seeds = int(os.environ.get("ZVMLAB_CHANNEL_SEEDS", SEEDS))
    try:
        for word, number, kind, detail in _said(guest):
            if word == "DONE":
                # Of so many that were looked at behind their start.
                assert number >= seeds
                break
            if word == "DEVICES":
                assert number == DEVICES
            elif word == "SEED":
                last = number
                heap = guest.control.execute("query-counters")["heap"]
                began = began or heap
                assert heap < began + GROWTH, f"seeds up to {last}"
            else:
                assert word == "BROKEN"
                findings.append(f"ZVMLAB_CHANNEL_SEED={number}: {BROKEN[kind]} ({detail:08X})")
    except EmulatorError as error:
        raise AssertionError(f"ZVMLAB_CHANNEL_SEED={last} or one of the 63 after it") from error
    assert not findings, "\n".join(findings[:10])
    assert guest.emulator.wait(SILENCE) == 0
