# SPDX-License-Identifier: MIT
"""Findings of a debug kernel that do not appear on the console.

    assert leaks(guest) == ""
    check_kernel(guest)           # that, and whether lockdep still looks

On a kernel without kmemleak or lockdep nothing is found, and nothing is asked.
"""

from __future__ import annotations

import errno
import functools
import os
import re
from pathlib import Path

from zvmlab.base.errors import ZvmlabError
from zvmlab.builder.kernels import resolve
from zvmlab.builder.modulebuild import built_module
from zvmlab.guest.guest import Guest

KMEMLEAK = "/sys/kernel/debug/kmemleak"
LOCKDEP = "/proc/lockdep_stats"
# mm/kmemleak.c reports nothing that is younger (MSECS_MIN_AGE).
MIN_AGE_SECONDS = 5.0
# The scan reads most of the guest's storage, word by word and instrumented.
SCAN_SECONDS = 120.0
LEAK = Path(__file__).with_name("leak")
"""A module that leaks an object, and tells kmemleak what it need not scan."""
# Of lib/stackdepot.c and kernel/locking/lockdep.c: 16 MiB each, and nothing in them leads to an object.
_BUCKETS, _STACKS = "stack_table", "stack_trace"
_HERE = "kmemleak_ignore_phys"
_LEAK_IN_GUEST = "/tmp/zvmlab-leak.ko"
# What s390 notes of a module's symbols, which load_module() does not free if move_module() fails
# (6.1.176, 7.2.13); kernel_patches.py corrects it in sources that we unpack.
_LOADER = re.compile(r"^ .*\bmodule_frob_arch_sections\+", re.MULTILINE)
# As the first line of a report's hex dump shows it.
_PLANTED = re.compile(r" planted:[0-9a-f]{8}$", re.MULTILINE)


def _read(guest: Guest, path: str) -> str | None:
    """A file, None if this kernel has no such file."""
    try:
        return guest.agent.read_file(path).decode("utf-8", "replace")
    except OSError as error:
        if error.errno == errno.ENOENT:
            return None
        raise


def leaks(guest: Guest) -> str:
    """Run kmemleak and return its findings; nothing else may run in the guest meanwhile.

    Takes five seconds of the guest's time, which need not be the host's, and two scans:
    what has changed since the scan before is not reported.  ZvmlabError if kmemleak does not report a leak
    that is made here on purpose either: then it tells nothing.
    """
    agent = guest.agent
    if _read(guest, KMEMLEAK) is None:
        return ""
    planted = _plant(guest)
    with guest.passing(MIN_AGE_SECONDS):
        agent.sleep(MIN_AGE_SECONDS)
    scans = agent.batch()
    fd = scans.open(KMEMLEAK, os.O_WRONLY)
    done = [scans.write(fd, b"scan") for _ in range(2)]
    scans.close(fd)
    results = scans.run(SCAN_SECONDS)
    try:
        for scan in done:
            results[scan].check()
    except OSError as error:
        raise _blind(guest, f"it refuses to look: {error.strerror}") from error
    found = _reports(_read(guest, KMEMLEAK) or "")
    if not any(planted in report for report in found):
        raise _blind(guest, "it does not report memory that was leaked on purpose")
    return "".join(report for report in found if not _PLANTED.search(report))


def _reports(text: str) -> list[str]:
    return re.split(r"^(?=unreferenced object )", text, flags=re.MULTILINE)


def _plant(guest: Guest) -> str:
    """Leak an object; the text that its report will show."""
    text = f"planted:{os.urandom(4).hex()}"
    kernel = resolve(guest.config.kernel)
    module = built_module(LEAK, "leak.ko", kernel)
    guest.agent.write_file(_LEAK_IN_GUEST, module.read_bytes(), 0o600)
    error = guest.agent.insmod(_LEAK_IN_GUEST, {"text": text, **_unscanned(kernel.image)}).errno
    guest.agent.unlink(_LEAK_IN_GUEST).check()
    if error != errno.ECANCELED:
        raise _blind(guest, f"nothing could be leaked on purpose: {os.strerror(error)}")
    return text


@functools.lru_cache(16)
def _unscanned(image: Path) -> dict[str, str]:
    """Parameters of the module: where the kernel has the tables, by the System.map beside its image.

    Its addresses are those before the kernel was moved, so they are given as distances.
    """
    try:
        text = image.with_name(image.name.replace("vmlinuz", "System.map")).read_text("ascii")
    except (OSError, UnicodeDecodeError):
        return {}
    symbols = [line.split() for line in text.splitlines()]
    places = {name: int(address, 16) for address, _, name in symbols}
    found = {}
    if _HERE in places and _BUCKETS in places:
        found["buckets"] = str(places[_BUCKETS] - places[_HERE])
    if _HERE in places and _STACKS in places:
        start = places[_STACKS]
        end = min(place for place in places.values() if place > start)
        found |= {"stacks": str(start - places[_HERE]), "stacks_size": str(end - start)}
    return found


def _blind(guest: Guest, why: str) -> ZvmlabError:
    return ZvmlabError(
        f"whether the guest's kernel ({guest.config.kernel}) has leaked memory is not known, because"
        f" its kmemleak is blind: {why}"
    )


def lockdep_off(guest: Guest) -> bool:
    """Has lockdep given up?  It does so after a report, or when its tables are full."""
    stats = _read(guest, LOCKDEP)
    return stats is not None and re.search(r"^ debug_locks: +0$", stats, re.MULTILINE) is not None


def check_kernel(guest: Guest) -> None:
    """Raise ZvmlabError if the kernel has leaked memory, or could not have noticed a wrong lock.

    What Linux' loader leaks if there is no memory for a module is nothing that a driver could help.
    """
    found = "".join(report for report in _reports(leaks(guest)) if not _LOADER.search(report))
    if found:
        raise ZvmlabError(f"the guest's kernel has leaked memory; kmemleak says:\n{found}")
    if lockdep_off(guest):
        raise ZvmlabError(
            "the guest's lockdep has turned itself off, so it did not look for later mistakes;"
            " the kernel's log says why"
        )
