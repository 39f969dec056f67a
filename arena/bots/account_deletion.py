"""Accounts that are deleted.

What was the person's own goes: bots (those that are shared pass to a co-owner instead), tokens,
sessions and other ways in, kept lists and analyses, what they follow and were told, hooks. What is
others' as well stays without a name: the games of their bots (`arena.bots.deletion`), the
competitions that they made, the matches that they asked for, their games against bots, and the
entries of the audit log, in which they are "deleted user 17" from then on.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit, naming
from arena.bots import deletion, sharing, teams, written_names
from arena.deeds import LONGEST_NAME, By, Done, asked
from arena.ground import locks
from arena.ground.refusals import WrongField
from arena.models import (
    AccountLink,
    Analysis,
    ApiToken,
    Bot,
    BrowserSession,
    CoOwner,
    Delivery,
    Follow,
    FormerMember,
    Hook,
    Identity,
    Mail,
    Membership,
    Notification,
    Passkey,
    Question,
    RecoveryCode,
    Repository,
    Role,
    Selection,
    SentFile,
    SpentQuota,
    Team,
    TeamMember,
    User,
    Wishes,
)
from arena.people import accounts
from arena.people.profiles import AccountDeed, own_account
from engine.translation import gettext


class UserGone(NamedTuple):
    """What became of an account that was deleted."""

    name: str
    """The name that it had."""
    bots_deleted: int
    bots_passed_on: int
    """Shared ones, which are a co-owner's now."""


@dataclass(frozen=True)
class DeleteUser(AccountDeed):
    """Delete one's account for good, with one's bots and all else that is one's own.

    A bot that is shared passes to the first of its co-owners by name, a team to the member who has
    been in it for longest; one without other members goes. Games stay, as those of bots
    without names, and the audit log names "deleted user" and a number. Administrators can do so for
    others; the last administrator can't go. Export it before: that can't be done afterwards.
    """

    address = "POST /people/<name>/delete"
    command = "user delete NAME"
    example = "ada --confirm ada"
    answers = UserGone

    confirm: str = asked(
        "The user's name once more, to confirm it", label="Your name once more", most=LONGEST_NAME
    )

    def asks(self, session: Session, by: By) -> str:
        user = own_account(session, by, self.name)
        team = teams.led_by(session, user.id)
        stays = team is not None and teams.others_in(session, team, user)
        whose = Bot.owner_id == user.id if stays else Bot.is_of(user.id)
        own = session.scalars(sa.select(Bot.name).where(whose)).all()
        return gettext(
            "The account %(user)s goes for good, and with it its bots (%(bots)s), but for those "
            "that a co-owner has. This can't be undone.",
            user=user.name,
            bots=", ".join(own) or gettext("none"),
        )

    def do(self, session: Session, by: By) -> Done:
        user = own_account(session, by, self.name)
        if accounts.typed(self.confirm).lower() != user.lower_name:
            raise WrongField("confirm", gettext("write the name of the account that is to go"))
        gone = delete(session, user, by)
        # The entry says no name: that is to be gone.
        is_own = by.actor.id == user.id
        actor = audit.Actor(user.id, user.name, "") if is_own else by.actor
        audit.note(session, actor, "delete user", f"user {user.name}", now=by.now)
        return Done(gettext("the account %(user)s is deleted", user=gone.name), gone)


def delete(session: Session, user: User, by: By) -> UserGone:
    """Deletes an account, without a note.

    Bots that were the person's and are others' now leave private ladders of which none of these is
    a member.

    Raises:
        PeopleError: nobody would be left to administer the arena.
        Refusal: one of its bots can't be spared.
    """
    accounts.leave_an_administrator(session, user)
    alone = teams.pass_on(session, user)
    locks.lock(session, user)
    name, passed, going, now = user.name, list[Bot](), list[Bot](), by.now
    shared = sharing.shared_with(session, user.id)
    names = written_names.names_of(session, user)
    own = session.scalars(sa.select(Bot).where(Bot.is_of(user.id)).order_by(Bot.id)).all()
    for bot in own:
        heir = next((one for one in sharing.co_owners(session, bot) if one.active), None)
        if heir is None:
            going.append(bot)
            continue
        session.execute(
            sa.delete(CoOwner).where(CoOwner.bot_id == bot.id, CoOwner.user_id == heir.id)
        )
        bot.owner, bot.owned = heir, now
        passed.append(bot)
    deletion.delete(session, going, now)
    session.flush()
    if alone is not None:
        dissolve(session, alone, now)
    _forget(session, user)
    others = {*shared, *(bot.id for bot in passed)}
    teams.leave_private(session, by, sa.select(Bot.id).where(Bot.id.in_(others)))
    _make_nameless(session, user, names, now)
    return UserGone(name, len(going), len(passed))


def dissolve(session: Session, team: Team, now: datetime) -> None:
    """Ends a team that has no bots, without a note; its name is free."""
    names = written_names.names_of(session, team)
    _forget(session, team)
    team.captain, team.join_code = None, None
    _make_nameless(session, team, names, now)


def _forget(session: Session, user: User) -> None:
    """Lets go of what was the person's alone."""
    hooks = sa.select(Hook.id).where(Hook.user_id == user.id)
    told = sa.select(Notification.id).where(Notification.user_id == user.id)
    addresses = [one for one in (user.mail, user.mail_wanted) if one]
    for gone in (
        sa.delete(Delivery).where(
            sa.or_(Delivery.hook_id.in_(hooks), Delivery.notification_id.in_(told))
        ),
        sa.delete(Mail).where(Mail.address.in_(addresses)),
        *(
            sa.delete(kind).where(kind.user_id == user.id)
            for kind in (
                Hook, Notification, Wishes, Follow, ApiToken, AccountLink, BrowserSession, Identity,
                Passkey, RecoveryCode, SentFile, CoOwner, Membership, Repository, SpentQuota,
            )
        ),
        *(
            sa.delete(kind).where(sa.or_(kind.user_id == user.id, kind.team_id == user.id))
            for kind in (TeamMember, FormerMember)
        ),
        *(sa.delete(kind).where(kind.owner_id == user.id) for kind in (Selection, Analysis)),
        sa.update(Question).where(Question.user_id == user.id).values(user_id=None),
    ):  # fmt: skip
        session.execute(gone, execution_options={"synchronize_session": False})
    naming.forget(session, user)


def _make_nameless(session: Session, user: User, names: Collection[str], now: datetime) -> None:
    """Takes name, password and addresses from what stays of a user: it names nobody."""
    after = f"deleted {'team' if user.is_team else 'user'} {user.id}"
    written_names.replace_names(session, user, names, after)
    user.name = user.lower_name = after
    user.password = user.mail = user.mail_wanted = user.totp_secret = user.totp_counter = None
    user.quota_mib = user.last_sign_in = user.language = None
    user.active, user.role, user.deleted = False, Role.PARTICIPANT, now
    user.description, user.links = "", []
    session.flush()
