# SPDX-License-Identifier: MIT
"""zvmlab fuzz without guests: cases, grammars, generation by seed, minimising, the loop, bad input."""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from zvmlab.agent.calls import Bad, Out
from zvmlab.agent.wire import AgentError, BadKind, Status, TooLarge
from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.base.results import ResultsFile, together
from zvmlab.base.shard import Shard
from zvmlab.base.tree import TREE
from zvmlab.builder.kernel import REPLACED
from zvmlab.cli import fuzz as command
from zvmlab.cli.main import main
from zvmlab.fuzz import campaign as campaign_module
from zvmlab.fuzz import runner as runner_module
from zvmlab.fuzz.campaign import REFUSED, Campaign, Plan, compare, confirm, fuzz, lines, shows
from zvmlab.fuzz.case import Case, from_json, load, save
from zvmlab.fuzz.emit import emit
from zvmlab.fuzz.finding import Finding, Known, load_known, of_report, reason
from zvmlab.fuzz.grammar import Target, find, names
from zvmlab.fuzz.grammar import load as load_target
from zvmlab.fuzz.merged import merged
from zvmlab.fuzz.merged import write as write_results
from zvmlab.fuzz.minimise import minimise
from zvmlab.fuzz.mutate import make
from zvmlab.fuzz.runner import Ran, Runner, Unprepared, judge_data, judge_sets, of_text
from zvmlab.guest.config import Artifacts
from zvmlab.museum import edited as edited_module
from zvmlab.museum.bugs import Bug
from zvmlab.scenarios import find as find_scenario
from zvmlab.scenarios.context import Scenario
from zvmlab.monitor.monitor import CapturedSet
from zvmlab.scenarios.player import Played, Player, Silent
from zvmlab.scenarios.steps import argument, bytes_of, check_steps, stream_bytes
from zvmlab.verdict.sides import Side

QUIET = Progress(quiet=True)
SOCKET: dict[str, Any] = {"do": "call", "call": "socket", "args": [32, 1, 0], "as": "s1"}
RECEIVE: dict[str, Any] = {
    "do": "call",
    "call": "recvfrom",
    "args": ["s1", {"out": 100}, 100, 0x40, 0, 0],
}


def send(data: dict[str, Any], path: int = 0, **more: Any) -> dict[str, Any]:
    """A peer sends."""
    arguments = {"peer": "TESTER", "function": "send", "path": path, "data": data, **more}
    return {"do": "request", "execute": "peer-call", "arguments": arguments}


def write_target(folder: Path, text: str) -> Path:
    """A grammar of the test's own."""
    file = folder / "toy.toml"
    file.write_text(text, encoding="utf-8")
    return file


TOY = """
text = "a toy"
cover = ["toy"]
[values]
name = ["s1", "s2"]
size = { from = 3, to = 9 }
[[phrase]]
once = ["name"]
steps = [
    { do = "call", call = "socket", args = [32, 1, 0], as = "$name" },
    { do = "call", call = "read", args = ["$name", { out = "$size" }, 9] },
]
[[phrase]]
weight = 3
steps = [{ do = "signal", thread = "b" }]
"""


# Steps and cases.


@pytest.mark.parametrize(
    "step, said",
    [
        ({"do": "jump"}, "does none of call, poll"),
        ({"do": "call", "call": "sokcet", "args": []}, "did you mean socket"),
        ({"do": "call", "call": "socket"}, "call needs 'args'"),
        ({"do": "call", "call": "socket", "args": [1] * 7}, "up to six arguments"),
        ({"do": "call", "call": "socket", "args": [{"out": -1}]}, "-1 is not a number"),
        ({"do": "call", "call": "socket", "args": [{"hex": "0g"}]}, "is not hexadecimal"),
        ({"do": "call", "call": "socket", "args": [True]}, "true is not a number"),
        ({"do": "call", "call": "socket", "args": [], "thread": "d"}, 'no thread "d"'),
        ({"do": "cpu", "cpu": 1, "online": False}, "no CPU 1; the guest has CPUs 0 to 0"),
        ({"do": "hold", "function": "f"}, "cannot be held in a guest that has one"),
        ({"do": "write", "path": "/dev/../etc", "text": 1}, "1 is no text"),
        ({"do": "write", "path": "/init", "text": ""}, "file that a step may write"),
        ({"do": "request", "execute": "state-save", "arguments": {"file": "/x"}}, "no request"),
        ({"do": "request", "execute": "monitor-capture", "arguments": {}}, "no request"),
        (
            {"do": "request", "execute": "fault-arm",
             "arguments": {"point": "iucv.send", "kind": "drop"}},
            "needs one of name, path",
        ),
        ({"do": "load", "module": "../x"}, '"../x" is no module'),
        ({"do": "reads", "fd": {"out": 8}, "size": 8}, '{"out": 8} is no file'),
        ({"do": "poll", "fd": {"hex": "00"}, "events": 1}, '{"hex": "00"} is no file'),
        ({"do": "release", "nth": 1}, "release has no 'nth'"),
    ],
)  # fmt: skip
def test_wrong_steps_are_named(step: dict[str, Any], said: str) -> None:
    """One sentence, with the place."""
    with pytest.raises(UsageError) as failed:
        check_steps("the case x", [SOCKET, step], 1)
    assert said in str(failed.value)
    assert str(failed.value).startswith("the case x, step 2: ")


def test_arguments_are_what_the_agent_takes() -> None:
    """Numbers, names, and buffers of each kind."""
    assert argument("", 7) == 7
    assert argument("", "s1") == "s1"
    assert argument("", {"out": 9}) == Out(9)
    assert argument("", {"bad": ["partial", 64, 5]}) == Bad(BadKind.PARTIAL, 64, 5)
    assert argument("", {"text": "/dev/x"}) == b"/dev/x\0"
    # include/net/iucv/af_iucv.h: family, port, address, node, user, name.
    address = bytes.fromhex("0020 0000 00000000") + b"        TESTER  SERVER  "
    assert argument("", {"address": ["TESTER", "SERVER"]}) == address
    assert bytes_of("", {"names": ["A", "B"]}) == bytes.fromhex(
        "c1 40404040404040 c2 40404040404040"
    )


def test_data_tell_their_place() -> None:
    """A part of one stream is at one place of it, and in no other stream."""
    first, second = stream_bytes(1, 100), stream_bytes(2, 100)
    assert len(first) == 100
    assert first.find(first[40:60]) == 40
    assert first[40:60] not in second


def test_a_case_is_the_same_from_its_file(tmp_path: Path) -> None:
    """Also its name, which changes with it."""
    case = Case("af_iucv", (SOCKET, RECEIVE), ({"do": "load", "module": "af_iucv"},), 2, 7)
    save(case, tmp_path / "case.json")
    again = load(tmp_path / "case.json")
    assert again == case and again.name == case.name
    assert case.with_steps([SOCKET]).name != case.name


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda data: data.update(version=2), "is a case of version 2; this zvmlab has 1"),
        (lambda data: data.pop("steps"), "is damaged: it has no 'steps'"),
        (lambda data: data.update(more=1), 'is damaged: a case has no "more"'),
        (lambda data: data["machine"].update(cpus=0), "0 is no number of CPUs from 1 to 64"),
        (lambda data: data.update(machine=[]), "is damaged: a machine has cpus and schedule"),
        (lambda data: data["machine"].update(schedule=-1), "-1 is no schedule"),
        (lambda data: data.update(target=3), "3 is no target"),
        (lambda data: data.update(steps=[{"do": "cpu", "cpu": 5, "online": True}]), "no CPU 5"),
        (lambda data: data.update(mark={}), "up to 500 steps"),
    ],
)
def test_damaged_cases_are_refused(change: Callable[[dict[str, Any]], object], said: str) -> None:
    """What is wrong, in one sentence."""
    data = Case("af_iucv", (SOCKET,)).to_json()
    change(data)
    with pytest.raises(UsageError) as failed:
        from_json("the case x", data)
    assert said in str(failed.value)


@pytest.mark.parametrize(
    "text, said",
    [
        ("{", "is not JSON"),
        ("[1]", "is no case of zvmlab fuzz"),
        ('{"version": 1, "version": 1}', "appears twice"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
@pytest.mark.parametrize("option", ["--replay", "--minimise"])
def test_files_that_are_no_cases_end_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, text: str, said: str
) -> None:
    """No traceback, no guest."""
    file = tmp_path / "case.json"
    file.write_text(text, encoding="utf-8")
    assert main(["fuzz", option, str(file)]) == 2
    printed = capsys.readouterr().err
    assert said in printed and "Traceback" not in printed


def test_words_of_the_command_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each with one sentence."""
    monkeypatch.chdir(tmp_path)
    case = tmp_path / "case.json"
    save(Case("no_such_target", (SOCKET,)), case)
    wrong: list[tuple[list[str], str]] = [
        (["af_iucvv"], "did you mean af_iucv"),
        ([], "name a target"),
        (["--replay", str(case)], "no target 'no_such_target'"),
        (["af_iucv", "--replay", str(case)], "leave out TARGET"),
        (["--replay", str(tmp_path / "none.json")], "cannot be read: No such file"),
        (["af_iucv", "--jobs", "0", "--seed", "1"], "invalid number of jobs: 0"),
        (["af_iucv", "--shard", "1/2"], "--shard needs --seed"),
        (["af_iucv", "-n", "0"], "-n takes 1 to"),
        (["af_iucv", "--corpus", "/proc"], "/proc cannot be written to"),
    ]
    for words, said in wrong:
        assert main(["fuzz", *words]) == 2, words
        assert said in capsys.readouterr().err


# Grammars.


@pytest.mark.parametrize("name", names())
def test_grammars_make_cases_that_are_some(name: str) -> None:
    """Whatever is drawn or changed is a case again."""
    target = find(name)
    corpus: list[Case] = []
    used = set()
    for number in range(300):
        case = make(target, corpus, f"1 {number}")
        assert from_json("", json.loads(json.dumps(case.to_json()))) == case
        used |= {step["do"] for step in case.steps}
        if number % 3 == 0:
            corpus.append(case)
    assert "request" in used and len(used) > 1


@pytest.mark.parametrize(
    "old, new, said",
    [
        ('text = "a toy"', "", "has no 'text'"),
        ("weight = 3", "weight = -3", "phrase 2: its weight is no number"),
        ("steps = [{", "step = [{", "phrase 2: a phrase has steps"),
        ('"$size"', '"$seize"', "did you mean size"),
        ("{ from = 3, to = 9 }", "{ from = 3, till = 9 }", "neither a list nor from and to"),
        ('["s1", "s2"]', '["$name"]', "lead in a circle"),
        ('cover = ["toy"]', "cover = [7]", "'cover' has something that is no text"),
        ('text = "a toy"', 'text = "a toy"\ncpus = 65', "a guest has 1 to 64 CPUs, not 65"),
        ('text = "a toy"', 'text = "a toy"\nasks = [1]', "'asks' has something that is no step"),
        ('text = "a toy"', 'text = "a toy"\nasks = [{ do = "jump" }]', "asks, step 1"),
        (
            'text = "a toy"',
            'text = "a toy"\nnetworks = ["A"]',
            "something that is no list of users",
        ),
        ('text = "a toy"', 'text = "a toy"\nkeeps = [1]', "'keeps' has something that is no text"),
        ('text = "a toy"', 'text = "a toy"\nservices = { a = 1 }', "'services' has something"),
        ('text = "a toy"', 'text = "a toy"\nspeed = 1', "unknown 'speed'"),
        ('thread = "b"', 'thread = "z"', 'phrase 2, step 1: there is no thread "z"'),
        ("[[phrase]]", "[[phrase", "is not TOML"),
    ],
)
def test_wrong_grammars_are_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    """The file and the place."""
    assert old in TOY
    file = write_target(tmp_path, TOY.replace(old, new, 1))
    with pytest.raises(UsageError) as failed:
        load_target(file)
        find("toy", tmp_path)
        for number in range(50):
            make(load_target(file), [], str(number))
    assert said in str(failed.value)


def test_values_of_once_are_the_same_in_a_phrase(tmp_path: Path) -> None:
    """The socket that is read from is the one that was made."""
    target = load_target(write_target(tmp_path, TOY))
    pairs = set()
    for number in range(60):
        steps = make(target, [], str(number)).steps
        for first, second in zip(steps, steps[1:]):
            if first["do"] == "call" and first["call"] == "socket":
                assert second["args"][0] == first["as"]
                pairs.add(first["as"])
    assert pairs == {"s1", "s2"}


def test_a_case_ends_with_what_is_asked_of_each_result(tmp_path: Path) -> None:
    """By the thread that has made it; what a changed case was asked before is not asked twice."""
    asks = 'asks = [{ do = "call", call = "fsync", args = ["$each"] }]\n\n[values]'
    target = load_target(write_target(tmp_path, TOY.replace("[values]", asks, 1)))
    corpus = [make(target, [], str(number)) for number in range(20)]
    for case in corpus + [make(target, corpus, f"2 {number}") for number in range(60)]:
        plain = [step for step in case.steps if step.get("call") != "fsync"]
        threads = {step["as"]: step.get("thread", "a") for step in plain if "as" in step}
        asked = case.steps[len(plain) :]
        assert {step["args"][0]: step["thread"] for step in asked} == threads
        assert len(asked) == len(threads)


def test_the_seed_decides() -> None:
    """The same seed and corpus: the same case; another seed: another one."""
    target = find("af_iucv")
    corpus = [make(target, [], str(number)) for number in range(5)]
    cases = [make(target, corpus, f"9 {number}") for number in range(40)]
    assert cases == [make(target, corpus, f"9 {number}") for number in range(40)]
    assert len({case.name for case in cases}) > 35
    assert cases != [make(target, corpus, f"10 {number}") for number in range(40)]


# Minimising, with a fake guest.


def test_a_case_becomes_as_small_as_it_can() -> None:
    """Two steps of thirty matter, and one value of one of them."""
    target = find("af_iucv")
    rng = random.Random(3)
    noise = [step for number in range(20) for step in make(target, [], str(number)).steps][:40]
    steps = list(noise)
    steps.insert(rng.randrange(10), {**SOCKET, "thread": "c"})
    steps.append({**RECEIVE, "args": ["s1", {"out": 4711}, 4711, 0x42, 0, 0]})

    def shows_it(case: Case) -> bool:
        made = [one for one in case.steps if one["do"] == "call" and one.get("as") == "s1"]
        read = [
            one
            for one in case.steps
            if one["do"] == "call" and one["call"] == "recvfrom" and one["args"][3] & 2
            and one["args"][0] == "s1"
        ]  # fmt: skip
        return bool(made and read)

    small, tries = minimise(Case("af_iucv", tuple(steps)), shows_it, 1000)
    assert len(small.steps) == 2 and shows_it(small)
    assert all("thread" not in step for step in small.steps)
    assert small.steps[1]["args"][2] == 0
    assert tries <= 1000


def test_minimising_has_an_end() -> None:
    """After so many candidates, whatever is left."""
    case = Case("af_iucv", tuple([SOCKET] * 30))
    asked: list[Case] = []

    def never(candidate: Case) -> bool:
        asked.append(candidate)
        return False

    assert minimise(case, never, 17) == (case, 17)
    assert len(asked) == 17


# Judges and findings.


def played(*steps: tuple[dict[str, Any], bytes | int]) -> list[Played]:
    """Steps, with what a program received, or the condition code of a request."""
    found = []
    for number, (step, gave) in enumerate(steps):
        if isinstance(gave, int):
            found.append(Played(number, step, answer={"cc": gave, "pgm": 0}))
        else:
            found.append(Played(number, step, len(gave), 0, gave))
    return found


def test_received_data_are_a_part_of_what_was_sent() -> None:
    """In order; what lies between may be lost."""
    data = stream_bytes(5, 60)
    case = Case("af_iucv", ())
    sent = (SOCKET, b""), (send({"data": [5, 60]}), 0)
    right = played(*sent, (RECEIVE, data[:20]), (RECEIVE, data[30:50]))
    assert judge_data(case, right) == []
    for wrong in (
        played(*sent, (RECEIVE, data[30:50]), (RECEIVE, data[:20])),
        played(*sent, (RECEIVE, data[:20]), (RECEIVE, data[:20])),
        played(*sent, (RECEIVE, data[:20] + b"x")),
        played(sent[0], (send({"data": [5, 60]}), 1), (RECEIVE, data[:20])),
    ):
        (found,) = judge_data(case, wrong)
        assert found.kind == "data" and found.where == "recvfrom"
    peek = {**RECEIVE, "args": ["s1", {"out": 100}, 100, 0x42, 0, 0]}
    assert judge_data(case, played(*sent, (peek, data[:20]), (RECEIVE, data[:20]))) == []
    short = {**RECEIVE, "args": ["s1", {"both": "aa" * 9}, 5, 0x20, 0, 0]}
    truncated = Played(2, short, 60, 0, data[:5] + b"\xaa" * 4)
    assert judge_data(case, [*played(*sent), truncated]) == []


def test_set_may_be_longer_than_the_reads_of_a_step() -> None:
    """It goes on in the next ones of the file, until another one is opened."""
    stored = [CapturedSet(1, "sample", 1, b"abcdefgh")]
    case = Case("monreader", ())
    opened: dict[str, Any] = {"do": "call", "call": "openat", "args": [], "as": "f1"}
    reads = {"do": "reads", "fd": "f1", "size": 1}

    def found(*gave: tuple[dict[str, Any], bytes, bool]) -> list[str]:
        given = [Played(0, step, len(data), 0, data, complete=end) for step, data, end in gave]
        return [one.key for one in judge_sets(case, given, stored)]

    begun = (reads, b"abc", False)
    assert found(begun, (reads, b"de", False), (reads, b"fgh", True)) == []
    assert found(begun, (reads, b"xx", True)) == ["data in passed off"]
    assert found(begun, (reads, b"", True)) == ["data in passed off"]
    assert found(begun, (opened, b"", False), (reads, b"abcdefgh", True)) == []
    assert found(begun, ({**reads, "fd": "f2"}, b"abcdefgh", True)) == []


def test_data_of_the_guests_own_programs_count() -> None:
    """Of one socket joined; of several threads, and of storage that nobody knows, no order."""
    data = stream_bytes(5, 60)
    case = Case("hiper", ())
    args: list[Any] = ["s2", {"data": [5, 60]}, 60, 0, 0, 0]
    step: dict[str, Any] = {"do": "call", "call": "sendto", "args": args}
    parts = {"message": {"parts": [{"data": [5, 10]}, {"data": [6, 10]}]}}
    both = {"do": "call", "call": "sendmsg", "args": ["s2", parts, 0]}
    short, whole = (Played(1, step, length, 0) for length in (20, 60))
    first = Played(0, SOCKET, 3, 0)

    def keys(receives: bytes, *sent: Played) -> list[str]:
        receive = Played(9, RECEIVE, len(receives), 0, receives)
        return [one.key for one in judge_data(case, [first, *sent, receive])]

    assert keys(data, whole) == keys(data[:20], short) == []
    assert keys(data[:30], short) == keys(data, Played(1, step, -1, 32)) == ["data in recvfrom"]
    assert keys(data[:20] * 2, short, short) == []
    message = stream_bytes(5, 10) + stream_bytes(6, 10)
    assert keys(message, Played(1, both, 20, 0)) == []
    assert keys(data, Played(1, {**step, "thread": "b"}, 60, 0), short) == []
    unknown = {**step, "args": ["s2", {"bad": ["readonly", 60, 0]}, 60, 0, 0, 0]}
    assert keys(data, Played(1, unknown, 60, 0)) == []
    assert keys(data, Played(1, unknown, -1, 14)) == ["data in recvfrom"]


def test_data_of_parameter_lists_count() -> None:
    """X'FA' in the last byte: five bytes; an impossible length: none."""
    hello = {"hex": "68656c6c6f0000fa"}
    step = send({"hex": ""}, rmmsg=hello, flags=0x90)
    case = Case("af_iucv", ())
    assert judge_data(case, played((SOCKET, b""), (step, 0), (RECEIVE, b"hello"))) == []
    impossible = send({"hex": ""}, rmmsg={"hex": "6162636465666780"}, flags=0x90)
    (found,) = judge_data(case, played((SOCKET, b""), (impossible, 0), (RECEIVE, b"abcdefg\x80")))
    assert "8 bytes that no partner has sent" in found.text


OOPS = """\
[   10.000000] monreader: quite normal
[   12.000000] Unable to handle kernel pointer dereference in virtual kernel address space
[   12.000001] Failing address: 00000000dead4000 TEID: 00000000dead4803
[   12.000002] Oops: 0010 ilc:2 [#1] SMP
[   12.000003] Krnl PSW : 0704c00180000000 000003ff800ab123 (mon_read+0x12/0x200 [monreader])
[   12.000004] Call Trace:
[   12.000005]  [<000003ff800ab123>] mon_read+0x12/0x200 [monreader]
[   12.000006]  [<0000000000ab1234>] vfs_read+0x9a/0x300
[   12.000007]  [<0000000000ab1235>] ksys_read+0x60/0xe0
[   12.000008]  [<0000000000ab1236>] __do_syscall+0x1d0/0x200
"""


def test_findings_are_told_apart_by_their_innermost_functions() -> None:
    """The first bad line counts, and what is normal does not."""
    found = of_text(OOPS)
    assert found is not None
    assert found.kind == "oops"
    assert found.where == "mon_read < vfs_read < ksys_read"
    assert found.text.startswith("Unable to handle kernel pointer dereference")
    assert "quite normal" not in found.report
    again = of_text(OOPS.replace("12.0", "99.0").replace("dead4", "beef4"))
    assert again is not None and again.key == found.key and again.name == found.name
    assert of_text("[   10.000000] monreader: quite normal") is None


def test_a_guest_that_waits_for_a_held_cpu_is_not_silent() -> None:
    """The hold ends, as what the kernel asks all CPUs to do needs that one."""
    holds: list[str] = ["held"]
    hold = SimpleNamespace(release=holds.clear)
    pending = SimpleNamespace(
        done_within=lambda _seconds: not holds, result=lambda _seconds: "said"
    )
    guest = SimpleNamespace(
        agent=SimpleNamespace(worker=lambda name: name),
        machine=SimpleNamespace(crash=lambda: None),
        check=lambda: None,
        emulator=SimpleNamespace(limit=lambda _seconds: SimpleNamespace(over=True)),
    )
    player = Player(cast(Any, guest))
    with pytest.raises(Silent):
        player._answer(cast(Any, pending))
    player._holds.append(cast(Any, hold))
    assert player._answer(cast(Any, pending)) == "said"


def test_a_guest_that_is_silent_may_have_said_why(tmp_path: Path) -> None:
    """If a thread of the agent's has met the bug, the console has it, and nobody else tells."""
    console = tmp_path / "console"
    console.write_text("[ 1.0] WARNING: of an earlier case\n[ 1.0] Call Trace:\n")
    before = console.stat().st_size
    runner = Runner(find("af_iucv"), "bookworm", tmp_path / "guests")
    machine = SimpleNamespace(registers=lambda: "PSW=1\nR00=2\nR01=3")
    channels = SimpleNamespace(console_log=console)
    runner._guest = cast(Any, SimpleNamespace(channels=channels, machine=machine))
    silence = Silent("the agent does not answer")
    found = runner._of_silence(before, silence)
    assert (found.key, found.text, found.report) == ("silent", str(silence), "PSW=1\nR00=2")
    with open(console, "a", encoding="utf-8") as said:
        said.write("[ 2.0] kernel BUG at include/linux/skbuff.h:1!\n[ 2.0] Call Trace:\n")
        said.write("[ 2.0]  [<00000000000000aa>] skb_pull+0x3e/0x40 \n")
    assert runner._of_silence(before, silence).key == "bug in skb_pull"


def test_some_faults_let_cp_say_what_is_not_so() -> None:
    """Success of what was not done; what CP refuses with a code of its own is no lie."""
    for kind, value, lies in (
        ("cc", 0, True), ("cc", 1, True), ("cc", 2, False), ("cc", 3, False),
        ("rc", 0, True), ("rc", 1, False), ("drop", 0, True), ("limit", 7, False),
    ):  # fmt: skip
        assert runner_module._lies({"kind": kind, "value": value}) is lies


def test_a_file_in_the_place_of_a_device_is_the_cases_mistake() -> None:
    """Made while the module is gone; what is opened before, elsewhere, or not made is none."""

    def opens(path: str, flags: int) -> Played:
        args = [-100, {"text": path}, flags, 0]
        return Played(0, {"do": "call", "call": "openat", "args": args}, 3)

    gone = Played(0, {"do": "unload", "module": "diag288_wdt"}, 0)
    stays = Played(0, gone.step, -1, errno.EAGAIN)
    made = opens("/dev/watchdog", os.O_CREAT)
    for steps, wanted in (
        ((gone, made), True), ((made, gone), False), ((stays, made), False), ((made,), False),
        ((gone, opens("/dev/watchdog", 1)), False), ((gone, opens("/tmp/file", 0x40)), False),
        ((gone, replace(made, ret=-1, error=errno.EACCES)), False),
    ):  # fmt: skip
        assert runner_module._takes_a_devices_place(steps) is wanted


def test_known_defects_have_their_number() -> None:
    """By the table of the targets, or as sweeps know them, with the fault of the case."""
    oops = of_report("oops", "Unable to handle kernel pointer dereference", OOPS)
    known = [Known("mon*", "oops", r"mon_read\b.*", "pointer", "monreader, defect 2")]
    assert reason(Case("monreader", ()), oops, known, "upstream") == "monreader, defect 2"
    assert reason(Case("iucv", ()), oops, known, "upstream") is None
    ours = [Known("mon*", "oops", ".*", "", "7", "upstream")]
    assert reason(Case("monreader", ()), oops, ours, "zvmlab") is None
    assert reason(Case("monreader", ()), Finding("bug", oops.where, "x"), known, "upstream") is None
    rule = {"point": "iucv.send", "kind": "pgm", "value": 1, "name": "TESTER", "n": 2}
    case = Case("af_iucv", ({"do": "request", "execute": "fault-arm", "arguments": rule},))
    trace = "[<0000000000ab1234>] __iucv_message_send+0x9a/0x300"
    died = of_report("oops", "illegal operation: 0001 ilc:2 [#1]", trace)
    assert "B2F0 has no exception-table entry" in str(reason(case, died, [], "upstream"))
    assert reason(Case("af_iucv", ()), died, [], "upstream") is None


def test_known_defects_may_need_a_step_and_that_none_is_there() -> None:
    """Two defects that show the same are told apart by what the case does."""
    hangs = Finding("hangs", "read", "it sleeps")
    sever: dict[str, Any] = {"do": "request", "execute": "recording-sever", "arguments": {}}
    rule = {"point": "recording.message", "kind": "duplicate"}
    fault: dict[str, Any] = {"do": "request", "execute": "fault-arm", "arguments": rule}
    known = [
        Known("*", "hangs", "read", "", "5", needs="recording-sever", without="kind=duplicate"),
        Known("*", "hangs", "read", "", "6", needs="kind=duplicate", without="sever"),
    ]
    for steps, wanted in (((sever,), "5"), ((fault,), "6"), ((sever, fault), None), ((), None)):
        assert reason(Case("vmlogrdr", steps), hangs, known, "upstream") == wanted


def of_peer(function: str) -> dict[str, Any]:
    """A call of TESTER's."""
    arguments = {"peer": "TESTER", "function": function}
    return {"do": "request", "execute": "peer-call", "arguments": arguments}


SEVERED: dict[str, Any] = {"do": "request", "execute": "recording-sever", "arguments": {}}
WAITS_FOR_A_PAGE = Finding("hang", "__schedule < schedule < irqentry_exit", "it is blocked")
USED_AFTER_FREE = Finding(
    "bug", "__iucv_message_receive < iucv_message_receive < vmlogrdr_read", "BUG: KASAN: …"
)
OPENED: dict[str, Any] = {
    "do": "call",
    "call": "openat",
    "args": [-100, {"text": "/dev/dcssblk0"}, 0, 0],
}


@pytest.mark.parametrize(
    "target, steps, finding, wanted",
    [
        ("netiucv", [of_peer("connect")], Finding("stray", "iucv.sever", ""), "kernel.md, 16:"),
        ("netiucv", [of_peer("connect")], Finding("stray", "iucv.receive", ""), "kernel.md, 16:"),
        ("netiucv", [of_peer("sever")], Finding("stray", "iucv.sever", ""), "kernel.md, 19:"),
        (
            "netiucv",
            [of_peer("sever"), of_peer("connect")],
            Finding("stray", "iucv.sever", ""),
            "kernel.md, 16 or 19:",
        ),
        ("netiucv", [], Finding("stray", "iucv.sever", ""), "None"),
        ("vmlogrdr", [SEVERED], Finding("stray", "iucv.receive", ""), "vmlogrdr.md, 5:"),
        ("vmlogrdr", [], Finding("stray", "iucv.receive", ""), "None"),
        ("vmlogrdr", [SEVERED], USED_AFTER_FREE, "vmlogrdr.md, 3:"),
        (
            "dcssblk",
            [OPENED],
            Finding("unusable", "step 4 of 8", "write …/add DISK gives errno 17"),
            "dcssblk.md, 10:",
        ),
        ("hiper", [], Finding("warning", "iucv_sock_recvmsg < sock_recvmsg", ""), "kernel.md, 53:"),
        ("hiper", [{"do": "out", "thread": "a"}], WAITS_FOR_A_PAGE, "no defect: CP does not bring"),
        ("hiper", [], WAITS_FOR_A_PAGE, "None"),
    ],
)
def test_what_campaigns_have_found_has_its_number(
    target: str, steps: list[dict[str, Any]], finding: Finding, wanted: str
) -> None:
    """By what the case does; without that, it is new."""
    assert wanted in str(reason(Case(target, tuple(steps)), finding, load_known(), "upstream"))


def test_the_table_of_known_defects_is_checked(tmp_path: Path) -> None:
    """The clone's own is right; each mistake is named."""
    assert all(isinstance(one, Known) for one in load_known())
    for text, said in (
        ('[[known]]\ntarget = "x"\nkind = "oops"\n', "entry 1: it has target, kind and defect"),
        ('[[known]]\ntarget="x"\nkind="y"\ndefect="z"\nwhere="("\n', "'where' is no regular"),
        ('[[known]]\ntarget="x"\nkind="y"\ndefect="z"\nneeds="["\n', "'needs' is no regular"),
        ("a = 1\n", "something besides [[known]]"),
        ("[[known", "is not TOML"),
    ):
        file = tmp_path / "known.toml"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError) as failed:
            load_known(file)
        assert said in str(failed.value)


# The loop, with a fake guest.

CASES = 1000
"""So many that the mistake is met by any grammar and seed."""


class FakeRunner:
    """Reaches a place for each kind of step, and has a mistake: a signal after a bind."""

    def __init__(self) -> None:
        self.booted = 1
        self.driver = "upstream"
        self.ran: list[Case] = []
        self.kept: list[Case] = []

    def run(self, case: Case) -> Ran:
        """Each word of the steps is a place."""
        self.ran.append(case)
        words = [step.get("call", step["do"]) for step in case.steps]
        ran = Ran(reached=[(0, sum(map(ord, word))) for word in words])
        if "bind" in words and "signal" in words[words.index("bind") :]:
            ran.findings.append(Finding("oops", "iucv_sock_bind", "a mistake"))
        return ran

    def where(self, address: int) -> str:
        """No names."""
        return f"place {address}" if address else ""

    def cpu_seconds(self) -> float:
        """So much for each case."""
        return len(self.ran) / 100

    def keep_counts(self, case: Case) -> None:
        """Of the case that ran last."""
        assert case is self.ran[-1]
        self.kept.append(case)

    def kill(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def plan(folder: Path, **more: Any) -> Plan:
    """So many cases of af_iucv, in one job."""
    fields: dict[str, Any] = {"seconds": 600.0, "seed": 4, "jobs": 1, "cases": CASES, **more}
    made = Plan(find("af_iucv"), folder / "out", folder / "corpus", **fields)
    made.begin()
    return made


def test_a_run_finds_keeps_and_makes_small(tmp_path: Path) -> None:
    """What reaches something new is in the corpus; the finding has two steps in the end."""
    runner = FakeRunner()
    done = fuzz(plan(tmp_path), [runner], [], QUIET)
    assert done.cases == CASES
    assert len(list((tmp_path / "corpus").iterdir())) == len(done.corpus) > 3
    assert runner.kept == done.corpus
    (found,) = done.found.values()
    assert found.defect is None and found.times >= 1
    small = load(done.plan.place_of(found))
    assert [step.get("call", step["do"]) for step in small.steps] == ["bind", "signal"]
    assert "oops in iucv_sock_bind" in done.plan.place_of(found).with_name("report.txt").read_text()
    noted = json.loads((tmp_path / "out" / "run.json").read_text())
    assert noted["cases"] == CASES and noted["findings"][0]["key"] == "oops in iucv_sock_bind"


def test_two_known_defects_that_show_the_same_are_two_findings(tmp_path: Path) -> None:
    """Each with its number; what is of the same number is counted."""
    known = [
        Known("*", "oops", ".*", "", "page, 5: by a thread", needs="^[bc]: bind"),
        Known("*", "oops", ".*", "", "page, 6: by another", needs="^a: bind"),
    ]
    done = fuzz(plan(tmp_path), [FakeRunner()], known, QUIET)
    assert {one.defect for one in done.found.values()} == {one.defect for one in known}
    assert len(done.found) == 2 and done.new == []
    first, second = done.found
    assert first == "oops in iucv_sock_bind"
    assert second in (f"{first} (page, 5)", f"{first} (page, 6)")
    for one in done.found.values():
        assert (tmp_path / "out" / "findings" / one.finding.name / "case.json").exists()


def test_the_same_seed_runs_the_same_cases(tmp_path: Path) -> None:
    """In one job, from the same corpus; the shards of a run share its numbers."""
    runs = []
    for name in ("one", "two"):
        runner = FakeRunner()
        fuzz(plan(tmp_path / name), [runner], [Known("*", "oops", ".*", "", "7")], QUIET)
        runs.append(runner.ran)
    assert runs[0] == runs[1]
    first, second = FakeRunner(), FakeRunner()
    for number, runner in enumerate((first, second), 1):
        shard = Shard(number, 2)
        place = tmp_path / f"shard {number}"
        fuzz(plan(place, shard=shard, cases=1), [runner], [], QUIET)
    target = find("af_iucv")
    assert [first.ran[0], second.ran[0]] == [make(target, [], "4 0"), make(target, [], "4 1")]


def test_a_corpus_is_run_first_and_checked(tmp_path: Path) -> None:
    """A case of another target, or a damaged one, is named before anything runs."""
    seeds = [make(find("af_iucv"), [], f"seed {number}") for number in range(3)]
    (tmp_path / "corpus").mkdir()
    for case in seeds:
        save(case, tmp_path / "corpus" / f"{case.name}.json")
    runner = FakeRunner()
    fuzz(plan(tmp_path, cases=1), [runner], [], QUIET)
    assert {case.name for case in runner.ran[:3]} == {case.name for case in seeds}
    save(Case("other", (SOCKET,)), tmp_path / "corpus" / "other.json")
    with pytest.raises(UsageError, match="other.json is of the target 'other', not af_iucv"):
        fuzz(plan(tmp_path), [FakeRunner()], [], QUIET)
    (tmp_path / "corpus" / "other.json").write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match="other.json is not JSON"):
        fuzz(plan(tmp_path), [FakeRunner()], [], QUIET)


def test_a_case_that_the_agent_refuses_is_counted_and_the_run_goes_on(tmp_path: Path) -> None:
    """It is in no corpus; the first one is kept, and the next run and shards that are merged add up."""
    why = "the agent refused BATCH: an operation is malformed"

    class Refusing(FakeRunner):
        def run(self, case: Case) -> Ran:
            ran = super().run(case)
            return Ran(refused=why) if (0, sum(map(ord, "listen"))) in ran.reached else ran

    done = fuzz(plan(tmp_path), [Refusing()], [], QUIET)
    refused = load(tmp_path / "out" / REFUSED)
    assert done.cases == CASES and 0 < done.refused < CASES and refused not in done.corpus
    assert "listen" in {step.get("call") for step in refused.steps}
    assert not any(step.get("call") == "listen" for case in done.corpus for step in case.steps)
    said = list(lines(done))
    assert said[0].endswith(f", refused {done.refused}")
    assert said[1:3] == [f"{done.refused} × refused: {why}", f"  {tmp_path / 'out' / REFUSED}"]
    again = fuzz(plan(tmp_path, cases=1, seed=5), [FakeRunner()], [], QUIET)
    assert (again.refused, again.refusal) == (done.refused, why)
    write_results(done, "6.12", "upstream")
    shard = ResultsFile(tmp_path / "out" / "results.jsonl").read()
    assert shard is not None
    whole = merged(together([shard]), tmp_path / "whole")
    assert (whole.refused, whole.refusal) == (done.refused, why)


@pytest.mark.parametrize(
    "error, said",
    [
        (
            AgentError(Status.MALFORMED, "an operation is malformed", "BATCH"),
            "refused BATCH: an op",
        ),
        (TooLarge("a request of 17000000 bytes to the agent exceeds 16777216"), "17000000 bytes"),
    ],
    ids=["refused", "too large"],
)
@pytest.mark.parametrize("console", ["", OOPS], ids=["silent", "oops"])
def test_what_the_agent_refuses_is_no_finding_but_what_the_kernel_says_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str, console: str
) -> None:
    """A case may have met a bug before that."""
    log = tmp_path / "console"
    log.touch()

    class RefusedPlayer:
        played: list[Played] = []

        def __init__(self, *_args: Any, **_more: Any) -> None:
            """Of no guest."""

        def play(self, _steps: Any) -> None:
            """The agent refuses."""
            log.write_text(console)
            raise error

    monkeypatch.setattr(runner_module, "Player", RefusedPlayer)
    runner = Runner(find("af_iucv"), "bookworm", tmp_path / "guests")
    case = Case("af_iucv", (SOCKET,))
    runner._for = (case.cpus, False, case.mark)
    emulator = SimpleNamespace(log=tmp_path / "none", alive=False)
    channels = SimpleNamespace(console_log=log)
    control = SimpleNamespace(forget_events=lambda *_args, **_more: None)
    guest = SimpleNamespace(
        put_back=lambda: None, emulator=emulator, channels=channels, control=control
    )
    runner._guest = cast(Any, guest)
    ran = runner.run(case)
    assert said in ran.refused
    assert [one.kind for one in ran.findings] == (["oops"] if console else [])


def test_a_second_kernel_judges_what_was_kept(tmp_path: Path) -> None:
    """What it alone shows is a finding, too."""
    done = fuzz(plan(tmp_path, cases=20), [FakeRunner()], [], QUIET)

    class Judge(FakeRunner):
        """Sees something in each case that listens."""

        def run(self, case: Case) -> Ran:
            words = [step.get("call") for step in case.steps]
            return Ran([Finding("bug", "iucv_sock_listen", "x")] if "listen" in words else [])

    assert any("listen" in [s.get("call") for s in case.steps] for case in done.corpus)
    confirm(done, Judge(), [], QUIET)
    found = done.found["bug in iucv_sock_listen"]
    assert found.notes == ["on the second kernel only"]
    assert load(done.plan.place_of(found)) == found.case


def test_what_the_kernel_shows_without_a_bug_is_not_new(tmp_path: Path) -> None:
    """Only what the bug has brought is its."""

    class Right(FakeRunner):
        """Has no mistake."""

        def run(self, case: Case) -> Ran:
            return Ran()

    done = fuzz(plan(tmp_path), [FakeRunner()], [], QUIET)
    (found,) = done.new
    compare(done, Right(), QUIET)
    assert done.new == [found] and found.notes == ["without the bug: nothing"]
    compare(done, FakeRunner(), QUIET)
    assert done.new == [] and found.defect == "the kernel without the bug shows it, too"
    assert json.loads((tmp_path / "out" / "run.json").read_text())["findings"][0]["known"]


def test_a_bug_of_the_museum_is_in_the_kernel_meanwhile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its module takes the place of the kernel's own, and no longer than the case needs."""
    case = tmp_path / "case.json"
    save(Case("af_iucv", (SOCKET,)), case)
    seen: list[tuple[str, str, str | None]] = []
    patched = Side("6.1", "6.1.0", (Path("/edited/af_iucv.ko"),))
    both = SimpleNamespace(sides=SimpleNamespace(base=Side("6.1", "6.1.0"), patched=patched))

    @contextlib.contextmanager
    def fake(kernel: str, bug: Bug, _seconds: float, _progress: Progress) -> Iterator[object]:
        seen.append((kernel, bug.id, None))
        yield both

    def one_case(arguments: argparse.Namespace) -> int:
        seen.append((arguments.kernel, "", os.environ.get(REPLACED)))
        return 0

    monkeypatch.delenv(REPLACED, raising=False)
    monkeypatch.setattr(edited_module, "edited", fake)
    monkeypatch.setattr(command, "_one_case", one_case)
    words = ["fuzz", "--replay", str(case), "--kernel", "bookworm", "--bug"]
    assert main([*words, "peek-leak"]) == 0
    assert seen == [("bookworm", "peek-leak", None), ("6.1", "", "/edited/af_iucv.ko")]
    assert REPLACED not in os.environ
    assert main([*words, "peek-leek"]) == 2


def test_a_bug_that_prevents_any_case_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What prepares the guest fails with the bug; if it fails without it, too, that is an error."""

    class Ready(FakeRunner):
        """A kernel that is as it should be."""

    class Wrong(FakeRunner):
        """Another one whose mark fails."""

        def run(self, case: Case) -> Ran:
            raise Unprepared("it does not load")

    def fuzzed(*_words: object) -> Campaign:
        raise Unprepared("it does not load")

    monkeypatch.setattr(command, "_fuzzed", fuzzed)
    words = argparse.Namespace()
    assert command._with_and_without(plan(tmp_path), words, cast(Any, Ready())) == 1
    assert "found before any case: it does not load" in capsys.readouterr().out
    with pytest.raises(Unprepared):
        command._with_and_without(plan(tmp_path), words, cast(Any, Wrong()))


def test_an_error_of_a_job_ends_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one is told to end, and the error is raised."""

    class Broken(FakeRunner):
        """Its guest is gone."""

        def run(self, case: Case) -> Ran:
            raise UsageError("the guest is gone")

    monkeypatch.setattr(campaign_module, "_PROGRESS_SECONDS", 0.01)
    with pytest.raises(UsageError, match="the guest is gone"):
        fuzz(plan(tmp_path, jobs=2, cases=0), [FakeRunner(), Broken()], [], QUIET)


def test_a_case_shows_a_finding_if_one_run_does() -> None:
    """Of three."""

    class Unsteady(FakeRunner):
        """Every third run."""

        def run(self, case: Case) -> Ran:
            self.ran.append(case)
            return Ran([Finding("oops", "f", "")] if len(self.ran) % 3 == 0 else [])

    assert shows(Unsteady(), "oops in f")(Case("af_iucv", ()))
    assert not shows(Unsteady(), "oops in f", 2)(Case("af_iucv", ()))


def test_a_target_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """zvmlab fuzz list."""
    assert main(["fuzz", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == names()
    assert isinstance(find(names()[0]), Target)


def test_reproducers_are_files_that_can_be_used(tmp_path: Path) -> None:
    """The scenario is one, the test compiles, and the text has all that one needs to repeat it."""
    case = Case("smsgiucv", (SOCKET, RECEIVE), tuple(find("smsgiucv").mark))
    cache = Path("/cache/qemu-1234/bin/qemu-system-s390x")
    artifacts = Artifacts(cache, Path("k"), "6.1.0-50-s390x (bookworm)", Path("i"))
    found = Finding("oops", "iucv_sock_recvmsg", "pointer dereference", "[   1.0] what it said")
    emit(case, find("smsgiucv"), "bookworm", artifacts, [(found, 9)], 10, tmp_path / "new")
    assert load(tmp_path / "new" / "case.json") == case
    file = tmp_path / "new" / "scenario.py"
    (made,) = scenarios_of_file(file).values()
    assert made.name == f"fuzz-smsgiucv-{case.name[:8]}" and made.modules == ("smsgiucv_app",)
    assert find_scenario(f"{file}:{made.name}") is not None
    made_case = globals_of(tmp_path / "new" / "test_case.py")["CASE"]
    assert made_case == case
    text = (tmp_path / "new" / "report.txt").read_text()
    for said in ("smsgiucv on 6.1.0-50-s390x", "9 of 10 runs", "1 a: socket(32, 1, 0) as s1",
                 "emulator qemu-1234", "zvmlab fuzz --replay case.json", "what it said"):  # fmt: skip
        assert said in text


@pytest.mark.parametrize(
    "said", ['"""; raise SystemExit("executed"); """', "\\N{x} of \\", 'ends with "']
)
def test_what_a_kernel_says_is_not_executed_by_its_reproducers(said: str, tmp_path: Path) -> None:
    found = of_text(f"[    1.000000] BUG: {said}")
    assert found is not None and said in found.key
    artifacts = Artifacts(Path("/cache/qemu-1/bin/q"), Path("k"), "6.1 (bookworm)", Path("i"))
    case = Case("smsgiucv", (SOCKET,))
    emit(case, find("smsgiucv"), "bookworm", artifacts, [(found, 9)], 10, tmp_path)
    assert len(scenarios_of_file(tmp_path / "scenario.py")) == 1
    assert globals_of(tmp_path / "test_case.py")["CASE"] == case


@pytest.mark.parametrize("name", names())
def test_reproducers_have_the_machine_of_their_target(name: str, tmp_path: Path) -> None:
    """Segments, options of CP, modules and CPUs; the test its schedule and its driver."""
    target = find(name)
    case = Case(name, (SOCKET,), tuple(target.mark), target.cpus, 7)
    artifacts = Artifacts(Path("/cache/qemu-1/bin/q"), Path("k"), "6.1 (bookworm)", Path("i"))
    emit(case, target, "bookworm", artifacts, [], 10, tmp_path, "zvmlab")
    (made,) = scenarios_of_file(tmp_path / "scenario.py").values()
    assert (made.segments, dict(made.cp)) == (target.segments, dict(target.cp or {}))
    assert made.cpus == target.cpus
    assert made.modules == tuple(str(TREE / m) if "/" in m else m for m in target.modules)
    assert globals_of(tmp_path / "test_case.py")["CASE"] == case
    assert "driver='zvmlab'" in (tmp_path / "test_case.py").read_text()
    assert "--driver zvmlab" in (tmp_path / "report.txt").read_text()


@pytest.mark.parametrize(("times", "runs"), [(10, 1), (3, 10)])
def test_reproducer_is_tried_as_often_as_it_needs(times: int, runs: int, tmp_path: Path) -> None:
    """Its test fails as soon as one run shows something."""
    case = Case("smsgiucv", (SOCKET,))
    artifacts = Artifacts(Path("/cache/qemu-1/bin/q"), Path("k"), "6.1 (bookworm)", Path("i"))
    found = Finding("oops", "f", "it ends")
    emit(case, find("smsgiucv"), "bookworm", artifacts, [(found, times)], 10, tmp_path)
    test = globals_of(tmp_path / "test_case.py")
    tried: list[Case] = []

    class Played:
        """A runner whose last run shows the finding."""

        def __init__(self, target: Target, kernel: str, _folder: Path, driver: str) -> None:
            assert (target.name, kernel, driver) == ("smsgiucv", "sid", "upstream")

        def __enter__(self) -> Played:
            return self

        def __exit__(self, *_error: object) -> None:
            ...

        def run(self, case: Case) -> Ran:
            """One run."""
            tried.append(case)
            return Ran([found] if len(tried) == runs else [])

    test["Runner"] = Played
    with pytest.raises(AssertionError):
        test["test_case"]("sid", tmp_path)
    assert tried == [case] * runs


def globals_of(file: Path) -> dict[str, Any]:
    """What a file of Python defines."""
    scope: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)  # pylint: disable=exec-used
    return scope


def scenarios_of_file(file: Path) -> dict[str, Scenario]:
    """The scenarios that a file defines."""
    return {one.name: one for one in globals_of(file).values() if isinstance(one, Scenario)}
