# SPDX-License-Identifier: MIT
"""What ci/units.py runs, what it remembers, and what makes it run a program again."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from zvmlab.base.tree import TREE

sys.path.append(str(TREE / "ci"))
import unit_packages  # noqa: E402  # pylint: disable=wrong-import-position
import unit_sources  # noqa: E402  # pylint: disable=wrong-import-position

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	const char *path = getenv("CK_READ") ? getenv("CK_READ") : "data/read";
	FILE *runs = fopen(getenv("CK_RUNS"), "a"), *read = fopen(path, "r");
	fputs("run\\n", runs);
	fclose(runs);
	printf("%s %s\\n", SAID, read ? "read" : "no file");
	(void)argv;
	if (getenv("CK_ENVIRONMENT"))
		for (char **one = environ; *one; one++)
			puts(*one);
	return argc > 1 ? 0 : getenv("CK_FAILS") != NULL;
}
"""


class Lab:
    """A program that counts its runs, and a file that it reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = self.place = folder
        self.counted = folder / "runs"
        self.tool = TREE / "ci/units.py"
        self.file = folder / "data/read"
        self.file.parent.mkdir()
        self.file.write_text("1", encoding="utf-8")
        self.inputs = folder / "inputs"
        self.inputs.mkdir()
        (self.inputs / "one").write_text("1", encoding="utf-8")
        self.build("first")

    def build(self, said: str) -> None:
        """The program, which says this."""
        source = self.folder / "x.c"
        source.write_text(SOURCE, encoding="utf-8")
        argv = [
            "gcc",
            "-D_GNU_SOURCE",
            f'-DSAID="{said}"',
            "-o",
            str(self.folder / "x"),
            str(source),
        ]
        subprocess.run(argv, check=True, timeout=120)

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run what asks to be run."""
        argv = [sys.executable, str(self.tool), "--jobs", "2"]
        cache = {"ZVMLAB_CACHE": str(self.folder / "cache"), "CK_RUNS": str(self.counted)}
        return subprocess.run(
            [*argv, *(words or ("--reads", "data/read", "x"))],
            cwd=self.place,
            env={**os.environ, "PYTHONPATH": str(TREE / "harness"), **cache, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    @property
    def runs(self) -> int:
        """How often the program ran."""
        return len(self.counted.read_text(encoding="utf-8").splitlines())


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A program that has passed once."""
    made = Lab(tmp_path)
    done = made.run()
    assert (done.returncode, made.runs) == (0, 1), done.stderr
    assert done.stdout == "first read\nunit tests: 1 programs, all of them run\n"
    return made


def test_what_passed_and_is_unchanged_is_not_run_again(lab: Lab) -> None:
    done = lab.run()
    assert (done.returncode, lab.runs) == (0, 1)
    said, summary = done.stdout.splitlines()
    assert said == "first read"
    assert summary.startswith("unit tests: 1 programs, 1 of them not run again: ")


def test_again_runs_all(lab: Lab) -> None:
    assert "all of them run" in lab.run("--again", "--reads", "data/read", "x").stdout
    assert lab.runs == 2


def test_another_program_runs(lab: Lab) -> None:
    lab.build("second")
    assert lab.run().stdout.startswith("second read\n")
    assert lab.runs == 2


def test_another_content_of_a_file_that_is_read_runs(lab: Lab) -> None:
    lab.file.write_text("2", encoding="utf-8")
    lab.run()
    assert lab.runs == 2


def test_what_somebody_sets_for_a_test_runs(lab: Lab) -> None:
    lab.run(ASAN_OPTIONS="detect_leaks=0")
    assert lab.runs == 2


def test_no_other_variable_reaches_a_program(lab: Lab) -> None:
    """Nor makes it run again: CI's shell has others than a developer's."""
    theirs = {"LC_ALL": "C", "TZ": "Asia/Tokyo", "LD_LIBRARY_PATH": "/opt", "TMPDIR": "/var/tmp"}
    lab.run(**theirs, PATH=f"/opt:{os.environ['PATH']}", LANG="de_DE")
    assert lab.runs == 1
    done = lab.run(**theirs, CK_ENVIRONMENT="1")
    said = {line.partition("=")[0]: line for line in done.stdout.splitlines() if "=" in line}
    assert set(said) - {"CK_RUNS", "CK_ENVIRONMENT", "CK_DEFAULT_TIMEOUT"} == {
        "PATH",
        "LANG",
        "TZ",
        "TMPDIR",
    }
    assert (said["PATH"], said["TZ"]) == ("PATH=/usr/bin:/bin", "TZ=UTC")


def test_file_that_no_checksum_has_is_not_found(lab: Lab) -> None:
    assert lab.run("x").stdout.startswith("first no file\n")


def test_what_failed_runs_again(lab: Lab) -> None:
    for runs in (2, 3):
        done = lab.run(CK_FAILS="1")
        assert (done.returncode, lab.runs) == (1, runs)
        assert done.stderr == "unit tests failed: x\n"
        assert "x: exit code 1\n" in done.stdout


def test_input_that_is_added_runs(lab: Lab) -> None:
    shutil.copy(lab.folder / "x", lab.folder / "replay")
    for runs in (2, 2, 3):
        if runs == 3:
            (lab.inputs / "two").write_text("1", encoding="utf-8")
        assert lab.run("replay=inputs").returncode == 0
        assert lab.runs == runs


def test_what_counts_lines_runs_and_is_not_kept(lab: Lab) -> None:
    lab.build("second")
    for runs in (2, 3):
        lab.run("--counts", "inputs", "--reads", "data/read", "x")
        assert lab.runs == runs
    lab.run()
    assert lab.runs == 4


def test_another_tool_runs(lab: Lab) -> None:
    for name in ("unit_packages.py", "unit_sources.py"):
        shutil.copy(TREE / "ci" / name, lab.folder)
    lab.tool = lab.folder / "units.py"
    lab.tool.write_bytes((TREE / "ci/units.py").read_bytes() + b"\n# changed\n")
    lab.run()
    assert lab.runs == 2


def test_clone_in_another_folder_profits(lab: Lab) -> None:
    lab.place = lab.folder / "clone"
    (lab.place / "data").mkdir(parents=True)
    for name in ("x", "data/read"):
        shutil.copy2(lab.folder / name, lab.place / name)
    assert "1 of them not run again" in lab.run().stdout
    assert lab.runs == 1


def _confines() -> bool:
    """Does this kernel have Landlock that allows renaming?"""
    version: int = ctypes.CDLL(None).syscall(444, None, 0, 1)
    return version >= 2


@pytest.mark.skipif(not _confines(), reason="this kernel has no Landlock of version 2 or later")
def test_program_can_open_no_file_that_no_checksum_has(lab: Lab) -> None:
    aside = Path("/var/tmp") / f"zvmlab-read-{os.getpid()}"
    aside.write_text("1", encoding="utf-8")
    try:
        assert lab.run(CK_READ=str(aside)).stdout.startswith("first no file\n")
    finally:
        aside.unlink()


def test_program_can_open_files_of_the_c_library_only(lab: Lab) -> None:
    """Those of other packages are in no checksum."""
    assert lab.run(CK_READ="/usr/share/zoneinfo/UTC").stdout.startswith("first read\n")
    if _confines():
        compiler = Path(shutil.which("gcc") or "").resolve()
        assert lab.run(CK_READ=str(compiler)).stdout.startswith("first no file\n")


STATUS = """Package: gcc-12
Status: install ok installed
Architecture: amd64
Version: 12.2.0-14
Depends: cpp-12 (= 12.2.0-14), binutils (>= 2.40) | other, libc6 (>= 2.34)

Package: binutils
Status: install ok installed
Architecture: amd64
Version: 2.40-2
Provides: linker, elf-binutils (= 2.40)

Package: libfound-dev
Status: install ok installed
Architecture: amd64
Version: 1
Depends: libfound (= 1), linker

Package: libfound
Status: install ok installed
Architecture: amd64
Version: 1

Package: cpp-12
Status: deinstall ok config-files
Architecture: amd64
Version: 12.2.0-14

Package: browser
Status: install ok installed
Architecture: amd64
Version: %s
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """dpkg's files: a compiler, a library, and what has nothing to do with either."""
    lists = tmp_path / "info"
    lists.mkdir()
    names = ["gcc", *unit_packages.TOOLS, *filter(shutil.which, unit_packages.OPTIONAL)]
    own = {str(Path(shutil.which(name) or "").resolve()) for name in names}
    for part in unit_packages.PARTS:
        argv = ["gcc", f"-print-prog-name={part}"]
        said = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=120).stdout
        own.add(str(Path(said.strip()).resolve()))
    (lists / "gcc-12.list").write_text("\n".join(sorted(own)), encoding="utf-8")
    (lists / "libfound-dev:amd64.list").write_text("/usr\n/usr/include\n/usr/include/found.h\n")
    (lists / "browser.list").write_text("/usr/bin/browser\n/usr/lib/browser/libx.so\n")
    status = tmp_path / "status"
    status.write_text(STATUS % 1, encoding="utf-8")
    monkeypatch.setattr(unit_packages, "STATUS", status)
    monkeypatch.setattr(unit_packages, "LISTS", lists)
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    unit_packages._installed.cache_clear()
    return lists


def test_packages_that_compilers_look_at_count_and_no_others(packages: Path) -> None:
    """And what these depend on, also by a name that another package provides."""
    assert unit_packages.for_building("gcc") == [
        "binutils 2.40-2 amd64",
        "gcc-12 12.2.0-14 amd64",
        "libfound 1 amd64",
        "libfound-dev 1 amd64",
    ]
    assert packages.is_dir()


def test_compiler_of_no_package_is_not_known(packages: Path) -> None:
    assert unit_packages.for_building("python3") is None
    assert unit_packages.for_building("no-gcc-of-ours") is None
    (packages / "gcc-12.list").write_text("/usr/bin/gcc-12\n", encoding="utf-8")
    assert unit_packages.for_building("gcc") is None


MADE_OF = "tests/unit/lib/base/test_base.c"


def test_program_that_is_made_of_the_same_is_not_built(lab: Lab) -> None:
    """Nor run; with other options it is built, and runs only if it has become another program."""
    ready, made = lab.folder / "ready", lab.folder / "made"
    lab.build("second")
    shutil.copy(lab.folder / "x", ready)
    make = lab.folder / "make"
    make.write_text(f'#!/bin/sh\necho "$@" >>{made}\ncp {ready} "$1"\n', encoding="utf-8")
    make.chmod(0o755)

    def run(options: str) -> tuple[str, int, int]:
        (lab.folder / "x").unlink()
        words = ("--make", str(make), "--options", options, "--reads", "data/read")
        done = lab.run(*words, f"x:{MADE_OF}")
        (lab.folder / "x").touch()
        assert done.returncode == 0, done.stderr
        said = done.stdout.splitlines()[0]
        return said, len(made.read_text(encoding="utf-8").splitlines()), lab.runs

    assert run("gcc -O1") == ("second read", 1, 2)
    assert run("gcc -O1") == ("second read", 1, 2)
    assert run("gcc -O2") == ("second read", 2, 2)
    assert run("gcc -O2") == ("second read", 2, 2)
    shutil.copy2(shutil.which("gcc") or "", lab.folder / "gcc")
    assert run(f"{lab.folder}/gcc -O2") == ("second read", 3, 2), "nobody tells of its changes"
    lab.file.write_text("2", encoding="utf-8")
    assert run("gcc -O2") == ("second read", 4, 3)


def test_program_that_cannot_be_built_fails(lab: Lab) -> None:
    done = lab.run("--make", "false", "--options", "gcc", f"x:{MADE_OF}")
    assert (done.returncode, done.stdout, lab.runs) == (1, "", 1)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A test with a header, what it uses, what that uses, what it looks into, and what it does not."""
    files = {
        "Makefile": "",
        "ci/unit.mk": "",
        "lib/low/module.mk": "SOURCES := *.c\nINCLUDES := .\n",
        "lib/low/low.c": "",
        "lib/low/low.h": "",
        "lib/own/module.mk": "SOURCES := *.c\nUSES := lib/low\nINCLUDES := include\n",
        "lib/own/sub/own.def": "",
        "lib/own/own.c": "",
        "lib/own/include/own.h": "",
        "lib/seen/module.mk": "SOURCES := *.c\n",
        "lib/seen/seen.c": "",
        "lib/other/module.mk": "SOURCES := *.c\n",
        "lib/other/other.c": "",
        "tests/unit/module.mk": "SOURCES := *.c\nMAIN := test_*.c\nUSES := lib/own\nINSIDE := lib/seen\n",
        "tests/unit/test_a.c": "",
        "tests/unit/test_b.c": "",
        "tests/unit/fixture.c": "",
        "tests/unit/README.md": "",
        "tests/unit/deep/module.mk": "SOURCES := *.c\n",
        "tests/unit/deep/deep.c": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def _made_of(tree: Path, options: str = "gcc", packages: tuple[str, ...] = ("gcc-12 12.2",)) -> str:
    unit_sources.checksum.cache_clear()
    return unit_sources.Sources(tree, options, packages).checksum(["tests/unit/test_a.c"])


MADE = [
    "Makefile",
    "ci/unit.mk",
    "lib/low/module.mk",
    "lib/low/low.c",
    "lib/low/low.h",
    "lib/low/new.h",
    "lib/own/sub/own.def",
    "lib/own/include/own.h",
    "lib/seen/seen.c",
    "tests/unit/module.mk",
    "tests/unit/test_a.c",
    "tests/unit/fixture.c",
]
NOT_MADE = [
    "lib/other/other.c",
    "tests/unit/test_b.c",
    "tests/unit/test_new.c",
    "tests/unit/README.md",
    "tests/unit/deep/deep.c",
]


@pytest.mark.parametrize("name", [*MADE, *NOT_MADE])
def test_what_a_program_is_made_of(tree: Path, name: str) -> None:
    before = _made_of(tree)
    with (tree / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert (_made_of(tree) != before) == (name in MADE)


def test_file_that_is_gone_is_a_change(tree: Path) -> None:
    before = _made_of(tree)
    (tree / "lib/own/sub/own.def").unlink()
    assert _made_of(tree) != before


def test_how_a_program_is_made(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _made_of(tree)
    assert _made_of(tree, "gcc -O3") != before
    assert _made_of(tree, packages=("gcc-12 12.3",)) != before
    monkeypatch.setenv("CPATH", "/opt/include")
    assert _made_of(tree) == before, "which does not reach compilers"
    monkeypatch.setenv("PKG_CONFIG_PATH", "/opt/lib/pkgconfig")
    assert _made_of(tree) != before


def test_folders_of_the_environment_reach_no_compiler(tmp_path: Path) -> None:
    """Of a unit test, whose result another clone takes that has none of them."""
    (tmp_path / "check.h").write_text("#error found\n", encoding="utf-8")
    target = f"{tmp_path}/built/unit/tests/unit/lib/base/test_base.o"
    argv = ["make", "-s", f"BUILD={tmp_path}/built", "CCACHE=", target]
    done = subprocess.run(
        argv,
        cwd=TREE,
        env={**os.environ, "CPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_is_beside_the_packages_is_looked_at(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = tree / "include"
    (headers / "deep").mkdir(parents=True)
    monkeypatch.setattr(unit_sources, "LOCAL", (headers,))
    before = _made_of(tree)
    (headers / "deep/check.h").write_text("", encoding="utf-8")
    assert _made_of(tree) != before


def test_another_clone_is_made_of_the_same(tree: Path) -> None:
    other = tree.parent / f"{tree.name}-clone"
    shutil.copytree(tree, other)
    assert _made_of(other) == _made_of(tree)


def test_make_is_told_of_another_system(lab: Lab) -> None:
    """Objects depend on the file; it stays as it is while compilers and libraries do."""
    system = lab.folder / "built/system"
    make = ("--make", "true", "--system", str(system), "--reads", "data/read")
    assert lab.run(*make, "--options", "gcc", f"x:{MADE_OF}").returncode == 0
    text, made = system.read_text(encoding="utf-8"), system.stat().st_mtime_ns
    assert "libc6-dev " in text
    assert lab.run(*make, "--options", "gcc -O2", f"x:{MADE_OF}").returncode == 0
    assert system.stat().st_mtime_ns == made
    system.write_text(text.replace("libc6-dev ", "libc6-dev 0:"), encoding="utf-8")
    assert lab.run(*make, "--options", "gcc", f"x:{MADE_OF}").returncode == 0
    assert system.read_text(encoding="utf-8") == text
