"""Two bots, or versions, side by side: their games against each other and common opponents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, joinedload

from arena.formats.score import Score
from arena.ground.bot_names import Named
from arena.models import (
    Bot,
    BotVersion,
    Competition,
    Entrant,
    GameSeat,
    JobStatus,
    Match,
    Meeting,
    PlayedGame,
)
from arena.ratings.elo import Estimate, estimate
from arena.web import queries
from arena.web.words import opening_words, opposed
from engine.game import Variant

GAMES_READ = 10_000
"""How many of two bots' last games are counted, by their pairs of seats."""
GAMES_SHOWN = 30
COMMON_SHOWN = 30
"""How many common opponents are shown, those with the most games first."""


@dataclass(frozen=True, slots=True)
class Side:
    """A bot through all its versions, or one of them."""

    bot: Bot
    number: int | None = None
    """The version's; None for all of them."""

    @property
    def name(self) -> str:
        """The name as addresses and commands have it: ``greedy``, or ``greedy:2``."""
        return str(Named(self.bot.name, self.number))

    def entrants(self) -> sa.Select[int]:
        """The ids of its entrants in all competitions."""
        query = sa.select(Entrant.id).join(Entrant.version).where(BotVersion.bot_id == self.bot.id)
        return query if self.number is None else query.where(BotVersion.number == self.number)

    def meets(self, other: Side) -> bool:
        """Whether nobody is on both sides."""
        same = self.bot.id == other.bot.id
        return not same or None not in (self.number, other.number) and self.number != other.number


@dataclass(frozen=True, slots=True)
class Split:
    """A part of the games."""

    name: str
    score: Score


@dataclass(frozen=True, slots=True)
class VersionSplit(Split):
    """The games of two versions, by their numbers."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Common:
    """An opponent that both have met, and the score of either against it."""

    entrant: Entrant
    first: Score
    second: Score


@dataclass(frozen=True, slots=True)
class EncounterResults:
    """What two bots did against each other in one competition."""

    competition: Competition
    partial: bool
    """Whether they played more games than are counted here."""
    score: Score
    elo: Estimate | None
    """The Elo from whole matches; None if there is none. Games as allies are none against each
    other."""
    faults: tuple[int, int]
    """Games in which either left by a fault of its own."""
    seats: tuple[Split, ...]
    """The scores by the seat of the first bot."""
    openings: tuple[Split, ...]
    """The openings with the most games, by their moves."""
    versions: tuple[VersionSplit, ...]
    common: tuple[Common, ...]
    games: tuple[PlayedGame, ...]
    """The last ones, newest first."""


def competitions_of_both(session: Session, first: Side, second: Side) -> list[Competition]:
    """Where two have met, the most games first."""
    # One select for each order of the two, since for an "or" PostgreSQL reads all meetings.
    met = sa.union_all(_meetings(first, second), _meetings(second, first)).subquery()
    query = (
        sa.select(met.c.competition_id)
        .group_by(met.c.competition_id)
        .order_by(sa.func.sum(met.c.games).desc(), met.c.competition_id)
    )
    ids = list(session.scalars(query))
    found = {
        competition.id: competition
        for competition in session.scalars(sa.select(Competition).where(Competition.id.in_(ids)))
    }
    return [found[competition] for competition in ids]


def _meetings(first: Side, second: Side) -> sa.Select[int, int]:
    """The meetings of two sides in which the versions of one come first."""
    return sa.select(Meeting.competition_id, Meeting.games).where(
        Meeting.first_id.in_(first.entrants()),
        Meeting.second_id.in_(second.entrants()),
        Meeting.games > 0,
    )


def results_in(
    session: Session, first: Side, second: Side, competition: Competition
) -> EncounterResults:
    """What two, of which neither is of the other, did against each other in a competition."""
    numbers: dict[int, int] = {}

    def entrants(side: Side) -> list[int]:
        here = side.entrants().add_columns(BotVersion.number)
        rows = session.execute(here.where(Entrant.competition_id == competition.id))
        found = {row.id: row.number for row in rows}
        numbers.update(found)
        return list(found)

    ones, others = entrants(first), entrants(second)
    variant = competition.variant
    found = _games(session, ones, others, variant)
    met = [row for row in found[:GAMES_READ] if _rivals(row, variant)]
    # Who holds several seats is in several rows of a game, and plays it once all the same.
    rows = list({(row.game_id, row.entrant_id, row.other_id): row for row in met}.values())
    seats = {(row.game_id, row.seat, row.other_id): row for row in met}.values()
    matches: dict[int, list[float]] = {}
    for row in rows:
        matches.setdefault(row.match_id, []).append(_points(row))
    names = variant.seat_names
    return EncounterResults(
        competition,
        len(found) > GAMES_READ,
        _score(rows),
        _elo(list(matches.values()), variant.seats),
        (
            len({row.game_id for row in met if row.fault and row.fault.is_failure}),
            len({row.game_id for row in met if row.other_fault and row.other_fault.is_failure}),
        ),
        _splits((names[row.seat], row) for row in seats),
        _splits((opening_words(variant, row.options, row.opening), row) for row in rows)[:10],
        _by_version(numbers, rows),
        _common(session, ones, others),
        tuple(queries.games_by_id(session, [row.game_id for row in rows[:GAMES_SHOWN]])),
    )


def _games(
    session: Session, ones: Sequence[int], others: Sequence[int], variant: Variant
) -> Sequence[sa.Row[Any]]:
    """Pairs of seats of two sets of entrants, the last game first: one more than are counted.

    Both sat in the same game; in a race they played the same start, each in a game of its own.
    """
    seat, other = aliased(GameSeat), aliased(GameSeat)
    game, its_game = aliased(PlayedGame), aliased(PlayedGame)
    together = game.match_id == its_game.match_id if variant.seats == 1 else game.id == its_game.id
    return session.execute(
        sa.select(
            seat.game_id,
            game.match_id,
            Match.opening,
            Match.options,
            seat.seat,
            seat.entrant_id,
            seat.rank,
            seat.fault,
            other.entrant_id.label("other_id"),
            other.seat.label("other_seat"),
            other.rank.label("other_rank"),
            other.fault.label("other_fault"),
        )
        .join(game, game.id == seat.game_id)
        .join(its_game, together)
        .join(other, other.game_id == its_game.id)
        .join(Match, Match.id == game.match_id)
        .where(
            seat.entrant_id.in_(ones),
            other.entrant_id.in_(others),
            Match.status == JobStatus.FIXED,
        )
        .order_by(seat.game_id.desc(), seat.seat)
        .limit(GAMES_READ + 1)
    ).all()


def _rivals(row: sa.Row[Any], variant: Variant) -> bool:
    """Whether two seats are on different sides, as all are in a race."""
    return variant.seats == 1 or variant.side_of[row.seat] != variant.side_of[row.other_seat]


def _points(row: sa.Row[Any]) -> float:
    return 1.0 if row.rank < row.other_rank else 0.5 if row.rank == row.other_rank else 0.0


def _score(rows: Sequence[sa.Row[Any]]) -> Score:
    counts = Counter(map(_points, rows))
    return Score(counts[1.0], counts[0.5], counts[0.0])


def _elo(matches: Sequence[Sequence[float]], seats: int) -> Estimate | None:
    """The Elo that whole matches show; of a match every game was played from another seat."""
    size = max(map(len, matches), default=0)
    whole = [sum(points) for points in matches if len(points) == size]
    if not whole or seats == 1:
        return None
    counts = [0] * (2 * size + 1)
    for points in whole:
        counts[round(2 * points)] += 1
    return estimate(counts)


def _splits(named: Iterator[tuple[str, sa.Row[Any]]]) -> tuple[Split, ...]:
    parts: dict[str, list[sa.Row[Any]]] = {}
    for name, row in named:
        parts.setdefault(name, []).append(row)
    found = [Split(name, _score(rows)) for name, rows in parts.items()]
    return tuple(sorted(found, key=lambda split: (-split.score.games, split.name)))


def _by_version(
    numbers: Mapping[int, int], rows: Sequence[sa.Row[Any]]
) -> tuple[VersionSplit, ...]:
    """The games by the versions that played them, whose numbers are given by their entrants."""
    parts: dict[tuple[int, int], list[sa.Row[Any]]] = {}
    for row in rows:
        parts.setdefault((numbers[row.entrant_id], numbers[row.other_id]), []).append(row)
    found = [
        VersionSplit(opposed([f"v{first}", f"v{second}"]), _score(its), first, second)
        for (first, second), its in parts.items()
    ]
    return tuple(sorted(found, key=lambda split: (-split.score.games, split.first, split.second)))


def _common(session: Session, ones: Sequence[int], others: Sequence[int]) -> tuple[Common, ...]:
    """The scores of both against those whom both have met."""
    tables = [queries.scores_against(session, entrants) for entrants in (ones, others)]
    both = (tables[0].keys() & tables[1].keys()) - {*ones, *others}
    chosen = sorted(both, key=lambda e: (-tables[0][e].games - tables[1][e].games, e))
    chosen = chosen[:COMMON_SHOWN]
    rivals = session.scalars(
        sa.select(Entrant)
        .where(Entrant.id.in_(chosen))
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
    )
    found = {rival.id: rival for rival in rivals}
    return tuple(Common(found[e], tables[0][e], tables[1][e]) for e in chosen)
