"""Signing in and out, sessions, and forms that come from elsewhere."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from flask import Flask

from arena import audit
from arena.audit import ARENA
from arena.ground.db import Database
from arena.models import Scope, User
from arena.people import accounts
from tests.arena.web.signing_in import (
    NEW,
    PASSWORD,
    Browser,
    complaints,
    deeds,
    now,
    pages,
    person,
    signed_in,
)


def test_signing_in_and_out(app: Flask, database: Database) -> None:
    """The account's page is there between the two; both the deed and its place are noted."""
    browser = Browser(app, "192.0.2.7")
    assert browser.get("/account").location == "/sign-in?next=/account"
    assert browser.sign_in("ADA").location == "/account"
    assert "ada" in browser.get("/account").text
    with database.read() as session:
        entry = audit.entries(session)[0]
        assert (entry.actor, entry.action, entry.origin) == ("ada", "sign in", "192.0.2.7")
        assert accounts.get(session, "ada").last_sign_in is not None
    left = browser.post("/sign-out", page="/account")
    assert (left.location, left.headers["Clear-Site-Data"]) == ("/", '"storage"')
    assert browser.get("/account").status_code == 302


def test_what_is_kept_of_people_is_told(app: Flask) -> None:
    """Every cookie by its name, and that addresses are kept, on the arena's own page."""
    browser = Browser(app)
    page = browser.get("/about")
    assert "Set-Cookie" not in page.headers
    set_ = browser.sign_in("ada").headers.getlist("Set-Cookie")
    names = {cookie.partition("=")[0] for cookie in set_}
    # Set by who wants to play without Confirm, and by who chooses a language.
    names |= {"arena-at-once", "arena-language"}
    assert set(re.findall("<code>(arena(?:-.+?)?)</code>", page.text)) == names
    assert "from which address" in page.text


def test_cookies_last_as_long_as_is_told(app: Flask) -> None:
    """As the arena's own page says: a session thirty days, that a browser is known a year."""
    before, browser = now(), signed_in(app, "ada")
    session = browser.client.get_cookie("arena")
    known = browser.client.get_cookie("arena-known", path="/sign-in")
    assert session is not None
    assert session.expires is not None
    # Cookies tell whole seconds.
    lasts = session.expires - before
    assert timedelta(days=30, seconds=-1) <= lasts <= timedelta(days=30, minutes=1)
    assert known is not None
    assert known.max_age == 365 * 24 * 60 * 60


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ada", "wrong"),
        ("ada", PASSWORD + "x"),
        ("nobody", PASSWORD),
        ("arena", PASSWORD),
        ("owner", PASSWORD),
    ],
)
def test_a_wrong_sign_in_tells_nothing(
    app: Flask, database: Database, name: str, password: str
) -> None:
    """The same words whether there is such an account or not; what was typed stays."""
    with database.begin() as session:
        session.add(User(name="owner", created=now()))
    answer = Browser(app).sign_in(name, password)
    assert answer.status_code == 422
    assert complaints(answer) == ["There is no such account, or this is not its password."]
    assert password not in answer.text
    if name == "nobody":
        assert 'value="nobody"' in answer.text


@pytest.mark.parametrize("name", ["\0", "ada\0", "a\0da"])
def test_a_name_that_no_account_has_is_refused_at_once(app: Flask, name: str) -> None:
    """To leave NUL out would give an account more names than one."""
    answer = Browser(app).sign_in(name, PASSWORD)
    assert answer.status_code == 400
    assert "has the character NUL" in answer.text


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"name": "", "password": "x"}, "This is needed."),
        ({"name": "ada", "password": ""}, "This is needed."),
        ({"name": "x" * 41, "password": "x"}, "A name has at most 40 characters."),
        ({"name": "ada", "password": "x" * 201}, "A password has at most 200 characters."),
    ],
)
def test_a_form_says_what_it_lacks(app: Flask, fields: dict[str, str], complaint: str) -> None:
    """One line at its field."""
    answer = Browser(app).post("/sign-in", fields)
    assert (answer.status_code, complaints(answer)) == (422, [complaint])


def test_who_was_shut_out_can_not_sign_in(app: Flask, database: Database) -> None:
    """Nor go on with a session, nor with a token; only who knows the password is told why."""
    browser = signed_in(app, "ada")
    with database.begin() as session:
        ada = accounts.get(session, "ada")
        token = accounts.add_token(session, ARENA, ada, "ci", [Scope.READ], now())
        accounts.set_active(session, ARENA, ada, active=False, now=now())
    assert browser.get("/account").status_code == 302
    bearer = {"Authorization": f"Bearer {token}"}
    assert browser.client.get("/account", headers=bearer).status_code == 401
    assert complaints(browser.sign_in("ada"))[0].startswith("This account was deactivated")
    assert complaints(browser.sign_in("ada", "wrong"))[0].startswith("There is no such account")


def test_who_must_change_the_password_does_so_first(app: Flask, database: Database) -> None:
    """All else that needs an account leads there, and forms change nothing; tokens go on."""
    with database.begin() as session:
        ada = accounts.get(session, "ada")
        token = accounts.add_token(session, ARENA, ada, "ci", [Scope.READ], now())
        ada.must_change = True
    browser = Browser(app)
    assert browser.sign_in("ada").location == "/account/password"
    assert browser.get("/account").location == "/account/password"
    fields = {"name": "another", "scopes": "read"}
    made = browser.post("/account/tokens", fields, page="/account/password")
    assert made.location == "/account/password"
    with database.read() as session:
        assert len(accounts.tokens_of(session, ada.id)) == 1
    bearer = {"Authorization": f"Bearer {token}"}
    assert app.test_client().get("/account", headers=bearer).status_code == 200
    # It was typed a moment ago, and is asked for no second time.
    assert "Present password" not in browser.get("/account/password").text
    same = {"password": PASSWORD, "again": PASSWORD}
    refused = browser.post("/account/password", same, page="/account/password")
    assert complaints(refused) == ["This is the present password: choose a new one."]
    browser.post("/account/password", NEW, page="/account/password")
    assert browser.get("/account").status_code == 200
    assert "Present password" in browser.get("/account/password").text


@pytest.mark.parametrize(
    ("wanted", "leads_to"),
    [
        ("/submit?bot=x", "/submit?bot=x"),
        ("", "/account"),
        ("https://elsewhere.example/", "/account"),
        ("//elsewhere.example/", "/account"),
        ("/\\elsewhere.example/", "/account"),
        ("javascript:alert(1)", "/account"),
        ("/submit\r\nSet-Cookie: a=b", "/account"),
        ("/\t/elsewhere.example/", "/account"),
    ],
)
def test_signing_in_leads_only_to_pages_of_the_arena(
    app: Flask, wanted: str, leads_to: str
) -> None:
    """Wherever a link said that it would; one who is signed in already goes there at once."""
    browser = Browser(app)
    assert browser.sign_in("ada", next=wanted).location == leads_to
    again = browser.client.get("/sign-in", query_string={"next": wanted})
    assert again.location == leads_to


def test_a_session_is_new_after_signing_in(app: Flask) -> None:
    """What stood in the cookie before is not in it after; scripts never see it."""
    browser = Browser(app)
    before = browser.secret()
    answer = browser.client.post(
        "/sign-in", data={"name": "ada", "password": PASSWORD, "csrf_token": before}
    )
    cookies = {one.partition("=")[0]: one for one in answer.headers.getlist("Set-Cookie")}
    assert set(cookies) == {"arena", "arena-known"}
    for cookie in cookies.values():
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        assert "Secure" not in cookie
    # The secret of the old session's forms is worth nothing in the new one.
    again = browser.client.post("/sign-out", data={"csrf_token": before})
    assert again.status_code == 400


def test_a_form_after_the_session_leads_to_the_sign_in(app: Flask) -> None:
    """Nothing is lost by it but the form: the page says in one sentence what to do."""
    answer = Browser(app).client.post("/account/end-sessions")
    assert answer.status_code == 401
    assert "This needs an account: sign in and do it again" in answer.text
    assert '<a href="/sign-in">Sign in</a>' in answer.text


def test_who_is_sent_to_sign_in_is_told_why(app: Flask) -> None:
    """Not who comes there by themselves, nor with what was wrong in the form."""
    client = app.test_client()
    sent = client.get("/submit")
    assert sent.status_code == 302
    why = "This is for people who are signed in"
    assert why in client.get(sent.location).text
    assert why not in client.get("/sign-in").text


def test_a_page_that_renews_itself_leads_to_the_sign_in(app: Flask) -> None:
    """As a whole, once its session has ended; no sign-in form stands where its part was."""
    page = "http://localhost/checks/7"
    asked = {"HX-Request": "true", "HX-Current-URL": page}
    answer = app.test_client().get("/checks/7/live", headers=asked)
    assert answer.status_code == 401
    assert answer.headers["HX-Redirect"] == "/sign-in?next=/checks/7"


def test_over_tls_the_cookies_stay_there(database: Database) -> None:
    """Behind a proxy that says so, if the settings know of the proxy."""
    person(database, "ada")
    app = pages(database, proxies=1)
    headers = {
        "X-Forwarded-Proto": "https",
        "X-Forwarded-For": "203.0.113.9",
        "Referer": "https://localhost/",
    }
    client = app.test_client()
    secret = re.search(r'csrf_token" value="(.+?)"', client.get("/sign-in", headers=headers).text)
    assert secret
    fields = {"name": "ada", "password": PASSWORD, "csrf_token": secret[1]}
    answer = client.post("/sign-in", data=fields, headers=headers, base_url="https://localhost")
    assert ["Secure" in cookie for cookie in answer.headers.getlist("Set-Cookie")] == [True, True]
    with database.read() as session:
        assert audit.entries(session)[0].origin == "203.0.113.9"
    app.extensions["arena.database"].close()


def test_without_a_proxy_nobody_is_believed_to_be_elsewhere(app: Flask, database: Database) -> None:
    """Or else a stranger would choose the address that has to wait."""
    browser = Browser(app)
    browser.post(
        "/sign-in",
        {"name": "ada", "password": PASSWORD},
        headers={"X-Forwarded-For": "203.0.113.9"},
    )
    with database.read() as session:
        assert audit.entries(session)[0].origin == "127.0.0.1"


def test_a_new_password_ends_every_other_session(app: Flask, database: Database) -> None:
    """The one that changed it goes on."""
    here, there = signed_in(app, "ada"), signed_in(app, "ada")
    answer = here.post("/account/password", {"present": PASSWORD, **NEW}, page="/account/password")
    assert answer.location == "/account"
    assert here.get("/account").status_code == 200
    assert there.get("/account").status_code == 302
    assert deeds(database)[-1] == "ada: change password"
    assert Browser(app).sign_in("ada").status_code == 422
    assert Browser(app).sign_in("ada", NEW["password"]).status_code == 302


def test_sessions_can_be_ended(app: Flask) -> None:
    """All but the one that asks; what a proxy asked the browser for beside it is no token."""
    here, there = signed_in(app, "ada"), signed_in(app, "ada")
    basic = {"Authorization": "Basic YWRhOmFkYQ=="}
    assert here.post("/account/end-sessions", page="/account", headers=basic).status_code == 302
    assert (here.get("/account").status_code, there.get("/account").status_code) == (200, 302)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"present": "wrong", **NEW}, "This is not the present password."),
        ({"present": "x" * 5000, **NEW}, "A password has at most 200 characters."),
        ({"present": PASSWORD, "password": "short", "again": "short"}, "at least 10"),
        ({"present": PASSWORD, **NEW, "again": "another one"}, "The two are not the same."),
        (
            {"present": PASSWORD, "password": PASSWORD, "again": PASSWORD},
            "This is the present password: choose a new one.",
        ),
    ],
)
def test_passwords_that_are_refused(app: Flask, fields: dict[str, str], complaint: str) -> None:
    """Each with its line."""
    browser = signed_in(app, "ada")
    answer = browser.post("/account/password", fields, page="/account/password")
    assert answer.status_code == 422
    assert complaint in complaints(answer)[0]


@pytest.mark.parametrize("secret", [None, "", "nonsense", "\0"])
def test_a_form_from_elsewhere_changes_nothing(app: Flask, secret: str | None) -> None:
    """Without the secret of this session's pages a session is not enough."""
    browser = signed_in(app, "ada")
    fields = {"name": "x", "scopes": "read"} | ({} if secret is None else {"csrf_token": secret})
    answer = browser.client.post("/account/tokens", data=fields)
    assert answer.status_code == 400
    assert "This form is too old, or was not sent from here" in answer.text


def test_the_secret_of_another_is_worth_nothing(app: Flask, database: Database) -> None:
    """A form that somebody else was shown, replayed in this session."""
    person(database, "eve")
    stolen = signed_in(app, "eve").secret("/account")
    browser = signed_in(app, "ada")
    assert browser.client.post("/sign-out", data={"csrf_token": stolen}).status_code == 400


def test_servers_of_one_arena_know_each_others_sessions(app: Flask, database: Database) -> None:
    """The key of sessions is the arena's; a session from elsewhere is none."""
    cookie = signed_in(app, "ada").client.get_cookie("arena")
    assert cookie is not None
    second = pages(database)
    client = second.test_client()
    client.set_cookie("arena", cookie.value)
    assert client.get("/account").status_code == 200
    client.set_cookie("arena", cookie.value[:-4] + "AAAA")
    assert client.get("/account").status_code == 302
    second.extensions["arena.database"].close()


def test_two_tabs_that_sign_in(app: Flask) -> None:
    """The second leads to where the first has led: who is signed in already is told so."""
    browser = Browser(app)
    secret = browser.secret()
    assert browser.sign_in("ada").location == "/account"
    stale = {"csrf_token": secret, "name": "ada", "password": PASSWORD, "next": "/tests"}
    second = browser.client.post("/sign-in", data=stale, follow_redirects=True)
    assert second.request.path == "/tests"
    assert "You are signed in already, as ada." in second.text
    browser.post("/sign-out", page="/account")
    # Without a session there is nobody to lead anywhere, and the form may be from elsewhere.
    assert browser.client.post("/sign-in", data=stale).status_code == 400


@pytest.mark.parametrize("again", [False, True])
def test_what_was_typed_before_a_sign_out_is_shown(app: Flask, again: bool) -> None:
    """Though another tab signed out meanwhile, or out and in: to be copied, and as text."""
    browser = signed_in(app, "ada")
    typed = {
        "csrf_token": browser.secret("/account"),
        "note": "<b>a long thought</b>\nand another",
        "password": "never shown",
        "name": "",
    }
    browser.post("/sign-out", page="/account")
    if again:
        browser.sign_in("ada")
    refused = browser.client.post("/account/tokens", data=typed)
    assert refused.status_code == (400 if again else 401)
    assert "&lt;b&gt;a long thought&lt;/b&gt;\nand another</textarea>" in refused.text
    assert "never shown" not in refused.text
    assert refused.text.count("<textarea") == 1
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert (
        "thought" not in browser.client.post("/account/tokens", data=typed, headers=elsewhere).text
    )


@pytest.mark.parametrize("name", ["ada ", " ada", "Ada\t", "ada\N{NO-BREAK SPACE}"])
def test_a_space_that_a_keyboard_adds_is_no_part_of_a_name(
    app: Flask, database: Database, name: str
) -> None:
    """Wherever an account is named; nor does it give tries of their own before one has to wait."""
    browser = Browser(app)
    assert browser.sign_in(name).status_code == 302
    with database.read() as session:
        assert accounts.get(session, name).name == "ada"
    stranger = Browser(app, "192.0.2.8")
    for number in range(10):
        spaces = " " * number
        assert stranger.sign_in(f"ada{spaces}", "wrong one").status_code == 422
    assert stranger.sign_in(f"{name} ", "wrong one").status_code == 429


def test_a_name_is_registered_without_the_space(database: Database) -> None:
    """And a password must not have it in it all the same."""
    opened = pages(database, registration="open")
    browser = Browser(opened)
    within = {"name": "newcomer ", "password": "newcomer-and-more", "again": "newcomer-and-more"}
    refused = browser.post("/register", within, page="/register")
    assert complaints(refused) == ["A password must not have the name in it."]
    assert browser.post("/register", {"name": "newcomer ", **NEW}, page="/register").location
    with database.read() as session:
        assert [one.name for one in accounts.listed(session)].count("newcomer") == 1
    opened.extensions["arena.database"].close()
