# SPDX-License-Identifier: MIT
"""Booted guests that the plugin gives to several tests in turn."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from pathlib import Path

import pytest

from zvmlab.base.errors import ZvmlabError
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.traces import boot_clean, traces_left
from zvmlab.pytest_plugin import debugtests

Which = tuple[str, str, str]
"""Kernel, driver and backend of a guest."""


def plain_config(which: Which) -> GuestConfig:
    """A guest with one CPU, default storage and segments."""
    kernel, driver, backend = which
    return GuestConfig(kernel=kernel, driver=driver, backend=backend)


class WarmGuests:
    """Booted guests that several tests use in turn, one for each kernel, driver and backend."""

    def __init__(self, folder: pytest.TempPathFactory, keep: bool, cold: bool) -> None:
        self._folder = folder
        self._keep = keep
        self._cold = cold
        self._guests: dict[Which, Guest] = {}
        self._clean: dict[Which, dict[str, object]] = {}

    def get(self, which: Which) -> Guest:
        """A booted guest in the state it had after boot."""
        guest = self._guests.get(which)
        if guest is not None:
            guest.wake()
            return guest
        config = dataclasses.replace(plain_config(which), cold=self._cold)
        guest = Guest(config, self._folder.mktemp(f"warm-{Path(which[0]).name}"))
        self._clean[which] = boot_clean(guest)
        self._guests[which] = guest
        return guest

    def put_back(self, which: Which, failed: bool, reported: bool) -> None:
        """Keep it for the next test, resting, only if this one left nothing behind.

        *failed*: its logs are needed.  *reported*: whatever has happened to it has been said;
        without that, an accident is raised.
        """
        guest = self._guests[which]
        try:
            unclean = failed or traces_left(guest) != self._clean[which]
            if not unclean:
                guest.rest()
        except ZvmlabError:
            self._remove(which, keep=failed)
            if not reported:
                raise
            return
        if unclean:
            self.drop(which, keep=failed)

    def drop(self, which: Which, keep: bool) -> None:
        """End a guest; without *keep* it must have nothing to answer for."""
        guest = self._guests[which]
        try:
            if not keep:
                guest.wake()
                debugtests.last_check(guest)
                guest.end()
        finally:
            self._remove(which, keep)

    def _remove(self, which: Which, keep: bool) -> None:
        guest = self._guests.pop(which)
        guest.stop()
        if not keep and not self._keep:
            shutil.rmtree(guest.logs, ignore_errors=True)

    def close(self) -> None:
        """End all guests, also if one of them has something to answer for."""
        with contextlib.ExitStack() as rest:
            for which in self._guests:
                rest.callback(self.drop, which, keep=False)
