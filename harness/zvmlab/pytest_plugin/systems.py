# SPDX-License-Identifier: MIT
"""Systems as a fixture: several guests on one CP, described by a mark.

    @pytest.mark.zvmlab_system(ALICE={}, BOB={"kernel": "trixie", "cpus": 2}, segments=["…"])
    def test_two(system): ...

Each name is a user ID, with fields of its GuestConfig; the kernel is the test's unless they name
another.  Without a mark there are ALICE and BOB.  One with ``"later": True`` is in CP's directory
only, until XAUTOLOG asks for it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.guest.config import DEFAULT_SEGMENTS, GuestConfig
from zvmlab.guest.system import System
from zvmlab.guest.system_file import check_userid

MARK = "zvmlab_system"
FIXTURE = "system"
USUAL: Mapping[str, Mapping[str, Any]] = {"ALICE": {}, "BOB": {}}
_OF_SYSTEM = ("segments", "system")


class Warm:
    """The system that tests with the same mark use one after the other; one at most.

    *folder* gives a new one's folder for its logs, which goes when it ends, unless *keep_logs*.
    """

    def __init__(self, folder: Callable[[], Path], keep_logs: bool) -> None:
        self._folder = folder
        self._keep_logs = keep_logs
        self._made: list[System] = []
        self._kept: tuple[Described, System] | None = None

    def get(self, wanted: Described) -> System | None:
        """The system as it was marked, if there is one like that; another one ends."""
        kept, self._kept = self._kept, None
        if kept is not None and kept[0] == wanted:
            return kept[1]
        if kept is not None:
            self.end(kept[1])
        return None

    def make(self, wanted: Described) -> System:
        """Like that, to be kept after a test: its logs are no test's."""
        system = System(wanted.segments, self._folder(), users=wanted.users)
        self._made.append(system)
        return system

    def keep(self, wanted: Described, system: System) -> bool:
        """Put it back for the next test, unless that cannot be done; a crash is raised."""
        for guest in system.guests.values():
            guest.end_judges()
            guest.settle()
        # Another mark is the test's own.
        if not system.can_go_back or system.marks != 1:
            return False
        system.put_back()
        self._kept = wanted, system
        return True

    def close(self) -> None:
        """End what is kept; raise what its guests have to answer for."""
        kept, self._kept = self._kept, None
        if kept is not None:
            self.end(kept[1])

    def end(self, system: System) -> None:
        """In order: what a guest has to answer for is raised when all have ended, and its logs stay."""
        try:
            for guest in list(system.guests.values()):
                guest.end()
        finally:
            system.stop()
        if system in self._made and not self._keep_logs:
            shutil.rmtree(system.logs, ignore_errors=True)


class Described(NamedTuple):
    """The system of a test."""

    segments: tuple[str, ...]
    users: dict[str, GuestConfig]
    later: frozenset[str]
    """Users that do not log on by themselves."""


def described(item: pytest.Item, plain: GuestConfig) -> Described:
    """What the mark says; UsageError if nothing can be like that.  *plain*: of whom it says nothing."""
    mark = item.get_closest_marker(MARK)
    if mark is not None and mark.args:
        raise UsageError(f"mark {MARK} takes names only, as in {MARK}(ALICE={{}}, BOB={{}})")
    words = dict(USUAL if mark is None else mark.kwargs)
    segments = tuple(words.pop("segments", DEFAULT_SEGMENTS))
    users: dict[str, GuestConfig] = {}
    later = set()
    for userid, fields in words.items():
        check_userid(userid, f"mark {MARK}")
        if not isinstance(fields, Mapping):
            raise UsageError(f"mark {MARK}: {userid} is {fields!r}; it must be a dict of fields")
        given: dict[str, Any] = dict(fields)
        if given.pop("later", False):
            later.add(userid)
        for name in given:
            possible = [known for known in GuestConfig._fields if known not in _OF_SYSTEM]
            if name not in possible:
                raise UsageError(
                    f"mark {MARK}: a user has no field {name}{did_you_mean(name, possible)}"
                )
        given["cp"] = {**given.get("cp", {}), "userid": userid}
        users[userid] = plain._replace(segments=segments, **given)
    if not users:
        raise UsageError(f"mark {MARK} names no user, as in {MARK}(ALICE={{}})")
    return Described(segments, users, frozenset(later))
