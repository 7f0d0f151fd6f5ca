# SPDX-License-Identifier: MIT
"""A program of this machine that counts its lines, in the place of tests in guests."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from zvmlab.builder.count_folder import of_kernel
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.linux_files import BUILT_IN, GCOV
from zvmlab.coverage import gcov

SOURCE = """\
int odd(int n)
{
	if (n % 2)
		return 1;
	return 0;
}

int never(void)
{
	return 5;
}

int main(int argc, char **argv)
{
	(void)argv;
	return odd(argc) & 0;
}
"""
PATH = "drivers/a.c"
# Lines of SOURCE with code, by function; a program with one argument more takes line 5, not 4.
ODD, NEVER, MAIN = {1, 3, 4, 5}, {8, 10}, {13, 16}

Count = Callable[..., None]


def program(folder: Path, source: str = SOURCE) -> Path:
    """The source's program, which counts, and its notes beside it."""
    build = folder / "build"
    (build / "drivers").mkdir(parents=True)
    tree = folder / "tree"
    (tree / "drivers").mkdir(parents=True)
    (tree / PATH).write_text(source)
    compile = ["gcc", "--coverage", "-c", f"../tree/{PATH}", "-o", "drivers/a.o"]
    subprocess.run(compile, cwd=build, check=True)
    subprocess.run(["gcc", "--coverage", "drivers/a.o", "-o", "a"], cwd=build, check=True)
    return build


def entry_of(folder: Path, build: Path, name: str) -> Kernel:
    """A cache entry with the notes of that program."""
    entry = folder / name
    notes = entry / GCOV / "drivers"
    notes.mkdir(parents=True)
    shutil.copy(build / "drivers/a.gcno", notes)
    shutil.copy(folder / "tree" / PATH, notes)
    (entry / GCOV / BUILT_IN).write_text(f"{build}\n")
    return Kernel("6.1.9", "coverage", entry / "boot/vmlinuz", None)


@pytest.fixture(name="count")
def count_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Count:
    """count("name", "x", …): a test that runs the program with these arguments."""
    for tool in ("gcov", "gcov-tool", "gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} of the host's compiler is missing")
    monkeypatch.setattr(gcov, "GCOV", "gcov")
    monkeypatch.setattr(gcov, "GCOV_TOOL", "gcov-tool")
    build = program(tmp_path)
    kernel = entry_of(tmp_path, build, "kernel-6.1-12345678")
    kept = of_kernel(tmp_path / "cov", kernel)

    def run(name: str, *arguments: str, lost: str = "", undecided: str = "") -> None:
        (build / "drivers/a.gcda").unlink(missing_ok=True)
        subprocess.run([str(build / "a"), *arguments], check=True)
        folder = kept.add(name, lost, undecided)
        if not lost:
            (folder / "drivers").mkdir()
            shutil.copy(build / "drivers/a.gcda", folder / "drivers")

    return run
