# SPDX-License-Identifier: MIT
"""vmlogrdr against a model of it: any calls in any order, and what each returns and leaves in CP.

The model is what Linux' "z/VM *LOGREC, *ACCOUNT, *SYMPTOM" says of the devices and their attributes,
and docs/choices.md of RECORDING.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

import pytest
from vmlogrdr_lab import (
    DEVICES,
    END,
    MODULE,
    PART,
    USER,
    Device,
    attribute,
    forget,
    framed,
    lab_config,
    set_attribute,
    texts,
)

from zvmlab.cp.recording import make, queue
from zvmlab.guest.guest import Guest
from zvmlab.guest.pool import Pool
from zvmlab.pytest_plugin.plugin import lent

STEPS = 250
MOST_RECORDS = 6
NOT_STARTED = "failed to start recording automatically"
FLAGS = ("autopurge", "autorecording")
"""Attributes that can be read; the others are commands."""


@pytest.fixture
def recorder(
    request: pytest.FixtureRequest, zvmlab_kernel: str, zvmlab_backend: str, guest_pool: Pool
) -> Iterator[Guest]:
    """A guest that may use RECORDING, with the module; nothing is recorded for it."""
    with lent(request, guest_pool, lab_config(zvmlab_kernel, zvmlab_backend, "EG")) as guest:
        guest.agent.modprobe(MODULE).check()
        yield guest
        guest.agent.rmmod(MODULE).check()
        forget(guest)


@dataclass
class Model:
    """A device, and the queue that CP has for it."""

    flags: dict[str, bool] = field(default_factory=lambda: dict.fromkeys(FLAGS, True))
    on: bool = False
    queued: list[bytes] = field(default_factory=list)
    opened: bool = False
    parts: list[bytes] = field(default_factory=list)
    """What is left of a record that is being read; a part is what the driver receives at once."""
    begun: bool = False
    """The first of them has been received."""
    last_came: bool = False
    """CP has given all of that record."""

    def switch(self, on: bool) -> bool:
        """RECORDING ON or OFF; records that are queued keep it off."""
        if on and not self.on and self.queued:
            return False
        self.on = on
        return True

    def open(self) -> bool:
        """Return: has recording begun, if it should?"""
        self.opened = True
        if not self.flags["autorecording"]:
            return True
        if self.flags["autopurge"]:
            self.queued.clear()
        return self.switch(True)

    def close(self) -> None:
        """What was not read of a record is gone, unless it is still CP's."""
        self.opened = False
        self.parts.clear()
        self.begun = self.last_came = False
        if self.flags["autorecording"]:
            self.switch(False)
            if self.flags["autopurge"]:
                self.queued.clear()

    def read(self, count: int) -> bytes:
        """The next bytes, up to the end of a part."""
        if not self.parts:
            self.parts = parts_of(self.queued[0])
        found, rest = self.parts[0][:count], self.parts[0][count:]
        if len(self.parts) == 1 and not self.last_came:
            self.last_came = True
            self.queued.pop(0)
        self.parts[0] = rest
        self.begun = bool(rest)
        if not rest:
            self.parts.pop(0)
        if not self.parts:
            self.last_came = False
        return found

    def purge(self) -> None:
        """What CP has not given of a record goes as well."""
        if self.midway:
            self.parts = self.parts[: int(self.begun)]
            self.last_came = bool(self.parts)
        self.queued.clear()

    @property
    def midway(self) -> bool:
        """Is CP giving a record in parts?"""
        return bool(self.parts) and not self.last_came

    @property
    def state(self) -> str:
        """Of the queue's path."""
        return "inactive" if not self.opened else "pending" if self.queued else "active"


def parts_of(record: bytes) -> list[bytes]:
    """What the driver receives of a record, one after the other."""
    parts = [record[at : at + PART] for at in range(0, len(record), PART)]
    parts[0] = framed(record)[:4] + parts[0]
    parts[-1] += END
    return parts


class Run:
    """The same steps in the guest and in the model."""

    def __init__(self, guest: Guest, rng: Random, corrected: Container[str]) -> None:
        self._guest = guest
        self._corrected = corrected
        self._rng = rng
        self._models = {device.name: Model() for device in DEVICES}
        self._fds: dict[str, int] = {}

    def step(self) -> None:
        """One call about one of the devices."""
        device = self._rng.choice(DEVICES)
        model = self._models[device.name]
        steps: list[tuple[Callable[[Device, Model], None], int]] = [
            (self._open, 3),
            (self._close, 2),
            (self._record, 6),
            (self._read, 10),
            (self._set, 4),
        ]
        calls, weights = zip(*steps, strict=True)
        self._rng.choices(calls, weights)[0](device, model)
        self.compare()

    def compare(self) -> None:
        """CP's queues, and the attributes."""
        for device in DEVICES:
            model = self._models[device.name]
            found = queue(self._guest.control, device.service, USER)
            if found is not None:
                state = (found.on, found.count, found.state)
                assert state == (model.on, len(model.queued), model.state)
            else:
                assert not (model.on or model.queued or model.opened)

    def _open(self, device: Device, model: Model) -> None:
        agent, since = self._guest.agent, self._guest.agent.log_position()
        if self._rng.random() < 0.1:
            opened = agent.open(device.path, os.O_NONBLOCK)
            assert opened.errno == errno.EOPNOTSUPP
            return
        opened = agent.open(device.path)
        if model.opened:
            assert opened.errno == errno.EBUSY
            return
        self._fds[device.name] = opened.check()
        warned = [] if model.open() else [NOT_STARTED]
        assert texts(agent.dmesg(since)) == warned

    def _close(self, device: Device, model: Model) -> None:
        if model.opened and not self._must_end(model):
            self._guest.agent.close(self._fds.pop(device.name)).check()
            model.close()

    def _record(self, device: Device, model: Model) -> None:
        size = self._rng.choice((self._rng.randint(1, 40), self._rng.randint(1, 3 * PART)))
        record = self._rng.randbytes(size)
        if model.on and len(model.queued) < MOST_RECORDS:
            model.queued.append(record)
        elif model.on:
            return
        make(self._guest.control, device.service, record)

    def _read(self, device: Device, model: Model) -> None:
        if not model.opened or not (model.parts or model.queued):
            return
        count = self._rng.choice((self._rng.randint(1, 20), self._rng.randint(1, 2 * PART)))
        done = self._guest.agent.read(self._fds[device.name], count)
        assert done.data == model.read(count)

    def _set(self, device: Device, model: Model) -> None:
        name = self._rng.choice((*FLAGS, "recording", "purge"))
        value = self._rng.choice(("0", "1", "0", "1", "1\n", "2", "x"))
        if self._must_end(model) and name == "purge":
            return
        found = set_attribute(self._guest.agent, device, name, value)
        assert found == self._effect(model, name, value.strip())
        for flag in FLAGS:
            text = self._guest.agent.read_file(attribute(device, flag))
            assert text == f"{model.flags[flag]:d}\n".encode()

    def _must_end(self, model: Model) -> bool:
        """Defect 7: a record that has begun must be read to its end."""
        return model.midway and "vmlogrdr-7" not in self._corrected

    def _effect(self, model: Model, name: str, value: str) -> int:
        """The errno of a write to an attribute."""
        if value not in ("0", "1") or (name, value) == ("purge", "0"):
            return errno.EINVAL
        if name == "purge":
            model.purge()
        elif name == "recording":
            return 0 if model.switch(value == "1") else errno.EIO
        else:
            model.flags[name] = value == "1"
        return 0

    def end(self) -> None:
        """Read what has begun, and close all."""
        for device in DEVICES:
            model = self._models[device.name]
            while self._must_end(model):
                self._read(device, model)
            self._close(device, model)
        self.compare()

    def abandon(self) -> None:
        """Close what is open, whatever happened."""
        for fd in self._fds.values():
            self._guest.agent.close(fd)


@contextmanager
def run_of(guest: Guest, seed: int, corrected: Container[str]) -> Iterator[Run]:
    """Steps by chance, the same for each seed."""
    run = Run(guest, Random(seed), corrected)
    try:
        yield run
    finally:
        run.abandon()


@pytest.mark.requirement("L2", "L3", "L4", "L5", "L6", "L7", "L8", "L10", "L11")
@pytest.mark.parametrize("seed", range(2))
def test_any_calls_in_any_order(recorder: Guest, corrected: frozenset[str], seed: int) -> None:
    """Each returns, and leaves in CP, what the model says."""
    with run_of(recorder, seed, corrected) as run:
        for _ in range(STEPS):
            run.step()
        run.end()
