# SPDX-License-Identifier: MIT
"""The two kernels of a verdict: base and patched, built from one folder each.

If only modules are touched, both sides are one kernel, and the modules are what differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from zvmlab.base.cache import digest
from zvmlab.base.errors import CannotRun, StepFailed, UsageError, ZvmlabError
from zvmlab.base.home import from_home
from zvmlab.base.progress import Progress
from zvmlab.builder.kernel import DEBIAN, REPLACED, Kernel, counts_lines, is_debug
from zvmlab.builder.kernel_tree import contents_of
from zvmlab.builder.kernels import check_name, resolve
from zvmlab.builder.linux_source import source_tree
from zvmlab.builder.modulebuild import Build, build_folder, built_modules
from zvmlab.builder.tree_name import COVERAGE_WORD, DEBUG_WORD, check_tree, tree_name
from zvmlab.verdict.applied import Applied, Files, tree_file
from zvmlab.verdict.overlay import overlay
from zvmlab.verdict.parts import Folder, Part, is_document, looks_modular, modular_parts

_SERIES = re.compile(r"(\d+\.\d+)\.")
BASE, PATCHED = "base", "patched"
_ALONE = (
    "; a module that needs more of the tree than its folder is built with a source tree only, such as"
    " source:6.12"
)


class BaseFails(UsageError):
    """The tree does not build without the series."""


class PatchedFails(ZvmlabError):
    """The tree does not build with the series."""


@dataclass(frozen=True)
class Target:
    """A kernel that the series is tried on, in one configuration."""

    name: str
    """As the user could name it."""
    tree: Path
    """The source that the series applies to."""
    words: str
    """What follows the tree in its name: ":debug"."""
    packaged: bool
    """One of Debian's, of which only modules are built."""

    @property
    def debug(self) -> bool:
        """Does it look for mistakes?"""
        return is_debug(self.name)

    @property
    def counts(self) -> bool:
        """Does it count which lines run?"""
        return counts_lines(self.name)


@dataclass(frozen=True)
class Side:
    """A kernel to run guests with."""

    kernel: str
    version: str
    replaced: tuple[Path, ...] = ()
    identity: str = ""
    """Changes with everything that its guests run."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Settings for the harness in addition to its own; modules of the user's are not of a side."""
        return {REPLACED: ":".join(map(str, self.replaced))}


@dataclass(frozen=True)
class Sides:
    """Both."""

    base: Side
    patched: Side
    build: Build
    """How single objects are built for this kernel."""
    kernel: str
    """Changes with everything that it is built from."""
    modules: tuple[str, ...] = field(default=())
    """The modules that differ; none: the whole kernel is built twice."""
    left_out: tuple[str, ...] = field(default=())
    """Sources that differ, and that neither side is built from in this configuration."""


def targets_of(name: str, progress: Progress) -> list[Target]:
    """The configurations of one --kernel: a tree without words has two, plain and debug."""
    check_name(name)
    found = tree_name(name)
    if found is not None:
        if found.series is not None:
            tree, _ = source_tree(found.series, progress)
        else:
            tree = from_home(found.place).resolve()
        check_tree(tree)
        words = name[len(found.place) :]
        both = ["", f":{DEBUG_WORD}"] if not words else [words]
        return [Target(f"{found.place}{one}", tree, one, False) for one in both]
    if not (name in DEBIAN or re.fullmatch(r"\d+\.\d+", name)):
        raise UsageError(
            f"kernel '{name}' has no source that a series could be applied to; name a source tree,"
            " source:6.12, or one of Debian's kernels"
        )
    return [Target(name, _source_of(resolve(name, progress=progress), progress), "", True)]


def counting(targets: Sequence[Target]) -> list[Target]:
    """The configurations that count lines, of trees that have none yet."""
    known = {target.tree for target in targets if target.counts}
    found: dict[Path, Target] = {}
    for target in targets:
        if not target.packaged and target.tree not in known:
            place = target.name.removesuffix(target.words)
            words = f":{COVERAGE_WORD}"
            found.setdefault(target.tree, Target(f"{place}{words}", target.tree, words, False))
    if not known and not found:
        raise UsageError("--coverage counts lines of source trees only; name one, as source:6.12")
    return list(found.values())


def _source_of(kernel: Kernel, progress: Progress) -> Path:
    """Debian's source of a packaged kernel's series: of the same or a later update."""
    series = _SERIES.match(kernel.version)
    if series is None:
        raise UsageError(f"the version {kernel.version} does not say of which series it is")
    return source_tree(series[1], progress)[0]


def build_sides(target: Target, applied: Applied, work: Path, progress: Progress) -> Sides:
    """Build both; BaseFails or PatchedFails with the compiler's first error."""
    tree = target.tree
    own = {name: file for name, file in applied.base.items() if tree_file(tree, name) != file}
    names = {name for name in [*applied.changed, *own] if not is_document(name)}
    # Modules that are built alone count no lines.
    if looks_modular(tree, names) and not target.counts:
        kernel = _built(target.name, BaseFails, progress)
        build = build_folder(kernel, progress)
        config = build.folder / "include/config/auto.conf"
        parts = modular_parts(tree, names, applied.patched, config)
        if parts is not None and not parts:
            raise _nothing(names, kernel)
        if parts is not None:
            return _of_modules(target, kernel, build, parts, applied, work, progress)
    if target.packaged:
        some = ", ".join(sorted(names)[:3])
        raise UsageError(
            f"the series changes more than modules of {target.name} ({some}), and a packaged kernel"
            " cannot be built again; name a source tree, such as source:6.12"
        )
    base = f"{_side_tree(work / BASE, tree, own)}{target.words}" if own else target.name
    kernel = _built(base, BaseFails, progress)
    build = build_folder(kernel, progress)
    changed = {name for name in applied.changed if not is_document(name)}
    left_out = _left_out(changed, build.folder)
    if left_out == sorted(changed):
        raise _nothing(changed, kernel)
    other = f"{_side_tree(work / PATCHED, tree, applied.patched)}{target.words}"
    patched = _built(other, PatchedFails, progress)
    left_out = _left_out(left_out, build_folder(patched, progress).folder)
    both = _side(base, kernel), _side(other, patched)
    return Sides(*both, build, _identity(kernel), left_out=tuple(left_out))


def _side(name: str, kernel: Kernel, replaced: tuple[Path, ...] = ()) -> Side:
    return Side(name, str(kernel), replaced, digest(_identity(kernel), *replaced))


def _identity(kernel: Kernel) -> str:
    return digest(kernel.version, kernel.suite, contents_of(kernel), kernel.image)


def _side_tree(folder: Path, tree: Path, files: Files) -> Path:
    """A tree with these files; it is made once for all configurations of a tree."""
    made = folder / (tree.name if tree.name != BASE else "linux")
    if not made.exists():
        overlay(made, tree, files)
    return made


def _built(name: str, fails: type[ZvmlabError], progress: Progress) -> Kernel:
    try:
        return resolve(name, progress=progress)
    except CannotRun:
        raise
    except (UsageError, StepFailed) as error:
        raise fails(str(error)) from error


def _nothing(names: set[str], kernel: Kernel) -> UsageError:
    return UsageError(
        f"the series touches only {', '.join(sorted(names)[:3])}, which kernel {kernel} is not built"
        " from in this configuration"
    )


def _left_out(names: Iterable[str], out: Path) -> list[str]:
    """Those of the sources that nothing in a kernel's build folder has been compiled from."""
    return sorted(name for name in _sources(names) if not _is_compiled(name, out))


def _sources(names: Iterable[str]) -> list[str]:
    return [n for n in names if PurePosixPath(n).suffix in (".c", ".S") and not is_document(n)]


def _is_compiled(name: str, out: Path) -> bool:
    """Is there an object of the source, or does kbuild's note of another one name it?"""
    path = out / name
    notes = path.parent.glob(".*.cmd")
    return path.with_suffix(".o").exists() or any(name in _text(note) for note in notes)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _modules_of(name: str, target: Target, config: Path) -> set[tuple[str, str]]:
    return Folder(target.tree, str(PurePosixPath(name).parent), config).modules_of(name, {})


def _of_modules(
    target: Target,
    kernel: Kernel,
    build: Build,
    parts: list[Part],
    applied: Applied,
    work: Path,
    progress: Progress,
) -> Sides:
    """One kernel, and the modules of both sides for it."""
    files: dict[str, tuple[Path, ...]] = {}
    config = build.folder / "include/config/auto.conf"
    for side, contents, fails in (
        (BASE, applied.base, BaseFails),
        (PATCHED, applied.patched, PatchedFails),
    ):
        made: list[Path] = []
        for part in parts:
            label = part.folder.replace("/", "-")
            folder = work / f"modules-{side}" / target.name.replace("/", "-") / label
            Folder(target.tree, part.folder, config).write(folder, contents, part.modules)
            try:
                built = built_modules(folder, kernel, progress)
            except UsageError as error:
                text = _plain_error(str(error), folder, part.folder)
                hint = _ALONE if target.packaged and side == BASE else ""
                raise fails(f"{text}{hint}") from error
            made += built.values()
        files[side] = tuple(made)
    modules = tuple(module for part in parts for module in part.modules)
    base, patched = (_side(target.name, kernel, files[side]) for side in (BASE, PATCHED))
    left_out = [name for name in _sources(applied.changed) if not _modules_of(name, target, config)]
    return Sides(base, patched, build, _identity(kernel), modules, tuple(left_out))


def _plain_error(text: str, folder: Path, name: str) -> str:
    """Name files as they are named in the tree."""
    return text.replace(str(folder), name)
