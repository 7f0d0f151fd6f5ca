# SPDX-License-Identifier: MIT
"""Patches out of mail: which series a thread has, b4 in its order, git's reading of each mail.

b4 takes the patches out of a saved thread, in order and with the trailers of the answers; it needs
no network for that, and is given none.  Before that the thread is looked at here, because b4 makes
one series of whatever there is.
"""

from __future__ import annotations

import email
import email.policy
import mailbox
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.plain import harmless, shortened
from zvmlab.verdict.git import environment, git, need, run

MOST_BYTES = 64 << 20
MOST_MAILS = 2000
B4_SECONDS = 120
_MOST_HEADER, _MOST_SUBJECT = 64 << 10, 2 << 10
"""More bytes take parsers of mail minutes, and no mail of a patch has them."""
_END_OF_HEADER = re.compile(rb"\r?\n\r?\n")
_BEGIN = re.compile(rb"^From \S[^\n]* \d\d?:\d\d[^\n]* \d{4}\b[^\n]*\n", re.MULTILINE)
_ENCODED = re.compile(
    rb"^content-transfer-encoding:[ \t]*(?:quoted-printable|base64)", re.MULTILINE | re.IGNORECASE
)
_SUBJECT_FIELD = re.compile(rb"^subject:.*(?:\n[ \t].*)*", re.MULTILINE | re.IGNORECASE)
_TAG = re.compile(r"\[([^\]]*\bpatch[^\]]*|[^\]]*\bv\d+[^\]]*\d+/\d+[^\]]*)\]", re.IGNORECASE)
_VERSION = re.compile(r"\bv(\d{1,3})\b", re.IGNORECASE)
_COUNT = re.compile(r"\b(\d{1,4})/(\d{1,4})\b")
_ANSWER = re.compile(r"^(?:re|aw|fwd):", re.IGNORECASE)
_DIFF = re.compile(rb"^(?:diff --git |--- \S+\n\+\+\+ )", re.MULTILINE)
_B4 = {
    "b4.attestation-policy": "off",
    "user.name": "zvmlab",
    "user.email": "zvmlab@localhost",
    "core.hooksPath": "/dev/null",
}


@dataclass(frozen=True)
class Mail:
    """A patch as a mail says it."""

    subject: str
    author: str
    diff: bytes
    raw: bytes
    """The mail itself, or the same without its encoding, for checkpatch."""


@dataclass(frozen=True)
class _Place:
    """The place of a mail in its series, by its subject."""

    version: int
    number: int
    total: int
    title: str


def _text(value: object) -> str:
    return harmless(" ".join(str(value).split()), lines=False)


def _place(subject: str) -> _Place | None:
    """The place of a patch or a cover letter; None for anything else."""
    if _ANSWER.match(subject):
        return None
    tag = _TAG.search(subject)
    if tag is None:
        return None
    version, count = _VERSION.search(tag[1]), _COUNT.search(tag[1])
    number, total = (int(count[1]), int(count[2])) if count is not None else (1, 1)
    title = re.sub(r"^(?:\[[^\]]*\]\s*)+", "", subject).strip()
    return _Place(int(version[1]) if version is not None else 1, number, total, title)


def _subject(mail: EmailMessage) -> str:
    try:
        return _text(mail["Subject"] or "")
    except (ValueError, TypeError, IndexError, LookupError):  # the parser of hostile headers
        return ""


def _parse(raw: bytes, where: str) -> EmailMessage:
    header = _END_OF_HEADER.split(raw, 1)[0]
    if len(header) > _MOST_HEADER:
        raise UsageError(f"a mail of {where} has a header of more than {_MOST_HEADER >> 10} KiB")
    if any(len(field) > _MOST_SUBJECT for field in _SUBJECT_FIELD.findall(header)):
        raise UsageError(f"a mail of {where} has a subject of more than {_MOST_SUBJECT >> 10} KiB")
    try:
        mail = email.message_from_bytes(raw, policy=email.policy.default)
    except RecursionError:
        raise UsageError(f"a mail of {where} has too many parts within one another") from None
    assert isinstance(mail, EmailMessage)
    return mail


def split_mbox(data: bytes, where: str) -> list[bytes]:
    """The mails of an mbox.  One begins with a sender and a time: messages have lines "From …", too."""
    ends = [found.span() for found in _BEGIN.finditer(data)] or [(0, data.find(b"\n") + 1)]
    starts = [start for start, _ in ends[1:]] + [len(data)]
    return list(_few((data[at:end] for (_, at), end in zip(ends, starts)), where))


def read_maildir(folder: Path) -> list[bytes]:
    """The mails of a maildir, the new ones, too."""
    files = [file for name in ("cur", "new") for file in sorted((folder / name).glob("*"))]
    return list(_few((file.read_bytes() for file in files if file.is_file()), str(folder)))


def _few(mails: Iterator[bytes], where: str) -> Iterator[bytes]:
    size = 0
    for number, mail in enumerate(mails, 1):
        size += len(mail)
        if number > MOST_MAILS or size > MOST_BYTES:
            raise UsageError(
                f"{where} has more than {MOST_MAILS} mails or {MOST_BYTES >> 20} MiB;"
                " save the thread of the series alone"
            )
        yield mail


def check_thread(mails: Sequence[bytes], where: str) -> str | None:
    """UsageError unless the mails have one series; a sentence if older versions are left out."""
    places: dict[tuple[int, int], _Place] = {}
    for raw in mails:
        mail = _parse(raw, where)
        subject = _subject(mail)
        place = _place(subject)
        if place is None:
            continue
        if place.number and _is_html(mail):
            raise UsageError(
                f"the patch '{shortened(subject)}' of {where} is an HTML mail, which no patch survives;"
                " ask for it as plain text"
            )
        other = places.setdefault((place.version, place.number), place)
        if other.title != place.title or other.total != place.total:
            raise UsageError(
                f"{where} has two series, one with '{shortened(other.title)}' and one with"
                f" '{shortened(place.title)}'; save the thread of one of them"
            )
    return _check_whole(places, where)


def _check_whole(places: dict[tuple[int, int], _Place], where: str) -> str | None:
    patches = {key: place for key, place in places.items() if place.number}
    if not patches:
        raise UsageError(f"{where} has no patch: no subject is that of one, as in '[PATCH 1/2] …'")
    versions = sorted({version for version, _ in patches})
    newest = versions[-1]
    total = max(place.total for (version, _), place in places.items() if version == newest)
    lacks = [number for number in range(1, total + 1) if (newest, number) not in patches]
    if not lacks:
        left = [f"v{version}" for version in versions[:-1]]
        return f"{where} has {', '.join(left)}, too; v{newest} is tried" if left else None
    named = ", ".join(f"{number}/{total}" for number in lacks[:4])
    before = [v for v in versions[:-1] if any((v, number) in patches for number in lacks)]
    if before:
        raise UsageError(
            f"{where} mixes versions: of v{newest} it lacks {named}, which is there as"
            f" v{before[-1]} only; save the whole thread of v{newest}"
        )
    raise UsageError(f"{where} is incomplete: patch {named} is missing")


def _is_html(mail: EmailMessage) -> bool:
    """Is all that it says HTML, so that no patch can be read from it?"""
    kinds = [part.get_content_type() for part in mail.walk() if not part.is_multipart()]
    return "text/html" in kinds and not any(
        kind.startswith("text/") and kind != "text/html" for kind in kinds
    )


def has_ids(mails: Sequence[bytes]) -> bool:
    """Has each mail an id, as b4 needs it?  format-patch gives none."""
    heads = (raw.partition(b"\n\n")[0] for raw in mails)
    return all(re.search(rb"^message-id:", head, re.MULTILINE | re.IGNORECASE) for head in heads)


def by_b4(mails: Sequence[bytes], where: str) -> list[bytes]:
    """The newest series of a thread, in order and with trailers, as b4 gives it."""
    need("b4", "b4", f"reading {where}")
    with tempfile.TemporaryDirectory(prefix="zvmlab-b4-") as name:
        folder = Path(name)
        file = folder / "thread.mbox"
        _write_mbox(file, mails)
        done = run(["b4", "am", "-m", str(file), "-o", "-"], folder, _b4_environment(folder), b"",
                   B4_SECONDS)  # fmt: skip
        if done.returncode != 0 or not done.stdout:
            raise UsageError(f"b4 cannot read a series from {where}: {_last_said(done)}")
        return split_mbox(done.stdout, where)


def fetched(message_id: str) -> list[bytes]:
    """The thread of a message id, from the archive that b4 knows; CannotRun if that is not there."""
    need("b4", "b4", f"fetching {message_id}")
    with tempfile.TemporaryDirectory(prefix="zvmlab-b4-") as name:
        folder = Path(name)
        argv = ["b4", "mbox", "--no-cache", "-o", str(folder), "-n", "thread", "--", message_id]
        done = run(argv, folder, _b4_environment(folder), b"", B4_SECONDS)
        found = sorted(folder.glob("thread*"))
        if done.returncode != 0 or not found:
            raise CannotRun(
                f"<{message_id}> cannot be fetched by b4 from here ({_last_said(done)}); save the"
                " thread to a file, and name that"
            )
        if found[0].is_dir():
            return read_maildir(found[0])
        return split_mbox(found[0].read_bytes(), f"<{message_id}>")


def _last_said(done: subprocess.CompletedProcess[bytes]) -> str:
    """b4 tells first what it does, and at its end what was wrong."""
    said = [line for line in done.stderr.decode(errors="replace").splitlines() if line]
    return shortened(said[-1]) if said else f"exit code {done.returncode}"


def _b4_environment(folder: Path) -> dict[str, str]:
    settings = {"GIT_CONFIG_COUNT": str(len(_B4))}
    for number, (key, value) in enumerate(_B4.items()):
        settings |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return environment(folder) | settings


def _write_mbox(file: Path, mails: Sequence[bytes]) -> None:
    box = mailbox.mbox(file)
    for raw in mails:
        box.add(raw)
    box.close()


def read_patch(raw: bytes, where: str, scratch: Path) -> Mail:
    """One mail as git reads it: encodings, quotes and signatures are its to know."""
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        message, patch = Path(name, "message"), Path(name, "patch")
        words = ["mailinfo", "--encoding=UTF-8", "--no-scissors", str(message), str(patch)]
        info = git(words, scratch, raw.replace(b"\r\n", b"\n")).decode("utf-8", "replace")
        fields = dict(line.split(": ", 1) for line in info.splitlines() if ": " in line)
        diff, said = patch.read_bytes(), message.read_bytes()
    subject = shortened(_text(fields.get("Subject", "")))
    if not _DIFF.search(diff):
        html = "; it is an HTML mail" if _is_html(_parse(raw, where)) else ""
        raise UsageError(f"{where} ('{shortened(subject)}') has no diff{html}")
    author = shortened(_text(fields.get("Author", "")))
    if _ENCODED.search(raw):  # as checkpatch does not read it
        head = f"From: {author} <{_text(fields.get('Email', ''))}>\nSubject: {subject}\n\n"
        raw = head.encode() + said + diff
    return Mail(subject, author, diff, raw)
