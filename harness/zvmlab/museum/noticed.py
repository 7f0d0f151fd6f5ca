# SPDX-License-Identifier: MIT
"""Which bugs does the ordinary suite notice, and which only the tests that were written for them?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from zvmlab.base.errors import GuestPanic, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.builder.tree_name import series_of
from zvmlab.museum.bugs import Bug
from zvmlab.museum.edited import applied, edited
from zvmlab.museum.remembered import Remembered
from zvmlab.museum.show import first_line, kernel_of
from zvmlab.museum.suite import Noticing, Unchanged, mapped_tests, noticing
from zvmlab.verdict.applied import Applied
from zvmlab.verdict.choice import read_map
from zvmlab.verdict.sides import Target, targets_of

SECONDS = 7200
Say = Callable[[str], None]


@dataclass(frozen=True)
class Noticed:
    """Has the ordinary suite noticed a bug?"""

    bug: Bug
    what: Noticing = Noticing()
    own: bool = False
    """Only by the tests that show it."""
    why: str = ""
    """Why it could not be asked."""
    known: bool = False
    """Since an earlier run."""


def suite(
    bugs: Iterable[Bug], kernel: str, progress: Progress, say: Say, fresh: bool = False
) -> list[Noticed]:
    """Run the tests that the map gives for each bug; those that show it come last.

    What earlier runs have decided is asked only if it is to be *fresh*.
    """
    found: list[Noticed] = []
    asking = _Asking(kernel, progress, fresh)
    for bug in bugs:
        try:
            found.append(asking.about(bug))
        except GuestPanic:
            raise
        except ZvmlabError as error:
            found.append(Noticed(bug, why=str(error).splitlines()[0]))
        say(sentence(found[-1]))
    return found


@dataclass
class _Asking:
    """Runs the suite with one bug after the other."""

    kernel: str
    progress: Progress
    fresh: bool
    base: dict[tuple[str, ...], Unchanged] = field(default_factory=dict)

    def about(self, bug: Bug) -> Noticed:
        """Ask, or recall what was noticed before."""
        target = targets_of(kernel_of(bug, self.kernel), self.progress)[0]
        files = applied(target.tree, bug)
        mapped = mapped_tests(files, read_map(series_of(target.tree)))
        others = [test for test in mapped if test not in bug.tests]
        first = self._of(bug, target, files, others, "others")
        if first.what.by:
            return first
        last = self._of(bug, target, files, bug.tests, "own")
        what = replace(last.what, ran=first.what.ran + last.what.ran)
        return replace(last, what=what, own=bool(what.by))

    def _of(
        self, bug: Bug, target: Target, files: Applied, tests: Sequence[str], whose: str
    ) -> Noticed:
        memory = Remembered(target, files, [*bug.options, whose])
        what = None if self.fresh else memory.recall(tests)
        if what is not None:
            return Noticed(bug, what, known=True)
        what = self._ask(bug, tests)
        memory.keep(tests, what)
        return Noticed(bug, what)

    def _ask(self, bug: Bug, tests: Sequence[str]) -> Noticing:
        name = kernel_of(bug, self.kernel)
        runs = self.base.setdefault((name, *bug.options), Unchanged())
        with edited(name, bug, SECONDS, self.progress) as both:
            return noticing(both, tests, runs, bug.options)


def complete(found: Sequence[Noticed]) -> bool:
    """Has the suite noticed each of them, without the tests that were written for it?"""
    return all(one.what.by and not one.own for one in found)


def summary(found: Sequence[Noticed]) -> list[str]:
    """How many the suite has noticed, and which it has not."""
    asked = [one for one in found if not one.why]
    noticed = sum(bool(one.what.by) and not one.own for one in asked)
    share = f" ({100 * noticed // len(asked)} %)" if asked else ""
    groups = {
        "noticed only by the tests that show them": [one for one in asked if one.own],
        "not noticed": [one for one in asked if not one.what.by],
        "could not be asked": [one for one in found if one.why],
    }
    return [
        f"the suite noticed {noticed} of {len(asked)} bugs{share}",
        *(
            f"{what}: {', '.join(one.bug.id for one in some)}"
            for what, some in groups.items()
            if some
        ),
    ]


def sentence(noticed: Noticed) -> str:
    """One line for a bug."""
    what = noticed.what
    if noticed.why:
        return f"{noticed.bug.id}: cannot be asked: {noticed.why}"
    if what.hung:
        return f"{noticed.bug.id}: noticed, because the tests did not end"
    before = ", in an earlier run" if noticed.known else ""
    if not what.by:
        return f"{noticed.bug.id}: not noticed by {what.ran} tests{before}"
    own = ", which was written for it" if noticed.own else ""
    return f"{noticed.bug.id}: noticed by {what.by}{own} ({what.ran} tests{before}): {first_line(what.text)}"
