/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vtime: Do not recharge a virtual timer that was deleted or modified
 *
 * virt_timer_expire() calls a timer's function without the lock, and puts
 * a periodic timer back into the list afterwards.  Meanwhile another CPU
 * may delete the timer, which is in no list then: it goes on all the same.
 * Or it adds or modifies the timer, which is in the list twice then:
 *
 *   kernel BUG at lib/list_debug.c
 *
 * The list of expired timers is also changed without the lock there.
 *
 * Change lists and intervals with the lock held, and recharge a timer only
 * if nobody has deleted or added it.
 *
 * Tried with appldata's timer, which is stopped while a CPU is about to
 * call its function.
 */
//@ file: arch/s390/kernel/vtime.c
//@ in: /* walk timer list, fire all expired timers */
//@ replace 16: 	atomic64_sub(elapsed, &virt_timer_elapsed);
	atomic64_sub(elapsed, &virt_timer_elapsed);

	/* Do callbacks and recharge periodic timers */
	while (!list_empty(&cb_list)) {
		timer = list_first_entry(&cb_list, struct vtimer_list, entry);
		list_del_init(&timer->entry);
		spin_unlock(&virt_timer_lock);
		timer->function(timer->data);
		spin_lock(&virt_timer_lock);
		/* Recharge interval timer, if nobody deleted or added it */
		if (timer->interval && list_empty(&timer->entry)) {
			timer->expires = timer->interval +
				atomic64_read(&virt_timer_elapsed);
			list_add_sorted(timer, &virt_timer_list);
		}
	}
	spin_unlock(&virt_timer_lock);
//@ in: static void __add_vtimer(
//@ replace 2: 	timer->interval = periodic ? timer->expires : 0;
	spin_lock_irqsave(&virt_timer_lock, flags);
	timer->interval = periodic ? timer->expires : 0;
//@ in: int del_virt_timer(
//@ after: 	unsigned long flags;
	int rc;
//@ replace 6: 	if (!vtimer_pending(timer))
	spin_lock_irqsave(&virt_timer_lock, flags);
	/* If its function runs now, it is not to be recharged */
	timer->interval = 0;
	rc = vtimer_pending(timer);
	list_del_init(&timer->entry);
	spin_unlock_irqrestore(&virt_timer_lock, flags);
	return rc;
