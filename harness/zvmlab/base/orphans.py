# SPDX-License-Identifier: MIT
"""Programs that end when we do, however we end.

    subprocess.Popen(ending_with_us(["qemu-system-s390x"]), start_new_session=True)

Should we die without a chance to end the program, the kernel kills it: setpriv(1) arms
PR_SET_PDEATHSIG before it becomes the program.  Our death before that is noticed by our process id,
which is the parent's no more.  The signal comes when the thread ends that has started the program
(prctl(2)).
"""

from __future__ import annotations

import os
from collections.abc import Sequence

_LAUNCH = ("setpriv", "--pdeathsig", "KILL", "--", "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"')
MISSING = "setpriv is missing; install the Debian package util-linux"


def ending_with_us(argv: Sequence[str], us: int | None = None) -> list[str]:
    """The command line that starts the program so; FileNotFoundError: setpriv is missing.

    *us*: the process that starts it, if it is another one.
    """
    return [*_LAUNCH, str(us or os.getpid()), *argv]
