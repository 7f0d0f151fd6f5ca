# SPDX-License-Identifier: MIT
"""*MONITOR of a system: readers in several guests, application data of others, log-on and log-off."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path

import pytest
from applications import STOP, Application, Header, Writer, applications, records
from test_monreader_users import element, users

from zvmlab.guest.guest import Guest
from zvmlab.guest.system import System
from zvmlab.mondata.records import Record
from zvmlab.monitor.monitor import Capture, DataSets, compare, deliver
from zvmlab.monitor.steps import drain

# Of messages to a user that has not replied: monreader's limit.
LIMIT = 255
NAMES = ("ALICE", "BOB", "CAROL")
USER_DOMAIN, LOG_ON, LOG_OFF = 4, 1, 2


def read_next(capture: Capture, *readers: DataSets) -> list[Record]:
    """The next set, which all of them read as CP has stored it."""
    wanted = capture.next()
    for reader in readers:
        compare(reader.read(), wanted)
    return records(wanted)


@pytest.mark.representative
@pytest.mark.requirement("S13")
@pytest.mark.zvmlab_system(ALICE={}, BOB={}, CAROL={}, DAVE={"later": True})
def test_three_readers_of_one_segment(system: System, zvmlab_dir: Path) -> None:
    """The same bytes; one that stops reading loses sets of its own; who comes and goes is told."""
    alice, bob, carol = (system.guests[name] for name in NAMES)
    for guest in (alice, bob, carol):
        guest.agent.modprobe("monreader").check()
    with contextlib.ExitStack() as stack:
        capture = stack.enter_context(Capture(alice.control, zvmlab_dir / "sets"))
        one, two = (stack.enter_context(DataSets(guest.agent)) for guest in (alice, bob))
        three = DataSets(carol.agent, os.O_RDONLY | os.O_NONBLOCK)
        for number in range(10):
            deliver((alice, bob, carol)[number % 3].control, "sample", element(number))
            read_next(capture, one, two, three)
        for number in range(LIMIT + 20):
            deliver(alice.control, "sample", element(number % 250))
            read_next(capture, one, two)
        assert users(bob.control, "lost") == {"ALICE": 0, "BOB": 0, "CAROL": 20}
        assert users(bob.control, "replied")["BOB"] == 10 + LIMIT + 20
        whole = [end for end in drain(carol.agent, three.fd) if end.errno == 0]
        assert len(whole) == LIMIT
        three.close()

        for command in ("ENABLE USER ALL", "START"):
            answer = alice.cp(f"MONITOR EVENT {command}")
            assert answer.rc == 0, answer.response
        read_next(capture, one, two)  # the configuration
        dave = system.guest("DAVE", system.users["DAVE"])
        dave.start()
        dave.emulator.expect_exit()
        assert changes(alice, capture, one, two) == [(LOG_ON, "DAVE")]
        dave.stop()
        assert changes(alice, capture, one, two) == [(LOG_OFF, "DAVE")]


def changes(guest: Guest, capture: Capture, *readers: DataSets) -> list[tuple[int, str]]:
    """Users that have logged on or off, in the next block of events."""
    guest.control.execute("monitor-tick")
    found = [record for record in read_next(capture, *readers) if record.domain == USER_DOMAIN]
    return [(record.number, record.payload[:8].decode("cp037").rstrip()) for record in found]


def sampled(userid: str, header: Header, data: bytes) -> Application:
    """What a sample has of a program of that user's."""
    return Application(2, userid, header.product, 0, data)


@pytest.mark.representative
@pytest.mark.requirement("S14")
@pytest.mark.zvmlab_system(
    ALICE={"modules": ("monwriter",)},
    BOB={"modules": ("monwriter", "appldata_mem")},
    CAROL={},
)
def test_application_data_of_two_read_by_a_third(system: System, zvmlab_dir: Path) -> None:
    """Each record has the user ID of its guest; one that has logged off has none any more."""
    alice, bob, carol = (system.guests[name] for name in NAMES)
    carol.agent.modprobe("monreader").check()
    for guest in (alice, bob):
        guest.agent.modprobe("monwriter").check()
    carol.control.execute("monitor-manual", manual=True)
    with (
        Capture(carol.control, zvmlab_dir / "sets") as capture,
        DataSets(carol.agent) as reader,
        Writer(alice) as first,
        Writer(bob) as second,
    ):
        for command in ("ENABLE APPLDATA ALL", "START"):
            answer = carol.cp(f"MONITOR SAMPLE {command}")
            assert answer.rc == 0, answer.response
        for _ in range(2):
            read_next(capture, reader)

        def sample() -> list[Application]:
            carol.control.execute("monitor-tick")
            return applications(read_next(capture, reader))

        header = Header()
        first.put(header, b"of ALICE")
        second.put(header, b"of BOB, longer")
        expected = [
            sampled("ALICE", header, b"of ALICE"),
            sampled("BOB", header, b"of BOB, longer"),
        ]
        assert sample() == expected
        second.put(replace(header, function=STOP))
        assert sample() == expected[:1]
        bob.agent.modprobe("appldata_mem").check()
        for name in ("timer", "mem"):
            bob.agent.write_file(f"/proc/sys/appldata/{name}", b"1\n")
        found = sample()
        assert [one.userid for one in found] == ["ALICE", "BOB"]
        assert "LINUXKRNL".encode("cp037") == found[1].product[:9]
        bob.emulator.expect_exit()
        bob.kill()
        bob.emulator.wait(60.0)
        carol.control.wait_event("console", 60.0, user="OPERATOR")
        second.fd = -1
        assert sample() == expected[:1]
