# SPDX-License-Identifier: MIT
"""Modules with what they need and want, as the guest's kernel sees them."""

from __future__ import annotations

import pytest

from zvmlab.guest.guest import Guest

# On every kernel these need a module that needs another one.
DEEP = {
    "scsi_transport_fc": {"scsi_mod", "scsi_common"},
    "ext4": {"jbd2", "mbcache"},
}
# Who computes ext4's checksums, wanted by the alias crypto-crc32c; a later kernel does it itself.
SUMS = "crc32c_generic"
WITH_SUMS = ("6.1.", "6.12.")


def users(guest: Guest) -> dict[str, set[str]]:
    """The modules that are loaded, with those that use them, of /proc/modules."""
    lines = guest.agent.read_file("/proc/modules").decode().splitlines()
    words = [line.split() for line in lines]
    return {word[0]: set(word[3].rstrip(",").split(",")) - {"-"} for word in words}


@pytest.mark.not_debug("it has none of these modules", lacks="SCSI_FC_ATTRS")
@pytest.mark.zvmlab(modules=tuple(DEEP))
def test_modules_load_with_all_they_need(guest: Guest) -> None:
    """A module comes with what it needs at every level, and with what it only asks for."""
    for name in DEEP:
        guest.agent.modprobe(name).check()
    loaded = users(guest)
    for name, needed in DEEP.items():
        assert {name} | needed <= loaded.keys()
    assert "scsi_mod" in loaded["scsi_common"] and "scsi_transport_fc" in loaded["scsi_mod"]
    assert (SUMS in loaded) == guest.agent.hello().release.startswith(WITH_SUMS)


@pytest.mark.zvmlab(modules=("ext4",), busybox=True)
def test_busybox_loads_what_is_needed(guest: Guest) -> None:
    """modules.dep in the image is one that modprobe(8) understands."""
    guest.agent.run(["/bin/busybox", "modprobe", "ext4"]).check()
    assert {"ext4", "jbd2", "mbcache"} <= users(guest).keys()
