/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monreader: Do not sever a path that has been severed already
 *
 * When the *MONITOR service severs the connection, the handler severs the
 * path as well, and with that CP may give its number to another
 * connection. mon_close() then severs the same number once more: hvc_iucv,
 * for example, loses a terminal, and the log shows
 *
 *   Disconnecting the z/VM *MONITOR system service failed with rc=1
 *
 * if the number is free.  Whichever of the two comes first severs the path
 * now. mon_close() waits for the handler in that case, because it frees
 * the path.
 *
 * Tried with a CP that severs while the device is open, then accepts a
 * connection to a terminal, before the device is closed.
 */
//@ file: drivers/s390/char/monreader.c
//@ after: 	atomic_t iucv_severed;
	atomic_t sever_done;
//@ in: static void mon_iucv_path_severed(
//@ replace: 	iucv_path_sever(path, NULL);
	if (!atomic_xchg(&monpriv->sever_done, 1))
		iucv_path_sever(path, NULL);
//@ in: static int mon_close(
//@ replace 5: 		rc = iucv_path_sever(monpriv->path, user_data_sever);
		if (!atomic_xchg(&monpriv->sever_done, 1)) {
			rc = iucv_path_sever(monpriv->path, user_data_sever);
			if (rc)
				pr_warn("Disconnecting the z/VM *MONITOR system service failed with rc=%i\n",
					rc);
		} else {
			/* The handler severs the path, and is done with it then */
			wait_event(mon_conn_wait_queue,
				   atomic_read(&monpriv->iucv_severed));
		}
		iucv_path_free(monpriv->path);
