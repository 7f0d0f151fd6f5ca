# SPDX-License-Identifier: MIT
"""What the fuzzer holds files against: poll and read, services that have severed, numbers that are kept."""

from __future__ import annotations

import errno
from dataclasses import replace
from typing import Any

from zvmlab.fuzz.case import Case
from zvmlab.fuzz.file_judges import judge_files
from zvmlab.fuzz.finding import Finding
from zvmlab.fuzz.grammar import Target, find
from zvmlab.scenarios.player import Played

Step = dict[str, Any]
KEPT = "/proc/sys/vm/cmm_timeout"
DEVICE = "/dev/account"
TARGET = replace(find("vmlogrdr"), keeps=(KEPT,), services={DEVICE: "*ACCOUNT"})
FAULT: Step = {"do": "request", "execute": "fault-arm", "arguments": {"point": "iucv.send"}}


def call(name: str, *args: Any, **more: Any) -> Step:
    """A system call."""
    return {"do": "call", "call": name, "args": list(args), **more}


def opens(path: str, name: str = "f1", **more: Any) -> Step:
    """Open a file."""
    return call("openat", -100, {"text": path}, 0, 0, **{"as": name}, **more)


READ = call("read", "f1", {"out": 64}, 64)
POLL: Step = {"do": "poll", "fd": "f1", "events": 0x43}
SEVER: Step = {
    "do": "request",
    "execute": "recording-sever",
    "arguments": {"service": "*ACCOUNT", "code": 1},
}


def one(step: Step, ret: int = 0, error: int = 0, data: bytes = b"", **more: Any) -> Played:
    """A step, and what it gave; numbers follow in judged()."""
    return Played(0, step, ret, error, data, **more)


def judged(*played: Played, target: Target = TARGET) -> list[str]:
    """The keys of what is found."""
    steps = [replace(played_, number=number) for number, played_ in enumerate(played)]
    case = Case(target.name, tuple(played_.step for played_ in played))
    found: list[Finding] = judge_files(target, case, steps)
    return [finding.key for finding in found]


def test_poll_says_what_a_read_at_once_finds() -> None:
    """Data, or an error that the read has, too.

    Of what another thread or a fault does, and of what came while the thread slept, nobody knows.
    """
    opened, nothing = one(opens("/dev/other"), 3), one(POLL, 1, 0, b"\0\0")
    error, ready = one(POLL, 1, 0, b"\0\x08"), one(POLL, 1, 0, b"\0\x01")
    gives, waits = one(READ, 12, 0, b"x" * 12), one(READ, -1, errno.EAGAIN)
    assert (
        judged(opened, nothing, gives) == judged(opened, error, gives) == ["contract in read: poll"]
    )
    assert judged(opened, error, waits) == ["contract in read: error"]
    assert judged(opened, ready, gives) == judged(opened, nothing, waits) == []
    assert judged(opened, error, one(READ, -1, errno.EIO)) == []
    assert judged(opened, nothing, replace(gives, slept=True)) == []
    assert judged(opened, nothing, replace(gives, beside=True)) == []
    assert judged(opened, nothing, one(SEVER, answer={}), gives) == []
    assert judged(opened, nothing, one({**READ, "thread": "b"}, 12, 0, b"x" * 12)) == []
    assert judged(one(FAULT, answer={}), opened, nothing, gives) == []
    assert judged(nothing, gives) == []


def test_who_reads_learns_that_the_service_has_severed() -> None:
    """Of the file that was open before; not of another service, and not of a sever that CP refuses."""
    opened, severed = one(opens(DEVICE), 3), one(SEVER, answer={"severed": 1})
    sleeps = one(READ, -1, errno.EINTR, slept=True)
    assert judged(opened, severed, sleeps) == ["contract in read: severed"]
    assert judged(opened, severed, one(READ, -1, errno.EIO)) == []
    assert judged(opened, sleeps, severed) == judged(severed, opened, sleeps) == []
    assert judged(opened, one(SEVER, answer={"error": "no path"}), sleeps) == []
    assert judged(opened, one(SEVER, answer={"severed": 0}), sleeps) == []
    assert judged(one(opens("/dev/logrec"), 3), severed, sleeps) == []
    assert judged(one(FAULT, answer={}), opened, severed, sleeps) == []
    monitor = replace(TARGET, services={"/dev/monreader": "*MONITOR"})
    sever: Step = {"do": "request", "execute": "monitor-sever", "arguments": {"code": 1}}
    opened = one(opens("/dev/monreader"), 3)
    found = judged(opened, one(sever, answer={"severed": 1}), sleeps, target=monitor)
    assert found == ["contract in read: severed"]


def test_who_opens_reads_a_record_from_its_begin() -> None:
    """Its length, and as much of it as there is room for; what follows is not looked at."""
    record: dict[str, Any] = {"service": "*ACCOUNT", "record": {"hex": "61626364656667"}}
    made = one({"do": "request", "execute": "recording-record", "arguments": record}, answer={})
    opened, wanted = one(opens(DEVICE), 3), ["data in first read"]

    def gives(data: bytes) -> Played:
        return one(READ, len(data), 0, data)

    right, rest = gives(b"\0\0\0\x0babcdefgEOR\n"), gives(b"efgEOR\n")
    assert judged(made, opened, right) == judged(opened, made, gives(b"\0\0\0\x0babc")) == []
    assert judged(opened, made, gives(b"\0\0")) == judged(opened, made, right, rest) == []
    assert judged(opened, made, rest) == judged(opened, right) == wanted
    assert judged(opened, made, gives(b"\0\0\0\x09abcdefg")) == wanted
    assert judged(opened, made, gives(b"\0\0\0\x0babXdefg")) == wanted
    assert judged(made, opened, right, opened, rest) == wanted
    assert judged(made, one(opens("/dev/other"), 3), rest) == []
    assert judged(one(FAULT, answer={}), opened, made, rest) == []
    monitor = replace(TARGET, services={"/dev/monreader": "*MONITOR"})
    assert judged(one(opens("/dev/monreader"), 3), rest, target=monitor) == []


def test_numbers_that_are_written_are_read() -> None:
    """As many as there are, of files that keep them, by one thread."""

    def write(text: str, error: int = 0, **more: Any) -> Played:
        return one({"do": "write", "path": KEPT, "text": text, **more}, len(text), error)

    opened, wanted = one(opens(KEPT), 3), [f"data in kept: {KEPT}"]
    cut, right = one(READ, 5, 0, b"40 1\n"), one(READ, 6, 0, b"40 12\n")
    assert judged(write("40 12"), opened, cut) == wanted
    assert judged(write("7 7"), write("40 12"), opened, cut) == wanted
    assert judged(write("40 12\n"), opened, right) == judged(write("1 2 3"), opened, cut) == []
    assert judged(write("40 12", errno.EINVAL), opened, cut) == judged(opened, cut) == []
    assert judged(write("40 x"), opened, cut) == []
    other = one(call("write", "f1", {"hex": "31"}, 1), 1)
    assert judged(write("40 12"), opened, other, cut) == []
    assert judged(write("40 12", thread="b"), opened, cut) == []
    assert judged(write("40 12"), opened, right, cut) == []
    assert judged(write("40 12"), one(opens("/proc/other"), 3), cut) == []


def test_what_is_read_of_a_file_is_in_it() -> None:
    """Of files that the mark has made, and that nobody has changed or CP has garbled."""
    target = find("hmcdrv")
    device = one(opens("/dev/hmcdrv"), 3)

    def of(command: str, data: bytes, *before: Played) -> list[str]:
        get = one(call("write", "f1", {"text": command}, len(command)), len(command))
        played = [device, *before, get, one(READ, len(data), 0, data)]
        case = Case(target.name, tuple(step.step for step in played), tuple(target.mark))
        return [finding.key for finding in judge_files(target, case, played)]

    def write(command: str) -> Played:
        return one(call("write", "f1", {"text": command}, len(command)), len(command))

    assert of("get readme", b"Hello, HMC\n") == of("get readme", b"HMC") == []
    assert of("get readme", b"HMC\n\0\0") == ["data in transfer"]
    assert of("get images/large", b"Hello") == ["data in transfer"]
    assert of("get new", b"Hi") == of("dir /*", b"Hi") == []
    assert of("get readme", b"Hi", write("put readme")) == []
    assert of("get readme", b"Hi", write("put other")) == ["data in transfer"]
    rule: dict[str, Any] = {"point": "hmc.transfer", "kind": "corrupt"}
    garbled: Step = {"do": "request", "execute": "fault-arm", "arguments": rule}
    assert of("get readme", b"Hi", one(garbled, answer={})) == []
