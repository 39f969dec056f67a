"""A position that somebody looks into: where it begins, and a tree of the moves tried from there.

The tree is written as its moves in the order in which they were added. One stands for itself where
it follows the one before it, and else behind the number of the one that it follows, counted from 1;
0 is the beginning: ``b1c1 a1a2 1:b2a2`` has two answers to b1c1. So whatever is added stands at the
end, and numbers keep their meaning. Chance has its moves in the tree like any seat, as whoever
analyses chooses them, and ``resign`` is that the seat to move leaves the game.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from engine.clock import TimeControl
from engine.game import GameError, Move, Seat, State, Termination, Variant
from engine.games import GAMES
from engine.plurals import counted, grouped
from engine.record import Fault, GameRecord, Ply
from engine.referee import ISOLATION_LEVELS, RESIGN
from engine.translation import gettext

MOST_NODES = 600
MOST_CHARACTERS = 20_000
"""The most that all moves together may have, and all comments."""
LONGEST_COMMENT = 1000
_FOLLOWS = re.compile(r"([0-9]{1,4}):(.+)", re.DOTALL)


class AnalysisError(GameError):
    """A text that is no analysis; one sentence."""


@dataclass(frozen=True, slots=True)
class Node:
    """A move of the tree."""

    number: int
    """Its number from 1, in the order in which the moves were added; 0 is the beginning."""
    parent: int
    seat: Seat
    """Who makes it."""
    move: Move
    """The move in canonical notation; `RESIGN` if the seat leaves the game."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Where an analysis begins, and its moves, each of them proved legal."""

    variant: Variant
    """The variant with its lots drawn."""
    position: str = ""
    """The position text that it begins with; empty for the first position of the game."""
    nodes: tuple[Node, ...] = ()
    """The nodes in the order of their numbers."""
    states: tuple[State, ...] = field(default=(), repr=False)
    """The position at the beginning, and the one after each node."""

    @classmethod
    def begin(cls, variant: Variant, position: str = "") -> Tree:
        """A tree without moves.

        A position with which a game of the variant can begin becomes a part of the variant, so
        that bots can be told of it.

        Raises:
            PositionError: the text is no position.
        """
        variant, position = variant.drawn(0), position.strip()
        if position:
            try:
                variant, position = variant.beginning_at(position), ""
            except GameError:
                return cls(variant, position, (), (variant.read(position),))
        return cls(variant, "", (), (variant.initial(),))

    @classmethod
    def of_record(cls, record: GameRecord) -> Tree:
        """The moves of a game, as far as the rules know them.

        It ends before a seat leaves whose turn it is not.

        Raises:
            GameError: its rules are not here.
        """
        tree, faults = cls.begin(record.variant), list(record.faults)
        words: list[Move] = []
        for number, ply in enumerate([*record.plies, None]):
            words += [RESIGN for fault in faults if fault.ply == number]
            if ply is not None:
                words.append(ply.move)
        for word in words[:MOST_NODES]:
            try:
                tree = tree.played(len(tree.nodes), word)
            except GameError:
                break
        return tree

    def reading(self, text: str) -> Tree:
        """The tree with the moves of a text added.

        Raises:
            AnalysisError: a move is not legal, or follows none, or they are too many.
        """
        if len(text) > MOST_CHARACTERS:
            raise AnalysisError(
                gettext(
                    "an analysis has at most %(most)s characters of moves",
                    most=grouped(MOST_CHARACTERS),
                )
            )
        tree = self
        for number, word in enumerate(text.split(), start=1):
            parent, move = len(tree.nodes), word
            if found := _FOLLOWS.fullmatch(word):
                parent, move = int(found[1]), found[2]
            if parent > len(tree.nodes):
                raise AnalysisError(
                    gettext(
                        "move %(number)s follows %(parent)s, and there is none",
                        number=number,
                        parent=parent,
                    )
                )
            try:
                tree = tree.played(parent, move)
            except AnalysisError:
                raise
            except GameError as error:
                raise AnalysisError(
                    gettext("move %(number)s: %(error)s", number=number, error=error)
                ) from None
        return tree

    def played(self, parent: int, move: Move) -> Tree:
        """The tree with a move after a node; the same if it has that move.

        Raises:
            IllegalMoveError: the rules do not allow it.
            AnalysisError: the tree has as many moves as it may have.
        """
        state = self.states[parent]
        seat = state.to_move
        if seat is None:
            raise AnalysisError(gettext("the game is over there"))
        if move == RESIGN and seat >= 0:
            after = state.retire(seat)
        else:
            move = state.canonical(move)
            after = state.play(move)
        if self.child(parent, move):
            return self
        number = len(self.nodes) + 1
        if number > MOST_NODES:
            raise AnalysisError(
                gettext("an analysis has at most %(moves)s", moves=counted(MOST_NODES, "move"))
            )
        node = Node(number, parent, seat, move)
        return Tree(self.variant, self.position, (*self.nodes, node), (*self.states, after))

    def child(self, parent: int, move: Move) -> int:
        """The number of the node with a move after another; 0 if there is none."""
        its = (one for one in self.nodes if one.parent == parent and one.move == move)
        return next((one.number for one in its), 0)

    @cached_property
    def children(self) -> Sequence[Sequence[Node]]:
        """What follows the beginning and each node; the first of them goes on the main line."""
        found: list[list[Node]] = [[] for _ in self.states]
        for node in self.nodes:
            found[node.parent].append(node)
        return found

    def path(self, number: int) -> list[Node]:
        """The moves that lead to a node, its own last."""
        path = []
        while number:
            path.append(self.nodes[number - 1])
            number = path[-1].parent
        return path[::-1]

    def line(self, number: int) -> list[Node]:
        """The moves that lead to a node, and those of the main line after it."""
        path = self.path(number)
        while following := self.children[number]:
            path.append(following[0])
            number = following[0].number
        return path

    def without(self, number: int) -> tuple[Tree, Mapping[int, int]]:
        """The tree without a node and all that follows it, and what each other is numbered now."""
        gone, numbers = {number}, {0: 0}
        for node in self.nodes:
            if node.parent in gone:
                gone.add(node.number)
            elif node.number not in gone:
                numbers[node.number] = len(numbers)
        nodes = tuple(
            Node(numbers[one.number], numbers[one.parent], one.seat, one.move)
            for one in self.nodes
            if one.number in numbers
        )
        states = tuple(self.states[one] for one in numbers)
        return Tree(self.variant, self.position, nodes, states), numbers

    def text(self, since: int = 0) -> str:
        """Its moves as `reading` takes them, without so many at the beginning."""
        return " ".join(map(_word, self.nodes[since:]))

    def line_text(self, path: Sequence[Node]) -> str:
        """The moves of a line from the beginning, as the text of a tree that has no others."""
        nodes = (Node(n, n - 1, one.seat, one.move) for n, one in enumerate(path, start=1))
        return " ".join(map(_word, nodes))

    def word(self, parent: int, move: Move) -> str:
        """What is added to the text for another move, which is legal after a node."""
        return _word(Node(len(self.nodes) + 1, parent, 0, move))

    @cached_property
    def keys(self) -> Sequence[str]:
        """What the beginning and each node are known by, whatever tree they stand in."""
        known = [_digest(f"{self.variant}\n{self.position}")]
        for node in self.nodes:
            known.append(_digest(f"{known[node.parent]} {node.move}"))
        return known

    def game(self, number: int, time: TimeControl) -> GameRecord:
        """The moves that lead to a node as a game that goes on, as a bot is told of it.

        Raises:
            AnalysisError: bots are told of no such beginning.
        """
        if self.position:
            raise AnalysisError(
                gettext(
                    "bots are told the moves of a game, and no game begins at this position: begin "
                    "at the start, and play the moves that lead to it"
                )
            )
        plies: list[Ply] = []
        faults: list[Fault] = []
        for node in self.path(number):
            if node.move == RESIGN:
                faults.append(Fault(node.seat, len(plies), Termination.RESIGN, "resigned"))
            else:
                plies.append(Ply(node.seat, node.move))
        return GameRecord(
            variant=self.variant,
            seed=0,
            players=self.variant.seat_names,
            time=time,
            opening=len(plies),
            plies=tuple(plies),
            faults=tuple(faults),
            termination=Termination.VOID,
            scores=(),
            ranks=(),
            isolation=ISOLATION_LEVELS[-1],
            started="",
            rules=GAMES.rules(self.variant.game),
        )


def _word(node: Node) -> str:
    follows = node.parent == node.number - 1 and not _FOLLOWS.fullmatch(node.move)
    return node.move if follows else f"{node.parent}:{node.move}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Moves that follow each other without a choice, in the order in which a tree is read."""

    depth: int
    """0 for the main line, 1 for what leaves it, and so on."""
    nodes: Sequence[Node]


def stretches(tree: Tree) -> Iterator[Stretch]:
    """The whole tree: what leaves a line comes after the move that it is in the place of."""
    waiting: list[tuple[int, list[Node]]] = []
    if tree.children[0]:
        waiting.append((0, list(tree.children[0])))
    while waiting:
        depth, choices = waiting.pop()
        run = [choices[0]]
        if len(choices) == 1:
            while len(following := tree.children[run[-1].number]) == 1:
                run.append(following[0])
        yield Stretch(depth, run)
        if following := tree.children[run[-1].number]:
            waiting.append((depth, list(following)))
        waiting += [(depth + 1, [other]) for other in reversed(choices[1:])]


def checked_comments(tree: Tree, comments: Mapping[int, str]) -> dict[int, str]:
    """Comments by the nodes that they are on, empty ones left out.

    Raises:
        AnalysisError: one is too long, or on no node, or they are too long together.
    """
    found = {number: text.strip() for number, text in sorted(comments.items()) if text.strip()}
    if any(not 0 <= number <= len(tree.nodes) for number in found):
        raise AnalysisError(gettext("a comment is on a move that is not there"))
    if any(len(text) > LONGEST_COMMENT for text in found.values()):
        raise AnalysisError(
            gettext(
                "a comment has at most %(most)s characters",
                most=grouped(LONGEST_COMMENT),
            )
        )
    if sum(map(len, found.values())) > MOST_CHARACTERS:
        raise AnalysisError(
            gettext(
                "all comments together have at most %(most)s characters",
                most=grouped(MOST_CHARACTERS),
            )
        )
    return found
