# SPDX-License-Identifier: MIT
"""Cases of a scenario of two guests: a call of either fails, or its machine's connection breaks.

A point's name has the user's in front: "ALICE iucv.send".
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from zvmlab.base.errors import EmulatorError, GuestPanic, Timeout, ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.cp.faults import armed, count
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.kernel_lines import Counts
from zvmlab.guest.pool import numbered
from zvmlab.guest.system import System
from zvmlab.scenarios.together import Together, TogetherScenario
from zvmlab.sweep.cases import LINK, LINK_CALLS, Case, Point, Subject
from zvmlab.sweep.run import (
    BAD_LINE,
    BROKEN,
    FAULT_PATIENCE,
    HANGS,
    LOG,
    PANIC,
    PANIC_ON_OOPS,
    RAISED,
    TASK,
    UNFIRED,
    UNUSABLE,
    USABLE_SECONDS,
    Counted,
    Result,
    Symptom,
    crash,
)

_CONSOLE_SECONDS = 20.0
_END_SECONDS = 60.0
# What ends the use of a system; after anything else it is put back.
_LAST = {PANIC, HANGS, UNUSABLE, BROKEN, LOG, RAISED}


class TogetherRunner:
    """A system that runs one case after the other, put back after each.

    *folder* takes the logs of its systems; those with a symptom are kept.  *counts* keeps which lines
    of Linux each case runs.
    """

    def __init__(
        self,
        scenario: TogetherScenario,
        usual: GuestConfig,
        folder: Path,
        counts: Counts | None = None,
    ) -> None:
        self._scenario = scenario
        self._configs = scenario.configs(usual)
        self._partners = {userid: scenario.partner(userid) for userid in self._configs}
        self._folders = numbered(folder)
        self._usual = usual
        self._counts = counts
        self._system: System | None = None
        self._abandoned = False
        self.booted = 0
        """Guests so far."""

    def count(self) -> Counted:
        """Run without a fault; ZvmlabError if not all is as it should be even then.

        Once for each user, as CP has no room for the rules that count the calls of both.
        """
        counted = [self._count(userid) for userid in self._configs]
        for other in counted[1:]:
            for difference in counted[0].outcome.differences(other.outcome):
                raise ZvmlabError(f"scenario {self._scenario.name} is not the same: {difference}")
        points = [point for one in counted for point in one.points]
        calls = {name: number for one in counted for name, number in one.calls.items()}
        return Counted(points, calls, {}, counted[0].outcome)

    def _count(self, userid: str) -> Counted:
        """The calls of that user."""
        system = self._at_start()
        control = system.guests[userid].control
        found = control.execute("query-fault-points")["points"]
        points = [Point(f"{userid} {p['point']}", tuple(p["kinds"])) for p in found]
        counted = [point for point in points if point.plain != LINK]
        result = Result("without a fault")
        context = Together(system.guests)
        try:
            subject = self._subject(userid)
            with armed(control, *map(subject.counter, counted)) as rules:
                self._play(context, result)
            self._judge(context, result)
        except ZvmlabError as error:
            result.symptoms.append(self._symptom(error))
        self._end_case(result)
        if result.symptoms:
            symptom = result.symptoms[0]
            raise ZvmlabError(
                f"scenario {self._scenario.name} fails without a fault: {symptom.kind}: {symptom.text}"
            )
        assert result.outcome is not None, "a run without symptoms has an outcome"
        calls = {point.name: rule.matched for point, rule in zip(counted, rules) if rule.matched}
        calls |= {point.name: len(LINK_CALLS) for point in points if point.plain == LINK}
        return Counted(points, calls, {}, result.outcome)

    def run(self, case: Case) -> Result:
        """Run with that fault."""
        result = Result(str(case))
        started = time.monotonic()
        try:
            self._run(self._at_start(), case, result)
        except ZvmlabError as error:
            result.symptoms.append(self._symptom(error))
        self._end_case(result)
        result.seconds = round(time.monotonic() - started, 3)
        return result

    def abandon(self) -> None:
        """From any thread: the case that runs ends soon, whatever it waits for; its result is void."""
        self._abandoned = True
        if self._system is not None:
            for guest in list(self._system.guests.values()):
                guest.kill()
            with contextlib.suppress(ZvmlabError):
                self._system.process.kill()

    def close(self) -> None:
        """Stop the guests."""
        if self._system is not None:
            self._system.stop()
            self._system = None

    def _at_start(self) -> System:
        """The guests as they were after their boot."""
        if self._abandoned:
            raise EmulatorError("the system has been stopped")
        if self._system is None:
            system = System(self._usual.segments, self._folders(self._usual), users=self._configs)
            self._system = system
            for userid, config in self._configs.items():
                system.guest(userid, config)
            system.boot_saved()
            self.booted += len(self._configs)
        for guest in self._system.guests.values():
            if self._counts is not None:
                self._counts.begin(guest)
            guest.agent.write_file(PANIC_ON_OOPS, b"1")
        return self._system

    def _run(self, system: System, case: Case, result: Result) -> None:
        point = Point(case.point, ())
        victim = system.guests[point.user]
        context = Together(system.guests, FAULT_PATIENCE)
        other = system.guests[self._partners[point.user]]
        with armed(other.control, case.fault(self._subject(point.user))) as rules:
            if point.plain == LINK:
                self._cut(context, system, victim, point.user, result)
            else:
                self._play(context, result)
            count(other.control, rules)
        if not rules[0].fired:
            text = f"the scenario did not reach call {case.call} of {case.point} this time"
            result.symptoms.append(Symptom(UNFIRED, text))
        self._judge(context, result)

    def _cut(
        self, context: Together, system: System, victim: Guest, userid: str, result: Result
    ) -> None:
        """The connection of the user's machine breaks in the scenario, or right after it; another one boots."""
        victim.emulator.expect_exit()
        try:
            self._scenario.run(context)
        except (ZvmlabError, OSError):
            context.note(userid, fate="ends")
        limit = Limit(_END_SECONDS)
        while victim.emulator.alive:
            if limit.over:
                raise Timeout(f"{userid} did not end within {limit} of its connection's break")
            with contextlib.suppress(ZvmlabError, OSError):
                victim.agent.hello()
        context.has_gone(userid)
        result.outcome = context.outcome(self._scenario.name)
        for guest in context.guests.values():
            guest.settle()
        victim.stop()
        another = system.guest(userid, self._configs[userid])
        self.booted += 1
        another.boot()
        context.has_come(userid, another)

    def _play(self, context: Together, result: Result) -> None:
        try:
            self._scenario.run(context)
        except Timeout as error:
            result.symptoms.append(Symptom(HANGS, str(error)))
        except ZvmlabError:
            raise
        except Exception as error:  # whatever a scenario of the user's own raises
            text = f"the scenario ended with {type(error).__name__}: {error}"
            result.symptoms.append(Symptom(RAISED, text))
        if all(guest.console.crash is None for guest in context.guests.values()):
            result.outcome = context.outcome(self._scenario.name)

    def _judge(self, context: Together, result: Result) -> None:
        if any(guest.agent.hello().busy for guest in context.guests.values()):
            return  # A thread hangs for good; nothing can be asked of it.
        usual, context.patience = context.patience, max(context.patience, USABLE_SECONDS)
        wrong = self._scenario.usable(context)
        context.patience = usual
        if wrong is not None:
            result.symptoms.append(Symptom(UNUSABLE, f"afterwards {wrong}"))
        for userid, log in context.logs().items():
            bad = [line.text for line in log if BAD_LINE.search(line.text)]
            if bad:
                # The console shows the worst of them, with all that belongs to it, a moment later.
                context.guests[userid].console.wait_crash(_CONSOLE_SECONDS)
                context.guests[userid].check()
            result.symptoms += [Symptom(LOG, f"{userid}: {TASK.sub('', text)}") for text in bad]
        for guest in context.guests.values():
            guest.settle()

    def _symptom(self, error: ZvmlabError) -> Symptom:
        """What has ended the case: a crash, also one that somebody else has waited behind."""
        assert self._system is not None, "it has run a case"
        for userid, guest in self._system.guests.items():
            try:
                guest.check()
            except GuestPanic as panic:
                return Symptom(PANIC, f"{userid}: {crash(guest, panic)}")
            except ZvmlabError:
                continue
        return Symptom(HANGS if isinstance(error, Timeout) else BROKEN, str(error))

    def _end_case(self, result: Result) -> None:
        """Put the system back for the next case, or end it."""
        system = self._system
        if system is None:
            return
        if self._counts is not None:
            for userid, guest in system.guests.items():
                self._counts.keep(guest, f"sweep {self._scenario.name} {userid} {result.case}")
        if not {symptom.kind for symptom in result.symptoms} & _LAST and system.can_go_back:
            system.put_back()
            return
        self.close()
        if result.symptoms:
            result.logs = str(system.logs)

    def _subject(self, userid: str) -> Subject:
        return Subject(self._usual.segments[0].split()[0], self._partners[userid])
