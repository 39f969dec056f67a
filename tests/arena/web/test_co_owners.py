"""What co-owners of a bot get at its pages and by the API: all that its owner gets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.models import Role, Scope, User
from arena.people.accounts import add_token
from tests.arena.web.conftest import Site
from tests.arena.web.signing_in import Browser, now, person, signed_in
from tests.arena.web.test_access import PEOPLE, ROUTES, opened, unchanged
from tests.conftest import on_both

OTHER, OWNER = PEOPLE.index("other"), PEOPLE.index("owner")
OF_A_BOT = {
    key: (pattern, answers[OTHER], answers[OWNER])
    for key, (pattern, answers) in ROUTES.items()
    if answers[OTHER] != answers[OWNER] and ("/bot-0" in pattern or "{owners_check}" in pattern)
}
"""What lacks a field is refused to all alike: of that tests.arena.test_deeds tells who may."""


@pytest.fixture(scope="module")
def door(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The site with its owner and a mate at browsers."""
    with unchanged(site.database):
        found = opened(site, tmp_path_factory.mktemp("data"))
        person(site.database, "Mate")
        found.browsers["mate"] = signed_in(found.app, "mate")
        found.database = site.database
        yield found
        found.app.extensions["arena.database"].close()


def answers_to(door: SimpleNamespace, browser: Browser) -> dict[tuple[str, str], int]:
    """What somebody gets of everything that is for a bot's owner."""
    found, secret = {}, browser.secret("/account")
    for (method, endpoint), (pattern, _, _) in OF_A_BOT.items():
        data = {"csrf_token": secret, "confirmed": "y"} if method == "POST" else None
        address = pattern.format(**door.numbers)
        with browser.client.open(address, method=method, data=data) as answer:
            found[method, endpoint] = answer.status_code
    return found


def test_a_co_owner_gets_what_the_owner_gets(door: SimpleNamespace) -> None:
    """While the bot is shared; before and after what any other gets."""
    owner, mate, other = (door.browsers[kind] for kind in ("owner", "mate", "other"))
    assert len(OF_A_BOT) > 10
    as_other = {key: answer for key, (_, answer, _) in OF_A_BOT.items()}
    as_owner = {key: answer for key, (_, _, answer) in OF_A_BOT.items()}
    assert answers_to(door, mate) == as_other
    shared = owner.post("/bots/bot-0/share", {"user": " MATE "}, page="/account")
    assert (shared.status_code, shared.location) == (302, "/bots/bot-0")
    assert answers_to(door, mate) == as_owner
    assert answers_to(door, other) == as_other
    page = other.get("/bots/bot-0").text
    said = re.sub("<[^>]*>", "", page)
    assert f"A bot of {door.owner} and Mate, entered" in said
    assert "Yours to decide" not in page
    assert 'action="/bots/bot-0/share"' in owner.get("/bots/bot-0").text
    mates = mate.get("/bots/bot-0").text
    assert "Yours to decide" in mates
    assert 'action="/bots/bot-0/share"' not in mates
    assert ">Leave</button>" in mates
    listed = mate.get("/account").text
    assert f'bot-0</bdi></a> <small class="faint">of <bdi>{door.owner}</bdi></small>' in listed
    # Who shares it decides neither who else does, nor who does no more.
    for address, named in (("share", "other"), ("unshare", "other"), ("unshare", door.owner)):
        refused = mate.post(f"/bots/bot-0/{address}", {"user": named}, page="/account")
        assert refused.status_code == 403
    left = mate.post("/bots/bot-0/unshare", {"user": "mate"}, page="/account")
    assert (left.status_code, left.location) == (302, "/bots/bot-0")
    assert answers_to(door, mate) == as_other


@on_both("site")
def test_programs_share_too(door: SimpleNamespace) -> None:
    """With a token that may submit; its scopes count for shared bots as for own ones."""
    tokens = {}
    with door.database.begin() as session:
        for name, scopes in ((door.owner, [Scope.READ, Scope.SUBMIT]), ("Mate", [Scope.SUBMIT])):
            user = session.scalars(sa.select(User).where(User.name == name)).one()
            tokens[name] = add_token(session, ARENA, user, "sharing", scopes, now())
    person(door.database, "Third", Role.PARTICIPANT)

    def send(who: str, method: str, address: str, **more: Any) -> Any:
        headers = {"Authorization": f"Bearer {tokens[who]}"}
        client = door.app.test_client()
        return client.open(f"/api/v1/bots/bot-0{address}", method=method, headers=headers, **more)

    told = send(door.owner, "POST", "/share", json={"user": "mate"})
    assert (told.status_code, told.json["co_owners"]) == (200, ["Mate"])
    assert send(door.owner, "POST", "/share", json={"user": "mate"}).status_code == 409
    assert send("Mate", "PATCH", "", json={"open_source": False}).status_code == 200
    # Its token may not read.
    assert send("Mate", "GET", f"/versions/{door.numbers['last']}/files").status_code == 403
    assert send("Mate", "POST", "/share", json={"user": "third"}).status_code == 403
    told = send("Mate", "POST", "/unshare", json={"user": "mate"})
    assert (told.status_code, told.json["co_owners"]) == (200, [])
    assert send("Mate", "PATCH", "", json={"open_source": False}).status_code == 403
