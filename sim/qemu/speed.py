# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes QEMU 7.2 faster and changes nothing that a guest sees: docs/qemu-speed.md.

CHANGES is the one list of them.  Each can be left out of a build by its name:
``ZVMLAB_QEMU_WITHOUT="slots lowcore" make ...``; the builds are kept side by side.
"""

from __future__ import annotations

from hook import Change

CHANGES: tuple[Change, ...] = ()
