"""Environments of PettingZoo: steps a second of the games, and of Connect Four of its own."""

from __future__ import annotations

from collections import Counter, defaultdict
from importlib.util import find_spec
from time import process_time
from typing import Any

from tests.benchmarks.table import Table

COLUMNS = ("environment", "actions", "observation", "steps", "steps/s")
GAMES = ("oxoxo", "mijnlieff", "clobber", "oxono", "blocco", "siege", "puzzle", "blokus")
ROUNDS = 5


def environments() -> dict[str, Any]:
    """Those that can be made here, by their names."""
    made: dict[str, Any] = {}
    if find_spec("pettingzoo"):
        from arena import zoo

        made |= {game: zoo.env(game) for game in GAMES}
        if find_spec("pygame"):
            from pettingzoo.classic import connect_four_v3

            made["PettingZoo's connect_four_v3"] = connect_four_v3.env()
    return made


def run(seconds: float) -> Table:
    """A row for each environment, all in turn and in several rounds, by CPU time."""
    made = environments()
    steps, spent = Counter[str](), defaultdict[str, float](float)
    for _ in range(ROUNDS):
        for name, environment in made.items():
            start = process_time()
            while not steps[name] or process_time() - start < seconds / ROUNDS / len(made):
                steps[name] += whole_game(environment)
            spent[name] += process_time() - start
    rows = []
    for name, environment in made.items():
        agent = environment.possible_agents[0]
        shape = environment.observation_space(agent)["observation"].shape
        rate = steps[name] / spent[name]
        actions = environment.action_space(agent).n
        rows.append(
            [name, f"{actions:,}", " × ".join(map(str, shape)), f"{steps[name]:,}", f"{rate:,.0f}"]
        )
    return Table("Environments of PettingZoo (one core)", COLUMNS, rows or [["none here", *"----"]])


def whole_game(environment: Any) -> int:
    """Plays legal moves at random to the end, by last() and step(); how many steps it took."""
    environment.reset()
    steps = 0
    for agent in environment.agent_iter():
        seen, _, terminated, truncated, _ = environment.last()
        over = terminated or truncated
        environment.step(
            None if over else environment.action_space(agent).sample(seen["action_mask"])
        )
        steps += 1
    return steps
