# SPDX-License-Identifier: MIT
"""Refuses a wheel, which would lack the sources that zvmlab builds its emulators from.

All else is in pyproject.toml.
"""

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.errors import SetupError


class OfTheClone(build_py):  # type: ignore[misc]  # setuptools has no types
    """Only for ``pip install -e``, which leaves the package in the clone."""

    def run(self) -> None:
        if not self.editable_mode:
            raise SetupError(
                "zvmlab builds its emulators from its clone, which a wheel does not have;"
                " use 'pip install -e .' in the clone, or 'make install'"
            )
        super().run()


setup(cmdclass={"build_py": OfTheClone})
