# SPDX-License-Identifier: MIT
"""A kernel that is built from Linux' source, with the modules of the same build."""

from __future__ import annotations

from pathlib import Path

import pytest

from zvmlab.builder.kernels import resolve
from zvmlab.builder.modules import made_for
from zvmlab.guest.names import DRIVER
from zvmlab.guest.config import UPSTREAM_DRIVER, GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import Capture, DataSets, compare, deliver

TREE = "source:6.1"
# A first build on a busy machine: 22 minutes at a load of 15 on two CPUs.
pytestmark = [pytest.mark.full, pytest.mark.timeout(2 * 3600)]


@pytest.mark.parametrize("driver", (UPSTREAM_DRIVER,))
def test_a_set_is_read_on_a_kernel_from_source(driver: str, zvmlab_dir: Path) -> None:
    """The guest runs what was built, reads with its monreader, and nothing is built again."""
    kernel = resolve(TREE)
    assert kernel.version.startswith("6.1.") and kernel.modules is not None
    (module,) = kernel.modules.rglob("monreader.ko")
    assert made_for(module) == kernel.version
    with Guest(GuestConfig(kernel=TREE, driver=driver), zvmlab_dir / "guest") as guest:
        guest.boot()
        assert (
            f"Linux version {kernel.version} (" in guest.agent.read_file("/proc/version").decode()
        )
        guest.agent.modprobe(DRIVER).check()
        with Capture(guest.control, zvmlab_dir / "sets") as capture:
            with DataSets(guest.agent) as reader:
                deliver(guest.control, "sample", Element.of([Record(4, 3, 1, b"payload")]))
                compare(reader.read(), capture.next())
    assert resolve(TREE) == kernel
