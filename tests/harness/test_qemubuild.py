# SPDX-License-Identifier: MIT
"""Building QEMU: what needs no QEMU to be tested; the rest is shown by booting it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from zvmlab.base.errors import CannotRun, UsageError, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.builder import buildstep, kernel, packages, qemubuild
from zvmlab.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
SIM = ROOT / "sim"


def test_one_version_is_built_on_every_host_and_the_next_if_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = set()
    for asked, version in ((None, "10.0"), ("", "10.0"), ("10.0", "10.0"), ("11.1", "11.1")):
        monkeypatch.delenv(qemubuild.VERSION, raising=False)
        if asked is not None:
            monkeypatch.setenv(qemubuild.VERSION, asked)
        assert qemubuild.version() == version
        keys.add((version, qemubuild.base_key(), qemubuild.build_key(ROOT)))
    assert len(keys) == len({base for _, base, _ in keys}) == len({key for *_, key in keys}) == 2


@pytest.mark.parametrize("version", ["7.2", "10.2", "newest"])
def test_a_version_that_is_not_built_is_refused(
    monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv(qemubuild.VERSION, version)
    with pytest.raises(UsageError) as caught:
        qemubuild.version()
    assert str(caught.value) == f"ZVMLAB_QEMU_VERSION={version}: QEMU is built as 10.0 or 11.1"


def test_what_is_left_out_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys, bases = [], []
    for value in ("", "slots", "slots lowcore", "lowcore  slots"):
        monkeypatch.setenv("ZVMLAB_QEMU_WITHOUT", value)
        keys.append(qemubuild.build_key(ROOT))
        bases.append(qemubuild.base_key())
    assert len(set(keys)) == 3 and keys[2] == keys[3]
    assert len(set(bases)) == 1


def test_object_properties_are_the_cores_keys() -> None:
    keys = (SIM / "cp" / "config.c").read_text(encoding="utf-8")
    keys = keys[keys.index("cp_config_keys[") :]
    known = set(keys[keys.index("{") + 1 : keys.index("}")].replace('"', "").split(","))
    schema = (SIM / "qemu" / "changes" / "port" / "object.json").read_text(encoding="utf-8")
    schema = schema[schema.index("'data'") : schema.index("}", schema.index("'data'"))]
    listed = {word[1:] for word in schema.split("'") if word.startswith("*")}
    names = {key.strip() for key in known if key.strip()}
    # The device of a 3215 sets conmode.
    assert listed == names - {"conmode"} | {"control", "system", "trace", "trace-limit"}


def test_ninja_progress() -> None:
    assert qemubuild.ninja_progress("[ 523/1215] Compiling") is None
    assert qemubuild.ninja_progress("[523/1215] Compiling C object a.o\n") == (523, 1215)
    assert qemubuild.ninja_progress("FAILED: a.o") is None


def test_keys_follow_the_sources(tmp_path: Path) -> None:
    for part in ("lib", "sim", "harness/zvmlab/base"):
        shutil.copytree(ROOT / part, tmp_path / part)
    sim = tmp_path / "sim"
    key = qemubuild.build_key(tmp_path)
    (sim / "cp" / "editor.c~").write_text("not a source")
    (sim / "cp" / ".hidden").mkdir()
    (sim / "cp" / ".hidden" / "a.json").write_text("{}")
    with open(sim / "qemu" / "patches.py", "a", encoding="utf-8") as file:
        file.write("# A better text.\n")
    assert qemubuild.build_key(tmp_path) == key
    changes = ("speed/slots.c", "port/object.json", "port/configure.toml")
    for name in ("cp/cp.c", "qemu/insert.py", *(f"qemu/changes/{change}" for change in changes)):
        with open(sim / name, "a", encoding="utf-8") as file:
            file.write("\n")
        assert qemubuild.build_key(tmp_path) != key
        key = qemubuild.build_key(tmp_path)


def test_failed_step_shows_the_logs_tail(tmp_path: Path) -> None:
    log = tmp_path / "log"
    argv = ["sh", "-c", "echo before; echo cause; exit 3"]
    with pytest.raises(ZvmlabError) as caught:
        list(qemubuild._run(argv, tmp_path, log, 30))
    assert str(caught.value) == (
        f"building QEMU failed: 'sh' ended with exit code 3; the log is {log} and ends with:\n"
        "before\ncause"
    )


def test_step_ends_at_its_time_limit(tmp_path: Path) -> None:
    with pytest.raises(ZvmlabError, match="'sleep' did not end within 1 s"):
        list(buildstep.run_step("sleeping", ["sleep", "30"], tmp_path, tmp_path / "log", 1))


def test_a_base_that_was_moved_is_not_used(tmp_path: Path) -> None:
    made = tmp_path / "made" / "source"
    (made / "build").mkdir(parents=True)
    assert not qemubuild._configured_at(made)
    (made / "build" / "config-host.mak").write_text(f"A=b\nSRC_PATH={made}\nC=d\n")
    assert qemubuild._configured_at(made)
    made.parent.rename(tmp_path / "other")
    assert not qemubuild._configured_at(tmp_path / "other" / "source")


def test_a_base_from_the_future_is_not_used(tmp_path: Path) -> None:
    """The clock was set back: ninja would take old objects for newer than their sources."""
    log = tmp_path / "build" / ".ninja_log"
    assert not qemubuild._from_the_future(tmp_path)
    log.parent.mkdir()
    log.touch()
    assert not qemubuild._from_the_future(tmp_path)
    later = time.time() + 3600
    os.utime(log, (later, later))
    assert qemubuild._from_the_future(tmp_path)


def test_our_files_in_the_tree_are_those_of_the_clone(tmp_path: Path) -> None:
    source = tmp_path / "source"
    ours = source / "hw" / "s390x" / "zvmlab"
    qemubuild._copy_ours(ROOT, source)
    before = (ours / "core" / "sim" / "cp" / "cp.c").stat().st_mtime_ns
    stale = ours / "core" / "sim" / "cp" / "gone.c"
    stale.write_text("")
    qemubuild._copy_ours(ROOT, source)
    assert not stale.exists()
    assert (ours / "core" / "sim" / "cp" / "cp.c").stat().st_mtime_ns == before
    assert "'sim/cp/cp.c'" in (ours / "core" / "meson.build").read_text()
    assert not (ours / "core" / "lib" / "monrec").exists()
    assert not list(ours.rglob("slots.c"))
    assert (source / "include" / "hw" / "s390x" / "zvmlab.h").is_file()
    assert not (ours / "zvmlab.h").exists()


def apt(tmp_path: Path, name: str, text: str) -> Path:
    folder = tmp_path / "sources.list.d"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (tmp_path / "os-release").write_text('VERSION_CODENAME="bookworm"\n')
    return tmp_path / "os-release"


def test_archive_of_deb822_sources(tmp_path: Path) -> None:
    third = "URIs: http://third.example/linux/debian\nSuites: stable\nComponents: main\n"
    off = "Enabled: no\nURIs: http://off.example/debian\nSuites: bookworm\nComponents: main\n"
    own = "# note\nURIs:\n http://own.example/debian\nSuites: bookworm sid\nComponents: main\n"
    release = apt(tmp_path, "a.sources", f"{third}\n{off}\n{own}")
    assert packages.archive_uri(tmp_path, release) == "http://own.example/debian"


def test_archive_of_one_line_sources(tmp_path: Path) -> None:
    lines = (
        "# deb http://off.example/debian bookworm main\n"
        "deb http://security.example/debian-security bookworm-security main\n"
        "deb [arch=amd64 signed-by=/k] http://own.example/debian/ bookworm contrib main\n"
    )
    release = apt(tmp_path, "a.list", lines)
    assert packages.archive_uri(tmp_path, release) == "http://own.example/debian/"


def test_machine_without_debian_archive(tmp_path: Path) -> None:
    release = apt(tmp_path, "a.sources", "Types: deb\nURIs: http://x.example\nSuites: stable\n")
    with pytest.raises(CannotRun, match="name no Debian archive to fetch packages from"):
        packages.archive_uri(tmp_path, release)


def test_suite_name_is_checked() -> None:
    with pytest.raises(UsageError, match="invalid Debian suite or architecture: 'a b', 's390x'"):
        packages.Suite("a b", "s390x")


def test_old_lists_and_files_are_used_when_the_archive_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))

    def refuse(*_: object) -> str:
        raise CannotRun("no network")

    monkeypatch.setattr(packages, "_run", refuse)
    suite = packages.Suite("sid", "s390x")
    with pytest.raises(CannotRun, match="Debian's index of sid .s390x. cannot be read: no network"):
        suite.update()
    suite._stamp.touch()
    assert suite.update(max_age=0) is False
    assert "using the old index of sid (s390x): no network" in capsys.readouterr().err
    package = packages.Package("p", "2:1-2", "00", 1, "pool/p_1-2_s390x.deb", "")
    assert package.file == "p_2%3a1-2_s390x.deb"
    monkeypatch.setattr(suite, "package", lambda name: package)
    with pytest.raises(CannotRun, match="no network"):
        suite.download("p", tmp_path)
    old = tmp_path / "p_1-1_s390x.deb"
    old.touch()
    assert suite.download("p", tmp_path) == old


def test_entry_is_what_would_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its name changes with the sources, and nothing is built for it."""
    asked: list[str] = []

    def entry(kind: str, key: Callable[[], str], build: object, artifact: str) -> Path:
        asked.append(f"{kind}-{key()}")
        return tmp_path

    monkeypatch.setattr(qemubuild, "entry", entry)
    monkeypatch.delenv("ZVMLAB_QEMU", raising=False)
    assert main(["build", "--entry"]) == 0
    said = capsys.readouterr().out
    assert asked == []
    assert main(["build"]) == 0
    assert said == f"{asked[0]}\n" and re.fullmatch(r"qemu-[0-9a-f]{16}\n", said)
    monkeypatch.setenv(qemubuild.WITHOUT, "lctl-flush")
    capsys.readouterr()
    assert main(["build", "--entry"]) == 0
    assert capsys.readouterr().out != said


def test_meson_is_that_of_qemus_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine has: configure finds the package's modules before its own."""
    package = tmp_path / "meson.deb"

    def unpack(deb: Path, folder: Path) -> None:
        assert deb == package
        modules = folder / "usr/lib/python3/dist-packages/mesonbuild"
        modules.mkdir(parents=True)
        (modules / "__init__.py").touch()
        (modules / "mesonmain.py").write_text("version = 'of the package'\n")

    def download(suite: packages.Suite, name: str, into: Path) -> Path:
        into.mkdir(parents=True)
        assert (suite.name, name) == ("trixie", "meson")
        return package

    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(packages.Suite, "update", lambda suite: True)
    monkeypatch.setattr(packages.Suite, "download", download)
    monkeypatch.setattr(kernel, "unpack", unpack)
    argv = [sys.executable, "-c", "import mesonbuild.mesonmain as m; print(m.version)"]
    assert list(qemubuild._run(argv, tmp_path, tmp_path / "log", 60)) == ["of the package\n"]
    # It is fetched once.
    monkeypatch.delattr(packages.Suite, "download")
    assert qemubuild._meson(Progress()).is_relative_to(tmp_path / "cache" / "meson-trixie")
