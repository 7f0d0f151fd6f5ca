# SPDX-License-Identifier: MIT
"""The monreader drivers that tests run against, and what is known to be wrong with one.

A test that needs the driver asks for the fixture ``zvmlab_driver`` (``monreader``
and ``driver_guest`` do) and exists once for each ``--driver``.  What the kernel's
own driver gets wrong against its documentation is marked:

    @pytest.mark.upstream_defect(5, "a read never learns of a sever", seen=r"assert 11 == 5")

With that driver the test must then fail, and fail that way: *seen* is a regular expression for
the whole first line of what the exception says, so that another value is no known defect.  A pass
is an error, too.  ``kernel_defect`` is the same for other parts of the kernel, which no --driver
takes the place of (docs/upstream-kernel.md has their numbers).  ``--corrected PART-NUMBER`` says that the
kernels have a correction: the mark does not count then (corrections/README.md).
"""

from __future__ import annotations

import re
from collections.abc import Container
from pathlib import Path

import pytest

from zvmlab.builder.kernels import defects_of
from zvmlab.builder.linux_corrections import defect_of
from zvmlab.guest.config import UPSTREAM_DRIVER
from zvmlab.pytest_plugin import backend_choice

DEFAULT = (UPSTREAM_DRIVER,)
FIXTURE = "zvmlab_driver"
DEFECT = "upstream_defect"
KERNEL_DEFECT = "kernel_defect"
_seen = pytest.StashKey[str]()


def driver_id(driver: str) -> str:
    """The driver's name in test names."""
    return Path(driver).stem


def driver_of(item: pytest.Item) -> str | None:
    """The driver that a test runs against, if any."""
    spec = getattr(item, "callspec", None)
    return None if spec is None else spec.params.get(FIXTURE)


def _checked(item: pytest.Item, mark: pytest.Mark) -> str:
    """The mark's text of what is seen; pytest.UsageError if it cannot be compared."""
    if len(mark.args) != 2 or not isinstance(mark.args[0], int):
        raise pytest.UsageError(
            f"{item.nodeid}: mark.{mark.name} takes the defect's number and the reason, not"
            f" {', '.join(map(repr, mark.args)) or 'nothing'}"
        )
    seen = mark.kwargs.get("seen", "")
    problem = "" if isinstance(seen, str) and seen else "it is needed"
    try:
        if not problem and re.fullmatch(seen, "") is not None:
            problem = "it also matches the empty text"
    except re.error as error:
        problem = str(error)
    if problem:
        raise pytest.UsageError(
            f"{item.nodeid}: mark.{mark.name}: seen= is a regular expression for the first line of the"
            f" failure: {problem}"
        )
    return str(seen)


def expect_defects(item: pytest.Item, kernel: str, corrected: Container[str]) -> None:
    """Turn the defects that apply to this test into expected failures, strict ones.

    Those that are *corrected* in the kernels under test do not apply.

    ``raises`` says how the defect shows (AssertionError), ``seen`` with which value,
    ``kernels`` where it exists (everywhere): a suite is also the one that stands in for it (then
    bookworm-backports is named, too), a debug kernel the suite that it is built from, and a source
    tree the suite of its series.  The innermost mark that applies counts.
    """
    for name, whose in ((DEFECT, "upstream's driver"), (KERNEL_DEFECT, "kernel")):
        marks = [(mark, _checked(item, mark)) for mark in item.iter_markers(name)]
        if name == DEFECT and driver_of(item) != UPSTREAM_DRIVER:
            continue
        for mark, seen in marks:
            number, reason = mark.args
            if defect_of(name, number, reason) in corrected:
                continue
            kernels = mark.kwargs.get("kernels")
            if kernels is not None:
                names = {backend_choice.kernel_id(kernel), *defects_of(kernel)}
                if not names & set(kernels):
                    continue
            raises = mark.kwargs.get("raises", AssertionError)
            text = f"{whose}, defect {number}: {reason}"
            item.add_marker(pytest.mark.xfail(reason=text, raises=raises, strict=True))
            item.stash[_seen] = seen
            return


def hold_to_value(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
) -> str | None:
    """Make an expected failure that is not the known one a failure; the sentence about it."""
    seen = item.stash.get(_seen, None)
    if seen is None or call.excinfo is None or not (report.skipped and hasattr(report, "wasxfail")):
        return None
    found = (str(call.excinfo.value).splitlines() or [""])[0]
    if call.when == "call" and re.fullmatch(seen, found) is not None:
        return None
    where = "" if call.when == "call" else f" in {call.when}"
    known, report.outcome = report.wasxfail, "failed"
    del report.wasxfail
    return f"not the known failure: {found!r}{where}, expected {seen!r} ({known})"
