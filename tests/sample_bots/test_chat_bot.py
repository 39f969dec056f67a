"""The language model's bot, with a small server of our own that answers as such servers do."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from engine.clock import TimeControl
from engine.conversation import TestedGame
from engine.games import GAMES
from engine.player import Choice, GameSetup
from engine.process import BotProcess
from engine.program import PlainProgram

BOT = Path(__file__).parents[2] / "bots" / "chat_bot.py"
VARIANT = GAMES["clobber"].variant(size="4x4")
Answer = str | int
"""What the model says, or a status of HTTP."""


class Model:
    """A chat server that says one thing after the other, and keeps what it was asked."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []


@contextmanager
def serving(model: Model) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/chat/completions"
            model.asked.append(json.loads(body))
            model.keys.append(self.headers.get("Authorization"))
            answer = model.answers.pop(0) if model.answers else 500
            status = answer if isinstance(answer, int) else 200
            told = {"choices": [{"message": {"role": "assistant", "content": answer}}]}
            text = json.dumps(told if status == 200 else {"error": "overloaded"}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def play(model: Model, monkeypatch: pytest.MonkeyPatch, move_ms: int = 5000) -> tuple[Choice, str]:
    """The bot's first move of a game, and its log."""
    with serving(model) as address:
        monkeypatch.setenv("ARENA_CHAT_URL", address)
        monkeypatch.setenv("ARENA_CHAT_MODEL", "tiny")
        monkeypatch.setenv("ARENA_CHAT_KEY", "secret")
        control = TimeControl(move_ms=move_ms, charge="wall")
        player = BotProcess(lambda: PlainProgram([sys.executable, str(BOT)]))
        try:
            game = TestedGame(VARIANT, control, 0, 1)
            player.new_game(GameSetup(VARIANT, 0, control, 1))
            choice = game.ask(player)
            assert choice
            return choice, player.take_log()
        finally:
            player.close(kill=True)


@pytest.mark.parametrize(
    "answer",
    ["I take it.\n\na2a1", "a2a1", "Well:\nMove: a2a1", "The best is\n**a2a1**.", "so\n`a2a1`\n"],
)
def test_it_plays_what_the_model_says(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And tells what it thought, in the record and in the log."""
    model = Model([answer])
    choice, log = play(model, monkeypatch)
    assert choice.move == "a2a1"
    assert choice.text == " ".join(answer.split())
    assert " ".join(answer.split()) in log
    (asked,) = model.asked
    assert (asked["model"], model.keys) == ("tiny", ["Bearer secret"])
    question = asked["messages"][-1]["content"]
    assert "clobber size=4x4" in question
    assert "Your legal moves: a2a1 a2a3" in question
    assert VARIANT.initial().text() in question


def test_an_illegal_move_goes_back_with_the_referees_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = Model(["I jump.\na1a4", "", "Then so.\nb1b2"])
    choice, log = play(model, monkeypatch)
    assert choice.move == "b1b2"
    with pytest.raises(Exception, match="a1a4") as reason:
        VARIANT.initial().canonical("a1a4")
    told = model.asked[1]["messages"]
    assert told[-2] == {"role": "assistant", "content": "I jump.\na1a4"}
    assert str(reason.value) in told[-1]["content"]
    assert len(model.asked) == 3
    assert str(reason.value) in log


@pytest.mark.parametrize(
    ("answers", "move"),
    [([503, "a2a1"], "a2a1"), ([500] * 20, None), (["no idea"] * 2000, None)],
    ids=["a server that is back soon", "a server that is down", "a model that never gets it"],
)
def test_it_moves_in_time_whatever_the_server_does(
    answers: Sequence[Answer], move: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice, log = play(Model(answers), monkeypatch, move_ms=2500)
    if move is not None:
        assert choice.move == move
        assert "no answer: HTTP Error 503" in log
    else:
        why = "it never gets it" if answers[0] == "no idea" else "out of time"
        assert choice.text == f"{why}: a random move"
        assert choice.wall_us < 2_500_000
