# SPDX-License-Identifier: MIT
"""Kernels from a source tree: what they are named, how they are built; make is a script here."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_tools import put_tools

from zvmlab.base.cache import cache_root, entry, remove
from zvmlab.base.errors import CannotRun, Timeout, UsageError
from zvmlab.base.owned import MARK
from zvmlab.base.progress import Progress
from zvmlab.builder import kbuild, kernel_tree, kernels, modulebuild, tree_config
from zvmlab.builder.kernel import Kernel, counts_lines, has_checks, is_debug, slowness
from zvmlab.builder.kernel_tree import at_work, tree_kernel
from zvmlab.builder.kernels import defects_of, resolve, suite_of
from zvmlab.builder.linux_files import gcov_folder
from zvmlab.builder.modulebuild import build_folder
from zvmlab.builder.tree_config import judge
from zvmlab.builder.tree_name import TreeName, check_tree, tree_name, with_counted
from zvmlab.builder.tree_state import tree_state
from zvmlab.cli.main import main
from zvmlab.guest.config import GuestConfig
from zvmlab.pytest_plugin.backend_choice import kernel_id

ROOT = Path(__file__).resolve().parents[2]
DRIVER = "drivers/s390/char/monreader.c"

# Does what kbuild does for each goal, with a tree of three files; notes its words in "calls".
MAKE = r"""#!/bin/sh
env | grep -E '^(MAKEFLAGS|KCFLAGS|ARCH)=' && exit 9
[ "$1" = -C ] || exit 9
tree=$2
for word; do
	case $word in
	O=*) out=${word#*=} ;;
	GCOV_PROFILE_monreader.o=y) counts=yes ;;
	KCONFIG_ALLCONFIG=*) config=${word#*=} ;;
	INSTALL_MOD_PATH=*) into=${word#*=} ;;
	esac
done
cd "$out" || exit 9
echo "$*" >>calls
for word; do
	case $word in
	allnoconfig) grep -v LOST "$config" >.config ;;
	olddefconfig) grep -v LOST .config >.config.new && mv .config.new .config ;;
	bzImage)
		[ ! -e "$tree/sleep" ] || { echo begun; mkfifo never; read nothing <never; }
		[ ! -e "$tree/full" ] || { echo "cc1: a.o: No space left on device"; exit 2; }
		if grep -q BROKEN "$tree/drivers/s390/char/monreader.c"; then
			echo "In file included from $tree/include/a.h:1:"
			echo "$tree/drivers/s390/char/monreader.c:12:3: error: expected ';'"
			echo "$tree/drivers/s390/char/monreader.c:13:1: error: and more"
			echo "make: *** [Makefile:1: all] Error 2"
			exit 2
		fi
		mkdir -p arch/s390/boot include/config drivers/s390/char
		echo 6.1.9-test >include/config/kernel.release
		cat "$tree/init.c" >arch/s390/boot/bzImage
		cat "$tree/drivers/s390/char/monreader.c" >drivers/s390/char/monreader.ko
		[ ! "$counts" ] || echo notes >drivers/s390/char/monreader.gcno
		echo drivers/s390/char/monreader.o >modules.order
		touch vmlinux System.map Module.symvers Makefile ;;
	modules_install)
		to=${into:?}/lib/modules/6.1.9-test
		mkdir -p "$to/kernel/drivers/s390/char"
		cp drivers/s390/char/monreader.ko "$to/kernel/drivers/s390/char"
		: >"$to/modules.builtin"
		ln -s "$out" "$to/build" ;;
	esac
done
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small source tree, a private cache, and tools that are scripts."""
    folder = tmp_path / "linux"
    makefile = "# The top one\nVERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 9\n"
    files = {
        "Makefile": makefile,
        "Kconfig": "config A\n\tbool\n",
        "init/Kconfig": "menuconfig IUCV\n\tbool\n  config AFIUCV\n",
        "arch/s390/Makefile": "",
        "arch/x86/Makefile": "",
        "init.c": "int main;\n",
        DRIVER: "int monreader;\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    put_tools(tmp_path / "bin", MAKE, monkeypatch)
    configs = tmp_path / "configs"
    configs.mkdir()
    (configs / "kernel.config").write_text("CONFIG_A=y\n")
    (configs / "full.config").write_text("# CONFIG_SIG is not set\n")
    (configs / "since-6.2.config").write_text("CONFIG_LATER=y\n")
    (configs / "since-6.12.config").write_text("CONFIG_LATEST=y\n")
    (configs / "debug.config").write_text("CONFIG_KASAN=y\n")
    (configs / "fuzz.config").write_text('CONFIG_KASAN=y\nCONFIG_LOCALVERSION="-fuzz"\n')
    (configs / "checks-since-6.2.config").write_text("CONFIG_MOVES=y\n")
    (configs / "coverage.config").write_text('CONFIG_LOCALVERSION="-lines"\nCONFIG_A=m\n')
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MAKEFLAGS", "C=1")
    monkeypatch.setenv("ARCH", "um")
    monkeypatch.setattr(kbuild, "CONFIGS", configs)
    monkeypatch.setattr(tree_config, "compiler_version", lambda: b"12.2.0")
    monkeypatch.setattr(kernel_tree, "_built", {})
    monkeypatch.setattr(kernel_tree, "_used", {})
    return folder


Built = Callable[..., Kernel]


@pytest.fixture
def built(tree: Path) -> Iterator[Built]:
    """Builds the tree as another process would: nothing is remembered, nothing in use."""
    used: dict[Path, int] = {}

    def build(words: str = "", say: Progress | None = None) -> Kernel:
        for folder in kernel_tree._used.values():
            os.close(folder)
        kernel_tree._used.clear()
        kernel_tree._built.clear()
        return resolve(f"{tree}{words}", progress=say or Progress(quiet=True))

    yield build
    assert not used


def calls(kernel: Kernel) -> list[str]:
    """What make was called for."""
    assert kernel.work is not None
    lines = (kernel.work / "out/calls").read_text().splitlines()
    return [line.split()[-1] for line in lines]


def files_of(tree: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in tree.rglob("*") if file.is_file()}


def test_kernel_of_a_tree_is_laid_out_as_a_package(tree: Path, built: Built) -> None:
    before = files_of(tree)
    kernel = built()
    assert kernel.version == "6.1.9-test"
    assert re.fullmatch(r"linux@[0-9a-f]{8}", kernel.suite)
    assert str(kernel) == f"6.1.9-test ({kernel.suite})"
    assert kernel.image.read_text() == "int main;\n" and kernel.image.name == "vmlinuz-6.1.9-test"
    assert (kernel.image.parent / "config-6.1.9-test").read_text() == "CONFIG_A=y\n"
    assert (kernel.image.parent / "System.map-6.1.9-test").is_file()
    assert kernel.modules is not None and kernel.work is not None
    module = kernel.modules / "kernel/drivers/s390/char/monreader.ko"
    assert module.read_text() == "int monreader;\n"
    assert (kernel.modules / "build").resolve() == kernel.work / "out"
    said = (kernel.work / "out/calls").read_text().splitlines()
    assert len(said) == 3
    for line in said:
        words = line.split()
        assert words[:3] == ["-C", str(tree), f"O={kernel.work}/out"]
        assert {"ARCH=s390", "CROSS_COMPILE=s390x-linux-gnu-", "LOCALVERSION="} < set(words)
    assert calls(kernel) == ["allnoconfig", "modules", "modules_install"]
    assert f" -j{len(os.sched_getaffinity(0))} bzImage modules" in said[1]
    assert "INSTALL_MOD_STRIP=1" in said[2]
    assert files_of(tree) == before
    assert not (kernel.work / "begun").exists()


def test_nothing_is_built_again_if_nothing_has_changed(tree: Path, built: Built) -> None:
    kernel = built()
    (tree / ".git").mkdir()
    (tree / ".git/index").write_text("x")
    (tree / "arch/x86/a.c").write_text("x")
    (tree / "Documentation").mkdir()
    (tree / "Documentation/a.rst").write_text("x")
    assert built() == kernel and len(calls(kernel)) == 3
    # Another time, and the same contents.
    os.utime(tree / DRIVER, (1, 1))
    assert built() == kernel and len(calls(kernel)) == 3


def test_a_changed_line_makes_another_kernel_beside_the_first(tree: Path, built: Built) -> None:
    old = built()
    (tree / DRIVER).write_text("int monreader = 1;\n")
    new = built()
    assert old.modules is not None and new.modules is not None
    name = "kernel/drivers/s390/char/monreader.ko"
    assert (new.modules / name).read_text() == "int monreader = 1;\n"
    assert (old.modules / name).read_text() == "int monreader;\n"
    assert str(new) != str(old) and new.work == old.work and new.image != old.image
    assert calls(new)[3:] == ["modules", "modules_install"]
    # As it was: found again by what was built.
    (tree / DRIVER).write_text("int monreader;\n")
    assert built() == old


def test_one_process_sees_one_state_of_a_tree(tree: Path, built: Built) -> None:
    kernel = built()
    (tree / DRIVER).write_text("int other;\n")
    quiet = Progress(quiet=True)
    assert resolve(str(tree), progress=quiet) == kernel
    shutil.rmtree(kernel.image.parent.parent)
    assert resolve(str(tree), progress=quiet).image != kernel.image


def test_options_of_the_tree_are_looked_at_again(tree: Path, built: Built) -> None:
    kernel = built()
    (tree / "init/Kconfig").write_text("config IUCV\nconfig B\n")
    assert built() == kernel
    assert calls(kernel)[3:] == ["allnoconfig", "modules"]


def test_configurations_are_built_beside_each_other(
    tree: Path, built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def debian(series: str, progress: Progress) -> str:
        assert progress
        asked.append(series)
        return "CONFIG_DEBIAN=y\n"

    monkeypatch.setattr(kernels, "_debian_config", debian)
    own = tmp_path / "my.config"
    own.write_text("CONFIG_OWN=m\n")
    found = {words: built(words) for words in ("", ":debug", ":full", ":full:debug", f":{own}")}
    assert len({kernel.work for kernel in found.values()}) == 5
    assert asked == ["6.1", "6.1"]
    config = {
        words: (kernel.image.parent / "config-6.1.9-test").read_text().split("\n")
        for words, kernel in found.items()
    }
    off = "# CONFIG_SIG is not set"
    assert config[""] == ["CONFIG_A=y", ""]
    assert config[":debug"] == ["CONFIG_A=y", "CONFIG_KASAN=y", ""]
    assert config[":full"] == ["CONFIG_DEBIAN=y", "", "CONFIG_A=y", off, ""]
    assert config[":full:debug"][2:] == ["CONFIG_A=y", off, "CONFIG_KASAN=y", ""]
    assert config[f":{own}"] == ["CONFIG_OWN=m", "", "CONFIG_A=y", off, ""]
    names = [kernel.suite.partition("@")[0] for kernel in found.values()]
    assert names == ["linux", "linux:debug", "linux:full", "linux:full:debug", "linux:my.config"]
    # A changed file is another configuration in the same folder.
    own.write_text("CONFIG_OWN=y\n")
    again = built(f":{own}")
    assert again.work == found[f":{own}"].work and again.image != found[f":{own}"].image
    assert calls(again)[3:] == ["olddefconfig", "modules", "modules_install"]
    own.write_text("nothing\n")
    with pytest.raises(UsageError, match=r"my.config is no configuration of Linux"):
        built(f":{own}")
    own.write_bytes(b"CONFIG_A=\xff\n")
    with pytest.raises(UsageError, match=r"the configuration .*my.config cannot be read"):
        built(f":{own}")


@pytest.mark.parametrize(
    ("patchlevel", "more"),
    [
        (1, []),
        (2, ["LATER"]),
        (11, ["LATER"]),
        (12, ["LATER", "LATEST"]),
        (18, ["LATER", "LATEST"]),
    ],
)
def test_later_series_need_more(tree: Path, built: Built, patchlevel: int, more: list[str]) -> None:
    (tree / "Makefile").write_text(f"VERSION = 6\nPATCHLEVEL = {patchlevel}\n")
    config = (built().image.parent / "config-6.1.9-test").read_text()
    assert config == "".join(f"CONFIG_{name}=y\n" for name in ("A", *more))


def test_certificates_need_the_headers_of_openssl(
    tree: Path, built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (kbuild.CONFIGS / "kernel.config").open("a") as config:
        config.write("CONFIG_SYSTEM_TRUSTED_KEYRING=y\n")
    monkeypatch.setattr(kernel_tree, "_OPENSSL", tree / "none.h")
    text = r"building linux needs: apt-get install libssl-dev \(CONFIG_SYSTEM_TRUSTED_KEYRING\)$"
    with pytest.raises(CannotRun, match=text):
        built()
    (tree / "none.h").touch()
    assert built().version == "6.1.9-test"


def test_another_compiler_builds_again(built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = built()
    monkeypatch.setattr(tree_config, "compiler_version", lambda: b"13.1.0")
    assert built() == kernel
    assert calls(kernel)[3:] == ["allnoconfig", "modules"]


def test_first_error_is_told_with_file_line_and_log(tree: Path, built: Built) -> None:
    (tree / DRIVER).write_text("BROKEN\n")
    with pytest.raises(UsageError) as failed:
        built()
    (work,) = cache_root().glob("linux-build-*")
    assert str(failed.value) == (
        f"building linux ({tree}) failed: {DRIVER}:12:3: error: expected ';';"
        f" the log is {work}/build.log"
    )
    assert "and more" in (work / "build.log").read_text()
    assert not (work / "begun").exists()
    # What was built before goes on from there.
    (tree / DRIVER).write_text("int monreader;\n")
    assert calls(built()) == ["allnoconfig", "modules", "modules", "modules_install"]


def test_disk_that_is_full(tree: Path, built: Built) -> None:
    (tree / "full").touch()
    text = rf"building linux needs more space than the \d+ MiB that are free in {cache_root()} "
    with pytest.raises(CannotRun, match=text):
        built()


def test_checks_and_coverage_come_on_top_of_each_other(tree: Path, built: Built) -> None:
    """Of two lines for one option the later is there, and the version tells of both."""
    kernel = built(":coverage:fuzz")
    config = (kernel.image.parent / "config-6.1.9-test").read_text().split("\n")
    assert config == ["CONFIG_A=m", "CONFIG_KASAN=y", 'CONFIG_LOCALVERSION="-fuzz-lines"', ""]
    assert kernel.suite.partition("@")[0] == "linux:fuzz:coverage"
    (tree / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 3\n")
    for words, moves in (("", False), (":coverage", False), (":debug", True), (":fuzz", True)):
        text = (built(words).image.parent / "config-6.1.9-test").read_text()
        assert ("CONFIG_MOVES=y" in text) == moves
        assert "CONFIG_LATER=y" in text and "CONFIG_LATEST" not in text


def test_kernel_that_counts_keeps_the_notes_of_what_the_tree_has(
    tree: Path, built: Built, tmp_path: Path
) -> None:
    said: list[str] = []

    class Said(Progress):
        def say(self, text: str) -> None:
            said.append(text)

    assert gcov_folder(built()) is None
    kernel = built(":coverage", Said(quiet=True))
    gcov = gcov_folder(kernel)
    assert gcov is not None and kernel.work is not None
    assert (gcov / "drivers/s390/char/monreader.gcno").read_text() == "notes\n"
    # The objects may have come from the first build.
    assert (gcov / "tree").read_text().splitlines()[0] == f"{kernel.work}/out"
    # Of the files that are listed the tree has only this one.
    words = (kernel.work / "out/calls").read_text().splitlines()[-2].split()
    assert [word for word in words if "GCOV" in word] == ["GCOV_PROFILE_monreader.o=y"]
    assert not said
    (tree / "net").mkdir()
    (tree / "net/b.c").touch()
    text = "linux:coverage=net/b.c does not compile net/b.c in this configuration"
    with pytest.raises(UsageError, match=text):
        built(":coverage=net/b.c")
    with pytest.raises(UsageError, match="has no net/c.c, whose lines are to be counted"):
        built(":coverage=net/c.c")
    (tree / "net/iucv").mkdir()
    (tree / "net/iucv/iucv.c").touch()
    built(":coverage", Said(quiet=True))
    assert said == ["linux:coverage counts no lines of what it does not compile: net/iucv/iucv.c"]


def test_files_named_by_an_option(tree: Path) -> None:
    name = f"{tree}:coverage"
    assert with_counted(name, ()) == name and with_counted("bookworm", []) == "bookworm"
    assert with_counted(name, ["net/b.c", "a.c"]) == f"{name}:coverage=net/b.c:coverage=a.c"
    again = with_counted(f"{name}:coverage=net/b.c", ["net/b.c", "a.c"])
    assert again == f"{name}:coverage=net/b.c:coverage=a.c"
    for other in ("bookworm", "coverage", str(tree), f"{tree}:debug"):
        with pytest.raises(UsageError, match="are counted by a source tree with the word coverage"):
            with_counted(other, ["a.c"])
    with pytest.raises(UsageError, match="'a.h' is no C source"):
        with_counted(name, ["a.h"])


@pytest.mark.parametrize(
    ("config", "needed"), (("", 256), (":debug", 384), (":full", 1700), (":full:debug", 2800))
)
def test_disk_without_room_for_a_build(
    tree: Path, built: Built, monkeypatch: pytest.MonkeyPatch, config: str, needed: int
) -> None:
    """In MiB; Debian's configuration needs more, and so do the checks."""
    monkeypatch.setattr(kernels, "_debian_config", lambda *_: "CONFIG_DEBIAN=y\n")
    usage = shutil._ntuple_diskusage(10 << 30, 9 << 30, (needed << 20) - 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(CannotRun, match=f"needs more space than the {needed - 1} MiB"):
        built(config)
    usage = usage._replace(free=needed << 20)
    built(config)


def test_missing_tools_are_named_with_their_packages(
    tree: Path, built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: Callable[[str], str | None] = (
        lambda tool: None if "gcc" in tool or tool == "bc" else tool
    )
    monkeypatch.setattr("shutil.which", there)
    wanted = re.escape(
        f"building Linux from {tree} needs: apt-get install bc gcc gcc-s390x-linux-gnu"
    )
    with pytest.raises(CannotRun, match=wanted + "$"):
        built()


def test_build_that_was_killed_goes_on(
    tree: Path, built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = built()
    assert kernel.work is not None
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    (kernel.work / "begun").write_text(boot)
    (kernel.work / "out/whole").touch()
    (kernel.work / "out/half").touch()
    (kernel.work / "out/.half.d").touch()
    assert built() == kernel  # no need to build
    (tree / DRIVER).write_text("int other;\n")
    built(say=Progress())
    assert "the last build of linux was cut off; it goes on from there\n" in capsys.readouterr().err
    assert (kernel.work / "out/whole").exists() and not (kernel.work / "out/half").exists()
    assert not (kernel.work / "begun").exists()
    assert calls(kernel)[-2:] == ["modules", "modules_install"]


@pytest.mark.parametrize("boot", ("", "another one\n"))
def test_crash_of_the_machine_takes_what_was_written_last(
    tree: Path, built: Built, boot: str
) -> None:
    kernel = built()
    assert kernel.work is not None
    (kernel.work / "begun").write_text(boot)
    out = kernel.work / "out"
    last = max(file.stat().st_mtime for file in out.rglob("*"))
    for name, seconds in (("early", 121), ("late", 119)):
        (out / name).touch()
        os.utime(out / name, (last - seconds, last - seconds))
    (tree / "init.c").write_text("int other;\n")
    assert built().image.read_text() == "int other;\n"
    assert (out / "early").exists() and not (out / "late").exists()


SCRIPT = "import sys; from zvmlab.cli.main import main; sys.exit(main(['fetch', sys.argv[1]]))"


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_interrupt_ends_make_and_leaves_a_usable_folder(
    tree: Path, built: Built, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = built()
    assert kernel.work is not None
    log = kernel.work / "build.log"
    (tree / "sleep").touch()
    # The real zvmlab, in which nothing is replaced.
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "harness"))
    argv = [sys.executable, "-c", SCRIPT, str(tree)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE) as run:
        try:
            wait_for(lambda: "begun" in log.read_text())
            assert (log.parent / "begun").exists()
            run.send_signal(number)
            run.communicate(timeout=60)
        finally:
            run.kill()
    assert run.returncode == 128 + number
    assert not (kernel.work / "begun").exists()
    left = subprocess.run(["pgrep", "-f", f"O={kernel.work}/out"], check=False, stdout=-1)
    assert left.stdout == b""
    (tree / "sleep").unlink()
    assert built().image == kernel.image


def wait_for(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_second_build_of_a_tree_waits_with_a_limit(
    tree: Path,
    built: Built,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kernel = built()
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with at_work(kernel, Progress(quiet=True)):
            held.set()
            done.wait(60)

    other = threading.Thread(target=hold)
    other.start()
    assert held.wait(60)
    monkeypatch.setattr(kernel_tree, "LOCK_SECONDS", 1)
    who = f"process {os.getpid()}"
    with pytest.raises(Timeout, match=rf"{who} is still building linux \({tree}\) after 1 s, and"):
        built(say=Progress())
    said = capsys.readouterr().err
    assert said == f"waiting until {who} has built linux ({tree}), for at most 1 s\n"
    monkeypatch.setattr(kernel_tree, "LOCK_SECONDS", 60)
    ends = threading.Timer(0.5, done.set)
    ends.start()
    assert built() == kernel
    other.join()


def test_modules_are_built_only_for_the_state_that_is_there(tree: Path, built: Built) -> None:
    old = built()
    with at_work(old, Progress(quiet=True)):
        pass
    build = build_folder(old)
    assert build.folder == old.work / "out" if old.work else False
    (tree / "init.c").write_text("int other;\n")
    new = built()
    with at_work(new, Progress(quiet=True)):
        pass
    # A build that fails leaves something in between.
    (tree / DRIVER).write_text("BROKEN\n")
    with pytest.raises(UsageError, match="expected ';'"):
        built()
    with pytest.raises(UsageError, match="has been built again meanwhile"):
        with at_work(new, Progress(quiet=True)):
            raise AssertionError("it is not at that state")
    with pytest.raises(UsageError, match="has been built again meanwhile"):
        with at_work(old, Progress(quiet=True)):
            raise AssertionError("it is not at that state")
    with at_work(Kernel("6.1", "bookworm", tree, None), Progress(quiet=True)):
        pass


def test_oldest_states_leave_the_cache_unless_they_are_used(tree: Path, built: Built) -> None:
    images = []
    for number in range(kernel_tree.KEPT + 1):
        (tree / "init.c").write_text(f"int a{number};\n")
        kernel = built()
        images.append(kernel.image)
        folder = kernel.image.parent.parent
        os.utime(folder, (number + 1, number + 1))
    assert [image.exists() for image in images] == [False] + [True] * kernel_tree.KEPT
    # Another process uses the oldest.
    with subprocess.Popen(
        ["flock", "--shared", str(images[1].parent.parent), "sh", "-c", "echo held; read x"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None and other.stdin is not None
        assert other.stdout.readline() == b"held\n"
        (tree / "init.c").write_text("int more;\n")
        built()
        assert images[1].exists()
        other.stdin.close()
    (tree / "init.c").write_text("int still_more;\n")
    built()
    assert not images[1].exists()


def test_the_cache_knows_what_of_it_is_ours(built: Built) -> None:
    kernel = built()
    assert kernel.work is not None and (kernel.work / MARK).is_file()
    assert remove() == []
    assert not kernel.work.exists()


@pytest.mark.parametrize(
    "left", (".config", "include/config/auto.conf", "arch/s390/include/generated/a.h")
)
def test_tree_that_was_built_in_place(tree: Path, built: Built, left: str) -> None:
    (tree / left).parent.mkdir(parents=True, exist_ok=True)
    (tree / left).touch()
    text = rf"has been configured or built in place .* run 'make -C {tree} ARCH=s390 mrproper'"
    with pytest.raises(UsageError, match=text):
        built()


def test_what_is_no_tree(tree: Path, built: Built, tmp_path: Path) -> None:
    (tree / "arch/s390/Makefile").unlink()
    with pytest.raises(UsageError, match="is a kernel source tree without arch/s390"):
        built()
    (tree / "arch/s390/Makefile").touch()
    (tree / "Makefile").write_text("VERSION = 6\n")
    with pytest.raises(UsageError, match="its Makefile has no VERSION"):
        built()
    (tree / "Kconfig").unlink()
    with pytest.raises(UsageError, match=r"holds no kernel image .* and is no kernel source tree"):
        built()
    with pytest.raises(UsageError, match=r"linux is not a kernel source tree"):
        built(":debug")
    unfit = tmp_path / "my linux"
    with pytest.raises(UsageError, match="contains ' ', and Linux cannot be built from there"):
        check_tree(unfit)


@pytest.mark.parametrize(
    ("words", "config", "checks", "coverage", "counted"),
    [
        ("", "minimal", "", False, ()),
        (":minimal", "minimal", "", False, ()),
        (":debug", "minimal", "debug", False, ()),
        (":fuzz", "minimal", "fuzz", False, ()),
        (":full", "full", "", False, ()),
        (":full:debug", "full", "debug", False, ()),
        (":debug:full", "full", "debug", False, ()),
        (":./c", "./c", "", False, ()),
        (":coverage", "minimal", "", True, ()),
        (":coverage:debug", "minimal", "debug", True, ()),
        (":./c:coverage", "./c", "", True, ()),
        (":coverage:coverage=net/b.c:coverage=a.c", "minimal", "", True, ("a.c", "net/b.c")),
        (":fuzz:coverage=a.c", "minimal", "fuzz", True, ("a.c",)),
    ],
)
def test_words_after_a_tree(
    tree: Path,
    words: str,
    config: str,
    checks: str,
    coverage: bool,
    counted: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tree)
    (tree / "c").touch()
    debug = coverage or checks != ""
    for place in (str(tree), "source:6.1", "."):
        assert tree_name(place + words) == TreeName(place, config, checks, coverage, counted)
        assert is_debug(place + words) == debug
        assert has_checks(place + words) == (checks != "")
        assert counts_lines(place + words) == coverage
        assert (slowness(place + words) > 1) == debug
    parameters = GuestConfig(kernel=f"{tree}{words}").kernel_parameters().split()
    large = config != "minimal" and checks != ""
    assert [word for word in parameters if word.startswith("mem=")] == (
        [f"mem={(256 if large else 128) << 20}"] if debug else []
    )


@pytest.mark.parametrize("words", ("", ":debug", ":fuzz", ":coverage", ":fuzz:coverage"))
@pytest.mark.parametrize("version", ((6, 1), (6, 11), (6, 12), (6, 17), (6, 18)))
def test_guest_with_checks_has_virtual_addresses_that_are_not_real_ones(
    tree: Path, words: str, version: tuple[int, int]
) -> None:
    (tree / "Makefile").write_text("VERSION = {}\nPATCHLEVEL = {}\n".format(*version))
    parameters = GuestConfig(kernel=f"{tree}{words}").kernel_parameters().split()
    checked = words not in ("", ":coverage")
    assert ("nokaslr" in parameters) == (version < (6, 12) or not checked)
    # What an object was before, kmemleak would take for addresses that are used.
    assert ("init_on_alloc=1" in parameters) == (words == ":debug")
    # Since 6.18 it would find leaked objects in SLUB's sheaves.
    assert ("slab_debug=F" in parameters) == (version >= (6, 18) and words == ":debug")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (":fll", "'fll' is neither minimal, full, debug, fuzz nor coverage, .* did you mean full"),
        (":full:minimal", "a tree has one configuration"),
        (":debug:debug", "may be followed by debug or fuzz once"),
        (":debug:fuzz", "may be followed by debug or fuzz once"),
        (":coverage:coverage", "and by coverage once"),
        (":coverage=/a.c", "'/a.c' is no C source in the tree"),
        (":coverage=../a.c", "'../a.c' is no C source in the tree"),
        (":coverage=a.h", "'a.h' is no C source in the tree"),
        (":coverage=", "'.' is no C source in the tree"),
        (":./none", "the configuration .*/none does not exist"),
        (":", "'' is neither"),
    ],
)
def test_wrong_words_after_a_tree(tree: Path, words: str, text: str) -> None:
    for place in (str(tree), "source:6.1"):
        with pytest.raises(UsageError, match=text):
            tree_name(place + words)


@pytest.mark.parametrize("name", ("source:", "source:six", "source:6", "source:6.1.2"))
def test_source_without_a_series(name: str) -> None:
    with pytest.raises(UsageError, match="after 'source:' comes a series"):
        tree_name(name)


@pytest.mark.parametrize("name", ("bookworm", "nosuch:debug", "bookworm:full", "source", "6.1"))
def test_what_is_not_named_as_a_tree(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tree_name(name) is None


def test_how_tests_are_called_on_a_tree(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    named = {"bookworm": "bookworm", str(tree): "linux", ".": "linux", "source:6.1": "source:6.1"}
    named |= {f"{tree}:debug": "linux:debug", "source:6.1:full": "source:6.1:full"}
    named |= {f"{tree}:{tree}/init.c:debug": "linux:init.c:debug", "/boot/vmlinuz": "vmlinuz"}
    assert {name: kernel_id(name) for name in named} == named


def test_known_defects_of_a_tree_are_those_of_its_series(tree: Path) -> None:
    assert "bookworm" in defects_of(str(tree)) and "bookworm" in defects_of("source:6.1:debug")
    assert "trixie" in defects_of("source:6.12") and "bookworm" not in defects_of("source:6.12")
    assert defects_of("source:6.12:debug") > {"trixie", "debug", "trixie:debug"}
    assert not defects_of("source:6.12:fuzz") & {"debug", "trixie:debug"}
    (tree / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 5\n")
    assert defects_of(str(tree)) == {str(tree)}
    assert defects_of("debug") == {"debug", "bookworm", "bookworm:debug"}
    (tree / "Makefile").write_text("VERSION = 7\nPATCHLEVEL = 2\n")
    assert "sid" not in defects_of(str(tree))

    def unpacked(folder: Path) -> None:
        (folder / "boot").mkdir(parents=True)
        (folder / "boot/vmlinuz-7.2.13").touch()
        (folder / "lib/modules/7.2.13/kernel").mkdir(parents=True)

    (cache_root() / "kernel-of-sid").write_text(entry("kernel", "sid-7.2.13", unpacked).name)
    assert {"sid", "sid:debug"} < defects_of(f"{tree}:debug")


@pytest.mark.parametrize(
    ("series", "suite"),
    [
        ("5.10", "bookworm"),
        ("6.1", "bookworm"),
        ("6.11", "bookworm"),
        ("6.12", "trixie"),
        ("6.13", "sid"),
        ("7.2", "sid"),
    ],
)
def test_nearest_suite_of_a_series(series: str, suite: str) -> None:
    assert suite_of(series) == suite


def kconfigs(tree: Path) -> list[str]:
    return [str(tree / name) for name in tree_state(tree).kconfigs]


OURS = '# Why.\nCONFIG_A=y\nCONFIG_IUCV=y\nCONFIG_M=m\n# CONFIG_OFF is not set\nCONFIG_KEYS=""\n'


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        ("CONFIG_A=y\nCONFIG_IUCV=y\nCONFIG_M=m\n", None),
        (
            "# CONFIG_A is not set\nCONFIG_IUCV=y\nCONFIG_M=m\n",
            "T does not take CONFIG_A=y, because",
        ),
        ("CONFIG_A=y\nCONFIG_IUCV=y\n", "T does not know CONFIG_M"),
        ("CONFIG_IUCV=y\n", "T does not know CONFIG_M and does not take CONFIG_A=y, because"),
        ("CONFIG_A=y\nCONFIG_IUCV=y\nCONFIG_M=y\n", "T does not take CONFIG_M=m, because"),
        (
            "CONFIG_A=y\nCONFIG_IUCV=y\nCONFIG_M=m\nCONFIG_OFF=y\n",
            "T does not take # CONFIG_OFF is",
        ),
    ],
)
def test_what_a_tree_does_not_take_is_told(tree: Path, made: str, sentence: str | None) -> None:
    found = judge(OURS, made, kconfigs(tree), "T")
    assert found is None if sentence is None else (found or "").startswith(sentence)


def test_tree_that_cannot_be_a_guests_kernel(tree: Path) -> None:
    found = kconfigs(tree)
    made = "CONFIG_A=y\nCONFIG_M=m\n"
    with pytest.raises(UsageError, match="T cannot be a guest's kernel: CONFIG_IUCV is off, becau"):
        judge(OURS, made, found, "T")
    (tree / "init/Kconfig").write_text("")
    with pytest.raises(UsageError, match="T cannot be a guest's kernel: CONFIG_IUCV is unknown"):
        judge(OURS, made, found, "T")


def test_dropped_options_are_told_once(
    tree: Path, built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    (kbuild.CONFIGS / "kernel.config").write_text("CONFIG_A=y\nCONFIG_LOST_ONE=y\n")
    built(say=Progress())
    assert "linux does not know CONFIG_LOST_ONE\n" in capsys.readouterr().err
    (tree / DRIVER).write_text("int other;\n")
    built(say=Progress())
    assert "LOST" not in capsys.readouterr().err


def test_full_configuration_has_a_reason_for_every_group() -> None:
    text = (ROOT / "guest/full.config").read_text("utf-8")
    for block in text.split("\n\n"):
        assert block.startswith("# ") and re.search(r"^(# )?CONFIG_|^# SPDX", block, re.MULTILINE)
    common = (ROOT / "guest/kernel.config").read_text("utf-8")
    names = set(re.findall(r"^(?:# )?(CONFIG_\w+)[ =]", text, re.MULTILINE))
    assert names and not names & set(re.findall(r"CONFIG_\w+", common))
    for name in tree_config.NEEDED:
        assert f"CONFIG_{name}=" in common, name


def test_fetch_prints_what_was_built(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch", f"{tree}:debug"]) == 0
    out = capsys.readouterr().out
    assert re.fullmatch(rf"{tree}:debug: 6.1.9-test /\S+/boot/vmlinuz-6.1.9-test\n", out)
    (tree / DRIVER).write_text("BROKEN\n")
    kernel_tree._built.clear()
    assert main(["fetch", f"{tree}:debug"]) == 2
    assert f"{DRIVER}:12:3: error: expected ';'" in capsys.readouterr().err
