"""The Siege of Paris: whose turn it is, what may be demanded, and how the game ends.

Rules: rules.md beside this file. A move's code is its step (see `moves`), with `DEMAND` beside it
where the move demands a capture. During the set-up a code is the number of a placing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from engine.board import read_fields
from engine.game import (
    Game,
    IllegalMoveError,
    Move,
    PositionError,
    Seat,
    State,
    Termination,
    Variant,
    page_beside,
    squares_in,
)
from engine.games.siege import moves, turns
from engine.games.siege.board import (
    ARMIES,
    BITS,
    BLACK,
    CELLS,
    FIXED_PLACING,
    GARRISON,
    INSIDE,
    NAMES,
    OFFICERS_TO_SPARE,
    PIECES,
    PLACING_CODES,
    PLACINGS,
    WHITE,
    YELLOW,
    Board,
    board_of,
    first_board,
    read_pieces,
    write_pieces,
)
from engine.games.siege.outlook import yellow_hopes
from engine.games.siege.picture import LOOKS, draw
from engine.games.siege.turns import ARMY, MAX_PLIES, NEXT, QUIET_PLIES, SETUP, TURNS, Y1, Ending
from engine.options import choice
from engine.scene import Look, Scene
from engine.speed import judged_once, maker
from engine.translation import N_, gettext, translated

DEMAND = 1 << len(NAMES)
"""Stands in a move's code, beside its step, when the move demands a capture."""
DEMAND_SIGN = "!"
PLACING_PROMPTS = (
    N_("Choose where the general stands."),
    N_("Choose where the colonel stands; soldiers take the other cells."),
)
YELLOWS_GENERAL = "Y"
MOVE = re.compile(r"([a-l][0-9]{1,2})([a-l][0-9]{1,2})(!?)")


class Siege(Variant):
    """The Siege for three seats, or for two of which one holds both attacking armies."""

    game = "siege"
    max_plies = MAX_PLIES
    # A random game takes hundreds of plies, and most are drawn.
    opening_playouts = 6

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self.seats = int(options["seats"])
        self.seat_names = ARMIES if self.seats == 3 else (N_("Yellow"), N_("White and Black"))
        self.placed_by_hand = options["setup"] == "free"
        placings = PLACINGS if self.placed_by_hand else (FIXED_PLACING,)
        self.first_boards = frozenset(map(first_board, placings))
        self.soldiers_needed = int(options["soldiers"])
        self.able_only = options["protection"] == "able"
        self.has_demands = options["demand"] == "yes"
        may_retreat = options["retreat"] == "yes"
        self.headings = {WHITE: 0, BLACK: 0} if may_retreat else {WHITE: 1, BLACK: -1}
        if may_retreat and self.has_demands:
            # Yellow wins nearly all random games then: they tell nothing of an opening.
            self.opening_playouts = 0
        # The placing, then one turn of each army and two of Yellow.
        self.opening_plies = int(self.placed_by_hand) + 4

    @property
    def side_of(self) -> tuple[int, ...]:
        return (0, 1, 1)[: self.seats]

    def seat_of(self, turn: int) -> Seat:
        """Who moves at this turn."""
        return min(ARMY[turn], self.seats - 1)

    def initial(self, seed: int = 0) -> SiegeState:
        if self.placed_by_hand:
            return new_state(self, first_board(), SETUP)
        return _reached(self, first_board(FIXED_PLACING), Y1, plies=0)

    def read(self, text: str) -> SiegeState:
        ranks, inside, turn_name, sign, quiet_text, plies_text = read_fields(
            text,
            N_("ranks"),
            N_("fortress"),
            N_("turn"),
            N_("demand"),
            N_("plies since progress"),
            N_("plies"),
        )
        board = read_pieces(ranks, inside)
        if turn_name not in TURNS:
            raise PositionError(
                gettext(
                    "the turn is %(turn)r, not one of %(turns)s",
                    turn=turn_name[:20],
                    turns=", ".join(TURNS),
                )
            )
        turn = TURNS.index(turn_name)
        if sign not in ("-", DEMAND_SIGN):
            raise PositionError(
                gettext(
                    "the demand is %(demand)r, not '-' or %(sign)r",
                    demand=sign[:20],
                    sign=DEMAND_SIGN,
                )
            )
        demanded = sign == DEMAND_SIGN
        quiet = _read_count(N_("plies since progress"), quiet_text, QUIET_PLIES)
        plies = _read_count(N_("plies"), plies_text, MAX_PLIES)
        if turn == SETUP:
            return self._read_setup(board, demanded, quiet, plies)

        missing = GARRISON - Counter(board.pieces().values())
        if missing:
            raise PositionError(
                gettext(
                    "Yellow misses %(pieces)s; its pieces are never taken",
                    pieces=" ".join(missing.elements()),
                )
            )
        played = plies - self.placed_by_hand
        if played < max(turn, quiet):
            raise PositionError(
                gettext(
                    "%(plies)s plies are too few for %(quiet)s since progress and the turn "
                    "%(turn)s",
                    plies=plies,
                    quiet=quiet,
                    turn=turn_name,
                )
            )
        if not played and board not in self.first_boards:
            raise PositionError(
                gettext(
                    "before Yellow's first turn all stand as placed, the attackers as at the start"
                )
            )
        state = _reached(self, board, turn, demanded=demanded, quiet=quiet, plies=plies)
        if demanded and (not self.has_demands or ARMY[turn] != YELLOW or state.over):
            raise PositionError(
                gettext(
                    "a capture is demanded, which this variant, this turn or this board does not "
                    "allow"
                )
            )
        if state.over is None and not self.can_move(board, turn):
            raise PositionError(
                gettext(
                    "%(army)s has no legal move, so it is not its turn",
                    army=translated(ARMIES[ARMY[turn]]),
                )
            )
        return state

    def _read_setup(self, board: Board, demanded: bool, quiet: int, plies: int) -> SiegeState:
        start = self.initial()
        if not self.placed_by_hand:
            raise PositionError(
                gettext("with setup=fixed Yellow stands already; the first turn is y1")
            )
        if board != start.board or demanded or quiet or plies:
            raise PositionError(
                gettext(
                    "during setup the attackers stand as at the start, the fortress is free, no "
                    "capture is demanded and no plies are played"
                )
            )
        return start

    def all_moves(self) -> Sequence[Move]:
        steps = [NAMES[start] + NAMES[end] for start, end in moves.pairs()]
        demands = [step + DEMAND_SIGN for step in steps] if self.has_demands else []
        return [*(PLACINGS if self.placed_by_hand else ()), *steps, *demands]

    def all_looks(self) -> Sequence[Look]:
        return LOOKS

    def bundles(self, board: Board, turn: int, demanded: bool) -> Iterator[moves.Bundle]:
        """The moves at this turn, as `moves` gives them; the attackers' without demands."""
        army = ARMY[turn]
        if army != YELLOW:
            return moves.attackers_moves(board, army, self.headings[army])
        if demanded:
            return moves.captures(board, able_only=self.able_only)
        return moves.yellow_moves(board, able_only=self.able_only)

    def can_move(self, board: Board, turn: int, demanded: bool = False) -> bool:
        """Whether whoever has this turn has a legal move."""
        return next(self.bundles(board, turn, demanded), None) is not None

    def won(self, board: Board, turn: int, demanded: bool) -> Ending | None:
        """How the game has ended by what stands on the board, limits and repetition apart."""
        attackers = board.attackers
        entered = attackers & INSIDE
        if entered and (
            (entered & board.soldiers).bit_count() >= self.soldiers_needed
            and entered & ~board.soldiers
        ):
            return turns.FORTRESS_HELD
        if ARMY[turn] == YELLOW and not self.can_move(board, turn, demanded):
            return turns.NO_MOVE
        if attackers.bit_count() <= OFFICERS_TO_SPARE and not attackers & board.soldiers:
            return turns.BROKEN_LATE if entered else turns.BROKEN
        return None


def _read_count(name: str, text: str, most: int) -> int:
    if not re.fullmatch(r"0|[1-9][0-9]{0,3}", text, re.ASCII) or int(text) > most:
        raise PositionError(
            gettext(
                "%(name)s is %(text)r, not a number from 0 to %(most)s",
                name=translated(name),
                text=text[:20],
                most=most,
            )
        )
    return int(text)


Standing = tuple[int, bool, Board]
"""What the repetition rule compares: the turn, the demand, and the board with its cells."""


@dataclass(frozen=True, slots=True)
class SiegeState(State):
    """What stands where, whose turn it is, and how many plies were played."""

    variant: Siege = field(repr=False)
    board: Board
    turn: int
    demanded: bool = False
    quiet: int = 0
    """Plies since progress."""
    plies: int = 0
    history: tuple[Standing, ...] = field(default=(), repr=False, compare=False)
    """What stood after each ply since the last capture: a capture can't be undone."""
    over: Ending | None = field(default=None, compare=False)

    @property
    def to_move(self) -> Seat | None:
        return None if self.over else self.variant.seat_of(self.turn)

    def legal_moves(self) -> Sequence[Move]:
        return sorted(map(self.word, self.codes()))

    def play(self, move: Move) -> SiegeState:
        return self.play_code(self.judge(move))

    @judged_once
    def judge(self, move: str) -> int:
        """The code of a legal move."""
        if self.over:
            raise IllegalMoveError(move, gettext("the game is over"))
        if self.turn == SETUP:
            if move not in PLACING_CODES:
                raise IllegalMoveError(
                    move, gettext("Yellow first places one G, one C and six S, as in =GSSSSSSC")
                )
            return PLACING_CODES[move]
        written = MOVE.fullmatch(move)
        if not written:
            raise IllegalMoveError(
                move, gettext("a move is two places, as in b3c4, and for a demand '!'")
            )
        start, end = BITS.get(written[1]), BITS.get(written[2])
        army = ARMY[self.turn]
        if start is None or end is None or not self.board[army] >> start & 1:
            raise IllegalMoveError(
                move,
                gettext(
                    "it moves no piece of %(army)s on the board", army=translated(ARMIES[army])
                ),
            )
        step = 1 << start | 1 << end
        if not moves.has_step(self._bundles(), step):
            reason = (
                gettext("a capture is demanded")
                if self.demanded
                else gettext("that piece can't go there now")
            )
            raise IllegalMoveError(move, reason)
        if not written[3]:
            return step
        if not (self._attackers_may_demand() and self._may_demand(step)):
            reason = (
                gettext(
                    "an attacker may demand a capture where the game goes on and Yellow has one"
                )
                if self.variant.has_demands
                else gettext("with demand=no nobody may demand a capture")
            )
            raise IllegalMoveError(move, reason)
        return step | DEMAND

    def clicks(self, move: Move) -> tuple[str, ...]:
        """The squares from which and to which it goes, and whether a capture is demanded.

        That is asked where it may be. Yellow's placing is the cells of the general and the colonel.
        """
        if self.turn == SETUP:
            return (CELLS[move.index("G") - 1], CELLS[move.index("C") - 1])
        if move.endswith(DEMAND_SIGN):
            return (*squares_in(move), N_("demand a capture"))
        if self._attackers_may_demand() and self._may_demand(self.judge(move)):
            return (*squares_in(move), N_("demand nothing"))
        return squares_in(move)

    def prompt(self, clicked: Sequence[str]) -> str:
        if self.turn == SETUP:
            return translated(PLACING_PROMPTS[len(clicked)])
        if not clicked:
            if self.demanded:
                return gettext("A capture is demanded. Choose the piece that takes.")
            return gettext(
                "Choose the piece of %(army)s that moves.", army=translated(ARMIES[ARMY[self.turn]])
            )
        if len(clicked) == 1:
            _, kind = PIECES[self.board.pieces()[clicked[0]]]
            return gettext("Choose where the %(piece)s goes.", piece=translated(kind.name))
        return gettext("Choose whether you demand that Yellow captures.")

    def half_made(self, clicked: Sequence[str]) -> Scene:
        """A drawing of half a move: in the set-up the general stands where he was placed."""
        if self.turn == SETUP and clicked:
            general = {clicked[0]: YELLOWS_GENERAL}
            return self._drawn(board_of(self.board.pieces() | general))
        return State.half_made(self, clicked)

    def _attackers_may_demand(self) -> bool:
        return self.variant.has_demands and ARMY[self.turn] != YELLOW

    def _may_demand(self, step: int) -> bool:
        """Whether the attackers' move along ``step`` may demand a capture."""
        board = self.board.moved(ARMY[self.turn], step)
        # The first test is cheap and mostly says no; the second says the same and all the rest.
        return (
            self.variant.can_move(board, Y1, demanded=True)
            and self.play_code(step | DEMAND).over is None
        )

    def codes(self) -> Sequence[int]:
        if self.over:
            return []
        steps = self._steps()
        if self._attackers_may_demand():
            return [*steps, *(step | DEMAND for step in steps if self._may_demand(step))]
        return steps

    def _steps(self) -> Sequence[int]:
        """The codes of all moves but demands."""
        if self.turn == SETUP:
            return range(len(PLACINGS))
        return moves.steps_of(self._bundles())

    def _bundles(self) -> Iterator[moves.Bundle]:
        return self.variant.bundles(self.board, self.turn, self.demanded)

    def word(self, code: int) -> Move:
        if self.turn == SETUP:
            return PLACINGS[code]
        step = code & ~DEMAND
        start = step & self.board[ARMY[self.turn]]
        end = step ^ start
        sign = "" if step == code else DEMAND_SIGN
        return NAMES[start.bit_length() - 1] + NAMES[end.bit_length() - 1] + sign

    def play_code(self, code: int) -> SiegeState:
        if self.turn == SETUP:
            return _reached(self.variant, first_board(PLACINGS[code]), Y1, plies=1)
        variant, board, army = self.variant, self.board, ARMY[self.turn]
        step = code & ~DEMAND
        start = step & board[army]
        captured = army == YELLOW and step & board.attackers
        progress = captured or moves.brings_on(army, start, step ^ start)
        after = board.moved(army, step)
        turn = NEXT[self.turn]
        if army == YELLOW and not variant.can_move(after, turn):
            turn = NEXT[turn]
        return _reached(
            variant,
            after,
            turn,
            demanded=code != step,
            quiet=0 if progress else self.quiet + 1,
            plies=self.plies + 1,
            history=() if captured else self.history,
        )

    def playout(self, random: Random) -> tuple[float, ...]:
        state = self
        while not state.over:
            steps = state._steps()
            ways = 2 if state._attackers_may_demand() else 1
            while True:
                # Each move is drawn with and without a demand; what is not legal is drawn again.
                draw = int(random.random() * len(steps) * ways)
                if draw < len(steps):
                    state = state.play_code(steps[draw])
                    break
                step = steps[draw - len(steps)]
                if state._may_demand(step):
                    state = state.play_code(step | DEMAND)
                    break
        return state.scores()

    def outlook(self) -> tuple[float, ...]:
        variant = self.variant
        yellow = yellow_hopes(self.board, variant.headings, variant.soldiers_needed)
        return (yellow, 1 - yellow, 1 - yellow)[: variant.seats]

    def ending(self) -> Termination | None:
        return self.over.cause if self.over else None

    def scores(self) -> tuple[float, ...]:
        assert self.over is not None
        yellow = self.over.yellow
        return (yellow, 1 - yellow, 1 - yellow)[: self.variant.seats]

    def text(self) -> str:
        sign = DEMAND_SIGN if self.demanded else "-"
        return f"{write_pieces(self.board)} {TURNS[self.turn]} {sign} {self.quiet} {self.plies}"

    def scene(self) -> Scene:
        return self._drawn(self.board)

    def _drawn(self, board: Board) -> Scene:
        news = self.over.said if self.over else turns.due(self.turn, demanded=self.demanded)
        return draw(board, news, self.variant.soldiers_needed)


new_state = maker(SiegeState)


def _reached(
    variant: Siege,
    board: Board,
    turn: int,
    *,
    demanded: bool = False,
    quiet: int = 0,
    plies: int,
    history: tuple[Standing, ...] = (),
) -> SiegeState:
    """A position from Yellow's first turn on, with what its end depends on."""
    standing = (turn, demanded, board)
    over = variant.won(board, turn, demanded)
    if over is None:
        if history.count(standing) >= 2:
            over = turns.REPEATED
        elif plies >= MAX_PLIES:
            over = turns.ENDLESS
        elif quiet >= QUIET_PLIES:
            over = turns.QUIET
    return new_state(variant, board, turn, demanded, quiet, plies, (*history, standing), over)


GAME = Game(
    name="siege",
    title=N_("The Siege of Paris"),
    options={
        "seats": choice("3", "2"),
        "setup": choice("free", "fixed"),
        "soldiers": choice("2", "3"),
        "retreat": choice("no", "yes"),
        "protection": choice("any", "able"),
        "demand": choice("yes", "no"),
    },
    build=Siege,
    offers=({"seats": "3"}, {"seats": "2"}, {"seats": "3", "soldiers": "3"}),
    rules=page_beside(__file__),
    version="1",
)
