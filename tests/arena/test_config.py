"""Settings: read once, refused in one line, handed on to processes unchanged."""

from __future__ import annotations

import os
import re
from dataclasses import fields
from pathlib import Path

import pytest

from arena.config import SettingError, Settings, load


def test_settings_come_from_the_environment() -> None:
    """Each variable is read as its setting's type; what is given goes before it."""
    environment = {
        "ARENA_DATA": "/srv/arena",
        "ARENA_PORT": "80",
        "ARENA_LEASE_SECONDS": "2.5",
    }
    found = load(environment, port=81)
    assert (found.data, found.port, found.lease_seconds) == (Path("/srv/arena"), 81, 2.5)
    assert found.host == Settings().host


def test_processes_read_the_same_settings() -> None:
    """What a process is handed on makes the settings of the process that started it."""
    settings = Settings(data=Path("/a b"), database="postgresql://x/y", port=1, tick_seconds=0.125)
    assert load(settings.environment()) == settings


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("PORT", "http", "can't be read as int"),
        ("PORT", "0", "between 1 and 65535"),
        ("PORT", "65536", "between 1 and 65535"),
        ("WORKERS", "-1", "from 0 to 256"),
        ("MINIMUM_ISOLATION", "best", "full, good, reduced, none"),
        ("LEASE_SECONDS", "0", "more than 0"),
        ("TAKE_UP_SECONDS", "nan", "more than 0"),
        ("TICK_SECONDS", "inf", "at most a day"),
    ],
)
def test_what_is_not_allowed_is_refused(name: str, value: str, words: str) -> None:
    """A wrong value is named with its variable, and what is allowed is said."""
    with pytest.raises(SettingError, match=f"ARENA_{name}.*{words}"):
        load({f"ARENA_{name}": value})


def test_every_setting_is_in_the_documentation() -> None:
    """The operator's table says just what the settings say of themselves."""
    text = (Path(__file__).parents[2] / "docs" / "operating.md").read_text()
    rows = re.findall(r"^\| `(ARENA_\w+)` \| (.*?) \| (.*?) \|$", text, re.MULTILINE)
    defaults = Settings().environment()
    assert rows == [
        (name, default or "none", known.metadata["doc"])
        for (name, default), known in zip(defaults.items(), fields(Settings), strict=True)
    ]


@pytest.mark.parametrize(
    ("database", "url"),
    [
        ("", "sqlite:///{data}/arena.db"),
        ("sqlite:///games.db", "sqlite:///{here}/games.db"),
        ("sqlite:////srv/games.db", "sqlite:////srv/games.db"),
        ("postgresql+psycopg://u@h/d?host=/run", "postgresql+psycopg://u@h/d?host=/run"),
    ],
)
def test_a_database_file_is_the_same_from_everywhere(
    database: str, url: str, tmp_path: Path
) -> None:
    """A relative path means the folder of whoever gave it, not of each process that reads it."""
    settings = Settings(data=tmp_path, database=database)
    assert settings.database_url == url.format(data=tmp_path, here=os.getcwd())
