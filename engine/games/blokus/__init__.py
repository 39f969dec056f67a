"""Blokus (Bernard Tavitian, 2000), and what its puzzles share with it.

`polyominoes` has the pieces, `board` finds where they fit, `position` is what lies there and
what is left, `game` the game itself; the puzzles are in engine.games.puzzle.
"""
