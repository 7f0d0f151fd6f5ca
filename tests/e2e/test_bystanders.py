# SPDX-License-Identifier: MIT
"""What a test is not about stays as it is: zvmlab.guest.bystanders, and the mark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from applications import STOP, Header, Writer
from iucv_socket import AF_IUCV, STREAM, address

from zvmlab.agent.wire import Call
from zvmlab.cp.afiucv import AfIucvListener, AfIucvStream
from zvmlab.cp.peer import Peer
from zvmlab.guest.bystanders import Bystanders, Changed, tables
from zvmlab.guest.guest import Guest

pytestmark = pytest.mark.first_kernel


@pytest.fixture
def peer(warm_guest: Guest) -> Iterator[Peer]:
    with Peer(warm_guest.control, "SERVER") as peer:
        yield peer


@pytest.fixture
def stream(warm_guest: Guest, peer: Peer) -> Iterator[AfIucvStream]:
    """A stream between a program of the guest and the user SERVER."""
    at = address("SERVER", "ECHO")
    batch = warm_guest.agent.batch()
    made = batch.call(Call.SOCKET, AF_IUCV, STREAM, 0)
    batch.call(Call.CONNECT, made, at, len(at))
    connecting = batch.start()
    with AfIucvListener(peer, "ECHO").accept() as stream:
        connected = connecting.result()
        assert connected[1].ret == 0
        yield stream
    warm_guest.agent.close(connected[0].ret).check()


def test_path_that_nobody_names_is_held_to_its_state(
    warm_guest: Guest, peer: Peer, stream: AfIucvStream
) -> None:
    (name,) = (name for name in tables(warm_guest.control) if name.endswith(" with SERVER"))
    with pytest.raises(Changed) as caught, Bystanders(warm_guest.control):
        peer.quiesce(stream.path)
    said = str(caught.value)
    assert said.count(" was {") == 1 and f"{name} was {{" in said
    before, after = said.split(" and is ")
    assert '"quiesced-there": false' in before and '"quiesced-there": true' in after
    peer.resume(stream.path)


def test_path_that_is_gone_is_a_change(warm_guest: Guest, stream: AfIucvStream) -> None:
    with pytest.raises(Changed, match="path .* of LINUX001 with SERVER was .* and is "):
        with Bystanders(warm_guest.control):
            stream.close()


def test_path_that_a_step_names_may_change(warm_guest: Guest, stream: AfIucvStream) -> None:
    with Bystanders(warm_guest.control, ["SERVER"]):
        stream.close()


def test_buffers_and_segments_are_bystanders(warm_guest: Guest) -> None:
    found = tables(warm_guest.control)
    assert found["segment MONDCSS"]["loaded"] is False
    buffer = found["interruption buffer of CPU 0"]["address"]
    assert isinstance(buffer, int) and buffer > 0
    with pytest.raises(Changed, match=r'segment MONDCSS was .*"loaded": false.* is .*: true'):
        with Bystanders(warm_guest.control):
            warm_guest.agent.modprobe("monreader").check()
            fd = warm_guest.agent.open("/dev/monreader").check()
    with pytest.raises(Changed, match="path .* with \\*MONITOR was .* and is gone"):
        with Bystanders(warm_guest.control, ["MONDCSS"]):
            warm_guest.agent.close(fd).check()
    warm_guest.agent.rmmod("monreader").check()


def test_each_buffer_of_a_product_is_a_bystander(writers: Guest) -> None:
    first, second = Header(record=1), Header(record=2)
    with Writer(writers) as writer:
        for header in (first, second):
            writer.put(header, b"data")
        assert sum("LNXAPPL" in name for name in tables(writers.control)) == 2
        with pytest.raises(Changed, match="LNXAPPL 471101000200030004 .* and is gone"):
            with Bystanders(writers.control):
                writer.put(replace(first, function=STOP))
        with Bystanders(writers.control, ["LNXAPPL"]):
            writer.put(replace(second, function=STOP))


@pytest.mark.bystanders("SERVER")
@pytest.mark.usefixtures("warm_guest")
def test_mark_names_what_may_change(stream: AfIucvStream) -> None:
    stream.close()


@pytest.mark.bystanders()
@pytest.mark.xfail(raises=Changed, strict=True, reason="the test that the mark is to fail")
@pytest.mark.usefixtures("warm_guest")
def test_mark_fails_a_test_that_changes_others(stream: AfIucvStream) -> None:
    stream.close()
