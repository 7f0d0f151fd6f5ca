# SPDX-License-Identifier: MIT
"""Checkpoints in the cache, without an emulator: who gets one, what it depends on, what becomes of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from zvmlab.agent.results import AgentInfo
from zvmlab.base.cache import cache_root, entries
from zvmlab.base.errors import EmulatorError
from zvmlab.cp.afiucv import AfIucvStream
from zvmlab.cp.faults import Fault
from zvmlab.cp.peer import Peer
from zvmlab.guest import checkpoint
from zvmlab.guest.checkpoint import AGENT, CONSOLE, MACHINE, why_cold
from zvmlab.guest.backends import Machine
from zvmlab.guest.config import (
    BASE_USERID,
    BACKENDS,
    HERCULES,
    QEMU,
    Artifacts,
    Channels,
    GuestConfig,
)

CONFIG = GuestConfig(backend=HERCULES)
KIB = 1 << 10


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(checkpoint, "_hercules", lambda: "Hercules")
    return cache_root()


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    for name in ("module", "kernel", "image"):
        (tmp_path / name).write_text(name)
    return Artifacts(tmp_path / "module", tmp_path / "kernel", "6.1", tmp_path / "image")


@pytest.fixture
def channels(tmp_path: Path) -> Channels:
    run = tmp_path / "run"
    run.mkdir()
    (run / CONSOLE).write_bytes(b"from before\n")
    return Channels(run / "control", run / "qmp", run / CONSOLE, None, None)


class _Machine:
    """Saves and restores as told."""

    def __init__(self, refusal: str = "") -> None:
        self.refusal = refusal
        self.restored = b""

    def save(self, file: Path) -> None:
        file.write_bytes(b"machine")

    def begin_restore(self, file: Path) -> Callable[[], None]:
        return lambda: self._restore(file)

    def _restore(self, file: Path) -> None:
        if self.refusal:
            raise EmulatorError(self.refusal)
        self.restored = file.read_bytes()


def _as_machine(machine: _Machine) -> Machine:
    return cast(Machine, machine)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (CONFIG._replace(cold=True), "its configuration asks for a cold boot"),
        (GuestConfig(cold=True), "its configuration asks for a cold boot"),
        (
            GuestConfig(devices=("virtio-rng-ccw",)),
            "the state of its devices cannot be saved",
        ),
        (
            CONFIG._replace(faults=(Fault("iucv.connect", "rc", 1),)),
            "its faults are armed before the first instruction",
        ),
        (
            CONFIG._replace(trace_data="full"),
            "its trace is to be replayed from the beginning",
        ),
        (
            CONFIG._replace(command_line="quiet zvmlab.attach=5"),
            "it sets its own time limit for the connection to the agent",
        ),
        (
            GuestConfig(system=Path("/s"), cp={"directory": "IUCV ANY; mdisk 200 FB-512 V-DISK 8"}),
            "other members of its system can link its virtual disks",
        ),
    ],
)
def test_these_guests_start_cold(config: GuestConfig, reason: str) -> None:
    assert why_cold(config) == reason


def test_others_need_not() -> None:
    assert why_cold(CONFIG) is None
    assert why_cold(CONFIG._replace(cpus=8, trace=False, interactive=True)) is None
    assert why_cold(GuestConfig(cpus=64)) is None
    assert why_cold(GuestConfig(cp={"directory": "MDISK 200 FB-512 V-DISK 8"})) is None
    assert why_cold(GuestConfig(system=Path("/s"), cp={"directory": "IUCV ANY"})) is None


def test_members_have_one_base() -> None:
    """Name, user ID and system of a member are no part of what it goes on from; its CPUs are."""
    plain = GuestConfig(system=Path("/s"), cp={"class": "G", "userid": "ALICE"}, name="a")
    other = GuestConfig(system=Path("/t"), cp={"class": "G", "userid": "BOB"})
    base = plain.base()
    assert base == other.base()
    assert base != plain._replace(cpus=2).base()
    assert base.is_base and not plain.is_base and base.system is None
    assert base.cp == {"class": "G", "userid": BASE_USERID}
    assert f"zvmlab.base={BASE_USERID}" in base.kernel_parameters().split()


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_key_follows_what_goes_in(artifacts: Artifacts, backend: str) -> None:
    config = GuestConfig(backend=backend)
    first = checkpoint.key(config, artifacts)
    assert checkpoint.key(config, artifacts) == first
    # The run's name and the limit of its boot do not go in.
    assert checkpoint.key(config._replace(name="test", boot_seconds=1), artifacts) == first
    others = [
        config._replace(cpus=2),
        config._replace(storage="0.256M"),
        config._replace(segments=("OTHER 9000-97FF SC RSTD",)),
        config._replace(cp={"userid": "OTHER"}),
        config._replace(command_line="quiet"),
        config._replace(trace=False),
        config._replace(crashes=()),
        config._replace(backend=HERCULES if backend == QEMU else QEMU),
    ]
    keys = {checkpoint.key(config, artifacts) for config in others}
    assert len(keys) == len(others) and first not in keys
    for path in (artifacts.emulator, artifacts.kernel, artifacts.image):
        text = path.read_text()
        path.write_text("changed")
        assert checkpoint.key(config, artifacts) != first
        path.write_text(text)
        found = path.stat()
        path.write_text(text.upper())
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
        assert checkpoint.key(config, artifacts) != first
        path.write_text(text)
    assert checkpoint.key(config, artifacts) == first


def test_a_segments_file_counts_by_its_contents(artifacts: Artifacts, tmp_path: Path) -> None:
    def key(name: str, data: bytes) -> str:
        (tmp_path / name).write_bytes(data)
        segment = f"TEST 9000-97FF SN FILE={tmp_path / name}"
        return checkpoint.key(CONFIG._replace(segments=(segment,)), artifacts)

    assert key("a", b"1") == key("b", b"1") != key("a", b"2")


def test_a_checkpoint_is_made_once(
    artifacts: Artifacts, channels: Channels, tmp_path: Path
) -> None:
    made = []
    machine = _Machine()

    def make(into: Path) -> None:
        made.append(into)
        checkpoint.save(_as_machine(machine), channels, into, None)

    found = checkpoint.find(CONFIG, artifacts, make)
    assert checkpoint.find(CONFIG, artifacts, make) == found and len(made) == 1
    assert (found / MACHINE).read_bytes() == b"machine"
    assert (found / CONSOLE).read_bytes() == b"from before\n"
    # Another guest's log begins with what the first one wrote.
    channels.console_log.write_bytes(b"")
    checkpoint.begin_restore(_as_machine(machine), channels, found)()
    assert machine.restored == b"machine"
    assert channels.console_log.read_bytes() == b"from before\n"


def test_whoever_restores_it_goes_on_with_its_agent(channels: Channels, tmp_path: Path) -> None:
    peer = cast(Peer, object())
    stream = AfIucvStream(peer, 3, 0x80, "LINUX001", "INIT")
    info = AgentInfo(4, "big", True, 1, 4096, 1000, 2000, 0, "6.1", "s390x")
    agent = checkpoint.Connected(stream, info, 5, 17)
    checkpoint.save(_as_machine(_Machine()), channels, tmp_path, agent)
    other = cast(Peer, object())
    found = checkpoint.agent_of(other, tmp_path)
    assert found is not None and found.info == info and found.stream is not stream
    assert (found.pool, found.log) == (5, 17)
    assert (found.stream.path, found.stream.user, found.stream.name) == (3, "LINUX001", "INIT")
    assert found.stream.end() == stream.end()
    (tmp_path / AGENT).unlink()
    assert checkpoint.agent_of(other, tmp_path) is None


def test_a_guest_that_does_not_boot_leaves_none(artifacts: Artifacts, cache: Path) -> None:
    def make(into: Path) -> None:
        raise EmulatorError("it did not boot")

    with pytest.raises(EmulatorError, match="it did not boot"):
        checkpoint.find(CONFIG, artifacts, make)
    assert not list(cache.glob("*checkpoint-????*[!k]"))


@pytest.mark.parametrize("lost", ["refused", "machine", "console"])
def test_one_that_is_refused_is_removed(
    artifacts: Artifacts, channels: Channels, lost: str
) -> None:
    machine = _Machine("it is damaged" if lost == "refused" else "")

    def make(into: Path) -> None:
        checkpoint.save(_as_machine(machine), channels, into, None)

    found = checkpoint.find(CONFIG, artifacts, make)
    if lost != "refused":
        (found / {"machine": MACHINE, "console": CONSOLE}[lost]).unlink()
    with pytest.raises(EmulatorError, match="removed from the cache, the next start makes a new"):
        checkpoint.begin_restore(_as_machine(machine), channels, found)()
    assert not found.exists()


def test_one_that_is_nobodys_is_named(channels: Channels, tmp_path: Path) -> None:
    """Without the mark, neither it nor the folder that it is in is removed."""
    found = tmp_path / "saved"
    found.mkdir()
    (found / MACHINE).write_bytes(b"somebody else's")
    restore = checkpoint.begin_restore(_as_machine(_Machine("it is damaged")), channels, found)
    with pytest.raises(
        EmulatorError, match=f"; remove {found}, which does not carry zvmlab's mark"
    ):
        restore()
    assert (found / MACHINE).exists()


def test_the_cache_keeps_those_used_last(
    artifacts: Artifacts, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "MOST_BYTES", 250 * KIB)

    def make(into: Path) -> None:
        # Whatever its length, it takes what is not a hole.
        with open(into / MACHINE, "wb") as file:
            file.write(bytes(100 * KIB))
            file.truncate(1000 * KIB)
            os.fsync(file.fileno())

    configs = [CONFIG._replace(cpus=cpus) for cpus in range(1, 5)]
    found = []
    for age, config in enumerate(configs[:3]):
        found.append(checkpoint.find(config, artifacts, make))
        os.utime(found[-1], (1000 + age, 1000 + age))
    # The third one was too much: the first has gone.
    assert [path.exists() for path in found] == [False, True, True]
    checkpoint.find(configs[1], artifacts, make)
    found.append(checkpoint.find(configs[3], artifacts, make))
    assert [path.exists() for path in found] == [False, True, False, True]


@pytest.mark.parametrize(
    ("free", "kept"),
    # 300 KiB are taken by three.  Of 2,100 in all a fourth is theirs, of 900 as well, and of 100
    # there is what they may have on any disk.
    [(1800 * KIB, 3), (600 * KIB, 2), (100 * KIB, 1)],
)
def test_the_cache_leaves_room_for_others(
    artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch, free: int, kept: int
) -> None:
    monkeypatch.setattr(checkpoint, "LEAST_BYTES", 150 * KIB)
    monkeypatch.setattr(checkpoint, "MOST_BYTES", 1000 * KIB)
    for age in range(3):
        config = CONFIG._replace(cpus=age + 1)
        made = checkpoint.find(config, artifacts, lambda into: _write(into, 100 * KIB))
        os.utime(made, (1000 + age, 1000 + age))
    assert len(list(entries(checkpoint.KIND))) == 3
    monkeypatch.setattr(checkpoint, "free_bytes", lambda _: free)
    checkpoint._tidy(made)
    assert len(list(entries(checkpoint.KIND))) == kept


def test_what_is_not_ours_stays(
    artifacts: Artifacts, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "MOST_BYTES", 10)
    (cache / "checkpoint-thesis").mkdir()
    (cache / "checkpoint-thesis" / "text").write_bytes(bytes(1000))
    (cache / "checkpoint-x").write_bytes(bytes(1000))
    for cpus in (1, 2):
        checkpoint.find(CONFIG._replace(cpus=cpus), artifacts, lambda into: _write(into, 100))
    assert (cache / "checkpoint-thesis" / "text").exists() and (cache / "checkpoint-x").exists()
    assert len(list(entries(checkpoint.KIND))) == 1


def test_one_that_is_too_large_stays_while_it_is_used(
    artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "MOST_BYTES", 10)
    found = checkpoint.find(CONFIG, artifacts, lambda into: _write(into, 100))
    assert found.exists()
    other = checkpoint.find(CONFIG._replace(cpus=2), artifacts, lambda into: _write(into, 100))
    assert other.exists() and not found.exists()


def test_one_that_a_guest_uses_stays(artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "MOST_BYTES", 10)

    def find(cpus: int) -> Path:
        config = CONFIG._replace(cpus=cpus)
        return checkpoint.find(config, artifacts, lambda into: _write(into, 100))

    # As a guest does it, and another one beside it.
    with checkpoint.kept(CONFIG._replace(cpus=1), artifacts):
        found = find(1)
        with checkpoint.kept(CONFIG._replace(cpus=1), artifacts):
            find(2)
        other = find(3)
        assert found.exists() and other.exists() and len(list(entries(checkpoint.KIND))) == 2
    last = find(4)
    assert list(entries(checkpoint.KIND)) == [last]


def _write(into: Path, size: int) -> None:
    (into / MACHINE).write_bytes(bytes(size))
