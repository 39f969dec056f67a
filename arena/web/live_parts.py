"""Parts of open pages, for which browsers ask again and again: made once for all who see the same.

Of what such a part is made there is a *trace*: some numbers that are read by indexes, and of which
one differs when something has happened. As long as they are the same nothing is rendered, and who
has the part already is told just that. What a trace does not tell, such as how long ago something
was, or by what name a bot goes since a minute, is at most `GOOD_SECONDS` old.

For strangers, who all see the same, not even the trace is read each time: what an open page of one
was told is told to those of others, too, for `MOMENT_SECONDS`.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec

import sqlalchemy as sa
from flask import Flask, current_app, g, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from arena.models import Competition, Entrant, EntrantState, JobStatus, Match, PlayedGame
from arena.web import light
from arena.web.identity import current, is_stranger
from engine.translation import spoken

GOOD_SECONDS = 10.0
MOMENT_SECONDS = 1.0
MOST = 500
"""So many parts are kept by a process, those that were asked for last."""

P = ParamSpec("P")


Asked = tuple[str, str, str]
"""By which name of ours, at which address, in which language."""


@dataclass(slots=True)
class _Part:
    """A part, once it was made."""

    making: threading.Lock = field(default_factory=threading.Lock)
    text: bytes | None = None
    packed: bytes | None = None


class KeptParts:
    """The parts that a process has made, for all of its threads."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._parts = OrderedDict[str, _Part]()
        self._told = OrderedDict[Asked, tuple[float, str]]()

    def part(self, tag: str, make: Callable[[], str] | None = None) -> _Part | None:
        """The part of a tag; of several who ask for it at once one makes it.

        Returns:
            None for one that is not there, if it can't be made.
        """
        with self._changing:
            part = self._parts.get(tag) if make is None else self._parts.setdefault(tag, _Part())
            if part is None:
                return None
            _renew(self._parts, tag)
        with part.making:
            if part.text is None and make is not None:
                part.text = make().encode()
                part.packed = light.pack(part.text)
        return part

    def told(self, asked: Asked) -> str | None:
        """The tag of what strangers were told a moment ago."""
        until, tag = self._told.get(asked, (0.0, ""))
        return tag if time.monotonic() < until else None

    def tell(self, asked: Asked, tag: str) -> None:
        """Has strangers be told the same for a moment."""
        with self._changing:
            self._told[asked] = time.monotonic() + MOMENT_SECONDS, tag
            _renew(self._told, asked)


def _renew(kept: OrderedDict[Any, Any], key: object) -> None:
    """Has what was asked for last be given up last."""
    kept.move_to_end(key)
    while len(kept) > MOST:
        kept.popitem(last=False)


def live_part(view: Callable[P, Response]) -> Callable[P, Response]:
    """Marks a view whose answer is a `part`."""

    @wraps(view)
    def told(*args: P.args, **kwargs: P.kwargs) -> Response:
        if "HX-Request" not in request.headers or not is_stranger():
            return view(*args, **kwargs)
        asked = _asked()
        tag = _kept().told(asked)
        found = _answer(tag, _kept().part(tag)) if tag else None
        if found is None:
            found = view(*args, **kwargs)
            its_tag = found.get_etag()[0]
            if its_tag:
                _kept().tell(asked, its_tag)
        return found

    return told


def part(trace: object, make: Callable[[], str]) -> Response:
    """The part that is asked for, which is the same for all who see what it is made of.

    Args:
        trace: what is different when it is.
        make: renders it; not asked where that was done already, or where the reader has it.
    """
    # Who sees what not everybody does has parts of their own.
    account = current() if g.get("is_for_who_asks") else None
    words = repr((_asked(), account and account.id, int(time.time() / GOOD_SECONDS), trace))
    tag = hashlib.sha256(words.encode()).hexdigest()[:24]
    answer = _answer(tag, None) or _answer(tag, _kept().part(tag, make))
    assert answer is not None
    return answer


def _kept() -> KeptParts:
    kept: KeptParts = current_app.extensions["arena.live_parts"]
    return kept


def _asked() -> Asked:
    return request.host_url, request.full_path, spoken().language


def _answer(tag: str, part: _Part | None) -> Response | None:
    """A part, or that it is the one that the reader has; None if it is neither."""
    if tag in request.if_none_match.as_set(include_weak=True):
        answer = Response(status=304)
    elif part is None or part.text is None:
        return None
    else:
        answer = Response(part.text, mimetype="text/html")
        if light.may_be_compressed(answer):
            answer.set_data(part.packed or b"")
            answer.headers["Content-Encoding"] = "gzip"
    answer.set_etag(tag, weak=True)
    return answer


def of_competition(session: Session, competition: Competition) -> tuple[Any, ...]:
    """The trace of a competition: its row, its matches, its games, and the ratings in it."""
    mapper = sa.inspect(type(competition))
    row = [getattr(competition, column.key) for column in mapper.column_attrs]
    return *row, *session.connection().execute(_OF_COMPETITION, {"number": competition.id}).one()


def of_site(session: Session) -> tuple[Any, ...]:
    """The trace of all competitions: their matches and games."""
    return tuple(session.connection().execute(_OF_SITE).one())


def install(app: Flask) -> None:
    """Has an application keep what it made."""
    app.extensions["arena.live_parts"] = KeptParts()


def _trace(
    which: Callable[[Any], sa.ColumnElement[bool]], *more: sa.ScalarSelect[Any]
) -> sa.Select[Any]:
    """What tells of matches and games: the newest, and how many are played now."""
    newest = [sa.select(sa.func.max(kind.id)).where(which(kind)) for kind in (Match, PlayedGame)]
    running = sa.select(sa.func.count()).where(
        which(Match), Match.status == JobStatus.ISSUED, Match.worker.is_not(None)
    )
    return sa.select(*(one.scalar_subquery() for one in (*newest, running)), *more)


_NUMBER = sa.bindparam("number", type_=sa.Integer)
_ACTIVE = Entrant.competition_id == _NUMBER, Entrant.state == EntrantState.ACTIVE
_OF_SITE = _trace(lambda _: sa.true())
_OF_COMPETITION = _trace(
    lambda kind: kind.competition_id == _NUMBER,
    sa.select(sa.func.count()).select_from(Entrant).where(*_ACTIVE).scalar_subquery(),
    sa.select(sa.func.sum(Entrant.conservative)).where(*_ACTIVE).scalar_subquery(),
)
