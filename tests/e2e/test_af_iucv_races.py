# SPDX-License-Identifier: MIT
"""Races of AF_IUCV: one CPU stands still within a call, or in an interruption, while the other goes on."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from iucv_socket import SO_MSGLIMIT, SOL_IUCV, Socket, address
from test_af_iucv import pattern
from test_af_iucv_hipersockets import ALPHA, BETA, MODULE, SOURCE, bound, sockets
from test_af_iucv_sockets import GUEST, MESSAGES, to_peer
from waiting import LIMIT, wait_until
from zvmlab.agent.calls import Both, Out
from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Worker
from zvmlab.cp.faults import Fault, armed
from zvmlab.cp.peer import Peer
from zvmlab.guest.config import QEMU
from zvmlab.guest.guest import Guest
from zvmlab.monitor.steps import task_state, thread_of

pytestmark = pytest.mark.zvmlab(cpus=2)
# The interruptions of AF_IUCV, and the agent's, are CPU 0's.
CPU = 1
NEVER = 1_000_000


@pytest.fixture(autouse=True)
def in_qemu(zvmlab_backend: str) -> None:
    if zvmlab_backend != QEMU:
        pytest.skip("only QEMU holds a CPU at a function")


@pytest.fixture
def here(guest: Guest) -> Worker:
    """A thread of the guest on CPU 0."""
    worker = guest.agent.worker("free")
    guest.agent.keep_on(worker, 0)
    return worker


@pytest.fixture
def there(guest: Guest) -> Worker:
    """A thread of the guest on CPU 1."""
    worker = guest.agent.worker("held")
    guest.agent.keep_on(worker, CPU)
    return worker


@pytest.fixture
def peer(guest: Guest) -> Iterator[Peer]:
    with Peer(guest.control, "PARTNER") as found:
        yield found


# The beginning of iucv_sever_path(), as far as it takes the path from the socket.
TAKES_PATH = 128


@pytest.mark.requirement("I8", "I10")
def test_partner_severs_at_any_moment_of_a_close(
    guest: Guest, here: Worker, there: Worker, peer: Peer
) -> None:
    """Either the interruption severs the path or close() does, and nobody uses it afterwards.

    close() has begun when the interruption comes.  That stands still at one instruction after the
    other until close() is about to sever the path, or has found that there is none; then it goes first.
    """
    before, held = path_ids(guest), 0
    for offset in range(0, TAKES_PATH, 2):
        with to_peer(here, peer) as (client, stream):
            (path,) = path_ids(guest) - before
            # It counts the calls, and never fires.
            severs = Fault("iucv.sever", "rc", 1, path=path, user=GUEST, nth=NEVER)
            with armed(guest.control, severs) as rules:
                with (
                    guest.hold(f"af_iucv:iucv_sever_path+{offset}", cpu=0) as interruption,
                    guest.hold("af_iucv:iucv_callback_connrej", cpu=0, where="return") as over,
                    guest.hold("sock_def_wakeup", cpu=CPU) as begin,
                    guest.hold("iucv_path_sever", cpu=CPU) as sever,
                    guest.hold("release_sock", cpu=CPU) as end,
                ):
                    batch = there.batch()
                    batch.close(client.fd)
                    closing = batch.start(LIMIT)
                    client.fd = -1
                    begin.wait(LIMIT)
                    stream.close()
                    # No instruction begins at every offset.
                    wait_until(lambda: interruption.held or over.held, "the interruption")
                    held += interruption.held
                    begin.release()
                    wait_until(lambda: sever.held or end.held, "close()")
                    interruption.release()
                    over.release()
                    # The agent's interruptions come after this one.
                    guest.agent.read_file("/proc/version")
                assert closing.result(LIMIT)[0].errno == 0
            assert rules[0].matched == 1, f"severed {rules[0].matched} times at offset {offset}"
        assert path_ids(guest) == before
    assert held >= 8


def path_ids(guest: Guest) -> set[int]:
    """The numbers of the guest's paths, as CP has them."""
    found = guest.control.execute("query-paths", user=GUEST)["paths"]
    return {int(one["path"]) for one in found}


@pytest.mark.requirement("I12")
def test_options_are_read_before_or_after_another_call(
    guest: Guest, here: Worker, there: Worker
) -> None:
    """The path of a connection that may fail is nobody else's until connect() is through."""
    with Socket.make(here, name="CLIENT") as client:
        with guest.hold("iucv_path_connect", cpu=CPU) as hold:
            at = address("NOBODY", "SERVER")
            batch = there.batch()
            batch.call(Call.CONNECT, client.fd, at, len(at))
            connecting = batch.start(LIMIT)
            assert hold.wait(LIMIT) == CPU
            thread = thread_of(here)
            batch = here.batch()
            length = (4).to_bytes(4, "big")
            batch.call(
                Call.GETSOCKOPT, client.fd, SOL_IUCV, SO_MSGLIMIT, Out(4, whole=True), Both(length)
            )
            reading = batch.start(LIMIT)
            wait_until(
                lambda: reading.done() or task_state(guest.agent, thread) == "D",
                "getsockopt() done or asleep",
            )
            assert not reading.done()
        assert connecting.result(LIMIT)[0].errno == errno.ENETUNREACH
        assert reading.result(LIMIT)[0].errno == 0


# What the kernel's own af_iucv does against this: docs/upstream-kernel.md.


@pytest.mark.requirement("I16")
@pytest.mark.zvmlab(cpus=2, command_line="init_on_free=1")
@pytest.mark.not_debug("KASAN reports that CP reads what was freed", defect="af_iucv-61")
@pytest.mark.kernel_defect(
    61, "a message is freed while its partner can receive it", seen=r"assert b'\\x00.* == b'.*"
)
def test_message_stays_until_close_has_severed(
    guest: Guest, here: Worker, there: Worker, peer: Peer
) -> None:
    """The partner takes it when close() has waited long enough, and is about to sever."""
    with to_peer(here, peer) as (client, stream):
        client.send(pattern(1500, 1))
        event = peer.wait(MESSAGES, LIMIT, stream.path)
        with guest.hold("iucv_path_sever", cpu=CPU) as hold:
            batch = there.batch()
            batch.close(client.fd)
            client.fd = -1
            closing = batch.start(LIMIT)
            hold.wait(LIMIT)
            found = peer.receive(stream.path, event.msgid, event.trgcls, event.length)
        assert closing.result(LIMIT)[0].errno == 0
        assert found == pattern(1500, 1)


@pytest.mark.requirement("I10", "I16")
@pytest.mark.not_debug(
    "KASAN reports that the frame's socket has been freed",
    coverage=True,
    kernels=("bookworm",),
    defect="af_iucv-42",
)
@pytest.mark.kernel_defect(
    42,
    "a socket is freed while a frame for it is being received",
    seen=r"assert 4 == \(2 \+ 3\)",
    kernels=("bookworm", "bookworm-backports"),
)
def test_socket_that_receives_a_frame_stays_until_it_has_it(
    guest: Guest, here: Worker, there: Worker, built_module: Callable[..., Path]
) -> None:
    """It is closed while an interruption has found it: it goes when the interruption is over."""
    guest.agent.write_file(MODULE, built_module(SOURCE).read_bytes(), 0o600)
    assert guest.agent.insmod(MODULE).errno == 0
    before = sockets(guest)
    with bound(here, BETA, "SERVER") as server, bound(there, ALPHA, "CLIENT") as client:
        server.listen(1)
        client.connect(BETA, "SERVER")
        with server.accept() as accepted:
            server.close()
            with guest.hold("sk_filter_trim_cap", cpu=CPU) as hold:
                batch = there.batch()
                batch.call(Call.SENDTO, client.fd, b"frame", 5, 0, 0, 0)
                sending = batch.start(LIMIT)
                assert hold.wait(LIMIT) == CPU
                accepted.close()
                # The one of CLIENT's descriptor counts twice; SERVER's connection has none any more.
                assert sockets(guest) == before + 3
            assert sending.result(LIMIT)[0].errno == 0
    wait_until(lambda: sockets(guest) == before, "no socket left")
