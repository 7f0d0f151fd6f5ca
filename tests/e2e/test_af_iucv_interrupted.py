# SPDX-License-Identifier: MIT
"""AF_IUCV: an interruption stands still, at any instruction, while another CPU makes a call.

The judge is CP, which has one connection severed once and nothing but it; or the module's count of
sockets.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from iucv_socket import MSG_NOSIGNAL, SHUT_RDWR, SHUT_WR, SO_MSGLIMIT
from test_af_iucv_hipersockets import ALPHA, BETA, bound, devices, sockets
from test_af_iucv_races import CPU, NEVER, here, in_qemu, path_ids, peer, there
from test_af_iucv_sockets import GUEST, to_peer
from waiting import LIMIT, wait_until
from zvmlab.agent.calls import Out
from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Batch, Worker, module_path
from zvmlab.base.errors import UsageError
from zvmlab.cp.afiucv import AfIucvStream
from zvmlab.cp.faults import Fault, armed
from zvmlab.cp.peer import Peer
from zvmlab.guest.guest import Guest

from zvmlab.guest.hold import Hold
from zvmlab.guest.symbols import Symbols, functions_of

__all__ = ["here", "in_qemu", "peer", "there"]  # fixtures

pytestmark = pytest.mark.zvmlab(cpus=2)
# The partner has learned of the call, or the call goes no further: it is through with the socket, or
# waits for the lock that the interruption has.
ENDS = ("iucv_path_sever", "release_sock", "arch_spin_lock_wait")


@dataclass(frozen=True)
class Act:
    """What the partner does, and the guest's functions that learn of it.

    The agent's own connection goes through none of them.
    """

    does: Callable[[Peer, AfIucvStream], object]
    handler: str
    within: tuple[str, ...]
    """At their instructions the interruption stands still."""


ACTS = {
    "severs": Act(
        lambda _, stream: stream.close(),
        "iucv_callback_connrej",
        ("iucv_callback_connrej", "iucv_sever_path"),
    ),
    "ends-receiving": Act(
        lambda peer, stream: peer.quiesce(stream.path),
        "iucv_callback_shutdown",
        ("iucv_callback_shutdown",),
    ),
}
CALLS: dict[str, Callable[[Batch, int], object]] = {
    "close": lambda batch, fd: batch.close(fd),
    "shutdown": lambda batch, fd: batch.call(Call.SHUTDOWN, fd, SHUT_RDWR),
}
# Of a connection that has just gone.
ERRORS = {
    "close": (0,),
    "shutdown": (0, errno.ENOTCONN),
}


def places(guest: Guest, act: Act) -> Iterator[str]:
    """The instructions of the functions."""
    module = guest.agent.read_file(module_path("af_iucv"))
    known = functions_of(module)
    for name in act.within:
        for offset in known[name].instructions(module):
            yield f"af_iucv:{name}+{offset}"


@pytest.mark.requirement("I8", "I10")
@pytest.mark.parametrize("does, call", [(does, call) for does in ACTS for call in CALLS])
def test_call_while_an_interruption_stands_still(
    guest: Guest, here: Worker, there: Worker, peer: Peer, does: str, call: str
) -> None:
    """At each of its instructions: whoever comes first, CP has the connection severed once."""
    act, held = ACTS[does], 0
    before = path_ids(guest)
    for place in places(guest, act):
        with to_peer(here, peer) as (client, stream):
            # It counts the calls, and never fires.
            (path,) = path_ids(guest) - before
            severs = Fault("iucv.sever", "rc", 1, path=path, user=GUEST, nth=NEVER)
            with armed(guest.control, severs) as rules:
                fd, client.fd = client.fd, -1 if call == "close" else client.fd
                held += stands_still(
                    guest, there, act, place, lambda: act.does(peer, stream), call, fd
                )
                client.close()
                wait_until(lambda: path_ids(guest) == before, f"no path left at {place}")
            assert rules[0].matched == 1, f"severed {rules[0].matched} times at {place}"
    assert held >= 8


def stands_still(
    guest: Guest,
    there: Worker,
    act: Act,
    place: str,
    begin: Callable[[], object],
    call: str,
    fd: int,
    where: str = "entry",
) -> bool:
    """Begin the call, then the interruption; let the call go on while it stands still there.

    Return: did it come there?
    """
    with ExitStack() as stack:

        def hold(function: str, cpu: int, where: str = "entry") -> Hold:
            return stack.enter_context(guest.hold(function, cpu, where=where))

        interruption = hold(place, 0, where)
        through = hold(f"af_iucv:{act.handler}", 0, "return")
        owns = hold("lock_sock_nested", CPU, "return")
        batch = there.batch()
        CALLS[call](batch, fd)
        calling = batch.start(LIMIT)
        owns.wait(LIMIT)
        # While CPU 0 stands still, CPU 1 waits for no lock but one that CPU 0 has.
        ends = [hold(name, CPU) for name in ENDS]
        begin()
        wait_until(lambda: interruption.held or through.held, "the interruption")
        found = interruption.held
        owns.release()
        wait_until(lambda: any(one.held for one in ends), "the call at its end, or waiting")
        interruption.release()
        through.release()
        # The agent's interruptions come after this one.
        guest.agent.read_file("/proc/version")
    assert calling.result(LIMIT)[0].errno in ERRORS[call]
    return found


# What the kernel's own af_iucv does against this: docs/upstream-kernel.md.


@pytest.mark.requirement("I8", "I9")
@pytest.mark.kernel_defect(
    48,
    "an end of sending while the partner severs goes to path 0, which is another connection's",
    seen=r"assert 1 == 0",
)
def test_shutdown_while_the_partner_severs_reaches_nobody_else(
    guest: Guest, here: Worker, there: Worker, peer: Peer
) -> None:
    """It fails, or comes before; the guest's other paths carry nothing of it."""
    assert 0 in path_ids(guest)
    with to_peer(here, peer) as (client, stream):
        # It counts the calls, and never fires.
        sends = Fault("iucv.send", "rc", 1, path=0, user=GUEST, nth=NEVER)
        with armed(guest.control, sends) as rules:
            severs = ACTS["severs"], "iucv_path_sever", stream.close
            assert stands_still(guest, there, *severs, "shutdown", client.fd, "return")
        assert rules[0].matched == 0


@pytest.mark.requirement("I8", "I9")
@pytest.mark.kernel_defect(
    48,
    "data that are sent while the partner severs go to path 0, which is another connection's",
    seen=r"assert 1 == 0",
)
def test_send_while_the_partner_severs_reaches_nobody_else(
    guest: Guest, here: Worker, there: Worker, peer: Peer
) -> None:
    """The path goes when send() has looked at the state: it fails, or is through before."""
    assert 0 in path_ids(guest)
    with to_peer(here, peer) as (client, stream), ExitStack() as stack:

        def hold(function: str, cpu: int, where: str = "entry") -> Hold:
            return stack.enter_context(guest.hold(function, cpu, where=where))

        # CP refuses it, because whoever has that path cannot use it.
        sends = Fault("iucv.send", "rc", 1, path=0, user=GUEST, nth=1)
        (rule,) = stack.enter_context(armed(guest.control, sends))
        lock = Symbols(guest.artifacts.kernel, guest.agent).find("arch_spin_lock_wait")
        through = hold("af_iucv:iucv_callback_connrej", 0, "return")
        sending, owns = hold("skb_queue_tail", CPU), hold("lock_sock_nested", CPU, "return")
        batch = there.batch()
        batch.call(Call.SENDTO, client.fd, b"data", 4, MSG_NOSIGNAL, 0, 0)
        call = batch.start(LIMIT)
        owns.wait(LIMIT)
        owns.release()
        sending.wait(LIMIT)
        # The agent goes on answering on this CPU.
        waits = stack.enter_context(Hold(guest, "arch_spin_lock_wait", lock, 0, 1, "entry"))
        stream.close()
        wait_until(lambda: through.held or waits.held, "the interruption at its end, or waiting")
        for one in (sending, waits, through):
            one.release()
        assert call.result(LIMIT)[0].errno in (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN)
    assert rule.matched == 0


@dataclass(frozen=True)
class Frame:
    """A frame that a call of CLIENT's sends, and where its reception stands still."""

    call: Callable[[Batch, int], object]
    at: Sequence[str]
    """The function; names of other kernels follow."""
    nth: int = 1

    def hold(self, guest: Guest) -> Hold:
        """The CPU that comes there."""
        *others, last = self.at
        for name in others:
            with suppress(UsageError):
                return guest.hold(name, cpu=CPU, nth=self.nth)
        return guest.hold(last, cpu=CPU, nth=self.nth)


# Without trace points, consume_skb() is a part of its callers, which call these.
FREES = ("consume_skb", "sk_skb_reason_drop", "kfree_skb_reason")
FRAMES = {
    "data": Frame(
        lambda batch, fd: batch.call(Call.SENDTO, fd, b"data", 4, MSG_NOSIGNAL, 0, 0),
        ("sk_filter_trim_cap",),
    ),
    "end-of-sending": Frame(
        lambda batch, fd: batch.call(Call.SHUTDOWN, fd, SHUT_WR), ("sk_filter_trim_cap",)
    ),
    "close": Frame(lambda batch, fd: batch.close(fd), FREES),
    "window": Frame(
        lambda batch, fd: batch.call(Call.RECVFROM, fd, Out(4), 4, 0, 0, 0),
        FREES,
        nth=2,  # the first is the message that it has read
    ),
}
GONE = pytest.mark.kernel_defect(
    42,
    "a socket is freed while a frame for it is being received",
    seen=r"assert (\d+) == \(\d+ - 1\)",
    kernels=("bookworm", "bookworm-backports"),
)


@GONE
@pytest.mark.requirement("I10", "I16")
@pytest.mark.not_debug(
    "KASAN reports that the frame's socket has been freed",
    coverage=True,
    kernels=("bookworm",),
    defect="af_iucv-42",
)
@pytest.mark.parametrize("frame", FRAMES)
def test_socket_stays_while_a_frame_reaches_it(
    guest: Guest, here: Worker, there: Worker, built_module: Callable[..., Path], frame: str
) -> None:
    """It is closed meanwhile: its descriptor goes, and the socket when the frame is through."""
    sends = FRAMES[frame]
    with devices(guest, built_module):
        before = sockets(guest)
        with bound(here, BETA, "SERVER") as server, bound(there, ALPHA, "CLIENT") as client:
            client.set_option(SO_MSGLIMIT, 2).check()
            server.listen(1)
            client.connect(BETA, "SERVER")
            with server.accept() as accepted:
                server.close()
                accepted.send(b"data")
                fd, client.fd = client.fd, -1 if frame == "close" else client.fd
                with sends.hold(guest) as hold:
                    batch = there.batch()
                    sends.call(batch, fd)
                    sending = batch.start(LIMIT)
                    hold.wait(LIMIT)
                    count = sockets(guest)
                    accepted.close()
                    # It counts once more with a descriptor.
                    assert sockets(guest) == (count - 1)
                assert sending.result(LIMIT)[0].errno == 0
        wait_until(lambda: sockets(guest) == before, "no socket left")
