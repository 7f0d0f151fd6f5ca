# SPDX-License-Identifier: MIT
"""``make kvm-unit-tests``: kvm-unit-tests' s390x programs in Debian's QEMU and in ours.

    kvm_unit_tests.py --source DIR --build build/kvm-unit-tests [TEST…]

The programs are compiled from a source tree of the user's, outside of it.  Each runs in both
emulators with the same machine.  A result of ours that differs is a failure, unless it is better.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import unittests
from machine import Machine, Variant, variants
from results import Differences, End, Run, compare
from unittests import Case
from zvmlab.base.cache import digest
from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, CannotRun, UsageError, ZvmlabError, exit_code
from zvmlab.builder.buildstep import log_tail, run_step
from zvmlab.builder.qemubuild import build_qemu

STOCK = Path("/usr/bin/qemu-system-s390x")
PREFIX = "s390x-linux-gnu-"
_SECONDS = 1800
# By test, how the lines begin that fail in ours and not in Debian's QEMU.  At present there are none.
KNOWN: dict[str, tuple[str, ...]] = {}


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--source", required=True, help="source tree of kvm-unit-tests")
    parser.add_argument("--build", type=Path, required=True, help="folder for what is made")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="these tests (default: all)")
    return parser.parse_args(argv)


def compile_programs(source: Path, into: Path) -> None:
    """Compile outside of the source tree what can be compiled."""
    into.mkdir(parents=True, exist_ok=True)
    log = into / "build.log"
    log.unlink(missing_ok=True)
    what = "compiling kvm-unit-tests"
    configure = [str(source / "configure"), "--arch=s390x", f"--cross-prefix={PREFIX}"]
    deque(run_step(what, configure, into, log, _SECONDS), maxlen=0)
    # Some may need what is not here; which ones are there is looked at later.
    with contextlib.suppress(ZvmlabError):
        make = ["make", "-k", "directories", "test_cases"]
        deque(run_step(what, make, into, log, _SECONDS), maxlen=0)
    if not any(into.glob("s390x/*.elf")):
        raise CannotRun(f"no program of kvm-unit-tests was compiled:\n{log_tail(log)}")


@dataclass(frozen=True)
class Pair:
    """A test as it ran in both."""

    variant: Variant
    theirs: Run
    ours: Run
    found: Differences

    def report(self) -> str:
        """A line, and one for each difference."""
        lines = f"{self.variant}: {len(self.theirs.lines)} lines, "
        if self.theirs.end is End.LIMIT and self.ours.end is End.LIMIT:
            lines += "does not end in either, "
        words = [f"{len(self.found.worse)} differ"] if self.found.worse else []
        words += [f"{len(self.found.known)} known to differ"] if self.found.known else []
        words += [f"{len(self.found.better)} better"] if self.found.better else []
        text = ", ".join(words or ["same"])
        more = [f"    differs: {what}" for what in self.found.worse]
        more += [f"    known: {what}" for what in self.found.known]
        more += [f"    better: {what}" for what in self.found.better]
        return "\n".join([lines + text, *more])


def run_both(variant: Variant, program: Path, ours: Path, folder: Path) -> Pair:
    """One after the other: both have the machine to themselves."""
    options = variant.options(program.absolute())
    runs = [
        Machine(emulator, options, variant.test.seconds, (folder / name / variant.label)).run()
        for name, emulator in (("debian", STOCK), ("ours", ours))
    ]
    return Pair(
        variant, runs[0], runs[1], compare(runs[0], runs[1], KNOWN.get(variant.test.name, ()))
    )


def _chosen(tests: list[Case], names: list[str]) -> list[Case]:
    known = {test.name for test in tests}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no test {name!r}; the list has {', '.join(sorted(known))}")
    return [test for test in tests if not names or test.name in names]


def summary(pairs: Sequence[Pair], left_out: Sequence[str]) -> str:
    """What ran, and what did not."""
    tests = len({pair.variant.test.name for pair in pairs})
    lines = sum(len(pair.theirs.lines) for pair in pairs)
    worse = sum(len(pair.found.worse) for pair in pairs)
    better = sum(len(pair.found.better) for pair in pairs)
    known = sum(len(pair.found.known) for pair in pairs)
    text = f"{tests} tests, {len(pairs)} runs in each emulator, {lines} lines: "
    text += f"{worse} differ, {known} are known to differ, {better} are better"
    return "\n".join([text, *(f"not run: {what}" for what in left_out)])


def check(args: argparse.Namespace) -> int:
    """Compile, run, compare; 1 if a result differs."""
    if not args.source:
        raise UsageError(
            "no source tree given; say make kvm-unit-tests SOURCE=DIR, where DIR is one of"
            " kvm-unit-tests"
        )
    source = Path(args.source).absolute()
    tests = _chosen(unittests.read(source), args.tests)
    if not os.access(STOCK, os.X_OK):
        raise CannotRun(f"{STOCK} is missing; install the Debian package qemu-system-misc")
    ours = build_qemu()
    programs = args.build / f"programs-{digest(str(source))}"
    compile_programs(source, programs)
    pairs, left_out = [], []
    for test in tests:
        program = programs / "s390x" / test.file
        reason = test.why_not() or ("" if program.exists() else "was not compiled")
        if reason:
            left_out.append(f"{test.name}: {reason}")
            continue
        for variant in variants(test):
            pairs.append(run_both(variant, program, ours, args.build.absolute()))
            print(pairs[-1].report(), flush=True)
    print(summary(pairs, left_out))
    return EXIT_FAILED if any(pair.found.worse for pair in pairs) else EXIT_PASS


def main(argv: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    args = arguments(argv)
    return exit_code(lambda: check(args), "kvm-unit-tests")


if __name__ == "__main__":
    sys.exit(main())
