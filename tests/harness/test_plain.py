# SPDX-License-Identifier: MIT
"""What a guest writes reaches the terminal without the sequences that terminals obey."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from zvmlab.base.errors import GuestPanic, UsageError
from zvmlab.base.plain import harmless
from zvmlab.cli import main as cli, tools as cli_tools
from zvmlab.cp import control, tracefmt
from zvmlab.cp.control import CpResponse
from zvmlab.guest.console import Console

EVIL = "\x1b]0;title\x07\x9b2J\u202eabc\r\x7f"
SPELLED = r"\x1b]0;title\x07\x9b2J\u202eabc\r\x7f"


def test_control_characters_are_spelled() -> None:
    assert harmless(EVIL) == SPELLED
    assert harmless("\ud800 \x00") == r"\ud800 \x00"
    assert harmless("a\tb\nc\r\nd") == "a\tb\nc\nd"
    assert harmless("a\tb\nc", lines=False) == r"a\tb\nc"
    assert harmless("Grüße, 日本 …") == "Grüße, 日本 …"


@pytest.mark.parametrize("member", ["text", "call", "how", "user", "gr0"])
def test_trace(tmp_path: Path, member: str) -> None:
    record = {"seq": 1, "tod": "1", "cpu": None, "call": "command", member: f"{EVIL}\n"}
    (tmp_path / "trace").write_text(json.dumps(record) + "\n")
    out = io.StringIO()
    tracefmt.print_trace(tmp_path / "trace", out)
    assert SPELLED in out.getvalue() and out.getvalue().count("\n") == 1


def test_errors_and_the_consoles_tail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert str(UsageError(f"no guest {EVIL}")) == f"no guest {SPELLED}"
    (tmp_path / "console").write_bytes(b"\x1b[2Jtwo\r\nlines\x9b")
    assert Console(tmp_path / "console", ()).tail() == "\\x1b[2Jtwo\nlines\\x9b"
    panic = GuestPanic(f"oops {EVIL}", f"tail {EVIL}")
    panic.add_note(f"note {EVIL}")

    def fail(_arguments: object) -> int:
        raise panic

    monkeypatch.setattr(cli_tools, "run_list", fail)
    assert cli.main(["list"]) == GuestPanic.exit_code
    said = capsys.readouterr().err
    assert said == f"tail {SPELLED}\n\nnote {SPELLED}\n\nzvmlab: oops {SPELLED}\n"


def test_responses_of_cp(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Connection:
        def __enter__(self) -> Connection:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def cp(self, text: str) -> CpResponse:
            return CpResponse(f"{text} {EVIL}\n", 0)

    class Found:
        control = "control"

    monkeypatch.setattr(cli_tools, "running_guest", lambda arguments: Found())
    monkeypatch.setattr(control.Control, "connect", lambda path, seconds: Connection())
    assert cli.main(["cp", "QUERY TIME"]) == 0
    assert capsys.readouterr().out == f"QUERY TIME {SPELLED}\n"
