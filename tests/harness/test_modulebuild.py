# SPDX-License-Identifier: MIT
"""Folders with modules: what of them counts as source, and what is refused before anything runs."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

import pytest
from test_kernels import module

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder import modulebuild
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.modulebuild import built_modules, sources_of
from zvmlab.builder.modules import made_for
from zvmlab.cli.main import main
from zvmlab.guest import make_artifacts
from zvmlab.guest.config import GuestConfig


def _write(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def test_what_kbuild_makes_is_no_source(tmp_path: Path) -> None:
    sources = ("Kbuild", "a.c", "include/a.h", "sub/Makefile", "sub/b.c", "firmware.bin")
    made = (
        *("a.o", "a.ko", "a.mod", "a.mod.c", "a.mod.o", ".a.o.cmd", "Module.symvers"),
        *("modules.order", "sub/b.o", ".tmp_versions/a.mod", ".git/HEAD", "built-in.a"),
    )
    _write(tmp_path, *sources, *made)
    found = [str(path.relative_to(tmp_path)) for path in sources_of(tmp_path)]
    assert sorted(found) == sorted(sources)


def test_folder_without_a_makefile(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no Kbuild and no Makefile; write 'obj-m"):
        sources_of(_write(tmp_path, "a.c"))


@pytest.mark.parametrize("what", ("_MOST_FILES", "_MOST_BYTES"))
def test_folder_of_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """A name that is not the module's folder, such as the home folder, is not copied."""
    _write(tmp_path, "Makefile", "a.c", "b.c")
    monkeypatch.setattr(modulebuild, what, 2)
    with pytest.raises(UsageError, match="name the folder of the module alone"):
        sources_of(tmp_path)


def test_usage_errors_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["module", "build", str(tmp_path / "no")]) == 2
    assert capsys.readouterr().err == f"zvmlab: no such folder: {tmp_path}/no\n"
    assert main(["module", "build", str(tmp_path), "--kernel", "nosuch"]) == 2
    assert "nosuch" in capsys.readouterr().err


def test_headers_of_a_kernel_that_is_not_debians(tmp_path: Path) -> None:
    """A change of one that the kernel itself has no use for is seen, whatever its time is.

    Links of a tree lead nowhere if only a part of it has been installed.
    """
    header = tmp_path / "modules/build/include/linux/a.h"
    source = tmp_path / "source/scripts/b.sh"
    for file in (header, source):
        file.parent.mkdir(parents=True)
        file.write_text("one")
    (tmp_path / "modules/build/source").symlink_to(tmp_path / "source")
    (tmp_path / "source/scripts/other").symlink_to("../arch/other/include")
    kernel = Kernel("6.1", "local", tmp_path, tmp_path / "modules")
    build = modulebuild.Build(tmp_path / "modules/build", "gcc", None)
    for file in (header, source):
        before, found = list(modulebuild._stamp(kernel, build)), file.stat()
        assert before == list(modulebuild._stamp(kernel, build))
        file.write_text("two")
        os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
        assert before != list(modulebuild._stamp(kernel, build))


@pytest.mark.parametrize(
    ("version", "said"),
    (
        ("6.1.0-50-s390x", ""),
        ("6.1.0-49-s390x", "was made for kernel 6.1.0-49-s390x, and the guest has 6.1.0-50-s390x;"),
    ),
)
def test_module_made_for_another_kernel_is_said(
    tmp_path: Path, version: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.ko"
    file.write_bytes(module(vermagic=f"{version} SMP mod_unload modversions "))
    assert made_for(file) == version
    monkeypatch.setattr(make_artifacts, "build_image", lambda *_: tmp_path)
    kernel = Kernel("6.1.0-50-s390x", "bookworm", tmp_path, None)
    out = io.StringIO()
    make_artifacts.image(GuestConfig(modules=(str(file),)), kernel, Progress(out))
    assert (f"{file} {said}" in out.getvalue()) if said else not out.getvalue()
    file.write_bytes(module())
    assert made_for(file) == ""


def test_full_disk_is_not_the_fault_of_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "Kbuild").write_text("obj-m := a.o\n")
    (tmp_path / "a.c").write_text("int a;\n")
    said = (
        "a.c:1: error: closing dependency file .a.o.d: No space left on device\nmake: *** [a.o]\n"
    )
    monkeypatch.setattr(
        modulebuild, "run_tool", lambda *_: subprocess.CompletedProcess([], 2, said)
    )
    build = modulebuild.Build(tmp_path, "gcc", None)
    monkeypatch.setattr(modulebuild, "build_folder", lambda *_: build)
    kernel = Kernel("1.2.3", "local", tmp_path / "a.c", None)
    with pytest.raises(CannotRun, match="a disk is full"):
        built_modules(tmp_path, kernel, Progress(quiet=True))
