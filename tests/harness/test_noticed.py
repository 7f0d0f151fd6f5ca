# SPDX-License-Identifier: MIT
"""Small changes of all kinds of files, and a test that notices each: TESTS=affected chooses it.

``noticed.toml`` has them.  That a test notices its change is tried in a copy of the tree.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from zvmlab.base.tree import TREE

sys.path += [str(TREE / "ci"), str(TREE / "tests/mutants")]
from affected import Tree  # noqa: E402  # pylint: disable=wrong-import-position
from judged import Entry  # noqa: E402  # pylint: disable=wrong-import-position

SECONDS = 1200
# Of what make has built, what a change of one file leaves as it is.
_BUILT = (".o", ".d", ".a")


class Noticed(NamedTuple):
    """A change, and its test: a program of unit tests, or a test of pytest by its name there."""

    change: Entry
    test: str

    @property
    def is_unit(self) -> bool:
        return "/" not in self.test


def _load() -> list[Noticed]:
    rows = tomllib.loads((TREE / "tests/harness/noticed.toml").read_text(encoding="utf-8"))
    return [
        Noticed(Entry(row["file"], row["right"], row["wrong"], row["what"]), row["test"])
        for row in rows["change"]
    ]


CHANGES = _load()
each = pytest.mark.parametrize("noticed", CHANGES, ids=lambda noticed: str(noticed.change.file))


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree(TREE)


def test_there_are_enough_of_them() -> None:
    assert len(CHANGES) >= 30
    assert len({(noticed.change.file, noticed.change.right) for noticed in CHANGES}) == len(CHANGES)


@each
def test_test_that_notices_is_chosen(tree: Tree, noticed: Noticed) -> None:
    plan = tree.plan([noticed.change.file])
    chosen = plan.units if noticed.is_unit else plan.host
    assert noticed.test.partition("::")[0] in chosen, noticed.change.why
    assert noticed.change.changed(TREE)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree, with the objects that make has built of it."""
    folder = tmp_path_factory.mktemp("noticed") / "tree"
    unwanted = shutil.ignore_patterns(".git", "build", "__pycache__")
    shutil.copytree(TREE, folder, symlinks=True, ignore=unwanted)
    for file in (TREE / "build/unit").rglob("*"):
        if file.suffix in _BUILT:
            to = folder / file.relative_to(TREE)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, to)
    return folder


def _run(copy: Path, *words: str) -> int:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "MAKE", "MFLAGS"))
    } | {"PYTHONPATH": str(copy / "harness")}
    done = subprocess.run(
        words,
        cwd=copy,
        env=environment,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode


def _result(copy: Path, noticed: Noticed) -> int:
    """The test's exit code in the tree as it is now."""
    if not noticed.is_unit:
        words = ("-m", "pytest", "-q", "-x", "-p", "zvmlab.pytest_plugin", noticed.test)
        return _run(copy, sys.executable, *words)
    program = f"build/unit/{noticed.test}"
    assert _run(copy, "make", "-s", program) == 0, "it does not compile"
    return _run(copy, program)


@each
@pytest.mark.xdist_group("noticed")
def test_test_notices_the_change(copy: Path, noticed: Noticed) -> None:
    file = copy / noticed.change.file
    right = file.read_text(encoding="utf-8")
    assert _result(copy, noticed) == 0
    file.write_text(noticed.change.changed(copy), encoding="utf-8")
    try:
        assert _result(copy, noticed) == 1, noticed.change.why
    finally:
        file.write_text(right, encoding="utf-8")
