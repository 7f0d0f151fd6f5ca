# SPDX-License-Identifier: MIT
"""A tree of a few sources, built as kbuild builds: objects, their commands, what is linked of which."""

from __future__ import annotations

import subprocess
from pathlib import Path

from zvmlab.builder.image import COMPILER
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.tree_notes import FILES, STATE, write_note
from zvmlab.builder.tree_state import hash_of, read_files, tree_state

CROSS = COMPILER.removesuffix("gcc")
VERSION = "6.1.9"
HEADER = """\
static inline int scaled(int a, int b)
{
	return a * 7 / b;
}
"""
FIRST = """\
#include "scale.h"
int seen;
static int __attribute__((noinline)) twice(int a)
{
	seen += a;
	return a * 2;
}

int __attribute__((noinline, section(".init.text"))) begin(int a)
{
	seen = a;
	return twice(a + 3);
}

int __attribute__((section(".idle.text"))) idle(int a)
{
	return a * 9;
}

int outer(int a, int b)
{
	int c = twice(a);

	if (c > b)
		seen = scaled(c, b);
	return c + begin(b);
}
"""
SECOND = """\
extern int seen;
static int __attribute__((noinline)) twice(int a)
{
	while (a > seen)
		a = a * 5 - 3;
	return a;
}

int __attribute__((weak, section(".idle.text"))) idle(int a)
{
	return a;
}

int again(int a)
{
	return twice(a) + 1;
}
"""
SOURCES = {
    "Makefile": "VERSION = 6\nPATCHLEVEL = 1\n",
    "Kconfig": "",
    "include/scale.h": HEADER,
    "init/first.c": FIRST,
    "lib/second.c": SECOND,
    "drivers/pair/pair_a.c": FIRST,
    "drivers/pair/pair_b.c": SECOND,
}
BUILT_IN = ("init/first.o", "lib/second.o")
MODULE = ("drivers/pair/pair_a.o", "drivers/pair/pair_b.o")


class SmallBuild:
    """The tree in FOLDER/linux and its build in FOLDER/work."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.work = folder / "linux", folder / "work"
        self.out = self.work / "out"
        modules = folder / "built" / "lib/modules" / VERSION
        image = folder / "built" / "boot" / f"vmlinuz-{VERSION}"
        for made in (self.out, modules / "kernel/drivers", image.parent):
            made.mkdir(parents=True)
        image.write_bytes(b"image")
        for name, text in SOURCES.items():
            self.write(name, text)
        for name in (*BUILT_IN, *MODULE):
            self.build(name)
        self._link(modules / "kernel/drivers/pair.ko")
        self.note()
        self.kernel = Kernel(VERSION, "linux@1a2b3c4d", image, modules, self.work)

    def write(self, name: str, text: str) -> None:
        """Write a file of the tree."""
        (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / name).write_text(text, encoding="ascii")

    def build(self, name: str, behind: str = "") -> None:
        """Compile an object and note the command, with what stands behind it."""
        made = self.out / name
        made.parent.mkdir(parents=True, exist_ok=True)
        source = self.tree / Path(name).with_suffix(".c")
        depends = f"{made.parent.relative_to(self.out)}/.{made.name}.d"
        words = [f"-Wp,-MMD,{depends}", f"-I{self.tree}/include", "-O2", "-DHASH=#"]
        argv = [COMPILER, *words, "-c", "-o", name, str(source)]
        subprocess.run(argv, cwd=self.out, check=True, timeout=120)
        (self.out / depends).unlink()
        command = " ".join(argv).replace("#", "$(pound)")
        read = f"deps_{name} := \\\n  {self.tree}/include/scale.h \\\n"
        made.with_name(f".{made.name}.cmd").write_text(
            f"savedcmd_{name} := {command} {behind}\n\nsource_{name} := {source}\n\n{read}",
            encoding="ascii",
        )

    def _link(self, installed: Path) -> None:
        def run(*words: str) -> None:
            subprocess.run(words, cwd=self.out, check=True, timeout=120)

        run(f"{CROSS}ar", "cDPrST", "vmlinux.a", *BUILT_IN)
        run(f"{CROSS}ld", "-r", "-o", "vmlinux.o", "--whole-archive", "vmlinux.a")
        (self.out / ".vmlinux.o.cmd").write_text(
            f"savedcmd_vmlinux.o := {CROSS}ld -r -o vmlinux.o --whole-archive vmlinux.a\n"
        )
        (self.out / "modules.order").write_text("drivers/pair/pair.o\n")
        (self.out / "drivers/pair/pair.mod").write_text("".join(f"{name}\n" for name in MODULE))
        run(f"{CROSS}ld", "-r", "-o", str(installed), *MODULE)

    def note(self) -> None:
        """Note the state of the tree as a build does."""
        files = read_files(self.tree, tree_state(self.tree), {})
        noted = {"tree": str(self.tree), "contents": hash_of(files), "entry": "built"}
        write_note(self.work / FILES, files)
        write_note(self.work / STATE, noted)
