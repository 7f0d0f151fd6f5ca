# SPDX-License-Identifier: MIT
"""Counts of a guest's kernel, kept in files; the guest is a dictionary here."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zvmlab.builder.kernel import Kernel
from zvmlab.builder.linux_files import BUILT_IN, GCOV
from zvmlab.guest import kernel_lines
from zvmlab.guest.kernel_lines import keep_counts

TREE = "/cache/tree"


def guest(files: dict[str, bytes]) -> Any:
    """A guest with files in gcov's folder of debugfs; reading any other is an error."""

    def read(path: str) -> bytes:
        name = path.removeprefix(f"/sys/kernel/debug/gcov{TREE}/")
        if name not in files:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return files[name]

    return SimpleNamespace(
        config=SimpleNamespace(kernel="coverage"), agent=SimpleNamespace(read_file=read)
    )


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache entry of a kernel that counts two sources."""
    entry = tmp_path / "kernel"
    for name in ("net/a.gcno", "drivers/s390/b.gcno"):
        notes = entry / GCOV / name
        notes.parent.mkdir(parents=True, exist_ok=True)
        notes.touch()
    (entry / GCOV / BUILT_IN).write_text(f"{TREE}\n")
    found = Kernel("6.1", "coverage", entry / "boot" / "vmlinuz", None)
    monkeypatch.setattr(kernel_lines, "resolve", lambda name: found)
    return entry


def test_each_guest_has_a_folder_with_the_counts_of_what_has_run(
    kernel: Path, tmp_path: Path
) -> None:
    into = tmp_path / "lines"
    assert kernel.is_dir()
    assert keep_counts(guest({"net/a.gcda": b"1", "drivers/s390/b.gcda": b"2"}), into) == 2
    assert keep_counts(guest({"net/a.gcda": b"3"}), into) == 1
    kept = sorted(file.read_bytes() for file in into.glob("*/net/a.gcda"))
    assert kept == [b"1", b"3"]
    assert [file.read_bytes() for file in into.glob("*/drivers/s390/b.gcda")] == [b"2"]
    assert len(list(into.iterdir())) == 2


def test_another_error_than_a_module_that_is_not_there_is_raised(
    kernel: Path, tmp_path: Path
) -> None:
    def refused(path: str) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    other = guest({})
    other.agent.read_file = refused
    assert kernel.is_dir()
    with pytest.raises(PermissionError):
        keep_counts(other, tmp_path / "lines")


def test_kernel_that_counts_nothing_is_not_asked(kernel: Path, tmp_path: Path) -> None:
    (kernel / GCOV / BUILT_IN).unlink()
    assert keep_counts(SimpleNamespace(config=SimpleNamespace(kernel="sid")), tmp_path / "l") == 0  # type: ignore[arg-type]
    assert not (tmp_path / "l").exists()
