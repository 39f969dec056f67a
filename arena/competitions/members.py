"""Who belongs to a competition, and how one comes to: by its code, or by whoever organises it."""

from __future__ import annotations

import secrets
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena import audit
from arena.audit import Actor
from arena.ground.db import count_rows
from arena.ground.locks import lock
from arena.ground.refusals import NotThere, Refusal
from arena.models import Competition, MemberRole, Membership, User
from arena.people import accounts
from engine.plurals import grouped
from engine.translation import gettext

MOST_MEMBERS = 5000
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""None of them is taken for another."""
_GROUPS, _GROUP = 3, 4


def new_code() -> str:
    """A code to be typed: ``k7qm-2rdx-9fwp``, one of 31 to the power of 12."""
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS))
    return "-".join(groups)


def typed_code(text: str) -> str:
    """A code as it is kept, however it was typed."""
    letters = "".join(text.lower().split()).replace("-", "")
    return "-".join(letters[at : at + _GROUP] for at in range(0, len(letters), _GROUP))[:20]


def begin(session: Session, competition: Competition, now: datetime) -> None:
    """Makes who has made a competition its organiser."""
    if competition.creator_id is not None and competition.within_id is None:
        its = {"competition_id": competition.id, "user_id": competition.creator_id}
        session.add(Membership(role=MemberRole.ORGANISER, joined=now, **its))


def by_code(session: Session, code: str) -> Competition:
    """The competition that is joined by a code; whoever has the code sees it.

    Raises:
        NotThere: there is none.
    """
    its = sa.select(Competition).where(Competition.join_code == typed_code(code))
    found = session.scalar(its)
    if found is None:
        raise NotThere(gettext("nothing is joined by the code %(code)r", code=code[:20]))
    return found


def members_of(session: Session, competition: Competition) -> list[Membership]:
    """The organisers and members of a competition, by role and name."""
    query = (
        sa.select(Membership)
        .join(Membership.user)
        .where(Membership.competition_id == competition.id)
        .order_by(Membership.role.desc(), User.lower_name)
        .options(joinedload(Membership.user))
    )
    return list(session.scalars(query))


def membership(session: Session, competition: Competition, user: User) -> Membership | None:
    """What somebody is in a competition; None if they do not belong to it."""
    return session.get(Membership, (competition.id, user.id))


def add(
    session: Session,
    actor: Actor,
    competition: Competition,
    user: User,
    role: MemberRole,
    now: datetime,
) -> MemberRole | None:
    """Makes somebody a member or an organiser of a competition; gives what they were before.

    Raises:
        Refusal: there are too many.
    """
    demand_root(session, competition)
    lock(session, competition)  # two who do it at the same moment wait for each other
    its = membership(session, competition, user)
    before = None if its is None else its.role
    if its is None:
        put(session, competition, user, role, now)
    elif its.role is not role:
        its.role = role
    else:
        return before
    if role is MemberRole.ORGANISER:
        accounts.end_links(session, user)
    words = f"{user.name}, {role}"
    audit.note(session, actor, "add member", _subject(competition), words, now=now)
    session.flush()
    return before


def put(
    session: Session, competition: Competition, user: User, role: MemberRole, now: datetime
) -> None:
    """Adds somebody who does not belong to a competition, of which somebody else makes a note.

    Raises:
        Refusal: there are too many.
    """
    if count_rows(session, Membership, Membership.competition_id == competition.id) >= MOST_MEMBERS:
        most = grouped(MOST_MEMBERS)
        raise Refusal(gettext("a competition has %(most)s members at most", most=most))
    session.add(Membership(competition_id=competition.id, user_id=user.id, role=role, joined=now))
    session.flush()


def remove(
    session: Session, actor: Actor, competition: Competition, user: User, now: datetime
) -> MemberRole:
    """Takes somebody out of a competition; gives what they were.

    Raises:
        Refusal: they do not belong to it.
    """
    demand_root(session, competition)
    lock(session, competition)
    its = membership(session, competition, user)
    if its is None:
        raise Refusal(
            gettext("%(user)s is no member of %(name)s", user=user.name, name=competition.name)
        )
    role = its.role
    session.delete(its)
    audit.note(session, actor, "remove member", _subject(competition), user.name, now=now)
    session.flush()
    return role


def demand_root(session: Session, competition: Competition) -> None:
    """Refuses one that is within another, which has the members of that.

    Raises:
        Refusal: it is.
    """
    if competition.within_id is not None:
        around = session.get_one(Competition, competition.within_id)
        raise Refusal(
            gettext(
                "%(name)s has the members of %(around)s: say it of that one",
                name=competition.name,
                around=around.name,
            )
        )


def _subject(competition: Competition) -> str:
    return f"{competition.kind} {competition.name}"
