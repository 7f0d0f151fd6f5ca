# SPDX-License-Identifier: MIT
"""Building modules that are not in the kernel's own tree, for a guest kernel.

    module = driver_module(resolve("trixie"))                     # …/monreader.ko
    modules = built_modules(Path("src"), resolve("trixie"))       # {"mydriver": …/mydriver.ko}

A kernel of Debian is built for with Debian's headers of exactly that kernel, its
kbuild programs and the compiler it was made with, all unpacked into the cache.
Any other kernel needs its build folder where the kernel's own ``make
modules_install`` puts it, lib/modules/VERSION/build, and is built for with this
machine's cross compiler.

The folder is built as every external module is, by ``make -C BUILD M=FOLDER modules``; a copy of
it, so that the user's own folder stays as it is.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import cache_root, digest, entry
from zvmlab.base.errors import CannotRun, UsageError, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.base.signature import signature
from zvmlab.base.tree import TREE
from zvmlab.builder.buildstep import LOG_TAIL, first_error, run_tool
from zvmlab.builder.compiler_answers import remembered
from zvmlab.builder.host_programs import host_arch, unpack_programs
from zvmlab.builder.kernel import ARCH, DEBIAN, Kernel, unpack
from zvmlab.builder.kernel_tree import at_work, contents_of
from zvmlab.builder.modules import module_name
from zvmlab.builder.packages import Suite

MODULE = "monreader.ko"
_MAKEFILES = ("Kbuild", "Makefile")
# What kbuild leaves in a folder.
_MADE = re.compile(
    r"\.(?:o|a|ko|mod|mod\.c|cmd|symvers|order|dwo|o\.d)$|^\..*\.(?:cmd|d|tmp)$|^modules\.order$"
)
_MOST_FILES = 2000
_MOST_BYTES = 64 << 20
CROSS = "s390x-linux-gnu-"
MAKE_SECONDS = 600
_FULL = "No space left on device"
# Where a kernel's headers are, and what modules are built with, in its build folder and its source.
_HEADERS = ("include", "arch/s390/include", "scripts")
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
    """The parameters of a build of modules for a kernel."""

    folder: Path
    """KDIR: the kernel's build folder."""
    compiler: str
    """Name of the compiler."""
    programs: Path | None
    """Folder to look for programs in first, if it is not this machine's."""

    @contextlib.contextmanager
    def kbuild_words(self, env: Mapping[str, str]) -> Iterator[list[str]]:
        """Variables for a kbuild with that environment, which need not ask again what the compiler can."""
        with remembered(self.compiler, env, CROSS) as compiler:
            yield ["ARCH=s390", f"CROSS_COMPILE={CROSS}", f"CC={compiler}"]

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
    """Return the entry of built_modules() whose file has that name."""
    found = built_modules(source, kernel, progress)
    if module_name(module) not in found:
        raise UsageError(f"{source} builds {', '.join(found)}, and no {module}")
    return found[module_name(module)]


def built_modules(
    source: Path, kernel: Kernel, progress: Progress | None = None
) -> dict[str, Path]:
    """The .ko files that a folder with a Kbuild or a Makefile gives for that kernel, by name.

    They are kept in the cache until the folder or the kernel changes.  UsageError with the
    compiler's first error if it cannot be built.
    """
    shown = progress or Progress()
    source = source.resolve()  # "." has no name
    sources_of(source)  # what is wrong with them is told before anything is fetched
    _need_programs(kernel)
    build = build_folder(kernel, shown)

    def key() -> str:
        files = sources_of(source)
        names = (str(file.relative_to(source)) for file in files)
        return digest(kernel.version, str(build), *_stamp(kernel, build), *names, *files)

    log = cache_root() / f"module-{key()}.log"

    def make(folder: Path) -> None:
        work = folder / "work"
        for file in sources_of(source):
            to = work / file.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, to)
        with shown.step(f"building {source.name}/ for {kernel.version}"):
            with at_work(kernel, shown):
                _make_modules(source, build, work, log)
            for module in sorted(work.rglob("*.ko")):
                if (folder / module.name).exists():
                    raise UsageError(f"{source} has two modules called {module.name}")
                _strip(module, build)
                shutil.copy(module, folder / module.name)
        shutil.rmtree(work)

    folder = entry("module", key, make)
    return {module_name(file): file for file in sorted(folder.glob("*.ko"))}


def _need_programs(kernel: Kernel) -> None:
    """Check the programs for building modules; fetch the compiler for Debian's kernels."""
    needed = ("make", "patchelf") if kernel.suite in DEBIAN else ("make",)
    missing = [name for name in needed if not shutil.which(name)]
    if missing:
        raise CannotRun(
            f"building modules for a guest's kernel needs: apt-get install {' '.join(missing)}"
        )


def sources_of(folder: Path) -> list[Path]:
    """The sources in a folder, without files of an earlier build and hidden folders."""
    if not any((folder / name).is_file() for name in _MAKEFILES):
        raise UsageError(
            f"{folder} has no Kbuild and no Makefile; write 'obj-m := NAME.o' into a Kbuild there"
        )
    found: list[Path] = []
    size = 0
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(top, name)
            if _MADE.search(name) or not file.is_file():
                continue
            found.append(file)
            size += file.stat().st_size
            if len(found) > _MOST_FILES or size > _MOST_BYTES:
                raise UsageError(
                    f"{folder} has more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB;"
                    " name the folder of the module alone"
                )
    return found


def _make_modules(source: Path, build: Build, work: Path, log: Path) -> None:
    """Runs kbuild in *work*, the copy of *source*; the log stays if it fails."""
    what = f"building {source}"
    jobs = f"-j{len(os.sched_getaffinity(0))}"
    env = build.environment()
    with build.kbuild_words(env) as words:
        argv = ["make", jobs, "-C", str(build.folder), f"M={work}", *words, "modules"]
        done = run_tool(what, argv, MAKE_SECONDS, env)
    # A kernel that was built outside of its source names the folder from there.
    copy = re.escape(f"{work.parent.name}/{work.name}/")
    said = re.sub(rf"[^\s:'\"\[(]*{copy}", "", done.stdout)
    if done.returncode != 0:
        if _FULL in said:
            raise CannotRun(f"{what}: a disk is full; free some room, and start again")
        log.write_text(said, encoding="utf-8")
        raise UsageError(f"{what} failed: {first_error(said.splitlines())}; the log is {log}")
    if not any(work.rglob("*.ko")):
        log.write_text(said, encoding="utf-8")
        raise UsageError(
            f"{what} gave no module; its Kbuild needs a line 'obj-m := NAME.o'; the log is {log}"
        )
    log.unlink(missing_ok=True)


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


def _stamp(kernel: Kernel, build: Build) -> Iterator[str | Path]:
    """Changes with the kernel's configuration and exports, and with headers that may change."""
    for name in (".config", "Module.symvers"):
        if (build.folder / name).is_file():
            yield build.folder / name
    if kernel.work is not None:
        # Also headers that the kernel itself has no use for.
        yield f"{kernel.image} {contents_of(kernel)}"
    elif kernel.suite not in DEBIAN:
        for top, folder in itertools.product(("", "source"), _HEADERS):
            for where, _, names in os.walk(build.folder / top / folder):
                files = (os.path.join(where, name) for name in sorted(names))
                yield " ".join(f"{file} {_signature_of(file)}" for file in files)


def _signature_of(file: str) -> str:
    """Of what a link leads to, or of the link: a packed build folder lacks what some of its links name."""
    try:
        return signature(os.stat(file))
    except FileNotFoundError:
        return signature(os.lstat(file))


def build_folder(kernel: Kernel, progress: Progress | None = None) -> Build:
    """The kernel's folder to build modules in; fetched if need be."""
    if kernel.suite in DEBIAN:
        return _of_debian(kernel, progress or Progress())
    folder = kernel.modules / "build" if kernel.modules else None
    if folder is None or not (folder / "Makefile").is_file():
        raise UsageError(
            f"kernel {kernel.version} has no build folder (lib/modules/{kernel.version}/build),"
            " which is needed to build modules"
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
