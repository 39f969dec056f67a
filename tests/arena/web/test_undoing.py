"""What can be taken back has a button beside what was done; what can't is asked about before."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import pytest
import sqlalchemy as sa
from flask import Flask, get_flashed_messages
from flask_login import login_user

from arena.bots.bot_deeds import ShareBot
from arena.deeds import Deed, Done
from arena.ground.db import Database
from arena.models import Bot, BrowserSession, Check, Entrant, Ladder, Role, User
from arena.web.deeds import MESSAGE, MOST_UNDONE, UNDO, tell
from arena.web.identity import account_of, signer
from tests.arena.web.conftest import furnish
from tests.arena.web.signing_in import Browser, now, pages, person, signed_in
from tests.furnished import furnished_database


class Office(NamedTuple):
    """An arena with somebody at its pages."""

    browser: Browser
    database: Database
    numbers: dict[str, int]


@pytest.fixture
def arena(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Office]:
    """An arena of its own, and an administrator whose all the bots are at its pages."""
    request.param = "sqlite"
    with furnished_database(request, tmp_path, furnish) as (database, numbers):
        user = person(database, "root", Role.ADMINISTRATOR)
        person(database, "mate")
        with database.begin() as session:
            session.execute(sa.update(Bot).values(owner_id=user.id))
            session.execute(sa.update(Check).values(cancelled="long ago"))
            session.execute(sa.update(Ladder).values(state="open"))
        app = pages(database)
        yield Office(signed_in(app, "root"), database, numbers)
        app.extensions["arena.database"].close()


@pytest.fixture
def admin(arena: Office) -> Browser:
    return arena.browser


def fields(text: str, form: str) -> dict[str, str]:
    """What is hidden in a form of a page."""
    (part,) = re.findall(rf"<form {form}.*?</form>", text, re.DOTALL)
    hidden = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', part)
    return {name: html.unescape(value) for name, value in hidden if name != "csrf_token"}


DONE = [
    ("/users/mate/role", {"role": "organiser"}, "mate is organiser", "mate is participant"),
    ("/bots/bot-0/share", {"user": "mate"}, "as well now", "not mate&#39;s any more"),
    ("/operator/ladders/ladder-0", {"deed": "freeze"}, "frozen", "frozen → open"),
    ("/bots/bot-2/withdraw", {}, "is withdrawn: it left", "is active on ladder-2"),
]
AGAIN = {"/bots/bot-2/withdraw": "plays no more on ladder-2"}
"""What is said where it is done again by another deed than at first."""


def test_what_was_done_is_undone(admin: Browser, subtests: pytest.Subtests) -> None:
    """The button beside it undoes it, and another one that."""
    for address, said, words, undone in DONE:
        with subtests.test(address):
            page = admin.post(address, said, page="/account", follow_redirects=True)
            for now in (words, undone, AGAIN.get(address, words)):
                assert now in page.text
                undo = fields(page.text, 'class="flash"')
                assert undo["next"].startswith(page.request.path)
                page = admin.post("/undo", undo, page="/account", follow_redirects=True)
            assert "Undo" not in admin.get("/account").text, "it is offered once"


def button(app: Flask, account: int, named: object, use: str = UNDO) -> str:
    """What a page's button says that takes something back."""
    with app.app_context():
        return str(signer(use).dumps([account, named]))


SHARE = [["share_bot", {"name": "bot-0", "user": "mate"}]]
UNSIGNED = ["", "[]", "7", json.dumps(SHARE), json.dumps([1, SHARE]), "[" * 5000]
SIGNED = [
    ([["fly", {}]], 400),
    ([["share_bot", {"name": "bot-0"}]], 400),
    ([["share_bot", {"name": "bot-0", "user": "mate", "why": "so"}]], 400),
    ([["remove_book", {"name": "small"}]], 400),
    ([["share_bot", {"name": "bot-0", "user": "nobody"}]], 409),
    ([["share_bot", {"name": "nobody", "user": "mate"}]], 404),
]
"""What a button may have named when it was made, and how it is refused now."""


def test_what_undoes_nothing_is_refused(
    admin: Browser, arena: Office, subtests: pytest.Subtests
) -> None:
    """What no page wrote for who asks, is there no more, or is to be asked about first."""
    app = admin.client.application
    with arena.database.read() as session:
        ids = {user.name: user.id for user in session.scalars(sa.select(User))}
    theirs, other_use = (
        button(app, ids["mate"], SHARE),
        button(app, ids["root"], SHARE, "known browser"),
    )
    sound = button(app, ids["root"], SHARE)
    forged = [*UNSIGNED, theirs, other_use, sound[:-1], "x" + sound]
    signed = [(button(app, ids["root"], named), status) for named, status in SIGNED]
    for undo, status in [*((one, 400) for one in forged), *signed]:
        with subtests.test(undo[:40]):
            assert admin.post("/undo", {"undo": undo}, page="/account").status_code == status
    assert admin.post("/undo", {"undo": sound}, page="/account").status_code == 302


def test_what_is_too_much_has_no_button(admin: Browser, subtests: pytest.Subtests) -> None:
    """What a cookie can't hold, and more deeds than one click is to do."""
    app, share = admin.client.application, ShareBot("bot-0", "mate")
    unlike = tuple(ShareBot(token_hex(20), "mate") for _ in range(MOST_UNDONE))
    for deeds, fits in ((1, True), (MOST_UNDONE, True), (MOST_UNDONE + 1, False)):
        with subtests.test(str(deeds)):
            assert has_button(app, (share,) * deeds) == fits
    assert not has_button(app, unlike)


def has_button(app: Flask, undo: tuple[Deed, ...]) -> bool:
    """Whether what was done is told with a button that takes it back."""
    with app.test_request_context(), app.extensions["arena.database"].read() as session:
        root = session.scalars(sa.select(User).where(User.name == "root")).one()
        here = BrowserSession(key="here", created=now(), last_used=now())
        login_user(account_of(session, root, here))
        tell(Done("it is done", undo=undo))
        ((told, _),) = list[Any](get_flashed_messages(with_categories=True))
    return bool(told != MESSAGE)


def test_all_of_it_is_undone_or_nothing(admin: Browser, arena: Office) -> None:
    """Where a part can't be taken back any more, it says why."""
    page = admin.post("/bots/bot-2/withdraw", page="/account", follow_redirects=True)
    undo, before = fields(page.text, 'class="flash"'), states(arena.database)
    with arena.database.begin() as session:
        session.execute(sa.update(Ladder).where(Ladder.name == "ladder-2").values(state="frozen"))
    refused = admin.post("/undo", undo, page="/account")
    assert (refused.status_code, states(arena.database)) == (409, before)
    assert "ladder-2 is frozen and takes no bots" in refused.text


def states(database: Database) -> list[str]:
    with database.read() as session:
        return [str(state) for state in session.scalars(sa.select(Entrant.state))]


def test_it_is_asked_before_what_lasts(admin: Browser, arena: Office) -> None:
    """A page tells what will happen, with all that was filled in; not before it is known that it
    can be done."""
    address = f"/matches/{arena.numbers['played']}/void"
    said = {"note": 'a "power" cut', "replay": "y"}
    asked = admin.send(address, said, page=f"/matches/{arena.numbers['played']}")
    assert "ratings are made anew without it. This can&#39;t be undone." in asked.text
    assert fields(asked.text, 'method="post" class="row" id="ask"') == said | {"confirmed": "y"}
    assert "is void" not in admin.get(f"/matches/{arena.numbers['played']}").text
    done = admin.send(address, said | {"confirmed": "y"}, page="/account", follow_redirects=True)
    assert "is void" in done.text
    assert "is void already" in admin.send(address, said, page="/account").text


def test_a_bot_with_a_check_under_way_is_asked_about(admin: Browser, arena: Office) -> None:
    """What ends when it leaves does not come back with it."""
    with arena.database.begin() as session:
        session.execute(sa.update(Check).values(cancelled=""))
    asked = admin.send("/bots/bot-0/withdraw", page="/account")
    assert "after which a version of bot-0 was to enter; that can&#39;t be undone." in asked.text
    with arena.database.begin() as session:
        session.execute(sa.update(Check).values(cancelled="long ago"))
        session.execute(sa.update(Ladder).where(Ladder.name == "ladder-2").values(state="frozen"))
    asked = admin.send("/bots/bot-0/withdraw", page="/account")
    assert "It can&#39;t come back while they take no bots: ladder-2." in asked.text
