# SPDX-License-Identifier: MIT
"""Scenarios in which CP does what it may do, but a reader would rather not see."""

from __future__ import annotations

from zvmlab.scenarios.context import Context, scenario

# monreader asks for 255 messages, the most that *MONITOR grants.
MESSAGE_LIMIT = 255


@scenario("overflow", "One set more than the message limit allows; then reading goes on.")
def overflow(context: Context) -> None:
    """The reader learns of the loss once and reads on."""
    context.load()
    context.open()
    for _ in range(MESSAGE_LIMIT + 1):
        context.deliver("sample", context.element(size=40))
    for _ in range(MESSAGE_LIMIT + 1):
        context.read()
    context.deliver("sample", context.element(size=40))
    context.read()
    context.close()
    context.unload()


@scenario("sever-and-reopen", "CP severs the path while a reader sleeps; close, open, read again.")
def sever_and_reopen(context: Context) -> None:
    """Only a new connection helps."""
    context.load()
    context.open()
    context.start_read()
    context.sever(0x2C)
    context.finish_read()
    context.poll()
    context.close()
    context.open()
    context.deliver("sample", context.element())
    context.read()
    context.close()
    context.unload()
