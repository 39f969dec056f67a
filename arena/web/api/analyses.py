"""Operations on analyses: those that are kept, and what bots answered in positions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import sqlalchemy as sa
from flask import abort
from pydantic import Field

from arena.analyses.asking import answers_to
from arena.models import Analysis, BotAnswer, Scope
from arena.web.api.paging import Pages, page
from arena.web.api.shapes import At, List, Shape
from arena.web.api.specification import operation
from arena.web.identity import current, signed_in
from arena.web.lookup import reading
from arena.web.words import sentence
from engine.analysis import MOST_CHARACTERS, Tree
from engine.game import GameError
from engine.games import find_variant
from engine.translation import gettext

TAG = "analysis"


class AnalysisShape(Shape):
    """A tree of moves and comments that somebody keeps."""

    code: str = Field(description="By which its address names it.")
    name: str
    game: str
    position: str = Field(description="That it begins at; empty for the first of the game.")
    moves: str = Field(description="As the address of an analysis has them.")
    comments: dict[str, str] = Field(description="By the numbers of the moves that they are on.")
    shared: bool = Field(description="Whether whoever has the address may see it.")
    game_number: int | None = Field(description="Of the game that it began with, if of one.")
    created: datetime
    changed: datetime


class AnalysisList(List):
    items: list[AnalysisShape]


@operation("GET /account/analyses", AnalysisList, tag=TAG, scope=Scope.READ)
def list_own_analyses(query: Pages) -> AnalysisList:
    """The analyses that one keeps."""
    with reading() as session:
        own = sa.select(Analysis).where(Analysis.owner_id == signed_in().id)
        return page(AnalysisList, session, own, Analysis.id, query)


@operation("GET /analyses/<code>", AnalysisShape, tag=TAG)
def get_analysis(code: str) -> AnalysisShape:
    """An analysis, for who may see it."""
    with reading() as session:
        found = session.scalar(sa.select(Analysis).where(Analysis.code == code))
        account = current()
        mine = found is not None and account is not None and found.owner_id == account.id
        if found is None or not (found.shared or mine):
            abort(404, gettext("There is no analysis %(code)s.", code=code))
        return AnalysisShape.of(found)


class AnalysisLine(Shape):
    """The moves that lead to some positions."""

    game: Annotated[str, Field(max_length=1000, description="With its options, as pages have it.")]
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
    numbers: dict[str, float] = Field(description="All that it gave, by their keys.")
    remark: Annotated[str, At("text")]
    cpu_us: int
    move_ms: int = Field(description="How long it might think.")


class Answers(Shape):
    """What bots answered in some positions."""

    items: list[AnswerShape]


@operation("GET /answers", Answers, tag=TAG, errors=(404,))
def list_answers(query: AnalysisLine) -> Answers:
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
