"""Tokens: what they may do, and what they never do."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from arena.audit import ARENA
from arena.ground.db import Database
from arena.models import ApiToken, Role, Scope
from arena.people import accounts
from tests.arena.web.signing_in import (
    complaints,
    now,
    person,
    signed_in,
)


@pytest.mark.parametrize(
    ("scopes", "address", "status"),
    [
        (["read"], "/account", 200),
        (["submit"], "/account", 403),
        (["read"], "/submit", 403),
        (["read", "submit"], "/users", 403),
        (["admin"], "/users.json", 200),
    ],
)
def test_a_token_does_what_its_scopes_say(
    app: Flask, database: Database, scopes: list[str], address: str, status: int
) -> None:
    """Even an administrator's does no more."""
    person(database, "root", Role.ADMINISTRATOR)
    browser = signed_in(app, "root")
    fields = {"name": "a <b>program</b>", "scopes": scopes}
    shown = browser.post("/account/tokens", fields, page="/account").text
    (token,) = re.findall(r"<code>(arena_[\w-]+)</code>", shown)
    assert "a &lt;b&gt;program&lt;/b&gt;" in shown
    assert token not in browser.get("/account").text
    client = app.test_client()
    bearer = {"Authorization": f"Bearer {token}"}
    assert client.get(address, headers=bearer).status_code == status
    # A cookie beside it adds nothing.
    assert browser.client.get(address, headers=bearer).status_code == status
    with database.read() as session:
        used = session.scalars(sa.select(ApiToken.last_used)).one()
        assert used is not None


@pytest.mark.parametrize(
    ("before", "is_noted"), [(None, True), (30, False), (61, True)], ids=["never", "30 s", "61 s"]
)
def test_a_use_is_noted_once_a_minute(
    app: Flask, database: Database, before: int | None, is_noted: bool
) -> None:
    """It is of the token that was used, and of no other; the requests between write nothing."""
    used = None if before is None else now() - timedelta(seconds=before)
    with database.begin() as session:
        ada = accounts.get(session, "ada")
        token, _ = (
            accounts.add_token(session, ARENA, ada, name, [Scope.READ], now())
            for name in ("mine", "another")
        )
        session.execute(sa.update(ApiToken).values(last_used=used))
    client, bearer = app.test_client(), {"Authorization": f"Bearer {token}"}
    began = now()
    assert client.get("/account", headers=bearer).status_code == 200
    with database.read() as session:
        mine, other = session.scalars(sa.select(ApiToken.last_used).order_by(ApiToken.id))
    assert other == used
    assert (mine is not None and mine >= began) is is_noted


@pytest.mark.parametrize(
    ("name", "scopes", "words"),
    [
        ("root", [Scope.READ], "This token has no scope admin."),
        ("ada", [Scope.READ], "This is for administrators; your role is participant."),
    ],
)
def test_a_refusal_says_whether_role_or_token_is_too_little(
    app: Flask, database: Database, name: str, scopes: list[Scope], words: str
) -> None:
    """Another token helps who may do it, and nothing helps who may not."""
    person(database, "root", Role.ADMINISTRATOR)
    with database.begin() as session:
        user = accounts.get(session, name)
        token = accounts.add_token(session, ARENA, user, "ci", scopes, now())
    bearer = {"Authorization": f"Bearer {token}"}
    refused = app.test_client().get("/users.json", headers=bearer)
    assert (refused.status_code, refused.json["detail"]) == (403, words)


def test_a_role_that_was_lost_is_lost_to_tokens_too(app: Flask, database: Database) -> None:
    """What a token may is never more than what its owner may now."""
    person(database, "root", Role.ADMINISTRATOR)
    person(database, "second", Role.ADMINISTRATOR)
    with database.begin() as session:
        second = accounts.get(session, "second")
        token = accounts.add_token(session, ARENA, second, "ci", [Scope.ADMIN], now())
        accounts.set_role(session, ARENA, second, Role.PARTICIPANT, now())
    bearer = {"Authorization": f"Bearer {token}"}
    assert app.test_client().get("/users.json", headers=bearer).status_code == 403


@pytest.mark.parametrize(
    ("fields", "field", "complaint"),
    [
        ({"name": " ", "scopes": ["read"]}, "What it is for", "A token needs a name of at most"),
        ({"name": "a\u202eb", "scopes": ["read"]}, "What it is for", "60 printable characters"),
        ({"name": "ci"}, "It may", "A token needs one scope at least"),
        ({"name": "ci", "scopes": ["admin"]}, "It may", "A token needs one scope at least"),
        ({"name": "ci", "scopes": ["nonsense"]}, "It may", "is not a valid choice"),
    ],
    ids=["no name", "what can't be seen", "no scope", "a scope that ada has not", "no such scope"],
)
def test_the_form_says_beside_the_field_what_is_wrong(
    app: Flask, fields: dict[str, Any], field: str, complaint: str
) -> None:
    """It is a sentence; and the form is open, so that it is seen."""
    answer = signed_in(app, "ada").post("/account/tokens", fields, page="/account")
    assert answer.status_code == 422
    (said,) = complaints(answer)
    assert complaint in said
    before = answer.text.partition(said)[0]
    assert re.findall("What it is for|It may", before)[-1] == field
    assert re.findall("<details[^>]*>", before)[-1] == "<details open>"


def test_a_revoked_token_is_refused(app: Flask, database: Database) -> None:
    """It is at once, in words that speak of the token; so is what never was one."""
    browser = signed_in(app, "ada")
    fields = {"name": "ci", "scopes": ["read"]}
    shown = browser.post("/account/tokens", fields, page="/account").text
    (token,) = re.findall(r"<code>(arena_[\w-]+)</code>", shown)
    client, bearer = app.test_client(), {"Authorization": f"Bearer {token}"}
    # The word may be written in any case, and several spaces follow it (RFC 9110, 11.1 and 11.4).
    for scheme in ("Bearer", "bearer", "BEARER "):
        shown = {"Authorization": f"{scheme} {token}"}
        assert client.get("/account", headers=shown).status_code == 200
    browser.post("/account/tokens/1/revoke", page="/account")
    refused = client.get("/account", headers=bearer)
    assert (refused.status_code, "This token is not known here" in refused.text) == (401, True)
    for nonsense in ("Bearer", "Bearer ", "Bearer arena_x", "bearer x y"):
        assert client.get("/account", headers={"Authorization": nonsense}).status_code == 401
    assert browser.client.get("/account", headers={"Authorization": "Bearer x"}).status_code == 401


def test_a_token_makes_and_revokes_no_token_and_no_password(app: Flask, database: Database) -> None:
    """Whoever found one can not dig in with it, nor shut its owner's programs out."""
    with database.begin() as session:
        ada = accounts.get(session, "ada")
        # An administrator's: what else it may do.
        ada.role = Role.ADMINISTRATOR
        token = accounts.add_token(session, ARENA, ada, "ci", list(Scope), now())
    client, bearer = app.test_client(), {"Authorization": f"Bearer {token}"}
    for change in ("tokens", "tokens/1/revoke", "password", "end-sessions"):
        assert client.post(f"/account/{change}", headers=bearer).status_code == 403
    for name in ("ada", "root"):
        refused = client.post(f"/users/{name}/reset", headers=bearer)
        assert (refused.status_code, "sign in with a browser" in refused.text) == (403, True)
    assert client.get("/account", headers=bearer).status_code == 200
