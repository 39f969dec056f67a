"""Plays Clobber by the network that train.py wrote beside it.

It looks two moves ahead, and plays out in its mind what has become short enough.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
from boards import Boards, Rules

from engine.following import Followed, follow, told
from engine.game import State

NETWORK = Path(__file__).with_name("network.onnx")
CLOSE = 16
"""So many of the moves that look best are looked at more closely."""
SHORT, MOST = 20, 6000
"""Moves there are when a position is played out, and positions that this may take."""


class TooLongError(Exception):
    """There are more positions to look at than can be."""


class Endings:
    """Who wins positions from which few others follow."""

    def __init__(self) -> None:
        self.known: dict[object, bool] = {}

    def wins(self, state: State) -> bool:
        """Whether who is to move wins.

        Raises:
            TooLongError: that would take too long.
        """
        codes = state.codes()
        if not codes:
            return False
        key = repr(state)
        if key not in self.known:
            if len(self.known) >= MOST:
                raise TooLongError
            self.known[key] = not all(self.wins(state.play_code(code)) for code in codes)
        return self.known[key]

    def winner(self, state: State) -> str | None:
        """A move that wins; None if there is none, or nobody knows."""
        if len(state.codes()) > SHORT:
            return None
        self.known.clear()
        try:
            moves = state.legal_moves()
            return next((move for move in moves if not self.wins(state.play(move))), None)
        except TooLongError:
            return None


class Player:
    """A game, and the network that judges its positions."""

    def __init__(self, game: Followed) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(NETWORK, options)
        size = self.session.get_modelmeta().custom_metadata_map["size"]
        if game.state.variant.options["size"] != size:
            raise SystemExit(f"it has learned boards of {size} alone")
        self.game, self.rules = game, Rules(*map(int, size.split("x")))
        self.endings = Endings()

    def chances(self, boards: Boards) -> np.ndarray:
        """The chance that who is to move wins, of each board."""
        (found,) = self.session.run(None, {"stones": self.rules.planes(boards)})
        # Who can't move has lost, whatever the network says.
        return np.where(self.rules.legal(boards).any(axis=1), found, 0)

    def answer(self) -> str:
        """The move after which the other's best answer is worst for them."""
        rules, state = self.rules, self.game.state
        if winner := self.endings.winner(state):
            return f"{told(1, [winner])}move {winner}"
        moves = np.array(list(state.legal_moves()))
        numbers = np.array([*map(rules.number, moves)])
        after = rules.play(rules.boards_of(state, len(moves)), numbers)
        worth = 1 - self.chances(after)
        close = np.argsort(-worth)[:CLOSE]
        which, answers = np.nonzero(rules.legal((after[0][close], after[1][close])))
        then = rules.play((after[0][close][which], after[1][close][which]), answers)
        mine = np.ones(len(close))  # and so it stays where there is no answer
        np.minimum.at(mine, which, self.chances(then))
        best = mine.argmax()
        move = str(moves[close[best]])
        return f"{told(float(mine[best]), [move])}move {move}"


if __name__ == "__main__":
    follow("network", Player, Player.answer)
