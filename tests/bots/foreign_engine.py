"""A program that speaks another protocol, for the bridges: UGI, UCI or GTP as Pentobi does.

    foreign_engine.py ugi|uci|gtp [FLAW]

It plays random legal moves of the engine's games; in UGI it knows the one game GAME says, in UCI
Clobber as Fairy-Stockfish names it, in GTP Blokus as Pentobi names it. A flaw is something that
goes wrong at its third move: `dies`, `sleeps`, `illegal`, `bare`, `none`, `refuses`, `shuts` (its
output, and stays), `killed` (by a signal), `stubborn` (an illegal move, and no end by `quit`), or
at once: `mute`, `loads` (a while, at each `isready`), or at every move: `busy`. What it is told
goes to standard error.
"""

import os
import signal
import sys
import time
from random import Random

from engine.games import find_variant

dialect, flaw = sys.argv[1], (sys.argv[2:] or [""])[0]
dice = Random(1)
moves = 0


def say(text):
    print(text, flush=True)


def choose(state):
    """A random move, or what the flaw makes of it."""
    global moves
    moves += 1
    if flaw == "busy":
        end = time.process_time() + 0.005
        while time.process_time() < end:
            pass
    elif flaw and moves == 3:
        if flaw == "dies":
            os._exit(5)
        if flaw == "killed":
            print("nets/clobber.bin is missing\nand a half", end="", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        if flaw == "sleeps":
            time.sleep(60)
        if flaw == "shuts":
            os.close(1)
            time.sleep(60)
        if flaw in ("illegal", "bare", "stubborn"):
            return flaw
        if flaw == "none":
            return None
    codes = state.codes()
    return state.word(codes[int(dice.random() * len(codes))])


def play_ugi():
    global flaw
    name, *options = os.environ.get("GAME", "clobber size=5x6").split()
    variant = find_variant(name, options)
    state = variant.initial()
    for line in sys.stdin:
        words = line.split()
        print(line.rstrip(), file=sys.stderr)
        if words[0] == dialect:
            say(
                f"id name Random {dialect}\nid author nobody\noption name Hash type spin default 1"
                f" min -{'9' * 5000} max {'9' * 5000}"
            )
            say("option name Threads type spin default 1 min 1 max 8")
            say("option name Skill Level type spin default 20\noption name UCI_Elo type spin")
            say("option name Book type string default <empty>")
            say(f"{dialect}ok")
        elif words[0] == "isready":
            if flaw == "loads":
                time.sleep(0.5)
            say("readyok")
        elif words[:3] == ["setoption", "name", "UCI_Variant"]:
            size = {"clobber": "5x6", "clobber10": "10x10"}[words[-1]]
            variant = find_variant("clobber", [f"size={size}"])
        elif words[0] == "position":
            at = words.index("moves") if "moves" in words else len(words)
            start = " ".join(words[2:at])
            state = variant.read(start) if words[1] == "fen" else variant.initial()
            for move in words[at + 1 :]:
                state = state.play(move)
        elif words[0] == "go":
            say("info depth 4 seldepth 9 score cp -35 nodes 1234 time 7 pv a1a2")
            move = choose(state) or "(none)"
            say("bestmove" if move == "bare" else f"bestmove {move} ponder a1a1")
        elif words[0] == "quit":
            if flaw == "stubborn":
                time.sleep(60)
            break
        elif words[0] not in (f"{dialect}newgame", "setoption"):
            say(f"Unknown command: {line.strip()}")


NAMES = {"Blokus": "classic", "Blokus Two-Player": "duel", "Blokus Three-Player": "trio"}
COLOURS = {"1": "blue", "2": "yellow", "3": "red", "4": "green"}


def play_gtp():
    state = None
    for line in sys.stdin:
        print(line.rstrip(), file=sys.stderr)
        verb, _, rest = line.strip().partition(" ")
        if flaw == "refuses" and verb == "set_game":
            say("? unknown game\n")
        elif verb == "name":
            say("= Random GTP\n")
        elif verb in ("set_game", "clear_board"):
            mode = NAMES[rest] if rest else mode  # noqa: F821
            state = find_variant("blokus", [f"mode={mode}", "corners=fixed"]).initial()
            say("=\n")
        elif verb == "play":
            colour, squares = rest.split()
            state = state.play(f"{COLOURS[colour]}:{squares}")
            say("=\n")
        elif verb == "genmove":
            move = choose(state)
            if move and move != "illegal":
                # Squares in Pentobi's order: by rank, and then by file.
                state = state.play(move)
                squares = move.partition(":")[2].split(",")
                move = ",".join(sorted(squares, key=lambda square: (int(square[1:]), square[0])))
            say(f"= {move or 'pass'}\n")
        elif verb == "quit":
            say("=\n")
            break
        else:
            say("? unknown command\n")


if flaw == "mute":
    time.sleep(60)
if dialect == "gtp":
    play_gtp()
else:
    play_ugi()
