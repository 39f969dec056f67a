"""Mail addresses, and new passwords by mail: with a mail server that letters really go to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from email.message import EmailMessage
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from arena.audit import ARENA
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Mail, Notification, Role, User
from arena.people import accounts
from arena.sender.process import Sending
from arena.web import mail
from tests.arena.sender.receivers import Mailbox, mail_server
from tests.arena.web.signing_in import NEW, Browser, complaints, now, pages, person, signed_in

SENT = "If there is such an account with a mail address, a letter to it is on its way."


class Post:
    """An arena that sends mail, and what came of it."""

    def __init__(self, database: Database, port: int, box: Mailbox) -> None:
        of_mail = {"mail": f"smtp+plain://127.0.0.1:{port}", "mail_from": "arena@arena.example"}
        its: dict[str, Any] = {**of_mail, "site": "https://arena.example"}
        self.app: Flask = pages(database, **its)
        self._sender = Sending(Settings(**its), database)
        self._box = box

    def arrived(self) -> list[EmailMessage]:
        """The letters that arrived since the last look."""
        self._sender.turn()
        self._sender.join()
        letters = self._box.letters[:]
        self._box.letters.clear()
        return letters


@pytest.fixture
def post(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Post]:
    """Mail that goes by a server of the test; ada has an account."""
    monkeypatch.setattr(mail, "ANSWER_SECONDS", 0.0)
    person(database, "ada")
    box = Mailbox()
    with mail_server(box) as port:
        its = Post(database, port, box)
        yield its
        its.app.extensions["arena.database"].close()


def link_in(letter: EmailMessage) -> str:
    """The path that a letter leads to, at the address of the settings."""
    found = re.search(r"^https://arena\.example(/\S+)\s*$", letter.get_content(), re.MULTILINE)
    assert found, letter.get_content()
    return found[1]


def give_address(post: Post, name: str, address: str) -> Browser:
    """Somebody who has given a mail address and proven it."""
    browser = signed_in(post.app, name)
    browser.post("/account/mail", {"address": address}, page="/account/mail")
    letters = post.arrived()
    link = link_in(next(one for one in letters if one["To"] == address))
    assert browser.post(link, page=link).location == "/account/safety"
    return browser


def address_of(database: Database, name: str) -> tuple[str | None, str | None]:
    with database.read() as session:
        user = accounts.get(session, name)
        return user.mail, user.mail_wanted


def test_an_address_counts_once_it_is_proven(post: Post, database: Database) -> None:
    """Who is signed in to the account proves it, by opening the page that the letter names."""
    browser = signed_in(post.app, "ada")
    first = browser.post("/account/mail", {"address": " ada@example.org "}, page="/account/mail")
    assert first.location == "/account/safety"
    (letter,) = post.arrived()
    assert (letter["To"], letter["Subject"]) == ("ada@example.org", "Is this your mail address?")
    assert address_of(database, "ada") == (None, "ada@example.org")
    assert "is not proven yet" in browser.get("/account/safety").text
    link = link_in(letter)
    assert Browser(post.app).get(link).location.startswith("/sign-in?next=/account/mail/")
    person(database, "eve")
    assert signed_in(post.app, "eve").get(link).status_code == 403
    assert browser.get(link).status_code == 200
    assert address_of(database, "ada")[0] is None  # to look at it is not to say so
    browser.post(link, page=link)
    assert address_of(database, "ada") == ("ada@example.org", None)
    (told,) = post.arrived()
    assert told["Subject"] == "The mail address of ada is ada@example.org now"
    assert browser.post(link, page=link).location == "/account/safety"
    assert post.arrived() == []
    # Of two that were asked for the last counts, and the address before is told.
    browser.post("/account/mail", {"address": "old@example.org"}, page="/account/mail")
    browser.post("/account/mail", {"address": "new@example.org"}, page="/account/mail")
    links = {one["To"]: link_in(one) for one in post.arrived()}
    assert browser.post(links["old@example.org"], page="/account/mail").status_code == 409
    browser.post(links["new@example.org"], page="/account/mail")
    assert sorted(one["To"] for one in post.arrived()) == ["ada@example.org", "new@example.org"]
    browser.post("/account/mail/remove", page="/account/safety")
    assert address_of(database, "ada") == (None, None)
    assert [one["To"] for one in post.arrived()] == ["new@example.org"]


@pytest.mark.parametrize(
    "address", ["", "ada", "ada@", "a@b", "a b@example.org", "a@example.org\nBcc: b@example.org"]
)
def test_what_is_no_address_gets_no_letter(post: Post, database: Database, address: str) -> None:
    """And is refused beside its field."""
    browser = signed_in(post.app, "ada")
    answer = browser.post("/account/mail", {"address": address}, page="/account/mail")
    assert answer.status_code == 422
    assert complaints(answer)
    assert post.arrived() == []


def test_letters_are_not_for_ever(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is one that somebody made up."""
    browser = signed_in(post.app, "ada")
    browser.post("/account/mail", {"address": "ada@example.org"}, page="/account/mail")
    link = link_in(post.arrived()[0])
    monkeypatch.setattr(mail, "PROVEN_SECONDS", -1)
    assert "too old" in browser.get(link).text
    assert browser.get("/account/mail/invented.token").status_code == 403


def forget(post: Post, who: str, address: str = "127.0.0.1", **more: Any) -> str:
    answer = Browser(post.app, address).post("/forgotten", {"who": who}, page="/forgotten", **more)
    assert answer.status_code == 200
    return re.sub(r'href="[^"]*"|value="[^"]*"', "", answer.text)


def test_a_forgotten_password_is_set_anew_by_mail(post: Post, database: Database) -> None:
    """Once, by a link to the arena's own address, whatever name was asked for in the request."""
    give_address(post, "ada", "ada@example.org")
    post.arrived()
    assert "Forgotten the password?" in Browser(post.app).get("/sign-in").text
    assert SENT in forget(post, "ADA", headers={"X-Forwarded-Host": "elsewhere.example"})
    (letter,) = post.arrived()
    assert (letter["To"], letter["Subject"]) == ("ada@example.org", "A new password for ada")
    link = link_in(letter)
    browser = Browser(post.app)
    assert browser.post(link, NEW, page=link).location == "/account"
    assert Browser(post.app).get(link).status_code == 403
    assert Browser(post.app).sign_in("ada", NEW["password"]).location == "/account"
    assert [one["Subject"] for one in post.arrived()] == ["The password of ada was changed"]


def test_nobody_learns_who_has_an_account(post: Post, database: Database) -> None:
    """The same page for whoever there is or is not, and letters to proven addresses alone."""
    give_address(post, "ada", "ada@example.org")
    person(database, "bob")  # has no address
    person(database, "shut", mail="shut@example.org", active=False)
    person(database, "eve", mail_wanted="eve@example.org")
    post.arrived()
    said = set()
    for number, who in enumerate(
        ("ada", "Ada@Example.org", "bob", "shut", "eve", "eve@example.org", "nobody", "n@b.org",
         "arena", "guest", "%", "x" * 254)
    ):  # fmt: skip
        said.add(forget(post, who, f"192.0.2.{number}"))
    assert len(said) == 1
    assert [one["To"] for one in post.arrived()] == ["ada@example.org", "ada@example.org"]


def test_all_accounts_of_an_address_get_a_letter(post: Post, database: Database) -> None:
    """It is in each one's language; and nobody's box is filled by who asks again and again."""
    person(database, "ada", mail="both@example.org")
    person(database, "bob", mail="both@example.org", language="it")
    forget(post, "both@example.org")
    assert sorted("ada" in one["Subject"] for one in post.arrived()) == [False, True]
    for number in range(6):
        forget(post, "ada", f"192.0.2.{number}")
    assert len(post.arrived()) == 2  # three within an hour, with the first
    with database.begin() as session:
        ada = accounts.get(session, "ada")
        assert accounts.reset_link(session, ARENA, ada, now())  # an administrator's is another


def test_it_takes_as_long_whoever_is_asked_for(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than anything that is done for somebody who is there."""
    monkeypatch.setattr(mail, "ANSWER_SECONDS", 0.4)
    begun = now()
    forget(post, "nobody")
    assert now() - begun >= timedelta(seconds=0.4)


def test_without_mail_all_is_as_before(app: Flask) -> None:
    """No page asks for an address, and an administrator gives links."""
    browser = signed_in(app, "ada")
    assert Browser(app).get("/forgotten").status_code == 404
    assert "an administrator can give you a link" in Browser(app).get("/sign-in").text
    assert "Mail address" not in browser.get("/account/safety").text


def test_what_changes_about_an_account_is_told(post: Post, database: Database) -> None:
    """The site and a letter tell it, and of what an administrator does, too."""
    browser = give_address(post, "ada", "ada@example.org")
    person(database, "root", Role.ADMINISTRATOR)
    post.arrived()
    signed_in(post.app, "root").post("/users/ada/second-factor", page="/users")
    with database.begin() as session:
        user = accounts.get(session, "ada")
        accounts.give_one_time_password(session, ARENA, user, now())
    subjects = [one["Subject"] for one in post.arrived()]
    assert subjects == [
        "An administrator took the second factor off the account ada",
        "An administrator gave ada a password for one sign-in",
    ]
    with database.read() as session:
        told = session.scalars(
            sa.select(Notification.message)
            .join(User, User.id == Notification.user_id)
            .where(User.name == "ada")
            .order_by(Notification.id.desc())
        ).first()
        assert told == "an administrator gave %(name)s a password for one sign-in"
        assert session.scalars(sa.select(Mail.id)).all() == []
    assert browser.get("/account").status_code == 302
