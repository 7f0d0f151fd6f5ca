# SPDX-License-Identifier: MIT
"""Records that CP makes for *LOGREC, *ACCOUNT and *SYMPTOM, and the queues they wait in.

    make(guest.control, "*ACCOUNT", b"…")
    assert queue(guest.control, "*ACCOUNT", "LINUX001").count == 1
"""

from __future__ import annotations

from dataclasses import dataclass

from zvmlab.cp.control import Control, Event

LOGREC, ACCOUNT, SYMPTOM = SERVICES = ("*LOGREC", "*ACCOUNT", "*SYMPTOM")
MAX_RECORD = 16384


@dataclass(frozen=True)
class Queue:
    """A queue of records: those of one service for one user."""

    service: str
    user: str
    on: bool
    count: int
    limit: int
    lost: int
    state: str
    """inactive, active, or pending: a record is sent."""
    path: int


def make(control: Control, service: str, record: bytes) -> int:
    """CP makes a record; the number of queues that it was put on."""
    queues: int = control.execute("recording-record", service=service, record=record)["queues"]
    return queues


def queues(control: Control) -> list[Queue]:
    """All queues, as QUERY RECORDING lists them."""
    return [Queue(**found) for found in control.execute("query-recording")["queues"]]


def queue(control: Control, service: str, user: str) -> Queue | None:
    """The queue of a service for a user, if there is one."""
    return next((q for q in queues(control) if (q.service, q.user) == (service, user)), None)


def sever(control: Control, service: str, code: int, user: str | None = None) -> int:
    """The service severs its path to a user, or all; the number of paths."""
    arguments = {"service": service, "code": code} | ({} if user is None else {"user": user})
    count: int = control.execute("recording-sever", time_limit=None, **arguments)["severed"]
    return count


def quiesce(control: Control, service: str, quiesced: bool = True) -> int:
    """The service quiesces its paths, or resumes them; the number of paths."""
    answer = control.execute("recording-quiesce", service=service, quiesced=quiesced)
    count: int = answer["paths"]
    return count


def await_received(control: Control, service: str, timeout: float) -> Event:
    """Wait until a user has received a record as a whole; *count* of its data are left."""
    return control.wait_event("recording-received", timeout, service=service)
