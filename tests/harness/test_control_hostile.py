# SPDX-License-Identifier: MIT
"""Whatever comes through the control socket is answered."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from controlled import GREETING, TIMEOUT, Server, schema
from controlled import _server as _server
from examples import some
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zvmlab.cp.control import Control


class Raw:
    """A client that sends any bytes."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(os.fspath(path))
        self.input = self.socket.makefile("rb")

    def __enter__(self) -> Raw:
        assert self.input.readline() == GREETING
        return self

    def __exit__(self, *exc: object) -> None:
        self.input.close()
        self.socket.close()

    def ask(self, line: bytes) -> Any:
        self.socket.sendall(line + b"\n")
        return json.loads(self.input.readline())


@settings(
    max_examples=some(150),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(line=st.binary(max_size=200).map(lambda b: b.replace(b"\n", b"")))
def test_any_line_is_answered(server: Server, line: bytes) -> None:
    with Control.connect(server.socket, TIMEOUT), Raw(server.socket) as raw:
        answer = raw.ask(line)
        assert answer["error"]["class"] in ("BadRequest", "CommandNotFound")
        assert raw.ask(b'{"execute":"query-faults"}') == {"return": {"rules": []}}


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)


def _arguments(entry: dict[str, Any]) -> st.SearchStrategy[Any]:
    known = list(entry["arguments"]["properties"])
    members = st.dictionaries(st.sampled_from(known), _JSON, max_size=6) if known else st.nothing()
    return members | _JSON


@pytest.mark.parametrize("command", sorted(schema()["commands"]))
@settings(
    max_examples=some(25),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_wrong_arguments_are_refused(server: Server, command: str, data: st.DataObject) -> None:
    """Whatever the documented schema does not allow is refused, and the other way round."""
    entry = schema()["commands"][command]
    arguments = data.draw(_arguments(entry))
    valid = jsonschema.Draft7Validator(entry["arguments"]).is_valid(arguments)
    if valid and command in ("state-save", "segment-save", "monitor-capture", "segment-read"):
        return  # The file could be anywhere.
    with Raw(server.socket) as raw:
        request = {"execute": command, "arguments": arguments, "id": 1}
        answer = raw.ask(json.dumps(request).encode())
    if not valid:
        assert answer["error"]["class"] in ("BadArgument", "BadRequest")
    elif "error" in answer:
        assert answer["error"]["class"] in ("BadArgument", "Failed", "BadRequest")
