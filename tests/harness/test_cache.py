# SPDX-License-Identifier: MIT
"""The cache: entries that are whole or not there, keys that tell what went in."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import re
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zvmlab.base import cache, manifest, trust
from zvmlab.base.cache import cache_root, digest, entry
from zvmlab.base.errors import EXIT_USAGE, CannotRun, StepFailed, UsageError
from zvmlab.base.owned import MARK, is_ours, mark, others
from zvmlab.builder.buildstep import run_step
from zvmlab.cli.main import main


_TREE = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))


def _fill(folder: Path) -> None:
    (folder / "artifact").write_text("made", encoding="ascii")


def test_an_entry_is_built_once() -> None:
    calls: list[Path] = []

    def build(folder: Path) -> None:
        calls.append(folder)
        _fill(folder)

    first = entry("thing", "0123", build)
    assert (first.name, (first / "artifact").read_text(encoding="ascii")) == ("thing-0123", "made")
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
    assert sorted(path.name for path in cache_root().iterdir()) == [".thing-0.lock", MARK]
    assert (entry("thing", "0", _fill) / "artifact").is_file()


def test_sources_that_change_while_they_are_built(tmp_path: Path) -> None:
    """Under the name of the sources that were there, the cache would have a mixture."""
    source = tmp_path / "source"
    source.write_text("old", encoding="ascii")

    def build(folder: Path) -> None:
        _fill(folder)
        source.write_text("new", encoding="ascii")

    with pytest.raises(UsageError, match="the sources of thing have changed while it was being"):
        entry("thing", lambda: digest(source), build)
    assert not list(cache_root().glob("thing-*"))
    made = entry("thing", lambda: digest(source), build)
    assert made == entry("thing", digest(source), build)


def test_the_log_of_a_step_that_failed_is_kept_until_the_entry_is_there() -> None:
    key = "0123456789abcdef"
    argv = ["sh", "-c", "echo configure: error: no C++ compiler; exit 77"]

    def fail(folder: Path) -> None:
        for _ in run_step("building tests", argv, folder, folder / "build.log", 60):
            pass

    with pytest.raises(StepFailed) as failed:
        entry("kind", key, fail)
    log = cache_root() / f"kind-{key}.log"
    assert log.read_text() == "configure: error: no C++ compiler\n"
    assert str(failed.value) == (
        f"building tests failed: 'sh' ended with exit code 77; the log is {log} and ends with:\n"
        "configure: error: no C++ compiler"
    )
    entry("kind", key, _fill)
    assert not log.exists()


def test_what_a_killed_build_left_is_removed() -> None:
    begun = cache_root() / ".thing-0.4711"
    other = cache_root() / ".thing-01.4711"
    strange = cache_root() / ".thing-0.0815"
    building = cache_root() / ".thing-02.4711"
    for folder in (begun, other, strange, building):
        folder.mkdir()
        _fill(folder)
    mark(begun)
    mark(other)
    mark(building)
    (cache_root() / ".thing-01.lock").touch()
    with cache.locked("thing-02"):
        entry("thing", "0", _fill)
    assert not begun.exists() and not other.exists()
    assert building.exists(), "another entry's, which is in the making"
    assert strange.exists(), "without a mark it is somebody else's"


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


class _Builder:
    """Counts how often the entry thing-0 is made."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, folder: Path) -> None:
        self.calls += 1
        (folder / "bin").mkdir()
        (folder / "bin" / "program").write_bytes(b"made" * 100)
        (folder / "bin" / "program").chmod(0o755)
        (folder / "link").symlink_to("bin/program")

    def artifact(self, fixed: bool = False) -> Path:
        """The entry's artifact, as it is now."""
        return entry("thing", "0", self, "bin/program", fixed)


def _truncate(artifact: Path) -> None:
    os.truncate(artifact, 100)


def _truncate_unnoticed(artifact: Path) -> None:
    then = artifact.stat()
    os.truncate(artifact, 100)
    os.utime(artifact, ns=(then.st_atime_ns, then.st_mtime_ns))


def _same_size(artifact: Path) -> None:
    artifact.write_bytes(b"else" * 100)
    _later(artifact)


def _later(artifact: Path) -> None:
    """A file that is written again within one tick of the kernel's clock may keep its time."""
    os.utime(artifact, (1, 1))


def _not_executable(artifact: Path) -> None:
    artifact.chmod(0o644)


def _other_link(artifact: Path) -> None:
    (artifact.parents[1] / "link").unlink()
    (artifact.parents[1] / "link").symlink_to("elsewhere")


def _no_mark_left(artifact: Path) -> None:
    (artifact.parents[1] / MARK).write_text("")


@pytest.mark.parametrize(
    "harm",
    [
        _truncate,
        _truncate_unnoticed,
        _same_size,
        _not_executable,
        _other_link,
        _no_mark_left,
        Path.unlink,
    ],
    ids=[
        "truncated",
        "of the same time",
        "same size",
        "not executable",
        "other link",
        "no manifest",
        "gone",
    ],
)
def test_an_entry_that_was_altered_is_made_again(harm: Callable[[Path], None]) -> None:
    builder = _Builder()
    artifact = builder.artifact()
    assert builder.artifact() == artifact and builder.calls == 1
    harm(artifact)
    manifest._checked.clear()
    assert builder.artifact() == artifact and builder.calls == 2
    assert artifact.read_bytes() == b"made" * 100 and os.access(artifact, os.X_OK)


def _give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it another user's, or us another one: only root can do the first."""
    if os.geteuid() == 0:
        os.chown(path, STRANGER, -1, follow_symlinks=False)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: STRANGER)


STRANGER = 54321


def _new_process() -> None:
    cache._trusted.clear()
    manifest._checked.clear()


def test_a_cache_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever it belongs to could have put a program of their own there."""
    builder = _Builder()
    builder.artifact()
    _give_away(tmp_path / "cache", monkeypatch)
    _new_process()
    with pytest.raises(CannotRun) as refused:
        builder.artifact()
    assert re.fullmatch(
        rf"the cache {tmp_path}/cache belongs to the user .*, and zvmlab runs programs from there;"
        " set ZVMLAB_CACHE to a folder of your own, or of root's",
        str(refused.value),
    )
    assert builder.calls == 1
    assert main(["fetch", "bookworm"]) == 77 and "belongs to" in capsys.readouterr().err


@pytest.mark.parametrize("mode", (0o777, 0o1777, 0o757))
def test_a_cache_that_others_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    cache_root().chmod(mode)
    _new_process()
    text = (
        rf"the cache {tmp_path}/cache can be written to by others \(mode {mode:o}\), and .* chmod"
    )
    with pytest.raises(CannotRun, match=text):
        cache_root()


@pytest.mark.parametrize("name", ("thing-0", "apt", "kernel-of-bookworm", ".thing-0.lock"))
def test_a_stranger_in_our_cache_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """It was put there while others could write to the cache."""
    _Builder().artifact()
    path = tmp_path / "cache" / name
    if not path.exists():
        path.mkdir()
    path.chmod(0o777)
    _new_process()
    with pytest.raises(CannotRun, match=rf"{path}, in zvmlab's cache, can be written to by others"):
        cache_root()
    if os.geteuid() == 0:
        path.chmod(0o755)
        _give_away(path, monkeypatch)
        with pytest.raises(CannotRun, match=rf"{path}, in .*, belongs to .*; remove it if it is"):
            cache_root()


def _looks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The caches that are looked at from now on, whose last change is long ago."""
    looked: list[Path] = []

    def look(root: Path) -> tuple[str, str] | None:
        looked.append(root)
        return trust.first_objection(root)

    monkeypatch.setattr(cache, "first_objection", look)
    monkeypatch.setattr(cache, "is_settled", lambda found, now: True)
    return looked


def test_a_cache_is_looked_at_once_for_each_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _Builder().artifact()
    looked = _looks(monkeypatch)

    def looks() -> int:
        looked.clear()
        _new_process()
        cache_root()
        return len(looked)

    looks()  # which adds the note
    assert [looks() for _ in range(3)] == [1, 0, 0]
    (tmp_path / "cache" / "thing-1").mkdir()
    assert [looks() for _ in range(2)] == [1, 0]
    monkeypatch.setenv("SUDO_UID", "4711")
    assert looks() == 1


def test_only_a_cache_without_strangers_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note that others could have written is not believed."""
    _Builder().artifact()
    looked = _looks(monkeypatch)
    for _ in range(3):
        _new_process()
        cache_root()
    assert len(looked) == 2
    note = tmp_path / "cache" / f".looked.{os.geteuid()}"
    note.chmod(0o666)
    _new_process()
    with pytest.raises(CannotRun, match=rf"{note}, in zvmlab's cache, can be written to by others"):
        cache_root()
    note.chmod(0o644)
    (tmp_path / "cache" / "thing-1").mkdir()
    (tmp_path / "cache" / "thing-1").chmod(0o777)
    for _ in range(3):
        _new_process()
        with pytest.raises(CannotRun, match="thing-1, in zvmlab's cache, can be written to by"):
            cache_root()


def test_a_time_that_may_not_tell_is_not_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change within the same step of the file system's clock would go unseen."""
    _Builder().artifact()
    looked = _looks(monkeypatch)
    monkeypatch.setattr(cache, "is_settled", lambda found, now: False)
    for _ in range(3):
        _new_process()
        cache_root()
    assert len(looked) == 3


def test_an_entry_that_others_could_write_to_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its mode was changed after the cache was looked at."""
    builder = _Builder()
    artifact = builder.artifact()
    _looks(monkeypatch)
    for _ in range(2):
        _new_process()
        cache_root()
    artifact.parents[1].chmod(0o777)
    _new_process()
    assert builder.artifact() == artifact and builder.calls == 2
    assert not artifact.parents[1].stat().st_mode & 0o022


@pytest.mark.parametrize("what", ("owner", "mode"))
def test_a_file_that_others_could_write_is_made_again(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = _Builder()
    artifact = builder.artifact()
    if what == "mode":
        artifact.chmod(0o777)
    elif os.geteuid() == 0:
        _give_away(artifact, monkeypatch)
    else:
        pytest.skip("only root can give a file to another user")
    _new_process()
    assert builder.artifact() == artifact and builder.calls == 2
    assert artifact.stat().st_uid == os.geteuid() and not artifact.stat().st_mode & 0o022


@pytest.mark.parametrize("mask", (0, 0o002, 0o007, 0o077))
def test_nobody_else_can_write_to_a_new_cache_whatever_the_umask_is(mask: int) -> None:
    before = os.umask(mask)
    try:
        artifact = _Builder().artifact()
        for path in (artifact, artifact.parent, artifact.parent.parent, cache_root()):
            assert trust.objection(path.stat()) is None and not path.stat().st_mode & 0o002
        _new_process()
        assert _Builder().artifact() == artifact
    finally:
        os.umask(before)


def _stat(uid: int, mode: int, gid: int = 54321) -> os.stat_result:
    return os.stat_result((mode, 1, 1, 1, uid, gid, 0, 0, 0, 0))


def test_whom_we_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    user, other = 1234, 1235
    names = {user: "ann", other: "bob"}
    groups = {
        1300: ("ann", []),
        1301: ("bob", []),
        1302: ("ann", ["ann", "bob"]),
        1303: ("all", []),
    }
    monkeypatch.setattr(
        pwd,
        "getpwnam",
        lambda name: pwd.struct_passwd((name, "", {v: k for k, v in names.items()}[name], *"0abc")),
    )
    monkeypatch.setattr(
        grp, "getgrgid", lambda gid: grp.struct_group((groups[gid][0], "", gid, groups[gid][1]))
    )
    monkeypatch.setattr(trust, "_is_of_one_user", trust._is_of_one_user.__wrapped__)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv("SUDO_UID", str(other))
    file = 0o100644
    trusted: Callable[..., bool] = lambda *which: trust.objection(_stat(*which)) is None
    assert trusted(user, file) and trusted(0, file) and not trusted(other, file)
    assert not trusted(user, 0o100646) and not trusted(0, 0o40777) and trusted(user, 0o120777)
    # The group of ann alone; bob's; one of hers with bob in it; one that nobody is named as.
    found = [trusted(user, 0o100664, gid) for gid in (1300, 1301, 1302, 1303, 1304, 0)]
    assert found == [True, False, False, False, False, True]
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert trusted(0, file) and trusted(other, file) and not trusted(user, file)
    monkeypatch.delenv("SUDO_UID")
    assert trusted(0, file) and not trusted(other, file)


@pytest.mark.parametrize("artifact", ["bin/program", ""])
def test_an_entry_that_another_process_removes_meanwhile_is_made_again(
    monkeypatch: pytest.MonkeyPatch, artifact: str
) -> None:
    builder = _Builder()
    first = entry("thing", "0", builder, artifact)
    removed: list[Path] = []

    def is_whole(folder: Path) -> bool | None:
        if not removed:
            removed.append(folder)
            shutil.rmtree(folder)
            return None
        return True

    monkeypatch.setattr(manifest, "is_whole", is_whole)
    assert entry("thing", "0", builder, artifact) == first and builder.calls == 2
    assert first.exists() and removed == [cache_root() / "thing-0"]


def test_a_cache_that_can_only_be_read_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, mode: str, encoding: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(cache, "open", refuse, raising=False)
    with cache.in_use("thing-0"):
        pass


def test_another_time_alone_alters_nothing() -> None:
    builder = _Builder()
    artifact = builder.artifact()
    os.utime(artifact, (1, 1))
    for _ in range(2):
        manifest._checked.clear()
        assert builder.artifact() == artifact and builder.calls == 1
    # The new time has been noted, so the file is not read again.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest, "_hash", lambda file: pytest.fail("it was read"))
        manifest._checked.clear()
        assert builder.artifact() == artifact


MIB = 1 << 20


def _with_holes(path: Path, *parts: tuple[int, bytes]) -> None:
    """A file of 10 MiB that has these parts at these places, and nothing else."""
    with open(path, "wb") as file:
        for at, data in parts:
            file.seek(at)
            file.write(data)
        file.truncate(10 * MIB)
        os.fsync(file.fileno())


PARTS = ((0, b"begins"), (5 * MIB + 4000, b"middle" * 100))


@pytest.mark.parametrize(
    ("parts", "calls"),
    [
        (PARTS, 1),
        ((*PARTS, (7 * MIB, bytes(MIB))), 1),
        ((*PARTS, (7 * MIB, b"x")), 2),
        (((0, b"begins"), (5 * MIB, b"middle" * 100)), 2),
        (((0, b"begins"),), 2),
        (((0, b"begin!"), PARTS[1]), 2),
    ],
    ids=["the same", "zeros for a hole", "more", "another place", "less", "other contents"],
)
def test_holes_of_an_artifact_are_not_read_but_compared(
    monkeypatch: pytest.MonkeyPatch, parts: tuple[tuple[int, bytes], ...], calls: int
) -> None:
    made = []

    def build(folder: Path) -> None:
        made.append(folder)
        _with_holes(folder / "machine", *PARTS)

    read = 0

    def pread(fd: int, size: int, at: int, pread: Callable[..., bytes] = os.pread) -> bytes:
        nonlocal read
        read += size
        return pread(fd, size, at)

    monkeypatch.setattr(os, "pread", pread)
    artifact = entry("thing", "0", build, "machine")
    assert 0 < read < MIB
    _with_holes(artifact, *parts)
    os.utime(artifact, (1, 1))
    manifest._checked.clear()
    assert entry("thing", "0", build, "machine") == artifact and len(made) == calls


def test_a_build_that_made_nothing_leaves_nothing() -> None:
    for fill in (lambda folder: None, lambda folder: (folder / "bin").mkdir()):
        with pytest.raises(CannotRun, match=r"thing-0 is not there \(bin/program\)"):
            entry("thing", "0", fill, "bin/program")
    with pytest.raises(CannotRun, match=r"thing-0 is not there \(nothing\)"):
        entry("thing", "0", lambda folder: None)
    assert not (cache_root() / "thing-0").exists()
    # What an earlier version left in such a case is made again.
    (cache_root() / "thing-0").mkdir()
    assert _Builder().artifact().is_file()


def test_a_moved_cache_goes_on_working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = _Builder()
    fixed = entry("bound", "0", builder, "bin/program", fixed=True)
    moved = builder.artifact()
    assert builder.calls == 2
    (tmp_path / "cache").rename(tmp_path / "elsewhere")
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "elsewhere"))
    manifest._checked.clear()
    assert builder.artifact() == tmp_path / "elsewhere" / moved.relative_to(tmp_path / "cache")
    assert builder.calls == 2
    entry("bound", "0", builder, "bin/program", fixed=True)
    assert builder.calls == 3, "it has its own path in it"
    assert not fixed.exists()


def _earlier_version(root: Path) -> None:
    """A cache as it was made before there were marks."""
    for name in ("thing-0123456789abcdef", "kernel-sid-7.2-s390x_7.2-1", "apt", ".debs-ab_c"):
        (root / name).mkdir(parents=True)
        _fill(root / name)
    for name in (
        ".thing-0123456789abcdef.lock",
        "kernel-of-sid",
        "debugkernel-0123456789abcdef.log",
    ):
        (root / name).touch()


def test_a_cache_of_an_earlier_version_is_taken_over(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    _earlier_version(root)
    artifact = entry("thing", "0123456789abcdef", lambda folder: pytest.fail("made"), "artifact")
    assert artifact.read_text(encoding="ascii") == "made"
    assert is_ours(root) and is_ours(artifact.parent) and is_ours(root / "apt")
    # From now on its contents are known.
    artifact.write_text("else", encoding="ascii")
    _later(artifact)
    manifest._checked.clear()
    assert entry("thing", "0123456789abcdef", _fill, "artifact") == artifact
    assert artifact.read_text(encoding="ascii") == "made"


@pytest.mark.parametrize("name", ["checkpoint-thesis", "checkpoint-x", "photos", ".git", "thing-0"])
@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_folder_with_other_things_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    root = tmp_path / "cache"
    _earlier_version(root)
    (root / name).mkdir() if kind == "folder" else (root / name).write_text("mine")
    with pytest.raises(
        UsageError, match=f"is not a cache of zvmlab: it has other contents .{name}.;"
    ):
        cache_root()
    assert cache.main(["remove"]) == EXIT_USAGE
    assert (root / "thing-0123456789abcdef" / "artifact").exists() and not is_ours(root)


def test_a_folder_that_another_process_takes_over_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(folder: Path, ours: Callable[[Path], bool]) -> list[str]:
        mark(folder)
        (folder / "begins").mkdir()
        return others(folder, ours)

    monkeypatch.setattr(cache, "others", meanwhile)
    assert cache_root() == tmp_path / "cache"


def test_the_default_folder_is_ours_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ZVMLAB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "zvmlab" / "notes").mkdir(parents=True)
    assert cache_root() == tmp_path / "zvmlab"
    assert not is_ours(tmp_path / "zvmlab" / "notes")


@pytest.mark.parametrize("name", ["a b", "a\tb", "a:b", "a$b", "a'b", "a;b"])
def test_a_path_that_builds_cannot_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / name))
    with pytest.raises(UsageError, match="set ZVMLAB_CACHE to a path without it"):
        entry("thing", "0", _fill)
    assert not (tmp_path / name).exists()


def test_removing_the_cache_spares_what_is_not_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "cache"
    _earlier_version(root)
    entry("thing", "0", _fill)
    (root / "checkpoint-thesis").mkdir()
    (root / "checkpoint-thesis" / "text").write_text("mine")
    (root / "checkpoint-x").write_text("mine")
    outside = tmp_path / "outside"
    outside.mkdir()
    mark(outside)
    _fill(outside)
    (root / "link-0123456789abcdef").symlink_to(outside)
    assert cache.main(["remove"]) == os.EX_OK
    left = ["checkpoint-thesis", "checkpoint-x", "link-0123456789abcdef"]
    assert sorted(path.name for path in root.iterdir() if path.name != MARK) == left
    assert capsys.readouterr().out.endswith(f"did not put it there: {', '.join(left)}\n")
    assert (outside / "artifact").exists()
    shutil.rmtree(root / "checkpoint-thesis")
    for name in left[1:]:
        (root / name).unlink()
    assert cache.main(["remove"]) == os.EX_OK and not root.exists()
    assert cache.main(["remove"]) == os.EX_OK
    assert cache.main([]) == EXIT_USAGE


def test_make_distclean_removes_no_foreign_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis").write_text("mine")
    argv = ["make", "-s", "-C", str(_TREE), "distclean", f"BUILD={tmp_path / 'build'}"]
    done = subprocess.run(
        argv,
        env={**os.environ, "ZVMLAB_CACHE": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode != 0 and "has other contents (thesis)" in done.stderr
    assert (home / "thesis").read_text() == "mine"


def test_an_entry_that_goes_while_the_cache_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process cleans up: what is no longer there is nobody's."""
    (tmp_path / "gone").mkdir()
    scandir = os.scandir

    def removing(folder: Path) -> Any:
        """List the folder, and remove what was listed before it is looked at."""
        listed = list(scandir(folder))
        (tmp_path / "gone").rmdir()
        return contextlib.nullcontext(listed)

    monkeypatch.setattr(os, "scandir", removing)
    assert trust.first_objection(tmp_path) is None


def test_what_is_compiled_is_kept_there_and_goes_with_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cache.main(["compiled"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert folder.parent == cache_root() and is_ours(folder)
    (folder / "0").mkdir()
    (folder / "0" / "object").write_bytes(b"compiled")
    assert cache.remove() == [] and not folder.exists()


def test_a_cache_that_compiled_first_is_adopted() -> None:
    folder = Path(os.environ["ZVMLAB_CACHE"], "compiled")
    folder.mkdir(parents=True)
    (folder / "ccache.conf").touch()
    assert is_ours(cache_root()) and cache.remove() == []


def test_usage() -> None:
    assert cache.main(["compile"]) == EXIT_USAGE
