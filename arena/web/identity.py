"""Who asks: a person by a session, or a program by a token.

`current` gives the one account of a request, whichever way it came; with a token in the request
its cookies count for nothing. What it may do is `arena.web.permissions`.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import sqlalchemy as sa
from flask import (
    Flask,
    Request,
    abort,
    after_this_request,
    current_app,
    g,
    has_request_context,
    request,
    session,
    url_for,
)
from flask import Response as Answered
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from flask_login import current_user
from flask_security import RoleMixin, Security, UserDatastore, UserMixin, login_user
from flask_security.utils import validate_redirect_url
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

Answer = TypeVar("Answer", bound=Response)

PASSWORD_LENGTH_MIN = 10
ASTRAY = re.compile(r"[\\\0-\x1f]")
KNOWN_COOKIE, KNOWN_LASTS = "arena-known", timedelta(days=365)


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
        account = asker()
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


def asker() -> Account | None:
    """Who asks; a reader without a cookie of ours is not looked for, so that caches for all keep
    what they get."""
    return None if is_stranger() else current()


def is_stranger() -> bool:
    """Whether who asks shows nothing by which they could be somebody."""
    return current_app.config["SESSION_COOKIE_NAME"] not in request.cookies and bearer() is None


def signed_in() -> Account:
    """Who asks, in a view that only signed-in people reach."""
    return current() or abort(401)


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
    """Makes an application know who asks."""
    app.config.update(
        SECRET_KEY=secret_key(app.extensions["arena.database"]),
        SESSION_COOKIE_NAME="arena",
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_REFRESH_EACH_REQUEST=False,  # or else pictures that may be kept would set it
        PERMANENT_SESSION_LIFETIME=sessions.LASTS,
        SECURITY_PASSWORD_HASH="argon2",  # noqa: S106
        SECURITY_PASSWORD_SCHEMES=["argon2"],
        SECURITY_PASSWORD_SINGLE_HASH=True,  # as arena.people.accounts hashes what it gives out
        SECURITY_PASSWORD_LENGTH_MIN=PASSWORD_LENGTH_MIN,
        SECURITY_CLI_USERS_NAME=None,
        SECURITY_CLI_ROLES_NAME=None,
    )
    app.session_interface = _Sessions()
    security = Security(app, _People(), register_blueprint=False)
    security.login_manager.request_loader(_of_token)
    # They would look up whoever is signed in for every picture, too, and nobody here asks them.
    security.principal.identity_loaders.clear()
    app.after_request(_keep_from_others)
    app.after_request(_note_reading)  # what was registered last is called first
    app.context_processor(lambda: {"account": current()})
