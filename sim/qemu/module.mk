# SPDX-License-Identifier: MIT
# The port to QEMU: compiled in QEMU's tree (meson.build).
SOURCES := *.c
USES := sim/cp sim/control sim/port
PACKAGES := jansson
