# SPDX-License-Identifier: MIT
"""Kernels from a source tree whose files get other times than make expects; make is the real one.

The tree's Makefile does with a few files what kbuild does with thousands: it compiles what is newer than its
object, or has another command, and notes in .NAME.cmd what the compiler has read.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_tools import put_tools

from zvmlab.base import signature
from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder import kbuild, kernel_tree, tree_config, tree_copy
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.kernel_tree import at_work
from zvmlab.builder.kernels import resolve
from zvmlab.builder.linux_files import BUILT_IN, gcov_folder
from zvmlab.builder.tree_state import tree_state

BOOT_ID = "/proc/sys/kernel/random/boot_id"
CC, GNU_MAKE = shutil.which("gcc"), shutil.which("make")
DRIVER, TABLE = "drivers/s390/char/monwriter.c", "lib/names.map"
HEADER = "include/linux/mon.h"

MAKEFILE = r"""VERSION = 6
PATCHLEVEL = 1
ifndef tree
.PHONY: $(MAKECMDGOALS)
$(MAKECMDGOALS): again
	@:
again:
	@$(MAKE) --no-print-directory -C $(O) -f $(CURDIR)/Makefile tree=$(CURDIR) $(MAKECMDGOALS)
else
COMPILED := init/main.o $(patsubst $(tree)/%.c,%.o,$(wildcard $(tree)/drivers/s390/char/*.c))
OBJECTS := $(COMPILED) lib/names.o
-include $(foreach o,$(OBJECTS),$(dir $(o)).$(notdir $(o)).cmd)
allnoconfig:
	cp $(KCONFIG_ALLCONFIG) .config
bzImage: $(OBJECTS)
	mkdir -p arch/s390/boot include/config
	echo 6.1.9 >include/config/kernel.release
	cat $(OBJECTS) >arch/s390/boot/bzImage
	touch vmlinux System.map
modules: bzImage
	: >modules.order
modules_install:
	mkdir -p $(INSTALL_MOD_PATH)/lib/modules/6.1.9/kernel
lib/names.o: lib/names.c
	cp $< $@
lib/names.c: $(tree)/lib/names.map
	mkdir -p lib
	cp $< $@
$(COMPILED): %.o: $(tree)/%.c
	@mkdir -p $(@D)
	CC -E -P -I$(tree)/include/linux -I$(tree)/include -MMD -MF $@.d -o $@ $<
	echo $@ >>compiled
	(printf 'savedcmd_%s := cc %s\ndeps_%s := \\\n' $@ $< $@; \
	 sed -e 's/^[^:]*://' -e 's/\\$$//' $@.d | tr ' ' '\n' | sed -e '/^$$/d' -e 's/.*/  & \\/'; \
	 printf '\n%s: $$(deps_%s)\n\n$$(deps_%s):\n' $@ $@ $@) >$(@D)/.$(@F).cmd
endif
"""

pytestmark = pytest.mark.skipif(not CC or not GNU_MAKE, reason="needs gcc and make")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree of a few files, and a private cache."""
    folder = tmp_path / "linux"
    files = {
        "Makefile": MAKEFILE.replace("CC -E", f"{CC} -E"),
        "Kconfig": "config A\n\tbool\n",
        "arch/s390/Makefile": "",
        "init/main.c": "int main;\n",
        DRIVER: '#include "mon.h"\nchar first[] = NAME;\n',
        "drivers/s390/char/monreader.c": '#include "../../../include/linux/mon.h"\nint second;\n',
        HEADER: '#define NAME "one"\n',
        TABLE: "table one\n",
        "drivers/net/unused.c": "int unused;\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    put_tools(tmp_path / "bin", f'#!/bin/sh\nexec {GNU_MAKE} "$@"\n', monkeypatch)
    configs = tmp_path / "configs"
    configs.mkdir()
    (configs / "kernel.config").write_text("CONFIG_A=y\n")
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(kbuild, "CONFIGS", configs)
    monkeypatch.setattr(tree_config, "compiler_version", lambda: b"12.2.0")
    monkeypatch.setattr(kernel_tree, "_built", {})
    monkeypatch.setattr(kernel_tree, "_used", {})
    return folder


def build(tree: Path) -> Kernel:
    """As another process would: nothing is remembered."""
    kernel_tree._built.clear()
    return resolve(str(tree), progress=Progress(quiet=True))


def kernel_of(tree: Path) -> str:
    """What the kernel has in it."""
    return build(tree).image.read_text()


def compiled(tree: Path) -> list[str]:
    """Objects that the compiler has made since the last time."""
    kernel = build(tree)
    assert kernel.work is not None
    note = kernel.work / "out/compiled"
    found = sorted(note.read_text().split()) if note.exists() else []
    note.unlink(missing_ok=True)
    return found


def saved(file: Path) -> Path:
    """A copy with the file's own time, as cp -p makes it."""
    return Path(shutil.copy2(file, f"{file}.saved"))


def give_back(file: Path) -> None:
    """cp -p FILE.saved FILE: an older time, and another inode change."""
    shutil.copy2(f"{file}.saved", file)


def same_time(file: Path, other: Path) -> None:
    found = other.stat()
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))


@pytest.mark.parametrize("name", (DRIVER, HEADER))
def test_file_that_was_put_back_is_compiled_again(tree: Path, name: str) -> None:
    text = '#include "mon.h"\nchar first[] = "two";\n' if name == DRIVER else '#define NAME "two"\n'
    saved(tree / name)
    before = kernel_of(tree)
    assert 'first[] = "one"' in before and "int second" in before
    (tree / name).write_text(text)
    assert 'first[] = "two"' in kernel_of(tree)
    compiled(tree)
    give_back(tree / name)
    assert kernel_of(tree) == before
    # And only what has been made of it.
    drivers = ["drivers/s390/char/monreader.o", "drivers/s390/char/monwriter.o"]
    assert compiled(tree) == (drivers[1:] if name == DRIVER else drivers)
    assert kernel_of(tree) == before and compiled(tree) == []


@pytest.mark.parametrize("times", ("same", "same second", "newer", "future"))
def test_contents_decide_whatever_the_time_is(tree: Path, times: str) -> None:
    file = tree / DRIVER
    assert "first" in kernel_of(tree)
    before = file.stat()
    file.write_text(file.read_text().replace("first", "later"))
    when = {
        "same": before.st_mtime_ns,
        "same second": before.st_mtime_ns // 10**9 * 10**9,
        "newer": file.stat().st_mtime_ns,
        "future": before.st_mtime_ns + 3600 * 10**9,
    }[times]
    os.utime(file, ns=(when, when))
    assert file.stat().st_size == before.st_size
    assert "later" in kernel_of(tree)


def test_times_alone_build_nothing(tree: Path) -> None:
    build(tree)
    compiled(tree)
    for file in (tree / DRIVER, tree / HEADER):
        file.touch()
        os.utime(file, (1, 1))
        file.chmod(0o600)
    assert compiled(tree) == []


def test_file_that_no_object_names(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rule without a .cmd file uses it, so that all is built again."""
    saved(tree / TABLE)
    build(tree)
    (tree / TABLE).write_text("table two\n")
    assert "table two" in kernel_of(tree)
    compiled(tree)
    give_back(tree / TABLE)
    kernel_tree._built.clear()
    assert "table one" in resolve(str(tree), progress=Progress()).image.read_text()
    said = capsys.readouterr().err
    assert f"{TABLE} has changed and has an older time than the last build" in said
    assert len(compiled(tree)) == 3


def test_source_that_is_not_built_costs_nothing(tree: Path) -> None:
    saved(tree / "drivers/net/unused.c")
    build(tree)
    (tree / "drivers/net/unused.c").write_text("int other;\n")
    build(tree)
    give_back(tree / "drivers/net/unused.c")
    compiled(tree)
    assert compiled(tree) == []


def test_object_of_a_source_that_is_gone(tree: Path) -> None:
    """kbuild would take it as if nothing had happened."""
    build(tree)
    (tree / "init/main.c").unlink()
    with pytest.raises(UsageError, match=r"No rule to make target .*init/main.c"):
        build(tree)


def test_new_header_takes_the_place_of_another(tree: Path) -> None:
    assert 'first[] = "one"' in kernel_of(tree)
    near = tree / "drivers/s390/char/mon.h"
    near.write_text('#define NAME "near"\n')
    os.utime(near, (1, 1))
    assert 'first[] = "near"' in kernel_of(tree)


def test_file_that_a_build_that_failed_has_compiled(tree: Path) -> None:
    """The object is of the contents in between, which no build that succeeded has seen."""
    saved(tree / DRIVER)
    saved(tree / "init/main.c")
    before = kernel_of(tree)
    (tree / DRIVER).write_text('char first[] = "between";\n')
    (tree / "init/main.c").write_text("#error no\n")
    # Both are compiled, in whatever order.
    (tree / "Makefile").write_text((tree / "Makefile").read_text().replace("ifndef", "\nifndef"))
    with pytest.raises(UsageError, match="#error no"):
        build(tree)
    give_back(tree / DRIVER)
    give_back(tree / "init/main.c")
    assert kernel_of(tree) == before


def cut_off(tree: Path) -> Path:
    """As if make had been killed at work; what it writes into."""
    work = build(tree).work
    assert work is not None
    compiled(tree)
    shutil.copyfile(BOOT_ID, work / "begun")
    return work / "out"


def test_object_that_a_killed_make_has_half_written(tree: Path) -> None:
    out = cut_off(tree)
    (tree / DRIVER).write_text("int more;\n")
    (out / "init/main.o").write_text("int ma")
    text = kernel_of(tree)
    assert "int main;" in text and "int more;" in text
    assert compiled(tree) == ["drivers/s390/char/monwriter.o", "init/main.o"]


def test_file_that_changed_before_make_was_killed(tree: Path) -> None:
    """Its object is newer than the file, and of what was in it before."""
    saved(tree / DRIVER)
    before = kernel_of(tree)
    out = cut_off(tree)
    (tree / DRIVER).write_text('char first[] = "after it";\n')
    for name in ("monwriter.o", ".monwriter.o.cmd"):
        made = out / "drivers/s390/char" / name
        made.write_text(made.read_text())
    assert 'first[] = "after it"' in kernel_of(tree)
    cut_off(tree)
    give_back(tree / DRIVER)
    assert kernel_of(tree) == before


def test_file_that_changes_while_make_is_at_work(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tree / DRIVER)
    real = kernel_tree._Build._run

    def run(self: kernel_tree._Build, *words: object) -> None:
        if "modules" in str(words):
            (tree / DRIVER).write_text('char first[] = "meanwhile";\n')
        real(self, *words)  # type: ignore[arg-type]
        # Back again, before anybody can look at it.
        give_back(tree / DRIVER)

    monkeypatch.setattr(kernel_tree._Build, "_run", run)
    build(tree)
    monkeypatch.undo()
    monkeypatch.setattr(tree_config, "compiler_version", lambda: b"12.2.0")
    monkeypatch.setattr(kbuild, "CONFIGS", tree.parent / "configs")
    monkeypatch.setenv("ZVMLAB_CACHE", str(tree.parent / "cache"))
    monkeypatch.setenv("PATH", f"{tree.parent / 'bin'}:{os.environ['PATH']}")
    assert 'first[] = "one"' in kernel_of(tree)


def test_link_to_a_folder_outside_of_the_tree(tree: Path, tmp_path: Path) -> None:
    """A developer's own driver, which lives elsewhere."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "mine.c").write_text('#include "mine.h"\nint mine = MINE;\n')
    (own / "mine.h").write_text("#define MINE 1\n")
    shutil.rmtree(tree / "drivers/net")
    (tree / "drivers/net").symlink_to(own)
    (tree / "drivers/loop").symlink_to(tree / "drivers")
    makefile = (tree / "Makefile").read_text()
    (tree / "Makefile").write_text(
        makefile.replace("init/main.o", "init/main.o drivers/net/mine.o")
    )
    saved(own / "mine.h")
    assert "int mine = 1" in kernel_of(tree)
    (own / "mine.h").write_text("#define MINE 2\n")
    assert "int mine = 2" in kernel_of(tree)
    give_back(own / "mine.h")
    assert "int mine = 1" in kernel_of(tree)


def test_state_that_may_still_change_unseen_is_not_trusted(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two changes within one step of the file system's clock leave the same signature."""
    assert tree_state(tree).all == ""
    monkeypatch.setattr(signature, "_COARSEST_NS", -3600 * 10**9)
    assert tree_state(tree).all == tree_state(tree).all != ""
    monkeypatch.setattr(signature, "signature", lambda found: str(found.st_size))
    build(tree)
    reads = []
    monkeypatch.setattr(kernel_tree, "read_files", lambda *_: reads.append(1))
    build(tree)
    assert not reads


@pytest.mark.parametrize("when", ("before", "meanwhile"))
def test_no_module_is_built_from_headers_that_have_changed(tree: Path, when: str) -> None:
    kernel = build(tree)
    change: Callable[[], object] = lambda: (tree / HEADER).write_text('#define NAME "other"\n')
    with pytest.raises(UsageError, match="the tree of kernel .* has been changed meanwhile"):
        if when == "before":
            change()
        with at_work(kernel, Progress(quiet=True)):
            assert when == "meanwhile"
            change()


@pytest.fixture
def other(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the tree, with the times of its files."""
    monkeypatch.setattr(tree_copy, "MOST_DIFFERENT", 0.25)
    return Path(shutil.copytree(tree, tmp_path / "linux-next"))


DRIVERS = ["drivers/s390/char/monreader.o", "drivers/s390/char/monwriter.o"]


@pytest.mark.parametrize("times", ("later", "older"))
def test_copy_of_a_tree_compiles_what_differs(tree: Path, other: Path, times: str) -> None:
    assert compiled(tree) == [*DRIVERS, "init/main.o"]
    before = kernel_of(tree)
    if times == "later":
        (other / DRIVER).write_text("int other;\n")
    else:
        (other / HEADER).write_text('#define NAME "other"\n')
        same_time(other / HEADER, tree / HEADER)
    assert compiled(other) == (DRIVERS[1:] if times == "later" else DRIVERS)
    assert "other" in kernel_of(other)
    assert kernel_of(tree) == before and compiled(tree) == []
    # From now on it has a build of its own.
    (other / "init/main.c").write_text("int another;\n")
    assert compiled(other) == ["init/main.o"] and "another" in kernel_of(other)


def test_commands_of_a_copy_name_the_copy(tree: Path, other: Path) -> None:
    build(tree)
    (other / DRIVER).write_text("int other;\n")
    work = build(other).work
    assert work is not None
    notes = {file.name: file.read_text() for file in (work / "out").rglob("*.cmd")}
    assert f"{other}/drivers/s390/char/monreader.c" in notes[".monreader.o.cmd"]
    assert not [name for name, text in notes.items() if f"{tree}/" in text]


def test_copy_that_counts_names_where_its_objects_were_compiled(tree: Path, other: Path) -> None:
    """There the guest's kernel shows their counts."""
    (kbuild.CONFIGS / "coverage.config").write_text('CONFIG_LOCALVERSION="-lines"\n')
    build(tree)
    counts = resolve(f"{tree}:coverage", progress=Progress(quiet=True))
    (other / DRIVER).write_text("int other;\n")
    copy = resolve(f"{other}:coverage", progress=Progress(quiet=True))
    (other / DRIVER).write_text("int another;\n")
    kernel_tree._built.clear()
    again = resolve(f"{other}:coverage", progress=Progress(quiet=True))
    for kernel in (copy, again):
        gcov = gcov_folder(kernel)
        assert gcov is not None and copy.work is not None and counts.work is not None
        names = (gcov / BUILT_IN).read_text().splitlines()
        plain = build(tree).work
        assert names == [str(w / "out") for w in (copy.work, counts.work, plain) if w is not None]


def test_path_within_another_is_left_alone() -> None:
    text = "-I/l/include /l/a.c -x=/l/=  /l-next/a.c /m/l/a.c /l.c ../l/b.c '/l'"
    assert tree_copy.renamed(text.encode(), "/l", "/new") == (
        b"-I/new/include /new/a.c -x=/new/=  /l-next/a.c /m/l/a.c /l.c ../l/b.c '/new'"
    )


def test_source_that_a_copy_does_not_have(tree: Path, other: Path) -> None:
    build(tree)
    (other / "drivers/s390/char/monreader.c").unlink()
    assert "second" in kernel_of(tree) and "second" not in kernel_of(other)


@pytest.mark.parametrize("why", ("differs", "cut off", "other checks"))
def test_build_that_is_of_no_use(tree: Path, other: Path, why: str) -> None:
    """Much is different, make was killed, or other checks change all objects."""
    work = build(tree).work
    assert work is not None
    if why == "differs":
        for name in ("init/main.c", DRIVER, HEADER):
            (other / name).write_text("int other;\n")
    elif why == "cut off":
        (work / tree_copy.BEGUN).touch()
    else:
        (kbuild.CONFIGS / "debug.config").write_text("CONFIG_KASAN=y\n")
    words = ":debug" if why == "other checks" else ""
    kernel = resolve(f"{other}{words}", progress=Progress(quiet=True))
    assert kernel.work is not None
    assert sorted((kernel.work / "out/compiled").read_text().split()) == [*DRIVERS, "init/main.o"]
