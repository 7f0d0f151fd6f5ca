# SPDX-License-Identifier: MIT
"""zvmlab completion: the shells themselves offer what the programs' help lists."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from zvmlab.base.errors import CannotRun
from zvmlab.cli.complete import SHELLS, Command, Option, ask, of_help, of_parser
from zvmlab.cli.main import parser

ZVMLAB = Path(__file__).resolve().parents[2] / "zvmlab"
TREE = of_parser("zvmlab", parser())
TOOL = {
    (): """\
Usage: tool COMMAND [OPTION...]
Does something.

  get        show it
  set-all    change it
""",
    (
        "get",
    ): """\
Usage: tool get [OPTION...]

 Output:
  -f, --format=FORMAT        table (default), or json, whose lines are
                             long
  -q                         say nothing
      --range[=NAME]         a range

  -?, --help                 Give this help list
""",
    ("set-all",): "Usage: tool set-all [OPTION...]\n",
}


def in_shell(shell: str, script: str, *words: str) -> list[str]:
    """What a shell prints, line by line."""
    argv = {
        "bash": ["bash", "--norc", "-c"],
        "zsh": ["zsh", "-f", "-c"],
        "fish": ["fish", "-N", "-c"],
    }
    done = subprocess.run(
        [*argv[shell], script, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "TERM": "dumb"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def offered(shell: str, tree: Command, folder: Path, *words: str) -> set[str]:
    """What bash or fish offers behind these words, the last of which is incomplete."""
    file = folder / f"completion.{shell}"
    file.write_text(SHELLS[shell](tree))
    if shell == "fish":
        line = " ".join([tree.name, *words])
        found = in_shell("fish", f"source {file}; complete -C '{line}'")
        return {one.split("\t")[0] for one in found}
    listed = " ".join(f"'{word}'" for word in [tree.name, *words])
    function = "_" + tree.name
    script = (
        f"source {file}; COMP_WORDS=({listed}); COMP_CWORD={len(words)};"
        f' {function}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    return set(in_shell("bash", script)) - {""}


def helped(*words: str) -> str:
    done = subprocess.run(
        [str(ZVMLAB), *words, "--help"], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_commands_are_those_of_the_help(shell: str, tmp_path: Path) -> None:
    listed = set(re.findall(r"^    ([a-z]+) {2,}\S|^    ([a-z]+)$", helped(), re.M))
    names = {command or other for command, other in listed}
    assert {"run", "sweep", "completion", "doctor"} < names
    assert offered(shell, TREE, tmp_path, "") == names
    assert offered(shell, TREE, tmp_path, "sw") == {"sweep"}
    assert offered(shell, TREE, tmp_path, "diff", "") == {"drivers", "emulators"}


@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize("words", [("run",), ("sweep",), ("diff", "drivers")])
def test_options_are_those_of_the_help(shell: str, words: tuple[str, ...], tmp_path: Path) -> None:
    listed = set(re.findall(r"^  (?:-\w(?: \S+)?, )?(--[a-z][a-z-]*)", helped(*words), re.M))
    assert len(listed) > 5
    assert offered(shell, TREE, tmp_path, *words, "--") == listed


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_values_where_they_are_known(shell: str, tmp_path: Path) -> None:
    assert offered(shell, TREE, tmp_path, "run", "--backend", "") == {"qemu", "hercules"}
    assert offered(shell, TREE, tmp_path, "completion", "") == {"bash", "zsh", "fish"}


def test_value_behind_an_equals_sign(tmp_path: Path) -> None:
    assert offered("bash", TREE, tmp_path, "run", "--backend", "=", "h") == {"hercules"}
    assert offered("bash", TREE, tmp_path, "run", "--backend", "=") == {"qemu", "hercules"}
    assert offered("fish", TREE, tmp_path, "run", "--backend=h") == {"--backend=hercules"}


@pytest.mark.parametrize("shell", SHELLS)
def test_script_is_valid_for_its_shell(shell: str, tmp_path: Path) -> None:
    file = tmp_path / "script"
    file.write_text(SHELLS[shell](TREE))
    subprocess.run([shell, "-n", str(file)], check=True, timeout=60)


def test_zsh_takes_the_functions(tmp_path: Path) -> None:
    """compinit finds the file by its first line, and has the function for the command."""
    (tmp_path / "_zvmlab").write_text(SHELLS["zsh"](TREE))
    script = (
        f"fpath=({tmp_path} $fpath); autoload -Uz compinit; compinit -u -D; print $_comps[zvmlab]"
    )
    assert in_shell("zsh", script) == ["_zvmlab"]


def test_program_of_tools_by_its_help(tmp_path: Path) -> None:
    tree = of_help("tool", lambda words: TOOL[tuple(words[:-1])])
    get, change = tree.commands
    assert (get.name, get.text, change.name) == ("get", "show it", "set-all")
    assert get.options == (
        Option(("-f", "--format"), "table (default), or json, whose lines are long", True),
        Option(("-q",), "say nothing", False),
        Option(("--range",), "a range", True),
        Option(("-?", "--help"), "Give this help list", False),
    )
    assert offered("bash", tree, tmp_path, "") == {"get", "set-all"}
    assert offered("fish", tree, tmp_path, "get", "--f") == {"--format"}


def test_program_that_does_something_without_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files are offered beside its commands; options are its own, and each once."""
    own = "  -?, --help                 Give this help list\n      --read=X               read X\n"
    helps = {(): own + "\nA command:\n  export     give it away\n", ("export",): own}
    tree = of_help("reader", lambda words: helps[tuple(words[:-1])])
    assert tree.files and not tree.commands[0].files
    assert [option.names for option in tree.named] == [("-?", "--help"), ("--read",)]
    (tmp_path / "extra").touch()
    monkeypatch.chdir(tmp_path)
    assert offered("bash", tree, tmp_path, "ex") == {"export", "extra"}
    assert offered("bash", tree, tmp_path, "--") == {"--help", "--read"}
    assert offered("fish", tree, tmp_path, "ex") >= {"export", "extra"}
    assert "\t_files\n" in SHELLS["zsh"](tree)
    assert "\t_files\n" not in SHELLS["zsh"](of_help("tool", lambda words: TOOL[tuple(words[:-1])]))


def test_program_without_help_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match=r"^'.*nothing --help' does not list its options: "):
        of_help("nothing", ask(tmp_path / "nothing"))


def test_program_that_answers_everything_alike_comes_to_an_end() -> None:
    tree = of_help("tool", lambda words: TOOL[()])
    assert [(command.name, command.commands) for command in tree.commands] == [
        ("get", ()),
        ("set-all", ()),
    ]


def test_program_without_options_is_refused() -> None:
    with pytest.raises(CannotRun, match="^the help of tool lists no options$"):
        of_help("tool", lambda words: "hello\n")
