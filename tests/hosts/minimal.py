# SPDX-License-Identifier: MIT
"""A minimal Debian in a folder, as the machine that somebody begins with.

    with machine("trixie", log, progress) as here:
        here.run("asking for its name", "cat", "/etc/debian_version")

debootstrap makes the system once for each release; the cache keeps it.  Programs run in it with their root
changed to a copy, in name spaces of their own: what is mounted and started there ends with them.
Only root can do that.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import CannotRun
from zvmlab.base.progress import Progress
from zvmlab.builder.buildstep import run_step
from zvmlab.builder.host_programs import host_arch
from zvmlab.builder.packages import REACH, archive_uri

USER = "tester"
STEP_SECONDS = 1800
# What of this machine's devices programs may expect.
_ENTER = """set -e
mount -t proc proc "$1/proc"
mount -t tmpfs -o mode=755 tmpfs "$1/dev"
for device in null zero full random urandom tty; do
    : >"$1/dev/$device"
    mount --bind "/dev/$device" "$1/dev/$device"
done
mkdir "$1/dev/pts" "$1/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$1/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
ln -s pts/ptmx "$1/dev/ptmx"
ln -s /proc/self/fd "$1/dev/fd"
"""
# The shell stays, as the first process there: it reaps what others leave.
_CHROOT = 'root=$1; shift; chroot "$root" "$@"; exit $?'
# This machine's programs, which use that system themselves.
_BESIDE = 'shift; "$@"; exit $?'


@dataclass(frozen=True)
class Took:
    """Seconds by the clock and by the processors: on a busy machine the first says little."""

    clock: float
    processor: float

    def __add__(self, other: Took) -> Took:
        return Took(self.clock + other.clock, self.processor + other.processor)

    def __str__(self) -> str:
        return f"{self.clock:.1f} s ({self.processor:.1f} s of processors)"


def _processor() -> float:
    """What ended children of this process have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Machine:
    """The minimal system, and a log of what it says."""

    def __init__(self, root: Path, log: Path, progress: Progress) -> None:
        self.root = root
        self._log = log
        self._progress = progress

    def run(
        self,
        what: str,
        *argv: str,
        user: str = "root",
        beside: bool = False,
        seconds: int = STEP_SECONDS,
    ) -> list[str]:
        """What a command prints; ZvmlabError if it fails.  *what* is shown and named."""
        if user != "root":
            argv = ("setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", *argv)
        home = "/root" if user == "root" else f"/home/{user}"
        path = "/usr/sbin:/usr/bin:/sbin:/bin"
        env = {"HOME": home, "PATH": path, "DEBIAN_FRONTEND": "noninteractive"}
        if beside:
            env = {**os.environ, **env}
        script = _ENTER + (_BESIDE if beside else _CHROOT)
        spaces = ["unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child"]
        words = [*spaces, "sh", "-c", script, "sh", str(self.root), *argv]
        with self._progress.step(what):
            return list(run_step(what, words, self.root, self._log, seconds, env))

    def took(
        self, what: str, *argv: str, user: str = "root", seconds: int = STEP_SECONDS
    ) -> tuple[Took, list[str]]:
        """How long that takes, and what it prints."""
        begun, used = time.monotonic(), _processor()
        said = self.run(what, *argv, user=user, seconds=seconds)
        return Took(time.monotonic() - begun, _processor() - used), said


def _minimal(suite: str, progress: Progress, log: Path) -> Path:
    """A tarball of Debian's smallest system, in the cache."""
    arch, uri = host_arch(), archive_uri()

    def build(folder: Path) -> None:
        root = folder / "root"
        argv = ["debootstrap", "--variant=minbase", f"--arch={arch}", suite, str(root), uri]
        with progress.step(f"making a minimal Debian ({suite})") as step:
            for number, _ in enumerate(run_step("debootstrap", argv, folder, log, STEP_SECONDS), 1):
                step.update(number)
        pack = ["tar", "-C", str(root), "--one-file-system", "-cf", str(folder / "root.tar"), "."]
        subprocess.run(pack, check=True, timeout=STEP_SECONDS)
        shutil.rmtree(root)

    return entry("minimal", digest("minbase", suite, arch, uri), build, "root.tar")


@contextlib.contextmanager
def machine(suite: str, log: Path, progress: Progress) -> Iterator[Machine]:
    """A system of that release with an ordinary user; it is removed afterwards."""
    if os.geteuid() != 0:
        raise CannotRun("only root can change its root to another system; run it with sudo")
    if not shutil.which("debootstrap"):
        raise CannotRun("this needs: apt-get install debootstrap")
    tarball = _minimal(suite, progress, log)
    root = Path(tempfile.mkdtemp(prefix="zvmlab-host-"))
    try:
        subprocess.run(["tar", "-C", root, "-xf", tarball], check=True, timeout=STEP_SECONDS)
        root.chmod(0o755)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", root / "etc" / name)
        dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True)
        reach = [line for line in dump.stdout.splitlines() if line.startswith(REACH)]
        conf = root / "etc/apt/apt.conf.d/00reach"
        conf.write_text("".join(f"{line}\n" for line in reach), encoding="utf-8")
        found = Machine(root, log, progress)
        found.run("adding a user", "useradd", "--create-home", "--user-group", USER)
        yield found
    finally:
        # Nothing is mounted here: that was in name spaces which are gone.
        shutil.rmtree(root, ignore_errors=True)
