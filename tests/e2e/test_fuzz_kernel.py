# SPDX-License-Identifier: MIT
"""zvmlab fuzz in guests: new blocks, a defect that is found and made small, crashes that cost no boot."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from zvmlab.base.progress import Progress
from zvmlab.builder.count_folder import BOOT, kernels_in
from zvmlab.builder.kernel import counts_lines
from zvmlab.fuzz.campaign import Campaign, Plan, fuzz, shows
from zvmlab.fuzz.case import Case, load
from zvmlab.fuzz.finding import load_known, reason
from zvmlab.fuzz.grammar import find
from zvmlab.fuzz.minimise import minimise
from zvmlab.fuzz.runner import Runner
from zvmlab.guest.config import QEMU
from zvmlab.guest.kernel_lines import Counts
from zvmlab.scenarios import player
from zvmlab.scenarios.player import Player

QUIET = Progress(quiet=True)
_HOUR = 3600.0
DEVICE: dict[str, Any] = {"text": "/dev/monreader"}
OPEN: dict[str, Any] = {
    "do": "call",
    "call": "openat",
    "args": [-100, DEVICE, 0x800, 0],
    "as": "f1",
}
READ: dict[str, Any] = {"do": "reads", "fd": "f1", "size": 4096}
DELIVER: dict[str, Any] = {
    "do": "request",
    "execute": "monitor-deliver",
    "arguments": {
        "kind": "sample",
        "elements": [{"domains": 0x8000, "fill": {"seed": 7, "length": 300}}],
    },
}
# No storage is there: the driver reads its control area before it has checked the address.
NOWHERE: dict[str, Any] = {
    "do": "request",
    "execute": "monitor-raw",
    "arguments": {"kind": "sample", "mca-start": 0x60000000, "mca-end": 0x6000000B},
}
MON_READ = "oops in mon_read < vfs_read < ksys_read"


@pytest.fixture(autouse=True)
def in_qemu(zvmlab_backend: str) -> None:
    if zvmlab_backend != QEMU:
        pytest.skip("only QEMU tells which code is executed, and puts guests back")


def run(target: str, kernel: str, folder: Path, cases: int) -> Campaign:
    """So many cases in one guest."""
    plan = Plan(find(target), folder / "out", folder / "corpus", _HOUR, 7, 1, cases=cases)
    plan.begin()
    counts = counts_in(folder, kernel)
    with Runner(plan.target, kernel, folder / "out" / "guests" / "1", counts=counts) as runner:
        return fuzz(plan, [runner], load_known(), QUIET)


def counts_in(folder: Path, kernel: str) -> Counts | None:
    """What keeps the lines that run, if they are counted."""
    return Counts(folder / "counts") if counts_lines(kernel) else None


def kept(folder: Path) -> dict[str, str]:
    """The cases whose lines were kept, with why those of some are lost."""
    (kernel,) = kernels_in(folder / "counts")
    return {test.name: test.lost for test in kernel.tests() if test.name != BOOT}


def case(*steps: dict[str, Any]) -> Case:
    """A case of monreader."""
    return Case("monreader", steps, tuple(find("monreader").mark))


def test_cases_reach_new_blocks_and_are_kept(zvmlab_kernel: str, tmp_path: Path) -> None:
    """Sockets of both sides; what was kept reaches the same again, and nothing is found by itself."""
    done = run("af_iucv", zvmlab_kernel, tmp_path, 30)
    assert done.cases == 30
    functions = {place.partition("+")[0] for place in done.places}
    assert {"iucv_sock_create", "iucv_sock_connect", "iucv_sock_close"} <= functions
    assert "iucv_callback_connack" in functions, "CP's side arrives in an interruption"
    files = sorted((tmp_path / "corpus").glob("*.json"))
    assert 3 <= len(files) == len(done.corpus)
    assert {load(file).name for file in files} == {one.name for one in done.corpus}
    assert done.guests == 1
    if counts_lines(zvmlab_kernel):
        assert kept(tmp_path) == {f"fuzz af_iucv {one.name}": "" for one in done.corpus}


def test_a_known_defect_is_found_again_and_made_small(zvmlab_kernel: str, tmp_path: Path) -> None:
    """Defect 2 of monreader among steps that do nothing to it; each crash only puts the guest back."""
    target = find("monreader")
    noise = [
        DELIVER,
        {"do": "poll", "fd": "f1", "events": 1},
        READ,
        {"do": "signal", "thread": "b"},
    ]
    large = case(noise[0], OPEN, *noise, DELIVER, NOWHERE, *noise, READ)
    counts = counts_in(tmp_path, zvmlab_kernel)
    with Runner(target, zvmlab_kernel, tmp_path / "guests", counts=counts) as runner:
        (found,) = runner.run(large).findings
        runner.keep_counts(large)
        if counts is not None:
            assert kept(tmp_path) == {f"fuzz monreader {large.name}": "the kernel has crashed"}
        assert found.key == MON_READ or counts is not None, "counting moves functions together"
        assert "Unable to handle kernel pointer dereference" in found.text
        defect = reason(large, found, load_known(), runner.driver)
        assert defect is not None and "upstream-driver.md, 2" in defect
        small, tries = minimise(large, shows(runner, found.key), 400)
        assert [step["do"] for step in small.steps] == ["call", "request", "reads"]
        assert tries < 400
        again = [[one.key for one in runner.run(small).findings] for _ in range(5)]
        assert again == [[found.key]] * 5
        assert runner.booted == 1


def test_a_call_that_sleeps_for_good_and_data_that_are_right(
    zvmlab_kernel: str, tmp_path: Path
) -> None:
    """Open waits for an answer that CP never gives; the next case has the guest as it was."""
    silent = {
        "do": "request",
        "execute": "fault-arm",
        "arguments": {"point": "iucv.connect", "kind": "drop", "name": "*MONITOR"},
    }
    before = {"do": "poll", "fd": 0, "events": 0}
    with Runner(find("monreader"), zvmlab_kernel, tmp_path / "guests") as runner:
        # Of one request with three steps, the one that sleeps is named.
        (found,) = runner.run(case(silent, before, OPEN, READ)).findings
        assert found.key == "hangs in open"
        ran = runner.run(case(OPEN, DELIVER, READ))
        assert ran.findings == []
        read = ran.played[2]
        # A control element of 12 bytes, and the records.
        assert (len(read.data), read.complete) == (312, True)
        assert runner.booted == 1


def test_a_call_that_sleeps_ends_and_is_no_finding(zvmlab_kernel: str, tmp_path: Path) -> None:
    """Nobody sends; a signal ends recv, and what follows in the same request is done."""
    target = find("af_iucv")
    answer = {
        "do": "request",
        "execute": "peer-call",
        "arguments": {"peer": "TESTER", "function": "accept", "path": 0, "msglim": 10},
    }
    steps: list[dict[str, Any]] = [
        {"do": "call", "call": "socket", "args": [32, 1, 0], "as": "s1"},
        {"do": "call", "call": "connect", "args": ["s1", {"address": ["TESTER", "SERVER"]}, 32]},
        answer,
        {"do": "call", "call": "recvfrom", "args": ["s1", {"out": 9}, 9, 0, 0, 0]},
        {"do": "poll", "fd": "s1", "events": 4},
    ]
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        for _ in range(3):
            ran = runner.run(Case("af_iucv", tuple(steps), tuple(target.mark)))
            assert ran.findings == []
            connected, received, polled = ran.played[1], ran.played[3], ran.played[4]
            assert (connected.ret, connected.slept) == (0, False)
            assert (received.error, received.slept) == (errno.EINTR, True)
            assert polled.ret == 1
        assert runner.booted == 1
        assert len(runner.guest.qmp.events) < 10, "they are forgotten each time"


def test_what_comes_while_a_call_sleeps_is_no_contradiction_of_poll(
    zvmlab_kernel: str, tmp_path: Path
) -> None:
    """poll() says that nobody is there, accept() of the same request sleeps, and somebody comes."""
    target = find("af_iucv")
    asks: dict[str, Any] = {"peer": "TESTER", "function": "connect", "vmid": "LINUX001"}
    asks |= {"ipuser": {"names": ["SERVER", "CLIENT"]}, "msglim": 10, "flags": 0}
    steps: list[dict[str, Any]] = [
        {"do": "call", "call": "socket", "args": [32, 1, 0], "as": "s1"},
        {"do": "call", "call": "bind", "args": ["s1", {"address": [" ", "SERVER"]}, 32]},
        {"do": "call", "call": "listen", "args": ["s1", 1]},
        {"do": "poll", "fd": "s1", "events": 1},
        {"do": "call", "call": "accept4", "args": ["s1", 0, 0, 0], "as": "s2"},
        {"do": "request", "execute": "peer-call", "arguments": asks},
    ]
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        ran = runner.run(Case("af_iucv", tuple(steps), tuple(target.mark)))
        assert ran.findings == []
        accepted = ran.played[4]
        assert (accepted.ret >= 0, accepted.slept, accepted.beside) == (True, False, True)


def test_a_hold_of_a_cpu_that_is_offline_is_refused(zvmlab_kernel: str, tmp_path: Path) -> None:
    """The steps go on."""
    target = find("iucv")
    steps: list[dict[str, Any]] = [
        {"do": "cpu", "cpu": 1, "online": False},
        {"do": "hold", "function": "iucv_sock_close"},
        {"do": "call", "call": "socket", "args": [32, 1, 0], "as": "s1"},
    ]
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        ran = runner.run(Case("iucv", tuple(steps), tuple(target.mark), target.cpus))
        assert ran.findings == []
        assert "Invalid argument" in (ran.played[1].answer or {})["error"]
        assert ran.played[2].ret >= 0


def test_a_case_that_the_agent_refuses_costs_no_boot(zvmlab_kernel: str, tmp_path: Path) -> None:
    """A message of 65 buffers is one more than a call may have."""
    message = {"parts": [{"out": 1}] * 64, "name": {"out": 16}}
    receive = {"do": "call", "call": "recvmsg", "args": ["f1", {"message": message}, 0]}
    with Runner(find("monreader"), zvmlab_kernel, tmp_path / "guests") as runner:
        ran = runner.run(case(OPEN, receive))
        assert "an operation is malformed or exceeds a limit" in ran.refused
        assert ran.findings == []
        ran = runner.run(case(OPEN, DELIVER, READ))
        assert not ran.refused and ran.findings == [] and ran.played[2].ret > 0
        assert runner.booted == 1


def test_a_hold_ends_what_its_thread_does(zvmlab_kernel: str, tmp_path: Path) -> None:
    """A connect() that nobody accepts sleeps for forty seconds, if no signal ends it."""
    target = find("iucv")
    status: dict[str, Any] = {"text": "/proc/thread-self/status"}
    steps: list[dict[str, Any]] = [
        {"do": "call", "call": "socket", "args": [32, 1, 0], "as": "s1", "thread": "b"},
        {
            "do": "call",
            "call": "connect",
            "args": ["s1", {"address": ["TESTER", "SERVER"]}, 32],
            "thread": "b",
        },
        {"do": "hold", "function": "iucv_sock_close", "thread": "b"},
        {"do": "call", "call": "openat", "args": [-100, status, 0, 0], "as": "f1"},
        {"do": "call", "call": "read", "args": ["f1", {"out": 4000}, 4000]},
        {"do": "call", "call": "close", "args": ["s1"], "thread": "b"},
        {"do": "release"},
    ]
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        ran = runner.run(Case("iucv", tuple(steps), tuple(target.mark), target.cpus))
        assert ran.findings == []
        assert (ran.played[1].error, ran.played[1].slept) == (errno.EINTR, True)
        # The other threads are kept where they do not wait with the CPU that is held.
        assert b"Cpus_allowed_list:\t0\n" in ran.played[4].data
        assert ran.played[5].ret == 0


def test_a_hold_ends_another_one(zvmlab_kernel: str, tmp_path: Path) -> None:
    """A thread cannot be put onto a CPU that another one holds."""
    target = find("iucv")
    steps: list[dict[str, Any]] = [
        {"do": "call", "call": "socket", "args": [32, 1, 0], "as": "s1"},
        {"do": "hold", "function": "iucv_sock_close", "thread": "b"},
        {"do": "call", "call": "close", "args": ["s1"], "thread": "b"},
        {"do": "hold", "function": "iucv_sock_close", "thread": "c"},
        {"do": "call", "call": "getpid", "args": [], "thread": "c"},
        {"do": "release"},
    ]
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        ran = runner.run(Case("iucv", tuple(steps), tuple(target.mark), target.cpus))
        assert ran.findings == []
        assert ran.played[3].answer is None, "it was not refused"
        assert ran.played[2].ret == 0 and ran.played[4].ret > 0


def test_a_name_is_waited_for(
    zvmlab_kernel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy host a call may seem to sleep that has only not begun."""
    monkeypatch.setattr(player, "_SOON_SECONDS", 0.0)
    monkeypatch.setattr(player, "_NAMED_SECONDS", 5.0)  # a debug kernel needs more than others
    monkeypatch.setattr(Player, "_await_sleep", lambda _player, _pending: True)
    target = find("iucv")
    steps: list[dict[str, Any]] = [
        {"do": "call", "call": "socket", "args": [32, 1, 0], "as": "s1"},
        {"do": "call", "call": "close", "args": ["s1"], "thread": "b"},
    ]
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        ran = runner.run(Case("iucv", tuple(steps), tuple(target.mark), target.cpus))
        assert ran.played[1].ret == 0


def test_a_name_is_what_it_is_given_last(
    zvmlab_kernel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that another thread is about to give anew stands for no number of before."""
    monkeypatch.setattr(player, "_SOON_SECONDS", 0.0)
    monkeypatch.setattr(player, "_NAMED_SECONDS", 5.0)  # a debug kernel needs more than others
    monkeypatch.setattr(Player, "_await_sleep", lambda _player, _pending: True)
    target = find("iucv")
    socket: dict[str, Any] = {"do": "call", "call": "socket", "args": [32, 1, 0]}
    steps: list[dict[str, Any]] = [
        {**socket, "as": "s1"},
        {**socket, "as": "s2"},
        {"do": "call", "call": "close", "args": ["s1"]},
        {"do": "call", "call": "close", "args": ["s2"]},
        {"do": "unload", "module": "smsgiucv_app", "thread": "b"},  # sleeps
        {**socket, "as": "s2", "thread": "b"},
        {"do": "call", "call": "close", "args": ["s2"]},
    ]
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        ran = runner.run(Case("iucv", tuple(steps), tuple(target.mark), target.cpus))
        assert ran.findings == []
        assert ran.played[5].ret == ran.played[0].ret != ran.played[1].ret
        assert ran.played[6].ret == 0


def test_a_load_has_no_number_of_a_program(zvmlab_kernel: str, tmp_path: Path) -> None:
    """The agent opens the module's file: a case that closes a number twice does not close that."""
    target = find("iucv")
    opening: dict[str, Any] = {
        "do": "call",
        "call": "openat",
        "args": [-100, {"text": "/dev/null"}, 0, 0],
    }
    steps: list[dict[str, Any]] = [
        {**opening, "as": "f1"},
        {"do": "call", "call": "close", "args": ["f1"]},
        {"do": "hold", "function": "load_module", "thread": "b"},
        {"do": "load", "module": "monwriter", "thread": "b"},
        {**opening, "as": "f2"},
        {"do": "release"},
    ]
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        ran = runner.run(Case("iucv", tuple(steps), tuple(target.mark), target.cpus))
        assert ran.findings == []
        assert ran.played[2].answer is None, "the hold was refused"
        assert (ran.played[3].ret, ran.played[3].error) == (0, 0)
        assert ran.played[4].ret == ran.played[0].ret >= 0


def test_a_hold_brings_pages_in(zvmlab_kernel: str, tmp_path: Path) -> None:
    """A thread whose page is out would not answer where it is to run, for two minutes."""
    target = find("iucv")
    steps: list[dict[str, Any]] = [
        {"do": "out"},
        {"do": "out", "thread": "c"},
        {"do": "hold", "function": "iucv_sock_close", "thread": "b"},
        {"do": "call", "call": "getpid", "args": [], "thread": "c"},
        {"do": "release"},
    ]
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        ran = runner.run(Case("iucv", tuple(steps), tuple(target.mark), target.cpus))
        assert ran.findings == []
        assert ran.played[2].answer is None, "it was not refused"
        assert (ran.played[3].ret > 0, ran.played[3].slept) == (True, False)


def test_a_panic_puts_the_guest_back(zvmlab_kernel: str, tmp_path: Path) -> None:
    """The emulator stays; the console has what the kernel said."""
    crash = {"do": "write", "path": "/proc/sysrq-trigger", "text": "c"}
    with Runner(find("monreader"), zvmlab_kernel, tmp_path / "guests") as runner:
        for _ in range(2):
            (found,) = runner.run(case(crash)).findings
            assert found.kind == "panic" and "sysrq triggered crash" in found.text
        assert runner.run(case(OPEN, DELIVER, READ)).findings == []
        assert runner.booted == 1


def test_a_case_that_spoils_the_guest_is_named(zvmlab_kernel: str, tmp_path: Path) -> None:
    """It leaves the disk open by a number that nobody closes; those before and after it are good."""
    target = find("dcssblk")
    add = {"do": "write", "path": "/sys/devices/dcssblk/add", "text": "DISK"}
    device = {"text": "/dev/dcssblk0"}
    opened = {"do": "call", "call": "openat", "args": [-100, device, 0, 0], "as": "f1"}
    kept = {"do": "call", "call": "fcntl", "args": ["f1", 0, 0]}
    mark = tuple(target.mark)
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        good = Case("dcssblk", (add, opened), mark)
        assert runner.run(good).findings == []
        (found,) = runner.run(Case("dcssblk", (add, opened, kept), mark)).findings
        # EEXIST: the disk could not be removed.
        said = "afterwards a: write /sys/devices/dcssblk/add DISK gives errno 17"
        assert (found.kind, found.where, found.text) == ("unusable", "step 4 of 8", said)
        assert runner.run(good).findings == []
        assert runner.booted == 1


def test_what_does_not_work_any_more_is_a_finding(zvmlab_kernel: str, tmp_path: Path) -> None:
    """smsgiucv has lost its path to *MSG, and does not connect again."""
    target = find("smsgiucv")
    sever = {
        "do": "request",
        "execute": "fault-arm",
        "arguments": {"point": "msg.message", "kind": "sever", "value": 0, "when": "nth", "n": 1},
    }
    message = {
        "do": "request",
        "execute": "peer-command",
        "arguments": {"peer": "TESTER", "command": "SMSG LINUX001 APP one"},
    }
    severed = Case("smsgiucv", (sever, message), tuple(target.mark))
    with Runner(target, zvmlab_kernel, tmp_path / "guests") as runner:
        (found,) = runner.run(severed).findings
        assert found.kind == "unusable" and "recvfrom" in found.text
        assert reason(severed, found, load_known(), runner.driver) is not None
        plain = Case("smsgiucv", (message,), tuple(target.mark))
        assert runner.run(plain).findings == []
