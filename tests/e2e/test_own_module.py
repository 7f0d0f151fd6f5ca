# SPDX-License-Identifier: MIT
"""A module from a folder of the user's: built for the guest's kernel, and put in."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.builder.kernels import resolve
from zvmlab.builder.modulebuild import driver_module
from zvmlab.builder.modules import made_for
from zvmlab.cli.main import main
from zvmlab.guest.config import OUR_DRIVER
from zvmlab.guest.guest import Guest

SOURCE = f"{Path(__file__).parent}/modules/crash"
Build = Callable[..., Path]


@pytest.mark.zvmlab(modules=(SOURCE,))
def test_folder_is_built_for_the_kernel_and_put_in(guest: Guest) -> None:
    """The kernel has it, and says nothing of versions."""
    guest.agent.modprobe("crash", {"after_ms": 1}).check()
    assert guest.agent.read_file("/sys/module/crash/initstate") == b"live\n"
    guest.agent.rmmod("crash").check()
    log = [line.text for line in guest.agent.dmesg()]
    # A kernel that counts lines names gcov's version magic, without quotation marks.
    assert not any("version magic '" in line or "disagrees" in line for line in log)


@pytest.mark.representative
def test_guest_has_the_driver_that_was_asked_for(monreader: Guest, zvmlab_driver: str) -> None:
    """Also one that started at a checkpoint which was made with the kernel's own."""
    kernel = resolve(monreader.config.kernel)
    found = monreader.agent.read_file("/lib/modules/monreader.ko")
    ours = driver_module(kernel).read_bytes()
    assert (found == ours) == (zvmlab_driver == OUR_DRIVER)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the module that a test may change, with what an earlier build has left."""
    copy = tmp_path / "mine"
    shutil.copytree(SOURCE, copy)
    (copy / "crash.o").write_text("no object")
    (copy / ".git").mkdir()
    (copy / ".git" / "HEAD").write_text("changes")
    return copy


def test_what_has_not_changed_is_not_built_again(
    folder: Path, built_module: Build, zvmlab_kernel: str
) -> None:
    """A change of a source is, one of what kbuild makes is not."""
    first = built_module(folder)
    assert made_for(first) == resolve(zvmlab_kernel).version
    made = first.stat().st_ino
    (folder / "crash.o").write_text("another")
    (folder / ".git" / "HEAD").write_text("others")
    assert built_module(folder, "crash") == first and first.stat().st_ino == made
    source = folder / "crash.c"
    source.write_text(source.read_text().replace("how long loading takes", "how long it takes"))
    second = built_module(folder)
    assert second != first and b"how long it takes" in second.read_bytes()
    # The user's folder is as it was.
    assert sorted(path.name for path in folder.iterdir()) == [
        *(".git", "Kbuild", "Makefile", "crash.c", "crash.o")
    ]


def test_first_error_is_told_with_file_and_line(folder: Path, built_module: Build) -> None:
    """And where the whole log is."""
    source = folder / "crash.c"
    lines = source.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if "static void happen" in line)
    lines.insert(at, "static int broken(void) { return nothing_there; }")
    source.write_text("\n".join(lines) + "\n")
    with pytest.raises(UsageError) as error:
        built_module(folder)
    said = str(error.value)
    assert f"building {folder} failed: crash.c:{at + 1}:" in said
    assert "error: 'nothing_there' undeclared" in said.replace("‘", "'").replace("’", "'")
    log = Path(said.rpartition("the log is ")[2])
    assert "nothing_there" in log.read_text()
    source.write_text(source.read_text().replace("return nothing_there;", "return 0;"))
    # -Wunused-function is a warning only.
    assert built_module(folder).is_file()


@pytest.mark.first_kernel
def test_unknown_symbol_is_told(folder: Path, built_module: Build) -> None:
    """An error of modpost has the symbol's name."""
    source = folder / "crash.c"
    text = source.read_text()
    text = text.replace("static void happen", "void no_such_symbol(void);\nstatic void happen", 1)
    source.write_text(text.replace("disabled_wait_here();", "no_such_symbol();", 1))
    with pytest.raises(UsageError, match=r'ERROR: modpost: "no_such_symbol" \[.*crash\.ko\]'):
        built_module(folder)


@pytest.mark.first_kernel
@pytest.mark.parametrize(
    ("kbuild", "said"),
    (
        ("", r"gave no module; its Kbuild needs a line 'obj-m := NAME\.o'"),
        ("obj-m := nothing.o\n", r"No rule to make target '(?:.*/)?nothing\.o'"),
        (None, "has no Kbuild and no Makefile; write 'obj-m := NAME.o' into a Kbuild there"),
    ),
)
def test_folder_that_gives_no_module(
    folder: Path, built_module: Build, kbuild: str | None, said: str
) -> None:
    for name in ("Kbuild", "Makefile"):
        (folder / name).unlink()
    if kbuild is not None:
        (folder / "Kbuild").write_text(kbuild)
    with pytest.raises(UsageError, match=said):
        built_module(folder)


def test_command_builds_and_copies(
    folder: Path, tmp_path: Path, zvmlab_kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """zvmlab module build says where each module is."""
    output = tmp_path / "out"
    words = ["module", "build", str(folder), "--kernel", zvmlab_kernel]
    assert main([*words, "--output", str(output)]) == 0
    version = resolve(zvmlab_kernel).version
    assert capsys.readouterr().out == f"{version} {output}/{version}/crash.ko\n"
    assert made_for(output / version / "crash.ko") == version
    assert main(words) == 0
    found = re.fullmatch(rf"{re.escape(version)} (\S+/crash\.ko)\n", capsys.readouterr().out)
    assert found and Path(found[1]).read_bytes() == (output / version / "crash.ko").read_bytes()
