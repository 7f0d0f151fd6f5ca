#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write our corrections of Linux as patch files: linux_patches.py FOLDER [--author WHO] TREE...

For each TREE, a source tree or "source:7.2", FOLDER gets a folder with the name of its series, and in
it what git format-patch makes of the corrections, one commit each.  With --author 'NAME <MAIL>', that
is who sends them, and each has that Signed-off-by.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from zvmlab.base.errors import ZvmlabError
from zvmlab.base.patch_series import WHO, write_series
from zvmlab.base.progress import Progress
from zvmlab.base.source_change import Change, ChangeError
from zvmlab.builder.linux_corrections import corrections, supported
from zvmlab.builder.linux_source import source_tree


def tree_of(name: str) -> Path:
    """The folder that is named, or Debian's source."""
    kind, _, series = name.partition(":")
    return source_tree(series, Progress())[0] if kind == "source" and series else Path(name)


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Write our corrections of Linux as patch files.")
    parser.add_argument("--author", metavar="'NAME <MAIL>'", default="")
    parser.add_argument("folder", type=Path)
    parser.add_argument("trees", nargs="+", metavar="TREE")
    found = parser.parse_args(argv)
    if found.author and not re.fullmatch(r"[^<>\n]+ <[^<>\s]+@[^<>\s]+>", found.author):
        parser.error(f"--author {found.author!r} is not of the form 'NAME <MAIL>'")
    return found


def message_of(change: Change, author: str) -> str:
    """The message of its commit; the Signed-off-by of *author*, if any, stands with other trailers."""
    text = f"{change.subject}\n\n{change.text}"
    if not author:
        return text
    apart = "\n" if change.text.rpartition("\n")[2].startswith("Fixes: ") else "\n\n"
    return f"{text}{apart}Signed-off-by: {author}"


def main(argv: list[str]) -> int:
    """Return: exit code."""
    arguments = _arguments(argv[1:])
    author = arguments.author
    try:
        changes = [correction.change for correction in corrections()]
        for name in arguments.trees:
            tree = tree_of(name)
            series = supported(tree)
            folder = arguments.folder / series
            count = write_series(
                tree, series, folder, changes, lambda one: message_of(one, author), author or WHO
            )
            print(f"{count} patches are in {folder}")
    except (ChangeError, ZvmlabError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.SubprocessError as error:
        print(f"{error}\n{getattr(error, 'stderr', b'').decode(errors='replace')}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
