# SPDX-License-Identifier: MIT
"""Help in the language of the user: that of LANGUAGE, LC_ALL, LC_MESSAGES or LANG, if po/ has it.

    class Parser(HelpParser): …

Only what ``--help`` prints is translated; messages and all that a program may read are the same in
every language.  Texts need no mark: `texts` lists all that a parser has, and the help is translated
when it is printed.
"""

from __future__ import annotations

import argparse
import functools
import gettext
import os
import re
import sys
import unicodedata

TYPE_CHECKING = False  # as in zvmlab.base.errors
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any

DOMAIN = "zvmlab"
USAGE = "usage: "
"""Before the usage line; argparse prints it."""
_STDOUT, _COLUMNS, _MARGIN = 1, 80, 2
_BEGIN_NO_LINE = frozenset(
    "\u3002\u3001\uff0c\uff1b\uff1a\uff1f\uff01\uff09\u300b\u300d\u300f\u201d\u2019\u2026%,.;:?!)]}"
)
_END_NO_LINE = frozenset("\uff08\u300a\u300c\u300e\u201c\u2018([{")
_ENGLISH = ("en", "C", "POSIX")
# argparse looks for a catalogue of its own, for each text anew; there is none for it.
argparse._ = lambda text: text  # type: ignore[attr-defined]


def languages(environment: Mapping[str, str]) -> list[str]:
    """The languages that the user asks for, by the rules of the C library.

    None in the locale C, and none after English, which all texts are in.
    """
    names = (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    locale = next((name for name in names if name), "C")
    if locale in ("C", "POSIX"):
        return []
    wanted = [name for name in environment.get("LANGUAGE", "").split(":") if name] or [locale]
    english = [at for at, name in enumerate(wanted) if re.split("[_.@]", name)[0] in _ENGLISH]
    return wanted[: english[0]] if english else wanted


def folders(tree: Path | None = None) -> Iterator[Path]:
    """The folders that may have catalogues: built in the tree, or installed beside it."""
    from zvmlab.base.tree import TREE  # which help in English does not have to import

    tree = tree or TREE
    yield tree / "build/locale"
    yield tree.parent.parent / "share/locale"


def catalogue(wanted: list[str], encoding: str | None) -> gettext.NullTranslations:
    """The first that is there; one without texts if none is, or if its texts cannot be printed."""
    for folder in folders() if wanted else ():
        file = gettext.find(DOMAIN, str(folder), wanted)
        if file is None:
            continue
        try:
            with open(file, "rb") as opened:
                found = gettext.GNUTranslations(opened)
            found.gettext(USAGE).encode(encoding or "ascii")
        except (OSError, ValueError):  # of another program, damaged, or not for this terminal
            continue
        return found
    return gettext.NullTranslations()


def texts(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """All texts in the help of a parser and of the parsers below it: place and text."""
    name = parser.prog
    for text in (parser.description, parser.epilog):
        if text:
            yield name, text
    for group in parser._action_groups:
        for text in (group.title, group.description):
            if text and group._group_actions:
                yield name, text
    for title in getattr(parser, "headings", {}).values():
        yield name, title
    for action in parser._actions:
        if action.help and action.help != argparse.SUPPRESS:
            yield f"{name} {_named(action)}", action.help
        if isinstance(action, argparse._SubParsersAction):
            for shown in action._choices_actions:
                if shown.help:
                    yield name, shown.help
                yield from texts(action.choices[shown.dest])


def _named(action: argparse.Action) -> str:
    return (
        action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)
    )


def _translate(parser: argparse.ArgumentParser, found: gettext.NullTranslations) -> None:
    """Puts the translations into the places of the texts."""

    def of(text: str | None) -> str | None:
        return found.gettext(text) if text else text

    parser.description, parser.epilog = of(parser.description), of(parser.epilog)
    for group in parser._action_groups:
        group.title, group.description = of(group.title), of(group.description)
    for action in parser._actions:
        action.help = of(action.help)
        if isinstance(action, argparse._SubParsersAction):
            for shown in action._choices_actions:
                shown.help = of(shown.help)


def _output_encoding() -> str | None:
    return getattr(sys.stdout, "encoding", None)


class HelpParser(argparse.ArgumentParser):
    """A parser whose help is in the language of the user, and whose commands can be in groups."""

    headings: Mapping[str, str] = {}
    """The title of a group of commands, by its first command."""
    _catalogue: gettext.NullTranslations = gettext.NullTranslations()

    def format_help(self) -> str:
        self._catalogue = catalogue(languages(os.environ), _output_encoding())
        if isinstance(self._catalogue, gettext.GNUTranslations):
            _translate(self, self._catalogue)
        return super().format_help()

    def _get_formatter(self) -> argparse.HelpFormatter:
        bases: list[Any] = [self.formatter_class]
        members: dict[str, object] = {}
        if isinstance(self._catalogue, gettext.GNUTranslations):
            bases.insert(0, _Wide)
            members["usage"] = self._catalogue.gettext(USAGE)
        if self.headings:
            bases.insert(0, _Grouped)
            titles = {name: self._catalogue.gettext(text) for name, text in self.headings.items()}
            members["headings"] = titles
        formatter = type("Formatter", tuple(bases), members) if members else bases[0]
        made: argparse.HelpFormatter = formatter(prog=self.prog, width=_width())
        return made


@functools.cache
def _width() -> int:
    """Columns of the help; argparse asks for each option anew."""
    try:
        columns = int(os.environ.get("COLUMNS", 0))
    except ValueError:
        columns = 0
    if columns <= 0:
        try:
            columns = os.get_terminal_size(_STDOUT).columns
        except OSError:
            columns = 0
    return (columns or _COLUMNS) - _MARGIN


class _Grouped(argparse.HelpFormatter):
    """Commands below the title of their group, and beside what they do."""

    headings: Mapping[str, str] = {}

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length += self._indent_increment

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):
            shown = self._iter_indented_subactions(action)
            return self._join_parts([self._format_action(choice) for choice in shown])
        text: str = super()._format_action(action)
        title = self.headings.get(action.dest)
        if isinstance(action, argparse._SubParsersAction._ChoicesPseudoAction) and title:
            return f"{' ' * (self._current_indent - self._indent_increment)}{title}\n{text}"
        return text


class _Wide(argparse.HelpFormatter):
    """Counts columns of a terminal, of which some characters take two."""

    usage = USAGE

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(" ".join(text.split()), width)

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None) -> str:
        prefix = self.usage if prefix is None else prefix
        # Further lines begin below the first option, and are broken before they are moved there.
        further = columns(prefix) - len(prefix)
        self._width -= further
        text: str = super()._format_usage(usage, actions, groups, prefix)
        self._width += further
        return text.replace("\n ", "\n " + " " * further)


def columns(text: str) -> int:
    """The number of columns that a terminal needs for the text."""
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def wrap(text: str, width: int) -> list[str]:
    """Its lines, broken at blanks and beside wide characters."""
    lines = []
    while (end := _line_end(text, width)) < len(text):
        lines.append(text[:end].rstrip())
        text = text[end:].lstrip()
    return [*lines, text]


def _line_end(text: str, width: int) -> int:
    used, end = 0, 0
    for at, character in enumerate(text):
        if at and _may_break(text[at - 1], character):
            end = at
        used += columns(character)
        if used > width and end and character != " ":
            return end
    return len(text)


def _may_break(before: str, after: str) -> bool:
    if after == " ":
        return before != " "
    if before == " " or after in _BEGIN_NO_LINE or before in _END_NO_LINE:
        return False
    return columns(before) == 2 or columns(after) == 2
