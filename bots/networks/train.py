"""Trains a network for Clobber by games against itself, and writes a bot that plays by it.

    python bots/networks/train.py network
    arena test network greedy --game clobber

The network has two layers of hidden units, and says of a position how likely it is that whoever
is to move wins. Many games are played at once, begun by moves that are drawn by lot and gone on by
what the network says of the positions that a move leads to. Then it learns by gradient descent who
won from there (Tesauro's TD-Gammon with lambda = 1, 1995; the steps are those of Adam, Kingma and
Ba, 2014).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "rollouts"))
from boards import Boards, Rules  # noqa: E402

from engine.games import GAMES as SHELF  # noqa: E402

GAMES, HIDDEN = 256, 256
RATE = 0.001
BY_LOT = 14
"""How many moves a game begins with at most that are drawn by lot. Later ones never are: a single
one that is not the best may turn the winner of all positions before."""
KEPT = 60_000
"""Positions of the last games, of which it learns."""


class Network:
    """Weights from stones to hidden units, to hidden units, to a chance."""

    def __init__(self, inputs: int, rng: np.random.Generator) -> None:
        sizes = [inputs, HIDDEN, HIDDEN, 1]
        self.weights = [
            one.astype(np.float32)
            for before, after in pairwise(sizes)
            for one in (rng.normal(0, (2 / before) ** 0.5, (before, after)), np.zeros(after))
        ]
        self._means = [np.zeros_like(one) for one in self.weights]
        self._squares = [np.zeros_like(one) for one in self.weights]
        self._steps = 0

    def layers(self, stones: np.ndarray) -> tuple[np.ndarray, ...]:
        """Both layers of hidden units, and the chances."""
        w = self.weights
        first = np.maximum(stones @ w[0] + w[1], 0)
        second = np.maximum(first @ w[2] + w[3], 0)
        return first, second, 1 / (1 + np.exp(-(second @ w[4] + w[5])[:, 0]))

    def chances(self, boards: Boards, rules: Rules) -> np.ndarray:
        """The chance that who is to move wins, for each board."""
        return self.layers(rules.planes(boards))[2]

    def learn(self, stones: np.ndarray, won: np.ndarray) -> float:
        """A step towards what came of positions; says how wrong it was, by the cross entropy."""
        w = self.weights
        first, second, chances = self.layers(stones)
        top = ((chances - won) / len(won))[:, None]
        middle = (top @ w[4].T) * (second > 0)
        low = (middle @ w[2].T) * (first > 0)
        slopes = [stones.T @ low, low.sum(0), first.T @ middle, middle.sum(0)]
        slopes += [second.T @ top, top.sum(0)]
        self._steps += 1
        for one, mean, square, slope in zip(w, self._means, self._squares, slopes, strict=True):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            step = mean / (1 - 0.9**self._steps)
            one -= RATE * step / (np.sqrt(square / (1 - 0.999**self._steps)) + 1e-8)
        wrong = np.where(won, chances, 1 - chances)
        return float(-np.log(wrong + 1e-6).mean())


def play(
    network: Network, rules: Rules, start: Boards, rng: np.random.Generator
) -> list[np.ndarray]:
    """Games against itself, all at once: the positions, and whether who was to move there won."""
    boards = start
    games = np.arange(len(start[0]))
    by_lot = rng.integers(BY_LOT + 1, size=len(games))
    seen: list[tuple[np.ndarray, np.ndarray, int]] = []
    lasts = np.zeros(len(games), int)
    ply = 0
    while len(games):
        legal = rules.legal(boards)
        can = legal.any(axis=1)
        lasts[games[~can]] = ply  # who is to move at this ply has lost
        boards, games, legal = (boards[0][can], boards[1][can]), games[can], legal[can]
        if not len(games):
            break
        known = by_lot[games] <= ply
        seen.append((rules.planes((boards[0][known], boards[1][known])), games[known], ply))
        which, moves = np.nonzero(legal)
        after = rules.play((boards[0][which], boards[1][which]), moves)
        worth = np.where(rules.legal(after).any(axis=1), 1 - network.chances(after, rules), 1)
        worth = np.where(known[which], worth, rng.random(len(which)))
        order = np.lexsort((worth, which))
        best = order[np.append(np.flatnonzero(np.diff(which[order])), len(order) - 1)]
        boards = after[0][best], after[1][best]
        ply += 1
    stones = np.concatenate([planes for planes, _, _ in seen])
    won = np.concatenate([(lasts[games] - ply) % 2 for _, games, ply in seen])
    return [stones, won.astype(np.float32)]


def write(network: Network, folder: Path, size: str) -> None:
    """Makes a folder with the bot and its network."""
    names = ["w0", "b0", "w1", "b1", "w2", "b2"]
    weights = [
        numpy_helper.from_array(one, name) for name, one in zip(names, network.weights, strict=True)
    ]
    steps = [
        helper.make_node("Gemm", ["stones", "w0", "b0"], ["sum0"]),
        helper.make_node("Relu", ["sum0"], ["layer0"]),
        helper.make_node("Gemm", ["layer0", "w1", "b1"], ["sum1"]),
        helper.make_node("Relu", ["sum1"], ["layer1"]),
        helper.make_node("Gemm", ["layer1", "w2", "b2"], ["sum2"]),
        helper.make_node("Sigmoid", ["sum2"], ["column"]),
        helper.make_node("Flatten", ["column"], ["flat"], axis=0),
        helper.make_node("Squeeze", ["flat", "axes"], ["chance"]),
    ]
    weights.append(numpy_helper.from_array(np.array([0]), "axes"))
    given = helper.make_tensor_value_info(
        "stones", TensorProto.FLOAT, ["boards", network.weights[0].shape[0]]
    )
    told = helper.make_tensor_value_info("chance", TensorProto.FLOAT, ["boards"])
    graph = helper.make_graph(steps, "clobber", [given], [told], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"size": size})
    onnx.checker.check_model(model)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "network.onnx")
    (folder / "bot.toml").write_text(
        'name = "network"\ngames = ["clobber"]\nruntime = "scientific"\n'
    )
    shutil.copy(HERE / "bot.py", folder)
    shutil.copy(HERE / "rollouts" / "boards.py", folder)


def main() -> None:
    """Trains for some time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the bot is written")
    parser.add_argument("--size", default="6x7", help="of the board")
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    rng = np.random.default_rng(chosen.seed)
    rules = Rules(*map(int, chosen.size.split("x")))
    start = rules.boards_of(SHELF["clobber"].variant(size=chosen.size).initial(), GAMES)
    network = Network(rules.planes(start).shape[1], rng)
    kept = [np.zeros((0, rules.planes(start).shape[1]), np.float32), np.zeros(0, np.float32)]
    began, told, rounds = time.monotonic(), 0.0, 0
    while True:
        new = play(network, rules, start, rng)
        kept = [np.concatenate([old, one])[-KEPT:] for old, one in zip(kept, new, strict=True)]
        wrong = []
        for _ in range(4 * len(new[1]) // 512):
            some = rng.integers(len(kept[1]), size=512)
            wrong.append(network.learn(kept[0][some], kept[1][some]))
        rounds += 1
        seconds = time.monotonic() - began
        if seconds > told + 30 or seconds > chosen.seconds:
            told = seconds
            write(network, chosen.folder, chosen.size)
            words = f"{rounds * GAMES} games, cross entropy {np.mean(wrong):.3f}"
            print(f"{seconds:4.0f} s: {words}", flush=True)
        if seconds > chosen.seconds:
            return


if __name__ == "__main__":
    main()
