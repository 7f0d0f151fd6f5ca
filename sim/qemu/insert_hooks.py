#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Insert the lines by which QEMU 7.2 calls our device: insert_hooks.py TREE

Nothing of QEMU is replaced.  Every insertion stands next to one line of a file,
found by a piece of its text that must occur in exactly one line; docs/qemu-port.md
says why each is there.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

TCG = "target/s390x/tcg"
INCLUDE = '#include "hw/s390x/zvmlab.h"\n'


class HookError(Exception):
    """The tree is not the QEMU that the hooks are made for."""


@dataclass(frozen=True)
class Hook:
    """Insert *text* before or after the one line of *file* that contains *anchor*."""

    file: str
    anchor: str
    text: str
    after: bool = False


def hooks(properties: str) -> list[Hook]:
    """All insertions; *properties* is the schema of the object's properties."""
    return [
        # The instruction B2F0; without IF_PRIV, since CP gives an operation exception.
        Hook(f"{TCG}/insn-data.h.inc", "F(0x8300, DIAG,",
             "    F(0xb2f0, IUCV,    S,     Z,   0, 0, 0, 0, zvmlab_iucv, 0, IF_IO)\n",
             after=True),
        Hook(f"{TCG}/translate.c", "static DisasJumpType op_diag(DisasContext",
             "static DisasJumpType op_zvmlab_iucv(DisasContext *s, DisasOps *o)\n"
             "{\n"
             "    update_cc_op(s);\n"
             "    gen_helper_zvmlab_iucv(cpu_env);\n"
             "    set_cc_static(s);\n"
             "    return DISAS_NEXT;\n"
             "}\n\n"),
        Hook("target/s390x/helper.h", "DEF_HELPER_4(diag,",
             "DEF_HELPER_1(zvmlab_iucv, void, env)\n", after=True),
        # DIAGNOSE: the helper sees the condition code and may set it.
        Hook(f"{TCG}/translate.c", "gen_helper_diag(", "    update_cc_op(s);\n"),
        Hook(f"{TCG}/translate.c", "gen_helper_diag(", "    set_cc_static(s);\n", after=True),
        Hook(f"{TCG}/misc_helper.c", '#include "hw/s390x/tod.h"', INCLUDE, after=True),
        Hook(f"{TCG}/misc_helper.c", "switch (num) {",
             "    if (zvmlab_diag(env, r1, r3, num, GETPC())) {\n"
             "        return;\n"
             "    }\n"),
        # STORE SYSTEM INFORMATION, after the checks that come first.
        Hook(f"{TCG}/misc_helper.c", "== STSI_R0_FC_CURRENT) {",
             "    cc = zvmlab_stsi(env, a0, ra);\n"
             "    if (cc >= 0) {\n"
             "        return cc;\n"
             "    }\n"
             "    cc = 0;\n"),
        # QEMU waits for the addressed CPU within translated code, and may wait for ever.
        Hook(f"{TCG}/misc_helper.c", "cc = handle_sigp(env, order_code",
             "    zvmlab_sigp(env, order_code & SIGP_ORDER_MASK, r1, r3, GETPC());\n"),
        # The external interruption.
        Hook("target/s390x/cpu.h", "#define INTERRUPT_STOP ",
             "#define INTERRUPT_EXT_IUCV               (1 << 9)\n", after=True),
        Hook("target/s390x/interrupt.c", '#include "hw/s390x/s390_flic.h"', INCLUDE, after=True),
        Hook("target/s390x/interrupt.c", "if (qemu_s390_flic_has_service(flic) &&",
             "    if (zvmlab_ext_int(env)) {\n"
             "        return true;\n"
             "    }\n\n"),
        Hook(f"{TCG}/excp_helper.c", '#include "hw/s390x/s390_flic.h"', INCLUDE, after=True),
        Hook(f"{TCG}/excp_helper.c", "} else if (qemu_s390_flic_has_service(flic) &&",
             "    } else if (zvmlab_ext_int(env)) {\n"
             "        if (!zvmlab_take_ext_int(env)) {\n"
             "            cpu_unmap_lowcore(lowcore);\n"
             "            return;\n"
             "        }\n"
             "        lowcore->ext_int_code = cpu_to_be16(EXT_IUCV);\n"
             "        lowcore->cpu_addr = 0;\n"),
        # Access rights of pages.
        Hook("target/s390x/mmu_helper.c", '#include "hw/s390x/storage-keys.h"', INCLUDE,
             after=True),
        Hook("target/s390x/mmu_helper.c",
             "return address_space_access_valid(&address_space_memory,",
             "    if (!zvmlab_addressable(addr)) {\n"
             "        return false;\n"
             "    }\n"),
        Hook("target/s390x/mmu_helper.c", "mmu_handle_skey(*raddr, rw, flags);",
             "        if (zvmlab_protected(*raddr, rw == MMU_DATA_STORE, flags)) {\n"
             "            *tec |= 0x4;\n"
             "            return PGM_PROTECTION;\n"
             "        }\n"),
        Hook("target/s390x/mmu_helper.c", "mmu_handle_skey(*addr, rw, flags);",
             "    if (zvmlab_protected(*addr, rw == MMU_DATA_STORE, flags)) {\n"
             "        *tec = (raddr & TARGET_PAGE_MASK) | FS_WRITE | 0x4;\n"
             "        return PGM_PROTECTION;\n"
             "    }\n"),
        # QEMU 7.2 drops the translations at the first byte of a longer store only: what
        # MVC or MVCOS writes over a program would be executed as it was before.
        Hook("accel/tcg/cputlb.c", "notdirty_write(env_cpu(env), addr, 1, *pfull, retaddr);",
             "        notdirty_write(env_cpu(env), addr, -(addr | TARGET_PAGE_MASK), *pfull,\n"
             "                       retaddr);\n"),
        Hook("accel/tcg/cputlb.c", "notdirty_write(env_cpu(env), addr, 1, full, retaddr);",
             "            notdirty_write(env_cpu(env), addr, size, full, retaddr);\n"),
        # Resets.
        Hook("target/s390x/cpu.c", '#include "sysemu/tcg.h"', INCLUDE, after=True),
        Hook("target/s390x/cpu.c", "cpu->env.sigp_order = 0;",
             "    zvmlab_reset_cpu(&cpu->env);\n", after=True),
        Hook("hw/s390x/s390-virtio-ccw.c", '#include "hw/s390x/tod.h"', INCLUDE, after=True),
        Hook("hw/s390x/s390-virtio-ccw.c", "s390_cmma_reset();", "    zvmlab_reset();\n",
             after=True),
        # The object and our directory.
        Hook("qapi/qom.json", "# @ObjectType:", properties),
        Hook("qapi/qom.json", "    'throttle-group',", "    'zvmlab-cp',\n"),
        Hook("qapi/qom.json", "'throttle-group':  ",
             "      'zvmlab-cp':                  'ZvmlabCpProperties',\n"),
        Hook("hw/s390x/meson.build", "hw_arch += {'s390x': s390x_ss}", "subdir('zvmlab')\n\n"),
    ]  # fmt: skip


def insert(text: str, hook: Hook) -> str:
    """The text of a file with the hook's lines in it."""
    lines = text.splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if hook.anchor in line]
    if len(places) != 1:
        raise HookError(
            f"{hook.file}: the line with '{hook.anchor}' occurs {len(places)} times instead of"
            " once; this is not the QEMU that the hooks are made for"
        )
    at = places[0] + hook.after
    return "".join([*lines[:at], hook.text, *lines[at:]])


def apply(tree: Path, all_hooks: list[Hook]) -> None:
    """Insert all, or change nothing if one of them does not fit."""
    texts: dict[str, str] = {}
    for hook in all_hooks:
        try:
            text = texts.get(hook.file) or (tree / hook.file).read_text(encoding="utf-8")
        except OSError as error:
            raise HookError(f"{tree / hook.file} cannot be read: {error.strerror}") from error
        if hook.file not in texts and "zvmlab" in text:
            raise HookError(f"{tree / hook.file} has the hooks already")
        texts[hook.file] = insert(text, hook)
    for file, text in texts.items():
        (tree / file).write_text(text, encoding="utf-8")


def main(argv: list[str]) -> int:
    """Return: exit code."""
    if len(argv) != 2:
        print(f"usage: {argv[0]} TREE", file=sys.stderr)
        return 2
    properties = (Path(__file__).parent / "qapi.json").read_text(encoding="utf-8")
    licence, _, properties = properties.partition("\n")
    if "SPDX-License-Identifier" not in licence:
        raise HookError("qapi.json must begin with its licence line")
    try:
        apply(Path(argv[1]), hooks(properties))
    except HookError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
