"""Answers that stay the same as long as the program draws the same: pictures of games.

A game's record never changes, so what is drawn of it follows from the record, the address and the
program: in the language that the address names, or in English. Who has an answer already is told so
before anything is drawn; and where an address names the program's *edition*, nobody who has its
answer has to ask again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from flask import Response, request

import engine
from arena.ground.catalogues import FOLDER
from engine.games import GAMES
from engine.record import GameRecord
from engine.translation import spoken

PICTURES = frozenset(["games.picture", "pictures.preview", "pictures.animation"])
"""What pages name by addresses with the edition."""
DAY, YEAR = 24 * 60 * 60, 365 * 24 * 60 * 60
"""How many seconds a picture is kept: none changes, but for a release that draws otherwise."""
HERE = Path(__file__).parent


@cache
def edition() -> str:
    """A name for how this program draws, and by which rules: another release has another."""
    drawing = hashlib.sha256()
    films = (
        HERE / name for name in ("captions.py", "films.py", "gifs.py", "rasters.py", "words.py")
    )
    rules = sorted(Path(engine.__file__).parent.rglob("*.py"))
    for file in (*rules, *films, *sorted(FOLDER.glob("*.po"))):
        drawing.update(file.read_bytes())
    for declared in GAMES.declared.values():
        drawing.update(f"{declared.name} {declared.package} {declared.version}\n".encode())
    return drawing.hexdigest()[:12]


def film_name(record: GameRecord) -> str:
    """The name that the film of a game is kept by."""
    return f"{record.digest()}-{edition()}.gif"


def unchanging(record: GameRecord, make: Callable[[], Response]) -> Response:
    """What is drawn of a game at the address that is asked for.

    Args:
        make: draws it; not asked where the reader has it.
    """
    asked = f"{record.digest()} {edition()} {spoken().language} {request.full_path}"
    tag = hashlib.sha256(asked.encode()).hexdigest()[:24]
    known = tag in request.if_none_match.as_set(include_weak=True)
    answer = Response(status=304) if known else make()
    answer.set_etag(tag)
    is_named = request.args.get("v") == edition()
    lasts = f"public, max-age={YEAR}, immutable" if is_named else f"public, max-age={DAY}"
    answer.headers["Cache-Control"] = lasts
    return answer
