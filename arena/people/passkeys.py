"""Passkeys (WebAuthn): keys on people's devices, whose public halves are kept here.

A passkey that has proven its user (by a finger, a face, a PIN) is two factors in one and lets in
alone; beside a password any passkey is the second factor. Each challenge counts once: a passkey
answers none that is older than its last answer.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.ground.db import count_rows
from arena.ground.locks import lock
from arena.models import Passkey, User
from arena.people import account_notifications, second_factor
from arena.people.accounts import PeopleError
from arena.people.ways_in import demand_another
from engine.translation import gettext

ALLOWED = 20
LONGEST_CREDENTIAL = 1400
LONGEST_ANSWER = 20_000
"""The most characters that a browser's answer may have."""
_UNREADABLE = (
    ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError,
    struct.error,
)  # fmt: skip
"""What else is raised for bytes that no browser sends."""


class Site(NamedTuple):
    """The arena as browsers know it."""

    name: str
    """Its host, without a port: passkeys hold for it."""
    origin: str
    """``https://arena.example.org``, as browsers write it."""


def listed(session: Session, user_id: int) -> list[Passkey]:
    """A user's passkeys, the oldest first."""
    query = sa.select(Passkey).where(Passkey.user_id == user_id).order_by(Passkey.id)
    return list(session.scalars(query))


def how_to_make(user: User, there: list[Passkey], site: Site, challenge: str) -> str:
    """What a browser is asked in order to make a passkey, as JSON.

    Args:
        there: those that the user has, whose devices make no other.
    """
    from webauthn import base64url_to_bytes, generate_registration_options, options_to_json
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
    )

    asked = generate_registration_options(
        rp_id=site.name,
        rp_name=site.name,
        user_id=bytes.fromhex(user.handle),
        user_name=user.name,
        challenge=challenge.encode(),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.PREFERRED
        ),
        exclude_credentials=[
            PublicKeyCredentialDescriptor(base64url_to_bytes(one.credential)) for one in there
        ],
    )
    return str(options_to_json(asked))


def how_to_answer(there: list[Passkey], site: Site, challenge: str, *, alone: bool) -> str:
    """What a browser is asked in order to sign in by a passkey, as JSON.

    Args:
        there: those that will do; none for any that the browser finds.
        alone: whether it is to be all that is asked for.
    """
    from webauthn import base64url_to_bytes, generate_authentication_options, options_to_json
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor, UserVerificationRequirement

    must = UserVerificationRequirement
    asked = generate_authentication_options(
        rp_id=site.name,
        challenge=challenge.encode(),
        allow_credentials=[
            PublicKeyCredentialDescriptor(base64url_to_bytes(one.credential)) for one in there
        ],
        user_verification=must.REQUIRED if alone else must.DISCOURAGED,
    )
    return str(options_to_json(asked))


def challenge_of(answer: str) -> str:
    """The challenge that a browser's answer is to; empty if it says none."""
    from webauthn.helpers import base64url_to_bytes, parse_client_data_json
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        sent = _parsed(answer)["response"]["clientDataJSON"]
        return parse_client_data_json(base64url_to_bytes(sent)).challenge.decode("ascii")
    except (WebAuthnException, *_UNREADABLE):
        return ""


def _parsed(answer: str) -> dict[str, Any]:
    """A browser's answer as JSON's types."""
    if len(answer) > LONGEST_ANSWER:
        raise ValueError("it is too long")
    found: dict[str, Any] = json.loads(answer)
    return found


def add(
    session: Session,
    actor: Actor,
    user: User,
    name: str,
    answer: str,
    challenge: str,
    site: Site,
    now: datetime,
) -> list[str]:
    """Keeps a passkey that a browser has made.

    Args:
        answer: what the browser says, as JSON.
        challenge: that which it was to answer.

    Returns:
        recovery codes, if there were none.

    Raises:
        PeopleError: the answer proves no passkey, it is known already, or there are too many.
    """
    from webauthn import verify_registration_response
    from webauthn.helpers import bytes_to_base64url
    from webauthn.helpers.exceptions import WebAuthnException

    lock(session, user)
    if count_rows(session, Passkey, Passkey.user_id == user.id) >= ALLOWED:
        raise PeopleError(
            gettext("there are %(number)s passkeys already: remove one first", number=ALLOWED)
        )
    try:
        made = verify_registration_response(
            credential=_parsed(answer),
            expected_challenge=challenge.encode(),
            expected_rp_id=site.name,
            expected_origin=site.origin,
        )
    except (WebAuthnException, *_UNREADABLE):
        raise _unproven() from None
    credential = bytes_to_base64url(made.credential_id)
    known = sa.select(Passkey.id).where(Passkey.credential == credential)
    if len(credential) > LONGEST_CREDENTIAL or session.scalar(known) is not None:
        raise PeopleError(gettext("this passkey is known already, or its name is too long"))
    session.add(
        Passkey(
            user_id=user.id,
            name=name[:60],
            credential=credential,
            public_key=made.credential_public_key,
            sign_count=made.sign_count,
            created=now,
        )
    )
    session.flush()
    audit.note(session, actor, "add passkey", f"user {user.name}", name[:60], now=now)
    account_notifications.tell(
        session, user, account_notifications.PASSKEY_ADDED, now, what=name[:60]
    )
    return second_factor.first_codes(session, user)


def prove(
    session: Session,
    answer: str,
    challenge: str,
    issued: datetime,
    site: Site,
    now: datetime,
    *,
    alone: bool,
) -> Passkey:
    """The passkey that answers a challenge, used now.

    Args:
        issued: when the challenge was made.
        alone: whether it must have proven its user.

    Raises:
        PeopleError: it proves nothing, or has answered later than that already.
    """
    from webauthn import verify_authentication_response
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        sent = _parsed(answer)
        found = session.scalar(sa.select(Passkey).where(Passkey.credential == str(sent["id"])))
        if found is None:
            raise PeopleError(gettext("this passkey is not known here"))
        lock(session, found)
        proven = verify_authentication_response(
            credential=sent,
            expected_challenge=challenge.encode(),
            expected_rp_id=site.name,
            expected_origin=site.origin,
            credential_public_key=found.public_key,
            credential_current_sign_count=found.sign_count,
            require_user_verification=alone,
        )
    except (WebAuthnException, *_UNREADABLE):
        raise _unproven() from None
    if found.last_used is not None and issued <= found.last_used:
        raise _unproven()
    found.sign_count, found.last_used = proven.new_sign_count, now
    return found


def _unproven() -> PeopleError:
    return PeopleError(gettext("this passkey was not proven: try again"))


def remove(
    session: Session,
    actor: Actor,
    user: User,
    passkey: Passkey,
    issuers: Collection[str],
    now: datetime,
) -> None:
    """Has a passkey let in nobody.

    Args:
        issuers: those of the providers by which people sign in now.

    Raises:
        PeopleError: nothing else lets its user in.
    """
    demand_another(session, user, passkey, issuers)
    session.delete(passkey)
    second_factor.forget_codes(session, user)
    audit.note(session, actor, "remove passkey", f"user {user.name}", passkey.name, now=now)
    account_notifications.tell(
        session, user, account_notifications.PASSKEY_REMOVED, now, what=passkey.name
    )
