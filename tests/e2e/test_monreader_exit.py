# SPDX-License-Identifier: MIT
"""The order in which unloading gives things back, and whether a program can get in between.

The order is asked of the kernel's function tracer.  In between is made to last:
CP answers the DIAGNOSE that gives back the segment with a program interruption,
which ends rmmod right there.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

import pytest

from zvmlab.agent.agent import Agent
from zvmlab.agent.wire import Request, Writer
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.guest import Guest
from zvmlab.monitor.monitor import DEVICE
from zvmlab.monitor.steps import service_paths

TRACING = "/sys/kernel/tracing"
STEPS = ("misc_deregister", "segment_unload", "iucv_unregister")
OPERATION_EXCEPTION = 1
FAULT_SECONDS = 60.0


@pytest.fixture
def steps(monreader: Guest) -> Iterator[Agent]:
    """The agent of a guest whose function tracer notes the steps of unloading."""
    agent = monreader.agent
    if "tracefs" not in agent.read_file("/proc/filesystems").decode().split():
        pytest.skip("this kernel has no function tracer")
    agent.mount("tracefs", TRACING, "tracefs").check()
    agent.write_file(f"{TRACING}/set_ftrace_filter", "\n".join(STEPS).encode() + b"\n")
    agent.write_file(f"{TRACING}/current_tracer", b"function")
    yield agent
    agent.write_file(f"{TRACING}/current_tracer", b"nop")
    agent.write_file(f"{TRACING}/set_ftrace_filter", b"\n")
    agent.umount(TRACING).check()


@pytest.mark.requirement("M35")
@pytest.mark.not_debug("it has no function tracer", lacks="FUNCTION_TRACER")
@pytest.mark.upstream_defect(
    7,
    "the segment is unloaded before the device is gone",
    seen="order: segment_unload misc_deregister iucv_unregister",
)
def test_device_goes_before_its_segment(steps: Agent) -> None:
    """Unloading removes the device first, so that nobody can need the segment any more."""
    steps.rmmod("monreader").check()
    lines = steps.read_file(f"{TRACING}/trace").decode().splitlines()
    steps.insmod("monreader").check()
    done = [line.split(": ")[1].split(" <-")[0] for line in lines if not line.startswith("#")]
    assert done == list(STEPS), f"order: {' '.join(done)}"


@pytest.fixture
def unloading(driver_guest: Guest) -> Agent:
    """The agent of a guest in which unloading has come to the segment, and no further."""
    agent = driver_guest.agent
    agent.insmod("monreader").check()
    fault = Fault("diag64.purgeseg", "pgm", OPERATION_EXCEPTION, name="MONDCSS")
    with armed(driver_guest.control, fault):
        # There will be no reply: the thread ends within the kernel.
        request = Writer().string("monreader").u32(os.O_NONBLOCK).payload()
        agent.worker("rmmod").start(
            Request.RMMOD, request, "unloading", FAULT_SECONDS, lambda reader: reader
        )
        driver_guest.control.wait_event("fault", FAULT_SECONDS, point=fault.point)
    modules = agent.read_file("/proc/modules").decode().splitlines()
    (module,) = [line.split() for line in modules if line.startswith("monreader ")]
    assert module[4] == "Unloading"
    return agent


# The oops is what makes the moment last.
STAYS = pytest.mark.zvmlab(crashes=("panic",))
OOPS = pytest.mark.not_debug("after an oops lockdep is off, and memory is lost")


@pytest.mark.requirement("M35")
@OOPS
@STAYS
@pytest.mark.upstream_defect(
    7, "the device is there when the segment is not any more", seen="assert 19 == 2"  # ENODEV
)
def test_there_is_no_device_when_the_segment_goes(unloading: Agent) -> None:
    """When CP is asked to take back the segment, neither node nor device are left."""
    assert unloading.open(DEVICE).errno == errno.ENOENT
    assert unloading.open("/sys/class/misc/monreader").errno == errno.ENOENT


@pytest.mark.requirement("M35")
@OOPS
@STAYS
def test_nobody_opens_a_device_that_is_being_unloaded(
    unloading: Agent, driver_guest: Guest
) -> None:
    """Open fails, node or not; CP hears nothing of it."""
    assert unloading.open(DEVICE).errno in (errno.ENODEV, errno.ENOENT)
    assert driver_guest.control.execute("query-monitor")["users"] == []
    assert service_paths(driver_guest) == []
