# SPDX-License-Identifier: MIT
"""Check what a test left behind in a guest that is used again.

The contents of a segment are not asked for: whoever relies on them stores them first.
"""

from __future__ import annotations

from zvmlab.guest.guest import Guest

# What people call the parts whose names in query-digests are others.
_NAMES = {
    "users": "user IDs",
    "appldata": "application data",
    "monitor-sample": "monitor sample",
    "monitor-event": "monitor event",
    "monitor-users": "monitor users",
}


def cleanliness(guest: Guest) -> dict[str, object]:
    """Modules, busy workers, user IDs, faults, segments, pages, the monitor: equal means nothing is left.

    A crash is raised, also one that is on its way.
    """
    found = guest.settle_again()
    digests = guest.control.execute("query-digests")
    return {
        "modules": guest.modules(found),
        "busy workers": guest.agent.hello().busy if found is None else found.busy,
        **{_NAMES.get(name, name): digest for name, digest in digests.items()},
    }
