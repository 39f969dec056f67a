"""The example of a bot that is trained: it learns, and plays by what it has learned."""

from __future__ import annotations

import importlib.util
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from engine.games import GAMES
from engine.numbering import Numbering
from tests.requirements import need
from tests.sample_bots.play import command, load, play

STEPS = 25
"""How often it learns; a second or two."""
CHECKED = 200
"""Games against chance. The share of the points of the same player has a deviation of 0.03."""


def share(folder: Path) -> float:
    """The share of the points that the bot in a folder takes from a player of random moves."""
    spec = importlib.util.spec_from_file_location("trained", folder / "bot.py")
    assert spec is not None
    assert spec.loader is not None
    bot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bot)
    random, points = Random(1), 0.0
    numbering = Numbering(GAMES["mijnlieff"].variant())
    policies = [bot.Policy(numbering, weights) for weights in bot.WRITTEN["seats"]]
    for game in range(CHECKED):
        state, own = numbering.variant.initial(), game % 2
        while moves := state.legal_moves():
            move = policies[own].choose(state) if state.to_move == own else random.choice(moves)
            state = state.play(move)
        ranks = state.ranks()
        points += 0.5 + (ranks[1 - own] - ranks[own]) / 2
    return points / CHECKED


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The bot before it learned anything, and after some steps."""
    need(find_spec("pettingzoo"), "PettingZoo is not installed: pip install -e '.[pettingzoo]'")
    train = load("training/train")
    found = []
    for step, policies in enumerate(islice(train.train("mijnlieff", 1), STEPS + 1)):
        if step in (0, STEPS):
            found.append(tmp_path_factory.mktemp("trained"))
            train.write(policies, found[-1], "mijnlieff")
    return found


@pytest.mark.long
def test_it_learns(folders: list[Path]) -> None:
    """Before, it is no better than chance; after a moment it is so by far."""
    before, after = map(share, folders)
    assert 0.35 < before < 0.65
    assert after > before + 0.2


@pytest.mark.long
def test_it_plays_as_a_bot(folders: list[Path]) -> None:
    """With the weights beside it, to the end; and nothing else than what it has learned."""
    bots = [command(folder / "bot.py") for folder in folders]
    for game in play(GAMES["mijnlieff"].variant(), bots):
        assert game.faults == ()
    refused, *_ = play(GAMES["oxoxo"].variant(), bots)
    assert refused.faults[0].detail == "closed its output: exit 1"
