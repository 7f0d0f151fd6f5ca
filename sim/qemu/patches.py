#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write our changes of QEMU as patch files: patches.py FOLDER PRISTINE...

For the source in each PRISTINE, FOLDER gets a folder with the name of its version, and in it what
git format-patch makes of our changes, one commit each.  Those of "port" come last: they call our
device, and are of use with it only.

No build depends on this file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from qemu_change import Change, ChangeError, changed, load, version_of

WHO = "zvmlab developers <zvmlab@localhost>"
_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_COMMITTER_NAME": "zvmlab developers",
    "GIT_COMMITTER_EMAIL": "zvmlab@localhost",
    "GIT_COMMITTER_DATE": "@0 +0000",
}


def _git(tree: Path, *words: str) -> None:
    """A commit in the tree's repository, which is nobody's but ours."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    argv = ["git", "-C", str(tree), *words]
    subprocess.run(argv, env=env | _ENVIRONMENT, check=True, capture_output=True, timeout=60)


def _commit(tree: Path, message: str) -> None:
    _git(tree, "add", "--all")
    _git(tree, "commit", "--author", WHO, "--date", "@0 +0000", "--message", message)


def write(pristine: Path, folder: Path, changes: list[Change]) -> int:
    """Write the files into *folder*.  Return: how many."""
    series = version_of(pristine)
    made = [change for change in changes if change.within(series)]
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="zvmlab-patches-") as name:
        tree = Path(name)
        for file in {place.file for change in made for place in change.within(series)}:
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_bytes((pristine / file).read_bytes())
        _git(tree, "init")
        _commit(tree, "QEMU")
        _git(tree, "tag", "pristine")
        texts: dict[str, str] = {}
        for change in made:
            texts = changed(pristine, change.within(series), texts)
            for file, text in texts.items():
                (tree / file).write_text(text, encoding="utf-8")
            _commit(tree, f"{change.subject}\n\n{change.text}")
        options = ("--zero-commit", "--no-signature", f"--output-directory={folder.absolute()}")
        _git(tree, "format-patch", *options, "pristine")
    return len(made)


def main(argv: list[str]) -> int:
    """Return: exit code."""
    if len(argv) < 3:
        print(f"usage: {argv[0]} FOLDER PRISTINE...", file=sys.stderr)
        return 2
    try:
        changes = load()
        for pristine in map(Path, argv[2:]):
            folder = Path(argv[1]) / version_of(pristine)
            print(f"{write(pristine, folder, changes)} patches are in {folder}")
    except (ChangeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.SubprocessError as error:
        print(f"{error}\n{getattr(error, 'stderr', b'').decode(errors='replace')}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
