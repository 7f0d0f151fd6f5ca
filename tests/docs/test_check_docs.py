# SPDX-License-Identifier: MIT
"""Commands found in planted pages; what runs, what fails, what is told; the tree's own table."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import check_docs
import pytest
import scenes
import shown

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, UsageError

_PAGE = """\
# A page

    make first        # in an indented block

Text.

    not a command

```sh
export WORD=one     # kept for those that come after
echo "$WORD" 'a
b'
guest# typed in a guest

cat <<END
within
END
```

```
output only
$ zvmlab shown with its output
output
```

```python
def test_shown(): ...
```
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree with git and one page."""
    tree = tmp_path / "tree"
    (tree / "docs").mkdir(parents=True)
    (tree / "docs" / "page.md").write_text(_PAGE)
    return tree


def _commit(tree: Path) -> None:
    for words in (
        ("init", "--quiet", "--initial-branch", "main"),
        ("add", "."),
        ("-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "--message", "all"),
    ):
        subprocess.run(["git", "-C", str(tree), *words], check=True, timeout=30)


def _run(tree: Path, table: str, *argv: str) -> int:
    """check_docs in the tree, with these scenes; UsageError as it is raised."""
    if not (tree / ".git").exists():
        _commit(tree)
    file = tree.parent / "scenes.toml"
    file.write_text(table)
    (tree.parent / "build").mkdir(exist_ok=True)
    return check_docs.run(
        ["--tree", str(tree), "--build", str(tree.parent / "build"), "--scenes", str(file), *argv]
    )


def _write(tree: Path, *commands: str) -> None:
    text = "\n".join(commands)
    (tree / "docs" / "page.md").write_text(f"```sh\n{text}\n```\n")


def test_every_kind_of_block_is_found(root: Path) -> None:
    """Line and text of each; neither output, nor prose, nor what is typed in a guest."""
    found = [(block.line, block.kind, block.first) for block in shown.shown(root, "docs/page.md")]
    assert found == [
        (3, "sh", "make first"),
        (10, "sh", "export WORD=one"),
        (11, "sh", 'echo "$WORD" \'a'),
        (15, "sh", "cat <<END"),
        (22, "sh", "zvmlab shown with its output"),
        (27, "python", "def test_shown(): ..."),
    ]
    assert shown.shown(root, "docs/page.md")[3].text == "cat <<END\nwithin\nEND"


def test_translated_pages_are_left_out(root: Path) -> None:
    """They have the commands of the English ones; a page with another point in its name has its own."""
    before = shown.pages(root)
    for name in ("README.zh_CN.md", "docs/page.de.md", "docs/page.v2.md"):
        (root / name).write_text("```sh\nmake other\n```\n", encoding="utf-8")
    assert shown.pages(root) == sorted([*before, "docs/page.v2.md"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```sh\necho 'open\n```\n", r"docs/page\.md:2: bash does not understand: echo 'open"),
        ("text\n```sh\nmake\n", r"docs/page\.md:2: the block that begins here has no end"),
        ("```python\nx = 1\nx = (\n```\n", r"docs/page\.md:3: '\(' was never closed"),
    ],
)
def test_page_that_cannot_be_read_is_refused_with_the_line(
    root: Path, text: str, said: str
) -> None:
    """Not taken for a page without commands."""
    (root / "docs" / "page.md").write_text(text)
    with pytest.raises(UsageError, match=said):
        _run(root, "")


def test_commands_run_in_a_clone_with_what_has_changed(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A later one knows what an earlier one exported; the user's tree stays as it is."""
    (root / "old").write_text("committed\n")
    _write(
        root, "export WORD=two", 'echo "$WORD $(cat old new)" >made && cat made', "ls ~/zvmlab/made"
    )
    _commit(root)
    (root / "old").write_text("changed\n")
    (root / "new").write_text("new\n")
    table = "[[command]]\npage = 'docs/page.md'\nshown = 'echo'\nsays = [\"two changed\\nnew\"]\n"
    assert _run(root, table) == EXIT_PASS
    assert "3 commands: 3 run, 0 run in a shorter form, 0 not run, 0 failed; 100.0% run" in (
        capsys.readouterr().out
    )
    assert not (root / "made").exists()


@pytest.mark.parametrize(
    ("command", "scene", "said"),
    [
        ("false", "", "exit code 1 instead of 0"),
        ("true", "exit = 3", "exit code 0 instead of 3"),
        ("echo one", "says = ['one', 'two']", "it does not say: two"),
        ("sleep 60", "seconds = 1", "it did not end within 1 s"),
        ("true", "before = 'exit 4'", "what comes before it failed with 4: exit 4"),
        ("true", "beside = 'exit 5'\nready = 'never'", "exit 5 ended with 5 before it was ready"),
        ("echo FILE", "instead = [['NAME', 'x']]", "NAME is not in it any more"),
    ],
)
def test_command_that_does_something_else_fails(
    root: Path, capsys: pytest.CaptureFixture[str], command: str, scene: str, said: str
) -> None:
    """With the reason, and in the report."""
    _write(root, command)
    table = f"[[command]]\npage = 'docs/page.md'\nshown = '{command}'\n{scene}\n"
    assert _run(root, table) == EXIT_FAILED
    out = capsys.readouterr().out
    assert said in out and "1 failed" in out
    assert f"FAILED: {said}" in (root.parent / "build" / "docs" / "report.md").read_text()


def test_what_a_command_has_started_ends_with_it(root: Path) -> None:
    """When its own end has come, not before."""
    _write(root, "sleep 1000 & echo $! >begun", "kill -0 $(cat begun)")
    table = "[[command]]\npage = 'docs/page.md'\nshown = 'kill'\nexit = 1\n"
    assert _run(root, table) == EXIT_PASS
    begun = int((root.parent / "build" / "docs" / "tree" / "begun").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(begun, 0)


def test_what_runs_beside_gets_its_input_and_its_end(root: Path) -> None:
    """It is there while the command runs, and ends because its input does."""
    _write(root, "cat heard")
    table = """
[[command]]
page = "docs/page.md"
shown = "cat heard"
beside = "read word; echo $word >heard; echo listening; cat; echo over >ended"
typed = "hello\\n"
ready = "listening"
says = ["hello"]
"""
    assert _run(root, table) == EXIT_PASS
    assert (root.parent / "build" / "docs" / "tree" / "ended").read_text() == "over\n"


def test_too_much_that_is_not_run_fails(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """19 of 20 are enough, 18 of 20 are not; what is shorter counts as run."""
    _write(root, *(f"true {n:02}" for n in range(20)))
    entry = "[[command]]\npage = 'docs/page.md'\nshown = 'true {}'\n{}\n"
    once = entry.format("00", "not_run = 'takes a day'")
    short = entry.format("02", "environment = { N = '1' }")
    assert _run(root, once + short) == EXIT_PASS
    out = capsys.readouterr().out
    assert "20 commands: 18 run, 1 run in a shorter form, 1 not run, 0 failed; 95.0% run;" in out
    assert "takes a day" in out
    twice = once + entry.format("01", "not_run = 'takes two'")
    assert _run(root, twice) == EXIT_FAILED
    assert "90.0% run, less than 95%" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[[command]]\npage = 'docs/page.md'\nshown = 'make gone'", "begins with: make gone"),
        ("[page.'docs/gone.md']", r"docs/gone\.md shows nothing to run"),
        ("[[command]]\npage = 'docs/page.md'\ngiven = ''", "command 1: given is not known"),
        ("[[command]]\npage = 'docs/page.md'", "command 1: .*'shown'"),
        ("[other]", "other is not known; there are page and command"),
        ("[page", "scenes.toml: "),
        ("[page.'docs/page.md']\nprograms = { no = 'a.py' }", "a.py: no program of the page"),
    ],
)
def test_entry_that_fits_nothing_is_refused(root: Path, table: str, said: str) -> None:
    """An old entry must not look like one that is used."""
    with pytest.raises(UsageError, match=said):
        _run(root, table)


def test_page_of_another_name_is_refused(root: Path) -> None:
    """With those that there are."""
    with pytest.raises(
        UsageError, match=r"x\.md is not a page of the tree; there are docs/page\.md"
    ):
        _run(root, "", "x.md")


def test_the_trees_own_table_fits_its_pages() -> None:
    """Every entry is of a command that is shown, at least 95 % are run, and all Python is of the language."""
    table = scenes.read(check_docs.SCENES)
    pages = {page: shown.shown(check_docs.ROOT, page) for page in shown.pages(check_docs.ROOT)}
    for page, blocks in pages.items():
        check_docs.programs(table.pages.get(page, scenes.Page()), blocks)
    found = [one for blocks in pages.values() for one in blocks]
    assert table.unused(found) == []
    commands = [table.command(one) for one in found if one.kind == "sh"]
    left = [one for one in commands if one.not_run]
    assert len(left) <= (1 - check_docs.WANTED) * len(commands)
