# SPDX-License-Identifier: MIT
"""zvmlab(1) has every option that the help of a command has."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from zvmlab.cli.main import parser

PAGE = Path(__file__).resolve().parents[2] / "docs" / "zvmlab.1"
EVERYWHERE = {"-h", "--help", "--version"}


def options(
    found: argparse.ArgumentParser, command: tuple[str, ...] = ()
) -> Iterator[tuple[str, str]]:
    """Each command and an option of it."""
    for action in found._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from options(inner, (*command, name))
        for word in action.option_strings:
            if word not in EVERYWHERE:
                yield " ".join(command), word


def test_every_option_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8").replace("\\-", "-")
    # mdoc(7): "Fl -seed" is --seed, and "Fl n" is -n.
    shown = {f"-{word}" for word in re.findall(r" (-[a-z][a-z-]+|(?<=Fl )[a-z]\b)", page)}
    all_of_them = list(options(parser()))
    assert len(all_of_them) > 100
    assert [option for option in all_of_them if option[1] not in shown] == []
