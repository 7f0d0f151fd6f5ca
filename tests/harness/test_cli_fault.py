# SPDX-License-Identifier: MIT
"""zvmlab faults, and zvmlab fault on a guest that runs: a CP without an emulator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from controlled import Server
from controlled import _server as _server

from zvmlab.cli.main import main
from zvmlab.guest.run_dir import RunDir


@pytest.fixture(name="running")
def _running(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The server as the only guest that runs."""
    monkeypatch.setenv("ZVMLAB_RUN", str(tmp_path / "run"))
    folder = RunDir.create("one")
    folder.describe(control=str(server.socket), kernel="none", cpus=1, pid=1)
    yield server
    folder.remove()


def _zvmlab(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    try:
        code = main(words)
    except SystemExit as ended:
        code = int(str(ended.code))
    said = capsys.readouterr()
    return code, said.out, said.err


def test_faults_needs_no_guest(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = _zvmlab(capsys, "faults")
    assert code == 0
    assert "iucv.reply             IUCV REPLY by the guest.\n" in text
    code, text, _ = _zvmlab(capsys, "faults", "--json")
    points = {point["point"]: point for point in json.loads(text)["points"]}
    assert code == 0 and len(points) > 40
    limits = {kind["kind"]: (kind["min"], kind["max"]) for kind in points["iucv.reply"]["kinds"]}
    assert limits["rc"] == (0, 255) and limits["drop"] == (0, 0)


@pytest.mark.usefixtures("running")
def test_arm_list_disarm(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rule = ("arm", "interrupt", "corrupt", "0x10", "--offset", "3", "--type", "9", "--nth", "2")
    assert _zvmlab(capsys, "fault", *rule) == (
        0, "   1  interrupt corrupt 16 offset=3 type=9 nth=2\n", ""
    )  # fmt: skip
    file = tmp_path / "f.json"
    file.write_text('[{"point": "iucv.send", "kind": "drop", "probability": 0.25}]')
    assert _zvmlab(capsys, "fault", "arm", "--file", str(file)) == (
        0,
        "   2  iucv.send drop probability=0.25\n",
        "zvmlab: faults with a probability are drawn from seed 0\n",
    )
    assert _zvmlab(capsys, "fault", "list") == (
        0,
        "   1  interrupt corrupt 16 offset=3 type=9 nth=2: matched 0, fired 0\n"
        "   2  iucv.send drop probability=0.25: matched 0, fired 0\n",
        "",
    )
    assert [r["rule"] for r in json.loads(_zvmlab(capsys, "fault", "list", "--json")[1])] == [1, 2]
    assert _zvmlab(capsys, "fault", "disarm", "1") == (0, "1 disarmed\n", "")
    assert _zvmlab(capsys, "fault", "disarm") == (0, "1 disarmed\n", "")
    assert _zvmlab(capsys, "fault", "list") == (0, "", "")


@pytest.mark.usefixtures("running")
@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("arm",), 2, "zvmlab: nothing to arm; give POINT KIND [VALUE], or --file FILE\n"),
        (
            ("arm", "interrupt", "--file", "x"),
            2,
            "zvmlab: --file cannot be used together with a point\n",
        ),
        (
            ("arm", "nowhere", "drop"),
            2,
            "zvmlab: unknown fault point: nowhere; 'zvmlab faults' lists them\n",
        ),
        (
            ("arm", "iucv.send", "rc", "many"),
            2,
            "zvmlab: argument VALUE: many is not a number, such as 11 or 0x0b; see zvmlab fault arm"
            " --help\n",
        ),
        (
            ("disarm", "7"),
            1,
            "zvmlab: no fault rule 7 is armed; query-faults lists them\n",
        ),
        (
            ("list", "--guest", "two"),
            2,
            "zvmlab: no such running guest: two; 'zvmlab list' lists them\n",
        ),
    ],
)
def test_mistakes(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, sentence: str
) -> None:
    assert _zvmlab(capsys, "fault", *words) == (code, "", sentence)
