"""Tuning by Bayesian optimisation: what it finds, that it is reproducible, and what it needs."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from random import Random

import pytest

from arena.strength import bayes
from arena.strength.bayes import NotInstalledError, Tried
from arena.strength.tuning import Method, Tuning
from tests.arena.conftest import Cli
from tests.arena.strength.test_tuning import THREE, elo, ended, played, settings_of
from tests.requirements import need

PAIRS, BATCH = 288, 24


@pytest.fixture
def optimiser() -> None:
    need(find_spec("bayes_opt"), "bayesian-optimization is not installed: pip install -e '.[tune]'")


@pytest.mark.extras
@pytest.mark.usefixtures("optimiser")
def test_it_finds_a_known_optimum() -> None:
    """It takes few games: more than half of the 120 Elo that can be had are found in 288 pairs."""
    settings = settings_of(*THREE, seed=1, matches=PAIRS, method=Method.BAYES, batch=BATCH)
    tuning = played(Tuning.begin(settings), elo, Random(1))
    assert -elo(tuning.chosen) < 60
    assert [match for match, _ in tuning.path] == list(range(0, PAIRS + 1, BATCH))


@pytest.mark.extras
@pytest.mark.usefixtures("optimiser")
def test_it_goes_on_from_where_it_was_saved() -> None:
    """It then tries the same as without a break, and so it does again by the same seed."""
    settings = settings_of(*THREE, matches=11, method=Method.BAYES, batch=1)
    at_once, dice, tried = Tuning.begin(settings), Random(2), []
    again = at_once
    for _ in range(11):
        found = dice.choice([0, 2, 4])
        tried.append(at_once.sides(at_once.played))
        assert again.sides(again.played) == tried[-1]
        at_once = at_once.add(ended(found))
        again = Tuning.from_json(json.loads(json.dumps(again.to_json())), settings)
        again = again.add(ended(found))
    assert again == at_once
    assert len({tuple(moved.values()) for moved, _ in tried}) == 11
    assert {tuple(start.values()) for _, start in tried} == {("6", "0.8", "0")}


def test_a_point_counts_once_with_all_its_games() -> None:
    """And of the start it is certain that it is as strong as itself."""
    start = (0.5,)
    trials = [Tried((0.1,), 0.75, 10), Tried((0.5,), 0.9, 10), Tried((0.1,), 0.5, 40)]
    first, second = bayes._known(start, trials)
    assert first[:2] == (start, 0.5)
    # 7.5 and 20 of 50 games; a coin's variance is a quarter.
    assert second == ((0.1,), pytest.approx(0.55), pytest.approx(0.005))


def test_what_is_missing_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is played."""
    monkeypatch.setitem(sys.modules, "bayes_opt", None)
    with pytest.raises(NotInstalledError):
        bayes.demand_installed()
    said = cli("tune", "bot.py", "--game", "clobber", "--option", "aim", "--method", "bayes")
    assert said.code == 2
    assert "Bayesian optimisation needs pip install 'game-bot-arena[tune]'" in said.err
