/* SPDX-License-Identifier: MIT */
/* monread: texts of the page that its parts share. */
#include "html.h"

const char *const html_event_names[EVENT_KINDS] = {
	"logons", "logoffs", "processors", "devices", "MONITOR commands", "suspensions",
};

void html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}
