# SPDX-License-Identifier: MIT
"""Hosts on this machine: each has a network, processes and a work folder of its own, and sshd.

    with hosts(folder, tree, names=("host-1", "host-2")) as (first, second):
        subprocess.run([*first.ssh, "hostname"])

What is a folder on the host is another one outside: the host has its clone of the tree where this machine
has its own.  kill() takes the power away: nothing that runs there goes on, and no connection is closed.
Only root can make them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import cache_root
from zvmlab.base.errors import CannotRun, Timeout, ZvmlabError

SECONDS = 120
# For benchmarks of networks: no other network has these.
_ADDRESS = "198.18.77"
_SSHD = """\
Port 22
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
PasswordAuthentication no
PermitRootLogin prohibit-password
UsePAM no
StrictModes no
SetEnv ZVMLAB_CACHE={cache}
"""
_SSH = """\
Host {name}
    HostName {address}
    User root
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    LogLevel ERROR
    BatchMode yes
    ConnectTimeout 5
    ServerAliveInterval 2
    ServerAliveCountMax 3
"""
# The first process there: with it, all others end.
_ENTER = """set -e
mount --make-rprivate /
mount --bind "$1" "$2"
mount -t proc proc /proc
mkdir -p /run/sshd
exec /usr/sbin/sshd -D -e -f "$3"
"""


def run(*argv: str | Path, seconds: float = SECONDS) -> str:
    """What a command prints; ZvmlabError if it fails."""
    words = [str(word) for word in argv]
    done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode:
        raise ZvmlabError(f"{' '.join(words)} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


@dataclass
class Host:
    """One of them, while it runs."""

    name: str
    address: str
    outer: str
    """This machine's end of the link, and the name of the network there."""
    tree: Path
    """Where its work folder is outside."""
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """Take its power away: first the cable, for nobody to hear how the rest ends."""
        run("ip", "link", "set", "dev", self.outer, "down")
        self.end()

    def end(self) -> None:
        """With all that runs there."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait(SECONDS)


def _require() -> None:
    if os.geteuid() != 0:
        raise CannotRun("only root can make hosts with networks of their own; run it with sudo")
    for program, package in (
        ("ip", "iproute2"),
        ("ssh", "openssh-client"),
        ("/usr/sbin/sshd", "openssh-server"),
        ("rsync", "rsync"),
        ("parallel", "parallel"),
    ):
        if not shutil.which(program):
            raise CannotRun(f"this needs: apt-get install {package}")


def _keys(folder: Path) -> None:
    for name in ("host_key", "user_key"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name)
    text = _SSHD.format(folder=folder, cache=cache_root())
    (folder / "sshd_config").write_text(text, encoding="utf-8")


def _network(name: str, number: int) -> str:
    """A network of that name, one link to it; the address of its end."""
    run("ip", "netns", "add", name)
    run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
    run("ip", "address", "add", f"{_ADDRESS}.{4 * number + 1}/30", "dev", name)
    run("ip", "link", "set", "dev", name, "up")
    inside = ("ip", "-n", name)
    run(*inside, "address", "add", f"{_ADDRESS}.{4 * number + 2}/30", "dev", "eth0")
    for device in ("lo", "eth0"):
        run(*inside, "link", "set", "dev", device, "up")
    return f"{_ADDRESS}.{4 * number + 2}"


def _start(folder: Path, tree: Path, own: Path, space: str) -> subprocess.Popen[bytes]:
    argv = ["ip", "netns", "exec", space, "unshare", "--mount", "--pid", "--fork", "--kill-child"]
    argv += ["sh", "-c", _ENTER, "sh", str(own), str(tree), str(folder / "sshd_config")]
    with open(folder / f"{space}.log", "wb") as log:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def _wait(host: Host, ssh: Sequence[str]) -> None:
    end = time.monotonic() + SECONDS
    while True:
        argv = [*ssh, host.name, "true"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode == 0:
            return
        if time.monotonic() > end or host.process.poll() is not None:
            raise Timeout(f"no sshd answers on {host.name}: {done.stderr.strip()}")


def ssh_of(folder: Path) -> list[str]:
    """The ssh that knows the hosts by their names."""
    return ["ssh", "-F", str(folder / "ssh_config")]


@contextlib.contextmanager
def hosts(folder: Path, tree: Path, names: Sequence[str]) -> Iterator[list[Host]]:
    """Hosts that have a copy of *tree* each, in its place; *folder* has keys and logs."""
    _require()
    folder.mkdir()
    _keys(folder)
    key = (folder / "host_key.pub").read_text(encoding="utf-8")
    found: list[Host] = []
    made: list[str] = []
    try:
        for number, name in enumerate(names):
            space = f"zl{os.getpid()}h{number + 1}"
            made.append(space)
            address = _network(space, number)
            own = folder / name
            shutil.copytree(tree, own, symlinks=True)
            with open(folder / "known_hosts", "a", encoding="utf-8") as known:
                known.write(f"{address} {key}")
            with open(folder / "ssh_config", "a", encoding="utf-8") as config:
                config.write(_SSH.format(name=name, address=address, folder=folder))
            host = Host(name, address, space, own, _start(folder, tree, own, space))
            found.append(host)
            _wait(host, ssh_of(folder))
        yield found
    finally:
        for host in found:
            host.end()
        for space in made:
            # With its end of the link, the other one is gone.
            subprocess.run(["ip", "netns", "delete", space], capture_output=True, check=False)
