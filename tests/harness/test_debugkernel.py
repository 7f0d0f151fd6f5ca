# SPDX-License-Identifier: MIT
"""The debug kernel's configuration, source and cache entry; the compiler is a script here."""

from __future__ import annotations

import os
import re
import tarfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import pytest
from fake_tools import put_tools

from zvmlab.base.errors import CannotRun, ZvmlabError
from zvmlab.base.owned import MARK
from zvmlab.base.progress import Progress
from zvmlab.builder import debugkernel, kbuild, kernel_patches, linux_source
from zvmlab.builder.debugkernel import debug_kernel
from zvmlab.builder.kbuild import COMMON, CONFIGS, lost_lines
from zvmlab.builder.kernel import DEBUG, slowness
from zvmlab.builder.kernels import resolve
from zvmlab.builder.linux_files import BUILT_IN, LinuxFile, gcov_folder
from zvmlab.builder.modules import builtin
from zvmlab.builder.packages import Package

# Does what the kernel's makefile does for each goal that is asked for.
MAKE = r"""#!/bin/sh
echo "make $*"
env | grep -E '^(MAKEFLAGS|KCFLAGS|KBUILD_)' && exit 9
for word; do
	case $word in
	KCONFIG_ALLCONFIG=*) config=${word#*=} ;;
	INSTALL_MOD_PATH=*) into=${word#*=} ;;
	esac
done
for word; do
	case $word in
	allnoconfig)
		grep -v "^CONFIG_LOST" "$config" >.config
		mkdir -p include/config
		echo 1.2.3-debug >include/config/kernel.release ;;
	bzImage)
		[ ! -e broken ] || { echo "broken.c:1: no such thing"; exit 2; }
		case "$*" in *GCOV_PROFILE_a.o=y*) echo notes >drivers/a.gcno ;; esac
		echo image >arch/s390/boot/bzImage
		touch System.map Module.symvers ;;
	modules_install)
		mkdir -p "${into:?}/lib/modules/1.2.3-debug/kernel"
		echo kernel/net/iucv/iucv.ko >"$into/lib/modules/1.2.3-debug/modules.builtin"
		ln -s "$PWD" "$into/lib/modules/1.2.3-debug/build" ;;
	esac
done
"""


@dataclass
class Archive:
    """Debian's archive: one source package, unless it cannot be reached."""

    deb: Path
    version: str = "1.2.3-1"
    reachable: bool = True
    asked: list[str] = field(default_factory=list)

    def __call__(self, name: str, _arch: str, progress: Progress) -> Archive:
        self.asked.append(name)
        return self

    def update(self) -> bool:
        if not self.reachable:
            raise CannotRun("no network")
        return True

    def package(self, name: str) -> Package:
        sha256 = f"{self.version:0<64}"
        return Package(name, self.version, sha256, 1, f"pool/{name}_{self.version}_all.deb", "")

    def find(self, pattern: str) -> list[Package]:
        assert re.fullmatch(pattern, "linux-source-1.2")
        assert not re.fullmatch(pattern, "linux-source")
        return [self.package("linux-source-1.2")]

    def download(self, name: str, into: Path) -> Path:
        file = into / f"{name}.deb"
        file.write_bytes(self.deb.read_bytes())
        return file


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """A private cache, an archive with a small kernel, and tools that are scripts."""
    tree = tmp_path / "linux-source-1.2"
    for name in ("Makefile", "scripts/mod/modpost.c", "arch/s390/Makefile", "drivers/a.c"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(name)
    for correction, text in (
        (kernel_patches.RCU_TASKS, "\trcuwait_wait_event(&rtp->cbs_wait, found, TASK_IDLE);\n"),
        (
            kernel_patches.LOADER,
            "\terr = move_module(info->mod, info);\n\tif (err)\n\t\treturn ERR_PTR(err);\n",
        ),
        (
            kernel_patches.DEVICE_CLASS,
            "\terror = kset_register(&cp->subsys);\n\tif (error) {\n\t\tkfree(cp);\n",
        ),
    ):
        (tree / correction.file).parent.mkdir(parents=True)
        (tree / correction.file).write_text(text)
    for name in ("include", "arch/s390/include", "arch/s390/boot"):
        (tree / name).mkdir(parents=True)
    put_tools(tmp_path / "bin", MAKE, monkeypatch)
    (tmp_path / "bin/xz").unlink()
    configs = tmp_path / "configs"
    configs.mkdir()
    (configs / COMMON).write_text("# Why.\nCONFIG_A=y\n# CONFIG_B is not set\n")
    (configs / "debug.config").write_text("CONFIG_DEBUG_KERNEL=y\n")
    (configs / "coverage.config").write_text("CONFIG_GCOV_KERNEL=y\n")
    made = Archive(tmp_path / "deb")

    def unpack(deb: Path, folder: Path) -> None:
        assert deb.is_file()
        (folder / "usr/src").mkdir(parents=True)
        with tarfile.open(folder / "usr/src/linux-source-1.2.tar.xz", "w:xz") as tar:
            tar.add(tree, "linux-source-1.2")

    made.deb.write_bytes(b"deb")
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MAKEFLAGS", "C=1")
    monkeypatch.setenv("KCFLAGS", "-Dx")
    monkeypatch.setattr(linux_source, "Suite", made)
    monkeypatch.setattr(kbuild, "CONFIGS", configs)
    counted = [LinuxFile(PurePosixPath("drivers/a.c"), "nothing")]
    monkeypatch.setattr(debugkernel, "linux_files", lambda: counted)
    monkeypatch.setattr(debugkernel, "compiler_version", lambda: b"12.2.0")
    monkeypatch.setattr(linux_source, "unpack", unpack)
    return made


def settings(text: str) -> list[str]:
    """Names of the options that a configuration sets."""
    return re.findall(r"^(?:# )?(CONFIG_\w+)[ =]", text, re.MULTILINE)


def configuration(name: str) -> str:
    """All that a kernel is configured with."""
    return "\n".join((CONFIGS / file).read_text("utf-8") for file in (COMMON, f"{name}.config"))


@pytest.mark.parametrize("name", DEBUG)
def test_configuration_has_a_reason_for_every_group_and_names_nothing_twice(name: str) -> None:
    text = configuration(name)
    names = settings(text)
    assert len(names) == len(set(names)) > 50
    for block in text.split("\n\n"):
        assert block.startswith("# "), block
    assert f'CONFIG_LOCALVERSION="-zvmlab-{name}"\n' in text


def test_debug_kernel_checks_memory_locks_and_failing_calls() -> None:
    text = configuration("debug")
    for wanted in ("KASAN", "PROVE_LOCKING", "DEBUG_ATOMIC_SLEEP", "DEBUG_KMEMLEAK", "UBSAN"):
        assert f"CONFIG_{wanted}=y\n" in text
    for wanted in ("FAILSLAB", "FAULT_INJECTION_USERCOPY", "FAULT_INJECTION_DEBUG_FS"):
        assert f"CONFIG_{wanted}=y\n" in text


@pytest.mark.parametrize(
    ("wanted", "made", "lost"),
    [
        ("# Why.\nCONFIG_A=y\n", "CONFIG_A=y\nCONFIG_C=m\n", []),
        ("CONFIG_A=y\n", "# CONFIG_A is not set\n", ["CONFIG_A=y"]),
        ("CONFIG_A=y\n", "", ["CONFIG_A=y"]),
        ("CONFIG_A=m\n", "CONFIG_A=y\n", ["CONFIG_A=m"]),
        ("CONFIG_A=64\n", "CONFIG_A=6\nCONFIG_A=640\n", ["CONFIG_A=64"]),
        ("# CONFIG_A is not set\n", "# CONFIG_A is not set\n", []),
        ("# CONFIG_A is not set\n", "CONFIG_AB=y\n", []),
        ("# CONFIG_A is not set\n", "CONFIG_A=y\n", ["# CONFIG_A is not set"]),
    ],
)
def test_lines_that_a_configuration_lacks(wanted: str, made: str, lost: list[str]) -> None:
    assert lost_lines(wanted, made) == lost


def test_entry_is_a_kernel_with_modules_and_a_tree_to_build_against(
    archive: Archive, tmp_path: Path
) -> None:
    kernel = resolve("debug", progress=Progress(quiet=True))
    assert archive.asked == ["bookworm"]
    assert (kernel.version, kernel.suite) == ("1.2.3-debug", "debug")
    assert kernel.image.read_text() == "image\n"
    assert kernel.modules is not None and builtin(kernel) == {"iucv"}
    build = kernel.modules / "build"
    assert not build.is_symlink()
    assert (build / "scripts/mod/modpost.c").is_file() and (build / "Module.symvers").is_file()
    assert not (build / "drivers").exists()
    config = (kernel.image.parent / "config-1.2.3-debug").read_text()
    assert config.startswith("# Why.\nCONFIG_A=y\n") and "CONFIG_DEBUG_KERNEL=y\n" in config
    assert gcov_folder(kernel) is None
    entry = next((tmp_path / "cache").glob("debugkernel-1.2.3-1-*"))
    assert kernel.image.is_relative_to(entry)
    made = sorted(file.name for file in entry.iterdir() if file.name != MARK)
    assert made == ["boot", "build.log", "lib"]
    said = (entry / "build.log").read_text()
    assert "bzImage modules\n" in said and "CROSS_COMPILE=s390x-linux-gnu- LOCALVERSION= " in said
    assert not list((tmp_path / "cache").glob("debugkernel-*.log"))


def test_coverage_kernel_keeps_the_notes_of_what_it_counts(
    archive: Archive, tmp_path: Path
) -> None:
    kernel = resolve("coverage", progress=Progress(quiet=True))
    gcov = gcov_folder(kernel)
    assert gcov is not None and (gcov / "drivers/a.gcno").read_text() == "notes\n"
    built_in = Path((gcov / BUILT_IN).read_text().strip())
    assert built_in.is_absolute() and built_in.name == "tree" and not built_in.exists()
    config = (kernel.image.parent / "config-1.2.3-debug").read_text()
    assert "CONFIG_GCOV_KERNEL=y\n" in config and "CONFIG_DEBUG_KERNEL" not in config
    assert archive.asked == ["bookworm"]
    assert debug_kernel("debug", Progress(quiet=True)).image != kernel.image


def test_source_that_counts_and_is_not_compiled_is_an_error(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert archive.reachable
    other = LinuxFile(PurePosixPath("drivers/b.c"), "nothing")
    monkeypatch.setattr(debugkernel, "linux_files", lambda: [other])
    with pytest.raises(ZvmlabError, match="coverage kernel has not compiled drivers/b.c"):
        debug_kernel("coverage", Progress(quiet=True))


def test_it_is_built_once_for_each_configuration_compiler_and_source(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = Progress(quiet=True)

    def image() -> Path:
        return debug_kernel("debug", quiet).image

    seen = [image()]
    assert image() == seen[0]
    (kbuild.CONFIGS / COMMON).write_text("# Why.\nCONFIG_A=m\n")
    seen.append(image())
    monkeypatch.setattr(debugkernel, "compiler_version", lambda: b"12.2.1")
    seen.append(image())
    archive.version = "1.2.3-2"
    assert image() == seen[-1]  # not asked for again today
    old = time.time() - 2 * 86400
    os.utime(tmp_path / "cache/debug-source-of-bookworm", (old, old))
    seen.append(image())
    assert len(set(seen)) == 4
    assert archive.asked == ["bookworm", "bookworm"]


def test_last_source_is_used_when_the_archive_is_out_of_reach(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.reachable = False
    with pytest.raises(CannotRun, match="no network"):
        debug_kernel("debug")
    archive.reachable = True
    image = debug_kernel("debug").image
    old = time.time() - 2 * 86400
    os.utime(tmp_path / "cache/debug-source-of-bookworm", (old, old))
    archive.reachable = False
    assert debug_kernel("debug").image == image
    assert "using the kernel source 1.2.3-1 of bookworm: no network" in capsys.readouterr().err


def test_configuration_that_cannot_be_had_is_an_error(archive: Archive, tmp_path: Path) -> None:
    (kbuild.CONFIGS / "debug.config").write_text("# Why.\nCONFIG_LOST=y\n")
    with pytest.raises(ZvmlabError, match="its configuration drops CONFIG_LOST=y"):
        debug_kernel("debug", Progress(quiet=True))
    assert not list((tmp_path / "cache").glob("debugkernel-1*"))


def test_failed_build_leaves_its_log(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "linux-source-1.2" / "broken").touch()
    with pytest.raises(ZvmlabError, match="building the debug kernel failed: 'make'") as caught:
        debug_kernel("debug", Progress(quiet=True))
    assert "broken.c:1: no such thing" in str(caught.value)
    (log,) = (tmp_path / "cache").glob("debugkernel-1*")
    assert log.is_file() and f"the log is {log} and" in str(caught.value)
    assert "broken.c:1: no such thing" in log.read_text()


def test_missing_tools_are_named_together(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: Callable[[str], str | None] = lambda tool: None if tool in ("bc", "xz") else tool
    monkeypatch.setattr("shutil.which", there)
    with pytest.raises(CannotRun, match="needs: apt-get install bc xz-utils$"):
        debug_kernel("debug", Progress(quiet=True))


def test_names_and_slowness() -> None:
    assert set(DEBUG.values()) <= {"bookworm", "trixie", "sid"}
    assert all(slowness(name) > 1 for name in DEBUG)
    assert slowness("bookworm") == slowness("/boot/vmlinuz") == 1.0
