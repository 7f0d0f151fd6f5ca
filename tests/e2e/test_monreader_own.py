# SPDX-License-Identifier: MIT
"""Promises of our driver to a reader: it learns of a sever; codes and counts are files.

With the kernel's own driver the first are known defects; whole sets in one read
and the counts are not promised by it.
"""

from __future__ import annotations

import errno
import os

import pytest

from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.config import UPSTREAM_DRIVER
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE
from zvmlab.monitor.malformed import Place
from zvmlab.monitor.monitor import Capture, deliver
from zvmlab.monitor.steps import Log, deliver_many, drain, ended, open_device, settle, small

GUEST = "LINUX001"
ATTRIBUTES = "/sys/class/misc/monreader/"
POLLIN, POLLERR, POLLHUP = 0x001, 0x008, 0x010
SET = MCE_SIZE + 84
IPRCODE, SEVER_CODE = 9, 44


def number(guest: Guest, name: str) -> int:
    """The value of a numeric attribute of the device."""
    return int(guest.agent.read_file(ATTRIBUTES + name))


def sever(guest: Guest) -> None:
    """CP severs when the guest has taken all messages; at the return the guest knows."""
    settle(guest)
    guest.control.execute("monitor-sever", user=GUEST, code=SEVER_CODE)
    settle(guest)


@pytest.fixture
def ours(zvmlab_driver: str) -> None:
    """Skips the test with the kernel's own driver."""
    if zvmlab_driver == UPSTREAM_DRIVER:
        pytest.skip("an addition of our driver, which the documents do not promise")


@pytest.mark.requirement("M34")
@pytest.mark.upstream_defect(
    6,
    "a non-blocking read never learns of a sever",
    seen=r"assert \[11, 11, 11\] == \[5, 5, 5\]",  # EAGAIN
)
def test_non_blocking_read_after_sever_is_eio(monreader: Guest) -> None:
    """CP severs while nobody reads: EAGAIN before, EIO from then on, with O_NONBLOCK, too."""
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        assert monreader.agent.read(fd, 4096).errno == errno.EAGAIN
        sever(monreader)
        assert [monreader.agent.read(fd, 4096).errno for _ in range(3)] == [errno.EIO] * 3


@pytest.mark.requirement("M34")
@pytest.mark.upstream_defect(
    6,
    "poll shows the sever, and not the sets that can be read",
    seen=r"assert \[8\] == \[1\]",  # POLLERR
)
def test_poll_shows_queued_sets_before_the_sever(monreader: Guest, capture: Capture) -> None:
    """CP severs with sets queued: poll says readable for each, then reports the sever."""
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        deliver_many(monreader.control, 3)
        sever(monreader)
        for _ in range(3):
            assert monreader.agent.poll([(fd, POLLIN)], 0).revents == [POLLIN]
            end = ended(monreader.agent.read_until(fd, 4096))
            # The data is there; no reply could prove it whole.
            assert (end.stream, end.errno) == (capture.next().stream, errno.EIO)
        assert monreader.agent.poll([(fd, POLLIN)], 0).revents == [POLLERR | POLLHUP]


@pytest.mark.requirement("M25", "M30")
@pytest.mark.upstream_defect(
    12,
    "programs cannot learn the codes",
    seen=r"\[Errno 2\] No such file or directory: '/sys/class/misc/monreader/reply_code'",
    raises=FileNotFoundError,
)
def test_codes_are_attributes_of_the_device(monreader: Guest) -> None:
    """The codes of a failed reply and of a sever can be read; they are those of the last open."""
    assert number(monreader, "reply_code") == number(monreader, "sever_code") == -1
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        deliver(monreader.control, "sample", small(1))
        with armed(monreader.control, Fault("iucv.reply", "rc", IPRCODE, nth=1)):
            assert ended(monreader.agent.read_until(fd, 4096)).errno == errno.EIO
        assert (number(monreader, "reply_code"), number(monreader, "sever_code")) == (IPRCODE, -1)
        sever(monreader)
        assert number(monreader, "sever_code") == SEVER_CODE
    assert (number(monreader, "reply_code"), number(monreader, "sever_code")) == (
        IPRCODE,
        SEVER_CODE,
    )
    with open_device(monreader.agent):
        assert number(monreader, "reply_code") == number(monreader, "sever_code") == -1


@pytest.mark.requirement("M18")
@pytest.mark.usefixtures("ours")
def test_one_read_returns_a_whole_set(monreader: Guest, capture: Capture) -> None:
    """With room for it a read returns all elements and records of a set, and the next one 0."""
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        deliver(monreader.control, "sample", small(1), small(2), small(3))
        deliver(monreader.control, "sample", small(4))
        sizes = [monreader.agent.read(fd, 4096).ret for _ in range(4)]
        assert sizes == [3 * SET, 0, SET, 0]
        deliver(monreader.control, "sample", small(5))
        assert [monreader.agent.read(fd, size).ret for size in (MCE_SIZE, 84, 1)] == [12, 84, 0]
    assert [capture.next().mces for _ in range(3)] == [3, 1, 1]


@pytest.mark.requirement("M18")
@pytest.mark.usefixtures("ours")
def test_counts_are_attributes_of_the_device(monreader: Guest, capture: Capture) -> None:
    """Sets, bytes, overflows, severs and malformed sets since the module was loaded."""
    names = ("sets", "bytes", "overflows", "severs", "invalid_sets")
    assert [number(monreader, name) for name in names] == [0] * 5
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        deliver_many(monreader.control, 256)
        assert len(drain(monreader.agent, fd)) == 256  # 255 sets, EOVERFLOW
        assert [number(monreader, name) for name in names] == [255, 255 * SET, 1, 0, 0]
        place = Place.of(monreader.control)
        place.announce(place.area, place.area + MCE_SIZE)
        assert [end.errno for end in drain(monreader.agent, fd)] == [errno.EIO]
        sever(monreader)
    # They outlive the open file.
    assert [number(monreader, name) for name in names] == [255, 255 * SET, 1, 1, 1]
    for _ in range(255):
        capture.next()


@pytest.mark.requirement("M28")
@pytest.mark.usefixtures("ours")
def test_message_that_does_not_fit_is_rejected(monreader: Guest, capture: Capture) -> None:
    """One interruption comes twice, so that the queue is full before the last set: CP gets it back."""
    twice = Fault("interrupt", "duplicate", name="*MONITOR", type=9, nth=1)
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        with armed(monreader.control, twice):
            deliver_many(monreader.control, 255)
        settle(monreader)
        (user,) = monreader.control.execute("query-monitor")["users"]
        assert (user["outstanding"], user["replied"]) == (254, 1)
        ends = drain(monreader.agent, fd)
        # The second of the doubled one has nothing to reply to.
        assert [end.errno for end in ends] == [0, errno.EIO] + [0] * 253 + [errno.EOVERFLOW]
        (user,) = monreader.control.execute("query-monitor")["users"]
        assert user["outstanding"] == 0
        wanted = [capture.next().stream for _ in range(255)]
        assert [end.stream for end in ends[:-1]] == [wanted[0], *wanted[:254]]
        deliver(monreader.control, "sample", small(7))
        (end,) = drain(monreader.agent, fd)
        assert (end.stream, end.errno) == (capture.next().stream, 0)


@pytest.mark.requirement("M20")
@pytest.mark.usefixtures("ours")
def test_log_says_what_is_malformed(monreader: Guest) -> None:
    """A malformed set leaves a line in the log that names the rule, the element and its bytes."""
    place, log = Place.of(monreader.control), Log(monreader.agent)
    good, bad = place.element(84), place.element(0)
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        place.announce(place.area, place.area + MCE_SIZE)
        assert [end.errno for end in drain(monreader.agent, fd)] == [errno.EIO]
        place.announce_elements(good, bad)
        assert [(len(end.stream), end.errno) for end in drain(monreader.agent, fd)] == [
            (SET, errno.EIO)
        ]
    area = place.area
    assert log.texts() == [
        "Malformed monitor data: the control area is not made of 12-byte elements"
        f" ({area:08x} to {area + 12:08x})",
        "Malformed monitor data: records end before they begin"
        f" (element 1 of {area:08x} to {area + 23:08x}: {bad.encode().hex()})",
    ]


@pytest.mark.requirement("M2")
@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("text", ("0", "3601", "-1", "x"))
def test_open_timeout_out_of_range_is_refused_einval(warm_guest: Guest, text: str) -> None:
    """Parameter open_timeout takes 1 to 3600 seconds; anything else keeps the module out."""
    done = warm_guest.agent.modprobe("monreader", {"open_timeout": text})
    assert done.errno == errno.EINVAL
