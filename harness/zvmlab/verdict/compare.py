# SPDX-License-Identifier: MIT
"""Before and after: what is new with a series, and what decides nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zvmlab.verdict.allow import Allowed
from zvmlab.verdict.runs import Seen, short_name

REPEATS = 3
PASSES, BOTH = "passes", "fails on base, too"
FAILING, PASSING = "newly failing", "newly passing"
UNSTEADY, ALLOWED = "unsteady", "allowed"
Results = Mapping[str, Seen]


@dataclass(frozen=True)
class Finding:
    """A test that shows a difference."""

    test: str
    base: tuple[int, int]
    """It held so often, of so many repetitions."""
    patched: tuple[int, int]
    cause: str
    report: str
    inside: str


@dataclass(frozen=True)
class Effect:
    """A fault that does something else with the series, which is neither better nor worse."""

    test: str
    base: str
    patched: str


@dataclass(frozen=True)
class Report:
    """What the kernel reports with the series only."""

    report: str
    inside: str
    test: str


@dataclass
class Difference:
    """All that differs on one kernel."""

    failing: list[Finding] = field(default_factory=list)
    passing: list[Finding] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    unsteady: list[Finding] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    not_compared: list[str] = field(default_factory=list)
    """Tests that ran on one side only, with the reason."""
    compared: int = 0
    states: dict[str, str] = field(default_factory=dict)
    """What became of each test that ran on both sides."""

    def add(self, other: Difference) -> None:
        """Further tests; a report of the kernel that is there already is not new."""
        for mine, theirs in (
            (self.failing, other.failing),
            (self.passing, other.passing),
            (self.unsteady, other.unsteady),
        ):
            mine += theirs
        known = {(one.report, one.inside) for one in self.reports}
        self.reports += [one for one in other.reports if (one.report, one.inside) not in known]
        self.effects += other.effects
        self.not_compared += other.not_compared
        self.compared += other.compared
        self.states |= other.states


def worse(base: Seen, patched: Seen) -> bool:
    """Does it hold without the series only, or fail in another way than is known?"""
    if base.holds and patched.holds is False:
        return True
    return base.holds is False and base.known and patched.holds is False and not patched.known


def better(base: Seen, patched: Seen) -> bool:
    """Does it hold with the series only?"""
    return base.holds is False and patched.holds is True


def stops(base: Seen, patched: Seen) -> bool:
    """Does it hold without the series, and is skipped with it?  Then nobody knows whether it holds."""
    return bool(base.holds) and patched.holds is None


def other(base: Seen, patched: Seen) -> bool:
    """Does a fault do something else with the series?"""
    return base.effect != patched.effect and None not in (base.holds, patched.holds)


def newly_logged(base: Sequence[Results], patched: Results) -> dict[str, str]:
    """Kinds of warnings in the kernel's log that no test of base has, and the first test that has each.

    Of a test that does not hold on base nobody knows what its end would have logged there.
    """
    known = {kind for run in base for one in run.values() for kind in one.logged}
    held = {key for run in base for key, one in run.items() if one.holds}
    found: dict[str, str] = {}
    for key in sorted(held & patched.keys()):
        for kind in patched[key].logged.keys() - known:
            found.setdefault(kind, key)
    return found


def differing(base: Results, patched: Results) -> list[str]:
    """The tests to repeat."""
    both = base.keys() & patched.keys()
    differ = {
        key
        for key in both
        if any(how(base[key], patched[key]) for how in (worse, better, stops, other))
    }
    return sorted(differ | both & set(newly_logged([base], patched).values()))


def compare(
    base: Results,
    patched: Results,
    again_base: Sequence[Results] = (),
    again_patched: Sequence[Results] = (),
    allowed: Allowed = Allowed(()),
) -> Difference:
    """The differences; of tests that differ, the repetitions on both sides decide."""
    found = Difference()
    known_reports = {one.kind for run in (base, *again_base) for one in run.values() if one.report}
    for key in sorted(base.keys() | patched.keys()):
        one, now = base.get(key), patched.get(key)
        if one is None or now is None or None in (one.holds, now.holds) and not stops(one, now):
            reason = _not_compared(key, one, now)
            found.not_compared += [reason] if reason else []
            if now is not None:
                _add_report(found, key, now, known_reports, allowed)
            continue
        found.compared += 1
        state = PASSES if one.holds else BOTH
        unsteady = False
        mine = [one, *(run[key] for run in again_base if key in run)]
        theirs = [now, *(run[key] for run in again_patched if key in run)]
        if worse(one, now) or better(one, now) or stops(one, now):
            unsteady = not (_same(mine) and _same(theirs))
            state = UNSTEADY if unsteady else PASSING if better(one, now) else FAILING
            finding = _finding(key, mine, theirs)
            if state == FAILING and allowed.test(finding.test):
                state = ALLOWED
            kinds = {UNSTEADY: found.unsteady, PASSING: found.passing, FAILING: found.failing}
            kinds.get(state, []).append(finding)
        elif other(one, now) and len({run.effect for run in mine}) == 1:
            if len({run.effect for run in theirs}) == 1:
                found.effects.append(Effect(short_name(key), one.effect, now.effect))
        found.states[short_name(key)] = state
        if not unsteady:
            _add_report(found, key, now, known_reports, allowed)
    for kind, key in newly_logged([base, *again_base], patched).items():
        text = f"log: {patched[key].logged[kind]}"
        always = all(kind in run[key].logged for run in again_patched if key in run)
        if always and not allowed.report(text):
            found.reports.append(Report(text, "", short_name(key)))
    return found


def _add_report(found: Difference, key: str, now: Seen, known: set[str], allowed: Allowed) -> None:
    """What the kernel reports in this test, unless it is known, and known from now on."""
    if not now.report or now.kind in known:
        return
    known.add(now.kind)
    if not allowed.report(now.report):
        found.reports.append(Report(now.report, now.inside, short_name(key)))


def _same(runs: Sequence[Seen]) -> bool:
    return len({(one.holds, one.known) for one in runs}) == 1


def _finding(key: str, base: Sequence[Seen], patched: Sequence[Seen]) -> Finding:
    """The first run found the difference; where it was repeated, the repetitions are counted."""
    mine, theirs = base[1:] or base, patched[1:] or patched
    last = next((one for one in (*patched, *base) if not one.holds), patched[0])
    skipped = "skipped: " if last.holds is None else ""
    return Finding(
        short_name(key),
        (sum(bool(one.holds) for one in mine), len(mine)),
        (sum(bool(one.holds) for one in theirs), len(theirs)),
        f"{skipped}{last.cause}",
        last.report,
        last.inside,
    )


def _not_compared(key: str, base: Seen | None, patched: Seen | None) -> str:
    """A sentence if only one side has a result."""
    if base is not None and patched is not None and base.holds is None and patched.holds is None:
        return ""
    where = "with the series" if base is None or base.holds is None else "on base"
    return f"{short_name(key)} ran {where} only"
