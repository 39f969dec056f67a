"""The pages that only read: front, leaderboard, bot, match, game and its replay."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    jsonify,
    render_template,
    request,
    url_for,
)
from markupsafe import Markup
from sqlalchemy.orm import Session

from arena.db import Database
from arena.models import Bot, Ladder, LadderState, Match, PlayedGame
from arena.recording import unpack
from arena.scheduling import variant_of
from arena.tournaments.ladder import PLACEMENT_GAMES
from arena.web import queries
from arena.web.queries import Board, Line
from engine import svg
from engine.game import GameError, State
from engine.record import GameRecord, states
from engine.scene import illustrate

pages = Blueprint("pages", __name__)


@contextmanager
def reading() -> Iterator[Session]:
    """A session of the arena's database that only reads."""
    database: Database = current_app.extensions["arena.database"]
    with database.read() as session:
        yield session


def draw(state: State, last: str | None = None) -> Markup:
    """A position as a picture within a page; the stylesheet recolours it in the dark."""
    return Markup(svg.render(illustrate(state, last=last)))  # noqa: S704 - escaped in engine.svg


def final_board(game: PlayedGame) -> Markup:
    """The last position of a game whose record is loaded."""
    record = unpack(game.record)
    *_, state = states(record)
    return draw(state, record.plies[-1].move if record.plies else None)


@pages.get("/")
def front() -> str:
    """What is running, the ladders with their leaders, the latest games."""
    with reading() as session:
        now = datetime.now(UTC)
        return render_template(
            "front.html",
            ladders=queries.ladders(session),
            leaders=queries.leaders(session),
            running=queries.running_matches(session),
            latest=[
                (game, final_board(game))
                for game in queries.latest_games(session, count=6, records=True)
            ],
            workers=queries.living_workers(session, now),
        )


def find_ladder(session: Session, name: str) -> Ladder:
    """The ladder of a name in an address."""
    ladder = session.scalar(sa.select(Ladder).where(Ladder.name == name))
    return ladder or abort(404, f"There is no ladder {name}.")


@pages.get("/ladders/<name>")
def leaderboard(name: str) -> str:
    """A ladder's board; ``?against=ID`` shows everyone's games against one bot."""
    with reading() as session:
        ladder = find_ladder(session, name)
        picked = request.args.get("against", type=int)
        board = queries.board(session, ladder, picked=picked)
        return render_template(
            "ladder.html",
            ladder=ladder,
            board=board,
            picked=next(
                (
                    line.entrant
                    for line in (*board.ranked, *board.placement)
                    if line.entrant.id == picked
                ),
                None,
            ),
            quiet=_why_quiet(session, ladder, board),
            running=queries.running_matches(session, ladder_id=ladder.id),
            latest=queries.latest_games(session, count=12, ladder_id=ladder.id),
        )


def _why_quiet(session: Session, ladder: Ladder, board: Board) -> str | None:
    """Why no game is running, if none is."""
    if board.running:
        return None
    if ladder.state is not LadderState.OPEN:
        return f"The ladder is {ladder.state}."
    if not queries.living_workers(session, datetime.now(UTC)):
        return "No worker is there to play."
    if len(board.ranked) + len(board.placement) < 2:
        return "There are too few bots for a match."
    return "Other ladders have their turn."


@pages.get("/ladders/<name>.json")
def leaderboard_json(name: str) -> Response:
    """A ladder's board as JSON."""
    with reading() as session:
        return jsonify(board_json(queries.board(session, find_ladder(session, name))))


@pages.get("/ladders/<name>.csv")
def leaderboard_csv(name: str) -> Response:
    """A ladder's board as CSV."""
    with reading() as session:
        data = board_json(queries.board(session, find_ladder(session, name)))
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(_line_json_keys()))
    writer.writeheader()
    writer.writerows(data["bots"])
    return Response(file.getvalue(), mimetype="text/csv")


def board_json(board: Board) -> dict[str, Any]:
    """A leaderboard as JSON's types."""
    return {
        "ladder": board.ladder.name,
        "variant": str(board.ladder.variant),
        "games": board.ladder.games,
        "running": board.running,
        "bots": [line_json(line) for line in (*board.ranked, *board.placement)],
    }


def line_json(line: Line) -> dict[str, Any]:
    """A line of a leaderboard as JSON's types."""
    entrant, rating = line.entrant, line.rating
    return {
        "rank": line.place,
        "bot": entrant.version.bot.name,
        "version": entrant.version.number,
        "owner": entrant.version.bot.owner.name,
        "language": entrant.version.language,
        "rating": round(rating.display, 1),
        "interval": round(rating.display_margin, 1),
        "mu": entrant.mu,
        "sigma": entrant.sigma,
        "games": entrant.games,
        "wins": entrant.wins,
        "draws": entrant.draws,
        "losses": entrant.losses,
        "score": round(line.score, 4),
        "faults": entrant.faults,
    }


def _line_json_keys() -> tuple[str, ...]:
    return (
        "rank",
        "bot",
        "version",
        "owner",
        "language",
        "rating",
        "interval",
        "mu",
        "sigma",
        "games",
        "wins",
        "draws",
        "losses",
        "score",
        "faults",
    )


@pages.get("/bots/<name>")
def bot(name: str) -> str:
    """A bot: its versions, and on one of its ladders its rating, opponents and games."""
    with reading() as session:
        found = session.scalar(sa.select(Bot).where(Bot.name == name))
        if found is None:
            abort(404, f"There is no bot {name}.")
        entrants = queries.entrants_of_bot(session, found)
        ladder_name = request.args.get("ladder")
        shown = [e for e in entrants if ladder_name in (None, e.ladder.name)]
        chosen = max(shown, key=lambda e: (e.state == "active", e.games, e.id), default=None)
        history = queries.history(session, chosen) if chosen else []
        return render_template(
            "bot.html",
            bot=found,
            entrants=entrants,
            chosen=chosen,
            versions=queries.versions_of_bot(session, found),
            history=[
                (game_id, rating.display, rating.display_margin) for game_id, rating in history
            ],
            opponents=queries.opponents(session, chosen) if chosen else [],
            games=queries.games_of_entrants(session, [chosen.id], count=20) if chosen else [],
        )


@pages.get("/matches/<int:match_id>")
def match(match_id: int) -> str:
    """A match: its games, or the running one's board, which renews itself."""
    with reading() as session:
        found = queries.match(session, match_id) or abort(404, f"There is no match {match_id}.")
        return render_template("match.html", match=found, live=_live(found))


@pages.get("/matches/<int:match_id>/live")
def live(match_id: int) -> Response:
    """The part of a match's page that renews itself."""
    with reading() as session:
        found = queries.match(session, match_id) or abort(404, f"There is no match {match_id}.")
        answer = Response(render_template("_live.html", match=found, live=_live(found)))
    answer.headers["Cache-Control"] = "no-store"
    return answer


@dataclass(frozen=True, slots=True)
class Live:
    """The running game of a match."""

    number: int
    ply: int
    board: Markup
    to_move: str | None


def _live(match: Match) -> Live | None:
    """The running game as its worker last told; None if there is none."""
    if not match.progress:
        return None
    variant = variant_of(match)
    state: State = variant.initial()
    moves = [move.partition(":")[2] for move in match.progress["moves"]]
    try:
        for move in moves:
            state = state.play(move)
    except GameError:
        # What a worker says of a running game is not proven; a page must not fail over it.
        return None
    seat = state.to_move
    return Live(
        match.progress["game"] + 1,
        len(moves),
        draw(state, moves[-1] if moves else None),
        None if seat is None else variant.seat_names[seat],
    )


def find_game(session: Session, game_id: int) -> tuple[PlayedGame, GameRecord]:
    """The game of a number in an address, and its record."""
    found = queries.game(session, game_id) or abort(404, f"There is no game {game_id}.")
    return found, unpack(found.record)


def position(record: GameRecord, ply: int) -> tuple[State, str | None]:
    """The position before a ply, and the move that led to it."""
    if not 0 <= ply <= len(record.plies):
        abort(404, f"The game has {len(record.plies)} plies, so there is no position {ply}.")
    for number, state in enumerate(states(record)):
        if number == ply:
            return state, record.plies[ply - 1].move if ply else None
    raise AssertionError("a record has a position before each of its plies")


@pages.get("/games/<int:game_id>")
@pages.get("/games/<int:game_id>/<int:ply>")
def game(game_id: int, ply: int | None = None) -> str:
    """A game at one of its plies, by default at its end."""
    with reading() as session:
        found, record = find_game(session, game_id)
        shown = len(record.plies) if ply is None else ply
        state, last = position(record, shown)
        return render_template(
            "game.html",
            game=found,
            record=record,
            ply=shown,
            board=draw(state, last),
            ending=ending_words(record),
        )


@pages.get("/games/<int:game_id>/<int:ply>/board")
def game_board(game_id: int, ply: int) -> Response:
    """The picture of a position alone, for the replay."""
    return picture(game_id, ply)


@pages.get("/games/<int:game_id>/<int:ply>.svg")
def picture(game_id: int, ply: int) -> Response:
    """A position of a game as SVG; ``?theme=dark`` for a dark ground."""
    theme: svg.Theme = "dark" if request.args.get("theme") == "dark" else "light"
    with reading() as session:
        _, record = find_game(session, game_id)
    state, last = position(record, ply)
    answer = Response(
        svg.render(illustrate(state, last=last), theme=theme), mimetype="image/svg+xml"
    )
    answer.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return answer


@pages.get("/games/<int:game_id>.json")
def game_json(game_id: int) -> Response:
    """A game's record, as `arena replay` reads it."""
    with reading() as session:
        _, record = find_game(session, game_id)
    return jsonify(record.to_json())


def ending_words(record: GameRecord) -> str:
    """How a game ended, in words."""
    names = record.variant.seat_names
    parts = [
        f"{names[fault.seat]}'s bot ({record.players[fault.seat]}) left at ply {fault.ply}: "
        f"{fault.termination}, {fault.detail}."
        for fault in record.faults
    ]
    winners = [names[seat] for seat, rank in enumerate(record.ranks) if rank == 1]
    if record.variant.seats == 1:
        parts.append(f"{record.scores[0]:g} points.")
    elif len(winners) == len(names):
        parts.append("A draw.")
    else:
        verb = "win" if len(winners) > 1 else "wins"
        parts.append(f"{' and '.join(winners)} {verb}.")
    if record.termination in ("repetition", "plylimit"):
        parts.append(f"It ended by {record.termination}.")
    return " ".join(parts)


@pages.app_template_filter("ago")
def ago(moment: datetime | None) -> Markup:
    """How long ago a moment was, with the exact time on hover."""
    if moment is None:
        return Markup("never")
    seconds = max(0, int((datetime.now(UTC) - moment).total_seconds()))
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            words = f"{count} {unit}{'s' if count > 1 else ''} ago"
            break
    else:
        words = "just now" if seconds < 10 else f"{seconds} seconds ago"
    exact = moment.strftime("%Y-%m-%d %H:%M:%S UTC")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        moment.isoformat(), exact, words
    )


@pages.app_template_filter("sparkline")
def sparkline(values: tuple[float, ...]) -> Markup:
    """A small chart of a few values, drawn here so that it needs no script."""
    if len(values) < 2:
        return Markup("")
    low, high = min(values), max(values)
    span = max(high - low, 1.0)
    points = " ".join(
        f"{number * 90 / (len(values) - 1) + 1:.1f},{22 - (value - low) * 20 / span:.1f}"
        for number, value in enumerate(values)
    )
    words = f"from {values[0]:.0f} to {values[-1]:.0f}"
    return Markup(
        '<svg class="spark" viewBox="0 0 92 24" role="img" aria-label="{}">'
        '<polyline points="{}" fill="none"/></svg>'
    ).format(words, points)


@pages.app_template_filter("chart")
def chart(history: list[tuple[int, float, float]]) -> Markup:
    """A rating with its band over the games, drawn here so that it needs no script."""
    if len(history) < 2:
        return Markup("")
    low = min(rating - margin for _, rating, margin in history)
    high = max(rating + margin for _, rating, margin in history)
    span = max(high - low, 1.0)
    width, height, left = 640, 200, 44

    def at(number: int, value: float) -> str:
        x = left + number * (width - left - 6) / (len(history) - 1)
        return f"{x:.1f},{height - 18 - (value - low) * (height - 30) / span:.1f}"

    line = " ".join(at(n, rating) for n, (_, rating, _) in enumerate(history))
    upper = [at(n, rating + margin) for n, (_, rating, margin) in enumerate(history)]
    lower = [at(n, rating - margin) for n, (_, rating, margin) in enumerate(history)]
    ticks = Markup("").join(
        Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
            '<text x="{}" y="{:.1f}" text-anchor="end">{:.0f}</text>'
        ).format(left, width - 6, y, y, left - 6, y + 4, value)
        for value, y in (
            (low + span * share, height - 18 - share * (height - 30)) for share in (0, 0.5, 1)
        )
    )
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="Rating over the last {} '
        'games, with its 95 % band">{}<polygon class="band" points="{}"/>'
        '<polyline class="line" points="{}" fill="none"/></svg>'
    ).format(width, height, len(history), ticks, " ".join(upper + lower[::-1]), line)


@pages.app_context_processor
def names() -> dict[str, Any]:
    """What every template may use."""
    return {"url_for": url_for, "PLACEMENT_GAMES": PLACEMENT_GAMES}
