# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch files of our changes of another project's source, as git format-patch makes them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from zvmlab.base.source_change import Change, changed

WHO = "zvmlab developers <zvmlab@localhost>"
_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_COMMITTER_NAME": "zvmlab developers",
    "GIT_COMMITTER_EMAIL": "zvmlab@localhost",
    "GIT_COMMITTER_DATE": "@0 +0000",
}


def _git(tree: Path, *words: str) -> None:
    """A command in the tree's repository, which is nobody's but ours."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    argv = ["git", "-C", str(tree), *words]
    subprocess.run(argv, env=env | _ENVIRONMENT, check=True, capture_output=True, timeout=60)


def _commit(tree: Path, message: str, who: str) -> None:
    _git(tree, "add", "--all")
    _git(tree, "commit", "--author", who, "--date", "@0 +0000", "--message", message)


def write_series(
    pristine: Path,
    series: str,
    folder: Path,
    changes: Iterable[Change],
    message: Callable[[Change], str] = lambda change: f"{change.subject}\n\n{change.text}",
    who: str = WHO,
) -> int:
    """Write into *folder* a patch for each change that the source has a place for; return: how many.

    *pristine* is the source, of the version *series*.
    """
    made = [change for change in changes if change.within(series)]
    # Before anything is written: what does not fit is told by its place.
    changed(pristine, [place for change in made for place in change.within(series)], {})
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="zvmlab-patches-") as name:
        tree = Path(name)
        for file in {place.file for change in made for place in change.within(series)}:
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_bytes((pristine / file).read_bytes())
        _git(tree, "init")
        _commit(tree, "pristine", WHO)
        _git(tree, "tag", "pristine")
        texts: dict[str, str] = {}
        for change in made:
            texts = changed(pristine, change.within(series), texts)
            for file, text in texts.items():
                (tree / file).write_text(text, encoding="utf-8")
            _commit(tree, message(change), who)
        options = ("--zero-commit", "--no-signature", f"--output-directory={folder.absolute()}")
        _git(tree, "format-patch", *options, "pristine")
    return len(made)
