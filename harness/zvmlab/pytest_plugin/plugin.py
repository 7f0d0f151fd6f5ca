# SPDX-License-Identifier: MIT
"""pytest plugin: guests as fixtures.

The fixtures are a ladder; each one's docstring says exactly what has been done
when a test receives it:

    zvmlab_kernel → guest_config → made_guest → guest → driver_guest
                  ↘                           ↘ paused_guest
                    warm_guest → monreader
                  ↘ system

``@pytest.mark.zvmlab(cpus=2, storage="0.256M", …)`` sets fields of the test's
GuestConfig, ``@pytest.mark.zvmlab_system(ALICE={…}, BOB={…})`` those of a system's
guests.  Tests of a warm guest stay together on one worker of pytest-xdist
per kernel, driver and backend (``--dist loadgroup``), all others go where there is room.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from zvmlab.base.errors import Timeout, UsageError, ZvmlabError
from zvmlab.base.plain import harmless
from zvmlab.base.progress import Progress
from zvmlab.builder.kernels import check_name, resolve
from zvmlab.builder.linux_corrections import named
from zvmlab.builder.modulebuild import built_modules
from zvmlab.builder.tree_name import with_counted
from zvmlab.cp import tracefmt
from zvmlab.cp.trace_tests import begin_test
from zvmlab.guest.artifacts import prepare, with_built_modules
from zvmlab.guest.names import DRIVER
from zvmlab.guest.backends import backend_of
from zvmlab.guest.config import QEMU, GuestConfig, Artifacts
from zvmlab.guest.bystanders import Bystanders
from zvmlab.guest.guest import Guest, Stage
from zvmlab.guest.kernel_lines import Counts, check_counts
from zvmlab.guest.pool import Pool, Use, nothing
from zvmlab.guest.stacks import has_stacks, stacks
from zvmlab.guest.system import System
from zvmlab.pytest_plugin import backend_choice, debugtests, drivers, failures, speeds, systems

pytest_plugins = (
    "zvmlab.pytest_plugin.requirement_plugin",
    "zvmlab.pytest_plugin.machine_load",
)
T = TypeVar("T")
Which = tuple[str, str, str]
"""Kernel, driver and backend of a guest."""

DEFAULT_KERNELS = ("bookworm",)
_WARM_FIXTURE = "warm_guest"
_TRACE_TAIL = 12
"""Lines of the trace that the report of a failure shows of each member of a system."""
_TRACE_BYTES = 1 << 16
_TIMEOUTS = ("Timeout >", "Timeout (>")
"""What pytest-timeout says: up to version 2.3, and since."""
warnings = pytest.StashKey[list[str]]()
"""What the kernels of a test's guests have logged as warnings, if they came through it."""
_failed = pytest.StashKey[bool]()
_reported = pytest.StashKey[bool]()
_another_follows = pytest.StashKey[bool]()
_guests = pytest.StashKey[list[Guest]]()
_counts = pytest.StashKey[Counts]()
_undecided = pytest.StashKey[str]()
"""Of a test that failed, other than by a known defect, or was skipped: which of both."""
_artifacts = pytest.StashKey[dict[Which, Artifacts | ZvmlabError]]()


def plain_config(which: Which) -> GuestConfig:
    """A guest with one CPU, default storage and segments."""
    kernel, driver, backend = which
    return GuestConfig(kernel=kernel, driver=driver, backend=backend)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of zvmlab."""
    group = parser.getgroup("zvmlab", "z/VM guests")
    group.addoption(
        "--kernel",
        action="append",
        metavar="SUITE|PATH|TREE",
        help="guest kernel: bookworm (default), trixie, sid, debug, coverage, an image, or a kernel"
        " source tree (a folder or source:6.1), which is built (TREE:full, TREE:debug); may be"
        " repeated",
    )
    backend_choice.add_options(group)
    group.addoption(
        "--driver",
        action="append",
        metavar="upstream|zvmlab|PATH",
        help="monreader under test: upstream (default), zvmlab or a .ko file; may be repeated",
    )
    group.addoption(
        "--corrected",
        action="append",
        default=[],
        metavar="PART-NUMBER",
        help="the kernels have a correction of this defect (docs/defects.md), such as af_iucv-1:"
        " what is marked as that defect must not fail; may be repeated",
    )
    group.addoption(
        "--cold",
        action="store_true",
        help="boot guests from the first instruction, without checkpoints",
    )
    group.addoption(
        "--full", action="store_true", help="also run the tests marked full, which take minutes"
    )
    group.addoption(
        "--build-only",
        action="store_true",
        help="build and fetch what the tests need, and run none of them; with one process (-n 0)",
    )
    speeds.add_options(parser, group)
    group.addoption(
        "--coverage",
        metavar="DIR",
        help="keep in DIR which lines of Linux' sources each test runs; the kernel is 'coverage' or"
        " TREE:coverage",
    )
    group.addoption(
        "--coverage-file",
        action="append",
        default=[],
        metavar="PATH",
        help="also count the lines of this source of TREE; may be repeated",
    )
    group.addoption(
        "--bystanders",
        metavar="NAME,NAME",
        help="hold every test to what mark.bystanders does: paths, segments and buffers of none of"
        " these names stay as they are",
    )
    group.addoption(
        "--zvmlab-keep",
        action="store_true",
        help="also keep console, trace and emulator log of tests that passed",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Markers, and options that cannot be right."""
    config.addinivalue_line("markers", "zvmlab(**fields): fields of the test's GuestConfig")
    config.addinivalue_line(
        "markers",
        f"{systems.MARK}(segments=…, **users): the guests of the test's system, by user ID, and fields"
        " of their GuestConfig",
    )
    config.addinivalue_line(
        "markers",
        f"{backend_choice.REPRESENTATIVE}: runs in the emulator that --representative names, too",
    )
    config.addinivalue_line("markers", "xdist_group(name): tests that share a worker")
    config.addinivalue_line(
        "markers",
        f"{debugtests.NOT_DEBUG}(reason, coverage=False, kernels=None, defect=None, lacks=None):"
        " does not apply to debug kernels",
    )
    config.addinivalue_line(
        "markers",
        "bystanders(*names): paths, segments and buffers of none of these names stay as they are",
    )
    config.addinivalue_line("markers", "full: runs only with --full, because it takes minutes")
    config.addinivalue_line(
        "markers",
        f"{backend_choice.FIRST_KERNEL}(always=False): runs on the other kernels only with --full,"
        " or not at all",
    )
    config.addinivalue_line(
        "markers",
        f"{drivers.DEFECT}(number, reason, seen, raises=AssertionError, kernels=None):"
        " the kernel's own driver is known to fail this test, with what is seen",
    )
    config.addinivalue_line(
        "markers",
        f"{drivers.KERNEL_DEFECT}(number, reason, seen, raises=AssertionError, kernels=None):"
        " another part of the kernel is known to fail this test, whatever the driver",
    )
    _check_choices(config)
    prepared: dict[Which, Artifacts | ZvmlabError] = {}
    config.stash[_artifacts] = prepared


def _check_choices(config: pytest.Config) -> None:
    """Refuse names that cannot be right before anything is collected."""
    checks: tuple[tuple[str, Callable[[str], object], list[str]], ...] = (
        ("--kernel", check_name, _kernels(config)),
        ("--driver", lambda driver: GuestConfig(driver=driver), _drivers(config)),
    )
    for option, check, names in checks:
        for name in names:
            _checked(option, check, name)
    paths = config.getoption("--coverage-file")
    if paths:
        add = functools.partial(with_counted, paths=paths)
        config.option.kernel = [_checked("--coverage-file", add, k) for k in _kernels(config)]
    if config.getoption("--coverage") is not None:
        for kernel in _kernels(config):
            _checked("--coverage", check_counts, kernel)
        config.stash[_counts] = Counts(Path(config.getoption("--coverage")))


def _checked(option: str, check: Callable[[str], T], name: str) -> T:
    try:
        return check(name)
    except UsageError as error:
        raise pytest.UsageError(f"{option}: {error}") from error


def _kernels(config: pytest.Config) -> list[str]:
    return config.getoption("--kernel") or list(DEFAULT_KERNELS)


def _drivers(config: pytest.Config) -> list[str]:
    return config.getoption("--driver") or list(drivers.DEFAULT)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One instance per kernel, emulator and driver of every test that needs a guest, or a driver."""
    names = metafunc.fixturenames
    if "guest_config" in names and backend_choice.KERNEL_FIXTURE not in names:
        # pytest does not see what the fixture needs that an override asks for.
        names.append(backend_choice.KERNEL_FIXTURE)
    if backend_choice.KERNEL_FIXTURE in names:
        backend_choice.parametrize(metafunc, _kernels(metafunc.config))
    if drivers.FIXTURE in names:
        chosen = _drivers(metafunc.config)
        metafunc.parametrize(drivers.FIXTURE, chosen, scope="session", ids=drivers.driver_id)


def _kernel_of(item: pytest.Item) -> str | None:
    spec = getattr(item, "callspec", None)
    return None if spec is None else spec.params.get(backend_choice.KERNEL_FIXTURE)


# Before pytest-xdist, which looks for the groups.
@pytest.hookimpl(tryfirst=True)  # type: ignore[misc]  # pluggy 1.0 has no types
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A time limit for every test, one worker for the tests of a warm guest.

    The tests marked full go, unless they were asked for; with --short, what its rules leave.
    """
    speeds.choose(config, items)
    speeds.shuffle(config, items)
    corrected = named(config.getoption("corrected"))
    for item in items:
        kernel = _kernel_of(item)
        if kernel is None:
            continue
        debugtests.give_time(item, kernel, backend_of(backend_choice.of_test(item)).slowness)
        debugtests.skip_unfit(item, kernel, corrected)
        warm = _WARM_FIXTURE in getattr(item, "fixturenames", ())
        if warm and item.get_closest_marker("xdist_group") is None:
            driver, backend = drivers.driver_id(_driver_of(item)), backend_choice.of_test(item)
            group = f"warm-{backend_choice.kernel_id(kernel)}-{driver}-{backend}"
            item.add_marker(pytest.mark.xdist_group(group))
        drivers.expect_defects(item, kernel, corrected)
    speeds.order(config, items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build and fetch before the first test, so that no test's time limit counts it."""
    config = session.config
    if config.option.collectonly:
        return
    needed = {_which_of(item, kernel) for item in session.items if (kernel := _kernel_of(item))}
    for item in session.items:
        if systems.FIXTURE in getattr(item, "fixturenames", ()) and (kernel := _kernel_of(item)):
            with contextlib.suppress(UsageError):  # which the test will say
                users = _system_of(item, kernel).users.values()
                needed |= {(user.kernel, user.driver, user.backend) for user in users}
    capture = config.pluginmanager.getplugin("capturemanager")
    for which in sorted(needed):
        with capture.global_and_fixture_disabled():
            try:
                config.stash[_artifacts][which] = prepare(plain_config(which), Progress())
            except ZvmlabError as error:
                config.stash[_artifacts][which] = error


@pytest.hookimpl(tryfirst=True)  # type: ignore[misc]  # pluggy 1.0 has no types
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """After the collection all has been built."""
    return True if session.config.getoption("--build-only") else None


@pytest.hookimpl(tryfirst=True)  # type: ignore[misc]  # pluggy 1.0 has no types
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """A test has passed only if its guests have come through it without a crash."""
    test = pyfuncitem.obj
    for guest in guests_of(pyfuncitem):
        if guest.channels.trace is not None:
            # What a full disk does to a test, its trace says.
            with contextlib.suppress(OSError):
                begin_test(guest.channels.trace, pyfuncitem.nodeid)

    bystanders = _bystanders_of(pyfuncitem)
    said: list[str] = []
    pyfuncitem.stash[warnings] = said

    @functools.wraps(test)
    def judged(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # pylint: disable=unused-variable
        for bystander in bystanders:
            bystander.begin()
        result = test(*args, **kwargs)
        for guest in guests_of(pyfuncitem):
            guest.settle()
            said.extend(guest.warnings())
        for bystander in bystanders:
            bystander.check()
        return result

    pyfuncitem.obj = judged


# Around pytest's own, which makes of a failure an expected one.
@pytest.hookimpl(hookwrapper=True, tryfirst=True)  # type: ignore[misc]  # pluggy 1.0 has no types
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Remember failures; say first what matters, and what the guests did meanwhile."""
    failures.hide_harness(item, call)
    outcome: Any = yield
    report = outcome.get_result()
    if call.excinfo is not None and call.excinfo.errisinstance(ZvmlabError):
        item.stash[_reported] = True
    unknown = drivers.hold_to_value(item, call, report)
    if report.failed or (report.skipped and not hasattr(report, "wasxfail")):
        item.stash[_undecided] = report.outcome
    if not report.failed:
        return
    item.stash[_failed] = item.stash[_reported] = True
    guests = guests_of(item)
    failures.put_cause_first(item, call, report, guests)
    for guest in guests:
        report.sections.append(("zvmlab", f"logs of guest {guest.name}: {guest.logs}"))
        report.sections.append((f"zvmlab console{_of(guest)}", guest.console.tail()))
        if guest.config.system is not None:
            report.sections.append((f"zvmlab trace{_of(guest)}", _trace_tail(guest)))
        if _waited_in_vain(call):
            report.sections.append(("zvmlab stacks", harmless(stacks(guest))))
    if unknown is not None:
        report.longrepr = f"{harmless(unknown, lines=False)}\n\n{report.longreprtext}"


def _of(guest: Guest) -> str:
    """Which of a system's guests, in the title of a section."""
    return f" of {guest.config.cp['userid']}" if guest.config.system is not None else ""


def _trace_tail(guest: Guest) -> str:
    """The last calls that CP has answered for it."""
    trace = guest.channels.trace
    if trace is None:
        return "it has none"
    try:
        size = trace.stat().st_size
        records = list(tracefmt.read_part(trace, max(0, size - _TRACE_BYTES), size))[-_TRACE_TAIL:]
    except (OSError, ZvmlabError) as error:
        return str(error)
    return harmless("\n".join(tracefmt.describe(record, records[0].tod) for record in records))


def _waited_in_vain(call: pytest.CallInfo[None]) -> bool:
    """A time limit of ours, or the test's own (pytest-timeout)."""
    error = None if call.excinfo is None else call.excinfo.value
    if isinstance(error, pytest.fail.Exception):
        return str(error).startswith(_TIMEOUTS)
    return isinstance(error, Timeout) and not has_stacks(error)


def _bystanders_of(item: pytest.Item) -> list[Bystanders]:
    """What is to stay as it is: of each guest that answers, for a test with the mark or the option."""
    mark, option = item.get_closest_marker("bystanders"), item.config.getoption("--bystanders")
    if mark is None and option is None:
        return []
    named = (*(mark.args if mark is not None else ()), *(option or "").split(","))
    ready = (guest for guest in guests_of(item) if guest.stage is Stage.READY)
    return [Bystanders(guest.control, filter(None, named)) for guest in ready]


def guests_of(item: pytest.Item) -> list[Guest]:
    """The guests that a test has been given so far."""
    return item.stash.get(_guests, [])


def watch(request: pytest.FixtureRequest, guest: Guest) -> Guest:
    """A fixture's guest: a crash fails the test that has it, a failure says where its logs are."""
    request.node.stash.setdefault(_guests, []).append(guest)
    return guest


@pytest.hookimpl(tryfirst=True)  # type: ignore[misc]  # pluggy 1.0 has no types
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Before fixtures end: a guest of the pool need not rest if the next test takes one."""
    item.stash[_another_follows] = "guest_pool" in getattr(nextitem, "fixturenames", ())


def _has_failed(request: pytest.FixtureRequest) -> bool:
    return bool(request.node.stash.get(_failed, False))


def _has_reported(request: pytest.FixtureRequest) -> bool:
    """Has the test failed, also as expected, by what would be said of its guest at the end?"""
    return bool(request.node.stash.get(_reported, False))


@pytest.fixture(scope="session")
def zvmlab_kernel() -> str:
    """Name of the guest kernel; one instance of the test for each ``--kernel``."""
    raise AssertionError("pytest_generate_tests gives the value")


@pytest.fixture(scope="session")
def zvmlab_backend(request: pytest.FixtureRequest) -> str:
    """Name of the emulator; one instance of the test for each ``--backend``."""
    return str(getattr(request, "param", backend_choice.DEFAULT[0]))


@pytest.fixture(scope="session")
def zvmlab_driver() -> str:
    """The monreader under test; one instance of the test for each ``--driver``.

    A test that asks for it gets guests whose module ``monreader`` is this one.
    """
    raise AssertionError("pytest_generate_tests gives the value")


@pytest.fixture
def zvmlab_dir(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """An empty folder of this test alone; kept if the test fails, or with --zvmlab-keep."""
    name = "".join(c if c.isalnum() else "_" for c in request.node.name)[:40]
    folder = tmp_path_factory.mktemp(name)
    yield folder
    if not _has_failed(request) and not request.config.getoption("--zvmlab-keep"):
        shutil.rmtree(folder, ignore_errors=True)


def _with_marks(request: pytest.FixtureRequest, config: GuestConfig) -> GuestConfig:
    fields: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("zvmlab"))):
        fields |= mark.kwargs
    if "modules" in fields:
        fields["modules"] = (*config.modules, *fields["modules"])
    for name in fields.keys() - set(GuestConfig._fields):
        raise UsageError(f"zvmlab marker: GuestConfig has no field {name}")
    return config._replace(**fields)


@pytest.fixture
def guest_config(request: pytest.FixtureRequest, zvmlab_kernel: str) -> GuestConfig:
    """The configuration of the test's guest: the kernel, and the fields of ``mark.zvmlab``.

    Nothing has been done yet; a test module may override the fixture.
    """
    config = _with_marks(request, plain_config(_which_of(request.node, zvmlab_kernel)))
    return with_built_modules(config)


@pytest.fixture
def built_module(zvmlab_kernel: str) -> Callable[..., Path]:
    """Builds a folder's module for the test's kernel: ``built_module("src")`` is the .ko file.

    With a second argument, its name, the folder may have several.  What was built is kept in the
    cache until the folder changes.
    """

    def build(folder: Path | str, name: str | None = None) -> Path:
        found = built_modules(Path(folder), resolve(zvmlab_kernel), Progress(quiet=True))
        if name is None and len(found) != 1:
            raise UsageError(f"{folder} builds {', '.join(found)}; choose one of them")
        if name is not None and name not in found:
            raise UsageError(f"{folder} builds {', '.join(found)}, and no {name}")
        return found[name] if name is not None else next(iter(found.values()))

    return build


def _driver_of(item: pytest.Item) -> str:
    """The driver of a test; where it does not care, the first."""
    return drivers.driver_of(item) or _drivers(item.config)[0]


def _which_of(item: pytest.Item, kernel: str) -> Which:
    return kernel, _driver_of(item), backend_choice.of_test(item)


def _ready_made(config: pytest.Config, which: Which) -> None:
    """Say now what was missing when everything was prepared."""
    found = config.stash[_artifacts].get(which)
    if isinstance(found, ZvmlabError):
        pytest.fail(str(found), pytrace=False)


@pytest.fixture
def made_guest(
    request: pytest.FixtureRequest, guest_config: GuestConfig, zvmlab_dir: Path
) -> Iterator[Guest]:
    """Stage MADE: a run directory and a folder for the logs; no emulator yet."""
    # A test module's own guest_config need not know of emulators.
    config = guest_config._replace(
        backend=backend_choice.of_test(request.node),
        cold=guest_config.cold or request.config.getoption("--cold"),
    )
    _ready_made(request.config, (config.kernel, config.driver, config.backend))
    guest = Guest(config, zvmlab_dir)
    try:
        yield watch(request, guest)
        _keep_counts(request, guest)
        if not _has_reported(request):
            debugtests.last_check(guest)
            guest.end()
    finally:
        guest.stop()


@pytest.fixture
def paused_guest(made_guest: Guest) -> Guest:
    """Stage PAUSED: the emulator runs, CP and emulator answer, no instruction was executed.

    Peers created and faults armed now are there for the first one; go on with
    ``boot()``.
    """
    made_guest.start()
    return made_guest


@pytest.fixture
def guest(request: pytest.FixtureRequest, made_guest: Guest) -> Guest:
    """Stage READY: for this test alone, freshly booted or restored to that; the agent answers."""
    made_guest.boot()
    _begin_counts(request.config, made_guest)
    return made_guest


def _system_of(item: pytest.Item, kernel: str) -> systems.Described:
    plain = GuestConfig(
        kernel=kernel,
        driver=_driver_of(item),
        cold=bool(item.config.getoption("--cold")),
        backend=backend_choice.of_test(item),
    )
    return systems.described(item, plain)


def _follows(item: pytest.Item, found: systems.Described) -> bool:
    """Is a later test of this session to use such a system?"""
    items = item.session.items
    for other in items[items.index(item) + 1 :]:
        if systems.FIXTURE in getattr(other, "fixturenames", ()) and (kernel := _kernel_of(other)):
            with contextlib.suppress(UsageError):  # which is that test's
                if _system_of(other, kernel) == found:
                    return True
    return False


@pytest.fixture(scope="session")
def warm_systems(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[systems.Warm]:
    """The system of tests of this worker, none at first."""
    warm = systems.Warm(
        lambda: tmp_path_factory.mktemp("warm-system"),
        keep_logs=bool(request.config.getoption("--zvmlab-keep")),
    )
    yield warm
    warm.close()


@pytest.fixture
def system(
    request: pytest.FixtureRequest,
    zvmlab_kernel: str,
    zvmlab_dir: Path,
    warm_systems: systems.Warm,
) -> Iterator[System]:
    """Stage READY, all of them: the guests of ``mark.zvmlab_system`` (ALICE, BOB) on one CP.

    In QEMU, as they were after their boot: the system goes on from where one like it was saved.  They
    have logged on in the order of the mark.  The next test with the same mark has the same system, put
    back, if this one passes and nobody has logged on or off.  In another emulator they are new for
    each test, of which only those marked representative have a system there.
    """
    elsewhere = backend_choice.of_test(request.node) != QEMU
    if elsewhere and request.node.get_closest_marker(backend_choice.REPRESENTATIVE) is None:
        pytest.skip(f"other tests show systems in another emulator than {QEMU}")
    found = _system_of(request.node, zvmlab_kernel)
    follows = _follows(request.node, found)
    made = warm_systems.get(found)
    if made is None:
        made = _new_system(request, found, None if follows else zvmlab_dir, warm_systems)
    else:
        for guest in made.guests.values():
            watch(request, guest)
    try:
        for guest in made.guests.values():
            _begin_counts(request.config, guest)
        yield made
        for guest in made.guests.values():
            _keep_counts(request, guest)
        if _has_failed(request) or _has_reported(request):
            return
        if follows and warm_systems.keep(found, made):
            made = None
        else:
            warm_systems.end(made)
    finally:
        if made is not None:
            made.stop()


def _new_system(
    request: pytest.FixtureRequest,
    found: systems.Described,
    logs: Path | None,
    warm: systems.Warm,
) -> System:
    """All its guests are up; without *logs* of the test it can be put back."""
    for config in found.users.values():
        _ready_made(request.config, (config.kernel, config.driver, config.backend))
    users = {userid: with_built_modules(config) for userid, config in found.users.items()}
    built = found._replace(users=users)
    made = warm.make(built) if logs is None else System(found.segments, logs, users=users)
    try:
        for userid, config in users.items():
            if userid not in found.later:
                watch(request, made.guest(userid, config))
        made.boot_saved()
        if logs is None and not made.marks and made.can_be_marked:
            made.mark()
    except BaseException:
        made.stop()
        raise
    return made


@pytest.fixture
def driver_guest(zvmlab_driver: str, guest: Guest) -> Guest:
    """Stage READY: a guest of this test alone; the driver is in its image, not loaded."""
    return guest


def _begin_counts(config: pytest.Config, guest: Guest) -> None:
    """What runs from here on is counted for the test."""
    counts = config.stash.get(_counts, None)
    if counts is not None:
        counts.begin(guest)


def _keep_counts(request: pytest.FixtureRequest, guest: Guest) -> None:
    """After each test: a guest that a later one leaves unable to answer takes its counts along."""
    counts = request.config.stash.get(_counts, None)
    if counts is not None:
        undecided = request.node.stash.get(_undecided, "")
        counts.keep(guest, request.node.nodeid, undecided)


@pytest.fixture(scope="session")
def guest_pool(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pool]:
    """The guests that tests of this worker use in turn, none at first; see lent()."""
    pool = Pool(
        lambda config: tmp_path_factory.mktemp(f"warm-{Path(config.kernel).name}"),
        keep_logs=bool(request.config.getoption("--zvmlab-keep")),
        last_check=debugtests.last_check,
    )
    yield pool
    pool.close()


@contextlib.contextmanager
def lent(
    request: pytest.FixtureRequest, pool: Pool, config: GuestConfig, prepare: Use = nothing
) -> Iterator[Guest]:
    """For a fixture: a guest of the pool, as it was after its boot and *prepare*.

    A crash fails the test.  The next one gets another guest if this one has failed, its fixture
    has, or something was left behind.
    """
    guest = watch(request, pool.get(config, prepare))
    try:
        _begin_counts(request.config, guest)
        yield guest
    except BaseException:
        pool.drop(guest, keep_logs=True)
        raise
    _keep_counts(request, guest)
    if _has_failed(request):
        pool.drop(guest, keep_logs=True)
    else:
        soon = request.node.stash.get(_another_follows, False)
        pool.put_back(guest, _has_reported(request), soon)


@pytest.fixture
def warm_guest(
    request: pytest.FixtureRequest, zvmlab_kernel: str, guest_pool: Pool
) -> Iterator[Guest]:
    """Stage READY: booted once per kernel, driver, backend and worker, as it was after boot.

    One CPU, default storage and segments (``mark.zvmlab`` does not apply).  After
    a test that failed, or left a module or a fault behind, the next one gets a
    new guest.
    """
    if request.node.get_closest_marker("zvmlab") is not None:
        pytest.fail("mark.zvmlab needs a guest of its own; use the fixture guest", pytrace=False)
    which = _which_of(request.node, zvmlab_kernel)
    _ready_made(request.config, which)
    config = plain_config(which)._replace(cold=bool(request.config.getoption("--cold")))
    with lent(request, guest_pool, config) as guest:
        yield guest


@pytest.fixture
def monreader(
    request: pytest.FixtureRequest, zvmlab_driver: str, warm_guest: Guest
) -> Iterator[Guest]:
    """The warm guest with the monreader module loaded: /dev/monreader is there, not open.

    The module is that of ``zvmlab_driver``; it is unloaded afterwards.
    """
    warm_guest.agent.modprobe(DRIVER).check()
    yield warm_guest
    if warm_guest.stage is Stage.READY and not _has_reported(request):
        warm_guest.agent.rmmod(DRIVER).check()
