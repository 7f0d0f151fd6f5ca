# SPDX-License-Identifier: MIT
"""Counts of a guest's kernel, kept in files; the guest is a dictionary here."""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zvmlab.agent.wire import AgentLost
from zvmlab.base.errors import UsageError
from zvmlab.builder.count_folder import BOOT, kernels_in
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.linux_files import BUILT_IN, GCOV
from zvmlab.guest import kernel_lines
from zvmlab.guest.console import PANIC
from zvmlab.guest.guest import Stage
from zvmlab.guest.kernel_lines import Counts, check_counts

TREE = "/cache/tree"
NOT_WRITTEN = "they were never written"
RESET = "/sys/kernel/debug/gcov/reset"


class Model:
    """A guest with files in gcov's folder of debugfs; reading any other is an error."""

    def __init__(self, files: dict[str, bytes], kernel: str = "coverage") -> None:
        self.files = files
        self.boot = b"first"
        self.config = SimpleNamespace(kernel=kernel, backend="qemu")
        looker = SimpleNamespace(read_file=self._read)
        self.agent: Any = SimpleNamespace(write_file=self._write, looker=lambda seconds: looker)
        self.agent.batch = lambda: SimpleNamespace(
            open=lambda path: path, read=lambda fd, size: 0, close=lambda fd: 0, run=self._symbols
        )
        self.stage = Stage.READY
        self.can_answer = True
        self.emulator: Any = SimpleNamespace(alive=True, may_end=False, wait=self._end)
        self.last_storage = Path("/nonexistent/last-storage")
        self.keeps = False
        self.console: Any = SimpleNamespace(crash=None)
        self.control = SimpleNamespace(closed=False)

    def _read(self, path: str) -> bytes:
        if path.endswith("/boot_id"):
            return self.boot
        name = path.removeprefix(f"/sys/kernel/debug/gcov{TREE}/")
        if name not in self.files:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return self.files[name]

    @staticmethod
    def _symbols() -> list[Any]:
        """The beginning of /proc/kallsyms, as a batch reads it."""
        return [None, SimpleNamespace(data=b"0000000000002000 T _text\n00000"), None]

    def _end(self, seconds: float) -> int:
        self.emulator.alive = False
        return 0

    def keep_last_storage(self) -> None:
        """From now on it would."""
        self.keeps = True

    def _write(self, path: str, content: bytes) -> None:
        assert (path, content) == (RESET, b"1")
        self.files.clear()


def model(files: dict[str, bytes]) -> Any:
    return Model(files)


@pytest.fixture(autouse=True)
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache entry of a kernel that counts two sources."""
    entry = tmp_path / "debugkernel-6.1-abcdef0123456789"
    for name in ("net/a", "drivers/s390/b"):
        for suffix in (".gcno", ".c"):
            file = entry / GCOV / f"{name}{suffix}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(name)
    (entry / GCOV / BUILT_IN).write_text(f"{TREE}\n")
    found = Kernel("6.1.9", "coverage", entry / "boot" / "vmlinuz", None)
    monkeypatch.setattr(kernel_lines, "resolve", lambda name: found)
    return entry


def kept(folder: Path) -> list[tuple[str, str, dict[str, bytes]]]:
    """Of each test its name, why its counts are lost, and the counts."""
    (counts,) = kernels_in(folder)
    assert (counts.version, counts.name) == ("6.1.9", "coverage")
    assert counts.folder.name == "6.1.9-abcdef01"
    found = []
    for test in counts.tests():
        files = sorted(test.folder.rglob("*.gcda"))
        read = {str(file.relative_to(test.folder)): file.read_bytes() for file in files}
        found.append((test.name, test.lost, read))
    return found


def test_some_tests_are_chosen_by_the_beginning_of_their_names(tmp_path: Path) -> None:
    counts = Counts(tmp_path / "lines")
    for name in ("fuzz iucv 1", "fuzz iucv_2", "fuzz af_iucv 1"):
        counts.keep(model({"net/a.gcda": b"1"}), name)
    (found,) = kernels_in(tmp_path / "lines")
    assert len(list(found.tests())) == 3
    assert [one.name for one in replace(found, only="fuzz iucv ").tests()] == ["fuzz iucv 1"]


def test_each_test_has_what_it_has_run(tmp_path: Path) -> None:
    counts = Counts(tmp_path / "lines")
    counts.keep(model({"net/a.gcda": b"1", "drivers/s390/b.gcda": b"2"}), "one")
    counts.keep(model({"net/a.gcda": b"3"}), "two")
    counts.keep(model({"net/a.gcda": b"4"}), "one")
    assert sorted(kept(tmp_path / "lines"), key=str) == [
        ("one", "", {"drivers/s390/b.gcda": b"2", "net/a.gcda": b"1"}),
        ("one", "", {"net/a.gcda": b"4"}),
        ("two", "", {"net/a.gcda": b"3"}),
    ]
    (kernel,) = kernels_in(tmp_path / "lines")
    files = {str(f.relative_to(kernel.notes)) for f in kernel.notes.rglob("*") if f.is_file()}
    assert files == {"net/a.c", "net/a.gcno", "drivers/s390/b.c", "drivers/s390/b.gcno"}


def test_test_counts_from_zero_and_the_boot_is_kept_once(tmp_path: Path) -> None:
    counts = Counts(tmp_path)
    guest = model({"net/a.gcda": b"boot"})
    for test in ("one", "two"):
        counts.begin(guest)
        guest.files["net/a.gcda"] = test.encode()
        counts.keep(guest, test)
        guest.files["net/a.gcda"] = b"boot"  # it is put back
    assert guest.keeps
    assert kept(tmp_path) == [
        (BOOT, "", {"net/a.gcda": b"boot"}),
        ("one", "", {"net/a.gcda": b"one"}),
        ("two", "", {"net/a.gcda": b"two"}),
    ]


def test_counts_of_a_guest_that_cannot_be_asked_are_lost(tmp_path: Path) -> None:
    counts = Counts(tmp_path)
    crashed, ended, silent = (model({"net/a.gcda": b"1"}) for _ in range(3))
    crashed.console.crash = SimpleNamespace(line="Kernel panic - not syncing: x", kind=PANIC)
    ended.can_answer, ended.stage = False, Stage.OFF

    def lost(path: str) -> bytes:
        raise AgentLost("the agent is gone\nwith a tail")

    silent.agent.looker(60).read_file = lost
    counts.keep(crashed, "crashes")
    counts.keep(ended, "ends")
    counts.keep(silent, "is lost")
    with pytest.raises(KeyError), counts.of(model({}), "raises"):
        raise KeyError
    made = model({})
    made.stage = Stage.MADE
    counts.keep(made, "has no guest yet")
    counts.lose("coverage", "was told", "it crashed")
    assert kept(tmp_path) == [
        ("crashes", "Kernel panic - not syncing: x", {}),
        ("ends", "the guest ended before it could be asked", {}),
        ("is lost", "the agent is gone", {}),
        ("raises", NOT_WRITTEN, {}),
        ("was told", "it crashed", {}),
    ]


def test_counts_are_read_from_what_an_ended_guest_left(
    kernel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the sources that count; an end that is expected is waited for."""
    symbols = kernel / "boot" / "System.map"
    left = [(f"{TREE}/net/a.gcda", b"7"), (f"{TREE}/kernel/other.gcda", b"8")]

    def read(storage: Any, head: int) -> list[tuple[str, bytes]]:
        assert head == 0x2234
        return left

    monkeypatch.setattr(kernel_lines, "LastStorage", lambda file: contextlib.nullcontext(file))
    monkeypatch.setattr(kernel_lines, "counts_in", read)
    for answer in (True, False):
        guest = model({})
        counts = Counts(tmp_path / "lines")
        counts.begin(guest)
        guest.last_storage = tmp_path / "last-storage"
        guest.last_storage.write_bytes(b"x")
        guest.emulator.may_end = True
        guest.can_answer = answer

        def lost(path: str) -> bytes:
            raise AgentLost("the agent is gone")

        guest.agent.looker(60).read_file = lost
        symbols.parent.mkdir(exist_ok=True)
        known = "0000000000001000 T _text\n"
        symbols.write_text(f"{known}0000000000001234 b gcov_info_head\n" if answer else known)
        counts.keep(guest, f"answers: {answer}")
        assert not guest.last_storage.exists()
    assert [one for one in kept(tmp_path / "lines") if one[0] != BOOT] == [
        ("answers: False", f"{symbols} has no gcov_info_head", {}),
        ("answers: True", "", {"net/a.gcda": b"7"}),
    ]


def test_guest_that_boots_again_has_lost_what_it_ran_before(tmp_path: Path) -> None:
    counts = Counts(tmp_path)
    guest = model({})
    counts.begin(guest)
    guest.files["net/a.gcda"] = b"1"
    counts.keep(guest, "stays")
    guest.boot = b"second"
    counts.keep(guest, "boots")
    assert sorted(kept(tmp_path)) == [
        (BOOT, NOT_WRITTEN, {}),
        ("boots", "", {"net/a.gcda": b"1"}),
        ("boots", "the guest booted again, and what it had run before is lost", {}),
        ("stays", "", {"net/a.gcda": b"1"}),
    ]


def test_another_error_than_a_module_that_is_not_there_is_raised(tmp_path: Path) -> None:
    def refused(path: str) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    other = model({})
    other.agent.looker(60).read_file = refused
    with pytest.raises(PermissionError):
        Counts(tmp_path / "lines").keep(other, "one")


def test_kernel_that_counts_nothing_is_not_asked(kernel: Path, tmp_path: Path) -> None:
    (kernel / GCOV / BUILT_IN).unlink()
    Counts(tmp_path / "l").keep(model({}), "one")
    assert not (tmp_path / "l").exists()
    check_counts("coverage")
    check_counts("source:6.12:debug:coverage=net/core/sock.c")
    with pytest.raises(UsageError, match="kernel sid counts no lines; --coverage needs"):
        check_counts("sid")


def test_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder with counts of lines"):
        kernels_in(tmp_path / "none")
    with pytest.raises(UsageError, match="holds no counts of lines; run tests with"):
        kernels_in(tmp_path)
    Counts(tmp_path).keep(model({"net/a.gcda": b"1"}), "one")
    (kernel,) = kernels_in(tmp_path)
    (test,) = kernel.tests()
    for text in ("", "[]", '{"test": 5, "lost": ""}', '{"test": "a"}'):
        (test.folder / "test.json").write_text(text)
        with pytest.raises(UsageError, match="test.json is damaged"):
            list(kernel.tests())
    (kernel.folder / "kernel.json").write_text("{")
    with pytest.raises(UsageError, match="kernel.json is damaged"):
        kernels_in(tmp_path)
    (kernel.folder / "kernel.json").write_text('{"version": "6.1", "name": "x"}')
    kernel.notes.rename(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="has no folder notes"):
        kernels_in(tmp_path)
