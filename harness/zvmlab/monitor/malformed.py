# SPDX-License-Identifier: MIT
"""Control areas as nobody should write them: placed in the segment by hand, then announced."""

from __future__ import annotations

from dataclasses import dataclass

from zvmlab.base.errors import ZvmlabError
from zvmlab.cp.control import Control
from zvmlab.mondata.records import MCE_SIZE, SAMPLE, Mce, domain_bits

SEGMENT = "MONDCSS"
USER_DOMAIN = domain_bits("user")
# Far from what CP gives out first, each on pages of its own.
_RECORDS = 0x600000
_CONTROL = 0x700000


@dataclass(frozen=True)
class Place:
    """The segment of a guest, written from outside; addresses are guest absolute."""

    control: Control
    name: str
    start: int
    end: int

    @classmethod
    def of(cls, control: Control, name: str = SEGMENT) -> Place:
        """The segment of that name."""
        segments = control.execute("query-segments")["segments"]
        found = next(segment for segment in segments if segment["name"] == name)
        return cls(control, name, found["start"], found["end"])

    @property
    def records(self) -> int:
        """The first address for records."""
        return self.start + _RECORDS

    @property
    def area(self) -> int:
        """The address for a control area."""
        return self.start + _CONTROL

    def put(self, address: int, data: bytes) -> None:
        """Write into the segment, as CP does."""
        offset = address - self.start
        self.control.execute("segment-write", name=self.name, offset=offset, data=data)

    def announce(self, start: int, end: int) -> None:
        """Tell every reader of a control area with these bounds, true or not."""
        answer = self.control.execute(
            "monitor-raw", kind="sample", **{"mca-start": start, "mca-end": end}
        )
        if answer["fate"] != "delivered":
            raise ZvmlabError(f"no user got the control area: {answer['fate']}")

    def announce_elements(self, *elements: Mce) -> None:
        """Put the control elements at the usual place and announce them."""
        self.put(self.area, b"".join(element.encode() for element in elements))
        self.announce(self.area, self.area + len(elements) * MCE_SIZE - 1)

    def element(self, length: int, at: int = 0) -> Mce:
        """A proper element for *length* bytes of records, which stand *at* bytes into their place."""
        first = self.records + at
        return Mce(SAMPLE, USER_DOMAIN, 0, first, first + length - 1)
