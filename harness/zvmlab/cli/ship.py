# SPDX-License-Identifier: MIT
"""Copy artifacts into zvmlab's packages, so that guests need no compiler: zvmlab.base.shipped.

``python3 -m zvmlab.cli.ship PACKAGE FOLDER`` builds it where need be and copies it into
FOLDER/KIND-KEY, under the names under which the installed zvmlab looks for it.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from zvmlab.base import shipped
from zvmlab.base.errors import UsageError, exit_code
from zvmlab.base.progress import Progress
from zvmlab.builder import guesttools, herculesbuild, image, qemubuild
from zvmlab.cli import top
from zvmlab.cp import replay
from zvmlab.fabricate import model
from zvmlab.mondata import monrec

Builder = Callable[[Progress], object]


def _tool(name: str) -> Builder:
    return lambda progress: guesttools.build_tool(name, progress)


PACKAGES: dict[str, tuple[Builder, ...]] = {
    "zvmlab": (
        image.build_agent,
        *map(_tool, guesttools.LINKED),
        *(replay.program, model.library, monrec.library, top.program),
    ),
    "zvmlab-qemu": (qemubuild.build_qemu,),
    "zvmlab-hercules": (herculesbuild.build_module,),
}
"""What each package has: the functions that ask the cache for it, last for what they give."""


def ship(package: str, into: Path, progress: Progress) -> list[Path]:
    """Copy what *package* has into the folder *into*; the files there."""
    if package not in PACKAGES:
        raise UsageError(f"unknown package: {package} (possible: {', '.join(PACKAGES)})")
    made = []
    for build in PACKAGES[package]:
        with shipped.collecting() as used:
            found = build(progress)
        (one,) = [one for one in used if one.folder / one.artifact == found]
        file = into / one.name / one.artifact
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(one.folder / one.artifact, file)
        made.append(file)
    return made


def main(words: Sequence[str]) -> None:
    """Print the files' paths."""
    if len(words) != 2:
        raise UsageError("usage: python3 -m zvmlab.cli.ship PACKAGE FOLDER")
    for file in ship(words[0], Path(words[1]), Progress()):
        print(file)


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:])))
