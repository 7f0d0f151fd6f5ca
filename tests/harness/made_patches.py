# SPDX-License-Identifier: MIT
"""Source trees, patches and threads for tests of series."""

from __future__ import annotations

import email.message
import email.policy
import mailbox
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

DRIVER = "drivers/s390/char/monreader.c"
SOURCE = """\
// A driver that one program uses at a time.
static int mon_in_use;

static int mon_open(void)
{
	int rc = 0;

	if (mon_in_use)
		rc = -EBUSY;
	mon_in_use = 1;
	return rc;
}

static int mon_close(void)
{
	mon_in_use = 0;
	return 0;
}
"""


def make_tree(folder: Path) -> Path:
    """A small source tree of Linux."""
    files = {
        "Makefile": "VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 9\n",
        "Kconfig": "config A\n\tbool\n",
        "arch/s390/Makefile": "",
        "arch/x86/Makefile": "",
        "Documentation/a.rst": "A\n=\n",
        "drivers/s390/char/Makefile": "obj-$(CONFIG_MONREADER) += monreader.o\n",
        DRIVER: SOURCE,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def git(folder: Path, *words: str) -> str:
    """Run git with a name of its own."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_AUTHOR_NAME": "A U Thor",
        "GIT_AUTHOR_EMAIL": "author@example.com",
        "GIT_COMMITTER_NAME": "A U Thor",
        "GIT_COMMITTER_EMAIL": "author@example.com",
    }
    done = subprocess.run(
        ["git", *words], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def make_repository(tree: Path) -> Path:
    """Make a repository of a tree."""
    git(tree, "init", "--quiet")
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message=base")
    return tree


def diff(old: str, new: str, name: str = DRIVER) -> str:
    """A unified diff of one file, made by diff(1)."""
    folder = Path(os.environ["PYTEST_TMP"])
    (folder / "old").write_text(old)
    (folder / "new").write_text(new)
    argv = ["diff", "-u", "--label", f"a/{name}", "--label", f"b/{name}", "old", "new"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return f"diff --git a/{name} b/{name}\n{done.stdout}"


def mail(
    subject: str,
    text: str,
    number: str = "1",
    answers: str | None = None,
    kind: str = "plain",
    ids: bool = True,
) -> bytes:
    """A mail with that text."""
    made = email.message.EmailMessage(policy=email.policy.default)
    made["From"] = "A U Thor <author@example.com>"
    made["To"] = "list@example.org"
    made["Subject"] = subject
    made["Date"] = "Mon, 02 Nov 2026 10:00:00 +0000"
    if ids:
        made["Message-ID"] = f"<{number}@example.com>"
    if answers is not None:
        made["In-Reply-To"] = made["References"] = f"<{answers}@example.com>"
    made.set_content(text, subtype=kind)
    return made.as_bytes()


def patch_text(change: str, message: str = "Say why.") -> str:
    """The body of a patch's mail."""
    signed = "Signed-off-by: A U Thor <author@example.com>"
    return f"{message}\n\n{signed}\n---\n{change}-- \n2.39\n"


def write_mbox(file: Path, mails: Sequence[bytes]) -> Path:
    """A thread saved as an mbox."""
    box = mailbox.mbox(file)
    for one in mails:
        box.add(one)
    box.close()
    return file
