# SPDX-License-Identifier: MIT
"""The README's two commands on the smallest system of each release of Debian.

``check_hosts.py --suite trixie`` clones this tree there, has an ordinary user without sudo be told what to
ask an administrator for, and runs ``make demo`` and ``make check`` as root.  Nothing is there before: QEMU is
built and kernels are fetched, which takes most of the time.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from minimal import STEP_SECONDS, USER, Machine, machine

from zvmlab.base.errors import ZvmlabError, exit_code
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE

SUITES = ("bookworm", "trixie", "sid")
# What the README expects to be there.
BEFORE = ("git", "make", "ca-certificates")
CLONE = "/srv/zvmlab"
TARGETS = {"demo": 2 * STEP_SECONDS, "check": 4 * STEP_SECONDS}
"""Targets of make, and the seconds that each may take."""
_SUMMARY = re.compile(r"=+ (\d+ passed.*) in .* =+")


def _clone(here: Machine) -> None:
    """This tree as it is committed; whoever looks may do so."""
    into = here.root / CLONE.lstrip("/")
    argv = ["git", "clone", "--quiet", "--no-hardlinks", str(TREE), str(into)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=STEP_SECONDS, check=False)
    if done.returncode:
        raise ZvmlabError(f"{TREE} cannot be cloned: {done.stderr.strip()}")


def _asks_for_packages(here: Machine) -> None:
    """Without root and sudo there is one line to hand to an administrator."""
    script = f"cd {CLONE}; make demo; echo ended with $?"
    said = here.run("asking make demo as a user", "sh", "-c", script, user=USER)
    asked = [line for line in said if "as root, run: apt-get install " in line]
    if len(asked) != 1 or not said[-1].startswith("ended with 2"):
        raise ZvmlabError(f"a user without sudo is not told what to do, but: {''.join(said[-5:])}")


def check(
    suite: str, targets: Sequence[str], tests: str, log: Path, progress: Progress
) -> list[str]:
    """What each target took and said; ZvmlabError if one fails."""
    found = []
    with machine(suite, log, progress) as here:
        apt = ("apt-get", "-q", "-y")
        here.run("renewing apt's lists", *apt, "update")
        here.run("installing git and make", *apt, "install", "--no-install-recommends", *BEFORE)
        _clone(here)
        _asks_for_packages(here)
        for target in targets:
            argv = ["make", "--no-print-directory", "-C", CLONE, target]
            argv += [f"TESTS={tests}"] if tests and target == "check" else []
            what = f"make {target} on {suite}"
            took, said = here.took(what, *argv, seconds=TARGETS[target])
            lines = [line.strip() for line in said]
            last = [match[1] for match in map(_SUMMARY.search, lines) if match] or lines[-1:]
            found.append(f"{suite}: make {target}: {took}: {'; '.join(last)}")
    return found


def main(words: Sequence[str]) -> None:
    """Check the releases that are asked for."""
    options = argparse.ArgumentParser(allow_abbrev=False)
    options.add_argument("--suite", choices=SUITES, action="append", help="default: all")
    options.add_argument("--target", choices=tuple(TARGETS), action="append", help="default: all")
    options.add_argument("--tests", default="", help="what make check takes as TESTS")
    options.add_argument("--build", type=Path, default=TREE / "build", metavar="FOLDER")
    given = options.parse_args(words)
    given.build.mkdir(parents=True, exist_ok=True)
    for suite in given.suite or SUITES:
        log = given.build.absolute() / f"check-host-{suite}.log"
        log.unlink(missing_ok=True)
        for line in check(suite, given.target or tuple(TARGETS), given.tests, log, Progress()):
            print(line, flush=True)


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:]), "make check-hosts"))
