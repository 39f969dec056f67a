"""What lets somebody in: a password, identities at providers, passkeys; one of them stays."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.locks import lock
from arena.models import Identity, Passkey, User
from arena.people.accounts import PeopleError
from engine.translation import gettext


def demand_another(
    session: Session, user: User, without: Identity | Passkey, issuers: Collection[str]
) -> None:
    """Keeps somebody from losing the last thing that lets them in.

    Args:
        without: what is to go.
        issuers: those of the providers by which people sign in now.

    Raises:
        PeopleError: nothing else lets them in.
    """
    lock(session, user)  # of two that go at the same moment one stays
    if user.password is not None:
        return
    identities = session.scalars(
        sa.select(Identity).where(Identity.user_id == user.id, Identity.issuer.in_(issuers))
    )
    passkeys = session.scalars(sa.select(Passkey).where(Passkey.user_id == user.id))
    if any(other is not without for other in (*identities, *passkeys)):
        return
    raise PeopleError(
        gettext("nothing else would let you in: set a password or link another one first")
    )
