"""Does nothing wrong: the sibling that must play on undisturbed."""

from frame import play

play(lambda: "")
