# SPDX-License-Identifier: MIT
"""The examples of docs/scenarios.md are complete: they can be used as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest
from sweep_fakes import FakeGuest

from zvmlab.scenarios import find
from zvmlab.scenarios.context import Context

DOCUMENT = Path(__file__).parents[2] / "docs" / "scenarios.md"


def examples() -> list[str]:
    """The Python blocks of the document."""
    return re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.S)


def test_document_has_a_test_and_a_scenario() -> None:
    assert [("def test_" in text, "@scenario(" in text) for text in examples()] == [
        (True, False),
        (False, True),
    ]


def test_test_is_collected_for_each_kernel(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(examples()[0])
    kernels = ("--kernel", "bookworm", "--kernel", "trixie")
    result = pytester.runpytest("-p", "zvmlab.pytest_plugin", "--collect-only", "-q", *kernels)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*whole?bookworm-upstream?", "*whole?trixie-upstream?"])


def test_scenario_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "my_scenarios.py"
    file.write_text(examples()[1])
    guest = FakeGuest(None, tmp_path, None)
    with Context(cast(Any, guest), tmp_path, "1") as context:
        find(f"{file}:two-readers").run(context)
        steps = [step.what for step in context.steps]
        assert steps == [
            *("load", "open", "second open", "deliver", "read", "close", "unload"),
        ]
        assert context.steps[2].result["errno"] == 16  # EBUSY
        assert [found.stream for found in context.sets] == [
            stored.stream for stored in context.stored_sets()
        ]
