"""What who asks may do.

Each view says what it needs (`needs`, `anybody`), and `guard` refuses before it is called: who is
not signed in, who lacks the scope, and any change that comes with neither a token nor the secret of
a form that was sent from here (CSRF). A view that says nothing may be read by everybody and changes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from flask import (
    Flask,
    abort,
    current_app,
    flash,
    g,
    has_request_context,
    redirect,
    request,
    url_for,
)
from flask_wtf import CSRFProtect
from flask_wtf.csrf import CSRFError
from werkzeug.wrappers import Response

from arena.models import SCOPES, Bot, Competition, Entrant, Scope
from arena.web.identity import Account, asker, bearer, current, signed_in
from engine.translation import N_, gettext, translated

F = TypeVar("F", bound=Callable[..., Any])

ANYBODY = "anybody"
WHOSE = {
    Scope.READ: N_("everybody with an account"),
    Scope.SUBMIT: N_("participants"),
    Scope.CONNECT: N_("participants"),
    Scope.ORGANISE: N_("organisers and administrators"),
    Scope.ADMIN: N_("administrators"),
}
"""Who has each scope, in words."""
UNKNOWN_BEARER = N_(
    "This token is not known here: it was revoked, its user is shut out, or it was never one. "
    "Make another on your account's page."
)
TOO_OLD = N_("This form is too old, or was not sent from here: reload it and try again.")

csrf = CSRFProtect()


def needs(scope: Scope, *, of_one: bool = False) -> Callable[[F], F]:
    """Marks a view that only those with this scope may call.

    Args:
        of_one: that it is about one competition, whose organisers may call it, too; it refuses
            organisers of others.
    """

    def mark(view: F) -> F:
        view.access = scope  # type: ignore[attr-defined]
        view.of_one = of_one  # type: ignore[attr-defined]
        return view

    return mark


def anybody(view: F) -> F:
    """Marks a view that anybody may call, though it changes something."""
    view.access = ANYBODY  # type: ignore[attr-defined]
    return view


def by_proof(view: F) -> F:
    """Marks a view that programs may call without a token, since a signature or a secret in its
    address is proof enough: no page elsewhere can have a browser do so."""
    view.access, view.proven = ANYBODY, True  # type: ignore[attr-defined]
    return view


def before_change(view: F) -> F:
    """Marks a view that is open to who must change the password first."""
    view.before = {"change", "factor"}  # type: ignore[attr-defined]
    return view


def before_factor(view: F) -> F:
    """Marks a view that is open to who must set up a second factor first."""
    view.before = {"factor"}  # type: ignore[attr-defined]
    return view


def access_of(view: Callable[..., Any], method: str) -> Scope | None:
    """What a view needs for a method; None if anybody may call it."""
    declared = getattr(view, "access", None)
    if declared is None:
        # Whoever forgot to say it has made a view for administrators.
        return None if method in ("GET", "HEAD", "OPTIONS") else Scope.ADMIN
    return None if declared == ANYBODY else Scope(declared)


def guard() -> Response | None:
    """Refuses, before a view is called, whoever may not call it."""
    view = current_app.view_functions.get(request.endpoint or "")
    if view is None:
        return None
    needed = access_of(view, request.method)
    if needed is not None:
        account = current()
        if account is None:
            abort(401, translated(UNKNOWN_BEARER) if bearer() is not None else None)
        is_of_one = getattr(view, "of_one", False) and bool(account.organised)
        if needed not in account.scopes and not is_of_one:
            abort(403, _lacking(account, needed))
        opened: set[str] = getattr(view, "before", set())
        if account.must_change and bearer() is None and "change" not in opened:
            return redirect(url_for("accounts.password"))
        if account.lacks_factor and not opened:
            return redirect(url_for("safety.overview"))
    if bearer() is not None or getattr(view, "proven", False):
        g.csrf_valid = True  # no other site knows the token, which is proof enough for forms
    else:
        try:
            csrf.protect()
        except CSRFError:
            account = current()
            if account is not None and request.endpoint == "accounts.sign_in":
                # In another tab of this browser somebody has signed in since the form was made.
                flash(gettext("You are signed in already, as %(name)s.", name=account.name))
                return redirect(url_for("accounts.sign_in", next=request.form.get("next", "")))
            abort(400, translated(TOO_OLD))
    return None


def _lacking(account: Account, needed: Scope) -> str:
    if needed in SCOPES[account.role]:
        return _scopeless(needed)
    whose = translated(WHOSE[needed])
    role = translated(account.role)
    return gettext("This is for %(whose)s; your role is %(role)s.", whose=whose, role=role)


def _scopeless(needed: Scope) -> str:
    return gettext("This token has no scope %(scope)s.", scope=needed)


def demand_organiser(competition: Competition) -> None:
    """Refuses who is no organiser, neither of the site nor of this competition."""
    account = signed_in()
    if not account.organises(competition):
        abort(403, _lacking(account, Scope.ORGANISE))


def demand_session() -> None:
    """Keeps programs from what only a person at a browser may do with tokens and passwords."""
    if bearer() is not None:
        abort(403, gettext("A token can't do this: sign in with a browser."))


def demand_token() -> None:
    """Keeps who signed in from doing by the API what their pages ask more for."""
    if bearer() is None:
        abort(403, gettext("The API takes a token for this: do it on your account's page."))


def owns(bot: Bot) -> bool:
    """Whether a bot is the asker's own, or shared with them."""
    account = current()
    return account is not None and account.owns(bot)


def told_reason(entrant: Entrant) -> str:
    """Why an entrant is not active, as who asks is told it: what an organiser wrote who took it off
    is for its owners and for organisers; at the machine all is told."""
    if not entrant.is_barred or not has_request_context():
        return entrant.reason
    account = current()
    knows = account is not None and (
        account.owns(entrant.version.bot) or account.organises(entrant.competition)
    )
    return entrant.reason if knows else entrant.public_reason


def may_read(bot: Bot) -> bool:
    """Whether who asks may read the code and the logs of a bot: its owner, or all if opened."""
    return bot.open_source or may_follow(bot)


def may_follow(bot: Bot) -> bool:
    """Whether who asks may read what a bot logs while it plays: its owner alone.

    Of one that is open to all its opponents, too, might learn what it is up to.
    """
    account = current()
    return account is not None and account.owns(bot) and account.may(Scope.READ)


def may_know_workers() -> bool:
    """Whether who asks may know which worker played a match: who organises, and whoever runs the
    arena, at its machine.
    """
    if not has_request_context():
        return True
    account = asker()
    return account is not None and account.may(Scope.ORGANISE)


def refuse_reading(bot: Bot, words: str) -> NoReturn:
    """Refuses what is a bot's owner's alone: in these words, unless it is a token that lacks it."""
    who = current()
    if who is not None and who.owns(bot):
        words = _scopeless(Scope.READ)
    abort(403 if who else 401, words)


def install(app: Flask) -> None:
    """Guards an application's views; to be called when it knows who asks."""
    app.config.update(
        WTF_CSRF_CHECK_DEFAULT=False,  # `guard` asks for it, where there is no token
        WTF_CSRF_TIME_LIMIT=None,  # as long as the session
    )
    csrf.init_app(app)
    app.before_request(guard)
