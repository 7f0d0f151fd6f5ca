# SPDX-License-Identifier: MIT
"""Our changes of QEMU's source: sim/qemu/qemu_change.py, and what inserts them and makes patches."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

QEMU = Path(__file__).resolve().parents[2] / "sim" / "qemu"
HEAD = (
    "/* SPDX-License" "-Identifier: MIT */\n/*\n * part: {name} it\n *\n * It was wrong.\n */\n\n"
)


class Tool:
    """The scripts with changes of its own, and a tree for them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tree = folder / "tool", folder / "tree"
        for kind in ("corrections", "speed", "port"):
            (self.folder / "changes" / kind).mkdir(parents=True)
        for name in ("qemu_change.py", "insert.py", "patches.py"):
            shutil.copy(QEMU / name, self.folder)
        self.write("VERSION", "10.0.13\n")

    def change(self, text: str, name: str = "mend", kind: str = "corrections") -> Path:
        """A change with these places."""
        file = self.folder / "changes" / kind / f"{name}.c"
        file.write_text(HEAD.format(name=name) + text, encoding="utf-8")
        return file

    def write(self, name: str, text: str) -> Path:
        """A file of QEMU's."""
        file = self.tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def run(self, script: str, *words: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-B", str(self.folder / script), *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)

    def insert(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self.run("insert.py", *options, str(self.tree))

    def made(self, text: str, places: str) -> str:
        """What one change makes of the file a.c."""
        file = self.write("a.c", text)
        self.change(places)
        done = self.insert()
        assert (done.returncode, done.stderr) == (0, "")
        return file.read_text(encoding="utf-8")

    def refused(self) -> str:
        """The sentence with which nothing was changed."""
        files = {file: file.read_bytes() for file in self.tree.rglob("*") if file.is_file()}
        done = self.insert()
        assert done.returncode == 1 and done.stdout == ""
        assert files == {f: f.read_bytes() for f in self.tree.rglob("*") if f.is_file()}
        return done.stderr


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


LINES = "one\nhere it is\ntwo\nthree\n"
FUNCTIONS = "a()\n{\n    here\n}\n\nb()\n{\n    here\n}\n\nhere\n"


@pytest.mark.parametrize(
    ("places", "result"),
    [
        ("before: here\nnew\n", "one\nnew\nhere it is\ntwo\nthree\n"),
        ("after: here\n    new\n\n    newer\n", "one\nhere it is\n    new\n\n    newer\n"),
        ("replace: here\nnew\n", "one\nnew\ntwo\n"),
        ("replace 2: here\nnew\n", "one\nnew\nthree\n"),
        ("replace: here\n", "one\ntwo\n"),
        # An empty line parts it from the next function, and others are for the reader's eye.
        ("before: here\n\nnew()\n{\n}\n\n\n", "one\nnew()\n{\n}\n\nhere it is\n"),
        ("after: one\nnew\n\n//@ before: two\nnewer\n", "one\nnew\nhere it is\nnewer\ntwo\n"),
    ],
)
def test_lines_go_where_their_change_says(tool: Tool, places: str, result: str) -> None:
    assert tool.made(LINES, f"//@ file: a.c\n//@ {places}").startswith(result)


def test_a_place_can_be_in_one_function(tool: Tool) -> None:
    places = "//@ file: a.c\n//@ in: b()\n//@ replace: here\n    new\n"
    assert tool.made(FUNCTIONS, places) == FUNCTIONS.replace("b()\n{\n    here", "b()\n{\n    new")


def test_a_header_is_included_once(tool: Tool) -> None:
    places = "//@ file: a.c\n//@ include: new.h\n//@ include: old.h\n"
    tool.change(places, "other", "port")
    text = '/* A */\n#include "qemu/osdep.h"\n#include "old.h"\n'
    assert tool.made(text, places) == text.replace('osdep.h"\n', 'osdep.h"\n#include "new.h"\n')


@pytest.mark.parametrize(
    ("version", "new"), [("10.0.13", "old\nboth\n"), ("11.1.1", "new\nboth\n")]
)
def test_a_place_can_be_one_versions(tool: Tool, version: str, new: str) -> None:
    tool.write("VERSION", f"{version}\n")
    places = "".join(
        f"//@ file: a.c\n//@ for: {series}\n//@ before: here\n{text}\n"
        for series, text in (("10.0", "old"), ("11.1", "new"))
    )
    both = "//@ file: a.c\n//@ before: here\nboth\n"
    assert tool.made("here\n", places + both) == f"{new}here\n"


def test_changes_are_made_in_the_order_of_their_kinds(tool: Tool) -> None:
    """A later one finds what an earlier one has made."""
    tool.write("a.c", "one\n")
    tool.change("//@ file: a.c\n//@ replace: three\nfour\n", "alpha", "port")
    tool.change("//@ file: a.c\n//@ replace: two\nthree\n", "beta", "speed")
    tool.change("//@ file: a.c\n//@ replace: one\ntwo\n", "gamma", "corrections")
    assert tool.insert().returncode == 0
    assert (tool.tree / "a.c").read_text() == "four\n"


@pytest.mark.parametrize(
    ("text", "places", "line", "why"),
    [
        ("one\n", "before: here\nnew\n", 9, "'here' is in 0 lines of QEMU's a.c instead of one"),
        (FUNCTIONS, "after: here\nnew\n", 9, "'here' is in 3 lines of QEMU's a.c instead of one"),
        (FUNCTIONS, "in: c()\n//@ after: here\nnew\n", 10, "'c()' is in 0 lines of QEMU's a.c"),
        (FUNCTIONS, "in: ()\n//@ after: here\nnew\n", 10, "'()' is in 2 lines of QEMU's a.c"),
    ],
)
def test_a_change_that_does_not_fit_says_where_and_what_to_do(
    tool: Tool, text: str, places: str, line: int, why: str
) -> None:
    tool.write("a.c", text)
    tool.write("b.c", "good\n")
    tool.change("//@ file: b.c\n//@ after: good\nnew\n", "good", "corrections")
    file = tool.change(f"//@ file: a.c\n//@ {places}")
    said = tool.refused()
    assert said.startswith(f"{file}:{line}: {why}") and said.count("\n") == 1
    assert "change the place, or remove the change" in said


def test_a_file_that_qemu_has_not_is_named(tool: Tool) -> None:
    file = tool.change("//@ file: gone.c\n//@ before: here\nnew\n")
    assert tool.refused() == (
        f"{file}:9: {tool.tree}/gone.c cannot be read: No such file or directory;"
        " see where QEMU has it now, and change the line with 'file'\n"
    )


RULES = "; harness/zvmlab/base/source_change.py has the rules\n"
ONLY = "only 'before', 'after' and 'replace' have lines below them"


@pytest.mark.parametrize(
    ("places", "line", "why"),
    [
        ("//@ before: here\nnew\n", 8, "'//@ before: here' cannot stand here"),
        ("//@ file: a.c\nnew\n", 8, ONLY),
        ("//@ file: a.c\n//@ in: b()\nnew\n", 9, ONLY),
        ("//@ file 2: a.c\n", 8, ONLY),
        ("//@ file: a.c\n//@ instead: here\n", 9, "'//@ instead: here' cannot stand here"),
        ("//@ file: a.c\n//@ for: 7.2\n", 9, "'//@ for: 7.2' cannot stand here"),
        ("//@ file: a.c\n//@ before here\nnew\n", 9, "'//@ before here' cannot stand here"),
        ("//@ file: a.c\n//@before: here\n", 9, "'//@before: here' cannot stand here"),
        ("//@ file: a.c\n//@ before: here\n\n", 9, "'//@ before: here' cannot stand here"),
        ("//@ file: a.c\n", 1, "inserts nothing"),
        ("", 1, "inserts nothing"),
    ],
)
def test_a_change_is_written_by_the_rules(tool: Tool, places: str, line: int, why: str) -> None:
    tool.write("a.c", "here\n")
    file = tool.change(places)
    assert tool.refused() == f"{file}:{line}: {why}{RULES}"


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("/* part: mend it */\n/*\n * A text.\n * More.\n */\n", "does not begin with its licence"),
        (
            "/* SPDX-License" "-Identifier: MIT */\n/* A */\n",
            "does not say what is changed, and why",
        ),
        ("", "does not say what is changed, and why"),
    ],
)
def test_a_change_says_what_it_is(tool: Tool, head: str, why: str) -> None:
    tool.write("a.c", "here\n")
    file = tool.change("")
    file.write_text(f"{head}//@ file: a.c\n//@ before: here\nnew\n")
    assert tool.refused() == f"{file}:1: {why}{RULES}"


def test_two_changes_of_one_name_are_refused(tool: Tool) -> None:
    for kind in ("speed", "port"):
        tool.change("//@ file: a.c\n//@ before: here\nnew\n", "same", kind)
    said = f"{tool.folder}/changes: two changes are called 'same'; rename one\n"
    assert tool.refused() == said


@pytest.mark.parametrize("script", ["insert.py", "patches.py"])
def test_changes_are_for_known_versions_only(tool: Tool, script: str, tmp_path: Path) -> None:
    folder = [str(tmp_path / "out")] if script == "patches.py" else []
    tool.write("a.c", "here\n")
    tool.change("//@ file: a.c\n//@ before: here\nnew\n")
    tool.write("VERSION", "7.2.0\n")
    done = tool.run(script, *folder, str(tool.tree))
    assert done.returncode == 1
    assert done.stderr == f"{tool.tree} is QEMU 7.2.0; the changes are for 10.0 and 11.1\n"
    (tool.tree / "VERSION").unlink()
    done = tool.run(script, *folder, str(tool.tree))
    assert done.stderr == f"{tool.tree / 'VERSION'} cannot be read: No such file or directory\n"
    assert (tool.tree / "a.c").read_text() == "here\n"


def test_changes_are_not_made_twice(tool: Tool) -> None:
    tool.made("here\n", "//@ file: a.c\n//@ before: here\nzvmlab\n")
    assert tool.refused() == f"{tool.tree / 'a.c'} has our changes already\n"


def _two(tool: Tool) -> str:
    """One that can be left out, one of the port's; the option that keeps the files before."""
    tool.write("a.c", "here\n")
    tool.write("b.c", "end\n")
    tool.change("//@ file: a.c\n//@ after: here\nzvmlab\n", "port", "port")
    tool.change("//@ file: b.c\n//@ before: end\nquick\n", "quick", "speed")
    return f"--pristine={tool.folder / 'pristine'}"


def _times(tool: Tool) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in tool.tree.iterdir()}


def test_changes_take_the_place_of_those_before(tool: Tool) -> None:
    """Three builds in one tree, the middle one without a change."""
    pristine = _two(tool)
    assert tool.insert(pristine).returncode == 0
    assert (tool.tree / "b.c").read_text() == "quick\nend\n"
    before = _times(tool)
    assert tool.insert(pristine, "--without=quick").returncode == 0
    assert (tool.tree / "b.c").read_text() == "end\n"
    assert _times(tool)["a.c"] == before["a.c"] and _times(tool)["b.c"] > before["b.c"]
    before = _times(tool)
    assert tool.insert(pristine, "--without=quick").returncode == 0
    assert _times(tool) == before
    assert tool.insert(pristine).returncode == 0
    assert (tool.tree / "b.c").read_text() == "quick\nend\n"
    assert (tool.tree / "a.c").read_text() == "here\nzvmlab\n"


def test_changes_that_do_not_fit_leave_those_before(tool: Tool) -> None:
    pristine = _two(tool)
    assert tool.insert(pristine).returncode == 0
    tool.change("//@ file: a.c\n//@ after: gone\nzvmlab\n", "port", "port")
    done = tool.insert(pristine, "--without=quick")
    assert done.returncode == 1 and "'gone' is in 0 lines" in done.stderr
    assert (tool.tree / "a.c").read_text() == "here\nzvmlab\n"
    assert (tool.tree / "b.c").read_text() == "quick\nend\n"


def test_only_what_makes_it_faster_can_be_left_out(tool: Tool) -> None:
    _two(tool)
    done = tool.insert("--without=port")
    assert done.returncode == 2
    # Python 3.12 and later write the names without quotation marks.
    assert re.search(r"invalid choice: 'port' \(choose from '?quick'?\)", done.stderr)
    assert (tool.tree / "a.c").read_text() == "here\n"


def test_patches_are_a_series_for_git(tool: Tool, tmp_path: Path) -> None:
    """Applied to the pristine files by git, they make what is made for the build."""
    tool.write("a.c", LINES)
    tool.write("sub/b.c", FUNCTIONS)
    tool.change("//@ file: a.c\n//@ before: here\nnew\n\n//@ file: sub/b.c\n//@ in: a()\n"
                "//@ replace: here\n    there\n", "mend", "corrections")  # fmt: skip
    tool.change("//@ file: a.c\n//@ replace: new\nnewer\n", "hasten", "speed")
    tool.change("//@ file: a.c\n//@ for: 11.1\n//@ before: here\nnewest\n", "later", "port")
    out, repository = tmp_path / "out", tmp_path / "repository"
    done = tool.run("patches.py", str(out), str(tool.tree))
    assert done.stdout == f"2 patches are in {out / '10.0'}\n", done.stderr
    assert (tool.tree / "a.c").read_text() == LINES
    first, second = sorted((out / "10.0").iterdir())
    assert (first.name, second.name) == ("0001-part-mend-it.patch", "0002-part-hasten-it.patch")
    assert "\nSubject: [PATCH 1/2] part: mend it\n\nIt was wrong.\n---\n" in first.read_text()
    assert "\n-new\n+newer\n here it is\n" in second.read_text()
    again = tool.run("patches.py", str(tmp_path / "again"), str(tool.tree))
    assert again.returncode == 0
    assert (tmp_path / "again" / "10.0" / first.name).read_bytes() == first.read_bytes()
    shutil.copytree(tool.tree, repository)
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (
        ["init"],
        ["add", "."],
        ["commit", "-m", "QEMU"],
        ["am", str(first), str(second)],
    ):
        subprocess.run([*git, *words], check=True, capture_output=True, timeout=60)
    assert tool.insert().returncode == 0
    for name in ("a.c", "sub/b.c"):
        assert (repository / name).read_text() == (tool.tree / name).read_text()


def _ours() -> list[Path]:
    return [file for file in (QEMU / "changes").rglob("*") if file.is_file()]


def test_our_changes_are_for_the_versions_that_are_built() -> None:
    """Of each kind, and each says its licence and a subject that fits a commit."""
    program = (
        "import qemu_change\nfor c in qemu_change.load():\n"
        "    print(len(c.subject) <= 72, c.kind, bool(c.text), bool(c.within('10.0')))"
    )
    argv = [sys.executable, "-B", "-c", program]
    done = subprocess.run(argv, cwd=QEMU, capture_output=True, text=True, check=True, timeout=60)
    lines = done.stdout.splitlines()
    assert len(lines) == len(_ours())
    assert set(lines) == {f"True {kind} True True" for kind in ("corrections", "speed", "port")}


def test_lines_for_all_targets_name_no_targets_type() -> None:
    """QEMU compiles accel/tcg once for all targets: a macro of one would not be seen there."""
    texts = [part for file in _ours() for part in file.read_text().split("@ file: ")[1:]]
    texts = [text for text in texts if not text.startswith("target/")]
    assert len(texts) > 5
    assert not any("target_ulong" in text or "TARGET_PAGE_WRITE" in text for text in texts)
