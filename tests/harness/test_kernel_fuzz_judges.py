# SPDX-License-Identifier: MIT
"""What the fuzzer holds calls against, without guests; how its steps find names, paths and messages."""

from __future__ import annotations

import errno
import random
from collections.abc import Callable
from typing import Any

import pytest

from zvmlab.agent.calls import Both, Iovec, Message, Out
from zvmlab.base.errors import UsageError
from zvmlab.fuzz.case import Case
from zvmlab.fuzz.grammar import find, following, more, names
from zvmlab.fuzz.judges import (
    judge_calls,
    judge_end,
    judge_networks,
    judge_rejected,
    judge_sockets,
)
from zvmlab.fuzz.mutate import make
from zvmlab.scenarios.player import Played
from zvmlab.scenarios.steps import argument, check_steps, names_used

Step = dict[str, Any]
FAULT: Step = {
    "do": "request",
    "execute": "fault-arm",
    "arguments": {"point": "iucv.send", "kind": "rc", "value": 3, "name": "TESTER"},
}


def call(name: str, *args: Any, **more_of_it: Any) -> Step:
    """A system call."""
    return {"do": "call", "call": name, "args": list(args), **more_of_it}


SOCKET = call("socket", 32, 1, 0, **{"as": "s1"})
OPTION: Step = call("getsockopt", "s2", 1, 38, {"both": "00000000"}, {"both": "00000004"})


def played(*steps: tuple[Step, int, int]) -> list[Played]:
    """Steps, with what they returned and their error."""
    return [Played(number, step, ret, error) for number, (step, ret, error) in enumerate(steps)]


def keys(found: list[Any]) -> list[str]:
    """What tells findings apart."""
    return [one.key for one in found]


# Error numbers and buffers.


@pytest.mark.parametrize(
    "one, fault, wanted",
    [
        (Played(0, SOCKET, -1, 512), False, ["errno in socket: 512"]),
        (Played(0, SOCKET, -1, 512), True, ["errno in socket: 512"]),
        (Played(0, SOCKET, -1, errno.ENOMEM), False, ["errno in socket: ENOMEM"]),
        (Played(0, SOCKET, -1, errno.ENOMEM), True, []),
        (Played(0, SOCKET, -1, errno.EAGAIN), False, []),
        (Played(0, call("mmap", 0, 1 << 40), -1, errno.ENOMEM), False, []),
        (Played(0, call("read", 3, {"out": 9}, 9), 9, 0, overrun=True), False, ["overrun in read"]),
        (Played(0, call("read", 3, {"out": 9}, 10), 9, 0, overrun=True), False, []),
    ],
)
def test_errors_that_no_program_may_see(one: Played, fault: bool, wanted: list[str]) -> None:
    """The kernel's own numbers; no memory, although there is some and CP refuses nothing."""
    case = Case("af_iucv", (FAULT, one.step) if fault else (one.step,))
    assert keys(judge_calls(case, [one])) == wanted


# Sockets.


@pytest.mark.parametrize(
    "step, ret, error, wanted",
    [
        (call("bind", "s1", {"hex": "0020"}, 7), 0, 0, ["contract in bind: short address"]),
        (call("bind", "s1", {"hex": "0020"}, 7), -1, errno.EINVAL, []),
        (call("bind", "s1", {"hex": "0020"}, 32), 0, 0, []),
        (call("sendto", "s1", {"hex": "00"}, 1, 0, 0, 0), 1, 0, ["contract in sendto: not connected"]),
        (call("sendto", "s1", {"hex": "00"}, 1, 0, 0, 0), -1, errno.ENOTCONN, []),
        (call("recvfrom", "s1", {"out": 1}, 1, 0, 0, 0), 2, 0,
         ["contract in recvfrom: more than was asked for"]),
        (call("recvfrom", "s1", {"out": 1}, 1, 0x20, 0, 0), 0, 0, []),
    ],
)  # fmt: skip
def test_what_a_fresh_socket_may_do(step: Step, ret: int, error: int, wanted: list[str]) -> None:
    """A short address, and data without a connection."""
    assert keys(judge_sockets(played((SOCKET, 3, 0), (step, ret, error)))) == wanted


def test_a_socket_that_is_connected_may_send_until_its_shutdown() -> None:
    """Also one of which nobody knows whether the connection has come about."""
    connect = call("connect", "s1", {"address": ["A", "B"]}, 32)
    send = call("sendto", "s1", {"hex": "00"}, 1, 0, 0, 0)
    shutdown = call("shutdown", "s1", 1)
    for error in (0, errno.EINPROGRESS, errno.EINTR):
        steps = played((SOCKET, 3, 0), (connect, -1, error), (send, 1, 0))
        assert judge_sockets(steps) == []
    refused = played((SOCKET, 3, 0), (connect, -1, errno.ECONNREFUSED), (send, 1, 0))
    assert keys(judge_sockets(refused)) == ["contract in sendto: not connected"]
    after = played((SOCKET, 3, 0), (connect, 0, 0), (shutdown, 0, 0), (send, 1, 0))
    assert keys(judge_sockets(after)) == ["contract in sendto: after shutdown"]
    failed = played((SOCKET, 3, 0), (connect, 0, 0), (shutdown, -1, 107), (send, 1, 0))
    assert judge_sockets(failed) == []


def test_a_datagram_needs_no_connection() -> None:
    """It has an address of its own."""
    made, send = call("socket", 2, 2, 0, **{"as": "s1"}), call("sendto", "s1", {"hex": "00"}, 1, 0)
    assert judge_sockets(played((made, 3, 0), (send, 1, 0))) == []


def test_a_connection_that_is_not_waited_for_is_in_progress() -> None:
    """EAGAIN is for one that has waited as long as it may."""
    connect = call("connect", "s1", {"address": ["A", "B"]}, 32)
    for kind, error, wanted in (
        (0x801, errno.EAGAIN, ["contract in connect: EAGAIN"]),
        (0x801, errno.EINPROGRESS, []),
        (1, errno.EAGAIN, []),
    ):
        made = call("socket", 32, kind, 0, **{"as": "s1"})
        assert keys(judge_sockets(played((made, 3, 0), (connect, -1, error)))) == wanted


def test_an_accepted_socket_is_of_its_listeners_kind() -> None:
    """By SO_PROTOCOL; a number that nobody knows, and a length that is too short, say nothing."""
    accept = call("accept4", "s1", 0, 0, 0, **{"as": "s2"})
    for value, wanted in ((0, []), (1, ["contract in getsockopt: SO_PROTOCOL"])):
        steps = played((SOCKET, 3, 0), (accept, 4, 0), (OPTION, 0, 0))
        steps[2].data = value.to_bytes(4, "big") + bytes(4)
        assert keys(judge_sockets(steps)) == wanted
    steps[2].step = {**OPTION, "args": [*OPTION["args"][:4], {"both": "00000002"}]}
    assert judge_sockets(steps) == []


def test_who_waits_for_a_partner_that_has_closed_waits_in_vain() -> None:
    """The two ends of one connection; of two connections nobody knows which is whose."""
    name = {"address": [" ", "NAME"]}
    server = [(SOCKET, 3, 0), (call("bind", "s1", name, 32), 0, 0), (call("listen", "s1", 1), 0, 0)]
    client = [({**SOCKET, "as": "s2"}, 4, 0), (call("connect", "s2", name, 32), 0, 0)]
    accepted = (call("accept4", "s1", 0, 0, 0, **{"as": "s3"}), 5, 0)
    receive = call("recvfrom", "s3", {"out": 1}, 1, 0x40, 0, 0)
    closed = (call("close", "s2"), 0, 0)
    waits, ends = (receive, -1, errno.EAGAIN), (receive, 0, 0)
    wanted = ["contract in recvfrom: end"]
    assert keys(judge_sockets(played(*server, *client, accepted, closed, waits))) == wanted
    assert judge_sockets(played(*server, *client, accepted, waits, closed, ends)) == []
    other = [({**SOCKET, "as": "s4"}, 6, 0), (call("connect", "s4", name, 32), 0, 0)]
    assert judge_sockets(played(*server, *client, *other, accepted, closed, waits)) == []


def test_who_sends_to_a_partner_that_has_closed_is_told() -> None:
    """With any error but that the call would have to wait."""
    name = {"address": [" ", "NAME"]}
    begun = [
        (SOCKET, 3, 0),
        (call("bind", "s1", name, 32), 0, 0),
        (call("listen", "s1", 1), 0, 0),
        ({**SOCKET, "as": "s2"}, 4, 0),
        (call("connect", "s2", name, 32), 0, 0),
        (call("accept4", "s1", 0, 0, 0, **{"as": "s3"}), 5, 0),
    ]
    send, closed = call("sendto", "s3", {"hex": "00"}, 1, 0x4040, 0, 0), (call("close", "s2"), 0, 0)
    for ret, error, wanted in (
        (1, 0, ["contract in sendto: gone"]),
        (-1, errno.EAGAIN, ["contract in sendto: gone"]),
        (-1, errno.ENOTCONN, []),
        (-1, errno.EPIPE, []),
    ):
        assert keys(judge_sockets(played(*begun, closed, (send, ret, error)))) == wanted
        assert judge_sockets(played(*begun, (send, ret, error), closed)) == []


def test_a_stream_between_programs_brings_all_that_was_sent() -> None:
    """Before it has nothing more; not if a fault, a shutdown or a partner that is not known explains it."""
    name = {"address": [" ", "NAME"]}
    begun = [
        (SOCKET, 3, 0),
        (call("bind", "s1", name, 32), 0, 0),
        (call("listen", "s1", 1), 0, 0),
        ({**SOCKET, "as": "s2"}, 4, 0),
        (call("connect", "s2", name, 32), 0, 0),
        (call("accept4", "s1", 0, 0, 0, **{"as": "s3"}), 5, 0),
        (call("sendto", "s2", {"data": [1, 9000]}, 9000, 0x40, 0, 0), 9000, 0),
    ]
    receive = call("recvfrom", "s3", {"out": 9000}, 9000, 0x40, 0, 0)
    peek = call("recvfrom", "s3", {"out": 9000}, 9000, 0x42, 0, 0)
    most, all_, nothing = (receive, 8074, 0), (receive, 9000, 0), (receive, -1, errno.EAGAIN)
    wanted = ["contract in recvfrom: missing"]
    for end in (nothing, (receive, 0, 0)):
        (found,) = judge_sockets(played(*begun, most, end))
        assert found.key == wanted[0]
        assert "926 bytes are missing; the largest send had 9000 bytes" in found.text
        assert judge_sockets(played(*begun, all_, end)) == []
        assert keys(judge_sockets(played(*begun, (peek, 9000, 0), most, end))) == wanted
    assert judge_sockets(played((FAULT, 0, 0), *begun, most, nothing)) == []
    assert judge_sockets(played(*begun, (call("shutdown", "s3", 0), 0, 0), nothing)) == []
    # A second socket is to have the name, so nobody knows whose bytes these are.
    again = (call("socket", 0, 0, 0, **{"as": "s3"}), -1, errno.EAFNOSUPPORT)
    assert judge_sockets(played(*begun, all_, nothing, again)) == []


def test_nobody_is_reached_from_another_network() -> None:
    """Of sockets that have been made once, and whose user is known."""
    networks = [["A", "B"], ["C", "D"]]
    other = call("socket", 32, 1, 0, **{"as": "s1"})

    def found(here: str, there: str, error: int = 0, *before: tuple[Step, int, int]) -> list[str]:
        bind = call("bind", "s1", {"address": [here, "NAME"]}, 32)
        connect = call("connect", "s1", {"address": [there, "NAME"]}, 32)
        steps = played((SOCKET, 3, 0), *before, (bind, 0, 0), (connect, 0, error))
        return keys(judge_networks(networks, steps))

    assert found("A", "C") == ["contract in connect: another network"]
    assert found("D", "B") == ["contract in connect: another network"]
    assert found("A", "B") == found("C", "C") == found("A", "NOBODY") == found(" ", "C") == []
    assert found("A", "C", errno.ECONNREFUSED) == found("A", "C", errno.EINPROGRESS) == []
    assert found("A", "C", 0, (other, 4, 0)) == []


def test_poll_says_what_the_next_call_finds() -> None:
    """Only the call that follows at once: later, or beside other steps, something may have come."""
    poll: Step = {"do": "poll", "fd": "s1", "events": 1}
    accept = call("accept4", "s1", 0, 0, 0x800, **{"as": "s2"})
    steps = played((SOCKET, 3, 0), (poll, 0, 0), (accept, 4, 0))
    for revents, wanted in ((b"\0\0", ["contract in accept4: poll"]), (b"\0\1", [])):
        steps[1].data = revents
        assert keys(judge_sockets(steps)) == wanted
    slow = played((SOCKET, 3, 0), (poll, 0, 0), (accept, 4, 0))
    slow[1].data, slow[2].beside = b"\0\0", True
    assert judge_sockets(slow) == []
    late = played((SOCKET, 3, 0), (poll, 0, 0), (FAULT, 0, 0), (accept, 4, 0))
    late[1].data = b"\0\0"
    assert judge_sockets(late) == []
    refused = played((SOCKET, 3, 0), (poll, 0, 0), (accept, -1, errno.EAGAIN))
    refused[1].data = b"\0\0"
    assert judge_sockets(refused) == []


def test_sockets_of_several_threads_or_names_are_left_alone() -> None:
    """Nobody knows which call was first."""
    send = call("sendto", "s1", {"hex": "00"}, 1, 0, 0, 0, thread="b")
    assert judge_sockets(played((SOCKET, 3, 0), (send, 1, 0))) == []
    twice = played((SOCKET, 3, 0), (SOCKET, 4, 0), ({**send, "thread": "a"}, 1, 0))
    assert judge_sockets(twice) == []
    closed = played((SOCKET, 3, 0), (call("close", "s1"), 0, 0), ({**send, "thread": "a"}, 1, 0))
    assert judge_sockets(closed) == []


# Streams.


CONNECT = call("connect", "s1", {"address": ["TESTER", "B"]}, 32)


def test_what_is_done_by_the_number_of_a_closed_socket_counts_for_none() -> None:
    """The name of one that is closed is the number that another one has now."""
    send = (call("sendto", "s2", {"hex": "00"}, 1, 0, 0, 0), 1, 0)
    first = (SOCKET, 5, 0)
    second = (call("socket", 32, 1, 0, **{"as": "s2"}), 5, 0)
    address = {"address": ["TESTER", "OTHER"]}
    connected = (call("connect", "s1", address, 32), 0, 0)
    closed = (call("close", "s1"), 0, 0)
    assert keys(judge_sockets(played(first, closed, second, send)))
    assert not keys(judge_sockets(played(first, closed, second, connected, send)))


def of_peer(function: str, size: int = 0) -> Played:
    """A call of TESTER's that CP has carried out."""
    data = {"data": {"data": [1, size]}} if function == "send" else {}
    arguments = {"peer": "TESTER", "function": function, "path": 0, **data}
    step = {"do": "request", "execute": "peer-call", "arguments": arguments}
    return Played(0, step, answer={"cc": 0, "pgm": 0})


def got(size: int, flags: int = 0) -> Played:
    """So much was received."""
    step = call("recvfrom", "s1", {"out": 100}, 100, flags, 0, 0)
    return Played(0, step, size, 0, bytes(size))


def streamed(judge: Callable[[Case, list[Played]], list[Any]], *steps: Played) -> list[str]:
    """What a judge finds of these steps with one socket."""
    made = [Played(0, SOCKET, 3), *steps]
    for number, one in enumerate(made):
        one.number = number
    return keys(judge(Case("af_iucv", tuple(one.step for one in made)), made))


def test_a_stream_that_ends_has_brought_all() -> None:
    """What was sent later does not count, nor what was peeked at."""
    cases: list[tuple[list[int | Played], list[str]]] = [
        ([10, got(10), got(0)], []),
        ([10, got(4), got(0)], ["data in end after nothing"]),
        ([10, 0, got(0)], ["data in end after an empty message"]),
        ([10, got(10), got(0), 5], []),
        ([10, got(10, 2), got(0)], ["data in end after nothing"]),
        ([10, Played(0, call("shutdown", "s1", 0), 0), got(0)], []),
    ]
    for steps, wanted in cases:
        made = [of_peer("send", one) if isinstance(one, int) else one for one in steps]
        assert streamed(judge_end, *made) == wanted


def test_what_was_sent_is_there_when_there_is_nothing_more() -> None:
    """Of a socket that has connected itself: one that listens has the data of nobody."""
    connect, late = Played(0, CONNECT, 0), Played(0, got(0).step, -1, errno.EAGAIN)
    wanted = ["data in nothing arrives"]
    assert streamed(judge_end, connect, of_peer("send", 10), late) == wanted
    assert streamed(judge_end, connect, of_peer("send", 10), got(4), late) == wanted
    assert streamed(judge_end, connect, of_peer("send", 10), got(10), late) == []
    assert streamed(judge_end, connect, late, of_peer("send", 10)) == []
    assert streamed(judge_end, of_peer("send", 10), late) == []


def test_a_sender_learns_that_its_message_was_thrown_away() -> None:
    """By SO_ERROR or by any later call; a sever takes messages away, too."""
    option = call("getsockopt", "s1", 1, 4, {"both": "00000000"}, {"both": "00000004"})
    connect, reject = Played(0, CONNECT, 0), of_peer("reject")
    silent, says = (Played(0, option, 0, 0, data) for data in (bytes(8), b"\0\0\0\x20"))
    send = Played(0, call("sendto", "s1", {"hex": "00"}, 1, 0x40, 0, 0), -1, errno.EPIPE)
    assert streamed(judge_rejected, connect, reject, silent) == ["data in rejected"]
    assert streamed(judge_rejected, connect, reject, says) == []
    assert streamed(judge_rejected, connect, reject, send, silent) == []
    assert streamed(judge_rejected, connect, reject) == []
    assert streamed(judge_rejected, connect, silent, reject) == []
    assert streamed(judge_rejected, connect, reject, of_peer("sever"), silent) == []


# Steps.


def test_a_message_has_the_lengths_of_what_is_there() -> None:
    """Unless the step says others."""
    parts = [{"out": 9}, {"out": 2}]
    message = argument("", {"message": {"parts": parts, "control": {"both": "0000"}}})
    assert message == Message(Iovec([Out(9), Out(2)]), 2, control=Both(bytes(2)), control_size=2)
    lies = argument(
        "", {"message": {"parts": parts, "parts_count": 7, "control_size": 9, "flags": 1}}
    )
    assert isinstance(lies, Message)
    assert (lies.parts_count, lies.control, lies.control_size, lies.flags) == (7, 0, 9, 1)


def test_of_a_message_its_parts_are_what_was_received() -> None:
    """Not the name in front of them, nor the control messages behind them."""
    message = Message(Iovec([Out(9), Out(2)]), 2, name=Both(b"??"), control=Both(b"!!"))
    assert message.received([b"??", b"data", b"", b"!!"]) == b"data"


@pytest.mark.parametrize(
    "step, said",
    [
        (call("sendmsg", 1, {"message": {}}), "a message has parts"),
        (call("sendmsg", 1, {"message": {"parts": [{"hex": ""}], "more": 1}}), "a message has parts"),
        (call("sendmsg", 1, {"message": {"parts": [{"message": {"parts": [{"hex": ""}]}}]}}),
         "is no buffer of its own"),
        (call("sendmsg", 1, {"message": {"parts": [{"hex": ""}], "control": 1}}), "is no buffer"),
        (call("sendmsg", 1, {"message": {"parts": [{"hex": ""}], "parts_count": -1}}), "-1 is not a number"),
        (call("recvmsg", 1, {"message": {"parts": [{"out": 1}], "control": {"both": "00"},
                                         "control_size": 2}}), "has no 2 to be filled"),
        ({"do": "out"}, "out needs 'thread'"),
        ({"do": "in", "thread": "a"}, "in has no 'thread'"),
        ({"do": "request", "execute": "peer-call", "arguments": {"path": {"nth": 65}}},
         "65 is not a number from 0 to 64"),
        ({"do": "request", "execute": "monitor-sever", "arguments": {"path": {"nth": 0}}},
         "is no path of a request"),
        ({"do": "request", "execute": "peer-call", "arguments": {"path": {"first": 0}}},
         "is no path of a request"),
    ],
)  # fmt: skip
def test_messages_pages_and_paths_are_checked(step: Step, said: str) -> None:
    """One sentence."""
    with pytest.raises(UsageError) as failed:
        check_steps("x", [step], 1)
    assert said in str(failed.value)


# Names of results.


def test_a_name_that_nobody_gives_becomes_one_that_is_there() -> None:
    """Of the same kind, mostly, and the same for all steps that belong together."""
    before = [SOCKET, call("openat", -100, {"text": "/dev/x"}, 0, 0, **{"as": "f1"})]
    receive, close = call("recvfrom", "s3", {"out": 1}, 1, 0, 0, 0), call("close", "s3")
    found = [
        [step["args"][0] for step in following(before, [receive, close], random.Random(seed))]
        for seed in range(100)
    ]
    assert all(first == second for first, second in found)
    assert 80 <= sum(first == "s1" for first, _ in found) < 100
    assert receive["args"][0] == "s3", "the steps themselves stay"
    own = [{**SOCKET, "as": "s3"}, receive]
    assert following(before, own, random.Random(1)) == own


def test_what_a_phrase_needs_is_there_mostly() -> None:
    """A case begins with what makes the sockets that it uses."""
    target = find("af_iucv")
    needed = given = 0
    for seed in range(200):
        there: set[str] = set()
        for step in more(target, [], random.Random(seed)):
            used = set(names_used(step))
            needed += len(used)
            given += len(used & there)
            there |= {step["as"]} if "as" in step else set()
    assert needed > 100
    assert given > 0.8 * needed


@pytest.mark.parametrize("name", names())
def test_schedules_are_of_each_case(name: str) -> None:
    """Two CPUs at least; a changed case may keep the schedule of what it was."""
    target = find(name)
    first = [make(target, [], f"1 {number}", True) for number in range(20)]
    assert all(case.schedule > 0 and case.cpus >= 2 for case in first)
    assert len({case.schedule for case in first}) == 20
    changed = [make(target, first, f"2 {number}", True) for number in range(50)]
    kept = {case.schedule for case in first} & {case.schedule for case in changed}
    assert kept
    assert make(target, first, "2 0").schedule == 0
