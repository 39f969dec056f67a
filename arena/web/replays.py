"""The page where anybody's record is shown: proven by the rules, and kept nowhere.

The work for it has bounds, as what comes may be meant to keep a server busy: in size, plies and
time, for one record at a time in each process, and for so many from an address.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, render_template, request
from werkzeug.exceptions import ServiceUnavailable

from arena.models import Competition
from arena.web.games import shown
from arena.web.lookup import reading
from arena.web.permissions import anybody
from arena.web.present import open_in_maintenance
from arena.web.replay_files import pack_game
from arena.web.words import sentence
from engine.game import State, Variant
from engine.game_files import pgn_games, record_of, text_of
from engine.games import GAMES
from engine.pgn import PgnGame
from engine.plurals import counted
from engine.protocol import demand_sayable
from engine.record import GameRecord, RecordError, parse_record, record_texts, states_known
from engine.reporting import LONGEST_MOVE
from engine.shelf import OWN
from engine.sitting import prove
from engine.translation import N_, gettext, translated

replays = Blueprint("replays", __name__)

MOST_PLIES = 1000
LONGEST_SECONDS = 5.0
"""How long the rules and the drawing may take of a record, apart from a ply that is under way."""
ELSEWHERE = N_("arena replay shows it on your machine")
AGAIN_SECONDS = 5
showing = threading.Semaphore(1)
"""A record may take a core for seconds, so this process shows one at a time."""


@replays.get("/replay")
def form() -> str:
    """Where a record can be dropped or pasted."""
    return render_template("replay.html")


@replays.post("/replay")
@anybody
@open_in_maintenance
def show() -> str | tuple[str, int]:
    """A game of what was sent, at one of its plies; by default the first, at its end."""
    try:
        text = _sent()
        texts = pgn_games(text) or record_texts(text)
        number = _number("game", 1, len(texts), default=1)
        if not showing.acquire(blocking=False):
            words = gettext("Another record is being shown: come again in a moment.")
            raise ServiceUnavailable(words, retry_after=AGAIN_SECONDS)
        try:
            chosen = texts[number - 1]
            record = _record(chosen)
            found = _proven(record)
        finally:
            showing.release()
    except RecordError as error:
        return render_template("replay.html", refusal=sentence(error)), 422
    return render_template(
        "replay.html",
        text=text,
        alone=chosen if isinstance(chosen, str) else json.dumps(record.to_json()),
        number=number,
        many=len(texts),
        **found,
    )


def _sent() -> str:
    """The text of the file that was sent, or else of the field.

    Raises:
        RecordError: the file is no text.
    """
    file = request.files.get("file")
    if file is None or not file.filename:
        return request.form.get("text", "")
    return text_of(file.read())


def _record(sent: str | PgnGame) -> GameRecord:
    """What was sent of a game as a record.

    PGN does not say of which game it is: of one of those that are played here and have it.

    Raises:
        RecordError: it is none.
    """
    if isinstance(sent, str):
        return parse_record(sent)
    _demand_few(len(sent.moves))
    with reading() as session:
        played = session.scalars(sa.select(Competition).order_by(Competition.id))
        variants = list(dict.fromkeys(one.variant for one in played))
    return record_of(sent, variants)


def _demand_few(plies: int) -> None:
    """Raises: RecordError: a game has more plies than are shown here."""
    if plies > MOST_PLIES:
        has = gettext("this game has %(plies)s", plies=counted(plies, "ply", "plies"))
        raise RecordError(f"{has}; {translated(ELSEWHERE)}")


def _number(field: str, least: int, most: int, *, default: int) -> int:
    """The number in a field, or what is nearest to it of those there are."""
    said = request.form.get(field, "")
    is_number = said.isascii() and said.isdigit() and len(said) < 7
    return max(least, min(int(said), most)) if is_number else default


def _proven(record: GameRecord) -> dict[str, Any]:
    """What is shown of a record, and what the rules have against it.

    Raises:
        RecordError: it says more than any referee's would, or takes too long.
    """
    if not _is_trusted(record.variant):
        words = gettext(
            "%(variant)s is not played here, and rules of other packages prove only records of "
            "what is",
            variant=record.variant,
        )
        raise RecordError(f"{words}; {translated(ELSEWHERE)}")
    plies = len(record.plies)
    _demand_few(plies)
    if any(len(move) > LONGEST_MOVE for move in record.moves):
        raise RecordError(gettext("a move is longer than any game's"))
    demand_sayable(record)
    boards = pack_game(record, _in_time(record))
    problem = ""
    try:
        prove(record)
    except RecordError as error:
        problem = str(error)
    ply = _number("ply", 0, plies, default=plies)
    return {**shown(record, ply), "boards": boards, "problem": problem}


def _is_trusted(variant: Variant) -> bool:
    """Whether anybody's moves may be given to its rules: they are the arena's own, or of something
    that an organiser has chosen. Others may hang on options that nobody has tried, or end this
    process."""
    if variant.game not in GAMES or GAMES.edition(variant.game).package == OWN:
        return True
    with reading() as session:
        played = session.scalars(sa.select(Competition).where(Competition.game == variant.game))
        return any(one.variant == variant for one in played)


def _in_time(record: GameRecord) -> Iterator[State]:
    """Its positions, as far as the rules allow.

    Raises:
        RecordError: they take too long.
    """
    end = time.monotonic() + LONGEST_SECONDS
    for state in states_known(record):
        yield state
        if time.monotonic() > end:
            words = gettext("it takes too long to draw this game here")
            raise RecordError(f"{words}; {translated(ELSEWHERE)}")
