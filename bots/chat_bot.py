"""Plays what a language model says: any server with the common chat-completions interface.

It is for `arena connect` alone, since no box has a network. ARENA_CHAT_URL is the server's address,
such as http://localhost:11434/v1, ARENA_CHAT_MODEL the model's name, and ARENA_CHAT_KEY the key, if
one is needed. The model is told the position and the legal moves; an answer that is none of them
goes back to it with the referee's reason, as long as there is time. What it thinks is remarked.
"""

import json
import os
import random
import re
import sys
import time
import urllib.error
import urllib.request

from engine.game import GameError, State, Variant
from engine.games import find_variant

URL = os.environ.get("ARENA_CHAT_URL", "")
MODEL = os.environ.get("ARENA_CHAT_MODEL", "")
KEY = os.environ.get("ARENA_CHAT_KEY", "")
SHARE = 0.8
"""The share of the time for a move for which answers may be waited for."""
MOVES_LEFT = 12
"""How many more moves the rest of a clock is to last for."""
MOST_LEGAL = 300
"""Legal moves that are listed; of a game with more the model is told how many there are."""
MOST_ANSWERS = 10
"""The most answers that a model may give for a move: each is longer to ask for, and is remarked."""
PAUSE_SECONDS = 0.5
"""The pause after an error of the server."""
TASK = (
    "You play a board game against another program, and you want to win. Think in one or two "
    "sentences. Then write your move, exactly as it stands in the list of legal moves, alone on "
    "the last line."
)


class Game:
    """One game, as the referee tells of it."""

    def __init__(self, words: list[str]) -> None:
        keys = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        told = {"seats", "you", "seed", "time", "inc", "move", "clock"}
        options = [f"{key}={value}" for key, value in keys.items() if key not in told]
        self.variant: Variant = find_variant(words[0], options)
        self.seat = int(keys["you"])
        self.is_clock = "time" in keys
        self.inc = int(keys.get("inc", 0)) / 1000

    def seconds(self, clocks: str) -> float:
        """What the next move may take."""
        left = int(clocks.split(",")[self.seat - 1]) / 1000
        return SHARE * (left / MOVES_LEFT + self.inc if self.is_clock else left)


def ask(messages: list[dict[str, str]], seconds: float) -> str:
    """What the model answers.

    Raises:
        OSError, ValueError: the server does not, or not as such servers do.
    """
    address = URL.rstrip("/")
    if not address.endswith("/chat/completions"):
        address += "/chat/completions"
    headers = {"Content-Type": "application/json"}
    if KEY:
        headers["Authorization"] = f"Bearer {KEY}"
    body = json.dumps({"model": MODEL, "messages": messages}).encode()
    request = urllib.request.Request(address, body, headers)
    with urllib.request.urlopen(request, timeout=seconds) as answer:
        try:
            return str(json.load(answer)["choices"][0]["message"]["content"])
        except (LookupError, TypeError):
            raise ValueError("the server's answer has no choices[0].message.content") from None


def move_in(answer: str, state: State, legal: list[str]) -> str:
    """The move that an answer ends with.

    Raises:
        GameError: it is none, for the reason that the referee would give.
    """
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    last = re.sub(r"^\W*move\W*", "", lines[-1], flags=re.IGNORECASE) if lines else ""
    word = last.strip("`*_.:\"' ").split(" ")[0] if last else ""
    if word in legal:
        return word
    return state.canonical(word)


def remark(text: str) -> None:
    """A line for the log."""
    print("#", " ".join(text.split())[:500], flush=True)


def choose(
    game: Game, state: State, legal: list[str], moves: str, seconds: float
) -> tuple[str, str]:
    """A move, and what is said of it."""
    deadline = time.monotonic() + seconds
    listed = " ".join(legal[:MOST_LEGAL])
    more = f" (and {len(legal) - MOST_LEGAL} more)" if len(legal) > MOST_LEGAL else ""
    question = (
        f"The game is {game.variant}. You have seat {game.seat}. Moves so far, each with its seat: "
        f"{moves or 'none'}.\nThe position: {state.text()}\nYour legal moves: {listed}{more}"
    )
    messages = [{"role": "system", "content": TASK}, {"role": "user", "content": question}]
    answers, problem = 0, ""
    while answers < MOST_ANSWERS and (left := deadline - time.monotonic()) > 0:
        try:
            answer = ask(messages, left)
        except (OSError, ValueError) as error:
            if str(error) != problem:
                problem = str(error)
                remark(f"no answer: {problem}")
            time.sleep(max(0.0, min(PAUSE_SECONDS, deadline - time.monotonic())))
            continue
        answers += 1
        remark(answer)
        try:
            return move_in(answer, state, legal), " ".join(answer.split())[:200]
        except GameError as error:
            remark(f"refused: {error}")
            again = f"The referee refuses that: {error}. Choose one of your legal moves."
            messages += [
                {"role": "assistant", "content": answer},
                {"role": "user", "content": again},
            ]
    why = "it never gets it" if answers == MOST_ANSWERS else "out of time"
    return random.choice(legal), f"{why}: a random move"


def main() -> None:
    """Speaks the bots' protocol."""
    if not URL:
        sys.exit("set ARENA_CHAT_URL to the address of a chat server, and ARENA_CHAT_MODEL")
    game: Game | None = None
    state, legal = "", []
    for line in sys.stdin:
        verb, *words = line.split() or [""]
        if verb == "hello":
            print("ready chat want=state,legal", flush=True)
        elif verb == "newgame":
            game = Game(words)
            print("ok", flush=True)
        elif verb == "state":
            state = line.rstrip("\r\n").partition(" ")[2]
        elif verb == "legal":
            legal = words
        elif verb == "go" and game:
            keys, _, moves = line.rstrip("\r\n").partition(" moves")
            clocks = re.search(r"clocks=(\S+)", keys)
            seconds = game.seconds(clocks[1]) if clocks else 1.0
            position = game.variant.read(state)
            move, said = choose(game, position, legal, moves.strip(), seconds)
            print(f"move {move} {said}".rstrip(), flush=True)
        elif verb == "quit":
            break


if __name__ == "__main__":
    main()
