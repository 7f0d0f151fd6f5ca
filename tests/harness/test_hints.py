# SPDX-License-Identifier: MIT
"""Mistyped words, and files that are not what they are named as: told at once, with a way out."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from fake_guest import LINUX

from zvmlab.base.errors import UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.builder.elf import EM_BPF, check_file, is_linux
from zvmlab.builder.guesttools import LINKED
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.kernels import resolve
from zvmlab.cli.main import main
from zvmlab.guest import artifacts, make_artifacts
from zvmlab.guest.config import CP_OPTIONS, GuestConfig

_TREE = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("rnu", "run"),
        ("run --kernl trixie -- true", "--kernel"),
        ("run --storge=1G true", "--storage"),
        ("run --backend herkules -- true", "hercules"),
        ("run --trace-data ful -- true", "full"),
        ("run --cp clas=G -- true", "class"),
        ("run --tool monred -- true", "monread"),
        ("fault armm", "arm"),
        ("fault arm --probabilty 1", "--probability"),
        ("fault arm iucv.replay rc 1", "iucv.reply"),
        ("fault arm iucv.reply drp 1", "drop"),
        ("trace --perfeto x y", "--perfetto"),
        ("sweep read-one-st", "read-one-set"),
        ("records usr", "user"),
    ],
)
def test_a_mistyped_word(
    line: str, meant: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zvmlab.mondata.monrec.catalogue", tuple)
    try:
        code = main(line.split())
    except SystemExit as ended:
        code = int(ended.code or 0)
    said = capsys.readouterr().err
    assert code == 2 and said.count("\n") == 1
    assert re.search(rf"; did you mean {meant}(\?$|; see zvmlab)", said), said


def test_a_mistyped_suite_is_told_before_anything_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(make_artifacts, "backend_of", lambda name: pytest.fail("it builds"))
    with pytest.raises(UsageError, match=r"did you mean trixie\?"):
        artifacts.prepare(GuestConfig(kernel="trixi"))


def test_no_hint_for_what_is_like_nothing() -> None:
    assert did_you_mean("--bogus", ["--hours", "--kernel"]) == ""
    assert did_you_mean("", ["run"]) == did_you_mean("x", []) == ""
    assert did_you_mean("RUN", ["run"]) == "; did you mean run?"


def test_options_of_the_cp_are_those_it_knows() -> None:
    """The core's own table, which has those that have an option of the command, too."""
    text = (_TREE / "sim/cp/config.c").read_text(encoding="ascii")
    known = set(re.findall(r'\{ "([a-z-]+)", (?:set|config)_', text))
    assert known == {*CP_OPTIONS, "cpus", "storage", "segment", "trace-data"}


def _name(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("page", sorted((_TREE / "docs").glob("*.[m1]*")), ids=_name)
def test_documents_put_no_program_of_the_host_into_a_guest(page: Path) -> None:
    words = re.findall(r"--?file[= ](?:Ar )?(\S+)", page.read_text(encoding="utf-8"))
    assert not {Path(word).name for word in words} & {*LINKED}


def _elf(bits: int = 2, order: int = 2, machine: int = 22) -> bytes:
    head = b"\x7fELF" + bytes([bits, order, 1]) + bytes(9)
    return (head + struct.pack(">HH" if order == 2 else "<HH", 2, machine)).ljust(64, b"\0")


HOST = _elf(order=1, machine=62)


@pytest.mark.parametrize(
    ("data", "linux"), [(LINUX, True), (LINUX + bytes(100), True), (_elf(), False)]
)
def test_kernels(tmp_path: Path, data: bytes, linux: bool) -> None:
    image = tmp_path / "bzImage"
    image.write_bytes(data)
    assert is_linux(image) is linux
    assert resolve(str(image)).image == resolve(str(tmp_path)).image == image


@pytest.mark.parametrize(
    "data", [b"", b"text", LINUX[:-1], HOST, _elf(bits=1), _elf()[:63], bytes(1 << 17)]
)
def test_what_is_no_kernel(tmp_path: Path, data: bytes) -> None:
    image = tmp_path / "vmlinuz"
    image.write_bytes(data)
    for place in (image, tmp_path):
        with pytest.raises(UsageError, match="vmlinuz is not a kernel for s390x: it is "):
            resolve(str(place))


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"text", _elf(), _elf(order=1, machine=EM_BPF)])
def test_files_for_a_guest(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "file").write_bytes(data)
    check_file(tmp_path / "file")


@pytest.mark.parametrize("data", [HOST, _elf(bits=1), _elf(machine=21), _elf(order=1)])
def test_programs_for_other_machines(
    tmp_path: Path, data: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    with pytest.raises(UsageError, match="file is a program for another machine"):
        make_artifacts.image(GuestConfig(files={"/file": file}), Kernel("1", "local", file, None))
    assert main(["run", "--file", str(file), "--", "true"]) == 2
    assert "is a program for another machine, which a guest" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("storage", "given"),
    [("0.1M", "1M"), ("0.47M", "47M"), ("0.16M 200M.200M", "0.16M 200M.200M")],
)
def test_too_little_storage_for_linux(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, storage: str, given: str
) -> None:
    (tmp_path / "linux").write_bytes(LINUX)
    (tmp_path / "program").write_bytes(_elf())
    config = GuestConfig(kernel=str(tmp_path / "linux"), storage=storage)
    with pytest.raises(UsageError, match=f"'{given}' is too small for Linux: .* 48 MiB"):
        artifacts.prepare(config)
    for kernel, enough in (("program", storage), ("linux", "0.48M")):
        make_artifacts.check_storage(
            GuestConfig(storage=enough), Kernel("1", "local", tmp_path / kernel, None)
        )
