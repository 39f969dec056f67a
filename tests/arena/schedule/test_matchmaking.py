"""Whose turn it is: the order in which competitions get the workers' time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import Any

import pytest
import sqlalchemy as sa

from arena.competitions import strength_tests
from arena.competitions.pairings import Pairing
from arena.competitions.players import NamedPlayer
from arena.competitions.strength_plans import StrengthPlan
from arena.ground.db import Database
from arena.models import (
    BotVersion,
    Competition,
    Entrant,
    Ladder,
    Match,
    OpeningPolicy,
    User,
    VersionStatus,
)
from arena.models.competitions import FIRST_GUESS_SECONDS
from arena.schedule.matchmaking import make, new_matches
from engine.openings import opening
from tests.arena.competitions.strength_simulation import OWNER
from tests.arena.simulator import CALM, START, Simulation

NOW = START + timedelta(days=1)
KEY = ("a", 1)
WITHOUT_BOOK = (OpeningPolicy.RANDOM, OpeningPolicy.EMPTY)


def furnish(database: Database) -> None:
    """Two ladders of two bots each, on which all is known but how strong they are."""
    simulation = Simulation(database, 0, CALM)
    simulation.furnish([("clobber", {"size": "4x3"}), ("clobber", {"size": "4x4"})], bots=2)
    with database.begin() as session:
        session.execute(sa.update(Entrant).values(games=100, wins=100))
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))


def order(session: sa.orm.Session, competitions: list[Competition], count: int) -> str:
    """The places in a list of the competitions for which the next matches are made."""
    made = islice(new_matches(session, NOW), count)
    return "".join(str(competitions.index(match.competition)) for match in made)


@pytest.mark.parametrize(
    ("one", "other", "turns"),
    [
        ({}, {}, "010101"),
        # Twice the weight has twice the matches.
        ({}, {"weight": 2.0}, "011011"),
        # Three matches that are under way catch up with this.
        ({"head_start": 2.5 * FIRST_GUESS_SECONDS}, {}, "111010"),
        # A match takes 30 seconds here and 100 there, with which both have had 300.
        (
            {"worker_seconds": 300.0, "matches_made": 10},
            {"worker_seconds": 100.0, "matches_made": 1, "head_start": 200.0},
            "010001",
        ),
        # Of two that have had the same, who has waited longer.
        ({"last_match": NOW - timedelta(hours=1)}, {"last_match": NOW - timedelta(hours=2)}, "10"),
        ({"last_match": NOW - timedelta(hours=1)}, {}, "10"),
    ],
    ids=["equal", "a weight", "a head start", "longer matches", "longer waiting", "never played"],
)
def test_time_is_shared_with_what_is_under_way(
    sqlite_database: Database, one: dict[str, Any], other: dict[str, Any], turns: str
) -> None:
    """The next match is of the ladder that has had the least by its weight."""
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        ladders = session.scalars(sa.select(Ladder).order_by(Ladder.name)).all()
        for ladder, values in zip(ladders, (one, other), strict=True):
            for name, value in values.items():
                setattr(ladder, name, value)
        session.flush()
        assert order(session, [*ladders], len(turns)) == turns


def test_newcomers_come_before_other_ladders_and_share_with_tests(
    sqlite_database: Database,
) -> None:
    """Until what is under way places them: two bots of 17 games of 20 have two matches of two."""
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        placed, young = session.scalars(sa.select(Ladder).order_by(Ladder.name)).all()
        its = sa.update(Entrant).where(Entrant.competition_id == young.id)
        session.execute(its.values(games=17, wins=17))
        its = sa.select(BotVersion).order_by(BotVersion.id).limit(2)
        both = [*map(NamedPlayer, session.scalars(its))]
        tests = [
            strength_tests.create(session, StrengthPlan.on(placed), *both, NOW, OWNER)
            for _ in range(2)
        ]
        competitions = [placed, young, *tests]
        for competition, matches in zip(competitions, (0, 50.3, 50, 49.5), strict=True):
            competition.head_start = matches * FIRST_GUESS_SECONDS
        session.flush()
        assert order(session, competitions, 7) == "3213210"


def test_what_was_just_made_counts_as_met(sqlite_database: Database) -> None:
    """In a race every two of three bots meet once, though nothing is played yet."""
    Simulation(sqlite_database, 0, CALM).furnish([("puzzle", {"task": "tetrominoes"})], bots=3)
    with sqlite_database.begin() as session:
        made = list(islice(new_matches(session, NOW), 4))
        assert len(made) == len({frozenset(p.entrant_id for p in m.places) for m in made}) == 3


@pytest.fixture
def ladder(sqlite_database: Database) -> Iterator[tuple[sa.orm.Session, Ladder]]:
    """A ladder of Oxono, whose totems are drawn by lot, and its session."""
    Simulation(sqlite_database, 0, CALM).furnish([("oxono", {})], bots=2)
    with sqlite_database.begin() as session:
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        yield session, session.scalars(sa.select(Ladder)).one()


def drawn(match: Match) -> tuple[object, ...]:
    """All that chance decides in a match."""
    return match.seed, match.options["totems"], tuple(match.opening)


@pytest.mark.parametrize("policy", WITHOUT_BOOK)
def test_each_match_is_drawn_anew(
    ladder: tuple[sa.orm.Session, Ladder], policy: OpeningPolicy
) -> None:
    """Its dice, its lots, and its opening if those are random; of one key they are the same."""
    session, one = ladder
    one.openings = policy
    matches = [make(session, one, Pairing((1, 2)), NOW) for _ in range(10)]
    assert one.matches_made == 10
    seeds, totems, openings = zip(*map(drawn, matches), strict=True)
    assert len(set(seeds)) == 10
    assert set(totems) == {"xc4", "xd3"}
    assert len(set(openings)) > 5 if policy is OpeningPolicy.RANDOM else set(openings) == {()}
    first, second, other = (
        make(session, one, Pairing((1, 2), key=k), NOW) for k in (KEY, KEY, ("b", 1))
    )
    assert drawn(first) == drawn(second)
    assert other.seed != first.seed


def test_each_ladder_draws_for_itself(ladder: tuple[sa.orm.Session, Ladder]) -> None:
    """The matches of one key or number have nothing in common on two ladders."""
    session, one = ladder
    found = []
    for seed in range(10):
        one.seed = seed
        found.append(drawn(make(session, one, Pairing((1, 2), key=KEY), NOW)))
    assert len({seed for seed, _, _ in found}) == 10
    assert len({moves for _, _, moves in found}) > 5


def test_a_match_is_what_its_pairing_says(ladder: tuple[sa.orm.Session, Ladder]) -> None:
    """Its opening, its fixture, and who sits where in its first game."""
    session, one = ladder
    for policy in WITHOUT_BOOK:
        one.openings = policy
        start = opening(one.variant, 7)
        pairing = Pairing((2, 1), round=3, leg=4, opening=start)
        match = make(session, one, pairing, NOW)
        assert (match.round, match.leg, match.created) == (3, 4, NOW)
        assert match.options == dict(start.variant.options)
        assert tuple(match.opening) == start.moves != ()
        assert [(place.number, place.entrant_id) for place in match.places] == [(0, 2), (1, 1)]


def test_only_a_ladders_own_matches_are_rated(ladder: tuple[sa.orm.Session, Ladder]) -> None:
    """Not those that somebody asked for, nor a test's."""
    session, one = ladder
    user = session.scalars(sa.select(User)).one()
    both = map(NamedPlayer, session.scalars(sa.select(BotVersion).order_by(BotVersion.id)))
    test = strength_tests.create(session, StrengthPlan.on(one), *both, NOW, OWNER)
    made = [
        make(session, one, Pairing((1, 2)), NOW),
        make(session, one, Pairing((1, 2)), NOW, requester=user),
        make(session, test, Pairing((3, 4)), NOW),
    ]
    assert [(m.rated, m.requester_id) for m in made] == [
        (True, None),
        (False, user.id),
        (False, None),
    ]
