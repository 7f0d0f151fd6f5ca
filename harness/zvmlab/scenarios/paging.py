# SPDX-License-Identifier: MIT
"""A scenario of page faults that CP tells Linux of (DIAGNOSE X'258'): a task sleeps meanwhile.

A thread that waits in a system call touches its stack as soon as that returns.  CP pages out
that page of its stack, and the call is made to return.
"""

from __future__ import annotations

import struct

from zvmlab.agent.agent import Pending, Worker
from zvmlab.agent.calls import BatchResult, Both
from zvmlab.agent.wire import Call
from zvmlab.base.errors import Timeout
from zvmlab.guest.config import QEMU
from zvmlab.monitor.steps import READ, await_sleep, task_state, thread_of
from zvmlab.scenarios.context import Context, error_name, scenario
from zvmlab.scenarios.stacks import stack_page

_NOBODY = "NOBODY"
_CPUS = 2
_ONLINE = "/sys/devices/system/cpu/cpu1/online"
_SECONDS = 10.0
"""How long something is waited for that a fault may have prevented."""
_SURE_SECONDS = 60.0
"""How long what must come."""


class _Sleeper:
    """A thread that sleeps in a read of a pipe until it is told to go on."""

    def __init__(self, context: Context) -> None:
        self._agent, self.control = context.guest.agent, context.control
        self.worker: Worker = self._agent.worker("sleeper")
        made = self._agent.call(Call.PIPE2, Both(bytes(8)), 0)
        made.check()
        self._ends = [int(end) for end in struct.unpack(">2i", made.data)]
        self._folder = thread_of(self.worker)
        batch = self.worker.batch()
        batch.read(self._ends[0], 1)
        self.reading: Pending[BatchResult] = batch.start(10 * _SURE_SECONDS)
        await_sleep(self._agent, self._folder, READ)

    def page(self) -> int:
        """The absolute address of the page of its stack that it touches next."""
        return stack_page(self._agent, self._folder)

    def go_on(self) -> Pending[BatchResult]:
        """Its read returns; the answer to this may have to wait until it has touched the page."""
        batch = self._agent.batch()
        batch.write(self._ends[1], b"x")
        return batch.start(_SURE_SECONDS)

    def state(self) -> str:
        """The state of the task, as in proc(5)."""
        return task_state(self._agent, self._folder)

    def goes_on(self, seconds: float) -> bool:
        """Does it, within that time?"""
        return self.reading.done_within(seconds)

    def end(self) -> None:
        """It does nothing any more."""
        self.reading.result(_SURE_SECONDS)
        for end in self._ends:
            self._agent.close(end).check()


def _cycle(context: Context) -> list[str | None]:
    """The second CPU goes and comes: it cancels, and establishes the handshake."""
    found: list[str | None] = []
    for value in (b"0", b"1"):
        try:
            context.guest.agent.write_file(_ONLINE, value)
            found.append(None)
        except OSError as error:
            found.append(error_name(error.errno or 0))
    return found


def _handshakes(context: Context) -> list[int]:
    """The CPUs with a handshake, as CP reports them."""
    found = context.control.execute("query-pages")["handshakes"]
    return [int(one["cpu"]) for one in found]


def _event(context: Context) -> tuple[str, int, int]:
    """The next event: its kind, its fault, its CPU."""
    try:
        data = context.control.wait_event("page", _SECONDS).data
    except Timeout:
        return "nothing", 0, 0
    return str(data["what"]), int(data["fault"]), int(data["cpu"])


def _fault(context: Context, hold: bool) -> str:
    """A thread meets a page that is out, and then it is in; how the thread was told, or woken.

    With *hold* the completion comes before the initial interruption.
    """
    context.control.forget_events("page")
    sleeper = _Sleeper(context)
    address = sleeper.page()
    context.control.execute("page-out", address=address, hold=hold)
    told = sleeper.go_on()
    what, fault, cpu = _event(context)
    context.note("page", told=what)
    if what == "held":
        # Until the release nothing can be asked of the guest.
        other = 1 - cpu
        completed = context.control.execute("page-in", address=address, cpu=other)["completed"]
        context.note("in, too early", completed=completed, told=_event(context)[0])
        context.control.execute("page-release", fault=fault)
    told.result(_SURE_SECONDS)
    if what == "initial":
        context.note(
            "sleeps", sleeps=context.control.limit(_SECONDS).look(lambda: sleeper.state() == "D")
        )
        completed = context.control.execute("page-in", address=address)["completed"]
        context.note("in", completed=completed)
    how = "in time"
    if not sleeper.goes_on(_SECONDS):
        context.note("second CPU", errno=_cycle(context))
        how = "late" if sleeper.goes_on(_SURE_SECONDS) else "never"
    context.note("goes on", how=how)
    if how != "never":
        sleeper.end()
    return f"{what}, {how}"


def _faults_work(context: Context) -> str | None:
    changed = _cycle(context)
    cpus = _handshakes(context)
    if changed != [None, None] or cpus != list(range(_CPUS)):
        return f"the second CPU goes and comes with {changed}, and CPUs {cpus} have a handshake"
    found = _fault(context, hold=False)
    return None if found == "initial, in time" else f"a page fault is: {found}"


@scenario(
    "pfault",
    "A task touches a page that is out, and sleeps until it is in; one that is in too early.",
    partner=_NOBODY,
    usable=_faults_work,
    cpus=_CPUS,
    backends=(QEMU,),
)
def pfault(context: Context) -> None:
    """Both orders of the interruptions of X'2603'; a CPU that cancels, and comes back."""
    _fault(context, hold=False)
    _fault(context, hold=True)
    context.note("second CPU", errno=_cycle(context), handshakes=_handshakes(context))
