# SPDX-License-Identifier: MIT
"""libmonrec in Python: the release of z/VM that wrote the data, by the lengths of records.

    evidence = Evidence()
    evidence.add(0, 2, 140)
    release_of(4, 9, 196, evidence.releases)

``lib/monrec/monrec.h`` says what lengths tell.
"""

from __future__ import annotations

import ctypes
import functools

from zvmlab.base.errors import UsageError
from zvmlab.mondata import monrec

_DOMAINS = 12
_NUMBERS = 128
_RELEASES = 17


class CRecord(ctypes.Structure):
    """``struct monrec_record``"""

    _fields_ = [
        ("data", ctypes.POINTER(ctypes.c_uint8)),
        ("len", ctypes.c_uint32),
        ("address", ctypes.c_uint32),
        ("tod", ctypes.c_uint64),
        ("number", ctypes.c_uint16),
        ("domain", ctypes.c_uint8),
        ("release", ctypes.c_uint16),
    ]


class _CEvidence(ctypes.Structure):
    _fields_ = [
        ("len", ctypes.c_uint16 * (_DOMAINS * _NUMBERS)),
        ("fits", ctypes.c_uint16 * _RELEASES),
        ("differs", ctypes.c_uint16 * _RELEASES),
        ("types", ctypes.c_uint),
    ]


@functools.cache
def _loaded() -> ctypes.CDLL:
    lib = monrec.loaded()
    lib.monrec_release_bit.argtypes = [ctypes.c_uint]
    lib.monrec_release_bit.restype = ctypes.c_uint32
    lib.monrec_evidence_add.argtypes = [ctypes.POINTER(_CEvidence), ctypes.POINTER(CRecord)]
    lib.monrec_evidence_add.restype = None
    lib.monrec_evidence_releases.argtypes = [ctypes.POINTER(_CEvidence)]
    lib.monrec_evidence_releases.restype = ctypes.c_uint32
    lib.monrec_record_release.argtypes = [ctypes.POINTER(CRecord), ctypes.c_uint32]
    lib.monrec_record_release.restype = ctypes.c_uint
    return lib


def _record(domain: int, number: int, length: int) -> CRecord:
    return CRecord(domain=domain, number=number, len=length)


class Evidence:
    """Evidence of the release in the data, unless *release* is given."""

    def __init__(self, release: int = 0) -> None:
        self._found = _CEvidence()
        self._given: int = _loaded().monrec_release_bit(release)
        if release and not self._given:
            raise UsageError(f"unknown release of z/VM: {release} (530 is 5.3)")

    def add(self, domain: int, number: int, length: int) -> None:
        """Take what the length of a record tells."""
        record = _record(domain, number, length)
        _loaded().monrec_evidence_add(ctypes.byref(self._found), ctypes.byref(record))

    @property
    def releases(self) -> int:
        """A bit for each release that the data can be of; 0: nothing tells."""
        return self._given or int(_loaded().monrec_evidence_releases(ctypes.byref(self._found)))


@functools.lru_cache(1024)
def release_of(domain: int, number: int, length: int, releases: int = 0) -> int:
    """The release whose layout has that length, of *releases* (0: of all).

    0: in all of them it has another length, or the catalogue does not know the record.
    """
    record = _record(domain, number, length)
    return int(_loaded().monrec_record_release(ctypes.byref(record), releases))
