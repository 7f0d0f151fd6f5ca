# SPDX-License-Identifier: MIT
"""``zvmlab records``: the catalogue of monitor records, as text, JSON, or a page."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from zvmlab.base.errors import EXIT_PASS, UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.cli.options import json_option, top_command
from zvmlab.mondata import monrec
from zvmlab.mondata.monrec import Field, Layout, release_text
from zvmlab.mondata.records import DOMAINS


def add_commands(commands: Any) -> None:
    """records."""
    parser = top_command(
        commands,
        "records",
        "  zvmlab records\n  zvmlab records user\n  zvmlab records 0 1\n"
        "  zvmlab records 1 9 --release 6.2",
    )
    add = parser.add_argument
    add(
        "domain",
        nargs="?",
        metavar="DOMAIN",
        help="number or name of a domain, such as 0 or system",
    )
    add("record", nargs="?", type=int, metavar="RECORD", help="number of a record of this domain")
    add("--release", metavar="V.R", help="only facts known for this release, such as 5.3")
    how = parser.add_mutually_exclusive_group()
    json_option(how)
    how.add_argument(
        "--markdown",
        action="store_true",
        help="print the complete catalogue as a page of Markdown",
    )
    parser.set_defaults(command=run_records)


def _domain(text: str) -> int:
    if text.lower() in DOMAINS:
        return DOMAINS.index(text.lower())
    if text.isascii() and text.isdigit() and int(text) < len(DOMAINS):
        return int(text)
    known = ", ".join(DOMAINS)
    raise UsageError(
        f"unknown monitor domain: {text} (0 to 11, {known}){did_you_mean(text, DOMAINS)}"
    )


def _chosen(arguments: argparse.Namespace) -> tuple[Layout, ...]:
    chosen = monrec.catalogue()
    if arguments.domain is not None:
        domain = _domain(arguments.domain)
        chosen = tuple(layout for layout in chosen if layout.domain == domain)
        if arguments.record is not None:
            chosen = tuple(layout for layout in chosen if layout.number == arguments.record)
            if not chosen:
                raise UsageError(f"the catalogue has no record D{domain}R{arguments.record}")
    return chosen


def run_records(arguments: argparse.Namespace) -> int:
    """Print the requested records."""
    release = None if arguments.release is None else monrec.parse_release(arguments.release)
    if arguments.markdown:
        if arguments.domain is not None or release is not None:
            raise UsageError(
                "--markdown prints the complete catalogue; leave out domain and release"
            )
        sys.stdout.write(markdown())
        return EXIT_PASS
    chosen = _chosen(arguments)
    if arguments.json:
        records = [_json(layout, release) for layout in chosen]
        json.dump({"sources": monrec.sources(), "records": records}, sys.stdout, indent=1)
        print()
    elif arguments.record is not None:
        _print_record(chosen[0], release)
    else:
        for layout in chosen:
            print(_line(layout, release or monrec.REFERENCE))
    return EXIT_PASS


def _fields(layout: Layout, release: int | None) -> tuple[Field, ...]:
    if release is None:
        return layout.fields
    return tuple(field for field in layout.fields if field.known_in(release))


def _json(layout: Layout, release: int | None) -> dict[str, Any]:
    lengths = [
        asdict(length)
        for length in layout.lengths
        if release is None or length.first <= release <= length.last
    ]
    fields = [asdict(field) for field in _fields(layout, release)]
    return asdict(layout) | {"id": layout.id, "lengths": lengths, "fields": fields}


def _releases(first: int, last: int) -> str:
    return release_text(first) if first == last else f"{release_text(first)}–{release_text(last)}"


def _known(layout: Layout) -> str:
    """How complete the layout of z/VM 5.3 is, in words."""
    if layout.complete:
        return "whole"
    return "in part" if layout.fields else "name only"


def _line(layout: Layout, release: int) -> str:
    length = layout.length(release)
    size = "-" if length is None else f"{length}{'+' if layout.variable else ''}"
    words = (f"{layout.id:<7}", layout.name, f"{layout.kind:<13}", f"{size:>5}")
    return "  ".join((*words, f"{_known(layout):<9}", layout.title or "-"))


def _table(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as what is in them; the last one as it is."""
    rows = list(rows)
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield "  ".join((*cells, row[-1])).rstrip()


COLUMNS = 110
"""The longest line of a page in Markdown (ci/pages.py)."""
HEADING = ("offset", "length", "field", "type", "nature", "unit", "releases", "source", "meaning")


def _row(field: Field) -> tuple[str, ...]:
    words = (str(field.offset), str(field.length), field.name, field.type)
    told = tuple("-" if word in ("unstated", "unknown") else word for word in _quantity(field))
    return (*words, *told, _releases(field.first, field.last), field.source, field.meaning or "-")


def _quantity(field: Field) -> tuple[str, str]:
    return field.nature, "" if field.unit == "none" else field.unit


def _lengths(layout: Layout) -> Iterator[str]:
    more = " and more" if layout.variable else ""
    for length in layout.lengths:
        yield f"{length.length} bytes{more} in {_releases(length.first, length.last)} ({length.source})"


def _print_record(layout: Layout, release: int | None) -> None:
    print(f"{layout.id} {layout.name}: {layout.title or 'its title is not known'}")
    print(f"kind: {layout.kind}; layout of z/VM 5.3: {_known(layout)}")
    for line in _lengths(layout):
        print(line)
    rows = [_row(field) for field in (*monrec.header().fields, *_fields(layout, release))]
    print()
    for line in _table([HEADING, *rows]):
        print(line)
    print()
    for name, text in monrec.sources().items():
        print(f"{name}: {text}")


_TOP = """\
<!-- SPDX-License-Identifier: MIT -->
# Monitor records

What is public of z/VM's monitor records: names, lengths, fields, and the source of each fact.

`zvmlab records --markdown` makes this page from the catalogue, `lib/monrec/catalogue*.c`.

z/VM 5.3 is the reference.  The column *layout* says what is known of its layout: *whole* means all fields,
*in part* some fields, and *name only* no field, at most a length.  An offset or a length has the first and
the last release in which its source shows it.  For other releases it is not known.  Where *ibm* begins or
ends with 5.3, the source may be zpmd for 5.3.  A *-* means that no source states the value.  Nothing is
guessed.

"""


_RELEASES = """\
How much is known of each release.  The layouts of 5.3 are zpmd's; those of all others are what the
beginnings of IBM's pages show, mostly a record's length and its first fields.  A table of monread whose
fields are not known in a release says so.

"""


def markdown() -> str:
    """The catalogue as a page."""
    out = [_TOP]
    out.append("| source | what it is |\n|---|---|\n")
    out += [f"| {name} | {text} |\n" for name, text in monrec.sources().items()]
    out += _markdown_releases()
    out.append("\n## Header\n\nEvery record begins with this header (MRRECHDR, 20 bytes).\n\n")
    out += _markdown_fields(monrec.header())
    for domain in range(len(DOMAINS)):
        layouts = [layout for layout in monrec.catalogue() if layout.domain == domain]
        out.append(f"\n## Domain {domain}: {monrec.domain_name(domain)}\n\n")
        out.append("| record | name | kind | length in 5.3 | layout | what it is |\n")
        out.append("|---|---|---|---|---|---|\n")
        out += [_markdown_line(layout) for layout in layouts]
        for layout in layouts:
            out += _markdown_record(layout)
    return "".join(out)


def _markdown_releases() -> Iterator[str]:
    yield "\n## Releases\n\n"
    yield _RELEASES
    yield "| release | records with a length | with fields | fields | their sources |\n"
    yield "|---|---|---|---|---|\n"
    for release in monrec.releases():
        fields = [[f for f in one.fields if f.known_in(release)] for one in monrec.catalogue()]
        found = [field.source for one in fields for field in one]
        sources = ", ".join(f"{found.count(name)} {name}" for name in monrec.sources())
        lengths = sum(one.length(release) is not None for one in monrec.catalogue())
        words = (release_text(release), lengths, sum(map(bool, fields)), len(found), sources)
        yield f"| {' | '.join(map(str, words))} |\n"


def _markdown_line(layout: Layout) -> str:
    length = layout.length()
    words = (layout.id, layout.name, layout.kind, "-" if length is None else str(length))
    return f"| {' | '.join((*words, _known(layout), layout.title or '-'))} |\n"


def _markdown_record(layout: Layout) -> Iterator[str]:
    if not layout.fields and not layout.lengths:
        return
    yield f"\n### {layout.id} {layout.name}\n\n"
    if layout.lengths:
        yield textwrap.fill(f"{'; '.join(_lengths(layout))}.", COLUMNS) + "\n"
    if layout.fields:
        yield "\n"
        yield from _markdown_fields(layout)


def _markdown_fields(layout: Layout) -> Iterator[str]:
    yield f"| {' | '.join(HEADING)} |\n|{'---|' * len(HEADING)}\n"
    for field in layout.fields:
        yield f"| {' | '.join(_row(field))} |\n"
