"""Operations on analyses: what bots answered in the positions of a line, and what is asked."""

from __future__ import annotations

from typing import Annotated

from flask import abort
from pydantic import Field

from arena.analyses.asking import answers_to
from arena.models import BotAnswer
from arena.web.api.shapes import At, Shape
from arena.web.api.specification import operation
from arena.web.lookup import reading
from arena.web.words import sentence
from engine.analysis import MOST_CHARACTERS, Tree
from engine.game import GameError
from engine.games import find_variant

TAG = "analysis"


class Line(Shape):
    """The moves that lead to some positions."""

    game: Annotated[str, Field(max_length=1000, description="With its options: clobber size=5x6.")]
    moves: Annotated[
        str,
        Field(
            max_length=MOST_CHARACTERS,
            description="From the start on; those of a tree, too, as the address of an analysis "
            "has them.",
        ),
    ] = ""
    position: Annotated[str, Field(max_length=1000)] = ""


class AnswerShape(Shape):
    """What a bot answered in a position."""

    node: int = Field(description="Which of the moves leads to it; 0 for the beginning.")
    bot: Annotated[str, At("version.bot.name")]
    version: Annotated[int, At("version.number")]
    seat: Annotated[int, At(lambda one: one.seat + 1)] = Field(description="Whose turn it is.")
    move: str = Field(description="Empty if it answered with a fault.")
    fault: str | None
    share: float | None = Field(description="What its side expects of the game, from 0 to 1.")
    depth: float | None
    pv: list[str] = Field(description="The moves that it expects, as it wrote them.")
    remark: Annotated[str, At("text")]
    cpu_us: int
    move_ms: int = Field(description="How long it might think.")


class Answers(Shape):
    """What bots answered in some positions."""

    items: list[AnswerShape]


@operation("GET /answers", Answers, tag=TAG)
def list_answers(query: Line) -> Answers:
    """What bots answered in the positions of a line or a tree, whoever asked them."""
    name, *options = query.game.split() or [""]
    try:
        tree = Tree.begin(find_variant(name, options), query.position).reading(query.moves)
    except GameError as error:
        abort(404, sentence(error))
    numbers = {key: number for number, key in reversed(list(enumerate(tree.keys)))}
    with reading() as session:
        found = answers_to(session, list(numbers))
        items = [_told(one, numbers[one.key]) for one in found]
    return Answers(items=sorted(items, key=lambda one: (one.node, one.bot)))


def _told(answer: BotAnswer, node: int) -> AnswerShape:
    return AnswerShape.of(answer, node=node)
