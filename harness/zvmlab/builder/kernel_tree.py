# SPDX-License-Identifier: MIT
"""Kernels from a source tree: configured and built outside of it, and only what has changed.

    kernel = tree_kernel(tree_name("~/linux:debug"), progress, debian_config)

The cache has for each tree and configuration a folder in which make works:

    linux-build-KEY/out        O= of kbuild
    linux-build-KEY/build.log  of the last build
    linux-build-KEY/lines      objects with numbers of lines (object_lines.py)
    linux-build-KEY/state      what was built last
    linux-build-KEY/files      what was in the tree's files then
    linux-build-KEY/begun      make is at work, or was when it was killed: since which boot of
                               this machine

and for each state that was built an entry linux-built-KEY-…, laid out as a kernel package is, so that
a guest's kernel stays as it is when its tree is built again.  The newest of them are kept, and
those that a process uses.

What is compiled follows from what is in the files.  make goes by their times, and is helped where
those mislead it (tree_objects.py).
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from zvmlab.base import manifest
from zvmlab.base.cache import cache_root, digest, entries, entry, locked_within, usable
from zvmlab.base.errors import CannotRun, StepFailed, UsageError
from zvmlab.base.home import from_home
from zvmlab.base.owned import discard, is_ours, mark
from zvmlab.base.progress import Progress
from zvmlab.base.signature import signature
from zvmlab.builder.buildstep import Ending, first_error
from zvmlab.builder.kbuild import (
    BUILD_SECONDS,
    CONFIG_SECONDS,
    MAKE,
    TARGETS,
    cpus,
    need_tools,
    steps,
)
from zvmlab.builder.kernel import Kernel, unpacked
from zvmlab.builder.linux_files import GCOV, counting, keep_notes, linux_files
from zvmlab.builder.linux_source import source_tree
from zvmlab.builder.tree_config import Wanted, judge, wanted
from zvmlab.builder.tree_copy import BEGUN, ORIGINS, Taken, built_in, take
from zvmlab.builder.tree_name import COVERAGE_WORD, FULL, MINIMAL, TreeName, check_tree
from zvmlab.builder.tree_notes import FILES, STATE, last_build, last_files, write_note
from zvmlab.builder.tree_objects import (
    all_files,
    is_makefile,
    older,
    remove_outdated,
    remove_unfinished,
)
from zvmlab.builder.tree_state import (
    Changes,
    Files,
    TreeState,
    changes,
    hash_of,
    read_files,
    tree_state,
    without,
)

LOCK_SECONDS = 3600
ENDING_SECONDS = 60.0
UNWRITTEN_SECONDS = 120
"""What was written so long before a machine crashed may not be on its disk."""
KEPT = 4
"""So many states of a tree stay in the cache."""
BUILD_BYTES = {
    (MINIMAL, False): 256 << 20,
    (MINIMAL, True): 384 << 20,
    (FULL, False): 1700 << 20,
    (FULL, True): 2800 << 20,
}
"""
A first build by its configuration, with checks or without, and its kernel take about so much;
with a configuration of the user's no less than with the minimal one.
"""
_CERTIFICATES = "CONFIG_SYSTEM_TRUSTED_KEYRING"
_OPENSSL = Path("/usr/include/openssl/bio.h")
_NO_SPACE = "No space left on device"
_FIRST_LINES = {MINIMAL: 1300, FULL: 17600}
"""What make says of a first build, for the progress bar only."""
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_BOOT = (("arch/s390/boot/bzImage", "vmlinuz"), (".config", "config"), ("System.map", "System.map"))

_built: dict[TreeName, Kernel] = {}
_used: dict[Path, int] = {}
"""Entries that this process uses: open folders, locked."""


def tree_kernel(name: TreeName, progress: Progress, debian_config: Callable[[str], str]) -> Kernel:
    """The kernel of that tree, built if anything has changed; in one process it stays the same.

    *debian_config* gives the configuration of Debian's kernel that is nearest to a series.
    """
    found = _built.get(name)
    if found is None or not found.image.exists():
        found = _built[name] = _Build(name, progress, debian_config).kernel()
    return found


@contextlib.contextmanager
def at_work(kernel: Kernel, progress: Progress) -> Iterator[None]:
    """Nobody builds the kernel's tree meanwhile, and that is at its state; UsageError if not.

    Of a kernel that is not from a tree there is nothing to wait for.
    """
    if kernel.work is None:
        yield
        return
    with locked_within(kernel.work.name, LOCK_SECONDS, str(kernel), progress.say):
        if last_build(kernel.work).get("entry") != kernel.image.parent.parent.name:
            raise _other(kernel, "has been built again meanwhile")
        _check_contents(kernel)
        yield
        _check_contents(kernel)


def _other(kernel: Kernel, what: str) -> UsageError:
    return UsageError(
        f"the tree of kernel {kernel} {what}, so that nothing"
        " can be built for this state of it any more; start again"
    )


def contents_of(kernel: Kernel) -> str:
    """Hash of what was in the tree that a kernel was built of; "" if it is not from a tree."""
    return "" if kernel.work is None else last_build(kernel.work).get("contents", "")


def _check_contents(kernel: Kernel) -> None:
    """UsageError if a kernel's tree is not as it was when it was built."""
    assert kernel.work is not None
    noted = last_build(kernel.work)
    tree = Path(noted["tree"])
    state = tree_state(tree)
    if state.all and noted["state"] == state.all:
        return
    if hash_of(read_files(tree, state, last_files(kernel.work))) != noted["contents"]:
        raise _other(kernel, "has been changed meanwhile")


class _Build:
    """The build of one tree with one configuration."""

    def __init__(
        self, name: TreeName, progress: Progress, debian_config: Callable[[str], str]
    ) -> None:
        self._name = name
        self._progress = progress
        if name.series is not None:
            self._tree, _ = source_tree(name.series, progress)
        else:
            self._tree = from_home(name.place).resolve()
        series = check_tree(self._tree)
        self._shown = name.short
        self._what = f"building {self._shown}"
        self._counted = self._sources() if name.coverage else []
        words = counting(self._counted)
        self._wanted: Wanted = wanted(name, series, lambda: debian_config(series), words)
        choice = str(name.file) if name.file is not None else name.config
        self._key = digest(str(self._tree), choice, name.checks, " ".join(words))
        plain = f"{choice}:{name.checks}"
        self._gives = f"{plain}:{COVERAGE_WORD}" if name.coverage else plain
        self._takes = {plain, self._gives}
        self._work = cache_root() / f"linux-build-{self._key}"
        self._out = self._work / "out"
        self._log = self._work / "build.log"
        self._lock = -1

    def kernel(self) -> Kernel:
        """Return the built kernel if the tree is unchanged, else build it."""
        what, say = f"{self._shown} ({self._tree})", self._progress.say
        with locked_within(self._work.name, LOCK_SECONDS, what, say) as self._lock:
            state, noted = tree_state(self._tree), last_build(self._work)
            folder = cache_root() / noted.get("entry", "none")
            there = (
                noted.get("recipe") == self._wanted.recipe
                and folder.name.startswith(self._kind)
                and usable(folder)
            )
            seen = {"state": state.all, "kind": self._gives}
            if not (there and state.all and seen.items() <= noted.items()):
                folder = self._look_closely(state, noted, folder if there else None)
            _use(folder)
        self._forget(folder)
        label = f"{self._shown}@{folder.name.rpartition('-')[2][:8]}"
        return unpacked(label, folder)._replace(work=self._work)

    @property
    def _kind(self) -> str:
        """The kind of this build's cache entries."""
        return f"linux-built-{self._key}"

    def _look_closely(self, state: TreeState, noted: dict[str, str], built: Path | None) -> Path:
        """The entry of what is in the tree; *built* is that of the last build, if it serves."""
        known = last_files(self._work)
        files = read_files(self._tree, state, known)
        found = changes(known, files)
        options = {"options": hash_of(files, state.kconfigs), "recipe": self._wanted.recipe}
        if built is None or found:
            configured = all(noted.get(name) == value for name, value in options.items())
            built, files = self._make(state, files, found if known else None, options, configured)
            if any(not contents for _, contents in files.values()):
                state = dataclasses.replace(state, all="")
        where = {"tree": str(self._tree), "contents": hash_of(files)}
        where["kind"] = self._gives
        write_note(self._work / FILES, files)
        write_note(
            self._work / STATE, {**options, **where, "state": state.all, "entry": built.name}
        )
        return built

    def _prepare(self, known: bool) -> bool:
        """The folder of the build: is it the one of the last build?

        One of which nothing is *known* is begun anew.
        """
        need_tools(f"building Linux from {self._tree}")
        try:
            if known and (self._work / BEGUN).exists():
                self._go_on()
            if not known and self._out.exists():
                shutil.rmtree(self._out)
                (self._work / ORIGINS).unlink(missing_ok=True)
            self._out.mkdir(parents=True, exist_ok=True)
            if not is_ours(self._work):
                mark(self._work, manifest.NOTHING)
            free = shutil.disk_usage(self._work).free
            checks = self._name.checks != ""
            least = BUILD_BYTES.get((self._name.config, checks), BUILD_BYTES[MINIMAL, checks])
            if free < least and not (self._out / "vmlinux").exists():
                raise self._no_space(free)
            self._log.write_text("", encoding="utf-8")
            return known
        except OSError as error:
            raise CannotRun(f"cannot write to {self._work}: {error.strerror or error}") from error

    def _go_on(self) -> None:
        """Keep what a make that was killed has finished."""
        self._progress.say(f"the last build of {self._shown} was cut off; it goes on from there")
        remove_unfinished(self._out)
        if (self._work / BEGUN).read_bytes() != _BOOT_ID.read_bytes():
            files = [(file.stat().st_mtime, file) for file in all_files(self._out)]
            last = max((when for when, _ in files), default=0.0)
            for when, file in files:
                if when >= last - UNWRITTEN_SECONDS:
                    file.unlink()

    def _take_over(self, files: Files) -> Taken | None:
        """Begin with what was built of another tree, or in another configuration, if that helps."""
        say, recipe = self._progress.say, self._wanted.recipe
        try:
            return take(self._work, self._tree, files, self._takes, recipe, say)
        except OSError as error:
            raise CannotRun(f"cannot write to {self._out}: {error.strerror or error}") from error

    def _no_space(self, free: int) -> CannotRun:
        return CannotRun(
            f"{self._what} needs more space than the {free >> 20} MiB that are free in"
            f" {cache_root()} (a minimal kernel takes 0.2 GB, a full one 1.7 GB, with debug 2.8 GB); make room there,"
            " or set ZVMLAB_CACHE to another folder"
        )

    def _make(
        self,
        state: TreeState,
        files: Files,
        found: Changes | None,
        options: dict[str, str],
        configured: bool,
    ) -> tuple[Path, Files]:
        """Configure, build, and put what was built into the cache.

        *found*: what has changed; None if that is not known.  Return: the entry, and what is known
        to be in the files that it was made of.
        """
        ended = self._ended()
        if not self._prepare(found is not None):
            taken = self._take_over(files)
            found = None if taken is None else changes(taken.files, files)
            configured, ended = False, 0 if taken is None else taken.ended
        if found:
            self._remove_outdated(state, found, ended)
        first = not (self._out / "vmlinux").exists()
        # From here on the folder is at no state, until all of it is built.
        unsure = found.changed | found.new if found is not None else frozenset()
        write_note(self._work / FILES, without(files, unsure))
        write_note(self._work / STATE, {})
        if not (configured and (self._out / ".config").exists()):
            with self._progress.step(f"configuring {self._shown} ({self._tree})"):
                self._configure(state)
        write_note(self._work / STATE, options)
        text = f"{self._what} ({self._tree}), with {cpus()} CPUs"
        total = _FIRST_LINES.get(self._name.config) if first else None
        with self._progress.step(text, total) as step:
            try:
                self._run([f"-j{cpus()}", *TARGETS], BUILD_SECONDS, step.update)
            finally:
                files = self._built_of(state, files)
                write_note(self._work / FILES, without(files, unsure))
            return self._publish(), files

    def _ended(self) -> int:
        """When the last build had ended, in nanoseconds; if it was killed, that is not known."""
        if (self._work / BEGUN).exists():
            return time.time_ns()
        return self._work.stat().st_mtime_ns if self._work.exists() else 0

    def _remove_outdated(self, state: TreeState, found: Changes, ended: int) -> None:
        """Remove the objects that make would take for those of the changed files."""
        makefiles = filter(is_makefile, state.files)
        unseen = older(self._tree, found.changed | found.new, ended)
        cause = remove_outdated(self._tree, self._out, found, unseen, makefiles)
        if cause is not None:
            self._progress.say(
                f"{cause} has changed and has an older time than the last build, and kbuild does not"
                f" tell what it made of it; the build of {self._shown} begins anew"
            )
            shutil.rmtree(self._out)
            self._out.mkdir()

    def _built_of(self, before: TreeState, files: Files) -> Files:
        """The files as make saw them; a file that changed meanwhile is left out."""
        after = tree_state(self._tree)
        now = changes(files, read_files(self._tree, after, files))
        kept = before.files.keys() & after.files.keys()
        touched = {
            name for name in kept if signature(before.files[name]) != signature(after.files[name])
        }
        return without(files, touched | now.changed | now.new)

    def _configure(self, state: TreeState) -> None:
        self._run(self._wanted.goal(self._out), CONFIG_SECONDS)
        made = (self._out / ".config").read_text(encoding="utf-8")
        sentence = judge(
            self._wanted.ours, made, map(str, map(self._tree.joinpath, state.kconfigs)), self._shown
        )
        if sentence:
            self._progress.say(sentence)
        if f"{_CERTIFICATES}=y" in made.splitlines() and not _OPENSSL.exists():
            raise CannotRun(f"{self._what} needs: apt-get install libssl-dev ({_CERTIFICATES})")

    def _run(
        self, words: list[str], seconds: int, count: Callable[[int], None] = lambda _: None
    ) -> None:
        """Run make; what is wrong with the tree is told in make's own words."""
        begun = self._work / BEGUN
        begun.write_bytes(_BOOT_ID.read_bytes())
        killed = []
        settings = (f"O={self._out}", *MAKE[1:], *self._wanted.words)
        argv = [MAKE[0], "-C", str(self._tree), *settings, *words]
        ending = Ending(ENDING_SECONDS, lambda: killed.append(True))
        lines = steps(self._what, argv, self._work, self._log, seconds, ending, [self._lock])
        try:
            with contextlib.closing(lines):
                for done, _ in enumerate(lines, 1):
                    count(done)
        except StepFailed as error:
            if killed or not error.tail:
                raise
            raise self._failed() from error
        finally:
            if not killed:
                begun.unlink()

    def _failed(self) -> UsageError | CannotRun:
        said = self._log.read_text(encoding="utf-8", errors="replace")
        if _NO_SPACE in said:
            return self._no_space(shutil.disk_usage(self._work).free)
        first = first_error(said.replace(f"{self._tree}/", "").splitlines())
        return UsageError(f"{self._what} ({self._tree}) failed: {first}; the log is {self._log}")

    def _publish(self) -> Path:
        """The entry of what has been built: its name is a hash of the kernel and its modules."""
        order = (self._out / "modules.order").read_text(encoding="utf-8").split()
        modules = [self._out / Path(name).with_suffix(".ko") for name in order]
        image, config = (self._out / name for name, _ in _BOOT[:2])
        key = digest(
            image, config, *(str(file.relative_to(self._out)) for file in modules), *modules
        )
        return entry(self._kind, key, self._install)

    def _install(self, folder: Path) -> None:
        """Lay out a kernel package."""
        # depmod is not needed: the harness reads the modules themselves.
        words = [f"INSTALL_MOD_PATH={folder}", "INSTALL_MOD_STRIP=1", "DEPMOD=true"]
        self._run([f"-j{cpus()}", *words, "modules_install"], CONFIG_SECONDS)
        release = self._out / "include/config/kernel.release"
        version = release.read_text(encoding="ascii").strip()
        (folder / "boot").mkdir()
        for part, name in _BOOT:
            shutil.copy2(self._out / part, folder / "boot" / f"{name}-{version}")
        modules = folder / "lib" / "modules" / version
        for link in ("build", "source"):
            (modules / link).unlink(missing_ok=True)
        (modules / "build").symlink_to(self._out)
        if self._name.coverage:
            self._keep_notes(folder / GCOV)
        unpacked(self._shown, folder)  # nothing incomplete enters the cache

    def _sources(self) -> list[PurePosixPath]:
        """The sources whose lines count: those that are listed and in the tree, and those named."""
        listed = [file.path for file in linux_files() if (self._tree / file.path).is_file()]
        named = [PurePosixPath(path) for path in self._name.counted]
        for path in named:
            if not (self._tree / path).is_file():
                raise UsageError(f"{self._shown} has no {path}, whose lines are to be counted")
        return list(dict.fromkeys([*listed, *named]))

    def _keep_notes(self, gcov: Path) -> None:
        """Keep the compiler's notes of what counts, as far as this configuration has it."""
        left = keep_notes(self._counted, self._tree, built_in(self._work), gcov)
        named = [path for path in self._name.counted if PurePosixPath(path) in left]
        if named:
            raise UsageError(
                f"{self._shown} does not compile {named[0]} in this configuration, so that none of"
                " its lines can be counted"
            )
        if left:
            text = ", ".join(map(str, left))
            self._progress.say(f"{self._shown} counts no lines of what it does not compile: {text}")

    def _forget(self, newest: Path) -> None:
        """Remove the oldest entries of this tree, but those that a process uses."""
        others = sorted(
            (folder for folder in entries(self._kind) if folder != newest),
            key=lambda folder: folder.stat().st_mtime,
        )
        for folder in others[: -(KEPT - 1)]:
            with contextlib.suppress(OSError):
                where = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    fcntl.flock(where, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    discard(folder)
                finally:
                    os.close(where)


def _use(folder: Path) -> None:
    """Keep an entry as long as this process lives."""
    if folder not in _used:
        _used[folder] = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(_used[folder], fcntl.LOCK_SH)
    os.utime(folder)
