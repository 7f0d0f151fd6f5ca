# SPDX-License-Identifier: MIT
"""CP commands of other user IDs, as the guest sees what they do: SMSG above all."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from failing import Failing
from waiting import LIMIT, wait_until
from zvmlab.agent.worker import Process
from zvmlab.cp.control import CpResponse
from zvmlab.cp.faults import Fault, armed
from zvmlab.cp.peer import Peer
from zvmlab.guest.guest import Guest
from zvmlab.scenarios.outcome import normal_log

if TYPE_CHECKING:
    from conftest import Build, Commands

READY = "/tmp/listening"
DONE = CpResponse("", 0)


def wait_for(guest: Guest, path: str) -> None:
    """Until there is a file of that name in the guest."""

    def there() -> bool:
        try:
            guest.agent.read_file(path)
        except FileNotFoundError:
            return False
        return True

    wait_until(there, path)


class Events:
    """The uevents of smsgiucv_app in a guest."""

    def __init__(self, guest: Guest, program: Build) -> None:
        self.guest = guest
        guest.agent.write_file("/tmp/smsg_events", program("smsg_events").read_bytes(), 0o755)

    def listen(self, count: int, last: str = "") -> Process:
        """Begin to collect so many, or all up to the one with this text."""
        with contextlib.suppress(FileNotFoundError):
            self.guest.agent.unlink(READY)
        arguments = ["/tmp/smsg_events", str(count), READY, *([last] if last else [])]
        listener = self.guest.agent.worker("events").spawn(arguments)
        wait_for(self.guest, READY)
        return listener


def seen_by(listener: Process) -> list[str]:
    """The collected messages: "SENDER ID TEXT"."""
    return listener.wait(LIMIT).check().stdout.decode().splitlines()


@pytest.fixture
def events(guest: Guest, program: Build) -> Events:
    """Nothing is loaded yet."""
    return Events(guest, program)


app = pytest.mark.zvmlab(modules=("smsgiucv_app",))


@app
@pytest.mark.representative
@pytest.mark.requirement("U1", "U2")
def test_smsg_becomes_an_event_with_sender_and_text(
    guest: Guest, events: Events, vmcp_in: Callable[[Guest], Commands]
) -> None:
    """Peers, the operator and the guest itself send; messages come in the order of sending."""
    guest.agent.modprobe("smsgiucv_app").check()
    vmcp = vmcp_in(guest)
    longest = "x" * (240 - len("SMSG LINUX001 APP"))
    listener = events.listen(7)
    with Peer(guest.control, "TESTER") as tester, Peer(guest.control, "A") as short:
        assert tester.cp("SMSG LINUX001 APP first") == DONE
        assert short.cp("SMSG LINUX001 APP   second one  of two") == DONE
        assert tester.cp("SMSG LINUX001 APPthird") == DONE
        assert guest.cp("SMSG LINUX001 APP fourth") == DONE
        assert vmcp("SMSG * APP fifth: ~!@#$%^&*()_+{}|<>?=[]").rc == 0
        assert tester.cp(f"SMSG LINUX001 APP{longest}") == DONE
        assert tester.cp("SMSG LINUX001 APP last") == DONE
        seen = seen_by(listener)
    assert seen == [
        "TESTER APP first",
        "A APP second one  of two",
        "TESTER APP third",
        "OPERATOR APP fourth",
        "LINUX001 APP fifth: ~!@#$%^&*()_+{}|<>?=[]",
        f"TESTER APP {longest}",
        "TESTER APP last",
    ]


@app
@pytest.mark.requirement("U3")
def test_flood_is_refused_from_the_256th_message_on(guest: Guest, events: Events) -> None:
    """The sender is told of what CP does not keep; what it keeps arrives whole, in order."""
    guest.agent.modprobe("smsgiucv_app").check()
    listener = events.listen(256)
    with Peer(guest.control, "TESTER") as tester:
        guest.machine.pause()
        answers = [tester.cp(f"SMSG LINUX001 APP {number}") for number in range(300)]
        guest.machine.go_on()
        assert answers[:255] == [DONE] * 255
        refused = CpResponse("HCPMFS057I LINUX001 not receiving; disconnected\n", 57)
        assert answers[255:] == [refused] * 45
        # There is room again as soon as one was received.
        wait_until(lambda: tester.cp("SMSG LINUX001 APP after") == DONE, "room for a message")
        seen = seen_by(listener)
    assert seen == [f"TESTER APP {number}" for number in range(255)] + ["TESTER APP after"]


@app
@pytest.mark.requirement("U4")
def test_only_the_sender_that_is_named(guest: Guest, events: Events) -> None:
    """The module's parameter sender: all others are ignored, and are told nothing."""
    guest.agent.modprobe("smsgiucv_app", "sender=ADMIN").check()
    listener = events.listen(2)
    users = ("TESTER", "ADMIN", "ADMIN1", "AD")
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(Peer(guest.control, name)) for name in users]
        for peer in (*peers, *peers):
            assert peer.cp(f"SMSG LINUX001 APP from {peer.name}") == DONE
        assert seen_by(listener) == ["ADMIN APP from ADMIN"] * 2


@app
@pytest.mark.requirement("U4")
def test_sender_without_a_name_is_everybody(guest: Guest, events: Events) -> None:
    """As if the parameter were not given."""
    guest.agent.modprobe("smsgiucv_app", "sender=").check()
    listener = events.listen(2)
    with Peer(guest.control, "TESTER") as tester, Peer(guest.control, "A") as other:
        for peer in (tester, other):
            assert peer.cp("SMSG LINUX001 APP text") == DONE
        assert seen_by(listener) == ["TESTER APP text", "A APP text"]


@app
@pytest.mark.requirement("U1")
def test_events_are_of_a_device_of_the_module(guest: Guest, program: Build) -> None:
    """It is a device of smsgiucv's driver, and goes with the module."""
    agent = guest.agent
    agent.write_file("/tmp/uevents", program("uevents").read_bytes(), 0o755)
    agent.modprobe("smsgiucv_app").check()
    words = ["/tmp/uevents", "1", READY, "SMSG_TEXT=text"]
    listener = agent.worker("events").spawn(words)
    wait_for(guest, READY)
    with Peer(guest.control, "TESTER") as tester:
        assert tester.cp("SMSG LINUX001 APP text") == DONE
    assert seen_by(listener) == ["change@/devices/iucv/smsgiucv_app"]
    places = [f"/sys/bus/iucv/{kind}/smsgiucv_app" for kind in ("devices", "drivers/SMSGIUCV")]
    assert [agent.open(place).errno for place in places] == [0, 0]
    agent.rmmod("smsgiucv_app").check()
    assert [agent.open(place).errno for place in places] == [errno.ENOENT] * 2
    agent.modprobe("smsgiucv_app").check()


@app
@pytest.mark.requirement("U5")
def test_only_messages_with_the_prefix_and_text(guest: Guest, events: Events) -> None:
    """APP as it is written; nothing where no text follows."""
    guest.agent.modprobe("smsgiucv_app").check()
    listener = events.listen(9, "last")
    with Peer(guest.control, "TESTER") as tester:
        for text in ("app a", "AP b", "XAPP c", "APP", "APP  ", "CMMAPP d", "APP yes", "APP last"):
            assert tester.cp(f"SMSG LINUX001 {text}") == DONE
        assert seen_by(listener) == ["TESTER APP yes", "TESTER APP last"]


@app
@pytest.mark.requirement("U6")
@pytest.mark.not_debug("messages come faster than it takes them, so that it unloads no module")
@pytest.mark.parametrize("times", [5, pytest.param(20, marks=pytest.mark.full)])
def test_messages_while_the_module_comes_and_goes(guest: Guest, events: Events, times: int) -> None:
    """Each is an event or none; their order stays, and the last module gets the last message."""
    listener = events.listen(1 << 20, "last")
    agent = guest.agent.worker("loading")

    def load() -> None:
        for _ in range(times):
            agent.modprobe("smsgiucv_app").check()
            agent.rmmod("smsgiucv_app").check()
        agent.modprobe("smsgiucv_app").check()

    sent = 0
    with Peer(guest.control, "TESTER") as tester, ThreadPoolExecutor(1) as pool:
        loading = pool.submit(load)
        while not loading.done():
            sent += tester.cp(f"SMSG LINUX001 APP {sent}") == DONE
        loading.result()
        wait_until(lambda: tester.cp("SMSG LINUX001 APP last") == DONE, "room for a message")
        seen = seen_by(listener)
    assert sent > 0 and seen.pop() == "TESTER APP last"
    numbers = [int(line.removeprefix("TESTER APP ")) for line in seen]
    assert all(number < sent for number in numbers)
    assert numbers == sorted(set(numbers))


@pytest.mark.zvmlab(modules=("smsgiucv_app",), faults=[Fault("msg.connect", "sever", 4)], cold=True)
@pytest.mark.requirement("U7")
def test_message_service_that_severs_is_harmless(guest: Guest) -> None:
    """*MSG severs instead of a connection: the guest runs, and a sender is told at once."""
    guest.agent.modprobe("smsgiucv_app").check()
    before = guest.agent.log_position()
    with Peer(guest.control, "TESTER") as tester:
        assert tester.cp("SMSG LINUX001 APP lost") == DONE  # to the console, as without IUCV
        heard = guest.control.wait_event("console", LIMIT, user="LINUX001")
        assert heard.data["text"].endswith("* SMSG FROM TESTER  : APP lost")
    assert normal_log(line.text for line in guest.agent.dmesg(before)) == ()


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=pytest.mark.zvmlab(faults=[fault]), id=fault.point)
        for fault in (
            Fault("iucv.connect", "rc", 0x0B, name="*MSG"),
            # hvc_iucv asks before smsgiucv, and the agent's driver after it.
            Fault("iucv.declare-buffer", "cc", 3, times=2),
        )
    ],
)
@pytest.mark.zvmlab(modules=("smsgiucv_app",), cold=True)
@pytest.mark.requirement("U7")
def test_without_the_message_service_nothing_is_loaded_enodev(guest: Guest, fault: Fault) -> None:
    """CP refuses at boot: smsgiucv is not there, so smsgiucv_app is refused."""
    assert guest.agent.modprobe("smsgiucv_app").errno == errno.ENODEV
    with Peer(guest.control, "TESTER") as tester:
        refused = CpResponse("HCPMFS057I LINUX001 not receiving; disconnected\n", 57)
        assert tester.cp("SMSG LINUX001 APP lost") == refused


@app
@pytest.mark.requirement("U8")
@pytest.mark.parametrize("kind", ["drop", "delay", "duplicate", "reorder", "corrupt", "sever"])
def test_what_cp_does_to_a_message_reaches_nobody_else(
    guest: Guest, events: Events, kind: str
) -> None:
    """Every fault of the message, then two that are as they should be."""
    value = {"delay": 1, "corrupt": 0x40}.get(kind, 0)
    expected: list[str] = {
        "drop": ["one", "two"],
        "delay": ["one", "bad", "two"],
        "duplicate": ["bad", "bad", "one", "two"],
        "reorder": ["one", "bad", "two"],
        "corrupt": ["one", "two"],  # the prefix is another one
        "sever": list[str](),
    }[kind]
    guest.agent.modprobe("smsgiucv_app").check()
    listener = events.listen(len(expected)) if expected else None
    with Peer(guest.control, "TESTER") as tester:
        offset = 8 if kind == "corrupt" else 0
        with armed(guest.control, Fault("msg.message", kind, value, offset, nth=1)):
            first = tester.cp("SMSG LINUX001 APP bad")
            assert (first == DONE) == (kind != "sever")
            for text in ("one", "two"):
                answer = tester.cp(f"SMSG LINUX001 APP {text}")
                assert answer == DONE  # without a path, it goes to the console
        if listener is not None:
            assert seen_by(listener) == [f"TESTER APP {text}" for text in expected]
    with contextlib.ExitStack() as stack:
        stack.callback(guest.agent.modprobe, "smsgiucv_app")
        guest.agent.rmmod("smsgiucv_app").check()


def test_peers_are_users_with_classes_of_their_own(
    warm_guest: Guest, vmcp_in: Callable[[Guest], Commands]
) -> None:
    """Guest and peers see one another; neither has what only the other may do."""
    vmcp = vmcp_in(warm_guest)
    control = warm_guest.control
    with Peer(control, "TESTER") as tester, Peer(control, "ADMIN", classes="BE") as admin:
        assert tester.cp("QUERY LINUX001") == CpResponse("LINUX001 - DSC\n", 0)
        assert vmcp("QUERY TESTER").text == "TESTER   - DSC\n"
        assert tester.cp("QUERY NSS").rc == 3
        assert admin.cp("QUERY NSS").rc == 0
        assert admin.cp("SMSG LINUX001 hello").rc == 1
        assert admin.cp("MSGNOH LINUX001 hello") == DONE
        # A peer has no virtual machine, least of all the guest's.
        assert admin.cp("SET SMSG OFF").rc == 3
        assert vmcp("MSG ADMIN hello").rc == 0
        heard = control.wait_event("console", LIMIT, user="ADMIN")
        assert heard.data["text"].endswith("* MSG FROM LINUX001: hello")


@app
@pytest.mark.requirement("U9")
def test_loading_without_memory_is_enomem(guest: Guest, program: Build, events: Events) -> None:
    """Each allocation fails once; then it can be loaded, and hears of a message."""
    guest.agent.modprobe("smsgiucv_app").check()
    guest.agent.rmmod("smsgiucv_app").check()
    assert Failing(guest).loads(program, "smsgiucv_app")[errno.ENOMEM] > 0
    guest.agent.modprobe("smsgiucv_app").check()
    listener = events.listen(1)
    with Peer(guest.control, "TESTER") as tester:
        assert tester.cp("SMSG LINUX001 APP heard") == DONE
    assert seen_by(listener) == ["TESTER APP heard"]


@app
@pytest.mark.requirement("U9")
def test_message_without_memory_is_lost(guest: Guest, events: Events) -> None:
    """Memory lacks for the interruption, its text or the event: the next message is whole."""
    guest.agent.modprobe("smsgiucv_app").check()
    failing, since = Failing(guest), guest.agent.log_position()
    worker = guest.agent.worker("sender")
    fd = worker.open("/dev/vmcp", os.O_RDWR).check()
    listener = events.listen(100, last="last")
    texts = [f"{number}-{turn}" for number in range(1, 7) for turn in range(3)]

    def send(text: str) -> None:
        message = f"SMSG * APP {text}".encode()
        failing.interrupted(worker, int(text[0]), lambda batch: batch.write(fd, message)).check()

    for text in texts:
        send(text)
    assert worker.write(fd, b"SMSG * APP last").check() > 0
    worker.close(fd).check()
    *heard, last = seen_by(listener)
    assert last == "LINUX001 APP last"
    assert heard == [one for one in map("LINUX001 APP {}".format, texts) if one in heard]
    # At least the second of the three in a row.
    assert len(heard) <= len(texts) - 4
    said = [line.text for line in guest.agent.dmesg(since)]
    assert any("out of memory" in text for text in said)
