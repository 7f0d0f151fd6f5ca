#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write our changes of QEMU as patch files: patches.py PRISTINE FOLDER

One file for each change of corrections.py and speed.py, in that order, which is the order in
which they apply; the port's own lines are not among them.  For a version after 7.2, newer.py
says what is different, and which changes QEMU has by then.  What is written is applied again
with patch(1), and compared with what the hooks make of the source.

No build depends on this file: a message can be improved without one.
"""

from __future__ import annotations

import difflib
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import corrections
import newer
import port_hooks
import speed
from hook import Change, HookError, insert

WIDTH = 76
FROM = "zvmlab developers <zvmlab@localhost>"
DATE = "Thu, 1 Jan 1970 00:00:00 +0000"

# Subject and text by the change's name, for those who know QEMU and not us.
MESSAGES = {
    "early-output": (
        "tcg: keep early outputs out of the registers of inputs",
        "With add2 and sub2, the first output is written before all inputs have been read.  "
        "The register allocator may give it the register of an input that is read later, if "
        "the output is preferred there.  s390x's VECTOR CHECKSUM then adds a wrong number: "
        "checksums of Linux 6.12 and later are wrong.\n\n"
        "Allocate another register if an input of the operation is in the preferred one and "
        "is no alias of the output.",
    ),
    "wide-constant": (
        "tcg: fill a vector with a constant in the element's width",
        "A constant that is spread over a vector was taken in its own width, so bits above "
        "the element could reach its neighbours.",
    ),
    "constants": (
        "tcg: forget the constants' place of a translation that is done again",
        "When a translation has to start anew, the pool of its constants could be taken for "
        "the one of the last attempt.",
    ),
    "sign": (
        "tcg/optimize: know nothing of a sign that no bit repeats",
        "If no bit is known to repeat the sign, the mask of such bits is 0, and the test "
        "takes the sign for known to be 0.",
    ),
    "woken": (
        "accel/tcg: let a CPU be woken just when it halts",
        "Another thread can wake a CPU between the end of its execution and the assertion "
        "that it is halted, which then ends QEMU.",
    ),
    "victim": (
        "accel/tcg: look for a load in the victim TLB of loads",
        "An atomic access of 16 bytes that only reads looked at the addresses for stores.",
    ),
    "self-jump": (
        "accel/tcg: unlink a block that jumps to itself",
        "A block whose jump leads to itself is not among those that are unlinked from it when"
        " it is invalidated, and goes on for ever.",
    ),
    "mvc": (
        "accel/tcg: drop the translations of all that a helper stores",
        "probe_access() and probe_access_flags() drop the translations at the first byte of a"
        " store only.  Helpers then write up to a page directly.  On s390x, a program that "
        "MVC wrote over another one was executed as a mixture of both.",
    ),
    "halfword": (
        "target/s390x: compare a halfword in CHRL and CGHRL",
        "They compare with a word and a doubleword.",
    ),
    "lcbb": (
        "target/s390x: keep the left half of LCBB's register",
        "LOAD COUNT TO BLOCK BOUNDARY changes the right half of its first operand.",
    ),
    "locfhr": (
        "target/s390x: take the left half in LOCFHR",
        "LOAD HIGH ON CONDITION copies bits 0-31 of the second operand.",
    ),
    "lder": (
        "target/s390x: decode LDER as RRE",
        "An assertion fails otherwise.",
    ),
    "ppno": (
        "target/s390x: end the block before PPNO",
        "It reads the clock for its random numbers, which needs an exact instruction count "
        "with -icount.",
    ),
    "cksm": (
        "target/s390x: refuse an odd register in CKSM",
        "The helper writes the register after the operand's: after register 15 there is none.",
    ),
    "lae": (
        "target/s390x: set LAE's own access register",
        "It always sets access register 1.",
    ),
    "rosbg": (
        "target/s390x: define the result of a RNSBG that only tests",
        "With the T bit the first operand is not changed.  The result is an undefined "
        "temporary, which ends QEMU if it is used.",
    ),
    "lpsw": (
        "target/s390x: convert the PSW of LPSW as a whole",
        "Bit 12 is inverted, and bit 32 of the short PSW is part of the mask, not of the "
        "address.",
    ),
    "execute": (
        "target/s390x: count relative operands from the target of EXECUTE",
        "Relative operands and branch targets of an instruction that EX or EXRL executes "
        "count from that instruction.  They were taken from the EXECUTE, so BRAS, LARL, "
        "LGRL, CRL and the like went to or used another place.  Link addresses, the "
        "fall-through of a branch and the breaking-event address remain those of the "
        "EXECUTE.\n\n"
        "One translation is found by the address of the EXECUTE and by the instruction, which "
        "can be in several places, so the place is kept in the CPU's state and read when the "
        "code runs.  It is migrated with the instruction, because a CPU can be stopped "
        "between the two.",
    ),
    "brcth": (
        "target/s390x: count BRCTH's target from the target of EXECUTE",
        "The branch target of BRANCH RELATIVE ON COUNT HIGH was taken from the EXECUTE that "
        "executes it.  All other relative branches count from the instruction already.",
    ),
    "per-store": (
        "target/s390x: tell a storage-alteration event after its instruction",
        "The event is found by a watchpoint.  The instruction is executed once more, and the "
        "program interruption is to come after it.  But the translated code only looked for "
        "it if instruction-fetching events are on, so it came with the next interruption.",
    ),
    "epsw": (
        "target/s390x: store the current condition code in EPSW",
        "The PSW mask has the code of the last time that it was needed.",
    ),
    "stoc": (
        "target/s390x: keep the condition code of a store that is refused",
        "gen_op_calc_cc() throws away what the condition code is computed from later.  If "
        "STOC's store is refused, and the code is that of an addition with carry, an "
        "assertion fails.",
    ),
    "stck": (
        "target/s390x: keep the condition code if STCK's store is refused",
        "The code is set before the store, and what it is computed from is lost.",
    ),
    "tr": (
        "target/s390x: leave the condition code alone in TR",
        "The block is told that the code is in cc_op, where it need not be.",
    ),
    "csp": (
        "target/s390x: set the condition code in CSP",
        "The block is not told that the code has been computed.",
    ),
    "clc": (
        "target/s390x: set the condition code of CLC after both loads",
        "If the second load is refused, the code is computed from one new and one old " "operand.",
    ),
    "laalg": (
        "target/s390x: set the carry in LAALG",
        "The condition code of a logical addition is computed from the carry, which is not "
        "there.",
    ),
    "mdeb": (
        "target/s390x: take short operands in MDEB, long ones in MXDB",
        "The first operands are taken for a long and an extended one.",
    ),
    "inexact": (
        "target/s390x: say inexact with a conversion that is invalid",
        "A value that is too large for a fixed-point number gives both conditions.",
    ),
    "vfmax": (
        "target/s390x: refuse type 13 of VFMAX and VFMIN",
        "An assertion fails.",
    ),
    "vstl": (
        "target/s390x: access 16 bytes at most in VSTL",
        "The length is limited to that.",
    ),
    "vstrs": (
        "target/s390x: find no part of a string beyond its end in VSTRS",
        "Without a match the result is 16.  A string that ends in the register has no partial"
        " match at the end.",
    ),
    "accreg": (
        "target/s390x: treat access-register mode as primary-space mode",
        "Any program can turn it on with SET ACCESS (SAC, SACF) or a PSW, and QEMU ends.  "
        "There are no access lists, so all access registers name the primary space.",
    ),
    "csst": (
        "target/s390x: store a byte in CSST, and fail in the right half",
        "A storage characteristic of 0 means one byte, which is aligned.  The word that was "
        "found goes into bits 32-63.",
    ),
    "mvcrl": (
        "target/s390x: use eight bits of MVCRL's length",
        "The length is the rightmost byte of general register 0.",
    ),
    "ckc": (
        "target/s390x: interrupt for a clock comparator before the TOD base",
        "The difference wraps, and the timer never ends.",
    ),
    "stidp": (
        "target/s390x: put STIDP's CPU address where it belongs",
        "It is two bits too far to the left.",
    ),
    "io-pending": (
        "hw/s390x: let a subchannel have one interruption pending",
        "Each ending of an I/O operation makes an interruption pending, and TEST SUBCHANNEL, which "
        "clears the status, leaves it so.  A guest that runs disabled and clears the status by "
        "TEST SUBCHANNEL alone makes the list of interruptions grow without limit, and is "
        "interrupted later for status that is not there any more.  The same holds for adapter "
        "interruptions of a guest that looks at its indicators only.\n\n"
        "A new interruption takes the place of the one that is pending for the subchannel.  "
        "Clear it with the status, when the subchannel is modified, and when it is reset.  Of "
        "adapter interruptions, have one pending for each interruption subclass.",
    ),
    "crw-lost": (
        "hw/s390x/css: limit the number of channel report words",
        "A guest that resets a channel path in a loop, and never stores the reports about it, "
        "makes the list of them grow without limit.  The architecture has an overflow bit for "
        "that, which is set already if there is no memory.",
    ),
    "endless": (
        "hw/s390x/css: end a channel program that has no end",
        "A channel program is interpreted with the BQL held.  One that branches back with "
        "TRANSFER IN CHANNEL, as after a NOP with a data address, goes on for ever, and neither "
        "the monitor nor SIGTERM can end QEMU.\n\n"
        "End it with a program check after 65,536 CCWs.",
    ),
    "lowcore": (
        "target/s390x: report only what an interruption stores as written",
        "An interruption stores some dozen bytes into the lowcore, but all 8 KiB of it are "
        "reported as written when it is unmapped.  So each interruption throws away all "
        "translated code in these two pages.  Linux has some there: the LPSWE by which it "
        "goes back to user space.  It is translated again after each system call.\n\n"
        "Report the bytes from the first to the last that the interruption stores into.",
    ),
    "sizes": (
        "target/s390x: say how much a helper stores",
        "probe_access_flags() does not know how much will be stored, so it drops the "
        "translations of all code from there to the end of the page.  s390_probe_access() "
        "knows it: hand it down.",
    ),
    "slots": (
        "target/s390x: keep TLB entries when CR1 or CR7 changes",
        "LOAD CONTROL flushes the whole TLB.  Linux loads CR1 whenever it enters and leaves "
        "the kernel, and CR7 whenever it changes to another process, so no entry lives longer"
        " than that.  The architecture does not ask for a flush: each entry belongs to an "
        "address-space-control element.\n\n"
        'Have several MMU indexes ("slots") for the primary and as many for the secondary '
        "space.  A slot belongs to one address-space-control element.  Loading CR1 or CR7 "
        "selects the slot of the new one; if there is none, the slot that has not been "
        "selected for the longest time gets it, and is flushed.  Translated code has the "
        "index in it, so the slots in use are part of the flags by which it is found.\n\n"
        "Other control registers flush if their value changes.  CR14 has no effect on "
        "translation.\n\n"
        "LOAD CONTROL reads all of its operand before it changes a register: an exception in "
        "the middle must not leave a register that differs from its slot.\n\n"
        "SET PREFIX flushes everything, as the architecture says.  It left entries of virtual"
        " pages that are mapped to the prefix area, and only the next LOAD CONTROL removed "
        "them.",
    ),
    "lowprot": (
        "accel/tcg: let stores beyond a page's protected bytes use its entry",
        "While low-address protection is on, a TLB entry of the first two pages is invalid "
        "for stores from the start, so that each store is translated and checked anew.  Only "
        "the first 512 bytes are protected.  Linux keeps the protection on, and stores into "
        "its lowcore beyond them several times in each interruption and system call.\n\n"
        "Let a target say how many bytes of such a page need the check.  A store that begins "
        "after them uses the entry as if it were valid.",
    ),
    "bear": (
        "target/s390x: add the BEAR-enhancement facility",
        "LOAD PSW EXTENDED (LPSWEY), LOAD BEAR and STORE BEAR.  Without this facility, Linux "
        "goes back to user space by an LPSWE that lies in its lowcore.  Code in that page "
        "makes each store into it slow.",
    ),
}


def _mail(number: int, count: int, name: str, diff: str) -> str:
    """One patch as git-am(1) takes it; who sends it signs it off."""
    subject, text = MESSAGES[name]
    paragraphs = "\n\n".join(textwrap.fill(part, WIDTH) for part in text.split("\n\n"))
    return (
        f"From: {FROM}\nDate: {DATE}\nSubject: [PATCH {number}/{count}] {subject}\n\n"
        f"{paragraphs}\n---\n{diff}-- \nzvmlab\n"
    )


def _diff(file: str, before: str, after: str) -> str:
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    return "".join(difflib.unified_diff(old, new, f"a/{file}", f"b/{file}"))


def write(pristine: Path, folder: Path, changes: list[Change]) -> dict[str, str]:
    """Write the files; return what the changed files are in the end."""
    texts: dict[str, str] = {}
    for number, change in enumerate(changes, 1):
        before = {
            hook.file: texts.get(hook.file) or (pristine / hook.file).read_text(encoding="utf-8")
            for hook in change.hooks
        }
        after = dict(before)
        for hook in change.hooks:
            after[hook.file] = insert(after[hook.file], hook)
        texts |= after
        diff = "".join(_diff(file, before[file], after[file]) for file in sorted(after))
        mail = _mail(number, len(changes), change.name, diff)
        (folder / f"{number:04}-{change.name}.patch").write_text(mail, encoding="utf-8")
    return texts


def check(pristine: Path, folder: Path, texts: dict[str, str]) -> None:
    """The patches make of the pristine files what the hooks make of them."""
    with tempfile.TemporaryDirectory(prefix="zvmlab-patches-") as name:
        tree = Path(name)
        for file in texts:
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_bytes((pristine / file).read_bytes())
        for patch in sorted(folder.glob("*.patch")):
            argv = ["patch", "--strip=1", "--fuzz=0", "--silent", f"--input={patch.absolute()}"]
            subprocess.run(argv, cwd=tree, check=True, timeout=60)
        for file, text in texts.items():
            if (tree / file).read_text(encoding="utf-8") != text:
                raise HookError(f"{file}: the patches do not make what the hooks make")


def changes_for(pristine: Path) -> list[Change]:
    """What fits the version of this source, but not our device, which is no patch of QEMU's."""
    port = port_hooks.port("")
    every = [*corrections.CHANGES, *speed.CHANGES, port]
    series = newer.series_of(pristine, newer.versions())
    return [change for change in newer.changes_for(series, every) if change.name != port.name]


def main(argv: list[str]) -> int:
    """Return: exit code."""
    if len(argv) != 3:
        print(f"usage: {argv[0]} PRISTINE FOLDER", file=sys.stderr)
        return 2
    pristine, folder = Path(argv[1]), Path(argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.patch"):
        old.unlink()
    try:
        changes = changes_for(pristine)
        check(pristine, folder, write(pristine, folder, changes))
    except (HookError, OSError, subprocess.SubprocessError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(changes)} patches are in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
