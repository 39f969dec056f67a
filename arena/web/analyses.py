"""The board on which positions are looked into: legal moves by clicks, a tree of them, comments.

Everything that was tried stands in the address, behind what it began with: the start of a game, a
game that was played, or an analysis that somebody keeps. So the address is what is shared, and the
back button undoes. The server alone knows the rules, and proves every move of an address anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import urlencode

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

from arena.analyses.analysis_deeds import KeepAnalysis, RemoveAnalysis, grown, own_analyses
from arena.analyses.asking import (
    USUAL_MS,
    AskBots,
    answers_to,
    asked_lately,
    bots_for,
    unanswered,
)
from arena.analyses.evaluations import (
    Course,
    Evaluation,
    Swing,
    agreed,
    bar,
    courses,
    swings,
)
from arena.ground.refusals import Refusal
from arena.models import Analysis, BotAnswer, JobStatus, Ladder, Scope
from arena.recorder.dispatch import wake
from arena.web import boards, evaluation_charts, queries
from arena.web.deeds import REFUSED, add_deed, do
from arena.web.games import draw
from arena.web.identity import current, needs, settings
from arena.web.lookup import find_record, reading
from arena.web.words import sentence
from engine import svg
from engine.analysis import (
    LONGEST_COMMENT,
    AnalysisError,
    Node,
    Stretch,
    Tree,
    checked_comments,
    stretches,
)
from engine.clicks import Clicks, illustrate
from engine.game import CHANCE, GameError, OptionError, State
from engine.games import GAMES, find_variant
from engine.protocol import share
from engine.record import GameRecord
from engine.referee import RESIGN
from engine.shelf import Missing

analyses = Blueprint("analyses", __name__)

LONGEST_ADDRESS = 6000
"""Characters of moves and comments in an address; servers on the way take about 8,000 in all."""
LONGEST_POSITION = 1000
MOST_SWINGS = 8
"""Moves that are listed as those that gave most away."""
MOST_LINES = 60
"""Moves of an expected line that are shown."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """What an address begins with, before all that it adds."""

    page: str
    """The address without what stands behind the question mark."""
    words: Mapping[str, str]
    """What stands there before all else."""
    tree: Tree
    comments: Mapping[int, str]
    title: str
    record: GameRecord | None = None
    """The game that was played, if it is one's."""
    game: int | None = None
    """That game's number."""
    kept: Analysis | None = None
    """What it is kept as."""


@dataclass(frozen=True)
class AnalysisView:
    """An analysis as an address asks for it, at one of its nodes."""

    base: Beginning
    tree: Tree
    comments: Mapping[int, str]
    node: int
    clicked: Clicks = ()

    @classmethod
    def asked(cls, base: Beginning) -> tuple[AnalysisView, str]:
        """What the present address asks for, and what it says that can't be.

        Raises:
            AnalysisError: its moves can't be played.
        """
        asked, problem = request.args, ""
        tree = base.tree.reading(asked.get("moves", ""))
        comments = dict(base.comments)
        for said in asked.getlist("c"):
            number, _, text = said.partition(":")
            if number.isdecimal() and len(number) < 5:
                comments[int(number)] = text
        node = _number(asked.get("node", ""), 0 if base.record is None else len(base.tree.nodes))
        if node >= len(tree.states):
            raise AnalysisError(f"there is no move {node} in this analysis")
        if "comment" in asked:
            comments[node] = asked["comment"][: LONGEST_COMMENT + 1]
        view = cls(base, tree, checked_comments(tree, comments), node, tuple(asked.getlist("at")))
        if move := asked.get("move", "").strip():
            try:
                view = view.played(move)
            except GameError as error:
                problem = sentence(error)
        return view, problem

    @property
    def state(self) -> State:
        """The position that is shown."""
        return self.tree.states[self.node]

    @property
    def line(self) -> list[Node]:
        """The moves up to here, and those of the main line from here on."""
        return self.tree.line(self.node)

    @property
    def ply(self) -> int:
        """How many moves lead here."""
        return len(self.tree.path(self.node))

    @property
    def is_long(self) -> bool:
        """Whether it is too long for an address that can be shared."""
        return len(self.address()) > LONGEST_ADDRESS

    @property
    def is_changed(self) -> bool:
        """Whether it has more than it began with."""
        return self.tree is not self.base.tree or self.comments != self.base.comments

    @property
    def stretches(self) -> list[Stretch]:
        """The tree in the order in which it is read."""
        return list(stretches(self.tree))

    @property
    def outcomes(self) -> Mapping[str, float]:
        """What chance may draw here, if it is its turn."""
        return self.state.outcomes() if self.state.to_move == CHANCE else {}

    @property
    def fields(self) -> list[tuple[str, str]]:
        """What forms have to bring along, so that nothing of this is lost."""
        return [
            (name, str(value))
            for name, values in (self._query() | {"node": self.node}).items()
            for value in (values if isinstance(values, list) else [values])
        ]

    def _query(self) -> dict[str, Any]:
        """What stands behind the question mark."""
        query: dict[str, Any] = dict(self.base.words)
        if moves := self.tree.text(len(self.base.tree.nodes)):
            query["moves"] = moves
        if said := [
            f"{number}:{self.comments.get(number, '')}"
            for number in sorted({*self.comments, *self.base.comments})
            if self.comments.get(number) != self.base.comments.get(number)
        ]:
            query["c"] = said
        return query

    @cached_property
    def _prefix(self) -> str:
        query = urlencode(self._query(), doseq=True)
        return f"{self.base.page}?{query}{query and '&'}node="

    def address(self, node: int | None = None, at: Clicks = ()) -> str:
        """The address of this, or of the same at another node."""
        clicked = urlencode([("at", one) for one in at])
        return f"{self._prefix}{self.node if node is None else node}{clicked and '&'}{clicked}"

    def after(self, move: str) -> str:
        """The address of this after a legal move from here, in canonical notation."""
        if known := self.tree.child(self.node, move):
            return self.address(known)
        query = self._query()
        added = self.tree.word(self.node, move)
        query["moves"] = f"{query.get('moves', '')} {added}".lstrip()
        return f"{self.base.page}?{urlencode(query, doseq=True)}&node={len(self.tree.nodes) + 1}"

    def played(self, move: str) -> AnalysisView:
        """The same after a move from here.

        Raises:
            GameError: it can't be played.
        """
        tree = self.tree.played(self.node, move)
        canonical = move if move == RESIGN else self.state.canonical(move)
        return replace(self, tree=tree, node=tree.child(self.node, canonical), clicked=())

    def going_on(self, moves: Sequence[str]) -> tuple[AnalysisView, list[tuple[str, AnalysisView]]]:
        """The same after a line from here, and each of its moves with the view after it.

        It ends where the rules do not allow the next.
        """
        view, found = self, list[tuple[str, AnalysisView]]()
        for move in moves[:MOST_LINES]:
            try:
                view = view.played(move)
            except GameError:
                break
            found.append((view.tree.nodes[view.node - 1].move, view))
        return view, found

    @property
    def without(self) -> AnalysisView | None:
        """The same without this move and what follows; None of what it began with."""
        if self.node <= len(self.base.tree.nodes):
            return None
        parent = self.tree.nodes[self.node - 1].parent
        tree, numbers = self.tree.without(self.node)
        comments = {numbers[one]: it for one, it in self.comments.items() if one in numbers}
        return replace(self, tree=tree, comments=comments, node=numbers[parent], clicked=())

    def clickable(self) -> boards.Clickable | None:
        """The board, where a seat is to move."""
        if self.state.to_move is None or self.state.to_move == CHANCE:
            return None
        found = _reached(self.tree.keys[self.node], self.state)
        complete = {way: move for move, way in found.ways.items()}

        def leads(way: Clicks) -> str:
            # A move that was clicked by mistake is undone by going back.
            move = complete.get(way)
            return self.address(at=way) if move is None else self.after(move)

        return boards.clickable(found, self.clicked, leads, last=self.last)

    def played_by(self) -> list[Evaluation]:
        """What those who played the game expected at their moves, where the line is theirs."""
        record, known, found, ply = self.base.record, len(self.base.tree.nodes), [], 0
        for place, node in enumerate(self.line):
            if record is None or node.number > known:
                break
            if node.move != RESIGN:
                value = share(record.plies[ply].values)
                if value is not None:
                    who = f"{record.players[node.seat]} in the game"
                    found.append(Evaluation(who, place, node.seat, value))
                ply += 1
        return found

    @property
    def last(self) -> str | None:
        """The move that led here."""
        move = self.tree.nodes[self.node - 1].move if self.node else RESIGN
        return None if move == RESIGN else move


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else otherwise


@dataclass(frozen=True)
class Opinions:
    """What was said of the positions of the line that is shown."""

    here: Sequence[BotAnswer]
    """By who was asked about the position that is shown."""
    said: Sequence[Evaluation]
    courses: Sequence[Course]
    swings: Sequence[Swing]
    agreed: Mapping[int, str]
    """The places in which all who were asked would play the same."""
    bar: Mapping[int, float] | None

    @classmethod
    def of(cls, session: Session, view: AnalysisView) -> Opinions:
        """What is known of a view's line."""
        line, variant = view.line, view.tree.variant
        places = {view.tree.keys[0]: 0}
        places |= {view.tree.keys[one.number]: place for place, one in enumerate(line, start=1)}
        answers = answers_to(session, list(places))
        asked = [
            Evaluation(one.version.label, places[one.key], one.seat, one.share, one.move)
            for one in answers
            if one.share is not None
        ]
        movers = [one.seat for one in line]
        said = [*view.played_by(), *asked]
        drawn = courses(variant, said)
        found = swings(variant, said, movers)
        moves = [
            Evaluation(one.version.label, places[one.key], one.seat, 0, one.move) for one in answers
        ]
        here = [one for one in answers if one.key == view.tree.keys[view.node]]
        return cls(here, said, drawn, found, agreed(moves), bar(variant, drawn, view.ply))

    @property
    def worst(self) -> Sequence[Swing]:
        """The largest swing at each place, the worst first."""
        found: dict[int, Swing] = {}
        for one in self.swings:
            found.setdefault(one.place, one)
        return list(found.values())[:MOST_SWINGS]


@lru_cache(maxsize=64)
def _reached(_key: str, state: State) -> boards.Reached:
    return boards.Reached(state)


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
        abort(404, f"There is no game {name} here.")
    position = request.args.get("position", "").strip()[:LONGEST_POSITION]
    tree = _begun(variant, position)
    words = {"game": variant} | ({"position": position} if position else {})
    title = GAMES[tree.variant.game].title
    return Beginning(url_for("analyses.board"), words, tree, {}, title)


def from_game(session: Session, number: int) -> Beginning:
    """A game that was played."""
    record = find_record(session, number)
    if isinstance(record.variant, Missing):
        abort(404, sentence(record.variant.reason))
    tree = Tree.of_record(record)
    title = f"Game {number}: {' against '.join(record.players)}"
    return Beginning(
        url_for("analyses.of_game", number=number), {}, tree, {}, title, record, number
    )


def from_kept(session: Session, code: str) -> Beginning:
    """An analysis that somebody keeps, for who may see it."""
    found = session.scalar(sa.select(Analysis).where(Analysis.code == code))
    account = current()
    mine = found is not None and account is not None and found.owner_id == account.id
    if found is None or not (found.shared or mine):
        abort(404, f"There is no analysis {code}.")
    try:
        tree = grown(found.game, found.position, found.moves)
    except Refusal as error:
        abort(404, sentence(error))
    comments = {int(number): text for number, text in found.comments.items()}
    page = url_for("analyses.kept", code=code)
    return Beginning(page, {}, tree, comments, found.name, kept=found)


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
    )
    done = do(deed)
    flash(sentence(done.said))
    node = _number(form.get("node", ""), 0)
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
            by_game.setdefault(GAMES[ladder.game].title, []).append(ladder)
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
    view, problem = AnalysisView.asked(base)
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
        opinions.courses,
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
        board=clickable.board if clickable else draw(view.state, view.last),
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
            move_ms=_number(form.get("move_ms", ""), USUAL_MS),
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
        view, _ = AnalysisView.asked(from_start())
    except GameError as error:
        abort(404, sentence(error))
    drawn = svg.render(illustrate(view.state, last=view.last))
    return Response(drawn, mimetype="image/svg+xml")


@analyses.get("/analysis.json")
def board_json() -> Any:
    """The tree of an address that names a variant, as JSON."""
    try:
        view, _ = AnalysisView.asked(from_start())
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
