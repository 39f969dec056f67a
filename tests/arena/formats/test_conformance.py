"""What every format promises: it is tried by being in the catalogue, by whatever settings it has.

Two formats are tried beside those of the arena, to see that this is enough for one to be right.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from random import Random

import pytest

from arena.formats.catalogue import FORMATS, settings_for
from arena.formats.fixtures import EntrantNumber, Fixture, Result
from arena.formats.format import Format
from arena.formats.settings import Frame
from arena.formats.standings import TIE_BREAKS, Table, standings
from arena.formats.walkovers import as_byes
from arena.ground.refusals import Refusal
from tests.arena.formats.newcomers import NEWCOMERS
from tests.arena.formats.simulation import RandomTournament, play, play_out

SIZES = (2, 3, 4, 5, 8)
TRIED = (0, 1, 2, 3)
"""Values of each setting, beside the one that it has by default."""

pytestmark = pytest.mark.usefixtures("newcomers")
each = pytest.mark.parametrize("name", [*FORMATS, *NEWCOMERS])
sizes = pytest.mark.parametrize("size", SIZES)


def frames(name: str, size: int) -> Iterator[Frame]:
    """The tournaments of a field that a format is for."""
    for seats in FORMATS[name].for_seats:
        if size >= seats:
            yield Frame(size, seats, race=False, seed=4)
            if seats == 2:
                yield Frame(size, seats, race=True, seed=4)


def cases(name: str, size: int) -> Iterator[tuple[Frame, dict[str, int]]]:
    """Tournaments with settings by default, and with one of them chosen."""
    choices = [{}, *({key: value} for key in FORMATS[name].settings for value in TRIED)]
    for frame in frames(name, size):
        tried = []
        for chosen in choices:
            try:
                settings = settings_for(name, frame, chosen)
            except Refusal:
                continue
            if settings not in tried:
                tried.append(settings)
                yield frame, settings


def built(name: str, size: int) -> Iterator[tuple[Format, Frame, list[EntrantNumber]]]:
    """The same, made, with a field."""
    for frame, settings in cases(name, size):
        yield FORMATS[name].build(frame, settings), frame, list(range(101, 101 + size))


def ranked(
    form: Format, field: Sequence[EntrantNumber], results: Sequence[Result]
) -> dict[EntrantNumber, int]:
    """The places that are known."""
    ranking = form.ranking(field, results)
    if ranking is None:
        table = Table(field, [*results, *form.byes(field, results)])
        return {row.entrant: row.place for row in standings(table, form.tie_breaks)}
    assert sorted(one for rank in ranking for one in rank.entrants) == sorted(field)
    return {one: rank.place for rank in ranking for one in rank.entrants if rank.place is not None}


@each
def test_it_says_what_it_is(name: str) -> None:
    """It does so in words that fit a command, a form, a page and a column of the database."""
    form = FORMATS[name]
    assert form.name == name
    assert re.fullmatch(r"[a-z][a-z-]{,19}", name)
    assert form.title[0].isupper()
    assert form.tie_breaks
    assert set(form.tie_breaks) <= set(TIE_BREAKS)
    assert min(form.for_seats) >= 2
    assert form.remark == "" or form.remark.endswith(".")
    for key, setting in form.settings.items():
        assert re.fullmatch(r"[a-z_]+", key)
        assert setting.words[0].islower()
        assert not setting.words.endswith(".")
        # One field of a form is for all formats that have the setting.
        others = [other.settings[key] for other in FORMATS.values() if key in other.settings]
        assert {other.yes_or_no for other in others} == {setting.yes_or_no}


@each
@sizes
def test_it_can_be_had_by_default(name: str, size: int) -> None:
    """Any field will do that is large enough for a match, a race or not; no smaller one."""
    for frame in frames(name, size):
        settings = settings_for(name, frame, {})
        assert settings.keys() == FORMATS[name].settings.keys()
        form = FORMATS[name].build(frame, settings)
        with pytest.raises(ValueError, match=f"needs at least {frame.seats} entrants"):
            form.fixtures(range(frame.seats - 1), [])
        with pytest.raises(ValueError, match="named twice"):
            form.fixtures([*range(size), 0], [])


@each
@sizes
def test_it_plays_what_it_has_planned(name: str, size: int) -> None:
    """It ends; fixtures are between different entrants of the field, and no two are the same; in a
    round everybody is in one of them, or in the legs of one."""
    for form, frame, field in built(name, size):
        results = play_out(form, field, seed=1, games=frame.games)
        fixtures = [result.fixture for result in results]
        assert form.planned(size) in (None, len(fixtures))
        assert len(set(fixtures)) == len(fixtures) > 0
        seated = Counter(
            (one.round, one.leg, entrant) for one in fixtures for entrant in one.entrants
        )
        assert set(seated.values()) == {1}
        assert {len(one.entrants) for one in fixtures} == {frame.seats}
        assert {entrant for one in fixtures for entrant in one.entrants} <= set(field)
        numbers = sorted({one.round for one in fixtures} | {0})
        assert all(before + 1 == number for before, number in pairwise(numbers))
        assert form.strays(field, results) == []
        for tie in form.ties(field, results):
            assert tie.decided
            assert {tie.winner, tie.loser} <= {*tie.sides, None} <= {*field, None}


@each
@sizes
def test_byes_are_fair(name: str, size: int) -> None:
    """Nobody plays and sits out in one round, nor is given points for that twice before all others
    were. Where points decide everybody has had as many games to make them in, or was given them."""
    for form, frame, field in built(name, size):
        results = play_out(form, field, seed=2, games=frame.games)
        byes = form.byes(field, results)
        seats = [
            (one.fixture.round, entrant) for one in results for entrant in one.fixture.entrants
        ]
        idle = [(bye.fixture.round, *bye.fixture.entrants) for bye in byes]
        assert len(set(idle)) == len(idle)
        assert set(idle).isdisjoint(seats)
        given = Counter(dict.fromkeys(field, 0))
        given.update(bye.fixture.entrants[0] for bye in byes if bye.points != (0,))
        assert max(given.values()) - min(given.values()) <= 1
        table = Table(field, [*results, *byes])
        if form.ranking(field, results) is None and not form.by_share:
            assert len({table.decided(one) for one in field}) == 1


@each
def test_it_says_whether_it_is_played_in_turn(name: str) -> None:
    """Then something becomes due that was not so at the start; else nothing ever does."""
    later = False
    for size in SIZES:
        for form, frame, field in built(name, size):
            first = set(form.fixtures(field, []))
            results = play_out(form, field, seed=3, games=frame.games)
            later |= not {result.fixture for result in results} <= first
    assert later is FORMATS[name].in_turn


def _key(fixture: Fixture) -> tuple[int, tuple[int, ...], int]:
    return fixture.round, fixture.entrants, fixture.leg


@pytest.mark.long
@each
@sizes
def test_it_goes_on_wherever_it_was_interrupted(name: str, size: int) -> None:
    """Some at a time, in any order: what is due only loses what was played.

    And nothing changes if what is set is passed along with the results, in another order, to a
    format that is made anew; a place that is known stays, and in the end all are.
    """
    for frame, settings in cases(name, size):
        form, again = (FORMATS[name].build(frame, settings) for _ in range(2))
        field, random = list(range(1, size + 1)), Random(size)
        results: list[Result] = []
        places: dict[EntrantNumber, int] = {}
        due = form.fixtures(field, results)
        while due:
            some = random.sample(due, 1 + len(due) // 4)
            results += [play(fixture, random, games=frame.games) for fixture in some]
            played = {result.fixture for result in results}
            before = [fixture for fixture in due if fixture not in played]
            due = form.fixtures(field, results)
            assert set(before) <= set(due)
            known = [*map(Result, due), *results]
            random.shuffle(known)
            assert sorted(map(_key, again.fixtures(field, known))) == sorted(map(_key, due))
            now = ranked(form, field, results)
            if form.ranking(field, results) is not None:
                assert places.items() <= now.items()
            places = now
        assert sorted(places) == field
        ranks = sorted(places.values())
        assert ranks == [1 + sum(other < one for other in ranks) for one in ranks]


@each
@sizes
def test_it_ends_though_all_is_level(name: str, size: int) -> None:
    """Everybody has a place, and as much as was planned was played."""
    for form, frame, field in built(name, size):
        results = play_out(form, field, seed=5, games=frame.games, draws=1)
        assert sorted(ranked(form, field, results)) == field
        assert form.planned(size) in (None, len(results))


@pytest.mark.long
@each
@sizes
def test_nobody_is_held_up_by_who_is_withdrawn(name: str, size: int) -> None:
    """One leaves at any time, and another one after it: the others play to the end, each once a
    round, and those who left what they had begun and no more. What others were given stays given;
    if rounds follow from each other, once that round has begun. Then one that is over stays as it
    is, unless somebody left it in the midst of a match."""
    for (frame, settings), seed in product(cases(name, size), range(3)):
        tournament = RandomTournament(FORMATS[name], frame, settings, Random(seed))
        leaving = tournament.random.sample(tournament.field, 2)
        over: dict[int, set[Result]] = {}
        left: set[int] = set()
        for _ in tournament.run():
            if leaving and tournament.made and tournament.random.random() < 0.25:
                entrant = leaving.pop()
                left |= {one.round for one in tournament.playing if entrant in one.entrants}
                kept = {one for one in given(tournament) if one.fixture.entrants != (entrant,)}
                tournament.leave(entrant)
                assert kept <= given(tournament)
            assert tournament.strays() == []
            assert not any(tournament.gone.keys() & set(one.entrants) for one in tournament.fresh)
            now = rounds_over(tournament)
            if tournament.form.in_turn:
                assert all(now[one] == over[one] for one in over.keys() - left)
            over = now
        demand_complete(tournament)


def given(tournament: RandomTournament) -> set[Result]:
    """What those were given for good who are still there."""
    there = {
        one for one in as_byes(tournament.given) if one.fixture.entrants[0] not in tournament.gone
    }
    begun = max(fixture.round for fixture in tournament.made)
    return {one for one in there if one.fixture.round <= begun or not tournament.form.in_turn}


def rounds_over(tournament: RandomTournament) -> dict[int, set[Result]]:
    """The results of the rounds before those in which something is due."""
    first = min((one.round for one in tournament.due), default=None)
    found: dict[int, set[Result]] = {}
    for one in tournament.decided:
        if first is None or one.fixture.round < first:
            found.setdefault(one.fixture.round, set()).add(one)
    return found


def demand_complete(tournament: RandomTournament) -> None:
    """All that was planned is decided, in each leg of a round once for everybody in it."""
    seats = Counter(
        (one.fixture.round, one.fixture.leg, entrant)
        for one in tournament.decided
        for entrant in one.fixture.entrants
    )
    assert set(seats.values()) == {1}
    assert tournament.form.planned(tournament.frame.size) in (None, len(tournament.decided))
    assert ranked(tournament.form, tournament.field, tournament.decided).keys() == set(
        tournament.field
    )


@each
@sizes
def test_what_is_played_anew_upsets_nobody(name: str, size: int) -> None:
    """Matches are void while later ones are played, and come out another way, and somebody leaves:
    it comes to the end. If rounds are kept, whoever was to meet in one meets, and nobody else."""
    for number, (frame, settings) in enumerate(cases(name, size)):
        tournament = RandomTournament(FORMATS[name], frame, settings, Random(number))
        leaving, voids = tournament.random.sample(tournament.field, 1), 4
        for _ in tournament.run():
            if voids and tournament.random.random() < 0.3:
                tournament.void()
                voids -= 1
            if leaving and tournament.made and tournament.random.random() < 0.05:
                tournament.leave(leaving.pop())
        demand_complete(tournament)
        met: defaultdict[tuple[int, EntrantNumber], set[frozenset[EntrantNumber]]] = defaultdict(
            set
        )
        for fixture in tournament.made:
            for entrant in fixture.entrants:
                met[fixture.round, entrant].add(frozenset(fixture.entrants))
        assert not tournament.form.keeps_rounds or {len(pairs) for pairs in met.values()} == {1}


def test_a_result_has_points_for_everybody() -> None:
    """Points for another number of entrants are a mistake; those given add up."""
    with pytest.raises(ValueError, match="2 entrants need as many points, not 1"):
        Result(Fixture(1, (1, 2)), ((1.0,),))
    assert Result(Fixture(1, (1, 2)), ((1.0, 0.0), (0.5, 0.5))).points == (1.5, 0.5)
