"""What every kind of competition keeps, whichever there are; one more is registered for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import cast

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots.deletion import DeleteBot
from arena.competitions import gauntlets, strength_tests, tunings
from arena.competitions.dates import set_date
from arena.competitions.gauntlets import GauntletPlan
from arena.competitions.happenings import happen_next
from arena.competitions.kind import AnyKind
from arena.competitions.kinds import KINDS, kind_of
from arena.competitions.players import NamedPlayer
from arena.competitions.rules import Rules
from arena.competitions.strength_plans import StrengthPlan
from arena.competitions.tournaments import TournamentPlan, create
from arena.competitions.tunings import TuningPlan
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    BotVersion,
    Competition,
    CompetitionDate,
    CompetitionState,
    DateKind,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Place,
)
from arena.recorder.rebuild import rebuild
from arena.schedule import leases, verdicts
from arena.schedule.idle import why_idle
from arena.strength.parameters import Parameter
from arena.strength.terms import StrengthTerms
from arena.web.api.answers import shape_of
from arena.web.api.competition_shapes import CompetitionShape
from arena.web.app import create_app
from engine.bot_options import BotOption
from engine.games import GAMES
from engine.match import entrants_needed
from tests.arena.competitions.duels import Duels, challenge
from tests.arena.competitions.tournament_simulation import ORGANISER, TournamentSimulation
from tests.arena.doing import do
from tests.arena.simulator import CALM, START

DUEL = Duels()
ALL = (*KINDS.values(), DUEL)
Maker = Callable[[Session, Ladder, list[BotVersion]], Competition]


def _ladder(session: Session, ladder: Ladder, versions: list[BotVersion]) -> Competition:
    ladder.state = CompetitionState.OPEN
    return ladder


def _tournament(session: Session, ladder: Ladder, versions: list[BotVersion]) -> Competition:
    plan = TournamentPlan("cup", ladder.variant, ladder.time, "round-robin", settings={"cycles": 2})
    return create(session, plan, [*map(NamedPlayer, versions)], START, ORGANISER)


def _test(session: Session, ladder: Ladder, versions: list[BotVersion]) -> Competition:
    plan = StrengthPlan.on(ladder, terms=StrengthTerms(elo1=100.0, max_games=32))
    players = map(NamedPlayer, versions[:2])
    return strength_tests.create(session, plan, *players, START, ORGANISER)


def _gauntlet(session: Session, ladder: Ladder, versions: list[BotVersion]) -> Competition:
    plan = GauntletPlan(Rules(ladder, ladder.variant, ladder.time, ladder.limits), 32, 1)
    return gauntlets.create(session, plan, [*map(NamedPlayer, versions)], START, ORGANISER)


def _tuning(session: Session, ladder: Ladder, versions: list[BotVersion]) -> Competition:
    version = versions[0]
    version.options = ["aim int -10 10 0"]
    aim = Parameter(BotOption.read(version.options[0]), 0, -10, 10, 2)
    plan = TuningPlan(ladder.variant, ladder.time, NamedPlayer(version), (aim,), 32, 8)
    return tunings.create(session, plan, START, ORGANISER)


def _duel(session: Session, ladder: Ladder, versions: list[BotVersion]) -> Competition:
    return challenge(session, ladder, versions[:2], 32, START)


MAKERS: dict[str, Maker] = {
    "ladder": _ladder,
    "tournament": _tournament,
    "test": _test,
    "tuning": _tuning,
    "gauntlet": _gauntlet,
    "duel": _duel,
}
"""What makes one of three bots, or of two of them."""
ENDLESS = {"ladder"}


@pytest.fixture(autouse=True)
def _with_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cast(dict[str, AnyKind], KINDS), DUEL.name, DUEL)


@pytest.fixture(params=[kind.name for kind in ALL])
def kind(request: pytest.FixtureRequest) -> AnyKind:
    return next(one for one in ALL if one.name == request.param)


@pytest.fixture
def arena(sqlite_database: Database) -> TournamentSimulation:
    return TournamentSimulation(sqlite_database, 1, CALM, "clobber", 3, size="4x4")


@pytest.fixture
def number(arena: TournamentSimulation, kind: AnyKind) -> int:
    """The id of a competition of the kind."""
    with arena.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        versions = session.scalars(sa.select(BotVersion).order_by(BotVersion.id)).all()
        made = MAKERS[kind.name](session, ladder, list(versions))
        session.flush()
        return made.id


def found(arena: TournamentSimulation, number: int) -> Iterator[tuple[Session, Competition]]:
    with arena.database.begin() as session:
        yield session, session.get_one(Competition, number)


def play(arena: TournamentSimulation, number: int, matches: int) -> None:
    """Has a competition played until it is over, or has had so many matches."""
    arena.alive()
    arena.tick()
    for _ in range(100):
        arena.run(2)
        for session, competition in found(arena, number):
            played = matches_of(session, competition, JobStatus.FIXED)
            if len(played) >= matches or competition.state is CompetitionState.CLOSED:
                return
    raise AssertionError("nothing more is played")


def matches_of(session: Session, competition: Competition, status: JobStatus) -> list[Match]:
    query = sa.select(Match).where(Match.competition_id == competition.id, Match.status == status)
    return list(session.scalars(query.order_by(Match.id)))


def test_each_kind_is_that_of_its_class() -> None:
    """Whatever the table holds is of a kind that is known, and each kind has a maker here."""
    mappers = sa.inspect(Competition).self_and_descendants
    classes = {mapper.class_ for mapper in mappers if mapper.polymorphic_identity}
    assert {kind.model for kind in ALL} == classes
    assert {kind.name for kind in ALL} == MAKERS.keys()
    assert len({kind.word for kind in ALL}) == len(ALL)


def test_a_deed_may_answer_one_of_a_new_kind() -> None:
    """It travels as what is said of any competition, and takes no shape of its own."""
    assert issubclass(shape_of(DUEL.model), CompetitionShape)
    assert shape_of(DUEL.model) is shape_of(Competition)


@pytest.mark.long
def test_what_is_recorded_is_what_is_made_anew(
    arena: TournamentSimulation, kind: AnyKind, number: int
) -> None:
    """Results, counters and a kind's own counts are the same from the records."""
    play(arena, number, 6)
    for session, competition in found(arena, number):
        assert kind_of(competition) is kind
        assert competition.games > 0
        assert rebuild(session, competition, write=False).differences == ()
        assert why_idle(session, competition, Settings(), arena.now) or competition.finished


def test_one_that_is_over_ends_once_and_says_how(
    arena: TournamentSimulation, kind: AnyKind, number: int
) -> None:
    """To do so again changes nothing; pages and API list it and show it before and after."""
    name = name_of(arena, number)
    address = f"/competitions/{name}"
    client = create_app(Settings(database=str(arena.database.engine.url))).test_client()
    assert client.get(address, follow_redirects=True).status_code == 200
    assert client.get(f"/api/v1{address}").json["state"] == "open"
    play(arena, number, 6 if kind.name in ENDLESS else 1000)
    for session, competition in found(arena, number):
        if kind.name in ENDLESS:
            competition.state = CompetitionState.CLOSED
        before = competition.state, competition.finished
        kind.end_or_reopen(session, competition, arena.now)
        assert (competition.state, competition.finished) == before
        assert competition.state is CompetitionState.CLOSED
        assert competition.title in kind.conclusion(session, competition).title
        # A strength test's last matches are counted though it is over.
        leases.call_off(session)
        assert bool(matches_of(session, competition, JobStatus.VOID)) <= (kind.name in ENDLESS)
    page = client.get(address, follow_redirects=True)
    assert page.status_code == 200
    assert "bot-0" in page.text
    assert client.get(f"/api/v1{address}").json["state"] == "closed"
    entrants = client.get(f"/api/v1{address}/entrants").json["items"]
    assert "bot-0" in {one["bot"] for one in entrants}
    listed = client.get(f"/api/v1/competitions?kind={kind.name}").json["items"]
    assert name in {one["name"] for one in listed}
    assert name_shown(client.get(f"/competitions?kind={kind.name}").text, arena, number)


def name_shown(page: str, arena: TournamentSimulation, number: int) -> bool:
    with arena.database.read() as session:
        found = session.get_one(Competition, number)
        return f"<bdi>{found.title}</bdi>" in page and kind_of(found).word.capitalize() in page


def name_of(arena: TournamentSimulation, number: int) -> str:
    with arena.database.read() as session:
        return session.get_one(Competition, number).name


@pytest.mark.long
def test_a_match_is_void_or_it_is_said_why_not(
    arena: TournamentSimulation, kind: AnyKind, number: int
) -> None:
    """What waits for every match plays it again; nothing that was counted of it is left."""
    play(arena, number, 3)
    for session, competition in found(arena, number):
        match = matches_of(session, competition, JobStatus.FIXED)[-1]
        problem = kind.why_not_void(competition, match)
        if problem:
            with pytest.raises(Refusal, match="strength test"):
                verdicts.void(session, ORGANISER, match.id, "why", now=arena.now)
            return
        again = verdicts.void(session, ORGANISER, match.id, "why", replay=True, now=arena.now)
        assert (again is not None) is kind.replays
        assert competition.state is CompetitionState.OPEN
        voided = match.id
    play(arena, number, 6)
    for session, competition in found(arena, number):
        assert [one.id for one in matches_of(session, competition, JobStatus.VOID)] == [voided]
        rebuild(session, competition, write=True)
        assert rebuild(session, competition, write=False).differences == ()
        fixed = matches_of(session, competition, JobStatus.FIXED)
        assert competition.games == sum(len(one.games) for one in fixed)


@pytest.mark.long
def test_what_holds_one_up_is_said(arena: TournamentSimulation, kind: AnyKind, number: int) -> None:
    """Who waits for each match does not say that its turn will come once all are set aside."""
    play(arena, number, 1)
    for session, competition in found(arena, number):
        due = matches_of(session, competition, JobStatus.OPEN)
        due += matches_of(session, competition, JobStatus.ISSUED)
        for match in due:
            match.end_lease(JobStatus.SET_ASIDE, "power cut")
        words = why_idle(session, competition, Settings(), arena.now) or ""
        assert due
        assert ("set aside" in words) is kind.waits


def test_a_bot_that_is_deleted_plays_no_more(
    arena: TournamentSimulation, kind: AnyKind, number: int
) -> None:
    """What was under way counts; then the others play on without it, or it is over for good, and
    its title has no name that was deleted."""
    play(arena, number, 1)
    for session, _ in found(arena, number):
        do(session, DeleteBot("bot-0"), arena.now)
        made = session.scalar(sa.select(sa.func.max(Match.id))) or 0
    arena.play(3)
    for session, competition in found(arena, number):
        its = sa.select(Entrant.id).where(
            Entrant.competition_id == number, Entrant.version.has(BotVersion.bot.has(id=1))
        )
        plays = Match.places.any(Place.entrant_id.in_(its))
        ended = Match.status.in_([JobStatus.FIXED, JobStatus.VOID])
        late = sa.select(Match.id).where(plays, sa.or_(Match.id > made, ~ended))
        assert session.scalars(late).all() == []
        active = its.where(Entrant.state != EntrantState.RETIRED)
        is_over = competition.state is CompetitionState.CLOSED
        assert is_over or session.scalars(active).all() == []
        assert is_over is (kind.name not in ENDLESS)
        assert "bot-0" not in competition.title
        assert rebuild(session, competition, write=False).differences == ()


def test_one_closes_on_its_date(
    arena: TournamentSimulation, kind: AnyKind, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its kind, if that has such a date; it is refused where it has none."""
    monkeypatch.setattr(Duels, "dates", (DateKind.CLOSES,))
    for session, competition in found(arena, number):
        if DateKind.CLOSES not in kind.dates:
            with pytest.raises(Refusal, match="it can have no dates"):
                set_date(session, competition, DateKind.CLOSES, START, {}, START, ORGANISER)
            return
        date = CompetitionDate(competition=competition, what=DateKind.CLOSES, at=START, settings={})
        session.add(date)
    with arena.database.begin() as session:
        happened = happen_next(session)
        assert happened is not None
        assert happened.outcome == ""
    for session, competition in found(arena, number):
        kind.end_or_reopen(session, competition, START)
        assert (competition.state, competition.finished) == (CompetitionState.CLOSED, START)


@pytest.mark.parametrize("game", sorted(GAMES.singles))
def test_the_seats_of_a_match_are_fair(kind: AnyKind, game: str) -> None:
    """Everybody sits in every seat equally often, whoever shares a side."""
    variant = GAMES[game].variant()
    seatings = kind.seatings(variant)
    times = Counter((place, seat) for seats in seatings for seat, place in enumerate(seats))
    assert len(set(times.values())) <= 1
    assert all(len(seats) == variant.seats for seats in seatings)
    places = {place for seats in seatings for place in seats}
    assert len(times) == len(places) * variant.seats
    assert variant.seats == 1 or len(places) <= entrants_needed(variant)
