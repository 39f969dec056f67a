"""Alpha-beta search in every game of the engine, for any number of seats.

It looks one ply ahead, then two, and so on until its time is over, with a table of positions
already searched (Knuth and Moore, 1975; Breuker, 1998), and first at moves that decided other
positions (history heuristic; Schaeffer, 1989). With more than two sides it supposes that all
others play against it (paranoid search; Sturtevant and Korf, 2000). Where it stops looking it
goes by the outlook, where the engine has one for the game, and elsewhere (in Clobber, Blocco,
Oxoxo and the puzzles) by mobility: how many moves its side had at its last turn on the way there,
and how many the others had at theirs. How that counts is said by its options. A game that ends is
worth what the rules say, and more than any guess.

It imports the engine, and needs nothing from the referee but the moves so far. By its option
`nodes` it looks at so many positions and at no clock, and plays the same game from the same seed
on every machine.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from math import inf
from random import Random
from typing import NamedTuple

from engine.following import NODES, Followed, Stopwatch, follow, told
from engine.game import CHANCE, Move, State

DEEPEST = 60
"""Plies; searches go no deeper."""
LARGEST_TABLE = 300_000
"""Positions remembered; with so many the table is emptied."""
WON = 100.0
"""The value of a won game; guesses lie between -1 and 1."""
FEW, OTHERS = 10.0, 1.0
"""Moves; a lead in mobility counts little where there are fewer in all. And how much a move of the
others counts beside one of ours. Both are options.
"""
LASTS = {"oxoxo": 0.05}
"""Which part of the plies that the limit of a game still allows it is likely to last; a clock for
the whole game is shared among so many. Tuned, as that of the others is (docs/samples.md).
"""
LASTS_ELSEWHERE = 0.7
OPTIONS = (
    f"few float 0 50 {FEW}",
    f"others float 0 3 {OTHERS}",
    "lasts float 0 3 0",
    NODES,
)
"""A `lasts` of 0 stands for that of the game."""


class TimeUp(Exception):
    """The time for a move is over, or its nodes are."""


class Entry(NamedTuple):
    """What is known of a position: its value lies between ``low`` and ``high``."""

    depth: int
    low: float
    high: float
    code: int
    """The move that was best."""


class Search:
    """The search from one position, deeper and deeper."""

    def __init__(
        self,
        state: State,
        dice: Random,
        stopwatch: Stopwatch = lambda: 0.0,
        seconds: float = inf,
        *,
        most_nodes: float = inf,
        few: float = FEW,
        others: float = OTHERS,
    ) -> None:
        """Takes the position, and what tells the seconds gone; by ``seconds`` it is to be over."""
        assert state.to_move is not None
        self.few, self.others = few, others
        self.stopwatch, self.seconds, self.most_nodes = stopwatch, seconds, most_nodes
        self.looked = stopwatch()
        self.state = state
        self.sides = state.variant.side_of
        self.side = self.sides[state.to_move]
        self.table: dict[State, Entry] = {}
        self.killers = [-1] * (DEEPEST + 1)
        """The last move that decided a position, for each depth."""
        self.history: dict[int, int] = {}
        """How often a move did so, the deeper the more."""
        self.nodes = 0
        self.codes = list(state.codes())
        self.longest = stopwatch() - self.looked
        """Seconds that one step took at most: to list the moves of a large board, say."""
        for place in range(len(self.codes)):
            other = place + int(dice.random() * (len(self.codes) - place))
            self.codes[place], self.codes[other] = self.codes[other], self.codes[place]
        self.best = self.codes[0]
        self.value = 0.0
        self.depth = 0

    def run(self, deepest: int) -> None:
        """Searches so many plies deep, or until the game is decided, or time or nodes are over."""
        try:
            while self.depth < deepest and abs(self.value) < WON:
                self.deepen(self.depth + 1)
                self.depth += 1
        except TimeUp:
            pass

    def deepen(self, depth: int) -> None:
        """Searches every move so deep, the best of the last search first."""
        self.codes.remove(self.best)
        self.codes.insert(0, self.best)
        # The others' mobility is not known yet; ours stands for it.
        mobility = (len(self.codes),) * len(self.sides)
        value = -inf
        for code in self.codes:
            found = self.search(self.state.play_code(code), depth - 1, value, inf, mobility)
            if found > value:
                # Also when time runs out later: the first move was the best one so far.
                value = self.value = found
                self.best = code

    @property
    def share(self) -> float:
        """The value of the move as a share: 1 if the game is won, 0 if it is lost."""
        return 0.5 + self.value / 2 / (WON if abs(self.value) > 1 else 1)

    @property
    def line(self) -> list[Move]:
        """The moves that are expected, as far as the table knows them."""
        state, code = self.state, self.best
        moves = [state.word(code)]
        while len(moves) <= self.depth:
            state = state.play_code(code)
            known = self.table.get(state)
            if known is None:
                break
            code = known.code
            moves.append(state.word(code))
        return moves

    def search(
        self, state: State, depth: int, low: float, high: float, mobility: tuple[int, ...]
    ) -> float:
        """The value of a position for our side, exact only between ``low`` and ``high``."""
        now = self.stopwatch()
        self.longest, self.looked = max(self.longest, now - self.looked), now
        if now + self.longest > self.seconds or self.nodes >= self.most_nodes:
            raise TimeUp
        self.nodes += 1
        seat = state.to_move
        if seat is None:
            return outcome(state, self.side) * (WON + depth)
        if seat == CHANCE:
            # Whatever is drawn costs no depth: there are few things to draw, and none to choose.
            drawn = state.outcomes().items()
            return sum(
                part * self.search(state.play(move), depth, -inf, inf, mobility)
                for move, part in drawn
            )
        if depth == 0 and (outlook := state.outlook()) is not None:
            # Listing the moves would take longer than all the rest.
            return 2 * self.mine(outlook) - 1
        codes = state.codes()
        mobility = (*mobility[:seat], len(codes), *mobility[seat + 1 :])
        if depth == 0:
            return self.guess(mobility)
        known = self.table.get(state)
        if known and known.depth >= depth:
            if known.low >= high or known.low == known.high:
                return known.low
            if known.high <= low:
                return known.high
        ours = self.sides[seat] == self.side
        best, choice, floor, ceiling = -inf if ours else inf, codes[0], low, high
        for code in self.likely_first(codes, known.code if known else -1, self.killers[depth]):
            value = self.search(state.play_code(code), depth - 1, floor, ceiling, mobility)
            if value > best if ours else value < best:
                best, choice = value, code
            if ours:
                floor = max(floor, best)
            else:
                ceiling = min(ceiling, best)
            if floor >= ceiling:
                self.killers[depth] = choice
                self.history[choice] = self.history.get(choice, 0) + depth * depth
                break
        if len(self.table) >= LARGEST_TABLE:
            self.table.clear()
        # Among many seats a guess depends a little on the way here; the table ignores that.
        self.table[state] = Entry(
            depth, best if best > low else -inf, best if best < high else inf, choice
        )
        return best

    def likely_first(self, codes: Sequence[int], *likely: int) -> Iterable[int]:
        """The moves, those that may well be best first. Elsewhere a code can mean another move."""
        history = self.history
        decided = sorted(filter(history.__contains__, codes), key=history.__getitem__, reverse=True)
        return dict.fromkeys([*filter(codes.__contains__, likely), *decided, *codes])

    def guess(self, mobility: Sequence[int]) -> float:
        """What a position is worth to our side by the moves that the seats have, -1 to 1."""
        mine, ours = self.mine(mobility), self.sides.count(self.side)
        others = (sum(mobility) - mine * ours) / max(1, len(mobility) - ours)
        # Between -1 and 1 whatever the weights.
        return (mine - self.others * others) / max(1.0, mine + self.others * others + self.few)

    def mine(self, values: Sequence[float]) -> float:
        """The mean of what our seats have."""
        ours = [value for side, value in zip(self.sides, values, strict=True) if side == self.side]
        return sum(ours) / len(ours)


def outcome(state: State, side: int) -> float:
    """What a finished game is worth to a side: 1 if it won, 0 for a draw, -1 if it lost.

    Among many it is the share of the others that it is ahead of, less that it is behind of. A
    puzzle is won when it is solved, and else lost by the share that is missing.
    """
    sides, scores, solved = state.variant.side_of, state.scores(), state.variant.solved_score
    if state.variant.seats == 1:
        return 1.0 if scores[0] == solved else scores[0] / (solved or 1.0) - 1
    points = dict.fromkeys(sides, 0.0)
    for each, score in zip(sides, scores, strict=True):
        points[each] += score / sides.count(each)
    others = [points[each] for each in points if each != side]
    return sum((points[side] > other) - (points[side] < other) for other in others) / len(others)


def main() -> None:
    """Answers the referee until it says quit."""
    # Nothing here refers in circles, and looking through a large table for it takes long.
    gc.disable()

    def answer(game: Followed) -> str:
        weights = {name: float(value) for name, value in game.options.items()}
        usual = LASTS.get(game.state.variant.game, LASTS_ELSEWHERE)
        moves = game.moves_left(weights.pop("lasts") or usual)
        seconds = game.seconds(most=0.95, margin=0.025, moves=moves)
        most_nodes = weights.pop("nodes")
        limits = () if most_nodes else (game.stopwatch, seconds)
        search = Search(game.state, game.dice, *limits, most_nodes=most_nodes or inf, **weights)
        left = game.state.variant.max_plies - len(game.moves)
        if len(search.codes) > 1:
            search.run(min(DEEPEST, left))
        line = search.line
        # Where there is one move it has not looked what that is worth.
        expected = told(search.share, line) if search.depth else ""
        return (
            f"{expected}# nodes {search.nodes}\n# depth {search.depth}\n"
            f"move {line[0]} {search.value:+.2f} at {search.depth} plies"
        )

    follow("alphabeta", lambda game: game, answer, OPTIONS)


if __name__ == "__main__":
    main()
