# SPDX-License-Identifier: MIT
"""Check what a test left behind in a guest that is used again.

The contents of a segment are not asked for: whoever relies on them stores them first.
"""

from __future__ import annotations

from zvmlab.guest.guest import Guest


def cleanliness(guest: Guest) -> dict[str, object]:
    """Modules, busy workers, user IDs, faults, segments, pages, the monitor: equal means nothing is left.

    A crash is raised, also one that is on its way.
    """
    guest.settle_again()
    lines = guest.agent.read_file("/proc/modules").splitlines()
    ask = guest.control.execute
    monitor = ask("query-monitor")
    kept = ("name", "class", "users", "loaded", "exclusive")
    segments = ask("query-segments")["segments"]
    pages = ask("query-pages")
    return {
        "modules": sorted(line.partition(b" ")[0] for line in lines),
        "busy workers": guest.agent.hello().busy,
        "user IDs": sorted(user["name"] for user in ask("query-users")["users"]),
        "faults": ask("query-faults")["rules"],
        "segments": sorted([segment[name] for name in kept] for segment in segments),
        "pages": [pages["pages"], pages["faults"], len(pages["handshakes"])],
        "application data": ask("query-appldata")["buffers"],
        **{f"monitor {part}": monitor[part] for part in ("sample", "event", "users")},
    }
