# SPDX-License-Identifier: MIT
"""What Hercules is started with: configuration, options, what is loaded where."""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

import pytest

from zvmlab.base.errors import EmulatorError, Timeout, UsageError
from zvmlab.builder import herculesbuild
from zvmlab.guest import hercules, saving
from zvmlab.guest.config import MIB, Channels, GuestConfig, Artifacts
from zvmlab.guest.emulator import Emulator
from zvmlab.guest.herculesload import LOAD, elf_parts, write_load

ROOT = Path(__file__).resolve().parents[2]


def _config(**fields: object) -> GuestConfig:
    return GuestConfig(backend="hercules", **fields)  # type: ignore[arg-type]


def _channels(folder: Path) -> Channels:
    log, trace = folder / "con sole.log", folder / "trace"
    return Channels(folder / "control", folder / "qmp", log, None, trace)


def _artifacts(folder: Path, kernel: bytes = b"kernel", image: bytes = b"image") -> Artifacts:
    (folder / "the-kernel").write_bytes(kernel)
    (folder / "the-image").write_bytes(image)
    return Artifacts(folder / "m.so", folder / "the-kernel", "6.1", folder / "the-image")


def _parts(folder: Path) -> dict[str, int]:
    lines = [line.split() for line in (folder / LOAD).read_text().splitlines()]
    return {name: int(address, 16) for name, address in lines}


def test_configurations_that_cannot_be() -> None:
    with pytest.raises(UsageError, match=r"invalid number of CPUs: 9 \(hercules supports 1 to 8\)"):
        _config(cpus=9)
    with pytest.raises(UsageError, match=r"unknown backend: 'bochs' \(qemu or hercules\)"):
        GuestConfig(backend="bochs")


def test_configuration_and_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hercules, "_program", lambda: "/usr/bin/hercules")
    monkeypatch.setattr(os, "getpriority", lambda which, who: 7)
    run = tmp_path / "run"
    run.mkdir()
    config = _config(
        cpus=2,
        storage="0.140M 200M.200M",
        segments=("MONDCSS 9000-97FF SC RSTD", "DATA 10000-100FF EN FILE=a b.bin"),
        cp={"userid": "TEST"},
    )
    words = hercules.prepare(config, _artifacts(tmp_path), _channels(run))
    assert words == ["/usr/bin/hercules", "-d", "-f", "guest.cnf"]
    assert hercules.folder(_channels(run)) == run
    assert (run / "guest.cnf").read_text().splitlines() == [
        "ARCHMODE z/Arch",
        "MAINSIZE 400",
        "NUMCPU 2",
        "MAXCPU 2",
        "HERCPRIO 7",
        "CPUPRIO 7",
        "DEVPRIO 7",
        "TODPRIO 7",
        "TIMERINT 1000",
        "OSTAILOR QUIET",
        "LOGOPT NOTIMESTAMP",
        "LDMOD ./zvmcp.so",
        "0009 ZVMCP guest.options",
    ]
    assert (run / "guest.options").read_text().splitlines() == [
        "storage 0.140M 200M.200M",
        f"segment MONDCSS 9000-97FF SC RSTD;DATA 10000-100FF EN FILE={tmp_path}/a b.bin",
        "userid TEST",
        f"control {run}/control",
        f"log {run}/con sole.log",
        f"trace {run}/trace",
        "trace-limit 1024",
    ]
    assert (run / "zvmcp.so").readlink() == tmp_path / "m.so"


@pytest.mark.parametrize(
    ("level", "refused"), [("Z10", False), ("ZEC12", False), ("Z13", True), ("Z16", True)]
)
def test_kernel_for_a_machine_that_hercules_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str, refused: bool
) -> None:
    monkeypatch.setattr(hercules, "_program", lambda: "/usr/bin/hercules")
    (tmp_path / "vmlinuz-7").write_bytes(b"kernel")
    (tmp_path / "config-7").write_text(f"CONFIG_MARCH_{level}=y\nCONFIG_MARCH_{level}_TUNE=y\n")
    artifacts = _artifacts(tmp_path)._replace(kernel=tmp_path / "vmlinuz-7")
    if refused:
        with pytest.raises(
            UsageError, match=f"cannot run source:7, which is built for a {level.lower()} "
        ):
            hercules.prepare(_config(kernel="source:7"), artifacts, _channels(tmp_path))
    else:
        hercules.prepare(_config(kernel="bookworm"), artifacts, _channels(tmp_path))


def test_devices_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They follow the console; a file is found from any folder, all else stays as it is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "disk").touch()
    config = _config(devices=("0120 3390 disk ro", "000c 3505 none.txt"))
    lines = hercules.configuration(config).splitlines()
    assert lines[-2:] == [f"0120 3390 {tmp_path}/disk ro", "000c 3505 none.txt"]
    assert lines[-3].startswith("0009 ZVMCP")


@pytest.mark.parametrize(
    "device, text",
    [
        ("0120", "is not a line of Hercules' configuration; use ADDRESS TYPE"),
        ("virtio-rng-ccw", "is not a line of Hercules' configuration"),
        ("0120 3390 a\nPANRATE 1", "is not a line of Hercules' configuration"),
        ("0009 3215", "0009 is the console's address; take another"),
    ],
)
def test_devices_that_cannot_be(device: str, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        hercules.configuration(_config(devices=(device,)))


def test_the_same_machine_without_the_cp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hercules, "_program", lambda: "/usr/bin/hercules")
    words = hercules.prepare_stock(_config(), _artifacts(tmp_path), tmp_path)
    assert words == ["/usr/bin/hercules", "-d", "-f", "guest.cnf"]
    lines = (tmp_path / "guest.cnf").read_text().splitlines()
    assert lines[0] == "ARCHMODE z/Arch" and lines[-1] == "0009 3215-C / noprompt"
    assert not any("zvmcp" in line.lower() for line in lines)
    assert (tmp_path / "hercules.rc").read_text() == f"ipl {LOAD}\n"
    assert (tmp_path / "command.line").read_bytes().endswith(b" condev=0x0009\0")
    assert _parts(tmp_path)["kernel"] == 0


def test_an_option_of_two_lines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the CP option userid has more than one line"):
        hercules.options(_config(cp={"userid": "A\nB"}), _channels(tmp_path))


@pytest.mark.parametrize(("storage", "initrd"), [("0.128M", 32 * MIB), ("0.48M", 24 * MIB)])
def test_linux_is_told_where_its_initrd_is(tmp_path: Path, storage: str, initrd: int) -> None:
    write_load(tmp_path, _config(storage=storage), _artifacts(tmp_path, b"k" * 9, b"i" * 77))
    assert _parts(tmp_path) == {
        "kernel": 0, "initrd": initrd, "initrd.place": 0x10408, "command.line": 0x10480,
    }  # fmt: skip
    assert (tmp_path / "kernel").read_bytes() == b"k" * 9
    assert (tmp_path / "initrd").read_bytes() == b"i" * 77
    assert (tmp_path / "initrd.place").read_bytes() == struct.pack(">QQ", initrd, 77)
    line = (tmp_path / "command.line").read_bytes()
    assert b" conmode=3215 console=ttyS0 " in line and line.endswith(b"\0")


def test_a_long_command_line_is_refused(tmp_path: Path) -> None:
    fits = _config(command_line="")
    room = 895 - len(fits.kernel_parameters()) - 1
    write_load(tmp_path, fits._replace(command_line="x" * room), _artifacts(tmp_path))
    with pytest.raises(UsageError, match=r"command line is too long: 896 bytes \(at most 895\)"):
        write_load(tmp_path, fits._replace(command_line="x" * (room + 1)), _artifacts(tmp_path))


def _elf(segments: list[tuple[int, int, bytes, int]]) -> bytes:
    """An ELF program with entry 0x20000; segments are kind, address, contents, size."""
    head = struct.pack(
        ">16sHHIQQQIHHHHHH", b"\x7fELF", 2, 22, 1, 0x20000, 64, 0, 0, 64, 56, len(segments), 0, 0, 0
    )
    at = 64 + 56 * len(segments)
    table = data = b""
    for kind, address, contents, size in segments:
        table += struct.pack(
            ">IIQQQQQQ", kind, 5, at + len(data), 0, address, len(contents), size, 4096
        )
        data += contents
    return head + table + data


def test_an_elf_program_is_loaded_by_segments(tmp_path: Path) -> None:
    image = _elf([(1, 0x20000, b"text", 4), (6, 0, b"", 0), (1, 0x30000, b"bss", 8)])
    write_load(tmp_path, _config(), _artifacts(tmp_path, image))
    assert _parts(tmp_path) == {"psw": 0, "kernel.0": 0x20000, "kernel.2": 0x30000}
    assert (tmp_path / "psw").read_bytes().hex() == "0008000080020000"
    assert (tmp_path / "kernel.0").read_bytes() == b"text"
    assert (tmp_path / "kernel.2").read_bytes() == b"bss\0\0\0\0\0"


def test_a_damaged_elf_program_is_refused() -> None:
    image = _elf([(1, 0x20000, b"text", 4)])
    for length in (20, 64, 100):
        with pytest.raises(UsageError, match="the kernel is a damaged ELF program"):
            elf_parts(image[:length])


# Takes commands like the module: ready, once at the start and after each.
READY = "echo zvmlab: ready; while read line; do echo $line; echo zvmlab: ready; done"


def _panel(emulator: Emulator, seconds: float = 60) -> hercules.Panel:
    return hercules.Panel(emulator, emulator.log.parent, seconds, emulator.check)


def test_the_panel_loads_once(tmp_path: Path) -> None:
    emulator = Emulator(["sh", "-c", READY], tmp_path / "log")
    try:
        panel = _panel(emulator)
        panel.go_on()
        panel.pause()
        panel.go_on()
    finally:
        emulator.stop()
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[1::2] == [f"ipl {LOAD}", "zvmcp hold", "zvmcp go"]


def _refusing(times: int, reason: str) -> str:
    """Like READY, but the first saves are refused."""
    refuse = f'zvmcp*save*) n=$((n+1)); [ $n -gt {times} ] || echo "zvmcp: {reason}";;'
    return READY.replace("echo $line;", f"echo $line; case $line in {refuse} esac;")


def test_what_is_busy_is_saved_later(tmp_path: Path) -> None:
    program = _refusing(2, "not now: the console is in use")
    emulator = Emulator(["sh", "-c", program], tmp_path / "log")
    try:
        panel = _panel(emulator)
        panel.go_on()
        panel.save(tmp_path / "a folder" / "file")
    finally:
        emulator.stop()
    said = (tmp_path / "log").read_text().splitlines()
    lines = [line for line in said if line.startswith("zvmcp ")]
    once = ["zvmcp hold", "zvmcp save checkpoint/file"]
    assert lines == [*once, "zvmcp go", *once, "zvmcp go", *once]


def test_what_stays_busy_or_cannot_be_saved_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Three:
        """Is over at the fourth attempt."""

        def __init__(self, _: float) -> None:
            self._answers = iter((False, False, False, True))

        @property
        def over(self) -> bool:
            return next(self._answers)

    monkeypatch.setattr(saving, "Limit", Three)
    for number, kind in enumerate(("not now: ", "")):
        log = tmp_path / f"log-{number}"
        emulator = Emulator(["sh", "-c", _refusing(1000, f"{kind}it is so")], log)
        try:
            with pytest.raises(EmulatorError, match="cannot save the guest: it is so"):
                _panel(emulator).save(tmp_path / "file")
        finally:
            emulator.stop()
        assert log.read_text().count("zvmcp save") == (4 if number == 0 else 1)


def test_a_restored_machine_is_not_loaded(tmp_path: Path) -> None:
    emulator = Emulator(["sh", "-c", READY], tmp_path / "log")
    try:
        panel = _panel(emulator)
        panel.restore(tmp_path / "a folder" / "file")
        panel.go_on()
    finally:
        emulator.stop()
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[1::2] == ["zvmcp restore checkpoint/file", "zvmcp go"]
    assert (tmp_path / "checkpoint").readlink() == tmp_path / "a folder"


def test_a_panel_that_is_not_ready_is_a_timeout(tmp_path: Path) -> None:
    emulator = Emulator(["sh", "-c", "echo zvmlab: ready; exec sleep 60"], tmp_path / "log")
    try:
        panel = _panel(emulator)
        panel._seconds = 0.2
        with pytest.raises(Timeout, match="Hercules was not ready within 0.2 s"):
            panel.go_on()
    finally:
        emulator.stop()


def test_a_hercules_that_ends_is_told_from_one_that_is_late(tmp_path: Path) -> None:
    emulator = Emulator(["sh", "-c", "echo zvmlab-cp: no; exit 1"], tmp_path / "log")
    try:
        with pytest.raises(UsageError, match="the CP refuses its configuration: no"):
            _panel(emulator)
    finally:
        emulator.stop()


def test_a_command_for_an_emulator_that_has_ended(tmp_path: Path) -> None:
    emulator = Emulator(["sh", "-c", "echo 'last words.'; exit 3"], tmp_path / "log")
    try:
        assert emulator.wait(60) == 3
        with pytest.raises(EmulatorError, match="ended with exit code 3: last words; its log is"):
            emulator.command("stopall")
    finally:
        emulator.stop()


def test_the_module_follows_the_sources(tmp_path: Path) -> None:
    sim = tmp_path / "sim"
    for part in ("lib", "sim"):
        shutil.copytree(ROOT / part, tmp_path / part)
    key = herculesbuild.module_key(tmp_path)
    (sim / "qemu" / "host.c").write_text("not of the module")
    assert herculesbuild.module_key(tmp_path) == key
    for name in ("hercules/exports.map", "hercules/host.c", "cp/cp.c"):
        with open(sim / name, "a", encoding="utf-8") as file:
            file.write("\n")
        assert herculesbuild.module_key(tmp_path) != key
        key = herculesbuild.module_key(tmp_path)
