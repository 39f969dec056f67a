"""Signing in by a provider: a real one, which says what is right and what is wrong."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import requests
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from arena import audit
from arena.ground.config import SettingError, Settings
from arena.ground.db import Database
from arena.models import Identity, Role, User
from arena.people import accounts
from arena.people.providers import Provider as Known
from arena.people.providers import load
from tests.arena.web.accounts.provider import CLIENT_ID, CLIENT_SECRET, Claims, Provider, running
from tests.arena.web.signing_in import NEW, Browser, deeds, now, pages, person, signed_in

BACK = "http://localhost/sign-in/with/{}/back"


@pytest.fixture(scope="module")
def listening() -> Iterator[Provider]:
    """The provider, which lets browsers back to the arena of these tests alone."""
    with running({BACK.format("uni"), BACK.format("github")}) as provider:
        yield provider


@pytest.fixture
def provider(listening: Provider) -> Provider:
    """It, as it is when nothing is wrong."""
    fresh = Provider()
    for name in ("user", "github", "claims", "metadata", "sign"):
        setattr(listening, name, getattr(fresh, name))
    listening.asked.clear()
    return listening


def file_of(provider: Provider, folder: Path, accounts: str = "open") -> str:
    """The settings' file, with the provider as two."""
    secret = folder / "secret"
    secret.write_text(f"{CLIENT_SECRET}\n")
    file = folder / "providers.toml"
    file.write_text(
        f"""
        [uni]
        title = "The University"
        issuer = "{provider.address}"
        client_id = "{CLIENT_ID}"
        client_secret_file = "{secret}"
        accounts = "{accounts}"

        [github]
        issuer = "{provider.address.replace("127.0.0.1", "localhost")}/"
        client_id = "{CLIENT_ID}"
        client_secret = "{CLIENT_SECRET}"
        """
    )
    return str(file)


@pytest.fixture
def app(database: Database, provider: Provider, tmp_path: Path) -> Iterator[Flask]:
    """An arena that takes newcomers from the university, and ada has an account of old."""
    person(database, "ada")
    app = pages(database, registration="closed", providers=file_of(provider, tmp_path))
    yield app
    app.extensions["arena.database"].close()


def led_back(address: str) -> str:
    """Where a browser comes back to that was led to the provider."""
    answer = requests.get(address, allow_redirects=False, timeout=10)
    assert answer.status_code == 302, answer.text
    return answer.headers["Location"].removeprefix("http://localhost")


def go(browser: Browser, name: str = "uni", **query: str) -> TestResponse:
    """Signs in by the provider, as far as the arena's answer to it."""
    begun = browser.client.get(f"/sign-in/with/{name}", query_string=query)
    assert begun.status_code == 302, begun.text
    return browser.get(led_back(begun.location))


def linked(database: Database) -> list[tuple[str, str, str]]:
    with database.read() as session:
        rows = session.execute(
            sa.select(User.name, Identity.subject, Identity.label)
            .join(Identity, Identity.user_id == User.id)
            .order_by(Identity.id)
        )
        return [tuple(row) for row in rows]


def register(browser: Browser, name: str) -> TestResponse:
    return browser.post("/register/with", {"name": name}, page="/register/with")


def test_a_newcomer_makes_an_account_and_comes_back(
    app: Flask, database: Database, provider: Provider
) -> None:
    """Choosing a name; the second time it is a sign-in, to where one was going."""
    browser = Browser(app)
    assert "Sign in with The University" in browser.get("/sign-in").text
    assert go(browser, next="/submit?bot=x").location == "/register/with"
    asked = provider.asked[-1]
    assert asked["code_challenge_method"] == "S256"
    assert min(len(asked[name]) for name in ("state", "nonce", "code_challenge")) >= 20
    page = browser.get("/register/with").text
    assert 'value="ada.l"' in page
    assert register(browser, "ADA").status_code == 422
    assert register(browser, "lovelace").location == "/submit?bot=x"
    assert linked(database) == [("lovelace", "17", "ada.l")]
    assert deeds(database)[-3:] == [
        "lovelace: add user", "lovelace: link identity", "lovelace: sign in",
    ]  # fmt: skip
    assert register(browser, "another").location == "/sign-in"
    provider.user = {"sub": "17", "name": "Countess\0"}
    other = Browser(app)
    assert go(other, next="/tests").location == "/tests"
    assert linked(database) == [("lovelace", "17", "Countess")]
    # It has no password, and can set one without knowing it.
    assert "Set a password" in other.get("/account/safety").text
    other.post("/account/password", NEW, page="/account/password")
    assert Browser(app).sign_in("lovelace", NEW["password"]).location == "/account"


@pytest.mark.parametrize("name", ["uni", "github"])
def test_an_account_is_linked_and_unlinked(
    app: Flask, database: Database, provider: Provider, name: str
) -> None:
    """Who is signed in to it does so; the last way in stays."""
    browser = signed_in(app, "ada")
    page = browser.post(f"/account/identities/{name}/link", page="/account/safety").text
    begun = page.partition('content="0; url=')[2].partition('"')[0].replace("&amp;", "&")
    assert browser.get(led_back(begun)).location == "/account/safety"
    assert [row[:2] for row in linked(database)] == [("ada", "17")]
    assert go(Browser(app), name).location == "/account"
    # Whoever else comes with it from their own account is told so.
    person(database, "eve")
    eve = signed_in(app, "eve")
    page = eve.post(f"/account/identities/{name}/link", page="/account/safety").text
    begun = page.partition('content="0; url=')[2].partition('"')[0].replace("&amp;", "&")
    refused = eve.get(led_back(begun))
    assert (refused.status_code, "another account" in refused.text) == (409, True)
    number = browser.get("/account/safety.json").json["identities"][0]["id"]
    unlink = f"/account/identities/{number}/unlink"
    assert eve.post(unlink, page="/account/safety").status_code == 404
    with database.begin() as session:
        accounts.get(session, "ada").password = None
    refused = browser.post(unlink, page="/account/safety")
    assert (refused.status_code, "nothing else would let you in" in refused.text.lower()) == (
        409,
        True,
    )
    person(database, "ada")  # who gets a password
    assert browser.post(unlink, page="/account/safety").location == "/account/safety"
    assert linked(database) == []


@pytest.mark.parametrize(
    ("claims", "sign"),
    [
        ({"nonce": "of another"}, ""),
        ({"nonce": None}, ""),
        ({"iss": "https://elsewhere.example"}, ""),
        ({"aud": "another client"}, ""),
        ({"aud": ["another client"], "azp": CLIENT_ID}, ""),
        ({"aud": None}, ""),
        ({"azp": "another client"}, ""),
        ({"exp": 1}, ""),
        ({"exp": None}, ""),
        ({"iat": None}, ""),
        ({"nbf": 1 << 40}, ""),
        ({"sub": None}, ""),
        ({"sub": ""}, ""),
        ({"sub": 17}, ""),
        ({"sub": "x" * 256}, ""),
        ({}, "other key"),
        ({}, "none"),
        ({}, "HS256"),
    ],
)
def test_what_is_not_proven_lets_nobody_in(
    app: Flask, database: Database, provider: Provider, claims: Claims, sign: str
) -> None:
    """Wrong claims and wrong signatures alike, by one line; nobody is made or signed in."""
    provider.sign = sign
    provider.claims = lambda said: {
        key: value for key, value in (said | claims).items() if value is not None
    }
    browser = Browser(app)
    answer = go(browser)
    assert answer.status_code == 502
    assert "says of you can&#39;t be trusted" in answer.text
    assert browser.get("/account").status_code == 302
    assert browser.get("/register/with").location == "/sign-in"


def test_a_clock_may_be_off_by_half_a_minute(app: Flask, provider: Provider) -> None:
    """Those of arena and provider are never the same."""
    provider.claims = lambda said: said | {"exp": int(time.time()) - 30}
    assert go(Browser(app)).location == "/register/with"


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"issuer": "https://elsewhere.example"}, "can&#39;t be trusted"),
        ({"id_token_signing_alg_values_supported": ["HS256", "none"]}, "can&#39;t be trusted"),
        ({"authorization_endpoint": None}, "can&#39;t be trusted"),
    ],
)
def test_a_provider_that_is_another_is_not_led_to(
    app: Flask, provider: Provider, metadata: dict[str, Any], words: str
) -> None:
    """Nor one whose signatures anybody could make."""
    provider.metadata = metadata
    answer = Browser(app).get("/sign-in/with/uni")
    assert answer.status_code == 502
    assert words in answer.text
    if "authorization_endpoint" not in metadata:
        provider.metadata = {}  # what was wrong there for a while is not remembered
        assert go(Browser(app)).location == "/register/with"


def test_a_provider_that_is_away_is_told(database: Database, tmp_path: Path) -> None:
    """It is told in one line; signing in by password goes on."""
    person(database, "ada")
    away = Provider(address="http://127.0.0.1:9")
    app = pages(database, providers=file_of(away, tmp_path))
    answer = Browser(app).get("/sign-in/with/uni")
    assert (answer.status_code, "does not answer" in answer.text) == (502, True)
    assert Browser(app).sign_in("ada").location == "/account"
    app.extensions["arena.database"].close()


def test_a_provider_that_hangs_holds_up_nobody_else(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks is told after a while, and whoever comes next at once; later it is asked again."""
    monkeypatch.setattr("arena.web.providers.ASKED_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = Provider(address=f"http://127.0.0.1:{silent.getsockname()[1]}")
        app = pages(database, providers=file_of(hanging, tmp_path))
        asked = []
        for is_later in (False, False, True):
            if is_later:
                app.extensions["arena.providers.away"].clear()
            assert Browser(app).get("/sign-in/with/uni").status_code == 502
            asked.append(_connected(silent))
        assert asked == [1, 0, 1]
        app.extensions["arena.database"].close()


def _connected(server: socket.socket) -> int:
    """How many have connected since the last look."""
    server.setblocking(False)
    found = 0
    with suppress(BlockingIOError):
        while True:
            server.accept()[0].close()
            found += 1
    return found


def test_what_was_not_begun_here_ends_here(app: Flask, provider: Provider) -> None:
    """A wrong state, one of another browser, and a code that was used before."""
    browser = Browser(app)
    back = led_back(browser.get("/sign-in/with/uni").location)
    for address in (back, back.replace("state=", "state=x"), "/sign-in/with/uni/back", back[:-9]):
        answer = Browser(app).get(address)
        assert answer.status_code == 400
        assert "was not begun in this browser" in answer.text
    cookie = browser.client.get_cookie("arena")
    assert cookie is not None
    assert browser.get(back).location == "/register/with"
    assert browser.get(back).status_code == 400
    # Who brings the old cookie back has the state again; the provider knows the code was used.
    browser.client.set_cookie("arena", cookie.value)
    assert browser.get(back).status_code == 502
    # What one provider was asked for is no answer of another.
    other = Browser(app)
    back = led_back(other.get("/sign-in/with/uni").location)
    assert other.get(back.replace("/uni/", "/github/")).status_code == 400


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("error=access_denied", "(access_denied)"),
        ("error=<b>&error_description=come+to+elsewhere.example", "(error)"),
    ],
)
def test_a_refusal_of_the_provider_is_told(app: Flask, query: str, why: str) -> None:
    """Its word alone is told: anybody can make such an address, with any sentence in it."""
    answer = Browser(app).get(f"/sign-in/with/uni/back?{query}")
    assert answer.status_code == 403
    assert f"The University let nobody in {why}" in answer.text
    assert "come to" not in answer.text


@pytest.mark.parametrize(
    "wanted", ["https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", ""]
)
def test_it_leads_only_to_pages_of_the_arena(
    app: Flask, database: Database, provider: Provider, wanted: str
) -> None:
    """Wherever a link said that it would."""
    ada = person(database, "ada")
    with database.begin() as session:
        session.add(
            Identity(
                user_id=ada.id, issuer=provider.address, subject="17", label="a", created=now()
            )
        )
    browser = Browser(app)
    assert go(browser, next=wanted).location == "/account"
    assert browser.client.get("/sign-in/with/uni", query_string={"next": wanted}).location == (
        "/account"
    )


def test_who_was_shut_out_stays_out(app: Flask, database: Database, provider: Provider) -> None:
    """A provider that lets somebody in does not let them in here; and mail addresses link none."""
    provider.user = {"sub": "17", "email": "ada@example.org", "email_verified": True}
    with database.begin() as session:
        ada = accounts.get(session, "ada")
        ada.mail = "ada@example.org"
        ada.role = Role.PARTICIPANT
    assert go(Browser(app)).location == "/register/with"
    with database.begin() as session:
        session.add(
            Identity(
                user_id=ada.id, issuer=provider.address, subject="17", label="a", created=now()
            )
        )
        accounts.set_active(
            session, audit.ARENA, session.get_one(User, ada.id), active=False, now=now()
        )
    browser = Browser(app)
    assert go(browser).status_code == 403
    assert browser.get("/account").status_code == 302


@pytest.mark.parametrize("may", ["open", "invitation", "closed"])
def test_who_may_make_an_account(
    database: Database, provider: Provider, tmp_path: Path, may: str
) -> None:
    """As the operator says, whatever holds for those with a password; an invitation always does."""
    registration = "closed" if may == "open" else "open"
    file = file_of(provider, tmp_path, may)
    app = pages(database, registration=registration, providers=file)
    answer = go(Browser(app))
    if may == "open":
        assert answer.location == "/register/with"
    else:
        assert answer.status_code == 403
        assert "link the two" in answer.text
        assert ("by invitation" in answer.text) == (may == "invitation")
    with database.begin() as session:
        secret = accounts.invite(session, audit.ARENA, Role.ORGANISER, now())
    browser = Browser(app)
    invited = browser.get(f"/register?invitation={secret}").text
    assert f"/sign-in/with/uni?invitation={secret}" in invited
    assert go(browser, invitation=secret).location == "/register/with"
    assert register(browser, "bob").location == "/submit"
    with database.read() as session:
        assert accounts.get(session, "bob").role is Role.ORGANISER
    provider.user = {"sub": "18"}
    again = Browser(app)
    go(again, invitation=secret)
    assert "was used" in register(again, "carol").text
    app.extensions["arena.database"].close()


def test_without_providers_nothing_is_there(database: Database) -> None:
    """No button, and no such address."""
    app = pages(database)
    assert "Sign in with" not in Browser(app).get("/sign-in").text
    assert Browser(app).get("/sign-in/with/uni").status_code == 404
    app.extensions["arena.database"].close()


GOOD = {"title": "U", "issuer": "https://u.example", "client_id": "a", "client_secret": "b"}


@pytest.mark.parametrize(
    ("table", "changed", "words"),
    [
        ("u", {}, ""),
        ("u", {"issuer": "http://u.example"}, "issuer is to begin with https://"),
        ("u", {"issuer": "http://localhost.example"}, "issuer is to begin with https://"),
        ("u", {"issuer": "http://localhost:8080"}, ""),
        ("u", {"issuer": ""}, "issuer is to be a text"),
        ("u", {"issuer": None}, "issuer is missing"),
        ("u", {"title": None}, "title is missing"),
        ("github", {"title": None, "issuer": None}, ""),
        ("gitlab", {"title": None, "issuer": None}, ""),
        ("U", {}, "small letters"),
        ("u", {"client": "x"}, "'client' is none of accounts, client_id"),
        ("u", {"client_id": 7}, "client_id is to be a text"),
        ("u", {"client_secret": None}, "give client_secret or client_secret_file"),
        ("u", {"client_secret_file": "x"}, "give client_secret or client_secret_file"),
        ("u", {"client_secret": None, "client_secret_file": "/no/such"}, "can't be read"),
        ("u", {"kind": "saml"}, "kind is one of openid, github, gitlab"),
        ("u", {"accounts": "all"}, "accounts is one of open, invitation, closed"),
    ],
)
def test_the_file_says_what_is_wrong_in_it(
    tmp_path: Path, table: str, changed: dict[str, Any], words: str
) -> None:
    """It is one line at the start; the secret stands in none."""
    its = {key: value for key, value in (GOOD | changed).items() if value is not None}
    lines = [f"[{table}]", *(f"{key} = {value!r}" for key, value in its.items())]
    file = tmp_path / "providers.toml"
    file.write_text("\n".join(lines))
    settings = Settings(providers=str(file))
    if words:
        with pytest.raises(SettingError, match="can't be used: ") as caught:
            load(settings)
        assert words in str(caught.value)
    else:
        found: Known = load(settings)[table]
        assert found.accounts == ""
        assert "'b'" not in repr(found)


@pytest.mark.parametrize("text", ["[a", "a = 1", "[u]\n[u]", None])
def test_what_is_no_file_of_providers_is_refused(tmp_path: Path, text: str | None) -> None:
    """One that is missing, too: an arena that can't do what it was told says so at its start."""
    file = tmp_path / "providers.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(SettingError, match=r"ARENA_PROVIDERS=.* can't be used"):
        load(Settings(providers=str(file)))
