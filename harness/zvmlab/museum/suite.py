# SPDX-License-Identifier: MIT
"""Does the ordinary suite notice a change of Linux?

    with both_sides(kernel, change, seconds, progress) as both:
        tests = mapped_tests(both.files, read_map("7.2"))
        noticing(both, tests, {}).by            # the first test that has another result with it

The tests are those that the map of Linux' functions gives (guest/linux_map.json).
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

from zvmlab.base.errors import Timeout
from zvmlab.museum.edited import Both
from zvmlab.verdict.applied import Applied
from zvmlab.verdict.choice import Map, choose
from zvmlab.verdict.compare import Results, better, worse
from zvmlab.verdict.runs import Seen, short_name

Known = MutableMapping[str, Results]
"""What tests show without the change, so that each runs there once."""


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
    """The tests of the functions that differ, the most useful first."""
    return choose(files, known, most=None).tests


def noticing(
    both: Both, tests: Sequence[str], known: Known, options: Sequence[str] = ()
) -> Noticing:
    """Run the tests with the change until one has another result than without it."""
    left, ran = list(tests), 0
    while left:
        try:
            results = both.changed([*options, "-x", *left])
        except Timeout:
            return Noticing("tests", "they did not end", True, ran)
        ran += sum(one.holds is not None for one in results.values())
        if not results:
            break
        # An expected failure that does not fail any more ends the run as well.
        last = list(results)[-1]
        suspects = [key for key, one in results.items() if one.holds is False and not one.known]
        for key in dict.fromkeys([*suspects, last]):
            one, test = results[key], _test(results[key])
            if test not in known:
                known[test] = both.base([*options, test])
            before = known[test].get(key)
            if before is not None and (worse(before, one) or better(before, one)):
                return Noticing(short_name(key), one.text, False, ran)
        done = {_test(one) for one in results.values()}
        left = [test for test in left if test not in done]
    return Noticing(ran=ran)


def _test(one: Seen) -> str:
    return one.node.partition("[")[0]
