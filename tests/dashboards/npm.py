# SPDX-License-Identifier: MIT
"""Packages that npm fetches into the cache, once."""

from __future__ import annotations

import subprocess
from pathlib import Path

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import CannotRun, Timeout, ZvmlabError
from zvmlab.base.progress import Progress

SECONDS = 600


def packages(kind: str, wanted: tuple[str, ...], progress: Progress) -> Path:
    """The folder with node_modules, of packages with their versions."""
    with progress.step(f"fetching {', '.join(wanted)}"):
        return entry(kind, digest(*wanted), lambda into: _install(into, wanted), vast=True)


def _install(into: Path, wanted: tuple[str, ...]) -> None:
    (into / "package.json").write_text('{"private": true}\n')
    run(["npm", "install", "--ignore-scripts", "--no-fund", "--no-audit", *wanted], into)


def completed(argv: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A program that has come to its end, with what it printed."""
    try:
        return subprocess.run(
            argv, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise CannotRun(
            f"{argv[0]} is missing: install Debian's packages nodejs, npm, prometheus and chromium"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise Timeout(f"{argv[0]} did not end within {SECONDS} s") from error


def run(argv: list[str], folder: Path) -> None:
    """A program that has to end well."""
    done = completed(argv, folder)
    if done.returncode:
        raise ZvmlabError(f"{argv[0]} failed: {(done.stderr or done.stdout).strip()[:600]}")
