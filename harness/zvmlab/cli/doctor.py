# SPDX-License-Identifier: MIT
"""Report what this machine lacks, and how to install it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base import shipped
from zvmlab.base.cache import cache_root
from zvmlab.base.errors import CannotRun, ZvmlabError
from zvmlab.base.tree import TREE
from zvmlab.builder import herculesbuild, qemubuild
from zvmlab.guest.run_dir import SOCKET_PATH_MAX, run_root, running_systems
from zvmlab.guest.system_file import free_memory

PACKAGES = TREE / "ci" / "packages.txt"
NEEDED_GROUPS = ("run", "build")
# Of zvmlab out of a package, which comes with what is built.
SHIPPED_NEEDED = ("run",)
SHIPPED_GROUPS = ("run", "build", "hercules")
# Building QEMU takes about 1.2 GB, Debian's indexes and kernels about 0.5 GB.
CACHE_BYTES = 2 * 1024**3
# What a guest without a name of its own adds: "/g1a2b3c/console".
_SOCKET_ROOM = 20
_HERCULES_VERSION = re.compile(r"^Hercules Version (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Package:
    """A line of the package list; *names*: one of these is needed, Debian 12's is the first."""

    group: str
    names: tuple[str, ...]
    reason: str

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.names[0]


@dataclass(frozen=True)
class Finding:
    """One thing looked at; *remedy* is empty if nothing is wrong."""

    what: str
    state: str
    remedy: str = ""
    needed: bool = True

    @property
    def bad(self) -> bool:
        """Does it keep guests from running?"""
        return bool(self.remedy) and self.needed


def read_packages(path: Path = PACKAGES) -> list[Package]:
    """The list that ci/setup.sh installs from."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CannotRun(
            f"the package list {path} cannot be read ({error.strerror});"
            " run zvmlab from a complete clone or installation"
        ) from error
    fields = [line.split(None, 2) for line in lines if line.strip() and not line.startswith("#")]
    return [Package(group, tuple(names.split("|")), reason) for group, names, reason in fields]


def installed(names: Iterable[str]) -> set[str]:
    """The Debian packages that are installed, of these."""
    argv = ["dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package}\n", *names]
    try:
        listing = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    except FileNotFoundError as error:
        raise CannotRun(
            "this is not a Debian system (dpkg-query is missing);"
            f" use your own package manager to install what {PACKAGES} lists"
        ) from error
    words = (line.split() for line in listing.stdout.splitlines())
    return {word[1] for word in words if len(word) == 2 and word[0] == "ii"}


def _packages() -> list[Finding]:
    wanted = read_packages()
    try:
        there = installed(name for package in wanted for name in package.names)
    except CannotRun as error:
        return [Finding("Debian packages", "unknown", str(error))]
    findings = []
    groups = list(dict.fromkeys(package.group for package in wanted))
    needed: tuple[str, ...] = NEEDED_GROUPS
    if shipped.installed():
        groups, needed = [group for group in groups if group in SHIPPED_GROUPS], SHIPPED_NEEDED
    for group in groups:
        members = [package for package in wanted if package.group == group]
        missing = [package for package in members if there.isdisjoint(package.names)]
        if missing:
            state = "missing: " + ", ".join(f"{p.name} ({p.reason})" for p in missing)
            remedy = f"apt-get install {' '.join(package.name for package in missing)}"
            if not shipped.installed():
                remedy = f"ci/setup.sh {group}   or   {remedy}"
        else:
            state, remedy = f"all {len(members)} installed", ""
        findings.append(Finding(f"packages to {group}", state, remedy, needed=group in needed))
    return findings


def _python() -> Finding:
    state = "%d.%d.%d" % sys.version_info[:3]
    remedy = "" if sys.version_info >= (3, 11) else "Python 3.11 or later, as in Debian 12"
    return Finding("Python", state, remedy)


def _system() -> Finding:
    found = os.uname()
    state = f"{found.sysname}, {found.machine}"
    if found.sysname != "Linux":
        return Finding("system", state, "run it on Linux")
    tried = {herculesbuild.MACHINE: "", "aarch64": ": guests run in QEMU, not in Hercules"}
    return Finding("system", state + tried.get(found.machine, ": zvmlab was not tried on it"))


def _cache() -> list[Finding]:
    try:
        root = cache_root()
        if not os.access(root, os.W_OK | os.X_OK):
            return [Finding("cache", f"{root} is not writable", "set ZVMLAB_CACHE")]
        free = shutil.disk_usage(root).free
    except (ZvmlabError, OSError) as error:
        return [Finding("cache", str(error), "set ZVMLAB_CACHE")]
    came = shipped.find(qemubuild.qemu_entry(), qemubuild.ARTIFACT)
    built = bool(came) or (root / qemubuild.qemu_entry()).is_dir()
    findings = []
    state = f"{root}, {free / 1024**3:.1f} GiB free"
    remedy = ""
    if not built and free < CACHE_BYTES:
        remedy = "free 2 GiB, or set ZVMLAB_CACHE to another disk"
    findings.append(Finding("cache", state, remedy))
    state = "built" if built else "not built yet; zvmlab build does it in a few minutes"
    if came is not None:
        state = "came with the package zvmlab-qemu"
    findings.append(Finding("QEMU", state))
    return findings


def _hercules() -> Finding:
    """The second emulator, which guests can do without."""
    try:
        herculesbuild.check_machine()
    except CannotRun as error:
        return Finding("Hercules", str(error))
    try:
        program = herculesbuild.program()
        # Whatever it is asked, it says its version first.
        said = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        ).stdout
        name = herculesbuild.module_entry(herculesbuild.sources())
        module = cache_root() / name
    except CannotRun as error:
        return Finding("Hercules", str(error), "ci/setup.sh hercules", needed=False)
    match = _HERCULES_VERSION.search(said)
    version = match.group(1) if match is not None else "unknown"
    if version != herculesbuild.VERSION:
        state = f"{program} has version {version}, the module is for {herculesbuild.VERSION}"
        return Finding("Hercules", state, "install Debian 12's package hercules", needed=False)
    built = "module built" if module.is_dir() else "module not built yet; --backend hercules does"
    if shipped.find(name, herculesbuild.MODULE) is not None:
        built = "module came with the package zvmlab-hercules"
    return Finding("Hercules", f"{version}, {built}")


def _sockets() -> Finding:
    try:
        root = run_root()
        if not os.access(root, os.W_OK | os.X_OK):
            return Finding("run directory", f"{root} is not writable", "set ZVMLAB_RUN")
    except ZvmlabError as error:
        return Finding("run directory", str(error), "set ZVMLAB_RUN")
    if len(os.fsencode(root)) > SOCKET_PATH_MAX - _SOCKET_ROOM:
        return Finding("run directory", f"{root} is too long", "set ZVMLAB_RUN to a shorter path")
    return Finding("run directory", str(root))


def _systems() -> Finding:
    """What zvmlab up would meet: systems that are up, and the memory for another one."""
    try:
        up = [f"{system.name} (process {system.pid})" for system in running_systems()]
    except ZvmlabError:
        up = []  # _sockets() says why
    free = free_memory()
    room = "" if free is None else f"; {free >> 20} MiB are free for the storage of guests"
    return Finding("systems", f"{', '.join(up) or 'none'} up{room}", needed=False)


def examine() -> list[Finding]:
    """Look at everything a guest needs, and at what the tests need."""
    return [_system(), _python(), *_packages(), *_cache(), _hercules(), _sockets(), _systems()]


def report() -> bool:
    """Print the findings; True if guests can run here."""
    findings = examine()
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        mark = "MISSING" if finding.bad else "absent" if finding.remedy else "ok"
        print(f"{mark:8}{finding.what:{width + 2}}{finding.state}")
        if finding.remedy:
            print(f"{'':8}{'':{width + 2}}get it: {finding.remedy}")
    bad = [finding for finding in findings if finding.bad]
    print("guests can run here" if not bad else "guests cannot run here yet")
    return not bad
