"""The games as environments of PettingZoo, by its own tests and by hand."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine.game import IllegalMoveError, OptionError, State
from engine.games import GAMES, find_variant
from engine.seeds import lot
from engine.shelf import OWN
from tests import dice
from tests.packages import Installer
from tests.requirements import need, need_openspiel

pytestmark = [
    pytest.mark.extras,
    # What PettingZoo says of all observations that are a dictionary, its own environments' apart.
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
]
NUMBERED_DICE = """
Dice.all_moves = lambda self: ["take", "leave"]
Dice.all_looks = lambda self: []
"""


@pytest.fixture
def zoo() -> Any:
    """The module, where what it needs is installed."""
    need(find_spec("pettingzoo"), "PettingZoo is not installed: pip install -e '.[pettingzoo]'")
    from arena import zoo

    return zoo


@pytest.mark.parametrize(
    "game",
    [
        *(name for name, one in GAMES.declared.items() if one.package == OWN and not one.extras),
        # By numbers of their own: one seat, two that see different things, three, dice.
        *(f"openspiel:{name}" for name in ("2048", "othello", "backgammon")),
        "openspiel:chinese_checkers players=3",
    ],
)
def test_pettingzoo_finds_nothing_wrong(zoo: Any, game: str) -> None:
    """It is asked by its api_test and its seed_test."""
    from pettingzoo.test import api_test, seed_test

    if game.startswith("openspiel:"):
        need_openspiel()
    environment = zoo.env(game)
    for agent in environment.possible_agents:
        environment.action_space(agent).seed(1)
    api_test(environment, num_cycles=60)
    seed_test(lambda: zoo.env(game), num_cycles=20)


def test_what_is_seen_while_a_game_is_played(zoo: Any) -> None:
    """Each agent in its turn has the moves of the rules, all see the same, and the end pays."""
    environment = zoo.env("clobber", size="4x3", render_mode="ansi")
    inner = environment.unwrapped
    assert str(environment) == "clobber size=4x3"
    random, state = Random(1), find_variant("clobber", ["size=4x3"]).initial()
    environment.reset()
    for agent in environment.agent_iter():
        seen, reward, terminated, truncated, _ = environment.last()
        assert not truncated
        assert environment.render() == state.text()
        legal = [inner.numbering.moves[action] for action in seen["action_mask"].nonzero()[0]]
        assert legal == list(state.legal_moves())
        assert seen["observation"].sum() == 12 * (not terminated) + 12 - inner._plies
        if terminated:
            assert reward == zoo.rewards(state)[int(agent[-1])] != 0
            environment.step(None)
            continue
        assert agent == f"player_{state.to_move}"
        other = environment.observe(f"player_{1 - (state.to_move or 0)}")
        assert (other["observation"] == seen["observation"]).all()
        assert not other["action_mask"].any()
        move = random.choice(legal)
        environment.step(inner.numbering.number_of[move])
        state = state.play(move)
    assert state.to_move is None


def test_numbers_that_a_game_gives_itself(zoo: Any) -> None:
    """They are OpenSpiel's own, each seat sees what OpenSpiel shows it, and the rules judge."""
    need_openspiel()
    import pyspiel

    environment, theirs = zoo.env("openspiel:othello"), pyspiel.load_game("othello")
    spiel, random = theirs.new_initial_state(), Random(1)
    environment.reset()
    for _ in range(20):
        for player, agent in enumerate(environment.possible_agents):
            seen = environment.observe(agent)
            assert seen["observation"].tolist() == _shaped(spiel.observation_tensor(player))
        assert environment.agent_selection == f"player_{spiel.current_player()}"
        legal = environment.last()[0]["action_mask"].nonzero()[0].tolist()
        assert legal == spiel.legal_actions()
        action = random.choice(legal)
        word = environment.unwrapped.position.word(action)
        assert word == spiel.action_to_string(spiel.current_player(), action)
        assert environment.unwrapped.position.judge(word) == action
        environment.step(action)
        spiel.apply_action(action)
    raw = zoo.raw_env("openspiel:othello")
    raw.reset()
    with pytest.raises(IllegalMoveError, match="'0' is not legal here"):
        raw.step(0)
    assert raw.position == raw.variant.initial()


def _shaped(numbers: list[float]) -> list[list[list[float]]]:
    """Planes of 8 by 8."""
    rows = [numbers[start : start + 8] for start in range(0, len(numbers), 8)]
    return [rows[start : start + 8] for start in range(0, len(rows), 8)]


def left(words: str, *seats: int) -> Callable[[], State]:
    """A game that was over when these seats had left, one after the other."""

    def make() -> State:
        name, *options = words.split()
        state = find_variant(name, options).initial()
        for seat in seats:
            state = state.retire(seat)
        return state

    return make


def placed() -> State:
    """A puzzle with one tetromino of its 20 placed."""
    state = find_variant("puzzle", ["task=tetrominoes"]).initial()
    return state.play(state.legal_moves()[0]).play("stop")


def drawn() -> State:
    """A game that nobody has won."""
    random = Random(1)
    while True:
        state: State = GAMES["mijnlieff"].variant().initial()
        while moves := state.legal_moves():
            state = state.play(random.choice(moves))
        if len(set(state.scores())) == 1:
            return state


@pytest.mark.parametrize(
    ("end", "rewards"),
    [
        (left("oxoxo", 0), (-1, 1)),
        (drawn, (0, 0)),
        (left("siege seats=3", 0), (-1, 1, 1)),
        (left("blokus mode=teams", 1), (1, -1, 1, -1)),
        (left("blokus mode=trio", 0, 2), (-1, 1, 0)),
        (left("blokus mode=classic", 2, 0, 1), (-1 / 3, 1 / 3, -1, 1)),
        (placed, (1 / 20,)),
    ],
    ids=["a loss", "a draw", "sides of two and one", "teams", "three", "four", "alone"],
)
def test_rewards(zoo: Any, end: Callable[[], State], rewards: tuple[float, ...]) -> None:
    """They go by ranks; those of one side alone by its score."""
    assert zoo.rewards(end()) == pytest.approx(rewards)


def test_an_illegal_move(zoo: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """It ends the game as PettingZoo has it; without wrappers it is refused."""
    environment = zoo.env("oxoxo")
    environment.reset()
    environment.step(0)  # there is no piece yet to be turned over
    assert environment.rewards == {"player_0": -1, "player_1": 0}
    assert all(environment.terminations.values())
    raw = zoo.raw_env("oxoxo")
    raw.reset()
    with pytest.raises(IllegalMoveError, match="Fa1"):
        raw.step(0)
    assert raw.position == raw.variant.initial()


def test_a_seed_draws_the_lots(zoo: Any, packages: Installer) -> None:
    """Those before a game and those within, as in a match; without one, games differ."""
    oxono = zoo.env("oxono")
    starts = set()
    for seed in (1, 2, None, None, None, None, None, None):
        oxono.reset(seed=seed)
        if seed is None:
            starts.add(oxono.unwrapped.position)
        else:
            assert oxono.unwrapped.position == oxono.unwrapped.variant.initial(seed)
    assert len(starts) == 2
    packages.install("dice-game", dice.CODE + NUMBERED_DICE, dice.ENTRY)
    environment = zoo.env("dice")
    environment.reset(seed=7)
    state = GAMES["dice"].variant().initial()
    for ply in (0, 2, 4):
        state = state.play(state.roll(lot(7, ply)))
        assert environment.unwrapped.position == state
        assert environment.agent_selection == f"player_{state.to_move}"
        environment.step(environment.unwrapped.numbering.number_of["leave"])
        state = state.play("leave")


def test_pictures(zoo: Any) -> None:
    """As an array of pixels, whose middle is the board's."""
    environment = zoo.env("oxoxo", render_mode="rgb_array")
    environment.reset()
    before = environment.render()
    assert before.ndim == 3
    assert (before.shape[1:], before.dtype.name) == ((zoo.PICTURE_PIXELS, 3), "uint8")
    environment.step(environment.unwrapped.numbering.number_of["Xb1"])
    assert (environment.render() != before).any()


@pytest.mark.parametrize(
    ("words", "options", "error", "said"),
    [
        ("ludo", {}, OptionError, "there is no game 'ludo'"),
        ("", {}, OptionError, "there is no game ''"),
        ("clobber size=1x1", {}, OptionError, "clobber has no size=1x1"),
        ("clobber size=5x6", {"size": "5x6"}, OptionError, "the option size is given twice"),
        ("clobber", {"render_mode": "human"}, ValueError, "there are: ansi, rgb_array"),
    ],
)
def test_what_is_refused(
    zoo: Any, words: str, options: dict[str, str], error: type[Exception], said: str
) -> None:
    """It is refused in a line that says what there is."""
    with pytest.raises(error, match=said):
        zoo.env(words, **options)


def test_it_says_what_is_missing() -> None:
    """Where PettingZoo is not installed."""
    code = "import sys; sys.modules['pettingzoo'] = None; import arena.zoo"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert "ImportError: arena.zoo needs pip install 'game-bot-arena[pettingzoo]'" in done.stderr
