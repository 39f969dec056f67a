"""A large made-up arena, to see how pages and commands bear what years of play would bring.

Bots have true strengths; who wins follows from them, and ratings are computed from the results
as they would be. The records are of real games between random players, taken over and over from
a small stock of each variant, so that every page has something true to draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice
from random import Random

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots.furnish import open_ladder
from arena.fake.copying import write
from arena.fake.season import DAYS, MatchRows, Season
from arena.fake.stock import StoredMatch, play_stock
from arena.ground.db import Database
from arena.lists import branches
from arena.lists.rows import Days, Listed
from arena.models import (
    Bot,
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    GameSeat,
    Ladder,
    LargeFile,
    Match,
    Place,
    PlayedGame,
    User,
    VersionStatus,
)
from arena.ratings.trueskill import SIGMA
from arena.recorder.completion import take_places
from arena.schedule import shards
from engine.games import GAMES
from engine.match import entrants_needed

MATCHES_AT_ONCE = 2000
"""Matches that are written in one transaction."""
ONE_IN, WEIGHTS = 12, (20 << 20, 200 << 20)
"""One bot of so many has a large file, of from so many bytes to so many."""
LANGUAGES = ("Python", "C++", "Rust", "JavaScript", "Java", "C", "Go", "Lua")
CONSONANTS, VOWELS = "bcdfgklmnprstvz", "aeiou"

Progress = Callable[[int], None]


def fill(
    database: Database,
    *,
    bots: int,
    ladders: int,
    games: int,
    seed: int,
    now: datetime,
    days: float = DAYS,
    progress: Progress = lambda _: None,
) -> int:
    """Adds made-up bots, ladders and games; the same seed gives the same.

    Args:
        games: at least so many are made; a match is never left half.
        days: how long before now the first match was played.
        progress: called with the number of games so far.

    Returns:
        How many games were made.
    """
    random, began = Random(seed), now - timedelta(days=days)
    with database.begin() as session:
        versions = _make_bots(session, random, bots, began)
        made = [_make_ladder(session, number, began) for number in range(ladders)]
        session.flush()
        fields = _enter_all(session, random, made, versions)
        known = session.execute(sa.select(BotVersion.id, BotVersion.bot_id))
        bots_of = {row.id: row.bot_id for row in known}
    # Few ladders have most of the games, as it is everywhere.
    weights = [1 / (rank + 1) ** 0.8 for rank in range(ladders)]
    total, done = sum(weights), 0
    stocks: dict[str, list[StoredMatch]] = {}
    seasons, played = [], []
    for ladder, field, weight in zip(made, fields, weights, strict=True):
        variant = str(ladder.variant)
        if variant not in stocks:
            stocks[variant] = play_stock(ladder, random)
        season = Season(ladder, field, stocks[variant], random, bots=bots_of, began=began, now=now)
        seasons.append(season)
        played.append(season.matches(math.ceil(games * weight / total)))
    matches = merge(*played, key=lambda rows: rows.match["fixed"])
    while batch := list(islice(matches, MATCHES_AT_ONCE)):
        with database.begin() as session:
            places = take_places(session, len(batch), alone=shards.count(session) == 1)
            for rows, place in zip(batch, places, strict=True):
                rows.match["seq"] = place
            _write(session, batch)
        done += sum(len(rows.games) for rows in batch)
        progress(done)
    for season in seasons:
        with database.begin() as session:
            season.write_totals(session)
    while database.run(branches.add_next):
        pass
    return done


def _name(random: Random, number: int) -> str:
    """A name that can be spoken, unique by the number at its end."""
    word = "".join(random.choice(CONSONANTS) + random.choice(VOWELS) for _ in range(3))
    return f"{word}-{number}"


def _make_bots(session: Session, random: Random, count: int, began: datetime) -> list[int]:
    """Owners, bots and one to three versions of each, some with a large file; gives the ids of the
    last versions."""
    first = session.scalar(sa.select(sa.func.max(Bot.id))) or 0
    owners = [User(name=_name(random, first + n), created=began) for n in range(count // 5 + 1)]
    session.add_all(owners)
    last = []
    for number in range(count):
        bot = Bot(name=_name(random, first + number), owner=random.choice(owners), created=began)
        language = random.choice(LANGUAGES)
        # Its weights stay the same, whatever becomes of its program.
        weights = 0 if number % ONE_IN else random.randrange(*WEIGHTS)
        digest = f"{random.getrandbits(256):064x}"
        for version in range(1, random.choice((1, 1, 2, 3)) + 1):
            made = BotVersion(
                bot=bot,
                number=version,
                digest=f"{random.getrandbits(256):064x}",
                size=random.randrange(500, 50_000) + weights,
                language=language,
                status=VersionStatus.READY,
                created=began + timedelta(days=version),
            )
            session.add(made)
            if weights:
                session.add(LargeFile(bundle=made.digest, digest=digest, size=weights))
        last.append(made)
    session.flush()
    return [version.id for version in last]


def _make_ladder(session: Session, number: int, began: datetime) -> Ladder:
    variants = [(game, variant) for game in GAMES.singles.values() for variant in game.offered]
    game, variant = variants[number % len(variants)]
    ladder = open_ladder(game, variant, began)
    turn = (session.scalar(sa.select(sa.func.max(Ladder.id))) or 0) + 1
    ladder.name, ladder.title = f"{ladder.name}-{turn}", f"{ladder.title} no. {turn}"
    ladder.state = CompetitionState.PAUSED  # its bots have no files that could be played
    session.add(ladder)
    session.flush()
    return ladder


def _enter_all(
    session: Session,
    random: Random,
    ladders: Sequence[Ladder],
    versions: Sequence[int],
) -> list[list[Entrant]]:
    """Enters every version on one to three ladders, the first ladders being the favourites."""
    fields: list[list[int]] = [[] for _ in ladders]
    weights = [1 / (rank + 1) ** 0.5 for rank in range(len(ladders))]
    for version in versions:
        for place in set(random.choices(range(len(ladders)), weights, k=random.choice((1, 2, 3)))):
            fields[place].append(version)
    made = []
    for ladder, field in zip(ladders, fields, strict=True):
        needed = max(2, entrants_needed(ladder.variant))
        entered = field if len(field) >= needed else [*random.sample(versions, needed)]
        made.append(
            [
                Entrant(
                    competition_id=ladder.id,
                    version_id=version,
                    state=EntrantState.ACTIVE,
                    entered=ladder.created,
                    entered_after=0,
                    mu=25.0,
                    sigma=SIGMA,
                )
                for version in dict.fromkeys(entered)
            ]
        )
        session.add_all(made[-1])
    session.flush()
    return made


def _write(session: Session, batch: Sequence[MatchRows]) -> None:
    """Inserts matches with all that belongs to them, table by table."""
    match = (session.scalar(sa.select(sa.func.max(Match.id))) or 0) + 1
    game = (session.scalar(sa.select(sa.func.max(PlayedGame.id))) or 0) + 1
    matches, places, games, seats, listed = [], [], [], [], Listed.nothing()
    for rows in batch:
        matches.append(rows.match | {"id": match})
        places += [place | {"match_id": match} for place in rows.places]
        each = zip(rows.games, rows.seats, rows.listed, rows.given, rows.lines, strict=True)
        for row, its_seats, its_listed, its_given, its_line in each:
            games.append(row | {"id": game, "match_id": match})
            seats += [seat | {"game_id": game} for seat in its_seats]
            listed.add(game, its_listed, its_given, its_line)
            game += 1
        match += 1
    for table, found in (
        (Match.__table__, matches),
        (Place.__table__, places),
        (PlayedGame.__table__, games),
        (GameSeat.__table__, seats),
    ):
        assert isinstance(table, sa.Table)
        write(session.connection(), table, found)
    for table, found in listed.tables():
        write(session.connection(), table, found)
    days = Days()
    days.add(listed)
    days.write(session.connection())
    if session.get_bind().dialect.name == "postgresql":
        # Ids that were given by hand are not known to what gives the next ones.
        for name, last in (("match", match), ("game", game)):
            session.execute(
                sa.select(sa.func.setval(sa.func.pg_get_serial_sequence(name, "id"), last))
            )
