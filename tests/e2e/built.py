# SPDX-License-Identifier: MIT
"""What tests build for the guest, built before the first of them: a test's time is its own.

The sources of the chosen tests say what they ask for: ``program("x")``, ``bare("x")``, ``tool("x")``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from zvmlab.base.errors import ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.builder.guesttools import build_tool

HERE = Path(__file__).parent
_ASKED = re.compile(r'\b(program|bare|tool)\("(\w+)"\)')


def _sources(files: Iterable[Path]) -> set[Path]:
    """These files, and those of this folder that they import."""
    here = {
        name: Path(str(module.__file__))
        for name, module in list(sys.modules.items())
        if getattr(module, "__file__", None) and Path(str(module.__file__)).parent == HERE
    }
    found, todo = set(), {*files}
    while todo:
        path = todo.pop()
        found.add(path)
        words = set(re.findall(r"^(?:from|import) (\w+)", path.read_text("utf-8"), re.MULTILINE))
        todo |= {here[word] for word in words & here.keys()} - found
    return found


def build_all(items: Iterable[pytest.Item], builders: dict[str, Callable[[str], object]]) -> None:
    """Build what these tests ask for; what cannot be built, the test that needs it will say."""
    files = {item.path for item in items if item.path.parent == HERE}
    texts = (path.read_text("utf-8") for path in _sources(files))
    asked = sorted({match for text in texts for match in _ASKED.findall(text)})
    progress = Progress(brief=True)
    builders = {"tool": build_tool, **builders}
    with progress.step("building programs of the tests", len(asked)) as step:
        for number, (kind, name) in enumerate(asked, 1):
            try:
                builders[kind](name)
            except (AssertionError, OSError, ZvmlabError):
                continue
            step.update(number)
