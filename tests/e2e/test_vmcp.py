# SPDX-License-Identifier: MIT
"""CP commands from inside the guest, through the kernel's own /dev/vmcp."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Commands


@pytest.mark.requirement("V4")
@pytest.mark.representative
def test_userid(vmcp: Commands) -> None:
    answer = vmcp("query userid")
    assert answer.rc == 0
    assert re.fullmatch(r"LINUX001 AT \S+\n", answer.text)
    assert answer.size == len(answer.text)


@pytest.mark.requirement("V5")
def test_unknown_command_has_cps_form_and_code(vmcp: Commands) -> None:
    answer = vmcp("FROBNICATE NOW")
    assert answer.rc == 1
    assert answer.text == "HCPCMD001E Unknown CP command: FROBNICATE\n"


@pytest.mark.requirement("V4")
def test_response_longer_than_the_buffer_is_cut_and_its_size_told(
    vmcp: Commands,
) -> None:
    commands = "\n".join(["QUERY MONITOR"] * 8)
    whole = vmcp(commands, 65536)
    cut = vmcp(commands, 4096)
    assert whole.rc == 0 and whole.size == len(whole.text) > 4096
    assert cut.rc == 0 and cut.size == whole.size
    # CP stores whole lines only; the driver hands out the rest of its buffer as zeros.
    lines = cut.text.rstrip("\0")
    assert len(cut.text) == 4096
    assert whole.text.startswith(lines) and lines.endswith("\n")
    assert len(whole.text[len(lines) :].partition("\n")[0]) + 1 > 4096 - len(lines)
