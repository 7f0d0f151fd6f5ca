# SPDX-License-Identifier: MIT
"""Writes ``compile_commands.json``, which clangd and other tools read.

    make -nB V=1 all unit tools | ci/compile_commands.py > compile_commands.json

Standard input is what make would run; each command that compiles a file of C gives an entry.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path


def entries(lines: Iterable[str], folder: Path) -> list[dict[str, object]]:
    """One entry for each source, that of the last command that compiles it."""
    found: dict[str, dict[str, object]] = {}
    for line in lines:
        if " -c " not in line:
            continue
        words = shlex.split(line)
        if words[-1].endswith(".c"):
            found[words[-1]] = {"directory": str(folder), "arguments": words, "file": words[-1]}
    return [found[name] for name in sorted(found)]


def main() -> int:
    """Return: exit code."""
    made = entries(sys.stdin, Path.cwd())
    if not made:
        print("compile_commands.py: no command on standard input compiles a file", file=sys.stderr)
        return 1
    json.dump(made, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
