# SPDX-License-Identifier: MIT
"""Decide whose files we run: our own, root's, and as root those of the caller of sudo.

Somebody who could write to any of them could have anything run in our name.
"""

from __future__ import annotations

import functools
import grp
import os
import pwd
import stat
from pathlib import Path


def first_objection(folder: Path) -> tuple[str, str] | None:
    """The first thing directly in a folder that is not to be trusted: its path, and why."""
    me = os.geteuid()
    with os.scandir(folder) as inside:
        for entry in inside:
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # another process has removed it meanwhile
            # Almost all are so; a cache has thousands.
            if found.st_uid == me and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                continue
            why = objection(found)
            if why:
                return entry.path, why
    return None


def objection(found: os.stat_result) -> str | None:
    """Why a file or folder is not to be trusted, as the end of a sentence; None: it is."""
    if not _is_trusted(found.st_uid):
        return f"belongs to {_name(found.st_uid)}"
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISLNK(found.st_mode) or not mode & (stat.S_IWGRP | stat.S_IWOTH):
        return None
    if not mode & stat.S_IWOTH and _is_of_one_user(found.st_gid):
        return None
    return f"can be written to by others (mode {mode:o})"


def keep_others_out() -> None:
    """Set the umask: nobody whom this process would not trust can write to its new files."""
    mask = os.umask(stat.S_IWGRP | stat.S_IWOTH)
    if mask & stat.S_IWOTH and (mask & stat.S_IWGRP or _is_of_one_user(os.getegid())):
        os.umask(mask)
    else:
        os.umask(mask | stat.S_IWGRP | stat.S_IWOTH)


def _is_trusted(uid: int) -> bool:
    # Whoever may call sudo has had root run a zvmlab of their own.
    sudo = os.environ.get("SUDO_UID") if os.geteuid() == 0 else None
    return uid in (0, os.geteuid()) or str(uid) == sudo


@functools.cache
def _is_of_one_user(gid: int) -> bool:
    """Is it the group that some systems give each user, and nobody else in it?"""
    if gid == 0:
        return True
    try:
        group = grp.getgrgid(gid)
        owner = pwd.getpwnam(group.gr_name)
    except KeyError:
        return False
    return _is_trusted(owner.pw_uid) and set(group.gr_mem) <= {owner.pw_name}


def _name(uid: int) -> str:
    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the user with the number {uid}"
