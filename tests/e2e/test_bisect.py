# SPDX-License-Identifier: MIT
"""A mistake in our driver, planted 20 commits back in a repository of its own, is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import run_within

from zvmlab.base.tree import TREE

SECONDS = 2400
COMMITS, PLANTED = 24, 4
FILE, PLACE, MISTAKE = "mon_fops.c", "-EBUSY", "-EIO"
TEST = "tests/e2e/test_monreader_busy.py::test_second_open_in_the_same_process_is_ebusy"


def git(folder: Path, *words: str) -> str:
    """Run git without anybody's configuration."""
    names = ("AUTHOR", "COMMITTER")
    env = {f"GIT_{name}_{what}": "zvmlab@localhost" for name in names for what in ("NAME", "EMAIL")}
    env |= {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_GLOBAL": "/dev/null"}
    return subprocess.run(
        ["git", *words], cwd=folder, env=env, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """driver/ with a history: one commit has the mistake, one does not build."""
    folder = tmp_path / "history"
    shutil.copytree(TREE / "driver", folder / "driver")
    git(folder, "init", "--quiet")
    source = folder / "driver" / FILE
    for number in range(1, COMMITS + 1):
        text = (TREE / "driver" / FILE).read_text()
        assert PLACE in text
        if number >= PLANTED:
            text = text.replace(PLACE, MISTAKE)
        broken = "#error in the midst of it\n" if number == COMMITS // 2 else ""
        source.write_text(f"{text}/* change {number} */\n{broken}")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", f"--message=change {number}")
    return folder


@pytest.mark.full
@pytest.mark.first_kernel
@pytest.mark.timeout(SECONDS + 60)
def test_mistake_of_20_commits_ago_is_found(zvmlab_kernel: str, repository: Path) -> None:
    argv = [sys.executable, str(TREE / "zvmlab"), "bisect", "--kernel", zvmlab_kernel]
    argv += ["--good", f"HEAD~{COMMITS - 1}", "--bad", "HEAD"]
    argv += ["--module", str(repository / "driver"), "--", TEST]
    env = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    done = run_within(SECONDS, argv, env=env, text=True)
    assert done.returncode == 0, done.stderr
    found = next(line for line in done.stdout.splitlines() if line.startswith("first bad commit"))
    assert found.endswith(f"change {PLANTED}")
    assert f"skip {git(repository, 'rev-parse', '--short', f'HEAD~{COMMITS // 2}').strip()}" in (
        done.stdout
    )
    assert not git(repository, "status", "--porcelain")
