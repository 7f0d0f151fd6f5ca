# SPDX-License-Identifier: MIT
"""What may be left behind in a guest that is used again."""

from __future__ import annotations

from zvmlab.guest.guest import Guest


def cleanliness(guest: Guest) -> dict[str, object]:
    """Modules, busy workers, user IDs, faults, the monitor: equal means nothing is left.

    A crash is raised, also one that is on its way.
    """
    guest.settle()
    lines = guest.agent.read_file("/proc/modules").splitlines()
    ask = guest.control.execute
    monitor = ask("query-monitor")
    return {
        "modules": sorted(line.split()[0] for line in lines),
        "busy workers": guest.agent.hello().busy,
        "user IDs": sorted(user["name"] for user in ask("query-users")["users"]),
        "faults": ask("query-faults")["rules"],
        "application data": ask("query-appldata")["buffers"],
        **{f"monitor {part}": monitor[part] for part in ("sample", "event", "users")},
    }
