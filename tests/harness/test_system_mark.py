# SPDX-License-Identifier: MIT
"""mark.zvmlab_system: the users that it names, and one sentence for what cannot be."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.guest.config import DEFAULT_SEGMENTS, GuestConfig
from zvmlab.pytest_plugin.systems import Described, described


class _Item:
    """As much of a test as is asked for its mark."""

    def __init__(self, mark: SimpleNamespace | None = None) -> None:
        self._mark = mark

    def get_closest_marker(self, name: str) -> SimpleNamespace | None:
        assert name == "zvmlab_system"
        return self._mark


def _described(*arguments: Any, **words: Any) -> Described:
    item = _Item(SimpleNamespace(args=arguments, kwargs=words))
    return described(cast(pytest.Item, item), GuestConfig(kernel="sid"))


def test_without_a_mark() -> None:
    found = described(cast(pytest.Item, _Item()), GuestConfig(kernel="sid"))
    assert list(found.users) == ["ALICE", "BOB"]
    assert found.segments == DEFAULT_SEGMENTS
    assert {user.kernel for user in found.users.values()} == {"sid"}


def test_users_and_segments() -> None:
    segment = "OTHER 9000-90FF SC"
    found = _described(
        TESTER={"kernel": "trixie", "cp": {"class": "B"}}, ALICE={"cpus": 2}, segments=[segment]
    )
    assert found.segments == (segment,)
    assert list(found.users) == ["TESTER", "ALICE"]
    tester, alice = found.users.values()
    assert (tester.kernel, tester.cp) == ("trixie", {"class": "B", "userid": "TESTER"})
    assert (alice.kernel, alice.cpus, alice.cp) == ("sid", 2, {"userid": "ALICE"})
    assert tester.segments == alice.segments == (segment,)


def test_who_logs_on_later() -> None:
    found = _described(ALICE={}, BOB={"later": True, "cpus": 2}, CAROL={"later": False})
    assert found.later == {"BOB"}
    assert list(found.users) == ["ALICE", "BOB", "CAROL"]
    assert found.users["BOB"].cpus == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"segments": ()}, "mark zvmlab_system names no user"),
        ({"ALICE": 3}, r"ALICE is 3; it must be a dict of fields"),
        ({"ALICE": {"cpu": 3}}, "a user has no field cpu; did you mean cpus"),
        ({"ALICE": {"segments": ()}}, "a user has no field segments"),
        ({"ALICE": {"cpus": 65}}, "invalid number of CPUs: 65"),
        ({"OPERATOR": {}}, "mark zvmlab_system: OPERATOR is the user ID of CP's operator"),
        ({"alice": {}}, 'the user ID "alice" is not 1 to 8 characters A to Z'),
    ],
)
def test_what_cannot_be(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        _described(**words)
    with pytest.raises(UsageError, match="takes names only"):
        _described(1)
