"""Where the arena itself writes down what a person or a bot is called, beside their own row.

Who deletes their account is in none of these any more (`arena.bots.account_deletion`), nor is a bot
that is deleted (`arena.bots.deletion`), but in the audit log. A test goes through all columns of
all tables: what writes a name somewhere else has its line here. What people write by hand, as in a
note, stays as it was written.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import present
from arena.bots.member_deeds import IMPORT
from arena.bots.notifications import OF_PEOPLE
from arena.competitions.gauntlets import Gauntlet
from arena.ground.texts import LONGEST, cut
from arena.models import (
    AuditEntry,
    Bot,
    BotTuning,
    ChangedSetting,
    Check,
    Competition,
    Entrant,
    FormerName,
    JobStatus,
    Mail,
    Match,
    MatchSet,
    MemberRole,
    Notification,
    Runtime,
    Sitting,
    StrengthTest,
    Tournament,
    User,
)

_OF_USERS = sa.or_(*(AuditEntry.subject.startswith(word) for word in ("user ", "team ")))


class _Place(NamedTuple):
    """A column, and the words in which it has a name."""

    column: Any
    words: str = "{}"
    where: sa.ColumnElement[bool] = sa.true()


def _did(*actions: str) -> sa.ColumnElement[bool]:
    return AuditEntry.action.in_(actions)


_PLACES = (
    # Signing in failed before it was known who it was.
    _Place(AuditEntry.actor, where=AuditEntry.actor_id.is_(None)),
    *(_Place(AuditEntry.subject, f"{word} {{}}") for word in ("user", "team")),
    _Place(AuditEntry.detail, "to {}", _did("rename") & _OF_USERS),
    _Place(AuditEntry.detail, "with {}", _did("share", "unshare")),
    *(_Place(AuditEntry.detail, f"{{}}, {role}", _did("add member")) for role in MemberRole),
    _Place(AuditEntry.detail, where=_did("remove member", "join team", "leave team")),
    _Place(AuditEntry.detail, "to {}", _did("hand over team", "give")),
    _Place(AuditEntry.detail, "stopped: by {}", _did("end test")),
    _Place(AuditEntry.detail, "by {}", _did("end tuning")),
    _Place(StrengthTest.reason, "by {}"),
    _Place(BotTuning.reason, "by {}"),
    _Place(Gauntlet.reason, "stopped by {}"),
    _Place(Check.cancelled, "{} cancelled it"),
    _Place(Check.problem, "{} cancelled it"),
    _Place(ChangedSetting.changed_by),
    _Place(Runtime.creator),
    _Place(MatchSet.maker),
    _Place(MatchSet.decider),
)


def names_of(session: Session, user: User) -> frozenset[str]:
    """What somebody is called and was, in small letters."""
    had = sa.select(FormerName.lower_name).where(FormerName.user_id == user.id)
    return frozenset({user.name.lower(), user.lower_name, *session.scalars(had)})


def replace_names(session: Session, user: User, names: Collection[str], after: str) -> None:
    """Writes another name wherever the arena has written one of somebody's.

    Args:
        names: all that they had, in small letters (`names_of`).
    """
    own = AuditEntry.actor_id == user.id
    about = sa.func.lower(AuditEntry.subject).in_([f"user {name}" for name in names])
    without_id = AuditEntry.actor_id.is_(None) & sa.func.lower(AuditEntry.actor).in_(names)
    decided = sa.func.lower(MatchSet.decider).in_(names)
    for change in (
        # Addresses are not kept either, nor what a provider calls them.
        sa.update(AuditEntry).where(own).values(actor=after, origin=""),
        sa.update(AuditEntry).where(without_id).values(origin=""),
        sa.update(AuditEntry).where(about, _did("link identity", "unlink identity")).values(
            detail=""
        ),
        sa.update(MatchSet).where(decided).values(origin=""),
        *(_change(place, names, after) for place in _PLACES),
    ):  # fmt: skip
        session.execute(change, execution_options={"synchronize_session": False})
    _in_lists(session, names, after)
    _in_notifications(session, names, after)
    _in_letters(session, names, after)
    _in_sittings(session, user, after)
    mark = present.maintenance(session)
    if mark is not None and mark.by.lower() in names:
        present.note_maintenance(session, replace(mark, by=after))


def _change(place: _Place, names: Collection[str], after: str) -> sa.Update:
    found = sa.func.lower(place.column).in_([place.words.lower().format(name) for name in names])
    change = sa.update(place.column.class_).where(found, place.where)
    return change.values({place.column: place.words.format(after)})


def _in_lists(session: Session, names: Collection[str], after: str) -> None:
    query = sa.select(AuditEntry).where(_did(IMPORT), _has_one(AuditEntry.detail, names))
    for entry in session.scalars(query):
        listed = entry.detail.split(", ")
        entry.detail = ", ".join(after if one.lower() in names else one for one in listed)


def _in_notifications(session: Session, names: Collection[str], after: str) -> None:
    for place in ("person", "team"):
        said = sa.func.lower(Notification.places[place].as_string())
        query = sa.select(Notification).where(Notification.message.in_(OF_PEOPLE), said.in_(names))
        for one in session.scalars(query):
            one.places = {**one.places, place: after}
            if place == "team" and one.address.startswith("/teams/"):
                one.address = "/teams"


def _in_letters(session: Session, names: Collection[str], after: str) -> None:
    """Renames in letters that wait to be sent; not in an address, or a bot's name."""
    any_of = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w./-])(?:{any_of})(?![\w-]|\.\w| v\d)", re.IGNORECASE)
    for letter in session.scalars(sa.select(Mail).where(_has_one(Mail.text, names))):
        letter.subject = pattern.sub(after, letter.subject)
        letter.text = pattern.sub(after, letter.text)


def _in_sittings(session: Session, user: User, after: str) -> None:
    """Theirs are as if a guest had played them, whose browser nobody has."""
    for sitting in session.scalars(sa.select(Sitting).where(Sitting.user_id == user.id)).all():
        theirs = {one.seat for one in sitting.seats if one.version_id is None}
        players = [
            after if seat in theirs else one for seat, one in enumerate(sitting.game["players"])
        ]
        sitting.game = {**sitting.game, "players": players}
        sitting.user_id, sitting.guest = None, secrets.token_hex(32)


# Bots. Words about them have them with the number of the version, as ``greedy v2``.

_OF_BOTS = (
    (StrengthTest.reason, sa.true()),
    (BotTuning.reason, sa.true()),
    (Tournament.winner, sa.true()),
    (Match.problem, Match.status == JobStatus.VOID),
)


def bot_names_of(session: Session, bot: Bot) -> frozenset[str]:
    """What a bot is called and was, in small letters."""
    had = sa.select(FormerName.lower_name).where(FormerName.bot_id == bot.id)
    return frozenset({bot.lower_name, *session.scalars(had)})


def replace_bot_names(
    session: Session, versions: sa.Select[int], names: Collection[str], after: str
) -> None:
    """Writes another name wherever the arena has written one of a bot's.

    Args:
        versions: the ids of its versions.
        names: all that it had, in small letters (`bot_names_of`).
    """
    any_of = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    label = re.compile(rf"(?<![\w.-])(?:{any_of})(?= v\d)", re.IGNORECASE)
    titles = Competition.title, ~Competition.is_organised()
    for column, where in (*_OF_BOTS, titles, (Entrant.reason, Entrant.version_id.in_(versions))):
        query = sa.select(column.class_).where(where, _has_one(column, names))
        for row in session.scalars(query):
            said = label.sub(after, getattr(row, column.key))
            # A title has no more room than others have.
            setattr(row, column.key, cut(said, getattr(column.type, "length", None) or LONGEST))
    page = re.compile(rf"/bots/(?:{any_of})(?![\w.-])", re.IGNORECASE)
    told = sa.cast(Notification.places, sa.Text), Notification.address
    for one in session.scalars(
        sa.select(Notification).where(sa.or_(*(_has_one(column, names) for column in told)))
    ):
        one.places = {
            key: _without(key, said, names, label, after) for key, said in one.places.items()
        }
        one.address = "/bots" if page.match(one.address) else one.address
    changes = sa.cast(MatchSet.changes, sa.Text)
    for made in session.scalars(sa.select(MatchSet).where(_has_one(changes, names))):
        made.changes = [
            {
                **one,
                "changes": [
                    {**line, "label": label.sub(after, line["label"])} for line in one["changes"]
                ],
            }
            for one in made.changes
        ]


def _without(
    key: str, said: Any, names: Collection[str], label: re.Pattern[str], after: str
) -> Any:
    """What stands at a place of something that was told."""
    if not isinstance(said, str):
        return said
    return after if key == "bot" and said.lower() in names else label.sub(after, said)


def _has_one(column: sa.SQLColumnExpression[Any], names: Collection[str]) -> sa.ColumnElement[bool]:
    return sa.or_(*(sa.func.lower(column).contains(name, autoescape=True) for name in names))
