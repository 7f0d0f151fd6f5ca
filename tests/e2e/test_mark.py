# SPDX-License-Identifier: MIT
"""guest.mark(): a guest that was prepared is put back to where it was, not to its boot."""

from __future__ import annotations

import errno
import time
from pathlib import Path

import pytest
from iucv_socket import AF_IUCV, STREAM, Socket

from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Worker
from zvmlab.base.errors import EmulatorError, UsageError
from zvmlab.guest.config import QEMU
from zvmlab.guest.guest import Guest

# Less than a machine that is busy is given.
SECONDS = 30.0


@pytest.fixture(autouse=True)
def in_qemu(zvmlab_backend: str) -> None:
    if zvmlab_backend != QEMU:
        pytest.skip("only QEMU puts a guest back")


def loaded(guest: Guest) -> set[str]:
    """The modules that the kernel says it has."""
    return {
        line.split()[0] for line in guest.agent.read_file("/proc/modules").decode().splitlines()
    }


def name_is_taken(guest: Guest, name: str) -> bool:
    """Does the kernel refuse another socket of that name?"""
    other = Socket.make(guest.agent)
    taken = other.try_bind(name).errno == errno.EADDRINUSE
    other.close()
    return taken


def check_mark(guest: Guest) -> None:
    """What was there is there again, twice; what came later is not."""
    guest.agent.modprobe("monreader").check()
    fd = Socket.make(guest.agent, name="MARKED").fd
    guest.mark()
    # The guest goes on where it was.
    assert name_is_taken(guest, "MARKED") and "monreader" in loaded(guest)
    for _ in range(2):
        Socket(guest.agent, fd).close()
        Socket.make(guest.agent, name="LATER")
        guest.agent.rmmod("monreader").check()
        assert not name_is_taken(guest, "MARKED") and name_is_taken(guest, "LATER")
        assert "monreader" not in loaded(guest)
        guest.put_back()
        assert name_is_taken(guest, "MARKED") and not name_is_taken(guest, "LATER")
        assert "monreader" in loaded(guest)


def test_put_back_goes_to_the_mark(guest: Guest) -> None:
    check_mark(guest)


@pytest.mark.zvmlab(cpus=2)
def test_two_cpus(guest: Guest) -> None:
    check_mark(guest)


@pytest.mark.zvmlab(deterministic=True, cpus=2, schedule=7)
def test_counted_instructions(guest: Guest) -> None:
    check_mark(guest)


@pytest.mark.zvmlab(cold=True)
def test_guest_that_began_cold(guest: Guest) -> None:
    check_mark(guest)


def test_later_mark_is_the_one(guest: Guest) -> None:
    guest.agent.modprobe("monreader").check()
    guest.mark()
    guest.agent.rmmod("monreader").check()
    guest.mark()
    guest.agent.modprobe("monreader").check()
    guest.put_back()
    assert "monreader" not in loaded(guest)


def test_files_and_workers(guest: Guest) -> None:
    """A file that is open has its position of the mark again."""
    worker: Worker = guest.agent
    fd = worker.open("/proc/version").ret
    first = worker.read(fd, 5).data
    guest.mark()
    rest = worker.read(fd, 5).data
    guest.put_back()
    assert guest.agent.read(fd, 5).data == rest != first


@pytest.mark.zvmlab(cpus=2)
def test_guest_that_is_held_is_not_marked(guest: Guest) -> None:
    """Which is said at once, and nothing is left of the attempt."""
    worker = guest.agent.worker("held")
    guest.agent.keep_on(worker, 1)
    with guest.hold("iucv_sock_create", cpu=1) as hold:
        batch = worker.batch()
        batch.call(Call.SOCKET, AF_IUCV, STREAM, 0)
        making = batch.start()
        hold.wait()
        began = time.monotonic()
        with pytest.raises(UsageError, match="cannot be marked while a CPU is held at iucv_sock_c"):
            guest.mark()
        assert time.monotonic() - began < SECONDS
    assert making.result()[0].ret >= 0
    check_mark(guest)


def test_guest_that_cannot_be_saved_goes_on(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be marked later."""

    def full(_file: Path) -> None:
        guest.machine.pause()
        raise EmulatorError("QEMU cannot save the guest: no room")

    with monkeypatch.context() as patch:
        patch.setattr(guest.machine, "save", full)
        with pytest.raises(EmulatorError, match="no room"):
            guest.mark()
    check_mark(guest)


def test_guest_that_has_ended_is_not_marked(guest: Guest) -> None:
    guest.stop()
    with pytest.raises(UsageError, match="cannot be marked"):
        guest.mark()
