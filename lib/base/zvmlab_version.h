/* SPDX-License-Identifier: MIT */
/* The version of zvmlab: what its tools and the control socket say (ci/version.py keeps it right). */
#ifndef ZVMLAB_VERSION_H
#define ZVMLAB_VERSION_H

#define ZVMLAB_VERSION "0.2.0"

#endif
