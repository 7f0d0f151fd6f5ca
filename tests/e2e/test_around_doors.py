# SPDX-License-Identifier: MIT
"""What surrounds the files of z/VM's drivers: pipes, io_uring, tracers, the freezer, CPUs, cgroups.

What is required is POSIX', and what Linux documents for any file; the drivers have no part in it, and must
not stand in its way.
"""

from __future__ import annotations

import errno
import mmap
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from applications import DEVICE as WRITER, Header, declared
from around_lab import (
    ACCEPT,
    DISK_SIZE,
    MIB,
    POLL_ADD,
    PROGRAM,
    READ,
    RECV,
    SEND,
    SLEEPERS,
    USER,
    WRITE,
    Answer,
    Running,
    Sleeper,
    cgroup,
    freeze,
    lab_config,
    open_errno,
    run,
    set_cpu1,
)
from iucv_socket import SEQPACKET, STREAM, Socket
from test_af_iucv_sockets import pair
from test_hvc_iucv import Tty, take
from test_vmur import PUN, RDR, await_node, online

from waiting import wait_until
from zvmlab.cp.hvciucv import IucvTerminal
from zvmlab.cp.peer import Peer
from zvmlab.cp.spool import PUNCH, cards, files, put, read
from zvmlab.guest.config import HERCULES
from zvmlab.guest.guest import Guest
from zvmlab.guest.pool import Pool
from zvmlab.monitor.steps import OPENAT, READ as READ_CALL, await_sleep
from zvmlab.pytest_plugin.plugin import lent

if TYPE_CHECKING:
    from conftest import Build

PAGE = 4096
POLL_CALL, ACCEPT_CALL = 168, 364
POLLIN = 1
ERESTARTSYS = 512
VMCP = "/dev/vmcp"
DISK = "/dev/dcssblk0"
SYSFS = "/sys/devices/dcssblk"
DEVICES = ("0.0.000c", "0.0.000d")


@pytest.fixture(autouse=True)
def _qemu_only(zvmlab_backend: str) -> None:
    if zvmlab_backend == HERCULES:
        pytest.skip("the kernel is the subject, and it is the same in Hercules")


def _install(guest: Guest, program: Build) -> None:
    guest.agent.write_file(PROGRAM, program("around").read_bytes(), 0o755)


@pytest.fixture
def lab(
    request: pytest.FixtureRequest, zvmlab_kernel: str, guest_pool: Pool, program: Build
) -> Iterator[Guest]:
    """A guest with two CPUs and the program; no driver is loaded."""
    with lent(request, guest_pool, lab_config(zvmlab_kernel)) as guest:
        _install(guest, program)
        yield guest


@pytest.fixture(params=SLEEPERS)
def sleeper(
    request: pytest.FixtureRequest,
    zvmlab_kernel: str,
    guest_pool: Pool,
    program: Build,
    zvmlab_dir: Path,
) -> Iterator[Sleeper]:
    """An open file of a driver."""
    driver, make = SLEEPERS[request.param]
    with lent(request, guest_pool, lab_config(zvmlab_kernel, driver)) as guest:
        _install(guest, program)
        with make(guest, zvmlab_dir) as found:
            yield found


def _asleep(sleeper: Sleeper, *words: object, **environment: str) -> Running:
    """A process that reads the file, and sleeps."""
    running = Running(sleeper.guest, sleeper.fd, *(words or ("read", sleeper.size)), **environment)
    await_sleep(sleeper.guest.agent, running.folder, READ_CALL)
    return running


def _reads_on(sleeper: Sleeper) -> None:
    """The file is as good as before."""
    sleeper.rest()
    expected = sleeper.woken()
    assert run(sleeper.guest, sleeper.fd, "read", sleeper.size) == expected
    sleeper.rest()


# Processes that sleep.


@pytest.mark.requirement("E4")
def test_read_goes_on_after_a_tracer(sleeper: Sleeper) -> None:
    """It is stopped twice in its sleep, by ptrace(2), and never sees that."""
    running = Running(sleeper.guest, sleeper.fd, "traced", sleeper.size)
    expected = sleeper.woken()
    assert running.answer() == expected
    _reads_on(sleeper)


@pytest.mark.requirement("E4")
def test_read_goes_on_after_a_stop(sleeper: Sleeper) -> None:
    """What comes while it is stopped is read when it continues (signal(7))."""
    running = _asleep(sleeper)
    running.signal(signal.SIGSTOP, "T")
    expected = sleeper.woken()
    sleeper.guest.settle()
    running.await_state("T")
    running.signal(signal.SIGCONT)
    assert running.answer() == expected
    _reads_on(sleeper)


@pytest.mark.requirement("E4")
def test_read_goes_on_after_the_freezer(sleeper: Sleeper) -> None:
    """The same for a cgroup that is frozen; the second time, what comes finds it thawed."""
    with cgroup(sleeper.guest) as folder:
        running = _asleep(sleeper, CGROUP=folder)
        freeze(sleeper.guest, folder, True)
        expected = sleeper.woken()
        sleeper.guest.settle()
        freeze(sleeper.guest, folder, False)
        assert running.answer() == expected
        sleeper.rest()
        running = _asleep(sleeper, CGROUP=folder)
        freeze(sleeper.guest, folder, True)
        freeze(sleeper.guest, folder, False)
        await_sleep(sleeper.guest.agent, running.folder, READ_CALL)
        expected = sleeper.woken()
        assert running.answer() == expected
    _reads_on(sleeper)


@pytest.mark.requirement("E5")
def test_cpu_goes_while_a_read_sleeps_on_it(sleeper: Sleeper) -> None:
    """CP's interruptions go to the other one, and back when it is there again."""
    for cpu in ("1", "0"):
        running = _asleep(sleeper, CPU=cpu)
        set_cpu1(sleeper.guest, False)
        expected = sleeper.woken()
        assert running.answer() == expected
        sleeper.rest()
        running = _asleep(sleeper, CPU="0")
        set_cpu1(sleeper.guest, True)
        expected = sleeper.woken()
        assert running.answer() == expected
        sleeper.rest()
    _reads_on(sleeper)


@pytest.mark.requirement("E3")
def test_child_keeps_the_file_open(sleeper: Sleeper) -> None:
    """It is open until the last process has closed it, if by SIGKILL (close(2))."""
    running = Running(sleeper.guest, sleeper.fd, "nothing")
    sleeper.close()
    if sleeper.opens is not None:
        assert sleeper.opens() == errno.EBUSY
        running.kill()
        assert sleeper.opens() == 0
    else:
        running.kill()


@pytest.mark.requirement("E3")
def test_child_reads_what_the_parent_opened(sleeper: Sleeper) -> None:
    """The parent's close() ends nothing."""
    running = _asleep(sleeper)
    sleeper.close()
    expected = sleeper.woken()
    assert running.answer() == expected


@pytest.mark.requirement("E6")
def test_process_that_is_killed_for_its_storage_closes_the_file(sleeper: Sleeper) -> None:
    """By the limit of its cgroup."""
    with cgroup(sleeper.guest, memory_max="4M") as folder:
        running = Running(sleeper.guest, sleeper.fd, "eat", CGROUP=folder)
        sleeper.close()
        assert running.process.wait().signal == signal.SIGKILL
    if sleeper.opens is not None:
        assert sleeper.opens() == 0


@pytest.mark.requirement("E6")
def test_read_within_a_limit_of_storage(sleeper: Sleeper) -> None:
    """It needs no more than the process has."""
    with cgroup(sleeper.guest, memory_max="2M") as folder:
        running = _asleep(sleeper, CGROUP=folder)
        expected = sleeper.woken()
        assert running.answer() == expected
    _reads_on(sleeper)


# io_uring.


@pytest.mark.requirement("E2")
def test_ring_reads_what_is_there_and_what_comes(sleeper: Sleeper) -> None:
    """Its read sleeps as read() does; its poll says when there is something."""
    guest = sleeper.guest
    expected = sleeper.woken()
    assert run(guest, sleeper.fd, "ring", READ, sleeper.size) == expected
    sleeper.rest()
    running = Running(guest, sleeper.fd, "ring", READ, sleeper.size)
    expected = sleeper.woken()
    assert running.answer() == expected
    sleeper.rest()
    _reads_on(sleeper)


@pytest.mark.requirement("E2")
def test_ring_polls(sleeper: Sleeper) -> None:
    """Until something comes; vmlogrdr has no poll, and what has none is always ready (poll(2))."""
    running = Running(sleeper.guest, sleeper.fd, "ring", POLL_ADD, 0)
    if not _has_poll(sleeper):
        assert running.answer().ret & POLLIN
        return
    expected = sleeper.woken()
    assert running.answer().ret & POLLIN
    assert run(sleeper.guest, sleeper.fd, "read", sleeper.size) == expected
    _reads_on(sleeper)


def _has_poll(sleeper: Sleeper) -> bool:
    return sleeper.guest.agent.poll([(sleeper.fd, POLLIN)], 0).ret == 0


@pytest.mark.requirement("E2")
def test_ring_gives_up_a_read_that_sleeps(sleeper: Sleeper) -> None:
    """What comes after that is there for the next one."""
    found = run(sleeper.guest, sleeper.fd, "cancel", sleeper.size)
    assert (found.ret, found.data) == (-1, b"")
    # Before it sleeps, while it does; io_uring of 6.1 lets the kernel's own ERESTARTSYS out then.
    assert found.errno in (errno.ECANCELED, errno.EINTR, ERESTARTSYS)
    _reads_on(sleeper)


@pytest.mark.requirement("E2", "E3")
def test_process_ends_with_a_read_in_its_ring(sleeper: Sleeper) -> None:
    """The read ends with it, and the file is closed."""
    assert run(sleeper.guest, sleeper.fd, "leave", sleeper.size) == Answer(0, 0, b"")
    _reads_on(sleeper)
    sleeper.close()
    if sleeper.opens is not None:
        opens = sleeper.opens
        wait_until(lambda: opens() == 0, "the file is closed", opens)


# Mappings, pipes and files.


@pytest.mark.requirement("E1")
def test_what_cannot_be_mapped_says_so(sleeper: Sleeper) -> None:
    """ENODEV (mmap(2))."""
    agent = sleeper.guest.agent
    for flags in (mmap.MAP_SHARED, mmap.MAP_PRIVATE):
        assert agent.mmap(sleeper.fd, PAGE, mmap.PROT_READ, flags).errno == errno.ENODEV
    _reads_on(sleeper)


@pytest.mark.requirement("E1")
def test_reader_gives_pipes_and_files_nothing(sleeper: Sleeper) -> None:
    """EINVAL (splice(2), sendfile(2), copy_file_range(2)), and the data stay; from a terminal and a socket, splice() takes them."""
    guest, fd, size = sleeper.guest, sleeper.fd, sleeper.size
    expected = sleeper.woken()
    spliced = run(guest, fd, "splice", size)
    assert run(guest, fd, "sendfile", size) == Answer(-1, errno.EINVAL, b"")
    assert run(guest, fd, "copy", size) == Answer(-1, errno.EINVAL, b"")
    if sleeper.opens is None:
        assert spliced == expected
    else:
        assert spliced == Answer(-1, errno.EINVAL, b"")
        assert run(guest, fd, "read", size) == expected
    _reads_on(sleeper)


@pytest.mark.requirement("E1")
def test_terminal_takes_pipes_and_files(lab: Guest) -> None:
    """As any that is written to."""
    with (
        Peer(lab.control, "TYPIST") as peer,
        Tty(lab.agent.worker("tty"), 0) as tty,
        IucvTerminal(peer, USER, "lnxhvc0") as end,
    ):
        for action, said in (("feed", b"from a pipe"), ("put", b"from a file")):
            assert run(lab, tty.fd, action, stdin=said) == Answer(len(said), 0, b"")
            assert take(end, len(said)) == said


@pytest.mark.requirement("E1", "E2")
@pytest.mark.parametrize("kind", [STREAM, SEQPACKET], ids=["stream", "seqpacket"])
def test_socket_takes_pipes_and_files(lab: Guest, kind: int) -> None:
    """A stream does; a record has an end that splice() and sendfile() cannot say (EOPNOTSUPP)."""
    said = bytes(range(256)) * 100
    with pair(lab.agent, kind) as (client, accepted):
        for action in ("feed", "put"):
            found = run(lab, client.fd, action, stdin=said)
            if kind == SEQPACKET:
                assert found == Answer(-1, errno.EOPNOTSUPP, b"")
                continue
            assert found == Answer(len(said), 0, b"")
            assert accepted.recv_all(len(said)) == said
        assert run(lab, client.fd, "ring", WRITE, stdin=said) == Answer(len(said), 0, b"")
        assert accepted.recv(len(said)) == said
        client.send(said, 0x80)  # MSG_EOR
        assert run(lab, accepted.fd, "splice", len(said)) == Answer(len(said), 0, said)


def connect_for_a_moment(client: Socket) -> None:
    """To a program that accepts and then ends, which may be faster than connect() looks."""
    assert client.try_connect(USER, "SERVER").errno in (0, errno.ECONNREFUSED)


@pytest.mark.requirement("E2")
def test_connections_of_a_ring(lab: Guest) -> None:
    """accept() that waits, recv() and send()."""
    agent = lab.agent
    with Socket.make(agent, STREAM, "SERVER") as server, Socket.make(agent) as client:
        server.listen(1)
        accepting = Running(lab, server.fd, "ring", ACCEPT, 0)
        connect_for_a_moment(client)
        assert accepting.answer().errno == 0
    with pair(agent) as (client, accepted):
        receiving = Running(lab, accepted.fd, "ring", RECV, 4)
        assert run(lab, client.fd, "ring", SEND, stdin=b"sent") == Answer(4, 0, b"")
        assert receiving.answer() == Answer(4, 0, b"sent")


@pytest.mark.not_debug(
    "lockdep reports a listener that is closed with a connection that nobody took",
    kernels=("debug",),
    defect="af_iucv-14",
)
@pytest.mark.requirement("E4")
@pytest.mark.parametrize("action", ("accept", "poll"))
def test_listener_waits_on_after_a_stop(lab: Guest, action: str) -> None:
    """accept() and poll() of a socket for connections."""
    agent = lab.agent
    call = {"accept": ACCEPT_CALL, "poll": POLL_CALL}[action]
    with Socket.make(agent, STREAM, "SERVER") as server, Socket.make(agent) as client:
        server.listen(1)
        running = Running(lab, server.fd, action)
        await_sleep(agent, running.folder, call)
        running.signal(signal.SIGSTOP, "T")
        running.signal(signal.SIGCONT)
        connect_for_a_moment(client)
        assert running.answer() == Answer(int(action == "poll"), 0, b"")


# Files that are written to, and the disk.


@pytest.fixture
def writer(lab: Guest) -> Iterator[int]:
    """/dev/monwriter, open for writing."""
    lab.agent.modprobe("monwriter").check()
    fd = lab.agent.open(WRITER, os.O_WRONLY).check()
    yield fd
    lab.agent.close(fd)  # a test may have closed it
    lab.agent.rmmod("monwriter").check()
    assert declared(lab) == []


BUFFER = Header(datalen=100).encode() + bytes(range(100))


def _refuses_all_but_writes(guest: Guest, fd: int, data: bytes) -> None:
    """Of a file that is open for writing only (mmap(2), splice(2), sendfile(2))."""
    assert run(guest, fd, "feed", stdin=data) == Answer(-1, errno.EINVAL, b"")
    assert run(guest, fd, "put", stdin=data) == Answer(-1, errno.EINVAL, b"")
    for action in ("splice", "sendfile"):
        assert run(guest, fd, action, PAGE) == Answer(-1, errno.EBADF, b"")
    assert run(guest, fd, "copy", PAGE) == Answer(-1, errno.EINVAL, b"")
    for flags in (mmap.MAP_SHARED, mmap.MAP_PRIVATE):
        refused = guest.agent.mmap(fd, PAGE, mmap.PROT_WRITE, flags)
        assert refused.errno == errno.EACCES


@pytest.mark.requirement("E1", "E2", "E5", "E6")
def test_monwriter_is_written_to_from_anywhere(lab: Guest, writer: int) -> None:
    """By a ring, within a cgroup's limit, with a CPU that comes and goes; each buffer once."""
    _refuses_all_but_writes(lab, writer, BUFFER)
    assert declared(lab) == []
    whole = Answer(len(BUFFER), 0, b"")
    assert run(lab, writer, "ring", WRITE, stdin=BUFFER) == whole
    assert [buffer["length"] for buffer in declared(lab)] == [100]
    set_cpu1(lab, False)
    again = Header(record=2, datalen=100).encode() + bytes(100)
    with cgroup(lab, memory_max="2M") as folder:
        argv = [PROGRAM, str(writer), "ring", str(WRITE)]
        done = lab.agent.run(argv, {"CGROUP": folder}, again, inherit=True)
        assert done.check().stdout.split() == [b"113", b"0"]
    set_cpu1(lab, True)
    assert len(declared(lab)) == 2


@pytest.mark.requirement("E3", "E6")
@pytest.mark.parametrize("action", ("nothing", "eat"))
def test_monwriters_buffers_are_a_childs_until_it_ends(
    lab: Guest, writer: int, action: str
) -> None:
    """By SIGKILL, or for its storage: CP forgets them."""
    assert lab.agent.write(writer, BUFFER).check() == len(BUFFER)
    with cgroup(lab, memory_max="4M") as folder:
        running = Running(lab, writer, action, CGROUP=folder)
        lab.agent.close(writer).check()
        if action == "nothing":
            assert len(declared(lab)) == 1
            running.kill()
        else:
            assert running.process.wait().signal == signal.SIGKILL
    wait_until(lambda: declared(lab) == [], "CP forgets the buffer")


@pytest.mark.requirement("E1", "E2", "E3", "E5", "E6")
def test_vmcp_answers_whoever_asks(lab: Guest) -> None:
    """A ring, a child of who gave the command, within a cgroup's limit, on any CPU."""
    agent = lab.agent
    fd = agent.open(VMCP, os.O_RDWR).check()
    command = b"QUERY USERID"
    agent.write(fd, command).check()
    response = agent.read(fd, PAGE).data
    assert response.startswith(b"LINUX001 AT ")
    given, taken = Answer(len(command), 0, b""), Answer(len(response), 0, response)
    for action in ("feed", "put"):
        assert run(lab, fd, action, stdin=command) == Answer(-1, errno.EINVAL, b"")
    for action in ("splice", "sendfile", "copy"):
        assert run(lab, fd, action, PAGE) == Answer(-1, errno.EINVAL, b"")
    assert agent.mmap(fd, PAGE, mmap.PROT_READ, mmap.MAP_SHARED).errno == errno.ENODEV
    assert run(lab, fd, "ring", WRITE, stdin=command) == given
    assert run(lab, fd, "ring", READ, PAGE) == taken
    assert agent.write(fd, command).check() == len(command)
    assert run(lab, fd, "read", PAGE) == taken
    with cgroup(lab, memory_max="2M") as folder:
        for online, cpu in ((True, "1"), (False, "0"), (True, "1")):
            set_cpu1(lab, online)
            assert agent.write(fd, command).check() == len(command)
            running = Running(lab, fd, "read", PAGE, CPU=cpu, CGROUP=folder)
            assert running.answer() == taken
    agent.close(fd).check()


@pytest.fixture
def spool(lab: Guest) -> Guest:
    """The guest with its reader and punch."""
    lab.agent.modprobe("vmur").check()
    for device, node in zip(DEVICES, (RDR, PUN), strict=True):
        online(lab, device)
        await_node(lab, node)
    return lab


@pytest.mark.requirement("E1", "E2", "E5", "E6")
def test_cards_of_a_ring_and_of_another_cpu(spool: Guest) -> None:
    """Each is punched once, and read as it was punched."""
    agent = spool.agent
    card = cards("punched")
    fd = agent.open(PUN, os.O_WRONLY).check()
    _refuses_all_but_writes(spool, fd, card)
    assert run(spool, fd, "ring", WRITE, stdin=card) == Answer(80, 0, b"")
    set_cpu1(spool, False)
    assert run(spool, fd, "ring", WRITE, stdin=card) == Answer(80, 0, b"")
    agent.close(fd).check()
    spool.control.execute("cp-command", command="CLOSE 00D")
    (file,) = files(spool.control, USER, PUNCH)
    assert read(spool.control, file) == card * 2
    put(spool.control, USER, card * 100)
    fd = agent.open(RDR).check()
    page = agent.read(fd, PAGE).data
    assert len(page) == PAGE and card.rstrip(b"@") in page
    agent.lseek(fd, 0).check()
    for action in ("splice", "sendfile", "copy"):
        assert run(spool, fd, action, PAGE) == Answer(-1, errno.EINVAL, b"")
    assert agent.mmap(fd, PAGE, mmap.PROT_READ, mmap.MAP_PRIVATE).errno == errno.ENODEV
    set_cpu1(spool, True)
    with cgroup(spool, memory_max="2M") as folder:
        running = Running(spool, fd, "read", PAGE, CPU="1", CGROUP=folder)
        assert running.answer() == Answer(PAGE, 0, page)
        agent.lseek(fd, 0).check()
        assert run(spool, fd, "ring", READ, PAGE) == Answer(PAGE, 0, page)
    agent.close(fd).check()


@pytest.mark.requirement("E3", "E4")
def test_open_that_waits_for_the_punch(spool: Guest) -> None:
    """It waits on after a stop and the freezer, until the child that has the punch is killed."""
    agent = spool.agent
    fd = agent.open(PUN, os.O_WRONLY | os.O_NONBLOCK).check()
    owner = Running(spool, fd, "nothing")
    agent.close(fd).check()
    busy = os.O_WRONLY | os.O_NONBLOCK
    assert open_errno(spool, PUN, busy) == errno.EBUSY
    with cgroup(spool) as folder:
        opener = Running(spool, PUN, "open", os.O_WRONLY, CGROUP=folder)
        await_sleep(agent, opener.folder, OPENAT)
        opener.signal(signal.SIGSTOP, "T")
        opener.signal(signal.SIGCONT)
        await_sleep(agent, opener.folder, OPENAT)
        freeze(spool, folder, True)
        owner.kill()
        freeze(spool, folder, False)
        assert opener.answer() == Answer(0, 0, b"")
    assert open_errno(spool, PUN, busy) == 0


@pytest.fixture
def disk(lab: Guest) -> Iterator[int]:
    """A segment of the guest's own as a disk, open."""
    agent = lab.agent
    agent.modprobe("dcssblk").check()
    agent.write_file(f"{SYSFS}/add", b"DISK")
    agent.write_file(f"{SYSFS}/DISK/shared", b"0")
    fd = agent.open(DISK, os.O_RDWR).check()
    yield fd
    agent.close(fd)  # a test may have closed it
    agent.write_file(f"{SYSFS}/remove", b"DISK")
    agent.rmmod("dcssblk").check()


# Of Linux 6.1: dcssblk, defect 7.
TWO_ORDERS = pytest.mark.not_debug(
    "lockdep reports that a disk which was open is removed", kernels=("bookworm:debug",)
)


@TWO_ORDERS
@pytest.mark.requirement("E1", "E2")
def test_disk_in_pipes_files_and_rings(lab: Guest, disk: int) -> None:
    """What is written in one way is read in all others."""
    agent = lab.agent
    size = 0x10000
    for number, action in enumerate(("feed", "put", "ring")):
        data = bytes((number + at * 7 + at // 251) & 0xFF for at in range(size))
        words = (action, WRITE) if action == "ring" else (action,)
        agent.lseek(disk, 0).check()
        assert run(lab, disk, *words, stdin=data) == Answer(size, 0, b"")
        for reads in (("splice",), ("sendfile",), ("ring", READ), ("read",)):
            agent.lseek(disk, 0).check()
            assert run(lab, disk, *reads, size) == Answer(size, 0, data)
    agent.lseek(disk, 0).check()
    assert run(lab, disk, "copy", size) == Answer(-1, errno.EINVAL, b"")
    # Without the page cache, too.
    direct = agent.open(DISK, os.O_RDWR | os.O_DIRECT).check()
    assert run(lab, direct, "ring", READ, size) == Answer(size, 0, data)
    agent.lseek(direct, 0).check()
    assert run(lab, direct, "ring", WRITE, stdin=data[::-1]) == Answer(size, 0, b"")
    agent.close(direct).check()
    agent.lseek(disk, 0).check()
    assert run(lab, disk, "read", size) == Answer(size, 0, data[::-1])


@TWO_ORDERS
@pytest.mark.requirement("E1", "E5", "E6")
def test_disk_is_mapped_within_a_limit_of_storage(lab: Guest, disk: int) -> None:
    """Twice as much as the process may have, on a CPU that is gone when it is read."""
    with cgroup(lab, memory_max="4M") as folder:
        argv = [PROGRAM, str(disk), "map", str(DISK_SIZE)]
        environment = {"CGROUP": folder, "CPU": "1"}
        done = lab.agent.run(argv, environment, inherit=True).check()
        assert done.stdout.split() == [b"0", b"0"]
    set_cpu1(lab, False)
    found = b"".join(lab.agent.pread(disk, MIB, at).data for at in range(0, DISK_SIZE, MIB))
    numbers = [int.from_bytes(found[at : at + 8], "big") for at in range(0, DISK_SIZE, PAGE)]
    assert numbers == list(range(DISK_SIZE // PAGE))
    set_cpu1(lab, True)


@TWO_ORDERS
@pytest.mark.requirement("E3")
def test_disk_stays_while_a_child_has_it_open(lab: Guest, disk: int) -> None:
    """EBUSY for its removal, until the child is killed."""
    running = Running(lab, disk, "nothing")
    lab.agent.close(disk).check()
    with pytest.raises(OSError) as busy:
        lab.agent.write_file(f"{SYSFS}/remove", b"DISK")
    assert busy.value.errno == errno.EBUSY
    running.kill()
