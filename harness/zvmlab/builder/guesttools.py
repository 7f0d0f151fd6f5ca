# SPDX-License-Identifier: MIT
"""Dynamic programs for the guest: the tools of ``tools/``, and Debian's own.

    files = debian_program("/sbin/dmsetup") | tool("dmmon")
    GuestConfig(files=files)

What they need at run time comes along: the loader and the libraries of Debian's s390x packages,
at the places where the loader looks for them.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.builder import module_mk
from zvmlab.builder.dynamic import dynamic
from zvmlab.builder.image import COMPILER, compiler_version
from zvmlab.builder.kernel import ARCH, unpack
from zvmlab.builder.packages import Suite
from zvmlab.builder.tool_names import DEBIAN, LINKED as LINKED, is_tool as is_tool

SUITE = "bookworm"
TRIPLET = "s390x-linux-gnu"
PACKAGES = (
    *("libc6", "libdevmapper1.02.1", "libdevmapper-dev", "dmsetup"),
    *("libselinux1", "libpcre2-8-0", "libudev1", "libjansson4", "libjansson-dev"),
    *("libnl-3-200", "libnl-genl-3-200", "libnl-3-dev", "libnl-genl-3-dev"),
    *("s390-tools", "libncurses6", "libtinfo6", "libgcc-s1", "libstdc++6", "zlib1g"),
    *("libcrypt1", "libcrypt-dev", "libmicrohttpd12", "libmicrohttpd-dev", "libgnutls30"),
    *("libp11-kit0", "libidn2-0", "libunistring2", "libtasn1-6", "libffi8"),
    *("libnettle8", "libhogweed6", "libgmp10"),
)
"""Of these the guest's programs are made: nothing else is unpacked."""
HTTP_LIBRARY = "libmicrohttpd.so.12"
"""What the tools load for ``export --listen``, and only then."""
_FOLDERS = (f"lib/{TRIPLET}", f"usr/lib/{TRIPLET}")
_BUILD_SECONDS = 1800


def debian_root(progress: Progress | None = None) -> Path:
    """The folder in the cache that the packages are unpacked into."""
    return packages_root(PACKAGES, progress)


@functools.cache
def packages_root(names: tuple[str, ...], progress: Progress | None = None) -> Path:
    """The same of other packages: programs that tests run beside the guest's own."""
    suite = Suite(SUITE, ARCH, progress=progress)
    # All in one question: apt takes long to begin.
    packages = suite.find("|".join(map(re.escape, names)))
    missing = set(names) - {package.name for package in packages}
    if missing:
        raise CannotRun(f"Debian's {SUITE} has no package {', '.join(sorted(missing))} for {ARCH}")

    def build(folder: Path) -> None:
        debs = folder / "debs"
        for package in packages:
            unpack(suite.download(package.name, debs), folder)

    return entry("guest-root", digest(*(package.sha256 for package in packages)), build)


def _inside(root: Path, path: Path) -> Path:
    """The file that *path* leads to, where absolute links mean *root*; it need not exist."""
    for _ in range(8):
        if not path.is_symlink():
            return path
        target = os.readlink(path)
        path = root / target.lstrip("/") if target.startswith("/") else path.parent / target
    raise CannotRun(f"{path} is a link in a loop; remove {root} and try again")


def _library(root: Path, name: str) -> Path:
    """The file of a library."""
    ways = (_inside(root, root / folder / name) for folder in _FOLDERS)
    found = next((way for way in ways if way.is_file()), None)
    if found is None:
        raise CannotRun(f"no package has the library {name}, which is needed")
    return found


def with_libraries(
    program: Path, path: str, progress: Progress | None = None, root: Path | None = None
) -> dict[str, Path]:
    """*program* at *path* in the guest, and all that it needs there, for ``GuestConfig.files``.

    Libraries come from *root* (default: the guest's packages).
    """
    root = root or debian_root(progress)
    loader, names = dynamic(program)
    files = {path: program}
    if loader:
        files[loader] = _inside(root, root / loader.lstrip("/"))
    return _with_needed(root, files, names, loader)


def library(name: str, progress: Progress | None = None) -> dict[str, Path]:
    """A library of the packages that a program loads by itself, and all that it needs."""
    return _with_needed(debian_root(progress), {}, [name], None)


def _with_needed(
    root: Path, files: dict[str, Path], names: list[str], loader: str | None
) -> dict[str, Path]:
    """These files, and libraries with those that they need in turn."""
    names = list(names)
    while names:
        name = names.pop()
        place = f"/{_FOLDERS[0]}/{name}"
        if place in files or name == PurePosixPath(loader or "").name:
            continue
        found = _library(root, name)
        files[place] = found
        names += dynamic(found)[1]
    return files


def debian_program(
    path: str, progress: Progress | None = None, packages: tuple[str, ...] = ()
) -> dict[str, Path]:
    """A program of the packages (default: the guest's), and all that it needs, at its place."""
    root = packages_root(packages, progress) if packages else debian_root(progress)
    return with_libraries(root / path.lstrip("/"), path, progress, root)


def tools_source() -> Path:
    """The folder of this zvmlab that has the tools and the Makefile for them."""
    if not (TREE / "tools" / "common").is_dir():
        raise CannotRun(f"{TREE / 'tools'} is missing; this zvmlab was installed without tools")
    return TREE


def _make(source: Path, name: str, into: Path, root: Path) -> None:
    """Build one of the tools for the guest with the repository's Makefile."""
    libraries = [str(_library(root, one)) for one in LINKED[name]]
    ways = ":".join(str(root / folder) for folder in _FOLDERS)
    argv: Sequence[str] = [
        *("make", "-s", f"-j{len(os.sched_getaffinity(0))}", "-C", str(source)),
        *(f"BUILD={into}", f"CC={COMPILER}"),
        f"CFLAGS=-idirafter {root / 'usr/include'} -idirafter {root / 'usr/include/libnl3'}",
        *("CPPFLAGS=", "LDFLAGS=", "PACKAGE_CFLAGS="),
        f"PACKAGE_LIBS={' '.join(libraries)} -Wl,-rpath-link={ways}",
        str(into / name),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False)
    if done.returncode:
        line = (done.stderr.strip().splitlines() or ["make failed"])[0]
        raise CannotRun(f"{name} cannot be compiled for the guest: {line}")


def build_tool(name: str, progress: Progress | None = None) -> Path:
    """The program ``tools/NAME`` for the guest, compiled into the cache."""
    source = tools_source()

    def key() -> str:
        parts = [source / "Makefile", *sorted(source.glob("ci/*.mk"))]
        parts += module_mk.files(source, module_mk.closure(source, f"tools/{name}"))
        return digest(*parts)

    def build(folder: Path) -> None:
        with (progress or Progress()).step(f"compiling {name} for the guest"):
            _make(source, name, folder, debian_root(progress))

    def made_with() -> str:
        return digest(compiler_version(), debian_root(progress).name)

    return entry(f"tool-{name}", key, build, name, made_with=made_with)


def tool(name: str, progress: Progress | None = None) -> dict[str, Path]:
    """``tools/NAME`` as /bin/NAME, and all that it needs, for ``GuestConfig.files``."""
    return with_libraries(build_tool(name, progress), f"/bin/{name}", progress)


def any_tool(name: str, progress: Progress | None = None) -> dict[str, Path]:
    """A tool that is_tool() knows, with everything that it needs, for ``GuestConfig.files``."""
    if not is_tool(name):
        tools = [*LINKED, *DEBIAN]
        raise UsageError(
            f"unknown tool: {name} (possible: {', '.join(tools)}){did_you_mean(name, tools)}"
        )
    place = DEBIAN.get(name)
    return debian_program(place, progress) if place else tool(name, progress)
