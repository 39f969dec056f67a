"""A game of OpenSpiel with its options fixed, and its positions.

A position holds OpenSpiel's state, which is never changed: a move is played on a copy. What leads
to a position is all that OpenSpiel tells of every game, so a position *is* the moves that led to
it, and its text is those. Games with a notation of their own for positions say so (see chess).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from textwrap import wrap
from typing import Any, Self

import pyspiel

from engine.game import (
    CHANCE,
    IllegalMoveError,
    Move,
    Numbers,
    PositionError,
    Seat,
    State,
    Termination,
    Variant,
)
from engine.games.openspiel.parameters import given, is_usual, longest
from engine.plurals import listed
from engine.scene import Scene
from engine.translation import N_, gettext, translated

FAMILY = "openspiel"
PLAYERS = (
    N_("Player 1"),
    N_("Player 2"),
    N_("Player 3"),
    N_("Player 4"),
    N_("Player 5"),
    N_("Player 6"),
)
"""What seats are called; no game here has more of them."""
NO_MOVES = "start"
"""The text of a position in which nothing was played."""
RANKS = re.compile(r"[\w+~]+(/[\w+~]+){6,}")
"""The board of a FEN."""
LINE = 64
"""Letters of a line; longer ones are broken."""
NOT_COPIED = frozenset({"morpion_solitaire"})
"""Games whose copied states can't name their moves, in OpenSpiel 2.0.2: they are played anew."""
SHAPED_ONCE = frozenset({"twixt"})
"""Games that give every observation of a process the shape of the first, in OpenSpiel 2.0.2, and
fail with any other: only those with all options at their defaults are asked for one."""
GAP = "_"
"""Stands in a move for the space that OpenSpiel has there."""


class SpielVariant(Variant):
    """A game of OpenSpiel with its options fixed."""

    def __init__(self, name: str, options: Mapping[str, str]) -> None:
        """Takes OpenSpiel's name of the game, and checked options."""
        super().__init__(options)
        self.game = f"{FAMILY}:{name}"
        self.is_copied = name not in NOT_COPIED
        self.rules = self.load(name)
        self.seats = int(self.rules.num_players())
        plies, drawn = self.rules.max_game_length(), self.rules.max_chance_nodes_in_history()
        self.max_plies = longest(name, options) or int(plies + drawn)
        self.has_chance = bool(drawn)
        self.title = self.rules.get_type().long_name
        self.seat_names = PLAYERS[: self.seats]
        self.first = max(0, int(self.rules.new_initial_state().current_player()))
        """OpenSpiel's number of the player in the first seat; if dice say who begins, the first."""
        least, most = self.rules.min_utility(), self.rules.max_utility()
        self.is_win_or_loss = self.seats == 2 and (least, most) == (-1, 1)
        if self.seats == 1:
            self.opening_plies = 0
        is_shaped = name not in SHAPED_ONCE or is_usual(name, options)
        if is_shaped and self.rules.get_type().provides_observation_tensor:
            shape = tuple(self.rules.observation_tensor_shape())
            self.numbers = Numbers(int(self.rules.num_distinct_actions()), shape)

    def copy(self, spiel: Any) -> Any:
        """A state of OpenSpiel's that may be changed."""
        if self.is_copied:
            return spiel.clone()
        again = self.rules.new_initial_state()
        for action in spiel.history():
            again.apply_action(action)
        return again

    def load(self, name: str) -> Any:
        """OpenSpiel's game."""
        return pyspiel.load_game(name, given(name, self.options))

    def state(self, spiel: Any) -> SpielState:
        """The position of a state of OpenSpiel's."""
        return SpielState(self, spiel)

    def initial(self, seed: int = 0) -> SpielState:
        return self.state(self.rules.new_initial_state())

    def read(self, text: str) -> SpielState:
        state = self.initial()
        words = [] if text == NO_MOVES else text.split(" ")
        if len(words) > self.max_plies:
            raise PositionError(
                gettext(
                    "the position has %(moves)s moves; %(most)s at most",
                    moves=len(words),
                    most=self.max_plies,
                )
            )
        for ply, word in enumerate(words, start=1):
            try:
                state = state.play(word)
            except IllegalMoveError as error:
                raise PositionError(
                    gettext(
                        "move %(ply)s, %(error)s; no moves are written %(none)s",
                        ply=ply,
                        error=error,
                        none=NO_MOVES,
                    )
                ) from None
        return state

    def player(self, seat: Seat) -> int:
        """OpenSpiel's number of the player in a seat."""
        return (seat + self.first) % self.seats

    def scores_of(self, spiel: Any) -> tuple[float, ...]:
        """The scores of a finished game: 1, 0.5 and 0 where it can be won and lost alone.

        Else they are OpenSpiel's utilities. A game that is broken off for its length is drawn.
        """
        if spiel.is_terminal() or self.seats == 1:
            returns = spiel.returns()
        else:
            returns = [0.0] * self.seats
        utilities = [float(returns[self.player(seat)]) for seat in range(self.seats)]
        if self.is_win_or_loss:
            return tuple((utility + 1) / 2 for utility in utilities)
        return tuple(utilities)


@dataclass(frozen=True, eq=False)
class SpielState(State):
    """A position: OpenSpiel's state, which nobody changes."""

    variant: SpielVariant = field(repr=False)
    spiel: Any

    @cached_property
    def _key(self) -> object:
        """What makes positions of a variant equal."""
        return tuple(self.spiel.history())

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, SpielState)
            and self.variant == other.variant
            and self._key == other._key
        )

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _is_cut(self) -> bool:
        return bool(self.spiel.move_number() >= self.variant.max_plies)

    @property
    def is_over(self) -> bool:
        """Whether it is the end of the game."""
        return bool(self.spiel.is_terminal()) or self._is_cut

    @property
    def to_move(self) -> Seat | None:
        if self.is_over:
            return None
        if self.spiel.is_chance_node():
            return CHANCE
        variant, player = self.variant, int(self.spiel.current_player())
        return (player - variant.first) % variant.seats

    @cached_property
    def words(self) -> Mapping[int, Move]:
        """The legal moves by OpenSpiel's numbers of them."""
        if self.is_over:
            return {}
        spell, player = self.spiel.action_to_string, self.spiel.current_player()
        return {code: _word(spell(player, code)) for code in self.spiel.legal_actions()}

    @cached_property
    def actions(self) -> Mapping[Move, int]:
        """OpenSpiel's numbers of the legal moves."""
        found = {word: code for code, word in self.words.items()}
        assert len(found) == len(self.words), "OpenSpiel calls two moves the same"
        return found

    def legal_moves(self) -> Sequence[Move]:
        return sorted(self.actions)

    def outcomes(self) -> Mapping[Move, float]:
        if self.is_over or not self.spiel.is_chance_node():
            return {}
        return {self.words[code]: odds for code, odds in self.spiel.chance_outcomes()}

    def judge(self, move: str) -> int:
        """OpenSpiel's number of a legal move."""
        code = self.actions.get(move)
        if code is None:
            if self.is_over:
                raise IllegalMoveError(move, gettext("the game is over"))
            raise IllegalMoveError(move)
        return code

    def play(self, move: Move) -> Self:
        return self.play_code(self.judge(move))

    def codes(self) -> Sequence[int]:
        found: Sequence[int] = [] if self.is_over else self.spiel.legal_actions()
        return found

    def word(self, code: int) -> Move:
        return self.words[code]

    def play_code(self, code: int) -> Self:
        spiel = self.variant.copy(self.spiel)
        spiel.apply_action(code)
        return type(self)(self.variant, spiel)

    def playout(self, random: Random) -> tuple[float, ...]:
        spiel, draw = self.variant.copy(self.spiel), random.random
        for _ in range(spiel.move_number(), self.variant.max_plies):
            if spiel.is_terminal():
                break
            if spiel.is_chance_node():
                actions, odds = zip(*spiel.chance_outcomes(), strict=True)
                spiel.apply_action(random.choices(actions, odds)[0])
                continue
            actions = spiel.legal_actions()
            spiel.apply_action(actions[int(draw() * len(actions))])
        return self.variant.scores_of(spiel)

    def observation(self, seat: Seat) -> Sequence[float]:
        found: Sequence[float] = self.spiel.observation_tensor(self.variant.player(seat))
        return found

    def ending(self) -> Termination | None:
        if self.spiel.is_terminal():
            return Termination.NORMAL
        return Termination.PLY_LIMIT if self._is_cut else None

    def scores(self) -> tuple[float, ...]:
        return self.variant.scores_of(self.spiel)

    def forfeit_scores(self, seat: Seat) -> tuple[float, ...]:
        """The worst for who leaves; what that costs is shared by the others."""
        if self.variant.is_win_or_loss:
            return super().forfeit_scores(seat)
        worst = float(self.variant.rules.min_utility())
        share = -worst / max(1, self.variant.seats - 1)
        return tuple(worst if other == seat else share for other in range(self.variant.seats))

    def text(self) -> str:
        spiel = self.variant.rules.new_initial_state()
        moves = []
        for action in self.spiel.history():
            moves.append(_word(spiel.action_to_string(spiel.current_player(), action)))
            spiel.apply_action(action)
        return " ".join(moves) or NO_MOVES

    def clicks(self, move: Move) -> tuple[str, ...]:
        return (move,)

    def marks(self, move: Move) -> tuple[str, ...]:
        return ()

    def scene(self) -> Scene:
        turn = self.turn()
        return Scene(
            title=f"{self.variant.title}: {turn}",
            squares=(),
            pieces=(),
            captions=(turn,),
            text=tuple(_lines(str(self.spiel))),
        )

    def turn(self) -> str:
        """Whose turn it is, or how it ended, in words."""
        names = self.variant.seat_names
        if self.to_move is not None:
            return gettext(
                "%(seat)s to move", seat=translated(self.variant.mover_name(self.to_move))
            )
        if self.variant.seats == 1:
            return gettext("Over: %(result)s", result=f"{self.scores()[0]:g}")
        first = [translated(names[seat]) for seat, rank in enumerate(self.ranks()) if rank == 1]
        if len(first) == self.variant.seats:
            return gettext("Drawn")
        if len(first) == 1:
            return gettext("%(seat)s wins", seat=first[0])
        return gettext("%(seats)s win", seats=listed(first))


def _lines(text: str) -> Iterator[str]:
    """OpenSpiel's text of a position in lines that can be read; ranks as FEN has them, too."""
    for line in text.rstrip().splitlines():
        ranks, _, rest = line.partition(" ")
        if RANKS.fullmatch(ranks):
            for rank in ranks.split("/"):
                cells = re.sub(r"\d+", lambda run: "." * int(run[0]), rank)
                yield " ".join(re.findall(r"\+?[^+]", cells))
            yield rest
        else:
            yield from wrap(line, LINE, drop_whitespace=False) or [""]


def _word(text: str) -> Move:
    return GAP.join(text.split())
