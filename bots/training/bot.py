"""Plays by the policy that train.py wrote beside it, in plain Python: its box has no numpy."""

from __future__ import annotations

import json
import math
from operator import mul
from pathlib import Path
from typing import Any

from engine.following import Followed, follow
from engine.game import Move, State
from engine.numbering import Numbering

WRITTEN = json.loads(Path(__file__).with_name("policy.json").read_text())


class Policy:
    """The weights of one seat."""

    def __init__(self, numbering: Numbering, weights: dict[str, Any]) -> None:
        self.numbering = numbering
        self.hidden, self.hidden_bias = weights["hidden"], weights["hidden_bias"]
        # By move, since only those of legal moves are needed.
        self.moves = list(zip(*weights["moves"], strict=True))
        self.moves_bias = weights["moves_bias"]

    def choose(self, state: State) -> Move:
        """The legal move that it prefers to all others."""
        # Planes are mostly zeros, so only the rows of the ones are added up.
        rows = (self.hidden[index] for index in self.numbering.ones(state))
        sums = map(sum, zip(self.hidden_bias, *rows, strict=True))
        hidden = [math.tanh(each) for each in sums]

        def preference(move: int) -> float:
            return self.moves_bias[move] + sum(map(mul, hidden, self.moves[move]))

        return self.numbering.moves[max(self.numbering.legal(state), key=preference)]


class Player:
    """A game that is played by the policies of all seats."""

    def __init__(self, game: Followed) -> None:
        variant = game.state.variant
        if str(variant) != WRITTEN["variant"]:
            raise SystemExit(f"it has learned {WRITTEN['variant']}, not {variant}")
        self.game = game
        numbering = Numbering(variant)
        self.policies = [Policy(numbering, weights) for weights in WRITTEN["seats"]]

    def answer(self) -> str:
        """The move that is preferred."""
        state = self.game.state
        assert state.to_move is not None
        return f"move {self.policies[state.to_move].choose(state)}"


if __name__ == "__main__":
    follow("learner", Player, Player.answer)
