"""What is certain of games and bots, on pages: accuracy against perfect play, and its words."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, render_template

from arena.lists.accuracy import MOST_GAMES, GameMarks, accuracies, is_solved
from arena.web.api.ladder_shapes import AccuracyShape
from arena.web.lookup import find_ladder, reading
from engine.game import Variant
from engine.plurals import counted
from engine.truth import Judgement, wants

truth = Blueprint("truth", __name__)


@truth.get("/ladders/<name>/accuracy")
def accuracy(name: str) -> str:
    """How accurate the bots of a ladder are, where that is certain."""
    with reading() as session:
        ladder = find_ladder(session, name)
        return render_template(
            "accuracy.html",
            ladder=ladder,
            lines=accuracies(session, ladder),
            is_known=is_solved(ladder.variant),
            most=MOST_GAMES,
        )


@truth.get("/ladders/<name>/accuracy.json")
def accuracy_json(name: str) -> Response:
    """The same as JSON."""
    with reading() as session:
        lines = accuracies(session, find_ladder(session, name))
    return jsonify([AccuracyShape.of(line).model_dump(mode="json") for line in lines])


def mark_words(one: Judgement, variant: Variant) -> str:
    """What a move gave away, and what would have kept it, in words."""
    if variant.seats == 1:
        lost = "after this it can't be solved"
    elif one.gave_result:
        lost = f"turned {_result(one.best, one.seat)} into {_result(one.value, one.seat)}"
    else:
        lost = f"gave away {counted(one.lost, 'point')}"
    return f"{lost}; better: {', '.join(one.better)}" if one.better else lost


def _result(value: int, seat: int) -> str:
    mine = wants(seat) * value
    return "a win" if mine > 0 else "a loss" if mine < 0 else "a draw"


def words_by_ply(found: GameMarks | None, variant: Variant) -> dict[int, str]:
    """What each move of a game that gave something away gave away, by its ply from 1."""
    marks = found.marks if found else ()
    return {one.ply + 1: mark_words(one, variant) for one in marks}
