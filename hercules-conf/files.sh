#!/bin/sh
# SPDX-License-Identifier: MIT
# Put what guest.ins loads into this folder: files.sh [KERNEL [PARAMETER…]]
set -eu
clone=$(cd "$(dirname "$0")/.." && pwd)
PYTHONPATH=$clone/harness exec "${PYTHON:-/usr/bin/python3}" -m zvmlab.guest.hercules_files "$@"
