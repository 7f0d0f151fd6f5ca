# SPDX-License-Identifier: MIT
"""The QMP client against a scripted QEMU."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zvmlab.base.errors import EmulatorError, GuestPanic, Timeout
from zvmlab.base.limit import FairLimit
from zvmlab.guest.lockstep import Lockstep
from zvmlab.guest.qmp import Qmp, QmpError

SECONDS = 60
GREETING = {"QMP": {"version": {"qemu": {"major": 7, "minor": 2, "micro": 22}}}}
Script = Callable[["Server"], None]


class Server:
    """The other end: reads requests, writes what the script says."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self.requests: list[dict[str, Any]] = []
        self._threads: list[threading.Thread] = []

    def play(self, script: Script) -> None:
        def run() -> None:
            self._client, _ = self._listener.accept()
            self._input = self._client.makefile("rb")
            with self._client, self._input:
                script(self)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self._threads.append(thread)

    def say(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            self._client.sendall(json.dumps(message).encode() + b"\r\n")

    def raw(self, data: bytes) -> None:
        self._client.sendall(data)

    def read(self) -> dict[str, Any]:
        request: dict[str, Any] = json.loads(self._input.readline())
        self.requests.append(request)
        return request

    def answer(self, value: Any) -> None:
        self.say({"return": value, "id": self.read()["id"]})

    def hello(self) -> None:
        self.say(GREETING)
        self.answer({})

    def until_closed(self) -> None:
        while self._input.readline():
            pass

    def close(self) -> None:
        self._listener.close()
        for thread in self._threads:
            thread.join(SECONDS)
            assert not thread.is_alive(), "the script of the test did not end"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "qmp")
    yield made
    made.close()


def test_negotiates_and_executes(server: Server) -> None:
    def script(qemu: Server) -> None:
        qemu.hello()
        qemu.answer({"status": "prelaunch"})

    server.play(script)
    with Qmp(server.path, SECONDS) as qmp:
        assert qmp.version["minor"] == 2
        assert qmp.execute("query-status") == {"status": "prelaunch"}
    assert [r["execute"] for r in server.requests] == ["qmp_capabilities", "query-status"]


def test_arguments_are_sent_and_refusals_explained(server: Server) -> None:
    def script(qemu: Server) -> None:
        qemu.hello()
        request = qemu.read()
        error = {"class": "GenericError", "desc": "no such device"}
        qemu.say({"error": error, "id": request["id"]})

    server.play(script)
    with Qmp(server.path, SECONDS) as qmp:
        with pytest.raises(QmpError, match="QEMU refused device_del: no such device") as caught:
            qmp.execute("device_del", {"id": "x"})
    assert caught.value.klass == "GenericError"
    assert server.requests[1]["arguments"] == {"id": "x"}


def test_events_are_kept_in_order_and_stale_answers_ignored(server: Server) -> None:
    def script(qemu: Server) -> None:
        qemu.hello()
        request = qemu.read()
        qemu.say({"event": "RESUME"}, {"return": "stale", "id": 999}, {"event": "RESET", "data": 1})
        qemu.say({"return": 7, "id": request["id"]}, {"event": "RESET", "data": 2})
        qemu.until_closed()

    server.play(script)
    with Qmp(server.path, SECONDS) as qmp:
        assert qmp.execute("cont") == 7
        assert qmp.wait_event("RESET", timeout=SECONDS)["data"] == 1
        assert qmp.wait_event("RESET", "SHUTDOWN", timeout=SECONDS)["data"] == 2
        assert [event["event"] for event in qmp.events] == ["RESUME"]


def test_time_without_a_cpu_does_not_count(server: Server) -> None:
    def script(qemu: Server) -> None:
        qemu.hello()
        qemu.until_closed()

    server.play(script)
    with Qmp(
        server.path, SECONDS, limit=lambda seconds: FairLimit(seconds, time.monotonic, soon=True)
    ) as qmp:
        started = time.monotonic()
        with pytest.raises(Timeout, match="QEMU's answer to stop did not come within 0.05 s"):
            qmp.execute("stop", timeout=0.05)
        with pytest.raises(Timeout, match="the event STOP did not come within 0.05 s"):
            qmp.wait_event("STOP", timeout=0.05)
        assert time.monotonic() - started >= 2 * 0.05 * FairLimit.LONGEST


def test_silence_is_a_timeout_that_says_what_was_waited_for(server: Server) -> None:
    def script(qemu: Server) -> None:
        qemu.hello()
        qemu.until_closed()

    server.play(script)
    with Qmp(server.path, SECONDS) as qmp:
        started = time.monotonic()
        with pytest.raises(Timeout, match="QEMU's answer to stop did not come within"):
            qmp.execute("stop", timeout=0.3)
        assert 0.3 <= time.monotonic() - started < SECONDS
        with pytest.raises(Timeout, match="the event STOP or RESUME did not come"):
            qmp.wait_event("STOP", "RESUME", timeout=0.2)


def test_no_socket_is_a_timeout(tmp_path: Path) -> None:
    with pytest.raises(Timeout, match="did not open its socket .*nobody within 0.2 s"):
        Qmp(tmp_path / "nobody", 0.2)


def test_closed_socket_is_an_error(server: Server) -> None:
    def script(qemu: Server) -> None:
        qemu.hello()
        qemu.read()

    server.play(script)
    with Qmp(server.path, SECONDS) as qmp:
        with pytest.raises(EmulatorError, match="closed its socket while waiting for .*cont"):
            qmp.execute("cont")


@pytest.mark.parametrize("said", [b"garbage\n", b"[1]\n", b'{"hello": 1}\n', b"\xff\xfe\n"])
def test_what_is_not_qmp_is_refused(server: Server, said: bytes) -> None:
    server.play(lambda qemu: qemu.raw(said))
    with pytest.raises(EmulatorError, match="not JSON|not an object|does not speak QMP"):
        Qmp(server.path, SECONDS)


def test_what_was_said_before_a_crash_counts(server: Server) -> None:
    said = threading.Event()

    def script(qemu: Server) -> None:
        qemu.hello()
        qemu.say({"return": "last words", "id": 2})
        said.set()
        qemu.until_closed()

    def check() -> None:
        if said.is_set():
            raise GuestPanic("the guest's kernel reported a panic")

    server.play(script)
    with Qmp(server.path, SECONDS, check) as qmp:
        assert said.wait(SECONDS)
        assert qmp.execute("cont") == "last words"
        with pytest.raises(GuestPanic):
            qmp.execute("cont")


@pytest.mark.parametrize("crash", [False, True])
def test_an_answer_counts_though_the_check_has_taken_it_in(server: Server, crash: bool) -> None:
    """A check looks for events of QEMU when that has ended."""
    ended = threading.Event()
    armed: list[bool] = []

    def script(qemu: Server) -> None:
        qemu.hello()
        qemu.answer("last words")
        ended.set()

    def check() -> None:
        if armed:
            assert ended.wait(SECONDS)
            qmp.arrived("GUEST_PANICKED")
            if crash:
                raise GuestPanic("the guest's kernel reported a panic")

    server.play(script)
    with Qmp(server.path, SECONDS, check) as qmp:
        armed.append(True)
        assert qmp.execute("cont") == "last words"


def test_crash_ends_a_wait(server: Server) -> None:
    def script(qemu: Server) -> None:
        qemu.hello()
        qemu.until_closed()

    armed: list[bool] = []

    def check() -> None:
        if armed:
            raise GuestPanic("the guest's kernel reported a panic")

    server.play(script)
    with Qmp(server.path, SECONDS, check) as qmp:
        armed.append(True)
        with pytest.raises(GuestPanic):
            qmp.wait_event("SHUTDOWN", timeout=SECONDS)


def test_events_that_came_before_qemu_ended_are_there(server: Server) -> None:
    ended = threading.Event()

    def script(qemu: Server) -> None:
        qemu.hello()
        qemu.say({"event": "RESUME"}, {"event": "GUEST_PANICKED", "data": {"n": 1}})
        qemu.raw(b'{"event": "GUEST_PAN')
        ended.set()

    server.play(script)
    with Qmp(server.path, SECONDS) as qmp:
        assert ended.wait(SECONDS)
        wanted = [{"event": "GUEST_PANICKED", "data": {"n": 1}}]
        assert [qmp.arrived("GUEST_PANICKED") for _ in range(2)] == [wanted] * 2
        assert qmp.wait_event("RESUME")["event"] == "RESUME"
    assert qmp.arrived("GUEST_PANICKED") == wanted


def test_events_of_several_names_are_forgotten(server: Server) -> None:
    """Others stay."""

    def script(qemu: Server) -> None:
        qemu.hello()
        qemu.say(*({"event": name} for name in ("STOP", "RESET", "RESUME", "STOP", "SHUTDOWN")))

    server.play(script)
    with Qmp(server.path, SECONDS) as qmp:
        assert qmp.wait_event("SHUTDOWN", timeout=SECONDS)
        qmp.forget("STOP", "RESUME")
        assert [event["event"] for event in qmp.events] == ["RESET"]


def test_an_order_does_not_wait_for_its_answer(server: Server) -> None:
    """A guest that runs on may power off, and QEMU ends without having answered."""

    def script(qemu: Server) -> None:
        qemu.hello()
        qemu.answer({})
        qemu.answer({})
        qemu.read()

    server.play(script)
    with Qmp(server.path, SECONDS) as qmp:
        Lockstep(qmp).end()
        with pytest.raises(EmulatorError, match="closed its socket while waiting for .*SHUTDOWN"):
            qmp.wait_event("SHUTDOWN", timeout=SECONDS)
    said = [(request["execute"], request.get("arguments")) for request in server.requests[1:]]
    lockstep: dict[str, Any] = {"path": "/objects/cp", "property": "lockstep"}
    assert said == [
        ("qom-set", {**lockstep, "value": True}),
        ("qom-set", {**lockstep, "value": False}),
        ("cont", None),
    ]
