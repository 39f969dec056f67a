"""Signing in by a provider: OpenID Connect, and GitHub by OAuth 2.

Authlib speaks with the provider: state, nonce and PKCE are its, kept in the session's cookie. What
it proves of the ID token is completed here: the issuer is the one of the settings, the audience is
this arena, and the signature is one that nobody makes with a shared secret, or with none.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple, NoReturn

from flask import (
    Blueprint,
    Flask,
    abort,
    current_app,
    flash,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from sqlalchemy.exc import IntegrityError
from werkzeug.wrappers import Response

from arena.audit import Actor
from arena.models import Identity, LinkKind, Role, Scope, User
from arena.people import account_notifications, accounts, identities
from arena.people.accounts import PeopleError
from arena.people.providers import Provider, load
from arena.web.deeds import REFUSED, asked_first, is_meant
from arena.web.entering import let_in, next_page, recently
from arena.web.forms import NameForm
from arena.web.identity import current, database, keep_to_itself, settings, signed_in
from arena.web.permissions import anybody, needs
from arena.web.words import sentence
from engine.translation import gettext

log = logging.getLogger(__name__)

providers = Blueprint("providers", __name__)

providers.after_request(keep_to_itself)

ASKED_SECONDS, REST_SECONDS = 5, 30
"""How long a provider is waited for, and for how long it is not asked again that did not answer:
each who waits for one that is away holds up a thread of the pages.
"""
SIGNATURES = frozenset(
    {f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)}
    | {"EdDSA", "Ed25519"}
)
"""Those of keys in pairs, of which the provider alone has one half."""
BEGUN = 3
"""How many sign-ins that are not over a browser has, in as many tabs; their cookie has bounds."""
NEWCOMER, NEWCOMER_SECONDS = "newcomer", 3600
GITHUB_API = {"https://github.com": "https://api.github.com"}
ERROR = re.compile(r"[a-z_]{1,40}", re.ASCII)


class ShownIdentity(NamedTuple):
    """Whom a provider has shown somebody to be."""

    subject: str
    """What it names them by, and never anybody else."""
    label: str
    """What it calls them."""


def install(app: Flask) -> None:
    """Makes the providers of the settings known to an application.

    Raises:
        SettingError: they can't be used.
    """
    found = load(app.extensions["arena.settings"])
    app.extensions["arena.providers"] = found
    app.extensions["arena.providers.away"] = {}
    app.jinja_env.globals.update(providers=list(found.values()), who_may_come=who_may_come)
    if found:
        from authlib.integrations.flask_client import OAuth

        app.extensions["arena.oauth"] = oauth = OAuth(app)
        for provider in found.values():
            _register(oauth, provider)


def _register(oauth: Any, provider: Provider) -> None:
    known: dict[str, Any] = {
        "client_id": provider.client_id,
        "client_secret": provider.client_secret,
        "client_kwargs": {"code_challenge_method": "S256", "default_timeout": ASKED_SECONDS},
    }
    if provider.kind == "github":
        known["authorize_url"] = f"{provider.issuer}/login/oauth/authorize"
        known["access_token_url"] = f"{provider.issuer}/login/oauth/access_token"
    else:
        known["server_metadata_url"] = (
            f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration"
        )
        known["client_kwargs"]["scope"] = "openid profile"
    oauth.register(provider.name, **known)


def known_providers() -> dict[str, Provider]:
    """The providers by which people sign in, by their names."""
    found: dict[str, Provider] = current_app.extensions["arena.providers"]
    return found


def who_may_come(provider: Provider) -> str:
    """Who may make an account by a provider: open, invitation or closed."""
    return provider.accounts or settings().registration


def _find(name: str) -> Provider:
    return known_providers().get(name) or abort(
        404, gettext("Nobody signs in by %(name)s here.", name=name[:40])
    )


def _away() -> dict[str, float]:
    """The moments until which providers are not asked again, by their names."""
    found: dict[str, float] = current_app.extensions["arena.providers.away"]
    return found


def _client(provider: Provider) -> Any:
    """What speaks with a provider, once it has told where everything is."""
    client = current_app.extensions["arena.oauth"].create_client(provider.name)
    if provider.kind != "github":
        told = client.load_server_metadata()
        offered = told.get("id_token_signing_alg_values_supported") or ["RS256"]
        trusted = [one for one in offered if one in SIGNATURES]
        if told.get("issuer") != provider.issuer or not trusted:
            told.pop("_loaded_at", None)  # it is asked anew the next time
            raise ValueError(f"it says that it is {told.get('issuer')!r}, and signs by {offered}")
        told["id_token_signing_alg_values_supported"] = trusted
    return client


def _tell_silent(provider: Provider) -> NoReturn:
    words = gettext(
        "%(title)s does not answer as it should: try again later, or sign in by something else.",
        title=provider.title,
    )
    abort(502, words)


@contextmanager
def _told_clearly(provider: Provider) -> Iterator[None]:
    """Turns whatever goes wrong between arena and provider into one clear line."""
    from authlib.integrations.base_client import MismatchingStateError, OAuthError
    from joserfc.errors import JoseError
    from requests import ConnectionError, RequestException, Timeout

    if _away().get(provider.name, 0.0) > time.monotonic():
        _tell_silent(provider)
    try:
        yield
    except MismatchingStateError:
        words = gettext(
            "This sign-in by %(title)s was not begun in this browser, is over, or is too old: "
            "begin it again.",
            title=provider.title,
        )
        abort(400, words)
    except RequestException as error:
        log.warning("sign-in by %s failed: %r", provider.name, error)
        if isinstance(error, (ConnectionError, Timeout)):
            _away()[provider.name] = time.monotonic() + REST_SECONDS
        _tell_silent(provider)
    # What a provider answers may be of any shape.
    except (OAuthError, JoseError, ValueError, KeyError, TypeError, RuntimeError) as error:
        log.warning("sign-in by %s failed: %r", provider.name, error)
        words = gettext(
            "What %(title)s says of you can't be trusted, so nobody was signed in: begin again, "
            "and tell whoever runs this arena if it stays so.",
            title=provider.title,
        )
        abort(502, words)


def _begin(provider: Provider, wanted: dict[str, Any]) -> str:
    """Begins a sign-in by a provider.

    Args:
        wanted: what it is for, which stays with this browser.

    Returns:
        the provider's address to go on at.
    """
    back = url_for("providers.back", name=provider.name, _external=True)
    with _told_clearly(provider):
        client = _client(provider)
        begun = client.create_authorization_url(back)
        address = str(begun.pop("url"))
        if not address.startswith(("https://", "http://")):
            raise ValueError(f"it leads to {address[:80]!r}")
        before = [key for key in session if key.startswith("_state_")]
        for key in sorted(before, key=lambda key: session[key]["exp"])[: 1 - BEGUN]:
            session.pop(key)
        client.save_authorize_data(redirect_uri=back, wanted=wanted, **begun)
    return address


@providers.get("/sign-in/with/<name>")
def begin(name: str) -> Any:
    """Leads to a provider, to sign in there."""
    provider = _find(name)
    there = request.args.get("next", "")
    if current() is not None:
        return redirect(next_page(there))
    invitation = request.args.get("invitation", "")[:100]
    return redirect(_begin(provider, {"next": there[:500], "invitation": invitation}))


@providers.get("/sign-in/with/<name>/back")
def back(name: str) -> Any:
    """Takes in whom a provider has shown somebody to be."""
    provider = _find(name)
    refused = request.args.get("error")
    if refused is not None:
        why = refused if ERROR.fullmatch(refused) else "error"
        abort(
            403,
            gettext("%(title)s let nobody in (%(why)s).", title=provider.title, why=why),
        )
    with _told_clearly(provider):
        client = _client(provider)
        begun = client.framework.get_state_data(session, request.args.get("state")) or {}
        shown = _shown(provider, client)
    wanted = begun.get("wanted", {})
    if "link" in wanted:
        return _link(provider, shown, wanted["link"])
    now = datetime.now(UTC)
    with database().begin() as writing:
        found = identities.find(writing, provider.issuer, shown.subject)
        if found is not None:
            found.last_used, found.label = now, shown.label
            user = found.user
    if found is not None:
        return let_in(user, provider.name, wanted.get("next", ""))
    return _come_in(provider, shown, wanted)


def _shown(provider: Provider, client: Any) -> ShownIdentity:
    """Whom a provider has shown somebody to be, by the code that this request brings.

    Raises:
        ValueError: it does not say it; and whatever Authlib, joserfc and requests raise.
    """
    if provider.kind == "github":
        token = client.authorize_access_token()
        api = GITHUB_API.get(provider.issuer, f"{provider.issuer}/api/v3")
        answer = client.get(f"{api}/user", token=token)
        answer.raise_for_status()
        told = answer.json()
        subject, label = told["id"], told.get("login")
        if not isinstance(subject, int) or isinstance(subject, bool):
            raise ValueError("it tells no number of the user")
    else:
        audience = {"essential": True, "value": provider.client_id}
        issuer = {"essential": True, "value": provider.issuer}
        token = client.authorize_access_token(
            claims_options={"iss": issuer, "aud": audience}, leeway=60
        )
        told = token.get("userinfo")
        if told is None:
            raise ValueError("it sends no ID token")
        subject, label = told["sub"], told.get("preferred_username") or told.get("name")
        if not isinstance(subject, str):
            raise ValueError("it tells no subject")
    subject = str(subject)
    if not 0 < len(subject) <= identities.LONGEST_SUBJECT:
        raise ValueError("it tells a subject of no or too many characters")
    printable = "".join(sign for sign in str(label or subject) if sign.isprintable())
    return ShownIdentity(subject, printable[: identities.LONGEST_LABEL] or subject)


# Somebody whom nobody knows here.


def _come_in(provider: Provider, shown: ShownIdentity, wanted: dict[str, Any]) -> Response:
    invitation = wanted.get("invitation", "")
    how = who_may_come(provider)
    if how != "open" and not invitation:
        words = gettext(
            "Nobody here signs in by %(label)s at %(title)s. If you have an account, sign in by "
            "your password and link the two on the page Sign-in and safety.",
            label=shown.label,
            title=provider.title,
        )
        if how == "invitation":
            more = gettext("New accounts are by invitation.")
            words = f"{words} {more}"
        abort(403, words)
    session[NEWCOMER] = {
        "provider": provider.name,
        "subject": shown.subject,
        "label": shown.label,
        "invitation": invitation,
        "next": wanted.get("next", ""),
        "until": int(time.time()) + NEWCOMER_SECONDS,
    }
    return redirect(url_for("providers.register"))


@providers.route("/register/with", methods=["GET", "POST"])
@anybody
def register() -> Any:
    """Makes an account for who was shown by a provider and is not known here."""
    newcomer = session.get(NEWCOMER)
    provider = known_providers().get(newcomer["provider"]) if newcomer else None
    if newcomer is None or provider is None or newcomer["until"] < time.time():
        session.pop(NEWCOMER, None)
        return redirect(url_for("accounts.sign_in"))
    form, now = NameForm(), datetime.now(UTC)
    if request.method == "GET":
        form.name.data = re.sub(r"[^A-Za-z0-9_.-]+|^[_.-]+", "", newcomer["label"])[:40]
    if form.validate_on_submit():
        try:
            with database().begin() as writing:
                role = Role.PARTICIPANT
                if newcomer["invitation"]:
                    kind = LinkKind.INVITATION
                    role = accounts.use_link(writing, kind, newcomer["invitation"], now).role
                by = Actor(None, form.name.data, request.remote_addr or "")
                user = accounts.add(writing, by, form.name.data, role=role, now=now)
                identities.link(
                    writing,
                    Actor(user.id, user.name, by.origin),
                    user,
                    provider.issuer,
                    newcomer["subject"],
                    newcomer["label"],
                    now,
                )
        except PeopleError as error:
            form.name.errors = [sentence(error)]
        except IntegrityError:
            form.name.errors = [
                gettext("The name %(name)s is taken: choose another.", name=form.name.data)
            ]
        else:
            return let_in(user, provider.name, newcomer["next"] or url_for("submissions.submit"))
    page = render_template(
        "register_with.html", form=form, label=newcomer["label"], title=provider.title
    )
    return page, REFUSED if form.errors else 200


# Linking.


@providers.post("/account/identities/<name>/link")
@needs(Scope.READ)
@recently
def link(name: str) -> Any:
    """Leads to a provider, for an account that it is to let in from then on.

    A form alone begins it, and no address: else a page elsewhere could link to a visitor's account
    the identity of somebody else, with whom it signed the visitor in at the provider. The answer
    is a page, since a form may not lead elsewhere (Content-Security-Policy).
    """
    provider = _find(name)
    address = _begin(provider, {"link": signed_in().id})
    return render_template("going_on.html", address=address, title=provider.title)


def _link(provider: Provider, shown: ShownIdentity, user_id: int) -> Response:
    account = current()
    if account is None or account.id != user_id:
        abort(403, gettext("Somebody else is signed in here by now, so nothing was linked."))
    try:
        with database().begin() as writing:
            user = writing.get_one(User, user_id)
            now = datetime.now(UTC)
            identities.link(
                writing, account.actor, user, provider.issuer, shown.subject, shown.label, now
            )
            what = f"{shown.label} at {provider.issuer}"
            account_notifications.tell(writing, user, account_notifications.LINKED, now, what=what)
    except PeopleError as error:
        abort(409, sentence(error))
    flash(
        gettext("%(label)s at %(title)s lets you in now.", label=shown.label, title=provider.title)
    )
    return redirect(url_for("safety.overview"))


@providers.post("/account/identities/<int:number>/unlink")
@needs(Scope.READ)
@recently
def unlink(number: int) -> Any:
    """Has an identity let in its account no more."""
    who = signed_in()
    issuers = {one.issuer for one in known_providers().values()}
    try:
        with database().begin() as writing:
            identity = writing.get(Identity, number)
            if identity is None or identity.user_id != who.id:
                abort(404, gettext("There is no such identity of yours."))
            label = identity.label
            user = writing.get_one(User, who.id)
            identities.unlink(writing, who.actor, user, identity, issuers, datetime.now(UTC))
            if not is_meant():
                writing.rollback()
                return asked_first(gettext("%(label)s lets you in no more then.", label=label))
    except PeopleError as error:
        abort(409, sentence(error))
    flash(gettext("%(label)s lets you in no more.", label=label))
    return redirect(url_for("safety.overview"))
