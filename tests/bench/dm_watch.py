# SPDX-License-Identifier: MIT
"""``dmmon watch`` beside the bare message that it is made of, 10,000 areas; ``dmmon list`` beside dmstats.

CPU time in the guest, whose clocks count instructions.  Of both what one more look costs: start and
end of the programs are not in it.
"""

from __future__ import annotations


from benchmark import Benchmark, Budget, Pairs, both
from guest_program import guest_program, number
from zvmlab.base.progress import Progress
from zvmlab.builder.guesttools import debian_program, tool
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

AREAS = 10_000
REGIONS = 4_000
SEGMENTED = "segments"
LOOKS = 20
SECONDS = 600.0
DEVICE = "vol"
PROGRAM = "/bin/dm_cpu"


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark("message", f"@stats_print, {AREAS} areas", "instructions"),
        Benchmark("watch", f"dmmon watch, an interval of {AREAS} areas", "instructions"),
        Benchmark("idle", "the same with --idle, a row for each area", "instructions"),
        Benchmark("ratio-watch", "dmmon watch ÷ @stats_print", "ratio", Budget(2.0, True)),
        Benchmark("ratio-idle", "dmmon watch --idle ÷ @stats_print", "ratio"),
        Benchmark(
            "ratio-list",
            f"dmmon list ÷ dmstats list, {REGIONS} regions",
            "ratio",
            Budget(1.0, True),
        ),
    )


def _message(guest: Guest) -> float:
    """One more message."""
    one, all_of_them = (
        number(guest, PROGRAM, "print", DEVICE, "0", str(count)) for count in (1, 1 + LOOKS)
    )
    return (all_of_them - one) / LOOKS


def _watch(guest: Guest, *options: str) -> float:
    """One more interval."""
    words = ("run", "/bin/dmmon", "watch", "--region", "0", "--interval", "10ms", *options)
    one, all_of_them = (
        number(guest, PROGRAM, *words, "--count", str(count), DEVICE) for count in (1, 1 + LOOKS)
    )
    return (all_of_them - one) / LOOKS


def _list(guest: Guest) -> float:
    """CPU time of the whole command."""
    return number(guest, PROGRAM, "run", "/bin/dmmon", "list", SEGMENTED)


def _dmstats(guest: Guest) -> float:
    return number(guest, PROGRAM, "run", "/sbin/dmsetup", "stats", "list", SEGMENTED)


def _pair(guest: Guest, swapped: bool) -> dict[str, float]:
    message, watch = both(swapped, lambda: _message(guest), lambda: _watch(guest))
    idle = _watch(guest, "--idle")
    ours, theirs = both(swapped, lambda: _list(guest), lambda: _dmstats(guest))
    return {
        "message": message,
        "watch": watch,
        "idle": idle,
        "ratio-watch": watch / message,
        "ratio-idle": idle / message,
        "ratio-list": ours / theirs,
    }


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """One guest, one region; one pair is thrown away."""
    config = config._replace(
        count_instructions=True,
        modules=("brd", "dm-mod"),
        files={
            **debian_program("/sbin/dmsetup", progress),
            **tool("dmmon", progress),
            PROGRAM: guest_program("dm_cpu"),
        },
    )
    with Guest(config, artifacts=prepare(config, progress)) as guest:
        guest.boot()
        for module in ("brd", "dm-mod"):
            guest.agent.modprobe(module).check()
        table = f"0 {AREAS} linear 1:0 0"
        guest.agent.run(
            ["/sbin/dmsetup", "create", "--noudevsync", DEVICE, "--table", table]
        ).check()
        create = ["/bin/dmmon", "create", "--precise", "--area-size", "1", DEVICE]
        assert guest.agent.run(create).check().stdout == b"0\n"
        # A region for each of them: that many starts of a program would take minutes.
        segments = "".join(f"{8 * i} 8 linear 1:0 {8 * i}\n" for i in range(REGIONS))
        guest.agent.run(
            ["/sbin/dmsetup", "create", "--noudevsync", SEGMENTED], stdin=segments.encode()
        ).check()
        create = ["/sbin/dmsetup", "stats", "create", "--segments", SEGMENTED]
        guest.agent.run(create, timeout=SECONDS).check()
        _pair(guest, False)
        return _benchmarks().repeat(pairs, lambda swapped: _pair(guest, swapped))
