# SPDX-License-Identifier: MIT
"""The initramfs: its format, its contents, its place in the cache."""

from __future__ import annotations

import gzip
import stat
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_kernels import module, tree

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.builder import image
from zvmlab.builder.image import Archive, build_agent, build_image
from zvmlab.builder.kernel import Kernel
from zvmlab.guest import make_artifacts
from zvmlab.guest.config import (
    HERCULES,
    OUR_DRIVER,
    QEMU,
    UPSTREAM_DRIVER,
    Artifacts,
    GuestConfig,
)


@dataclass
class Entry:
    """What the archive says of one name."""

    mode: int
    data: bytes
    device: tuple[int, int]
    mtime: int


def parse(data: bytes) -> dict[str, Entry]:
    """Read a newc archive strictly."""
    found: dict[str, Entry] = {}
    at = 0
    while True:
        assert data[at : at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        _, mode, uid, gid, _, mtime, size, _, _, major, minor, length, check = fields
        assert (uid, gid, check) == (0, 0, 0)
        name = data[at + 110 : at + 110 + length - 1].decode()
        assert data[at + 110 + length - 1] == 0
        at = (at + 110 + length + 3) & ~3
        if name == "TRAILER!!!":
            assert at == len(data)
            return found
        found[name] = Entry(mode, data[at : at + size], (major, minor), mtime)
        at = (at + size + 3) & ~3


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """A kernel with the modules of a guest; the agent is not compiled, the cache is empty."""
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    agent = tmp_path / "agent"
    agent.write_bytes(b"agent")
    monkeypatch.setattr(image, "build_agent", lambda progress=None: agent)
    files = {
        "af_iucv.ko": module("helper"),
        "helper.ko": module(),
        "monreader.ko": module("iucv"),
        "user.ko": module("monreader,helper"),
    }
    folder = tree(tmp_path / "lib/modules", "1.2.3", files, "kernel/net/iucv/iucv.ko\n")
    return Kernel("1.2.3", "local", tmp_path / "vmlinuz", folder)


def contents(file: Path) -> dict[str, Entry]:
    return parse(gzip.decompress(file.read_bytes()))


def test_archive_is_one_that_cpio_reads(tmp_path: Path) -> None:
    archive = Archive()
    archive.file("/a/b/file", b"abc", 0o640)
    archive.link("/link", "a/b/file")
    archive.device("/dev/console", 0o600, 5, 1)
    archive.folder("a/empty")
    entries = parse(archive.data())
    assert list(entries) == ["a", "a/b", "a/b/file", "a/empty", "dev/console", "link"]
    assert entries["a/b/file"] == Entry(stat.S_IFREG | 0o640, b"abc", (0, 0), 0)
    assert entries["link"] == Entry(stat.S_IFLNK | 0o777, b"a/b/file", (0, 0), 0)
    assert entries["dev/console"] == Entry(stat.S_IFCHR | 0o600, b"", (5, 1), 0)
    assert entries["a"].mode == stat.S_IFDIR | 0o755


def test_an_image_that_is_read_again(kernel: Kernel, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"12345")
    file = build_image(kernel, ["user"], [(program, "/opt/bin/run", 0o755)])
    found = image.contents(file)
    assert list(found) == list(contents(file))
    for name, entry in contents(file).items():
        assert found[name] == (entry.mode, entry.data, entry.device), name


@pytest.mark.parametrize("path", ["/", "", "/a/../b", "..", "/.."])
def test_paths_that_are_refused(path: str) -> None:
    with pytest.raises(UsageError, match="invalid path for a file in the guest"):
        Archive().file(path, b"", 0o644)


def test_file_in_place_of_a_folder() -> None:
    archive = Archive()
    archive.file("/a/b", b"", 0o644)
    with pytest.raises(UsageError, match="/a cannot be both a file and a folder"):
        archive.file("/a", b"", 0o644)
    with pytest.raises(UsageError, match="/a/b cannot be both"):
        archive.file("/a/b/c", b"", 0o644)


def test_contents(kernel: Kernel, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"program")
    found = contents(build_image(kernel, ["user"], [(program, "/opt/bin/run", 0o755)]))
    assert found["init"] == Entry(stat.S_IFREG | 0o755, b"agent", (0, 0), 0)
    assert found["dev/console"].device == (5, 1)
    assert found["opt/bin/run"] == Entry(stat.S_IFREG | 0o755, b"program", (0, 0), 0)
    modules = [name for name in found if name.startswith("lib/modules/") and ".ko" in name]
    assert modules == [f"lib/modules/{n}.ko" for n in ("af_iucv", "helper", "monreader", "user")]
    assert found["lib/modules/user.ko"].data == module("monreader,helper")
    loaded = b"/lib/modules/helper.ko\n/lib/modules/af_iucv.ko\n"
    assert found["etc/zvmlab/modules"].data == loaded
    needs = b"helper.ko:\naf_iucv.ko: helper.ko\nmonreader.ko:\nuser.ko: helper.ko monreader.ko\n"
    assert found["lib/modules/modules.dep"].data == needs
    link = Entry(stat.S_IFLNK | 0o777, b".", (0, 0), 0)
    assert found["lib/modules/1.2.3"] == link
    steps = b"helper: helper\naf_iucv: helper af_iucv\nmonreader: monreader\n"
    assert found["etc/zvmlab/modprobe"].data == steps + b"user: monreader helper user\n"
    for folder in ("bin", "dev", "proc", "run", "sys", "tmp"):
        assert found[folder].mode == stat.S_IFDIR | 0o755
    assert {entry.mtime for entry in found.values()} == {0}
    assert "bin/busybox" not in found


def test_same_contents_same_file(kernel: Kernel, tmp_path: Path) -> None:
    first = build_image(kernel, ["monreader"])
    before = first.stat().st_mtime_ns
    assert build_image(kernel, ["monreader"]) == first
    assert first.stat().st_mtime_ns == before
    other = build_image(kernel, ["user"])
    assert other != first
    data = first.read_bytes()
    shutil.rmtree(first.parent)
    assert build_image(kernel, ["monreader"]) == first
    assert first.read_bytes() == data


def test_clients_of_cp_are_in_each_image(kernel: Kernel) -> None:
    """Those that the kernel has; what is asked for of them changes nothing, and none is loaded."""
    assert kernel.modules is not None
    before = contents(build_image(kernel, ["user"]))
    for name, needs in (("vmlogrdr", ""), ("dcssblk", "dax"), ("dax", "")):
        (kernel.modules / f"kernel/{name}.ko").write_bytes(module(needs))
    without = build_image(kernel, ["user"])
    found = contents(without)
    more = {f"lib/modules/{name}.ko" for name in ("vmlogrdr", "dcssblk", "dax")}
    assert set(found) - set(before) == more
    assert found["etc/zvmlab/modules"] == before["etc/zvmlab/modules"]
    assert b"dcssblk: dax dcssblk\n" in found["etc/zvmlab/modprobe"].data
    assert build_image(kernel, ["vmlogrdr", "user", "dcssblk"]) == without


def test_client_of_the_users_own_takes_the_place_of_the_kernels(
    kernel: Kernel, tmp_path: Path
) -> None:
    assert kernel.modules is not None
    (kernel.modules / "kernel/vmlogrdr.ko").write_bytes(module())
    own = tmp_path / "vmlogrdr.ko"
    own.write_bytes(module("helper"))
    found = contents(build_image(kernel, [str(own)]))
    assert found["lib/modules/vmlogrdr.ko"].data == module("helper")
    assert b"vmlogrdr: helper vmlogrdr\n" in found["etc/zvmlab/modprobe"].data


def test_replaced_modules_come_late_unless_the_image_needs_them(
    kernel: Kernel, tmp_path: Path
) -> None:
    """The channel is loaded by init, and what a module needs is decided by the image."""
    files = {
        "monreader": module("iucv", "version=2"),
        "af_iucv": module("helper", "version=2"),
        "user": module("helper", "version=2"),
    }
    paths = {name: tmp_path / f"{name}.ko" for name in files}
    for name, path in paths.items():
        path.write_bytes(files[name])
    replaced = kernel._replace(replaced=tuple(paths.values()))
    left, late = image.split_late(replaced, ())
    assert late == (paths["monreader"],)
    assert left.replaced == (paths["af_iucv"], paths["user"])
    found = contents(build_image(left, ["monreader", "user"]))
    for name in ("af_iucv", "user"):
        assert found[f"lib/modules/{name}.ko"].data == files[name]
    assert found["lib/modules/monreader.ko"].data == module("iucv")
    assert image.split_late(replaced, {"monreader"}) == (replaced, ())
    assert image.split_late(kernel, ()) == (kernel, ())


def test_guests_with_either_driver_share_an_image_where_a_boot_takes_long(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Hercules ours is put in when the agent answers, whatever replaces the kernel's own."""
    ours = tmp_path / "ours/monreader.ko"
    users = tmp_path / "users/monreader.ko"
    for path in (ours, users):
        path.parent.mkdir()
        path.write_bytes(module("iucv", f"version={path.parent.name}"))
    kernel = kernel._replace(image=tmp_path)
    monkeypatch.setattr(make_artifacts, "resolve", lambda *_, **__: kernel)
    monkeypatch.setattr(make_artifacts, "check_storage", lambda *_: None)
    monkeypatch.setattr(make_artifacts, "driver_module", lambda *_: ours)
    builds = SimpleNamespace(build=lambda _: tmp_path)
    monkeypatch.setattr(make_artifacts, "backend_of", lambda _: builds)

    def made(backend: str, driver: str, **words: Any) -> Artifacts:
        config = GuestConfig(backend=backend, driver=driver, **words)
        return make_artifacts.make(config, None)

    theirs = made(HERCULES, UPSTREAM_DRIVER)
    assert theirs.late == ()
    assert made(HERCULES, OUR_DRIVER) == theirs._replace(late=(ours,))
    alone = made(QEMU, OUR_DRIVER)
    assert alone.late == () and alone.image != theirs.image
    assert contents(alone.image)["lib/modules/monreader.ko"].data == ours.read_bytes()
    kernel = kernel._replace(replaced=(users,))
    assert made(HERCULES, OUR_DRIVER).late == (ours,)
    assert made(HERCULES, UPSTREAM_DRIVER).late == (users,)
    listed = tmp_path / "modules"
    listed.write_text("/lib/modules/monreader.ko\n", encoding="ascii")
    for driver, file in ((OUR_DRIVER, ours), (UPSTREAM_DRIVER, users)):
        loaded = made(HERCULES, driver, files={image.MODULE_LIST: listed})
        assert loaded.late == (), "init loads what the list names"
        assert contents(loaded.image)["lib/modules/monreader.ko"].data == file.read_bytes()


def test_kernel_with_everything_built_in(kernel: Kernel) -> None:
    bare = Kernel("x", "local", kernel.image, None)
    found = contents(build_image(bare))
    assert found["etc/zvmlab/modules"].data == b""


def test_shell(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "_busybox", lambda progress: b"busybox")
    found = contents(build_image(kernel, shell=True))
    assert found["bin/busybox"] == Entry(stat.S_IFREG | 0o755, b"busybox", (0, 0), 0)
    assert found["bin/sh"].data == b"busybox"


def test_missing_file(kernel: Kernel, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none cannot be put into the guest's image: No such file"):
        build_image(kernel, extra=[(tmp_path / "none", "/none", 0o644)])


def test_agent_is_a_small_static_program_for_s390x(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path))
    try:
        agent = build_agent()
    except CannotRun as error:
        pytest.skip(str(error))
    data = agent.read_bytes()
    assert data[:6] == b"\x7fELF\x02\x02"
    (machine,) = struct.unpack_from(">H", data, 18)
    assert machine == 22
    headers, count = struct.unpack_from(">Q", data, 32)[0], struct.unpack_from(">H", data, 56)[0]
    kinds = {struct.unpack_from(">I", data, headers + 56 * i)[0] for i in range(count)}
    assert 3 not in kinds, "an interpreter is asked for: it is not static"
    assert len(data) < 1 << 20
    assert build_agent() == agent


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path))
    monkeypatch.setattr(image, "COMPILER", "s390x-no-such-gcc")
    with pytest.raises(CannotRun, match="install the packages gcc-s390x-linux-gnu"):
        build_agent()


def test_agent_that_does_not_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "source"
    source.mkdir()
    (source / "Makefile").write_text("guest:\n\t@echo main.c:1: wrong >&2; false\n")
    monkeypatch.setattr(image, "agent_source", lambda: source)
    monkeypatch.setattr(image, "COMPILER", "true")
    with pytest.raises(CannotRun, match="the guest's agent cannot be compiled: main.c:1: wrong"):
        build_agent()


def test_gnu_cpio_agrees(kernel: Kernel, tmp_path: Path) -> None:
    file = build_image(kernel, ["monreader"])
    try:
        done = subprocess.run(
            ["cpio", "-t", "--quiet"],
            input=gzip.decompress(file.read_bytes()),
            capture_output=True,
            check=True,
            timeout=60,
        )
    except FileNotFoundError:
        pytest.skip("cpio is not installed")
    assert done.stdout.decode().split() == list(contents(file))
