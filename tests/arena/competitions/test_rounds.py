"""Rounds of ladders: when one begins, and who rises and falls by it, counted by hand.

Moments are by the clock of the database: those that are past are laid into the table, as if the
recorder had slept.
"""

from __future__ import annotations

import threading

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.bots.deletion import BotGone, DeleteBot
from arena.competitions import rounds
from arena.competitions.date_deeds import SetDate
from arena.competitions.dates import find_date
from arena.competitions.final_tables import trophies_of
from arena.competitions.happenings import OVER
from arena.competitions.notifications import tell_ends
from arena.competitions.round_deeds import NameBoss
from arena.competitions.tournaments import call_off
from arena.deeds import perform
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    AuditEntry,
    Bot,
    CompetitionDate,
    CompetitionState,
    DateKind,
    DivisionPlace,
    Entrant,
    EntrantState,
    Ladder,
    LadderRound,
    Match,
    Notification,
    Topic,
    Tournament,
    User,
    Visibility,
)
from tests.arena.competitions.round_simulation import HOUR, USUAL, RoundField, round_field


@pytest.fixture
def field(database: Database) -> RoundField:
    return round_field(database)


def test_a_round_comes_again(field: RoundField) -> None:
    """After an outage of three and a half periods once; the next is at the next whole one."""
    field.lay(-3.5)
    assert field.tick() == [""]
    assert field.tick() == []
    with field.database.read() as session:
        ladder = field.ladder(session)
        date = find_date(session, ladder, DateKind.ROUND)
        assert date is not None
        assert (date.at, date.happened) == (field.now + 0.5 * HOUR, None)
        made = session.scalars(sa.select(Tournament)).one()
        assert date.made is made
        assert (made.name, made.within_id) == ("ladder-0-round-1", ladder.id)
        assert field.field(session, made.id) == list(range(8))
        notes = sa.select(AuditEntry.detail).where(AuditEntry.action == "date")
        assert session.scalars(notes).all() == ["round, made ladder-0-round-1"]


def test_a_round_begins_when_the_one_before_is_over(field: RoundField) -> None:
    """Else it is skipped, and that is said; a match that is made void has it go on."""
    field.begin()
    field.lay()
    assert field.tick() == ["round 1 was not over, so that none was begun"]
    field.end([range(8)])
    assert field.begin() == [list(range(8))]
    field.end([range(8)])
    with field.database.begin() as session:
        made = session.scalars(sa.select(Tournament).where(Tournament.name == "ladder-0-round-2"))
        made.one().state = CompetitionState.OPEN
    field.lay()
    assert field.tick() == ["round 2 was not over, so that none was begun"]


def test_a_round_that_can_not_be_played_is_said(field: RoundField) -> None:
    """With one bot, and on a ladder that is frozen; one that is closed has no more."""
    for bot in range(1, 8):
        field.set(bot, state=EntrantState.RETIRED)
    for size in (0, 4):
        field.lay(size=size)
        assert field.tick() == ["it takes two bots, and there is one"]
    field.set(1, state=EntrantState.ACTIVE)
    for state, said in (
        (CompetitionState.FROZEN, "the ladder was frozen, so that none was begun"),
        (CompetitionState.CLOSED, OVER),
    ):
        with field.database.begin() as session:
            field.ladder(session).state = state
        field.lay()
        assert field.tick() == [said]
    field.lay()
    assert field.tick() == [], "it has happened for the last time"


def test_two_recorders_begin_a_round_once_and_settle_it_once(field: RoundField) -> None:
    field.lay(size=4, moves=1)
    others = [Database(field.database.url) for _ in range(2)]

    def tick(database: Database) -> None:
        RoundField(database, field.simulation, field.now).tick()

    def both() -> None:
        threads = [threading.Thread(target=tick, args=(one,)) for one in others]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    both()
    with field.database.begin() as session:
        assert session.scalars(sa.select(Tournament.name).order_by(Tournament.id)).all() == [
            "ladder-0-round-1-1", "ladder-0-round-1-2"
        ]  # fmt: skip
        for one in session.scalars(sa.select(Tournament)):
            one.state, one.finished, one.placed_games = CompetitionState.CLOSED, field.now, 0
    both()
    with field.database.read() as session:
        notes = sa.select(AuditEntry.detail).where(AuditEntry.action == "round")
        assert session.scalars(notes).all() == ["round 1, rose: bot-4, fell: bot-3"]
    for one in others:
        one.engine.dispose()


def test_who_rises_and_falls(field: RoundField) -> None:
    """Three rounds of two divisions of three and one of two, by hand."""
    assert field.begin(size=3, moves=1) == [[0, 1, 2], [3, 4, 5], [6, 7]]
    field.end([[2, 0, 1], [5, 4, 3], [7, 6]])
    assert field.divisions() == [[2, 0, 5], [1, 4, 7], [3, 6]]
    assert field.begin() == [[2, 0, 5], [1, 4, 7], [3, 6]]
    field.end([[5, 0, 2], [1, 4, 7], [6, 3]])
    assert field.divisions() == [[5, 0, 1], [2, 4, 6], [7, 3]]
    assert field.begin() == [[5, 0, 1], [2, 4, 6], [7, 3]]
    with field.database.read() as session:
        told = session.scalars(sa.select(Notification).order_by(Notification.id)).all()
        assert [(one.message, one.places["bot"], one.places["division"]) for one in told][:4] == [
            (rounds.ROSE, "bot-5", 1),
            (rounds.ROSE, "bot-7", 2),
            (rounds.FELL, "bot-1", 2),
            (rounds.FELL, "bot-3", 3),
        ]


def test_a_division_may_be_larger_than_the_field(field: RoundField) -> None:
    """Then there is one, out of which nobody moves; with one bot more there are two."""
    table = [7, *range(7)]
    assert field.begin(size=99, moves=49) == [list(range(8))]
    field.end([table])
    assert field.begin(size=8, moves=4) == [table]
    field.end([table])
    assert field.begin(size=7, moves=3) == [table], "one that would be alone is in the one above"
    field.end([table])
    assert field.begin(size=6, moves=3) == [table[:6], table[6:]]


def test_who_leaves_is_followed_from_below_and_newcomers_come_last(field: RoundField) -> None:
    """Sizes stay as they were chosen; who comes back is a newcomer."""
    field.set(7, state=EntrantState.SUSPENDED)
    assert field.begin(size=3, moves=0) == [[0, 1, 2], [3, 4, 5, 6]], "6 would be alone"
    field.set(1, state=EntrantState.RETIRED)
    field.set(7, state=EntrantState.ACTIVE)
    field.end([[0, 1, 2], [3, 4, 5, 6]])
    assert field.begin() == [[0, 2, 3], [4, 5, 6, 7]]
    field.end([[0, 2, 3], [4, 5, 6, 7]])
    field.set(1, state=EntrantState.ACTIVE)
    assert field.begin(size=4) == [[0, 2, 3, 4], [5, 6, 7, 1]]
    field.end([[0, 2, 3, 4], [5, 6, 7, 1]])
    assert field.begin(size=0) == [list(range(8))]
    assert field.divisions() == []


def test_who_retired_meanwhile_does_not_rise(field: RoundField) -> None:
    field.begin(size=4, moves=1)
    field.set(4, state=EntrantState.RETIRED)
    field.end([[0, 1, 2, 3], [4, 5, 6, 7]])
    assert field.begin() == [[0, 1, 2, 5], [3, 6, 7]]


def test_nobody_escapes_by_leaving_for_a_moment(field: RoundField) -> None:
    """The last of its division retires before the round is over, and is there again for the
    next."""
    field.begin(size=4, moves=1)
    field.set(3, state=EntrantState.RETIRED)
    field.end([[0, 1, 2, 3], [4, 5, 6, 7]])
    field.set(3, state=EntrantState.ACTIVE)
    assert field.begin() == [[0, 1, 2, 4], [3, 5, 6, 7]]


def test_newcomers_play_their_placement_first(field: RoundField) -> None:
    """Where the ladder makes matches; by their ratings they come in when there are no divisions."""
    with field.database.begin() as session:
        field.ladder(session).state = CompetitionState.OPEN
    for bot, mu in ((5, 30.0), (2, 26.0), (0, 20.0), (1, 40.0)):
        games = 0 if bot == 1 else 100
        field.set(bot, mu=mu, sigma=1.0, games=games, wins=games)
    assert field.begin(size=2, moves=1) == [[5, 2, 0]]
    field.end([[5, 2, 0]])
    field.set(1, games=100, wins=100)
    assert field.begin() == [[5, 2], [0, 1]]


def test_who_has_not_beaten_the_boss_does_not_rise(field: RoundField) -> None:
    """It plays in each round and never moves, whatever its place; nobody falls in its stead."""
    field.name_boss(7, 2)
    assert field.begin(size=3, moves=1) == [[0, 1, 2], [3, 4, 5, 6, 7]], "6 would be alone"
    field.end([[0, 1, 2], [3, 7, 4, 5, 6]], {7: [4]})
    assert field.divisions() == [[0, 1, 2], [3, 4, 5, 6]]
    field.begin()
    field.end([[0, 1, 2], [7, 4, 3, 5, 6]], {7: [4]})
    assert field.divisions() == [[0, 1, 4], [2, 3, 5, 6]]
    # One bot and a boss are enough.
    with field.database.begin() as session:
        session.execute(sa.update(DivisionPlace).where(DivisionPlace.is_boss).values(division=3))
    assert field.begin() == [[0, 1, 4], [2, 3, 5], [6, 7]]


def test_a_boss_is_named_for_one_division(field: RoundField) -> None:
    """Its place among the others is kept until the next round begins, so that this can be undone;
    then whoever stands below fills it up."""
    field.begin(size=4, moves=0)
    field.end([[0, 1, 2, 3], [4, 5, 6, 7]])
    with field.database.begin() as session:
        for division, bot, words in (
            (2, "bot-9", "there is no bot 'bot-9' on ladder-0 that can play in a tournament"),
            (2, "", "division 2 of ladder-0 has no boss"),
        ):
            with pytest.raises(Refusal, match=words):
                perform(session, NameBoss("ladder-0", division, bot), field.by())
        done = perform(session, NameBoss("ladder-0", 2, "bot-1"), field.by())
        assert done.undo == (NameBoss("ladder-0", 2, ""),)
        (told,) = session.scalars(sa.select(Notification)).all()
        assert (told.message, told.places["bot"], told.places["division"]) == (
            rounds.BOSS, "bot-1", 2,
        )  # fmt: skip
        assert "already" in perform(session, NameBoss("ladder-0", 2, "bot-1"), field.by()).said
        with pytest.raises(Refusal, match="bot-1 is the boss of division 2: name none there first"):
            perform(session, NameBoss("ladder-0", 1, "bot-1"), field.by())
        perform(session, done.undo[0], field.by())
        perform(session, NameBoss("ladder-0", 2, "bot-1"), field.by())
        other = perform(session, NameBoss("ladder-0", 2, "bot-0"), field.by())
        assert other.undo == (NameBoss("ladder-0", 2, "bot-1"),)
        perform(session, other.undo[0], field.by())
    assert field.divisions() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert field.begin() == [[0, 2, 3, 4], [5, 6, 7, 1]]


def test_a_boss_that_is_gone_stops_nobody(field: RoundField) -> None:
    field.name_boss(7, 2)
    field.set(7, state=EntrantState.RETIRED)
    assert field.begin(size=4, moves=1) == [[0, 1, 2, 3], [4, 5, 6]]
    field.end([[0, 1, 2, 3], [6, 5, 4]])
    assert field.divisions() == [[0, 1, 2, 6], [3, 5, 4]]


def test_a_boss_is_deleted(field: RoundField) -> None:
    """Before anything was played nothing is left of it, and the round goes on."""
    field.name_boss(7, 1)
    assert field.begin(size=4, moves=1) == [[0, 1, 2, 3, 7], [4, 5, 6]]
    with field.database.begin() as session:
        assert perform(session, DeleteBot("bot-7"), field.by()).answer == BotGone("bot-7", None)
    field.end([[0, 1, 2, 3], [4, 5, 6]])
    assert field.divisions() == [[0, 1, 2, 4], [3, 5, 6]]


def test_one_that_is_called_off_moves_nobody(field: RoundField) -> None:
    field.begin(size=3, moves=1)
    with field.database.begin() as session:
        query = sa.select(Tournament).where(Tournament.name == "ladder-0-round-1-3")
        third = session.scalars(query).one()
        call_off(session, third, "enough", field.now, ARENA)
        third.placed_games = 0
    field.end([[0, 1, 2], [5, 4, 3], [6, 7]])
    assert field.divisions() == [[0, 1, 5], [2, 4, 3], [6, 7]]


def test_nobody_moves_by_what_is_to_be_counted_anew(field: RoundField) -> None:
    """As what is between a bot and the boss is after a match of theirs was made void."""
    field.begin(size=4, moves=1)
    with field.database.begin() as session:
        session.scalars(sa.select(Tournament)).first().rebuild_due = True
    field.end([[0, 1, 2, 3], [4, 5, 6, 7]])
    assert field.divisions() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    with field.database.begin() as session:
        session.execute(sa.update(Tournament).values(rebuild_due=False))
    field.tick()
    assert field.divisions() == [[0, 1, 2, 4], [3, 5, 6, 7]]


def test_the_moves_stand_though_a_table_changes(field: RoundField) -> None:
    """As it does when a match is made void after the round; its places are another's then."""
    field.begin(size=4, moves=1)
    field.end([[0, 1, 2, 3], [4, 5, 6, 7]])
    after = field.divisions()
    with field.database.begin() as session:
        for part in session.scalars(sa.select(LadderRound)):
            part.made.placed_games = None
    field.tick()
    assert field.divisions() == after == [[0, 1, 2, 4], [3, 5, 6, 7]]


def test_divisions_go_on_in_the_next_season(field: RoundField) -> None:
    """So do rounds and their numbers; by that of the past that goes on nobody moves."""
    field.begin(size=4, moves=1)
    with field.database.begin() as session:
        session.add(
            CompetitionDate(
                competition=field.ladder(session),
                what=DateKind.SEASON,
                at=field.now - 0.1 * HOUR,
                settings={"keep": 0},
            )
        )
    assert field.tick() == [""]
    with field.database.begin() as session:
        new = session.scalars(sa.select(Ladder).where(Ladder.name == "ladder-0")).one()
        assert set(session.scalars(sa.select(DivisionPlace.competition_id))) == {new.id}
        date = find_date(session, new, DateKind.ROUND)
        assert date is not None
        assert (date.at, date.settings["size"]) == (field.now + 0.5 * HOUR, 4)
        date.at = field.now - 0.2 * HOUR
    assert field.tick() == ["round 1 was not over, so that none was begun"]
    field.end([[0, 1, 2, 3], [4, 5, 6, 7]])
    assert field.divisions() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    field.lay()
    assert field.tick() == [""]
    with field.database.read() as session:
        assert session.scalars(sa.select(Tournament.name).order_by(Tournament.id)).all()[2:] == [
            "ladder-0-round-2-1", "ladder-0-round-2-2"
        ]  # fmt: skip


def test_rounds_go_on_where_the_past_was_closed_first(field: RoundField) -> None:
    """They go on with the next moment: what was due while it was closed is not played."""
    field.lay()
    with field.database.begin() as session:
        ladder = field.ladder(session)
        ladder.state = CompetitionState.CLOSED
    assert field.tick() == [OVER]
    with field.database.begin() as session:
        season = CompetitionDate(
            competition=field.ladder(session),
            what=DateKind.SEASON,
            at=field.now - 0.1 * HOUR,
            settings={"keep": 0},
        )
        session.add(season)
    assert field.tick() == [""]
    with field.database.read() as session:
        date = session.scalars(
            sa.select(CompetitionDate).where(CompetitionDate.what == DateKind.ROUND)
        ).one()
        assert date.competition.name == "ladder-0"
        assert (date.at, date.happened, date.outcome) == (field.now + 0.5 * HOUR, None, "")


def test_rounds_are_played_to_their_end(field: RoundField) -> None:
    """Scheduling and recording are as they are; nobody is flooded by what is told of them."""
    with field.database.begin() as session:
        session.execute(sa.update(Entrant).where(Entrant.id > 4).values(state="retired"))
    field.begin(size=2, moves=1)
    field.simulation.play_out(5)
    field.tick()
    with field.database.begin() as session:
        parts = session.scalars(sa.select(LadderRound).order_by(LadderRound.division)).all()
        assert all(one.ended for one in parts)
        places = {}
        for part in parts:
            its = sa.select(Entrant).where(Entrant.competition_id == part.made_id)
            for one in session.scalars(its):
                assert one.final_points == one.points
                bot = int(one.version.bot.name.removeprefix("bot-"))
                places[part.division, one.final_place] = bot
        (first, last), (best, other) = (
            (places[division, 1], places[division, 2]) for division in (1, 2)
        )
        assert field.divisions() == [[first, best], [last, other]]
        ladder = field.ladder(session)
        rated = sa.select(Match).where(Match.competition_id == ladder.id)
        assert (ladder.games, session.scalars(rated).all()) == (0, []), "no rating has moved"
        tell_ends(session, field.now)
        told = session.scalars(
            sa.select(Notification.message)
            .where(Notification.topic.in_([Topic.LADDER, Topic.TOURNAMENT]))
            .order_by(Notification.id)
        )
        assert told.all() == [rounds.ROSE, rounds.FELL]
        bots = list(session.scalars(sa.select(Bot.id)))
        assert trophies_of(session, bots) == []


REFUSED = [
    ({"every": "month"}, "every=month can't be: rounds come every hour, day, week"),
    ({"size": "1"}, "a division has 2 bots at least, or is 0 for none"),
    ({"size": "4", "moves": "3"}, "moves is a whole number from 0 to 2"),
    ({"moves": "1"}, "moves=1 can't be without divisions: choose size, or leave moves out"),
    ({"format": "balanced"}, "balanced is not for matches of 2 bots"),
    ({"keep": "1"}, "has no setting 'keep'; it has every, size, moves, format, cyc"),
    ({"size": "100"}, "size is a whole number from 0 to 99"),
    ({"size": "99", "cycles": "3"}, "these are 14850 matches, and a tournament has 5000 at most"),
]


def test_what_rounds_can_not_be_is_refused(field: RoundField, subtests: pytest.Subtests) -> None:
    at = (field.now + HOUR).isoformat()
    for settings, words in REFUSED:
        with subtests.test(words), field.database.begin() as session:
            with pytest.raises(Refusal, match=words):
                perform(session, SetDate("ladder-0", "round", at, settings), field.by())
            session.rollback()
    with field.database.begin() as session:
        for settings, kept in (
            ({}, {**USUAL, "every": "week"}),
            ({"size": "99"}, {**USUAL, "every": "week", "size": 99, "moves": 1}),
            ({"size": "6", "every": "day"}, {**USUAL, "every": "day", "size": 6, "moves": 1}),
            (
                {"size": "2", "format": "swiss", "rounds": "1"},
                {"every": "day", "size": 2, "moves": 1, "format": "swiss"}
                | {"settings": {"rounds": 1}},
            ),
        ):
            perform(session, SetDate("ladder-0", "round", at, settings), field.by())
            date = find_date(session, field.ladder(session), DateKind.ROUND)
            assert date is not None
            assert date.settings == kept


def test_rounds_of_a_private_ladder_are_within_it(field: RoundField) -> None:
    with field.database.begin() as session:
        field.ladder(session).visibility = Visibility.PRIVATE
        session.add(User(name="stranger", created=field.now))
    field.begin(size=4, moves=1)
    with field.database.read() as session:
        assert set(session.scalars(sa.select(Tournament.visibility))) == {Visibility.PRIVATE}
