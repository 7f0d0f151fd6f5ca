# SPDX-License-Identifier: MIT
"""Artifacts that came with a package are taken before the cache's, without any compiler."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from zvmlab.base import shipped
from zvmlab.base.cache import cache_root, digest, entry
from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder import herculesbuild, image, modulebuild, qemubuild
from zvmlab.builder.kernel import Kernel
from zvmlab.cli import doctor, ship
from zvmlab.mondata import monrec


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where packages put them; empty."""
    found = tmp_path / "artifacts"
    found.mkdir()
    monkeypatch.setattr(shipped, "FOLDER", found)
    return found


def _put(folder: Path, name: str, artifact: str, text: str = "shipped") -> Path:
    file = folder / name / artifact
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="ascii")
    return file


def _fill(into: Path) -> None:
    (into / "program").write_text("built", encoding="ascii")


def _never(into: Path) -> None:
    raise AssertionError(f"{into} is built")


def _no_compiler() -> str:
    raise CannotRun("the compiler is missing")


def test_this_clone_has_none() -> None:
    assert not shipped.installed() and shipped.or_install("zvmlab-qemu") == ""


def test_it_is_taken_before_the_cache_and_needs_no_compiler(folder: Path) -> None:
    assert entry("thing", "0123", _fill, "program").read_text(encoding="ascii") == "built"
    file = _put(folder, "thing-0123", "program")
    assert entry("thing", "0123", _never, "program", made_with=_no_compiler) == file
    assert sorted(path.name for path in folder.rglob("*")) == ["program", "thing-0123"]


@pytest.mark.parametrize(("name", "artifact"), [("thing-4567", "program"), ("thing-0123", "other")])
def test_one_of_other_sources_is_not_taken(folder: Path, name: str, artifact: str) -> None:
    _put(folder, name, artifact)
    assert entry("thing", "0123", _fill, "program").parent == cache_root() / "thing-0123"
    with pytest.raises(CannotRun, match="the compiler is missing"):
        entry("thing", "0123", _fill, "program", made_with=_no_compiler)


def test_an_empty_file_is_not_taken(folder: Path) -> None:
    _put(folder, "thing-0123", "program", "")
    assert entry("thing", "0123", _fill, "program").read_text(encoding="ascii") == "built"


def test_the_cache_has_one_for_each_compiler() -> None:
    compilers = iter("112")
    found = [
        entry("thing", "0", _fill, "program", made_with=lambda: next(compilers)) for _ in "112"
    ]
    assert found == [cache_root() / f"thing-{digest('0', v)}" / "program" for v in "112"]


def test_the_agent_needs_no_compiler(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is that of its sources: changed ones are built, where there is a compiler."""
    source = shutil.copytree(image.agent_source(), tmp_path / "agent")
    monkeypatch.setattr(image, "agent_source", lambda: source)
    monkeypatch.setenv("PATH", "/nonexistent")
    files = [f for f in sorted(source.iterdir()) if f.suffix in (".c", ".h", ".mk", "")]
    file = _put(folder, f"agent-{digest(*files)}", "zvmlab-agent")
    assert image.build_agent() == file
    (source / "main.c").write_text("int main;", encoding="ascii")
    with pytest.raises(CannotRun, match="install the packages gcc-s390x-linux-gnu and libc6-dev"):
        image.build_agent()


def test_without_a_compiler_the_package_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert folder.is_dir()
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(
        CannotRun, match="; or install the package zvmlab-qemu, which has it built$"
    ):
        qemubuild.build_qemu(Progress(quiet=True))
    with pytest.raises(
        CannotRun, match="needs: apt-get install gcc; or install the package zvmlab-hercules, which"
    ):
        herculesbuild.build_module(Progress(quiet=True))


def test_modules_are_built_where_there_is_make_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Kbuild").write_text("obj-m := one.o\n", encoding="ascii")
    monkeypatch.setenv("PATH", "/nonexistent")
    text = "building modules for a guest's kernel needs: apt-get install "
    for suite, programs in (("bookworm", "make patchelf"), ("local", "make")):
        kernel = Kernel("1.2.3", suite, tmp_path / "vmlinuz", None)
        with pytest.raises(CannotRun) as told:
            modulebuild.built_modules(tmp_path, kernel)
        assert str(told.value) == text + programs


def test_what_a_package_has_is_what_an_installation_asks_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As made for a package and then installed: found again, and nothing built."""
    builders: tuple[ship.Builder, ...] = (image.build_agent, monrec.library)
    monkeypatch.setattr(ship, "PACKAGES", {"zvmlab": builders})
    folder.rmdir()
    made = ship.ship("zvmlab", folder, Progress(quiet=True))
    assert [file.name for file in made] == ["zvmlab-agent", "libmonrec.so"]
    assert sorted(file for file in folder.rglob("*") if file.is_file()) == sorted(made)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert [build(Progress(quiet=True)) for build in builders] == made


def test_an_unknown_package_is_refused(tmp_path: Path) -> None:
    text = "unknown package: zvmlab-kvm .possible: zvmlab, zvmlab-qemu, zvmlab-hercules.$"
    with pytest.raises(UsageError, match=text):
        ship.ship("zvmlab-kvm", tmp_path, Progress(quiet=True))


def test_the_doctor_knows_what_came_with_packages(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compilers are not needed, and QEMU is there."""
    monkeypatch.setattr(
        doctor, "installed", lambda names: {name for name in names if not name.startswith("gcc")}
    )
    monkeypatch.setattr(doctor, "_hercules", lambda: doctor.Finding("Hercules", "absent"))
    found = {finding.what: finding for finding in doctor.examine()}
    assert {name for name in found if name.startswith("packages")} == {
        *("packages to run", "packages to build", "packages to hercules")
    }
    build = found["packages to build"]
    assert build.remedy.startswith("apt-get install gcc") and not build.bad
    assert found["QEMU"].state.startswith("not built yet")
    _put(folder, qemubuild.qemu_entry(), "bin/qemu-system-s390x")
    found = {finding.what: finding for finding in doctor.examine()}
    assert found["QEMU"].state == "came with the package zvmlab-qemu"
