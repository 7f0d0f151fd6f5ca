# SPDX-License-Identifier: MIT
"""AF_IUCV over HiperSockets against a model of it: any calls in any order, and what each returns."""

from __future__ import annotations

import errno
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from random import Random

import pytest
from iucv_socket import SHUT_RD, SHUT_RDWR, SHUT_WR, Socket
from test_af_iucv_hipersockets import ALPHA, BETA, DELTA, FRAMES_OF_STRANGERS, GAMMA, devices
from test_af_iucv_model import LISTENING, OPEN, SEVERED, Model, Run, check

from zvmlab.guest.guest import Guest

PAIRS = {ALPHA: BETA, BETA: ALPHA, GAMMA: DELTA, DELTA: GAMMA}


@pytest.fixture
def pairs(warm_guest: Guest, built_module: Callable[..., Path]) -> Iterator[Guest]:
    """The devices are there."""
    with devices(warm_guest, built_module) as found:
        yield found


class HiperModel(Model):
    """A socket that is bound to a device: its end of receiving is its own business."""

    def shutdown(self, how: int) -> int:
        """The errno."""
        if how not in (SHUT_RD, SHUT_WR, SHUT_RDWR):
            return errno.EINVAL
        if self.state in (LISTENING, SEVERED):
            return errno.ENOTCONN
        if how != SHUT_RD:
            self.write_end = True
            if self.partner is not None:
                self.partner.take(None)
        if how != SHUT_WR:
            self.read_end = True
            self.received.clear()
        return 0


class HiperRun(Run):
    """Sockets on the devices; each has a name of its own."""

    model = HiperModel

    def __init__(
        self, guest: Guest, rng: Random, corrected: Container[str], strangers: bool
    ) -> None:
        super().__init__(guest, rng, corrected)
        self._strangers = strangers
        self._count = 0

    def own_name(self) -> tuple[str, str]:
        """A new name on any device."""
        self._count += 1
        return self.rng.choice(tuple(PAIRS)), f"N{self._count}"

    def target(self, model: Model) -> tuple[str, str]:
        """Somebody who listens on the other device of the pair, or nobody."""
        likely = [
            (one.user, one.name)
            for _, one in self.sockets
            if one.state == LISTENING and (self._strangers or self.reaches(model, one))
        ]
        return self.rng.choice([*likely, *likely, (PAIRS.get(model.user, ALPHA), "NOBODY")])

    def reaches(self, model: Model, listener: Model) -> bool:
        """Only the two devices of a pair send each other anything."""
        return PAIRS.get(model.user) == listener.user

    def lengths(self) -> list[int]:
        """A message of no bytes may be one that only opens the window."""
        return [length for length in super().lengths() if length]

    def connect(self, made: Socket, model: Model) -> None:
        """A socket without a name is none of a device's."""
        if model.state != OPEN:
            super().connect(made, model)

    def compare_paths(self) -> None:
        """CP has no part in it."""


pytestmark = pytest.mark.not_debug(
    "lockdep reports a listener that closes with connections", defect="af_iucv-14"
)


@pytest.mark.requirement("I1", "I2", "I8", "I13")
@pytest.mark.parametrize("seed", range(2))
def test_any_calls_in_any_order(pairs: Guest, corrected: frozenset[str], seed: int) -> None:
    """Each returns what the model says, and each end reaches the partner."""
    check(HiperRun(pairs, Random(seed), corrected, strangers=False))


@pytest.mark.requirement("I16")
@FRAMES_OF_STRANGERS
def test_any_calls_with_strangers(pairs: Guest, corrected: frozenset[str]) -> None:
    """The same, if they also call who is on another network."""
    check(HiperRun(pairs, Random(7), corrected, strangers=True))
