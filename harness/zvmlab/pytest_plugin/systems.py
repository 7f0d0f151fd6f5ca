# SPDX-License-Identifier: MIT
"""Systems as a fixture: several guests on one CP, described by a mark.

    @pytest.mark.zvmlab_system(ALICE={}, BOB={"kernel": "trixie", "cpus": 2}, segments=["…"])
    def test_two(system): ...

Each name is a user ID, with fields of its GuestConfig; the kernel is the test's unless they name
another.  Without a mark there are ALICE and BOB.  One with ``"later": True`` is in CP's directory
only, until XAUTOLOG asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.guest.config import DEFAULT_SEGMENTS, GuestConfig
from zvmlab.guest.system_file import check_userid

MARK = "zvmlab_system"
FIXTURE = "system"
USUAL: Mapping[str, Mapping[str, Any]] = {"ALICE": {}, "BOB": {}}
_OF_SYSTEM = ("segments", "system", "backend")


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
