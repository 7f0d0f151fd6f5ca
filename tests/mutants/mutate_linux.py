# SPDX-License-Identifier: MIT
"""``make mutants LINUX=1``: small changes of Linux' z/VM code; which does no test notice?

docs/mutants.md explains it.

    make mutants LINUX=1 N=100 SEED=7
    make mutants LINUX=1 N=20 FOLDER="af_iucv monwriter" KERNEL=source:7.2
    make mutants LINUX=1 N=100 SEED=7 RESUME=1                       (what a run before has not tried)
    mutate_linux.py --entries build/mutants/linux-survivors.toml     (the same changes once more)
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import changes_c
import judged
import page
from chance import by_chance
from change import Change, Mutant, short
from kept import Kept
from table import ROOT
from trial import Result, Verdict
from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, UsageError, exit_code
from zvmlab.base.hints import did_you_mean
from zvmlab.base.progress import Progress
from zvmlab.builder.tree_name import series_of
from zvmlab.museum.edited import both_sides, changed_files
from zvmlab.museum.suite import Unchanged, mapped_tests, noticing
from zvmlab.verdict.choice import Map, read_map
from zvmlab.verdict.functions import at_line, functions_of
from zvmlab.verdict.sides import PatchedFails, targets_of

MODULES = {
    "af_iucv": ["net/iucv/af_iucv.c"],
    "appldata": [f"arch/s390/appldata/appldata_{part}.c" for part in ("mem", "net_sum", "os")],
    "dcssblk": ["drivers/s390/block/dcssblk.c"],
    "hmcdrv": [
        f"drivers/s390/char/{part}.c"
        for part in ("diag_ftp", "hmcdrv_cache", "hmcdrv_dev", "hmcdrv_ftp", "hmcdrv_mod")
    ],
    "monreader": ["drivers/s390/char/monreader.c"],
    "monwriter": ["drivers/s390/char/monwriter.c"],
    "netiucv": ["drivers/s390/net/netiucv.c"],
    "smsgiucv_app": ["drivers/s390/net/smsgiucv_app.c"],
    "vmlogrdr": ["drivers/s390/char/vmlogrdr.c"],
    "vmur": ["drivers/s390/char/vmur.c"],
}
"""What is built in seconds."""
BUILT_IN = {"hvc_iucv": ["drivers/tty/hvc/hvc_iucv.c"], "iucv": ["net/iucv/iucv.c"]}
"""The kernel itself, which a source tree builds."""
FOLDERS = {**MODULES, **BUILT_IN}
KERNEL = "sid"
"""Packaged, so that no kernel has to be built."""
SECONDS = 7200
"""For the tests of one change: no more than a last resort, because each test has a limit of its own.
On a busy machine the four hundred of af_iucv take a quarter of an hour."""
RESULTS = "linux-results.jsonl"
_BOOT = "(boot)"


def folder_of(file: str) -> str:
    """The name that a file's changes are counted under."""
    return next(folder for folder, files in FOLDERS.items() if file in files)


def reached(
    changes: Sequence[Change], text: str, functions: Mapping[str, Sequence[str]]
) -> list[Change]:
    """Those in functions that a test runs."""
    known = functions_of(text)
    found = []
    for change in changes:
        function = at_line(known, change.line(text))
        if function and set(functions.get(function.name, ())) - {_BOOT}:
            found.append(change)
    return found


def all_mutants(tree: Path, known: Map, folders: Sequence[str]) -> dict[str, list[Mutant]]:
    """Every change that a test could notice, by folder; of all, those that the tree has."""
    for name in folders:
        if name not in FOLDERS:
            hint = did_you_mean(name, list(FOLDERS))
            raise UsageError(f"no folder is {name} (there are {', '.join(FOLDERS)}){hint}")
    found: dict[str, list[Mutant]] = {}
    for folder in folders or MODULES:
        for file in FOLDERS[folder]:
            path = tree / file
            if not path.is_file():
                if folders:
                    raise UsageError(f"the kernel source tree {tree} has no {file}")
                continue
            text = path.read_text(encoding="utf-8")
            made = reached(changes_c.changes(text), text, known.get(file, {}))
            found.setdefault(folder, []).extend(Mutant(file, change, text) for change in made)
    return found


class LinuxRunner:
    """Builds changed modules, and runs the tests of what is changed in guests."""

    def __init__(
        self,
        kernel: str,
        known: Map,
        seconds: float,
        kept: Kept,
        progress: Progress,
        harmless: Collection[tuple[str, str]] = (),
    ) -> None:
        self._kernel = kernel
        self._map = known
        self._kept = kept
        self._progress = progress
        self._harmless = harmless
        self._end = time.monotonic() + seconds
        self._base = Unchanged()

    def several(self, mutants: Sequence[Mutant]) -> list[Result]:
        """Tries all of them, or those for which there is time."""
        results = []
        for mutant in mutants:
            if time.monotonic() >= self._end:
                break
            results.append(self.one(mutant))
        return results

    def one(self, mutant: Mutant) -> Result:
        """Tries a change, or recalls what became of it; all tests would run for a harmless one."""
        known = self._kept.of(mutant)
        if known is not None:
            return known
        if (mutant.file, mutant.changed) in self._harmless:
            return Result(mutant, Verdict.SURVIVED)
        begun = time.monotonic()
        verdict, by, asked = self._judge(mutant)
        what = f"{short(mutant.change.was)} -> {short(mutant.change.became)}"
        shown = f" ({by})" if by else ""
        print(f"{verdict.value}{shown}: {mutant.place}: {what}", flush=True)
        result = Result(mutant, verdict, by, asked, time.monotonic() - begun)
        self._kept.add(result)
        return result

    def _judge(self, mutant: Mutant) -> tuple[Verdict, str, tuple[str, ...]]:
        texts = {mutant.file: mutant.changed}
        try:
            with both_sides(
                self._kernel, lambda tree: changed_files(tree, texts), SECONDS, self._progress
            ) as both:
                tests = tuple(mapped_tests(both.files, self._map))
                modules = both.sides.base.replaced, both.sides.patched.replaced
                if modules[0] and all(map(same_code, *modules)):
                    return Verdict.SAME, "", tests
                found = noticing(both, tests, self._base)
                if found.by:
                    return Verdict.HANG if found.hung else Verdict.NOTICED, found.by, tests
                return Verdict.SURVIVED, "", tests
        except PatchedFails:
            return Verdict.NO_C, "", ()


def same_code(one: Path, other: Path) -> bool:
    """Are two modules the same but for what says how they were built?"""
    return _code(one) == _code(other)


def _code(module: Path) -> bytes:
    left_out = ["--remove-section=.modinfo", "--remove-section=.note.gnu.build-id"]
    with tempfile.NamedTemporaryFile() as file:
        program = "s390x-linux-gnu-objcopy"
        command = [program, "--strip-debug", *left_out, str(module), file.name]
        subprocess.run(command, check=True, timeout=60)
        return Path(file.name).read_bytes()


def _folders(results: list[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(folder_of(result.mutant.file), []).append(result)
    return found


def _judged(root: Path, tree: Path) -> dict[tuple[str, str], str]:
    """Harmless changes of this tree; an entry for a line that another series has is none of it."""
    found = {}
    for entry in judged.load(root / judged.JUDGED, judged.LINUX):
        if not (tree / entry.file).exists():
            continue  # netiucv.c, which newer kernels have not
        try:
            if entry.why.strip():
                found[entry.file, entry.changed(tree)] = entry.why
        except UsageError as error:
            print(f"judged.toml: {error}", file=sys.stderr)
    return found


def _report(args: argparse.Namespace) -> int:
    progress = Progress()
    target = targets_of(args.kernel, progress)[0]
    known = read_map(series_of(target.tree))
    made = args.build / "mutants"
    made.mkdir(parents=True, exist_ok=True)
    if not (args.resume or args.entries):
        (made / RESULTS).unlink(missing_ok=True)
    kept = Kept(made / RESULTS, args.kernel, args.resume)
    reasons = _judged(args.tree, target.tree)
    passed_over = () if args.entries else reasons
    runner = LinuxRunner(args.kernel, known, args.seconds, kept, progress, passed_over)
    if args.entries:
        title = f"Changes of {args.entries}"
        entries = judged.load(args.entries, judged.LINUX)
        tried = runner.several([judged.mutant_of(entry, target.tree) for entry in entries])
    else:
        title = f"{args.number} changes of Linux chosen by chance, seed {args.seed}"
        every = all_mutants(target.tree, known, args.folder)
        tried = by_chance(every, args.number, args.seed, runner.several, _folders)
    parts, opened = [], []
    for folder, results in sorted(_folders(tried).items()):
        left = [result for result in results if result.verdict is Verdict.SURVIVED]
        unjudged = [r for r in left if (r.mutant.file, r.mutant.changed) not in reasons]
        parts.append(page.Part(folder, tuple(results), len(left) - len(unjudged)))
        opened += unjudged
    (made / "linux.md").write_text(page.page(title, parts, reasons), encoding="utf-8")
    entries_text = "\n".join(page.entry(result, judged.LINUX) for result in opened)
    (made / "linux-survivors.toml").write_text(entries_text, encoding="utf-8")
    print("\n".join(page.totals(parts)))
    print(
        f"{made / 'linux.md'} has the survivors, {made / 'linux-survivors.toml'} entries to judge"
    )
    return EXIT_FAILED if opened else EXIT_PASS


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--build", type=Path, default=Path("build"), help="folder of what is made")
    add("--kernel", default=KERNEL, help="a suite of Debian or a source tree")
    add("--number", type=int, default=20, help="changes chosen by chance")
    add("--seed", type=int, default=1, help="another number, other changes")
    add("--folder", action="append", default=[], help="only this driver; repeatable")
    add("--seconds", type=float, default=math.inf, help="begin none after these")
    add("--resume", action="store_true", help="take the results that earlier runs have kept")
    add("--entries", type=Path, help="the changes of a file like linux-survivors.toml")
    add("--tree", type=Path, default=ROOT, help="another clone than this one")
    args = parser.parse_args(argv)
    if args.number < 1:
        parser.error("--number must be 1 or more")
    return args


def main(argv: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    args = _arguments(argv)
    return exit_code(lambda: _report(args), "mutants")


if __name__ == "__main__":
    sys.exit(main())
