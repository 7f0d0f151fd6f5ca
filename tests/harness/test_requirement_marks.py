# SPDX-License-Identifier: MIT
"""Each requirement is shown by a test in guests, and each test that shows one can fail."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from zvmlab.pytest_plugin.requirements import Requirements, load

E2E = Path(__file__).resolve().parents[2] / "tests" / "e2e"
# Calls that raise where something is not as it should be, besides assert and pytest's.
_JUDGES = re.compile(
    r"^(compare|check\w*|expect\w*|wait\w*|await_\w*|raises|fail|run_state_machine_as_test)$"
)


def _functions(path: Path) -> dict[str, ast.FunctionDef]:
    walk = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.name: node for node in walk if isinstance(node, ast.FunctionDef)}


def _called(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            name = node.func
            if isinstance(name, ast.Name):
                yield name.id
            elif isinstance(name, ast.Attribute):
                yield name.attr


def marked(nodes: list[ast.expr]) -> list[str]:
    """The rows in decorators or in a pytestmark, as the plugin reads them when it runs."""
    rows: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
            rows += [ast.literal_eval(argument) for argument in node.args]
    return rows


def marked_as_a_whole(path: Path) -> list[str]:
    """The rows that all tests of a file show: its pytestmark, one mark or a list of them."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            value = node.value
            return marked(value.elts if isinstance(value, ast.List) else [value])
    return []


def judges(name: str, functions: dict[str, ast.FunctionDef]) -> bool:
    """Does the function, or one that it calls, say no where something is wrong?"""
    todo, seen = [name], {name}
    while todo:
        function = functions[todo.pop()]
        for node in ast.walk(function):
            asserts = isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant)
            if asserts or isinstance(node, ast.Raise):
                return True
        called = set(_called(function))
        if any(_JUDGES.match(call) for call in called):
            return True
        todo += called & functions.keys() - seen
        seen |= called
    return False


def shown(requirements: Requirements) -> dict[str, list[str]]:
    """Each row with the names of the tests in guests that show it."""
    found: dict[str, set[str]] = {row: set() for row in requirements.rows}
    for path in E2E.glob("test_*.py"):
        of_all = marked_as_a_whole(path)
        for name, function in _functions(path).items():
            if name.startswith("test_"):
                for row in of_all + marked(function.decorator_list):
                    found[row].add(name)
    return {row: sorted(names) for row, names in found.items()}


def test_every_row_is_shown_by_a_test() -> None:
    """And no mark names a row that the list does not have."""
    tests = shown(load(E2E / "requirements.toml"))
    assert [row for row, names in tests.items() if not names] == []


def test_row_is_shown_by_a_test_that_judges() -> None:
    """None that shows a row is empty: it asserts, expects an error, or calls what does."""
    helpers: dict[str, ast.FunctionDef] = {}
    for path in E2E.glob("*.py"):
        helpers |= {} if path.name.startswith("test_") else _functions(path)
    empty = []
    for path in E2E.glob("test_*.py"):
        own, of_all = _functions(path), marked_as_a_whole(path)
        functions = helpers | own
        for name, function in own.items():
            if name.startswith("test_") and (of_all or marked(function.decorator_list)):
                empty += [] if judges(name, functions) else [f"{path.name}::{name}"]
    assert empty == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("def test_x(): pass", False),
        ("def test_x(): 'It works.'", False),
        ("def test_x(): assert True", False),
        ("def test_x(guest):\n    guest.agent.read(3, 4)", False),
        ("def test_x(guest):\n    helper(guest)\ndef helper(guest):\n    guest.stop()", False),
        ("def test_x(): test_x()", False),
        ("def test_x(guest): assert guest.agent.read(3, 4).ret == 4", True),
        ("def test_x(guest): compare(guest.read(), 1)", True),
        ("def test_x(guest):\n    with pytest.raises(OSError):\n        guest.read()", True),
        ("def test_x(guest): helper(guest)\ndef helper(guest):\n    assert guest.ok", True),
    ],
)
def test_what_judges(tmp_path: Path, text: str, wanted: bool) -> None:
    path = tmp_path / "test_some.py"
    path.write_text(text, encoding="utf-8")
    assert judges("test_x", _functions(path)) == wanted
