# SPDX-License-Identifier: MIT
"""The sub-command that shows which lines of Linux ran: coverage."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zvmlab.base.errors import EXIT_PASS, UsageError
from zvmlab.base.plain import harmless
from zvmlab.cli.options import top_command

if TYPE_CHECKING:
    from zvmlab.builder.count_folder import KernelCounts
    from zvmlab.coverage.report import Report

_FILE = 44


def add_commands(commands: Any) -> None:
    """coverage."""
    parser = top_command(
        commands,
        "coverage",
        "  zvmlab run --kernel source:6.12:coverage --coverage cov -- ./my-test\n"
        "  zvmlab coverage cov --html cov/html\n"
        "  zvmlab coverage cov more --cobertura cov.xml --lcov cov.info\n"
        "  zvmlab coverage cov --patch my-series.mbox",
    )
    add = parser.add_argument
    add("folders", nargs="+", type=Path, metavar="DIR", help="a folder of --coverage")
    add("--kernel", metavar="VERSION", help="only this kernel, if the folders have several")
    add("--html", type=Path, metavar="OUT", help="write pages into this folder (gcovr)")
    add("--lcov", type=Path, metavar="FILE", help="write a tracefile of lcov")
    add("--cobertura", type=Path, metavar="FILE", help="write Cobertura's XML (gcovr)")
    add("--json", type=Path, metavar="FILE", help="write gcovr's JSON")
    add(
        "--patch",
        type=Path,
        action="append",
        default=[],
        metavar="SERIES",
        help="list the lines of this patch, mbox or folder of patches that no test ran (diff-cover);"
        " the tree that was counted has it; may be repeated",
    )
    parser.set_defaults(command=run_coverage)


def run_coverage(arguments: argparse.Namespace) -> int:
    """The table, and what was asked for beside it."""
    from zvmlab.coverage.report import Report, need  # which few commands have to import

    wants_pages = any((arguments.html, arguments.cobertura, arguments.json, arguments.patch))
    need(*(["gcovr"] if wants_pages else []), *(["geninfo"] if arguments.lcov else []))
    for path in (arguments.lcov, arguments.cobertura, arguments.json):
        if path is not None and not path.absolute().parent.is_dir():
            raise UsageError(f"{path} cannot be written: {path.parent} is no folder")
    if arguments.html is not None and arguments.html.exists() and not arguments.html.is_dir():
        raise UsageError(f"--html {arguments.html} is a file; the pages need a folder")
    kernels = _kernels(arguments.folders, arguments.kernel)
    with tempfile.TemporaryDirectory(prefix="zvmlab-coverage-") as scratch:
        report = Report(kernels, Path(scratch))
        print(*_table(report), sep="\n")
        if arguments.html:
            print(f"pages: {report.html(arguments.html)}")
        for path, write in (
            (arguments.lcov, report.lcov),
            (arguments.cobertura, report.cobertura),
            (arguments.json, report.json),
        ):
            if path is not None:
                write(path)
        if arguments.patch:
            print(*_not_run(report.not_run(arguments.patch)), sep="\n")
    return EXIT_PASS


def _kernels(folders: Sequence[Path], version: str | None) -> list[KernelCounts]:
    """The counts of one kernel in all folders."""
    from zvmlab.builder.count_folder import kernels_in

    found = [kernel for folder in folders for kernel in kernels_in(folder)]
    names = sorted({kernel.folder.name for kernel in found})
    if version is not None:
        names = [name for name in names if name == version or name.startswith(f"{version}-")]
        if not names:
            known = ", ".join(sorted({kernel.folder.name for kernel in found}))
            raise UsageError(f"no folder has counts of kernel {version} (possible: {known})")
    if len(names) > 1:
        raise UsageError(
            f"there are counts of several kernels, which cannot be added: {', '.join(names)};"
            " choose one with --kernel"
        )
    return [kernel for kernel in found if kernel.folder.name == names[0]]


def _table(report: Report) -> list[str]:
    lines = [harmless(report.title, lines=False)]
    lines.append(f"{'source':<{_FILE}} {'lines':>17} {'branches':>17} {'functions':>17}")
    totals = [[0, 0], [0, 0], [0, 0]]
    for file in report.files:
        figures = file.figures()
        for total, (done, most) in zip(totals, figures):
            total[0] += done
            total[1] += most
        lines.append(_row(file.path, figures))
    lines.append(_row("all", totals))
    for test in report.lost:
        lines.append(harmless(f"lost: {test.name}: {test.lost}", lines=False))
    return lines


def _row(name: str, figures: Sequence[Sequence[int]]) -> str:
    cells = [
        f"{f'{done}/{most}':>11} {f'{100 * done / most:.0f} %' if most else '–':>5}"
        for done, most in figures
    ]
    return f"{harmless(name, lines=False):<{_FILE}} {' '.join(cells)}"


def _not_run(found: dict[str, list[int]]) -> list[str]:
    """Changed lines that no test ran, as runs of lines."""
    lines = []
    for name, numbers in found.items():
        ordered = sorted(numbers)
        groups = groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0])
        ends = [[number for _, number in group] for _, group in groups]
        if ends:
            text = ", ".join(f"{a[0]}" if len(a) == 1 else f"{a[0]}-{a[-1]}" for a in ends)
            lines.append(f"  {name} {text}")
    if not lines:
        return ["All changed lines with code ran."]
    return ["Changed lines that no test ran", *lines]
