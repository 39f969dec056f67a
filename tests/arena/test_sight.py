"""What a session leaves out: rows of every class, by whichever way they are asked for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, joinedload

from arena.audit import ARENA
from arena.bots import sharing
from arena.bots.bot_deeds import find_bot
from arena.bots.submissions import enter, submit
from arena.competitions import ladder_settings
from arena.competitions.founding import find_named
from arena.competitions.masks import masked
from arena.competitions.players import named_players
from arena.ground import locks
from arena.ground.db import Database
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    Base,
    Bot,
    BotVersion,
    Check,
    Competition,
    CoOwner,
    Entrant,
    Ladder,
    MemberRole,
    Membership,
    User,
    VersionStatus,
    Visibility,
)
from arena.sight import EVERYTHING, STRANGER, Reader, keys_of, look, look_up, open_named, roles_of
from engine.games import find_variant

NOW = datetime(2026, 11, 1, tzinfo=UTC)
LADDERS = ("open", "quiet", "shut")
"""One of each visibility, in their order."""
ELSEWHERE = {
    "AccountLink": "is of a person",
    "Analysis": "is of a person, or seen by its code",
    "ApiToken": "is of a person",
    "AuditEntry": "is for administrators",
    "Bot": "is narrowed by its versions",
    "BrowserSession": "is of a person",
    "BotVersion": "is narrowed by its entrants and checks",
    "ChangedPart": "is of the arena",
    "ChangedSetting": "is of the arena",
    "DayFile": "is of the arena, and its records are found through their games",
    "Delivery": "is of a person",
    "Dictionary": "is of the arena",
    "DiscardedFile": "is of the arena",
    "Epoch": "is of the arena",
    "FormerMember": "is of a person",
    "GameDayCount": "counts what is public alone",
    "Hook": "is of a person",
    "Identity": "is of a person",
    "LargeFile": "is found through a version",
    "Mail": "is of a person",
    "Mark": "is of the arena",
    "MatchOfSet": "is for organisers",
    "MatchSet": "is for organisers",
    "Notification": "is of a person",
    "OpeningBook": "is of the arena",
    "Passkey": "is of a person",
    "Picture": "is found through a bot",
    "Place": "is found through a match",
    "ReadCode": "is of a bundle, for those who read a course",
    "RecoveryCode": "is of a person",
    "Runtime": "is of the arena",
    "SearchEntry": "is found with its bot or competition",
    "Selection": "is a person's words",
    "SentFile": "is of a person",
    "TestPreset": "is of the arena",
    "Team": "is found through a bot",
    "TeamMember": "is told with a team",
    "User": "is found through a bot",
    "Wishes": "is of a person",
    "Worker": "is of the arena",
}
"""The classes whose rows say by no key of which competition, game or version they are."""


def furnish(database: Database) -> dict[str, int]:
    """A ladder of each visibility with a bot of its own, and a bot that is on all of them."""
    numbers = {}
    with database.begin() as session:
        for name, visibility in zip(LADDERS, Visibility, strict=True):
            variant = find_variant("clobber", ["size=4x3"])
            ladder = ladder_settings.create(session, ARENA, name, variant, {}, NOW)
            ladder.visibility, numbers[name] = visibility, ladder.id
        ada, bob = (User(name=name, created=NOW) for name in ("ada", "bob"))
        session.add_all([ada, bob])
        for number, (bot, there) in enumerate(
            [("everywhere", LADDERS), *((f"bot-{name}", (name,)) for name in LADDERS)]
        ):
            for name in there:
                ladder = session.get_one(Ladder, numbers[name])
                version = submit(
                    session, ada, bot, digest=str(number) * 64, size=1, language="C",
                    ladder=ladder, now=NOW,
                )  # fmt: skip
                version.status = VersionStatus.READY
                enter(session, ladder, version, NOW)
        session.flush()
        return numbers | {"ada": ada.id, "bob": bob.id}


def ids(session: Session, query: sa.Select[str]) -> list[str]:
    return sorted(session.scalars(query))


def test_who_sees_what(database: Database) -> None:
    its = furnish(database)
    member = Reader(its["bob"], member_of=frozenset([its["shut"]]))
    open_, quiet, shut = LADDERS
    for reader, seen in (
        (STRANGER, {open_}),
        (Reader(its["bob"]), {open_}),
        (member, {open_, shut}),
        (EVERYTHING, {open_, quiet, shut}),
    ):
        bots = sorted(["everywhere", *(f"bot-{name}" for name in seen)])
        with database.read() as session:
            look(session, reader)
            assert ids(session, sa.select(Competition.name)) == sorted(seen)
            assert ids(session, sa.select(aliased(Ladder).name)) == sorted(seen)
            assert ids(session, sa.select(Bot.name)) == bots
            assert session.scalar(sa.select(sa.func.count()).select_from(Entrant)) == 2 * len(seen)
            assert session.scalar(sa.select(sa.func.count()).select_from(Check)) == 2 * len(seen)
            assert (session.get(Ladder, its[shut]) is not None) is (shut in seen)
            both = sa.union_all(sa.select(Entrant.id), sa.select(Check.id))
            assert len(session.scalars(both).all()) == 4 * len(seen)
            within = sa.select(User.name).where(
                sa.exists().where(Bot.owner_id == User.id, Bot.name == f"bot-{shut}")
            )
            assert ids(session, within) == (["ada"] if shut in seen else [])
            rows = session.scalars(
                sa.select(Entrant)
                .order_by(Entrant.id)
                .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
            )
            assert all(row.version.bot.name for row in rows)
            # What is lazily loaded is narrowed, too.
            ladder = session.get_one(Ladder, its[open_])
            assert {one.competition.name for one in session.scalars(sa.select(Entrant))} == seen
            assert ladder.creator_id is None


def test_what_is_one_s_own_is_seen_wherever_it_plays(database: Database) -> None:
    its = furnish(database)
    with database.begin() as session:
        bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-shut")).one()
        session.add(CoOwner(bot_id=bot.id, user_id=its["bob"]))
        mate = Reader(its["bob"], shared=frozenset([bot.id]))
    for reader, number in ((Reader(its["ada"]), 4), (mate, 3), (STRANGER, 2)):
        with database.read() as session:
            look(session, reader)
            assert len(session.scalars(sa.select(Bot)).all()) == number
            assert len(session.scalars(sa.select(BotVersion.bot_id).distinct()).all()) == number
            assert session.scalars(sa.select(Competition.name)).all() == ["open"]


def test_who_is_masked_is_seen_by_the_mask(database: Database) -> None:
    """Owners alone see the real bots of an anonymous ladder; who sees the ladder sees the masks."""
    numbers = {}
    with database.begin() as session:
        ada, bob, eve = (User(name=name, created=NOW) for name in ("ada", "bob", "eve"))
        session.add_all([ada, bob, eve])
        for name, seen, anonymous in (("open", "public", "no"), ("dark", "public", "yes"),
                                      ("shut", "private", "yes")):  # fmt: skip
            ladder = ladder_settings.create(
                session, ARENA, name, find_variant("clobber", ["size=4x3"]),
                {"visibility": seen, "anonymous": anonymous}, NOW,
            )  # fmt: skip
            version = submit(
                session, ada, f"bot-{name}", digest=name[0] * 64, size=1, language="C",
                ladder=ladder, now=NOW,
            )  # fmt: skip
            mask = masked(session, ladder, version, NOW).bot
            mask.name = mask.lower_name = f"mask-{name}" if mask is not version.bot else mask.name
            numbers[name] = ladder.id
        session.flush()
        masks = sharing.shared_with(session, ada.id)
        readers = {
            Reader(eve.id): ["bot-open", "mask-dark"],
            Reader(bob.id, member_of=frozenset([numbers["shut"]])):
                ["bot-open", "mask-dark", "mask-shut"],
            Reader(ada.id, shared=masks):
                ["bot-dark", "bot-open", "bot-shut", "mask-dark", "mask-shut"],
            EVERYTHING: ["bot-dark", "bot-open", "bot-shut", "mask-dark", "mask-shut"],
        }  # fmt: skip
    for reader, names in readers.items():
        with database.read() as session:
            assert look(session, reader).hides is not reader.sees_all
            assert ids(session, sa.select(Bot.name)) == names
            versions = sa.select(BotVersion).options(joinedload(BotVersion.bot))
            assert sorted(one.bot.name for one in session.scalars(versions)) == names
            checks = sa.select(Check).options(joinedload(Check.ladder))
            its = {one.ladder.name for one in session.scalars(checks)}
            of_shut = {"shut"} if reader.sees_all else set()  # who is no member sees none there
            all_ = {"open", "dark"} | of_shut
            assert its == (all_ if "bot-dark" in names else {"open"})


def test_who_names_what_is_unlisted_sees_it(database: Database) -> None:
    its = furnish(database)
    with database.read() as session:
        look(session, STRANGER)
        for name, seen in (("shut", ["open"]), ("none", ["open"]), ("quiet", ["open", "quiet"])):
            open_named(session, sa.select(Competition.id).where(Competition.name == name))
            assert ids(session, sa.select(Competition.name)) == seen
        assert ids(session, sa.select(Bot.name)) == ["bot-open", "bot-quiet", "everywhere"]
    with database.begin() as session:
        within = session.get_one(Ladder, its["open"])
        within.visibility, within.within_id = Visibility.UNLISTED, its["quiet"]
    with database.read() as session:
        look(session, STRANGER)
        assert ids(session, sa.select(Competition.name)) == []
        open_named(session, sa.select(Competition.id).where(Competition.name == "open"))
        assert ids(session, sa.select(Competition.name)) == ["open", "quiet"]


def test_who_writes_finds_all_but_looks_up_what_is_seen(database: Database) -> None:
    its = furnish(database)
    words = set()
    for name in ("shut", "none"):
        with database.begin() as session:
            look_up(session, STRANGER)
            assert len(session.scalars(sa.select(Competition)).all()) == 3
            try:
                find_named(session, Ladder, name)
            except NotThere as error:
                words.add(str(error).replace(name, "..."))
    assert len(words) == 1
    with database.begin() as session:
        look_up(session, STRANGER)
        assert find_named(session, Ladder, "quiet").id == its["quiet"]  # it was named
        assert locks.find(session, Ladder, its["shut"]) is None
    with database.begin() as session:
        look_up(session, EVERYTHING)
        assert locks.find(session, Ladder, its["shut"]) is not None


def test_what_is_unlisted_is_suggested_to_nobody(database: Database) -> None:
    its = furnish(database)
    mate = Reader(its["bob"], member_of=frozenset([its["quiet"]]))
    for reader, is_told in ((STRANGER, False), (mate, True), (EVERYTHING, True)):
        with database.begin() as session:
            look_up(session, reader)
            for find, name, meant in (
                (lambda name: find_named(session, Ladder, name), "quite", "quiet"),
                (lambda name: find_bot(session, name), "bot-quite", "bot-quiet"),
                (lambda name: named_players(session, [name]), "bot-quite", "bot-quiet"),
            ):
                with pytest.raises(Refusal) as caught:
                    find(name)
                assert (meant in str(caught.value)) is is_told, (reader, str(caught.value))
            assert find_bot(session, "bot-quiet").name == "bot-quiet"


def test_what_is_asked_of_a_database_does_not_grow_with_what_is_hidden(
    sqlite_database: Database,
) -> None:
    its = furnish(sqlite_database)
    asked: list[list[str]] = []
    for name in ("", "more", "many"):
        with sqlite_database.begin() as session:
            shut = session.get_one(Ladder, its["shut"])
            its_columns = sa.inspect(Ladder).columns
            columns = {one.key: getattr(shut, one.key) for one in its_columns}
            del columns["id"]
            if name:
                session.add_all(Ladder(**columns | {"name": f"{name}-{n}"}) for n in range(9))
        with sqlite_database.read() as session:
            asked.append([])
            connection = session.connection()
            sa.event.listen(
                connection, "before_cursor_execute", lambda *what: asked[-1].append(f"{what[2:4]}")
            )
            look(session, STRANGER)
            for kind in (Competition, Bot, BotVersion, Entrant, Check):
                session.scalars(sa.select(kind)).all()
    assert asked[0] == asked[1] == asked[2]
    assert len(asked[0]) >= 6


def test_organisers_of_one_organise_what_is_within_it(database: Database) -> None:
    its = furnish(database)
    with database.begin() as session:
        session.get_one(Ladder, its["open"]).within_id = its["shut"]
        for name, role in (("shut", MemberRole.ORGANISER), ("quiet", MemberRole.MEMBER)):
            session.add(
                Membership(competition_id=its[name], user_id=its["bob"], role=role, joined=NOW)
            )
    with database.read() as session:
        assert roles_of(session, its["bob"]) == {
            its["shut"]: MemberRole.ORGANISER,
            its["open"]: MemberRole.ORGANISER,
            its["quiet"]: MemberRole.MEMBER,
        }
        assert roles_of(session, its["ada"]) == {}


def test_every_class_is_narrowed_or_said_to_be_reached_otherwise() -> None:
    for mapper in Base.registry.mappers:
        tables = {
            key.column.table.name for one in mapper.local_table.columns for key in one.foreign_keys
        }
        is_narrowed = bool(keys_of(mapper)) or bool(tables & {"bot", "bot_version", "game"})
        name = mapper.class_.__name__
        assert is_narrowed or name in ELSEWHERE, f"{name}: of which competition is a row of it?"
