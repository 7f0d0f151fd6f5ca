# SPDX-License-Identifier: MIT
"""Debian packages: what debian/ says agrees with the rest, and build/deb is whole or as it was."""

from __future__ import annotations

import errno
import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from zvmlab.base.errors import CannotRun, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.cli import ship
from zvmlab.cli.doctor import read_packages

ROOT = Path(__file__).resolve().parents[2]
QUIET = Progress(quiet=True)
NAMES = ["monread_0.1.0_amd64.deb", "zvmlab_0.1.0_amd64.deb"]
# Stand in for programs of Debian's: what they do is theirs.
BUILDS = """#!/bin/sh
echo "   dh_auto_build"
for name in zvmlab monread; do echo new >../"$name"_0.1.0_amd64.deb; done
echo >../zvmlab_0.1.0_amd64.changes
test -f debian/rules && test ! -e untracked
"""
FULL = """#!/bin/sh
echo new >../zvmlab_0.1.0_amd64.deb
echo "dpkg-deb: error: pasting subprocess: No space left on device"
exit 2
"""


@pytest.fixture(name="deb", scope="module")
def _deb() -> ModuleType:
    """ci/deb.py."""
    spec = importlib.util.spec_from_file_location("deb", ROOT / "ci/deb.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules["deb"] = found
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with two files of its own and one that git does not know; packages in build/deb."""
    found = tmp_path / "clone"
    (found / "debian").mkdir(parents=True)
    for name in ("debian/rules", "README", "untracked"):
        (found / name).write_text("text\n")
    for words in (["init", "-q"], ["add", "debian/rules", "README"]):
        subprocess.run(["git", "-C", str(found), *words], check=True, timeout=60)
    (found / "build/deb").mkdir(parents=True)
    (found / "build/deb/old_0.0.9_amd64.deb").write_text("old")
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    _program(clone_of=found, name="dpkg-buildpackage", text=BUILDS)
    _program(clone_of=found, name="lintian", text="#!/bin/sh\n")
    return found


def _program(clone_of: Path, name: str, text: str) -> None:
    file = clone_of.parent / "programs" / name
    file.write_text(text)
    file.chmod(0o755)


def _is_as_it_was(clone: Path) -> bool:
    """Nothing half done, and nothing else beside the log and the lock."""
    build = clone / "build"
    there = {path.name for path in build.iterdir()}
    return [path.name for path in (build / "deb").iterdir()] == ["old_0.0.9_amd64.deb"] and (
        there <= {"deb", "deb.log", ".deb.lock"}
    )


def test_packages_take_the_place_of_the_old_ones(deb: ModuleType, clone: Path) -> None:
    (clone / "build/.deb").mkdir()
    (clone / "build/.deb/left").write_text("by a build that was killed")
    folder = deb.build(clone, clone / "build", QUIET)
    assert folder == clone / "build/deb"
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    assert {path.name for path in (clone / "build").iterdir()} == {"deb", "deb.log", ".deb.lock"}
    assert "dh_auto_build" in (clone / "build/deb.log").read_text()


def test_a_disk_that_fills_is_told_in_one_sentence(deb: ModuleType, clone: Path) -> None:
    _program(clone, "dpkg-buildpackage", FULL)
    with pytest.raises(CannotRun) as told:
        deb.build(clone, clone / "build", QUIET)
    assert str(told.value) == (
        "a disk is full (dpkg-deb: error: pasting subprocess: No space left on device); free some"
        " space, or name a folder on another disk by BUILD=DIR and ZVMLAB_CACHE=DIR;"
        f" {clone}/build/deb is as it was"
    )
    assert _is_as_it_was(clone)


def test_a_disk_that_is_full_for_the_copy_is_told_too(
    deb: ModuleType, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_source: Path, to: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(to))

    monkeypatch.setattr(deb.shutil, "copy2", full)
    with pytest.raises(CannotRun, match=r"a disk is full \(.*/README: No space left on device\); "):
        deb.build(clone, clone / "build", QUIET)
    assert _is_as_it_was(clone)


@pytest.mark.parametrize("program", ["dpkg-buildpackage", "lintian"])
def test_what_fails_is_named_and_leaves_the_old_packages(
    deb: ModuleType, clone: Path, program: str
) -> None:
    _program(clone, program, "#!/bin/sh\necho E: zvmlab: bad-thing\nexit 1\n")
    with pytest.raises(ZvmlabError, match=rf"{program}' ended with exit code 1(.|\n)*bad-thing"):
        deb.build(clone, clone / "build", QUIET)
    assert _is_as_it_was(clone)


def test_a_second_build_at_the_same_time_is_refused(deb: ModuleType, clone: Path) -> None:
    with open(clone / "build/.deb.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CannotRun, match="another 'make deb' is building in .*/build$"):
            deb.build(clone, clone / "build", QUIET)
    assert _is_as_it_was(clone)


def test_what_is_no_clone_is_told(deb: ModuleType, clone: Path) -> None:
    shutil.rmtree(clone / ".git")
    with pytest.raises(CannotRun, match="is no clone of zvmlab, .*'dpkg-buildpackage -b' builds"):
        deb.build(clone, clone / "build", QUIET)
    assert _is_as_it_was(clone)


def _fields(text: str, name: str) -> list[str]:
    return re.findall(rf"^{name}: (.*(?:\n .*)*)", text, re.MULTILINE)


def test_setup_installs_what_the_build_depends_on() -> None:
    (field,) = _fields((ROOT / "debian/control").read_text(), "Build-Depends")
    wanted = {word.split()[0] for word in field.split(",")} - {"debhelper-compat"}
    groups = {"run", "build", "deb"}
    listed = {n for package in read_packages() if package.group in groups for n in package.names}
    assert wanted <= listed


def test_packages_have_what_the_harness_would_build() -> None:
    names = _fields((ROOT / "debian/control").read_text(), "Package")
    assert set(ship.PACKAGES) <= set(names) and len(names) == len(set(names)) == 9


@pytest.mark.parametrize(
    ("version", "file"),
    [
        ("10.0", "qemu_10.0.13+ds.orig.tar.xz"),
        ("11.1", "qemu_11.1.1+ds.orig.tar.xz"),
    ],
)
def test_the_source_of_qemu_is_named(version: str, file: str) -> None:
    """By the program in debian/rules, for each version that is built."""
    rules = (ROOT / "debian/rules").read_text().replace("\\\n", "")
    (program,) = re.findall(r'PYTHONPATH=harness \$\(PYTHON\) -c "(.*?)" >.*tarball\.sed', rules)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "harness"), "ZVMLAB_QEMU_VERSION": version}
    argv = [sys.executable, "-B", "-c", program]
    script = subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout
    readme = ROOT / "debian/zvmlab-qemu.README.Debian.in"
    said = subprocess.run(
        ["sed", script, str(readme)], capture_output=True, text=True, check=True
    ).stdout
    assert f"is QEMU {version} with the" in said and f"\n  {file}\n" in said
    assert "package qemu:\n" in said and not re.search(r"@[A-Z0-9]+@", said)


def test_symbols_are_those_of_the_headers() -> None:
    text = (ROOT / "debian/libmonrec0.symbols").read_text()
    symbols = set(re.findall(r"^ (monrec_\w+)@MONREC_0\.1 0\.1\.0$", text, re.MULTILINE))
    names = ("monrec.h", "monrec_application.h", "monrec_catalogue.h")
    headers = "".join((ROOT / "lib/monrec" / name).read_text() for name in names)
    declared = set(re.findall(r"\b(monrec_\w+)\(", headers))
    assert symbols == declared and len(text.splitlines()) == 3 + len(symbols)


def test_licences_are_those_of_the_tree() -> None:
    """debian/copyright and .reuse/dep5, in the names of either."""
    names = {"MIT": "Expat", "GPL-2.0-or-later": "GPL-2.0+", "GPL-2.0-only": "GPL-2.0"}

    def licences(file: str) -> dict[str, str]:
        text = (ROOT / file).read_text()
        return dict(re.findall(r"^Files: (.*)\nCopyright: .*\nLicense: (.*)$", text, re.MULTILINE))

    tree = {files: names[name] for files, name in licences(".reuse/dep5").items()}
    assert licences("debian/copyright") == tree and len(tree) == 3
