# SPDX-License-Identifier: MIT
"""Data sets made up from the seed, read with buffers that are made up, too."""

from __future__ import annotations

import os

from zvmlab.mondata.records import EVENT, SAMPLE, Element
from zvmlab.scenarios.context import Context, Scenario

STREAMS = "random-streams"
# Fewer than the message limit; all of them fit into their area.
_WAITING = 12
_ELEMENTS, _RECORDS, _RECORD_SIZE = 6, 5, 300
_SIZES = (12, 13, 84, 4096, 65536)


def _element(context: Context, letter: int) -> Element:
    draw = context.random.randint
    return context.element(draw(1, _RECORDS), draw(21, _RECORD_SIZE), letter, draw(0, 4000))


def random_streams(count: int) -> Scenario:
    """Read this number of random sets; up to twelve wait, mostly with odd buffer sizes."""

    def run(context: Context) -> None:
        context.load()
        context.open(os.O_RDONLY | os.O_NONBLOCK)
        left = count
        while left > 0:
            waiting = min(left, context.random.randint(1, _WAITING))
            for _ in range(waiting):
                kind = context.random.choice(("sample-config", "sample", "event-config", "event"))
                letter = SAMPLE if kind.startswith("sample") else EVENT
                parts = context.random.randint(1, _ELEMENTS)
                context.deliver(kind, *(_element(context, letter) for _ in range(parts)))
            for _ in range(waiting):
                odd = context.random.randint(5, 2000)
                context.read(context.random.choice((odd, odd, *_SIZES)))
            left -= waiting
        context.read()
        context.close()
        context.unload()

    return Scenario(STREAMS, f"{count} data sets, made up from the seed, in all sizes.", run)
