"""What a bot at home is charged and blamed for, whatever its client does and its link suffers."""

from __future__ import annotations

import re
import threading
import time
from functools import partial

import pytest

from engine.clock import TimeControl
from engine.conversation import TestedGame
from engine.game import Termination
from engine.games import GAMES
from engine.player import BotError, Choice, GameSetup
from tests.workers.home.callers import CALLER, Bot, Client, HomeWorker, playing
from workers import at_home
from workers.at_home import HomePlayer
from workers.home import program

VARIANT = GAMES["clobber"].variant(size="4x4")
QUICK, LONG = TimeControl(move_ms=200), TimeControl(move_ms=5000)
ROOMY = TimeControl(move_ms=1000)
"""A time of which a busy machine may take something, too."""


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second of it, so that nobody waits for twenty."""
    for module in (program, at_home):
        monkeypatch.setattr(module, "GRACE_NS", 1_000_000_000)


def said(client: Client, number: int, text: str) -> None:
    client.say({"is": "said", "program": number, "text": text})


def moves_after(seconds: float, client: Client, number: int, move: str) -> None:
    """Thinks for so long, while its client hears on."""
    threading.Timer(seconds, said, (client, number, f"move {move}\n")).start()


def never(client: Client, number: int, move: str) -> None:
    """Acknowledges, and says nothing."""


def half(client: Client, number: int, move: str) -> None:
    said(client, number, f"move {move}")


def in_pieces(client: Client, number: int, move: str) -> None:
    for piece in ("mo", f"ve {move}", "\n"):
        said(client, number, piece)


def twice(client: Client, number: int, move: str) -> None:
    said(client, number, f"move {move}\nmove {move}\n")


def twice_by_number(client: Client, number: int, move: str) -> None:
    """Sends the very same parcel twice."""
    client.end.say({"is": "said", "program": number, "text": f"move {move}\n"})
    parcel = client.end.parcel()
    assert parcel
    for _ in range(2):
        client.send_raw(parcel.to_json())


def for_another(client: Client, number: int, move: str) -> None:
    """Answers for a program that there never was."""
    said(client, number + 1, f"move {move}\n")


def leaves_out(client: Client, number: int, move: str) -> None:
    """Says a message that is not the next one."""
    parcel = {"is": "said", "program": number, "text": f"move {move}\n"}
    client.send_raw({"got": client.end.got, "first": client.end.said + 2, "says": [parcel]})


def floods(client: Client, number: int, move: str) -> None:
    for _ in range(40):
        said(client, number, "# " + "x" * 60_000 + "\n")


def ends(client: Client, number: int, move: str) -> None:
    client.say({"is": "ended", "program": number, "how": "exit 7\x1b[31m"})


def cut(seconds: float, client: Client, number: int, move: str) -> Client:
    """Loses its connection as soon as it is asked, and answers when it is back."""
    client.cut()
    time.sleep(seconds)
    back = client.come_back()
    said(back, number, f"move {move}\n")
    return back


def dies(client: Client, number: int, move: str) -> Client:
    """Comes back without its games."""
    client.cut()
    time.sleep(0.1)
    return Client(client.worker)


def turns(worker: HomeWorker, control: TimeControl, count: int = 2) -> list[Choice]:
    """What a player at home chooses in the first turns of a game, in which others don't think."""
    player = HomePlayer(lambda: worker.lobby.start(CALLER["version"]))
    try:
        game = TestedGame(VARIANT, control, 0, 3)
        player.new_game(GameSetup(VARIANT, 0, control, 3))
        found = [game.ask(player) for _ in range(count)]
        return [choice for choice in found if choice]
    finally:
        player.close(kill=True)


@pytest.mark.parametrize(
    ("bot", "ack_seconds", "control", "least_ms", "most_ms"),
    [
        (partial(moves_after, 0.0), 0.0, ROOMY, 0, 250),
        (partial(moves_after, 0.3), 0.0, ROOMY, 150, 600),
        (in_pieces, 0.0, ROOMY, 0, 250),
        (twice_by_number, 0.0, ROOMY, 0, 250),
        # The way is free up to half a second; what is longer is taken out of the grace.
        (partial(moves_after, 0.4), 0.35, ROOMY, 0, 300),
        (partial(moves_after, 0.7), 0.65, ROOMY, 0, 300),
        (partial(cut, 0.4), 0.0, QUICK, 0, 200),
        (partial(cut, 0.4), 0.0, LONG, 0, 250),
    ],
    ids=[
        "at once",
        "after a while",
        "in pieces",
        "the same twice",
        "far away",
        "very far away",
        "cut off",
        "cut off with a long clock",
    ],
)
def test_the_bots_time_is_charged_and_not_the_links(
    bot: Bot, ack_seconds: float, control: TimeControl, least_ms: int, most_ms: int
) -> None:
    """It is wall time, whatever the control charges others; the charge is what it records."""
    with playing(bot, ack_seconds=ack_seconds) as (worker, _):
        chosen = turns(worker, control)
    assert len(chosen) == 2
    for choice in chosen:
        assert choice.cpu_us == choice.wall_us
        assert least_ms <= choice.wall_us / 1000 < most_ms


@pytest.mark.parametrize(
    ("bot", "termination", "words"),
    [
        (never, Termination.TIMEOUT, r"no reply within 200 ms of wall time; its clock had 200 ms"),
        (half, Termination.TIMEOUT, r"no reply within 200 ms of wall time, only 'move .*'"),
        (partial(moves_after, 0.6), Termination.TIMEOUT, r"within 200 ms of wall time"),
        (for_another, Termination.TIMEOUT, r"no reply within 200 ms of wall time"),
        (twice, Termination.PROTOCOL, r"said 'move .*' without being asked"),
        (leaves_out, Termination.CRASH, r"closed its output: message \d+ came, and \d+ is the n"),
        (floods, Termination.PROTOCOL, r"sent a line of more than|sent more than"),
        (ends, Termination.CRASH, r"closed its output: exit 7\\x1b\[31m"),
        (partial(cut, 2.0), Termination.CRASH, r"silent for more than 20 s of the game|away"),
        (dies, Termination.CRASH, r"closed its output: its client came back without its games"),
    ],
    ids=[
        "never",
        "half",
        "late",
        "for another program",
        "twice",
        "with a message left out",
        "a flood",
        "its end",
        "cut off for too long",
        "its client died",
    ],
)
def test_a_fault_of_the_bot_or_its_client_is_its_own(
    bot: Bot, termination: Termination, words: str
) -> None:
    with playing(bot) as (worker, _), pytest.raises(BotError) as caught:
        turns(worker, QUICK)
    assert caught.value.termination is termination
    assert re.search(words, caught.value.detail), caught.value.detail
