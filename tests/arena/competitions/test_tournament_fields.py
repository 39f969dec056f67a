"""Who plays in a tournament: entered and taken out before it begins, withdrawn after that."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from arena.audit import entries
from arena.competitions import tournament_fields
from arena.competitions.fields import entrants_of
from arena.competitions.players import named_players
from arena.competitions.results import Results, results, rows
from arena.formats.catalogue import FORMATS
from arena.ground.db import MIGRATIONS, Database
from arena.ground.refusals import Refusal
from arena.models import CompetitionState, Entrant, EntrantState, JobStatus, Match, Tournament
from arena.schedule import allocation, leases
from arena.schedule.matchmaking import new_matches
from tests.arena.competitions.tournament_simulation import (
    FOR_TWO,
    ORGANISER,
    TournamentSimulation,
)
from tests.arena.simulator import CALM, START

WHY = "its owner asked for it"


@pytest.fixture
def arena(sqlite_database: Database) -> TournamentSimulation:
    """A ladder of six bots, and nothing else."""
    return TournamentSimulation(sqlite_database, 1, CALM, "clobber", 6, size="4x3")


def the_cup(session: sa.orm.Session) -> Tournament:
    """The only tournament."""
    return session.scalars(sa.select(Tournament)).one()


def enter(session: sa.orm.Session, *names: str) -> None:
    """Enters bots."""
    versions = named_players(session, names)
    tournament_fields.enter(session, the_cup(session), versions, START, ORGANISER)


def withdraw(session: sa.orm.Session, name: str, note: str = WHY) -> bool:
    """Takes one out."""
    cup = the_cup(session)
    entrant = tournament_fields.find_entrant(session, cup, name)
    return tournament_fields.withdraw(session, cup, entrant, note, START, ORGANISER)


def field(session: sa.orm.Session) -> list[tuple[int, str]]:
    """The numbers and names of all in it."""
    cup = the_cup(session)
    its = entrants_of(session, cup)
    return [(one.number, one.version.bot.name) for one in its]


def test_a_field_changes_until_it_begins(arena: TournamentSimulation) -> None:
    """Who comes is last by seeding, who goes leaves no gap; settings follow the field."""
    arena.create("cup", "swiss", top=4)
    with arena.database.begin() as session:
        assert the_cup(session).settings["rounds"] == 2
        enter(session, "bot-5:1", "bot-4")
        assert not withdraw(session, "Bot-1", note="")
        assert field(session) == [
            (1, "bot-0"),
            (2, "bot-2"),
            (3, "bot-3"),
            (4, "bot-5"),
            (5, "bot-4"),
        ]
        # Of so many the usual number is ⌈log2 5⌉.
        assert the_cup(session).settings["rounds"] == 3
        noted = [(one.action, one.detail) for one in entries(session)][:3]
    assert noted == [
        ("withdraw from tournament", "bot-1 v1"),
        ("enter tournament", "bot-4 v1"),
        ("enter tournament", "bot-5 v1"),
    ]
    arena.play_out(5)
    with arena.database.read() as session:
        found = results(session, the_cup(session))
        assert len(found.rounds) == 3
        assert {line.number for line in found.standings} == {1, 2, 3, 4, 5}


def test_what_was_chosen_stays(arena: TournamentSimulation) -> None:
    """A number of rounds that is not the usual one is what somebody wanted, as far as the field
    has so many: nobody is kept in it by that."""
    arena.create("cup", "swiss", top=4, rounds=3)
    with arena.database.begin() as session:
        withdraw(session, "bot-3")
        assert the_cup(session).settings["rounds"] == 3
        withdraw(session, "bot-2", note="")
        assert the_cup(session).settings["rounds"] == 1
        assert entries(session)[0].detail == "bot-2 v1; rounds is 1 now"


@pytest.mark.parametrize(
    ("format_", "settings", "left"),
    [("gauntlet", {"candidates": 3}, {"candidates": 2}), ("knockout", {"third_place": 1}, {})],
)
def test_what_a_smaller_field_can_not_have_is_left_out(
    arena: TournamentSimulation, format_: str, settings: dict[str, int], left: dict[str, int]
) -> None:
    """Of four one is taken out: two of three can be candidates, and a match for the third place
    takes four."""
    arena.create("cup", format_, top=4, **settings)
    with arena.database.begin() as session:
        withdraw(session, "bot-0", note="")
        its = the_cup(session).settings
        assert {key: its[key] for key in settings} == {**dict.fromkeys(settings, 0), **left}


REFUSED = [
    ("enter", "bot-0", "the version bot-0 v1 stands in the field twice"),
    ("enter", "nobody", "there is no bot 'nobody' that is ready"),
    ("withdraw", "bot-4", "'bot-4' is not in the tournament cup"),
    ("withdraw", "bot-0:2", "'bot-0:2' is not in the tournament cup"),
    ("withdraw", "bot-0", "a match takes 2 bots, and the field has 1"),
]


@pytest.mark.parametrize(("what", "name", "words"), REFUSED, ids=[words for *_, words in REFUSED])
def test_what_is_refused_before_it_begins(
    arena: TournamentSimulation, what: str, name: str, words: str
) -> None:
    """One sentence says what is wrong, and the field stays."""
    arena.create("cup", "round-robin", top=2)
    with (
        pytest.raises((Refusal, Refusal), match=words),
        arena.database.begin() as session,
    ):
        enter(session, name) if what == "enter" else withdraw(session, name)
    with arena.database.read() as session:
        assert field(session) == [(1, "bot-0"), (2, "bot-1")]


def test_what_is_refused_once_it_began(arena: TournamentSimulation) -> None:
    """Nobody enters; who is withdrawn is withdrawn once, and with a word on why."""
    arena.create("cup", "round-robin", top=4)
    with arena.database.begin() as session:
        assert next(new_matches(session, START))
        with pytest.raises(Refusal, match="has begun, and nobody can enter it any more"):
            enter(session, "bot-5")
        with pytest.raises(Refusal, match="say why bot-0 v1 is withdrawn"):
            withdraw(session, "bot-0", note=" ")
        assert withdraw(session, "bot-0")
        with pytest.raises(Refusal, match=f"bot-0 v1 was withdrawn already: {WHY}"):
            withdraw(session, "bot-0")


LEAVING = [
    *((name, "bot-0") for name in FOR_TWO),
    # In these it matters who: one that is no candidate, and one further down the seeding.
    *((name, "bot-3") for name in ("gauntlet", "knockout")),
]


@pytest.mark.long
@pytest.mark.usefixtures("newcomers")
@pytest.mark.parametrize(("format_", "gone"), LEAVING)
def test_a_tournament_goes_on_without_who_was_withdrawn(
    arena: TournamentSimulation, format_: str, gone: str
) -> None:
    """What it has played stands, what it was playing counts, and it plays no more."""
    arena.create("cup", format_)
    arena.alive()
    arena.tick()
    arena.run(3)
    with arena.database.begin() as session:
        waiting = its_matches(session, gone, JobStatus.OPEN)
        before = its_matches(session, gone, JobStatus.FIXED, JobStatus.ISSUED)
        assert withdraw(session, gone)
        assert {one.status for one in waiting} <= {JobStatus.VOID}
        assert JobStatus.VOID not in {one.status for one in before}
    arena.play_out(5)
    with arena.database.read() as session:
        cup = the_cup(session)
        assert cup.state is CompetitionState.CLOSED
        after = its_matches(session, gone, JobStatus.FIXED)
        assert [one.id for one in after] == [one.id for one in before]
        found = results(session, cup)
        assert {pair.words for each in found.rounds for pair in each.pairs} <= {"fixed", "walkover"}
        (line,) = [row for row in rows(found) if row["withdrawn"] is not None]
        assert (line["bot"], line["withdrawn"]) == (gone, WHY)
        assert line["games"] == 2 * len(before)
        assert found.planned in (None, found.count(JobStatus.FIXED))
        if format_ == "round-robin":
            # As many points as if all had been played: two of each of the fifteen matches.
            assert sum(one.points for one in found.standings) == 30
            assert walkovers(found) == 5 - len(before)
        if format_ == "gauntlet":
            assert sum(one.points for one in found.standings) == 10


def under_way(arena: TournamentSimulation, name: str) -> int:
    """The number of a match of a bot that a worker has."""
    for _ in range(40):
        arena.run(0.5)
        with arena.database.read() as session:
            if found := its_matches(session, name, JobStatus.ISSUED):
                return found[0].id
    raise AssertionError("none in twenty seconds")


@pytest.mark.long
@pytest.mark.usefixtures("newcomers")
@pytest.mark.parametrize("format_", FOR_TWO)
def test_the_match_under_way_of_who_is_withdrawn_counts(
    arena: TournamentSimulation, format_: str
) -> None:
    """Also if its worker is lost and another plays it; nothing is over before that."""
    single = {"rounds": 1, "extra_legs": 0}
    settings = {key: single[key] for key in FORMATS[format_].settings if key in single}
    arena.create("cup", format_, top=2, **settings)
    arena.alive()
    arena.tick()
    number = under_way(arena, "bot-0")
    with arena.database.begin() as session:
        withdraw(session, "bot-0")
        assert the_cup(session).state is CompetitionState.OPEN
        leases.roll_back(session.get_one(Match, number), "its worker was lost", failed=True)
    arena.play_out(1)
    with arena.database.read() as session:
        assert session.get_one(Match, number).status is JobStatus.FIXED
        found = results(session, the_cup(session))
        assert {line.games for line in found.standings} == {2}
        assert {line.unplayed for line in found.standings} == {0}
        assert walkovers(found) == 0


def test_what_can_not_be_played_is_forfeited(arena: TournamentSimulation) -> None:
    """Who was withdrawn while it was tried loses: nobody has to decide about it."""
    arena.create("cup", "round-robin", top=2)
    arena.alive()
    arena.tick()
    number = under_way(arena, "bot-0")
    with arena.database.begin() as session:
        withdraw(session, "bot-0")
        match = session.get_one(Match, number)
        match.failures = leases.FAILURES_ALLOWED
        leases.roll_back(match, "its box broke", failed=True)
        assert match.status is JobStatus.SET_ASIDE
        allocation.schedule(session, arena.settings, arena.now)
        assert match.status is JobStatus.VOID
        assert match.problem == "somebody in it was withdrawn, and its box broke"
        cup = the_cup(session)
        assert cup.state is CompetitionState.CLOSED
        told = [(row["bot"], row["points"], row["unplayed"]) for row in rows(results(session, cup))]
        assert told == [("bot-1", 2, 2), ("bot-0", 0, 2)]


def its_matches(session: sa.orm.Session, name: str, *status: JobStatus) -> list[Match]:
    """The matches of a bot that stand so."""
    cup = the_cup(session)
    entrant = tournament_fields.find_entrant(session, cup, name)
    query = sa.select(Match).where(
        Match.status.in_(status), Match.places.any(entrant_id=entrant.id)
    )
    return list(session.scalars(query.order_by(Match.id)))


def walkovers(found: Results) -> int:
    """How many fixtures were decided without a match."""
    return sum(pair.words == "walkover" for each in found.rounds for pair in each.pairs)


def test_who_is_withdrawn_twice_at_once_is_withdrawn_once(arena: TournamentSimulation) -> None:
    """What was read before the tournament was locked may not hold any more."""
    arena.create("cup", "round-robin")
    with arena.database.begin() as session:
        assert next(new_matches(session, START))
        cup = the_cup(session)
        entrant = tournament_fields.find_entrant(session, cup, "bot-1")
        elsewhere = sa.update(Entrant).where(Entrant.id == entrant.id)
        session.execute(
            elsewhere.values(state=EntrantState.RETIRED, reason="first"),
            execution_options={"synchronize_session": False},
        )
        with pytest.raises(Refusal, match="bot-1 v1 was withdrawn already: first"):
            tournament_fields.withdraw(session, cup, entrant, WHY, START, ORGANISER)


def test_who_was_just_given_a_round_is_in_for_it(arena: TournamentSimulation) -> None:
    """Its opponent of the first round, 2-5 by Berger's table for six, left a moment before it."""
    arena.create("cup", "round-robin")
    with arena.database.begin() as session:
        assert next(new_matches(session, START))
        cup = the_cup(session)
        entrant, fifth = (
            tournament_fields.find_entrant(session, cup, name) for name in ("bot-1", "bot-4")
        )
        elsewhere = sa.update(Entrant).where(Entrant.id == fifth.id)
        session.execute(
            elsewhere.values(state=EntrantState.RETIRED, reason="first", last_round=0),
            execution_options={"synchronize_session": False},
        )
        tournament_fields.withdraw(session, cup, entrant, WHY, START, ORGANISER)
        assert entrant.last_round == 1


def test_who_is_taken_out_twice_at_once_is_taken_out_once(arena: TournamentSimulation) -> None:
    """The same before it has begun: it is no more there for the second."""
    arena.create("cup", "round-robin")
    with arena.database.begin() as session:
        cup = the_cup(session)
        entrant = tournament_fields.find_entrant(session, cup, "bot-1")
        session.execute(
            sa.delete(Entrant).where(Entrant.id == entrant.id),
            execution_options={"synchronize_session": False},
        )
        with pytest.raises(Refusal, match="bot-1 v1 is not in the tournament cup"):
            tournament_fields.withdraw(session, cup, entrant, WHY, START, ORGANISER)


@pytest.mark.long
@pytest.mark.parametrize(
    ("rounds", "kept"),
    [(1, [(1, 2.0), (2, 0.0), (3, 0.0), (4, 0.0)]), (2, [(1, 2.0), (4, 0.0)])],
)
def test_a_bye_stands_when_who_had_it_is_withdrawn(
    arena: TournamentSimulation, rounds: int, kept: list[tuple[int, float]]
) -> None:
    """Of five the last by seeding sits out the first round; it leaves while that is played, or
    once it has played in the second, and plays what it has begun in the third."""
    arena.create("cup", "swiss", top=5, rounds=4)
    arena.alive()
    arena.tick()
    bot, begun = ("bot-4", 3) if rounds == 2 else ("bot-0", 1)
    there: list[Match] = []
    while not there:
        arena.run(0.5)
        with arena.database.read() as session:
            issued = its_matches(session, bot, JobStatus.ISSUED)
            there = [match for match in issued if match.round == begun]
    with arena.database.begin() as session:
        withdraw(session, "bot-4")
    arena.play_out(5)
    with arena.database.read() as session:
        found = results(session, the_cup(session)).rounds
        byes = [bye for each in found for bye in each.byes]
    mine = [(bye.fixture.round, sum(bye.points)) for bye in byes if bye.fixture.entrants == (5,)]
    assert mine == kept


def test_a_round_that_was_set_stays_when_somebody_is_withdrawn(
    arena: TournamentSimulation,
) -> None:
    """Of five the last by seeding sits out the first round, in which 1 is to meet 3, as the upper
    half meets the lower: it is not to meet 3 then, since 1 leaves."""
    arena.create("cup", "swiss", top=5, rounds=3)
    with arena.database.begin() as session:
        assert len(list(new_matches(session, START))) == 2
        withdraw(session, "bot-0")
    arena.play_out(5)
    with arena.database.read() as session:
        first, *_ = results(session, the_cup(session)).rounds
    words = {frozenset(pair.fixture.entrants): pair.words for pair in first.pairs}
    assert words == {frozenset({1, 3}): "walkover", frozenset({2, 4}): "fixed"}
    assert [(bye.fixture.entrants, sum(bye.points)) for bye in first.byes] == [((5,), 2.0)]


def test_a_round_has_begun_though_its_only_match_is_void(arena: TournamentSimulation) -> None:
    """Of five the last by seeding sits out the first round, of which 1 against 3 is made first:
    both leave, and the bye stands as the round does."""
    arena.create("cup", "swiss", top=5, rounds=3)
    with arena.database.begin() as session:
        assert next(new_matches(session, START))
        withdraw(session, "bot-0")
        withdraw(session, "bot-4")
        first, *_ = results(session, the_cup(session)).rounds
    words = {frozenset(pair.fixture.entrants): pair.words for pair in first.pairs}
    assert words == {frozenset({1, 3}): "walkover", frozenset({2, 4}): "due"}
    assert [(bye.fixture.entrants, sum(bye.points)) for bye in first.byes] == [((5,), 2.0)]


def test_an_older_arena_learns_the_last_rounds(arena: TournamentSimulation) -> None:
    """It is told of each who was withdrawn before they were kept the last that it played in."""
    arena.create("cup", "swiss", top=4, rounds=3)
    arena.alive()
    arena.tick()
    played: list[Match] = []
    while not played:
        arena.run(0.5)
        with arena.database.read() as session:
            played = its_matches(session, "bot-0", JobStatus.FIXED)
    with arena.database.begin() as session:
        withdraw(session, "bot-0")
    with arena.database.engine.begin() as connection:
        for column in ("last_round", "last_paired"):
            connection.execute(sa.text(f"ALTER TABLE entrant DROP COLUMN {column}"))
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        # What later ones add is there.
        command.stamp(config, "0006")
        command.upgrade(config, "0008")
        command.stamp(config, "head")
    with arena.database.read() as session:
        columns = Entrant.number, Entrant.last_round, Entrant.last_paired
        found = sa.select(*columns).join(Entrant.competition)
        found = found.where(Tournament.name == "cup").order_by(Entrant.number)
        rounds = max(one.round for one in played)
        others = [(number, None, None) for number in (2, 3, 4)]
        assert session.execute(found).all() == [(1, rounds, rounds), *others]


def test_the_last_who_is_left_has_won(arena: TournamentSimulation) -> None:
    """When all others have gone nothing is due, and the tournament is over at once."""
    arena.create("cup", "knockout", top=3)
    with arena.database.begin() as session:
        assert next(new_matches(session, START))
        withdraw(session, "bot-0")
        withdraw(session, "bot-1")
        cup = the_cup(session)
        assert cup.state is CompetitionState.CLOSED
        assert next((row["bot"], row["place"]) for row in rows(results(session, cup))) == (
            "bot-2",
            1,
        )
        assert (
            session.scalar(
                sa.select(sa.func.count())
                .select_from(Entrant)
                .where(Entrant.competition_id == cup.id)
            )
            == 3
        )
