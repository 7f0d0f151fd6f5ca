# SPDX-License-Identifier: MIT
"""The emulators that tests run in.

Every test of a guest exists once for each ``--backend``.  With ``--representative BACKEND``
the tests marked

    @pytest.mark.representative

exist for that one as well, on the first kernel only: a part that stands for the whole.

Tests marked

    @pytest.mark.first_kernel

exist for the first ``--kernel`` only, unless ``--full`` asks for all.  With
``first_kernel(always=True)`` they do so with ``--full``, too: what they run is no Linux.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.builder.tree_name import tree_name
from zvmlab.guest.config import BACKENDS, QEMU

DEFAULT = (QEMU,)
FIXTURE = "zvmlab_backend"
KERNEL_FIXTURE = "zvmlab_kernel"
REPRESENTATIVE = "representative"
FIRST_KERNEL = "first_kernel"


def add_options(group: pytest.OptionGroup) -> None:
    """--backend, --representative."""
    group.addoption(
        "--backend",
        action="append",
        choices=BACKENDS,
        help="emulator that runs the guests: qemu (default) or hercules; may be repeated",
    )
    group.addoption(
        "--representative",
        choices=BACKENDS,
        help="also run the tests marked representative in this emulator, on the first kernel",
    )


def chosen(config: pytest.Config) -> list[str]:
    """The emulators that all tests run in."""
    return list(dict.fromkeys(config.getoption("--backend") or DEFAULT))


def represented(config: pytest.Config) -> str | None:
    """The emulator that only the tests marked representative run in, if there is one."""
    found: str | None = config.getoption("--representative")
    return None if found in chosen(config) else found


def of_test(item: pytest.Item) -> str:
    """The emulator of a test's guests."""
    spec = getattr(item, "callspec", None)
    found = None if spec is None else spec.params.get(FIXTURE)
    return found or DEFAULT[0]


def first_kernel_only(item: pytest.Item | pytest.Function) -> bool:
    """Does the test leave the other kernels out in this run, without a word?"""
    mark = item.get_closest_marker(FIRST_KERNEL)
    if mark is None:
        return False
    options = item.config.option
    return bool(mark.kwargs.get("always")) or not (options.full or options.short)


def parametrize(metafunc: pytest.Metafunc, kernels: list[str]) -> None:
    """One instance of the test for each kernel and emulator."""
    if first_kernel_only(metafunc.definition):
        kernels = kernels[:1]
    backends = chosen(metafunc.config)
    pairs = [(kernel, backend) for kernel in kernels for backend in backends]
    part = represented(metafunc.config)
    if part is not None and metafunc.definition.get_closest_marker(REPRESENTATIVE) is not None:
        pairs.append((kernels[0], part))
    # The usual emulator alone does not show in the names of tests.
    if {backend for _, backend in pairs} == set(DEFAULT):
        metafunc.parametrize(KERNEL_FIXTURE, kernels, scope="session", ids=kernel_id)
        return
    if FIXTURE not in metafunc.fixturenames:
        metafunc.fixturenames.append(FIXTURE)
    metafunc.parametrize(
        (KERNEL_FIXTURE, FIXTURE),
        pairs,
        indirect=[FIXTURE],
        scope="session",
        ids=[f"{kernel_id(kernel)}-{backend}" for kernel, backend in pairs],
    )


def kernel_id(kernel: str) -> str:
    """The kernel's name in test names."""
    with contextlib.suppress(UsageError):  # what is wrong with it is told when it is built
        tree = tree_name(kernel) if ":" in kernel else None
        if tree is not None:
            return tree.short
    return Path(kernel).name or Path(kernel).resolve().name
