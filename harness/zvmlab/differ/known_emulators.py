# SPDX-License-Identifier: MIT
"""Every difference between the two emulators that a guest can show, with the reason.

A difference that no entry covers fails a comparison, and so does an entry that
covers nothing in a comparison of the whole catalogue.  docs/emulators.md has the
table in words.
"""

from __future__ import annotations

from zvmlab.differ.differ import Pair
from zvmlab.differ.explain import because
from zvmlab.differ.trace_lines import INTERRUPTIONS, ORDERED
from zvmlab.guest.config import HERCULES, QEMU, UPSTREAM_DRIVER, GuestConfig
from zvmlab.scenarios import BUILT_IN, EDGES, MACHINE, USERS, WRITERS
from zvmlab.scenarios.context import Scenario
from zvmlab.sweep.sweep import PARAMETERS

EMULATORS = (QEMU, HERCULES)
PARTS: dict[str, Scenario] = {
    name: scenario
    for name, scenario in (WRITERS | USERS).items()
    if set(EMULATORS) <= set(scenario.backends)
}
"""Those of other parts of the kernel that both emulators can run."""
CATALOGUE: dict[str, Scenario] = MACHINE | BUILT_IN | EDGES | PARTS
"""All scenarios that a run in two emulators has by name."""

# The question of the scenario netiucv: length, identification and checksum of its IP header.
_DATAGRAM = (
    r"iucv\.receive user PARTNER .* received 002645000024[0-9a-f]{4}40004011[0-9a-f]{4}0a010101"
    r"0a0101020fa00fa00010[0-9a-f]{4}7175657374696f6e0000 code 0 cc 0"
)

EXPLAINED = (
    *because(
        "the console is SCLP's in QEMU, a 3215 in Hercules, whose driver sets it up through CP",
        "boot",
        ("log", r"Kernel command line: .* console=ttysclp0 .*", ""),
        ("log", "", r"Kernel command line: .* conmode=3215 console=ttyS0 .*"),
        ("log", r"printk: console \[ttysclp0\] enabled", ""),
        (ORDERED, "", r"diagnose 08 .* text TERM CONMODE 3215 .* done"),
        (ORDERED, "", r"diagnose 08 .* text TERM AUTOCR OFF .* done"),
    ),
    *because(
        "Hercules has large pages (enhanced DAT); in QEMU, without them, the kernel needs 248 KiB"
        " of page tables to map 128 MiB",
        "boot",
        ("log", "", r"HugeTLB: .*"),
        ("log", r"hugetlbfs: disabling because there are no supported hugepage sizes", ""),
        ("log", r"Memory: \d+K/131072K available .*", ""),
        ("log", "", r"Memory: \d+K/131072K available .*"),
    ),
    *because(
        "QEMU has PCI, Hercules has not",
        "boot",
        ("log", "", r"zpci: PCI is not supported because CPU facilities 69 or 71 .*"),
    ),
    *because(
        "QEMU has the extended format of channel measurement, Hercules the basic one",
        "boot",
        ("log", r"cio: Channel measurement facility .* format extended .*", ""),
        ("log", "", r"cio: Channel measurement facility .* format basic .*"),
    ),
    *because(
        "QEMU's SCLP refuses Store Data, which Hercules' does not offer",
        "boot",
        ("log", r"sclp_sd: Store Data request failed .*", ""),
    ),
    *because(
        "each guest's kernel draws the number of an IP datagram at random, and the checksum of the"
        " header follows",
        "netiucv",
        (ORDERED, _DATAGRAM, ""),
        (ORDERED, "", _DATAGRAM),
    ),
)


def emulator_pair(kernel: str = "bookworm", driver: str = UPSTREAM_DRIVER) -> Pair:
    """QEMU and Hercules, with one kernel and one driver."""
    first, second = (
        GuestConfig(kernel=kernel, driver=driver, backend=backend) for backend in EMULATORS
    )
    parameters = PARAMETERS.get(driver, "")
    return Pair(
        kind="emulators",
        common=("driver", driver),
        names=EMULATORS,
        configs=(first, second),
        params=(parameters, parameters),
        catalogue=CATALOGUE,
        tracks=(ORDERED, INTERRUPTIONS),
        explained=EXPLAINED,
    )
