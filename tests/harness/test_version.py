# SPDX-License-Identifier: MIT
"""The version is written in one place: every other that has it is held against that one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from scripted import run_script

from zvmlab.base.version import __version__

ROOT = Path(__file__).resolve().parents[2]
CHANGES = ("CHANGELOG.md", "debian/changelog")
FILES = (
    *("harness/zvmlab/base/version.py", "lib/base/zvmlab_version.h"),
    *CHANGES,
    *("driver/mon_main.c", "driver/dkms.conf", "driver/monreader.4", "docs/control.md"),
    "docs/zvmlab-system.5",
    *("docs/dmmon.1", "docs/libmonrec.3", "docs/monread.1", "docs/taskmon.1", "docs/zvmlab.1"),
    *("po/zh_CN/dmmon.1.po", "po/zh_CN/libmonrec.3.po", "po/zh_CN/monread.1.po"),
    *("po/zh_CN/taskmon.1.po", "po/zh_CN/zvmlab.1.po", "po/zh_CN/monreader.4.po"),
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that have it, and what compares them."""
    for name in ("ci/version.py", *FILES):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def _version(folder: Path, *words: str) -> tuple[int, list[str]]:
    done = run_script(folder / "ci/version.py", *words)
    assert not done.stdout
    return done.returncode, done.stderr.splitlines()


def test_this_clone_has_one_version() -> None:
    assert _version(ROOT) == (0, [])


@pytest.mark.parametrize("name", FILES[1:])
def test_a_place_that_differs_is_named(copy: Path, name: str) -> None:
    text = (copy / name).read_text()
    assert text.count(__version__)
    (copy / name).write_text(text.replace(__version__, "7.8.9", 1))
    line = text[: text.index(__version__)].count("\n") + 1
    said = f"{name}:{line}: version 7.8.9, where {FILES[0]} has {__version__}"
    assert _version(copy) == (1, [said])


@pytest.mark.parametrize("name", FILES[1:])
def test_a_place_that_says_nothing_is_named(copy: Path, name: str) -> None:
    (copy / name).write_text("")
    code, (said,) = _version(copy)
    assert code == 1 and said.startswith(f"{name}: no version, where {__version__} is expected (")
    (copy / name).unlink()
    assert _version(copy) == (1, [f"{name}: cannot be read: No such file or directory"])


def test_a_new_version_is_written_everywhere_but_into_the_lists_of_changes(copy: Path) -> None:
    end = f": version {__version__}, where {FILES[0]} has 12.0.3"
    code, said = _version(copy, "--set", "12.0.3")
    history = (copy / "CHANGELOG.md").read_text(encoding="utf-8")
    line = history[: history.index("\n## ") + 1].count("\n") + 1
    assert (code, sorted(said)) == (1, [f"CHANGELOG.md:{line}{end}", f"debian/changelog:1{end}"])
    for name in FILES:
        assert ("12.0.3" in (copy / name).read_text()) == (name not in CHANGES), name
    packages = copy / "debian/changelog"
    packages.write_text("zvmlab (12.0.3) unstable; urgency=medium\n\n" + packages.read_text())
    changes = copy / "CHANGELOG.md"
    changes.write_text(changes.read_text().replace("\n## ", "\n## 12.0.3\n\n## ", 1))
    assert _version(copy) == (0, [])
    changes.write_text(changes.read_text().replace("## 12.0.3", "## After 12.0.3\n\n## 12.0.3"))
    assert _version(copy) == (0, [])


@pytest.mark.parametrize("words", [["--set"], ["--set", "0.2"], ["--set", "v0.2.0"], ["0.2.0"]])
def test_what_is_no_version_is_refused(copy: Path, words: list[str]) -> None:
    code, said = _version(copy, *words)
    assert code == 2 and said[0].endswith("[--set N.N.N]")
    assert _version(copy) == (0, [])


def test_make_takes_it_from_the_one_place() -> None:
    """As pyproject.toml does, where setuptools reads it."""
    argv = ["make", "-s", "-C", str(ROOT), "--eval", "say-it:;@echo $(VERSION)", "say-it"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"{__version__}\n"
    assert 'version = { attr = "zvmlab.base.version.__version__" }' in (
        ROOT / "pyproject.toml"
    ).read_text(encoding="utf-8")
