"""What is said where something went wrong: a page of its own, or JSON to who asked the API."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, redirect, render_template, request, url_for
from werkzeug.exceptions import (
    Conflict,
    Forbidden,
    HTTPException,
    InternalServerError,
    NotFound,
    RequestEntityTooLarge,
    ServiceUnavailable,
    Unauthorized,
    UnprocessableEntity,
)
from werkzeug.wrappers import Response

from arena.ground.refusals import NotAllowed, NotThere, Refusal, UnderMaintenance, WrongField
from arena.keeping.reading import RecordAway
from arena.web import identity, outage, permissions, present, translations
from arena.web.api import problems
from arena.web.forms import SECRET
from arena.web.uploads import UPLOADS, allowed
from arena.web.words import sentence
from engine.faulty_rules import fault_of
from engine.games import GAMES
from engine.translation import N_, gettext, translated

WORDS = {
    401: N_("This needs an account: sign in and do it again, or send a token."),
    400: N_("This was sent in a way that can't be read, or lacks a part: go back and try again."),
    404: N_("There is nothing at this address."),
    405: N_("This can't be asked of this address in this way."),
    500: N_("This failed by a fault of the arena, whose log says why: tell whoever runs it."),
}
"""What is said of an error of which nobody knows more."""

NAMES = (
    N_("Bad Request"),
    N_("Unauthorized"),
    N_("Forbidden"),
    N_("Not Found"),
    N_("Method Not Allowed"),
    N_("Conflict"),
    N_("Request Entity Too Large"),
    N_("Unsupported Media Type"),
    N_("Misdirected Request"),
    N_("Unprocessable Entity"),
    N_("Too Many Requests"),
    N_("Internal Server Error"),
    N_("Not Implemented"),
    N_("Service Unavailable"),
)
"""What the library calls the errors that pages are answered with."""

STATUSES: Mapping[type[Refusal], Callable[[str], HTTPException]] = {
    WrongField: UnprocessableEntity,
    NotThere: NotFound,
    NotAllowed: Forbidden,
    UnderMaintenance: partial(ServiceUnavailable, retry_after=present.RETRY_SECONDS),
    RecordAway: ServiceUnavailable,
    Refusal: Conflict,
}
"""How refusals are answered, the narrowest first."""

RULES_FAILED = N_(
    "The rules of the game %(game)s (%(rules)s) failed, so this can't be shown. Whoever runs this "
    "arena should look at them: its log says in which line that was."
)

NOT_SHOWN = SECRET | {"csrf_token", "next", "invitation", "form", "key"}
"""Fields that nobody types, or that are nobody's to read."""

log = logging.getLogger("arena.web")


def install(app: Flask) -> None:
    """Has an application answer errors so."""
    for kind, answer in ANSWERS.items():
        app.register_error_handler(kind, _to_its_reader(answer))


def _to_its_reader(answer: Callable[[Any], Response]) -> Callable[[Any], Response]:
    """Has an error answered to whoever asks, even where what they asked for is alike for all."""

    def said(error: Any) -> Response:
        translations.speak_to_reader()
        return answer(error)

    return said


def _ask_to_sign_in(error: Unauthorized) -> Response:
    reads = request.method in ("GET", "HEAD")
    if reads and identity.bearer() is None and not problems.are_wanted():
        if "HX-Request" not in request.headers:
            there = request.full_path.rstrip("?")
            return redirect(url_for("accounts.sign_in", next=there))
        # A part of a page that renews itself: not the part goes to sign in, but the page.
        answer = _explain(error)
        there = urlsplit(request.headers.get("HX-Current-URL", "")).path
        answer.headers["HX-Redirect"] = url_for("accounts.sign_in", next=there)
        return answer
    return _explain(error)


def _say_how_large(_: RequestEntityTooLarge) -> Response:
    if request.endpoint in UPLOADS:
        words = allowed()
    else:
        largest = f"{(request.max_content_length or 0) / 1e6:.1f}"
        words = gettext("This is too large: %(largest)s MB are allowed.", largest=largest)
    return _explain(RequestEntityTooLarge(words))


def _refuse(refusal: Refusal) -> Response:
    status = next(status for kind, status in STATUSES.items() if isinstance(refusal, kind))
    return _explain(status(sentence(refusal)))


def _own_up(error: InternalServerError) -> Response:
    """Says so where it was a game's rules that failed, which may be a stranger's."""
    fault = fault_of(error.original_exception) if error.original_exception else None
    if fault:
        log.error("a page failed: %s", fault)
        error.description = gettext(RULES_FAILED, game=fault.game, rules=GAMES.whose(fault.game))
    return _explain(error)


def _typed() -> list[tuple[str, str]]:
    """What somebody filled in, when it could not be taken: they were signed out, or can't now."""
    if request.method != "POST" or request.headers.get("Sec-Fetch-Site") not in (
        None,
        "same-origin",
    ):
        return []
    try:
        fields = [*request.form.items(multi=True)]
    except RequestEntityTooLarge:
        return []
    return [(name, text) for name, text in fields if text.strip() and name not in NOT_SHOWN]


def _explain(error: HTTPException) -> Response:
    if error.code in WORDS and error.description == type(error).description:
        error.description = translated(WORDS[error.code])
    if problems.are_wanted():
        return problems.of(error)
    answer = error.get_response()
    try:
        typed = (
            _typed()
            if error.code in (401, 503) or error.description == translated(permissions.TOO_OLD)
            else []
        )
        answer.set_data(render_template("error.html", error=error, typed=typed))
    except outage.OUTAGES as failed:
        return outage.answer(failed)
    answer.mimetype = "text/html"
    return answer


ANSWERS: dict[type[Exception], Callable[[Any], Response]] = {
    Unauthorized: _ask_to_sign_in,
    RequestEntityTooLarge: _say_how_large,
    InternalServerError: _own_up,
    HTTPException: _explain,
    Refusal: _refuse,
}
"""The functions that answer each kind of error."""
