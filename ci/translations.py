# SPDX-License-Identifier: MIT
"""Translations of help and pages: have they fallen behind the English texts?

``translations.py`` looks, writes nothing, and says in a sentence what is not translated; ``make lint``
calls it.  ``translations.py --update`` (``make translations``) brings new and changed texts into the files
of po/, and writes pages that are in the tree again.  Exit code: 0 if all is translated, 1 if not, 2 if
a source cannot be read, 77 if a program or a header is missing.

Help has one template, which is made whenever it is needed.  Its texts need no mark in the sources: those of C are what
initializers of the types in `TABLES` have in the named members, as the compiler's preprocessor
leaves them, and what is given to ``gettext()`` or ``N_()``; those of Python are what the parsers have.
Pages are those that po/po4a.cfg lists.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.errors import CannotRun, UsageError, ZvmlabError, exit_code
from zvmlab.builder import module_mk

ROOT = Path(__file__).resolve().parents[1]
HELP = "help.po"
PAGES = "po/po4a.cfg"
MENDS = "run 'make translations'"
_SECONDS = 120
_HEAD = """\
msgid ""
msgstr ""
"Project-Id-Version: zvmlab\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""

TABLES: dict[str, dict[str, int]] = {
    "option_row": {"help": 3},
    "option_part": {"heading": 3},
    "command_line": {"help": 5},
    "command": {"summary": 1},
    "tool": {"summary": 1},
    "column": {"meaning": 5},
}
"""Types of tools/common whose texts are shown in help: the members, and which of the type's they are."""
ARGP = (
    "Usage:",
    " [OPTION...]",
    "Mandatory or optional arguments to long options are also mandatory or optional for any"
    " corresponding short options.",
)
"""What argp of the C library says by itself; it looks for them among the texts of the program."""


@dataclass(frozen=True)
class Text:
    """A text of help: the source that has it, what it is about there, and itself."""

    file: str
    about: str
    text: str


# ---- C: what initializers have

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|\d[\w.]*|[^\s\w]')
_BEGIN = re.compile(
    rf"\bstruct\s+({'|'.join(TABLES)})\s+\w+\s*((?:\[[^\]]*\])?)\s*=\s*(?=\{{)",
)

_ANY = re.compile(rf"\bstruct\s+({'|'.join(TABLES)})\b")


@dataclass(frozen=True)
class Element:
    """An element of an initializer: designator (``.name``), and tokens or inner elements."""

    name: str
    tokens: tuple[str, ...]
    within: tuple[Element, ...] | None

    @property
    def text(self) -> str | None:
        """The text if it is a string, in the form of a source."""
        if self.tokens and all(token.startswith('"') for token in self.tokens):
            return "".join(token[1:-1] for token in self.tokens)
        return None


def _elements(tokens: Iterator[str]) -> tuple[Element, ...]:
    """Take the elements up to the closing brace, and the brace."""
    found: list[Element] = []
    name, value, depth = "", list[str](), 0
    within: tuple[Element, ...] | None = None
    for token in tokens:
        if depth == 0 and token in ",}":
            if value or within is not None:
                found.append(Element(name, tuple(value), within))
            name, value, within = "", [], None
            if token == "}":
                return tuple(found)
            continue
        if token == "{" and depth == 0:
            within = _elements(tokens)
            continue
        depth += (token in "([{") - (token in ")]}")
        if token == "=" and depth == 0:
            name, value = ("".join(value)[1:] if value[:1] == ["."] else ""), []
        else:
            value.append(token)
    raise UsageError("an initializer has no end")


def _members(kind: str, element: Element) -> Iterator[tuple[str, str]]:
    """Texts of one of that type: what it is about, and the text."""
    members = element.within or ()
    first = next((member.text for member in members if member.text), "")
    for name, index in TABLES[kind].items():
        for place, member in enumerate(members):
            if member.name == name or (not member.name and place == index):
                if member.text:
                    yield ("" if first == member.text else first), member.text


def initialized(text: str) -> Iterator[tuple[str, str]]:
    """Texts in preprocessed C: what each is about, and itself in the form of a source."""
    for match in _BEGIN.finditer(text):
        tokens = (found[0] for found in _TOKEN.finditer(text, match.end()))
        next(tokens)
        elements = _elements(tokens)
        if match[2]:
            for element in elements:
                yield from _members(match[1], element)
        else:
            yield from _members(match[1], Element("", (), elements))


def tool_texts(root: Path) -> Iterator[Text]:
    """The texts of the tools in C."""
    names = (name for name in module_mk.names(root) if name.startswith("tools/"))
    for module in module_mk.closure(root, *names):
        if not module.name.startswith("tools/"):
            continue
        options = module_mk.compile_options(root, module)
        for source in (*module.sources, *module.main):
            if not _ANY.search((root / source).read_text(encoding="utf-8")):
                continue
            whole = _run(["gcc", "-std=gnu11", "-E", "-P", *options, str(root / source)], root)
            for about, text in initialized(whole):
                yield Text(source, about, text)


def command_texts() -> Iterator[Text]:
    """The texts of the command zvmlab."""
    from zvmlab.cli.main import parser
    from zvmlab.cli.translate import USAGE, texts

    yield Text("zvmlab", "", _quoted(USAGE))
    for about, text in texts(parser()):
        yield Text("zvmlab", about, _quoted(text))


def _quoted(text: str) -> str:
    """Quote the text as a string of C."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


# ---- the template, and the files of translations


def template(root: Path) -> str:
    """The English texts of help as a template of translations."""
    texts = [*tool_texts(root), *command_texts()]
    texts += [Text("argp", "", _quoted(text)) for text in ARGP]
    with tempfile.TemporaryDirectory() as folder:
        lists: dict[str, list[str]] = {}
        for one in texts:
            about = f"/* of {one.about} */ " if one.about else ""
            plain = "/* xgettext:no-c-format */ " if "%" in one.text else ""
            lists.setdefault(one.file, []).append(f'{about}{plain}gettext("{one.text}");\n')
        for source in (root / "tools").rglob("*.c"):
            name = str(source.relative_to(root))
            lists.setdefault(name, []).append(source.read_text(encoding="utf-8"))
        for name, lines in lists.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines), encoding="utf-8")
        options = ["--language=C", "--from-code=UTF-8", "--omit-header", "--add-location=file"]
        options += ["--keyword", "--keyword=gettext", "--keyword=N_", "--add-comments=of"]
        return _HEAD + _run(["xgettext", *options, "-o", "-", *sorted(lists)], Path(folder))


def languages(root: Path) -> list[str]:
    """The languages with a folder in po/."""
    return sorted(path.parent.name for path in (root / "po").glob(f"*/{HELP}"))


def unfinished(root: Path, name: str) -> str | None:
    """A sentence for the file *name* of translations if a text of it is not translated."""
    path = root / name
    _run(["msgfmt", "--check", "--output-file=/dev/null", str(path)], root)
    options = ["--no-obsolete", "--no-wrap", "--no-location"]
    lacking = [
        text
        for which in ("--untranslated", "--only-fuzzy")
        for text in _english(_run(["msgattrib", which, *options, str(path)], root))
    ]
    if not lacking:
        return None
    first = lacking[0] if len(lacking[0]) <= 60 else f"{lacking[0][:57]}..."
    return (
        f"{name}: {len(lacking)} of the English texts are not translated as they are today,"
        f' the first: "{first}"; {MENDS}, and translate what it names'
    )


def _english(po: str) -> list[str]:
    """English texts, each as one line, without that of the header."""
    found = (match[1] for match in re.finditer(r'^msgid ((?:".*"\n)+)', po, re.MULTILINE))
    texts = ("".join(line[1:-1] for line in one.splitlines()) for one in found)
    return [text.replace("\\n", " ").strip() for text in texts if text]


def merge(root: Path, wanted: str) -> None:
    """Bring the texts of the template *wanted* into each language's file."""
    options = ["--quiet", "--update", "--backup=none", "--previous", "--no-wrap"]
    options += ["--add-location=file"]
    with tempfile.NamedTemporaryFile("w", suffix=".pot", encoding="utf-8") as file:
        file.write(wanted)
        file.flush()
        for language in languages(root):
            _run(["msgmerge", *options, f"po/{language}/{HELP}", file.name], root)


def pages(root: Path, build: Path) -> None:
    """Brings the texts of English pages into each page's file, and makes the translated pages.

    Those of the tree are made in an empty folder: po4a leaves a page alone that is newer than its
    sources, and so would keep what somebody changed in it by hand.
    """
    (root / build / "po").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        variables = ["--variable", f"build={build}", "--variable", f"tree={made}"]
        _run(["po4a", "--quiet", *variables, PAGES], root)
        for name in in_tree(root):
            shutil.copy(Path(made) / name, root / name)
    # po4a wraps, and notes for each text the pages that have it.
    options = ["--no-obsolete", "--no-wrap", "--no-location"]
    for name in files(root):
        if Path(name).name != HELP:
            _run(["msgattrib", *options, f"--output-file={name}", name], root)


def masters(root: Path) -> list[str]:
    """English pages that are translated."""
    text = (root / PAGES).read_text(encoding="utf-8")
    return re.findall(r"^\[type: \w+\] (\S+)", text, re.MULTILINE)


def in_tree(root: Path) -> list[str]:
    """Translated pages that are in the tree: people read them there."""
    text = (root / PAGES).read_text(encoding="utf-8")
    return re.findall(r" \w+:\$\(tree\)/(\S+)", text)


def _run(argv: Sequence[str], folder: Path) -> str:
    """Run a program and return its output."""
    env = {**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "C"}
    try:
        done = subprocess.run(
            argv, cwd=folder, env=env, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise CannotRun(f"{argv[0]} is missing; 'make setup-lint' installs it") from error
    if done.returncode:
        raise UsageError(f"{argv[0]} failed: {(done.stderr or done.stdout).strip()[-600:]}")
    return done.stdout


# ---- what the command does


def findings(root: Path) -> Iterator[str]:
    """A sentence for each file that has fallen behind; nothing in the tree is changed."""
    wanted = template(root)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(root / "po", copy / "po")
        for name in masters(root):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            if (root / name).is_file():
                shutil.copy(root / name, copy / name)
        merge(copy, wanted)
        pages(copy, copy / "build")
        for name in files(root):
            if said := unfinished(copy, name):
                yield said
        for name in in_tree(root):
            if not _same(root / name, copy / name):
                yield f"{name}: not what its English page and po/ make today; {MENDS}"


def _same(path: Path, other: Path) -> bool:
    return path.is_file() and path.read_bytes() == other.read_bytes()


def files(root: Path) -> list[str]:
    """The files of translations: one for help and one for each page, of each language."""
    names = (HELP, *(f"{Path(name).name}.po" for name in masters(root)))
    return [f"po/{language}/{name}" for language in languages(root) for name in names]


def update(root: Path, build: Path) -> Iterator[str]:
    """Writes what can be written; a sentence for each file that people have to translate."""
    merge(root, template(root))
    pages(root, build)
    for name in files(root):
        if said := unfinished(root, name):
            yield said.replace(f"; {MENDS}, and translate what it names", "; translate it there")


def main(argv: Sequence[str]) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0], allow_abbrev=False)
    parser.add_argument("--update", action="store_true", help="write what has fallen behind")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="folder of results")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the tree that is meant")
    args = parser.parse_args(argv)
    said = list(update(args.tree, args.build) if args.update else findings(args.tree))
    for line in said:
        print(line)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(exit_code(lambda: sys.exit(main(sys.argv[1:]))))
