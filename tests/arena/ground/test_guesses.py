"""Which names of a database are likely to have been meant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arena.ground.db import Database
from arena.ground.guesses import meant
from arena.models import Bot, User

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_names_like_one_that_is_not_there(database: Database, subtests: pytest.Subtests) -> None:
    """Whatever the letters' size; none where that name is there."""
    with database.begin() as session:
        owner = User(name="ada", created=NOW)
        session.add_all(
            Bot(name=name, owner=owner, created=NOW)
            for name in ("Greedy", "greedier", "gready%", "mcts")
        )
    rows = {
        "gredy": "; did you mean Greedy or gready%?",
        "GREEDY": "",
        "gready_": "; did you mean gready% or Greedy?",
        "%reedy": "",
        "xyz": "",
        "": "",
    }
    with database.read() as session:
        for name, words in rows.items():
            with subtests.test(name):
                assert meant(session, Bot.name, name) == words
        assert meant(session, Bot.name, "gredy", Bot.name != "Greedy").startswith("; did you")
