"""Prepares an arena for a start: the database, what the last run left, and the furniture.

The supervisor runs it as a program of its own before anything else is started, so that it
stays small itself.
"""

from __future__ import annotations

import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session

from arena.audit import machine_user
from arena.bots.furnish import Sample, furnish
from arena.cli.arguments import SAMPLES, listed_samples
from arena.cli.boxed import pack
from arena.ground.config import SettingError, Settings, load
from arena.ground.db import Database, SchemaError, say_whom_it_serves, unusable
from arena.ground.guesses import meant
from arena.models import RESERVED, Competition
from arena.operation import indexes
from arena.people import accounts, providers
from arena.people.accounts import NAME
from arena.recorder.claim import ClaimError, Claims
from arena.schedule import leases
from arena.signing import secret_key
from engine import rules_trail
from engine.game import Game
from engine.games import GAMES
from engine.guesses import instead
from workers import bundles

PATIENCE = 5.0
"""Seconds for the recorder of an arena that was killed to end, too."""


def samples(folder: Path) -> list[Sample]:
    """The sample bots of this release, their bundles stored in ``folder``."""
    found = []
    for entry in listed_samples():
        bundle = pack(SAMPLES / entry["file"])
        bundles.store(folder, bundle)
        found.append(
            Sample(
                entry["name"],
                bundle.digest,
                len(bundle.archive),
                bundle.files_bytes,
                bundle.language,
                entry["note"],
                tuple(entry.get("games", GAMES.singles)),
            )
        )
    return found


def games_of(names: str) -> list[Game]:
    """The games of the setting ``games``; without any, all but those of families.

    Raises:
        SettingError: one is unknown.
    """
    chosen = [name.strip() for name in names.split(",")] if names.strip() else list(GAMES.singles)
    for name in chosen:
        if name not in GAMES:
            there = instead(name[:40], GAMES)
            raise SettingError(f"ARENA_GAMES: there is no game {name[:40]!r}; {there}")
    return [GAMES[name] for name in chosen]


def administrator() -> str:
    """The name of a fresh arena's administrator: whoever starts it, as `arena submit` has it."""
    name = machine_user()
    return name if NAME.fullmatch(name) and name.lower() not in RESERVED else "admin"


def first_administrator(session: Session, name: str, now: datetime) -> str:
    """Makes the administrator that a fresh arena has not; what to tell of it, if it was made."""
    password = accounts.first_administrator(session, name, now)
    if password is None:
        return ""
    return (
        f"the administrator {name} can sign in once with the password {password} and then "
        "chooses another"
    )


def demand_competition(session: Session, only: str) -> None:
    """Sees that the competition is there that alone is to be played.

    Raises:
        SettingError: it is not; else nothing would be played, and nobody told why.
    """
    if only and not session.scalar(sa.select(sa.exists().where(Competition.named(only)))):
        guess = meant(session, Competition.name, only)
        raise SettingError(f"ARENA_ONLY: there is no ladder or tournament {only[:40]!r}{guess}")


def _make_lost_indexes(database: Database) -> None:
    """Makes the indexes anew that the database has lost, and says so.

    Raises:
        SchemaError: rows are there that one of them would refuse.
    """
    try:
        with database.begin() as session:
            for name in indexes.make_anew(session.connection()):
                print(f"the database had lost {name}, which was made anew", flush=True)
    except IntegrityError as error:
        raise SchemaError(
            "the database has lost a constraint, and holds rows since then that break it: "
            f"restore a backup ({str(error.orig).splitlines()[0]})"
        ) from None


def _prepare(database: Database, settings: Settings, games: list[Game]) -> None:
    """Prepares an arena, and prints what is new to its people."""
    if settings.embedded:
        Claims(database, settings.shards, whole=True, patience=PATIENCE)
    database.upgrade()
    secret_key(database)
    _make_lost_indexes(database)
    with database.begin() as session:
        say_whom_it_serves(session)
        if settings.embedded:
            # Every worker ended with the arena that it belonged to, and no other is at work.
            leases.roll_back_all(session)
        demand_competition(session, settings.only)
        # Who has one competition played has not asked for more ladders.
        stored = [] if settings.only else samples(settings.bundles)
        games = [] if settings.only else games
        for line in furnish(session, stored, datetime.now(UTC), games=games):
            print(line, flush=True)
        welcome = first_administrator(session, administrator(), datetime.now(UTC))
    if welcome:
        print(welcome, flush=True)


def main() -> int:
    """Prepares the arena of the environment's settings; what is wrong is one line."""
    try:
        settings = load()
        games = games_of(settings.games)
        providers.load(settings)  # so that what is wrong in it is told before the pages need it
        settings.bundles.mkdir(parents=True, exist_ok=True, mode=0o700)
        for place in settings.rules_trails:
            rules_trail.forget(place)
        with closing(Database(settings.database_url)) as database:
            _prepare(database, settings, games)
    except (SettingError, ClaimError, SchemaError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except SQLAlchemyError as error:
        print(unusable(error), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
