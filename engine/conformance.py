"""What every game must keep to (see `engine.game`), tried on random games of its variants.

A check is a function of a `Trial` that returns if all is well, and raises `Broken`, or whatever the
game itself raised. ``arena game check`` runs them one by one, and so do a package's own tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import FrozenInstanceError
from functools import cached_property, partial
from itertools import islice, pairwise
from math import isfinite, prod
from random import Random
from typing import NoReturn, TypeVar
from xml.etree import ElementTree

from engine.clicks import Clicks, beginning, following, illustrate, ways
from engine.declaring import LONGEST_PAGE
from engine.drawable import LONGEST_LINE, fault_of_hand, undrawable
from engine.game import (
    CHANCE,
    Game,
    IllegalMoveError,
    Move,
    OptionError,
    PositionError,
    State,
    Termination,
    Variant,
    ranks_of,
    squares_in,
)
from engine.games import GAMES, find_variant
from engine.openings import openings
from engine.options import fault_of_line
from engine.rules_pictures import RulesPictureError, pictures_in
from engine.svg import render
from engine.translation import ENGLISH, speaking

T = TypeVar("T")
NATURAL = {Termination.NORMAL, Termination.REPETITION, Termination.PLY_LIMIT}
"""Why a game may be over whose seats all played on."""
POSITIONS = 6
"""How many positions of each random game are looked at closely, its first and last included."""
MOVES = 12
"""How many moves of a position are played."""
CLICKED = 500
"""How many moves of a position are looked at, again and again, to find some by their clicks."""
NOT_VALUES = ("", " ", "none", "0x0", "1e1x6", "\u0666x7", "6x7\n", "99999999999x2")
"""What no option takes, unless its list of values says so."""


class Broken(AssertionError):
    """A rule that a game does not keep to, in a sentence."""


def demand(kept: object, words: str, state: State | None = None) -> None:
    """Raises: Broken: something does not hold; it tells the position, too."""
    if not kept:
        raise Broken(words if state is None else f"{words}; position {state.text()[:300]!r}")


def pick(random: Random, choices: Sequence[T]) -> T:
    """One of the choices, by ``random.random()``, whose numbers no Python version changes."""
    return choices[int(random.random() * len(choices))]


def random_path(start: State, random: Random, most: int) -> list[State]:
    """The positions of a game of random moves, from ``start`` to the finished one.

    Args:
        most: the plies that a game may have.
    """
    path = [start]
    while moves := path[-1].legal_moves():
        demand(len(path) <= most, f"a game has more than {most} plies (max_plies)", path[-1])
        path.append(path[-1].play(pick(random, moves)))
    return path


class Trial:
    """A variant with random games of it, the same for the same variant."""

    def __init__(self, variant: Variant) -> None:
        """Takes the variant; its games are played when they are first asked for."""
        self.variant = variant

    @cached_property
    def paths(self) -> list[list[State]]:
        """Random games, each as its positions from the first to the finished one.

        There are 2 to 12 of them, the fewer the longer they are and the more moves they offer.
        """
        found: list[list[State]] = []
        width = len(self.variant.initial().legal_moves())
        demand(width, "the first position has no legal move")
        most = min(12, 3000 // width)
        while len(found) < 2 or (len(found) < most and sum(map(len, found)) < 500):
            seed = len(found)
            start = self.variant.initial(seed)
            found.append(random_path(start, Random(seed), self.variant.max_plies))
        return found

    @cached_property
    def positions(self) -> list[State]:
        """Some positions of the random games."""
        random = Random(1)
        found = []
        for path in self.paths:
            middle = range(1, len(path) - 1)
            plies = {0, len(path) - 1, *random.sample(middle, min(POSITIONS - 2, len(middle)))}
            found += [path[ply] for ply in sorted(plies)]
        return found


def some_moves(state: State) -> list[str]:
    """A few of the legal moves, the first and the last among them."""
    moves = list(state.legal_moves())
    return moves if len(moves) <= MOVES else [*moves[:: len(moves) // MOVES], moves[-1]]


def check_endings(trial: Trial) -> None:
    """Games go on until they are over, for no more plies than the variant says."""
    variant = trial.variant
    for path in trial.paths:
        for state in path[:-1]:
            demand(
                state.to_move in _movers(variant),
                "nobody is to move, yet there are moves",
                state,
            )
            demand(state.ending() is None, "there are moves in a game that is over", state)
        check_finished(path[-1])
        demand(path[-1].ending() in NATURAL, f"it ended by {path[-1].ending()}", path[-1])


def check_finished(state: State) -> None:
    """A game that is over has no moves, an ending, and a score and a rank for each seat."""
    variant = state.variant
    demand(state.to_move is None, "a game without moves has a seat to move", state)
    demand(not list(state.legal_moves()), "a game that is over has legal moves", state)
    demand(not list(state.codes()), "a game that is over has codes of moves", state)
    demand(isinstance(state.ending(), Termination), "no ending of a game that is over", state)
    scores, ranks = state.scores(), state.ranks()
    demand(len(scores) == len(ranks) == variant.seats, "not a score and a rank a seat", state)
    demand(all(isinstance(score, float) for score in scores), f"{scores} are no floats", state)
    expected = ranks_of([-rank for rank in ranks], variant.side_of)
    demand(expected == ranks, f"ranks {ranks} are not 1 and the number of better sides", state)
    for seat, side in enumerate(variant.side_of):
        same = ranks[seat] == ranks[variant.side_of.index(side)]
        demand(same, "two seats of a side have two ranks", state)
    refusal = _refusal(state, "a1")
    demand(
        "the game is over" in refusal,
        f"it refuses a move by {refusal!r}, not that it is over",
        state,
    )


def _refusal(state: State, move: str) -> str:
    """Why a move may not be played."""
    try:
        state.play(move)
    except IllegalMoveError as error:
        return str(error)
    raise Broken(f"it plays {move!r}; position {state.text()[:300]!r}")


def _movers(variant: Variant) -> set[int]:
    """Whose turn it can be."""
    return {*range(variant.seats)} | ({CHANCE} if variant.has_chance else set())


def check_moves(trial: Trial) -> None:
    """Every list of moves is in order, each a word, and the fast path says the same moves."""
    for state in trial.positions:
        codes = check_position(state)
        for move in some_moves(state):
            after = state.play(move)
            quick = state.play_code(codes[move])
            demand(quick == after, f"play_code of {move} and play are not the same", state)
            demand(after.variant == state.variant, f"{move} changes the variant", state)


def check_position(state: State) -> dict[str, int]:
    """What holds of every position by itself.

    Returns:
        The code of each legal move.
    """
    moves = state.legal_moves()
    demand(list(moves) == sorted(set(moves)), "legal_moves are not sorted, each once", state)
    if not moves:
        check_finished(state)
        return {}
    demand(state.to_move in _movers(state.variant), "no seat to move, yet moves", state)
    if state.to_move == CHANCE:
        outcomes = state.outcomes()
        demand(outcomes.keys() == set(moves), "outcomes are not those of legal_moves", state)
        sound = min(outcomes.values()) > 0 and abs(sum(outcomes.values()) - 1) < 1e-6
        demand(sound, "the probabilities of the outcomes are not above 0, and 1 in all", state)
    demand(state.ending() is None, "there are moves in a game that is over", state)
    for move in moves[:MOVES]:
        word = re.fullmatch(r"[!-~]+", move, re.ASCII)
        demand(word, f"the move {move!r} is not one word of printable ASCII", state)
    known = list(state.codes())
    codes = {state.word(code): code for code in known}
    demand(len(known) == len(moves) and codes.keys() == set(moves),
           "codes and words are not those of legal_moves", state)  # fmt: skip
    return codes


def check_values(trial: Trial) -> None:
    """A position is a frozen value: it stays as it was, and the same move gives the same."""
    for state in trial.positions:
        text, digest = state.text(), hash(state)
        for move in some_moves(state):
            demand(state.play(move) == state.play(move), f"{move} gives two positions", state)
        state.playout(Random(1))
        same = (state.text(), hash(state)) == (text, digest)
        demand(same, "playing changed the position that it began with", state)
        try:
            setattr(state, "variant", trial.variant)  # noqa: B010 - it is frozen, says its type
        except (FrozenInstanceError, AttributeError, TypeError):
            continue
        raise Broken(f"{type(state).__name__} can be changed: make it a frozen dataclass")


def check_points(trial: Trial) -> None:
    """Points so far are a number for each seat in all positions, in the end its score; or none."""
    for state in trial.positions:
        points = state.points_so_far()
        if points is None:
            told = any(one.points_so_far() for one in trial.positions)
            demand(not told, "some positions have no points", state)
            return
        fine = len(points) == trial.variant.seats and all(map(isfinite, points))
        demand(fine, f"the points {points} are not a number a seat", state)
        over = state.to_move is None
        demand(not over or points == state.scores(), "in the end points are no scores", state)


def check_outlook(trial: Trial) -> None:
    """An outlook is from 0 to 1 for each seat, the same for those of a side; or there is none."""
    variant = trial.variant
    found = [(state, state.outlook()) for state in trial.positions if state.to_move is not None]
    if found and found[0][1] is None:
        demand({outlook for _, outlook in found} == {None}, "some positions have an outlook")
        return
    for state, outlook in found:
        demand(outlook is not None, "some positions have no outlook", state)
        assert outlook is not None
        demand(len(outlook) == variant.seats, "not an outlook a seat", state)
        demand(all(0 <= hope <= 1 for hope in outlook), f"{outlook} are not from 0 to 1", state)
        pairs = set(zip(variant.side_of, outlook, strict=True))
        demand(len(pairs) == len(set(variant.side_of)), "those of a side differ", state)


def check_judging(trial: Trial) -> None:
    """Each position judges for itself, whatever another was last asked."""
    for other, state in pairwise(trial.positions):
        legal = set(other.legal_moves())
        codes = check_position(state)
        for move in some_moves(state):
            right = other.is_legal(move) == (move in legal)
            demand(right, f"is_legal of {move} is not what the list says", other)
            demand(state.is_legal(move), f"{move} is in the list and not legal", state)
            if move in legal:
                other.play(move)
            same = state.play(move) == state.play_code(codes[move])
            demand(same, f"{move} depends on what another position was asked", state)


def check_judging_alone(trial: Trial) -> None:
    """A move is judged without listing all of them, which would cost too much."""
    known = [(state, some_moves(state)) for state in trial.positions]
    with _unlisted({type(state) for state, _ in known}):
        for state, moves in known:
            for move in moves:
                demand(state.is_legal(move), f"{move} is in the list and not legal", state)
                demand(state.canonical(move) == move, f"{move} has another spelling", state)
            demand(not state.is_legal("pass") or "pass" in moves, "it takes 'pass'", state)


@contextmanager
def _unlisted(kinds: set[type[State]]) -> Iterator[None]:
    """Lets nobody list the moves of some positions meanwhile."""

    def listed(_: State) -> NoReturn:
        raise Broken("judge, canonical or is_legal lists all moves")

    own = [(kind, name, getattr(kind, name)) for kind in kinds for name in ("legal_moves", "codes")]
    try:
        for kind, name, _ in own:
            setattr(kind, name, listed)
        yield
    finally:
        for kind, name, method in own:
            setattr(kind, name, method)


def check_texts(trial: Trial) -> None:
    """A position text is read back to an equal position, and two are equal when their texts are."""
    for state in trial.positions:
        check_text(state)
    for path in trial.paths:
        by_text: dict[str, State] = {}
        for state in path:
            first = by_text.setdefault(state.text(), state)
            demand(state == first, "two positions with this text are not equal", state)
            demand(hash(state) == hash(first), "two equal positions have two hashes", state)
        demand(len(set(path)) == len(by_text), "equal positions have two texts", path[0])


def check_text(state: State) -> None:
    """A text is a line, and is read back to the same position."""
    text = state.text()
    demand(re.fullmatch(r"[ -~]+", text, re.ASCII), f"the text {text!r} is no line of ASCII")
    try:
        again = state.variant.read(text)
    except PositionError as error:
        raise Broken(f"a text of its own is refused: {error}; text {text!r}") from None
    demand(again == state and hash(again) == hash(state), "what is read is another position", state)
    demand(again.text() == text, f"what is read has the text {again.text()[:300]!r}", state)
    # How often a position has stood belongs to the history, which no text tells.
    if state.ending() is not Termination.REPETITION:
        same = list(again.legal_moves()) == list(state.legal_moves())
        demand(same and again.to_move == state.to_move and again.ending() == state.ending(),
               "what is read has other moves, another turn or ending", state)  # fmt: skip


def check_broken_texts(trial: Trial) -> None:
    """What is no position text is refused by PositionError in a line, or is a sound position."""
    random = Random(6)
    letters = "0123456789/,.-+*@#! abcdxyzABCDXYZ\n\t\0\u0661\ud800"
    for state in trial.positions:
        text = state.text()
        for _ in range(12):
            at, length = int(random.random() * len(text)), int(random.random() * 4)
            broken = text[:at] + pick(random, letters) + text[at + length :]
            for word in (broken, text[:at], broken * 2, "9" * 5000):
                _broken(trial.variant, word)


def _broken(variant: Variant, text: str) -> None:
    try:
        state = variant.read(text)
    except PositionError as error:
        reason = str(error)
        fine = 0 < len(reason) < 500 and reason.isprintable()
        demand(fine, f"the text {text[:100]!r} is refused by {reason[:100]!r}, which is no line")
    else:
        demand(state.text() == text, f"the text {text[:100]!r} is read as {state.text()[:100]!r}")
        check_position(state)


def check_nonsense(trial: Trial) -> None:
    """Moves of other positions, slips of the pen and nonsense are refused, or mean a legal move."""
    random = Random(2)
    pool = sorted({move for state in trial.positions for move in some_moves(state)})
    for state in trial.positions:
        legal = set(state.legal_moves())
        for move in random.sample(pool, min(20, len(pool))):
            demand(state.is_legal(move) == (move in legal),
                   f"is_legal of {move} is not what the list says", state)  # fmt: skip
            check_word(state, legal, move)
        move = pick(random, some_moves(state) or pool)
        for word in (
            *(move[:cut] for cut in range(len(move))),
            *(move[cut:] for cut in range(1, len(move))),
            *(move.upper(), move.swapcase(), move[::-1], move * 2, move + "!", move + "@a1"),
        ):
            check_word(state, legal, word)
        for word in (
            *("", " ", "\0", f" {move}", f"{move} ", f"{move}\n", "\ud800"),
            move.replace("1", "\u0661").replace("a", "\u0430") + "\u00e9",
            *("a1" * 100_000, "9" * 10_000, move + "," * 10_000),
        ):
            demand(not state.is_legal(word), f"it takes the move {word[:60]!r}", state)
            check_word(state, legal, word)


def check_word(state: State, legal: set[str], word: str) -> None:
    """`is_legal`, `canonical` and `play` agree about any text whatever."""
    if state.is_legal(word):
        listed = state.canonical(word)
        demand(listed in legal, f"{word[:60]!r} stands for {listed!r}, which is not legal", state)
        demand(state.play(word) == state.play(listed), f"{word[:60]!r} is not {listed!r}", state)
        return
    demand(word not in legal, f"{word[:60]!r} is in the list and not legal", state)
    for method in (state.canonical, state.play):
        try:
            method(word)
        except IllegalMoveError:
            continue
        raise Broken(f"{method.__name__} takes {word[:60]!r}, which is not legal")


def check_playouts(trial: Trial) -> None:
    """A playout gives scores for every seat, the same for the same seed."""
    for state in trial.positions:
        scores = state.playout(Random(3))
        demand(len(scores) == trial.variant.seats, f"a playout gives {scores}", state)
        demand(scores == state.playout(Random(3)), "a playout is not its seed's alone", state)
        if state.to_move is None:
            demand(scores == state.scores(), "a playout of a game that is over", state)


def check_leaving(trial: Trial) -> None:
    """Any seat may leave at any moment: who stays ranks before it, and who leaves later, too."""
    random, variant = Random(4), trial.variant
    sides = variant.side_of
    for state in trial.positions[:: variant.seats]:
        for seat in range(variant.seats):
            after = state.retire(seat)
            if state.to_move is None:
                demand(after == state, "who leaves a finished game changes it", state)
                continue
            left = [sides[seat]]
            if len(set(sides)) <= 2:
                _left(after, seat)
            for other in random.sample(range(variant.seats), variant.seats):
                if after.to_move is None:
                    break
                demand(after == after.retire(seat), "a seat leaves twice", after)
                mover = after.to_move
                demand(mover == CHANCE or sides[mover] not in left, "who left is to move", after)
                check_position(after)
                check_text(after)
                after = pick(random, random_path(after, random, variant.max_plies))
                if after.to_move is not None and sides[other] not in left:
                    after = after.retire(other)
                    left.append(sides[other])
            _ranked(random_path(after, random, variant.max_plies)[-1], left)


def _left(after: State, seat: int) -> None:
    """A game of two sides is over when a seat has left, and its picture says so."""
    check_finished(after)
    scene = after.scene()
    demand(
        "to move" not in " ".join([scene.title, *scene.captions]), "it says who is to move", after
    )
    name = after.variant.seat_names[seat]
    demand(
        f"{name} left the game" in scene.title, f"its title does not say that {name} left", after
    )


def _ranked(end: State, left: Sequence[int]) -> None:
    """Those that stayed rank before who left, a later leaver before an earlier one."""
    check_finished(end)
    sides = end.variant.side_of
    ranks = dict(zip(sides, end.ranks(), strict=True))
    behind = [ranks[side] for side in reversed(left)]
    stayed = set(sides) - set(left)
    fine = behind == sorted(set(behind)) and all(ranks[side] < behind[0] for side in stayed)
    demand(fine, f"ranks {end.ranks()} when sides {left} left one after the other", end)


def check_pictures(trial: Trial) -> None:
    """Pieces have names and lie on squares that there are, and the picture is well-formed."""
    for path in trial.paths[:2]:
        for before, state in ((path[0], path[1]), (path[-2], path[-1])):
            move = next(move for move in before.legal_moves() if before.play(move) == state)
            wrong = undrawable(state.scene())
            demand(not wrong, wrong, state)
            scene = illustrate(state, last=move, clicked=squares_in(move)[:1])
            demand(scene.title, "its scene has no title", state)
            demand(scene.captions, "its scene has no captions", state)
            names = [square.name for square in scene.squares]
            demand(len(names) == len(set(names)), "two squares have one name", state)
            for piece in scene.pieces:
                demand(piece.words, "a piece has no words", state)
            demand(set(scene.last) <= set(names), "the last move is marked nowhere", state)
            for theme in ("light", "dark"):
                ElementTree.fromstring(render(scene, theme=theme, size=300))  # noqa: S314 - ours


def check_clicks(trial: Trial) -> None:
    """Every move is found by its own clicks, and no two are confused."""
    for state in trial.positions:
        if state.to_move in (None, CHANCE):
            continue
        known = ways(state)
        demand(list(known) == list(state.legal_moves()), "clicks are not of all moves", state)
        by_way = {way: move for move, way in known.items()}
        for move, way in known.items():
            demand(way, f"nothing is clicked for {move}", state)
            demand(by_way[way] == move, f"{by_way[way]} and {move} have the same clicks", state)
            first = next((way[:done] for done in range(len(way)) if way[:done] in by_way), None)
            shorter = first and by_way[first]
            demand(first is None, f"the clicks of {shorter} are the beginning of {move}'s", state)
        squares = {square.name for square in state.scene().squares}
        clicked = {click for way in known.values() for click in way}
        gone = [one.name for one in state.hand(state.to_move) if not one.left]
        demand(not clicked.intersection(gone), f"some of {gone} is clicked, none is held", state)
        few = min(len(known), max(1, CLICKED // len(known)))
        for move in Random(5).sample(list(known), few):
            way = known[move]
            for done in range(len(way)):
                leads = following(known, way[:done])[way[done]]
                right = leads == (move if done == len(way) - 1 else None)
                demand(right, f"its clicks lead elsewhere than to {move}", state)
            demand(beginning(known, way) == [move], f"its clicks are not {move}'s alone", state)
            _check_words_of_clicks(state, move, way)
            for click in way:
                is_square = squares and re.fullmatch("[a-z][0-9]+", click)
                fine = click in squares or not is_square
                demand(fine, f"the click {click!r} for {move} is no square of the scene", state)


def _check_words_of_clicks(state: State, move: Move, way: Clicks) -> None:
    """What is asked before each click is a line, and the half-made move can be drawn."""
    for done in range(len(way)):
        words = state.prompt(way[:done])
        wrong = words and fault_of_line(words, LONGEST_LINE)
        demand(not wrong, f"what it asks after the clicks {way[:done]} {wrong}", state)
        wrong = undrawable(state.half_made(way[:done]))
        demand(not wrong, f"{move}, half made: {wrong}", state)
    wrong = (words := state.caution(move)) and fault_of_line(words, LONGEST_LINE)
    demand(not wrong, f"its caution of {move} {wrong}", state)


def check_hands(trial: Trial) -> None:
    """What a seat holds can be drawn, and each kind of it has a name of its own."""
    for state in trial.positions:
        for seat in range(trial.variant.seats):
            hand = state.hand(seat)
            wrong = fault_of_hand(hand)
            demand(not wrong, wrong, state)
            names = [held.name for held in hand]
            demand(len(names) == len(set(names)), "two kinds in a hand have one name", state)


def check_numbering(trial: Trial) -> None:
    """All its moves are told, and what its pieces look like, whatever the lots; or neither is.

    Numbers that it gives itself are as many as it says.
    """
    variant = trial.variant
    if (numbers := variant.numbers) is not None:
        size = prod(numbers.shape)
        for state in trial.positions:
            codes = [] if state.to_move == CHANCE else state.codes()
            high = [code for code in codes if not 0 <= code < numbers.moves]
            demand(not high, f"of {numbers.moves} codes it has {high[:3]}", state)
            for seat in range(variant.seats):
                seen = state.observation(seat)
                demand(len(seen) == size, f"its observation has not {size} numbers", state)
                demand(all(map(isfinite, seen)), "its observation is not of numbers", state)
    moves, looks = variant.all_moves(), variant.all_looks()
    demand((moves is None) == (looks is None), "it has one of all_moves and all_looks, not both")
    if moves is None or looks is None:
        return
    for name, all_ in (("all_moves", moves), ("all_looks", looks)):
        demand(len(set(all_)) == len(all_), f"{name} tells one twice")
    for seed in range(3):
        drawn = variant.drawn(seed)
        demand(set(drawn.all_moves() or ()) == set(moves), f"drawn({seed}) has other moves")
        demand(list(drawn.all_looks() or ()) == list(looks), f"drawn({seed}) has other looks")
    for state in trial.positions:
        new = set(state.legal_moves()).difference(moves)
        demand(not new or state.to_move == CHANCE, f"all_moves misses {sorted(new)[:3]}", state)
        lie = {piece.look for piece in state.scene().pieces}.difference(looks)
        demand(not lie, f"all_looks misses {[' '.join(look) for look in lie]}", state)


def check_variant(trial: Trial) -> None:
    """A variant is found by its name and options, and the lots drawn from a seed are the seed's."""
    variant = trial.variant
    name, *options = str(variant).split()
    again = find_variant(name, options)
    demand(again == variant and hash(again) == hash(variant), f"{variant} is not found by its name")
    demand(variant != name, "a variant is equal to its name")
    counts = {len(variant.seat_names), len(variant.side_of), len(variant.entrant_of), variant.seats}
    demand(len(counts) == 1, "seats, seat_names, side_of and entrant_of are of different lengths")
    for entrant in set(variant.entrant_of):
        its = [seat for seat in range(variant.seats) if variant.entrant_of[seat] == entrant]
        sides = {variant.side_of[seat] for seat in its}
        demand(len(sides) == 1, "an entrant plays against itself")
    for seed in (0, 1, 2, 2**63):
        drawn = variant.drawn(seed)
        same = drawn.initial(seed).text() == variant.initial(seed).text()
        demand(same, f"drawn({seed}) and initial({seed}) draw different lots")
        demand(drawn.drawn(seed + 1) == drawn, "lots are drawn twice")


CHECKS: Mapping[str, Callable[[Trial], None]] = {
    "variant": check_variant,
    "endings": check_endings,
    "moves": check_moves,
    "values": check_values,
    "judging": check_judging,
    "judging alone": check_judging_alone,
    "texts": check_texts,
    "broken texts": check_broken_texts,
    "nonsense": check_nonsense,
    "playouts": check_playouts,
    "outlook": check_outlook,
    "points": check_points,
    "leaving": check_leaving,
    "pictures": check_pictures,
    "clicks": check_clicks,
    "hands": check_hands,
    "numbering": check_numbering,
}
"""The checks of a variant, by name; what each demands is its docstring."""


def check_game(game: Game) -> None:
    """It is on the shelf by its name, refuses wrong options, and has offers and a rules page, whose
    pictures claim what is so.
    """
    demand(GAMES.get(game.name) is game, f"{game.name} on the shelf is another game")
    try:
        game.variant(no_such_option="1")
    except OptionError as error:
        demand(game.name in str(error), "its refusal of an option does not name the game")
    else:
        raise Broken("it takes an option that it has not")
    for key, option in game.options.items():
        for value in NOT_VALUES:
            if value in option.allowed.split(", "):
                continue
            try:
                game.variant(**{key: value})
            except OptionError as error:
                demand(key in str(error), f"its refusal of {key}={value!r} does not name {key}")
            else:
                raise Broken(f"it takes {key}={value!r}")
    offered = game.offered
    demand(offered, "it offers no variant to ladders")
    demand({variant.game for variant in offered} == {game.name}, "an offer is of another game")
    demand(len(set(offered)) == len(offered), "it offers a variant twice")
    for variant in offered:
        _openings(variant)
    page = game.rules()
    demand(page.lstrip().startswith("# "), "its rules page does not begin with a heading (# TITLE)")
    demand(len(page.split()) >= 20, "its rules page has hardly a word")
    demand(len(page) <= LONGEST_PAGE, f"its rules page has more than {LONGEST_PAGE:,} letters")
    try:
        list(pictures_in(game, page))
    except RulesPictureError as error:
        raise Broken(f"of its rules page: {error}") from None


def _openings(variant: Variant) -> None:
    """Random openings differ, and none is over or leaves no choice."""
    found = list(islice(openings(variant, 5), 2))
    few = f"{variant} has no two openings that give every side a share: set opening_plies"
    demand(len(found) == (1 if variant.seats == 1 else 2), few)
    for one in found:
        state: State = one.variant.initial()
        for move in one.moves:
            state = state.play(move)
        demand(len(state.legal_moves()) > 1, "an opening leaves no choice", state)


def _in_english(check: Callable[[], None]) -> None:
    """What a check says is for the author of a game, and of what a game says in English."""
    with speaking(ENGLISH):
        check()


def checks_of(name: str) -> dict[str, Callable[[], None]]:
    """All checks of a game of the shelf, and of each variant that it offers, by their names.

    Raises:
        UnknownGameError: it is not on the shelf.
    """
    game = GAMES[name]
    found: dict[str, Callable[[], None]] = {name: partial(_in_english, partial(check_game, game))}
    for variant in game.offered:
        trial = Trial(variant)
        for check, run in CHECKS.items():
            found[f"{check}, {variant}"] = partial(_in_english, partial(run, trial))
    return found
