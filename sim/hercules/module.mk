# SPDX-License-Identifier: MIT
# The port to Hercules: compiled with Hercules' headers (herculesbuild.py).
SOURCES := *.c
USES := lib/base sim/cp sim/control sim/port
PACKAGES := jansson zlib
