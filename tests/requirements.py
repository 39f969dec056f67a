"""What a test needs of the machine: a visible skip at home, a failure under CI=true."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest


def need(condition: object, reason: str) -> None:
    """Skips the test with its reason if ``condition`` is false; under CI=true it fails."""
    if condition:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"under CI nothing may be missing: {reason}", pytrace=False)
    pytest.skip(reason)


def need_openspiel() -> None:
    """Skips the test where OpenSpiel's games are not to be had."""
    need(find_spec("pyspiel"), "OpenSpiel is not installed: pip install -e '.[openspiel]'")
