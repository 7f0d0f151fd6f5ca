# SPDX-License-Identifier: MIT
"""Lists of requirements: what a file says, what a marker and the old names of tests say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.pytest_plugin.requirements import Requirement, Requirements, load, sentence_of

OURS = Path(__file__).resolve().parents[1] / "e2e" / "requirements.toml"
ROW = 'title = "a"\ntext = "b"\nshown = "c"\n'
LIST = Requirements(
    {"M": "monitor", "T": "tasks"},
    {
        "M1": Requirement("M1", "one", "first", "so", ("EIO",)),
        "M12": Requirement("M12", "twelve", "twelfth", "so", ("EBUSY", "EIO")),
        "T1": Requirement("T1", "task", "task", "so"),
    },
)


def test_our_own_list() -> None:
    """Groups in their order, the rows of each numbered without a gap."""
    requirements = load(OURS)
    assert requirements.groups["M"] == "monreader"
    counted = Counter(row[0] for row in requirements.rows)
    assert list(requirements.rows) == [
        f"{letter}{number}"
        for letter in requirements.groups
        for number in range(1, counted[letter] + 1)
    ]
    assert requirements.rows["M28"].errnos == ("EOVERFLOW",)
    assert "EIO" in requirements.rows["L13"].errnos
    assert max(len(row.title) for row in requirements.rows.values()) <= 40


def test_sentence_of_a_test() -> None:
    assert sentence_of("test_open_fails", None) == "open fails"
    assert sentence_of("test_x", "  The first line. \n\n    The rest.") == "The first line."
    assert sentence_of("test_v2_of_it", "\n") == "v2 of it"


def test_error_numbers_of_a_test() -> None:
    assert LIST.errnos_of(("M1", "M12"), "test_m1_m12_x") == ("EBUSY", "EIO")
    assert LIST.errnos_of((), "test_x[trixie-eagain-EINTR3-EPERM]") == ("EAGAIN", "EPERM")
    assert LIST.errnos_of(("M99",), "test_event_exit") == ()


@pytest.mark.parametrize(
    "text, error",
    [
        ("x = [", "are not TOML: "),
        ("", "the list has no rows"),
        ('[M]\ntitle = "m"\n', "the list has no rows"),
        (f"[Mon]\n[Mon.1]\n{ROW}", "invalid group: 'Mon' (one letter A–Z)"),
        ("M = 1\n", "invalid group: 'M' (one letter A–Z)"),
        (f"[M.1]\n{ROW}", "group M needs a title"),
        (f'[M]\ntitle = "m"\n[M.01]\n{ROW}', "invalid row: [M.01] (a number from 1 on)"),
        ('[M]\ntitle = "m"\n1 = 1\n', "invalid row: [M.1] (a number from 1 on)"),
        (f'[M]\ntitle = "m"\n[M.1]\n{ROW}x = 1\n', "row M1 has a field 'x', which no row has"),
        ('[M]\ntitle = "m"\n[M.1]\ntitle = "a"\n', "row M1 needs a text 'text'"),
        (
            f'[M]\ntitle = "m"\n[M.2]\n{ROW}errnos = ["EFOO"]\n',
            "row M2: errnos must be a list of names such as EIO",
        ),
        (f'[M]\ntitle = "m"\n[M.2]\n{ROW}errnos = 5\n', "row M2: errnos must be a list"),
        *(
            (
                f'[M]\ntitle = "m"\n[M.2]\n{ROW}emulators = {value}\n',
                "row M2: emulators must be a list of qemu and hercules",
            )
            for value in ("[]", '["vm"]', "[1]", "[[]]", '"qemu"')
        ),
        *(
            (
                f'[M]\ntitle = "m"\n[M.2]\n{ROW}kernels = {value}\n',
                "row M2: kernels must be a list of their names, such as coverage",
            )
            for value in ("[]", "[1]", "[[]]", '"coverage"')
        ),
    ],
)
def test_lists_that_are_none(tmp_path: Path, text: str, error: str) -> None:
    path = tmp_path / "list.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load(path)
    assert str(caught.value).startswith(f"requirements {path}")
    assert error in str(caught.value)


def test_list_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="requirements .*/none cannot be read: No such file"):
        load(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="requirements .*/binary are not TOML: "):
        load(tmp_path / "binary")
