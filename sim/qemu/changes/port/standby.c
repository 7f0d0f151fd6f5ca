/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw/s390x: let CP answer commands for storage that comes and goes
 *
 * QEMU's SCLP has no storage elements.  A guest whose storage is all there is told of none.
 */

//@ file: hw/s390x/sclp.c
//@ include: hw/s390x/zvmlab.h
//@ in: static inline bool sclp_command_code_valid(
//@ before: switch (code & SCLP_CMD_CODE_MASK) {
    if (zvmlab_sclp_knows(code)) {
        return true;
    }

//@ in: static void read_SCP_info(
//@ before: s390_ipl_convert_loadparm((char *)S390_CCW_MACHINE(machine)->loadparm,
    zvmlab_scp_info(read_info);

//@ in: static void sclp_execute(
//@ before: switch (code & SCLP_CMD_CODE_MASK) {
    if (zvmlab_sclp_knows(code)) {
        zvmlab_sclp(sccb, code);
        return;
    }

