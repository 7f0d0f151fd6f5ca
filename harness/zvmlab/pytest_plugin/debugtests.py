# SPDX-License-Identifier: MIT
"""Support for tests on a debug kernel: time limits, skips, a last check.

    @pytest.mark.not_debug("numbers of objects: KASAN keeps freed ones for a while")
    @pytest.mark.not_debug("KASAN reports it", coverage=True)  # which the coverage kernel has not
    @pytest.mark.not_debug("it has no IP", lacks="INET")  # and if one has some day, the test runs
    @pytest.mark.not_debug("KASAN reports defect 5", kernels=("bookworm",))  # others have not
    @pytest.mark.not_debug("lockdep reports it", defect="af_iucv-14")  # unless it is --corrected
"""

from __future__ import annotations

from collections.abc import Collection

import pytest

from zvmlab.builder.kernel import has_checks, is_debug, slowness
from zvmlab.builder.kernels import defects_of, leaves_out
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
    What does not because of a ``defect`` does if that is one of the *corrected* ones.  What the
    configuration ``lacks`` a minimal kernel without checks has not either.
    """
    mark = item.get_closest_marker(NOT_DEBUG)
    if mark is None or not _applies(kernel, corrected, **mark.kwargs):
        return
    (reason,) = mark.args
    kind = "debug" if is_debug(kernel) else "minimal"
    item.add_marker(pytest.mark.skip(reason=f"on a {kind} kernel: {reason}"))


def _applies(
    kernel: str,
    corrected: frozenset[str],
    coverage: bool = False,
    kernels: Collection[str] | None = None,
    defect: str | None = None,
    lacks: str | None = None,
) -> bool:
    """Does the mark with these words leave the test out?"""
    if lacks is not None:
        return leaves_out(kernel, lacks)
    if not is_debug(kernel) or (coverage and not has_checks(kernel)):
        return False
    if kernels is not None and not defects_of(kernel) & set(kernels):
        return False
    return defect is None or not named([defect]) <= corrected


def last_check(guest: Guest) -> None:
    """check_kernel() of a debug kernel, unless what ran left the guest unable to answer."""
    if is_debug(guest.config.kernel) and answers(guest):
        check_kernel(guest)
