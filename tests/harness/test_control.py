# SPDX-License-Identifier: MIT
"""The client of the control socket against a CP without an emulator."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from controlled import GREETING, SCHEMA_FILE, TIMEOUT, UPDATE, Server, schema
from controlled import _control as _control
from controlled import _server as _server
from hypothesis import given
from hypothesis import strategies as st

from zvmlab.base.errors import EmulatorError, Timeout, UsageError
from zvmlab.base.limit import FairLimit, Limit
from zvmlab.base.version import __version__
from zvmlab.cp import control as control_module
from zvmlab.cp.control import Control, ControlError, decode, encode
from zvmlab.cp.peer import EventType, Flag, IucvError, Peer


def _lines(value: Any) -> str:
    """JSON with a line for each command, event, fault point, kind and field of a rule."""
    if isinstance(value, dict):
        members = (f"{json.dumps(name)}: {_lines(value[name])}" for name in sorted(value))
        return "{" + ",\n".join(members) + "}"
    rows = (json.dumps(row, sort_keys=True, ensure_ascii=False) for row in value)
    return "[\n" + ",\n".join(rows) + "\n]"


def test_schema_is_documented(control: Control) -> None:
    """docs/control-schema.json is what query-schema returns (ZVMLAB_UPDATE_SCHEMA=1 writes it)."""
    found = control.execute("query-schema")
    if UPDATE:
        SCHEMA_FILE.write_text(f"{_lines(found)}\n", encoding="utf-8")
    assert found == json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))


def test_schemas_are_json_schema() -> None:
    for entry in schema()["commands"].values():
        jsonschema.Draft7Validator.check_schema(entry["arguments"])
        jsonschema.Draft7Validator.check_schema(entry["returns"])
    for entry in schema()["events"].values():
        jsonschema.Draft7Validator.check_schema(entry["data"])


def test_greeting(control: Control) -> None:
    assert control.version == __version__
    assert control.capabilities == ["peers", "monitor-capture"]
    assert control.execute("query-version") == {
        "version": __version__,
        "capabilities": ["peers", "monitor-capture"],
    }


def test_every_query_follows_its_schema(control: Control) -> None:
    plain = [
        name
        for name, entry in schema()["commands"].items()
        if name.startswith("query-") and not entry["arguments"]["properties"]
    ]
    assert "query-cp" in plain
    for name in plain:
        control.execute(name)


def test_configuration(control: Control) -> None:
    cp = control.execute("query-cp")
    assert cp["userid"] == "LINUX001"
    assert cp["storage"] == [{"start": 0, "size": 8 << 20}]
    assert cp["highest-address"] == (0x1900 << 12) - 1
    segments = control.execute("query-segments")["segments"]
    assert [(s["name"], s["start"], s["end"], s["restricted"]) for s in segments] == [
        ("MONDCSS", 16 << 20, (24 << 20) - 1, True),
        ("DATA", 24 << 20, (25 << 20) - 1, False),
    ]
    assert segments[0]["ranges"] == [{"first-page": 0x1000, "last-page": 0x17FF, "type": "SC"}]


def test_cp_commands(control: Control) -> None:
    answer = control.cp("QUERY USERID")
    assert answer.rc == 0
    assert answer.response.startswith("LINUX001 AT ")
    assert control.cp("NONSENSE").rc == 1
    assert control.cp("QUERY USERID\nNONSENSE").response.startswith(answer.response)
    assert control.cp("QUERY USERID", guest=True).response == answer.response


def test_error_has_class_and_sentence(control: Control) -> None:
    with pytest.raises(ControlError, match="^there is no command .none.; ") as info:
        control.execute("none")
    assert info.value.error_class == "CommandNotFound"
    with pytest.raises(ControlError, match='^argument "address" is missing$') as info:
        control.execute("storage-read")
    assert info.value.error_class == "BadArgument"


def test_several_requests_are_answered_in_their_order(control: Control) -> None:
    """Each as by itself; the first refusal of them is raised, and the connection goes on."""
    alone = [control.execute("query-cp"), control.execute("query-paths", user="LINUX001")]
    both = control.execute_all(("query-cp", {}), ("query-paths", {"user": "LINUX001"}))
    assert both == alone
    with pytest.raises(ControlError, match="there is no command"):
        control.execute_all(("query-none", {}), ("query-cp", {}))
    with pytest.raises(ControlError, match="there is no command"):
        control.execute_all(("query-cp", {}), ("query-none", {}))
    assert control.execute_all(("query-cp", {})) == alone[:1]


def test_segment_bytes(control: Control, tmp_path: Path) -> None:
    data = bytes(range(256)) * 17
    control.execute("segment-write", name="data", offset=4000, data=data)
    answer = control.execute("segment-read", name="DATA", offset=3999, length=len(data) + 2)
    assert decode(answer["data"]) == b"\0" + data + b"\0"
    part = tmp_path / "part"
    assert control.execute("segment-read", name="DATA", offset=4000, length=16, file=part) == {}
    assert part.read_bytes() == data[:16]
    whole = tmp_path / "whole"
    control.execute("segment-save", name="DATA", file=whole)
    assert whole.read_bytes()[4000 : 4000 + len(data)] == data
    whole.write_bytes(bytes(1 << 20))
    control.execute("segment-load", name="DATA", file=whole)
    answer = control.execute("segment-read", name="DATA", offset=4000, length=4)
    assert decode(answer["data"]) == bytes(4)
    with pytest.raises(ControlError, match="/none/x cannot be written: No such file"):
        control.execute("segment-read", name="DATA", offset=0, length=1, file="/none/x")


def test_storage_is_what_the_guest_has(control: Control) -> None:
    answer = control.execute("storage-read", address=0, length=4096)
    assert decode(answer["data"]) == bytes(4096)
    with pytest.raises(ControlError, match="8 bytes at guest absolute X'7fffff' are not all"):
        control.execute("storage-read", address=(8 << 20) - 1, length=8)


def test_faults(control: Control) -> None:
    points = {p["point"]: p for p in control.execute("query-fault-points")["points"]}
    assert points["monitor.interval"]["kinds"] == ["drop", "duplicate", "sever"]
    where: dict[str, Any] = {"point": "iucv.connect", "name": "bob", "user": "me", "path": 3}
    rule = control.execute("fault-arm", kind="rc", value=11, when="nth", n=2, **where)["rule"]
    assert control.execute("query-faults")["rules"] == [
        {
            "rule": rule,
            "point": "iucv.connect",
            "kind": "rc",
            "value": 11,
            "offset": 0,
            "user": "ME",
            "name": "BOB",
            "type": 0,
            "when": "nth",
            "n": 2,
            "times": 0,
            "path": 3,
            "matched": 0,
            "fired": 0,
        }
    ]
    control.execute("fault-arm", point="interrupt", kind="drop", type=9)
    with pytest.raises(
        ControlError, match="^the fault rule.s type is for the point interrupt only$"
    ):
        control.execute("fault-arm", point="iucv.send", kind="drop", type=9)
    assert control.execute("fault-disarm", rule=rule) == {"disarmed": 1}
    assert control.execute("fault-disarm") == {"disarmed": 1}
    assert control.execute("query-faults") == {"rules": []}


def test_state(control: Control, tmp_path: Path) -> None:
    image = tmp_path / "state"
    alice = Peer(control, "ALICE")
    rule = control.execute("fault-arm", point="interrupt", kind="drop")["rule"]
    assert control.execute("state-save", file=image) == {"bytes": image.stat().st_size}
    control.execute("fault-disarm")
    bob = Peer(control, "BOB")
    path = alice.connect("BOB").path
    assert control.execute("state-load", file=image) == {}
    with pytest.raises(IucvError, match="cc 1, IPRCODE 01$"):
        alice.sever(path)
    assert bob.connect("ALICE").cc == 0
    assert [r["rule"] for r in control.execute("query-faults")["rules"]] == [rule]
    assert alice.call("query").pgm == 0
    image.write_bytes(image.read_bytes()[:-1])
    with pytest.raises(ControlError, match="^the CP's state cannot be loaded from the image: "):
        control.execute("state-load", file=image)
    paths = control.execute("query-paths", user="BOB")["paths"]
    assert [p["partner"] for p in paths] == ["ALICE"], "a refused image has changed something"


def test_state_goes_on_in_another_cp(control: Control, tmp_path: Path) -> None:
    """A message on its way arrives after the load; who plays the peers takes them over."""
    image = tmp_path / "state"
    alice, bob = Peer(control, "ALICE"), Peer(control, "BOB")
    path = alice.connect("BOB").path
    here = bob.wait(EventType.PENDING, TIMEOUT).path
    bob.accept(here)
    sent = alice.send(path, b"from before", 5, answer_length=100)
    bob.wait(EventType.MSG_PENDING, TIMEOUT)
    control.execute("state-save", file=image)
    (tmp_path / "other").mkdir()
    server = Server(tmp_path / "other")
    try:
        with server.connect() as other:
            assert other.execute("state-load", file=image) == {}
            answer = other.execute("peer-create", name="BOB")
            assert answer == {"name": "BOB", "adopted": True, "lost": 0}
            answer = other.execute(
                "peer-call",
                peer="BOB",
                function="receive",
                path=here,
                msgid=sent.msgid,
                trgcls=5,
                flags=7,
                length=100,
            )
            assert decode(answer["data"]) == b"from before"
    finally:
        server.stop()


def test_events_reach_all_clients(server: Server, control: Control) -> None:
    with server.connect() as other:
        before = time.time() - 1
        control.execute("fault-arm", point="monitor.interval", kind="drop")
        control.execute("monitor-manual", manual=True)
        control.cp("MONITOR SAMPLE ENABLE PROCESSOR")
        control.cp("MONITOR SAMPLE START")
        with Peer(control, "READER") as peer:
            user = bytes([1, 0xC0] + 6 * [255]) + "MONDCSS ".encode("cp037")
            path = peer.connect("*MONITOR", user, msglim=4, flags=Flag.RMDATA).path
            for client in (control, other):
                event = client.wait_event("monitor-connected", TIMEOUT, user="READER")
                assert event.data == {"user": "READER", "path": path, "limit": 4}
                assert before < event.time < time.time() + 1
        for client in (control, other):
            assert client.wait_event("monitor-severed", TIMEOUT).data["user"] == "READER"
        assert other.events("iucv-event") == []


def test_guest_does_not_run_for_an_event_that_has_come(server: Server, control: Control) -> None:
    """Nor is it missed because nobody has read it yet."""

    def step(_: float) -> None:
        raise AssertionError("the guest has run")

    with server.connect() as other:
        with Peer(control, "READER") as peer:
            user = bytes([1, 0xC0] + 6 * [255]) + "MONDCSS ".encode("cp037")
            peer.connect("*MONITOR", user, msglim=4, flags=Flag.RMDATA)
        other.step = step
        assert other.wait_event("monitor-connected", TIMEOUT).data["user"] == "READER"
        with pytest.raises(AssertionError, match="^the guest has run$"):
            other.wait_event("monitor-connected", TIMEOUT)


def test_wait_event_takes_the_oldest_that_matches(control: Control) -> None:
    with Peer(control, "ALICE") as alice, Peer(control, "BOB"):
        for limit in (3, 4, 5):
            alice.connect("BOB", msglim=limit)
    match: dict[str, Any] = {"peer": "BOB", "type": (1, 2)}
    assert control.wait_event("iucv-event", TIMEOUT, msglim=4, **match).data["msglim"] == 4
    assert control.wait_event("iucv-event", TIMEOUT, **match).data["msglim"] == 3
    assert [e.data["msglim"] for e in control.events("iucv-event") if e.data["type"] == 1] == [5]
    assert control.lost_events() == 0
    with pytest.raises(Timeout, match=r"^event iucv-event path=9 did not come within 0.05 s$"):
        control.wait_event("iucv-event", 0.05, path=9)


def test_events_that_nobody_takes_are_kept_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    """The newest stay, the others are counted; a peer's, which are its messages, stay longer."""
    monkeypatch.setattr("zvmlab.cp.control.MAX_EVENTS", 3)
    with server.connect() as control, Peer(control, "ALICE") as alice, Peer(control, "BOB"):
        for number in range(5):
            assert control.cp(f"MSG LINUX001 {number}").rc == 0
            alice.connect("BOB")
        lines = [event.data["text"] for event in control.events("console")]
        assert [line[-1] for line in lines] == ["2", "3", "4"]
        assert control.lost_events() == 2
        assert len(control.events("iucv-event")) == 5


def test_many_threads(control: Control) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(50):
                with pytest.raises(ControlError, match=f'"command-{number}"'):
                    control.execute(f"command-{number}")
                assert control.cp("QUERY USERID").rc == 0
        except BaseException as error:  # pylint: disable=broad-exception-caught
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def _digests(control: Control) -> dict[str, str]:
    return dict(control.execute("query-digests"))


def _reader(control: Control) -> Peer:
    peer = Peer(control, "READER")
    user = bytes([1, 0xC0] + 6 * [255]) + "MONDCSS ".encode("cp037")
    peer.connect("*MONITOR", user, msglim=4, flags=Flag.RMDATA)
    return peer


@pytest.mark.parametrize(
    ("do", "undo", "changed"),
    [
        (lambda c: Peer(c, "BOB"), lambda c: c.execute("peer-destroy", peer="BOB"), {"users"}),
        (
            lambda c: c.execute("fault-arm", point="interrupt", kind="drop"),
            lambda c: c.execute("fault-disarm"),
            {"faults"},
        ),
        (
            lambda c: c.cp("MONITOR SAMPLE ENABLE PROCESSOR"),
            lambda c: c.cp("MONITOR SAMPLE DISABLE ALL"),
            {"monitor-sample"},
        ),
        (
            lambda c: c.cp("MONITOR EVENT ENABLE PROCESSOR"),
            lambda c: c.cp("MONITOR EVENT DISABLE ALL"),
            {"monitor-event"},
        ),
        (
            _reader,
            lambda c: c.execute("peer-destroy", peer="READER"),
            {"users", "segments", "monitor-users"},
        ),
    ],
    ids=["users", "faults", "sample", "event", "monitor-users"],
)
def test_digest_says_what_was_left_behind(
    control: Control, do: Any, undo: Any, changed: set[str]
) -> None:
    control.execute("monitor-manual", manual=True)
    before = _digests(control)
    do(control)
    now = _digests(control)
    assert {name for name in before if before[name] != now[name]} == changed
    undo(control)
    assert _digests(control) == before


def test_users_may_come_back_in_another_order(control: Control) -> None:
    alice = Peer(control, "ALICE")
    Peer(control, "BOB")
    before = _digests(control)
    alice.close()
    assert _digests(control)["users"] != before["users"]
    Peer(control, "ALICE")
    assert [user["name"] for user in control.execute("query-users")["users"]][-2:] == [
        "BOB",
        "ALICE",
    ]
    assert _digests(control) == before


def test_large_data_both_ways(control: Control) -> None:
    data = os.urandom(1 << 20)
    control.execute("segment-write", name="DATA", offset=0, data=data)
    for _ in range(10):
        answer = control.execute("segment-read", name="DATA", offset=0, length=len(data))
        assert decode(answer["data"]) == data


def test_killed_server_is_noticed_by_all_waiters(server: Server, control: Control) -> None:
    seen: list[str] = []

    def wait() -> None:
        with pytest.raises(EmulatorError) as info:
            control.wait_event("reset", TIMEOUT)
        seen.append(str(info.value))

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    server.process.send_signal(signal.SIGKILL)
    server.process.wait(TIMEOUT)
    for thread in threads:
        thread.join()
    assert seen == 3 * [f"the emulator closed control socket {server.socket}"]
    with pytest.raises(EmulatorError, match="closed control socket"):
        control.execute("query-cp")


def test_stopped_server_is_a_time_out(server: Server, control: Control) -> None:
    server.process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(
            Timeout, match=r"^control command query-cp was not answered within 0.2 s$"
        ):
            control.execute("query-cp", time_limit=0.2)
    finally:
        server.process.send_signal(signal.SIGCONT)
    assert control.execute("query-cp")["cpus"] == 1


def test_time_without_a_cpu_does_not_count(server: Server, control: Control) -> None:
    """A server that never has a CPU is waited for ten times as long, and no longer."""
    control.limit = lambda seconds: FairLimit(seconds, time.monotonic, soon=True)
    server.process.send_signal(signal.SIGSTOP)
    try:
        waits: list[Callable[[], object]] = [
            lambda: control.execute("query-cp", time_limit=0.05),
            lambda: control.wait_event("reset", 0.05),
        ]
        for wait in waits:
            begun = time.monotonic()
            with pytest.raises(Timeout, match="within 0.05 s$"):
                wait()
            assert time.monotonic() - begun >= 0.05 * FairLimit.LONGEST
    finally:
        server.process.send_signal(signal.SIGCONT)
    made = []

    def make(seconds: float) -> Limit:
        made.append(seconds)
        return Limit(seconds)

    with Control.connect(server.socket, TIMEOUT, make_limit=make) as other:
        other.execute("query-cp", time_limit=TIMEOUT + 1)
    assert made == [TIMEOUT, TIMEOUT + 1]


def test_connect_waits_for_the_socket(tmp_path: Path) -> None:
    with pytest.raises(Timeout, match="control did not appear within 0.1 s$"):
        Control.connect(tmp_path / "control", 0.1)

    def gone() -> None:
        raise EmulatorError("it is gone")

    with pytest.raises(EmulatorError, match="^it is gone$"):
        Control.connect(tmp_path / "control", TIMEOUT, gone)
    with pytest.raises(UsageError, match="is longer than 107 bytes; use a shorter directory$"):
        Control.connect(tmp_path / ("a" * 108))


def test_connect_wants_a_greeting(tmp_path: Path) -> None:
    path = os.fspath(tmp_path / "control")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        with pytest.raises(Timeout, match=r"^the greeting on control socket .* within 0.1 s$"):
            Control.connect(path, 0.1)


_STAMP = b'"timestamp":{"seconds":1,"microseconds":2}'


@pytest.mark.parametrize(
    "line",
    [
        *(b"[]\n", b"\xff\n", b"{\n", b'{"id":null}\n', b'{"event":"x"}\n', b"7\n"),
        *(b'{"event":"x","data":[],' + _STAMP + b"}\n", b'{"event":7,"data":{},' + _STAMP + b"}\n"),
        b'{"event":"x","data":{},"timestamp":{"seconds":1%s,"microseconds":2}}\n' % (b"0" * 400),
        *(b'{"id":1}\n', b'{"id":1,"error":{"class":"Failed"}}\n', b'{"zvmlab":[]}\n'),
        b"[" * 200_000 + b"\n",
        b"a" * 100 + b"\n",
    ],
    ids=lambda line: repr(line[:32]),
)
def test_nonsense_from_the_other_side(tmp_path: Path, line: bytes) -> None:
    path = os.fspath(tmp_path / "control")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def serve() -> None:
            client, _ = listener.accept()
            with client:
                client.sendall(GREETING + line)
                client.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(EmulatorError, match="sent an invalid message: ") as caught:
            with Control.connect(path, TIMEOUT) as control:
                control.wait_event("reset", TIMEOUT)
        assert len(str(caught.value)) < 1000
        thread.join()


def test_message_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_module, "MESSAGE_MAX", 4 << 20)
    ours, theirs = socket.socketpair()
    with ours, theirs, concurrent.futures.ThreadPoolExecutor(1) as threads:
        control = Control(ours, "socket", TIMEOUT)

        def flood() -> None:
            with contextlib.suppress(OSError):
                while True:
                    theirs.send(bytes(1 << 20))

        flooding = threads.submit(flood)
        with pytest.raises(EmulatorError, match="sent an invalid message: it has more than 4 MiB$"):
            control.wait_event("reset", TIMEOUT)
        control.close()
        flooding.result(TIMEOUT)


def test_closed_by_this_side(control: Control) -> None:
    control.close()
    control.close()
    with pytest.raises(EmulatorError, match="was closed$"):
        control.execute("query-cp")


@given(data=st.binary(max_size=100))
def test_data_survives(data: bytes) -> None:
    assert decode(encode(data)) == data
