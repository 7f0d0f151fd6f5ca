# SPDX-License-Identifier: MIT
"""The guest's own network."""

from __future__ import annotations

import pytest

from zvmlab.guest.guest import Guest


@pytest.mark.parametrize("size", [56, 1400])
@pytest.mark.not_debug("it has no IP", lacks="INET")
@pytest.mark.zvmlab(busybox=True)
def test_ping_of_the_guest_itself(guest: Guest, size: int) -> None:
    """Linux computes checksums with vector instructions since 6.12."""
    run = guest.agent.run
    run(["/bin/busybox", "ifconfig", "lo", "127.0.0.1", "up"]).check()
    ping = ["/bin/busybox", "ping", "-c", "3", "-W", "10", "-s", str(size), "127.0.0.1"]
    done = run(ping, timeout=60).check()
    assert b"3 packets transmitted, 3 packets received, 0% packet loss" in done.stdout
