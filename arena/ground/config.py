"""Every setting of the arena, read from the environment (ARENA_*) as a process starts.

Some can be changed while it runs, by what the database says (`arena.present`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from engine.guesses import alike, did_you_mean
from engine.translation import N_, gettext


class SettingError(ValueError):
    """A setting that can't be used; one sentence that says what to do."""


T = TypeVar("T")


class Rule(NamedTuple):
    """What a setting must be."""

    words: str
    """What is wrong, as `gettext` takes it."""
    holds: Callable[[Any], bool]
    choices: tuple[str, ...] = ()
    """What stands there at ``%(choices)s``."""


def _one_of(*values: str) -> Rule:
    return Rule(N_("it is one of %(choices)s"), values.__contains__, values)


def _between(least: float, most: float, words: str) -> Rule:
    return Rule(words, lambda number: least <= number <= most)


def _none_or(pattern: str, words: str) -> Rule:
    form = re.compile(pattern, re.ASCII)
    return Rule(words, lambda text: not text or form.fullmatch(text) is not None)


ISOLATION = ("full", "good", "reduced", "none")
DURATION = Rule(N_("seconds, more than 0 and at most a day"), lambda seconds: 0 < seconds <= 86_400)
PREFIX = "ARENA_"
OF_OTHERS = {
    "BOX_FOLDER",
    "CACHE_GIB",
    "CHAT_KEY",
    "CHAT_MODEL",
    "CHAT_URL",
    "DEBUG",
    "HOME_LISTENER",
    "LIVE_LISTENER",
    "PASSWORD",
    "SERVER",
    "TOKEN",
    "WORKER_NAME",
}
"""The names after the prefix that workers, commands, sample bots, and docs/containers' compose file
read."""
SECRET = {"database", "database_read", "broker", "metrics_token", "mail", "cold"}
"""Settings that hold a password, and are shown nowhere."""


# ruff: noqa: RUF009 - each call makes a field of its own, as `field` does
def _setting(default: T, doc: str, rule: Rule | None = None, *, changeable: bool = False) -> T:
    """A field for a setting: its default, its words, what it must be, whether it is changeable.

    Args:
        changeable: whether every process asks for its present value each time it needs it, so that
            it can be changed while the arena runs.
    """
    return field(default=default, metadata={"doc": doc, "rule": rule, "changeable": changeable})


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. Each is read from the variable ARENA_ and its name in capitals."""

    data: Path = _setting(
        Path("var"),
        "The data folder: database, bundles, broker, logs.",
        Rule(N_("an address of a database can't hold a '?'"), lambda data: "?" not in str(data)),
    )
    database: str = _setting(
        "",
        "The database's URL; by default SQLite in the data folder.",
        _none_or(
            r"sqlite:///.+|postgresql(\+psycopg)?://.*",
            N_("it is sqlite:///FILE or postgresql+psycopg://USER:PASSWORD@HOST/NAME"),
        ),
    )
    database_read: str = _setting(
        "",
        "The URL of a replica of that database, by PostgreSQL's streaming replication, from which "
        "pages and the API read. By default they read from the database itself.",
        _none_or(
            r"postgresql(\+psycopg)?://.*",
            N_("it is postgresql+psycopg://USER:PASSWORD@HOST/NAME"),
        ),
    )
    broker: str = _setting(
        "",
        "The broker's URL; by default an embedded one in the data folder.",
        _none_or(
            r"rediss?://([^\s/?#]*@)?(\[[^\s/?#]+\]|[^\s/?#:@]*)(:\d+)?(/\d*)?(\?\S*)?"
            r"|redis\+socket://\S+",
            N_(
                "it is redis://USER:PASSWORD@HOST/0, rediss: with TLS, or redis+socket://PATH; "
                "write a password's / as %%2F, ? as %%3F and # as %%23"
            ),
        ),
    )
    host: str = _setting(
        "127.0.0.1",
        "The address the pages are served on.",
        Rule(N_("an address or a name; 0.0.0.0 is every address of this machine"), bool),
    )
    hosts: str = _setting(
        "",
        "By which names the pages may be asked, with commas between them; .example.org is every "
        "name below it, and names of this machine itself always are. By default any.",
        _none_or(
            r"\.?[\w-]+(\.[\w-]+)*(,\.?[\w-]+(\.[\w-]+)*)*",
            N_("names without a port and with commas between them, as arena.example.org,10.0.0.7"),
        ),
    )
    port: int = _setting(
        8000,
        "The port the pages are served on.",
        _between(1, 65_535, N_("a port is between 1 and 65535")),
    )
    workers: int = _setting(
        0,
        "Matches played at the same time here; 0 means one a core.",
        _between(0, 256, N_("from 0 to 256 matches")),
    )
    games: str = _setting(
        "",
        "The games that a start opens ladders for, once, with commas between them; by default all.",
    )
    only: str = _setting(
        "",
        "The name of the only competition that matches are made for; by default all that are open.",
    )
    registration: str = _setting(
        "invitation",
        "Who may make an account: open (everybody), invitation or closed.",
        _one_of("open", "invitation", "closed"),
        changeable=True,
    )
    providers: str = _setting(
        "",
        "A file of TOML that names the providers people may sign in by: OpenID Connect, GitHub, "
        "GitLab. By default none.",
    )
    second_factor: str = _setting(
        "nobody",
        "Who must have a second factor to sign in, an app's code or a passkey: nobody, "
        "administrators, organisers (and administrators) or everybody.",
        _one_of("nobody", "administrators", "organisers", "everybody"),
        changeable=True,
    )
    proxies: int = _setting(
        0,
        "How many proxies of yours stand before the pages, each of which adds to X-Forwarded-For "
        "and X-Forwarded-Proto.",
        _between(0, 10, N_("from 0 to 10")),
    )
    public_url: str = _setting(
        "",
        "Where workers on other machines reach the pages, e.g. https://arena.example.org; they "
        "fetch bundles from there. By default they are given paths in the data folder.",
        _none_or(r"https?://[^\s?#]+", N_("it begins with http:// or https:// and has no '?'")),
    )
    site: str = _setting(
        "",
        "Where people reach the pages, e.g. https://arena.example.org: links in mail and to hooks "
        "lead there. By default ARENA_PUBLIC_URL.",
        _none_or(r"https?://[^\s?#]+", N_("it begins with http:// or https:// and has no '?'")),
    )
    mail: str = _setting(
        "",
        "The mail server that mail goes out by: smtps://USER:PASSWORD@HOST (TLS, port 465), smtp: "
        "(which asks for TLS, port 587), or smtp+plain: without TLS, for one on this machine (port "
        "25). By default no mail is sent.",
        _none_or(
            r"(smtps|smtp)://([^\s/?#@:]+:[^\s/?#@]+@)?[\w.-]+(:\d{1,5})?/?"
            r"|smtp\+plain://[\w.-]+(:\d{1,5})?/?",
            N_(
                "it is smtps://USER:PASSWORD@HOST, smtp: with STARTTLS, or smtp+plain://HOST "
                "without TLS and password; write a password's / as %%2F, @ as %%40 and : as %%3A"
            ),
        ),
    )
    mail_from: str = _setting(
        "",
        "The address that mail is sent from, as arena@example.org; ARENA_MAIL needs it.",
        _none_or(r"[^\s@<>\"(),:;]+@[\w.-]+", N_("it is a mail address, as arena@example.org")),
    )
    hooks: str = _setting(
        "people",
        "Who may have what they are told sent to a hook, an address elsewhere: people or nobody.",
        _one_of("people", "nobody"),
        changeable=True,
    )
    indexes: str = _setting(
        "",
        "Further indexes of Python packages that runtimes are made from, NAME=ADDRESS with commas "
        "between them, as arena runtime add calls them by --index NAME.",
        _none_or(
            r"[a-z0-9-]+=[^\s,]+(,[a-z0-9-]+=[^\s,]+)*",
            N_("it is NAME=ADDRESS with commas between them"),
        ),
    )
    inside: str = _setting(
        "",
        "Hosts of your own network that people may have the arena ask, to fetch repositories or to "
        "send hooks to, with commas between them. By default none: only the public internet is "
        "reached at addresses that people give.",
        _none_or(
            r"[a-z0-9._:-]+(,[a-z0-9._:-]+)*",
            N_("names in small letters with commas between them, as git.example.org,10.0.0.7"),
        ),
    )
    metrics_token: str = _setting(
        "",
        "Whoever shows this token may read /metrics; by default it is for this machine alone.",
    )
    contact: str = _setting(
        "",
        "Whom to tell of a security hole, mailto:ADDRESS or an https address; shown in "
        "/.well-known/security.txt.",
        _none_or(r"(mailto:|https://)\S+", N_("it begins with mailto: or https://")),
        changeable=True,
    )
    log: str = _setting(
        "plain",
        "How logs are written: plain, or json, an object a line.",
        _one_of("plain", "json"),
    )
    minimum_isolation: str = _setting(
        "good",
        "The weakest box in which an uploaded bot is run: full, good, reduced or none.",
        _one_of(*ISOLATION),
    )
    lease_seconds: float = _setting(
        30.0, "How long a match may go without a sign of its worker.", DURATION
    )
    take_up_seconds: float = _setting(
        60.0, "How long an issued match may wait for a worker.", DURATION
    )
    tick_seconds: float = _setting(
        2.0, "How often matches are made, issued and rolled back.", DURATION
    )
    shards: int = _setting(
        1,
        "Into how many parts the competitions are divided, which as many recorders can record at "
        "a time; for several the database is PostgreSQL.",
        _between(1, 64, N_("from 1 to 64 parts")),
    )
    take_over_seconds: float = _setting(
        45.0,
        "How long a recorder may ask nothing of the database before another one takes its place.",
        DURATION,
    )
    trickle_seconds: float = _setting(
        1800.0,
        "How long a ladder on which every rating is known well rests after each match; 0 for not "
        "at all.",
        _between(0, 86_400, N_("seconds, from 0 to a day")),
        changeable=True,
    )
    check_seconds: float = _setting(
        86_400.0,
        "How often the ratings and counters of each competition are made anew in secret, to see "
        "whether they come out the same.",
        DURATION,
    )
    alarm_seconds: float = _setting(
        3600.0,
        "How long an open ladder that could play may be without a new game before that is an "
        "alarm.",
        DURATION,
        changeable=True,
    )
    requests_a_day: int = _setting(
        50,
        "How many unrated matches a user may ask for within 24 hours.",
        _between(0, 10_000, N_("from 0 to 10000")),
        changeable=True,
    )
    tries_a_day: int = _setting(
        100,
        "How many versions of one owner's bots may be tried within 24 hours: checked without being "
        "handed in, as the editor in the browser does.",
        _between(0, 10_000, N_("from 0 to 10000")),
        changeable=True,
    )
    fetch_seconds: float = _setting(
        600.0,
        "How often a git repository is asked that a bot follows; of which pushes are told, a "
        "sixth as often.",
        _between(60, 86_400, N_("seconds, from 60 to a day")),
    )
    asked_seconds_a_day: float = _setting(
        900.0,
        "How many seconds bots may think, within 24 hours, about positions that one user asks them "
        "about.",
        _between(0, 10_000_000, N_("seconds, from 0 to 10000000")),
        changeable=True,
    )
    build_seconds_an_hour: float = _setting(
        900.0,
        "For how many seconds of an hour workers build one owner's bots, for checks, matches and "
        "people's games; what is handed in beyond that is checked later. 0 for as many as there "
        "are.",
        _between(0, 86_400, N_("seconds, from 0 to a day")),
        changeable=True,
    )
    bots_a_person: int = _setting(
        0,
        "How many bots each person may have here, on whatever ladders; organisers and "
        "administrators may have any number. 0 for any number of everybody.",
        _between(0, 100_000, N_("from 0 to 100000")),
        changeable=True,
    )
    quota_mib: float = _setting(
        2048.0,
        "How many MiB each person may have stored: the files of their bots, each once, and those "
        "that they are sending.",
        _between(0, 2**30, N_("MiB, from 0 to 1073741824")),
        changeable=True,
    )
    home: str = _setting(
        "",
        "The path of the socket on which the pages hand bots at home over to the home worker; by "
        "default home.sock in the data folder.",
    )
    live: str = _setting(
        "",
        "The path of the socket on which the pages hand over who watches a match; by default "
        "live.sock in the data folder.",
    )
    play: str = _setting(
        "people",
        "Who may play against bots on the pages: people (who are signed in), everybody or nobody.",
        _one_of("people", "everybody", "nobody"),
        changeable=True,
    )
    open_games: int = _setting(
        5,
        "How many games against bots that are not over a person may have.",
        _between(1, 1000, N_("from 1 to 1000")),
        changeable=True,
    )
    abandoned_days: float = _setting(
        7.0,
        "After how many days without a move a person's game is given up.",
        Rule(N_("days, more than 0 and at most 3650"), lambda days: 0 < days <= 3650),
        changeable=True,
    )
    log_days: float = _setting(
        90.0,
        "For how many days the logs of bots' games are kept; 0 for ever. Records are always kept.",
        _between(0, 3650, N_("days, from 0 to 3650")),
        changeable=True,
    )
    answer_days: float = _setting(
        90.0,
        "For how many days it is kept what bots answered who were asked about positions; 0 for "
        "ever. What belongs to an analysis that somebody keeps always is.",
        _between(0, 3650, N_("days, from 0 to 3650")),
        changeable=True,
    )

    dumps: str = _setting(
        "",
        "A folder in which a dump of all games is made each day, within the data folder or "
        "wherever its path begins. By default none is made.",
    )
    dumps_kept: int = _setting(
        7,
        "How many of those dumps are kept.",
        _between(1, 10_000, N_("from 1 to 10000")),
        changeable=True,
    )
    cold_days: float = _setting(
        0.0,
        "After how many days the records of games are moved out of the database, into files of "
        "their days in the cold store; 0 for never. Pages show them from there.",
        _between(0, 36_500, N_("days, from 0 to 36500")),
        changeable=True,
    )
    cold: str = _setting(
        "",
        "The cold store: a folder, within the data folder or wherever its path begins, or a "
        "bucket of a store that speaks S3, https://KEY:SECRET@HOST/BUCKET?region=REGION. By "
        "default the folder cold.",
        _none_or(
            r"(?!\w+://).+"
            r"|https?://[^\s/?#@:]+:[^\s/?#@:]+@[\w.-]+(:\d{1,5})?(/[\w.-]+)+/?(\?region=[\w-]+)?",
            N_(
                "it is a folder, or https://KEY:SECRET@HOST/BUCKET with ?region=REGION behind it "
                "if there are regions; write a secret's / as %%2F and + as %%2B"
            ),
        ),
    )
    films_mib: float = _setting(
        256.0,
        "How many MiB of animated pictures of games are kept, so that each is made once.",
        _between(1, 2**30, N_("MiB, from 1 to 1073741824")),
    )
    licence: str = _setting(
        "",
        "Under which licence the games may be used, as CC0-1.0; said in dumps of them. By default "
        "nothing is said.",
        changeable=True,
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
    def inside_hosts(self) -> frozenset[str]:
        """The hosts of the operator's own network that people may have the arena ask."""
        return frozenset(filter(None, self.inside.split(",")))

    @property
    def pages(self) -> str:
        """Where people reach the pages, as far as that is known, without a slash at its end."""
        return (self.site or self.public_url).rstrip("/") or f"http://{self.host}:{self.port}"

    @property
    def home_socket(self) -> Path:
        """Where bots at home are handed over to the home worker."""
        return Path(self.home).resolve() if self.home else self.data.resolve() / "home.sock"

    @property
    def rules_trails(self) -> list[Path]:
        """Where recorders keep which game's rules each is busy with."""
        more = [f"recorder.{number}.rules" for number in range(1, self.shards)]
        return [self.data.resolve() / name for name in ("recorder.rules", *more)]

    @property
    def live_socket(self) -> Path:
        """Where who watches a match is handed over to the process of live matches."""
        return Path(self.live).resolve() if self.live else self.data.resolve() / "live.sock"

    @property
    def bundles(self) -> Path:
        """Where bundles are kept, by digest."""
        return self.data.resolve() / "bundles"

    @property
    def quota_bytes(self) -> int:
        """The quota of each person."""
        return int(self.quota_mib * 2**20)

    @property
    def runtimes(self) -> Path:
        """Where runtimes are kept, by digest."""
        return self.data.resolve() / "runtimes"

    @property
    def dump_folder(self) -> Path:
        """Where the dump of each day is kept, if one is made."""
        return self.data.resolve() / self.dumps

    @property
    def cold_store(self) -> str:
        """Where records are that are no longer in the database: a folder, or a bucket's address."""
        if self.cold.startswith(("https://", "http://")):
            return self.cold
        return str(self.data.resolve() / (self.cold or "cold"))

    @property
    def films(self) -> Path:
        """Where animated pictures of games are kept."""
        return self.data.resolve() / "films"

    @property
    def truth(self) -> Path:
        """Where tables of what is certain of positions are looked for."""
        return self.data.resolve() / "truth"

    @property
    def without_secrets(self) -> Settings:
        """What may be told to whoever runs strangers' code: the broker's login, no other."""
        return replace(self, database="", database_read="", metrics_token="", mail="", cold="")

    def environment(self) -> dict[str, str]:
        """The variables from which `load` reads just these settings."""
        return {variable(known.name): str(getattr(self, known.name)) for known in fields(self)}


_FIELDS = {known.name: known for known in fields(Settings)}
CHANGEABLE = tuple(known.name for known in fields(Settings) if known.metadata["changeable"])
"""The settings that can be changed while the arena runs."""


def load(environment: Mapping[str, str] = os.environ, **given: Any) -> Settings:
    """The settings of the environment, those ``given`` before it; an empty variable is none.

    Raises:
        SettingError: a value that is none of its type, or not allowed, or a variable that is
            nearly called like a setting.
    """
    values: dict[str, Any] = {}
    _refuse_misspelt(environment)
    for known in fields(Settings):
        text = environment.get(variable(known.name))
        if given.get(known.name) is not None:
            values[known.name] = given[known.name]
        elif text:
            values[known.name] = _read(known.name, text)
    settings = Settings(**values)
    for known in fields(Settings):
        _demand(known.name, getattr(settings, known.name))
    if settings.database_read and not settings.database.startswith("postgresql"):
        raise SettingError(
            gettext("ARENA_DATABASE_READ needs a database that is PostgreSQL's, ARENA_DATABASE")
        )
    if settings.mail and not settings.mail_from:
        raise SettingError(
            gettext("ARENA_MAIL needs ARENA_MAIL_FROM, the address that mail is sent from")
        )
    return settings


def value_of(name: str, text: str) -> Any:
    """The value of a setting that a text says.

    Args:
        name: the setting's, without the prefix.

    Raises:
        SettingError: it is none of its type, or not allowed.
    """
    value = _read(name, text)
    _demand(name, value)
    return value


def _read(name: str, text: str) -> Any:
    """The value of a setting, which may not be allowed."""
    kind: Any = type(_FIELDS[name].default)
    if issubclass(kind, Path):
        kind = Path
    try:
        return kind(text)
    except ValueError:
        its = {"name": variable(name), "value": text}
        if kind is int:
            words = gettext("%(name)s=%(value)r is no whole number", **its)
        else:
            words = gettext("%(name)s=%(value)r is no number", **its)
        raise SettingError(words) from None


def _demand(name: str, value: Any) -> None:
    """Refuses a value that is not allowed."""
    rule: Rule | None = _FIELDS[name].metadata["rule"]
    if rule and not rule.holds(value):
        shown = "" if name in SECRET else f"={value}"
        raise SettingError(
            gettext(
                "%(setting)s is not allowed: %(rule)s",
                setting=f"{variable(name)}{shown}",
                rule=gettext(rule.words, choices=", ".join(rule.choices)),
            )
        )


def _refuse_misspelt(environment: Mapping[str, str]) -> None:
    """Refuses what is nearly a setting's name: a misspelt limit would limit nothing.

    Others may call their variables as they like: a cluster names some after its services.
    """
    settings = [known.name.upper() for known in fields(Settings)]
    for given in sorted(environment):
        name = given.removeprefix(PREFIX)
        if name not in (given, *settings, *OF_OTHERS):
            for near in alike(name, settings, 1):
                meant = did_you_mean([f"{PREFIX}{near}"])
                raise SettingError(
                    gettext(
                        "%(variable)s is no setting of the arena: %(meant)s",
                        variable=given,
                        meant=meant,
                    )
                )


def variable(name: str) -> str:
    """The variable of the environment from which a setting is read."""
    return f"{PREFIX}{name.upper()}"
