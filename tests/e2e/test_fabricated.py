# SPDX-License-Identifier: MIT
"""Data sets of a modelled system, read in a guest."""

from __future__ import annotations

import io
import json
from itertools import islice
from pathlib import Path

import pytest

from zvmlab.fabricate_file import read_scenario
from zvmlab.guest import Guest
from zvmlab.model import Model
from zvmlab.monitor import DataSets, deliver
from zvmlab.monrec_reader import Format, Kind, read

SETS = 24
SCENARIO = {
    "hours": 0.5,
    "interval": 60,
    "segment": {"start": "9000", "megabytes": 8, "sample_config": 0},
    "release": "6.2",
    "users": [{"name": "LINUX", "count": 60, "cpu_percent": 2, "transactions": 1}],
    "devices": [{"kind": "dasd", "first": "1000", "count": 8}],
    "events": [{"at": "00:02", "what": "storm", "per_second": 40, "minutes": 1}],
}


@pytest.mark.representative
def test_fabricated_sets_are_read_byte_for_byte(monreader: Guest, tmp_path: Path) -> None:
    """Whatever was read in the guest before: records are the model's, and pass the validator."""
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(SCENARIO))
    stream = bytearray()
    with Model(read_scenario(file)) as model, DataSets(monreader.agent) as reader:
        for made in islice(model.sets(), SETS):
            answer = deliver(monreader.control, made.kind, made.element())
            assert answer.fate == "delivered"
            wanted = b"".join(made.stream())
            found = reader.read().stream
            # Where in its area a set lies depends on those before; what it is does not.
            assert found[:4] == wanted[:4] and found[12:] == wanted[12:]
            assert int.from_bytes(found[4:8], "big") % 4096 == made.mce.start % 4096 == 0
            stream += found
    assert len(stream) > 500_000
    items = list(read(io.BytesIO(stream), Format.SAVED, 620))
    assert not [item.text for item in items if item.kind is Kind.VIOLATION]
    assert sum(item.kind is Kind.ELEMENT for item in items) == SETS
