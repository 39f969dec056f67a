"""How tournaments are made, what is refused, and what an interruption does to them."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import entries
from arena.competitions import tournament_ends, tournament_matches, tournaments
from arena.competitions.fields import field_of, seeded_by
from arena.competitions.players import named_players
from arena.competitions.results import results, rows
from arena.competitions.tournament_deeds import ChangeTournament
from arena.competitions.tournament_progress import progress_of
from arena.competitions.tournaments import TournamentPlan, Tournaments
from arena.formats.catalogue import FORMATS, settings_for
from arena.formats.settings import Frame
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    BotVersion,
    CompetitionState,
    Entrant,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    OpeningPolicy,
    PlayedGame,
    Tournament,
    VersionStatus,
)
from arena.schedule import leases, verdicts
from arena.schedule.matchmaking import new_matches
from engine.clock import TimeControl
from engine.games import GAMES
from tests.arena.competitions.tournament_simulation import ORGANISER, TournamentSimulation
from tests.arena.doing import do
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, START

CLOBBER = GAMES["clobber"].variant(size="4x3")
MOVE = TimeControl(move_ms=100)


@pytest.fixture
def arena(sqlite_database: Database) -> TournamentSimulation:
    """A ladder of five bots, and nothing else."""
    return TournamentSimulation(sqlite_database, 1, CALM, "clobber", 5, size="4x3")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"name": "Cup!"}, "'Cup!' is no name for a tournament"),
    ({"name": "ladder-0"}, "there is a competition ladder-0 already"),
    ({"format": "league"}, "there is no format 'league'; there are round-robin, gauntlet"),
    (
        {"format": "balanced"},
        "balanced is not for matches of 2 bots; use one of round-robin, gauntlet",
    ),
    ({"settings": {"rounds": 3}}, "round-robin has no setting 'rounds'; it has cycles"),
    ({"settings": {"cycles": 0}}, "cycles is 0, and in this field it can be from 1 to 100"),
    ({"format": "swiss", "settings": {"rounds": 6}}, "rounds is 6, and in this field it can be"),
    ({"format": "gauntlet", "settings": {"candidates": 5}}, "can be from 1 to 4"),
    (
        {"format": "knockout", "settings": {"double": 1, "third_place": 1}},
        "in double elimination the losers' final is for the third place",
    ),
    ({"tie_breaks": ("koya",)}, "there is no tie-break 'koya'"),
    ({"tie_breaks": ("wins", "lot", "wins")}, "the tie-break wins is named twice"),
    ({"variant": GAMES["oxono"].variant()}, "bot-0 v1 has passed no check for oxono"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED, ids=[words[:40] for _, words in REFUSED])
def test_what_can_not_be_is_refused(
    arena: TournamentSimulation, change: dict[str, Any], words: str
) -> None:
    """One sentence says what is wrong, and nothing is made."""
    plan = TournamentPlan(
        **{"name": "cup", "variant": CLOBBER, "time": MOVE, "format": "round-robin"} | change
    )
    with arena.database.begin() as session:
        field = named_players(session, [f"bot-{n}" for n in range(5)])
        with pytest.raises(Refusal) as refusal:
            tournaments.create(session, plan, field, START, ORGANISER)
        assert words in str(refusal.value)
        assert session.scalars(sa.select(Tournament)).all() == []


def test_a_field_has_everybody_once_and_checked(arena: TournamentSimulation) -> None:
    """Fields with a bot twice, a single one, one that isn't checked, or a bot of nobody's."""
    plan = TournamentPlan("cup", CLOBBER, MOVE, "round-robin")
    with arena.database.begin() as session:
        one, other = named_players(session, ["bot-0", "bot-1:1"])
        other.version.status = VersionStatus.CHECKING
        for field, words in (
            ([one, one], "bot-0 v1 stands in the field twice"),
            ([one], "a match takes 2 bots, and the field has 1"),
            ([one, other], "bot-1 v1 can't play yet: it has passed no check"),
        ):
            with pytest.raises((Refusal, Refusal), match=words):
                tournaments.create(session, plan, field, START, ORGANISER)


HOW = "names no bot: write greedy, greedy:2 for its version 2, or greedy:2:depth=8"
NOBODY = [
    ("nobody", "there is no bot 'nobody' that is ready"),
    ("bot-1", "there is no bot 'bot-1' that is ready"),
    ("bot-0:2", "there is no version 2 of a bot 'bot-0'"),
    ("bot-0:x", f"'bot-0:x' {HOW}"),
    ("", f"'' {HOW}"),
    (
        "bot-0:1:x=1",
        "nobody has asked bot-0 v1 for its options: submit it again, and its check does",
    ),
]


@pytest.mark.parametrize(("name", "words"), NOBODY)
def test_what_names_no_version(arena: TournamentSimulation, name: str, words: str) -> None:
    """The words fit a command, a page and the API."""
    with arena.database.begin() as session:
        (other,) = named_players(session, ["bot-1"])
        other.version.status = VersionStatus.CHECKING
        with pytest.raises(Refusal) as refusal:
            named_players(session, [name])
        assert str(refusal.value) == words


RACES = [
    ("round-robin", {}, {"cycles": 1}),
    ("gauntlet", {"candidates": 2}, {"candidates": 2, "cycles": 1}),
    ("swiss", {}, {"rounds": 3}),
    ("knockout", {}, {"legs": 1, "extra_legs": 0, "double": 0, "third_place": 0}),
]


@pytest.mark.parametrize(("format_", "given", "complete"), RACES, ids=[race[0] for race in RACES])
def test_nobody_races_somebody_twice(
    format_: str, given: dict[str, int], complete: dict[str, int]
) -> None:
    """In a race settings are such that everybody meets anybody once, and others are refused."""
    frame = Frame(size=6, seats=2, race=True, seed=1)
    assert settings_for(format_, frame, given) == complete
    for key, setting in FORMATS[format_].settings.items():
        if setting.in_a_race is not None:
            with pytest.raises(Refusal, match="in a race"):
                settings_for(format_, frame, {**given, key: 2})


def test_a_third_place_takes_four() -> None:
    """Nobody else loses a semi-final to meet for it."""
    third = {"third_place": 1}
    for size in (2, 3):
        with pytest.raises(Refusal) as refusal:
            settings_for("knockout", Frame(size, seats=2, race=False, seed=1), third)
        assert str(refusal.value) == f"third_place takes a field of 4 bots, and this one has {size}"
    four = Frame(4, seats=2, race=False, seed=1)
    assert settings_for("knockout", four, third)["third_place"] == 1


def test_the_formats_that_fit_are_named() -> None:
    """Those for matches of as many bots, be it one alone."""
    with pytest.raises(Refusal) as refusal:
        settings_for("swiss", Frame(size=6, seats=3, race=False, seed=1), {})
    assert str(refusal.value) == "swiss is not for matches of 3 bots; use balanced"


def test_the_ladder_gives_the_field_and_its_seeding(arena: TournamentSimulation) -> None:
    """The strongest by mu - 3 sigma are taken, the first seed first; who has no rating is last."""
    with arena.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        # Less three sigma: -3, 26, 1, 14, 3.
        for (mu, sigma), entrant in zip(
            ((21, 8), (29, 1), (25, 8), (20, 2), (27, 8)),
            session.scalars(sa.select(Entrant).order_by(Entrant.id)),
            strict=True,
        ):
            entrant.mu, entrant.sigma = mu, sigma
        session.flush()
        assert [one.version.bot.name for one in field_of(session, ladder)[:3]] == [
            "bot-1", "bot-3", "bot-4",
        ]  # fmt: skip
        named = named_players(session, ["bot-0", "bot-2", "bot-3"])
        seeded = seeded_by(session, ladder, named)
        assert [one.version.bot.name for one in seeded] == ["bot-3", "bot-2", "bot-0"]


def openings(
    arena: TournamentSimulation, name: str, turns: list[int]
) -> dict[tuple[int, ...], Any]:
    """The openings and seeds of a tournament's matches, made in some order."""
    made = {}
    with arena.database.begin() as session:
        for _ in turns:
            match = next(new_matches(session, START, only=name), None)
            assert match is not None
            session.flush()
            key = (match.round or 0, *(p.entrant.number for p in match.places), match.leg)
            made[key] = (match.opening, match.seed)
        assert next(new_matches(session, START, only=name), None) is None
    return made


def test_openings_follow_from_seed_and_fixture_alone(arena: TournamentSimulation) -> None:
    """Two tournaments of one seed have the same openings, one of another seed has others."""
    matches = list(range(10))
    for name, seed in (("one", 7), ("again", 7), ("other", 8)):
        arena.create(name, "round-robin", seed=seed)
    one, again, other = (openings(arena, name, matches) for name in ("one", "again", "other"))
    assert one == again
    assert one.keys() == other.keys()
    assert not set(map(str, one.values())) & set(map(str, other.values()))
    assert len(set(map(str, one.values()))) == 10


def test_an_empty_opening_is_the_games_start(arena: TournamentSimulation) -> None:
    """The policy of openings is kept."""
    plan = TournamentPlan("cup", CLOBBER, MOVE, "gauntlet", openings=OpeningPolicy.EMPTY)
    with arena.database.begin() as session:
        field = named_players(session, ["bot-2", "bot-0", "bot-1"])
        tournaments.create(session, plan, field, START, ORGANISER)
    made = openings(arena, "cup", [1, 2])
    assert [opening for opening, _ in made.values()] == [[], []]
    # The first by seeding is the candidate, and sits first against every other one.
    assert set(made) == {(1, 1, 2, 1), (2, 3, 1, 1)}


def test_a_tournament_gets_its_share_beside_a_ladder(arena: TournamentSimulation) -> None:
    """Of the workers' time a tournament gets ten times that of a ladder, and leaves it the rest."""
    with arena.database.begin() as session:
        session.execute(sa.update(Ladder).values(state=CompetitionState.OPEN, worker_seconds=500))
    arena.create("cup", "round-robin", cycles=10)
    with arena.database.begin() as session:
        kinds = [
            str(match.competition.kind)
            for _ in range(44)
            if (match := next(new_matches(session, START), None)) is not None
        ]
    assert kinds.count("tournament") == 40
    assert kinds.index("ladder") < 11


def play(arena: TournamentSimulation) -> None:
    """Plays what is open to the end."""
    arena.play_out(5)


def test_all_is_closed_when_all_is_played(arena: TournamentSimulation) -> None:
    """The last result closes a tournament; nothing more is made, and its state stays."""
    arena.create("cup", "swiss", rounds=3)
    play(arena)
    with arena.database.begin() as session:
        cup = session.scalars(sa.select(Tournament)).one()
        assert (cup.state, cup.games) == (CompetitionState.CLOSED, 12)
        assert cup.finished is not None
        found = results(session, cup)
        assert [len(each.byes) for each in found.rounds] == [1, 1, 1]
        # A bye is worth the two points of a match won.
        assert sum(line.points for line in found.standings) == 12 + 3 * 2
        assert [row["place"] for row in rows(found)] == [1, 2, 3, 4, 5]
        with pytest.raises(Refusal, match="the tournament cup is over"):
            do(session, ChangeTournament(cup.name, "open"), START, ORGANISER)


def test_a_paused_tournament_waits(arena: TournamentSimulation) -> None:
    """Nothing is made while it is paused; both changes are written down."""
    arena.create("cup", "round-robin")
    with arena.database.begin() as session:
        cup = session.scalars(sa.select(Tournament)).one()
        for state in (CompetitionState.PAUSED, CompetitionState.PAUSED, CompetitionState.OPEN):
            do(session, ChangeTournament(cup.name, state), START, ORGANISER)
            made = next(new_matches(session, START), None)
            assert (made is None) == (state is CompetitionState.PAUSED)
        noted = [(entry.action, entry.subject) for entry in entries(session)]
    assert noted == [
        ("resume tournament", "tournament cup"),
        ("pause tournament", "tournament cup"),
        ("create tournament", "tournament cup"),
    ]


@pytest.mark.parametrize("back", ["resumed", "reopened"])
def test_who_comes_back_does_not_have_the_workers_to_itself(
    arena: TournamentSimulation, back: str
) -> None:
    """It takes its place among those that were open meanwhile."""
    arena.create("cup", "round-robin")
    if back == "reopened":
        play(arena)
    with arena.database.begin() as session:
        cup = session.scalars(sa.select(Tournament)).one()
        if back == "resumed":
            do(session, ChangeTournament(cup.name, "paused"), START, ORGANISER)
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.state, ladder.worker_seconds = CompetitionState.OPEN, 1000.0
        if back == "resumed":
            do(session, ChangeTournament(cup.name, "open"), START, ORGANISER)
        else:
            match = session.scalars(sa.select(Match).order_by(Match.id).limit(1)).one()
            verdicts.void(session, ORGANISER, match.id, "the machine was busy", now=START)
        assert (cup.head_start + cup.worker_seconds) / cup.weight >= 1000.0


@pytest.mark.long
def test_a_void_match_is_played_again(arena: TournamentSimulation) -> None:
    """A closed tournament opens when a match is made void, and is played to the same end."""
    arena.create("cup", "round-robin")
    play(arena)
    before = arena.outcome("cup")
    with arena.database.begin() as session:
        cup = session.scalars(sa.select(Tournament)).one()
        match = session.scalars(sa.select(Match).order_by(Match.id).limit(1)).one()
        verdicts.void(session, ORGANISER, match.id, "the machine was busy", now=START)
        assert (cup.state, cup.finished) == (CompetitionState.OPEN, None)
        assert results(session, cup).count(JobStatus.FIXED) == 9
    play(arena)
    again = arena.outcome("cup")
    assert again[0] == before[0]
    assert again[1]["standings"] == before[1]["standings"]


def test_another_goes_on_after_a_tie_is_played_anew(arena: TournamentSimulation) -> None:
    """What the other had played in later rounds is void, and the right ones meet."""
    arena.create("cup", "knockout", top=4)
    play(arena)
    with arena.database.begin() as session:
        cup = session.scalars(sa.select(Tournament)).one()
        *before, final = tournament_matches.matches_of(session, cup)
        sides = set(before[0].result.fixture.entrants)
        winner = (sides & set(final.result.fixture.entrants)).pop()
        ids = progress_of(session, cup).ids
        tie = [one.id for one in before if set(one.result.fixture.entrants) == sides]
        # As if it had been played anew, and gone the other way.
        for number in sides:
            session.execute(
                sa.update(GameSeat)
                .where(GameSeat.entrant_id == ids[number])
                .where(
                    GameSeat.game_id.in_(
                        sa.select(PlayedGame.id).where(PlayedGame.match_id.in_(tie))
                    )
                )
                .values(points=float(number != winner))
            )
        assert cup.state is CompetitionState.CLOSED
        Tournaments().end_or_reopen(session, cup, START)
        assert cup.state is CompetitionState.OPEN
        void = session.get_one(Match, final.id)
        assert (void.status, void.problem) == (JobStatus.VOID, tournament_ends.ANOTHER_WAY)
        assert cup.rebuild_due
    play(arena)
    with arena.database.read() as session:
        cup = session.scalars(sa.select(Tournament)).one()
        assert cup.state is CompetitionState.CLOSED
        *_, final = tournament_matches.matches_of(session, cup)
        assert winner not in final.result.fixture.entrants
        assert sides & set(final.result.fixture.entrants)


def test_who_waits_for_the_third_place_stands_below_the_final(
    arena: TournamentSimulation,
) -> None:
    """The champion's place does not depend on that match, which is due again here."""
    arena.create("cup", "knockout", top=4, third_place=1)
    play(arena)
    with arena.database.begin() as session:
        cup = session.scalars(sa.select(Tournament)).one()
        before = results(session, cup).standings
        assert [line.place for line in before] == [1, 2, 3, 4]
        third = {line.number for line in before[2:]}
        for one in tournament_matches.matches_of(session, cup):
            if set(one.result.fixture.entrants) == third:
                verdicts.void(session, ORGANISER, one.id, "the machine was busy", now=START)
        after = results(session, cup).standings
        assert [line.place for line in after] == [1, 2, None, None]
        assert [line.number for line in after[:2]] == [line.number for line in before[:2]]


@pytest.mark.long
def test_who_has_not_lost_stands_before_who_has(arena: TournamentSimulation) -> None:
    """Of those still in a double knockout, though the others have played more and may have won
    more: of five, three begin with a bye, which gives no points.
    """
    arena.create("cup", "knockout", double=1)
    arena.alive()
    arena.tick()
    seen = set()
    while arena.open_tournaments():
        arena.run(1)
        with arena.database.read() as session:
            found = results(session, session.scalars(sa.select(Tournament)).one())
        left = [line.number for line in found.standings if line.place is None]
        lost = [sum(tie.loser == number for tie in found.ties) for number in left]
        assert lost == sorted(lost)
        assert [line.number for line in found.standings[: len(left)]] == left
        seen |= {(line.points > 0, lost[n]) for n, line in enumerate(found.standings[: len(left)])}
    assert {(False, 0), (True, 0), (True, 1)} <= seen


def test_a_match_set_aside_holds_a_tournament_up(arena: TournamentSimulation) -> None:
    """It is neither made again nor forgotten, and says so."""
    arena.create("cup", "round-robin")
    with arena.database.begin() as session:
        first = next(new_matches(session, START), None)
        assert first is not None
        issued(session, first, arena.settings, START)
        for _ in range(3):
            leases.roll_back(first, "the host broke", failed=True)
        assert first.status is JobStatus.SET_ASIDE
        others = [next(new_matches(session, START), None) for _ in range(10)]
        assert sum(match is not None for match in others) == 9
        cup = session.scalars(sa.select(Tournament)).one()
        Tournaments().end_or_reopen(session, cup, START)
        assert cup.state is CompetitionState.OPEN
        assert results(session, cup).count(JobStatus.SET_ASIDE) == 1


def test_versions_are_frozen(arena: TournamentSimulation) -> None:
    """A version that comes later takes nobody's place in a tournament."""
    arena.create("cup", "round-robin")
    arena.upload()
    play(arena)
    with arena.database.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(BotVersion)) == 6
        cup = session.scalars(sa.select(Tournament)).one()
        assert {entrant.version.number for entrant in results(session, cup).entrants.values()} == {
            1
        }
