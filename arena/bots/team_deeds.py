"""What can be changed about teams, and whose a bot is among a team and its members."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.bots import account_deletion, sharing, teams
from arena.bots.bot_deeds import BotDeed, find_bot
from arena.bots.notifications import CAPTAIN, DISSOLVED, GIVEN, JOINED, LEFT, REMOVED, TAKEN
from arena.competitions.masks import demand_no_mask
from arena.competitions.members import new_code
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground import locks
from arena.ground.refusals import NotAllowed, NotThere, Refusal
from arena.models import Bot, Scope, Team, User
from arena.people import accounts
from arena.people.accounts import PeopleError
from arena.people.notifications import notify
from arena.people.profiles import (
    DESCRIPTION,
    LINKS,
    LONGEST_DESCRIPTION,
    MOST_LINKS,
    name_anew,
    read_description,
    read_links,
)
from engine.translation import N_, gettext


class TeamCode(NamedTuple):
    """The code that a team is joined by."""

    code: Annotated[str | None, "The code; null if it is joined by none"]


def led_team(session: Session, by: By, name: str) -> Team:
    """The team of a name, if somebody may decide about it: its captain, and administrators.

    Raises:
        NotThere: there is none.
        NotAllowed: it is another's.
    """
    team = teams.find(session, name)
    if not (by.at_machine or team.captain_id == by.actor.id or by.may(Scope.ADMIN)):
        raise NotAllowed(
            gettext("only its captain decides about the team %(team)s", team=team.name)
        )
    return team


def _user(session: Session, name: str) -> User:
    try:
        return accounts.get(session, name)
    except PeopleError as error:
        raise NotThere(str(error)) from None


def _active_user(session: Session, name: str) -> User:
    """Somebody who is to have something.

    Raises:
        Refusal: their account is deactivated.
    """
    found = _user(session, name)
    if not found.active:
        raise Refusal(gettext("the account %(user)s is deactivated", user=found.name))
    return found


def _tell(
    session: Session, team: Team, people: Iterable[int], message: str, by: By, **places: str
) -> None:
    """Tells people of a team something, but for who did it."""
    those = set(people) - {by.actor.id}
    notify(session, those, message, {"team": team.name, **places}, f"/teams/{team.name}", by.now)


def _ids(session: Session, team: Team) -> set[int]:
    return {one.user_id for one in teams.members_of(session, team)}


@dataclass(frozen=True)
class TeamDeed(Deed):
    """Changes a team, as its captain does; answers it."""

    scope = Scope.SUBMIT
    subject = "teams"
    answers: ClassVar[type | None] = Team
    personal = True

    name: str = asked("The team's name")

    def note(self, session: Session, by: By, action: str, team: Team, detail: str = "") -> None:
        """Writes it into the audit log."""
        audit.note(session, by.actor, action, f"team {team.name}", detail, now=by.now)


@dataclass(frozen=True)
class FoundTeam(TeamDeed):
    """Found a team, of which one is the captain: its bots are each member's.

    People and teams have one sort of names. Each is the captain of one team at most, and its bots
    count as the captain's wherever each person has so much.
    """

    address = "POST /teams"
    command = "team found NAME"
    example = "knights"
    makes = True

    name: str = asked("What it is to be called", label="Name", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        captain, name = accounts.person_of(session, by.actor, by.now), accounts.typed(self.name)
        if words := accounts.refusal(session, name):
            raise Refusal(words)
        team = teams.make(session, name, captain, by.now)
        self.note(session, by, "found team", team)
        return Done(gettext("the team %(team)s is founded", team=team.name), team)


@dataclass(frozen=True)
class DescribeTeam(TeamDeed):
    """Say anew what a team's page tells of it: a description and links.

    What is not said is gone.
    """

    address = "POST /teams/<name>/describe"
    command = "team describe NAME"
    example = "knights --description 'We write **small** bots.'"

    description: str = asked(DESCRIPTION, label="Description", default="", most=LONGEST_DESCRIPTION)
    links: tuple[str, ...] = asked(LINKS, label="Links", default=(), most=MOST_LINKS)

    def do(self, session: Session, by: By) -> Done:
        team = led_team(session, by, self.name)
        before = team.description, tuple(team.links)
        team.description, team.links = read_description(self.description), read_links(self.links)
        undo: tuple[Deed, ...] = ()
        if before != (team.description, tuple(team.links)):
            undo = (DescribeTeam(team.name, *before),)
            self.note(session, by, "describe", team)
        return Done(gettext("the page of %(user)s says so now", user=team.name), team, undo)


@dataclass(frozen=True)
class RenameTeam(TeamDeed):
    """Give a team another name; by the one before it is found, too."""

    address = "POST /teams/<name>/rename"
    command = "team rename NAME TO"
    example = "knights rooks"
    lasting = N_(
        "The name of before leads to this team as long as it is there, and nobody else can have "
        "it. What was written down until now, such as in the audit log, keeps it."
    )

    to: str = asked("What it is to be called", label="New name", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        team = led_team(session, by, self.name)
        before = name_anew(session, team, self.to)
        subject = f"team {before}"
        audit.note(session, by.actor, "rename", subject, f"to {team.name}", now=by.now)
        said = gettext("the team %(before)s is called %(name)s now", before=before, name=team.name)
        return Done(said, team)


@dataclass(frozen=True)
class RenewTeamCode(TeamDeed):
    """Make the code by which a team is joined, or another; the one before is worthless."""

    address = "POST /teams/<name>/join-code"
    command = "team join-code NAME"
    example = "knights"
    answers = TeamCode
    lasting = N_("A code that there was before joins nothing any more, and never comes back.")

    off: bool = asked("Have it joined by no code", default=False)

    def do(self, session: Session, by: By) -> Done:
        team = led_team(session, by, self.name)
        team.join_code = None if self.off else new_code()
        self.note(session, by, "end join code" if self.off else "renew join code", team)
        if self.off:
            said = gettext("%(name)s is joined by no code", name=team.name)
        else:
            said = gettext("%(name)s is joined by a new code", name=team.name)
        return Done(said, TeamCode(team.join_code))


@dataclass(frozen=True)
class JoinTeam(Deed):
    """Become a member of a team by its code; its page names its members."""

    scope = Scope.SUBMIT
    address = "POST /teams/join"
    command = "team join CODE"
    example = "k7qm-2rdx-9fwp"
    subject = "teams"
    answers = Team
    adds = True
    personal = True

    code: str = asked("The code", label="Code", most=40)

    def do(self, session: Session, by: By) -> Done:
        team = teams.by_code(session, self.code)
        user = accounts.person_of(session, by.actor, by.now)
        if sharing.is_member(session, team, user.id):
            return Done(gettext("you are in the team %(team)s already", team=team.name), team)
        others = _ids(session, team)
        teams.join(session, team, user, by.now)
        audit.note(session, by.actor, "join team", f"team {team.name}", user.name, now=by.now)
        _tell(session, team, others, JOINED, by, person=user.name)
        return Done(gettext("you are in the team %(team)s now", team=team.name), team)


@dataclass(frozen=True)
class LeaveTeam(TeamDeed):
    """Belong to a team no more: its bots stay with it, those one gave it, too."""

    address = "POST /teams/<name>/leave"
    command = "team leave NAME"
    example = "knights"
    answers = None
    personal = False
    lasting = N_(
        "The team's bots are not yours any more, those that you gave it, too. You come back by its "
        "code."
    )

    def do(self, session: Session, by: By) -> Done:
        team, user = teams.find(session, self.name), accounts.person_of(session, by.actor, by.now)
        teams.take_out(session, by, team, user)
        self.note(session, by, "leave team", team, user.name)
        _tell(session, team, _ids(session, team), LEFT, by, person=user.name)
        return Done(gettext("you have left the team %(team)s", team=team.name))


@dataclass(frozen=True)
class RemoveTeamMember(TeamDeed):
    """Take a member out of a team; its bots stay with it, those they gave it, too."""

    address = "POST /teams/<name>/remove"
    command = "team remove NAME USER"
    example = "knights ada"
    lasting = N_("The team's bots are not theirs any more. They come back by its code alone.")

    user: str = asked("The member's name", label="Name", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        team = led_team(session, by, self.name)
        user = _user(session, self.user)
        teams.take_out(session, by, team, user)
        self.note(session, by, "remove member", team, user.name)
        _tell(session, team, [user.id], REMOVED, by)
        _tell(session, team, _ids(session, team), LEFT, by, person=user.name)
        said = gettext("%(user)s is not in the team %(team)s", user=user.name, team=team.name)
        return Done(said, team)


@dataclass(frozen=True)
class HandOverTeam(TeamDeed):
    """Make another member the captain of a team, as whose bots the team's count then."""

    address = "POST /teams/<name>/captain"
    command = "team captain NAME USER"
    example = "knights ada"
    lasting = N_("Only the new captain can give that back.")

    user: str = asked("The member's name", label="New captain", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        team = led_team(session, by, self.name)
        user = _active_user(session, self.user)
        if team.captain_id != user.id:
            teams.hand_over(session, by, team, user)
            self.note(session, by, "hand over team", team, f"to {user.name}")
            _tell(session, team, [user.id], CAPTAIN, by)
        said = gettext(
            "%(user)s is the captain of the team %(team)s", user=user.name, team=team.name
        )
        return Done(said, team)


@dataclass(frozen=True)
class DissolveTeam(TeamDeed):
    """End a team that has no bots: give them to members before, or delete them."""

    address = "POST /teams/<name>/dissolve"
    command = "team dissolve NAME"
    example = "knights"
    answers = None
    lasting = N_("The team goes for good, and its name is free.")

    def do(self, session: Session, by: By) -> Done:
        team = led_team(session, by, self.name)
        locks.lock(session, team)  # somebody may just be giving it a bot
        its = session.scalars(sa.select(Bot.name).where(Bot.owner_id == team.id)).all()
        if its:
            raise Refusal(
                gettext(
                    "the team %(team)s has bots (%(bots)s): give them to members, or delete them",
                    team=team.name,
                    bots=", ".join(sorted(its)),
                )
            )
        name, members = team.name, _ids(session, team)
        self.note(session, by, "dissolve team", team)
        account_deletion.dissolve(session, team, by.now)
        # Afterwards, since wherever the name stands by then it is another.
        notify(session, members - {by.actor.id}, DISSOLVED, {"team": name}, "/teams", by.now)
        return Done(gettext("the team %(team)s is dissolved", team=name))


@dataclass(frozen=True)
class GiveBot(BotDeed):
    """Give a bot of one's own to a team that one is in; or one of the team's, as its captain, to a
    member.

    The team's bots are each member's, and count as its captain's.
    """

    address = "POST /bots/<name>/give"
    command = "bot give NAME TO"
    example = "mybot knights"
    personal = True

    to: str = asked("The team, or the team's member", label="Give it to", most=LONGEST_NAME)

    def asks(self, session: Session, by: By) -> str:
        bot, to = self._both(session, by)
        if isinstance(to, Team):
            return gettext(
                "The bot %(bot)s is the team %(team)s's then: its captain alone can give it back.",
                bot=bot.name,
                team=to.name,
            )
        return gettext(
            "The bot %(bot)s is %(user)s's alone then, who alone can give it back.",
            bot=bot.name,
            user=to.name,
        )

    def do(self, session: Session, by: By) -> Done:
        bot, to = self._both(session, by)
        before = bot.owner
        teams.give(session, by, bot, to)
        audit.note(session, by.actor, "give", f"bot {bot.name}", f"to {to.name}", now=by.now)
        if isinstance(to, Team):
            _tell(session, to, _ids(session, to), GIVEN, by, bot=bot.name)
        if isinstance(before, Team):
            _tell(session, before, _ids(session, before), TAKEN, by, bot=bot.name, person=to.name)
        said = gettext("the bot %(bot)s is %(user)s's now", bot=bot.name, user=to.name)
        return Done(said, bot)

    def _both(self, session: Session, by: By) -> tuple[Bot, User]:
        """The bot, and who is to have it."""
        bot = find_bot(session, self.name)
        owner = bot.owner
        if bot.deleted or not by.heads(bot):
            raise NotAllowed(
                gettext("only %(owner)s can give %(bot)s away", owner=owner.name, bot=bot.name)
            )
        demand_no_mask(bot)
        to = accounts.find(session, self.to)
        if to is owner:
            raise Refusal(
                gettext("the bot %(bot)s is %(user)s's already", bot=bot.name, user=to.name)
            )
        if isinstance(owner, Team):
            return bot, _active_user(session, self.to)
        return bot, teams.find(session, self.to)
