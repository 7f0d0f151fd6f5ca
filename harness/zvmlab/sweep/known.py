# SPDX-License-Identifier: MIT
"""Results of a sweep that are known, each with its reason; everything else must not be.

A fault makes CP misbehave, and some misbehaviour is more than the kernel below
the driver, or upstream's driver, survives.  What is listed here is stated in
the report and does not fail the sweep.  Entries of the kernel hold for every
driver, upstream's for upstream's own only; its numbers are those of its known defects
that `mark.upstream_defect` uses as well.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass

from zvmlab.guest.config import UPSTREAM_DRIVER
from zvmlab.sweep.cases import Case, plain
from zvmlab.sweep.run import HANGS, LOG, PANIC, PASSED_OFF, UNUSABLE, Symptom


@dataclass(frozen=True)
class Known:
    """Symptoms of one kind whose text matches, at these points with these kinds of faults."""

    points: tuple[str, ...]
    kinds: tuple[str, ...]
    symptom: str
    text: str
    """A regular expression for all of it."""
    reason: str
    upstream: bool = False
    """Only upstream's driver may show it."""

    def covers(self, case: Case, symptom: Symptom, driver: str) -> bool:
        """Is this symptom of this case what the entry is about?"""
        return (
            symptom.kind == self.symptom
            and case.kind in self.kinds
            and any(fnmatch.fnmatchcase(plain(case.point), pattern) for pattern in self.points)
            and (not self.upstream or driver == UPSTREAM_DRIVER)
            and re.fullmatch(self.text, symptom.text) is not None
        )


KNOWN = (
    Known(
        ("iucv.*",),
        ("pgm",),
        PANIC,
        r".*(illegal operation: 0001|specification exception: 0006).*; in .*\b_*iucv_.*",
        "kernel: B2F0 has no exception-table entry (net/iucv/iucv.c), so a program"
        " interruption there is an oops",
    ),
    Known(
        ("diag64.*",),
        ("pgm",),
        PANIC,
        r".*(illegal operation: 0001|specification exception: 0006).*; in .*\b\w*segment_.*",
        "kernel: DIAGNOSE X'64' has no exception-table entry (arch/s390/mm/extmem.c), so a"
        " program interruption there is an oops",
    ),
    Known(
        ("diagdc.*",),
        ("pgm",),
        PANIC,
        r".*(illegal operation: 0001|specification exception: 0006).*; in .*\b(monwrite|appldata)_\w+.*",
        "kernel: DIAGNOSE X'DC' has no exception-table entry (asm/appldata.h), so a program"
        " interruption there is an oops",
    ),
    Known(
        ("diag08.*",),
        ("pgm",),
        PANIC,
        r".*(illegal operation: 0001|specification exception: 0006).*; in .*\b_*cpcmd\b.*",
        "kernel: DIAGNOSE X'08' has no exception-table entry (arch/s390/kernel/cpcmd.c), so a"
        " program interruption there is an oops",
    ),
    Known(
        ("diag64.loadshr", "diag64.loadnsr"),
        ("drop", "cc"),
        PANIC,
        r".*(addressing exception: 0005|Unable to handle kernel pointer dereference"
        r"|WARNING: .*\bvmem_remove_mapping\b).*",
        "kernel: it relies on what CP says of the segment's place; an access to a segment that is"
        " not there is an oops, and unmapping it a WARNING (arch/s390/mm)",
    ),
    Known(
        ("interrupt",),
        ("corrupt",),
        PANIC,
        r".*kernel BUG at net/iucv/iucv\.c.*",
        "kernel: an interruption without a known IPTYPE is a BUG (net/iucv/iucv.c)",
    ),
    Known(
        ("interrupt",),
        ("corrupt",),
        PANIC,
        r".*WARNING: .*net/iucv/iucv\.c.*",
        "kernel: an interruption for a path id above the highest is a WARNING (net/iucv/iucv.c)",
    ),
    Known(
        ("interrupt",),
        ("duplicate",),
        PANIC,
        r".*kernel BUG at net/iucv/iucv\.c.*",
        "kernel: a second interruption for the same pending path is a BUG (net/iucv/iucv.c)",
    ),
    Known(
        ("interrupt",),
        ("corrupt",),
        PANIC,
        r".*WARNING: .*mm/page_alloc\.c.*; in .*\bsmsg_message_pending\b.*",
        "kernel: smsgiucv takes as much memory as the interruption says that a message has",
    ),
    Known(
        ("interrupt",),
        ("corrupt",),
        PANIC,
        r".*WARNING: .*net/iucv/af_iucv\.c.*\balloc_iucv_recv_skb\b.*",
        "kernel: defect 12: a message for which af_iucv gets no memory is a WARNING",
    ),
    Known(
        ("msg.message", "msg.reply", "interrupt", "iucv.receive"),
        ("sever",),
        UNUSABLE,
        r"afterwards (special messages become \[\]|cmm_pages is \d+ instead of \d+)",
        "kernel: smsgiucv does not connect to *MSG again after a sever",
    ),
    Known(
        ("iucv.connect", "monitor.connect", "interrupt"),
        ("drop", "delay", "reorder", "corrupt"),
        HANGS,
        r"open sleeps uninterruptibly in the guest (until CP severs the path|whatever CP does)",
        "upstream's driver, defect 5: open waits forever when CP does not answer",
        upstream=True,
    ),
    Known(
        ("interrupt",),
        ("corrupt",),
        PANIC,
        r".*Unable to handle kernel pointer dereference.*; in mon_read\b.*",
        "upstream's driver, defect 2: the control area is touched before its address is checked",
        upstream=True,
    ),
    Known(
        ("interrupt", "monitor.message"),
        ("corrupt",),
        PASSED_OFF,
        r"of read \d+, \d+ bytes came as if they were a whole set",
        "upstream's driver, defect 8: an invalid control area ends the set as if it were complete",
        upstream=True,
    ),
    Known(
        ("diag288.init",),
        ("pgm",),
        PANIC,
        r".*WARNING: .*drivers/watchdog/diag288_wdt\.c.*",
        "kernel: diag288_wdt of 6.1 and 6.12 warns when CP refuses to set the time bomb",
    ),
    Known(
        ("diag08.command",),
        ("cc", "rc", "drop"),
        UNUSABLE,
        r"afterwards the disk keeps \['(|further)', '\1', '\1', '\1'\]",
        "kernel: dcssblk, defect 2: what a SAVESEG that fails leaves defined prevents every later"
        " save",
    ),
    Known(
        ("diag64.purgeseg",),
        ("cc", "rc", "drop"),
        UNUSABLE,
        r"afterwards the disk keeps \['add', 'EIO', 'further', 'further'\]",
        "kernel: dcssblk, defect 3: nobody looks at what became of PURGESEG, so that a segment can"
        " be left in the other mode than the next load wants",
    ),
    Known(
        ("iucv.receive", "interrupt", "recording.*"),
        ("sever",),
        PANIC,
        r".*kernel BUG at lib/list_debug\.c.*; in .*\bvmlogrdr_release\b.*",
        "kernel: vmlogrdr, defect 3: close severs a path that a sever has freed",
    ),
    Known(
        ("iucv.receive", "interrupt", "recording.*"),
        ("sever",),
        HANGS,
        r"reading a record sleeps uninterruptibly in the guest whatever CP does",
        "kernel: vmlogrdr, defect 5: a read after a sever never ends, if a record was pending",
    ),
    Known(
        ("interrupt", "recording.message"),
        ("duplicate",),
        HANGS,
        r"reading a record sleeps uninterruptibly in the guest whatever CP does",
        "kernel: vmlogrdr, defect 6: a second message takes the place of the first",
    ),
    Known(
        ("interrupt",),
        ("corrupt",),
        HANGS,
        r"reading a record sleeps uninterruptibly in the guest whatever CP does",
        "kernel: vmlogrdr, defect 9: a RECEIVE that CP refuses is given again forever",
    ),
    Known(
        ("iucv.connect", "interrupt", "recording.connect"),
        ("drop", "delay", "reorder", "corrupt"),
        HANGS,
        r"opening /dev/account sleeps uninterruptibly in the guest whatever CP does",
        "kernel: vmlogrdr, defect 10: open waits forever when CP does not answer",
    ),
    Known(
        ("iucv.sever", "recording.sever"),
        ("cc", "rc", "drop"),
        UNUSABLE,
        r"afterwards opening /dev/account ends with EIO",
        "kernel: it forgets a path whose SEVER CP does not carry out (net/iucv/iucv.c), and a"
        " recording service takes no second one of a user",
    ),
    Known(
        ("diagdc.stop",),
        ("cc", "rc", "drop"),
        UNUSABLE,
        r"afterwards CP copies from the buffers \[\d\] of modules that are gone",
        "kernel: defect 32: appldata forgets a buffer that CP does not withdraw, and lets its"
        " module go",
    ),
    Known(
        ("diag2c4.start", "hmc.completion"),
        ("drop",),
        HANGS,
        r"(loading hmcdrv|'[a-z]+ folder(/\w+)?') sleeps uninterruptibly in the guest whatever CP does",
        "kernel: defect 33: hmcdrv waits forever for the end of a transfer",
    ),
    Known(
        ("diag250.io", "disk.completion"),
        ("rc", "drop", "delay", "reorder"),
        HANGS,
        r"(online=1|opening the disk|reading a page|writing a page) sleeps uninterruptibly in the"
        r" guest whatever CP does",
        "kernel: defect 34: dasd_diag waits forever for the end of a request that CP has ended"
        " before",
    ),
    Known(
        ("diag2fc.guests",),
        ("drop",),
        LOG,
        r"Call Trace:",
        "kernel: defect 31: without an answer, hypfs takes an address for the size of one",
    ),
)


def reason(case: Case, symptom: Symptom, driver: str) -> str | None:
    """Why a symptom is known; None if it is not."""
    return next((known.reason for known in KNOWN if known.covers(case, symptom, driver)), None)
