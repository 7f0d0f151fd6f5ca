# SPDX-License-Identifier: MIT
"""Sub-commands for faults: faults, fault arm, fault disarm, fault list."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from zvmlab.base.errors import EXIT_PASS, UsageError
from zvmlab.cli.options import command, json_option, running_guest, running_option, top_command
from zvmlab.cli.tools import REQUEST_SECONDS
from zvmlab.cp import fault_points
from zvmlab.cp.control import Control
from zvmlab.cp.faults import Fault, arm
from zvmlab.cp.faults_file import load


def add_commands(commands: Any) -> None:
    """faults, fault."""
    listing = top_command(
        commands,
        "faults",
        "  zvmlab faults\n  zvmlab faults --json",
    )
    json_option(listing)
    listing.set_defaults(command=run_faults)

    fault = top_command(
        commands,
        "fault",
        "  zvmlab fault arm iucv.reply rc 9 --nth 3\n"
        "  zvmlab fault arm interrupt drop --type 9 --name '*MONITOR' --times 1\n"
        "  zvmlab fault arm --file faults.json\n"
        "  zvmlab fault list\n"
        "  zvmlab fault disarm",
    )
    actions = fault.add_subparsers(metavar="ACTION", required=True)
    _add_arm(actions)
    disarm = command(
        actions, "disarm", "disarm rules", "  zvmlab fault disarm\n  zvmlab fault disarm 3"
    )
    disarm.add_argument(
        "rule", nargs="*", type=int, metavar="RULE", help="numbers of rules (default: all)"
    )
    running_option(disarm)
    disarm.set_defaults(command=run_disarm)
    armed = command(actions, "list", "list the armed rules", "  zvmlab fault list")
    json_option(armed)
    running_option(armed)
    armed.set_defaults(command=run_list)


def _add_arm(actions: Any) -> None:
    parser = command(
        actions,
        "arm",
        "arm a rule, or the rules of a file, and print their numbers",
        "  zvmlab fault arm monitor.connect sever 0x2c\n"
        "  zvmlab fault arm iucv.connect rc 11 --name '*MONITOR' --nth 2\n"
        "  zvmlab fault arm monitor.message corrupt 0xff --offset 4 --probability 0.1",
    )
    add = parser.add_argument
    add("point", nargs="?", metavar="POINT", help="where to fail; 'zvmlab faults' lists the points")
    add("kind", nargs="?", metavar="KIND", help="how to fail")
    add(
        "value",
        nargs="?",
        type=_number,
        default=0,
        metavar="VALUE",
        help="value of the kind (default: 0)",
    )
    add(
        "--offset",
        type=_number,
        default=0,
        metavar="N",
        help="for corrupt: number of the byte (default: 0)",
    )
    for field in fault_points.fields().values():
        if field.filter and field.type == "name":
            add(f"--{field.name}", metavar="NAME", help=_help(field))
        elif field.filter:
            add(f"--{field.name}", type=_number, metavar="N", help=_help(field))
    when = parser.add_mutually_exclusive_group()
    when.add_argument("--nth", type=_number, metavar="N", help="fire at the Nth call only")
    when.add_argument("--every", type=_number, metavar="N", help="fire at every Nth call")
    when.add_argument(
        "--probability",
        type=float,
        metavar="P",
        help="fire with this probability, above 0 and up to 1",
    )
    add(
        "--times",
        type=_number,
        default=0,
        metavar="N",
        help="fire at most N times (default: no limit)",
    )
    add("--file", type=Path, metavar="FILE", help="arm the rules of this JSON file")
    running_option(parser)
    parser.set_defaults(command=run_arm)


def _help(field: fault_points.FaultField) -> str:
    text = field.text[0].lower() + field.text[1:].rstrip(".")
    return text if field.only is None else f"{text} ({field.only}: {field.least} to {field.most})"


def _number(text: str) -> int:
    """Decimal, or hexadecimal with 0x."""
    try:
        return int(text, 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a number, such as 11 or 0x0b") from None


@contextmanager
def _control(arguments: argparse.Namespace) -> Iterator[Control]:
    with Control.connect(running_guest(arguments).control, REQUEST_SECONDS) as control:
        yield control


def _values(kind: fault_points.FaultKind) -> str:
    return kind.name if kind.most == 0 else f"{kind.name} {kind.least}-{kind.most}"


def run_faults(arguments: argparse.Namespace) -> int:
    """All points and kinds, from CP's own tables."""
    points = fault_points.points().values()
    if arguments.json:
        json.dump({"points": [_point_json(point) for point in points]}, sys.stdout, indent=1)
        print()
        return EXIT_PASS
    for point in points:
        print(f"{point.name:<22} {point.text}")
        print(f"{'':<22} {', '.join(_values(kind) for kind in point.kinds)}")
    print()
    for kind in fault_points.kinds().values():
        print(f"{kind.name:<22} {kind.text}")
    return EXIT_PASS


def _point_json(point: fault_points.FaultPoint) -> dict[str, Any]:
    kinds = [{"kind": k.name, "min": k.least, "max": k.most, "text": k.text} for k in point.kinds]
    return {"point": point.name, "text": point.text, "kinds": kinds}


def _rules(arguments: argparse.Namespace) -> tuple[Fault, ...]:
    if arguments.file is not None:
        if arguments.point is not None:
            raise UsageError("--file cannot be used together with a point")
        return load(arguments.file)
    if arguments.point is None or arguments.kind is None:
        raise UsageError("nothing to arm; give POINT KIND [VALUE], or --file FILE")
    words = [field.name for field in dataclasses.fields(Fault)]
    fault = Fault(**{word: getattr(arguments, word) for word in words})
    fault_points.check(fault)
    return (fault,)


def run_arm(arguments: argparse.Namespace) -> int:
    """One line for each rule: its number and what it does."""
    rules = _rules(arguments)
    with _control(arguments) as control:
        for rule in arm(control, *rules):
            print(f"{rule.rule:>4}  {rule.fault}")
    return EXIT_PASS


def run_disarm(arguments: argparse.Namespace) -> int:
    """Say how many have gone."""
    with _control(arguments) as control:
        numbers = arguments.rule or [None]
        gone = 0
        for number in numbers:
            which = {} if number is None else {"rule": number}
            gone += control.execute("fault-disarm", **which)["disarmed"]
    print(f"{gone} disarmed")
    return EXIT_PASS


def run_list(arguments: argparse.Namespace) -> int:
    """One line for each rule, with the calls it matched and fired at."""
    with _control(arguments) as control:
        rules = control.execute("query-faults")["rules"]
    if arguments.json:
        json.dump(rules, sys.stdout, indent=1)
        print()
        return EXIT_PASS
    for rule in rules:
        print(f"{rule['rule']:>4}  {_text(rule)}: matched {rule['matched']}, fired {rule['fired']}")
    return EXIT_PASS


def _text(rule: dict[str, Any]) -> str:
    """A rule of query-faults, as Fault spells it."""
    words = {word: rule[word] for word in ("point", "kind", "value", "offset", "times")}
    words |= {word: rule[word] or None for word in ("name", "user", "type")}
    words["path"] = rule.get("path")
    if rule["when"] == "probability":
        words["probability"] = rule["n"] / 1e6
    elif rule["when"] != "always":
        words[rule["when"]] = rule["n"]
    return str(Fault(**words))
