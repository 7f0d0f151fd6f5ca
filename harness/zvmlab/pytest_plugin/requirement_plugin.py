# SPDX-License-Identifier: MIT
"""pytest plugin: which requirement each test shows, and what the run has shown.

Part of zvmlab.pytest_plugin.  Where tests run (in workers of pytest-xdist, too) every test
gets its rows, and its reports carry what the page needs; where reports arrive they are
gathered, and the table comes last before pytest's closing line.  docs/report.md
describes options and files.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zvmlab.base.cache import digest
from zvmlab.base.errors import UsageError
from zvmlab.base.results import NAME, ResultsFile
from zvmlab.base.shard import Shard, shard_of
from zvmlab.pytest_plugin import backend_choice, drivers, plugin, speeds
from zvmlab.pytest_plugin.requirement_results import (
    Case,
    Collector,
    Column,
    Result,
    Run,
    TraceCut,
    head_of,
)
from zvmlab.pytest_plugin.requirement_table import deviations, table, totals, wrapped
from zvmlab.pytest_plugin.requirements import MARKER, Requirements, load, rows_of, sentence_of

_requirements = pytest.StashKey[Requirements]()
_case = pytest.StashKey[Case]()
_shard = pytest.StashKey[Shard]()
_all = pytest.StashKey[str]()
_begins = pytest.StashKey[dict[Path, int]]()
_NONE = Requirements({}, {})
_VALUE_MAX = 80
_COLOURS = {
    "heading": {"bold": True},
    "passed": {"green": True},
    "deviates": {"yellow": True},
    "skipped": {"yellow": True},
    "failed": {"red": True, "bold": True},
    "missing": {"red": True},
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options and the ini value."""
    group = parser.getgroup("zvmlab", "z/VM guests")
    group.addoption(
        "--requirements",
        action="store_true",
        help="fail unless the run shows every requirement of the list (ini value: requirements)",
    )
    group.addoption(
        "--requirement",
        action="append",
        metavar="ROW",
        help="run only the tests that show this row, such as M15; may be repeated",
    )
    group.addoption(
        "--zvmlab-report",
        metavar="DIR",
        help="print the table of requirements; write report.html, report.json, report.tap,"
        " report.ktap, requirements.md and the results of all tests, results.jsonl, to DIR",
    )
    group.addoption(
        "--shard",
        metavar="I/N",
        help="run only every N-th test, starting with the I-th; zvmlab merge combines the"
        " results.jsonl of all N and judges the requirements",
    )
    parser.addini(
        "requirements", "TOML file with the requirements that tests show (docs/report.md)"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the list; be ready for what arrives."""
    config.addinivalue_line("markers", f"{MARKER}(*rows): the requirements that the test shows")
    try:
        config.stash[_requirements] = _list_of(config)
        config.stash[_shard] = shard_of(config.getoption("--shard") or "1/1")
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    _register_reporter(config)
    # Behind the reporter: what it says comes last.
    speeds.configure(config)


def _register_reporter(config: pytest.Config) -> None:
    folder = config.getoption("--zvmlab-report")
    if hasattr(config, "workerinput") or not _wanted(config) or config.option.collectonly:
        return
    if folder is not None:
        if importlib.util.find_spec("jinja2") is None:
            raise pytest.UsageError("--zvmlab-report needs jinja2; install python3-jinja2")
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise pytest.UsageError(f"--zvmlab-report {folder}: {error.strerror}") from None
    config.pluginmanager.register(_Reporter(config), "zvmlab-requirements")


def _wanted(config: pytest.Config) -> bool:
    return bool(config.getoption("--requirements") or config.getoption("--zvmlab-report"))


def _list_of(config: pytest.Config) -> Requirements:
    named = str(config.getini("requirements"))
    if named:
        folder = config.inipath.parent if config.inipath else config.rootpath
        return load(folder / named)
    if config.getoption("--requirements"):
        raise UsageError(
            "--requirements needs a list; name it as requirements in pytest's ini file"
        )
    return _NONE


@pytest.hookimpl(trylast=True)  # type: ignore[misc]  # pluggy 1.0 has no types
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests of the rows that were asked for, and of those this machine's share."""
    wanted = set(config.getoption("--requirement") or ())
    unknown = sorted(wanted - config.stash[_requirements].rows.keys())
    if unknown:
        raise pytest.UsageError(f"--requirement: the list has no row {', '.join(unknown)}")
    others = [item for item in items if wanted and not wanted & {*item.stash[_case].rows}]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]
    _leave_shard(config, items)


def _leave_shard(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests of this machine's share.

    Each worker of pytest-xdist comes to the same ones, because the order is by name.
    """
    names = sorted(item.stash[_case].test for item in items)
    config.stash[_all] = digest(*names)
    mine = set(config.stash[_shard].share(names))
    others = [item for item in items if item.stash[_case].test not in mine]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item.stash[_case].test in mine]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note what is known of a test before it runs; rows become properties, also in JUnit's XML."""
    requirements = item.config.stash[_requirements]
    spec = getattr(item, "callspec", None)
    params: dict[str, Any] = dict(spec.params) if spec is not None else {}
    kernel = params.pop(backend_choice.KERNEL_FIXTURE, None)
    params.pop(backend_choice.FIXTURE, None)
    driver = params.pop(drivers.FIXTURE, None)
    function = getattr(item, "originalname", None) or item.name
    rows = rows_of(item)
    defect = item.get_closest_marker(drivers.DEFECT) or item.get_closest_marker(
        drivers.KERNEL_DEFECT
    )
    doc = getattr(getattr(item, "obj", None), "__doc__", None)
    case = Case(
        test=item.nodeid,
        function=function,
        sentence=sentence_of(function, doc),
        rows=rows,
        errnos=requirements.errnos_of(rows, item.name),
        kernel=None if kernel is None else Path(kernel).name,
        driver=None if driver is None else drivers.driver_id(driver),
        backend=None if kernel is None else backend_choice.of_test(item),
        parameters={name: _text(value) for name, value in params.items()},
        defect=None if defect is None else defect.args[0],
        first_kernel=backend_choice.first_kernel_only(item),
    )
    item.stash[_case] = case
    properties = [("requirement", row) for row in rows] + [("errno", name) for name in case.errnos]
    properties += [("kernel", case.kernel)] if case.kernel else []
    properties += [("driver", case.driver)] if case.driver else []
    properties += [("backend", case.backend)] if case.backend else []
    item.user_properties.extend(properties)


def _text(value: object) -> str:
    # A plain str of an enumeration's: pytest-xdist sends no other kind from a worker.
    text = str(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= _VALUE_MAX else text[: _VALUE_MAX - 1] + "…"


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]  # pluggy 1.0 has no types
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Give the report what only this process knows: the case, where its traces are."""
    outcome: Any = yield
    if not _wanted(item.config) or _case not in item.stash:
        return
    report = outcome.get_result()
    guests = plugin.guests_of(item)
    if report.when == "setup":
        item.stash[_begins] = {g.logs: _size(g.channels.trace) for g in guests}
    begins = _begins_of(item, report)
    cuts = [
        TraceCut(g.name, str(g.channels.trace), begins.get(g.logs, 0), _size(g.channels.trace))
        for g in guests
        if report.failed and g.channels.trace is not None and g.channels.trace.exists()
    ]
    case = item.stash[_case]
    version = None
    for guest in guests:
        with contextlib.suppress(UsageError):
            version = guest.artifacts.kernel_version.removesuffix(f" ({case.kernel})")
    report.zvmlab_all = item.config.stash[_all]
    report.zvmlab_selected = len(item.session.items)
    report.zvmlab_case = dataclasses.asdict(case)
    report.zvmlab_cuts = [dataclasses.asdict(cut) for cut in cuts]
    report.zvmlab_kernel = version
    report.zvmlab_warnings = item.stash.get(plugin.warnings, []) if report.when == "call" else []


def _begins_of(item: pytest.Item, report: Any) -> dict[Path, int]:
    """The length of each guest's trace when the test began, to find the failure in it."""
    return {} if report.when == "setup" else item.stash.get(_begins, {})


def _size(path: Path | None) -> int:
    try:
        return 0 if path is None else path.stat().st_size
    except FileNotFoundError:
        return 0


class _Reporter:
    """The sink for the reports of all tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._collector = Collector()
        self._started = time.time()
        self._run: Run | None = None
        self._written: list[Path] = []
        self._errors: list[str] = []
        self._told = self._selected = 0
        self._all: str | None = None
        self._whole_run = True
        folder = config.getoption("--zvmlab-report")
        self._file = None if folder is None else ResultsFile(Path(folder) / NAME)
        if self._file is not None:
            strict = bool(config.getoption("--requirements"))
            self._keep(self._file.begin, head_of(config.stash[_shard], self._whole(()), strict))

    def _keep(self, how: Callable[[Any], None], what: Any) -> None:
        """Into the file of results, or what is said about it at the end."""
        try:
            how(what)
        except OSError as error:
            said = f"the results cannot be written: {error}"
            self._errors += [said] if said not in self._errors else []
            self._whole_run = False

    def pytest_collectreport(self, report: Any) -> None:
        """Tests of a file that cannot be read are not known to be missing otherwise."""
        self._whole_run = self._whole_run and not report.failed

    def _whole(self, results: tuple[Result, ...]) -> Run:
        config = self._config
        whole, left = speeds.left_of(config)
        return Run(
            requirements=config.stash[_requirements],
            columns=_columns(config),
            results=results,
            kernels=self._collector.kernels,
            whole=whole,
            left=left,
            started=self._started,
            seconds=time.time() - self._started,
        )

    def pytest_runtest_logreport(self, report: Any) -> None:
        """One phase of one test."""
        fields = getattr(report, "zvmlab_case", None)
        if fields is None:
            return
        case = Case.from_json(fields)
        self._all, self._selected = report.zvmlab_all, report.zvmlab_selected
        cuts = [TraceCut(**cut) for cut in report.zvmlab_cuts]
        self._collector.add(report, case, cuts, report.zvmlab_warnings)
        if case.kernel is not None and report.zvmlab_kernel is not None:
            self._collector.kernels[case.kernel] = report.zvmlab_kernel
        if report.when == "teardown" and self._file is not None:
            self._keep(self._file.add, self._collector.result(case).to_json())
            self._told += 1

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Add it up; write the files; fail the run for a requirement that was not shown."""
        config = self._config
        self._run = self._whole(self._collector.results())
        ended_well = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if config.getoption("--requirements") and config.stash[_shard].whole:
            self._errors += self._run.complaints()
        if self._file is not None:
            # Jinja2 is needed for the page only.
            from zvmlab.pytest_plugin.requirement_report import write

            kernels = dict(self._collector.kernels)
            end: dict[str, Any] = {"kernels": kernels, "started": self._started, "all": self._all}
            if self._run.left:
                tests = speeds.to_json(self._run.left)
                end["left"] = {"whole": self._run.whole, "tests": tests}
            self._keep(self._file.add, end)
            # Without an end, the shard counts as lost: interrupted, or a worker has died.
            ended = session.exitstatus in (*ended_well, pytest.ExitCode.TESTS_FAILED)
            if ended and self._whole_run and self._told == self._selected:
                self._keep(self._file.finish, self._told)
            try:
                self._written = write(self._run, self._file.path.parent)
            except OSError as error:
                self._errors.append(f"the report cannot be written: {error}")
        if self._errors and session.exitstatus in ended_well:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif session.exitstatus in ended_well and not config.stash[_shard].whole:
            # There are more shards than tests; zvmlab merge knows whether there are none at all.
            session.exitstatus = pytest.ExitCode.OK

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)  # type: ignore[misc]
    def pytest_terminal_summary(self, terminalreporter: Any) -> Iterator[None]:
        """The table, after everything else that is said at the end."""
        yield
        if self._run is None:
            return
        out = terminalreporter
        if self._run.requirements.rows:
            out.section("requirements")
            for line in table(self._run, names=self._config.option.verbose > 0):
                for text, state in line.pieces:
                    out.write(text, **_COLOURS.get(state, {}))
                out.write("\n")
            for sentence in deviations(self._run):
                out.line(wrapped(f"known: {sentence}"), **_COLOURS["deviates"])
            out.line(wrapped(totals(self._run)))
            shard = self._config.stash[_shard]
            if not shard.whole:
                out.line(f"shard {shard}: zvmlab merge judges the requirements of all shards")
        if self._written:
            out.line("report: " + ", ".join(map(str, self._written)))
        for sentence in self._errors:
            out.line(wrapped(f"requirements: {sentence}"), **_COLOURS["failed"])


def _columns(config: pytest.Config) -> tuple[Column, ...]:
    kernels = [Path(k).name for k in config.getoption("--kernel") or plugin.DEFAULT_KERNELS]
    names = [drivers.driver_id(d) for d in config.getoption("--driver") or drivers.DEFAULT]
    backends = backend_choice.chosen(config)
    columns = [Column(k, d, b) for b in backends for k in kernels for d in names]
    part = backend_choice.represented(config)
    if part is not None:
        columns += [Column(kernels[0], name, part, part=True) for name in names]
    return tuple(dict.fromkeys(columns))
