/* SPDX-License-Identifier: MIT */
/*
 * Devices that CP simulates, by the commands of their channel programs: the console, unit record
 * devices and virtual disks.
 *
 * The channel subsystem is the emulator's.  It fetches commands and moves data between guest
 * storage and struct cp_unit_io; the effect of a command is the device's.  A command's data may be
 * more than one call holds: then they go piece by piece.
 */
#ifndef ZVMLAB_UNIT_H
#define ZVMLAB_UNIT_H

#include <stdbool.h>
#include <stdint.h>

struct cp;

/** The direction of data of a device's command. */
enum cp_unit_way { CP_UNIT_REJECT, CP_UNIT_NO_DATA, CP_UNIT_TAKES, CP_UNIT_GIVES };

/* Unit status (PoP, ch. 16). */
#define CP_UNIT_ENDED 0x0c	/**< channel end, device end */
#define CP_UNIT_CHECK 0x02
#define CP_UNIT_EXCEPTION 0x01	/**< end of file */
/** No status: the device waits, and the command is given to it again when it no longer does. */
#define CP_UNIT_WAITS 0x00

/* Sense byte 0 of all devices. */
#define CP_SENSE_REJECT 0x80
#define CP_SENSE_INTERVENTION 0x40

/** Bytes of data in one call. */
#define CP_UNIT_DATA 4096u
/** Sense bytes that a device sets; all others are 0. */
#define CP_UNIT_SENSE 2u

/** A command of a channel program, or a piece of one. */
struct cp_unit_io {
	uint16_t device;
	uint8_t command;
	bool chained;		/**< a command of the same channel program came before */
	bool again;		/**< not the first piece */
	bool more;		/**< CP_UNIT_TAKES: not the last piece */
	uint32_t room;		/**< CP_UNIT_GIVES: bytes that are wanted, 1 to CP_UNIT_DATA */
	uint8_t data[CP_UNIT_DATA];
	uint32_t length;	/**< bytes of @data: 1 or more with CP_UNIT_TAKES, else set by the device */
	bool left;		/**< set with CP_UNIT_GIVES: the device has more for this command */
	uint8_t status;		/**< how it has ended */
	uint8_t sense[CP_UNIT_SENSE];
};

/** Has the guest such a device, and CP its commands? */
bool cp_has_device(const struct cp *cp, uint16_t device);
/** The effect of a channel program's command at this device; no other is given to cp_unit(). */
enum cp_unit_way cp_unit_way(const struct cp *cp, uint16_t device, uint8_t command);
/** The most bytes that the device takes with a command of this way, or gives. */
uint32_t cp_unit_length(const struct cp *cp, uint16_t device, uint8_t command);
/** Carry it out. */
void cp_unit(struct cp *cp, struct cp_unit_io *io);

#endif
