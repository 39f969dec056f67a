"""Gauntlets on the site: what is played, how it is counted, when it is over."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import sqlalchemy as sa

from arena.competitions import gauntlets
from arena.competitions.gauntlet_deeds import CreateGauntlet, StopGauntlet
from arena.competitions.gauntlets import Gauntlet
from arena.competitions.strength_tallies import outcomes_in
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import CompetitionState, JobStatus, Ladder, Match
from arena.ratings.sprt import Decision
from arena.recorder.match_set_deeds import ChooseMatches, DecideMatches
from arena.recorder.rebuild import rebuild
from arena.schedule import verdicts
from arena.strength.gauntlet import GauntletTest
from engine.player import Choice, CrashError, Turn
from tests.arena.competitions.strength_simulation import Clever
from tests.arena.competitions.tournament_simulation import ORGANISER, TournamentSimulation
from tests.arena.doing import do
from tests.arena.simulator import CALM, LotPlayer

NAMES = ("bot-0:1", "bot-1:1", "bot-2:1", "bot-3:1")


class OneClever(TournamentSimulation):
    """An arena of four bots of which the first plays well, and the others by the lot."""

    def start(self, name: str) -> LotPlayer:
        return Clever() if name.startswith("bot-0") else super().start(name)


class Broken(LotPlayer):
    """It crashes at its first move."""

    def choose(self, turn: Turn) -> Choice:
        raise CrashError("exit status 1")


class OneBroken(OneClever):
    """Besides, the last one never plays."""

    def start(self, name: str) -> LotPlayer:
        return Broken() if name.startswith("bot-3") else super().start(name)


def arena_of(kind: type[OneClever], database: Database) -> OneClever:
    arena = kind(database, 1, CALM, "clobber", 4, size="4x4")
    with arena.database.begin() as session:
        session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))
    return arena


def create(arena: OneClever, names: Sequence[str] = NAMES, games: int = 80) -> int:
    candidate, baseline, *against = names
    with arena.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        asked = CreateGauntlet(
            candidate, baseline, tuple(against), ladder=ladder.name, games=games, seed=3
        )
        made = do(session, asked, arena.now)
        assert isinstance(made, Gauntlet)
        return made.id


def play(arena: OneClever, number: int) -> None:
    """Has a gauntlet played until it is over, and everything under way has come in."""
    arena.alive()
    arena.tick()
    for _ in range(100):
        arena.run(20)
        with arena.database.read() as session:
            due = sa.select(Match.id).where(Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED]))
            over = session.get_one(Gauntlet, number).state is CompetitionState.CLOSED
            if over and session.scalar(due.limit(1)) is None:
                return
    raise AssertionError("it is not over")


def test_both_play_the_same_against_the_same(sqlite_database: Database) -> None:
    """A round is two matches of one opening, one seed and one opponent, who take turns; the numbers
    are those that the gauntlet at home makes of the same outcomes; a rebuild makes them again."""
    arena = arena_of(OneClever, sqlite_database)
    number = create(arena, games=48)
    play(arena, number)
    with arena.database.begin() as session:
        gauntlet = session.get_one(Gauntlet, number)
        query = sa.select(Match).where(Match.competition_id == number)
        matches = session.scalars(query.order_by(Match.round, Match.leg)).all()
        assert len(matches) == 24  # of 48 games by two, in six turns of two opponents
        ids = {one.version.label: one.id for one in gauntlets.entrants_of(session, gauntlet)}
        by_home = GauntletTest.begin(gauntlet.variant, 48, 2)
        said = {match.id: outcome for match, outcome in outcomes_in(session, gauntlet)}
        for mine, theirs in zip(matches[::2], matches[1::2], strict=True):
            assert (mine.round, mine.leg, theirs.leg) == (theirs.round, 1, 2)
            rival = ids[f"bot-{2 + (mine.round - 1) % 2} v1"]
            met = [[place.entrant_id for place in match.places] for match in (mine, theirs)]
            assert met == [[ids["bot-0 v1"], rival], [ids["bot-1 v1"], rival]]
            assert (mine.opening, mine.seed) == (theirs.opening, theirs.seed)
            by_home = by_home.add(said[mine.id], said[theirs.id])
        assert len({tuple(match.opening) for match in matches}) > 1
        found = gauntlets.standing(gauntlet)
        assert found == by_home
        assert found.decision is not Decision.CONTINUE
        assert found.difference[0] > 0
        assert gauntlets.verdict(session, gauntlet) == found.verdict(NAMES)
        assert gauntlet.games == 48
        assert rebuild(session, gauntlet, write=False).equal
        spoilt = gauntlet.settings["counted"]
        gauntlet.settings = {**gauntlet.settings, "counted": {**spoilt, "met": [0, 0]}}
        session.flush()
        assert "came out" in rebuild(session, gauntlet, write=True).differences[0]
        assert gauntlets.standing(gauntlet) == found
        # One that is made void is played again, by the opening that it had.
        void = matches[6]
        verdicts.void(session, ORGANISER, void.id, "power cut", now=arena.now)
        assert gauntlet.state is CompetitionState.OPEN
        rebuild(session, gauntlet, write=True)
        assert gauntlets.standing(gauntlet).played == 11
    play(arena, number)
    with arena.database.begin() as session:
        its = sa.select(Match).where(Match.competition_id == number, Match.round == void.round)
        again = session.scalars(its.where(Match.leg == void.leg, Match.id != void.id)).one()
        assert (again.opening, again.seed) == (void.opening, void.seed)
        gauntlet = session.get_one(Gauntlet, number)
        assert gauntlets.standing(gauntlet).played == 12
        # So is all that one worker played.
        query = sa.select(Match.id).where(Match.competition_id == number, Match.played_by == "two")
        spoilt = session.scalars(query.where(Match.status == JobStatus.FIXED)).all()
        words = f"competition={gauntlet.name}&worker=two"
        chosen = do(session, ChooseMatches("void", words, note="its fan"), arena.now)
        do(session, DecideMatches(chosen.id), arena.now)
        rebuild(session, gauntlet, write=True)
        assert 0 < gauntlets.standing(gauntlet).played < 12
    play(arena, number)
    with arena.database.begin() as session:
        assert {session.get_one(Match, one).status for one in spoilt} == {JobStatus.VOID}
        assert gauntlets.standing(session.get_one(Gauntlet, number)).played == 12


@pytest.mark.long
def test_an_opponent_that_never_plays_ends_it(sqlite_database: Database) -> None:
    """It says whose faults they were; what was counted of the others stays."""
    arena = arena_of(OneBroken, sqlite_database)
    number = create(arena, games=400)
    play(arena, number)
    with arena.database.begin() as session:
        gauntlet = session.get_one(Gauntlet, number)
        found = gauntlets.standing(gauntlet)
        assert (found.spoilt_by, found.decision) == ((3,), Decision.UNDECIDED)
        words = gauntlets.verdict(session, gauntlet)
        assert words.startswith("undecided: bot-3 v1 has")
        assert "too many" in words
        assert rebuild(session, gauntlet, write=False).equal


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("bot-0", "bot-0", "bot-2"), "bot-0 v1 stands in the field twice"),
        (("bot-0", "bot-1", "bot-1"), "bot-1 v1 stands in the field twice"),
        (("bot-0", "bot-1", "bot-2", "bot-2:1"), "bot-2 v1 stands in the field twice"),
        (("bot-0", "bot-1", "nobody"), "there is no bot 'nobody'"),
        (("bot-0", "bot-1"), "against: this is needed"),
    ],
)
def test_what_is_no_field_is_refused(
    sqlite_database: Database, names: tuple[str, ...], words: str
) -> None:
    """It is refused in a sentence."""
    arena = arena_of(OneClever, sqlite_database)
    with pytest.raises(Refusal, match=words):
        create(arena, names)


def test_who_stops_one_ends_it_for_good(sqlite_database: Database) -> None:
    """What is under way is counted; it is stopped once."""
    arena = arena_of(OneClever, sqlite_database)
    number = create(arena)
    arena.alive()
    arena.tick()
    arena.run(2)
    with arena.database.begin() as session:
        gauntlet = session.get_one(Gauntlet, number)
        do(session, StopGauntlet(gauntlet.name), arena.now)
        with pytest.raises(Refusal, match="is over"):
            do(session, StopGauntlet(gauntlet.name), arena.now)
    play(arena, number)
    with arena.database.begin() as session:
        gauntlet = session.get_one(Gauntlet, number)
        assert gauntlet.games > 0
        assert gauntlets.verdict(session, gauntlet).startswith("stopped by")
        assert rebuild(session, gauntlet, write=False).equal
