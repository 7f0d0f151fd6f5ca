# SPDX-License-Identifier: MIT
"""ci/pages.py, which `make lint` runs: small trees with one thing wrong in each."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from scripted import run_script

from zvmlab.base.tree import TREE

LONG = "word " * 30
GOOD = {
    "README.md": "# Top\n\nA [page](docs/page.md#a-heading-with-code), [here](#top).\n",
    "docs/page.md": f"# Page\n\n## A heading, with `code`!\n\n| {LONG} |\n\n`[no](link.md)`\n\n![](seen.svg)\n",
    "docs/seen.svg": "",
    "sim/README.md": "# sim\n",
    "sim/cp/README.md": "x\n" * 30,
    "sim/cp/cp.c": "",
    "lib/module.mk": "",
    "lib/README.md": "",
    "lib/base/README.md": "",
    ".ci/run": "",
    "LICENSES/MIT.txt": "",
}


def _write(tmp_path: Path, files: dict[str, str | None]) -> Path:
    for name, text in (GOOD | files).items():
        if text is not None:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
    (tmp_path / "ci").mkdir(exist_ok=True)
    script = tmp_path / "ci" / "pages.py"
    script.write_text((TREE / "ci/pages.py").read_text())
    (tmp_path / ".gitignore").write_text("ci/\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, timeout=60)
    return script


def _run(script: Path, *words: str) -> tuple[int, list[str]]:
    done = run_script(script, *words)
    assert not done.stdout
    return done.returncode, done.stderr.splitlines()


def test_good_tree_has_no_findings(tmp_path: Path) -> None:
    assert _run(_write(tmp_path, {})) == (0, [])


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"sim/README.md": None}, "sim/README.md is missing: say what the folder is for"),
        ({"sim/cp/README.md": None}, "sim/cp/README.md is missing: "),
        ({"new/deep/file.c": ""}, "new/README.md is missing: "),
        ({"sim/cp/README.md": "x\n" * 31}, "sim/cp/README.md: 31 lines, where 30 are allowed"),
        ({"docs/a.md": f"x\n{'y' * 111}\n"}, "docs/a.md:2: 111 columns, where 110 are allowed"),
        ({"docs/a.md": f"```\n{LONG}\n```\n"}, "docs/a.md:2: 150 columns, where 110 are"),
        (
            {"docs/a.md": "[a\nb](gone.md)\n"},
            "docs/a.md:1: a link to gone.md, which does not exist",
        ),
        ({"docs/a.md": "\n[a](page.md#b)\n"}, "docs/a.md:2: a link to #b, which page.md has no"),
        (
            {"docs/a.md": "![a](gone.png)\n"},
            "docs/a.md:1: a link to gone.png, which does not exist",
        ),
        (
            {"docs/b.png": "", "docs/a.md": "[b](b.png)\n"},
            "docs/b.png: a picture that no page shows",
        ),
    ],
)
def test_wrong_page_is_named(tmp_path: Path, files: dict[str, str | None], said: str) -> None:
    code, lines = _run(_write(tmp_path, files))
    assert code == 1 and len(lines) == 1
    assert lines[0].startswith(said)


def test_wrapping_keeps_words_sentences_code_and_lists(tmp_path: Path) -> None:
    first, second = "a" * 60 + ".", "b" * 40
    code = "`" + "c c" * 20 + "`"
    text = (
        f"# Page {LONG}\n\n| {LONG} |\n\nshort\nlines\n\n{first}  {second} {code} - 5. end of it.\n"
        f"Next.\n\n* {first} {second} xxxxx # y\n  {second}\n* short\n\n```\n{LONG}\n```\n"
    )
    script = _write(tmp_path, {"docs/a.md": text})
    page = tmp_path / "docs/a.md"
    assert _run(script, "--wrap", str(page)) == (0, [])
    assert page.read_text() == (
        f"# Page {LONG}\n\n| {LONG} |\n\nshort\nlines\n\n{first}  {second}\n{code} - 5. end of it.\n"
        f"Next.\n\n* {first} {second}\n  xxxxx # y {second}\n* short\n\n```\n{LONG}\n```\n"
    ).replace("it.\nNext", "it.  Next")
    before = page.read_text()
    assert _run(script, "--wrap", str(page)) == (0, []) and page.read_text() == before


def test_this_clones_pages_keep_the_rules() -> None:
    assert _run(TREE / "ci/pages.py") == (0, [])


def test_tests_that_pages_name_are_there() -> None:
    """`test_file.py::test_name`, as the page about misleading runs has them."""
    named = {
        (page.name, *words)
        for page in sorted((TREE / "docs").glob("*.md"))
        for words in re.findall(r"`(test_\w+\.py)::(test_\w+)`", page.read_text("utf-8"))
    }
    assert len({page for page, _, _ in named}) >= 1 and len(named) >= 10
    files = {path.name: path for path in (TREE / "tests").rglob("test_*.py")}
    for page, file, name in named:
        assert f"\ndef {name}(" in files[file].read_text("utf-8"), page
