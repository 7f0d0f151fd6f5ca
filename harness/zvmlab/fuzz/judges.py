# SPDX-License-Identifier: MIT
"""What steps gave, held against what system calls promise: error numbers, buffers, sockets.

Each judge takes the steps of a case as they were played, and knows nothing of any defect.
"""

from __future__ import annotations

import errno
import struct
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zvmlab.fuzz.case import Case
from zvmlab.fuzz.finding import CONTRACT, DATA, ERRNO, OVERRUN, Finding
from zvmlab.scenarios.player import Played, sent_by_peers
from zvmlab.scenarios.steps import bytes_of, faults_of, names_in, text_of, thread_of

# include/linux/errno.h: "should never be seen by user programs".
_KERNELS_OWN = range(512, 4096)
_SOL_SOCKET, _SO_TYPE, _SO_ERROR, _SO_ACCEPTCONN, _SO_PROTOCOL, _SO_DOMAIN = 1, 3, 4, 30, 38, 39
_SOL_IUCV, _SO_MSGSIZE = 277, 0x800
_POLLIN = 1
_TYPE_MASK, _NONBLOCK, _STREAM, _DATAGRAM = 0xF, 0x800, 1, 2
_PEEK, _TRUNC = 2, 0x20
_WRITE_SIDE, _READ_SIDE = (1, 2), (0, 2)
_SEND = {"sendto": 2, "write": 2}
_RECEIVE = {"recvfrom": 2, "read": 2}
# Of an AF_IUCV socket's address: struct sockaddr_iucv.
_ADDRESS_SIZES = {32: 32}
# After these a connection may come about, or may be there already.
_PERHAPS = (0, errno.EINPROGRESS, errno.EINTR, errno.EAGAIN, errno.EALREADY, errno.EISCONN)


def judge_calls(case: Case, played: Sequence[Played]) -> list[Finding]:
    """The first thing that no call may do."""
    bare = not any(faults_of(case.steps))
    for one in played:
        if one.step["do"] == "request" or one.stuck:
            continue
        if one.overrun and _is_honest(one.step):
            text = f"{text_of(one.step)} has stored behind the end of a buffer"
            return [Finding(OVERRUN, _name(one), text)]
        if one.error in _KERNELS_OWN:
            text = f"{text_of(one.step)} gives error {one.error}, which is the kernel's own"
            return [Finding(ERRNO, f"{_name(one)}: {one.error}", text)]
        if bare and one.error == errno.ENOMEM and not _is_large(one):
            text = f"{text_of(one.step)} gives ENOMEM, and there is memory"
            return [Finding(ERRNO, f"{_name(one)}: ENOMEM", text)]
    return []


def _name(one: Played) -> str:
    step = one.step
    return str(step["call"]) if step["do"] == "call" else str(step["do"])


def _is_honest(step: Mapping[str, Any]) -> bool:
    """Does no length say more than its buffer has?"""
    args = step.get("args", ())
    for buffer, size in zip(args, args[1:]):
        if isinstance(buffer, dict) and isinstance(size, int) and size > buffer.get("out", size):
            return False
    return True


def _is_large(one: Played) -> bool:
    """Does the call ask for more than a kernel must have?"""
    numbers = [arg for arg in one.step.get("args", ()) if isinstance(arg, int)]
    return any(number > 1 << 20 for number in numbers)


@dataclass
class _Socket:
    """What a program knows of a socket of its own."""

    domain: int
    type: int
    protocol: int
    waits: bool = True
    """Do its calls wait?"""
    listens: bool = False
    connected: bool = False
    """Perhaps."""
    surely: bool = False
    sends: bool = True
    name: str = ""
    """That of its address."""
    asked: list[_Socket] = field(default_factory=list)
    """Of one that listens: who has connected to its name, and was not accepted yet."""
    partner: _Socket | None = None
    closed: bool = False
    most: int = 0
    """What SO_MSGSIZE says."""
    quiet: int = -1
    """The step at which poll said that there is nothing to be taken."""
    reads: bool = True
    sent: int = 0
    largest: int = 0
    """Of what one call has sent."""
    received: int = 0


def judge_sockets(played: Sequence[Played]) -> list[Finding]:
    """What POSIX and socket(7) promise of a socket, whatever its family."""
    users: dict[str, set[str]] = {}
    made: Counter[str] = Counter()
    for one in played:
        for name in names_in(one.step):
            users.setdefault(name, set()).add(thread_of(one.step))
        made[str(one.step.get("as"))] += 1
    # Of calls of several threads nobody knows the order.
    alone = {name for name, threads in users.items() if len(threads) == 1 and made[name] == 1}
    alone -= _share_numbers(played)
    sockets: dict[str, _Socket] = {}
    whole = not any(faults_of([one.step for one in played]))
    for one in played:
        if one.step["do"] == "poll":
            _poll(one, sockets)
        if one.step["do"] == "call" and not one.stuck:
            wrong = _judge(one, sockets, alone)
            if wrong is None and whole:
                wrong = _missing(one, sockets, alone)
            if wrong is not None:
                rule, said = wrong
                return [Finding(CONTRACT, f"{_name(one)}: {rule}", f"{text_of(one.step)} {said}")]
    return []


def _share_numbers(played: Sequence[Played]) -> set[str]:
    """Names of closed files that are used when another one has the number, and of that one."""
    numbers: dict[str, int] = {}
    owners: dict[int, str] = {}
    found = set()
    for one in played:
        for name in names_in(one.step):
            owner = owners.get(numbers.get(name, -1), name)
            if owner != name:
                found |= {name, owner}
        if "as" in one.step and not one.error and one.ret >= 0:
            numbers[one.step["as"]] = one.ret
            owners[one.ret] = one.step["as"]
    return found


def _judge(one: Played, sockets: dict[str, _Socket], alone: set[str]) -> tuple[str, str] | None:
    step = one.step
    call, args = str(step["call"]), step["args"]
    name = args[0] if args and isinstance(args[0], str) else ""
    known = sockets.get(name)
    _make(one, step, sockets, known)
    if known is None or name not in alone:
        return None
    for judge in (_addresses, _connecting, _ready, _talk, _options):
        wrong = judge(one, call, args, known)
        if wrong is not None:
            return wrong
    _follow(one, call, args, known)
    if call == "connect" and known.connected:
        _ask(args, known, sockets)
    if call == "close":
        known.closed = one.error == 0
        del sockets[name]
    return None


def _address_name(args: list[Any]) -> str:
    address = args[1] if len(args) > 1 else None
    return str(address["address"][1]) if isinstance(address, dict) and "address" in address else ""


def _address_user(args: list[Any]) -> str:
    address = args[1] if len(args) > 1 else None
    return str(address["address"][0]) if isinstance(address, dict) and "address" in address else ""


def _ask(args: list[Any], known: _Socket, sockets: dict[str, _Socket]) -> None:
    """A connection comes about with the only listener that has that name."""
    name = _address_name(args)
    found = [one for one in sockets.values() if one.listens and one.name == name]
    if name and len(found) == 1:
        found[0].asked.append(known)


def _make(
    one: Played, step: Mapping[str, Any], sockets: dict[str, _Socket], listener: _Socket | None
) -> None:
    """A socket that comes about."""
    call, args = step["call"], step["args"]
    if "as" not in step or one.error or one.ret < 0:
        return
    if call == "socket" and all(isinstance(arg, int) for arg in args[:3]) and len(args) > 2:
        waits = not args[1] & _NONBLOCK
        sockets[step["as"]] = _Socket(args[0], args[1] & _TYPE_MASK, args[2], waits)
    elif call == "accept4" and listener is not None:
        made = _Socket(listener.domain, listener.type, listener.protocol, connected=True)
        made.surely = True
        # Of several, nobody knows which one it is.
        if len(listener.asked) == 1:
            made.partner = listener.asked[0]
            made.partner.partner = made
        listener.asked.clear()
        sockets[step["as"]] = made


def _addresses(one: Played, call: str, args: list[Any], known: _Socket) -> tuple[str, str] | None:
    size = args[2] if len(args) > 2 else None
    least = _ADDRESS_SIZES.get(known.domain)
    if call in ("bind", "connect") and isinstance(size, int) and least is not None:
        if size < least and one.error == 0:
            return (
                "short address",
                f"takes an address of {size} bytes, and the family's has {least}",
            )
    return None


def _connecting(one: Played, call: str, _args: list[Any], known: _Socket) -> tuple[str, str] | None:
    if call == "connect" and not known.waits and one.error == errno.EAGAIN:
        return "EAGAIN", "says EAGAIN, and a connection that is not waited for is EINPROGRESS"
    return None


def _poll(one: Played, sockets: dict[str, _Socket]) -> None:
    known = sockets.get(one.step["fd"]) if isinstance(one.step["fd"], str) else None
    if known is not None and one.step["events"] & _POLLIN and len(one.data) == 2:
        known.quiet = -1 if int.from_bytes(one.data, "big") else one.number


def _ready(one: Played, call: str, _args: list[Any], known: _Socket) -> tuple[str, str] | None:
    """Poll, and at once the call that it is about."""
    if call not in ("accept4", *_RECEIVE) or one.slept or one.error:
        return None
    if known.quiet < 0 or one.number != known.quiet + 1 or one.beside:
        return None
    return "poll", "does not sleep, and poll said that it would"


def _talk(one: Played, call: str, args: list[Any], known: _Socket) -> tuple[str, str] | None:
    sizes = {**_SEND, **_RECEIVE}
    gone = known.partner is not None and known.partner.closed
    if call in _RECEIVE and gone and (one.error == errno.EAGAIN or one.slept):
        return "end", "waits for a partner that has closed"
    if call in _SEND and gone and one.error in (0, errno.EAGAIN) and not one.slept:
        return "gone", "does not say that its partner has closed"
    if call in _RECEIVE and one.error == errno.ENOTCONN and known.surely:
        return "ENOTCONN", "says that the socket is not connected, and it was"
    if call in _SEND and one.error == errno.EMSGSIZE and args[2] < known.most:
        return "SO_MSGSIZE", f"is too long, and the option says {known.most}"
    if call not in sizes or one.error or one.ret < 0:
        return None
    size = args[sizes[call]] if len(args) > sizes[call] else None
    flags = args[3] if len(args) > 3 and isinstance(args[3], int) else 0
    if isinstance(size, int) and one.ret > size and not flags & _TRUNC:
        return "more than was asked for", f"gives {one.ret}"
    if one.ret > 0 and not known.connected and known.type != _DATAGRAM:
        return "not connected", f"gives {one.ret}, and the socket has never been connected"
    if call in _SEND and not known.sends:
        return "after shutdown", f"gives {one.ret} after a shutdown of sending"
    return None


def _missing(one: Played, sockets: dict[str, _Socket], alone: set[str]) -> tuple[str, str] | None:
    """A stream between two programs brings all that was sent, before it has nothing more."""
    call, args = str(one.step["call"]), one.step["args"]
    # What another socket has received is not counted.
    name = args[0] if args and isinstance(args[0], str) else ""
    known = sockets.get(name) if name in alone else None
    if call not in _RECEIVE or known is None or known.partner is None or not known.reads:
        return None
    nothing = one.error == errno.EAGAIN or not one.error and one.ret == 0 and args[2]
    missing = known.partner.sent - known.received
    if not nothing or known.type != _STREAM or missing <= 0:
        return None
    said = f"says that there is nothing, and {missing} bytes are missing"
    return "missing", f"{said}; the largest send had {known.partner.largest} bytes"


def _options(one: Played, call: str, args: list[Any], known: _Socket) -> tuple[str, str] | None:
    if call != "getsockopt" or one.error or len(args) < 5 or len(one.data) < 4:
        return None
    if args[4] != {"both": "00000004"}:
        return None
    if args[1:3] == [_SOL_IUCV, _SO_MSGSIZE]:
        (known.most,) = struct.unpack_from(">i", one.data)
    if args[1] != _SOL_SOCKET:
        return None
    values = {
        _SO_TYPE: ("SO_TYPE", known.type),
        _SO_PROTOCOL: ("SO_PROTOCOL", known.protocol),
        _SO_DOMAIN: ("SO_DOMAIN", known.domain),
        _SO_ACCEPTCONN: ("SO_ACCEPTCONN", int(known.listens)),
    }
    option, wanted = values.get(args[2], ("", None))
    (value,) = struct.unpack_from(">i", one.data)
    if wanted is None or value == wanted:
        return None
    return option, f"says {option} {value}, and it is {wanted}"


def _follow(one: Played, call: str, args: list[Any], known: _Socket) -> None:
    """What the call has changed."""
    if call == "bind" and one.error == 0:
        known.name = _address_name(args)
    elif call == "connect":
        known.connected |= one.error in _PERHAPS or one.slept
        known.surely |= one.error == 0 and one.ret == 0
    elif call == "listen" and one.error == 0:
        known.listens = True
    elif call == "shutdown" and one.error == 0 and len(args) > 1:
        known.sends &= args[1] not in _WRITE_SIDE
        known.reads &= args[1] not in _READ_SIDE
    elif call in (*_SEND, "sendmsg") and one.ret > 0:
        known.sent += one.ret
        known.largest = max(known.largest, one.ret)
    elif call in (*_RECEIVE, "recvmsg") and one.ret > 0:
        known.reads &= not _flags_of(call, args) & _TRUNC
        known.received += 0 if _flags_of(call, args) & _PEEK else one.ret


def judge_networks(networks: Sequence[Sequence[str]], played: Sequence[Played]) -> list[Finding]:
    """Who is in one network reaches nobody of another one."""
    of_user = {user: number for number, users in enumerate(networks) for user in users}
    made = Counter(str(one.step.get("as")) for one in played)
    bound: dict[str, str] = {}
    for one in played:
        if one.step["do"] != "call" or one.error or one.stuck or one.slept:
            continue
        call, args = one.step["call"], one.step["args"]
        if call not in ("bind", "connect") or not isinstance(args[0], str) or made[args[0]] != 1:
            continue
        user = _address_user(args)
        if call == "bind":
            bound[args[0]] = user
            continue
        here, there = (of_user.get(end) for end in (bound.get(args[0], ""), user))
        if here is not None and there is not None and here != there:
            text = f"{text_of(one.step)} has a connection from {bound[args[0]]} to another network"
            return [Finding(CONTRACT, "connect: another network", text)]
    return []


def judge_end(case: Case, played: Sequence[Played]) -> list[Finding]:
    """A stream brings all that its only partner has sent, before it ends or has nothing more."""
    if any(faults_of(case.steps)) or not _is_plain(played):
        return []
    sent = {key: data for key, data in sent_by_peers(played).items() if data}
    tries = [one for one in played if one.step["do"] == "call" and _name(one) in _RECEIVE]
    if len(sent) != 1 or len({str(one.step["args"][0]) for one in tries}) != 1:
        return []
    count = 0
    for one in tries:
        if one.error or one.ret < 0 or not one.step["args"][2] or _flags(one) & _PEEK:
            continue
        count += one.ret
        if one.ret == 0:
            missing = _sent_before(one, played) - count
            return [_early(one, missing, played)] if missing > 0 else []
    last = tries[-1]
    missing = _sent_before(last, played) - count
    if last.error == errno.EAGAIN and missing > 0 and _connects(played):
        return [_nothing(last, missing, played)]
    return []


def _flags(one: Played) -> int:
    return _flags_of("", one.step["args"])


def _flags_of(call: str, args: Sequence[Any]) -> int:
    at = 2 if call == "recvmsg" else 3
    flags = args[at] if len(args) > at else 0
    return flags if isinstance(flags, int) else 0


def _sent_before(one: Played, played: Sequence[Played]) -> int:
    return sum(map(len, sent_by_peers(played[: one.number]).values()))


def _connects(played: Sequence[Played]) -> bool:
    """Has a call connected a socket?"""
    calls = [one for one in played if one.step["do"] == "call" and _name(one) == "connect"]
    return any(one.error == 0 and one.ret == 0 for one in calls)


def _nothing(one: Played, missing: int, played: Sequence[Played]) -> Finding:
    sent = [sent_by_peers([other]) for other in played[: one.number]]
    largest = max(len(data) for found in sent for data in found.values())
    said = f"{text_of(one.step)} says that there is nothing, and {missing} bytes are missing"
    return Finding(DATA, "nothing arrives", f"{said}; the largest message has {largest} bytes")


def judge_rejected(case: Case, played: Sequence[Played]) -> list[Finding]:
    """A sender learns that its only partner has thrown something away."""
    if any(faults_of(case.steps)) or not _is_plain(played, ends=("purge", "sever")):
        return []
    rejected = [one for one in played if _function(one) == "reject"]
    if not rejected or not _connects(played):
        return []
    after = [one for one in played[rejected[0].number :] if one.step["do"] == "call"]
    asked = [one for one in after if _asks_for_error(one)]
    if not asked or any(one.error not in (0, errno.EAGAIN) for one in after):
        return []
    if any(any(one.data[:4]) for one in asked):
        return []
    text = "the partner has rejected a message, and no call says so"
    return [Finding(DATA, "rejected", text)]


def _asks_for_error(one: Played) -> bool:
    return _name(one) == "getsockopt" and one.step["args"][1:3] == [_SOL_SOCKET, _SO_ERROR]


def _early(one: Played, missing: int, played: Sequence[Played]) -> Finding:
    sends = [other for other in played[: one.number] if _function(other) == "send"]
    empty = any(_is_empty(other.step["arguments"].get("data")) for other in sends)
    severed = any(_function(other) == "sever" for other in played[: one.number])
    why = "an empty message" if empty else "a sever" if severed else "nothing"
    text = f"{text_of(one.step)} says that the stream has ended, and {missing} bytes are missing"
    return Finding(DATA, f"end after {why}", text)


def _is_empty(data: object) -> bool:
    return isinstance(data, dict) and not bytes_of("", data)


def _function(one: Played) -> str:
    """A peer's call that CP has carried out."""
    if one.step["do"] != "request" or (one.answer or {}).get("cc") != 0:
        return ""
    return str(one.step["arguments"].get("function", ""))


def _is_plain(played: Sequence[Played], ends: Collection[str] = ("purge", "reject")) -> bool:
    """One stream, in one thread, of which nothing is thrown away on purpose."""
    calls = [one for one in played if one.step["do"] == "call"]
    made = [one for one in calls if one.step["call"] in ("socket", "accept4") and one.ret >= 0]
    streams = all(one.step["args"][1] & _TYPE_MASK == 1 for one in made if _name(one) == "socket")
    thrown = {_function(one) for one in played} & set(ends)
    threads = {thread_of(one.step) for one in calls}
    odd = any(_name(one) in ("shutdown", "recvmsg") or one.stuck for one in calls)
    return len(made) == 1 and streams and not thrown and len(threads) == 1 and not odd
