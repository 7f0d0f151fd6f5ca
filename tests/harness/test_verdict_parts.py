# SPDX-License-Identifier: MIT
"""What a series touches: modules, as kbuild's Makefiles and the configuration have them, or more."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from made_patches import DRIVER, SOURCE, make_tree

from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.modulebuild import Build
from zvmlab.verdict import sides, static
from zvmlab.verdict.applied import Applied, File
from zvmlab.verdict.parts import Folder, Part, check_touched, looks_modular, modular_parts

CHAR = "drivers/s390/char"
HEADER = f"{CHAR}/shared.h"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = make_tree(tmp_path / "linux")
    (made / CHAR / "Makefile").write_text(
        "obj-$(CONFIG_MONREADER) += monreader.o\n"
        "obj-$(CONFIG_TWO) += two.o\n"
        "two-objs := first.o second.o\n"
        "obj-y += always.o\n"
    )
    for name in ("first.c", "second.c", "always.c", "nobody.c"):
        (made / CHAR / name).write_text("int a;\n")
    (made / HEADER).write_text("#define A 1\n")
    (made / CHAR / "second.c").write_text('#include "shared.h"\n')
    return made


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "auto.conf"
    file.write_text("CONFIG_MONREADER=m\nCONFIG_TWO=m\n")
    return file


@pytest.mark.parametrize(
    ("name", "modules"),
    [
        (DRIVER, ("monreader",)),
        (f"{CHAR}/first.c", ("two",)),
        (HEADER, ("two",)),
        (f"{CHAR}/always.c", None),
        (f"{CHAR}/Makefile", None),
        ("net/iucv/Kconfig", None),
    ],
)
def test_modules_are_those_of_kbuild(
    tree: Path, config: Path, name: str, modules: tuple[str, ...] | None
) -> None:
    expected = None if modules is None else [Part(CHAR, modules)]
    assert modular_parts(tree, [name, "Documentation/a.rst"], {}, config) == expected


def test_header_that_a_patch_includes_is_used(tree: Path, config: Path) -> None:
    files = {DRIVER: File(b'#include "shared.h"\n')}
    parts = modular_parts(tree, [HEADER], files, config)
    assert parts == [Part(CHAR, ("monreader", "two"))]


def test_driver_that_is_built_in_needs_a_kernel(tree: Path, config: Path) -> None:
    config.write_text("CONFIG_MONREADER=y\n")
    assert modular_parts(tree, [DRIVER], {}, config) is None


@pytest.mark.parametrize("name", ["include/linux/iucv.h", "net/iucv/Kconfig", f"{CHAR}/Makefile"])
def test_what_all_use_is_of_no_module(tree: Path, name: str) -> None:
    assert looks_modular(tree, [DRIVER]) and not looks_modular(tree, [DRIVER, name])


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["Documentation/a.rst", "MAINTAINERS"], "touches only documentation"),
        (["arch/x86/a.c", "tools/b.c"], "which no kernel for s390 is built from"),
    ],
)
def test_series_that_no_kernel_shows(names: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_touched(names)


def test_folder_is_built_as_in_the_tree(tree: Path, config: Path, tmp_path: Path) -> None:
    """One module of it, with the tree's name of the source in what __FILE__ gives."""
    work = tmp_path / "work"
    Folder(tree, CHAR, config).write(work, {DRIVER: File(SOURCE.encode())}, ["monreader"])
    (work / "place.c").write_text("const char *place = __FILE__;\n")
    show = "include $(src)/Kbuild\nall: ;$(info $(obj-m)|$(obj-y)|$(ccflags-y))\n.PHONY: all\n"
    argv = ["make", "--silent", "-f", "-", f"src={work}", "CONFIG_MONREADER=m"]
    made = subprocess.run(argv, input=show, capture_output=True, text=True, check=True, cwd=work)
    objects, others, flags = made.stdout.splitlines()[0].split("|")
    assert (objects, others.strip()) == ("monreader.o", "")
    argv = ["gcc", "-E", "-P", *flags.split(), str(work / "place.c")]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    assert f'"{CHAR}/place.c"' in said


@pytest.mark.parametrize("packaged", [True, False])
def test_module_that_cannot_be_built_alone(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packaged: bool
) -> None:
    """With the headers of a packaged kernel, its source may be what is missing."""
    (tmp_path / "out/include/config").mkdir(parents=True)
    (tmp_path / "out/include/config/auto.conf").write_text("CONFIG_MONREADER=m\n")
    kernel = Kernel("7.2.13", "sid", tmp_path / "vmlinuz", None)
    work = tmp_path / "work"

    def fails(folder: Path, *_words: object) -> None:
        raise UsageError(f"building {folder} failed: no rule to make target")

    monkeypatch.setattr(sides, "resolve", lambda *_words, **_more: kernel)
    monkeypatch.setattr(sides, "build_folder", lambda *_words: Build(tmp_path / "out", "cc", None))
    monkeypatch.setattr(sides, "built_modules", fails)
    target = sides.Target("sid", tree, "", packaged)
    base, patched = ({DRIVER: File(text.encode())} for text in (SOURCE, f"{SOURCE}int a;\n"))
    with pytest.raises(sides.BaseFails) as failed:
        sides.build_sides(target, Applied(base, patched, {}), work, Progress(quiet=True))
    said = str(failed.value)
    assert said.startswith(f"building {CHAR} failed: no rule")
    assert said.endswith("such as source:6.12") == packaged


@pytest.mark.parametrize("whole", [False, True])
def test_source_that_neither_side_is_built_from_is_left_out(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    """Its tests would say nothing of it, so the verdict has to."""
    off, within = f"{CHAR}/off.c", f"{CHAR}/within.c"
    makefile = tree / CHAR / "Makefile"
    makefile.write_text(f"{makefile.read_text()}obj-$(CONFIG_OFF) += off.o\n")
    out = tmp_path / "out"
    for name, text in (
        ("include/config/auto.conf", "CONFIG_MONREADER=m\n"),
        (f"{CHAR}/.monreader.o.cmd", f"deps := /linux/{DRIVER} /linux/{within}\n"),
    ):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
    kernel = Kernel("7.2", "tree", tmp_path / "vmlinuz", None)
    monkeypatch.setattr(sides, "resolve", lambda *_words, **_more: kernel)
    monkeypatch.setattr(sides, "build_folder", lambda *_words: Build(out, "cc", None))
    monkeypatch.setattr(sides, "built_modules", lambda *_words: {})
    monkeypatch.setattr(sides, "_identity", lambda _kernel: "")
    names = [DRIVER, off, *([within, "Kconfig"] if whole else [])]
    base, patched = ({name: File(text) for name in names} for text in (b"int a;\n", b"int b;\n"))
    target = sides.Target(str(tree), tree, "", False)
    quiet = Progress(quiet=True)
    both = sides.build_sides(target, Applied(base, patched, {}), tmp_path / "work", quiet)
    assert both.left_out == (off,) and both.modules == (() if whole else ("monreader",))
    only = Applied({off: base[off]}, {off: patched[off]}, {})
    with pytest.raises(UsageError, match="off.c, which kernel .* is not built from"):
        sides.build_sides(target, only, tmp_path / "other", quiet)


def test_source_that_does_not_compile_alone_is_told_with_the_error(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be none that this kernel is built from."""
    (tmp_path / "auto.conf").touch()

    def make(_what: str, argv: list[str], *_words: object) -> SimpleNamespace:
        work = Path(next(word for word in argv if word.startswith("M="))[2:])
        wrong = b"nothing" in (work / "monreader.c").read_bytes()
        said = f"{work}/monreader.c:3:5: error: 'nothing' undeclared\n" if wrong else ""
        return SimpleNamespace(returncode=2 if wrong else 0, stdout=said)

    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(static, "run_tool", make)
    base, patched = ({DRIVER: File(text)} for text in (b"int a;\n", b"int a = nothing;\n"))
    build, missing = Build(tmp_path, "cc", None), list[str]()
    found = static.new_warnings(Applied(base, patched, {}), tree, build, "a kernel", missing)
    assert found == [f"{DRIVER}:3: error: 'nothing' undeclared"]
