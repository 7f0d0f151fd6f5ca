# SPDX-License-Identifier: MIT
"""What changes are found in a source, kind by kind, and where none may be."""

from __future__ import annotations

import ast

import changes_c
import changes_python
import pytest
from change import Change, Kind, successor


def _made(text: str, kind: str, found: list[Change]) -> list[str]:
    """The texts that changes of one kind make."""
    return [change.applied(text) for change in found if change.kind == kind]


def _c(body: str, kind: str) -> list[str]:
    """What changes of one kind make of the body of a C function."""
    text = f"void f(void)\n{{\n\t{body}\n}}\n"
    made = _made(text, kind, changes_c.changes(text))
    return [one.removeprefix("void f(void)\n{\n\t").removesuffix("\n}\n") for one in made]


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        ("a = b < c;", Kind.COMPARISON, ["a = b <= c;"]),
        ("a = b <= c;", Kind.COMPARISON, ["a = b < c;"]),
        ("a = b > c;", Kind.COMPARISON, ["a = b >= c;"]),
        ("a = b == c;", Kind.COMPARISON, ["a = b != c;"]),
        ("a = b << c->d;", Kind.COMPARISON, []),
        ("a = b && c || d;", Kind.AND_OR, ["a = b || c || d;", "a = b && c && d;"]),
        ("a = b + -c;", Kind.ARITHMETIC, ["a = b - -c;"]),
        ("a -= b[1] * (c) % 7;", Kind.ARITHMETIC, None),
        ("a = *b;", Kind.ARITHMETIC, []),
        ("return -b;", Kind.ARITHMETIC, []),
        ("return (void *)b;", Kind.ARITHMETIC, []),
        ("struct x *b = &c;", Kind.ARITHMETIC, []),
        ("uint8_t *b = c;", Kind.ARITHMETIC, []),
        ("a++;", Kind.ARITHMETIC, []),
        ("a = 7;", Kind.CONSTANT, ["a = 8;"]),
        ("a = 0x0fu;", Kind.CONSTANT, ["a = 0x10u;"]),
        ("a = 0.5;", Kind.CONSTANT, []),
        ("a = b1;", Kind.CONSTANT, []),
        ("a = FAULT_CC + FAULT_IPRCODE;", Kind.SWAPPED, None),
        ("a = FAULT_CC + PAGE_SIZE;", Kind.SWAPPED, []),
        ("a = FAULT_CC + FAULT_IT(b);", Kind.SWAPPED, []),
        ("if (a(b))\n\t\tc();", Kind.FALSE, ["if (0 && (a(b)))\n\t\tc();"]),
        ("if (a(b))\n\t\tc();", Kind.TRUE, ["if (1 || (a(b)))\n\t\tc();"]),
        ("while (a)\n\t\tb();", Kind.FALSE, ["while (0 && (a))\n\t\tb();"]),
        ("while (a)\n\t\tb();", Kind.TRUE, []),
        ("do {\n\t} while (a);", Kind.FALSE, []),
        ("return;", Kind.RETURN, ["(void)0;"]),
        ("return a ? b : c;", Kind.RETURN, ["(void)0;"]),
        ("for (;;) {\n\t\tbreak;\n\t}", Kind.JUMP, ["for (;;) {\n\t\t(void)0;\n\t}"]),
        ("goto out;", Kind.JUMP, ["(void)0;"]),
        ("a->b = c;", Kind.STATEMENT, ["(void)0;"]),
        ("a(b);", Kind.STATEMENT, ["(void)0;"]),
        ("*a = (struct b){ 1 };", Kind.STATEMENT, ["(void)0;"]),
        ("if (a)\n\t\tb = 1;\n\telse\n\t\tc();", Kind.STATEMENT, None),
        ("int a = 1;", Kind.STATEMENT, []),
        ("const char *a = b;", Kind.STATEMENT, []),
        ("(void)a;", Kind.STATEMENT, []),
        ("a = b ? c\n\t: d;", Kind.STATEMENT, ["(void)0;"]),
        ("switch (a) {\n\tcase 1:\n\t\tb();\n\t}", Kind.STATEMENT, None),
    ],
)
def test_c(body: str, kind: str, expected: list[str] | None) -> None:
    """Each kind finds what it is for, and nothing that only looks like it."""
    made = _c(body, kind)
    if expected is not None:
        assert made == expected
        return
    assert (
        made
        == {
            "a -= b[1] * (c) % 7;": [
                "a += b[1] * (c) % 7;",
                "a -= b[1] / (c) % 7;",
                "a -= b[1] * (c) * 7;",
            ],
            "a = FAULT_CC + FAULT_IPRCODE;": [
                "a = FAULT_IPRCODE + FAULT_IPRCODE;",
                "a = FAULT_CC + FAULT_CC;",
            ],
            "if (a)\n\t\tb = 1;\n\telse\n\t\tc();": [
                "if (a)\n\t\t(void)0;\n\telse\n\t\tc();",
                "if (a)\n\t\tb = 1;\n\telse\n\t\t(void)0;",
            ],
            "switch (a) {\n\tcase 1:\n\t\tb();\n\t}": [
                "switch (a) {\n\tcase 1:\n\t\t(void)0;\n\t}"
            ],
        }[body]
    )


@pytest.mark.parametrize(
    "text",
    [
        "/* a < 1; */\n",
        "// a < 1; \\\n b = 2;\n",
        '#define A(b) \\\n\tif (b < 1) \\\n\t\treturn\n#include "x-1.h"\n',
        'const char *a = "b < 1; \\" c == 2;";\n',
        "char a = '<';\n",
        "void f(void)\n{\n\tassert(a < 1 && b);\n}\n",
        "void f(void)\n{\n\tMON_ASSERT(a < 1 && b);\n}\n",
        'static_assert(sizeof(a) == 8, "eight");\n',
        "void f(int a) __attribute__((format(printf, 1, 2)));\n",
    ],
)
def test_c_is_left_alone(text: str) -> None:
    """Comments, strings, preprocessor lines, assertions and attributes."""
    assert changes_c.changes(text) == []


def test_c_table() -> None:
    """A static table's constants are changed, its strings are not."""
    text = (
        'static const struct row rows[] = {\n\t{ "0", ROW_ONE, 0 },\n\t{ "1", ROW_TWO, 8 },\n};\n'
    )
    made = [(change.was, change.became) for change in changes_c.changes(text)]
    assert made == [("ROW_ONE", "ROW_TWO"), ("0", "1"), ("ROW_TWO", "ROW_ONE"), ("8", "9")]


@pytest.mark.parametrize("text", ["a = `b`;", "f(];", "f((a);", "}"])
def test_what_is_no_c_is_refused(text: str) -> None:
    """Rather than changed in the wrong place."""
    with pytest.raises(changes_c.NotC):
        changes_c.changes(text)


_PYTHON = '''
def f(a: int = 3) -> int:
    """A text < 1."""
    ä = "ü"; b = [x for x in a if x not in ä]
    if a < 1 and LIMIT_LOW != LIMIT_HIGH:
        del b
    while a:
        break
    g(True)
    return a + 0x10
'''


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Kind.COMPARISON, [("not in", "in"), ("<", "<="), ("!=", "==")]),
        (Kind.AND_OR, [("and", "or")]),
        (Kind.ARITHMETIC, [("+", "-")]),
        (Kind.CONSTANT, [("3", "4"), ("1", "2"), ("True", "False"), ("0x10", "17")]),
        (Kind.SWAPPED, [("LIMIT_LOW", "LIMIT_HIGH"), ("LIMIT_HIGH", "LIMIT_LOW")]),
        (Kind.RETURN, [("return a + 0x10", "pass")]),
        (Kind.JUMP, [("break", "pass")]),
        (
            Kind.STATEMENT,
            [
                ('ä = "ü"', "pass"),
                ("b = [x for x in a if x not in ä]", "pass"),
                ("del b", "pass"),
                ("g(True)", "pass"),
            ],
        ),
        (
            Kind.TRUE,
            [
                ("x not in ä", "(True or (x not in ä))"),
                (
                    "a < 1 and LIMIT_LOW != LIMIT_HIGH",
                    "(True or (a < 1 and LIMIT_LOW != LIMIT_HIGH))",
                ),
            ],
        ),
    ],
)
def test_python(kind: str, expected: list[tuple[str, str]]) -> None:
    """Each kind finds what it is for; the text is Python afterwards."""
    found = [change for change in changes_python.changes(_PYTHON) if change.kind == kind]
    assert [(change.was, change.became) for change in found] == expected
    for change in found:
        ast.parse(change.applied(_PYTHON))


def test_python_condition_of_a_loop_is_never_true() -> None:
    """A loop that never ends tells nothing but that."""
    found = [change.was for change in changes_python.changes(_PYTHON) if change.kind == Kind.FALSE]
    assert found == ["x not in ä", "a < 1 and LIMIT_LOW != LIMIT_HIGH", "a"]


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("0", "1"),
        ("9ULL", "10ULL"),
        ("0xff", "0x100"),
        ("017", "020"),
        ("1.5", None),
        ("0b1", None),
    ],
)
def test_successor(literal: str, expected: str | None) -> None:
    """In the literal's base, with its suffix."""
    assert successor(literal) == expected
