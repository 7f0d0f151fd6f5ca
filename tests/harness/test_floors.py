# SPDX-License-Identifier: MIT
"""ci/floors.py, which `make lint` runs: small trees, compiled, with one thing wrong in each."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from scripted import run_script

from zvmlab.base.tree import TREE

TABLE = """
[floors]
"sim/core" = [["low", "other"], ["high"]]
"""
GOOD = {
    "ci/layers.toml": TABLE,
    "sim/core/module.mk": "SOURCES := *.c */*.c\nINCLUDES := .\n",
    "sim/core/low/low.c": "int low(void) { return 1; }\n",
    "sim/core/low/low_private.h": "",
    "sim/core/other/other.c": "int other;\n",
    "sim/core/high_roof.c": "extern int low(void);\nint high(void);\nint high(void) { return low(); }\n",
}


def _said(root: Path, files: dict[str, str], *words: str) -> tuple[int, list[str]]:
    """Exit code and lines for the good tree with some files changed or added."""
    for name, text in (GOOD | files).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    for source in root.rglob("*.c"):
        made = root / "objects" / source.relative_to(root).with_suffix(".o")
        made.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["gcc", "-c", "-w", "-I", root / "sim/core", "-o", made, source],
            timeout=60,
            check=True,
        )
    done = run_script(TREE / "ci/floors.py", *words, root / "objects", root)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_good_tree(tmp_path: Path) -> None:
    assert _said(tmp_path, {}) == (0, [])


def test_a_symbol_of_a_part_above(tmp_path: Path) -> None:
    text = "extern int high(void);\n\nint low(void) { return high(); }\n"
    code, lines = _said(
        tmp_path, {"sim/core/low/low.c": text, "sim/core/high_roof.c": "int high;\n"}
    )
    assert (code, lines) == (
        1,
        [
            "sim/core/low/low.c:1: low may not use high of high (sim/core/high_roof.c),"
            " which is not below it; ci/layers.toml has the floors"
        ],
    )


def test_a_symbol_of_a_part_beside(tmp_path: Path) -> None:
    code, lines = _said(
        tmp_path, {"sim/core/low/low.c": "extern int other;\nint low(void) { return other; }\n"}
    )
    assert code == 1
    assert lines[0].startswith("sim/core/low/low.c:1: low may not use other of other (")


def test_a_header_of_a_part_above(tmp_path: Path) -> None:
    """Also if nothing of it is used: what it includes would follow."""
    code, lines = _said(
        tmp_path, {"sim/core/other/other.c": '#include "low/low_private.h"\nint other;\n'}
    )
    assert (code, lines) == (
        1,
        [
            "sim/core/other/other.c:1: other may not include sim/core/low/low_private.h of low,"
            " which is not below it; ci/layers.toml has the floors"
        ],
    )


CIRCLE = {
    "sim/core/low/low.c": "extern int more(void);\nint low(void) { return more(); }\n",
    "sim/core/low/more.c": "extern int low(void);\nint more(void) { return low(); }\n",
}
BOTH = "sim/core/low/low.c sim/core/low/more.c"


def _with_reason(files: str, why: str = "they are one") -> str:
    quoted = ", ".join(f'"{file}"' for file in files.split())
    return f'{TABLE}[[circles]]\nfiles = [{quoted}]\nwhy = "{why}"\n'


def test_files_that_use_each_other(tmp_path: Path) -> None:
    code, lines = _said(tmp_path, CIRCLE)
    assert (code, lines) == (
        1,
        [
            f"sim/core/low/low.c:1: 2 files use each other: {BOTH};"
            " separate what they share, or give a reason in [[circles]] of ci/layers.toml"
        ],
    )
    assert _said(tmp_path, CIRCLE, "--circles") == (1, [f"2 files use each other: {BOTH}"])
    assert _said(tmp_path / "good", {}, "--circles") == (0, [])


def test_a_circle_with_a_reason(tmp_path: Path) -> None:
    """It has to be that circle: a file more, or a circle that is no more, is said."""
    table = {"ci/layers.toml": _with_reason(BOTH)}
    assert _said(tmp_path, CIRCLE | table) == (0, [])
    assert _said(tmp_path, CIRCLE | table, "--circles")[0] == 1
    code, lines = _said(tmp_path / "none", table)
    assert (code, lines) == (
        1,
        [f"ci/layers.toml: [[circles]] has a reason for no circle: {BOTH}"],
    )
    third = {"sim/core/low/low.c": "extern int third(void);\nint low(void) { return third(); }\n"}
    third["sim/core/low/third.c"] = "extern int more(void);\nint third(void) { return more(); }\n"
    code, lines = _said(tmp_path / "third", CIRCLE | table | third)
    assert (code, len(lines)) == (1, 2)
    assert "3 files use each other" in lines[0]


def test_a_circle_without_a_reason(tmp_path: Path) -> None:
    code, lines = _said(tmp_path, CIRCLE | {"ci/layers.toml": _with_reason(BOTH, "")})
    assert (code, lines) == (2, ["ci/layers.toml: a row of [[circles]] needs files and why"])


@pytest.mark.parametrize(
    ("floors", "why"),
    [
        ('[["low", "other"], ["high", "low"]]', "names low twice"),
        ('[["low"], ["high"]]', "has no floor for other (sim/core/other/other.c)"),
        ('[["low", "other"], ["high"], ["roof"]]', "names roof, which has no source"),
    ],
)
def test_floors_that_are_wrong(tmp_path: Path, floors: str, why: str) -> None:
    code, lines = _said(tmp_path, {"ci/layers.toml": f'[floors]\n"sim/core" = {floors}\n'})
    assert (code, lines) == (2, [f'ci/layers.toml: [floors] "sim/core" {why}'])


def test_objects_that_were_not_made(tmp_path: Path) -> None:
    _said(tmp_path, {})
    (tmp_path / "sim/core/low/new.c").write_text("int new;\n", encoding="utf-8")
    done = run_script(TREE / "ci/floors.py", tmp_path / "objects", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"{tmp_path}/objects/sim/core/low/new.o cannot be read; run 'make objects': "
    )


def test_symbol_that_a_folder_below_has_too_is_told(tmp_path: Path) -> None:
    """A linker takes the one that it meets first, and says nothing."""
    files = {
        "sim/top/module.mk": "SOURCES := *.c\nUSES := sim/core\n",
        "sim/top/top.c": "int low(void) { return 2; }\n",
    }
    assert _said(tmp_path, files) == (
        1,
        [
            "sim/top/top.c:1: low is defined in sim/core/low/low.c as well, which sim/top is linked"
            " with; rename one of the two"
        ],
    )
