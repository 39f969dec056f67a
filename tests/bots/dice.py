"""A bot that rolls dice for its moves, the same for the same seed, and says what it rolled.

With an argument it has a flaw: its move of that number is none.
"""

import sys
from random import Random

flaw = int(sys.argv[1]) if len(sys.argv) > 1 else 0
for line in sys.stdin:
    verb, *words = line.split()
    if verb == "hello":
        print("ready dice want=legal", flush=True)
    elif verb == "newgame":
        dice = Random(int(dict(word.split("=", 1) for word in words[1:])["seed"]))
        turn = 0
        print("ok", flush=True)
    elif verb == "legal":
        legal = words
    elif verb == "go":
        turn += 1
        roll = int(dice.random() * len(legal))
        move = "none" if turn == flaw else legal[roll]
        print(f"# roll {roll}\nmove {move} {roll} of {len(legal)}", flush=True)
    elif verb == "quit":
        break
