# SPDX-License-Identifier: MIT
"""Guests of a system that use all that CP and their neighbours have for them, at the same time."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from netiucv_lab import Interface, make
from test_dcssblk import Block
from test_monreader_users import element
from test_vmur import DEVICES, DIRECTORY as SPOOL, NODES, await_node, online
from vmlogrdr_lab import ACCOUNT, DIRECTORY as RECORDING, LOGREC, SYMPTOM
from waiting import wait_until

from zvmlab.agent.worker import Process
from zvmlab.guest.system import System
from zvmlab.monitor.monitor import deliver

USERS = ("ALICE", "BOB", "CAROL")
PROGRAM, COUNTS = "/system_load", "/counts"
MODULES = ("netiucv", "smsgiucv_app", "monwriter", "dcssblk", "vmlogrdr", "vmur")
_DIRECTORY = f"{RECORDING};{SPOOL};IUCV *MONITOR MSGLIMIT 255;NAMESAVE MONDCSS;OPTION APPLMON"
USER: dict[str, object] = {
    "cp": {"directory": _DIRECTORY, "class": "ABCEG"},
    "modules": MODULES,
    "busybox": True,
}
SEGMENTS = ("MONDCSS 9000-97FF SC RSTD", "SHARED 9800-98FF SW")
# In the order of the program's table.
SERVICES = (
    *("message", "show", "terminal", "datagram", "echo", "monitor", "application"),
    *("segment", "recording", "punch", "reader"),
)
# Of *LOGREC and *SYMPTOM nothing comes, and nobody waits for what a terminal shows or an echo.
GO_ON = [name for name in SERVICES if name not in ("show", "echo", "recording")]
_LOGS = {"ALICE": LOGREC, "BOB": ACCOUNT, "CAROL": SYMPTOM}


def _neighbours(userid: str) -> tuple[str, str]:
    at = USERS.index(userid)
    return USERS[at - 1], USERS[(at + 1) % len(USERS)]


def _address(end: str, of: str, other: str) -> str:
    """Of an interface of *of*'s to *other*; *end*: whose end it is."""
    first, second = sorted((of, other), key=USERS.index)
    return f"10.1{USERS.index(first)}{USERS.index(second)}.0.{1 + (end == second)}"


class Load:
    """What the program does in each guest."""

    def __init__(self, system: System, program: Path) -> None:
        self.system = system
        self.program = program.read_bytes()
        self.running: dict[str, Process] = {}
        self.sets = 0

    def start(self, userid: str) -> None:
        """In a guest that is up."""
        guest = self.system.guests[userid]
        before, after = _neighbours(userid)
        for module in (*MODULES, "monreader"):
            guest.agent.modprobe(module).check()
        for number, other in enumerate((before, after)):
            make(guest.agent, other).check()
            Interface(guest, number).up(
                _address(userid, userid, other), _address(other, userid, other)
            )
        Block(guest, "SHARED").load(exclusive=False)
        # Its neighbour punches already: files arrive for a reader that comes online.
        for device, node in zip(DEVICES, NODES, strict=True):
            online(guest, device)
            await_node(guest, node)
        assert guest.cp(f"SPOOL 00D TO {after}").rc == 0
        guest.agent.write_file(PROGRAM, self.program, 0o755)
        argv = [PROGRAM, COUNTS, after, _address(after, userid, after), _LOGS[userid].path]
        self.running[userid] = guest.agent.spawn(argv)

    def counts(self, userid: str) -> dict[str, int]:
        """How often each service has succeeded in a guest."""
        try:
            data = self.system.guests[userid].agent.read_file(COUNTS)
        except FileNotFoundError:
            data = b""
        if len(data) < 4 * len(SERVICES):
            return dict.fromkeys(SERVICES, 0)
        return dict(zip(SERVICES, struct.unpack(f">{len(SERVICES)}I", data), strict=True))

    def deliver(self, userid: str, sets: int = 1) -> None:
        """Monitor data, through a guest that is there."""
        for _ in range(sets):
            self.sets += 1
            deliver(self.system.guests[userid].control, "sample", element(self.sets % 250))

    def await_more(self, userids: Sequence[str] = USERS) -> None:
        """Every service of these guests goes on, for which all others are there."""
        before = {userid: self.counts(userid) for userid in userids}

        def behind() -> list[str]:
            # Who has opened the device meanwhile gets the next one.
            self.deliver(userids[0])
            now = {userid: self.counts(userid) for userid in userids}
            return [
                f"{userid}: {name}"
                for userid in userids
                for name in GO_ON
                if now[userid][name] <= before[userid][name]
            ]

        wait_until(lambda: not behind(), "all services of all guests", behind)
