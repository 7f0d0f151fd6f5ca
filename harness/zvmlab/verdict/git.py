# SPDX-License-Identifier: MIT
"""git without the user's configuration, hooks and filters: what it reads may be hostile.

    git(["rev-parse", "HEAD"], tree)

A repository of ours (init_repository) has no hooks either, and nothing outside of it is written.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from zvmlab.base.errors import CannotRun, Timeout, UsageError
from zvmlab.base.plain import shortened

SECONDS = 600
_FULL = b"No space left on device"
_FETCHES = b"fatal: transport '"
"""What git says if it may not fetch (protocol.allow below)."""
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.autocrlf=false",
    "core.quotePath=false",
    "core.symlinks=true",
    "commit.gpgSign=false",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "gc.auto=0",
    "protocol.allow=never",
    "user.name=zvmlab",
    "user.email=zvmlab@localhost",
)


def environment(home: Path | None = None) -> dict[str, str]:
    """The environment for git and b4: no setting of the user's or of the system's reaches them."""
    place = str(home) if home is not None else "/nonexistent"
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": place,
        "XDG_CACHE_HOME": f"{place}/cache",
        "XDG_CONFIG_HOME": f"{place}/config",
        "XDG_DATA_HOME": f"{place}/data",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "true",
    }


def need(program: str, package: str, what: str) -> None:
    """CannotRun if a program is missing."""
    if shutil.which(program) is None:
        raise CannotRun(f"{what} needs: apt-get install {package}")


def run(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    data: bytes = b"",
    seconds: int = SECONDS,
) -> subprocess.CompletedProcess[bytes]:
    """Run a program that reads *data*, in a session of its own; Timeout at its limit."""
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(data, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Timeout(f"'{argv[0]}' did not end within {seconds} s") from None
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    if process.returncode != 0 and _FULL in err:
        raise CannotRun(
            f"'{argv[0]}' cannot go on, a disk is full; free some room, and start again"
        )
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


def try_git(
    words: Sequence[str], folder: Path, data: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder; its output and exit code, whatever that is."""
    need("git", "git", "a series of patches")
    # The user has named this tree, whoever owns it.
    settings = (*_SETTINGS, f"safe.directory={os.path.realpath(folder)}")
    options = [word for setting in settings for word in ("-c", setting)]
    return run(["git", *options, *words], folder, environment(), data)


def git(words: Sequence[str], folder: Path, data: bytes = b"") -> bytes:
    """Output of git in a folder; UsageError with its first line if it fails."""
    done = try_git(words, folder, data)
    if done.returncode != 0 and _FETCHES in done.stderr:
        raise UsageError(
            f"{folder} is a partial clone and lacks what git {words[0]} needs; name a whole one"
        )
    if done.returncode != 0:
        raise UsageError(f"git {words[0]} in {folder} failed: {complaint(done)}")
    return done.stdout


def complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    """The first line of what a program says of its failure."""
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    text = next((line for line in lines if line), f"exit code {done.returncode}")
    return shortened(text.removeprefix("fatal: ").removeprefix("error: "))


def init_repository(folder: Path) -> None:
    """An empty repository of ours in an empty folder."""
    git(["init", "--quiet", "--template=", "."], folder)


def top_of(folder: Path) -> Path | None:
    """The folder as a repository's top; None if it is none."""
    done = try_git(["rev-parse", "--show-toplevel"], folder)
    top = Path(os.fsdecode(done.stdout.strip())) if done.returncode == 0 else None
    return top if top is not None and top == folder.resolve() else None


def commit_of(folder: Path, name: str) -> str:
    """Hash of a commit; UsageError if the repository has none of that name."""
    words = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    done = try_git(words, folder)
    if done.returncode != 0:
        raise UsageError(f"{folder} has no commit '{name}'")
    return done.stdout.decode("ascii").strip()
