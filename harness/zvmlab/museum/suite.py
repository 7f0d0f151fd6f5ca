# SPDX-License-Identifier: MIT
"""Does the ordinary suite notice a change of Linux?

    with both_sides(kernel, change, seconds, progress) as both:
        tests = mapped_tests(both.files, read_map(both.series))
        noticing(both, tests, Unchanged()).by   # the first test that has another result with it

The tests are those that the map of Linux' functions gives (guest/linux_map.json), and those of the
driver that are newer than the map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from zvmlab.base.errors import Timeout
from zvmlab.museum.edited import Both
from zvmlab.museum.watchful import has_noticed, watchful_first
from zvmlab.verdict.applied import Applied
from zvmlab.verdict.choice import Map, choose, newer_tests
from zvmlab.verdict.compare import Results, better, worse
from zvmlab.verdict.runs import Seen, short_name


@dataclass
class Unchanged:
    """What tests show without any change, so that each runs there once."""

    results: dict[str, Results] = field(default_factory=dict)
    ends: set[str] = field(default_factory=set)
    """Tests that end "pytest -x" there, too: they fail, or no longer fail as is expected."""


@dataclass(frozen=True)
class Noticing:
    """What the tests made of a change."""

    by: str = ""
    """The first test that has another result; "" if none has."""
    text: str = ""
    """What it said."""
    hung: bool = False
    """The tests did not end."""
    ran: int = 0


def mapped_tests(files: Applied, known: Map) -> list[str]:
    """The tests of the functions that differ, the most useful first.

    Those that have noticed other changes of the files come before them, and the tests of the driver
    that are newer than the map last.
    """
    tests = [*choose(files, known, most=None).tests, *newer_tests(files, known)]
    return watchful_first(files, tests)


def noticing(
    both: Both, tests: Sequence[str], unchanged: Unchanged, options: Sequence[str] = ()
) -> Noticing:
    """Run the tests with the change until one has another result than without it."""
    asked = _Asked(both, unchanged, options)
    last = [test for test in tests if test in unchanged.ends]
    left = [test for test in tests if test not in unchanged.ends]
    try:
        while left and not asked.by:
            done = [_test(one) for one in asked.run(["-x", *left]).values()]
            if not done:
                break
            left = [test for test in left if test not in done]
            if left:
                unchanged.ends.add(done[-1])
        if last and not asked.by:
            asked.run(last)
    except Timeout:
        return Noticing("tests", "they did not end", True, asked.ran)
    return Noticing(asked.by, asked.text, False, asked.ran)


class _Asked:
    """Runs tests with a change, and compares."""

    def __init__(self, both: Both, unchanged: Unchanged, options: Sequence[str]) -> None:
        self._both = both
        self._known = unchanged.results
        self._options = options
        self.ran = 0
        self.by, self.text = "", ""

    def run(self, words: Sequence[str]) -> Results:
        """The results; *by* becomes the first test that has another one than without the change."""
        results = self._both.changed([*self._options, *words])
        self.ran += sum(one.holds is not None for one in results.values())
        for key in self._suspects(results):
            one, test = results[key], _test(results[key])
            if test not in self._known:
                self._known[test] = self._both.base([*self._options, test])
            before = self._known[test].get(key)
            if before is not None and (worse(before, one) or better(before, one)):
                self.by, self.text = short_name(key), one.text
                has_noticed(self._both.files, test)
                break
        return results

    def _suspects(self, results: Results) -> list[str]:
        """Those that fail, those that cost nothing to compare, and the one that may have ended the
        run, as an expected failure does that fails no more."""
        failing = [key for key, one in results.items() if one.holds is False and not one.known]
        free = [key for key, one in results.items() if _test(one) in self._known]
        return list(dict.fromkeys([*failing, *free, *list(results)[-1:]]))


def _test(one: Seen) -> str:
    return one.node.partition("[")[0]
