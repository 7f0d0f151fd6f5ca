# SPDX-License-Identifier: MIT
"""QEMU's first header is parsed once, and all is compiled anew when something in it changes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from zvmlab.builder import precompiled

FILES = 12
NINJA = """\
rule cc
  command = cc {options} -I. -I../include -MD -MQ $out -MF $out.d -o $out -c $in
  depfile = $out.d
  deps = gcc
rule link
  command = cc -o $out $in
rule make
  command = echo '#define FACTOR 1' > $out
build config-poison.h: make
{objects}
build program: link {names}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A program of a few files, which prints VALUE of deep.h."""
    include, build = tmp_path / "include", tmp_path / "build"
    (include / "qemu").mkdir(parents=True)
    build.mkdir()
    (include / "qemu" / "osdep.h").write_text('#include "config-poison.h"\n#include "deep.h"\n')
    main = '#include "qemu/osdep.h"\n#include <stdio.h>\n'
    main += 'int main(void) { printf("%d\\n", VALUE * FACTOR); }\n'
    (tmp_path / "0.c").write_text(main)
    for number in range(1, FILES):
        text = f'#include "qemu/osdep.h"\nint f{number}(void) {{ return VALUE; }}\n'
        (tmp_path / f"{number}.c").write_text(text)
    deep(tmp_path, 1)
    configure(tmp_path, "-O1")
    return tmp_path


def deep(source: Path, value: int) -> None:
    """What the header behind the first one says."""
    (source / "include" / "deep.h").write_text(f"#define VALUE {value}\n")


def configure(source: Path, options: str) -> None:
    """As QEMU's configure would: what ninja shall do."""
    numbers = range(FILES)
    objects = "\n".join(f"build {n}.o: cc ../{n}.c || config-poison.h" for n in numbers)
    names = " ".join(f"{n}.o" for n in numbers)
    text = NINJA.format(options=options, objects=objects, names=names)
    (source / "build" / "build.ninja").write_text(text)


def run(source: Path, argv: list[str]) -> list[str]:
    """In the build folder; what it wrote."""
    done = subprocess.run(
        argv, cwd=source / "build", capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def precompile(source: Path) -> list[list[str]]:
    """Do it; what was run for it."""
    ran: list[list[str]] = []

    def note(argv: list[str]) -> list[str]:
        ran.append(argv)
        return run(source, argv)

    precompiled.precompile(source, "program", note)
    return ran


def built(source: Path) -> str:
    """What the program prints when it is built."""
    run(source, ["ninja", "program"])
    (line,) = run(source, ["./program"])
    return line


def test_header_is_taken_in_its_precompiled_form(source: Path) -> None:
    precompile(source)
    assert built(source) == "1"
    # What the compiler has read, as it told ninja.
    read = " ".join(run(source, ["ninja", "-t", "deps", "1.o"]))
    assert "1.c" in read and "deep.h" not in read


def test_nothing_is_done_again_while_all_is_as_it_was(source: Path) -> None:
    assert len(precompile(source)) == 3
    assert precompile(source) == [["ninja", "-t", "commands", "program"]]
    built(source)
    assert len(precompile(source)) == 1
    assert "no work to do" in " ".join(run(source, ["ninja", "program"]))


def test_change_behind_the_header_compiles_all_anew(source: Path) -> None:
    precompile(source)
    built(source)
    deep(source, 2)
    assert ["ninja", "-t", "clean"] in precompile(source)
    assert built(source) == "2"


def test_other_options_compile_all_anew(source: Path) -> None:
    precompile(source)
    built(source)
    (source / "include" / "deep.h").write_text("#define VALUE (MORE + 2)\n")
    configure(source, "-O1 -DMORE=3")
    precompile(source)
    assert built(source) == "5"


def test_header_that_has_gone_is_noticed(source: Path) -> None:
    precompile(source)
    built(source)
    osdep = source / "include" / "qemu" / "osdep.h"
    (source / "include" / "deep.h").rename(source / "include" / "deeper.h")
    osdep.write_text(osdep.read_text().replace("deep.h", "deeper.h"))
    assert ["ninja", "-t", "clean"] in precompile(source)
    assert built(source) == "1"


def test_broken_off_is_begun_again(source: Path) -> None:
    precompile(source)
    (source / "build" / "precompiled").unlink()
    deep(source, 4)
    precompile(source)
    assert built(source) == "4"


def test_broken_off_before_objects_are_gone(source: Path) -> None:
    """The next time they are compiled anew all the same."""

    def killed(argv: list[str]) -> list[str]:
        if argv[-1] == "clean":
            raise InterruptedError
        return run(source, argv)

    precompile(source)
    assert built(source) == "1"
    deep(source, 3)
    with pytest.raises(InterruptedError):
        precompiled.precompile(source, "program", killed)
    precompile(source)
    assert built(source) == "3"


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("cc -O2 -Ia -MD -MQ a.o -MF a.o.d -o a.o -c ../a.c", ("cc", "-O2", "-Ia")),
        ("cc '-DX=\"a b\"' -o a.o -c a.c -g", ("cc", '-DX="a b"', "-g")),
        ("cc -o program a.o b.o", ()),
        ("cc -O2 -o a.o -c ../hw/s390x/zvmlab/core/sim/cp/a.c", ()),
    ],
)
def test_options_are_what_all_files_have(command: str, options: tuple[str, ...]) -> None:
    assert precompiled.options_of(command) == options


def test_only_options_of_many_files_get_a_header() -> None:
    def commands(word: str, count: int) -> list[str]:
        return [f"cc {word} -I{n} -o {n}.o -c {n}.c" for n in range(count)]

    few = commands("-few", precompiled.FEW - 1)
    given = [*few, *commands("-a", precompiled.FEW), *commands("-b", 20)]
    assert precompiled.option_sets(given) == [("cc", "-b", "-I0"), ("cc", "-a", "-I0")]


def test_rules_name_headers_on_several_lines() -> None:
    assert precompiled.headers("a.gch: x/a.h \\\n /usr/b.h\\\n c.h\n") == [
        "x/a.h",
        "/usr/b.h",
        "c.h",
    ]
