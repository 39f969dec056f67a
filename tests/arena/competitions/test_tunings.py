"""Tunings on the site: played by workers, the same whatever their speed, and proved at the end."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import Actor
from arena.competitions import strength_tests, tunings
from arena.competitions.fields import entrants_of
from arena.competitions.founding import RUNNING_ALLOWED
from arena.competitions.players import NamedPlayer
from arena.competitions.tuning_deeds import read_parameters
from arena.competitions.tuning_reports import reports
from arena.competitions.tuning_standings import settings_of, standing_of
from arena.competitions.tunings import TuningPlan
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.keeping.packing import unpack
from arena.models import (
    BotTuning,
    BotVersion,
    CompetitionState,
    JobStatus,
    Ladder,
    Match,
    PlayedGame,
    StrengthTest,
    TestVerdict,
)
from arena.recorder.rebuild import rebuild
from arena.schedule import verdicts
from arena.schedule.jobs import read_places, spec_of
from arena.schedule.matchmaking import new_matches
from arena.strength.outcomes import outcome, seatings
from arena.strength.terms import StrengthTerms
from arena.strength.tuning import Method, Tuning
from engine.player import Choice, Turn
from tests.arena.competitions.strength_simulation import OWNER, StrengthSimulation
from tests.arena.simulator import CALM, LotPlayer, Villainy
from tests.requirements import need

DECLARED = ["aim int -10 10 -1", "style choice fast|solid solid", "width float 0 2 0.5"]
ORGANISER = Actor(None, "organiser", "a test")


class Aimer(LotPlayer):
    """Plays the first move that there is, rather than any, the more often the higher it aims."""

    def __init__(self, aim: int) -> None:
        self._aim = aim

    def choose(self, turn: Turn) -> Choice:
        if self._random.random() * 20 > self._aim + 10:
            return super().choose(turn)
        return Choice(turn.state.legal_moves()[0])


class TuningSimulation(StrengthSimulation):
    """A ladder whose first bot has options that can be tuned."""

    def __init__(self, database: Database, villainy: Villainy, game: str, **options: str) -> None:
        super().__init__(database, villainy, game, **options)
        with database.begin() as session:
            session.execute(sa.update(BotVersion).values(options=DECLARED))
        self.alive()
        self.tick()

    def start(self, name: str) -> LotPlayer:
        chosen = dict(word.split("=") for word in name.partition(":")[2].split(",") if word)
        return Aimer(int(chosen.get("aim", -1)))

    def tune(self, *words: str, by: Actor = OWNER, **changes: Any) -> int:
        """A tuning of the first bot; gives its number."""
        with self.database.begin() as session:
            version = session.scalars(sa.select(BotVersion).order_by(BotVersion.id)).first()
            ladder = session.scalars(sa.select(Ladder)).one()
            assert version is not None
            plan = TuningPlan(
                ladder.variant,
                ladder.time,
                NamedPlayer(version, changes.pop("options", "")),
                tuple(read_parameters(version, words or ("aim=-1:-10:10:3:0.2",))),
                **{"games": 24, "batch": 4, "seed": 7, **changes},
            )
            return tunings.create(session, plan, self.now, by).id

    def play(self, number: int, batches: int = 1000) -> None:
        """Has a tuning played until it is over, or has counted so many batches."""
        for _ in range(1000):
            self.run(2)
            with self.database.read() as session:
                tuning = tunings.find(session, number)
                done = standing_of(tuning).matches // settings_of(tuning).batch
                if tuning.state is CompetitionState.CLOSED or done >= batches:
                    return
        raise AssertionError("nothing more is played")

    def run_until_rebuilt(self) -> None:
        """Runs until no tuning is to be made anew, which is done part by part beside all else."""
        due = sa.select(sa.exists().where(BotTuning.rebuild_due))
        for _ in range(100):
            with self.database.read() as session:
                if not session.scalar(due):
                    return
            self.run(2)
        raise AssertionError("it is never made anew")


@pytest.fixture
def arena(sqlite_database: Database) -> TuningSimulation:
    return TuningSimulation(sqlite_database, CALM, "clobber", size="4x4")


def replayed(session: sa.orm.Session, tuning: BotTuning) -> Tuning:
    """What comes of the records that are stored, match by match in the order of their numbers."""
    found = Tuning.begin(settings_of(tuning))
    query = sa.select(Match).where(
        Match.competition_id == tuning.id, Match.status == JobStatus.FIXED
    )
    for match in session.scalars(query.order_by(Match.round, Match.leg)):
        games = sa.select(PlayedGame).where(PlayedGame.match_id == match.id)
        records = [unpack(one.record) for one in session.scalars(games.order_by(PlayedGame.number))]
        sides = found.sides(found.played)
        assert match.chosen is not None
        for told, side in zip(match.chosen, sides, strict=True):
            assert told | side == told
        holders = seatings(tuning.variant)
        for record, held in zip(records, holders, strict=True):
            assert list(record.chosen) == [match.chosen[place] for place in held]
        found = found.add(outcome(tuning.variant, records))
    return found


@pytest.mark.long
def test_it_is_the_same_whatever_the_workers_do(
    arena: TuningSimulation, sqlite_database: Database
) -> None:
    """Its seed alone decides: with others, slow and dying ones too, and with a void match."""
    first = arena.tune()
    arena.play(first)
    with arena.database.begin() as session:
        for test in session.scalars(sa.select(StrengthTest)):
            strength_tests.end(session, test, TestVerdict.STOPPED, "enough", arena.now)
    arena.villainy = replace(CALM, worker_dies=0.03, message_doubled=0.3, slow=0.3, late=0.3)
    arena.random.seed(99)
    second = arena.tune()
    arena.play(second, 2)
    late = None
    while late is None:
        arena.run(1)
        with arena.database.begin() as session:
            of_it = sa.select(Match.id).where(Match.competition_id == second, Match.round == 3)
            late = session.scalars(of_it.where(Match.status == JobStatus.FIXED)).first()
            if late is not None:
                verdicts.void(session, ORGANISER, late, "a power cut", now=arena.now)
    arena.play(second)
    arena.run_until_rebuilt()
    with arena.database.begin() as session:
        one, other = (tunings.find(session, number) for number in (first, second))
        assert one.progress == other.progress
        assert standing_of(one) == replayed(session, one)
        assert standing_of(one).is_over
        for tuning in (one, other):
            assert rebuild(session, tuning, write=False).differences == ()
        made = list(session.execute(_made(first))), list(session.execute(_made(second)))
        assert made[0] == made[1]
        assert len({str(row.opening) for row in made[0]}) == len(made[0]) == 12
        one.progress = {**one.progress, "values": [0.0]}
        assert "came out" in rebuild(session, one, write=True).differences[0]
        assert one.progress == other.progress


@pytest.fixture
def optimiser() -> None:
    need(find_spec("bayes_opt"), "bayesian-optimization is not installed: pip install -e '.[tune]'")


@pytest.mark.extras
@pytest.mark.usefixtures("optimiser")
def test_bayesian_optimisation_is_played(
    arena: TuningSimulation, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its seed alone, too; each batch tries other values against the start. Where its library is
    gone it stops when a batch is to be counted, and goes on once that is back."""
    asked = {"method": Method.BAYES, "games": 32}
    first = arena.tune("aim=-1:-10:10", "width", **asked)
    arena.play(first)
    arena.villainy = replace(CALM, worker_dies=0.03, message_doubled=0.3, slow=0.3, late=0.3)
    arena.random.seed(99)
    second = arena.tune("aim=-1:-10:10", "width", **asked)
    with monkeypatch.context() as gone:
        gone.setitem(sys.modules, "bayes_opt", None)
        arena.play(second)
    with arena.database.begin() as session:
        tuning = tunings.find(session, second)
        assert "Bayesian optimisation needs pip install" in tuning.reason
        assert standing_of(tuning).matches == 0
        tunings.go_on(session, tuning, OWNER)
    arena.play(second)
    with arena.database.begin() as session:
        one, other = (tunings.find(session, number) for number in (first, second))
        assert one.progress == other.progress
        stands = standing_of(one)
        assert stands == replayed(session, one)
        assert stands.is_over
        assert len({trial.point for trial in stands.trials}) == 4
        assert list(session.execute(_made(first))) == list(session.execute(_made(second)))
        told = session.scalars(sa.select(Match.chosen).where(Match.competition_id == first))
        start = {tuple(against.values()) for _, against in told}
        assert start == {tuple(stands.chosen_at_start.values())}
        assert session.get_one(StrengthTest, one.proof_id).title.startswith("bot-0 v1:")
        assert rebuild(session, one, write=False).differences == ()
        (report,) = reports(session, [one])
        assert {number.step for number in report.numbers} == {0.0}
        assert report.to_json()["method"] == "bayes"
        one.progress = {**one.progress, "wins": 1, "point": [0.0, 0.0]}
        assert "came out" in rebuild(session, one, write=True).differences[0]
        assert one.progress == other.progress
        with pytest.raises(Refusal, match="10 numbers and 100 batches at most"):
            tunings.extend(session, one, 2 * 4 * 101, arena.now, OWNER)
    with pytest.raises(Refusal, match="tune fewer, make batches larger, or take spsa"):
        arena.tune(method=Method.BAYES, games=1000, batch=1)


def test_what_bayesian_optimisation_needs_is_said(
    arena: TuningSimulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line, before anything is played."""
    monkeypatch.setitem(sys.modules, "bayes_opt", None)
    with pytest.raises(Refusal, match="whoever runs the arena installs 'game-bot-arena"):
        arena.tune(method=Method.BAYES)


def _made(number: int) -> sa.Select[Any]:
    """What was played: which match, from where, by which dice, and who was told what."""
    query = sa.select(Match.round, Match.leg, Match.opening, Match.seed, Match.chosen)
    query = query.where(Match.competition_id == number, Match.status == JobStatus.FIXED)
    return query.order_by(Match.round, Match.leg)


@pytest.mark.long
def test_what_came_out_is_tested(database: Database) -> None:
    """Against the start, with what else was chosen, by whoever made the tuning."""
    arena = TuningSimulation(database, CALM, "clobber", size="4x4")
    number = arena.tune("width", "aim=-1:-10:10:3:0.2", options="style=fast")
    arena.play(number)
    with arena.database.begin() as session:
        tuning = tunings.find(session, number)
        assert (tuning.games, tuning.reason) == (24, "")
        test = session.get_one(StrengthTest, tuning.proof_id)
        best, start = entrants_of(session, test)
        stands = standing_of(tuning)
        aim, width = stands.chosen["aim"], stands.chosen["width"]
        assert best.options == f"aim={aim},style=fast,width={width}"
        assert start.options == "aim=-1,style=fast,width=0.5"
        assert (test.elo0, test.elo1, test.max_games) == (0, 5, 20_000)
        assert (test.creator_id, test.seed != tuning.seed) == (OWNER.id, True)
        told = session.scalars(sa.select(Match.chosen).where(Match.competition_id == number)).all()
        assert {one["style"] for match in told for one in match or ()} == {"fast"}
        tunings.extend(session, tuning, 32, arena.now, OWNER)
        assert (test.verdict, tuning.proof_id) == (TestVerdict.STOPPED, None)
        assert standing_of(tuning).settings.gains(23)[0] == stands.settings.gains(23)[0]
    arena.play(number)
    with arena.database.begin() as session:
        tuning = tunings.find(session, number)
        assert (standing_of(tuning).games, tuning.proof_id) != (24, None)
        assert standing_of(tuning) == replayed(session, tuning)


def test_it_stops_and_goes_on(arena: TuningSimulation) -> None:
    """It goes on from where it was; what could not be played is played then."""
    number = arena.tune()
    arena.play(number, 1)
    with arena.database.begin() as session:
        tuning = tunings.find(session, number)
        tunings.end(session, tuning, "by somebody", arena.now)
        played = session.scalars(
            sa.select(Match.id).where(Match.competition_id == number, Match.round == 1)
        ).first()
        assert played is not None
        with pytest.raises(Refusal, match=r"is of batch 1 of tuning-\d+, and later ones"):
            verdicts.void(session, ORGANISER, played, "why", now=arena.now)
    arena.run(60)
    with arena.database.begin() as session:
        tuning = tunings.find(session, number)
        made = tuning.matches_made
        tunings.go_on(session, tuning, OWNER)
        with pytest.raises(Refusal, match="is running"):
            tunings.go_on(session, tuning, OWNER)
    arena.run(2)
    with arena.database.begin() as session:
        open_ = sa.select(Match).where(
            Match.competition_id == number,
            Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED, JobStatus.FIXED]),
            Match.round > 1,
        )
        assert session.scalars(open_).first() is not None or made
    arena.play(number)
    with arena.database.begin() as session:
        tuning = tunings.find(session, number)
        assert standing_of(tuning) == replayed(session, tuning)
        assert standing_of(tuning).is_over
        with pytest.raises(Refusal, match="is over: extend it"):
            tunings.go_on(session, tuning, OWNER)
        with pytest.raises(Refusal, match="may have 24 games already"):
            tunings.extend(session, tuning, 24, arena.now, OWNER)


def test_one_that_can_not_be_played_ends(arena: TuningSimulation) -> None:
    """And is played after all once somebody lets it go on."""
    number = arena.tune()
    arena.villainy = replace(CALM, job_void=1.0)
    arena.play(number)
    with arena.database.begin() as session:
        tuning = tunings.find(session, number)
        assert "of its matches could not be played" in tuning.reason
        tunings.go_on(session, tuning, OWNER)
    arena.villainy = CALM
    arena.run(1)
    arena.play(number, 1)
    with arena.database.begin() as session:
        assert standing_of(tunings.find(session, number)).matches >= 4


def test_three_seats(sqlite_database: Database) -> None:
    """Every share of the seats is played, each side told its own values in all of its seats."""
    arena = TuningSimulation(sqlite_database, CALM, "siege")
    number = arena.tune(games=6, batch=1)
    arena.play(number)
    with arena.database.begin() as session:
        tuning = tunings.find(session, number)
        stands = standing_of(tuning)
        assert (stands.games, stands.matches) == (6, 1)
        assert stands.wins + stands.draws + stands.losses == 6
        assert stands == replayed(session, tuning)


def test_four_seats(sqlite_database: Database) -> None:
    """As many games as there are ways of sharing them two and two."""
    arena = TuningSimulation(sqlite_database, CALM, "blokus")
    number = arena.tune(games=7, batch=1)
    with arena.database.begin() as session:
        tuning = tunings.find(session, number)
        assert tuning.max_games == 12
        match = next(new_matches(session, arena.now, only=tuning.name))
        session.flush()
        read_places(session, [match])
        spec = spec_of(match)
        assert (spec.games, len(spec.chosen)) == (6, 2)
        assert {tuple(sorted(spec.seating(game))) for game in range(6)} == {(0, 0, 1, 1)}


@pytest.mark.parametrize(
    ("words", "changes", "said"),
    [
        (("depth",), {}, "bot-0 v1 has no option depth: it has aim, style, width"),
        (("style",), {}, "style is no number"),
        (("aim", "aim"), {}, "an option is named twice"),
        (("aim=0:-20:10",), {}, "those that the bot declares (aim int -10 10 -1)"),
        (("aim=0",), {}, "write NAME=START:LEAST:MOST"),
        (("aim=a:b:c",), {}, "a number can't be read"),
        (("aim=nan:-1:1",), {}, "no finite number"),
        (("aim",), {"options": "aim=3"}, "aim is to be tuned, and can't be chosen besides"),
        (("aim",), {"options": ",".join(f"o{n:030}={'x' * 166}" for n in range(10))}, "fewer"),
        (("aim",), {"games": 300_000}, "a tuning has 1 to 200000 games"),
        (("aim",), {"batch": 0}, "batches of 1 to 1024 matches"),
        (("aim",), {"weight": 11.0}, "a weight is above 0 and 10 at most"),
        (("aim",), {"proof": StrengthTerms(5, 0, max_games=9999)}, "elo0 must be less than elo1"),
        (("aim",), {"openings": "nobody"}, "nobody"),
    ],
)
def test_what_is_refused(
    arena: TuningSimulation, words: tuple[str, ...], changes: dict[str, Any], said: str
) -> None:
    """Before anything is made, in a line that says why."""
    with pytest.raises((Refusal, ValueError)) as caught:
        arena.tune(*words, **changes)
    assert said in str(caught.value)
    with arena.database.read() as session:
        assert session.scalars(sa.select(BotTuning)).all() == []


def test_puzzles_are_refused(sqlite_database: Database) -> None:
    with pytest.raises(Refusal, match="is played alone: nobody is beaten in it"):
        TuningSimulation(sqlite_database, CALM, "puzzle").tune()


def test_a_person_has_so_many_at_a_time(arena: TuningSimulation) -> None:
    for _ in range(RUNNING_ALLOWED):
        arena.tune()
    with pytest.raises(Refusal, match="5 tunings of yours are running"):
        arena.tune()
    arena.tune(by=ORGANISER)
