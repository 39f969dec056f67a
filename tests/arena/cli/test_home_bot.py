"""What the author of a bot at home is told of its processes."""

from __future__ import annotations

import queue
import sys

import pytest

from arena.cli.home_bot import HomeBot
from arena.cli.runner import Launcher
from engine.links import Message
from engine.program import PlainProgram

BOT = "import sys\nfor line in sys.stdin:\n    if line.split()[0] in sys.argv: sys.exit(3)\n"


@pytest.mark.parametrize(
    ("ends_at", "told"),
    [("quit", []), ("go", ["program 1 ended by itself: exit 3"])],
    ids=["as it was told", "by itself"],
)
def test_an_end_is_told_to_its_author_unless_it_was_asked_for(
    ends_at: str, told: list[str]
) -> None:
    """The arena is told in any case."""
    said, words = queue.SimpleQueue[Message](), list[str]()
    command = [sys.executable, "-c", BOT, ends_at]
    launcher = Launcher("it", lambda _core: PlainProgram(command))
    bot = HomeBot(launcher, said.put, lambda _event, line: words.append(line))
    bot.take({"is": "open", "program": 1})
    bot.take({"is": "tell", "program": 1, "text": f"{ends_at}\n"})
    assert said.get(timeout=60) == {"is": "ended", "program": 1, "how": "exit 3"}
    bot.end_all(wait=True)
    assert words == told
