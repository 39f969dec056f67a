"""The pages of matches and games, and the pictures of their positions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

from flask import Blueprint, Response, abort, jsonify, render_template, request, url_for
from markupsafe import Markup
from sqlalchemy.orm import Session

from arena.competitions.kinds import kind_of
from arena.lists.accuracy import marks_of
from arena.models import JobStatus, Match, Place, Scope
from arena.schedule import waits
from arena.schedule.jobs import spec_of, variant_of
from arena.schedule.verdicts import VoidMatch
from arena.web import queries, strips
from arena.web.boards import position_drawn
from arena.web.deeds import DeedForm, form_of
from arena.web.game_logs import readable_logs, shown_at
from arena.web.identity import current, keep_to_itself, settings
from arena.web.lookup import find_game, find_match, find_record, reading
from arena.web.permissions import refuse_reading
from arena.web.truth import words_by_ply
from arena.web.unchanging import DAY, unchanging
from arena.web.words import outcome, sentence
from engine import pgn, svg
from engine.clicks import illustrate
from engine.colours import Theme
from engine.game import GameError, State
from engine.plurals import counted
from engine.record import GameRecord, other_rules, states_known
from engine.sitting import clocks
from engine.translation import N_, gettext, translated

games = Blueprint("games", __name__)

VoidForm = form_of(VoidMatch)
PGN = "application/x-chess-pgn"
MOVES = "moves"
TABS = {MOVES: N_("Moves"), "log": N_("Log"), "protocol": N_("Protocol")}
"""What stands beside the board of a game for who may read a log of it."""


@games.get("/matches/<int:number>")
def match(number: int) -> str:
    """A match: its games, or the running one's board, which renews itself."""
    account = current()
    # A form's secret takes a cookie, which nobody needs who only reads.
    organises = account and (account.may(Scope.ORGANISE) or account.organised)
    form = VoidForm() if organises else None
    with reading() as session:
        return match_page(session, number, form)


def match_page(session: Session, number: int, form: DeedForm | None, problem: str = "") -> str:
    """The page of a match.

    Args:
        form: with which organisers make it void; None for who is none.
        problem: why that can't be.
    """
    found, account = find_match(session, number), current()
    if account is None or not account.organises(found.competition):
        form = None
    return render_template(
        "match.html",
        match=found,
        kind=kind_of(found.competition),
        **standing(session, found),
        form=form,
        problem=problem,
        can_be_void=_can_be_void(found),
    )


def _can_be_void(match: Match) -> bool:
    """Whether it makes sense to offer it; `arena.schedule.verdicts` decides."""
    competition = match.competition
    played = match.status in (JobStatus.FIXED, JobStatus.SET_ASIDE)
    return played and kind_of(competition).why_not_void(competition, match) is None


@games.get("/matches/<int:number>/live")
def live(number: int) -> str:
    """The part of a match's page that renews itself."""
    with reading() as session:
        found = find_match(session, number)
        return render_template("_live.html", match=found, **standing(session, found))


def standing(session: Session, match: Match) -> dict[str, Any]:
    """What a match's page shows that changes: the running game, or why there is none."""
    why = queries.why_waiting(session, match, settings())
    waits_its_turn = match.status in (JobStatus.OPEN, JobStatus.ISSUED) and not match.worker
    queue = waits.of_match(session, match) if waits_its_turn and not why else []
    return {"live": live_game(match), "waits": why, "queue": queue}


@dataclass(frozen=True, slots=True)
class Live:
    """The running game of a match."""

    number: int
    """Counted from 1."""
    games: int
    """How many the match has."""
    ply: int
    seats: list[tuple[str, Place]]
    to_move: int | None
    board: Markup


def live_game(match: Match) -> Live | None:
    """The running game as its worker last told, and before it has told anything the first one's
    opening; None if there is none, or it makes no sense.
    """
    if match.progress:
        number, moves = match.progress["game"], match.progress["moves"]
    elif match.status is JobStatus.ISSUED and match.worker:
        number, moves = 0, [f":{move}" for move in match.opening]
    else:
        return None
    spec, variant = spec_of(match), variant_of(match)
    if not 0 <= number < spec.games:
        return None
    seed = spec.game_seed(number)
    state: State = variant.drawn(seed).initial(seed)
    move: str | None = None
    before: State | None = None
    try:
        for word in moves:
            seat, _, move = word.partition(":")
            while seat and state.to_move is not None and state.to_move != int(seat) - 1:
                # Whose turn it was has left the game.
                state = state.retire(state.to_move)
            before, state = state, state.play(move)
    except (GameError, ValueError):
        # What a worker says of a running game is not proven; a page must not fail over it.
        return None
    return Live(
        number + 1,
        spec.games,
        len(moves),
        [
            (name, match.places[place])
            for name, place in zip(variant.seat_names, spec.seating(number), strict=True)
        ],
        state.to_move,
        position_drawn(state, move, before),
    )


@games.get("/games/<int:number>")
@games.get("/games/<int:number>/<int:ply>")
def game(number: int, ply: int | None = None) -> Response:
    """A game at one of its plies, by default at its end; ``?tab=`` for what stands beside it."""
    with reading() as session:
        found, record = find_game(session, number)
        judged, logs = marks_of(session, number), readable_logs(found, record)
        at, tab = len(record.plies) if ply is None else ply, request.args.get("tab", "")
        parts = shown(record, at)
        answer = Response(
            render_template(
                "game.html",
                game=found,
                judged=judged,
                marks=words_by_ply(judged, record.variant),
                has_pgn=pgn.dialect_of(record.variant) is not None,
                tabs=TABS if logs else {},
                tab=tab if tab in TABS else MOVES,
                said={seat: log.last_line for seat, log in logs.items()},
                logs=shown_at(at, found, record, logs),
                frame=frame_of(parts["board"]),
                **parts,
            )
        )
    return keep_to_itself(answer) if logs else answer


@games.get("/games/<int:number>/<int:ply>/log")
def log(number: int, ply: int) -> Response:
    """What bots wrote and were told in a position, as parts of the game's page."""
    with reading() as session:
        found, record = find_game(session, number)
        demand_position(record, ply)
        logs = readable_logs(found, record)
        if not logs:
            bot = found.seats[0].entrant.version.bot
            words = gettext(
                "What the bots of game %(number)s wrote is their owners' alone.", number=number
            )
            refuse_reading(bot, words)
        return keep_to_itself(
            Response(render_template("log.html", logs=shown_at(ply, found, record, logs)))
        )


def shown(record: GameRecord, ply: int) -> dict[str, Any]:
    """What a replay shows of a game, at one of its plies, by the names of the templates."""
    return {
        "record": record,
        "ply": ply,
        "board": position_drawn(*position(record, ply)),
        "outcome": outcome(record),
        "other": other_rules(record),
        # Where each move has its own time, there is no clock to look at.
        "clocks": clocks(record) if any(one.time_ms for one in record.controls) else (),
        "points": strips.point_strips(record, ply),
        "times": strips.time_strips(record, ply),
        "values": strips.value_strips(record, ply),
        "incidents": strips.incidents(record),
        "nearly": strips.NEARLY,
    }


def demand_position(record: GameRecord, ply: int) -> None:
    """Says that it is not there, if a game has no position after so many plies."""
    if not 0 <= ply <= len(record.plies):
        plies = counted(len(record.plies), "ply", "plies")
        abort(
            404,
            gettext(
                "The game has %(plies)s, so there is no position %(ply)s.", plies=plies, ply=ply
            ),
        )


def position(record: GameRecord, ply: int) -> tuple[State, str | None, State | None]:
    """The position after so many plies, the move that led to it, and what stood before that.

    Of a game that went on where it would end by the rules of now, it is the last one of these.
    """
    demand_position(record, ply)
    before = None
    for number, state in islice(enumerate(states_known(record)), ply + 1):
        found = state, record.plies[number - 1].move if number else None, before
        before = state
    return found


FRAME_WIDTH, FRAME_EDGES, FRAME_REST = 420, 32, 170
"""Pixels of a frame with a replay: its width, what is beside a board, and what is above and below.
"""


def frame_of(board: str) -> tuple[int, int]:
    """Width and height of a frame in which the replay of a game has its board without a margin.

    Args:
        board: as `draw` draws it, which says how large it is.
    """
    found = re.search(r' width="(\d+)" height="(\d+)"', board)
    assert found
    width, height = map(int, found.groups())
    return FRAME_WIDTH, round((FRAME_WIDTH - FRAME_EDGES) * height / width) + FRAME_REST


@games.get("/games/<int:number>/<int:ply>/board")
def board(number: int, ply: int) -> Response:
    """The board of a game's page alone, for the replay."""
    with reading() as session:
        record = find_record(session, number)

    def drawn() -> Response:
        return Response(position_drawn(*position(record, ply)), mimetype="image/svg+xml")

    return unchanging(record, drawn)


@games.get("/games/<int:number>/<int:ply>.svg")
def picture(number: int, ply: int) -> Response:
    """A position of a game as SVG; ``?theme=dark`` for a dark ground, ``?view=board`` for the
    board without its coordinates and captions.
    """
    with reading() as session:
        record = find_record(session, number)
    theme: Theme = "dark" if request.args.get("theme") == "dark" else "light"
    whole = request.args.get("view") != "board"

    def drawn() -> Response:
        state, last, before = position(record, ply)
        scene = illustrate(state, last=last, before=before)
        drawing = svg.render(scene, theme=theme, coordinates=whole, beneath=whole)
        return Response(drawing, mimetype="image/svg+xml")

    return unchanging(record, drawn)


def cacheable(answer: Response) -> Response:
    """An answer that may be kept; to who has it already only that is said."""
    answer.headers["Cache-Control"] = f"public, max-age={DAY}"
    answer.add_etag()
    answer.make_conditional(request)
    return answer


@games.get("/games/<int:number>.json")
def game_json(number: int) -> Response:
    """A game's record, as `arena replay` reads it."""
    with reading() as session:
        record = find_record(session, number)
    return jsonify(record.to_json())


def pgn_file(number: int) -> Response:
    """A game as PGN, if games of its variant are written so."""
    with reading() as session:
        found, record = find_game(session, number)
        try:
            text = pgn.write(
                record,
                event=found.competition.title,
                site=url_for("games.game", number=number, _external=True),
                round=str(found.match_id),
                comments=True,
            )
        except pgn.NoPgnError as error:
            abort(404, sentence(error))
    return cacheable(Response(text, mimetype=PGN))


games.add_url_rule("/games/<int:number>.pgn", "game_pgn", pgn_file)


@games.get("/games/<int:number>.txt")
def game_text(number: int) -> Response:
    """A game for people to read: who played what, its moves, and its last position."""
    with reading() as session:
        record = find_record(session, number)
    names = record.variant.seat_names
    lines = [
        f"{record.variant}, {record.time.words}, {record.started}",
        *(
            f"{translated(name)}: {player}"
            for name, player in zip(names, record.players, strict=True)
        ),
        "",
        *(
            f"{n}. {translated(record.variant.mover_name(ply.seat))} {ply.move}"
            for n, ply in enumerate(record.plies, start=1)
        ),
        "",
        outcome(record),
        position(record, len(record.plies))[0].text(),
    ]
    return Response("\n".join(lines) + "\n", mimetype="text/plain")
