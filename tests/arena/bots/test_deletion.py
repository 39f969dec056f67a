"""Bots that are renamed or deleted, on each kind of database, while the arena lives."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.bots import discarding
from arena.bots.bot_deeds import ShareBot
from arena.bots.deletion import DeleteBot
from arena.bots.profile_deeds import DescribeBot, PictureBot, RenameBot
from arena.bots.submissions import SubmissionError, submit
from arena.competitions.pairings import Pairing
from arena.competitions.renaming import RenameCompetition
from arena.ground.db import Database
from arena.ground.refusals import NotThere, Refusal
from arena.keeping.packing import unpack
from arena.models import (
    Bot,
    BotVersion,
    Check,
    Entrant,
    FormerName,
    GameSeat,
    JobStatus,
    Ladder,
    LargeFile,
    Match,
    MatchOfSet,
    MatchSet,
    MemberState,
    PlayedGame,
    SearchEntry,
    SetState,
    SetVerdict,
    User,
    VersionStatus,
    Worker,
)
from arena.people import accounts
from arena.people.profiles import RenameUser
from arena.recorder import rebuild
from arena.schedule.matchmaking import make
from tests.arena.bots.test_entries import NOW, ladders, version
from tests.arena.doing import do
from tests.arena.simulator import CALM, Simulation
from tests.arena.test_deeds import PICTURE

LATER = datetime(2100, 1, 1, tzinfo=UTC)


def stored(store: Path, content: bytes) -> str:
    """A file that was stored some time ago, and its digest."""
    digest = hashlib.sha256(content).hexdigest()
    store.mkdir(exist_ok=True)
    (store / digest).write_bytes(content)
    os.utime(store / digest, (0, 0))
    return digest


def test_a_bot_in_no_match_goes_wholly(database: Database, tmp_path: Path) -> None:
    """With its files, but for those that another has; its name is free."""
    store = tmp_path / "bundles"
    mine, large, ours, young = (stored(store, text) for text in (b"mine", b"large", b"ours", b"y"))
    with database.begin() as session:
        ada, bob = (accounts.add(session, ARENA, name, now=NOW) for name in ("ada", "bob"))
        first = version(session, ada, "mine")
        first.digest = mine
        session.add(LargeFile(bundle=mine, digest=large, size=5))
        version(session, ada, "mine", "b").digest = ours
        version(session, bob, "his").digest = ours
        do(session, DescribeBot("mine", "text", ("https://example.org/",), ("tag",)), NOW)
        do(session, PictureBot("mine", PICTURE), NOW)
        do(session, ShareBot("mine", "bob"), NOW)
        do(session, RenameBot("mine", "hers"), NOW)
        gone = do(session, DeleteBot("mine"), NOW)
        assert tuple(gone) == ("hers", None)
        assert session.scalars(sa.select(Bot.name)).all() == ["his"]
        assert session.scalars(sa.select(BotVersion.digest)).all() == [ours]
        for table in (FormerName, LargeFile):
            assert session.scalars(sa.select(table)).all() == []
        found = session.scalars(sa.select(SearchEntry.subject_id).where(SearchEntry.kind == "bot"))
        assert len(found.all()) == 1
        version(session, bob, "mine", "d")
    discarding.sweep(database, store, LATER)
    assert sorted(one.name for one in store.iterdir()) == sorted((ours, young))


def test_names_lead_on_and_are_nobody_elses(database: Database) -> None:
    """So it is for bots, people and competitions; back again, too."""
    with database.begin() as session:
        ada, bob = (accounts.add(session, ARENA, name, now=NOW) for name in ("ada", "bob"))
        bot = version(session, ada, "first").bot
        do(session, RenameBot("FIRST", "second"), NOW)
        do(session, RenameBot("first", "Third"), NOW)
        assert session.scalars(sa.select(Bot).where(Bot.named("Second"))).all() == [bot]
        with pytest.raises(SubmissionError, match="there is a bot first already, of another"):
            version(session, bob, "first", "b")
        his = version(session, bob, "his", "c").bot
        for taken in ("second", "THIRD"):
            with (
                pytest.raises(Refusal, match=f"the name {taken} is taken"),
                session.begin_nested(),
            ):
                do(session, RenameBot("his", taken), NOW)
        assert session.get_one(Bot, his.id).name == "his"
        # One's own is taken again, and a new version comes by whichever.
        assert version(session, ada, "second", "e").label == "Third v2"
        do(session, RenameBot("third", "first"), NOW)
        formers = sa.select(FormerName.lower_name).where(FormerName.kind == "bot")
        assert set(session.scalars(formers)) == {"second", "third"}
        do(session, RenameUser("ada", "lovelace"), NOW)
        assert accounts.get(session, "ADA") is ada
        with pytest.raises(Refusal, match="the name ada is taken"):
            accounts.add(session, ARENA, "ada", now=NOW)
        with pytest.raises(Refusal, match="the name guest is taken"):
            do(session, RenameUser("bob", "guest"), NOW)
        (ladder, *_) = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()
        before = ladder.name
        do(session, RenameCompetition(before, "renamed"), NOW)
        assert session.scalars(sa.select(Ladder).where(Ladder.named(before))).all() == [ladder]
        with pytest.raises(NotThere):
            do(session, RenameCompetition("nothing", "x"), NOW)


def test_no_more_names_than_some(database: Database) -> None:
    """Or one person could take them all."""
    with database.begin() as session:
        version(session, accounts.add(session, ARENA, "ada", now=NOW), "bot-0")
        for number in range(10):
            do(session, RenameBot(f"bot-{number}", f"bot-{number + 1}"), NOW)
        with pytest.raises(Refusal, match="had 10 names before"):
            do(session, RenameBot("bot-0", "bot-11"), NOW)


def test_what_was_only_refused_leaves_no_name(database: Database) -> None:
    """Somebody else can have it; its owner reads on why, and whoever passed once keeps it."""
    with database.begin() as session:
        version(session, accounts.add(session, ARENA, "eve", now=NOW), "other", "e")
        ada, bob = (accounts.add(session, ARENA, name, now=NOW) for name in ("ada", "bob"))
        ladder = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()[0]

        def hands_in(owner: User, digest: str) -> BotVersion:
            return submit(
                session, owner, "Wanted", digest=digest * 64, size=1, language="C", ladder=ladder,
                now=NOW,
            )  # fmt: skip

        first = hands_in(ada, "a")
        check = session.scalars(sa.select(Check).where(Check.version_id == first.id)).one()
        with pytest.raises(SubmissionError, match="there is a bot Wanted already"):
            hands_in(bob, "b")
        first.status, check.status = VersionStatus.REFUSED, JobStatus.FIXED
        second = hands_in(bob, "b")
        assert (second.bot.name, second.bot.owner, second.number) == ("Wanted", bob, 1)
        assert (first.bot.name, first.bot.owner) == (f"refused bot {first.bot.id}", ada)
        second.status = VersionStatus.READY
        with pytest.raises(SubmissionError, match="there is a bot Wanted already"):
            hands_in(ada, "c")


def test_what_was_asked_for_and_never_played_stays_void(database: Database) -> None:
    """Though a set of matches has it: its number is never given to another match."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        for name in ("one", "two"):
            version(session, ada, name, name[0])
        asked = make(session, ladders(session)[0], Pairing((1, 2)), NOW, requester=ada)
        asked.status = JobStatus.SET_ASIDE
        made = MatchSet(
            verdict=SetVerdict.REQUEUE, words="", note="", made=NOW, maker="ada",
            state=SetState.READY, matches=1, games=0,
        )  # fmt: skip
        session.add(made)
        session.flush()
        session.add(MatchOfSet(set_id=made.id, match_id=asked.id, state=MemberState.WAITS))
        session.flush()
        assert do(session, DeleteBot("one"), NOW)[0] == "one"
        assert session.scalars(sa.select(Match.status)).all() == [JobStatus.VOID]
        assert session.get_one(Match, asked.id).problem == "the bot was deleted"


Change = Callable[[sa.orm.Session, datetime], object]


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "called"),
    [
        (lambda session, now: do(session, RenameBot("bot-0", "other"), now), "other"),
        (lambda session, now: do(session, DeleteBot("bot-0"), now), "deleted bot"),
        (
            lambda session, now: [
                do(session, DeleteBot(f"bot-{number}"), now) for number in range(3)
            ],
            "deleted bot",
        ),
    ],
    ids=["renamed", "deleted", "all deleted"],
)
def test_what_is_played_meanwhile_ends_well(
    database: Database, change: Change, called: str
) -> None:
    """Nobody is taken for a liar, tables keep their numbers, and everything comes to rest."""
    simulation = Simulation(database, 3, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    simulation.alive()
    simulation.tick()
    simulation.run(12)
    with database.begin() as session:
        bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-0")).one()
        number, owner = bot.id, bot.owner
        its = sa.select(Entrant).join(Entrant.version).where(BotVersion.bot_id == number)
        games = sum(one.games for one in session.scalars(its))
        with_it = Match.places.any(sa.text("entrant_id = 1"))
        issued = sa.select(Match.id).where(Match.status == JobStatus.ISSUED, with_it)
        running = session.scalars(issued).all()
        assert games
        assert running, "it plays at this moment"
        session.execute(sa.update(GameSeat).values(log="what it said"))
        submit(
            session, owner, "bot-0", digest="f" * 64, size=1, language="C",
            ladder=session.scalars(sa.select(Ladder)).one(), now=simulation.now,
        )  # fmt: skip
        change(session, simulation.now)
    simulation.play(5)
    with database.read() as session:
        assert set(session.scalars(sa.select(Worker.problem))) == {""}, "none is taken for a liar"
        bot = session.get_one(Bot, number)
        assert bot.name.startswith(called)
        ended = session.scalars(sa.select(Match).where(Match.id.in_(running))).all()
        assert {match.status for match in ended} == {JobStatus.FIXED}
        for game in session.scalars(sa.select(PlayedGame).where(PlayedGame.match_id.in_(running))):
            seats = {seat.entrant.version.label for seat in game.seats}
            assert set(unpack(game.record).players) == seats
        assert sum(one.games for one in session.scalars(its)) >= games + len(running)
        (ladder,) = session.scalars(sa.select(Ladder)).all()
        assert rebuild.rebuild(session, ladder, write=False).equal
        if called != "other":
            active = its.where(Entrant.state == "active")
            assert session.scalars(active).all() == []
            assert bot.owner.name == accounts.NOBODY
            logs = sa.select(GameSeat.log).join(Entrant).where(Entrant.id == 1)
            assert {log for log in session.scalars(logs) if log == "what it said"} == set()
            checks = sa.select(Check.id).join(Check.version).where(BotVersion.bot_id == number)
            assert session.scalars(checks).all() == []
            assert {one.digest for one in session.scalars(
                sa.select(BotVersion).where(BotVersion.bot_id == number)
            )} == {""}  # fmt: skip
            with pytest.raises(Refusal):
                accounts.get(session, accounts.NOBODY)
            assert session.scalars(sa.select(User.name)).all()
