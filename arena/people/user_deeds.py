"""What an administrator can change about accounts: their role, and whether they are let in."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from arena import audit
from arena.deeds import By, Deed, Done, asked
from arena.ground.refusals import NotThere
from arena.models import Role, Scope, User
from arena.people import accounts, second_factor
from arena.people.accounts import PeopleError
from engine.translation import N_, gettext

MOST_MIB = 1 << 24
"""16 TiB."""
BECOMES = {
    Role.PARTICIPANT: N_("the user %(user)s is participant now"),
    Role.ORGANISER: N_("the user %(user)s is organiser now"),
    Role.ADMINISTRATOR: N_("the user %(user)s is administrator now"),
}


def find_user(session: Session, name: str) -> User:
    """The person of a name.

    Raises:
        NotThere: there is none.
    """
    try:
        return accounts.get(session, name)
    except PeopleError as error:
        raise NotThere(str(error)) from None


@dataclass(frozen=True)
class UserDeed(Deed):
    """Changes an account; answers its user."""

    scope = Scope.ADMIN
    subject = "administration"
    answers = User

    name: str = asked("The user's name")


@dataclass(frozen=True)
class ChangeRole(UserDeed):
    """Make somebody a participant, an organiser or an administrator."""

    address = "POST /users/<name>/role"
    command = "user role NAME ROLE"
    example = "ada organiser"

    role: str = asked("What they become", choices=tuple(map(str, Role)))

    def do(self, session: Session, by: By) -> Done:
        user = find_user(session, self.name)
        before = str(user.role)
        accounts.set_role(session, by.actor, user, Role(self.role), by.now)
        undo = (ChangeRole(user.name, before),) if before != self.role else ()
        return Done(gettext(BECOMES[Role(self.role)], user=user.name), user, undo)


@dataclass(frozen=True)
class DeactivateUser(UserDeed):
    """Shut somebody out: no sign-in, no sessions, no tokens."""

    address = "POST /users/<name>/deactivate"
    command = "user deactivate NAME"
    example = "ada"

    def do(self, session: Session, by: By) -> Done:
        user = find_user(session, self.name)
        undo = (ActivateUser(user.name),) if user.active else ()
        accounts.set_active(session, by.actor, user, active=False, now=by.now)
        return Done(
            gettext("the user %(user)s is shut out, with all sessions and tokens", user=user.name),
            user,
            undo,
        )


@dataclass(frozen=True)
class ActivateUser(UserDeed):
    """Let somebody in again who was shut out."""

    address = "POST /users/<name>/activate"
    command = "user activate NAME"
    example = "ada"

    def do(self, session: Session, by: By) -> Done:
        user = find_user(session, self.name)
        undo = () if user.active else (DeactivateUser(user.name),)
        accounts.set_active(session, by.actor, user, active=True, now=by.now)
        return Done(gettext("the user %(user)s may sign in again", user=user.name), user, undo)


@dataclass(frozen=True)
class ResetSecondFactor(UserDeed):
    """Take the second factor off somebody's account who lost it: app, passkeys and recovery codes.

    Their sessions end. See first that it is them who ask.
    """

    address = "POST /users/<name>/second-factor/reset"
    command = "user reset-second-factor NAME"
    example = "ada"
    lasting = N_(
        "The password, or whatever else they sign in with, lets them in alone then, until they set "
        "up another second factor. Who had passkeys alone needs a link to choose a password. Their "
        "sessions end."
    )

    def do(self, session: Session, by: By) -> Done:
        user = find_user(session, self.name)
        second_factor.reset(session, by.actor, user, by.now)
        return Done(gettext("the user %(user)s has no second factor now", user=user.name), user)


@dataclass(frozen=True)
class SetQuota(UserDeed):
    """Give somebody more or less room for the files of their bots than everybody has.

    Who has more stored already keeps it, and can add nothing.
    """

    address = "POST /users/<name>/quota"
    command = "user quota NAME [MIB]"
    example = "ada 4096"

    mib: int | None = asked(
        "How many MiB may be stored of theirs; by default as many as of everybody",
        default=None,
        least=0,
        most=MOST_MIB,
    )

    def do(self, session: Session, by: By) -> Done:
        user = find_user(session, self.name)
        words = "as much as everybody" if self.mib is None else f"{self.mib} MiB"
        undo: tuple[Deed, ...] = ()
        if user.quota_mib != self.mib:
            undo = (SetQuota(user.name, user.quota_mib),)
            user.quota_mib = self.mib
            audit.note(session, by.actor, "set quota", f"user {user.name}", words, now=by.now)
        if self.mib is None:
            said = gettext("the user %(user)s may have as much as everybody stored", user=user.name)
        else:
            said = gettext(
                "the user %(user)s may have %(mib)s MiB stored", user=user.name, mib=self.mib
            )
        return Done(said, user, undo)
