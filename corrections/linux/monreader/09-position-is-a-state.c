/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monreader: Do not confuse records with their control element
 *
 * mon_read() tells by its position whether the next bytes are of the
 * control element or of its records.  When records end just below their
 * element, the position behind them is that of the element, which is then
 * delivered again, and its records after that, without an end.
 *
 * Remember which of the two is being read.
 *
 * Tried with records directly below and directly behind their control
 * area.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/monreader.c
//@ after: 	char replied_msglim;
	char in_records;
//@ in: static int mon_send_reply(
//@ after: 		monmsg->pos = 0;
		monmsg->in_records = 0;
//@ in: static inline void mon_next_mca(
//@ after: 	monmsg->pos = 0;
	monmsg->in_records = 0;
//@ in: static struct mon_msg *mon_next_message(
//@ after: 		monmsg->pos = 0;
		monmsg->in_records = 0;
//@ in: static ssize_t mon_read_msg(
//@ replace: 	if ((monmsg->pos >= mce_start) && (monmsg->pos < mce_start + 12)) {
	if (!monmsg->in_records) {
//@ replace 2: 		if (monmsg->pos == mce_start + 12)
		if (monmsg->pos == mce_start + 12) {
			monmsg->pos = mon_rec_start(monmsg);
			monmsg->in_records = 1;
		}
