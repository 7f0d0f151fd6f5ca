# SPDX-License-Identifier: MIT
"""A guest that runs one case after the other, each from the same mark, and judges it.

    with Runner(target, kernel, folder) as runner:
        ran = runner.run(case)
        print(ran.findings, len(ran.reached))

A case that crashes the guest costs no more than another: the guest is put back.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from zvmlab.agent.agent import USER as AGENT
from zvmlab.agent.results import LogLine
from zvmlab.agent.wire import AgentError, AgentLost, TooLarge
from zvmlab.base.errors import EmulatorError, Timeout, UsageError, ZvmlabError
from zvmlab.base.plain import harmless
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.builder.kernel import has_checks
from zvmlab.cp.afiucv import AfIucvClosed
from zvmlab.fuzz.case import Case
from zvmlab.fuzz.file_judges import judge_files
from zvmlab.fuzz.finding import BYSTANDER, DATA, LEFT, LOST, SILENT, STRAY, Finding, of_report
from zvmlab.fuzz.grammar import Steps, Target
from zvmlab.fuzz.judges import (
    judge_calls,
    judge_end,
    judge_networks,
    judge_rejected,
    judge_sockets,
)
from zvmlab.guest.artifacts import with_built_modules
from zvmlab.guest.bystanders import Bystanders, Changed
from zvmlab.guest.config import UPSTREAM_DRIVER, Artifacts, GuestConfig
from zvmlab.guest.console import CRASHES, DISABLED_WAIT, KASAN_CP, classify
from zvmlab.guest.cover import EDGES, Cover
from zvmlab.guest.guest import Guest
from zvmlab.guest.kernel_lines import Counts
from zvmlab.monitor.monitor import Capture, CapturedSet
from zvmlab.scenarios.context import FoundSet
from zvmlab.scenarios.player import (
    GuestDied,
    Oopsed,
    Played,
    Player,
    Silent,
    sent_by_peers,
    sent_by_programs,
)
from zvmlab.scenarios.steps import faults_of, text_of, thread_of
from zvmlab.sweep.run import BAD_LINE, BROKEN, HANGS, LOG, UNUSABLE, passed_off

_CONSOLE_SECONDS = 5.0
# Between what the kernel writes of a panic, and the console's file.
_PAUSE_SECONDS = 0.02
_ACCESS = re.compile(r"zvmlab-cp: KASAN: (.+)")
_PEEK = 2
_RECEIVE = ("recvfrom", "recvmsg", "read")
# With these, what arrives is not what was sent, and that is CP's doing.
_CHANGING = ("corrupt", "duplicate", "reorder")
# With these, CP says what is not so.
_LYING = (*_CHANGING, "drop")
_TEXT_MAX = 64 * 1024
# A kernel without checks of its own: the allocator looks after what kmalloc() has given.
_ALLOCATOR = "slub_debug=FZP,kmalloc-*,dma-kmalloc-*"


class Unprepared(ZvmlabError):
    """The steps of the mark do not do what they must: no case can be run."""


@dataclass
class Ran:
    """What became of a case."""

    findings: list[Finding] = field(default_factory=list)
    reached: list[tuple[int, int]] = field(default_factory=list)
    """Addresses of what it executed (zvmlab.guest.cover)."""
    played: list[Played] = field(default_factory=list)
    refused: str = ""
    """Why the agent has not taken one of its steps; it shows nothing else then."""


class Runner:
    """One guest at a time; *folder* takes its logs.

    *counts* keeps which lines of Linux run until the mark, and in the cases of keep_counts().
    """

    def __init__(
        self,
        target: Target,
        kernel: str,
        folder: Path,
        artifacts: Artifacts | None = None,
        mode: str = EDGES,
        driver: str = UPSTREAM_DRIVER,
        counts: Counts | None = None,
    ) -> None:
        self.target = target
        self.driver = driver
        self.config = GuestConfig(
            kernel=kernel,
            driver=driver,
            modules=tuple(str(TREE / one) if "/" in one else one for one in target.modules),
            cp=target.cp or {},
            command_line="" if has_checks(kernel) else _ALLOCATOR,
            trace=False,
            crashes=(),
        )
        if target.segments:
            segments = (*self.config.segments, *target.segments)
            self.config = self.config._replace(segments=segments)
        if any("/" in one for one in target.modules):
            self.config = with_built_modules(self.config, Progress(quiet=True))
        self._folder = folder
        self.artifacts = artifacts
        self._mode = mode
        self._counts = counts
        self._ended = ""
        self._guest: Guest | None = None
        self._for: tuple[object, ...] = ()
        self._cover: Cover | None = None
        self._bystanders: Bystanders | None = None
        self._since = 0
        self._strays = 0
        self._stacks: dict[str, int] = {}
        self._boot: list[Finding] = []
        self._killed = False
        self.booted = 0
        """Guests so far."""

    @property
    def guest(self) -> Guest:
        """The guest that runs the cases; there is one after the first case."""
        if self._guest is None:
            raise UsageError("no case has been run yet")
        return self._guest

    def where(self, address: int) -> str:
        """The name of a place of code; "" for what is not covered."""
        if not address or self._cover is None:
            return ""
        return str(self._cover.block(address))

    def cpu_seconds(self) -> float:
        """CPU time of the emulator that runs now."""
        return 0.0 if self._guest is None else self._guest.emulator.cpu_seconds()

    def keep_counts(self, case: Case) -> None:
        """Keep which lines the case has run, which was the last one, or why that is lost."""
        if self._counts is None:
            return
        name = f"fuzz {case.target} {case.name}"
        if self._ended:
            self._counts.lose(self.config.kernel, name, self._ended)
        else:
            self._counts.keep(self.guest, name)

    def run(self, case: Case) -> Ran:
        """Run it from its mark."""
        wanted = (case.cpus, case.schedule > 0, case.mark)
        if self._guest is None or self._for != wanted:
            self._begin(case)
            self._for = wanted
        guest = self.guest
        ran = Ran()
        self._ended = ""
        try:
            if case.schedule:  # from the first instruction on that the guest executes there
                turns = {"path": "/objects/cp", "property": "turns", "value": case.schedule}
                guest.qmp.execute("qom-set", turns)
            guest.put_back()
        except (EmulatorError, Timeout):
            if self._killed:
                raise
            self._begin(case)
            guest = self.guest
            guest.put_back()
        self._forget_events()
        ran.findings, self._boot = self._boot, []
        console, log = self._sizes()
        player = Player(guest, since=self._since, stacks=self._stacks)
        try:
            with self._capture(case) as capture:
                self._play(player, case, ran, capture)
        except GuestDied as error:
            ran.findings.append(self._of_console(console, error))
            self._ended = str(error)
        except Oopsed:
            self._judge_log(player, ran)
            self._ended = "the kernel has crashed"
        except (Silent, Timeout) as error:
            ran.findings.append(self._of_silence(console, error))
            self._ended = str(error)
        except (AgentLost, AfIucvClosed) as error:
            self._ended = f"the agent's connection has ended: {error}"
            ran.findings.append(Finding(LOST, "", self._ended))
        except (AgentError, TooLarge) as error:
            said = of_text(_added(self.guest.channels.console_log, console))
            ran.findings += [] if said is None else [said]
            ran.refused = self._ended = str(error)
        except EmulatorError as error:
            if self._killed:
                raise
            self._ended = str(error)
            ran.findings.append(Finding(BROKEN, "", self._ended))
            self.close()
            return ran
        self._judge_accesses(log, ran)
        self._judge_strays(case, ran)
        if self._cover is not None:
            ran.reached = self._cover.addresses()
        ran.played = player.played
        return ran

    @contextlib.contextmanager
    def _capture(self, case: Case) -> Iterator[Capture | None]:
        """What CP stores of data sets meanwhile, if the case reads some."""
        if not any(step["do"] == "reads" for step in case.steps):
            yield None
            return
        with Capture(self.guest.control, self.guest.logs / "sets") as capture:
            yield capture

    def _play(self, player: Player, case: Case, ran: Ran, capture: Capture | None) -> None:
        player.play(case.steps)
        player.wait()
        ran.findings += _of_stuck(player.stuck)
        ran.findings += judge_data(case, player.played)
        if capture is not None:
            ran.findings += judge_sets(case, player.played, capture.so_far())
        for found in (
            judge_calls(case, player.played),
            judge_sockets(player.played),
            judge_networks(self.target.networks, player.played),
            judge_files(self.target, case, player.played),
            judge_end(case, player.played),
            judge_rejected(case, player.played),
        ):
            ran.findings += found
        self._judge_severed(case, player, ran)
        self._judge_usable(case, player, ran)
        if self._judge_log(player, ran) or ran.findings:
            return
        assert self._bystanders is not None
        try:
            self._bystanders.check()
        except Changed as error:
            if not any(map(_lies, faults_of(case.steps))):
                ran.findings += _of_bystander(case, str(error))
        if not ran.findings and not any(faults_of(case.steps)):
            ran.findings += self._left(self._bystanders.new)

    def _left(self, new: Mapping[str, Mapping[str, object]]) -> list[Finding]:
        """Paths of what has been closed."""
        for name, path in new.items():
            partner = str(path.get("partner"))
            if name.startswith("path ") and partner not in (AGENT, *self.target.stay):
                text = f"all files are closed, and {name} is left: {path}"
                return [Finding(LEFT, f"a path with {partner}, {path.get('state')}", text)]
        return []

    def _judge_severed(self, case: Case, player: Player, ran: Ran) -> None:
        """A path that its partner has severed does not stay, although its socket does."""
        if not self.target.gives_back or ran.findings or any(faults_of(case.steps)):
            return
        if not any(_severs(one) for one in player.played):
            return
        player.settled()
        control = self.guest.control
        user = control.execute("query-cp")["userid"]
        for path in control.execute("query-paths", user=user)["paths"]:
            if path["state"] == "severed":
                text = f"path {path['path']} with {path['partner']} is severed, and not given back"
                ran.findings.append(Finding(LEFT, f"a severed path with {path['partner']}", text))
                return

    def _judge_strays(self, case: Case, ran: Ran) -> None:
        """Has the kernel asked CP about a path that is not there?"""
        if self._guest is None or not self._guest.emulator.alive:
            return
        found = self.guest.control.execute("query-counters")
        before, self._strays = self._strays, found["stray-calls"]
        if found["stray-calls"] == before or any(map(_lies, faults_of(case.steps))):
            return
        text = f"CP was called {found['stray-calls'] - before} times about a path that is not there"
        ran.findings.append(Finding(STRAY, str(found["last-stray"]), text))

    def _judge_usable(self, case: Case, player: Player, ran: Ran) -> None:
        """All of the case has an end, and the target works afterwards: one request, if it can be."""
        if any(faults_of(case.steps)):
            player.end()
            self._disarm(player)
        untried = player.stuck or _takes_a_devices_place(player.played)
        played = player.end(() if untried else self._usable(case))
        stuck = [one for one in player.stuck if one not in played]
        if stuck:
            ran.findings += [] if ran.findings else _of_stuck(stuck)
            return
        ran.findings += _of_unusable(self.target.usable, played)
        del player.played[len(player.played) - len(played) :]

    def _disarm(self, player: Player) -> None:
        """The rules of the case, not those that count for bystanders."""
        answers = [one.answer or {} for one in player.played]
        rules = [answer["rule"] for answer in answers if "rule" in answer]
        if rules:
            disarms = [("fault-disarm", {"rule": rule}) for rule in dict.fromkeys(rules)]
            self.guest.control.execute_all(*disarms)

    def _usable(self, case: Case) -> Steps:
        """What must work; a module that no step unloads is there since the mark."""
        usable = self.target.usable
        if any(step["do"] == "unload" for step in case.steps):
            return usable
        return [step for step in usable if step["do"] != "load"]

    def _judge_log(self, player: Player, ran: Ran) -> bool:
        """Has the kernel said something bad?"""
        lines = player.settled().lines
        found = of_log(lines)
        if found is not None:
            ran.findings.insert(0, found)
        return found is not None

    def _judge_accesses(self, before: int, ran: Ran) -> None:
        text = _added(self.guest.emulator.log, before)
        found = _ACCESS.search(text)
        if found is not None:
            what = re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b", "N", found[1])
            ran.findings.insert(0, Finding(KASAN_CP, what, found[1], text))

    def _of_silence(self, before: int, error: ZvmlabError) -> Finding:
        """What the kernel has said of it: an oops of a thread of the agent's, for example."""
        said = of_text(_added(self.guest.channels.console_log, before))
        where = "\n".join(self.guest.machine.registers().splitlines()[:2])
        return said or Finding(SILENT, "", str(error), where)

    def _of_console(self, before: int, error: GuestDied) -> Finding:
        """What the kernel has said before it ended; the console may be a moment behind."""
        text = ""
        end = time.monotonic() + _CONSOLE_SECONDS
        while time.monotonic() < end:
            now = _added(self.guest.channels.console_log, before)
            if now and now == text:
                break
            text = now
            time.sleep(_PAUSE_SECONDS)
        return of_text(text) or Finding(DISABLED_WAIT, "", str(error), text)

    def _sizes(self) -> tuple[int, int]:
        files = (self.guest.channels.console_log, self.guest.emulator.log)
        console, log = (file.stat().st_size if file.exists() else 0 for file in files)
        return console, log

    def _forget_events(self) -> None:
        control = self.guest.control
        for step in self.target.mark:
            if step["do"] == "request" and step["execute"] == "peer-create":
                control.forget_events("iucv-event", peer=step["arguments"]["name"])

    def _begin(self, case: Case) -> None:
        """A new guest, prepared and marked."""
        self.close()
        if self._killed:
            raise EmulatorError("the run has been ended")
        self.booted += 1
        counts = case.schedule > 0
        config = self.config._replace(
            cpus=case.cpus, count_instructions=counts, schedule=case.schedule
        )
        folder = self._folder / str(self.booted)
        guest = Guest(config, folder, self.artifacts)
        self._guest = guest
        try:
            guest.boot()
            self.artifacts = guest.artifacts
            guest.qmp.execute("set-action", {"panic": "pause", "shutdown": "pause"})
            self._stacks = {}
            player = Player(guest, stacks=self._stacks)
            player.play(case.mark)
            player.wait()
            _check_mark(player.played)
            player.start_threads()
            self._boot = _of_boot(guest)
            self._bystanders = Bystanders(guest.control, self.target.named)
            self._bystanders.count_calls()
            if self._counts is not None:
                self._counts.begin(guest)
            guest.mark(same=True)
            guest.put_back()
            self._since = guest.agent.log_position()
            self._bystanders.begin()
            self._strays = guest.control.execute("query-counters")["stray-calls"]
            self._cover = guest.cover(*self.target.cover, mode=self._mode)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Stop the guest; harmless without one."""
        guest, self._guest, self._cover = self._guest, None, None
        if guest is not None:
            guest.stop()
            shutil.rmtree(guest.logs, ignore_errors=True)

    def kill(self) -> None:
        """From any thread: the case that runs ends soon, by EmulatorError, and no other begins."""
        self._killed = True
        if self._guest is not None:
            self._guest.kill()

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()


def _added(file: Path, before: int) -> str:
    """What has been added to a log, as far as anybody wants to read it."""
    try:
        with open(file, "rb") as log:
            log.seek(before)
            return log.read(_TEXT_MAX).decode("latin-1").replace("\r", "")
    except FileNotFoundError:
        return ""


def _check_mark(played: Sequence[Played]) -> None:
    for one in played:
        wrong = one.differs() or (one.answer or {}).get("error")
        if one.stuck or one.slept:
            wrong = "it sleeps"
        if wrong:
            raise Unprepared(f"what prepares the guest fails: {text_of(one.step)} gives {wrong}")


def of_log(lines: Sequence[LogLine]) -> Finding | None:
    """What the kernel's log has that it must not have."""
    return of_text("\n".join(line.stamped for line in lines))


def of_text(text: str) -> Finding | None:
    """The first bad thing that the kernel says in a text."""
    at = 0
    for line in text.split("\n"):
        crash = classify(line, CRASHES)
        if crash is not None or BAD_LINE.search(line):
            kind = LOG if crash is None else crash.kind
            return of_report(kind, harmless(line), harmless(text[at:]))
        at += len(line) + 1
    return None


def _of_boot(guest: Guest) -> list[Finding]:
    """What the kernel has said until the mark."""
    found = of_log(guest.agent.looker(_CONSOLE_SECONDS).settle(0.0, 0).lines)
    return [] if found is None else [found]


def _takes_a_devices_place(played: Sequence[Played]) -> bool:
    """Has a program made a file in /dev while a module was gone?  Its device cannot be there then."""
    gone = False
    for one in played:
        gone |= one.step["do"] == "unload" and not one.error
        if gone and one.step["do"] == "call" and one.step["call"] == "openat" and one.ret >= 0:
            path, flags = (*one.step["args"], 0, 0, 0)[1:3]
            name = path.get("text", "") if isinstance(path, dict) else ""
            if name.startswith("/dev/") and isinstance(flags, int) and flags & os.O_CREAT:
                return True
    return False


def _severs(one: Played) -> bool:
    """Has a partner severed a path?"""
    step = one.step
    if step["do"] != "request" or step["execute"] != "peer-call":
        return False
    answer = one.answer or {}
    return step["arguments"].get("function") == "sever" and answer.get("cc") == 0


def _lies(fault: Mapping[str, object]) -> bool:
    """Does it say that something was done which was not?"""
    kind, value = fault.get("kind"), fault.get("value")
    # With condition code 1 the kernel looks at the return code, which stays 0.
    success = kind in ("cc", "rc") and not value or kind == "cc" and value == 1
    return success or kind in _LYING


def _of_stuck(stuck: Sequence[Played]) -> list[Finding]:
    return [
        Finding(HANGS, _what(one), f"{_what(one)} sleeps uninterruptibly in the guest")
        for one in stuck[:1]
    ]


def _of_unusable(usable: Steps, played: Sequence[Played]) -> list[Finding]:
    """What the steps that must work have given, if that is not what they expect."""
    # Of a request that does not end, no step has given anything.
    wrong = [(one, "nothing: it never ends") for one in played if one.stuck]
    wrong += [(one, said) for one in played if (said := one.differs()) is not None]
    for one, said in wrong[:1]:
        number = next(at for at, step in enumerate(usable, 1) if step is one.step)
        where = f"step {number} of {len(usable)}"
        return [Finding(UNUSABLE, where, f"afterwards {text_of(one.step)} gives {said}")]
    return []


def _what(played: Played) -> str:
    """What a step does, without its values."""
    step = played.step
    if step["do"] == "call":
        return "open" if step["call"] == "openat" else str(step["call"])
    return f"{step['do']} {step['module']}" if "module" in step else str(step["do"])


def _of_bystander(case: Case, text: str) -> list[Finding]:
    if any(step["do"] == "cpu" for step in case.steps) and "of CPU" in text:
        return []  # a CPU that comes back has another buffer
    first = text.partition(": ")[2].partition(" was ")[0]
    return [Finding(BYSTANDER, re.sub(r"\d+", "N", first), text)]


def judge_data(case: Case, played: Sequence[Played]) -> list[Finding]:
    """Whatever a program has received is a piece of what one partner has sent, in its order."""
    programs = sent_by_programs(played)
    changed = any(fault.get("kind") in _CHANGING for fault in faults_of(case.steps))
    if changed or programs is None:
        return []
    streams = [*sent_by_peers(played).values(), *programs]
    places: dict[str, list[tuple[bytes, int]]] = {}
    for one, fd, data in _received(played):
        # Each stream that it may be, with the place behind what was received so far.
        before = places.get(fd, [(stream, 0) for stream in streams])
        after = [
            (stream, found + len(data))
            for stream, place in before
            if (found := stream.find(data, place)) >= 0
        ]
        if not after:
            text = f"{text_of(one.step)} gave {len(data)} bytes that no partner has sent there"
            return [Finding(DATA, str(one.step["call"]), f"{text}: {data[:40].hex()}")]
        if not _peeks(one.step):
            places[fd] = after
    return []


def judge_sets(
    case: Case, played: Sequence[Played], stored: Sequence[CapturedSet]
) -> list[Finding]:
    """Each data set that a program has read to its end is one that CP has stored."""
    others = [step for step in case.steps if _takes_apart(step)]
    readers = {thread_of(step) for step in case.steps if step["do"] == "reads"}
    if others or len(readers) > 1 or any(one.slept for one in played):
        return []
    corrupted = any(fault.get("kind") in _CHANGING for fault in faults_of(case.steps))
    found = passed_off(list(_sets_read(played)), stored, corrupted)
    return [Finding(DATA, one.kind, one.text) for one in found]


def _sets_read(played: Sequence[Played]) -> Iterator[FoundSet]:
    """What reads gave.  A set that is longer than the reads of one step goes on in the next one."""
    begun: dict[object, bytes] = {}
    for one in played:
        step = one.step
        if step["do"] == "call":
            begun.pop(step.get("as"), None)
            if step["call"] == "close":
                begun.pop(step["args"][0], None)
        if step["do"] != "reads" or not one.data and not one.complete:
            continue
        data = begun.pop(step["fd"], b"") + one.data
        if one.error == 0 and not one.complete:
            begun[step["fd"]] = data
        elif data:
            yield FoundSet(data, one.complete)


def _takes_apart(step: Mapping[str, object]) -> bool:
    """Does somebody read a part of a set, or is one announced that CP has not stored?"""
    reads = step["do"] == "call" and step["call"] in ("read", "readv", "dup")
    return reads or step["do"] == "request" and step["execute"] == "monitor-raw"


def _peeks(step: Mapping[str, object]) -> bool:
    args = step["args"]
    assert isinstance(args, list)
    at = 2 if step["call"] == "recvmsg" else 3
    return len(args) > at and isinstance(args[at], int) and bool(args[at] & _PEEK)


def _received(played: Sequence[Played]) -> Iterator[tuple[Played, str, bytes]]:
    """What was received from sockets, with the name of each; one that is made again begins anew."""
    sockets: dict[str, int] = {}
    for one in played:
        step = one.step
        if step["do"] != "call":
            continue
        name = step["args"][0] if step["args"] else None
        if step["call"] in ("socket", "accept4") and "as" in step:
            sockets[step["as"]] = one.number
        elif step["call"] in _RECEIVE and isinstance(name, str) and name in sockets:
            if one.ret > 0 and one.data:
                # With MSG_TRUNC a call says how long a message was, and gives what there is room for.
                asked = step["args"][2] if step["call"] != "recvmsg" else one.ret
                size = min(one.ret, asked) if isinstance(asked, int) else one.ret
                yield one, f"{name} {sockets[name]}", one.data[:size]
