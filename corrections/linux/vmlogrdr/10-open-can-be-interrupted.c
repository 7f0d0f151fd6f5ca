/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vmlogrdr: Let a signal end the wait for CP's answer
 *
 * vmlogrdr_open() waits uninterruptibly until CP accepts the connection or
 * severs it.  If no answer comes, the process cannot be killed, and the
 * device is EBUSY until the next boot.
 *
 * Wait as a read does, and sever the path when a signal comes.
 *
 * Tried with a CP that does not answer CONNECT.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/vmlogrdr.c
//@ in: static int vmlogrdr_open (
//@ after: 	int connect_rc = 0;
	int rc = -EIO;
//@ replace 3: 	wait_event(conn_wait_queue, (logptr->connection_established)
	ret = wait_event_interruptible(conn_wait_queue,
				       logptr->connection_established ||
				       logptr->iucv_path_severed);
	if (ret)
		rc = ret;
	if (ret || logptr->iucv_path_severed) {
//@ replace: 	return -EIO;
	return rc;
