/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw/s390x/css: limit the number of channel report words
 *
 * A guest that resets a channel path in a loop, and never stores the reports
 * about it, makes the list of them grow without limit.  The architecture has
 * an overflow bit for that, which is set already if there is no memory.
 *
 * Set it, too, if 512 reports are pending.
 *
 * Tried with a bare-metal program that resets a channel path 2,000 times.
 */

//@ file: hw/s390x/css.c
//@ replace: void css_crw_add_to_queue(CRW crw)
/* Channel reports that are kept; one more makes an overflow. */
#define CRWS_MAX 512

void css_crw_add_to_queue(CRW crw)

//@ in: void css_crw_add_to_queue(CRW crw)
//@ after: CrwContainer *crw_cont;
    unsigned int queued = 0;

//@ replace 2: /* TODO: Maybe use a static crw pool? */
    QTAILQ_FOREACH(crw_cont, &channel_subsys.pending_crws, sibling) {
        queued++;
    }
    crw_cont = queued < CRWS_MAX ? g_try_new0(CrwContainer, 1) : NULL;
