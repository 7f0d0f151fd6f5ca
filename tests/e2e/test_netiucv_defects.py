# SPDX-License-Identifier: MIT
"""Defects of the kernel's netiucv, as docs/upstream-kernel.md numbers them."""

from __future__ import annotations

import struct

import pytest
from memory import UNCACHED, settled
from netiucv_lab import (
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

from zvmlab.base.errors import GuestPanic, Timeout
from zvmlab.cp.faults import ArmedFault, Fault, armed, count
from zvmlab.cp.netiucv import Link, LinkRefused, accept, connect, user_data
from zvmlab.cp.peer import EventType, Peer
from zvmlab.guest.guest import Guest

pytestmark = [
    pytest.mark.not_debug("it has no IP", lacks="INET"),
    pytest.mark.requirement("N12"),
]


def partners_of(guest: Guest) -> list[str]:
    """The users that the guest has paths to."""
    paths = guest.control.execute("query-paths", user=USER)["paths"]
    return sorted(path["partner"] for path in paths)


@pytest.mark.kernel_defect(
    16, "a connection that it refuses takes the place of the one it has", seen=r"assert 1 == 0"
)
def test_second_connection_that_is_refused_changes_nothing(
    interface: Interface, link: Link, peer: Peer, datagrams: Datagrams
) -> None:
    """A packet of the guest's goes to the first one."""
    with pytest.raises(LinkRefused):
        connect(peer, USER)
    datagrams.send(b"data")
    (lost,) = interface.counts("tx_errors")
    assert min(lost, 1) == 0
    assert from_guest(link.packets()[0]) == b"data"


@pytest.mark.kernel_defect(
    16, "a path that it has refused and severed is its own", seen=r"assert 1 == 0"
)
def test_path_that_is_refused_is_severed_once(interface: Interface, peer: Peer) -> None:
    """By an interface that is down: its path is nobody's when it is removed."""
    control = interface.guest.control
    before = control.execute("query-counters")["stray-calls"]
    with pytest.raises(LinkRefused):
        connect(peer, USER)
    remove(interface.guest.agent, f"{interface.name}\n").check()
    strays = control.execute("query-counters")["stray-calls"] - before
    assert strays == 0


@pytest.mark.kernel_defect(
    17, "a packet may be longer than the message that it is in", seen=r"assert 1000 == 0"
)
def test_packet_ends_with_its_message(link: Link, datagrams: Datagrams) -> None:
    """Ten of a thousand promised bytes are there; the rest is memory of the kernel's."""
    packet = to_guest(b"0123456789", 1000)
    link.send_raw(struct.pack(">H", 2 + len(packet) + 990) + packet + bytes(2))
    link.send(to_guest(b""))
    assert len(datagrams.recv()) == 0


@pytest.mark.kernel_defect(
    18,
    "a partner's message makes it write beyond its buffer",
    seen=r"the guest's kernel reported a bug .*kernel BUG at net/core/skbuff\.c.*",
    raises=GuestPanic,
)
def test_no_message_ends_the_kernel(interface: Interface) -> None:
    """The second field promises exactly as many bytes as there is memory behind the message."""
    first = 0xFFFF
    with Peer(interface.guest.control, PARTNER) as peer:
        interface.up()
        link = accept(peer)
        reached(interface, UP)
        # A buffer of 65,537 bytes is one of 131,072, at whose end the kernel keeps something.
        # Before the second packet are 65,537 bytes: the first packet and two fields.
        for kept in range(256, 2048, 256):
            length = 0x20000 - kept - (first + 2)
            second = (first + 2 + length) % 0x10000
            link.send_raw(struct.pack(">H", first) + bytes(first - 2) + struct.pack(">H", second))
        datagrams = Datagrams(interface.guest.agent.worker("datagrams"))
        link.send(to_guest(b"good"))
        assert datagrams.recv() == b"good"


@pytest.mark.kernel_defect(
    19,
    "an interface severs a path that is not its own any more",
    seen=r"assert \[\] == \['OTHER'\]",
)
def test_interface_that_goes_down_severs_its_own_path(
    interface: Interface, link: Link, agent_guest: Guest
) -> None:
    """The partner has gone.  Somebody else has the number of the path when it goes down."""
    before = partners_of(agent_guest)
    link.close()
    reached(interface, WAITS)
    make(agent_guest.agent, "OTHER").check()
    other = Interface(agent_guest, 1)
    with Peer(agent_guest.control, "OTHER") as peer:
        other.up("10.2.1.1", "10.2.1.2")
        accept(peer)
        reached(other, UP)
        interface.down()
        assert [name for name in partners_of(agent_guest) if name not in before] == ["OTHER"]


@pytest.mark.kernel_defect(
    20, "a path that nobody uses any more stays", seen=r"assert \['PARTNER'\] == \[\]"
)
def test_interfaces_that_connect_to_each_other_at_once_keep_one_path(
    interface: Interface, peer: Peer
) -> None:
    """Both ask; the guest takes the partner's connection.  Nothing is left when it goes down."""
    interface.up()
    asked = peer.wait(EventType.PENDING, SECONDS)
    with connect(peer, USER) as link:
        reached(interface, UP)
        peer.accept(asked.path, user_data(), 50)
        interface.down()
        link.await_sever()
    assert [name for name in partners_of(interface.guest) if name == PARTNER] == []


@pytest.mark.kernel_defect(
    21, "the beginning of a name is enough to remove an interface", seen=r"assert 2 != 2"
)
def test_only_the_interface_that_is_named_is_removed(interface: Interface) -> None:
    """Without a newline behind it."""
    agent = interface.guest.agent
    assert remove(agent, "iu").ret != len("iu")
    assert interface.attribute("user") == PARTNER


@pytest.mark.zvmlab(command_line=UNCACHED)
@pytest.mark.kernel_defect(
    22, "what it keeps of a connection is never freed", seen=r"assert [1-9]\d\d < 100"
)
@pytest.mark.timeout(600)
def test_interface_that_is_removed_leaves_nothing(agent_guest: Guest) -> None:
    """Two hundred of them."""
    agent = agent_guest.agent
    for count in (5, 200):
        before = settled(agent_guest)
        for _ in range(count):
            make(agent, PARTNER).check()
            (name,) = [
                name for name in listing(agent_guest, "/sys/class/net") if name.startswith("iucv")
            ]
            remove(agent, f"{name}\n").check()
    left = settled(agent_guest).growth(before)
    assert left < 100


def listing(guest: Guest, folder: str) -> list[str]:
    return guest.agent.run(["/bin/busybox", "ls", folder]).check().stdout.decode().split()


@pytest.mark.parametrize("mtu", [65534, 65535])
@pytest.mark.kernel_defect(
    23,
    "packets of the largest MTUs do not fit into its framing",
    seen=r"assert [01] == \(65\d+ \+ 2\)",
)
def test_largest_packet_of_the_largest_mtu(
    interface: Interface, peer: Peer, datagrams: Datagrams, mtu: int
) -> None:
    """The field before them has 16 bits.  An MTU that does not fit into it may be refused."""
    if interface.configure("mtu", str(mtu)) != 0:
        return
    interface.up()
    with accept(peer) as link:
        reached(interface, UP)
        datagrams.send(bytes(mtu - 28))
        message = link.message()
        assert len(message) == mtu + 4
        following = int.from_bytes(message[:2], "big")
        assert following == mtu + 2


@pytest.mark.kernel_defect(
    24, "it tries a message again and again while its path is quiesced", seen=r"assert \d+ < 100"
)
def test_packet_for_a_quiesced_path_waits(
    interface: Interface, link: Link, datagrams: Datagrams, peer: Peer
) -> None:
    """It is sent when the path is resumed; nobody works meanwhile."""
    peer.quiesce(link.path)
    datagrams.send(b"data")
    try:
        wait_until(lambda: interface.counts("tx_errors")[0] >= 100, "a busy CPU")
    except AssertionError:
        pass
    (tries,) = interface.counts("tx_errors")
    peer.resume(link.path)
    assert from_guest(link.packets()[0]) == b"data"
    assert tries < 100


@pytest.mark.parametrize("user", ["NINECHARS", "A.SEVENTEENLETTERS1"])
@pytest.mark.kernel_defect(
    25, "names that are one character too long are cut", seen=r"assert \d+ != \d+"
)
def test_long_names_are_refused_without_a_newline_too(agent_guest: Guest, user: str) -> None:
    assert make(agent_guest.agent, user).ret != len(user)


@pytest.mark.kernel_defect(
    26, "its stack goes to the partner as user data", seen=r"assert \d+ == 64"
)
def test_empty_user_data_are_blanks(agent_guest: Guest, peer: Peer) -> None:
    """A dot, and nothing behind it."""
    make(agent_guest.agent, f"{PARTNER}.\n").check()
    Interface(agent_guest).up()
    asked = peer.wait(EventType.PENDING, SECONDS)
    peer.sever(asked.path)
    (first, *_) = asked.ipuser
    assert first == 0x40


@pytest.mark.kernel_defect(
    27, "a connection that CP refused has another state's name", seen=r"assert 'Reg.*' == 'Con.*'"
)
def test_refused_connection_is_called_so(interface: Interface) -> None:
    with armed(interface.guest.control, Fault("iucv.connect", "rc", 0x0F, name=PARTNER)):
        interface.up()
    assert interface.states[1] == "Connect error"


@pytest.mark.kernel_defect(
    28, "the buffer of an interface that is up becomes smaller than its MTU", seen=r"assert 4 == -1"
)
def test_buffer_of_an_interface_that_is_up_holds_its_packets(
    interface: Interface, link: Link
) -> None:
    """Otherwise the MTU that the partner relies on is another one."""
    assert link.path >= 0
    assert interface.set("buffer", "1024").ret == -1
    assert interface.mtu == 9216


@pytest.mark.zvmlab(cpus=2)
@pytest.mark.kernel_defect(
    55,
    "a connection that is severed before it is accepted has no owner",
    # What is at the address that it takes for the connection's is not always the same.
    seen=r"the guest's kernel reported an oops .*|assert \['fsm\(\): .*'\] == \[\]",
    raises=(GuestPanic, AssertionError),
)
def test_partner_that_severs_at_once_changes_nothing(interface: Interface, peer: Peer) -> None:
    """The guest is about to accept; then it waits for the next connection."""
    guest = interface.guest
    peer.close()
    interface.up()
    since = guest.agent.log_position()

    def said() -> list[str]:
        return [line.text for line in guest.agent.dmesg(since)]

    with Peer(guest.control, PARTNER) as late:
        with guest.hold("netiucv_callback_connreq") as hold:
            path = late.connect(USER, user_data(), 50).path
            hold.wait()
            late.sever(path)
        wait_until(
            lambda: bool(said()) or PARTNER not in partners_of(guest),
            "the end of the path",
            lambda: partners_of(guest),
        )
        assert said() == []
        assert interface.states == WAITS
        with connect(late, USER):
            reached(interface, UP)


def counted(guest: Guest, rules: list[ArmedFault]) -> int:
    """How often the first of the rules has fired."""
    count(guest.control, rules)
    return rules[0].fired


@pytest.mark.kernel_defect(
    55, "a connection that cannot be accepted takes the place of its own", seen=r"assert 1 == 0"
)
def test_own_connection_outlives_one_that_cannot_be_accepted(
    interface: Interface, peer: Peer
) -> None:
    """Both ask, and CP refuses ACCEPT: the guest's packets go to the path that the partner accepts."""
    interface.up()
    asked = peer.wait(EventType.PENDING, SECONDS)
    with armed(interface.guest.control, Fault("iucv.accept", "rc", 0x14, name=PARTNER)) as rules:
        path = peer.connect(USER, user_data(), 50).path
        wait_until(lambda: counted(interface.guest, rules) == 1, "ACCEPT")
    peer.accept(asked.path, user_data(), 50)
    with Link(peer, asked.path) as link:
        reached(interface, UP)
        Datagrams(interface.guest.agent.worker("datagrams")).send(b"data")
        (lost,) = interface.counts("tx_errors")
        arrived = [] if lost else link.packets()
        # It severs the path that it has not accepted, if it has kept that.
        interface.down()
        assert min(lost, 1) == 0
        assert from_guest(arrived[0]) == b"data"
    peer.wait(EventType.SEVERED, SECONDS, path)
    peer.sever(path)


@pytest.mark.kernel_defect(
    55,
    "a connection is neither accepted nor refused after one that CP refused",
    seen=r"assert \[\] == \[<EventType\.SEVERED: 3>\]",
)
def test_connection_after_one_that_cp_refused_is_refused(interface: Interface, peer: Peer) -> None:
    with armed(interface.guest.control, Fault("iucv.connect", "rc", 0x0F, name=PARTNER)):
        interface.up()
    path = peer.connect(USER, user_data(), 50).path
    answers = []
    try:
        answers.append(peer.wait((EventType.COMPLETE, EventType.SEVERED), 5, path).type)
    except Timeout:
        pass
    # It severs the path that it has not answered, if it has kept that.
    interface.down()
    peer.sever(path)
    assert answers == [EventType.SEVERED]
