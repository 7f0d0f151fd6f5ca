# SPDX-License-Identifier: MIT
"""Client of the control socket (docs/control.md).

Any number of threads may call `execute` and `wait_event`.  One that waits reads for all, so that
what it waits for needs no other thread to wake it.  While nobody waits, a thread of the
connection reads.  When the connection ends, all of them get EmulatorError at once.
"""

from __future__ import annotations

import base64
import errno
import json
import math
import os
import select
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from zvmlab.base.errors import EmulatorError, Timeout, UsageError, ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.base.plain import harmless, shortened

T = TypeVar("T")

# sizeof(sockaddr_un.sun_path) less the terminating zero.
MAX_PATH = 107
DEFAULT_TIMEOUT = 30.0
# Events that nobody has taken yet are kept up to here, the newest of each kind: a machine that
# runs for hours tells of every set and console line.  A peer's are its messages: all it may have.
MAX_EVENTS = 4096
MAX_PEER_EVENTS = 65536
# What may be unread on the other side before it disconnects a client (docs/control.md).
MESSAGE_MAX = 64 << 20
_CONNECT_PAUSE = 0.01
_CHUNK = 1 << 16
_PLAIN = (str, int, bool, float, type(None))
_ENCODER = json.JSONEncoder(separators=(",", ":"))
_DECODER = json.JSONDecoder()
# RFC 8259 allows these around a value.
_BLANKS = " \t\r\n"
# After somebody else has read, the connection's own thread leaves it to them for so long.
_STAND_BY_SECONDS = 0.1
_POLL_MS_MAX = 1 << 30


class ControlError(ZvmlabError):
    """The control socket answered with an error."""

    def __init__(self, error_class: str, desc: str) -> None:
        super().__init__(desc)
        self.error_class = error_class
        self.desc = desc


class Event(NamedTuple):
    """An event: its name, its data and when it was sent (seconds since 1970)."""

    name: str
    data: Mapping[str, Any]
    time: float


class CpResponse(NamedTuple):
    """CP's answer to a command."""

    response: str
    rc: int


class _Queue:
    def __init__(self, limit: int) -> None:
        self.events: deque[Event] = deque(maxlen=limit)
        self.lost = 0

    def put(self, event: Event) -> None:
        self.lost += len(self.events) == self.events.maxlen
        self.events.append(event)


def encode(data: bytes) -> str:
    """Bytes as the control socket spells them."""
    return base64.b64encode(data).decode("ascii")


def decode(text: str) -> bytes:
    """The bytes of a data member."""
    return base64.b64decode(text, validate=True)


def _to_json(value: Any) -> Any:
    # Nearly all are of these, and Mapping is slow to ask for.
    if type(value) in _PLAIN:
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return encode(bytes(value))
    if isinstance(value, int):  # of an enumeration
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(k).replace("_", "-"): _to_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json(v) for v in value]
    return value


def _from_json(line: str) -> Any:
    """As json.loads() has it, which asks first of what kind its argument is."""
    line = line.strip(_BLANKS)
    value, end = _DECODER.raw_decode(line)
    if end != len(line):
        raise ValueError(f"there is more behind column {end}")
    return value


def _queue_key(name: str, data: Mapping[str, Any]) -> str:
    """Events of a peer have a queue of their own, so that waiting for one is cheap."""
    return f"{name} {data['peer']}" if name == "iucv-event" and "peer" in data else name


class Control:
    """A connection to the control socket of one guest."""

    def __init__(
        self,
        sock: socket.socket,
        path: str,
        timeout: float,
        check: Callable[[], None] | None = None,
        limit: Callable[[float], Limit] = Limit,
    ) -> None:
        self._socket = sock
        self.path = path
        self.timeout = timeout
        self.limit = limit
        """Makes a limit of so many seconds for what the other side is to do."""
        self._check = check
        self._send_lock = threading.Lock()
        # Of all that follows; notified of what has come, and when another thread may read.
        self._changed = threading.Condition()
        self._is_read = False  # by the thread that waits, without the lock
        self._waiters = 0
        self._reads = 0
        self._rest = bytearray()
        self._arrivals = select.poll()
        self._arrivals.register(sock, select.POLLIN)
        self._next_id = 0
        self._waiting: set[int] = set()
        self._posted: dict[int, Callable[[dict[str, Any]], None]] = {}
        self._replies: dict[int, dict[str, Any]] = {}
        self._events: dict[str, _Queue] = {}
        self._closed: str | None = None
        self._greeting: dict[str, Any] | None = None
        self.step: Callable[[float], None] | None = None
        """Lets a guest that stands run up to its next event, within so many seconds."""
        self._ended = threading.Event()
        self._standby = threading.Thread(target=self._stand_by, name="control", daemon=True)
        self._standby.start()

    @classmethod
    def connect(
        cls,
        path: str | os.PathLike[str],
        timeout: float = DEFAULT_TIMEOUT,
        check: Callable[[], None] | None = None,
        make_limit: Callable[[float], Limit] = Limit,
    ) -> Control:
        """Wait for the socket and its greeting.

        `timeout` is also the limit of each later request.  `check` is called
        while waiting and may raise, for instance because the emulator is gone;
        it is called again when the connection has ended, and may know why.
        `make_limit` makes this limit, and all later ones.
        """
        name = os.fspath(path)
        if len(os.fsencode(name)) > MAX_PATH:
            raise UsageError(
                f"the control socket's path {name} is longer than {MAX_PATH} bytes; "
                "use a shorter directory"
            )
        limit = make_limit(timeout)
        sock = _open(name, limit, check)
        control = cls(sock, name, timeout, check, make_limit)
        try:
            control._await(
                lambda: control._greeting,
                limit,
                lambda: f"the greeting on control socket {name} did not come within {limit}",
            )
        except BaseException:
            control.close()
            raise
        return control

    @property
    def version(self) -> str:
        """Version of the other side."""
        assert self._greeting is not None
        return str(self._greeting.get("version"))

    @property
    def capabilities(self) -> list[str]:
        """Capabilities that the greeting named."""
        assert self._greeting is not None
        return list(self._greeting["capabilities"])

    @property
    def closed(self) -> bool:
        """Has the connection ended, by whichever side?"""
        with self._changed:
            return self._closed is not None

    @property
    def asked(self) -> int:
        """Commands so far."""
        with self._changed:
            return self._next_id

    def execute(self, command: str, /, *, time_limit: float | None = None, **arguments: Any) -> Any:
        """Execute a command and return what it returns.

        Underscores in names stand for dashes, bytes are sent as base64.
        """
        limit = self.limit(self.timeout if time_limit is None else time_limit)
        number = self._begin()
        try:
            self._send({"execute": command, "arguments": _to_json(arguments), "id": number})
            reply = self._await(
                lambda: self._replies.pop(number, None),
                limit,
                lambda: f"control command {command} was not answered within {limit}",
            )
        finally:
            with self._changed:
                self._waiting.discard(number)
                self._replies.pop(number, None)
        return _returned(reply)

    def execute_all(self, *requests: tuple[str, Mapping[str, Any]]) -> list[Any]:
        """Several commands with their arguments, sent together; what each returns."""
        answers: list[tuple[Any, ControlError | None]] = []

        def note(answer: Any, error: ControlError | None) -> None:
            answers.append((answer, error))

        for command, arguments in requests[:-1]:
            self.post(command, note, later=True, **arguments)
        command, arguments = requests[-1]
        # The answers come in the order of the commands.
        last = self.execute(command, **arguments)
        for _, error in answers:
            if error is not None:
                raise error
        return [*(answer for answer, _ in answers), last]

    def post(
        self,
        command: str,
        answered: Callable[[Any, ControlError | None], None],
        /,
        *,
        later: bool = False,
        **arguments: Any,
    ) -> None:
        """Send a command and do not wait: *answered* gets what it returns, or the error.

        It is called by whoever reads the answer, must not wait, and is not called if the
        connection ends before.  *later*: what went well may be told with the next thing that is
        told, so that nobody has to wake for it.
        """

        def take(reply: dict[str, Any]) -> None:
            try:
                returned = _returned(reply)
            except ControlError as error:
                answered(None, error)
            else:
                answered(returned, None)

        number = self._begin(take)
        request = {"execute": command, "arguments": _to_json(arguments), "id": number}
        self._send(request | {"later": True} if later else request)

    def _begin(self, take: Callable[[dict[str, Any]], None] | None = None) -> int:
        """Number a command, whose answer is awaited, or taken."""
        with self._changed:
            self._check_open()
            self._next_id += 1
            if take is None:
                self._waiting.add(self._next_id)
            else:
                self._posted[self._next_id] = take
            return self._next_id

    def cp(self, command: str, *, guest: bool = False) -> CpResponse:
        """A CP command, given by the operator or (guest=True) by the guest's virtual machine."""
        issuer: dict[str, Any] = {"as": "guest" if guest else "operator"}
        answer = self.execute("cp-command", command=command, **issuer)
        return CpResponse(answer["response"], answer["rc"])

    def wait_event(
        self,
        name: str,
        /,
        timeout: float | None = None,
        check: Callable[[], None] = lambda: None,
        **match: Any,
    ) -> Event:
        """Take the oldest event of that name whose data has all the values in `match`.

        A value may be a tuple, list or set of those that will do.  *check* is called while there
        is none, whenever something else has come, and may raise; it must not wait.
        """
        seconds = self.timeout if timeout is None else timeout
        # A step has a limit of the emulator's own.
        limit = self.limit(seconds) if self.step is None else Limit(seconds)
        wanted = {key.replace("_", "-"): value for key, value in match.items()}
        key = _queue_key(name, wanted)

        def late() -> str:
            matches = "".join(f" {k}={v!r}" for k, v in wanted.items())
            return f"event {name}{matches} did not come within {limit}"

        def take() -> Event | None:
            event = self._take(key, name, wanted)
            if event is None:
                check()
            return event

        if self.step is not None:
            return self._step_to(take, limit, late)
        return self._await(take, limit, late)

    def _step_to(self, ready: Callable[[], T | None], limit: Limit, late: Callable[[], str]) -> T:
        """Wait for a guest that runs only while it is waited for."""
        while True:
            for asked in (False, True):
                # What has come may not be read yet: events are sent before the answer to a later request.
                if asked:
                    self.execute("query-version")
                with self._changed:
                    value = ready()
                    self._check_open()
                if value is not None:
                    return value
            left = limit.left()
            if left == 0:
                raise Timeout(late())
            assert self.step is not None
            self.step(left)

    def events(self, name: str) -> list[Event]:
        """Take all events of that name that have come so far."""
        with self._changed:
            self._take_in()
            taken: list[Event] = []
            for key, queue in self._events.items():
                if key.split(" ", 1)[0] == name:
                    taken.extend(queue.events)
                    queue.events.clear()
            return taken

    def forget_events(self, name: str, /, **match: Any) -> None:
        """Drop the events of that name whose data has all the values in `match`, as they came."""
        with self._changed:
            self._take_in()
            while self._take(_queue_key(name, match), name, match) is not None:
                pass

    def lost_events(self) -> int:
        """Events that were discarded because nobody took them."""
        with self._changed:
            self._take_in()
            return sum(queue.lost for queue in self._events.values())

    def close(self) -> None:
        """End the connection; whoever waits gets EmulatorError."""
        self._end(f"the connection to control socket {self.path} was closed")
        if threading.current_thread() is not self._standby:
            self._standby.join()
        with self._changed:
            while self._is_read:  # the end of the connection ends that
                self._changed.wait()
            self._socket.close()

    def __enter__(self) -> Control:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed is not None:
            if self._check is not None:
                self._check()
            raise EmulatorError(self._closed)

    def _await(self, ready: Callable[[], T | None], limit: Limit, late: Callable[[], str]) -> T:
        """What is *ready* at last; Timeout with what *late* says."""
        with self._changed:
            over = False
            while True:
                value = ready()
                if value is not None:
                    return value
                self._check_open()
                if over:
                    raise Timeout(late())
                left = limit.left()
                over = left == 0
                if over:
                    self._take_in()
                else:
                    self._receive(left)

    def _receive(self, seconds: float) -> None:
        """Take in what comes, or wait for another thread that does; for so long at most."""
        self._waiters += 1
        try:
            if self._is_read:
                self._changed.wait(seconds)
            else:
                self._read(seconds)
        finally:
            self._waiters -= 1

    def _take_in(self) -> None:
        """Take in what is there already, unless another thread does."""
        if not self._is_read and self._closed is None:
            self._read(0)

    def _read(self, seconds: float) -> None:
        """Read once, without the lock; no other thread does meanwhile."""
        messages: list[dict[str, Any]] = []
        reason = None
        self._is_read = True
        self._reads += 1
        self._changed.release()
        try:
            messages = self._read_messages(seconds)
        except OSError as error:
            reason = f"control socket {self.path}: {error.strerror}"
        except EOFError:
            reason = f"the emulator closed control socket {self.path}"
        except (ValueError, RecursionError) as error:
            said = shortened(harmless(str(error), lines=False))
            reason = f"control socket {self.path} sent an invalid message: {said}"
        finally:
            self._changed.acquire()
            self._is_read = False
            for message in messages:
                self._message(message)
            if reason is not None:
                self._end(reason)
            self._changed.notify_all()

    def _read_messages(self, seconds: float) -> list[dict[str, Any]]:
        """What comes within so many seconds; nothing if that is no whole message yet."""
        if not self._arrivals.poll(min(math.ceil(seconds * 1000), _POLL_MS_MAX)):
            return []
        try:
            chunk = self._socket.recv(_CHUNK, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        if not chunk:
            raise EOFError
        rest, start = self._rest, len(self._rest)
        rest += chunk
        end = rest.rfind(b"\n", start)
        messages = []
        if end >= 0:
            # Bytes would be looked at for their encoding, line by line.
            text = rest[:end].decode("utf-8", "surrogatepass")
            messages = [_from_json(line) for line in text.split("\n")]
            del rest[: end + 1]
        if len(rest) > MESSAGE_MAX:
            raise ValueError(f"it has more than {MESSAGE_MAX >> 20} MiB")
        for message in messages:
            if not _is_message(message):
                raise ValueError(json.dumps(message))
        return messages

    def _stand_by(self) -> None:
        """Read while nobody waits, for the other side does not go on before a client that does not.

        Whoever waits reads faster, so this leaves the socket alone while there are such threads.
        """
        arrivals = select.poll()
        arrivals.register(self._socket, select.POLLIN)
        reads = 0
        while not self._ended.is_set():
            arrivals.poll()
            with self._changed:
                if self._closed is None and not self._waiters and reads == self._reads:
                    self._take_in()
                    reads = self._reads
                    continue
                reads = self._reads
            self._ended.wait(_STAND_BY_SECONDS)

    def _take(self, key: str, name: str, wanted: Mapping[str, Any]) -> Event | None:
        keys = [key] if key != name else [k for k in self._events if k.split(" ", 1)[0] == name]
        for candidate in keys:
            queue = self._events.get(candidate)
            if queue is None:
                continue
            for index, event in enumerate(queue.events):
                if _matches(event.data, wanted):
                    del queue.events[index]
                    return event
        return None

    def _send(self, request: Mapping[str, Any]) -> None:
        line = _ENCODER.encode(request).encode() + b"\n"
        try:
            with self._send_lock:
                self._socket.sendall(line)
        except BlockingIOError:
            text = f"control socket {self.path} took no request for {self.timeout:g} s"
            self._end(text)
            raise Timeout(text) from None
        except OSError as error:
            self._end(f"control socket {self.path}: {error.strerror}")
            with self._changed:
                self._check_open()

    def _end(self, reason: str) -> None:
        with self._changed:
            if self._closed is None:
                self._closed = reason
            self._changed.notify_all()
        self._ended.set()
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # The other side was quicker.

    def _message(self, message: dict[str, Any]) -> None:
        if "event" in message:
            stamp = message["timestamp"]
            when = stamp["seconds"] + stamp["microseconds"] / 1e6
            event = Event(message["event"], message["data"], when)
            key = _queue_key(event.name, event.data)
            queue = self._events.get(key)
            if queue is None:
                queue = _Queue(MAX_PEER_EVENTS if event.name == "iucv-event" else MAX_EVENTS)
                self._events[key] = queue
            queue.put(event)
        elif "zvmlab" in message:
            self._greeting = message["zvmlab"]
        elif message["id"] in self._waiting:
            self._replies[message["id"]] = message
        elif message["id"] in self._posted:
            self._posted.pop(message["id"])(message)


def _returned(reply: Mapping[str, Any]) -> Any:
    if "error" in reply:
        raise ControlError(reply["error"]["class"], reply["error"]["desc"])
    return reply["return"]


_SECONDS_MAX = 1 << 62


def _is_time(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < _SECONDS_MAX


def _is_message(message: object) -> bool:
    """Has it all that an event, a greeting or a reply to a request of ours has?"""
    if not isinstance(message, dict):
        return False
    if "event" in message:
        stamp = message.get("timestamp")
        return (
            isinstance(message["event"], str)
            and isinstance(message.get("data"), dict)
            and isinstance(stamp, dict)
            and _is_time(stamp.get("seconds"))
            and _is_time(stamp.get("microseconds"))
        )
    if "zvmlab" in message:
        greeting = message["zvmlab"]
        return isinstance(greeting, dict) and isinstance(greeting.get("capabilities"), list)
    if not isinstance(message.get("id"), int):
        return False
    error = message.get("error")
    return "return" in message or (
        isinstance(error, dict)
        and isinstance(error.get("class"), str)
        and isinstance(error.get("desc"), str)
    )


def _matches(data: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    for key, value in wanted.items():
        if isinstance(value, (tuple, list, set, frozenset)):
            if data.get(key) not in value:
                return False
        elif data.get(key) != value:
            return False
    return True


def _open(path: str, limit: Limit, check: Callable[[], None] | None) -> socket.socket:
    while True:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            sock.connect(path)
            seconds = int(limit.seconds)
            patience = struct.pack("ll", seconds, max(1, int((limit.seconds - seconds) * 1e6)))
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
            return sock
        except OSError as error:
            sock.close()
            if error.errno not in (errno.ENOENT, errno.ECONNREFUSED, errno.EAGAIN):
                raise EmulatorError(f"control socket {path}: {error.strerror}") from None
        if check is not None:
            check()
        if limit.over:
            raise Timeout(f"control socket {path} did not appear within {limit}")
        time.sleep(_CONNECT_PAUSE)
