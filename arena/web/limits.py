"""How often something may be tried, counted in the broker, for all servers together.

What fails counts against the account and the address; each has to wait once there were too many.
A browser in which somebody signed in to an account before has tries of its own there, so that
nobody is kept out by who fails on purpose, from elsewhere or from the same address.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from typing import Any

from flask import Flask, Response, request
from flask_limiter import Limiter, RequestLimit
from flask_limiter.errors import RateLimitExceeded
from werkzeug.exceptions import TooManyRequests

from arena.ground.config import Settings
from arena.people.accounts import typed
from arena.web.entering import half_in
from arena.web.identity import current, known_browser
from engine.plurals import counted
from engine.translation import N_, gettext, ngettext

NETWORK_BITS = 64
"""How much of an IPv6 address names the network."""


def address() -> str:
    """Where a request is from: of IPv6 the network, for anybody has all the addresses of one."""
    text = request.remote_addr or "nowhere"
    try:
        known = IPv6Address(text)
    except ValueError:
        return text
    return str(known.ipv4_mapped or IPv6Network((int(known), NETWORK_BITS), strict=False))


def _name() -> str:
    """The account that somebody wants into."""
    return typed(request.form.get("name", "")).lower()[:100]


def _wanted() -> str:
    """The account that somebody wants into, and the browser if it was there before."""
    return f"{_name()} {known_browser(_name()) or ''}"


def _stranger() -> str:
    """The address of who wants into an account, or the browser, if it was there before."""
    return known_browser(_name()) or address()


def _account() -> str:
    account = current()
    return str(account.id) if account else address()


def _half() -> str:
    """The account that somebody has shown one factor of, and the browser if it was there before."""
    half = half_in() or {"user": 0}
    return f"{half['user']} {known_browser(half.get('name', '')) or ''}"


def _bot_at_home() -> str:
    return f"{_account()} {request.args.get('version', type=int)}"


def _failed(response: Response) -> bool:
    return response.status_code >= 400


def _refused(response: Response) -> bool:
    return response.status_code == 403


def _done(response: Response) -> bool:
    return response.status_code < 400


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How often a view may be posted to."""

    often: str
    key: Callable[[], str]
    words: str
    """What is said of it: that there was too much, and how long to wait."""
    counts: Callable[[Response], bool] | None = None
    """Tells by the answer which tries count; None for all."""


WRITING = {"POST", "PATCH"}
CHANGES = [RateLimit("600 per hour", _account, N_("There were too many changes: wait %(time)s."))]
"""The limit of undoing, and of each operation of the API that changes something without another."""

BEGUN = [
    RateLimit("60 per hour", _account, N_("There were too many new games: wait %(time)s."), _done)
]
MOVES = [RateLimit("120 per minute", _account, N_("There were too many moves: wait %(time)s."))]
TAKEN_BACK = [
    RateLimit(
        "120 per minute", _account, N_("There were too many moves taken back: wait %(time)s.")
    )
]
UPLOADS = [RateLimit("60 per hour", _account, N_("There were too many uploads: wait %(time)s."))]
"""The limit to what both pages and the API take; each of the two counts by itself."""

JOINED = [
    RateLimit(
        "20 per hour",
        _account,
        N_("There were too many codes that join nothing: wait %(time)s."),
        _failed,
    )
]

LIMITS = {
    "accounts.sign_in": [
        RateLimit(
            "10 per 15 minutes",
            _wanted,
            N_("There were too many failed sign-ins to this account: wait %(time)s."),
            _failed,
        ),
        RateLimit(
            "30 per 15 minutes",
            _stranger,
            N_("There were too many failed sign-ins from your address: wait %(time)s."),
            _failed,
        ),
    ],
    "second_step.second_factor": [
        RateLimit(
            "10 per 15 minutes",
            _half,
            N_("There were too many wrong codes for this account: wait %(time)s."),
            _failed,
        ),
        RateLimit(
            "50 per day",
            _half,
            N_("There were too many wrong codes for this account: wait %(time)s."),
            _failed,
        ),
    ],
    "mail.change": [
        RateLimit("5 per hour", _account, N_("There were too many letters: wait %(time)s."), _done)
    ],
    "mail.forgotten": [
        RateLimit(
            "10 per hour",
            address,
            N_("There were too many tries from your address: wait %(time)s."),
        )
    ],
    "passkeys.sign_in": [
        RateLimit(
            "30 per 15 minutes",
            address,
            N_("There were too many failed sign-ins from your address: wait %(time)s."),
            _failed,
        )
    ],
    "passkeys.make": [
        RateLimit(
            "20 per 15 minutes", _account, N_("There were too many tries: wait %(time)s."), _failed
        )
    ],
    "providers.register": [
        RateLimit(
            "20 per hour",
            address,
            N_("There were too many tries from your address: wait %(time)s."),
        )
    ],
    "safety.app": [
        RateLimit(
            "20 per 15 minutes", _account, N_("There were too many tries: wait %(time)s."), _failed
        )
    ],
    "accounts.register": [
        RateLimit(
            "20 per hour",
            address,
            N_("There were too many failed registrations from your address: wait %(time)s."),
            _failed,
        ),
        RateLimit(
            "10 per day",
            address,
            N_("There were too many new accounts from your address: wait %(time)s."),
            _done,
        ),
    ],
    # A class in one room has one address, and each of it a link of its own.
    "accounts.reset": [
        RateLimit(
            "20 per hour",
            address,
            N_("There were too many tries from your address: wait %(time)s."),
            _refused,
        )
    ],
    "accounts.password": [
        RateLimit(
            "10 per 15 minutes", _account, N_("There were too many tries: wait %(time)s."), _failed
        )
    ],
    "people.delete": [
        RateLimit(
            "10 per 15 minutes", _account, N_("There were too many tries: wait %(time)s."), _failed
        )
    ],
    "members.join": JOINED,
    "teams.join": JOINED,
    "sittings.begin": BEGUN,
    "sittings.move": MOVES,
    "sittings.take_back": TAKEN_BACK,
    "replays.show": [
        RateLimit(
            "60 per minute",
            address,
            N_("There were too many records from your address: wait %(time)s."),
        )
    ],
    "repositories.push": [
        RateLimit(
            "60 per hour",
            address,
            N_("There were too many that are not signed, from your address: wait %(time)s."),
            _failed,
        ),
        RateLimit(
            "30 per minute",
            lambda: str((request.view_args or {}).get("code", "")),
            N_("There were too many pushes: wait %(time)s."),
        ),
    ],
    "submissions.submit": UPLOADS,
    "undoing.undo": CHANGES,
    "editor.change": [
        RateLimit("240 per hour", _account, N_("There were too many tries: wait %(time)s."))
    ],
    "api.join_competition": JOINED,
    "api.join_team": JOINED,
    "api.begin_sitting": BEGUN,
    "api.play_move": MOVES,
    "api.take_back": TAKEN_BACK,
    "api.submit_bot": UPLOADS,
    "api.send_part": [
        RateLimit(
            "1500 per hour", _account, N_("There were too many parts of files: wait %(time)s.")
        )
    ],
    # More than a client asks, which waits for each answer. Each bot has its own, and whoever asks
    # too often waits for no longer than a game bears.
    "api.poll_link": [
        RateLimit(
            "200 per second",
            _bot_at_home,
            N_("There were too many polls of this bot: wait %(time)s."),
        )
    ],
}


def install(app: Flask, settings: Settings) -> None:
    """Puts the limits on the views of an application.

    Without a broker, or while it is away, each server counts for itself. While it answers but
    writes nothing down, since its disk is full, what fails is not counted.
    """
    limiter = Limiter(
        address,
        app=app,
        storage_uri=storage(settings.broker),
        in_memory_fallback_enabled=bool(settings.broker),
        swallow_errors=True,
        strategy="moving-window",
        key_prefix="arena",
    )
    changing = {
        rule.endpoint: CHANGES
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("api.") and WRITING & (rule.methods or set())
    }
    for endpoint, limits in {**changing, **LIMITS}.items():
        view: Any = app.view_functions[endpoint]
        for limit in limits:
            view = limiter.limit(
                limit.often,
                key_func=limit.key,
                methods=sorted(WRITING),
                error_message=limit.words,
                deduct_when=limit.counts,
            )(view)
        app.view_functions[endpoint] = view

    @app.errorhandler(RateLimitExceeded)
    def say_how_long(error: RateLimitExceeded) -> Any:
        seconds = _seconds_left(limiter.current_limit)
        refusal = TooManyRequests(
            gettext(str(error.description), time=_wait(seconds)),
            retry_after=seconds,
        )
        return app.handle_http_exception(refusal)


def _seconds_left(hit: RequestLimit | None) -> int:
    """How long to wait; the counter rounds its end up, so that it may say more than its window."""
    if hit is None:
        return 60
    left = math.ceil(hit.reset_at - time.time())
    return max(1, min(left, hit.limit.get_expiry()))


def _wait(seconds: int) -> str:
    if seconds < 60:
        return counted(seconds, "second")
    minutes = math.ceil(seconds / 60)
    return ngettext("a minute", "%(minutes)s minutes", minutes, minutes=minutes)


def storage(broker: str) -> str:
    """Where it is counted, in the words of the library that counts."""
    if broker.startswith("redis+socket:"):
        return "redis+unix:" + broker.removeprefix("redis+socket:")
    return broker or "memory://"
