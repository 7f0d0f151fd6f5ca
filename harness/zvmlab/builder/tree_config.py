# SPDX-License-Identifier: MIT
"""The configuration of a kernel source tree: requested, and as make wrote it.

A minimal kernel has what `guest/kernel.config` names and nothing else, a full one all of
Debian's, or of a file of the user's, with our lines over it: `guest/full.config` says what
guests or this machine could not do with, `guest/since-SERIES.config` what that series and later
ones need beside it, `guest/debug.config` and `guest/fuzz.config` what looks for mistakes,
`guest/checks-since-SERIES.config` what both have in that series and later ones, and
`guest/coverage.config` what counts lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import digest
from zvmlab.base.errors import UsageError
from zvmlab.builder import kbuild
from zvmlab.builder.image import compiler_version
from zvmlab.builder.kbuild import COMMON, MAKE, TARGETS, lost_lines
from zvmlab.builder.tree_name import COVERAGE_WORD, FULL, MINIMAL, TreeName, number_of

OURS = "zvmlab.config"
"""Our lines, in the folder of the build."""
NEEDED = (
    *("MODULES", "BLK_DEV_INITRD", "RD_GZIP", "BINFMT_ELF", "PROC_FS", "SYSFS", "TMPFS"),
    *("NET", "IUCV", "AFIUCV"),
)
"""Without one of these no guest says that it is there."""
_MOST_NAMED = 12
_END_OF_VERSION = "CONFIG_LOCALVERSION"


@dataclass(frozen=True)
class Wanted:
    """A configuration that is asked for."""

    base: str | None
    """Another one, which ours comes on top of; None: all is off that ours does not name."""
    ours: str
    words: tuple[str, ...] = ()
    """Further settings of make."""

    @property
    def recipe(self) -> str:
        """Changes with it, and with all else that the build is told."""
        base = "" if self.base is None else f"base {self.base}"
        return digest(base, self.ours, compiler_version(), " ".join((*MAKE, *self.words, *TARGETS)))

    def goal(self, out: Path) -> list[str]:
        """Write it into the folder *out*; the words of make that turn it into a whole one."""
        (out / OURS).write_text(self.ours, encoding="utf-8")
        if self.base is None:
            return [f"KCONFIG_ALLCONFIG={out / OURS}", "allnoconfig"]
        (out / ".config").write_text(f"{self.base}\n{self.ours}", encoding="utf-8")
        return ["olddefconfig"]


def wanted(
    name: TreeName, series: str, debian: Callable[[], str], words: Sequence[str] = ()
) -> Wanted:
    """The configuration for a tree of that series; *debian*: Debian's, of a similar kernel."""
    base = None
    if name.config != MINIMAL:
        base = debian() if name.config == FULL else _text(name)
    return Wanted(base, _ours(name, series), tuple(words))


def leaves_out(name: TreeName, option: str) -> bool:
    """Is *option*, such as INET, off because nobody asks for it?  Of ours alone this is known."""
    return name.config == MINIMAL and not _is_on(f"CONFIG_{option}", _ours(name, name.release))


def _ours(name: TreeName, series: str) -> str:
    parts = [COMMON, *_since("", series)]
    parts += ["full.config"] if name.config != MINIMAL else []
    parts += [f"{name.checks}.config", *_since("checks-", series)] if name.checks else []
    parts += [f"{COVERAGE_WORD}.config"] if name.coverage else []
    return _merged((kbuild.CONFIGS / part).read_text(encoding="utf-8") for part in parts)


def _since(what: str, series: str) -> list[str]:
    """Names of such files of this series and earlier ones, the earliest first."""
    found = {
        number_of(file.stem.rpartition("-")[2]): file.name
        for file in kbuild.CONFIGS.glob(f"{what}since-*.config")
    }
    return [name for since, name in sorted(found.items()) if since <= number_of(series)]


def _merged(texts: Iterable[str]) -> str:
    """All lines; of several for one option the last, and one end of the version out of all."""
    merged: dict[str, str] = {}
    ends = []
    for line in "".join(texts).splitlines():
        option = re.match(r"(?:# )?(CONFIG_\w+)[= ]", line)
        if option and option[1] == _END_OF_VERSION:
            ends.append(line.partition("=")[2].strip('"'))
            line = f'{_END_OF_VERSION}="{"".join(dict.fromkeys(ends))}"'
        merged[option[1] if option else str(len(merged))] = line
    return "".join(f"{line}\n" for line in merged.values())


def _text(name: TreeName) -> str:
    file = name.file
    assert file is not None
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the configuration {file} cannot be read: {error}") from None
    if not re.search(r"^CONFIG_\w+=", text, re.MULTILINE):
        raise UsageError(f"{file} is no configuration of Linux: it has no line CONFIG_NAME=VALUE")
    return text


def judge(ours: str, made: str, kconfigs: Iterable[str], place: str) -> str | None:
    """A sentence about lines of ours that the configuration *made* lacks; None if it has all.

    UsageError if a guest cannot do without it.
    """
    lines = lost_lines(ours, made)
    lost = {re.split(r"[= ]", line.removeprefix("# "))[0]: line for line in lines}
    # An empty text of what is off is as asked for.
    lost = {name: line for name, line in lost.items() if line != f'{name}=""'}
    off = [name for name in lost if not _is_on(name, made)]
    known = _known(off, kconfigs) if off else set()
    for name in NEEDED:
        if f"CONFIG_{name}" in off:
            why = (
                "is off, because of what it depends on"
                if f"CONFIG_{name}" in known
                else "is unknown"
            )
            raise UsageError(f"{place} cannot be a guest's kernel: CONFIG_{name} {why} there")
    said = []
    unknown = [name for name in off if name not in known]
    refused = [lost[name] for name in lost if name not in unknown]
    if unknown:
        said.append(f"does not know {_some(unknown)}")
    if refused:
        said.append(f"does not take {_some(refused)}, because of what they depend on")
    return f"{place} {' and '.join(said)}" if said else None


def _is_on(name: str, made: str) -> bool:
    return re.search(rf"^{re.escape(name)}=", made, re.MULTILINE) is not None


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _known(names: Iterable[str], kconfigs: Iterable[str]) -> set[str]:
    """The names CONFIG_NAME that a tree describes."""
    described: set[str] = set()
    for file in kconfigs:
        try:
            text = Path(file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # It has just gone; make will say what that means.
        described.update(re.findall(r"^\s*(?:menu)?config\s+(\w+)", text, re.MULTILINE))
    return {name for name in names if name.removeprefix("CONFIG_") in described}
