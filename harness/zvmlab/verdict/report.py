# SPDX-License-Identifier: MIT
"""What a trial says: a mail of 72 columns, KTAP, JSON.  All three have the same."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from zvmlab.base.errors import EXIT_CANNOT_RUN, EXIT_FAILED, EXIT_PASS, EXIT_TIMEOUT
from zvmlab.base.plain import harmless
from zvmlab.verdict.compare import Difference, Finding

COLUMNS = 72
FORMAT = 1
_MOST_SHOWN = 40
_RESUME = "the same command with --resume goes on from here"


@dataclass
class Tried:
    """One kernel in one configuration."""

    kernel: str
    """As the user names it."""
    version: str = ""
    modules: tuple[str, ...] = ()
    """Only these are built twice."""
    compiler: str = ""
    difference: Difference = field(default_factory=Difference)
    warnings: list[str] = field(default_factory=list)
    """Of sparse and W=1."""
    instructions: list[str] = field(default_factory=list)
    """Operations that take another number of them."""
    broken: str = ""
    """Why the patched side does not build."""
    doing: str = "building"
    """What is, or was, done when the limit came; "" at the end."""

    @property
    def label(self) -> str:
        """The kernel in a line of the report."""
        version = self.version.partition(" ")[0] or self.kernel
        return f"{version} ({self.kernel})" if ":" in self.kernel else version


@dataclass
class Verdict:
    """A series on some kernels."""

    subject: str
    patches: int
    tree: str
    command: list[str]
    tried: list[Tried] = field(default_factory=list)
    checkpatch: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    """Changed lines that no test ran."""
    not_tried: list[str] = field(default_factory=list)
    """Sentences."""
    errors: list[str] = field(default_factory=list)
    """What is wrong with the list of what is allowed."""
    versions: list[str] = field(default_factory=list)
    over: str = ""
    """The limit came before the end."""
    left: list[str] = field(default_factory=list)
    """Kernels that were not begun."""

    @property
    def failing(self) -> list[tuple[Tried, Finding]]:
        """All that newly fails."""
        return [(one, found) for one in self.tried for found in one.difference.failing]

    @property
    def passing(self) -> list[tuple[Tried, Finding]]:
        """All that newly passes."""
        return [(one, found) for one in self.tried for found in one.difference.passing]

    @property
    def reports(self) -> int:
        """How many new reports there are of kernels."""
        return sum(len(one.difference.reports) for one in self.tried)

    @property
    def compared(self) -> bool:
        """Did any test run on both sides?"""
        return any(one.difference.compared for one in self.tried)

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        if self.over:
            return EXIT_TIMEOUT
        broken = any(one.broken for one in self.tried)
        if self.failing or self.reports or broken or self.errors:
            return EXIT_FAILED
        return EXIT_PASS if self.compared else EXIT_CANNOT_RUN

    @property
    def headline(self) -> str:
        """All in some words."""
        words = [
            (len({found.test for _, found in self.failing}), "newly failing"),
            (len({found.test for _, found in self.passing}), "newly passing"),
            (self.reports, "new reports" if self.reports > 1 else "new report"),
            (sum(bool(one.broken) for one in self.tried), "not building"),
            (
                len({effect.test for one in self.tried for effect in one.difference.effects}),
                "with another effect",
            ),
        ]
        said = [f"{number} {text}" for number, text in words if number]
        nothing = "nothing new" if self.compared else "no test ran"
        said = said or [nothing]
        unsteady = len({found.test for one in self.tried for found in one.difference.unsteady})
        said += [f"{unsteady} unsteady"] if unsteady else []
        return ", ".join(said) + (" so far" if self.over and self.compared else "")

    @property
    def first(self) -> str:
        """What was tried, and whether to the end."""
        count = f"{self.patches} patch{'es' if self.patches != 1 else ''}"
        how = "did not finish trying" if self.over else "tried"
        end = f": {self.over}" if self.over else ""
        return f'zvmlab {how} "{self.subject}" ({count}){end}'

    @property
    def second(self) -> str:
        """The kernels, and all in some words."""
        kernels = _and([one.label for one in self.tried]) or "no kernel"
        left = f", not on {_and(self.left)}" if self.left else ""
        return f"on {kernels}{left}: {self.headline}"

    @property
    def unfinished(self) -> list[str]:
        """How far each kernel came, if the limit was over."""
        if not self.over:
            return []
        said = [
            f"{one.label}: {_tests(one)}, cut off while {one.doing}"
            if one.doing
            else f"{one.label}: {_tests(one)}, to the end"
            for one in self.tried
        ]
        return [*said, *(f"{name}: not begun" for name in self.left)]


def text(verdict: Verdict) -> str:
    """The mail."""
    return "\n".join(_lines(verdict)) + "\n"


def _lines(verdict: Verdict) -> Iterator[str]:
    yield from _wrapped(verdict.first, "", "")
    yield from _wrapped(verdict.second, "", "")
    for title, lines in _sections(verdict):
        yield ""
        yield title
        yield from lines


def _sections(verdict: Verdict) -> Iterator[tuple[str, list[str]]]:
    """All that is said below the first lines: title and lines of each section that has some."""
    resume = [_RESUME] if verdict.over else []
    sections: list[tuple[str, Iterable[str]]] = [
        ("Not finished", _items([*verdict.unfinished, *resume])),
        (
            "Does not build",
            _items(f"{one.label}: {one.broken}" for one in verdict.tried if one.broken),
        ),
        ("Newly failing", _findings(verdict.failing, True)),
        ("Newly passing", _findings(verdict.passing, False)),
        ("New reports of the kernel", _reports(verdict)),
        ("Faults with another effect", _effects(verdict)),
        ("Unsteady: decides nothing", _unsteady(verdict)),
        ("Changed lines that no test ran", _items(verdict.not_run)),
        ("New warnings of sparse and W=1", _warnings(verdict)),
        ("checkpatch --strict", _items(verdict.checkpatch)),
        (
            "Instructions for each operation",
            _items(f"{one.label}: {line}" for one in verdict.tried for line in one.instructions),
        ),
        ("What is allowed", _items(verdict.errors)),
        ("Not tried", _items(verdict.not_tried)),
        ("Versions", _items(verdict.versions)),
        ("Repeat it with", _commands(verdict)),
    ]
    for title, lines in sections:
        shown = list(lines)
        if shown:
            yield title, shown


def _wrapped(line: str, first: str, others: str) -> list[str]:
    plain = harmless(" ".join(line.split()), lines=False)
    return textwrap.wrap(
        plain,
        COLUMNS,
        initial_indent=first,
        subsequent_indent=others,
        break_on_hyphens=False,
    )


def _tests(one: Tried) -> str:
    number = one.difference.compared
    return f"{number} test{'s' if number != 1 else ''} compared"


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _items(lines: Iterable[str]) -> list[str]:
    unique = list(dict.fromkeys(lines))
    shown = [line for item in unique[:_MOST_SHOWN] for line in _wrapped(item, "  ", "    ")]
    if len(unique) > _MOST_SHOWN:
        shown.append(f"  and {len(unique) - _MOST_SHOWN} more")
    return shown


def _findings(found: Sequence[tuple[Tried, Finding]], failing: bool) -> list[str]:
    """Each test once, with the kernels on which it differs."""
    by_test: dict[str, list[tuple[Tried, Finding]]] = {}
    for one, finding in found:
        by_test.setdefault(finding.test, []).append((one, finding))
    lines: list[str] = []
    for test, where in list(by_test.items())[:_MOST_SHOWN]:
        counted = [f"{one.label}, {_times(finding, failing)}" for one, finding in where]
        lines += _row(test, counted)
        causes = dict.fromkeys(_cause(finding) for _, finding in where)
        lines += [line for cause in causes if cause for line in _wrapped(cause, "    ", "      ")]
    if len(by_test) > _MOST_SHOWN:
        lines.append(f"  and {len(by_test) - _MOST_SHOWN} more")
    return lines


def _times(finding: Finding, failing: bool) -> str:
    (base, of_base), (patched, of_patched) = finding.base, finding.patched
    if failing:
        base, patched = of_base - base, of_patched - patched
    return f"{patched} of {of_patched}, base {base} of {of_base}"


def _row(name: str, columns: Sequence[str]) -> list[str]:
    """Name and columns in one line if they fit, else below each other."""
    if len(columns) == 1 and len(name) + len(columns[0]) + 5 <= COLUMNS:
        gap = COLUMNS - 2 - len(name) - len(columns[0])
        return [f"  {harmless(name, lines=False)}{' ' * gap}{columns[0]}"]
    return _wrapped(name, "  ", "    ") + [
        line for column in columns for line in _wrapped(column, "    ", "      ")
    ]


def _cause(finding: Finding) -> str:
    if not finding.report:
        return finding.cause
    return finding.report + (f", in {finding.inside}" if finding.inside else "")


def _reports(verdict: Verdict) -> list[str]:
    return [
        line
        for one in verdict.tried
        for report in one.difference.reports
        for line in (
            *_wrapped(f"{one.label}: {report.report}", "  ", "    "),
            *(_wrapped(f"in {report.inside}", "    ", "      ") if report.inside else []),
            *_wrapped(f"seen by {report.test}", "    ", "      "),
        )
    ]


def _effects(verdict: Verdict) -> list[str]:
    return [
        line
        for one in verdict.tried
        for effect in one.difference.effects[:_MOST_SHOWN]
        for line in (
            *_wrapped(f"{one.label}: {effect.test}", "  ", "    "),
            *_wrapped(f"base: {effect.base}", "    ", "      "),
            *_wrapped(f"patched: {effect.patched}", "    ", "      "),
        )
    ]


def _unsteady(verdict: Verdict) -> list[str]:
    return [
        line
        for one in verdict.tried
        for finding in one.difference.unsteady
        for line in (
            *_row(finding.test, [f"{one.label}, {_times(finding, True)}"]),
            *(_wrapped(_cause(finding), "    ", "      ") if _cause(finding) else []),
        )
    ]


def _warnings(verdict: Verdict) -> list[str]:
    where: dict[str, list[str]] = {}
    for one in verdict.tried:
        for warning in one.warnings:
            where.setdefault(warning, []).append(one.label)
    return _items(f"{warning} [{', '.join(labels)}]" for warning, labels in where.items())


def _commands(verdict: Verdict) -> list[str]:
    """Not wrapped: they are there to be copied."""
    return [f"  {shlex.join(verdict.command)}"]


def ktap(verdict: Verdict) -> str:
    """KTAP 1: what the mail says as comments, then a test for each kernel, with its tests below."""
    lines = ["KTAP version 1", f"1..{len(verdict.tried) + len(verdict.left)}"]
    said = [verdict.first, verdict.second]
    for title, section in _sections(verdict):
        said += ["", title, *section]
    lines += [f"# {harmless(line, lines=False)}".rstrip() for line in said]
    for number, one in enumerate(verdict.tried, 1):
        states = one.difference.states
        lines += ["    KTAP version 1", f"    1..{len(states)}"]
        for at, (test, state) in enumerate(states.items(), 1):
            name = harmless(test, lines=False).replace("#", "_")
            lines.append(f"    {_KTAP[state].format(f'{at} {name}')}")
        fails = bool(one.difference.failing or one.difference.reports or one.broken)
        label = harmless(one.label, lines=False).replace("#", "_")
        cut = " # SKIP not finished" if one.doing and not fails else ""
        lines.append(f"{'not ok' if fails else 'ok'} {number} {label}{cut}")
    for number, name in enumerate(verdict.left, len(verdict.tried) + 1):
        label = harmless(name, lines=False).replace("#", "_")
        lines.append(f"ok {number} {label} # SKIP not begun")
    if verdict.over:
        lines.append(f"Bail out! {verdict.over}")
    return "\n".join(lines) + "\n"


_KTAP = {
    "passes": "ok {}",
    "newly failing": "not ok {}",
    "newly passing": "ok {}",
    "fails on base, too": "ok {} # XFAIL base fails, too",
    "unsteady": "ok {} # SKIP unsteady",
    "allowed": "ok {} # XFAIL allowed",
}


def to_json(verdict: Verdict) -> str:
    """JSON, in the fields of the classes above."""
    data: dict[str, Any] = asdict(verdict)
    said = {"finished": not verdict.over, "headline": verdict.headline}
    data = {"format": FORMAT, "exit": verdict.exit_code, **said, **data}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
