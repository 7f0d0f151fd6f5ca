#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Behaves like the emulator as far as the harness can see, without any guest.

FAKE_MODE: "refuse" ends at once with a message, "deaf" opens no socket,
"silent" runs a guest that never says anything, "leave" closes its sockets instead of an
answer to query-version and ends a moment later, "panic" and "warn" let its kernel
report a crash, "exit" powers off, "term" ends as QEMU does after SIGTERM, "wait" enters a disabled wait, "die" is killed.
The same happens when the operator says PANIC, WARN, EXIT, WAIT or DIE.  FAKE_PIDFILE
receives the process id.
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
DISABLED_WAIT = {
    "event": "GUEST_PANICKED",
    "timestamp": {"seconds": 1, "microseconds": 0},
    "data": {
        "action": "poweroff",
        "info": {
            **{"type": "s390", "core": 0, "reason": "disabled-wait"},
            **{"psw-mask": 0x0002000180000000, "psw-addr": 0xDEAD},
        },
    },
}
REGISTERS = "\nCPU#0\nPSW=mask 0002000180000000 addr 000000000000dead cc 00\nC00=0\n"


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


def happen(mode: str, console: str, monitor: socket.socket | None) -> None:
    """The guest's fate."""
    with open(console, "a", encoding="ascii") as log:
        log.write({"panic": PANIC, "warn": WARNING}.get(mode, ""))
    if mode == "wait" and monitor is not None:
        monitor.sendall(json.dumps(DISABLED_WAIT).encode() + b"\r\n")
    if mode in ("exit", "wait"):
        sys.exit(0)
    if mode == "term":
        sys.stderr.write("qemu-system-s390x: terminating on signal 15 from pid 7 (kill)\n")
        sys.stderr.flush()
        sys.exit(0)
    if mode == "die":
        os.kill(os.getpid(), signal.SIGKILL)


def started(mode: str, console: str, monitor: socket.socket | None) -> None:
    """The machine was told to run."""
    if mode not in ("panic", "warn"):
        with open(console, "a", encoding="ascii") as log:
            log.write("[    0.100000] Linux version fake\n")
    happen(mode, console, monitor)


def answer(request: dict[str, Any], mode: str, console: str, monitor: socket.socket | None) -> Any:
    """The answer to a command."""
    if request["execute"] in ("cont", "machine-continue"):
        started(mode, console, monitor)
    if request["execute"] == "query-version" and mode == "leave":
        os.closerange(3, 100)
        time.sleep(0.3)
        os._exit(0)  # nothing that is closed already is closed once more
    if request["execute"] == "cp-command":
        happen(request["arguments"]["command"].lower(), console, monitor)
        return {"response": f"OK {request['arguments']['command']}\n", "rc": 0}
    if request["execute"] == "human-monitor-command":
        return REGISTERS
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
    monitor: socket.socket | None = None
    ready = selectors.DefaultSelector()
    for name, path in paths.items():
        ready.register(listen(path), selectors.EVENT_READ, name)
    while True:
        for key, _ in ready.select():
            assert isinstance(key.fileobj, socket.socket)
            if isinstance(key.data, str):
                client, _ = key.fileobj.accept()
                client.sendall(json.dumps(greetings[key.data]).encode() + b"\r\n")
                monitor = client if key.data == "qmp" else monitor
                ready.register(client, selectors.EVENT_READ, client.makefile("rb"))
                continue
            line = key.data.readline()
            if not line:
                ready.unregister(key.fileobj)
                continue
            request = json.loads(line)
            reply = {"return": answer(request, mode, console, monitor), "id": request["id"]}
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
