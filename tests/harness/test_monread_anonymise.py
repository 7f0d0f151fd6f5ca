# SPDX-License-Identifier: MIT
"""monread --anonymise: nobody is named, the same is replaced by the same, the rest stays."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from examples import some
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from monread_tool import END, START, build_monread, part, run, stream, user

from zvmlab.base.errors import EXIT_PASS, EXIT_USAGE
from zvmlab.mondata.monrec import REFERENCE, Layout, catalogue
from zvmlab.mondata.monwrite import END_OF_DATA, Notification, control_and_frames, read_sets
from zvmlab.mondata.records import EVENT, Record, parse_set

VOLUME = "VOL001".encode("cp037")
MODEL = "MODEL".ljust(16).encode("cp037")
SERIAL = "00000000000ABCDE".encode("cp037")


@pytest.fixture(name="monread", scope="module")
def _monread() -> Path:
    return build_monread()


@pytest.fixture(name="key")
def _key(tmp_path: Path) -> Path:
    key = tmp_path / "key"
    key.write_bytes(bytes(range(16)))
    return key


def owner(name: str) -> Record:
    """D8R1, whose owner is a user; the adapter has an address."""
    payload = bytearray(296)
    payload[24 - 20 : 32 - 20] = name.ljust(8).encode("cp037")
    payload[36 - 20 : 42 - 20] = bytes.fromhex("020000000001")
    payload[44 - 20 : 60 - 20] = "LAN1".ljust(16).encode("cp037")
    return Record(8, 1, 5, bytes(payload))


def device(number: int, volume: bytes = VOLUME) -> Record:
    """D3R4: volume, device number, subchannel, and counters."""
    payload = volume + number.to_bytes(2, "big") + b"\0\1" + number.to_bytes(2, "big")
    return Record(3, 4, 5, payload + bytes(range(140)))


def system() -> Record:
    """D1R4 with a serial number."""
    payload = bytearray(164)
    payload[112 - 20 : 128 - 20] = MODEL
    payload[128 - 20 : 144 - 20] = SERIAL
    return Record(1, 4, 5, bytes(payload))


def fields(monread: Path, key: Path | None, *records: Record) -> list[dict[str, Any]]:
    """Of each record, as JSON."""
    words: list[str | Path] = [] if key is None else ["--anonymise", key]
    done = run(monread, "-", "--json", "--values", *words, data=stream(part(*records)))
    assert done.returncode == EXIT_PASS, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [line["fields"] for line in lines if line["item"] == "record"]


def test_what_is_replaced(monread: Path, key: Path) -> None:
    records = (user("LINUX001"), owner("LINUX001"), device(0x1234), system(), END)
    before = fields(monread, None, *records)
    after = fields(monread, key, *records)
    assert [set(one) for one in before] == [set(one) for one in after]
    changed = [
        {name for name, value in one.items() if value != after[at][name]}
        for at, one in enumerate(before)
    ]
    assert changed == [
        {"VMDUSER"},
        {"OWNER", "NICMAC", "LANID"},
        {"CALVSER", "RDEVDEV", "RDEVSID"},
        {"SYSMSEQC"},
        set(),
    ]
    assert after[0]["VMDUSER"] == after[1]["OWNER"]
    assert after[1]["OWNER"].startswith("U") and len(after[1]["OWNER"]) == 8
    assert after[2]["RDEVSID"] == 0x10000 | after[2]["RDEVDEV"]
    assert after[2]["CALVSER"].startswith("V") and len(after[2]["CALVSER"]) == 6


def test_the_key_decides(monread: Path, key: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(bytes(range(1, 17)) + b"more is not looked at")
    names = [fields(monread, one, user("LINUX001"), END)[0]["VMDUSER"] for one in (key, key, other)]
    assert names[0] == names[1] != names[2]


def test_nobody_stays_nobody(monread: Path, key: Path) -> None:
    found = fields(monread, key, user(""), device(0, b"\x40" * 6), END)
    assert (found[0]["VMDUSER"], found[1]["CALVSER"], found[1]["RDEVDEV"]) == ("", "", 0)


def test_device_numbers_stay_apart(monread: Path, key: Path) -> None:
    """Every number has a replacement of its own: a permutation."""
    found = fields(monread, key, *(device(number) for number in range(1, 65536, 97)), END)
    numbers = [name["RDEVDEV"] for name in found if name]
    assert len(numbers) == 676 and len(set(numbers)) == 676 and 0 not in numbers


def test_siphash(monread: Path, tmp_path: Path) -> None:
    """The name of a user by the algorithm's definition, computed here."""
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef")
    number = siphash(b"0123456789abcdef", b"\1\0" + "MAINT".encode("cp037"))
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    name = "U" + "".join(digits[number // 36**place % 36] for place in range(7))
    assert fields(monread, key, user("MAINT"), END)[0]["VMDUSER"] == name


def siphash(key: bytes, data: bytes) -> int:
    """SipHash-2-4; words of the key are big-endian here."""
    mask = 2**64 - 1
    k = [int.from_bytes(key[:8], "big"), int.from_bytes(key[8:], "big")]
    start = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    v = [k[i % 2] ^ start[i] for i in range(4)]

    def rotate(value: int, by: int) -> int:
        return (value << by | value >> (64 - by)) & mask

    def rounds(count: int) -> None:
        for _ in range(count):
            v[0] = (v[0] + v[1]) & mask
            v[2] = (v[2] + v[3]) & mask
            v[1], v[3] = rotate(v[1], 13) ^ v[0], rotate(v[3], 16) ^ v[2]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[1]) & mask
            v[0] = (v[0] + v[3]) & mask
            v[1], v[3] = rotate(v[1], 17) ^ v[2], rotate(v[3], 21) ^ v[0]
            v[2] = rotate(v[2], 32)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data)])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def test_reference_vector() -> None:
    """That of the algorithm's paper, whose key words are little-endian."""
    key = bytes(range(7, -1, -1)) + bytes(range(15, 7, -1))
    assert siphash(key, bytes(range(15))) == 0xA129CA6149BE45E5


SECRET = "SECRETID".encode("cp037")


def as_long(layout: Layout) -> tuple[int, int, bytes]:
    """A record as long as in 5.3, full of secrets."""
    return layout.domain, layout.number, (SECRET * 120)[: (layout.length() or 20) - 20]


def half_secret(domain: int, number: int, data: bytes) -> tuple[int, int, bytes]:
    return domain, number, (SECRET * 120)[: len(data) + 1] + data


@given(
    st.lists(
        st.one_of(
            st.builds(half_secret, st.integers(0, 12), st.integers(0, 40), st.binary(max_size=900)),
            st.sampled_from([one for one in catalogue() if one.length()]).map(as_long),
        ),
        max_size=8,
    ),
    st.integers(0, 1000),
)
@settings(
    max_examples=some(40),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_nothing_that_is_not_explained_gets_out(
    monread: Path, key: Path, tmp_path: Path, drawn: list[tuple[int, int, bytes]], phase: int
) -> None:
    """A secret in every place of every record, known or not, and between the records."""
    records = [Record(domain, number, 7, data) for domain, number, data in drawn]
    made = part(*records, Record(4, 250, 7, SECRET * 3), type=EVENT, start=START + phase)
    file = tmp_path / "file"
    # What lies in frames beside the records, too.
    whole = bytearray(control_and_frames(Notification(), [made]))
    whole[4096 : 4096 + phase % 4096] = (SECRET * 600)[: phase % 4096]
    file.write_bytes(bytes(whole) + END_OF_DATA)
    outputs: tuple[str | Path, ...]
    outputs = ("--write-monwrite", tmp_path / "m", "--write-stream", tmp_path / "s")
    outputs += ("--csv", tmp_path / "c", "--release", "5.3")
    run(monread, "--monwrite", file, *outputs, "--anonymise", key)
    (found,) = read_sets(io.BytesIO((tmp_path / "m").read_bytes()))
    assert found.stream() == (tmp_path / "s").read_bytes()
    (after,) = parse_set(found.stream())
    assert after.mce == made.mce
    assert [(r.domain, r.number, r.tod, len(r.payload)) for r in after.records()] == [
        (r.domain, r.number, r.tod, len(r.payload)) for r in made.records()
    ]
    for before, now in zip(made.records(), after.records(), strict=True):
        told = explained(now)
        assert not any(byte for at, byte in enumerate(now.payload) if at not in told)
        # What is explained and names nobody stays.
        assert all(now.payload[at] == before.payload[at] for at in told if told[at])
    for row in csv.DictReader((tmp_path / "c" / "unknown.csv").open()):
        assert set(row["data"]) <= {"0"}


IDENTITIES = (
    "VMDUSER",
    "OWNER",
    "RDEVDEV",
    "RDEVSID",
    "CALVSER",
    "CPVOLSER",
    "PFXIDSER",
    "NAME",
    "VOL",
    "EDEV",
    "LAN",
    "SDF",
)
"""Parts of the names of fields that may be replaced."""


def explained(record: Record) -> dict[int, bool]:
    """Places behind the header that the catalogue explains in 5.3; are they surely no names?

    None if the record is not as long as in 5.3: what is known may be elsewhere then.
    """
    places: dict[int, bool] = {}
    layout = next(
        (one for one in catalogue() if (one.domain, one.number) == (record.domain, record.number)),
        None,
    )
    size, known = len(record.payload) + 20, layout.length() if layout else None
    if not layout or known is None or size < known or (size > known and not layout.variable):
        return places
    for field in layout.fields:
        end = field.offset - 20 + field.length
        if field.known_in(REFERENCE) and end <= len(record.payload):
            for at in range(field.offset - 20, end):
                places[at] = field.nature == "counter" and not any(
                    part in field.name for part in IDENTITIES
                )
    return places


def test_keys_that_will_not_do(monread: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(bytes(15))
    done = run(monread, "-", "--anonymise", key)
    assert done.returncode == EXIT_USAGE
    assert done.stderr == f"monread: {key}: a key has 16 bytes, this file has fewer\n"
    done = run(monread, "-", "--anonymise", tmp_path / "none")
    assert done.returncode == EXIT_USAGE and "No such file or directory" in done.stderr
