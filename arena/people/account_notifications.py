"""What people are told of their account itself: that something about signing in has changed.

It stands among what they are told on the site, and goes by mail to who has a mail address,
whatever else they want by mail: who had no part in it should hear of it at once.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from arena.ground.catalogues import translation
from arena.models import Notification, Topic, User
from arena.people.outbox import add_mail
from engine.plurals import capitalized
from engine.translation import ENGLISH, N_, gettext, speaking

PAGE = "/account/safety"

PASSWORD = N_("the password of %(name)s was changed")
ONE_TIME = N_("an administrator gave %(name)s a password for one sign-in")
APP_ADDED = N_("an app's codes are asked for when %(name)s signs in")
APP_REMOVED = N_("an app's codes are asked for no more when %(name)s signs in")
PASSKEY_ADDED = N_("the passkey %(what)s lets in %(name)s")
PASSKEY_REMOVED = N_("the passkey %(what)s lets in %(name)s no more")
LINKED = N_("%(what)s lets in %(name)s")
UNLINKED = N_("%(what)s lets in %(name)s no more")
CODES = N_("new recovery codes of %(name)s were made")
FACTOR_RESET = N_("an administrator took the second factor off the account %(name)s")
NO_MAIL = N_("%(name)s has no mail address here any more")
MAIL = N_("the mail address of %(name)s is %(what)s now")


def tell(
    session: Session, user: User, message: str, now: datetime, *, what: str = "", mail: str = ""
) -> None:
    """Tells somebody of a change to their account, in the caller's transaction.

    Args:
        message: one of the above.
        what: what stands at ``%(what)s``.
        mail: where the letter goes; by default to the address that they have now.
    """
    places = {"name": user.name} | ({"what": what} if what else {})
    session.add(
        Notification(
            user_id=user.id,
            at=now,
            topic=Topic.OTHER,
            message=message,
            places=places,
            address=PAGE,
            mail_waits=False,
        )
    )
    if address := mail or user.mail:
        with speaking(translation(user.language or ENGLISH.language)):
            said = gettext(message, **places)
            rest = gettext(
                "If that was not you: end every session and change your password on the page "
                "Sign-in and safety, or ask whoever runs this arena."
            )
            add_mail(session, address, capitalized(said), f"{said}.\n\n{rest}\n", now)
