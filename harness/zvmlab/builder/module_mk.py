# SPDX-License-Identifier: MIT
"""Read ``module.mk``, the description of a folder of C that make reads as well.

``ci/modules.mk`` explains the keys.  ``python3 -m zvmlab.builder.module_mk`` checks all of the clone and
prints a line for each module: its folder, options for the compiler, sources, with tabs between them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.errors import CannotRun, ZvmlabError, exit_code
from zvmlab.base.hints import did_you_mean
from zvmlab.base.tree import TREE
from zvmlab.builder.sourcepackage import our_sources

FILE = "module.mk"
FOLDERS = ("driver", "guest", "lib", "sim", "tests", "tools")
_KEYS = ("SOURCES", "MAIN", "INCLUDES", "USES", "INSIDE", "PACKAGES", "LIBRARIES")
_WRAP = "WRAP."
"""Begins a key that ends in the name of a test: what it is linked with is make's business alone."""
_LINE = re.compile(r"(?P<key>\w+(\.\w+)?) :=(?P<words>( (\.|[\w*][\w.*+/-]*))*)")
_UP = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<][^">\n]*\.\.', re.MULTILINE)
_SECONDS = 30


@dataclass(frozen=True)
class Module:
    """A folder of C: *name* is its path below the tree; so are those of files and folders."""

    name: str
    sources: tuple[str, ...]
    """C files without those of *main*, in the order of the alphabet."""
    main: tuple[str, ...]
    includes: tuple[str, ...]
    uses: tuple[str, ...]
    inside: tuple[str, ...]
    packages: tuple[str, ...]
    libraries: tuple[str, ...]


def _words(place: Path, name: str) -> dict[str, list[str]]:
    """The file's keys."""
    try:
        lines = place.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ZvmlabError(f"{name}/{FILE} cannot be read: {error.strerror}") from error
    found: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if not match:
            raise ZvmlabError(f"{name}/{FILE}:{number}: not of the form KEY := WORDS: {line}")
        key = match["key"]
        if key not in _KEYS and not key.startswith(_WRAP):
            raise ZvmlabError(
                f"{name}/{FILE}:{number}: unknown key: {key}{did_you_mean(key, _KEYS)}"
            )
        if key in found:
            raise ZvmlabError(f"{name}/{FILE}:{number}: {key} is given twice")
        found[key] = match["words"].split()
    return found


def read(root: Path, name: str) -> Module:
    """The module whose folder is *name* below *root*.

    Raises ZvmlabError, with the place, for what make would not understand in the same way, and for
    files and folders that are not there.
    """
    folder = root / name
    words = _words(folder / FILE, name)

    def there(key: str) -> list[str]:
        found: list[str] = []
        for word in words.get(key, []):
            ways = [folder] if word == "." else folder.glob(word)
            matches = [way.relative_to(folder) for way in ways]
            matches = [way for way in matches if not any(p.startswith(".") for p in way.parts)]
            if not matches:
                raise ZvmlabError(f"{name}/{FILE}: {key} names {word}, which does not exist")
            found += [str(Path(name) / way) for way in matches]
        return found

    def known(key: str) -> tuple[str, ...]:
        for word in words.get(key, []):
            if not (root / word / FILE).is_file():
                raise ZvmlabError(f"{name}/{FILE}: {key} names {word}, which has no {FILE}")
        return tuple(words.get(key, []))

    main = set(there("MAIN"))
    tests = {Path(path).stem for path in main}
    for key in words:
        if key.startswith(_WRAP) and key.removeprefix(_WRAP) not in tests:
            raise ZvmlabError(f"{name}/{FILE}: {key}: MAIN has no {key.removeprefix(_WRAP)}.c")
    return Module(
        name,
        tuple(sorted(set(there("SOURCES")) - main)),
        tuple(sorted(main)),
        tuple(there("INCLUDES")),
        known("USES"),
        known("INSIDE"),
        tuple(words.get("PACKAGES", [])),
        tuple(words.get("LIBRARIES", [])),
    )


def names(root: Path) -> list[str]:
    """All modules of a tree."""
    found = (path for top in FOLDERS for path in (root / top).rglob(FILE))
    return sorted(str(path.parent.relative_to(root)) for path in found)


def _check_includes(root: Path, name: str) -> None:
    """Refuse an ``#include`` with ".." in the name: it finds headers that USES does not show."""
    for path in sorted((root / name).rglob("*.[ch]")):
        text = path.read_text(encoding="utf-8", errors="replace")
        match = _UP.search(text)
        if match:
            line = text.count("\n", 0, match.start()) + 1
            raise ZvmlabError(
                f'{path.relative_to(root)}:{line}: #include with "..";'
                f" name the folder in USES of {FILE} instead"
            )


def closure(root: Path, *wanted: str) -> list[Module]:
    """These modules and all that they use, those that use before those that are used.

    Raises ZvmlabError as `read` does, for a circle, and for an ``#include`` with ".." in one of them.
    """
    done: dict[str, Module] = {}

    def visit(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            raise ZvmlabError(f"{name}/{FILE}: USES has a cycle: {' '.join((*way, name))}")
        if name in done:
            return
        module = read(root, name)
        _check_includes(root, name)
        for used in module.uses:
            visit(used, (*way, name))
        done[name] = module

    for name in wanted:
        visit(name, ())
    return list(reversed(done.values()))


def include_folders(root: Path, module: Module) -> list[str]:
    """Folders, below *root*, where the module's sources find headers."""
    used = [folder for name in module.uses for folder in read(root, name).includes]
    return list(dict.fromkeys((module.name, *module.includes, *used, *module.inside)))


def files(root: Path, modules: Sequence[Module]) -> Iterator[Path]:
    """All files of these modules, with headers and ``module.mk``."""
    for module in modules:
        yield from our_sources(root / module.name)


def packages(modules: Sequence[Module]) -> list[str]:
    """Packages that what is made of these modules needs."""
    return sorted({package for module in modules for package in module.packages})


def link_options(modules: Sequence[Module]) -> list[str]:
    """Options that link what is made of these modules with their libraries."""
    libraries = sorted({library for module in modules for library in module.libraries})
    needed = packages(modules)
    found = _pkg_config("--libs", needed) if needed else []
    return [*found, *(f"-l{library}" for library in libraries)]


def compile_options(root: Path, module: Module) -> list[str]:
    """Options for the module's sources."""
    found = _pkg_config("--cflags", module.packages) if module.packages else []
    return [*(f"-I{root / folder}" for folder in include_folders(root, module)), *found]


def _pkg_config(question: str, asked: Sequence[str]) -> list[str]:
    argv = ["pkg-config", question, *asked]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except FileNotFoundError as error:
        raise CannotRun("pkg-config is missing; run 'make setup' in the clone") from error
    if done.returncode:
        raise CannotRun(
            f"one of {', '.join(asked)} is missing; 'make setup' in the clone installs it:"
            f" {done.stderr.strip()}"
        )
    return done.stdout.split()


def main() -> None:
    """Print a line for each module."""
    for module in closure(TREE, *names(TREE)):
        options = " ".join(f"-I{folder}" for folder in include_folders(TREE, module))
        sources = " ".join((*module.sources, *module.main))
        print(module.name, options, sources, sep="\t")


if __name__ == "__main__":
    sys.exit(exit_code(main))
