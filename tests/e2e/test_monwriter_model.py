# SPDX-License-Identifier: MIT
"""monwriter against a model of it: any calls in any order, and what each returns and leaves in CP.

The model is what asm/monwriter.h and the requirements W2 to W10 say of a stream of headers and data.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Container, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from applications import (
    CONFIG,
    EVENT,
    HEADER_BYTES,
    MOST,
    START,
    STOP,
    USERID,
    Application,
    Collection,
    Header,
    Writer,
    applications,
    declared,
    records,
)

from zvmlab.guest.guest import Guest

MAX_BUFS = "/sys/module/monwriter/parameters/max_bufs"
STEPS = 200
FILES = 2
RECORDS = 2
MOST_BUFFERS = 10
# The kernel allocates no less than a multiple of these.
UNIT = 32
SPARE = 8


@dataclass
class Buffer:
    """What a program has started."""

    header: Header
    data: bytearray
    known: bool = False
    """CP has its address."""


@dataclass
class Stream:
    """An open file: its buffers, and what has come of the next header or data."""

    buffers: list[Buffer] = field(default_factory=list)
    head: bytes = b""
    open: Buffer | None = None
    got: int = 0

    def like(self, header: Header) -> Buffer | None:
        """The buffer that a header is about; STOP is about either kind."""
        for one in self.buffers:
            if one.header.product == header.product and (
                header.function in (STOP, one.header.function)
            ):
                return one
        return None


@dataclass
class Model:
    """The driver and what CP knows of it."""

    limit: int = 255
    streams: dict[int, Stream] = field(default_factory=dict)
    known: list[Buffer] = field(default_factory=list)
    """In the order in which CP was told."""
    events: list[Application] = field(default_factory=list)
    """Those that no set has had yet."""
    configured: list[Application] = field(default_factory=list)
    """The same for configuration data."""

    def write(self, stream: Stream, headers: list[Header], data: bytes) -> int:
        """The errno of a write of these bytes, in which these headers end."""
        rest = data
        while rest:
            if stream.open is None:
                part, rest = (
                    rest[: HEADER_BYTES - len(stream.head)],
                    rest[HEADER_BYTES - len(stream.head) :],
                )
                stream.head += part
                if len(stream.head) == HEADER_BYTES:
                    stream.head = b""
                    error = self._header(stream, headers.pop(0))
                    if error:
                        return error
                continue
            missing = len(stream.open.data) - stream.got
            part, rest = rest[:missing], rest[missing:]
            stream.open.data[stream.got : stream.got + len(part)] = part
            stream.got += len(part)
            if stream.got == len(stream.open.data):
                self._complete(stream.open)
                stream.open, stream.got = None, 0
        return 0

    def _header(self, stream: Stream, header: Header) -> int:
        if header.function > CONFIG or header.datalen > MOST or header.hdrlen != HEADER_BYTES:
            return errno.EINVAL
        found = None if header.function == EVENT else stream.like(header)
        if header.function == STOP:
            if found is not None:
                stream.buffers.remove(found)
                self._end(found)
            return 0
        if found is None:
            if sum(len(one.buffers) for one in self.streams.values()) >= self.limit:
                return errno.ENOSPC
            found = Buffer(header, bytearray(header.datalen))
            if header.function != EVENT:
                stream.buffers.append(found)
        elif len(found.data) != header.datalen:
            return errno.EINVAL
        stream.open = found
        return 0

    def _complete(self, buffer: Buffer) -> None:
        if buffer.header.function == EVENT:
            self.events.append(_record(1, buffer))
        elif not buffer.known:
            buffer.known = True
            self.known.append(buffer)
            if buffer.header.function == CONFIG:
                self.configured.append(_record(2, buffer))

    def _end(self, buffer: Buffer) -> None:
        if buffer.known:
            self.known.remove(buffer)
            self.events.append(_record(1, buffer))

    def close(self, stream: Stream) -> None:
        """All of its buffers end."""
        for one in stream.buffers:
            self._end(one)

    def sampled(self) -> list[Application]:
        """The records of an interval's end."""
        return [_record(2, one) for one in self.known if one.header.function == START]


def _record(number: int, buffer: Buffer) -> Application:
    return Application(number, USERID, buffer.header.product, 0, bytes(buffer.data))


class Run:
    """The same steps in the guest and in the model."""

    def __init__(
        self,
        guest: Guest,
        collection: Collection,
        rng: Random,
        corrected: Container[str],
        lengths: bool,
    ) -> None:
        self._guest = guest
        self._corrected = corrected
        self._collection = collection
        self._rng = rng
        self._other_lengths = lengths
        self._writers: dict[int, Writer] = {}
        self._ahead: dict[int, tuple[list[Header], bytes]] = {}
        """What a file has been given only a part of."""
        self.model = Model()

    def step(self) -> None:
        """One call of the driver, or the end of an interval."""
        choices: list[tuple[Callable[[], None], int]] = [
            (self._write, 12),
            (self._reopen, 1),
            (self._limit, 1),
            (self._interval, 2),
        ]
        steps, weights = zip(*choices, strict=True)
        self._rng.choices(steps, weights)[0]()
        self.compare()

    def compare(self) -> None:
        """CP knows what the model says it knows."""
        found = [(one["kind"], one["product-id"], one["length"]) for one in declared(self._guest)]
        kinds = {START: "interval", CONFIG: "config"}
        assert found == [
            (kinds[one.header.function], one.header.product, len(one.data))
            for one in self.model.known
        ]

    def _write(self) -> None:
        number = self._rng.randrange(FILES)
        if number not in self._writers:
            self._open(number)
        headers, data = self._ahead.pop(number, ([], b""))
        while not data or self._rng.random() < 0.3:
            started = self.model.streams[number].buffers
            if self._other_lengths and not data and started and self._rng.random() < 0.2:
                known = self._rng.choice(started)
                length = len(known.data) + self._rng.randint(1, SPARE)
                header = replace(known.header, datalen=length)
                headers, data = [header], header.encode() + self._data(header)
                if "monwriter-1" in self._corrected:
                    continue
                # What follows is read as a header where defect 1 is, and may be refused.
                break
            header = self._header()
            headers.append(header)
            data += header.encode() + self._data(header)
        cut = len(data) if self._rng.random() < 0.6 else self._rng.randint(1, len(data))
        self._give(number, headers, data, cut)

    def _give(self, number: int, headers: list[Header], data: bytes, cut: int) -> None:
        stream = self.model.streams[number]
        wanted = self.model.write(stream, headers, data[:cut])
        done = self._writers[number].write(data[:cut])
        assert done.errno == wanted
        while self.model.configured:
            found = self._collection.next()
            assert found.kind == "sample-config"
            assert applications(records(found)) == [self.model.configured.pop(0)]
        if not wanted:
            assert done.ret == cut
            if cut < len(data):
                self._ahead[number] = headers, data[cut:]

    def _header(self) -> Header:
        record = self._rng.randrange(RECORDS)
        length = UNIT * (record + 1) - SPARE
        function = self._rng.choices((START, STOP, EVENT, CONFIG), (6, 3, 2, 1))[0]
        header = Header(function, record=record, datalen=length)
        # The last of the product's numbers that differs makes it another one.
        header = replace(header, **{self._rng.choice(("applid", "version", "release", "mod")): 7})
        if self._rng.random() < 0.1:
            wrong = ({"function": 4}, {"hdrlen": HEADER_BYTES + 1}, {"datalen": MOST + 1})
            header = replace(header, **self._rng.choice(wrong))
        return header

    def _data(self, header: Header) -> bytes:
        return b"" if header.function == STOP else self._rng.randbytes(header.datalen)

    def _open(self, number: int) -> None:
        self._writers[number] = Writer(self._guest)
        self.model.streams[number] = Stream()

    def _reopen(self) -> None:
        number = self._rng.randrange(FILES)
        if number in self._writers:
            self._close(number)
        self._open(number)

    def _close(self, number: int) -> None:
        half = self.model.streams[number].open
        cut_counts = "monwriter-2" not in self._corrected
        if cut_counts and half is not None and half.header.function == EVENT:
            # As a buffer too few: defect 2.
            headers, data = self._ahead.pop(number)
            self._give(number, headers, data, len(half.data) - self.model.streams[number].got)
        self._writers.pop(number).close()
        self.model.close(self.model.streams.pop(number))
        self._ahead.pop(number, None)

    def _limit(self) -> None:
        self.model.limit = self._rng.randint(1, MOST_BUFFERS)
        self._guest.agent.write_file(MAX_BUFS, str(self.model.limit).encode())

    def _interval(self) -> None:
        assert self._collection.sample() == self.model.sampled()
        if self.model.events:
            found = self._collection.next()
            assert found.kind == "event"
            assert applications(records(found)) == self.model.events
            self.model.events.clear()

    def abandon(self) -> None:
        """Close what is open, whatever happened."""
        for writer in self._writers.values():
            writer.close()

    def end(self) -> None:
        """All files are closed, and CP knows nothing more."""
        for number in sorted(self._writers):
            self._close(number)
        self.compare()
        self._interval()


@contextmanager
def _default_limit(guest: Guest) -> Iterator[None]:
    try:
        yield
    finally:
        guest.agent.write_file(MAX_BUFS, b"255")


def check(
    guest: Guest,
    collection: Collection,
    seed: int,
    corrected: Container[str],
    other_lengths: bool = False,
) -> None:
    """Steps by chance, the same for each seed."""
    with ExitStack() as stack:
        stack.enter_context(_default_limit(guest))
        run = Run(guest, collection, Random(seed), corrected, other_lengths)
        stack.callback(run.abandon)
        for _ in range(STEPS):
            run.step()
        run.end()


@pytest.mark.requirement("W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9", "W10")
@pytest.mark.parametrize("seed", range(3))
def test_any_calls_in_any_order(
    writers: Guest, collection: Collection, corrected: frozenset[str], seed: int
) -> None:
    """Each returns, and leaves in CP, what the model says."""
    check(writers, collection, seed, corrected)


@pytest.mark.requirement("W8", "W17")
@pytest.mark.not_debug(
    "KASAN reports data that are copied behind a buffer's end",
    coverage=True,
    kernels=("bookworm",),
    defect="monwriter-1",
)
@pytest.mark.kernel_defect(
    1,
    "monwriter: the same product ID with a greater length changes another's buffer",
    seen=r"assert 0 == 22",
    kernels=("bookworm", "bookworm-backports"),
)
def test_any_calls_with_other_lengths(
    writers: Guest, collection: Collection, corrected: frozenset[str]
) -> None:
    """The same, if a header may have another length than the one that began its buffer."""
    check(writers, collection, 9, corrected, other_lengths=True)
