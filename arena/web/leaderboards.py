"""The leaderboard of a ladder, read with a fixed number of statements.

Of everybody on the ladder only what ranks them is read; the rest only of those that are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, joinedload

from arena.competitions.ranks import active_on, games_to_be_ranked, needed_games
from arena.models import (
    Bot,
    BotVersion,
    Entrant,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    PlayedGame,
    User,
)
from arena.ratings.trueskill import Rating
from arena.score import Score
from arena.web import queries
from arena.web.words import display

TREND_GAMES = 30
"""A trend shows so many of an entrant's games."""
MOVEMENT_GAMES = 200
"""A rank is compared with the one before so many games of the ladder."""
PAGE_BOTS = 50
"""A page of a board shows so many ranked bots, and so many in placement."""


Rated = sa.Row[int, float, int]
"""Of an entrant only what ranks it (see `_field`)."""


@dataclass(frozen=True, slots=True)
class Line:
    """An entrant on the board of its ladder."""

    entrant: Entrant
    rank: int | None
    """None while it is in placement."""
    climbed: int = 0
    """How many ranks it gained lately; negative if it lost some."""
    trend: tuple[float, ...] = ()
    """Its display rating after each of its last games, oldest first."""
    against: Score | None = None
    """What it did against the picked bot."""

    @property
    def rating(self) -> Rating:
        """What is believed of it."""
        return Rating(self.entrant.mu, self.entrant.sigma)

    @property
    def score(self) -> float:
        """Points a game, from 0 to 1."""
        return self.entrant.points / self.entrant.games if self.entrant.games else 0.0

    @property
    def fault_share(self) -> float:
        """Faults a game."""
        return self.entrant.faults / self.entrant.games if self.entrant.games else 0.0


@dataclass(frozen=True, slots=True)
class View:
    """What somebody wants to see of a board."""

    sort: str = "rank"
    """A key of `SORTS` for the ranked bots."""
    page: int | None = None
    """Of the ranked bots, from 1; None is all of them at once."""
    bot: str = ""
    """A part of the names wanted."""
    owner: str = ""
    language: str = ""
    picked_id: int | None = None
    """An active entrant; every line gains its games against that one."""

    @property
    def is_filtered(self) -> bool:
        """Whether some bots are left out."""
        return bool(self.bot or self.owner or self.language)


@dataclass(frozen=True, slots=True)
class Board:
    """A ladder's leaderboard, or a page of it."""

    ladder: Ladder
    view: View
    ranked: tuple[Line, ...]
    placement: tuple[Line, ...]
    """Those nearest to a place on the board."""
    field_count: int
    """How many bots are paired on the ladder."""
    ranked_count: int
    """How many of them have a place on the board."""
    found_count: int
    """How many of these the view's filters let through."""
    placement_count: int
    """How many of those in placement they let through."""
    games_to_be_ranked: int
    picked: Entrant | None
    """Whose games against everyone the lines show."""
    running: int
    """Matches that a worker plays now."""

    @property
    def pages(self) -> int:
        """How many pages the ranked bots take."""
        return max(1, -(-self.found_count // PAGE_BOTS))


SORTS: Mapping[str, sa.ColumnElement[Any]] = {
    "rank": Entrant.conservative.desc(),
    "bot": sa.func.lower(Bot.name),
    "version": BotVersion.created.desc(),
    "rating": Entrant.mu.desc(),
    "games": Entrant.games.desc(),
    "score": (Entrant.points / sa.func.nullif(Entrant.games, 0)).desc(),
    "faults": (sa.cast(Entrant.faults, sa.Double) / sa.func.nullif(Entrant.games, 0)).desc(),
    "last": Entrant.last_game.desc(),
}
"""The orders in which ranked bots can be shown, each with what people look for at the top."""


def board(session: Session, ladder: Ladder, view: View = View()) -> Board:
    """A ladder's leaderboard, ranked by what is surely believed of each: mu - 3 sigma."""
    field = _field(session, ladder)
    needed = games_to_be_ranked(ladder, len(field))
    ranks = {row.id: rank for rank, row in enumerate(_ranked(field, needed), start=1)}
    in_placement = [row.id for row in field if row.id not in ranks]
    order = list(ranks)
    if view.is_filtered or view.sort != "rank":
        wanted = _wanted(session, ladder, view)
        order = [entrant for entrant in wanted if entrant in ranks]
        placed = set(wanted)
        in_placement = [entrant for entrant in in_placement if entrant in placed]
    found, waiting = len(order), len(in_placement)
    if view.page is not None:
        order = order[(view.page - 1) * PAGE_BOTS : view.page * PAGE_BOTS]
        in_placement = in_placement[:PAGE_BOTS]
    pick = [row.id for row in field if row.id == view.picked_id]
    shown = _load(session, [*order, *in_placement, *pick])
    picked = shown[pick[0]] if pick else None
    trends = _trends(session, order)
    climbed = _climbed(session, ladder, field, ranks)
    against = queries.scores_against(session, [picked.id]) if picked else {}

    def line(entrant_id: int) -> Line:
        return Line(
            shown[entrant_id],
            ranks.get(entrant_id),
            climbed.get(entrant_id, 0),
            tuple(trends.get(entrant_id, ())),
            against[entrant_id].turned if entrant_id in against else None,
        )

    return Board(
        ladder,
        view,
        tuple(map(line, order)),
        tuple(map(line, in_placement)),
        field_count=len(field),
        ranked_count=len(ranks),
        found_count=found,
        placement_count=waiting,
        games_to_be_ranked=needed,
        picked=picked,
        running=count_running(session, ladder),
    )


def _field(session: Session, ladder: Ladder) -> Sequence[Rated]:
    """What ranks the active entrants of a ladder, the first first."""
    return session.execute(
        sa.select(Entrant.id, Entrant.conservative, Entrant.games)
        .where(active_on(ladder.id))
        .order_by(Entrant.conservative.desc(), Entrant.id)
    ).all()


def _ranked(field: Sequence[Rated], needed: int) -> list[Rated]:
    """Those that have a place on the board."""
    return [row for row in field if row.games >= needed]


def _wanted(session: Session, ladder: Ladder, view: View) -> Sequence[int]:
    """The active entrants that a view's filters let through, in its order."""
    query = (
        sa.select(Entrant.id)
        .join(Entrant.version)
        .join(BotVersion.bot)
        .join(Bot.owner)
        .where(active_on(ladder.id))
        .order_by(sa.nulls_last(SORTS[view.sort]), Entrant.id)
    )
    if view.bot:
        query = query.where(Bot.name.icontains(view.bot, autoescape=True))
    if view.owner:
        query = query.where(User.name == view.owner)
    if view.language:
        query = query.where(BotVersion.language == view.language)
    return session.scalars(query).all()


def _load(session: Session, ids: Sequence[int]) -> dict[int, Entrant]:
    """Entrants with all that a line shows of them, by their ids."""
    bot = joinedload(Entrant.version).joinedload(BotVersion.bot)
    found: dict[int, Entrant] = {}
    # SQLite takes 32,766 parameters of a statement at most.
    for start in range(0, len(ids), 10_000):
        part = sa.select(Entrant).where(Entrant.id.in_(ids[start : start + 10_000]))
        for entrant in session.scalars(part.options(bot.joinedload(Bot.owner))):
            found[entrant.id] = entrant
    return found


def languages(session: Session, ladder: Ladder) -> Sequence[str]:
    """What the active bots of a ladder are written in."""
    return session.scalars(
        sa.select(BotVersion.language)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .where(active_on(ladder.id))
        .distinct()
        .order_by(BotVersion.language)
    ).all()


def leaders(session: Session, ladders: Sequence[Ladder]) -> dict[int, Entrant]:
    """Who is first on each ladder's board, by the ladder's id."""
    races = [ladder.id for ladder in ladders if ladder.variant.seats == 1]
    field = sa.select(sa.func.count()).where(active_on(Ladder.id)).scalar_subquery()
    needed = needed_games(races, Ladder.id, field)
    first = (
        sa.select(Entrant.id)
        .where(active_on(Ladder.id), Entrant.games >= needed)
        .order_by(Entrant.conservative.desc(), Entrant.id)
        .limit(1)
        .correlate(Ladder)
        .scalar_subquery()
    )
    asked = sa.select(first).select_from(Ladder).where(Ladder.id.in_([one.id for one in ladders]))
    found = [entrant for entrant in session.scalars(asked) if entrant is not None]
    return {entrant.competition_id: entrant for entrant in _load(session, found).values()}


def count_running(session: Session, ladder: Ladder) -> int:
    """How many matches of a ladder a worker plays now."""
    query = (
        sa.select(sa.func.count())
        .select_from(Match)
        .where(
            Match.competition_id == ladder.id,
            Match.status == JobStatus.ISSUED,
            Match.worker.is_not(None),
        )
    )
    return session.scalar(query) or 0


def _climbed(
    session: Session, ladder: Ladder, field: Sequence[Rated], ranks: Mapping[int, int]
) -> dict[int, int]:
    """How many ranks each gained over the ladder's last games, among those that are ranked now."""
    last = (
        sa.select(PlayedGame.id)
        .where(PlayedGame.competition_id == ladder.id)
        .order_by(PlayedGame.id.desc())
        .limit(MOVEMENT_GAMES)
    )
    rows = session.execute(
        sa.select(GameSeat.entrant_id, GameSeat.mu_before, GameSeat.sigma_before)
        .where(GameSeat.game_id.in_(last))
        .order_by(GameSeat.game_id.desc())
    )
    lately: dict[int, Rating] = {}
    games = Counter[int]()
    for entrant, mu, sigma in rows:
        if mu is not None and sigma is not None:
            lately[entrant] = Rating(mu, sigma)  # the oldest comes last, and stands
            games[entrant] += 1
    were_there = [row for row in field if row.id in ranks and row.games > games[row.id]]
    then = {
        row.id: lately[row.id].conservative if row.id in lately else row.conservative
        for row in were_there
    }
    order = sorted(then, key=lambda entrant: (-then[entrant], entrant))
    earlier = {entrant: rank for rank, entrant in enumerate(order)}
    return {row.id: earlier[row.id] - now for now, row in enumerate(were_there)}


def _trends(session: Session, entrants: Sequence[int]) -> dict[int, list[float]]:
    """The display ratings of some entrants after their last games, oldest first."""
    seat = aliased(GameSeat)
    # Where each entrant's last games begin is one step in an index; no others are read.
    since = (
        sa.select(seat.game_id)
        .where(seat.entrant_id == Entrant.id, seat.mu_after.is_not(None))
        .order_by(seat.game_id.desc())
        .offset(TREND_GAMES - 1)
        .limit(1)
        .correlate(Entrant)
        .scalar_subquery()
    )
    # The limit lets nobody through or out; it has PostgreSQL make that step once an entrant, and
    # not for each of its games.
    begin = (
        sa.select(Entrant.id, sa.func.coalesce(since, 0).label("game_id"))
        .where(Entrant.id.in_(entrants))
        .limit(len(entrants))
        .subquery()
    )
    rows = session.execute(
        sa.select(GameSeat.entrant_id, GameSeat.mu_after)
        .join(begin, begin.c.id == GameSeat.entrant_id)
        .where(GameSeat.game_id >= begin.c.game_id, GameSeat.mu_after.is_not(None))
        .order_by(GameSeat.game_id)
    )
    found: dict[int, list[float]] = {}
    for entrant, mu in rows:
        if mu is not None:
            found.setdefault(entrant, []).append(display(mu))
    return found
