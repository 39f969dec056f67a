"""Who asks: a person by a session or a program by a token, and what either may do.

`current` gives the one account of a request, whichever way it came; with a token in the request
its cookies count for nothing. Each view says what it needs (`needs`, `anybody`), and `guard`
refuses before it is called: who is not signed in, who lacks the scope, and any change that
comes with neither a token nor the secret of a form that was sent from here (CSRF). A view that
says nothing may be read by everybody and changes nothing.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn, TypeVar

import sqlalchemy as sa
from flask import (
    Flask,
    Request,
    abort,
    after_this_request,
    current_app,
    flash,
    g,
    has_request_context,
    redirect,
    request,
    session,
    url_for,
)
from flask import Response as Answered
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from flask_login import current_user
from flask_security import RoleMixin, Security, UserDatastore, UserMixin, login_user
from flask_security.utils import validate_redirect_url
from flask_wtf import CSRFProtect
from flask_wtf.csrf import CSRFError
from itsdangerous import BadData, URLSafeSerializer
from sqlalchemy.orm import Session, joinedload
from werkzeug.wrappers import Response

from arena import sight
from arena.audit import Actor
from arena.bots import sharing
from arena.deeds import By
from arena.ground.config import Settings
from arena.ground.db import FAILED, Database, database_time
from arena.models import (
    SCOPES,
    ApiToken,
    Bot,
    BrowserSession,
    Competition,
    Entrant,
    MemberRole,
    Role,
    Scope,
    User,
)
from arena.people import accounts, second_factor, sessions
from arena.sight import STRANGER, Reader, SeenBy
from arena.signing import secret_key
from arena.web.present import watch
from arena.web.replica import replica
from engine.translation import N_, gettext, translated

Answer = TypeVar("Answer", bound=Response)
F = TypeVar("F", bound=Callable[..., Any])

ANYBODY = "anybody"
PASSWORD_LENGTH_MIN = 10
ASTRAY = re.compile(r"[\\\0-\x1f]")
KNOWN_COOKIE, KNOWN_LASTS = "arena-known", timedelta(days=365)

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


@dataclass(frozen=True, slots=True, eq=False)
class Account(UserMixin):
    """Who asks, as of the start of the request."""

    id: int
    name: str
    role: Role
    scopes: frozenset[Scope]
    """What may be done: by the role, and by the token if there is one."""
    fs_uniquifier: str
    """The key of the browser's session, in the library's word; empty where a token asks."""
    session_id: int | None
    signed_in_at: datetime | None
    """When that session began."""
    active: bool
    must_change: bool
    """Whether the password must be changed before anything else."""
    lacks_factor: bool
    """Whether a second factor must be set up before anything else but that."""
    reader: Reader
    """Whom it is as a reader, by which is decided what it sees."""
    organised: frozenset[int]
    """The ids of the competitions that it organises, and of those within these."""

    @property
    def actor(self) -> Actor:
        """This account in the audit log."""
        return Actor(self.id, self.name, request.remote_addr or "")

    def by(self) -> By:
        """This account as who does something by the present request."""
        its = settings()
        quotas = its.requests_a_day, its.asked_seconds_a_day, its.quota_bytes, its.bots_a_person
        return By(
            self.actor,
            self.scopes,
            began(),
            self.shared,
            *quotas,
            its.hooks != "nobody",
            reader=self.reader,
            organised=self.organised,
        )

    def may(self, scope: Scope) -> bool:
        """Whether it may do what needs this scope."""
        return scope in self.scopes

    def organises(self, competition: Competition) -> bool:
        """Whether it is an organiser, of the site or of this competition."""
        return self.may(Scope.ORGANISE) or competition.id in self.organised

    @property
    def shared(self) -> frozenset[int]:
        """The ids of the bots that it has without being their owner."""
        return self.reader.shared

    def owns(self, bot: Bot) -> bool:
        """Whether a bot is its own, or shared with it."""
        return bot.owner_id == self.id or bot.id in self.shared

    def heads(self, bot: Bot) -> bool:
        """Whether it decides whose a bot is."""
        return bot.person_id == self.id


BEGAN = "arena.began"
"""The key in a request's environment, of a server that has it, of when its first byte came, by
`time.monotonic`; else it began when the application got it."""


def began() -> datetime:
    """When the present request began, by the clock of the database.

    What has a date goes by this moment: a request may take long to come.
    """
    found: datetime | None = g.get("moment")
    if found is None:
        with database().read() as reading:
            now = database_time(reading)
        since = request.environ.setdefault(BEGAN, time.monotonic())
        found = g.moment = now - timedelta(seconds=time.monotonic() - since)
    return found


def account_of(reading: Session, user: User, by: BrowserSession | frozenset[Scope]) -> Account:
    """The account of a user.

    Args:
        by: the session, with which may be done what the role may; or what a token may of that.
    """
    may = SCOPES[user.role]
    if isinstance(by, BrowserSession):
        key, number, began = by.key, by.id, by.created
    else:
        key, number, began, may = "", None, None, may & by
    roles = sight.roles_of(reading, user.id)
    organised = [one for one, role in roles.items() if role is MemberRole.ORGANISER]
    if not (isinstance(by, BrowserSession) or Scope.ORGANISE in by):
        organised = []
    sees_all = Scope.ORGANISE in SCOPES[user.role]
    shared = sharing.shared_with(reading, user.id)
    return Account(
        user.id,
        user.name,
        user.role,
        may,
        key,
        number,
        began,
        user.active,
        user.must_change,
        bool(key) and second_factor.is_lacking(reading, user, settings()),
        Reader(user.id, sees_all, frozenset(roles), shared),
        frozenset(organised),
    )


class _People(UserDatastore):
    """Where the library finds people: read each time, so that what is revoked ends at once."""

    def __init__(self) -> None:
        super().__init__(Account, RoleMixin)  # roles are not the library's here

    def find_user(self, case_insensitive: bool = False, **by: Any) -> Account | None:
        """The account of a session's key; none if a token asks."""
        if bearer() is not None:
            return None
        now = datetime.now(UTC)
        with database().read() as reading:
            found = sessions.find(reading, by["fs_uniquifier"], now)
            if found is None:
                return None
            account = account_of(reading, found.user, found)
        if now - found.last_used >= sessions.USE_NOTED:
            # Where nothing can be written down, pages are shown all the same.
            with suppress(*FAILED), database().begin() as writing:
                sessions.note_use(writing, found.id, now)
        return account


def database() -> Database:
    """The arena's database."""
    found: Database = current_app.extensions["arena.database"]
    return found


def read_database() -> Database:
    """What a request that only reads may be made of: the database, or one that follows it."""
    following = replica()
    if following is None:
        return database()
    g.read_from = following
    return following.database


def settings() -> Settings:
    """The settings that hold now."""
    return watch().now().settings(own_settings())


def own_settings() -> Settings:
    """The settings of this process's environment."""
    found: Settings = current_app.extensions["arena.settings"]
    return found


def bearer() -> str | None:
    """The token that the request shows, if any."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def demand_session() -> None:
    """Keeps programs from what only a person at a browser may do with tokens and passwords."""
    if bearer() is not None:
        abort(403, gettext("A token can't do this: sign in with a browser."))


def demand_token() -> None:
    """Keeps who signed in from doing by the API what their pages ask more for."""
    if bearer() is None:
        abort(403, gettext("The API takes a token for this: do it on your account's page."))


def _of_token(_: object) -> Account | None:
    token = bearer()
    if not token:
        return None
    query = sa.select(ApiToken).where(ApiToken.digest == accounts.digest(token))
    now = datetime.now(UTC)
    with database().read() as reading:
        found = reading.scalar(query.options(joinedload(ApiToken.user)))
        if found is None or not found.user.active:
            return None
        scopes = frozenset(Scope(scope) for scope in found.scopes)
        account = account_of(reading, found.user, scopes)
    if found.last_used is None or now - found.last_used >= accounts.USE_NOTED:
        with database().begin() as writing:
            writing.execute(
                sa.update(ApiToken).where(ApiToken.id == found.id).values(last_used=now)
            )
    return account


def current() -> Account | None:
    """Who asks; None for a reader who is not signed in, and for what is as strangers see it."""
    if has_request_context() and g.get("reads_as_stranger"):
        return None
    user = current_user._get_current_object()
    return user if isinstance(user, Account) else None


def look(reading: Session) -> None:
    """Has a session leave out what who asks does not see.

    Where nothing is hidden from strangers, nobody looks who asks: the answer is for everybody.
    """
    if sight.look(reading, STRANGER).hides and has_request_context():
        g.is_anything_hidden = True
        account = _asker()
        if account is not None:
            sight.look(reading, account.reader)
            g.is_for_who_asks = True


@contextmanager
def as_strangers_see() -> Iterator[None]:
    """Has nobody be known meanwhile: what is read and made is as strangers see it."""
    opened = g.opened_session
    was_accessed, before = opened is not None and opened.accessed, g.get("reads_as_stranger", False)
    g.reads_as_stranger = True
    try:
        yield
    finally:
        g.reads_as_stranger = before
        if opened is not None:
            # By the library of sign-ins, for each template; but nothing here depends on it.
            opened.accessed = was_accessed


def seen_database() -> SeenBy:
    """The arena's database as who asks sees it, for what is read part by part."""
    account = current()
    return SeenBy(read_database(), account.reader if account else STRANGER)


def _asker() -> Account | None:
    """Who asks; a reader without a cookie of ours is not looked for, so that caches for all keep
    what they get."""
    return None if is_stranger() else current()


def is_stranger() -> bool:
    """Whether who asks shows nothing by which they could be somebody."""
    return current_app.config["SESSION_COOKIE_NAME"] not in request.cookies and bearer() is None


def signed_in() -> Account:
    """Who asks, in a view that only signed-in people reach."""
    return current() or abort(401)


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
    account = _asker()
    return account is not None and account.may(Scope.ORGANISE)


def refuse_reading(bot: Bot, words: str) -> NoReturn:
    """Refuses what is a bot's owner's alone: in these words, unless it is a token that lacks it."""
    who = current()
    if who is not None and who.owns(bot):
        words = _scopeless(Scope.READ)
    abort(403 if who else 401, words)


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


def demand_organiser(competition: Competition) -> None:
    """Refuses who is no organiser, neither of the site nor of this competition."""
    account = signed_in()
    if not account.organises(competition):
        abort(403, _lacking(account, Scope.ORGANISE))


def _scopeless(needed: Scope) -> str:
    return gettext("This token has no scope %(scope)s.", scope=needed)


def own_address(address: str | None) -> str | None:
    """An address as a page of this arena; None if it leads anywhere else."""
    local = (address or "").removeprefix(request.host_url.rstrip("/"))
    # Browsers take a backslash for a slash, and no header has a line's end.
    if local.startswith("/") and not ASTRAY.search(local) and validate_redirect_url(local):
        return local
    return None


def keep_to_itself(answer: Answer) -> Answer:
    """Lets no cache keep an answer that is not for everybody."""
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


def before_change(view: F) -> F:
    """Marks a view that is open to who must change the password first."""
    view.before = {"change", "factor"}  # type: ignore[attr-defined]
    return view


def before_factor(view: F) -> F:
    """Marks a view that is open to who must set up a second factor first."""
    view.before = {"factor"}  # type: ignore[attr-defined]
    return view


def begin_session(user: User) -> None:
    """Signs a user in, with a fresh session: nothing of the one before is left."""
    session.clear()
    session.permanent = True
    where, now = request.remote_addr or "", datetime.now(UTC)
    with database().begin() as writing:
        begun = sessions.begin(writing, user, where, request.headers.get("User-Agent", ""), now)
        account = account_of(writing, user, begun)
    login_user(account)
    known = signer("known browser").dumps([user.lower_name, secrets.token_hex(8)])

    @after_this_request
    def keep_known(answer: Response) -> Response:
        answer.set_cookie(
            KNOWN_COOKIE,
            known,
            max_age=KNOWN_LASTS,
            path=url_for("accounts.sign_in"),
            secure=request.is_secure,
            httponly=True,
            samesite="Lax",
        )
        return answer


def known_browser(name: str) -> str | None:
    """What the browser of a request is known by at an account, if it was signed in there before."""
    try:
        its_name, browser = signer("known browser").loads(request.cookies.get(KNOWN_COOKIE, ""))
    except BadData:
        return None
    return str(browser) if its_name == name else None


def signer(use: str) -> URLSafeSerializer:
    """Signs what browsers bring back; what is signed for one use is good for no other."""
    return URLSafeSerializer(str(current_app.secret_key), salt=use)


class _Sessions(SecureCookieSessionInterface):
    """Sessions in a signed cookie, which never travels in the clear once it came over TLS."""

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """The session, kept for `_note_reading`: to ask for it elsewhere is to look at it."""
        opened = super().open_session(app, request)
        g.opened_session = opened
        return opened

    def save_session(self, app: Flask, session: SessionMixin, response: Answered) -> None:
        """Keeps the session; what looked at it may be for this reader alone, so no cache for all
        keeps that, but where a view says that it may.
        """
        session.accessed = session.modified or g.get("session_was_read", True)
        super().save_session(app, session, response)
        if "Cookie" in response.vary and not response.cache_control.public:
            response.cache_control.private = True


def _keep_from_others(response: Answered) -> Answered:
    """Lets no cache for all keep what may be made of what not everybody sees."""
    if g.get("is_for_who_asks"):
        response.cache_control.public = False
        response.cache_control.private = True
        response.vary.update(("Cookie", "Authorization"))
    return response


def _note_reading(response: Answered) -> Answered:
    """Notes whether a session was looked at before the library of sign-ins does: it looks at each,
    for who is to be remembered, and caches would keep every picture once for each reader.
    """
    g.session_was_read = g.opened_session is not None and g.opened_session.accessed
    return response


def install(app: Flask) -> None:
    """Makes an application know who asks, and guards its views."""
    app.config.update(
        SECRET_KEY=secret_key(app.extensions["arena.database"]),
        SESSION_COOKIE_NAME="arena",
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_REFRESH_EACH_REQUEST=False,  # or else pictures that may be kept would set it
        PERMANENT_SESSION_LIFETIME=sessions.LASTS,
        WTF_CSRF_CHECK_DEFAULT=False,  # `guard` asks for it, where there is no token
        WTF_CSRF_TIME_LIMIT=None,  # as long as the session
        SECURITY_PASSWORD_HASH="argon2",  # noqa: S106
        SECURITY_PASSWORD_SCHEMES=["argon2"],
        SECURITY_PASSWORD_SINGLE_HASH=True,  # as arena.people.accounts hashes what it gives out
        SECURITY_PASSWORD_LENGTH_MIN=PASSWORD_LENGTH_MIN,
        SECURITY_CLI_USERS_NAME=None,
        SECURITY_CLI_ROLES_NAME=None,
    )
    app.session_interface = _Sessions()
    csrf.init_app(app)
    security = Security(app, _People(), register_blueprint=False)
    security.login_manager.request_loader(_of_token)
    # They would look up whoever is signed in for every picture, too, and nobody here asks them.
    security.principal.identity_loaders.clear()
    app.after_request(_keep_from_others)
    app.after_request(_note_reading)  # what was registered last is called first
    app.before_request(guard)
    app.context_processor(lambda: {"account": current()})
