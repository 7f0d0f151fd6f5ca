# SPDX-License-Identifier: MIT
"""The scenarios that come with zvmlab, one file a subject, and those of one's own."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from zvmlab.base.errors import UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.builder.kernels import resolve
from zvmlab.builder.modules import module_graph
from zvmlab.scenarios import (
    applications,
    blocks,
    cards,
    conversations,
    disks,
    drive,
    edges,
    lifecycle,
    links,
    machine,
    paging,
    processors,
    reading,
    records,
    services,
    trouble,
    users,
    writers,
)
from zvmlab.scenarios.context import Scenario
from zvmlab.scenarios.together import TogetherScenario

T = TypeVar("T")


def scenarios_of(module: ModuleType) -> dict[str, Scenario]:
    """The scenarios that a module defines, by name, in their order."""
    found = [value for value in vars(module).values() if isinstance(value, Scenario)]
    return {value.name: value for value in found}


def together_of(module: ModuleType) -> dict[str, TogetherScenario]:
    """Likewise its scenarios of several guests."""
    found = [value for value in vars(module).values() if isinstance(value, TogetherScenario)]
    return {value.name: value for value in found}


BUILT_IN: dict[str, Scenario] = (
    scenarios_of(lifecycle) | scenarios_of(reading) | scenarios_of(trouble)
)
"""Those that can be swept."""
USERS: dict[str, Scenario] = {
    name: scenario
    for module in (
        users,
        services,
        disks,
        records,
        paging,
        applications,
        cards,
        drive,
        links,
        blocks,
        processors,
    )
    for name, scenario in scenarios_of(module).items()
}
"""Those of other parts of the kernel, which can be swept."""
WRITERS: dict[str, Scenario] = scenarios_of(writers)
"""Those of the driver and monwriter together, which can be swept."""
TOGETHER: dict[str, TogetherScenario] = together_of(conversations)
"""Those of two guests on one CP, which can be swept."""
EDGES: dict[str, Scenario] = scenarios_of(edges)
"""Those that cannot be swept: for two drivers, or emulators."""
MACHINE: dict[str, Scenario] = scenarios_of(machine)
"""Those for two emulators only."""


def find(name: str, known: Mapping[str, Scenario] = BUILT_IN | USERS | WRITERS) -> Scenario:
    """A scenario by its name among *known*, or FILE.py:NAME; UsageError if there is none."""
    file, colon, inner = name.rpartition(":")
    if colon and file.endswith(".py"):
        return _choose(scenarios_of(_load(Path(file))), inner, file)
    return _choose(known, name, "zvmlab")


def to_sweep(name: str) -> Scenario | TogetherScenario:
    """A scenario that can be swept by its name, or FILE.py:NAME; UsageError if there is none."""
    file, colon, inner = name.rpartition(":")
    if colon and file.endswith(".py"):
        module = _load(Path(file))
        here: dict[str, Scenario | TogetherScenario] = {}
        here |= scenarios_of(module)
        here |= together_of(module)
        return _choose(here, inner, file)
    known: dict[str, Scenario | TogetherScenario] = {}
    known |= BUILT_IN | USERS | WRITERS
    known |= TOGETHER
    return _choose(known, name, "zvmlab")


def possible(scenarios: Mapping[str, Scenario], kernel: str) -> dict[str, Scenario]:
    """The scenarios whose modules this kernel has: Linux drops drivers.  UsageError: no kernel."""
    found = {}
    # Without modules no kernel is needed, which may have to be fetched.
    resolved = resolve(kernel) if any(one.modules for one in scenarios.values()) else None
    for name, scenario in scenarios.items():
        try:
            if resolved and scenario.modules:
                module_graph(resolved, list(scenario.modules))
        except UsageError:
            continue
        found[name] = scenario
    return found


def _choose(known: Mapping[str, T], name: str, place: str) -> T:
    if name not in known:
        has = ", ".join(known) or "none"
        raise UsageError(
            f"{place} has no scenario {name!r} (it has {has}){did_you_mean(name, known)}"
        )
    return known[name]


def _load(file: Path) -> ModuleType:
    if not file.is_file():
        raise UsageError(
            f"no such file: {file}; use FILE.py:NAME, or a name from 'zvmlab scenarios'"
        )
    spec = importlib.util.spec_from_file_location(f"zvmlab_scenarios_{file.stem}", file)
    assert spec is not None and spec.loader is not None, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses in it look themselves up there
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the user's file raises
        raise UsageError(f"{file} cannot be used: {type(error).__name__}: {error}") from error
    return module
