# SPDX-License-Identifier: MIT
"""What checkpatch, sparse and the compiler's further warnings say, if base does not say it, too."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from zvmlab.base.cache import digest
from zvmlab.base.decided import keep, recall, state_of
from zvmlab.builder.buildstep import run_tool
from zvmlab.builder.modulebuild import Build
from zvmlab.verdict.applied import Applied, Files
from zvmlab.verdict.git import complaint, environment, run
from zvmlab.verdict.parts import Folder, is_document
from zvmlab.verdict.series import Series

CHECKPATCH_SECONDS = 120
MAKE_SECONDS = 300
_KIND = "try-warnings"
_SAID = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+): (?P<text>(?:ERROR|WARNING|CHECK):.*)$")
_WARNING = re.compile(r"^(?P<file>\S+?):(?P<line>\d+):(?:\d+:)? (?P<text>(?:warning|error): .*)$")


def checkpatch(series: Series, tree: Path, missing: list[str]) -> list[str]:
    """What the tree's own checkpatch says of each patch; *missing* gets a sentence if it cannot."""
    script = tree / "scripts" / "checkpatch.pl"
    if not script.is_file():
        missing.append(f"checkpatch: {tree.name} has no scripts/checkpatch.pl")
        return []
    if shutil.which("perl") is None:
        missing.append("checkpatch needs: apt-get install perl")
        return []
    said = []
    for patch in series.patches:
        argv = ["perl", str(script), "--strict", "--terse", "--no-summary", "--show-types"]
        argv += [f"--root={tree}", "-"]
        argv += [] if patch.mail is not None else ["--no-signoff"]
        text = patch.mail if patch.mail is not None else patch.diff
        env = environment() | {"HOME": "/nonexistent"}
        done = run(argv, tree, env, text, CHECKPATCH_SECONDS)
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        found = [one["text"] for one in map(_SAID.match, map(str.strip, lines)) if one is not None]
        said += [f"patch {patch.number}: {one}" for one in found]
        if done.returncode != 0 and not found:
            missing.append(f"checkpatch of patch {patch.number} failed: {complaint(done)}")
    return said


def new_warnings(
    applied: Applied, tree: Path, build: Build, kernel: str, missing: list[str]
) -> list[str]:
    """Warnings of sparse and of W=1 about touched sources that base does not have.

    *kernel* identifies the kernel that is built in the build's folder.  *missing* gets a sentence
    about what could not be looked at.
    """
    config = build.folder / "include/config/auto.conf"
    said: list[str] = []
    by_folder: dict[str, list[str]] = {}
    for name in applied.changed:
        path = PurePosixPath(name)
        if path.suffix == ".c" and applied.patched[name] is not None and not is_document(name):
            by_folder.setdefault(str(path.parent), []).append(path.name)
    if by_folder and shutil.which("sparse") is None:
        missing.append("sparse is not installed: apt-get install sparse")
    for name, sources in by_folder.items():
        folder = Folder(tree, name, config)
        if not folder.known:
            missing.append(f"no Makefile in {name}: W=1 and sparse were not tried")
            continue
        base, patched = (
            _known_warnings(folder, files, sources, build, kernel, missing)
            for files in (applied.base, applied.patched)
        )
        if base is not None and patched is not None:
            said += _only_new(base, patched)
    return said


def _only_new(base: Iterable[tuple[str, str]], patched: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Of what is said in other lines, too, only as much as is said more often."""
    left = Counter(text for _, text in base)
    for where, text in patched:
        left[text] -= 1
        if left[text] < 0:
            yield f"{where}: {text}"


def _known_warnings(
    folder: Folder,
    files: Files,
    sources: list[str],
    build: Build,
    kernel: str,
    missing: list[str],
) -> list[tuple[str, str]] | None:
    """_warnings(), which are the same for the same files."""
    parts: list[str | bytes] = [kernel, str(build.folder), folder.folder, folder.makefile, *sources]
    for name, data in sorted(folder.sources(files).items()):
        parts += [name, data]
    key = digest(*parts)
    sparse = shutil.which("sparse")
    state = state_of([Path(sparse)] if sparse is not None else [])
    answer = recall(_KIND, key, state)
    if isinstance(answer, list):
        return [(str(where), str(text)) for where, text in answer]
    found = _warnings(folder, files, sources, build, missing)
    if found is not None:
        keep(_KIND, key, state, found)
    return found


def _warnings(
    folder: Folder, files: Files, sources: list[str], build: Build, missing: list[str]
) -> list[tuple[str, str]] | None:
    """Place and text of each warning; None if the objects cannot be made alone."""
    there = folder.sources(files)
    objects = [f"{PurePosixPath(name).stem}.o" for name in sources if name in there]
    if not objects:
        return []
    with tempfile.TemporaryDirectory(prefix="zvmlab-static-") as scratch:
        work = Path(scratch, "work")
        folder.write(work, files, [name.removesuffix(".o") for name in objects])
        check = ["C=2"] if shutil.which("sparse") is not None else []
        argv = ["make", f"-j{len(os.sched_getaffinity(0))}", "-C", str(build.folder), f"M={work}"]
        env = _plain(build.environment())
        with build.kbuild_words(env) as words:
            argv += [*words, "W=1", *check, *objects]
            done = run_tool(f"W=1 in {folder.folder}", argv, MAKE_SECONDS, env)
        found = list(_read(done.stdout, folder.folder, sources))
        if done.returncode != 0 and not any(text.startswith("error: ") for _, text in found):
            missing.append(f"{folder.folder} alone cannot be built with W=1 C=2")
            return None
        return found


def _plain(env: Mapping[str, str]) -> dict[str, str]:
    """Without settings for make: KCFLAGS, W and others."""
    kept = ("PATH", "HOME", "TMPDIR", "LC_ALL")
    return {name: value for name, value in env.items() if name in kept}


def _read(said: str, folder: str, sources: list[str]) -> Iterator[tuple[str, str]]:
    for line in dict.fromkeys(said.splitlines()):
        found = _WARNING.match(line.strip())
        if found is not None and PurePosixPath(found["file"]).name in sources:
            file = f"{folder}/{PurePosixPath(found['file']).name}"
            yield f"{file}:{found['line']}", found["text"]
