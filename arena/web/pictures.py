"""What is shown of a game elsewhere: pictures for messages and previews, and a replay to embed."""

from __future__ import annotations

import io
import logging

import sqlalchemy as sa
from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    redirect,
    render_template,
    request,
    url_for,
)
from markupsafe import Markup
from PIL import Image

from arena.keeping.reading import record_of
from arena.models import BotVersion, Entrant, GameSeat, PlayedGame
from arena.web.boards import position_drawn
from arena.web.captions import Captions
from arena.web.films import animate
from arena.web.games import position
from arena.web.kept_films import FilmsError, KeptFilms
from arena.web.lookup import find_bot, find_competition, find_game, find_record, reading
from arena.web.rasters import Raster
from arena.web.unchanging import film_name, unchanging
from engine import svg
from engine.clicks import illustrate
from engine.colours import GROUND
from engine.game import State
from engine.games import GAMES
from engine.record import GameRecord
from engine.translation import ENGLISH, speaking

pictures = Blueprint("pictures", __name__)

LATEST_SECONDS = 600
"""How long a picture of what was played last may be kept."""
PREVIEW_PIXELS, PREVIEW_HIGHEST = 600, 900
"""How wide a preview is, and how high its board at most."""

log = logging.getLogger("arena.web")


@pictures.get("/games/<int:number>/<int:ply>.png")
def preview(number: int, ply: int) -> Response:
    """A position as PNG with who plays and its move or the result, for what shows no SVG."""
    with reading() as session:
        record = find_record(session, number)
    return unchanging(record, lambda: _of_game(record, ply))


def _of_game(record: GameRecord, ply: int) -> Response:
    """A position of a game, with who plays and what was played, or what came of it."""
    state, last, before = position(record, ply)
    board = _board(state, last, before)
    with speaking(ENGLISH):
        captions = Captions(record, width=PREVIEW_PIXELS)
        words = captions.names(), captions.status(ply, is_last=ply == len(record.plies))
    down = board.height + captions.margin // 2
    height = down + sum(each.height for each in words)
    made = Image.new("RGB", (PREVIEW_PIXELS, height), GROUND["light"]["page"])
    made.paste(board, ((PREVIEW_PIXELS - board.width) // 2, 0))
    for each in words:
        made.paste(each, (0, down))
        down += each.height
    return _png(made)


def _board(state: State, last: str | None = None, before: State | None = None) -> Image.Image:
    scene = illustrate(state, last=last, before=before)
    return Raster(scene, widest=PREVIEW_PIXELS, highest=PREVIEW_HIGHEST).pixels()


def _png(made: Image.Image) -> Response:
    file = io.BytesIO()
    made.save(file, "PNG")
    return Response(file.getvalue(), mimetype="image/png")


@pictures.get("/latest.png")
def latest() -> Response:
    """The end of the last game as PNG: of all, of a ``?competition=`` or of a ``?bot=``. Where none
    was played yet it is how the game begins.
    """
    names = request.args
    games = sa.select(PlayedGame.id, PlayedGame.record).order_by(PlayedGame.id.desc()).limit(1)
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
        found = session.execute(games).first()
        record = found and record_of(session, found.id, found.record)
    if record is None:
        answer = _png(_board(variant.initial()))
    else:
        answer = _of_game(record, len(record.plies))
    answer.headers["Cache-Control"] = f"public, max-age={LATEST_SECONDS}"
    return answer


@pictures.get("/games/<int:number>.gif")
def animation(number: int) -> Response:
    """A game as an animated GIF; its last position as PNG, while others are being made."""
    with reading() as session:
        record = find_record(session, number)
    kept: KeptFilms = current_app.extensions["arena.films"]

    def shown() -> Response:
        try:
            path = kept.brought(film_name(record), lambda: animate(record))
        except FilmsError as error:
            log.error("%s", error)
            path = None
        if path is None:
            last = url_for("pictures.preview", number=number, ply=len(record.plies))
            answer = redirect(last)
            answer.headers["Cache-Control"] = "no-store"
            abort(answer)
        return Response(path.read_bytes(), mimetype="image/gif")

    return unchanging(record, shown)


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
        board = position_drawn(state, last, before)
        if theme:
            # The stylesheet would give it the colours that the reader's system has.
            drawn = svg.render(illustrate(state, last=last, before=before), theme=theme)
            board = Markup(drawn)  # noqa: S704 - escaped in engine.svg
        return render_template(
            "embed.html", game=found, record=record, ply=shown, board=board, theme=theme
        )
