# SPDX-License-Identifier: MIT
"""netiucv: a point-to-point network interface of the guest to a user ID that the test plays."""

from __future__ import annotations

import errno
import hashlib
import os
import struct
from typing import TYPE_CHECKING

import ip_packets
import pytest
from failcall import Fails, fails as fails
from failing import Failing, void
from ip_packets import ECHO_REPLY, ECHO_REQUEST, ICMP, Packet, answer, decode_echo, echo
from netiucv_lab import (
    BUSYBOX,
    DRIVER,
    MODULE,
    OTHER,
    OWN,
    PARTNER,
    SECONDS,
    UP,
    USER,
    WAITS,
    Datagrams,
    Interface,
    agent_guest as agent_guest,
    datagrams as datagrams,
    from_guest,
    guest_config as guest_config,
    interface as interface,
    link as link,
    make,
    peer as peer,
    reached,
    remove,
    to_guest,
)
from waiting import wait_until

from zvmlab.agent.wire import Call
from zvmlab.base.errors import Timeout
from zvmlab.cp.faults import Fault, armed, count
from zvmlab.cp.netiucv import Link, LinkRefused, accept, connect, pack, user_data
from zvmlab.cp.peer import EventType, Peer
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

pytestmark = pytest.mark.not_debug("it has no IP", lacks="INET")
IPADRJCT = 0x040000
"""In a completion: the guest has rejected the message."""
# A datagram's headers.
HEADERS = 28
HEADER_OF_LINK = 2
MTU, MIN_MTU = 9216, 576
MAX_BUFFER = 65537
DOWN = "Stopped", "Stopped"
AF_INET, SOCK_DGRAM, SIOCSIFNAME = 2, 2, 0x8923
ASKS = "StartWait", "SetupWait"


def pattern(size: int, seed: int = 0) -> bytes:
    """Bytes that differ at every place and for every seed."""
    block = hashlib.sha256(f"{seed}".encode()).digest()
    return (block * (size // len(block) + 1))[:size]


def log_of(guest: Guest, since: int) -> list[str]:
    return [line.text for line in guest.agent.dmesg(since) if "netiucv" in line.text]


@pytest.mark.requirement("N1")
@pytest.mark.representative
def test_user_id_becomes_an_interface(agent_guest: Guest) -> None:
    """With numbers in order; the user ID in capitals, user data behind a dot."""
    since = agent_guest.agent.log_position()
    for number, (asked, shown) in enumerate(
        (("partner\n", "PARTNER"), ("PARTNER.B$", "PARTNER.B$"), ("A", "A"), ("$Z.0 1", "$Z.0"))
    ):
        make(agent_guest.agent, asked).check()
        made = Interface(agent_guest, number)
        assert made.attribute("user") == shown
        assert made.states == DOWN
        assert (made.mtu, made.attribute("buffer")) == (MTU, str(MAX_BUFFER))
    assert log_of(agent_guest, since)[0] == (
        "netiucv netiucv0: The IUCV interface to PARTNER has been established successfully"
    )


@pytest.mark.requirement("N1")
@pytest.mark.parametrize("user", ["NINECHARS\n", "A B", "A#", "PARTNER.SEVENTEENLETTERS1\n", "-"])
def test_what_is_no_user_id_is_einval(agent_guest: Guest, user: str) -> None:
    assert make(agent_guest.agent, user).errno == errno.EINVAL
    with pytest.raises(FileNotFoundError):
        Interface(agent_guest).attribute("user")


@pytest.mark.requirement("N1")
def test_second_interface_to_the_same_is_eexist(interface: Interface) -> None:
    """User ID and user data; an existing one cannot become it, either."""
    agent = interface.guest.agent
    assert make(agent, PARTNER.lower()).errno == errno.EEXIST
    make(agent, f"{PARTNER}.OTHER").check()
    assert make(agent, f"{PARTNER}.other").errno == errno.EEXIST
    other = Interface(interface.guest, 1)
    assert other.set("user", PARTNER).errno == errno.EEXIST
    other.set("user", f"{PARTNER}.THIRD").check()
    assert other.attribute("user") == f"{PARTNER}.THIRD"


@pytest.mark.requirement("N2")
@pytest.mark.representative
def test_interface_that_comes_up_connects(interface: Interface, peer: Peer) -> None:
    since = interface.guest.agent.log_position()
    interface.up()
    asked = peer.wait(EventType.PENDING, SECONDS)
    assert (asked.vmid, asked.msglim, asked.flags) == (USER, 50, 0)
    assert asked.ipuser == bytes.fromhex("f040404040404040") * 2
    assert interface.states == ASKS
    peer.accept(asked.path, asked.ipuser, 10)
    reached(interface, UP)
    assert log_of(interface.guest, since) == [
        "netiucv netiucv0: The IUCV device has been connected successfully to PARTNER"
    ]
    # The limit that the partner has granted is the length of the queue of the device.
    queue = interface.guest.agent.read_file("/sys/class/net/iucv0/tx_queue_len")
    assert queue == b"50\n"


@pytest.mark.requirement("N2")
def test_user_data_tell_interfaces_apart(agent_guest: Guest, peer: Peer) -> None:
    for number, name in enumerate(("FIRST", "SECOND")):
        make(agent_guest.agent, f"{PARTNER}.{name}").check()
        interface = Interface(agent_guest, number)
        interface.up(f"10.1.{number}.1", f"10.1.{number}.2")
        link = accept(peer, name)
        reached(interface, UP)
        done = agent_guest.agent.worker("ping").spawn(
            [BUSYBOX, "ping", "-c", "1", "-W", "60", f"10.1.{number}.2"]
        )
        link.send(*map(answer, link.packets()))
        done.wait(SECONDS).check()


@pytest.mark.requirement("N3")
def test_partner_connects_to_an_interface_that_waits(interface: Interface, peer: Peer) -> None:
    """It was not logged on when the interface came up, or has severed; with its user data only."""
    peer.close()
    since = interface.guest.agent.log_position()
    interface.up()
    assert log_of(interface.guest, since) == [
        "netiucv netiucv0: The IUCV device failed to connect to z/VM guest PARTNER"
    ]
    assert interface.states == WAITS
    with Peer(interface.guest.control, PARTNER) as late, Peer(interface.guest.control, "X") as x:
        for who, name in ((x, ""), (late, "OTHER"), (late, "0")):
            with pytest.raises(LinkRefused):
                connect(who, USER, name)
        assert interface.states == WAITS
        with connect(late, USER) as link:
            reached(interface, UP)
            ping(interface, link, 56)
            # It has one connection.
            with pytest.raises(LinkRefused):
                connect(late, USER)
            assert interface.states == UP


@pytest.mark.requirement("N3")
def test_interface_that_is_down_refuses(interface: Interface, peer: Peer) -> None:
    with pytest.raises(LinkRefused):
        connect(peer, USER)
    assert interface.states == DOWN


def ping(interface: Interface, link: Link, size: int) -> None:
    """One echo request of the guest's, and its answer."""
    command = [BUSYBOX, "ping", "-c", "1", "-W", "60", "-s", str(size), OTHER]
    process = interface.guest.agent.worker("ping").spawn(command)
    (request,) = link.packets()
    asked = Packet.decode(request)
    assert (asked.protocol, asked.source, asked.target) == (ICMP, OWN, OTHER)
    kind, _, sequence, data = decode_echo(asked.data)
    assert (kind, sequence, len(data)) == (ECHO_REQUEST, 0, size)
    link.send(answer(request))
    assert b"1 packets received" in process.wait(SECONDS).check().stdout


@pytest.mark.requirement("N4")
@pytest.mark.representative
@pytest.mark.parametrize("size", [4, 56, 1473, MTU - HEADERS])
def test_guest_pings_its_partner(interface: Interface, link: Link, size: int) -> None:
    ping(interface, link, size)
    assert interface.counts("tx_packets", "rx_packets", "tx_errors", "rx_errors") == [1, 1, 0, 0]
    assert interface.counts("tx_bytes", "rx_bytes") == [size + HEADERS] * 2


@pytest.mark.requirement("N4")
@pytest.mark.parametrize("size", [0, 1, 1001, MTU - HEADERS])
def test_partner_pings_the_guest(link: Link, size: int) -> None:
    data = pattern(size)
    asked = Packet(ICMP, OTHER, OWN, echo(ECHO_REQUEST, 7, 3, data))
    link.send(asked.encode())
    (packet,) = link.packets()
    found = Packet.decode(packet)
    assert (found.protocol, found.source, found.target) == (ICMP, OWN, OTHER)
    assert decode_echo(found.data) == (ECHO_REPLY, 7, 3, data)


@pytest.mark.requirement("N4")
def test_framing_is_an_offset_before_each_packet(link: Link, datagrams: Datagrams) -> None:
    """The first field has the offset of the next one, which is the end's."""
    datagrams.send(b"data")
    message = link.message()
    assert message[:2] == (HEADER_OF_LINK + HEADERS + 4).to_bytes(2, "big")
    assert message[-2:] == bytes(2)
    assert from_guest(message[2:-2]) == b"data"


@pytest.mark.requirement("N4")
def test_datagram_is_cut_to_packets_of_the_mtu(link: Link, datagrams: Datagrams) -> None:
    """IP's fragments, in messages of their own or together; put together they are the datagram."""
    data = pattern(20_000)
    datagrams.send(data)
    parts: list[bytes] = []
    while sum(len(part) - 20 for part in parts) < 8 + len(data):
        parts += link.packets()
    assert [len(part) for part in parts[:-1]] == [MTU - (MTU - 20) % 8] * (len(parts) - 1)
    for part in parts:
        assert ip_packets.checksum(part[:20]) == 0
    assert b"".join(part[20:] for part in parts)[8:] == data


@pytest.mark.requirement("N5")
def test_message_with_many_packets(interface: Interface, link: Link, datagrams: Datagrams) -> None:
    """Each is a packet of its own; the longest message has 65,537 bytes."""
    sizes = [0, 1, 500, 9000, 3, *([8000] * 6)]
    packets = [to_guest(pattern(size, seed)) for seed, size in enumerate(sizes)]
    rest = 0xFFFF - sum(len(packet) + HEADER_OF_LINK for packet in packets)
    sizes.append(rest - HEADER_OF_LINK - HEADERS)
    packets.append(to_guest(pattern(sizes[-1], len(sizes) - 1)))
    assert len(pack(packets)) == MAX_BUFFER
    link.send(*packets)
    for seed, size in enumerate(sizes):
        assert datagrams.recv() == pattern(size, seed)
    assert interface.counts("rx_packets", "rx_bytes", "rx_errors", "rx_dropped") == [
        *(len(packets), sum(map(len, packets)), 0, 0)
    ]


@pytest.mark.requirement("N5")
def test_message_that_is_no_packets_is_dropped(
    interface: Interface, link: Link, datagrams: Datagrams
) -> None:
    """Too short for one, without any, or with one that does not fit into the buffer."""
    for message in (b"\0", b"\0\0", b"\0\4\0\0", b"\0\0\1\2\3\4\5"):
        link.send_raw(message)
    link.send(to_guest(b"good"))
    assert datagrams.recv() == b"good"
    assert interface.counts("rx_packets", "rx_errors") == [1, 3]


@pytest.mark.requirement("N5")
def test_packet_of_one_byte_is_a_packet(
    interface: Interface, link: Link, datagrams: Datagrams
) -> None:
    """The message has five bytes.  Whether it is one of IP's is IP's matter."""
    link.send(b"\x45")
    link.send(to_guest(b"good"))
    assert datagrams.recv() == b"good"
    assert interface.counts("rx_packets", "rx_errors", "rx_dropped") == [2, 0, 0]


@pytest.mark.requirement("N6")
@pytest.mark.representative
def test_packets_are_collected_while_a_message_is_on_its_way(
    interface: Interface, link: Link, datagrams: Datagrams
) -> None:
    """The partner takes the first one; the others come in one message, in order."""
    sizes = [100, 2000, 0, 9000, 1]
    for seed, size in enumerate(sizes):
        datagrams.send(pattern(size, seed))
    assert interface.states[1] == "TX"
    assert interface.attribute("stats/tx_pending") == "1"
    first, second = link.packets(), link.packets()
    assert [from_guest(packet) for packet in first] == [pattern(100, 0)]
    assert [from_guest(packet) for packet in second] == [
        pattern(size, seed) for seed, size in enumerate(sizes) if seed > 0
    ]
    reached(interface, UP)
    collected = sum(sizes[1:]) + 4 * (HEADERS + HEADER_OF_LINK)
    shown = {name: interface.attribute(f"stats/{name}") for name in STATISTICS}
    assert shown == {
        "max_tx_buffer_used": str(collected),
        "max_chained_skbs": "4",
        "tx_single_write_ops": "1",
        "tx_multi_write_ops": "1",
        "netto_bytes": str(100 + HEADERS + 2 * HEADER_OF_LINK + collected + HEADER_OF_LINK),
        "max_tx_io_time": "0",
        "tx_pending": "0",
        "tx_max_pending": "1",
    }
    assert interface.counts("tx_packets", "tx_bytes", "tx_errors") == [
        *(5, sum(sizes) + 5 * HEADERS, 0)
    ]


STATISTICS = (
    *("max_tx_buffer_used", "max_chained_skbs", "tx_single_write_ops", "tx_multi_write_ops"),
    *("netto_bytes", "max_tx_io_time", "tx_pending", "tx_max_pending"),
)


@pytest.mark.requirement("N6")
def test_no_more_is_collected_than_a_message_holds(link: Link, datagrams: Datagrams) -> None:
    """Twenty packets of 9,000 bytes: seven fit; none is lost, and their order stays."""
    count = 20
    for seed in range(count):
        datagrams.send(pattern(9000 - HEADERS, seed))
    found: list[bytes] = []
    shapes = []
    while len(found) < count:
        message = link.packets()
        shapes.append(len(message))
        found += map(from_guest, message)
    assert found == [pattern(9000 - HEADERS, seed) for seed in range(count)]
    assert shapes[0] == 1 and max(shapes) == 7


@pytest.mark.requirement("N6")
def test_statistics_are_set_to_zero(interface: Interface, link: Link, datagrams: Datagrams) -> None:
    """Whatever is written."""
    for _ in range(3):
        datagrams.send(b"data")
    assert [len(link.packets()) for _ in range(2)] == [1, 2]
    reached(interface, UP)
    before = {name: interface.attribute(f"stats/{name}") for name in STATISTICS}
    assert [name for name, value in before.items() if value == "0"] == [
        "max_tx_io_time",
        "tx_pending",
    ]
    for name in STATISTICS:
        interface.set(f"stats/{name}", "17").check()
        assert interface.attribute(f"stats/{name}") == "0"


@pytest.mark.requirement("N7")
def test_mtu_has_limits_einval(interface: Interface) -> None:
    for mtu in (MIN_MTU, 65533):
        assert interface.configure("mtu", str(mtu)) == 0
        assert interface.mtu == mtu
    for mtu in (MIN_MTU - 1, 65536, 1 << 20):
        assert interface.configure("mtu", str(mtu)) != 0
    assert interface.mtu == 65533


@pytest.mark.requirement("N7")
@pytest.mark.parametrize("mtu", [MIN_MTU, 1500, 32768, 65533])
def test_largest_packet_of_an_mtu(
    interface: Interface, peer: Peer, datagrams: Datagrams, mtu: int
) -> None:
    assert interface.configure("mtu", str(mtu)) == 0
    interface.up()
    with accept(peer) as link:
        reached(interface, UP)
        data = pattern(mtu - HEADERS)
        datagrams.send(data)
        (packet,) = link.packets()
        assert len(packet) == mtu
        assert from_guest(packet) == data
        link.send(to_guest(data))
        assert datagrams.recv() == data


@pytest.mark.requirement("N7")
def test_buffer_gives_the_mtu_and_the_longest_message(
    interface: Interface, peer: Peer, datagrams: Datagrams
) -> None:
    """A longer one is rejected and counted."""
    for size in ("579", "65538", "4294967296", "-1", "x", "", "600 700"):
        if size:
            assert interface.set("buffer", size).errno == errno.EINVAL, size
    interface.set("buffer", "580\n").check()
    assert interface.mtu == MIN_MTU
    interface.set("buffer", "0x400").check()
    assert (interface.attribute("buffer"), interface.mtu) == ("1024", 1020)
    interface.up()
    with accept(peer) as link:
        reached(interface, UP)
        fits = pattern(1024 - HEADERS - 2 * HEADER_OF_LINK)
        link.send(to_guest(fits))
        assert datagrams.recv() == fits
        done = peer.wait(EventType.MSG_COMPLETE, SECONDS, link.path)
        assert done.audit == 0
        link.send(to_guest(fits + b"x"))
        done = peer.wait(EventType.MSG_COMPLETE, SECONDS, link.path)
        assert done.audit == IPADRJCT
        assert interface.counts("rx_packets", "rx_dropped", "rx_errors") == [1, 1, 0]


@pytest.mark.requirement("N8")
@pytest.mark.representative
def test_partner_severs_and_comes_back(interface: Interface, link: Link, peer: Peer) -> None:
    ping(interface, link, 100)
    for size in (200, 300):
        since = interface.guest.agent.log_position()
        link.close()
        reached(interface, WAITS)
        assert log_of(interface.guest, since) == [
            "netiucv netiucv0: The peer z/VM guest PARTNER has closed the connection"
        ]
        link = connect(peer, USER)
        reached(interface, UP)
        ping(interface, link, size)


@pytest.mark.requirement("N8")
def test_packets_without_a_connection_are_dropped(
    interface: Interface, link: Link, datagrams: Datagrams
) -> None:
    link.close()
    reached(interface, WAITS)
    datagrams.send(b"lost")
    assert interface.counts("tx_dropped", "tx_errors", "tx_carrier_errors") == [1, 1, 1]


@pytest.mark.requirement("N8")
def test_interface_goes_down_and_comes_up(interface: Interface, link: Link, peer: Peer) -> None:
    """It severs, and connects again."""
    for size in (100, 200):
        ping(interface, link, size)
        interface.down()
        link.await_sever()
        assert interface.states == DOWN
        interface.up()
        link = accept(peer)
        reached(interface, UP)


# IPRCODE of CONNECT, what the log says, and the states that follow.
REFUSALS = {
    0x0B: "The IUCV device failed to connect to z/VM guest PARTNER",
    0x0C: "The IUCV device failed to connect to the peer on z/VM guest PARTNER",
    0x0D: "Connecting the IUCV device would exceed the maximum number of IUCV connections",
    0x0E: "z/VM guest PARTNER has too many IUCV connections to connect with the IUCV device",
    0x0F: "The IUCV device cannot connect to a z/VM guest with no IUCV authorization",
    0x10: "Connecting the IUCV device failed with error 16",
}


@pytest.mark.requirement("N9")
@pytest.mark.parametrize("code", REFUSALS)
def test_connection_that_cp_refuses(interface: Interface, peer: Peer, code: int) -> None:
    """The log says why.  Down and up is another attempt."""
    guest = interface.guest
    since = guest.agent.log_position()
    with armed(guest.control, Fault("iucv.connect", "rc", code, name=PARTNER)) as rules:
        interface.up()
    assert rules[0].fired == 1
    assert log_of(guest, since) == [f"netiucv netiucv0: {REFUSALS[code]}"]
    assert interface.states[0] == "StartWait"
    # A partner that is to come can connect later.
    assert (interface.states == WAITS) == (code in (0x0B, 0x0C))
    interface.down()
    assert interface.states == DOWN
    interface.up()
    accept(peer)
    reached(interface, UP)


@pytest.mark.requirement("N9")
def test_connection_that_cannot_be_accepted_is_none(interface: Interface, peer: Peer) -> None:
    """The interface waits as before.  Down and up is another attempt."""
    peer.close()
    interface.up()
    with Peer(interface.guest.control, PARTNER) as late:
        control = interface.guest.control
        with armed(control, Fault("iucv.accept", "rc", 1, name=PARTNER)) as rules:
            late.connect(USER, user_data(), 10)

            def refused() -> bool:
                count(control, rules)
                return rules[0].fired == 1

            wait_until(refused, "the guest's ACCEPT", lambda: rules)
        assert interface.states == WAITS
        interface.down()
        interface.up()
        accept(late)
        reached(interface, UP)


@pytest.mark.requirement("N9")
def test_partner_that_refuses(interface: Interface, peer: Peer) -> None:
    since = interface.guest.agent.log_position()
    interface.up()
    asked = peer.wait(EventType.PENDING, SECONDS)
    peer.sever(asked.path)
    reached(interface, WAITS)
    assert log_of(interface.guest, since) == [
        "netiucv netiucv0: The peer z/VM guest PARTNER has closed the connection"
    ]
    connect(peer, USER)
    reached(interface, UP)


@pytest.mark.requirement("N9")
def test_partner_that_does_not_answer_is_given_up(interface: Interface, peer: Peer) -> None:
    """After five seconds the guest severs, and waits for a connection."""
    interface.up()
    asked = peer.wait(EventType.PENDING, SECONDS)
    peer.wait(EventType.SEVERED, SECONDS, asked.path)
    reached(interface, WAITS)
    peer.sever(asked.path)
    connect(peer, USER)
    reached(interface, UP)


@pytest.mark.requirement("N10")
def test_interface_that_is_up_is_not_removed_eperm(interface: Interface, link: Link) -> None:
    agent = interface.guest.agent
    since = agent.log_position()
    assert remove(agent, "iucv0\n").errno == errno.EPERM
    assert log_of(interface.guest, since) == [
        "netiucv netiucv0: The IUCV device is connected to PARTNER  and cannot be removed"
    ]
    ping(interface, link, 56)
    interface.down()
    remove(agent, "iucv0\n").check()
    link.await_sever()
    with pytest.raises(FileNotFoundError):
        interface.attribute("user")
    assert remove(agent, "iucv0\n").errno == errno.EINVAL
    # Its number and its partner are free.
    make(agent, PARTNER).check()
    assert interface.attribute("user") == PARTNER


@pytest.mark.requirement("N10")
def test_active_interface_keeps_its_user_eperm(interface: Interface, link: Link) -> None:
    assert interface.set("user", "OTHER").errno == errno.EPERM
    assert interface.set("user", "A#B").errno == errno.EINVAL
    assert interface.attribute("user") == PARTNER
    interface.down()
    interface.set("user", "other").check()
    assert interface.attribute("user") == "OTHER"
    link.await_sever()


@pytest.mark.requirement("N10")
@pytest.mark.representative
def test_unloading_severs(interface: Interface, link: Link, peer: Peer) -> None:
    """An interface that is up does not keep the module; afterwards nobody answers."""
    agent = interface.guest.agent
    make(agent, f"{PARTNER}.SECOND").check()
    agent.rmmod(MODULE).check()
    link.await_sever()
    with pytest.raises(LinkRefused):
        connect(peer, USER)
    agent.modprobe(MODULE).check()
    make(agent, PARTNER).check()
    interface.up()
    with accept(peer) as again:
        reached(interface, UP)
        ping(interface, again, 56)


@pytest.mark.requirement("N11")
def test_quiesced_path_goes_on_when_it_is_resumed(
    interface: Interface, link: Link, datagrams: Datagrams, peer: Peer
) -> None:
    """Nothing comes meanwhile, and nothing is lost."""
    peer.quiesce(link.path)
    for number in range(3):
        datagrams.send(b"%d" % number)
    assert interface.states == UP
    with pytest.raises(Timeout):
        link.message(0)
    peer.resume(link.path)
    found: list[bytes] = []
    while len(found) < 3:
        found += map(from_guest, link.packets())
    assert found == [b"0", b"1", b"2"]


@pytest.mark.requirement("N11")
@pytest.mark.parametrize("kind", ["drop", "duplicate", "corrupt", "delay", "reorder"])
def test_what_cp_does_to_a_message_reaches_no_other(
    interface: Interface, link: Link, datagrams: Datagrams, kind: str
) -> None:
    """Every fault of an interruption for a message, then two that are as they should be."""
    guest = interface.guest
    value = {"delay": 1, "corrupt": 0x40}.get(kind, 0)
    offset = 0x10 if kind == "corrupt" else 0  # of the length
    fault = Fault("interrupt", kind, value, offset, nth=1, path=path_of(guest))
    with armed(guest.control, fault) as rules:
        link.send(to_guest(b"first"))
        link.send(to_guest(b"second"))
        link.send(to_guest(b"third"))
    assert rules[0].fired == 1
    found = [datagrams.recv()]
    while found[-1] != b"third" and not (kind == "reorder" and len(found) == 3):
        found.append(datagrams.recv())
    expected = {"drop": ["second", "third"], "corrupt": ["second", "third"]}.get(
        kind, ["first", "second", "third"]
    )
    assert sorted(part.decode() for part in found) == sorted(expected)
    assert interface.states == UP


def path_of(guest: Guest) -> int:
    """The guest's number of its path to the partner."""
    paths = guest.control.execute("query-paths", user=USER)["paths"]
    (found,) = [path["path"] for path in paths if path["partner"] == PARTNER]
    return int(found)


@pytest.mark.requirement("N11")
def test_message_that_the_partner_rejects_is_over(
    interface: Interface, link: Link, datagrams: Datagrams, peer: Peer
) -> None:
    """The next one comes."""
    datagrams.send(b"unwanted")
    event = peer.wait(EventType.MSG_PENDING, SECONDS, link.path)
    peer.reject(link.path, event.msgid, event.trgcls)
    datagrams.send(b"wanted")
    assert [from_guest(packet) for packet in link.packets()] == [b"wanted"]
    reached(interface, UP)


@pytest.mark.requirement("N11")
def test_two_thousand_packets_each_way_in_order(link: Link, datagrams: Datagrams) -> None:
    count = 2000
    for first in range(0, count, 50):
        link.send(*(to_guest(first.to_bytes(2, "big") + bytes([n])) for n in range(50)))
        for number in range(50):
            assert datagrams.recv() == first.to_bytes(2, "big") + bytes([number])
            datagrams.send((first + number).to_bytes(2, "big"))
        found: list[bytes] = []
        while len(found) < 50:
            found += map(from_guest, link.packets())
        assert found == [(first + n).to_bytes(2, "big") for n in range(50)]


@pytest.mark.requirement("N13")
def test_loading_without_memory_is_enomem(agent_guest: Guest, program: Build) -> None:
    """Each allocation fails once; then it can be loaded, and makes an interface."""
    agent_guest.agent.rmmod(MODULE).check()
    assert Failing(agent_guest).loads(program, MODULE)[errno.ENOMEM] > 0
    agent_guest.agent.modprobe(MODULE).check()
    make(agent_guest.agent, PARTNER).check()
    assert Interface(agent_guest).states == DOWN


@pytest.mark.requirement("N13")
def test_interface_without_memory_is_none(agent_guest: Guest, peer: Peer) -> None:
    """ENODEV or ENOMEM, and there is none; then one can be made, and connects."""
    worker = agent_guest.agent.worker("maker")
    fd = worker.open(f"{DRIVER}/connection", os.O_WRONLY).check()
    errors = Failing(agent_guest).each(
        worker,
        lambda batch: batch.write(fd, PARTNER.encode()),
        lambda result: void(remove(agent_guest.agent, "iucv0").check()),
    )
    worker.close(fd).check()
    # Of the network device itself, ENOBUFS and EINVAL.
    known = {0, errno.ENODEV, errno.ENOMEM, errno.EFAULT, errno.ENOBUFS, errno.EINVAL}
    assert {0, errno.ENODEV, errno.ENOMEM} <= set(errors) <= known
    make(agent_guest.agent, PARTNER).check()
    interface = Interface(agent_guest)
    interface.up()
    with accept(peer):
        reached(interface, UP)


@pytest.mark.requirement("N13")
@pytest.mark.parametrize("name", ["iucv_register", "driver_register"])
def test_load_that_fails_leaves_nothing(agent_guest: Guest, fails: Fails, name: str) -> None:
    """The next one succeeds, and makes an interface."""
    agent_guest.agent.rmmod(MODULE).check()
    with fails(MODULE, [name], result=-errno.EBUSY):
        assert agent_guest.agent.insmod(MODULE).errno == errno.EBUSY
    agent_guest.agent.insmod(MODULE).check()
    make(agent_guest.agent, PARTNER).check()
    assert Interface(agent_guest).states == DOWN


def is_there(guest: Guest, path: str) -> bool:
    """Is there such a file or folder in the guest?"""
    worker = guest.agent.worker("looker")
    found = worker.open(path, os.O_RDONLY)
    if found.errno == 0:
        worker.close(found.ret).check()
    return found.errno != errno.ENOENT


# sysfs says that the name is taken.
@pytest.mark.zvmlab(crashes=("panic", "oops"))
@pytest.mark.requirement("N13")
def test_interface_whose_name_another_one_has_is_none(interface: Interface) -> None:
    """A renamed interface keeps its device, whose name the next one would get; EEXIST."""
    agent = interface.guest.agent
    rename(interface.guest, "iucv0", "other0")
    assert make(agent, "SECOND").errno == errno.EEXIST
    assert not is_there(interface.guest, "/sys/class/net/iucv0")
    rename(interface.guest, "other0", "iucv0")
    make(agent, "SECOND").check()
    second = Interface(interface.guest, 1)
    with Peer(interface.guest.control, "SECOND") as other:
        second.up()
        accept(other)
        reached(second, UP)


def rename(guest: Guest, name: str, new: str) -> None:
    """An interface that is down."""
    worker = guest.agent.worker("renamer")
    fd = worker.call(Call.SOCKET, AF_INET, SOCK_DGRAM, 0).check()
    names = struct.pack("16s24s", name.encode(), new.encode())
    worker.call(Call.IOCTL, fd, SIOCSIFNAME, names).check()
    worker.close(fd).check()


# What an interface is made of: the function that makes it, what it returns, and errno of all.
PARTS = [
    ("alloc_netdev_mqs", 0, errno.ENODEV),
    ("dev_alloc_name", -errno.ENFILE, errno.ENODEV),
    ("init_fsm", 0, errno.ENODEV),
    ("__alloc_skb", 0, errno.ENODEV),
    ("register_netdevice", -errno.EBUSY, errno.EBUSY),
]


@pytest.mark.requirement("N13")
@pytest.mark.parametrize("name, result, error", PARTS)
def test_interface_that_cannot_be_made_is_none(
    agent_guest: Guest, peer: Peer, fails: Fails, name: str, result: int, error: int
) -> None:
    """Nothing of it is left; the next one has its number, and connects."""
    with fails(MODULE, [name], result=result):
        assert make(agent_guest.agent, PARTNER).errno == error
    interface = Interface(agent_guest)
    for folder in ("/sys/class/net/iucv0", "/sys/bus/iucv/devices/netiucv0"):
        assert not is_there(agent_guest, folder)
    make(agent_guest.agent, PARTNER).check()
    interface.up()
    with accept(peer):
        reached(interface, UP)
