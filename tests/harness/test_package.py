# SPDX-License-Identifier: MIT
"""The Python package: installed from the clone it works, as a wheel it is refused when it is built."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What a package is built from; setuptools writes beside it."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "harness", folder / "harness")
    return folder


def _build(folder: Path, how: str) -> subprocess.CompletedProcess[str]:
    """As pip calls it; the name of the wheel is the last line."""
    code = f"from setuptools.build_meta import {how}; print({how}('out'))"
    argv = [sys.executable, "-c", code]
    return subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


def test_wheel_is_refused_with_what_to_do_instead(copy: Path) -> None:
    done = _build(copy, "build_wheel")
    assert done.returncode != 0
    assert "zvmlab builds its emulators from its clone, which a wheel does not have;" in done.stderr
    assert "use 'pip install -e .' in the clone, or 'make install'" in done.stderr
    assert not list(copy.rglob("*.whl"))


def test_package_of_the_clone_points_into_it(copy: Path) -> None:
    done = _build(copy, "build_editable")
    assert done.returncode == 0, done.stderr
    wheel = copy / "out" / done.stdout.splitlines()[-1]
    with zipfile.ZipFile(wheel) as files:
        text = "".join(
            files.read(name).decode()
            for name in files.namelist()
            if name.endswith((".pth", ".txt"))
        )
    assert str(copy / "harness") in text and "zvmlab = zvmlab.cli.start:main" in text


def test_all_packages_are_named() -> None:
    """A folder that pyproject.toml forgets would be missing from an installation."""
    folders = (path.parent for path in (ROOT / "harness/zvmlab").rglob("__init__.py"))
    names = {".".join(folder.relative_to(ROOT / "harness").parts) for folder in folders}
    text = (ROOT / "pyproject.toml").read_text()
    assert all(f'    "{name}",' in text for name in names)
    assert (ROOT / "harness/zvmlab/py.typed").is_file()
