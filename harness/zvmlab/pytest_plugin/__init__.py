# SPDX-License-Identifier: MIT
"""pytest plugin: fixtures, options, requirements and report (``-p zvmlab.pytest_plugin``)"""

pytest_plugins = ("zvmlab.pytest_plugin.plugin",)
