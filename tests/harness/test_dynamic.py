# SPDX-License-Identifier: MIT
"""What a dynamic program names, as readelf reads it; a damaged one is told, whatever is wrong."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from zvmlab.base.errors import CannotRun
from zvmlab.builder.dynamic import dynamic

GCC = "s390x-linux-gnu-gcc"
READELF = "s390x-linux-gnu-readelf"


def _compiled(out: Path, *options: str) -> Path:
    argv = [GCC, "-x", "c", "-", "-x", "none", "-o", str(out), *options]
    source = "int main(void) { return 0; }"
    subprocess.run(argv, input=source, text=True, check=True, timeout=60)
    return out


def _readelf(program: Path) -> tuple[str | None, list[str]]:
    argv = [READELF, "--wide", "--program-headers", "--dynamic", str(program)]
    text = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60).stdout
    loader = re.search(r"\[Requesting program interpreter: (.*)\]", text)
    return loader[1] if loader else None, re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def test_program_library_and_static_program_are_as_readelf_says(tmp_path: Path) -> None:
    linked = _compiled(tmp_path / "linked", "-Wl,--no-as-needed", "-lm", "-ldl", "-lrt")
    found = dynamic(linked)
    assert found == _readelf(linked)
    assert found[0] == "/lib/ld64.so.1" and {"libm.so.6", "libc.so.6"} <= set(found[1])
    library = _compiled(tmp_path / "library", "-shared", "-fPIC", "-Wl,--no-as-needed")
    assert dynamic(library) == _readelf(library) == (None, ["libc.so.6"])
    static = _compiled(tmp_path / "static", "-static")
    assert dynamic(static) == _readelf(static) == (None, [])


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"#!/bin/sh\n", Path("/bin/true").read_bytes()])
def test_what_is_no_program_of_the_guest_is_told(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(CannotRun, match="file is no program for s390x, or damaged$"):
        dynamic(tmp_path / "file")
    with pytest.raises(CannotRun, match="absent cannot be read: No such file or directory$"):
        dynamic(tmp_path / "absent")


def test_damaged_programs_are_told_or_read(tmp_path: Path) -> None:
    """Every cut of the headers, and bytes changed anywhere: nothing else happens."""
    whole = _compiled(tmp_path / "linked").read_bytes()
    file, chance = tmp_path / "damaged", random.Random(1)
    refused = 0
    heads = [whole[:size] for size in range(0, 600, 7)]
    for _ in range(600):
        changed = bytearray(whole)
        for _ in range(4):
            changed[chance.randrange(0, 0x400)] = chance.randrange(256)
        heads.append(bytes(changed))
    for data in heads:
        file.write_bytes(data)
        try:
            loader, names = dynamic(file)
        except CannotRun:
            refused += 1
        else:
            assert loader is None or "\0" not in loader
            assert all(name and "\0" not in name for name in names)
    assert refused > len(range(0, 600, 7)) // 2


pytestmark = pytest.mark.skipif(not shutil.which(GCC), reason=f"{GCC} is missing")
