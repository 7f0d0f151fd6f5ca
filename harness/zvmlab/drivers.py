# SPDX-License-Identifier: MIT
"""The monreader drivers that tests run against, and what is known to be wrong with one.

A test that needs the driver asks for the fixture ``zvmlab_driver`` (``monreader``
and ``driver_guest`` do) and exists once for each ``--driver``.  What the kernel's
own driver gets wrong against its documentation is marked:

    @pytest.mark.upstream_defect(5, "open waits for ever when CP answers nothing")

With that driver the test must then fail, and fail that way; a pass is an error.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from zvmlab.guest_config import UPSTREAM_DRIVER

DEFAULT = (UPSTREAM_DRIVER,)
FIXTURE = "zvmlab_driver"
DEFECT = "upstream_defect"


def driver_id(driver: str) -> str:
    """How a driver is called in test names."""
    return Path(driver).stem


def driver_of(item: pytest.Item) -> str | None:
    """The driver that a test runs against, if any."""
    spec = getattr(item, "callspec", None)
    return None if spec is None else spec.params.get(FIXTURE)


def expect_defects(item: pytest.Item, kernel: str) -> None:
    """Turn the defects that apply to this test into expected failures, strict ones.

    ``raises`` says how the defect shows (AssertionError), ``kernels`` where it
    exists (everywhere).  The innermost mark that applies counts.
    """
    if driver_of(item) != UPSTREAM_DRIVER:
        return
    for mark in item.iter_markers(DEFECT):
        number, reason = mark.args
        kernels = mark.kwargs.get("kernels")
        if kernels is not None and kernel not in kernels:
            continue
        raises = mark.kwargs.get("raises", AssertionError)
        text = f"upstream's driver, defect {number}: {reason}"
        item.add_marker(pytest.mark.xfail(reason=text, raises=raises, strict=True))
        return
