"""What is certain of games and bots, on pages: accuracy against perfect play, and its words."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, render_template

from arena.lists.accuracy import MOST_GAMES, GameMarks, accuracies, is_solved
from arena.web.api.ladder_shapes import AccuracyShape
from arena.web.lookup import find_ladder, reading
from engine.game import Variant
from engine.plurals import counted
from engine.translation import N_, gettext, translated
from engine.truth import Judgement, wants

truth = Blueprint("truth", __name__)


TURNED = {
    (1, 0): N_("turned a win into a draw"),
    (1, -1): N_("turned a win into a loss"),
    (0, -1): N_("turned a draw into a loss"),
}
"""What a move did that gave a result away, by whether that was to win and now is."""


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
    """Answers with the accuracies of a ladder's bots as JSON."""
    with reading() as session:
        lines = accuracies(session, find_ladder(session, name))
    return jsonify([AccuracyShape.of(line).model_dump(mode="json") for line in lines])


def mark_words(one: Judgement, variant: Variant) -> str:
    """What a move gave away, and what would have kept it, in words."""
    if variant.seats == 1:
        lost = gettext("after this it can't be solved")
    elif one.gave_result:
        could, does = (_sign(wants(one.seat) * value) for value in (one.best, one.value))
        lost = translated(TURNED[could, does])
    else:
        lost = gettext("gave away %(points)s", points=counted(one.lost, "point"))
    if not one.better:
        return lost
    return gettext("%(lost)s; better: %(moves)s", lost=lost, moves=", ".join(one.better))


def _sign(number: int) -> int:
    return max(-1, min(1, number))


def words_by_ply(found: GameMarks | None, variant: Variant) -> dict[int, str]:
    """What each move of a game that gave something away gave away, by its ply from 1."""
    marks = found.marks if found else ()
    return {one.ply + 1: mark_words(one, variant) for one in marks}
