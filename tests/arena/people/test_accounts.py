"""Accounts: how they come about and change, and that each change is noted."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from sqlalchemy.exc import IntegrityError

from arena import audit
from arena.audit import ARENA
from arena.ground.db import Database
from arena.models import HOUSE, AccountLink, ApiToken, LinkKind, Role, Scope, User
from arena.people import accounts, sessions
from arena.people.accounts import PeopleError

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RIGHT_TO_LEFT = "\N{RIGHT-TO-LEFT OVERRIDE}ada"


def deeds(database: Database) -> list[str]:
    """What the audit log says, oldest first."""
    with database.read() as session:
        return [f"{one.action} {one.subject}" for one in reversed(audit.entries(session))]


@pytest.mark.parametrize(
    "name",
    ["", "-ada", "ada lovelace", "a" * 41, "<b>ada</b>", RIGHT_TO_LEFT, "ad\0a", "\u00e9"],
)
def test_what_is_no_name_is_refused(database: Database, name: str) -> None:
    """Letters, digits and three signs, so that names look like what they are."""
    with database.begin() as session, pytest.raises(PeopleError, match="is no name"):
        accounts.add(session, ARENA, name, now=NOW)


@pytest.mark.parametrize("name", ["ada", "ADA", "Ada", HOUSE, HOUSE.upper(), "Guest"])
def test_nobody_takes_the_name_of_another(database: Database, name: str) -> None:
    """Not by the size of its letters either, nor the arena's own."""
    with database.begin() as session:
        accounts.add(session, ARENA, "ada", now=NOW)
        with pytest.raises(PeopleError, match="is taken"):
            accounts.add(session, ARENA, name, now=NOW)


def test_the_schema_lets_no_two_names_be_alike(database: Database) -> None:
    """Also where nobody looked before."""
    with pytest.raises(IntegrityError), database.begin() as session:
        session.add_all([User(name="ada", created=NOW), User(name="Ada", created=NOW)])


def test_a_fresh_arena_gets_one_administrator(database: Database) -> None:
    """With a password that is right, and must be changed; a later start makes none."""
    with database.begin() as session:
        password = accounts.first_administrator(session, "ada", NOW)
        assert password is not None
        assert accounts.first_administrator(session, "bob", NOW) is None
        user = accounts.get(session, "ada")
        assert user.role is Role.ADMINISTRATOR
        assert user.must_change
        assert PasswordHasher().verify(user.password or "", password)
    assert deeds(database) == ["add user user ada", "give one-time password user ada"]


def test_who_submitted_before_becomes_the_administrator(database: Database) -> None:
    """`arena submit` makes owners without a password; they keep their bots."""
    with database.begin() as session:
        session.add(User(name="ada", created=NOW))
        session.flush()
        assert accounts.first_administrator(session, "ada", NOW)
        assert [user.role for user in accounts.listed(session)] == [Role.ADMINISTRATOR]


def test_a_new_password_ends_sessions_and_links(database: Database) -> None:
    """Whoever had got in with the old one is out."""
    with database.begin() as session:
        user = accounts.add(session, ARENA, "ada", now=NOW)
        key = sessions.begin(session, user, "192.0.2.7", "", NOW).key
        secret = accounts.reset_link(session, ARENA, user, NOW)
        accounts.give_one_time_password(session, ARENA, user, NOW)
        assert sessions.find(session, key, NOW) is None
        with pytest.raises(PeopleError):
            accounts.find_link(session, LinkKind.RESET, secret, NOW)


def test_an_arena_keeps_an_administrator(database: Database) -> None:
    """The last one can neither go nor be made something less; the last but one can."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", role=Role.ADMINISTRATOR, now=NOW)
        bob = accounts.add(session, ARENA, "bob", role=Role.ADMINISTRATOR, now=NOW)
        accounts.set_active(session, ARENA, bob, active=False, now=NOW)
        with pytest.raises(PeopleError, match="only administrator"):
            accounts.set_role(session, ARENA, ada, Role.ORGANISER, NOW)
        with pytest.raises(PeopleError, match="only administrator"):
            accounts.set_active(session, ARENA, ada, active=False, now=NOW)
        accounts.set_active(session, ARENA, bob, active=True, now=NOW)
        accounts.set_role(session, ARENA, ada, Role.ORGANISER, NOW)
        assert ada.role is Role.ORGANISER


def test_what_changes_nothing_is_not_noted(database: Database) -> None:
    """The log has deeds, no clicks."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        accounts.set_role(session, ARENA, ada, Role.PARTICIPANT, NOW)
        accounts.set_active(session, ARENA, ada, active=True, now=NOW)
    assert deeds(database) == ["add user user ada"]


@pytest.mark.parametrize(
    ("after", "works"), [(timedelta(days=6, hours=23), True), (timedelta(days=7), False)]
)
def test_an_invitation_lasts_a_week(database: Database, after: timedelta, works: bool) -> None:
    """And is kept as a digest alone."""
    with database.begin() as session:
        secret = accounts.invite(session, ARENA, Role.ORGANISER, NOW)
        assert session.scalars(sa.select(AccountLink.digest)).one() != secret
        if works:
            link = accounts.use_link(session, LinkKind.INVITATION, secret, NOW + after)
            assert link.role is Role.ORGANISER
        else:
            with pytest.raises(PeopleError, match="too old"):
                accounts.use_link(session, LinkKind.INVITATION, secret, NOW + after)


def test_a_link_works_once_and_only_for_what_it_is(database: Database) -> None:
    """An invitation resets nothing."""
    with database.begin() as session:
        secret = accounts.invite(session, ARENA, Role.PARTICIPANT, NOW)
        with pytest.raises(PeopleError):
            accounts.find_link(session, LinkKind.RESET, secret, NOW)
        accounts.use_link(session, LinkKind.INVITATION, secret, NOW)
        with pytest.raises(PeopleError, match="was used"):
            accounts.use_link(session, LinkKind.INVITATION, secret, NOW)


@pytest.mark.parametrize(
    ("name", "scopes", "words"),
    [
        ("", [Scope.READ], "needs a name"),
        ("  ", [Scope.READ], "needs a name"),
        ("x" * 61, [Scope.READ], "needs a name"),
        ("ci", [], "one scope at least"),
        ("ci", [Scope.READ, Scope.ADMIN], "none that its owner has not"),
        ("ci", [Scope.ORGANISE], "none that its owner has not"),
    ],
)
def test_tokens_that_are_not_made(
    database: Database, name: str, scopes: list[Scope], words: str
) -> None:
    """A token never has what its owner has not."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        with pytest.raises(PeopleError, match=words):
            accounts.add_token(session, ARENA, ada, name, scopes, NOW)


def test_a_token_is_kept_as_its_digest(database: Database) -> None:
    """SHA-256 of the whole token, by the standard library; the secret stands nowhere."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        secret = accounts.add_token(session, ARENA, ada, "ci", [Scope.SUBMIT, Scope.READ], NOW)
        token = session.scalars(sa.select(ApiToken)).one()
        assert token.digest == hashlib.sha256(secret.encode()).hexdigest()
        assert token.scopes == ["read", "submit"]
        accounts.revoke_token(session, ARENA, token, NOW)
    assert deeds(database)[-2:] == ["add token user ada", "revoke token user ada"]
    with database.read() as session:
        assert accounts.tokens_of(session, ada.id) == []
        assert secret not in str([audit.as_json(one) for one in audit.entries(session)])


def test_there_is_an_end_to_tokens(database: Database) -> None:
    """A program that makes one each time fills no table."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        for number in range(accounts.TOKENS_ALLOWED):
            accounts.add_token(session, ARENA, ada, str(number), [Scope.READ], NOW)
        with pytest.raises(PeopleError, match="revoke one first"):
            accounts.add_token(session, ARENA, ada, "one more", [Scope.READ], NOW)
