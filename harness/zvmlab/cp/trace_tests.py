# SPDX-License-Identifier: MIT
"""Mark where each test begins in a shared trace: ``tests.jsonl`` beside the trace.

One line for each test, ``{"test": NAME, "begin": BYTES}``: so long was the trace then.
"""

from __future__ import annotations

import json
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.cp.tracefmt import read_part

_FILE = "tests.jsonl"
_MOST_BYTES = 64 << 20


def begin_test(trace: Path, test: str) -> None:
    """Say that *test* begins here; OSError if that cannot be written."""
    begin = trace.stat().st_size if trace.exists() else 0
    with open(trace.with_name(_FILE), "a", encoding="utf-8") as file:
        file.write(json.dumps({"test": test, "begin": begin}) + "\n")


def first_of(trace: Path, test: str) -> int:
    """The number of the first record of the last test whose name has *test* in it.

    UsageError if there is none, or no record after its beginning.
    """
    names = trace.with_name(_FILE)
    found = [(name, begin) for name, begin in _tests(trace, names) if test in name]
    if not found:
        raise UsageError(f"{names} has no test with {test!r} in its name")
    name, begin = found[-1]
    for record in read_part(trace, begin, trace.stat().st_size):
        return record.seq
    raise UsageError(f"{trace} has no record since {name} began")


def _tests(trace: Path, names: Path) -> list[tuple[str, int]]:
    try:
        with open(names, encoding="utf-8") as file:
            lines = file.read(_MOST_BYTES).splitlines()
    except FileNotFoundError:
        raise UsageError(
            f"{trace} is no trace of tests: there is no {_FILE} beside it; use --since"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{names} cannot be read: {error}") from None
    found = []
    for number, line in enumerate(lines, 1):
        try:
            said = json.loads(line)
            test, begin = said["test"], said["begin"]
        except (ValueError, TypeError, KeyError, RecursionError):
            test = begin = None
        if not isinstance(test, str) or type(begin) is not int or begin < 0:
            raise UsageError(f"{names}:{number} does not name a test and where it begins")
        found.append((test, begin))
    return found
