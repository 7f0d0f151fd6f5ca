/* SPDX-License-Identifier: MIT */
/* libmicrohttpd's functions, by their own names in a structure, once it is loaded. */
#ifndef TOOLS_HTTP_LIBRARY_H
#define TOOLS_HTTP_LIBRARY_H

#include <microhttpd.h>

/* The names in Debian 12 and 13. */
#define HTTP_LIBRARY "libmicrohttpd.so.12"

#define HTTP_FUNCTIONS(FUNCTION) \
	FUNCTION(MHD_start_daemon) \
	FUNCTION(MHD_stop_daemon) \
	FUNCTION(MHD_run) \
	FUNCTION(MHD_get_timeout) \
	FUNCTION(MHD_get_daemon_info) \
	FUNCTION(MHD_get_connection_info) \
	FUNCTION(MHD_suspend_connection) \
	FUNCTION(MHD_resume_connection) \
	FUNCTION(MHD_create_response_from_buffer) \
	FUNCTION(MHD_add_response_header) \
	FUNCTION(MHD_queue_response) \
	FUNCTION(MHD_destroy_response) \
	FUNCTION(MHD_lookup_connection_value) \
	FUNCTION(MHD_basic_auth_get_username_password) \
	FUNCTION(MHD_queue_basic_auth_fail_response) \
	FUNCTION(MHD_is_feature_supported) \
	FUNCTION(MHD_free)

struct http_library {
#define FUNCTION(name) __typeof__(&name) name;
	HTTP_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* The library; NULL, having complained, if it is not there. */
const struct http_library *http_library(void);

#endif
