# SPDX-License-Identifier: MIT
"""A trace that several tests share says where each of them begins."""

from __future__ import annotations

import pytest

from zvmlab.cp.trace_tests import first_of
from zvmlab.cp.tracefmt import read
from zvmlab.guest.guest import Guest


@pytest.mark.parametrize("number", [1, 2])
def test_first_record_is_the_tests_own(
    warm_guest: Guest, request: pytest.FixtureRequest, number: int
) -> None:
    """The message that this test sends is there once, and none of the test before it."""
    trace = warm_guest.channels.trace
    assert trace is not None
    warm_guest.cp(f"MSG * test {number}")
    begin = first_of(trace, request.node.name)
    commands = [
        record.fields["text"]
        for record in read(trace)
        if record.seq >= begin and record.call == "command"
    ]
    assert [text for text in commands if text.startswith("MSG")] == [f"MSG * test {number}"]
