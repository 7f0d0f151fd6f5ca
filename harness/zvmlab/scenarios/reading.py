# SPDX-License-Identifier: MIT
"""Scenarios of data sets that are read as they should be."""

from __future__ import annotations

import os

from zvmlab.mondata.records import EVENT, SAMPLE
from zvmlab.scenarios.context import Context, scenario


@scenario("read-one-set", "Load the driver, open it, read a whole data set, close, unload.")
def read_one_set(context: Context) -> None:
    """The shortest way through all of the driver."""
    context.load()
    context.open()
    context.deliver("sample", context.element())
    context.read()
    context.close()
    context.unload()


@scenario("read-many-sets", "Sets of every kind, of one to five elements, with several buffers.")
def read_many_sets(context: Context) -> None:
    """Sets wait while others are read; elements begin anywhere in a frame."""
    context.load()
    context.open()
    for elements, size in ((1, 65536), (2, 4096), (5, 13)):
        for kind in ("sample-config", "sample", "event-config", "event"):
            letter = SAMPLE if kind.startswith("sample") else EVENT
            parts = [
                context.element(records=3, size=100, type=letter, phase=777 * number)
                for number in range(elements)
            ]
            context.deliver(kind, *parts)
        for _ in range(4):
            context.read(size)
    context.close()
    context.unload()


@scenario("collect", "CP collects by itself: configuration and sample intervals.")
def collect(context: Context) -> None:
    """Compare lengths only: CP's records depend on its clock; check that the bytes are CP's."""
    control = context.control
    control.execute("monitor-manual", manual=True)
    context.load()
    context.open()
    for command in ("SAMPLE ENABLE ALL", "SAMPLE START"):
        context.note("monitor", command=command, rc=context.guest.cp(f"MONITOR {command}").rc)
    control.execute("monitor-tick")
    control.execute("monitor-tick")
    for stored in context.stored_sets():
        context.note("stored", kind=stored.kind, mces=stored.mces)
        context.read(hashes=False)
    for command in ("SAMPLE STOP", "SAMPLE DISABLE ALL"):
        context.note("monitor", command=command, rc=context.guest.cp(f"MONITOR {command}").rc)
    control.execute("monitor-manual", manual=False)
    context.close()
    context.unload()


@scenario("poll-and-read", "A non-blocking reader that polls before and after a set comes.")
def poll_and_read(context: Context) -> None:
    """Poll without data, with a set, and without data again."""
    context.load()
    context.open(os.O_RDONLY | os.O_NONBLOCK)
    context.poll()
    context.read()
    context.deliver("event", context.element(records=2, type=EVENT))
    context.poll(seconds=1)
    context.read()
    context.poll()
    context.close()
    context.unload()
