# SPDX-License-Identifier: MIT
"""The doctor finds what is missing and says how to get it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from zvmlab.base.errors import CannotRun
from zvmlab.builder import herculesbuild
from zvmlab.builder.herculesbuild import module_entry, sources
from zvmlab.base.tree import TREE
from zvmlab.cli import doctor
from zvmlab.cli.doctor import Finding, examine, installed, read_packages, report

SETUP = TREE / "ci" / "setup.sh"


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ZVMLAB_RUN", str(tmp_path / "run"))


def _list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    path = tmp_path / "packages.txt"
    path.write_text(text)
    monkeypatch.setattr(doctor, "PACKAGES", path)
    monkeypatch.setattr(doctor.read_packages, "__defaults__", (path,))


def _finding(what: str) -> Finding:
    (found,) = [finding for finding in examine() if finding.what == what]
    return found


def test_the_list_is_well_formed() -> None:
    packages = read_packages()
    groups = {
        "run",
        "build",
        "test",
        "check",
        "lint",
        "bench",
        "fuzz",
        "hercules",
        "deb",
        "hosts",
        "recipes",
    }
    assert {package.group for package in packages} == groups
    assert len({(package.group, package.names) for package in packages}) == len(packages) > 30
    assert all(package.reason for package in packages)


def test_an_essential_package_is_installed() -> None:
    assert installed(["dpkg", "no-such-package-zvmlab"]) == {"dpkg"}


def test_a_missing_package_is_named_with_its_reason_and_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _list(
        tmp_path, monkeypatch, "# comment\nrun dpkg base\nbuild no-such-package-zvmlab a compiler\n"
    )
    found = _finding("packages to build")
    assert found.bad
    assert found.state == "missing: no-such-package-zvmlab (a compiler)"
    assert found.remedy.endswith("apt-get install no-such-package-zvmlab")
    assert not report()
    assert capsys.readouterr().out.endswith("guests cannot run here yet\n")


def test_one_of_the_names_of_a_package_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian 13 has libglib2.0-0t64 in the place of libglib2.0-0."""
    _list(tmp_path, monkeypatch, "run no-such-package-zvmlab|dpkg base\n")
    assert _finding("packages to run").state == "all 1 installed"
    _list(tmp_path, monkeypatch, "run no-such-package-zvmlab|nor-this-one base\n")
    found = _finding("packages to run")
    assert found.bad and found.state == "missing: no-such-package-zvmlab (base)"


def test_tools_for_tests_are_not_needed_by_guests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _list(tmp_path, monkeypatch, "run dpkg base\nlint no-such-package-zvmlab for lint\n")
    found = _finding("packages to lint")
    assert found.remedy and not found.bad
    assert report()


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="packages.txt cannot be read .*complete clone"):
        read_packages(tmp_path / "packages.txt")


def test_without_dpkg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(CannotRun, match="this is not a Debian system"):
        installed(["dpkg"])
    assert _finding("Debian packages").bad


def test_a_cache_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", "/dev/null/cache")
    found = _finding("cache")
    assert found.bad and "/dev/null/cache" in found.state


def _machine(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """This is Linux on that machine."""
    found = os.uname_result(("Linux", "host", "6.1", "#1", machine))
    monkeypatch.setattr(os, "uname", lambda: found)


def test_arm64_has_qemu_and_not_hercules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _machine("aarch64", monkeypatch)
    assert _finding("system").state == "Linux, aarch64: guests run in QEMU, not in Hercules"
    found = _hercules(tmp_path, monkeypatch, "Hercules Version 3.13")
    said = (
        "the CP runs in Hercules on x86-64 only, and this machine is aarch64;"
        " use QEMU (--backend qemu)"
    )
    assert (found.state, found.remedy) == (said, "")
    with pytest.raises(CannotRun) as caught:
        herculesbuild.build_module()
    assert str(caught.value) == said


def test_machine_on_which_nobody_has_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine("riscv64", monkeypatch)
    found = _finding("system")
    assert (found.state, found.bad) == ("Linux, riscv64: zvmlab was not tried on it", False)


def _hercules(folder: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> Finding:
    """What is found of a Hercules that says this."""
    (folder / "hercules").write_text(f"#!/bin/sh\necho '{said}'; exit 1\n")
    (folder / "hercules").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return _finding("Hercules")


def test_hercules_with_and_without_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _hercules(tmp_path, monkeypatch, "Hercules Version 3.13")
    assert (found.state, found.remedy) == (
        "3.13, module not built yet; --backend hercules does",
        "",
    )
    (tmp_path / "cache" / module_entry(sources())).mkdir(parents=True)
    assert _finding("Hercules").state == "3.13, module built"


@pytest.mark.parametrize("said, version", [("Hercules Version 4.7", "4.7"), ("help", "unknown")])
def test_another_hercules_is_told_and_does_not_keep_guests_from_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, version: str
) -> None:
    found = _hercules(tmp_path, monkeypatch, said)
    assert found.state == f"{tmp_path}/hercules has version {version}, the module is for 3.13"
    assert found.remedy == "install Debian 12's package hercules" and not found.bad


def test_no_hercules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    found = _finding("Hercules")
    assert found.state.startswith("Hercules is missing")
    assert found.remedy == "ci/setup.sh hercules" and not found.bad


def test_a_run_directory_with_a_long_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_RUN", str(tmp_path / ("x" * 80)))
    found = _finding("run directory")
    assert found.bad and "too long" in found.state


def _fake_tools(folder: Path, installed_names: list[str]) -> dict[str, str]:
    """A dpkg-query that knows those packages, an apt-get and a sudo that only say what they get."""
    folder.mkdir()
    lines = "\n".join(f"ii  {name}" for name in installed_names)
    scripts = {
        "dpkg-query": f"cat <<'END'\n{lines}\nEND\n",
        "apt-get": 'echo "apt-get $*"\n',
        "apt-cache": 'case $2 in *t64) echo "  Candidate: 2.84";; *) echo "  Candidate: (none)";; esac\n',
        "sudo": 'echo "sudo"; exec "$@"\n',
        "id": "echo 1000\n",
    }
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def _setup(env: dict[str, str], *groups: str) -> subprocess.CompletedProcess[str]:
    argv = ["sh", str(SETUP), *groups]
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_setup_is_silent_when_nothing_is_missing(tmp_path: Path) -> None:
    everything = [package.name for package in read_packages()]
    done = _setup(_fake_tools(tmp_path / "bin", everything))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_setup_installs_only_what_is_missing_and_says_so(tmp_path: Path) -> None:
    most = [p.name for p in read_packages() if p.name not in ("flex", "reuse")]
    env = _fake_tools(tmp_path / "bin", most)
    done = _setup(env)
    assert done.returncode == 0
    said = done.stderr.splitlines()
    assert said[0] == "ci/setup.sh: installing flex reuse"
    assert said[1] == "sudo"
    assert said[2].endswith("install -y --no-install-recommends flex reuse")
    assert "reuse" not in _setup(env, "build").stderr


def test_setup_takes_the_name_that_this_release_has(tmp_path: Path) -> None:
    names = [p.name for p in read_packages()]
    others = [name for name in names if name != "libglib2.0-0"]
    done = _setup(_fake_tools(tmp_path / "bin", [*others, "libglib2.0-0t64"]))
    assert (done.returncode, done.stderr) == (0, "")
    done = _setup(_fake_tools(tmp_path / "lacking", others))
    assert done.returncode == 0
    assert done.stderr.splitlines()[0] == "ci/setup.sh: installing libglib2.0-0t64"


def test_setup_refuses_an_unknown_group(tmp_path: Path) -> None:
    done = _setup(_fake_tools(tmp_path / "bin", []), "biuld")
    assert done.returncode == 2
    assert "there is no group biuld" in done.stderr
