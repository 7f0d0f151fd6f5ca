# SPDX-License-Identifier: MIT
"""Counts of lines in what a guest has left in its storage; the storage is made here, byte by byte."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from zvmlab.base.errors import ZvmlabError
from zvmlab.guest.last_counts import LastStorage, counts_in, list_head

PAGE = 4096
MAGIC = 0x5A564D53544F5245
HEAD = 0x3FFE0001008  # of the list: in the kernel, which is mapped from a segment table
MODULE = 0x3FFF8000000  # a page of a module
GCC_12, GCC_10 = b"B22*", b"B02*"


class Model:
    """A guest's storage with its tables; what lies together virtually is apart in it."""

    def __init__(self, gcc: bytes = GCC_12) -> None:
        self.storage = bytearray(1 << 20)
        self.gcc = gcc
        # Region third table at 0x10000, segment table at 0x14000, page tables at 0x18000, 0x18800.
        self.asce = 0x10000 | 1 << 2 | 3
        for at in range(2048):
            self.put(0x10000 + at * 8, ">Q", 0x20)
            self.put(0x14000 + at * 8, ">Q", 0x20)
        self.put(0x10000 + (HEAD >> 31) * 8, ">Q", 0x14000 | 1 << 2 | 3)
        for segment, table in ((HEAD >> 20 & 0x7FF, 0x18000), (MODULE >> 20 & 0x7FF, 0x18800)):
            self.put(0x14000 + segment * 8, ">Q", table)
            for at in range(256):
                self.put(table + at * 8, ">Q", 0x400)
        self.put(0x18000 + (HEAD >> 12 & 0xFF) * 8, ">Q", 0x20000)
        self.put(0x18000 + ((HEAD >> 12) + 1 & 0xFF) * 8, ">Q", 0x30000)
        self.put(0x18800, ">Q", 0x40000)

    def put(self, real: int, fields: str, *values: object) -> None:
        struct.pack_into(fields, self.storage, real, *values)

    def info(self, real: int, following: int, name: int, functions: tuple[int, int]) -> None:
        """A struct gcov_info with one kind of counters of eight."""
        self.put(real, ">4s4xQII", self.gcc, following, 0x11223344, 0x55667788)
        self.put(real + 24, ">QQ56xI4xQ", name, 0xBEEF, *functions)

    def file(self, path: Path, *spaces: int) -> Path:
        """As the emulator writes it."""
        head = struct.pack(f">QQ{len(spaces)}Q", MAGIC, len(spaces), *spaces)
        path.write_bytes(head.ljust(PAGE, b"\0") + self.storage)
        return path


@pytest.fixture(params=[GCC_12, GCC_10])
def model(request: pytest.FixtureRequest) -> Model:
    """Two sources: the kernel's with two functions, the second's values across pages; a module's."""
    made = Model(request.param)
    made.put(0x20008, ">Q", HEAD + 0x100)
    made.info(0x20108, MODULE, HEAD + 0x200, (2, HEAD + 0x300))
    made.put(0x20208, ">20s", b"/tree/net/iucv.gcda")
    made.put(0x20308, ">QQ", HEAD + 0x400, HEAD + 0x500)
    made.put(0x20408, ">QIII4xI4xQ", 0, 1, 2, 3, 1, HEAD + 0x600)
    made.put(0x20608, ">Q", 0x0000000500000007)
    made.put(0x20508, ">QIII4xI4xQ", 0, 4, 5, 6, 2, HEAD - 8 + PAGE - 8)
    made.put(0x20FF8, ">Q", 8)
    made.put(0x30000, ">Q", 9)
    made.info(0x40000, 0, MODULE + 0x200, (0, 0))
    made.put(0x40200, ">20s", b"/tree/drivers/m.gcda")
    return made


def test_counts_are_gcovs_files(model: Model, tmp_path: Path) -> None:
    """The list is followed through the tables of the space that has it."""
    unit, checksum = (4, b"\0\0\0\0") if model.gcc == GCC_12 else (1, b"")
    head = b"gcda" + model.gcc + struct.pack(">I", 0x11223344) + checksum
    with LastStorage(model.file(tmp_path / "last", 0x80000, model.asce)) as storage:
        found = dict(counts_in(storage, HEAD))
    functions = [
        struct.pack(">5I", 0x01000000, 3 * unit, 1, 2, 3),
        struct.pack(">4I", 0x01A10000, 2 * unit, 7, 5),
        struct.pack(">5I", 0x01000000, 3 * unit, 4, 5, 6),
        struct.pack(">6I", 0x01A10000, 4 * unit, 8, 0, 9, 0),
    ]
    assert found == {
        "/tree/net/iucv.gcda": head + b"".join(functions),
        "/tree/drivers/m.gcda": head,
    }


def test_large_frames_are_translated(tmp_path: Path) -> None:
    """A segment and a region may be mapped as a whole."""
    made = Model()
    made.put(0x14000 + 5 * 8, ">Q", 0 | 0x400)
    made.put(0x10000 + 7 * 8, ">Q", 0x400 | 1 << 2)
    made.put(0x12345, ">8s", b"the text")
    with LastStorage(made.file(tmp_path / "last", made.asce)) as storage:
        storage.enter(HEAD)
        assert storage.name((HEAD >> 31 << 31) + (5 << 20) + 0x12345) == "the text"
        assert storage.read((7 << 31) + 0x12345, 8) == b"the text"
        with pytest.raises(ZvmlabError, match="nothing at the address 0x300000000"):
            storage.read(6 << 31, 1)


def test_damaged_lists_are_refused(model: Model, tmp_path: Path) -> None:
    """Whatever a guest leaves, reading it ends."""

    def refused(match: str, space: int = model.asce) -> None:
        with LastStorage(model.file(tmp_path / "last", space)) as storage:
            with pytest.raises(ZvmlabError, match=match):
                list(counts_in(storage, HEAD))

    refused("the guest had nothing at the address", 0x80000)
    model.put(0x40008, ">Q", HEAD + 0x100)
    refused("list of counts does not end")
    model.put(0x40008, ">Q", HEAD + 0x800000)
    refused("nothing at the address")
    model.put(0x20168, ">I", 1 << 20)
    refused("damaged: 1048576 of something")
    model.put(0x20108, ">4s", b"A93*")
    refused("counts of GCC b'A93\\*' cannot be read")
    model.put(0x20008, ">Q", 0)
    with LastStorage(model.file(tmp_path / "last", model.asce)) as storage:
        assert not list(counts_in(storage, HEAD))


@pytest.mark.parametrize("content", (b"", b"x" * 10, bytes(2 * PAGE)))
def test_file_that_has_no_storage(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "last").write_bytes(content)
    with pytest.raises(ZvmlabError, match="last has no storage of a guest"):
        LastStorage(tmp_path / "last")


def test_list_is_found_in_system_map(tmp_path: Path) -> None:
    symbols = tmp_path / "System.map"
    symbols.write_text("0000000000100000 T _text\n0000000000101008 b gcov_info_head\n")
    assert list_head(symbols, "000003ffe0000000 T _text") == HEAD
    assert list_head(symbols, "0000000000100000 T _text") == 0x101008
    with pytest.raises(ZvmlabError, match="has no _start"):
        list_head(symbols, "0000000000100000 T _start")
    symbols.write_text("0000000000100000 T _text\n")
    with pytest.raises(ZvmlabError, match="has no gcov_info_head"):
        list_head(symbols, "0000000000100000 T _text")
