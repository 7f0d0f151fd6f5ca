# SPDX-License-Identifier: MIT
"""Changes that can be made to C sources.

Tokens and matching brackets are enough to find them: what is no C afterwards does not compile,
and is not counted.  Left alone are comments, strings, preprocessor lines, and what the program
does not mean by them: assertions and attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from change import Change, Kind, partners, successor

_TOKEN = re.compile(
    r"""
    (?P<skip>   [ \t\r\n\f]+ | //(?:\\\n|[^\n])* | /\*.*?\*/ | \\\n
              | ^[ \t]*\#(?:/\*.*?\*/|\\\n|[^\n])* )
  | (?P<string> (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | [uUL]?'(?:\\.|[^'\\\n])*' )
  | (?P<number> \.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])* )
  | (?P<word>   [A-Za-z_][A-Za-z0-9_]* )
  | (?P<op>     \.\.\. | <<= | >>= | -> | \+\+ | -- | << | >> | <= | >= | == | != | && | \|\|
              | [-+*/%&|^]= | [-+*/%&|^~!<>=?:;,.(){}\[\]] )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_COMPARISONS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_LOGIC = {"&&": "||", "||": "&&"}
_ARITHMETIC = {
    **{"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<"},
    **{"&": "|", "|": "&", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&=", "&=": "|="},
}
_NO_OPERAND = frozenset("return case sizeof else do goto const void char int long short".split())
"""Words behind which an operator has one operand, or a star makes a pointer."""
_NOT_MEANT = frozenset(
    """assert MON_ASSERT static_assert _Static_assert __attribute__ __printf
    BUG_ON BUILD_BUG_ON WARN_ON WARN_ON_ONCE lockdep_assert_held
    pr_debug DBF_EVENT DBF_ERROR DBF_LH IUCV_DBF_TEXT IUCV_DBF_TEXT_ IUCV_DBF_HEX TRACE""".split()
)
"""What is said with these before a bracket; MON_ASSERT() is the driver's assert(), and the rest
are Linux' assertions, and its notes for whoever looks for a mistake."""
_NO_STATEMENT = frozenset(
    """return break continue goto if else for while do switch case default struct union enum
    static const extern typedef register volatile inline unsigned signed""".split()
)
_BEFORE_STATEMENT = ("if", "while", "for", "switch")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
NOTHING = "(void)0;"


class NotC(Exception):
    """The text has something in it that no token of C looks like, or brackets do not match."""


@dataclass(frozen=True)
class Token:
    """A piece of the text that is neither blank nor comment nor preprocessor line."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where the next character is."""
        return self.start + len(self.text)


def tokens(text: str) -> list[Token]:
    """The text's tokens."""
    found = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise NotC(f"line {text.count(chr(10), 0, at) + 1}: {text[at:at + 20]!r}")
        if match.lastgroup != "skip":
            found.append(Token(str(match.lastgroup), match[0], at))
        at = match.end()
    return found


class _Source:
    """A text's tokens, and which bracket belongs to which."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.partner: dict[int, int] = {}
        self.opened: dict[int, int] = {}
        open_ones: list[int] = []
        for index, token in enumerate(self.tokens):
            if token.kind != "op":
                continue
            if token.text in _PAIRS:
                open_ones.append(index)
            elif token.text in _PAIRS.values():
                if not open_ones or _PAIRS[self.tokens[open_ones[-1]].text] != token.text:
                    raise NotC(f"{token.text} at {token.start} closes nothing")
                self.opened[index] = open_ones.pop()
                self.partner[self.opened[index]] = index
        if open_ones:
            raise NotC(f"{self.tokens[open_ones[-1]].text} is never closed")
        self.meant = self._meant()

    def _meant(self) -> list[bool]:
        """For each token: may it be changed?"""
        meant = [True] * len(self.tokens)
        for index, token in enumerate(self.tokens):
            if token.text in _NOT_MEANT and index + 1 in self.partner:
                for inside in range(index, self.partner[index + 1] + 1):
                    meant[inside] = False
        return meant

    def word(self, index: int) -> str:
        """The token's text; nothing where there is none."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def kind(self, index: int) -> str:
        """The token's kind; nothing where there is none."""
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else ""

    def piece(self, first: int, last: int) -> str:
        """The text from one token to another."""
        return self.text[self.tokens[first].start : self.tokens[last].end]


def changes(text: str) -> list[Change]:
    """All changes that can be made to a C file, in the order of their places."""
    source = _Source(text)
    found: list[Change] = []
    for index, token in enumerate(source.tokens):
        if source.meant[index]:
            found += _operators(source, index, token)
            found += _conditions(source, index, token)
            found += _statements(source, index, token)
    found += _constants(source)
    return sorted(found, key=lambda change: (change.start, change.kind, change.became))


def _binary(source: _Source, index: int) -> bool:
    before, after = source.word(index - 1), source.word(index + 1)
    if source.kind(index - 1) not in ("word", "number") and before not in (")", "]"):
        return False
    if before in _NO_OPERAND:
        return False
    if source.word(index) != "*":
        return True
    declares = before.endswith("_t") or source.word(index - 2) in ("struct", "union", "enum")
    return not declares and after not in (")", ",", "*", "const")


def _operators(source: _Source, index: int, token: Token) -> Iterator[Change]:
    if token.kind != "op":
        return
    for kind, table in ((Kind.COMPARISON, _COMPARISONS), (Kind.AND_OR, _LOGIC)):
        if token.text in table:
            yield Change(kind, token.start, token.text, table[token.text])
    if token.text in _ARITHMETIC and _binary(source, index):
        yield Change(Kind.ARITHMETIC, token.start, token.text, _ARITHMETIC[token.text])


def _conditions(source: _Source, index: int, token: Token) -> Iterator[Change]:
    """An if that always or never does it; a loop that never begins."""
    if token.text not in ("if", "while") or index + 1 not in source.partner:
        return
    last = source.partner[index + 1]
    # do … while (x); does its body once whatever x is.
    if token.text == "while" and source.word(last + 1) == ";":
        return
    condition = source.piece(index + 1, last)
    start = source.tokens[index + 1].start
    yield Change(Kind.FALSE, start, condition, f"(0 && {condition})")
    if token.text == "if":
        yield Change(Kind.TRUE, start, condition, f"(1 || {condition})")


def _begins_statement(source: _Source, index: int) -> bool:
    before = source.word(index - 1)
    if before in (";", "{", "}", "else", "do"):
        return True
    if before == ":":
        return _label(source, index - 1)
    return before == ")" and source.word(source.opened[index - 1] - 1) in _BEFORE_STATEMENT


def _label(source: _Source, index: int) -> bool:
    """Does this colon end a label, rather than part what follows a question mark?"""
    while source.word(index) not in ("case", "default", ";", "{", "}", ""):
        if source.word(index) == "?":
            return False
        index = source.opened.get(index, index) - 1
    return True


def _end(source: _Source, index: int) -> int | None:
    """The semicolon that ends a statement without a block in it."""
    while index < len(source.tokens):
        word = source.word(index)
        if word == ";":
            return index
        if word in ("{", "}", ")", "]"):
            # A compound literal or an initialiser: its braces belong to the statement.
            if word != "{" or source.word(index - 1) not in (")", "="):
                return None
        index = source.partner.get(index, index) + 1
    return None


def _statements(source: _Source, index: int, token: Token) -> Iterator[Change]:
    if token.kind != "word" and token.text not in ("*", "(", "++", "--"):
        return
    if not _begins_statement(source, index):
        return
    last = _end(source, index)
    if last is None:
        return
    if token.text == "return":
        kind = Kind.RETURN
    elif token.text in ("break", "continue", "goto"):
        kind = Kind.JUMP
    elif token.text in _NO_STATEMENT:
        return
    elif token.kind == "word" and source.kind(index + 1) == "word":
        return
    elif source.piece(index, last).replace(" ", "").startswith("(void)"):
        return
    else:
        kind = Kind.STATEMENT
    yield Change(kind, token.start, source.piece(index, last), NOTHING)


def _constants(source: _Source) -> Iterator[Change]:
    names = []
    for index, token in enumerate(source.tokens):
        if not source.meant[index]:
            continue
        if token.kind == "number":
            after = successor(token.text)
            if after is not None:
                yield Change(Kind.CONSTANT, token.start, token.text, after)
        elif token.kind == "word" and _CONSTANT.match(token.text):
            # A name before a bracket is a macro's; two equal labels of a switch do not compile.
            if source.word(index + 1) != "(" and source.word(index - 1) not in ("case", ".", "->"):
                names.append(token)
    swaps = partners([token.text for token in names])
    for token in names:
        if token.text in swaps:
            yield Change(Kind.SWAPPED, token.start, token.text, swaps[token.text])
