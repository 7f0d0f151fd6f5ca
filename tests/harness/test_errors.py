# SPDX-License-Identifier: MIT
"""How a program ends: its exit code, and what it says on standard error."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from zvmlab.base.errors import CannotRun, Timeout, UsageError, exit_code


def raising(error: BaseException) -> Callable[[], int | None]:
    def program() -> int | None:
        raise error

    return program


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UsageError("no such folder"), 2, "make deb: no such folder\n"),
        (CannotRun("needs: apt-get install git"), 77, "make deb: needs: apt-get install git\n"),
        (Timeout("no answer within 3 s"), 124, "make deb: no answer within 3 s\n"),
        (KeyboardInterrupt(), 130, "make deb: interrupted\n"),
    ],
)
def test_end_in_one_sentence(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(raising(error), "make deb") == code
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize(("result", "code"), [(None, 0), (0, 0), (3, 3)])
def test_end_without_one(result: int | None, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(lambda: result) == code
    assert capsys.readouterr() == ("", "")


def test_mistakes_of_the_program_are_shown_whole() -> None:
    with pytest.raises(ValueError, match="a mistake"):
        exit_code(raising(ValueError("a mistake")))
