/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw/s390x/css: end a channel program that has no end
 *
 * A channel program is interpreted with the BQL held.  One that branches
 * back with TRANSFER IN CHANNEL, as after a NOP with a data address, goes on
 * for ever, and neither the monitor nor SIGTERM can end QEMU.
 *
 * End it with a program check after 65,536 CCWs.
 */

//@ file: hw/s390x/css.c
//@ before: static void sch_handle_start_func_virtual(SubchDev *sch)
/* CCWs of a channel program; one that has more ends with a program check. */
#define CCWS_MAX 65536

//@ in: static void sch_handle_start_func_virtual(SubchDev *sch)
//@ after: bool suspend_allowed;
    unsigned int left = CCWS_MAX;

//@ replace: ret = css_interpret_ccw(sch, sch->channel_prog, suspend_allowed);
        ret = left-- == 0 ? -EINVAL :
            css_interpret_ccw(sch, sch->channel_prog, suspend_allowed);
