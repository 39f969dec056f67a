"""Accounts that are exported and deleted, on each kind of database."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA, Actor
from arena.bots import account_export, teams
from arena.bots.account_deletion import DeleteUser
from arena.bots.bot_deeds import ShareBot
from arena.competitions.pairings import Pairing
from arena.deeds import By, perform
from arena.ground.db import Database
from arena.ground.locks import lock
from arena.models import (
    SCOPES,
    ApiToken,
    AuditEntry,
    Base,
    Bot,
    Check,
    CoOwner,
    Follow,
    JobStatus,
    Ladder,
    Match,
    Role,
    Scope,
    Selection,
    Sitting,
    User,
)
from arena.people import accounts
from arena.people.accounts import PeopleError
from arena.people.profiles import DescribeUser
from arena.schedule.matchmaking import make
from tests.arena.bots.test_deletion import stored
from tests.arena.bots.test_entries import NOW, ladders, version
from tests.arena.doing import do
from tests.arena.meanwhile import at_once


@pytest.mark.long
def test_an_account_goes_with_what_was_its_own(database: Database, tmp_path: Path) -> None:
    """Shared bots pass to a co-owner; nothing that stays has the name, but what others wrote."""
    with database.begin() as session:
        ada, _ = (accounts.add(session, ARENA, name, now=NOW) for name in ("ada", "bob"))
        version(session, ada, "hers")
        version(session, ada, "theirs", "b")
        do(session, ShareBot("theirs", "bob"), NOW)
        accounts.add_token(session, ARENA, ada, "ci", [Scope.READ], NOW)
        session.add(Selection(owner_id=ada.id, name="all", words="", created=NOW))
        number = ada.id
        by = By(Actor(ada.id, "ada", "10.1.2.3"), SCOPES[Role.PARTICIPANT], NOW)
        perform(session, DescribeUser("ada", "I am ada."), by)
        # What an account's rows are told by is looked for in all tables below.
        gone = perform(session, DeleteUser("ADA", "ada"), by).answer
        assert tuple(gone) == ("ada", 1, 1)
        assert [(one.name, one.owner.name) for one in session.scalars(sa.select(Bot))] == [
            ("theirs", "bob")
        ]
        for table in (ApiToken, Selection, CoOwner, Follow, Sitting):
            assert session.scalars(sa.select(table)).all() == [], table
        with pytest.raises(PeopleError, match="there is no user 'ada'"):
            accounts.get(session, "ada")
        (left,) = session.scalars(sa.select(User).where(User.id == number)).all()
        assert (left.name, left.active, left.password) == (f"deleted user {number}", False, None)
        its = sa.select(AuditEntry).where(AuditEntry.actor_id == number)
        assert {(one.actor, one.origin) for one in session.scalars(its)} == {(left.name, "")}
        named = {
            f"{table.name}.{column.name}"
            for table in Base.metadata.sorted_tables
            for column in table.columns
            for value in session.scalars(sa.select(column))
            if value == "ada" or value == "user ada"
        }
        assert named == set()
        assert accounts.add(session, ARENA, "ada", now=NOW).id != number


def test_all_bots_are_locked_before_one_is_deleted(database: Database) -> None:
    """Matches of all, then their competitions: the recorder, which has a match of the second and
    wants the ladder, gets it."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        bob = accounts.add(session, ARENA, "bob", now=NOW)
        for owner, name in ((ada, "one"), (ada, "two"), (bob, "three")):
            version(session, owner, name, name[1])
        ladder = ladders(session)[0]
        made = [make(session, ladder, Pairing((one, 3)), NOW) for one in (1, 2)]
        session.flush()
        second, number = made[1].id, ladder.id

    def record(session: Session) -> None:
        session.get_one(Match, second, with_for_update=True)

    def hold(session: Session) -> None:
        lock(session, session.get_one(Ladder, number))

    at_once(database, record, lambda session: do(session, DeleteUser("ada", "ada"), NOW), rest=hold)
    with database.read() as session:
        assert session.scalars(sa.select(Match.status)).all() == [JobStatus.VOID] * 2


def test_the_last_administrator_stays(database: Database) -> None:
    with database.begin() as session:
        accounts.add(session, ARENA, "root", role=Role.ADMINISTRATOR, now=NOW)
        with pytest.raises(PeopleError, match="the only administrator"):
            do(session, DeleteUser("root", "root"), NOW)


def test_an_export_has_what_is_ones_own(database: Database, tmp_path: Path) -> None:
    """And nothing of a bot that is shared, nor a secret."""
    store = tmp_path / "bundles"
    empty_tar = bytes(10240)
    with database.begin() as session:
        ada, bob = (accounts.add(session, ARENA, name, now=NOW) for name in ("ada", "bob"))
        ada.password, ada.totp_secret = "a hash", "a secret"
        version(session, ada, "hers").digest = stored(store, empty_tar)
        version(session, bob, "his", "b")
        do(session, ShareBot("his", "ada"), NOW)
        # Of teams the captain has them.
        for captain, name in ((ada, "knights"), (bob, "rooks")):
            teams.make(session, name, captain, NOW)
            version(session, captain, name, name[0]).bot.owner = teams.find(session, name)
        teams.join(session, teams.find(session, "rooks"), ada, NOW)
        accounts.add_token(session, ARENA, ada, "ci", [Scope.READ], NOW)
        for check in session.scalars(sa.select(Check)):
            check.status, check.lease_ends = JobStatus.ISSUED, NOW
            check.ticket, check.worker = "a ticket", "a worker"
        number = ada.id
    content = b"".join(account_export.export(database, store, number))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert set(archive.namelist()) == {
            "account.json", "bots.json", "sittings.jsonl", "games/hers.jsonl", "logs/hers.jsonl",
            "bundles/hers-v1.tar", "games/knights.jsonl", "logs/knights.jsonl",
        }  # fmt: skip
        account = json.loads(archive.read("account.json"))
        bot, of_team = json.loads(archive.read("bots.json"))
    assert (account["name"], [one["name"] for one in account["tokens"]]) == ("ada", ["ci"])
    assert not {"password", "totp_secret", "digest"} & (
        account.keys() | account["tokens"][0].keys()
    )
    assert (of_team["name"], account["teams"]) == ("knights", ["knights", "rooks"])
    (check,) = bot["checks"]
    assert check.keys() == account_export.CHECK
    assert (bot["name"], [one["number"] for one in bot["versions"]]) == ("hers", [1])
