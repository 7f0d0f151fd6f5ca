# SPDX-License-Identifier: MIT
"""Building QEMU with our device into the cache.

The version is that of Debian's stable release, on every host; sid's, which is the next one, is
built if asked for (TARBALLS).

Two stages.  The base is Debian's upstream tarball, unpacked and configured; its object
files are kept.  Each build makes our changes in it (sim/qemu/changes), puts our files there, and
compiles what is different from the build before: a change of the core costs seconds, and so does
leaving out one of the changes (WITHOUT).  The artifact is one executable per state of our sources:

    qemu-KEY/bin/qemu-system-s390x
    qemu-KEY/share/qemu/s390-ccw.img    found by QEMU relative to the executable

``python3 -m zvmlab.builder.qemubuild`` builds if need be and prints the executable's path;
with ``--sources`` it prints where the tarballs of all versions are unpacked, for
sim/qemu/patches.py.
"""

from __future__ import annotations

import collections
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from zvmlab.base.cache import cache_root, digest, entry, locked
from zvmlab.base.errors import CannotRun, UsageError, ZvmlabError, exit_code
from zvmlab.base.owned import claim, discard
from zvmlab.base.progress import Progress
from zvmlab.base.shipped import or_install
from zvmlab.base.tree import TREE
from zvmlab.builder import kernel, module_mk
from zvmlab.builder.buildstep import UNTAR, run_step
from zvmlab.builder.host_programs import host_arch
from zvmlab.builder.packages import Suite
from zvmlab.builder.precompiled import precompile
from zvmlab.builder.sourcepackage import Tarball, our_sources

SUITE = "trixie"
"""Where QEMU, its boot ROM and the meson that builds it come from."""
STABLE = "10.0"
# The versions that our device is made for: that of SUITE, and the next; sid's comes and goes.
TARBALLS = {
    STABLE: Tarball(
        "qemu",
        SUITE,
        "qemu_10.0.13+ds.orig.tar.xz",
        "6a0888e806c2ffc0c5f0733e974f9aea55491950d3c47c98669c8b236dde59ae",
        later="qemu_10.0.*+ds.orig.tar.xz",
    ),
    "11.1": Tarball(
        "qemu",
        "sid",
        "qemu_11.1.1+ds.orig.tar.xz",
        "0b1376e75dbe3e2fea4e408f8669f88a723f419f36a5b7d74cc6a4cfe07e4f5e",
        later="qemu_11.1.*+ds.orig.tar.xz",
    ),
}
CONFIGURE = (
    "--target-list=s390x-softmmu",
    "--without-default-features",
    "--enable-tcg",
    "--disable-install-blobs",
    "--disable-docs",
    "--disable-guest-agent",
    "--disable-tools",
    "--disable-debug-info",
    "--disable-werror",
    # A program at a fixed place starts without 89,000 relocations, and so without a copy of each page
    # that has one.
    "--disable-pie",
    "--extra-ldflags=-no-pie",
    # precompiled.py makes several for one header, and each file takes that which fits.  Registers
    # that each function clears, so that an attacker finds fewer of its ends to jump to, cost much
    # in the translator, which writes code that can be jumped to by the megabyte.
    "--extra-cflags=-Wno-invalid-pch -fzero-call-used-regs=skip",
    # Debian's tarball has no copy of it, and our machine no use for it.
    "--disable-fdt",
)
TARGET = "qemu-system-s390x"
ARTIFACT = f"bin/{TARGET}"
FIRMWARE = "s390-ccw.img"
CONFIGURE_SECONDS = 600
BUILD_SECONDS = 3600
TOOLS = {"gcc": "gcc", "ninja": "ninja-build", "pkg-config": "pkg-config"}
LIBRARIES = {
    "glib-2.0": "libglib2.0-dev",
    "pixman-1": "libpixman-1-dev",
    "jansson": "libjansson-dev",
}
# It is Python, and runs where it lies, on a machine with another version or none.
_MESON = "usr/lib/python3/dist-packages/mesonbuild/mesonmain.py"
PORT = "sim/qemu"
WITHOUT = "ZVMLAB_QEMU_WITHOUT"
VERSION = "ZVMLAB_QEMU_VERSION"
# For patch files only.
NOT_FOR_BUILDS = ("patches.py",)
_CHANGES = "harness/zvmlab/base/source_change.py"
_BASE = ("source", "pristine", "build.log", "ready")

_KIND = "qemu"


def source_root() -> Path:
    """The clone that this package belongs to."""
    root = TREE
    if not (root / PORT / "insert.py").is_file():
        raise CannotRun(f"{root} has no sim/qemu; only a clone of zvmlab can build QEMU")
    return root


def left_out() -> list[str]:
    """Names of changes in sim/qemu/changes/speed that are not to be in the build."""
    return sorted(set(os.environ.get(WITHOUT, "").split()))


def version() -> str:
    """Of QEMU: STABLE, or what the environment asks for."""
    asked = os.environ.get(VERSION) or STABLE
    if asked not in TARBALLS:
        raise UsageError(f"{VERSION}={asked}: QEMU is built as {' or '.join(TARBALLS)}")
    return asked


def base_key() -> str:
    """Changes whenever QEMU has to be configured and compiled anew."""
    return digest(TARBALLS[version()].sha256, " ".join(CONFIGURE))


def build_key(root: Path) -> str:
    """Changes with everything that the executable is made of."""
    without = " ".join(["without", *left_out()])
    parts: list[str | Path] = [base_key(), without]
    for file in module_mk.files(root, module_mk.closure(root, PORT)):
        if file.name not in NOT_FOR_BUILDS:
            parts += [str(file.relative_to(root)), file]
    return digest(*parts, root / _CHANGES)


def _need_tools() -> None:
    """What is missing on this machine, all at once."""
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if "pkg-config" not in missing:
        for library, package in LIBRARIES.items():
            if subprocess.run(["pkg-config", "--exists", library], check=False).returncode:
                missing.append(package)
    if missing:
        raise CannotRun(
            f"building QEMU needs: apt-get install {' '.join(missing)}{or_install('zvmlab-qemu')}"
        )


def _meson(progress: Progress) -> Path:
    """The folder of Python modules with SUITE's meson."""
    file = entry("meson", SUITE, lambda folder: _unpack("meson", folder, progress), _MESON)
    return file.parent.parent


def _unpack(package: str, folder: Path, progress: Progress) -> None:
    """The contents of one of SUITE's packages."""
    suite = Suite(SUITE, host_arch(), progress=progress)
    suite.update()
    kernel.unpack(suite.download(package, folder / "deb"), folder)
    shutil.rmtree(folder / "deb")


def ninja_progress(line: str) -> tuple[int, int] | None:
    """Steps done and in all, of a line such as "[523/1215] Compiling ..."."""
    match = re.match(r"\[(\d+)/(\d+)\] ", line)
    return (int(match[1]), int(match[2])) if match else None


def _run(argv: list[str], cwd: Path, log: Path, seconds: int) -> Iterator[str]:
    """A step of QEMU's build, with ninja counting its steps."""
    env = {**os.environ, "PYTHONPATH": str(_meson(Progress())), "NINJA_STATUS": "[%f/%t] "}
    return run_step("building QEMU", argv, cwd, log, seconds, env)


def _prepare(root: Path, base: Path, progress: Progress) -> None:
    """Unpack and configure, with all of our lines; *base* is complete when "ready" exists."""
    source, log = base / "source", base / "build.log"
    if (base / "ready").exists() and _configured_at(source) and not _from_the_future(source):
        _insert(root, base)
        return
    tarball = TARBALLS[version()].fetch(progress)
    discard(base)
    claim(base)
    (source / "build").mkdir(parents=True)
    with progress.step("unpacking and configuring QEMU"):
        unpack = [*UNTAR, str(tarball), "--strip-components=1"]
        collections.deque(_run(unpack, source, log, CONFIGURE_SECONDS), maxlen=0)
        _insert(root, base)
        configure = _run(["../configure", *CONFIGURE], source / "build", log, CONFIGURE_SECONDS)
        collections.deque(configure, maxlen=0)
    (base / "ready").touch()


def _insert(root: Path, base: Path) -> None:
    """Our lines and files in QEMU's source are those of the clone, no more and no less."""
    source = base / "source"
    options = [f"--without={name}" for name in left_out()]
    argv = [sys.executable, "-B", str(root / PORT / "insert.py"), *options]
    argv += [f"--pristine={base / 'pristine'}", str(source)]
    collections.deque(_run(argv, source, base / "build.log", CONFIGURE_SECONDS), maxlen=0)
    _copy_ours(root, source)


def _configured_at(source: Path) -> bool:
    """Does QEMU's build know *source* as its place?  A cache can be moved."""
    try:
        made = (source / "build" / "config-host.mak").read_text(encoding="utf-8")
    except OSError:
        return False
    return f"\nSRC_PATH={source}\n" in made


def _from_the_future(source: Path) -> bool:
    """Has the clock been set back?  Then ninja takes its objects to be newer than what we write."""
    try:
        return (source / "build" / ".ninja_log").stat().st_mtime_ns > time.time_ns()
    except OSError:
        return False


def _write_if_changed(data: bytes, to: Path) -> None:
    """Write, but leave an equal file's time stamp alone: ninja goes by it."""
    if to.is_file() and to.read_bytes() == data:
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(data)


def _list(words: Iterable[str], function: str = "") -> str:
    """A list in meson's language, or a call with these arguments."""
    quoted = ", ".join(f"'{word}'" for word in words)
    return f"{function}({quoted})" if function else f"[{quoted}]"


def _packages(names: Iterable[str]) -> str:
    return "[" + ", ".join(f"dependency('{name}')" for name in names) + "]"


def core_meson_build(root: Path) -> str:
    """core/meson.build: what sim/qemu/meson.build uses, made of what the module.mk say."""
    port, *modules = module_mk.closure(root, PORT)
    text = "# Made by qemubuild.py out of module.mk.\nzvmlab_archives = []\n"
    for module in modules:
        folders = module_mk.include_folders(root, module)
        # _GNU_SOURCE as in the core's own Makefile, not as in QEMU.
        text += (
            f"zvmlab_archives += static_library('zvmlab-{module.name.replace('/', '-')}',\n"
            f"  {_list(module.sources)},\n"
            f"  include_directories: {_list(folders, 'include_directories')},\n"
            f"  dependencies: {_packages(module.packages)},\n"
            "  c_args: '-U_GNU_SOURCE',\n"
            "  build_by_default: false)\n"
        )
    own = [f"../{file.removeprefix(f'{PORT}/')}" for file in port.sources]
    folders = module_mk.include_folders(root, port)[1:]
    text += f"zvmlab_port = {_list(own, 'files')}\n"
    text += f"zvmlab_includes = {_list(folders, 'include_directories')}\n"
    return text + f"zvmlab_packages = {_packages(port.packages)}\n"


def _copy_ours(root: Path, source: Path) -> None:
    """Our files in QEMU's tree are those of the clone, no more and no less."""
    ours = source / "hw" / "s390x" / "zvmlab"
    wanted = {
        ours / f.name: f.read_bytes()
        for f in our_sources(root / PORT)
        if f.parent == root / PORT and f.suffix in (".c", ".h", ".build")
    }
    for file in module_mk.files(root, module_mk.closure(root, PORT)[1:]):
        wanted[ours / "core" / file.relative_to(root)] = file.read_bytes()
    wanted[ours / "core" / "meson.build"] = core_meson_build(root).encode()
    header = wanted.pop(ours / "zvmlab.h")
    for to, data in wanted.items():
        _write_if_changed(data, to)
    _write_if_changed(header, source / "include" / "hw" / "s390x" / "zvmlab.h")
    for stale in (f for f in ours.rglob("*") if f.is_file() and f not in wanted):
        stale.unlink()


def _compile(base: Path, progress: Progress) -> Path:
    source, log = base / "source", base / "build.log"
    build = source / "build"
    with progress.step("building QEMU with the CP") as step:
        try:
            precompile(source, TARGET, lambda argv: _run(argv, build, log, CONFIGURE_SECONDS))
            for line in _run(["ninja", TARGET], build, log, BUILD_SECONDS):
                counts = ninja_progress(line)
                if counts is not None:
                    step.update(*counts)
        except ZvmlabError as error:
            error.add_note(f"If the sources are right, remove {base}: it is then made anew.")
            raise
    return build / TARGET


def _firmware(progress: Progress) -> Path:
    """QEMU's boot ROM for this machine type: Debian's, installed or unpacked privately."""
    installed = Path("/usr/share/qemu") / FIRMWARE
    if installed.is_file():
        return installed

    def unpack(folder: Path) -> None:
        _unpack("qemu-system-data", folder, progress)

    return entry("qemu-data", SUITE, unpack, f"usr/share/qemu/{FIRMWARE}")


def build_qemu(progress: Progress | None = None) -> Path:
    """The executable made of the sources as they are; built if it is not in the cache."""
    shown = progress or Progress()
    root = source_root()
    base = cache_root() / f"qemu-base-{base_key()}"

    def build(folder: Path) -> None:
        _need_tools()
        _meson(shown)
        firmware = _firmware(shown)
        with locked(base.name):
            claim(base, lambda path: path.name in _BASE)
            (base / "build.log").unlink(missing_ok=True)
            _prepare(root, base, shown)
            program = _compile(base, shown)
            for name in ("bin", "share/qemu"):
                (folder / name).mkdir(parents=True)
            shutil.copy2(program, folder / "bin" / TARGET)
            shutil.copy2(firmware, folder / "share" / "qemu" / FIRMWARE)

    return entry(_KIND, lambda: build_key(root), build, ARTIFACT)


def qemu_entry() -> str:
    """The executable's folder in the cache."""
    return f"{_KIND}-{build_key(source_root())}"


def pristine_source(tarball: Tarball, progress: Progress | None = None) -> Path:
    """QEMU's source as it is in Debian's tarball, unpacked in the cache."""
    file = tarball.fetch(progress or Progress())

    def unpack(folder: Path) -> None:
        argv = [*UNTAR, str(file), "--strip-components=1", "-C", str(folder)]
        subprocess.run(argv, check=True, timeout=CONFIGURE_SECONDS)

    return entry("qemu-pristine", tarball.sha256[:16], unpack, "VERSION").parent


def main(argv: list[str]) -> None:
    """Print the executable's path, or with --sources where QEMU's own sources are."""
    sources = argv[1:] == ["--sources"]
    print(*(map(pristine_source, TARBALLS.values()) if sources else [build_qemu()]), sep="\n")


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv)))
