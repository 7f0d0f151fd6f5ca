# SPDX-License-Identifier: MIT
"""The kernel's own tools over driver/.

Compiler (W=1) and sparse for each kernel, kernel-doc, checkpatch.pl --strict and
the semantic patches that come with Linux.  Whatever one says is a finding, except
what driver/lint.txt gives a reason for; a reason that nothing needs is a finding,
too.  A clean result is remembered in the cache until a source changes.

``python3 -m zvmlab.builder.driverlint [KERNEL…]``
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import CannotRun, ZvmlabError, exit_code
from zvmlab.base.progress import Progress
from zvmlab.builder.buildstep import UNTAR, run_tool
from zvmlab.builder.linux_source import kernel_source
from zvmlab.builder.modulebuild import Build, build_folder, driver_source, run_make
from zvmlab.builder.kernels import resolve

KERNELS = ("bookworm", "trixie", "sid")
SCRIPTS_SUITE = "bookworm"
"""The suite whose kernel source the scripts are taken from."""
REASONS = "lint.txt"
TOOLS = {"spatch": "coccinelle", "sparse": "sparse", "perl": "perl"}
TOOL_SECONDS = 600
_SCRIPTS = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch", "coccicheck", "coccinelle")
_COMPILER = re.compile(r"^[^ ]*\b(mon_\w+\.[ch]:\d+:(?:\d+:)? (?:warning|error): .*)", re.MULTILINE)
_CHECKPATCH = re.compile(r"^.*?(mon_\w+\.[ch]|Kbuild|Makefile):(\d+): \w+:([A-Z_]+): (.*)$")


def _say(argv: list[str], cwd: Path, env: dict[str, str] | None = None) -> str:
    """Return a tool's output, whatever its exit code."""
    whole = {**os.environ, "LC_ALL": "C.UTF-8", **(env or {})}
    return run_tool(argv[0], argv, TOOL_SECONDS, whole, cwd).stdout


def _scripts(progress: Progress) -> Path:
    """The folder scripts/ of the kernel's source, as far as it is needed."""
    tarball = kernel_source(SCRIPTS_SUITE, progress)

    def unpack(folder: Path) -> None:
        parts = [f"linux-source-*/scripts/{name}" for name in _SCRIPTS]
        with progress.step(f"unpacking scripts of {tarball.name}"):
            _say([*UNTAR, str(tarball), "--strip-components=1", "--wildcards", *parts], folder)
        for name in _SCRIPTS:
            if not (folder / "scripts" / name).exists():
                raise CannotRun(f"{tarball} has no scripts/{name}")

    return entry("kernel-scripts", digest(str(tarball.parent.parent.parent), *_SCRIPTS), unpack)


def _compiled(build: Build, source: Path) -> Iterator[str]:
    """The compiler's and sparse's findings, kernel-doc's where the headers have it."""
    common = next(build.folder.parent.glob("linux-headers-*-common"))
    # Since 7.2 kbuild checks sparse itself first, with a script that Debian's headers lack.
    makefile = (common / "Makefile").read_text(encoding="utf-8")
    unable = "checker-valid.sh" in makefile and not (common / "scripts/checker-valid.sh").exists()
    variables = ["W=1"] if unable else ["W=1", "C=2", "CF=-D__CHECK_ENDIAN__ -Wcontext"]
    with tempfile.TemporaryDirectory(prefix="zvmlab-lint-") as scratch:
        work = Path(scratch) / "driver"
        shutil.copytree(source, work)
        yield from _COMPILER.findall(run_make(build, work, "modules", *variables))
    script = build.folder / "scripts" / "kernel-doc"
    if script.is_file() and "-Wall" in script.read_text(encoding="utf-8"):
        files = sorted(str(file) for file in source.glob("*.[ch]"))
        said = _say(["perl", str(script), "-none", "-Wall", *files], source)
        yield from (f"kernel-doc: {line}" for line in said.splitlines() if line)


def _reasons(source: Path) -> set[tuple[str, str]]:
    """File and type of what may be found."""
    lines = (source / REASONS).read_text(encoding="utf-8").splitlines()
    words = [line.split(None, 2) for line in lines if line.strip() and not line.startswith("#")]
    if any(len(word) < 3 for word in words):
        raise ZvmlabError(f"{source / REASONS}: a line is file, type and reason")
    return {(word[0], word[1]) for word in words}


def _checkpatch(scripts: Path, source: Path) -> Iterator[str]:
    """checkpatch's findings that have no reason, reasons that have no finding."""
    unused = allowed = _reasons(source)
    options = ("--strict", "--no-tree", "--no-summary", "--terse", "--show-types", "--file")
    files = [str(file) for file in sorted(source.glob("*.[ch]"))]
    argv = ["perl", str(scripts / "scripts" / "checkpatch.pl"), *options, *files]
    for line in _say(argv, scripts).splitlines():
        match = _CHECKPATCH.match(line)
        if not match:
            yield f"checkpatch: {line}"
            continue
        found = (match[1], match[3])
        unused = unused - {found}
        if found not in allowed:
            yield f"{match[1]}:{match[2]}: {match[3]}: {match[4]}"
    for file, kind in sorted(unused):
        yield f"{REASONS}: nothing in {file} needs the reason for {kind}"


def _coccinelle(scripts: Path, source: Path) -> Iterator[str]:
    """Run the semantic patches; return their reports."""
    env = {
        **{"MODE": "report", "KBUILD_EXTMOD": str(source), "srctree": ".", "objtree": "."},
        **{"LINUXINCLUDE": "", "V": "0", "C": "0", "J": str(len(os.sched_getaffinity(0)))},
    }
    said = _say(["bash", "scripts/coccicheck"], scripts, env)
    if said.count("--cocci-file") < 50:
        raise ZvmlabError(f"coccicheck did not run as expected: {said[-500:]}")
    for line in said.splitlines():
        if line.startswith(f"{source}/"):
            yield line.removeprefix(f"{source}/")


def lint(kernels: list[str], progress: Progress) -> None:
    """Raise ZvmlabError with all findings, if there are any."""
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if missing:
        raise CannotRun(f"checking driver/ needs: apt-get install {' '.join(missing)}")
    source = driver_source()
    builds = [build_folder(resolve(name, progress=progress), progress) for name in kernels]
    scripts = _scripts(progress)
    files = sorted(file for file in source.iterdir() if file.is_file())

    def check(folder: Path) -> None:
        findings: list[str] = []
        for name, build in zip(kernels, builds):
            with progress.step(f"driver/: compiler and sparse for {name}"):
                findings += [f"{line} ({name})" for line in _compiled(build, source)]
        with progress.step("driver/: checkpatch.pl"):
            findings += _checkpatch(scripts, source)
        with progress.step("driver/: semantic patches"):
            findings += _coccinelle(scripts, source)
        if findings:
            raise ZvmlabError("\n".join(["findings in driver/:", *findings]))
        (folder / "clean").touch()

    tools = [str(build) for build in builds] + [str(scripts)]
    names = [f"{file.name}:" for file in files]
    entry("driver-lint", digest(Path(__file__), *tools, *names, *files), check)


if __name__ == "__main__":
    sys.exit(exit_code(lambda: lint(sys.argv[1:] or list(KERNELS), Progress())))
