"""Where names of deleted accounts and bots were: no column of any table has one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit, present
from arena.audit import ARENA, Actor
from arena.bots import teams
from arena.bots.account_deletion import DeleteUser
from arena.bots.bot_deeds import CancelCheck, ShareBot, UnshareBot
from arena.bots.deletion import DeleteBot
from arena.bots.member_deeds import AddMember, ImportMembers, RemoveMember
from arena.bots.notifications import tell_shared
from arena.bots.profile_deeds import RenameBot
from arena.bots.submissions import submit
from arena.bots.team_deeds import (
    DissolveTeam,
    FoundTeam,
    GiveBot,
    HandOverTeam,
    JoinTeam,
    LeaveTeam,
    RemoveTeamMember,
    RenameTeam,
    RenewTeamCode,
)
from arena.competitions.gauntlet_deeds import StopGauntlet
from arena.competitions.pairings import Pairing
from arena.competitions.strength_deeds import StopTest
from arena.competitions.tuning_deeds import StopTuning
from arena.deeds import By, Deed, perform
from arena.ground.db import Database
from arena.keeping.packing import unpack
from arena.models import (
    SCOPES,
    AuditEntry,
    Base,
    Bot,
    BotVersion,
    Check,
    Competition,
    JobStatus,
    Ladder,
    Mail,
    Notification,
    PlayedGame,
    Role,
    Runtime,
    Sitting,
    Tournament,
    User,
)
from arena.operation.maintenance import SetMaintenance
from arena.operation.settings import ChangeSetting
from arena.people import accounts, identities
from arena.people.notifications import notify
from arena.people.outbox import add_mail
from arena.people.profiles import RenameUser
from arena.recorder.match_set_deeds import ChooseMatches, DecideMatches
from arena.schedule.matchmaking import make
from arena.sittings import Person, Wish, begin
from tests.arena.bots.test_entries import NOW, ladders, version
from tests.arena.competitions.test_kinds import MAKERS
from tests.arena.doing import do
from tests.arena.simulator import CALM, Simulation

NAMES = "Rowena", "Evelina"
"""What she was called, and is."""


def _texts(session: Session) -> Iterator[tuple[str, str]]:
    """All that every column of every table has as text, with where it stands."""
    for table in Base.metadata.sorted_tables:
        for column in table.columns:
            for value in session.scalars(sa.select(column).where(column.is_not(None))):
                if column is PlayedGame.__table__.c.record:
                    value = unpack(value).to_json()
                if isinstance(value, (str, list, dict)):
                    yield f"{table.name}.{column.name}", json.dumps(value, ensure_ascii=False)


def _having(session: Session, *names: str) -> set[str]:
    found = _texts(session)
    return {at for at, text in found if any(name.lower() in text.lower() for name in names)}


def _by(user: User) -> By:
    return By(Actor(user.id, user.name, "10.1.2.3"), SCOPES[Role.ADMINISTRATOR], NOW)


def _do(session: Session, user: User, *deeds: Deed) -> list[Any]:
    return [perform(session, deed, _by(user)).answer for deed in deeds]


def _lives(session: Session, ada: User) -> User:
    """Somebody does all by which the arena writes down a name, and so do others with them."""
    ladder, second = ladders(session)[:2]
    _do(session, ada, ImportMembers(second.name, f"somebody\n{NAMES[0]}\nsomebody-else"))
    her = accounts.get(session, NAMES[0])
    first = version(session, her, "hers")
    versions = [*(version(session, ada, f"adas-{one}", str(one)) for one in range(2)), first]
    _do(session, ada, ShareBot("adas-1", her.name), UnshareBot("adas-1", her.name.upper()))
    _note_failed(session, her.name)
    _do(session, her, RenameUser(her.name, NAMES[1]))
    member = AddMember(ladder.name, her.name)
    _do(session, ada, member, RemoveMember(ladder.name, her.name.upper()), member)
    _do(session, ada, AddMember(ladder.name, her.name, "organiser"), ShareBot("adas-0", her.name))
    _do(session, her, ShareBot("hers", "ada"))
    submit(session, her, "hers", digest="9" * 64, size=1, language="C", ladder=ladder, now=NOW)
    session.flush()
    (check,) = session.scalars(sa.select(Check).where(Check.status == JobStatus.OPEN))
    _do(session, her, CancelCheck(check.id))
    made = {
        kind: MAKERS[kind](session, ladder, versions) for kind in ("test", "tuning", "gauntlet")
    }
    session.flush()
    _do(session, her, StopTest(made["test"].id), StopTuning(made["tuning"].id))
    _do(session, her, StopGauntlet(made["gauntlet"].name))
    by = _by(her).actor
    identities.link(session, by, her, "https://id.example", "1", her.name, NOW)
    identities.link(session, by, her, "https://id.example", "2", her.name, NOW)
    identities.unlink(
        session, by, her, identities.listed(session, her.id)[0], ["https://id.example"], NOW
    )
    # As where it is not known by a number who signs in, or who types a command.
    _note_failed(session, her.name.lower())
    (team,) = _do(session, ada, FoundTeam("knights"))
    teams.join(session, team, accounts.add(session, ARENA, "mate", now=NOW), NOW)
    (code,) = _do(session, ada, RenewTeamCode("knights"))
    _do(session, her, JoinTeam(code.code), LeaveTeam("knights"), JoinTeam(code.code))
    _do(session, ada, GiveBot("adas-1", "knights"), GiveBot("adas-1", her.name))
    _do(session, ada, HandOverTeam("knights", her.name))
    _do(session, her, HandOverTeam("knights", "ada"))
    _do(session, ada, RemoveTeamMember("knights", her.name))
    match = make(session, ladder, Pairing((1, 2)), NOW, requester=ada)
    match.status = JobStatus.SET_ASIDE
    session.flush()
    (chosen,) = _do(session, her, ChooseMatches("requeue", "", "set aside"))
    _do(session, her, DecideMatches(chosen.id))
    _do(session, her, ChangeSetting("requests_a_day", "5"), SetMaintenance(True, "a moment"))
    session.add(_runtime(her.name))
    wish = Wish(ladder, 1, (versions[0].id,), False, "form", 1)
    begin(session, Person(her.name, her.id), wish, NOW, most_open=9)
    said = f"{her.name} shares the bot {her.name}-bot with you. /people/{her.name}"
    add_mail(session, "ada@example.org", said, said, NOW)
    return her


def _note_failed(session: Session, name: str) -> None:
    audit.note(session, Actor(None, name, "10.1.2.3"), "fail sign-in", f"user {name}", now=NOW)


def _runtime(creator: str) -> Runtime:
    return Runtime(
        name="torch", digest="d", size=1, kind="python", interpreter="3.12", language="Python",
        platform="x", packages=[], lock="", start_seconds=1.0, creator=creator, created=NOW,
    )  # fmt: skip


def test_no_name_of_a_deleted_account_is_left_anywhere(database: Database) -> None:
    """Neither the last nor the one before, in whatever letters' size."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", role=Role.ADMINISTRATOR, now=NOW)
        her = _lives(session, ada)
        after = f"deleted user {her.id}"
        before = _having(session, *NAMES)
        assert before >= {
            "audit_entry.actor", "audit_entry.subject", "audit_entry.detail", "check.cancelled",
            "competition.reason", "former_name.lower_name", "match_set.maker", "match_set.decider",
            "notification.places", "runtime.creator", "setting.changed_by", "sitting.game",
            "mark.value", "mail.text", "identity.label", "user.name",
        }  # fmt: skip
        # During maintenance that is done at the arena's machine alone.
        DeleteUser(NAMES[1], NAMES[1]).do(session, _by(her))
        session.flush()
        session.expire_all()
        # An address, and a bot that happens to be called much like her.
        assert _having(session, *NAMES) == {"mail.subject", "mail.text"}
        (letter,) = session.scalars(sa.select(Mail).where(Mail.address == "ada@example.org"))
        assert letter.text == (
            f"{after} shares the bot {NAMES[1]}-bot with you. /people/{NAMES[1]}"
        )
        session.delete(letter)
        details = set(session.scalars(sa.select(AuditEntry.detail)))
        assert {
            f"to {after}", f"with {after}", f"{after}, organiser", f"stopped: by {after}",
            f"by {after}", f"somebody, {after}, somebody-else", after,
        } <= details  # fmt: skip
        reasons = set(session.scalars(sa.select(Competition.__table__.c.reason)))
        assert {f"by {after}", f"stopped by {after}"} <= reasons
        (game,) = session.scalars(sa.select(Sitting.game))
        assert game["players"] == ["adas-0 v1", after]
        mark = present.maintenance(session)
        assert mark is not None
        assert mark.by == after
        assert _having(session, "10.1.2.3") == {"audit_entry.origin"}, "only where others did it"
        own = sa.select(AuditEntry.origin).where(AuditEntry.actor == after)
        assert set(session.scalars(own)) == {""}


def test_no_name_of_a_team_is_left_anywhere(database: Database) -> None:
    """That was dissolved, or whose last member is gone."""
    with database.begin() as session:
        ada, eve, bob = (
            accounts.add(session, ARENA, name, role=Role.ADMINISTRATOR, now=NOW)
            for name in ("ada", "eve", "bob")
        )
        version(session, eve, "hers")
        for captain, gone in ((ada, DissolveTeam(NAMES[1])), (eve, DeleteUser("eve", "eve"))):
            _do(session, captain, FoundTeam(NAMES[0]))
            (code,) = _do(session, captain, RenewTeamCode(NAMES[0]))
            _do(session, bob, JoinTeam(code.code))
            if captain is eve:
                _do(session, eve, GiveBot("hers", NAMES[0]))
            _do(session, captain, RenameTeam(*NAMES), RemoveTeamMember(NAMES[1], "bob"))
            assert _having(session, *NAMES) >= {
                "user.name", "audit_entry.subject", "audit_entry.detail",
                "former_name.lower_name", "notification.places", "notification.address",
            }  # fmt: skip
            _do(session, captain, gone)
            session.expire_all()
            assert _having(session, *NAMES) == set()


def test_what_is_called_so_besides_keeps_its_name(sqlite_database: Database) -> None:
    """A bot of another, a ladder, what people wrote; and people whose names begin so."""
    with sqlite_database.begin() as session:
        ada, eve, _ = (
            accounts.add(session, ARENA, name, role=Role.ADMINISTRATOR, now=NOW)
            for name in ("ada", "eve", "eve-2")
        )
        version(session, ada, "eve")
        version(session, ada, "bot", "b")
        _do(session, ada, RenameBot("bot", "other"), RenameBot("other", "bot"))
        _do(session, ada, AddMember(ladders(session)[0].name, "eve-2"), ShareBot("eve", "eve-2"))
        audit.note(session, _by(ada).actor, "void match", "match 1", "by eve", now=NOW)
        audit.note(session, _by(ada).actor, "rename", "bot x", "to eve", now=NOW)
        session.flush()
        wanted = (
            sa.select(AuditEntry.subject, AuditEntry.detail)
            .where(AuditEntry.actor == "ada")
            .order_by(AuditEntry.id)
        )
        before = session.execute(wanted).all()
        _do(session, eve, DeleteUser("eve", "eve"))
        assert session.execute(wanted).all() == before
        assert [bot.name for bot in session.scalars(sa.select(Bot).order_by(Bot.id))] == [
            "eve", "bot",
        ]  # fmt: skip


@pytest.mark.long
def test_no_name_of_a_deleted_bot_is_left_but_in_records(database: Database) -> None:
    """And in the audit log: in sets of matches, in titles, in what people were told, nowhere."""
    simulation = Simulation(database, 3, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    simulation.alive()
    simulation.tick()
    simulation.run(30)
    now = simulation.now
    with database.begin() as session:
        bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-0")).one()
        do(session, RenameBot("bot-0", NAMES[0]), now)
        versions = [*session.scalars(sa.select(BotVersion).order_by(BotVersion.id))]
        ladder = session.scalars(sa.select(Ladder)).one()
        for kind in ("test", "tuning", "gauntlet", "tournament"):
            made = MAKERS[kind](session, ladder, versions)
        assert isinstance(made, Tournament)
        made.winner = f"{versions[0].label} and {versions[1].label}"
        user = accounts.add(session, ARENA, "ada", now=now)
        tell_shared(session, bot, "bob", user, now)
        session.flush()
        notify(session, [user.id], "%(version)s", {"version": versions[0].label}, "/checks/1", now)
        session.flush()
        do(session, RenameBot(NAMES[0], NAMES[1]), now)
        chosen = do(session, ChooseMatches("void", "", "played", "why"), now)
        its = {line["label"] for one in chosen.changes for line in one["changes"]}
        assert f"{NAMES[1]} v1" in its
        assert _having(session, *NAMES) >= {
            "match_set.changes", "competition.title", "competition.winner",
            "notification.places", "notification.address",
        }  # fmt: skip
        do(session, DeleteBot(NAMES[0]), now)
        session.expire_all()
        assert _having(session, *NAMES) <= {
            "audit_entry.subject", "audit_entry.detail", "game.record",
        }  # fmt: skip
        after = f"deleted bot {bot.id}"
        assert session.get_one(Tournament, made.id).winner == f"{after} v1 and bot-1 v1"
        hers = sa.select(Notification).where(Notification.user_id == user.id)
        told = session.scalars(hers.order_by(Notification.id)).all()
        said = [(one.places.get("bot", one.places.get("version")), one.address) for one in told]
        assert said == [(after, "/bots"), (f"{after} v1", "/checks/1")]
