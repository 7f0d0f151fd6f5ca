# SPDX-License-Identifier: MIT
"""The guest's console: logged always, never parsed for results, watched for crashes.

A panic, oops, BUG or WARNING ends the run, and so do stalls of RCU and what a debug
kernel reports: KASAN and sleeping in the wrong place begin with BUG, lockdep with
WARNING, UBSAN, hung tasks and lockups have words of their own.  (kmemleak says nothing
here: `zvmlab.guest.kernelcheck` asks it.)  A disabled wait is no line of the kernel's: the
emulator says it in its log, and so it does when CP has used storage that the kernel's KASAN says
nobody may use.  A guest that merely stops answering says nothing
here; that is a time-out and reported as one.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from zvmlab.base.errors import GuestPanic, Timeout, UsageError, ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.base.plain import harmless

POLL_SECONDS = 0.05
# Before a crash is reported, the kernel must have said that it has finished, or (_patience) have
# printed nothing for so long; it cannot go on forever.  How often that is looked for.
SETTLE_SECONDS = 0.4
LONGEST_REPORT_SECONDS = 10.0
_LOOK_SECONDS = 0.01
TAIL_LINES = 60
_LINE_MAX = 16 * 1024
_TAIL_BYTES = 256 * 1024
LOG_MAX, LOG_KEPT = 64 << 20, 32 << 20
"""Bytes of the console's log: of one that grows longer, the middle is taken out."""
_CUT = b"\n[zvmlab: %d bytes of the console are cut out here; its log has at most %d MiB]\n"
# What is read at a time, and how often before the other log is looked at.
_CHUNK, _CHUNKS_MAX = 1 << 20, 64
_FUNCTIONS = 8
# Linux takes interruptions there, on a stack of their own or on that of whom they interrupt.
_TAKES = ("do_ext_irq", "do_io_irq", "do_irq_async")
# In parentheses the kernel gives what merely lies on the stack: now this, now that.
_FUNCTION = re.compile(r"(?<!\()\[<[0-9a-f]+>\] (?:\()?([A-Za-z_][\w.]*)\+0x")
# Functions that only report what others have done, and allocators, which anybody can call.
_ON_BEHALF = re.compile(
    r"dump_stack(_lvl)?|show_stack|panic|__warn|die|print_report|kasan_report|kasan_check_range|__asan_\w+"
    r"|_*alloc_(frozen_)?pages\w*|get_free_pages\w*|_*kmalloc\w*|_*kvmalloc\w*"
)

PANIC, OOPS = "panic", "oops"
# The time stamp keeps programs that print such words from being taken for the kernel.  It need not
# begin the line: a program may have left its own unfinished.
_STAMP = r"\[ *\d+\.\d+\](?:\[[^\]]*\])? +"
_REPORT_END = re.compile(_STAMP + r"---\[ end (?:trace|Kernel panic)\b", re.MULTILINE)
_PATTERNS: dict[str, re.Pattern[str]] = {
    PANIC: re.compile(r"Kernel panic - not syncing"),
    # arch/s390/kernel/dumpstack.c prints "CAUSE: CODE ilc:N [#COUNT]" for every die().
    OOPS: re.compile(
        _STAMP + r"(?:.*\bilc:\d+ \[#\d+\]|Unable to handle kernel |Oops: |Kernel stack overflow)"
    ),
    # "BUG kmalloc-64 (Tainted: G): Poison overwritten" is SLUB's; a key that is not
    # registered turns lockdep off, which is as bad as what it might have found.
    "bug": re.compile(
        _STAMP + r"(?:(?:\[ )?BUG:? |kernel BUG at |INFO: trying to register non-static key)"
    ),
    # What a driver has left behind, or registers twice, the kernel refuses; with sysfs it shows
    # the stack, too.  (A page that cannot be had, or a stack alone, is nobody's mistake.)
    "warning": re.compile(
        _STAMP
        + r"(?:WARNING: |sysfs: cannot create duplicate filename "
        + r"|debugfs: .*already (?:present!|exists in ))"
    ),
    "ubsan": re.compile(_STAMP + r"UBSAN: "),
    "hang": re.compile(_STAMP + r"INFO: task .* blocked for more than \d+ seconds"),
    # "rcu: INFO: rcu_sched self-detected stall on CPU", "INFO: rcu_tasks detected stalls on tasks:"
    "stall": re.compile(
        _STAMP
        + r"(?:rcu: )?(?:INFO: rcu_\w+ .*\bstall|rcu_\w+ kthread .*(?:starved|didn't happen))"
    ),
    "lockup": re.compile(_STAMP + r"(?:NMI )?watchdog: (?:BUG: soft lockup|.*[Hh]ard LOCKUP)"),
}
DISABLED_WAIT = "disabled wait"
KASAN_CP = "kasan-cp"
"""CP has used storage of the guest's that its kernel has freed, or never had for that."""
CRASHES = (*_PATTERNS, DISABLED_WAIT, KASAN_CP)
ENDS = (PANIC, DISABLED_WAIT)
"""After these the machine ends."""
# One line of our QEMU's log, two of Hercules': the second one gives the PSW.
_WAIT = re.compile(
    r"(?:HHCCP011I|zvmlab-cp:) CPU([0-9A-F]{4}): Disabled wait state\s+PSW=([0-9A-F ]+)\n"
)
_ACCESS = re.compile(r"zvmlab-cp: KASAN: (.+)\n")
# A guest that was told to end (SCLP's signal quiesce) says so by a wait at this address.
_QUIESCED = 0xFFF


class Crash(NamedTuple):
    """A crash, and the line that shows it."""

    kind: str
    line: str

    def __str__(self) -> str:
        if self.kind == DISABLED_WAIT:
            return f"the guest is in a disabled wait ({self.line})"
        if self.kind == KASAN_CP:
            return f"CP was given storage that the guest's kernel has not got ({self.line})"
        article = "an" if self.kind == OOPS else "a"
        return f"the guest's kernel reported {article} {self.kind} ({self.line})"


def classify(line: str, kinds: Iterable[str] = CRASHES) -> Crash | None:
    """The crash that a line of the console announces, if it is one of *kinds*."""
    for kind, pattern in _PATTERNS.items():
        if kind in kinds and pattern.search(line):
            return Crash(kind, line.strip())
    return None


def innermost(text: str) -> str:
    """The innermost functions of the kernel that a report names, "" if there is none.

    Where an interruption was taken, what it has interrupted is left out: it may be anything.
    """
    names = list(dict.fromkeys(_FUNCTION.findall(text)))
    found = [name for name in names if not _ON_BEHALF.fullmatch(name)] or names
    taken = next((at for at, name in enumerate(found) if at and name in _TAKES), len(found))
    return " < ".join(found[: min(taken, _FUNCTIONS)])


def disabled_wait(cpu: int, psw: str) -> Crash | None:
    """A CPU has loaded such a PSW; its digits, in any groups."""
    digits = psw.replace(" ", "").upper()
    if int(digits[16:], 16) == _QUIESCED:
        return None
    groups = " ".join(digits[at : at + 8] for at in range(0, len(digits), 8))
    return Crash(DISABLED_WAIT, f"CPU {cpu}, PSW {groups}")


class _Log:
    """A file that grows, and may not exist yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: FileIO | None = None
        self._lost = 0

    def read(self) -> bytes:
        """Read output added since the last call, or its first part; empty if there is none."""
        if self._file is None:
            try:
                self._file = open(self._path, "rb", buffering=0)
            except FileNotFoundError:
                return b""
        return self._file.read(_CHUNK)

    def peek(self, offset: int) -> bytes:
        """Return output *offset* bytes behind the position of read(), without moving it."""
        if self._file is None:
            return b""
        return os.pread(self._file.fileno(), _CHUNK, self._file.tell() + offset)

    def cut(self) -> None:
        """Take out the middle of a file that is longer than its limit; whoever writes it appends."""
        if self._file is None or self._file.tell() <= LOG_MAX:
            return
        with open(self._path, "r+b", buffering=0) as log:
            # From the second time on, the line that says so is there already.
            self._lost += os.fstat(log.fileno()).st_size - LOG_KEPT
            log.seek(LOG_KEPT)
            log.write(_CUT % (self._lost, LOG_MAX >> 20))
            # Only now, or the line would be written over what is appended meanwhile.
            log.truncate()
            self._file.seek(log.tell())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class Console:
    """Follows a console's log file, and the emulator's, in a thread of its own.

    *kinds* are the crashes that end the run; a test of a driver that may warn
    leaves ``"warning"`` out.  The first crash of each kind counts.
    """

    def __init__(
        self, path: Path, kinds: Iterable[str] = CRASHES, emulator_log: Path | None = None
    ) -> None:
        self.path = path
        self.kinds = tuple(kinds)
        unknown = sorted(set(self.kinds) - set(CRASHES))
        if unknown:
            raise UsageError(
                f"unknown kind of crash: {unknown[0]!r} (possible: {', '.join(CRASHES)})"
            )
        self.on_crash: Callable[[], None] | None = None
        self._logs = [_Log(path), *([_Log(emulator_log)] if emulator_log is not None else [])]
        self._rests = ["" for _ in self._logs]
        self._changed = threading.Condition()
        self._reading = threading.Lock()  # the files, and what follows from what they say
        self._seen: dict[str, Crash] = {}
        self._known: dict[str, Crash] = {}
        self._expected: set[str] = set()
        self._telling = False  # on_crash is about to be called, or has not returned
        self._ended = False
        self._failed: BaseException | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to follow the files, which may not exist yet."""
        assert self._thread is None
        self._thread = threading.Thread(target=self._follow, name="zvmlab-console", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Read what is left and end the thread; harmless the second time."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def finish(self, seconds: float) -> None:
        """The guest is gone: wait until all that it has printed is known.

        Unlike stop(), this waits for nobody whom a crash is being reported to.
        """
        self._stop.set()
        if self._thread is not None:
            with self._changed:
                if not self._changed.wait_for(lambda: self._ended or self._unexpected(), seconds):
                    raise Timeout(f"the console was not read to its end within {seconds:g} s")

    def catch_up(self, seconds: float) -> None:
        """Wait until all that the files hold now has been looked at."""
        if self._thread is None:
            return
        limit = Limit(seconds)
        while not self._ended and self.crash is None:
            # The thread need not wake for this; in a round of its own it may be for long.
            if self._reading.acquire(timeout=min(limit.left(), POLL_SECONDS)):
                try:
                    self._read()
                except Exception as error:  # as in _follow()
                    self._failed = error
                finally:
                    self._reading.release()
                return
            if limit.over:
                raise Timeout(f"the console was not read to its end within {limit}")

    def _follow(self) -> None:
        try:
            self._read_until_stopped()
        except BaseException as error:  # whoever asks gets it
            self._failed = error
        finally:
            with self._reading:
                for log in self._logs:
                    log.close()
                with self._changed:
                    self._ended = True
                    self._changed.notify_all()

    def _read_until_stopped(self) -> None:
        last = False
        while not last:
            last = self._stop.is_set()
            with self._reading:
                self._read()
                if last:
                    # Whoever has written it did not live to end the line.
                    self._see(classify(self._rests[0], self.kinds))
                    return
            self._stop.wait(POLL_SECONDS)

    def _read(self) -> None:
        """Look at what has been added; one thread at a time."""
        if self._ended:
            return
        for number, log in enumerate(self._logs):
            # What is added meanwhile waits for the next round, so that each has an end.
            for _ in range(_CHUNKS_MAX):
                data = log.read()
                self._take(number, data)
                if not data:
                    break
        self._logs[0].cut()

    def _take(self, number: int, data: bytes) -> None:
        if not data:
            return
        text = self._rests[number] + data.decode("latin-1").replace("\r", "")
        if number == 0:
            *lines, rest = text.split("\n")
            for line in lines:
                self._see(classify(line, self.kinds))
        else:
            ends = [0]
            for found in _WAIT.finditer(text):
                # A panic that led there was printed before.
                for _ in range(_CHUNKS_MAX):
                    data = self._logs[0].read()
                    self._take(0, data)
                    if not data:
                        break
                self._see(disabled_wait(int(found[1], 16), found[2]))
                ends.append(found.end())
            for found in _ACCESS.finditer(text):
                self._see(Crash(KASAN_CP, found[1]))
                ends.append(found.end())
            rest = text[max(ends) :]
        self._rests[number] = rest[-_LINE_MAX:]

    def _see(self, crash: Crash | None) -> None:
        """Let the kernel print the rest, then end every wait."""
        if crash is None or crash.kind not in self.kinds or crash.kind in self._seen:
            return
        self._seen[crash.kind] = crash
        self._settle(crash)
        self._set_telling(True)
        try:
            self.report(crash)
            if self.on_crash is not None:
                self.on_crash()
        finally:
            self._set_telling(False)

    def _set_telling(self, telling: bool) -> None:
        with self._changed:
            self._telling = telling
            self._changed.notify_all()

    def _settle(self, crash: Crash) -> None:
        """Wait for the end of the kernel's report: on a busy machine it takes seconds."""
        now = time.monotonic()
        longest = now + LONGEST_REPORT_SECONDS
        # An oops always has an end, by which it is known, or leads to a panic, which may have none.
        patience = LONGEST_REPORT_SECONDS if crash.kind == OOPS else SETTLE_SECONDS
        quiet = now + patience
        last, seen = self.tail_text().rpartition(crash.line)[2], 0
        while True:
            if _REPORT_END.search(last):
                return
            if _PATTERNS[PANIC].search(last):
                patience = SETTLE_SECONDS
            if now >= min(quiet, longest) or self._stop.wait(_LOOK_SECONDS):
                return
            added = self._logs[0].peek(seen)
            now = time.monotonic()
            if added:
                seen += len(added)
                quiet = now + patience
                # A line may have come in two parts.
                last = last[-_LINE_MAX:] + added.decode("latin-1").replace("\r", "")

    def report(self, crash: Crash) -> None:
        """A crash is known, by the console or in another way."""
        if crash.kind not in self.kinds:
            return
        with self._changed:
            if crash.kind == DISABLED_WAIT and PANIC in self._known:
                return  # That is how a panic ends.
            self._known.setdefault(crash.kind, crash)
            self._changed.notify_all()

    @property
    def crash(self) -> Crash | None:
        """The unexpected crash noticed so far."""
        with self._changed:
            return self._unexpected()

    def _unexpected(self) -> Crash | None:
        return next((a for a in self._known.values() if a.kind not in self._expected), None)

    @property
    def news(self) -> tuple[str, ...]:
        """The kinds of crashes that have not been known so far."""
        with self._changed:
            return tuple(kind for kind in self.kinds if kind not in self._known)

    def wait_crash(self, seconds: float) -> Crash | None:
        """Wait for a crash for at most that time."""
        with self._changed:
            return self._changed.wait_for(self._unexpected, seconds)

    def wait_kind(self, kind: str, seconds: float) -> bool:
        """Wait for a crash of that kind for at most that time: has it come?"""
        with self._changed:
            return bool(self._changed.wait_for(lambda: kind in self._known, seconds))

    def expect(
        self,
        kinds: Iterable[str],
        seconds: float,
        make_limit: Callable[[float], Limit] = Limit,
    ) -> Crash:
        """Wait for a crash of one of *kinds*; from now on none of them counts.

        Whoever waits for the guest has been told then, so that no later wait is ended by it.
        """
        wanted = set(kinds)
        missed = sorted(wanted - set(self.kinds))
        if missed:
            raise UsageError(f"this guest is not checked for crashes of kind {missed[0]!r}")

        def came() -> Crash | None:
            return next((a for a in self._known.values() if a.kind in wanted), None)

        with self._changed:
            limit = make_limit(seconds)
            while not (came() and not self._telling) and not limit.over:
                self._changed.wait(limit.left())
            found = came()
            if found is None:
                other = self._unexpected()
                text = f"; instead {other}" if other is not None else ""
                raise ZvmlabError(f"no {' or '.join(sorted(wanted))} came within {limit}{text}")
            self._expected |= wanted
        return found

    def check(self) -> None:
        """Raise GuestPanic if something was noticed."""
        found = self.crash
        if found is not None:
            raise GuestPanic(str(found), self.tail())
        if self._failed is not None:
            raise ZvmlabError(
                f"the console is no longer checked for crashes: {self._failed}"
            ) from self._failed

    def text(self) -> str:
        """All output of the console, as far as its log keeps it (LOG_MAX)."""
        return self._last(2 * LOG_MAX)

    def tail_text(self) -> str:
        """The last of that."""
        return self._last(_TAIL_BYTES)

    def _last(self, size: int) -> str:
        try:
            with open(self.path, "rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - size))
                return log.read(size).decode("latin-1").replace("\r", "")
        except FileNotFoundError:
            return ""

    def tail(self, lines: int = TAIL_LINES) -> str:
        """The last lines, for people to look at."""
        return harmless("\n".join(self.tail_text().splitlines()[-lines:]))
