# SPDX-License-Identifier: MIT
"""What a test is not about stays as it is: paths, segments and buffers, by CP's own tables.

    with Bystanders(guest.control, named=("SERVER", "MONDCSS")):
        ...       # steps about the partner SERVER and the segment MONDCSS

A kernel that uses the wrong path is seen by nobody: on s390 the address 0 is storage, so a NULL
pointer to a path leads to some path id that is there, for example that of \\*MSG.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from zvmlab.agent.agent import USER as AGENT
from zvmlab.base.errors import ZvmlabError
from zvmlab.cp.control import Control

# What of a path belongs to what is said over it, not to what it is.
_TALK = ("sent", "received")
_PATHS = 4096
# Bytes of a product ID; what follows tells the product's buffers apart.
_PRODUCT_NUMBER = 7
_FUNCTIONS = (
    *("send", "receive", "reply", "reject", "purge", "accept", "quiesce", "resume", "sever"),
)
# Of a rule that only counts.
_NEVER = (1 << 32) - 1

State = dict[str, dict[str, Any]]


class Changed(ZvmlabError):
    """A path, segment or buffer that the test has not named is another one now."""


def _paths(control: Control, user: str, part: dict[str, Any]) -> State:
    """All paths; *part*: the answer that begins with the first one."""
    found: State = {}
    while True:
        for path in part["paths"]:
            name = f"path {path['path']} of {user} with {path['partner']}"
            # The harness asks the agent by it.
            found[name] = {
                k: v for k, v in path.items() if path["partner"] != AGENT or k not in _TALK
            }
        if len(part["paths"]) < _PATHS:
            return found
        part = control.execute("query-paths", user=user, first=part["next"], limit=_PATHS)


def tables(control: Control, userid: str = "") -> State:
    """The guest's paths, its segments, and the buffers that CP stores into or reads from.

    *userid*: the guest's, if it is known.
    """
    userid = userid or control.execute("query-cp")["userid"]
    paths, segments, buffers, appldata, pages = control.execute_all(
        ("query-paths", {"user": userid, "first": 0, "limit": _PATHS}),
        ("query-segments", {}),
        ("query-buffers", {}),
        ("query-appldata", {}),
        ("query-pages", {}),
    )
    found = _paths(control, userid, paths)
    for segment in segments["segments"]:
        # *MONITOR uses one as long as somebody listens.
        found[f"segment {segment['name']}"] = {k: v for k, v in segment.items() if k != "users"}
    for buffer in buffers["buffers"]:
        found[f"interruption buffer of CPU {buffer['cpu']}"] = buffer
    for buffer in appldata["buffers"]:
        which = base64.b64decode(buffer["product-id"])[_PRODUCT_NUMBER:].hex()
        name = f"application data {buffer['product']} {which} ({buffer['kind']})"
        found[name] = {k: v for k, v in buffer.items() if k != "records"}
    for handshake in pages["handshakes"]:
        found[f"page-fault token of CPU {handshake['cpu']}"] = handshake
    return found


def _text(state: dict[str, Any] | None) -> str:
    return "gone" if state is None else json.dumps(state, sort_keys=True)


class Bystanders:
    """Compares what was there at the block's start with what is there at its end, if all went well.

    *named*: partners, segments and products that the steps are about, which may change.  What is
    new counts as a step's own.
    """

    def __init__(self, control: Control, named: Iterable[str] = ()) -> None:
        self._control = control
        self._named = tuple(named)
        self._userid = ""
        self._before: State = {}
        self._now: State = {}
        self._rules: dict[int, str] = {}

    def _is_named(self, what: str) -> bool:
        words = what.split()
        return any(name in words for name in self._named)

    def count_calls(self) -> None:
        """From now on a call of the guest's about one of their paths is a change, too.

        By fault rules that never fire, and that go when all rules are disarmed.
        """
        partners = {
            str(path["partner"])
            for name, path in tables(self._control).items()
            if name.startswith("path ") and path["partner"] != AGENT and not self._is_named(name)
        }
        for partner in sorted(partners):
            for function in _FUNCTIONS:
                rule = self._control.execute(
                    "fault-arm",
                    point=f"iucv.{function}",
                    kind="cc",
                    value=0,
                    name=partner,
                    when="nth",
                    n=_NEVER,
                )["rule"]
                self._rules[rule] = f"path of {partner}"

    def _calls(self) -> list[str]:
        """What the guest has called although no step is about it."""
        if not self._rules:
            return []
        rules = self._control.execute("query-faults")["rules"]
        return [
            f"{self._rules[rule['rule']]} was left alone and is called: {rule['point']},"
            f" {rule['matched']} times"
            for rule in rules
            if rule["rule"] in self._rules and rule["matched"]
        ]

    @property
    def new(self) -> State:
        """What was there at the last check, and not at the start."""
        return {name: state for name, state in self._now.items() if name not in self._before}

    def begin(self) -> None:
        """What is there now is to stay."""
        self._userid = self._control.execute("query-cp")["userid"]
        self._before = tables(self._control, self._userid)

    def check(self) -> None:
        """Raise Changed with both states of what is not as it was."""
        now = self._now = tables(self._control, self._userid)
        changed = [
            f"{what} was {_text(state)} and is {_text(now.get(what))}"
            for what, state in self._before.items()
            if state != now.get(what) and not self._is_named(what)
        ]
        changed += self._calls()
        if changed:
            raise Changed("not named by any step, but changed: " + "; ".join(changed))

    def __enter__(self) -> Bystanders:
        self.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.check()
