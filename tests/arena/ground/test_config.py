"""Settings: read once, refused in one line, handed on to processes unchanged."""

from __future__ import annotations

import os
import re
from dataclasses import fields
from pathlib import Path

import pytest

from arena.ground.config import OF_OTHERS, SettingError, Settings, load


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
        ("PORT", "http", "is no whole number"),
        ("TICK_SECONDS", "soon", "is no number"),
        ("PORT", "0", "between 1 and 65535"),
        ("HOSTS", "https://arena.example.org", "names without a port"),
        ("HOSTS", "arena.example.org:8000", "names without a port"),
        ("PORT", "65536", "between 1 and 65535"),
        ("WORKERS", "-1", "from 0 to 256"),
        ("MINIMUM_ISOLATION", "best", "full, good, reduced, none"),
        ("LEASE_SECONDS", "0", "more than 0"),
        ("TAKE_UP_SECONDS", "nan", "more than 0"),
        ("TICK_SECONDS", "inf", "at most a day"),
        ("WORKER", "2", "no setting of the arena: did you mean ARENA_WORKERS?"),
        ("ISOLATION", "full", "did you mean ARENA_MINIMUM_ISOLATION?"),
        ("LEASE_SECOND", "", "did you mean ARENA_LEASE_SECONDS?"),
    ],
)
def test_what_is_not_allowed_is_refused(name: str, value: str, words: str) -> None:
    """A wrong value is named with its variable, and what is allowed is said."""
    with pytest.raises(SettingError, match=f"ARENA_{name}.*{words}"):
        load({f"ARENA_{name}": value})


def test_an_empty_variable_is_none() -> None:
    """As in a compose file that hands on what is not set; an empty option is refused."""
    empty = {"ARENA_DATA": "", "ARENA_HOST": "", "ARENA_WORKERS": "", "ARENA_PLAY": ""}
    assert load(empty) == Settings()
    with pytest.raises(SettingError, match=r"ARENA_HOST.*an address or a name"):
        load({}, host="")


def test_variables_of_others_are_left_to_them() -> None:
    """What commands, workers and the compose file read, and what a cluster names after services."""
    of_cluster = {"ARENA_SERVICE_HOST": "10.0.0.1", "ARENA_PORT_8000_TCP_ADDR": "10.0.0.1"}
    others = {f"ARENA_{name}": "x" for name in OF_OTHERS} | of_cluster | {"HOME": "/"}
    assert load(others) == Settings()


TLS = "ssl_cert_reqs=required&ssl_ca_certs=/etc/ca.pem"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("database", ""),
        ("database", "sqlite:////srv/my games.db"),
        ("database", "postgresql+psycopg://arena:s/e@c%2Fret@db.example.org/arena?sslmode=require"),
        ("database", "postgresql://arena@[::1]:5432/arena"),
        ("database", "postgresql+psycopg:///arena?host=/run/postgresql"),
        ("broker", ""),
        ("broker", "redis://localhost"),
        ("broker", "redis://arena:s@e%2Fcret@[::1]:6379/0"),
        ("broker", f"rediss://arena:secret@broker/0?{TLS}"),
        ("broker", "redis+socket:///run/valkey/socket"),
    ],
)
def test_what_may_be_an_address_is_taken(name: str, value: str) -> None:
    """Whoever connects to it finds the rest."""
    assert getattr(load({f"ARENA_{name.upper()}": value}), name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE", "postgres://arena:secret@db/arena"),  # SQLAlchemy knows no such name
        ("DATABASE", "mysql://arena:secret@db/arena"),
        ("DATABASE", "a secret"),
        ("BROKER", "amqp://arena:secret@broker"),
        ("BROKER", "redis://arena:secret/secret@broker/0"),  # Celery would look for a port
        ("BROKER", "redis://arena:secret@broker/games"),
        ("BROKER", "broker:6379/secret"),
        ("MAIL", "mail.example.org"),
        ("MAIL", "https://ada:secret@mail.example.org"),
        ("MAIL", "smtp://ada:sec/ret@mail.example.org"),
        ("MAIL", "smtp+plain://ada:secret@mail.example.org"),
    ],
)
def test_what_is_no_address_is_refused(name: str, value: str) -> None:
    """Before anything starts, and without telling the password."""
    with pytest.raises(SettingError, match=f"ARENA_{name} is not allowed: it is ") as refused:
        load({f"ARENA_{name}": value})
    assert "secret" not in str(refused.value)


def test_mail_needs_an_address_to_come_from() -> None:
    """Before anything starts."""
    mail = {"ARENA_MAIL": "smtps://ada:a%2Fb@mail.example.org:465"}
    with pytest.raises(SettingError, match="needs ARENA_MAIL_FROM"):
        load(mail)
    found = load({**mail, "ARENA_MAIL_FROM": "arena@example.org"})
    assert found.without_secrets.mail == ""


def test_every_setting_is_in_the_documentation() -> None:
    """The operator's table says just what the settings say of themselves."""
    text = (Path(__file__).parents[3] / "docs" / "operating.md").read_text()
    rows = re.findall(r"^\| `(ARENA_\w+)` \| (.*?) \| (.*?) ?\| (.*?) \|$", text, re.MULTILINE)
    defaults = Settings().environment()
    assert rows == [
        (name, default or "none", "yes" * known.metadata["changeable"], known.metadata["doc"])
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
