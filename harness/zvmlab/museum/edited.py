# SPDX-License-Identifier: MIT
"""Kernels with edited sources.

    with edited("6.12", "af_iucv", {"net/iucv/af_iucv.c": text}, progress) as side:
        run(kernel=side.kernel, environment=side.environment)

An edited module is built for the kernel as it is, and takes the place of the kernel's own.  If the
file is part of the kernel itself, that is built, from a copy of its tree that is made of links; the
tree stays as it is.  A file with its own text gives the side without an edit: it is built in the
same way, so that nothing but the edit differs.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base import manifest
from zvmlab.base.cache import cache_root, digest, entry, locked_within
from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.owned import is_ours, mark
from zvmlab.base.progress import Progress
from zvmlab.builder.kernel import DEBIAN, REPLACED, Kernel
from zvmlab.builder.kernels import check_name, resolve
from zvmlab.builder.linux_source import source_tree
from zvmlab.builder.modulebuild import built_modules
from zvmlab.builder.modules import module_name
from zvmlab.builder.pattern_edit import write_text
from zvmlab.builder.tree_name import tree_name

LOCK_SECONDS = 3600
_HEADERS = (".h",)


@dataclass(frozen=True)
class Side:
    """What a guest is started with."""

    kernel: str
    """For --kernel."""
    environment: Mapping[str, str]
    """Besides this process's own."""


@contextlib.contextmanager
def edited(name: str, module: str, texts: Mapping[str, str], progress: Progress) -> Iterator[Side]:
    """Kernel *name* with these files of its tree; within the block it stays as it is.

    *module* is the module that the files are of, "" if they are part of the kernel.
    """
    check_name(name)
    if module:
        kernel = resolve(name, progress=progress)
        tree = source_of(name, kernel, progress)
        yield Side(name, {REPLACED: str(edited_module(kernel, tree, module, texts, progress))})
        return
    found = tree_name(name)
    if found is None:
        raise UsageError(
            f"{', '.join(sorted(texts))} is no module of kernel '{name}': name a source tree, such"
            " as --kernel source:6.12"
        )
    with _copy(source_of(name, None, progress), texts, progress) as copy:
        yield Side(str(copy) + name[len(found.place) :], {})


def source_of(name: str, kernel: Kernel | None, progress: Progress) -> Path:
    """The source tree of a kernel: the one that it is built from, or Debian's of its series."""
    tree = tree_name(name)
    if tree is not None and tree.series is None:
        return Path(tree.place).expanduser().resolve()
    series = tree.series if tree is not None else None
    if kernel is not None and kernel.suite in DEBIAN:
        series = ".".join(kernel.version.split(".")[:2])
    if series is None:
        raise UsageError(f"kernel '{name}' is neither one of Debian's nor a source tree")
    return source_tree(series, progress)[0]


def edited_module(
    kernel: Kernel, tree: Path, module: str, texts: Mapping[str, str], progress: Progress
) -> Path:
    """The module, built for *kernel* from the files of *tree*, but for *texts*."""
    folders = {Path(name).parent for name in texts}
    if len(folders) != 1:
        raise UsageError(f"{', '.join(sorted(texts))} are not of one module")
    folder = tree / folders.pop()
    names = _sources(folder, module)
    for name in texts:
        if Path(name).name not in names:
            raise UsageError(f"{name} is not a part of the module {module}")

    def make(into: Path) -> None:
        work = into / module
        work.mkdir()
        for name in names:
            shutil.copy(folder / name, work / name)
        for name, text in texts.items():
            write_text(work / Path(name).name, text)
        objects = " ".join(Path(name).stem + ".o" for name in names if name.endswith(".c"))
        several = f"{module}-y := {objects}\n" if objects != f"{module}.o" else ""
        (work / "Kbuild").write_text(f"obj-m := {module}.o\n{several}", encoding="utf-8")
        shutil.copy(built_modules(work, kernel, progress)[module_name(module)], into)
        shutil.rmtree(work)

    words = [word for name in sorted(texts) for word in (name, texts[name])]
    files = [folder / name for name in names]
    key = digest(kernel.version, str(kernel.image), *map(_bytes, words), *names, *files)
    return entry("museum-module", key, make, f"{module}.ko")


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogateescape")


def _objects(makefile: Path, module: str) -> list[str] | None:
    """The objects that the module is linked from; None if the Makefile does not make it."""
    text = makefile.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
    if not re.search(rf"\b{re.escape(module)}\.o\b", text):
        return None
    parts = re.findall(rf"^{re.escape(module)}-(?:objs|y)\s*[:+]?=(.*)$", text, re.MULTILINE)
    return " ".join(parts).split() or [f"{module}.o"]


def _sources(folder: Path, module: str) -> list[str]:
    """The C files of a module, and the headers beside them."""
    try:
        objects = _objects(folder / "Makefile", module)
        there = sorted(os.listdir(folder))
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}") from None
    wanted = {f"{Path(name).stem}.c" for name in objects or ()}
    if not wanted or not wanted <= set(there):
        raise UsageError(f"{folder} does not build a module {module}")
    return [name for name in there if name in wanted or name.endswith(_HEADERS)]


def _link(file: Path, link: Path) -> None:
    """A hard link, or a symbolic one where the file systems differ."""
    if file.is_symlink():
        link.symlink_to(os.readlink(file))
        return
    try:
        os.link(file, link)
    except OSError:
        link.symlink_to(file)


@contextlib.contextmanager
def _copy(tree: Path, texts: Mapping[str, str], progress: Progress) -> Iterator[Path]:
    """The copy of a source tree, with these files and no other difference."""
    folder = cache_root() / f"museum-tree-{digest(str(tree))}"
    with locked_within(folder.name, LOCK_SECONDS, f"a copy of {tree}", progress.say):
        copy = folder / tree.name
        try:
            copy.mkdir(parents=True, exist_ok=True)
            if not is_ours(folder):
                mark(folder, manifest.NOTHING)
            _synchronise(tree, copy)
            for name, text in texts.items():
                write_text(copy / name, text)
        except OSError as error:
            raise CannotRun(f"cannot write to {folder}: {error.strerror or error}") from error
        yield copy


def _synchronise(tree: Path, copy: Path) -> None:
    """Make *copy* a tree of links to the files of *tree* again; git's own are left out."""
    for top, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name != ".git"]
        inside = copy / Path(top).relative_to(tree)
        inside.mkdir(exist_ok=True)
        missing = {*folders, *names} - {".git"}
        with os.scandir(inside) as found:
            for there in found:
                if there.name in missing and _same(there.path, os.path.join(top, there.name)):
                    missing.discard(there.name)
                else:
                    _remove(Path(there.path))
        for name in missing:
            original = Path(top, name)
            if original.is_dir() and not original.is_symlink():
                (inside / name).mkdir()
            else:
                _link(original, inside / name)


def _same(copy: str, original: str) -> bool:
    """Is it a link to the original, or a folder as that is one?"""
    link, other = os.lstat(copy), os.lstat(original)
    if os.path.islink(original):
        return os.path.islink(copy) and os.readlink(copy) == os.readlink(original)
    if os.path.isdir(original):
        return not os.path.islink(copy) and os.path.isdir(copy)
    return os.path.samestat(link, other) or (
        os.path.islink(copy) and os.path.samestat(os.stat(copy), other)
    )


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
