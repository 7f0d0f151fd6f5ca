# SPDX-License-Identifier: MIT
"""A kernel that is built from Linux' source, with the modules of the same build."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from zvmlab.builder.kernels import resolve
from zvmlab.builder.modules import made_for
from zvmlab.builder.object_lines import Line
from zvmlab.builder.tree_name import tree_name
from zvmlab.builder.tree_notes import last_build
from zvmlab.guest.names import DRIVER
from zvmlab.guest.config import UPSTREAM_DRIVER, GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import Capture, DataSets, compare, deliver

TREE = "source:6.1"
IUCV, CHANNEL = "net/iucv/iucv.c", "net/iucv/af_iucv.c"
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


class Bodies:
    """Which lines of a source are a function's: from its name to the brace in the first column."""

    def __init__(self, tree: Path, file: str) -> None:
        self._file = file
        self._lines = (tree / file).read_text(encoding="utf-8").splitlines()

    def has(self, line: Line, function: str) -> bool:
        """Is it a line of that function?"""
        name = re.escape(function.partition(".")[0])
        head = re.compile(rf"(?:[\w\s*]+[\s*])?{name}\([^;]*$")
        found = [n for n, text in enumerate(self._lines) if head.match(text)]
        ends = [self._lines.index("}", n) + 1 for n in found]
        inside = [n < line.number <= end for n, end in zip(found, ends)]
        return line.file == self._file and any(inside)


@pytest.mark.first_kernel
def test_places_of_code_have_the_lines_of_their_functions(zvmlab_kernel: str) -> None:
    """In a module and in the kernel's own code, held against the text of the sources."""
    name = zvmlab_kernel if tree_name(zvmlab_kernel) else TREE
    with Guest(GuestConfig(kernel=name)) as guest:
        guest.boot()
        with guest.cover("af_iucv", "iucv_*") as cover:
            guest.agent.read_file("/proc/version")
            blocks = cover.blocks()
        guest.shut_down()
        found = cover.lines(blocks)
    work = resolve(name).work
    assert work is not None and not found.missing
    bodies = {file: Bodies(Path(last_build(work)["tree"]), file) for file in (IUCV, CHANNEL)}
    seen = dict.fromkeys(bodies, 0)
    for block, lines in found.lines.items():
        file = CHANNEL if block.module else IUCV
        assert bodies[file].has(lines[0], block.function), (block, lines)
        seen[file] += 1
    assert min(seen.values()) > 10 and len(found.lines) == len(blocks)
    assert any(len(lines) > 1 for lines in found.lines.values())
