# SPDX-License-Identifier: MIT
"""What a trial of a one-line change of monreader.c costs on Debian's three kernels.

Time is CPU time of the command with all that it starts: two modules and their tests for each kernel.  What
is known of base is in the cache, as after any trial.
"""

from __future__ import annotations

import resource
import subprocess
import tempfile
from pathlib import Path

from benchmark import Benchmark, Budget
from zvmlab.base.errors import EXIT_PASS, ZvmlabError
from zvmlab.base.tree import TREE

KERNELS = ("bookworm", "trixie", "sid")
TRIALS = 2
SECONDS = 1800
# The number lets each trial compile a file that is in no cache.
CHANGE = """\
--- a/drivers/s390/char/monreader.c
+++ b/drivers/s390/char/monreader.c
@@ -385,7 +385,7 @@

 	if (!monmsg->pos)
 		monmsg->pos = mon_mca_start(monmsg) + monmsg->mca_offset;
-	if (mon_check_mca(monmsg))
+	if (unlikely(mon_check_mca(monmsg))) /* {number} */
 		goto reply;

 	/* read monitor control element (12 bytes) first */
"""


def _seconds(number: str) -> float:
    """CPU seconds of a trial."""
    kernels = [word for kernel in KERNELS for word in ("--kernel", kernel)]
    with tempfile.TemporaryDirectory(prefix="zvmlab-bench-") as folder:
        series = Path(folder) / "change.diff"
        series.write_text(CHANGE.format(number=number), encoding="ascii")
        argv = [str(TREE / "zvmlab"), "try", str(series), *kernels]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != EXIT_PASS:
        raise ZvmlabError(f"the trial ended with {done.returncode}: {done.stdout}{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure() -> list[Benchmark]:
    """One trial is not counted: it builds what is missing, and finds out what base shows."""
    what = f"zvmlab try, one line of monreader.c, {len(KERNELS)} kernels: CPU time"
    found = Benchmark("try", what, "s", Budget(60, True))
    _seconds("0")
    # A unique number, so that a later run does not find the module of this one.
    with tempfile.NamedTemporaryFile() as file:
        found.values = [_seconds(f"{Path(file.name).name} {n}") for n in range(TRIALS)]
    return [found]
