#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Build modules with our corrections for a kernel: corrected_modules.py FOLDER KERNEL

KERNEL is one of Debian's, by suite or series, such as "bookworm" or "6.12", or one that is built from a
source tree in one configuration, such as "source:7.2:debug".  FOLDER gets the corrected sources, and the
file "replaced" with the modules' paths, for the environment variable ZVMLAB_REPLACED_MODULES.  Prints the
options with which pytest tests the kernel with these modules, such as
"--kernel bookworm --corrected=af_iucv-1".

What the kernel has built in cannot be corrected so; standard error names those corrections.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from zvmlab.base.errors import UsageError, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.base.source_change import ChangeError, Place, changed
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.kernels import resolve
from zvmlab.builder.linux_corrections import Correction, corrections, supported
from zvmlab.builder.modulebuild import build_folder, built_modules
from zvmlab.verdict.applied import File, tree_file
from zvmlab.verdict.parts import Folder, modular_parts, text_of
from zvmlab.verdict.sides import targets_of

HEADERS = "include/"
# What a kernel for s390 is built from.
CODE = ("arch/s390", "block", "crypto", "drivers", "fs", "include", "kernel", "lib", "mm", "net")
GREP_SECONDS = 300


@dataclass
class Modular:
    """The corrections of a kernel's modules."""

    tree: Path
    config: Path
    texts: dict[str, str] = field(default_factory=dict)
    """The corrected files."""
    made: list[Correction] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """What is not corrected, and why."""
    _not_needed: list[Correction] = field(default_factory=list)

    def add(self, correction: Correction, series: str) -> None:
        """Make the correction, if modules alone are built from the files that it changes."""
        places = correction.change.within(series)
        name = f"{correction.part} {correction.file.stem}"
        users = self._users(places)
        files = {place.file for place in places} | users
        others = sorted(file for file in files if not self._is_of_module(file, users))
        if not places:
            self._not_needed.append(correction)
            return
        if others:
            self.left_out.append(f"{name}: the kernel has {', '.join(others)} built in")
            return
        try:
            self.texts = changed(self.tree, places, self.texts)
        except ChangeError as error:
            # It is made on top of one that is left out.
            self.left_out.append(f"{name}: {error}")
            return
        for user in users:
            self.texts.setdefault(user, text_of(tree_file(self.tree, user)))
        self.made.append(correction)

    @property
    def corrected(self) -> list[Correction]:
        """Also those that the tree has itself: Debian's kernel, which may be older, has not."""
        brought = [one for one in self._not_needed if one.files <= self.texts.keys()]
        return [*self.made, *brought]

    def _users(self, places: Iterable[Place]) -> set[str]:
        """Files of this kernel that include a header which is corrected: all of them are built anew."""
        headers = {place.file for place in places if place.file.startswith(HEADERS)}
        found = {user for header in headers for user in users_of(self.tree, header)}
        return {file for file in found if self._is_built(file)}

    def _is_built(self, name: str) -> bool:
        folder, stem = Folder(self.tree, str(Path(name).parent), self.config), Path(name).stem
        return name.endswith(".h") or bool(folder.modules_of(f"{stem}.c", {}))

    def _is_of_module(self, name: str, users: set[str]) -> bool:
        if name.startswith(HEADERS):
            # One that another header includes has users that are not looked for.
            return name not in users and bool(users)
        return bool(modular_parts(self.tree, [name], {}, self.config))

    def files(self, folder: str) -> dict[str, File]:
        """The corrected sources of a folder of the tree, which find corrected headers beside them."""
        headers = {name: text for name, text in self.texts.items() if name.startswith(HEADERS)}
        found = {}
        for name, text in self.texts.items():
            if str(Path(name).parent) != folder:
                continue
            for header, contents in headers.items():
                include = f"<{header.removeprefix(HEADERS)}>"
                if include in text:
                    text = text.replace(include, f'"{Path(header).name}"')
                    found[f"{folder}/{Path(header).name}"] = File(contents.encode())
            found[name] = File(text.encode())
        return found


def users_of(tree: Path, header: str) -> set[str]:
    """The files of a tree that include a header."""
    folders = [folder for folder in CODE if (tree / folder).is_dir()]
    include = f"<{header.removeprefix(HEADERS)}>"
    argv = ["grep", "-rlF", "--include=*.[ch]", f"#include {include}", *folders]
    done = subprocess.run(
        argv, cwd=tree, capture_output=True, text=True, check=False, timeout=GREP_SECONDS
    )
    if done.returncode not in (0, 1):
        raise UsageError(f"{tree} cannot be searched: {done.stderr.strip()}")
    return set(done.stdout.splitlines())


def corrected_modules(
    folder: Path, kernel: Kernel, modular: Modular, progress: Progress
) -> list[Path]:
    """Build the modules of the corrected files."""
    sources = [name for name in modular.texts if not name.startswith(HEADERS)]
    modules: list[Path] = []
    for part in modular_parts(modular.tree, sources, {}, modular.config) or ():
        place = folder / part.folder.replace("/", "-")
        shutil.rmtree(place, ignore_errors=True)
        files = modular.files(part.folder)
        Folder(modular.tree, part.folder, modular.config).write(place, files, part.modules)
        modules += built_modules(place, kernel, progress).values()
    return modules


def options_of(name: str, made: Iterable[Correction]) -> list[str]:
    """For pytest."""
    defects = [defect for correction in made for defect in correction.defects]
    return ["--kernel", name, *(f"--corrected={defect}" for defect in defects)]


def main(argv: list[str]) -> int:
    """Return: exit code."""
    if len(argv) != 3:
        print(f"usage: {argv[0]} FOLDER KERNEL", file=sys.stderr)
        return 2
    folder, name, progress = Path(argv[1]), argv[2], Progress()
    try:
        target = targets_of(name, progress)[0]
        if not (target.packaged or target.words):
            raise UsageError(f"{name} needs a configuration: {name}:debug, for example")
        series, kernel = supported(target.tree), resolve(name, progress=progress)
        config = build_folder(kernel, progress).folder / "include/config/auto.conf"
        modular = Modular(target.tree, config)
        for correction in corrections():
            modular.add(correction, series)
        for line in modular.left_out:
            print(f"left out: {line}", file=sys.stderr)
        folder.mkdir(parents=True, exist_ok=True)
        modules = corrected_modules(folder, kernel, modular, progress)
        (folder / "replaced").write_text(":".join(map(str, modules)), encoding="utf-8")
    except (ChangeError, ZvmlabError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(*options_of(name, modular.corrected))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
