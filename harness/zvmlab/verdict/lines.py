# SPDX-License-Identifier: MIT
"""Changed lines that no test of a trial ran: gcov's counts of the patched kernel."""

from __future__ import annotations

from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.builder.count_folder import kernels_in, of_kernel
from zvmlab.builder.kernels import resolve
from zvmlab.coverage.gcov import need_gcov
from zvmlab.coverage.report import Report, need


def need_tools(folder: Path) -> None:
    """CannotRun without what reads the counts, UsageError if they cannot be kept in *folder*."""
    need("diff-cover", "gcovr", "git")
    need_gcov()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--coverage {folder} is no folder")
    if not folder.absolute().parent.is_dir():
        raise UsageError(f"there is no folder for --coverage {folder}")


def not_run(counts: Path, kernel: str, series: bytes, scratch: Path) -> dict[str, list[int]]:
    """By source whose lines are counted: those that the series changes and that no test ran."""
    wanted = of_kernel(counts, resolve(kernel)).folder.name
    kernels = [found for found in kernels_in(counts) if found.folder.name == wanted]
    patch = scratch / "series.diff"
    patch.write_bytes(series)
    (scratch / "report").mkdir()
    report = Report(kernels, scratch / "report")
    found: dict[str, list[int]] = {name: [] for name in report.counted([patch])}
    return found | report.not_run([patch]) if found else found
