"""Passkeys at the pages: made on the page of one's safety, and signed in with."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from itsdangerous import BadData

from arena.models import Passkey, Scope, User
from arena.people import passkeys as keys
from arena.people import sessions
from arena.people.accounts import PeopleError
from arena.people.passkeys import Site
from arena.web.deeds import REFUSED, asked_first, is_meant
from arena.web.entering import let_in, recently
from arena.web.forms import PasskeyForm
from arena.web.identity import database, keep_to_itself, signed_in, signer
from arena.web.lookup import reading
from arena.web.permissions import anybody, before_factor, needs
from arena.web.present import open_in_maintenance
from arena.web.providers import known_providers
from arena.web.recovery import show_codes
from arena.web.words import sentence
from engine.translation import gettext

passkeys = Blueprint("passkeys", __name__)

passkeys.after_request(keep_to_itself)

CHALLENGE_SECONDS = 1800
MAKING, SIGNING_IN, SECOND = "making a passkey", "signing in by passkey", "second by passkey"


def site() -> Site:
    """The arena by the name that it is asked by."""
    return Site(urlsplit(request.host_url).hostname or "", request.host_url.rstrip("/"))


def challenge(use: str, user_id: int = 0) -> str:
    """What a passkey is to sign: nothing that can be guessed, for one use, and for half an hour."""
    return str(signer(use).dumps([user_id, time.time(), secrets.token_hex(16)]))


def answered(answer: str, use: str, user_id: int = 0) -> tuple[str, datetime]:
    """The challenge that a browser's answer is to, and when it was made.

    Raises:
        PeopleError: it is none that this arena made for this, or too old.
    """
    given = keys.challenge_of(answer)
    try:
        whose, issued, _ = signer(use).loads(given)
    except BadData:
        whose, issued = -1, 0.0
    if whose != user_id or issued < time.time() - CHALLENGE_SECONDS:
        raise PeopleError(gettext("this page is too old for its passkey: reload it and try again"))
    return given, datetime.fromtimestamp(issued, UTC)


def asked_alone() -> str:
    """What browsers are asked on the page to sign in, as JSON."""
    return keys.how_to_answer([], site(), challenge(SIGNING_IN), alone=True)


@passkeys.post("/sign-in/passkey")
@anybody
@open_in_maintenance
def sign_in() -> Any:
    """Signs in by a passkey alone."""
    answer, now = request.form.get("credential", ""), datetime.now(UTC)
    try:
        given, issued = answered(answer, SIGNING_IN)
        with database().begin() as writing:
            user = keys.prove(writing, answer, given, issued, site(), now, alone=True).user
    except PeopleError as error:
        abort(403, sentence(error))
    return let_in(user, "passkey", request.form.get("next", ""), is_enough=True)


@passkeys.route("/account/passkeys/new", methods=["GET", "POST"])
@needs(Scope.READ)
@before_factor
@open_in_maintenance
@recently
def make() -> Any:
    """Makes a passkey."""
    who, form = signed_in(), PasskeyForm()
    if request.method == "GET":
        form.name.data = sessions.browser_of(request.headers.get("User-Agent", ""))
    elif form.validate_on_submit():
        try:
            given, _ = answered(form.credential.data, MAKING, who.id)
            with database().begin() as writing:
                user = writing.get_one(User, who.id)
                now = datetime.now(UTC)
                codes = keys.add(
                    writing,
                    who.actor,
                    user,
                    form.name.data,
                    form.credential.data,
                    given,
                    site(),
                    now,
                )
        except PeopleError as error:
            form.name.errors = [sentence(error)]
        else:
            return show_codes(codes, gettext("The passkey lets you in from now on."))
    with reading() as session:
        asked = keys.how_to_make(
            session.get_one(User, who.id),
            keys.listed(session, who.id),
            site(),
            challenge(MAKING, who.id),
        )
    return render_template("passkey.html", form=form, asked=asked), REFUSED if form.errors else 200


@passkeys.post("/account/passkeys/<int:number>/remove")
@needs(Scope.READ)
@recently
def remove(number: int) -> Any:
    """Has a passkey let in nobody."""
    who = signed_in()
    issuers = {one.issuer for one in known_providers().values()}
    try:
        with database().begin() as writing:
            passkey = writing.get(Passkey, number)
            if passkey is None or passkey.user_id != who.id:
                abort(404, gettext("There is no such passkey of yours."))
            name = passkey.name
            user = writing.get_one(User, who.id)
            keys.remove(writing, who.actor, user, passkey, issuers, datetime.now(UTC))
            if not is_meant():
                writing.rollback()
                return asked_first(
                    gettext("The passkey “%(name)s” lets you in no more then.", name=name)
                )
    except PeopleError as error:
        abort(409, sentence(error))
    flash(gettext("The passkey “%(name)s” lets you in no more.", name=name))
    return redirect(url_for("safety.overview"))
