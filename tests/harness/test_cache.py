# SPDX-License-Identifier: MIT
"""The cache: entries that are whole or not there, keys that tell what went in."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from zvmlab.cache import cache_root, digest, entry
from zvmlab.errors import CannotRun


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))


def _fill(folder: Path) -> None:
    (folder / "product").write_text("made", encoding="ascii")


def test_an_entry_is_built_once() -> None:
    calls: list[Path] = []

    def build(folder: Path) -> None:
        calls.append(folder)
        _fill(folder)

    first = entry("thing", "0123", build)
    assert (first.name, (first / "product").read_text(encoding="ascii")) == ("thing-0123", "made")
    assert entry("thing", "0123", build) == first
    assert entry("thing", "4567", build) != first
    assert len(calls) == 2


def test_two_that_want_the_same_entry_wait_for_each_other() -> None:
    begun, go = threading.Event(), threading.Event()
    calls: list[Path] = []

    def build(folder: Path) -> None:
        calls.append(folder)
        begun.set()
        assert go.wait(60)
        _fill(folder)

    threads = [threading.Thread(target=entry, args=("thing", "0", build)) for _ in range(2)]
    threads[0].start()
    assert begun.wait(60)
    threads[1].start()
    go.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert len(calls) == 1


def test_a_build_that_fails_leaves_nothing() -> None:
    def build(folder: Path) -> None:
        _fill(folder)
        raise CannotRun("the compiler is missing")

    with pytest.raises(CannotRun, match="the compiler is missing"):
        entry("thing", "0", build)
    assert [path.name for path in cache_root().iterdir()] == [".thing-0.lock"]
    assert (entry("thing", "0", _fill) / "product").is_file()


def test_what_a_killed_build_left_is_removed() -> None:
    begun = cache_root() / ".thing-0.4711"
    begun.mkdir()
    _fill(begun)
    other = cache_root() / ".thing-01.4711"
    other.mkdir()
    entry("thing", "0", _fill)
    assert not begun.exists()
    assert other.exists(), "another entry's, which may be in the making"


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(CannotRun, match=r"cannot write to the cache .* \(No space left on device"):
        entry("thing", "0", build)
    monkeypatch.setenv("ZVMLAB_CACHE", "/dev/null/cache")
    with pytest.raises(CannotRun, match="set ZVMLAB_CACHE to a folder"):
        cache_root()


def test_a_key_tells_what_went_in(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "a").write_bytes(b"1")
    before = digest(folder)
    assert digest(folder) == before
    (folder / "a").rename(folder / "b")
    renamed = digest(folder)
    (folder / "b").write_bytes(b"2")
    assert len({before, renamed, digest(folder)}) == 3
    assert digest("ab", "c") != digest("a", "bc")
