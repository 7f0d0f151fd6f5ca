# SPDX-License-Identifier: MIT
"""The console of a z/VM guest: a 3215 that CP has, with CP's own lines, and a terminal of Linux."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from failing import Failing, void
from keyboard import type_keys
from test_shutdown_actions import pull
from waiting import LIMIT, wait_until
from zvmlab.agent.calls import Both
from zvmlab.agent.worker import Worker
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.console import DISABLED_WAIT, PANIC
from zvmlab.guest.guest import Guest

TERMINAL = "/dev/ttyS0"
DRIVER = "/sys/bus/ccw/drivers/3215"
DEVICE = f"{DRIVER}/0.0.0009"
DROP = f"{DRIVER}/con_drop"
# Linux' include/uapi/asm-generic/ioctls.h and termbits-common.h.
TCSBRK, TCXONC, TCFLSH, TIOCOUTQ = 0x5409, 0x540A, 0x540B, 0x5411
TCOOFF, TCOON, TCOFLUSH = 0, 1, 1
# Sense byte 0 (IBM 3210/3215, GA24-3550).
INTERVENTION_REQUIRED, EQUIPMENT_CHECK = 0x40, 0x10
pytestmark = pytest.mark.zvmlab(cp={"conmode": "3215"}, busybox=True)


@pytest.fixture(autouse=True)
def _qemu_only(zvmlab_backend: str) -> None:
    if zvmlab_backend != "qemu":
        pytest.skip("the 3215 in Hercules is not CP's; test_con3215.py has it")


def log(guest: Guest) -> str:
    """What the console has shown so far."""
    return guest.channels.console_log.read_text(encoding="latin-1")


def await_text(guest: Guest, text: str) -> None:
    wait_until(lambda: text in log(guest), text, lambda: log(guest)[-2000:])


@pytest.fixture
def quiet(guest: Guest) -> Guest:
    """Nothing of the kernel's log comes between what programs write."""
    guest.agent.write_file("/proc/sys/kernel/printk", b"1")
    return guest


@pytest.fixture
def worker(quiet: Guest) -> Worker:
    return quiet.agent.worker("terminal")


@pytest.fixture
def terminal(worker: Worker) -> Iterator[int]:
    """The terminal as a program has it open."""
    fd = worker.open(TERMINAL, os.O_RDWR | os.O_NOCTTY).check()
    yield fd
    worker.close(fd).check()


def read_line(worker: Worker, fd: int) -> bytes:
    """What read() gives, as soon as there is a line."""
    batch = worker.batch()
    batch.read(fd, 4096)
    (result,) = batch.run(LIMIT)
    return result.data[: result.check()]


def shell(guest: Guest, script: str) -> str:
    """What a script of the guest's shell writes."""
    return (
        guest.agent.run(["/bin/busybox", "sh", "-c", script], timeout=LIMIT).check().stdout.decode()
    )


def loud(guest: Guest) -> None:
    """What programs write to the kernel's log is on the console, too."""
    guest.agent.write_file("/proc/sys/kernel/printk_devkmsg", b"on\n")
    guest.agent.write_file("/proc/sys/kernel/printk", b"7")


def write_log(guest: Guest, word: str, count: int) -> None:
    """So many lines in the kernel's log, with numbers."""
    line = f'echo "<5>{word} $i."'
    shell(guest, f"i=0; while [ $i -lt {count} ]; do i=$((i+1)); {line}; done > /dev/kmsg")


def in_log(guest: Guest, word: str) -> list[int]:
    """The numbers of those on the console."""
    return [int(number) for number in re.findall(rf"{word} (\d+)\.\n", log(guest))]


def need_drop(guest: Guest) -> None:
    if guest.agent.open(DROP).errno:
        pytest.skip("con3215 before 6.2 always waits, and has no con_drop")


@pytest.mark.requirement("O4")
def test_linux_finds_it_by_what_cp_says(guest: Guest) -> None:
    """QUERY CONSOLE and QUERY TERMINAL: no parameter of the kernel's names the 3215."""
    assert b"conmode" not in guest.agent.read_file("/proc/cmdline")
    assert guest.agent.read_file(f"{DEVICE}/cutype") == b"3215/00\n"
    assert guest.agent.read_file("/proc/consoles").split()[0] == b"ttyS0"
    assert "CONMODE 3215" in guest.cp("QUERY TERMINAL").response
    # Linux has set it: con3215 ends its lines itself.
    assert "AUTOCR OFF" in guest.cp("QUERY TERMINAL").response


@pytest.mark.requirement("O5")
@pytest.mark.parametrize("lines", [5000, pytest.param(300_000, marks=pytest.mark.full)])
def test_many_lines(quiet: Guest, lines: int) -> None:
    """All of them, byte for byte, with tabs as blanks."""
    script = f'i=0; while [ $i -lt {lines} ]; do i=$((i+1)); echo "line $i|\t|"; done'
    shell(quiet, f"({script}) > {TERMINAL}")
    await_text(quiet, f"line {lines}|")

    def line(number: int) -> str:
        text = f"line {number}|"
        return text + " " * (8 - len(text) % 8) + "|\n"

    expected = "".join(map(line, range(1, lines + 1)))
    wait_until(lambda: expected in log(quiet), "all lines", lambda: log(quiet)[-500:])


@pytest.mark.requirement("O10")
@pytest.mark.parametrize("trigger", ["poff", "panic"])
def test_last_words(guest: Guest, trigger: str) -> None:
    """All that the kernel has written is on the console, though nobody waits for it any more."""
    loud(guest)
    guest.agent.write_file("/proc/sys/kernel/panic", b"0")
    write_log(guest, "last", 500)
    pull(guest, trigger)
    if trigger == "panic":
        guest.expect_crash(PANIC, DISABLED_WAIT, seconds=LIMIT)
        assert log(guest).index("last 500.\n") < log(guest).index("Kernel panic - not syncing")
    else:
        assert guest.emulator.wait(LIMIT) == 0
    assert in_log(guest, "last") == list(range(1, 501))


@pytest.mark.requirement("O6")
def test_cp_answers_at_the_console(quiet: Guest) -> None:
    """#CP is CP's, whoever reads the terminal; the answer is not the guest's to read."""
    type_keys(quiet, b"#cp query time\n#CP Q USERID#INDICATE USER *\n#cp nonsense\n")
    await_text(quiet, "HCPCMD001E Unknown CP command: NONSENSE\n")
    assert re.search(r"#cp query time\nTIME IS \d\d:\d\d:\d\d UTC .*\nCONNECT= ", log(quiet))
    assert "#CP Q USERID#INDICATE USER *\nLINUX001 AT ZVMLAB\nUSERID=LINUX001 " in log(quiet)


@pytest.mark.requirement("O6")
def test_messages_of_others_appear(quiet: Guest) -> None:
    for command, line in (
        ("MSG LINUX001 good morning", r"\d\d:\d\d:\d\d  \* MSG FROM OPERATOR: good morning\n"),
        ("WARNING LINUX001 soon down", r"\d\d:\d\d:\d\d  \* WNG FROM OPERATOR: soon down\n"),
    ):
        assert quiet.cp(command).rc == 0
        wait_until(lambda: re.search(line, log(quiet)) is not None, line)


@pytest.mark.requirement("O6")
def test_linesize_breaks_lines(worker: Worker, terminal: int, quiet: Guest) -> None:
    assert quiet.cp("TERMINAL LINESIZE 70").rc == 0
    worker.write(terminal, b"x" * 150 + b"\n").check()
    await_text(quiet, "x" * 70 + "\n" + "x" * 70 + "\n" + "x" * 10 + "\n")
    quiet.cp("TERMINAL LINESIZE OFF")


@pytest.mark.requirement("O7")
def test_the_interrupt_key(quiet: Guest) -> None:
    """Ctrl-C interrupts the program whose terminal it is."""
    program = "trap 'echo interrupted; exit 3' INT; echo ready; read line"
    session = f'exec /bin/busybox setsid -c /bin/busybox sh -c "{program}"'
    run = quiet.agent.spawn(["/bin/busybox", "sh", "-c", f"{session} <{TERMINAL} >{TERMINAL}"])
    await_text(quiet, "ready")
    type_keys(quiet, b"\x03")
    await_text(quiet, "interrupted")
    run.wait(LIMIT)


@pytest.mark.requirement("O7")
@pytest.mark.usefixtures("terminal")
def test_magic_sysrq(quiet: Guest) -> None:
    """A line of ^- and a key is one for the kernel."""
    since = quiet.agent.log_position()
    type_keys(quiet, b"^-h\n")
    wait_until(
        lambda: any("sysrq: HELP" in line.text for line in quiet.agent.dmesg(since)), "its help"
    )


@pytest.mark.requirement("O7")
def test_input_that_nobody_reads(worker: Worker, terminal: int, quiet: Guest) -> None:
    """The terminal holds back what has no room, and CP the keys behind it; nothing is lost."""
    lines = [f"{number:3} " + "y" * 150 for number in range(60)]
    text = "".join(f"{line}\n" for line in lines).encode()
    found = b""
    with ThreadPoolExecutor(1) as pool:
        typing = pool.submit(type_keys, quiet, text)
        await_text(quiet, lines[30])
        while len(found) < len(text):
            found += read_line(worker, terminal)
        typing.result(LIMIT)
    assert found == text


@pytest.mark.requirement("O8")
def test_output_that_is_stopped(worker: Worker, terminal: int, quiet: Guest) -> None:
    """tcflow() holds output back, tcdrain() waits for it, tcflush() hurries it."""
    worker.ioctl(terminal, TCXONC, TCOOFF).check()
    batch = worker.batch()
    batch.write(terminal, b"behind the stop\n")
    pending = batch.start(timeout=LIMIT)
    assert "behind the stop" not in log(quiet)
    control = quiet.agent.worker("control")
    fd = control.open(TERMINAL, os.O_RDWR | os.O_NOCTTY).check()
    control.ioctl(fd, TCXONC, TCOON).check()
    pending.result()
    worker.ioctl(terminal, TCSBRK, 1).check()
    await_text(quiet, "behind the stop\n")
    worker.ioctl(terminal, TCFLSH, TCOFLUSH).check()
    control.close(fd).check()


@pytest.mark.requirement("O8")
def test_output_that_is_not_dropped(quiet: Guest) -> None:
    """con_drop off: the kernel waits for the console, which has all of its lines."""
    need_drop(quiet)
    assert quiet.agent.read_file(DROP) == b"1\n"
    quiet.agent.write_file(DROP, b"0\n")
    assert quiet.agent.read_file(DROP) == b"0\n"
    loud(quiet)
    write_log(quiet, "kept", 2000)
    await_text(quiet, "kept 2000.\n")
    assert in_log(quiet, "kept") == list(range(1, 2001))


@pytest.mark.requirement("O8")
@pytest.mark.zvmlab(command_line="con3215_drop=0")
def test_parameter_for_output_that_is_not_dropped(guest: Guest) -> None:
    """Without the parameter it is dropped."""
    need_drop(guest)
    assert guest.agent.read_file(DROP) == b"0\n"


@pytest.mark.requirement("O8")
def test_output_that_is_dropped(quiet: Guest, worker: Worker, terminal: int) -> None:
    """The kernel goes on while the console is stopped; of more than 64 KiB the oldest lines are gone."""
    need_drop(quiet)
    loud(quiet)
    worker.ioctl(terminal, TCXONC, TCOOFF).check()
    write_log(quiet, "much", 4000)
    assert not in_log(quiet, "much")
    worker.ioctl(terminal, TCXONC, TCOON).check()
    await_text(quiet, "much 4000.\n")
    found = in_log(quiet, "much")
    assert found == list(range(4001 - len(found), 4001)) and 500 < len(found) < 4000


@pytest.mark.requirement("O8")
def test_output_as_a_program_asks(quiet: Guest, worker: Worker, terminal: int) -> None:
    """stty: a carriage return is the end of a line."""
    shell(quiet, f"stty -F {TERMINAL} opost ocrnl -onlcr")
    worker.write(terminal, b"first\rsecond\n").check()
    await_text(quiet, "first\nsecond\n")


@pytest.mark.requirement("O8")
def test_it_goes_off_and_on_again(quiet: Guest, worker: Worker) -> None:
    """The console's device cannot be taken away from the kernel that writes there."""
    quiet.agent.write_file(f"{DEVICE}/online", b"0\n")
    quiet.agent.write_file(f"{DEVICE}/online", b"1\n")
    fd = worker.open(TERMINAL, os.O_RDWR | os.O_NOCTTY).check()
    worker.write(fd, b"on again\n").check()
    await_text(quiet, "on again\n")
    worker.close(fd).check()


def attempt(worker: Worker, action: str) -> int:
    """Take the device from the driver, or give it back: the error number."""
    fd = worker.open(f"{DRIVER}/{action}", os.O_WRONLY)
    if fd.errno:
        return fd.errno
    written = worker.write(fd.check(), b"0.0.0009")
    worker.close(fd.check()).check()
    return written.errno


@pytest.mark.requirement("O8")
@pytest.mark.kernel_defect(
    47,
    "con3215: the console's device can be unbound, and the next message of the kernel hangs it",
    seen=r"assert True == False",
)
def test_a_console_has_a_driver(quiet: Guest, worker: Worker) -> None:
    """Whether or not its device can be taken away: what the kernel lists, it can write to."""
    attempt(worker, "unbind")
    listed = b"ttyS0" in quiet.agent.read_file("/proc/consoles")
    driven = quiet.agent.open(DEVICE).errno == 0
    assert listed == driven


@pytest.mark.requirement("O8")
def test_device_without_memory_has_no_driver(quiet: Guest, worker: Worker) -> None:
    """Each allocation of taking it fails once; then the driver has it."""
    failing = Failing(quiet)
    if attempt(worker, "unbind") == errno.ENOENT:
        pytest.skip("the kernel does not let go of its console")
    fd = worker.open(f"{DRIVER}/bind", os.O_WRONLY).check()
    errors = failing.each(
        worker,
        lambda batch: batch.write(fd, b"0.0.0009"),
        lambda result: void(attempt(worker, "unbind")),
    )
    assert {0, errno.ENOMEM} <= set(errors), errors
    worker.write(fd, b"0.0.0009").check()
    worker.close(fd).check()
    quiet.agent.write_file(f"{DEVICE}/online", b"1\n")


@pytest.mark.requirement("O11")
@pytest.mark.parametrize("sense", [EQUIPMENT_CHECK, INTERVENTION_REQUIRED])
def test_text_that_cannot_be_written(
    quiet: Guest, worker: Worker, terminal: int, sense: int
) -> None:
    """It is lost, and the terminal goes on with what follows."""
    with armed(quiet.control, Fault("console.write", "rc", sense, nth=1)):
        worker.write(terminal, b"lost\n").check()
        worker.ioctl(terminal, TCSBRK, 1).check()
    worker.write(terminal, b"next\n").check()
    await_text(quiet, "next\n")
    assert "lost" not in log(quiet)


@pytest.mark.requirement("O11")
def test_line_that_cannot_be_read(quiet: Guest, worker: Worker, terminal: int) -> None:
    """It is lost, and those typed behind it are read."""
    with armed(quiet.control, Fault("console.read", "rc", EQUIPMENT_CHECK, nth=1)) as rules:
        type_keys(quiet, b"lost\nnext\n")
        assert read_line(worker, terminal) == b"next\n"
    assert rules[0].fired == 1


@pytest.mark.requirement("O9")
def test_what_was_typed_before_it_was_put_back(guest: Guest) -> None:
    """A line that the guest has not read yet is there after it has been put back, and read once."""
    guest.agent.write_file("/proc/sys/kernel/printk", b"1")
    fd = guest.agent.open(TERMINAL, os.O_RDWR | os.O_NOCTTY).check()
    type_keys(guest, b"typed before\n")
    await_text(guest, "typed before\n")
    guest.mark()
    for number in range(2):
        assert guest.agent.read(fd, 4096).data == b"typed before\n"
        guest.agent.write(fd, f"read {number}\n".encode()).check()
        await_text(guest, f"read {number}\n")
        guest.put_back()
    guest.agent.close(fd).check()


@pytest.mark.requirement("O9")
def test_a_terminal_that_was_restored(guest_config: GuestConfig, zvmlab_dir: Path) -> None:
    """The guest's whole life from a checkpoint on: it writes, reads, and shuts down."""
    with Guest(guest_config, zvmlab_dir / "restored") as guest:
        guest.boot()
        type_keys(guest, b"#cp query userid\n")
        await_text(guest, "LINUX001 AT ZVMLAB\n")
        shell(guest, f"echo he''llo > {TERMINAL}")
        await_text(guest, "hello\n")
        guest.shut_down()


def test_unread_bytes_are_counted(worker: Worker, terminal: int) -> None:
    """TIOCOUTQ is what con3215 has not written yet."""
    worker.ioctl(terminal, TCSBRK, 1).check()
    counted = worker.ioctl(terminal, TIOCOUTQ, Both(bytes(4)))
    counted.check()
    assert counted.data == bytes(4)
