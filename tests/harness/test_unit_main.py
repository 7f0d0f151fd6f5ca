# SPDX-License-Identifier: MIT
"""The macros of unit tests: what is written runs, in its place, and nothing is left out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

MAIN = Path(__file__).resolve().parents[1] / "unit/main"

WHOLE = """
static int made;
static void start(void) { made = 7; }
TEST(alone) { ck_assert_int_eq(made, 0); }
CASE("made", start, NULL);
static const int rows[] = { 1, 2 };
TEST_EACH(each, rows) { ck_assert_int_eq(made + rows[_i], 8 + _i); }
TEST_LOOP(loop, 2, 4) { ck_assert_int_eq(_i, 3); }
CASE("none", NULL, NULL);
TEST(last) { ck_assert_int_eq(made, 0); }
"""


def _built(tmp_path: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    source = tmp_path / "test_x.c"
    source.write_text('#include "unit_test.h"\n' + text)
    libraries = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "check"], capture_output=True, text=True, check=True
    ).stdout.split()
    argv = ["gcc", "-std=gnu11", *options, f"-I{MAIN}", "-o", str(tmp_path / "test_x")]
    argv += [str(source), *map(str, sorted(MAIN.glob("*.c")))]
    return subprocess.run([*argv, *libraries], capture_output=True, text=True, check=False)


def _run(tmp_path: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    done = _built(tmp_path, text, *options)
    assert done.returncode == 0, done.stderr
    return subprocess.run(
        [tmp_path / "test_x"],
        env={"CK_VERBOSITY": "verbose"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_all_tests_run_in_the_order_of_the_file(tmp_path: Path) -> None:
    done = _run(tmp_path, WHOLE)
    assert done.returncode == 1
    suite, counts, *lines = done.stdout.splitlines()
    assert suite == "Running suite(s): test_x"
    assert counts == "83%: Checks: 6, Failures: 1, Errors: 0"
    assert [line.split(":")[2:6] for line in lines] == [
        ["P", "test_x", "alone", "0"],
        ["P", "made", "each", "0"],
        ["P", "made", "each", "1"],
        ["F", "made", "loop", "2"],
        ["P", "made", "loop", "3"],
        ["P", "none", "last", "0"],
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "test_x.c:1: there is no TEST\n"),
        (
            'TEST(a) {}\nCASE("empty", NULL, NULL);\nCASE("b", NULL, NULL);\nTEST(b) {}\n',
            "test_x.c:3: no test comes between this CASE and the next\n",
        ),
        (
            "static int rows;\nTEST_LOOP(a, 0, rows) {}\n",
            "test_x.c:3: the test has nothing to run for\n",
        ),
    ],
)
def test_what_runs_nothing_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    done = _run(tmp_path, text)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_a_test_that_no_list_names_is_not_compiled(tmp_path: Path) -> None:
    done = _built(tmp_path, "START_TEST(a)\n{\n}\nEND_TEST\nTEST(b) {}\n")
    assert done.returncode != 0 and 'poisoned "START_TEST"' in done.stderr


LEAKS = """
#include <search.h>
static void *kept;
static void forget(void) { void *volatile memory = malloc(100); memory = NULL; (void)memory; }
TEST(keeps) { kept = malloc(100); }
TEST(library_keeps) { hcreate(10); }
TEST(leaks) { forget(); }
"""


def test_memory_that_no_variable_points_to_is_a_leak(tmp_path: Path) -> None:
    """Variables are those of the program and of its libraries."""
    done = _run(tmp_path, LEAKS, "-fsanitize=address,undefined")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1] == "66%: Checks: 3, Failures: 0, Errors: 1"
    assert ":E:test_x:leaks:" in done.stdout
    assert "100 byte(s) leaked in 1 allocation(s)" in done.stderr
