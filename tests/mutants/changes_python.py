# SPDX-License-Identifier: MIT
"""Changes that can be made to Python sources, found in the tree that Python's parser makes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from change import Change, Kind, partners

_OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_COMMENT = re.compile(r"#[^\n]*")


class _Finder(ast.NodeVisitor):
    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Change] = []
        self.names: list[ast.Name] = []
        self._lines = [0]
        for line in text.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def _at(self, line: int, column: int) -> int:
        """Offset of a place: the parser counts lines from 1, and columns in bytes."""
        start = self._lines[line - 1]
        return start + len(self.text[start : self._lines[line]].encode()[:column].decode())

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Offset of a node's first character."""
        return self._at(node.lineno, node.col_offset)

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._at(node.end_lineno, node.end_col_offset)

    def _replace(self, kind: Kind, node: ast.expr | ast.stmt, became: str) -> None:
        start = self.start(node)
        self.found.append(Change(kind, start, self.text[start : self._end(node)], became))

    def _operator(self, kind: Kind, operator: ast.AST, left: ast.expr, right: ast.expr) -> None:
        """What stands between the operands is brackets, blanks, comments and the operator."""
        if type(operator) not in _OPERATORS:
            return
        was, became = _OPERATORS[type(operator)]
        first = self._end(left)
        between = _COMMENT.sub(lambda gap: " " * len(gap[0]), self.text[first : self.start(right)])
        at = between.find(was)
        if at >= 0:
            self.found.append(Change(kind, first + at, was, became))

    def visit_Compare(self, node: ast.Compare) -> None:
        """a < b"""
        operands = [node.left, *node.comparators]
        for operator, left, right in zip(node.ops, operands, operands[1:]):
            self._operator(Kind.COMPARISON, operator, left, right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """a and b"""
        for left, right in zip(node.values, node.values[1:]):
            self._operator(Kind.AND_OR, node.op, left, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """a + b"""
        self._operator(Kind.ARITHMETIC, node.op, node.left, node.right)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Numbers, True and False."""
        if isinstance(node.value, bool):
            self._replace(Kind.CONSTANT, node, str(not node.value))
        elif isinstance(node.value, int):
            self._replace(Kind.CONSTANT, node, str(node.value + 1))

    def visit_Name(self, node: ast.Name) -> None:
        """Names of constants."""
        if isinstance(node.ctx, ast.Load) and _CONSTANT.match(node.id):
            self.names.append(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Within f"…" Python 3.11 does not know places."""

    def _condition(self, test: ast.expr) -> None:
        text = self.text[self.start(test) : self._end(test)]
        self._replace(Kind.FALSE, test, f"(False and ({text}))")
        self._replace(Kind.TRUE, test, f"(True or ({text}))")

    def visit_If(self, node: ast.If) -> None:
        """if a:"""
        if not _type_checking(node.test):
            self._condition(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """b if a else c"""
        self._condition(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        """while a:"""
        text = self.text[self.start(node.test) : self._end(node.test)]
        self._replace(Kind.FALSE, node.test, f"(False and ({text}))")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """… for a in b if c"""
        for test in node.ifs:
            self._condition(test)
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        """return a"""
        self._replace(Kind.RETURN, node, "pass")
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        """break"""
        self._replace(Kind.JUMP, node, "pass")

    def visit_Continue(self, node: ast.Continue) -> None:
        """continue"""
        self._replace(Kind.JUMP, node, "pass")

    def visit_Assert(self, node: ast.Assert) -> None:
        """What an assertion says is not what the program does."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """The statements in a function, not what describes its types."""
        for inside in ast.walk(node):
            if isinstance(inside, (ast.Assign, ast.AugAssign, ast.Raise, ast.Delete, ast.Expr)):
                if not _says_nothing(inside):
                    self._replace(Kind.STATEMENT, inside, "pass")
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """a: int = 5"""
        if node.value is not None:
            self.visit(node.value)


def _type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _says_nothing(node: ast.stmt) -> bool:
    """A docstring, or three dots."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _swapped(finder: _Finder) -> Iterator[Change]:
    swaps = partners([node.id for node in finder.names])
    for node in finder.names:
        if node.id in swaps:
            yield Change(Kind.SWAPPED, finder.start(node), node.id, swaps[node.id])


def changes(text: str) -> list[Change]:
    """All changes that can be made to a Python file, in the order of their places."""
    finder = _Finder(text)
    finder.visit(ast.parse(text))
    found = {*finder.found, *_swapped(finder)}
    return sorted(found, key=lambda change: (change.start, change.kind, change.became))
