# SPDX-License-Identifier: MIT
"""Run directories: short, private, told apart from those of the dead."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.owned import MARK
from zvmlab.guest import run_dir as run_dir_module
from zvmlab.guest.run_dir import (
    RunDir,
    find_guest,
    members_of,
    run_root,
    running_guests,
    running_systems,
)

SECONDS = 60


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZVMLAB_RUN", str(tmp_path / "run"))
    return tmp_path / "run"


def _describe(run_dir: RunDir) -> None:
    control = str(run_dir.socket("control"))
    run_dir.describe(control=control, kernel="6.1", cpus=2, pid=os.getpid())


def test_is_private_and_unique(root: Path) -> None:
    dirs = [RunDir.create() for _ in range(3)]
    assert len({d.name for d in dirs}) == 3
    assert {d.path.parent for d in dirs} == {root}
    assert root.stat().st_mode & 0o777 == 0o700
    assert dirs[0].path.stat().st_mode & 0o777 == 0o700
    for run_dir in dirs:
        run_dir.remove()
    assert [path.name for path in root.iterdir()] == [MARK]


def test_found_by_name_while_it_lasts() -> None:
    one, two = RunDir.create("one"), RunDir.create("two")
    _describe(one)
    assert [g.name for g in running_guests()] == ["one"]
    assert find_guest().control == str(one.path / "control")
    _describe(two)
    assert find_guest("two").cpus == 2
    with pytest.raises(UsageError, match=r"several guests are running \(one, two\)"):
        find_guest()
    one.remove()
    two.remove()
    with pytest.raises(UsageError, match="no guest is running; start one with"):
        find_guest()
    with pytest.raises(UsageError, match="no such running guest: one"):
        find_guest("one")


def _member(system: RunDir, userid: str) -> RunDir:
    made = RunDir.create()
    made.describe(
        control=str(made.socket("control")),
        kernel="6.1",
        cpus=1,
        pid=os.getpid(),
        system=system.name,
        userid=userid,
        trace="",
    )
    return made


def test_members_of_systems() -> None:
    """Found by user ID; by system and user ID, if several have one of that name."""
    one, two = RunDir.create("one", "system"), RunDir.create("two", "system")
    for system in (one, two):
        system.describe(file=f"/tmp/{system.name}.toml", pid=os.getpid())
    dirs = [one, two, _member(one, "ALICE"), _member(one, "BOB"), _member(two, "ALICE")]
    assert [(s.name, s.file) for s in running_systems()] == [
        ("one", "/tmp/one.toml"),
        ("two", "/tmp/two.toml"),
    ]
    assert [guest.userid for guest in members_of("one")] == ["ALICE", "BOB"]
    assert find_guest("bob").control == str(dirs[3].path / "control")
    assert find_guest("ALICE", "two").agent == dirs[4].path / "agent"
    assert find_guest(None, "two").userid == "ALICE"
    assert find_guest(dirs[2].name).system == "one"
    for name, within, sentence in (
        ("ALICE", None, r"several systems have a guest ALICE \((one, two|two, one)\)"),
        ("BOB", "two", "no such running guest: BOB"),
        ("ALIC", "one", "did you mean ALICE"),
        (None, "one", r"several guests are running \(ALICE, BOB\)"),
        ("BOB", "tow", "no such running system: tow; 'zvmlab list' lists them"),
    ):
        with pytest.raises(UsageError, match=sentence):
            find_guest(name, within)
    with pytest.raises(UsageError, match="the system one of /tmp/one.toml is up .process"):
        RunDir.create("one", "system")
    for made in dirs:
        made.remove()
    assert running_systems() == []


def test_name_is_taken_once() -> None:
    run_dir = RunDir.create("mine")
    with pytest.raises(UsageError, match="a guest named mine is running already"):
        RunDir.create("mine")
    run_dir.remove()
    RunDir.create("mine").remove()


@pytest.mark.parametrize("name", ["", "a/b", "..", "-x", "x" * 33, "a b"])
def test_bad_name(name: str) -> None:
    with pytest.raises(UsageError, match="is not 1 to 32 letters"):
        RunDir.create(name)


def _die_holding_one() -> None:
    _describe(RunDir.create("dead"))
    os._exit(0)


def _leave_a_dead_one() -> None:
    child = multiprocessing.get_context("fork").Process(target=_die_holding_one)
    child.start()
    child.join(SECONDS)


def test_a_dead_owner_is_noticed_and_its_directory_removed(root: Path) -> None:
    _leave_a_dead_one()
    assert (root / "dead" / "guest.json").exists()
    assert running_guests() == []
    run_dir = RunDir.create()
    assert not (root / "dead").exists()
    run_dir.remove()


def test_two_who_look_at_once_take_each_other_for_no_guest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _leave_a_dead_one()
    looks, goes_on = threading.Event(), threading.Event()
    lock = run_dir_module._lock

    def lock_for_a_while(folder: Path) -> IO[bytes] | None:
        held = lock(folder)
        if not looks.is_set():
            looks.set()
            goes_on.wait(SECONDS)
        return held

    monkeypatch.setattr(run_dir_module, "_lock", lock_for_a_while)
    seen: list[object] = []
    first, second = (
        threading.Thread(target=lambda: seen.append(running_guests())) for _ in range(2)
    )
    first.start()
    assert looks.wait(SECONDS)
    second.start()
    second.join(0.3)  # it has looked by then, or waits
    goes_on.set()
    for thread in (first, second):
        thread.join(SECONDS)
    assert seen == [[], []]


def test_socket_path_too_long(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_RUN", str(root / ("x" * 100)))
    run_dir = RunDir.create()
    with pytest.raises(UsageError, match=r"bytes \(at most 107\); set ZVMLAB_RUN to a directory"):
        run_dir.socket("control")
    run_dir.remove()


def test_root_that_is_no_directory_of_ours(root: Path) -> None:
    root.symlink_to("/tmp")
    with pytest.raises(CannotRun, match="is not a directory of yours"):
        run_root()


def test_root_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_RUN", "/dev/null/x")
    with pytest.raises(CannotRun, match=r"cannot write /dev/null/x \(Not a directory\)"):
        run_root()


def test_damaged_facts_are_no_guest(root: Path) -> None:
    run_dir = RunDir.create("odd")
    for text in ("", "[]", '{"control": 1}', '{"control":"c","kernel":"k","cpus":"x","pid":1}'):
        (root / "odd" / "guest.json").write_text(text)
        assert running_guests() == []
    run_dir.remove()


def test_what_is_not_ours_is_neither_removed_nor_taken_for_a_guest(root: Path) -> None:
    RunDir.create().remove()
    project = root / "project"
    project.mkdir()
    (project / "lock").touch()
    (project / "guest.json").write_text('{"control":"c","kernel":"k","cpus":1,"pid":1}')
    RunDir.create().remove()
    assert sorted(path.name for path in project.iterdir()) == ["guest.json", "lock"]
    assert running_guests() == []
    with pytest.raises(UsageError, match="project is there already; choose another name"):
        RunDir.create("project")


def test_a_folder_with_other_things_is_refused(root: Path) -> None:
    (root / "project").mkdir(parents=True)
    (root / "project" / "lock").touch()
    uses: list[Callable[[], object]] = [run_root, running_guests, RunDir.create]
    for use in uses:
        with pytest.raises(
            UsageError, match=r"other files \(project\), and .*; set ZVMLAB_RUN to an"
        ):
            use()
    assert (root / "project" / "lock").exists()


def test_a_root_of_an_earlier_version_is_taken_over(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = root / "g123456"
    old.mkdir(parents=True)
    (old / "lock").touch()
    (old / "guest.json").write_text('{"control":"c","kernel":"k","cpus":1,"pid":1}')
    RunDir.create().remove()
    assert old.exists()
    # A folder of the default's name is ours, whatever is in it.
    monkeypatch.delenv("ZVMLAB_RUN")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "zvmlab" / "something").mkdir(parents=True)
    RunDir.create().remove()
    assert (tmp_path / "zvmlab" / "something").exists()


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o722])
def test_a_root_that_others_can_write_to_is_refused(root: Path, mode: int) -> None:
    root.mkdir()
    root.chmod(mode)
    with pytest.raises(CannotRun, match=rf"can be written to by others \(mode {mode:o}\); run chm"):
        RunDir.create()
    assert list(root.iterdir()) == []
    root.chmod(0o755)
    RunDir.create().remove()


def test_many_at_once_remove_only_what_is_left(root: Path) -> None:
    """Each makes, finds and removes directories while the others do."""
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_come_and_go) for _ in range(8)]
    for child in children:
        child.start()
    for child in children:
        child.join(2 * SECONDS)
        assert child.exitcode == 0
    RunDir.create().remove()
    assert [path.name for path in root.iterdir()] == [MARK]


def _come_and_go() -> None:
    for _ in range(20):
        run_dir = RunDir.create()
        _describe(run_dir)
        assert run_dir.name in [guest.name for guest in running_guests()]
        run_dir.remove()
    RunDir.create()
    os._exit(0)
