/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monreader: Let a malformed control element be an error
 *
 * A control element that mon_check_mca() refuses ends the data set with a
 * read of 0 bytes.  That is what says that a set is complete, so a set
 * that is cut short looks like a whole one.
 *
 * In addition the element is read from the segment again at each read,
 * although CP may change it at any time: what is delivered need not be
 * what was checked.
 *
 * Copy an element once, check and deliver the copy, and return EIO with a
 * line in the log if it is malformed.  CP gets its reply as before, so the
 * next set can be read.
 *
 * Tried with sixteen kinds of malformed control areas and elements, and
 * with elements that are changed between two reads.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/monreader.c
//@ after: 	u32 mca_offset;
	u8 mce[12];
//@ for: 6.1
//@ in: static inline u8 mon_mca_type(
//@ replace: 	return *((u8 *) mon_mca_start(monmsg) + monmsg->mca_offset + index);
	return monmsg->mce[index];
//@ in: static inline u32 mon_rec_start(
//@ replace: 	return *((u32 *) (mon_mca_start(monmsg) + monmsg->mca_offset + 4));
	return *(u32 *)&monmsg->mce[4];
//@ in: static inline u32 mon_rec_end(
//@ replace: 	return *((u32 *) (mon_mca_start(monmsg) + monmsg->mca_offset + 8));
	return *(u32 *)&monmsg->mce[8];
//@ file: drivers/s390/char/monreader.c
//@ for: 6.12 7.2
//@ in: static inline u8 mon_mca_type(
//@ replace: 	return *((u8 *)__va(mon_mca_start(monmsg)) + monmsg->mca_offset + index);
	return monmsg->mce[index];
//@ in: static inline u32 mon_rec_start(
//@ replace: 	return *((u32 *)(__va(mon_mca_start(monmsg)) + monmsg->mca_offset + 4));
	return *(u32 *)&monmsg->mce[4];
//@ in: static inline u32 mon_rec_end(
//@ replace: 	return *((u32 *)(__va(mon_mca_start(monmsg)) + monmsg->mca_offset + 8));
	return *(u32 *)&monmsg->mce[8];
//@ file: drivers/s390/char/monreader.c
//@ in: static int mon_check_mca(
//@ before: 	if ((mon_rec_end(monmsg) <= mon_rec_start(monmsg)) ||
	memcpy(monmsg->mce, __va(mon_mca_start(monmsg) + monmsg->mca_offset),
	       sizeof(monmsg->mce));
//@ in: static ssize_t mon_read_msg(
//@ replace 4: 	if (!monmsg->pos)
	if (!monmsg->pos) {
		if (mon_check_mca(monmsg)) {
			pr_err("A control element of the monitor data is malformed\n");
			mon_send_reply(monmsg, monpriv);
			return -EIO;
		}
		monmsg->pos = mon_mca_start(monmsg) + monmsg->mca_offset;
	}
//@ replace: reply:
//@ file: drivers/s390/char/monreader.c
//@ for: 6.1
//@ in: static ssize_t mon_read_msg(
//@ replace 3: 		count = min(count, (size_t) mce_start + 12 - monmsg->pos);
		count = min(count, (size_t) mce_start + 12 - monmsg->pos);
		ret = copy_to_user(data, &monmsg->mce[monmsg->pos - mce_start],
				   count);
//@ file: drivers/s390/char/monreader.c
//@ for: 6.12 7.2
//@ in: static ssize_t mon_read_msg(
//@ replace 2: 		count = min(count, (size_t) mce_start + 12 - monmsg->pos);
		count = min(count, (size_t) mce_start + 12 - monmsg->pos);
		ret = copy_to_user(data, &monmsg->mce[monmsg->pos - mce_start],
				   count);
