"""What owners do with their bots, on each kind of database."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.bots import entries
from arena.bots.bot_deeds import EnterBot
from arena.bots.furnish import furnish
from arena.bots.submissions import enter, submit
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    User,
    VersionStatus,
)
from arena.people import accounts
from engine.games import GAMES
from tests.arena.doing import do

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def ladders(session: Session) -> list[Ladder]:
    """Those of Clobber and Oxono, as a fresh arena has them."""
    if not session.scalar(sa.select(sa.func.count()).select_from(Ladder)):
        furnish(session, [], NOW, games=[GAMES["clobber"], GAMES["oxono"]])
    return list(session.scalars(sa.select(Ladder).order_by(Ladder.id)))


def version(session: Session, owner: User, name: str, digest: str = "a") -> BotVersion:
    """A version that has passed its check for the first ladder."""
    made = submit(
        session, owner, name, digest=digest * 64, size=1, language="C", ladder=ladders(session)[0],
        now=NOW,
    )  # fmt: skip
    made.status = VersionStatus.READY
    for check in session.scalars(sa.select(Check).where(Check.version_id == made.id)):
        check.status = JobStatus.FIXED
        check.findings = [{"kept": True, "words": "it plays"}]
    enter(session, ladders(session)[0], made, NOW)
    session.flush()
    return made


def ask_entry(session: Session, first: BotVersion, ladder: Ladder) -> Check | None:
    """The check that an entry takes first."""
    return do(session, EnterBot(first.bot.name, ladder.name, first.number), NOW).check


def test_the_ladders_that_fit(database: Database) -> None:
    """They are of the game that was checked, take bots, and were not entered nor asked for yet."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        first = version(session, ada, "mine")
        clobber = [ladder for ladder in ladders(session) if ladder.game == "clobber"]
        assert len(clobber) > 1
        assert entries.fitting(session, first) == clobber[1:]
        check = ask_entry(session, first, clobber[1])
        assert ask_entry(session, first, clobber[1]) is check
        assert entries.fitting(session, first) == clobber[2:]
        for ladder in clobber[2:]:
            ladder.state = CompetitionState.FROZEN
        session.flush()
        assert entries.fitting(session, first) == []


def test_a_game_that_is_not_played_fits_nowhere(database: Database) -> None:
    """Whose check failed, though that of another game passed."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        first = version(session, ada, "mine")
        oxono = next(ladder for ladder in ladders(session) if ladder.game == "oxono")
        check = ask_entry(session, first, oxono)
        assert check is not None
        check.status, check.findings = JobStatus.FIXED, [{"kept": False, "words": "it does not"}]
        session.flush()
        assert {ladder.game for ladder in entries.fitting(session, first)} == {"clobber"}


def test_an_older_version_comes_back(database: Database) -> None:
    """It takes the place of the newer one at once, with the rating that it had."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        first, second = version(session, ada, "mine"), version(session, ada, "mine", "b")
        ladder = ladders(session)[0]
        assert ask_entry(session, first, ladder) is None
        session.flush()
        states = {
            entrant.version_id: entrant.state for entrant in session.scalars(sa.select(Entrant))
        }
        assert states == {first.id: EntrantState.ACTIVE, second.id: EntrantState.RETIRED}


@pytest.mark.parametrize("state", [CompetitionState.FROZEN, CompetitionState.CLOSED])
def test_a_ladder_that_takes_no_bots(database: Database, state: CompetitionState) -> None:
    """Not those that were there before either."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        first = version(session, ada, "mine")
        ladders(session)[0].state = state
        with pytest.raises(Refusal, match=f"is {state} and takes no bots"):
            ask_entry(session, first, ladders(session)[0])


def test_the_bots_of_an_owner(database: Database) -> None:
    """They come by name, each with its last version and where it is not retired; nobody else's."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        eve = accounts.add(session, ARENA, "eve", now=NOW)
        version(session, ada, "zeta")
        version(session, ada, "Alpha")
        last = version(session, ada, "zeta", "b")
        version(session, eve, "theirs")
        found = entries.bots_of(session, ada.id)
        assert [bot.name for bot, _, _ in found] == ["Alpha", "zeta"]
        assert found[1][1] is last
        assert [entrant.version_id for entrant in found[1][2]] == [last.id]
        found[1][2][0].state = EntrantState.SUSPENDED
        session.flush()
        assert [entrant.version_id for entrant in entries.bots_of(session, ada.id)[1][2]] == [
            last.id
        ]
        assert entries.withdraw(session, ARENA, found[1][0], NOW) == 1
        session.flush()
        assert entries.bots_of(session, ada.id)[1][2] == ()
