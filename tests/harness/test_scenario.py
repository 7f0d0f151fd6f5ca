# SPDX-License-Identifier: MIT
"""Scenarios: outcomes that can be compared, what a context notes, where scenarios come from."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sweep_fakes import FakeGuest

from zvmlab.agent.calls import CallResult
from zvmlab.agent.results import ModuleResult
from zvmlab.base.errors import Timeout, UsageError
from zvmlab.base.limit import Limit
from zvmlab.guest.config import GuestConfig
from zvmlab.mondata.records import EVENT, Element, Mce, Record
from zvmlab.scenarios import BUILT_IN, USERS, find, possible, users
from zvmlab.scenarios.context import Context, Stuck, scenario
from zvmlab.scenarios.outcome import Outcome, Step, describe_stream, normal_line, normal_log

SCENARIOS = """
from zvmlab.scenarios.context import Context, scenario

@scenario("twice", "Reads two sets.")
def twice(context: Context) -> None:
    for _ in range(2):
        context.read()
"""


def context_of(tmp_path: Path, seed: str = "1") -> Context:
    """A context with a fake guest."""
    guest = FakeGuest(None, tmp_path / "logs", None)
    return Context(cast(Any, guest), tmp_path, seed)


def test_only_what_differs_from_boot_to_boot_is_taken_from_a_line() -> None:
    line = "DCSS MONDCSS of range 0000000009000000 to 00000000097fffff and type SC loaded"
    assert normal_line(line) == line
    assert (
        normal_line("task 000003ff8001a2b4 at 0x00000000fffff000") == "task <address> at <address>"
    )
    assert normal_line("rc=44 id 0123456789abcdef0") == "rc=44 id 0123456789abcdef0"
    assert normal_line("audit: type=2000 audit(1795258304.621:1): state=x") == (
        "audit: type=2000 audit(<time>): state=x"
    )


def test_what_is_said_once_in_a_boot_is_left_out() -> None:
    taint = "monreader: loading out-of-tree module taints kernel."
    unsigned = "monreader: module verification failed: required key missing - tainting kernel"
    assert normal_log([taint, "a", unsigned, "at 000003ff8001a2b4"]) == ("a", "at <address>")


def test_stream_is_described_without_addresses() -> None:
    element = Element.of([Record(4, 3, 1, b"x" * 60)], EVENT)

    def at(address: int) -> bytes:
        mce = Mce(EVENT, element.domains, 0, address, address + len(element.data) - 1)
        return mce.encode() + element.data

    first, moved = describe_stream(at(0x9000000)), describe_stream(at(0x9005000))
    assert first == moved
    assert first["elements"][0]["phase"] == 0 and first["elements"][0]["length"] == 80
    assert describe_stream(at(0x9000010))["elements"][0]["phase"] == 0x10
    assert "hash" not in describe_stream(at(0x9000000), hashes=False)["elements"][0]
    cut = describe_stream(at(0x9000000)[:-1])
    assert cut["length"] == 91 and len(cut["hash"]) == 16
    assert describe_stream(b"") == {"elements": []}


def test_outcomes_survive_json_and_tell_each_difference() -> None:
    first = Outcome("s", (Step("open", {"errno": None}), Step("read", {"sizes": [1, 0]})), ("a",))
    second = Outcome("s", (Step("open", {"errno": "EIO"}),), ("a", "b"))
    assert Outcome.from_json(json.loads(json.dumps(first.to_json()))) == first
    assert first.differences(first) == []
    assert first.differences(second) == [
        'step 1: open errno=null against open errno="EIO"',
        "2 steps against 1",
        "1 log lines against 2",
    ]
    assert first.differences(Outcome("t", first.steps, ("b",))) == [
        "scenario s against t",
        "log line 1: a against b",
    ]


@pytest.mark.parametrize("data", ({}, {"scenario": "s", "steps": [{}], "log": []}))
def test_what_is_no_outcome_is_a_usage_error(data: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="not an outcome of a scenario"):
        Outcome.from_json(data)


def test_context_notes_what_each_step_gave(tmp_path: Path) -> None:
    with context_of(tmp_path) as context:
        context.open()
        context.load()
        context.deliver("sample", context.element())
        context.open()
        context.poll()
        context.deliver("sample", context.element())
        context.poll()
        context.read()
        context.read()
        context.close()
        context.close()
        context.unload()
        context.note("mine", value=[1, "two"])
        outcome = context.outcome("steps")
        assert [s.stream for s in context.stored_sets()] == [context.sets[0].stream]
    assert [str(step) for step in outcome.steps[:6]] == [
        'open errno="ENOENT" blocked=false',
        "load errno=null",
        'deliver kind="sample" fate="refused" reason="no user is connected to *MONITOR"',
        "open errno=null blocked=false",
        'poll errno=null blocked=false ready=""',
        'deliver kind="sample" fate="delivered"',
    ]
    assert outcome.steps[6].result["ready"] == "IN"
    assert outcome.steps[7].result["sizes"] == [12, 80, 0]
    assert outcome.steps[8].result["blocked"] is True
    assert [str(step) for step in outcome.steps[9:]] == [
        "close errno=null blocked=false",
        'close errno="EBADF" blocked=false',
        "unload errno=null",
        'mine value=[1,"two"]',
    ]
    assert [found.complete for found in context.sets] == [True, False]


def test_seed_decides_contents_and_asides_do_not_disturb_them(tmp_path: Path) -> None:
    with context_of(tmp_path) as one, context_of(tmp_path) as same:
        with context_of(tmp_path, "2") as other:
            with same.aside() as steps:
                same.note("aside")
                same.element()
            assert [step.what for step in steps] == ["aside"] and same.steps == []
            elements = [context.element() for context in (one, same, other)]
    assert elements[0] == elements[1] != elements[2]


def test_call_that_cannot_be_interrupted_ends_the_scenario(tmp_path: Path) -> None:
    with context_of(tmp_path) as context:
        context.load()
        guest = cast(Any, context.guest)
        guest.control.fault_arm(point="iucv.connect", kind="drop", n=1)
        with pytest.raises(Stuck, match="open sleeps uninterruptibly in the guest"):
            context.open()
        assert str(context.steps[-1]) == "open stuck=true"


class _Loading:
    """A module that is being loaded: how that ends, each time it is waited for."""

    def __init__(self, *ends: ModuleResult | None) -> None:
        self.ends = list(ends)

    def result(self, seconds: float) -> ModuleResult:
        found = self.ends.pop(0)
        if found is None:
            raise Timeout(f"not within {seconds:g} s")
        return found


def test_module_that_is_loaded_may_sleep_for_good(tmp_path: Path) -> None:
    """What it says, or Stuck with what it says in the end."""
    done, refused = (ModuleResult("loading hmcdrv", number, []) for number in (0, 5))
    with context_of(tmp_path) as context:
        asked: list[str] = []
        loading = _Loading(done, refused, None, None, refused)

        def start(module: str) -> _Loading:
            asked.append(module)
            return loading

        cast(Any, context.worker).start_insmod = start
        assert context.insmod("loading", "hmcdrv") is None
        assert context.insmod("loading", "hmcdrv") == "EIO"
        assert context.steps == [] and asked == ["hmcdrv", "hmcdrv"]
        with pytest.raises(Stuck, match="loading sleeps uninterruptibly") as stuck:
            context.insmod("loading", "hmcdrv")
        assert str(context.steps[-1]) == "loading stuck=true"
        assert stuck.value.result(1) is None
        ended = stuck.value.result(1)
        assert ended is not None and (ended.what, ended.errno) == ("loading hmcdrv", 5)


class _Files:
    """An agent with one file that takes writes, or none."""

    def __init__(self, error: int, refused: int = 0) -> None:
        self.error, self.refused = error, refused
        self.seen: list[object] = []

    def open(self, path: str, flags: int) -> CallResult:
        self.seen.append((path, flags))
        return CallResult("open", -1 if self.error else 4, self.error)

    def write(self, fd: int, data: bytes) -> CallResult:
        self.seen.append((fd, data))
        return CallResult("write", -1, self.refused)

    def close(self, fd: int) -> CallResult:
        self.seen.append(fd)
        return CallResult("close", 0, 0)


def test_what_is_wrong_with_writing_a_file(tmp_path: Path) -> None:
    with context_of(tmp_path) as context:
        guest = cast(Any, context.guest)
        opened, written = ("/sys/x", os.O_WRONLY), (4, b"1")
        for files, wrong, seen in (
            (_Files(0), None, [opened, written, 4]),
            (_Files(0, errno.EIO), "EIO", [opened, written, 4]),
            (_Files(errno.ENOENT), "ENOENT", [opened]),
        ):
            guest.agent = files
            assert context.write_file("/sys/x", "1") == wrong
            assert files.seen == seen
    assert context.steps == []


def test_only_scenarios_whose_modules_the_kernel_has_are_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def graph(kernel: str, wanted: list[str]) -> None:
        assert kernel == "the kernel sid"
        if wanted == ["netiucv"]:
            raise UsageError("there is no netiucv")

    monkeypatch.setattr("zvmlab.scenarios.resolve", lambda suite: f"the kernel {suite}")
    monkeypatch.setattr("zvmlab.scenarios.module_graph", graph)
    assert list(possible(USERS, "sid")) == [name for name in USERS if name != "netiucv"]

    def none(suite: str) -> None:
        raise UsageError(f"there is no kernel {suite}")

    # Not as if it had no drivers.
    monkeypatch.setattr("zvmlab.scenarios.resolve", none)
    with pytest.raises(UsageError, match="there is no kernel nosuch"):
        possible(USERS, "nosuch")
    assert possible({}, "nosuch") == {}


def test_scenarios_are_found_by_name_and_in_files(tmp_path: Path) -> None:
    known = BUILT_IN | USERS
    assert all(name == s.name and s.text.endswith(".") for name, s in known.items())
    # Who is not about the driver says whom it is about, and how to see that it works.
    assert all((s.usable is None) == (name in BUILT_IN) for name, s in known.items())
    assert all((s.partner == "*MONITOR") == (name in BUILT_IN) for name, s in known.items())
    file = tmp_path / "own.py"
    file.write_text(SCENARIOS)
    assert find(f"{file}:twice").text == "Reads two sets."
    assert find("overflow") is BUILT_IN["overflow"]
    assert find("cmm") is USERS["cmm"]
    assert find("write-and-read-back").modules == ("monwriter",)


def test_who_asks_for_pages_stays_until_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """That a user logs off stands in the trace, where two runs are compared."""
    happened: list[str] = []

    class Manager:
        """CP, and what the guest has given so far."""

        def __init__(self, *_: object) -> None:
            happened.append("logon")

        def __enter__(self) -> Manager:
            return self

        def __exit__(self, *_: object) -> None:
            happened.append("logoff")

        def cp(self, command: str) -> None:
            happened.append(command)

    class Guest:
        def read_text(self, _: str) -> str:
            given = happened.count("given")
            happened.append("given")
            return f"{given}\n"

    monkeypatch.setattr(users, "Peer", Manager)
    context = SimpleNamespace(control=SimpleNamespace(limit=Limit), worker=Guest(), patience=60)
    assert users._shrink(cast(Any, context), 2) == "2"
    message = "SMSG LINUX001 CMM SHRINK 2"
    assert happened == ["logon", message, "given", "given", "given", "logoff"]


def test_guest_has_what_its_scenario_needs_and_what_all_have() -> None:
    made = scenario(
        *("name", "Text."),
        modules=("two",),
        segments=("DISK 9800-98FF EW",),
        cp={"class": "B"},
        cpus=2,
    )(lambda context: None)
    usual = GuestConfig(kernel="sid", modules=("one",), cp={"class": "G", "level": "x"})
    found = made.config(usual)
    assert (found.kernel, found.modules, found.cpus) == ("sid", ("one", "two"), 2)
    assert found.segments == (*usual.segments, "DISK 9800-98FF EW")
    assert found.cp == {"class": "B", "level": "x"}
    assert replace(made, modules=(), segments=(), cp={}, cpus=1).config(usual) == usual


def test_emulator_that_cannot_run_a_scenario_is_refused() -> None:
    with pytest.raises(UsageError, match="hercules cannot run scenario pfault; qemu can"):
        USERS["pfault"].config(GuestConfig(backend="hercules"))


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (SCENARIOS, "thrice", r"has no scenario 'thrice' \(it has twice\); did you mean twice\?"),
        ("x = 1", "twice", r"has no scenario 'twice' \(it has none\)"),
        ("x = (", "twice", "cannot be used: SyntaxError"),
        ("import no_such_module_here", "twice", "cannot be used: ModuleNotFoundError"),
    ],
)
def test_file_without_the_scenario(tmp_path: Path, text: str, name: str, message: str) -> None:
    file = tmp_path / "own.py"
    file.write_text(text)
    with pytest.raises(UsageError, match=message):
        find(f"{file}:{name}")
