# SPDX-License-Identifier: MIT
"""Series of patches: every way to name one, what is refused, and both sides of it on a tree."""

from __future__ import annotations

import email.message
import email.policy
import io
import mailbox
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import made_patches
import pytest
from made_patches import DRIVER, SOURCE, diff, git, mail, make_repository, make_tree, patch_text

from zvmlab.base.cache import cache_root
from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.cli.main import main
from zvmlab.verdict.applied import Applied, File, apply, commit_files
from zvmlab.verdict.diffs import parse, ranges
from zvmlab.verdict.functions import at_line, functions_of
from zvmlab.verdict.overlay import overlay
from zvmlab.verdict.series import Series, read_series

EIO = SOURCE.replace("-EBUSY", "-EIO")
CLOSE = EIO.replace("mon_in_use = 0;", "mon_in_use = 0; /* again */")
needs_b4 = pytest.mark.skipif(shutil.which("b4") is None, reason="b4 is not installed")


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "diffs").mkdir()
    monkeypatch.setenv("PYTEST_TMP", str(tmp_path / "diffs"))
    # Whoever has these must not change what a series is.
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text(
        "[apply]\n\twhitespace = error-all\n[core]\n\thooksPath = /nonexistent\n[diff]\n\tnoprefix = true\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "linux")


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def sides(tree: Path, series: Series, tmp_path: Path, on_top: Series | None = None) -> Applied:
    folder = tmp_path / "apply"
    folder.mkdir()
    return apply(tree, series, on_top, folder)


def data(file: File | None) -> str:
    assert file is not None
    return file.data.decode()


def thread(version: str = "") -> list[bytes]:
    """Two patches with a cover letter, saved out of order, and an answer with a trailer."""
    first, second = diff(SOURCE, EIO), diff(EIO, CLOSE)
    return [
        mail(f"[PATCH{version} 2/2] monreader: again", patch_text(second), "p2", "p0"),
        mail("Re: [PATCH 1/2] monreader: say EIO",
             "> it\n\nReviewed-by: A U Thor <author@example.com>\n", "r1", "p1"),
        mail(f"[PATCH{version} 0/2] monreader: two things", "Cover.\n", "p0"),
        mail(f"[PATCH{version} 1/2] monreader: say EIO", patch_text(first), "p1", "p0"),
    ]  # fmt: skip


@needs_b4
def test_thread_is_read_in_order_with_its_trailers(
    tree: Path, scratch: Path, tmp_path: Path
) -> None:
    file = made_patches.write_mbox(tmp_path / "t.mbox", thread())
    series = read_series(str(file), None, scratch)
    assert [patch.subject for patch in series.patches] == [
        "monreader: say EIO",
        "monreader: again",
    ]
    first = series.patches[0].mail
    assert first is not None and b"Reviewed-by: A U Thor" in first
    both = sides(tree, series, tmp_path)
    assert (data(both.base[DRIVER]), data(both.patched[DRIVER])) == (SOURCE, CLOSE)
    assert both.changed == [DRIVER]


@needs_b4
def test_maildir_and_standard_input_are_the_same_series(
    scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = mailbox.Maildir(tmp_path / "box")
    for one in thread():
        box.add(one)
    file = made_patches.write_mbox(tmp_path / "t.mbox", thread())
    stdin = SimpleNamespace(buffer=io.BytesIO(file.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    found = [read_series(name, None, scratch) for name in (str(tmp_path / "box"), "-", str(file))]
    assert len({series.digest for series in found}) == 1


def test_patches_of_format_patch_need_no_b4(
    tree: Path, scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_repository(tree)
    for text, message in ((EIO, "say EIO"), (CLOSE, "again")):
        (tree / DRIVER).write_text(text)
        git(tree, "commit", "--quiet", "--all", f"--message={message}")
    out = tmp_path / "out"
    git(tree, "format-patch", "--quiet", "--cover-letter", f"--output-directory={out}", "HEAD~2")
    (tmp_path / "one.mbox").write_text(git(tree, "format-patch", "--stdout", "HEAD~2"))
    git(tree, "reset", "--quiet", "--hard", "HEAD~2")
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "b4" else f"/bin/{name}")
    folder = read_series(str(out), None, scratch)
    assert [patch.subject for patch in folder.patches] == ["say EIO", "again"]
    file = read_series(str(tmp_path / "one.mbox"), None, scratch)
    assert [patch.diff.split(b"-- \n")[0] for patch in file.patches] == [
        patch.diff.split(b"-- \n")[0] for patch in folder.patches
    ]
    assert data(sides(tree, folder, tmp_path).patched[DRIVER]) == CLOSE


def test_line_of_a_message_that_begins_with_from_begins_no_mail(
    tree: Path, scratch: Path, tmp_path: Path
) -> None:
    make_repository(tree)
    for text, message in ((EIO, "say EIO\n\nFrom 6.12 on it is EBUSY.\n"), (CLOSE, "again")):
        (tree / DRIVER).write_text(text)
        git(tree, "commit", "--quiet", "--all", f"--message={message}")
    out = tmp_path / "out"
    git(tree, "format-patch", "--quiet", f"--output-directory={out}", "HEAD~2")
    (tmp_path / "one.mbox").write_text(git(tree, "format-patch", "--stdout", "HEAD~2"))
    for name in ("HEAD~2..HEAD", str(out), str(tmp_path / "one.mbox")):
        series = read_series(name, tree, scratch)
        assert [patch.subject for patch in series.patches] == ["say EIO", "again"]
    first = series.patches[0].mail
    assert first is not None and b"From 6.12 on" in first


@pytest.mark.parametrize(
    "begin",
    [
        "From mboxrd@z Thu Jan  1 00:00:00 1970",
        "From - Mon Nov 02 10:00:00 2026\r",
        "From 1@xxx Mon Nov 02 10:00:00 +0000 2026",
        "From someone",
    ],
)
def test_mail_begins_as_programs_write_it(begin: str, scratch: Path, tmp_path: Path) -> None:
    one = mail("[PATCH] monreader: say EIO", patch_text(diff(SOURCE, EIO)), ids=False).decode()
    (tmp_path / "a.mbox").write_text(f"{begin}\n{one}")
    (patch,) = read_series(str(tmp_path / "a.mbox"), None, scratch).patches
    assert patch.subject == "monreader: say EIO"


@pytest.mark.parametrize("encoding", ["quoted-printable", "base64", "8bit"])
def test_checkpatch_gets_the_text_of_a_mail(encoding: str, scratch: Path, tmp_path: Path) -> None:
    made = email.message.EmailMessage(policy=email.policy.default)
    made["From"], made["Subject"] = "A U Thor <author@example.com>", "[PATCH] monreader: say EIO"
    made.set_content(patch_text(diff(SOURCE, EIO), "Because ü."), charset="utf-8", cte=encoding)
    (tmp_path / "a.eml").write_bytes(made.as_bytes())
    (patch,) = read_series(str(tmp_path / "a.eml"), None, scratch).patches
    text = (patch.mail or b"").decode()
    assert "From: A U Thor <author@example.com>\n" in text and "Because ü.\n" in text
    assert text.count("\n---\n") == 1 and "\n+\t\trc = -EIO;\n" in text


def test_plain_diff_is_a_series(tree: Path, scratch: Path, tmp_path: Path) -> None:
    (tmp_path / "a.diff").write_text(diff(SOURCE, EIO))
    series = read_series(str(tmp_path / "a.diff"), None, scratch)
    assert series.patches[0].mail is None and series.subject == DRIVER
    assert data(sides(tree, series, tmp_path).patched[DRIVER]) == EIO


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_diff_is_read_whatever_its_lines_end_with(
    end: str, tree: Path, scratch: Path, tmp_path: Path
) -> None:
    text = diff(SOURCE, EIO).replace("\n", end).removesuffix(end)
    (tmp_path / "a.diff").write_bytes(text.encode("ascii"))
    series = read_series(str(tmp_path / "a.diff"), None, scratch)
    assert data(sides(tree, series, tmp_path).patched[DRIVER]) == EIO


def test_files_without_hunks_are_changed(tree: Path, scratch: Path, tmp_path: Path) -> None:
    """git shows no lines of what is empty, and of what changes in its mode alone."""
    (tree / "empty.h").write_text("")
    text = (
        "diff --git a/Kconfig b/Kconfig\nold mode 100644\nnew mode 100755\n"
        "diff --git a/new.h b/new.h\nnew file mode 100644\nindex 0000000..e69de29\n"
        "diff --git a/empty.h b/empty.h\ndeleted file mode 100644\nindex e69de29..0000000\n"
        f"diff --git a/{DRIVER} b/{DRIVER}\nold mode 100644\nnew mode 100755\n"
        "index 1111111..2222222\n"
    )
    (tmp_path / "a.diff").write_text(text + diff(SOURCE, EIO))
    series = read_series(str(tmp_path / "a.diff"), None, scratch)
    assert [file.name for file in series.patches[0].files] == [
        "Kconfig", "new.h", "empty.h", DRIVER
    ]  # fmt: skip
    both = sides(tree, series, tmp_path)
    assert both.changed == ["Kconfig", DRIVER, "empty.h", "new.h"]
    assert both.patched["Kconfig"] == File(b"config A\n\tbool\n", True)
    assert (both.base["empty.h"], both.patched["empty.h"]) == (File(b""), None)
    assert (both.base["new.h"], both.patched["new.h"]) == (None, File(b""))
    assert both.patched[DRIVER] == File(EIO.encode("ascii"), True)


def test_commits_begin_where_they_say_whatever_is_checked_out(
    tree: Path, scratch: Path, tmp_path: Path
) -> None:
    make_repository(tree)
    (tree / DRIVER).write_text(EIO)
    git(tree, "commit", "--quiet", "--all", "--message=say EIO")
    (tree / DRIVER).write_text(CLOSE)
    (tree / "Kconfig").write_text("config B\n")
    git(tree, "commit", "--quiet", "--all", "--message=later")
    series = read_series("HEAD~2..HEAD~1", tree, scratch)
    both = sides(tree, series, tmp_path)
    assert data(both.base[DRIVER]) == SOURCE and data(both.patched[DRIVER]) == EIO
    # What is checked out has another Kconfig than both.
    assert data(both.base["Kconfig"]) == data(both.patched["Kconfig"]) == "config A\n\tbool\n"
    assert both.changed == [DRIVER]


def test_files_of_a_commit_that_a_partial_clone_lacks_are_named(tree: Path, tmp_path: Path) -> None:
    make_repository(tree)
    (tree / DRIVER).write_text(EIO)
    git(tree, "commit", "--quiet", "--all", "--message=say EIO")
    git(tree, "config", "uploadpack.allowFilter", "true")
    part = tmp_path / "part"
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", f"file://{tree}", str(part))
    found = commit_files(part, "HEAD", {DRIVER, "no/such.c", "drivers"})
    assert found == {DRIVER: File(EIO.encode()), "no/such.c": None, "drivers": None}
    with pytest.raises(UsageError, match="part is a partial clone and lacks what git"):
        commit_files(part, "HEAD~1", {DRIVER})


def test_worktree_is_what_is_not_committed(tree: Path, scratch: Path, tmp_path: Path) -> None:
    make_repository(tree)
    with pytest.raises(UsageError, match="nothing in .* differs"):
        read_series("worktree", tree, scratch)
    (tree / DRIVER).write_text(EIO)
    (tree / "drivers/s390/char/new.c").write_text("int a;\nint b;")
    both = sides(tree, read_series("worktree", tree, scratch), tmp_path)
    assert data(both.base[DRIVER]) == SOURCE and data(both.patched[DRIVER]) == EIO
    new = "drivers/s390/char/new.c"
    assert both.base[new] is None and data(both.patched[new]) == "int a;\nint b;"
    assert git(tree, "status", "--porcelain").split() == ["M", DRIVER, "??", new]


def test_what_a_worktree_leaves_out_is_named(tree: Path, scratch: Path) -> None:
    make_repository(tree)
    (tree / "link").symlink_to(DRIVER)
    (tree / "object.o").write_bytes(b"\0")
    with pytest.raises(UsageError, match="nothing in .* differs.*no text: link, object.o"):
        read_series("worktree", tree, scratch)
    (tree / "new.c").write_text("int a;\n")
    series = read_series("worktree", tree, scratch)
    assert series.note is not None and series.note.endswith("no text: link, object.o")


def test_on_top_is_on_both_sides(tree: Path, scratch: Path, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "1.diff").write_text(diff(SOURCE, EIO))
    (tmp_path / "a.diff").write_text(diff(EIO, CLOSE))
    series = read_series(str(tmp_path / "a.diff"), None, scratch)
    below = read_series(str(tmp_path / "below"), None, scratch)
    both = sides(tree, series, tmp_path, below)
    assert (data(both.base[DRIVER]), data(both.patched[DRIVER])) == (EIO, CLOSE)


def test_message_id_that_cannot_be_fetched_is_exit_77(
    scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "b4").write_text(
        "#!/bin/sh\nprintf 'Grabbing thread\\nno route to lore\\n' >&2\nexit 1\n"
    )
    (tmp_path / "bin" / "b4").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(
        CannotRun, match="<2026-1@example.com> cannot be fetched by b4 from here .no route to lore"
    ):
        read_series("<2026-1@example.com>", None, scratch)


def test_overlay_links_and_replaces_without_touching_the_tree(tree: Path, tmp_path: Path) -> None:
    (tree / "link.c").symlink_to(DRIVER)
    read = ["arch/x86/ras/Kconfig", "arch/x86/entry/syscall_32.tbl", "Documentation/Kconfig"]
    read += ["arch/um/scripts/Makefile.rules"]
    others = [*read, "arch/x86/entry/entry.S", "Documentation/index.rst"]
    for name in others:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(name)
    made = tmp_path / "made"
    overlay(made, tree, {DRIVER: File(b"new\n"), "Kconfig": None, "a/b.c": File(b"b", True)})
    assert (made / DRIVER).read_text() == "new\n" and not (made / DRIVER).is_symlink()
    assert (made / "link.c").read_text() == "new\n", "a link of the tree's own stays in it"
    assert not (made / "Kconfig").exists()
    assert os.access(made / "a/b.c", os.X_OK)
    assert (made / "Makefile").is_symlink()
    assert (made / "Makefile").resolve() == (tree / "Makefile").resolve()
    # Kconfig files name those of other architectures.
    assert [name for name in others if (made / name).exists()] == read
    assert (made / "drivers").is_dir() and not (made / "drivers").is_symlink()
    assert (tree / DRIVER).read_text() == SOURCE


def test_links_of_an_overlay_need_no_block(tmp_path: Path) -> None:
    """File systems keep 59 bytes of a link beside its dates; the others take a block each."""
    tree, name = tmp_path / ("long" * 20) / "tree", "include/dt-bindings/net/iucv/a/file.h"
    (tree / name).parent.mkdir(parents=True)
    (tree / name).write_text("text\n")
    made = tmp_path / "linux"
    overlay(made, tree, {"new.c": File(b"new\n")})
    assert len(os.readlink(made / name)) < 60
    assert (made / name).read_text() == "text\n" and (made / "new.c").read_text() == "new\n"
    (tree / name).write_text("another\n")
    assert (made / name).read_text() == "another\n"


# Whatever is wrong with a series is one sentence and exit code 2, and nothing is left behind.


def _state(folder: Path) -> dict[str, object]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else path.lstat().st_mode
        for path in folder.rglob("*")
    }


HTML = "<html><body>" + "diff --git a/a b/a" + "</body></html>"
TWO = [
    mail("[PATCH] monreader: one", "x\n", "a"),
    mail("[PATCH] iucv: another", "x\n", "b"),
]


def bad_series() -> Iterator[tuple[str, str | list[bytes], str]]:
    """Name, contents (a diff, or mails) and what is said."""
    change = "@@ -1,1 +1,1 @@\n-a\n+b\n"
    yield "nothing", "", "is empty"
    yield "words", "hello\n", "neither a mail with a patch nor a unified diff"
    head = f"--- a/{DRIVER}\n+++ b/{DRIVER}\n"
    other = "@@ -4,3 +4,3 @@\n static int mon_open(void)\n-{{\n+[\n \tint other;\n"
    yield "other", head + other, f"does not apply: hunk 1 of 1 of {DRIVER}, at line 4"
    line = "static int mon_in_use;\n"
    fits = f"@@ -1,3 +1,3 @@\n {SOURCE.splitlines()[0]}\n-{line}+/* */ {line} \n"
    yield "second", head + fits + other, f"hunk 2 of 2 of {DRIVER}, at line 4"
    yield "cut", head + "@@ -1,9 +1,9 @@\n-a\n", "is cut off or damaged: hunk 1 of"
    for number in ("9" * 10, "9" * 5000):
        many = head + f"@@ -{number} +1 @@\n-a\n+b\n"
        yield "number", many, f"hunk 1 of {DRIVER} has a number of more than 9 digits"
    merge = "diff --cc Makefile\n--- a/Makefile\n+++ b/Makefile\n@@@ -1 -1 +1 @@@\n--a\n++b\n"
    yield "merge", merge, "the combined diff of a merge"
    under = "--- /dev/null\n+++ b/Makefile/x.c\n@@ -0,0 +1 @@\n+a\n"
    yield "under", under, "has no folder for Makefile/x.c: a file is in its place"
    yield "folder", f"--- a/drivers\n+++ b/drivers\n{change}", "drivers of "
    yield "none", f"--- a/no/such.c\n+++ b/no/such.c\n{change}", "touches no file of"
    yield "bare", f"--- {DRIVER}\n+++ {DRIVER}\n{change}", "its names need a/ and b/ before them"
    docs = "--- a/Documentation/a.rst\n+++ b/Documentation/a.rst\n@@ -1,2 +1,2 @@\n-A\n+B\n =\n"
    yield "documents", docs, "touches only documentation (Documentation/a.rst)"
    x86 = "--- a/arch/x86/Makefile\n+++ b/arch/x86/Makefile\n@@ -0,0 +1,1 @@\n+b\n"
    yield "x86", x86, "which no kernel for s390 is built from"
    for name in ("a/../../etc/passwd", "a/drivers/../../x", "a/.git/config"):
        yield "out", f"--- {name}\n+++ {name}\n{change}", "leads out of the tree"
    yield "absolute", f"--- /etc/passwd\n+++ /etc/passwd\n{change}", "absolute path '/etc/passwd'"
    link = (
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1,1 @@\n+/etc\n"
    )
    yield "link", link, "symbolic link"
    binary = "diff --git a/l b/l\nindex 1..2\nGIT binary patch\nliteral 1\nIcmZ\n"
    yield "binary", binary, "binary hunk"
    yield "html", [mail("[PATCH] a", HTML, kind="html")], "HTML mail"
    yield "two", TWO, "has two series, one with 'monreader: one' and one with 'iucv: another'"
    mixed = [
        mail("[PATCH v2 1/2] a", "x\n", "a"),
        mail("[PATCH v2 2/2] b", "x\n", "b"),
        mail("[PATCH v3 1/2] a", "x\n", "c"),
    ]
    yield "mixed", mixed, "mixes versions: of v3 it lacks 2/2, which is there as v2 only"
    yield "incomplete", [mail("[PATCH 2/2] b", "x\n", "b")], "is incomplete: patch 1/2 is missing"
    yield "header", [mail("[PATCH] a", "x\n", "a" * (64 << 10))], "a header of more than 64 KiB"
    long = " ".join(["long"] * 500)
    yield "subject", [mail(f"[PATCH] {long}", "x\n", "a")], "a subject of more than 2 KiB"
    parts = "".join(
        f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(2000)
    )
    nested = f"From: a@example.com\nMessage-ID: <a@example.com>\nSubject: [PATCH] a\n{parts}"
    yield "parts", [nested.encode("ascii")], "too many parts within one another"
    yield "talk", [mail("Re: lunch", "x\n"), mail("lunch", "y\n", "2")], "has no patch"


BAD = list(bad_series())


@pytest.mark.parametrize(("name", "contents", "said"), BAD, ids=[name for name, _, _ in BAD])
@pytest.mark.parametrize("repository", [False, True])
def test_bad_series_is_a_sentence(
    name: str,
    contents: str | list[bytes],
    said: str,
    repository: bool,
    tree: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if repository:
        make_repository(tree)
    file = tmp_path / f"{name}.mbox"
    if isinstance(contents, str):
        file.write_text(contents)
    else:
        made_patches.write_mbox(file, contents)
    before = _state(tree)
    assert main(["try", str(file), "--kernel", str(tree)]) == 2
    out, err = capsys.readouterr()
    assert said in err and err.count("\n") == 1 and err.startswith("zvmlab: ")
    assert not out
    assert _state(tree) == before
    assert not list(cache_root().glob("try-*"))


def test_series_that_fits_only_by_fuzz_is_refused(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shifted = SOURCE.replace("if (mon_in_use)", "if (mon_in_use != 0)")
    text = diff(shifted, shifted.replace("\tmon_in_use = 1;\n", "\tmon_in_use = 2;\n"))
    (tmp_path / "a.diff").write_text(text)
    assert main(["try", str(tmp_path / "a.diff"), "--kernel", str(tree)]) == 2
    assert "it applies with fuzz only" in capsys.readouterr().err


def test_series_that_is_there_already_is_named_so(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.diff").write_text(diff(SOURCE, EIO))
    (tree / DRIVER).write_text(EIO)
    assert main(["try", str(tmp_path / "a.diff"), "--kernel", str(tree)]) == 2
    assert "patch 1 of 1 is in this tree already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("series", "said"),
    [
        ("v1..v2", "has no commit 'v1'"),
        ("HEAD..HEAD", "has no commit"),
        ("HEAD...HEAD", "'HEAD...HEAD' is no series"),
        ("no-such-file", "'no-such-file' is no series"),
        ("worktree", "nothing in"),
    ],
)
def test_series_that_is_not_there(
    series: str, said: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_repository(tree)
    assert main(["try", series, "--kernel", str(tree)]) == 2
    assert said in capsys.readouterr().err


def test_commits_need_a_repository(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["try", "a..b", "--kernel", str(tree)]) == 2
    assert "is not the top of one" in capsys.readouterr().err


def test_link_in_the_tree_is_not_followed(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret.c").write_text(SOURCE)
    (tree / DRIVER).unlink()
    (tree / DRIVER).symlink_to(tmp_path / "secret.c")
    (tmp_path / "a.diff").write_text(diff(SOURCE, EIO))
    assert main(["try", str(tmp_path / "a.diff"), "--kernel", str(tree)]) == 2
    assert "symbolic link" in capsys.readouterr().err
    assert (tmp_path / "secret.c").read_text() == SOURCE


def test_nothing_of_a_series_is_executed(tree: Path, scratch: Path, tmp_path: Path) -> None:
    """A patch that brings hooks, attributes and filters is text, and stays it."""
    hook = "#!/bin/sh\ntouch /tmp/zvmlab-was-here\n"
    attributes = "*.c filter=evil\n"
    text = diff(SOURCE, EIO)
    for name, body in (("hooks/post-applypatch", hook), (".gitattributes", attributes)):
        lines = body.splitlines(keepends=True)
        added = "".join(f"+{line}" for line in lines)
        text += f"diff --git a/{name} b/{name}\nnew file mode 100755\n--- /dev/null\n+++ b/{name}\n"
        text += f"@@ -0,0 +1,{len(lines)} @@\n{added}"
    (tmp_path / "a.diff").write_text(text)
    both = sides(tree, read_series(str(tmp_path / "a.diff"), None, scratch), tmp_path)
    assert data(both.patched[DRIVER]) == EIO and data(both.patched[".gitattributes"]) == attributes


def test_changed_lines_belong_to_their_functions() -> None:
    found = functions_of(SOURCE)
    assert [(one.name, one.first, one.last) for one in found] == [
        ("mon_open", 4, 12),
        ("mon_close", 14, 18),
    ]
    assert at_line(found, 2) is None
    (file,) = parse(diff(SOURCE, CLOSE).encode(), "it")
    lines = [line for hunk in file.hunks for line in hunk.added]
    names = [function.name for line in lines if (function := at_line(found, line)) is not None]
    assert (lines, names) == ([9, 16], ["mon_open", "mon_close"])
    assert ranges([16, 9, 10, 11]) == "9-11, 16"


def test_full_disk_is_not_the_fault_of_the_series(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A git of ours writes what the real one does when it cannot write a file."""
    tree = make_tree(tmp_path / "linux")
    (tmp_path / "a.diff").write_text(diff(SOURCE, EIO))
    series = read_series(str(tmp_path / "a.diff"), None, tmp_path)
    folder = tmp_path / "bin"
    folder.mkdir()
    full = folder / "git"
    real = shutil.which("git")
    full.write_text(
        f'#!/bin/sh\ncase "$*" in *apply*)\n'
        "echo 'error: unable to write file x mode 100644: No space left on device' >&2; exit 1\n"
        f'esac\nexec {real} "$@"\n'
    )
    full.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    (tmp_path / "scratch").mkdir()
    with pytest.raises(CannotRun, match="'git' cannot go on, a disk is full"):
        apply(tree, series, None, tmp_path / "scratch")
