"""Knockout: who loses is out, or out at the second loss.

A bracket is a list of ties, each of which takes its two sides from seeds or from winners and
losers of ties before it. It is laid out for the next power of two, and the places of missing
entrants are empty: who meets nobody goes on without playing. The two best seeds can only meet in
the final, the four best not before the semi-finals, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar, Self

from arena.formats.fixtures import EntrantNumber, Fixture, Result, check_field
from arena.formats.format import Format, SharedPlace, Tie
from arena.formats.settings import FormatSetting, FormatSettings, Frame
from engine.translation import N_, gettext

SECOND_FINAL = N_("second final")
FINAL = N_("final")
MAIN, LOSERS, THIRD = range(3)
"""The parts of a bracket."""


class Take(Enum):
    """What a place in a tie is filled with."""

    SEED = "seed"
    WINNER = "winner"
    LOSER = "loser"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a side of a tie comes from."""

    take: Take
    number: int
    """The number of the seed, or of the tie in the bracket's list; from 0."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A tie of an empty bracket."""

    tie: Tie
    sources: tuple[Source, Source]


@dataclass(frozen=True, slots=True)
class Knockout(Format):
    """Single or double elimination; two seats.

    A tie is decided when the points that are left cannot change who has more. If all its legs
    leave it level, a further leg that does not decides it, and at last the better seed goes on.
    The better seed sits first in odd legs.

    In double elimination losers go on in a bracket of their own, whose winner meets that of the
    main one; if the one who has not lost before loses then, they meet once more. Losers enter
    on the other side than they came from, so that those who met seldom meet again soon.

    Raises:
        ValueError: a match for the third place is asked for in double elimination, which has it
            anyway.
    """

    name = "knockout"
    title = N_("Knockout")
    words = N_("Who loses is out, until a final is left. Quick, and a bracket to look at.")
    settings: ClassVar = {
        "legs": FormatSetting(N_("a tie is the best of so many matches"), 1, most=25, in_a_race=1),
        "extra_legs": FormatSetting(
            N_("how many more are played while it is level"), 2, least=0, most=25, in_a_race=0
        ),
        "double": FormatSetting(
            N_("who loses is out at the second loss only"), 0, least=0, most=1, yes_or_no=True
        ),
        "third_place": FormatSetting(
            N_("who lost the semi-finals meet for the third place"),
            0,
            least=0,
            most=1,
            yes_or_no=True,
            field=4,
        ),
    }
    tie_breaks = ("wins",)
    remark = N_(
        "Of two who are level after all legs the better seed goes on. Who went out at the same "
        "stage share a place, and stand in the order of their points."
    )
    in_turn = True

    legs: int = 1
    """A tie is the best of so many fixtures."""
    games: int = 1
    """How many games a fixture has."""
    extra_legs: int = 2
    """How many more are played while a tie is level."""
    double: bool = False
    third_place: bool = False

    def __post_init__(self) -> None:
        if self.double and self.third_place:
            raise ValueError(
                gettext("in double elimination the losers' final is for the third place")
            )

    @classmethod
    def build(cls, frame: Frame, settings: FormatSettings) -> Self:
        return cls(
            settings["legs"],
            frame.games,
            settings["extra_legs"],
            bool(settings["double"]),
            bool(settings["third_place"]),
        )

    def fixtures(
        self, entrants: Sequence[EntrantNumber], results: Sequence[Result]
    ) -> list[Fixture]:
        """As `Format` says: of each tie the legs that are certain to be played."""
        played = {result.fixture for result in results if result.games}
        due = []
        for tie in self.ties(entrants, results):
            a, b = tie.sides
            if tie.decided or a is None or b is None:
                continue
            legs = [
                Fixture(tie.round, (a, b) if leg % 2 else (b, a), leg)
                for leg in range(1, self.legs + self.extra_legs + 1)
            ]
            fresh = [leg for leg in legs if leg not in played]
            due += fresh[: self._certain(tie)]
        return due

    def byes(self, entrants: Sequence[EntrantNumber], results: Sequence[Result]) -> list[Result]:
        """As `Format` says; they give no points."""
        return [
            Result(Fixture(tie.round, (tie.winner,)))
            for tie in self.ties(entrants, results)
            if tie.winner is not None and tie.loser is None
        ]

    def planned(self, size: int) -> int | None:
        """As `Format` says: how many legs a tie takes depends on results."""
        return None

    def fewest(self, size: int) -> int:
        """As `Format` says: of each tie just so many legs that one has more than half of them."""
        ties = 2 * size - 2 if self.double else size - 1 + self.third_place
        return ties * (self.legs // 2 + 1)

    def ties(self, entrants: Sequence[EntrantNumber], results: Sequence[Result]) -> list[Tie]:
        """As `Format` says; a tie stands below those that it depends on."""
        return self._ties(entrants, results)

    def _ties(
        self, entrants: Sequence[EntrantNumber], results: Sequence[Result], *, guessed: bool = False
    ) -> list[Tie]:
        """The bracket; if ``guessed``, to its end, the better seed going on where it is open."""
        check_field(entrants, least=2)
        legs: dict[tuple[int, frozenset[EntrantNumber]], list[Result]] = {}
        for result in results:
            if result.games:
                fixture = result.fixture
                legs.setdefault((fixture.round, frozenset(fixture.entrants)), []).append(result)
        seeds = {entrant: seed for seed, entrant in enumerate(entrants)}
        ties: list[Tie] = []
        for slot in _bracket(len(entrants), double=self.double, third_place=self.third_place):
            tie = _filled(slot, ties, entrants)
            a, b = tie.sides
            if a is not None and b is not None:
                sides = (a, b) if seeds[a] < seeds[b] else (b, a)
                tie = self._judged(
                    replace(tie, sides=sides), legs.get((tie.round, frozenset(sides)), [])
                )
                if guessed and not tie.decided:
                    tie = replace(tie, winner=sides[0], loser=sides[1], decided=True)
            ties.append(tie)
        return ties

    def strays(self, entrants: Sequence[EntrantNumber], results: Sequence[Result]) -> list[Fixture]:
        """As `Format` says.

        That is so when a tie before theirs was played again and somebody else went on, and of
        further legs when one before them was and did not leave the tie level.
        """
        rounds: dict[int, list[Tie]] = {}
        for tie in self.ties(entrants, results):
            rounds.setdefault(tie.round, []).append(tie)
        return [
            result.fixture
            for result in results
            if _is_stray(result.fixture, rounds[result.fixture.round], self.legs)
        ]

    def places(
        self, entrants: Sequence[EntrantNumber], results: Sequence[Result]
    ) -> dict[EntrantNumber, int]:
        """The places of those who have played their last tie, the best first.

        Who went out at the same stage share a place. How many go out at a stage follows from
        the size of the field, so a place is final before the ties beside it are played.
        """
        whole = self._ties(entrants, results, guessed=True)
        stages = {stage: i for i, stage in enumerate(dict.fromkeys(tie.stage for tie in whole))}
        last = {side: tie for tie in whole for side in tie.sides if side is not None}
        reached = {side: (stages[tie.stage], tie.winner == side) for side, tie in last.items()}
        order = sorted(reached.values(), reverse=True)
        known = {side: tie for tie in self.ties(entrants, results) for side in tie.sides}
        places = {
            side: 1 + order.index(reach) for side, reach in reached.items() if known[side].decided
        }
        return dict(sorted(places.items(), key=lambda item: item[1]))

    def ranking(
        self, entrants: Sequence[EntrantNumber], results: Sequence[Result]
    ) -> list[SharedPlace] | None:
        """As `Format` says.

        Who is still in it stands at the best place that is left, who has not lost yet first:
        points are no measure there, for a bye gives none and whoever lost plays more ties.
        """
        places = self.places(entrants, results)
        taken = set(places.values())
        left = next(place for place in range(1, len(entrants) + 2) if place not in taken)
        lost = Counter(tie.loser for tie in self.ties(entrants, results))
        levels: dict[tuple[int, int], list[EntrantNumber]] = {}
        for one in entrants:
            levels.setdefault((places.get(one, left), lost[one]), []).append(one)
        return [
            SharedPlace(places.get(levels[key][0]), tuple(levels[key])) for key in sorted(levels)
        ]

    def _judged(self, tie: Tie, legs: Sequence[Result]) -> Tie:
        """A tie of two with its score, and with its winner if it has one."""
        a, b = tie.sides
        score = [0.0, 0.0]
        count = 0
        for leg in sorted(legs, key=lambda leg: leg.fixture.leg):
            # A further leg counts if those before it left the tie level. One of them may have
            # been made void since, and come out another way.
            if leg.fixture.leg > self.legs and (
                count < leg.fixture.leg - 1 or score[0] != score[1]
            ):
                break
            count += 1
            for entrant, points in zip(leg.fixture.entrants, leg.points, strict=True):
                score[tie.sides.index(entrant)] += points
        lead = score[0] - score[1]
        left = max(self.legs - count, 0)
        tie = replace(tie, score=(score[0], score[1]), legs=count)
        if abs(lead) > left * self.games:
            winner, loser = (a, b) if lead > 0 else (b, a)
            return replace(tie, winner=winner, loser=loser, decided=True)
        if count >= self.legs + self.extra_legs:
            return replace(tie, winner=a, loser=b, decided=True, tie_break=N_("better seed"))
        return tie

    def _certain(self, tie: Tie) -> int:
        """How many more legs an undecided tie has even if one side wins all of them."""
        left = self.legs - tie.legs
        if left <= 0:
            return 1
        lead = abs(tie.score[0] - tie.score[1]) / self.games
        return int((left - lead) // 2) + 1


def _is_stray(fixture: Fixture, ties: Sequence[Tie], legs: int) -> bool:
    """Whether two can't meet in any of a round's ties, or no further leg was needed."""
    pair = set(fixture.entrants)
    for tie in ties:
        if tie.decided and pair == set(tie.sides):
            return fixture.leg > max(legs, tie.legs)
    known = [
        {side for side in tie.sides if side is not None}
        for tie in ties
        if tie.decided or None not in tie.sides
    ]
    if pair in known:
        return False
    return len(known) == len(ties) or any(pair & sides for sides in known)


def _filled(slot: Slot, before: Sequence[Tie], entrants: Sequence[EntrantNumber]) -> Tie:
    """A tie with its sides as far as they are known, and decided if one is nobody."""
    tie = slot.tie
    if tie.stage == SECOND_FINAL:
        final = before[-1]
        if final.decided and final.winner not in {one.loser for one in before}:
            return replace(tie, decided=True)
    sides: list[EntrantNumber | None] = []
    known = True
    for source in slot.sources:
        if source.take is Take.SEED:
            sides.append(entrants[source.number] if source.number < len(entrants) else None)
        else:
            earlier = before[source.number]
            sides.append(earlier.winner if source.take is Take.WINNER else earlier.loser)
            known &= earlier.decided
    tie = replace(tie, sides=(sides[0], sides[1]))
    if known and None in sides:
        there = [side for side in sides if side is not None]
        return replace(tie, winner=there[0] if there else None, decided=True)
    return tie


def seeding(size: int) -> list[int]:
    """The seeds from 0 in the order of the first round's places, for a power of two.

    Two neighbours meet, then the winners of two neighbouring ties, and so on. If the better
    seed always wins, the best meets the worst that is left in every round.
    """
    order = [0]
    while len(order) < size:
        count = 2 * len(order)
        order = [seed for better in order for seed in (better, count - 1 - better)]
    return order


def _bracket(count: int, *, double: bool, third_place: bool) -> list[Slot]:
    """The empty ties for a field, each below those that it takes its sides from."""
    size = 1 << (count - 1).bit_length()
    slots: list[Slot] = []

    def add(stage: str, sources: Sequence[Source], part: int = MAIN) -> list[int]:
        """Ties of neighbouring sources; their numbers."""
        added = range(len(slots), len(slots) + len(sources) // 2)
        for one, other in zip(sources[::2], sources[1::2], strict=True):
            before = [slots[s.number].tie.round for s in (one, other) if s.take is not Take.SEED]
            tie = Tie(stage, 1 + max(before, default=0), part)
            slots.append(Slot(tie, (one, other)))
        return list(added)

    def winners(numbers: Sequence[int]) -> list[Source]:
        return [Source(Take.WINNER, number) for number in numbers]

    def losers(numbers: Sequence[int]) -> list[Source]:
        return [Source(Take.LOSER, number) for number in numbers]

    sources = [Source(Take.SEED, seed) for seed in seeding(size)]
    if not double:
        while len(sources) > 1:
            if third_place and len(sources) == 2 and count > 3:
                add(N_("third place"), losers([source.number for source in sources]), THIRD)
            sources = winners(add(_stage(len(sources)), sources))
        return slots

    main = add("winners' round 1", sources)
    out = losers(main)
    step, entry = 1, 1
    while len(main) > 1:
        step += 1
        main = add(f"winners' round {step}", winners(main))
        out = winners(add(f"losers' round {entry}", out, LOSERS))
        # Who comes down meets survivors of another part of the bracket.
        down = losers(main)
        half = len(down) // 2
        down = down[::-1] if step % 2 == 0 else down[half:] + down[:half]
        meeting = [source for pair in zip(out, down, strict=True) for source in pair]
        out = winners(add(f"losers' round {entry + 1}", meeting, LOSERS))
        entry += 2
    final = add(FINAL, [*winners(main), *out])
    add(SECOND_FINAL, [*winners(final), *losers(final)])
    return slots


def _stage(sides: int) -> str:
    """What the ties of so many are called."""
    names = {2: FINAL, 4: N_("semi-final"), 8: N_("quarter-final")}
    return names.get(sides, f"round of {sides}")
