"""The language of a page: the one that its reader chose, or else the browser's own.

Programs that ask the API are answered likewise, by their `Accept-Language`: of JSON that is for
sentences alone, and keys, names and words of choice are English. What is kept by everybody on the
way speaks the same whoever asks: pictures to share English, and what is drawn for a page the
language that its address names.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Flask, abort, redirect, request, url_for
from flask_babel import Babel
from werkzeug.wrappers import Response

from arena.ground.catalogues import first_spoken, languages, territory, translation
from arena.web import template_texts
from arena.web.identity import own_address
from arena.web.unchanging import PICTURES
from engine.translation import ENGLISH, gettext, speak, spoken

translations = Blueprint("translations", __name__)

COOKIE, COOKIE_LASTS = "arena-language", 365 * 24 * 60 * 60
"""The tag of the language that was chosen; how long that is remembered, in seconds."""
SAME_FOR_ALL = PICTURES | {
    "static",
    "pictures.latest",
    "blocks.picture",
    "blocks.pixels",
    "metrics.scrape",
    "api.openapi",
    "robots",
    "games.game_json",
}
"""Endpoints that speak English to everybody, but for what goes wrong."""
NAMED = "lang"
"""The word by which an address names its language; one that does not is in English."""
DRAWN = frozenset(
    [
        "analyses.picture",
        "games.board",
        "rules.emblem",
        "rules.picture",
        "sittings.board",
        "sittings.picture",
    ]
)
"""Endpoints that speak the language that their address names."""
IN_WORDS = frozenset(
    [
        "text/html",
        "application/atom+xml",
        "application/problem+json",
        "application/json",
        "text/plain",
    ]
)
"""What has sentences for people, if perhaps among data; all else is data alone."""


def install(app: Flask) -> None:
    """Has an application speak to each reader in a language of theirs."""
    # What forms and accounts say comes with their libraries, which ask it for the language.
    Babel(app, configure_jinja=False, locale_selector=lambda: territory(spoken().language))
    template_texts.install(app.jinja_env)
    app.before_request(_speak)
    app.url_defaults(_name_language)
    app.after_request(_tell)
    app.teardown_request(lambda _error: speak(ENGLISH))


def _speak() -> None:
    if request.endpoint in SAME_FOR_ALL:
        speak(ENGLISH)
    elif request.endpoint in DRAWN:
        named = request.args.get(NAMED)
        speak(translation(named) if named in languages() else ENGLISH)
    else:
        speak_to_reader()


def speak_to_reader() -> None:
    """Has the language spoken that whoever asks reads."""
    speak(translation(_wanted()))


def _name_language(endpoint: str, values: dict[str, Any]) -> None:
    if endpoint in DRAWN and spoken() != ENGLISH:
        values[NAMED] = spoken().language


def _wanted() -> str:
    chosen = request.cookies.get(COOKIE, "")
    if chosen in languages():
        return chosen
    return first_spoken(tag for tag, quality in request.accept_languages if quality)


def _tell(response: Response) -> Response:
    # What anybody may keep is the same for all: records of games, and files.
    if response.mimetype in IN_WORDS and not response.cache_control.public:
        response.headers.setdefault("Content-Language", spoken().language)
        # Not by the cookie of who chose: whoever keeps a page asks first whether it still is so,
        # and in another language it has another ETag.
        response.vary.add("Accept-Language")
    return response


@translations.get("/language/<language>")
def choose(language: str) -> Response:
    """Has pages speak a language in this browser, and goes back to the page that was left."""
    if language not in languages():
        abort(404, gettext("No page is in the language %(language)s.", language=language))
    back = own_address(request.args.get("back")) or url_for("front.first_page")
    answer = redirect(back)
    answer.set_cookie(
        COOKIE,
        language,
        max_age=COOKIE_LASTS,
        secure=request.is_secure,
        httponly=True,
        samesite="Lax",
    )
    return answer
