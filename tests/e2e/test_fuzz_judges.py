# SPDX-License-Identifier: MIT
"""zvmlab fuzz in guests: messages, pages that are out, schedules, and judges of what CP was asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from netiucv_lab import need_module
from zvmlab.fuzz.case import Case
from zvmlab.fuzz.grammar import Target, find, names
from zvmlab.fuzz.runner import Runner
from zvmlab.guest.config import QEMU

Step = dict[str, Any]
CLASS = "00000000000000140000011500000001000000070000" + "0000"
ROOM = {"both": "00" * 24}


@pytest.fixture(autouse=True)
def in_qemu(zvmlab_backend: str) -> None:
    if zvmlab_backend != QEMU:
        pytest.skip("only QEMU puts guests back")


def call(name: str, *args: Any, **more: Any) -> Step:
    """A system call."""
    return {"do": "call", "call": name, "args": list(args), **more}


def peer(function: str, **arguments: Any) -> Step:
    """A call of TESTER's, about its newest path."""
    path = {} if function == "connect" else {"path": {"nth": 0}}
    arguments = {"peer": "TESTER", "function": function, **path, **arguments}
    return {"do": "request", "execute": "peer-call", "arguments": arguments}


SOCKET = call("socket", 32, 1, 0, **{"as": "s1"})
CONNECTED = (
    SOCKET,
    call("connect", "s1", {"address": ["TESTER", "SERVER"]}, 32),
    peer("accept", msglim=10),
)


def case(target: Target, *steps: Step, **more: Any) -> Case:
    """A case of a target."""
    return Case(target.name, steps, tuple(target.mark), **more)


def test_messages_have_their_class_and_their_parts(zvmlab_kernel: str, tmp_path: Path) -> None:
    """Both ways; a control message of a wrong length is refused."""
    target = find("af_iucv")
    data = {"data": [7, 20]}
    steps = [
        *CONNECTED,
        peer("send", data=data, flags=0x10, trgcls=5),
        call("recvmsg", "s1", {"message": {"parts": [{"out": 5}, {"out": 100}], "control": ROOM}}, 0),
        call("sendmsg", "s1", {"message": {"parts": [data], "control": {"hex": CLASS}}}, 0x4040),
        peer("receive", length=100),
        call("sendmsg", "s1", {"message": {"parts": [data], "control": {"hex": CLASS},
                                           "control_size": 17}}, 0x4040),
    ]  # fmt: skip
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        ran = runner.run(case(target, *steps))
        assert ran.findings == []
        received, sent, taken, refused = ran.played[4:8]
        assert (received.ret, len(received.data)) == (20, 20)
        assert sent.ret == 20
        assert taken.answer is not None and taken.answer["trgcls"] == 7
        assert refused.error == 22


def test_a_thread_whose_page_is_out_sleeps_until_it_is_in(
    zvmlab_kernel: str, tmp_path: Path
) -> None:
    """CP has told the guest, by an interruption; the call is done, and the next case finds it in."""
    target = find("af_iucv")
    steps: list[Step] = [
        {"do": "out", "thread": "b"},
        call("getpid", thread="b"),
        {"do": "request", "execute": "query-pages", "arguments": {}},
        {"do": "in"},
        call("getpid", thread="b"),
    ]
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        for last in (5, 3):
            ran = runner.run(case(target, *steps[:last]))
            assert ran.findings == []
            pages = ran.played[2].answer
            assert pages is not None and pages["initial"] == 1 and len(pages["faults"]) == 1
            assert ran.played[1].ret > 0


def test_calls_about_a_path_that_is_gone_are_a_finding(zvmlab_kernel: str, tmp_path: Path) -> None:
    """Defect 1 of monreader: close severs the path id once more that CP has taken back."""
    target = find("monreader")
    steps: list[Step] = [
        call("openat", -100, {"text": "/dev/monreader"}, 0x800, 0, **{"as": "f1"}),
        {"do": "request", "execute": "monitor-sever", "arguments": {"code": 1}},
        call("close", "f1"),
    ]
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        (found,) = runner.run(case(target, *steps)).findings
        assert (found.kind, found.where) == ("stray", "iucv.sever")
        assert runner.run(case(target, steps[0], steps[2])).findings == []


def test_a_file_in_the_place_of_a_device_is_no_finding(zvmlab_kernel: str, tmp_path: Path) -> None:
    """Its module cannot make the device any more, and that is the case's mistake."""
    target = find("watchdog")
    device: Step = {"text": "/dev/watchdog"}
    gone: Step = {"do": "unload", "module": "diag288_wdt"}
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        ran = runner.run(case(target, gone, call("openat", -100, device, 0x41, 0)))
        assert ran.findings == []
        assert [one.error for one in ran.played[:2]] == [0, 0]


def test_a_schedule_is_that_of_its_case(zvmlab_kernel: str, tmp_path: Path) -> None:
    """The same seed reaches the same again; another one needs no other guest."""
    target = find("iucv")
    steps = [*CONNECTED, call("close", "s1", thread="b")]
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        for schedule in (5, 6, 5):
            assert runner.run(case(target, *steps, cpus=2, schedule=schedule)).findings == []
        assert runner.booted == 1


@pytest.mark.full
@pytest.mark.parametrize("name", names())
def test_a_target_is_usable_before_any_case(name: str, zvmlab_kernel: str, tmp_path: Path) -> None:
    """What must work after every case works after one that does nothing."""
    target = find(name)
    if name == "netiucv":
        need_module(zvmlab_kernel)
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        assert runner.run(case(target, cpus=target.cpus)).findings == []
