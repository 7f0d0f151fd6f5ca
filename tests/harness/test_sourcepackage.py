# SPDX-License-Identifier: MIT
"""Upstream tarballs: what the archive lists, and what it only has."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from zvmlab.base.errors import CannotRun
from zvmlab.base.progress import Progress
from zvmlab.builder import packages
from zvmlab.builder.sourcepackage import Tarball

CONTENTS = b"the source\n"
FILE = "name_1.2.1.orig.tar.xz"
PLACE = f"pool/main/n/name/{FILE}"
REFUSED = "'apt-get --download-only' failed: 404"


def known(later: str = "") -> Tarball:
    return Tarball("name", "sid", FILE, hashlib.sha256(CONTENTS).hexdigest(), later)


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in an archive's place, with the file in its pool; apt reads it."""
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(packages, "archive_uri", lambda: f"copy:{tmp_path}/debian/")
    monkeypatch.setattr(packages.Suite, "update", lambda self: True)
    file = tmp_path / "debian" / PLACE
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENTS)
    return tmp_path / "debian"


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that the suite lists; it lists one that is not there if this is empty."""
    names: list[str] = []

    def download_source(self: packages.Suite, name: str, into: Path) -> list[Path]:
        if not names:
            (into / FILE).write_bytes(CONTENTS[:3])
            raise packages.AptRefused(REFUSED)
        for file in names:
            (into / file).write_bytes(CONTENTS if file == FILE else b"another\n")
        return [into / file for file in names]

    monkeypatch.setattr(packages.Suite, "download_source", download_source)
    return names


def fetched(tarball: Tarball) -> bytes:
    file = tarball.fetch(Progress())
    assert file.name == FILE and not file.is_symlink()
    return file.read_bytes()


def test_a_file_that_is_listed_is_taken(archive: Path, listed: list[str]) -> None:
    (archive / PLACE).unlink()
    listed.append(FILE)
    assert fetched(known()) == CONTENTS


@pytest.mark.parametrize("others", [[], ["name_1.3.0.orig.tar.xz"]])
def test_a_file_that_is_not_listed_is_taken_from_the_pool(
    archive: Path, listed: list[str], others: list[str]
) -> None:
    listed += others
    assert fetched(known("name_1.2.*.orig.tar.xz")) == CONTENTS


def test_a_later_point_release_is_taken_if_it_is_listed(archive: Path, listed: list[str]) -> None:
    listed.append("name_1.2.3.orig.tar.xz")
    assert fetched(known("name_1.2.*.orig.tar.xz")) == b"another\n"


@pytest.mark.parametrize(
    ("others", "said"),
    [([], REFUSED), (["name_1.3.0.x"], f"Debian's sid has name_1.3.0.x instead of {FILE}")],
)
@pytest.mark.parametrize("contents", [None, b"what somebody else has put there\n"])
def test_nothing_else_is_taken_from_the_pool(
    archive: Path, listed: list[str], others: list[str], said: str, contents: bytes | None
) -> None:
    listed += others
    (archive / PLACE).unlink()
    if contents is not None:
        (archive / PLACE).write_bytes(contents)
    with pytest.raises(CannotRun) as caught:
        known().fetch(Progress())
    assert str(caught.value) == said


def test_the_hash_of_a_file_that_is_listed_is_compared(archive: Path, listed: list[str]) -> None:
    listed.append(FILE)
    tarball = Tarball("name", "sid", FILE, "0" * 64)
    with pytest.raises(CannotRun, match=f"{FILE} has the hash .* instead of {'0' * 64}"):
        tarball.fetch(Progress())
