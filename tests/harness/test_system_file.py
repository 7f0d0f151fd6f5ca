# SPDX-License-Identifier: MIT
"""The file of a system: what it makes of the users, and one sentence for all that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.base.tree import TREE
from zvmlab.guest.config import DEFAULT_SEGMENTS
from zvmlab.guest.system_file import SystemFile, read_system


def _read(folder: Path, text: str, name: str | None = None) -> SystemFile:
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return read_system(folder / "mine.toml", name)


def test_example_is_one() -> None:
    found = read_system(TREE / "examples" / "three-guests.toml")
    assert found.name == "three-guests"
    assert list(found.users) == ["ALICE", "BOB", "CAROL"]
    assert found.users["BOB"].cpus == 2 and found.users["BOB"].storage == "0.192M"
    assert found.users["CAROL"].kernel == "trixie"
    assert found.users["CAROL"].cp["class"] == "G"
    assert found.segments == DEFAULT_SEGMENTS


def test_every_key(tmp_path: Path) -> None:
    for name in ("image", "rules"):
        (tmp_path / name).write_bytes(b"")
    found = _read(tmp_path, """
        name = "lab"
        level = "7.2.0"
        machine = "3906 M05"

        [segments]
        ONE = "9000-90FF SC RSTD"
        TWO = "9100-91FF SW"

        [users.tester]
        kernel = "sid"
        cpus = 4
        storage = "64M,128M.64M"
        class = "BG"
        directory = ["IUCV ALLOW", "OPTION MAXCONN 100"]
        console = "0010"
        conmode = "3215"
        seed = 7
        modules = ["netiucv", "./mods/own.ko"]
        driver = "zvmlab"
        files = { "/etc/rules" = "rules" }
        devices = ["virtio-blk-ccw,file=image"]
        append = "quiet"
        trace-data = "full"
        trace-limit = 10
        """.replace("./mods/own.ko", str(tmp_path / "image")))  # fmt: skip
    assert found.name == "lab"
    assert found.options == {"level": "7.2.0", "machine": "3906 M05"}
    assert found.segments == ("ONE 9000-90FF SC RSTD", "TWO 9100-91FF SW")
    (user,) = found.users.values()
    assert user.cp == {
        "userid": "TESTER",
        "class": "BG",
        "directory": "IUCV ALLOW;OPTION MAXCONN 100",
        "console": "0010",
        "conmode": "3215",
        "seed": "7",
    }
    assert (user.kernel, user.cpus, user.storage) == ("sid", 4, "0.64M 128M.64M")
    assert user.modules == ("netiucv", str(tmp_path / "image"))
    assert (user.driver, user.command_line) == ("zvmlab", "quiet")
    assert (user.trace_data, user.trace_limit) == ("full", 10)
    assert user.segments == found.segments


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "rules").write_bytes(b"")
    (tmp_path / "below" / "image").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "below" / "mine.toml").write_text(
        """
        [users.ALICE]
        files = { "/etc/rules" = "./rules" }
        devices = ["virtio-blk-ccw,file=image"]
        """
    )
    user = read_system(Path("below/mine.toml")).users["ALICE"]
    assert user.files == {"/etc/rules": tmp_path / "below" / "rules"}
    assert user.devices == (f"virtio-blk-ccw,file={tmp_path / 'below' / 'image'}",)


def test_name_of_the_option_comes_first(tmp_path: Path) -> None:
    text = 'name = "lab"\n[users.ALICE]\n'
    assert _read(tmp_path, text, "other").name == "other"
    assert _read(tmp_path, text).name == "lab"
    assert _read(tmp_path, "[users.ALICE]\n").name == "mine"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "mine.toml has no users; give each a table [users.NAME]"),
        ("users = 3", "line 1: users is 3; each user has a table [users.NAME]"),
        ("name = 'a'\n[[users]]\nname = 'A'", 'users is [{"name": "A"}]; each user has a table'),
        ("[users]\nALICE = 3", "line 2: user ALICE is 3; it must be a table [users.ALICE]"),
        ("[users.ALICE\n", "mine.toml is not TOML: Expected ']' at the end of a table"),
        ("\n[users.ALICE]\n[users.BOB]\n[users.ALICE]\n",
         "line 4: there are two users ALICE; the first is in line 2"),
        ("[users.ALICE]\n[users.alice]\n",
         "line 2: there are two users ALICE; the first is in line 1"),
        ("[users.OPERATOR]\n", "line 1: OPERATOR is the user ID of CP's operator"),
        ("[users.ALICE]\n[users.zvmlab]\n", "line 2: ZVMLAB is the user ID of the harness"),
        ('[users."*MSG"]\n', "line 1: *MSG is the name of a service of CP"),
        ("[users.ABCDEFGHI]\n", 'line 1: the user ID "ABCDEFGHI" is not 1 to 8 characters'),
        ('[users."A B"]\n', 'the user ID "A B" is not 1 to 8 characters'),
        ("[users.ALICE]\ncpu = 2\n", 'line 2: unknown key: "cpu" (possible: kernel, backend, cpus,'),
        ("[users.ALICE]\ncpu = 2\n", "; did you mean cpus?"),
        ("[users.ALICE]\ncpus = true\n", "line 2: cpus is true; it must be a number"),
        ("[users.ALICE]\n# three\ncpus = '2'\n", 'line 3: cpus is "2"; it must be a number'),
        ("[users.ALICE]\ncpus = 65\n", "line 1: user ALICE: invalid number of CPUs: 65"),
        ("[users.ALICE]\nseed = -1\n", "line 2: seed is -1; it must be a number from 0 to 184"),
        ("[users.ALICE]\ndirectory = 'IUCV ALLOW'\n", "it must be a list of texts"),
        ("[users.ALICE]\nmodules = [1]\n", "line 2: modules is [1]; it must be a list of texts"),
        ("[users.ALICE]\nstorage = 128\n", "line 2: storage is 128; it must be a text"),
        ("[users.ALICE]\nstorage = 'x'\n", "storage extent 'x' is not START.SIZE"),
        ("[users.ALICE]\nkernel = 'bokworm'\n", "line 2: kernel 'bokworm' is neither a suite"),
        ("[users.ALICE]\nkernel = 'bokworm'\n", "did you mean bookworm?"),
        ("[users.ALICE]\nkernel = './none'\n", "/none' is neither a suite"),
        ("[users.ALICE]\nmodules = ['./none.ko']\n", "line 2: no such module: ./none.ko"),
        ("[users.ALICE]\ntools = ['iucvcon']\n", "unknown tool: iucvcon"),
        ("[users.ALICE]\ntools = ['iucvcon']\n", "did you mean iucvconn?"),
        ("[users.ALICE.files]\n'/x' = 'none'\n", "line 1: no such file: none"),
        ("[users.ALICE]\nfiles = {'x' = 'mine.toml'}\n", 'the guest\'s path "x" does not begin'),
        ("[users.ALICE]\ntrace-data = 'long'\n", 'trace-data is "long" (short or full)'),
        ("[users.ALICE]\nautolog = true\n", "line 2: autolog is true; it must be a text"),
        (
            "[users.ALICE]\n[users.BOB]\nautolog = 'ALISE'\n",
            "line 3: autolog: there is no user \"ALISE\"; did you mean ALICE",
        ),
        (
            "[users.ALICE]\nautolog = 'alice'\n",
            "line 2: nobody would ever log ALICE on, because each waits for the next:"
            " ALICE -> ALICE; remove one autolog",
        ),
        (
            "[users.A]\nautolog='B'\n[users.B]\nautolog='C'\n[users.C]\nautolog='B'\n",
            "line 4: nobody would ever log B on, because each waits for the next: B -> C -> B;",
        ),
        ("[users.ALICE]\nbackend = 'bochs'\n",
         "line 1: user ALICE: unknown backend: 'bochs' (qemu or hercules)"),
        ("[users.ALICE]\nbackend = 'hercules'\ndirectory = ['IUCV ANY', 'spool 00C 2540 R A']\n",
         "line 3: SPOOL statements are for members in qemu: card devices, printers and disks of"),
        ("[users.ALICE]\nbackend = 'hercules'\ndirectory = ['MDISK 0200 FB-512 V-DISK 64 R']\n",
         "line 3: MDISK statements are for members in qemu"),
        ("[users.ALICE]\nbackend = 'hercules'\nconmode = '3215'\n",
         "line 1: user ALICE: the CP option conmode is for qemu"),
        ("[users.ALICE]\nsegments = []\n", "a user has no segments: segments belong to the system"),
        ("backend = 'qemu'\n[users.ALICE]\n",
         'line 1: unknown key: "backend" (possible: name, level, machine, users, segments)'),
        ("level = 7\n[users.ALICE]\n", "line 1: level is 7; it must be a text"),
        ("segments = ['X']\n[users.ALICE]\n", "line 1: segments is [\"X\"]; it must be a table"),
        ("[segments]\nONE = 3\n[users.ALICE]\n", "line 2: ONE is 3; it must be a text"),
        ("[segments]\nONE = 'SC'\n[users.ALICE]\n", "line 2: segment 'ONE SC' is not NAME FIRST"),
        ("[segments]\nONE = '9000-90FF SC;TWO 9000-90FF SC'\n[users.ALICE]\n",
         "line 2: ONE has a semicolon; give each segment its own line"),
        ("[segments]\n'A;B' = '9000-90FF SC'\n[users.ALICE]\n", "A;B has a semicolon"),
        ("[segments]\nONE = '9000-90FF SC'\none = '9000-90FF SC'\n[users.ALICE]\n",
         "line 3: the segment ONE is defined twice"),
        ("[segments]\nONE = '9000-90FF SC'\nTWO = '90FF-91FF SC'\n[users.ALICE]\n",
         "line 3: the segments ONE and TWO both have the page at 90FF000"),
        ("[segments]\nONE = '9000-90FF SR FILE=none'\n[users.ALICE]\n", "line 2: no such file: none"),
        ("name = 'a b'\n[users.ALICE]\n", "the system's name 'a b' is not 1 to 32 letters"),
        ("".join(f"[users.U{n}]\n" for n in range(65)), "mine.toml has 65 users (at most 64)"),
        ("x = " + "[" * 5000, "mine.toml is nested too deeply"),
        ("x = " + "9" * 5000, "mine.toml is not TOML: Exceeds the limit"),
        ("[users.ALICE]\nkernel = '~nobody-of-us/x'\n", "kernel '~nobody-of-us/x' is neither a suite"),
        ("[users.ALICE]\nfiles = {'/x' = '~nobody-of-us'}\n", "no such file: ~nobody-of-us"),
    ],
)  # fmt: skip
def test_what_is_wrong(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        _read(tmp_path, text)
    said = str(caught.value)
    assert sentence in said and "\n" not in said
    assert "mine.toml" in said or "the system's name" in said


def test_file_of_a_segment_is_found_from_any_folder(tmp_path: Path) -> None:
    (tmp_path / "contents").write_bytes(bytes(4096))
    found = _read(tmp_path, "[segments]\nONE = '9000-9000 SR FILE=contents'\n[users.ALICE]\n")
    assert found.segments == (f"ONE 9000-9000 SR FILE={tmp_path}/contents",)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none.toml cannot be read: No such file or directory"):
        read_system(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="binary.toml is not TOML: 'utf-8' codec"):
        read_system(tmp_path / "binary.toml")
    (tmp_path / "long.toml").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(UsageError, match="long.toml has more than 1 MiB"):
        read_system(tmp_path / "long.toml")


def test_memory(tmp_path: Path) -> None:
    """128M, and the segment of the default below 152M; 192M."""
    found = _read(tmp_path, "[users.ALICE]\n[users.BOB]\nstorage = '192M'\n")
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(f"MemTotal: 9 kB\nMemAvailable:   {(152 + 192) * 1024} kB\n")
    found.check_memory(meminfo)
    meminfo.write_text(f"MemTotal: 9 kB\nMemAvailable:   {(152 + 192) * 1024 - 1} kB\n")
    with pytest.raises(UsageError) as caught:
        found.check_memory(meminfo)
    assert "take 344 MiB (ALICE 152 MiB, BOB 192 MiB), and this machine has 343 MiB free" in str(
        caught.value
    ).replace("takes", "take")
    meminfo.unlink()
    found.check_memory(meminfo)  # nobody knows


def test_who_waits_for_whom(tmp_path: Path) -> None:
    found = _read(
        tmp_path, "[users.ALICE]\n[users.BOB]\nautolog='alice'\n[users.CAROL]\nautolog='BOB'\n"
    )
    assert found.autolog == {"BOB": "ALICE", "CAROL": "BOB"}
    assert list(found.users) == ["ALICE", "BOB", "CAROL"]
