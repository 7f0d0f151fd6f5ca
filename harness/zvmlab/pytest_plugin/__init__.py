# SPDX-License-Identifier: MIT
"""What pytest needs: fixtures, options, requirements and their report (``-p zvmlab.pytest_plugin``)."""

pytest_plugins = ("zvmlab.pytest_plugin.plugin",)
