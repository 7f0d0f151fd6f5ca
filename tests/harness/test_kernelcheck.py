# SPDX-License-Identifier: MIT
"""What is said of leaks; the guest is a model of one with kmemleak."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zvmlab.base.errors import ZvmlabError
from zvmlab.guest import kernelcheck
from zvmlab.guest.kernelcheck import KMEMLEAK, check_kernel, leaks

REPORT = """\
unreferenced object 0x{address:x} (size {size}):
  comm "agent", pid 1, jiffies 4294937296
  hex dump (first 32 bytes):
    70 6c 61 6e 74 65 64 3a 31 61 32 62 33 63 34 64  {text}
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  ................
  backtrace (crc 5e6f):
    [<(____ptrval____)>] kmalloc_trace+0x92/0xf0
"""
OTHER = REPORT.format(address=0x8000, size=64, text="................")


class Batch:
    """Two scans that succeed, or not."""

    def __init__(self, refusal: int) -> None:
        self.results: dict[int, Any] = {}
        self.refusal = refusal

    def open(self, path: str, flags: int) -> int:
        assert (path, flags) == (KMEMLEAK, os.O_WRONLY)
        return 3

    def write(self, fd: int, text: bytes) -> int:
        assert (fd, text) == (3, b"scan")
        self.results[len(self.results)] = SimpleNamespace(check=self._check)
        return len(self.results) - 1

    def close(self, fd: int) -> None:
        assert fd == 3

    def run(self, seconds: float) -> dict[int, Any]:
        assert seconds >= 60
        return self.results

    def _check(self) -> None:
        if self.refusal:
            raise OSError(self.refusal, os.strerror(self.refusal))


class Agent:
    """Of a guest whose kmemleak reports *found*, and what was leaked on purpose if it *sees*."""

    def __init__(self, found: str = "", sees: bool = True, refusal: int = 0, load: int = 125):
        self.files: set[str] = set()
        self.found, self.sees, self.refusal, self.load = found, sees, refusal, load
        self.planted = ""
        self.told: dict[str, str] = {}
        self.passing = False
        self.lockdep = b""

    def read_file(self, path: str) -> bytes:
        if path == kernelcheck.LOCKDEP:
            return self.lockdep
        assert path == KMEMLEAK
        return (self.planted + self.found).encode()

    def write_file(self, path: str, content: bytes, mode: int) -> None:
        self.files.add(path)

    def unlink(self, path: str) -> Any:
        self.files.remove(path)
        return SimpleNamespace(check=lambda: None)

    def insmod(self, path: str, params: dict[str, str]) -> Any:
        assert path in self.files
        self.told = params
        if self.sees:
            self.planted += REPORT.format(address=0x4000, size=256, text=params["text"])
        return SimpleNamespace(errno=self.load)

    def sleep(self, seconds: float) -> None:
        assert seconds >= 5  # kmemleak says nothing of what is younger
        assert self.passing  # and nobody waits for that

    def batch(self) -> Batch:
        return Batch(self.refusal)


def guest(agent: Agent) -> Any:
    @contextlib.contextmanager
    def passing(seconds: float) -> Iterator[None]:
        agent.passing = seconds >= 5
        yield
        agent.passing = False

    return SimpleNamespace(
        agent=agent, passing=passing, config=SimpleNamespace(kernel="linux:debug")
    )


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in the place of the module, and one in that of the kernel."""
    file = tmp_path / "leak.ko"
    file.touch()
    kernel = SimpleNamespace(image=tmp_path / "vmlinuz-7")
    monkeypatch.setattr(kernelcheck, "resolve", lambda name: kernel)
    monkeypatch.setattr(kernelcheck, "built_module", lambda *words: file)


def test_leak_on_purpose_is_not_told() -> None:
    agent = Agent()
    assert leaks(guest(agent)) == ""
    agent.found = OTHER
    # Also that of the first call is still there.
    assert leaks(guest(agent)) == OTHER and agent.planted.count("planted") == 2
    assert not agent.files


@pytest.mark.parametrize("found", ("", OTHER))
def test_kmemleak_that_sees_nothing_is_not_believed(found: str) -> None:
    with pytest.raises(ZvmlabError, match="is blind: it does not report memory that was leaked"):
        leaks(guest(Agent(found, sees=False)))


SYMBOLS = """\
0000000000100000 T _text
0000000000200000 T kmemleak_ignore_phys
0000000000300000 b stack_trace
0000000000300010 b lock_chains
0000000000100800 b stack_table
"""


@pytest.mark.parametrize(
    ("symbols", "told"),
    [
        (SYMBOLS, {"buckets": str(-0xFF800), "stacks": str(0x100000), "stacks_size": "16"}),
        (SYMBOLS.replace("stack_trace", "x"), {"buckets": str(-0xFF800)}),
        (SYMBOLS.replace("ignore_phys", "x"), {}),
    ],
)
def test_kmemleak_leaves_out_tables_that_lead_to_no_object(
    tmp_path: Path, symbols: str, told: dict[str, str]
) -> None:
    (tmp_path / "System.map-7").write_text(symbols)
    agent = Agent()
    leaks(guest(agent))
    assert {name: value for name, value in agent.told.items() if name != "text"} == told


def test_leak_on_purpose_of_an_earlier_call_is_no_proof() -> None:
    agent = Agent()
    assert leaks(guest(agent)) == ""
    agent.sees = False
    with pytest.raises(ZvmlabError, match="is blind"):
        leaks(guest(agent))


def test_kmemleak_that_is_off_says_so() -> None:
    with pytest.raises(ZvmlabError, match="is blind: it refuses to look: Operation not permitted"):
        leaks(guest(Agent(refusal=errno.EPERM)))


@pytest.mark.parametrize("load", (0, errno.ENOMEM))
def test_leak_that_could_not_be_made(load: int) -> None:
    with pytest.raises(ZvmlabError, match="nothing could be leaked on purpose"):
        leaks(guest(Agent(load=load)))


def test_what_the_loader_leaks_is_nothing_against_a_driver() -> None:
    loader = OTHER + "    [<(____ptrval____)>] module_frob_arch_sections+0x100/0x400\n"
    agent = Agent(loader)
    assert leaks(guest(agent)) == loader
    with pytest.raises(ZvmlabError, match="is blind"):
        check_kernel(guest(Agent(loader, sees=False)))
    agent.lockdep = b" debug_locks:                             1\n"
    check_kernel(guest(agent))
    agent.found = loader + OTHER.replace("0x8000", "0x9000") + loader
    with pytest.raises(ZvmlabError, match="kmemleak says:\nunreferenced object 0x9000") as caught:
        check_kernel(guest(agent))
    assert str(caught.value).count("unreferenced") == 1


def test_kernel_without_kmemleak_is_not_asked() -> None:
    class Without(Agent):
        def read_file(self, path: str) -> bytes:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    agent = Without()
    assert leaks(guest(agent)) == "" and not agent.planted
