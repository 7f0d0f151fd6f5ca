# SPDX-License-Identifier: MIT
"""A series is tried on Debian's kernel: a mistake, a correction and a change without effect.

Each changes one place of the kernel's own monreader, and is made here, so that it fits the source
that Debian has at the moment.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from waiting import finish, run_within, wait_until

from zvmlab.base.cache import cache_root, digest
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.builder.kernels import resolve
from zvmlab.builder.modulebuild import driver_module
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.verdict.sides import targets_of

DRIVER = "drivers/s390/char/monreader.c"
SECONDS = 1500
BUSY = "tests/e2e/test_monreader_busy.py"
NO_BYTES = "tests/e2e/test_monreader_signals.py::test_read_of_no_bytes_has_no_effect"


class Edit(NamedTuple):
    """One place of the driver."""

    place: str
    becomes: str


MISTAKE = Edit(r"^\trc = -EBUSY;$", "\trc = -EIO;")
"""A second open is no longer told that the device is busy."""
CORRECTION = Edit(
    r"^(static ssize_t mon_read\([^{]*\{\n(?:\t[^\n]+\n)+\n)", r"\1\tif (!count)\n\t\treturn 0;\n\n"
)
"""Defect 11: a read of no bytes takes the end of a set."""
NO_EFFECT = Edit(
    r"^(\tmonpriv->write_index +=) 0;\n(\tmonpriv->read_index +=) 0;$", r"\2 0;\n\1 0;"
)
SLOWER = Edit(
    r"^(static ssize_t mon_read\([^{]*\{\n(?:\t[^\n]+\n)+\n)",
    r"\1\tfor (int i = 0; i < 1000; i++)\n\t\tbarrier();\n\n",
)
"""A read takes one or two instructions (BRCT, or AHI and JNE) for each turn of the loop."""
LOUD = Edit(r"^(\trc = -EBUSY;)$", r"\1" "\n" r'\tpr_warn("it is in use by %d\\n", 7);')
BROKEN = Edit(r"^\trc = -EBUSY;$", "\trc = -EBUSY")
COUNTED = pytest.mark.not_debug("instructions are counted on plain kernels only")


def write_patch(folder: Path, tree: Path, edit: Edit) -> Path:
    """The edit as a diff."""
    old = (tree / DRIVER).read_text(encoding="utf-8")
    new, count = re.subn(edit.place, edit.becomes, old, flags=re.MULTILINE)
    assert count == 1, f"the edit fits {count} places of {DRIVER}"
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    patch = folder / "edit.patch"
    diff = difflib.unified_diff(before, after, f"a/{DRIVER}", f"b/{DRIVER}")
    patch.write_text("".join(diff))
    return patch


@pytest.fixture
def tried(
    zvmlab_kernel: str, tmp_path: Path
) -> Callable[[Edit, str], tuple[int, dict[str, Any], str]]:
    """Tries an edit with some tests: exit code, the verdict as JSON, what was printed."""
    (target,) = targets_of(zvmlab_kernel, Progress(quiet=True))

    def run(edit: Edit, tests: str) -> tuple[int, dict[str, Any], str]:
        patch = write_patch(tmp_path, target.tree, edit)
        out = tmp_path / "verdict.json"
        argv = [sys.executable, str(TREE / "zvmlab"), "try", str(patch), "--kernel", zvmlab_kernel]
        argv += ["--tests", tests, "--json", str(out)]
        env = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
        done = run_within(SECONDS, argv, env=env, text=True)
        assert out.exists(), done.stderr
        return done.returncode, json.loads(out.read_text()), done.stdout

    return run


pytestmark = [
    pytest.mark.timeout(SECONDS + 60),
    pytest.mark.first_kernel,
    # They look for what a trial leaves in the cache, which they share.
    pytest.mark.xdist_group("try"),
]
Tried = Callable[[Edit, str], tuple[int, dict[str, Any], str]]


def test_mistake_is_newly_failing(tried: Tried) -> None:
    code, verdict, said = tried(MISTAKE, BUSY)
    assert code == 1
    (one,) = verdict["tried"]
    found = one["difference"]
    assert one["modules"] == ["monreader"]
    assert found["failing"] and not found["passing"] and not found["unsteady"]
    assert all(each["base"] == [3, 3] and each["patched"] == [0, 3] for each in found["failing"])
    assert any("busy" in each["test"] for each in found["failing"])
    assert "newly failing" in said.splitlines()[1]
    assert max(map(len, said.partition("\nRepeat it with")[0].splitlines())) <= 72


def test_correction_of_a_known_defect_is_newly_passing(tried: Tried) -> None:
    code, verdict, said = tried(CORRECTION, NO_BYTES)
    assert code == 0
    (one,) = verdict["tried"]
    (passing,) = one["difference"]["passing"]
    assert passing["test"].startswith("monreader_signals.read_of_no_bytes_has_no_effect")
    assert (passing["base"], passing["patched"]) == ([0, 3], [3, 3])
    assert not one["difference"]["failing"] and "1 newly passing" in said


@COUNTED
def test_change_without_effect_is_nothing_new(tried: Tried) -> None:
    code, verdict, said = tried(NO_EFFECT, BUSY)
    assert code == 0 and "nothing new" in said
    (one,) = verdict["tried"]
    assert one["difference"]["compared"] >= 5 and not one["difference"]["failing"]
    assert one["instructions"] == [] and not any("instr" in line for line in verdict["not_tried"])


def test_new_line_of_the_log_is_a_report(tried: Tried) -> None:
    code, verdict, said = tried(LOUD, BUSY)
    assert code == 1 and "1 new report" in said.splitlines()[1]
    (one,) = verdict["tried"]
    (report,) = one["difference"]["reports"]
    assert report["report"] == "log: monreader: it is in use by 7" and "busy" in report["test"]
    assert not one["difference"]["unsteady"]


@COUNTED
def test_operation_that_takes_more_instructions_is_listed(tried: Tried) -> None:
    code, verdict, said = tried(SLOWER, NO_BYTES)
    assert code == 0 and "\nInstructions for each operation\n" in said
    (one,) = verdict["tried"]
    # Three reads: a control element, its records, and none at the end of the set.
    (found,) = [line for line in one["instructions"] if line.startswith("read-one-set: ")]
    match = re.fullmatch(r"read-one-set: reads: (\d+) to (\d+) \(\+\d+\.\d%\)", found)
    assert match is not None, found
    assert 3 * 1000 <= int(match[2]) - int(match[1]) <= 3 * 2100


def test_series_that_does_not_compile_fails_with_the_compilers_words(tried: Tried) -> None:
    code, verdict, said = tried(BROKEN, BUSY)
    assert code == 1
    (one,) = verdict["tried"]
    assert re.search(r"monreader\.c:\d+:\d+: error: ", one["broken"]) and "Does not build" in said


def test_replaced_module_is_what_guests_load(zvmlab_kernel: str, tmp_path: Path) -> None:
    """The variable that the trial uses names a module that the kernel has."""
    module = tmp_path / "no_such.ko"
    module.write_bytes(b"")
    env = {**os.environ, "ZVMLAB_REPLACED_MODULES": str(module)}
    argv = [sys.executable, str(TREE / "zvmlab"), "run", "--kernel", zvmlab_kernel, "--", "true"]
    done = run_within(300, argv, env=env, text=True)
    assert done.returncode == 2
    assert f"kernel {resolve(zvmlab_kernel)} has no module no_such" in done.stderr


def start(patch: Path, kernel: str, mark: str) -> subprocess.Popen[str]:
    """A trial with one short test; *mark* is in the environment of all that it starts."""
    argv = [sys.executable, str(TREE / "zvmlab"), "try", str(patch), "--kernel", kernel]
    argv += ["--tests", NO_BYTES]
    env = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    return subprocess.Popen(
        argv,
        env=env | {"ZVMLAB_TRIAL_OF_TEST": mark},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def alive(mark: str) -> list[str]:
    """Processes that have the mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z" and mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text().replace("\0", " "))
    return found


def await_line(process: subprocess.Popen[str], begin: str) -> None:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if line.startswith(begin):
            return
    raise AssertionError(f"the trial never said {begin!r}: {said}")


@pytest.mark.parametrize("number", (signal.SIGKILL, signal.SIGINT), ids=("kill", "ctrl-c"))
@pytest.mark.parametrize("phase", ("building", "testing base"))
def test_trial_that_is_ended_leaves_no_process_and_the_next_one_no_file(
    zvmlab_kernel: str, tmp_path: Path, number: signal.Signals, phase: str
) -> None:
    (target,) = targets_of(zvmlab_kernel, Progress(quiet=True))
    mark = str(uuid.uuid4())
    # A comment that nobody has built yet.
    patch = write_patch(tmp_path, target.tree, Edit(r"^(\trc = -EBUSY;)$", rf"\1 /* {mark} */"))
    work = cache_root() / f"try-{digest(str(target.tree.resolve()))}"
    ended = start(patch, zvmlab_kernel, mark)
    await_line(ended, phase)
    if phase != "building":
        wait_until(lambda: any("qemu" in line for line in alive(mark)), "a guest of the trial")
    ended.send_signal(number)
    finish(ended)
    assert ended.returncode == (-number if number == signal.SIGKILL else 128 + number)
    wait_until(lambda: not alive(mark), "the end of all that the trial has started")
    first, second = (start(patch, zvmlab_kernel, mark) for _ in range(2))
    said = [finish(process, seconds=SECONDS) for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), said
    assert all("nothing new" in out for out, _ in said)
    assert any("waiting until process" in err for _, err in said), "one after the other"
    assert not work.exists() and not alive(mark)


def _check_ours(guest: Guest) -> None:
    guest.agent.modprobe("monreader").check()
    # The kernel's own has no such parameter.
    assert guest.agent.read_text("/sys/module/monreader/parameters/open_timeout")


def test_replaced_module_stays_whatever_becomes_of_the_guest(
    zvmlab_kernel: str, zvmlab_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is put into a guest that began at the checkpoint of all, and again where that comes back."""
    module = driver_module(resolve(zvmlab_kernel))
    monkeypatch.setenv("ZVMLAB_REPLACED_MODULES", str(module))
    plain = GuestConfig(kernel=zvmlab_kernel)
    with Guest(plain, zvmlab_dir) as guest:
        guest.boot()
        assert guest.artifacts.late == (module,)
        _check_ours(guest)
        guest.put_back()
        _check_ours(guest)
        guest.reboot()
        _check_ours(guest)
    monkeypatch.delenv("ZVMLAB_REPLACED_MODULES")
    with Guest(plain, zvmlab_dir) as guest:
        guest.boot()
        guest.agent.modprobe("monreader").check()
        with pytest.raises(FileNotFoundError):
            guest.agent.read_text("/sys/module/monreader/parameters/open_timeout")
