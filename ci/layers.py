# SPDX-License-Identifier: MIT
"""Which layer may use which: the tree's imports and includes against ``ci/layers.toml``.

``layers.py [FOLDER]`` reads the sources below FOLDER (default: this clone) and prints a line for
each import or ``#include`` that the table does not allow, and for each circle: of
folders, of Python modules, of C headers.  An import within a function counts as one at the top.
Exit code: 0 if there is nothing to say, 1 for findings, 2 if the table itself is wrong.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.errors import ZvmlabError
from zvmlab.builder import module_mk
from zvmlab.builder.module_mk import Module

TABLE = "ci/layers.toml"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">\n]+)[">]', re.MULTILINE)
_C = (".c", ".h")

Graph = Mapping[str, Sequence[str]]


class WrongTable(Exception):
    """The table names what is not there, or does not name what is."""


@dataclass(frozen=True)
class Use:
    """One file uses another: where it says so, and the layers of both."""

    file: str
    line: int
    layer: str
    used_file: str
    used_layer: str


@dataclass(frozen=True)
class Layers:
    """A part of the table: what each layer may use."""

    section: str
    may: dict[str, list[str]]

    def check(self, there: set[str]) -> None:
        """Does it name layers that are there, each of them, and no circle?"""
        for layer, used in self.may.items():
            for name in (layer, *used):
                if name not in there:
                    raise WrongTable(f"{TABLE}: [{self.section}] names {name}, which has no source")
                if name not in self.may:
                    raise WrongTable(
                        f"{TABLE}: [{self.section}] lets {layer} use {name},"
                        f" and does not say what {name} may use"
                    )
        for layer in sorted(there - set(self.may)):
            raise WrongTable(f"{TABLE}: [{self.section}] does not say what {layer} may use")
        for circle in circles(self.may):
            raise WrongTable(f"{TABLE}: [{self.section}] has a cycle: {' -> '.join(circle)}")


def circles(graph: Graph) -> list[list[str]]:
    """Ways round, each from its first node in the alphabet back to it; [] if there is none."""
    found: list[list[str]] = []
    state: dict[str, int] = {}  # 1: on the way, 2: done

    def visit(node: str, way: list[str]) -> None:
        state[node] = 1
        way.append(node)
        for after in graph.get(node, ()):
            if state.get(after) == 1:
                around = way[way.index(after) :]
                first = around.index(min(around))
                found.append([*around[first:], *around[: first + 1]])
            elif after not in state:
                visit(after, way)
        way.pop()
        state[node] = 2

    for node in sorted(graph):
        if node not in state:
            visit(node, [])
    return found


def _module_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(node: ast.AST, modules: Mapping[str, Path]) -> list[str]:
    """The modules among *modules* that an import statement names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name in modules]
    if isinstance(node, ast.ImportFrom) and node.module in modules:
        within = [f"{node.module}.{alias.name}" for alias in node.names]
        return sorted({name if name in modules else str(node.module) for name in within})
    return []


def python_uses(root: Path, package: str) -> Iterator[Use]:
    """The imports among modules of *package*, a folder below *root*; a folder is a layer."""
    base = root / package
    modules = {_module_of(path, base.parent): path for path in sorted(base.rglob("*.py"))}
    for module, path in modules.items():
        for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
            for name in _imported(node, modules):
                if name == module:
                    continue
                yield Use(
                    file=str(path.relative_to(root)),
                    line=node.lineno if isinstance(node, ast.stmt) else 0,
                    layer=_package_of(path, base),
                    used_file=str(modules[name].relative_to(root)),
                    used_layer=_package_of(modules[name], base),
                )


def _package_of(path: Path, base: Path) -> str:
    """The package that a module is in; the outermost one has the name of its folder."""
    parts = path.relative_to(base).parts
    return parts[0] if len(parts) > 1 else base.name


@dataclass(frozen=True)
class Folders:
    """Layers of C sources: modules, each in its folder; those below tests/ may use all."""

    root: Path
    modules: Mapping[str, Module]

    @classmethod
    def of(cls, root: Path) -> Folders:
        """Read the modules of a tree.  Raises ZvmlabError for a wrong module.mk."""
        names = [name for name in module_mk.names(root) if not name.startswith("tests")]
        return cls(root, {name: module_mk.read(root, name) for name in names})

    def layer(self, file: str) -> str | None:
        """The one that the file is in."""
        return next((name for name in self.modules if file.startswith(f"{name}/")), None)

    def files(self) -> list[str]:
        """C sources of the modules, and of folders beside them."""
        tops = {name.split("/")[0] for name in self.modules}
        found = (path for top in tops for path in (self.root / top).rglob("*"))
        return sorted(str(path.relative_to(self.root)) for path in found if path.suffix in _C)

    def anywhere(self) -> list[str]:
        """Below which a name may lie: folders of all modules, their headers, what they are in."""
        folders = [f for module in self.modules.values() for f in (module.name, *module.includes)]
        return sorted({*folders, *(str(Path(name).parent) for name in self.modules)} - {"."})


def c_uses(folders: Folders) -> Iterator[Use]:
    """The includes among C sources.

    A name is looked for beside the source, then where the compiler is told to look, and then
    in all folders: what does not compile is to be said here, too.
    """
    files, anywhere = folders.files(), folders.anywhere()
    known = set(files)
    for file in files:
        own = folders.layer(file)
        if own is None:
            continue
        near = [str(Path(file).parent)]
        near += module_mk.include_folders(folders.root, folders.modules[own])
        text = (folders.root / file).read_text(encoding="utf-8")
        for match in _INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            for used in _found(match[1], near, known) or _found(match[1], anywhere, known):
                layer = folders.layer(used)
                if layer is not None and used != file:
                    yield Use(file, line, own, used, layer)


def _found(name: str, folders: Sequence[str], known: set[str]) -> list[str]:
    """The file of that name in the first of the folders that has one."""
    ways = (os.path.normpath(f"{folder}/{name}") for folder in folders)
    return [way for way in ways if way in known][:1]


def uses_told(layers: Layers, folders: Folders) -> list[str]:
    """A sentence for each word of a module.mk that the table does not allow."""
    said = []
    for module in folders.modules.values():
        for used in module.uses:
            if used not in layers.may[module.name]:
                said.append(
                    f"{module.name}/{module_mk.FILE}: USES names {used},"
                    f" which {module.name} may not use; {TABLE} says what it may"
                )
        if module.inside:
            said.append(f"{module.name}/{module_mk.FILE}: INSIDE is for tests only")
    return said


def findings(layers: Layers, uses: Sequence[Use]) -> list[str]:
    """A sentence for each use that is not allowed, and for each circle of files."""
    said = [
        f"{use.file}:{use.line}: {use.layer} may not use {use.used_layer}"
        f" ({use.used_file}); {TABLE} says what it may"
        for use in uses
        if use.layer != use.used_layer and use.used_layer not in layers.may[use.layer]
    ]
    graph: dict[str, list[str]] = {}
    for use in uses:
        graph.setdefault(use.file, []).append(use.used_file)
    return said + [f"files use each other: {' -> '.join(circle)}" for circle in circles(graph)]


def _python(root: Path, package: str, may: dict[str, list[str]]) -> list[str]:
    base = root / package
    layers = Layers(f'python."{package}"', may)
    layers.check({_package_of(path, base) for path in base.rglob("*.py")})
    return findings(layers, list(python_uses(root, package)))


def _c(root: Path, may: dict[str, list[str]]) -> list[str]:
    folders, layers = Folders.of(root), Layers("c", may)
    layers.check(set(folders.modules))
    for file in folders.files():
        if folders.layer(file) is None:
            raise WrongTable(f"{file} is in no folder with a {module_mk.FILE}")
    return uses_told(layers, folders) + findings(layers, list(c_uses(folders)))


def check(root: Path) -> list[str]:
    """All findings of a tree.  Raises WrongTable."""
    with open(root / TABLE, "rb") as file:
        table = tomllib.load(file)
    try:
        said = [
            line for package, may in table["python"].items() for line in _python(root, package, may)
        ]
        return said + _c(root, table["c"])
    except KeyError as error:
        raise WrongTable(f"{TABLE}: {error} is missing") from error


def main(arguments: Sequence[str]) -> int:
    """Return: exit code."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    try:
        said = check(root)
    except (WrongTable, ZvmlabError, tomllib.TOMLDecodeError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    for line in said:
        print(line)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
