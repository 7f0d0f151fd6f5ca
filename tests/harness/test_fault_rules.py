# SPDX-License-Identifier: MIT
"""Fault rules: what they become, arming them for a block, counting."""

from __future__ import annotations

import pytest
from controlled import TIMEOUT
from controlled import _control as _control
from controlled import _server as _server

from zvmlab.base.errors import UsageError
from zvmlab.cp.control import Control, ControlError
from zvmlab.cp.faults import Fault, arm, armed, disarm
from zvmlab.cp.peer import EventType, Peer

WANTS_BOTH = b"\x01\xc0" + bytes(6) + "MONDCSS ".encode("cp037")


def _connect(peer: Peer) -> EventType:
    """What becomes of a connection to *MONITOR."""
    path = peer.connect("*MONITOR", WANTS_BOTH, flags=0x80).path
    event = peer.wait((EventType.COMPLETE, EventType.SEVERED), TIMEOUT, path)
    peer.sever(path)
    return EventType(event.type)


def test_arguments() -> None:
    assert Fault("iucv.send", "drop").arguments() == {"point": "iucv.send", "kind": "drop"}
    assert Fault("interrupt", "corrupt", 255, offset=3, path=0, name="X", nth=2).arguments() == {
        **{"point": "interrupt", "kind": "corrupt", "value": 255, "offset": 3},
        **{"path": 0, "name": "X", "when": "nth", "n": 2},
    }
    rare = Fault("interrupt", "drop", probability=1e-9, times=4).arguments()
    assert (rare["when"], rare["n"], rare["times"]) == ("probability", 1, 4)
    assert Fault("interrupt", "drop", probability=0.25).arguments()["n"] == 250_000
    assert Fault("interrupt", "drop", every=7).arguments()["when"] == "every"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"nth": 1, "every": 2}, "nth and every cannot be used together"),
        ({"nth": 0}, "nth is 0; it counts from 1"),
        ({"every": 1 << 32}, "every is 4294967296; it counts from 1"),
        ({"probability": 0.0}, "invalid probability: 0 (above 0, at most 1)"),
        ({"probability": 1.5}, "invalid probability: 1.5 (above 0, at most 1)"),
    ],
)
def test_when_is_checked(words: dict[str, float], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        Fault("iucv.send", "drop", **words)  # type: ignore[arg-type]
    assert str(caught.value) == sentence


def test_text() -> None:
    assert str(Fault("iucv.reply", "rc", 9, nth=3)) == "iucv.reply rc 9 nth=3"
    assert str(Fault("interrupt", "drop", name="A", times=1)) == "interrupt drop name=A times=1"


def test_armed_in_the_block_only_and_counted(control: Control) -> None:
    first = Fault("monitor.connect", "sever", 0x2C, nth=2)
    second = Fault("monitor.connect", "drop", path=7)
    with Peer(control, "READER") as peer:
        with armed(control, first, second) as rules:
            found = [_connect(peer) for _ in range(3)]
        assert found == [EventType.COMPLETE, EventType.SEVERED, EventType.COMPLETE]
        assert [(r.fault, r.matched, r.fired) for r in rules] == [(first, 3, 1), (second, 0, 0)]
        assert control.execute("query-faults") == {"rules": []}
        assert _connect(peer) is EventType.COMPLETE


def test_all_or_none_are_armed(control: Control) -> None:
    with pytest.raises(ControlError, match="cannot carry out delay"):
        arm(control, Fault("iucv.send", "drop"), Fault("iucv.send", "delay", 1))
    assert control.execute("query-faults") == {"rules": []}


def test_disarmed_after_an_error_and_by_others(control: Control) -> None:
    with pytest.raises(KeyError):
        with armed(control, Fault("iucv.send", "drop")):
            raise KeyError
    assert control.execute("query-faults") == {"rules": []}
    rules = arm(control, Fault("iucv.send", "drop"), Fault("iucv.send", "cc", 2))
    control.execute("fault-disarm", rule=rules[0].rule)
    disarm(control, rules)
    assert control.execute("query-faults") == {"rules": []}
