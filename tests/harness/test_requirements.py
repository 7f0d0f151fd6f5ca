# SPDX-License-Identifier: MIT
"""Lists of requirements: what a file says, what a marker and the old names of tests say."""

from __future__ import annotations

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
    requirements = load(OURS)
    assert requirements.groups == {
        "M": "monreader",
        "P": "pfault",
        "B": "dcssblk and extmem",
        "Y": "hypfs and hyptop",
        "D": "device-mapper statistics",
        "T": "taskstats",
        "L": "vmlogrdr",
        "W": "monwriter",
        "A": "appldata",
        "Z": "diag288_wdt",
        "U": "smsgiucv, smsgiucv_app",
        "C": "cmm",
        "H": "hvc_iucv",
        "I": "AF_IUCV",
        "V": "commands of CP",
        "N": "netiucv",
        "R": "vmur",
        "F": "hmcdrv",
        "J": "STHYI, CPI, and what is left out",
        "K": "dasd_diag",
        "O": "con3215",
    }
    numbers = {
        **{"M": 36, "P": 12, "B": 11, "Y": 9, "D": 37, "T": 29, "L": 22, "W": 18, "A": 11, "Z": 12},
        **{"U": 9, "C": 10, "H": 14, "I": 17, "V": 10, "N": 13, "R": 15, "F": 11, "J": 4},
        **{"K": 12, "O": 3},
    }
    assert list(requirements.rows) == [
        f"{letter}{number}" for letter, last in numbers.items() for number in range(1, last + 1)
    ]
    assert requirements.rows["M28"].errnos == ("EOVERFLOW",)
    assert {row.row for row in requirements.rows.values() if "EIO" in row.errnos} == {
        *("M5", "M25", "M30", "M34", "B7", "L8", "L13", "L15", "L22", "H4", "F1", "F5", "K6", "K7")
    }
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
