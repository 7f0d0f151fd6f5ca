# SPDX-License-Identifier: MIT
"""``make linux-coverage``: writes a page from the lines that guests have counted.

    linux_coverage.py --lines build/linux-lines --output build/report/coverage-of-linux.md
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linux_lines import lines_of
from linux_page import page
from zvmlab.base.errors import EXIT_PASS, UsageError, exit_code
from zvmlab.builder.kernel import COVERAGE
from zvmlab.builder.kernels import resolve
from zvmlab.builder.linux_files import gcov_folder, linux_files


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write the page on the coverage of Linux.")
    parser.add_argument(
        "--lines", type=Path, required=True, help="folder of pytest's option --linux-lines"
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
    """Write the page; 0 if that was done."""
    if not any(args.lines.glob("*/*")):
        raise UsageError(
            f"{args.lines} holds no counts; run pytest with --kernel {COVERAGE} --linux-lines"
        )
    kernel = resolve(COVERAGE)
    gcov = gcov_folder(kernel)
    assert gcov is not None
    found = lines_of(linux_files(), gcov, args.lines)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(page(found, report_of(args.report), kernel.version), encoding="utf-8")
    print(f"{args.output}: {sum(f.done for f in found)} of {sum(f.total for f in found)} lines ran")
    return EXIT_PASS


def main(argv: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    args = arguments(argv)
    return exit_code(lambda: write(args), "linux-coverage")


if __name__ == "__main__":
    sys.exit(main())
