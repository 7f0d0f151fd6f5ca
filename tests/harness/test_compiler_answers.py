# SPDX-License-Identifier: MIT
"""kbuild's questions to the compiler: known ones get their answer from the cache, all others its own."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from zvmlab.base import signature
from zvmlab.base.cache import cache_root
from zvmlab.base.decided import FOLDER
from zvmlab.builder.compiler_answers import remembered

QUESTION = ("-Werror", "-mgood=a'b", "-c", "-x", "c", "/dev/null", "-o", ".tmp_1/tmp")
Ask = Callable[..., tuple[int, bool]]


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that notes each call, and takes all options but those with "bad" in them."""
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(signature, "_COARSEST_NS", -3600 * 10**9)
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "x-cc"
    program.write_text(
        f'#!/bin/sh\necho "$*" >>{tmp_path}/calls\ncase "$*" in *bad*) exit 1;; esac\necho said\n'
    )
    (folder / "x-as").write_text("")
    for file in folder.iterdir():
        file.chmod(0o755)
    return program


@pytest.fixture
def ask(compiler: Path, tmp_path: Path) -> Ask:
    """Call the compiler in a build of its own: its exit code, and whether it was really asked."""

    def asked(*words: str, **more: str) -> tuple[int, bool]:
        env = {"PATH": f"{compiler.parent}:{os.environ['PATH']}"} | more
        calls = tmp_path / "calls"
        calls.write_text("")
        with remembered("x-cc", env, "x-") as command:
            done = subprocess.run(
                [*command.split(), *words], env=env, cwd=tmp_path, timeout=60, check=False
            )
        lines = calls.read_text().splitlines()
        assert lines in ([], [" ".join(words)])
        return done.returncode, bool(lines)

    return asked


def test_question_is_asked_once(ask: Ask) -> None:
    assert ask(*QUESTION) == (0, True)
    assert ask(*QUESTION) == (0, False)
    assert ask(*QUESTION[:-1], ".tmp_2/tmp") == (0, False)
    assert ask("-O2", *QUESTION) == (0, True)
    assert ask(*QUESTION) == (0, False)


def test_no_is_not_remembered(ask: Ask) -> None:
    """The compiler says it as well if a disk is full."""
    for _ in range(2):
        assert ask("-mbad", *QUESTION) == (1, True)


@pytest.mark.parametrize(
    "words",
    (
        ("-c", "-o", "a.o", "a.c"),
        ("--version",),
        ("-fplugin=./a.so", *QUESTION),
        ("-include", "a.h", *QUESTION),
        ("@options", *QUESTION),
        ("-c", "-x", "c", "-", "-o", "a.o"),
    ),
)
def test_all_else_is_left_to_the_compiler(words: tuple[str, ...], ask: Ask) -> None:
    for _ in range(2):
        assert ask(*words) == (0, True)


def test_another_compiler_is_asked_again(ask: Ask, compiler: Path) -> None:
    assert ask(*QUESTION) == (0, True)
    with open(compiler, "a", encoding="ascii") as file:
        file.write("exit 1\n")
    assert ask(*QUESTION) == (1, True)


def test_settings_of_the_compiler_belong_to_the_question(ask: Ask) -> None:
    assert ask(*QUESTION) == (0, True)
    assert ask(*QUESTION, COMPILER_PATH="/elsewhere") == (0, True)


@pytest.mark.parametrize(
    "noted", ("{", "[]", '{"state": 1}', "WITH 7", 'WITH {"a": 1}', "WITH [7]")
)
def test_damaged_note_is_none(noted: str, ask: Ask) -> None:
    assert ask(*QUESTION) == (0, True)
    (file,) = (cache_root() / FOLDER).glob("compiler-answers-*.json")
    begin, _, _ = file.read_text().partition('"answer"')
    file.write_text(noted.replace("WITH", f'{begin}"answer":') + "}" * noted.startswith("WITH"))
    assert ask(*QUESTION) == (0, True)
    assert ask(*QUESTION) == (0, False)


def test_folder_that_make_cannot_name(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a folder"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    for _ in range(2):
        assert ask(*QUESTION) == (0, True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    assert ask(*QUESTION) == (0, True)


def test_compiler_that_is_not_there() -> None:
    with remembered("no-such-cc", {"PATH": "/nonexistent"}, "no-") as command:
        assert command == "no-such-cc"
