# SPDX-License-Identifier: MIT
"""The kernel's vmlogrdr: records of CP's services *LOGREC, *ACCOUNT and *SYMPTOM as files."""

from __future__ import annotations

import errno
import os
import select
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from failing import Failing, void
from vmlogrdr_lab import (
    ACCOUNT,
    DEVICES,
    LOGREC,
    MODULE,
    PART,
    SECONDS,
    SYMPTOM,
    USER,
    Device,
    attribute,
    class_of,
    forget,
    framed,
    lab_config,
    opened,
    pattern,
    queue,
    read_record,
    set_attribute,
    texts,
)

from zvmlab.cp.faults import Fault, armed
from zvmlab.cp.peer import Peer
from zvmlab.cp.recording import make, quiesce
from zvmlab.guest.guest import Guest
from zvmlab.guest.pool import Pool
from zvmlab.monitor.steps import READ, await_sleep, service_paths, settle, thread_of
from zvmlab.pytest_plugin.plugin import lent

if TYPE_CHECKING:
    from conftest import Commands

ALL = pytest.mark.parametrize("device", DEVICES, ids=[d.name for d in DEVICES])
DONE = "Command complete\n"
# IPRCODEs of CONNECT that Linux names (net/iucv, netiucv).
CONNECT_CODES = (0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10)


def _lend(
    request: pytest.FixtureRequest, pool: Pool, kernel: str, backend: str, classes: str
) -> Iterator[Guest]:
    with lent(request, pool, lab_config(kernel, backend, classes)) as guest:
        guest.agent.modprobe(MODULE).check()
        yield guest
        guest.agent.rmmod(MODULE).check()
        forget(guest)


@pytest.fixture
def guest_eg(
    request: pytest.FixtureRequest, zvmlab_kernel: str, zvmlab_backend: str, guest_pool: Pool
) -> Iterator[Guest]:
    """A guest of classes E and G with the module; nothing is recorded for it."""
    yield from _lend(request, guest_pool, zvmlab_kernel, zvmlab_backend, "EG")


@pytest.fixture
def guest_g(
    request: pytest.FixtureRequest, zvmlab_kernel: str, zvmlab_backend: str, guest_pool: Pool
) -> Iterator[Guest]:
    """The same without the class for RECORDING."""
    yield from _lend(request, guest_pool, zvmlab_kernel, zvmlab_backend, "G")


@pytest.fixture
def guest_bg(
    request: pytest.FixtureRequest, zvmlab_kernel: str, zvmlab_backend: str, guest_pool: Pool
) -> Iterator[Guest]:
    """The same of class B, which may name the queues of others."""
    yield from _lend(request, guest_pool, zvmlab_kernel, zvmlab_backend, "BG")


def refused(guest: Guest, device: Device, code: int) -> str:
    """The log's line about a CONNECT that CP refuses (docs/upstream-vmlogrdr.md, 2)."""
    release = guest.agent.read_file("/proc/sys/kernel/osrelease").decode()
    service = "" if release.startswith("7.") else f"{device.service:8}"
    return f"iucv connection to {service}{device.name} failed with rc {code} "


def commands_of(guest: Guest, count: int) -> list[str]:
    """The next commands that the guest gives CP, without needless blanks."""
    events = [guest.control.wait_event("command", SECONDS) for _ in range(count)]
    return [" ".join(event.data["command"].split()) for event in events]


@pytest.mark.requirement("L1")
def test_devices_have_numbers_and_nodes(guest_eg: Guest) -> None:
    """Minors 0 to 2 of one major number; devtmpfs makes the nodes, and they go with the module."""
    agent = guest_eg.agent
    folder = f"/sys/class/{class_of(guest_eg)}"
    numbers = [agent.read_file(f"{folder}/{d.name}/dev").decode() for d in DEVICES]
    majors, minors = zip(*(map(int, text.split(":")) for text in numbers), strict=True)
    assert len(set(majors)) == 1 and minors == (0, 1, 2)
    for device in DEVICES:
        with opened(agent, device):
            pass
    agent.rmmod(MODULE).check()
    assert [agent.open(d.path).errno for d in DEVICES] == [errno.ENOENT] * 3
    agent.modprobe(MODULE).check()


@ALL
@pytest.mark.requirement("L2", "L4")
@pytest.mark.parametrize("size", (1, 80, PART - 1, PART, PART + 1, 2 * PART, 16384))
def test_record_has_length_bytes_and_end_mark(guest_eg: Guest, device: Device, size: int) -> None:
    """Whatever its length, a record is read as CP made it, and once."""
    record = pattern(size, device.minor)
    with opened(guest_eg.agent, device) as fd:
        make(guest_eg.control, device.service, record)
        assert read_record(guest_eg.agent, fd, size) == framed(record)
        assert queue(guest_eg.control, device).count == 0
        make(guest_eg.control, device.service, b"next")
        assert read_record(guest_eg.agent, fd, 4) == framed(b"next")


@pytest.mark.requirement("L4")
def test_long_record_comes_in_parts(guest_eg: Guest) -> None:
    """Each read gives at most what fits into a page; the end mark is in the last."""
    record = pattern(16384)
    with opened(guest_eg.agent, LOGREC) as fd:
        make(guest_eg.control, "*LOGREC", record)
        reads = [guest_eg.agent.read(fd, 65536).data for _ in range(5)]
    assert [len(part) for part in reads] == [4 + PART, PART, PART, PART, 32 + 4]
    assert b"".join(reads) == framed(record)


@pytest.mark.requirement("L3")
@pytest.mark.representative
def test_records_come_in_order_and_in_pieces(guest_eg: Guest) -> None:
    """A hundred records, queued before the first read; no read goes over the end of a record."""
    records = [pattern(1 + number * 11, number) for number in range(100)]
    with opened(guest_eg.agent, ACCOUNT) as fd:
        for record in records[:60]:
            make(guest_eg.control, "*ACCOUNT", record)
        assert queue(guest_eg.control, ACCOUNT).count == 60
        assert queue(guest_eg.control, ACCOUNT).state == "pending"
        for number, record in enumerate(records):
            if number == 40:
                for late in records[60:]:
                    make(guest_eg.control, "*ACCOUNT", late)
            piece = 1 + number * 13 % 50
            whole = framed(record)
            for at in range(0, len(whole), piece):
                assert guest_eg.agent.read(fd, piece).data == whole[at : at + piece]
    assert queue(guest_eg.control, ACCOUNT).count == 0


@ALL
@pytest.mark.requirement("L5", "L6")
def test_open_switches_recording_on_and_close_off(guest_eg: Guest, device: Device) -> None:
    """The commands are those of the driver: PURGE before ON, and after OFF."""
    guest_eg.control.forget_events("command")
    with opened(guest_eg.agent, device) as fd:
        assert commands_of(guest_eg, 2) == [
            f"RECORDING {device.word} PURGE",
            f"RECORDING {device.word} ON",
        ]
        assert (queue(guest_eg.control, device).on, queue(guest_eg.control, device).state) == (
            True,
            "active",
        )
        make(guest_eg.control, device.service, b"left behind")
        make(guest_eg.control, device.service, b"never read")
        assert read_record(guest_eg.agent, fd, 11) == framed(b"left behind")
    assert commands_of(guest_eg, 2) == [
        f"RECORDING {device.word} OFF",
        f"RECORDING {device.word} PURGE",
    ]
    after = queue(guest_eg.control, device)
    assert (after.on, after.count, after.state) == (False, 0, "inactive")
    assert make(guest_eg.control, device.service, b"not for the guest") == 1


@pytest.mark.requirement("L5", "L8")
def test_without_autorecording_open_changes_nothing(guest_eg: Guest) -> None:
    """Then attribute recording does it."""
    agent, control = guest_eg.agent, guest_eg.control
    assert agent.read_file(attribute(ACCOUNT, "autorecording")) == b"1\n"
    assert set_attribute(agent, ACCOUNT, "autorecording", "0") == 0
    assert agent.read_file(attribute(ACCOUNT, "autorecording")) == b"0\n"
    with opened(agent, ACCOUNT) as fd:
        assert not queue(control, ACCOUNT).on
        assert set_attribute(agent, ACCOUNT, "recording", "1") == 0
        assert queue(control, ACCOUNT).on
        make(control, "*ACCOUNT", b"heard")
        assert read_record(agent, fd, 5) == framed(b"heard")
        assert set_attribute(agent, ACCOUNT, "recording", "0") == 0
        assert not queue(control, ACCOUNT).on
        make(control, "*ACCOUNT", b"unheard")
        assert queue(control, ACCOUNT).count == 0
        assert set_attribute(agent, ACCOUNT, "recording", "1") == 0
    assert queue(control, ACCOUNT).on
    assert set_attribute(agent, ACCOUNT, "recording", "0") == 0


@pytest.mark.requirement("L6")
def test_without_autopurge_records_stay_and_keep_recording_off(guest_eg: Guest) -> None:
    """They are read after the next open, whose warning says that recording is off."""
    agent, control = guest_eg.agent, guest_eg.control
    assert agent.read_file(attribute(SYMPTOM, "autopurge")) == b"1\n"
    assert set_attribute(agent, SYMPTOM, "autopurge", "0") == 0
    with opened(agent, SYMPTOM):
        for text in (b"first", b"second"):
            make(control, "*SYMPTOM", text)
    assert queue(control, SYMPTOM).count == 2
    since = agent.log_position()
    with opened(agent, SYMPTOM) as fd:
        assert texts(agent.dmesg(since)) == ["failed to start recording automatically"]
        assert not queue(control, SYMPTOM).on
        assert read_record(agent, fd, 5) == framed(b"first")
        assert read_record(agent, fd, 6) == framed(b"second")
    with opened(agent, SYMPTOM):
        assert queue(control, SYMPTOM).on


@pytest.mark.requirement("L7", "L17")
def test_purge_takes_back_what_is_queued_and_what_is_sent(guest_eg: Guest) -> None:
    """A record that the guest was told of, and has not read, is not read any more."""
    agent, control = guest_eg.agent, guest_eg.control
    reader = agent.worker("reader")
    thread = thread_of(reader)
    with opened(agent, ACCOUNT) as fd:
        for text in (b"sent", b"queued"):
            make(control, "*ACCOUNT", text)
        settle(guest_eg)
        assert set_attribute(agent, ACCOUNT, "purge", "1") == 0
        assert queue(control, ACCOUNT).count == 0
        batch = reader.batch()
        batch.read(fd, 4096)
        pending = batch.start(timeout=SECONDS)
        assert await_sleep(agent, thread, READ) == "S"
        make(control, "*ACCOUNT", b"after")
        assert pending.result()[0].data == framed(b"after")


@pytest.mark.requirement("L9")
def test_recording_status_is_cps_answer(guest_eg: Guest) -> None:
    """The attribute of the driver has the whole table."""
    with opened(guest_eg.agent, ACCOUNT):
        make(guest_eg.control, "*ACCOUNT", b"record")
        text = guest_eg.agent.read_file("/sys/bus/iucv/drivers/vmlogrdr/recording_status").decode()
        assert text == guest_eg.cp("QUERY RECORDING").response
    assert f"ACCOUNT  ON  00000001 020 {USER} PENDING\n" in text
    assert text.startswith("RECORDING    COUNT    LMT USERID   COMMUNICATION\n")


@ALL
@pytest.mark.requirement("L10")
def test_attributes_take_0_and_1_only_einval(guest_eg: Guest, device: Device) -> None:
    """Another value changes nothing."""
    agent = guest_eg.agent
    for name in ("autorecording", "autopurge", "recording", "purge"):
        assert set_attribute(agent, device, name, "2") == errno.EINVAL
        assert set_attribute(agent, device, name, "x") == errno.EINVAL
    assert set_attribute(agent, device, "purge", "0") == errno.EINVAL
    for name in ("autorecording", "autopurge"):
        assert agent.read_file(attribute(device, name)) == b"1\n"
    for name in ("recording", "purge"):
        assert agent.open(attribute(device, name), os.O_RDONLY).errno in (0, errno.EACCES)


@ALL
@pytest.mark.requirement("L11")
def test_second_open_is_ebusy(guest_eg: Guest, device: Device) -> None:
    """A second open of the same device fails; the other devices can be open meanwhile."""
    with opened(guest_eg.agent, device):
        assert guest_eg.agent.open(device.path).errno == errno.EBUSY
        for other in DEVICES:
            if other != device:
                with opened(guest_eg.agent, other):
                    pass
    with opened(guest_eg.agent, device):
        pass


@pytest.mark.requirement("L12")
def test_device_supports_blocking_reads_only(guest_eg: Guest) -> None:
    """No O_NONBLOCK, no seeking, no writing; poll cannot tell whether there is a record."""
    agent = guest_eg.agent
    assert agent.open(ACCOUNT.path, os.O_NONBLOCK).errno == errno.EOPNOTSUPP
    with opened(agent, ACCOUNT) as fd:
        assert agent.lseek(fd, 0).errno == errno.ESPIPE
        assert agent.poll([(fd, select.POLLIN)], 0).revents == [select.POLLIN]
    fd = agent.open(ACCOUNT.path, os.O_RDWR).check()
    assert agent.write(fd, b"x").errno == errno.EINVAL
    agent.close(fd).check()


@ALL
@pytest.mark.requirement("L13")
@pytest.mark.parametrize("code", CONNECT_CODES)
def test_refused_connection_is_eio(guest_eg: Guest, device: Device, code: int) -> None:
    """The log says which IPRCODE it was; the next open succeeds."""
    agent = guest_eg.agent
    since = agent.log_position()
    with armed(guest_eg.control, Fault("iucv.connect", "rc", code, name=device.service)):
        assert agent.open(device.path).errno == errno.EIO
    assert texts(agent.dmesg(since)) == [refused(guest_eg, device, code)]
    with opened(agent, device):
        pass


@pytest.mark.requirement("L13")
@pytest.mark.zvmlab(modules=(MODULE,))
def test_without_directory_statements_open_is_eio(guest: Guest) -> None:
    """IPRCODE 15: not authorised."""
    guest.agent.modprobe(MODULE).check()
    since = guest.agent.log_position()
    assert [guest.agent.open(d.path).errno for d in DEVICES] == [errno.EIO] * 3
    assert texts(guest.agent.dmesg(since)) == [refused(guest, d, 15) for d in DEVICES]


@ALL
@pytest.mark.requirement("L13", "L14")
def test_sever_instead_of_an_answer_is_eio(guest_eg: Guest, device: Device) -> None:
    """Byte 8 of IPUSER is in the log; recording is switched off again."""
    agent = guest_eg.agent
    since = agent.log_position()
    with armed(guest_eg.control, Fault("recording.connect", "sever", 44, name=device.service)):
        assert agent.open(device.path).errno == errno.EIO
    assert texts(agent.dmesg(since)) == ["connection severed with reason 44"]
    assert not queue(guest_eg.control, device).on
    assert service_paths(guest_eg, device.service) == []
    with opened(agent, device):
        pass


@pytest.mark.requirement("L15")
def test_without_the_class_recording_is_somebody_elses(guest_g: Guest) -> None:
    """RECORDING is unknown to a guest of class G; the operator switches it on."""
    agent, control = guest_g.agent, guest_g.control
    since = agent.log_position()
    fd = agent.open(ACCOUNT.path).check()
    assert texts(agent.dmesg(since)) == ["failed to start recording automatically"]
    assert not queue(control, ACCOUNT).on
    assert set_attribute(agent, ACCOUNT, "recording", "1") == errno.EIO
    assert guest_g.cp(f"RECORDING ACCOUNT ON QID {USER}").response == DONE
    make(control, "*ACCOUNT", b"let in")
    assert read_record(agent, fd, 6) == framed(b"let in")
    since = agent.log_position()
    agent.close(fd).check()
    assert texts(agent.dmesg(since)) == ["failed to stop recording automatically"]
    assert queue(control, ACCOUNT).on


@pytest.mark.requirement("L16")
def test_class_b_gives_its_user_id(guest_bg: Guest) -> None:
    """Only the guest's queue is changed: those of the system stay on."""
    guest_bg.control.forget_events("command")
    with opened(guest_bg.agent, LOGREC):
        assert commands_of(guest_bg, 2) == [
            "RECORDING EREP PURGE QID *",
            "RECORDING EREP ON QID *",
        ]
        assert set_attribute(guest_bg.agent, LOGREC, "purge", "1") == 0
        assert commands_of(guest_bg, 1) == ["RECORDING EREP PURGE QID *"]
    assert not queue(guest_bg.control, LOGREC).on
    assert queue(guest_bg.control, LOGREC, "EREP").on


@pytest.mark.requirement("L18")
def test_signal_ends_a_read_that_waits(guest_eg: Guest) -> None:
    """Then the next record is read as if nothing had been."""
    agent = guest_eg.agent
    reader = agent.worker("reader")
    thread = thread_of(reader)
    with opened(agent, ACCOUNT) as fd:
        batch = reader.batch()
        batch.read(fd, 4096)
        pending = batch.start(timeout=SECONDS)
        assert await_sleep(agent, thread, READ) == "S"
        assert reader.interrupt()
        assert pending.result()[0].errno == errno.EINTR
        make(guest_eg.control, "*ACCOUNT", b"record")
        assert read_record(agent, fd, 6) == framed(b"record")


@ALL
@pytest.mark.requirement("L19")
def test_module_in_use_is_not_unloaded(guest_eg: Guest, device: Device) -> None:
    """It can be unloaded as soon as the device is closed."""
    agent = guest_eg.agent
    with opened(agent, device):
        assert agent.rmmod(MODULE).errno == errno.EAGAIN
    agent.rmmod(MODULE).check()
    assert service_paths(guest_eg, device.service) == []
    agent.modprobe(MODULE).check()
    with opened(agent, device) as fd:
        make(guest_eg.control, device.service, b"record")
        assert read_record(agent, fd, 6) == framed(b"record")


@pytest.mark.requirement("L20")
def test_quiesced_path_goes_on_when_it_is_resumed(guest_eg: Guest) -> None:
    """The guest only receives, so that it notices nothing of it."""
    with opened(guest_eg.agent, ACCOUNT) as fd:
        for text in (b"before", b"during", b"after"):
            make(guest_eg.control, "*ACCOUNT", text)
            assert read_record(guest_eg.agent, fd, len(text)) == framed(text)
            assert quiesce(guest_eg.control, "*ACCOUNT", text == b"before") == 1


@pytest.mark.requirement("L21")
def test_logoff_makes_an_accounting_record(guest_eg: Guest) -> None:
    """User ID, account number, time, and the record's kind in the last two columns."""
    with opened(guest_eg.agent, ACCOUNT) as fd:
        with Peer(guest_eg.control, "TESTER"):
            pass
        record = read_record(guest_eg.agent, fd, 80)[4:-4]
        assert guest_eg.cp("ACNT LINUX001").response == DONE
        second = read_record(guest_eg.agent, fd, 80)[4:-4]
    assert record[:16].decode("cp037") == "TESTER  TESTER  "
    assert second[:16].decode("cp037") == "LINUX001LINUX001"
    for found in (record, second):
        datetime.strptime(found[16:28].decode("cp037"), "%m%d%y%H%M%S")
        assert found[78:].decode("cp037") == "01"


@pytest.mark.requirement("L16")
def test_driver_asks_what_it_may(guest_eg: Guest, vmcp_in: Callable[[Guest], Commands]) -> None:
    """QUERY COMMAND RECORDING names the classes in which the guest may give it."""
    vmcp = vmcp_in(guest_eg)
    assert vmcp("QUERY COMMAND RECORDING ").text == "RECORDING IBMCLASS=E\n"


@ALL
@pytest.mark.requirement("L10")
def test_attributes_can_be_switched_back(guest_eg: Guest, device: Device) -> None:
    """With both at 1 again, open switches recording on, and close purges."""
    agent, control = guest_eg.agent, guest_eg.control
    for value in ("0", "1"):
        for name in ("autorecording", "autopurge"):
            assert set_attribute(agent, device, name, value) == 0
            assert agent.read_file(attribute(device, name)) == f"{value}\n".encode()
    with opened(agent, device):
        assert queue(control, device).on
        make(control, device.service, b"unread")
    assert (queue(control, device).on, queue(control, device).count) == (False, 0)


@pytest.mark.requirement("L22")
def test_open_without_memory_leaves_the_device_closed(guest_eg: Guest) -> None:
    """EIO if there is none for the path; then the device can be opened, and has the record."""
    agent = guest_eg.agent
    worker = agent.worker("opener")
    errors = Failing(guest_eg).each(
        worker,
        lambda batch: batch.open(ACCOUNT.path),
        lambda result: void(worker.close(result.ret).check()),
    )
    assert set(errors) == {0, errno.ENOMEM, errno.EFAULT, errno.EIO}
    with opened(agent, ACCOUNT) as fd:
        make(guest_eg.control, ACCOUNT.service, b"record")
        assert read_record(agent, fd, 6) == framed(b"record")
