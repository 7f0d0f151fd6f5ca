# SPDX-License-Identifier: MIT
"""Completion for bash, zsh and fish, made from the programs' own help.

    tree = of_parser("zvmlab", parser())              # argparse
    tree = of_help("taskmon", ask(Path("taskmon")))   # a program of tools/, by its --help
    print(SHELLS["fish"](tree))

A script is text that needs no program to run, so that the TAB key answers at once.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zvmlab.base.decided import keep, recall, state_of
from zvmlab.base.errors import EXIT_PASS, CannotRun, ZvmlabError
from zvmlab.cli.options import top_command

_HELP_SECONDS = 30
_PACKAGE = Path(__file__).resolve().parents[1]

Ask = Callable[[Sequence[str]], str]
"""Words of a command line to what the program prints for them."""


@dataclass(frozen=True)
class Option:
    """An option under all its names; without names: a word that is none."""

    names: tuple[str, ...]
    text: str
    takes_value: bool
    values: tuple[str, ...] = ()
    """All that there are; none: anything, a file for example."""


@dataclass(frozen=True)
class Command:
    """A program or a sub-command, and what may follow it."""

    name: str
    text: str
    options: tuple[Option, ...] = ()
    commands: tuple[Command, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The possible words in place of a word without a dash, if they are known."""
        own = [value for option in self.options if not option.names for value in option.values]
        return tuple([command.name for command in self.commands] + own)

    @property
    def files(self) -> bool:
        """Does it do something by itself, with files, although it has commands?"""
        names = {name for option in self.named for name in option.names}
        return bool(self.commands) and not names <= {"-h", "--help", "--version"}

    @property
    def named(self) -> tuple[Option, ...]:
        return tuple(option for option in self.options if option.names)

    def paths(self, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Command]]:
        """It and all commands below it, each with the words that lead there."""
        yield before, self
        for command in self.commands:
            yield from command.paths((*before, command.name))


def of_parser(name: str, parser: argparse.ArgumentParser, text: str = "") -> Command:
    """Read the commands and options of a parser, without those that its help hides."""
    options: list[Option] = []
    commands: list[Command] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for shown in action._choices_actions:
                below = action.choices[shown.dest]
                commands.append(of_parser(shown.dest, below, _one_line(shown.help)))
        elif action.help != argparse.SUPPRESS:
            values = tuple(map(str, action.choices or ()))
            text_of = _one_line(action.help)
            names = tuple(action.option_strings)
            options.append(Option(names, text_of, action.nargs != 0, values))
    return Command(name, text, tuple(options), tuple(commands))


def _one_line(text: str | None) -> str:
    return " ".join((text or "").replace("%%", "%").split())


_COMMAND = re.compile(r"^  ([a-z][a-z-]*) {2,}(\S.*)$")
_OPTION = re.compile(r"^ {2,6}(?:(-\S), )?(-\S|--[a-z][a-z-]*)(\[?=[^ ]+)?(?: +(\S.*))?$")
_MORE = re.compile(r"^ {20,}(\S.*)$")


def of_help(name: str, ask: Ask) -> Command:
    """Read the commands and options of a program from its help, if it looks like that of tools/."""
    found = _of_help(name, ask, (), "")
    if not found.options:
        raise CannotRun(f"the help of {name} lists no options")
    return found


def _of_help(name: str, ask: Ask, before: tuple[str, ...], text: str) -> Command:
    options: list[Option] = []
    commands: list[Command] = []
    for line in ask([*before, "--help"]).splitlines():
        # A command has no commands: a program that answers everything alike comes to an end.
        if not before and (found := _COMMAND.match(line)):
            commands.append(_of_help(found[1], ask, (*before, found[1]), found[2]))
        elif found := _OPTION.match(line):
            names = tuple(word for word in (found[1], found[2]) if word)
            options.append(Option(names, found[4] or "", found[3] is not None))
        elif options and (found := _MORE.match(line)):
            last = options.pop()
            options.append(Option(last.names, f"{last.text} {found[1]}".strip(), last.takes_value))
    known = {name for option in options for name in option.names}
    if commands and "--help" not in known:
        options.append(Option(("--help",), "list the commands", False))
        options.append(Option(("--version",), "print the version", False))
    return Command(name, text, tuple(options), tuple(commands))


def ask(program: Path) -> Ask:
    """Have the program at that path print its help."""

    def run(words: Sequence[str]) -> str:
        argv = [str(program), *words]
        try:
            done = subprocess.run(
                argv,
                capture_output=True,
                text=True,
                timeout=_HELP_SECONDS,
                check=True,
                env={**os.environ, "LC_ALL": "C"},  # the help in English
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise CannotRun(f"'{shlex.join(argv)}' does not list its options: {error}") from error
        return done.stdout

    return run


def _function(command: Command) -> str:
    return "_" + re.sub(r"\W", "_", command.name)


def bash(command: Command) -> str:
    """For bash; the package bash-completion is not needed."""
    paths = " ".join(":".join(path) for path, _ in command.paths() if path)
    lines = [
        f"# {command.name}: what the TAB key offers in bash; made from its options.",
        f"{_function(command)}()",
        "{",
        '\tlocal word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        '\tlocal path="" taken="" values="" options="" words="" files="" at',
        "\t# bash takes --option=value for three words.",
        '\tif [[ $word == "=" ]]; then',
        '\t\tword=""',
        '\telif [[ $before == "=" ]]; then',
        '\t\tbefore="${COMP_WORDS[COMP_CWORD-2]}"',
        "\tfi",
        "\tfor ((at = 1; at < COMP_CWORD; at++)); do",
        f'\t\t[[ " {paths} " == *" ${{path:+$path:}}${{COMP_WORDS[at]}} "* ]] &&',
        '\t\t\tpath="${path:+$path:}${COMP_WORDS[at]}"',
        "\tdone",
        '\tcase "$path" in',
    ]
    for path, one in command.paths():
        names = [name for option in one.named for name in option.names]
        lines += [f"\t{shlex.quote(':'.join(path))})", f"\t\toptions={_quoted(names)}"]
        lines += [f"\t\twords={_quoted(one.words)}"]
        if one.files:
            lines.append("\t\tfiles=1")
        lines += ['\t\tcase "$before" in']
        for option in one.named:
            if option.takes_value:
                lines.append(
                    f"\t\t{'|'.join(option.names)}) taken=1 values={_quoted(option.values)} ;;"
                )
        lines += ["\t\tesac", "\t\t;;"]
    lines += [
        "\tesac",
        "\tif [[ -z $taken && $word == -* ]]; then",
        '\t\tvalues="$options"',
        "\telif [[ -z $taken ]]; then",
        '\t\tvalues="$words"',
        "\tfi",
        "\t# Without an answer bash offers files.",
        '\tmapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")',
        "\tif [[ -n $files && -z $taken && $word != -* ]]; then",
        '\t\tmapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")',
        "\tfi",
        "}",
        f"complete -o default -F {_function(command)} {command.name}",
    ]
    return "\n".join(lines) + "\n"


def _quoted(words: Sequence[str]) -> str:
    return shlex.quote(" ".join(words))


def zsh(command: Command) -> str:
    """For zsh: a file _NAME in a folder of $fpath."""
    lines = [
        f"#compdef {command.name}",
        f"# What the TAB key offers in zsh; made from the options.",
    ]
    for path, one in command.paths():
        lines += ["", *_zsh_function("_".join([_function(command), *path]).replace("-", "_"), one)]
    lines += ["", f'{_function(command)} "$@"']
    return "\n".join(lines) + "\n"


def _zsh_function(name: str, command: Command) -> list[str]:
    lines = [f"{name}()", "{", "\tlocal context state state_descr line", "\ttypeset -A opt_args"]
    words = [f"\t_arguments -C"]
    for option in command.named:
        words += [shlex.quote(_zsh_option(word, option)) for word in option.names]
    if command.commands:
        words += ["'1:command:->command'", "'*::word:->words'"]
    elif command.words:
        words.append(shlex.quote(f"*:word:({' '.join(command.words)})"))
    else:
        words.append("'*:file:_files'")
    lines.append(" \\\n\t\t".join(words))
    if command.commands:
        lines += ["\tcase $state in", "\tcommand)", "\t\tlocal -a commands=("]
        lines += [f"\t\t\t{shlex.quote(f'{one.name}:{one.text}')}" for one in command.commands]
        lines += ["\t\t)", "\t\t_describe command commands"]
        lines += ["\t\t_files"] if command.files else []
        lines += ["\t\t;;", "\twords)"]
        lines.append("\t\tcase $line[1] in")
        for one in command.commands:
            lines.append(f"\t\t{one.name}) {name}_{one.name.replace('-', '_')} ;;")
        lines += ["\t\tesac", "\t\t;;", "\tesac"]
    return [*lines, "}"]


def _zsh_option(name: str, option: Option) -> str:
    text = re.sub(r"([\[\]:\\])", r"\\\1", option.text)
    if not option.takes_value:
        return f"{name}[{text}]"
    value = f"({' '.join(option.values)})" if option.values else "_files"
    joined = "=" if name.startswith("--") else "+"
    return f"*{name}{joined}[{text}]:value:{value}"


def fish(command: Command) -> str:
    """For fish: a file NAME.fish."""
    lines = [f"# {command.name}: what the TAB key offers in fish; made from its options."]
    for path, one in command.paths():
        when = _fish_when(path, [below.name for below in one.commands])
        start = f"complete -c {command.name}{when}"
        for below in one.commands:
            alone = "" if one.files else " -f"
            lines.append(f"{start}{alone} -a {_fish(below.name)} -d {_fish(below.text)}")
        for option in one.options:
            if option.names:
                lines.append(f"{start}{_fish_names(option)} -d {_fish(option.text)}")
            elif option.values:
                lines.append(f"{start} -f -a {_fish(' '.join(option.values))}")
    return "\n".join(lines) + "\n"


def _fish(text: str) -> str:
    """Quote a word for fish, whose quotes know two escapes only."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_when(path: tuple[str, ...], below: Sequence[str]) -> str:
    tests = [f"__fish_seen_subcommand_from {word}" for word in path]
    if below:
        tests.append(f"not __fish_seen_subcommand_from {' '.join(below)}")
    return f" -n {_fish('; and '.join(tests))}" if tests else ""


def _fish_names(option: Option) -> str:
    words = ""
    for name in option.names:
        words += f" -l {name[2:]}" if name.startswith("--") else f" -s {_fish(name[1:])}"
    if option.takes_value:
        words += f" -x -a {_fish(' '.join(option.values))}" if option.values else " -r"
    return words


SHELLS: dict[str, Callable[[Command], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def add_commands(commands: Any) -> None:
    """completion."""
    keys = top_command(
        commands,
        "completion",
        "  source <(zvmlab completion bash)\n"
        "  zvmlab completion fish > ~/.config/fish/completions/zvmlab.fish\n"
        "  zvmlab completion zsh --program build/taskmon > ~/.zfunc/_taskmon",
    )
    keys.add_argument("shell", choices=list(SHELLS), help="the shell that you use")
    keys.add_argument(
        "--program",
        type=Path,
        metavar="PATH",
        help="complete the taskmon, dmmon or monread at " "PATH",
    )
    keys.set_defaults(command=_print)


def _print(arguments: argparse.Namespace) -> int:
    program: Path | None = arguments.program
    if program is None:
        text = _own(arguments.shell)
    else:
        text = SHELLS[arguments.shell](of_help(program.name, ask(program.absolute())))
    sys.stdout.write(text)
    return EXIT_PASS


def _own(shell: str) -> str:
    """The completion of zvmlab itself, cached: it has to import all commands."""
    try:
        state = state_of([_PACKAGE])
        found = recall("completion", shell, state)
    except ZvmlabError:  # without a cache
        state, found = None, None
    if isinstance(found, str):
        return found
    from zvmlab.cli.main import parser

    text = SHELLS[shell](of_parser("zvmlab", parser()))
    keep("completion", shell, state, text)
    return text
