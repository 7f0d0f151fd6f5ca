# SPDX-License-Identifier: MIT
"""Our corrections of Linux: the files, the trees and patches made of them, and what tests know of them."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from zvmlab.base.cache import cache_root
from zvmlab.base.source_change import ChangeError
from zvmlab.builder import linux_corrections
from zvmlab.builder.linux_corrections import (
    LINUX,
    Correction,
    corrected_texts,
    corrected_tree,
    corrections,
    defect_of,
    named,
)
from zvmlab.builder.tree_state import read_files, tree_state

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"\| (\d+) \|.*\| \[(\w+)\]\(\.\./(tests/\w+/test_\w+\.py)\) \| (.*) \|")


def rows() -> dict[str, tuple[str, Path, str]]:
    """Of docs/defects.md: the test's name and file, and the correction, by part and number."""
    page = (ROOT / "docs/defects.md").read_text(encoding="utf-8").partition("\n## In QEMU")[0]
    found, part = {}, ""
    for line in page.splitlines():
        if line.startswith("### "):
            part = line.removeprefix("### ")
        elif match := ROW.fullmatch(line):
            found[f"{part}-{match[1]}"] = (match[2], ROOT / match[3], match[4])
    return found


ALL = corrections()


@pytest.mark.parametrize("one", ALL, ids=lambda one: f"{one.part}-{one.file.stem}")
def test_a_correction_is_of_a_defect_that_has_a_test(one: Correction) -> None:
    """And its message says what is wrong, and how it was tried, as a kernel's patch does."""
    for defect in one.defects:
        test, file, link = rows()[defect]
        assert f"def test_{test}(" in file.read_text(encoding="utf-8")
        assert link.endswith(f"(../{one.file.relative_to(ROOT)})")
    assert re.fullmatch(r"[a-z0-9_/]+(: [a-z0-9_]+)?: [A-Z].{10,60}[^.]", one.change.subject)
    assert re.search(
        r"^(Tried|Only built with this change so far;) ", one.change.text, re.MULTILINE
    )
    text, _, tags = one.change.text.partition("\n\nFixes: ")
    assert max(map(len, text.splitlines())) <= 75
    assert not tags or re.fullmatch(r'[0-9a-f]{12} \("[^\n]+"\)', tags)
    assert not re.search(r"\S  ?-by: |Fixes:", text)


def test_the_page_knows_of_each_correction() -> None:
    corrected = {defect for correction in ALL for defect in correction.defects}
    assert {defect for defect, row in rows().items() if row[2] != "none"} == corrected
    assert len(corrected) >= 50


@pytest.mark.parametrize("series", LINUX.series)
def test_each_place_is_there_once(series: str) -> None:
    """In Debian's source, if the cache has it: `zvmlab fetch source:SERIES`."""
    trees = sorted(cache_root().glob(f"linux-tree-{series}-*/linux"))
    if not trees:
        pytest.skip(f"the cache has no source of Linux {series}")
    texts = corrected_texts(trees[-1], series, ALL)
    assert any(file.endswith("monreader.c") for file in texts)


TEXT = "int one(void)\n{\n\treturn 1;\n}\n"
CHANGE = (
    "/* SPDX-License"
    "-Identifier: GPL-2.0-only */\n/*\n * part: Return two\n *\n"
    " * It was one.\n *\n * Tried.\n */\n//@ file: drivers/a.c\n//@ for: 6.12 7.2\n"
    "//@ replace: \treturn 1;\n\treturn 2;\n"
)


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    """What looks like Linux 7.2."""
    tree = tmp_path / "linux"
    for name, text in {
        "Makefile": "VERSION = 7\nPATCHLEVEL = 2\n",
        "drivers/a.c": TEXT,
        "drivers/b.c": "b\n",
    }.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    return tree


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "corrections"
    (folder / "part").mkdir(parents=True)
    (folder / "part" / "01+12-two.c").write_text(CHANGE, encoding="utf-8")
    return folder


def test_a_tree_of_links_has_the_corrections(tree: Path, folder: Path, tmp_path: Path) -> None:
    """The tree itself stays as it is, and the copy follows both."""
    copy, found = tmp_path / "copy", corrections(folder)
    assert found[0].defects == ("part-1", "part-12")
    corrected_tree(tree, copy, found)
    assert (copy / "drivers/a.c").read_text(encoding="utf-8") == TEXT.replace("1", "2")
    assert (copy / "drivers/b.c").readlink() == tree / "drivers/b.c"
    assert (tree / "drivers/a.c").read_text(encoding="utf-8") == TEXT
    before = (copy / "drivers/a.c").stat().st_mtime_ns
    (tree / "drivers/b.c").rename(tree / "drivers/c.c")
    corrected_tree(tree, copy, found)
    assert sorted(os.listdir(copy / "drivers")) == ["a.c", "c.c"]
    assert (copy / "drivers/a.c").stat().st_mtime_ns == before
    corrected_tree(tree, copy, [])
    assert (copy / "drivers/a.c").readlink() == tree / "drivers/a.c"


def test_links_of_the_tree_are_the_same_in_the_copy(tree: Path, tmp_path: Path) -> None:
    """Or a build of the copy would not begin with what was built of the tree."""
    copy = tmp_path / "copy"
    (tree / "drivers/d.c").symlink_to("b.c")
    (tree / "include").symlink_to("drivers")
    for _ in range(2):
        corrected_tree(tree, copy, [])
        assert (copy / "drivers/d.c").readlink() == Path("b.c")
        assert (copy / "include").readlink() == Path("drivers")
        kept = [
            {name: contents for name, (_, contents) in read_files(top, tree_state(top), {}).items()}
            for top in (tree, copy)
        ]
        assert kept[0] == kept[1] and kept[0]["drivers/d.c"] == "link b.c"
    (tree / "include").unlink()
    (tree / "include").mkdir()
    corrected_tree(tree, copy, [])
    assert (copy / "include").is_dir() and not (copy / "include").is_symlink()


def test_a_place_that_is_gone_is_named(tree: Path, folder: Path, tmp_path: Path) -> None:
    (tree / "drivers/a.c").write_text("int one;\n", encoding="utf-8")
    with pytest.raises(ChangeError) as error:
        corrected_tree(tree, tmp_path / "copy", corrections(folder))
    assert str(error.value) == (
        f"{folder}/part/01+12-two.c:11: '\treturn 1;' is in 0 lines of Linux's drivers/a.c instead of"
        " one; see what that file has there now, and change the place, or remove the change if Linux"
        " does not need it any more"
    )
    assert not (tmp_path / "copy").exists()


def test_a_header_has_a_place(folder: Path) -> None:
    """Linux has none that all files include first."""
    file = folder / "part/01+12-two.c"
    file.write_text(CHANGE.replace("//@ for:", "//@ include: <a.h>\n//@ for:"), encoding="utf-8")
    with pytest.raises(ChangeError, match="01.12-two.c:10: Linux has no header behind which all"):
        corrections(folder)


def test_other_series_and_names_are_refused(tree: Path, folder: Path, tmp_path: Path) -> None:
    (tree / "Makefile").write_text("VERSION = 5\nPATCHLEVEL = 4\n", encoding="utf-8")
    with pytest.raises(ChangeError) as error:
        corrected_tree(tree, tmp_path / "copy", [])
    assert str(error.value) == f"{tree} is Linux 5.4; there are corrections for 6.1, 6.12, 7.2"
    (folder / "part" / "two.c").write_text(CHANGE, encoding="utf-8")
    with pytest.raises(ChangeError, match="part/two.c: a correction's file is called NUMBER-SUBJ"):
        corrections(folder)


HEADER = CHANGE.replace("drivers/a.c", "include/net/a.h").replace("return 1", "RETURN 1")


def test_what_is_built_in_cannot_be_corrected_as_a_module(
    tree: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header is of the modules that include it, and lies beside their sources when they are built."""
    monkeypatch.syspath_prepend(str(ROOT / "corrections"))
    modules = importlib.import_module("corrected_modules")
    (tree / "include/net").mkdir(parents=True)
    (tree / "include/net/a.h").write_text("\tRETURN 1;\n", encoding="utf-8")
    (folder / "part" / "02-header.c").write_text(HEADER, encoding="utf-8")
    (tmp_path / "config").touch()
    cases: list[tuple[str, str, list[str], list[str]]] = [
        ("obj-y := a.o", "", [], ["drivers/a.c", "include/net/a.h"]),
        ("obj-m := a.o", "", ["01+12-two"], ["include/net/a.h"]),
        ("obj-m := a.o", "#include <net/a.h>\n", ["01+12-two", "02-header"], []),
    ]
    for objects, include, made, left in cases:
        (tree / "drivers/Makefile").write_text(f"{objects}\n", encoding="utf-8")
        (tree / "drivers/a.c").write_text(include + TEXT, encoding="utf-8")
        modular = modules.Modular(tree, tmp_path / "config")
        for correction in corrections(folder):
            modular.add(correction, "7.2")
        assert [one.file.stem for one in modular.made] == made
        names = ("01+12-two", "02-header")[2 - len(left) :]
        assert modular.left_out == [
            f"part {name}: the kernel has {file} built in" for name, file in zip(names, left)
        ]
    files = {name: file.data.decode() for name, file in modular.files("drivers").items()}
    assert files == {
        "drivers/a.c": '#include "a.h"\n' + TEXT.replace("1", "2"),
        "drivers/a.h": "\treturn 2;\n",
    }


@pytest.mark.parametrize("others", [[], ["a.c"], ["b.c"]], ids=["alone", "same", "other"])
def test_module_of_a_newer_tree_brings_what_that_has_corrected(
    tree: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: list[str]
) -> None:
    """A correction that this series does not need counts if a module is built from the file."""
    monkeypatch.syspath_prepend(str(ROOT / "corrections"))
    modules = importlib.import_module("corrected_modules")
    (folder / "part" / "01+12-two.c").unlink()
    (tree / "drivers/Makefile").write_text("obj-m := a.o b.o\n", encoding="utf-8")
    (tmp_path / "config").touch()
    older = CHANGE.replace("for: 6.12 7.2", "for: 6.1")
    (folder / "part" / "03-older.c").write_text(older, encoding="utf-8")
    for number, name in enumerate(others, 4):
        (tree / "drivers" / name).write_text(TEXT, encoding="utf-8")
        text = CHANGE.replace("drivers/a.c", f"drivers/{name}")
        (folder / "part" / f"0{number}-{name[0]}.c").write_text(text, encoding="utf-8")
    modular = modules.Modular(tree, tmp_path / "config")
    for correction in corrections(folder):
        modular.add(correction, "7.2")
    brought = ["03-older"] if others == ["a.c"] else []
    made = [f"04-{name[0]}" for name in others]
    assert [one.file.stem for one in modular.corrected] == [*made, *brought]


@pytest.mark.parametrize("objects, left", [("obj-m := b.o", []), ("obj-y := b.o", ["net/b.c"])])
def test_all_modules_that_include_a_header_are_built(
    tree: Path,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    objects: str,
    left: list[str],
) -> None:
    """A module that is not corrected has the header as the others have it, and what is not built counts not."""
    monkeypatch.syspath_prepend(str(ROOT / "corrections"))
    modules = importlib.import_module("corrected_modules")
    texts = {
        "include/net/a.h": "\tRETURN 1;\n",
        "drivers/Makefile": "obj-m := a.o\n",
        "drivers/a.c": "#include <net/a.h>\n" + TEXT,
        "net/Makefile": objects + "\n",
        "net/b.c": "#include <net/a.h>\n",
        "net/unused.c": "#include <net/a.h>\n",
    }
    for name, text in texts.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    (folder / "part" / "02-header.c").write_text(HEADER, encoding="utf-8")
    (tmp_path / "config").touch()
    modular = modules.Modular(tree, tmp_path / "config")
    for correction in corrections(folder):
        modular.add(correction, "7.2")
    wanted = [f"part 02-header: the kernel has {file} built in" for file in left]
    assert modular.left_out == wanted
    files = {name: file.data.decode() for name, file in modular.files("net").items()}
    corrected = {"net/b.c": '#include "a.h"\n', "net/a.h": "\treturn 2;\n"}
    assert files == ({} if left else corrected)


def _patches(*words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-B", str(ROOT / "corrections/linux_patches.py"), *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "harness")}
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=120)


def test_patches_of_a_tree_that_has_another_text(tree: Path, tmp_path: Path) -> None:
    done = _patches(str(tmp_path / "out"), str(tree))
    first = linux_corrections.FOLDER / "af_iucv" / "01-poll-of-a-listener.c"
    assert done.returncode == 1
    assert re.fullmatch(
        rf"{first}:\d+: {tree}/net/iucv/af_iucv.c cannot be read: No such file or directory;"
        " see where Linux has it now, and change the line with 'file'\n",
        done.stderr,
    )


def test_an_author_has_a_name_and_an_address(tree: Path, tmp_path: Path) -> None:
    done = _patches("--author", "me", str(tmp_path / "out"), str(tree))
    assert done.returncode == 2
    assert "--author 'me' is not of the form 'NAME <MAIL>'" in done.stderr


def test_who_signs_off_stands_with_other_trailers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "corrections"))
    patches = importlib.import_module("linux_patches")
    fixes = 'Fixes: 0123456789ab ("part: Return one")'
    for text, between in (("Tried.", "\n\n"), (f"Tried.\n\n{fixes}", "\n")):
        file = folder / "part" / "01+12-two.c"
        file.write_text(CHANGE.replace("Tried.", text.replace("\n", "\n * ")), encoding="utf-8")
        change = corrections(folder)[0].change
        message = f"part: Return two\n\nIt was one.\n\n{text}"
        assert patches.message_of(change, "") == message
        signed = f"{message}{between}Signed-off-by: A <a@b>"
        assert patches.message_of(change, "A <a@b>") == signed


@pytest.mark.parametrize(
    ("mark", "number", "reason", "expected"),
    [
        ("upstream_defect", 5, "open waits", "monreader-5"),
        ("kernel_defect", 9, "a character is cut off", "kernel-9"),
        ("kernel_defect", 2, "dcssblk: it is not saved", "dcssblk-2"),
        ("kernel_defect", 3, "poll: it is not shown", "kernel-3"),
    ],
)
def test_a_mark_is_about_a_defect(mark: str, number: int, reason: str, expected: str) -> None:
    assert defect_of(mark, number, reason) == expected


def test_drivers_on_one_page_count_together() -> None:
    assert named(["cmm-9", "monreader-5", "dcssblk-2"]) == {"kernel-9", "monreader-5", "dcssblk-2"}
