# SPDX-License-Identifier: MIT
"""Fixtures of the end-to-end tests: programs for the guest, built once into the cache."""

from __future__ import annotations

import contextlib
import functools
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from applications import MODULES, Collection, declared
from built import build_all
from dmstats_lab import Lab, lab_config, prepare_lab

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import CannotRun, ZvmlabError
from zvmlab.builder import module_mk
from zvmlab.builder.guesttools import debian_root, tools_source
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.pool import Pool, Use
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import DEVICE, Capture, DataSets, ReadSet, compare, deliver
from zvmlab.pytest_plugin.plugin import lent

HERE = Path(__file__).parent
CC = "s390x-linux-gnu-gcc"
STATIC = ("-static", "-O2", "-Wall", "-Wextra", "-Werror")
# No operating system below: EBCDIC strings for CP, no floating-point registers, and
# nothing where QEMU puts the command line, X'10480'.
BARE = (
    *("-O2", "-march=z10", "-msoft-float", "-ffreestanding", "-fexec-charset=IBM037"),
    *("-fno-pic", "-no-pie", "-nostdlib", "-static", "-Wl,--build-id=none"),
    *("-Wall", "-Wextra", "-Werror"),
)
PLACE = "-Wl,-Ttext=0x20000"
# Where no address is that this program makes up.
OTHER_PLACES = {"hostile": "-Wl,-Ttext=0x680000"}

Build = Callable[[str], Path]


@dataclass(frozen=True)
class Vmcp:
    """The answer of /dev/vmcp: response, CP's return code, and the response's full size."""

    text: str
    rc: int
    size: int


Commands = Callable[..., Vmcp]
"""COMMAND[, BUFFER] to CP's answer."""


def _compile(name: str, flags: tuple[str, ...], sources: list[Path]) -> Path:
    def build(into: Path) -> None:
        command = [CC, *flags, "-o", str(into / name), *map(str, sources)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr

    return entry("program", digest(name, *flags, _version(), *sources), build, name)


@functools.cache
def _version() -> bytes:
    """The compiler's; it is missing: CannotRun."""
    try:
        return subprocess.run([CC, "-dumpfullversion"], capture_output=True, check=True).stdout
    except FileNotFoundError as error:
        raise CannotRun(f"{CC} is missing; install gcc-s390x-linux-gnu") from error


Define = Callable[[str, str], None]
"""NAME and RANGES, as for DEFSEG."""

OneSet = Callable[..., ReadSet]
"""GUEST[, DEVICE] to the set that was read."""


def _program(name: str) -> Path:
    return _compile(name, STATIC, [HERE / "programs" / f"{name}.c"])


def _bare(name: str) -> Path:
    flags = (*BARE, OTHER_PLACES.get(name, PLACE))
    return _compile(name, flags, [HERE / "bare/start.S", HERE / f"bare/{name}.c"])


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build what the tests ask for before the first of them begins."""
    if session.config.option.collectonly:
        return
    capture = session.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        build_all(session.items, {"program": _program, "bare": _bare})
        if any("monread_program" in getattr(item, "fixturenames", ()) for item in session.items):
            with contextlib.suppress(ZvmlabError, OSError):
                _monread()


@pytest.fixture(scope="session")
def corrected(request: pytest.FixtureRequest) -> frozenset[str]:
    """Defects that the kernels under test have a correction of (--corrected), such as "af_iucv-1".

    What a model allows a kernel because of such a defect, it does not allow them.
    """
    return frozenset(request.config.getoption("corrected"))


@pytest.fixture(scope="session")
def program() -> Build:
    """Builds programs/NAME.c for the guest (static); returns the executable."""
    return _program


def _monread() -> Path:
    source, root = tools_source(), debian_root()
    parts = [source / "Makefile", *sorted(source.glob("ci/*.mk"))]
    parts += module_mk.files(source, module_mk.closure(source, "tools/monread"))
    folder = root / "usr/lib/s390x-linux-gnu"
    libraries = " ".join(str(folder / library) for library in ("libjansson.a", "libcrypt.a"))

    def build(into: Path) -> None:
        argv = ["make", "-s", "-C", str(source), f"BUILD={into}", "CC=s390x-linux-gnu-gcc"]
        argv += [f"CFLAGS=-idirafter {root / 'usr/include'}", "PACKAGE_CFLAGS="]
        argv += [f"PACKAGE_LIBS=-static {libraries}"]
        done = subprocess.run(
            [*argv, str(into / "monread")], capture_output=True, text=True, timeout=300, check=False
        )
        if done.returncode:
            raise CannotRun(f"monread cannot be compiled for the guest: {done.stderr[-500:]}")

    key = digest(root.name, *parts)
    return entry("monread", key, build, "monread")


@pytest.fixture(scope="session")
def monread_program() -> bytes:
    """monread for the guest, with nothing that it needs there."""
    return _monread().read_bytes()


@pytest.fixture(scope="session")
def bare() -> Build:
    """Builds bare/NAME.c, which runs without an operating system; returns the kernel image."""
    return _bare


@pytest.fixture(scope="session")
def vmcp_in(program: Build) -> Callable[[Guest], Commands]:
    """vmcp_in(GUEST) gives vmcp(COMMAND[, BUFFER]): CP commands from inside that guest."""

    def install(guest: Guest) -> Commands:
        agent = guest.agent
        agent.write_file("/tmp/vmcp", program("vmcp").read_bytes(), 0o755)

        def run(command: str, buffer: int = 0) -> Vmcp:
            extra = [str(buffer)] if buffer else []
            done = agent.run(["/tmp/vmcp", command, *extra]).check()
            last = re.fullmatch(r"rc=(-?\d+) size=(\d+)", done.stderr.decode().strip())
            assert last is not None
            return Vmcp(done.stdout.decode("latin-1"), int(last[1]), int(last[2]))

        return run

    return install


@pytest.fixture
def vmcp(warm_guest: Guest, vmcp_in: Callable[[Guest], Commands]) -> Commands:
    """vmcp(COMMAND[, BUFFER]): CP commands from inside the warm guest."""
    return vmcp_in(warm_guest)


def _taskstats_in(guest: Guest, program: Build) -> Callable[..., list[str]]:
    path = "/tmp/taskstats"
    guest.agent.write_file(path, program("taskstats").read_bytes(), 0o755)

    def run(*lines: str) -> list[str]:
        script = "".join(f"{line}\n" for line in lines)
        done = guest.agent.run([path], stdin=script.encode()).check()
        return done.stdout.decode().splitlines()

    return run


@pytest.fixture
def taskstats(warm_guest: Guest, program: Build) -> Callable[..., list[str]]:
    """taskstats(LINE…) in the warm guest: what programs/taskstats.c prints for this script."""
    return _taskstats_in(warm_guest, program)


@pytest.fixture
def taskstats_in_guest(guest: Guest, program: Build) -> Callable[..., list[str]]:
    """The same in a guest of this test alone."""
    return _taskstats_in(guest, program)


@pytest.fixture
def one_set(zvmlab_dir: Path) -> OneSet:
    """one_set(GUEST[, DEVICE]): open, have CP deliver a set, read and compare it, close."""

    def exchange(guest: Guest, device: str = DEVICE) -> ReadSet:
        records = [Record(4, 3, number, bytes(range(number, number + 64))) for number in range(3)]
        with Capture(guest.control, zvmlab_dir / "one-set") as capture:
            with DataSets(guest.agent, device=device) as reader:
                assert deliver(guest.control, "sample", Element.of(records)).fate == "delivered"
                found = reader.read()
                compare(found, capture.next())
        assert [list(part.records()) for part in found.parts()] == [records]
        return found

    return exchange


@pytest.fixture
def capture(monreader: Guest, zvmlab_dir: Path) -> Iterator[Capture]:
    """Every set that CP announces to the guest of the fixture monreader during the test."""
    with Capture(monreader.control, zvmlab_dir / "sets") as every:
        yield every


@pytest.fixture
def define(warm_guest: Guest) -> Iterator[Define]:
    """define(NAME, "8000-87FF SC"): a saved segment of the warm guest; purged afterwards.

    Pages 8000 to 8FFF lie behind the guest's storage and are nobody's.
    """
    names: list[str] = []

    def run(name: str, ranges: str) -> None:
        for command in (f"DEFSEG {name} {ranges}", f"SAVESEG {name}"):
            answer = warm_guest.cp(command)
            assert answer.rc == 0, answer.response
        names.append(name)

    yield run
    for name in names:
        assert warm_guest.cp(f"PURGE NSS NAME {name}").response == "0001 FILE PURGED\n"


@pytest.fixture
def writers(
    request: pytest.FixtureRequest,
    zvmlab_kernel: str,
    zvmlab_driver: str,
    zvmlab_backend: str,
    guest_pool: Pool,
) -> Iterator[Guest]:
    """A guest with monreader and monwriter loaded; appldata_mem, _os and _net_sum are at hand."""
    config = GuestConfig(
        kernel=zvmlab_kernel, driver=zvmlab_driver, backend=zvmlab_backend, modules=MODULES
    )
    with lent(request, guest_pool, config) as guest:
        for module in ("monreader", "monwriter"):
            guest.agent.modprobe(module).check()
        yield guest
        for module in ("monwriter", "monreader"):
            guest.agent.rmmod(module).check()
        assert not declared(guest), "CP still copies from storage of a program that has ended"


@pytest.fixture
def collection(writers: Guest, zvmlab_dir: Path) -> Iterator[Collection]:
    """Samples and events of all users' application data, read in the guest of the writers."""
    with Collection(writers, zvmlab_dir / "sets") as found:
        yield found


@pytest.fixture(scope="session")
def _lab_made(program: Build) -> Use:
    return functools.partial(prepare_lab, blockio=program("blockio"))


@pytest.fixture
def lab(
    request: pytest.FixtureRequest,
    zvmlab_kernel: str,
    zvmlab_backend: str,
    guest_pool: Pool,
    _lab_made: Use,
) -> Iterator[Lab]:
    """A guest with the device-mapper devices of dmstats_lab.py, made for this test, no regions.

    The guest is booted once, with two CPUs.  After a test whose devices cannot be removed, or
    whose regions outlive them, the next one gets a new guest.
    """
    with lent(request, guest_pool, lab_config(zvmlab_kernel, zvmlab_backend), _lab_made) as guest:
        found = Lab(guest)
        found.set_up()
        yield found
        found.tear_down()
