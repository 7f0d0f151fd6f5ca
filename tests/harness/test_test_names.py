# SPDX-License-Identifier: MIT
"""ci/test_names.py, and the table of renamed tests: what it names is there."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from zvmlab.base.tree import TREE

BEFORE = """t/test_a.py::test_m1_x[1-a::b]
t/test_a.py::test_m1_x[2]
t/test_a.py::test_y
t/test_old.py::test_z
t/test_old.py::TestC::test_m2_w[[]

5 tests collected in 0.01s
"""
NAMES = """# a comment
t/test_a.py::test_m1_x\tt/test_a.py::test_x
t/test_old.py\tt/test_new.py
t/test_old.py::TestC::test_m2_w\tt/test_new.py::TestC::test_w
"""
AFTER = """t/test_a.py::test_x[1-a::b]
t/test_a.py::test_x[2]
t/test_a.py::test_y
t/test_new.py::TestC::test_w[[]
t/test_new.py::test_z
"""


def _run(
    folder: Path, before: str, after: str, names: str | None
) -> subprocess.CompletedProcess[str]:
    files = [("before", before), ("after", after), ("names", names)]
    for name, text in files:
        if text is not None:
            (folder / name).write_text(text, encoding="utf-8")
    argv = [sys.executable, str(TREE / "ci" / "test_names.py"), *(name for name, _ in files)]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=60)


def test_renamed_tests_are_found_again(tmp_path: Path) -> None:
    done = _run(tmp_path, BEFORE, AFTER, NAMES)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "5 tests before, 5 after: 0 gone, 0 new\n"


def test_what_is_gone_and_what_is_new_is_named(tmp_path: Path) -> None:
    after = AFTER.replace("t/test_a.py::test_x[2]\n", "").replace(
        "test_y", "test_y[a]\nt/b.py::test_n"
    )
    done = _run(tmp_path, BEFORE, after, NAMES)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "gone: t/test_a.py::test_m1_x[2], now t/test_a.py::test_x[2]",
        "new: t/b.py::test_n",
        "other parameters: 1 of t/test_a.py::test_y",
        "5 tests before, 5 after: 1 gone, 1 new",
    ]
    assert _run(tmp_path, BEFORE, AFTER + "t/b.py::test_n\n", NAMES).returncode == 0
    done = _run(tmp_path, BEFORE, AFTER.replace("x[2]", "x[4]\nt/test_a.py::test_x[5]"), NAMES)
    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        [
            "new: t/test_a.py::test_x[5]",
            "other parameters: 1 of t/test_a.py::test_x",
            "5 tests before, 6 after: 0 gone, 1 new",
        ],
    )


@pytest.mark.parametrize(
    ("before", "names", "sentence"),
    [
        ("no tests collected\n", NAMES, "before: a list without tests; make it with pytest"),
        (BEFORE, "a b\n", "names: line 1 of the table is not an old name, a tab and a new name"),
        (BEFORE, "a\t\n", "names: line 1 of the table is not an old name"),
        (BEFORE, "#\na\tb\na\tc\n", "names: line 3 of the table names a a second time"),
        (BEFORE, "a::b\ta::c\nb::b\ta::c\n", "names: line 2 of the table gives two tests the name"),
        (BEFORE, None, "names: No such file or directory"),
    ],
)
def test_lists_and_tables_that_are_none(
    tmp_path: Path, before: str, names: str | None, sentence: str
) -> None:
    done = _run(tmp_path, before, AFTER, names)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(sentence)


def test_table_of_this_tree_names_tests_that_are_there() -> None:
    lines = (TREE / "tests" / "renamed.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    assert len(rows) > 250
    for old, new in rows:
        for name, there in ((old, False), (new, True)):
            file, _, function = name.partition("::")
            path = TREE / file
            tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else None
            nodes = [] if tree is None else tree.body
            functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
            found = function in functions if function else tree is not None
            assert found == there, name
