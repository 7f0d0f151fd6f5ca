# SPDX-License-Identifier: MIT
"""A boot says nothing that is wrong, and finds random numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import HERCULES, QEMU, GuestConfig
from zvmlab.guest.guest import Guest

ERROR = 3
# What a kernel says of the emulator at level "error" or worse, and why that is right.
STATED: tuple[str, ...] = ()
TRNG = "s390_trng"
NO_TRNG = "Hercules 3.13 has no true random numbers (PRNO function 114)"
MODULES = [
    pytest.param(name, device, marks=pytest.mark.zvmlab(modules=(name.replace("_", "-"),)), id=name)
    for name, device in ((TRNG, "/dev/trng"), ("prng", "/dev/prandom"))
]


def read(guest: Guest, device: str, size: int) -> bytes:
    """The first bytes of what a device gives without end."""
    fd = guest.agent.open(device).check()
    data = guest.agent.read(fd, size)
    guest.agent.close(fd)
    assert data.check() == size
    return data.data


def place(guest: Guest) -> int:
    """The position where the kernel's text begins."""
    symbols = guest.agent.read_file("/proc/kallsyms")
    found = re.search(rb"^([0-9a-f]+) T _stext$", symbols, re.M)
    assert found is not None
    return int(found[1], 16)


def test_boot_logs_no_error(guest: Guest) -> None:
    bad = [line.text for line in guest.agent.dmesg() if line.level <= ERROR]
    assert [text for text in bad if not any(re.fullmatch(known, text) for known in STATED)] == []


@pytest.mark.not_debug(
    "it has no driver of the machine's generator, and waits for other entropy",
    lacks="HW_RANDOM_S390",
)
def test_random_numbers_are_ready_early(guest: Guest) -> None:
    """The kernel's generator is seeded before the first process."""
    if guest.config.backend == HERCULES:
        pytest.skip(NO_TRNG)
    log = [line.text for line in guest.agent.dmesg()]
    ready = log.index("random: crng init done")
    first = next(at for at, text in enumerate(log) if text.startswith("Run /init as init"))
    assert ready < first
    assert not any("uninitialized urandom read" in text or "KASLR disabled" in text for text in log)


@pytest.mark.not_debug("it has neither module", lacks="S390_PRNG")
@pytest.mark.parametrize(("module", "device"), MODULES)
def test_modules_find_their_instructions(guest: Guest, module: str, device: str) -> None:
    """True random numbers of PRNO, pseudorandom ones of KMC: other ones each time."""
    if guest.config.backend == HERCULES and module == TRNG:
        pytest.skip(NO_TRNG)
    guest.agent.modprobe(module).check()
    first, second = (read(guest, device, 4096) for _ in range(2))
    assert first != second
    # Of 4096 random bytes 16 are zero; 100 would not come in the life of the universe.
    assert first.count(0) < 100 and second.count(0) < 100


@pytest.mark.not_debug("it never moves, or always")
@pytest.mark.first_kernel
def test_a_kernel_moves_if_it_may(guest_config: GuestConfig, tmp_path: Path) -> None:
    """The seed of a deterministic guest is the same each time, so this is no matter of luck."""
    if guest_config.backend != QEMU:
        pytest.skip("instructions are counted in QEMU only")
    moving = guest_config._replace(deterministic=True, command_line="kaslr")
    places = []
    for number, config in enumerate((guest_config, moving)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with Guest(config, folder, prepare(config)) as guest:
            guest.boot()
            places.append(place(guest))
            assert not any("KASLR disabled" in line.text for line in guest.agent.dmesg())
            guest.shut_down()
    assert places[0] != places[1]
