# SPDX-License-Identifier: MIT
"""hyptop of Debian's s390-tools: what CP says of guests, on its screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zvmlab.builder.guesttools import debian_program, debian_root
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

HYPTOP = "/usr/sbin/hyptop"
GCONV = "/usr/lib/s390x-linux-gnu/gconv"
SECONDS = 120.0
# CPUs, operating ones, CPU time, time online, used and most storage, share and its maximum.
FIELDS = "#,O,C:us,o:us,u:kib,a:kib,r,x"
WEB: dict[str, Any] = {
    "cpus": 5,
    "operating": 4,
    "cpu-us": 7_000_000,
    "online-us": 50_000_000,
    "storage-used": 2048,
    "storage-max": 4096,
    "share": 200,
    "share-max": 300,
}
pytestmark = [
    pytest.mark.zvmlab(cp={"class": "BEG"}),
]


def hyptop_files() -> dict[str, Path]:
    """What it consists of, by the guest's paths."""
    # It converts the names of guests from EBCDIC.
    inside = [f"{GCONV}/{name}" for name in ("gconv-modules.cache", "EBCDIC-US.so", "ISO8859-1.so")]
    return debian_program(HYPTOP) | {name: debian_root() / name.lstrip("/") for name in inside}


@pytest.fixture
def guest_config(guest_config: GuestConfig) -> GuestConfig:
    return guest_config._replace(files=hyptop_files())


def screen(guest: Guest, fields: str, pictures: int) -> dict[str, list[str]]:
    """The lines of hyptop's last picture by their first word."""
    argv = [HYPTOP, "--batch_mode", f"--iterations={pictures}", "--delay=1", f"--fields={fields}"]
    # Where it looks for debugfs.
    guest.agent.write_file("/etc/mtab", guest.agent.read_file("/proc/mounts"), 0o644)
    done = guest.agent.run(argv, timeout=SECONDS).check()
    # A guest's line of an earlier picture is replaced by that of the later one.
    lines = [line.split() for line in done.stdout.decode().splitlines()]
    return {words[0]: words[1:] for words in lines if words}


def said_of(guest: Guest, name: str) -> dict[str, Any]:
    found = guest.control.execute("query-guests")["guests"]
    (data,) = (data for data in found if data["name"] == name)
    return dict(data)


@pytest.mark.requirement("Y7")
def test_hyptop_shows_all_guests_and_what_they_use(guest: Guest) -> None:
    """Each column is what CP says of the guest, of times at that moment."""
    guest.control.execute("guest-describe", name="WEB", **WEB)
    names = [data["name"] for data in guest.control.execute("query-guests")["guests"]]
    before = {name: said_of(guest, name) for name in names}
    found = screen(guest, FIELDS, 1)
    after = {name: said_of(guest, name) for name in names}
    assert {"LINUX001", "OPERATOR", "WEB"} <= set(names)
    for name in names:
        old, new = before[name], after[name]
        cpus, operating, cpu, online, used, most, share, limit = map(int, found[name])
        assert (cpus, operating) == (new["cpus"], new["operating"])
        assert old["cpu-us"] <= cpu <= new["cpu-us"]
        assert old["online-us"] <= online <= new["online-us"]
        assert (used, most) == (new["storage-used"], new["storage-max"])
        assert (share, limit) == (new["share"], new["share-max"])


@pytest.mark.requirement("Y7")
def test_hyptop_shows_rates(guest: Guest) -> None:
    """CPU time per second, of a guest that uses half a CPU and of one that uses two and a half."""
    for name, percent in (("HALF", 50), ("BUSY", 250)):
        arguments: dict[str, Any] = WEB | {"name": name, "cpu-percent": percent}
        guest.control.execute("guest-describe", **arguments)
    found = screen(guest, "c:%", 2)
    assert abs(float(found["HALF"][0]) - 50) < 1
    assert abs(float(found["BUSY"][0]) - 250) < 1
