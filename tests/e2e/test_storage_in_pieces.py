# SPDX-License-Identifier: MIT
"""Storage in several pieces: what a kernel wants to have whole, it gets smaller."""

from __future__ import annotations

from pathlib import Path

import pytest

from zvmlab.base.errors import GuestPanic
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

# Of the first piece, the kernel and its log leave no 16 MiB, and the others have less.
PIECES = "0.54M 100M.15M 120M.15M 140M.15M 160M.15M"


@pytest.mark.not_debug("what it has of its own does not leave room for the log", kernels=("debug",))
@pytest.mark.kernel_defect(
    57,
    "the depot of stacks initializes buckets behind the end of its table",
    seen=r"the guest's kernel reported an oops .*Unable to handle kernel pointer dereference.*",
    raises=GuestPanic,
    kernels=("source:7.2:fuzz",),
)
def test_kernel_starts_in_small_pieces_of_storage(zvmlab_kernel: str, zvmlab_dir: Path) -> None:
    config = GuestConfig(
        kernel=zvmlab_kernel,
        storage=PIECES,
        segments=(),
        command_line="nokaslr log_buf_len=8M earlyprintk",
    )
    with Guest(config, zvmlab_dir) as guest:
        guest.boot()
        assert "Linux version" in "\n".join(record.text for record in guest.agent.dmesg())
