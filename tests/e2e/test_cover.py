# SPDX-License-Identifier: MIT
"""Which code of an unmodified kernel runs, seen from below: held against the module's own code."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from iucv_socket import AF_IUCV, STREAM, Socket
from waiting import run_within

from zvmlab.agent.wire import Call
from zvmlab.agent.worker import MODULES, Worker
from zvmlab.base.errors import UsageError
from zvmlab.base.tree import TREE
from zvmlab.builder.tree_name import tree_name
from zvmlab.guest.config import QEMU
from zvmlab.guest.cover import MODES, Block, Edge
from zvmlab.guest.guest import Guest
from zvmlab.guest.qmp import QmpError

MODULE = "af_iucv"
CP = "/objects/cp"
PAGE = 4096
_LINE = re.compile(r"\s*([0-9a-f]+):\s+((?:[0-9a-f]{2} )+)\s*(\S+)\s*(.*)")
_TARGET = re.compile(r"([0-9a-f]+) <")
# After these, CPU or emulator looks where and how it goes on.
_ENDS = re.compile(
    r"j|b|c(?:l?g?|l?h?)[ir]j|cr?b|ex|lpsw|st[no]sm|ssm|sacf?|lctl|svc|diag|iucv|epsw|pfpo|sigp|stap"
    r"|\.insn|\.long|spx|iske|sske|ptlb|ipte|idte|csp|servc|sfpc|lfpc|lfas|stck"
)
# Branches that are never taken; and the one that only orders stores.
_GOES_ON = re.compile(r"j?g?nopr?|jgnop|b\w*r\b.*%r0")


def ends(text: str) -> bool:
    """Does a block end behind this instruction?"""
    return _ENDS.match(text) is not None and _GOES_ON.match(text) is None


@pytest.fixture(autouse=True)
def in_qemu(zvmlab_backend: str) -> None:
    if zvmlab_backend != QEMU:
        pytest.skip("only QEMU tells which code is executed")


class Listing:
    """What objdump makes of the module's code."""

    def __init__(self, module: Path, start: int) -> None:
        """*start*: the address of the section."""
        self.start = start
        command = ["s390x-linux-gnu-objdump", "--disassemble", "--section=.text", "--reloc"]
        text = subprocess.run(
            [*command, str(module)], capture_output=True, text=True, check=True, timeout=120
        ).stdout
        found = [match for match in map(_LINE.match, text.splitlines()) if match]
        self.begins: dict[int, str] = {int(m[1], 16): f"{m[3]} {m[4]}" for m in found}
        """Each instruction's address in the section, and its text."""
        self.functions = {
            m[2]: int(m[1], 16) for m in re.finditer(r"^([0-9a-f]+) <(.+)>:$", text, re.MULTILINE)
        }
        self._targets = {
            int(m[1], 16): int(target[1], 16)
            for m in found
            if (target := _TARGET.search(m[4])) is not None
        }
        order = sorted(self.begins)
        self._next = dict(zip(order, order[1:]))

    def after(self, start: int) -> set[int]:
        """Where the block that begins at *start* may lead to."""
        at = start
        while at in self._next:
            following = self._next[at]
            if ends(self.begins[at]):
                return {self._targets.get(at, following), following}
            if self._end_page(following) != self._page(at) or following not in self.begins:
                return {following}
            at = following
        return set()

    def _page(self, place: int) -> int:
        return (self.start + place) // PAGE

    def _end_page(self, place: int) -> int:
        """Where the instruction ends: at the end of a page, the emulator looks at the next one."""
        return self._page(self._next.get(place, place + 2))

    def turns_page(self, place: int) -> bool:
        """Is it an instruction that reaches the end of a page, or the first of one?"""
        pages = {self._page(place), self._end_page(place)}
        return len(pages) > 1 or (self.start + place) % PAGE < 6

    def blocks(self) -> set[int]:
        """Where one may begin."""
        return {
            *self.functions.values(),
            *self._targets.values(),
            *(after for at, after in self._next.items() if ends(self.begins[at])),
        }


@pytest.fixture
def listing(guest: Guest, tmp_path: Path) -> Listing:
    """The module that the guest has loaded."""
    module = tmp_path / f"{MODULE}.ko"
    module.write_bytes(guest.agent.read_file(f"{MODULES}/{MODULE}.ko"))
    return Listing(module, int(guest.agent.read_file(f"/sys/module/{MODULE}/sections/.text"), 16))


def places(listing: Listing, blocks: Iterable[Block]) -> set[int]:
    """The blocks' places in the section, by the address at which the kernel says that it has it."""
    found = {block: block.address - listing.start for block in blocks}
    for block, place in found.items():
        assert listing.functions[block.function] + block.offset == place
    return set(found.values())


def names(blocks: Iterable[Block]) -> set[str]:
    """Of their functions."""
    return {block.function for block in blocks}


def bind(worker: Worker, name: str = "COVERED") -> None:
    """One socket is made, bound and closed."""
    with Socket.make(worker, name=name):
        pass


def bind_often(worker: Worker) -> None:
    for _ in range(100):
        bind(worker, "SECOND")


def test_blocks_are_those_of_the_module(guest: Guest, listing: Listing) -> None:
    """Functions that were called are there from their first instruction, no other one is."""
    with guest.cover(MODULE) as cover:
        bind(guest.agent)
        blocks = cover.blocks()
        assert cover.lost == 0
    assert len(blocks) == len(set(blocks)) > 20
    assert {block.module for block in blocks} == {MODULE}
    assert {"iucv_sock_create", "iucv_sock_bind", "iucv_sock_release"} <= names(blocks)
    assert not {"iucv_sock_listen", "iucv_sock_connect", "iucv_sock_accept"} & names(blocks)
    entered = [str(block) for block in blocks]
    assert f"iucv_sock_bind+0x0 [{MODULE}]" in entered
    found = places(listing, blocks)
    assert found <= set(listing.begins)
    # Where the page changes a block begins, whatever the instruction is.
    assert all(listing.turns_page(place) for place in found - listing.blocks())


def test_way_not_taken_is_not_seen(guest: Guest, listing: Listing) -> None:
    """An address that is too short makes bind() end early; a whole one makes it go on."""
    with guest.cover("iucv_sock_bind") as cover:
        fd = guest.agent.call(Call.SOCKET, AF_IUCV, STREAM, 0).check()
        assert guest.agent.call(Call.BIND, fd, b"\0\x20", 2).errno != 0
        few = places(listing, cover.blocks())
        bind(guest.agent)
        more = places(listing, cover.blocks())
        guest.agent.call(Call.CLOSE, fd).check()
    assert few and len(more) > len(few)
    # What was seen once is not named again.
    assert not few & more


def test_edges_are_ways_that_the_code_has(guest: Guest, listing: Listing) -> None:
    """From each block to one at which its last instruction goes on."""
    with guest.cover("iucv_sock_bind", mode="edges") as cover:
        bind(guest.agent)
        edges = cover.take()
    assert len(edges) > 5
    seen = 0
    for edge in edges:
        assert isinstance(edge, Edge)
        if edge.before is None:
            assert edge.after.offset == 0
            continue
        ((before,), (after,)) = (places(listing, [one]) for one in edge)  # type: ignore[list-item]
        assert after in listing.after(before) or after == listing.functions["iucv_sock_bind"]
        seen += 1
    assert seen > 4


def test_interruptions_are_seen(guest: Guest) -> None:
    """A connection that CP makes reaches the kernel by an interruption and a tasklet."""
    with guest.cover("iucv_*") as cover:
        with Socket.make(guest.agent, name="WAITS") as server:
            server.listen(1)
            cover.again()
            # The agent's messages come by interruptions, too, now or a moment later.
            blocks = cover.blocks()
            assert "iucv_callback_connreq" not in names(blocks)
            with Socket.make(guest.agent) as client:
                client.connect(guest.control.execute("query-cp")["userid"], "WAITS")
                server.accept().close()
            blocks += cover.blocks()
    assert {"iucv_external_interrupt", "iucv_tasklet_fn", "iucv_callback_connreq"} <= names(blocks)
    assert {None, MODULE} == {block.module for block in blocks}


@pytest.mark.parametrize("mode", ["blocks", "edges", "new"])
def test_put_back(guest: Guest, mode: str) -> None:
    """Nothing has been executed then; what was translated is not new again."""
    if not guest.can_go_back:
        pytest.skip("this guest does not come from a checkpoint")
    with guest.cover(MODULE, mode=mode) as cover:
        bind(guest.agent)
        assert "iucv_sock_bind" in names(cover.blocks())
        guest.put_back()
        assert "iucv_sock_bind" not in names(cover.blocks())
        bind(guest.agent)
        assert ("iucv_sock_bind" in names(cover.blocks())) is (mode != "new")


@pytest.mark.parametrize("mode", ["blocks", "new"])
def test_put_back_before_anything_is_executed(guest: Guest, mode: str) -> None:
    """What another guest has translated, which this one could begin with, reports nothing."""
    if not guest.can_go_back:
        pytest.skip("this guest does not come from a checkpoint")
    with guest.cover(MODULE, mode=mode) as cover:
        guest.put_back()
        guest.agent.hello()
        assert {"iucv_sock_sendmsg", "iucv_sock_recvmsg"} <= names(cover.blocks())


def test_nothing_is_seen_after_the_end(guest: Guest) -> None:
    with guest.cover(MODULE) as cover:
        pass
    bind(guest.agent)
    assert not {"iucv_sock_bind"} & names(cover.blocks())


@pytest.mark.zvmlab(cpus=2)
def test_begins_and_ends_while_cpus_run(guest: Guest) -> None:
    """Each time all translations are thrown away, under the other CPU's feet."""
    worker = guest.agent.worker("second")
    guest.agent.keep_on(worker, 1)
    with ThreadPoolExecutor(1) as pool:
        binds = pool.submit(bind_often, worker)
        for mode in MODES * 4:
            with guest.cover("kernel", MODULE, mode=mode) as cover:
                bind(guest.agent)
                assert "iucv_sock_bind" in names(cover.blocks())
        binds.result(300)


@pytest.mark.zvmlab(deterministic=True, cpus=2, schedule=7)
def test_counted_instructions(guest: Guest) -> None:
    """A CPU's turn ends anywhere; functions are entered at their first instruction nevertheless."""
    with guest.cover(MODULE, mode="edges") as cover:
        for _ in range(2):
            bind(guest.agent)
            begun = {block.function for block in cover.blocks() if block.offset == 0}
            assert {"iucv_sock_create", "iucv_sock_bind", "iucv_sock_release"} <= begun
            guest.put_back()


@pytest.mark.zvmlab(cpus=2)
def test_both_cpus_are_seen(guest: Guest) -> None:
    worker = guest.agent.worker("second")
    guest.agent.keep_on(worker, 1)
    with guest.cover("kernel", MODULE, mode="edges") as cover:
        bind(worker)
        assert "iucv_sock_bind" in names(cover.blocks()) and cover.lost == 0


@pytest.mark.parametrize(
    ("wanted", "mode", "error"),
    [
        ((), "blocks", "nothing is to be covered"),
        (("no_such_thing",), "blocks", "has a function no_such_thing"),
        (("no_such_*",), "blocks", r"has a function no_such_\*"),
        ((MODULE,), "lines", "there is no coverage of 'lines'"),
    ],
)
def test_what_is_not_there(guest: Guest, wanted: tuple[str, ...], mode: str, error: str) -> None:
    with pytest.raises(UsageError, match=error):
        guest.cover(*wanted, mode=mode)


def test_disk_without_room(guest: Guest, tmp_path: Path) -> None:
    """The emulator would end when it stores what has been executed."""
    options = ["-t", "tmpfs", "-o", "size=64k", "none", str(tmp_path)]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("file systems of a certain size can be mounted by root only")
    try:
        (tmp_path / "file").touch()
        value = {"file": str(tmp_path / "file"), "mode": "new", "ranges": []}
        with pytest.raises(QmpError, match="cannot be mapped for coverage: No space left"):
            guest.qmp.execute("qom-set", {"path": CP, "property": "cover", "value": value})
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)
    guest.agent.hello()


def run(kernel: str, *words: str) -> subprocess.CompletedProcess[str]:
    """zvmlab run in a process of its own."""
    argv = [sys.executable, TREE / "zvmlab", "run", "--kernel", kernel, *words]
    return run_within(400, argv, text=True)


def test_command(tmp_path: Path, zvmlab_kernel: str) -> None:
    """zvmlab run writes a line for each block of a module that the program has reached."""
    out = tmp_path / "blocks"
    words = ["--module", "monreader", "--blocks", str(out), "--blocks-of", "monreader"]
    done = run(zvmlab_kernel, *words, "--", "sh", "-c", ": </dev/monreader")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    places, lines = zip(
        *(line.partition("  ")[::2] for line in out.read_text("ascii").splitlines())
    )
    assert {"mon_open+0x0 [monreader]", "mon_close+0x0 [monreader]"} <= set(places)
    assert "mon_read+0x0 [monreader]" not in places and len(set(places)) == len(places)
    assert not [place for place in places if not place.endswith(" [monreader]")]
    if tree_name(zvmlab_kernel) is None:
        why = f"kernel {zvmlab_kernel} is not built from a source tree, so that lines of its source"
        assert f"zvmlab: {out} has no lines: {why} are not known\n" in done.stderr
        assert not any(lines)
    else:
        assert all(line.startswith("drivers/s390/char/monreader.c:") for line in lines)


@pytest.mark.first_kernel
def test_command_needs_a_file(tmp_path: Path, zvmlab_kernel: str) -> None:
    done = run(zvmlab_kernel, "--blocks-of", "monreader", "--", "true")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--blocks-of needs --blocks FILE" in done.stderr
    missing = tmp_path / "none" / "blocks"
    done = run(zvmlab_kernel, "--blocks", str(missing), "--", "true")
    assert (done.returncode, done.stdout) == (77, "")
    assert f"cannot go on: {missing} No such file" in done.stderr
