# SPDX-License-Identifier: MIT
"""Programs for the guest: what they need comes along, what is missing is told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.builder import guesttools
from zvmlab.builder.image import COMPILER

LIBRARIES = f"lib/{guesttools.TRIPLET}"
LOADER = "/lib/loader.so.1"


def _compile(out: Path, *argv: str | Path) -> Path:
    subprocess.run(
        [COMPILER, "-nostdlib", "-x", "c", "-", "-x", "none", "-o", out, *argv],
        input="int symbol;",
        text=True,
        check=True,
        timeout=60,
    )
    return out


@pytest.fixture(name="root")
def _root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Unpacked packages: libone needs libtwo, which needs libone, and both are links."""
    root = tmp_path / "root"
    folder = root / LIBRARIES
    folder.mkdir(parents=True)
    two = _compile(folder / "libtwo.so.2.5", "-shared", "-Wl,-soname,libtwo.so.2")
    (folder / "libtwo.so.2").symlink_to("libtwo.so.2.5")
    _compile(
        folder / "libone.so.1.0", "-shared", "-Wl,-soname,libone.so.1", "-Wl,--no-as-needed", two
    )
    (folder / "libone.so.1").symlink_to(f"/{LIBRARIES}/libone.so.1.0")
    (root / LOADER.lstrip("/")).write_bytes(b"loader")
    monkeypatch.setattr(guesttools, "debian_root", lambda progress=None: root)
    return root


def _program(tmp_path: Path, root: Path) -> Path:
    return _compile(
        tmp_path / "program",
        *("-Wl,-e,0", f"-Wl,--dynamic-linker={LOADER}", "-Wl,--no-as-needed"),
        *(root / LIBRARIES / "libone.so.1.0", f"-Wl,-rpath-link={root / LIBRARIES}"),
    )


def test_libraries_of_libraries_come_along(tmp_path: Path, root: Path) -> None:
    program = _program(tmp_path, root)
    assert guesttools.with_libraries(program, "/bin/program") == {
        "/bin/program": program,
        LOADER: root / LOADER.lstrip("/"),
        f"/{LIBRARIES}/libone.so.1": root / LIBRARIES / "libone.so.1.0",
        f"/{LIBRARIES}/libtwo.so.2": root / LIBRARIES / "libtwo.so.2.5",
    }


def test_a_library_that_no_package_has_is_named(tmp_path: Path, root: Path) -> None:
    program = _program(tmp_path, root)
    (root / LIBRARIES / "libtwo.so.2").unlink()
    with pytest.raises(CannotRun, match="no package has the library libtwo.so.2"):
        guesttools.with_libraries(program, "/bin/program")


def test_links_that_lead_nowhere_end(tmp_path: Path, root: Path) -> None:
    program = _program(tmp_path, root)
    (root / LIBRARIES / "libone.so.1").unlink()
    os.symlink("libone.so.1", root / LIBRARIES / "libone.so.1")
    with pytest.raises(CannotRun, match="is a link in a loop; remove .* and try again"):
        guesttools.with_libraries(program, "/bin/program")


def test_what_is_no_program_is_told(tmp_path: Path, root: Path) -> None:
    assert root.is_dir()
    text = tmp_path / "text"
    text.write_text("#!/bin/sh\n", encoding="ascii")
    with pytest.raises(CannotRun, match="text is no program for s390x, or damaged"):
        guesttools.with_libraries(text, "/bin/text")


def test_tools_are_known_by_name() -> None:
    known = {"dmmon", "taskmon", "monread", "dmsetup"}
    assert {name for name in known | {"dmstats", ""} if guesttools.is_tool(name)} == known
    with pytest.raises(
        UsageError, match="unknown tool: dmstat .possible: dmmon, taskmon, monread, dm"
    ):
        guesttools.any_tool("dmstat")


def test_an_installation_without_tools_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (guesttools.tools_source() / "tools" / "common" / "command.c").is_file()
    monkeypatch.setattr(guesttools, "TREE", tmp_path)
    with pytest.raises(CannotRun, match="this zvmlab was installed without tools"):
        guesttools.tools_source()
