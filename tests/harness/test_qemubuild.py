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
from zvmlab.build import buildstep, packages, qemubuild
from zvmlab.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
SIM = ROOT / "sim"
HOOKS = SIM / "qemu" / "insert_hooks.py"


# One change instead of all, of which a file's last line is enough to see it.
SPEED = """
CHANGES = (Change("quick", [Hook("a/other.c", "end", "quick\\n")]),)
"""
# The port is one hook.
PORT = """from hook import Change, Hook
def port(properties: str) -> Change:
    return Change("port", [{hook}])
"""


def run_hooks(folder: Path, tree: Path, *options: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-B", str(folder / HOOKS.name), *options, str(tree)]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The script with one hook only, in a folder of its own; its anchor is "here"."""
    return script_with(tmp_path, 'Hook("a/file.c", "here", "zvmlab\\n", after=True)')


def script_with(tmp_path: Path, hook: str) -> Path:
    """The script with this hook only, no corrections, and one change that can be left out."""
    folder = tmp_path / "script"
    folder.mkdir()
    for name in (HOOKS.name, "qapi.json", "hook.py", "newer.py"):
        shutil.copy(SIM / "qemu" / name, folder)
    (folder / "port_hooks.py").write_text(PORT.format(hook=hook))
    (folder / "corrections.py").write_text("CHANGES = ()\n")
    (folder / "speed.py").write_text((SIM / "qemu" / "speed.py").read_text() + SPEED)
    return folder


def tree_with(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "tree" / "a" / "file.c"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    (file.parent / "other.c").write_text("end\n", encoding="utf-8")
    (tmp_path / "tree" / "VERSION").write_text("7.2.0\n", encoding="utf-8")
    return tmp_path / "tree"


def test_hook_is_inserted_after_its_anchor(script: Path, tmp_path: Path) -> None:
    tree = tree_with(tmp_path, "one\nhere it is\ntwo\n")
    assert run_hooks(script, tree).returncode == 0
    assert (tree / "a" / "file.c").read_text() == "one\nhere it is\nzvmlab\ntwo\n"


FUNCTIONS = "a()\n{\n    here\n}\n\nb()\n{\n    here\n}\n\nhere\n"


def test_hook_takes_a_lines_place_in_one_function(tmp_path: Path) -> None:
    hook = 'Hook("a/file.c", "here", "    zvmlab\\n", instead=1, inside="b()")'
    tree = tree_with(tmp_path, FUNCTIONS)
    assert run_hooks(script_with(tmp_path, hook), tree).returncode == 0
    text = (tree / "a" / "file.c").read_text()
    assert text == "a()\n{\n    here\n}\n\nb()\n{\n    zvmlab\n}\n\nhere\n"


@pytest.mark.parametrize(("inside", "piece"), [("c()", "c()"), ("()", "()"), ("{", "{")])
def test_function_of_a_hook_must_be_there_once(tmp_path: Path, inside: str, piece: str) -> None:
    hook = f'Hook("a/file.c", "here", "zvmlab\\n", inside="{inside}")'
    tree = tree_with(tmp_path, FUNCTIONS)
    done = run_hooks(script_with(tmp_path, hook), tree)
    assert done.returncode == 1
    times = FUNCTIONS.count(piece)
    assert f"a/file.c: the line with '{piece}' occurs {times} times instead of once" in done.stderr


def test_hooks_are_for_built_versions_only(script: Path, tmp_path: Path) -> None:
    tree = tree_with(tmp_path, "here\n")
    (tree / "VERSION").write_text("10.2.2\n", encoding="utf-8")
    done = run_hooks(script, tree)
    assert done.returncode == 1
    assert done.stderr == f"{tree} is QEMU 10.2.2; there are changes for 7.2, 10.0, 11.1\n"
    (tree / "VERSION").unlink()
    done = run_hooks(script, tree)
    assert done.stderr == f"{tree / 'VERSION'} cannot be read: No such file or directory\n"
    assert (tree / "a" / "file.c").read_text() == "here\n"


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ('PRETTY_NAME="Debian 12"\n\nID=debian\nVERSION_ID="12"\n', "7.2"),
        ('ID=debian\nVERSION_ID="13"\n', "10.0"),
        ("ID=debian\nVERSION_CODENAME=sid\n", "10.0"),
        ('ID=ubuntu\nVERSION_ID="24.04"\n', "7.2"),
        ('ID=other\nID_LIKE=debian\nVERSION_ID="13"\n', "7.2"),
        ('ID="debian\n', "7.2"),
        (None, "7.2"),
    ],
)
def test_version_is_that_of_the_hosts_debian(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str | None, version: str
) -> None:
    file = tmp_path / "os-release"
    if release is not None:
        file.write_text(release)
    monkeypatch.delenv(qemubuild.VERSION, raising=False)
    monkeypatch.setattr(qemubuild, "OS_RELEASE", file)
    assert qemubuild.version() == version
    bases, builds = {qemubuild.base_key()}, {qemubuild.build_key(ROOT)}
    for other in {"7.2", "10.0", "11.1"} - {version}:
        monkeypatch.setenv(qemubuild.VERSION, other)
        assert qemubuild.version() == other
        bases.add(qemubuild.base_key())
        builds.add(qemubuild.build_key(ROOT))
    assert len(bases) == len(builds) == 3


def test_a_version_that_is_not_built_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(qemubuild.VERSION, "9.2")
    with pytest.raises(UsageError) as caught:
        qemubuild.version()
    assert str(caught.value) == "ZVMLAB_QEMU_VERSION=9.2: QEMU is built as 7.2, 10.0 or 11.1"


@pytest.mark.parametrize(("text", "count"), [("one\n", 0), ("here\nand here\n", 2)])
def test_anchor_must_match_once(script: Path, tmp_path: Path, text: str, count: int) -> None:
    tree = tree_with(tmp_path, text)
    done = run_hooks(script, tree)
    assert done.returncode == 1
    assert f"a/file.c: the line with 'here' occurs {count} times instead of once" in done.stderr
    assert (tree / "a" / "file.c").read_text() == text


def test_hooks_are_not_inserted_twice(script: Path, tmp_path: Path) -> None:
    tree = tree_with(tmp_path, "here\n")
    assert run_hooks(script, tree).returncode == 0
    done = run_hooks(script, tree)
    assert done.returncode == 1
    assert done.stderr.endswith("a/file.c has the hooks already\n")


def test_a_change_can_be_left_out_by_its_name(script: Path, tmp_path: Path) -> None:
    tree = tree_with(tmp_path, "here\n")
    other = tree / "a" / "other.c"
    assert run_hooks(script, tree, "--without=quick").returncode == 0
    assert other.read_text() == "end\n"
    shutil.rmtree(tree)
    assert run_hooks(script, tree_with(tmp_path, "here\n")).returncode == 0
    assert other.read_text() == "quick\nend\n"


def test_a_change_that_is_not_known_is_refused(script: Path, tmp_path: Path) -> None:
    tree = tree_with(tmp_path, "here\n")
    done = run_hooks(script, tree, "--without=slow")
    assert done.returncode == 2
    # Python 3.12 and later write the names without quotation marks.
    assert re.search(r"invalid choice: 'slow' \(choose from '?quick'?\)", done.stderr)
    assert (tree / "a" / "file.c").read_text() == "here\n"


def test_what_is_left_out_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys, bases = [], []
    for value in ("", "slots", "slots lowcore", "lowcore  slots"):
        monkeypatch.setenv("ZVMLAB_QEMU_WITHOUT", value)
        keys.append(qemubuild.build_key(ROOT))
        bases.append(qemubuild.base_key())
    assert len(set(keys)) == 3 and keys[2] == keys[3]
    assert len(set(bases)) == 1


def times(tree: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in (tree / "a").iterdir()}


def test_hooks_take_the_place_of_those_before(script: Path, tmp_path: Path) -> None:
    """Three builds in one tree, the middle one without a change."""
    tree, pristine = tree_with(tmp_path, "here\n"), f"--pristine={tmp_path / 'pristine'}"
    other = tree / "a" / "other.c"
    assert run_hooks(script, tree, pristine).returncode == 0
    assert other.read_text() == "quick\nend\n"
    before = times(tree)
    assert run_hooks(script, tree, pristine, "--without=quick").returncode == 0
    assert other.read_text() == "end\n"
    assert times(tree)["file.c"] == before["file.c"]
    assert times(tree)["other.c"] > before["other.c"]
    before = times(tree)
    assert run_hooks(script, tree, pristine, "--without=quick").returncode == 0
    assert times(tree) == before
    assert run_hooks(script, tree, pristine).returncode == 0
    assert other.read_text() == "quick\nend\n"
    assert (tree / "a" / "file.c").read_text() == "here\nzvmlab\n"


def test_hooks_that_do_not_fit_leave_those_before(script: Path, tmp_path: Path) -> None:
    tree, pristine = tree_with(tmp_path, "here\n"), f"--pristine={tmp_path / 'pristine'}"
    assert run_hooks(script, tree, pristine).returncode == 0
    hook = 'Hook("a/file.c", "gone", "zvmlab\\n")'
    (script / "port_hooks.py").write_text(PORT.format(hook=hook))
    done = run_hooks(script, tree, pristine, "--without=quick")
    assert done.returncode == 1
    assert "the line with 'gone' occurs 0 times" in done.stderr
    assert (tree / "a" / "file.c").read_text() == "here\nzvmlab\n"
    assert (tree / "a" / "other.c").read_text() == "quick\nend\n"


MODULES = (
    "import sys, corrections, newer, port_hooks, speed, patches\nfrom hook import Change, Hook"
)


def in_qemu_folder(program: str, *argv: str) -> subprocess.CompletedProcess[str]:
    """What a program says that has the modules of sim/qemu."""
    command = [sys.executable, "-B", "-c", f"{MODULES}\n{program}"]
    folder = str(SIM / "qemu")
    return subprocess.run(
        [*command, *argv], capture_output=True, text=True, check=False, timeout=60, cwd=folder
    )


def test_each_change_has_a_message_and_no_other_has() -> None:
    done = in_qemu_folder(
        "more = [change for step in newer.STEPS for change in step.more]\n"
        "names = [change.name for change in (*corrections.CHANGES, *speed.CHANGES, *more)]\n"
        "print(len(names) == len(set(names)), set(names) == set(patches.MESSAGES))\n"
        "print(all(len(line) <= patches.WIDTH for line, _ in patches.MESSAGES.values()))"
    )
    assert done.stdout == "True True\nTrue\n", done.stderr


def test_patches_apply_one_after_the_other(tmp_path: Path) -> None:
    """Two changes of one line's neighbourhood: the second is made against the first."""
    tree = tree_with(tmp_path, "one\nhere\ntwo\n")
    (tree / "VERSION").write_text("7.2.0\n")
    done = in_qemu_folder(
        'corrections.CHANGES = (Change("sign", [Hook("a/file.c", "here", "new\\n")]),)\n'
        'speed.CHANGES = (Change("bear", [Hook("a/file.c", "new", "newer\\n", instead=1)]),)\n'
        "sys.exit(patches.main(['patches.py', *sys.argv[1:]]))",
        *(str(tree), str(tmp_path / "out")),
    )
    assert done.stdout == f"2 patches are in {tmp_path / 'out'}\n", done.stderr
    assert (tree / "a" / "file.c").read_text() == "one\nhere\ntwo\n"
    first, second = sorted((tmp_path / "out").iterdir())
    assert (first.name, second.name) == ("0001-sign.patch", "0002-bear.patch")
    assert "\n+new\n here\n" in first.read_text()
    assert "\n-new\n+newer\n here\n" in second.read_text()
    assert "\nSubject: [PATCH 2/2] target/s390x: add the BEAR" in second.read_text()


# What bare/corrected.c finds wrong in 10.0.13 and 11.1.3, and the changes but for "sizes".
AFTER_7_2 = (
    "brcth per-store stoc tr csp accreg csst io-pending crw-lost endless lowcore slots lowprot bear"
    " port"
)


@pytest.mark.parametrize("version", ["10.0", "10.2", "11.1"])
def test_newer_versions_have_the_changes_that_qemu_lacks(version: str) -> None:
    done = in_qemu_folder(
        "every = [*corrections.CHANGES, *speed.CHANGES, port_hooks.port('')]\n"
        "print(*(change.name for change in newer.changes_for(sys.argv[1], every)))\n"
        "print(newer.changes_for('7.2', every) == every)",
        version,
    )
    assert done.stdout == f"{AFTER_7_2}\nTrue\n", done.stderr


# Of 7.2: two changes, each with a hook.  10.0 has the first, and another line for the second.
STEPPED = """
corrections.CHANGES = (Change("sign", [Hook("a/file.c", "here", "sign\\n")]),)
speed.CHANGES = (Change("bear", [Hook("a/file.c", "here", "old(1)\\n")]),)
newer.STEPS = (
    newer.Step("10.0", frozenset({"sign"}), {"old(": "new("},
               {"bear": {"here": [Hook("a/file.c", "that", "old(2)\\n")]}}),
    newer.Step("11.1", words={"new(": "newest(", "that": "two"}),
)
"""
PATCHES = "sys.exit(patches.main(['patches.py', *sys.argv[1:]]))"


@pytest.mark.parametrize(
    ("version", "added"),
    [
        ("7.2.0", ["+sign\n here\n", "+old(1)\n here\n"]),
        ("10.0.13", ["+new(2)\n that\n"]),
        ("11.1.3", ["+newest(2)\n two\n"]),
    ],
)
def test_a_version_differs_from_the_one_before(
    tmp_path: Path, version: str, added: list[str]
) -> None:
    tree = tree_with(tmp_path, "one\nhere\nthat\ntwo\n")
    (tree / "VERSION").write_text(f"{version}\n")
    done = in_qemu_folder(f"{STEPPED}\n{PATCHES}", str(tree), str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    written = [file.read_text() for file in sorted((tmp_path / "out").iterdir())]
    assert len(written) == len(added)
    assert all(lines in text for lines, text in zip(added, written))


@pytest.mark.parametrize(
    ("said", "useless"),
    [
        ('frozenset({"bear"})', "bear"),
        ('words={"gone(": "new("}', "gone("),
        ('hooks={"sign": {"that": []}}', "sign: that"),
    ],
)
def test_a_difference_without_use_is_refused(tmp_path: Path, said: str, useless: str) -> None:
    tree = tree_with(tmp_path, "here\n")
    (tree / "VERSION").write_text("10.0.13\n")
    program = (
        'corrections.CHANGES = (Change("sign", [Hook("a/file.c", "here", "old(1)\\n")]),)\n'
        f'speed.CHANGES = ()\nnewer.STEPS = (newer.Step("10.0", {said}),)\n{PATCHES}'
    )
    done = in_qemu_folder(program, str(tree), str(tmp_path / "out"))
    assert done.returncode == 1
    assert done.stderr == f"the step to QEMU 10.0 has no use for ['{useless}']\n"


def test_lines_for_all_targets_name_no_targets_type() -> None:
    """11.1 compiles accel/tcg once for all targets: a macro of one would not be seen there."""
    done = in_qemu_folder(
        "every = [*corrections.CHANGES, *speed.CHANGES, port_hooks.port('')]\n"
        "hooks = newer.changes_for('11.1', every)[:-1]\n"
        "texts = [hook.text for change in hooks for hook in change.hooks"
        " if not hook.file.startswith('target/')]\n"
        "print(len(texts) > 5, any('target_ulong' in text or 'TARGET_PAGE_WRITE' in text"
        " for text in texts))"
    )
    assert done.stdout == "True False\n", done.stderr


def test_patches_are_for_known_versions_only(tmp_path: Path) -> None:
    tree = tree_with(tmp_path, "here\n")
    (tree / "VERSION").write_text("9.1.2\n")
    done = in_qemu_folder(PATCHES, str(tree), str(tmp_path / "out"))
    assert done.returncode == 1
    assert done.stderr == f"{tree} is QEMU 9.1.2; there are changes for 7.2, 10.0, 10.2, 11.1\n"


def test_missing_file_is_named(script: Path, tmp_path: Path) -> None:
    (tmp_path / "VERSION").write_text("7.2.0\n", encoding="utf-8")
    done = run_hooks(script, tmp_path, "--without=quick")
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path}/a/file.c cannot be read: No such file or directory\n"


def test_object_properties_are_the_cores_keys() -> None:
    keys = (SIM / "cp" / "config.c").read_text(encoding="utf-8")
    keys = keys[keys.index("cp_config_keys[") :]
    known = set(keys[keys.index("{") + 1 : keys.index("}")].replace('"', "").split(","))
    schema = (SIM / "qemu" / "qapi.json").read_text(encoding="utf-8")
    listed = {word[1:] for word in schema.split("'") if word.startswith("*")}
    names = {key.strip() for key in known if key.strip()}
    assert listed == names | {"control", "trace", "trace-limit"}


def test_ninja_progress() -> None:
    assert qemubuild.ninja_progress("[ 523/1215] Compiling") is None
    assert qemubuild.ninja_progress("[523/1215] Compiling C object a.o\n") == (523, 1215)
    assert qemubuild.ninja_progress("FAILED: a.o") is None


def test_keys_follow_the_sources(tmp_path: Path) -> None:
    for part in ("lib", "sim"):
        shutil.copytree(ROOT / part, tmp_path / part)
    sim = tmp_path / "sim"
    key = qemubuild.build_key(tmp_path)
    (sim / "cp" / "editor.c~").write_text("not a source")
    (sim / "cp" / ".hidden").mkdir()
    (sim / "cp" / ".hidden" / "a.json").write_text("{}")
    with open(sim / "qemu" / "patches.py", "a", encoding="utf-8") as file:
        file.write("# A better text.\n")
    assert qemubuild.build_key(tmp_path) == key
    for name in ("cp/cp.c", "qemu/insert_hooks.py", "qemu/qapi.json"):
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


def _meson_in(folder: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """The machine's meson says this version."""
    program = folder / "meson"
    program.write_text(f"#!/bin/sh\necho {said}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


@pytest.mark.parametrize(
    ("version", "said", "enough"),
    [
        ("7.2", "1.0.1", True),
        ("10.0", "1.0.1", False),
        ("10.0", "1.4.2", False),
        ("10.0", "1.5.0", True),
        ("11.1", "1.10.0", True),
        ("11.1", "2.0.0", True),
        ("10.0", "unknown", False),
    ],
)
def test_newer_versions_need_a_newer_meson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, said: str, enough: bool
) -> None:
    fetched = tmp_path / "fetched"
    monkeypatch.setenv(qemubuild.VERSION, version)
    monkeypatch.setattr(qemubuild, "entry", lambda *words: fetched)
    _meson_in(tmp_path, monkeypatch, said)
    found = qemubuild._meson(Progress())
    assert found == ({} if enough else {"PYTHONPATH": str(fetched)})
