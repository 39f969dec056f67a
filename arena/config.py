"""Every setting of the arena, read once from the environment (ARENA_*)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any


class SettingError(ValueError):
    """A setting that can't be used; one sentence that says what to do."""


def _is_duration(seconds: float) -> bool:
    return 0 < seconds <= 86_400


ISOLATION = ("full", "good", "reduced", "none")
REGISTRATION = ("open", "invitation", "closed")
LOGS = ("plain", "json")
ADDRESS = re.compile(r"https?://[^\s?#]+", re.ASCII)
DATABASE = re.compile(r"sqlite:///.+|postgresql(\+psycopg)?://.*", re.ASCII)
BROKER = re.compile(
    r"rediss?://([^\s/?#]*@)?(\[[^\s/?#]+\]|[^\s/?#:@]*)(:\d+)?(/\d*)?(\?\S*)?|redis\+socket://\S+",
    re.ASCII,
)
CONTACT = re.compile(r"(mailto:|https://)\S+", re.ASCII)
PLAY = ("people", "everybody", "nobody")
DURATION = ("seconds, more than 0 and at most a day", _is_duration)
RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "data": ("an address of a database can't hold a '?'", lambda data: "?" not in str(data)),
    "database": (
        "it is sqlite:///FILE or postgresql+psycopg://USER:PASSWORD@HOST/NAME",
        lambda url: not url or DATABASE.fullmatch(url) is not None,
    ),
    "broker": (
        "it is redis://USER:PASSWORD@HOST/0, rediss: with TLS, or redis+socket://PATH; write a "
        "password's / as %2F, ? as %3F and # as %23",
        lambda url: not url or BROKER.fullmatch(url) is not None,
    ),
    "host": ("an address or a name; 0.0.0.0 is every address of this machine", bool),
    "port": ("a port is between 1 and 65535", lambda port: 0 < port < 65_536),
    "workers": ("from 0 to 256 matches", lambda workers: 0 <= workers <= 256),
    "registration": (f"it is one of {', '.join(REGISTRATION)}", REGISTRATION.__contains__),
    "proxies": ("from 0 to 10", lambda proxies: 0 <= proxies <= 10),
    "public_url": (
        "it begins with http:// or https:// and has no '?'",
        lambda url: not url or (ADDRESS.fullmatch(url) is not None),
    ),
    "contact": (
        "it begins with mailto: or https://",
        lambda contact: not contact or CONTACT.fullmatch(contact) is not None,
    ),
    "log": (f"it is one of {', '.join(LOGS)}", LOGS.__contains__),
    "minimum_isolation": (f"it is one of {', '.join(ISOLATION)}", ISOLATION.__contains__),
    "lease_seconds": DURATION,
    "take_up_seconds": DURATION,
    "tick_seconds": DURATION,
    "trickle_seconds": ("seconds, from 0 to a day", lambda seconds: 0 <= seconds <= 86_400),
    "check_seconds": DURATION,
    "alarm_seconds": DURATION,
    "play": (f"it is one of {', '.join(PLAY)}", PLAY.__contains__),
    "open_games": ("from 1 to 1000", lambda games: 1 <= games <= 1000),
    "abandoned_days": ("days, more than 0 and at most 3650", lambda days: 0 < days <= 3650),
    "log_days": ("days, from 0 to 3650", lambda days: 0 <= days <= 3650),
    "requests_a_day": ("from 0 to 10000", lambda requests: 0 <= requests <= 10_000),
}
"""What a setting must be, in words and as a test."""
PREFIX = "ARENA_"
OF_OTHERS = {"DEBUG", "PASSWORD", "RUNTIME", "SERVER", "TOKEN", "WORKER_NAME"}
"""After the prefix: what workers, commands, and the compose file of docs/containers read."""
ALIKE = 0.65
"""How much of two names agrees, by `difflib`, if one is the other misspelt."""
SECRET = {"database", "broker"}
"""Those that hold a password, and are shown nowhere."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. Each is read from the variable ARENA_ and its name in capitals."""

    data: Path = field(
        default=Path("var"), metadata={"doc": "The data folder: database, bundles, broker, logs."}
    )
    database: str = field(
        default="", metadata={"doc": "The database's URL; by default SQLite in the data folder."}
    )
    broker: str = field(
        default="",
        metadata={"doc": "The broker's URL; by default an embedded one in the data folder."},
    )
    host: str = field(default="127.0.0.1", metadata={"doc": "The address the pages are served on."})
    port: int = field(default=8000, metadata={"doc": "The port the pages are served on."})
    workers: int = field(
        default=0, metadata={"doc": "Matches played at the same time here; 0 means one a core."}
    )
    games: str = field(
        default="",
        metadata={
            "doc": "The games that a fresh arena opens ladders for, with commas between them; by "
            "default all."
        },
    )
    only: str = field(
        default="",
        metadata={
            "doc": "The name of the only competition that matches are made for; by default all "
            "that are open."
        },
    )
    registration: str = field(
        default="invitation",
        metadata={"doc": "Who may make an account: open (everybody), invitation or closed."},
    )
    proxies: int = field(
        default=0,
        metadata={
            "doc": "How many proxies of yours stand before the pages, each of which adds to "
            "X-Forwarded-For and X-Forwarded-Proto."
        },
    )
    public_url: str = field(
        default="",
        metadata={
            "doc": "Where workers on other machines reach the pages, e.g. "
            "https://arena.example.org; they fetch bundles from there. By default they are given "
            "paths in the data folder."
        },
    )
    metrics_token: str = field(
        default="",
        metadata={
            "doc": "Whoever shows this token may read /metrics; by default it is for this machine "
            "alone."
        },
    )
    contact: str = field(
        default="",
        metadata={
            "doc": "Whom to tell of a security hole, mailto:ADDRESS or an https address; shown in "
            "/.well-known/security.txt."
        },
    )
    log: str = field(
        default="plain", metadata={"doc": "How logs are written: plain, or json, an object a line."}
    )
    minimum_isolation: str = field(
        default="good",
        metadata={
            "doc": "The weakest box in which an uploaded bot is run: full, good, reduced or none."
        },
    )
    lease_seconds: float = field(
        default=30.0, metadata={"doc": "How long a match may go without a sign of its worker."}
    )
    take_up_seconds: float = field(
        default=60.0, metadata={"doc": "How long an issued match may wait for a worker."}
    )
    tick_seconds: float = field(
        default=2.0, metadata={"doc": "How often matches are made, issued and rolled back."}
    )
    trickle_seconds: float = field(
        default=1800.0,
        metadata={
            "doc": "How long a ladder on which every rating is known well rests after each match; "
            "0 for not at all."
        },
    )
    check_seconds: float = field(
        default=86_400.0,
        metadata={
            "doc": "How often the ratings and counters of each competition are made anew in "
            "secret, to see whether they come out the same."
        },
    )
    alarm_seconds: float = field(
        default=3600.0,
        metadata={
            "doc": "How long an open ladder that could play may be without a new game before that "
            "is an alarm."
        },
    )
    requests_a_day: int = field(
        default=50,
        metadata={"doc": "How many unrated matches a user may ask for within 24 hours."},
    )

    play: str = field(
        default="people",
        metadata={
            "doc": "Who may play against bots on the pages: people (who are signed in), everybody "
            "or nobody."
        },
    )
    open_games: int = field(
        default=5,
        metadata={"doc": "How many games against bots that are not over a person may have."},
    )
    abandoned_days: float = field(
        default=7.0,
        metadata={"doc": "After how many days without a move a person's game is given up."},
    )
    log_days: float = field(
        default=90.0,
        metadata={
            "doc": "For how many days the logs of bots' games are kept; 0 for ever. Records are "
            "always kept."
        },
    )

    @property
    def database_url(self) -> str:
        """The database's URL, the embedded one included; a file's is absolute."""
        url = self.database or f"sqlite:///{self.data}/arena.db"
        path = url.removeprefix("sqlite:///")
        return url if path == url else f"sqlite:///{Path(path).resolve()}"

    @property
    def embedded(self) -> bool:
        """Whether broker and workers belong to this arena alone, and begin and end with it."""
        return not self.broker or self.broker.startswith("redis+socket:")

    @property
    def bundles(self) -> Path:
        """Where bundles are kept, by digest."""
        return self.data.resolve() / "bundles"

    @property
    def without_secrets(self) -> Settings:
        """What may be told to whoever runs strangers' code: the broker's login, no other."""
        return replace(self, database="", metrics_token="")

    def environment(self) -> dict[str, str]:
        """The variables from which `load` reads just these settings."""
        return {_variable(known.name): str(getattr(self, known.name)) for known in fields(self)}


def load(environment: Mapping[str, str] = os.environ, **given: Any) -> Settings:
    """The settings of the environment, those ``given`` before it; an empty variable is none.

    Raises:
        SettingError: a value that is none of its type, or not allowed, or a variable that is
            nearly called like a setting.
    """
    values: dict[str, Any] = {}
    defaults = Settings()
    _refuse_misspelt(environment)
    for known in fields(Settings):
        name = _variable(known.name)
        if given.get(known.name) is not None:
            values[known.name] = given[known.name]
        elif environment.get(name):
            kind = type(getattr(defaults, known.name))
            if issubclass(kind, Path):
                kind = Path
            try:
                values[known.name] = kind(environment[name])
            except ValueError:
                raise SettingError(
                    f"{name}={environment[name]!r} can't be read as {kind.__name__}"
                ) from None
    settings = Settings(**values)
    for name, (allowed, holds) in RULES.items():
        if not holds(getattr(settings, name)):
            shown = "" if name in SECRET else f"={getattr(settings, name)}"
            raise SettingError(f"{_variable(name)}{shown} is not allowed: {allowed}")
    return settings


def _refuse_misspelt(environment: Mapping[str, str]) -> None:
    """Refuses what is nearly a setting's name: a misspelt limit would limit nothing.

    Others may call their variables as they like: a cluster names some after its services.
    """
    settings = [known.name.upper() for known in fields(Settings)]
    for variable in sorted(environment):
        name = variable.removeprefix(PREFIX)
        if name not in (variable, *settings, *OF_OTHERS):
            for alike in get_close_matches(name, settings, n=1, cutoff=ALIKE):
                raise SettingError(
                    f"{variable} is no setting of the arena: did you mean {PREFIX}{alike}?"
                )


def _variable(name: str) -> str:
    return f"{PREFIX}{name.upper()}"
