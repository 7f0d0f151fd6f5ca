# SPDX-License-Identifier: MIT
"""Scenarios of what else in Linux talks to CP: special messages, cmm, terminals, AF_IUCV.

They have nothing to do with the driver monreader.  Each says how to find out whether its own
piece of the kernel still works.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
from collections.abc import Iterator

from zvmlab.agent.calls import BatchResult, Both, CallResult
from zvmlab.agent.wire import Call
from zvmlab.base.errors import Timeout, ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.cp.afiucv import AfIucvListener, AfIucvStream
from zvmlab.cp.hvciucv import IucvTerminal
from zvmlab.cp.peer import Peer
from zvmlab.monitor.steps import settle
from zvmlab.scenarios.context import Context, scenario
from zvmlab.scenarios.iucv_sockets import SHUT_WR, address, readable, receive, send, stream

_HANG_UP_SECONDS = 1.0
"""What the terminal's thread takes to hang it up; then it is tried again,"""
_TRIES_SECONDS = 10.0
"""for so long at least."""
_GUEST = "LINUX001"
_TESTER, _MANAGER = "TESTER", "VMRMSVM"
_AF_NETLINK, _SOCK_RAW = 16, 3
_KOBJECT_UEVENT = 15
_PAGES = "/proc/sys/vm/cmm_pages"
_TCSETS = 0x5402
# All bytes as they are, one at a time: VMIN is 1, CS8, CREAD and a speed (termbits.h).
_RAW = struct.pack(">4IB19s", 0, 0, 0o277, 0, 0, bytes(6) + b"\1" + bytes(12)) + bytes(2)


def _note(context: Context, what: str, *results: CallResult) -> None:
    context.note(
        what,
        returned=[result.ret for result in results],
        errors=[errno.errorcode.get(result.errno, str(result.errno)) for result in results],
        data=[result.data[: max(result.ret, 0)].decode("latin-1") for result in results],
    )


def _readable(context: Context, fd: int, seconds: float) -> bool:
    return readable(context.worker, fd, seconds)


def _has_path(context: Context, partner: str) -> bool:
    """Has the guest a path to this user, one whose end is severed there at least?"""
    paths = context.control.execute("query-paths", user=_GUEST)["paths"]
    return partner in [path["partner"] for path in paths]


@contextlib.contextmanager
def _uevents(context: Context) -> Iterator[int]:
    """A socket that the kernel's uevents come to."""
    worker = context.worker
    fd = worker.call(Call.SOCKET, _AF_NETLINK, _SOCK_RAW, _KOBJECT_UEVENT).check()
    try:
        own = struct.pack(">HHII", _AF_NETLINK, 0, 0, 1)
        worker.call(Call.BIND, fd, own, len(own)).check()
        yield fd
    finally:
        worker.close(fd)


def _texts(context: Context, fd: int, last: str) -> list[str]:
    """Senders and texts of special messages up to the last one, or of those that come."""
    found: list[str] = []
    limit = Limit(context.patience)
    while last not in found and _readable(context, fd, limit.left()):
        fields = dict(
            part.decode("latin-1").split("=", 1)
            for part in context.worker.read(fd, 65536).data.split(b"\0")
            if b"=" in part
        )
        if "SMSG_TEXT" in fields:
            found.append(f"{fields['SMSG_SENDER']} {fields['SMSG_TEXT']}")
    return found


def _messages(context: Context, texts: list[str]) -> list[str]:
    """Send these as special messages; what becomes of them in the guest."""
    with _uevents(context) as fd, Peer(context.control, _TESTER) as tester:
        for text in texts:
            context.note("SMSG", rc=tester.cp(f"SMSG {_GUEST} APP {text}").rc)
        return _texts(context, fd, f"{_TESTER} {texts[-1]}")


def _messages_arrive(context: Context) -> str | None:
    context.worker.modprobe("smsgiucv_app")
    found = _messages(context, ["again", "and again"])
    context.worker.rmmod("smsgiucv_app")
    # CP may have held back one of those before.
    wanted = {f"{_TESTER} again", f"{_TESTER} and again"}
    return None if wanted <= set(found) else f"special messages become {found}"


@scenario(
    "special-messages",
    "Three messages to smsgiucv_app, which is loaded and unloaded.",
    partner="*MSG",
    modules=("smsgiucv_app",),
    usable=_messages_arrive,
)
def special_messages(context: Context) -> None:
    """Each becomes a uevent."""
    context.note("load", errno=context.worker.modprobe("smsgiucv_app").errno)
    context.note("events", texts=_messages(context, ["one", "two", "three"]))
    context.note("unload", errno=context.worker.rmmod("smsgiucv_app").errno)


def _given(context: Context) -> str:
    """Pages that the guest has given to CP."""
    return context.worker.read_text(_PAGES).strip()


def _shrink(context: Context, pages: int, times: int = 1) -> str:
    """Have the guest give so many pages to CP; how many it has given after a while.

    Who tells it stays: whether that user has gone before the pages would be a matter of luck.
    """
    with Peer(context.control, _MANAGER) as manager:
        for _ in range(times):
            manager.cp(f"SMSG {_GUEST} CMM SHRINK {pages}")
        limit = context.control.limit(context.patience)
        return limit.look(lambda: _given(context), lambda given: given == str(pages))


def _shrinks(context: Context) -> str | None:
    # What CP holds back comes after one message more, or two: those of before are behind it then.
    for pages, times in ((3, 3), (0, 1)):
        found = _shrink(context, pages, times)
        if found != str(pages):
            return f"cmm_pages is {found} instead of {pages}"
    return None


@scenario(
    "cmm",
    "The guest gives four pages to CP, told to by SMSG, and takes them back.",
    partner="*MSG",
    usable=_shrinks,
)
def cmm(context: Context) -> None:
    """DIAGNOSE X'10' for each page."""
    for pages in (4, 0):
        context.note("shrink", pages=_shrink(context, pages))


def _terminal(context: Context, seconds: float) -> list[str]:
    """Connect, one line in each direction, and the end; what was read."""
    worker, found = context.worker, []
    opened = worker.open("/dev/hvc0", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    fd = opened.check()
    try:
        worker.ioctl(fd, _TCSETS, Both(_RAW))
        with Peer(context.control, _TESTER) as tester:
            with IucvTerminal(tester, _GUEST, timeout=seconds) as terminal:
                terminal.resize(24, 80)
                # Or it would be luck whether the guest's RECEIVE or the next SEND comes first.
                with contextlib.suppress(Timeout):
                    terminal.wait_taken(seconds)
                terminal.send(b"typed")
                _readable(context, fd, seconds)
                found.append(worker.read(fd, 100).data.decode("latin-1"))
                worker.write(fd, b"shown")
                found.append(terminal.read(seconds).decode("latin-1"))
                # The end of the path ends what the guest has not been told of its message.
                settle(context.guest)
            # The same for the guest's SEVER and LOGOFF.
            context.control.limit(seconds).look(lambda: not _has_path(context, _TESTER))
    except ZvmlabError as error:
        found.append(type(error).__name__)
    finally:
        worker.close(fd)
    return found


def _terminal_works(context: Context) -> str | None:
    limit = context.control.limit(max(context.patience, _TRIES_SECONDS))
    found = _terminal(context, _HANG_UP_SECONDS)
    while found != ["typed", "shown"] and not limit.over:
        _let_hang_up(context)
        found = _terminal(context, _HANG_UP_SECONDS)
    return None if found == ["typed", "shown"] else f"the terminal gives {found}"


def _let_hang_up(context: Context) -> None:
    """Open the terminal until its thread has hung it up, if its path has been severed.

    The kernel does so only while it is open.  One that is closed before refuses all connections
    until somebody opens it for long enough.
    """
    fd = context.worker.open("/dev/hvc0", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK).check()
    _readable(context, fd, _HANG_UP_SECONDS)
    context.worker.close(fd)


@scenario(
    "terminal",
    "A user connects to the terminal lnxhvc0; a line in each direction.",
    partner=_TESTER,
    usable=_terminal_works,
)
def terminal(context: Context) -> None:
    """Window size, data, and the end of the connection."""
    context.note("terminal", lines=_terminal(context, context.patience))


def _exchange(context: Context, fd: int, partner: AfIucvStream) -> list[CallResult]:
    """A message each way, in a buffer."""
    worker = context.worker
    sent = send(worker, fd, b"question")
    with contextlib.suppress(Timeout):
        context.note("the partner", read=partner.recv(context.patience).decode("latin-1"))
    with contextlib.suppress(ZvmlabError):
        partner.send(b"an answer", context.patience)
    _readable(context, fd, context.patience)
    return [sent, receive(worker, fd)]


def _converse(context: Context) -> None:
    """The guest connects to a user that is played."""
    worker, fd = context.worker, stream(context.worker, context.patience)
    to = address(_TESTER, "SERVER")
    with Peer(context.control, _TESTER) as tester:
        batch = worker.batch()
        batch.call(Call.CONNECT, fd, to, len(to))
        pending = batch.start(3 * context.patience)
        connected: BatchResult | None = None
        try:
            with AfIucvListener(tester, "SERVER").accept(context.patience) as partner:
                connected = pending.result()
                _note(context, "connect", connected[0])
                _note(context, "exchange", *_exchange(context, fd, partner))
                _note(context, "shutdown", worker.call(Call.SHUTDOWN, fd, SHUT_WR))
                context.note("the end", data=partner.recv(context.patience).decode("latin-1"))
        except ZvmlabError as error:
            context.note("the partner", error=type(error).__name__)
            if connected is None:
                pending.result()
        finally:
            _note(context, "close", worker.close(fd))


def _sockets_work(context: Context) -> str | None:
    before = len(context.steps)
    _converse(context)
    found = [step.result for step in context.steps[before:]]
    wanted = {"read": "question"}
    return None if wanted in found and {"data": ""} in found else f"sockets give {found}"


@scenario(
    "sockets",
    "A program connects an AF_IUCV socket; a message each way; the end.",
    partner=_TESTER,
    usable=_sockets_work,
)
def sockets(context: Context) -> None:
    """CONNECT, SEND, RECEIVE and SEVER of the kernel's af_iucv."""
    _converse(context)
