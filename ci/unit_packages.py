# SPDX-License-Identifier: MIT
"""Versions of the installed packages that can make a difference to a program of unit tests.

dpkg's whole list has every package of the machine, so that a browser's update would run all tests again.
What counts is less:

* What compilers find by a name: headers, libraries to link with, what a program starts with.  Any package
  may bring a file there that hides another, so all packages that have such files count.
* The compiler, the linker and what else make runs.
* All that these packages depend on: libraries that compilers and tests are loaded with.
* What tests open when they run: files of RUN, and of what these need.  Nothing else can be opened (units.py).

Without dpkg's list nothing is known.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.decided import keep, recall, state_of

STATUS = Path("/var/lib/dpkg/status")
LISTS = Path("/var/lib/dpkg/info")
RUN = ("libc6", "libc-bin", "locales", "tzdata", "dash", "coreutils")
"""The C library's conversions, languages and time zones; a shell, and what it runs."""
FOUND = re.compile(
    r"(?m)^(?:/usr)?/(?:include/.|lib/gcc/.|lib/(?:[^/\n]+/)?pkgconfig/."
    r"|lib(?:64)?/(?:[^/\n]+-linux-[^/\n]+/)?[^/\n]+\.(?:so|a|o)$)"
)
"""Files that gcc, ld and pkg-config find by a name."""
TOOLS = ("as", "ld", "ar", "make", "pkg-config", "sh", "env")
PARTS = ("cc1", "collect2")
"""Programs of gcc's own."""
OPTIONAL = ("ccache", "ld.lld", "sparse")
USRMERGED = re.compile(r"^/usr(?=/(?:bin|sbin|lib|lib64)/)")
NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")


@dataclass(frozen=True)
class Package:
    """A package that is installed."""

    name: str
    version: str
    depends: tuple[str, ...]
    provides: tuple[str, ...]


@functools.cache
def _installed() -> dict[str, list[Package]]:
    """By the names of packages, and by those that they provide."""
    found: dict[str, list[Package]] = {}
    for text in STATUS.read_text(encoding="utf-8").split("\n\n"):
        fields = dict(re.findall(r"(?m)^([A-Z][\w-]*): (.*)$", text))
        if not fields.get("Status", "").endswith(" installed"):
            continue
        depends = f"{fields.get('Pre-Depends', '')},{fields.get('Depends', '')}"
        names = _names(fields.get("Provides", ""))
        version = f"{fields['Version']} {fields.get('Architecture')}"
        package = Package(fields["Package"], version, _names(depends), names)
        for name in (package.name, *names):
            found.setdefault(name, []).append(package)
    return found


def _names(relation: str) -> tuple[str, ...]:
    """Of "NAME:any (>= 1) | OTHER, NAME"."""
    words = (NAME.match(word.strip()) for word in re.split(r"[,|]", relation))
    return tuple(word[0] for word in words if word)


def _closure(names: Iterable[str]) -> set[Package]:
    """The packages of these names, and all that they depend on."""
    todo, found = list(names), set[Package]()
    while todo:
        for package in _installed().get(todo.pop(), []):
            if package not in found:
                found.add(package)
                todo += package.depends
    return found


def _lists(names: Container[str] | None = None) -> Iterator[tuple[str, str]]:
    """The name of each package, or of each of these, and the names of its files."""
    for path in sorted(LISTS.glob("*.list")):
        name = path.name[: -len(".list")].partition(":")[0]
        if names is None or name in names:
            yield name, path.read_text(encoding="utf-8")


def _programs(compiler: str) -> set[str] | None:
    """Files that are run to build a test; None if one is not found."""
    names = [shutil.which(name) for name in (compiler, *TOOLS)]
    if not all(names):
        return None
    names += filter(None, map(shutil.which, OPTIONAL))
    for part in PARTS:
        argv = [compiler, f"-print-prog-name={part}"]
        names.append(
            subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
        )
    return {USRMERGED.sub("", str(Path(name).resolve())) for name in names if name}


def _owners(compiler: str) -> list[str] | None:
    """Packages that compilers look at; None if no package has one of the programs."""
    programs = _programs(compiler)
    if programs is None:
        return None
    found, missing = set(), set(programs)
    for name, files in _lists():
        own = {USRMERGED.sub("", file) for file in files.splitlines()} & programs
        missing -= own
        if own or FOUND.search(files):
            found.add(name)
    return None if missing else sorted(found)


def for_building(compiler: str) -> list[str] | None:
    """Packages, with their versions, that a program can depend on; None if that cannot be known.

    It cannot be if the compiler is not GCC, or if no package has it, or what it runs.
    """
    path = shutil.which(compiler)
    if not STATUS.is_file() or not path or "gcc" not in Path(path).resolve().name:
        return None
    programs = (shutil.which(name) for name in (compiler, *TOOLS))
    now = state_of([STATUS, *(Path(program) for program in programs if program)])
    names = recall("unit-packages", Path(compiler).name, now)
    if names is None:
        names = _owners(compiler)
        keep("unit-packages", Path(compiler).name, now, names)
    return None if names is None else _said(_closure(names))


def _said(packages: Iterable[Package]) -> list[str]:
    return sorted(f"{package.name} {package.version}" for package in packages)


def with_all_they_need(names: Iterable[str]) -> list[str]:
    """These packages and all that they depend on, with their versions."""
    return _said(_closure(names)) if STATUS.is_file() else []


def for_running() -> list[str]:
    """Packages, with their versions, whose files tests can open."""
    return with_all_they_need(RUN)


def opened() -> list[Path]:
    """The files of these packages."""
    if not STATUS.is_file():
        return []
    names = {package.name for package in _closure(RUN)}
    found = (Path(file) for name, files in _lists(names) for file in files.splitlines())
    return [file for file in found if file.is_file()]
