"""Signing in, registering, sessions, tokens: what works, what is refused, and with what words."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask

from arena import audit, people
from arena.audit import ARENA
from arena.config import Settings
from arena.db import Database
from arena.models import ApiToken, Link, Role, Scope, User
from arena.web import create_app
from arena.web.limits import storage
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import PASSWORD, Browser, complaints, now, person, signed_in
from tests.arena.web.test_pages import read

NEW = {"password": "a new and long one", "again": "a new and long one"}


@pytest.fixture
def database(empty: Path, tmp_path: Path) -> Iterator[Database]:
    """An arena with nobody in it."""
    shutil.copy(empty, tmp_path / "arena.db")
    found = Database(f"sqlite:///{tmp_path}/arena.db")
    yield found
    found.close()


def pages(database: Database, **settings: object) -> Flask:
    app = create_app(Settings(database=database.url, **settings))
    app.testing = True
    return app


@pytest.fixture
def app(database: Database) -> Iterator[Flask]:
    """Its pages; anybody may register, and ada has."""
    person(database, "ada")
    app = pages(database, registration="open")
    yield app
    app.extensions["arena.database"].close()


def deeds(database: Database) -> list[str]:
    with database.read() as session:
        return [f"{one.actor}: {one.action}" for one in reversed(audit.entries(session))]


# Signing in.


def test_signing_in_and_out(app: Flask, database: Database) -> None:
    """The account's page is there between the two; both the deed and its place are noted."""
    browser = Browser(app, "192.0.2.7")
    assert browser.get("/account").location == "/sign-in?next=/account"
    assert browser.sign_in("ADA").location == "/account"
    assert "ada" in browser.get("/account").text
    with database.read() as session:
        entry = audit.entries(session)[0]
        assert (entry.actor, entry.action, entry.origin) == ("ada", "sign in", "192.0.2.7")
        assert people.get(session, "ada").last_sign_in is not None
    assert browser.post("/sign-out", page="/account").location == "/"
    assert browser.get("/account").status_code == 302


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ada", "wrong"),
        ("ada", PASSWORD + "x"),
        ("nobody", PASSWORD),
        ("arena", PASSWORD),
        ("owner", PASSWORD),
        ("\0", PASSWORD),
        ("ada\0", "wrong"),
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
        ada = people.get(session, "ada")
        token = people.add_token(session, ARENA, ada, "ci", [Scope.READ], now())
        people.set_active(session, ARENA, ada, active=False, now=now())
    assert browser.get("/account").status_code == 302
    bearer = {"Authorization": f"Bearer {token}"}
    assert browser.client.get("/account", headers=bearer).status_code == 401
    assert complaints(browser.sign_in("ada"))[0].startswith("This account was deactivated")
    assert complaints(browser.sign_in("ada", "wrong"))[0].startswith("There is no such account")


@pytest.mark.parametrize(
    ("wanted", "leads_to"),
    [
        ("/submit?bot=x", "/submit?bot=x"),
        ("", "/account"),
        ("https://elsewhere.example/", "/account"),
        ("//elsewhere.example/", "/account"),
        ("/\\elsewhere.example/", "/account"),
        ("javascript:alert(1)", "/account"),
    ],
)
def test_signing_in_leads_only_to_pages_of_the_arena(
    app: Flask, wanted: str, leads_to: str
) -> None:
    """Wherever a link said that it would."""
    assert Browser(app).sign_in("ada", next=wanted).location == leads_to


# Sessions and forms.


def test_a_session_is_new_after_signing_in(app: Flask) -> None:
    """What stood in the cookie before is not in it after; scripts never see it."""
    browser = Browser(app)
    before = browser.secret()
    answer = browser.client.post(
        "/sign-in", data={"name": "ada", "password": PASSWORD, "csrf_token": before}
    )
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie
    # The secret of the old session's forms is worth nothing in the new one.
    again = browser.client.post("/sign-out", data={"csrf_token": before})
    assert again.status_code == 400


def test_over_tls_the_cookie_stays_there(database: Database) -> None:
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
    assert "Secure" in answer.headers["Set-Cookie"]
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
    """All but the one that asks."""
    here, there = signed_in(app, "ada"), signed_in(app, "ada")
    assert here.post("/account/end-sessions", page="/account").status_code == 302
    assert (here.get("/account").status_code, there.get("/account").status_code) == (200, 302)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"present": "wrong", **NEW}, "This is not the present password."),
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


# Registering.


def test_registering(app: Flask, database: Database) -> None:
    """Whoever registers is a participant, and signed in."""
    browser = Browser(app, "192.0.2.1")
    answer = browser.post("/register", {"name": "bob", **NEW}, page="/register")
    assert answer.location == "/account"
    assert "Welcome" in browser.get("/account").text
    with database.read() as session:
        assert people.get(session, "bob").role is Role.PARTICIPANT
    assert deeds(database)[-1] == "bob: add user"


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"name": "ADA", **NEW}, "is taken: choose another"),
        ({"name": "arena", **NEW}, "is taken: choose another"),
        ({"name": "<b>bob</b>", **NEW}, "is no name"),
        ({"name": "\N{RIGHT-TO-LEFT OVERRIDE}bob", **NEW}, "is no name"),
        ({"name": "x" * 1000, **NEW}, "A name has at most 40 characters."),
        ({"name": HOSTILE[:40], **NEW}, "is no name"),
        ({"name": "", **NEW}, "This is needed."),
        ({"name": "bob", "password": "x", "again": "x"}, "at least 10"),
        ({"name": "longerthan", "password": "longerthan10", "again": "longerthan10"}, "the name"),
        ({"name": "bob", **NEW, "again": "not the same"}, "The two are not the same."),
    ],
)
def test_registrations_that_are_refused(app: Flask, fields: dict[str, str], complaint: str) -> None:
    """Each with one clear line; the name that was typed is kept, as text."""
    answer = Browser(app).post("/register", fields, page="/register")
    assert answer.status_code == 422
    assert complaint in complaints(answer)[0].replace("&#39;", "'")
    assert "<b>bob" not in answer.text
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize(
    ("how", "words"), [("closed", "takes no new accounts"), ("invitation", "by invitation")]
)
def test_an_arena_that_is_not_open(database: Database, how: str, words: str) -> None:
    """Says so, on the page for signing in too; an invitation lets one person in."""
    app = pages(database, registration=how)
    browser = Browser(app)
    answer = browser.get("/register")
    assert answer.status_code == 403
    assert words in answer.text
    assert words in browser.get("/sign-in").text
    assert browser.post("/register", {"name": "bob", **NEW}).status_code == 403
    with database.begin() as session:
        secret = people.invite(session, ARENA, Role.ORGANISER, now())
    page = f"/register?invitation={secret}"
    fields = {"name": "bob", "invitation": secret, **NEW}
    assert browser.post("/register", fields, page=page).location == "/account"
    with database.read() as session:
        assert people.get(session, "bob").role is Role.ORGANISER
    again = Browser(app).post("/register", {**fields, "name": "eve"})
    assert again.status_code == 403
    assert "This link was used or is too old" in again.text
    app.extensions["arena.database"].close()


# A link to set a new password.


def test_a_reset_link_sets_a_password_once(app: Flask, database: Database) -> None:
    """It is an administrator's to give."""
    person(database, "root", Role.ADMINISTRATOR)
    shown = signed_in(app, "root").post("/users/ada/reset", page="/users").text
    link = re.search(r"http://localhost(/reset/[\w-]+)", shown)
    assert link
    browser = Browser(app)
    assert browser.post(link[1], NEW, page=link[1]).location == "/account"
    assert browser.get("/account").status_code == 200
    assert Browser(app).get(link[1]).status_code == 403
    assert deeds(database)[-1] == "ada: reset password"


def test_an_old_reset_link_is_refused(app: Flask, database: Database) -> None:
    """After a day."""
    with database.begin() as session:
        ada = people.get(session, "ada")
        secret = people.reset_link(session, ARENA, ada, now() - timedelta(days=1))
    assert "too old" in Browser(app).get(f"/reset/{secret}").text


# Tokens.


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


def test_a_role_that_was_lost_is_lost_to_tokens_too(app: Flask, database: Database) -> None:
    """What a token may is never more than what its owner may now."""
    person(database, "root", Role.ADMINISTRATOR)
    person(database, "second", Role.ADMINISTRATOR)
    with database.begin() as session:
        second = people.get(session, "second")
        token = people.add_token(session, ARENA, second, "ci", [Scope.ADMIN], now())
        people.set_role(session, ARENA, second, Role.PARTICIPANT, now())
    bearer = {"Authorization": f"Bearer {token}"}
    assert app.test_client().get("/users.json", headers=bearer).status_code == 403


def test_a_revoked_token_is_refused(app: Flask, database: Database) -> None:
    """At once; so is what never was one."""
    browser = signed_in(app, "ada")
    fields = {"name": "ci", "scopes": ["read"]}
    shown = browser.post("/account/tokens", fields, page="/account").text
    (token,) = re.findall(r"<code>(arena_[\w-]+)</code>", shown)
    client, bearer = app.test_client(), {"Authorization": f"Bearer {token}"}
    assert client.get("/account", headers=bearer).status_code == 200
    browser.post("/account/tokens/1/revoke", page="/account")
    assert client.get("/account", headers=bearer).status_code == 401
    for nonsense in ("Bearer", "Bearer ", "Bearer arena_x", "bearer x y"):
        assert client.get("/account", headers={"Authorization": nonsense}).status_code == 401
    assert browser.client.get("/account", headers={"Authorization": "Bearer x"}).status_code == 401


def test_a_token_makes_no_token_and_no_password(app: Flask, database: Database) -> None:
    """Whoever found one can not dig in with it."""
    with database.begin() as session:
        ada = people.get(session, "ada")
        token = people.add_token(session, ARENA, ada, "ci", [Scope.READ, Scope.SUBMIT], now())
    client, bearer = app.test_client(), {"Authorization": f"Bearer {token}"}
    for address in ("/account/tokens", "/account/password", "/account/end-sessions"):
        assert client.post(address, headers=bearer).status_code == 403


# Limits.


def test_an_account_waits_after_failures(app: Flask) -> None:
    """The right password too, for as long as is said; other accounts do not."""
    for number in range(10):
        assert Browser(app, f"192.0.2.{number}").sign_in("ada", "wrong").status_code == 422
    answer = Browser(app, "192.0.2.99").sign_in("ADA")
    assert answer.status_code == 429
    assert "too many failed sign-ins to this account: wait 15 minutes." in answer.text
    assert 0 < int(answer.headers["Retry-After"]) <= 15 * 60
    assert Browser(app, "192.0.2.99").sign_in("nobody").status_code == 422


def test_an_address_waits_after_failures(app: Flask, database: Database) -> None:
    """Whatever names it tries; what succeeds does not count."""
    browser = Browser(app)
    for number in range(30):
        person(database, f"user{number}")
        assert browser.sign_in(f"user{number}", "wrong").status_code == 422
        if number < 3:
            assert Browser(app).sign_in("ada").status_code == 302
    answer = browser.sign_in("ada")
    assert answer.status_code == 429
    assert "from your address" in answer.text
    assert Browser(app, "192.0.2.2").sign_in("ada").status_code == 302


def test_an_address_makes_few_accounts(app: Flask) -> None:
    """Ten a day."""
    for number in range(10):
        answer = Browser(app).post("/register", {"name": f"n{number}", **NEW}, page="/register")
        assert answer.status_code == 302
    answer = Browser(app).post("/register", {"name": "one-more", **NEW}, page="/register")
    assert answer.status_code == 429
    assert "new accounts from your address" in answer.text


def test_limits_go_on_without_the_broker(database: Database, tmp_path: Path) -> None:
    """Then each server counts for itself; nobody is kept out, or let in, by that."""
    person(database, "ada")
    app = pages(database, broker=f"redis+socket://{tmp_path}/none")
    for _ in range(10):
        assert Browser(app).sign_in("ada", "wrong").status_code == 422
    assert Browser(app).sign_in("ada").status_code == 429
    app.extensions["arena.database"].close()


@pytest.mark.parametrize(
    ("broker", "counted_in"),
    [
        ("", "memory://"),
        ("redis+socket:///a/socket", "redis+unix:///a/socket"),
        ("redis://host:6379/0", "redis://host:6379/0"),
    ],
)
def test_limits_are_counted_in_the_broker(broker: str, counted_in: str) -> None:
    """Named as the library that counts names it."""
    assert storage(broker) == counted_in


# Administration.


def test_an_administrator_changes_roles_and_shuts_out(app: Flask, database: Database) -> None:
    """What is done shows at once, and in the log."""
    person(database, "root", Role.ADMINISTRATOR)
    browser = signed_in(app, "root")
    browser.post("/users/ada/role", {"role": "organiser"}, page="/users")
    assert "ada is organiser now" in browser.get("/users").text
    browser.post("/users/ada/active", {"active": "no"}, page="/users")
    listed = {one["name"]: one for one in browser.get("/users.json").json}
    assert (listed["ada"]["role"], listed["ada"]["active"]) == ("organiser", False)
    refused = browser.post("/users/root/role", {"role": "participant"}, page="/users")
    assert refused.status_code == 409
    assert "only administrator: make another one first" in refused.text
    log = browser.get("/audit.json?actor=root&action=change+role").json
    assert [(one["subject"], one["detail"]) for one in log["entries"]] == [
        ("user ada", "participant to organiser")
    ]
    assert "deactivate user" in browser.get("/audit").text


def test_the_log_is_read_page_by_page(app: Flask, database: Database) -> None:
    """A hundred at a time, none twice, none left out."""
    person(database, "root", Role.ADMINISTRATOR)
    with database.begin() as session:
        for number in range(250):
            audit.note(session, ARENA, "count", f"number {number}", HOSTILE, now=now())
    browser = signed_in(app, "root")
    found, before = [], ""
    while before is not None:
        page = browser.get(f"/audit.json?action=count&before={before}").json
        found += [entry["subject"] for entry in page["entries"]]
        before = page["next"]
    assert found == [f"number {number}" for number in reversed(range(250))]
    text = browser.get("/audit?before=999999999999999999999999").text
    assert "<script>alert" not in text
    assert "Older entries" in text


def test_a_reader_costs_nothing(app: Flask, database: Database) -> None:
    """Who has no session is not looked for, and gets no cookie."""
    statements: list[str] = []
    engine = app.extensions["arena.database"].engine
    sa.event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    answer = app.test_client().get("/")
    assert "Set-Cookie" not in answer.headers
    assert not [one for one in statements if "FROM user" in one or 'FROM "user"' in one]
    browser = signed_in(app, "ada")
    statements.clear()
    # What is the same for everybody is not kept for each reader, and nobody is looked for.
    assert "Vary" not in browser.get("/healthz").headers
    assert statements == []


@pytest.mark.parametrize(
    "address", ["/sign-in", "/register", "/account", "/account/password", "/users", "/audit"]
)
def test_these_pages_keep_what_all_pages_keep(app: Flask, database: Database, address: str) -> None:
    """No inline script or style, whole tags, headings in order; and no cache keeps them."""
    person(database, "root", Role.ADMINISTRATOR)
    browser = signed_in(app, "root") if address not in ("/sign-in", "/register") else Browser(app)
    browser.post("/account/tokens", {"name": HOSTILE[:60], "scopes": "read"}, page="/account")
    answer = browser.get(address)
    assert answer.status_code == 200
    assert read(answer.text).verdict() == []
    assert "no-store" in answer.headers["Cache-Control"]


def test_links_are_kept_as_digests_and_thrown_away(app: Flask, database: Database) -> None:
    """The database alone opens no door, and old ones do not heap up."""
    with database.begin() as session:
        old = people.invite(session, ARENA, Role.PARTICIPANT, now() - timedelta(days=8))
        people.invite(session, ARENA, Role.PARTICIPANT, now())
        (link,) = session.scalars(sa.select(Link))
        assert link.digest != people.digest(old)
