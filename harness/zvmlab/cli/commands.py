# SPDX-License-Identifier: MIT
"""The sub-commands, in groups and in the order of the help: what each does, and its module.

The help names all of them, and imports none of their modules.
"""

from __future__ import annotations


class _Command:
    def __init__(self, module: str, text: str) -> None:
        self.module = module
        """Name in zvmlab.cli; its add_commands() adds the parser."""
        self.text = text


GROUPS = {
    "run guests": {
        "doctor": _Command("tools", "report what this machine lacks, and how to install it"),
        "demo": _Command("guest", "read monitor data sets in a guest and compare every byte"),
        "run": _Command("guest", "run a program in a guest and return its exit status"),
        "shell": _Command(
            "guest", "boot a guest, start the monitor, and connect the guest to this terminal"
        ),
    },
    "run systems of several guests": {
        "up": _Command(
            "up", "start the guests of a file on one CP, and show them until Ctrl-C ends all"
        ),
    },
    "look at running guests": {
        "list": _Command("tools", "list the running guests and systems"),
        "cp": _Command("tools", "give commands to the CP of a running guest, as the operator"),
        "console": _Command(
            "console",
            "connect to a terminal of a running guest, as another z/VM user by IUCV; Ctrl-] ends it",
        ),
        "top": _Command(
            "top",
            "show the activity of a system live: processors, users, paging, devices, events",
        ),
        "dump": _Command("dump", "write the storage of a running guest for a debugger"),
    },
    "let CP fail": {
        "faults": _Command(
            "fault", "list the points where CP can fail on purpose, and the kinds of fault at each"
        ),
        "fault": _Command("fault", "arm, disarm or list the fault rules of a running guest"),
        "trace": _Command(
            "tools", "print a CP trace in a readable form, or write it as a timeline"
        ),
        "replay": _Command(
            "replay", "run CP again on a trace, without an emulator, and compare the traces"
        ),
    },
    "test drivers": {
        "scenarios": _Command("sweep", "list the scenarios that come with zvmlab"),
        "sweep": _Command("sweep", "run a scenario with every fault at every call of CP"),
        "diff": _Command(
            "differ",
            "run the same scenarios with two drivers or emulators, and explain every difference",
        ),
        "coverage": _Command(
            "coverage", "show which lines, branches and functions of Linux ran, and which did not"
        ),
        "merge": _Command(
            "merge", "merge the results of all shards of a run, and report the overall verdict"
        ),
        "fuzz": _Command(
            "fuzz", "fuzz a kernel with steps of programs and of CP, led by the code that runs"
        ),
        "museum": _Command("museum", "bring old bugs of Linux back, and show that tests see them"),
        "try": _Command(
            "verdict", "try a series of patches: what newly fails or passes in guests with it"
        ),
        "bisect": _Command(
            "verdict", "find the commit of a kernel or of a module that breaks a test"
        ),
        "module": _Command("module", "build modules of your own for guest kernels"),
    },
    "make monitor data": {
        "fabricate": _Command(
            "fabricate", "write the monitor data of a modelled system, described by a file"
        ),
        "redeliver": _Command(
            "redeliver", "deliver recorded monitor data to the readers of a running guest"
        ),
        "records": _Command(
            "records",
            "print the catalogue of z/VM monitor records: names, lengths, fields, sources",
        ),
    },
    "prepare this machine": {
        "fetch": _Command(
            "tools", "fetch guest kernels into the cache, or build them from source trees"
        ),
        "build": _Command(
            "tools", "build the emulator, or the module that it loads, into the cache"
        ),
        "completion": _Command(
            "complete", "print a script that completes command lines with the TAB key"
        ),
    },
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}
HEADINGS = {next(iter(group)): title for title, group in GROUPS.items()}
"""The title of a group, by its first command."""
