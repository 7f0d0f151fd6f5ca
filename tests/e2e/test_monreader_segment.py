# SPDX-License-Identifier: MIT
"""Segments that cannot be used: loading the module fails and says why."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest

from zvmlab.agent.results import ModuleResult
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.guest import Guest
from zvmlab.monitor.monitor import DEVICE
from zvmlab.scenarios.outcome import normal_log

if TYPE_CHECKING:
    from conftest import Define, OneSet

NAME = "ODDDCSS"
HARDWARE = f"Loading or querying DCSS {NAME} resulted in a hardware error"
MISSING = f"DCSS {NAME} cannot be loaded or queried"


def refused(guest: Guest, name: str = NAME) -> ModuleResult:
    """Loading fails, and nothing of the driver or of the segment is left."""
    result = guest.agent.insmod("monreader", f"mondcss={name}")
    assert result.errno != 0
    nothing_is_left(guest, name)
    return result


def nothing_is_left(guest: Guest, name: str) -> None:
    """Neither device nor module nor segment, in the guest or of CP."""
    assert guest.agent.open(DEVICE).errno == errno.ENOENT
    assert b"monreader" not in guest.agent.read_file("/proc/modules")
    for segment in guest.control.execute("query-segments")["segments"]:
        assert (segment["loaded"], segment["users"]) == (False, 0)
    assert name.encode() not in guest.agent.read_file("/proc/iomem")


@pytest.mark.requirement("M9")
@pytest.mark.parametrize("kind", ("SW", "EW", "SR", "ER", "SN", "EN"))
def test_segment_of_another_type_than_sc_is_refused_einval(
    warm_guest: Guest, zvmlab_driver: str, define: Define, kind: str
) -> None:
    """A segment that is not CP's own data (SC) is no monitor DCSS."""
    define(NAME, f"8000-87FF {kind}")
    result = refused(warm_guest)
    assert result.errno == errno.EINVAL
    assert f"The specified *MONITOR DCSS {NAME} does not have the required type SC" in result.text


@pytest.mark.requirement("M9")
@pytest.mark.parametrize(
    "ranges, number, text",
    [
        ("8000-80FF SC 8100-81FF SC", errno.EOPNOTSUPP, "has multiple page ranges"),
        ("8000-80FF SC 8200-82FF SC", errno.EOPNOTSUPP, "has multiple page ranges"),
        ("8000-80FF SC 8100-81FF EW", errno.EOPNOTSUPP, "has multiple page ranges"),
        ("8000-80FF EW 8100-81FF EN", errno.EINVAL, "does not have the required type SC"),
    ],
    ids=("adjacent", "gap", "mixed", "writable"),
)
@pytest.mark.representative
def test_segment_of_several_ranges_is_refused_eopnotsupp(
    warm_guest: Guest, zvmlab_driver: str, define: Define, ranges: str, number: int, text: str
) -> None:
    """Several page ranges are no monitor DCSS, not even if all are SC and adjacent."""
    define(NAME, ranges)
    result = refused(warm_guest)
    assert result.errno == number
    assert text in result.text


@pytest.mark.requirement("M9")
@pytest.mark.parametrize(
    "pages", ("7000-77FF", "7FFF-80FF", "0000-00FF"), ids=("inside", "edge", "zero")
)
def test_segment_that_overlaps_storage_is_refused_einval(
    warm_guest: Guest, zvmlab_driver: str, define: Define, pages: str
) -> None:
    """A DCSS within the guest's storage, or by one page, cannot be used (extmem's EBUSY)."""
    define(NAME, f"{pages} SC")
    result = refused(warm_guest)
    assert result.errno == errno.EINVAL
    assert f"{NAME} needs used memory resources and cannot be loaded or queried" in result.text


@pytest.mark.requirement("M9")
@pytest.mark.upstream_defect(
    3, "a segment above 4 GiB is loaded; only opening the device fails", seen="assert 0 == 22"
)
@pytest.mark.zvmlab(segments=(f"{NAME} 100000-1007FF SC",))
def test_segment_that_monitor_cannot_address_is_refused(driver_guest: Guest) -> None:
    """A control element has 4-byte addresses: a segment above 4 GiB is refused when loading."""
    result = driver_guest.agent.insmod("monreader", f"mondcss={NAME}")
    assert result.errno == errno.EINVAL
    assert NAME in result.text
    # Loaded it was, to learn where it is.
    nothing_is_left(driver_guest, NAME)


@pytest.mark.requirement("M6")
def test_restricted_segment_needs_namesave_einval(
    warm_guest: Guest, zvmlab_driver: str, define: Define, one_set: OneSet
) -> None:
    """A restricted DCSS that the directory has no NAMESAVE for is refused by CP (X'64' code 4)."""
    define(NAME, "8000-87FF SC RSTD")
    result = refused(warm_guest)
    assert result.errno == errno.EINVAL
    assert f"Loading DCSS {NAME} failed with rc=4" in result.text
    assert HARDWARE in result.text
    # The configuration's own is restricted, too, and has the statement.
    (monitor, _) = warm_guest.control.execute("query-segments")["segments"]
    assert (monitor["name"], monitor["restricted"]) == ("MONDCSS", True)
    warm_guest.agent.insmod("monreader").check()
    one_set(warm_guest)
    warm_guest.agent.rmmod("monreader").check()


@pytest.mark.requirement("M2")
def test_segment_that_is_not_saved_is_refused_enoent(warm_guest: Guest, zvmlab_driver: str) -> None:
    """A skeleton, defined and not yet saved, does not exist for the guest."""
    assert warm_guest.cp(f"DEFSEG {NAME} 8000-87FF SC").rc == 0
    try:
        result = refused(warm_guest)
    finally:
        assert warm_guest.cp(f"PURGE NSS NAME {NAME}").rc == 0
    assert result.errno == errno.ENOENT
    assert "Querying a DCSS type failed with rc=44" in result.text
    assert MISSING in result.text


# With cc 2 and 3 as a fault nothing is stored: Linux takes the subcode for the return code.
_REFUSALS = [
    ("segext", "rc", 44, errno.ENOENT, "Querying a DCSS type failed with rc=44"),
    ("segext", "rc", 177, errno.EIO, "Querying a DCSS type failed with rc=177"),
    ("segext", "rc", 1, errno.EIO, "Querying a DCSS type failed with rc=1"),
    ("segext", "cc", 2, errno.EIO, "Querying a DCSS type failed with rc=56"),
    ("segext", "cc", 3, errno.EIO, "Querying a DCSS type failed with rc=56"),
]
_REFUSALS += [
    ("loadshr", "rc", code, errno.EINVAL, f"Loading DCSS {NAME} failed with rc={code}")
    for code in (4, 40, 44, 45, 177, 263)
]
_REFUSALS += [
    ("loadshr", "cc", cc, errno.EINVAL, f"Loading DCSS {NAME} failed with rc=32") for cc in (2, 3)
]


@pytest.mark.requirement("M6")
@pytest.mark.parametrize(
    "function, kind, value, number, text",
    [pytest.param(*refusal, id="-".join(map(str, refusal[:3]))) for refusal in _REFUSALS],
)
def test_each_refusal_of_diagnose_64_is_logged_enoent_eio_einval(
    warm_guest: Guest,
    zvmlab_driver: str,
    define: Define,
    one_set: OneSet,
    function: str,
    kind: str,
    value: int,
    number: int,
    text: str,
) -> None:
    """Whatever CP answers to DIAGNOSE X'64', loading fails with the code in the log; the next
    attempt works."""
    define(NAME, "8000-87FF SC")
    with armed(warm_guest.control, Fault(f"diag64.{function}", kind, value)) as (rule,):
        result = refused(warm_guest)
    assert rule.fired == 1
    assert result.errno == number
    # Not what the kernel says of the first module of ours that a guest loads.
    assert normal_log(result.text.splitlines())[0].endswith(text)
    assert (MISSING if (kind, value) == ("rc", 44) else HARDWARE) in result.text
    warm_guest.agent.insmod("monreader", f"mondcss={NAME}").check()
    one_set(warm_guest)
    warm_guest.agent.rmmod("monreader").check()


@pytest.mark.requirement("M35")
@pytest.mark.parametrize("kind, value", [("rc", 44), ("rc", 177), ("cc", 1), ("cc", 3)])
def test_unloading_does_not_depend_on_cps_answer(
    warm_guest: Guest, zvmlab_driver: str, one_set: OneSet, kind: str, value: int
) -> None:
    """A PURGESEG that CP refuses keeps nobody from unloading, and loading again works."""
    agent = warm_guest.agent
    agent.insmod("monreader").check()
    with armed(warm_guest.control, Fault("diag64.purgeseg", kind, value)) as (rule,):
        agent.rmmod("monreader").check()
    assert rule.fired == 1
    (segment,) = warm_guest.control.execute("query-segments")["segments"]
    assert (segment["loaded"], segment["users"]) == (True, 1)  # the fault: nothing was done
    agent.insmod("monreader").check()
    one_set(warm_guest)
    agent.rmmod("monreader").check()
    (segment,) = warm_guest.control.execute("query-segments")["segments"]
    assert (segment["loaded"], segment["users"]) == (False, 0)
