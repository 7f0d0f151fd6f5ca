# SPDX-License-Identifier: MIT
"""Tests beside busy programs, again and again, in random order: ``make check-stress``.

Each round runs a half of what `make check` runs in guests, chosen and ordered by its seed.  What
fails is told with the seed, which repeats it: ``make check-stress SEED=n ROUNDS=1``.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from types import FrameType

ROUNDS = 3
# As a shell says it.
INTERRUPTED = 128 + signal.SIGINT
_SPIN = "while True: pass"


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """So many programs that do nothing but compute."""
    with contextlib.ExitStack() as undo:
        for _ in range(count):
            # What it says of Ctrl-C tells nobody anything.
            program = subprocess.Popen([sys.executable, "-c", _SPIN], stderr=subprocess.DEVNULL)
            undo.callback(program.wait)
            undo.callback(program.kill)
        yield


class Interrupted:
    """Ctrl-C, which the tests have as well: they say what they have found, and no round follows."""

    def __init__(self) -> None:
        self.seen = False
        signal.signal(signal.SIGINT, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.seen:
            signal.default_int_handler(number, frame)
        self.seen = True


def rounds(command: Sequence[str], seed: int, count: int, interrupted: Interrupted) -> list[int]:
    """Run *command* with the seeds from *seed* on; those that failed."""
    failed = []
    for number in range(seed, seed + count):
        if interrupted.seen:
            break
        print(f"stress: seed {number}", flush=True)
        code = subprocess.run([*command, f"--random-half={number}"], check=False).returncode
        if code and not interrupted.seen:
            failed.append(number)
    return failed


def main() -> int:
    """The command; what follows -- runs the tests."""
    parser = argparse.ArgumentParser(description="Run tests beside busy programs.")
    parser.add_argument("--seed", type=int, help="of the first round (default: a random one)")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    load = 6 * len(os.sched_getaffinity(0))
    parser.add_argument("--load", type=int, default=load, help=f"busy programs (default: {load})")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    seed = random.randrange(10**6) if options.seed is None else options.seed
    interrupted = Interrupted()
    # Not beside them: it would take most of a round.  What cannot be built, the rounds will say.
    subprocess.run([*options.command, "-n", "0", "--build-only"], check=False)
    with busy(options.load):
        failed = rounds(options.command, seed, options.rounds, interrupted)
    for number in failed:
        print(f"stress: seed {number} failed; again: make check-stress SEED={number} ROUNDS=1")
    if interrupted.seen:
        print("stress: interrupted; what the last round has found stands above")
        return INTERRUPTED
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
