# SPDX-License-Identifier: MIT
"""A test fails for the last act of its kernel or emulator.

Runs of pytest within a test, with real guests; what the plugin makes of it is in
tests/harness/test_plugin_crashes.py, on a fake emulator.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zvmlab.base.cache import cache_root
from zvmlab.base.errors import GuestPanic, ZvmlabError
from zvmlab.builder.modulebuild import built_module
from zvmlab.builder.kernel import slowness
from zvmlab.builder.kernels import resolve
from zvmlab.cli.main import main
from zvmlab.guest.backends import backend_of
from zvmlab.guest.config import QEMU, GuestConfig
from zvmlab.guest.console import CRASHES
from zvmlab.guest.guest import Guest

Loads = Callable[..., contextlib.AbstractContextManager[Guest]]
FILE = "/tmp/crash.ko"
HARNESS = Path(__file__).resolve().parents[2] / "harness"
SOURCE = Path(__file__).parent / "modules" / "crash"
RUN_SECONDS = 600.0
pytestmark = [pytest.mark.representative, pytest.mark.timeout(RUN_SECONDS + 40)]

HEAD = """
import os, signal, time
from pathlib import Path
import pytest
from zvmlab.agent.wire import Request, Writer
from zvmlab.base.errors import GuestPanic
from zvmlab.guest.guest import Guest

FILE = "/tmp/crash.ko"

def load(guest, parameters):
    "Begin to load the module; the call returns before that has happened."
    guest.agent.write_file(FILE, Path({module!r}).read_bytes(), 0o600)
    payload = Writer().string(FILE).string(parameters).u32(0).payload()
    what = "loading the module"
    return guest.agent.start(Request.INSMOD, payload, what, 30, lambda reader: reader.u32())

def loaded(guest, parameters):
    assert load(guest, parameters).result() == 0

def sysrq(guest, key):
    batch = guest.agent.worker("sysrq").batch()
    batch.write(batch.open("/proc/sysrq-trigger", os.O_WRONLY), key)
    batch.start()
"""

ENDS = """
def test_warning_after_a_second(driver_guest): loaded(driver_guest, "kind=warning after_ms=1000")
def test_warning_a_second_ago(warm_guest):
    loaded(warm_guest, "kind=warning")
    time.sleep(1)
def test_warning_of_another_thread(guest_config, zvmlab_dir):
    with Guest(guest_config, zvmlab_dir) as guest:
        guest.boot()
        loaded(guest, "kind=warning later=1")
def test_bug(monreader): load(monreader, "kind=bug")
def test_panic(made_guest):
    made_guest.boot()
    sysrq(made_guest, b"c")
def test_disabled_wait(guest): load(guest, "kind=disabled-wait")
def test_disabled_wait_of_one_of_two(guest_config, zvmlab_dir):
    with Guest(guest_config._replace(cpus=2), zvmlab_dir) as guest:
        guest.boot()
        load(guest, "kind=disabled-wait")
def test_warning_of_a_load_that_still_runs(guest_config, zvmlab_dir):
    with Guest(guest_config._replace(cpus=2), zvmlab_dir) as guest:
        guest.boot()
        load(guest, "kind=warning spin_ms=1000")
def test_warning_of_a_task_that_still_runs(guest_config, zvmlab_dir):
    with Guest(guest_config._replace(cpus=2), zvmlab_dir) as guest:
        guest.boot()
        loaded(guest, "kind=warning later=1 spin_ms=1000")
def test_killed(warm_guest): os.kill(warm_guest.emulator.pid, signal.SIGSEGV)
def test_killed_a_second_ago(paused_guest):
    os.kill(paused_guest.emulator.pid, signal.SIGSEGV)
    time.sleep(1)
def test_warning_behind_an_unfinished_line(guest):
    guest.agent.write_file("/dev/console", b"50 % done ")
    loaded(guest, "kind=warning")
def test_quiet_warning_among_workers_that_all_sleep(guest):
    guest.agent.write_file("/proc/sys/kernel/printk", b"1")
    loaded(guest, "kind=warning")
    for worker in (guest.agent, *(guest.agent.worker(str(number)) for number in range(15))):
        batch = worker.batch()
        batch.sleep(25)
        batch.start()
"""
# Test, and how its report begins.
ENDINGS = {
    "warning_after_a_second": "warning: WARNING: .*crash.*",
    "warning_a_second_ago": "warning: WARNING: .*crash.*",
    "warning_of_another_thread": "GuestPanic: the guest's kernel reported a warning .*crash.*",
    "bug": "bug: kernel BUG at .*crash.c:.*",
    "panic": "panic: Kernel panic - not syncing: sysrq triggered crash",
    "disabled_wait": "disabled wait: CPU 0, PSW 00020001 80000000 00000000 00ACC1DE",
    "disabled_wait_of_one_of_two": r"GuestPanic: the guest is in a disabled wait \(CPU [01], PSW .* 00ACC1DE\)",
    "warning_of_a_load_that_still_runs": "GuestPanic: the guest's kernel reported a warning .*crash.*",
    "warning_of_a_task_that_still_runs": "GuestPanic: the guest's kernel reported a warning .*crash.*",
    "warning_behind_an_unfinished_line": "warning: WARNING: .*crash.*",
    "quiet_warning_among_workers_that_all_sleep": "warning: WARNING: .*crash.*",
    "killed": "EmulatorError: the emulator was killed by SIGSEGV; its log is .*",
    "killed_a_second_ago": "EmulatorError: the emulator was killed by SIGSEGV; its log is .*",
}

QUIET = """
def test_held(guest): guest.machine.pause()
def test_all_workers_sleep(guest):
    for worker in (guest.agent, *(guest.agent.worker(str(number)) for number in range(15))):
        batch = worker.batch()
        batch.sleep(25)
        batch.start()
def test_log_is_read_though_the_console_shows_nothing(guest):
    guest.agent.write_file("/proc/sys/kernel/printk", b"1")
    loaded(guest, "kind=warning")
    with pytest.raises(GuestPanic, match="WARNING: .*crash"):
        guest.settle()
    assert "WARNING" not in guest.console.text()
    assert "WARNING" in guest.expect_crash("warning").line
def test_a_boot_that_comes_in_between(guest):
    guest.reboot()
    load(guest, "kind=warning")
    assert "WARNING" in guest.expect_crash("warning").line
"""


@pytest.fixture(scope="session")
def cache() -> Path:
    """The cache's path before a run of pytest within a test gets a home of its own."""
    return cache_root()


@pytest.fixture(scope="session")
def module(zvmlab_kernel: str) -> Path:
    """The module that has crashes."""
    return built_module(SOURCE, "crash.ko", resolve(zvmlab_kernel))


@pytest.fixture
def inner(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    module: Path,
    cache: Path,
    zvmlab_kernel: str,
    zvmlab_backend: str,
) -> Inner:
    """Runs tests as a foreign repository does, on this kernel and emulator."""
    monkeypatch.setenv("PYTHONPATH", str(HARNESS))
    monkeypatch.setenv("ZVMLAB_CACHE", str(cache))
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)
    return Inner(pytester, module, zvmlab_kernel, zvmlab_backend)


class Inner:
    """One run of pytest within a test."""

    def __init__(self, pytester: pytest.Pytester, module: Path, kernel: str, backend: str) -> None:
        self._pytester = pytester
        self._module = module
        self._options = ("--kernel", kernel, "--backend", backend)
        self.seconds = RUN_SECONDS * slowness(kernel) * backend_of(backend).slowness

    def run(self, tests: str) -> pytest.RunResult:
        """Run these tests; each has the module."""
        self._pytester.makepyfile(HEAD.format(module=str(self._module)) + tests)
        words = ("-p", "zvmlab.pytest_plugin", "-p", "no:cacheprovider", *self._options)
        return self._pytester.runpytest_subprocess(*words, timeout=self.seconds)


def heads(result: pytest.RunResult) -> dict[str, str]:
    """The first line of each failed test's report."""
    text = result.stdout.str()
    return dict(re.findall(r"^_+ test_(\w+)\[.*\] _+\n(?:\[gw.*\n)?(.*)", text, re.MULTILINE))


def test_nothing_that_happens_last_is_passed_over(inner: Inner) -> None:
    """Warnings, BUG, panic, a disabled wait, an emulator that was killed; in every fixture."""
    result = inner.run(ENDS)
    result.assert_outcomes(failed=len(ENDINGS))
    found = heads(result)
    assert sorted(found) == sorted(ENDINGS)
    wrong = {
        name: found[name] for name, head in ENDINGS.items() if not re.fullmatch(head, found[name])
    }
    assert wrong == {}


@pytest.mark.first_kernel
def test_what_is_no_crash_passes(inner: Inner) -> None:
    """CPUs that are held, workers that all sleep, expected crashes; the log counts."""
    inner.run(QUIET).assert_outcomes(passed=4)


@pytest.mark.first_kernel
def test_a_time_out_shows_the_stack_of_the_task_that_is_blocked(inner: Inner) -> None:
    """The agent answers, but for the worker that waits."""
    result = inner.run(
        """
from zvmlab.monitor.steps import thread_of

def test_it(guest):
    looker, stack = guest.agent.worker("looker"), thread_of(guest.agent) + "/stack"
    waiting = load(guest, "kind=hang")
    while b"crash_init" not in looker.read_file(stack):
        pass
    waiting.result(2)
"""
    )
    result.assert_outcomes(failed=1)
    assert re.match("Timeout: the agent did not answer loading the module", heads(result)["it"])
    stack = r"^task:init +state:D .*\nCall Trace:\n(?: .*\n)*?.* crash_init\+"
    assert re.search(stack, result.stdout.str(), re.MULTILINE)


# A log of 8 MiB has 28 MiB of descriptions, and a kernel with KASAN has tables of 16 MiB besides.
LONG_LOG, ROOM_FOR_IT = "quiet log_buf_len=8M", "0.256M"


@pytest.fixture
def loads(guest_config: GuestConfig, zvmlab_backend: str, zvmlab_dir: Path, module: Path) -> Loads:
    """A guest with the module loaded, which is to end in order; what it has is raised."""

    @contextlib.contextmanager
    def load(parameters: str, words: str = "", **fields: Any) -> Iterator[Guest]:
        config = guest_config._replace(backend=zvmlab_backend, command_line=words, **fields)
        with Guest(config, zvmlab_dir) as guest:
            guest.boot()
            guest.agent.write_file(FILE, module.read_bytes(), 0o600)
            guest.agent.insmod(FILE, parameters).check()
            yield guest

    return load


ENDS_IN_SHUTDOWN = {
    "qemu": r"disabled wait \(CPU 0, PSW .*\) {when}; it has panicked, for example by a warning",
    "hercules": r"the guest's kernel reported an? (warning|oops) .* {when}",
}


@pytest.mark.parametrize("kind", ["warning", "null"])
@pytest.mark.parametrize("end", [Guest.shut_down, Guest.reboot])
def test_a_crash_in_a_drivers_shutdown_is_raised(
    loads: Loads, zvmlab_backend: str, kind: str, end: Callable[[Guest], None]
) -> None:
    """QEMU's console, the SCLP's, has been turned off by then."""
    when = "while it powered off" if end is Guest.shut_down else "while it restarted"
    with pytest.raises(GuestPanic, match=ENDS_IN_SHUTDOWN[zvmlab_backend].format(when=when)):
        with loads(f"at=shutdown kind={kind}") as guest:
            end(guest)


@pytest.mark.parametrize("words", ["quiet", "printk.time=0"])
def test_a_warning_of_a_reboot_notifier_is_raised(loads: Loads, words: str) -> None:
    """Whatever the console shows until then."""
    with pytest.raises(GuestPanic, match="reported a warning .* while it powered off"):
        with loads("at=notifier kind=warning", words) as guest:
            guest.shut_down()


@pytest.mark.parametrize("end", [Guest.shut_down, Guest.reboot])
def test_a_warning_that_only_the_log_has_is_raised_before_the_end(
    loads: Loads, end: Callable[[Guest], None]
) -> None:
    with pytest.raises(GuestPanic, match="reported a warning .*WARNING: .*crash"):
        with loads("kind=warning", "quiet") as guest:
            end(guest)
            guest.stop()


def test_crashes_that_are_not_looked_for_are_none_at_the_end(loads: Loads) -> None:
    """The kernel goes on, and powers off."""
    kinds = tuple(kind for kind in CRASHES if kind != "warning")
    with loads("at=shutdown kind=warning", crashes=kinds) as guest:
        guest.shut_down()


def test_zvmlab_run_fails_if_a_module_warns(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    zvmlab_kernel: str,
    zvmlab_backend: str,
    module: Path,
) -> None:
    """Also with a console that shows nothing; a program that has succeeded changes nothing."""
    monkeypatch.setattr(sys, "stdin", None)
    words = ["run", "--kernel", zvmlab_kernel, "--backend", zvmlab_backend, "--append", "quiet"]
    words += ["--file", f"{module}:/crash.ko", "--", "insmod", "/crash.ko"]
    assert main([*words, "kind=warning"]) == 255
    assert re.search("reported a warning .*WARNING: .*crash", capfd.readouterr().err)
    assert main(words) == 0


@pytest.mark.first_kernel
@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        ("warning", GuestPanic, "its line is lost, but the kernel is tainted: W"),
        ("", ZvmlabError, "the guest's kernel has logged more than its log holds: .* records"),
    ],
)
def test_a_log_that_has_wrapped_is_no_sign_of_health(
    loads: Loads, kind: str, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        with loads(f"kind={kind} lines=20000", "quiet"):
            pass
    with loads("lines=20000", LONG_LOG, storage=ROOM_FOR_IT):
        pass


@pytest.mark.first_kernel
def test_a_log_that_is_longer_than_a_reply_is_read_to_its_end(loads: Loads) -> None:
    """The agent gives 4 MiB at a time."""
    with pytest.raises(GuestPanic, match="reported a warning .*WARNING: .*crash"):
        with loads("lines=22000", LONG_LOG, storage=ROOM_FOR_IT) as guest:
            guest.agent.rmmod("crash").check()
            guest.agent.insmod(FILE, "kind=warning").check()


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("sysfs", "sysfs: cannot create duplicate filename '/kernel/crash'"),
        ("debugfs", "debugfs: .*'crash'.* already "),
    ],
)
def test_a_name_that_is_taken_is_a_warning(loads: Loads, kind: str, line: str) -> None:
    with pytest.raises(GuestPanic, match=f"reported a warning .*{line}"):
        with loads(f"kind={kind}"):
            pass


@pytest.mark.parametrize(
    ("kind", "line"),
    [("no-page", ".* page allocation failure: order:"), ("stack", "CPU: 0 .*PID: ")],
)
def test_a_shortage_and_a_stack_alone_are_none(loads: Loads, kind: str, line: str) -> None:
    with loads(f"kind={kind}") as guest:
        assert any(re.match(line, said.text) for said in guest.agent.dmesg())


@pytest.mark.first_kernel
def test_a_guest_that_is_held_goes_on_to_be_asked_at_its_end(loads: Loads) -> None:
    with pytest.raises(GuestPanic, match="reported a warning .*WARNING: .*crash"):
        with loads("kind=warning", "quiet") as guest:
            guest.machine.pause()


@pytest.mark.first_kernel
def test_a_deterministic_guest_is_asked_too(loads: Loads, zvmlab_backend: str) -> None:
    if zvmlab_backend != QEMU:
        pytest.skip("only QEMU has deterministic guests")
    with pytest.raises(GuestPanic, match="reported a warning .*WARNING: .*crash"):
        with loads("kind=warning", "quiet", deterministic=True):
            pass
