# SPDX-License-Identifier: MIT
"""Folders of ours, told from everybody else's by a file in them.

Nothing without that mark is ever removed, whatever its name is, and a folder
that has other things in it does not become ours by being named.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from zvmlab.base.errors import UsageError

MARK = ".zvmlab"
_SHOWN = 3


def is_ours(folder: Path) -> bool:
    """Does it carry the mark?"""
    return not folder.is_symlink() and (folder / MARK).is_file()


def mark(folder: Path, text: str = "") -> None:
    """Put the mark into a folder, at once and whole."""
    scratch = folder / f"{MARK}.{os.getpid()}"
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(folder / MARK)


def mark_once(folder: Path) -> None:
    """Mark a folder, unless somebody else has just done so: that mark may be locked already."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(folder / MARK, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))


def discard(folder: Path) -> bool:
    """Remove a folder of ours, or an empty one; False if it is neither and stays."""
    if is_ours(folder):
        # What is left if it cannot be removed whole is still told from others' folders.
        for path in folder.iterdir():
            if path.name != MARK:
                _remove(path)
        (folder / MARK).unlink(missing_ok=True)
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def renew(folder: Path) -> None:
    """Make *folder* an empty one of ours; UsageError if it has others' things in it."""
    discard(folder)
    claim(folder)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        import shutil  # which takes long to import, and most runs remove nothing

        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def others(folder: Path, ours: Callable[[Path], bool]) -> list[str]:
    """Names of what is in a folder and not recognisably ours."""
    return sorted(path.name for path in folder.iterdir() if not ours(path))


def some(names: Iterable[str]) -> str:
    """The first of them, for a sentence."""
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more


def claim(
    folder: Path, ours: Callable[[Path], bool] = lambda _: False, setting: str = "name"
) -> None:
    """Make *folder* if need be, and mark it; UsageError if it has others' things in it.

    *ours* recognises what an earlier version left in a folder without a mark; *setting* begins
    what the user is told to do.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if is_ours(folder):
        return
    strange = others(folder, lambda path: path.name.startswith(f"{MARK}.") or ours(path))
    # Another process may have claimed it meanwhile, and have put something there.
    if strange and not is_ours(folder):
        raise UsageError(
            f"{folder} contains other files ({some(strange)}), and zvmlab removes files there;"
            f" {setting} an empty folder, or one that does not exist"
        )
    mark_once(folder)
