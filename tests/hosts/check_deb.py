# SPDX-License-Identifier: MIT
"""The packages in a minimal Debian without compilers: installed, tried, and removed.

``check_deb.py --packages FOLDER`` unpacks a system that debootstrap has made (kept in zvmlab's cache), and changes
its root to it, in name spaces of its own: what is mounted and started there ends with this program.
An ordinary user of that system runs the demo.  The figures are those of a fresh machine, with
what takes long because of the network apart.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import CannotRun, UsageError, ZvmlabError, exit_code
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.base.version import __version__
from zvmlab.build.buildstep import run_step
from zvmlab.build.host_programs import host_arch
from zvmlab.build.packages import REACH, archive_uri

SUITE = "bookworm"
USER = "tester"
COMPILERS = ("gcc", "cc", "clang", "make", "ld", "as", "readelf", "s390x-linux-gnu-gcc", "ninja")
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

    def run(self, what: str, *argv: str, user: str = "root", beside: bool = False) -> list[str]:
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
            return list(run_step(what, words, self.root, self._log, STEP_SECONDS, env))

    def took(self, what: str, *argv: str, user: str = "root") -> tuple[Took, list[str]]:
        """How long that takes, and what it prints."""
        begun, used = time.monotonic(), _processor()
        said = self.run(what, *argv, user=user)
        return Took(time.monotonic() - begun, _processor() - used), said


def minimal(progress: Progress, log: Path) -> Path:
    """A tarball of Debian's smallest system, in the cache."""
    arch, uri = host_arch(), archive_uri()

    def build(folder: Path) -> None:
        root = folder / "root"
        argv = ["debootstrap", "--variant=minbase", f"--arch={arch}", SUITE, str(root), uri]
        with progress.step(f"making a minimal Debian ({SUITE})") as step:
            for number, _ in enumerate(run_step("debootstrap", argv, folder, log, STEP_SECONDS), 1):
                step.update(number)
        pack = ["tar", "-C", str(root), "--one-file-system", "-cf", str(folder / "root.tar"), "."]
        subprocess.run(pack, check=True, timeout=STEP_SECONDS)
        shutil.rmtree(root)

    return entry("minimal", digest("minbase", SUITE, arch, uri), build, "root.tar")


@contextlib.contextmanager
def machine(packages: Sequence[Path], log: Path, progress: Progress) -> Iterator[Machine]:
    """The system with the packages in /packages; it is removed afterwards."""
    tarball = minimal(progress, log)
    root = Path(tempfile.mkdtemp(prefix="zvmlab-check-deb-"))
    try:
        subprocess.run(["tar", "-C", root, "-xf", tarball], check=True, timeout=STEP_SECONDS)
        (root / "packages").mkdir()
        for package in packages:
            shutil.copy(package, root / "packages")
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


def _must_say(lines: Sequence[str], text: str, what: str) -> None:
    if not any(text in line for line in lines):
        raise ZvmlabError(f"{what} does not say {text!r}, but: {''.join(lines[-5:]).strip()}")


def _without_compilers(here: Machine) -> None:
    script = f"for name in {' '.join(COMPILERS)}; do command -v $name; done; true"
    found = here.run("looking for compilers", "sh", "-c", script)
    if found:
        raise ZvmlabError(f"the packages have brought compilers: {' '.join(found)}")


def fresh(here: Machine, names: Sequence[str]) -> list[str]:
    """From a minimal machine to the demo's end; what that took."""
    apt = ("apt-get", "-q", "-y")
    files = [f"/packages/{name}" for name in names]
    lists, _ = here.took("renewing apt's lists", *apt, "update")
    what = "fetching what the packages need"
    fetched, _ = here.took(what, *apt, "install", "--download-only", *files)
    installed, _ = here.took("installing the packages", *apt, "install", *files)
    _without_compilers(here)
    doctor = here.run("asking the doctor", "zvmlab", "doctor", user=USER)
    _must_say(doctor, "came with the package zvmlab-qemu", "zvmlab doctor")
    _must_say(doctor, "guests can run here", "zvmlab doctor")
    kernel, _ = here.took("fetching a kernel", "zvmlab", "fetch", user=USER)
    took, demo = here.took("running the demo", "zvmlab", "demo", user=USER)
    _must_say(demo, "20 data sets", "the demo")
    _must_say(demo, "all equal to what CP stored", "the demo")
    return [
        f"installing the packages: {installed}; the demo: {took}",
        f"from a fresh machine to the demo's end: {installed + took}",
        f"and for what came through the network: {lists + fetched} what the packages need,"
        f" {kernel} the kernel",
    ]


def rest(here: Machine) -> None:
    """What else must work without a compiler, and what needs one and says so."""
    run = ("zvmlab", "run")
    said = here.run(
        "running dmmon in a guest", *run, "--tool", "dmmon", "--", "dmmon", "--version", user=USER
    )
    _must_say(said, f"dmmon {__version__}", "dmmon in a guest")
    said = here.run("replaying a trace", "sh", "-c",
                    "cd && zvmlab run --trace-data full --keep kept -- true && zvmlab replay kept/trace.jsonl; echo ended with $?",
                    user=USER)  # fmt: skip
    _must_say(said, "ended with 0", "zvmlab replay")
    script = "cd; zvmlab run --driver zvmlab -- true; echo ended with $?"
    said = here.run("asking for a module", "sh", "-c", script, user=USER)
    _must_say(said, "needs: apt-get install make patchelf", "without make, zvmlab")
    _must_say(said, "ended with 77", "without make, zvmlab")
    if any((here.root / "usr/lib/zvmlab/artifacts").glob("hercules-module-*")):
        what = "running the demo in Hercules"
        said = here.run(what, "zvmlab", "demo", "--backend", "hercules", "--sets", "3", user=USER)
        _must_say(said, "all equal to what CP stored", "the demo in Hercules")
    for tool in ("monread", "taskmon", "dmmon"):
        said = here.run(f"asking {tool} for its version", tool, "--version", user=USER)
        _must_say(said, f"{tool} {__version__}", tool)


def autopkgtest(here: Machine, packages: Sequence[Path]) -> None:
    """debian/tests, by the program that Debian runs them with."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            TREE / "debian", Path(folder, "debian"), ignore=shutil.ignore_patterns("build")
        )
        Path(folder, "lib/monrec").mkdir(parents=True)
        shutil.copy(TREE / "lib/monrec/example.c", Path(folder, "lib/monrec"))
        argv = ["autopkgtest", "--no-built-binaries", *map(str, packages), folder]
        here.run("running debian/tests", *argv, "--", "chroot", str(here.root), beside=True)


def all_and_none(here: Machine, names: Sequence[str], progress: Progress) -> None:
    """All packages fit beside each other, the driver's source is whole, and nothing is left behind."""
    apt = ("apt-get", "-q", "-y")
    files = [f"/packages/{name}" for name in names]
    what = "installing all, the driver with DKMS among them"
    here.run(what, *apt, "install", "--no-install-recommends", *files)
    _must_say(here.run("asking DKMS", "dkms", "status"), f"monreader/{__version__}", "dkms status")
    source = here.root / "usr/src" / f"monreader-{__version__}"
    with progress.step("building the driver from its package, for a guest"):
        argv = [str(TREE / "zvmlab"), "module", "build", str(source), "--kernel", SUITE]
        subprocess.run(argv, check=True, capture_output=True, timeout=STEP_SECONDS)
    here.run("removing all", *apt, "purge", *(name.partition("_")[0] for name in names))
    for path in ("usr/lib/zvmlab", "usr/lib/python3/dist-packages/zvmlab", "usr/bin/zvmlab"):
        if os.path.lexists(here.root / path):
            raise ZvmlabError(f"/{path} is left after all packages have been removed")


def check(folder: Path, progress: Progress) -> None:
    """All of it; ZvmlabError for the first thing that is not as it should be."""
    packages = sorted(path for path in folder.glob("*.deb") if "-dbgsym_" not in path.name)
    if not packages:
        raise UsageError(f"{folder} has no packages; 'make deb' builds them")
    if os.geteuid() != 0:
        raise CannotRun("only root can change its root to another system; run it with sudo")
    missing = [name for name in ("debootstrap", "autopkgtest") if not shutil.which(name)]
    if missing:
        raise CannotRun(f"this needs: apt-get install {' '.join(missing)}")
    log = folder.parent / "check-deb.log"
    log.unlink(missing_ok=True)
    names = [package.name for package in packages]
    with machine(packages, log, progress) as here:
        # DKMS, and what belongs to a library's developers, are for machines with compilers.
        figures = fresh(
            here, [name for name in names if "-dkms_" not in name and "-dev_" not in name]
        )
        for line in figures:
            print(line, flush=True)
        rest(here)
        autopkgtest(here, packages)
        all_and_none(here, names, progress)


def main(words: Sequence[str]) -> None:
    """Check the packages of a folder."""
    options = argparse.ArgumentParser(allow_abbrev=False)
    options.add_argument("--packages", type=Path, default=TREE / "build/deb", metavar="FOLDER")
    check(options.parse_args(words).packages.absolute(), Progress())


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:]), "make check-deb"))
