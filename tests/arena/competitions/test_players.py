"""Who plays is a version with its options: named, entered, told in matches, and proved."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from arena.competitions import strength_tests
from arena.competitions.players import Player, named_players
from arena.competitions.strength_plans import StrengthPlan
from arena.ground.bot_names import LONGEST_PLAYER, Named, read, read_player
from arena.ground.config import Settings
from arena.ground.refusals import Refusal
from arena.models import (
    BotVersion,
    Entrant,
    Ladder,
    ListedSeat,
    Match,
    PlayedGame,
    StrengthTest,
)
from arena.recorder import recording
from arena.recorder.storage import unpack
from arena.schedule.leases import Fate
from arena.schedule.matchmaking import new_matches
from engine import jobs
from engine.bot_options import LONGEST_CHOSEN
from engine.record import replay
from tests.arena.competitions.strength_simulation import OWNER, StrengthSimulation
from tests.arena.issuing import issued
from tests.arena.simulator import START, give_sign, report_of

DECLARED = ["depth int 1 20 6", "style choice fast|solid solid", "net text small.bin"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("greedy", Named("greedy", None)),
        (" greedy:002 ", Named("greedy", 2)),
        ("greedy:depth=8", Named("greedy", None, "depth=8")),
        ("greedy:2:style=fast,depth=8", Named("greedy", 2, "depth=8,style=fast")),
        ("greedy:net=a:b=c", Named("greedy", None, "net=a:b=c")),
        ("greedy:depth", "names no bot"),
        ("greedy:2:3", "names no bot"),
        ("greedy:2:3:a=b", "names no bot"),
        ("greedy:=8", "'=8' chooses no option: write NAME=VALUE"),
        ("greedy:depth=8,", "'' chooses no option"),
        ("greedy:depth=8,depth=8", "the option depth is chosen twice"),
        ("greedy:net=a\nquit", "names no bot"),
        ("greedy:net=a\x1b[1m", "chooses no option"),
        ("greedy:net=" + "x" * LONGEST_CHOSEN, "at most 2000 characters"),
    ],
)
def test_a_name_of_a_player(name: str, found: Named | str) -> None:
    """With the options in the order of their names, whichever way they were written."""
    if isinstance(found, Named):
        assert read_player(name) == found
        assert len(name) < LONGEST_PLAYER
        return
    with pytest.raises(Refusal) as refusal:
        read_player(name)
    assert found in str(refusal.value)


def test_where_no_options_can_be_chosen() -> None:
    with pytest.raises(Refusal, match="no options can be chosen here: leave out :depth=8"):
        read("greedy:2:depth=8")


def declare(arena: StrengthSimulation) -> None:
    """Lets the first bot have options."""
    with arena.database.begin() as session:
        version = session.scalars(sa.select(BotVersion).order_by(BotVersion.id)).first()
        assert version is not None
        version.options = DECLARED


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("bot-0:style=fast,depth=+08", "bot-0 v1:depth=8,style=fast"),
        ("BOT-0:1:net=~", "bot-0 v1:net=~"),
        ("bot-0:dept=8", "bot-0 v1 has no option dept: its options are depth, net, style"),
        ("bot-0:depth=21", "depth is a number from 1 to 20, not 21"),
        ("bot-0:depth=nan", "depth takes a whole number, not 'nan'"),
        ("bot-0:depth=\N{ARABIC-INDIC DIGIT ONE}", "chooses no option"),
        ("bot-1:depth=8", "nobody has asked bot-1 v1 for its options: submit it again"),
    ],
)
def test_a_player_that_is_named(arena: StrengthSimulation, name: str, told: str) -> None:
    """By what its version declares; each value is as the bot is told it."""
    declare(arena)
    with arena.database.read() as session:
        if told.startswith("bot-0 v1:"):
            assert [one.label for one in named_players(session, [name])] == [told]
        else:
            with pytest.raises(Refusal) as refusal:
                named_players(session, [name])
            assert told in str(refusal.value)


def test_a_version_meets_itself_with_other_options(arena: StrengthSimulation) -> None:
    """Each is told its own, at every place; the record says so, and another is refused."""
    declare(arena)
    with arena.database.begin() as session:
        give_sign(session, "one", START, slots=1)
        ladder = session.scalars(sa.select(Ladder)).one()
        both = named_players(session, ["bot-0:depth=8", "bot-0"])
        plan = StrengthPlan.on(ladder)
        with pytest.raises(Refusal, match="bot-0 v1:depth=8 can't be tested against itself"):
            strength_tests.create(session, plan, both[0], Player(*both[0]), START, OWNER)
        test = strength_tests.create(session, plan, *both, START, OWNER)
        assert test.title == "bot-0 v1:depth=8 against bot-0 v1"
        name = test.name
    with arena.database.begin() as session:
        match = next(new_matches(session, START, only=name))
        session.flush()
        assert match.chosen == [{"depth": "8"}, {}]
        job = issued(session, match, Settings(), START)
    assert isinstance(job, jobs.Job)
    assert jobs.Job.from_json(job.to_json()) == job
    assert job.to_json()["format"] == jobs.TELLING_FORMAT
    report = report_of(job, "one")
    one, other = report.games
    forged = replace(report, games=(one, replace(other, chosen=one.chosen)))
    unsaid = replace(report, games=(one, replace(other, chosen=())))
    for told in (forged, unsaid):
        with arena.database.begin() as session:
            problem = recording.contradiction(session.get_one(Match, job.lease.job), told)
        assert problem == "game 2 is not the one that was issued"
    with arena.database.begin() as session:
        assert recording.take_in(session, [report], Settings(), START) == [Fate.FIXED]
    with arena.database.read() as session:
        query = sa.select(PlayedGame).order_by(PlayedGame.number)
        records = [unpack(game.record) for game in session.scalars(query)]
        assert [record.chosen for record in records] == [({"depth": "8"}, {}), ({}, {"depth": "8"})]
        assert records[1].players == ("bot-0 v1", "bot-0 v1:depth=8")
        assert [replay(record) is not None for record in records] == [True, True]
        listed = sa.select(ListedSeat.options).order_by(ListedSeat.game_id, ListedSeat.seat)
        assert session.scalars(listed).all() == ["depth=8", "", "", "depth=8"]
        its = sa.select(Entrant.wins + Entrant.draws + Entrant.losses)
        its = its.join(StrengthTest, StrengthTest.id == Entrant.competition_id)
        assert session.scalars(its).all() == [2, 2]
