# SPDX-License-Identifier: MIT
"""``make linux-coverage``: writes a page, and the map of tests, from the lines that guests have counted.

    linux_coverage.py --counts build/linux-counts/* --output build/report/coverage-of-linux.md
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linux_lines import lines_of
from linux_map import Called, of_series, series_part, update, with_others
from linux_page import page
from zvmlab.base.errors import EXIT_PASS, UsageError, exit_code
from zvmlab.builder.count_folder import kernels_in
from zvmlab.builder.linux_files import linux_files
from zvmlab.coverage.gcov import called


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write the page on the coverage of Linux.")
    parser.add_argument(
        "--counts",
        type=Path,
        nargs="+",
        required=True,
        help="folders of pytest's option --coverage, which are added",
    )
    parser.add_argument(
        "--map", type=Path, help="the map of tests, of which the kernel's part is new"
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="only some tests ran: leave in the map what it has of all others",
    )
    parser.add_argument(
        "--report", type=Path, help="report.json of a run of the tests on other kernels"
    )
    parser.add_argument("--output", type=Path, required=True, help="the page")
    return parser.parse_args(argv)


def report_of(path: Path | None) -> dict[str, Any] | None:
    """The report in a file; None if none was named or there is none."""
    if path is None or not path.exists():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} is no report: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("requirements"), list):
        raise UsageError(f"{path} is no report.json of a run")
    return document


def write(args: argparse.Namespace) -> int:
    """Write the page and the map; 0 if that was done."""
    kernels = [kernel for folder in args.counts for kernel in kernels_in(folder)]
    names = sorted({kernel.folder.name for kernel in kernels})
    if len(names) > 1:
        raise UsageError(f"there are counts of several kernels: {', '.join(names)}")
    version = kernels[0].version
    with tempfile.TemporaryDirectory(prefix="zvmlab-lines-") as scratch:
        found = lines_of(linux_files(), kernels, Path(scratch))
        lost = sum(bool(test.lost) for kernel in kernels for test in kernel.tests())
        args.output.parent.mkdir(parents=True, exist_ok=True)
        text = page(found, report_of(args.report), version, lost)
        args.output.write_text(text, encoding="utf-8")
        if args.map is not None:
            series = ".".join(version.split(".")[:2])
            functions: Called = called(kernels, Path(scratch) / "map")
            if args.keep:
                counted = {
                    test.name for kernel in kernels for test in kernel.tests() if not test.lost
                }
                functions = with_others(functions, of_series(args.map, series), counted)
            update(args.map, series, series_part(functions, version, today()))
    print(f"{args.output}: {sum(f.done for f in found)} of {sum(f.total for f in found)} lines ran")
    return EXIT_PASS


def today() -> str:
    """The date, as in 2026-11-28."""
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def main(argv: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    args = arguments(argv)
    return exit_code(lambda: write(args), "linux-coverage")


if __name__ == "__main__":
    sys.exit(main())
