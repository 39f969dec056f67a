"""Anonymous competitions whose names are shown: whatever goes on meanwhile, nothing is lost, and
nothing is there twice."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.bots.bot_deeds import EnterBot, RetireBot
from arena.bots.deletion import DeleteBot
from arena.bots.profile_deeds import RenameBot
from arena.competitions import masks
from arena.competitions.mask_deeds import RevealCompetition
from arena.competitions.players import NamedPlayer
from arena.competitions.seasons import begin_again
from arena.competitions.strength_plans import StrengthPlan
from arena.competitions.strength_tests import create as create_test
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.keeping.packing import unpack
from arena.models import (
    AuditEntry,
    Bot,
    BotVersion,
    Build,
    DivisionPlace,
    Entrant,
    Follow,
    FormerName,
    JobStatus,
    Ladder,
    ListedSeat,
    Match,
    PlayedGame,
    Tournament,
    User,
    Worker,
)
from arena.people.audience import followers
from arena.recorder import rebuild
from tests.arena.competitions.round_simulation import RoundField, round_field
from tests.arena.competitions.test_masks import (
    CLOBBER,
    NOW,
    entrant_of,
    handed_in,
    ladder_of,
    person,
    unmask_all,
)
from tests.arena.doing import do
from tests.arena.meanwhile import at_once
from tests.arena.simulator import CALM, Simulation

Deed = Callable[[Session], object]


def reveal(session: Session, now: datetime) -> None:
    do(session, RevealCompetition("ladder-0"), now)


def remove(session: Session, now: datetime) -> None:
    do(session, DeleteBot("bot-0"), now)


def rename(session: Session, now: datetime) -> None:
    do(session, RenameBot("bot-0", "new"), now)


def take_off(session: Session, _: datetime) -> None:
    unmask_all(session)


@pytest.mark.long
@pytest.mark.parametrize(
    ("deeds", "called"),
    [
        (
            (reveal, lambda session, now: do(session, RenameBot("bot-0", "new"), now), take_off),
            "new",
        ),
        ((remove, reveal, take_off), "deleted bot"),
        ((reveal, remove, take_off), "deleted bot"),
    ],
    ids=["renamed", "deleted before", "deleted between"],
)
def test_what_is_played_meanwhile_ends_well(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    deeds: tuple[Callable[[Session, datetime], None], ...],
    called: str,
) -> None:
    """Nobody is taken for a liar, and whoever played is named so; in small parts, too."""
    monkeypatch.setattr(masks, "SEATS_AT_ONCE", 3)
    simulation = Simulation(database, 3, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.anonymous = True
        for entrant in session.scalars(sa.select(Entrant)).all():
            entrant.version.number += 6
            entrant.version = masks.masked(session, ladder, entrant.version, simulation.now)
    simulation.alive()
    simulation.tick()
    simulation.run(5)
    with database.begin() as session:
        issued = sa.select(Match.id).where(Match.status == JobStatus.ISSUED)
        running = session.scalars(issued).all()
        games = dict(session.execute(sa.select(Entrant.id, Entrant.games)).all())
        assert running, "somebody plays at this moment"
        assert min(games.values()) > 3
        number = session.scalars(sa.select(Bot.id).where(Bot.name == "bot-0")).one()
        for deed in deeds:
            deed(session, simulation.now)
            session.flush()
    simulation.play(1)
    with database.read() as session:
        assert set(session.scalars(sa.select(Worker.problem))) == {""}, "none is taken for a liar"
        its = session.scalars(sa.select(Bot).where(Bot.id.in_([number, number + 3]))).first()
        assert its is not None
        assert its.name.startswith(called)
        ended = session.scalars(sa.select(Match).where(Match.id.in_(running))).all()
        assert {match.status for match in ended} == {JobStatus.FIXED}
        for game in session.scalars(sa.select(PlayedGame).where(PlayedGame.match_id.in_(running))):
            seats = {seat.entrant.version.label for seat in game.seats}
            assert set(unpack(game.record).players) == seats
        listed = sa.select(ListedSeat.version_id, sa.func.count()).group_by(ListedSeat.version_id)
        versions = session.execute(
            sa.select(Entrant.version_id, BotVersion.bot_id, Entrant.games).join(Entrant.version)
        ).all()
        assert dict(session.execute(listed).all()) == {one[0]: one[2] for one in versions}
        of_bots = sa.select(ListedSeat.bot_id, sa.func.count()).group_by(ListedSeat.bot_id)
        assert dict(session.execute(of_bots).all()) == {one[1]: one[2] for one in versions}
        for entrant in session.scalars(sa.select(Entrant)):
            assert entrant.games >= games[entrant.id]
            assert entrant.version.bot.masks_id is None
        assert session.scalars(sa.select(Bot.id).where(Bot.masked_in.is_not(None))).all() == []
        (ladder,) = session.scalars(sa.select(Ladder)).all()
        assert rebuild.rebuild(session, ladder, write=False).equal


def again(deed: Deed) -> Deed:
    """A deed as a process does it: once more if what it refers to has just gone, and no more than
    refused."""

    def do_it(session: Session) -> None:
        with suppress(Refusal):
            try:
                with session.begin_nested():
                    deed(session)
            except IntegrityError:
                session.expire_all()
                deed(session)

    return do_it


def name_of(session: Session) -> str:
    """The made-up name, or what it leads to."""
    return (
        session.scalar(sa.select(sa.func.min(Bot.name)).where(Bot.masks_id.is_not(None)))
        or session.scalars(sa.select(Bot.name).where(Bot.lower_name.in_(["alpha", "omega"]))).one()
    )


def is_tested(session: Session) -> None:
    ladder = session.scalars(sa.select(Ladder).where(Ladder.name == "quiet")).one()
    first, second = session.scalars(
        sa.select(Entrant).where(Entrant.competition_id == ladder.id).order_by(Entrant.id).limit(2)
    )
    players = [NamedPlayer(first.version), NamedPlayer(second.version)]
    create_test(session, StrengthPlan.on(ladder), *players, NOW, ARENA)


def is_followed(session: Session) -> None:
    bot = session.scalars(sa.select(Bot).where(Bot.named(name_of(session)))).one()
    eve = session.scalars(sa.select(User).where(User.name == "eve")).one()
    session.add(Follow(user_id=eve.id, bot_id=bot.id, since=NOW))


@pytest.mark.long
@pytest.mark.parametrize("is_first", [True, False], ids=["first", "second"])
@pytest.mark.parametrize(
    "deed",
    [
        lambda session: do(session, EnterBot("alpha", "quiet", 1), NOW),
        lambda session: do(session, EnterBot(name_of(session), "quiet", 1), NOW),
        lambda session: do(session, RetireBot(name_of(session), "quiet"), NOW),
        lambda session: do(session, RenameBot("alpha", "omega"), NOW),
        lambda session: handed_in(
            session,
            session.scalars(sa.select(User).where(User.name == "ada")).one(),
            "alpha",
            session.scalars(sa.select(Ladder).where(Ladder.name == "quiet")).one(),
            "c",
        ),
        is_tested,
        is_followed,
        lambda session: do(session, RevealCompetition("quiet"), NOW),
        unmask_all,
    ],
    ids=[
        "entered", "entered by the mask", "retired", "renamed", "handed in", "tested", "followed",
        "shown again", "taken off twice",
    ],
)  # fmt: skip
def test_who_does_something_at_that_moment(database: Database, deed: Deed, is_first: bool) -> None:
    with database.begin() as session:
        ada, bob, _ = (person(session, name) for name in ("ada", "bob", "eve"))
        ladder = ladder_of(session)
        versions = [handed_in(session, ada, "alpha", ladder, digest) for digest in "ab"]
        versions.append(handed_in(session, bob, "beta", ladder))
        mask = masks.entered_as(session, ladder, versions[0]).bot.name
        ids = {entrant_of(session, ladder, one).id for one in versions}
        do(session, RevealCompetition("quiet"), NOW)
    both = (again(deed), unmask_all) if is_first else (unmask_all, again(deed))
    at_once(database, *both)
    with database.begin() as session:
        unmask_all(session)
        assert session.scalars(sa.select(Bot.id).where(Bot.masks_id.is_not(None))).all() == []
        there = session.scalars(
            sa.select(Entrant).where(Entrant.competition_id == ladder.id).order_by(Entrant.id)
        ).all()
        played = [one.version.bot.name for one in there]
        assert ids <= {one.id for one in there}
        assert set(played) <= {"alpha", "omega", "beta"}
        assert len({one.version_id for one in there}) == len(there)
        numbers = [one.version.number for one in there if one.version.bot.name != "beta"]
        assert numbers == list(range(1, len(numbers) + 1))
        leads = session.scalars(sa.select(Bot.name).where(Bot.named(mask))).one()
        assert leads in ("alpha", "omega")
        notes = sa.select(AuditEntry.id).where(AuditEntry.action == "reveal")
        assert len(session.scalars(notes).all()) == 3  # the ladder, and each bot


def test_all_that_refers_to_a_mask_is_the_bot_s(database: Database) -> None:
    """Once: who follows both follows it. The winner of a tournament, which is kept as a text, is
    called so; and the number of each version is known by the one that it had."""
    with database.begin() as session:
        ada, bob, eve = (person(session, name) for name in ("ada", "bob", "eve"))
        ladder = ladder_of(session)
        handed_in(session, ada, "alpha", ladder_of(session, "public", anonymous="no"), "0")
        versions = [handed_in(session, ada, "alpha", ladder, digest) for digest in "abc"]
        mask = masks.entered_as(session, ladder, versions[0]).bot
        name = mask.name
        for user, bot in ((bob, mask), (eve, mask), (eve, versions[0].bot)):
            session.add(Follow(user_id=user.id, bot_id=bot.id, since=NOW))
        session.add(Build(ticket="x", version=entrant_of(session, ladder, versions[1]).version,
                          seconds=1.0, ended=NOW))  # fmt: skip
        cup = Tournament(
            name="cup", title="cup", variant=CLOBBER, format="swiss", settings={}, move_ms=100,
            inc_ms=0, charge="cpu", memory_bytes=1, seed=0, created=NOW, state="closed",
            winner=f"{name} v1, {name} v12 and {name} v2:depth=1",
        )  # fmt: skip
        session.add(cup)
        do(session, RevealCompetition("quiet"), NOW)
        assert unmask_all(session) == 1
        assert cup.winner == f"alpha v2, {name} v12 and alpha v3:depth=1"
        assert followers(session, versions[0].bot_id) == {bob.id, eve.id}
        assert session.scalars(sa.select(Build.version_id)).all() == [versions[1].id]
        former = session.scalars(sa.select(FormerName)).one()
        assert (former.lower_name, former.versions) == (name, {"1": 2, "2": 3, "3": 4})


def masked_field(database: Database) -> RoundField:
    """The masks have the names by which it calls bots."""
    field = round_field(database)
    with database.begin() as session:
        ladder = field.ladder(session)
        ladder.anonymous = True
        for number in range(8):
            entrant = field.entrant(session, number)
            real = entrant.version.bot
            real.name = real.lower_name = f"real-{number}"
            entrant.version = masks.masked(session, ladder, entrant.version, field.now)
            mask = entrant.version.bot
            mask.name = mask.lower_name = f"bot-{number}"
    return field


def test_divisions_are_the_bots_in_the_end(database: Database) -> None:
    """Also of a round that goes on; and so are bosses."""
    field = masked_field(database)
    field.name_boss(7, 1)
    assert field.begin(size=4, moves=1) == [[0, 1, 2, 3, 7], [4, 5, 6]]
    with database.begin() as session:
        do(session, RevealCompetition("ladder-0"), field.now)
        assert unmask_all(session) == 8
        session.execute(sa.delete(FormerName))
        for bot in session.scalars(sa.select(Bot)):
            bot.name = bot.lower_name = bot.name.replace("real", "bot")
    assert field.divisions() == [[0, 1, 2, 3], [4, 5, 6]]
    field.end([[7, 3, 2, 1, 0], [6, 5, 4]])
    assert field.divisions() == [[3, 2, 1, 6], [0, 5, 4]]
    assert field.begin() == [[3, 2, 1, 6, 7], [0, 5, 4]]


def test_divisions_of_masks_end_with_a_season(database: Database) -> None:
    """Whose they were is known by then, and who is where in the next would be."""
    field = masked_field(database)
    with database.begin() as session:  # of the arena's own, whom all know
        boss = field.entrant(session, 7).version
        boss.bot.masked_in = boss.bot.masks = boss.masks = None
    field.name_boss(7, 1)
    field.begin(size=4, moves=1)
    with database.begin() as session:
        new = begin_again(session, field.ladder(session), 0.0, field.now, field.now)
        left = session.scalars(sa.select(DivisionPlace)).one()
        assert (left.competition_id, left.is_boss, left.bot.name) == (new.id, True, "bot-7")
