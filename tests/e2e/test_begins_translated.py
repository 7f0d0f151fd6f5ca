# SPDX-License-Identifier: MIT
"""Guests in QEMU that begin with what another guest of their checkpoint had translated."""

from __future__ import annotations

import array
import os
import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from zvmlab.builder.qemubuild import STABLE, version
from zvmlab.guest import checkpoint
from zvmlab.guest.checkpoint import MACHINE, TRANSLATIONS
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.system import System

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(version() != STABLE, reason=f"only QEMU {STABLE} keeps translated code"),
]

# The file, as sim/qemu/translations.c says it: the head's words, and what follows it.
HEAD = struct.Struct("=9Q")
MAGIC, AT, HOST, CODE, BLOCKS, SUM = 0, 1, 3, 5, 6, 8
BLOCK_SIZE = 8
PRIME, WORD = 0x9E3779B97F4A7C15, (1 << 64) - 1
# A start executes some thousands.
MANY = 1000


@pytest.fixture
def saved(zvmlab_kernel: str, zvmlab_dir: Path) -> Path:
    """A checkpoint of a usual guest's that may be changed."""
    with Guest(GuestConfig(kernel=zvmlab_kernel), zvmlab_dir / "first") as guest:
        found = guest.find_checkpoint()
        assert found is not None
        return Path(shutil.copytree(found, zvmlab_dir / "saved"))


def _begin(guest: Guest, saved: Path) -> int:
    """How many translated blocks it has before its first instruction."""
    guest.launch(saved)
    guest.start()
    return _translated(guest)


def _translated(guest: Guest) -> int:
    said = guest.qmp.execute("human-monitor-command", {"command-line": "info jit"})
    found = re.search(r"TB count +(\d+)", str(said))
    assert found is not None
    return int(found[1])


def _works(guest: Guest) -> bool:
    guest.boot()
    return guest.agent.read_file("/proc/version").startswith(b"Linux version")


def _begun(kernel: str, folder: Path, saved: Path) -> int:
    """The same of a guest that works then."""
    with Guest(GuestConfig(kernel=kernel), folder / "guest") as guest:
        blocks = _begin(guest, saved)
        assert _works(guest)
    return blocks


def _sum(data: bytes) -> int:
    found = 0
    for word in array.array("Q", data):
        found = (found ^ word) * PRIME & WORD
        found ^= found >> 32
    return found


def test_a_guest_begins_with_translations(
    zvmlab_kernel: str, zvmlab_dir: Path, saved: Path
) -> None:
    blocks = HEAD.unpack((saved / TRANSLATIONS).read_bytes()[: HEAD.size])[BLOCKS]
    assert blocks > MANY
    assert _begun(zvmlab_kernel, zvmlab_dir, saved) == blocks


def _system(kernel: str, folder: Path) -> System:
    made = System(logs=folder)
    for userid in ("ALICE", "BOB"):
        made.guest(userid, GuestConfig(kernel=kernel))
    return made


def test_members_begin_with_those_of_the_first_system(zvmlab_kernel: str, zvmlab_dir: Path) -> None:
    """One is saved, the next one leaves what it has translated, and the third begins with that."""
    for name in ("saved", "restored"):
        with _system(zvmlab_kernel, zvmlab_dir / name) as system:
            system.boot_saved()
    with _system(zvmlab_kernel, zvmlab_dir / "begins") as system:
        found = checkpoint.find_system(system.key())
        assert found is not None
        system._launch(system.guests, {userid: found / userid for userid in system.guests})
        assert all(_translated(guest) > MANY for guest in system.guests.values())
    with _system(zvmlab_kernel, zvmlab_dir / "works") as system:
        system.boot_saved()
        assert all(_works(guest) for guest in system.guests.values())


def test_others_translate_all_that_they_execute(zvmlab_dir: Path) -> None:
    """Those with several CPUs, and those that count their instructions."""
    for number, config in enumerate([GuestConfig(cpus=2), GuestConfig(count_instructions=True)]):
        with Guest(config, zvmlab_dir / str(number)) as guest:
            found = guest.find_checkpoint()
            assert found is not None and (found / MACHINE).exists()
            assert not (found / TRANSLATIONS).exists()


def _word(at: int, value: Callable[[int], int]) -> Callable[[bytearray], None]:
    def change(data: bytearray) -> None:
        words = list(HEAD.unpack(data[: HEAD.size]))
        words[at] = value(words[at])
        data[: HEAD.size] = HEAD.pack(*words)

    return change


def _flip(at: int) -> Callable[[bytearray], None]:
    def change(data: bytearray) -> None:
        data[at] ^= 0x10

    return change


def _cut(data: bytearray) -> None:
    del data[-8:]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_word(MAGIC, lambda word: word + 1), id="version"),
        pytest.param(_word(AT, lambda word: word + (1 << 30)), id="place"),
        pytest.param(_word(HOST, lambda word: word ^ 2), id="host"),
        pytest.param(_word(CODE, lambda word: word + (1 << 40)), id="more-than-there-is"),
        pytest.param(_word(BLOCKS, lambda word: 1 << 61), id="far-more-blocks"),
        pytest.param(_flip(1 << 20), id="code"),
        pytest.param(_flip(-1), id="instructions"),
        pytest.param(_cut, id="cut"),
        pytest.param(bytearray.clear, id="empty"),
    ],
)
def test_what_does_not_fit_is_not_used(
    zvmlab_kernel: str,
    zvmlab_dir: Path,
    saved: Path,
    change: Callable[[bytearray], None],
) -> None:
    file = saved / TRANSLATIONS
    data = bytearray(file.read_bytes())
    change(data)
    file.write_bytes(data)
    assert _begun(zvmlab_kernel, zvmlab_dir, saved) == 0


def test_a_checkpoint_without_them_serves(
    zvmlab_kernel: str, zvmlab_dir: Path, saved: Path
) -> None:
    (saved / TRANSLATIONS).unlink()
    assert _begun(zvmlab_kernel, zvmlab_dir, saved) == 0


def test_code_at_another_place_is_not_used(
    zvmlab_kernel: str, zvmlab_dir: Path, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if something else had been where it was."""
    monkeypatch.setattr(checkpoint, "environment", lambda _found: {})
    assert _begun(zvmlab_kernel, zvmlab_dir, saved) == 0


def test_a_block_of_other_instructions_is_left_out(
    zvmlab_kernel: str, zvmlab_dir: Path, saved: Path
) -> None:
    """What storage has not got any more is not executed; all else is used."""
    file = saved / TRANSLATIONS
    data = bytearray(file.read_bytes())
    words = list(HEAD.unpack(data[: HEAD.size]))
    data[HEAD.size + words[CODE] + words[BLOCKS] * BLOCK_SIZE] ^= 0xFF
    words[SUM] = _sum(HEAD.pack(*words)[:-8] + data[HEAD.size :])
    data[: HEAD.size] = HEAD.pack(*words)
    file.write_bytes(data)
    assert _begun(zvmlab_kernel, zvmlab_dir, saved) == words[BLOCKS] - 1


def test_a_guest_that_has_begun_so_is_put_back(
    zvmlab_kernel: str, zvmlab_dir: Path, saved: Path
) -> None:
    with Guest(GuestConfig(kernel=zvmlab_kernel), zvmlab_dir / "guest") as guest:
        assert _begin(guest, saved) > MANY
        for _ in range(3):
            assert _works(guest)
            guest.agent.write_file("/tmp/mark", os.urandom(8), 0o600)
            guest.put_back()
            with pytest.raises(FileNotFoundError):
                guest.agent.read_file("/tmp/mark")
