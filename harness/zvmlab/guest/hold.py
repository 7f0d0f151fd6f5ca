# SPDX-License-Identifier: MIT
"""Holding a CPU of a guest at a function of its kernel, while all else goes on.

    with guest.hold("iucv_sock_close", cpu=1) as hold:
        closing = worker.start_close(fd)
        hold.wait()        # CPU 1 stands in front of the function's first instruction
        ...                # the other CPUs, CP and its users go on
    closing.result()       # it has been released at the end of the block
"""

from __future__ import annotations

import itertools
import time
from types import TracebackType
from typing import Any, Protocol

from zvmlab.base.errors import EmulatorError, Timeout, UsageError
from zvmlab.guest.qmp import Qmp, QmpError

WAIT_SECONDS = 60.0
PLACES = ("entry", "return")
ANY_CPU = -1
_CP = "/objects/cp"
_LOOK_SECONDS = 0.005
_ids = itertools.count(1)


class Checked(Protocol):
    """A guest, as far as it is asked here."""

    @property
    def qmp(self) -> Qmp:
        """QEMU's protocol for programs."""

    def check(self) -> None:
        """Raise if the guest has crashed."""


def _set(qmp: Qmp, name: str, value: object) -> None:
    try:
        qmp.execute("qom-set", {"path": _CP, "property": name, "value": value})
    except QmpError as error:
        raise EmulatorError(error.desc.removeprefix("zvmlab-cp: ")) from error


def check_hold(function: str, cpus: int, cpu: int | None, nth: int, where: str) -> None:
    """UsageError if no guest with so many CPUs can have such a hold."""
    if where not in PLACES:
        raise UsageError(
            f"a CPU cannot be held at the {where!r} of {function} ({' or '.join(PLACES)})"
        )
    if "+" in function and where == "return":
        raise UsageError(f"{function}: an instruction within a function has no return of its own")
    if cpus == 1:
        raise UsageError(
            f"the guest has one CPU, and nothing would run while it is held at {function};"
            " give it two"
        )
    if cpu is not None and not 0 <= cpu < cpus:
        raise UsageError(f"the guest has no CPU {cpu} to be held at {function} (0 to {cpus - 1})")
    if nth < 1:
        raise UsageError(f"a CPU cannot be held at call {nth} of {function} (1 or more)")


class Hold:
    """One CPU that is to be held, is held, or has been released."""

    def __init__(
        self, guest: Checked, function: str, address: int, cpu: int | None, nth: int, where: str
    ) -> None:
        self.function = function
        self.where = where
        self._guest = guest
        self._id = next(_ids)
        self.begun = False
        """Nobody has released it."""
        which = "a CPU" if cpu is None else f"CPU {cpu}"
        call = "" if nth == 1 else f"call {nth} of "
        self._what = f"{which} has not reached the {where} of {call}{function}"
        value = {"id": self._id, "address": address, "return": where == "return"}
        value |= {"cpu": ANY_CPU if cpu is None else cpu, "nth": nth}
        _set(guest.qmp, "hold", value)
        self.begun = True

    def _state(self) -> dict[str, Any] | None:
        """What QEMU knows of it; None: it is over."""
        found = self._guest.qmp.execute("qom-get", {"path": _CP, "property": "hold"})
        return next((one for one in found if one["id"] == self._id), None)

    @property
    def held(self) -> bool:
        """Does a CPU stand there now?"""
        state = self._state()
        return state is not None and state["state"] == "held"

    def wait(self, seconds: float = WAIT_SECONDS) -> int:
        """Wait until a CPU is held; its number.  Timeout if none is within that time."""
        limit = self._guest.qmp.limit(seconds)
        while True:
            state = self._state()
            if state is None:
                raise UsageError(
                    f"{self._what}: the hold is over, it was released, or the guest was"
                    " put back or started anew"
                )
            if state["state"] == "held":
                return int(state["cpu"])
            self._guest.check()
            if limit.over:
                calls = f"; calls that it has counted: {state['reached']}"
                inside = " (it has been entered)" if state["state"] == "entered" else ""
                raise Timeout(f"{self._what} within {limit}{calls}{inside}")
            time.sleep(_LOOK_SECONDS)

    def release(self) -> None:
        """Let the CPU go on, or never stop; harmless the second time."""
        if self.begun and self._state() is not None:
            _set(self._guest.qmp, "release", self._id)
        self.begun = False

    def __enter__(self) -> Hold:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.release()
        except EmulatorError:
            if error is None:  # else the emulator's end has a better reason
                raise
