# SPDX-License-Identifier: MIT
"""What has to be fetched and built: kernels, emulators, drivers, programs for guests."""
