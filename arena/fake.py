"""A large made-up arena, to see how pages and commands bear what years of play would bring.

Bots have true strengths; who wins follows from them, and ratings are computed from the results
as they would be. The records are of real games between random players, taken over and over from
a small stock of each variant, so that every page has something true to draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from itertools import islice
from random import Random
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.counters import EntrantTally, Tally, tally
from arena.db import Database
from arena.furnish import open_ladder
from arena.models import (
    Bot,
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    Place,
    PlayedGame,
    User,
    VersionStatus,
)
from arena.ratings.book import RatingBook
from arena.ratings.trueskill import SIGMA, Rating, TrueSkill
from arena.recording import pack, results_of
from engine.games import GAMES
from engine.match import MatchSpec, entrants_needed, shares_beaten
from engine.openings import opening
from engine.player import Choice, CrashError, GameEnd, GameSetup, Turn
from engine.record import GameRecord
from engine.referee import play_game

STOCK = 12
"""Real matches of a variant, which all its records are taken from."""
DAYS = 120
"""So long ago the first match was played."""
MATCHES_AT_ONCE = 2000
"""Matches that are written in one transaction."""
LANGUAGES = ("Python", "C++", "Rust", "JavaScript", "Java", "C", "Go", "Lua")
CONSONANTS, VOWELS = "bcdfgklmnprstvz", "aeiou"

Progress = Callable[[int], None]


class _RandomPlayer:
    """Plays random legal moves, and sometimes crashes."""

    isolation = "none"
    closed = False

    def __init__(self, random: Random, *, crash_ply: int | None) -> None:
        self.random, self.crash_ply = random, crash_ply

    def new_game(self, setup: GameSetup) -> None:
        pass

    def choose(self, turn: Turn) -> Choice:
        if self.crash_ply is not None and turn.ply >= self.crash_ply:
            self.closed = True
            raise CrashError("exit 1")
        move = self.random.choice(turn.state.legal_moves())
        spent = int(self.random.lognormvariate(9, 1))
        return Choice(
            move, cpu_us=spent, wall_us=spent + 200, values={"eval": self.random.random()}
        )

    def end_game(self, end: GameEnd) -> None:
        pass

    def take_log(self) -> str:
        return ""

    def close(self, *, kill: bool = False) -> None:
        self.closed = True


@dataclass(frozen=True, slots=True)
class _Stored:
    """A match that was played once, and how its games are stored."""

    spec: MatchSpec
    records: tuple[GameRecord, ...]
    packed: tuple[bytes, ...]
    digests: tuple[str, ...]
    cpu_us: tuple[tuple[int, ...], ...]
    """For each game the CPU time of each seat."""
    score: float
    """The points of the entrant in place 0 in all games, from 0 to 1."""


def fill(
    database: Database,
    *,
    bots: int,
    ladders: int,
    games: int,
    seed: int,
    now: datetime,
    progress: Progress = lambda _: None,
) -> int:
    """Adds made-up bots, ladders and games; the same seed gives the same.

    Args:
        games: at least so many are made; a match is never left half.
        progress: called with the number of games so far.

    Returns:
        How many games were made.
    """
    random = Random(seed)
    with database.begin() as session:
        versions = _make_bots(session, random, bots, now)
        made = [_make_ladder(session, number, now) for number in range(ladders)]
        session.flush()
        seq = session.scalar(sa.select(sa.func.max(Match.seq))) or 0
        fields = _enter_all(session, random, made, versions)
    # Few ladders have most of the games, as it is everywhere.
    weights = [1 / (rank + 1) ** 0.8 for rank in range(ladders)]
    total, done = sum(weights), 0
    stocks: dict[str, list[_Stored]] = {}
    for ladder, field, weight in zip(made, fields, weights, strict=True):
        wanted = math.ceil(games * weight / total)
        variant = str(ladder.variant)
        if variant not in stocks:
            stocks[variant] = _stock(ladder, random)
        run = _LadderRun(ladder, field, stocks[variant], random, first_seq=seq + 1, now=now)
        matches = run.matches(wanted)
        while batch := list(islice(matches, MATCHES_AT_ONCE)):
            with database.begin() as session:
                _write(session, batch)
            done += sum(len(rows.games) for rows in batch)
            progress(done)
        seq = run.seq - 1
        with database.begin() as session:
            run.write_totals(session)
    return done


def _name(random: Random, number: int) -> str:
    """A name that can be spoken, unique by the number at its end."""
    word = "".join(random.choice(CONSONANTS) + random.choice(VOWELS) for _ in range(3))
    return f"{word}-{number}"


def _make_bots(session: Session, random: Random, count: int, now: datetime) -> list[int]:
    """Owners, bots and one to three versions of each; gives the ids of the last versions."""
    long_ago = now - timedelta(days=DAYS)
    first = session.scalar(sa.select(sa.func.max(Bot.id))) or 0
    owners = [User(name=_name(random, first + n), created=long_ago) for n in range(count // 5 + 1)]
    session.add_all(owners)
    last = []
    for number in range(count):
        bot = Bot(name=_name(random, first + number), owner=random.choice(owners), created=long_ago)
        language = random.choice(LANGUAGES)
        for version in range(1, random.choice((1, 1, 2, 3)) + 1):
            made = BotVersion(
                bot=bot,
                number=version,
                digest=f"{random.getrandbits(256):064x}",
                size=random.randrange(500, 50_000),
                language=language,
                status=VersionStatus.READY,
                created=long_ago + timedelta(days=version),
            )
            session.add(made)
        last.append(made)
    session.flush()
    return [version.id for version in last]


def _make_ladder(session: Session, number: int, now: datetime) -> Ladder:
    variants = [(game, variant) for game in GAMES.values() for variant in game.offered]
    game, variant = variants[number % len(variants)]
    ladder = open_ladder(game, variant, now - timedelta(days=DAYS))
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


def _stock(ladder: Ladder, random: Random) -> list[_Stored]:
    """Real matches of a ladder's game between random players."""
    stock = []
    entrants = tuple(f"bot{n}" for n in range(max(2, entrants_needed(ladder.variant))))
    for number in range(STOCK):
        start = opening(ladder.variant, random.getrandbits(32))
        spec = MatchSpec(start.variant, entrants, ladder.time, start.moves, random.getrandbits(32))
        records = []
        for game in range(spec.games):
            crash = random.randrange(2, 20) if number == 0 and game == 0 else None
            players = [
                _RandomPlayer(random, crash_ply=crash if seat == 0 else None)
                for seat in range(spec.variant.seats)
            ]
            names = [entrants[place] for place in spec.seating(game)]
            record = play_game(
                spec.variant,
                players,
                time=spec.time,
                seed=spec.game_seed(game),
                opening=spec.opening,
                names=names,
            )
            records.append(record)
        results = results_of(
            records, range(len(entrants)), [spec.seating(game) for game in range(spec.games)]
        )
        score = sum(
            shares_beaten(result.sides, result.ranks)[list(result.entrants).index(0)]
            for result in results
        )
        stock.append(
            _Stored(
                spec,
                tuple(records),
                tuple(pack(record) for record in records),
                tuple(record.digest() for record in records),
                tuple(
                    tuple(
                        sum(ply.cpu_us or 0 for ply in record.plies if ply.seat == seat)
                        for seat in range(spec.variant.seats)
                    )
                    for record in records
                ),
                score / len(results),
            )
        )
    return stock


@dataclass(slots=True)
class _Rows:
    """The rows of one match."""

    match: dict[str, Any]
    places: list[dict[str, Any]]
    games: list[dict[str, Any]]
    seats: list[list[dict[str, Any]]]


class _LadderRun:
    """All matches of one ladder, with its counters."""

    def __init__(
        self,
        ladder: Ladder,
        field: Sequence[Entrant],
        stock: Sequence[_Stored],
        random: Random,
        *,
        first_seq: int,
        now: datetime,
    ) -> None:
        self.ladder, self.random, self.now = ladder, random, now
        self.seq = first_seq
        self.field = sorted(field, key=lambda entrant: entrant.id)
        self.strength = {entrant.id: random.gauss(25, 6) for entrant in self.field}
        self.order = sorted(self.strength, key=lambda e: self.strength[e])
        self.book = RatingBook[int](TrueSkill(draw_probability=ladder.draw_probability))
        for entrant in self.field:
            self.book.enter(entrant.id)
        self.total = Tally()
        self.last: dict[int, datetime] = {}
        self.matches_made = 0
        self.stock = stock

    def matches(self, games: int) -> Iterator[_Rows]:
        """The rows of matches until so many games are made."""
        started = self.now - timedelta(days=DAYS)
        while self.total.games < games:
            when = started + timedelta(days=DAYS) * (self.total.games / games)
            yield self._match(when)

    def _match(self, when: datetime) -> _Rows:
        chosen = self._chosen()
        first = self.strength[chosen[0]]
        rest = sum(self.strength[e] for e in chosen[1:]) / (len(chosen) - 1)
        expected = 1 / (1 + math.exp((rest - first) / 4))
        # The stock's match whose score is nearest to what these bots would do today.
        aim = min(1.0, max(0.0, self.random.gauss(expected, 0.3)))
        stored = min(self.stock, key=lambda s: (abs(s.score - aim), self.random.random()))
        spec = stored.spec
        seatings = [spec.seating(game) for game in range(spec.games)]
        results = results_of(stored.records, chosen, seatings)
        changes = [self.book.apply(result) for result in results]
        race = len(results) != len(stored.records)
        rows = _Rows(self._match_row(spec, when), [], [], [])
        faulty: list[int] = []
        rows.places = [{"number": n, "entrant_id": e} for n, e in enumerate(chosen)]
        for number, record in enumerate(stored.records):
            told = 0 if race else number
            result, change = results[told], changes[told]
            shares = shares_beaten(result.sides, result.ranks)
            rows.games.append(
                {
                    "competition_id": self.ladder.id,
                    "number": number,
                    "termination": record.termination,
                    "plies": len(record.plies),
                    "finished": when,
                    "digest": stored.digests[number],
                    "record": stored.packed[number],
                }
            )
            faults = {fault.seat: fault.termination for fault in record.faults}
            seats = []
            for seat, place in enumerate(seatings[number]):
                at = place if race else seat
                seats.append(
                    {
                        "seat": seat,
                        "entrant_id": chosen[place],
                        "score": record.scores[seat],
                        "rank": result.ranks[at],
                        "points": shares[at],
                        "fault": faults.get(seat),
                        "cpu_us": stored.cpu_us[number][seat],
                        "mu_before": change[at].before.mu,
                        "sigma_before": change[at].before.sigma,
                        "mu_after": change[at].after.mu,
                        "sigma_after": change[at].after.sigma,
                        "log": "",
                    }
                )
                if seat in faults:
                    faulty.append(chosen[place])
            rows.seats.append(seats)
        counted = tally(results, faulty, games=len(stored.records))
        self.total.add(counted)
        self.last.update(dict.fromkeys(counted.entrants, when))
        self.matches_made += 1
        return rows

    def _chosen(self) -> list[int]:
        """Entrants of about the same strength."""
        size = max(2, entrants_needed(self.ladder.variant))
        width = min(len(self.order), max(size, 40))
        start = self.random.randrange(len(self.order) - width + 1)
        return self.random.sample(self.order[start : start + width], size)

    def _match_row(self, spec: MatchSpec, when: datetime) -> dict[str, Any]:
        seq = self.seq
        self.seq += 1
        return {
            "competition_id": self.ladder.id,
            "leg": 1,
            "rated": True,
            "options": dict(spec.variant.options),
            "opening": list(spec.opening),
            "seed": spec.seed,
            "seq": seq,
            "fixed": when,
            "status": JobStatus.FIXED,
            "attempt": 1,
            "failures": 0,
            "problem": "",
            "created": when - timedelta(minutes=1),
        }

    def write_totals(self, session: Session) -> None:
        """Stores what was counted."""
        ratings: dict[int, Rating] = {entrant.id: self.book[entrant.id] for entrant in self.field}
        session.execute(
            sa.update(Entrant),
            [
                {
                    "id": entrant,
                    "mu": rating.mu,
                    "sigma": rating.sigma,
                    "last_game": self.last.get(entrant),
                    **asdict(self.total.entrants.get(entrant, EntrantTally())),
                }
                for entrant, rating in ratings.items()
            ],
        )
        session.execute(
            sa.insert(Meeting),
            [
                {
                    "first_id": first,
                    "second_id": second,
                    "competition_id": self.ladder.id,
                    **asdict(counts),
                }
                for (first, second), counts in self.total.meetings.items()
            ],
        )
        ladder = session.get_one(Ladder, self.ladder.id)
        ladder.matches_made = self.matches_made
        ladder.games = self.total.games
        ladder.neighbours, ladder.ties = self.total.neighbours, self.total.ties
        ladder.last_game = max(self.last.values(), default=None)
        ladder.worker_seconds = 2.0 * self.total.games


def _write(session: Session, batch: Sequence[_Rows]) -> None:
    """Inserts matches with all that belongs to them, table by table."""
    match = (session.scalar(sa.select(sa.func.max(Match.id))) or 0) + 1
    game = (session.scalar(sa.select(sa.func.max(PlayedGame.id))) or 0) + 1
    matches, places, games, seats = [], [], [], []
    for rows in batch:
        matches.append(rows.match | {"id": match})
        places += [place | {"match_id": match} for place in rows.places]
        for row, its_seats in zip(rows.games, rows.seats, strict=True):
            games.append(row | {"id": game, "match_id": match})
            seats += [seat | {"game_id": game} for seat in its_seats]
            game += 1
        match += 1
    for table, found in (
        (Match.__table__, matches),
        (Place.__table__, places),
        (PlayedGame.__table__, games),
        (GameSeat.__table__, seats),
    ):
        assert isinstance(table, sa.Table)
        session.connection().execute(sa.insert(table), found)
    if session.get_bind().dialect.name == "postgresql":
        # Ids that were given by hand are not known to what gives the next ones.
        for name, last in (("match", match), ("game", game)):
            session.execute(
                sa.select(sa.func.setval(sa.func.pg_get_serial_sequence(name, "id"), last))
            )
