/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw/s390x: let a subchannel have one interruption pending
 *
 * Each ending of an I/O operation makes an interruption pending, and TEST
 * SUBCHANNEL, which clears the status, leaves it so.  A guest that runs
 * disabled and clears the status by TEST SUBCHANNEL alone makes the list of
 * interruptions grow without limit, and is interrupted later for status that
 * is not there any more.  The same holds for adapter interruptions of a
 * guest that looks at its indicators only.
 *
 * A new interruption takes the place of the one that is pending for the
 * subchannel.  Clear it with the status, when the subchannel is modified,
 * and when it is reset.  Of adapter interruptions, have one pending for each
 * interruption subclass.
 *
 * Tried with a bare-metal program that starts 2,000 operations, takes no
 * interruption, and counts those that are pending then.
 */

//@ file: hw/intc/s390_flic.c
//@ before: io = g_new0(QEMUS390FlicIO, 1);
    if (io_int_word & IO_INT_WORD_AI) {
        QLIST_FOREACH(io, &flic->io[isc], next) {
            if (io->word == io_int_word) {
                return;
            }
        }
    } else {
        qemu_s390_clear_io_flic(fs, subchannel_id, subchannel_nr);
    }

//@ file: hw/s390x/css.c
//@ before: /* Clear pending sense data. */
        css_clear_io_interrupt(css_build_subchannel_id(sch), sch->schid);

//@ before: copy_schib_from_guest(&schib_copy, orig_schib);
    css_clear_io_interrupt(css_build_subchannel_id(sch), sch->schid);

//@ before: memset(&schib->scsw, 0, sizeof(schib->scsw));
    css_clear_io_interrupt(css_build_subchannel_id(sch), sch->schid);
