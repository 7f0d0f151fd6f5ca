# SPDX-License-Identifier: MIT
"""Which layer may use which: the tree's imports and includes against ``ci/layers.toml``.

``layers.py [FOLDER]`` reads the sources below FOLDER (default: this clone) and prints a line for
each import or ``#include`` that the table does not allow, and for each circle: of
folders, of Python modules, of C headers.  An import within a function counts as one at the top.
Exit code: 0 if there is nothing to say, 1 for findings, 2 if the table itself is wrong.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
            raise WrongTable(f"{TABLE}: [{self.section}] has a circle: {' -> '.join(circle)}")


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
    """What modules of *package*, a folder below *root*, import of it; its folder is its layer."""
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
    """Layers of C sources: the folders that each is made of."""

    layers: Mapping[str, Sequence[str]]

    def layer(self, file: str) -> str | None:
        """The one that the file is in."""
        for name, folders in self.layers.items():
            if any(file.startswith(f"{folder}/") for folder in folders):
                return name
        return None

    def include_roots(self) -> list[str]:
        """Below which a name is looked for: the folders, their include/, and what they are in."""
        folders = [folder for folders in self.layers.values() for folder in folders]
        return sorted(
            {at for f in folders for at in (f, f"{f}/include", str(Path(f).parent))} - {"."}
        )

    def files(self, root: Path) -> list[str]:
        """C sources of the folders, and of those beside them."""
        tops = {folder.split("/")[0] for folders in self.layers.values() for folder in folders}
        found = (path for top in tops for path in (root / top).rglob("*") if path.suffix in _C)
        return sorted(str(path.relative_to(root)) for path in found)


def c_uses(root: Path, folders: Folders) -> Iterator[Use]:
    """What C sources include of each other.

    A name is looked for beside the source first, as the compiler does.
    """
    roots, files = folders.include_roots(), folders.files(root)
    known = set(files)
    for file in files:
        own = folders.layer(file)
        if own is None:
            continue
        text = (root / file).read_text(encoding="utf-8")
        for match in _INCLUDE.finditer(text):
            beside = str(Path(file).parent / match[1])
            found = [f"{at}/{match[1]}" for at in roots if f"{at}/{match[1]}" in known]
            for used in [beside] if beside in known else found:
                layer = folders.layer(used)
                if layer is not None and used != file:
                    yield Use(file, text.count("\n", 0, match.start()) + 1, own, used, layer)


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


def _c(root: Path, table: Mapping[str, Mapping[str, list[str]]]) -> list[str]:
    folders = Folders({name: layer["folders"] for name, layer in table.items()})
    layers = Layers("c", {name: layer["may"] for name, layer in table.items()})
    for name, named in folders.layers.items():
        for folder in named:
            if not any(path.suffix in _C for path in (root / folder).rglob("*")):
                raise WrongTable(f"{TABLE}: [c.{name}] names {folder}, which has no source")
    for file in folders.files(root):
        if folders.layer(file) is None:
            raise WrongTable(f"{TABLE}: [c] has no layer with the folder of {file}")
    layers.check(set(folders.layers))
    return findings(layers, list(c_uses(root, folders)))


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
    except (WrongTable, tomllib.TOMLDecodeError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    for line in said:
        print(line)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
