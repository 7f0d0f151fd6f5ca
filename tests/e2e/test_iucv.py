# SPDX-License-Identifier: MIT
"""The kernel's own IUCV calls, among them those that none of its drivers issues.

A module goes through them (modules/iucvcalls); the test is the other side of its path.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from waiting import LIMIT
from zvmlab.cp.peer import EventType, Flag, Peer
from zvmlab.guest.guest import Guest

SOURCE = Path(__file__).parent / "modules" / "iucvcalls"
FILE = "/tmp/iucvcalls.ko"
TEXT, SHORT = b"0123456789abcdef", b"01234567"
# IPAUDIT: the message was purged by its sender (IPADPGSN).
PURGED_BY_SENDER = 0x010000
# IPRCODE of CONNECT: CP knows no other system, so nobody is logged on there.
NOT_LOGGED_ON = 0x0B


def answer(peer: Peer, path: int, reply: bytes, flags: int = 0) -> bytes:
    """Take the module's message and reply to it; the message."""
    event = peer.wait(EventType.MSG_PENDING, LIMIT, path)
    data = event.rmmsg
    if not event.flags & Flag.RMDATA:
        data = peer.receive(path, event.msgid, event.trgcls, event.length)
    peer.reply(path, event.msgid, event.trgcls, reply, flags)
    return data


@pytest.mark.zvmlab
def test_every_call_of_the_kernel(guest: Guest, built_module: Callable[..., Path]) -> None:
    """Two-way messages, a purge, quiesce and resume, messages in parts, replies, and a path left."""
    agent = guest.agent
    agent.write_file(FILE, built_module(SOURCE).read_bytes(), 0o600)
    since = agent.log_position()
    with Peer(guest.control, "PARTNER") as peer:
        pending = agent.worker("calls").start_insmod(FILE)
        path = peer.wait(EventType.PENDING, LIMIT).path
        peer.accept(path, flags=Flag.RMDATA)
        peer.wait(EventType.QUIESCED, LIMIT, path)
        peer.wait(EventType.RESUMED, LIMIT, path)
        peer.quiesce(path)
        peer.resume(path)
        assert answer(peer, path, b"a long answer 16") == TEXT
        assert answer(peer, path, b"shortone", Flag.RMDATA) == SHORT
        # One more was sent, and taken back.
        sent = peer.send(path, b"from outside, 16", answer_length=16)
        done = peer.wait(EventType.MSG_COMPLETE, LIMIT, path)
        assert (done.msgid, done.data) == (sent.msgid, b"reply of 16 byte")
        sent = peer.send(path, b"in list.", flags=Flag.RMDATA, answer_length=8)
        done = peer.wait(EventType.MSG_COMPLETE, LIMIT, path)
        assert done.msgid == sent.msgid
        assert (done.rmmsg if done.flags & Flag.RMDATA else done.data) == b"reply of"
        sent = peer.send(path, b"by piece", flags=Flag.RMDATA, answer_length=8)
        done = peer.wait(EventType.MSG_COMPLETE, LIMIT, path)
        assert (done.msgid, done.rmmsg) == (sent.msgid, b"reply of")
        left = peer.wait(EventType.PENDING, LIMIT).path
        peer.accept(left)
        peer.wait(EventType.SEVERED, LIMIT, path)
        peer.wait(EventType.SEVERED, LIMIT, left)
        assert pending.result().errno == errno.EAGAIN
    found = [line.text.partition("iucvcalls: ")[2] for line in agent.dmesg(since)]
    assert [text for text in found if text and "taint" not in text] == [
        "quiesce 0, resume 0",
        "two-way: rc 0, same 1, audit 0, answer 'a long answer 16'",
        "two-way, short: rc 0, same 1, audit 0, answer 'shortone'",
        f"purge: send 0, rc 0, audit {PURGED_BY_SENDER:x}",
        "message: receive 5, left 12, rest 0, reply 0, 'from outside, 16'",
        "message, short: receive 0, left 4, rest 0, reply 0, 'in l'",
        "message, in a list: receive 0, reply 0, 'by piece'",
        f"connect to another system {NOT_LOGGED_ON}, local 0",
        "sever 0",
    ]


@pytest.mark.zvmlab(command_line="hvc_iucv=3", busybox=True)
def test_devices_have_the_names_that_drivers_give_them(guest: Guest) -> None:
    """A number and a text in a name are those of the device, as udev's rules take them."""
    for module in ("vmlogrdr", "smsgiucv_app"):
        assert guest.agent.modprobe(module).errno == 0
    listing = guest.agent.run(["/bin/busybox", "ls", "/sys/bus/iucv/devices"]).check().stdout
    terminals = [f"hvc_iucv{number}" for number in range(3)]
    assert listing.decode().split() == sorted(
        ["account", "logrec", "symptom", "smsgiucv_app", *terminals]
    )
