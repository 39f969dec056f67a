"""Who plays is a version with its options: named, entered, told in matches, and proved."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from arena.competitions import strength_tests
from arena.competitions.players import NamedPlayer, named_players
from arena.competitions.results import results, rows
from arena.competitions.strength_deeds import CreateTest
from arena.competitions.strength_plans import StrengthPlan
from arena.competitions.tournament_deeds import (
    CreateTournament,
    EnterTournament,
    WithdrawFromTournament,
)
from arena.deeds import By
from arena.ground.bot_names import LONGEST_PLAYER, Named, apart, read, read_player
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.refusals import NotAllowed, Refusal
from arena.keeping.packing import unpack
from arena.lists.filters import GameFilter
from arena.lists.search import find
from arena.models import (
    BotVersion,
    CompetitionState,
    Entrant,
    Ladder,
    ListedSeat,
    Match,
    PlayedGame,
    Scope,
    StrengthTest,
    Tournament,
    User,
)
from arena.recorder import recording
from arena.recorder.rebuild import rebuild
from arena.schedule.leases import Fate
from arena.schedule.matchmaking import new_matches
from arena.schedule.requests import request_matches
from engine import jobs
from engine.bot_options import LONGEST_CHOSEN
from engine.record import replay
from tests.arena.competitions.strength_simulation import OWNER, StrengthSimulation
from tests.arena.doing import do
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, START, give_sign, report_of

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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a b,c", ["a", "b", "c"]),
        ("a:depth=8,style=fast,b", ["a:depth=8,style=fast", "b"]),
        ("a:2:depth=8,style=fast b:1", ["a:2:depth=8,style=fast", "b:1"]),
        # The parameters of a tuning are no options of a bot.
        ("width,depth=0.8:0:2:0.1,aim", ["width", "depth=0.8:0:2:0.1", "aim"]),
    ],
)
def test_names_apart(text: str, found: list[str]) -> None:
    assert apart(text) == found


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
    """It is read by what its version declares; each value is as the bot is told it."""
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
            strength_tests.create(session, plan, both[0], NamedPlayer(*both[0]), START, OWNER)
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


@pytest.mark.long
def test_a_match_is_asked_for_with_options(database: Database) -> None:
    """It may be against itself, too; it is found by what it was told, and counts for nobody."""
    arena = StrengthSimulation(database, CALM, "clobber", size="4x4")
    declare(arena)
    with arena.database.begin() as session:
        give_sign(session, "one", START, slots=1)
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.state = CompetitionState.OPEN
        user = session.scalars(sa.select(User)).first()
        assert user is not None
        names = ("bot-0:1:style=fast,depth=08", "BOT-0")
        (match,) = request_matches(session, user, ladder, names, START)
        assert match.chosen == [{"depth": "8", "style": "fast"}, {}]
        twice = ("bot-0:depth=8", "bot-0:1:depth=08")
        with pytest.raises(Refusal, match="give one other options"):
            request_matches(session, user, ladder, twice, START)
        ladder.allows_options = False
        with pytest.raises(Refusal, match="takes no options: name bot-0 v1 without depth=8,style"):
            request_matches(session, user, ladder, names, START)
        job = issued(session, match, Settings(), START)
    assert isinstance(job, jobs.Job)
    report = report_of(job, "one")
    with arena.database.begin() as session:
        assert recording.take_in(session, [report], Settings(), START) == [Fate.FIXED]
        assert rebuild(session, session.get_one(Ladder, match.competition_id), write=False).equal
    with arena.database.read() as session:
        assert session.scalars(sa.select(Entrant.games)).all() == [0, 0]
        for words, count in (
            ("bot-0", 2),
            ("bot-0:depth=8", 2),
            ("bot-0:1:style=fast,depth=8", 2),
            ("bot-0:style=Fast", 0),
            ("bot-0:depth=8,style=solid", 0),
            ("bot-1:depth=8", 0),
        ):
            wanted = GameFilter.read({"bot": words})
            assert len(find(session, wanted, most=9).games) == count, words


def test_a_tournament_takes_options_or_none(arena: StrengthSimulation) -> None:
    """A bot is in it more than once, and is named with what it plays with."""
    declare(arena)
    names = ("bot-0:depth=8", "bot-0:depth=6", "bot-1", "bot-0")
    cup = CreateTournament(
        ladder="ladder-0", name="cup", format="round-robin", bots=names, paused=True
    )
    with arena.database.begin() as session:
        with pytest.raises(Refusal, match="cup takes no options: name bot-0 v1 without depth=8"):
            do(session, replace(cup, no_options=True), START)
        do(session, cup, START)
        found = session.scalars(sa.select(Tournament)).one()
        labels = [line["options"] for line in rows(results(session, found))]
        assert sorted(labels) == ["", "", "depth=6", "depth=8"]
        with pytest.raises(Refusal, match="bot-0 v1:depth=8 stands in the field twice"):
            do(session, EnterTournament("cup", bots=("bot-0:depth=+8",)), START)
        for name, said in (
            ("bot-0:1:depth=06", "the bot bot-0 v1:depth=6 is no more in the tournament cup"),
            ("bot-0", "say which, bot-0:1:depth=8 or bot-0:1"),
            ("bot-0:1", "the bot bot-0 v1 is no more in the tournament cup"),
        ):
            withdrawal = WithdrawFromTournament("cup", bot=name)
            if said.startswith("say"):
                with pytest.raises(Refusal, match=said):
                    do(session, withdrawal, START)
            else:
                by = By(OWNER, frozenset(Scope), START)
                assert withdrawal.do(session, by).said == said


def test_a_side_has_its_own_time_and_threads(arena: StrengthSimulation) -> None:
    """Jobs, records and names have them; more than the ladder's is for organisers to give."""
    with arena.database.begin() as session:
        give_sign(session, "one", START, slots=1)
        version = session.scalars(sa.select(BotVersion).order_by(BotVersion.id)).first()
        assert version is not None
        version.bot.open_source = True
        usual = session.scalars(sa.select(Ladder)).one().time
        assert usual.move_ms is not None
        ask = CreateTest(
            ladder="ladder-0",
            candidate="bot-0",
            baseline="bot-0",
            candidate_move=usual.move_ms // 2,
            candidate_threads=3,
        )
        anybody = By(OWNER, frozenset({Scope.SUBMIT}), START)
        for more in ({"candidate_time": "100"}, {"baseline_threads": 17}):
            with pytest.raises(NotAllowed, match="is for organisers to give"):
                replace(ask, candidate_move=None, **more).do(session, anybody)
        with pytest.raises(Refusal, match="a clock or a time a move, not both"):
            replace(ask, candidate_time="1").do(session, anybody)
        with pytest.raises(Refusal, match="can't be tested against itself"):
            replace(ask, candidate_move=usual.move_ms, candidate_threads=16).do(session, anybody)
        test = ask.do(session, anybody).answer
        half = usual.move_ms // 2
        assert test.title == f"bot-0 v1 (move={half}, 3 threads) against bot-0 v1"
        match = next(new_matches(session, START, only=test.name))
        session.flush()
        job = issued(session, match, Settings(), START)
    assert isinstance(job, jobs.Job)
    assert [bot.threads for bot in job.bots] == [3, None]
    assert (job.to_json()["format"], job.grant.threads) == (jobs.TELLING_FORMAT, 16)
    assert jobs.Job.from_json(job.to_json()) == job
    report = report_of(job, "one")
    (mine, theirs), (_, again) = (game.controls for game in report.games)
    assert (mine.move_ms, theirs, again) == (half, usual, mine)
    dropped = replace(report, games=(report.games[0], replace(report.games[1], times=())))
    with arena.database.begin() as session:
        match = session.get_one(Match, job.lease.job)
        assert recording.contradiction(match, dropped) == "game 2 is not the one that was issued"
        assert recording.take_in(session, [report], Settings(), START) == [Fate.FIXED]
        game = session.scalars(sa.select(PlayedGame)).first()
        assert game is not None
        assert unpack(game.record).times == (mine, theirs)
