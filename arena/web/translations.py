"""The language of a page: the one that its reader chose, or else the browser's own.

Programs that ask the API are answered likewise, by their `Accept-Language`. Pictures are kept by
everybody on the way and speak English.
"""

from __future__ import annotations

from flask import Blueprint, Flask, abort, redirect, request, url_for
from flask_babel import Babel
from jinja2 import Environment
from werkzeug.wrappers import Response

from arena.ground.catalogues import first_spoken, languages, name_of, territory, translation
from arena.web.identity import own_address
from arena.web.unchanging import PICTURES
from engine.translation import ENGLISH, gettext, speak, spoken, translated

translations = Blueprint("translations", __name__)

COOKIE, COOKIE_LASTS = "arena-language", 365 * 24 * 60 * 60
"""The tag of the language that was chosen; how long that is remembered, in seconds."""
SAME_FOR_ALL = PICTURES | {"static"}
"""Endpoints that speak English to everybody."""
IN_WORDS = frozenset(["text/html", "application/atom+xml", "application/problem+json"])
"""What is read by people; all else is data."""


def install(app: Flask) -> None:
    """Has an application speak to each reader in a language of theirs."""
    # What forms and accounts say comes with their libraries, which ask it for the language.
    Babel(app, configure_jinja=False, locale_selector=lambda: territory(spoken().language))
    have_spoken(app.jinja_env)
    app.jinja_env.globals.update(spoken_here=languages, name_of=name_of)
    app.before_request(_speak)
    app.after_request(_tell)
    app.teardown_request(lambda _error: speak(ENGLISH))


def have_spoken(templates: Environment) -> None:
    """Has templates say their texts in the language that is spoken."""
    templates.policies["ext.i18n.trimmed"] = True
    templates.add_extension("jinja2.ext.i18n")
    templates.install_gettext_callables(  # type: ignore[attr-defined]
        _gettext, _ngettext, pgettext=_pgettext, newstyle=True
    )
    templates.globals["spoken"] = spoken
    templates.filters["translated"] = translated


def _gettext(message: str) -> str:
    return spoken().catalogue.gettext(message)


def _ngettext(one: str, many: str, number: int) -> str:
    return spoken().catalogue.ngettext(one, many, number)


def _pgettext(context: str, message: str) -> str:
    return spoken().catalogue.pgettext(context, message)


def _speak() -> None:
    speak(ENGLISH if request.endpoint in SAME_FOR_ALL else translation(_wanted()))


def _wanted() -> str:
    chosen = request.cookies.get(COOKIE, "")
    if chosen in languages():
        return chosen
    return first_spoken(tag for tag, quality in request.accept_languages if quality)


def _tell(response: Response) -> Response:
    if response.mimetype in IN_WORDS:
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
