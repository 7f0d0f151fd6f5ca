/* SPDX-License-Identifier: MIT */
#include "keys.h"

#define NUMBER_MOST 1000u
#define FIRST_END 0x40
#define LAST_END 0x7e

/* "ESC [ N ~" */
static int numbered(unsigned int number)
{
	switch (number) {
	case 1:
	case 7:
		return KEY_HOME;
	case 4:
	case 8:
		return KEY_END;
	case 5:
		return KEY_PAGE_UP;
	case 6:
		return KEY_PAGE_DOWN;
	case 11:
		return KEY_F1;
	case 14:
		return KEY_F4;
	case 15:
		return KEY_F5;
	case 21:
		return KEY_F10;
	default:
		return KEY_UNKNOWN;
	}
}

/* "ESC [ LETTER" and "ESC O LETTER" */
static int lettered(unsigned char letter)
{
	switch (letter) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'F':
		return KEY_END;
	case 'H':
		return KEY_HOME;
	case 'P':
		return KEY_F1;
	case 'S':
		return KEY_F4;
	default:
		return KEY_UNKNOWN;
	}
}

/* A byte of "ESC [ NUMBERS END".  Return: the key, 0 if it goes on. */
static int in_sequence(struct keys *keys, unsigned char byte)
{
	if (byte >= '0' && byte <= '9' && keys->number < NUMBER_MOST)
		keys->number = keys->number * 10 + (byte - '0');
	keys->more |= byte == ';';
	if (byte < FIRST_END || byte > LAST_END)
		return 0;
	keys->state = KEYS_PLAIN;
	/* With shift and the like it is another key. */
	if (keys->more)
		return KEY_UNKNOWN;
	return byte == '~' ? numbered(keys->number) : lettered(byte);
}

static int take(struct keys *keys, unsigned char byte)
{
	switch (keys->state) {
	case KEYS_PLAIN:
		if (byte != KEY_ESCAPE)
			return byte == '\n' ? KEY_ENTER : byte == '\b' ? KEY_BACKSPACE : byte;
		keys->state = KEYS_ESCAPE;
		return 0;
	case KEYS_ESCAPE:
		keys->number = 0;
		keys->more = false;
		keys->state = byte == '[' ? KEYS_SEQUENCE : byte == 'O' ? KEYS_SINGLE : KEYS_PLAIN;
		/* With Alt it is another key. */
		return keys->state == KEYS_PLAIN ? KEY_UNKNOWN : 0;
	case KEYS_SEQUENCE:
		return in_sequence(keys, byte);
	case KEYS_SINGLE:
		break;
	}
	keys->state = KEYS_PLAIN;
	return lettered(byte);
}

void keys_take(struct keys *keys, const unsigned char *bytes, size_t count,
	       void (*each)(void *context, int key), void *context)
{
	for (size_t i = 0; i < count; i++) {
		int key = take(keys, bytes[i]);

		if (key)
			each(context, key);
	}
	if (count && keys->state == KEYS_ESCAPE) {
		keys->state = KEYS_PLAIN;
		each(context, KEY_ESCAPE);
	}
}
