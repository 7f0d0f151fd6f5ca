# SPDX-License-Identifier: MIT
"""The limit of open files: enough for an emulator and its clients."""

from __future__ import annotations

import resource

from zvmlab.base.errors import CannotRun

LEAST, USUAL = 64, 1024


def allow_descriptors() -> None:
    """Take as many as are usual, if that is allowed; CannotRun if no guest gets along with them.

    Programs that are started from then on may have as many.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = USUAL if hard == resource.RLIM_INFINITY else min(hard, USUAL)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    if soft != resource.RLIM_INFINITY and soft < LEAST:
        raise CannotRun(
            f"this process may have only {soft} files open, and needs {LEAST};"
            f" allow more with 'ulimit -n {USUAL}'"
        )
