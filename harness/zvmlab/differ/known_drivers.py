# SPDX-License-Identifier: MIT
"""Every difference between the kernel's own driver and ours, with the reason.

A difference that no entry covers fails a differential run, and so does an entry
that covers nothing in a run of the whole catalogue.  The numbers of defects are
those of docs/upstream-driver.md.
"""

from __future__ import annotations

from zvmlab.differ.compare import WHOLE_SETS
from zvmlab.differ.differ import Pair
from zvmlab.differ.explain import because
from zvmlab.differ.trace_lines import CALLS, INTERRUPTIONS
from zvmlab.guest.config import OUR_DRIVER, QEMU, UPSTREAM_DRIVER, GuestConfig
from zvmlab.scenarios import BUILT_IN, EDGES
from zvmlab.scenarios.context import Scenario
from zvmlab.scenarios.outcome import digest
from zvmlab.sweep.sweep import PARAMETERS

DRIVERS = (UPSTREAM_DRIVER, OUR_DRIVER)
CATALOGUE: dict[str, Scenario] = BUILT_IN | EDGES
"""All scenarios that a run with two drivers has by name."""
_HASH = "[0-9a-f]{16}"
_EMPTY = digest(b"")
_SEVERED = "sever-and-reopen sever-with-sets-queued sever-while-empty"

EXPLAINED = (
    *because(
        "whole-stream read: our driver's read returns all that fits, upstream's stops at the end of"
        " an element or of its records",
        "*",
        (WHOLE_SETS, r"\[.*\]", r"\[.*\]"),
    ),
    *because(
        "defect 1: upstream's close severs a path that CP has already severed",
        f"{_SEVERED} codes",
        ("log", r"monreader: Disconnecting .* failed with rc=1", ""),
        ("calls", r"sever path 1 .* cc 1 code 0x01", ""),
    ),
    *because(
        "defect 2: upstream reads a control area before it checks its address",
        "area-outside-storage",
        ("end", r".*Unable to handle kernel pointer dereference.*; in mon_read .*", ""),
    ),
    *because(
        "defect 5: upstream's open waits forever when CP does not answer",
        "silent-cp",
        ("end", "open sleeps uninterruptibly in the guest", ""),
        ("open stuck", "true", ""),
        ("open errno", "", "EIO"),
        ("open blocked", "", "false"),
    ),
    *because(
        "defect 6: upstream's poll shows the sever and hides the sets that can still be read",
        "sever-with-sets-queued",
        ("poll ready", "ERR", r"IN\|RDNORM"),
    ),
    *because(
        "defect 6: upstream's poll does not say that no more data will come",
        _SEVERED,
        ("poll ready", "ERR", r"ERR\|HUP"),
    ),
    *because(
        "defect 6: upstream's non-blocking read never reports a sever",
        "sever-with-sets-queued sever-while-empty",
        ("read errno", "EAGAIN", "EIO"),
    ),
    *because(
        "our driver does not reply on a path that CP has severed (docs/driver.md, decisions);"
        " its read fails with EIO, as upstream's",
        "sever-with-sets-queued",
        ("log", r"monreader: Reading monitor data failed with rc=1", ""),
        ("calls", r"reply path 1 message \d .* cc 1 code 0x01", ""),
    ),
    *because(
        "defect 8: upstream delivers a malformed set as an empty one",
        "malformed-sets",
        ("read set", "nothing", "no end"),
        ("read errno", "null", "EIO"),
        ("read sizes", r"\[0\]", r"\[\]"),
    ),
    *because(
        "defect 8: upstream ends a set at its malformed element, as if the set were complete",
        "malformed-second-element",
        ("read set", "524 bytes that are not a set of CP's", "no end"),
        ("read errno", "null", "EIO"),
        ("read sizes", r"\[12,512,0\]", r"\[524\]"),
    ),
    *because(
        "defect 8: our driver's message says what is malformed",
        "malformed-sets malformed-second-element",
        ("log", "", r"monreader: Malformed monitor data: .*"),
    ),
    *because(
        "defect 8: upstream reads an element again at every read",
        "element-that-changes",
        ("read set", "156 bytes .*", "256 bytes .*"),
        ("read sizes", r"\[156,0\]", r"\[256,0\]"),
        ("read length", "156", "256"),
        ("read hash", _HASH, _HASH),
    ),
    *because(
        "defect 9: upstream delivers records that end just below their element again and again",
        "records-below-their-element",
        ("read a part returned", r"\[12\]|\[512\]", r"\[524\]|\[0\]|\[-1\]"),
        ("read a part errors", r'\["0"\]', r'\["EAGAIN"\]'),
        ("read a part data", _HASH, _HASH),
        ("calls", "", "reply path 1 message 1 .* cc 0"),
    ),
    *because(
        "defect 10: upstream ignores the limit that CP grants",
        "lowered-limit",
        ("read errno", "EAGAIN", "EOVERFLOW"),
        ("log", "", "monreader: The read queue for monitor data is full"),
    ),
    *because(
        "defect 11: upstream treats an element with one byte of records as malformed",
        "one-byte-of-records",
        ("read set", "nothing", "set 1"),
        ("read sizes", r"\[0\]", r"\[13,0\]"),
        ("read elements", r"\[\]", r'\[\{.*"length":1,.*\}\]'),
    ),
    *because(
        "defect 11: upstream's read of 0 bytes consumes the end of the set, so what follows comes"
        " one read earlier",
        "reads-of-no-bytes",
        ("read set", "set 2", "nothing"),
        ("read set", "no end", "set 2"),
        ("read errno", "EAGAIN", "null"),
        ("read sizes", r"\[12,80,0\]", r"\[0\]"),
        ("read sizes", r"\[\]", r"\[92,0\]"),
        ("read elements", r"\[\{.*\}\]", r"\[\]"),
        ("read elements", r"\[\]", r"\[\{.*\}\]"),
    ),
    *because(
        "defect 12: upstream has no files that show the codes",
        "codes",
        ("*_code returned", r"\[-1\]", r"\[[23]\]"),
        ("*_code errors", r'\["ENOENT"\]', r'\["0"\]'),
        ("*_code data", _EMPTY, _HASH),
    ),
    *because(
        "defect 13: upstream's readv goes on after the data and consumes the end of the set, so what"
        " follows comes one read earlier",
        "readv",
        ("readv returned", r"\[172\]", r"\[0\]"),
        ("readv returned", r"\[0\]", r"\[172\]"),
        ("readv data", _HASH, _EMPTY),
        ("readv data", _EMPTY, _HASH),
        ("read set", "no end", "nothing"),
        ("read errno", "EAGAIN", "null"),
        ("read sizes", r"\[\]", r"\[0\]"),
    ),
)


def driver_pair(
    kernel: str = "bookworm", drivers: tuple[str, str] = DRIVERS, backend: str = QEMU
) -> Pair:
    """Two drivers in one emulator; the table is about these two, in this order."""
    first, second = (
        GuestConfig(kernel=kernel, driver=driver, backend=backend) for driver in drivers
    )
    return Pair(
        kind="drivers",
        common=("backend", backend),
        names=drivers,
        configs=(first, second),
        params=(PARAMETERS.get(drivers[0], ""), PARAMETERS.get(drivers[1], "")),
        catalogue=CATALOGUE,
        tracks=(CALLS, INTERRUPTIONS),
        explained=EXPLAINED if drivers == DRIVERS else (),
    )
