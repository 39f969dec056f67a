"""The page of each game: its rules with their pictures, a board to try them, and who plays it.

The pictures are drawn from positions that stand in the rules (`engine.rules_pictures`), so that
they can't say anything else than these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import Any

from flask import Blueprint, Response, abort, jsonify, render_template, request, url_for
from markupsafe import Markup
from sqlalchemy.orm import Session

from arena.lists.records import LOOKED_AT, records_of
from arena.models import CompetitionState, Entrant, Ladder
from arena.web import docs, leaderboards, queries
from arena.web.analysis_views import AnalysisView, Beginning
from arena.web.boards import position_drawn
from arena.web.games import cacheable
from arena.web.ladders import results_by_seat
from arena.web.lookup import reading
from arena.web.rules_pictures import DrawnPicture, pictures_of
from arena.web.words import sentence
from engine.analysis import Tree
from engine.clicks import illustrate
from engine.colours import Theme
from engine.game import Game, GameError, Variant
from engine.games import GAMES
from engine.rules_pictures import RulesPicture
from engine.shelf import UnknownGameError
from engine.translation import ENGLISH, gettext, translated

rules = Blueprint("rules", __name__)

FEWEST_GAMES = 50
"""The fewest games of which it is told what the first seat takes."""
TRY_BOARD = "try-board"
"""The part of a page on which a game is tried."""


@dataclass(frozen=True)
class GameCard:
    """A game in short: its picture, a sentence, and where it is played."""

    game: Game
    sentence: str
    language: str
    """The language that the sentence is in."""
    ladders: Sequence[Ladder]
    """Those with the most games first, and what can't be played after the others."""

    @property
    def name(self) -> str:
        """The name by which it is known."""
        return self.game.name

    @property
    def main(self) -> Ladder | None:
        """The ladder that stands for it; None if there is none."""
        return self.ladders[0] if self.ladders else None

    @property
    def games(self) -> int:
        """How many were played on its ladders."""
        return sum(ladder.games for ladder in self.ladders)


def cards(ladders: Sequence[Ladder]) -> list[GameCard]:
    """The games that stand for themselves, and those of families that have a ladder; those that
    are played first.
    """
    played = {ladder.game for ladder in ladders if ladder.game in GAMES}
    names = sorted({*GAMES.singles, *played})
    found = [card(GAMES[name], ladders) for name in names]
    return sorted(found, key=lambda one: (not one.ladders, not one.game.is_first, one.name))


def card(game: Game, ladders: Sequence[Ladder]) -> GameCard:
    """A game in short."""
    its = [ladder for ladder in ladders if ladder.game == game.name]
    its.sort(key=lambda one: (one.state is not CompetitionState.OPEN, -one.games, one.id))
    first = next(filter(None, _pictures(game.name)), None)
    guide = docs.guides().get(docs.GAME_PAGES + game.name)
    said = first.of.caption if first else guide.summary if guide else ""
    return GameCard(game, said, guide.language if guide else ENGLISH.language, its)


def _pictures(game: str) -> Iterator[DrawnPicture | None]:
    """The pictures of a game's rules page."""
    guide = docs.guides().get(docs.GAME_PAGES + game)
    return pictures_of(game, guide.tokens if guide else ())


def find_rules(name: str) -> Game:
    """The game of a name, or a 404 that says why there is none."""
    try:
        return GAMES[name]
    except UnknownGameError as error:
        abort(404, sentence(error))


@rules.get("/rules")
def listing() -> str:
    """All games, each in short."""
    with reading() as session:
        ladders = queries.ladders(session)
        return render_template(
            "games_here.html",
            cards=cards(ladders),
            leaders=leaderboards.leaders(session, ladders),
            today=queries.games_of_day(session, datetime.now(UTC)),
        )


@rules.get("/rules.json")
def listing_json() -> Response:
    """Answers with all games in short as JSON."""
    with reading() as session:
        ladders = queries.ladders(session)
        leaders = leaderboards.leaders(session, ladders)
        return jsonify([_told(one, leaders) for one in cards(ladders)])


def _told(card: GameCard, leaders: Mapping[int, Entrant]) -> dict[str, Any]:
    """A game in short as JSON's types; its ladders in their order, each with who leads it."""
    return {
        "game": card.name,
        "title": card.game.title,
        "sentence": card.sentence,
        "games": card.games,
        "ladders": [
            {
                "name": ladder.name,
                "title": ladder.title,
                "state": str(ladder.state),
                "games": ladder.games,
                "leader": leader.version.label if (leader := leaders.get(ladder.id)) else None,
            }
            for ladder in card.ladders
        ],
    }


@rules.get("/rules/<game>")
def game(game: str) -> Any:
    """A game: its rules, a board to try them, its ladders and records."""
    its = find_rules(game)
    guide = docs.guides().get(docs.GAME_PAGES + game)
    view, problem = _tried(its)
    with reading() as session:
        ladders = queries.ladders(session)
        shown = card(its, ladders)
        return render_template(
            "rules.html",
            card=shown,
            guide=guide,
            text=Markup() if guide is None else docs.render(guide, titled=False),
            leaders=leaderboards.leaders(session, shown.ladders),
            view=view,
            chosen=(chosen := view.clickable()),
            board=chosen.board if chosen else position_drawn(view.state, view.last, view.before),
            problem=problem,
            TRY_BOARD=TRY_BOARD,
            **_of_main(session, shown.main),
        )


def _of_main(session: Session, ladder: Ladder | None) -> dict[str, Any]:
    """What a page tells of the ladder that stands for its game."""
    if ladder is None or not ladder.games:
        return {"played": None, "records": None, "recorded": {}}
    records = records_of(session, ladder.id)
    played = results_by_seat(session, ladder)
    return {
        "played": played if played.games >= FEWEST_GAMES else None,
        "records": records,
        "recorded": {one.id: one for one in queries.games_by_id(session, records.games)},
        "LOOKED_AT": LOOKED_AT,
    }


def _tried(game: Game) -> tuple[AnalysisView, str]:
    """The board on which a game is tried as an address asks for it, and what it can't be asked."""
    variant = _smallest(game)
    page = url_for("rules.game", game=game.name)
    base = Beginning(page, {}, Tree.begin(variant), {}, translated(game.title), anchor=TRY_BOARD)
    try:
        return AnalysisView.asked(base, request.args)
    except GameError as error:
        return AnalysisView(base, base.tree, {}, 0), sentence(error)


def _smallest(game: Game) -> Variant:
    """The variant with the fewest squares of those that a game offers."""
    return _by_size(game.name, GAMES.rules(game.name))


@lru_cache(256)
def _by_size(name: str, _rules: str) -> Variant:
    offered = GAMES[name].offered
    if len(offered) == 1:
        return offered[0]
    return min(offered, key=lambda one: len(illustrate(one.initial()).squares))


@rules.get("/rules/<game>.svg")
def emblem(game: str) -> Response:
    """The picture that stands for a game: the first of its rules, or its first position."""
    its = find_rules(game)
    first = next(filter(None, _pictures(its.name)), None)
    if first is None:
        variant = its.offered[0].drawn(0)
        first = DrawnPicture(RulesPicture(its.title, variant, "", (), variant.initial()))
    return _answer(first, bare=True)


@rules.get("/rules/<game>/<int:number>.svg")
def picture(game: str, number: int) -> Response:
    """A picture of a game's rules, counted from 1; ``?theme=dark`` for a dark ground."""
    its = next(islice(_pictures(find_rules(game).name), number - 1, None), None) if number else None
    if its is None:
        abort(
            404,
            gettext("The rules of %(game)s have no picture %(number)s.", game=game, number=number),
        )
    return _answer(its)


def _answer(picture: DrawnPicture, *, bare: bool = False) -> Response:
    theme: Theme = "dark" if request.args.get("theme") == "dark" else "light"
    return cacheable(Response(picture.svg(theme, bare=bare), mimetype="image/svg+xml"))
