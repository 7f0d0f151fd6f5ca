# SPDX-License-Identifier: MIT
"""The packages in a minimal Debian without compilers: installed, tried, and removed.

``check_deb.py --packages FOLDER`` does it, as root.  An ordinary user of that system runs the demo.  The
figures are those of a fresh machine, with what takes long because of the network apart.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from minimal import STEP_SECONDS, USER, Machine, machine

from zvmlab.base.errors import CannotRun, UsageError, ZvmlabError, exit_code
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.base.version import __version__

SUITE = "bookworm"
COMPILERS = ("gcc", "cc", "clang", "make", "ld", "as", "readelf", "s390x-linux-gnu-gcc", "ninja")


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
    if not shutil.which("autopkgtest"):
        raise CannotRun("this needs: apt-get install autopkgtest")
    log = folder.parent / "check-deb.log"
    log.unlink(missing_ok=True)
    names = [package.name for package in packages]
    with machine(SUITE, log, progress) as here:
        (here.root / "packages").mkdir()
        for package in packages:
            shutil.copy(package, here.root / "packages")
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
