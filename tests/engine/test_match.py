"""Matches: who sits where, who is started when, and what counts."""

import json
from dataclasses import replace

import pytest

from engine.clock import TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.match import MatchSpec, Players, entrants_needed, play_match, points, race_ranks
from engine.openings import opening
from engine.player import CrashError, VoidGameError
from engine.record import replay
from engine.referee import play_game
from engine.seeds import derive
from tests.engine.players import FirstMove, Scripted, Starts

CLOBBER = GAMES["clobber"].variant(size="4x3")
CLASSIC = GAMES["blokus"].variant(mode="classic", corners="fixed")
TEAMS = GAMES["blokus"].variant(mode="teams", corners="fixed")
TRIO = GAMES["blokus"].variant(mode="trio", corners="fixed")
DUEL = GAMES["blokus"].variant(mode="duel", corners="fixed")
PUZZLE = GAMES["puzzle"].variant(task="tetrominoes")
SECOND = TimeControl(move_ms=1000)


@pytest.mark.parametrize(
    ("variant", "entrants", "seatings"),
    [
        (CLOBBER, "ab", ["ab", "ba"]),
        (DUEL, "ab", ["ab", "ba"]),
        (TRIO, "abc", ["abc", "bca", "cab"]),
        (CLASSIC, "abcd", ["abcd", "bcda", "cdab", "dabc"]),
        # Each entrant holds both seats of a team.
        (TEAMS, "ab", ["abab", "baba"]),
        # A race: everyone alone.
        (PUZZLE, "abc", ["a", "b", "c"]),
    ],
    ids=str,
)
def test_every_rotation_is_played_once(variant, entrants, seatings):
    """Each entrant gets each seat once, in an order that the spec alone decides."""
    spec = MatchSpec(variant, tuple(entrants), SECOND)
    assert spec.games == len(seatings)
    assert ["".join(entrants[e] for e in spec.seating(game)) for game in range(spec.games)] == (
        seatings
    )


@pytest.mark.parametrize(
    ("variant", "places", "seats"),
    [
        (CLASSIC, ["aabb", "abba", "bbaa"], ["aabb", "abba", "bbaa"]),
        (TRIO, ["aab", "bba"], ["aab", "bba"]),
        (TEAMS, ["ab", "ba"], ["abab", "baba"]),
    ],
    ids=str,
)
def test_places_may_be_shared_otherwise(variant, places, seats):
    """Two entrants sit down at a table of more, in games that are set one by one."""
    seatings = tuple(tuple("ab".index(entrant) for entrant in game) for game in places)
    spec = MatchSpec(variant, ("a", "b"), SECOND, seatings=seatings)
    assert ["".join("ab"[e] for e in spec.seating(game)) for game in range(spec.games)] == seats


@pytest.mark.parametrize(
    ("variant", "needed"), [(CLOBBER, 2), (TRIO, 3), (CLASSIC, 4), (TEAMS, 2), (PUZZLE, 1)], ids=str
)
def test_how_many_sit_down(variant, needed):
    """As many entrants as there are seats, or teams."""
    assert entrants_needed(variant) == needed


@pytest.mark.parametrize(
    "time",
    [SECOND, TimeControl(time_ms=5000, inc_ms=50), TimeControl(move_ms=9, charge="wall")],
    ids=str,
)
def test_a_spec_travels_as_json(time):
    """What is written is what is read."""
    spec = MatchSpec(CLOBBER, ("a", "b"), time, ("a1a2",), 2**48 - 1, ((0, 1), (1, 0)))
    assert MatchSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


def test_a_pair_of_games():
    """One opening from both sides, seeds of its own for each game, a log for each seat."""
    starts = Starts()
    spec = MatchSpec(CLOBBER, ("a", "b"), SECOND, opening(CLOBBER, 1, plies=2).moves, seed=11)
    result = play_match(spec, starts)
    assert [record.players for record in result.games] == [("a", "b"), ("b", "a")]
    assert [record.seed for record in result.games] == [derive(11, "game", n) for n in (0, 1)]
    for record in result.games:
        assert record.moves[:2] == spec.opening
        assert record.opening == 2
        replay(record)
    # Both play the first legal move, so that both games are the same but for the seats.
    assert result.games[0].moves == result.games[1].moves
    # One player for each entrant, kept for both games and then sent away in order.
    assert [entrant for entrant, _ in starts.made] == [0, 1]
    a, b = (player for _, player in starts.made)
    assert [[setup.seat for setup in player.setups] for player in (a, b)] == [[0, 1], [1, 0]]
    assert (a.killed, b.killed) == (False, False)
    first, second = len(a.turns), len(b.turns)
    assert result.logs[1] == (f"{second} turns", f"{first} turns")


def test_a_failed_player_is_replaced_in_the_next_game():
    """There is no restart within a game; the next one gets a fresh player, the other stays."""
    starts = Starts({1: lambda: Scripted(CrashError("exit 1"))})
    result = play_match(MatchSpec(CLOBBER, ("a", "b"), SECOND), starts)
    assert [record.termination for record in result.games] == [Termination.CRASH] * 2
    assert [record.ranks for record in result.games] == [(1, 2), (2, 1)]
    assert [entrant for entrant, _ in starts.made] == [0, 1, 1]
    assert all(player.closed for _, player in starts.made)


def test_players_stay_for_the_next_match():
    """Nobody is started anew for it but who failed in the match before."""
    fails_at_once = [Scripted(CrashError("exit 1"))]
    starts = Starts({1: lambda: fails_at_once.pop() if fails_at_once else FirstMove()})
    players = Players(starts)
    specs = [MatchSpec(CLOBBER, ("a", "b"), SECOND, seed=seed) for seed in (1, 2)]
    first, second = (players.play(spec) for spec in specs)
    assert [record.termination for record in (*first.games, *second.games)] == [
        Termination.CRASH,
        *[Termination.NORMAL] * 3,
    ]
    assert [entrant for entrant, _ in starts.made] == [0, 1, 1]
    alone = play_match(specs[1], Starts())
    assert [one.digest() for one in second.games] == [one.digest() for one in alone.games]
    assert [player.closed for _, player in starts.made] == [False, True, False]
    players.close()
    assert [(player.closed, player.killed) for _, player in starts.made[::2]] == [(True, False)] * 2


def test_an_entrant_with_two_seats_has_two_players():
    """Each of them keeps its own process from game to game."""
    starts = Starts()
    play_match(MatchSpec(TEAMS, ("a", "b"), SECOND), starts)
    assert sorted(entrant for entrant, _ in starts.made) == [0, 0, 1, 1]
    assert sorted(tuple(s.seat for s in player.setups) for _, player in starts.made) == [
        (0, 1),
        (1, 0),
        (2, 3),
        (3, 2),
    ]


def failing_first(times: int):
    """Makes players of which the first so many fail by our own fault."""
    count = 0

    def make() -> FirstMove:
        nonlocal count
        count += 1
        return Scripted(VoidGameError(f"void {count}")) if count <= times else FirstMove()

    return make


@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_void_game_is_played_again(times):
    """Twice at most, with fresh players and the same seeds; the result shows nothing of it."""
    spec = MatchSpec(CLOBBER, ("a", "b"), SECOND, seed=3)
    starts = Starts({1: failing_first(times)})
    result = play_match(spec, starts)
    undisturbed = play_match(spec, Starts())
    assert [record.digest() for record in result.games] == [
        record.digest() for record in undisturbed.games
    ]
    assert len(starts.made) == 2 + 2 * times
    assert [player.killed for _, player in starts.made] == [True] * 2 * times + [False] * 2


def test_a_match_is_void_after_three_attempts():
    """Then nothing of it counts, and nobody is left behind."""
    starts = Starts({1: failing_first(9)})
    with pytest.raises(VoidGameError, match="void 3"):
        play_match(MatchSpec(CLOBBER, ("a", "b"), SECOND), starts)
    assert len(starts.made) == 6
    assert all(player.closed for _, player in starts.made)


def test_a_mistake_of_ours_leaves_nobody_behind():
    """Whatever comes out of a match, its players are closed."""
    starts = Starts()
    with pytest.raises(ValueError, match="not legal"):
        Players(starts).play(MatchSpec(CLOBBER, ("a", "b"), SECOND, ("z9z9",)))
    assert all(player.closed for _, player in starts.made)


def test_a_match_may_be_cut_short_and_watched():
    """Only the first games are played; each tells its watcher every ply."""
    seen = []
    spec = MatchSpec(CLASSIC, tuple("abcd"), SECOND)
    result = play_match(
        spec,
        Starts(),
        games=2,
        watch=lambda game: lambda state, plies: seen.append((game, len(plies))),
    )
    assert len(result.games) == 2
    assert seen == [(n, ply + 1) for n in (0, 1) for ply in range(len(result.games[n].plies))]


def test_a_race():
    """All play the same start with the same dice, one after the other, each quite alone."""
    made: list[Scripted] = []

    def start(entrant: int) -> Scripted:
        # Whoever is done is gone: after its game it would run unfrozen beside the others.
        assert all(player.closed for player in made)
        made.append(Scripted("stop"))
        return made[-1]

    result = play_match(MatchSpec(PUZZLE, ("a", "b", "c"), SECOND, seed=2), start)
    assert [record.players for record in result.games] == [("a",), ("b",), ("c",)]
    assert len({record.seed for record in result.games}) == 1
    assert len({player.setups[0].seed for player in made}) == 1
    assert [player.killed for player in made] == [False] * 3
    assert race_ranks(result.games) == (1, 1, 1)


def raced(score: float, *cpu_ms: float, wall_ms: float = 0, time: TimeControl = SECOND):
    """A record of the puzzle with this score and these thinking times."""
    record = play_game(PUZZLE, [Scripted("stop")], time=time)
    ply = record.plies[0]._replace(wall_us=round(1000 * wall_ms))
    return replace(
        record,
        scores=(score,),
        plies=tuple(ply._replace(cpu_us=round(1000 * ms)) for ms in cpu_ms),
    )


BY_THE_WALL = TimeControl(move_ms=1000, charge="wall")


@pytest.mark.parametrize(
    ("races", "ranks"),
    [
        # The higher score first; short of a solution time does not matter.
        ([raced(76, 1), raced(78, 900), raced(76, 800)], (2, 1, 2)),
        # Of solvers (80 squares) the one that thought less, all plies together, to 10 ms.
        ([raced(80, 500, 510), raced(80, 1000), raced(79, 1)], (2, 1, 3)),
        ([raced(80, 1004), raced(80, 996), raced(80, 1006)], (1, 1, 3)),
        ([raced(0, 5), raced(0)], (1, 1)),
        # Whichever clock charges the time.
        ([raced(80, 2, wall_ms=100), raced(80, 100, wall_ms=2)], (1, 2)),
        (
            [
                raced(80, 2, wall_ms=100, time=BY_THE_WALL),
                raced(80, 100, wall_ms=2, time=BY_THE_WALL),
            ],
            (2, 1),
        ),
    ],
)
def test_the_ranks_of_a_race(races, ranks):
    """The puzzle's page says them: score, then time between those that solved it, else a tie."""
    assert race_ranks(races) == ranks


@pytest.mark.parametrize(
    ("variant", "ranks", "shares"),
    [
        (CLOBBER, (1, 2), (1, 0)),
        (CLOBBER, (1, 1), (0.5, 0.5)),
        (CLASSIC, (1, 2, 3, 4), (1, 2 / 3, 1 / 3, 0)),
        (CLASSIC, (1, 1, 3, 3), (5 / 6, 5 / 6, 1 / 6, 1 / 6)),
        (CLASSIC, (2, 2, 2, 1), (1 / 3, 1 / 3, 1 / 3, 1)),
        (TRIO, (3, 1, 1), (0, 0.75, 0.75)),
        # Partners share, and are not each other's rivals.
        (TEAMS, (1, 2, 1, 2), (1, 0, 1, 0)),
        (TEAMS, (1, 1, 1, 1), (0.5, 0.5, 0.5, 0.5)),
        # Nobody is beaten, and nobody lost to.
        (PUZZLE, (1,), (0.5,)),
    ],
    ids=str,
)
def test_points(variant, ranks, shares):
    """The share of the rivals' seats that a seat beat, by hand."""
    assert points(variant, ranks) == pytest.approx(shares)
