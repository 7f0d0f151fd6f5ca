/* SPDX-License-Identifier: MIT */
/* Users who log on and off, as event records of domain 4. */
#include "monitor_private.h"
#include "ebcdic.h"

/* The numbers of D4R1 and D4R2. */
enum change { USELON = 1, USELOF = 2 };

/* Of the fields whose places are public. */
#define USER_CHANGE_LEN 32u
/* An ESA virtual machine, which has entered z/Architecture. */
enum { CALMODE_ESA = 0x40, CALMODE_Z = 0x04 };

static uint32_t write_change(struct cp *cp, uint8_t *record, enum change number,
			     const char *userid)
{
	const bool machine = cp_machine_of(cp->system, userid) != NULL;
	struct record_writer w;
	uint8_t *r;

	record_writer_init(&w, record, RECORD_FRAME_SIZE, cp_system_tod(cp));
	r = record_add(&w, MON_USER, number, USER_CHANGE_LEN);
	assert(r == record);
	ebcdic_name(r + 20, userid);			/* VMDUSER */
	if (number == USELOF && machine)
		r[31] = CALMODE_ESA | CALMODE_Z;	/* CALMODE */
	return USER_CHANGE_LEN;
}

static void user_change(struct cp *cp, enum change number, const char *userid)
{
	const struct mon_settings *settings = &cp->system->monitor->settings[true];
	/* Those that a test describes are no users of IUCV. */
	const struct iucv_user *user = iucv_user_find(cp, userid);
	uint8_t record[RECORD_FRAME_SIZE];
	uint32_t len;

	if ((user && (iucv_user_is_private(user) || !mon_is_user(cp, user))) || !settings->active ||
	    !(settings->domains & MON_DOMAIN_BIT(MON_USER)))
		return;
	len = write_change(cp, record, number, userid);
	(void)mon_event_record(cp, MON_USER, record, len);
}

/* Whoever logs on as the first of the system has to see to the timer again. */
void monitor_logon(struct cp *cp, const char *userid)
{
	if (!cp->system->alone)
		mon_arm_timer(cp);
	user_change(cp, USELON, userid);
}

void monitor_logoff(struct cp *cp, const char *userid)
{
	user_change(cp, USELOF, userid);
}
