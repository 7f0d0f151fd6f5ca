# SPDX-License-Identifier: MIT
"""Options that a compiler takes, remembered from one build of modules to the next.

kbuild asks the compiler some twenty times at each start, by compiling /dev/null with an option, which takes
more time than a small module.  Between kbuild and the compiler stands a script that knows to which questions,
with all their words, the answer was yes, and leaves everything else to the compiler.  A no is not
remembered: a full disk says it as well.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from zvmlab.base.cache import UNFIT, digest
from zvmlab.base.decided import keep, recall, state_of

_KIND = "compiler-answers"
_ASSEMBLER = "as"
_MOST = 400
_MOST_CHARACTERS = 8 << 10
_VERSION = "1"
# A question is known without the name of the file that is written, which is another one each time.  None is
# known that depends on what is in a file.
_SCRIPT = """\
case "$*" in
*-fplugin* | *-include* | *@*) ;;
*' -c -x c /dev/null -o '*)
    asked="${{*% -o *}}"
    . {folder}/known
    {compiler} "$@" || exit
    printf '%s\\n' "$asked" >>{folder}/new
    exit 0 ;;
esac
exec {compiler} "$@"
"""


@contextlib.contextmanager
def remembered(compiler: str, env: Mapping[str, str], cross: str) -> Iterator[str]:
    """Yield a command for kbuild's CC that answers as *compiler* of *env*'s PATH did before.

    *cross* is the prefix of its assembler.
    """
    programs = [shutil.which(name, path=env.get("PATH")) for name in (compiler, cross + _ASSEMBLER)]
    there = [Path(name).resolve() for name in programs if name is not None]
    state = state_of(there) if len(there) == len(programs) else None
    settings = [f"{k}={v}" for k, v in sorted(env.items()) if k.startswith(("COMPILER_", "GCC_"))]
    key = digest(_VERSION, compiler, *map(str, there), *settings)
    known = _sensible(recall(_KIND, key, state))
    with contextlib.ExitStack() as stack:
        script = None
        with contextlib.suppress(OSError):
            if state is not None:
                folder = tempfile.TemporaryDirectory(prefix="zvmlab-answers-")
                script = _script(Path(stack.enter_context(folder)), compiler, known)
        # make would take such a path for several words.
        if script is None or UNFIT.search(str(script)):
            yield compiler
            return
        yield f"sh {script}"
        new = [asked for asked in _new(script.with_name("new")) if asked not in known]
    if new:
        keep(_KIND, key, state, [*known, *new][-_MOST:])


def _script(folder: Path, compiler: str, known: Iterable[str]) -> Path:
    """Write the script, and what it knows."""
    cases = "".join(f"{shlex.quote(asked)}) exit 0 ;;\n" for asked in known)
    (folder / "known").write_text(f'case "$asked" in\n{cases}esac\n', encoding="utf-8")
    script = folder / compiler
    text = _SCRIPT.format(folder=shlex.quote(str(folder)), compiler=shlex.quote(compiler))
    script.write_text(text, encoding="utf-8")
    return script


def _new(file: Path) -> list[str]:
    """The questions that the script has noted."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    return _sensible(list(dict.fromkeys(lines)))


def _sensible(questions: object) -> list[str]:
    """Those of a list that can be questions."""
    if not isinstance(questions, list):
        return []
    return [
        asked
        for asked in questions
        if isinstance(asked, str) and 0 < len(asked) < _MOST_CHARACTERS and "\n" not in asked
    ]
