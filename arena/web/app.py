"""The application that serves the pages and the API: what all of them share."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, abort, current_app, request, send_from_directory
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.wrappers import Response

from arena.bots.intake import Intake
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ratings import elo
from arena.web import (
    boards,
    brackets,
    charts,
    errors,
    evaluation_charts,
    forecast_charts,
    identity,
    light,
    limits,
    live_parts,
    lookup,
    markup,
    metrics,
    outage,
    permissions,
    picking,
    present,
    profiles,
    replica,
    repositories,
    score_charts,
    strength_charts,
    teams,
    text_guard,
    translations,
    tuning_charts,
    unchanging,
    validators,
    words,
)
from arena.web.accounts import pages as accounts
from arena.web.administration import administration
from arena.web.analyses import analyses
from arena.web.api import problems
from arena.web.api.blueprint import api
from arena.web.block_pictures import blocks
from arena.web.books import books
from arena.web.bots import bots
from arena.web.bundles import bundles
from arena.web.competitions import FILTERS as ADDRESSES_OF
from arena.web.competitions import competitions
from arena.web.courses import courses
from arena.web.crosstable import pages as crosstables
from arena.web.dates import FILTERS as FILTERS_OF_DATES
from arena.web.dates import GLOBALS as ASKED_OF_DATES
from arena.web.dates import dates
from arena.web.directory import listings
from arena.web.docs import docs
from arena.web.dumps import dumps
from arena.web.editor import editor
from arena.web.explorer import pages as explorer
from arena.web.front import front
from arena.web.game_pages import lists
from arena.web.games import games
from arena.web.gauntlets import gauntlets
from arena.web.kept_films import KeptFilms
from arena.web.ladders import ladders
from arena.web.live import live
from arena.web.mail import mail
from arena.web.match_sets import match_sets
from arena.web.members import members
from arena.web.news import news
from arena.web.notifications import hears_of, unread_here
from arena.web.notifications import pages as notifications
from arena.web.operation import operation
from arena.web.passkeys import passkeys
from arena.web.pictures import pictures
from arena.web.presets import presets
from arena.web.providers import install as install_providers
from arena.web.providers import providers
from arena.web.replays import replays
from arena.web.requests import requests
from arena.web.rules import rules
from arena.web.runtimes import runtimes
from arena.web.safety import safety
from arena.web.second_step import second_step
from arena.web.setting_pages import setting_pages
from arena.web.sittings import pages as sittings
from arena.web.strength import strength
from arena.web.submissions import submissions
from arena.web.tournaments import tournaments
from arena.web.truth import truth
from arena.web.tunings import tunings
from arena.web.undoing import undoing
from arena.web.uploads import FILES, TAKING_FILES, FormRequest, discard_if_due, widen
from arena.web.verdicts import verdicts
from engine.translation import gettext, spoken

BLUEPRINTS = (
    front,
    bots,
    listings,
    profiles.profiles,
    profiles.people,
    teams.pages,
    news,
    notifications,
    games,
    live,
    lists,
    explorer,
    truth,
    sittings,
    analyses,
    docs,
    rules,
    pictures,
    replays,
    competitions,
    members,
    dates,
    tournaments,
    ladders,
    courses,
    crosstables,
    books,
    dumps,
    verdicts,
    requests,
    strength,
    tunings,
    gauntlets,
    blocks,
    presets,
    accounts,
    second_step,
    providers,
    passkeys,
    mail,
    safety,
    administration,
    submissions,
    editor,
    repositories.pages,
    bundles,
    runtimes,
    metrics.metrics,
    operation,
    setting_pages,
    match_sets,
    undoing,
    translations.translations,
    api,
)
FILTERS = (
    ADDRESSES_OF
    | FILTERS_OF_DATES
    | boards.FILTERS
    | brackets.FILTERS
    | charts.FILTERS
    | tuning_charts.FILTERS
    | evaluation_charts.FILTERS
    | forecast_charts.FILTERS
    | strength_charts.FILTERS
    | score_charts.FILTERS
    | markup.FILTERS
    | profiles.FILTERS
    | words.FILTERS
)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
FRAMED = frozenset(["pictures.embed"])
"""What pages elsewhere may show in a frame: nobody can be made to click on anything there."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    # Pages tell what is so now; whoever kept one asks first whether it still is.
    "Cache-Control": "no-cache",
}
ROBOTS = """\
User-agent: *
Allow: /static/
Allow: /latest.png
Allow: /games/*.png$
Allow: /games/*.png?v=
Disallow: /*?
Disallow: /*.csv$
Disallow: /*.gif$
Disallow: /*.json$
Disallow: /*.pgn$
Disallow: /*.tar$
Disallow: /analysis
Disallow: /api/
Disallow: /dumps/
Disallow: /explorer/
Disallow: /games/*/
Disallow: /games/*.txt$
Disallow: /feeds/
Disallow: /language/
Disallow: /matches/*/
Disallow: /replay
Disallow: /unsubscribe/
"""
"""What crawlers are to leave alone: filters, exports, and what is made anew for each reader, such
as every position of every game; a preview of a page that is shared they may fetch. Of two lines
that fit the longer one counts (RFC 9309)."""
CHALLENGE = 'Bearer realm="arena"'
"""What is asked for where who asks is not known: each 401 has to say it (RFC 9110)."""
OWN_NAMES = ("localhost", "127.0.0.1", "::1")
"""The names by which a machine asks itself."""
CONTACT_LASTS = timedelta(days=180)
LASTING = f"public, max-age={365 * 24 * 60 * 60}, immutable"
PLAIN = (str, int, type(None))
ADDRESSES = 10_000
"""How many addresses are remembered rather than made anew."""
ICON_SECONDS = 24 * 60 * 60


def _remembered(app: Flask) -> Callable[..., str]:
    """The application's `url_for` for templates: a page has a hundred addresses, mostly known."""

    @lru_cache(ADDRESSES)
    def address(_root: str, _language: str, endpoint: str, *values: tuple[str, Any]) -> str:
        return app.url_for(endpoint, **dict(values))

    def url_for(endpoint: str, **values: Any) -> str:
        # By its name the visitor knows us; and what is no word or number may be changed.
        if "_external" in values or not all(isinstance(v, PLAIN) for v in values.values()):
            return app.url_for(endpoint, **values)
        return address(request.script_root, spoken().language, endpoint, *values.items())

    return url_for


def _refuse_what_is_no_form() -> None:
    """Refuses what no form of a page sends; the API has its shapes.

    The forms' library reads JSON as well, and a file in the place of a text: values that are no
    texts, which no field expects, and a name to sign in with that `limits` would not count.
    """
    if request.method != "POST" or problems.are_wanted():
        return
    if request.is_json:
        abort(415, gettext("A page takes forms: what takes JSON is the API."))
    if set(request.files) - (FILES if request.endpoint in TAKING_FILES else set()):
        abort(400, gettext("There is a file in the place of a text."))


def _refuse_other_names() -> None:
    """Refuses who asks by a name that is none of ours: a page elsewhere can have its own name lead
    here, and would read with the browser of whoever looks at it what only that may reach.
    """
    asked = urlsplit(f"//{request.host}").hostname or ""
    named = [name for name in identity.settings().hosts.lower().split(",") if name]
    ours = asked in (*OWN_NAMES, *named) or any(
        name.startswith(".") and asked.endswith(name) for name in named
    )
    if named and not ours:
        host = request.host[:80]
        abort(421, gettext("%(host)r is none of the names of this arena (ARENA_HOSTS).", host=host))


def create_app(settings: Settings, intake: Intake | None = None) -> Flask:
    """The application of these settings.

    Args:
        intake: what takes uploaded bots in; without it the pages take none.
    """
    app = Flask(__name__)
    app.request_class = FormRequest
    app.config["MAX_CONTENT_LENGTH"] = 300_000
    app.extensions["arena.database"] = Database(
        settings.database_url,
        patience_seconds=outage.PATIENCE_SECONDS,
        cold=settings.cold_store,
    )
    app.extensions["arena.settings"] = settings
    app.extensions["arena.bots.intake"] = intake
    app.extensions["arena.films"] = KeptFilms(
        settings.films, most_bytes=int(settings.films_mib * 2**20)
    )
    live_parts.install(app)
    if settings.proxies:
        trusted = settings.proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=trusted, x_proto=trusted)  # type: ignore[method-assign]
    light.install(app)
    validators.install(app)
    translations.install(app)
    app.before_request(_refuse_other_names)
    app.before_request(widen)
    app.after_request(discard_if_due)
    present.install(app, app.extensions["arena.database"])
    replica.install(app, settings)
    app.before_request(repositories.keep_body)
    metrics.install(app)
    identity.install(app)
    permissions.install(app)
    app.before_request(_refuse_what_is_no_form)
    text_guard.install(app)
    app.url_map.converters["int"] = lookup.Number
    app.jinja_env.filters |= FILTERS
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    app.jinja_env.globals |= ASKED_OF_DATES
    app.jinja_env.globals.update(
        url_for=_remembered(app),
        may_read=permissions.may_read,
        told_reason=permissions.told_reason,
        may_follow=permissions.may_follow,
        may_know_workers=permissions.may_know_workers,
        notice=lookup.notice,
        unread_here=unread_here,
        hears_of=hears_of,
        offered=picking.offered,
        people_play=lambda: identity.settings().play != "nobody",
        has_dumps=bool(settings.dumps),
        log_days=lambda: identity.settings().log_days,
        FEWEST_GAMES=elo.FEWEST_GAMES,
        TOO_FEW=elo.TOO_FEW,
    )
    install_providers(app)
    limits.install(app, settings)
    outage.install(app)
    errors.install(app)
    app.add_url_rule("/healthz", view_func=healthz)
    app.add_url_rule("/favicon.ico", view_func=favicon)
    app.add_url_rule("/.well-known/security.txt", view_func=security_txt)
    app.add_url_rule("/robots.txt", view_func=robots)
    app.url_defaults(_name_version)
    app.after_request(_complete)
    return app


def healthz() -> tuple[str, dict[str, str]]:
    """Answers that this process serves pages."""
    return "ok\n", {"Content-Type": "text/plain"}


def favicon() -> Response:
    """Browsers ask for it where nothing names an icon: with JSON, text, and pictures."""
    return send_from_directory(_static(), "icon.svg", max_age=ICON_SECONDS)


def robots() -> tuple[str, dict[str, str]]:
    """What crawlers may fetch (RFC 9309)."""
    return ROBOTS, {"Content-Type": "text/plain; charset=utf-8"}


def security_txt() -> tuple[str, dict[str, str]]:
    """Whom to tell of a security hole (RFC 9116)."""
    contact = identity.settings().contact
    if not contact:
        abort(404, gettext("This arena names nobody to tell of security holes."))
    # The RFC wants a date by which somebody looks at it again.
    expires = (datetime.now(UTC) + CONTACT_LASTS).replace(microsecond=0)
    text = f"Contact: {contact}\nExpires: {expires:%Y-%m-%dT%H:%M:%SZ}\n"
    return text, {"Content-Type": "text/plain; charset=utf-8"}


def _static() -> Path:
    return Path(current_app.static_folder or "")


def _name_version(endpoint: str, values: dict[str, Any]) -> None:
    """Static files and pictures are kept for long, so a changed one gets another address."""
    if endpoint == "static":
        values["v"] = _digest(_static() / values["filename"])
    elif endpoint in unchanging.PICTURES:
        values["v"] = unchanging.edition()


def _complete(response: Response) -> Response:
    if request.endpoint == "static" and response.status_code == 200:
        # By another address than that of its content, as while two releases serve, it is not kept.
        its = _digest(_static() / (request.view_args or {})["filename"])
        known = request.args.get("v") == its
        response.headers["Cache-Control"] = LASTING if known else HEADERS["Cache-Control"]
    if request.endpoint in FRAMED:
        framed = POLICY.replace("frame-ancestors 'self'", "frame-ancestors *")
        response.headers["Content-Security-Policy"] = framed
    if response.status_code == 401:
        # Browsers show no dialogue for this one.
        response.headers["WWW-Authenticate"] = CHALLENGE
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
