"""What is counted of the games that a filter wants: of the newest, as many as are counted at once.

All is counted by one statement, of games that are recorded already, so that it is right whatever
was made void, and at whatever moment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.keeping.reading import text_of
from arena.lists.filters import GameFilter, Order
from arena.lists.parts import a_seat
from arena.lists.search import Walk, find
from arena.models import Bot, Competition, GameValue, Match, PlayedGame, SeatResult
from engine.game import Termination
from engine.translation import gettext

MOST_GAMES = 10_000
"""The newest so many are counted."""
MOST_LOOKED_AT = 40_000
"""Games among which those are looked for."""
MOST_SHARES = 20
"""How many openings and bots are told apart, those with the most games."""
MOST_RECORDS = 100
"""Games of which the records are read, for the means of a number over the plies."""
MOST_TOLD = 2_000
"""Games of which numbers are read, for their means over the games."""
POINTS = 60
"""How many stretches the games are cut into, for the means of a number."""


@dataclass(frozen=True, slots=True)
class Share:
    """What came of some of the games, for each of their seats that are asked about."""

    key: int
    """A seat, from 0; an opening's number; a bot's id; or a month as in 202605."""
    games: int
    won: int
    drawn: int
    lost: int
    cpu_us: int = 0
    plies: int = 0
    """All plies of the games, counted for each such seat, as the time is."""
    example: int = 0
    """The number of one of them."""

    @property
    def seats(self) -> int:
        """How many those are: mostly one of each game."""
        return self.won + self.drawn + self.lost

    @property
    def points(self) -> float:
        """The share that was won, a drawn game being half."""
        return (self.won + self.drawn / 2) / max(self.seats, 1)


@dataclass(frozen=True, slots=True)
class Counts:
    """What is counted of some games.

    Results are those of the seat that the filter is about; if it is about none, of the first.
    """

    games: int
    is_cut: bool
    """Whether there may be more games like these, which are older."""
    first: datetime | None
    last: datetime | None
    """When the oldest and the newest of them ended."""
    all: Share
    seats: Sequence[Share]
    openings: Sequence[Share]
    bots: Sequence[Share]
    """The opponents of that seat, with its results; if the filter is about none, all who played,
    with their own."""
    months: Sequence[Share]
    endings: dict[Termination, int]
    """How many games ended by each."""
    faults: dict[Termination, int]
    """How often that seat left by each; any seat, if the filter is about none."""
    others_faults: dict[Termination, int]
    """How often the other seats of these games left by each."""
    plies: Sequence[tuple[int, int]]
    """How many games have each number of plies, the shortest first."""

    def plies_at(self, share: float) -> int:
        """The number of plies that such a share of the games do not exceed; 0 of no games."""
        left = share * sum(games for _, games in self.plies)
        for plies, games in self.plies:
            left -= games
            if left <= 0:
                return plies
        return 0


def count(session: Session, wanted: GameFilter) -> Counts:
    """What there is to count of the newest games that a filter wants.

    Raises:
        NotThere: it names what is not there.
    """
    games, is_cut = _games(session, wanted)
    repeats = wanted.is_of_seat  # where it is about one, two of a game may be such
    others = _others(games) if wanted.is_of_seat else None
    every = _all_seats(games) if others is None else games
    month = sa.extract("year", games.c.finished) * 100 + sa.extract("month", games.c.finished)
    bots = every if others is None else others
    parts = [
        _shares("all", games, sa.literal(0), repeats=repeats),
        _shares("seats", every, every.c.seat),
        _shares("openings", games, games.c.opening, most=MOST_SHARES, repeats=repeats),
        _shares("bots", bots, bots.c.bot_id, most=MOST_SHARES),
        _shares("months", games, month, repeats=repeats),
        _shares("plies", games, games.c.plies, repeats=repeats),
        _shares("endings", games, word=games.c.ending, repeats=repeats),
        _shares("faults", every, word=every.c.fault),
    ]
    if others is not None:
        parts.append(_shares("others", others, word=others.c.fault))
    shares: dict[str, list[Share]] = {}
    words: dict[str, dict[Termination, int]] = {"endings": {}, "faults": {}, "others": {}}
    first_id = last_id = 0
    for kind, key, word, *numbers, first, last in session.execute(sa.union_all(*parts)):
        if kind in words:
            if word is not None:
                words[kind][Termination(word)] = numbers[0]
            continue
        shares.setdefault(kind, []).append(Share(int(key), *map(int, (*numbers, last))))
        if kind == "all":
            first_id, last_id = first, last
    (whole,) = shares.get("all", [Share(0, 0, 0, 0, 0)])
    begun, ended = _moments(session, first_id, last_id)
    by_games = {kind: sorted(of, key=lambda one: -one.games) for kind, of in shares.items()}
    by_key = {kind: sorted(of, key=lambda one: one.key) for kind, of in shares.items()}
    return Counts(
        whole.games,
        is_cut or whole.seats >= MOST_GAMES,
        begun,
        ended,
        whole,
        by_key.get("seats", []),
        by_games.get("openings", []),
        by_games.get("bots", []),
        by_key.get("months", []),
        words["endings"],
        words["faults"],
        words["others"],
        [(one.key, one.games) for one in by_key.get("plies", [])],
    )


def _games(session: Session, wanted: GameFilter, most: int = MOST_GAMES) -> tuple[sa.CTE, bool]:
    """The rows of the seats that a filter is about, and whether older ones were not looked at."""
    walk = Walk.of(session, wanted.but(sort=Order.NEWEST))
    edge = None if walk.is_whole else walk.edge(session, MOST_LOOKED_AT)
    row = walk.row
    columns = (
        row.game_id, row.seat, row.bot_id, row.result, row.fault, row.ending, row.plies,
        row.opening, row.finished, row.cpu_us,
    )  # fmt: skip
    query = sa.select(*columns).select_from(walk.source).where(*walk.conditions)
    if edge is not None:
        query = query.where(walk.before(edge))
    query = query.order_by(*walk.order).limit(most)
    return query.cte("games"), edge is not None


def _all_seats(games: sa.CTE) -> sa.CTE:
    """Every seat of those games, as what came of it for that seat."""
    seat = a_seat()
    columns = (seat.game_id, seat.seat, seat.bot_id, seat.result, seat.fault, seat.plies)
    query = sa.select(*columns, seat.cpu_us).join(games, games.c.game_id == seat.game_id)
    return query.cte("seats")


def _others(games: sa.CTE) -> sa.CTE:
    """The other seats of those games, with what came of it for the seat that is asked about."""
    seat, its = a_seat(), games.c
    query = sa.select(
        its.game_id, seat.seat, seat.bot_id, its.result, seat.fault, seat.plies, seat.cpu_us
    )
    on = sa.and_(its.game_id == seat.game_id, its.seat != seat.seat)
    return query.join(games, on).cte("others")


def _shares(
    kind: str,
    rows: sa.CTE,
    key: sa.ColumnElement[Any] | None = None,
    *,
    word: sa.ColumnElement[Any] | None = None,
    most: int | None = None,
    repeats: bool = False,
) -> Any:
    """A query for what is counted of rows that have the same key, or the same word.

    Args:
        most: of how many of them, those with the most games.
        repeats: whether a game may be in several of them.
    """
    number = sa.literal(0) if key is None else key
    text = sa.null() if word is None else word
    its = rows.c
    number_of = sa.func.count(sa.distinct(its.game_id)) if repeats else sa.func.count()
    games = number_of.label("games")
    query = sa.select(
        sa.literal(kind).label("kind"),
        sa.cast(number, sa.BigInteger).label("key"),
        sa.cast(text, sa.String).label("word"),
        games,
        *(
            sa.func.sum(sa.case((its.result == result, 1), else_=0)).label(result.value)
            for result in SeatResult
        ),
        sa.func.sum(its.cpu_us).label("cpu_us"),
        sa.func.sum(its.plies).label("plies"),
        sa.func.min(its.game_id).label("first"),
        sa.func.max(its.game_id).label("last"),
    )
    grouped = number if word is None else word
    query = query.group_by(grouped) if key is not None or word is not None else query
    if most is None:
        return query.having(sa.func.count() > 0)
    best = query.order_by(games.desc()).limit(most).subquery()
    return sa.select(best)


def _moments(session: Session, *games: int) -> list[datetime | None]:
    """When some games ended."""
    its = sa.select(PlayedGame.id, PlayedGame.finished).where(PlayedGame.id.in_(games))
    found = {row.id: row.finished for row in session.execute(its)}
    return [found.get(game) for game in games]


def openings_of(session: Session, games: Sequence[int]) -> dict[int, str]:
    """The openings of some games in words, by the games' numbers; empty where there is none."""
    rows = session.execute(
        sa.select(PlayedGame.id, Match.options, Match.opening, Competition.options.label("usual"))
        .join(Match, Match.id == PlayedGame.match_id)
        .join(Competition, Competition.id == PlayedGame.competition_id)
        .where(PlayedGame.id.in_(games))
    )
    return {row.id: in_words(row.usual, row.options, row.opening) for row in rows}


def in_words(usual: Mapping[str, str], options: Mapping[str, str], moves: Sequence[str]) -> str:
    """An opening in words: the options that it alone has, such as a position, and its moves.

    Args:
        usual: the options of the competition.
        options: those of the match.
    """
    own = [f"{key}={its}" for key, its in options.items() if usual.get(key) != its]
    return " ".join([*own, *moves]) or gettext("from the start")


def bots_of(session: Session, ids: Sequence[int]) -> dict[int, str]:
    """The names of some bots."""
    rows = session.execute(sa.select(Bot.id, Bot.name).where(Bot.id.in_(ids)))
    return {row.id: row.name for row in rows}


def over_games(session: Session, wanted: GameFilter, key: str) -> list[tuple[int, float]]:
    """The means of a number over stretches of the games, the oldest first.

    Returns:
        The number of the last game of each stretch, and the mean.
    """
    games, _ = _games(session, wanted, MOST_TOLD)
    value = sa.select(games.c.game_id, GameValue.value).join(
        GameValue,
        sa.and_(
            GameValue.key == key,
            GameValue.game_id == games.c.game_id,
            *([GameValue.seat == games.c.seat] if wanted.is_of_seat else []),
        ),
    )
    told = [(row.game_id, row.value) for row in session.execute(value.order_by(games.c.game_id))]
    size = max(1, -(-len(told) // POINTS))
    stretches = [told[start : start + size] for start in range(0, len(told), size)]
    return [(part[-1][0], fmean(value for _, value in part)) for part in stretches]


def over_plies(session: Session, wanted: GameFilter, key: str) -> list[tuple[int, float]]:
    """The means of a number at each ply, over the newest games, of which the records are read."""
    found = find(session, wanted.but(sort=Order.NEWEST), most=MOST_RECORDS)
    game = PlayedGame
    rows = session.execute(sa.select(game.id, game.record).where(game.id.in_(found.games)))
    told: dict[int, list[float]] = {}
    for row in rows:
        record = json.loads(text_of(session, row.id, row.record))
        for ply, values in record["values"].items():
            if key in values:
                told.setdefault(int(ply), []).append(values[key])
    return [(ply, fmean(values)) for ply, values in sorted(told.items())]
