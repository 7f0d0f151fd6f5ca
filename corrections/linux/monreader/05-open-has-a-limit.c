/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monreader: Do not wait for CP's answer forever in open
 *
 * mon_open() waits without a limit, and uninterruptibly, until CP has
 * accepted the connection or severed it.  If that answer never comes, the
 * process cannot be killed. misc_open() holds misc_mtx meanwhile, so no
 * misc device at all can be opened any more.
 *
 * Let the wait be ended by a fatal signal, and after ten seconds, so that
 * misc_mtx is not held for good if nobody sends one.  The path is severed
 * then, as nobody else does so.
 *
 * Tried with a CP that does not answer CONNECT: the process can be killed,
 * open fails with EIO otherwise, and the next one succeeds.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/monreader.c
//@ after: #define MON_MSGLIM	   255
#define MON_CONNECT_TIMEOUT (10 * HZ)
//@ in: static int mon_open(
//@ after: 	struct mon_private *monpriv;
	long left;
//@ replace 3: 	wait_event(mon_conn_wait_queue,
	left = wait_event_killable_timeout(mon_conn_wait_queue,
					   atomic_read(&monpriv->iucv_connected) ||
					   atomic_read(&monpriv->iucv_severed),
					   MON_CONNECT_TIMEOUT);
	if (left <= 0) {
		if (!left)
			pr_err("The z/VM *MONITOR system service does not answer\n");
		rc = left ?: -EIO;
		if (!atomic_xchg(&monpriv->sever_done, 1))
			iucv_path_sever(monpriv->path, user_data_sever);
		else
			wait_event(mon_conn_wait_queue,
				   atomic_read(&monpriv->iucv_severed));
		goto out_path;
	}
