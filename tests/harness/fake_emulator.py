#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Behaves like the emulator as far as the harness can see, without any guest.

FAKE_MODE: "refuse" ends at once with a message, "deaf" opens no socket,
"silent" runs a guest that never says anything, "panic" and "warn" let its kernel
report an accident, "exit" powers off, "die" is killed.  FAKE_PIDFILE receives the
process id.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import sys
import time
from typing import Any

PANIC = "[    1.000000] Kernel panic - not syncing: fake\n[    1.000001] CPU: 0 PID: 1\n"
WARNING = "[    1.000000] WARNING: CPU: 0 PID: 9 at fake.c:1 fake+0x0/0x8\n"


def option(name: str, key: str) -> str:
    """A value in one of QEMU's key=value lists."""
    for text in (b for a, b in zip(sys.argv, sys.argv[1:]) if a == name):
        for word in text.split(","):
            if word.startswith(f"{key}="):
                return word[len(key) + 1 :]
    raise SystemExit(f"no {key} in {name}")


def listen(path: str) -> socket.socket:
    """A listening socket."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    return server


def started(mode: str, console: str) -> None:
    """The machine was told to run."""
    text = {"panic": PANIC, "warn": WARNING}.get(mode, "[    0.100000] Linux version fake\n")
    with open(console, "a", encoding="ascii") as log:
        log.write(text)
    if mode == "exit":
        sys.exit(0)
    if mode == "die":
        os.kill(os.getpid(), signal.SIGKILL)


def answer(request: dict[str, Any], mode: str, console: str) -> Any:
    """What a command returns."""
    if request["execute"] == "cont":
        started(mode, console)
    if request["execute"] == "cp-command":
        return {"response": f"OK {request['arguments']['command']}\n", "rc": 0}
    return {}


def serve(mode: str) -> None:
    """Both sockets until killed."""
    greetings = {
        "control": {"zvmlab": {"version": "0", "capabilities": []}},
        "qmp": {"QMP": {"version": {"qemu": {"major": 7, "minor": 2, "micro": 0}}}},
    }
    console = option("-chardev", "path")
    qmp = next(b for a, b in zip(sys.argv, sys.argv[1:]) if a == "-qmp")
    paths = {"control": option("-object", "control"), "qmp": qmp.split(",")[0][len("unix:") :]}
    ready = selectors.DefaultSelector()
    for name, path in paths.items():
        ready.register(listen(path), selectors.EVENT_READ, name)
    while True:
        for key, _ in ready.select():
            assert isinstance(key.fileobj, socket.socket)
            if isinstance(key.data, str):
                client, _ = key.fileobj.accept()
                client.sendall(json.dumps(greetings[key.data]).encode() + b"\r\n")
                ready.register(client, selectors.EVENT_READ, client.makefile("rb"))
                continue
            line = key.data.readline()
            if not line:
                ready.unregister(key.fileobj)
                continue
            request = json.loads(line)
            reply = {"return": answer(request, mode, console), "id": request["id"]}
            key.fileobj.sendall(json.dumps(reply).encode() + b"\r\n")


def main() -> None:
    """See above."""
    mode = os.environ["FAKE_MODE"]
    if "FAKE_PIDFILE" in os.environ:
        with open(os.environ["FAKE_PIDFILE"], "w", encoding="ascii") as file:
            file.write(str(os.getpid()))
    if mode == "refuse":
        sys.exit("fake: zvmlab-cp: no such option")
    if mode == "deaf":
        time.sleep(1000)
    serve(mode)


if __name__ == "__main__":
    main()
