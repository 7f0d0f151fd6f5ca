# SPDX-License-Identifier: MIT
"""Kernels by suite, series and path; modules and what they need."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_guest import LINUX

from zvmlab.base import manifest
from zvmlab.base.cache import cache_root
from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder import kernels, modules
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.kernels import resolve, suite_in_use
from zvmlab.builder.modules import all_needed, load_steps, module_graph, module_info, read_module
from zvmlab.builder.packages import Package


def module(depends: str = "", *more: str, **info: str) -> bytes:
    """An ELF file for s390x with nothing but a .modinfo; *more*: words KEY=VALUE of names that repeat."""
    words = {**info, "depends": depends}
    text = b"".join(f"{key}={value}".encode() + b"\0" for key, value in words.items())
    text += b"".join(word.encode() + b"\0" for word in more)
    names = b"\0.modinfo\0.shstrtab\0"
    at = 64
    table = at + len(text) + len(names)
    section = struct.Struct(">IIQQQQIIQQ")
    header = b"\x7fELF\x02\x02\x01" + bytes(9) + struct.pack(">HHIQQQ", 1, 22, 1, 0, 0, table)
    header += struct.pack(">IHHHHHH", 0, 64, 0, 0, section.size, 3, 2)
    sections = bytes(section.size)
    sections += section.pack(1, 1, 0, 0, at, len(text), 0, 0, 1, 0)
    sections += section.pack(10, 3, 0, 0, at + len(text), len(names), 0, 0, 1, 0)
    return header + text + names + sections


def tree(root: Path, version: str, files: dict[str, bytes], builtin: str = "") -> Path:
    """A directory lib/modules/VERSION."""
    folder = root / version
    (folder / "kernel").mkdir(parents=True)
    for name, data in files.items():
        (folder / "kernel" / name).write_bytes(data)
    (folder / "modules.builtin").write_text(builtin)
    return folder


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    """A kernel with a handful of modules."""
    files = {
        "a.ko": module("b,c-dash"),
        "b.ko.xz": lzma.compress(module("d")),
        "c-dash.ko.gz": gzip.compress(module("d,iucv")),
        "d.ko": module(),
        "lost.ko": module("nowhere"),
        "round1.ko": module("round2"),
        "round2.ko": module("round1"),
        "text.ko": b"no module",
        "zst.ko.zst": b"?",
    }
    folder = tree(tmp_path / "lib/modules", "1.2.3", files, "kernel/net/iucv/iucv.ko\n")
    return Kernel("1.2.3", "local", tmp_path / "vmlinuz", folder)


def in_order(kernel: Kernel, wanted: list[str]) -> list[str]:
    return list(module_graph(kernel, wanted))


def test_closure_is_in_load_order(kernel: Kernel) -> None:
    assert in_order(kernel, ["a"]) == ["d", "b", "c_dash", "a"]
    assert in_order(kernel, ["c-dash", "b", "a", "d"]) == ["d", "c_dash", "b", "a"]
    assert in_order(kernel, ["iucv"]) == []
    assert in_order(kernel, []) == []


def test_closure_of_a_users_own_module(kernel: Kernel, tmp_path: Path) -> None:
    own = tmp_path / "own.ko"
    own.write_bytes(module("b", license="GPL"))
    assert in_order(kernel, [str(own)]) == ["d", "b", "own"]
    # It takes the place of the kernel's module of the same name.
    replaced = tmp_path / "d.ko"
    replaced.write_bytes(module())
    assert module_graph(kernel, [str(replaced), "b"])["d"].file == replaced


def kernel_of(tmp_path: Path, files: dict[str, bytes], builtin: str = "") -> Kernel:
    """A kernel with these modules."""
    folder = tree(tmp_path / "lib/modules", "1.2.3", files, builtin)
    return Kernel("1.2.3", "local", tmp_path / "vmlinuz", folder)


def test_every_level_is_needed(kernel: Kernel) -> None:
    """A line of modules.dep has all levels, the deepest last, as depmod(8) writes it."""
    graph = module_graph(kernel, ["a"])
    assert all_needed(graph, "a") == ["c_dash", "b", "d"]
    assert all_needed(graph, "c_dash") == ["d"] and all_needed(graph, "d") == []
    assert load_steps(graph, "a") == {"d": True, "b": True, "c_dash": True, "a": True}


def test_soft_dependencies_by_name_and_alias(tmp_path: Path) -> None:
    """softdep may repeat, means modules by name or alias, and goes down with what is needed."""
    files = {
        "fs.ko": module("log", "softdep=pre: crypto-sum inside", "softdep=post: helper nowhere"),
        "log.ko": module("", "softdep=stray pre: crypto-sum"),
        "sum-generic.ko": module("base", "alias=sum", "alias=crypto-sum"),
        "sum-fast.ko": module("", "alias=crypto-sum", "alias=cpu:type:*"),
        "base.ko": module(),
        "helper.ko": module("log"),
        "stray.ko": module(),
    }
    kernel = kernel_of(tmp_path, files, "lib/inside.ko\n")
    graph = module_graph(kernel, ["fs"])
    assert list(graph) == ["sum_fast", "base", "sum_generic", "log", "fs", "helper"]
    steps = {"sum_fast": False, "base": False, "sum_generic": False, "log": True}
    assert load_steps(graph, "fs") == {**steps, "fs": True, "helper": False}
    assert load_steps(graph, "log") == steps
    # What is only wanted is no need: modprobe(8) does without.
    assert all_needed(graph, "fs") == ["log"] and all_needed(graph, "log") == []


def test_soft_dependencies_that_cannot_be_met_are_left_out(tmp_path: Path) -> None:
    """One that waits for the module that wants it, or lacks something, stops nothing."""
    files = {
        "a.ko": module("", "softdep=pre: b lost"),
        "b.ko": module("a"),
        "lost.ko": module("nowhere"),
        "c.ko": module("lost"),
    }
    kernel = kernel_of(tmp_path, files)
    assert list(module_graph(kernel, ["a"])) == ["a"]
    assert load_steps(module_graph(kernel, ["b"]), "b") == {"a": True, "b": True}
    with pytest.raises(UsageError, match="no module nowhere, which is needed by lost"):
        module_graph(kernel, ["c"])


def test_what_is_needed_is_no_option(tmp_path: Path) -> None:
    """A module that one wants and another one needs has to load."""
    files = {
        "top.ko": module("middle", "softdep=pre: low"),
        "middle.ko": module("low"),
        "low.ko": module(),
    }
    graph = module_graph(kernel_of(tmp_path, files), ["top"])
    assert load_steps(graph, "top") == {"low": True, "middle": True, "top": True}


@pytest.mark.parametrize(
    "name, text",
    [
        ("nothing", "kernel 1.2.3 has no module nothing, which is asked for"),
        ("lost", "kernel 1.2.3 has no module nowhere, which is needed by lost"),
        ("round1", "the modules round1, round2 need each other in a cycle"),
        ("text", "text.ko is not a kernel module for s390x"),
        ("./none.ko", "module ./none.ko does not exist"),
    ],
)
def test_what_is_wrong_with_a_module(kernel: Kernel, name: str, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        module_graph(kernel, [name])


def test_unknown_compression(kernel: Kernel) -> None:
    with pytest.raises(CannotRun, match="unknown suffix '.ko.zst'"):
        module_graph(kernel, ["zst"])


def test_kernel_without_modules(tmp_path: Path) -> None:
    bare = Kernel("x", "local", tmp_path / "x", None)
    with pytest.raises(UsageError, match="kernel x comes without modules, and a is asked for"):
        module_graph(bare, ["a"])


def test_damaged_compressed_module(tmp_path: Path) -> None:
    (tmp_path / "m.ko.xz").write_bytes(lzma.compress(module())[:-10])
    with pytest.raises(CannotRun, match="m.ko.xz cannot be read"):
        read_module(tmp_path / "m.ko.xz")


def test_module_info_of_every_truncation() -> None:
    whole = module("a,b", author="x")
    assert module_info(whole) == {"depends": "a,b", "author": "x"}
    for length in range(len(whole) - 1):
        with pytest.raises(UsageError, match="is not a kernel module"):
            module_info(whole[:length])
    for index in range(64):
        broken = whole[:index] + b"\xff" + whole[index + 1 :]
        try:
            module_info(broken)
        except UsageError:
            pass


def test_image_file(tmp_path: Path) -> None:
    (tmp_path / "bzImage").write_bytes(LINUX)
    alone = resolve(str(tmp_path / "bzImage"))
    assert (alone.version, alone.suite, alone.modules) == ("bzImage", "local", None)
    folder = tree(tmp_path, "1.2", {})
    assert resolve(str(tmp_path / "bzImage"), folder).version == "1.2"
    with pytest.raises(UsageError, match="the folder of modules .*none does not exist"):
        resolve(str(tmp_path / "bzImage"), tmp_path / "none")


def test_folder_with_image_and_modules(tmp_path: Path) -> None:
    (tmp_path / "boot").mkdir()
    (tmp_path / "boot/vmlinuz-1.2").write_bytes(LINUX)
    with_none = resolve(str(tmp_path))
    assert (with_none.version, with_none.modules) == ("1.2", None)
    folder = tree(tmp_path / "lib/modules", "1.2", {})
    found = resolve(str(tmp_path))
    assert (found.version, found.modules, found.image.name) == ("1.2", folder, "vmlinuz-1.2")
    tree(tmp_path / "lib/modules", "1.3", {})
    assert resolve(str(tmp_path)).modules == folder
    (tmp_path / "boot/vmlinuz-1.2").rename(tmp_path / "boot/bzImage")
    with pytest.raises(UsageError, match="modules of several kernels"):
        resolve(str(tmp_path))


@pytest.mark.parametrize("name", ["nosuchsuite", "/nonexistent/vmlinuz", "", "6", "6.1.2"])
def test_what_is_no_kernel(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError):
        resolve(name)


def test_folder_without_kernel(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no kernel image"):
        resolve(str(tmp_path))


class FakeSuite:
    """Packages of a suite that are made up when they are unpacked."""

    packages: dict[str, list[str]] = {}
    broken: str | None = None
    downloads: list[str] = []

    def __init__(self, name: str, arch: str, progress: Progress | None = None) -> None:
        assert arch == "s390x"
        self.name = name

    def update(self) -> bool:
        if self.broken in ("index", self.name):
            raise CannotRun("no network")
        return True

    def find(self, pattern: str) -> list[Package]:
        names = self.packages.get(self.name, [])
        return [Package(n, "1:2-3", "0" * 64, 1, n, "") for n in names if "image" in n]

    def depends(self, name: str) -> list[str]:
        rest = name.removeprefix("linux-image-")
        if self.name != "sid":
            return ["kmod", "linux-base"]
        return ["dracut", f"linux-binary-{rest}", f"linux-modules-{rest}"]

    def download(self, name: str, into: Path) -> Path:
        if self.broken == "archive":
            raise CannotRun("404 Not Found")
        self.downloads.append(name)
        deb = into / f"{name}_1_s390x.deb"
        deb.write_text(name)
        return deb


def fake_unpack(deb: Path, folder: Path) -> None:
    _, kind, version = deb.read_text().split("-", 2)
    base = folder / ("usr/lib/modules" if kind != "image" else "lib/modules")
    (base / version / "kernel").mkdir(parents=True, exist_ok=True)
    if kind == "image":
        (folder / "boot").mkdir()
        (folder / "boot" / f"vmlinuz-{version}").write_bytes(b"kernel")
    elif kind == "binary":
        (base / version / "vmlinuz").write_bytes(b"kernel")


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[FakeSuite]:
    """An archive with bookworm, trixie and sid, and an empty cache."""
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(kernels, "Suite", FakeSuite)
    monkeypatch.setattr(kernels, "unpack", fake_unpack)
    monkeypatch.setattr(FakeSuite, "broken", None)
    monkeypatch.setattr(FakeSuite, "downloads", [])
    packages = {
        "bookworm": ["linux-image-6.1.0-49-s390x", "linux-image-6.1.0-50-s390x"],
        "trixie": ["linux-image-6.12.9+deb13-s390x"],
        "sid": ["linux-image-7.2.13+deb14-s390x"],
    }
    monkeypatch.setattr(FakeSuite, "packages", packages)
    return FakeSuite


def forget(suite: str) -> None:
    """As if the suite was looked at two days ago."""
    note = cache_root() / f"kernel-of-{suite}"
    os.utime(note, (note.stat().st_atime, note.stat().st_mtime - 2 * 86400))


def test_newest_kernel_of_a_suite(archive: type[FakeSuite]) -> None:
    kernel = resolve("bookworm")
    assert (kernel.version, kernel.suite) == ("6.1.0-50-s390x", "bookworm")
    assert str(kernel) == "6.1.0-50-s390x (bookworm)"
    assert kernel.image.read_bytes() == b"kernel"
    assert kernel.modules is not None and kernel.modules.name == "6.1.0-50-s390x"
    assert archive.downloads == ["linux-image-6.1.0-50-s390x"]
    assert resolve("6.1") == kernel == resolve("bookworm")
    forget("bookworm")
    assert resolve("bookworm") == kernel
    assert len(archive.downloads) == 1
    assert list(cache_root().rglob("*.deb")) == []


_OF_SID = "kernel-sid-7.2.13+deb14-s390x_1:2-3"


@pytest.mark.parametrize("text", ["", "nothing", "../kernel-bookworm-", _OF_SID, "\xff"])
def test_a_damaged_note_is_no_kernel(archive: type[FakeSuite], text: str) -> None:
    kernel = resolve("bookworm")
    resolve("sid")
    assert (cache_root() / _OF_SID).is_dir()
    archive.downloads.clear()
    note = cache_root() / "kernel-of-bookworm"
    whole = note.read_text()
    (cache_root() / "nothing").mkdir()
    note.write_text(text, encoding="latin-1")
    assert resolve("bookworm") == kernel
    assert note.read_text() == whole
    assert archive.downloads == []


def test_a_truncated_kernel_is_fetched_again(
    archive: type[FakeSuite], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = resolve("bookworm")
    os.truncate(kernel.image, 2)
    monkeypatch.setattr(manifest, "_checked", {})
    assert resolve("bookworm") == kernel and kernel.image.read_bytes() == b"kernel"
    # Without a network a damaged one is not used, either.
    os.truncate(kernel.image, 2)
    monkeypatch.setattr(manifest, "_checked", {})
    monkeypatch.setattr(FakeSuite, "broken", "archive")
    with pytest.raises(CannotRun, match="404 Not Found"):
        resolve("bookworm")


def test_split_packages(archive: type[FakeSuite]) -> None:
    kernel = resolve("7.2")
    assert (kernel.version, kernel.suite) == ("7.2.13+deb14-s390x", "sid")
    assert kernel.modules is not None and kernel.image == kernel.modules / "vmlinuz"
    rest = "7.2.13+deb14-s390x"
    assert archive.downloads == [f"linux-binary-{rest}", f"linux-modules-{rest}"]


def test_series_that_no_suite_has(archive: type[FakeSuite]) -> None:
    with pytest.raises(UsageError, match=r"no Debian suite has a kernel 7.1: sid has 7.2.13"):
        resolve("7.1")
    archive.packages["bookworm"] = ["linux-image-6.5.0-1-s390x"]
    with pytest.raises(UsageError, match=r"kernel 6.1: bookworm has 6.5.0-1-s390x"):
        resolve("6.1")


def test_a_newer_kernel_is_noticed_after_a_day(archive: type[FakeSuite]) -> None:
    assert resolve("trixie").version == "6.12.9+deb13-s390x"
    archive.packages["trixie"].append("linux-image-6.12.10+deb13-s390x")
    assert resolve("trixie").version == "6.12.9+deb13-s390x"
    forget("trixie")
    assert resolve("trixie").version == "6.12.10+deb13-s390x"


@pytest.mark.parametrize("broken", ["index", "archive"])
def test_cached_kernel_goes_on_working(
    archive: type[FakeSuite], broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve("trixie")
    forget("trixie")
    archive.packages["trixie"].append("linux-image-6.12.10+deb13-s390x")
    monkeypatch.setattr(FakeSuite, "broken", broken)
    said = io.StringIO()
    assert resolve("trixie", progress=Progress(said)).version == "6.12.9+deb13-s390x"
    assert "using the kernel 6.12.9+deb13-s390x of trixie from the cache:" in said.getvalue()
    with pytest.raises(CannotRun):
        resolve("bookworm")


def test_another_suite_stands_in_for_an_hour(
    archive: type[FakeSuite], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.packages["bookworm-backports"] = ["linux-image-6.12.8+deb12-s390x"]
    monkeypatch.setattr(FakeSuite, "broken", "trixie")
    said = io.StringIO()
    kernel = resolve("6.12", progress=Progress(said))
    assert (kernel.version, kernel.suite) == ("6.12.8+deb12-s390x", "bookworm-backports")
    assert said.getvalue().startswith(
        "no network; using the kernel of bookworm-backports instead\n"
    )
    assert resolve("trixie") == resolve("bookworm-backports") == kernel
    assert [suite_in_use(name) for name in ("trixie", "sid")] == ["bookworm-backports", "sid"]
    assert len(archive.downloads) == 1
    # Within the hour the suite is not asked, and after it it is.
    monkeypatch.setattr(FakeSuite, "broken", None)
    assert resolve("trixie") == kernel
    note = cache_root() / "kernel-of-trixie"
    os.utime(note, (note.stat().st_atime, note.stat().st_mtime - 3601))
    assert resolve("trixie").suite == suite_in_use("trixie") == "trixie"


def test_package_without_a_kernel_does_not_enter_the_cache(
    archive: type[FakeSuite], monkeypatch: pytest.MonkeyPatch
) -> None:
    empty: Callable[[Path, Path], None] = lambda deb, folder: None
    monkeypatch.setattr(kernels, "unpack", empty)
    with pytest.raises(CannotRun, match="is not a Debian kernel package"):
        resolve("bookworm")
    assert list(cache_root().glob("kernel-*")) == []
