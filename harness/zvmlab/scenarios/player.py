# SPDX-License-Identifier: MIT
"""Plays steps that are data (zvmlab.scenarios.steps) in a guest, in one order of both its sides.

    player = Player(guest)
    player.play(steps)
    player.end()                    # calls that sleep are ended, files are closed
    for played in player.played:
        print(played)

A call that sleeps goes on beside the steps that follow, until its thread has another step: then
its time limit comes, by a jump of the guest's clocks.  Steps of one thread that follow each other
are one request to the agent, for a request of twenty steps takes little longer than one of a single
step.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections import Counter
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from zvmlab.agent.agent import Batch, Pending, Worker
from zvmlab.agent.calls import BatchResult, CallResult, Message, Ref
from zvmlab.agent.results import Settled
from zvmlab.agent.wire import Call
from zvmlab.agent.worker import module_path
from zvmlab.base.errors import ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.cp.afiucv import iprm_data
from zvmlab.cp.control import ControlError, decode
from zvmlab.guest.console import Crash
from zvmlab.guest.guest import Guest
from zvmlab.guest.hold import Hold
from zvmlab.monitor.steps import thread_of as thread_folder
from zvmlab.scenarios.stacks import deepest_page
from zvmlab.scenarios.steps import (
    THREADS,
    Json,
    argument,
    names_in,
    nth_of,
    request_value,
    thread_of,
)

_T = TypeVar("_T")
CALL_SECONDS = 0.1
"""Of the guest's time, each tick of which costs: so long a call may sleep before a signal ends it."""
_HANGS_SECONDS = 5.0
"""And so long before one that no signal wakes counts as one that never ends."""
_LONGEST_SECONDS = 3600.0
_SIGNALS = 2
"""A call that so many signals do not wake cannot be interrupted."""
_JUMP_SECONDS = 1.0
"""Of the host's time, if it has a CPU: so long such a jump may take."""
_ANSWER_SECONDS = 10.0
"""The same for a guest that does not sleep: one that does not answer then hangs."""
_RUN_SECONDS = 1.0
"""And for a system call that does not sleep: one that goes on then has no end."""
# What nearly all requests take, also on a busy host; what has not come then may sleep.
_SOON_SECONDS = 0.01
# What takes longer after its thread was woken is waited for while the guest's clocks jump.
_WOKEN_SECONDS = 0.004
_LOOK_SECONDS = 0.01
# A call whose result is needed is waited for so long, if the guest has a CPU.
_NAMED_SECONDS = 0.05
_SHOWN = 60
_HELD_CPU = 1
_ALL_PAGES = (1 << 32) - 1
_ENDER = "ender"
_OWN_NUMBER = 100  # the agent's own begin with 200
_MAKE_FILES = ("openat", "socket", "accept4", "dup", "dup3")
_MAY_SLEEP = ("connect", "accept4", "recvfrom", "recvmsg", "read")
_SEND = ("sendto", "sendmsg", "write")
_RMDATA = 0x80
# Of /proc/sys/kernel/tainted: the kernel has had an oops.
_DIED = 1 << 7
_IPRM_LENGTHS = range(0xF8, 0x100)


class GuestDied(ZvmlabError):
    """The guest does not go on: it has panicked, or loaded a disabled wait."""

    def __init__(self, crash: Crash) -> None:
        super().__init__(str(crash))
        self.crash = crash


class Oopsed(ZvmlabError):
    """A thread of the guest's will never answer."""


class Silent(ZvmlabError):
    """The guest's CPUs run, and the agent does not answer."""


@dataclass
class Played:
    """What a step gave."""

    number: int
    """Of the step, counted from 0."""
    step: Json
    ret: int = -1
    error: int = 0
    """errno; 0 if it did not fail."""
    data: bytes = b""
    answer: dict[str, Any] | None = None
    """Of a request; its *error* says why it was refused."""
    path: int = 0
    """Of a peer's call: the path that it was about."""
    overrun: bool = False
    """The kernel has stored behind the end of a buffer."""
    complete: bool = False
    """Of reads: they ended with one of no bytes, which closes a data set."""
    slept: bool = False
    """It slept until its limit."""
    beside: bool = False
    """Its thread slept before or in it, so other steps may have gone on meanwhile."""
    stuck: bool = False
    """And no signal ended it."""

    def differs(self) -> str | None:
        """What is not as the step expects it; None: nothing."""
        expected = dict(self.step.get("expect", {}))
        answer = self.answer or {}
        found: dict[str, object] = {"ret": self.ret, "errno": self.error, "hex": self.data.hex()}
        found |= {"complete": self.complete}
        found |= {name: answer.get(name) for name in ("cc", "rc")}
        text = str(expected.pop("contains", ""))
        wrong = [
            f"{name} {found[name]}" for name, value in expected.items() if found[name] != value
        ]
        if self.answer is None and text.encode() not in self.data:
            wrong.append(f"{self.data[:_SHOWN]!r}")
        if self.answer is not None and text not in json.dumps(answer, sort_keys=True):
            wrong.append(json.dumps(answer, sort_keys=True))
        if "expect" in self.step and self.slept:
            wrong = ["it sleeps"]
        if "expect" in self.step and "error" in answer:
            wrong = [str(answer["error"])]
        return ", ".join(wrong) if wrong else None


@dataclass
class _Thread:
    """A thread of the guest: what it does, and what it is about to be asked for."""

    worker: Worker
    batch: Batch | None = None
    noted: list[tuple[Played, Ref]] = field(default_factory=list)
    """The operations of the batch that is made, or being executed."""
    pending: Pending[BatchResult] | None = None
    stuck: bool = False


class Player:
    """Plays steps in a guest; *limit* is how long a call may sleep.

    *since*: the number of the first line that the kernel logs from now on, if it is known.
    *stacks*: pages of the threads' stacks, as an earlier player of the same guest has found them.
    """

    def __init__(
        self,
        guest: Guest,
        limit: float = CALL_SECONDS,
        since: int | None = None,
        stacks: MutableMapping[str, int] | None = None,
    ) -> None:
        self.guest = guest
        self.played: list[Played] = []
        self._limit = limit
        # Numbered alike each time: a guest that is put back has the threads of its mark.
        self._threads = {
            name: _Thread(guest.agent.worker(f"step {name}")) for name in (*THREADS, _ENDER)
        }
        self._shared: set[str] = set()
        self._values: dict[str, int] = {}
        # How often each number was opened and not closed: of two threads, the later one may be noted first.
        self._files: Counter[int] = Counter()
        self._holds: list[Hold] = []
        self._since = since
        self._stacks: MutableMapping[str, int] = {} if stacks is None else stacks
        self._paged = False

    @property
    def stuck(self) -> list[Played]:
        """Steps that no signal ends."""
        return [one for one in self.played if one.stuck]

    def play(self, steps: Sequence[Json]) -> list[Played]:
        """All of them; what each gave is whole only after end()."""
        first = len(self.played)
        self._shared = _shared(steps)
        for number, step in enumerate(steps, first):
            self.played.append(Played(number, step))
            getattr(self, f"_do_{step['do']}")(self.played[-1])
        self._start_batches()
        return self.played[first:]

    def start_threads(self) -> None:
        """Those that no step has needed yet: a guest that is marked now has all of them later.

        Where their stacks are is known then, too.
        """
        for name, thread in self._threads.items():
            thread.worker.call(Call.GETPID)
            self._stacks[name] = self._stack_of(thread.worker)

    def wait(self) -> None:
        """Until each call has returned, or its limit has come."""
        self._start_batches()
        for thread in self._threads.values():
            self._collect(thread)

    def end(self, then: Sequence[Json] = ()) -> list[Played]:
        """Nothing of it goes on: holds are released, calls that sleep end, files are closed.

        *then*: steps of thread a that follow, in the same request if they are all of the guest's.
        Return: what these gave.  Files that they have opened stay so.
        """
        self._start_batches()
        self._release()
        self.wait()
        free = next((thread for thread in self._threads.values() if not thread.stuck), None)
        left = sorted(number for number, times in self._files.items() if times > 0)
        if left and free is not None:
            batch = self._batch(free)
            closing = Played(len(self.played), {"do": "call", "call": "close", "args": []})
            self.played.append(closing)
            for number in left:
                free.noted.append((closing, batch.close(number)))
            self._files.clear()
        played = self.play(then)
        self.wait()
        return played

    def settled(self) -> Settled:
        """What the kernel has logged since the beginning, when no task runs any more."""
        found = self._look()
        if found.runnable > 0 and not self.stuck:
            limit = self._fair(_RUN_SECONDS)
            while found.runnable > 0 and not limit.over:
                found = self._look()
        return found

    def _look(self) -> Settled:
        worker = self.guest.agent.looker(_ANSWER_SECONDS)
        if self._since is None:
            self._since = worker.log_position()
        return self._answer(worker.start_settle(self._since))

    # The steps, by their names.

    def _do_call(self, played: Played) -> None:
        step = played.step
        thread = self._thread(played)
        if step["call"] in _MAY_SLEEP and any(
            one.step.get("as") in self._shared for one, _ in thread.noted
        ):
            # Another thread wants to name that, perhaps meanwhile.
            self._start(thread)
        batch = self._batch(thread)
        args = [self._value(thread, value) for value in step["args"]]
        ref = batch.call(Call[str(step["call"]).upper()], *args)
        thread.noted.append((played, ref))

    def _do_poll(self, played: Played) -> None:
        thread = self._thread(played)
        batch = self._batch(thread)
        fd = self._number(thread, played.step["fd"])
        ref = batch.poll([(fd, played.step["events"])], 0)
        thread.noted.append((played, ref))

    def _do_reads(self, played: Played) -> None:
        thread = self._thread(played)
        batch = self._batch(thread)
        fd = self._number(thread, played.step["fd"])
        ref = batch.read_until(fd, played.step["size"], reads=64, max_bytes=1 << 20)
        thread.noted.append((played, ref))

    def _do_write(self, played: Played) -> None:
        self._write(played, played.step["path"], played.step["text"])

    def _do_cpu(self, played: Played) -> None:
        path = f"/sys/devices/system/cpu/cpu{played.step['cpu']}/online"
        self._write(played, path, str(int(played.step["online"])))

    def _write(self, played: Played, path: str, text: str) -> None:
        thread = self._thread(played)
        batch = self._batch(thread)
        _, own = _open_own(batch, path, os.O_WRONLY)
        thread.noted.append((played, batch.write(own, text.encode())))
        batch.close(own)

    def _do_load(self, played: Played) -> None:
        """With what it needs and wants, which may be there already."""
        wanted = _module_name(played)
        params = str(played.step.get("params", ""))
        thread = self._thread(played)
        batch = self._batch(thread)
        for step in self.guest.load_steps().get(wanted, [wanted]):
            name = step.rstrip("?")
            file, own = _open_own(batch, module_path(name), os.O_RDONLY)
            text = (params if name == wanted else "").encode("utf-8", "surrogateescape")
            loaded = batch.call(Call.FINIT_MODULE, own, text + b"\0", 0)
            batch.close(own)
        thread.noted += [(played, file), (played, loaded)]

    def _do_unload(self, played: Played) -> None:
        thread = self._thread(played)
        name = _module_name(played).encode("ascii") + b"\0"
        ref = self._batch(thread).call(Call.DELETE_MODULE, name, os.O_NONBLOCK)
        thread.noted.append((played, ref))

    def _do_signal(self, played: Played) -> None:
        self._start_batches()
        thread = self._threads[thread_of(played.step)]
        played.ret = 0
        if thread.pending is not None:
            played.ret = int(self._answer(thread.worker.start_interrupt()).sent)

    def _stack_of(self, worker: Worker) -> int:
        """The page of its stack that a thread touches when it executes a request."""
        return deepest_page(self.guest.agent, thread_folder(worker))

    def _do_out(self, played: Played) -> None:
        self._start_batches()
        name = thread_of(played.step)
        thread = self._threads[name]
        if name not in self._stacks and thread.pending is None:
            self._stacks[name] = self._stack_of(thread.worker)
        if name not in self._stacks:
            played.answer = {"error": "that thread's stack is not known"}
            return
        self._execute(played, "page-out", {"address": self._stacks[name]})

    def _do_in(self, played: Played) -> None:
        self._start_batches()
        self._page_in(played)

    def _page_in(self, played: Played) -> None:
        """All pages that are out; also those that a held CPU waits for."""
        self._execute(played, "page-in", {"address": 0, "pages": _ALL_PAGES})
        self._paged = False

    def _do_request(self, played: Played) -> None:
        self._start_batches()
        step = played.step
        arguments = request_value("", step["arguments"])
        assert isinstance(arguments, dict), "it has been checked"
        nth = nth_of("", step)
        if nth is not None:
            state = "pending" if arguments.get("function") == "accept" else "open"
            arguments["path"] = self._path(str(arguments.get("peer")), state, nth)
        played.path = int(arguments.get("path") or 0)
        self._execute(played, step["execute"], arguments)

    def _path(self, peer: str, state: str, nth: int) -> int:
        """One of a peer's paths, if it has any, in that state if one is.

        The newest ones have the highest numbers, mostly.
        """
        try:
            found = self.guest.control.execute("query-paths", user=peer)["paths"]
        except ControlError:
            return nth
        found = [path for path in found if path["state"] == state] or found
        return int(found[-1 - nth % len(found)]["path"]) if found else nth

    def _execute(self, played: Played, command: str, arguments: dict[str, Any]) -> None:
        self._paged |= command.startswith("page-")
        try:
            played.answer = self.guest.control.execute(command, **arguments) or {}
        except ControlError as error:
            played.answer = {"error": error.desc}

    def _do_hold(self, played: Played) -> None:
        self._start_batches()
        step = played.step
        thread = self._thread(played)
        # What it does may sleep for longer than anybody waits for an answer.
        self._collect(thread)
        if thread.stuck:
            played.answer = {"error": "that thread does not come back"}
            return
        function, where = step["function"], step.get("where", "entry")
        if any(hold.held for hold in self._holds):
            self._release()  # or the thread would wait for the CPU that it has to run on
        try:
            self._all_pages_in()  # or a thread that is put onto a CPU would sleep, and not answer
            self._keep_apart(thread)
            hold = self.guest.hold(function, _HELD_CPU, step.get("nth", 1), where)
        except (ZvmlabError, OSError) as error:  # for example because that CPU is offline
            played.answer = {"error": str(error)}
        else:
            self._holds.append(hold)

    def _keep_apart(self, held: _Thread) -> None:
        """Only that thread runs on the CPU that is to be held: another one would wait there with it."""
        others = [n for n in range(self.guest.config.cpus) if n != _HELD_CPU]
        for thread in self._threads.values():
            if thread is not held and thread.pending is None:
                self.guest.agent.keep_on(thread.worker, *others)
        self.guest.agent.keep_on(held.worker, _HELD_CPU)

    def _do_release(self, _played: Played) -> None:
        self._start_batches()
        self._release()

    def _release(self) -> None:
        """Nothing of CP's keeps a call from going on."""
        while self._holds:
            self._holds.pop().release()
        self._all_pages_in()

    def _all_pages_in(self) -> None:
        if self._paged:
            self._page_in(Played(-1, {"do": "in"}))

    # Threads and their batches.

    def _thread(self, played: Played) -> _Thread:
        """The thread of a step; the others' batches are begun first."""
        name = thread_of(played.step)
        self._start_batches(but=name)
        return self._threads[name]

    def _batch(self, thread: _Thread) -> Batch:
        if thread.batch is None:
            self._collect(thread)
            thread.batch = thread.worker.batch()
            thread.noted = []
        return thread.batch

    def _value(self, thread: _Thread, value: object) -> Any:
        found = argument("", value)
        return self._number(thread, found) if isinstance(found, str) else found

    def _number(self, thread: _Thread, value: object) -> int | Ref:
        """A number, or what a name stands for: -1 if that is not there."""
        if not isinstance(value, str):
            assert isinstance(value, int), "it has been checked"
            return value
        for played, ref in reversed(thread.noted if thread.batch is not None else []):
            if played.step.get("as") == value:
                return ref
        self._await_name(value)
        return self._values.get(value, -1)

    def _await_name(self, name: str) -> None:
        """Another thread's call may be about to give it (anew), and only seem to sleep.

        No task runs while a CPU of the guest takes the interruption that wakes one, and on a busy
        host that may be long.
        """
        for thread in self._threads.values():
            makes = any(played.step.get("as") == name for played, _ in thread.noted)
            if thread.pending is None or thread.stuck or not makes:
                continue
            limit = self._fair(_NAMED_SECONDS)
            while not self._done(thread.pending, _LOOK_SECONDS) and not limit.over:
                pass
            if thread.pending.done():
                self._take(thread)

    def _start_batches(self, but: str = "") -> None:
        for name, thread in self._threads.items():
            if name != but and thread.batch is not None:
                self._start(thread)

    def _start(self, thread: _Thread) -> None:
        batch, thread.batch = thread.batch, None
        if batch is None or thread.stuck:
            return
        thread.pending = batch.start(_LONGEST_SECONDS, collected=True)
        self._let_sleep(thread)

    def _let_sleep(self, thread: _Thread) -> None:
        """Go on when it has ended, or sleeps as all others do."""
        assert thread.pending is not None
        if self._done(thread.pending, _SOON_SECONDS):
            self._take(thread)
            return
        self._await_sleep(thread.pending)
        if thread.pending.done():
            self._take(thread)

    def _await_sleep(self, pending: Pending[Any]) -> bool:
        """Until it has ended, or no task runs: False if one goes on and on."""
        limit = self._fair(_RUN_SECONDS)
        while not pending.done() and not limit.over:
            found = self._look()
            if found.taints & _DIED:
                raise Oopsed("the guest's kernel has killed a task by an oops")
            if found.runnable <= sum(hold.held for hold in self._holds):
                return True
        return pending.done()

    def _collect(self, thread: _Thread) -> None:
        """Wait for what it does: what sleeps does so for its limit, then a signal ends it."""
        if thread.pending is None or thread.stuck:
            return
        # It may be what is held.
        if not self._done(thread.pending, _SOON_SECONDS):
            self._release()
        executed, sleeps = 0, True
        # After a signal, the batch goes on with its next call, which may sleep, too.
        for _ in range(len(thread.noted) + _SIGNALS):
            if not self._done(thread.pending, _WOKEN_SECONDS):
                self._jump(thread.pending, self._limit)
            if thread.pending.done():
                break
            executed = self._answer(thread.worker.start_interrupt()).executed
            sleeps = self._await_sleep(thread.pending)
            if not sleeps:
                break
        if sleeps and not thread.pending.done():
            self._jump(thread.pending, _HANGS_SECONDS)
        if thread.pending.done():
            for played, _ in thread.noted:
                played.beside = True
            self._take(thread)
            return
        thread.stuck = True
        left = [played for played, ref in thread.noted if ref.index >= executed]
        (left or [thread.noted[-1][0]])[0].stuck = True

    def _jump(self, pending: Pending[Any], seconds: float) -> None:
        """Let the guest's clocks jump so far, for a call that sleeps."""
        limit = self._fair(_JUMP_SECONDS)
        with self.guest.passing(seconds) as left:
            while not self._done(pending, _LOOK_SECONDS) and left() and not limit.over:
                pass

    def _take(self, thread: _Thread) -> None:
        """What it has done."""
        assert thread.pending is not None
        reply, thread.pending = thread.pending.result(_ANSWER_SECONDS), None
        noted, thread.noted = thread.noted, []
        for played, ref in noted:
            if ref.index < len(reply):
                self._note(played, reply[ref])

    def _note(self, played: Played, result: CallResult) -> None:
        if played.step["do"] == "load" and played.error:
            return  # the module's file is not there
        step = played.step
        played.ret, played.error, played.data = result.ret, result.errno, result.data
        played.slept = result.errno == errno.EINTR
        played.overrun = result.overrun
        if step["do"] == "call" and step["call"] == "recvmsg":
            played.data = _of_message(step, result)
        if step["do"] == "reads":
            played.data = result.buffers[0] if result.buffers else b""
            played.complete = bool(result.reads) and result.reads[-1].ret == 0
            return
        if step["do"] != "call":
            return
        number = -1 if result.errno else result.ret
        if "as" in step:
            self._values[step["as"]] = number
        if step["call"] in _MAKE_FILES and number >= 0:
            self._files[number] += 1
        elif step["call"] == "close" and not result.errno:
            self._files[self._closed(step)] -= 1

    def _closed(self, step: Json) -> int:
        value = step["args"][0] if step["args"] else -1
        found = self._values.get(value, -1) if isinstance(value, str) else value
        return found if isinstance(found, int) else -1

    # Waiting for a guest that may have gone.

    def _fair(self, seconds: float) -> Limit:
        return self.guest.emulator.limit(seconds)

    def _done(self, pending: Pending[Any], seconds: float) -> bool:
        if pending.done_within(seconds):
            return True
        self._check_lives()
        return False

    def _answer(self, pending: Pending[_T]) -> _T:
        """The reply to a question that is answered at once."""
        limit: Limit | None = None
        while not self._done(pending, _SOON_SECONDS):
            limit = limit or self._fair(_RUN_SECONDS if self._holds else _ANSWER_SECONDS)
            if limit.over and self._holds:
                # What the kernel asks all CPUs to do waits for the one that is held.
                self._release()
                limit = None
            elif limit.over:
                raise Silent(f"the guest's agent does not answer within {limit}")
        return pending.result(_ANSWER_SECONDS)

    def _check_lives(self) -> None:
        crash = self.guest.machine.crash()
        if crash is not None:
            raise GuestDied(crash)
        self.guest.check()


def _open_own(batch: Batch, path: str, flags: int) -> tuple[Ref, Ref]:
    """A file that no step names, by a number that no step can have: what opens it, and that number.

    Another thread's step may close a number a second time, or have it opened meanwhile.
    """
    opened = batch.open(path, flags | os.O_CLOEXEC)
    own = batch.call(Call.FCNTL, opened, fcntl.F_DUPFD_CLOEXEC, _OWN_NUMBER)
    batch.close(opened)
    return opened, own


def _of_message(step: Json, result: CallResult) -> bytes:
    """What a message brought, without its name and its control messages."""
    found = argument("", step["args"][1]) if len(step["args"]) > 1 else None
    return found.received(result.buffers) if isinstance(found, Message) else result.data


def _module_name(played: Played) -> str:
    return str(played.step["module"]).replace("-", "_")


def _shared(steps: Sequence[Json]) -> set[str]:
    """Names of results that several threads use."""
    threads: dict[str, set[str]] = {}
    for step in steps:
        for name in names_in(step):
            threads.setdefault(name, set()).add(thread_of(step))
    return {name for name, users in threads.items() if len(users) > 1}


def sent_by_peers(played: Sequence[Played]) -> dict[tuple[str, int], bytes]:
    """What peers have sent successfully, by peer and path, joined."""
    found: dict[tuple[str, int], bytes] = {}
    for one in played:
        step, answer = one.step, one.answer
        if step["do"] != "request" or step["execute"] != "peer-call" or not answer:
            continue
        arguments = request_value("", step["arguments"])
        assert isinstance(arguments, dict)
        if arguments.get("function") != "send" or answer.get("cc") != 0 or answer.get("pgm"):
            continue
        key = str(arguments["peer"]), one.path
        found[key] = found.get(key, b"") + _sent(arguments)
    return found


def sent_by_programs(played: Sequence[Played]) -> list[bytes] | None:
    """What programs of the guest have sent, by socket, joined; None if nobody knows."""
    found: dict[tuple[str, int], bytes] = {}
    threads: dict[tuple[str, int], str] = {}
    made: Counter[str] = Counter()
    for one in played:
        step = one.step
        if step["do"] != "call":
            continue
        if step["call"] in _SEND and not one.error:
            name, data = str(step["args"][0]), _outgoing(one)
            key = name, made[name]
            # Of several threads nobody knows the order.
            if data is None or threads.setdefault(key, thread_of(step)) != thread_of(step):
                return None
            found[key] = found.get(key, b"") + data
        made[str(step.get("as"))] += 1
    return list(found.values())


def _outgoing(one: Played) -> bytes | None:
    """What a call has sent; of one that has not returned it may be all."""
    value = one.step["args"][1] if len(one.step["args"]) > 1 else 0
    given = argument("", value)
    parts: list[object] = [given]
    if isinstance(given, Message):
        parts = list(given.parts.parts)
    if not all(isinstance(part, bytes) for part in parts):
        return None if one.ret else b""
    data = b"".join(part for part in parts if isinstance(part, bytes))
    if one.ret > len(data):
        return None
    return data if one.ret < 0 else data[: one.ret]


def _sent(arguments: dict[str, Any]) -> bytes:
    flags = arguments.get("flags", 0)
    message = arguments.get("rmmsg", b"")
    if isinstance(flags, int) and flags & _RMDATA and isinstance(message, bytes):
        known = len(message) == 8 and message[7] in _IPRM_LENGTHS
        return iprm_data(message) if known else b""
    data = arguments.get("data", b"")
    return data if isinstance(data, bytes) else decode(str(data))
