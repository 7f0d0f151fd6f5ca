# SPDX-License-Identifier: MIT
"""``make fuzz-mutants``: does the fuzzer find mistakes in the read machine?

Each mutant is a copy of driver/ with one plausible mistake.  It must be found by the committed
corpus or by fuzzing from nothing, within a time; the table says how long either took.

``mutants.py --build DIR [--seconds N] [NAME…]``
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.errors import (
    EXIT_FAILED,
    EXIT_PASS,
    Timeout,
    UsageError,
    ZvmlabError,
    exit_code,
)

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DRIVER = ROOT / "driver"
FILES = (
    *(DRIVER / name for name in ("mon_stream.c", "mon_stream.h", "mon_types.h")),
    *(HERE / name for name in ("machine_read.c", "machine_read.h", "read.h")),
)
LED = ("-fsanitize-coverage=inline-8bit-counters,pc-table",)
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
BUILD_SECONDS = 300
SEED = 1
FOUND = b"Test unit written to "
"""What libFuzzer says of a finding; nothing else that ends it counts."""


@dataclass(frozen=True)
class Mutant:
    """One mistake: in which file what stands in place of what."""

    name: str
    what: str
    right: str
    wrong: str
    file: str = "mon_stream.c"


MUTANTS = (
    Mutant(
        "short-records",
        "the last byte of records is not read",
        "s->stop = offset_of(s, get_be32(&s->element[8])) + 1;",
        "s->stop = offset_of(s, get_be32(&s->element[8]));",
    ),
    Mutant(
        "records-end",
        "records may end one byte behind the segment",
        "if (last > s->end)",
        "if (last > (u64)s->end + 1)",
    ),
    Mutant(
        "records-begin",
        "records may begin before the segment",
        "\tif (first < s->start)\n\t\treturn MON_DEFECT_RECORDS_BEGIN;\n",
        "",
    ),
    Mutant(
        "one-byte",
        "records of one byte are taken for none",
        "if (last < first)",
        "if (last <= first)",
    ),
    Mutant(
        "domains",
        "both domain bytes must be set, not one of them",
        "if (!s->element[1] && !s->element[2])",
        "if (!s->element[1] || !s->element[2])",
    ),
    Mutant(
        "re-read",
        "where records begin is read from the segment again, behind the check",
        "s->at = offset_of(s, get_be32(&s->element[4]));",
        "s->at = offset_of(s, get_be32(s->segment + offset_of(s, s->queue[s->head].first) + "
        "s->index * MON_ELEMENT_SIZE + 4));",
    ),
    Mutant(
        "area-32",
        "the length of the control area has 32 bits",
        "if (((u64)note->last - note->first + 1) % MON_ELEMENT_SIZE)",
        "if ((u32)(note->last - note->first + 1) % MON_ELEMENT_SIZE)",
    ),
    Mutant(
        "area-end",
        "the control area may end behind the segment",
        "if (note->last > s->end)",
        "if (note->first > s->end)",
    ),
    Mutant(
        "limit-late",
        "the limit is reached one message late",
        "if (s->count < s->limit)",
        "if (s->count <= s->limit)",
    ),
    Mutant(
        "overflow-early",
        "EOVERFLOW goes by the newest message instead of the one that was read",
        "s->overflow = s->queue[s->head].full;",
        "s->overflow = s->queue[(s->head + s->count - 1) % MON_RING].full;",
        "mon_stream.h",
    ),
    Mutant(
        "overflow-lost",
        "EOVERFLOW waits for the next message",
        "if (s->overflow) {",
        "if (s->overflow && s->count) {",
    ),
    Mutant(
        "overflow-unseen",
        "poll does not tell of an overflow that is due",
        "if (s->count || READ_ONCE(s->overflow))",
        "if (s->count)",
    ),
    Mutant(
        "sever-first",
        "a sever hides what is queued",
        "\tif (!smp_load_acquire(&s->count))\n",
        "\tif (!smp_load_acquire(&s->count) || severed)\n",
    ),
    Mutant(
        "sever-late",
        "a sever behind the reply that CP took makes the set fail",
        "if (!replied)",
        "if (!replied || s->severed)",
        "mon_stream.h",
    ),
    Mutant(
        "limit-none",
        "a granted limit of 0 is taken for no limit",
        "s->limit = granted ? granted : 1;",
        "s->limit = granted ? granted : MON_LIMIT;",
    ),
    Mutant(
        "open-keeps",
        "an overflow that is due outlives the close",
        "\ts->overflow = false;\n\ts->severed",
        "\ts->severed",
    ),
    Mutant(
        "ring",
        "the queue's ring is one longer at its end than at its begin",
        "s->head = (s->head + 1) % MON_RING;",
        "s->head = s->head == MON_RING ? 0 : s->head + 1;",
        "mon_stream.h",
    ),
    Mutant(
        "no-room",
        "a message that finds the queue full is put into it",
        "bool fits = s->count < MON_LIMIT;",
        "bool fits = s->count <= MON_LIMIT;",
    ),
    Mutant(
        "invalid-bytes",
        "the bytes of a malformed set are not counted",
        "\ts->counts.bytes += s->bytes;\n\tif (state == MON_INVALID) {",
        "\tif (state != MON_INVALID)\n\t\ts->counts.bytes += s->bytes;\n"
        "\tif (state == MON_INVALID) {",
        "mon_stream.h",
    ),
    Mutant(
        "fault-moves",
        "the reader counts a span as read of which a part was copied: EFAULT loses it",
        "if (done + span.len > request->writable)",
        "if (done + span.len > request->writable && (mon_stream_copied(s, &span), true))",
        "machine_read.c",
    ),
    Mutant(
        "end-with-bytes",
        "a read that has bytes ends the set, too",
        "if (size && !done)",
        "if (size)",
        "mon_stream.h",
    ),
    Mutant(
        "cut",
        "records are cut short behind their element, too",
        "\t\tif (done)\n\t\t\tbreak;\n",
        "",
        "mon_stream.h",
    ),
    Mutant(
        "empty-read",
        "a read of no bytes begins a set",
        "\t\tif (size)\n\t\t\treturn MON_NEXT_SET;\n\t\tbreak;",
        "\t\treturn MON_NEXT_SET;",
        "mon_stream.h",
    ),
)


class Trial:
    """One mutant, in a folder of its own; what is not mutated comes from the build folder."""

    def __init__(self, mutant: Mutant, build: Path) -> None:
        self.mutant = mutant
        self._built = build
        self._folder = build / "mutants" / mutant.name
        self._program = self._folder / "fuzzer"

    def make(self) -> None:
        """Copies, spoils, compiles."""
        shutil.rmtree(self._folder, ignore_errors=True)
        (self._folder / "corpus").mkdir(parents=True)
        for path in FILES:
            shutil.copy(path, self._folder)
        spoiled = self._folder / self.mutant.file
        text = spoiled.read_text()
        if text.count(self.mutant.right) != 1:
            raise ZvmlabError(
                f"{self.mutant.file} does not have once what mutant {self.mutant.name} changes: "
                "bring tests/fuzz/mutants.py up to date"
            )
        spoiled.write_text(text.replace(self.mutant.right, self.mutant.wrong))
        objects = []
        for source in ("mon_stream.c", "machine_read.c"):
            target = str((self._folder / source).with_suffix(".o"))
            self._compile([*LED, "-c", str(self._folder / source), "-o", target])
            objects.append(target)
        for name in ("fuzz_mon_stream.o", "model_mon_stream.o"):
            objects.append(str(self._built / "tests/fuzz" / name))
        self._compile(["-fsanitize=fuzzer", *objects, "-o", str(self._program)])

    def _compile(self, arguments: list[str]) -> None:
        argv = [os.environ.get("FUZZ_CC", "clang"), "-std=gnu11", "-g", "-O2", *SANITIZE]
        self._run([*argv, *arguments], BUILD_SECONDS).check_returncode()

    def _run(self, argv: list[str], limit: float) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(argv, cwd=self._folder, timeout=limit, stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            raise Timeout(f"{argv[0]} did not end within {limit:.0f} s") from None

    def _finds(self, arguments: list[str], limit: float) -> bool:
        done = self._run([str(self._program), *arguments], limit)
        if done.returncode and FOUND not in done.stderr:
            raise ZvmlabError(f"{self._program} failed, but kept no input")
        return done.returncode != 0

    def by_corpus(self) -> bool:
        """Does the committed corpus find it?"""
        return self._finds(["-runs=0", str(ROOT / "build/inputs/mon_stream")], BUILD_SECONDS)

    def from_nothing(self, seconds: int) -> float | None:
        """Seconds until a fuzzer that knows no input finds it; None if it does not."""
        limits = [f"-max_total_time={seconds}", "-timeout=10", "-max_len=84", "-len_control=0"]
        began = time.monotonic()
        if not self._finds([*limits, f"-seed={SEED}", "corpus"], seconds + BUILD_SECONDS):
            return None
        return time.monotonic() - began


def _run(args: argparse.Namespace) -> int:
    result = EXIT_PASS
    unknown = set(args.names) - {mutant.name for mutant in MUTANTS}
    if unknown:
        raise UsageError(f"there is no mutant {', '.join(sorted(unknown))}")
    for mutant in MUTANTS:
        if args.names and mutant.name not in args.names:
            continue
        trial = Trial(mutant, args.build.resolve())
        trial.make()
        by_corpus, seconds = trial.by_corpus(), trial.from_nothing(args.seconds)
        corpus = "corpus finds it" if by_corpus else "NOT in the corpus"
        nothing = f"NOT in {args.seconds} s" if seconds is None else f"{seconds:5.1f} s"
        print(f"{mutant.name:16} {corpus}  {nothing}  {mutant.what}", flush=True)
        if not by_corpus or seconds is None:
            result = EXIT_FAILED
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(description="Does the fuzzer find mistakes?")
    parser.add_argument("--build", type=Path, required=True, help="folder with the programs")
    parser.add_argument("--seconds", type=int, default=60, help="for each, from nothing")
    parser.add_argument("names", nargs="*", metavar="NAME", help="mutants; without one, all")
    args = parser.parse_args(argv)
    return exit_code(lambda: _run(args), "mutants")


if __name__ == "__main__":
    sys.exit(main())
