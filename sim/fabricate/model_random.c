/* SPDX-License-Identifier: MIT */
#include "model_private.h"
#include "random.h"

uint64_t model_random(struct model *m)
{
	return random_next(&m->random);
}
