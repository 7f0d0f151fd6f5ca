# SPDX-License-Identifier: MIT
"""Guests that rest between tests: Guest.rest() and Guest.wake()."""

from __future__ import annotations

import os
import time

import pytest

from zvmlab.guest.guest import Guest

SECONDS = 2.0
SECONDS_TO_READ = 300.0
# /proc/uptime counts hundredths.
GRAIN = 0.02


def up_seconds(guest: Guest) -> float:
    """How long the guest has been up, by its own clock."""
    return float(guest.agent.read_file("/proc/uptime").split()[0])


@pytest.mark.representative
@pytest.mark.first_kernel
def test_guest_does_not_notice_its_rest(warm_guest: Guest) -> None:
    # The host's clock is read before the guest's here, and behind it in the end.
    began, before = time.monotonic(), up_seconds(warm_guest)
    warm_guest.rest()
    time.sleep(SECONDS)
    warm_guest.wake()
    warm_guest.wake()  # harmless
    guest, host = up_seconds(warm_guest) - before, time.monotonic() - began
    if warm_guest.machine.clocks_stop:
        assert 0 <= guest <= host - SECONDS + GRAIN
    else:
        assert SECONDS - GRAIN <= guest, "clocks go on, and so did the guest"


@pytest.mark.full
@pytest.mark.representative
@pytest.mark.first_kernel
def test_guest_rests_for_long_in_the_midst_of_its_work(guest: Guest) -> None:
    """Hercules looks every 20 s for a CPU that does not wait, and executes nothing."""
    batch = guest.agent.worker("busy").batch()
    batch.read(batch.open("/dev/urandom", os.O_RDONLY), 4 << 20)
    pending = batch.start()
    guest.rest()
    time.sleep(45)
    guest.wake()
    assert len(pending.result(SECONDS_TO_READ)[1].data) == 4 << 20
