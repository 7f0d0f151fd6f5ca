# SPDX-License-Identifier: MIT
"""Other users of *MONITOR, such as a performance toolkit's machine, beside the guest."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from other_users import connect, give_back, next_message, set_in_segment

from zvmlab.cp.control import Control
from zvmlab.cp.peer import Peer
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import DEVICE, Capture, DataSets, compare, deliver
from zvmlab.monitor.steps import Log

if TYPE_CHECKING:
    from conftest import Define, OneSet

# IPUSER byte 0 of *MONITOR's sever (docs/choices.md).
OTHER_SEGMENT = 0x14
TOO_MANY_USERS = 0x1C
MAX_USERS = 16


def users(control: Control, figure: str) -> dict[str, int]:
    """A counter of every user of *MONITOR."""
    return {user["name"]: user[figure] for user in control.execute("query-monitor")["users"]}


def element(number: int) -> Element:
    """Records that no other set has."""
    return Element.of([Record(4, 3, number, bytes([number]) * 300)] * 3)


@pytest.mark.requirement("M12")
def test_segment_that_another_user_has_chosen_is_the_one_eio(
    warm_guest: Guest, zvmlab_driver: str, define: Define, one_set: OneSet
) -> None:
    """While another user has MYDCSS, MONDCSS is refused with the code in the log, MYDCSS works."""
    define("MYDCSS", "8000-87FF SC")
    agent = warm_guest.agent
    with Peer(warm_guest.control, "PERFSVM") as peer:
        path = connect(peer, "MYDCSS")
        agent.insmod("monreader").check()
        log = Log(agent)
        assert agent.open(DEVICE).errno == errno.EIO
        assert log.texts() == [f"z/VM *MONITOR system service disconnected with rc={OTHER_SEGMENT}"]
        agent.rmmod("monreader").check()
        agent.insmod("monreader", "mondcss=mydcss").check()
        one_set(warm_guest)
        assert users(warm_guest.control, "delivered") == {"PERFSVM": 1}
        peer.sever(path)
    assert warm_guest.control.execute("query-monitor")["segment"] == ""
    agent.rmmod("monreader").check()


@pytest.mark.requirement("M12")
def test_segment_is_free_again_when_all_users_have_gone(
    monreader: Guest, define: Define, one_set: OneSet
) -> None:
    """The guest that was refused because of another user's DCSS gets in when that user leaves."""
    define("MYDCSS", "8000-87FF SC")
    with Peer(monreader.control, "PERFSVM") as peer:
        path = connect(peer, "MYDCSS")
        assert monreader.agent.open(DEVICE).errno == errno.EIO
        peer.sever(path)
        one_set(monreader)
        assert monreader.control.execute("query-monitor")["users"] == []


@pytest.mark.requirement("M12")
def test_users_of_one_segment_see_the_same_set(monreader: Guest, zvmlab_dir: Path) -> None:
    """A set is stored once: the guest reads what the other user finds in the segment."""
    with Peer(monreader.control, "PERFSVM") as peer:
        path = connect(peer)
        with Capture(monreader.control, zvmlab_dir / "sets") as capture:
            with DataSets(monreader.agent) as reader:
                deliver(monreader.control, "event", element(1), element(2))
                message = next_message(peer, path)
                found = reader.read()
                compare(found, capture.next())
                assert found.stream == set_in_segment(monreader.control, message)
                # The guest has replied; the set stays until the other user has, too.
                assert users(monreader.control, "outstanding") == {"PERFSVM": 1, "LINUX001": 0}
                give_back(peer, message)
                assert users(monreader.control, "outstanding") == {"PERFSVM": 0, "LINUX001": 0}
        peer.sever(path)


@pytest.mark.requirement("M12")
def test_slow_user_loses_its_own_sets_only(monreader: Guest, zvmlab_dir: Path) -> None:
    """A user that never replies loses what exceeds its limit; the guest reads every set."""
    count, limit = 10, 3
    with Peer(monreader.control, "SLOWSVM") as peer:
        path = connect(peer, msglim=limit)
        with Capture(monreader.control, zvmlab_dir / "sets") as capture:
            with DataSets(monreader.agent) as reader:
                for number in range(count):
                    deliver(monreader.control, "sample", element(number))
                sets = [capture.next() for _ in range(count)]
                for wanted in sets:
                    compare(reader.read(), wanted)
                assert users(monreader.control, "lost") == {"SLOWSVM": count - limit, "LINUX001": 0}
                assert users(monreader.control, "outstanding") == {"SLOWSVM": limit, "LINUX001": 0}
                messages = [next_message(peer, path) for _ in range(limit)]
                # What it holds has not been overwritten by what came afterwards.
                held = [set_in_segment(monreader.control, message) for message in messages]
                assert held == [wanted.stream for wanted in sets[:limit]]
                give_back(peer, messages[0])
                deliver(monreader.control, "sample", element(count))
                last = next_message(peer, path)
                wanted = capture.next()
                compare(reader.read(), wanted)
                assert set_in_segment(monreader.control, last) == wanted.stream
        peer.sever(path)


@pytest.mark.requirement("M12")
def test_guest_that_is_slow_does_not_hold_up_others(monreader: Guest, zvmlab_dir: Path) -> None:
    """Sets that the guest has not read stay intact while another user replies at once."""
    count = 20
    with Peer(monreader.control, "FASTSVM") as peer:
        path = connect(peer)
        with Capture(monreader.control, zvmlab_dir / "sets") as capture:
            with DataSets(monreader.agent) as reader:
                for number in range(count):
                    deliver(monreader.control, "sample", element(number))
                    give_back(peer, next_message(peer, path))
                assert users(monreader.control, "replied") == {"FASTSVM": count, "LINUX001": 0}
                for _ in range(count):
                    compare(reader.read(), capture.next())
                assert users(monreader.control, "replied") == {"FASTSVM": count, "LINUX001": count}
        peer.sever(path)


@pytest.mark.requirement("M12")
@pytest.mark.parametrize("code", (0, 5))
def test_user_that_leaves_takes_nothing_from_the_guest(
    monreader: Guest, zvmlab_dir: Path, code: int
) -> None:
    """The other user severs while both hold sets: the guest's stay, and new ones come."""
    with Peer(monreader.control, "PERFSVM") as peer:
        path = connect(peer)
        with Capture(monreader.control, zvmlab_dir / "sets") as capture:
            with DataSets(monreader.agent) as reader:
                deliver(monreader.control, "sample", element(1))
                next_message(peer, path)
                peer.sever(path, bytes([code]))
                deliver(monreader.control, "sample", element(2))
                for _ in range(2):
                    compare(reader.read(), capture.next())
                assert users(monreader.control, "delivered") == {"LINUX001": 2}


@pytest.mark.requirement("M12")
@pytest.mark.representative
def test_more_users_than_monitor_serves_are_refused_eio(monreader: Guest, one_set: OneSet) -> None:
    """With 16 users connected the guest's open fails, the code in the log; one less, it works."""
    log = Log(monreader.agent)
    with Peer(monreader.control, "MANYSVM") as peer:
        paths = [connect(peer) for _ in range(MAX_USERS)]
        assert monreader.agent.open(DEVICE).errno == errno.EIO
        assert log.texts() == [
            f"z/VM *MONITOR system service disconnected with rc={TOO_MANY_USERS}"
        ]
        peer.sever(paths[7])
        one_set(monreader)
