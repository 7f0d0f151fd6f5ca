# SPDX-License-Identifier: MIT
"""Programs of another suite use the loader and the libraries that came with them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zvmlab.base.errors import CannotRun
from zvmlab.builder import host_programs

TRIPLET = "x86_64-linux-gnu"
LOADER = "ld-linux-x86-64.so.2"


def _program(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF and so on")
    path.chmod(0o755)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Unpacked as Debian 12's libc6 is: the loader's own path is a link to the machine's."""
    folder = tmp_path / "root"
    for name in (f"lib/{TRIPLET}/libc.so.6", f"lib/{TRIPLET}/{LOADER}", "usr/bin/program"):
        _program(folder / name)
    (folder / "lib64").mkdir()
    (folder / "lib64" / LOADER).symlink_to(f"/lib/{TRIPLET}/{LOADER}")
    return folder


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a patchelf was told that changes nothing."""
    (tmp_path / "bin").mkdir()
    patchelf = tmp_path / "bin" / "patchelf"
    patchelf.write_text(
        f'#!/bin/sh\nif [ "$1" = --print-interpreter ]; then echo /lib64/{LOADER}; exit; fi\n'
        f'echo "$*" >>{tmp_path}/told\n'
    )
    patchelf.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return tmp_path / "told"


def test_program_uses_the_loader_beside_its_c_library(root: Path, told: Path) -> None:
    """Not this machine's, which the link leads to; and libraries stay as they are."""
    host_programs._relocate(root, Path("/final"))
    path = f"/final/lib/{TRIPLET}:/final/usr/lib/{TRIPLET}"
    assert told.read_text().splitlines() == [
        f"--force-rpath --set-rpath {path} {root}/usr/bin/program",
        f"--set-interpreter /final/lib/{TRIPLET}/{LOADER} {root}/usr/bin/program",
    ]


def test_program_without_its_loader_is_refused(root: Path, told: Path) -> None:
    (root / "lib" / TRIPLET / LOADER).unlink()
    with pytest.raises(CannotRun, match=f"program cannot be made to use its own {LOADER}"):
        host_programs._relocate(root, Path("/final"))
    assert not told.exists()
