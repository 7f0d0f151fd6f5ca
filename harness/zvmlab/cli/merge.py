# SPDX-License-Identifier: MIT
"""The sub-command that puts the shards of a run together: merge."""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, UsageError
from zvmlab.base.plain import harmless
from zvmlab.base.results import NAME, Results, ResultsFile, sense, together
from zvmlab.cli.options import top_command

_NEEDED_FOR_TESTS = {"jinja2": "python3-jinja2", "pytest": "python3-pytest"}


def add_commands(commands: Any) -> None:
    """merge."""
    parser = top_command(
        commands,
        "merge",
        "  zvmlab merge zvmlab-sweep/read-one-set-*-of-8 --output whole\n"
        "  zvmlab merge shard-*/results.jsonl --output build/report",
    )
    parser.add_argument(
        "results",
        nargs="+",
        type=Path,
        metavar="FILE|DIR",
        help=f"results of sweep, diff, fuzz, make fuzz or the tests: {NAME}, or its folder;"
        " the last complete results of a shard count",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("zvmlab-merged"),
        metavar="DIR",
        help="folder for the reports (default: zvmlab-merged)",
    )
    parser.set_defaults(command=run_merge)


def _read(path: Path) -> Results:
    file = path / NAME if path.is_dir() else path
    found = ResultsFile(file).read()
    if found is None:
        raise UsageError(f"no results: {file} (shards write {NAME} into their folder)")
    return found


def run_merge(arguments: argparse.Namespace) -> int:
    """The report of the whole; 1 if it fails, or a shard is lost."""
    shards = together([_read(path) for path in arguments.results])
    kind = shards[0].head.kind
    if kind not in _MERGE:
        raise UsageError(f"{shards[0].path} has results of {kind!r}, which cannot be merged")
    passed = _MERGE[kind](shards, arguments.output)
    return EXIT_PASS if passed else EXIT_FAILED


def _sweep(shards: Sequence[Results], output: Path) -> bool:
    from rich.console import Console  # the table is needed here only

    from zvmlab.sweep import merged, report

    done = merged.merged(shards, output)
    found = report.verdicts(done)
    Console().print(report.table(done, found))
    print(*report.lines(done, found, None), sep="\n")
    print(*report.write(done, found, None), sep="\n")
    return not any(verdict.word == report.FAILED for verdict in found)


def _diff(shards: Sequence[Results], output: Path) -> bool:
    from zvmlab.differ import merged, report  # only needed here

    done = merged.merged(shards, output)
    print(*report.lines(done), report.write(done), sep="\n")
    return done.passed


def _tests(shards: Sequence[Results], output: Path) -> bool:
    for module, package in _NEEDED_FOR_TESTS.items():
        if importlib.util.find_spec(module) is None:
            raise UsageError(f"results of tests need {module} to be merged; install {package}")
    from zvmlab.pytest_plugin import merged  # needs what is looked for above

    done = merged.merged(shards)
    print(*done.lines(), *done.write(output), sep="\n")
    return done.passed


def run_fuzz(shards: Sequence[Results], output: Path) -> bool:
    """Adds up; there is nothing else to judge, and findings have files on their machines."""
    executions: dict[str, int] = {}
    findings: list[str] = []
    for shard in shards:
        shard.check_number(len(shard.lines))
        with sense(shard.path):
            for line in shard.lines:
                name = str(line["target"])
                executions[name] = executions.get(name, 0) + int(line["executions"])
                findings += map(str, line["findings"])
    for text in findings:
        print(f"finding: {harmless(text, lines=False)}")
    for name, number in executions.items():
        print(f"{harmless(name, lines=False)}: {number:,} executions")
    print(f"{sum(executions.values()):,} executions, {len(findings)} findings")
    output.mkdir(parents=True, exist_ok=True)
    report = {"executions": executions, "findings": findings}
    (output / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(output / "report.json")
    return not findings


def _kernel_fuzz(shards: Sequence[Results], output: Path) -> bool:
    from zvmlab.fuzz.campaign import lines  # only needed here
    from zvmlab.fuzz.merged import merged

    done = merged(shards, output)
    print(*lines(done), sep="\n")
    return not done.new


_MERGE: dict[str, Callable[[Sequence[Results], Path], bool]] = {
    "sweep": _sweep,
    "diff": _diff,
    "tests": _tests,
    "fuzz": run_fuzz,
    "kernel-fuzz": _kernel_fuzz,
}
