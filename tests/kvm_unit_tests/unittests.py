# SPDX-License-Identifier: MIT
"""The list of tests in a source tree of kvm-unit-tests: s390x/unittests.cfg."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.errors import UsageError

LIST = "s390x/unittests.cfg"
_PARTS = re.compile(
    r"^\[(?P<name>[^]\n]+)\][ \t]*$"
    r'|^(?P<key>\w+)[ \t]*=[ \t]*(?P<value>"""(?:.|\n)*?"""|[^\n]*)$',
    re.MULTILINE,
)
DEFAULT_SECONDS = 90


@dataclass(frozen=True)
class Case:
    """A test: a program, and the machine that it asks for."""

    name: str
    file: str
    cpus: int = 1
    arguments: str = ""
    """For the program."""
    options: tuple[str, ...] = ()
    """For QEMU."""
    seconds: int = DEFAULT_SECONDS
    accelerator: str = ""
    groups: tuple[str, ...] = ()

    @property
    def migrates(self) -> bool:
        """Whether it asks to be saved and restored in the middle."""
        return "migration" in self.groups

    def why_not(self) -> str:
        """Why it cannot run without KVM; "" if it can."""
        if self.accelerator not in ("", "tcg"):
            return f"needs {self.accelerator}"
        if "pv-host" in self.groups:
            return "needs a host for protected guests"
        return ""


def _unquoted(text: str) -> str:
    value = text.strip()
    for quote in ('"""', '"', "'"):
        if len(value) >= 2 * len(quote) and value.startswith(quote) and value.endswith(quote):
            return value[len(quote) : -len(quote)]
    return value


def _number(name: str, key: str, value: str, most: int) -> int:
    if not value.isascii() or not value.isdigit() or not 0 < int(value) <= most:
        raise UsageError(f"{LIST}: [{name}] has {key} = {value!r}; it takes 1 to {most}")
    return int(value)


def _test(name: str, said: dict[str, str]) -> Case:
    if not re.fullmatch(r"[\w.+-]+", name):
        raise UsageError(f"{LIST}: {name!r} is not the name of a test")
    file = said.get("file", "")
    if not re.fullmatch(r"[\w.-]+\.elf", file):
        raise UsageError(f"{LIST}: [{name}] has file = {file!r}; it takes NAME.elf")
    options: str = said.get("qemu_params") or said.get("extra_params") or ""
    try:
        words = shlex.split(options.replace("\\\n", " "))
    except ValueError as error:
        raise UsageError(f"{LIST}: [{name}] has options that cannot be read: {error}") from None
    return Case(
        name,
        file,
        _number(name, "smp", said.get("smp", "1"), 248),
        said.get("test_args", ""),
        tuple(words),
        _number(name, "timeout", said.get("timeout", str(DEFAULT_SECONDS)), 3600),
        said.get("accel", ""),
        tuple(said.get("groups", "").split()),
    )


def cases_of(text: str) -> list[Case]:
    """The tests of a list, in order."""
    found: dict[str, dict[str, str]] = {}
    name = ""
    for match in _PARTS.finditer(text):
        if match["name"]:
            name = match["name"]
            found[name] = {}
        elif name:
            found[name][match["key"]] = _unquoted(match["value"])
    return [_test(name, said) for name, said in found.items()]


def read(source: Path) -> list[Case]:
    """The tests of a source tree."""
    if not (source / LIST).is_file() or not (source / "configure").is_file():
        raise UsageError(
            f"{source} is not a source tree of kvm-unit-tests: it has no configure and {LIST};"
            " say make kvm-unit-tests SOURCE=DIR, where DIR is one"
        )
    try:
        tests = cases_of((source / LIST).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{source / LIST} cannot be read: {error}") from None
    if not tests:
        raise UsageError(f"{source / LIST} lists no tests")
    return tests
