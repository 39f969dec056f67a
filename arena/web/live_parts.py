"""Parts of open pages, for which browsers ask again and again: made once for all who see the same.

A part is made anew when the state of its trace (`arena.web.traces`) is another, and at most each
`LEAST_SECONDS`: a ladder where much is played has something new each moment, and nobody reads that
fast. What a trace does not tell, such as how long ago something was, is at most `GOOD_SECONDS` old,
of each part a bit less or more, so that not all come due at once. One who asks makes it; others get
the one from before meanwhile, but never one from before a deed, which may have hidden something.

Most who ask have the part already, and to say so takes no application: a `Front` stands before it,
and knows of each address what was answered there last, to everybody if that is the same for all,
and else by the cookie of the session. It answers as long as no deed was done.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

from flask import Flask, current_app, g, request
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotFound
from werkzeug.http import parse_cookie, parse_etags
from werkzeug.wrappers import Response

from arena.ground.db import Database
from arena.operation.replicas import Replica
from arena.web import light, metrics, replica, translations
from arena.web.identity import as_strangers_see, current, is_stranger
from arena.web.traces import Trace, TraceState, TraceStates, read
from engine.translation import spoken

GOOD_SECONDS = 10.0
LEAST_SECONDS = 2.0
STALE_SECONDS = 10.0
"""A part is told for so long at most while somebody makes it anew."""
CLAIM_SECONDS = 2.0
"""Who was let in to make a part anew has so long before the next one is."""
MOST, MOST_ANSWERS = 1_000, 10_000
"""So many parts, and answers, are kept by a process: those that were asked for last."""
OF_A_BODY = frozenset(["content-type", "content-length", "content-encoding", "etag"])
"""Headers that are a part's own; the others are of everything at its address."""

P = ParamSpec("P")


class Whose(Enum):
    """Who may be given the same part."""

    SIGHT = auto()
    """All who see the same."""
    ALL = auto()
    """All, as strangers see it; each reader alone where strangers do not."""
    OWN = auto()
    """One session: it has what only somebody may do."""


class Address(NamedTuple):
    """What is asked for, whoever asks."""

    scheme: str
    host: str
    root: str
    path: str
    query: str
    languages: str
    """The languages that the browser speaks."""
    language: str
    """The language that was chosen."""


@dataclass(frozen=True, slots=True)
class MadePart:
    """A part as it was made."""

    text: bytes
    packed: bytes
    tag: str
    """A digest of the text alone, so that it is the same in each process."""
    state: TraceState
    """The state of which it is made, or one before that."""
    at: float
    until: float
    """The monotonic clock's time until which it is good; `at` is that when its making began."""


@dataclass(slots=True)
class LivePart:
    """A part for some readers, which is made again and again."""

    spread: float
    """How much of `GOOD_SECONDS` it is good for longer than others, from 0 to 1."""
    making: threading.Lock = field(default_factory=threading.Lock)
    claimed: float = 0.0
    """The monotonic clock's time until which somebody is expected to make it."""
    made: MadePart | None = None

    def good(self, state: TraceState, now: float, *, waits: bool) -> MadePart | None:
        """What may be told now, if anything may.

        Args:
            waits: whether somebody else makes it.
        """
        made = self.made
        if made is None or made.state.deeds != state.deeds:
            return None
        is_fresh = made.state == state and now < made.until
        is_young = now < made.at + LEAST_SECONDS
        return made if is_fresh or is_young or (waits and now < made.at + STALE_SECONDS) else None

    def of(self, state: TraceState, make: Callable[[], str]) -> MadePart:
        """The part as of a state; of several who ask for it at once one makes it."""
        found = self.good(state, time.monotonic(), waits=self.making.locked())
        if found is None:
            with self.making:
                found = self.good(state, time.monotonic(), waits=False)
                if found is None:
                    found = self.made = self._make(state, make)
        return found

    def _make(self, state: TraceState, make: Callable[[], str]) -> MadePart:
        began = time.monotonic()
        text = make().encode()
        tag = hashlib.sha256(text).hexdigest()[:24]
        until = began + GOOD_SECONDS * (0.75 + self.spread / 2)
        return MadePart(text, light.pack(text), tag, state, began, until)


Key = tuple[Any, ...]
"""The address of a part, its language and its reader."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What was answered at an address."""

    key: Key
    """The key of the part, which is kept for itself: addresses are many, and cost nobody
    anything."""
    trace: Trace
    deeds: tuple[Any, ...]
    """The deeds by which whoever gets it was seen to see it."""
    is_for_all: bool
    endpoint: str
    headers: tuple[tuple[str, str], ...] = ()


class KeptParts:
    """The parts that a process has made, for all of its threads."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._parts = OrderedDict[Key, LivePart]()
        self._answers = OrderedDict[tuple[Address, str], Answered]()

    def part(self, key: Key) -> LivePart:
        """The part of a key."""
        digest = hashlib.sha256(repr(key).encode()).digest()
        with self._changing:
            found = self._parts.setdefault(key, LivePart(digest[0] / 256))
            _renew(self._parts, key, MOST)
        return found

    def answered(self, address: Address, cookie: str) -> tuple[Answered, LivePart] | None:
        """What was answered there to everybody, or to one session, if the part is still kept."""
        with self._changing:
            for who in dict.fromkeys(["", cookie]):
                found = self._answers.get((address, who))
                if found is not None and (found.is_for_all or who == cookie):
                    part = self._parts.get(found.key)
                    if part is None:
                        return None
                    self._answers.move_to_end((address, who))
                    self._parts.move_to_end(found.key)
                    return found, part
        return None

    def keep(self, address: Address, cookie: str, answered: Answered) -> None:
        """Keeps what was answered at an address, for all or for one session."""
        key = address, "" if answered.is_for_all else cookie
        with self._changing:
            self._answers[key] = answered
            _renew(self._answers, key, MOST_ANSWERS)


def _renew(kept: OrderedDict[Any, Any], key: object, most: int) -> None:
    """Has what was asked for last be given up last."""
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)


def live_part(
    whose: Whose = Whose.SIGHT,
) -> Callable[[Callable[P, Response]], Callable[P, Response]]:
    """Marks a view whose answer is a `part`."""

    def mark(view: Callable[P, Response]) -> Callable[P, Response]:
        @wraps(view)
        def told(*args: P.args, **kwargs: P.kwargs) -> Response:
            g.part_whose, g.part_asked = whose, time.monotonic()
            if whose is Whose.ALL:
                try:
                    with as_strangers_see():
                        return view(*args, **kwargs)
                except NotFound:
                    if is_stranger():
                        raise
                g.part_whose = Whose.SIGHT
            return view(*args, **kwargs)

        return told

    return mark


def part(session: Session, trace: Trace, make: Callable[[], str]) -> Response:
    """The part that is asked for.

    Args:
        session: one that reads, and sees one moment.
        trace: of what it is made.
        make: renders it, by that session; not asked where that was done already.
    """
    whose: Whose = g.part_whose
    state, kept = read(session, trace), _parts()
    _states().note(trace, state, g.part_asked)
    is_anything_hidden = whose is Whose.SIGHT and g.get("is_anything_hidden", False)
    is_for_all = not is_anything_hidden and whose is not Whose.OWN
    account = None if is_for_all or is_stranger() else current()
    reader = account and (account.id, account.fs_uniquifier)
    key = request.host_url, request.full_path, spoken().language, reader
    with nullcontext() if account else as_strangers_see():
        made = kept.part(key).of(state, make)
    if _FRONT in request.environ:
        request.environ[_MADE] = made
        request.environ[_ANSWERED] = Answered(
            key, trace, state.deeds, is_for_all=is_for_all, endpoint=request.endpoint or ""
        )
    answer = Response(made.text, mimetype="text/html")
    answer.vary.add("Accept-Encoding")
    answer.set_etag(made.tag, weak=True)
    return answer


CLOSE = "arena.close_connection"
"""The key in a request's environment, of a server that has it, of what has the connection closed
after the answer. A page asks again in seconds: to keep thousands meanwhile is dearer than to take
new ones."""
_FRONT, _MADE = "arena.front", "arena.made_part"
_ANSWERED = light.SEES_TO_IT
Environment = dict[str, Any]
Application = Callable[[Environment, Any], Iterable[bytes]]


class Front:
    """Answers browsers that ask for a part again, before the application does."""

    def __init__(self, app: Flask, application: Application) -> None:
        """What stands before an application.

        Args:
            app: the application.
            application: what is called of it.
        """
        self._app, self._application = app, application

    def __call__(self, environ: Environment, start_response: Any) -> Iterable[bytes]:
        """Answers a request."""
        began = time.perf_counter()
        asked = self._asked(environ)
        if asked is None:
            return self._application(environ, start_response)
        address, cookie = asked
        kept = self._app.extensions[_PARTS]
        found = kept.answered(address, cookie)
        made = found and self._good(*found)
        if found is None or made is None:
            return self._ask(environ, start_response, address, cookie)
        known, _ = found
        metrics.observe(self._app, known.endpoint, _status(made, environ)[:3], began)
        return _tell(known, made, environ, start_response, has_session=bool(cookie))

    def _ask(
        self, environ: Environment, start_response: Any, address: Address, cookie: str
    ) -> Iterable[bytes]:
        """Has the application answer, and keeps that."""
        said: list[Any] = []

        def note(*its: Any) -> Any:
            said[:] = its
            return said.append

        environ[_FRONT] = True
        parts = self._application(environ, note)
        answered: Answered | None = environ.get(_ANSWERED)
        if answered is None or not said[0].startswith("200"):
            start_response(*said)
            return parts
        if close := getattr(parts, "close", None):
            close()
        headers = tuple((k, v) for k, v in said[1] if k.lower() not in OF_A_BODY)
        answered = replace(answered, headers=headers)
        if not any(name.lower() == "set-cookie" for name, _ in headers):
            self._app.extensions[_PARTS].keep(address, cookie, answered)
        return _tell(answered, environ[_MADE], environ, start_response, has_session=bool(cookie))

    def _asked(self, environ: Environment) -> tuple[Address, str] | None:
        """The address that a page asks for again, and the cookie of its session; else None."""
        if environ["REQUEST_METHOD"] != "GET" or "HTTP_HX_REQUEST" not in environ:
            return None
        cookies = parse_cookie(environ.get("HTTP_COOKIE", ""))
        # Who has just written something reads of what that is in.
        if "HTTP_AUTHORIZATION" in environ or replica.COOKIE in cookies:
            return None
        address = Address(
            environ["wsgi.url_scheme"],
            environ.get("HTTP_HOST", ""),
            environ.get("SCRIPT_NAME", ""),
            environ.get("PATH_INFO", ""),
            environ.get("QUERY_STRING", ""),
            environ.get("HTTP_ACCEPT_LANGUAGE", ""),
            cookies.get(translations.COOKIE, ""),
        )
        return address, cookies.get(self._app.config["SESSION_COOKIE_NAME"], "")

    def _good(self, known: Answered, its: LivePart) -> MadePart | None:
        """The part, if it may be told as it is; of those who may not be told one is let in."""
        state = self._app.extensions[_STATES].now(known.trace)
        if state is None or state.deeds != known.deeds:
            return None
        now = time.monotonic()
        made = its.good(state, now, waits=now < its.claimed)
        if made is None:
            its.claimed = now + CLAIM_SECONDS
        return made


def _status(made: MadePart, environ: Environment) -> str:
    known = parse_etags(environ.get("HTTP_IF_NONE_MATCH"))
    return "304 NOT MODIFIED" if made.tag in known.as_set(include_weak=True) else "200 OK"


def _tell(
    its: Answered, made: MadePart, environ: Environment, start_response: Any, *, has_session: bool
) -> Iterable[bytes]:
    """Answers with a part, or that it is the one that the reader has."""
    if close := environ.get(CLOSE):
        close()
    status, tag = _status(made, environ), ("ETag", f'W/"{made.tag}"')
    if status.startswith("304"):
        others = [(name, value) for name, value in its.headers if name != "Content-Language"]
        start_response(status, [*others, tag])
        return [b""]
    body, headers = made.text, [*its.headers, tag, ("Content-Type", "text/html; charset=utf-8")]
    if len(body) >= light.LEAST_BYTES and light.may_compress(environ, has_session=has_session):
        body = made.packed
        headers.append(("Content-Encoding", "gzip"))
    start_response(status, [*headers, ("Content-Length", str(len(body)))])
    return [body]


_PARTS, _STATES = "arena.live_parts", "arena.states"


def _parts() -> KeptParts:
    found: KeptParts = current_app.extensions[_PARTS]
    return found


def _states() -> TraceStates:
    found: TraceStates = current_app.extensions[_STATES]
    return found


def install(app: Flask) -> None:
    """Has an application keep what it made, and something before it that tells it again."""

    def read_from() -> Database:
        following: Replica | None = app.extensions["arena.replica"]
        if following is not None and following.has(None):
            return following.database
        first: Database = app.extensions["arena.database"]
        return first

    app.extensions[_PARTS], app.extensions[_STATES] = KeptParts(), TraceStates(read_from)
    app.wsgi_app = Front(app, app.wsgi_app)  # type: ignore[method-assign]
