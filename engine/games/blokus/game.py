"""Blokus for four, three and two players.

Rules: rules.md beside this file. A move's code is the mask of the squares it covers; the colour is
the one whose turn it is. Whether a colour is out follows from the position and is never undone,
since the board only fills up: it is looked into when the colour's turn comes, and remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from engine.board import grid, read_fields
from engine.game import (
    Dialect,
    Forfeited,
    Game,
    IllegalMoveError,
    Move,
    PositionError,
    Seat,
    State,
    Termination,
    Variant,
    page_beside,
    ranks_of,
)
from engine.games.blokus.board import board, count, masks, nth
from engine.games.blokus.outlook import hopes, hopes_after, squares_hoped_for, worth_of_reach
from engine.games.blokus.polyominoes import ALL, MONOMINO, NAMES, squares_in
from engine.games.blokus.position import (
    COLOURS,
    COVER,
    LOOKS,
    NO_SEATS,
    Position,
    Room,
    all_placements,
    check_move,
    choose_a_piece,
    read_move,
    read_position,
    read_turn,
    write_turn,
)
from engine.options import choice
from engine.plurals import listed
from engine.scene import Held, Look, Rim, Scene
from engine.speed import judged_once, maker
from engine.translation import N_, gettext, translated

SIDE = 20
FIXED_CORNERS = ("a20", "t20", "t1", "a1")
ALL_PLACED, MONOMINO_LAST = 15, 5
EVERY_COLOUR = 0b1111

FOUR = (N_("Blue"), N_("Yellow"), N_("Red"), N_("Green"))

# For each mode its seats' names, the seat that plays each colour (None: in rotation), and the
# side of each seat.
MODES: Mapping[str, tuple[tuple[str, ...], tuple[Seat | None, ...], tuple[int, ...]]] = {
    "classic": (FOUR, (0, 1, 2, 3), (0, 1, 2, 3)),
    "teams": (FOUR, (0, 1, 2, 3), (0, 1, 0, 1)),
    "duel": ((N_("Blue and red"), N_("Yellow and green")), (0, 1, 0, 1), (0, 1)),
    "trio": (FOUR[:3], (0, 1, 2, None), (0, 1, 2)),
}

GTP_NAMES = {
    ("classic", "fixed"): "Blokus",
    ("duel", "fixed"): "Blokus Two-Player",
    ("trio", "fixed"): "Blokus Three-Player",
}
"""What Pentobi calls a mode and its corners. Its colours begin in corners of their own, and it has
no teams."""


class Blokus(Variant):
    """Blokus in one of its modes."""

    game = "blokus"
    max_plies = len(COLOURS) * len(NAMES)

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self.seat_names, self.owners, self.sides = MODES[options["mode"]]
        self.seats = len(self.seat_names)
        self.board = board(SIDE, SIDE)
        fixed = tuple(self.board.squares[name] for name in FIXED_CORNERS)
        free = (self.board.corners,) * len(COLOURS)
        self.starts = fixed if options["corners"] == "fixed" else free
        """Where each colour's first piece must lie."""
        self.two_sided = len(set(self.sides)) == 2

    @property
    def side_of(self) -> tuple[int, ...]:
        return self.sides

    @property
    def entrant_of(self) -> tuple[int, ...]:
        return self.sides

    def initial(self, seed: int = 0) -> BlokusState:
        nothing = Position(self.board, (0,) * len(COLOURS), (ALL,) * len(COLOURS))
        return new_state(self, nothing, 0)

    def read(self, text: str) -> BlokusState:
        ranks, turn, left, last, seats = read_fields(
            text,
            N_("ranks"),
            N_("colour to move"),
            N_("remaining pieces"),
            N_("pieces placed last"),
            N_("seats out"),
        )
        start = self.initial().position
        position = read_position(start, ranks, left, last, apart=True)
        gone = self._read_gone(seats)
        going = [colour for colour in range(len(COLOURS)) if self.room(position, colour, gone)]
        out = [colour for colour in range(len(COLOURS)) if colour not in going]
        mover = read_turn(turn, position, start, out)
        if mover is None and going:
            raise PositionError(
                gettext(
                    "the game is not over: %(colour)s can place a piece",
                    colour=translated(COLOURS[going[0]]),
                )
            )
        return new_state(self, position, mover, gone)

    def room(self, position: Position, colour: int, gone: Sequence[Seat]) -> Room | None:
        """Where the colour may place; None if it is out, once the seats of ``gone`` have left."""
        if gone and (self.owners[colour] in gone or len(gone) == self.seats - 1):
            return None
        room = position.room(colour, self.starts[colour])
        if room[1] and position.left[colour] >> MONOMINO & 1:
            return room
        for _ in self.board.placements(*room, position.left[colour]):
            return room
        return None

    def dialect(self, protocol: str) -> Dialect | None:
        """The game in GTP as Pentobi has it: a colour by its number, a move by its squares."""
        name = GTP_NAMES.get((self.options["mode"], self.options["corners"]))
        if protocol != "gtp" or name is None:
            return None

        def colour(state: State) -> int:
            return "byrg".index(state.text().split()[1])

        def write(_before: State, move: Move) -> str:
            whose, _, squares = move.partition(":")
            return f"{COLOURS.index(whose) + 1} {squares}"

        return Dialect(
            name,
            write,
            read=lambda state, word: f"{COLOURS[colour(state)]}:{word}",
            turn=lambda state: str(colour(state) + 1),
        )

    def all_moves(self) -> Sequence[Move]:
        return all_placements(self.board, ALL)

    def all_looks(self) -> Sequence[Look]:
        return LOOKS

    def _read_gone(self, text: str) -> tuple[Seat, ...]:
        if text == NO_SEATS:
            return ()
        numbers = [str(seat + 1) for seat in range(self.seats)]
        words = text.split(",", self.seats)
        if self.two_sided:
            raise PositionError(
                gettext(
                    "the seats out are %(text)r; between two sides a fault ends the game, so they "
                    "are always %(none)r",
                    text=text[:20],
                    none=NO_SEATS,
                )
            )
        if not set(words) <= set(numbers) or not len(set(words)) == len(words) < self.seats:
            raise PositionError(
                gettext(
                    "the seats out are %(text)r; it takes some of %(numbers)s, not all and each "
                    "once, joined by commas",
                    text=text[:20],
                    numbers=" ".join(numbers),
                )
            )
        return tuple(int(word) - 1 for word in words)


@dataclass(frozen=True, slots=True)
class BlokusState(State):
    """A position, the colour to move (None when the game is over), and the seats that left."""

    variant: Blokus = field(repr=False)
    position: Position
    turn: int | None
    gone: tuple[Seat, ...] = ()
    stuck: int = field(default=0, compare=False, repr=False)
    """The colours that are known to be out, as bits."""
    room: Room | None = field(default=None, compare=False, repr=False)
    """Where the colour to move may place, if that is known."""

    @property
    def to_move(self) -> Seat | None:
        return None if self.turn is None else self._seat_of(self.turn)

    def _seat_of(self, colour: int) -> Seat:
        owner = self.variant.owners[colour]
        if owner is not None:
            return owner
        placed = len(NAMES) - self.position.left[colour].bit_count()
        seats = self.variant.seats
        turns = ((placed + later) % seats for later in range(seats))
        return next(seat for seat in turns if seat not in self.gone)

    def _next(self, position: Position, gone: tuple[Seat, ...], colour: int) -> BlokusState:
        """The position with the turn at ``colour``, or at the next one that is not out."""
        variant, stuck = self.variant, self.stuck
        for turn in (colour & 3, colour + 1 & 3, colour + 2 & 3, colour + 3 & 3):
            if not stuck >> turn & 1:
                if room := variant.room(position, turn, gone):
                    return new_state(variant, position, turn, gone, stuck, room)
                stuck |= 1 << turn
        return new_state(variant, position, None, gone, stuck)

    def _placements(self) -> Iterator[tuple[int, int]]:
        if self.turn is None:
            return iter(())
        return self.position.placements(self.turn, self.variant.starts[self.turn], self.room)

    def legal_moves(self) -> Sequence[Move]:
        if self.turn is None:
            return []
        return sorted(self.position.board.spell(f"{COLOURS[self.turn]}:", self._placements()))

    def canonical(self, move: str) -> Move:
        return self.word(self.judge(move))

    def play(self, move: Move) -> BlokusState:
        return self.play_code(self.judge(move))

    def clicks(self, move: Move) -> tuple[str, ...]:
        return self.position.clicks(move)

    def prompt(self, clicked: Sequence[str]) -> str:
        return translated(COVER) if clicked or self.turn is None else choose_a_piece(self.turn)

    def half_made(self, clicked: Sequence[str]) -> Scene:
        return self.position.half_made(self.scene(), clicked)

    def hand(self, seat: Seat) -> Sequence[Held]:
        """The pieces of its colour whose turn it is, or comes next."""
        first = self.turn or 0
        for colour in (first, first + 1 & 3, first + 2 & 3, first + 3 & 3):
            if self.variant.owners[colour] == seat or (colour, seat) == (self.turn, self.to_move):
                return self.position.hand(colour)
        return ()

    @judged_once
    def judge(self, move: str) -> int:
        """The squares that a legal move covers."""
        if self.turn is None:
            raise IllegalMoveError(move, gettext("the game is over"))
        colour, mask = read_move(self.position.board, move)
        if colour != self.turn:
            raise IllegalMoveError(
                move, gettext("it is %(colour)s's turn", colour=translated(COLOURS[self.turn]))
            )
        room = self.room or self.position.room(colour, self.variant.starts[colour])
        check_move(move, self.position, colour, mask, room)
        return mask

    def retire(self, seat: Seat) -> State:
        if self.turn is None or seat in self.gone:
            return self
        if self.variant.two_sided:
            return Forfeited(self, seat)
        return self._next(self.position, (*self.gone, seat), self.turn)

    def forfeit_scores(self, seat: Seat) -> tuple[float, ...]:
        return self.scores()

    def ending(self) -> Termination | None:
        return Termination.NORMAL if self.turn is None else None

    def scores(self) -> tuple[float, ...]:
        scores = [0.0] * self.variant.seats
        for owner, left, last in zip(
            self.variant.owners, self.position.left, self.position.last, strict=True
        ):
            if owner is not None:
                scores[owner] += _points(left, last)
        return tuple(scores)

    points_so_far = scores

    def ranks(self) -> tuple[int, ...]:
        scores, sides = self.scores(), self.variant.sides
        totals = [
            sum(score for score, its_side in zip(scores, sides, strict=True) if its_side == side)
            for side in sides
        ]
        for place, seat in enumerate(self.gone):
            # Behind everyone with a score, and behind those who left later.
            totals[seat] = place - 1_000_000.0
        return ranks_of(totals, sides)

    def text(self) -> str:
        gone = ",".join(str(seat + 1) for seat in self.gone) or NO_SEATS
        return f"{self.position.fields(write_turn(self.turn))} {gone}"

    def scene(self) -> Scene:
        status = self._status()
        return Scene(
            title=f"Blokus {self.variant.options['mode']}: {status}",
            squares=grid(SIDE, SIDE, chequered=False),
            pieces=tuple(self.position.drawing()),
            captions=(status, self.position.caption()),
            rims=tuple(self._beginnings()),
        )

    def _beginnings(self) -> Iterator[Rim]:
        """Where colours begin; a corner that several may have is the one's whose turn it is."""
        for colour, start in enumerate(self.variant.starts):
            if self.turn is not None and (colour == self.turn or start.bit_count() == 1):
                yield from self.position.beginnings(colour, start)

    def _status(self) -> str:
        """Whose turn it is, or how the game ended, in words."""
        names = self.variant.seat_names
        if self.turn is None:
            left = [
                gettext("%(seat)s left the game", seat=translated(names[seat]))
                for seat in self.gone
            ]
            return gettext("Over: %(result)s", result=", ".join(self._points_in_words() + left))
        colour, player = FOUR[self.turn], names[self._seat_of(self.turn)]
        if COLOURS[self.turn] in player.lower():
            return gettext("%(colour)s to move", colour=translated(colour))
        return gettext(
            "%(colour)s to move, played by %(seat)s",
            colour=translated(colour),
            seat=translated(player),
        )

    def _points_in_words(self) -> list[str]:
        """The points of each side, such as "Blue and Red -40"."""
        seats = list(zip(self.variant.sides, self.variant.seat_names, self.scores(), strict=True))
        return [
            f"{listed([translated(name) for its_side, name, _ in seats if its_side == side])} "
            f"{sum(score for its_side, _, score in seats if its_side == side):.0f}"
            for side in sorted(set(self.variant.sides))
        ]

    def codes(self) -> Sequence[int]:
        return masks(self._placements())

    def word(self, code: int) -> Move:
        assert self.turn is not None
        return f"{COLOURS[self.turn]}:{self.position.board.write(code)}"

    def play_code(self, code: int) -> BlokusState:
        assert self.turn is not None
        return self._next(self.position.place(self.turn, code), self.gone, self.turn + 1)

    def playout(self, random: Random) -> tuple[float, ...]:
        if self.turn is None:
            return self.scores()
        position, colour, stuck = self.position, self.turn, self.stuck
        for seat in self.gone:
            stuck |= 1 << seat
        while stuck != EVERY_COLOUR:
            if not stuck >> colour & 1:
                found = list(position.placements(colour, self.variant.starts[colour]))
                if found:
                    position = position.place(
                        colour, nth(found, int(random.random() * count(found)))
                    )
                else:
                    stuck |= 1 << colour
            colour = colour + 1 & 3
        return replace(self, position=position, turn=None).scores()

    def outlook(self) -> tuple[float, ...]:
        variant, turn = self.variant, self.turn or 0
        colours: list[list[float]] = [[] for _ in range(variant.seats)]
        for colour, (owner, start) in enumerate(zip(variant.owners, variant.starts, strict=True)):
            if owner is None or owner in self.gone:
                continue
            if self.stuck >> colour & 1:
                hoped_for = float(self.position.covered[colour].bit_count())
            else:
                hoped_for = squares_hoped_for(self.position, colour, start, to_play=colour >= turn)
            colours[owner].append(hoped_for)
        squares = [sum(own) / len(own) if own else None for own in colours]
        return hopes(squares, variant.sides)

    def prospects(self, codes: Sequence[int]) -> Sequence[float]:
        variant, mover, seat = self.variant, self.turn, self.to_move
        assert mover is not None
        assert seat is not None
        later = (mover + 1 & 3, mover + 2 & 3, mover + 3 & 3, mover)
        turn = next(colour for colour in later if not self.stuck >> colour & 1)
        ours = [
            colour
            for colour, owner in enumerate(variant.owners)
            if owner is not None and variant.sides[owner] == variant.sides[seat]
        ]
        others = [
            colour
            for colour, owner in enumerate(variant.owners)
            if owner is not None and owner not in self.gone and colour not in ours
        ]
        shares = dict.fromkeys(ours, 1 / len(ours)) | dict.fromkeys(others, -1 / len(others))
        weights = [
            0.0 if self.stuck >> colour & 1 else worth_of_reach(to_play=colour >= turn)
            for colour in range(len(COLOURS))
        ]
        return hopes_after(codes, mover, self.position, variant.starts, shares, weights)


new_state = maker(BlokusState)


def _points(left: int, last: int | None) -> int:
    """The score of a colour with these pieces left."""
    if left:
        return -squares_in(left)
    return ALL_PLACED + (MONOMINO_LAST if last == MONOMINO else 0)


GAME = Game(
    name="blokus",
    title="Blokus",
    options={
        "mode": choice(*MODES),
        "corners": choice("free", "fixed"),
    },
    build=Blokus,
    offers=(
        {"mode": "classic"},
        {"mode": "teams"},
        {"mode": "duel"},
        {"mode": "trio"},
        {"mode": "classic", "corners": "fixed"},
    ),
    rules=page_beside(__file__),
    version="1",
)
