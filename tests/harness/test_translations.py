# SPDX-License-Identifier: MIT
"""Help and pages in Chinese: what is translated, what stays English, and that lint notices what is not."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from made_once import made_once
from monread_tool import END, build_tool, part, stream
from zvmlab.base.tree import TREE
from zvmlab.cli import translate
from zvmlab.cli.main import main

sys.path.insert(0, str(TREE / "ci"))
import translations  # noqa: E402

PO = TREE / "po/zh_CN/help.po"
TOOLS = ("monread", "taskmon", "dmmon")
COMMANDS: dict[str, list[list[str]]] = {
    "monread": [[], ["export"]],
    "taskmon": [[], ["get"], ["run"], ["listen"], ["export"], ["status"]],
    "dmmon": [[], ["create"], ["list"], ["print"], ["watch"], ["histogram"], ["export"]],
}
CATEGORIES = (
    *("LC_IDENTIFICATION", "LC_CTYPE", "LC_COLLATE", "LC_TIME", "LC_NUMERIC", "LC_MONETARY"),
    *("LC_MESSAGES", "LC_PAPER", "LC_NAME", "LC_ADDRESS", "LC_TELEPHONE", "LC_MEASUREMENT"),
)


def needs(program: str) -> None:
    """Of gettext and po4a, which what is tested here does not need to run."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is missing: 'make setup-lint' installs it")


def pairs() -> dict[str, str]:
    """English texts of help and what they are in Chinese, from the file that people write."""
    found: dict[str, str] = {}
    for block in re.split(r"\n\n+", PO.read_text(encoding="utf-8")):
        parts = dict[str, str]()
        name = ""
        for line in block.splitlines():
            if match := re.match(r'(msgid|msgstr) (".*")$', line):
                name = match[1]
                parts[name] = ast.literal_eval(match[2])
            elif line.startswith('"'):
                parts[name] += ast.literal_eval(line)
        if parts.get("msgid"):
            found[parts["msgid"]] = parts["msgstr"]
    return found


def width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def compiled(folder: Path, *names: str) -> None:
    """A catalogue for each of these programs, of all texts."""
    needs("msgfmt")
    to = folder / "zh_CN/LC_MESSAGES"
    to.mkdir(parents=True)
    for name in names:
        subprocess.run(["msgfmt", "-o", to / f"{name}.mo", PO], check=True, timeout=60)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prefix with the tools in bin, with sanitizers, and their catalogues."""
    prefix = tmp_path_factory.mktemp("prefix")
    (prefix / "bin").mkdir()
    for name in TOOLS:
        shutil.copy(build_tool(name), prefix / "bin" / name)
    compiled(prefix / "share/locale", *TOOLS)
    return prefix


@pytest.fixture(scope="module")
def chinese_user(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The environment of a user whose locale is Chinese, which this machine need not know."""
    # The order of Chinese words takes most of the time that the whole takes, and no tool sorts any.
    source = {name: "zh_CN" for name in CATEGORIES} | {"LC_COLLATE": "POSIX"}

    def make(folder: Path) -> None:
        to, described = str(folder / "zh_CN.UTF-8"), folder / "described"
        described.write_text(
            "".join(f'{one}\ncopy "{of}"\nEND {one}\n' for one, of in source.items())
        )
        argv = ["localedef", "-i", str(described), "-f", "UTF-8", "--no-archive", to]
        subprocess.run(argv, check=True, timeout=600, capture_output=True)

    folder = made_once(request, tmp_path_factory, "locales", make)
    return {"LOCPATH": str(folder), "LC_ALL": "zh_CN.UTF-8", "LANGUAGE": ""}


def says(
    program: Path, words: Sequence[str], locale: Mapping[str, str], data: bytes = b""
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error in that locale."""
    kept = {name: value for name, value in os.environ.items() if name != "LANG"}
    kept["ASAN_OPTIONS"] = "detect_leaks=0"  # argp leaves something where a command has no options
    done = subprocess.run(
        [program, *words], input=data, capture_output=True, timeout=60, env={**kept, **locale}
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


# ---- the tools


@pytest.mark.parametrize("name", TOOLS)
def test_help_of_tools(installed: Path, chinese_user: dict[str, str], name: str) -> None:
    """Every text of it is the one of the file; lines fit, and texts of options stand in their column."""
    program, texts = installed / "bin" / name, pairs()
    for words in COMMANDS[name]:
        english = says(program, [*words, "--help"], {"LC_ALL": "C"})
        code, chinese, errors = says(program, [*words, "--help"], chinese_user)
        assert (code, errors) == (0, "") == (english[0], english[2])
        said = "".join(chinese.split())
        begun = [one.partition("\v")[0] for one in texts if "".join(one.split())[:40]]
        shown = [one for one in begun if len(one) > 12 and one in " ".join(english[1].split())]
        assert len(shown) > 2
        for one in shown:
            assert "".join(one.split()) not in said, one
        for option in re.findall(r"--[a-z-]+", english[1]):
            assert option in chinese
        for line in chinese.splitlines():
            assert width(line) <= 84, line  # a long list without blanks cannot be broken
            if match := re.match(r"  (?:-\S,|   ) --\S+ {2,}", line):
                assert len(match[0]) == 29


def test_fields_of_tools(installed: Path, chinese_user: dict[str, str]) -> None:
    """Names and units of a program's output stay; what they mean is translated."""
    words = ["watch", "--fields", "help"]
    english = says(installed / "bin/dmmon", words, {"LC_ALL": "C"})[1].splitlines()
    chinese = says(installed / "bin/dmmon", words, chinese_user)[1].splitlines()
    texts = pairs()
    assert len(english) == len(chinese) > 20
    for one, other in zip(english[:-1], chinese[:-1]):
        start, meaning = re.match(r"([* ] \S+ +)(.*?)(?: \([^()]*\))?$", one).groups()  # type: ignore[union-attr]
        assert other.startswith(start + texts[meaning])
    schema = ["watch", "--schema"]
    assert says(installed / "bin/dmmon", schema, chinese_user) == says(
        installed / "bin/dmmon", schema, {"LC_ALL": "C"}
    )


@pytest.mark.parametrize(
    "words",
    [
        ["--nosuch"],
        ["--sets", "none", "-"],
        ["nosuch"],
        ["-", "--json", "--values"],
        ["-"],
        ["--usage"],
    ],
)
def test_what_a_program_may_read_stays_english(
    installed: Path, chinese_user: dict[str, str], words: list[str]
) -> None:
    """Messages, numbers and records are the same in every locale; so is --usage, which has only names."""
    data = stream(part(END))
    english = says(installed / "bin/monread", words, {"LC_ALL": "C"}, data)
    assert says(installed / "bin/monread", words, chinese_user, data) == english
    assert not re.search("[\u4e00-\u9fff]", "".join(english[1:]))


@pytest.mark.parametrize(
    "locale",
    [{"LC_ALL": "C", "LANGUAGE": "zh_CN"}, {"LC_ALL": "C.UTF-8"}, {"LC_ALL": "nosuch.UTF-8"}],
)
def test_locales_without_chinese(installed: Path, locale: dict[str, str]) -> None:
    program = installed / "bin/monread"
    assert says(program, ["--help"], locale) == says(program, ["--help"], {"LC_ALL": "C"})


def test_catalogue_beside_the_program(
    installed: Path, chinese_user: dict[str, str], tmp_path: Path
) -> None:
    """As in a tree that was built; without it there is none for a program elsewhere."""
    program = shutil.copy(installed / "bin/monread", tmp_path / "monread")
    english = says(program, ["--help"], chinese_user)[1]
    assert english == says(program, ["--help"], {"LC_ALL": "C"})[1]
    shutil.copytree(installed / "share/locale", tmp_path / "locale")
    assert says(program, ["--help"], chinese_user)[1].startswith(pairs()["Usage:"])


# ---- the command


@pytest.fixture
def chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalogue of the command, and a user who wants it."""
    compiled(tmp_path, "zvmlab")
    monkeypatch.setattr(translate, "folders", lambda: iter([tmp_path]))
    monkeypatch.setattr(translate, "_output_encoding", lambda: "utf-8")
    for name, value in {"LANGUAGE": "zh_CN", "LC_ALL": "C.UTF-8"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "80")


def help_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    return capsys.readouterr().out


@pytest.mark.parametrize("words", [(), ("run",), ("fault", "arm"), ("module", "build"), ("trace",)])
def test_help_of_the_command(
    chinese: None,
    words: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = help_of(capsys, *words)
    monkeypatch.setenv("LC_ALL", "C")
    english = help_of(capsys, *words)
    assert set(re.findall(r"--[a-z-]+", english)) == set(re.findall(r"--[a-z-]+", said))
    texts = pairs()
    assert said.startswith(texts["usage: "]) and texts["options"] in said
    flat = "".join(said.split())
    for text in texts:
        if len(text) > 12 and "%(" not in text and text in " ".join(english.split()):
            assert "".join(text.split()) not in flat
    body = said.partition(texts["examples:\n"] if "examples:\n" in texts else "zvmlab run -- ")[0]
    assert max(map(width, body.splitlines())) <= 80


def test_further_lines_of_usage_are_aligned(
    chinese: None, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, *_ = help_of(capsys, "run").splitlines()
    assert width(second) - width(second.lstrip()) == width(first[: first.index("[")])


def test_messages_stay_english(chinese: None, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run"])
    assert "the following arguments are required: PROGRAM" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("environment", "languages"),
    [
        ({}, []),
        ({"LANGUAGE": "zh_CN"}, []),
        ({"LANG": "C", "LANGUAGE": "zh_CN"}, []),
        ({"LANG": "POSIX"}, []),
        ({"LANG": "zh_CN.UTF-8"}, ["zh_CN.UTF-8"]),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, []),
        ({"LANG": "C", "LC_MESSAGES": "zh_CN.GB18030"}, ["zh_CN.GB18030"]),
        ({"LANG": "de_DE.UTF-8", "LANGUAGE": "zh_CN:de"}, ["zh_CN", "de"]),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "", "LANGUAGE": ""}, ["zh_CN.UTF-8"]),
        ({"LANG": "C.UTF-8"}, []),
        ({"LANG": "en_US.UTF-8"}, []),
        ({"LANG": "C.UTF-8", "LANGUAGE": "zh_CN"}, ["zh_CN"]),
        ({"LANG": "de_DE.UTF-8", "LANGUAGE": "de:en_GB:zh_CN"}, ["de"]),
        ({"LANG": "enm"}, ["enm"]),
    ],
)
def test_languages(environment: dict[str, str], languages: list[str]) -> None:
    assert translate.languages(environment) == languages


def test_catalogues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is damaged, or whose texts the output cannot take, is none."""
    compiled(tmp_path / "good", translate.DOMAIN)
    bad = tmp_path / "bad/zh_CN/LC_MESSAGES/zvmlab.mo"
    bad.parent.mkdir(parents=True)
    bad.write_bytes(b"nothing")
    folders = [tmp_path / "none", tmp_path / "bad", tmp_path / "good"]
    monkeypatch.setattr(translate, "folders", lambda: iter(folders))
    usage = pairs()["usage: "]
    assert translate.catalogue(["zh_CN.UTF-8"], "utf-8").gettext("usage: ") == usage
    assert translate.catalogue(["zh_CN"], "gb18030").gettext("usage: ") == usage
    assert translate.catalogue(["zh_CN"], "ascii").gettext("usage: ") == "usage: "
    assert translate.catalogue(["de"], "utf-8").gettext("usage: ") == "usage: "
    assert translate.catalogue([], "utf-8").gettext("usage: ") == "usage: "


def test_wrap() -> None:
    eight, comma, opening = "\u76d1\u89c6\u5668\u8bb0\u5f55\u6570\u636e\u96c6", "\uff0c", "\uff08"
    assert translate.wrap(eight * 2, 17) == [eight, eight]
    assert translate.wrap(f"{eight} N {eight}", 18) == [f"{eight} N", eight]
    assert translate.wrap(f"{eight}{comma}a", 16) == [eight[:7], f"{eight[7]}{comma}a"]
    assert translate.wrap(f"{eight}{opening}{eight}", 18) == [eight, opening + eight]
    assert translate.wrap("one two three", 8) == ["one two", "three"]
    assert translate.wrap("unbreakable", 4) == ["unbreakable"]
    assert translate.wrap("", 4) == [""]


# ---- what both pages and help have to keep


def test_commands_in_examples_are_the_same() -> None:
    """What a user is to type is not translated."""
    examples = [(text, said) for text, said in pairs().items() if "\n  zvmlab " in text]
    assert len(examples) > 20
    for text, said in examples:
        typed = [
            re.split(r"(?<=\S) {2,}", line)[0] for line in text.splitlines() if line[:2] == "  "
        ]
        for command in typed:
            assert command in said


def commands_of(page: str) -> list[str]:
    text = (TREE / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [re.sub(r" *# .*", "", line) for block in blocks for line in block.splitlines()]


def test_readme_has_the_same_commands_and_links() -> None:
    assert commands_of("README.zh_CN.md") == commands_of("README.md") != []
    both = [
        re.findall(r"\]\(([^)]*)\)", (TREE / page).read_text(encoding="utf-8"))
        for page in ("README.md", "README.zh_CN.md")
    ]
    assert both[0][1:] == both[1][1:]
    assert (both[0][0], both[1][0]) == ("README.zh_CN.md", "README.md")


# ---- what lint says


def test_texts_of_c() -> None:
    """Those in help, whatever macros made them; not those in error messages."""
    source = """
        static const struct option_row rows[] = {
            { .help = "Input:", .group = 1 },
            { "sets", 's', "N", "stop after" " N", .kind = 3, .wrong = "no: '%s'" },
            { "old", '\\0', ((void *)0), ((void *)0), .kind = 1 },
            { 0 },
        };
        static const struct command_line line = { .options = &table, .help = "A.\\vB \\"c\\"." };
        const struct column columns[] = { [COUNT] = { "n", 0, 0, 7, 1, "how many, {all}" } };
        static const struct command commands[] = { { "get", "show it", get }, { 0 } };
        static const struct tool tool = { "name", "Does it.", commands };
        static const struct option_part parts[] = { { &rows, f(1, 2), 9, "Output:" }, { 0 } };
        struct column *pointer = find("none of them");
    """
    assert list(translations.initialized(source)) == [
        ("", "Input:"),
        ("sets", "stop after N"),
        ("", 'A.\\vB \\"c\\".'),
        ("n", "how many, {all}"),
        ("get", "show it"),
        ("name", "Does it."),
        ("", "Output:"),
    ]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What the check reads of the tree."""
    for name in ("po", "docs", "tools", "lib/base", "lib/monrec", "harness", "driver"):
        shutil.copytree(TREE / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "README.zh_CN.md"):
        shutil.copy(TREE / name, tmp_path / name)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def newer(path: Path) -> None:
    """As if it was written after all others, as a page is that somebody changes by hand."""
    later = path.stat().st_mtime + 3600
    os.utime(path, (later, later))


def check(tree: Path, *words: str) -> tuple[int, list[str], str]:
    env = {**os.environ, "PYTHONPATH": str(tree / "harness"), "PYTHONDONTWRITEBYTECODE": "1"}
    argv = [sys.executable, str(TREE / "ci/translations.py"), "--tree", str(tree), *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, env=env)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_lint_says_what_fell_behind(copy: Path) -> None:
    needs("po4a")
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    assert check(copy) == (0, [], "")
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before

    change(copy / "tools/monread/options.c", '"stop after N sets"', '"stop after N sets or so"')
    change(
        copy / "harness/zvmlab/cli/commands.py",
        '"list the running guests and systems"',
        '"list the guests"',
    )
    change(copy / "docs/dmmon.1", "CAVEATS", "LIMITS")
    change(copy / "README.zh_CN.md", "pytest", "Pytest")
    newer(copy / "README.zh_CN.md")
    change(copy / "po/zh_CN/taskmon.1.po", 'msgid "LOSS"', '#, fuzzy\nmsgid "LOSS"')
    code, said, errors = check(copy)
    assert (code, errors) == (1, "")
    assert said == [
        "po/zh_CN/help.po: 3 of the English texts are not translated as they are today, the first:"
        " \"stop after N sets or so\"; run 'make translations', and translate what it names",
        "po/zh_CN/taskmon.1.po: 1 of the English texts are not translated as they are today, the first:"
        " \"LOSS\"; run 'make translations', and translate what it names",
        "po/zh_CN/dmmon.1.po: 1 of the English texts are not translated as they are today, the first:"
        " \"LIMITS\"; run 'make translations', and translate what it names",
        "README.zh_CN.md: not what its English page and po/ make today; run 'make translations'",
    ]


def test_update_leaves_only_what_people_write(copy: Path) -> None:
    needs("po4a")
    change(copy / "tools/monread/options.c", '"stop after N sets"', '"stop after N sets or so"')
    change(copy / "docs/dmmon.1", "CAVEATS", "LIMITS")
    change(copy / "README.zh_CN.md", "pytest", "Pytest")
    newer(copy / "README.zh_CN.md")
    code, said, errors = check(copy, "--update", "--build", str(copy / "build"))
    assert (code, errors) == (1, "")
    assert [line.partition(":")[0] for line in said] == ["po/zh_CN/help.po", "po/zh_CN/dmmon.1.po"]
    for name, text in (("help.po", "stop after N sets or so"), ("dmmon.1.po", "LIMITS")):
        path = copy / "po/zh_CN" / name
        whole = path.read_text(encoding="utf-8")
        entry = next(one for one in whole.split("\n\n") if f'msgid "{text}"' in one)
        new = re.sub(r"^#[,|].*\n", "", entry, flags=re.MULTILINE)
        new = re.sub(r'msgstr ""$|msgstr ".*"$', 'msgstr "\u8bd1"', new)
        path.write_text(whole.replace(entry, new), encoding="utf-8")
    assert check(copy) == (0, [], "")


def test_a_translation_that_breaks_a_format(copy: Path) -> None:
    needs("po4a")
    change(copy / "po/zh_CN/help.po", "%s \u547d\u4ee4 --help", "%d \u547d\u4ee4 --help")
    code, said, errors = check(copy)
    assert code != 0 and not said and "format" in errors
