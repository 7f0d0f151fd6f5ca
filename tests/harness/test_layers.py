# SPDX-License-Identifier: MIT
"""ci/layers.py, which `make lint` runs: small trees with one thing wrong in each."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted import run_script

from zvmlab.base.tree import TREE

GOOD = {
    "ci/layers.toml": """
        [python.pack]
        pack = ["low"]
        low = []
        high = ["low"]
        [c]
        "lib/lower" = []
        "sim/upper" = ["lib/lower"]
    """,
    "pack/__init__.py": "",
    "pack/low/__init__.py": "",
    "pack/low/one.py": "from __future__ import annotations\nimport os\n",
    "pack/low/two.py": "from pack.low import one\n",
    "pack/high/__init__.py": "",
    "pack/high/three.py": "def f():\n    from pack.low.two import one\n",
    "lib/lower/module.mk": "SOURCES := *.c\nINCLUDES := include\n",
    "lib/lower/include/parts/all.h": "",
    "lib/lower/own.h": "",
    "lib/lower/lower.c": '#include "own.h"\n#include <stdio.h>\n',
    "sim/upper/module.mk": "SOURCES := *.c\nINCLUDES := .\nUSES := lib/lower\n",
    "sim/upper/upper.h": "",
    "sim/upper/upper.c": "#include <parts/all.h>\n#include <upper.h>\n",
    "tests/any/module.mk": "SOURCES := *.c\nUSES := sim/upper\nINSIDE := lib/lower\n",
    "tests/any/any.c": "#include <upper.h>\n",
}


def _said(root: Path, files: dict[str, str]) -> tuple[int, str]:
    """Exit code and output for the good tree with some files changed or added."""
    for name, text in (GOOD | files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "\n".join(line.strip() for line in text.split("\n")) if "[" in text else text
        )
    done = run_script(TREE / "ci/layers.py", root)
    return done.returncode, done.stdout + done.stderr


def test_good_tree(tmp_path: Path) -> None:
    assert _said(tmp_path, {}) == (0, "")


def test_this_tree() -> None:
    done = run_script(TREE / "ci/layers.py")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            {"pack/low/four.py": "import os\nfrom pack.high import three\n"},
            "pack/low/four.py:2: low may not use high (pack/high/three.py)",
        ),
        (
            {"pack/low/four.py": "def late():\n    import pack.high.three\n"},
            "pack/low/four.py:2: low may not use high (pack/high/three.py)",
        ),
        (
            {"pack/low/one.py": "def late():\n    from pack.low.two import one\n"},
            "files use each other: pack/low/one.py -> pack/low/two.py -> pack/low/one.py",
        ),
        (
            {"lib/lower/lower.c": "\n# include <upper.h>\n"},
            "lib/lower/lower.c:2: lib/lower may not use sim/upper (sim/upper/upper.h)",
        ),
        (
            {"lib/lower/lower.c": '#include "../../sim/upper/upper.h"\n'},
            "lib/lower/lower.c:1: lib/lower may not use sim/upper (sim/upper/upper.h)",
        ),
        (
            {"lib/lower/module.mk": "SOURCES := *.c\nUSES := sim/upper\n"},
            "lib/lower/module.mk: USES names sim/upper, which lib/lower may not use",
        ),
        (
            {"sim/upper/module.mk": "SOURCES := *.c\nINSIDE := lib/lower\n"},
            "sim/upper/module.mk: INSIDE is for tests only",
        ),
        (
            {
                "lib/lower/own.h": "#include <parts/all.h>\n",
                "lib/lower/include/parts/all.h": "#include <own.h>\n",
            },
            "files use each other: lib/lower/include/parts/all.h -> lib/lower/own.h"
            " -> lib/lower/include/parts/all.h",
        ),
    ],
    ids=[
        "import",
        "late import",
        "circle of modules",
        "include",
        "include by path",
        "use of a module",
        "inside of a module",
        "circle of headers",
    ],
)
def test_what_is_not_allowed(tmp_path: Path, files: dict[str, str], sentence: str) -> None:
    code, said = _said(tmp_path, files)
    assert code == 1
    assert [
        line.removesuffix("; ci/layers.toml says what it may") for line in said.splitlines()
    ] == [sentence]


@pytest.mark.parametrize(
    ("was", "is_now", "sentence"),
    [
        ("low = []", "low = []\nattic = []", "names attic, which has no source"),
        ('high = ["low"]', 'high = ["cellar"]', "names cellar, which has no source"),
        ('high = ["low"]', "", "does not say what high may use"),
        ("low = []", 'low = ["high"]', "has a cycle: high -> low -> high"),
        ('"sim/upper" =', '"sim/attic" =', "names sim/attic, which has no source"),
        ('"sim/upper" = ["lib/lower"]', "", "does not say what sim/upper may use"),
        ('"lib/lower" = []', '"lib/lower" = ["sim/upper"]', "has a cycle: lib/lower -> sim/upper"),
        ("[c]", "[d]", "'c' is missing"),
        ("[c]", "[c", "Expected ']'"),
    ],
)
def test_wrong_table(tmp_path: Path, was: str, is_now: str, sentence: str) -> None:
    table = GOOD["ci/layers.toml"]
    assert table.count(was) == 1
    code, said = _said(tmp_path, {"ci/layers.toml": table.replace(was, is_now)})
    assert (code, len(said.splitlines())) == (2, 1)
    assert sentence in said


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("sim/lone/lone.c", "", "sim/lone/lone.c is in no folder with a module.mk"),
        (
            "sim/upper/module.mk",
            "SOURCES := gone.c\n",
            "SOURCES names gone.c, which does not exist",
        ),
    ],
)
def test_wrong_module(tmp_path: Path, file: str, text: str, sentence: str) -> None:
    code, said = _said(tmp_path, {file: text})
    assert (code, len(said.splitlines())) == (2, 1)
    assert sentence in said
