# SPDX-License-Identifier: MIT
"""The doors of a source, the tests that open them, and the list of those that none opens."""

from __future__ import annotations

import json
from pathlib import Path

import linux_doors
import pytest
from linux_doors import Door, doors_of, opened, page_and_faults, reasons_in, callers_in
from linux_map import series_part
from zvmlab.base.cache import cache_root
from zvmlab.base.errors import UsageError

SOURCE = """
/* static DEVICE_ATTR_RW(gone); */
static int card_open(struct inode *inode, struct file *file)
{
}
static ssize_t card_read(struct file *file, char __user *to,
			 size_t len)
{
}
static ssize_t speed_show(struct device *dev, char *to)
{
}
static ssize_t speed_store(struct device *dev, const char *from)
{
}
static int __init depth_setup(char *text)
{
}
static const struct file_operations card_ops = {
	.owner	 = THIS_MODULE,
	.open	 = &card_open,
	.read	 = card_read,
	.llseek	 = noop_llseek,
};
static DEVICE_ATTR_RW(speed);
static DEVICE_ATTR(fast, 0600, speed_show, NULL);
module_param(depth, int, 0);
__setup("carddepth=", depth_setup);
"""
DOORS = [
    Door("file_operations.open", "card_open"),
    Door("file_operations.read", "card_read"),
    Door("attribute fast, read", "speed_show"),
    Door("attribute speed, read", "speed_show"),
    Door("attribute speed, write", "speed_store"),
    Door("parameter depth", ""),
    Door("parameter carddepth", "depth_setup"),
]


def test_doors_lead_to_functions_of_the_source() -> None:
    """Neither to helpers of the kernel, nor from comments."""
    assert doors_of(SOURCE) == DOORS
    assert doors_of(SOURCE, "^card_") == DOORS[:2]


def test_tests_of_the_map() -> None:
    """Ranges of numbers, across files; what ran before tests is none."""
    called = {
        "a.c": {
            "card_open": {"(boot)", "x.py::test_1", "y.py::test_2", "y.py::test_3"},
            "card_read": {"(boot)"},
            "speed_show": {"y.py::test_3"},
        }
    }
    part = series_part(called, "7.2", "2026-01-01")
    found = callers_in(part, "a.c")
    assert found == {"card_open": ["x.py", "y.py"], "card_read": [], "speed_show": ["y.py"]}
    assert callers_in(part, "b.c") == {}
    texts = {"z.py": 'command_line="carddepth=3"', "v.py": "a/parameters/depths"}
    tests = opened(DOORS, found, texts)
    assert list(tests.values()) == [["x.py", "y.py"], [], ["y.py"], ["y.py"], [], [], ["z.py"]]


def test_each_closed_door_needs_a_reason() -> None:
    """And each reason a door."""
    doors: dict[Door, list[str]] = {DOORS[0]: ["tests/e2e/x.py"], DOORS[1]: [], DOORS[5]: []}
    reasons = reasons_in('["a.c"]\n"parameter depth" = "no hardware"\n"gone" = "x"\n')
    page, faults = page_and_faults({"a.c": doors}, reasons)
    assert faults == [
        "a.c: no test opens file_operations.read, and there is no reason",
        "a.c: has no door gone; take its reason out",
    ]
    assert "| file_operations.open | `card_open` | x.py |" in page
    assert "| parameter depth |  | no hardware |" in page


def test_map_that_is_none(tmp_path: Path) -> None:
    """One sentence."""
    for text in ("", "[]", "{}", '{"7.2": {"tests": {}}}'):
        (tmp_path / "map").write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match="is no map of tests"):
            linux_doors.run(["--map", str(tmp_path / "map"), "--output", str(tmp_path / "page")])


def test_every_door_of_linux_is_open_or_has_a_reason(tmp_path: Path) -> None:
    """By the map that is kept, and the source it was made from."""
    path = linux_doors.TREE / "guest" / "linux_map.json"
    series = list(json.loads(path.read_text(encoding="utf-8")))[-1]
    if not list(cache_root().glob(f"linux-tree-{series}-*")):
        pytest.skip(f"the cache has no source of Linux {series}, which make linux-coverage unpacks")
    output = tmp_path / "page.md"
    assert linux_doors.run(["--map", str(path), "--output", str(output)]) == 0
    page = output.read_text(encoding="utf-8")
    for name in ("char/vmcp.c", "char/vmur.c", "iucv/af_iucv.c", "block/dcssblk.c"):
        assert f"{name}\n\n| door" in page
    assert "| file_operations.read | `mon_read` | test_" in page
