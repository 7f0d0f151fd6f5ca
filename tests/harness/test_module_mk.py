# SPDX-License-Identifier: MIT
"""module.mk, as make and as Python read it: the two agree, and refuse the same mistakes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from zvmlab.base.errors import ZvmlabError
from zvmlab.base.tree import TREE
from zvmlab.builder import herculesbuild, module_mk, qemubuild

GOOD = {
    "lib/low/module.mk": "# What is below.\nSOURCES := *.c\nINCLUDES := .\nPACKAGES := one two-3.0\n",
    "lib/low/low.c": "",
    "lib/low/low.h": "",
    "sim/mid/module.mk": "SOURCES := *.c */*.c\nINCLUDES := include\nUSES := lib/low\n",
    "sim/mid/mid.c": '#include "low.h"\n#include "part/part.h"\n#include "open/mid.h"\n',
    "sim/mid/part/part.c": '#include "part.h"\n#include "own.h"\n',
    "sim/mid/part/part.h": "",
    "sim/mid/own.h": "",
    "sim/mid/include/open/mid.h": "",
    "tools/top/module.mk": "SOURCES := *.c\nMAIN := main.c\nUSES := sim/mid\nLIBRARIES := m\n",
    "tools/top/main.c": '#include "open/mid.h"\n',
    "tools/top/top.c": "",
    "tests/top/module.mk": "SOURCES := test_*.c\nMAIN := *.c\nUSES := tools/top\nINSIDE := sim/mid\n",
    "tests/top/test_top.c": '#include "own.h"\n',
}
PORTS = {"sim/qemu", "sim/hercules"}
KEYS = ("SOURCES", "MAIN", "INCLUDES", "USES", "INSIDE", "PACKAGES", "LIBRARIES")


def _tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in (GOOD | files).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "ci").mkdir()
    shutil.copy(TREE / "ci" / "modules.mk", root / "ci")
    return root


def _make(root: Path, rules: str) -> subprocess.CompletedProcess[str]:
    """make, with ci/modules.mk and these rules."""
    text = f"include ci/modules.mk\n{rules}\nall: ;\n"
    return subprocess.run(
        ["make", "-s", "-C", str(root), "-f", "-", "all"],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _as_make_sees(root: Path, *keys: str) -> dict[str, dict[str, list[str]]]:
    """For each module, words of what ci/modules.mk makes of it."""
    telling = "".join(f"|$($(module).{key})" for key in keys)
    done = _make(root, f"$(foreach module,$(MODULES),$(info =$(module){telling}))")
    assert done.returncode == 0, done.stderr
    lines = [line[1:].split("|") for line in done.stdout.splitlines() if line.startswith("=")]
    return {name: dict(zip(keys, map(str.split, values))) for name, *values in lines}


def _as_python_sees(root: Path) -> dict[str, dict[str, list[str]]]:
    found = {}
    for name in module_mk.names(root):
        module = module_mk.read(root, name)
        found[name] = {
            "SOURCES": sorted({*module.sources, *module.main}),
            "PARTS": list(module.sources),
            "MAIN": list(module.main),
            "INCLUDES": list(module.includes),
            "USES": list(module.uses),
            "INSIDE": list(module.inside),
            "PACKAGES": list(module.packages),
            "LIBRARIES": list(module.libraries),
            "ALL": sorted(one.name for one in module_mk.closure(root, name)),
        }
    return found


def test_a_module(tmp_path: Path) -> None:
    root = _tree(tmp_path, {})
    assert module_mk.names(root) == ["lib/low", "sim/mid", "tests/top", "tools/top"]
    assert module_mk.read(root, "tools/top") == module_mk.Module(
        "tools/top", ("tools/top/top.c",), ("tools/top/main.c",), (), ("sim/mid",), (), (), ("m",)
    )
    mid = module_mk.read(root, "sim/mid")
    assert mid.sources == ("sim/mid/mid.c", "sim/mid/part/part.c")
    assert module_mk.include_folders(root, mid) == ["sim/mid", "sim/mid/include", "lib/low"]
    # Not what is used by what it uses.
    top = module_mk.read(root, "tools/top")
    assert module_mk.include_folders(root, top) == ["tools/top", "sim/mid/include"]
    tests = module_mk.read(root, "tests/top")
    assert module_mk.include_folders(root, tests) == ["tests/top", "sim/mid"]
    modules = module_mk.closure(root, "tests/top")
    assert [module.name for module in modules] == ["tests/top", "tools/top", "sim/mid", "lib/low"]
    assert module_mk.packages(modules) == ["one", "two-3.0"]


@pytest.mark.parametrize("whose", ["small", "ours"])
def test_make_sees_the_same(tmp_path: Path, whose: str) -> None:
    root = TREE if whose == "ours" else _tree(tmp_path, {})
    seen = _as_make_sees(root, *KEYS, "PARTS", "ALL")
    assert seen == _as_python_sees(root)
    assert len(seen) > 3


MISTAKES = {
    "sources": ("lib/low", "SOURCES := *.c", "SOURCES := gone.c", "SOURCES names gone.c, which does not exist"),
    "pattern": ("lib/low", "SOURCES := *.c", "SOURCES := x_*.c", "SOURCES names x_*.c, which does not exist"),
    "main": ("tools/top", "MAIN := main.c", "MAIN := none.c", "MAIN names none.c, which does not exist"),
    "includes": ("sim/mid", "INCLUDES := include", "INCLUDES := public", "INCLUDES names public, which does not exist"),
    "uses": ("sim/mid", "USES := lib/low", "USES := lib/deep", "USES names lib/deep, which has no module.mk"),
    "folder": ("sim/mid", "USES := lib/low", "USES := lib", "USES names lib, which has no module.mk"),
    "inside": ("tests/top", "INSIDE := sim/mid", "INSIDE := sim/x", "INSIDE names sim/x, which has no module.mk"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_what_is_not_there_is_refused_by_both(tmp_path: Path, case: str) -> None:
    name, was, is_now, why = MISTAKES[case]
    file = f"{name}/module.mk"
    assert GOOD[file].count(was) == 1
    root = _tree(tmp_path, {file: GOOD[file].replace(was, is_now)})
    with pytest.raises(ZvmlabError) as caught:
        module_mk.closure(root, *module_mk.names(root))
    assert str(caught.value) == f"{file}: {why}"
    done = _make(root, "")
    assert done.returncode == 2
    assert f"{file}: {why}.  Stop." in done.stderr


def test_functions_of_a_test_that_is_not_there_are_refused_by_both(tmp_path: Path) -> None:
    file = "tests/top/module.mk"
    right, wrong = "WRAP.test_top := open close\n", "WRAP.test_tip := open\n"
    root = _tree(tmp_path, {file: GOOD[file] + right})
    module_mk.read(root, "tests/top")
    assert _make(root, "$(info =$(WRAP.test_top))").stdout == "=open close\n"
    (root / file).write_text(GOOD[file] + wrong, encoding="utf-8")
    with pytest.raises(ZvmlabError) as caught:
        module_mk.read(root, "tests/top")
    assert str(caught.value) == f"{file}: WRAP.test_tip: MAIN has no test_tip.c"
    assert "WRAP.test_tip: MAIN of no module.mk has test_tip.c.  Stop." in _make(root, "").stderr


def test_a_circle_is_refused_by_both(tmp_path: Path) -> None:
    circle = {"lib/low/module.mk": f"{GOOD['lib/low/module.mk']}USES := tools/top\n"}
    root = _tree(tmp_path, circle)
    why = "lib/low/module.mk: USES has a cycle: lib/low tools/top sim/mid lib/low"
    with pytest.raises(ZvmlabError) as caught:
        module_mk.closure(root, "lib/low")
    assert str(caught.value) == why
    assert f"{why}.  Stop." in _make(root, "").stderr


@pytest.mark.parametrize(
    "line", ['#include "../../../tools/top/top.h"', " # include <part/../../mid/own.h>"]
)
def test_a_way_up_is_refused_by_both(tmp_path: Path, line: str) -> None:
    """Both would compile: the compiler looks beside the source, and beside each folder of headers."""
    file = "sim/mid/part/part.c"
    root = _tree(tmp_path, {"tools/top/top.h": "", file: f'#include "own.h"\n{line}\n'})
    module = module_mk.read(root, "sim/mid")
    options = [f"-I{folder}" for folder in module_mk.include_folders(root, module)]
    subprocess.run(["gcc", "-fsyntax-only", *options, file], cwd=root, timeout=60, check=True)
    why = f'{file}:2: #include with ".."; name the folder in USES of module.mk instead'
    with pytest.raises(ZvmlabError) as caught:
        module_mk.closure(root, "tools/top")
    assert str(caught.value) == why
    assert f"{why}.  Stop." in _make(root, "").stderr


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("SOURCE := a.c", "unknown key: SOURCE; did you mean SOURCES?"),
        ("SOURCES := *.c", "SOURCES is given twice"),
        ("MAIN = main.c", "not of the form KEY := WORDS: MAIN = main.c"),
        ("MAIN := $(wildcard *.c)", "not of the form KEY := WORDS: MAIN := $(wildcard *.c)"),
        ("MAIN := main.c \\", "not of the form KEY := WORDS: MAIN := main.c \\"),
        ("MAIN :=  main.c", "not of the form KEY := WORDS: MAIN :=  main.c"),
        ("MAIN := /main.c", "not of the form KEY := WORDS: MAIN := /main.c"),
        ("MAIN := ../main.c", "not of the form KEY := WORDS: MAIN := ../main.c"),
    ],
)
def test_what_make_could_take_otherwise_is_refused(tmp_path: Path, line: str, why: str) -> None:
    file = "lib/low/module.mk"
    root = _tree(tmp_path, {file: f"# one\nSOURCES := *.c\n\n{line}\n"})
    with pytest.raises(ZvmlabError) as caught:
        module_mk.read(root, "lib/low")
    assert str(caught.value) == f"{file}:4: {why}"


def test_a_folder_without_module_mk_is_named(tmp_path: Path) -> None:
    with pytest.raises(ZvmlabError, match="^lib/low/module.mk cannot be read: No such file"):
        module_mk.read(tmp_path, "lib/low")


def _compiles(root: Path, module: str, text: str) -> bool:
    """Does a source of that module with this text compile?"""
    options = [
        f"-I{folder}" for folder in module_mk.include_folders(root, module_mk.read(root, module))
    ]
    argv = ["gcc", "-fsyntax-only", *options, "-x", "c", "-"]
    done = subprocess.run(
        argv, cwd=root, input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0 or "No such file or directory" in done.stderr, done.stderr
    return done.returncode == 0


@pytest.mark.parametrize(
    ("header", "may"),
    [
        ("zvmlab/cp.h", {"sim/cp", "sim/control", "sim/port", "sim/replay", "sim/system"}),
        ("cp_private.h", {"sim/cp"}),
        ("iucv/iucv_private.h", {"sim/cp"}),
        ("record.h", {"sim/cp", "sim/fabricate", "sim/record"}),
        ("monrec.h", {"lib/monrec", "sim/fabricate", "tools/monread"}),
        ("model.h", {"sim/fabricate"}),
        ("ctl_private.h", {"sim/control"}),
        ("peer.h", {"sim/control"}),
        ("held.h", {"sim/control", "sim/port", "sim/replay", "sim/system"}),
        ("replay.h", {"sim/replay"}),
    ],
)
def test_a_wrong_include_does_not_compile(header: str, may: set[str]) -> None:
    modules = [name for name in module_mk.names(TREE) if not name.startswith("tests")]
    text = f'#include "{header}"\n'
    assert {name for name in modules if _compiles(TREE, name, text)} - PORTS == may


def _copy(root: Path) -> Path:
    for part in ("lib", "sim", "harness/zvmlab/base"):
        shutil.copytree(TREE / part, root / part)
    return root


def test_a_new_file_is_compiled_everywhere(tmp_path: Path) -> None:
    root, name = _copy(tmp_path), "sim/cp/iucv/iucv_new.c"
    keys = qemubuild.build_key(root), herculesbuild.core_key(root)
    (root / name).write_text("", encoding="ascii")
    assert name in module_mk.read(root, "sim/cp").sources
    assert f"'{name}'" in qemubuild.core_meson_build(root)
    assert name in {file for module in herculesbuild.core(root) for file in module.sources}
    replayer = module_mk.closure(root, "sim/replay")
    assert name in {file for module in replayer for file in module.sources}
    assert qemubuild.build_key(root) != keys[0]
    assert herculesbuild.core_key(root) != keys[1]
    (root / "ci").mkdir()
    shutil.copy(TREE / "ci" / "modules.mk", root / "ci")
    assert name in _as_make_sees(root, "PARTS")["sim/cp"]["PARTS"]


def test_only_what_an_emulator_is_made_of_rebuilds_it(tmp_path: Path) -> None:
    root = _copy(tmp_path)
    keys = qemubuild.build_key(root), herculesbuild.module_key(root)
    for name in ("lib/monrec/catalogue_user.c", "lib/monrec/rule.c", "sim/fabricate/model.c"):
        with open(root / name, "a", encoding="utf-8") as file:
            file.write("/* Another sentence. */\n")
        assert (qemubuild.build_key(root), herculesbuild.module_key(root)) == keys
    for name in ("lib/base/bytes.h", "sim/record/record.c", "sim/cp/module.mk"):
        with open(root / name, "a", encoding="utf-8") as file:
            file.write("\n")
        assert qemubuild.build_key(root) != keys[0]
        assert herculesbuild.module_key(root) != keys[1]
        keys = qemubuild.build_key(root), herculesbuild.module_key(root)
