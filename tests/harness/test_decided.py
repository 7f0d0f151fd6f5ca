# SPDX-License-Identifier: MIT
"""What was decided once: taken again as long as nothing of what it was decided from is another."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zvmlab.base import decided, signature
from zvmlab.base.cache import cache_root, digest, remove
from zvmlab.base.decided import keep, recall, state_of
from zvmlab.base.progress import Progress
from zvmlab.guest import artifacts
from zvmlab.guest.config import Artifacts, GuestConfig


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    # What has just been written counts as if it had been there for an hour.
    monkeypatch.setattr(signature, "_COARSEST_NS", -3600 * 10**9)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    (folder / "below").mkdir(parents=True)
    (folder / "a.c").write_text("one")
    (folder / "below/b.c").write_text("one")
    (folder / "link.c").symlink_to(tmp_path / "linked.c")
    (tmp_path / "linked.c").write_text("one")
    return folder


def _put_back(file: Path) -> None:
    """Other contents of the same size, and the time that it had: cp -p."""
    found = file.stat()
    file.write_text("two")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: _put_back(folder / "a.c"),
        lambda folder: _put_back(folder / "below/b.c"),
        lambda folder: _put_back(folder / "link.c"),
        lambda folder: (folder / "a.c").write_text("longer"),
        lambda folder: (folder / "a.c").chmod(0o755),
        lambda folder: (folder / "a.c").unlink(),
        lambda folder: (folder / "below/new.c").touch(),
        lambda folder: (folder / "a.c").rename(folder / "below/a.c"),
        lambda folder: shutil.rmtree(folder),
    ],
    ids="put-back below linked written mode gone new moved all-gone".split(),
)
def test_a_state_changes_with_every_file(sources: Path, change: Callable[[Path], object]) -> None:
    before = state_of([sources])
    (sources / "__pycache__").mkdir()
    (sources / "__pycache__/a.pyc").touch()
    (sources / ".a.c.swp").touch()
    assert before is not None and state_of([sources]) == before
    change(sources)
    assert state_of([sources]) not in (before, None)


def test_no_state_where_a_change_could_go_unseen(
    sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signature, "_COARSEST_NS", 3600 * 10**9)
    assert state_of([sources]) is None
    keep("thing", "key", None, "answer")
    assert recall("thing", "key", None) is None and not (cache_root() / decided.FOLDER).exists()


@pytest.mark.parametrize("text", ("", "[]", "{}", '{"state": "s"}', "[" * 100_000, "\xff"))
def test_what_is_damaged_was_never_decided(text: str) -> None:
    keep("thing", "key", "s", "answer")
    assert recall("thing", "key", "s") == "answer"
    assert recall("thing", "key", "t") is None and recall("thing", "other", "s") is None
    (cache_root() / decided.FOLDER / "thing-key.json").write_text(text, encoding="latin-1")
    assert recall("thing", "key", "s") is None


def test_only_so_many_are_kept() -> None:
    for number in range(decided.MOST + 3):
        keep("thing", str(number), "s", number)
        file = cache_root() / decided.FOLDER / f"thing-{number}.json"
        os.utime(file, (number, number))
    keep("thing", "last", "s", "last")
    assert recall("thing", "last", "s") == "last"
    assert [recall("thing", str(number), "s") for number in range(5)] == [None] * 4 + [4]
    assert remove() == []


Make = Callable[..., Artifacts]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, sources: Path) -> list[GuestConfig]:
    """The configurations for which anything was looked for."""
    found: list[GuestConfig] = []

    def make(config: GuestConfig, _progress: Any) -> Artifacts:
        found.append(config)
        files = []
        for name in ("qemu-0123456789abcdef/bin/qemu", "kernel-x/image", "image-x/initramfs"):
            files.append(cache_root() / name)
            files[-1].parent.mkdir(parents=True, exist_ok=True)
            if not files[-1].exists():
                files[-1].write_text("one")
        (cache_root() / "qemu-0123456789abcdef/firmware").write_text("one")
        return Artifacts(files[0], files[1], "6.1", files[2])

    monkeypatch.setattr(artifacts, "_make", make)
    monkeypatch.setattr(artifacts, "TREE", sources.parent)
    monkeypatch.setattr(artifacts, "_SOURCES", ("sources",))
    (cache_root() / "kernel-of-bookworm").write_text("kernel-x")
    return found


def _prepared(config: GuestConfig = GuestConfig()) -> Artifacts:
    return artifacts._prepare(config, Progress(quiet=True))


def test_artifacts_are_recalled_with_their_hashes(made: list[GuestConfig]) -> None:
    first = _prepared()
    assert len(made) == 1 and first.digests == ()
    again = _prepared()
    assert len(made) == 1 and again._replace(digests=()) == first
    assert [value for _, value in again.digests] == [
        digest(file) for file in (first.emulator, first.kernel, first.image)
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda root: _put_back(root.parent / "sources/a.c"),
        lambda root: _put_back(root / "image-x/initramfs"),
        lambda root: _put_back(root / "kernel-x/image"),
        lambda root: (root / "qemu-0123456789abcdef/firmware").unlink(),
        lambda root: (root / "kernel-of-bookworm").write_text("kernel-y"),
        lambda root: os.utime(root / "kernel-of-bookworm", (time.time() - 90_000,) * 2),
        lambda root: (root / "kernel-of-bookworm").unlink(),
        lambda root: (root / "apt/bookworm-s390x").mkdir(parents=True)
        or (root / "apt/bookworm-s390x/updated").touch(),
        lambda _root: os.environ.update(ZVMLAB_QEMU_WITHOUT="slots"),
        lambda root: next((root / "decided").glob("guest-*")).write_text("{}"),
    ],
    ids="source image kernel firmware suite a-day-later no-note apt environment damaged".split(),
)
def test_artifacts_are_made_again_if_anything_is_another(
    made: list[GuestConfig], monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    monkeypatch.setenv("ZVMLAB_QEMU_WITHOUT", "")
    _prepared()
    change(cache_root())
    _prepared()
    assert len(made) == 2


def test_a_suites_newest_kernel_is_asked_for_after_a_day(
    made: list[GuestConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    _prepared()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_000)
    _prepared()
    assert len(made) == 1
    monkeypatch.setattr(time, "time", lambda: now + 86_500)
    _prepared()
    assert len(made) == 2


@pytest.mark.parametrize(
    "other",
    [{"kernel": "6.12"}, {"busybox": True}, {"modules": ("dcssblk",)}, {"storage": "0.256M"}],
    ids=str,
)
def test_other_guests_have_other_artifacts(made: list[GuestConfig], other: dict[str, Any]) -> None:
    _prepared()
    _prepared(GuestConfig()._replace(**other))
    assert len(made) == 2


def test_a_module_of_the_users_is_looked_at_each_time(
    made: list[GuestConfig], tmp_path: Path
) -> None:
    """Its version may have to be told."""
    (tmp_path / "mine.ko").touch()
    for _ in range(2):
        _prepared(GuestConfig(modules=(str(tmp_path / "mine.ko"),)))
    assert len(made) == 2


def test_what_changes_while_it_is_decided_is_not_kept(
    made: list[GuestConfig], monkeypatch: pytest.MonkeyPatch, sources: Path
) -> None:
    real = artifacts._make

    def make(config: GuestConfig, progress: Any) -> Artifacts:
        _put_back(sources / "a.c")
        return real(config, progress)

    monkeypatch.setattr(artifacts, "_make", make)
    _prepared()
    assert not list(cache_root().glob("decided/*.json"))
