# SPDX-License-Identifier: MIT
"""Lines of blocks of a guest: from which object a function of a kernel or a module comes."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import cast

import pytest
from small_build import BUILT_IN, CROSS, SECOND, SOURCES, SmallBuild

from zvmlab.agent.agent import Agent
from zvmlab.agent.worker import MODULES
from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder.image import COMPILER
from zvmlab.builder.object_lines import Line
from zvmlab.guest.cover import Block, SourceLines
from zvmlab.guest.source_lines import source_lines
from zvmlab.guest.symbols import Symbols, functions_of

pytestmark = pytest.mark.skipif(not shutil.which(COMPILER), reason=f"{COMPILER} is missing")
BASES = {".text": 0x3FFE0000000, ".init.text": 0x3FFE0800000, ".idle.text": 0x3FFE0900000}
_SYMBOL = re.compile(r"([0-9a-f]+) .{5} F (\S+)\t[0-9a-f]+ (\S+)")


class _Files:
    """The files of a guest."""

    def __init__(self, module: bytes) -> None:
        self._module = module

    def read_file(self, path: str) -> bytes:
        assert path == f"{MODULES}/pair.ko"
        return self._module


def symbols_of(build: SmallBuild, module: bytes = b"") -> Symbols:
    """A guest's: the kernel's functions lie as the linker has put them, by what objdump says."""
    found = Symbols(build.kernel.image, cast(Agent, _Files(module)))
    listed = subprocess.run(
        [f"{CROSS}objdump", "--syms", str(build.out / "vmlinux.o")],
        capture_output=True, text=True, check=True, timeout=120,
    ).stdout  # fmt: skip
    own: dict[str, list[int]] = defaultdict(list)
    for symbol in filter(None, map(_SYMBOL.match, listed.splitlines())):
        own[symbol[3]].append(BASES[symbol[2]] + int(symbol[1], 16))
    found.kernel_functions = own
    if module:
        found.functions("pair")
    return found


@pytest.fixture
def build(tmp_path: Path) -> SmallBuild:
    return SmallBuild(tmp_path)


def installed(build: SmallBuild) -> bytes:
    assert build.kernel.modules is not None
    return (build.kernel.modules / "kernel/drivers/pair.ko").read_bytes()


def in_body(line: Line, source: str, function: str) -> bool:
    """Is it a line of that function?"""
    lines = SOURCES[source].splitlines()
    (head,) = [n for n, text in enumerate(lines) if re.match(rf"\w.*\b{function}\(int a", text)]
    return line.file == source and head < line.number - 1 <= lines.index("}", head)


def ask(build: SmallBuild, symbols: Symbols, *blocks: Block) -> SourceLines:
    return source_lines(build.kernel, symbols, blocks, Progress(quiet=True))


def test_static_functions_of_one_name_are_told_apart(build: SmallBuild) -> None:
    """By the functions that lie beside them."""
    symbols = symbols_of(build)
    first, second = sorted(symbols.kernel_functions["twice"])
    blocks = [Block(start + 6, "twice", 6, None) for start in (first, second)]
    found = ask(build, symbols, *blocks)
    assert in_body(found.lines[blocks[0]][0], "init/first.c", "twice")
    assert in_body(found.lines[blocks[1]][0], "lib/second.c", "twice")
    assert not found.missing


def test_static_functions_that_nothing_tells_apart_have_no_lines(build: SmallBuild) -> None:
    symbols = symbols_of(build)
    start = symbols.kernel_functions["twice"][0]
    symbols.kernel_functions = {"twice": [start]}
    assert ask(build, symbols, Block(start, "twice", 0, None)) == SourceLines({}, [])


def test_function_takes_the_place_of_a_weak_one(build: SmallBuild) -> None:
    """Each is alone in its section, so that nothing lies beside it."""
    symbols = symbols_of(build)
    block = Block(BASES[".idle.text"], "idle", 0, None)
    assert in_body(ask(build, symbols, block).lines[block][0], "init/first.c", "idle")


def test_other_section_is_found_by_itself(build: SmallBuild) -> None:
    symbols = symbols_of(build)
    block = Block(BASES[".init.text"], "begin", 0, None)
    assert in_body(ask(build, symbols, block).lines[block][0], "init/first.c", "begin")


def test_function_is_found_by_another_name_of_its_place(build: SmallBuild) -> None:
    """The linker's names stand at functions, such as __sched_text_start."""
    symbols = symbols_of(build)
    (start,) = symbols.kernel_functions["outer"]
    symbols.kernel_functions["__text_start"] = [start]
    block = Block(start, "__text_start", 0, None)
    assert in_body(ask(build, symbols, block).lines[block][0], "init/first.c", "outer")


def test_code_behind_a_function_has_no_line(build: SmallBuild) -> None:
    symbols = symbols_of(build)
    start = min(symbols.kernel_functions["twice"])
    size = functions_of((build.out / BUILT_IN[0]).read_bytes())["twice"].size
    last, behind = (Block(start + at, "twice", at, None) for at in (size - 2, size))
    assert set(ask(build, symbols, last, behind).lines) == {last}


def test_module_is_made_of_its_own_objects(build: SmallBuild) -> None:
    """The kernel has functions of the same names."""
    symbols = symbols_of(build, installed(build))
    blocks = [Block(0x5000, function, 0, "pair") for function in ("outer", "again")]
    found = ask(build, symbols, *blocks)
    assert in_body(found.lines[blocks[0]][0], "drivers/pair/pair_a.c", "outer")
    assert in_body(found.lines[blocks[1]][0], "drivers/pair/pair_b.c", "again")
    assert not found.missing


def test_module_of_another_build_has_no_lines(build: SmallBuild) -> None:
    symbols = symbols_of(build, installed(build) + b"\0")
    found = ask(build, symbols, Block(0x5000, "outer", 0, "pair"))
    assert found == SourceLines(
        {}, ["there are no lines of the module pair: it is not the tree's own"]
    )


def test_module_that_the_kernel_has_not_has_no_lines(build: SmallBuild) -> None:
    (build.out / "modules.order").write_text("")
    found = ask(build, symbols_of(build, installed(build)), Block(0x5000, "outer", 0, "pair"))
    assert found.missing == ["there are no lines of the module pair: it is not the tree's own"]


def test_objects_without_lines_are_named_by_their_reason(build: SmallBuild) -> None:
    symbols = symbols_of(build)
    for name in BUILT_IN:
        note = build.out / name
        note.with_name(f".{note.name}.cmd").unlink()
    names = ("outer", "again")
    blocks = [Block(symbols.kernel_functions[name][0], name, 0, None) for name in names]
    assert ask(build, symbols, *blocks) == SourceLines(
        {},
        [
            f"there are no lines of {', '.join(BUILT_IN)}: kbuild has left no command of the compiler"
        ],
    )


def test_tree_that_has_changed_has_no_lines(build: SmallBuild) -> None:
    symbols = symbols_of(build)
    build.write("lib/second.c", f"/* new */\n{SECOND}")
    (start,) = symbols.kernel_functions["outer"]
    with pytest.raises(
        UsageError, match="has been changed meanwhile, so that nothing can be built"
    ):
        ask(build, symbols, Block(start, "outer", 0, None))


def test_lines_of_inlined_code_are_shown_from_the_outside() -> None:
    lines = (Line("init/first.c", 20), Line("include/scale.h", 3))
    blocks = [Block(start, "outer", 0, None) for start in (1, 2)]
    found = SourceLines({blocks[0]: lines}, [])
    assert [*map(found.shown, blocks)] == ["init/first.c:20 > include/scale.h:3", ""]
