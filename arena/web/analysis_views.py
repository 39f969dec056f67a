"""An analysis as an address asks for it, and what was said of the positions of its line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Any
from urllib.parse import urlencode

from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from arena.analyses.asking import answers_to
from arena.analyses.evaluations import (
    Evaluation,
    Expectation,
    Swing,
    agreed,
    bar,
    expectations,
    swings,
)
from arena.models import Analysis, BotAnswer
from arena.web import boards
from arena.web.words import sentence
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
from engine.game import CHANCE, GameError, State
from engine.protocol import share
from engine.record import GameRecord
from engine.referee import RESIGN
from engine.shelf import Missing
from engine.translation import Translation, gettext, spoken

LONGEST_ADDRESS = 6000
"""Characters of moves and comments in an address; servers on the way take about 8,000 in all."""
MOST_SWINGS = 8
"""Moves that are listed as those that gave most away."""
MOST_LINES = 60
"""Moves of an expected line that are shown."""


@dataclass(frozen=True)
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
    """The number of the game that was played."""
    kept: Analysis | None = None
    """What it is kept as."""
    anchor: str = ""
    """The part of the page on which its board stands."""

    @cached_property
    def played(self) -> int:
        """How many of the first nodes are moves of the game that was played."""
        if self.record is None or isinstance(self.record.variant, Missing):
            return 0
        pairs = zip(self.tree.nodes, Tree.of_record(self.record).nodes, strict=False)
        same = self.tree.variant == self.record.variant.drawn(0)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) if same else 0


@dataclass(frozen=True)
class AnalysisView:
    """An analysis as an address asks for it, at one of its nodes."""

    base: Beginning
    tree: Tree
    comments: Mapping[int, str]
    node: int
    clicked: Clicks = ()

    @classmethod
    def asked(cls, base: Beginning, asked: MultiDict[str, str]) -> tuple[AnalysisView, str]:
        """What an address asks for, and what it says that can't be.

        Args:
            asked: what stands behind its question mark.

        Raises:
            AnalysisError: its moves can't be played.
        """
        problem = ""
        tree = base.tree.reading(asked.get("moves", ""))
        comments = dict(base.comments)
        for said in asked.getlist("c"):
            number, _, text = said.partition(":")
            if number.isdecimal() and len(number) < 5:
                comments[int(number)] = text
        last = 0 if base.record is None or base.kept else len(base.tree.nodes)
        node = number_in(asked.get("node", ""), last)
        if node >= len(tree.states):
            raise AnalysisError(gettext("there is no move %(node)s in this analysis", node=node))
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

    @property
    def _fragment(self) -> str:
        return f"#{self.base.anchor}" if self.base.anchor else ""

    def address(self, node: int | None = None, at: Clicks = ()) -> str:
        """The address of this, or of the same at another node."""
        clicked = urlencode([("at", one) for one in at])
        number = self.node if node is None else node
        return f"{self._prefix}{number}{clicked and '&'}{clicked}{self._fragment}"

    def after(self, move: str) -> str:
        """The address of this after a legal move from here, in canonical notation."""
        if known := self.tree.child(self.node, move):
            return self.address(known)
        query = self._query()
        added = self.tree.word(self.node, move)
        query["moves"] = f"{query.get('moves', '')} {added}".lstrip()
        asked = f"{urlencode(query, doseq=True)}&node={len(self.tree.nodes) + 1}"
        return f"{self.base.page}?{asked}{self._fragment}"

    def played(self, move: str) -> AnalysisView:
        """A view of the tree after a move from here.

        Raises:
            GameError: it can't be played.
        """
        tree = self.tree.played(self.node, move)
        canonical = move if move == RESIGN else self.state.canonical(move)
        return replace(self, tree=tree, node=tree.child(self.node, canonical), clicked=())

    def going_on(self, moves: Sequence[str]) -> tuple[AnalysisView, list[tuple[str, AnalysisView]]]:
        """The view after a line from here, and each of its moves with the view after it.

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
        """The view without this move and what follows; None of what it began with."""
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
        found = _reached(self.tree.keys[self.node], self.state, spoken())
        complete = {way: move for move, way in found.ways.items()}

        def leads(way: Clicks) -> str:
            # A move that was clicked by mistake is undone by going back.
            move = complete.get(way)
            return self.address(at=way) if move is None else self.after(move)

        seen = illustrate(self.state, last=self.last, before=self.before)
        return boards.clickable(found, self.clicked, leads, seen=seen)

    def played_by(self) -> list[Evaluation]:
        """What those who played the game expected at their moves, where the line is theirs."""
        record, known, found, ply = self.base.record, self.base.played, [], 0
        for place, node in enumerate(self.line):
            if record is None or node.number > known:
                break
            if node.move != RESIGN:
                value = share(record.plies[ply].values)
                if value is not None:
                    who = gettext("%(player)s in the game", player=record.players[node.seat])
                    found.append(Evaluation(who, place, node.seat, value))
                ply += 1
        return found

    @property
    def last(self) -> str | None:
        """The move that led here."""
        move = self.tree.nodes[self.node - 1].move if self.node else RESIGN
        return None if move == RESIGN else move

    @property
    def before(self) -> State | None:
        """What stood before that move."""
        return self.tree.states[self.tree.nodes[self.node - 1].parent] if self.node else None


def number_in(text: str, otherwise: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else otherwise


@lru_cache(maxsize=64)
def _reached(_key: str, state: State, _spoken: Translation) -> boards.Reached:
    return boards.Reached(state)


@dataclass(frozen=True)
class Opinions:
    """What was said of the positions of the line that is shown."""

    here: Sequence[BotAnswer]
    """What bots said of the position that is shown, by who was asked."""
    said: Sequence[Evaluation]
    expectations: Sequence[Expectation]
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
        drawn = expectations(variant, said)
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
