# SPDX-License-Identifier: MIT
"""hvc_iucv: terminals of the guest that other z/VM users connect to."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import select
import struct
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from waiting import LIMIT, wait_until
from zvmlab.agent.calls import Both
from zvmlab.agent.worker import Process, Worker
from zvmlab.cp.faults import ArmedFault, Fault, armed, count
from zvmlab.cp.hvciucv import VERSION, IucvTerminal, TerminalGone, TerminalRefused, Type, encode
from zvmlab.cp.peer import EventType, Peer
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.pool import Pool
from zvmlab.guest.terminal import ESCAPE
from zvmlab.monitor.steps import await_sleep, thread_of
from zvmlab.pytest_plugin.plugin import lent

if TYPE_CHECKING:
    from conftest import Build

USER = "LINUX001"
ROOT = Path(__file__).resolve().parents[2]
ALLOW = "/sys/module/kernel/parameters/hvc_iucv_allow"
# asm-generic/termbits.h and ioctls.h; struct termios as Linux has it on s390: four words of
# flags, the discipline, 19 characters.
TCSETS, TIOCGWINSZ = 0x5402, 0x5413
CS8_CREAD_B38400 = 0o60 | 0o200 | 0o17
HUPCL = 0o2000
VMIN = 6
LFLAG = 3
"""Where termios.tcgetattr() has the local modes."""
READ = 3
"""The system call of s390x (asm/unistd.h)."""
IPADRJCT = 0x040000
"""In a completion: the guest has rejected the message."""


def raw(more: int) -> bytes:
    """A terminal that passes every byte on as it is, one at a time if need be."""
    characters = bytearray(19)
    characters[VMIN] = 1
    return struct.pack(">4IB19s", 0, 0, CS8_CREAD_B38400 | more, 0, 0, bytes(characters)) + bytes(2)


class Tty:
    """A terminal as a program of the guest has it open."""

    def __init__(self, worker: Worker, number: int, more: int = 0) -> None:
        self.worker = worker
        self.fd = worker.open(f"/dev/hvc{number}", os.O_RDWR | os.O_NOCTTY).check()
        set_raw = worker.ioctl(self.fd, TCSETS, Both(raw(more)))
        if set_raw.errno:
            self.close()  # it is being hung up
        set_raw.check()

    def read(self, size: int) -> bytes:
        """Read this number of bytes, or fewer if the terminal is hung up."""
        data = b""
        while len(data) < size:
            found = self.worker.read(self.fd, size - len(data))
            if found.check() == 0:
                break
            data += found.data
        return data

    def write(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            at += self.worker.write(self.fd, data[at:]).check()

    def has_window(self, rows: int, columns: int) -> bool:
        return self.window() == (rows, columns)

    def window(self) -> tuple[int, int]:
        """Rows and columns."""
        found = self.worker.ioctl(self.fd, TIOCGWINSZ, Both(bytes(8)))
        found.check()
        rows, columns, _, _ = struct.unpack(">4H", found.data)
        return rows, columns

    def close(self) -> None:
        if self.fd >= 0:
            self.worker.close(self.fd).check()
            self.fd = -1

    def __enter__(self) -> Tty:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


@pytest.fixture
def guest8(
    request: pytest.FixtureRequest, zvmlab_kernel: str, zvmlab_backend: str, guest_pool: Pool
) -> Iterator[Guest]:
    """A guest with all eight terminals, none of which is open or connected."""
    config = GuestConfig(
        kernel=zvmlab_kernel, backend=zvmlab_backend, command_line="hvc_iucv=8", busybox=True
    )
    with lent(request, guest_pool, config) as guest:
        yield guest


@pytest.fixture
def peer(guest8: Guest) -> Iterator[Peer]:
    with Peer(guest8.control, "TESTER") as found:
        yield found


@pytest.fixture
def tty(guest8: Guest) -> Iterator[Tty]:
    """/dev/hvc0, raw."""
    with Tty(guest8.agent.worker("tty"), 0) as found:
        yield found


def pattern(size: int) -> bytes:
    """Every byte there is, at places that differ from line to line."""
    return bytes((at * 7 + at // 256) % 256 for at in range(size))


def take(terminal: IucvTerminal, size: int) -> bytes:
    """Take this number of the guest's bytes, in any number of messages."""
    data = b""
    while len(data) < size:
        part = terminal.read(LIMIT)
        assert part, f"severed after {len(data)} bytes"
        data += part
    return data


@contextlib.contextmanager
def first_of_all(guest: Guest, worker: Worker, first: bytes) -> Iterator[None]:
    """No other task of the guest's CPU runs before this one sleeps; *first* is the program."""
    task = Path(thread_of(worker)).name
    guest.agent.write_file("/tmp/first", first, 0o755)
    guest.agent.run(["/tmp/first", task, "1"]).check()
    yield
    guest.agent.run(["/tmp/first", task, "0"]).check()
    guest.agent.unlink("/tmp/first").check()


def reopened(guest: Guest, number: int) -> Tty:
    """A terminal that may just be hung up: as soon as it can be used."""
    found: list[Tty] = []

    def usable() -> bool:
        with contextlib.suppress(OSError):
            found.append(Tty(guest.agent.worker("tty"), number))
        return bool(found)

    wait_until(usable, f"/dev/hvc{number} can be used")
    return found[0]


def await_hangup(tty: Tty, number: int) -> None:
    """Until the kernel's thread has hung up a terminal that was severed.

    Closed before that, it refuses connections until it is opened again.  The first is not hung up.
    """
    assert number == 0 or tty.read(1) == b""


def refused(peer: Peer, name: str) -> bool:
    try:
        IucvTerminal(peer, USER, name).close()
    except TerminalRefused:
        return True
    return False


@pytest.mark.representative
@pytest.mark.requirement("H1")
def test_eight_terminals_are_eight_devices(guest8: Guest, peer: Peer) -> None:
    """Input at lnxhvcN is read from /dev/hvcN, and the other way round."""
    with contextlib.ExitStack() as stack:
        ttys = [stack.enter_context(Tty(guest8.agent.worker("tty"), n)) for n in range(8)]
        ends = [
            stack.enter_context(IucvTerminal(peer, USER, f"lnxhvc{n}", own=f"OWN{n}"))
            for n in reversed(range(8))
        ][::-1]
        for number, (end, tty) in enumerate(zip(ends, ttys)):
            names = end.answer.ipuser[:8].decode("cp037"), end.answer.ipuser[8:].decode("cp037")
            assert names == (f"OWN{number}    ", f"lnxhvc{number} ")
            end.send(f"to {number}".encode())
            tty.write(f"from {number}".encode())
        for number, (end, tty) in enumerate(zip(ends, ttys)):
            assert tty.read(4) == f"to {number}".encode()
            assert take(end, 6) == f"from {number}".encode()
        for number, (end, tty) in enumerate(zip(ends, ttys)):
            end.close()
            await_hangup(tty, number)


@pytest.mark.requirement("H1")
def test_name_without_a_number_is_the_first_free_terminal(guest8: Guest, peer: Peer) -> None:
    """Eight times, with one that is in use already; then there is none."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(IucvTerminal(peer, USER, "lnxhvc2"))
        used = []
        for number in (0, 1, 3, 4, 5, 6, 7):
            tty = stack.enter_context(Tty(guest8.agent.worker("tty"), number))
            end = stack.enter_context(IucvTerminal(peer, USER, "lnxhvc"))
            end.send(b"here")
            assert tty.read(4) == b"here"
            used.append((number, tty, end))
        assert refused(peer, "lnxhvc")
        for number, tty, end in used:
            end.close()
            await_hangup(tty, number)


@pytest.mark.representative
@pytest.mark.requirement("H2")
@pytest.mark.parametrize("size", [1, 255, 256, 4095, 4096, 4097, 20000])
def test_every_byte_arrives_both_ways(peer: Peer, tty: Tty, size: int) -> None:
    data = pattern(size)
    with IucvTerminal(peer, USER) as end:
        end.send(data)
        assert tty.read(size) == data
        tty.write(data)
        assert take(end, size) == data


@pytest.mark.requirement("H2")
def test_largest_and_smallest_messages(peer: Peer, tty: Tty) -> None:
    """One of 65,535 bytes, and many of one byte each, which are one stream."""
    largest = pattern(0xFFFF)
    with IucvTerminal(peer, USER) as end:
        end.send_raw(encode(Type.DATA, b""))
        end.send(largest)
        assert tty.read(len(largest)) == largest
        for byte in b"one by one":
            end.send(bytes([byte]))
        assert tty.read(10) == b"one by one"


@pytest.mark.requirement("H3")
def test_window_size(peer: Peer, tty: Tty) -> None:
    with IucvTerminal(peer, USER) as end:
        for rows, columns in ((43, 132), (24, 80), (1, 1), (0xFFFF, 0xFFFF)):
            end.resize(rows, columns)
            end.send(b".")
            assert tty.read(1) == b"."
            wait_until(functools.partial(tty.has_window, rows, columns), "the window's size")


@pytest.mark.representative
@pytest.mark.requirement("H4")
def test_severed_terminal_is_hung_up_and_can_be_connected_again(guest8: Guest, peer: Peer) -> None:
    """The reader gets what had been typed, then the end; writing fails; so again and again."""
    for number in range(10):
        with Tty(guest8.agent.worker("tty"), 1) as tty:
            with IucvTerminal(peer, USER, "lnxhvc1") as end:
                end.send(b"typed %d" % number)
                assert tty.read(7) == b"typed %d" % number
                tty.write(b"shown")
                assert take(end, 5) == b"shown"
            assert tty.read(1) == b""
            assert tty.worker.write(tty.fd, b"x").errno == errno.EIO
            ready = tty.worker.poll([(tty.fd, select.POLLIN)], 0)
            assert ready.revents[0] & select.POLLHUP


@pytest.mark.requirement("H4")
def test_reader_asleep_when_the_other_side_severs(guest8: Guest, peer: Peer) -> None:
    with Tty(guest8.agent.worker("tty"), 1) as tty:
        end = IucvTerminal(peer, USER, "lnxhvc1")
        batch = tty.worker.batch()
        batch.read(tty.fd, 100)
        folder = thread_of(tty.worker)
        pending = batch.start(LIMIT)
        await_sleep(guest8.agent, folder, READ)
        end.close()
        assert pending.result()[0].ret == 0


@pytest.mark.requirement("H4")
def test_first_terminal_outlives_its_connections(peer: Peer, tty: Tty) -> None:
    """It may be the kernel's console: a program that has it open is not hung up."""
    for number in range(5):
        # An answer of the guest's: its kernel has then heard of the last sever, which came before
        # the request in the same queue.  Connections wait in another one.
        tty.window()
        with IucvTerminal(peer, USER) as end:
            end.send(b"typed %d" % number)
            assert tty.read(7) == b"typed %d" % number
            tty.write(b"shown")
            assert take(end, 5) == b"shown"


@pytest.mark.requirement("H4")
def test_last_close_in_the_guest_severs(guest8: Guest, peer: Peer) -> None:
    """If the terminal hangs up on close (HUPCL), as it does by default."""
    first = Tty(guest8.agent.worker("tty"), 2, HUPCL)
    second = Tty(guest8.agent.worker("tty"), 2, HUPCL)
    with IucvTerminal(peer, USER, "lnxhvc2") as end:
        second.close()
        first.write(b"good-bye")
        assert take(end, 8) == b"good-bye"
        first.close()
        assert end.read(LIMIT) == b""


@pytest.mark.requirement("H4")
@pytest.mark.kernel_defect(
    10,
    "what is written and not yet taken at close() is taken from memory that has been freed",
    seen=r"assert b['\"]good.* == b'good-bye'",
    kernels=("bookworm", "trixie", "bookworm-backports"),
)
@pytest.mark.kernel_defect(
    10,
    "KASAN uses the memory that has been freed, so that no message is seen any more",
    seen=r"lnxhvc3 of LINUX001 sent no data, but Message\(.*",
    raises=TerminalGone,
    kernels=("bookworm:debug", "trixie:debug", "sid:debug"),
)
def test_close_without_a_sever_keeps_what_was_written(guest8: Guest, peer: Peer) -> None:
    """Without HUPCL the connection stays, and the partner takes the message when it likes."""
    with IucvTerminal(peer, USER, "lnxhvc3") as end:
        with Tty(guest8.agent.worker("tty"), 3) as tty:
            tty.write(b"good-bye")
        assert take(end, 8) == b"good-bye"


@pytest.mark.requirement("H4")
@pytest.mark.kernel_defect(
    35,
    "a terminal that is closed while its path goes refuses all connections",
    seen=r"the terminal is refused",
)
def test_terminal_that_is_closed_as_its_path_goes_can_be_connected_again(
    guest8: Guest, peer: Peer, program: Build
) -> None:
    """Without HUPCL: the last close sends what was written, and CP severs the path then."""
    tty, first = Tty(guest8.agent.worker("tty"), 4), program("first").read_bytes()
    with IucvTerminal(peer, USER, "lnxhvc4") as end, first_of_all(guest8, tty.worker, first):
        batch = tty.worker.batch()
        written, closed = batch.write(tty.fd, b"good-bye"), batch.close(tty.fd)
        with armed(guest8.control, Fault("iucv.send", "sever")) as rules:
            done = batch.run()
        assert (done[written].ret, done[closed].ret, rules[0].fired) == (8, 0, 1)
        assert end.read(LIMIT) == b""
    try:
        assert not refused(peer, "lnxhvc4"), "the terminal is refused"
    finally:
        with reopened(guest8, 4) as tty:
            wait_until(lambda: not refused(peer, "lnxhvc4"), "the terminal is free")
            await_hangup(tty, 4)


@pytest.mark.requirement("H5")
def test_users_that_are_allowed(guest8: Guest) -> None:
    """The list can be changed; who is not on it is refused, and the log says so."""
    agent = guest8.agent

    def allow(names: str) -> int:
        fd = agent.open(ALLOW, os.O_WRONLY).check()
        written = agent.write(fd, names.encode())
        agent.close(fd).check()
        return written.errno

    try:
        assert allow("admin,Tester") == 0
        assert agent.read_file(ALLOW).strip() == b"ADMIN,TESTER"
        before = agent.log_position()
        for name, allowed in (("TESTER", 1), ("ADMIN", 1), ("OTHER", 0), ("TESTER1", 0)):
            # The guest has heard of the last sever when it answers.
            agent.read_file(ALLOW)
            with Peer(guest8.control, name) as peer:
                assert refused(peer, "lnxhvc0") != allowed, name
        texts = [line.text for line in agent.dmesg(before)]
        assert [text for text in texts if text.startswith("hvc_iucv:")] == [
            f"hvc_iucv: A connection request from z/VM user ID {name} was refused"
            for name in ("OTHER   ", "TESTER1 ")
        ]
        for bad in (",", "A,,B", "TOOLONGID", "A,"):
            assert allow(bad) in (errno.EINVAL, 0 if bad == "A," else errno.EINVAL)
        many = ",".join(f"U{number}" for number in range(501))
        assert allow(many) == errno.ENOSPC
        assert allow("\n") == 0
        with Peer(guest8.control, "OTHER") as peer:
            assert not refused(peer, "lnxhvc0")
    finally:
        allow("\n")


@pytest.mark.requirement("H5")
@pytest.mark.zvmlab(command_line="hvc_iucv_allow=keeper")
def test_users_that_are_allowed_from_the_beginning(guest: Guest) -> None:
    with Peer(guest.control, "KEEPER") as keeper, Peer(guest.control, "TESTER") as tester:
        assert refused(tester, "lnxhvc0")
        assert not refused(keeper, "lnxhvc0")


@pytest.mark.requirement("H6")
def test_terminal_has_one_connection(guest8: Guest, peer: Peer, tty: Tty) -> None:
    """A second one is refused, of another user and of the same; the first goes on."""
    with IucvTerminal(peer, USER) as end, Peer(guest8.control, "OTHER") as other:
        assert refused(other, "lnxhvc0") and refused(peer, "lnxhvc0")
        end.send(b"still")
        assert tty.read(5) == b"still"
        end.close()
        wait_until(lambda: not refused(other, "lnxhvc3"), "another terminal")


@pytest.mark.requirement("H7")
@pytest.mark.parametrize("name", ["lnxhvc8", "lnxhvc9", "LNXHVC0", "lnxhv", "lnxhvc00", "x"])
def test_terminal_that_is_not_there_is_refused(guest8: Guest, peer: Peer, name: str) -> None:
    assert refused(peer, name)
    assert not refused(peer, "lnxhvc7")


@pytest.mark.requirement("H7")
def test_one_terminal_by_default(guest: Guest) -> None:
    with Peer(guest.control, "TESTER") as peer:
        assert refused(peer, "lnxhvc1")
        assert not refused(peer, "lnxhvc0")


@pytest.mark.requirement("H7")
@pytest.mark.parametrize("count", ["9", "1000", "0"])
@pytest.mark.zvmlab
def test_more_than_eight_are_none(
    request: pytest.FixtureRequest,
    zvmlab_kernel: str,
    zvmlab_backend: str,
    guest_pool: Pool,
    count: str,
) -> None:
    """The kernel says that the number is wrong, and has no terminal; 0 is none, and no error."""
    config = GuestConfig(
        kernel=zvmlab_kernel, backend=zvmlab_backend, command_line=f"hvc_iucv={count}"
    )
    with lent(request, guest_pool, config) as guest:
        texts = [line.text for line in guest.agent.dmesg() if line.text.startswith("hvc_iucv:")]
        said = f"hvc_iucv: {count} is not a valid value for the hvc_iucv= kernel parameter"
        assert texts == ([said] if count != "0" else [])
        with Peer(guest.control, "TESTER") as peer:
            assert refused(peer, "lnxhvc0")


@pytest.mark.requirement("H8")
def test_closed_terminal_takes_nothing(guest8: Guest, peer: Peer) -> None:
    """Messages are rejected until a program opens the device; then the connection is of use."""
    with IucvTerminal(peer, USER, "lnxhvc4") as end:
        end.send(b"nobody")
        done = peer.wait(EventType.MSG_COMPLETE, LIMIT, end.path)
        assert done.audit == IPADRJCT
        with Tty(guest8.agent.worker("tty"), 4) as tty:
            end.send(b"somebody")
            assert tty.read(8) == b"somebody"


BAD = {
    "no data": b"",
    "another version": bytes([VERSION + 1, Type.DATA]) + struct.pack(">H", 3) + b"bad",
    "version 0": bytes([0, Type.DATA]) + struct.pack(">H", 3) + b"bad",
    "length too large": bytes([VERSION, Type.DATA]) + struct.pack(">H", 4) + b"bad",
    "length too small": bytes([VERSION, Type.DATA]) + struct.pack(">H", 2) + b"bad",
    "type 0": encode(0, b"bad"),
    "two types": encode(Type.DATA | Type.WINDOW, b"bad"),
    "an error": encode(Type.ERROR, b"bad"),
    "environment": encode(Type.ENVIRONMENT, b"TERM=bad"),
    "termios": encode(Type.TERMIOS, bytes(36)),
    "unknown type": encode(0xFF, b"bad"),
    "short window": encode(Type.WINDOW, struct.pack(">3H", 10, 10, 0)),
    "long window": encode(Type.WINDOW, struct.pack(">5H", 10, 10, 0, 0, 0)),
    "one byte": bytes([VERSION]),
    "two bytes": bytes([VERSION, Type.DATA]),
    "three bytes": bytes([VERSION, Type.DATA, 0]),
    "too long": bytes([VERSION, Type.DATA, 0, 0]) + bytes(0x10000),
}


SHORT = pytest.mark.not_debug(
    "KASAN reports that it is read beyond its end: tests/debug", coverage=True, defect="hvc_iucv-15"
)


@pytest.mark.requirement("H9")
@pytest.mark.parametrize(
    "what", [pytest.param(w, marks=SHORT) if len(bad) < 4 else w for w, bad in BAD.items()]
)
def test_malformed_message_is_ignored(peer: Peer, tty: Tty, what: str) -> None:
    """The window stays as it is, nothing is read, and the next message is."""
    with IucvTerminal(peer, USER) as end:
        end.resize(25, 81)
        wait_until(lambda: tty.window() == (25, 81), "the window's size")
        end.send_raw(BAD[what])
        end.send(b"good")
        assert tty.read(4) == b"good"
        assert tty.window() == (25, 81)


@pytest.mark.requirement("H10")
def test_output_waits_for_who_is_slow(peer: Peer, tty: Tty) -> None:
    """Hundreds of kilobytes that nobody takes for a while: none is lost, none comes twice."""
    data = pattern(300_000)
    with IucvTerminal(peer, USER) as end:
        batch = tty.worker.batch()
        for at in range(0, len(data), 30_000):
            batch.write(tty.fd, data[at : at + 30_000])
        pending = batch.start(LIMIT)
        assert [call.ret for call in pending.result(LIMIT)] == [30_000] * 10
        assert take(end, len(data)) == data


@pytest.mark.requirement("H10")
def test_input_waits_for_who_is_slow(peer: Peer, tty: Tty) -> None:
    """Input waits while no program reads."""
    data = pattern(200_000)
    with IucvTerminal(peer, USER) as end:
        for at in range(0, len(data), 5000):
            end.send(data[at : at + 5000])
        assert tty.read(len(data)) == data


def _has_fired(guest: Guest, rules: list[ArmedFault]) -> bool:
    count(guest.control, rules)
    return rules[0].fired == 1


@pytest.mark.requirement("H11")
@pytest.mark.parametrize(
    "fault",
    [
        Fault("interrupt", "drop", name="TESTER", type=9, nth=1),
        Fault("interrupt", "delay", 1, name="TESTER", type=9, nth=1),
        Fault("interrupt", "duplicate", name="TESTER", type=9, nth=1),
        Fault("interrupt", "reorder", name="TESTER", type=9, nth=1),
        Fault("interrupt", "sever", 0, name="TESTER", type=9, nth=1),
        Fault("iucv.receive", "rc", 2, name="TESTER", nth=1),
        Fault("iucv.receive", "rc", 9, name="TESTER", nth=1),
        Fault("iucv.receive", "cc", 2, name="TESTER", nth=1),
        Fault("iucv.receive", "rc", 1, name="TESTER", nth=1),
        Fault("iucv.receive", "sever", 0, name="TESTER", nth=1),
        Fault("iucv.send", "rc", 3, name="TESTER", nth=1),
        Fault("iucv.send", "sever", 0, name="TESTER", nth=1),
        Fault("iucv.accept", "rc", 1, name="TESTER", nth=1),
        Fault("iucv.accept", "sever", 0, name="TESTER", nth=1),
    ],
    ids=lambda fault: f"{fault.point}-{fault.kind}-{fault.value}",
)
def test_fault_of_cp_leaves_the_terminal_usable(guest8: Guest, peer: Peer, fault: Fault) -> None:
    """Whatever becomes of the message: the terminal can be opened and connected again."""
    connected = False
    with Tty(guest8.agent.worker("tty"), 5) as tty, armed(guest8.control, fault) as rules:
        with contextlib.suppress(TerminalRefused), IucvTerminal(peer, USER, "lnxhvc5") as end:
            connected = True
            for data in (b"first", b"second"):
                with contextlib.suppress(TerminalGone):
                    end.send(data)
            tty.worker.write(tty.fd, b"answer")
            wait_until(functools.partial(_has_fired, guest8, rules), "the fault")
        while connected and tty.worker.read(tty.fd, 100).data:
            pass  # what was typed, until the terminal is hung up
    assert rules[0].fired == 1
    with reopened(guest8, 5) as tty:
        wait_until(lambda: not refused(peer, "lnxhvc5"), "the terminal is free")
        while tty.read(1):
            pass  # what was typed before, until the end of that connection
    with reopened(guest8, 5) as tty, IucvTerminal(peer, USER, "lnxhvc5") as end:
        end.send(b"again")
        # The kernel may still have had what was typed before.
        typed = tty.read(5)
        while not typed.endswith(b"again"):
            more = tty.read(1)
            assert more, f"hung up after {typed!r}"
            typed += more
        may = [b"", b"first", b"second", b"firstsecond"]
        # If the second message was there before the guest had been told of the first one.
        may += [b"secondfirst"] if fault.kind in ("delay", "reorder") else []
        assert typed.removesuffix(b"again") in may
        tty.write(b"here")
        assert take(end, 4) == b"here"
        end.close()
        await_hangup(tty, 5)


@pytest.mark.requirement("H12")
@pytest.mark.zvmlab(command_line="console=hvc0")
def test_console_of_the_kernel(guest: Guest) -> None:
    """The kernel's messages; the terminal stays connected when a program closes it."""
    with Peer(guest.control, "TESTER") as peer, IucvTerminal(peer, USER) as end:
        fd = guest.agent.open("/dev/kmsg", os.O_WRONLY).check()
        guest.agent.write(fd, b"<1>zvmlab says hello\n").check()
        guest.agent.close(fd).check()
        assert b"zvmlab says hello" in end.read_until(b"hello")


@pytest.mark.requirement("H14")
def test_attributes_say_who_is_connected(guest8: Guest, peer: Peer) -> None:
    """States: 0:0 disconnected and closed, 1 connected, 1 open (drivers/tty/hvc/hvc_iucv.c)."""

    def attribute(name: str) -> str:
        return guest8.agent.read_file(f"/sys/bus/iucv/devices/hvc_iucv3/{name}").decode()

    assert attribute("termid") == "lnxhvc3 \n"
    assert (attribute("state"), attribute("peer")) == ("0:0\n", ":\n")
    with IucvTerminal(peer, USER, "lnxhvc3", own="OWN") as end:
        assert (attribute("state"), attribute("peer")) == ("1:0\n", "TESTER  :OWN     \n")
        with Tty(guest8.agent.worker("tty"), 3) as tty:
            assert attribute("state") == "1:1\n"
            end.close()
            await_hangup(tty, 3)
    wait_until(lambda: attribute("state") == "0:0\n", "the end", lambda: attribute("state"))
    assert (attribute("peer"), attribute("termid")) == (":\n", "lnxhvc3 \n")


def spawn_shell(guest: Guest) -> Process:
    """A shell that getty has started at lnxhvc6; its end is getty's."""
    guest.agent.write_file("/tmp/login", b"#!/bin/sh\necho > /tmp/ready\nexec /bin/sh\n", 0o755)
    # A shell between, because the agent's programs lead their process groups.
    getty = guest.agent.worker("getty").spawn(
        ["/bin/sh", "-c", "/bin/busybox getty -n -l /tmp/login 0 hvc6 dumb; echo $?"]
    )
    # What is typed before is thrown away, by getty or because the terminal is closed.
    wait_until(lambda: guest.agent.open("/tmp/ready").errno == 0, "the shell")
    return getty


def console_command(guest: Guest) -> list[str]:
    """zvmlab console for that shell."""
    return [str(ROOT / "zvmlab"), "console", "--iucv", guest.name, "--terminal", "lnxhvc6"]


@pytest.fixture
def keyboard() -> Iterator[tuple[int, int]]:
    """Both ends of a terminal: where keys are pressed, and what a program has for its input."""
    ends = os.openpty()
    yield ends
    for fd in ends:
        os.close(fd)


@pytest.mark.representative
@pytest.mark.requirement("H13")
def test_shell_from_outside(guest8: Guest, keyboard: tuple[int, int]) -> None:
    """zvmlab console: a shell that getty has started, its output, its end."""
    keys, terminal = keyboard
    getty = spawn_shell(guest8)
    shown = b""
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(
            subprocess.Popen(
                console_command(guest8),
                stdin=terminal,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        )
        stack.callback(process.kill)
        assert process.stdout is not None and process.stderr is not None
        output = process.stdout.fileno()

        def is_shown() -> bool:
            nonlocal shown
            if select.select([output], [], [], 0)[0]:
                shown += os.read(output, 4096)
            return b"42is" in shown

        # What is typed before is a line for nobody.
        wait_until(lambda: not termios.tcgetattr(terminal)[LFLAG] & termios.ICANON, "single keys")
        os.write(keys, b"stty -echo; echo $((6 * 7))is; exit\r")
        wait_until(is_shown, "the answer", lambda: shown)
        assert getty.wait(LIMIT).check().stdout == b"0\n"
        os.write(keys, bytes([ESCAPE]))
        assert process.wait(LIMIT) == 0
        assert b"lnxhvc6 of LINUX001 is connected" in process.stderr.read()


@pytest.mark.full
@pytest.mark.requirement("H13")
def test_shell_that_reads_from_a_pipe(guest8: Guest) -> None:
    """A shell's end is the end of its session, not of the path; then the console waits for 10 s."""
    getty = spawn_shell(guest8)
    done = subprocess.run(
        console_command(guest8),
        input=b"stty -echo hupcl; echo $((6 * 7))is; exit\n",
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"42is" in done.stdout
    assert b"lnxhvc6 of LINUX001 is connected" in done.stderr
    assert getty.wait(LIMIT).check().stdout == b"0\n"


@pytest.mark.requirement("H7")
@pytest.mark.zvmlab(command_line="hvc_iucv=many")
def test_number_that_is_none_is_one_terminal(guest: Guest) -> None:
    """The kernel says so, and has the terminal that it has by default."""
    said = "hvc_iucv: hvc_iucv= invalid parameter value 'many'"
    assert said in [line.text for line in guest.agent.dmesg()]
    with Peer(guest.control, "TESTER") as peer:
        assert refused(peer, "lnxhvc1")
        assert not refused(peer, "lnxhvc0")


@pytest.mark.requirement("H5")
@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("ninechars", "hvc_iucv_allow= does not specify a valid z/VM user ID list"),
        (",".join(["KEEPER"] * 501), "hvc_iucv_allow= specifies too many z/VM user IDs"),
    ],
    ids=["einval", "enospc"],
)
def test_list_that_is_wrong_from_the_beginning(
    request: pytest.FixtureRequest,
    zvmlab_kernel: str,
    zvmlab_backend: str,
    guest_pool: Pool,
    names: str,
    said: str,
) -> None:
    """The kernel says what is wrong, and has no terminal: nobody may connect by mistake."""
    config = GuestConfig(
        kernel=zvmlab_kernel, backend=zvmlab_backend, command_line=f"hvc_iucv_allow={names}"
    )
    with lent(request, guest_pool, config) as guest:
        assert f"hvc_iucv: {said}" in [line.text for line in guest.agent.dmesg()]
        with Peer(guest.control, "KEEPER") as keeper:
            assert refused(keeper, "lnxhvc0")


@pytest.mark.requirement("H11")
@pytest.mark.zvmlab(cold=True, command_line="hvc_iucv=3")
def test_kernel_without_a_buffer_for_interruptions_has_no_terminals(paused_guest: Guest) -> None:
    """CP refuses DECLARE BUFFER to hvc_iucv, which asks first; who asks later gets it."""
    fault = Fault("iucv.declare-buffer", "rc", 0x5C, nth=1)
    with armed(paused_guest.control, fault) as rules:
        paused_guest.boot()
    assert rules[0].fired == 1
    texts = [line.text for line in paused_guest.agent.dmesg()]
    for said in (
        "iucv: Defining an interrupt buffer on CPU 0 failed with 0x5c (Paging or storage error)",
        "hvc_iucv: Registering IUCV handlers failed with error code=-5",
    ):
        assert said in texts
    with Peer(paused_guest.control, "TESTER") as peer:
        assert refused(peer, "lnxhvc0") and refused(peer, "lnxhvc2")
