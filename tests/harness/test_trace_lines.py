# SPDX-License-Identifier: MIT
"""A trace as lines: each rule by which two runs are made comparable, and what must still differ."""

from __future__ import annotations

from typing import Any

import pytest

from zvmlab.cp.tracefmt import Record
from zvmlab.differ.trace_lines import CALLS, CP, INTERRUPTIONS, ORDERED, trace_lines

# A CONNECT to *MONITOR, a set, its reply, the SEVER; the rest is the agent's.
LIST = 0x1B190C0
SERVICE = "5cd4d6d5c9e3d6d9"
AGENT = "e9e5d4d3c1c24040"
USER = "d3c9d5e4e7f0f0f1"
IPUSER = "01c0ffffffffffffd4d6d5c4c3e2e240"
CONNECT = f"0000800000ff0000{SERVICE}{IPUSER}{'0' * 16}"


def record(call: str, cpu: int | None = 0, /, **fields: Any) -> Record:
    """One line of a trace."""
    return Record(1, 0, cpu, call, fields)


def instruction(call: str, before: str, after: str, cc: int, at: int = LIST) -> Record:
    """An IUCV instruction as the trace has it; *after* is stored from the list's begin on."""
    fields = {"in": [[f"{at:x}", before.ljust(80, "0")]], "out": [[f"{at:x}", after]]}
    return record(f"iucv.{call}", gr0="b", gr1=f"{at:x}", cc=cc, **fields)


def interruption(image: str, at: int = 0x1B19E00) -> Record:
    """An interruption."""
    return record("interrupt", out=[[f"{at:x}", image.ljust(80, "0")]])


def event(image: str, user: str = "*MONITOR") -> Record:
    """An event of a service."""
    return record("event", None, user=user, event=image.ljust(80, "0"))


def session(path: str, message: str, at: int = LIST, area: int = 0x9000000) -> list[Record]:
    """One open with one set, with these ids and addresses."""
    reply = f"{path}8000{message}e2c40000"
    sever = f"{path}0000".ljust(32, "0") + "f" * 32 + "0" * 16
    return [
        instruction("connect", CONNECT, f"{path}800000c8", 0, at),
        event(f"{path}800100ff0000{USER}{IPUSER}"),
        instruction("send", "00011000", "00011000", 0, at),
        interruption(f"{path}800200ff", at + 0x400),
        interruption("00011007", at + 0x400),
        record("monitor.deliver", None, kind=1, set=int(message, 16), fate="delivered"),
        interruption(f"{path}8009{message}e2c40000{area:08x}{area + 11:08x}", at + 0x400),
        instruction("reply", reply, f"{path}8000", 0, at),
        instruction("sever", sever, f"{path}0001", 1, at),
    ]


def texts(*records: Record, track: str = CALLS) -> list[str]:
    """The lines of a track."""
    return list(trace_lines(records).track(track))


def test_calls_and_interruptions_in_words() -> None:
    found = trace_lines(session("0002", "00070000"))
    assert found.track(CALLS) == (
        f"connect *MONITOR limit 255 ipuser {IPUSER} flags 80, cc 0, path 1 limit 200",
        "reply path 1 message 1 class e2c40000 flags 80, cc 0",
        f"sever path 1 ipuser {'f' * 32} flags 00, cc 1 code 0x01",
    )
    assert found.track(INTERRUPTIONS) == (
        "complete path 1 limit 255 flags 80",
        "msg pending path 1 message 1 class e2c40000 12 bytes of control area flags 80",
    )
    assert found.track(CP) == (
        f"*MONITOR: pending path 1 of LINUX001 limit 255 ipuser {IPUSER} flags 80",
        "monitor.deliver kind 1 set 1 fate delivered",
    )


def test_ids_and_addresses_are_left_out() -> None:
    first = trace_lines(session("0002", "00070000"))
    assert first == trace_lines(session("0013", "00290001"))
    assert first == trace_lines(session("0002", "00070000", at=0x543080))
    assert first == trace_lines(session("0002", "00070000", area=0x9001000))


def test_time_sequence_number_and_cpu_are_left_out() -> None:
    here = session("0002", "00070000")
    there = [
        Record(line.seq + 7, 99, None if line.cpu is None else 3, line.call, line.fields)
        for line in here
    ]
    assert trace_lines(here) == trace_lines(there)


@pytest.mark.parametrize(
    ("before", "after", "cc"),
    [
        (CONNECT, "0002800000ff", 0),  # another limit granted
        (CONNECT.replace("00ff", "00fe"), "0002800000c8", 0),  # another one wanted
        (CONNECT, "0000000b", 1),  # refused
        (CONNECT.replace("01c0", "03c0"), "0002800000c8", 0),  # other user data
        (CONNECT.replace("8000", "c000", 1), "0002800000c8", 0),  # another flag
    ],
)
def test_what_was_asked_and_answered_is_not(before: str, after: str, cc: int) -> None:
    same = texts(instruction("connect", CONNECT, "0002800000c8", 0))
    assert texts(instruction("connect", before, after, cc)) != same


def test_two_messages_are_told_apart() -> None:
    """The same reply twice is not a reply to each of two."""
    begin = session("0002", "00070000")[:1]
    one, two = (
        instruction("reply", f"00028000{message}e2c40000", "00028000", 0)
        for message in ("00070000", "00080000")
    )
    assert texts(*begin, one, two) != texts(*begin, one, one)
    assert [text.split()[4] for text in texts(*begin, one, two)[1:]] == ["1", "2"]


def test_tags_are_numbered_as_they_come_up() -> None:
    begin = event(f"00008001000f0000{USER}")

    def completed(*tags: str) -> list[str]:
        return texts(begin, *(event(f"0000800700070000{'0' * 32}{tag}") for tag in tags), track=CP)

    assert completed("00000123", "00000124") == completed("00000007", "00000009")
    assert completed("00000123", "00000124") != completed("00000123", "00000123")
    assert completed("00000123")[1] == "*MONITOR: msg complete path 1 message 1 tag 1 flags 80"


def test_path_whose_id_is_used_again_is_another_one() -> None:
    begin = session("0002", "00070000")[:1]
    found = texts(*begin, *begin)
    assert found[0].endswith("path 1 limit 200") and found[1].endswith("path 2 limit 200")


def test_data_in_the_parameter_list_is_compared_elsewhere_only_its_length() -> None:
    begin = session("0002", "00070000")[:1]

    def sent(flags: str, data: str) -> str:
        before = f"0002{flags}00000000000000e9{data}"
        return texts(*begin, instruction("send", before, f"0002{flags}00000001", 0))[1]

    assert sent("9000", "1122334455667788") != sent("9000", "1122334455667799")
    assert sent("1000", "0268f0000000003f") == sent("1000", "005498000000003f")
    assert sent("1000", "0268f0000000003f") != sent("1000", "0268f0000000003e")
    assert sent("9000", "1122334455667788") == (
        "send path 1 message 1 class 000000e9 data 1122334455667788 flags 90, cc 0"
    )


def test_storage_beside_the_list_is_compared_without_its_address() -> None:
    begin = session("0002", "00070000")[:1]

    def received(address: str, data: list[Any]) -> str:
        made = instruction("receive", "0002070000010000", "00021700", 0)
        fields = {**made.fields, "out": [[address, *data], *made.fields["out"]]}
        return texts(*begin, record("iucv.receive", **fields))[1]

    assert received("268f000", ["00ff"]) == received("549800", ["00ff"])
    assert received("268f000", ["00ff"]) != received("268f000", ["00fe"])
    assert received("268f000", ["00ff"]).endswith(" in [] out [00ff]")
    assert received("268f000", [None]).endswith(" in [] out [no storage]")
    assert received("268f000", [300, "aa"]).endswith(" in [] out [300 bytes, hash aa]")
    assert received("more", [7]).endswith(" in [] out [and 7 more]")
    assert received("268f000", [300, "aa"]) != received("268f000", [300, "ab"])


def test_agents_paths_and_its_side_are_left_out() -> None:
    records = [
        instruction("connect", f"00008000ffff0000{AGENT}", "00018000ffff", 0),
        event(f"00008001ffff0000{USER}", "ZVMLAB"),
        record("iucv.accept", None, user="ZVMLAB", path=0, cc=0),
        interruption("00018002ffff"),
        interruption(f"00058001ffff0000{AGENT}"),
        interruption("00051007"),
        instruction("receive", "0001070000010000", "00011700", 0),
    ]
    assert trace_lines(records).entries == []


def test_paths_from_before_are_left_out_unless_cp_knows_nothing_of_them() -> None:
    made = [instruction("sever", "0007", "0007", 0), interruption("00070003")]
    assert trace_lines(made).entries == []
    assert texts(instruction("sever", "0007", "00070001", 1)) == [
        "sever no path flags 00, cc 1 code 0x01"
    ]


def test_yielding_and_the_emulators_own_doing_are_left_out() -> None:
    records = [
        record("diag.44", how="done", gr=[], r1=0, r3=0),
        record("diag.9c", how="done", gr=[], r1=0, r3=0),
        record("configuration", None, userid="LINUX001"),
        record("reset", None),
        record("reset.cpu"),
        record("cpu.ordered"),
        record("cpu.waits"),
        record("ipl", None),
        record("monitor.timer", None),
    ]
    assert trace_lines(records).entries == []


def segment(block: str, stored: str = "00", **more: Any) -> Record:
    """A DIAGNOSE X'64' with registers as the trace has them."""
    registers = ["2", "268bc00", "5", "38", *["0"] * 12]
    return record(
        "diag.64",
        **{"in": [["268bc00", block]], "out": [["268a900", stored]]},
        **{"r1": 1, "r3": 3, "amode": 64, "gr": registers, "segment": "MONDCSS"},
        **more,
    )


def test_diagnose_says_what_was_asked_stored_and_changed() -> None:
    block = "0c00000000000000d4d6d5c4c3e2e2400268a90000780000"
    moved = block.replace("0268a900", "00548100")
    assert texts(segment(block, cc=1)) == texts(segment(moved, cc=1))
    # Of the block: function, name, length.
    used = f"0c{'.' * 14}d4d6d5c4c3e2e240{'.' * 8}0078{'.' * 4}"
    assert texts(segment(moved, cc=1)) == [
        f"diagnose 64 r3 38 in [{used}] out [00] segment MONDCSS cc 1"
    ]
    stack = "0c2e646174612e72" + block[16:-4] + "3040"
    assert texts(segment(block, cc=1)) == texts(segment(stack, cc=1))
    for other in (
        segment(block.replace("0c", "0d", 1), cc=1),
        segment(block, "01", cc=1),
        segment(block, cc=0),
        segment(block, cc=1, gr1="9000000"),
        segment(block, pgm=6),
    ):
        assert texts(segment(block, cc=1)) != texts(other)
    name = segment("d4d6d5c4c3e2e240", cc=0, gr1="9000000", gr3="97fffff")
    assert texts(name) == [
        "diagnose 64 r3 38 in [d4d6d5c4c3e2e240] out [00]"
        " segment MONDCSS gr1 9000000 gr3 97fffff cc 0"
    ]


def test_lists_are_shown_without_addresses_and_what_nobody_uses() -> None:
    """Of X'DC' and X'2FC': another address is nothing, another length, function or name is."""

    def asked(code: str, given: str, gr3: str = "1") -> list[str]:
        registers = ["0", "2000", "0", gr3, *["0"] * 12]
        read = [["2000", given]]
        return texts(record(f"diag.{code}", r1=1, r3=3, gr=registers, how="done", **{"in": read}))

    data = "00dc802000000000000000900000000000000000024cc7e000000000025c7d80"
    shown = f"00dc8020{'.' * 12}0090{'.' * 40}"
    assert asked("dc", data) == [f"diagnose dc in [{shown}] out [] done"]
    # Ry is where the return code comes to.
    assert asked("dc", data, "2") == asked("dc", data)
    assert asked("dc", data.replace("024cc7e0", "028deef0")) == asked("dc", data)
    assert asked("dc", data.replace("025c7d80", "029b7540")) == asked("dc", data)
    for other in ("00dc8120" + data[8:], data.replace("90", "58", 1)):
        assert asked("dc", other) != asked("dc", data)
    usage = "40404040404040405c40404040404040" "00000037fffd1d00" "0000007000000002"
    shown = f"40404040404040405c40404040404040{'.' * 16}0000007000000002"
    assert asked("2fc", usage) == [f"diagnose 2fc in [{shown}] done"]
    for other in (usage.replace("5c", "5d"), usage[:-2] + "03", usage.replace("70", "71")):
        assert asked("2fc", other) != asked("2fc", usage)
    # A list of another length is shown whole.
    assert asked("dc", "00dc8020") == ["diagnose dc in [00dc8020] out [] done"]


def test_clock_of_cp_is_left_out() -> None:
    def asked(stored: str) -> Record:
        return record("diag.0c", r1=2, r3=2, gr=["0"] * 16, out=[["1000", stored]], how="done")

    assert texts(asked("f1f1")) == texts(asked("f1f2")) == ["diagnose 0c in [] done"]


def test_stsi_is_compared_by_level_and_contents() -> None:
    def stored(levels: list[str], hashed: str) -> list[str]:
        return texts(record("stsi", gr=levels, sysib=[4096, hashed], cc=0))

    same = stored(["30000002", "2"], "2df1")
    assert same == ["stsi ['30000002', '2'] [4096, '2df1'] cc 0"]
    assert same != stored(["30000002", "2"], "2df2") != stored(["20000002", "2"], "2df2")


def test_sthyi_is_compared_with_its_response_and_not_with_its_place() -> None:
    def asked(code: str, page: str, **result: object) -> list[str]:
        gr = [code, "0", page, "0"]
        return texts(record("sthyi", r1=0, r2=2, gr=gr, **result))

    same = asked("0", "5000", response=[336, "d8c5"], rc=0, cc=0)
    assert same == ["sthyi code 0 at 0 of a page response [336, 'd8c5'] rc 0 cc 0"]
    assert same == asked("0", "7000", response=[336, "d8c5"], rc=0, cc=0)
    assert same != asked("0", "5000", response=[336, "c8c5"], rc=0, cc=0)
    assert same != asked("1", "5000", response=[336, "d8c5"], rc=0, cc=0)
    assert same != asked("0", "5000", rc=4, cc=3)
    assert same != asked("0", "5008", response=[336, "d8c5"], rc=0, cc=0)
    refused = asked("0", "5008", pgm=6)
    assert refused == ["sthyi code 0 at 8 of a page program interruption 6"]


def test_order_of_calls_and_outside_is_kept_and_interruptions_may_shift() -> None:
    made = session("0002", "00070000")
    early = [*made[:5], made[6], made[5], *made[7:]]
    assert trace_lines(made).track(ORDERED) == trace_lines(early).track(ORDERED)
    assert trace_lines(made).track(INTERRUPTIONS) == trace_lines(early).track(INTERRUPTIONS)
    late = [*made[:5], made[6], made[7], made[5], made[8]]
    assert trace_lines(made).track(ORDERED) != trace_lines(late).track(ORDERED)


def test_rules_and_sets_are_numbered_and_ids_of_zero_are_none() -> None:
    def armed(rule: int) -> Record:
        return record("fault.arm", None, point="iucv.reply", rule=rule)

    assert texts(armed(7), armed(9), track=CP) == texts(armed(1), armed(2), track=CP)
    assert texts(armed(7), armed(7), track=CP) != texts(armed(7), armed(9), track=CP)
    assert texts(armed(0), track=CP) == ["fault.arm point iucv.reply no rule"]


def test_ids_in_hexadecimal_are_those_of_events() -> None:
    asks = event(f"0005800100ff0000{USER}{IPUSER}", user="OTHER")
    came = event("0005000900070010e2c4", user="OTHER")
    takes = record("iucv.receive", None, user="OTHER", path=5, msgid="70010", cc=0)
    _, heard, taken = texts(asks, came, takes, track=CP)
    assert "message 1" in heard
    assert taken == "iucv.receive user OTHER path 1 message 1 cc 0"


def test_calls_from_outside_say_what_became_of_them() -> None:
    asked = record("iucv.sever", None, user="OTHER", path=5, cc=1, lost=3, out=[], data="e9")
    assert texts(asked, track=CP) == ["iucv.sever user OTHER path 1 data e9 cc 1"]
    told = record("monitor.sever", None, user="OTHER", code="2c")
    assert texts(told, track=CP) == ["monitor.sever user OTHER code 2c"]


def test_fault_that_was_carried_out_and_a_programs_call_show() -> None:
    begin = session("0002", "00070000")[:1]
    plain = instruction("reply", "0002800000070000e2c4", "00028009", 1)
    struck = record("iucv.reply", **plain.fields, fault="iucv.reply", rule=3)
    assert texts(*begin, struck)[1] == texts(*begin, plain)[1] + " fault iucv.reply"
    program = record("iucv.reply", **plain.fields, problem=1)
    assert texts(*begin, program)[1] == texts(*begin, plain)[1] + " problem 1"
    refused = [segment("00", fault="diag64.loadshr", rule=rule, cc=2) for rule in (3, 8)]
    assert texts(refused[0]) == texts(refused[1]) != texts(segment("00", cc=2))


def test_interruption_of_an_unknown_type_and_without_a_buffer() -> None:
    begin = session("0002", "00070000")[:1]
    found = texts(*begin, interruption("0002000b"), record("interrupt", pgm=5), track=INTERRUPTIONS)
    assert found == [
        "type 11 path 1 flags 00",
        "interruption without a buffer program interruption 5",
    ]


def test_list_that_cp_could_not_read_is_a_call_all_the_same() -> None:
    made = record("iucv.sever", **{"in": [["dead000", None]]}, gr0="f", gr1="dead000", pgm=5)
    assert texts(made) == ["sever program interruption 5"]
    assert texts(record("iucv.query", gr0="0", gr1="0", max_paths=64, cc=0)) == [
        "query max_paths 64 cc 0"
    ]
