# SPDX-License-Identifier: MIT
"""Shards: a run that several machines share, each with a part of its own.

Shard I of N has every N-th item, from the I-th on.  Which these are follows from the order of
the items alone, so machines need not talk to each other, and neighbours, which often take
equally long, go to different ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from zvmlab.base.errors import UsageError

MAX_SHARDS = 9999
_TEXT = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Shard:
    """Number *number* of *count*; the first of one is the whole."""

    number: int = 1
    count: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def whole(self) -> bool:
        """Is it all there is?"""
        return self.count == 1

    @property
    def folder(self) -> str:
        """The suffix of a folder's name for this shard; "" for the whole."""
        return "" if self.whole else f"-{self.number}-of-{self.count}"

    def share(self, items: Sequence[_Item]) -> list[_Item]:
        """The items of this shard, in their order."""
        return list(items[self.number - 1 :: self.count])


def shard_of(text: str) -> Shard:
    """The shard "2/8"; UsageError if the text names none."""
    found = _TEXT.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        raise UsageError(
            f"invalid shard: {text[:40]!r} (I/N with I from 1 to N, N up to {MAX_SHARDS}, as in 2/8)"
        )
    return Shard(int(found[1]), int(found[2]))
