"""Trains a small policy by playing a game against itself, and writes a bot that plays by it.

    python bots/training/train.py mijnlieff learner
    arena test learner random --game mijnlieff

A policy is one layer of hidden units between a position's planes and a preference for each move;
a second output says what the position is worth to its seat. Games are played in batches, each
move drawn by the preferences. Then every move that led to more than its position was thought to be
worth is made likelier, and any other less likely: REINFORCE with a baseline (Williams, 1992), by
the steps of Adam (Kingma and Ba, 2014).

It learns in `arena.zoo`, which gives the very planes and numbers that the bot has in its box.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from arena import zoo
from engine.game import GameError
from engine.numbering import Numbering

GAMES = 64
"""How many games are played before each step."""
HIDDEN = 64
RATE, CURIOSITY = 0.004, 0.1
"""How long a step is, and how much a policy is worth that has not made up its mind."""
NEVER = -1e9
"""The preference of a move that is not legal."""


class Policy:
    """Weights of one seat: of inputs to hidden units, and of these to moves and to the worth."""

    def __init__(self, inputs: int, moves: int, rng: np.random.Generator) -> None:
        self.weights = {
            "hidden": rng.normal(0, inputs**-0.5, (inputs, HIDDEN)),
            "hidden_bias": np.zeros(HIDDEN),
            "moves": rng.normal(0, 0.1 * HIDDEN**-0.5, (HIDDEN, moves)),
            "moves_bias": np.zeros(moves),
            "worth": np.zeros(HIDDEN),
        }
        self._means = {name: np.zeros_like(one) for name, one in self.weights.items()}
        self._squares = {name: np.zeros_like(one) for name, one in self.weights.items()}
        self._steps = 0

    def think(self, planes: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, ...]:
        """The hidden units, the chance of each move, and the worth, for each position."""
        w = self.weights
        hidden = np.tanh(planes @ w["hidden"] + w["hidden_bias"])
        preferences = np.where(masks, hidden @ w["moves"] + w["moves_bias"], NEVER)
        chances = np.exp(preferences - preferences.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        return hidden, chances, np.tanh(hidden @ w["worth"])

    def draw(self, planes: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A move in each position, by its chances."""
        _, chances, _ = self.think(planes, masks)
        sums = chances.cumsum(axis=1)
        return (sums <= rng.random((len(sums), 1)) * sums[:, -1:]).sum(axis=1)

    def learn(
        self, planes: np.ndarray, masks: np.ndarray, actions: np.ndarray, rewards: np.ndarray
    ) -> None:
        """A step by what moves have brought."""
        hidden, chances, worth = self.think(planes, masks)
        count = len(actions)
        surprise = rewards - worth
        by_preference = -chances * surprise[:, None]
        by_preference[np.arange(count), actions] += surprise
        logs = np.log(chances + 1e-12)
        doubt = -(chances * logs).sum(axis=1, keepdims=True)
        by_preference -= CURIOSITY * chances * (logs + doubt)
        by_worth = surprise * (1 - worth**2)
        by_hidden = by_preference @ self.weights["moves"].T
        by_hidden += by_worth[:, None] * self.weights["worth"]
        by_hidden *= 1 - hidden**2
        self._step(
            {
                "hidden": planes.T @ by_hidden / count,
                "hidden_bias": by_hidden.mean(axis=0),
                "moves": hidden.T @ by_preference / count,
                "moves_bias": by_preference.mean(axis=0),
                "worth": hidden.T @ by_worth / count,
            }
        )

    def _step(self, slopes: dict[str, np.ndarray]) -> None:
        """A step of Adam up the slopes."""
        self._steps += 1
        for name, slope in slopes.items():
            self._means[name] += 0.1 * (slope - self._means[name])
            self._squares[name] += 0.001 * (slope**2 - self._squares[name])
            mean = self._means[name] / (1 - 0.9**self._steps)
            square = self._squares[name] / (1 - 0.999**self._steps)
            self.weights[name] += RATE * mean / (np.sqrt(square) + 1e-8)


Policies = dict[str, Policy]
"""One for each agent: the same stones mean the opposite to the other seat."""


class Lesson:
    """The moves of one agent in some games, and what they brought."""

    def __init__(self) -> None:
        self.moves: list[tuple[np.ndarray, np.ndarray, int, int]] = []
        """The planes and the mask before each move, its action, and its game."""

    def columns(self, rewards: list[float]) -> tuple[np.ndarray, ...]:
        """What `Policy.learn` takes.

        Args:
            rewards: the agent's in each game.
        """
        planes, masks, actions, games = zip(*self.moves, strict=True)
        brought = [rewards[game] for game in games]
        return np.array(planes), np.array(masks), np.array(actions), np.array(brought)


def play(
    policies: Policies, environments: list[zoo.GameEnv], rng: np.random.Generator
) -> dict[str, Lesson]:
    """A game in each environment, all side by side: a policy thinks about many at once."""
    for environment in environments:
        environment.reset(seed=int(rng.integers(2**32)))
    lessons = {agent: Lesson() for agent in policies}
    while True:
        ended = True
        for agent, policy in policies.items():
            games = [
                game
                for game, environment in enumerate(environments)
                if environment.agent_selection == agent and not environment.terminations[agent]
            ]
            if not games:
                continue
            ended = False
            seen = [environments[game].observe(agent) for game in games]
            planes = np.array([one["observation"].reshape(-1) for one in seen], np.float64)
            masks = np.array([one["action_mask"] for one in seen], bool)
            actions = policy.draw(planes, masks, rng).tolist()
            lessons[agent].moves += zip(planes, masks, actions, games, strict=True)
            for game, action in zip(games, actions, strict=True):
                environments[game].step(action)
        if ended:
            return lessons


def train(game: str, seed: int) -> Iterator[Policies]:
    """The policies before the first step, and after each; the same for the same seed."""
    rng = np.random.default_rng(seed)
    environments = [zoo.raw_env(game) for _ in range(GAMES)]
    first = environments[0]
    size, moves = int(np.prod(first.numbering.shape)), len(first.numbering.moves)
    policies = {agent: Policy(size, moves, rng) for agent in first.possible_agents}
    while True:
        yield policies
        for agent, lesson in play(policies, environments, rng).items():
            rewards = [environment.rewards[agent] for environment in environments]
            policies[agent].learn(*lesson.columns(rewards))


def write(policies: Policies, folder: Path, game: str) -> None:
    """Makes a folder with the bot and its weights."""
    folder.mkdir(parents=True, exist_ok=True)
    seats = [
        {name: np.round(one, 4).tolist() for name, one in policy.weights.items()}
        for policy in policies.values()
    ]
    variant = zoo.raw_env(game).variant
    written = {"variant": str(variant), "seats": seats}
    (folder / "policy.json").write_text(json.dumps(written))
    (folder / "bot.toml").write_text(f'name = "learner"\ngames = ["{variant.game}"]\n')
    shutil.copy(Path(__file__).with_name("bot.py"), folder / "bot.py")


def main() -> None:
    """Trains for some time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help="and options that are not at their defaults, in quotes")
    parser.add_argument("folder", type=Path, help="where the bot is written")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    try:
        # The bot adds up planes of ones, which games with numbers of their own don't have.
        Numbering(zoo.raw_env(chosen.game).variant)
    except GameError as error:
        parser.error(str(error))
    began = time.monotonic()
    for step, policies in enumerate(train(chosen.game, chosen.seed)):
        seconds = time.monotonic() - began
        if step % 100 == 0 or seconds > chosen.seconds:
            write(policies, chosen.folder, chosen.game)
            print(f"{seconds:4.0f} s: {step * GAMES} games", flush=True)
        if seconds > chosen.seconds:
            return


if __name__ == "__main__":
    main()
