"""What is shown of a game elsewhere: pictures for messages and previews, and a replay to embed."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, starmap

import resvg_py
import sqlalchemy as sa
from flask import Blueprint, Response, render_template, request
from markupsafe import Markup
from PIL import Image, ImageDraw, ImageFont
from werkzeug.exceptions import ServiceUnavailable

from arena.models import BotVersion, Entrant, GameSeat, PlayedGame
from arena.recorder.storage import unpack
from arena.web.games import draw, lasting, position
from arena.web.lookup import find_bot, find_competition, find_game, find_record, reading
from arena.web.words import outcome
from engine import svg
from engine.clicks import illustrate
from engine.colours import GROUND
from engine.game import State
from engine.games import GAMES
from engine.protocol import visible
from engine.record import GameRecord, states_known

pictures = Blueprint("pictures", __name__)

PREVIEW_PIXELS, ANIMATED_PIXELS = 600, 300
"""How wide pictures are."""
MOST_FRAMES = 48
"""Longer games are shown with plies left out: each frame takes some 20 ms to make."""
FRAME_MS, LAST_FRAME_MS = 500, 3000
COLOURS = 64
LETTER_PIXELS, LONGEST_LINE = 13, 200
"""How high letters beneath a picture are, and the most of them that are looked at."""
AGAIN_SECONDS = 5
LATEST_SECONDS = 600
"""How long a picture of what was played last may be kept."""
animating = threading.Semaphore(1)
"""An animation takes a core for a second, so this process makes one at a time."""


def raster(
    state: State, last: str | None, before: State | None = None, *, width: int
) -> Image.Image:
    """A position as pixels, without its coordinates and captions."""
    scene = replace(illustrate(state, last=last, before=before), captions=(), goals=())
    drawn = svg.render(scene, coordinates=False)
    # To look for fonts takes longer than all else, and most games are drawn without a letter.
    png = resvg_py.svg_to_bytes(svg_string=drawn, width=width, skip_system_fonts=not scene.text)
    return Image.open(io.BytesIO(png)).convert("RGB")


def animate(
    record: GameRecord,
    *,
    most: int | None = MOST_FRAMES,
    told: bool = False,
    drawn: Callable[[], None] = lambda: None,
) -> bytes:
    """A game as an animated GIF up to its end.

    Args:
        most: of so many frames; None for one of each position.
        told: whether the players stand beneath, with each move and the result.
        drawn: is called after each frame.
    """
    known = list(enumerate(states_known(record)))
    last = len(known) - 1
    step = 1 if most is None else -(-last // (most - 1)) or 1
    # Counted from the end, so that the last position is always there.
    chosen = known[last % step :: step]

    def frame(ply: int, state: State) -> Image.Image:
        made = raster(state, record.plies[ply - 1].move if ply else None, width=ANIMATED_PIXELS)
        drawn()
        return _captioned(made, _captions(record, ply)) if told else made

    end = frame(*chosen.pop())
    palette = end.quantize(COLOURS)
    # One after the other, as those of a long game would fill the memory.
    frames = (
        each.quantize(palette=palette, dither=Image.Dither.NONE)
        for each in chain(starmap(frame, chosen), [end])
    )
    first = next(frames)
    file = io.BytesIO()
    first.save(
        file,
        "GIF",
        save_all=True,
        append_images=frames,
        duration=[FRAME_MS] * len(chosen) + [LAST_FRAME_MS],
        loop=0,
    )
    return file.getvalue()


def _captions(record: GameRecord, ply: int) -> tuple[str, str]:
    """Who plays; and a move, or at the end what came of the game."""
    names = record.variant.seat_names
    who = ", ".join(f"{name}: {player}" for name, player in zip(names, record.players, strict=True))
    if ply == len(record.plies):
        return who, outcome(record)
    if not ply:
        return who, str(record.variant)
    move = record.plies[ply - 1]
    return who, f"{ply}. {record.variant.mover_name(move.seat)} {move.move}"


def _captioned(picture: Image.Image, lines: Sequence[str]) -> Image.Image:
    """A picture with lines of text beneath; of one that is too long its beginning."""
    height = LETTER_PIXELS * 3 // 2
    made = Image.new(
        "RGB", (picture.width, picture.height + height * len(lines)), GROUND["light"]["page"]
    )
    made.paste(picture)
    pen, font = ImageDraw.Draw(made), ImageFont.load_default(LETTER_PIXELS)
    for number, line in enumerate(lines):
        text = visible(line, but="")[:LONGEST_LINE]
        while pen.textlength(text, font) > made.width - LETTER_PIXELS:
            text = f"{text.rstrip('…')[:-1]}…"
        place = (LETTER_PIXELS // 2, picture.height + number * height)
        pen.text(place, text, GROUND["light"]["text"], font)
    return made


@pictures.get("/games/<int:number>/<int:ply>.png")
def preview(number: int, ply: int) -> Response:
    """A position as PNG, for what shows no SVG."""
    with reading() as session:
        record = find_record(session, number)
    return lasting(_png(*position(record, ply)))


def _png(state: State, last: str | None, before: State | None = None) -> Response:
    file = io.BytesIO()
    raster(state, last, before, width=PREVIEW_PIXELS).save(file, "PNG")
    return Response(file.getvalue(), mimetype="image/png")


@pictures.get("/latest.png")
def latest() -> Response:
    """The end of the last game as PNG: of all, of a ``?competition=`` or of a ``?bot=``. Where none
    was played yet it is how the game begins.
    """
    names = request.args
    games = sa.select(PlayedGame.record).order_by(PlayedGame.id.desc()).limit(1)
    with reading() as session:
        variant = GAMES.default.variant()
        if "competition" in names:
            competition = find_competition(session, names["competition"])
            variant = competition.variant
            games = games.where(PlayedGame.competition_id == competition.id)
        elif "bot" in names:
            bot = find_bot(session, names["bot"])
            its = sa.select(Entrant.id).join(Entrant.version).where(BotVersion.bot_id == bot.id)
            its_last = sa.select(sa.func.max(GameSeat.game_id)).where(GameSeat.entrant_id.in_(its))
            games = games.where(PlayedGame.id == its_last.scalar_subquery())
        stored = session.scalar(games)
    if stored is None:
        answer = _png(variant.initial(), None)
    else:
        record = unpack(stored)
        answer = _png(*position(record, len(record.plies)))
    answer.headers["Cache-Control"] = f"public, max-age={LATEST_SECONDS}"
    return answer


@pictures.get("/games/<int:number>.gif")
def animation(number: int) -> Response:
    """A game as an animated GIF."""
    with reading() as session:
        record = find_record(session, number)
    if not animating.acquire(blocking=False):
        words = "Another animation is being made: come again in a moment."
        raise ServiceUnavailable(words, retry_after=AGAIN_SECONDS)
    try:
        return lasting(Response(animate(record), mimetype="image/gif"))
    finally:
        animating.release()


@pictures.get("/games/<int:number>/embed")
@pictures.get("/games/<int:number>/embed/<int:ply>")
def embed(number: int, ply: int | None = None) -> str:
    """The replay of a game alone, which pages elsewhere may put in a frame.

    Its address says by ``?ply=`` where it begins, by ``?theme=`` whether it is light or dark, and
    by ``?autoplay`` and ``?speed=`` that it plays by itself, and how fast.
    """
    theme = next((one for one in GROUND if one == request.args.get("theme")), None)
    asked = request.args.get("ply", type=int) if ply is None else ply
    with reading() as session:
        found, record = find_game(session, number)
        shown = len(record.plies) if asked is None else asked
        state, last, before = position(record, shown)
        board = draw(state, last, before)
        if theme:
            # The stylesheet would give it the colours that the reader's system has.
            drawn = svg.render(illustrate(state, last=last, before=before), theme=theme)
            board = Markup(drawn)  # noqa: S704 - escaped in engine.svg
        return render_template(
            "embed.html", game=found, record=record, ply=shown, board=board, theme=theme
        )
