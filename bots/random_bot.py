"""Plays a random legal move. It knows no rules: the referee lists the moves.

The file is not called random.py, since that would hide Python's own module from every bot in
this folder.
"""

import sys
from random import Random

dice = Random()
legal: list[str] = []

for line in sys.stdin:
    verb, *words = line.split() or [""]
    if verb == "hello":
        print("ready random want=legal", flush=True)
    elif verb == "newgame":
        keys = dict(word.split("=", 1) for word in words if "=" in word)
        dice = Random(int(keys.get("seed", 0)))
        print("ok", flush=True)
    elif verb == "legal":
        legal = words
    elif verb == "go":
        print("move", legal[int(dice.random() * len(legal))], flush=True)
    elif verb == "quit":
        break
