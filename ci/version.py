# SPDX-License-Identifier: MIT
"""The version of zvmlab is written in one place; does every other one say the same?

``version.py`` reads it from ``harness/zvmlab/base/version.py`` and names each place that differs, by file and
line; ``make lint`` calls it.  ``version.py --set 0.2.0`` writes another one everywhere but into the two
lists of changes, whose new entries people write.  Exit code: 0 if all is the same, 1 if not, 2 for
a version that is none.

What can read the number does: the Makefile, and pyproject.toml.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True)
class Place:
    """A file, and the lines in it that have the version, as group 1."""

    file: str
    pattern: str
    written: bool = True
    """By ``--set``; a list of changes is not, and only its first entry counts."""

    def found(self, text: str) -> list[re.Match[str]]:
        """The places with a version."""
        every = list(re.finditer(self.pattern, text, re.MULTILINE))
        return every if self.written else every[:1]


SOURCE = Place("harness/zvmlab/base/version.py", r'^__version__ = "(.*)"$')
_PAGES = ("dmmon.1", "libmonrec.3", "monread.1", "taskmon.1", "zvmlab.1")
PLACES = (
    Place("lib/base/zvmlab_version.h", r'^#define ZVMLAB_VERSION "(.*)"$'),
    Place("driver/mon_main.c", r'^MODULE_VERSION\("(.*)"\);$'),
    Place("driver/dkms.conf", r'^PACKAGE_VERSION="(.*)"$'),
    Place("driver/monreader.4", r"^\.Os zvmlab (.*)$"),
    Place("docs/zvmlab-system.5", r"^\.Os zvmlab (.*)$"),
    *(Place(f"docs/{page}", r"^\.Os zvmlab (.*)$") for page in _PAGES),
    *(
        Place(f"po/zh_CN/{page}.po", rf'^msg(?:id|str) "({VERSION.pattern})"$')
        for page in (*_PAGES, "monreader.4")
    ),
    Place("docs/control.md", r'^\{"zvmlab": \{"version": "(.*?)"'),
    Place("debian/changelog", r"^zvmlab \((.*)\)", written=False),
    # "After 0.1.0" is what 0.1.0 does not have yet.
    Place("CHANGELOG.md", r"^## (?:After )?(\d.*)$", written=False),
)


def version(root: Path) -> str:
    """The one that counts."""
    found = SOURCE.found((root / SOURCE.file).read_text(encoding="utf-8"))
    return found[0][1] if len(found) == 1 else ""


def differences(root: Path) -> Iterator[str]:
    """A sentence for each place that says something else, or nothing."""
    wanted = version(root)
    if not VERSION.fullmatch(wanted):
        yield f"{SOURCE.file}: no version such as 1.2.3: {wanted!r}"
        return
    for place in PLACES:
        try:
            text = (root / place.file).read_text(encoding="utf-8")
        except OSError as error:
            yield f"{place.file}: cannot be read: {error.strerror}"
            continue
        found = place.found(text)
        if not found:
            yield f"{place.file}: no version, where {wanted} is expected ({place.pattern})"
        for match in found:
            if match[1] != wanted:
                line = text.count("\n", 0, match.start()) + 1
                yield f"{place.file}:{line}: version {match[1]}, where {SOURCE.file} has {wanted}"


def write(root: Path, wanted: str) -> None:
    """Put it into the one place, and into all that follow."""
    for place in (SOURCE, *PLACES):
        if place.written:
            file = root / place.file
            text = file.read_text(encoding="utf-8")
            for match in reversed(place.found(text)):
                text = text[: match.start(1)] + wanted + text[match.end(1) :]
            file.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Check, or write and then check; the exit code."""
    if arguments:
        if arguments[0] != "--set" or len(arguments) != 2 or not VERSION.fullmatch(arguments[1]):
            print(f"usage: {sys.argv[0]} [--set N.N.N]", file=sys.stderr)
            return 2
        write(ROOT, arguments[1])
    found = list(differences(ROOT))
    for sentence in found:
        print(sentence, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
