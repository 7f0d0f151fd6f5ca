# SPDX-License-Identifier: MIT
"""What a guest runs is looked for once in a process, until something of it is another."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zvmlab.guest import artifacts
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import HERCULES, Artifacts, GuestConfig


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[GuestConfig]:
    """The configurations whose artifacts were looked for; each gets files of its own."""
    found: list[GuestConfig] = []

    def make(config: GuestConfig, _progress: Any) -> Artifacts:
        found.append(config)
        files = [tmp_path / f"{name}-{len(found)}" for name in ("emulator", "kernel", "image")]
        for file in files:
            file.touch()
        late = tmp_path / f"late-{len(found)}"
        late.touch()
        return Artifacts(files[0], files[1], "6.1", files[2], (late,))

    monkeypatch.setattr(artifacts, "_prepare", make)
    monkeypatch.setattr(artifacts, "_prepared", {})
    return found


@pytest.fixture
def config(tmp_path: Path) -> GuestConfig:
    (tmp_path / "driver.ko").write_bytes(b"a driver")
    (tmp_path / "file").write_bytes(b"a file")
    (tmp_path / "replaced.ko").write_bytes(b"a module")
    return GuestConfig(
        driver=str(tmp_path / "driver.ko"),
        modules=(str(tmp_path / "driver.ko"),),
        files={"/file": tmp_path / "file"},
    )


def test_guests_that_run_the_same_share_it(made: list[GuestConfig], config: GuestConfig) -> None:
    first = prepare(config)
    others: dict[str, Any] = {"cpus": 4, "cold": True, "name": "x", "segments": (), "trace": False}
    for name, value in others.items():
        assert prepare(config._replace(**{name: value})) is first
    assert made == [config]


@pytest.mark.parametrize(
    "change",
    [
        {"kernel": "trixie"},
        {"backend": HERCULES},
        {"driver": "upstream"},
        {"modules": ("dcssblk",)},
        {"files": {}},
        {"busybox": True},
        {"interactive": True},
        {"storage": "0.64M"},
    ],
    ids=lambda change: str(next(iter(change))),
)
def test_guests_that_run_something_else_do_not(
    made: list[GuestConfig], config: GuestConfig, change: dict[str, Any]
) -> None:
    prepare(config)
    prepare(config._replace(**change))
    assert len(made) == 2


def _rewrite(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(b"other contents, of another length")


def _same_size_and_time(name: str) -> Callable[[Path], object]:
    """As cp -p of a file that was made in the same moment."""

    def change(folder: Path) -> None:
        file = folder / name
        found = file.stat()
        file.write_bytes(file.read_bytes()[::-1])
        os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))

    return change


def _remove(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


@pytest.mark.parametrize(
    "change",
    [
        _rewrite("driver.ko"),
        _rewrite("file"),
        _rewrite("replaced.ko"),
        _same_size_and_time("file"),
        _remove("image-1"),
        _remove("emulator-1"),
        _remove("late-1"),
        lambda _folder: os.environ.update(ZVMLAB_QEMU_WITHOUT="slots"),
    ],
    ids=[
        "driver",
        "file",
        "replaced",
        "file-of-the-same-time",
        "image-gone",
        "emulator-gone",
        "late-module-gone",
        "environment",
    ],
)
def test_what_is_another_now_is_looked_for_again(
    made: list[GuestConfig],
    config: GuestConfig,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], object],
) -> None:
    monkeypatch.setenv("ZVMLAB_QEMU_WITHOUT", "")
    monkeypatch.setenv("ZVMLAB_REPLACED_MODULES", str(tmp_path / "replaced.ko"))
    first = prepare(config)
    change(tmp_path)
    assert prepare(config) is not first and len(made) == 2
