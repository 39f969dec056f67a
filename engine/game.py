"""What a game must offer: Game, Variant and State, and the errors they raise.

A State is a value: ``state.play(move)`` returns the next one and changes nothing.
A move is its notation, one word of text. A Variant is a game with every option fixed;
it makes the first State and reads one from text. ``engine.games.GAMES`` has all games.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

from engine.options import Option, fault_of_line
from engine.scene import Held, Look, Scene
from engine.translation import N_, gettext, pgettext, spoken, translated

if TYPE_CHECKING:
    from engine.truth import Truth

Seat = int
"""A seat in playing order, counted from 0; people and bots see it counted from 1."""

CHANCE: Seat = -1
"""Whose turn it is when dice are thrown or a card is drawn: nobody's, who is seen as seat 0."""

MOST_SEATS = 64
LONGEST_SEAT_NAME = 40

Move = str
"""A move in its game's notation: one word of printable ASCII."""


class Termination(StrEnum):
    """Why a game is over, or why a seat left it; `translated`, it is the word for whoever reads."""

    NORMAL = N_("normal")
    REPETITION = N_("repetition")
    PLY_LIMIT = N_("plylimit")
    ILLEGAL = N_("illegal")
    TIMEOUT = N_("timeout")
    CRASH = N_("crash")
    MEMORY = N_("memory")
    PROTOCOL = N_("protocol")
    START = N_("start")
    RESIGN = N_("resign")
    VOID = N_("void")

    @property
    def is_fault(self) -> bool:
        """Whether a seat ended it by its own fault (resigning included)."""
        return self not in _NO_FAULTS

    @property
    def is_failure(self) -> bool:
        """Whether it speaks against a bot: every fault but resigning, which is to play."""
        return self.is_fault and self is not Termination.RESIGN


_NO_FAULTS = frozenset(
    {Termination.NORMAL, Termination.REPETITION, Termination.PLY_LIMIT, Termination.VOID}
)


class GameError(ValueError):
    """Something about a game was asked for that its rules do not have; one sentence for people."""


class OptionError(GameError):
    """An unknown game, option or value."""


class PositionError(GameError):
    """A text that is no position of its variant."""


class IllegalMoveError(GameError):
    """A move that the rules do not allow in the position at hand."""

    def __init__(self, move: str, reason: str = "") -> None:
        shown = move if len(move) <= 60 else move[:57] + "..."
        reason = reason or gettext("it is not among the legal moves")
        super().__init__(
            gettext("%(move)r is not legal here: %(reason)s", move=shown, reason=reason)
        )
        self.move = move


class State(ABC):
    """A position, with the seat to move: a frozen, hashable value.

    Equal positions are equal whatever led to them; what a repetition rule needs to
    remember stands outside equality and hash.
    """

    __slots__ = ()

    variant: Variant

    @property
    @abstractmethod
    def to_move(self) -> Seat | None:
        """The seat whose turn it is; `CHANCE` if lots are drawn; None when the game is over."""

    @abstractmethod
    def legal_moves(self) -> Sequence[Move]:
        """Every legal move in canonical notation, sorted as text, each once; empty at the end."""

    @abstractmethod
    def judge(self, move: str, /) -> object:
        """What the game makes of a legal ``move``, found without listing all moves.

        Raises:
            IllegalMoveError: the move is not legal, is malformed, or the game is over.
        """

    @abstractmethod
    def play(self, move: Move) -> State:
        """The position after ``move``, in any spelling that the game's page accepts.

        Raises:
            IllegalMoveError: as for `judge`.
        """

    def canonical(self, move: str) -> Move:
        """The one spelling of ``move`` that the engine prints; most games have no other.

        Raises:
            IllegalMoveError: as for `judge`.
        """
        self.judge(move)
        return move

    @abstractmethod
    def ending(self) -> Termination | None:
        """Why the game is over (normal, repetition or plylimit); None while it goes on."""

    @abstractmethod
    def scores(self) -> tuple[float, ...]:
        """A score for each seat, higher is better; to be asked for only when the game is over."""

    def points_so_far(self) -> tuple[float, ...] | None:
        """What each seat has on the board, where a game is one of points; by itself it is none.

        In the end they are the scores.
        """
        return None

    @abstractmethod
    def text(self) -> str:
        """The position text of the game's page, on one line; `Variant.read` takes it back."""

    @abstractmethod
    def scene(self) -> Scene:
        """The position as a drawing."""

    def outcomes(self) -> Mapping[Move, float]:
        """When it is the turn of `CHANCE`, the legal moves, each with its probability."""
        return {}

    def roll(self, number: float) -> Move:
        """Which of the outcomes a number from 0 up to 1 stands for, in the order of their words."""
        moves, outcomes = self.legal_moves(), self.outcomes()
        for move in moves:
            number -= outcomes[move]
            if number < 0:
                return move
        return moves[-1]  # the sum of floats that are meant to be 1

    def clicks(self, move: Move) -> tuple[str, ...]:
        """What a person clicks for a legal move on the drawn board, one after the other.

        Each is the name of a square or, for what no square shows, words for a button. No move's
        clicks are the beginning of another's.
        """
        return squares_in(move)

    def marks(self, move: Move) -> tuple[str, ...]:
        """The squares that show in this position which move led to it."""
        return squares_in(move)

    def prompt(self, clicked: Sequence[str]) -> str:
        """What a person is asked to click next, in a sentence; empty where the general words do.

        Args:
            clicked: the beginning of the clicks of some legal move.
        """
        return ""

    def caution(self, move: Move) -> str:
        """What should be known before a legal move is played, in a sentence; mostly nothing.

        Such a move is never played without asking.
        """
        return ""

    def half_made(self, clicked: Sequence[str]) -> Scene:
        """The position with as much of a move done as these clicks say of it.

        By itself a piece goes from the first square that is clicked to the second.

        Args:
            clicked: the beginning of the clicks of some legal move.
        """
        scene = self.scene()
        names = {square.name for square in scene.squares}
        if len(clicked) < 2 or not names.issuperset(clicked[:2]):
            return scene
        return scene.carried(*clicked[:2])

    def hand(self, seat: Seat) -> Sequence[Held]:
        """What a seat holds beside the board, kind by kind, always in the same order."""
        return ()

    def is_legal(self, move: str) -> bool:
        """Whether ``move`` may be played, in any spelling that the game's page accepts."""
        try:
            self.judge(move)
        except IllegalMoveError:
            return False
        return True

    def ranks(self) -> tuple[int, ...]:
        """A rank for each seat when the game is over: 1 is best, ties and sides share a rank."""
        return ranks_of(self.scores(), self.variant.side_of)

    def retire(self, seat: Seat) -> State:
        """The position after ``seat`` left the game by its own fault.

        Between two sides that ends the game, and the seat's side loses. Games in which
        the others play on say so themselves.
        """
        if self.to_move is None:
            return self
        return Forfeited(self, seat)

    def forfeit_scores(self, seat: Seat) -> tuple[float, ...]:
        """The scores when ``seat`` ends a game of two sides by its fault: 0 for its side, else 1.

        Games whose scores are points on the board give those instead; the ranks say who lost.
        """
        sides = self.variant.side_of
        return tuple(0.0 if side == sides[seat] else 1.0 for side in sides)

    # The fast path, for search and random playouts: moves as ints that mean something only in
    # the position that gave them. A game overrides what it can do without text.

    def codes(self) -> Sequence[int]:
        """The legal moves as ints, in no particular order."""
        return range(len(self.legal_moves()))

    def word(self, code: int) -> Move:
        """The notation of a move of `codes`."""
        return self.legal_moves()[code]

    def play_code(self, code: int) -> State:
        """The position after a move of `codes`, which is not checked."""
        return self.play(self.word(code))

    def playout(self, random: Random) -> tuple[float, ...]:
        """The scores after uniformly random moves to the end of the game."""
        state: State = self
        if self.variant.has_chance:
            while moves := state.legal_moves():
                number = random.random()
                is_drawn = state.to_move == CHANCE
                move = state.roll(number) if is_drawn else moves[int(number * len(moves))]
                state = state.play(move)
        while codes := state.codes():
            state = state.play_code(codes[int(random.random() * len(codes))])
        return state.scores()

    def outlook(self) -> tuple[float, ...] | None:
        """What each seat may hope to score, 0 to 1, by plain facts of a game under way.

        A guess for searches, and no rule. Only a game has one in which it tells more than how
        many moves each has; for others it is None.
        """
        return None

    def observation(self, seat: Seat) -> Sequence[float]:
        """The position in numbers, as a seat sees it, where the variant has `Variant.numbers`."""
        return ()

    def prospects(self, codes: Sequence[int]) -> Sequence[float] | None:
        """The outlook of the seat to move after each of these moves, all found at once.

        What only shows when a move is played may be missing: that it ends the game, say. None
        where a game has no faster way than to play them.
        """
        return None


def line_of(state: State, text: str, words: int | None = None) -> str:
    """What the rules say of a position, as it stands in a line of the protocol.

    Args:
        words: how many it has, with single spaces between them; any number by default.

    Raises:
        ValueError: it is no printable ASCII, or has other words.
    """
    is_line = text.isascii() and text.isprintable()
    if is_line and words in (None, text.count(" ") + 1) and "  " not in f" {text} ":
        return text
    raise ValueError(f"a move or position of {state.variant} is no word of printable ASCII")


def squares_in(move: str) -> tuple[str, ...]:
    """The squares that a move's notation names, in its order."""
    return tuple(re.findall(r"[a-z][0-9]+", move))


def ranks_of(
    scores: Sequence[float] | Sequence[tuple[float, int]], sides: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Ranks of scores: 1 and the number of better ones, so that ties share the better rank.

    Args:
        sides: the side of each seat; seats of one side have one score, which counts once.
    """
    each = dict(zip(sides or range(len(scores)), scores, strict=True)).values()
    return tuple(1 + sum(other > score for other in each) for score in scores)  # type: ignore[operator]


@dataclass(frozen=True, slots=True)
class Forfeited(State):
    """A game of two sides that ended when ``seat`` left it; the position stays as it was."""

    before: State
    seat: Seat

    @property
    def variant(self) -> Variant:  # type: ignore[override]
        return self.before.variant

    @property
    def to_move(self) -> Seat | None:
        return None

    def legal_moves(self) -> Sequence[Move]:
        return []

    def judge(self, move: str, /) -> object:
        raise IllegalMoveError(move, gettext("the game is over"))

    def play(self, move: Move) -> State:
        raise IllegalMoveError(move, gettext("the game is over"))

    def ending(self) -> Termination | None:
        return Termination.NORMAL

    def scores(self) -> tuple[float, ...]:
        return self.before.forfeit_scores(self.seat)

    def ranks(self) -> tuple[int, ...]:
        sides = self.variant.side_of
        last = len(set(sides))
        return tuple(last if side == sides[self.seat] else 1 for side in sides)

    def text(self) -> str:
        return self.before.text()

    def marks(self, move: Move) -> tuple[str, ...]:
        return self.before.marks(move)

    def hand(self, seat: Seat) -> Sequence[Held]:
        return self.before.hand(seat)

    def points_so_far(self) -> tuple[float, ...] | None:
        return self.before.points_so_far()

    def scene(self) -> Scene:
        # The first line, and the title after the variant, say whose turn it was.
        scene = self.before.scene()
        left = gettext(
            "%(seat)s left the game", seat=translated(self.variant.seat_names[self.seat])
        )
        title = f"{scene.title.partition(': ')[0]}: {left}"
        return replace(scene, title=title, captions=(left, *scene.captions[1:]))


@dataclass(frozen=True, slots=True)
class Dialect:
    """How programs of another protocol (UCI, GTP), or files (PGN), call a variant and its moves."""

    name: str
    """What they call the variant; empty if they know no other."""
    write: Callable[[State, Move], str]
    """A move in their words, in the position in which it is played."""
    read: Callable[[State, str], Move]
    """Their word for a move in ours; it may still be illegal."""
    turn: Callable[[State], str] = lambda _: ""
    """Whose turn it is, in their words, where the protocol asks for a move by that."""
    start: str = "startpos"
    """What UCI's ``position`` says of the first position; in PGN its FEN, empty for the usual."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """How many numbers there are where a game gives its moves and positions numbers itself."""

    moves: int
    """All of `State.codes` are from 0 to below this, and stand for much the same everywhere."""
    shape: tuple[int, ...]
    """The shape of `State.observation`, which is laid out in this order."""


class Variant(ABC):
    """A game with all its options fixed. Equal when game and options are."""

    game: str
    seats: int
    max_plies: int
    """No game of this variant has more plies."""
    seat_names: tuple[str, ...]
    """What people call the seats, in playing order."""
    opening_plies: int = 4
    """How many random plies open a game where openings are asked for."""
    opening_playouts: int = 24
    """How many random games an opening is judged by; none where one side wins nearly all."""
    harmless_plies: int = 0
    """An opening of no more plies leaves every side its share: no random games need to tell."""
    has_chance: bool = False
    """Whether lots are drawn while it is played (see `CHANCE`), and not only before."""
    solved_score: float | None = None
    """The score that says that a puzzle is solved; None for what is no puzzle."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = options

    @abstractmethod
    def initial(self, seed: int = 0) -> State:
        """The first position; ``seed`` draws what the rules leave to the lot."""

    @abstractmethod
    def read(self, text: str) -> State:
        """The position that a position text stands for.

        Raises:
            PositionError: with the reason.
        """

    # For programs that learn, which want a number for everything (`engine.numbering`). A game tells
    # its moves and looks, or gives the numbers itself, or neither.

    numbers: Numbers | None = None
    """The numbers that it gives itself."""

    def all_moves(self) -> Sequence[Move] | None:
        """Every move that a seat may have in some position, each once, in no particular order.

        Some may be among them that it never has. None where a game does not tell.
        """
        return None

    def all_looks(self) -> Sequence[Look] | None:
        """What the pieces in its scenes look like, each once, always in the same order.

        None where a game does not tell.
        """
        return None

    def dialect(self, protocol: str) -> Dialect | None:
        """How programs that speak ``uci`` or ``gtp`` call it, and ``pgn`` writes its games.

        None if they don't know it, or its games have no such form.
        """
        return None

    def truth(self) -> Truth | None:
        """What finds the values of its positions, with an empty memory; None if nothing does."""
        return None

    def beginning_at(self, text: str) -> Variant:
        """This variant with its game beginning at a position, as in a line of a book (EPD).

        Raises:
            PositionError: the text is no position, or games of the variant begin at none.
        """
        raise PositionError(
            gettext("a game of %(game)s can't begin at a position of one's own", game=self.game)
        )

    def drawn(self, seed: int) -> Variant:
        """This variant with its lots drawn by ``seed``: no option is left at random."""
        return self

    def mover_name(self, seat: Seat) -> str:
        """What people call whoever moves: a seat, or chance."""
        return N_("Chance") if seat == CHANCE else self.seat_names[seat]

    @property
    def side_of(self) -> tuple[int, ...]:
        """The side of each seat; seats of one side win and lose together."""
        return tuple(range(self.seats))

    @property
    def entrant_of(self) -> tuple[int, ...]:
        """Which entrant of a match plays each seat; one entrant may hold several."""
        return tuple(range(self.seats))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Variant)
            and self.game == other.game
            and dict(self.options) == dict(other.options)
        )

    def __hash__(self) -> int:
        return hash((self.game, *sorted(self.options.items())))

    def __str__(self) -> str:
        return " ".join([self.game, *(f"{key}={value}" for key, value in self.options.items())])

    def __repr__(self) -> str:
        return f"<{self}>"


def page_beside(module: str, name: str = "rules.md") -> Callable[[], str]:
    """Reads a rules page that lies beside a game's module: of ``rules.md`` the translation
    ``rules.it.md`` to whom Italian is spoken, if there is one.

    Args:
        module: the module's ``__file__``.
    """
    stem, ending = os.path.splitext(os.path.join(os.path.dirname(module), name))

    def read() -> str:
        its = f"{stem}.{spoken().language}{ending}"
        with open(its if os.path.exists(its) else stem + ending, encoding="utf-8") as page:
            return page.read()

    return read


@lru_cache(maxsize=256)
def _built(
    build: Callable[[Mapping[str, str]], Variant], options: tuple[tuple[str, str], ...]
) -> Variant:
    """A variant is made once: its tables are costly and it never changes."""
    variant = build(dict(options))
    _demand_seats(variant)
    return variant


def _demand_seats(variant: Variant) -> None:
    """Raises: TypeError, ValueError: what a variant says of its seats, or its length, is wrong."""
    seats, names = variant.seats, variant.seat_names
    if not isinstance(seats, int) or not 1 <= seats <= MOST_SEATS:
        raise ValueError(f"{variant} has {seats!r:.40} seats, and not 1 to {MOST_SEATS}")
    if variant.options.get("seats", str(seats)) != str(seats):
        raise ValueError(f"{variant} has {seats} seats")
    if not len(names) == len(variant.side_of) == len(variant.entrant_of) == seats:
        raise ValueError(f"{variant} has {seats} seats, and names, sides or entrants for others")
    for name in names:
        if wrong := fault_of_line(name, LONGEST_SEAT_NAME):
            raise ValueError(f"a name of a seat of {variant} {wrong}")
    if not isinstance(variant.max_plies, int) or variant.max_plies < 1:
        raise TypeError(f"the max_plies of {variant} are {variant.max_plies!r:.40}, and no number")


@dataclass(frozen=True)
class Game:
    """The rules of one game, and the options they come with."""

    name: str
    title: str
    options: Mapping[str, Option]
    build: Callable[[Mapping[str, str]], Variant]
    """Makes the variant of checked options, every one of them given."""
    offers: tuple[Mapping[str, str], ...]
    """Options of the variants that a fresh arena opens ladders for; the main one first."""
    rules: Callable[[], str]
    """Its rules page, in Markdown that begins with a heading; in the language that is spoken if it
    has one in that."""
    check: Callable[[Mapping[str, str]], str | None] = lambda _: None
    """Says what is wrong with values that are allowed one by one but not together."""
    package: str = ""
    """Whose rules it has; by default the distribution's that declares it."""
    version: str = ""
    """The version of its rules: what is recorded by one is not proven by another. By default that
    of the distribution, for games that change with it."""
    is_first: bool = False
    """Whether newcomers begin with it: it is meant where no game is named."""

    def variant(self, **options: str) -> Variant:
        """The variant with these options, the others at their defaults.

        Raises:
            OptionError: an unknown option or value; it lists those there are.
        """
        known = "; ".join(
            gettext(
                "%(key)s (%(allowed)s; default %(default)s)",
                key=key,
                allowed=option.said,
                default=option.default,
            )
            for key, option in self.options.items()
        )
        for key in options:
            if key not in self.options:
                raise OptionError(
                    gettext(
                        "%(name)s has no option %(key)r; it has: %(options)s",
                        name=self.name,
                        key=key,
                        options=known or pgettext("of options", "none"),
                    )
                )
        chosen = {}
        for key, option in self.options.items():
            value = options.get(key, option.default)
            if not option.takes(value):
                raise OptionError(
                    gettext(
                        "%(name)s has no %(key)s=%(value)s; allowed for %(key)s: %(allowed)s",
                        name=self.name,
                        key=key,
                        value=value[:40],
                        allowed=option.said,
                    )
                )
            chosen[key] = value
        if wrong := self.check(chosen):
            raise OptionError(gettext("%(name)s: %(wrong)s", name=self.name, wrong=wrong))
        return _built(self.build, tuple(chosen.items()))

    @property
    def offered(self) -> tuple[Variant, ...]:
        """The variants that a fresh arena opens ladders for, the main one first."""
        return tuple(self.variant(**options) for options in self.offers)
