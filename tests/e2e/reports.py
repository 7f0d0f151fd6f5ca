# SPDX-License-Identifier: MIT
"""Bare-metal programs report their own results by messages to the operator."""

from __future__ import annotations

from collections.abc import Iterable

from zvmlab.guest.guest import Guest

SECONDS = 240
"""More than such a program waits for another CPU before it says that it has not come."""


def expect_nothing_wrong(guest: Guest, reports: Iterable[str]) -> None:
    """The program says these, each with nothing wrong, and ends."""
    guest.start()
    guest.emulator.expect_exit()
    guest.resume()
    for report in reports:
        event = guest.control.wait_event("console", SECONDS, user="OPERATOR")
        assert event.data["text"].split("LINUX001: ")[-1] == f"{report} WRONG 0000"
    assert guest.emulator.wait(SECONDS) == 0
