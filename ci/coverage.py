# SPDX-License-Identifier: MIT
"""Measure the coverage of unit tests, or say again what was found when all was as it is now.

``coverage.py --options OPTIONS --measure COMMAND --first LINE --text FILE PROGRAM…``; programs as units.py
takes them.
If the gate was passed, the cache keeps the tables beside a checksum of all that goes into all programs,
their surroundings (units.py, unit_sources.py) and gcovr.  What counts lines is compiled without
sanitizers, so that nothing of what units.py remembers is used.

Exit code: that of COMMAND.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import subprocess
import sys
from pathlib import Path

import unit_packages
import units
from zvmlab.base.decided import keep, recall
from zvmlab.base.errors import exit_code


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="measure the coverage of unit tests")
    parser.add_argument("--again", action="store_true", help="measure it whatever is known")
    parser.add_argument("--options", required=True, help="compiler and options that make was given")
    parser.add_argument("--measure", required=True, help="the command that measures it")
    parser.add_argument("--text", type=Path, required=True, help="gcovr's table, written by it")
    parser.add_argument("--first", required=True, help="the line with which its tables begin")
    parser.add_argument("--reads", type=Path, action="append", default=[])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM:SOURCE,…[=INPUTS]")
    return parser.parse_args()


def _state(options: argparse.Namespace) -> str | None:
    """Checksum of all that the tables depend on; None if that cannot be known."""
    sources = units.sources_of(options.options)
    if sources is None:
        return None
    around = units.surroundings(options.reads)
    tests = map(units.Test.named, options.programs)
    parts = [test.checksum(around, [sources.checksum(test.sources)]) for test in tests]
    parts += unit_packages.with_all_they_need(["gcovr"])
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _measure(options: argparse.Namespace, state: str | None) -> int:
    argv = shlex.split(options.measure)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, errors="replace") as running:
        assert running.stdout is not None
        said = []
        for line in running.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            said.append(line)
    if running.returncode == 0 and state:
        table = options.text.read_text(encoding="utf-8")
        tables = "".join(said[said.index(f"{options.first}\n") :])
        keep("coverage", state[:16], state, {"said": tables, "table": table})
    return running.returncode


def main() -> int:
    """Return the exit code."""
    options = _options()
    state = _state(options)
    known = None if options.again else recall("coverage", (state or "")[:16], state)
    if known is None:
        return _measure(options, state)
    options.text.parent.mkdir(parents=True, exist_ok=True)
    options.text.write_text(known["table"], encoding="utf-8")
    sys.stdout.write(known["said"])
    print("coverage: not measured again: all that goes into it is as it was (AGAIN=1 measures it)")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code(main, "coverage"))
