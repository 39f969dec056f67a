"""Programs as a class hands them in: bots that play, each its author's own, but for copies."""

from __future__ import annotations

import re
from random import Random
from textwrap import indent

SKELETON = '''\
"""What everybody was given: it speaks to the referee, and asks worth() what to play."""

import sys


def main():
    seat, legal, played = 0, [], []
    for line in sys.stdin:
        verb, *words = line.split() or [""]
        if verb == "hello":
            print("ready homework want=legal", flush=True)
        elif verb == "newgame":
            keys = dict(word.split("=", 1) for word in words if "=" in word)
            seat, played = int(keys.get("you", 0)), []
            print("ok", flush=True)
        elif verb == "legal":
            legal = words
        elif verb == "go":
            best = max(legal, key=lambda move: (worth(move, len(played)), move))
            played.append((seat, best))
            print("move", best, flush=True)
        elif verb == "quit":
            break
'''
FIRST = SKELETON + "\n\ndef worth(move, ply):\n    return len(move) - ply\n\n\nmain()\n"
"""The bot that everybody was given."""
BROKEN = FIRST.replace('print("move", best', 'print("move", "nowhere"')
OPERATORS = ("+", "-", "^", "|", "&", "*")


def program(whose: int) -> str:
    """A bot of its own for each number."""
    lot = Random(whose)

    def sign() -> str:
        return lot.choice(OPERATORS)

    def number(least: int, most: int) -> int:
        return lot.randint(least, most)

    kinds = (
        lambda: f"best = best {sign()} ord(move[{number(0, 3)} % len(move)])",
        lambda: f"best {sign()}= sum(ord(one) {sign()} ply for one in move[{number(0, 2)}:])",
        lambda: (
            f"if best % {number(2, 9)} {lot.choice('<>')} {number(0, 4)}:\n"
            f"    best {sign()}= ply {sign()} {number(0, 98)}"
        ),
        lambda: f"while best > {number(1000, 1000000)}:\n    best //= {number(2, 9)}",
        lambda: f"best = {lot.choice(('max', 'min'))}(best, len(move) {sign()} ply)",
        lambda: f"best = -best if best & {2 ** number(0, 4)} else best {sign()} len(move)",
        lambda: f"for at, one in enumerate(move):\n    best {sign()}= at {sign()} ord(one)",
        lambda: f"best = abs(best {sign()} {number(0, 98)}) % {number(50, 5000)}",
        lambda: f"best = [best, ply, best {sign()} ply][len(move) % 3]",
        lambda: f"best = dict.fromkeys(move, best {sign()} ply).get(move[-1], best)",
    )
    lines = ["best = ply", *(lot.choice(kinds)() for _ in range(30)), "return best % 997"]
    body = indent("\n".join(lines), "    ")
    return f"{SKELETON}\n\ndef worth(move, ply):\n{body}\n\n\nmain()\n"


def renamed(text: str) -> str:
    """The same work under other names, with other numbers, comments and blanks."""
    own = text.removeprefix(SKELETON)
    for name, other in (("best", "my_value"), ("ply", "turn_number"), ("at", "index")):
        own = re.sub(rf"\b{name}\b", other, own)
    own = re.sub(r"% 997", "% 1009", own)
    own = own.replace("turn_number):", "turn_number):  # my idea")
    return SKELETON + own.replace(" = ", "  =  ").replace(" * ", "*")


def half_copied(text: str, own: str) -> str:
    """Most of somebody's work, and then one's own."""
    others, mine = (one.split("    best = ply\n")[1].splitlines() for one in (text, own))
    # Statements are taken whole: what is indented deeper belongs to the line before.
    end = next(n for n in range(26, len(others)) if not others[n].startswith(" " * 8))
    begin = next(n for n in range(30, len(mine)) if not mine[n].startswith(" " * 8))
    head = own.split("    best = ply\n")[0]
    return "\n".join([f"{head}    best = ply", *others[:end], *mine[begin:], ""])
