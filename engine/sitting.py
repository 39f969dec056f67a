"""A game that goes on move by move: a person's, against bots that are started for each move.

Such a game is a GameRecord all the time. While it goes on its termination is void, for it has
none yet, and nobody has a score or a rank. Clocks are not kept: a bot's follows from what its
moves cost, and whoever has no times, as people and openings have none, has its whole time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from engine.clock import Clock, TimeControl
from engine.game import CHANCE, GameError, IllegalMoveError, Move, Seat, State, Termination
from engine.games import GAMES
from engine.openings import Opening
from engine.player import BotError, GameSetup, Player, Turn
from engine.record import Fault, GameRecord, Ply, RecordError, ending, replay, states
from engine.referee import ISOLATION_LEVELS, RESIGN
from engine.seeds import derive, lot
from engine.translation import ENGLISH, gettext, speaking

Answer = Ply | Fault
"""What came of a seat's turn: a move, or that it left by its own fault."""


def begin(
    opening: Opening, *, seed: int, players: Sequence[str], time: TimeControl, started: datetime
) -> GameRecord:
    """A game after its opening.

    Args:
        opening: of a variant with its lots drawn.
        seed: of the game, for the bots' dice.
        players: a name for each seat.
        started: in UTC.

    Raises:
        IllegalMoveError: the opening is not legal.
    """
    state: State = opening.variant.initial(seed)
    plies = []
    for move in opening.moves:
        if state.to_move is None:
            raise IllegalMoveError(move, gettext("the opening goes on after the end of the game"))
        plies.append(Ply(state.to_move, state.canonical(move)))
        state = state.play(move)
    begun = GameRecord(
        rules=GAMES.rules(opening.variant.game),
        variant=opening.variant,
        seed=seed,
        players=tuple(players),
        time=time,
        opening=len(plies),
        plies=tuple(plies),
        faults=(),
        termination=Termination.VOID,
        scores=(),
        ranks=(),
        isolation=ISOLATION_LEVELS[-1],
        started=started.strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    return _drawn(begun, state)[0]


def _drawn(game: GameRecord, state: State) -> tuple[GameRecord, State]:
    """A game and its position once chance has played what is its to play."""
    while state.to_move == CHANCE:
        ply = Ply(CHANCE, state.roll(lot(game.seed, len(game.plies))))
        game, state = replace(game, plies=(*game.plies, ply)), state.play(ply.move)
    return game, state


def goes_on(game: GameRecord) -> bool:
    """Whether it is not over yet."""
    return game.termination is Termination.VOID


def position(game: GameRecord) -> State:
    """The position that was reached.

    Raises:
        RecordError: the rules contradict the moves.
    """
    *_, state = states(game)
    return state


def prove(game: GameRecord) -> None:
    """Proves a game against the rules, as far as it was played.

    Raises:
        RecordError: they contradict a move, or the result of a game that is over.
    """
    if not goes_on(game) or position(game).to_move is None:
        replay(game)


def clocks(game: GameRecord) -> tuple[Clock, ...]:
    """Every seat's clock now."""
    return clocks_after(game.granted, game.plies)


def clocks_after(granted: Iterable[TimeControl], plies: Iterable[Ply]) -> tuple[Clock, ...]:
    """Every seat's clock after some plies."""
    found = list(map(Clock.start, granted))
    for ply in plies:
        if ply.cpu_us is not None and ply.wall_us is not None:
            found[ply.seat] = found[ply.seat].after(ply.cpu_us, ply.wall_us, ply.waited_us)
    return tuple(found)


def moved(game: GameRecord, move: Move) -> GameRecord:
    """The game after a person's move, in any spelling that the game's page accepts.

    Raises:
        IllegalMoveError: the rules do not allow it.
    """
    state = position(game)
    if state.to_move is None:
        raise IllegalMoveError(move, gettext("the game is over"))
    return answered(game, Ply(state.to_move, state.canonical(move)))


def resigned(game: GameRecord, seat: Seat) -> GameRecord:
    """The game after a seat gave it up."""
    return answered(game, Fault(seat, len(game.plies), Termination.RESIGN, "resigned"))


def taken_back(game: GameRecord) -> GameRecord:
    """The game before the last move of a seat, and what chance drew after it.

    Raises:
        RecordError: a seat has left it, or none has moved since the opening.
    """
    moved = [number for number, ply in enumerate(game.plies) if ply.seat != CHANCE]
    if game.faults or not moved or moved[-1] < game.opening:
        raise RecordError(gettext("there is no move to be taken back"))
    return replace(
        game, plies=game.plies[: moved[-1]], termination=Termination.VOID, scores=(), ranks=()
    )


def answered(game: GameRecord, answer: Answer) -> GameRecord:
    """The game after a turn, and with its result if that ended it.

    Raises:
        IllegalMoveError: the rules do not allow the move.
        RecordError: it was not that seat's turn, or what it left by is no fault.
    """
    state, seat = position(game), answer.seat
    if state.to_move is None:
        raise RecordError(gettext("the game is over"))
    if isinstance(answer, Fault):
        if not answer.termination.is_fault or answer.ply != len(game.plies):
            raise RecordError(
                gettext(
                    "seat %(seat)s can't leave so before ply %(ply)s", seat=seat + 1, ply=answer.ply
                )
            )
        after = replace(game, faults=(*game.faults, answer))
        state = state.retire(seat)
    else:
        if state.to_move != seat:
            raise RecordError(gettext("it was not seat %(seat)s's turn", seat=seat + 1))
        after = replace(game, plies=(*game.plies, answer))
        state = state.play(answer.move)
    after, state = _drawn(after, state)
    if state.to_move is not None:
        return after
    why = ending(state, after.faults, len(after.plies))
    assert why is not None
    return replace(after, termination=why, scores=state.scores(), ranks=state.ranks())


def ask(game: GameRecord, player: Player) -> GameRecord:
    """Asks a player who has just come for the move of the seat whose turn it is.

    Raises:
        VoidGameError: a fault of ours; nothing happened.
    """
    answer = answer_at(game, position(game), player)
    level = min(game.isolation, player.isolation, key=ISOLATION_LEVELS.index)
    return answered(replace(game, isolation=level), answer)


def answer_at(game: GameRecord, state: State, player: Player) -> Answer:
    """What a player answers in the position that a game has reached.

    It is told of a new game, then of all that was played; its dice are those of the ply.

    Raises:
        VoidGameError: a fault of ours; nothing happened.
    """
    with speaking(ENGLISH):  # as the record is
        return _answer_at(game, state, player)


def _answer_at(game: GameRecord, state: State, player: Player) -> Answer:
    ply, seat = len(game.plies), state.to_move
    assert seat is not None
    its_clocks = clocks(game)
    turn = Turn(
        state,
        ply,
        " ".join(f"{past.seat + 1}:{past.move}" for past in game.plies),
        its_clocks,
        [(fault.seat, fault.ply) for fault in game.faults],
        its_clocks[seat],
    )
    dice = derive(game.seed, "seat", seat, "ply", ply)
    try:
        player.new_game(GameSetup(game.variant, seat, game.time, dice))
        choice = player.choose(turn)
        if choice.move == RESIGN:
            return Fault(seat, ply, Termination.RESIGN, "resigned")
        move = state.canonical(choice.move)
    except BotError as error:
        return Fault(seat, ply, error.termination, error.detail)
    except IllegalMoveError as error:
        return Fault(seat, ply, Termination.ILLEGAL, str(error))
    _, text, cpu_us, wall_us, values, waited_us, tags, pv = choice
    return Ply(seat, move, cpu_us, wall_us, text, values, waited_us, tags, pv)


def confirm(before: GameRecord, after: GameRecord) -> None:
    """Proves against the rules that one answer of a bot leads from one record to the other.

    Raises:
        RecordError: it does not; one sentence.
    """
    answer: Answer
    if len(after.faults) > len(before.faults):
        answer = after.faults[-1]
    elif len(after.plies) > len(before.plies):
        answer = after.plies[len(before.plies)]  # what chance drew stands behind it
        if answer.cpu_us is None or answer.wall_us is None:
            raise RecordError(gettext("the move has no times"))
    else:
        raise RecordError(gettext("nothing was answered"))
    if after.isolation not in ISOLATION_LEVELS:
        raise RecordError(
            gettext("there is no isolation %(isolation)r", isolation=after.isolation[:20])
        )
    if answer.seat != position(before).to_move:
        raise RecordError(gettext("seat %(seat)s was not asked", seat=answer.seat + 1))
    try:
        expected = answered(replace(before, isolation=after.isolation), answer)
    except GameError as error:
        raise RecordError(str(error)) from None
    if expected != after:
        raise RecordError(gettext("it is not the game that was asked about"))
