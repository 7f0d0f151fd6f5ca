# SPDX-License-Identifier: MIT
"""A series of patches, however it is named: a file, a folder, commits, a message id.

    series = read_series("thread.mbox", None, scratch)
    for patch in series.patches:
        print(patch.subject, patch.files)
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import digest
from zvmlab.base.errors import UsageError
from zvmlab.base.home import from_home
from zvmlab.base.plain import harmless, shortened
from zvmlab.verdict import mails
from zvmlab.verdict.diffs import FileDiff, parse
from zvmlab.verdict.git import commit_of, git, top_of

WORKTREE, STDIN = "worktree", "-"
_MOST_NAMED = 8
MOST_PATCHES = 200
_RANGE = re.compile(r"(\S*?[^.\s])\.\.([^.\s]\S*)")
_MESSAGE_ID = re.compile(r"<?([^\s<>/@]+@[^\s<>/@]+)>?")
_HEADER = re.compile(rb"\A(?:From |(?:[A-Za-z][\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*)+(?:\r?\n))")
_SUBJECT = re.compile(rb"^subject:", re.MULTILINE | re.IGNORECASE)
_SUFFIXES = (".patch", ".diff", ".eml", ".mbox", ".mbx")


@dataclass(frozen=True)
class Patch:
    """One patch."""

    number: int
    subject: str
    author: str
    diff: bytes
    mail: bytes | None
    """As it was sent; None: it is a diff alone."""
    files: tuple[FileDiff, ...]

    @property
    def where(self) -> str:
        """The patch in sentences."""
        title = f" ('{shortened(self.subject, 100)}')" if self.subject else ""
        return f"patch {self.number}{title}"


@dataclass(frozen=True)
class Series:
    """Patches in the order in which they apply."""

    patches: tuple[Patch, ...]
    base: str | None = None
    """Hash of the commit that they begin at, if it is a part of a repository's history."""
    tree: Path | None = None
    """That repository."""
    note: str | None = None
    """A sentence about what was left out."""

    @property
    def subject(self) -> str:
        """The first patch's, for want of another."""
        return self.patches[0].subject or self.patches[0].files[0].name

    @property
    def names(self) -> set[str]:
        """Names of all files that it touches, before and after."""
        return {name for patch in self.patches for file in patch.files for name in file.names}

    @property
    def digest(self) -> str:
        """Changes with what the series does."""
        return digest(self.base or "", *(patch.diff for patch in self.patches))


def read_series(name: str, tree: Path | None, scratch: Path) -> Series:
    """The series of that name; *tree* is the repository that commits are of.

    *scratch* is an empty folder.  UsageError if there is none, or one that is not taken.
    """
    path = from_home(name)
    if name == STDIN:
        return _of_bytes(_stdin(), "standard input", scratch)
    if name == WORKTREE:
        return _of_worktree(_repository(tree, name))
    if path.is_dir():
        return _of_folder(path, scratch)
    if path.exists():
        return _of_bytes(_read(path), path.name, scratch)
    found = _RANGE.fullmatch(name)
    if found is not None and not found[1].startswith("-"):
        return _of_range(_repository(tree, name), found[1], found[2], scratch)
    message = _MESSAGE_ID.fullmatch(name)
    if message is not None:
        return _of_mails(mails.fetched(message[1]), f"<{message[1]}>", scratch)
    raise UsageError(
        f"'{shortened(name)}' is no series: no file or folder has that name, and it is neither"
        f" COMMIT..COMMIT, '{WORKTREE}', '{STDIN}' nor a message id"
    )


def _repository(tree: Path | None, name: str) -> Path:
    if tree is None:
        raise UsageError(f"'{name}' needs a --kernel that is a source tree in a git repository")
    top = top_of(tree)
    if top is None:
        raise UsageError(f"'{name}' is of a git repository, and {tree} is not the top of one")
    return top


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(mails.MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    return _small(data, str(path))


def _stdin() -> bytes:
    return _small(sys.stdin.buffer.read(mails.MOST_BYTES + 1), "standard input")


def _small(data: bytes, where: str) -> bytes:
    if len(data) > mails.MOST_BYTES:
        raise UsageError(f"{where} has more than {mails.MOST_BYTES >> 20} MiB")
    if not data.strip():
        raise UsageError(f"{where} is empty")
    return data


def _of_folder(folder: Path, scratch: Path) -> Series:
    if (folder / "cur").is_dir() or (folder / "new").is_dir():
        found = mails.read_maildir(folder)
        if not found:
            raise UsageError(f"the maildir {folder} has no mail")
        return _of_mails(found, folder.name, scratch)
    files = sorted(file for file in folder.iterdir() if file.suffix in _SUFFIXES)
    files = [file for file in files if not file.name.startswith("0000-")]
    if not files:
        raise UsageError(
            f"{folder} has no patches (files {', '.join(_SUFFIXES)}), nor is it a maildir"
        )
    raw = [_read(file) for file in files]
    parts: list[Callable[[int], Patch]] = []
    for file, data in zip(files, raw, strict=True):
        for mail in _split(data, file.name) if _is_mail(data) else [data]:
            parts.append(_reader(mail, _is_mail(data), file.name, scratch))
    return _series([part(number) for number, part in enumerate(parts, 1)])


def _reader(data: bytes, is_mail: bool, where: str, scratch: Path) -> Callable[[int], Patch]:
    if is_mail:
        return lambda number: _patch_of_mail(number, data, where, scratch)
    return lambda number: _patch_of_diff(number, data, where)


def _is_mail(data: bytes) -> bool:
    head = _HEADER.match(data)
    return head is not None and _SUBJECT.search(data[: max(head.end(), 20000)]) is not None


def _split(data: bytes, where: str) -> list[bytes]:
    """The mails of an mbox; a mail without an mbox's first line is one."""
    return mails.split_mbox(data, where) if data.startswith(b"From ") else [data]


def _of_bytes(data: bytes, where: str, scratch: Path) -> Series:
    if _is_mail(data):
        return _of_mails(_split(data, where), where, scratch)
    return _series([_patch_of_diff(1, data, where)])


def _of_mails(found: list[bytes], where: str, scratch: Path) -> Series:
    note = None
    if len(found) > 1 or mails.has_ids(found):
        note = mails.check_thread(found, where)
        found = mails.by_b4(found, where) if mails.has_ids(found) else _patches_in_order(found)
    return _series(
        [_patch_of_mail(number, raw, where, scratch) for number, raw in enumerate(found, 1)], note
    )


def _patches_in_order(found: list[bytes]) -> list[bytes]:
    """What format-patch wrote, without the cover letter: its order is the series'."""
    return [raw for raw in found if not re.search(rb"(?mi)^subject: .*\b0+/\d+\]", raw[:20000])]


def _patch_of_mail(number: int, raw: bytes, where: str, scratch: Path) -> Patch:
    mail = mails.read_patch(raw, f"patch {number} of {where}", scratch)
    files = parse(mail.diff, f"patch {number} ('{shortened(mail.subject, 100)}')")
    return Patch(number, mail.subject, mail.author, mail.diff, mail.raw, tuple(files))


def _patch_of_diff(number: int, data: bytes, where: str) -> Patch:
    if data.count(b"\r\n") == data.count(b"\n"):  # as a mail program may have saved it
        data = data.replace(b"\r\n", b"\n")
    data = data if data.endswith(b"\n") else data + b"\n"  # as a selection with the mouse ends
    files = parse(data, where)
    if not files:
        raise UsageError(f"{where} is neither a mail with a patch nor a unified diff")
    return Patch(number, "", "", data, None, tuple(files))


def _series(
    patches: list[Patch],
    note: str | None = None,
    base: str | None = None,
    tree: Path | None = None,
) -> Series:
    if len(patches) > MOST_PATCHES:
        raise UsageError(
            f"the series has {len(patches)} patches; zvmlab tries up to {MOST_PATCHES}"
        )
    return Series(tuple(patches), base, tree, note)


def _of_range(tree: Path, first: str, last: str, scratch: Path) -> Series:
    base, end = commit_of(tree, first), commit_of(tree, last)
    words = ["format-patch", "--stdout", "--no-signature", "--no-renames", "--full-index"]
    words += ["--no-ext-diff", "--no-textconv", f"{base}..{end}"]
    data = git(words, tree)
    if not data.strip():
        raise UsageError(f"{first}..{last} of {tree} has no commit")
    found = _split(data, f"{first}..{last}")
    where = f"{first}..{last}"
    return _series(
        [_patch_of_mail(number, raw, where, scratch) for number, raw in enumerate(found, 1)],
        base=base,
        tree=tree,
    )


def _of_worktree(tree: Path) -> Series:
    """What differs from the last commit, files that git does not know yet included."""
    base = commit_of(tree, "HEAD")
    words = ["diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--full-index", "HEAD", "--"]
    data, left = git(words, tree), []
    for name in git(["ls-files", "--others", "--exclude-standard", "-z"], tree).split(b"\0"):
        if name:
            new = _new_file(tree, os.fsdecode(name))
            data += new
            left += [] if new else [shortened(harmless(os.fsdecode(name)))]
    names = ", ".join(left[:_MOST_NAMED]) + (", …" if len(left) > _MOST_NAMED else "")
    without = f"left out, for git does not know them and they are no text: {names}"
    if not data.strip():
        but = f"; {without}" if left else ""
        raise UsageError(f"nothing in {tree} differs from its last commit, {base[:12]}{but}")
    patch = _patch_of_diff(1, data, f"the changes in {tree}")
    return _series([patch], without if left else None, base, tree)


def _new_file(tree: Path, name: str) -> bytes:
    """A file that git does not know, as a diff; nothing for one that is empty or no text."""
    file = tree / name
    if file.is_symlink() or not file.is_file():
        return b""
    text = _read(file) if file.stat().st_size else b""
    if b"\0" in text:
        return b""
    lines = text.splitlines(keepends=True)
    if not lines:
        return b""
    quoted = os.fsencode(name)
    mode = b"100755" if os.access(file, os.X_OK) else b"100644"
    head = b"diff --git a/%s b/%s\nnew file mode %s\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n"
    body = b"".join(b"+" + line for line in lines)
    end = b"" if body.endswith(b"\n") else b"\n\\ No newline at end of file\n"
    return head % (quoted, quoted, mode, quoted, len(lines)) + body + end
