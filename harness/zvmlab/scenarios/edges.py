# SPDX-License-Identifier: MIT
"""Behaviour in which drivers may differ: CP and programs at the edge of the contract.

Not swept: they have faults of their own, and some end with the guest.  They are
run with two drivers, or in two emulators (zvmlab.differ.differ), and say nothing of what
is right.
"""

from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from zvmlab.agent.calls import Bad, CallResult
from zvmlab.agent.wire import BadKind
from zvmlab.cp.faults import Fault, armed
from zvmlab.mondata.records import MCE_SIZE, Mce
from zvmlab.monitor.malformed import Place
from zvmlab.monitor.monitor import DEVICE
from zvmlab.monitor.steps import SERVICE, settle
from zvmlab.scenarios.context import Context, scenario
from zvmlab.scenarios.outcome import digest

_RECORDS = 512
_BEHIND_ALL_STORAGE = 0x60000000
_IN_THE_GUEST = 0x200000
_ATTRIBUTES = "/sys/class/misc/monreader/"


@contextmanager
def _opened(context: Context) -> Iterator[None]:
    """The driver is loaded and open with O_NONBLOCK; closed and unloaded afterwards."""
    context.load()
    context.open(os.O_RDONLY | os.O_NONBLOCK)
    yield
    context.close()
    context.unload()


def _placed(context: Context) -> tuple[Place, Mce]:
    """Records in the segment, and a proper element for them."""
    place = Place.of(context.control)
    place.put(place.records, context.random.randbytes(_RECORDS))
    return place, place.element(_RECORDS)


def _note(context: Context, what: str, *results: CallResult) -> None:
    """Note the results of calls that are no steps by themselves."""
    context.note(
        what,
        returned=[result.ret for result in results],
        errors=[errno.errorcode.get(result.errno, str(result.errno)) for result in results],
        data=digest(b"".join(result.data[: max(result.ret, 0)] for result in results)),
    )


def _sever(context: Context) -> None:
    """CP severs; at the return the guest knows."""
    context.sever(0x2C)
    settle(context.guest)


@scenario("sever-with-sets-queued", "CP severs with two sets unread; reads and polls go on.")
def sever_with_sets_queued(context: Context) -> None:
    """Nobody sleeps in read: the reader has to learn of it by itself."""
    with _opened(context):
        for _ in range(2):
            context.deliver("sample", context.element())
        settle(context.guest)
        _sever(context)
        for _ in range(4):
            context.poll()
            context.read()


@scenario("sever-while-empty", "CP severs a path with nothing to read; a program reads and polls.")
def sever_while_empty(context: Context) -> None:
    """EAGAIN would mean that there is still something to wait for."""
    with _opened(context):
        _sever(context)
        context.read()
        context.poll()


@scenario("lowered-limit", "CP grants ten messages; twelve sets come before any is read.")
def lowered_limit(context: Context) -> None:
    """Two sets are lost."""
    with armed(context.control, Fault("monitor.connect", "limit", 10)):
        with _opened(context):
            for _ in range(12):
                context.deliver("sample", context.element())
            for _ in range(12):
                context.read()


@scenario("malformed-sets", "Control areas and elements that each break one rule.")
def malformed_sets(context: Context) -> None:
    """One answer for each, and the log."""
    with _opened(context):
        place, good = _placed(context)
        for fields in (
            {"end": good.start - 1},
            {"start": place.start - 1},
            {"end": place.end + 1},
            {"type": 0},
            {"domains": 0},
        ):
            place.announce_elements(dataclasses.replace(good, **fields))
            context.read()
        for start, end in (
            (place.area, place.area + MCE_SIZE),
            (place.area, place.area - 1),
            (_IN_THE_GUEST, _IN_THE_GUEST + MCE_SIZE - 1),
        ):
            place.put(place.area, good.encode())
            place.announce(start, end)
            context.read()
        context.deliver("sample", context.element())
        context.read()


@scenario("malformed-second-element", "A good element with its records, then one without a type.")
def malformed_second_element(context: Context) -> None:
    """The set is not whole."""
    with _opened(context):
        place, good = _placed(context)
        place.announce_elements(good, dataclasses.replace(good, type=0))
        context.read()
        context.read()


@scenario("element-that-changes", "CP writes over an element while its records are being read.")
def element_that_changes(context: Context) -> None:
    """The set is the one that was begun, or it is not."""
    with _opened(context):
        place, good = _placed(context)
        place.announce_elements(good)
        for size in (MCE_SIZE, _RECORDS // 2):
            _note(context, "read a part", context.worker.read(context.fd, size))
        place.put(place.area, dataclasses.replace(good, end=good.end - 100).encode())
        context.read()


@scenario("one-byte-of-records", "An element whose records end where they begin.")
def one_byte_of_records(context: Context) -> None:
    """One byte."""
    with _opened(context):
        place = Place.of(context.control)
        place.put(place.records, b"\xa7")
        place.announce_elements(place.element(1))
        context.read()
        context.read()


@scenario("records-below-their-element", "Records that end where their control element begins.")
def records_below_their_element(context: Context) -> None:
    """Eight reads are more than enough for the set."""
    with _opened(context):
        place = Place.of(context.control)
        first = place.area - _RECORDS
        element = dataclasses.replace(place.element(1), start=first, end=place.area - 1)
        place.put(first, context.random.randbytes(_RECORDS) + element.encode())
        place.announce(place.area, place.area + MCE_SIZE - 1)
        for _ in range(8):
            _note(context, "read a part", context.worker.read(context.fd, 4096))


@scenario("reads-of-no-bytes", "Reads of size 0 before, within and after a set.")
def reads_of_no_bytes(context: Context) -> None:
    """A read of no bytes returns 0 and does nothing."""
    with _opened(context):
        for _ in range(2):
            context.deliver("sample", context.element())
        for size in (0, MCE_SIZE, 0, 80, 0):
            _note(context, f"read {size} bytes", context.worker.read(context.fd, size))
        for _ in range(3):
            context.read()


@scenario("readv", "A set is read into three buffers at once.")
def readv(context: Context) -> None:
    """Is the end of the set a read of its own?"""
    with _opened(context):
        context.deliver("sample", context.element())
        context.deliver("sample", context.element(records=2))
        for _ in range(3):
            parts = [MCE_SIZE, 80, 4096]
            _note(context, "readv", context.worker.readv(context.fd, parts))
        context.read()


@scenario("bad-buffers", "Reads into memory that is not there, or there in part, then good ones.")
def bad_buffers(context: Context) -> None:
    """EFAULT loses nothing."""
    with _opened(context):
        context.deliver("sample", context.element(records=3))
        worker = context.worker
        _note(context, "read nowhere", worker.read(context.fd, Bad(BadKind.UNMAPPED)))
        _note(context, "read-only", worker.read(context.fd, Bad(BadKind.READONLY)))
        for valid in (5, MCE_SIZE, MCE_SIZE + 7):
            target = Bad(BadKind.PARTIAL, 4096, valid)
            _note(context, f"{valid} bytes are there", worker.read(context.fd, target))
        context.read()


@scenario("silent-cp", "CP never answers CONNECT.")
def silent_cp(context: Context) -> None:
    """open gives up, or sleeps."""
    with armed(context.control, Fault("iucv.connect", "drop", name=SERVICE)):
        context.load()
        context.open()
        context.unload()


@scenario("area-outside-storage", "A control area where there is no storage at all.")
def area_outside_storage(context: Context) -> None:
    """EIO, or an oops."""
    with _opened(context):
        Place.of(context.control).announce(_BEHIND_ALL_STORAGE, _BEHIND_ALL_STORAGE + MCE_SIZE - 1)
        context.read()


@scenario("codes", "CP refuses a reply, then severs; a program asks for the codes.")
def codes(context: Context) -> None:
    """Attributes of the device, if it has any."""
    with _opened(context):
        context.deliver("sample", context.element())
        with armed(context.control, Fault("iucv.reply", "rc", 9, name=SERVICE, nth=1)):
            context.read()
        _sever(context)
        for name in ("reply_code", "sever_code"):
            opened = context.worker.open(_ATTRIBUTES + name)
            _note(context, name, *_read_and_close(context, opened))


def _read_and_close(context: Context, opened: CallResult) -> list[CallResult]:
    if opened.errno:
        return [opened]
    found = context.worker.read(opened.ret, 64)
    context.worker.close(opened.ret).check()
    return [found]


@scenario("refused-connections", "CP refuses CONNECT, or severs in place of an answer.")
def refused_connections(context: Context) -> None:
    """open fails, and works the next time."""
    context.load()
    for code in (0x0B, 0x0D, 0x0F):
        with armed(context.control, Fault("iucv.connect", "rc", code, name=SERVICE)):
            context.open()
    for code in (0x04, 0x10, 0x2C):
        with armed(context.control, Fault("monitor.connect", "sever", code)):
            context.open()
    context.open()
    context.close()
    context.unload()


@scenario("refused-segments", "The segment is not there, has no name, or CP refuses it.")
def refused_segments(context: Context) -> None:
    """The driver is not loaded, and says why."""
    context.load("mondcss=NOSUCH")
    context.load("mondcss=TOOLONGNAME")
    for code in (44, 263):
        with armed(context.control, Fault("diag64.loadshr", "rc", code, name="MONDCSS")):
            context.load()
    context.load("mondcss=mondcss")
    context.unload()


@scenario("other-calls", "Calls that the device does not have, and a second open.")
def other_calls(context: Context) -> None:
    """All fail, and disturb nothing."""
    with _opened(context):
        worker = context.worker
        context.deliver("sample", context.element())
        _note(context, "open again", worker.open(DEVICE))
        _note(context, "write", worker.write(context.fd, b"x"))
        _note(context, "ioctl", worker.ioctl(context.fd, 1))
        _note(context, "lseek", worker.lseek(context.fd, 0))
        _note(context, "pread", worker.pread(context.fd, 4096, 0))
        _note(context, "open to write", worker.open(DEVICE, os.O_WRONLY))
        context.read()
