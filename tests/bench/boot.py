# SPDX-License-Identifier: MIT
"""Boot to the first data set, beside Debian's QEMU booting to /init."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmark import Benchmark, Budget, Pairs, both
from zvmlab.base.errors import CannotRun, Timeout
from zvmlab.guest.config import Channels, GuestConfig, Artifacts, emulator_arguments
from zvmlab.guest.emulator import Emulator
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import DataSets, deliver

STOCK = Path("/usr/bin/qemu-system-s390x")
# guest/agent/init.c says so when it has set up the system.
LINE = b"zvmlab: the agent starts"
BUDGET = Budget(0.95, at_most=True)
LIMIT = 60.0
_POLL_SECONDS = 0.001


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark("set", "boot: zvmlab to first data set", "s"),
        Benchmark("init", "boot: zvmlab to /init", "s"),
        Benchmark("stock", "boot: Debian's QEMU to /init", "s"),
        Benchmark("set-ratio", "boot: first data set ÷ Debian's QEMU to /init", "ratio", BUDGET),
        Benchmark("init-ratio", "boot: zvmlab to /init ÷ Debian's QEMU to /init", "ratio"),
    )


def await_init(console: Path, check: Callable[[], None], seconds: float = LIMIT) -> None:
    """Wait for the agent's first line on the console."""
    limit = time.monotonic() + seconds
    while not console.exists() or LINE not in console.read_bytes():
        check()
        if time.monotonic() > limit:
            raise Timeout(f"the guest did not reach /init within {seconds:g} s")
        time.sleep(_POLL_SECONDS)


def read_first_set(guest: Guest) -> None:
    """Load the driver, let a data set be delivered and read it to its end."""
    guest.agent.insmod("monreader").check()
    with DataSets(guest.agent) as reader:
        element = Element.of([Record(4, 3, 1, bytes(52))])
        fate = deliver(guest.control, "sample", element).fate
        found = reader.read()
        assert fate == "delivered" and [part.data for part in found.parts()] == [element.data]


def _zvmlab(config: GuestConfig, artifacts: Artifacts) -> tuple[float, float]:
    """Seconds to /init and to the end of the first data set, in one boot."""
    with Guest(config, artifacts=artifacts) as guest:
        guest.configure()
        begun = time.monotonic()
        guest.resume()
        await_init(guest.channels.console_log, guest.check)
        init = time.monotonic() - begun
        guest.await_agent()
        read_first_set(guest)
        seconds = time.monotonic() - begun
    return init, seconds


def stock_arguments(config: GuestConfig, artifacts: Artifacts, console: Path) -> list[str]:
    """The same machine without what only our build has, running at once."""
    nowhere = Path(os.devnull)
    channels = Channels(nowhere, nowhere, console, None, None)
    _, *words = emulator_arguments(config, artifacts, channels)
    for option in ("-object", "-qmp"):
        at = words.index(option)
        del words[at : at + 2]
    at = words.index("zvmlab-cpi")
    del words[at - 1 : at + 1]
    words.remove("-S")
    return [str(STOCK), *words]


def _stock(config: GuestConfig, artifacts: Artifacts) -> float:
    with tempfile.TemporaryDirectory(prefix="zvmlab-bench-") as folder:
        console = Path(folder) / "console.log"
        argv = stock_arguments(config, artifacts, console)
        begun = time.monotonic()
        emulator = Emulator(argv, Path(folder) / "emulator.log", kept=False)
        try:
            await_init(console, emulator.check)
            return time.monotonic() - begun
        finally:
            emulator.stop()


def measure(config: GuestConfig, artifacts: Artifacts, pairs: int) -> list[Benchmark]:
    """One boot of each kind is thrown away, for the files to be in memory."""
    if not os.access(STOCK, os.X_OK):
        raise CannotRun(f"{STOCK} is missing; install the Debian package qemu-system-misc")

    def pair(swapped: bool) -> dict[str, float]:
        init = 0.0

        def ours() -> float:
            nonlocal init
            init, seconds = _zvmlab(config, artifacts)
            return seconds

        first_set, stock = both(swapped, ours, lambda: _stock(config, artifacts))
        return {
            "set": first_set,
            "init": init,
            "stock": stock,
            "set-ratio": first_set / stock,
            "init-ratio": init / stock,
        }

    pair(False)
    return _benchmarks().repeat(pairs, pair)
