# SPDX-License-Identifier: MIT
"""The functions of a module's file, held against what binutils say of it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from zvmlab.base.errors import ZvmlabError
from zvmlab.guest.symbols import functions_of

CC = "s390x-linux-gnu-gcc"
SOURCE = """
int seen;
static int __attribute__((noinline, section(".init.text"))) begin(int a) { return a + seen; }
static int __attribute__((noinline)) inner(int a) { return a * 3 + seen; }
int outer(int a) { return inner(a) + begin(a); }
extern int elsewhere(int);
int last(int a) { return elsewhere(a); }
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An object file with functions in two sections, as a module has them."""
    folder = tmp_path_factory.mktemp("symbols")
    (folder / "m.c").write_text(SOURCE, encoding="ascii")
    command = [CC, "-O1", "-c", "-o", "m.ko", "m.c"]
    subprocess.run(command, cwd=folder, check=True, timeout=120)
    return folder / "m.ko"


def test_functions_are_those_that_binutils_list(module: Path) -> None:
    found = subprocess.run(
        ["s390x-linux-gnu-objdump", "--syms", str(module)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    line = re.compile(r"([0-9a-f]+) .{5} F (\S+)\t([0-9a-f]+) (\S+)")
    lines = [match for match in map(line.match, found.stdout.splitlines()) if match]
    wanted = {m[4]: (m[2], int(m[1], 16), int(m[3], 16)) for m in lines}
    # At -O1 gcc may put a copy of a static function under another name; none of these has one.
    assert set(wanted) == {"begin", "inner", "outer", "last"}
    found_here = functions_of(module.read_bytes())
    assert {name: tuple(one[:3]) for name, one in found_here.items()} == wanted
    assert {section for section, *_ in wanted.values()} == {".text", ".init.text"}


def test_functions_that_may_be_replaced_are_told(tmp_path: Path) -> None:
    text = "int __attribute__((weak)) a(void) { return 1; } int b(void) { return 2; }"
    (tmp_path / "w.c").write_text(text, encoding="ascii")
    subprocess.run([CC, "-c", "-o", "w.o", "w.c"], cwd=tmp_path, check=True, timeout=120)
    found = functions_of((tmp_path / "w.o").read_bytes())
    assert {name: one.weak for name, one in found.items()} == {"a": True, "b": False}


def test_instructions_are_those_that_binutils_list(module: Path) -> None:
    found = subprocess.run(
        ["s390x-linux-gnu-objdump", "--disassemble", "--section=.text", str(module)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    content = module.read_bytes()
    known = functions_of(content)
    wanted = [int(at, 16) for at in re.findall(r"^ *([0-9a-f]+):\t", found.stdout, re.MULTILINE)]
    for name in ("inner", "outer", "last"):
        start, size = known[name].offset, known[name].size
        inside = [at - start for at in wanted if start <= at < start + size]
        assert len(inside) > 1
        assert known[name].instructions(content) == inside


@pytest.mark.parametrize("length", [0, 10, 64, 500])
def test_part_of_a_module_is_no_module(module: Path, length: int) -> None:
    with pytest.raises(ZvmlabError, match="it is not a module's file"):
        functions_of(module.read_bytes()[:length])


@pytest.mark.parametrize("content", [b"text" * 100, b"\x7fELF" + b"\xff" * 200])
def test_other_file_is_no_module(content: bytes) -> None:
    with pytest.raises(ZvmlabError, match="it is not a module's file"):
        functions_of(content)
