# SPDX-License-Identifier: MIT
"""taskmon's systemd units: as they are installed, judged by systemd."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from zvmlab.base.tree import TREE

UNITS = ("taskmon-export.service", "taskmon-listen.service")
# taskmon export looks at the tasks of all users, which is one tenth.
MOST_EXPOSED = "21"
"""Tenths of systemd's figure, which ends at 10; below 2 it calls a service well protected."""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The folder of units, and the program that they start."""
    prefix = tmp_path / "usr"
    subprocess.run(
        ["make", "-s", "-C", str(TREE), "install-units", f"PREFIX={prefix}"],
        check=True,
        timeout=120,
    )
    program = prefix / "bin" / "taskmon"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    return prefix / "lib" / "systemd" / "system"


def _judge(*words: str) -> subprocess.CompletedProcess[str]:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed: there is nobody to judge units")
    return subprocess.run(
        ["systemd-analyze", *words], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("unit", UNITS)
def test_systemd_takes_it(installed: Path, unit: str) -> None:
    done = _judge("verify", "--man=no", str(installed / unit))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("unit", UNITS)
def test_it_may_do_little(installed: Path, unit: str) -> None:
    path = str(installed / unit)
    done = _judge("security", "--offline=true", f"--threshold={MOST_EXPOSED}", path)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (installed / unit).read_text(encoding="utf-8")
    assert "@" not in text.replace("@system-service", "")
    assert "CapabilityBoundingSet=CAP_NET_ADMIN\n" in text
    assert sorted(path.name for path in installed.iterdir()) == sorted(UNITS)
