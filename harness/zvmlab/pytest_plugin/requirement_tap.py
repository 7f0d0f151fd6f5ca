# SPDX-License-Identifier: MIT
"""A run for programs that read TAP: version 13, and KTAP, the kernel's form of it.

TAP 13: https://testanything.org/tap-version-13-specification.html
KTAP 1: https://docs.kernel.org/dev-tools/ktap.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from zvmlab.pytest_plugin.requirement_results import Outcome, Result, Run

_REASON = 200
_DIAGNOSTIC_LINES = 40
_OK = {
    Outcome.PASSED: "ok",
    Outcome.SKIPPED: "ok",
    Outcome.DEVIATES: "not ok",
    Outcome.FAILED: "not ok",
}


def tap(run: Run) -> Iterator[str]:
    """TAP 13; a failure has its text as YAML, a known deviation is a TODO."""
    yield "TAP version 13"
    yield f"1..{len(run.results)}"
    words = {Outcome.SKIPPED: "SKIP", Outcome.DEVIATES: "TODO"}
    for number, result in enumerate(run.results, 1):
        name = _name(result)
        outcome = result.outcome or Outcome.FAILED
        yield f"{_OK[outcome]} {number} - {name}{_directive(words, outcome, result)}"
        yield from _yaml(result, outcome)


def ktap(run: Run) -> Iterator[str]:
    """KTAP 1; the text of a failure comes before its line, a known deviation is an XFAIL."""
    yield "KTAP version 1"
    yield f"1..{len(run.results)}"
    words = {Outcome.SKIPPED: "SKIP", Outcome.DEVIATES: "XFAIL"}
    for number, result in enumerate(run.results, 1):
        name = _name(result)
        outcome = result.outcome or Outcome.FAILED
        if outcome is Outcome.FAILED:
            yield from (f"# {line}" for line in _diagnostics(result))
        ok = "ok" if outcome is Outcome.DEVIATES else _OK[outcome]
        yield f"{ok} {number} {name}{_directive(words, outcome, result)}"


def _name(result: Result) -> str:
    """Without "#": it begins a directive, and few readers know how it is escaped."""
    return _plain(result.case.test).replace("#", "_")


def _directive(words: dict[Outcome, str], outcome: Outcome, result: Result) -> str:
    if outcome not in words:
        return ""
    return f" # {words[outcome]} {_plain(result.reason)[:_REASON]}".rstrip()


def _yaml(result: Result, outcome: Outcome) -> Iterator[str]:
    """A block as JSON, which is YAML as well, and needs no other rules of quoting."""
    if outcome is not Outcome.FAILED:
        return
    yield "  ---"
    yield f"  message: {json.dumps(chr(10).join(_diagnostics(result)))}"
    yield f"  duration_ms: {round(result.seconds * 1000)}"
    yield f"  requirements: {json.dumps(list(result.case.rows))}"
    yield f"  logs: {json.dumps(result.logs)}"
    yield "  ..."


def _diagnostics(result: Result) -> list[str]:
    """The end of the failure's text, where pytest has what matters."""
    return [_printable(line) for line in result.failure.splitlines()[-_DIAGNOSTIC_LINES:]]


def _plain(text: str) -> str:
    return _printable(" ".join(text.split()))


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in line.expandtabs())
