# SPDX-License-Identifier: MIT
"""The name of the segment: default, module parameter, upper and lower case, lengths."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.guest import Guest
from zvmlab.monitor.monitor import DataSets

if TYPE_CHECKING:
    from conftest import Define, OneSet

PAGES = "8000-87FF SC"


@contextmanager
def loaded(guest: Guest, parameters: str) -> Iterator[None]:
    """The driver loaded with these parameters; unloaded afterwards."""
    guest.agent.insmod("monreader", parameters).check()
    try:
        yield
    finally:
        guest.agent.rmmod("monreader").check()


def used_by_cp(guest: Guest) -> str:
    """Name of the segment that *MONITOR uses while the device is open."""
    with DataSets(guest.agent):
        monitor = guest.control.execute("query-monitor")
    assert [user["name"] for user in monitor["users"]] == ["LINUX001"]
    return str(monitor["segment"])


@pytest.mark.requirement("M2")
def test_default_name_is_mondcss(warm_guest: Guest, zvmlab_driver: str, one_set: OneSet) -> None:
    """Loaded without a parameter, the driver asks CP for MONDCSS."""
    with loaded(warm_guest, ""):
        parameter = warm_guest.agent.read_file("/sys/module/monreader/parameters/mondcss")
        assert parameter == b"MONDCSS\n"
        assert used_by_cp(warm_guest) == "MONDCSS"
        one_set(warm_guest)


@pytest.mark.requirement("M2")
@pytest.mark.parametrize(
    "given, wanted",
    [
        ("MYDCSS", "MYDCSS"),
        ("mydcss", "MYDCSS"),
        ("MyDcSs", "MYDCSS"),
        ("X", "X"),
        ("eightchr", "EIGHTCHR"),
        ("mon$#@12", "MON$#@12"),
    ],
)
@pytest.mark.representative
def test_name_given_as_parameter_reaches_cp_in_upper_case(
    warm_guest: Guest, zvmlab_driver: str, define: Define, one_set: OneSet, given: str, wanted: str
) -> None:
    """The segment named by mondcss, in any case and up to 8 characters, is the one CP uses."""
    define(wanted, PAGES)
    with loaded(warm_guest, f"mondcss={given}"):
        parameter = warm_guest.agent.read_file("/sys/module/monreader/parameters/mondcss")
        assert parameter.decode().strip().upper() == wanted
        assert used_by_cp(warm_guest) == wanted
        one_set(warm_guest)


@pytest.mark.requirement("M2")
def test_nine_characters_are_refused_enospc(
    warm_guest: Guest, zvmlab_driver: str, define: Define
) -> None:
    """A name of 9 characters is refused, not cut to the 8 of a segment that exists."""
    define("MYDCSS78", PAGES)
    refused = warm_guest.agent.insmod("monreader", "mondcss=MYDCSS789")
    assert refused.errno == errno.ENOSPC
    assert "mondcss" in refused.text
    assert "loaded in shared access mode" not in refused.text


@pytest.mark.requirement("M2")
@pytest.mark.parametrize("parameters", ("mondcss=", "mondcss=NOSUCH"))
def test_name_that_is_no_segment_is_refused_enoent(
    warm_guest: Guest, zvmlab_driver: str, parameters: str
) -> None:
    """A name that CP does not know, or none at all, is refused with CP's return code logged."""
    refused = warm_guest.agent.insmod("monreader", parameters)
    assert refused.errno == errno.ENOENT
    assert "Querying a DCSS type failed with rc=44" in refused.text
    assert "cannot be loaded or queried" in refused.text


@pytest.mark.requirement("M2")
def test_parameter_without_a_value_is_refused_einval(warm_guest: Guest, zvmlab_driver: str) -> None:
    """mondcss without a value is a mistake of the caller's, not the default name."""
    refused = warm_guest.agent.insmod("monreader", "mondcss")
    assert refused.errno == errno.EINVAL
    assert "mondcss" in refused.text


@pytest.mark.requirement("M3")
@pytest.mark.zvmlab(
    segments=("MONDCSS 9000-97FF SC", "OTHERDCS 8000-87FF SC"),
    command_line="monreader.mondcss=otherdcs",
    busybox=True,
)
def test_name_given_as_kernel_parameter_reaches_cp(driver_guest: Guest, one_set: OneSet) -> None:
    """modprobe takes monreader.mondcss=NAME from the kernel's command line; CP sees that name."""
    agent = driver_guest.agent
    agent.run(["/bin/busybox", "modprobe", "monreader"]).check()
    assert used_by_cp(driver_guest) == "OTHERDCS"
    one_set(driver_guest)
    agent.rmmod("monreader").check()
    # Without modprobe's help it is the default again.
    with loaded(driver_guest, ""):
        assert used_by_cp(driver_guest) == "MONDCSS"
