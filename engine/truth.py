"""What is certain of a position: what its seats gain if everybody plays perfectly from there.

A game that can tell gives its variants a `Truth` (`Variant.truth`). It answers with the value of a
position or, where that takes more than it is granted, with None: it never guesses. A value is
what the first seat gains: 1, 0 or -1 for a win, a draw or a loss, the lead in points where the
rules count points, and in a puzzle 1 if it can be solved and 0 if not. The seat to move wants as
much of it as there is, or as little, if it is the second.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from engine.game import CHANCE, GameError, Move, Seat, State
from engine.translation import gettext

Value = int
"""What the first seat gains."""


Advance = Callable[[str, int, int], None]
"""Is told what is done, how much of it, and of how much."""


class OutOfSteps(Exception):
    """A search takes more steps than it is granted."""


class Budget:
    """How many steps a search may take; a step is a position that is looked at.

    Steps and not seconds, so that the same is known of the same position on every machine.
    """

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.used = 0

    @property
    def left(self) -> int:
        """How many may still be taken."""
        return self.steps - self.used

    def step(self, steps: int = 1) -> bool:
        """Takes a step, or so many; False if there are not as many left."""
        if self.used + steps > self.steps:
            return False
        self.used += steps
        return True


class Truth(ABC):
    """What can be known of the positions of one variant."""

    tables: tuple[str, ...] = ()
    """The digests of the tables from which it knows."""

    @abstractmethod
    def value(self, state: State, budget: Budget) -> Value | None:
        """The value of a position; None if that is not known within the budget."""

    def key(self, state: State) -> str:
        """One text for all positions that are worth the same by symmetry, for tables of them.

        A game says here what else a position may look like; by default it has no symmetries.
        """
        return state.text()

    def quicker(self, advance: Advance) -> AbstractContextManager[Truth]:
        """This truth, perhaps quicker and by another program, for whoever makes tables.

        Args:
            advance: is told of what such a program does before it answers.
        """
        return nullcontext(self)

    def learn(self, folder: Path) -> None:  # noqa: B027
        """Takes over what a folder of tables has for all variants of the game; mostly nothing.

        Raises:
            TableError: a table is none, is damaged, or was made by other rules.
            OSError: it can't be read.
        """

    def make_parts(self, stones: int, folder: Path, advance: Advance) -> tuple[Path, int, str]:
        """Makes a table of the small parts of which positions are sums, where they are.

        Args:
            stones: the most of a part.

        Returns:
            The file, how many parts are in it, and its digest.

        Raises:
            GameError: positions are no sums; or so many stones are too many.
            OSError: the file can't be written.
        """
        raise GameError(gettext("positions of this game are no sums of their parts"))

    def gain(self, state: State) -> Value:
        """What the first seat gained of a game that is over."""
        first, second = state.scores()
        return (first > second) - (first < second)


def wants(seat: Seat) -> int:
    """1 for the seat that wants a high value, -1 for the one that wants a low one."""
    return -1 if seat == 1 else 1


class Search(Truth):
    """Finds values by trying all moves, a ply deeper each time, until the position is decided.

    What a search of few plies leaves open is open, and no guess, so that a win in few moves is
    found however long the game may go on. What is found of a position holds for all positions of
    the same identity, and is kept for later searches.
    """

    MOST_KEPT = 400_000

    def __init__(
        self,
        identity: Callable[[State], Hashable],
        values: tuple[Value, Value] = (-1, 1),
        most_depth: int = 10_000,
    ) -> None:
        """Begins with nothing known.

        Args:
            identity: what two positions have in common that go on in the same way: also what a
                repetition rule, or a limit of plies, remembers of their past.
            values: the lowest and the highest.
            most_depth: how many plies ahead it looks.
        """
        self._identity, self._values, self._most_depth = identity, values, most_depth
        self._bounds: dict[Hashable, tuple[Value, Value]] = {}
        self._open: dict[tuple[Hashable, Value], int] = {}
        """The depth to which it was searched in vain whether a position is worth at least so
        much."""

    def value(self, state: State, budget: Budget) -> Value | None:
        if len(self._bounds) + len(self._open) > self.MOST_KEPT:
            self._bounds.clear()
            self._open.clear()
        try:
            for depth in range(self._most_depth + 1):
                while True:
                    low, high = self._known(state)
                    if low == high:
                        return low
                    goal = (low + high + 1) // 2
                    if self._reaches(state, goal, depth, budget) is None:
                        break
        except OutOfSteps:
            pass
        return None

    def _known(self, state: State) -> tuple[Value, Value]:
        if state.to_move is None:
            gain = self.gain(state)
            return gain, gain
        return self._bounds.get(self._identity(state), self._values)

    def _reaches(self, state: State, goal: Value, depth: int, budget: Budget) -> bool | None:
        """Whether the position is worth at least ``goal``; None if so few plies don't tell."""
        mover = state.to_move
        if mover is None:
            return self.gain(state) >= goal
        identity = self._identity(state)
        low, high = self._bounds.get(identity, self._values)
        if low >= goal or high < goal:
            return low >= goal
        if depth == 0 or self._open.get((identity, goal), 0) >= depth:
            return None
        if not budget.step():
            raise OutOfSteps
        wanted = wants(mover) > 0
        found: bool | None = not wanted
        later = []
        for child in map(state.play_code, state.codes()):
            # What is decided already is asked first: it may make all the rest needless.
            answer = self._reaches(child, goal, 0, budget)
            if answer is wanted:
                found = wanted
                break
            if answer is None:
                later.append(child)
        else:
            for child in later:
                answer = self._reaches(child, goal, depth - 1, budget)
                if answer is wanted:
                    found = wanted
                    break
                if answer is None:
                    found = None
        if found is None:
            self._open[identity, goal] = depth
        else:
            low, high = self._bounds.get(identity, self._values)
            self._bounds[identity] = (max(low, goal), high) if found else (low, min(high, goal - 1))
        return found


@dataclass(frozen=True, slots=True)
class Weighed:
    """A legal move, and the value of the position after it; None if that is not known."""

    move: Move
    value: Value | None


def choices(truth: Truth, state: State, budget: Budget) -> list[Weighed]:
    """The legal moves of a position with what each leads to, in the order of their words."""
    return [
        Weighed(move, value_of(truth, state.play(move), budget)) for move in state.legal_moves()
    ]


def value_of(truth: Truth, state: State, budget: Budget) -> Value | None:
    """The value of a position, which may be one of a game that is over."""
    return truth.gain(state) if state.to_move is None else truth.value(state, budget)


POSITION_STEPS = 10_000
"""The most for a position of a game that is judged."""
GAME_STEPS = 60_000
"""The most for all positions of one game."""
PATIENCE = 2
"""How many positions in a row may not be known until all before them are only looked up: games are
judged from their end, and earlier positions are harder."""
MOST_SHOWN = 6
"""Best moves that are named."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a move was worth, where that is known and there was something to lose."""

    ply: int
    """Which of the game's, from 0."""
    seat: Seat
    best: Value
    """The value of the position before it: what perfect play would have brought."""
    value: Value
    """The value of the position after it."""
    better: tuple[Move, ...] = ()
    """The moves that would have kept the value, if it did not: at most `MOST_SHOWN` of them."""

    @property
    def lost(self) -> int:
        """How much the seat gave away; 0 if it played perfectly."""
        return abs(self.best - self.value)

    @property
    def gave_result(self) -> bool:
        """Whether a win became a draw or a loss, or a draw a loss."""
        return _sign(self.best) != _sign(self.value)


def _sign(value: Value) -> int:
    return (value > 0) - (value < 0)


def judge(
    truth: Truth,
    states: Sequence[State],
    moves: Sequence[Move],
    steps: int = GAME_STEPS,
) -> list[Judgement]:
    """What is certain of the moves of a game, in their order.

    A move is judged if the values before and after it are known, and the mover could have given
    something away: some legal move leads to a worse value. Where all moves are worth the same, as
    in a position that is lost, nobody can do right or wrong.

    Args:
        states: the positions in which they were played; more may follow.
        moves: the moves as they were played.
    """
    left, found, in_vain = steps, list[Judgement](), 0
    for ply in reversed(range(len(moves))):
        before = states[ply]
        seat = before.to_move
        if seat is None or seat == CHANCE:
            continue
        budget = Budget(0 if in_vain >= PATIENCE else min(POSITION_STEPS, left))
        one = _judge_move(truth, before, moves[ply], ply, budget)
        left -= budget.used
        if one is None:
            in_vain += 1
        else:
            in_vain = 0
            if one is not _NOTHING_TO_LOSE:
                found.append(one)
    return found[::-1]


_NOTHING_TO_LOSE = Judgement(-1, 0, 0, 0)


def _judge_move(
    truth: Truth, before: State, move: Move, ply: int, budget: Budget
) -> Judgement | None:
    """What a move was worth; None if that is not known."""
    seat = before.to_move
    assert seat is not None
    best = value_of(truth, before, budget)
    value = value_of(truth, before.play(move), budget)
    if best is None or value is None:
        return None
    sign = wants(seat)
    assert sign * value <= sign * best, f"{before.text()}: {move} gains what is not to be had"
    if value != best:
        better = _keeping(truth, before, best, budget)
        return Judgement(ply, seat, best, value, tuple(better))
    for other in before.legal_moves():
        its = None if other == move else value_of(truth, before.play(other), budget)
        if its is not None and sign * its < sign * best:
            return Judgement(ply, seat, best, value)
        if its is None and other != move:
            # It may be worse or not; without that nobody knows whether there was a choice.
            return None
    return _NOTHING_TO_LOSE


def _keeping(truth: Truth, state: State, best: Value, budget: Budget) -> Iterator[Move]:
    """The first of the moves that keep the value of a position, as far as they are found."""
    shown = 0
    for move in state.legal_moves():
        if shown < MOST_SHOWN and value_of(truth, state.play(move), budget) == best:
            shown += 1
            yield move
