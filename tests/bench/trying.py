# SPDX-License-Identifier: MIT
"""What a trial of a one-line change costs: of monreader.c on Debian's three kernels, of iucv.c on one tree.

Time is CPU time of the command with all that it starts: both sides and their tests for each kernel.  What
is known of base is in the cache, as after any trial.
"""

from __future__ import annotations

import resource
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmark import Benchmark, Budget
from zvmlab.base.errors import EXIT_PASS, ZvmlabError
from zvmlab.base.tree import TREE

TRIALS = 2
SECONDS = 1800


class Trial(NamedTuple):
    """A change of one line."""

    name: str
    kernels: tuple[str, ...]
    change: str
    """The number lets each trial compile a file that is in no cache."""
    budget: Budget


MODULE = Trial(
    "one line of monreader.c, 3 kernels",
    ("bookworm", "trixie", "sid"),
    """\
--- a/drivers/s390/char/monreader.c
+++ b/drivers/s390/char/monreader.c
@@ -385,7 +385,7 @@

 	if (!monmsg->pos)
 		monmsg->pos = mon_mca_start(monmsg) + monmsg->mca_offset;
-	if (mon_check_mca(monmsg))
+	if (unlikely(mon_check_mca(monmsg))) /* {number} */
 		goto reply;

 	/* read monitor control element (12 bytes) first */
""",
    Budget(60, True),
)
BUILT_IN = Trial(
    "one line of iucv.c, a tree with KASAN",
    ("source:7.2:fuzz",),
    """\
--- a/net/iucv/iucv.c
+++ b/net/iucv/iucv.c
@@ -1028,5 +1028,5 @@

 	preempt_disable();
-	if (cpumask_empty(&iucv_buffer_cpumask)) {{
+	if (unlikely(cpumask_empty(&iucv_buffer_cpumask))) {{ /* {number} */
 		rc = -EIO;
 		goto out;
""",
    Budget(300, True),
)


def _seconds(trial: Trial, number: str) -> float:
    """CPU seconds of it."""
    kernels = [word for kernel in trial.kernels for word in ("--kernel", kernel)]
    with tempfile.TemporaryDirectory(prefix="zvmlab-bench-") as folder:
        series = Path(folder) / "change.diff"
        series.write_text(trial.change.format(number=number), encoding="ascii")
        argv = [str(TREE / "zvmlab"), "try", str(series), *kernels]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != EXIT_PASS:
        raise ZvmlabError(f"the trial ended with {done.returncode}: {done.stdout}{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _measured(trial: Trial) -> Benchmark:
    """One trial is not counted: it builds what is missing, and finds out what base shows."""
    found = Benchmark("try", f"zvmlab try, {trial.name}: CPU time", "s", trial.budget)
    _seconds(trial, "0")
    # A unique number, so that a later run does not find what this one has built.
    with tempfile.NamedTemporaryFile() as file:
        found.values = [_seconds(trial, f"{Path(file.name).name} {n}") for n in range(TRIALS)]
    return found


def measure() -> list[Benchmark]:
    """A module, and a part of the kernel itself."""
    return [_measured(MODULE), _measured(BUILT_IN)]
