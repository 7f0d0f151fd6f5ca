# SPDX-License-Identifier: MIT
"""Programs of ci/ and the like, in the process of the test: a fresh Python takes longer than they do."""

from __future__ import annotations

import contextlib
import io
import runpy
import subprocess
import sys
from pathlib import Path


def run_script(script: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """``python3 SCRIPT WORDS``: exit code, and what it wrote; what it imports beside it goes again."""
    out, err = io.StringIO(), io.StringIO()
    argv = [str(script), *map(str, words)]
    kept, path, modules = sys.argv, list(sys.path), dict(sys.modules)
    sys.argv = argv
    sys.path.insert(0, str(script.parent))
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv, sys.path[:] = kept, path
        for name in sys.modules.keys() - modules.keys():
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and Path(file).parent == script.parent:
                del sys.modules[name]
    if isinstance(code, str):
        err.write(f"{code}\n")
    number = code if isinstance(code, int) else 0 if code is None else 1
    return subprocess.CompletedProcess(argv, number, out.getvalue(), err.getvalue())
