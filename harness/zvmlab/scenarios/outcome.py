# SPDX-License-Identifier: MIT
"""The result of one run of a scenario, as plain data that can be compared.

Two runs of the same scenario, with two drivers, on two emulators or with and
without a fault, are equal if everything a program and the kernel's log could
tell is equal.  What differs without meaning anything, such as time stamps,
kernel addresses and the place of a set in the segment, is left out here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.mondata.records import FRAME_SIZE, BadStream, parse_set

HASH_DIGITS = 16
# Real storage and segments lie below 2 GiB and stand for themselves; what is above is
# a kernel address, which randomisation moves.
_REAL_END = 1 << 31
# What the kernel says once in a boot, whenever it comes to it: of the first module that Debian
# has not signed, of a CPU that the host gave no processor for a while, of its random numbers.
_ONCE = re.compile(r"\btaint(?:s|ing) kernel\b|^hrtimer: interrupt took |^random: crng init done")
# Seconds since 1970 and a serial number.
_AUDIT = re.compile(r"\baudit\(\d+\.\d+:\d+\)")
_LONG_HEX = re.compile(r"\b(?:0x)?[0-9a-f]{16}\b")


def digest(data: bytes) -> str:
    """A short hash, to tell whether two runs saw the same bytes."""
    return hashlib.sha256(data).hexdigest()[:HASH_DIGITS]


def normal_line(text: str) -> str:
    """A line of the kernel's log without what differs from boot to boot."""

    def address(match: re.Match[str]) -> str:
        return match.group() if int(match.group(), 16) < _REAL_END else "<address>"

    return _AUDIT.sub("audit(<time>)", _LONG_HEX.sub(address, text))


def normal_log(lines: Iterable[str]) -> tuple[str, ...]:
    """Lines of the kernel's log that mean the same in every run."""
    return tuple(normal_line(line) for line in lines if not _ONCE.search(line))


def describe_stream(stream: bytes, hashes: bool = True) -> dict[str, Any]:
    """A data set as far as it is there: its elements, or else length and hash of the bytes.

    A control element's addresses depend on what lay in the segment before; what
    they say is the size of the records and their place in a frame.
    """
    try:
        parts = parse_set(stream)
    except BadStream:
        return {"length": len(stream), "hash": digest(stream)}
    elements: list[dict[str, Any]] = []
    for part in parts:
        mce = part.mce
        elements.append({"type": mce.type, "domains": mce.domains, "byte3": mce.byte3})
        elements[-1] |= {"phase": mce.start % FRAME_SIZE, "length": mce.size}
        if hashes:
            elements[-1]["hash"] = digest(part.data)
    return {"elements": elements}


@dataclass(frozen=True)
class Step:
    """One thing that a scenario did, and what it gave: values of JSON only."""

    what: str
    result: Mapping[str, Any]

    def __str__(self) -> str:
        words = [
            f"{key}={json.dumps(value, separators=(',', ':'))}"
            for key, value in self.result.items()
        ]
        return " ".join([self.what, *words])


@dataclass(frozen=True)
class Outcome:
    """All steps of one run in order, and what the kernel logged meanwhile."""

    scenario: str
    steps: tuple[Step, ...]
    log: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data; from_json() gives an equal outcome."""
        return {
            "scenario": self.scenario,
            "steps": [{"what": step.what, **step.result} for step in self.steps],
            "log": list(self.log),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Outcome:
        """From what to_json() gave; UsageError if it is something else."""
        try:
            steps = tuple(
                Step(str(step["what"]), {key: step[key] for key in step if key != "what"})
                for step in data["steps"]
            )
            return cls(str(data["scenario"]), steps, tuple(map(str, data["log"])))
        except (KeyError, TypeError) as error:
            raise UsageError(f"this is not an outcome of a scenario: {error!r}") from None

    def differences(self, other: Outcome) -> list[str]:
        """One sentence for each step and line of the log that is not the same; empty if equal."""
        found = []
        if self.scenario != other.scenario:
            found.append(f"scenario {self.scenario} against {other.scenario}")
        found += _compare("step", [str(s) for s in self.steps], [str(s) for s in other.steps])
        return found + _compare("log line", self.log, other.log)


def _compare(what: str, ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    found = [
        f"{what} {number}: {mine} against {other}"
        for number, (mine, other) in enumerate(zip(ours, theirs), 1)
        if mine != other
    ]
    if len(ours) != len(theirs):
        found.append(f"{len(ours)} {what}s against {len(theirs)}")
    return found
