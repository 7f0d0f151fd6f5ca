# SPDX-License-Identifier: MIT
"""Folders of ours: claimed when they are empty, removed when they carry the mark."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from zvmlab.base import owned
from zvmlab.base.errors import UsageError
from zvmlab.base.owned import MARK, claim, discard, is_ours, mark, others, renew, some


def test_an_empty_folder_is_claimed_and_removed(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    claim(folder)
    assert os.listdir(folder) == [MARK] and is_ours(folder)
    (folder / "file").touch()
    (folder / "tree").mkdir()
    (folder / "tree" / "file").touch()
    claim(folder)
    assert (folder / "file").exists()
    renew(folder)
    assert os.listdir(folder) == [MARK]
    assert discard(folder) and not folder.exists() and folder.parent.exists()
    assert discard(folder), "there is nothing left to do"


@pytest.mark.parametrize("uses_it", [True, False])
def test_a_folder_that_another_process_claims_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uses_it: bool
) -> None:
    """The mark stays the file that it is, for whoever has locked it."""
    marks = []

    def meanwhile(folder: Path, ours: Callable[[Path], bool]) -> list[str]:
        (folder / MARK).touch()
        marks.append((folder / MARK).stat().st_ino)
        if uses_it:
            (folder / "guest").mkdir()
        return others(folder, ours)

    monkeypatch.setattr(owned, "others", meanwhile)
    claim(tmp_path / "root")
    assert marks == [(tmp_path / "root" / MARK).stat().st_ino]


def test_without_a_mark_nothing_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert not discard(tmp_path) and not discard(file)
    uses: list[Callable[[Path], None]] = [claim, renew]
    for use in uses:
        with pytest.raises(
            UsageError, match=r"contains other files \(file\), and zvmlab removes files there"
        ):
            use(tmp_path)
    assert file.exists() and not is_ours(tmp_path)
    claim(tmp_path, lambda path: path.name == "file")
    assert is_ours(tmp_path)


def test_a_link_is_not_what_it_leads_to(tmp_path: Path) -> None:
    claim(tmp_path / "real")
    claim(tmp_path / "other")
    (tmp_path / "real" / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert not is_ours(tmp_path / "link") and not discard(tmp_path / "link")
    (tmp_path / "other" / "link").symlink_to(tmp_path / "real")
    assert discard(tmp_path / "other")
    assert (tmp_path / "real" / "file").exists()


def test_a_mark_has_its_text_at_once(tmp_path: Path) -> None:
    mark(tmp_path, "one")
    mark(tmp_path, "two")
    assert os.listdir(tmp_path) == [MARK] and (tmp_path / MARK).read_text() == "two"


def test_a_sentence_names_three() -> None:
    assert some("abc") == "a, b, c"
    assert some("abcde") == "a, b, c and 2 more"
