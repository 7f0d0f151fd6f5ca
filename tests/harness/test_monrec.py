# SPDX-License-Identifier: MIT
"""libmonrec from Python, ``zvmlab records``, and the library as its users get it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from zvmlab.base.errors import EXIT_PASS, EXIT_USAGE, UsageError
from zvmlab.cli.main import main
from zvmlab.mondata import monrec
from zvmlab.mondata.records import DOMAINS, EVENT, Element, Mce, Record

ROOT = Path(__file__).parents[2]
START = 0x9000000


def stream(*records: Record, type: int = 0xE2) -> bytes:
    """One element, as it is read from the device."""
    made = Element.of(records, type)
    return Mce(type, made.domains, 0, START, START + len(made.data) - 1).encode() + made.data


def processor(address: int, diagnoses: int) -> Record:
    """D0R1."""
    payload = address.to_bytes(2, "big") + bytes(6) + diagnoses.to_bytes(4, "big")
    return Record(0, 1, payload=payload.ljust(96, b"\0"))


END = Record(1, 11)


def test_catalogue() -> None:
    found = monrec.layout("sytsyp")
    assert (found.id, found.kind, found.complete, found.length()) == ("D0R1", "sample", True, 116)
    assert found == monrec.layout("D0R1")
    assert found.length(510) == 96 and found.length(750) == 116
    field = found.field("plsdiagt")
    assert (field.offset, field.length, field.type) == (28, 4, "unsigned")
    assert (field.nature, field.unit, field.source) == ("counter", "times", "ibm")
    assert field.known_in(440) and not field.known_in(430)
    with pytest.raises(UsageError, match="SYTSYP is not known to have a field X in z/VM 5.3"):
        found.field("X")
    with pytest.raises(UsageError, match="no record D0R99"):
        monrec.layout("D0R99")
    assert [monrec.domain_name(number) for number in range(12)] == list(DOMAINS)
    assert len({layout.name for layout in monrec.catalogue()}) == len(monrec.catalogue()) > 120


def test_header_is_what_the_harness_writes() -> None:
    data = Record(4, 3, tod=0x0102030405060708, payload=b"x").encode()
    fields = {field.name: field for field in monrec.header().fields}

    def value(name: str) -> int:
        field = fields[name]
        return int.from_bytes(data[field.offset : field.offset + field.length], "big")

    assert value("MRHDRLEN") == 21
    assert (value("MRHDRDM"), value("MRHDRRC")) == (4, 3)
    assert value("MRHDRTOD") == 0x0102030405060708


def test_releases() -> None:
    assert monrec.parse_release("5.3") == 530
    assert monrec.release_text(530) == "5.3"
    for text in ("", "5", "5.x", "-5.3", "5.3.1", "9.9", "5.9", "4.0", "0.0", "53.0", "9" * 5000):
        with pytest.raises(UsageError):
            monrec.parse_release(text)


def test_page_is_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["records", "--markdown"]) == EXIT_PASS
    page = capsys.readouterr().out
    # By IBM's page of D0R1, and by zpmd's structure of D4R3.
    assert "\n| D0R1 | SYTSYP | sample | 116 | whole |" in page
    assert (
        "\n| 0 | 2 | MRHDRLEN | unsigned | gauge | bytes | 4.2–7.5 | ibm | length of the record"
        in page
    )
    tables = dict(re.findall(r"^### (D\d+R\d+) (?:.+)\n((?:.*\n)*?)(?=#|\Z)", page, re.MULTILINE))
    for layout in monrec.catalogue():
        assert page.count(f"\n| {layout.id} | {layout.name} | {layout.kind} |") == 1
        assert (layout.id in tables) == bool(layout.fields or layout.lengths)
        rows = re.findall(
            r"^\| (\S+) \| (\S+) \| (\S+) \|", tables.get(layout.id, ""), re.MULTILINE
        )
        assert [row[2] for row in rows[1:]] == [field.name for field in layout.fields]


def test_document_has_all_rules() -> None:
    text = (ROOT / "docs/monrec.md").read_text(encoding="utf-8")
    rows = [f"| `{name}` | {rule} |" for name, rule in monrec.rules().items()]
    assert [line for line in text.splitlines() if line.startswith("| `")] == rows


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["records"]) == EXIT_PASS
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(monrec.catalogue())
    assert lines[0].split(None, 5)[:5] == ["D0R1", "SYTSYP", "sample", "116", "whole"]
    assert main(["records", "Seeks", "--release", "4.4"]) == EXIT_PASS
    assert capsys.readouterr().out == "D7R1     SEKSEK  event              -  whole      seeks\n"
    assert main(["records", "10"]) == EXIT_PASS
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines()] == ["D10R1", "D10R2"]


def test_one_record(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["records", "1", "9"]) == EXIT_PASS
    text, table, sources = capsys.readouterr().out.split("\n\n")
    assert text.splitlines()[0] == "D1R9 MTRSPR: sample profile"
    assert "36 bytes in 4.3–5.4 (ibm)" in text
    assert "CONFIG" in table and "pages" in table
    assert {"ibm", "zpmd"} <= {line.split(":")[0] for line in sources.splitlines()}
    assert main(["records", "1", "9", "--release", "6.4"]) == EXIT_PASS
    assert "CONFIG" not in capsys.readouterr().out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["records", "system", "2", "--json", "--release", "5.1"]) == EXIT_PASS
    said = json.loads(capsys.readouterr().out)
    assert set(said["sources"]) >= {"ibm", "zpmd"}
    (record,) = said["records"]
    assert (record["id"], record["name"], record["domain"]) == ("D0R2", "SYTPRP", 0)
    assert [length["length"] for length in record["lengths"]] == [104]
    by_name = {field["name"]: field for field in record["fields"]}
    assert by_name["PFXUTIME"]["offset"] == 32 and by_name["PFXUTIME"]["type"] == "duration"
    assert "PFXSPINC" not in by_name  # only known of 5.3


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["12"], "unknown monitor domain: 12"),
        (["nothing"], "unknown monitor domain: nothing"),
        (["0", "23"], "no record D0R23"),
        (["--release", "five"], "invalid release of z/VM: five"),
        (["0", "--markdown"], "--markdown prints the complete"),
    ],
)
def test_what_is_refused(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["records", *words]) == EXIT_USAGE
    captured = capsys.readouterr()
    assert text in captured.err and not captured.out


@pytest.fixture(name="installed", scope="module")
def _installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The library where ``make install-monrec`` puts it; the environment to use it."""
    prefix = tmp_path_factory.mktemp("monrec")
    argv = ["make", "-s", "-C", str(ROOT), "install-monrec", f"PREFIX={prefix}", "BUILD=build"]
    subprocess.run(argv, check=True, timeout=900, capture_output=True)
    return {**os.environ, "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig", "PREFIX": str(prefix)}


def made_example(installed: dict[str, str], folder: Path, static: bool) -> Path:
    """The example, built as its comment says."""
    flags = ["--static"] if static else []
    argv = ["pkg-config", "--cflags", "--libs", *flags, "monrec"]
    found = subprocess.run(argv, env=installed, check=True, timeout=60, capture_output=True)
    words = found.stdout.decode().split()
    words += ["-static"] if static else [f"-Wl,-rpath,{installed['PREFIX']}/lib"]
    program = folder / "example"
    source = ROOT / "lib/monrec/example.c"
    argv = ["gcc", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(program), *words]
    subprocess.run(argv, env=installed, check=True, timeout=60)
    return program


@pytest.mark.parametrize("static", [False, True])
def test_example(installed: dict[str, str], tmp_path: Path, static: bool) -> None:
    program = made_example(installed, tmp_path, static)
    data = tmp_path / "data"
    data.write_bytes(stream(processor(0, 7), processor(1, 0xFFFFFFFF), END))
    done = subprocess.run([program, data], capture_output=True, text=True, timeout=60, check=False)
    assert (
        done.stdout == "set 1: processor 0: 7 DIAGNOSEs\nset 1: processor 1: 4294967295 DIAGNOSEs\n"
    )
    assert (done.returncode, done.stderr) == (0, "")
    data.write_bytes(stream(processor(0, 7), type=EVENT))
    done = subprocess.run([program, data], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "set 1, offset 1, element 1: domains X'8000' are named, of which X'8000' are impossible"
        " [element-domains]",
        "set 1, offset 12, element 1, record 1 (D0R1 SYTSYP): a sample record in event data"
        " [record-kind]",
    ]
    data.write_bytes(b"")
    done = subprocess.run([program, data], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_library_shows_only_what_is_declared(installed: dict[str, str]) -> None:
    for name, option in (("libmonrec.so", "-D"), ("libmonrec.a", "-g")):
        argv = ["nm", option, "--defined-only", f"{installed['PREFIX']}/lib/{name}"]
        found = subprocess.run(argv, check=True, timeout=60, capture_output=True, text=True).stdout
        words = [line.split() for line in found.splitlines()]
        names = {word[2].partition("@@")[0] for word in words if len(word) == 3 and word[1] != "A"}
        assert names and all(one.startswith("monrec_") for one in names)
        text = "".join(header.read_text() for header in (ROOT / "lib/monrec").glob("monrec*.h"))
        assert all(f"{one}(" in text for one in names)


def _functions(text: str) -> set[str]:
    """Names of functions that a text of C declares."""
    without = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return set(re.findall(r"^[a-z][^#;{}=]*?\b(monrec_[a-z_]+)\(", without, re.M)) - {
        "monrec_read_fn"
    }


def test_symbols_have_the_version_that_they_came_with(installed: dict[str, str]) -> None:
    """What a program was linked with is there, or the loader says which version is not."""
    argv = ["nm", "-D", "--defined-only", "--with-symbol-versions"]
    argv.append(f"{installed['PREFIX']}/lib/libmonrec.so")
    found = subprocess.run(argv, check=True, timeout=60, capture_output=True, text=True).stdout
    names = {line.split()[2] for line in found.splitlines() if line.split()[1] != "A"}
    assert {name.partition("@@")[2] for name in names} == {"MONREC_0.1"}
    headers = (ROOT / "lib/monrec").glob("monrec*.h")
    declared = _functions("".join(h.read_text() for h in headers if "private" not in h.name))
    assert {name.partition("@@")[0] for name in names} == declared


def test_man_page_has_each_function_that_a_header_declares(installed: dict[str, str]) -> None:
    page = (Path(installed["PREFIX"]) / "share/man/man3/libmonrec.3").read_text()
    headers = (ROOT / "lib/monrec").glob("monrec*.h")
    declared = _functions("".join(h.read_text() for h in headers if "private" not in h.name))
    synopsis = page[page.index(".Sh SYNOPSIS") : page.index(".Sh DESCRIPTION")]
    assert set(re.findall(r"^\.Fn (monrec_\w+)", synopsis, re.M)) == declared
