/* SPDX-License-Identifier: MIT */
/* IUCV: what faults make of interruptions and of peers' events. */
#include "iucv_private.h"

static enum fault_point point_of(enum iucv_type type)
{
	switch (type) {
	case IUCV_PENDING:
	case IUCV_COMPLETE:
		return FAULT_PEER_CONNECT;
	case IUCV_SEVERED:
		return FAULT_PEER_SEVER;
	case IUCV_PATH_QUIESCED:
	case IUCV_PATH_RESUMED:
		return FAULT_PEER_QUIESCE;
	case IUCV_PRIO_COMPLETE:
	case IUCV_MSG_COMPLETE:
		return FAULT_PEER_REPLY;
	case IUCV_PRIO_PENDING:
	case IUCV_MSG_PENDING:
		break;
	}
	return FAULT_PEER_MESSAGE;
}

static struct fault_action action_for(const struct iucv_path *path, enum iucv_type type)
{
	const struct iucv_user *user = path->user;
	const bool guest = iucv_is_machine(user);
	const struct fault_call call = {
		.path = path->id, .user = user->name, .name = iucv_partner_name(path),
		.type = guest ? (uint8_t)type : 0,
	};

	return fault_check(user->home, guest ? FAULT_INTERRUPT : point_of(type), &call);
}

struct iucv_verdict iucv_event_verdict(const struct iucv_path *path, enum iucv_type type)
{
	const struct fault_action action = action_for(path, type);

	switch (action.kind) {
	case FAULT_DROP:
		return (struct iucv_verdict){ .what = IUCV_EVENT_DROP };
	case FAULT_DELAY:
	case FAULT_REORDER:
		return (struct iucv_verdict){
			.what = IUCV_EVENT_HOLD,
			.further = action.kind == FAULT_DELAY ? action.value : 1,
		};
	case FAULT_DUPLICATE:
		return (struct iucv_verdict){ .what = IUCV_EVENT_TWICE };
	case FAULT_SEVER:
		return (struct iucv_verdict){
			.what = IUCV_EVENT_SEVER, .code = (uint8_t)action.value,
		};
	case FAULT_CORRUPT:
		return (struct iucv_verdict){
			.what = IUCV_EVENT_CORRUPT,
			.xor_offset = (uint8_t)(action.offset % IUCV_EVENT_SIZE),
			.xor_value = (uint8_t)action.value,
		};
	default:
		return (struct iucv_verdict){ .what = IUCV_EVENT_DELIVER };
	}
}

bool iucv_message_hold(struct cp *cp, uint32_t msgid, uint32_t further)
{
	struct iucv_message *m = iucv_message_find(cp->system->iucv, msgid);
	struct iucv_user *user;

	/* A fault of the interruption itself has gone before. */
	if (!m || m->state != IUCV_MSG_SENT || !m->event.link.list)
		return false;
	assert(m->to && m->from);
	user = m->to->user;
	iucv_event_drop(user, &m->event);
	iucv_event_hold(user, &m->event, further);
	return true;
}
