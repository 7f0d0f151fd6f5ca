# SPDX-License-Identifier: MIT
"""A crash fails the test it happens in, and the report says so first: on a fake emulator.

What kernels do to have one is in tests/e2e/test_crashes.py.
"""

from __future__ import annotations

import re
import shutil

import pytest
from fake_guest import Fake, fake
from inner_pytest import inner
from inner_pytest import run as _run

__all__ = ["fake", "inner"]  # fixtures: importing them is using them
COMPILER = "s390x-linux-gnu-gcc"
pytestmark = pytest.mark.skipif(not shutil.which(COMPILER), reason=f"{COMPILER} is missing")

HEAD = """
import contextlib, os, signal
import pytest
from zvmlab.base.errors import EmulatorError, GuestPanic, Timeout, ZvmlabError
from zvmlab.guest.guest import Guest
from zvmlab.cp.peer import Peer

def have(guest, crash):
    guest.resume()
    with contextlib.suppress(ZvmlabError):
        guest.cp(crash)
"""


@pytest.mark.parametrize(
    ("crash", "text"),
    [
        ("WARN", "warning: WARNING: CPU: 0 PID: 9 at fake.c:1 fake+0x0/0x8"),
        ("PANIC", "panic: Kernel panic - not syncing: fake"),
        ("WAIT", "disabled wait: CPU 0, PSW 00020001 80000000 00000000 0000DEAD"),
        ("DIE", "EmulatorError: the emulator was killed by SIGKILL; its log is"),
        ("EXIT", "EmulatorError: the emulator ended because the guest powered off unasked;"),
    ],
)
def test_a_crash_after_the_last_call_fails_the_test(
    inner: Fake, pytester: pytest.Pytester, crash: str, text: str
) -> None:
    pytester.makepyfile(HEAD + f"def test_it(made_guest): have(made_guest, '{crash}')")
    result = _run(inner, pytester)
    # Not an error of its teardown: the test itself has failed.
    result.assert_outcomes(failed=1)
    report = _report(result)
    assert report[0].startswith(text)
    assert report[1] == "  noticed after the test's last line"


def test_an_emulator_killed_by_the_last_line_fails_the_test(
    inner: Fake, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_it(paused_guest): os.kill(paused_guest.emulator.pid, signal.SIGSEGV)
"""
    )
    _run(inner, pytester).assert_outcomes(failed=1)


def test_a_guest_of_the_tests_own_is_judged(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_it(guest_config, zvmlab_dir):
    with Guest(guest_config, zvmlab_dir) as guest:
        have(guest, "WARN")
"""
    )
    _run(inner, pytester).assert_outcomes(failed=1)


def test_crashes_that_are_expected(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_after_the_fact(made_guest):
    have(made_guest, "WARN")
    made_guest.expect_crash("warning")
def test_reported(made_guest):
    have(made_guest, "PANIC")
    with pytest.raises(GuestPanic):
        made_guest.console.wait_crash(60)
        made_guest.check()
    made_guest.expect_crash("panic")
@pytest.mark.zvmlab(crashes=("panic",))
def test_not_looked_for(made_guest): have(made_guest, "WARN")
def test_killed(made_guest):
    have(made_guest, "DIE")
    made_guest.emulator.expect_exit()
@pytest.mark.xfail(raises=GuestPanic, strict=True)
def test_known_defect(made_guest): have(made_guest, "WARN")
@pytest.mark.xfail(raises=AssertionError, strict=True)
def test_known_defect_without_crash(made_guest):
    made_guest.resume()
    assert False
"""
    )
    _run(inner, pytester).assert_outcomes(passed=4, xfailed=2)


def test_crashes_that_are_not_those_expected(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_another(made_guest):
    have(made_guest, "WARN")
    made_guest.expect_crash("panic", seconds=0.2)
def test_none(made_guest):
    made_guest.resume()
    made_guest.expect_crash("panic", seconds=0.2)
@pytest.mark.xfail(raises=AssertionError, strict=True)
def test_known_defect_and_a_crash(made_guest):
    have(made_guest, "WARN")
    assert False
"""
    )
    # The last one fails as it should; what its guest has to answer for comes afterwards.
    _run(inner, pytester).assert_outcomes(failed=2, xfailed=1, errors=1)


def test_a_crash_while_the_test_is_torn_down_is_an_error(
    inner: Fake, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        HEAD
        + """
@pytest.fixture
def unloads(made_guest):
    yield made_guest
    have(made_guest, "WARN")
def test_it(unloads): pass
"""
    )
    _run(inner, pytester).assert_outcomes(passed=1, errors=1)


def _report(result: pytest.RunResult) -> list[str]:
    """The lines of the only failure's report."""
    lines = result.outlines
    first = next(at for at, line in enumerate(lines) if re.match("_+ .*test_", line))
    return lines[first + 1 :]


def test_a_report_begins_with_the_cause(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
def helper(guest):
    guest.cp("PANIC")
    guest.console.wait_crash(60)
    guest.cp("QUERY TIME")  # nobody answers
def test_it(made_guest):
    made_guest.resume()
    helper(made_guest)
"""
    )
    report = _report(_run(inner, pytester))
    assert report[0] == "panic: Kernel panic - not syncing: fake"
    frames = [line for line in report[:10] if line.startswith("  test_")]
    assert [frame.split(": ", 1)[1] for frame in frames] == [
        "helper(made_guest)",
        'guest.cp("QUERY TIME")  # nobody answers',
    ]
    assert [line for line in report[:10] if re.match("  logs: /.*/test_it_kernel_0$", line)]
    assert not [line for line in report if "harness/zvmlab" in line]
    assert len(report) < 60


def test_a_report_of_an_assertion_names_the_crash_behind_it(
    inner: Fake, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_it(made_guest):
    have(made_guest, "WARN")
    made_guest.console.wait_crash(60)
    assert 1 + 1 == 3
"""
    )
    report = _report(_run(inner, pytester))
    assert report[0] == "warning: WARNING: CPU: 0 PID: 9 at fake.c:1 fake+0x0/0x8"
    assert "assert 1 + 1 == 3" in report[1]
    assert [line for line in report if line.startswith("E ") and "assert (1 + 1) == 3" in line]


def test_a_report_without_lines_of_the_tests_is_a_text(
    inner: Fake, pytester: pytest.Pytester
) -> None:
    inner.mode("panic")
    pytester.makepyfile("def test_boots(guest): pass")
    result = _run(inner, pytester)
    result.assert_outcomes(errors=1)
    report = _report(result)
    assert report[0] == "panic: Kernel panic - not syncing: fake"
    assert not [line for line in report if "harness/zvmlab" in line or "Traceback" in line]


def test_a_report_without_lines_of_the_tests_has_the_whole_text(
    inner: Fake, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        HEAD
        + """
from zvmlab.guest import kernelcheck
from zvmlab.pytest_plugin import debugtests
debugtests.is_debug = debugtests.answers = lambda _: True
kernelcheck.leaks = lambda guest: "unreferenced object 0x1234 (size 64):\\n  backtrace: fake\\n"
def test_it(made_guest): made_guest.resume()
"""
    )
    result = _run(inner, pytester)
    result.assert_outcomes(passed=1, errors=1)
    report = _report(result)
    assert report[0] == "ZvmlabError: the guest's kernel has leaked memory; kmemleak says:"
    assert report[1].startswith("  logs: ")
    assert report[2:4] == ["unreferenced object 0x1234 (size 64):", "  backtrace: fake"]


def test_all_functions_are_shown_when_asked_for(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
def test_it(made_guest): made_guest.cp("QUERY TIME")
"""
    )
    short, full = (_report(_run(inner, pytester, *o)) for o in ((), ("--full-trace",)))
    text = "UsageError: the guest has no control socket yet; call start() first"
    assert short[0] == full[0] == text
    assert not [line for line in short if "guest.py" in line]
    assert [line for line in full if "guest.py" in line]


def test_a_mistake_of_the_harness_keeps_its_functions(
    inner: Fake, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        """
def test_it(made_guest):
    made_guest._control = 5  # what no test does
    made_guest.cp("QUERY TIME")
"""
    )
    report = _report(_run(inner, pytester))
    assert report[0].startswith("AttributeError: 'int' object has no attribute 'cp'")
    assert [line for line in report if "guest.py" in line]


@pytest.mark.parametrize(
    "options", [("-n", "1"), ("--tb=short",), ("--tb=line",), ("--tb=native",)]
)
def test_reports_of_every_kind_can_be_made(
    inner: Fake, pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    pytester.makepyfile(HEAD + "def test_it(made_guest): have(made_guest, 'PANIC')")
    result = _run(inner, pytester, *options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*anic - not syncing: fake*"])
    assert "INTERNALERROR" not in result.stdout.str()


def test_a_time_out_shows_where_the_guest_is(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
import time
def test_ours(made_guest):
    made_guest.resume()
    raise Timeout("the test waited in vain")
@pytest.mark.timeout(300, method="signal")
def test_of_the_test(made_guest):
    made_guest.resume()
    # pytest-timeout's own clock: the limit is over.
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    time.sleep(300)
def test_none(made_guest):
    made_guest.resume()
    assert False
"""
    )
    result = _run(inner, pytester)
    result.assert_outcomes(failed=3)
    text = result.stdout.str()
    assert text.count("PSW=mask 0002000180000000 addr 000000000000dead cc 00") == 2
