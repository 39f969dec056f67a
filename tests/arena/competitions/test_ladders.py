"""Ladders: when they rest, and why nothing is played."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import islice

import pytest
import sqlalchemy as sa

from arena.competitions.kind import Moment
from arena.competitions.ladders import (
    ALL_PLACED,
    HOUSE_IN_PLACEMENT,
    PEOPLE_IN_PLACEMENT,
    UNPLAYABLE,
    UNPLAYABLE_SECONDS,
    LadderField,
    Ladders,
    Newcomer,
    is_unplayable,
    pairing_of,
)
from arena.competitions.pairings import DueMatch
from arena.formats.roster import Met, Rival, Roster
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    Worker,
)
from arena.ratings.book import NEW
from arena.schedule import leases, matchmaking
from arena.schedule.idle import why_idle
from engine import jobs
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, START, Simulation

NOW = START + timedelta(days=1)
SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture
def furnished(database: Database) -> Database:
    """A ladder of three bots, all converged, and a worker."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=3)
    with database.begin() as session:
        session.execute(sa.update(Entrant).values(games=100, wins=100, sigma=0.9))
        session.add(
            Worker(
                name="w", last_seen=NOW, slots=2, isolation="good", languages=[], format=jobs.FORMAT
            )
        )
    return database


def the_ladder(session: sa.orm.Session) -> Ladder:
    return session.scalars(sa.select(Ladder)).one()


def change_first(session: sa.orm.Session, **values: object) -> None:
    """Gives the first entrant other values than a converged one has."""
    first = session.scalars(sa.select(Entrant).order_by(Entrant.id)).first()
    assert first is not None
    for name, value in values.items():
        setattr(first, name, value)


@pytest.mark.parametrize(
    ("values", "rests"),
    [
        ({}, True),
        ({"sigma": 1.1}, False),
        ({"sigma": 2.0, "games": 200, "wins": 200}, True),
        ({"games": 10, "wins": 10}, False),
        ({"sigma": 5.0, "state": EntrantState.RETIRED}, True),
    ],
    ids=["converged", "unsure", "unsure for ever", "a newcomer", "retired"],
)
@SQLITE
def test_a_settled_ladder_plays_a_match_now_and_then(
    furnished: Database, values: dict[str, object], rests: bool
) -> None:
    """One, and the next when it has rested; a newcomer or a doubt wakes it.

    So does a clock that is set back: it would else rest until the old time comes again.
    """
    with furnished.begin() as session:
        change_first(session, **values)
        made = [
            next(
                matchmaking.new_matches(
                    session, NOW + timedelta(seconds=after), trickle_seconds=60
                ),
                None,
            )
            for after in (0, 59, 61, -3600, -3541)
        ]
        is_made = [match is not None for match in made]
        assert is_made == [True, not rests, True, True, not rests]


AT_REST: list[tuple[dict[str, object], dict[str, object], bool]] = [
    # What an entrant and the ladder have other than a converged one whose last match was just made,
    # and whether a statement alone says that it rests.
    ({}, {}, True),
    ({"sigma": 1.0}, {}, True),
    ({"sigma": 1.0001}, {}, False),
    ({"sigma": 1.1, "games": 199, "wins": 199}, {}, False),
    ({"sigma": 1.1, "games": 200, "wins": 200}, {}, True),
    ({"sigma": 1.1, "games": 300, "wins": 300, "games_before": 101}, {}, False),
    ({"games": 19, "wins": 19}, {}, False),
    ({"games": 20, "wins": 20}, {}, True),
    ({"games_before": 81}, {}, False),
    ({"games_before": 80}, {}, True),
    ({"sigma": 5.0, "state": EntrantState.SUSPENDED}, {}, True),
    ({}, {"last_match": None}, False),
    ({}, {"last_match": NOW - timedelta(seconds=59)}, True),
    ({}, {"last_match": NOW - timedelta(seconds=60)}, False),
    ({}, {"last_match": NOW + timedelta(seconds=59)}, True),
    ({}, {"last_match": NOW + timedelta(seconds=60)}, False),
]


@pytest.mark.parametrize(("values", "others", "rests"), AT_REST)
@SQLITE
def test_a_ladder_that_rests_is_not_even_read(
    furnished: Database, values: dict[str, object], others: dict[str, object], rests: bool
) -> None:
    """And that it rests is what its matchmaker would have found (`Rival.is_converged`)."""
    with furnished.begin() as session:
        change_first(session, **values)
        ladder = the_ladder(session)
        ladder.last_match = NOW
        for name, value in others.items():
            setattr(ladder, name, value)
        session.flush()
        its = sa.select(Ladder.id).where(Ladders().at_rest(NOW, 60))
        assert session.scalars(its).all() == [ladder.id] * rests
        made = Ladders().next_pairing(ladder, Moment(session, NOW, {}, trickle_seconds=60))
        assert (made is None) is rests
        assert session.scalars(sa.select(Ladder.id).where(Ladders().at_rest(NOW, 0))).all() == []


@pytest.mark.parametrize(("active", "rests"), [(0, True), (1, True), (2, False)])
def test_a_ladder_of_one_is_not_even_read(database: Database, active: int, rests: bool) -> None:
    """Nor one of nobody; from two on whoever knows its game says whether that is enough."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=3)
    with database.begin() as session:
        gone = session.scalars(sa.select(Entrant).order_by(Entrant.id).offset(active)).all()
        for entrant in gone:
            entrant.state = EntrantState.RETIRED
        session.flush()
        its = sa.select(Ladder.id).where(Ladders().at_rest(NOW, 60))
        assert len(session.scalars(its).all()) == rests
        assert (next(matchmaking.new_matches(session, NOW), None) is None) is rests


def pause(session: sa.orm.Session) -> None:
    the_ladder(session).state = CompetitionState.PAUSED


def freeze(session: sa.orm.Session) -> None:
    the_ladder(session).state = CompetitionState.FROZEN


def close(session: sa.orm.Session) -> None:
    the_ladder(session).state = CompetitionState.CLOSED


def empty(session: sa.orm.Session) -> None:
    session.execute(sa.update(Entrant).values(state=EntrantState.RETIRED))


def leave_one(session: sa.orm.Session) -> None:
    empty(session)
    change_first(session, state=EntrantState.ACTIVE)


def rest(session: sa.orm.Session) -> None:
    match = next(matchmaking.new_matches(session, NOW), None)
    assert match is not None
    match.status = JobStatus.VOID


def race(session: sa.orm.Session) -> None:
    ladder = the_ladder(session)
    ladder.game, ladder.options = "puzzle", {"task": "tetrominoes"}
    ids = session.scalars(sa.select(Entrant.id).order_by(Entrant.id)).all()
    for one, other in ((0, 1), (0, 2), (1, 2)):
        session.add(
            Meeting(first_id=ids[one], second_id=ids[other], competition_id=ladder.id, matches=1)
        )


def disturb(session: sa.orm.Session) -> None:
    change_first(session, sigma=5.0)


def no_worker(session: sa.orm.Session) -> None:
    disturb(session)
    session.execute(sa.update(Worker).values(last_seen=NOW - timedelta(minutes=5)))


def bad_worker(session: sa.orm.Session) -> None:
    disturb(session)
    session.execute(sa.update(Worker).values(set_aside=NOW))


def weak_worker(session: sa.orm.Session) -> None:
    disturb(session)
    session.execute(sa.update(Worker).values(isolation="reduced"))


@pytest.mark.parametrize(
    ("arrange", "words"),
    [
        (pause, "The ladder is paused: no matches are made for now."),
        (freeze, "The ladder is frozen: it takes no bots and plays no games."),
        (close, "The ladder is closed: this is its final table."),
        (empty, "A match takes 2 active bots, and there is none."),
        (leave_one, "A match takes 2 active bots, and there is one."),
        (race, "Every two of these bots have met; a new bot or version will race again."),
        (rest, "Every rating is known well, so that a match is played only now and then."),
        (no_worker, "No worker is there to play."),
        (bad_worker, "Every worker is set aside, since it failed again and again."),
        (
            weak_worker,
            "The boxes of the workers are too weak (reduced): this arena asks for good isolation.",
        ),
        (disturb, "The workers play elsewhere; its turn will come."),
    ],
)
@SQLITE
def test_a_ladder_says_why_it_is_idle(furnished: Database, arrange: object, words: str) -> None:
    """One sentence, the first reason that holds."""
    assert callable(arrange)
    with furnished.begin() as session:
        arrange(session)
        assert why_idle(session, the_ladder(session), Settings(), NOW) == words


@SQLITE
def test_a_reason_goes_with_no_match(furnished: Database) -> None:
    """Whenever a ladder gives a reason of its own, no match of it is made, and else one is."""
    for arrange in (pause, freeze, close, empty, leave_one, race, rest, disturb):
        with furnished.begin() as session:
            arrange(session)
            session.flush()
            reason = Ladders().why_idle(session, the_ladder(session), NOW, 60)
            match = next(matchmaking.new_matches(session, NOW, trickle_seconds=60), None)
            assert (match is None) == (reason is not None), arrange.__name__
            session.rollback()


@pytest.mark.parametrize("state", [CompetitionState.FROZEN, CompetitionState.CLOSED])
@SQLITE
def test_a_ladder_that_stands_still_calls_its_matches_off(
    furnished: Database, state: CompetitionState
) -> None:
    """Nothing changes its table any more: what is under way is void, and what is said of it stale.

    A paused ladder plays them to their end.
    """
    with furnished.begin() as session:
        matches = [next(matchmaking.new_matches(session, NOW), None) for _ in range(2)]
        assert all(matches)
        job = issued(session, matches[0], Settings(), NOW)
        the_ladder(session).state = CompetitionState.PAUSED
        leases.call_off(session)
        assert {m.status for m in session.scalars(sa.select(Match))} == {
            JobStatus.OPEN,
            JobStatus.ISSUED,
        }
        the_ladder(session).state = state
        leases.call_off(session)
        found = session.scalars(sa.select(Match)).all()
        assert {m.status for m in found} == {JobStatus.VOID}
        assert {m.problem for m in found} == {f"the ladder is {state}"}
        assert leases.find_issued(session, job.lease) is None


@SQLITE
def test_who_is_in_matches_set_aside_is_not_due_for_ever(furnished: Database) -> None:
    """A bot whose matches all fail does not take every turn."""
    with furnished.begin() as session:
        change_first(session, games=90, wins=90)
        turns = []
        for turn in range(20):
            # A ladder of which nothing comes rests after each.
            now = NOW + timedelta(seconds=turn * UNPLAYABLE_SECONDS)
            match = next(matchmaking.new_matches(session, now), None)
            assert match is not None
            match.status = JobStatus.SET_ASIDE
            turns.append({place.entrant_id for place in match.places})
        assert not set.intersection(*turns)


@pytest.mark.parametrize(
    ("rated", "aside", "counts"),
    [(True, False, True), (True, True, True), (False, False, True), (False, True, False)],
)
def test_what_counts_as_played(rated: bool, aside: bool, counts: bool) -> None:
    """Who asked for a match that can't be played takes no turn of the ladder's."""
    assert DueMatch((1, 2), rated, aside).counts_as_played is counts


@SQLITE
def test_as_many_matches_as_bots_tell_that_nothing_can_be_played(furnished: Database) -> None:
    """All of the last ones, and at least three; one that was played tells the contrary."""
    with furnished.begin() as session:
        ladder = the_ladder(session)
        made = [next(matchmaking.new_matches(session, NOW)) for _ in range(5)]
        session.flush()
        played, *others = made
        played.status, played.seq = JobStatus.FIXED, 1
        for aside, match in enumerate(others, 1):
            match.status = JobStatus.SET_ASIDE
            session.flush()
            found = [is_unplayable(session, ladder, bots) for bots in (2, 3, 4, 5)]
            assert found == [aside >= 3, aside >= 3, aside >= 4, False]
        session.execute(sa.update(Entrant).values(games=0, wins=0))
        assert not is_unplayable(session, ladder, 2)


UNPLAYABLE_FOR: list[tuple[int, int, float, int]] = [
    (3, 2, 1.1, 0),
    (3, 3, 1.1, 300),
    (5, 4, 1.1, 0),
    (5, 5, 1.1, 300),
    # One of which all is known well waits longer anyway, and does so still.
    (3, 3, 0.9, 600),
]


@pytest.mark.parametrize(("bots", "aside", "sigma", "seconds"), UNPLAYABLE_FOR)
def test_what_cannot_be_played_is_tried_every_five_minutes(
    sqlite_database: Database, bots: int, aside: int, sigma: float, seconds: int
) -> None:
    """Once as many matches as it has bots, and at least three, are set aside: docs/ladders.md."""
    Simulation(sqlite_database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=bots)
    with sqlite_database.begin() as session:
        session.execute(sa.update(Entrant).values(games=100, wins=100, sigma=sigma))
        for match in list(islice(matchmaking.new_matches(session, NOW), aside)):
            match.status = JobStatus.SET_ASIDE
        session.flush()
        for after in (0, 299, 300, 599, 600):
            now = NOW + timedelta(seconds=after)
            reason = Ladders().why_idle(session, the_ladder(session), now, 600)
            assert reason == (UNPLAYABLE if after < seconds else None)


ONE = DueMatch((1, 2), rated=True)
URGENT: list[tuple[list[tuple[int, bool]], list[DueMatch], int]] = [
    ([], [], ALL_PLACED),
    ([(19, False)], [], PEOPLE_IN_PLACEMENT),
    ([(19, True)], [], HOUSE_IN_PLACEMENT),
    ([(3, True), (3, False)], [], PEOPLE_IN_PLACEMENT),
    # A match of two has two games, which are 20 of 20 or one too few.
    ([(18, False)], [ONE], ALL_PLACED),
    ([(17, False)], [ONE], PEOPLE_IN_PLACEMENT),
    ([(18, False), (18, True)], [DueMatch((1, 3), rated=True)], HOUSE_IN_PLACEMENT),
    ([(18, False)], [replace(ONE, is_set_aside=True)], ALL_PLACED),
    ([(18, False)], [replace(ONE, rated=False, is_set_aside=True)], PEOPLE_IN_PLACEMENT),
]


@pytest.mark.parametrize(("young", "due", "wanted"), URGENT)
def test_newcomers_make_a_ladder_urgent(
    young: list[tuple[int, bool]], due: list[DueMatch], wanted: int
) -> None:
    """Until what is due places them, after 20 games; those of people before the house's."""
    ladder = Ladder(game="clobber", options={})
    rivals = [Rival(number, NEW, games) for number, (games, _) in enumerate(young, 1)]
    field = LadderField(ladder, Roster([*rivals, Rival(9, NEW, 99)]), Met(), due)
    newcomers = [Newcomer(number, house) for number, (_, house) in enumerate(young, 1)]
    assert field.urgency(newcomers) == wanted


@pytest.mark.parametrize(("game", "games"), [("clobber", 2), ("blokus", 4)])
def test_what_is_due_counts_as_finished(game: str, games: int) -> None:
    """As a game from every seat, and as met if it is rated; but for what is asked for in vain."""
    first, second = (Rival(number, NEW, 10) for number in (1, 2))
    for rated, aside, played, met in (
        (True, False, games, 1),
        (True, True, games, 1),
        (False, False, games, 0),
        (False, True, 0, 0),
    ):
        due = [DueMatch((1, 2), rated, aside)]
        field = LadderField(Ladder(game=game, options={}), Roster([first, second]), Met(), due)
        assert [rival.games for rival in field.roster.all] == [10 + played] * 2
        assert field.met.times(first, second) == met


def test_each_match_of_a_ladder_is_drawn_by_its_number() -> None:
    """The same one again by the same number, and not always the same two."""
    ladder = Ladder(game="clobber", options={}, seed=1)
    field = LadderField(ladder, Roster(Rival(number, NEW, 0) for number in range(1, 11)), Met(), [])
    drawn = []
    for ladder.matches_made in range(20):
        drawn.append(pairing_of(ladder, field, NOW, 60))
        assert pairing_of(ladder, field, NOW, 60) == drawn[-1]
    assert len({frozenset(one.entrants) for one in drawn if one}) > 1


IDLE: list[tuple[str, int, list[tuple[int, int]], str | None]] = [
    ("clobber", 2, [], None),
    # Where the same two play another game each time, who has met meets again.
    ("clobber", 2, [(1, 2)], None),
    ("blokus", 3, [], "A match takes 4 active bots, and there are 3."),
    ("puzzle", 1, [], "A match takes 2 active bots, and there is one."),
    ("puzzle", 2, [], None),
    ("puzzle", 3, [(1, 2), (1, 3)], None),
]


@pytest.mark.parametrize(("game", "bots", "met", "reason"), IDLE)
def test_a_ladder_of_few_plays_if_it_can(
    sqlite_database: Database, game: str, bots: int, met: list[tuple[int, int]], reason: str | None
) -> None:
    """With just as many bots as a match takes; in a race only who has not met."""
    Simulation(sqlite_database, 0, CALM).furnish([(game, {})], bots=bots)
    with sqlite_database.begin() as session:
        ladder = the_ladder(session)
        for one, other in met:
            session.add(Meeting(first_id=one, second_id=other, competition_id=ladder.id, matches=1))
        session.flush()
        assert Ladders().why_idle(session, ladder, NOW, 60) == reason


def test_what_comes_of_other_ladders_is_none_of_ones_own(sqlite_database: Database) -> None:
    """Two have two bots each: matches of the first were set aside, of the other played."""
    Simulation(sqlite_database, 0, CALM).furnish([("clobber", {}), ("oxono", {})], bots=2)
    with sqlite_database.begin() as session:
        session.execute(sa.update(Entrant).values(games=100, wins=100))
        ladders = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()
        for seq, match in enumerate(list(islice(matchmaking.new_matches(session, NOW), 6)), 1):
            match.status = JobStatus.SET_ASIDE
            if match.competition == ladders[1]:
                match.status, match.seq = JobStatus.FIXED, seq
        session.flush()
        assert [is_unplayable(session, ladder, 2) for ladder in ladders] == [True, False]
