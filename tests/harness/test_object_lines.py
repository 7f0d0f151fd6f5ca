# SPDX-License-Identifier: MIT
"""Lines behind the code of a build's objects, held against the text of the sources."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from small_build import BUILT_IN, FIRST, HEADER, MODULE, SmallBuild

from zvmlab.base.errors import ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.builder.image import COMPILER
from zvmlab.builder.object_lines import Line, ObjectLines, Place, TreeObjects
from zvmlab.guest.symbols import functions_of

pytestmark = pytest.mark.skipif(not shutil.which(COMPILER), reason=f"{COMPILER} is missing")
OBJECT, SOURCE = "init/first.o", "init/first.c"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SmallBuild:
    """A build that stays as it is."""
    return SmallBuild(tmp_path_factory.mktemp("made"))


@pytest.fixture
def build(tmp_path: Path) -> SmallBuild:
    return SmallBuild(tmp_path)


def places(build: SmallBuild, function: str) -> list[Place]:
    """Each instruction of a function of OBJECT."""
    content = (build.out / OBJECT).read_bytes()
    found = functions_of(content)[function]
    return [(found.section, found.offset + at) for at in found.instructions(content)]


def ask(build: SmallBuild, *places: Place, name: str = OBJECT) -> ObjectLines:
    return TreeObjects(build.kernel).lines({name: places}, Progress(quiet=True))


def line_of(text: str, source: str = FIRST) -> int:
    """The number of the only line that has this text."""
    (found,) = [n for n, line in enumerate(source.splitlines(), 1) if text in line]
    return found


def begin(build: SmallBuild) -> Line:
    """The line at which outer() begins."""
    place = places(build, "outer")[0]
    return ask(build, place).lines[OBJECT, *place][0]


def body(function: str) -> tuple[int, int]:
    """The lines of its braces."""
    lines = FIRST.splitlines()
    (head,) = [n for n, line in enumerate(lines) if re.match(rf"\w.*\b{function}\(int a", line)]
    return lines.index("{", head) + 1, lines.index("}", head) + 1


@pytest.mark.parametrize(
    ("function", "section"), [("twice", ".text"), ("outer", ".text"), ("begin", ".init.text")]
)
def test_code_has_the_lines_of_its_function(made: SmallBuild, function: str, section: str) -> None:
    """From that of its opening brace to that of its closing one."""
    first, last = body(function)
    wanted = places(made, function)
    found = ask(made, *wanted)
    assert not found.missing and {section} == {within for within, _ in wanted}
    for place in wanted:
        outermost = found.lines[OBJECT, *place][0]
        assert outermost.file == SOURCE and first <= outermost.number <= last


def test_function_begins_at_its_brace(made: SmallBuild) -> None:
    assert begin(made) == Line(SOURCE, body("outer")[0])


def test_inlined_code_has_the_line_of_its_call_and_its_own(made: SmallBuild) -> None:
    found = ask(made, *places(made, "outer"))
    chains = {lines for lines in found.lines.values() if len(lines) > 1}
    inner = Line("include/scale.h", line_of("a * 7", HEADER))
    assert (Line(SOURCE, line_of("scaled(c")), inner) in chains
    assert {line.file for _, line in chains} == {"include/scale.h"}


def test_place_outside_of_the_code_has_no_line(made: SmallBuild) -> None:
    found = ask(made, (".text", 1 << 20))
    assert (found.lines, found.missing) == ({}, {})


def files(folder: Path) -> set[Path]:
    return {file for file in folder.rglob("*") if file.is_file()}


def test_build_stays_as_it_is(build: SmallBuild) -> None:
    """What is compiled is kept beside it, once."""
    before = files(build.out)
    begin(build)
    (kept,) = files(build.work / "lines")
    state = kept.stat()
    begin(build)
    assert files(build.out) == before and files(build.work / "lines") == {kept}
    assert (kept.stat().st_ino, kept.stat().st_mtime_ns) == (state.st_ino, state.st_mtime_ns)
    assert {path.name for path in (build.work / "lines").iterdir()} == {"init"}


@pytest.mark.parametrize("changed", [SOURCE, "include/scale.h"])
def test_same_code_of_a_source_that_has_changed_has_its_new_lines(
    build: SmallBuild, changed: str
) -> None:
    """The object is the same, since only a comment has come."""
    place = places(build, "outer")
    before = ask(build, *place).lines
    build.write(changed, "/* one more line */\n" + (build.tree / changed).read_text())
    build.build(OBJECT)
    build.note()
    after = ask(build, *place).lines

    def moved(line: Line) -> Line:
        return Line(line.file, line.number + (line.file == changed))

    assert after == {where: tuple(map(moved, lines)) for where, lines in before.items()}
    assert before != after and len(files(build.work / "lines")) == 1


def test_other_code_has_no_lines(build: SmallBuild) -> None:
    build.write(SOURCE, FIRST.replace("a * 2", "a * 3"))
    found = ask(build, (".text", 0))
    assert found == ObjectLines({}, {OBJECT: "compiled again, its code is another"})
    assert not files(build.work / "lines")


def test_source_that_does_not_compile_has_no_lines(build: SmallBuild) -> None:
    build.write(SOURCE, "int a = b;\n")
    why = ask(build, (".text", 0)).missing[OBJECT]
    assert re.match(rf"compiling it again fails: .*{SOURCE}:1:9: error: .b. undeclared", why)


def test_object_that_was_not_compiled_has_no_lines(build: SmallBuild) -> None:
    note = build.out / "init/.first.o.cmd"
    note.write_text(f"savedcmd_{OBJECT} := ld -r -o {OBJECT} a.o\n")
    why = "kbuild has left no command of the compiler"
    assert ask(build, (".text", 0)).missing == {OBJECT: why}
    note.unlink()
    assert ask(build, (".text", 0)).missing == {OBJECT: why}


def test_assembler_has_no_lines(build: SmallBuild) -> None:
    note = build.out / "init/.first.o.cmd"
    note.write_text(note.read_text().replace("first.c \n", "first.S \n"))
    assert ask(build, (".text", 0)).missing == {OBJECT: "it is written in assembler"}


def test_others_have_lines_nevertheless(build: SmallBuild) -> None:
    (build.out / "init/.first.o.cmd").unlink()
    wanted = {name: [(".text", 0)] for name in BUILT_IN}
    found = TreeObjects(build.kernel).lines(wanted, Progress(quiet=True))
    assert set(found.missing) == {OBJECT}
    assert {name for name, *_ in found.lines} == {"lib/second.o"}


def test_only_the_first_command_is_repeated(build: SmallBuild) -> None:
    """With CONFIG_MODVERSIONS kbuild does more with an object."""
    build.build(OBJECT, behind=f"; touch {build.tree}/touched; if nm x; then false; fi")
    assert begin(build) == Line(SOURCE, body("outer")[0])
    assert not (build.tree / "touched").exists()


def test_objects_of_kernel_and_modules(made: SmallBuild) -> None:
    objects = TreeObjects(made.kernel)
    assert tuple(objects.of_kernel()) == BUILT_IN
    assert tuple(objects.of_module("pair")) == MODULE
    assert objects.of_module("other") == []


def test_build_that_does_not_say_of_what_it_is_linked(build: SmallBuild) -> None:
    (build.out / ".vmlinux.o.cmd").unlink()
    with pytest.raises(ZvmlabError, match="does not say of what it is linked"):
        TreeObjects(build.kernel).of_kernel()
    (build.out / ".vmlinux.o.cmd").write_text("cmd_vmlinux.o := ld vmlinux.a\n")
    (build.out / "vmlinux.a").unlink()
    with pytest.raises(ZvmlabError, match="ar in .*/out failed: .*No such file"):
        TreeObjects(build.kernel).of_kernel()
