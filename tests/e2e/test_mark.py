# SPDX-License-Identifier: MIT
"""guest.mark(): a guest that was prepared is put back to where it was, not to its boot."""

from __future__ import annotations

import errno

import pytest
from iucv_socket import Socket

from zvmlab.agent.worker import Worker
from zvmlab.base.errors import UsageError
from zvmlab.guest.config import QEMU
from zvmlab.guest.guest import Guest


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


def test_guest_that_has_ended_is_not_marked(guest: Guest) -> None:
    guest.stop()
    with pytest.raises(UsageError, match="cannot be marked"):
        guest.mark()
