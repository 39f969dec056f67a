"""Rosters that are kept: they are as those that are read anew, whatever happened meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.bots.entries import retire
from arena.bots.submissions import enter
from arena.competitions import rosters
from arena.competitions.kind import Moment
from arena.competitions.ladders import LadderField
from arena.competitions.pairings import due_matches_of
from arena.competitions.rosters import LadderRoster, Rosters
from arena.competitions.voids import make_void
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    AT_HOME,
    Bot,
    BotVersion,
    Entrant,
    EntrantState,
    HomeRule,
    JobStatus,
    Ladder,
    Match,
    Team,
    User,
)
from arena.recorder.writer import Writer
from arena.schedule.matchmaking import new_matches
from tests.arena.simulator import CALM, START, Simulation

BOTS, STEPS = 8, 150


@pytest.fixture
def furnished(database: Database) -> Database:
    """Two ladders of the same eight bots, of three people and of a team of one of them."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})] * 2, bots=BOTS)
    with database.begin() as session:
        people = [User(name=f"p{number}", created=START) for number in (2, 3)]
        session.add_all(people)
        session.flush()
        session.add(Team(name="knights", created=START, captain_id=people[0].id))
    return database


def some_entrant(session: Session, dice: Random, ladder: Ladder) -> Entrant:
    its = sa.select(Entrant).where(Entrant.competition_id == ladder.id).order_by(Entrant.id)
    return dice.choice(session.scalars(its).all())


def leave(session: Session, dice: Random, ladder: Ladder) -> None:
    retire(session, ARENA, some_entrant(session, dice, ladder), START)


def come_back(session: Session, dice: Random, ladder: Ladder) -> None:
    enter(session, ladder, some_entrant(session, dice, ladder).version, START)


def suspend_all_of_one(session: Session, dice: Random, ladder: Ladder) -> None:
    owner = some_entrant(session, dice, ladder).version.bot.owner_id
    its = sa.select(BotVersion.id).join(BotVersion.bot).where(Bot.owner_id == owner)
    to = sa.update(Entrant).where(Entrant.version_id.in_(its))
    session.execute(to.values(state=dice.choice([EntrantState.SUSPENDED, EntrantState.ACTIVE])))


def make(session: Session, dice: Random, ladder: Ladder) -> None:
    list(islice(new_matches(session, START, only=ladder.name), dice.randrange(3)))


def play(session: Session, dice: Random, ladder: Ladder) -> None:
    """What recording a result does to a match and its entrants, as far as pairing goes."""
    its = sa.select(Match).where(Match.competition_id == ladder.id, Match.status == JobStatus.OPEN)
    for match in session.scalars(its).all():
        last = session.scalar(sa.select(sa.func.max(Match.seq))) or 0
        match.status, match.seq = JobStatus.FIXED, last + 1
        match.rated = dice.random() < 0.9
        for place in match.places:
            place.entrant.games += 2
            place.entrant.wins += 2
            place.entrant.mu += dice.gauss(0, 1)
        session.flush()


def make_one_void(session: Session, dice: Random, ladder: Ladder) -> None:
    its = sa.select(Match).where(Match.competition_id == ladder.id, Match.seq.is_not(None))
    if played := session.scalars(its.where(Match.status == JobStatus.FIXED)).all():
        make_void(session, dice.choice(played), "the machine was overloaded")


def give_away(session: Session, dice: Random, ladder: Ladder) -> None:
    bot = some_entrant(session, dice, ladder).version.bot
    bot.owner_id = dice.choice(session.scalars(sa.select(User.id).order_by(User.id)).all())


def follow_another(session: Session, dice: Random, _: Ladder) -> None:
    team = session.scalars(sa.select(Team)).one()
    people = sa.select(User.id).where(User.id != team.id).order_by(User.id)
    team.captain_id = dice.choice(session.scalars(people).all())


def rebuild(session: Session, dice: Random, ladder: Ladder) -> None:
    to = sa.update(Entrant).where(Entrant.competition_id == ladder.id)
    session.execute(to.values(mu=Entrant.mu + 1, sigma=dice.uniform(0.5, 8)))


def stay_at_home(session: Session, dice: Random, ladder: Ladder) -> None:
    some_entrant(session, dice, ladder).version.language = dice.choice([AT_HOME, "Python"])


def take_others(_: Session, dice: Random, ladder: Ladder) -> None:
    ladder.home = dice.choice(list(HomeRule))


HAPPEN: tuple[Callable[[Session, Random, Ladder], None], ...] = (
    leave, come_back, suspend_all_of_one, make, make, play, play, make_one_void, give_away,
    follow_another, rebuild, stay_at_home, take_others,
)  # fmt: skip


def told(read: LadderRoster) -> Any:
    """All that is known by a roster."""
    roster = read.roster
    had = {person: games for person, games in roster.had.items() if games}
    due = list(roster.in_turn()) if len(roster) else []
    return roster.all, had, due, read.homes, roster.is_converged, roster.people


@pytest.mark.long
def test_a_roster_that_is_kept_is_as_one_that_is_read_anew(
    furnished: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever happened to the ladder, and whoever was counted as due or was not there meanwhile.

    Whose a bot is is only seen a while later, or as here when that is over.
    """
    monkeypatch.setattr(rosters, "LATELY_A_PERSON", 2)
    dice, kept = Random(3), Rosters()
    for _ in range(STEPS):
        with furnished.begin() as session:
            both = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()
            happens, ladder = dice.choice(HAPPEN), dice.choice(both)
            happens(session, dice, ladder)
            session.flush()
            is_slow = happens in (give_away, stay_at_home)
            monkeypatch.setattr(rosters, "OWNERS_SECONDS", 0.0 if is_slow else 1e9)
            for one in both if is_slow else [ladder]:
                compare(session, one, kept)


def compare(session: Session, ladder: Ladder, kept: Rosters) -> None:
    """A kept roster with one that is read anew, with what is due and without it."""
    due = {ladder.id: due_matches_of(session, ladder)}
    for free_at_home in (None, {1: 1, 2: 0}):
        fields = [
            LadderField.read(
                ladder, Moment(session, START, due, free_at_home=free_at_home, rosters=its)
            )
            for its in (kept, Rosters())
        ]
        assert fields[0].roster.all == fields[1].roster.all
    for boxed, at_home in ((True, False), (True, True), (False, True)):
        one, other = (
            its.read(session, ladder, boxed=boxed, at_home=at_home) for its in (kept, Rosters())
        )
        assert told(one) == told(other)


def test_few_rosters_are_kept_of_many(furnished: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that were read last, as long as not too many entrants are in them."""
    monkeypatch.setattr(rosters, "MOST_KEPT", BOTS)
    kept = Rosters()
    with furnished.begin() as session:
        first, second = session.scalars(sa.select(Ladder).order_by(Ladder.id))
        one = kept.read(session, first, boxed=True, at_home=False)
        assert kept.read(session, first, boxed=True, at_home=False) is one
        kept.read(session, second, boxed=True, at_home=False)
        assert kept.read(session, first, boxed=True, at_home=False) is not one


def test_what_never_was_is_forgotten(tmp_path: Path) -> None:
    """A transaction that fails may have read what it had written itself."""
    writer = Writer(Settings(data=tmp_path))
    writer.database.upgrade()
    Simulation(writer.database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)

    def read(session: Session) -> LadderRoster:
        ladder = session.scalars(sa.select(Ladder)).one()
        return writer.rosters.read(session, ladder, boxed=True, at_home=False)

    def fail(session: Session) -> None:
        session.execute(sa.update(Entrant).values(games=7, wins=7))
        assert {one.games for one in read(session).roster.all} == {7}
        raise LookupError

    first = writer.transact(read)
    assert writer.transact(read) is first
    with pytest.raises(LookupError):
        writer.transact(fail)
    again = writer.transact(read)
    assert again is not first
    assert {one.games for one in again.roster.all} == {0}
    writer.database.close()
