# SPDX-License-Identifier: MIT
"""A guest that is none: a small model of the driver and its CP, for tests of sweeps."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from zvmlab.agent.calls import CallResult, Read
from zvmlab.agent.results import LogLine, ModuleResult
from zvmlab.base.errors import GuestPanic, Timeout
from zvmlab.cp.control import ControlError, decode

POINTS = {
    "iucv.connect": ["rc", "pgm", "drop"],
    "iucv.reply": ["rc", "drop"],
    "monitor.message": ["drop", "corrupt"],
    "iucv.send": ["rc"],
}
MCE_START = 0x9000000


@dataclass
class Cp:
    """The view of CP and the driver; *rules* are the armed faults."""

    rules: dict[int, dict[str, Any]] = field(default_factory=dict)
    next_rule: int = 1
    modules: set[str] = field(default_factory=set)
    open: bool = False
    sets: list[bytes] = field(default_factory=list)
    log: list[LogLine] = field(default_factory=list)
    capture: Path | None = None
    number: int = 0
    stuck: bool = False
    leaves: str = ""
    """What a fired fault leaves wrong: "unusable", "log", "warning", "late", "users"."""
    users: list[str] = field(default_factory=list)
    fired: bool = False
    reached: Counter[str] = field(default_factory=Counter)

    def say(self, text: str) -> None:
        """A line of the kernel's log."""
        self.log.append(LogLine(len(self.log), 6, 1.0, text))

    def call(self, point: str) -> dict[str, Any] | None:
        """A call of CP: the fault that is due."""
        self.reached[point] += 1
        due = None
        for rule in self.rules.values():
            if rule["point"] == point:
                rule["matched"] += 1
                if rule["matched"] == rule["n"]:
                    rule["fired"] += 1
                    due = rule
        self.fired = self.fired or due is not None
        if due is not None and self.leaves == "log":
            self.say("INFO: possible recursive locking detected")
        if due is not None and self.leaves == "warning":
            self.say("WARNING: something")
        if due is not None and self.leaves == "users":
            self.users.append("LEFT")
        return due


class FakeControl:
    """The control socket's commands that a sweep uses."""

    def __init__(self, cp: Cp) -> None:
        self.cp = cp

    def execute(self, command: str, /, **args: Any) -> Any:
        """Dispatch to the method of that name."""
        method: Callable[..., Any] = getattr(self, command.replace("-", "_"))
        return method(**args)

    def fault_arm(self, **args: Any) -> Any:
        number, self.cp.next_rule = self.cp.next_rule, self.cp.next_rule + 1
        assert args["kind"] in POINTS[args["point"]]
        self.cp.rules[number] = args | {"rule": number, "matched": 0, "fired": 0}
        return {"rule": number}

    def fault_disarm(self, rule: int) -> Any:
        del self.cp.rules[rule]
        return {"disarmed": 1}

    def query_faults(self) -> Any:
        return {"rules": [dict(rule) for rule in self.cp.rules.values()]}

    def query_fault_points(self) -> Any:
        return {
            "points": [
                {"point": p, "kinds": kinds, "reached": self.cp.reached[p]}
                for p, kinds in POINTS.items()
            ]
        }

    def query_cp(self) -> Any:
        return {"userid": "LINUX001"}

    def query_digests(self) -> Any:
        parts = {"faults": self.cp.rules, "monitor-users": self.cp.users}
        return {name: repr(part) for name, part in parts.items()}

    def query_segments(self) -> Any:
        return {"segments": []}

    def query_users(self) -> Any:
        return {"users": []}

    def query_monitor(self) -> Any:
        return {"sample": {}, "event": {}, "users": list(self.cp.users)}

    def monitor_capture(self, file: Path | None = None) -> Any:
        self.cp.capture = file
        if file is not None:
            file.write_bytes(b"")
            Path(f"{file}.idx").write_text("")
        return {}

    def monitor_sever(self, code: int) -> Any:
        self.cp.stuck = self.cp.leaves == "stuck"
        return {"severed": 1}

    def monitor_deliver(self, kind: str, elements: list[dict[str, Any]]) -> Any:
        """One element; its control element is what the driver would show."""
        cp = self.cp
        if not cp.open:
            raise ControlError("Failed", "no user is connected to *MONITOR")
        data, domains = elements[0]["data"], elements[0]["domains"]
        data = decode(data) if isinstance(data, str) else data
        mce = bytes([elements[0]["type"]]) + domains.to_bytes(2, "big") + b"\0"
        mce += MCE_START.to_bytes(4, "big") + (MCE_START + len(data) - 1).to_bytes(4, "big")
        cp.number += 1
        assert cp.capture is not None
        offset = cp.capture.stat().st_size
        with open(cp.capture, "ab") as file:
            file.write(mce + data)
        with open(f"{cp.capture}.idx", "a", encoding="ascii") as index:
            index.write(
                f'{{"set":{cp.number},"kind":"{kind}","offset":{offset},'
                f'"length":{len(mce + data)},"mces":1}}\n'
            )
        due = cp.call("monitor.message")
        if due is None:
            cp.sets.append(mce + data)
        elif due["kind"] == "corrupt":
            cp.sets.append(b"")
        return {"set": cp.number, "fate": "delivered"}


class _Pending:
    """A reply that is there, or never comes."""

    def __init__(self, cp: Cp, results: list[CallResult], timed_out: bool, stuck: bool) -> None:
        self._cp = cp
        self._reply = SimpleNamespace(timed_out=timed_out)
        self._results = results
        self._stuck = stuck

    def result(self, timeout: float) -> Any:
        if self._stuck and self._cp.stuck:
            raise Timeout("no answer")
        reply = _Reply(self._results)
        reply.timed_out = self._reply.timed_out
        return reply


class _Reply(list[CallResult]):
    timed_out = False


class _Reads(CallResult):
    """A read_until whose reads are given."""

    def __new__(cls, reads: list[Read]) -> _Reads:
        made = super().__new__(cls, "reads", 0, 0)
        made.__dict__["found"] = reads
        return made

    @property
    def reads(self) -> list[Read]:
        return list(self.__dict__["found"])


class FakeBatch:
    """Operations are executed at once."""

    def __init__(self, guest: FakeGuest) -> None:
        self._guest = guest
        self._results: list[CallResult] = []
        self._timed_out = self._stuck = False

    def open(self, path: str, flags: int) -> None:
        cp = self._guest.cp
        assert path == "/dev/monreader"
        if "monreader" not in cp.modules:
            self._results.append(CallResult("openat", -1, errno.ENOENT))
            return
        due = cp.call("iucv.connect")
        if due is not None and due["kind"] == "drop":
            self._stuck = cp.stuck = True
        if due is not None and due["kind"] == "pgm":
            self._guest.panic("illegal operation: 0001")
        failed = due is not None and due["kind"] == "rc"
        cp.open = not failed and not self._stuck
        number = errno.EIO if failed or self._stuck else 0
        self._results.append(CallResult("openat", -1 if number else 3, number))

    def close(self, fd: int) -> None:
        cp = self._guest.cp
        number = 0 if cp.open and fd == 3 else errno.EBADF
        cp.open = False
        cp.sets.clear()
        self._results.append(CallResult("close", -1 if number else 0, number))

    def read_until(self, fd: int, size: int) -> None:
        cp = self._guest.cp
        if fd != 3:
            self._results.append(_Reads([Read(-1, errno.EBADF, b"")]))
            return
        if not cp.sets:
            self._timed_out = True
            self._results.append(_Reads([]))
            return
        data = cp.sets.pop(0)
        reads = [Read(12, 0, data[:12]), Read(len(data) - 12, 0, data[12:])] if data else []
        failed = cp.call("iucv.reply")
        broken = cp.leaves == "unusable" and failed is None and cp.fired
        number = errno.EIO if broken or (failed is not None and failed["kind"] == "rc") else 0
        if number:
            cp.say("monreader: Reading monitor data failed")
        self._results.append(_Reads([*reads, Read(-1 if number else 0, number, b"")]))

    def poll(self, fds: list[tuple[int, int]], timeout_ms: int) -> None:
        ready = fds[0][1] & 1 if self._guest.cp.sets else 0
        self._results.append(CallResult("poll", 1, 0, [ready.to_bytes(2, "big")]))

    def start(self, timeout: float) -> _Pending:
        return _Pending(self._guest.cp, self._results, self._timed_out, self._stuck)


class FakeGuest:
    """The part of a guest that scenarios and sweeps use; also its agent and worker."""

    made: list[FakeGuest] = []
    leaves = ""
    marks = 0
    can_go_back = can_be_marked = False

    def __init__(self, config: Any, logs: Path, artifacts: Any) -> None:
        self.config = config
        self.cp = Cp(leaves=FakeGuest.leaves)
        self.control = FakeControl(self.cp)
        self.agent = self
        self.logs = logs
        self.timeout = 0.0
        self.text = ""
        self.console = SimpleNamespace(crash=None, text=lambda: self.text, wait_crash=self._notice)
        self.stopped = self.resting = False
        self.files: dict[str, bytes] = {}
        self.name = f"g{len(FakeGuest.made)}"
        FakeGuest.made.append(self)

    def boot(self) -> None:
        self.logs.mkdir(parents=True)

    def kill(self) -> None:
        pass  # nobody waits for this guest

    def stop(self) -> None:
        self.stopped = True

    def end(self) -> None:
        self.stop()
        self.check()

    def end_judges(self) -> list[str]:
        return []

    def rest(self) -> None:
        assert not self.resting
        self.resting = True

    def wake(self) -> None:
        self.resting = False

    def write_file(self, path: str, data: bytes) -> None:
        self.files[path] = data

    def outlast(self, pending: _Pending, seconds: float) -> Any:
        return pending.result(seconds)

    def _notice(self, seconds: float) -> None:
        """The console notices warnings, but no more of what the log has."""
        warnings = [line.text for line in self.cp.log if "WARNING:" in line.text]
        self.console.crash = warnings[0] if warnings else None

    def check(self) -> None:
        if self.console.crash is not None:
            raise GuestPanic(f"the guest's kernel reported {self.console.crash}")

    def settle(self) -> None:
        if self.cp.leaves == "late" and self.cp.fired:
            self.panic("late")
        self.check()

    settle_again = settle

    def panic(self, cause: str) -> None:
        """The console notices an oops of the kernel."""
        self.text = f" [<000000001234abcd>] iucv_path_connect+0x12/0x34\n{cause}"
        self.console.crash = cause
        raise GuestPanic(f"the guest's kernel reported an oops ({cause})")

    def worker(self, name: str) -> FakeGuest:
        return self

    def open(self, path: str, flags: int) -> CallResult:
        """A second open, while the first is there."""
        assert self.cp.open
        return CallResult("openat", -1, errno.EBUSY)

    def batch(self) -> FakeBatch:
        return FakeBatch(self)

    def modprobe(self, name: str, params: str) -> ModuleResult:
        self.cp.modules.add(name)
        return ModuleResult("loading", 0, [])

    def rmmod(self, name: str) -> ModuleResult:
        self.cp.modules.discard(name)
        return ModuleResult("unloading", 0, [])

    def read_file(self, path: str) -> bytes:
        return "".join(f"{name} 1\n" for name in sorted(self.cp.modules)).encode()

    def modules(self, _found: None) -> list[str]:
        return sorted(self.cp.modules)

    def hello(self) -> Any:
        return SimpleNamespace(busy=int(self.cp.stuck))

    def log_position(self) -> int:
        return len(self.cp.log)

    def dmesg(self, since: int) -> list[LogLine]:
        return self.cp.log[since:]
