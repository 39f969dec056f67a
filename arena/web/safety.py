"""How one signs in, and where one is signed in: the page on which a person changes that."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import segno
from flask import (
    Blueprint,
    Response,
    abort,
    flash,
    jsonify,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from markupsafe import Markup

from arena import audit
from arena.models import BrowserSession, Scope, User
from arena.people import account_notifications, identities, passkeys, second_factor, sessions
from arena.people.accounts import PeopleError
from arena.web.deeds import REFUSED, asked_first, is_meant
from arena.web.entering import recently
from arena.web.forms import CodeForm
from arena.web.identity import begin_session, database, keep_to_itself, settings, signed_in
from arena.web.lookup import reading
from arena.web.permissions import before_factor, demand_session, needs
from arena.web.present import open_in_maintenance
from arena.web.providers import known_providers
from arena.web.recovery import show_codes
from arena.web.words import sentence
from engine.translation import gettext

safety = Blueprint("safety", __name__)

safety.after_request(keep_to_itself)

APP = "app"
"""Where the session keeps the secret of an app that is being set up."""


@safety.get("/account/safety")
@needs(Scope.READ)
@before_factor
def overview() -> Any:
    """What lets one in, and the browsers in which one is."""
    demand_session()
    who = signed_in()
    with reading() as found:
        return render_template(
            "safety.html",
            user=found.get_one(User, who.id),
            devices=sessions.listed(found, who.id, datetime.now(UTC)),
            is_asked=second_factor.is_asked(found, found.get_one(User, who.id)),
            codes_left=second_factor.codes_left(found, who.id),
            identities=identities.listed(found, who.id),
            passkeys=passkeys.listed(found, who.id),
            has_mail=bool(settings().mail),
            titles={one.issuer: one.title for one in known_providers().values()},
        )


@safety.get("/account/safety.json")
@needs(Scope.READ)
def overview_json() -> Response:
    """What that page lists, for programs."""
    demand_session()
    who = signed_in()
    with reading() as found:
        user = found.get_one(User, who.id)
        devices = sessions.listed(found, who.id, datetime.now(UTC))
        return jsonify(
            {
                "password": user.password is not None,
                "mail": user.mail,
                "mail_wanted": user.mail_wanted,
                "app": user.totp_secret is not None,
                "recovery_codes": second_factor.codes_left(found, who.id),
                "passkeys": [
                    {"id": one.id, "name": one.name} for one in passkeys.listed(found, who.id)
                ],
                "identities": [
                    {"id": one.id, "issuer": one.issuer, "label": one.label}
                    for one in identities.listed(found, who.id)
                ],
                "sessions": [_device(one, who.session_id) for one in devices],
            }
        )


def _device(one: BrowserSession, present: int | None) -> dict[str, Any]:
    return {
        "id": one.id,
        "browser": one.browser,
        "address": one.address,
        "created": one.created.isoformat(),
        "last_used": one.last_used.isoformat(),
        "this": one.id == present,
    }


# Sessions.


@safety.post("/account/sessions/<int:number>/end")
@needs(Scope.READ)
@before_factor
@open_in_maintenance
def end_session(number: int) -> Any:
    """Ends one session of the account."""
    demand_session()
    who = signed_in()
    with database().begin() as writing:
        if not sessions.end(writing, who.id, number):
            abort(404, gettext("There is no such session of yours, or it has ended."))
        audit.note(writing, who.actor, "end session", f"user {who.name}", now=datetime.now(UTC))
    flash(gettext("That session has ended."))
    return redirect(url_for("safety.overview"))


@safety.post("/account/end-sessions")
@needs(Scope.READ)
@before_factor
@open_in_maintenance
def end_sessions() -> Any:
    """Ends every session of the account, but this one begins anew."""
    demand_session()
    who = signed_in()
    with database().begin() as writing:
        user = writing.get_one(User, who.id)
        sessions.end_all(writing, user.id)
        audit.note(writing, who.actor, "end sessions", f"user {user.name}", now=datetime.now(UTC))
    begin_session(user)
    flash(gettext("Every other session of yours has ended."))
    return redirect(url_for("safety.overview"))


# The second factor.


@safety.route("/account/app", methods=["GET", "POST"])
@needs(Scope.READ)
@before_factor
@recently
@open_in_maintenance
def app() -> Any:
    """Sets up an app whose codes are asked for."""
    who, form = signed_in(), CodeForm()
    form.code.label.text = gettext("The code that the app shows now")
    secret = session.setdefault(APP, second_factor.new_secret())
    if form.validate_on_submit():
        try:
            with database().begin() as writing:
                user = writing.get_one(User, who.id)
                codes = second_factor.turn_on(
                    writing, who.actor, user, secret, form.code.data, datetime.now(UTC)
                )
        except PeopleError as error:
            form.code.errors = [sentence(error)]
        else:
            session.pop(APP)
            return show_codes(codes, gettext("The app's codes are asked for from now on."))
    address = second_factor.address(secret, who.name, request.host)
    drawn = segno.make(address, error="m").svg_inline(scale=4, border=4, light="#fff")
    page = render_template("app.html", form=form, secret=_in_fours(secret), drawn=Markup(drawn))  # noqa: S704
    return page, REFUSED if form.errors else 200


def _in_fours(text: str) -> str:
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


@safety.post("/account/app/remove")
@needs(Scope.READ)
@recently
def remove_app() -> Any:
    """Asks for the app's codes no more."""
    who = signed_in()
    if not is_meant():
        return asked_first(
            gettext(
                "The codes of your app are asked for no more. Then your password, or what else "
                "you sign in with, may be all that is."
            )
        )
    with database().begin() as writing:
        user = writing.get_one(User, who.id)
        second_factor.turn_off(writing, who.actor, user, datetime.now(UTC))
    flash(gettext("The codes of your app are asked for no more."))
    return redirect(url_for("safety.overview"))


@safety.post("/account/recovery-codes")
@needs(Scope.READ)
@recently
def recovery_codes() -> Any:
    """Makes new recovery codes, and shows them this once."""
    who = signed_in()
    with database().begin() as writing:
        user = writing.get_one(User, who.id)
        if not second_factor.is_asked(writing, user):
            abort(409, gettext("Recovery codes are for who has a second factor: set one up first."))
        codes = second_factor.make_codes(writing, user)
        now = datetime.now(UTC)
        audit.note(writing, who.actor, "make recovery codes", f"user {user.name}", now=now)
        account_notifications.tell(writing, user, account_notifications.CODES, now)
    return show_codes(codes, gettext("The recovery codes there were before are worthless now."))
