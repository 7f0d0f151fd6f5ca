# SPDX-License-Identifier: MIT
"""taskmon and dmmon: names of options are written out.  monread has tests of its own."""

from __future__ import annotations

import pytest

from monread_tool import build_tool, run

EXIT_USAGE = 2


@pytest.mark.parametrize(
    ("tool", "words", "said"),
    [
        ("taskmon", "get --inter 1s", "'--inter' (write --interval)"),
        ("taskmon", "get --pid 1 --inter=1s", "'--inter' (write --interval)"),
        ("taskmon", "top --bat", "'--bat' (write --batch)"),
        ("taskmon", "top --form json", "'--form' (write --format)"),
        ("taskmon", "run --out file -- true", "'--out' (write --output)"),
        ("taskmon", "listen --dur 1 true", "'--dur' (write --duration)"),
        ("taskmon", "listen --record --dur --dur 1", "'--dur' (write --duration)"),
        ("taskmon", "replay file --form json", "'--form' (write --format)"),
        ("taskmon", "export --pass file", "'--pass' (write --passwords)"),
        ("taskmon", "cgroup --hel", "'--hel' (write --help)"),
        ("taskmon", "status --us", "'--us' (write --usage)"),
        ("dmmon", "watch device --inter 1s", "'--inter' (write --interval)"),
        ("dmmon", "watch --to 3 device", "'--to' (write --top)"),
        ("dmmon", "list --all", "'--all' (write --all-devices)"),
        ("dmmon", "print device --form csv", "'--form' (write --format)"),
        ("dmmon", "export --text file", "'--text' (write --textfile)"),
    ],
)
def test_abbreviated_names_are_refused(tool: str, words: str, said: str) -> None:
    """Before anything is asked of the kernel."""
    done = run(build_tool(tool), *words.split())
    command = words.split()[0]
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    assert done.stderr == f"{tool} {command}: abbreviated option: {said}\n"
