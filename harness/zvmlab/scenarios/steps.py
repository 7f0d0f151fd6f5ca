# SPDX-License-Identifier: MIT
"""Steps as data: what programs in a guest and CP do, in one order, as JSON has it.

    {"do": "call", "call": "socket", "args": [32, 1, 0], "as": "s1"}
    {"do": "request", "execute": "peer-call", "arguments": {"peer": "TESTER", "function": "sever"}}

The guest's side are system calls as the agent takes them, in up to three threads, and CP's side are
requests of its control socket (docs/kernel-fuzzing.md has all steps).  zvmlab.scenarios.player
plays them; a Context does so within a scenario.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zvmlab.agent.calls import Argument, Bad, Both, Iovec, Message, Out
from zvmlab.agent.wire import BadKind, Call
from zvmlab.base.errors import UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.json_file import short
from zvmlab.base.plain import harmless
from zvmlab.cp.afiucv import name_bytes
from zvmlab.guest.hold import PLACES

Json = Mapping[str, Any]
"""One step, or one value of a step."""
THREADS = ("a", "b", "c")
STEPS_MAX = 500
BYTES_MAX = 1 << 20
NAME = re.compile(r"[a-z][a-z0-9_]{0,15}")
_PATH = re.compile(r"/(?:dev|sys|proc|tmp|run)/[^\0]{1,200}")
_MODULE = re.compile(r"[A-Za-z0-9_-]{1,56}")
_FUNCTION = re.compile(r"[\w.:+]{1,128}")
_AF_IUCV = 32
_U64 = 1 << 64
# Those that neither read nor write a file of the host, nor change how the harness asks.
_REQUESTS = re.compile(
    r"cp-command|peer-(create|destroy|call|command)|fault-(arm|disarm)"
    r"|monitor-(deliver|raw|repeat|tick|manual|event|sever|quiesce)"
    r"|recording-(record|sever|quiesce)|watchdog-expire|page-(out|in|release|thrash)|segment-write"
    r"|hmc-(drive|write|remove|hold|complete)"
    r"|query-(monitor|appldata|hmc|recording|pages|segments|users|watchdog)"
)
# At these points nearly all calls are the agent's, whose connection the harness needs.
_SHARED_POINTS = re.compile(r"iucv\..*|interrupt|peer\..*")
_SHARED_FILTERS = ("name", "path")
# The members of each kind of step: those that it must have, and those that it may have.
_MEMBERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "call": (("call", "args"), ("thread", "as", "expect")),
    "poll": (("fd", "events"), ("thread", "expect")),
    "reads": (("fd", "size"), ("thread", "expect")),
    "write": (("path", "text"), ("thread", "expect")),
    "cpu": (("cpu", "online"), ("thread",)),
    "load": (("module",), ("params", "thread", "expect")),
    "unload": (("module",), ("thread", "expect")),
    "signal": (("thread",), ()),
    "request": (("execute", "arguments"), ("expect",)),
    "hold": (("function",), ("nth", "where", "thread")),
    "release": ((), ()),
    "out": (("thread",), ()),
    "in": ((), ()),
}
_EXPECTED = {"ret", "errno", "cc", "rc", "hex", "contains", "complete"}
_BUFFERS = ("hex", "text", "data", "address", "names", "out", "both", "bad", "vector", "message")
_MESSAGE = {"parts", "parts_count", "name", "name_size", "control", "control_size", "flags"}
_NTH_MAX = 64


def _fail(what: str, why: str) -> UsageError:
    return UsageError(f"{what}: {why}")


def _number(what: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _fail(what, f"{short(value)} is not a number from {least} to {most}")
    return value


def _text(what: str, value: object, pattern: re.Pattern[str], kind: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise _fail(what, f"{short(value)} is no {kind}")
    return value


def _hex(what: str, value: object) -> bytes:
    try:
        found = bytes.fromhex(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise _fail(what, f"{short(value)} is not hexadecimal") from None
    if len(found) > BYTES_MAX:
        raise _fail(what, f"it has more than {BYTES_MAX} bytes")
    return found


def _names(what: str, value: object) -> list[str]:
    if (
        not isinstance(value, list)
        or len(value) != 2
        or not all(isinstance(name, str) and 0 < len(name) <= 8 for name in value)
        or not all(name.isascii() for name in value)
    ):
        raise _fail(what, f"{short(value)} are not two names of 1 to 8 characters")
    return value


def _bad(what: str, value: object) -> Bad:
    kinds = [kind.name.lower() for kind in BadKind]
    if not isinstance(value, list) or len(value) != 3 or value[0] not in kinds:
        raise _fail(what, f"{short(value)} is not [{'|'.join(kinds)}, size, valid]")
    size = _number(what, value[1], 0, BYTES_MAX)
    return Bad(BadKind[value[0].upper()], size, _number(what, value[2], 0, size))


def stream_bytes(seed: int, size: int) -> bytes:
    """Data that tell which they are, and at which place: so a part of them is known again."""
    words = (size + 7) // 8
    found = [seed] * (2 * words)
    found[1::2] = range(words)
    return struct.pack(f">{2 * words}I", *found)[:size]


def bytes_of(what: str, value: object) -> bytes:
    """The bytes that {"hex": …}, {"text": …}, {"data": […]}, {"address": […]} or {"names": […]} is."""
    if not isinstance(value, dict) or len(value) != 1:
        raise _fail(what, f"{short(value)} is no bytes")
    ((kind, inner),) = value.items()
    if kind == "hex":
        return _hex(what, inner)
    if kind == "text":
        if not isinstance(inner, str) or len(inner) > BYTES_MAX:
            raise _fail(what, f"{short(inner)} is no text")
        return inner.encode("utf-8", "surrogateescape") + b"\0"
    if kind == "data":
        if not isinstance(inner, list) or len(inner) != 2:
            raise _fail(what, f"{short(inner)} is not [seed, size]")
        seed = _number(what, inner[0], 0, (1 << 32) - 1)
        return stream_bytes(seed, _number(what, inner[1], 0, BYTES_MAX))
    if kind == "names":
        return b"".join(map(name_bytes, _names(what, inner)))
    if kind == "address":
        texts = [text.ljust(8).encode("ascii") for text in ("", *_names(what, inner))]
        return struct.pack(">HHI8s8s8s", _AF_IUCV, 0, 0, *texts)
    raise _fail(what, f"{short(value)} is no bytes")


def argument(what: str, value: object) -> Argument | str:
    """An argument of a system call; a name stands for what an earlier call returned."""
    if isinstance(value, str):
        return _text(what, value, NAME, "name of a result")
    if isinstance(value, dict):
        return _buffer(what, value)
    return _number(what, value, -(1 << 63), _U64 - 1)


def _buffer(what: str, value: dict[str, Any]) -> Argument:
    if len(value) != 1 or next(iter(value)) not in _BUFFERS:
        raise _fail(what, f"{short(value)} is no argument ({', '.join(_BUFFERS)})")
    ((kind, inner),) = value.items()
    if kind == "out":
        return Out(_number(what, inner, 0, BYTES_MAX))
    if kind == "both":
        return Both(_hex(what, inner))
    if kind == "bad":
        return _bad(what, inner)
    if kind == "vector":
        return _vector(what, inner)
    if kind == "message":
        return _message(what, inner)
    return bytes_of(what, value)


def _vector(what: str, value: object) -> Iovec:
    if not isinstance(value, list) or not 1 <= len(value) <= 64:
        raise _fail(what, "a vector has 1 to 64 parts")
    return Iovec([_plain(what, part) for part in value])


def _plain(what: str, value: object) -> bytes | Out | Both | Bad:
    found = _buffer(what, value) if isinstance(value, dict) else None
    if not isinstance(found, (bytes, Out, Both, Bad)):
        raise _fail(what, f"{short(value)} is no buffer of its own")
    return found


def _message(what: str, value: object) -> Message:
    """A struct msghdr: the lengths are those of what is there, unless the step says others."""
    if not isinstance(value, dict) or "parts" not in value or set(value) - _MESSAGE:
        raise _fail(what, f"a message has parts, and may have {', '.join(sorted(_MESSAGE))}")
    parts = _vector(what, value["parts"])
    found: dict[str, Any] = {
        "parts_count": len(parts.parts),
        "name_size": 0,
        "control_size": 0,
        "flags": 0,
    }
    for key in ("name", "control"):
        if key in value:
            found[key] = _plain(what, value[key])
            found[f"{key}_size"] = _size(found[key])
    for key in ("parts_count", "name_size", "control_size", "flags"):
        if key in value:
            found[key] = _number(what, value[key], 0, (1 << 32) - 1)
    for key in ("name", "control"):
        # What the kernel stores behind it would be the agent's.
        buffer, size = found.get(key), found[f"{key}_size"]
        if isinstance(buffer, (Out, Both)) and size > _size(buffer):
            raise _fail(what, f"a {key} of {_size(buffer)} bytes has no {size} to be filled")
    return Message(parts, **found)


def _size(buffer: bytes | Out | Both | Bad) -> int:
    if isinstance(buffer, bytes):
        return len(buffer)
    return len(buffer.data) if isinstance(buffer, Both) else buffer.size


def request_value(what: str, value: object) -> object:
    """A value of a request, with the bytes in place of what stands for them."""
    if isinstance(value, dict):
        if len(value) == 1 and next(iter(value)) in ("hex", "text", "data", "names"):
            return bytes_of(what, value)
        return {str(key): request_value(what, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [request_value(what, inner) for inner in value]
    if value is None or isinstance(value, (str, int)):
        return value
    raise _fail(what, f"{short(value)} is no value of a request")


def _check_call(what: str, step: Json) -> None:
    names = [call.name.lower() for call in Call]
    if step["call"] not in names:
        raise _fail(
            what,
            f"there is no system call {short(step['call'])}"
            f"{did_you_mean(str(step['call']), names)}",
        )
    if not isinstance(step["args"], list) or len(step["args"]) > 6:
        raise _fail(what, "a system call has up to six arguments")
    for value in step["args"]:
        argument(what, value)
    if "as" in step:
        _text(what, step["as"], NAME, "name of a result")


def nth_of(what: str, step: Json) -> int | None:
    """Which of a peer's paths a request is about, if it says {"nth": N} for its path."""
    path = step["arguments"].get("path")
    if not isinstance(path, dict):
        return None
    if step["execute"] != "peer-call" or set(path) != {"nth"}:
        raise _fail(what, f"{short(path)} is no path of a request")
    return _number(what, path["nth"], 0, _NTH_MAX)


def _check_request(what: str, step: Json) -> None:
    name = _text(what, step["execute"], _REQUESTS, "request of a step")
    if not isinstance(step["arguments"], dict):
        raise _fail(what, f"{short(step['arguments'])} are no arguments")
    nth_of(what, step)
    request_value(what, step["arguments"])
    point = step["arguments"].get("point")
    if name == "fault-arm" and isinstance(point, str) and _SHARED_POINTS.fullmatch(point):
        if not any(word in step["arguments"] for word in _SHARED_FILTERS):
            raise _fail(
                what,
                f"a fault at {point} needs one of {', '.join(_SHARED_FILTERS)}, or it"
                " meets the agent's connection",
            )


def _check_expected(what: str, step: Json) -> None:
    expected = step.get("expect", {})
    if not isinstance(expected, dict) or set(expected) - _EXPECTED:
        raise _fail(what, f"{short(expected)} cannot be expected")


def check_step(what: str, step: object, cpus: int) -> None:
    """UsageError if this is no step for a guest with so many CPUs; *what* begins the sentence."""
    if not isinstance(step, dict) or step.get("do") not in _MEMBERS:
        raise _fail(what, f"{short(step)} does none of {', '.join(_MEMBERS)}")
    needed, possible = _MEMBERS[step["do"]]
    for name in needed:
        if name not in step:
            raise _fail(what, f"{step['do']} needs '{name}'")
    for name in step:
        if name not in ("do", *needed, *possible):
            raise _fail(what, f"{step['do']} has no '{name}'{did_you_mean(name, possible)}")
    if step.get("thread", THREADS[0]) not in THREADS:
        raise _fail(what, f"there is no thread {short(step['thread'])} ({', '.join(THREADS)})")
    _check_expected(what, step)
    _check_kind(what, step, cpus)


def _check_kind(what: str, step: Json, cpus: int) -> None:
    kind = step["do"]
    if kind == "call":
        _check_call(what, step)
    elif kind == "request":
        _check_request(what, step)
    elif kind in ("load", "unload"):
        _text(what, step["module"], _MODULE, "module")
        if not isinstance(step.get("params", ""), str):
            raise _fail(what, f"{short(step['params'])} are no parameters")
    elif kind == "write":
        _text(what, step["path"], _PATH, "file that a step may write")
        if not isinstance(step["text"], str):
            raise _fail(what, f"{short(step['text'])} is no text")
    elif kind == "cpu":
        _cpu(what, step["cpu"], cpus)
        if not isinstance(step["online"], bool):
            raise _fail(what, f"{short(step['online'])} is neither true nor false")
    elif kind in ("poll", "reads"):
        if not isinstance(argument(what, step["fd"]), (int, str)):
            raise _fail(what, f"{short(step['fd'])} is no file")
        _number(what, step["events" if kind == "poll" else "size"], 0, BYTES_MAX)
    elif kind == "hold":
        _text(what, step["function"], _FUNCTION, "function")
        _number(what, step.get("nth", 1), 1, 1 << 30)
        if step.get("where", PLACES[0]) not in PLACES:
            raise _fail(what, f"a CPU is held at {' or '.join(PLACES)}, not {short(step['where'])}")
        if cpus < 2:
            raise _fail(what, "a CPU cannot be held in a guest that has one")


def _cpu(what: str, value: object, cpus: int) -> None:
    number = _number(what, value, 0, 63)
    if number >= cpus:
        raise _fail(what, f"there is no CPU {number}; the guest has CPUs 0 to {cpus - 1}")


def check_steps(what: str, steps: object, cpus: int) -> list[dict[str, Any]]:
    """The steps, if they are some; UsageError says which one is not, and why."""
    if not isinstance(steps, list) or len(steps) > STEPS_MAX:
        raise _fail(what, f"there are up to {STEPS_MAX} steps")
    for number, step in enumerate(steps, 1):
        check_step(f"{what}, step {number}", step, cpus)
    return steps


def thread_of(step: Json) -> str:
    """The thread of the guest that does it."""
    return str(step.get("thread", THREADS[0]))


def names_in(step: Json) -> Iterator[str]:
    """The names of results that a step gives or uses."""
    if "as" in step:
        yield str(step["as"])
    yield from names_used(step)


def names_used(step: Json) -> Iterator[str]:
    """The names of results that a step uses."""
    values = [step.get("fd"), *step.get("args", ())]
    yield from (value for value in values if isinstance(value, str))


def faults_of(steps: Sequence[Json]) -> Iterator[Json]:
    """The fault rules that they arm."""
    for step in steps:
        if step["do"] == "request" and step["execute"] == "fault-arm":
            yield step["arguments"]


def text_of(step: Json) -> str:
    """A step in a line, for people."""
    kind = step["do"]
    words = [f"{thread_of(step)}:" if "thread" in _members(kind) else "CP:"]
    if kind == "call":
        words.append(f"{step['call']}({', '.join(map(_short_value, step['args']))})")
        words += [f"as {step['as']}"] if "as" in step else []
    elif kind == "request":
        inner = " ".join(f"{key}={_short_value(v)}" for key, v in step["arguments"].items())
        words.append(f"{step['execute']} {inner}".strip())
    else:
        rest = {key: value for key, value in step.items() if key not in ("do", "thread", "expect")}
        words += [kind, *(_short_value(value) for value in rest.values())]
    return harmless(" ".join(words), lines=False)


def _members(kind: str) -> tuple[str, ...]:
    needed, possible = _MEMBERS[kind]
    return (*needed, *possible)


def _short_value(value: object) -> str:
    if isinstance(value, dict) and len(value) == 1:
        ((kind, inner),) = value.items()
        return f"{kind} {short(inner)}"
    return value if isinstance(value, str) else short(value)
