"""A bot that keeps the protocol, except where its arguments tell it otherwise.

An argument EVENT=CODE replaces what it does at that event: `start` (before it reads anything),
`hello`, `newgame`, `state`, `legal`, `go`, `end` or `quit`. The code sees `line` (the request),
`turn` (how many times it was asked for a move, this time included) and the functions below;
`honest()` does what it would have done otherwise: it plays the first legal move.
"""

import os
import sys
import threading
import time
import zlib


def say(text):
    """Writes at once; text of str as UTF-8, bytes as they are."""
    data = text if isinstance(text, bytes) else text.encode()
    while data:
        data = data[os.write(1, data) :]


def complain(text):
    """Writes to standard error."""
    data = text.encode()
    while data:
        data = data[os.write(2, data) :]


def burn(cpu_ms):
    """Works until this thread has used so much CPU time."""
    end = time.thread_time() + cpu_ms / 1000
    block = bytes(10_000)
    while time.thread_time() < end:
        zlib.crc32(block)  # lets go of the interpreter's lock: threads burn side by side


def burn_in_threads(count, cpu_ms):
    """Burns so much in each of so many threads."""
    threads = [threading.Thread(target=burn, args=(cpu_ms,)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def ponder():
    """Starts a thread that never stops working."""
    threading.Thread(target=burn, args=(1e9,), daemon=True).start()


def honest():
    if verb == "hello":
        say("ready scripted want=legal\n")
    elif verb == "newgame":
        say("ok\n")
    elif verb == "go":
        say(f"move {legal[0]}\n")
    elif verb == "quit":
        os._exit(0)


script = dict(argument.split("=", 1) for argument in sys.argv[1:])
legal = []
turn = 0
exec(script.get("start", ""))
for line in sys.stdin:
    verb, *words = line.split()
    if verb == "legal":
        legal = words
    turn += verb == "go"
    if verb in script:
        exec(script[verb])
    else:
        honest()
