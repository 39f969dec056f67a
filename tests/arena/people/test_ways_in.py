"""What lets somebody in, of which one always stays."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.ground.db import Database
from arena.models import Identity, Passkey, User
from arena.people import accounts, identities, passkeys
from arena.people.accounts import PeopleError

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
UNI, GITHUB = "https://login.example", "https://github.com"


@pytest.mark.parametrize(
    ("password", "issuers", "keys", "known", "left"),
    [
        # Whether there is a password, identities of whom, how many passkeys, which providers there
        # are now; and how much is left when one after the other is to go, the identities first.
        (True, [UNI], 1, [UNI], 0),
        (True, [], 2, [], 0),
        (False, [UNI], 0, [UNI], 1),
        (False, [UNI, GITHUB], 0, [UNI, GITHUB], 1),
        (False, [UNI, GITHUB], 0, [UNI], 1),
        (False, [UNI, GITHUB], 0, [], 2),
        (False, [UNI], 1, [UNI], 1),
        (False, [], 3, [UNI], 1),
    ],
)
def test_the_last_way_in_stays(
    database: Database, password: bool, issuers: list[str], keys: int, known: list[str], left: int
) -> None:
    """A password does, and a passkey; an identity as long as its provider is one."""
    with database.begin() as session:
        user = accounts.add(session, ARENA, "ada", password="x" if password else None, now=NOW)
        for issuer in issuers:
            identities.link(session, ARENA, user, issuer, "17", "ada", NOW)
        for number in range(keys):
            its = {"name": "key", "credential": f"id{number}", "public_key": b"\0\1"}
            session.add(Passkey(user_id=user.id, sign_count=0, created=NOW, **its))
        assert user.can_sign_in == bool(password or issuers or keys)
        ada = user.id
    refused = 0
    for kind in (Identity, Passkey):
        with database.read() as session:
            numbers = session.scalars(sa.select(kind.id).order_by(kind.id)).all()
        for number in numbers:
            try:
                with database.begin() as session:
                    user, one = session.get_one(User, ada), session.get_one(kind, number)
                    if isinstance(one, Identity):
                        identities.unlink(session, ARENA, user, one, known, NOW)
                    else:
                        passkeys.remove(session, ARENA, user, one, known, NOW)
            except PeopleError:
                refused += 1
    assert refused == left
    with database.read() as session:
        assert session.get_one(User, ada).can_sign_in == bool(password or left)


def test_an_identity_lets_in_one_account(database: Database) -> None:
    """The same at another provider is another."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        eve = accounts.add(session, ARENA, "eve", now=NOW)
        for _ in range(2):  # who links it twice has it once
            identities.link(session, ARENA, ada, UNI, "17", "ada", NOW)
        identities.link(session, ARENA, eve, GITHUB, "17", "eve", NOW)
        with pytest.raises(PeopleError, match="signs in to another account"):
            identities.link(session, ARENA, eve, UNI, "17", "eve", NOW)
        found = identities.find(session, UNI, "17")
        assert found is not None
        assert found.user.name == "ada"
        assert identities.find(session, UNI, "1") is None
