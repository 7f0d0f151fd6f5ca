# SPDX-License-Identifier: MIT
"""Checkpoints: guests that go on where one like them stood after its boot.

    checkpoint-KEY/machine        the machine, as its emulator saves it
    checkpoint-KEY/console.log    what it had written to its console
    checkpoint-KEY/agent.json     its agent, and the path between that and the harness
    checkpoint-KEY/machine.translations     what one that began there had translated by its first replies

KEY is a hash of all that went in: what the guest runs, what it consists of,
the emulator itself.  The agent stays connected, and waits for a request of whoever takes the
harness' place.  The guest's TOD clock goes on where it stood; its wall
clock is set by the first request, which also gives its kernel random bytes.  The cache keeps the checkpoints used last.

Members of a system go on from the checkpoint of a guest alone (GuestConfig.base()), one for all user
IDs: its agent has not asked CP for anything yet, and connects when it sees a name of its own.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from zvmlab.agent.agent import Agent
from zvmlab.agent.calls import Out
from zvmlab.agent.results import AgentInfo
from zvmlab.agent.wire import Call
from zvmlab.base.cache import (
    cache_root,
    digest,
    discard_unused,
    entries,
    entry,
    in_use,
    locked,
    usable,
)
from zvmlab.base.errors import EmulatorError
from zvmlab.base.owned import MARK, discard
from zvmlab.base.signature import signature
from zvmlab.cp.afiucv import AfIucvStream
from zvmlab.cp.peer import Peer
from zvmlab.guest.config import HERCULES, QEMU, Artifacts, Channels, GuestConfig
from zvmlab.guest.backends import Machine
from zvmlab.guest.run_dir import cannot_write, free_bytes

KIND = "checkpoint"
MACHINE = "machine"
CONSOLE = "console.log"
AGENT = "agent.json"
TRANSLATIONS = "machine.translations"
"""QEMU looks for it beside MACHINE (sim/qemu/translations.c)."""
SHARE = 4
"""All of them together take one part in so many of what the disk has for them, but"""
LEAST_BYTES = 2 << 30
"""so much in any case, and"""
MOST_BYTES = 32 << 30
"""never more.  The one used last is always kept."""
_VERSION = "6"
_CLOCK_REALTIME = 0
_RANDOM = "/dev/urandom"
_RANDOM_BYTES = 64
# RNDRESEEDCRNG, _IO('R', 7) of linux/random.h.
_RESEED = 0x5207
_NS = 10**9
# Of the file of translations: a word that says what it is, and the address where they are to be.
_TRANSLATIONS_HEAD = struct.Struct("=QQ")
# What st_blocks counts (stat(2)).
_BLOCK = 512


def why_cold(config: GuestConfig) -> str | None:
    """Why a guest of this configuration boots from its first instruction on; None: it need not."""
    if config.cold:
        return "its configuration asks for a cold boot"
    if config.fault_rules():
        return "its faults are armed before the first instruction"
    if config.trace_data != "short":
        return "its trace is to be replayed from the beginning"
    if config.system is not None and _has_disks(config):
        return "other members of its system can link its virtual disks"
    if config.devices:
        return "the state of its devices cannot be saved"
    if "zvmlab.attach=" in config.command_line:
        return "it sets its own time limit for the connection to the agent"
    return None


def _has_disks(config: GuestConfig) -> bool:
    statements = config.cp.get("directory", "").split(";")
    return any(words.upper().split()[:1] in (["MDISK"], ["LINK"]) for words in statements)


@functools.cache
def _hercules() -> str:
    """Hash of Hercules: program and libraries."""
    from zvmlab.builder.herculesbuild import program  # for this one emulator

    libraries = [Path("/usr/lib/hercules")]
    return digest(program(), *(path for path in libraries if path.is_dir()))


def _machine(config: GuestConfig) -> str:
    """The machine: configuration as the emulator has it, and the emulator's own parts."""
    if config.backend == HERCULES:
        from zvmlab.guest.hercules import configuration

        return _hercules() + configuration(config)
    counts = f"counts {config.deterministic}" if config.counts else ""
    return (
        f"{config.backend} {config.cpus} {config.emulated_storage()} {config.translations} {counts}"
    )


@functools.lru_cache(64)
def _digest_of(path: Path, _signature: str) -> str:
    return digest(path)


def _digest(path: Path, known: Mapping[str, str]) -> str:
    """Hash of a file, which is read again only if it has changed."""
    sign = signature(path.stat())
    return known.get(sign) or _digest_of(path, sign)


def key(config: GuestConfig, artifacts: Artifacts) -> str:
    """Changes with everything that a guest's state after its boot depends on."""
    options = config.cp_options() | {"segment": ";".join(map(_contents, config.segments))}
    files = (artifacts.emulator, artifacts.kernel, artifacts.image)
    known = dict(artifacts.digests)
    return digest(
        *(_VERSION, *(_digest(file, known) for file in files)),
        *(_machine(config), config.kernel_parameters()),
        *(repr(sorted(options.items())), repr(config.crashes), repr(config.trace)),
    )


def _contents(segment: str) -> str:
    """A segment's definition, with what is in its file for the file's name."""
    rest, found, path = segment.partition("FILE=")
    if not found or not Path(path).is_file():
        return segment
    return f"{rest}FILE={digest(Path(path).read_bytes())}"


def kept(config: GuestConfig, artifacts: Artifacts) -> contextlib.AbstractContextManager[None]:
    """Within the block it leaves the cache for no others; it may be made within the block."""
    return in_use(f"{KIND}-{key(config, artifacts)}")


def system_key(
    members: Mapping[str, tuple[GuestConfig, Artifacts]],
    others: Iterable[str],
    segments: Iterable[str],
    options: Mapping[str, str],
    since: str = "",
) -> str:
    """The same of a system in which *members* have logged on, in that order, and *others* have not.

    *since*: what has been done there after the boot.
    """
    keys = [
        f"{userid} {key(config, artifacts)} {artifacts.late} {config.modules}"
        for userid, (config, artifacts) in members.items()
    ]
    of_cp = [sorted(others), [_contents(segment) for segment in segments], sorted(options.items())]
    return digest(_VERSION, *keys, repr(of_cp), since)


def find_system(key_of: str, make: Callable[[Path], None] | None = None) -> Path | None:
    """Its folder: a folder for each member, and CP's part; without *make* None if there is none."""
    if make is None:
        there = cache_root() / f"{KIND}-{key_of}"
        if not usable(there):
            return None
        with contextlib.suppress(FileNotFoundError):  # another process removes the oldest, too
            os.utime(there)
        return there
    found = entry(KIND, key_of, make)
    _tidy(found)
    return found


def system_in_use(key_of: str) -> contextlib.AbstractContextManager[None]:
    """As kept(), of such a system."""
    return in_use(f"{KIND}-{key_of}")


def find(config: GuestConfig, artifacts: Artifacts, make: Callable[[Path], None]) -> Path:
    """The checkpoint's folder; *make* fills a new one if it does not exist yet."""
    made = []

    def fill(into: Path) -> None:
        make(into)
        made.append(into)

    found = entry(KIND, key(config, artifacts), fill)
    with contextlib.suppress(FileNotFoundError):  # another process removes the oldest, too
        os.utime(found)
    if made:
        _tidy(found)
    return found


def _tidy(keep: Path) -> None:
    """Remove those that have not been used for the longest time, and are not now."""
    with locked(KIND):
        found = sorted(_sizes(), key=lambda found: -found[2])
        limit = _limit(sum(size for _, size, _ in found))
        total = 0
        for folder_, size, _ in found:
            total += size
            if total > limit and folder_ != keep:
                discard_unused(folder_)


def _limit(taken: int) -> int:
    """Bytes for all of them; *taken* is what they take now."""
    ours = (free_bytes(cache_root()) + taken) // SHARE
    return min(max(ours, LEAST_BYTES), MOST_BYTES)


def _sizes() -> list[tuple[Path, int, float]]:
    """Folder, bytes on disk and time of the last use of all checkpoints.

    A machine's storage is mostly holes, which take no room.
    """
    found = []
    for path in entries(KIND):
        with contextlib.suppress(FileNotFoundError):  # as above
            files = (file.stat() for file in path.rglob("*") if file.name != MARK)
            size = sum(file.st_blocks * _BLOCK for file in files)
            found.append((path, size, path.stat().st_mtime))
    return found


class Connected(NamedTuple):
    """An agent that is connected and idle."""

    stream: AfIucvStream
    info: AgentInfo
    pool: int | None = None
    """Its file descriptor of the kernel's random numbers, if it has one for set_apart()."""
    log: int = 0
    """The first record of the kernel's log that nobody has looked at."""


def save(machine: Machine, channels: Channels, into: Path, agent: Connected | None) -> None:
    """Save a guest, with its *agent* if that is connected; its CPUs are held afterwards."""
    machine.save(into / MACHINE)
    note(channels, into, agent)


def note(channels: Channels, into: Path, agent: Connected | None) -> None:
    """What is the harness' of a guest that has just been saved there."""
    try:
        if agent is not None:
            found = {
                "stream": agent.stream.end(),
                "info": agent.info._asdict(),
                "pool": agent.pool,
                "log": agent.log,
            }
            (into / AGENT).write_text(json.dumps(found), encoding="ascii")
        import shutil  # as in zvmlab.base.owned

        shutil.copyfile(channels.console_log, into / CONSOLE)
    except OSError as error:
        raise cannot_write(into, error) from error


def has_translations(config: GuestConfig) -> bool:
    """Do guests of this configuration begin with what others have translated?"""
    return config.backend == QEMU and config.cpus == 1 and not config.counts


def environment(found: Path | None) -> dict[str, str]:
    """What the environment of an emulator has to have that begins there."""
    if found is None:
        return {}
    try:
        with open(found / TRANSLATIONS, "rb") as file:
            _, at = _TRANSLATIONS_HEAD.unpack(file.read(_TRANSLATIONS_HEAD.size))
    except (OSError, struct.error):
        return {}
    return {"ZVMLAB_CODE_AT": f"{at:x}"}


def begin_restore(machine: Machine, channels: Channels, found: Path) -> Callable[[], None]:
    """Let a new emulator take its place; what completes that.

    Then the CPUs are held, and the console's log has its beginning.  A checkpoint that is refused
    leaves the cache.
    """
    complete = machine.begin_restore(found / MACHINE)
    return lambda: _restore(complete, channels, found)


def _restore(complete: Callable[[], None], channels: Channels, found: Path) -> None:
    try:
        complete()
        said = (found / CONSOLE).read_bytes()
        with open(channels.console_log, "ab") as log:
            log.write(said)
    except (EmulatorError, FileNotFoundError) as error:
        # A member may be part of a whole system.
        found = next((part for part in (found, found.parent) if (part / MARK).exists()), found)
        with locked(found.name):
            removed = discard(found)
        then = "it has been removed from the cache, the next start makes a new one"
        if not removed:
            then = f"remove {found}, which does not carry zvmlab's mark"
        raise EmulatorError(f"{error}; {then}") from error
    except OSError as error:
        raise cannot_write(channels.console_log, error) from error


def agent_of(peer: Peer, found: Path) -> Connected | None:
    """A restored guest's agent, if it was saved with one."""
    if not (found / AGENT).exists():
        return None
    noted = json.loads((found / AGENT).read_text(encoding="ascii"))
    stream = AfIucvStream(peer, **noted["stream"])
    return Connected(stream, AgentInfo(**noted["info"]), noted.get("pool"), noted["log"])


def open_pool(agent: Agent) -> int:
    """Its file descriptor for set_apart(), in a guest that is about to be saved.

    What is opened here, and what the agent needs for its first batch, no restored guest has to.
    """
    batch = agent.batch()
    pool = batch.open(_RANDOM, os.O_WRONLY)
    return batch.run()[pool].check()


def keep_together(agent: Agent, pool: int | None) -> None:
    """Instead of set_apart(): the guest is the same as all others of its checkpoint."""
    if pool is not None:
        agent.close(pool).check()


def set_apart(agent: Agent, pool: int | None = None) -> Callable[[], None]:
    """Set the guest's wall clock to the time of day, and its random numbers apart from others'.

    What its kernel draws from now on depends on bytes that no other guest is given.  A kernel
    that has no random numbers yet gets the bytes, too, but goes on waiting for more.  *pool*: what
    open_pool() has given, closed afterwards.  That is begun here; what is returned completes it.
    """
    if pool is None:
        pool = open_pool(agent)
    now = time.time_ns()
    value = agent.pack("qq", now // _NS, now % _NS)
    batch = agent.batch()
    clock_set = batch.call(Call.CLOCK_SETTIME, _CLOCK_REALTIME, value)
    written = batch.write(pool, os.urandom(_RANDOM_BYTES))
    renewed = batch.ioctl(pool, _RESEED)
    batch.close(pool)
    done = batch.begin()

    def complete() -> None:
        found = done()
        for which in (clock_set, written):
            found[which].check()
        # It has none yet to be renewed.
        if found[renewed].errno != errno.ENODATA:
            found[renewed].check()

    return complete


def clock(agent: Agent, which: int = _CLOCK_REALTIME) -> float:
    """One of the guest's clocks, in seconds."""
    result = agent.call(Call.CLOCK_GETTIME, which, Out(16, whole=True))
    result.check()
    seconds, ns = agent.unpack("qq", result.data)
    return seconds + ns / _NS
