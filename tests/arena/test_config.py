"""Settings: read from the environment, refused when senseless, and documented."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from arena.config import SettingError, Settings, load

OPERATING = Path(__file__).parents[2] / "docs" / "operating.md"


def test_what_is_given_goes_before_the_environment() -> None:
    """An option of a command beats a variable, a variable the default."""
    environment = {"ARENA_PORT": "8123", "ARENA_DATA": "/srv/arena", "ARENA_LEASE_SECONDS": "5"}
    settings = load(environment, port=9000)
    assert settings.port == 9000
    assert settings.data == Path("/srv/arena")
    assert settings.lease_seconds == 5.0
    assert settings.host == "127.0.0.1"


def test_a_senseless_value_is_named() -> None:
    """The message names the variable."""
    with pytest.raises(SettingError, match="ARENA_PORT='eighty' can't be read as int"):
        load({"ARENA_PORT": "eighty"})


@pytest.mark.parametrize("name", [known.name for known in fields(Settings)])
def test_every_setting_is_in_the_docs(name: str) -> None:
    """The table for operators has each variable with its line."""
    (known,) = (field for field in fields(Settings) if field.name == name)
    line = next(
        line
        for line in OPERATING.read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| `ARENA_{name.upper()}` |")
    )
    assert known.metadata["doc"] in line
