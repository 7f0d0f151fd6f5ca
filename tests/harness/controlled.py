# SPDX-License-Identifier: MIT
"""A CP without an emulator (ctl_server.c), for tests of the control socket's clients."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from zvmlab.base.progress import Progress
from zvmlab.base.version import __version__
from zvmlab.cp.control import Control
from zvmlab.cp.replay import program

TIMEOUT = 60.0
GREETING = (
    f'{{"zvmlab":{{"version":"{__version__}","capabilities":["peers","monitor-capture"]}}}}\n'
).encode()
_TOP = Path(__file__).parents[2]
UPDATE = bool(os.environ.get("ZVMLAB_UPDATE_SCHEMA"))
"""The documented schema is being made: it says nothing yet of what is new."""
SCHEMA_FILE = _TOP / "docs" / "control-schema.json"
SERVER = os.environ.get("ZVMLAB_CTL_SERVER", os.fspath(_TOP / "build/unit/ctl_server"))


@functools.cache
def schema() -> dict[str, dict[str, Any]]:
    """The documented schema: commands and events by name."""
    document = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return {
        key: {entry["name"]: entry for entry in document[key]} for key in ("commands", "events")
    }


@functools.cache
def _validator(kind: str, name: str, part: str) -> jsonschema.protocols.Validator:
    """That of a part of an entry.  To check that it is a schema takes ten times as long as to use it."""
    documented = schema()[kind][name][part]
    validator = jsonschema.validators.validator_for(documented)
    validator.check_schema(documented)
    return validator(documented)


class CheckedControl(Control):
    """A client that holds both sides to the documented schema."""

    def execute(self, command: str, /, *, time_limit: float | None = None, **arguments: Any) -> Any:
        answer = super().execute(command, time_limit=time_limit, **arguments)
        if not UPDATE:
            _validator("commands", command, "returns").validate(answer)
        return answer

    def _message(self, message: dict[str, Any]) -> None:
        if "event" in message:
            try:
                _validator("events", message["event"], "data").validate(message["data"])
            except jsonschema.ValidationError as error:
                raise ValueError(error.message) from None
        super()._message(message)


@functools.cache
def _replayer() -> Path:
    """The program that replays, looked for once: to see whether it is that of the sources takes long."""
    return program(Progress(quiet=True))


class Server:
    """The server process and where it keeps its files.

    Whatever a test does, its trace must replay: the CP does the same from the trace alone.
    """

    def __init__(self, folder: Path, *options: str, replays: bool = True) -> None:
        self.replays = replays
        self.socket = folder / "control"
        self.trace = folder / "trace"
        data = f"trace-data={'full' if replays else 'short'}"
        command = [SERVER, os.fspath(self.socket), os.fspath(self.trace), data, *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE)

    def connect(self) -> Control:
        """One more client."""
        return CheckedControl.connect(self.socket, TIMEOUT)

    def stop(self) -> None:
        """End it; sanitizers and assertions show in the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(TIMEOUT) == 0
        if self.replays:
            command = [_replayer(), self.trace]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, done.stdout


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[Server]:
    """A CP whose control socket listens, nobody connected."""
    if not os.access(SERVER, os.X_OK):
        pytest.fail(f"{SERVER} is not built; run make check-harness")
    running = Server(tmp_path)
    try:
        running.connect().close()  # From now on it listens.
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()


@pytest.fixture(name="control")
def _control(server: Server) -> Iterator[Control]:
    """The same with one client."""
    with server.connect() as client:
        yield client
