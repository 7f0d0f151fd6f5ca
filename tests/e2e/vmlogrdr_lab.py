# SPDX-License-Identifier: MIT
"""Fixtures of the vmlogrdr tests: a guest with the module, its devices and attributes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

from zvmlab.agent.agent import Agent, Worker
from zvmlab.agent.results import LogLine
from zvmlab.cp import recording
from zvmlab.cp.control import Control
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

MODULE = "vmlogrdr"
DIRECTORY = "IUCV ALLOW;IUCV ANY;IUCV *MSG;IUCV *LOGREC;IUCV *ACCOUNT;IUCV *SYMPTOM"
USER = "LINUX001"
SECONDS = 60.0
# Bytes of a record that one read can give: a page less the length and the end mark.
PART = 4088
END = b"EOR\0"


@dataclass(frozen=True)
class Device:
    """One of the three: its name, CP's service, the word in RECORDING, the system's retriever."""

    name: str
    service: str
    word: str
    retriever: str
    minor: int

    @property
    def path(self) -> str:
        """The node."""
        return f"/dev/{self.name}"


LOGREC = Device("logrec", "*LOGREC", "EREP", "EREP", 0)
ACCOUNT = Device("account", "*ACCOUNT", "ACCOUNT", "DISKACNT", 1)
SYMPTOM = Device("symptom", "*SYMPTOM", "SYMPTOM", "OPERSYMP", 2)
DEVICES = (LOGREC, ACCOUNT, SYMPTOM)


def lab_config(kernel: str, backend: str, classes: str) -> GuestConfig:
    """A guest of these classes that may connect to the services."""
    cp = {"directory": DIRECTORY, "class": classes}
    return GuestConfig(kernel=kernel, backend=backend, modules=(MODULE,), cp=cp)


def framed(record: bytes) -> bytes:
    """A record as the device gives it."""
    return (len(record) + len(END)).to_bytes(4, "big") + record + END


def pattern(size: int, seed: int = 0) -> bytes:
    """Bytes that tell where they are."""
    return bytes((seed + at * 7 + at // 251) & 0xFF for at in range(size))


@contextlib.contextmanager
def opened(agent: Agent, device: Device) -> Iterator[int]:
    """The device, open within the block."""
    fd = agent.open(device.path).check()
    try:
        yield fd
    finally:
        agent.close(fd).check()


def read_record(worker: Worker, fd: int, length: int) -> bytes:
    """Read a record of this number of bytes from the device."""
    whole = b""
    while len(whole) < length + 8:
        result = worker.read(fd, length + 8)
        assert result.check() > 0
        whole += result.data
    return whole


def class_of(guest: Guest) -> str:
    """Name of the devices' class; Linux 6.9 has changed it, defect 8 of docs/upstream-vmlogrdr.md."""
    try:
        guest.agent.read_file(f"/sys/class/{MODULE}/{DEVICES[0].name}/dev")
    except FileNotFoundError:
        return f"{MODULE}_class"
    return MODULE


def attribute(device: Device, name: str) -> str:
    """Path of a device's attribute."""
    return f"/sys/bus/iucv/devices/{device.name}/{name}"


def set_attribute(agent: Agent, device: Device, name: str, value: str) -> int:
    """Write a device's attribute; 0 or the error number."""
    fd = agent.open(attribute(device, name), os.O_WRONLY).check()
    result = agent.write(fd, value.encode())
    agent.close(fd).check()
    return result.errno


def queue(control: Control, device: Device, user: str = USER) -> recording.Queue:
    """The queue of a device's service for a user; it must be there."""
    found = recording.queue(control, device.service, user)
    assert found is not None, f"{user} has no queue of {device.service}"
    return found


def forget(guest: Guest) -> None:
    """No records, and nothing is recorded for the guest."""
    for device in DEVICES:
        answer = guest.cp(f"RECORDING {device.word} OFF PURGE QID {USER}")
        assert "Command complete" in answer.response
        answer = guest.cp(f"RECORDING {device.word} PURGE QID {device.retriever}")
        assert answer.response == "Command complete\n"


def texts(lines: list[LogLine]) -> list[str]:
    """The module's messages in the log, whose name is in front once or twice."""
    own = [line.text for line in lines if line.text.startswith(f"{MODULE}: ")]
    return [text.removeprefix(f"{MODULE}: ").removeprefix(f"{MODULE}: ") for text in own]
