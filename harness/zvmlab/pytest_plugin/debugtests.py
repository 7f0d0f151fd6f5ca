# SPDX-License-Identifier: MIT
"""Support for tests on a debug kernel: time limits, skips, a last check.

    @pytest.mark.not_debug("numbers of objects: KASAN keeps freed ones for a while")
    @pytest.mark.not_debug("it has no IP", coverage=True)  # but the coverage kernel has
    @pytest.mark.not_debug("KASAN reports defect 5", kernels=("bookworm",))  # others have not
    @pytest.mark.not_debug("lockdep reports it", defect="af_iucv-14")  # unless it is --corrected
"""

from __future__ import annotations

import pytest

from zvmlab.builder.kernel import counts_lines, has_checks, is_debug, slowness
from zvmlab.builder.kernels import defects_of
from zvmlab.builder.linux_corrections import named
from zvmlab.guest.guest import Guest
from zvmlab.guest.kernel_lines import answers
from zvmlab.guest.kernelcheck import check_kernel

TEST_SECONDS = 120
NOT_DEBUG = "not_debug"


def give_time(item: pytest.Item, kernel: str, emulator: float) -> None:
    """The test's time limit, made longer for a slow kernel and a slow *emulator*."""
    if item.config.pluginmanager.hasplugin("timeout"):
        limit = _test_seconds(item) * slowness(kernel) * emulator
        item.add_marker(pytest.mark.timeout(limit), append=False)


def _test_seconds(item: pytest.Item) -> float:
    """The test's own limit, or that of the command line, of pytest.ini, ours."""
    mark = item.get_closest_marker("timeout")
    if mark is not None:
        return float(mark.args[0] if mark.args else mark.kwargs["timeout"])
    option = item.config.getoption("timeout", None)
    if option is not None:
        return float(option)
    return float(item.config.getini("timeout") or TEST_SECONDS)


def skip_unfit(item: pytest.Item, kernel: str, corrected: frozenset[str]) -> None:
    """Skip what is marked as not applying to debug kernels, with the reason given there.

    ``kernels`` names the suites whose debug kernels it does not apply to, as with known defects.
    What does not because of a ``defect`` does if that is one of the *corrected* ones.
    """
    mark = item.get_closest_marker(NOT_DEBUG)
    counts_only = counts_lines(kernel) and not has_checks(kernel)
    if mark is None or (counts_only and mark.kwargs.get("coverage", False)):
        return
    kernels = mark.kwargs.get("kernels")
    if kernels is not None and not defects_of(kernel) & set(kernels):
        return
    defect = mark.kwargs.get("defect")
    if defect is not None and named([defect]) <= corrected:
        return
    if is_debug(kernel):
        (reason,) = mark.args
        item.add_marker(pytest.mark.skip(reason=f"on a debug kernel: {reason}"))


def last_check(guest: Guest) -> None:
    """check_kernel() of a debug kernel, unless what ran left the guest unable to answer."""
    if is_debug(guest.config.kernel) and answers(guest):
        check_kernel(guest)
