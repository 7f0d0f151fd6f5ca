# SPDX-License-Identifier: MIT
"""Building driver/ for a guest kernel.

    module = driver_module(resolve("trixie"))       # …/monreader.ko

A kernel of Debian is built for with Debian's headers of exactly that kernel, its
kbuild programs and the compiler it was made with, all unpacked into the cache.
Any other kernel needs its build folder where the kernel's own ``make
modules_install`` puts it, lib/modules/VERSION/build, and is built for with this
machine's cross compiler.

``python3 -m zvmlab.build.driverbuild KERNEL…`` builds if need be and prints the paths.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import cache_root, digest, entry
from zvmlab.base.errors import CannotRun, UsageError, ZvmlabError, exit_code
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.build.buildstep import LOG_TAIL, run_tool
from zvmlab.build.host_programs import host_arch, unpack_programs
from zvmlab.build.kernel import ARCH, Kernel, unpack
from zvmlab.build.kernels import DEBIAN, resolve
from zvmlab.build.packages import Suite

MODULE = "monreader.ko"
CROSS = "s390x-linux-gnu-"
MAKE_SECONDS = 600
# Parts of the packages that modules are not built with.
_USELESS = (
    "usr/share",
    "usr/s390x-linux-gnu/lib",
    "usr/s390x-linux-gnu/include",
    "usr/bin/*lto-dump*",
    "**/lto1",
)


@dataclass(frozen=True)
class Build:
    """What modules for a kernel are built with."""

    folder: Path
    """KDIR: the kernel's build folder."""
    compiler: str
    """Name of the compiler."""
    programs: Path | None
    """Folder to look for programs in first, if it is not this machine's."""

    def environment(self) -> dict[str, str]:
        """Environment for make."""
        env = {**os.environ, "LC_ALL": "C.UTF-8"}
        if self.programs is not None:
            env["PATH"] = f"{self.programs}:{env['PATH']}"
        return env

    def variables(self) -> list[str]:
        """Variables for make."""
        return [f"KDIR={self.folder}", "ARCH=s390", f"CROSS_COMPILE={CROSS}", f"CC={self.compiler}"]


def driver_source() -> Path:
    """The folder driver/ of this clone."""
    folder = TREE / "driver"
    if not (folder / "Kbuild").is_file():
        raise CannotRun(f"{folder} is missing; only a clone of zvmlab can build the driver")
    return folder


def driver_module(kernel: Kernel, progress: Progress | None = None) -> Path:
    """Our monreader.ko for that kernel; built if it is not in the cache."""
    return built_module(driver_source(), MODULE, kernel, progress)


def built_module(
    source: Path, module: str, kernel: Kernel, progress: Progress | None = None
) -> Path:
    """The .ko that the folder *source* (Kbuild, Makefile, .c, .h) gives for that kernel."""
    shown = progress or Progress()
    build = build_folder(kernel, shown)
    sources = sorted(p for p in source.iterdir() if p.suffix in (".c", ".h"))
    sources += [source / name for name in ("Kbuild", "Makefile")]

    def make(folder: Path) -> None:
        work = folder / "work"
        work.mkdir()
        for file in sources:
            shutil.copy(file, work)
        with shown.step(f"building {source.name}/ for {kernel.version}"):
            run_make(build, work, "modules")
            _strip(work / module, build)
        shutil.copy(work / module, folder / module)
        shutil.rmtree(work)

    names = [f"{source.name}:" for source in sources]
    key = digest(kernel.version, str(build), _stamp(build), *names, *sources)
    return entry("driver", key, make, module)


def run_make(build: Build, folder: Path, target: str, *variables: str) -> str:
    """Run make in a copy of driver/; return what it printed."""
    return _run(
        ["make", "-C", str(folder), *build.variables(), *variables, target],
        build,
        f"building driver/ with {build.folder}",
    )


def _strip(module: Path, build: Build) -> None:
    """Without its debugging information: guests have it in storage."""
    _run([f"{CROSS}strip", "--strip-debug", str(module)], build, "stripping the module")


def _run(argv: list[str], build: Build, what: str) -> str:
    done = run_tool(what, argv, MAKE_SECONDS, build.environment())
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-LOG_TAIL:])
        raise ZvmlabError(f"{what} failed with exit code {done.returncode}:\n{tail}")
    return done.stdout


def _stamp(build: Build) -> str:
    """Changes with the kernel's configuration and exports."""
    files = [build.folder / name for name in (".config", "Module.symvers")]
    return digest(*(file for file in files if file.is_file()))


def build_folder(kernel: Kernel, progress: Progress | None = None) -> Build:
    """What modules for this kernel are built with; fetched if need be."""
    if kernel.suite in DEBIAN:
        return _of_debian(kernel, progress or Progress())
    folder = kernel.modules / "build" if kernel.modules else None
    if folder is None or not (folder / "Makefile").is_file():
        raise UsageError(
            f"kernel {kernel.version} has no build folder (lib/modules/{kernel.version}/build),"
            " which is needed to build driver/"
        )
    compiler = f"{CROSS}gcc"
    if not shutil.which(compiler):
        raise CannotRun(f"{compiler} is missing; install gcc-s390x-linux-gnu")
    return Build(folder.resolve(), compiler, None)


def _of_debian(kernel: Kernel, progress: Progress) -> Build:
    """Headers, kbuild's programs and the compiler of a kernel of Debian."""
    headers = f"linux-headers-{kernel.version}"
    key = f"{kernel.suite}-{kernel.version}"
    final = cache_root() / f"headers-{key}"

    def build(folder: Path) -> None:
        target = Suite(kernel.suite, ARCH, progress=progress)
        target.update()
        if not target.find(re.escape(headers)):
            raise CannotRun(
                f"Debian's {kernel.suite} no longer has {headers}; remove kernel-of-{kernel.suite}"
                " from the cache, so that the newest kernel is fetched"
            )
        needed = target.depends(headers)
        parts = [headers, *(name for name in needed if name.endswith("-common"))]
        for name in parts:
            deb = target.download(name, folder / "debs")
            unpack(deb, folder)
        shutil.rmtree(folder / "debs")
        kbuild = [name for name in needed if name.startswith("linux-kbuild-")]
        compilers = [f"gcc-{number}-{CROSS.rstrip('-')}" for number in _gcc(needed)]
        host = Suite(kernel.suite, host_arch(), progress=progress)
        host.update()
        unpack_programs(host, [*kbuild, *compilers], folder, final, _USELESS, progress)
        _adapt(folder, final, headers)

    folder = entry("headers", key, build, fixed=True)
    compiler = next(folder.glob(f"usr/bin/{CROSS}gcc-[0-9]*")).name
    return Build(folder / "usr" / "src" / headers, compiler, folder / "usr" / "bin")


def _gcc(depends: list[str]) -> list[str]:
    """Major version of the compiler that the headers depend on."""
    found = [match[1] for name in depends if (match := re.search(r"gcc-(\d+)", name))]
    if len(set(found)) != 1:
        raise CannotRun(f"the headers name {len(found)} compilers: {', '.join(depends)}")
    return found[:1]


def _adapt(folder: Path, final: Path, headers: str) -> None:
    """Paths that Debian's packages expect below /usr are below *final*."""
    makefile = folder / "usr" / "src" / headers / "Makefile"
    text = makefile.read_text(encoding="utf-8")
    makefile.write_text(re.sub(r"(?<![\w/])/usr/", f"{final}/usr/", text), encoding="utf-8")
    # With it there kbuild wants to write BTF, which the guests have no use for.
    (makefile.parent / "vmlinux").unlink(missing_ok=True)


def main(kernels: list[str]) -> None:
    """Build for each, and print the paths."""
    for name in kernels:
        print(driver_module(resolve(name)))


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:])))
