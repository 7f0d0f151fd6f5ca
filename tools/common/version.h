/* SPDX-License-Identifier: MIT */
/* What `TOOL --version` says: the version of zvmlab (harness/zvmlab/base/version.py has the same). */
#ifndef TOOLS_VERSION_H
#define TOOLS_VERSION_H

#define ZVMLAB_VERSION "0.1.0"

#endif
