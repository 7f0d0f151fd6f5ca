# SPDX-License-Identifier: MIT
"""Monitor data of a workload, read back by libmonrec alone: the model judged from without."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zvmlab.cli.fabricate import MONWRITE, fabricate
from zvmlab.fabricate.file import workload
from zvmlab.fabricate.model import Totals
from zvmlab.fabricate.workload_json import Node
from zvmlab.mondata.monrec_reader import Format, Kind, Record, read

TOD_MS = 4_096_000

SMALL: dict[str, Any] = {
    "seed": 3,
    "hours": 0.1,
    "interval": 30,
    "system": {"storage_mb": 4096},
    "processors": [{"type": "CP", "count": 2}, {"type": "IFL", "count": 2}],
    "devices": [
        {"kind": "scsi", "first": "1000", "count": 4, "paths": ["40", "41"]},
        {"kind": "dasd", "first": "2000", "count": 2, "paths": ["41"]},
        {"kind": "paging", "first": "3000", "count": 2, "volume": "PAG"},
        {"kind": "osa", "first": "0600"},
    ],
    "users": [
        {"name": "LINUX", "count": 6, "type": "IFL", "cpu_percent": 60, "io": 80, "paging": 3,
         "packets": 200, "application": True, "transactions": 10, "storage_mb": 1024},
        {"name": "TCPIP", "cpu_percent": 5, "packets": 900, "transactions": 10},
    ],
}  # fmt: skip


def _values(record: Record) -> dict[str, Any]:
    """The values of all fields: in z/VM 5.3, or where another release has them."""
    assert record.layout is not None
    return {item.name: record.value(item) for item in record.layout.fields} | record.values()


@dataclass
class DataSet:
    """Records of a set, the framing left out; addresses of its element."""

    type: int
    start: int
    end: int
    records: list[Record] = field(default_factory=list)

    def of(self, name: str) -> list[dict[str, Any]]:
        """Values of all records of that name."""
        return [
            _values(record)
            for record in self.records
            if record.layout and record.layout.name == name
        ]

    def one(self, name: str) -> dict[str, Any]:
        """Values of the only record of that name."""
        (found,) = self.of(name)
        return found


def changed(**changes: Any) -> dict[str, Any]:
    """The small workload with other members."""
    return {**SMALL, **changes}


def written(
    members: dict[str, Any], format: str = MONWRITE, pages: Sequence[Path] = ()
) -> tuple[bytes, Totals]:
    """The data, and the model's own count of them."""
    file = io.BytesIO()
    totals = fabricate(workload(Node("test.json", members)), file, format, pages)
    return file.getvalue(), totals


def sets_of(data: bytes, release: int = 530) -> list[DataSet]:
    """Its sets; any broken rule fails."""
    return list(_sets(data, release))


def _sets(data: bytes, release: int) -> Iterator[DataSet]:
    for item in read(io.BytesIO(data), Format.MONWRITE, release):
        assert item.kind is not Kind.VIOLATION, item.text
        assert item.kind not in (Kind.SET_LOST, Kind.ERROR)
        if item.kind is Kind.ELEMENT:
            found = DataSet(item.element.type, item.element.start, item.element.end)
        elif item.kind is Kind.RECORD:
            assert item.record is not None
            found.records.append(item.record)
        elif item.kind is Kind.SET_END:
            yield found


def fabricated(**changes: Any) -> list[DataSet]:
    """Sets of the small workload with changes."""
    return sets_of(written(changed(**changes))[0])


def samples(sets: list[DataSet]) -> list[DataSet]:
    """The sample sets of intervals."""
    return [data_set for data_set in sets if data_set.of("SYTSYG")]


def events(sets: list[DataSet], name: str) -> list[dict[str, Any]]:
    """Values of all event records of that name."""
    return [values for data_set in sets if data_set.type == 0xC5 for values in data_set.of(name)]
