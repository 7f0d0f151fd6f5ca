/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw/s390x/css: let CLEAR SUBCHANNEL end the status that was pending
 *
 * The bits of status control stay as they were when the subchannel is cleared
 * while status is pending.  After unsolicited status, as for a file that
 * arrives at a reader, the end of the clear function looks unsolicited too:
 * Linux then waits for ever for a clear function that it has started because
 * START SUBCHANNEL found the status.
 *
 * Leave nothing but status pending, as the architecture says.
 *
 * Tried with a bare-metal program that clears a subchannel with an alert,
 * and with Linux, which sets a reader online while a file arrives.
 */

//@ file: hw/s390x/css.c
//@ in: static void sch_handle_clear_func(SubchDev *sch)
//@ before: schib->scsw.ctrl |= SCSW_STCTL_STATUS_PEND;
    schib->scsw.ctrl &= ~SCSW_CTRL_MASK_STCTL;
