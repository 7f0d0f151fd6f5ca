# SPDX-License-Identifier: MIT
"""Operands of the instructions that the ports decode: every register, base and displacement."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from reports import expect_nothing_wrong

from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

pytestmark = pytest.mark.first_kernel(always=True)
CODE = 0x9C
DISPLACEMENTS = (0, 1, 0x9C, 0x7FF, 0x800, 0xABC, 0xFFF)
MODES = (64, 31, 24)
REPORTS = {
    "STSI": 100,
    "STHYI": 768,
    "SIGP": 106,
    "CONTROL REGISTERS": 256,
    "KEYS": 768,
    "TPROT": 105,
}

Given = tuple[int, ...]
"""R1, R3, addressing mode and general registers of a DIAGNOSE; mode, GR0 and GR1 of an IUCV."""


@pytest.fixture
def guest_config(bare: Build) -> GuestConfig:
    """The bare-metal program instead of a kernel."""
    return GuestConfig(kernel=str(bare("operands")))


def _registers(number: int) -> list[int]:
    base = 0xFEDC000000000000 + (number << 24) + 0x5A5A
    return [base + (register << 16) for register in range(16)]


def _diagnoses() -> Iterator[Given]:
    """Execute DIAGNOSE codes as bare/operands.c does."""
    operands = [(base, add) for base in range(16) for add in DISPLACEMENTS if base or add == CODE]
    for number, (base, add) in enumerate(operands):
        registers = _registers(number)
        if base:
            registers[base] = registers[base] & ~0xFFFF | (CODE - add) % 0x10000
        yield (number % 16, number // 16, MODES[number % 3], *registers)
    for pair in range(256):
        yield (pair // 16, pair % 16, 64, *_registers(len(operands) + pair))


def _iucvs() -> Iterator[Given]:
    for number in range(16 * len(DISPLACEMENTS)):
        yield (MODES[number % 3], 0, _registers(number)[1])


@pytest.mark.representative
def test_operands_are_decoded(made_guest: Guest) -> None:
    cases = (f"{what} CASES {count:04X}" for what, count in REPORTS.items())
    expect_nothing_wrong(made_guest, cases)

    trace = made_guest.channels.trace
    assert trace is not None
    records = [json.loads(line) for line in trace.read_text(encoding="ascii").splitlines()]
    diagnoses = [
        (r["r1"], r["r3"], r["amode"], *(int(gr, 16) for gr in r["gr"]))
        for r in records
        if r["call"] == "diag.9c"
    ]
    assert diagnoses == list(_diagnoses())
    iucvs = [
        (r["amode"], int(r["gr0"], 16), int(r["gr1"], 16))
        for r in records
        if r["call"] == "iucv.query"
    ]
    assert iucvs == list(_iucvs())
