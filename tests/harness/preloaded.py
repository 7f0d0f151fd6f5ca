# SPDX-License-Identifier: MIT
"""Runs of pytest one after the other in a process of their own, which has imported what they need.

A fresh Python needs most of a second of CPU time for what pytest, its plugins and ours import, and
most tests of the plugin take a tenth of that.  What a run has changed is as before for the next one:
modules and what is in them, environment, folder, files 1 and 2.  A process that cannot be as before,
because a thread is left, or that a run has ended, is not used again.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

HARNESS = Path(__file__).resolve().parents[2] / "harness"
# What a run imports later than its plugins.
LATE = ("execnet", "jinja2", "xdist.dsession", "xdist.workermanage")
OURS = "zvmlab"
_MESSAGE = 1 << 20
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)


class Ran(NamedTuple):
    """What became of a run: exit code (negative: that signal), and what it wrote."""

    code: int
    out: str
    err: str
    seconds: float


class Preloaded:
    """The process that runs pytest, from the side of who asks it to."""

    def __init__(self) -> None:
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            # A session of its own, so that all of a run can be ended.
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(other.fileno())],
                env={**os.environ, "PYTHONPATH": str(HARNESS)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                start_new_session=True,
            )
        self.usable = True

    def run(self, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> Ran:
        """Run pytest in *folder* until it ends."""
        began = time.monotonic()
        order = {"folder": str(folder), "arguments": list(arguments), "environ": dict(environment)}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            text = json.dumps(order).encode()
            socket.send_fds(self._socket, [text], [out.fileno(), err.fileno()])
            answer = b""
            with suppress(ConnectionResetError):
                answer = self._socket.recv(_MESSAGE)
            if answer:
                code, self.usable = json.loads(answer)
            else:
                code, self.usable = self._process.wait(), False
            said = []
            for file in (out, err):
                file.seek(0)
                said.append(file.read().decode("utf-8", "replace"))
        return Ran(code, said[0], said[1], time.monotonic() - began)

    def close(self) -> None:
        """End it, with a run that has not ended."""
        self._socket.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@functools.cache
def _of_this_process() -> Preloaded:
    return Preloaded()


def _close() -> None:
    if _of_this_process.cache_info().currsize:
        _of_this_process().close()
        _of_this_process.cache_clear()


atexit.register(_close)


def run_pytest(folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> Ran:
    """Run pytest in *folder*, in another process."""
    usable = False  # such as after a time limit, in the midst of a run
    try:
        ran = _of_this_process().run(folder, arguments, environment)
        usable = _of_this_process().usable
    finally:
        if not usable:
            _close()
    return ran


def _import_all() -> None:
    """By a run that has no test: pytest wants to import plugins itself."""
    import pytest

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        options = ["-p", "zvmlab.pytest_plugin", "-p", "no:cacheprovider", "--collect-only", "-q"]
        code = pytest.main([*options, "--rootdir", folder, folder])
        os.chdir("/")
    assert code == pytest.ExitCode.NO_TESTS_COLLECTED, code
    for name in LATE:
        with suppress(ImportError):
            importlib.import_module(name)


class Before:
    """The state of this process that a run begins with."""

    def __init__(self) -> None:
        self._path = list(sys.path)
        self._hooks = list(sys.meta_path)
        self._modules = dict(sys.modules)
        self._contents = {
            module: dict(vars(module)) for name, module in self._modules.items() if _is_ours(name)
        }
        self._signals = {number: signal.getsignal(number) for number in _SIGNALS}
        self._streams = sys.stdout, sys.stderr

    def come_back(self) -> bool:
        """As far as that goes; False if another process is needed."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._signals.items():
            signal.signal(number, handler)
        sys.path[:], sys.meta_path[:] = self._path, self._hooks
        sys.stdout, sys.stderr = self._streams
        for name in sys.modules.keys() - self._modules.keys():
            if not _is_installed(sys.modules[name]):
                del sys.modules[name]
        sys.modules.update(self._modules)
        for module, contents in self._contents.items():
            vars(module).clear()
            vars(module).update(contents)
            for value in contents.values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
        os.chdir("/")
        gc.collect()
        return threading.active_count() == 1


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] == OURS


def _is_installed(module: ModuleType | None) -> bool:
    """Python's, or a library's: what it has become is no test's doing."""
    file = Path(getattr(module, "__file__", None) or "/")
    places = (sys.prefix, sys.base_prefix)
    return not file.is_relative_to(HARNESS) and any(file.is_relative_to(one) for one in places)


def _run(order: bytes, files: Sequence[int]) -> int:
    """What a fresh "python3 -m pytest" would do."""
    import pytest

    wanted: dict[str, Any] = json.loads(order)
    os.chdir(wanted["folder"])
    os.environ.clear()
    os.environ.update(wanted["environ"])
    sys.path[0] = wanted["folder"]
    sys.argv = ["pytest", *wanted["arguments"]]
    kept = [os.dup(1), os.dup(2)]
    for number, file in enumerate(files, 1):
        os.dup2(file, number)
        os.close(file)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.FileIO(number, "w", closefd=False), "utf-8", write_through=True)
        for number in (1, 2)
    )
    try:
        return int(pytest.main())
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    finally:
        for number, file in enumerate(kept, 1):
            os.dup2(file, number)
            os.close(file)


def _serve(place: socket.socket) -> None:
    """One run after the other, until nobody asks any more."""
    before, usable = Before(), True
    while usable:
        order, files, _, _ = socket.recv_fds(place, _MESSAGE, 2)
        if not order:
            return
        code = _run(order, files)
        usable = before.come_back()
        with suppress(BrokenPipeError):  # who has asked is gone
            place.send(json.dumps([code, usable]).encode())


if __name__ == "__main__":
    _import_all()
    _serve(socket.socket(fileno=int(sys.argv[1])))
