# SPDX-License-Identifier: MIT
"""Lines of Linux' sources at which covered blocks begin, for kernels that are built from a tree.

    with guest.cover("monreader") as cover:
        ...
        blocks = cover.blocks()
        found = cover.lines(blocks)
    for block in blocks:
        print(block, found.shown(block))

A block has no lines if its function is in none of the build's objects, or in several and nothing
tells in which; if the guest's module is not the one of the tree; or if the object's compiler gives
other code now (zvmlab.builder.object_lines).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from zvmlab.base.progress import Progress
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.kernel_tree import at_work
from zvmlab.builder.modules import module_files, read_module
from zvmlab.builder.object_lines import Place, TreeObjects
from zvmlab.guest.cover import Block, SourceLines
from zvmlab.guest.symbols import Function, Symbols, functions_of

_MOST_NAMED = 3

_Image = Mapping[str, Collection[Place]]
"""Where a kernel or a module has functions, by their names; the kernel's are at addresses, in no section."""


def source_lines(
    kernel: Kernel, symbols: Symbols, blocks: Iterable[Block], progress: Progress
) -> SourceLines:
    """The lines of blocks of a guest that runs *kernel*; *symbols* are those that found the blocks.

    The kernel is built from a tree; UsageError if that is not at the same state any more.
    """
    with at_work(kernel, progress):
        return _Search(kernel, symbols).lines(blocks, progress)


class _Linked:
    """What a kernel or a module was linked of."""

    def __init__(self, image: _Image, objects: Mapping[str, Mapping[str, Function]]) -> None:
        self._image = image
        self._objects = objects
        self._having: dict[str, list[str]] = defaultdict(list)
        for name, functions in objects.items():
            for function in functions:
                self._having[function].append(name)
        self._names: dict[Place, list[str]] = defaultdict(list)
        for function, places in image.items():
            for place in places:
                self._names[place].append(function)

    def find(self, start: Place) -> tuple[str, Function] | None:
        """The object that the function at this place comes from, and where it is there."""
        found = {
            name: self._objects[name][function]
            for function in self._names[start]
            for name in self._having.get(function, ())
        }

        def rank(name: str) -> tuple[int, bool]:
            return self._fitting(name, found[name], start), not found[name].weak

        ranked = sorted(found, key=rank, reverse=True)
        if not ranked or (len(ranked) > 1 and rank(ranked[0]) == rank(ranked[1])):
            return None
        return ranked[0], found[ranked[0]]

    def _fitting(self, name: str, function: Function, start: Place) -> int:
        """So many functions are where they have to be, if this one of an object is at *start*."""
        section, at = start
        return sum(
            (section, at + other.offset - function.offset) in self._image.get(known, ())
            for known, other in self._objects[name].items()
            if other.section == function.section
        )


class _Search:
    """Finds lines of one guest's blocks."""

    def __init__(self, kernel: Kernel, symbols: Symbols) -> None:
        self._kernel = kernel
        self._symbols = symbols
        self._objects = TreeObjects(kernel)
        self._missing: list[str] = []

    def lines(self, blocks: Iterable[Block], progress: Progress) -> SourceLines:
        """See source_lines()."""
        places: dict[Block, tuple[str, Place]] = {}
        by_module: dict[str | None, list[Block]] = defaultdict(list)
        for block in blocks:
            by_module[block.module].append(block)
        for module, some in by_module.items():
            linked = self._linked(module)
            for block in some:
                found = linked.find(self._start(block))
                if found is not None and block.offset < found[1].size:
                    name, function = found
                    places[block] = name, (function.section, function.offset + block.offset)
        return self._ask(places, progress)

    def _ask(self, places: Mapping[Block, tuple[str, Place]], progress: Progress) -> SourceLines:
        wanted: dict[str, set[Place]] = defaultdict(set)
        for name, place in places.values():
            wanted[name].add(place)
        found = self._objects.lines(wanted, progress)
        alike: dict[str, list[str]] = defaultdict(list)
        for name, why in found.missing.items():
            alike[why].append(name)
        for why, names in alike.items():
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            listed = ", ".join(names[:_MOST_NAMED]) + more
            self._missing.append(f"there are no lines of {listed}: {why}")
        lines = {
            block: found.lines[name, *place]
            for block, (name, place) in places.items()
            if (name, *place) in found.lines
        }
        return SourceLines(lines, self._missing)

    def _start(self, block: Block) -> Place:
        """Where its function begins."""
        if block.module is None:
            return "", block.address - block.offset
        function = self._symbols.functions(block.module)[block.function]
        return function.section, function.offset

    def _linked(self, module: str | None) -> _Linked:
        image: _Image
        if module is None:
            names = self._objects.of_kernel()
            own = self._symbols.kernel_functions.items()
            image = {function: {("", start) for start in starts} for function, starts in own}
        else:
            names = self._objects.of_module(module) if self._is_own(module) else []
            if not names:
                self._missing.append(
                    f"there are no lines of the module {module}: it is not the tree's own"
                )
            functions = self._symbols.functions(module).items()
            image = {function: {(at.section, at.offset)} for function, at in functions}
        objects = {name: functions_of(self._objects.read(name)) for name in names}
        return _Linked(image, objects)

    def _is_own(self, module: str) -> bool:
        """Has the guest loaded the module of this build?"""
        file = module_files(self._kernel._replace(replaced=())).get(module)
        return file is not None and self._symbols.is_of(module, read_module(Path(file)))
