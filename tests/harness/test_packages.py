# SPDX-License-Identifier: MIT
"""Debian packages by private apt lists, without apt: what is kept, what is fetched anew."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from zvmlab.base import decided, manifest
from zvmlab.base.cache import cache_root
from zvmlab.base.errors import CannotRun
from zvmlab.base.owned import MARK
from zvmlab.builder import packages

INDEX = "Package: p\nVersion: 1\nSHA256: 0\nSize: 1\nFilename: p.deb\n"


class Apt:
    """In the place of apt: writes lists, reads them, counts."""

    def __init__(self) -> None:
        self.updates = 0
        self.questions = 0
        self.broken = False

    def __call__(self, argv: list[str], conf: Path, seconds: int, cwd: Path | None = None) -> str:
        lists = conf.parent / "lists"
        assert f'Dir::State::Lists "{lists}";' in conf.read_text(encoding="utf-8")
        if argv == ["apt-get", "update"]:
            self.updates += 1
            self.broken = False
            lists.mkdir(exist_ok=True)
            (lists / "Packages").write_text(INDEX)
        elif self.broken:
            raise packages.AptRefused("the lists make no sense")
        else:
            self.questions += 1
        return (lists / "Packages").read_text()


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Apt:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(packages, "archive_uri", lambda: "http://archive.example/debian")
    monkeypatch.setattr(manifest, "_checked", {})
    made = Apt()
    monkeypatch.setattr(packages, "_run", made)
    return made


def _suite() -> packages.Suite:
    """As another process has it, which has looked at nothing yet."""
    manifest._checked.clear()
    return packages.Suite("sid", "s390x")


def test_lists_are_fetched_once(apt: Apt) -> None:
    assert _suite().update() and _suite().update()
    assert _suite().find("q") == []
    assert apt.updates == 1


def test_damaged_lists_are_fetched_anew(apt: Apt) -> None:
    _suite().update()
    lists = cache_root() / "apt" / "sid-s390x" / "lists"
    harms: list[Callable[[Path], None]] = [lambda file: os.truncate(file, 3), Path.unlink]
    for harm in harms:
        harm(lists / "Packages")
        before = apt.updates
        _suite().find("q")
        assert (lists / "Packages").read_text() == INDEX and apt.updates == before + 1
        harm(lists / "Packages")
        assert _suite().update() and apt.updates == before + 2
    # Nor can apt have the last word on lists that nobody has noted.
    apt.broken = True
    (lists / MARK).unlink()
    _suite().find("q")
    assert not apt.broken


def test_lists_that_are_the_same_are_asked_once(apt: Apt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decided, "is_settled", lambda found, now: True)
    _suite().update()
    asked = []
    for pattern in ("p", "p", "q"):
        found = [package.name for package in _suite().find(pattern)]
        assert found == (["p"] if pattern == "p" else [])
        asked.append(apt.questions)
    # Which packages there are, and what they are; no package has the second name.
    assert asked == [2, 2, 3]
    os.utime(cache_root() / "apt" / "sid-s390x" / "lists" / "Packages", (0, 0))
    assert len(_suite().find("p")) == 1
    assert apt.questions == 5


def test_lists_that_have_just_changed_are_asked_again(
    apt: Apt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decided, "is_settled", lambda found, now: False)
    _suite().update()
    for questions in (1, 2):
        _suite().find("q")
        assert apt.questions == questions


def test_the_cache_can_be_moved(apt: Apt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _suite().update()
    (tmp_path / "cache").rename(tmp_path / "other")
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "other"))
    _suite().find("q")  # Apt asserts that the configuration names its own folder
    assert apt.updates == 1 and not (tmp_path / "cache").exists()


def test_ctrl_c_is_no_error_of_a_process_that_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """communicate() waits a moment for the child, which the same Ctrl-C ends, before it raises."""
    whole = subprocess.Popen.communicate

    def interrupted(process: subprocess.Popen[str], timeout: float | None = None) -> object:
        if process.returncode is None:
            process.wait(60)
            raise KeyboardInterrupt
        return whole(process, timeout=timeout)

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        packages._run(["true"], tmp_path / "conf", 60)
