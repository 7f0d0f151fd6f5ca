# SPDX-License-Identifier: MIT
"""Entry points of the core do not allocate memory (docs/architecture.md): who does is in this list."""

from __future__ import annotations

import re
from pathlib import Path

CORE = Path(__file__).parents[2] / "sim" / "cp"
_ALLOCATES = re.compile(r"\b(?:[mc]alloc|realloc(?:array)?|aligned_alloc|strn?dup|v?asprintf)\(")
_FUNCTION = re.compile(r"^(?:\w[\w\s*]*?[\s*])?(\w+)\([^;]*$")

MADE_ONCE = {
    # A system, its machines, its parts, and what they have from the beginning.
    *("make_system", "make_machine", "cp_config_copy", "cpcmd_init", "cpcmd_init_system"),
    *(
        "fault_init",
        "guests_init",
        "hmc_init",
        "iucv_init_system",
        "machine_new",
        "appldata_init",
        "monitor_init",
        "monitor_init_machine",
        "msg_init",
    ),
    *("paging_init", "recording_init", "dcss_init_system", "trace_init", "trace_buffer_init"),
    *("console_init", "disk_part_init", "own_disk", "spool_init_system", "spool_init"),
    "allocate",  # of the spool
    "parse_operands",  # of a configured segment: its file
    "iucv_user_new",
}
ASKED_FOR = {
    "hmc_drive",  # a request of the control socket
    *("grow", "drive_state", "area_state", "dcss_state", "remember"),  # a state is saved or loaded
}
GROWS = {
    # The text of a record of the trace, up to its limit: the longest so far stays.
    "trace_buffer_room",
}


def test_nobody_else_in_the_core_allocates() -> None:
    found = set()
    for path in CORE.rglob("*.c"):
        function = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line[0].isspace():
                made = _FUNCTION.match(line)
                function = made[1] if made else function
            elif _ALLOCATES.search(line):
                found.add(function)
    assert found == MADE_ONCE | ASKED_FOR | GROWS
