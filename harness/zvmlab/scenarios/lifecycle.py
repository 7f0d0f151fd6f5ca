# SPDX-License-Identifier: MIT
"""Scenarios of loading, opening, closing and unloading."""

from __future__ import annotations

from zvmlab.scenarios.context import Context, scenario


@scenario("load-unload", "Load and unload the driver twice.")
def load_unload(context: Context) -> None:
    """The segment is queried, loaded and given back."""
    for _ in range(2):
        context.load()
        context.unload()


@scenario("open-close", "Open and close the device twice; no data set comes.")
def open_close(context: Context) -> None:
    """A path to *MONITOR is made and severed."""
    context.load()
    for _ in range(2):
        context.open()
        context.close()
    context.unload()
