# SPDX-License-Identifier: MIT
"""Virtual disks of the guest (MDISK … V-DISK in its directory), from outside.

    write(guest.control, 0x200, 0, label + data)
    assert read(guest.control, 0x200, 8, 2) == data
"""

from __future__ import annotations

from dataclasses import dataclass

from zvmlab.cp.control import Control, decode

BLOCK = 512
_MOST = 8192
"""Blocks of one request."""


@dataclass(frozen=True)
class DiskRequest:
    """A request of the guest's, of whose end it has still to be told."""

    request: int
    device: int
    blocks: int
    waits: bool
    """It is not carried out yet."""
    status: int


def write(control: Control, device: int, block: int, data: bytes) -> None:
    """Write whole blocks of 512 bytes from one of them on; of a disk of any mode."""
    step = _MOST * BLOCK
    for at in range(0, len(data), step):
        part = data[at : at + step]
        control.execute("disk-write", device=device, block=block + at // BLOCK, data=part)


def read(control: Control, device: int, block: int, blocks: int) -> bytes:
    """Read this number of blocks of 512 bytes."""
    parts = []
    for at in range(0, blocks, _MOST):
        answer = control.execute(
            "disk-read", device=device, block=block + at, blocks=min(_MOST, blocks - at)
        )
        parts.append(decode(answer["data"]))
    return b"".join(parts)


def hold(control: Control, held: bool) -> None:
    """Let requests of the guest's wait for complete(), or not."""
    control.execute("disk-hold", hold=held)


def complete(control: Control, request: int | None = None) -> None:
    """Carry out a request that waits: the oldest, or the one of this number."""
    which = {} if request is None else {"request": request}
    control.execute("disk-complete", **which)


def requests(control: Control) -> list[DiskRequest]:
    """The requests whose end the guest has not been told yet."""
    return [DiskRequest(**request) for request in control.execute("query-disks")["requests"]]
