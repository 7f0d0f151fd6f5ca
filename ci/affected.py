# SPDX-License-Identifier: MIT
"""Tests that a change can reach, and why: ``make check TESTS=affected``, ``BASE=BRANCH``.

What changed is what differs from BASE (default: main), committed or not.  Then

* a document reaches the harness' tests that name it or read all documents;
* a test reaches itself, and a module of Python each test that imports it, however far around;
* a sub-command reaches each test that names it;
* C reaches the unit tests of its part, known by folder and prefix, and of what is linked with it, and
  the harness' tests that run a program with it; for tests in guests, and for what no source shows,
  ``ci/affected.toml`` says which.

Tests that failed last come first.  Exit code: the worst of what ran, 0 if nothing had to, 2 if
there is nothing to compare with.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import functools
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zvmlab.base.errors import EXIT_USAGE, UsageError
from zvmlab.builder import module_mk
from zvmlab.cli.commands import GROUPS

ROOT = Path(__file__).resolve().parents[1]
TABLE = "ci/affected.toml"
DOCUMENTS = ("*.md", "docs/*", "po/*", "*.[1-8]", "LICENSES/*")
HARNESS = ("harness", "mutants", "docs", "linux_coverage", "kvm_unit_tests")
"""Folders of tests that need no guest."""
_GIT_SECONDS = 60
_SHOWN = 3


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words],
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise UsageError("TESTS=affected needs git; install the Debian package git") from None
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["git failed"])[0]
        raise UsageError(f"TESTS=affected: {said.removeprefix('fatal: ')}")
    return done.stdout


def changed(root: Path, base: str) -> tuple[list[str], list[str]]:
    """Files that differ from *base*, and those of them that are not committed."""
    _git(root, "rev-parse", "--git-dir")
    try:
        _git(root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}")
    except UsageError:
        raise UsageError(f"TESTS=affected: no such base: {base} (give BASE=BRANCH)") from None
    fork = _git(root, "merge-base", base, "HEAD").strip()
    committed = _git(root, "diff", "--name-only", "-z", fork, "HEAD").split("\0")
    dirty = _git(root, "diff", "--name-only", "-z", "HEAD").split("\0")
    dirty += _git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
    return sorted({*committed, *dirty} - {""}), sorted({*dirty} - {""})


@dataclass
class Plan:
    """What is to run: the reasons by name of a unit test, or file of tests."""

    units: dict[str, str] = field(default_factory=dict)
    host: dict[str, str] = field(default_factory=dict)
    guests: dict[str, str] = field(default_factory=dict)

    def add(self, test: str, why: str) -> None:
        """A file of tests, or a program of tests/unit."""
        if test.endswith(".c"):
            self.units.setdefault(Path(test).stem, why)
        elif test.startswith("tests/e2e/"):
            self.guests.setdefault(test, why)
        else:
            self.host.setdefault(test, why)

    def lines(self) -> Iterator[str]:
        """A line for each reason."""
        for kind, chosen in (("unit", self.units), ("host", self.host), ("guest", self.guests)):
            by_reason: dict[str, list[str]] = {}
            for name, why in chosen.items():
                by_reason.setdefault(why, []).append(Path(name).stem)
            for why, names in by_reason.items():
                more = f" and {len(names) - _SHOWN} others" if len(names) > _SHOWN else ""
                yield f"{kind:6} {', '.join(names[:_SHOWN])}{more}: {why}"


def _statements(module: ast.Module) -> Iterator[ast.AST]:
    """All of them, however deep.  Most of a module is expressions, which import nothing."""
    todo: list[ast.AST] = [module]
    while todo:
        node = todo.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            todo += getattr(node, name, ())


class Tree:
    """The tests of a clone, and what each of them is made of."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.python = [
            *sorted((root / "harness/zvmlab").rglob("*.py")),
            *sorted((root / "tests").rglob("*.py")),
            *sorted((root / "ci").glob("*.py")),
            *sorted((root / "sim/qemu").glob("*.py")),
        ]
        table = tomllib.loads((root / TABLE).read_text(encoding="utf-8"))
        self._table: dict[str, list[str]] = table["e2e"]
        self._runs: dict[str, str] = table["runs"]
        self._unseen: dict[str, list[str]] = table["unseen"]
        self._modules = {name: module_mk.read(root, name) for name in module_mk.names(root)}

    @functools.cached_property
    def _named(self) -> dict[str, list[Path]]:
        """Modules of Python by the name that they are imported by."""
        found: dict[str, list[Path]] = {}
        for path in self.python:
            place = path.relative_to(self.root)
            inside = place.is_relative_to("harness")
            parts = place.relative_to("harness").with_suffix("").parts if inside else (path.stem,)
            name = ".".join(parts).removesuffix(".__init__")
            found.setdefault(name, []).append(path)
        return found

    @functools.cache
    def _imports(self, path: Path) -> frozenset[Path]:
        names: set[str] = set()
        for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        found: set[Path] = set()
        for name in names & self._named.keys():
            near = [module for module in self._named[name] if module.parent == path.parent]
            found |= {*(near or self._named[name])}
        return frozenset(found)

    @functools.cache
    def closure(self, path: Path) -> frozenset[Path]:
        """A module and all that it imports; a test has its folder's conftest.py and the plugin."""
        todo, found = {path}, set[Path]()
        if path.is_relative_to(self.root / "tests/e2e"):
            todo |= {path.parent / "conftest.py", *self._named["zvmlab.pytest_plugin.plugin"]}
        while todo:
            name = todo.pop()
            found.add(name)
            todo |= self._imports(name) - found
        return frozenset(found)

    def tests(self, *folders: str) -> list[Path]:
        """Files of tests in Python."""
        wanted = [self.root / "tests" / folder for folder in folders]
        return [path for folder in wanted for path in sorted(folder.glob("test_*.py"))]

    def _place(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def plan(self, files: Iterable[str]) -> Plan:
        """What these changes reach."""
        plan = Plan()
        for file in files:
            self._reach(plan, file)
        return plan

    def _reach(self, plan: Plan, file: str) -> None:
        for pattern, wanted in self._unseen.items():
            for test in self.tests(*HARNESS, "e2e") if fnmatch.fnmatch(file, pattern) else ():
                if any(fnmatch.fnmatch(self._place(test), f"tests/{one}") for one in wanted):
                    plan.add(self._place(test), f"{TABLE} says so of {file}")
        if any(fnmatch.fnmatch(file, pattern) for pattern in DOCUMENTS):
            self._reach_by_name(plan, file)
        elif file.endswith(".py"):
            self._reach_python(plan, file)
        elif file.startswith("tests/e2e/"):
            self._reach_part(plan, file)
        elif Path(file).suffix in (".c", ".h", ".def", ".mk", ".S"):
            self._reach_c(plan, file)
        else:
            self._reach_by_name(plan, file)

    def _reach_by_name(self, plan: Plan, file: str) -> None:
        """Tests of the harness that name the file, or read all of its kind."""
        suffix = re.escape(Path(file).suffix)
        everyone = re.compile(rf'glob\("(?:\*\*/)?\*{suffix}"\)|ls-files')
        for path in self.tests(*HARNESS):
            text = path.read_text(encoding="utf-8")
            if Path(file).name in text or everyone.search(text):
                plan.add(self._place(path), f"it reads {file}")

    def _reach_python(self, plan: Plan, file: str) -> None:
        path = self.root / file
        if path.name.startswith("test_"):
            if path.is_file():
                plan.add(file, "it has changed")
            return
        everywhere = path.name == "conftest.py" and path.parent == self.root / "tests"
        for test in self.tests(*HARNESS, "e2e"):
            if everywhere or path in self.closure(test):
                plan.add(self._place(test), f"it uses {file}")
        if path.parent == self.root / "harness/zvmlab/cli":
            self._reach_by_command(plan, file)
        self._reach_by_name(plan, file)

    def _reach_by_command(self, plan: Plan, file: str) -> None:
        """Tests that name a sub-command of this module, which is imported when it is called."""
        commands = [pair for group in GROUPS.values() for pair in group.items()]
        names = [name for name, command in commands if command.module == Path(file).stem]
        if not names:
            return
        named = re.compile(rf"""["'](?:{'|'.join(names)})["']|zvmlab (?:{'|'.join(names)})\b""")
        for test in self.tests(*HARNESS, "e2e"):
            if named.search(test.read_text(encoding="utf-8")):
                plan.add(self._place(test), f"it names a command of {file}")

    def _reach_part(self, plan: Plan, file: str) -> None:
        """A program or a module that tests in guests bring along: those that name it."""
        words = {Path(file).stem, Path(file).name, Path(file).parent.name} - {"programs", "bare"}
        naming = {
            path
            for path in (self.root / "tests/e2e").glob("*.py")
            if any(f'"{word}"' in path.read_text(encoding="utf-8") for word in words)
        }
        for test in self.tests("e2e"):
            if naming & self.closure(test):
                plan.add(self._place(test), f"it uses {file}")

    def _reach_c(self, plan: Plan, file: str) -> None:
        if file.startswith("tests/unit/") and any(file in m.main for m in self._modules.values()):
            plan.add(file, "it has changed")
            return
        module = self._module_of(file)
        prefix = self._prefix(file, module)
        self._reach_programs(plan, file, module)
        for name in self._modules:
            if name.startswith("tests/unit/") and module in self._used_by(name):
                self._reach_units(plan, name, file, module, prefix)
        if module.startswith("tests/"):
            if module == "tests/harness":
                for test in self.tests("harness"):
                    plan.add(self._place(test), f"it may run {file}")
            return
        patterns = next((p for name, p in self._table.items() if fnmatch.fnmatch(file, name)), None)
        for test in self.tests("e2e"):
            if patterns is None or any(fnmatch.fnmatch(test.name, one) for one in patterns):
                why = f"{TABLE} says so of {file}" if patterns else f"all may run {file}"
                plan.add(self._place(test), why)
        for test in self.tests("harness"):
            if prefix and f"_{prefix}" in test.stem:
                plan.add(self._place(test), f"its name has the part of {file}")

    def _reach_programs(self, plan: Plan, file: str, module: str) -> None:
        """The harness' tests that run a program which is linked with the file's module."""
        for helper, program in self._runs.items():
            if module not in self._used_by(program):
                continue
            for test in self.tests("harness"):
                if self.root / helper in self.closure(test):
                    plan.add(self._place(test), f"it runs a program with {file}")

    def _module_of(self, file: str) -> str:
        owners = [name for name in self._modules if file.startswith(f"{name}/")]
        return max(owners, key=len, default=str(Path(file).parent))

    @functools.cache
    def _used_by(self, name: str) -> set[str]:
        """Modules that a program of this one is linked with, and itself."""
        return {folder.name for folder in module_mk.closure(self.root, name)}

    @staticmethod
    def _prefix(file: str, module: str) -> str:
        """The part: the folder within the module, or the first word of the file's name."""
        inner = Path(file).relative_to(module) if file.startswith(f"{module}/") else Path(file)
        folders = [part for part in inner.parts[:-1] if part not in ("include", "zvmlab")]
        return folders[0] if folders else inner.stem.split("_")[0]

    def _reach_units(self, plan: Plan, name: str, file: str, module: str, prefix: str) -> None:
        """Of another module's tests, those of the part; all, if its header has changed."""
        for source in self._modules[name].main:
            path = self.root / source if not Path(source).is_absolute() else Path(source)
            place = self._place(path)
            whole = file.endswith((".h", ".def", ".mk")) or name == module
            # The core has a folder for each of its parts; the files of other modules are one part.
            whole |= module != "sim/cp" and place.startswith(f"tests/unit/{module}/")
            if whole:
                plan.add(place, f"it is built with {file}")
            elif f"/{prefix}/" in place or re.search(
                rf"\b{prefix}_\w+\(|test_{prefix}", f"{place} {path.read_text(encoding='utf-8')}"
            ):
                plan.add(place, f"it is of the part of {file}")


def _run(make: str, build: str, plan: Plan, jobs: Sequence[str]) -> int:
    """Unit tests, tests of the harness, tests in guests; the worst exit code."""
    steps: list[list[str]] = []
    if plan.units:
        runs = [f"{build}/unit/{name}.run" for name in sorted(plan.units)]
        steps.append(["--keep-going", "--output-sync=target", *jobs, *runs])
    for target, files in (("check-harness", plan.host), ("check-e2e", plan.guests)):
        if files:
            steps.append([target, "SPEED=--short", f"TESTS=--ff {' '.join(sorted(files))}"])
    codes = [
        subprocess.run([make, "--no-print-directory", *step], check=False).returncode
        for step in steps
    ]
    return max(codes, default=0)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Run the tests that a change can reach.")
    parser.add_argument("--base", default="main", help="compare with this branch (default: main)")
    parser.add_argument("--make", default="make", help="the make to run")
    parser.add_argument("--build", default="build", help="its folder of builds")
    parser.add_argument("--jobs", default="4", help="how many at a time")
    parser.add_argument("--list", action="store_true", help="tell what would run, and run nothing")
    options = parser.parse_args()
    try:
        files, dirty = changed(ROOT, options.base)
        plan = Tree(ROOT).plan(files)
    except UsageError as error:
        print(f"affected: {error}", file=sys.stderr)
        return EXIT_USAGE
    if dirty:
        print(f"affected: {len(dirty)} changed files are not committed, and count as well")
    if not files:
        print(f"affected: nothing differs from {options.base}")
    for line in plan.lines():
        print(f"affected: {line}")
    sys.stdout.flush()
    if options.list:
        return 0
    return _run(options.make, options.build, plan, [f"-j{options.jobs}"])


if __name__ == "__main__":
    sys.exit(main())
