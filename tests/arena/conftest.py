"""What tests of formats and of tournaments share."""

from __future__ import annotations

import pytest

from arena.formats.catalogue import FORMATS
from tests.arena.formats.newcomers import NEWCOMERS


@pytest.fixture
def newcomers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formats that are offered for the length of a test, each by its line in the catalogue."""
    for name, form in NEWCOMERS.items():
        monkeypatch.setitem(FORMATS, name, form)
