# SPDX-License-Identifier: MIT
"""``-p zvmlab.plugin``, as the plugin was called up to version 0.1: the same, and says so."""

pytest_plugins = ("zvmlab.pytest_plugin",)


def pytest_report_header() -> str:
    """One line at the head of pytest's output."""
    return "zvmlab: -p zvmlab.plugin is now -p zvmlab.pytest_plugin"
