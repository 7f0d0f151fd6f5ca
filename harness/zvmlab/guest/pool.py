# SPDX-License-Identifier: MIT
"""Booted guests that are used again: by tests, sweeps and differential runs.

    pool = Pool(numbered(folder))
    guest = pool.get(config)     # boots one, or takes one that was put back
    left = pool.put_back(guest)  # []: the next user of such a guest gets it
    pool.close()

A guest is used again only while it is as it was after its boot (zvmlab.guest.cleanliness).  Its CPUs
rest meanwhile, unless its next use comes soon.  One that
something was left behind in is put back to its checkpoint, if that can be done, or ended, as one that
has crashed.  A pool belongs to one thread; another may only abandon() it.
"""

from __future__ import annotations

import contextlib
import itertools
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.errors import EmulatorError, Timeout, UsageError, ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.guest.config import GuestConfig, Artifacts
from zvmlab.guest.guest import Guest
from zvmlab.guest.cleanliness import cleanliness

LIMIT = 8
CLOSE_SECONDS = 600.0

Use = Callable[[Guest], None]
"""Something that is done with a guest."""


def nothing(_guest: Guest) -> None:
    """No preparation, no last question."""


def numbered(folder: Path) -> Callable[[GuestConfig], Path]:
    """For a Pool: the logs of its guests go to folder/1, folder/2 …, where none are yet."""

    def unused(_config: GuestConfig) -> Path:
        folders = (folder / str(number) for number in itertools.count(1))
        return next(path for path in folders if not path.exists())

    return unused


@dataclass
class _Member:
    guest: Guest
    prepare: Use
    clean: dict[str, object]
    marks: int
    """Of the guest, when it had been prepared: 0 if it cannot go back to that."""
    idle: bool = False
    keep_logs: bool = False

    def fits(self, config: GuestConfig, prepare: Use) -> bool:
        """Is it what a new guest would be?  One that was restored is no cold one."""
        alike = self.guest.config._replace(name=config.name, cold=config.cold)
        return alike == config and prepare is self.prepare and self.guest.config.cold >= config.cold

    def __str__(self) -> str:
        config = self.guest.config
        return f"guest {self.guest.name} ({config.kernel}, {config.driver}, {config.backend})"


class Pool:
    """Guests, each used by one user after the other; those that nobody uses rest.

    *folder* gives a new guest's folder for its logs, which goes with the guest, unless *keep_logs*
    or the guest's user says otherwise.  *artifacts* are those of all its guests, or None: each finds
    its own.  At most *limit* guests are there; for one more, the one that has rested longest ends.
    *last_check* is called with a guest that is about to end in order.  With *afresh*, a guest that can
    go back to its checkpoint does so after each use, for nothing to depend on what it was used for.
    """

    def __init__(
        self,
        folder: Callable[[GuestConfig], Path],
        *,
        artifacts: Artifacts | None = None,
        limit: int = LIMIT,
        keep_logs: bool = False,
        last_check: Use = nothing,
        afresh: bool = False,
    ) -> None:
        self._folder = folder
        self._artifacts = artifacts
        self._limit = limit
        self._keep_logs = keep_logs
        self._last_check = last_check
        self._afresh = afresh
        self._members: list[_Member] = []  # the one that was put back last comes last
        self._awake: _Member | None = None  # one that nobody uses, and that does not rest
        self._late: list[ZvmlabError] = []
        self._booting: Guest | None = None
        self._abandoned = False
        self.booted = 0
        """Guests so far."""

    def get(self, config: GuestConfig, prepare: Use = nothing) -> Guest:
        """A guest of that configuration, as it was after its boot and *prepare*.

        Name and ``cold`` do not matter to a guest that is there already, but one that began at a
        checkpoint does not stand for a cold one.  UsageError if all guests that there may be are in use.
        """
        self._check_wanted()
        fitting = (one for one in self._members if one.idle and one.fits(config, prepare))
        member = next(fitting, None)
        self._rest_unless(member)
        if member is None:
            self._make_room()
            member = self._boot(config, prepare)
        member.idle = False
        with self._removing(member):
            member.guest.wake()
        return member.guest

    def put_back(self, guest: Guest, reported: bool = False, soon: bool = False) -> list[str]:
        """Keep it for the next user; return what was left behind in it.

        Then it is as after its boot again, or ended.  *soon*: that user comes at once, so that its
        CPUs need not stop; they do when another guest is wanted first.

        A crash that it has had ends it and is raised, unless *reported* says that it was
        reported; so is what shows only when it ends.
        """
        member = self._member(guest)
        left: list[str] = []
        try:
            with self._removing(member, keep_logs=not reported):
                left = guest.end_judges()
                now = cleanliness(guest)
                left += [name for name, value in now.items() if value != member.clean[name]]
                left += ["mark"] if guest.marks != member.marks else []
                back = self._afresh and member.guest.can_go_back
                clean = not left and not back or self._is_put_back(member)
                if clean and not soon:
                    guest.rest()
        except ZvmlabError:
            if not reported:
                raise
            return left
        if not clean:
            self._end(member)
            return left
        self._members.remove(member)
        self._members.append(member)
        member.idle = True
        self._rest_unless(None)
        self._awake = member if soon else None
        return left

    def _rest_unless(self, wanted: _Member | None) -> None:
        """Let the guest rest that was to be used soon, if it is not the one that is."""
        awake, self._awake = self._awake, None
        if awake is None or awake is wanted or awake not in self._members:
            return
        try:
            with self._removing(awake):
                awake.guest.rest()
        except ZvmlabError as error:
            # Whoever wants another guest has nothing to do with it; close() raises it.
            self._late.append(error)

    def _is_put_back(self, member: _Member) -> bool:
        """Is it as it was after its boot, and its preparation?"""
        guest = member.guest
        prepared = member.prepare is nothing or member.marks > 0
        if not guest.can_go_back or not prepared or guest.marks != member.marks:
            return False
        self._last_check(guest)
        guest.put_back()
        return cleanliness(guest) == member.clean

    def keep_logs(self, guest: Guest) -> None:
        """Its logs stay when it goes."""
        self._member(guest).keep_logs = True

    def drop(self, guest: Guest, keep_logs: bool = False) -> None:
        """Stop a guest that nobody is to use again, without asking it anything."""
        member = self._member(guest)
        member.keep_logs |= keep_logs
        self._remove(member)

    def abandon(self) -> None:
        """Kill all guests, from any thread; stop() is still to be called.

        Whoever waits for one of them gets EmulatorError, and whoever wants another one, too.
        """
        self._abandoned = True
        guests = [member.guest for member in list(self._members)]
        for guest in filter(None, (*guests, self._booting)):
            guest.kill()

    def _check_wanted(self) -> None:
        if self._abandoned:
            raise EmulatorError("the pool of guests has been stopped")

    def stop(self) -> None:
        """Stop all guests, without asking them anything."""
        with contextlib.ExitStack() as rest:
            for member in self._members:
                rest.callback(self._remove, member)

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """End all guests in order, also if one of them has something to answer for: that is raised.

        Timeout if *seconds* were over before a guest could be asked; that one is stopped, too.
        """
        limit = Limit(seconds)
        late, self._late = self._late, []
        with contextlib.ExitStack() as rest:
            for error in late:
                rest.callback(_throw, error)
            for member in self._members:
                rest.callback(self._end_before, member, limit)

    def _member(self, guest: Guest) -> _Member:
        return next(member for member in self._members if member.guest is guest)

    def _make_room(self) -> None:
        while len(self._members) >= self._limit:
            longest = next((member for member in self._members if member.idle), None)
            if longest is None:
                users = ", ".join(map(str, self._members))
                raise UsageError(f"all {self._limit} guests of the pool are in use: {users}")
            try:
                self._end(longest)
            except ZvmlabError as error:
                # Whoever needs room has nothing to do with it; close() raises it.
                self._late.append(error)

    def _boot(self, config: GuestConfig, prepare: Use) -> _Member:
        guest = Guest(config, self._folder(config), self._artifacts)
        self.booted += 1
        self._booting = guest
        try:
            guest.boot()
            self._check_wanted()
            prepare(guest)
            if prepare is not nothing and guest.can_be_marked:
                guest.mark()
            member = _Member(guest, prepare, cleanliness(guest), guest.marks)
        except BaseException:
            guest.stop()
            raise
        finally:
            self._booting = None
        self._members.append(member)
        return member

    def _end_before(self, member: _Member, limit: Limit) -> None:
        if not limit.over:
            self._end(member)
            return
        self._remove(member)
        raise Timeout(
            f"{member} was stopped before it could be asked for crashes: the guests of the pool"
            f" did not end within {limit}"
        )

    def _end(self, member: _Member) -> None:
        """Ask it for the last time, then stop it; what it has to answer for is raised."""
        with self._removing(member):
            member.guest.wake()
            self._last_check(member.guest)
            member.guest.end()
        self._remove(member)

    @contextlib.contextmanager
    def _removing(self, member: _Member, keep_logs: bool = True) -> Iterator[None]:
        """If the block fails, remove the guest and name it in the error."""
        try:
            yield
        except BaseException as error:
            member.keep_logs |= keep_logs
            self._remove(member)
            error.add_note(f"in {member}, which several users had in turn")
            raise

    def _remove(self, member: _Member) -> None:
        self._members.remove(member)
        member.guest.stop()
        if not member.keep_logs and not self._keep_logs:
            shutil.rmtree(member.guest.logs, ignore_errors=True)


def _throw(error: ZvmlabError) -> None:
    raise error
