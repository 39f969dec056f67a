"""The work by which a worker measures its machine; it runs as a bot does, alone in a box.

Each line asks for something: ``interpreted`` and ``compiled`` for a piece of work, anything else
for an answer at once. Both pieces do the same on every machine. The first is what bots in Python
do: loops over small boards, lists, dictionaries, numbers. The second is spent in loops of C that
are a part of CPython itself and therefore everywhere the same: the Mersenne twister, the sorting
of lists, and numbers of many digits; no code that uses special instructions of some processors,
as hashing does. No compiled bot does exactly this; it stands for branches, memory and arithmetic.
"""

from __future__ import annotations

import random
import struct

INTERPRETED_TURNS, COMPILED_TURNS = 3000, 12
"""How often each goes round: about 20 ms on the machine where this was written."""
WORDS = 4096


def interpreted(turns: int = INTERPRETED_TURNS) -> int:
    """Finds the groups of a board, again and again; returns what came of it."""
    board = [(square * 7 + square // 5) % 3 for square in range(64)]
    found = 0
    for turn in range(turns):
        groups: dict[int, int] = {}
        for square in range(64):
            colour = board[square]
            if square & 7 and board[square - 1] == colour:
                groups[square] = groups[square - 1]
            elif square > 7 and board[square - 8] == colour:
                groups[square] = groups[square - 8]
            else:
                groups[square] = square
        found = (found * 31 + sum(groups.values())) & 0xFFFFFFFF
        board[turn & 63] = found % 3
    return found


def compiled(turns: int = COMPILED_TURNS) -> int:
    """Draws numbers, sorts and multiplies them; returns what came of it."""
    lots = random.Random(1)
    found = 0
    for turn in range(turns):
        drawn = lots.getrandbits(32 * WORDS)
        data = drawn.to_bytes(4 * WORDS, "little")
        words = sorted(struct.unpack(f"<{WORDS}I", data))
        power = pow(words[0] | 1, drawn >> 32 * (WORDS - 32), (1 << 521) - 1)
        found ^= words[turn] ^ power & 0xFFFFFFFF
    return found


def answer() -> None:
    """Does what it is asked, line by line."""
    work = {"interpreted": interpreted, "compiled": compiled}
    while True:
        try:
            asked = input()
        except EOFError:
            return
        print(work[asked]() if asked in work else 0, flush=True)


if __name__ == "__main__":
    answer()
