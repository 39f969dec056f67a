"""Anonymous competitions: whatever a stranger asks for, no answer names a bot, its owner, or its
files; its owners see what is theirs, and in the end all of it is the bots'."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from arena.all_deeds import DEEDS
from arena.audit import Actor
from arena.bots import account_export
from arena.bots.submissions import enter
from arena.competitions.masks import unmask_next
from arena.deeds import By, asked_before, perform
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    SCOPES,
    Bot,
    BotVersion,
    Check,
    Competition,
    Entrant,
    GameSeat,
    JobStatus,
    Ladder,
    ListedSeat,
    MemberRole,
    Membership,
    Role,
    User,
    VersionStatus,
)
from arena.people import accounts
from arena.recorder import rebuild
from arena.sight import Reader
from arena.web.app import create_app
from tests.arena.test_deeds import EXAMPLES
from tests.arena.web.conftest import furnish
from tests.arena.web.signing_in import Browser, now, person, signed_in
from tests.arena.web.test_unseen import SECRETS, Numbers, addresses
from tests.furnished import furnished_database

DIGEST = "5ec2e7" * 10 + "abcd"
FORMS = re.compile(r'name="form" value="[^"]*"|"now":"[^"]*"')
"""What is another each time that it is asked for."""
PARTS = 3
"""In how many tests all addresses are looked at, as they take long."""
NAMES = ("secret-", "hideous", DIGEST[:12], "a note that betrays it", "betraying-option")


def mask_all(database: Database) -> None:
    """Puts real bots behind all that play in the arena of `furnish`, whose names are masks' then,
    in the records, too."""
    with database.begin() as session:
        owner = session.scalars(sa.select(User).where(User.name == "somebody")).one()
        owner.name = owner.lower_name = "hideous"
        session.execute(sa.update(Competition).values(anonymous=True))
        first = session.scalars(sa.select(Competition.id).order_by(Competition.id)).first()
        for mask in session.scalars(sa.select(Bot)).all():
            real = Bot(name=f"secret-{mask.id}", owner=owner, created=now())
            session.add(real)
            mask.masks, mask.masked_in = real, first
            mask.owner = accounts.anonymous(session, now())
            versions = sa.select(BotVersion).where(BotVersion.bot_id == mask.id)
            for version in session.scalars(versions).all():
                behind = BotVersion(
                    bot=real, number=version.number + 3, digest=DIGEST, size=4711, language="C",
                    status=version.status, created=now(), note="a note that betrays it",
                    options=["betraying-option int 1 20 6"],
                )  # fmt: skip
                version.masks, version.digest, version.size = behind, DIGEST, 0
                session.flush()
                its = sa.update(Check).where(Check.version_id == version.id)
                session.execute(its.values(version_id=behind.id))


@pytest.fixture
def masked_site(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[Database, dict[str, int], Flask]]:
    with furnished_database(request, tmp_path, furnish) as (database, numbers):
        mask_all(database)
        person(database, "stranger")
        person(database, "olga", Role.ORGANISER)
        app = create_app(Settings(data=tmp_path, database=database.url))
        yield database, numbers, app
        app.extensions["arena.database"].close()


def everywhere(database: Database, numbers: dict[str, int]) -> list[str]:
    """All that can be read, and what there is of the bots behind, by name and by number."""
    with database.read() as session:
        # Those of whom each kind is one or two.
        bots = [name for name in session.scalars(sa.select(Bot.name)) if name[-1] in "01"]
        checks = session.scalars(sa.select(Check.id).order_by(Check.id)).all()
    found = list(addresses(numbers))
    for name in bots:
        found += [f"/bots/{name}", f"/bots/{name}/feed.atom", f"/api/v1/bots/{name}"]
        found += [f"/api/v1/bots/{name}/versions", f"/bots/{name}:4", f"/games?bot={name}"]
    for number in (*checks[:2], *checks[-2:]):
        found += [f"/checks/{number}", f"/api/v1/checks/{number}"]
    found += [f"/api/v1/ladders/ladder-1/quotas?bot={name}" for name in bots]
    for words in ("secret", "hideous", "secret-1"):
        found += [f"{at}?q={words}" for at in ("/search", "/bots", "/people", "/api/v1/search")]
    found += ["/people/hideous", "/api/v1/people/hideous", "/ladders/ladder-0?owner=hideous"]
    return found


def said_of(text: str, address: str) -> list[str]:
    """What an answer tells of what nobody is to know, but for what was asked for by its name."""
    return [name for name in NAMES if name in text and name not in address]


def test_no_deed_tells_a_stranger_who_is_who(
    masked_site: tuple[Database, dict[str, int], Flask], subtests: pytest.Subtests
) -> None:
    """Nor does it find a bot by the name that nobody is to know."""
    database, numbers, _ = masked_site
    with database.read() as session:
        real = session.scalars(sa.select(Bot.name).where(Bot.name.startswith("secret-"))).all()[0]
    for deed in DEEDS:
        if deed.scope not in SCOPES[Role.PARTICIPANT]:
            continue
        values = EXAMPLES[deed][0](Numbers(numbers, waits=numbers["test"]))
        named = {key: _renamed(value, real) for key, value in values.items()}
        for fields in (values, named):
            with subtests.test(deed.__name__), database.begin() as session:
                user = session.scalars(sa.select(User).where(User.name == "stranger")).one()
                actor = Actor(user.id, user.name, "")
                by = By(actor, SCOPES[user.role], now(), reader=Reader(user.id))
                for way in (asked_before, perform):
                    try:
                        done = way(session, deed(**fields), by)
                        said = str(getattr(done, "said", done))
                    except Refusal as refusal:
                        said = str(refusal)
                    assert said_of(said, real) == [] or said.startswith("there is no")
                session.rollback()


def _renamed(value: Any, name: str) -> Any:
    """A field of a deed with a bot's name in the place of any that is there."""
    if isinstance(value, tuple):
        return tuple(_renamed(one, name) for one in value)
    return re.sub(r"bot-[0-9]", name, value) if isinstance(value, str) else value


def mask_one(database: Database) -> None:
    """One ladder is anonymous, whose bots play on the others under their own names; each is
    somebody else's."""
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.name == "ladder-1")).one()
        ladder.anonymous = True
        for number, bot in enumerate(session.scalars(sa.select(Bot).order_by(Bot.id)).all()):
            bot.owner = User(name=f"owner-{number}", created=now())
            mask = Bot(name=f"brisk-otter-1{number}", created=now(), masked_in=ladder.id)
            mask.owner = accounts.anonymous(session, now())
            hidden = BotVersion(
                bot=bot, number=9, digest=str(number) * 64, size=number, language="C", note="new",
                status=VersionStatus.READY, created=now(),
            )  # fmt: skip
            its = sa.select(BotVersion).where(BotVersion.bot_id == bot.id)
            for one in session.scalars(its.order_by(BotVersion.number)).all():
                one.digest, one.size, one.note = f"{number}{one.number}" * 32, number, f"{number}"
                copy = BotVersion(
                    bot=mask, number=one.number, digest=one.digest, size=0, masks=one,
                    language=one.language, status=one.status, created=now(),
                )  # fmt: skip
                session.add(copy)
                session.flush()
                for table in (Entrant, ListedSeat):
                    here = table.competition_id == ladder.id, table.version_id == one.id
                    values = {"version_id": copy.id}
                    if table is ListedSeat:
                        values |= {"bot_id": mask.id}
                    session.execute(sa.update(table).where(*here).values(values))
            session.add_all([mask, hidden, _passed(hidden, ladder)])
        secret = Bot(name="secret-0", created=now(), owner=User(name="hideous", created=now()))
        mask = Bot(name="brisk-otter-20", created=now(), masked_in=ladder.id, masks=secret)
        mask.owner = accounts.anonymous(session, now())
        its = {"digest": DIGEST, "language": "C", "status": VersionStatus.READY, "created": now()}
        real = BotVersion(bot=secret, number=4, size=47, note="a note that betrays it", **its)
        copy = BotVersion(bot=mask, number=1, size=0, masks=real, **its)
        session.add_all([secret, mask, real, copy, _passed(real, ladder)])
        session.flush()
        enter(session, ladder, copy, now())


def _passed(version: BotVersion, ladder: Ladder) -> Check:
    return Check(
        version=version, ladder=ladder, status=JobStatus.FIXED, created=now(), ended=now(),
        findings=[],
    )  # fmt: skip


def stand_behind(database: Database, shift: int) -> None:
    """Has each mask stand for the bot that comes so many after its own; and so its versions, and
    what its checks are of."""
    with database.begin() as session:
        real = session.scalars(sa.select(Bot).where(Bot.masked_in.is_(None)).order_by(Bot.id)).all()
        masks = session.scalars(sa.select(Bot).where(Bot.name.startswith("brisk-otter-1")))
        for number, mask in enumerate(masks.all()):
            mask.masks = real[(number + shift) % 4]
            its = sa.select(BotVersion).where(BotVersion.bot_id == mask.id)
            for one in session.scalars(its).all():
                of_it = BotVersion.bot_id == mask.masks.id, BotVersion.number == min(one.number, 1)
                one.masks = session.scalars(sa.select(BotVersion).where(*of_it)).one()
                one.digest = one.masks.digest


@pytest.fixture(scope="module")
def partly_masked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Database, dict[str, int], Flask]]:
    folder = tmp_path_factory.mktemp("partly")
    with furnished_database(request, folder, furnish) as (database, numbers):
        mask_one(database)
        person(database, "stranger")
        app = create_app(Settings(data=folder, database=database.url))
        yield database, numbers, app
        app.extensions["arena.database"].close()


@pytest.mark.long
@pytest.mark.timeout(300)  # on a busy machine
@pytest.mark.parametrize("part", range(PARTS))
def test_all_is_as_if_others_stood_behind(
    partly_masked: tuple[Database, dict[str, int], Flask], part: int, subtests: pytest.Subtests
) -> None:
    """Who is known from elsewhere is not known by that: whichever bot a mask stands for, a stranger
    reads the same, byte for byte. Who is known from nowhere else is nowhere."""
    database, numbers, app = partly_masked
    stranger = signed_in(app, "stranger")

    def said(address: str) -> tuple[int, str]:
        answer = stranger.get(address)
        text = FORMS.sub("", SECRETS.sub("", answer.get_data().decode("latin-1")))
        answer.close()
        return answer.status_code, text

    read = everywhere(database, numbers)
    read += [f"/people/owner-{number}" for number in range(4)]
    read += [f"/api/v1/people/owner-{number}" for number in range(4)]
    read += [f"/bots/bot-{number}:9" for number in range(4)]
    answers = []
    for shift in (0, 1):
        stand_behind(database, shift)
        answers.append({address: said(address) for address in read[part::PARTS]})
    for address, (status, text) in answers[0].items():
        with subtests.test(address):
            again, other = answers[1][address]
            assert list(unified_diff(text.split("\n"), other.split("\n"), n=0)) == []
            assert again == status
            assert said_of(text, address) == []
            if re.match("/bots/(secret|bot-.:9)|/people/hideous|/checks/", address):
                assert status == 404


@pytest.mark.long
def test_what_is_looked_for_would_be_found(
    masked_site: tuple[Database, dict[str, int], Flask],
) -> None:
    """An organiser of the site, who may see it, finds it."""
    database, numbers, app = masked_site
    olga, told = signed_in(app, "olga"), set()
    for address in everywhere(database, numbers)[-200:]:
        answer = olga.get(address)
        told.update(said_of(answer.get_data().decode("latin-1"), address))
        answer.close()
    assert told >= {"secret-", "hideous", "a note that betrays it", DIGEST[:12]}


def test_owners_own_their_masks(
    masked_site: tuple[Database, dict[str, int], Flask], tmp_path: Path
) -> None:
    """They see their checks, their logs and who is who, and have their masks' games in their
    archive; an organiser of one competition asks, and that is noted."""
    database, _, app = masked_site
    with database.begin() as session:
        ladder = session.scalars(sa.select(Competition).where(Competition.name == "ladder-0")).one()
        user = session.scalars(sa.select(User).where(User.name == "stranger")).one()
        its = {"competition_id": ladder.id, "user_id": user.id, "joined": now()}
        session.add(Membership(role=MemberRole.ORGANISER, **its))
    person(database, "hideous")
    owner = signed_in(app, "hideous")
    with database.read() as session:
        for one in session.scalars(sa.select(Check.id)):
            assert owner.get(f"/checks/{one}").status_code == 200
    real, mask = (owner.get(f"/api/v1/bots/{name}").json for name in ("secret-1", "bot-0"))
    assert (real["masks"], real["stands_for"]) == (["bot-0"], None)
    assert (mask["masks"], mask["stands_for"]) == ([], "secret-1")
    assert "secret-1" in owner.get("/account").text
    page = owner.get("/bots/bot-0").text
    assert "secret-1" in page
    with database.begin() as session:
        number = session.scalars(sa.select(User.id).where(User.name == "hideous")).one()
        session.execute(sa.update(GameSeat).values(log="what it thought"))
    content = b"".join(account_export.export(database, tmp_path, number))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert b'"bot-0"' in archive.read("bots.json")
        assert b'"bot-0"' in archive.read("games/bot-0.jsonl")
        assert b"what it thought" in archive.read("logs/bot-0.jsonl")
        assert archive.read("games/secret-1.jsonl") == b""
    organiser = signed_in(app, "stranger")
    told = organiser.post("/competitions/ladder-0/who", {})
    assert "secret-1" in told.text
    assert "hideous" in told.text


def test_all_is_the_bots_in_the_end(
    masked_site: tuple[Database, dict[str, int], Flask],
) -> None:
    """Nothing is lost or doubled; a rebuild comes out the same; made-up names lead on."""
    database, numbers, app = masked_site

    def counted() -> list[tuple[int, ...]]:
        with database.read() as session:
            return [
                tuple(row)
                for row in session.execute(
                    sa.select(
                        Entrant.id, Entrant.games, Entrant.wins, Entrant.mu, Entrant.sigma
                    ).order_by(Entrant.id)
                )
            ]

    before = counted()
    with database.begin() as session:
        first = session.scalars(sa.select(Bot.id).where(Bot.name == "bot-0")).one()
        session.execute(sa.update(Competition).values(anonymous=False))
    for _ in range(20):
        with database.begin() as session:
            if not unmask_next(session, now()):
                break
    assert counted() == before
    with database.begin() as session:
        assert session.scalars(sa.select(Bot.id).where(Bot.masks_id.is_not(None))).all() == []
        assert (
            session.scalars(sa.select(BotVersion.id).where(BotVersion.masks_id.is_not(None))).all()
            == []
        )
        named = sa.select(ListedSeat).where(
            ListedSeat.version_id.not_in(sa.select(BotVersion.id))
            | ListedSeat.bot_id.not_in(sa.select(Bot.id))
        )
        assert session.scalars(named).all() == []
        for competition in session.scalars(sa.select(Competition)).all():
            competition.rebuild_due = True
    upkeep = rebuild.Upkeep(1e9)
    for _ in range(50):
        upkeep.go_on(database, now())
    assert counted() == before
    browser = Browser(app)
    moved = browser.get("/bots/bot-0")
    assert (moved.status_code, moved.location) == (302, f"/bots/secret-{first}")
    for address in (
        "/ladders/ladder-0",
        "/games/{trio}",
        "/bots/bot-0",
        "/tests/{test}",
        "/tournaments/cup",
        "/api/v1/ladders/ladder-0/leaderboard",
        "/games?bot=bot-0",
    ):
        answer = browser.get(address.format_map(numbers), follow_redirects=True)
        assert answer.status_code == 200, address
        assert "secret-" in answer.text, address
