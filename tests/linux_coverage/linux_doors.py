# SPDX-License-Identifier: MIT
"""The doors of Linux' code for z/VM, and the tests that open them.

    linux_doors.py --map guest/linux_map.json --output build/report/doors-of-linux.md

A door is a way into a driver from outside: a function of its operations (file_operations, proto_ops …), an
attribute in sysfs, a sysctl, or a parameter.  ``make linux-coverage`` writes the map, which names the tests
that call each function.  Each door that no test opens has its reason in guest/linux_doors.toml; the exit code is
1 if one has none, or if a reason is given for a door that is open or does not exist.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, UsageError, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.builder.linux_files import linux_files
from zvmlab.builder.linux_source import source_tree

TREE = Path(__file__).resolve().parents[2]
REASONS = TREE / "guest" / "linux_doors.toml"
SHOWN = 3
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_OPERATIONS = re.compile(r"struct\s+(\w*(?:operations|ops))\s+\w+\s*=\s*\{(.*?)\n\};", re.DOTALL)
_FIELD = re.compile(r"\.(\w+)\s*=\s*&?(\w+)")
_ATTRIBUTE = re.compile(
    r"\b(?:DEVICE|DRIVER|BUS|CLASS|_)_?ATTR\w*\(\s*(\w+)\s*(?:,([^;]*?))?\)\s*[;,]"
)
_SHORT = re.compile(r"\b\w*ATTR_(RO|WO|RW)\(\s*(\w+)\s*\)")
_STRINGS = re.compile(r"\bDEFINE_\w+_ATTR_STR_RW\(\s*(\w+)\s*,\s*(\w+)\s*,")
_SYSCTL = re.compile(r"\.procname\s*=\s*\"(\w+)\".*?\.proc_handler\s*=\s*(\w+)", re.DOTALL)
_PARAMETER = re.compile(r"^(?:module_param\w*|core_param)\(\s*(\w+)\s*,", re.MULTILINE)
_SETUP = re.compile(r"^(?:__setup|early_param)\(\s*\"(\w+)=?\"\s*,\s*(\w+)\)", re.MULTILINE)


class Door(NamedTuple):
    """A way into a source, and the function behind it; "" for a plain parameter."""

    name: str
    function: str


def _attributes(text: str) -> Iterator[Door]:
    for match in _ATTRIBUTE.finditer(text):
        words = [word.strip() for word in (match[2] or "").split(",")]
        if len(words) == 3:
            for kind, function in zip(("read", "write"), words[1:], strict=True):
                yield Door(f"attribute {match[1]}, {kind}", function)
    for kinds, name in _SHORT.findall(text):
        if kinds != "WO":
            yield Door(f"attribute {name}, read", f"{name}_show")
        if kinds != "RO":
            yield Door(f"attribute {name}, write", f"{name}_store")
    for prefix, name in _STRINGS.findall(text):
        for kind, word in (("read", "show"), ("write", "store")):
            yield Door(f"attribute {name}, {kind}", f"sys_{prefix}_{name}_{word}")


def _all_doors(text: str) -> Iterator[Door]:
    for structure, fields in _OPERATIONS.findall(text):
        for field, function in _FIELD.findall(fields):
            yield Door(f"{structure}.{field}", function)
    yield from _attributes(text)
    for name, function in _SYSCTL.findall(text):
        yield Door(f"sysctl {name}", function)
    for name in _PARAMETER.findall(text):
        yield Door(f"parameter {name}", "")
    for name, function in _SETUP.findall(text):
        yield Door(f"parameter {name}", function)


def doors_of(source: str, functions: str = "") -> list[Door]:
    """The doors of a source that lead to a function of its own; only those whose names *functions* fits."""
    text = _COMMENT.sub(" ", source)
    made = set(re.findall(r"^(?:[\w *]+[ *])?(\w+)\([^;{]*\)\s*\{", text, re.MULTILINE))
    made |= {f"sys_{prefix}_{name}_{word}" for prefix, name in _STRINGS.findall(text)
             for word in ("show", "store")}  # fmt: skip
    fits = re.compile(functions)
    found = {
        door: None
        for door in _all_doors(text)
        if (door.function in made or not door.function)
        and (fits.search(door.function) or not functions)
    }
    return list(found)


def _mentioned(name: str, texts: Mapping[str, str]) -> list[str]:
    """The files of tests that give a parameter."""
    given = re.compile(rf"\b{name}=|parameters/{name}\b")
    return [file for file, text in texts.items() if given.search(text)]


def callers_in(part: Mapping[str, Any], source: str) -> dict[str, list[str]]:
    """By function of the source: the files of the tests that call it, from a part of the map."""
    files = [file for file, names in part["tests"].items() for _ in names]
    called: dict[str, list[str]] = {}
    for function, ranges in part["files"].get(source, {}).items():
        found: set[str] = set()
        for first, _, last in (word.partition("-") for word in ranges.split()):
            found |= set(files[int(first) : int(last or first) + 1])
        called[function] = sorted(found - {""})
    return called


def opened(
    doors: Sequence[Door], called: Mapping[str, Sequence[str]], texts: Mapping[str, str]
) -> dict[Door, list[str]]:
    """The files of tests that open each door; a parameter is also opened by those that give it."""
    return {
        door: list(called.get(door.function, ()))
        or (_mentioned(door.name.split()[1], texts) if door.name.startswith("parameter ") else [])
        for door in doors
    }


def reasons_in(text: str) -> dict[tuple[str, str], str]:
    """By source and door: the reason for which no test opens it."""
    document = tomllib.loads(text)
    return {
        (source, door): reason
        for source, doors in document.items()
        for door, reason in doors.items()
    }


def _row(door: Door, tests: Sequence[str], reason: str) -> str:
    some = ", ".join([test.rpartition("/")[2] for test in tests][:SHOWN])
    return f"| {door.name} | {f'`{door.function}`' if door.function else ''} | {some or reason} |"


def page_and_faults(
    found: Mapping[str, Mapping[Door, Sequence[str]]], reasons: Mapping[tuple[str, str], str]
) -> tuple[str, list[str]]:
    """The page, and what is wrong with the list of reasons."""
    known = dict(reasons)
    lines = ["<!-- SPDX-License-Identifier: MIT -->", "# Doors of Linux", ""]
    faults: list[str] = []
    for source, doors in found.items():
        lines += [f"## {source}", "", "| door | function | tests |", "|---|---|---|"]
        for door, tests in doors.items():
            reason = known.pop((source, door.name), "")
            lines.append(_row(door, tests, reason))
            if not tests and not reason:
                faults.append(f"{source}: no test opens {door.name}, and there is no reason")
            if tests and reason:
                faults.append(f"{source}: a test opens {door.name}; take its reason out")
        lines.append("")
    faults += [f"{source}: has no door {door}; take its reason out" for source, door in known]
    return "\n".join(lines), faults


def run(argv: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="List the doors of Linux' code for z/VM.")
    parser.add_argument("--map", type=Path, required=True, help="the map of tests")
    parser.add_argument("--output", type=Path, required=True, help="the page")
    args = parser.parse_args(argv)
    try:
        maps = json.loads(args.map.read_text(encoding="utf-8"))
        series, part = next(reversed(maps.items()))
        sources = {str(file.path): callers_in(part, str(file.path)) for file in linux_files()}
    except (OSError, ValueError, LookupError, AttributeError, TypeError, StopIteration) as error:
        raise UsageError(f"{args.map} is no map of tests ({error}); make linux-coverage") from None
    linux, _ = source_tree(series, Progress())
    folder = TREE / "tests" / "e2e"
    texts = {
        str(path.relative_to(TREE)): path.read_text(encoding="utf-8")
        for path in folder.glob("*.py")
    }
    found = {}
    for file in linux_files():
        path = linux / file.path
        doors = doors_of(path.read_text(encoding="utf-8"), file.functions) if path.exists() else []
        if doors:
            found[str(file.path)] = opened(doors, sources[str(file.path)], texts)
    page, faults = page_and_faults(found, reasons_in(REASONS.read_text(encoding="utf-8")))
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(page, encoding="utf-8")
    for fault in faults:
        print(fault, file=sys.stderr)
    return EXIT_FAILED if faults else EXIT_PASS


if __name__ == "__main__":
    try:
        sys.exit(run())
    except ZvmlabError as error:
        print(f"linux_doors: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
