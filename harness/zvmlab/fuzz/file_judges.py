# SPDX-License-Identifier: MIT
"""What steps gave, held against what files promise: poll, numbers that are kept, severed services.

    for finding in judge_files(target, case, played): ...
"""

from __future__ import annotations

import errno
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from zvmlab.cp.recording import SERVICES
from zvmlab.fuzz.case import Case
from zvmlab.fuzz.finding import CONTRACT, DATA, Finding
from zvmlab.fuzz.grammar import Target
from zvmlab.scenarios.player import Played
from zvmlab.scenarios.steps import bytes_of, faults_of, text_of, thread_of

_POLLIN, _POLLERR, _POLLHUP = 1, 8, 16
_NUMBERS = re.compile(r"\s*\d{1,9}(\s+\d{1,9})*\s*")
# Before each record, how long it is.
_LENGTH = 4
_CHANGES = ("put ", "append ", "del ")
_WRITES = ("write", "writev", "pwrite64")


def judge_files(target: Target, case: Case, played: Sequence[Played]) -> list[Finding]:
    """The first thing that no file may do."""
    found = _kept(target.keeps, played) or _transferred(case, played)
    if not found and not any(faults_of(case.steps)):
        found = _polled(played) or _severed(target.services, played)
        found = found or _begun(target.services, played)
    return found


def _opened(played: Sequence[Played]) -> dict[str, Played]:
    """Names that one call has given: by which one."""
    made = Counter(str(one.step.get("as")) for one in played)
    return {
        one.step["as"]: one
        for one in played
        if made[str(one.step.get("as"))] == 1 and _call(one) == "openat" and one.ret >= 0
    }


def _call(one: Played) -> str:
    return str(one.step["call"]) if one.step["do"] == "call" else ""


def _file(one: Played) -> str:
    """The name of the file that a call is about."""
    args = one.step["args"] if one.step["do"] == "call" else [one.step.get("fd")]
    return str(args[0]) if args and isinstance(args[0], str) else ""


def _path(one: Played) -> str:
    """What an openat() opens."""
    path: Any = one.step["args"][1]
    return str(path["text"]) if isinstance(path, dict) and "text" in path else ""


def _polled(played: Sequence[Played]) -> list[Finding]:
    """Poll, and at once a read, by the same thread, which nothing has come between."""
    files = _opened(played)
    for poll, read in zip(played, played[1:]):
        same = thread_of(poll.step) == thread_of(read.step) and _file(poll) == _file(read)
        asked = poll.step["do"] == "poll" and poll.step["events"] & _POLLIN
        if not asked or not same or _call(read) != "read" or _file(read) not in files:
            continue
        ready = int.from_bytes(poll.data, "big") if len(poll.data) == 2 else _POLLIN
        if ready & _POLLIN or read.slept or read.stuck or read.beside:
            continue
        if read.ret > 0 and not read.error:
            text = f"{text_of(read.step)} gives {read.ret} bytes, and poll said that there are none"
            return [Finding(CONTRACT, "read: poll", text)]
        if ready & (_POLLERR | _POLLHUP) and read.error == errno.EAGAIN:
            text = f"{text_of(read.step)} would wait, and poll has reported an error"
            return [Finding(CONTRACT, "read: error", text)]
    return []


def _severed(services: Mapping[str, str], played: Sequence[Played]) -> list[Finding]:
    """Who reads from a device does not wait for a service that has severed."""
    files = {
        name: (one.number, services[_path(one)])
        for name, one in _opened(played).items()
        if _path(one) in services
    }
    gone: set[str] = set()
    for one in played:
        service = _service_that_severs(one)
        gone |= {name for name, (at, who) in files.items() if who == service and at < one.number}
        if _call(one) == "read" and one.slept and _file(one) in gone:
            text = f"{text_of(one.step)} sleeps, and {files[_file(one)][1]} has severed"
            return [Finding(CONTRACT, "read: severed", text)]
    return []


def _begun(services: Mapping[str, str], played: Sequence[Played]) -> list[Finding]:
    """Who opens a service's device reads a record from its length on, not the rest of another one.

    Of a service that keeps records: what *MONITOR gives is judged by its sets.
    """
    fresh: dict[str, str] = {}
    records: dict[str, list[bytes]] = {}
    if len({thread_of(one.step) for one in played if _call(one) in ("openat", "read")}) > 1:
        return []
    for one in played:
        if one.step["do"] == "request" and one.step["execute"] == "recording-record":
            arguments = one.step["arguments"]
            data = bytes_of("", arguments["record"])
            records.setdefault(str(arguments["service"]), []).append(data)
        elif (
            _call(one) == "openat"
            and one.ret >= 0
            and services.get(_path(one)) in SERVICES
            and "as" in one.step
        ):
            fresh[one.step["as"]] = services[_path(one)]
        elif _call(one) == "read" and _file(one) in fresh and one.ret > 0 and not one.error:
            service = fresh.pop(_file(one))
            data = one.data[: one.ret]
            if not any(_begins(data, record) for record in records.get(service, [])):
                text = f"{text_of(one.step)} gives what is no record's begin: {data[:20].hex()}"
                return [Finding(DATA, "first read", text)]
    return []


def _begins(data: bytes, record: bytes) -> bool:
    """Its length, and what of it is there."""
    size = min(len(data) - _LENGTH, len(record))
    return size < 0 or (
        int.from_bytes(data[:_LENGTH], "big") in (len(record), len(record) + _LENGTH)
        and data[_LENGTH : _LENGTH + size] == record[:size]
    )


def _service_that_severs(one: Played) -> str:
    """One that had a path: who opens the device later has another."""
    if one.step["do"] != "request" or not (one.answer or {}).get("severed"):
        return ""
    if one.step["execute"] == "recording-sever":
        return str(one.step["arguments"].get("service"))
    return "*MONITOR" if one.step["execute"] == "monitor-sever" else ""


def _transferred(case: Case, played: Sequence[Played]) -> list[Finding]:
    """What a program gets of a file of the HMC's is in that file, however much was transferred."""
    contents = _contents(case)
    if any(fault.get("kind") == "corrupt" for fault in faults_of(case.steps)):
        return []
    names = {name: "" for name in _opened(played)}
    for one in played:
        name = _file(one)
        if name not in names:
            continue
        if _call(one) in _WRITES:
            command = _command(one)
            names[name] = command.removeprefix("get ") if command.startswith("get ") else ""
            contents.pop(command.partition(" ")[2] if command.startswith(_CHANGES) else "", None)
        elif _call(one) == "read" and one.ret > 0 and names[name] in contents:
            if one.data[: one.ret] not in contents[names[name]]:
                text = f"{text_of(one.step)} gives {one.ret} bytes that are not in {names[name]}"
                return [Finding(DATA, "transfer", f"{text}: {one.data[:40].hex()}")]
    return []


def _contents(case: Case) -> dict[str, bytes]:
    """Files that the case's mark has made."""
    return {
        str(step["arguments"]["name"]): bytes_of("", step["arguments"]["data"])
        for step in case.mark
        if step["do"] == "request" and step["execute"] == "hmc-write"
    }


def _command(one: Played) -> str:
    """The text that a write gives to the driver."""
    text: Any = one.step["args"][1]
    text = text.get("text", "") if isinstance(text, dict) else ""
    return str(text)[: max(one.ret, 0)]


def _kept(keeps: Collection[str], played: Sequence[Played]) -> list[Finding]:
    """Numbers that were written are those that are read; of several threads nobody knows."""
    files = _opened(played)
    paths = {name: _path(one) for name, one in files.items() if _path(one) in keeps}
    threads = {thread_of(one.step) for one in played if _of_path(one, paths, keeps)}
    if len(threads) > 1:
        return []
    last: dict[str, list[int]] = {}
    fresh: set[str] = set()
    for one in played:
        path = _of_path(one, paths, keeps)
        if not path:
            continue
        if one.step["do"] == "write":
            _note(one, path, last)
        elif _call(one) in _WRITES:
            last.pop(path, None)
        elif _call(one) == "openat":
            fresh.add(one.step["as"])
        elif _call(one) == "read" and _file(one) in fresh:
            fresh.discard(_file(one))
            numbers = _numbers(one.data.decode("latin-1"))
            if path in last and one.ret > 0 and len(numbers) == len(last[path]) != 0:
                if numbers != last[path]:
                    text = f"{path} has {numbers}, and {last[path]} was written there"
                    return [Finding(DATA, f"kept: {path}", text)]
    return []


def _of_path(one: Played, paths: Mapping[str, str], keeps: Collection[str]) -> str:
    """The file of numbers that a step is about, if it is about one."""
    if one.step["do"] == "write":
        return str(one.step["path"]) if one.step["path"] in keeps else ""
    if _call(one) == "openat":
        return paths.get(str(one.step.get("as")), "")
    return paths.get(_file(one), "") if _call(one) else ""


def _note(one: Played, path: str, last: dict[str, list[int]]) -> None:
    """What was written, if it was and if it is numbers."""
    if one.error:
        return
    last[path] = _numbers(one.step["text"])


def _numbers(text: str) -> list[int]:
    return list(map(int, text.split())) if _NUMBERS.fullmatch(text) else []
