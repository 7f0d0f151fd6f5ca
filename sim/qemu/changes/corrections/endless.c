/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw/s390x/css: end a channel program that has no end
 *
 * A channel program is interpreted with the BQL held.  It may have 255
 * TRANSFERs IN CHANNEL, but any number of other commands: a chain of
 * no-operations with a data address goes through all of storage, and that
 * 256 times if it ends with a TRANSFER IN CHANNEL to its begin.  Meanwhile
 * neither the monitor answers, nor can SIGTERM end QEMU.
 *
 * End it with a program check after 65,536 CCWs.
 *
 * Tried with a bare-metal program that starts a chain of 131,072 commands.
 */

//@ file: hw/s390x/css.c
//@ replace: static void sch_handle_start_func_virtual(SubchDev *sch)
/* CCWs of a channel program; one that has more ends with a program check. */
#define CCWS_MAX 65536

static void sch_handle_start_func_virtual(SubchDev *sch)

//@ in: static void sch_handle_start_func_virtual(SubchDev *sch)
//@ after: bool suspend_allowed;
    unsigned int left = CCWS_MAX;

//@ replace: ret = css_interpret_ccw(sch, sch->channel_prog, suspend_allowed);
        ret = left-- == 0 ? -EINVAL :
            css_interpret_ccw(sch, sch->channel_prog, suspend_allowed);
