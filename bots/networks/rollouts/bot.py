"""Plays Clobber by thousands of random games, all played at once in arrays of NumPy."""

from __future__ import annotations

import numpy as np
from boards import Rules

from engine.following import Followed, follow

AT_ONCE = 1024
"""Boards that are played side by side."""


class Player:
    """A game, and the dice for it."""

    def __init__(self, game: Followed) -> None:
        options = game.state.variant.options
        self.game = game
        self.rules = Rules(*map(int, options["size"].split("x")))
        self.rng = np.random.default_rng(game.dice.getrandbits(64))

    def answer(self) -> str:
        """The move after which the other wins the fewest games; half of them are soon left out."""
        game, rules = self.game, self.rules
        moves = list(game.state.legal_moves())
        after = rules.play(
            rules.boards_of(game.state, len(moves)), np.array([*map(rules.number, moves)])
        )
        limit = game.seconds(most=0.6, margin=0.02, moves=25)
        lost, played = np.zeros(len(moves)), np.zeros(len(moves))
        among, rounds = np.arange(len(moves)), 0
        parts = max(1, len(moves).bit_length())
        while len(among) > 1 and (not rounds or game.stopwatch() < limit):
            each = np.repeat(among, max(1, AT_ONCE // len(among)))
            won = rules.playouts((after[0][each], after[1][each]), self.rng)
            lost += np.bincount(each, won, len(moves))
            played += np.bincount(each, minlength=len(moves))
            rounds += 1
            # The best half of them by each of the parts of the time.
            due = int(game.stopwatch() / limit * parts)
            keep = max(2, len(moves) >> due)
            if keep < len(among):
                among = among[np.argsort(lost[among] / played[among])[:keep]]
        best = among[np.argmin(lost[among] / np.maximum(played[among], 1))]
        return f"move {moves[best]}"


if __name__ == "__main__":
    follow("rollouts", Player, Player.answer)
