"""What stands in a tournament: who waits for whom, what is given, and how games are counted."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from arena.competitions import tournament_fields
from arena.competitions.results import Pair, _records, results, rows, to_json
from arena.competitions.tournament_matches import digest
from arena.ground.db import Database
from arena.models import CompetitionState, Entrant, EntrantState, JobStatus, Match, Tournament
from arena.ratings.bradley_terry import Strength
from arena.ratings.result import GameResult
from arena.schedule import verdicts
from arena.schedule.matchmaking import new_matches
from tests.arena.competitions.tournament_simulation import ORGANISER, TournamentSimulation
from tests.arena.simulator import CALM, START


@pytest.fixture
def arena(sqlite_database: Database) -> TournamentSimulation:
    """A ladder of four bots, and nothing else."""
    return TournamentSimulation(sqlite_database, 1, CALM, "clobber", 4, size="4x3")


def the_cup(session: sa.orm.Session) -> Tournament:
    """The only tournament."""
    return session.scalars(sa.select(Tournament)).one()


def withdraw(session: sa.orm.Session, bot: str) -> None:
    """Takes a bot out in the midst of it."""
    cup = the_cup(session)
    entrant = tournament_fields.find_entrant(session, cup, bot)
    assert tournament_fields.withdraw(session, cup, entrant, "it left", START, ORGANISER)


HELD_UP: list[tuple[set[int], set[tuple[int, int]], bool]] = [
    (set(), set(), False),
    ({1}, set(), False),
    ({1, 2}, set(), True),
    (set(), {(1, 2), (1, 3)}, False),
    (set(), {(1, 2), (1, 3), (2, 3)}, True),
    ({1}, {(2, 3)}, True),
]


@pytest.mark.parametrize(("suspended", "aside", "is_held_up"), HELD_UP)
def test_what_nothing_can_be_played_before(
    arena: TournamentSimulation,
    suspended: set[int],
    aside: set[tuple[int, int]],
    is_held_up: bool,
) -> None:
    """Three meet each other: each match is set aside, or somebody in it is suspended."""
    arena.create("cup", "round-robin", top=3)
    with arena.database.begin() as session:
        its = sa.select(Entrant).where(Entrant.competition_id == the_cup(session).id)
        for entrant in session.scalars(its.where(Entrant.number.in_(suspended))):
            entrant.state, entrant.reason = EntrantState.SUSPENDED, "it crashed"
        list(new_matches(session, START))
        session.flush()
        session.expire_all()
        for match in session.scalars(sa.select(Match)):
            numbers = tuple(sorted(place.entrant.number for place in match.places))
            assert suspended.isdisjoint(numbers)
            match.status = JobStatus.SET_ASIDE if numbers in aside else JobStatus.OPEN
        session.flush()
        found = results(session, the_cup(session))
        assert found.is_held_up is is_held_up
        assert {one.number for one in found.suspended} == suspended
        assert len(found.set_aside) == len(aside)
        assert {found.withdrawn(number) for number in found.entrants} == {None}


def test_nobody_waits_for_what_is_never_played(arena: TournamentSimulation) -> None:
    """Neither for a walkover, nor for anything once all is played."""
    arena.create("cup", "round-robin", top=3)
    with arena.database.begin() as session:
        for match in list(new_matches(session, START)):
            match.status = JobStatus.SET_ASIDE
        withdraw(session, "bot-0")
        found = results(session, the_cup(session))
        waiting = [pair for each in found.rounds for pair in each.pairs if pair.is_waiting]
        assert [set(pair.fixture.entrants) for pair in waiting] == [{2, 3}]
        assert found.is_held_up
        assert found.suspended == []
    arena.play_out(5)
    with arena.database.read() as session:
        found = results(session, the_cup(session))
        assert not found.is_held_up
        assert found.current_round == found.rounds[-1]


def test_a_round_is_the_current_one_until_all_of_it_is_played(arena: TournamentSimulation) -> None:
    """Though one of its matches is."""
    arena.create("cup", "round-robin")
    arena.play_out(5)
    with arena.database.read() as session:
        found = results(session, the_cup(session))
    first, *later = found.rounds
    played, other = first.pairs
    half = replace(first, pairs=(played, Pair(other.fixture)))
    assert replace(found, rounds=(half, *later)).current_round == half
    assert replace(found, rounds=(first, *later)).current_round == later[-1]


GIVEN: list[tuple[str, str, dict[int, float]]] = [
    ("round-robin", "bot-0", {1: 0.0, 2: 2.0, 3: 2.0, 4: 2.0}),
    # The first is the candidate, whom all others meet.
    ("gauntlet", "bot-0", {1: 0.0, 2: 2.0, 3: 2.0, 4: 2.0}),
    ("gauntlet", "bot-1", {1: 2.0, 2: 0.0, 3: 0.0, 4: 0.0}),
    # In the first round the upper half meets the lower.
    ("swiss", "bot-0", {1: 0.0, 2: 0.0, 3: 2.0, 4: 0.0}),
    # The first meets the second.
    ("danish", "bot-0", {1: 0.0, 2: 2.0, 3: 0.0, 4: 0.0}),
    # The last two meet.
    ("hill", "bot-2", {1: 0.0, 2: 0.0, 3: 0.0, 4: 2.0}),
]


@pytest.mark.usefixtures("newcomers")
@pytest.mark.parametrize(
    ("format_", "gone", "points"), GIVEN, ids=[f"{row[0]} {row[1]}" for row in GIVEN]
)
def test_who_was_to_meet_the_withdrawn_is_given_a_match(
    arena: TournamentSimulation, format_: str, gone: str, points: dict[int, float]
) -> None:
    """Two points, as docs/tournaments.md says, which is one a game; none is played."""
    arena.create("cup", format_)
    with arena.database.begin() as session:
        next(new_matches(session, START))
        withdraw(session, gone)
        found = results(session, the_cup(session))
    assert {line.number: line.points for line in found.standings} == points
    assert {line.games for line in found.standings} == {0}
    assert {line.number: line.share * 2 for line in found.standings} == points
    last = {number: sum(course[-1:]) for number, course in found.points_by_round.items()}
    assert last == points


def test_who_leaves_a_match_of_three_forfeits_it_alone(sqlite_database: Database) -> None:
    """Three meet in each of two rounds, in three games a match; none is played."""
    arena = TournamentSimulation(sqlite_database, 1, CALM, "blokus", 3, mode="trio")
    arena.create("cup", "balanced", rounds=2)
    with arena.database.begin() as session:
        next(new_matches(session, START))
        withdraw(session, "bot-1")
        cup = the_cup(session)
        found = rows(results(session, cup))
        assert cup.state is CompetitionState.CLOSED
    assert {row["bot"]: (row["points"], row["games"], row["unplayed"]) for row in found} == {
        "bot-0": (0, 0, 0),
        "bot-1": (0, 0, 6),
        "bot-2": (0, 0, 0),
    }


def test_what_is_given_in_a_swiss_counts_as_a_bye(arena: TournamentSimulation) -> None:
    """Of three in two rounds, of whom the first leaves in the first: the second is given that round
    and the third sits it out, for two points each, and in the next round they meet.

    By FIDE's handbook of 2020, C.02 13.15.2: who is imagined in such a round has had 0 of its two
    points and draws the next one, and an opponent's points count as if that round was drawn.
    """
    arena.create("cup", "swiss", top=3, rounds=2)
    with arena.database.begin() as session:
        next(new_matches(session, START))
        withdraw(session, "bot-0")
    arena.play_out(5)
    with arena.database.read() as session:
        found = results(session, the_cup(session))
    (met,) = found.rounds[-1].pairs
    assert met.points is not None
    scored = dict(zip(met.fixture.entrants, met.points, strict=True))
    assert set(scored) == {2, 3}
    lines = {line.number: line for line in found.standings}
    for one, other in ((2, 3), (3, 2)):
        assert lines[one].points == 2 + scored[one]
        worth, imagined = 1 + scored[other], 1
        assert lines[one].tie_breaks["buchholz"] == worth + imagined
        against = scored[one] * worth + 2 * imagined
        assert lines[one].tie_breaks["sonneborn-berger"] == against
    assert (lines[1].points, lines[1].tie_breaks["buchholz"]) == (0, 0)


LEVEL: list[tuple[str, list[tuple[float, int, float]], list[set[int]]]] = [
    ("round-robin", [(3.0, 6, 1.0), (3.0, 6, 1.0), (2.0, 6, 1.0), (2.0, 6, 0.5)], [{1, 2}]),
    ("round-robin", [(3.0, 6, 1.0), (2.0, 6, 1.0), (1.0, 6, 1.0), (1.0, 6, 1.0)], [{3, 4}]),
    ("round-robin", [(2.0, 6, 1.0), (2.0, 6, 1.0), (1.0, 6, 1.0), (1.0, 6, 1.0)], [{1, 2}, {3, 4}]),
    ("round-robin", [(4.0, 6, 1.0), (3.0, 6, 1.0), (2.0, 6, 1.0), (1.0, 6, 1.0)], []),
    # Thirds may be added up in any order.
    ("round-robin", [(0.1 + 0.2, 6, 1.0), (0.3, 6, 1.0), (0.2, 6, 1.0), (0.1, 6, 1.0)], [{1, 2}]),
    # Points a game are 1/2 of the first two, and 1/4 of the others, of whom two have as many.
    ("gauntlet", [(3.0, 6, 1.0), (1.0, 2, 1.0), (1.0, 4, 0.5), (0.5, 2, 0.0)], [{1, 2}]),
]


@pytest.mark.parametrize(("format_", "told", "level"), LEVEL)
def test_the_lot_decides_where_nothing_else_does(
    arena: TournamentSimulation,
    format_: str,
    told: list[tuple[float, int, float]],
    level: list[set[int]],
) -> None:
    """There are four, by points, games and a tie-break: points decide before that, and then it."""
    arena.create("cup", format_)
    with arena.database.begin() as session:
        cup = the_cup(session)
        found = results(session, cup)
        lines = [
            replace(line, number=number, points=points, share=points / games, tie_breaks=tie_breaks)
            for number, (line, (points, games, value)) in enumerate(
                zip(found.standings, told, strict=True), 1
            )
            for tie_breaks in [{"head-to-head": value, "lot": 1 / number}]
        ]
        found = replace(found, standings=tuple(lines))
        assert found.by_lot == []
        cup.finished = START
        assert found.by_lot == [tuple(found.label(one) for one in sorted(its)) for its in level]
        shown = {row["seeding"] for row in rows(found) if row["by_lot"]}
        assert shown == set().union(*level)
        cup.reason = "the hall burnt down"
        assert cup.is_called_off
        assert found.by_lot == []


def test_a_digest_is_of_the_fixtures_in_their_order(arena: TournamentSimulation) -> None:
    """Also of one that was played anew at the end, and came out the same: docs/tournaments.md."""
    arena.create("cup", "round-robin")
    arena.play_out(5)
    with arena.database.begin() as session:
        before = digest(session, the_cup(session))
        first = results(session, the_cup(session)).rounds[0].pairs[0].match
        assert first is not None
        verdicts.void(session, ORGANISER, first.id, "the lamp fell", now=arena.now)
        assert digest(session, the_cup(session)) != before
    arena.play_out(5)
    with arena.database.read() as session:
        assert digest(session, the_cup(session)) == before


def test_programs_are_told_what_is_played_and_what_is_not(arena: TournamentSimulation) -> None:
    """They are told of a Swiss of three, in whose first round the last by seeding sits out."""
    arena.create("cup", "swiss", top=3, rounds=2)
    with arena.database.begin() as session:
        (match,) = new_matches(session, START)
        match.status = JobStatus.SET_ASIDE
        session.flush()
        told = to_json(results(session, the_cup(session)))
    assert (told["matches"], told["set_aside"], told["planned"]) == (0, 1, 2)
    assert (told["finished"], told["bracket"]) == (None, None)
    (first,) = told["rounds"]
    assert first["byes"] == [{"bot": "bot-2 v1", "points": 2.0}]
    assert told["standings"][0]["seeding"] == 3


def test_a_tie_says_who_won_by_how_much(arena: TournamentSimulation) -> None:
    """The score stands in the order of the bots."""
    arena.create("cup", "knockout")
    arena.play_out(5)
    with arena.database.read() as session:
        told = to_json(results(session, the_cup(session)))
    assert [tie["round"] for tie in told["bracket"]] == [1, 1, 2]
    for tie in told["bracket"]:
        score = dict(zip(tie["bots"], tie["score"], strict=True))
        assert score[tie["winner"]] == max(score.values())
    assert any(tie["score"][0] != tie["score"][1] for tie in told["bracket"])


def test_legs_are_counted_in_each_tie(arena: TournamentSimulation) -> None:
    """They are numbered from one, and a tie is decided once nobody plays for it any more."""
    arena.create("cup", "knockout", legs=3, extra_legs=1)
    with arena.database.read() as session:
        told = to_json(results(session, the_cup(session)))
    assert [tie["decided"] for tie in told["bracket"]] == [False] * 3
    arena.play_out(5)
    with arena.database.read() as session:
        told = to_json(results(session, the_cup(session)))
    assert [tie["decided"] for tie in told["bracket"]] == [True] * 3
    legs: dict[frozenset[str], list[int]] = {}
    for match in (match for each in told["rounds"] for match in each["matches"]):
        legs.setdefault(frozenset(match["bots"]), []).append(match["leg"])
    # One that is ahead by more than what is left needs no third.
    assert [sorted(its) in ([1, 2], [1, 2, 3], [1, 2, 3, 4]) for its in legs.values()] == [True] * 3


def test_lots_are_drawn_from_the_seed(arena: TournamentSimulation) -> None:
    """The same ones again from the same seed, and others from another; each stands by its own."""
    for name, seed in (("one", 7), ("again", 7), ("other", 8)):
        arena.create(name, "swiss", seed=seed)
    with arena.database.read() as session:
        cups = session.scalars(sa.select(Tournament).order_by(Tournament.id))
        found = [results(session, cup).standings for cup in cups]
    lots = [{line.number: line.tie_breaks["lot"] for line in lines} for lines in found]
    assert lots[0] == lots[1]
    assert not set(lots[0].values()) & set(lots[2].values())
    for lines in found:
        assert [*lines[0].tie_breaks][-1] == "lot"
        told = [line.tie_breaks["lot"] for line in lines]
        assert told == sorted(told, reverse=True)


GAMES: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], dict[int, str]]] = [
    ((1, 2), (0, 1), (1, 2), {1: "won", 2: "lost"}),
    ((2, 1), (0, 1), (1, 1), {1: "drawn", 2: "drawn"}),
    ((1, 2, 3), (0, 1, 2), (2, 1, 3), {1: "lost", 2: "won", 3: "lost"}),
    ((1, 2, 3), (0, 1, 2), (1, 3, 1), {1: "drawn", 2: "lost", 3: "drawn"}),
    ((1, 2, 3), (0, 1, 2), (1, 1, 1), {1: "drawn", 2: "drawn", 3: "drawn"}),
    # Two allies that are first are first alone, and so is one that holds two seats.
    ((1, 2, 3, 4), (0, 1, 0, 1), (2, 1, 2, 1), {1: "lost", 2: "won", 3: "lost", 4: "won"}),
    ((1, 2, 1, 2), (0, 1, 0, 1), (1, 2, 1, 2), {1: "won", 2: "lost"}),
]


@pytest.mark.parametrize(("entrants", "sides", "ranks", "wanted"), GAMES)
def test_a_game_is_won_drawn_or_lost(
    entrants: tuple[int, ...],
    sides: tuple[int, ...],
    ranks: tuple[int, ...],
    wanted: dict[int, str],
) -> None:
    """First alone, first with another side, or behind; who was not in it has none."""
    counts = {"won": (1, 0, 0), "drawn": (0, 1, 0), "lost": (0, 0, 1)}
    found = _records([1, 2, 3, 4, 5], [GameResult(entrants, sides, ranks)])
    expected = {one: counts[wanted[one]] if one in wanted else (0, 0, 0) for one in range(1, 6)}
    assert {one: record[:3] for one, record in found.items()} == expected


def test_strengths_are_told_to_a_tenth(arena: TournamentSimulation) -> None:
    """Between their limits, in this order."""
    arena.create("cup", "round-robin")
    arena.play_out(5)
    with arena.database.read() as session:
        found = results(session, the_cup(session))
        for line, row in zip(found.standings, rows(found), strict=True):
            assert line.strength is not None
            told = [row["elo_lower"], row["elo"], row["elo_upper"]]
            strength = [line.strength.lower, line.strength.elo, line.strength.upper]
            assert told == pytest.approx(strength, abs=0.0501)
            assert told == [round(one, 1) for one in told] == sorted(told)
            assert (row["seeding"], row["wins"]) == (line.number, line.wins)
            assert row["wins"] + row["draws"] + row["losses"] == row["games"] == 6


def test_no_strength_is_less_than_nothing_by_nothing(arena: TournamentSimulation) -> None:
    """A zero has no sign, be it of something less than a twentieth."""
    arena.create("cup", "round-robin", top=2)
    with arena.database.read() as session:
        found = results(session, the_cup(session))
        level = Strength(elo=-0.0, lower=-0.04, upper=0.04)
        lines = tuple(replace(line, strength=level) for line in found.standings)
        for row in rows(replace(found, standings=lines)):
            told = [row["elo"], row["elo_lower"], row["elo_upper"]]
            assert [str(one) for one in told] == ["0.0", "0.0", "0.0"]
