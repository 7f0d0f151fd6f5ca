# SPDX-License-Identifier: MIT
"""The pytest plugin, as a foreign repository uses it, on a fake emulator."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_guest import Fake, fake
from inner_pytest import inner, run_here
from inner_pytest import run as _run

from zvmlab.guest.guest import Stage
from zvmlab.pytest_plugin import plugin

__all__ = ["fake", "inner"]  # fixtures: importing them is using them
COMPILER = "s390x-linux-gnu-gcc"
pytestmark = pytest.mark.skipif(not shutil.which(COMPILER), reason=f"{COMPILER} is missing")

PAUSED = """
def test_paused(paused_guest, zvmlab_dir):
    assert paused_guest.stage.name == "PAUSED"
    assert paused_guest.cp("QUERY TIME").response == "OK QUERY TIME\\n"
    assert paused_guest.logs == zvmlab_dir
    assert {CONDITION}
"""


def _folders(fake: Fake) -> list[str]:
    return sorted(
        path.name
        for path in (fake.folder / "inner").rglob("*")
        if path.is_dir() and not path.is_symlink() and (path / "emulator.log").exists()
    )


def test_a_passed_test_leaves_no_folder(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PAUSED.replace("{CONDITION}", "True"))
    _run(inner, pytester).assert_outcomes(passed=1)
    assert _folders(inner) == []


def test_what_tests_need_is_built_alone(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PAUSED.replace("{CONDITION}", "False"))
    result = _run(inner, pytester, "--build-only")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes()
    assert _folders(inner) == []


def test_a_kept_folder(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PAUSED.replace("{CONDITION}", "True"))
    _run(inner, pytester, "--zvmlab-keep").assert_outcomes(passed=1)
    assert _folders(inner) == ["test_paused_kernel_0"]


def test_a_failed_test_says_where_its_logs_are(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PAUSED.replace("{CONDITION}", "False"))
    result = _run(inner, pytester)
    result.assert_outcomes(failed=1)
    (logs,) = re.findall(r"^logs of guest g[0-9a-f]{6}: (.*)$", result.stdout.str(), re.MULTILINE)
    assert (Path(logs) / "emulator.log").exists()
    assert _folders(inner) == [Path(logs).name]


def test_counts_of_a_test_say_whether_it_showed_anything(
    inner: Fake, pytester: pytest.Pytester
) -> None:
    """One that failed or was skipped in its midst shows nothing; a known defect is shown."""
    pytester.makeconftest(
        """
        from zvmlab.pytest_plugin import plugin

        class Noted:
            def begin(self, guest):
                pass

            def keep(self, guest, test, undecided):
                print(f"kept {test.partition('::')[2].partition('[')[0]}: '{undecided}'")

        def pytest_configure(config):
            config.stash[plugin._counts] = Noted()
        """
    )
    pytester.makepyfile(
        """
        import pytest

        def test_passes(paused_guest): pass
        def test_fails(paused_guest): assert False
        def test_skips(paused_guest): pytest.skip("there is none")

        @pytest.mark.kernel_defect(9, "leaks", seen="as is known")
        def test_defect(paused_guest): assert False, "as is known"
        """
    )
    lines = _run(inner, pytester, "-s").outlines
    assert sorted(line[line.index("kept ") :] for line in lines if "kept " in line) == [
        "kept test_defect: ''",
        "kept test_fails: 'failed'",
        "kept test_passes: ''",
        "kept test_skips: 'skipped'",
    ]


def test_a_panic_ends_a_test_with_the_consoles_tail(inner: Fake, pytester: pytest.Pytester) -> None:
    inner.mode("panic")
    pytester.makepyfile("def test_boots(guest): assert False, 'never reached'")
    result = _run(inner, pytester)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["panic: Kernel panic - not syncing: fake", "*zvmlab console*", "* CPU: 0 PID: 1"]
    )
    assert "never reached'" not in result.stdout.str().split("short test summary")[1]


def test_marks_make_the_configuration(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import dataclasses
        import pytest

        @pytest.mark.zvmlab(cpus=2, storage="0.64M")
        class TestMarked:
            def test_class(self, guest_config):
                assert (guest_config.cpus, guest_config.storage) == (2, "0.64M")

            @pytest.mark.zvmlab(cpus=3)
            def test_nearest_wins(self, guest_config):
                assert (guest_config.cpus, guest_config.storage) == (3, "0.64M")

        class TestOverride:
            @pytest.fixture
            def guest_config(self, guest_config):
                return guest_config._replace(cpus=5)

            def test_override(self, made_guest):
                assert made_guest.config.cpus == 5

        @pytest.mark.zvmlab(cpu=2)
        def test_misspelt(guest_config):
            pass
        """
    )
    result = _run(inner, pytester)
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["*UsageError: zvmlab marker: GuestConfig has no field cpu"])


def test_every_kernel_and_a_time_limit(inner: Fake, pytester: pytest.Pytester) -> None:
    shutil.copy(inner.folder / "kernel", inner.folder / "other")
    pytester.makepyfile(
        """
        def test_limited(zvmlab_kernel, request):
            assert request.node.get_closest_marker("timeout").args == (120,)

        def test_not_ours(request):
            assert request.node.get_closest_marker("timeout") is None
        """
    )
    result = _run(inner, pytester, "--kernel", str(inner.folder / "other"), "-v")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*test_limited?kernel?*", "*test_limited?other?*"])


def test_every_driver_and_its_defects(inner: Fake, pytester: pytest.Pytester) -> None:
    module = inner.folder / "monreader.ko"
    module.write_bytes(b"")
    pytester.makepyfile(
        """
        import pytest

        def test_modules(zvmlab_driver, guest_config):
            assert guest_config.driver == zvmlab_driver

        def test_no_driver(guest_config):
            assert guest_config.driver == "upstream"

        @pytest.mark.upstream_defect(5, "waits", seen="assert 'upstream' != 'upstream'")
        def test_defect(zvmlab_kernel, zvmlab_driver):
            assert zvmlab_driver != "upstream"

        @pytest.mark.upstream_defect(6, "hides", seen="x")
        def test_gone(zvmlab_kernel, zvmlab_driver):
            pass

        @pytest.mark.upstream_defect(7, "races", seen="x")
        def test_other_failure(zvmlab_kernel, zvmlab_driver):
            raise OSError

        @pytest.mark.upstream_defect(8, "lies", seen="x", kernels=("nosuch",))
        def test_other_kernel(zvmlab_kernel, zvmlab_driver):
            pass

        @pytest.mark.kernel_defect(9, "leaks", seen="assert 1 == 2")
        def test_of_the_kernel(zvmlab_kernel):
            assert 1 == 2

        @pytest.mark.kernel_defect(10, "sleeps", seen="assert 1 == 3")
        def test_of_the_kernel_otherwise(zvmlab_kernel):
            assert 1 == 2
        """
    )
    result = _run(inner, pytester, "--driver", "upstream", "--driver", str(module), "-v")
    # test_gone passes with upstream's driver and is an error; test_other_failure fails with both.
    result.assert_outcomes(passed=7, xfailed=2, failed=4)
    result.stdout.fnmatch_lines_random(
        [
            "*test_modules?kernel-upstream?*",
            "*test_modules?kernel-monreader?*",
            "*test_no_driver?kernel? PASSED*",
            "*test_defect?kernel-upstream? XFAIL*",
            "*test_gone?kernel-upstream? FAILED*",
        ]
    )


def test_defect_that_shows_another_value_is_a_failure(
    inner: Fake, pytester: pytest.Pytester
) -> None:
    """The known value is the whole first line of what the test's call raises."""
    pytester.makepyfile(
        """
        import pytest

        def defect(seen, **more):
            return pytest.mark.upstream_defect(5, "waits", seen=seen, **more)

        @defect(r"assert \\[11, 11\\] == \\[5, 5\\]")
        @pytest.mark.parametrize("found", [11, 12])
        def test_list(zvmlab_kernel, zvmlab_driver, found):
            assert [found, found] == [5, 5]

        @defect("13 bytes")
        @pytest.mark.parametrize("found", ["13", "113", "130", "13 bytes"])
        def test_message(zvmlab_kernel, zvmlab_driver, found):
            assert False, f"{found} bytes"

        @defect(r"\\[Errno 2\\] no", raises=FileNotFoundError)
        @pytest.mark.parametrize("text", ["no", "more"])
        def test_raised(zvmlab_kernel, zvmlab_driver, text):
            raise FileNotFoundError(2, text)

        @pytest.fixture
        def broken():
            assert False, "13 bytes"

        @defect("13 bytes")
        def test_set_up(broken, zvmlab_kernel, zvmlab_driver):
            pass

        @pytest.fixture
        def breaks():
            yield
            assert False, "13 bytes"

        @defect("13 bytes")
        def test_tear_down(breaks, zvmlab_kernel, zvmlab_driver):
            assert False, "13 bytes"
        """
    )
    result = _run(inner, pytester, "--driver", "upstream", "-v", "-n", "2")
    result.assert_outcomes(xfailed=4, failed=5, errors=2)
    known = [line.split("::")[1].split()[0] for line in result.outlines if " XFAIL " in line]
    assert sorted(known) == [
        "test_list[kernel-upstream-11]",
        "test_message[kernel-upstream-13]",
        "test_raised[kernel-upstream-no]",
        "test_tear_down[kernel-upstream]",
    ]
    begin, defect = "not the known failure: ", "(upstream's driver, defect 5: waits)"
    said = [line.removeprefix(begin) for line in result.outlines if line.startswith(begin)]
    assert sorted(said) == sorted(
        f"{found!r}{where}, expected {seen!r} {defect}"
        for found, where, seen in (
            ("assert [12, 12] == [5, 5]", "", r"assert \[11, 11\] == \[5, 5\]"),
            ("113 bytes", "", "13 bytes"),
            ("130 bytes", "", "13 bytes"),
            ("13 bytes bytes", "", "13 bytes"),
            ("[Errno 2] more", "", r"\[Errno 2\] no"),
            ("13 bytes", " in setup", "13 bytes"),
            ("13 bytes", " in teardown", "13 bytes"),
        )
    )


def test_defect_without_a_number_is_refused(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.kernel_defect("2 of dcssblk", "waits", seen="x")
        def test_defect(zvmlab_kernel):
            assert False
        """
    )
    result = _run(inner, pytester)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = (
        "mark.kernel_defect takes the defect's number and the reason, not '2 of dcssblk', 'waits'"
    )
    result.stderr.fnmatch_lines([f"*test_defect*: {text}"])


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        ("", "it is needed"),
        (", seen=''", "it is needed"),
        (", seen=5", "it is needed"),
        (", seen='.*'", "it also matches the empty text"),
        (", seen='(x'", "missing ), unterminated subpattern at position 0"),
    ],
)
def test_defect_without_a_value_is_refused(
    inner: Fake, pytester: pytest.Pytester, seen: str, text: str
) -> None:
    """Also with a driver that the mark is not about."""
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.mark.upstream_defect(5, "waits"{seen})
        def test_defect(zvmlab_kernel, zvmlab_driver):
            assert False
        """
    )
    for driver in ("upstream", "zvmlab"):
        result = _run(inner, pytester, "--driver", driver)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(
            [f"*test_defect*: mark.upstream_defect: seen= is a regular expression for*: {text}"]
        )


KERNELS = ("kernel", "other")
BACKENDS = """
    import pytest

    @pytest.mark.representative
    def test_both(guest_config):
        pass

    def test_plain(guest_config):
        pass

    @pytest.mark.representative
    def test_host_only(request):
        pass
"""
FIRST = """
    import pytest

    @pytest.mark.first_kernel
    def test_first(guest_config):
        pass

    @pytest.mark.first_kernel(always=True)
    def test_once(guest_config):
        pass

    def test_all(guest_config):
        pass
"""


@pytest.mark.parametrize(
    ("options", "firsts"), [((), ["kernel"]), (("--full",), ["kernel", "other"])], ids=["", "full"]
)
def test_other_kernels_are_left_out_unless_all_is_asked_for(
    inner: Fake, pytester: pytest.Pytester, options: tuple[str, ...], firsts: list[str]
) -> None:
    shutil.copy(inner.folder / "kernel", inner.folder / "other")
    pytester.makepyfile(FIRST)
    other = ("--kernel", str(inner.folder / "other"))
    result = _run(inner, pytester, *other, *options, "--collect-only", "-q")
    found = [line.split("::test_")[1] for line in result.outlines if "::test_" in line]
    wanted = [f"first[{kernel}]" for kernel in firsts]
    wanted += ["once[kernel]", "all[kernel]", "all[other]"]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), {"both[kernel]", "both[other]", "plain[kernel]", "plain[other]"}),
        (
            ("--representative", "hercules"),
            {"both[kernel-qemu]", "both[other-qemu]", "both[kernel-hercules]"}
            | {"plain[kernel]", "plain[other]"},
        ),
        (
            ("--backend", "hercules", "--representative", "hercules"),
            {f"{test}[{kernel}-hercules]" for test in ("both", "plain") for kernel in KERNELS},
        ),
        (
            ("--backend", "hercules", "--backend", "qemu"),
            {
                f"{test}[{kernel}-{backend}]"
                for test in ("both", "plain")
                for kernel in KERNELS
                for backend in ("hercules", "qemu")
            },
        ),
    ],
    ids=["usual", "part", "part-of-whole", "two"],
)
def test_every_backend_and_a_part_of_the_tests_in_another(
    inner: Fake, pytester: pytest.Pytester, options: tuple[str, ...], names: set[str]
) -> None:
    shutil.copy(inner.folder / "kernel", inner.folder / "other")
    pytester.makepyfile(BACKENDS)
    other = ("--kernel", str(inner.folder / "other"))
    result = _run(inner, pytester, *other, *options, "--collect-only", "-q")
    found = [line.split("::test_")[1] for line in result.outlines if "::test_" in line]
    assert sorted(found) == sorted({*names, "host_only"})


def test_backend_of_a_test_is_its_guests(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_it(zvmlab_backend, guest_config, made_guest):
            assert zvmlab_backend == guest_config.backend == made_guest.config.backend == "qemu"
        """
    )
    _run(inner, pytester).assert_outcomes(passed=1)


def test_guests_are_cold_when_asked_for(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        def test_it(made_guest, request):
            assert made_guest.config.cold == request.config.getoption("--cold")
        @pytest.mark.zvmlab(cold=True)
        def test_marked(made_guest): assert made_guest.config.cold
        """
    )
    for options in ((), ("--cold",)):
        _run(inner, pytester, *options).assert_outcomes(passed=2)


def test_full_tests_run_when_asked_for(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import pytest\n@pytest.mark.full\ndef test_long(): pass\ndef test_short(): pass"
    )
    _run(inner, pytester).assert_outcomes(passed=1, deselected=1)
    _run(inner, pytester, "--full").assert_outcomes(passed=2)


def test_what_is_missing_is_one_sentence(inner: Fake, pytester: pytest.Pytester) -> None:
    inner.monkeypatch.setenv("ZVMLAB_QEMU", "/nosuch/qemu")
    pytester.makepyfile("def test_it(made_guest): pass\ndef test_host_only(): pass")
    result = _run(inner, pytester)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*ZVMLAB_QEMU is not a program: /nosuch/qemu"])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            ("--driver", "/nosuch.ko"),
            "*--driver: no such driver: /nosuch.ko (upstream, zvmlab, or a .ko file)",
        ),
        (("--kernel", "trixy"), "*--kernel: kernel 'trixy' is neither a suite *mean trixie?"),
        (("--kernel", "nosuch", "-n", "2"), "*--kernel: kernel 'nosuch' is neither a suite *"),
        (("--kernel", "/nosuch/bzImage"), "*--kernel: kernel '/nosuch/bzImage' is neither *"),
        (("--kernel", "README"), "*--kernel: */README is not a kernel for s390x: *"),
        (("--coverage", "cov"), "*--coverage: kernel */kernel counts no lines; *"),
        (
            ("--kernel", "coverage", "--coverage-file", "net/core/sock.c"),
            "*--coverage-file: lines of further files are counted by a source tree with *",
        ),
        (("--backend", "bochs"), "*--backend: invalid choice: 'bochs'*"),
        (("--representative", "bochs"), "*--representative: invalid choice: 'bochs'*"),
    ],
)
def test_wrong_options(
    inner: Fake, pytester: pytest.Pytester, options: tuple[str, ...], text: str
) -> None:
    pytester.makepyfile("def test_it(): pass")
    pytester.maketxtfile(README="no kernel").rename(pytester.path / "README")
    result = _run(inner, pytester, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([text])


def test_workers_share_nothing(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_parallel(paused_guest, number):
            assert paused_guest.cp(f"Q {number}").response == f"OK Q {number}\\n"
        """
    )
    _run(inner, pytester, "-n", "2", "--dist", "loadgroup").assert_outcomes(passed=4)


def test_tests_of_a_warm_guest_stay_together(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def warm_guest(zvmlab_kernel): pass

        @pytest.mark.parametrize("n", range(20))
        def test_warm(warm_guest, worker_id, n, zvmlab_kernel):
            print(f"on {worker_id}, {zvmlab_kernel}")

        def test_elsewhere(zvmlab_kernel): pass
        """
    )
    result = _run(inner, pytester, "-n", "2", "--dist", "loadgroup", "-rP")
    result.assert_outcomes(passed=21)
    places = {line for line in result.outlines if line.startswith("on ")}
    assert len(places) == 1, places


def test_tests_on_a_debug_kernel_have_more_time_or_are_skipped(
    inner: Fake, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        """
        import pytest
        def test_plain(guest): pass
        @pytest.mark.timeout(30)
        def test_own(guest): pass
        @pytest.mark.not_debug("too big")
        def test_big(guest): pass
        @pytest.mark.not_debug("no driver", coverage=True)
        def test_driver(guest): pass
        @pytest.mark.not_debug("defect 5", kernels=("bookworm",))
        def test_old(guest): pass
        @pytest.mark.not_debug("defect 6", kernels=("trixie", "sid"))
        def test_new(guest): pass
        @pytest.mark.not_debug("defect 7", defect="dcssblk-7")
        def test_uncorrected(guest): pass
        @pytest.mark.not_debug("defect 8", defect="af_iucv-8")
        def test_corrected(guest): pass
        @pytest.mark.not_debug("no IP", lacks="INET")
        def test_ip(guest): pass
        @pytest.mark.not_debug("wrongly", lacks="HMC_DRV")
        def test_hmc(guest): pass
        def test_without_guest(): pass
        """
    )
    pytester.makeconftest(
        """
        def pytest_collection_finish(session):
            for item in session.items:
                limit, skip = map(item.get_closest_marker, ("timeout", "skip"))
                print("LIMIT", item.name, limit and limit.args, skip and skip.kwargs["reason"])
        """
    )
    for options, plain in (((), "480.0"), (("--timeout", "10"), "40.0")):
        kernels = ("--kernel", "debug", "--kernel", "coverage", "--kernel", "trixie")
        options += ("--corrected", "af_iucv-8")
        result = run_here(pytester, "--collect-only", *kernels, *options)
        assert set(re.findall("^LIMIT (.*)", result.stdout.str(), re.MULTILINE)) == {
            f"test_plain[debug] ({plain},) None",
            f"test_plain[coverage] ({plain},) None",
            f"test_plain[trixie] ({float(plain) / 4},) None",
            "test_own[debug] (120.0,) None",
            "test_own[coverage] (120.0,) None",
            "test_own[trixie] (30.0,) None",
            f"test_big[debug] ({plain},) on a debug kernel: too big",
            f"test_big[coverage] ({plain},) on a debug kernel: too big",
            f"test_big[trixie] ({float(plain) / 4},) None",
            f"test_driver[debug] ({plain},) on a debug kernel: no driver",
            f"test_driver[coverage] ({plain},) None",
            f"test_driver[trixie] ({float(plain) / 4},) None",
            f"test_old[debug] ({plain},) on a debug kernel: defect 5",
            f"test_old[coverage] ({plain},) on a debug kernel: defect 5",
            f"test_old[trixie] ({float(plain) / 4},) None",
            f"test_new[debug] ({plain},) None",
            f"test_new[coverage] ({plain},) None",
            f"test_new[trixie] ({float(plain) / 4},) None",
            f"test_uncorrected[debug] ({plain},) on a debug kernel: defect 7",
            f"test_uncorrected[coverage] ({plain},) on a debug kernel: defect 7",
            f"test_uncorrected[trixie] ({float(plain) / 4},) None",
            f"test_corrected[debug] ({plain},) None",
            f"test_corrected[coverage] ({plain},) None",
            f"test_corrected[trixie] ({float(plain) / 4},) None",
            f"test_ip[debug] ({plain},) on a debug kernel: no IP",
            f"test_ip[coverage] ({plain},) None",
            f"test_ip[trixie] ({float(plain) / 4},) None",
            f"test_hmc[debug] ({plain},) None",
            f"test_hmc[coverage] ({plain},) None",
            f"test_hmc[trixie] ({float(plain) / 4},) None",
            "test_without_guest None None",
        }


def test_a_test_with_a_warm_guest_is_known_to_follow(
    inner: Fake, pytester: pytest.Pytester
) -> None:
    pytester.makeconftest(
        "import pytest\n"
        "from zvmlab.pytest_plugin import plugin\n"
        "@pytest.fixture\n"
        "def borrower(guest_pool): pass\n"
        "def pytest_sessionfinish(session):\n"
        "    print('known:', *[item.stash[plugin._another_follows] for item in session.items])\n"
    )
    pytester.makepyfile("def test_a(): pass\ndef test_b(borrower): pass\ndef test_c(): pass\n")
    _run(inner, pytester).stdout.fnmatch_lines(["*known: True False False"])


@pytest.mark.parametrize(
    ("mark", "option", "named"),
    [
        (None, None, None),
        (None, "", ()),
        (None, "A,B", ("A", "B")),
        (("C",), None, ("C",)),
        (("C",), "A", ("C", "A")),
    ],
)
def test_bystanders_are_those_of_the_mark_and_of_the_option(
    mark: tuple[str, ...] | None,
    option: str | None,
    named: tuple[str, ...] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of guests that answer; without mark and option nothing is looked at."""
    ready, other = (SimpleNamespace(stage=stage, control=None) for stage in (Stage.READY, None))
    item: Any = SimpleNamespace(
        get_closest_marker=lambda name: None if mark is None else SimpleNamespace(args=mark),
        config=SimpleNamespace(getoption=lambda name: option),
    )
    with monkeypatch.context() as patched:  # this test has the same plugin
        patched.setattr(plugin, "guests_of", lambda item: [ready, other])
        patched.setattr(plugin, "Bystanders", lambda control, names: tuple(names))
        found: list[Any] = list(plugin._bystanders_of(item))
    assert found == ([] if named is None else [named])
