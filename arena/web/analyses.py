"""The board on which positions are looked into: legal moves by clicks, a tree of them, comments.

Everything that was tried stands in the address, behind what it began with: the start of a game, a
game that was played, or an analysis that somebody keeps. So the address is what is shared, and the
back button undoes. The server alone knows the rules, and proves every move of an address anew.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from flask import (
    Blueprint,
    Response,
    abort,
    flash,
    jsonify,
    redirect,
    render_template,
    request,
    url_for,
)
from sqlalchemy.orm import Session

from arena import sittings
from arena.analyses.analysis_deeds import KeepAnalysis, RemoveAnalysis, grown, own_analyses
from arena.analyses.asking import (
    USUAL_MS,
    AskBots,
    asked_lately,
    bots_for,
    unanswered,
)
from arena.ground.refusals import Refusal
from arena.models import Analysis, JobStatus, Ladder, Scope
from arena.recorder.dispatch import wake
from arena.web import evaluation_charts, queries
from arena.web.analysis_views import AnalysisView, Beginning, Opinions, number_in
from arena.web.boards import position_drawn
from arena.web.deeds import REFUSED, add_deed, do
from arena.web.identity import current, settings
from arena.web.lookup import find_record, find_sitting, reading
from arena.web.permissions import needs
from arena.web.words import opposed, sentence
from engine import svg
from engine.analysis import (
    LONGEST_COMMENT,
    Tree,
)
from engine.clicks import illustrate
from engine.game import GameError, OptionError
from engine.games import GAMES, find_variant
from engine.referee import RESIGN
from engine.shelf import Missing
from engine.translation import gettext, translated

analyses = Blueprint("analyses", __name__)

LONGEST_POSITION = 1000


@lru_cache(maxsize=64)
def _begun(variant: str, position: str) -> Tree:
    name, *options = variant.split() or [""]
    return Tree.begin(find_variant(name, options), position)


def from_start() -> Beginning:
    """What an address begins with that names a variant and perhaps a position.

    Raises:
        GameError: there is no such variant, or it has no such position.
    """
    variant = request.args.get("game", "").strip()[:LONGEST_POSITION]
    if (name := variant.partition(" ")[0]) not in GAMES:
        abort(404, gettext("There is no game %(name)s here.", name=name))
    position = request.args.get("position", "").strip()[:LONGEST_POSITION]
    tree = _begun(variant, position)
    words = {"game": variant} | ({"position": position} if position else {})
    title = translated(GAMES[tree.variant.game].title)
    return Beginning(url_for("analyses.board"), words, tree, {}, title)


def from_game(session: Session, number: int) -> Beginning:
    """A game that was played."""
    record = find_record(session, number)
    if isinstance(record.variant, Missing):
        abort(404, sentence(record.variant.reason))
    tree = Tree.of_record(record)
    title = gettext(
        "Game %(number)s: %(players)s",
        number=number,
        players=opposed(record.players),
    )
    return Beginning(
        url_for("analyses.of_game", number=number), {}, tree, {}, title, record, number
    )


def from_kept(session: Session, code: str) -> Beginning:
    """An analysis that somebody keeps, for who may see it."""
    found = session.scalar(sa.select(Analysis).where(Analysis.code == code))
    account = current()
    mine = found is not None and account is not None and found.owner_id == account.id
    if found is None or not (found.shared or mine):
        abort(404, gettext("There is no analysis %(code)s.", code=code))
    try:
        tree = grown(found.game, found.position, found.moves)
    except Refusal as error:
        abort(404, sentence(error))
    comments = {int(number): text for number, text in found.comments.items()}
    record = None
    if found.game_number is not None:
        record = find_record(session, found.game_number)
    page = url_for("analyses.kept", code=code)
    return Beginning(page, {}, tree, comments, found.name, record, found.game_number, kept=found)


@analyses.get("/play/<int:number>/analysis")
def of_sitting(number: int) -> Any:
    """Leads to the board with the moves of a person's game."""
    with reading() as session:
        record = sittings.record_of(find_sitting(session, number))
    if isinstance(record.variant, Missing):
        abort(404, sentence(record.variant.reason))
    tree = Tree.of_record(record)
    node = min(number_in(request.args.get("node", ""), 0), len(tree.nodes))
    return redirect(url_for("analyses.board", game=str(tree.variant), moves=tree.text(), node=node))


@analyses.get("/analyses/<code>")
def kept(code: str) -> Any:
    """The board of an analysis that somebody keeps."""
    with reading() as session:
        base = from_kept(session, code)
    try:
        return _shown(base)
    except GameError as error:
        abort(REFUSED, sentence(error))


@analyses.post("/analyses")
@needs(Scope.SUBMIT)
def keep() -> Any:
    """Keeps an analysis under a name."""
    form = request.form
    comments = dict(said.partition(":")[::2] for said in form.getlist("comment"))
    deed = KeepAnalysis(
        name=form.get("name", ""),
        game=form.get("game", ""),
        moves=form.get("moves", ""),
        position=form.get("position", ""),
        comments=comments,
        shared=form.get("shared", "") == "yes",
        of_game=number_in(form.get("of_game", ""), 0),
    )
    done = do(deed)
    flash(sentence(done.said))
    node = number_in(form.get("node", ""), 0)
    return redirect(url_for("analyses.kept", code=done.answer.code, node=node), 303)


add_deed(
    analyses,
    "/analyses/<code>/remove",
    RemoveAnalysis,
    then=lambda _, code: url_for("analyses.board"),  # noqa: ARG005
)


@analyses.get("/analysis")
def board() -> Any:
    """A board for any position of any game; without one, where to begin."""
    if not request.args.get("game", "").strip():
        return _beginning()
    try:
        return _shown(from_start())
    except GameError as error:
        return _beginning(sentence(error)), REFUSED


@analyses.get("/games/<int:number>/analysis")
def of_game(number: int) -> Any:
    """A board for the positions of a game that was played."""
    with reading() as session:
        base = from_game(session, number)
    try:
        return _shown(base)
    except GameError as error:
        abort(REFUSED, sentence(error))


def _beginning(problem: str = "") -> str:
    with reading() as session:
        ladders = [one for one in queries.ladders(session) if not isinstance(one.variant, Missing)]
        by_game: dict[str, list[Ladder]] = {}
        for ladder in ladders:
            by_game.setdefault(translated(GAMES[ladder.game].title), []).append(ladder)
        account = current()
        return render_template(
            "new_analysis.html",
            kept=own_analyses(session, account.id) if account else [],
            by_game=by_game,
            problem=problem,
            variants=sorted({str(ladder.variant) for ladder in ladders}),
        )


def _shown(base: Beginning) -> Any:
    """The page of an analysis."""
    view, problem = AnalysisView.asked(base, request.args)
    if not problem and ("move" in request.args or "comment" in request.args):
        return redirect(view.address(), 303)
    page = page_of(view, problem)
    return (page, REFUSED) if problem else page


def page_of(view: AnalysisView, problem: str = "") -> str:
    """The page of an analysis.

    Args:
        problem: what was asked for and can't be.
    """
    clickable, account, kept_as = view.clickable(), current(), view.base.kept
    may_keep = account is not None and account.may(Scope.SUBMIT)
    now = datetime.now(UTC)
    with reading() as session:
        opinions = Opinions.of(session, view)
        may_ask = account is not None and account.may(Scope.SUBMIT) and not view.tree.position
        asked = unanswered(session, account.id, now) if account else []
        left = settings().asked_seconds_a_day
        left -= asked_lately(session, account.id, now) if account else 0
        bots = bots_for(session, view.tree.variant.game)
        workers = queries.living_workers(session, now)
    line = view.line
    drawn = evaluation_charts.curve(
        opinions.expectations,
        opinions.worst,
        last=len(line),
        place=view.ply,
        address=lambda place: view.address(line[place - 1].number if place else 0),
    )
    return render_template(
        "analysis.html",
        view=view,
        opinions=opinions,
        curve=drawn,
        may_keep=may_keep,
        is_mine=kept_as is not None and account is not None and kept_as.owner_id == account.id,
        may_ask=may_ask,
        asked=asked,
        waits=any(one.status is not JobStatus.SET_ASIDE for one in asked),
        left=max(0.0, left),
        bots=bots,
        workers=workers,
        chosen=clickable,
        board=clickable.board if clickable else position_drawn(view.state, view.last, view.before),
        problem=problem,
        resign=RESIGN,
        longest_comment=LONGEST_COMMENT,
    )


@analyses.post("/analysis/ask")
@needs(Scope.SUBMIT)
def ask() -> Any:
    """Asks bots about a position, or about all that led to it and what followed."""
    form, whole = request.form, request.form.get("whole", "") == "yes"
    named = [*form.getlist("bot"), *form.get("others", "").replace(",", " ").split()]
    done = do(
        AskBots(
            game=form.get("game", ""),
            bots=tuple(named),
            moves=form.get("line" if whole else "moves", ""),
            whole=whole,
            move_ms=number_in(form.get("move_ms", ""), USUAL_MS),
        )
    )
    wake(settings())
    flash(sentence(done.said))
    there = form.get("back", "")
    ours = there.startswith("/") and not there.startswith("//") and "\\" not in there
    return redirect(there if ours else url_for("analyses.board"), 303)


@analyses.get("/analysis.svg")
def picture() -> Response:
    """The position of an address that names a variant, as SVG."""
    try:
        view, _ = AnalysisView.asked(from_start(), request.args)
    except GameError as error:
        abort(404, sentence(error))
    drawn = svg.render(illustrate(view.state, last=view.last, before=view.before))
    return Response(drawn, mimetype="image/svg+xml")


@analyses.get("/analysis.json")
def board_json() -> Any:
    """The tree of an address that names a variant, as JSON."""
    try:
        view, _ = AnalysisView.asked(from_start(), request.args)
    except (OptionError, GameError) as error:
        abort(404, sentence(error))
    return jsonify(told(view))


def told(view: AnalysisView) -> dict[str, Any]:
    """An analysis as JSON's types."""
    state = view.state
    return {
        "variant": str(view.tree.variant),
        "position": view.tree.position,
        "moves": [
            {"node": one.number, "after": one.parent, "seat": one.seat + 1, "move": one.move}
            for one in view.tree.nodes
        ],
        "comments": {str(number): text for number, text in view.comments.items()},
        "node": view.node,
        "at": state.text(),
        "to_move": None if state.to_move is None else state.to_move + 1,
        "legal": list(state.legal_moves()),
    }
