# SPDX-License-Identifier: MIT
"""Two speeds of a suite: ``--short`` runs what a file of rules takes, ``--full`` the whole.

The file is TOML, and pytest's ini file names it (``speeds = tests/speeds.toml``).  Its rules say on
how many kernels and with how many drivers a test runs, whether it also runs in the emulator that
``--representative`` names, which tests are left out, and how much CPU time all cases of a test may
take, by a file that says what a case costs (costs.py); docs/running-tests.md has the fields.
Whatever is left is counted, told at the end, and part of the report.
"""

from __future__ import annotations

import fnmatch
import random
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.pytest_plugin import backend_choice, costs, drivers
from zvmlab.pytest_plugin.requirements import rows_of

FULL = "full"
EACH, TURN, FIRST = "each", "turn", "first"
_HOW = (EACH, TURN, FIRST)
_FIELDS = ("kernels", "drivers", "representative", "left", "slow", "budget")
_SHOWN = 6
_DIST, _GROUPS, _FILES = "zvmlab_dist", "loadgroup", "loadfile"
"""The option --dist of pytest-xdist, and two of its values."""
_GUESS = 0.05
"""CPU seconds of a test that costs little."""
_COSTLY = 5.0
"""CPU seconds of what must not begin last."""
LONG, KERNEL, DRIVER, EMULATOR, CASES = "long", "kernel", "driver", "emulator", "cases"
_WORDS = {
    KERNEL: "on another kernel",
    DRIVER: "with another driver",
    EMULATOR: "in another emulator",
    CASES: "further cases of a test",
    LONG: "because they take long",
}


class Left(NamedTuple):
    """Tests that this run leaves to the whole one: what the report tells them apart by."""

    rows: tuple[str, ...]
    kernel: str | None
    driver: str | None
    backend: str | None
    why: str


@dataclass(frozen=True)
class Rule:
    """A rule about some tests; a field that is None keeps the value of earlier rules."""

    tests: tuple[str, ...]
    """FILE or FILE::FUNCTION, relative to the file of rules; * stands for anything."""
    kernels: str | None = None
    drivers: str | None = None
    representative: bool | None = None
    left: bool | None = None
    slow: bool | None = None
    """It may take longer than the others, and is not named for it."""
    budget: float | None = None
    """CPU seconds that all cases of each test may take together."""

    def fits(self, file: str, function: str) -> bool:
        """Does the rule name this test?"""
        return any(_fits(name, file, function) for name in self.tests)


def _fits(name: str, file: str, function: str) -> bool:
    files, _, functions = name.partition("::")
    return fnmatch.fnmatchcase(file, files) and fnmatch.fnmatchcase(function, functions or "*")


@dataclass(frozen=True)
class Speeds:
    """A file of rules."""

    path: Path
    whole: str
    """The command that runs all."""
    long: float
    """Seconds; a test of the short run that takes longer is named."""
    costs: Path | None
    """The file that says what tests cost."""
    file_budget: float
    """CPU seconds of a case that is kept for its file alone."""
    elsewhere: tuple[str, ...]
    """Folders whose tests other commands run."""
    rules: tuple[Rule, ...]
    """The first one is about all tests; of those that fit, the last one that has a field decides."""

    def of(self, file: str, function: str) -> Rule:
        """The rule that applies to a test."""
        found: dict[str, Any] = {}
        for rule in self.rules:
            if rule.fits(file, function):
                own = ((name, getattr(rule, name)) for name in _FIELDS)
                found |= {name: value for name, value in own if value is not None}
        return Rule((f"{file}::{function}",), **found)

    def check_names(self) -> None:
        """UsageError for a rule that names a test which is not there."""
        folder = self.path.parent
        for name in (name for rule in self.rules[1:] for name in rule.tests):
            files, _, functions = name.partition("::")
            found = [path for path in sorted(folder.glob(files)) if path.is_file()]
            if not found:
                raise UsageError(f"{self.path}: a rule names {name}, but there is no such file")
            if functions and not any(
                fnmatch.fnmatchcase(function, functions)
                for path in found
                for function in costs.tests_in(path)
            ):
                raise UsageError(f"{self.path}: a rule names {name}, but {files} has no such test")

    def check_folders(self, folders: Iterable[Path]) -> None:
        """UsageError for a file of tests that no run would take.  *folders*: what runs take."""
        taken = [*folders, *(self.path.parent / name for name in self.elsewhere)]
        for path in sorted(self.path.parent.rglob("test_*.py")):
            if not any(path.is_relative_to(folder) for folder in taken):
                raise UsageError(
                    f"no run would take the tests of {path}: name its folder in testpaths, or as"
                    f" elsewhere in {self.path}"
                )


def load(path: Path) -> Speeds:
    """The rules in a file; UsageError if they are none."""
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise UsageError(f"speeds {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"speeds {path} is not TOML: {error}") from None
    needed = {"whole": str, "long": (int, float), "default": dict}
    fields = {"costs": str, "file_budget": (int, float), "elsewhere": list, "rule": list}
    _check_fields(f"speeds {path}", table, needed | fields)
    missing = ", ".join(name for name in needed.keys() - table.keys())
    if missing:
        raise UsageError(f"speeds {path} has no {missing}")
    default = _rule(f"speeds {path}: default", table["default"], ("*",))
    if default.kernels is None or default.drivers is None:
        raise UsageError(f"speeds {path}: default needs kernels and drivers")
    rules = [
        _named(f"speeds {path}: rule {number}", rule)
        for number, rule in enumerate(table.get("rule", []), 1)
    ]
    return Speeds(
        path,
        table["whole"],
        float(table["long"]),
        path.parent / table["costs"] if "costs" in table else None,
        float(table.get("file_budget", "inf")),
        tuple(map(str, table.get("elsewhere", []))),
        (default, *rules),
    )


def _check_fields(where: str, table: Any, fields: Mapping[str, Any]) -> None:
    if not isinstance(table, dict):
        raise UsageError(f"{where} must be a table")
    for name, value in table.items():
        if name not in fields:
            raise UsageError(f"{where} has a field {name!r} (possible: {', '.join(fields)})")
        if not isinstance(value, fields[name]):
            raise UsageError(f"{where}: invalid {name}: {value!r}")


def _rule(where: str, table: dict[str, Any], tests: tuple[str, ...]) -> Rule:
    types: dict[str, Any] = {"kernels": str, "drivers": str, "budget": (int, float)}
    types |= dict.fromkeys(("representative", "left", "slow"), bool)
    _check_fields(where, table, types)
    for name in ("kernels", "drivers"):
        if table.get(name, EACH) not in _HOW:
            raise UsageError(f"{where}: invalid {name}: {table[name]!r} ({', '.join(_HOW)})")
    return Rule(tests, **table)


def _named(where: str, table: Any) -> Rule:
    if not isinstance(table, dict):
        raise UsageError(f"{where} must be a table")
    own = dict(table)
    why, tests = own.pop("why", None), own.pop("tests", None)
    if not isinstance(why, str) or not why:
        raise UsageError(f"{where} needs why, the reason")
    if not isinstance(tests, list) or not tests or not all(isinstance(test, str) for test in tests):
        raise UsageError(f"{where} ({why}) needs tests, a list of FILE or FILE::FUNCTION")
    if not own:
        raise UsageError(f"{where} ({why}) says nothing of its tests ({', '.join(_FIELDS)})")
    return _rule(f"{where} ({why})", own, tuple(tests))


def add_options(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    """--short, and the ini value."""
    group.addoption(
        "--short",
        action="store_true",
        help="run the tests that the rules of the ini value speeds choose; --full runs all",
    )
    group.addoption(
        "--random-half",
        metavar="SEED",
        type=int,
        help="run a half of the tests, in an order that is random, too; the seed repeats both",
    )
    group.addoption(
        "--write-costs",
        action="store_true",
        help="measure the CPU time of the tests, and write it into the file that the rules name",
    )
    parser.addini("speeds", "TOML file that says what --short runs (docs/running-tests.md)")


def configure(config: pytest.Config) -> None:
    """Read the rules if they are asked for; refuse those that cannot be right."""
    short, write = config.getoption("--short"), config.getoption("--write-costs")
    if write or config.getini("speeds") and config.getoption("xmlpath", None):
        config.pluginmanager.register(costs.Meter(backend_choice.represented(config)))
    if not short and not write:
        return
    if short and config.getoption("--full"):
        raise pytest.UsageError("--short and --full exclude each other")
    named = str(config.getini("speeds"))
    if not named:
        option = "--short" if short else "--write-costs"
        raise pytest.UsageError(f"{option} needs rules; name them as speeds in pytest's ini file")
    folder = config.inipath.parent if config.inipath else config.rootpath
    try:
        found = load(folder / named)
        if write:
            _write_costs(config, found)
        if short:
            _be_short(config, found, folder)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def _write_costs(config: pytest.Config, speeds: Speeds) -> None:
    if speeds.costs is None:
        raise UsageError(f"--write-costs: speeds {speeds.path} has no costs, the file to write")
    writer = costs.Writer(speeds.costs, speeds.path.parent)
    config.pluginmanager.register(writer, "zvmlab-costs")


def _be_short(config: pytest.Config, speeds: Speeds, folder: Path) -> None:
    speeds.check_names()
    speeds.check_folders(folder / name for name in config.getini("testpaths"))
    known = costs.load(speeds.costs) if speeds.costs is not None else {}
    config.stash[_short] = short = _Short(config, speeds, known)
    config.pluginmanager.register(short, "zvmlab-speeds")


def is_short(config: pytest.Config) -> bool:
    """Do rules decide what runs?"""
    return _short in config.stash


def left_of(config: pytest.Config) -> tuple[str, Mapping[Left, int]]:
    """The command that runs the whole, and what this run leaves to it."""
    short = config.stash.get(_short, None)
    return ("", {}) if short is None else (short.speeds.whole, short.left)


class _Chosen(NamedTuple):
    """A test with what the rules look at."""

    item: pytest.Item
    rule: Rule
    kernel: str | None
    driver: str | None
    backend: str | None


class _Short:
    """A run of what the rules take."""

    def __init__(self, config: pytest.Config, speeds: Speeds, known: costs.Costs) -> None:
        self.speeds = speeds
        self._costs = known
        # A test has hundreds of cases, and one rule.
        self._rules: dict[tuple[str, str], Rule] = {}
        self._files: dict[Path, str] = {}
        self.left: Mapping[Left, int] = {}
        self._config = config
        self._complaints: list[str] = []
        self._seconds: dict[str, float] = {}

    def choose(self, items: Sequence[pytest.Item]) -> dict[pytest.Item, str]:
        """Return the tests that only the whole run takes, with the reason."""
        groups: dict[tuple[str, str | None], list[_Chosen]] = {}
        chosen = [self._look_at(item) for item in items]
        for one in chosen:
            groups.setdefault((_base(one.item), one.backend), []).append(one)
        left = {
            one.item: why
            for (name, _), group in groups.items()
            for one, why in self._left_of(name, group)
        }
        left |= self._over_budget([one for one in chosen if one.item not in left])
        self.left = Counter(
            Left(
                rows_of(one.item),
                _name(one.kernel),
                _driver(one.driver),
                one.backend,
                left[one.item],
            )
            for one in chosen
            if one.item in left
        )
        self._complaints = list(self._idle(chosen))
        return left

    def _look_at(self, item: pytest.Item) -> _Chosen:
        params = getattr(getattr(item, "callspec", None), "params", {})
        kernel = params.get(backend_choice.KERNEL_FIXTURE)
        backend = None if kernel is None else backend_choice.of_test(item)
        names = self._names(item)
        if (rule := self._rules.get(names)) is None:
            rule = self._rules[names] = self.speeds.of(*names)
        return _Chosen(item, rule, kernel, params.get(drivers.FIXTURE), backend)

    def _names(self, item: pytest.Item) -> tuple[str, str]:
        return self._file(item.path), getattr(item, "originalname", None) or item.name

    def _file(self, path: Path) -> str:
        if (file := self._files.get(path)) is None:
            folder = self.speeds.path.parent
            inside = path.is_relative_to(folder)
            file = (path.relative_to(folder) if inside else path).as_posix()
            self._files[path] = file
        return file

    def _left_of(self, name: str, group: Sequence[_Chosen]) -> Iterator[tuple[_Chosen, str]]:
        """*group*: one test in one emulator, on all kernels, with all drivers."""
        kernels = list(dict.fromkeys(case.kernel for case in group))
        others = list(dict.fromkeys(case.driver for case in group))
        turn = zlib.crc32(name.encode())
        for case in group:
            rule = case.rule
            if rule.left or case.item.get_closest_marker(FULL) is not None:
                yield case, LONG
                continue
            if self._represents(case) and not rule.representative:
                yield case, EMULATOR
                continue
            first = case.item.get_closest_marker(backend_choice.FIRST_KERNEL) is not None
            how = FIRST if first or self._is_costly(case) else rule.kernels
            at = kernels.index(case.kernel), others.index(case.driver)
            sizes = len(kernels), len(others)
            if not _takes_kernel(how, rule.drivers, at, sizes, turn):
                yield case, KERNEL
            elif not _takes_driver(how, rule.drivers, at, sizes, turn):
                yield case, DRIVER

    def _is_costly(self, one: _Chosen) -> bool:
        """Not one case of it fits its budget; a row may need it all the same."""
        cost, budget = self._cost(one), one.rule.budget
        return cost is not None and budget is not None and cost > budget

    def _cost(self, one: _Chosen) -> float | None:
        """CPU seconds of a case, if they are known, and count in its emulator."""
        file, function = self._names(one.item)
        return None if self._represents(one) else self._costs.get(file, {}).get(function)

    def cost_of(self, item: pytest.Item) -> float:
        """CPU seconds, by a guess if they are not known."""
        file, function = self._names(item)
        return self._costs.get(file, {}).get(function, _GUESS)

    def _over_budget(self, taken: Sequence[_Chosen]) -> dict[pytest.Item, str]:
        """Those of *taken* that cost too much, with the reason.

        Each row keeps its cheapest test, and so does each file that has one for its own budget.  What a
        rule takes into another emulator stays.
        """
        tests: dict[tuple[float, str, str], list[_Chosen]] = {}
        for one in taken:
            cost = self._cost(one)
            if cost is not None and one.rule.budget is not None:
                tests.setdefault((cost, *self._names(one.item)), []).append(one)
        # The cheapest first: they are the first that a row or a file gets back.
        left: dict[pytest.Item, str] = {}
        for (cost, _, _), cases in sorted(tests.items()):
            fit = int((cases[0].rule.budget or 0) / cost)
            cases.sort(key=lambda one: zlib.crc32(one.item.nodeid.encode()))
            left |= {one.item: CASES if fit else LONG for one in cases[fit:]}
        shown = {what for one in taken if one.item not in left for what in self._shows(one.item)}
        for item in list(left):
            wanted = self._shows(item)
            if self.cost_of(item) > self.speeds.file_budget:
                wanted &= set(rows_of(item))
            if wanted - shown:
                del left[item]
                shown |= self._shows(item)
        return left

    def _shows(self, item: pytest.Item) -> set[str]:
        """The test's rows, and its file."""
        return {self._names(item)[0], *rows_of(item)}

    def _represents(self, other: _Chosen) -> bool:
        part = backend_choice.represented(self._config)
        return part is not None and other.backend == part

    def _idle(self, chosen: Sequence[_Chosen]) -> Iterator[str]:
        """A sentence for each name of a rule that takes into another emulator what is never there."""
        there = {self._names(one.item) for one in chosen}
        represented = {self._names(one.item) for one in chosen if self._represents(one)}
        if backend_choice.represented(self._config) is None or any(
            "::" in argument for argument in self._config.args
        ):
            return
        for name in (n for rule in self.speeds.rules if rule.representative for n in rule.tests):
            if any(_fits(name, *one) for one in there - represented) and not any(
                _fits(name, *one) for one in represented
            ):
                yield (
                    f"{self.speeds.path}: a rule takes {name} into another emulator, but no such"
                    " test is marked representative"
                )

    def _may_be_slow(self, nodeid: str) -> bool:
        """By its name: a process with workers has collected nothing."""
        path, _, rest = nodeid.partition("::")
        function = rest.partition("[")[0].rpartition("::")[2]
        return bool(self.speeds.of(self._file(self._config.rootpath / path), function).slow)

    @pytest.hookimpl(optionalhook=True)  # type: ignore[misc]  # pluggy 1.0 has no types
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of pytest-xdist how tests are distributed: it does not know."""
        node.workerinput[_DIST] = node.config.getoption("dist")

    @pytest.hookimpl(trylast=True)  # type: ignore[misc]  # as above
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Tell the main process about the collection; with workers it collects nothing itself."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["zvmlab_left"] = to_json(self.left)
            output["zvmlab_complaints"] = self._complaints

    @pytest.hookimpl(optionalhook=True)  # type: ignore[misc]  # as above
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker of pytest-xdist has ended; all have left the same."""
        output = getattr(node, "workeroutput", {})
        if "zvmlab_left" in output:
            self.left = from_json(output["zvmlab_left"])
            self._complaints = output["zvmlab_complaints"]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up a test's time, with set-up and tear-down."""
        before = self._seconds.get(report.nodeid, 0.0)
        self._seconds[report.nodeid] = before + report.duration

    @pytest.hookimpl(tryfirst=True)  # type: ignore[misc]  # as above
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A rule that does nothing fails the run."""
        if self._complaints and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)  # type: ignore[misc]  # as above
    def pytest_terminal_summary(self, terminalreporter: Any) -> Iterator[None]:
        """Report tests that are too slow for a short run, below the table."""
        yield
        out = terminalreporter
        long = [
            (t, name)
            for name, t in self._seconds.items()
            if t > self.speeds.long and not self._may_be_slow(name)
        ]
        if long:
            out.line(f"longer than {self.speeds.long:g} s: {len(long)} tests", yellow=True)
            for seconds, name in sorted(long, reverse=True)[:_SHOWN]:
                out.line(f"  {seconds:5.1f} s  {name}")
            if len(long) > _SHOWN:
                out.line(f"  and {len(long) - _SHOWN} others")
        if self.left:
            out.line(told(self.speeds.whole, self.left))
        for sentence in self._complaints:
            out.line(sentence, red=True)


_short = pytest.StashKey[_Short]()


def choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the rules leave, or, without rules, the tests marked full."""
    if is_short(config):
        left = config.stash[_short].choose(items)
    elif config.getoption("--full"):
        return
    else:
        left = {item: LONG for item in items if item.get_closest_marker(FULL) is not None}
    if left:
        config.hook.pytest_deselected(items=list(left))
        items[:] = [item for item in items if item not in left]


def order(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a worker of pytest-xdist: what takes longest first, so that all workers end together.

    What one worker gets in one piece is a group, or a file (--dist loadfile).  All else stays as it
    is: the tests of a file often go on with the guest of the test before.
    """
    how = getattr(config, "workerinput", {}).get(_DIST)
    if not is_short(config) or how not in (_GROUPS, _FILES):
        return
    short = config.stash[_short]
    by_group = how == _GROUPS

    def piece(item: pytest.Item) -> str:
        mark = item.get_closest_marker("xdist_group")
        if mark is not None and by_group:
            return str(mark.kwargs.get("name") or mark.args[0])
        return item.nodeid if by_group else item.nodeid.partition("::")[0]

    pieces = {item: piece(item) for item in items}
    sums: dict[str, float] = {}
    for item in items:
        sums[pieces[item]] = sums.get(pieces[item], 0.0) + short.cost_of(item)

    def place(item: pytest.Item) -> tuple[float, str]:
        costs_of = sums[pieces[item]]
        return (-costs_of, pieces[item]) if costs_of >= _COSTLY else (0.0, "")

    items.sort(key=place)


def shuffle(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave a random half of the tests in a random order, if that is asked for."""
    seed = config.getoption("--random-half")
    if seed is None:
        return
    # Every worker of pytest-xdist must come to the same, and files are not found in any fixed order.
    mixed = sorted(items, key=lambda item: item.nodeid)
    random.Random(seed).shuffle(mixed)
    half = (len(mixed) + 1) // 2
    if mixed[half:]:
        config.hook.pytest_deselected(items=mixed[half:])
    items[:] = mixed[:half]


def _takes_kernel(
    kernels: str | None, others: str | None, at: tuple[int, int], of: tuple[int, int], turn: int
) -> bool:
    if kernels == FIRST:
        return at[0] == 0
    if kernels == TURN:
        return at[0] == (turn + (at[1] if others == EACH else 0)) % of[0]
    return True


def _takes_driver(
    kernels: str | None, others: str | None, at: tuple[int, int], of: tuple[int, int], turn: int
) -> bool:
    if others == FIRST:
        return at[1] == 0
    if others == TURN:
        return at[1] == (turn // of[0] + (at[0] if kernels == EACH else 0)) % of[1]
    return True


def _base(item: pytest.Item) -> str:
    """A name that a test has on every kernel, with every driver, and in every process."""
    spec = getattr(item, "callspec", None)
    if spec is None:
        return item.nodeid
    # pytest has no public name for the pieces of a test's id.
    pieces = list(spec._idlist)  # pylint: disable=protected-access
    kernel = spec.params.get(backend_choice.KERNEL_FIXTURE)
    driver = spec.params.get(drivers.FIXTURE)
    if kernel is not None:
        known = backend_choice.kernel_id(kernel)
        pieces = _without(pieces, known, f"{known}-{backend_choice.of_test(item)}")
    if driver is not None:
        pieces = _without(pieces, drivers.driver_id(driver))
    return f"{item.nodeid.partition('[')[0]}[{'-'.join(pieces)}]"


def _without(pieces: Sequence[str], *words: str) -> list[str]:
    """Without the first piece that is one of these words."""
    at = next((number for number, piece in enumerate(pieces) if piece in words), len(pieces))
    return [*pieces[:at], *pieces[at + 1 :]]


def _name(kernel: str | None) -> str | None:
    return None if kernel is None else Path(kernel).name


def _driver(driver: str | None) -> str | None:
    return None if driver is None else drivers.driver_id(driver)


def to_json(left: Mapping[Left, int]) -> list[dict[str, Any]]:
    """Plain data; from_json() gives it back."""
    return [
        {**key._asdict(), "rows": list(key.rows), "tests": left[key]}
        for key in sorted(left, key=str)
    ]


def from_json(data: Iterable[Mapping[str, Any]]) -> dict[Left, int]:
    """The inverse of to_json()."""
    found: dict[Left, int] = {}
    for entry in data:
        kernel, driver, backend = (
            None if entry[name] is None else str(entry[name])
            for name in ("kernel", "driver", "backend")
        )
        key = Left(tuple(map(str, entry["rows"])), kernel, driver, backend, str(entry["why"]))
        found[key] = int(entry["tests"])
    return found


def told(whole: str, left: Mapping[Left, int]) -> str:
    """One line: how many tests the whole run has in addition, and why they are not here."""
    counts: Counter[str] = Counter()
    for one, number in left.items():
        counts[one.why] += number
    parts = ", ".join(f"{counts[why]} {words}" for why, words in _WORDS.items() if counts[why])
    return f"left to {whole}: {sum(counts.values())} tests: {parts}"
