# SPDX-License-Identifier: MIT
"""Guests with programs and modules of their own: one boot serves all of them, and each has just its files."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from zvmlab.base.owned import discard
from zvmlab.builder.image import MODULE_LIST, contents
from zvmlab.guest import checkpoint
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import HERCULES, QEMU, GuestConfig
from zvmlab.guest.guest import Guest

from test_fast_start import HAS_HERCULES

# A module of all kernels, which no image has unasked.
MODULE = "vmur"
# All images have it, and no boot loads it unasked.
CLIENT = "monwriter"
PAGE = 4096
SECRET, OTHER = "/usr/share/lab/secret", "/usr/share/lab/deep/er"


@pytest.fixture(params=[QEMU, pytest.param(HERCULES, marks=HAS_HERCULES)])
def config(request: pytest.FixtureRequest, zvmlab_kernel: str) -> GuestConfig:
    """A guest as many tests have it: its boot serves here."""
    # Not every kernel is one for Hercules.
    kernel = zvmlab_kernel if request.param == QEMU else "bookworm"
    return GuestConfig(kernel=kernel, backend=request.param)


@contextlib.contextmanager
def _first_of_its_kind(config: GuestConfig, folder: Path) -> Iterator[Guest]:
    """A guest with a file that no guest had before, so that there is no checkpoint yet."""
    secret = folder / "secret"
    secret.write_text(os.urandom(8).hex(), encoding="ascii")
    secret.chmod(0o755)
    files = {SECRET: secret, OTHER: secret}
    config = config._replace(files={**config.files, **files})
    with Guest(config, folder / "guest") as guest:
        guest.boot()
        yield guest
        found = checkpoint.find(config, guest.artifacts, _not_there)
    discard(found)


@pytest.fixture
def guest(config: GuestConfig, zvmlab_dir: Path) -> Iterator[Guest]:
    """Such a guest with further programs and modules."""
    wanted = config._replace(modules=(MODULE,), busybox=True)
    with _first_of_its_kind(wanted, zvmlab_dir) as made:
        yield made


def _not_there(_into: Path) -> None:
    pytest.fail("the guest's checkpoint is not in the cache")


def _booted_with(guest: Guest, image: Path) -> bool:
    """The kernel has freed the whole pages that the image has; it may begin within one."""
    pages = image.stat().st_size // PAGE
    said = {f"Freeing initrd memory: {count * PAGE >> 10}K" for count in (pages - 1, pages)}
    return not said.isdisjoint(line.text for line in guest.agent.dmesg(0))


def _listed(guest: Guest) -> dict[str, tuple[int, int]]:
    """Mode and size of all that is in the guest's first file system, but its mount points."""
    told = ["/bin/busybox", "stat", "-c", "%f %s %n"]
    find = ["/bin/busybox", "find", "/", "-xdev", "-exec", *told, "{}", "+"]
    lines = guest.agent.run(find).check().stdout.decode().splitlines()
    found = {}
    for line in lines:
        mode, size, path = line.split(" ", 2)
        found[path.lstrip("/")] = (int(mode, 16), int(size))
    return found


@pytest.mark.timeout(900)
def test_files_are_those_of_the_image(guest: Guest) -> None:
    image = contents(guest.artifacts.image)
    listed = _listed(guest)
    for name, item in image.items():
        if name.startswith("dev/"):
            continue  # another file system is mounted there
        assert stat.S_IFMT(listed[name][0]) == stat.S_IFMT(item.mode), name
        if stat.S_ISREG(item.mode):
            assert listed[name][0] == item.mode, name
            assert guest.agent.read_file(f"/{name}") == item.data, name
        elif stat.S_ISLNK(item.mode):
            link = guest.agent.run(["/bin/busybox", "readlink", f"/{name}"]).check()
            assert link.stdout.rstrip() == item.data, name
    made_by_init = {"", "root", "dev", "proc", "run", "sys", "tmp"}
    assert {name for name in listed if name not in image} <= made_by_init
    guest.agent.modprobe(MODULE).check()


@pytest.mark.timeout(900)
def test_it_has_not_booted_for_them(guest: Guest, config: GuestConfig) -> None:
    assert _booted_with(guest, prepare(config).image)


@pytest.mark.timeout(900)
def test_it_boots_with_them(guest: Guest) -> None:
    """A restart loads the image that is its own."""
    guest.reboot()
    assert _booted_with(guest, guest.artifacts.image)
    secret, other = map(guest.agent.read_file, (SECRET, OTHER))
    assert secret == other


@pytest.mark.timeout(900)
def test_what_init_uses_is_booted_with(zvmlab_kernel: str, zvmlab_dir: Path) -> None:
    """A list of modules of the user's own is read before there is an agent."""
    plain = GuestConfig(kernel=zvmlab_kernel)
    usual = contents(prepare(plain).image)[MODULE_LIST.lstrip("/")].data
    listed = zvmlab_dir / "modules"
    listed.write_bytes(usual + f"/lib/modules/{CLIENT}.ko\n".encode())
    with _first_of_its_kind(plain._replace(files={MODULE_LIST: listed}), zvmlab_dir) as guest:
        assert CLIENT in guest.agent.read_file("/proc/modules").decode()
