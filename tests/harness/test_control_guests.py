# SPDX-License-Identifier: MIT
"""Requests about pages that are out, and about guests that do not run: answers and refusals."""

from __future__ import annotations

from typing import Any

import pytest
from controlled import _control as _control
from controlled import _server as _server

from zvmlab.cp.control import Control, ControlError

PAGE = 4096
# The server's guest has 8 MiB; its segment begins at 16 MiB.
NOBODYS = 9 << 20
WEB: dict[str, Any] = {
    "name": "WEB",
    "group": "STAFF",
    "cpu-us": 7,
    "online-us": 9,
    "storage-min": 1,
    "storage-max": 2,
    "storage-share": 3,
    "storage-used": 4,
    "cpus": 5,
    "operating": 4,
    "share-max": 300,
    "share": 200,
    "capped": 1,
    "dedicated": True,
}
SAMPLES = {"cpu-use": 10, "cpu-delay": 20, "page-wait": 30, "idle": 40, "other": 50}


def out(control: Control) -> list[tuple[int, bool, bool]]:
    """Pages that are out: address, whether they are out now, and whether they hold."""
    found = control.execute("query-pages")["pages"]
    return [(page["address"], page["out"], page["hold"]) for page in found]


def test_pages_go_out_and_come_in(control: Control) -> None:
    control.execute("page-out", address=3 * PAGE)
    control.execute("page-out", address=PAGE, pages=2, hold=True)
    assert out(control) == [
        (PAGE, True, True),
        (2 * PAGE, True, True),
        (3 * PAGE, True, False),
    ]
    # Nobody runs here, so nobody waits.
    assert control.execute("page-in", address=0, pages=3) == {"completed": 0}
    assert out(control) == [(3 * PAGE, True, False)]
    control.execute("page-thrash", faults=5, depth=1)
    assert control.execute("query-pages")["turns"] == 5
    control.execute("page-thrash", faults=0, depth=0)
    found = control.execute("query-pages")
    assert found == {
        "handshakes": [],
        "pages": [],
        "faults": [],
        "initial": 0,
        "completion": 0,
        "resolved": 0,
        "turns": 0,
    }


@pytest.mark.parametrize(
    "command, arguments, text",
    [
        ("page-out", {"address": 1}, "the address must be that of a page"),
        ("page-out", {"address": NOBODYS}, "the guest has no page at absolute X'900000'"),
        ("page-in", {"address": 0, "cpu": 63}, "there is no CPU 63; the guest has 1"),
        ("page-release", {"fault": 7}, "no initial interruption of a fault 7 is held"),
        ("guest-forget", {"name": "NOBODY"}, "no guest NOBODY is described"),
        ("guest-describe", {"name": "LINUX001"}, "LINUX001 is the guest itself"),
        ("guest-describe", {"name": "A", "operating": 1}, "more operating ones than CPUs"),
    ],
)
def test_what_cannot_be_done_is_said(
    control: Control, command: str, arguments: dict[str, Any], text: str
) -> None:
    with pytest.raises(ControlError, match=text):
        control.execute(command, **arguments)
    assert out(control) == []
    assert [guest["name"] for guest in control.execute("query-guests")["guests"]] == [
        "LINUX001",
        "OPERATOR",
    ]


def test_a_guest_is_what_was_described(control: Control) -> None:
    control.execute("guest-describe", **WEB, **SAMPLES)
    guest = control.execute("query-guests")["guests"][-1]
    # The clock goes on with each question.
    assert guest.pop("online-us") >= WEB["online-us"]
    assert guest.pop("samples") == [*SAMPLES.values(), sum(SAMPLES.values())]
    assert guest == {key: value for key, value in WEB.items() if key != "online-us"}
    assert "WEB      - DSC" in control.cp("QUERY NAMES").response
    control.execute("guest-forget", name="web")
    assert "WEB" not in control.cp("QUERY NAMES").response
