"""Bots that several people own together, on each kind of database."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import ARENA
from arena.bots import entries, sharing
from arena.bots.bot_deeds import ShareBot, UnshareBot
from arena.bots.submissions import SubmissionError
from arena.cli import run
from arena.ground.db import Database
from arena.ground.refusals import Refusal, WrongField
from arena.models import Bot, BotVersion, User
from arena.people import accounts
from arena.people.accounts import PeopleError
from tests.arena.bots.test_entries import NOW, version
from tests.arena.doing import do


def some(session: Session, *names: str) -> list[User]:
    return [accounts.add(session, ARENA, name, now=NOW) for name in names]


def test_what_is_shared_is_a_co_owners_as_well(database: Database) -> None:
    """Who shares a bot hands in its next version, and sees it among the own ones; then no more."""
    with database.begin() as session:
        ada, bob, eve = some(session, "ada", "Bob", "eve")
        bot = version(session, ada, "mine").bot
        version(session, eve, "hers")
        with pytest.raises(SubmissionError, match="of another owner"):
            version(session, bob, "mine", "b")
        do(session, ShareBot("mine", "bob"), NOW)
        assert version(session, bob, "mine", "b").label == "mine v2"
        assert bot.owner is ada
        listed = {who.name: [one[0].name for one in entries.bots_of(session, who.id)]
                  for who in (ada, bob, eve)}  # fmt: skip
        assert listed == {"ada": ["mine"], "Bob": ["mine"], "eve": ["hers"]}
        assert sharing.shared_with(session, bob.id) == {bot.id}
        do(session, UnshareBot("mine", "BOB"), NOW)
        with pytest.raises(SubmissionError, match="of another owner"):
            version(session, bob, "mine", "c")
        assert entries.bots_of(session, bob.id) == []
        notes = [(one.action, one.subject, one.detail) for one in audit.entries(session)]
        assert notes[:2] == [("unshare", "bot mine", "with Bob"), ("share", "bot mine", "with Bob")]


@pytest.mark.parametrize(
    ("deed", "name", "error", "words"),
    [
        (ShareBot, "nobody", PeopleError, "there is no user 'nobody'"),
        (ShareBot, " ", WrongField, "user: this is needed"),
        (ShareBot, "arena", PeopleError, "there is no user 'arena'"),
        (ShareBot, "ADA", Refusal, "the bot mine is ada's already"),
        (ShareBot, "mate-0", Refusal, "the bot mine is mate-0's already"),
        (ShareBot, "bob", Refusal, "the bot mine has 9 co-owners, and no more can be"),
        (UnshareBot, "nobody", PeopleError, "there is no user 'nobody'"),
        (UnshareBot, "ada", Refusal, "ada is no co-owner of the bot mine"),
        (UnshareBot, "bob", Refusal, "bob is no co-owner of the bot mine"),
    ],
)
def test_what_can_not_be_shared_is_said(
    database: Database,
    deed: type[ShareBot | UnshareBot],
    name: str,
    error: type[Exception],
    words: str,
) -> None:
    """With whom it is already, too many, nobody."""
    with database.begin() as session:
        ada, _ = some(session, "ada", "bob")
        version(session, ada, "mine")
        for mate in some(session, *(f"mate-{n}" for n in range(sharing.MOST_CO_OWNERS))):
            do(session, ShareBot("mine", mate.name), NOW)
        with pytest.raises(error) as raised:
            do(session, deed("mine", name), NOW)
        assert str(raised.value) == words


def test_the_commands_that_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The operator gives them; each refusal is one line."""
    database = Database(f"sqlite:///{tmp_path}/arena.db")
    database.upgrade()
    with database.begin() as session:
        ada, _ = some(session, "ada", "Bob")
        version(session, ada, "mine")

    def arena(*words: str) -> tuple[int, str, str]:
        code = run(["bot", *words, "--data", str(tmp_path)])
        return code, *capsys.readouterr()

    assert arena("share", "MINE", "bob") == (0, "the bot mine is Bob's as well now\n", "")
    code, _, said = arena("share", "mine", "Bob")
    assert (code, said.count("\n")) == (2, 1)
    assert "the bot mine is Bob's already" in said
    assert arena("unshare", "mine", "bob") == (0, "the bot mine is not Bob's any more\n", "")
    code, _, said = arena("share", "yours", "bob")
    assert (code, "there is no bot 'yours'" in said) == (2, True)
    with database.read() as session:
        assert session.scalars(sa.select(Bot.name)).all() == ["mine"]
        assert session.scalar(sa.select(sa.func.count()).select_from(BotVersion)) == 1
    database.close()
