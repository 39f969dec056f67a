"""The games of the shelf as environments of PettingZoo, in which agents learn by themselves.

    from arena import zoo
    env = zoo.env("clobber size=5x6")

They are of its AEC kind: one agent acts after the other. An action is the number of a move, and an
observation are the position in numbers and the mask of the legal moves (`engine.numbering`).
"""

from __future__ import annotations

import io
from random import Random
from typing import Any

from engine import svg
from engine.game import CHANCE, State, Variant
from engine.games import find_variant
from engine.numbering import Numbering, numbering_of
from engine.seeds import lot

try:
    import numpy
    from gymnasium.spaces import Box, Dict, Discrete
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError as error:
    raise ImportError(
        f"arena.zoo needs pip install 'game-bot-arena[pettingzoo]' ({error})"
    ) from error

ILLEGAL_REWARD = -1
MODES = ["ansi", "rgb_array"]
PICTURE_PIXELS = 480
"""How wide a picture is."""

Array = Any
"""A numpy.ndarray; the types of numpy are there only where it is."""
Observation = dict[str, Array]


def env(game: str, render_mode: str | None = None, **options: str) -> Any:
    """A game as an environment, with the usual wrappers.

    An illegal move ends the game, with -1 for whoever made it and 0 for the others.

    Args:
        game: its name, and options that are not at their defaults: ``"clobber size=5x6"``.
        render_mode: see `GameEnv`.
        options: more options, as in ``env("clobber", size="5x6")``.

    Raises:
        OptionError: an unknown game, option or value.
        UnnumberedError: a game that tells neither numbers nor all its moves and looks.
        ValueError: an unknown render mode.
    """
    wrapped = raw_env(game, render_mode, **options)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=ILLEGAL_REWARD)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


def raw_env(game: str, render_mode: str | None = None, **options: str) -> Any:
    """A game as an environment without wrappers.

    An illegal move raises IllegalMoveError and changes nothing.
    """
    name, *words = game.split() or [""]
    words += [f"{key}={value}" for key, value in options.items()]
    return GameEnv(find_variant(name, words), render_mode)


def rewards(state: State) -> tuple[float, ...]:
    """What a game that is over brings each seat, from -1 to 1.

    Of two sides 1 to the winner, -1 to the other, 0 in a draw. Of more, the sides that rank behind
    it less those that rank before it, as a part of all others. All seats of a side get the same.
    Where there is one side alone, its score, as a part of what a solved puzzle has.
    """
    variant = state.variant
    sides = variant.side_of
    if len(set(sides)) == 1:
        return tuple(score / (variant.solved_score or 1) for score in state.scores())
    ranks = dict(zip(sides, state.ranks(), strict=True))
    return tuple(
        sum((other > ranks[side]) - (other < ranks[side]) for other in ranks.values())
        / (len(ranks) - 1)
        for side in sides
    )


class GameEnv(AECEnv[str, Observation, int]):
    """A variant as an environment; its agents are ``player_0`` and so on, by their seats.

    ``render()`` gives in the mode ``"ansi"`` the position text, in ``"rgb_array"`` the picture, as
    uint8 of shape (height, width, 3). ``position`` is the State, and ``numbering`` what the
    numbers of actions and the planes of observations mean.
    """

    metadata = {"render_modes": MODES, "is_parallelizable": False, "render_fps": 2}  # noqa: RUF012

    def __init__(self, variant: Variant, render_mode: str | None = None) -> None:
        """Makes the environment; raises as `env`."""
        super().__init__()
        if render_mode not in (None, *MODES):
            there = ", ".join(MODES)
            raise ValueError(f"there is no render_mode {render_mode!r}; there are: {there}")
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "name": str(variant)}
        self.variant = variant
        self.numbering = numbering_of(variant)
        self.possible_agents = [f"player_{seat}" for seat in range(variant.seats)]
        moves, shape = self.numbering.count, self.numbering.shape
        seen = (
            Box(0, 1, shape, numpy.int8)
            if isinstance(self.numbering, Numbering)
            else Box(-numpy.inf, numpy.inf, shape, numpy.float32)
        )
        self.action_spaces = {agent: Discrete(moves) for agent in self.possible_agents}
        self.observation_spaces = {
            agent: Dict(
                {
                    "observation": seen,
                    "action_mask": Box(0, 1, (moves,), numpy.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._seeds = Random()
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Any:
        """A Dict of "observation" and "action_mask"."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Discrete: the numbers of all moves."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a game.

        Args:
            seed: draws what the rules leave to the lot, dice included, as in a match's game with
                this seed. It begins the row of seeds of games to come that are given none.
            options: there are none.
        """
        if seed is None:
            seed = self._seeds.getrandbits(32)
        else:
            self._seeds.seed(seed)
        self._seed, self._plies = seed, 0
        self._reach(self.variant.initial(seed))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[self.position.to_move or 0]

    def _reach(self, position: State) -> None:
        """Goes to a position, and on from there while it is the turn of chance."""
        while position.to_move == CHANCE:
            position = position.play(position.roll(lot(self._seed, self._plies)))
            self._plies += 1
        self.position = position

    def observe(self, agent: str) -> Observation:
        """The position, in planes alike for all agents; legal moves has only the one to move."""
        numbering, position = self.numbering, self.position
        seen: Array
        if isinstance(numbering, Numbering):
            seen = numpy.zeros(numbering.shape, numpy.int8)
            seen.reshape(-1)[numbering.ones(position)] = 1
        else:
            given = position.observation(self.possible_agents.index(agent))
            seen = numpy.array(given, numpy.float32).reshape(numbering.shape)
        mask: Array = numpy.zeros(numbering.count, numpy.int8)
        if agent == self.agent_selection:
            mask[numbering.legal(position)] = 1
        return {"observation": seen, "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Plays a move; of an agent whose game is over None takes it out.

        Raises:
            IllegalMoveError: the move is not legal.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert action is not None, "a move is wanted: the game is not over"
        after = self.numbering.play(self.position, action)
        self._plies += 1
        self._reach(after)
        if self.position.to_move is None:
            self.rewards = dict(zip(self.agents, rewards(self.position), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.agent_selection = self.possible_agents[self.position.to_move]
        self._accumulate_rewards()

    def render(self) -> Any:
        """The position in the mode that was asked for; None without one."""
        if self.render_mode == "ansi":
            return self.position.text()
        if self.render_mode == "rgb_array":
            return _picture(self.position)
        return None

    def close(self) -> None:
        """Does nothing: nothing is left open."""


def _picture(state: State) -> Array:
    import resvg_py
    from PIL import Image

    drawn = svg.render(state.scene())
    png = resvg_py.svg_to_bytes(svg_string=drawn, width=PICTURE_PIXELS)
    return numpy.asarray(Image.open(io.BytesIO(png)).convert("RGB"))
