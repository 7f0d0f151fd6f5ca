# SPDX-License-Identifier: MIT
"""Which tests a change reaches: ci/affected.py and its table."""

from __future__ import annotations

import fnmatch
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.base.tree import TREE

sys.path.append(str(TREE / "ci"))
from affected import TABLE, Tree, changed  # noqa: E402  # pylint: disable=wrong-import-position


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree(TREE)


def names(chosen: dict[str, str]) -> set[str]:
    return {Path(name).stem for name in chosen}


def test_documents_reach_what_reads_them(tree: Tree) -> None:
    plan = tree.plan(["docs/faults.md", "README.md"])
    assert not plan.units and not plan.guests
    assert "test_fault_points" in names(plan.host)
    assert "test_agent" not in names(plan.host)


def test_part_of_the_core_reaches_its_tests(tree: Tree) -> None:
    """Its own unit tests, those that call it, and guests that use it: no others."""
    plan = tree.plan(["sim/cp/iucv/iucv_message.c"])
    own = {path.stem for path in (TREE / "tests/unit/sim/cp/iucv").glob("test_*.c")}
    assert own and own <= plan.units.keys()
    assert "test_mon_stream" not in plan.units
    assert {"test_iucv", "test_af_iucv", "test_monreader_eio"} <= names(plan.guests)
    assert not {"test_dasd_diag", "test_vmur"} & names(plan.guests)


def test_header_reaches_all_that_is_built_with_it(tree: Tree) -> None:
    every = {path.stem for path in (TREE / "tests/unit/sim/cp").rglob("test_*.c")}
    plan = tree.plan(["sim/cp/include/zvmlab/parts.h"])
    assert every <= plan.units.keys()
    assert {path.stem for path in (TREE / "tests/e2e").glob("test_*.py")} == names(plan.guests)


def test_python_reaches_what_imports_it(tree: Tree) -> None:
    plan = tree.plan(["harness/zvmlab/fabricate/model.py", "tests/e2e/dmstats_lab.py"])
    assert "test_fabricate" in names(plan.host)
    lab = {path.stem for path in (TREE / "tests/e2e").glob("test_dmstats_*.py")}
    assert lab and lab <= names(plan.guests)


def test_program_of_guests_reaches_the_tests_that_name_it(tree: Tree) -> None:
    plan = tree.plan(["tests/e2e/programs/iucvmany.c"])
    assert "test_af_iucv_sockets" in names(plan.guests) and not plan.units
    others = {name for name in names(plan.guests) if not name.startswith("test_af_iucv")}
    assert others <= {"test_around_doors"}


def test_test_reaches_itself(tree: Tree) -> None:
    plan = tree.plan(["tests/e2e/test_vmcp.py", "tests/unit/sim/cp/page/test_page.c"])
    assert (set(plan.guests), set(plan.units)) == ({"tests/e2e/test_vmcp.py"}, {"test_page"})
    assert plan.guests["tests/e2e/test_vmcp.py"] == "it has changed"
    assert [line for line in plan.lines() if line.startswith("unit ")] == [
        "unit   test_page: it has changed"
    ]


def test_each_line_of_the_table_names_files(tree: Tree) -> None:
    table = tomllib.loads((TREE / TABLE).read_text(encoding="utf-8"))["e2e"]
    tests = [path.name for path in (TREE / "tests/e2e").glob("test_*.py")]
    for pattern, wanted in table.items():
        assert list(TREE.glob(pattern)), pattern
        for one in wanted:
            assert fnmatch.filter(tests, one), (pattern, one)
    parts = {path.name for path in (TREE / "sim/cp").iterdir() if path.is_dir()} - {"include"}
    missing = {part for part in parts if f"sim/cp/{part}/*" not in table}
    # Whatever configures all guests reaches all of them.
    assert missing <= {"guests"}


def test_each_line_of_the_other_tables_names_files() -> None:
    table = tomllib.loads((TREE / TABLE).read_text(encoding="utf-8"))
    for helper, module in table["runs"].items():
        assert (TREE / helper).is_file() and (TREE / module / "module.mk").is_file(), helper
    for pattern, wanted in table["unseen"].items():
        assert list(TREE.glob(pattern)), pattern
        assert all(list((TREE / "tests").glob(one)) for one in wanted), pattern


# Changes of one line, by what goes wrong, and a test that looks at just that; noticed.toml has more.
CHANGES = [
    ("sim/cp/diag/diag_250.c", "a block too many", "test_dasd_diag"),
    ("sim/cp/diag/diag_258.c", "another token", "test_pfault"),
    ("sim/cp/iucv/iucv_send.c", "the message limit is one more", "test_af_iucv"),
    ("sim/cp/monitor/appldata.c", "a buffer stays", "test_appldata"),
    ("sim/cp/segment/dcss_file.c", "a page is not saved", "test_dcssblk"),
    ("sim/cp/spool/spool_page.c", "a record is lost", "test_vmur"),
    ("sim/control/cmd_peer.c", "a user is not told", "test_peer"),
    ("sim/replay/verdict.c", "a difference is no failure", "test_replay"),
    ("sim/fabricate/model_event.c", "a lost event is not counted", "test_fabricate"),
    ("driver/mon_fops.c", "another errno", "test_monreader_eio"),
    ("tools/export/http.c", "any password will do", "test_export_monread"),
    ("tools/taskmon/top_screen.c", "a column is narrow", "test_taskmon_screen"),
    ("tools/dmmon/main.c", "an option is gone", "test_dmstats_limits"),
    ("guest/agent/batch.c", "a result is another call's", "test_agent"),
    ("sim/qemu/checkpoint.c", "a CPU is not loaded", "test_fast_start"),
    ("sim/hercules/reload.c", "a register stays", "test_reload"),
    ("harness/zvmlab/agent/channel.py", "a late reply is kept", "test_agent_channel"),
    ("harness/zvmlab/fabricate/model.py", "a limit is one more", "test_fabricate"),
    ("harness/zvmlab/pytest_plugin/speeds.py", "left is not counted", "test_speeds"),
]


@pytest.mark.parametrize(("file", "wrong", "test"), CHANGES)
def test_change_reaches_the_test_that_notices(tree: Tree, file: str, wrong: str, test: str) -> None:
    assert (TREE / file).is_file()
    plan = tree.plan([file])
    assert test in {*plan.units, *names(plan.host), *names(plan.guests)}, wrong


def _git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_what_has_changed(tmp_path: Path) -> None:
    """On the branch, in the index, in the tree; not on the base since then."""
    _git(tmp_path, "init", "-q", "-b", "main")
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("1", encoding="utf-8")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-qm", "one")
    _git(tmp_path, "switch", "-qc", "mine")
    (tmp_path / "a").write_text("2", encoding="utf-8")
    _git(tmp_path, "commit", "-qam", "two")
    _git(tmp_path, "switch", "-q", "main")
    (tmp_path / "c").write_text("2", encoding="utf-8")
    _git(tmp_path, "commit", "-qam", "three")
    _git(tmp_path, "switch", "-q", "mine")
    assert changed(tmp_path, "main") == (["a"], [])
    (tmp_path / "b").write_text("2", encoding="utf-8")
    (tmp_path / "new").write_text("1", encoding="utf-8")
    assert changed(tmp_path, "main") == (["a", "b", "new"], ["b", "new"])
    with pytest.raises(UsageError, match=r"^TESTS=affected: no such base: nobody \(give BASE="):
        changed(tmp_path, "nobody")


def test_nothing_to_compare_with_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(UsageError, match="^TESTS=affected: not a git repository"):
        changed(tmp_path, "main")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="needs git; install the Debian package git$"):
        changed(tmp_path, "main")
