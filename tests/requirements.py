"""What a test needs of the machine: a visible skip at home, a failure under CI=true."""

from __future__ import annotations

import os

import pytest


def need(condition: object, reason: str) -> None:
    """Skips the test with its reason if ``condition`` is false; under CI=true it fails."""
    if condition:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"under CI nothing may be missing: {reason}", pytrace=False)
    pytest.skip(reason)
