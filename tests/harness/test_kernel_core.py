# SPDX-License-Identifier: MIT
"""A guest's storage as an ELF core: what is in the file, and what a dump leaves."""

from __future__ import annotations

import base64
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controlled import Server
from controlled import _server as _server

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.cli.main import main
from zvmlab.guest.kernel_core import write_core
from zvmlab.guest.run_dir import RunDir

PAGE = 4096
NOTE_AT = 2 * PAGE
TEXT = b"OSRELEASE=6.12\nPAGESIZE=4096\n"
NOTE = struct.pack(">III", 11, len(TEXT), 0) + b"VMCOREINFO\0\0" + TEXT + b"\0" * (-len(TEXT) % 4)


class Storage:
    """CP's answers about a guest of two extents of storage."""

    def __init__(self, runs: bool | None = True) -> None:
        first, second = bytearray(4 * PAGE), bytearray(2 * PAGE)
        first[0xE0C:0xE14] = NOTE_AT.to_bytes(8)
        first[NOTE_AT : NOTE_AT + len(NOTE)] = NOTE
        second[PAGE : PAGE + 4] = b"last"
        self.extents = {0: bytes(first), 1 << 20: bytes(second)}
        self.asked: list[str] = []
        self.fails_at = -1
        self._runs = runs

    def execute(self, command: str, **arguments: Any) -> Any:
        """One request."""
        self.asked.append(command)
        if command == "query-machine":
            return {"asked": False} if self._runs is None else {"asked": True, "runs": self._runs}
        if command == "query-cp":
            sizes = ((start, len(data)) for start, data in self.extents.items())
            return {"storage": [{"start": start, "size": size} for start, size in sizes]}
        if command != "storage-read":
            return {}
        if arguments["address"] == self.fails_at:
            raise CannotRun("the guest has gone")
        start = max(one for one in self.extents if one <= arguments["address"])
        at = arguments["address"] - start
        data = self.extents[start][at : at + arguments["length"]]
        return {"data": base64.b64encode(data).decode("ascii")}


def programs(core: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Type, place in the file, virtual and real address and size of each, by the ELF specification."""
    (begin,), (count,) = struct.unpack_from(">Q", core, 32), struct.unpack_from(">H", core, 56)
    for number in range(count):
        at = begin + 56 * number
        kind, _, place, virtual, real, size, in_memory, _ = struct.unpack_from(
            ">IIQQQQQQ", core, at
        )
        assert kind == 4 or in_memory == size
        yield kind, place, virtual, real, size


def test_core_has_the_note_and_all_storage(tmp_path: Path) -> None:
    storage: Any = Storage()
    assert write_core(storage, tmp_path / "guest.core") == 6 * PAGE
    core = (tmp_path / "guest.core").read_bytes()
    # 64 bits, big-endian; a core; of an IBM S/390.
    assert core[:6] == b"\x7fELF\x02\x02" and struct.unpack_from(">HH", core, 16) == (4, 22)
    (note, *loads) = programs(core)
    assert note[0] == 4 and core[note[1] : note[1] + note[4]] == NOTE
    assert all(virtual == real for _, _, virtual, real, _ in loads)
    found = {real: core[place : place + size] for _, place, _, real, size in loads}
    assert b"".join(found.pop(real) for real in (0, PAGE)) == storage.extents[0]
    assert found == {1 << 20: storage.extents[1 << 20]}
    assert all(place % PAGE == 0 for _, place, _, _, _ in loads)
    assert any(real for _, _, _, real, _ in loads), "or debuggers take real addresses for absent"


@pytest.mark.parametrize(
    ("runs", "asked"), [(True, ["machine-pause", "machine-continue"]), (False, []), (None, [])]
)
def test_guest_stands_still_meanwhile(runs: bool | None, asked: list[str], tmp_path: Path) -> None:
    storage: Any = Storage(runs)
    write_core(storage, tmp_path / "guest.core")
    assert [one for one in storage.asked if one.startswith("machine-")] == asked
    assert not asked or storage.asked[-1] == "machine-continue"


def test_dump_that_fails_leaves_nothing_and_the_guest_goes_on(tmp_path: Path) -> None:
    storage: Any = Storage()
    storage.fails_at = 1 << 20
    (tmp_path / "guest.core").write_text("before")
    with pytest.raises(CannotRun, match="the guest has gone"):
        write_core(storage, tmp_path / "guest.core")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]
    assert storage.asked[-1] == "machine-continue"


@pytest.mark.parametrize("damage", [b"\0" * 8, (3 * PAGE).to_bytes(8)])
def test_kernel_without_vmcoreinfo_is_a_sentence(damage: bytes, tmp_path: Path) -> None:
    storage: Any = Storage()
    first = bytearray(storage.extents[0])
    first[0xE0C:0xE14] = damage
    storage.extents[0] = bytes(first)
    with pytest.raises(UsageError, match="CONFIG_CRASH_DUMP"):
        write_core(storage, tmp_path / "guest.core")
    assert not list(tmp_path.iterdir()) and storage.asked[-1] == "machine-continue"


@pytest.mark.parametrize(
    ("file", "said"), [("none/guest.core", "no folder"), (".", "folder"), ("a", "VMCOREINFO")]
)
def test_what_cannot_be_dumped_is_a_sentence(
    file: str,
    said: str,
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The last one: a machine in which no kernel has started."""
    monkeypatch.setenv("ZVMLAB_RUN", str(tmp_path / "run"))
    folder = RunDir.create("one")
    folder.describe(control=str(server.socket), kernel="none", cpus=1, pid=1)
    there = sorted(tmp_path.iterdir())
    assert main(["dump", "--kernel-core", str(tmp_path / file)]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == there
    folder.remove()


def table(entries: dict[int, int], empty: int, count: int) -> bytes:
    """A table for address translation."""
    return struct.pack(f">{count}Q", *(entries.get(index, empty) for index in range(count)))


@pytest.mark.parametrize(("moved", "identity"), [(0, 0), (0x3FF00000000, 0x10000000000)])
def test_what_page_tables_map_is_mapped_in_the_core(
    moved: int, identity: int, tmp_path: Path
) -> None:
    """Where it lies otherwise than all storage does; a table that is met again maps nothing."""
    storage: Any = Storage()
    region, segment, page = 0x4000, 0x8000, 0xC000
    words = f"OSRELEASE=7.2\nSYMBOL(swapper_pg_dir)={region + moved:x}\n"
    if moved:
        words += f"IDENTITYBASE={identity:x}\nKERNELOFFSET={moved:x}\nKERNELOFFPHYS=0\n"
    text = words.encode("ascii")
    note = struct.pack(">III", 11, len(text), 0) + b"VMCOREINFO\0\0" + text + b"\0" * 4
    memory = bytearray(storage.extents[0].ljust(0x10000, b"\0"))
    at_home = (identity >> 31, segment | 4)
    for place, data in (
        (NOTE_AT, note),
        (region, table({3: segment | 4, 4: segment | 4, **dict([at_home])}, 0x24, 2048)),
        (segment, table({2: page, 5: 0x100000 | 0x400}, 0x20, 2048)),
        (page, table({7: 0x1000, 8: 0x2000, 9: 0x9000, 10: 0x7000_0000}, 0x400, 256)),
    ):
        memory[place : place + len(data)] = data
    storage.extents = {0: bytes(memory), 1 << 20: bytes(1 << 20)}
    write_core(storage, tmp_path / "guest.core")
    core = (tmp_path / "guest.core").read_bytes()
    loads = [one[2:] for one in programs(core) if one[0] == 1]
    begin = min(at_home[0], 3) << 31
    assert loads[:3] == [
        (identity, 0, PAGE),
        (identity + PAGE, PAGE, 0xF000),
        (identity + (1 << 20), 1 << 20, 1 << 20),
    ]
    assert loads[3:] == [
        (begin + (2 << 20) + 7 * PAGE, 0x1000, 2 * PAGE),
        (begin + (2 << 20) + 9 * PAGE, 0x9000, PAGE),
        (begin + (5 << 20), 1 << 20, 1 << 20),
    ]


def test_core_takes_the_place_of_no_device(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As /dev/null, which root could replace by a file."""
    os.mkfifo(tmp_path / "pipe")
    assert main(["dump", "--kernel-core", str(tmp_path / "pipe")]) == 2
    assert "pipe is no file that a core could take the place of" in capsys.readouterr().err
