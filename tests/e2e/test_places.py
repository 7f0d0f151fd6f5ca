# SPDX-License-Identifier: MIT
"""Where a guest's storage is: by virtual addresses, and by the real ones that CP must be given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from zvmlab.builder.kernel import has_checks
from zvmlab.builder.tree_name import tree_name
from zvmlab.guest.config import storage_end
from zvmlab.guest.guest import Guest

SOURCE = Path(__file__).parent / "modules" / "places"
MODULE = "/tmp/places.ko"
PARAMETERS = "/sys/module/places/parameters"


def test_storage_has_other_virtual_addresses_where_drivers_are_checked(
    guest: Guest, zvmlab_kernel: str, built_module: Callable[..., Path]
) -> None:
    """So a driver that gives CP a virtual address is seen; elsewhere both are the same."""
    guest.agent.write_file(MODULE, built_module(SOURCE).read_bytes(), 0o600)
    guest.agent.insmod(MODULE).check()
    virtual, real = (
        int(guest.agent.read_file(f"{PARAMETERS}/{name}_address")) for name in ("virtual", "real")
    )
    tree = tree_name(zvmlab_kernel) if has_checks(zvmlab_kernel) else None
    assert 0 < real < storage_end(guest.config.storage)
    assert (virtual != real) == bool(tree and tree.moves), f"virtual {virtual:#x}, real {real:#x}"
    guest.agent.rmmod("places").check()
