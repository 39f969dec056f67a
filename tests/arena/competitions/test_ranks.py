"""Ranks on boards, and the best that was ever seen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.ranks import Rank, note_best, ranks_of
from arena.ground.db import Database
from arena.models import Entrant, EntrantState, Ladder
from arena.recorder.rebuild import rebuild
from arena.web.leaderboards import leaders
from tests.arena.simulator import CALM, START, Simulation

VARIANTS = [("clobber", {"size": "4x3"}), ("puzzle", {"task": "tetrominoes"})]
ACTIVE, RETIRED = EntrantState.ACTIVE, EntrantState.RETIRED
RANKED_GAMES = 20
"""So many games a bot needs for its place on a board, says the page of every ladder."""


def later(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


@pytest.fixture
def furnished(database: Database) -> Database:
    """Two ladders of the same four bots: of Clobber, and of a puzzle."""
    Simulation(database, 0, CALM).furnish(VARIANTS, bots=4)
    return database


def field(session: Session, ladder: int) -> Sequence[Entrant]:
    query = sa.select(Entrant).join(Entrant.competition).where(Ladder.name == f"ladder-{ladder}")
    return session.scalars(query.order_by(Entrant.id)).all()


def set_field(
    session: Session,
    ladder: int,
    mus: Sequence[float],
    games: Sequence[int] = (RANKED_GAMES,) * 4,
    states: Sequence[EntrantState] = (ACTIVE,) * 4,
) -> None:
    """Gives the bots of a ladder other ratings, games and states."""
    for one, mu, played, state in zip(field(session, ladder), mus, games, states, strict=True):
        one.mu, one.sigma, one.games, one.wins, one.state = mu, 1.0, played, played, state
    session.flush()


def best(session: Session, ladder: int) -> list[tuple[int | None, datetime | None]]:
    session.expire_all()
    return [(one.best_rank, one.best_rank_at) for one in field(session, ladder)]


@pytest.mark.parametrize(
    ("mus", "games", "states", "ranks", "ranked"),
    [
        ((20, 30, 25, 35), (20,) * 4, (ACTIVE,) * 4, [4, 2, 3, 1], 4),
        ((20, 30, 25, 35), (20, 20, 20, 19), (ACTIVE,) * 4, [3, 1, 2, None], 3),
        ((20, 30, 25, 35), (20,) * 4, (ACTIVE, RETIRED, ACTIVE, ACTIVE), [3, None, 2, 1], 3),
        ((25, 25, 25, 25), (20,) * 4, (ACTIVE,) * 4, [1, 2, 3, 4], 4),
        ((20, 30, 25, 35), (0, 1, 2, 3), (ACTIVE,) * 4, [None] * 4, 0),
    ],
    ids=["all", "one in placement", "one retired", "equals by age", "nobody"],
)
def test_ranks_are_those_of_the_placed(
    furnished: Database,
    mus: Sequence[float],
    games: Sequence[int],
    states: Sequence[EntrantState],
    ranks: list[int | None],
    ranked: int,
) -> None:
    """They go by mu less three sigma, of who is active and has games enough; so does the best."""
    with furnished.begin() as session:
        set_field(session, 0, mus, games, states)
        found = ranks_of(session, field(session, 0))
        assert [found[one.id] for one in field(session, 0)] == [Rank(n, ranked) for n in ranks]
        assert note_best(session, later(0)) == sum(n is not None for n in ranks)
        assert best(session, 0) == [(n, n and later(0)) for n in ranks]


def test_a_race_ranks_by_fewer_games(furnished: Database) -> None:
    """With three rivals nobody has more than three games, on one ladder as on all of them."""
    with furnished.begin() as session:
        set_field(session, 0, (20, 30, 25, 35), (3, 3, 3, 3))
        set_field(session, 1, (20, 30, 25, 35), (3, 2, 3, 3))
        everybody = [*field(session, 0), *field(session, 1)]
        found = ranks_of(session, everybody)
        assert [found[one.id].rank for one in everybody] == [None] * 4 + [3, None, 2, 1]
        note_best(session, later(0))
        assert [rank for rank, _ in best(session, 0)] == [None] * 4
        assert [rank for rank, _ in best(session, 1)] == [3, None, 2, 1]


@pytest.mark.parametrize(
    ("games", "states", "first"),
    [
        ((3, 3, 3, 3), (ACTIVE,) * 4, 3),
        ((3, 3, 3, 2), (ACTIVE,) * 4, 1),
        ((2, 2, 2, 2), (ACTIVE,) * 4, None),
        ((2, 2, 2, 2), (ACTIVE, ACTIVE, ACTIVE, RETIRED), 1),
        ((2, 20, 2, 2), (RETIRED, ACTIVE, RETIRED, RETIRED), 1),
    ],
    ids=["all", "one in placement", "nobody", "with one rival less", "alone"],
)
def test_the_leader_of_a_race_has_its_first_rank(
    furnished: Database, games: Sequence[int], states: Sequence[EntrantState], first: int | None
) -> None:
    """The front page names nobody who is in placement on the ladder's own page."""
    with furnished.begin() as session:
        set_field(session, 0, (20, 30, 25, 35), games)
        set_field(session, 1, (20, 30, 25, 35), games, states)
        ladders = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()
        found = leaders(session, ladders)
        race = field(session, 1)
        leading = race[first] if first is not None else None
        # On the other ladder a bot needs twenty.
        assert [found.get(ladder.id) for ladder in ladders] == [
            next((one for one in field(session, 0) if one.games >= RANKED_GAMES), None),
            leading,
        ]
        ranks = ranks_of(session, race)
        assert [one for one in race if ranks[one.id].rank == 1] == [leading] * bool(leading)


def test_only_what_is_better_is_kept(furnished: Database) -> None:
    """With the moment of the first look that saw it; a look without news writes nothing."""
    with furnished.begin() as session:
        set_field(session, 0, (20, 30, 25, 35))
        assert note_best(session, later(1)) == 4
        assert note_best(session, later(2)) == 0
        set_field(session, 0, (32, 30, 25, 28))  # the ranks 1, 2, 4, 3
        assert note_best(session, later(3)) == 1
        assert best(session, 0) == [(1, later(3)), (2, later(1)), (3, later(1)), (1, later(1))]
        # Somebody leaves, and whoever was behind moves up without a game.
        set_field(session, 0, (32, 30, 25, 28), states=(RETIRED, ACTIVE, ACTIVE, ACTIVE))
        assert note_best(session, later(4)) == 1
        assert best(session, 0)[:2] == [(1, later(3)), (1, later(4))]


def test_a_rebuild_leaves_it(furnished: Database) -> None:
    """It does not follow from results, so that they can't tell that it is wrong."""
    with furnished.begin() as session:
        set_field(session, 0, (20, 30, 25, 35))
        note_best(session, later(0))
        kept = best(session, 0)
        made = rebuild(session, field(session, 0)[0].competition, write=True)
        assert not any("rank" in line for line in made.differences)
        assert [one.mu for one in field(session, 0)] == [25.0] * 4
        assert best(session, 0) == kept
