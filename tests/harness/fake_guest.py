# SPDX-License-Identifier: MIT
"""A fake emulator, places of a test's own, and a check that no process is left."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from made_once import made_once
from zvmlab.base.errors import CannotRun
from zvmlab.base.owned import MARK
from zvmlab.base.progress import Progress
from zvmlab.builder.image import build_agent
from zvmlab.guest.config import Artifacts

HERE = Path(__file__).resolve().parent


LINUX = bytes(0x10008) + b"S390EP"
"""As much of a kernel image as tells that it is one of Linux for s390x."""
SECONDS = 300
"""For what takes milliseconds, or, in the first guest of all workers, a compiler."""


def ended(pid: int) -> bool:
    """Has a process ended?  Where nobody waits for it, as in some containers, it stays as a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


@dataclass
class Fake:
    """The fake emulator's settings and what became of it."""

    monkeypatch: pytest.MonkeyPatch
    folder: Path
    run: Path
    artifacts: Artifacts

    def mode(self, name: str) -> None:
        """See fake_emulator.py."""
        self.monkeypatch.setenv("FAKE_MODE", name)

    @property
    def pid(self) -> int:
        """Its process id; waits for it to start."""
        limit = time.monotonic() + SECONDS
        file = self.folder / "pid"
        while not file.exists() or not file.read_text():
            assert time.monotonic() < limit, "the fake emulator was not started"
            time.sleep(0.01)
        return int(file.read_text())

    def gone(self) -> bool:
        """Has it ended?  A moment is granted."""
        limit = time.monotonic() + SECONDS
        while time.monotonic() < limit:
            if ended(self.pid):
                return True
            time.sleep(0.01)
        return False


def _cache(request: pytest.FixtureRequest, factory: pytest.TempPathFactory) -> Path:
    """The cache of all tests of the run: nothing but the user's agent, which takes seconds to compile."""

    def fill(folder: Path) -> None:
        with contextlib.suppress(CannotRun):  # without a compiler
            agent = build_agent(Progress(quiet=True)).parent
            shutil.copytree(agent, folder / agent.name)

    return made_once(request, factory, "cache", fill)


@pytest.fixture
def fake(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Fake]:
    """A fake emulator and empty places; afterwards neither process nor directory is left."""
    run = Path(tempfile.mkdtemp(prefix="zvmlab-test-", dir="/tmp"))
    emulator = HERE / "fake_emulator.py"
    monkeypatch.setenv("ZVMLAB_CACHE", str(_cache(request, tmp_path_factory)))
    monkeypatch.setenv("ZVMLAB_RUN", str(run))
    monkeypatch.setenv("ZVMLAB_QEMU", str(emulator))
    monkeypatch.setenv("FAKE_PIDFILE", str(tmp_path / "pid"))
    (tmp_path / "kernel").write_bytes(LINUX)
    (tmp_path / "image").write_bytes(b"")
    artifacts = Artifacts(emulator, tmp_path / "kernel", "fake", tmp_path / "image")
    made = Fake(monkeypatch, tmp_path, run, artifacts)
    made.mode("silent")
    yield made
    try:
        assert os.listdir(run) in ([], [MARK])
        assert not (tmp_path / "pid").exists() or made.gone()
    finally:
        shutil.rmtree(run)
