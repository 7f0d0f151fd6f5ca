/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * af_iucv: Free the socket of a HiperSockets connection that is refused
 *
 * The socket for a connection is allocated before anybody looks whether the
 * other one listens and has room. If not, or if the answer cannot be sent,
 * iucv_sock_kill() does nothing with it, because it is not zapped: it stays
 * until the next boot, for each frame that asks for a connection.
 *
 * Mark it as zapped before, and put the device of one that has it already.
 *
 * Tried with five connections to a socket that does not listen, on 6.1.
 */
//@ file: net/iucv/af_iucv.c
//@ in: static int afiucv_hs_callback_syn(
//@ after: 		/* error on server socket - connection refused */
		if (nsk)
			sock_set_flag(nsk, SOCK_ZAPPED);
//@ replace 2: 	} else
	} else {
		dev_put(niucv->hs_dev);
		niucv->hs_dev = NULL;
		sock_set_flag(nsk, SOCK_ZAPPED);
		iucv_sock_kill(nsk);
	}
