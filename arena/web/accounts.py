"""A person's own pages: signing in, registering, the account with its password and tokens."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, abort, flash, redirect, render_template, request, session, url_for
from flask_security import hash_password, logout_user, verify_password
from sqlalchemy.exc import IntegrityError
from werkzeug.wrappers import Response
from wtforms import SelectChoice

from arena import audit
from arena.audit import Actor
from arena.bots import entries, quota
from arena.bots.alarms import alarms_of
from arena.ground.locks import locking
from arena.models import SCOPES, ApiToken, LinkKind, Role, Scope, User
from arena.people import account_notifications, accounts, sessions
from arena.people.accounts import PeopleError
from arena.schedule.requests import matches_of
from arena.web import lookup, queries
from arena.web.deeds import REFUSED, asked_first, is_meant
from arena.web.entering import let_in, next_page, sign_in_again
from arena.web.forms import (
    PasswordForm,
    RegisterForm,
    ResetForm,
    SignInForm,
    TokenForm,
    password_rule,
)
from arena.web.identity import begin_session, current, database, keep_to_itself, settings, signed_in
from arena.web.passkeys import asked_alone
from arena.web.permissions import anybody, before_change, demand_session, needs
from arena.web.present import open_in_maintenance
from arena.web.words import sentence
from engine.translation import N_, gettext, translated

pages = Blueprint("accounts", __name__)

REQUESTS_SHOWN = 10

pages.after_request(keep_to_itself)


@pages.route("/sign-in", methods=["GET", "POST"])
@anybody
@open_in_maintenance
def sign_in() -> Any:
    """Signs in with name and password."""
    form = SignInForm()
    if request.method == "GET":
        there = request.args.get("next", "")
        if current() is not None:
            return redirect(next_page(there))
        form.next.data = there
    if not form.validate_on_submit():
        return _form("sign_in.html", form)
    name, password, now = form.name.data, form.password.data, datetime.now(UTC)
    with database().read() as reading:
        user = accounts.find(reading, name)
    # For a name that nobody has it takes as long to say no.
    stored = user.password if user else None
    right = verify_password(password, stored or _nobodys_password())
    if user is None or stored is None or not right:
        if user is not None:
            with database().begin() as writing:
                by = Actor(None, name, _address())
                audit.note(writing, by, "fail sign-in", f"user {user.name}", now=now)
        form.password.errors = [gettext("There is no such account, or this is not its password.")]
        return _form("sign_in.html", form)
    if not user.active:
        form.name.errors = [
            gettext("This account was deactivated: ask an administrator of the arena.")
        ]
        return _form("sign_in.html", form)
    return let_in(user, "password", form.next.data or "")


@cache
def _nobodys_password() -> str:
    return str(hash_password(secrets.token_urlsafe()))


def _address() -> str:
    return request.remote_addr or ""


def _form(template: str, form: Any, **more: Any) -> tuple[str, int]:
    """A page with a form: empty, or as it was sent with what is wrong."""
    refused = request.method == "POST" and form.errors
    page = render_template(
        template,
        form=form,
        registration=settings().registration,
        has_mail=bool(settings().mail),
        passkey_asked=asked_alone() if template == "sign_in.html" else "",
        password_rule=password_rule(),
        **more,
    )
    return page, REFUSED if refused else 200


@pages.post("/sign-out")
@needs(Scope.READ)
@before_change
@open_in_maintenance
def sign_out() -> Response:
    """Ends this session; with it goes what the editor kept in the browser, for whoever is next."""
    with database().begin() as writing:
        sessions.end(writing, signed_in().id, signed_in().session_id or 0)
    logout_user()
    session.clear()
    answer = redirect(url_for("front.first_page"))
    answer.headers["Clear-Site-Data"] = '"storage"'
    return answer


@pages.route("/register", methods=["GET", "POST"])
@anybody
def register() -> Any:
    """Makes an account, if the arena lets people in."""
    form = RegisterForm()
    if request.method == "GET":
        form.invitation.data = request.args.get("invitation", "")
        form.next.data = request.args.get("next", "")
    by_invitation = bool(form.invitation.data)
    how = settings().registration
    if how == "closed" and not by_invitation:
        abort(
            403, gettext("This arena takes no new accounts. An administrator of it can invite you.")
        )
    if how == "invitation" and not by_invitation:
        abort(
            403,
            gettext(
                "New accounts are by invitation: ask an administrator of the arena for a link."
            ),
        )
    now = datetime.now(UTC)
    if by_invitation:
        with database().read() as reading:
            try:
                accounts.find_link(reading, LinkKind.INVITATION, form.invitation.data, now)
            except PeopleError as error:
                abort(403, str(error))
    if not form.validate_on_submit():
        return _form("register.html", form)
    hashed = hash_password(form.password.data)
    try:
        with database().begin() as writing:
            role = Role.PARTICIPANT
            if by_invitation:
                role = accounts.use_link(
                    writing, LinkKind.INVITATION, form.invitation.data, now
                ).role
            by = Actor(None, form.name.data, _address())
            user = accounts.add(writing, by, form.name.data, password=hashed, role=role, now=now)
            user.last_sign_in = now
    except PeopleError as error:
        form.name.errors = [sentence(error)]
        return _form("register.html", form)
    except IntegrityError:
        form.name.errors = [
            gettext("The name %(name)s is taken: choose another.", name=form.name.data)
        ]
        return _form("register.html", form)
    begin_session(user)
    flash(gettext("Welcome. Enter your first bot whenever you like."))
    return redirect(next_page(form.next.data or url_for("submissions.submit")))


@pages.route("/reset/<secret>", methods=["GET", "POST"])
@anybody
def reset(secret: str) -> Any:
    """Sets a new password for who has an administrator's link."""
    form, now = ResetForm(), datetime.now(UTC)
    try:
        with database().read() as reading:
            found = accounts.find_link(reading, LinkKind.RESET, secret, now).user
            name = found.name if found else ""
        if not form.validate_on_submit():
            return _form("reset.html", form, name=name)
        hashed = hash_password(form.password.data)
        with database().begin() as writing:
            user = accounts.use_link(writing, LinkKind.RESET, secret, now).user
            assert user is not None
            accounts.set_password(writing, user, hashed)
            by = Actor(user.id, user.name, _address())
            audit.note(writing, by, "reset password", f"user {user.name}", now=now)
            account_notifications.tell(writing, user, account_notifications.PASSWORD, now)
    except PeopleError as error:
        abort(403, str(error))
    answer = let_in(user, "reset link", "")
    flash(gettext("The new password counts from now on, and every other session has ended."))
    return answer


@pages.get("/account")
@needs(Scope.READ)
def account() -> Any:
    """The account: its bots, its tokens, its password."""
    return _account(TokenForm())


def _account(form: Any, secret: str = "") -> tuple[str, int]:
    who = signed_in()
    may = SCOPES[who.role] | ({Scope.ORGANISE} if who.organised else set())
    form.scopes.choices = [
        SelectChoice(str(scope), translated(WORDS[scope])) for scope in Scope if scope in may
    ]
    with lookup.reading() as reading:
        mine = entries.bots_of(reading, who.id)
        return _form(
            "account.html",
            form,
            user=reading.get_one(User, who.id),
            bots=mine,
            checks=queries.checks_of_versions(reading, [version for _, version, _ in mine]),
            alarms=alarms_of(reading, mine),
            tokens=accounts.tokens_of(reading, who.id),
            requests=matches_of(reading, who.id, count=REQUESTS_SHOWN),
            secret=secret,
            stored=quota.in_mib(quota.stored_bytes(reading, who.id)),
            most_stored=quota.in_mib(quota.most_bytes(reading, who.id, settings().quota_bytes)),
            own_bots=quota.bots_here(reading, who.id),
            most_bots=quota.most_bots(reading.get_one(User, who.id), settings().bots_a_person),
        )


WORDS = {
    Scope.READ: N_("read: what everybody may read, and your own bots, code and logs"),
    Scope.SUBMIT: N_("submit: enter bots and change yours"),
    Scope.CONNECT: N_("connect: play with bots of yours that stay at home"),
    Scope.ORGANISE: N_("organise: run tournaments, freeze ladders, void matches"),
    Scope.ADMIN: N_("admin: everything else, users too"),
}


@pages.post("/account/tokens")
@needs(Scope.READ)
def add_token() -> Any:
    """Makes a token, and shows it this once."""
    demand_session()
    who, form = signed_in(), TokenForm()
    form.scopes.choices = [SelectChoice(str(scope)) for scope in Scope]
    if not form.validate_on_submit():
        return _account(form)
    try:
        with database().begin() as writing:
            user = writing.get_one(User, who.id)
            scopes = [Scope(scope) for scope in form.scopes.data or ()]
            secret = accounts.add_token(
                writing, who.actor, user, form.name.data, scopes, datetime.now(UTC)
            )
    except PeopleError as error:
        wrong = form.scopes if accounts.is_token_name(form.name.data) else form.name
        wrong.errors = [sentence(error)]
        return _account(form)
    return _account(TokenForm(formdata=None), secret)


@pages.post("/account/tokens/<int:number>/revoke")
@needs(Scope.READ)
@open_in_maintenance
def revoke_token(number: int) -> Response | str:
    """Makes a token worthless."""
    demand_session()
    who = signed_in()
    query = sa.select(ApiToken).where(ApiToken.id == number, ApiToken.user_id == who.id)
    with database().begin() as writing:
        token = writing.scalar(locking(query, ApiToken))  # who sends this twice finds it gone
        if token is None:
            abort(404, gettext("There is no such token of yours."))
        if not is_meant():
            return asked_first(
                gettext(
                    "The token “%(name)s” is worthless then: whatever uses it is refused. This "
                    "can't be undone, but you can make another.",
                    name=token.name,
                )
            )
        accounts.revoke_token(writing, who.actor, token, datetime.now(UTC))
        flash(gettext("The token “%(name)s” is worthless now.", name=token.name))
    return redirect(url_for("accounts.account"))


@pages.route("/account/password", methods=["GET", "POST"])
@needs(Scope.READ)
@before_change
@open_in_maintenance
def password() -> Any:
    """Changes the password; every other session ends."""
    demand_session()
    who, form = signed_in(), PasswordForm()
    with database().read() as reading:
        stored = reading.get_one(User, who.id).password
    if stored is None and (again := sign_in_again()):
        return again
    if who.must_change or stored is None:  # who is here has just signed in
        del form.present
    sound = form.validate_on_submit()
    if request.method == "GET":
        return _form("password.html", form)
    asked = form.present  # what is wrong with it already may be too long to be hashed
    knows = asked is None or (not asked.errors and _is(asked.data, stored))
    if not (knows or asked.errors):
        asked.errors = [gettext("This is not the present password.")]
    elif knows and not form.password.errors and _is(form.password.data, stored):
        form.password.errors = [gettext("This is the present password: choose a new one.")]
    if not sound or form.errors:
        return _form("password.html", form)
    hashed = hash_password(form.password.data)
    with database().begin() as writing:
        user = writing.get_one(User, who.id)
        accounts.set_password(writing, user, hashed)
        now = datetime.now(UTC)
        audit.note(writing, who.actor, "change password", f"user {user.name}", now=now)
        account_notifications.tell(writing, user, account_notifications.PASSWORD, now)
    begin_session(user)
    flash(gettext("The new password counts from now on, and every other session has ended."))
    return redirect(url_for("accounts.account"))


def _is(typed: str | None, stored: str | None) -> bool:
    """Whether something that was typed is the password of this hash."""
    if not (typed and stored):
        return False
    return bool(verify_password(typed, stored))
