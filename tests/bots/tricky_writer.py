"""Writes what can't be seen, or turns a line round, wherever it may write.

It plays the first legal move, and one that is none in place of its third.
"""

import sys

TRICKS = "a\u202eb\u2066c\u200bd\u200ee\ufefff"  # and what stands between them

legal = []
turns = 0
print("standard error", TRICKS, file=sys.stderr, flush=True)
for line in sys.stdin:
    verb, *words = line.split()
    if verb == "hello":
        print("ready tricky want=legal", flush=True)
    elif verb == "newgame":
        print("ok", flush=True)
    elif verb == "legal":
        legal = words
    elif verb == "go":
        turns += 1
        print("#", TRICKS)
        print("move", TRICKS if turns == 3 else legal[0], TRICKS, flush=True)
    elif verb == "quit":
        break
