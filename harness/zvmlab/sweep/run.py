# SPDX-License-Identifier: MIT
"""One case of a sweep: the scenario with one fault, and what the driver is like afterwards."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zvmlab.base.errors import GuestPanic, ZvmlabError
from zvmlab.cp.faults import armed, count
from zvmlab.guest.config import GuestConfig, Artifacts
from zvmlab.guest.console import innermost
from zvmlab.guest.guest import Guest
from zvmlab.guest.kernel_lines import Counts
from zvmlab.guest.pool import Pool, numbered
from zvmlab.monitor.monitor import CapturedSet
from zvmlab.scenarios.context import ANYTHING, Context, FoundSet, Scenario, Stuck
from zvmlab.scenarios.outcome import Outcome, Step
from zvmlab.sweep.cases import Case, Point, Subject

# How long a thread that severing the path can wake takes for it.
_RELEASE_SECONDS = 5.0
# Afterwards nothing may sleep, however slow the machine is.
USABLE_SECONDS = 20.0
# How long the other side of a scenario waits for what a fault may have prevented, and at least for
# what should work afterwards.
FAULT_PATIENCE, _USABLE_PATIENCE = 1.0, 10.0
_CONSOLE_SECONDS = 20.0
# Or else the guest goes on after an oops.  The task that is killed may hold a lock: one that waits
# for it with interruptions off stops the guest before the console's driver writes its buffer out.
PANIC_ON_OOPS = "/proc/sys/kernel/panic_on_oops"
# The kernel's log must have none of these; the console notices the worst of them at once.
BAD_LINE = re.compile(
    r"WARNING:|BUG:|Oops|Call Trace|INFO: (?:task .* blocked|rcu|possible|trying|lockdep)"
    r"|possible (?:circular|recursive|irq)|inconsistent lock|suspicious RCU|UBSAN|KASAN"
    r"|scheduling while atomic|sleeping function|Unable to handle|illegal operation",
)
# Of a line of the kernel's log: no two runs have the same.
_TIME = re.compile(r"\[ *\d+\.\d+\] ")
# In a warning, up to 6.12 and since: whom the interruption met is luck.
TASK = re.compile(r"(?<=WARNING: )CPU: \d+ PID: \d+ |, CPU#\d+: [^()]*/\d+(?=\)|$)")

PANIC, HANGS, UNUSABLE, PASSED_OFF, LOG, UNFIRED, RAISED, BROKEN = (
    "panic",
    "hangs",
    "unusable",
    "passed off",
    "log",
    "not carried out",
    "raised",
    "broken",
)


@dataclass(frozen=True)
class Symptom:
    """Something that must not be."""

    kind: str
    text: str


@dataclass
class Result:
    """The result of a case."""

    case: str
    symptoms: list[Symptom] = field(default_factory=list)
    outcome: Outcome | None = None
    left: list[str] = field(default_factory=list)
    """What the guest was given up for, besides symptoms."""
    seconds: float = 0.0
    logs: str = ""
    """Folder of the guest's logs, if there is a symptom."""

    def to_json(self) -> dict[str, Any]:
        """Plain data; from_json() gives an equal result."""
        return {
            "case": self.case,
            "symptoms": [{"kind": s.kind, "text": s.text} for s in self.symptoms],
            "outcome": None if self.outcome is None else self.outcome.to_json(),
            "left": self.left,
            "seconds": self.seconds,
            "logs": self.logs,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """From what to_json() gave."""
        outcome = data["outcome"]
        return cls(
            str(data["case"]),
            [Symptom(str(s["kind"]), str(s["text"])) for s in data["symptoms"]],
            None if outcome is None else Outcome.from_json(outcome),
            list(map(str, data["left"])),
            float(data["seconds"]),
            str(data["logs"]),
        )


def crash(guest: Guest, error: GuestPanic) -> str:
    """Summarise a crash: the cause and the innermost functions, without time and task."""
    cause = TASK.sub("", _TIME.sub("", str(error)))
    return f"{cause}; in {innermost(guest.console.text()) or 'an unknown place'}"


class Unusable(ZvmlabError):
    """After the fault the driver does not do what it should; that ends the case."""


def check_usable(context: Context) -> None:
    """Close, open, read a whole set, close; Unusable if the driver does not."""
    limit, context.limit = context.limit, USABLE_SECONDS
    try:
        with context.aside() as steps:
            _use(context, steps)
    except Stuck as stuck:
        raise Unusable(f"afterwards {stuck}") from None
    finally:
        context.limit = limit


def _use(context: Context, steps: list[Step]) -> None:
    if not context.loaded:
        context.load()
    if context.fd >= 0:
        context.close()
    before = len(context.stored_sets())
    context.open()
    context.deliver("sample", context.element(records=3))
    context.read()
    context.close()
    for step in steps:
        if step.result.get("errno") or step.result.get("blocked"):
            raise Unusable(f"afterwards: {step}")
    found = context.sets[-1]
    wanted = [stored.stream for stored in context.stored_sets()[before:]]
    if not found.complete or [found.stream] != wanted[:1]:
        raise Unusable("afterwards a set was read that is not the one CP stored")


def unload(context: Context) -> None:
    """Unload the driver if it is loaded; Unusable if it does not go."""
    context.before_unload = None
    with context.aside() as steps:
        if context.loaded:
            context.unload()
        if context.loaded:
            raise Unusable(f"afterwards: {steps[-1]}")


def passed_off(
    sets: Sequence[FoundSet], stored_sets: Sequence[CapturedSet], corrupted: bool
) -> list[Symptom]:
    """Sets that the driver called complete and that are not what CP stored.

    Where CP itself was made to store or announce something else, only a set
    that is cut short counts: no driver can know what it should have been.
    """
    stored = [known.stream for known in stored_sets]
    found = []
    for number, read in enumerate(sets, 1):
        if not read.complete or read.stream in stored:
            continue
        # CP's copy leaves out a set whose control area points to nowhere.
        if not read.stream or any(known.startswith(read.stream) for known in stored):
            text = f"of read {number}, {len(read.stream)} bytes came as if they were a whole set"
            found.append(Symptom(PASSED_OFF, text))
        elif not corrupted:
            found.append(Symptom(PASSED_OFF, f"read {number} gave a set that CP never stored"))
    return found


@dataclass(frozen=True)
class Counted:
    """The calls counted in a run without a fault."""

    points: list[Point]
    """All that CP has."""
    calls: dict[str, int]
    """Of the path under test, at the points that it reached."""
    others: dict[str, int]
    """Further calls at a point, which are not failed: of other paths, or of nobody."""
    outcome: Outcome

    def to_json(self) -> dict[str, Any]:
        """Plain data; from_json() gives an equal value."""
        return {
            "points": [[point.name, list(point.kinds)] for point in self.points],
            "calls": self.calls,
            "others": self.others,
            "outcome": self.outcome.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Counted:
        """From what to_json() gave."""
        return cls(
            [Point(str(name), tuple(map(str, kinds))) for name, kinds in data["points"]],
            {str(name): int(number) for name, number in data["calls"].items()},
            {str(name): int(number) for name, number in data["others"].items()},
            Outcome.from_json(data["outcome"]),
        )


class Runner:
    """A guest that runs one case after the other, each as if it were the first where that can be done.

    A fault may show what an earlier case has left in a segment, which would depend on the order.

    *folder* takes the logs of its guests; those with a symptom are kept.  The
    driver is loaded with *params*.  *counts* keeps which lines of Linux each case runs.
    """

    def __init__(
        self,
        scenario: Scenario,
        config: GuestConfig,
        artifacts: Artifacts,
        folder: Path,
        seed: str,
        params: str = "",
        counts: Counts | None = None,
    ) -> None:
        self._params = params
        self._counts = counts
        self._scenario = scenario
        self._config = config
        self._seed = seed
        self._pool = Pool(numbered(folder), artifacts=artifacts, limit=1, afresh=True)

    @property
    def booted(self) -> int:
        """Guests so far."""
        return self._pool.booted

    def count(self) -> Counted:
        """Run without a fault; ZvmlabError if the driver is not as it should be even then."""
        guest = self._guest()
        before = guest.control.execute("query-fault-points")["points"]
        points = [Point(p["point"], tuple(p["kinds"])) for p in before]
        subject = self._subject()
        result = Result("without a fault")
        try:
            with self._context(guest) as context:
                with armed(guest.control, *(subject.counter(point) for point in points)) as rules:
                    self._play(context, result)
                after = guest.control.execute("query-fault-points")["points"]
                self._judge(guest, context, result, corrupted=False)
        except Unusable as error:
            result.symptoms.append(Symptom(UNUSABLE, str(error)))
        self._put_back(guest, result)
        wrong = [f"{symptom.kind}: {symptom.text}" for symptom in result.symptoms]
        leaves = set(self._scenario.leaves)
        left = [name for name in result.left if not leaves & {name, ANYTHING}]
        wrong += [f"it leaves something behind: {name}" for name in left]
        if wrong:
            raise ZvmlabError(f"scenario {self._scenario.name} fails without a fault: {wrong[0]}")
        assert result.outcome is not None, "a run without symptoms has an outcome"
        calls = {rule.fault.point: rule.matched for rule in rules if rule.matched}
        others = {
            old["point"]: new["reached"] - old["reached"] - calls.get(old["point"], 0)
            for old, new in zip(before, after)
        }
        return Counted(
            points, calls, {name: more for name, more in others.items() if more}, result.outcome
        )

    def run(self, case: Case) -> Result:
        """Run with that fault."""
        guest = self._guest()
        result = Result(str(case))
        started = time.monotonic()
        try:
            self._run(guest, case, result)
        except GuestPanic as error:
            result.symptoms.append(Symptom(PANIC, crash(guest, error)))
        except Unusable as error:
            result.symptoms.append(Symptom(UNUSABLE, str(error)))
        except ZvmlabError as error:
            result.symptoms.append(Symptom(BROKEN, str(error)))
        self._put_back(guest, result)
        result.seconds = round(time.monotonic() - started, 3)
        return result

    def _guest(self) -> Guest:
        guest = self._pool.get(self._config)
        if self._counts is not None:
            self._counts.begin(guest)
        return guest

    def abandon(self) -> None:
        """From any thread: the case that runs ends soon, whatever it waits for; its result is void."""
        self._pool.abandon()

    def close(self) -> None:
        """Stop the guest."""
        self._pool.stop()

    def _run(self, guest: Guest, case: Case, result: Result) -> None:
        guest.agent.write_file(PANIC_ON_OOPS, b"1")
        with self._context(guest) as context:
            with armed(guest.control, case.fault(self._subject())) as rules:

                def check_if_fired() -> None:
                    count(guest.control, rules)
                    if rules[0].fired:
                        self._check_usable(context)

                context.before_unload = check_if_fired
                context.patience = FAULT_PATIENCE
                self._play(context, result)
            if not rules[0].fired:
                text = f"the scenario did not reach call {case.call} of {case.point} this time"
                result.symptoms.append(Symptom(UNFIRED, text))
            self._judge(guest, context, result, case.kind == "corrupt")

    def _play(self, context: Context, result: Result) -> None:
        try:
            self._scenario.run(context)
        except Stuck as stuck:
            woken = context.release(stuck, _RELEASE_SECONDS)
            how = "until CP severs the path" if woken else "whatever CP does"
            result.symptoms.append(Symptom(HANGS, f"{stuck} {how}"))
        except ZvmlabError:
            raise
        except Exception as error:  # whatever a scenario of the user's own raises
            text = f"the scenario ended with {type(error).__name__}: {error}"
            result.symptoms.append(Symptom(RAISED, text))
        finally:
            if context.guest.console.crash is None:
                result.outcome = context.outcome(self._scenario.name)

    def _judge(self, guest: Guest, context: Context, result: Result, corrupted: bool) -> None:
        if guest.agent.hello().busy:
            return  # A thread hangs for good; nothing can be asked of the driver.
        result.symptoms += passed_off(context.sets, context.stored_sets(), corrupted)
        self._check_usable(context)
        unload(context)
        bad = [line.text for line in context.log() if BAD_LINE.search(line.text)]
        if bad:
            # The console shows the worst of them, with all that belongs to it, a moment later.
            guest.console.wait_crash(_CONSOLE_SECONDS)
            guest.check()
        result.symptoms += [Symptom(LOG, TASK.sub("", text)) for text in bad]

    def _check_usable(self, context: Context) -> None:
        if self._scenario.usable is None:
            check_usable(context)
            return
        usual, context.patience = context.patience, max(context.patience, _USABLE_PATIENCE)
        try:
            with context.aside():
                wrong = self._scenario.usable(context)
        finally:
            context.patience = usual
        if wrong is not None:
            raise Unusable(f"afterwards {wrong}")

    def _subject(self) -> Subject:
        segment = (self._scenario.segments or self._config.segments)[0]
        return Subject(segment.split()[0], self._scenario.partner)

    def _context(self, guest: Guest) -> Context:
        seed = f"{self._seed} {self._scenario.name}"
        return Context(guest, guest.logs, seed, self._params)

    def _put_back(self, guest: Guest, result: Result) -> None:
        """Keep the guest for the next case only if this one left nothing behind."""
        if self._counts is not None:
            self._counts.keep(guest, f"sweep {self._scenario.name} {result.case}")
        if {symptom.kind for symptom in result.symptoms} & {PANIC, UNUSABLE, BROKEN, LOG}:
            self._pool.drop(guest, keep_logs=True)
        else:
            if result.symptoms:
                self._pool.keep_logs(guest)
            try:
                result.left = self._pool.put_back(guest, soon=True)
            except GuestPanic as error:
                result.symptoms.append(Symptom(PANIC, crash(guest, error)))
            except ZvmlabError as error:
                result.symptoms.append(Symptom(BROKEN, f"after the case: {error}"))
        if result.symptoms:
            result.logs = str(guest.logs)
