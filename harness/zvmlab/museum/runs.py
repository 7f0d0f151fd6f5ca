# SPDX-License-Identifier: MIT
"""Run tests of this clone with a kernel, each with its result by name."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from zvmlab.base.errors import CannotRun, Timeout, ZvmlabError
from zvmlab.base.tree import TREE
from zvmlab.museum.edited import Side

PASSED, FAILED, SKIPPED, EXPECTED = "passed", "failed", "skipped", "failed as expected"
_TAIL = 15
# Of pytest: tests ran, with or without failures.
_RAN = (0, 1)
_NO_TESTS = 5


@dataclass(frozen=True)
class Outcome:
    """What became of a test."""

    state: str
    text: str = ""
    """What a failed test said."""


Results = dict[str, Outcome]
"""By the test's file and name, without the kernel's."""


def run_pytest(side: Side, words: Sequence[str], seconds: float, jobs: int = 1) -> Results:
    """The results of the tests that pytest's *words* name, relative to the clone."""
    with tempfile.TemporaryDirectory(prefix="zvmlab-museum-") as scratch:
        report = Path(scratch) / "junit.xml"
        argv = [sys.executable, "-m", "pytest", "-q", "-p", "zvmlab.pytest_plugin"]
        argv += ["-p", "no:cacheprovider", "--kernel", side.kernel, f"--junitxml={report}"]
        argv += ["-o", "junit_logging=no", f"--basetemp={scratch}/tests"]
        if jobs > 1:
            argv += ["-n", str(jobs), "--dist", "loadgroup"]
        environment = {**os.environ, **side.environment, "PYTHONPATH": str(TREE / "harness")}
        try:
            done = subprocess.run(
                [*argv, *words],
                cwd=TREE,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Timeout(f"the tests {' '.join(words)} took more than {seconds:.0f} s") from None
        tail = "\n".join(done.stdout.strip().splitlines()[-_TAIL:])
        if "No module named pytest" in done.stdout:
            raise CannotRun("pytest is missing; 'ci/setup.sh run build test' installs it")
        if done.returncode not in (*_RAN, _NO_TESTS) or not report.is_file():
            raise ZvmlabError(f"pytest {' '.join(words)} ended with {done.returncode}:\n{tail}")
        return _results(report)


def _results(report: Path) -> Results:
    found: Results = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name, result = _name(case), _result(case)
        # A test that passes and whose fixture fails afterwards is there twice.
        if name not in found or result.state == FAILED:
            found[name] = result
    return found


def _name(case: ElementTree.Element) -> str:
    """The test's, without the kernel's among its parameters."""
    kernel = case.find("properties/property[@name='kernel']")
    words = (case.get("name") or "").partition("[")
    left = words[2].removesuffix("]")
    if kernel is not None:
        left = re.sub(rf"-?{re.escape(kernel.get('value', ''))}-?", "-", left).strip("-")
    return f"{case.get('classname')}::{words[0]}" + (f"[{left}]" if left else "")


def _result(case: ElementTree.Element) -> Outcome:
    for kind in ("failure", "error"):
        wrong = case.find(kind)
        if wrong is not None:
            return Outcome(FAILED, f"{wrong.get('message', '')}\n{wrong.text or ''}")
    skipped = case.find("skipped")
    if skipped is not None:
        expected = skipped.get("type", "") == "pytest.xfail"
        return Outcome(EXPECTED if expected else SKIPPED, skipped.get("message", ""))
    return Outcome(PASSED)
