"""A game like Clobber in whose first position the rules are faulty, as a test wants them."""

CODE = """
from engine.games.clobber import ClobberState
import dataclasses

NAMES = [one.name for one in dataclasses.fields(ClobberState)][1:]

class Position(ClobberState):
{methods}

class Faulty(Clobber):
    game = "faulty"
    def initial(self, seed=0):
        first = super().initial()
        return Position(self, *[getattr(first, name) for name in NAMES])

size = {{"size": board_size("4x3", 2, 26)}}
ONE = Game("faulty", "Faulty", size, Faulty, ({{}},), rules=lambda: "# Faulty")
"""
ENTRY = "faulty = faulty_games:ONE"
