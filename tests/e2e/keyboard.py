# SPDX-License-Identifier: MIT
"""Typing at the console of a guest, as somebody who sits there."""

from __future__ import annotations

import socket

from zvmlab.guest.guest import Guest


def type_keys(guest: Guest, keys: bytes) -> None:
    """Whoever types does not look: what the console shows meanwhile is in its log."""
    path = guest.channels.console_socket
    assert path is not None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as console:
        console.connect(str(path))
        console.sendall(keys)
        console.shutdown(socket.SHUT_WR)
        # Until the emulator has taken all, and hangs up.
        while console.recv(65536):
            pass
