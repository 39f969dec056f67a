"""What is shown of a game elsewhere: pictures for messages and previews, and a replay to embed."""

from __future__ import annotations

import io
import threading
from dataclasses import replace
from itertools import islice

import resvg_py
from flask import Blueprint, Response, render_template
from PIL import Image
from werkzeug.exceptions import ServiceUnavailable

from arena.web.games import draw, lasting, position
from arena.web.lookup import find_game, find_record, reading
from engine import svg
from engine.clicks import illustrate
from engine.game import State
from engine.record import GameRecord, states_known

pictures = Blueprint("pictures", __name__)

PREVIEW_PIXELS, ANIMATED_PIXELS = 600, 300
"""How wide pictures are."""
MOST_FRAMES = 48
"""Longer games are shown with plies left out: each frame takes some 20 ms to make."""
FRAME_MS, LAST_FRAME_MS = 500, 3000
COLOURS = 64
AGAIN_SECONDS = 5
animating = threading.Semaphore(1)
"""An animation takes a core for a second, so this process makes one at a time."""


def raster(state: State, last: str | None, *, width: int) -> Image.Image:
    """A position as pixels, without its coordinates and captions."""
    scene = replace(illustrate(state, last=last), captions=())
    drawn = svg.render(scene, coordinates=False)
    # To look for fonts takes longer than all else, and most games are drawn without a letter.
    png = resvg_py.svg_to_bytes(svg_string=drawn, width=width, skip_system_fonts=not scene.text)
    return Image.open(io.BytesIO(png)).convert("RGB")


def animate(record: GameRecord, *, most: int = MOST_FRAMES) -> bytes:
    """A game as an animated GIF of at most so many frames, up to its end."""
    plies = len(record.plies)
    # Counted from the end, so that the last position is always there.
    step = -(-plies // (most - 1)) or 1
    frames = [
        raster(state, record.plies[ply - 1].move if ply else None, width=ANIMATED_PIXELS)
        for ply, state in islice(enumerate(states_known(record)), plies % step, None, step)
    ]
    palette = frames[-1].quantize(COLOURS)
    first, *rest = (frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames)
    file = io.BytesIO()
    first.save(
        file,
        "GIF",
        save_all=True,
        append_images=rest,
        duration=[FRAME_MS] * len(rest) + [LAST_FRAME_MS],
        loop=0,
    )
    return file.getvalue()


@pictures.get("/games/<int:number>/<int:ply>.png")
def preview(number: int, ply: int) -> Response:
    """A position as PNG, for what shows no SVG."""
    with reading() as session:
        record = find_record(session, number)
    file = io.BytesIO()
    raster(*position(record, ply), width=PREVIEW_PIXELS).save(file, "PNG")
    return lasting(Response(file.getvalue(), mimetype="image/png"))


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
    """The replay of a game alone, which pages elsewhere may put in a frame."""
    with reading() as session:
        found, record = find_game(session, number)
        shown = len(record.plies) if ply is None else ply
        return render_template(
            "embed.html", game=found, record=record, ply=shown, board=draw(*position(record, shown))
        )
