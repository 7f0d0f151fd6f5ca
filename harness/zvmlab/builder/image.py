# SPDX-License-Identifier: MIT
"""The guest's initramfs: our agent as /init, the modules needed, files of the user.

    image = build_image(resolve("bookworm"), ["monreader"])

The archive is written here (format newc), so that the same contents give the
same bytes; the cache keeps it by its contents.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import stat
import subprocess
from collections.abc import Container, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.builder.kernel import ARCH, Kernel, unpack
from zvmlab.builder.modules import (
    all_needed,
    available,
    load_steps,
    module_graph,
    module_name,
    read_module,
    wishes,
)
from zvmlab.builder.packages import Suite

COMPILER = "s390x-linux-gnu-gcc"
AGENT = "zvmlab-agent"
CHANNEL = "af_iucv"
"""The module that the agent's connection needs."""
MODULE_LIST = "/etc/zvmlab/modules"
"""What init loads in the guest, before the agent is there."""
CLIENTS = (
    *("appldata_mem", "appldata_net_sum", "appldata_os", "dcssblk", "diag288_wdt"),
    *("monwriter", "smsgiucv_app", "vmlogrdr"),
)
"""Linux' small clients of CP.  Each image has those that its kernel has, so that guests that use
different ones of them have one image, and one checkpoint."""
_FOLDERS = ("bin", "dev", "etc/zvmlab", "lib/modules", "proc", "run", "sys", "tmp")
_BUILD_SECONDS = 1800
_SHELL_SUITE = "bookworm"
_MAGIC = b"070701"
_HEADER_SIZE = 110
_TRAILER = "TRAILER!!!"


class Entry(NamedTuple):
    """What an archive has under one name."""

    mode: int
    """As stat(2) gives it: with the kind of file."""
    data: bytes = b""
    """A file's contents, a symbolic link's target."""
    device: tuple[int, int] = (0, 0)
    """Major and minor number."""


class Archive:
    """A newc archive under construction; entries are sorted, times and owners are 0."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def folder(self, path: str) -> None:
        """A directory and those above it."""
        parts = PurePosixPath(path).parts
        for count in range(1, len(parts) + 1):
            self._add("/".join(parts[:count]), Entry(stat.S_IFDIR | 0o755))

    def file(self, path: str, data: bytes, mode: int) -> None:
        """A file, and the directories above it."""
        name = _relative(path)
        self.folder(str(PurePosixPath(name).parent))
        self._add(name, Entry(stat.S_IFREG | mode, data))

    def link(self, path: str, target: str) -> None:
        """A symbolic link."""
        self._add(_relative(path), Entry(stat.S_IFLNK | 0o777, target.encode()))

    def device(self, path: str, mode: int, major: int, minor: int) -> None:
        """A character device."""
        self._add(_relative(path), Entry(stat.S_IFCHR | mode, device=(major, minor)))

    def _add(self, name: str, item: Entry) -> None:
        old = self._entries.get(name)
        if name in ("", "."):
            return
        if old is not None and stat.S_ISDIR(old.mode) != stat.S_ISDIR(item.mode):
            raise UsageError(f"/{name} cannot be both a file and a folder in the guest's image")
        self._entries[name] = item

    def data(self) -> bytes:
        """The archive's bytes."""
        out = bytearray()
        for number, (name, item) in enumerate(sorted(self._entries.items()), 1):
            _put(out, number, name, item)
        _put(out, 0, _TRAILER, Entry(0))
        return bytes(out)


def _put(out: bytearray, number: int, name: str, item: Entry) -> None:
    """One entry: header of 13 fields in hexadecimal, name, data; both padded to 4 bytes."""
    mode, data, device = item
    text = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = (number, mode, 0, 0, links, 0, len(data), 0, 0, *device, len(text), 0)
    out += _MAGIC + b"".join(b"%08x" % field for field in fields) + text
    out += bytes(-len(out) % 4)
    out += data
    out += bytes(-len(out) % 4)


def contents(image: Path) -> dict[str, Entry]:
    """What an image of build_image() has, by names that do not begin with "/"; folders come first."""
    data = gzip.decompress(image.read_bytes())
    found: dict[str, Entry] = {}
    offset = 0
    while True:
        # The header is 6 bytes, and 13 numbers of 8 digits (_put).
        numbers = data[offset + len(_MAGIC) : offset + _HEADER_SIZE]
        fields = [int(numbers[at : at + 8], 16) for at in range(0, len(numbers), 8)]
        mode, size, device, name_size = fields[1], fields[6], (fields[9], fields[10]), fields[11]
        name = data[offset + _HEADER_SIZE :][: name_size - 1].decode()
        offset += _HEADER_SIZE + name_size
        offset += -offset % 4
        if name == _TRAILER:
            return found
        found[name] = Entry(mode, data[offset : offset + size], device)
        offset += size + -size % 4


def _relative(path: str) -> str:
    pure = PurePosixPath(path)
    if ".." in pure.parts or not pure.name:
        raise UsageError(f"invalid path for a file in the guest: '{path}'")
    return str(pure).lstrip("/")


def agent_source() -> Path:
    """The folder of the agent's source: beside this package in a clone."""
    folder = TREE / "guest" / "agent"
    if not (folder / "Makefile").is_file():
        raise CannotRun(f"{folder} is missing; only a clone of zvmlab can build the agent")
    return folder


def compiler_version() -> bytes:
    """The version of the guest's compiler, including the Debian revision."""
    try:
        return subprocess.run(
            [COMPILER, "--version"], check=True, capture_output=True, timeout=30
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRun(
            f"{COMPILER} does not work; install the packages gcc-s390x-linux-gnu and"
            " libc6-dev-s390x-cross"
        ) from error


def build_agent(progress: Progress | None = None) -> Path:
    """The agent for the guest, compiled into the cache."""
    source = agent_source()

    def build(folder: Path) -> None:
        with (progress or Progress()).step("compiling the guest's agent"):
            done = subprocess.run(
                ["make", "-s", "-C", str(source), f"BUILD={folder}", "guest"],
                capture_output=True,
                text=True,
                timeout=_BUILD_SECONDS,
                check=False,
            )
        if done.returncode:
            line = (done.stderr.strip().splitlines() or ["make failed"])[0]
            raise CannotRun(f"the guest's agent cannot be compiled: {line}")

    def key() -> str:
        return digest(*(f for f in sorted(source.iterdir()) if f.suffix in (".c", ".h", ".mk", "")))

    return entry("agent", key, build, AGENT, made_with=compiler_version)


def _busybox(progress: Progress | None) -> bytes:
    """Debian's static busybox for s390x."""
    suite = Suite(_SHELL_SUITE, ARCH, progress=progress)
    package = suite.package("busybox-static")

    def build(folder: Path) -> None:
        deb = suite.download(package.name, folder)
        unpack(deb, folder)
        binary = next(folder.rglob("bin/busybox"), None)
        if binary is None:
            raise CannotRun(f"{deb.name} holds no bin/busybox")
        shutil.copyfile(binary, folder / "busybox")

    return entry("busybox", package.sha256[:16], build, "busybox").read_bytes()


def _add_modules(archive: Archive, kernel: Kernel, names: Sequence[str]) -> None:
    """/lib/modules: the files, and what each needs for modprobe; /etc/zvmlab: what the agent loads.

    modprobe has a line "NAME: STEP…" for each module: the modules in load order,
    those with a "?" behind may fail; modules has what init loads.
    """
    # A kernel without modules may well have the channel built in: the guest will tell.
    channel = module_graph(kernel, [CHANNEL]) if kernel.modules else {}
    clients = module_graph(kernel, sorted(available(kernel).intersection(CLIENTS)))
    # A module of the user's own takes the place of the kernel's, also for the channel.
    graph = {**channel, **clients, **module_graph(kernel, names)}
    needed, steps = [], []
    for name, module in graph.items():
        archive.file(f"/lib/modules/{name}.ko", read_module(module.file), 0o644)
        others = "".join(f" {other}.ko" for other in all_needed(graph, name))
        needed.append(f"{name}.ko:{others}\n")
        order = load_steps(graph, name).items()
        steps.append(f"{name}: {' '.join(step if must else step + '?' for step, must in order)}\n")
    loaded = [f"/lib/modules/{name}.ko\n" for name in channel]
    archive.file("/lib/modules/modules.dep", "".join(needed).encode(), 0o644)
    archive.link(f"/lib/modules/{kernel.version}", ".")
    archive.file("/etc/zvmlab/modprobe", "".join(steps).encode(), 0o644)
    archive.file(MODULE_LIST, "".join(loaded).encode(), 0o644)


def split_late(kernel: Kernel, named: Container[str]) -> tuple[Kernel, tuple[Path, ...]]:
    """The kernel with those replaced modules that its image must have, and the others.

    The others are put into the guest when its agent answers, so guests that differ only in them start
    at one checkpoint.  The image must have what is loaded before, what needs other modules than the
    kernel's own does, and what is in *named*.
    """
    if not kernel.replaced:
        return kernel, ()
    own = kernel._replace(replaced=())
    early, late = [], []
    channel = module_graph(own, [CHANNEL])
    for file in kernel.replaced:
        name = module_name(file)
        can_wait = name not in channel and name not in named
        if can_wait and wishes(file) == wishes(module_graph(own, [name])[name].file):
            late.append(file)
        else:
            early.append(file)
    return kernel._replace(replaced=tuple(early)), tuple(late)


def build_image(
    kernel: Kernel,
    modules: Sequence[str] = (),
    extra: Iterable[tuple[Path, str, int]] = (),
    shell: bool = False,
    progress: Progress | None = None,
) -> Path:
    """The initramfs in the cache.

    *modules*: names or .ko files that can be loaded in the guest, by
    ``agent.insmod(NAME)`` or from /lib/modules; what they need comes along.
    *extra*: local file, path in the guest, mode.  *shell*: busybox, too.
    """
    archive = Archive()
    for folder in _FOLDERS:
        archive.folder(folder)
    archive.device("/dev/console", 0o600, 5, 1)
    archive.device("/dev/null", 0o666, 1, 3)
    archive.file("/init", build_agent(progress).read_bytes(), 0o755)
    _add_modules(archive, kernel, modules)
    if shell:
        archive.file("/bin/busybox", _busybox(progress), 0o755)
        archive.link("/bin/sh", "busybox")
    for file, path, mode in extra:
        try:
            archive.file(path, file.read_bytes(), mode)
        except OSError as error:
            raise UsageError(
                f"{file} cannot be put into the guest's image: {error.strerror}"
            ) from error
    data = archive.data()

    def build(folder: Path) -> None:
        (folder / "initramfs.gz").write_bytes(gzip.compress(data, 6, mtime=0))

    key = hashlib.sha256(data).hexdigest()[:16]
    return entry("image", key, build, "initramfs.gz")
