# SPDX-License-Identifier: MIT
"""Check the pages in Markdown: the READMEs of folders, the lengths of lines, and links.

``pages.py`` prints a line for each folder without a README, each README that is too long, each
line that is too long (tables aside), each link to a file or heading that does not exist, and each
picture that no page shows.
``pages.py --wrap FILE…`` wraps paragraphs that have such a line.  Exit code: 0 if all is well,
1 for findings.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = "README.md"
README_LINES = 30
COLUMNS = 110
SUBFOLDERS = ("lib", "sim", "tools")
"""Folders at the top whose own folders have a README each."""
OTHERS = {
    "LICENSES": "REUSE: it holds licence texts only",
    "docs": "its README is the index of all pages, and as long as they are many",
}
"""Folders whose README is another, or that have none, with the reason."""
LONG_LINES = {
    "README.zh_CN.md": "po4a writes each paragraph as one line",
}
"""Pages whose lines may be longer, with the reason."""

_TABLE = re.compile(r"\s*\|")
_FENCE = re.compile(r"\s*```")
_ITEM = re.compile(r"(\s*)(?:[*+-]|\d+\.)\s+")
_ALONE = re.compile(r"\s*(#|<|>|$)")
_WORD = re.compile(r"(?:(`+).*?\1|[^\s`])+")
_BEGINS_OTHERWISE = re.compile(r"(?:[*+-]|\d+[.)]|=+|-+)$|[#>|]|```")
_SENTENCE_END = re.compile(r"[.?!][)\"`*_]*$")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)", re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)", re.DOTALL)
PICTURES = (".png", ".svg")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_HEADING = re.compile(r"^#+\s+(.*?)\s*$", re.MULTILINE)
_ELSEWHERE = re.compile(r"[a-z]+:")


def tracked(root: Path) -> list[str]:
    """Names of the files that git knows, or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True, timeout=60)
    return sorted({name for name in done.stdout.splitlines() if (root / name).exists()})


def readmes(root: Path, files: Sequence[str]) -> Iterator[str]:
    """A sentence for each folder that lacks its README, or has a long one."""
    parts = [name.split("/") for name in files if not name.startswith(".")]
    folders = {words[0] for words in parts if len(words) > 1}
    folders |= {"/".join(words[:2]) for words in parts if words[0] in SUBFOLDERS and len(words) > 2}
    for folder in sorted(folders - set(OTHERS)):
        page = f"{folder}/{README}"
        if page not in files:
            yield (
                f"{page} is missing: say what the folder is for, what it may use, where to start"
                " reading, and how it is tested"
            )
            continue
        lines = len((root / page).read_text(encoding="utf-8").splitlines())
        if lines > README_LINES:
            yield f"{page}: {lines} lines, where {README_LINES} are allowed"


def long_lines(page: str, text: str) -> Iterator[str]:
    """A sentence for each line that is too long and no table."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > COLUMNS and not _TABLE.match(line):
            yield (
                f"{page}:{number}: {len(line)} columns, where {COLUMNS} are allowed;"
                f" python3 ci/pages.py --wrap {page}"
            )


def wrap(text: str) -> str:
    """The page with each paragraph wrapped that has a line too long."""
    done: list[str] = []
    held: list[str] = []
    fenced = False

    def flush() -> None:
        done.extend(_wrapped(held) if any(len(line) > COLUMNS for line in held) else held)
        held.clear()

    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if fence or fenced or _TABLE.match(line) or _ALONE.match(line):
            flush()
            done.append(line)
            fenced ^= bool(fence)
            continue
        if _ITEM.match(line):
            flush()
        held.append(line)
    flush()
    return "\n".join(done)


def _wrapped(lines: Sequence[str]) -> list[str]:
    """A paragraph or an item of a list; two blanks stay between sentences, code stays together."""
    item = _ITEM.match(lines[0])
    first = item[0] if item else lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    later = " " * len(first)
    joined = lines[0][len(first) :].rstrip()
    for line in lines[1:]:
        joined += ("  " if _SENTENCE_END.search(joined) else " ") + line.strip()
    # What would begin a list or a heading stays behind the word before it.
    words = list[str]()
    gaps = list[str]()
    end = 0
    for word in _WORD.finditer(joined):
        gap, end = joined[end : word.start()], word.end()
        if words and _BEGINS_OTHERWISE.match(word[0]):
            words[-1] += gap + word[0]
        else:
            words.append(word[0])
            gaps.append(gap)
    made, current = list[str](), first
    for text, gap in zip(words, gaps, strict=True):
        if current != first and len(current) + len(gap) + len(text) > COLUMNS:
            made.append(current)
            current = later + text
        else:
            current += gap + text
    return [*made, current]


def slugs(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and GitLab make them."""
    found: dict[str, int] = {}
    result = set()
    for heading in _HEADING.findall(
        re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    ):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower().strip()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = found.get(slug, 0)
        found[slug] = count + 1
        result.add(f"{slug}-{count}" if count else slug)
    return result


def links(root: Path, page: str, text: str) -> Iterator[str]:
    """A sentence for each link within the tree that leads nowhere."""
    for match in _LINK.finditer(_CODE.sub(lambda code: " " * len(code[0]), text)):
        target, _, anchor = match[1].partition("#")
        if _ELSEWHERE.match(match[1]):
            continue
        to = (root / page).parent / target if target else root / page
        line = text.count("\n", 0, match.start()) + 1
        if not to.exists():
            yield f"{page}:{line}: a link to {target}, which does not exist"
        elif anchor and to.suffix == ".md":
            if anchor not in slugs(to.read_text(encoding="utf-8")):
                yield f"{page}:{line}: a link to #{anchor}, which {target or page} has no heading for"


def unseen(root: Path, files: Sequence[str], pages: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each picture that no page shows."""
    shown = {
        ((root / page).parent / match[1]).resolve()
        for page, text in pages.items()
        for match in _PICTURE.finditer(text)
    }
    for name in (name for name in files if name.endswith(PICTURES)):
        if (root / name).resolve() not in shown:
            yield f"{name}: a picture that no page shows"


def findings(root: Path) -> Iterator[str]:
    """Everything that is wrong with the pages of a tree."""
    files = tracked(root)
    yield from readmes(root, files)
    pages = {
        name: (root / name).read_text(encoding="utf-8") for name in files if name.endswith(".md")
    }
    yield from unseen(root, files, pages)
    for page, text in pages.items():
        if page not in LONG_LINES:
            yield from long_lines(page, text)
        yield from links(root, page, text)


def main(arguments: Sequence[str]) -> int:
    """Check, or wrap; the exit code."""
    if arguments and arguments[0] == "--wrap":
        for name in arguments[1:]:
            path = Path(name)
            path.write_text(wrap(path.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    found = list(findings(ROOT))
    for sentence in found:
        print(sentence, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
