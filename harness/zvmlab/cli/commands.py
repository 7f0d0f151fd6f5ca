# SPDX-License-Identifier: MIT
"""The sub-commands, in the order of the help: the module of each, and what it does.

The help names all of them, and none has to be imported for that.
"""

from __future__ import annotations

COMMANDS = {
    "guest": {
        "run": "run a program in a guest and return its exit status",
        "shell": "boot a guest, start the monitor, and connect the guest to this terminal",
        "demo": "read monitor data sets in a guest and compare every byte",
    },
    "console": {
        "console": "connect to a terminal of a running guest, as another z/VM user by IUCV; Ctrl-] ends it",
    },
    "fault": {
        "faults": "list the points where CP can be told to fail, and the kinds of fault at each",
        "fault": "arm, disarm or list the fault rules of a running guest",
    },
    "sweep": {
        "scenarios": "list the scenarios that come with zvmlab",
        "sweep": "run a scenario with every fault at every call of CP",
    },
    "differ": {
        "diff": "run the same scenarios twice and explain every difference",
    },
    "merge": {
        "merge": "put the results of all shards of a run together, and judge the whole",
    },
    "module": {
        "module": "build modules of your own for guest kernels",
    },
    "records": {
        "records": "print the catalogue of z/VM monitor records: names, lengths, fields, sources",
    },
    "fabricate": {
        "fabricate": "write the monitor data of a modelled system that a file describes",
    },
    "redeliver": {
        "redeliver": "deliver recorded monitor data to the readers of a running guest",
    },
    "replay": {
        "replay": "run CP again on a trace, without an emulator, and compare the traces",
    },
    "tools": {
        "cp": "give commands to the CP of a running guest, as the operator",
        "list": "list the running guests",
        "trace": "print a CP trace in a readable form, or write it as a timeline",
        "fetch": "fetch guest kernels into the cache, or build them from source trees",
        "build": "build the emulator, or the module that it loads, into the cache",
        "doctor": "say what is missing on this machine, and how to install it",
    },
    "top": {
        "top": "show the activity of a system live: processors, users, paging, devices, events",
    },
    "complete": {
        "completion": "print a script with which the TAB key completes command lines",
    },
}
"""By the module of zvmlab.cli that adds them."""
TEXTS = {name: text for names in COMMANDS.values() for name, text in names.items()}
