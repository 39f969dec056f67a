"""The page where anybody's record is shown: proven by the rules, and kept nowhere.

The work for it has bounds, as what comes may be meant to keep a server busy: in size, plies and
time, for one record at a time in each process, and for so many from an address.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, render_template, request
from werkzeug.exceptions import ServiceUnavailable

from arena.models import Competition
from arena.web.games import shown
from arena.web.identity import anybody, database
from arena.web.pictures import AGAIN_SECONDS
from arena.web.replay_files import pack_game
from arena.web.words import sentence
from engine.game import State, Variant
from engine.games import GAMES
from engine.plurals import counted
from engine.protocol import demand_sayable
from engine.record import GameRecord, RecordError, parse_record, record_texts, states_known
from engine.reporting import LONGEST_MOVE
from engine.shelf import OWN
from engine.sitting import prove

replays = Blueprint("replays", __name__)

MOST_PLIES = 1000
LONGEST_SECONDS = 5.0
"""How long the rules and the drawing may take of a record, apart from a ply that is under way."""
ELSEWHERE = "arena replay shows it on your machine"
showing = threading.Semaphore(1)
"""A record may take a core for seconds, so this process shows one at a time."""


@replays.get("/replay")
def form() -> str:
    """Where a record can be dropped or pasted."""
    return render_template("replay.html")


@replays.post("/replay")
@anybody
def show() -> str | tuple[str, int]:
    """A game of what was sent, at one of its plies; by default the first, at its end."""
    try:
        text = _sent()
        texts = record_texts(text)
        number = _number("game", 1, len(texts), default=1)
        if not showing.acquire(blocking=False):
            words = "Another record is being shown: come again in a moment."
            raise ServiceUnavailable(words, retry_after=AGAIN_SECONDS)
        try:
            found = _proven(texts[number - 1])
        finally:
            showing.release()
    except RecordError as error:
        return render_template("replay.html", refusal=sentence(error)), 422
    return render_template(
        "replay.html", text=text, alone=texts[number - 1], number=number, many=len(texts), **found
    )


def _sent() -> str:
    """The text of the file that was sent, or else of the field.

    Raises:
        RecordError: the file is no text.
    """
    file = request.files.get("file")
    if file is None or not file.filename:
        return request.form.get("text", "")
    try:
        return str(file.read(), "utf-8-sig")
    except UnicodeDecodeError:
        raise RecordError(
            "this is no text file: give one that arena play --records wrote"
        ) from None


def _number(field: str, least: int, most: int, *, default: int) -> int:
    """The number in a field, or what is nearest to it of those there are."""
    said = request.form.get(field, "")
    is_number = said.isascii() and said.isdigit() and len(said) < 7
    return max(least, min(int(said), most)) if is_number else default


def _proven(text: str) -> dict[str, Any]:
    """What is shown of a record, and what the rules have against it.

    Raises:
        RecordError: it is none, or says more than any referee's would, or takes too long.
    """
    record = parse_record(text)
    if not _is_trusted(record.variant):
        raise RecordError(
            f"{record.variant} is not played here, and rules of other packages prove only records "
            f"of what is; {ELSEWHERE}"
        )
    plies = len(record.plies)
    if plies > MOST_PLIES:
        raise RecordError(f"this game has {counted(plies, 'ply', 'plies')}; {ELSEWHERE}")
    if any(len(move) > LONGEST_MOVE for move in record.moves):
        raise RecordError("a move is longer than any game's")
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
    with database().read() as reading:
        played = reading.scalars(sa.select(Competition).where(Competition.game == variant.game))
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
            raise RecordError(f"it takes too long to draw this game here; {ELSEWHERE}")
