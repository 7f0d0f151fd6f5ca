# SPDX-License-Identifier: MIT
"""monread export: values by HTTP and as a file, TLS, users, and clients that mean no good."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import resource
import select
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from exporter_tool import OPENMETRICS, SECONDS, TEXT, Exporter, exporting, text_values, values
from monread_tool import END, ROOT, START, TOD, build_monread, part, run, stream, user

from zvmlab.base.errors import EXIT_CANNOT_RUN, EXIT_FAILED, EXIT_PASS, EXIT_TIMEOUT, EXIT_USAGE
from zvmlab.mondata.records import EVENT, Part, Record

SECOND = 4096 * 1000000
SET = stream(part(user("LINUX001"), END))


@pytest.fixture(name="monread", scope="module")
def _monread() -> Path:
    return build_monread()


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    file = tmp_path / "data"
    file.write_bytes(SET)
    return file


@pytest.fixture(name="running")
def _running(monread: Path, file: Path) -> Iterator[Exporter]:
    with exporting(monread, "--listen", "0", file) as running:
        running.wait_for("sets complete")
        yield running


def at(domain: int, number: int, seconds: int, payload: bytes = b"") -> Record:
    return Record(domain, number, TOD + seconds * SECOND, payload)


def test_values_and_their_format(running: Exporter) -> None:
    """OpenMetrics for who takes it, else the text format; the same values in both."""
    answer = running.ask()
    assert answer.headers["Content-Type"] == OPENMETRICS
    assert answer.headers["Connection"] == "close"
    assert answer.body.endswith("\n# EOF\n")
    found = values(answer.body)
    assert found["monread_sets_total"] == 1
    assert found["monread_records_total"] == 2
    assert found["monread_intervals_total"] == 1
    assert found["monread_sets_lost_total"] == 0
    assert found['monread_export_requests_total{code="200"}'] == 0
    plain = running.ask(accept=None)
    assert plain.headers["Content-Type"] == TEXT
    assert "# EOF" not in plain.body and "# UNIT" not in plain.body
    assert "# TYPE monread_sets_total counter\n" in plain.body
    found['monread_export_requests_total{code="200"}'] += 1
    assert text_values(plain.body) == found


def test_times_of_processors_and_users(monread: Path, tmp_path: Path) -> None:
    """What the bytes of the records say, in seconds, and when the interval ended."""
    file = tmp_path / "data"
    argv = [str(ROOT / "zvmlab"), "fabricate", "--hours", "0.2", "--out", str(file)]
    argv += ["--workload", str(ROOT / "examples/busy-day.json")]
    subprocess.run(argv, check=True, timeout=SECONDS, capture_output=True)
    lines = [json.loads(one) for one in run(monread, "--activity", file).stdout.splitlines()]
    users: dict[str, float] = {}
    for line in lines:
        for one in line["users"]:
            users[one["user"]] = users.get(one["user"], 0) + one["seconds"]
    with exporting(monread, "--listen", "0", file) as running:
        running.wait_for("sets complete")
        found = running.values()
    assert len(users) > 10
    for user_id, seconds in users.items():
        key = f'zvm_user_cpu_seconds_total{{user="{user_id}",processor="0"}}'
        assert found[key] == pytest.approx(seconds, rel=1e-6)
    starts = [value for key, value in found.items() if key.startswith("zvm_device_starts")]
    assert len(starts) > 1
    until = time.gmtime(found["monread_interval_end_timestamp_seconds"])
    assert time.strftime("%Y-%m-%dT%H:%M:%S", until) == lines[-1]["until"][:19]
    online = found['zvm_processor_online_seconds_total{type="IFL"}']
    # Six of them in the workload.
    assert online == 6 * 12 * 60
    assert 0 < found['zvm_processor_busy_seconds_total{type="IFL"}'] < online
    # fabricate has the layouts of z/VM 5.3 (docs/fabricate.md).
    assert found['zvm_release_info{release="5.3"}'] == 1


def words(size: int, **fields: int | bytes) -> bytes:
    """The payload of a record of *size* bytes; _OFFSET in the record = a word, or bytes."""
    made = bytearray(size)
    for name, value in fields.items():
        offset = int(name[1:])
        data = value if isinstance(value, bytes) else value.to_bytes(4, "big")
        made[offset : offset + len(data)] = data
    return bytes(made[20:])


def ebcdic(name: str, size: int = 8) -> bytes:
    return name.ljust(size).encode("cp037")


def _minute(number: int) -> tuple[Part, Part]:
    """What grows by the same in each minute; offsets as zvmlab records has them for 5.3."""
    seconds, n = 60 * number, number
    states = {"_48": 300 * n, "_88": 100 * n, "_96": 60 * n, "_104": 10 * n, "_108": 20 * n}
    states |= {"_112": 30 * n, "_116": 40 * n, "_128": 5 * n}
    found = {"_20": 50 * n, "_24": n, "_28": 20 * n, "_32": 10 * n, "_36": 2 * n, "_40": 3 * n}
    found |= {"_44": 4 * n, "_48": 5 * n, "_52": 6 * n}
    pages = {"_64": 256, "_92": 128, "_104": 1000 * n, "_108": 10 * n, "_128": 7 * n}
    volume = {"_36": 1000, "_48": 500 * n, "_52": 50 * n, "_64": 700 + n, "_168": 30 * n}
    samples = part(
        at(0, 12, seconds, words(160, **found)),
        at(3, 4, seconds, words(172, _20=ebcdic("PAG001", 6), _26=b"\x0a\xbc", **volume)),
        at(6, 3, seconds, words(260, _200=b"\x20\x00", _192=600 * n)),
        at(1, 11, seconds),
        start=START + n * 0x2000,
    )
    events = part(
        at(4, 9, seconds, words(360, _20=ebcdic("LINUX001"), **pages)),
        at(4, 10, seconds, words(200, _20=ebcdic("LINUX001"), **states)),
        type=EVENT,
        start=START + n * 0x2000 + 0x1000,
    )
    return events, samples


def test_values_of_the_tables(monread: Path, tmp_path: Path) -> None:
    """Waits, responses, paging: what was counted since the first record of each."""
    file, out = tmp_path / "data", tmp_path / "values"
    rate = at(1, 9, 0, words(36, _24=150))
    # Fifteen units of 128 us of eight I/Os: 240 us.
    block = words(68, _24=b"\x20\x00", _30=b"\x00\x08", _32=10, _36=2, _40=3)
    minutes = [one for number in (1, 2, 4) for one in _minute(number)]
    minutes.insert(4, part(at(6, 14, 130, block), type=EVENT))
    # D1R9 alone could be of many releases; D1R5 is so long in 5.3 only.
    file.write_bytes(stream(part(at(1, 5, 0, words(44)), rate), *minutes))
    assert run(monread, "export", "--textfile", out, file).returncode == EXIT_PASS
    found = text_values(out.read_text())
    with exporting(monread, "--listen", "0", file) as running:
        running.wait_for("sets complete")
        # By the other parser, of OpenMetrics.
        asked = running.values()
    assert {key: value for key, value in asked.items() if key.startswith("zvm_")} == {
        key: value for key, value in found.items() if key.startswith("zvm_")
    }
    user = 'user="LINUX001",processor="0"'
    # Three minutes' worth; of what is not running, waiting, idle or dormant there is 35 a minute.
    states = {"running": 120, "cpu-wait": 90, "io-wait": 180, "page-wait": 60, "simulation": 30}
    states |= {"idle": 300, "dormant": 15, "other": 105}
    for state, count in states.items():
        assert found[f'zvm_user_state_samples_total{{{user},state="{state}"}}'] == count
    assert found["zvm_sample_interval_seconds"] == 1.5
    assert found['zvm_state_samples_total{state="io-wait"}'] == 60
    assert found['zvm_state_samples_total{state="idle"}'] == 150
    assert found['zvm_device_response_seconds{device="2000"}'] == 0.00024
    assert found['zvm_device_starts_total{device="2000"}'] == 1800
    volume = 'device="0ABC",volume="PAG001"'
    assert found[f"zvm_volume_slots{{{volume}}}"] == 1000
    assert found[f"zvm_volume_slots_used{{{volume}}}"] == 704
    assert found[f"zvm_volume_page_reads_total{{{volume}}}"] == 1500
    assert found[f"zvm_volume_page_writes_total{{{volume}}}"] == 150
    assert found[f"zvm_user_page_reads_total{{{user}}}"] == 3000
    assert found[f"zvm_user_page_writes_total{{{user}}}"] == 30
    assert found[f"zvm_user_starts_total{{{user}}}"] == 21
    assert found[f"zvm_user_resident_bytes{{{user}}}"] == 1 << 20
    assert found[f"zvm_user_paged_out_bytes{{{user}}}"] == 1 << 19


def test_load_of_the_partition(monread: Path, tmp_path: Path) -> None:
    """D0R15, the name of D1R4, and D0R2 of a processor; names are replaced with a key."""

    def half(number: int) -> bytes:
        return number.to_bytes(2, "big")

    def processor(seconds: int, users: int, system: int) -> Record:
        times = {"_32": (users * SECOND).to_bytes(8, "big")}
        times |= {"_40": (system * SECOND).to_bytes(8, "big")}
        return at(0, 2, seconds, words(108, _20=half(7), _104=b"\3", **times))

    counts = {"_26": half(24), "_28": half(5), "_34": half(2), "_36": half(1)}
    counts |= {"_52": half(3), "_54": half(4)}
    file, out, key = tmp_path / "data", tmp_path / "values", tmp_path / "key"
    first = part(
        at(1, 4, 0, words(184, _88=ebcdic("ZVMSYS"))),
        at(0, 15, 0, words(56, _40=ebcdic("LP5"), **counts)),
        processor(0, 100, 10),
        at(1, 11, 0),
    )
    second = part(processor(60, 140, 15), at(1, 11, 60), start=START + 0x1000)
    file.write_bytes(stream(first, second))
    assert run(monread, "export", "--textfile", out, file).returncode == EXIT_PASS
    found = text_values(out.read_text())
    assert found['zvm_partition_info{system="ZVMSYS",partition="LP5"}'] == 1
    for kind, count in (("configured", 2), ("standby", 1), ("shared", 4), ("dedicated", 3)):
        assert found[f'zvm_partition_processors{{kind="{kind}"}}'] == count
    assert found["zvm_machine_processors"] == 24
    labels = 'processor="7",type="IFL"'
    assert found[f'zvm_logical_processor_busy_seconds_total{{{labels},mode="users"}}'] == 40
    assert found[f'zvm_logical_processor_busy_seconds_total{{{labels},mode="system"}}'] == 5
    assert found[f"zvm_logical_processor_online_seconds_total{{{labels}}}"] == 60
    assert found['zvm_processor_busy_seconds_total{type="IFL"}'] == 45
    key.write_bytes(bytes(16))
    words_of_key = ("--anonymise", key, "--textfile", out, file)
    assert run(monread, "export", *words_of_key).returncode == EXIT_PASS
    text = out.read_text()
    assert "zvm_partition_info{" in text and "ZVMSYS" not in text and "LP5" not in text


def test_losses_are_counters(monread: Path, tmp_path: Path) -> None:
    """A set that ends too early, event records that CP lost, a rule that was broken."""
    file = tmp_path / "data"
    lost = at(1, 3, 2, (1234).to_bytes(4, "big") + bytes(100))
    file.write_bytes(SET + stream(part(lost, type=EVENT, start=START + 0x1000))[:-8])
    with exporting(monread, "--listen", "0", file, ends=EXIT_FAILED) as running:
        running.wait_for("sets complete")
        found = running.values()
    assert found["monread_sets_lost_total"] == 1
    assert sum(value for key, value in found.items() if "violations" in key) >= 1


def test_no_data_for_too_long(monread: Path, tmp_path: Path) -> None:
    """It ends, although it could be asked for values: it was told to wait no longer."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = os.open(fifo, os.O_RDWR)
    done = run(monread, "export", "--listen", "0", "--timeout", "10ms", fifo)
    os.close(writer)
    assert done.returncode == EXIT_TIMEOUT
    assert f"monread: {fifo}: Connection timed out" in done.stderr


def test_other_requests(running: Exporter) -> None:
    """A page at /, nothing elsewhere, no other method."""
    page = running.ask("/")
    assert page.code == 200 and 'href="metrics"' in page.body
    assert running.ask("/other").code == 404
    assert running.ask("/metrics/x").code == 404
    post = running.ask(method="POST")
    assert post.code == 405 and post.headers["Allow"] == "GET, HEAD"
    head = running.ask(method="HEAD")
    assert head.code == 200 and head.body == "" and int(head.headers["Content-Length"]) > 1000
    found = running.values()
    assert found['monread_export_requests_total{code="200"}'] == 2
    assert found['monread_export_requests_total{code="404"}'] == 2
    assert found['monread_export_requests_total{code="405"}'] == 1


def test_textfile(monread: Path, file: Path, tmp_path: Path) -> None:
    """It is there whole, is written again, and has the last values when the data end."""
    out = tmp_path / "monread.prom"
    done = run(monread, "export", "--textfile", out, file)
    assert done.returncode == EXIT_PASS
    found = text_values(out.read_text())
    assert found["monread_sets_total"] == 1
    assert found["monread_export_textfile_errors_total"] == 0
    assert sorted(tmp_path.iterdir()) == [file, out]
    done = run(monread, "export", "--textfile", tmp_path / "no/monread.prom", file)
    assert done.returncode == EXIT_USAGE
    wanted = f"monread: {tmp_path}/no/monread.prom cannot be written: No such file or directory"
    assert done.stderr.splitlines() == [wanted]


def test_textfile_of_a_full_disk(monread: Path, file: Path, tmp_path: Path) -> None:
    """What was there stays as it was, nothing is left beside it, and it is said once."""
    out = tmp_path / "monread.prom"
    out.write_text("before\n")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = subprocess.run(
        [monread, "export", "--textfile", out, file],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == EXIT_USAGE
    assert done.stderr == f"monread: {out} cannot be written: File too large\n"
    assert out.read_text() == "before\n" and sorted(tmp_path.iterdir()) == [file, out]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "nowhere to export to; use --listen, --textfile or --json-lines"),
        (["--listen", "x"], "invalid --listen: 'x' (PORT for this machine alone, :PORT for all"),
        (["--listen", "65536"], "invalid --listen: '65536' (PORT"),
        (["--listen", "[::1:80"], "invalid --listen: '[::1:80' (PORT"),
        (["--listen", "1.2.3:80"], "invalid --listen: '1.2.3:80' (PORT"),
        (["--json-lines", ":"], "invalid --json-lines: ':' (PORT"),
        (["--textfile", "x", "--interval", "1ms"], "invalid --interval: '1ms' (100ms to 24h"),
        (["--listen", "0", "--key", "k"], "--certificate and --key can only be used together"),
        (["--textfile", "x", "--passwords", "p"], "can only be used with --listen"),
        (["--listen", "0", "--certificate", "/no", "--key", "/no"], "the certificate /no cannot"),
        (["--listen", "0", "--passwords", "/no"], "the password file /no cannot be read: No such"),
        (["--listen", "192.0.2.1:0"], "at 192.0.2.1:0: this machine does not have this address"),
    ],
)
def test_wrong_words(monread: Path, file: Path, words: list[str], sentence: str) -> None:
    """One sentence, and nothing is exported."""
    done = run(monread, "export", *words, file)
    assert done.returncode == EXIT_USAGE
    assert sentence in done.stderr.splitlines()[0]
    assert "sets complete" not in done.stderr


def test_two_exporters_at_one_port(monread: Path, file: Path, running: Exporter) -> None:
    """The second one says so and ends; the first one goes on."""
    port = running.address()[1]
    for option in ("--listen", "--json-lines"):
        done = run(monread, "export", option, str(port), file)
        assert done.returncode == EXIT_USAGE
        wanted = f"monread: cannot listen at {port}: another program listens at this port"
        assert done.stderr.splitlines() == [wanted]
    assert running.values()["monread_sets_total"] == 1


def test_addresses(monread: Path, file: Path) -> None:
    """Of this machine alone, of IPv6, and of all."""
    with exporting(monread, "--listen", "0", file) as running:
        running.wait_for("sets complete")
        assert running.address()[0] == "127.0.0.1"
    if not socket.has_ipv6 or not Path("/proc/net/if_inet6").read_text():
        pytest.skip("this machine has no IPv6 address")
    with exporting(monread, "--listen", "[::1]:0", file) as running:
        running.wait_for("sets complete")
        assert running.address()[0] == "::1"
        assert running.values()["monread_sets_total"] == 1
    with exporting(monread, "--listen", ":0", file) as running:
        running.wait_for("sets complete")
        host, port = running.address()
        assert host == "::"
        with socket.create_connection(("127.0.0.1", port), SECONDS) as four:
            four.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert four.recv(12) in (b"HTTP/1.0 200", b"HTTP/1.1 200")


@pytest.fixture(name="pair", scope="module")
def _pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate and its key."""
    folder = tmp_path_factory.mktemp("tls")
    pair = (folder / "cert.pem", folder / "key.pem")
    argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    argv += ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-out", str(pair[0])]
    argv += ["-keyout", str(pair[1]), "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(argv, check=True, capture_output=True, timeout=SECONDS)
    return pair


def test_tls(monread: Path, file: Path, pair: tuple[Path, Path]) -> None:
    """TLS 1.3 and 1.2 of who trusts the certificate; nothing older, and no plain HTTP."""
    words = ("--listen", "0", "--certificate", pair[0], "--key", pair[1])
    with exporting(monread, *words, file) as running:
        assert running.wait_for("values at https://")
        running.wait_for("sets complete")
        trusting = ssl.create_default_context(cafile=str(pair[0]))
        for version in (ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2):
            trusting.maximum_version = version
            assert values(running.ask(tls=trusting).body)["monread_sets_total"] == 1
        with pytest.raises(ssl.SSLError):
            running.ask(tls=ssl.create_default_context())
        with pytest.raises((ConnectionError, OSError)):
            running.ask()
        assert running.ask(tls=trusting).code == 200


def test_wrong_certificates(
    monread: Path, file: Path, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """No PEM file; one that is none of its kind; both said with their names."""
    for certificate, key, sentence in [
        (file, pair[1], f"monread: the certificate {file} is no PEM file"),
        (pair[0], file, f"monread: the key {file} is no PEM file"),
        (pair[0], tmp_path / "no", f"monread: the key {tmp_path}/no cannot be read: No such file"),
        (pair[1], pair[1], f"monread: the certificate {pair[1]} and the key {pair[1]} cannot be"),
    ]:
        words = ("--listen", "0", "--certificate", certificate, "--key", key)
        done = run(monread, "export", *words, file)
        assert done.returncode == EXIT_USAGE
        assert done.stderr.startswith(sentence) and done.stderr.count("\n") == 1


# "se:cret" by bcrypt, as "htpasswd -B" writes it, and by SHA-512.
BCRYPT = "$2y$05$aaaaaaaaaaaaaaaaaaaaaeSbtCjow3Cq0UmJMn54x1VhZFBwGT/IK"
SHA512 = "$6$abcdefgh$x0o6yD48j5ARRWoAMCR7LyNAWftPgohpTO.7j6t6LpTHU7.o"
SHA512 += ".QoRxMMr0cKvnus44//Pxz.RElGv2Bdbw0Kmz1"


def test_users(monread: Path, file: Path, tmp_path: Path) -> None:
    """Only with a password; who is refused learns nothing, whoever it is."""
    passwords = tmp_path / "passwords"
    passwords.write_text(f"# who may\n\nbob:{SHA512}\nalice:{BCRYPT}\n")
    with exporting(monread, "--listen", "0", "--passwords", passwords, file) as running:
        running.wait_for("sets complete")
        for login in (None, "alice:", "alice:secret", "carol:se:cret", "alice:se:cretx", ":"):
            answer = running.ask(login=login)
            assert answer.code == 401
            assert answer.headers["WWW-Authenticate"].startswith('Basic realm="monread"')
            assert answer.body == "User or password is wrong.\n"
        for path in ("/", "/other"):
            assert running.ask(path).code == 401
        for login in ("alice:se:cret", "bob:se:cret", "alice:se:cret"):
            assert running.values(login=login)["monread_sets_total"] == 1
        assert running.ask(login="alice:wrong").code == 401
        found = running.values(login="bob:se:cret")
    assert found['monread_export_requests_total{code="401"}'] == 9
    assert found['monread_export_requests_total{code="200"}'] == 3


SLOW = "$2y$13$aaaaaaaaaaaaaaaaaaaaaeZjxYnRzSoCwziMRarI5PCmIzXAMxG4q"
"""se:cret by bcrypt with 2^13 rounds: a good part of a second, or more."""


class Guesses(threading.Thread):
    """A client that asks with a wrong password, again and again, from an address of its own."""

    def __init__(self, running: Exporter, login: str, source: str) -> None:
        super().__init__(daemon=True)
        self.running, self.login, self.source = running, login, source
        self.ended = False
        self.refused = 0
        self.start()

    def run(self) -> None:
        """Until the exporter has gone."""
        while not self.ended:
            try:
                self.refused += self.running.ask(login=self.login, source=self.source).code == 401
            except (OSError, http.client.HTTPException):
                return


def _refused(running: Exporter, login: str, source: str = "127.0.0.1") -> int:
    """How many wrong passwords had been answered when the right one was."""
    answer = running.ask(login=login, source=source)
    assert answer.code == 200
    (found,) = re.findall(r'requests_total{code="401"} (\d+)', answer.body)
    return int(found)


def test_right_password_beside_wrong_ones(monread: Path, file: Path, tmp_path: Path) -> None:
    """Eight clients guess all the time: who knows the password is served as if they were not there."""
    passwords = tmp_path / "passwords"
    passwords.write_text(f"bob:{SLOW}\nalice:{SLOW}\n")
    with exporting(monread, "--listen", "0", "--passwords", passwords, file) as running:
        running.wait_for("sets complete")
        guesses = [Guesses(running, f"bob:wrong{number}", "127.0.0.1") for number in range(8)]
        limit = time.monotonic() + SECONDS
        while not sum(guess.refused for guess in guesses):
            assert time.monotonic() < limit, f"no password was refused within {SECONDS} s"
            time.sleep(0.01)
        # Of another address: after the check under way, and perhaps after one more by turn.
        before = sum(guess.refused for guess in guesses)
        assert _refused(running, "alice:se:cret", "127.0.0.2") - before <= 3
        # What was right is known: whoever waited for all the others would wait for 8 each time.
        known = [_refused(running, "alice:se:cret") for _ in range(5)]
        assert known[-1] - known[0] < 8
        for guess in guesses:
            guess.ended = True


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("alice\n", "line 1 of the password file {} cannot be used: it is not of the form"),
        ("# x\n:$2y$05$x\n", "line 2 of the password file {} cannot be used: it is not of"),
        ("a:secret\n", "line 1 of the password file {} cannot be used: its hash is none of bcrypt"),
        ("a:$1$abcdefgh$G//4keteveJp0qb8z2DxG/\n", "line 1 of the password file {} cannot be"),
        ("a:" + "$" * 600 + "\n", "line 1 of the password file {} cannot be used: it is longer"),
        ("# nobody\n", "the password file {} has no user"),
    ],
)
def test_wrong_password_files(
    monread: Path, file: Path, tmp_path: Path, text: str, sentence: str
) -> None:
    passwords = tmp_path / "passwords"
    passwords.write_text(text)
    done = run(monread, "export", "--listen", "0", "--passwords", passwords, file)
    assert done.returncode == EXIT_USAGE
    assert done.stderr.startswith("monread: " + sentence.format(passwords))
    assert done.stderr.count("\n") == 1


def _rest(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    got = b""
    try:
        while more := connection.recv(65536):
            got += more
    except ConnectionResetError:
        pass
    return got


def test_slow_clients_are_ended(running: Exporter) -> None:
    """A byte now and then keeps no connection for longer than the limit; others are answered."""
    with socket.create_connection(running.address(), SECONDS) as slow:
        begin = time.monotonic()
        slow.settimeout(1)
        got: bytes | None = None
        while got is None and time.monotonic() - begin < SECONDS:
            try:
                slow.sendall(b"G")
                got = slow.recv(100)
            except TimeoutError:
                assert running.ask("/").code == 200
            except OSError:
                got = b""
        assert got is not None, "it is still connected"
        assert 9 <= time.monotonic() - begin


_REQUEST = b"GET / HTTP/1.0\r\n\r\n"


def _answer(connection: socket.socket) -> bytes:
    """The status line's beginning; nothing if the other side closed instead."""
    with contextlib.suppress(ConnectionError):
        connection.sendall(_REQUEST)
        return connection.recv(12)
    return b""


def test_places_for_connections(monread: Path, file: Path) -> None:
    """docs/export.md: 16 from one address, where one more is refused; 32 in all, and others wait."""
    with exporting(monread, "--listen", "0", file) as running, contextlib.ExitStack() as ends:
        running.wait_for("sets complete")

        def connect(source: str) -> socket.socket:
            return ends.enter_context(
                socket.create_connection(running.address(), SECONDS, source_address=(source, 0))
            )

        idle = [connect("127.0.0.2") for _ in range(16)]
        assert _answer(connect("127.0.0.2")) == b""
        idle += [connect("127.0.0.3") for _ in range(16)]
        waiting = connect("127.0.0.4")
        waiting.sendall(_REQUEST)
        assert not select.select([waiting], [], [], 0.5)[0]
        assert {_answer(connection) for connection in idle} == {b"HTTP/1.1 200"}
        assert waiting.recv(12) == b"HTTP/1.1 200"


def test_many_connections_from_one_host(running: Exporter) -> None:
    """Half of the places are for others; when these go, there is room again."""
    idle = [socket.create_connection(running.address(), SECONDS) for _ in range(20)]
    for connection in idle:
        with connection:
            connection.shutdown(socket.SHUT_WR)
            assert _rest(connection) == b""
    assert running.values()["monread_sets_total"] == 1


@pytest.mark.parametrize(
    ("request_bytes", "code"),
    [
        (b"GET /metrics HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 40000 + b"\r\n\r\n", b"431"),
        (b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"414"),
        (b"\x00\xff\x16\x03\x01 hello\r\n\r\n", b""),
        (b"GET /metrics HTTP/9.9\r\nHost: x\r\n\r\n", b""),
        (b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", b""),
        (b"GET /../../etc/passwd HTTP/1.0\r\n\r\n", b"404"),
    ],
    ids=["headers", "address", "no HTTP", "version", "length", "path"],
)
def test_hostile_requests(running: Exporter, request_bytes: bytes, code: bytes) -> None:
    """Refused, and the next one is answered."""
    with socket.create_connection(running.address(), SECONDS) as hostile:
        try:
            hostile.sendall(request_bytes)
            hostile.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        got = _rest(hostile)
    assert b"root:" not in got and b"monread_sets" not in got
    if code:
        assert got.split(b" ")[1] == code
    assert running.values()["monread_sets_total"] == 1


def test_no_library(monread: Path, file: Path, tmp_path: Path) -> None:
    """Without libmicrohttpd one sentence says so; a file needs none."""
    wrong = tmp_path / "libmicrohttpd.so.12"
    wrong.write_bytes(b"")
    env = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run(
        [monread, "export", "--listen", "0", file],
        env=env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == EXIT_CANNOT_RUN
    assert done.stderr.startswith("monread: --listen needs the library libmicrohttpd (Debian: ")


def test_json_lines(monread: Path, tmp_path: Path) -> None:
    """Whoever is connected gets the lines of --activity, each of them whole."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    schema = json.loads((ROOT / "docs/monread-activity.json").read_text())
    with exporting(monread, "--json-lines", "0", "--listen", "0", fifo) as running:
        with open(fifo, "wb", buffering=0) as data:
            data.write(SET)
            with socket.create_connection(running.address("JSON lines at "), SECONDS) as connection:
                with connection.makefile("r", encoding="utf-8") as lines:
                    _until_client(running)
                    data.write(stream(part(user("LINUX002"), END, start=START + 0x1000)))
                    data.write(stream(part(user("LINUX003"), END, start=START + 0x2000)))
                    line = json.loads(lines.readline())
        running.wait_for("sets complete")
    jsonschema.validate(line, schema)
    assert line["records"] >= 2
    # The only release of which the length of D4R5 is public (zvmlab records).
    assert line["release"] == "5.3"


def _until_client(running: Exporter) -> None:
    """Until a client of the lines is known; a request comes after it in the same thread."""
    for _ in range(2):
        assert running.ask("/").code == 200
