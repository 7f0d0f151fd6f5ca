# SPDX-License-Identifier: MIT
"""Which release of the kernel a guest runs, for what differs between releases."""

from __future__ import annotations

import re

from zvmlab.guest.guest import Guest


def release(guest: Guest) -> tuple[int, ...]:
    """The release: 6.12.107+deb13-s390x is (6, 12, 107); bookworm's third number is 0."""
    text = guest.agent.hello().release
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])
