/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw/s390x/css: let a device reject SENSE ID
 *
 * Every virtual device answers it.  Older ones, such as unit record devices,
 * do not have the command: they end it with a unit check, command reject.
 * A device that has the command has ones in the byte before its type.
 */

//@ file: hw/s390x/css.c
//@ in: static int css_interpret_ccw(SubchDev *sch, hwaddr ccw_addr,
//@ replace: copy_sense_id_to_guest(sense_id, &sch->id);
        if (!sch->id.reserved) {
            ret = -ENOSYS;
            break;
        }
        copy_sense_id_to_guest(sense_id, &sch->id);
