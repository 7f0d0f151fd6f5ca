# SPDX-License-Identifier: MIT
"""monreader where the kernel has no memory."""

from __future__ import annotations

import errno

import pytest
from failing import Failing, void

from zvmlab.guest.guest import Guest
from zvmlab.monitor.monitor import DEVICE
from zvmlab.monitor.steps import service_paths


@pytest.mark.requirement("M37")
def test_open_without_memory_is_enomem(driver_guest: Guest) -> None:
    """Each allocation fails once; nothing is connected then, and the device can be opened."""
    guest = driver_guest
    guest.agent.modprobe("monreader").check()
    worker = guest.agent.worker("opener")
    failing = Failing(guest)
    errors = failing.each(
        worker,
        lambda batch: batch.open(DEVICE),
        lambda result: void(worker.close(result.ret).check()),
    )
    assert set(errors) == {0, errno.ENOMEM, errno.EFAULT}
    assert errors[errno.ENOMEM] > 0
    assert service_paths(guest) == []
    guest.agent.close(guest.agent.open(DEVICE).check()).check()
    guest.agent.rmmod("monreader").check()
