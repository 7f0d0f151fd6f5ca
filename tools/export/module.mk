# SPDX-License-Identifier: MIT
# Values for monitoring systems: OpenMetrics by HTTP and as a file, JSON lines by TCP.
SOURCES := *.c
INCLUDES := .
USES := lib/base tools/common
PACKAGES := libcrypt
LIBRARIES := pthread
