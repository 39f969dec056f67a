"""A lively arena that programs may change."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.bots import teams
from arena.cli.bundle_intake import BundleIntake
from arena.competitions import books
from arena.ground.config import Settings
from arena.models import (
    SCOPES,
    Analysis,
    Bot,
    BotVersion,
    Check,
    DeliveryState,
    Hook,
    HookFormat,
    Ladder,
    Role,
    Selection,
    SentFile,
    User,
)
from arena.people.accounts import add_token
from arena.people.notifications import delivery_of
from arena.sittings import Person, Wish, begin
from arena.web.app import create_app
from engine.games import GAMES
from tests.arena.web.conftest import furnish
from tests.arena.web.dumped import lay_down
from tests.arena.web.signing_in import now, person
from tests.furnished import furnished_database

PEOPLE = {
    "other": Role.PARTICIPANT,
    "organiser": Role.ORGANISER,
    "administrator": Role.ADMINISTRATOR,
}


@pytest.fixture(scope="module")
def arena(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SimpleNamespace]:
    """An arena with a bit of everything, and a token of each kind of person.

    The owner of its bots is an administrator, so that one token reaches everything.
    """
    folder = tmp_path_factory.mktemp("arena")
    with furnished_database(request, folder, furnish) as (database, found):
        numbers = dict(found)
        for name, role in PEOPLE.items():
            person(database, name, role)
        tokens = {}
        with database.begin() as session:
            owner = session.scalars(
                sa.select(User).join(Bot, Bot.owner_id == User.id).where(Bot.name == "bot-0")
            ).one()
            owner.role = Role.ADMINISTRATOR
            users = session.scalars(sa.select(User).where(User.name.in_([*PEOPLE, owner.name])))
            for user in users:
                kind = "owner" if user is owner else user.name
                tokens[kind] = add_token(session, ARENA, user, "ci", SCOPES[user.role], now())
            # It has a bot, and so is not dissolved.
            knights = teams.make(session, "knights", owner, now())
            session.add(Bot(name="knight", owner=knights, created=now()))
            numbers["check"] = session.scalars(
                sa.select(sa.func.min(Check.id))
                .join(BotVersion, BotVersion.id == Check.version_id)
                .join(Bot, Bot.id == BotVersion.bot_id)
                .where(Bot.name == "bot-0")
            ).one()
            books.add(session, "small", GAMES["clobber"].variant(), "a2a1", now(), ARENA, most=None)
            puzzle = session.scalars(sa.select(Ladder).where(Ladder.game == "puzzle")).one()
            wish = Wish(puzzle, 0, (), False, "form", 5)
            begun = begin(session, Person(owner.name, owner.id), wish, now(), most_open=1)
            numbers["sitting"] = begun.id
            numbers["digest"] = "0" * 64
            sent = SentFile(user_id=owner.id, digest=numbers["digest"], size=2**21, used=now())
            session.add(sent)
            kept = Selection(owner_id=owner.id, name="all", words="", created=now())
            session.add(kept)
            session.add(
                Analysis(
                    code="known",
                    owner_id=owner.id,
                    name="known",
                    game="clobber size=3x2",
                    position="",
                    moves="b1c1",
                    comments={"1": "a beginning"},
                    shared=True,
                    created=now(),
                    changed=now(),
                )
            )
            hook = Hook(
                user_id=owner.id, url="https://h.example/", format=HookFormat.JSON, created=now()
            )
            session.add(hook)
            session.flush()
            sent_once = delivery_of(hook, None, now())
            sent_once.state = DeliveryState.ARRIVED
            session.add(sent_once)
            session.flush()
            numbers |= {"selection": kept.id, "hook": hook.id, "delivery": sent_once.id}
        found = Settings(data=folder, database=database.url, dumps="dumps")
        lay_down(found.dump_folder)
        found.runtimes.mkdir()
        (found.runtimes / ("0" * 64)).write_bytes(b"tar")
        app = create_app(found, BundleIntake(found.bundles))
        app.testing = True
        yield SimpleNamespace(
            app=app,
            client=app.test_client(),
            database=database,
            token=tokens["owner"],
            tokens=tokens,
            numbers=numbers,
        )
        app.extensions["arena.database"].close()
