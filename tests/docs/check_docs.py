# SPDX-License-Identifier: MIT
"""``make check-docs``: runs every command that the documents show, as they show it.

    make check-docs
    make check-docs PAGES="README.md docs/trace.md"

Commands run page by page, from the first to the last, in a clone of the tree.  scenes.toml says what
some of them need beside them, what makes a long one shorter, and which are not run, with the reason.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import shown as documents
from scenes import Page, Scenes, read
from shown import Shown
from stage import Result, Stage

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, UsageError, exit_code
from zvmlab.base.progress import Progress

ROOT = Path(__file__).parents[2]
SCENES = Path(__file__).parent / "scenes.toml"
WANTED = 0.95
"""This share of the commands shown has to be run."""


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="check_docs.py", description=__doc__.split("\n", 1)[0], allow_abbrev=False
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="folder of results")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the tree whose pages are meant")
    parser.add_argument("--scenes", type=Path, default=SCENES, help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help="only list what is shown")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="a page; otherwise all of them")
    return parser.parse_args(argv)


def programs(page: Page, found: Sequence[Shown]) -> dict[str, str]:
    """The files that a page's Python becomes, as the page's entry says.

    All Python has to be of the language, also what only shows how something looks.
    """
    files: dict[str, str] = {}
    for one in found:
        if one.kind != "python":
            continue
        try:
            compile(one.text, one.page, "exec", dont_inherit=True)
        except SyntaxError as error:
            raise UsageError(
                f"{one.page}:{one.line + (error.lineno or 1) - 1}: {error.msg}"
            ) from None
        for word, name in page.programs.items():
            if word in one.text:
                begin = files.get(name, page.before.get(name, ""))
                files[name] = f"{begin}\n{one.text}" if begin else one.text
    if missing := set(page.programs.values()) - files.keys():
        raise UsageError(f"{min(missing)}: no program of the page has the word that names it")
    return files


def run_page(stage: Stage, scenes: Scenes, name: str, found: Sequence[Shown]) -> list[Result]:
    """All commands of a page."""
    page = scenes.pages.get(name, Page())
    folder = stage.begin(page, programs(page, found))
    results = []
    for one in found:
        if one.kind == "sh":
            result = stage.run(one, scenes.command(one), folder)
            results.append(result)
            print(line(result), flush=True)
    return results


def line(result: Result) -> str:
    """The line of a result on a terminal."""
    why = result.problem or result.scene.not_run
    text = f"{result.state:9}  {result.seconds:6.1f} s  {result.shown.place}: {result.shown.first}"
    if why:
        text += f"\n{'':22}{why}"
    if result.problem and result.log:
        text += f"; its output is in {result.log}"
    return text


def share(results: Sequence[Result]) -> float:
    """The part of the commands that was run, whatever came of it."""
    return sum(not result.scene.not_run for result in results) / len(results) if results else 1.0


def judge(results: Sequence[Result]) -> tuple[int, str]:
    """Exit code, and the last line."""
    count = Counter(result.state for result in results)
    part = share(results)
    text = (
        f"{len(results)} commands: {count['run']} run, {count['shortened']} run in a shorter form, "
        f"{count['not run']} not run, {count['FAILED']} failed; {part:.1%} run"
    )
    if part < WANTED:
        text += f", less than {WANTED:.0%}"
    return (EXIT_FAILED if count["FAILED"] or part < WANTED else EXIT_PASS), text


def report(results: Sequence[Result]) -> str:
    """A page of all commands and what came of each."""
    rows = ["# Commands that the documents show", "", judge(results)[1] + ".", ""]
    rows += ["| place | command | result | s |", "|---|---|---|---|"]
    for result in results:
        first = result.shown.first.replace("|", r"\|")
        why = result.problem or result.scene.not_run
        state = f"{result.state}: {why}" if why else result.state
        rows.append(f"| {result.shown.place} | `{first}` | {state} | {result.seconds:.1f} |")
    return "\n".join(rows) + "\n"


def _found(root: Path, names: Sequence[str]) -> dict[str, list[Shown]]:
    known = documents.pages(root)
    for name in names:
        if name not in known:
            raise UsageError(f"{name} is not a page of the tree; there are {', '.join(known)}")
    return {name: documents.shown(root, name) for name in names or known}


def run(argv: Sequence[str]) -> int:
    """The exit code."""
    args = _options(argv)
    scenes = read(args.scenes)
    everything = [one for found in _found(args.tree, ()).values() for one in found]
    if wrong := scenes.unused(everything):
        raise UsageError(f"{args.scenes}: {wrong[0]}; change the entry, or remove it")
    found = _found(args.tree, args.pages)
    if args.list:
        for one in (one for shown in found.values() for one in shown):
            print(f"{one.place}: {one.kind}: {one.first}")
        return EXIT_PASS
    stage = Stage(args.tree, args.build.resolve() / "docs")
    with Progress().step("cloning the tree"):
        stage.make()
    results = [
        result
        for name, shown in found.items()
        if shown
        for result in run_page(stage, scenes, name, shown)
    ]
    page = args.build / "docs" / "report.md"
    page.write_text(report(results), encoding="utf-8")
    code, text = judge(results)
    print(f"{text}; {page}")
    return code


if __name__ == "__main__":
    sys.exit(exit_code(lambda: run(sys.argv[1:])))
