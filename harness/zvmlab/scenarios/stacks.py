# SPDX-License-Identifier: MIT
"""Pages of the stacks of the guest's threads: those that they touch when they go on."""

from __future__ import annotations

from zvmlab.agent.agent import Agent
from zvmlab.base.errors import Timeout
from zvmlab.base.limit import Limit

_PAGE = 4096
# Of /proc/self/pagemap: the page is there, and which one of storage it is.
_PRESENT = 1 << 63
_FRAME = (1 << 55) - 1
_ENTRY = 8
_DEPTH = 16
"""A thread's calls go no deeper than so many pages."""
_SECONDS = 10.0


def stack_page(agent: Agent, folder: str) -> int:
    """The absolute address of the page that it touches first; *folder*: of a thread in /proc.

    The thread is one of the agent's, and sleeps, or soon will.
    """
    return _address(_pages(agent, folder)[0])


def deepest_page(agent: Agent, folder: str) -> int:
    """The same for the deepest page that it has touched so far: no call of the kernel does so first."""
    pages = _pages(agent, folder)
    there = 0
    while there + 1 < len(pages) and pages[there + 1] & _PRESENT:
        there += 1
    return _address(pages[there])


def _pages(agent: Agent, folder: str) -> list[int]:
    """What the kernel says of the page with its stack's end, and of those below."""
    limit = Limit(_SECONDS)
    while True:
        # "running", or the call with its arguments, the stack and the instruction.
        words = agent.read_text(f"{folder}/syscall").split()
        if len(words) > 2:
            break
        if limit.over:
            raise Timeout(f"{folder} in the guest did not sleep within {limit}")
    first = int(words[-2], 16) // _PAGE
    fd = agent.open("/proc/self/pagemap").check()
    found = agent.pread(fd, _DEPTH * _ENTRY, (first + 1 - _DEPTH) * _ENTRY)
    found.check()
    agent.close(fd).check()
    entries = [found.data[at : at + _ENTRY] for at in range(0, len(found.data), _ENTRY)]
    return [int.from_bytes(entry, "big") for entry in reversed(entries)]


def _address(entry: int) -> int:
    return (entry & _FRAME) * _PAGE
