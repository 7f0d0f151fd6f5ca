# SPDX-License-Identifier: MIT
"""One call of a kernel's function that returns an error: Debian's kernels have no fault injection.

    def test(guest, fails):
        with fails("dcssblk", ["device_add_disk"]):
            assert attempt(guest, "add", "MINE") == errno.ENOMEM
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from zvmlab.guest.guest import Guest

SOURCE = Path(__file__).parent / "modules" / "failcall"
MODULE = "/tmp/failcall.ko"
FAILED = "/sys/module/failcall/parameters/failed"
Fails = Callable[..., contextlib.AbstractContextManager[None]]


class Failcall:
    """The module that lets a call fail, in a guest."""

    def __init__(self, guest: Guest, built_module: Callable[..., Path]) -> None:
        self._agent = guest.agent
        self._agent.write_file(MODULE, built_module(SOURCE).read_bytes(), 0o600)

    @contextlib.contextmanager
    def at(
        self, caller: str, names: Sequence[str], result: int = -errno.ENOMEM, nth: int = 1
    ) -> Iterator[list[int]]:
        """The n-th call that a module makes of a function returns *result*; afterwards the list has
        it, if it came.

        An empty *caller* is anybody: a call that a function ends with, such as `return f();`, has
        the address behind it of who has called that function.
        """
        # A kernel has one of the names.
        for name in names:
            params = {"function": name, "caller": caller, "result": result, "nth": nth}
            error = self._agent.insmod(MODULE, params).errno
            if error == errno.EOPNOTSUPP:
                pytest.skip("the kernel has no kprobes")
            if error == 0:
                break
        else:
            raise AssertionError(f"the kernel has none of the functions {', '.join(names)}")
        came: list[int] = []
        yield came
        came += [nth] * int(self._agent.read_file(FAILED))
        self._agent.rmmod("failcall").check()


@pytest.fixture
def fails(guest: Guest, built_module: Callable[..., Path]) -> Fails:
    """A block in which a call fails, which must come."""
    failcall = Failcall(guest, built_module)

    @contextlib.contextmanager
    def failing(
        caller: str, names: Sequence[str], result: int = -errno.ENOMEM, nth: int = 1
    ) -> Iterator[None]:
        with failcall.at(caller, names, result, nth) as came:
            yield
        assert came == [nth], "the call did not come"

    return failing
