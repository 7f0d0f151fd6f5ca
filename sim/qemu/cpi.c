/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The service processor's event "control program identification", which QEMU 10.0 does
 * not have: what a guest says that it is goes to standard error, as Hercules does.
 */
#include "qemu/osdep.h"
#include "versions.h"

#include "hw/s390x/ebcdic.h"
#include "hw/s390x/event-facility.h"
#include "qemu/error-report.h"
#include "qemu/module.h"

#define TYPE_ZVMLAB_CPI "zvmlab-cpi"
#define EVENT_CPI 0x0b
#define NAME_LEN 8
/* A guest may say it as often as it likes; the log has an end. */
#define MOST_REPORTS 100

struct cpi {
	EventBufferHeader head;		/*  0 */
	uint8_t format;			/*  6 */
	uint8_t reserved0;
	uint8_t type[NAME_LEN];		/*  8: EBCDIC, as all names */
	uint8_t reserved1[8];
	uint8_t name[NAME_LEN];		/* 24 */
	uint8_t reserved2[8];
	uint64_t level;			/* 40 */
	uint8_t reserved3[8];
	uint8_t sysplex[NAME_LEN];	/* 56 */
	uint8_t reserved4[16];
} QEMU_PACKED;
QEMU_BUILD_BUG_ON(sizeof(struct cpi) != 80);

struct text {
	char text[NAME_LEN + 1];
};

/* Without the blanks behind it; what is no letter of a name shows as a dot. */
static struct text text_of(const uint8_t name[NAME_LEN])
{
	struct text to = { "" };

	ascii_put((uint8_t *)to.text, (const char *)name, NAME_LEN);
	for (unsigned int i = 0; i < NAME_LEN; i++)
		if (!g_ascii_isprint(to.text[i]))
			to.text[i] = '.';
	g_strchomp(to.text);
	return to;
}

static bool can_handle_event(uint8_t type)
{
	return type == EVENT_CPI;
}

static sccb_mask_t send_mask(void)
{
	return 0;
}

static sccb_mask_t receive_mask(void)
{
	return SCLP_EVMASK(EVENT_CPI);
}

/* That the buffer lies in its block has been checked. */
static int write_event_data(SCLPEvent *event, EventBufferHeader *head)
{
	const struct cpi *cpi = (const struct cpi *)head;
	static unsigned int reports;

	(void)event;
	if (be16_to_cpu(head->length) < sizeof(*cpi))
		return SCLP_RC_EVENT_BUFFER_SYNTAX_ERROR;
	if (reports < MOST_REPORTS) {
		reports++;
		info_report("control program: type \"%s\", name \"%s\", sysplex \"%s\","
			    " level %016" PRIx64 "%s", text_of(cpi->type).text,
			    text_of(cpi->name).text, text_of(cpi->sysplex).text,
			    be64_to_cpu(cpi->level),
			    reports == MOST_REPORTS ? "; no more of these are reported" : "");
	}
	head->flags |= SCLP_EVENT_BUFFER_ACCEPTED;
	return SCLP_RC_NORMAL_COMPLETION;
}

static int read_event_data(SCLPEvent *event, EventBufferHeader *head, int *len)
{
	(void)event;
	(void)head;
	(void)len;
	return 0;
}

static void class_init(ObjectClass *klass, CLASS_DATA *data)
{
	SCLPEventClass *event = SCLP_EVENT_CLASS(klass);

	(void)data;
	DEVICE_CLASS(klass)->desc = "control program identification (SCLP)";
	event->get_send_mask = send_mask;
	event->get_receive_mask = receive_mask;
	event->can_handle_event = can_handle_event;
	event->read_event_data = read_event_data;
	event->write_event_data = write_event_data;
}

static const TypeInfo cpi_info = {
	.name = TYPE_ZVMLAB_CPI,
	.parent = TYPE_SCLP_EVENT,
	.instance_size = sizeof(SCLPEvent),
	.class_size = sizeof(SCLPEventClass),
	.class_init = class_init,
};

static void register_types(void)
{
	type_register_static(&cpi_info);
}

type_init(register_types)
