# SPDX-License-Identifier: MIT
"""Reproducers of a case: files that show the finding without the fuzzer.

    DIR/case.json      the case, for zvmlab fuzz --replay
    DIR/scenario.py    a scenario, for zvmlab sweep and zvmlab bisect
    DIR/test_case.py   a test for pytest
    DIR/report.txt     a text with versions, to be mailed
"""

from __future__ import annotations

import json
import pprint
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.version import __version__
from zvmlab.fuzz.case import Case, save
from zvmlab.fuzz.finding import Finding
from zvmlab.fuzz.grammar import Target
from zvmlab.guest.config import UPSTREAM_DRIVER, Artifacts
from zvmlab.scenarios.steps import text_of

_WIDTH = 96
_RUNS = 10
"""So often a case is tried that does not show its finding each time."""

_TREE = "from zvmlab.base.tree import TREE\n"
_SCENARIO = '''# SPDX-License-Identifier: MIT
"""{what}; found by zvmlab fuzz {target}."""

from __future__ import annotations

{imports}from zvmlab.scenarios.context import ANYTHING, Context, scenario

MARK = {mark}

STEPS = {steps}


@scenario(
    "{name}",
    {text!r},
    partner="TESTER",
    modules={modules},
    segments={segments!r},
    cp={cp!r},
    cpus={cpus},
    leaves=(ANYTHING,),
)
def {function}(context: Context) -> None:
    """What prepares the guest, then the case."""
    context.play(MARK)
    context.play(STEPS)
'''

_TEST = '''# SPDX-License-Identifier: MIT
"""{what}; found by zvmlab fuzz {target}.

    PYTHONPATH=harness python3 -m pytest -p zvmlab.pytest_plugin --kernel {kernel} test_case.py
"""

from __future__ import annotations

from pathlib import Path

from zvmlab.fuzz.case import Case
from zvmlab.fuzz.grammar import find
from zvmlab.fuzz.runner import Runner

MARK = {mark}

STEPS = {steps}

CASE = Case({target!r}, tuple(STEPS), tuple(MARK), cpus={cpus}, schedule={schedule})
RUNS = {runs}


def test_case(zvmlab_kernel: str, tmp_path: Path) -> None:
    """No run shows anything that must not be."""
    with Runner(find(CASE.target), zvmlab_kernel, tmp_path, driver={driver!r}) as runner:
        for _ in range(RUNS):
            assert not runner.run(CASE).findings
'''


def _module(name: str) -> str:
    """A module in a scenario; a folder is one of a clone's."""
    return f"str(TREE / {name!r})" if "/" in name else repr(name)


def _python(steps: Sequence[Mapping[str, Any]]) -> str:
    return pprint.pformat([dict(step) for step in steps], width=_WIDTH, sort_dicts=False)


def _in_a_docstring(text: str) -> str:
    """The text without what could end a docstring: a kernel has said it, and what follows is executed."""
    return text.replace("\\", "/").replace('"', "'")


def emit(
    case: Case,
    target: Target,
    kernel: str,
    artifacts: Artifacts,
    findings: Iterable[tuple[Finding, int]],
    runs: int,
    folder: Path,
    driver: str = UPSTREAM_DRIVER,
) -> list[Path]:
    """Write all of them; *findings* with how many of so many *runs* have shown each."""
    shown = list(findings)
    always = any(times == runs for _, times in shown)
    what = shown[0][0].key if shown else "A case that shows nothing"
    words = {
        "what": _in_a_docstring(what),
        "target": case.target,
        "mark": _python(case.mark),
        "steps": _python(case.steps),
        "imports": _TREE if any("/" in name for name in target.modules) else "",
        "modules": f"({''.join(f'{_module(name)}, ' for name in target.modules)})",
        "segments": target.segments,
        "cp": dict(target.cp or {}),
        "cpus": case.cpus,
        "schedule": case.schedule,
        "driver": driver,
        "runs": 1 if always else _RUNS,
        "name": f"fuzz-{case.target.replace('_', '-')}-{case.name[:8]}",
        "function": f"fuzz_{case.target}_{case.name[:8]}",
        "text": what[:80],
        "kernel": _in_a_docstring(kernel),
    }
    files = {
        "scenario.py": _SCENARIO.format(**words),
        "test_case.py": _TEST.format(**words),
        "report.txt": mail(case, kernel, artifacts, shown, runs, driver),
    }
    save(case, folder / "case.json")
    try:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written to: {error.strerror}") from error
    return [folder / name for name in ("case.json", *files)]


def mail(
    case: Case,
    kernel: str,
    artifacts: Artifacts,
    findings: Sequence[tuple[Finding, int]],
    runs: int,
    driver: str,
) -> str:
    """The text, as plain as a mail has to be."""
    lines = [f"{case.target} on {artifacts.kernel_version}", ""]
    for finding, times in findings:
        lines += [finding.key, f"  {times} of {runs} runs", f"  {finding.text}", ""]
    if not findings:
        lines += [f"nothing was seen in {runs} runs", ""]
    lines += ["Steps, of programs in the guest (a, b, c) and of CP:"]
    lines += [f"  {number:2} {text_of(step)}" for number, step in enumerate(case.steps, 1)]
    lines += ["", "Prepared by:", *(f"     {text_of(step)}" for step in case.mark)]
    lines += ["", f"kernel   {artifacts.kernel_version}"]
    lines += [f"zvmlab   {__version__}", f"emulator {artifacts.emulator.parents[1].name}"]
    whose = f" --driver {driver}" if driver != UPSTREAM_DRIVER else ""
    lines += [f"repeat   zvmlab fuzz --replay case.json -n {_RUNS} --kernel {kernel}{whose}"]
    for finding, _ in findings[:1]:
        lines += ["", finding.report] if finding.report else []
    lines += ["", "The case:", json.dumps(case.to_json())]
    return "\n".join(lines) + "\n"
