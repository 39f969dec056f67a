"""What can be changed about who sees a competition and who belongs to it.

A bot plays where its owner is a member: of a private ladder it is taken off with the last of them.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.bots import entries, sharing
from arena.competitions import members
from arena.competitions.dates import is_frozen
from arena.competitions.founding import find_named
from arena.competitions.organised import OrganisedDeed
from arena.competitions.visibility import change_visibility
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    AuditEntry,
    BotVersion,
    Competition,
    CompetitionState,
    Entrant,
    EntrantState,
    FormerName,
    MemberRole,
    Membership,
    Role,
    Scope,
    User,
    Visibility,
)
from arena.people import accounts
from arena.people.accounts import PeopleError
from engine.translation import N_, gettext, ngettext

ROLES, VISIBILITIES = tuple(map(str, MemberRole)), tuple(map(str, Visibility))
MOST_AT_ONCE = 500
"""Names in one list."""
MOST_TOLD = 20
"""Lines of a list of which it is said what is wrong."""
IMPORT = "import members"
"""What the audit log says of a list."""
_SEEN_BY = {
    Visibility.PUBLIC: N_("everybody sees %(name)s"),
    Visibility.UNLISTED: N_("%(name)s is in no list: who has its address sees it"),
    Visibility.PRIVATE: N_("members alone see %(name)s"),
}
_IS = {
    MemberRole.MEMBER: N_("%(user)s is a member of %(name)s"),
    MemberRole.ORGANISER: N_("%(user)s is an organiser of %(name)s"),
}


class JoinCode(NamedTuple):
    """The code that a competition is joined by."""

    code: Annotated[str | None, "The code; null if it is joined by none"]


class MembersMade(NamedTuple):
    """The members that a list made."""

    made: Annotated[int, "How many accounts were made"]
    links: Annotated[
        str,
        "CSV with the columns name and link: at that address behind the arena's each chooses a "
        "password, once, within 30 days. It is told this once",
    ]


@dataclass(frozen=True)
class CompetitionDeed(OrganisedDeed):
    """Changes something about a competition, whatever its kind."""

    subject = "competitions"

    name: str = asked("The competition's name")


@dataclass(frozen=True)
class ChangeVisibility(CompetitionDeed):
    """Choose who sees a competition: everybody, who has its address, or its members alone.

    What is made of its bots alone, such as strength tests, is seen by the same people.
    """

    address = "POST /competitions/<name>/visibility"
    command = "competition visibility NAME VISIBILITY"
    example = "course private"
    answers = Competition

    visibility: str = asked(
        "public (everybody), unlisted (who has its address) or private (members)",
        label="Who sees it",
        choices=VISIBILITIES,
    )

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Competition, self.name)
        wanted = Visibility(self.visibility)
        before = change_visibility(session, found, wanted, by.actor, by.now)
        undo = () if before is wanted else (ChangeVisibility(self.name, str(before)),)
        return Done(gettext(_SEEN_BY[wanted], name=found.name), found, undo)


@dataclass(frozen=True)
class RenewJoinCode(CompetitionDeed):
    """Make the code by which a competition is joined, or another; the one before is worthless."""

    address = "POST /competitions/<name>/join-code"
    command = "competition join-code NAME"
    example = "course"
    answers = JoinCode
    lasting = "A code that there was before joins nothing any more, and never comes back."

    off: bool = asked("Have it joined by no code", default=False)

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Competition, self.name)
        members.demand_root(session, found)
        found.join_code = None if self.off else members.new_code()
        what = "end join code" if self.off else "renew join code"
        subject = f"{found.kind} {found.name}"
        audit.note(session, by.actor, what, subject, now=by.now)
        if self.off:
            said = gettext("%(name)s is joined by no code", name=found.name)
        else:
            said = gettext("%(name)s is joined by a new code", name=found.name)
        return Done(said, JoinCode(found.join_code))


@dataclass(frozen=True)
class AddMember(CompetitionDeed):
    """Make a user a member or an organiser of a competition.

    An organiser may do there whatever organisers of the site may, and nothing more elsewhere.
    """

    address = "POST /competitions/<name>/members"
    command = "competition add-member NAME USER"
    example = "course ada --role organiser"

    user: str = asked("The user's name", label="Name", most=LONGEST_NAME)
    role: str = asked("What they become", label="Role", default=ROLES[0], choices=ROLES)

    def do(self, session: Session, by: By) -> Done:
        found, user = find_named(session, Competition, self.name), _user(session, self.user)
        role = MemberRole(self.role)
        before = members.add(session, by.actor, found, user, role, by.now)
        undo: tuple[Deed, ...] = ()
        if before is None:
            undo = (RemoveMember(self.name, user.name),)
        elif before is not role:
            undo = (AddMember(self.name, user.name, str(before)),)
        return Done(gettext(_IS[role], user=user.name, name=found.name), undo=undo)


@dataclass(frozen=True)
class RemoveMember(CompetitionDeed):
    """Take somebody out of a competition, with all bots of theirs that no other member has.

    Of a private one they see nothing any more; their games stay.
    """

    address = "POST /competitions/<name>/members/remove"
    command = "competition remove-member NAME USER"
    example = "course ada"

    user: str = asked("The user's name", label="Name", most=LONGEST_NAME)

    def asks(self, session: Session, by: By) -> str:
        found, user = find_named(session, Competition, self.name), _user(session, self.user)
        if found.anonymous:  # which of them are theirs nobody is told
            if not _bots_leave(session, found, by.now):
                return ""
            return gettext(
                "With %(user)s all bots leave %(name)s that no other member has.",
                user=user.name,
                name=found.name,
            )
        leaving = ", ".join(one.version.label for one in _leaving(session, found, user, by.now))
        if not leaving:
            return ""
        return gettext(
            "With %(user)s these bots leave %(name)s: %(bots)s.",
            user=user.name,
            name=found.name,
            bots=leaving,
        )

    def do(self, session: Session, by: By) -> Done:
        found, user = find_named(session, Competition, self.name), _user(session, self.user)
        role, left = _take_out(session, by, found, user)
        undo = () if left else (AddMember(self.name, user.name, str(role)),)
        said = gettext("%(user)s is no member of %(name)s", user=user.name, name=found.name)
        return Done(said, undo=undo)


@dataclass(frozen=True)
class ImportMembers(CompetitionDeed):
    """Make accounts of a list of names, as members of a competition, each with a link that lets one
    person choose its password.

    If anything is wrong with a line, it says what, and makes none.
    """

    address = "POST /competitions/<name>/members/import"
    answers = MembersMade
    adds = True

    names: str = asked(
        "CSV with a name on each line; one that is a member already and never signed in gets "
        "another link",
        label="Names, one on each line",
        most=100 * MOST_AT_ONCE,
    )

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Competition, self.name)
        members.demand_root(session, found)
        names = _listed(self.names)
        wrong = [
            gettext("line %(line)s: %(problem)s", line=line, problem=problem)
            for line, name in names
            if (problem := _problem(session, found, name))
        ]
        seen: dict[str, int] = {}
        for line, name in names:
            first = seen.setdefault(name.lower(), line)
            if first != line:
                words = gettext("%(name)s stands in line %(first)s, too", name=name, first=first)
                wrong.append(gettext("line %(line)s: %(problem)s", line=line, problem=words))
        if wrong or not names:
            raise Refusal("; ".join(wrong[:MOST_TOLD]) or gettext("the list is empty"))
        links, made = io.StringIO(newline=""), 0
        rows = csv.writer(links)
        rows.writerow(["name", "link"])
        for _, name in names:
            user = accounts.find(session, name)
            if user is None:
                user, made = accounts.make(session, name, by.now), made + 1
                members.put(session, found, user, MemberRole.MEMBER, by.now)
            rows.writerow([user.name, f"/reset/{accounts.first_link(session, user, by.now)}"])
        told = ", ".join(name for _, name in names)
        subject = f"{found.kind} {found.name}"
        audit.note(session, by.actor, IMPORT, subject, told, now=by.now)
        said = ngettext(
            "%(number)s account was made for %(name)s",
            "%(number)s accounts were made for %(name)s",
            made,
            number=made,
            name=found.name,
        )
        return Done(said, MembersMade(made, links.getvalue()))


@dataclass(frozen=True)
class JoinCompetition(Deed):
    """Become a member of a competition by its code."""

    scope = Scope.SUBMIT
    address = "POST /join"
    command = "competition join CODE"
    example = "k7qm-2rdx-9fwp"
    subject = "competitions"
    answers = Competition
    adds = True

    code: str = asked("The code", label="Code", most=40)

    def do(self, session: Session, by: By) -> Done:
        found, user = members.by_code(session, self.code), _themselves(session, by)
        its = members.membership(session, found, user)
        if its is not None:
            return Done(gettext("you are a member of %(name)s already", name=found.name), found)
        members.add(session, by.actor, found, user, MemberRole.MEMBER, by.now)
        return Done(gettext("you are a member of %(name)s", name=found.name), found)


@dataclass(frozen=True)
class LeaveCompetition(Deed):
    """Belong to a competition no more; one's bots leave its ladder that no other member has."""

    scope = Scope.SUBMIT
    address = "POST /competitions/<name>/leave"
    command = "competition leave NAME"
    example = "course"
    subject = "competitions"

    name: str = asked("The competition's name")

    def asks(self, session: Session, by: By) -> str:
        found = find_named(session, Competition, self.name)
        return gettext(
            "You leave %(name)s, and so do bots of yours that no other member has. You come back "
            "by its code, or if an organiser of it adds you.",
            name=found.title,
        )

    def do(self, session: Session, by: By) -> Done:
        found, user = find_named(session, Competition, self.name), _themselves(session, by)
        if members.membership(session, found, user) is None:
            raise Refusal(gettext("you are no member of %(name)s", name=found.name))
        _take_out(session, by, found, user)
        return Done(gettext("you have left %(name)s", name=found.name))


def _user(session: Session, name: str) -> User:
    try:
        return accounts.get(session, name)
    except PeopleError as error:
        raise NotThere(str(error)) from None


def _themselves(session: Session, by: By) -> User:
    """Who does it; at the arena's machine, the user of that name."""
    if by.actor.id is not None:
        return session.get_one(User, by.actor.id)
    return _user(session, by.actor.name)


def _take_out(
    session: Session, by: By, competition: Competition, user: User
) -> tuple[MemberRole, int]:
    """Takes somebody out, and off a private ladder the bots whose last member they were; gives what
    they were, and how many bots left."""
    leaving = _leaving(session, competition, user, by.now)
    role = members.remove(session, by.actor, competition, user, by.now)
    for entrant in leaving:
        entries.retire(session, by.actor, entrant, by.now)
    return role, len(leaving)


def _bots_leave(session: Session, competition: Competition, now: datetime) -> bool:
    """Whether bots go with the last member who has them: of a private ladder, unless it is over or
    they are frozen."""
    is_over = competition.state is CompetitionState.CLOSED or is_frozen(session, competition, now)
    is_left = competition.visibility is Visibility.PRIVATE and competition.kind == "ladder"
    return is_left and not is_over


def _leaving(
    session: Session, competition: Competition, user: User, now: datetime
) -> list[Entrant]:
    """The entrants of a private ladder of which only this member is an owner; none of one whose
    bots stay."""
    if not _bots_leave(session, competition, now):
        return []
    others = sa.select(Membership.user_id).where(
        Membership.competition_id == competition.id, Membership.user_id != user.id
    )
    belong = set(session.scalars(others))
    theirs = (
        sa.select(Entrant)
        .join(Entrant.version)
        .join(BotVersion.bot)
        .where(
            Entrant.competition_id == competition.id,
            Entrant.state == EntrantState.ACTIVE,
            sharing.belongs_to(user.id),
        )
    )
    found = []
    for entrant in session.scalars(theirs).all():
        if not sharing.owners(session, entrant.version.bot) & belong:
            found.append(entrant)
    return found


def _listed(text: str) -> list[tuple[int, str]]:
    """The names of a list, each with its line, from 1; empty lines and a head are none.

    Raises:
        Refusal: there are too many, or more than a name stands on a line.
    """
    found = []
    rows = csv.reader(text.splitlines())
    try:
        for line, row in enumerate(rows, start=1):
            cells = [cell.strip() for cell in row]
            if not any(cells) or (line == 1 and cells[0].lower() == "name"):
                continue
            if any(cells[1:]):
                raise Refusal(gettext("line %(line)s: give a name alone", line=line))
            found.append((line, cells[0]))
    except csv.Error as error:
        raise Refusal(gettext("this is no CSV: %(error)s", error=error)) from None
    if len(found) > MOST_AT_ONCE:
        raise Refusal(gettext("give at most %(most)s names at once", most=MOST_AT_ONCE))
    return found


def _was_made_for(session: Session, competition: Competition, user: User) -> bool:
    """Whether an account was made by a list of this competition, by whatever name it had then."""
    former = sa.select(FormerName.lower_name).where(FormerName.competition_id == competition.id)
    names = [competition.name.lower(), *session.scalars(former)]
    lists = sa.select(AuditEntry.detail).where(
        AuditEntry.action == IMPORT,
        AuditEntry.at == user.created,
        sa.func.lower(AuditEntry.subject).in_([f"{competition.kind} {one}" for one in names]),
    )
    return any(user.lower_name in told.lower().split(", ") for told in session.scalars(lists).all())


def _problem(session: Session, competition: Competition, name: str) -> str:
    """Why a name of a list can't be; empty if it is free, or a member's who never came."""
    user = accounts.find(session, name)
    if user is None or members.membership(session, competition, user) is None:
        return accounts.refusal(session, name)
    others = sa.select(Membership.competition_id).where(
        Membership.user_id == user.id, Membership.competition_id != competition.id
    )
    # Whoever opens the link has the account: it must be nothing yet, and made for this alone.
    is_new = (
        user.role is Role.PARTICIPANT
        and user.active
        and user.password is None
        and user.last_sign_in is None
        and _was_made_for(session, competition, user)
        and not session.scalars(others.limit(1)).all()
        and not entries.bots_of(session, user.id)
    )
    return "" if is_new else gettext("%(name)s is a member already", name=user.name)
