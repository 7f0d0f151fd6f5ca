# SPDX-License-Identifier: MIT
"""guest/linux_map.json: which tests call which functions of Linux' code for z/VM.

    {
     "7.2": {
      "kernel": "7.2.13",
      "date": "2026-11-28",
      "tests": {"": ["(boot)"], "tests/e2e/test_smsg.py": ["test_smsg_arrives", …], …},
      "files": {"net/iucv/iucv.c": {"iucv_init": "0", "iucv_path_connect": "1 4-17", …}, …}
     }
    }

There is one part for each series.  The tests are numbered from 0 in the order in which they stand there, and
the functions name theirs by these numbers.  "(boot)" is what guests ran before their tests.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.builder.count_folder import BOOT
from zvmlab.verdict.choice import read_map

Called = Mapping[str, Mapping[str, Collection[str]]]
"""By source and function: names of the tests that call it."""


def series_part(called: Called, kernel: str, date: str) -> dict[str, Any]:
    """The part of one series; a test of several drivers or parameters is one test."""
    plain = {
        source: {name: {_plain(test) for test in tests} for name, tests in functions.items()}
        for source, functions in called.items()
    }
    tests = {test for part in plain.values() for names in part.values() for test in names}
    place = {test: number for number, test in enumerate(sorted(tests, key=_parts))}
    by_file: dict[str, list[str]] = {}
    for test in place:
        file, name = _parts(test)
        by_file.setdefault(file, []).append(name)
    files = {
        source: {
            name: _ranges(sorted(place[test] for test in functions[name]))
            for name in sorted(functions)
        }
        for source, functions in sorted(plain.items())
        if functions
    }
    return {"kernel": kernel, "date": date, "tests": by_file, "files": files}


def of_series(file: Path, series: str) -> Called:
    """What the file has of a series; nothing if that has no part in it."""
    known = _known(file)
    return read_map(series, file) if series in known else {}


def with_others(called: Called, known: Called, asked: Collection[str]) -> Called:
    """What a run of some tests has found, and what an earlier map has of all others.

    *asked*: the tests that ran.  A function that the kernel no longer has is left out.  A source without
    functions is one that none of the tests had loaded.
    """
    again = {_plain(test) for test in asked} - {BOOT}
    found: dict[str, dict[str, set[str]]] = {}
    for source, functions in called.items():
        before = known.get(source, {})
        found[source] = {
            name: set(functions.get(name, ())) | (set(before.get(name, ())) - again)
            for name in functions or before
        }
    return found


def _parts(test: str) -> tuple[str, str]:
    """Its file, and its name in it; a test without a file is ("", NAME)."""
    file, _, name = test.rpartition("::")
    return file, name


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers as words: "0 3-5"."""
    groups = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    ends = [[number for _, number in group] for _, group in groups]
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in ends)


def _plain(test: str) -> str:
    return test.partition("[")[0]


def update(file: Path, series: str, part: dict[str, Any]) -> None:
    """Put the part of a series into the file, in place of an earlier one."""
    known = {**_known(file), series: part}
    order = sorted(known, key=lambda name: [int(word) for word in name.split(".")])
    file.write_text(_text({name: known[name] for name in order}), encoding="utf-8")


def _known(file: Path) -> dict[str, Any]:
    """The parts that the file has."""
    if not file.exists():
        return {}
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    if not isinstance(known, dict):
        raise UsageError(f"{file} is no map of tests")
    return known


def _text(known: Mapping[str, Any]) -> str:
    """A line for each file of tests and each function, for a change to be seen in a diff."""
    parts = []
    for series, part in known.items():
        tests = ",\n".join(
            f"   {json.dumps(file)}: {json.dumps(names)}" for file, names in part["tests"].items()
        )
        files = ",\n".join(
            f"   {json.dumps(source)}: {{\n"
            + ",\n".join(f"    {json.dumps(name)}: {json.dumps(at)}" for name, at in names.items())
            + "\n   }"
            for source, names in part["files"].items()
        )
        parts.append(
            f' {json.dumps(series)}: {{\n  "kernel": {json.dumps(part["kernel"])},\n'
            f'  "date": {json.dumps(part["date"])},\n'
            f'  "tests": {{\n{tests}\n  }},\n  "files": {{\n{files}\n  }}\n }}'
        )
    return "{\n" + ",\n".join(parts) + "\n}\n"
