# SPDX-License-Identifier: MIT
"""Modules compiled to object files, with ccache where it is installed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zvmlab.base.progress import Progress
from zvmlab.builder import module_mk
from zvmlab.builder.objects import object_files

CCACHE = """#!/bin/sh
echo "$CCACHE_DIR $CCACHE_BASEDIR $*" >>%s
exec "$@"
"""


def _compiled(root: Path, into: Path) -> list[str]:
    module = module_mk.read(root, "lib/one")
    into.mkdir()
    with Progress(quiet=True).step("compiling") as step:
        return object_files("it", root, [module], into, ["-O1"], step)


@pytest.mark.parametrize("chosen", [None, "own"])
@pytest.mark.parametrize("there", [True, False])
def test_ccache_is_used_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool, chosen: str | None
) -> None:
    """It keeps what it has compiled in our cache, or where the user says."""
    root, tools, log = tmp_path / "tree", tmp_path / "tools", tmp_path / "log"
    (root / "lib/one").mkdir(parents=True)
    (root / "lib/one/module.mk").write_text("SOURCES := *.c\n")
    (root / "lib/one/one.c").write_text("int one;\n")
    tools.mkdir()
    for name in ("gcc", "as"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    if there:
        (tools / "ccache").write_text(CCACHE % log, encoding="utf-8")
        (tools / "ccache").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CCACHE_DIR", raising=False)
    if chosen is not None:
        monkeypatch.setenv("CCACHE_DIR", chosen)
    (made,) = _compiled(root, tmp_path / "made")
    assert os.path.getsize(made) > 0
    if not there:
        assert not log.exists()
        return
    folder, base, compiler, *_ = log.read_text(encoding="utf-8").split()
    assert folder == (chosen or str(tmp_path / "cache/compiled"))
    assert (base, compiler) == (str(root), "gcc")
