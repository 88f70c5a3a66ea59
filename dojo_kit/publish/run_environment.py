"""What a notebook finds in its environment while it runs to be published."""

from __future__ import annotations

import os

PUBLISHING = "DOJO_KIT_PUBLISHING"
"""Asks widgets to carry along in their state what a page without Python looks up."""


def run_environment() -> dict[str, str]:
    """Return the environment of a notebook that is run to be published."""
    # Sets come out in the same order in every run.
    return {**os.environ, "PYTHONHASHSEED": "0", PUBLISHING: "1"}
