"""The honest part of a hostile bot: it keeps the protocol and plays the first legal move.

`play` calls the attack at the first turn, and says what that returned as the free text of the
move; an exception is told by its name. `TARGETS` is what the test lets it know of the outside.
"""

import errno
import json
import os
import sys

with open("targets.json", encoding="utf-8") as file:
    TARGETS = json.load(file)

legal = []


def say(text):
    """Writes a line at once."""
    os.write(1, f"{text}\n".encode())


def play(attack):
    """Plays until it is told to quit."""
    turn = 0
    for line in sys.stdin:
        verb, *words = line.split()
        if verb == "hello":
            say("ready hostile want=legal")
        elif verb == "newgame":
            say("ok")
        elif verb == "legal":
            legal[:] = words
        elif verb == "go":
            turn += 1
            said = tell(attack) if turn == 1 else ""
            say(f"move {legal[0]} {said}")
        elif verb == "quit":
            break


def tell(attack):
    """What came of an attack, in a few words."""
    try:
        return attack()
    except Exception as error:
        return type(error).__name__


REFUSALS = {
    errno.EPERM,
    errno.EACCES,
    errno.EROFS,
    errno.ENOENT,
    errno.ENOSYS,
    errno.ESRCH,
    errno.ENOTTY,
    errno.EFBIG,
    errno.EAFNOSUPPORT,
    errno.ECONNREFUSED,
}


def tried(attempts):
    """Runs every attempt, and tells those that were not refused."""
    got_through = []
    for name, attempt in attempts.items():
        try:
            attempt()
        except OSError as error:
            if error.errno in REFUSALS:
                continue
            name = f"{name} ({error})"
        except ValueError:
            continue  # setrlimit's word for EPERM
        got_through.append(name)
    return f"got through: {', '.join(got_through)}" if got_through else "all refused"
