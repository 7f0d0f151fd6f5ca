# SPDX-License-Identifier: MIT
"""Functions of the kernel's that fail under a driver: what it has begun is undone, once.

Debian's kernels have no fault injection.  A module of the tests lets one call return an error.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from test_dcssblk import SEGMENTS, attempt, loaded
from vmlogrdr_lab import DIRECTORY
from zvmlab.guest.guest import Guest

SOURCE = Path(__file__).parent / "modules" / "failcall"
MODULE = "/tmp/failcall.ko"
FAILED = "/sys/module/failcall/parameters/failed"
BLOCK, LOGRDR = "dcssblk", "vmlogrdr"
# What kzalloc() of a constant size calls, in 6.1 and later.
ALLOCATORS = ("kmalloc_trace", "__kmalloc_cache_noprof")
WITH_SEGMENTS = pytest.mark.zvmlab(segments=SEGMENTS, modules=(BLOCK,), crashes=("panic",))
WITH_RECORDS = pytest.mark.zvmlab(
    modules=(LOGRDR,), cp={"directory": DIRECTORY}, crashes=("panic",)
)
pytestmark = pytest.mark.not_debug("it makes allocations fail itself")
Fails = Callable[..., contextlib.AbstractContextManager[None]]


@pytest.fixture
def fails(guest: Guest, built_module: Callable[..., Path]) -> Fails:
    """A block in which the n-th call that a module makes of a function returns *result*."""
    guest.agent.write_file(MODULE, built_module(SOURCE).read_bytes(), 0o600)

    @contextlib.contextmanager
    def failing(
        caller: str, names: Sequence[str], result: int = -errno.ENOMEM, nth: int = 1
    ) -> Iterator[None]:
        # A kernel has one of the names.
        for name in names:
            params = {"function": name, "caller": caller, "result": result, "nth": nth}
            error = guest.agent.insmod(MODULE, params).errno
            if error == errno.EOPNOTSUPP:
                pytest.skip("the kernel has no kprobes")
            if error == 0:
                break
        else:
            raise AssertionError(f"the kernel has none of the functions {', '.join(names)}")
        yield
        assert int(guest.agent.read_file(FAILED)) == 1, "the call did not come"
        guest.agent.rmmod("failcall").check()

    return failing


@WITH_SEGMENTS
@pytest.mark.requirement("B11")
@pytest.mark.kernel_defect(
    4,
    "dcssblk: a segment stays loaded when there is no memory for its disk",
    seen=r"assert \{'MINE': False\} == \{\}",
)
def test_segment_is_given_back_when_its_disk_has_no_memory(guest: Guest, fails: Fails) -> None:
    """The first thing that is allocated describes the segment, the second one the disk."""
    assert guest.agent.insmod(BLOCK).errno == 0
    with fails(BLOCK, ALLOCATORS, result=0, nth=2):
        assert attempt(guest, "add", "MINE") == errno.ENOMEM
    assert loaded(guest) == {}


@WITH_SEGMENTS
@pytest.mark.requirement("B11")
@pytest.mark.kernel_defect(
    5, "dcssblk: a disk that could not be added keeps its name", seen=r"assert 17 == 0"
)
def test_disk_that_could_not_be_added_can_be_added_later(guest: Guest, fails: Fails) -> None:
    """Its name is free again, and it keeps no segment."""
    assert guest.agent.insmod(BLOCK).errno == 0
    with fails(BLOCK, ["device_add_disk"]):
        assert attempt(guest, "add", "MINE") == errno.ENOMEM
    assert loaded(guest) == {}
    assert attempt(guest, "add", "MINE") == 0
    assert loaded(guest) == {"MINE": False}


@WITH_RECORDS
@pytest.mark.requirement("L22")
@pytest.mark.kernel_defect(
    11, "vmlogrdr: a load that fails is cleaned up twice", seen=r"assert 1 == 0"
)
def test_driver_that_could_not_be_registered_is_not_unregistered(
    guest: Guest, fails: Fails
) -> None:
    """The load fails, and the next one does not."""
    since = guest.agent.log_position()
    with fails(LOGRDR, ["driver_register"]):
        assert guest.agent.insmod(LOGRDR).errno == errno.ENOMEM
    lines = [line.text for line in guest.agent.dmesg(since)]
    assert lines.count("Unexpected driver unregister!") == 0
    assert guest.agent.insmod(LOGRDR).errno == 0
