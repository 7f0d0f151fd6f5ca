# SPDX-License-Identifier: MIT
"""taskmon, dmmon and monread export in a guest: what is done there is what is scraped here.

Requests come out of the guest as a scraper on this machine would make them: a relay takes a
connection here and has the guest's nc make it there.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from export_relay import Relay
from scraper import scraping
from waiting import fair

from zvmlab.agent.worker import Process
from zvmlab.base.tree import TREE
from zvmlab.builder.guesttools import HTTP_LIBRARY, debian_program, library, tool
from zvmlab.cli import workload as cli_workload
from zvmlab.fabricate.file import read_workload
from zvmlab.fabricate.model import Model
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.monitor.monitor import Capture
from zvmlab.monitor.redeliver import Redelivery

pytestmark = [
    pytest.mark.first_kernel,
    pytest.mark.not_debug("it has no taskstats and no device mapper", lacks="TASKSTATS"),
    pytest.mark.timeout(600),
]

SECONDS = 120.0
BUSYBOX = "/bin/busybox"
SECTORS = 2048


@pytest.fixture
def guest_config(zvmlab_kernel: str) -> GuestConfig:
    """A guest of each test, with the tools and what they need to export by HTTP."""
    files = {**tool("taskmon"), **tool("dmmon"), **tool("monread"), **library(HTTP_LIBRARY)}
    files |= debian_program("/sbin/dmsetup")
    config = GuestConfig(kernel=zvmlab_kernel, files=files, busybox=True, cpus=2)
    return config._replace(modules=(*config.modules, "brd", "dm-mod"))


@pytest.fixture(name="exporting")
def _exporting(guest: Guest) -> Iterator[Callable[..., Relay]]:
    """Has a tool export in the guest; each must end well."""
    guest.agent.run([BUSYBOX, "ifconfig", "lo", "127.0.0.1", "up"]).check()
    started: list[tuple[Process, Relay]] = []

    def start(name: str, port: int, *words: str) -> Relay:
        process = guest.agent.spawn([f"/bin/{name}", "export", "--listen", str(port), *words])
        relay = Relay(guest, port)
        started.append((process, relay))
        relay.wait(SECONDS)
        return relay

    yield start
    for _, relay in started:
        relay.close()
    for process, _ in started:
        process.signal(signal.SIGTERM)
        process.wait(SECONDS, kill=True)


def _exit(guest: Guest, times: int) -> None:
    """Run a command under a name that nothing else has."""
    guest.agent.run([BUSYBOX, "cp", BUSYBOX, "/tmp/true"]).check()
    for _ in range(times):
        guest.agent.run(["/tmp/true"]).check()


def _device(guest: Guest) -> None:
    """A device of two areas, with a histogram."""
    guest.agent.modprobe("brd", {"rd_nr": 1, "rd_size": SECTORS // 2}).check()
    guest.agent.modprobe("dm-mod").check()
    environment = {"DM_DISABLE_UDEV": "1", "PATH": "/bin:/sbin"}
    table = f"0 {SECTORS} linear /dev/ram0 0"
    words = ["/sbin/dmsetup", "create", "vol", "--noudevsync", "--table", table]
    guest.agent.run(words, env=environment).check()
    guest.agent.run(
        ["/bin/dmmon", "create", "--areas", "2", "--precise", "--bounds", "1us,10s", "vol"]
    ).check()


def _write(guest: Guest, times: int) -> None:
    """To its first area."""
    for _ in range(times):
        argv = [BUSYBOX, "dd", "if=/dev/zero", "of=/dev/dm-0", "bs=4096", "count=1"]
        guest.agent.run([*argv, "conv=fsync"]).check()


@pytest.mark.requirement("T30")
def test_tasks_that_exit(guest: Guest, exporting: Callable[..., Relay]) -> None:
    """Thirty commands are thirty exits; other tasks exit, too, but under their own names."""
    relay = exporting("taskmon", 9812, "--textfile", "/tmp/taskmon.prom")
    _exit(guest, 30)

    def exits() -> float:
        return relay.values().get('taskmon_exits_total{command="true"}', 0.0)

    # Messages are gathered for milliseconds before they are read.
    until(lambda: exits() >= 30)
    found = relay.values()
    assert found['taskmon_exits_total{command="true"}'] == 30
    assert found["taskmon_messages_lost_total{}"] == 0
    assert found["taskmon_messages_received_total{}"] >= 30
    cpu = found['taskmon_cpu_seconds_total{command="true"}']
    assert 0 < cpu < 30
    assert found['taskmon_most_resident_bytes{command="true"}'] > 1 << 16
    written = guest.agent.read_file("/tmp/taskmon.prom").decode()
    assert "\ntaskmon_messages_lost_total 0\n" in written


@pytest.mark.requirement("T30")
def test_threads_count_for_their_program(
    guest: Guest, exporting: Callable[..., Relay], program: Callable[[str], Path]
) -> None:
    """More threads than there is room for names, each with its own: they are one program's."""
    relay = exporting("taskmon", 9812)
    guest.agent.write_file("/tmp/server", program("named_threads").read_bytes(), 0o755)
    guest.agent.run(["/tmp/server", "600"], timeout=SECONDS).check()
    until(lambda: relay.values().get('taskmon_exits_total{command="server"}') == 601)
    found = relay.values()
    assert found["taskmon_messages_lost_total{}"] == 0
    assert not [key for key in found if "conn-" in key or "(other)" in key]


@pytest.mark.requirement("T31")
def test_groups_of_living_tasks(guest: Guest, exporting: Callable[..., Relay]) -> None:
    """A task counts while it lives, and goes on to count when it has exited, in the same group."""
    guest.agent.run([BUSYBOX, "cp", BUSYBOX, "/tmp/sleep"]).check()
    sleeper = guest.agent.worker("sleeper").spawn(["/tmp/sleep", "1000000"])
    until(lambda: guest.agent.run([BUSYBOX, "pidof", "sleep"]).status == 0)
    rules = ("work=cmdline:/tmp/sleep 1*", "all=user:0")
    relay = exporting("taskmon", 9812, *(word for rule in rules for word in ("--group", rule)))
    before = relay.values()
    assert before['taskmon_tasks{group="work"}'] == 1
    assert before['taskmon_exits_total{group="work"}'] == 0
    assert before['taskmon_tasks{group="all"}'] > 10
    cpu = before['taskmon_cpu_seconds_total{group="work"}']
    assert cpu > 0
    sleeper.signal(signal.SIGKILL)
    sleeper.wait()
    until(lambda: relay.values()['taskmon_exits_total{group="work"}'] == 1)
    after = relay.values()
    assert after['taskmon_tasks{group="work"}'] == 0
    assert cpu <= after['taskmon_cpu_seconds_total{group="work"}'] < 2 * cpu
    assert not [key for key in after if "(other)" in key or "command=" in key]


@pytest.mark.requirement("T31")
def test_a_rule_that_fits_nothing(guest: Guest) -> None:
    """It is told, and the exporter goes on."""
    words = ["--group", "none=name:nothing", "--group", "all=user:0"]
    exporter = guest.agent.spawn(["/bin/taskmon", "export", "--textfile", "/tmp/one.prom", *words])
    until(lambda: not guest.agent.run([BUSYBOX, "test", "-f", "/tmp/one.prom"]).status)
    exporter.signal(signal.SIGTERM)
    done = exporter.wait(SECONDS)
    assert done.status == 0
    sentence = b"--group 'none=name:nothing' fits no task that lives now; it may fit later ones"
    assert done.stderr.count(b"--group") == 1 and sentence in done.stderr
    assert b'taskmon_tasks{group="all"}' in guest.agent.read_file("/tmp/one.prom")
    wrong = guest.agent.run(["/bin/taskmon", "export", "--group", "a=b:c"])
    assert wrong.status == 2 and b"WHAT is name, cgroup, user or cmdline" in wrong.stderr


def test_areas_of_a_device(guest: Guest, exporting: Callable[..., Relay]) -> None:
    """A write to one area counts there and in no other; a histogram."""
    _device(guest)
    relay = exporting("dmmon", 9813)
    before = relay.values()
    area = 'device="vol",region="0",area="{}"'.format
    write = 'dmmon_ios_total{{{},direction="write"}}'.format
    assert before[write(area(0))] == before[write(area(1))] == 0
    _write(guest, 5)
    after = relay.values()
    assert after[write(area(0))] == 5 and after[write(area(1))] == 0
    assert after[f'dmmon_io_bytes_total{{{area(0)},direction="write"}}'] == 5 * 4096
    bucket = 'dmmon_io_latency_seconds_bucket{{{},le="{}"}}'.format
    ios = sum(after[f'dmmon_ios_total{{{area(0)},direction="{one}"}}'] for one in ("read", "write"))
    assert after[bucket(area(0), "+Inf")] == ios == after[bucket(area(0), "10")]
    assert 0 < after[f"dmmon_busy_seconds_total{{{area(0)}}}"] < SECONDS
    assert after["dmmon_read_errors_total{}"] == after["dmmon_areas_in_doubt{}"] == 0


def test_sets_of_the_device(
    guest: Guest, exporting: Callable[..., Relay], zvmlab_dir: Path
) -> None:
    """The export has as many sets and intervals as CP has delivered, and none lost."""
    control = guest.control
    guest.agent.modprobe("monreader").check()
    control.execute("monitor-manual", manual=True)
    with Capture(control, zvmlab_dir / "sets") as capture:
        relay = exporting("monread", 9811, "/dev/monreader")
        control.wait_event("monitor-connected", SECONDS)
        control.cp("MONITOR SAMPLE ENABLE ALL\nMONITOR SAMPLE START")
        for _ in range(3):
            control.execute("monitor-tick")
        delivered = capture.so_far()
        assert [one.kind for one in delivered].count("sample") >= 3
        records = [one for had in delivered for part in had.parts() for one in part.records()]
        ends = [one for one in records if (one.domain, one.number) == (1, 11)]
        until(lambda: relay.values()["monread_sets_total{}"] >= len(delivered))
        found = relay.values()
        assert found["monread_sets_total{}"] == len(delivered)
        assert found["monread_records_total{}"] == len(records)
        assert found["monread_intervals_total{}"] == len(ends)
        assert found["monread_sets_lost_total{}"] == found["monread_overflows_total{}"] == 0
        online = [value for name, value in found.items() if "processor_online" in name]
        assert online and all(value > 0 for value in online)
        control.cp("MONITOR SAMPLE STOP\nMONITOR SAMPLE DISABLE ALL")


@pytest.fixture(name="all_three")
def _all_three(guest: Guest, exporting: Callable[..., Relay]) -> dict[str, Relay]:
    """taskmon after 30 exits, dmmon after 5 writes, monread after some sets; by their names."""
    control = guest.control
    guest.agent.modprobe("monreader").check()
    control.execute("monitor-manual", manual=True)
    _device(guest)
    relays = {
        "taskmon": exporting("taskmon", 9812),
        "dmmon": exporting("dmmon", 9813),
        "monread": exporting("monread", 9811, "/dev/monreader"),
    }
    control.wait_event("monitor-connected", SECONDS)
    control.cp("MONITOR SAMPLE ENABLE ALL\nMONITOR SAMPLE START")
    for _ in range(3):
        control.execute("monitor-tick")
    control.cp("MONITOR SAMPLE STOP\nMONITOR SAMPLE DISABLE ALL")
    _exit(guest, 30)
    _write(guest, 5)
    until(lambda: relays["monread"].values()["monread_sets_total{}"] >= 3)
    exits = 'taskmon_exits_total{command="true"}'
    until(lambda: relays["taskmon"].values().get(exits, 0) >= 30)
    return relays


def _promtool(text: str) -> list[str]:
    """The verdict of Prometheus' own promtool."""
    argv = ["promtool", "check", "metrics"]
    done = subprocess.run(
        argv, input=text, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    said = (done.stdout + done.stderr).splitlines()
    assert bool(done.returncode) == bool(said), done
    return said


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool (package prometheus)")
def test_promtool_has_nothing_to_say(all_three: dict[str, Relay]) -> None:
    """Names, units and help texts of all that the three tools export, each with something to tell."""
    for name, relay in all_three.items():
        text = relay.text()
        assert f"# HELP {name}_" in text and f"{name}_export_requests_total" in text
        assert _promtool(text) == [], name
        # It would have noticed.
        line = next(line for line in text.splitlines() if line.startswith("# HELP"))
        assert any("help" in said for said in _promtool(text.replace(f"{line}\n", ""))), name


@pytest.mark.skipif(not shutil.which("prometheus"), reason="needs prometheus (package prometheus)")
def test_prometheus_scrapes_a_guest(all_three: dict[str, Relay], zvmlab_dir: Path) -> None:
    """Debian's Prometheus has the guest's activity, under the names of the dashboards."""
    wanted = {
        'taskmon_exits_total{command="true"}': 30.0,
        'dmmon_ios_total{device="vol",area="0",direction="write"}': 5.0,
        'dmmon_ios_total{device="vol",area="1",direction="write"}': 0.0,
        "monread_sets_total": all_three["monread"].values()["monread_sets_total{}"],
    }
    with scraping(
        zvmlab_dir, {name: relay.port for name, relay in all_three.items()}
    ) as prometheus:
        for name in all_three:
            until(lambda job=name: prometheus.ask(f'up{{job="{job}"}} == 1') != [])  # type: ignore[misc]
        for query, value in wanted.items():
            ((labels, found),) = prometheus.ask(query)
            assert found == value, query
            assert labels["job"] == query.partition("_")[0]


def _panels(name: str) -> Iterator[tuple[str, str]]:
    """The queries of a dashboard: the panel's title, and the expression for all systems."""
    dashboard = json.loads((TREE / f"docs/dashboards/{name}.json").read_text("utf-8"))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$instance", ".*")
            yield panel["title"], expression.replace("$__rate_interval", "5m")


@pytest.mark.skipif(not shutil.which("prometheus"), reason="needs prometheus (package prometheus)")
def test_dashboards_have_what_a_guest_exports(
    guest: Guest, all_three: dict[str, Relay], zvmlab_dir: Path
) -> None:
    """Each expression of each panel gives series, after two scrapes with something done between them."""
    ports = {name: relay.port for name, relay in all_three.items()}
    with Model(read_workload(TREE / "examples/busy-day.json", 1.0)) as model:
        sets = list(cli_workload.sets(model))
    halves = sets[: len(sets) // 2], sets[len(sets) // 2 :]
    delivery = Redelivery(guest.control, None, SECONDS)
    asked = [panel for name in all_three for panel in _panels(name)]
    with scraping(zvmlab_dir, ports, seconds=5) as prometheus:

        def await_scrapes(more: int) -> None:
            taken = 'min(sum_over_time(up{job=~"taskmon|dmmon|monread"}[5m]))'
            before = max([value for _, value in prometheus.ask(taken)], default=0.0)
            until(lambda: [v for _, v in prometheus.ask(taken) if v >= before + more] != [])

        for half in halves:
            delivery.run(half)
            _exit(guest, 3)
            _write(guest, 2)
            await_scrapes(2)
        moment = [0.0]

        def all_there() -> bool:
            """A scrape that came too late on a busy machine has no values."""
            moment[0] = time.time()
            return prometheus.ask('min(up{job=~"taskmon|dmmon|monread"}) == 1', moment[0]) != []

        until(all_there)
        answers = [prometheus.ask(expression, moment[0]) for _, expression in asked]
    assert [expression for (_, expression), answer in zip(asked, answers) if not answer] == []
    drawn: dict[str, list[tuple[dict[str, str], float]]] = defaultdict(list)
    for (title, _), answer in zip(asked, answers):
        drawn[title] += answer
    exits = {labels.get("command"): value for labels, value in drawn["Exits, the first ten"]}
    assert exits["true"] > 0
    areas = drawn["Busiest areas, the first ten"]
    assert [(labels["device"], labels["area"]) for labels, _ in areas] == [("vol", "0")]
    # It begins at midnight, when those of the pattern "night" are busiest.
    users = drawn["Users by CPU time, the first ten"]
    assert len(users) == 10 and all(labels["user"].startswith("BATCH") for labels, _ in users)
    for title in ("Lost messages", "Missing data", "Areas left out, or in doubt", "Errors"):
        assert {value for _, value in drawn[title]} == {0}, title


def until(true: Callable[[], bool]) -> None:
    """Wait for that, a minute at most."""
    end = fair(SECONDS)
    while not true():
        assert not end.over, f"it did not come within {SECONDS} s"
