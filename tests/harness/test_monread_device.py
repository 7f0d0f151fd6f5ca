# SPDX-License-Identifier: MIT
"""monread and what the device can do: errors, severs, silence; complete sets are never lost."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from errno import EAGAIN, EBUSY, EFAULT, EINTR, EIO, EOVERFLOW
from pathlib import Path

import pytest
from monread_tool import END, SECONDS, START, build_monread, part, stream, user

from zvmlab.base.errors import EXIT_CANNOT_RUN, EXIT_FAILED, EXIT_PASS, EXIT_TIMEOUT
from zvmlab.mondata.monwrite import read_sets
from zvmlab.mondata.records import EVENT

HERE = Path(__file__).parent
# The sanitizer's library need not be the first one: it comes behind the device.
SANITIZER = "verify_asan_link_order=0"
ONE = stream(part(user("ONE"), END))
TWO = stream(part(*[user("TWO")] * 200, END), part(user("EVENT"), type=EVENT))
THREE = stream(part(user("THREE"), END, start=START + 0x4F80))
SEVERED = f"error {EIO}"


@pytest.fixture(name="monread", scope="module")
def _monread() -> Path:
    return build_monread()


@pytest.fixture(name="library", scope="module")
def _library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("library") / "fake_device.so"
    argv = ["cc", "-shared", "-fPIC", "-o", str(made), str(HERE / "fake_device.c"), "-ldl"]
    subprocess.run(argv, check=True, timeout=SECONDS)
    return made


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(name="start")
def _start(monread: Path, library: Path, tmp_path: Path) -> Iterator[Start]:
    """Start monread with this script of the device; it writes OUT, OUT.idx and FILE."""
    started: list[subprocess.Popen[str]] = []

    def start(
        script: list[str], *words: str, outputs: bool = True, stderr: int = subprocess.PIPE
    ) -> subprocess.Popen[str]:
        file = tmp_path / "script"
        file.write_text("".join(f"{line}\n" for line in script))
        argv = [str(monread), *words]
        if outputs:
            argv += ["--write-stream", str(tmp_path / "out")]
            argv += ["--write-monwrite", str(tmp_path / "file")]
        env = os.environ | {
            **{"FAKE_DEVICE": str(file), "LD_PRELOAD": str(library)},
            "ASAN_OPTIONS": SANITIZER,
        }
        process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=stderr, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def data(*sets: bytes) -> list[str]:
    """Sets, each to its end."""
    return [line for data_set in sets for line in (f"data {data_set.hex()}", "end")]


def end(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and what it said on standard error."""
    _, said = process.communicate(timeout=SECONDS)
    return process.returncode, said


def kept(folder: Path) -> list[bytes]:
    """The sets of the stream by its index; those of the MONWRITE file are the same."""
    whole = (folder / "out").read_bytes()
    lengths = re.findall(r'"length":(\d+)', (folder / "out.idx").read_text())
    sets, at = [], 0
    for length in map(int, lengths):
        sets.append(whole[at : at + length])
        at += length
    assert at == len(whole)
    file = (folder / "file").read_bytes()
    assert [data_set.stream() for data_set in read_sets(io.BytesIO(file))] == sets
    return sets


@pytest.mark.parametrize("words", [[], ["--blocking"]], ids=["poll", "blocking"])
def test_complete_sets(start: Start, tmp_path: Path, words: list[str]) -> None:
    code, said = end(start(["open 0", *data(ONE, TWO, THREE)], *words, "--sets", "3"))
    assert (code, kept(tmp_path)) == (EXIT_PASS, [ONE, TWO, THREE])
    assert said.startswith("3 sets complete, 0 lost, 0 overflows; 4 elements, 207 records")


@pytest.mark.parametrize("error", [EIO, EFAULT], ids=["EIO", "EFAULT"])
@pytest.mark.parametrize("at", [5, 12, 300, len(TWO)])
def test_an_error_within_a_set_costs_that_set(
    start: Start, tmp_path: Path, error: int, at: int
) -> None:
    cut = [f"data {TWO[:at].hex()}", f"error {error}"]
    if error == EFAULT:
        cut += [f"data {TWO[at:].hex()}" if TWO[at:] else "end"]
        cut += ["end"] if TWO[at:] else []
    code, said = end(start(["open 0", *data(ONE), *cut, *data(THREE)], "--sets", "3"))
    assert (code, kept(tmp_path)) == (EXIT_FAILED, [ONE, THREE])
    assert said.startswith("2 sets complete, 1 lost, 0 overflows")


def test_overflow_costs_nothing_that_was_read(start: Start, tmp_path: Path) -> None:
    script = ["open 0", *data(ONE), f"error {EOVERFLOW}", *data(TWO), f"error {EOVERFLOW}"]
    code, said = end(start([*script, *data(THREE)], "--sets", "3"))
    assert (code, kept(tmp_path)) == (EXIT_FAILED, [ONE, TWO, THREE])
    assert said.startswith("3 sets complete, 0 lost, 2 overflows")


def test_interrupted_reads_are_none(start: Start, tmp_path: Path) -> None:
    script = ["open 0", f"error {EAGAIN}", f"data {TWO[:100].hex()}", f"error {EINTR}"]
    script += [f"data {TWO[100:].hex()}", f"error {EAGAIN}", "end"]
    code, _ = end(start(script, "--sets", "1"))
    assert (code, kept(tmp_path)) == (EXIT_PASS, [TWO])


@pytest.mark.parametrize("severed", [SEVERED, f"again {EAGAIN}"], ids=["EIO", "EAGAIN+POLLERR"])
def test_reopens_after_a_sever(start: Start, tmp_path: Path, severed: str) -> None:
    script = ["open 0", *data(ONE), severed, f"open {EBUSY}", f"open {EIO}", "open 0", *data(TWO)]
    script += [severed, "open 0", *data(THREE)]
    code, said = end(start(script, "--sets", "3", "--reopen-wait", "1ms", "--reopen", "3"))
    assert (code, kept(tmp_path)) == (EXIT_FAILED, [ONE, TWO, THREE])
    lines = said.splitlines()
    assert lines[0] == "monread: /dev/monreader: Input/output error"
    assert lines[3].split() == "2 times CP severed, and the device was opened anew".split()


@pytest.mark.parametrize(
    ("first", "waits"),
    [
        ("20ms", [20, 40, 80]),
        ("14999ms", [14999, 29998, 59996]),
        ("25s", [25000, 50000, 60000]),
        ("60s", [60000] * 3),
    ],
)
def test_reopening_has_a_limit_and_waits_longer_each_time(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, waits: list[int]
) -> None:
    """Twice as long as before, but no longer than a minute."""
    noted = tmp_path / "waits"
    monkeypatch.setenv("FAKE_WAITS", str(noted))
    script = ["open 0", *data(ONE), SEVERED, "open 0", SEVERED, f"open {EIO}", f"open {EBUSY}"]
    code, said = end(start(script, "--reopen-wait", first, "--reopen", "3"))
    assert [int(line) for line in noted.read_text().split()] == [wait * 10**6 for wait in waits]
    assert (code, kept(tmp_path)) == (EXIT_FAILED, [ONE])
    assert "monread: /dev/monreader: Device or resource busy" in said


def test_a_set_that_was_read_gives_all_tries_back(start: Start, tmp_path: Path) -> None:
    again = [SEVERED, f"open {EBUSY}", "open 0"]
    script = ["open 0", *data(ONE), *again, *data(ONE), *again, *data(ONE)]
    code, _ = end(start(script, "--sets", "3", "--reopen-wait", "1ms", "--reopen", "2"))
    assert (code, kept(tmp_path)) == (EXIT_FAILED, [ONE] * 3)


def test_without_reopening(start: Start, tmp_path: Path) -> None:
    code, said = end(start(["open 0", *data(ONE), SEVERED, "open 0"], "--reopen", "0"))
    assert (code, kept(tmp_path)) == (EXIT_FAILED, [ONE])
    assert said.splitlines()[0] == "monread: /dev/monreader: Input/output error"


def test_signal_while_it_waits_to_reopen(start: Start, tmp_path: Path) -> None:
    process = start(["open 0", *data(ONE), SEVERED], "--reopen-wait", "1h")
    assert process.stderr is not None
    assert process.stderr.readline() == "monread: /dev/monreader: Input/output error\n"
    process.send_signal(signal.SIGTERM)
    code, said = end(process)
    assert (code, kept(tmp_path)) == (128 + signal.SIGTERM, [ONE])
    assert said.startswith("1 sets complete, 0 lost")


def test_the_device_cannot_be_opened(start: Start) -> None:
    code, said = end(start([f"open {EBUSY}"], outputs=False))
    assert code == EXIT_CANNOT_RUN
    assert said == "monread: /dev/monreader: Device or resource busy\n"


@pytest.mark.parametrize("words", [[], ["--blocking"]], ids=["poll", "blocking"])
class TestWaits:
    def test_timeout(self, start: Start, tmp_path: Path, words: list[str]) -> None:
        script = ["open 0", *data(ONE), f"data {TWO[:50].hex()}", "silence"]
        code, said = end(start(script, "--timeout", "1s", *words))
        assert (code, kept(tmp_path)) == (EXIT_TIMEOUT, [ONE])
        assert said.startswith("monread: /dev/monreader: Connection timed out\n1 sets complete, 1")

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_signal_between_sets(
        self, start: Start, tmp_path: Path, words: list[str], number: int
    ) -> None:
        script = ["open 0", *data(ONE, TWO), f"signal {number}", "silence"]
        code, said = end(start(script, *words))
        assert (code, kept(tmp_path)) == (128 + number, [ONE, TWO])
        assert said.startswith("2 sets complete, 0 lost")

    def test_signal_within_a_set_lets_it_come_to_its_end(
        self, start: Start, tmp_path: Path, words: list[str]
    ) -> None:
        script = ["open 0", *data(ONE), f"data {TWO[:50].hex()}", f"signal {signal.SIGINT}"]
        code, said = end(start([*script, f"data {TWO[50:].hex()}", "end", *data(ONE)], *words))
        assert (code, kept(tmp_path)) == (128 + signal.SIGINT, [ONE, TWO])
        assert said.startswith("2 sets complete, 0 lost")

    def test_signal_within_a_set_that_does_not_go_on(
        self, start: Start, tmp_path: Path, words: list[str]
    ) -> None:
        script = ["open 0", *data(ONE), f"data {TWO[:50].hex()}", f"signal {signal.SIGINT}"]
        code, said = end(start([*script, "silence"], *words))
        assert (code, kept(tmp_path)) == (128 + signal.SIGINT, [ONE])
        assert said.startswith("1 sets complete, 0 lost")


def test_a_second_signal_ends_at_once(start: Start, tmp_path: Path) -> None:
    both = [f"signal {signal.SIGINT}", f"signal {signal.SIGTERM}"]
    script = ["open 0", *data(ONE), f"data {TWO[:50].hex()}", *both, f"data {TWO[50:].hex()}"]
    code, _ = end(start([*script, "end"]))
    assert code in (128 + signal.SIGINT, 128 + signal.SIGTERM)
    assert kept(tmp_path) == [ONE]


def test_what_was_printed_stands_before_an_error(start: Start) -> None:
    script = ["open 0", *data(ONE), SEVERED, f"open {EBUSY}", "open 0", *data(TWO)]
    words = ["--summary", "--sets", "2", "--reopen-wait", "1ms"]
    process = start(script, *words, outputs=False, stderr=subprocess.STDOUT)
    printed, _ = process.communicate(timeout=SECONDS)
    assert [line.split(":")[0].split(",")[0] for line in printed.splitlines()[:3]] == [
        *("set 1", "monread", "set 2"),
    ]


def test_a_live_summary(start: Start) -> None:
    script = ["open 0", *data(ONE), f"error {EOVERFLOW}", f"data {ONE[:30].hex()}", SEVERED]
    process = start([*script, *data(TWO)], "--summary", "--sets", "3", outputs=False)
    printed, _ = process.communicate(timeout=SECONDS)
    assert printed.splitlines() == [
        "set 1, 1900-01-01T00:00:00.000000Z: samples, 2 records, 56 bytes",
        "set 3, 2009-02-13T23:31:30.000250Z: samples and events, 203 records, 7276 bytes;"
        " before it 1 lost, 1 overflows",
    ]


def test_gaps_on_the_page(start: Start, tmp_path: Path) -> None:
    """Overflows and lost sets are told where they were, and nothing of a lost set is drawn."""
    page = tmp_path / "page"
    script = ["open 0", *data(ONE), f"error {EOVERFLOW}", f"data {TWO[:300].hex()}", SEVERED]
    end(start([*script, *data(THREE)], "--html", str(page), "--sets", "3", outputs=False))
    text = page.read_text()
    assert '<span id="sets">2</span> sets, <span id="records">4</span> records' in text
    (row,) = re.findall(r"<tr><td>[^<]*</td>((?:<td class=\"n\">\d+</td>){3})</tr>", text)
    assert re.findall(r">(\d+)<", row) == ["1", "1", "0"]
