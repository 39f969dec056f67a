"""What is certain of games, judged and shown: on games, bots and ladders, on both databases."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.voids import make_void
from arena.keeping.packing import unpack
from arena.lists.accuracy import Accuracy, accuracies, accuracy_of, marks_of
from arena.models import BotVersion, JudgedSeat, Ladder, ListedSeat, Mark, Match, PlayedGame
from arena.operation import health
from arena.recorder.judging import (
    AGAIN_MARK,
    ASIDE_MARK,
    JUDGED_MARK,
    Judge,
    is_due,
    judged,
    last_judged,
    set_aside,
)
from arena.recorder.judging_process import Judging
from arena.web.truth import mark_words
from engine.game import State
from engine.games import find_variant
from engine.truth import Judgement
from engine.truth_tables import file_name, make
from tests.arena.web.conftest import Site


def brute(state: State, known: dict[State, int]) -> int:
    """1 if White wins a position of Clobber, else -1, by trying every move."""
    if state.to_move is None:
        return 1 if state.scores() == (1.0, 0.0) else -1
    if state not in known:
        values = [brute(state.play(move), known) for move in state.legal_moves()]
        known[state] = max(values) if state.to_move == 0 else min(values)
    return known[state]


@pytest.fixture
def clobber(site: Site) -> tuple[Site, int]:
    """The ladder of Clobber, which is small enough for brute force."""
    with site.database.read() as session:
        return site, session.scalars(sa.select(Ladder.id).where(Ladder.game == "clobber")).one()


def test_accuracy_is_what_brute_force_makes_of_the_records(clobber: tuple[Site, int]) -> None:
    """It is each version's: its moves that had something to lose, and those that lost it."""
    site, ladder = clobber
    known: dict[State, int] = {}
    counted: dict[int, list[int]] = {}
    with site.database.read() as session:
        games = session.scalars(
            sa.select(PlayedGame)
            .where(PlayedGame.competition_id == ladder)
            .options(sa.orm.undefer(PlayedGame.record))
        ).all()
        for game in games:
            if game.match.is_void or not game.match.counts:
                continue
            record = unpack(game.record)
            versions = {seat.seat: seat.entrant.version_id for seat in game.seats}
            state = record.variant.initial(record.seed)
            for number, ply in enumerate(record.plies):
                values = {move: brute(state.play(move), known) for move in state.legal_moves()}
                if len(set(values.values())) > 1 and number >= record.opening:
                    sums = counted.setdefault(versions[ply.seat], [0, 0])
                    sums[0] += 1
                    sums[1] += values[ply.move] == (1, -1)[ply.seat]
                state = state.play(ply.move)
        found = accuracies(session, session.get_one(Ladder, ladder))
        assert len(found) == len(counted) > 2
        for version, sums in counted.items():
            row = session.get_one(BotVersion, version)
            one = accuracy_of(session, row, session.get_one(Ladder, ladder))
            assert one is not None
            assert one in found
            assert [one.judged, one.kept] == sums
            assert one.results == one.judged - one.kept == one.lost / 2
    assert found == sorted(found, key=lambda one: -one.share)


def test_void_games_do_not_count(clobber: tuple[Site, int]) -> None:
    """They don't from the moment at which they are made so."""
    site, ladder = clobber
    with site.database.begin() as session:
        before = _sums(accuracies(session, session.get_one(Ladder, ladder)))
        game = session.scalars(
            sa.select(PlayedGame)
            .join(JudgedSeat)
            .join(PlayedGame.match)
            .where(PlayedGame.competition_id == ladder, Match.requester_id.is_(None))
            .limit(1)
        ).one()
        theirs = session.scalars(
            sa.select(JudgedSeat)
            .join(PlayedGame, PlayedGame.id == JudgedSeat.game_id)
            .where(PlayedGame.match_id == game.match_id)
        ).all()
        lost = [sum(row.judged for row in theirs), sum(row.kept for row in theirs)]
        make_void(session, game.match, "a power cut")
        session.flush()
        after = _sums(accuracies(session, session.get_one(Ladder, ladder)))
        assert [one - other for one, other in zip(before, after, strict=True)] == lost
        assert lost[0] > 0
        session.rollback()


def _sums(found: list[Accuracy]) -> list[int]:
    return [sum(one.judged for one in found), sum(one.kept for one in found)]


def test_all_games_are_judged_once(site: Site) -> None:
    """What is judged is not judged again; and nothing is due then."""
    with site.database.read() as session:
        assert last_judged(session) == session.scalar(sa.select(sa.func.max(PlayedGame.id)))
        assert not is_due(session, Path("none"))
        judging = Judging({}, Path("none"))
        judging.look(session)
        judging.close()  # nothing was started
        session.rollback()
    assert Judge(Path("none")).go_on(site.database) == 0
    with site.database.read() as session:
        seats = set(session.execute(sa.select(JudgedSeat.game_id, JudgedSeat.seat)).all())
        listed = set(session.execute(sa.select(ListedSeat.game_id, ListedSeat.seat)).all())
    assert seats <= listed


def test_a_new_table_judges_old_games_again(clobber: tuple[Site, int], tmp_path: Path) -> None:
    """Those of its variant, once: what nobody could tell before is told then."""
    site, ladder = clobber
    with site.database.begin() as session:
        its = sa.select(PlayedGame.id).where(PlayedGame.competition_id == ladder)
        whole = _rows(session, its)
        others = _rows(session, sa.select(PlayedGame.id).where(PlayedGame.id.not_in(its)))
        session.execute(sa.delete(JudgedSeat).where(JudgedSeat.game_id.in_(its)))
        variant = session.get_one(Ladder, ladder).variant
    tables = tmp_path / "tables"
    make(variant, variant.max_plies, 100_000, tables / file_name(variant), lambda *_: None)
    with site.database.read() as session:
        assert is_due(session, tables)
    judge = Judge(tables, steps=0)
    assert judge.go_on(site.database) == 0
    judge.go_on_again(site.database)
    judge = Judge(tables, steps=0)  # another process goes on where that ended
    while judge.go_on_again(site.database):
        pass
    with site.database.begin() as session:
        assert not is_due(session, tables)
        assert _rows(session, its) == whole != []
        assert _rows(session, sa.select(PlayedGame.id).where(PlayedGame.id.not_in(its))) == others
        (tables / file_name(variant)).touch()  # copied again: it says no more than before
        assert is_due(session, tables)
    assert Judge(tables, steps=0).go_on_again(site.database) == 0
    with site.database.begin() as session:
        assert not is_due(session, tables)
        session.execute(sa.delete(Mark).where(Mark.key == AGAIN_MARK))


def _rows(session: Session, games: sa.Select[tuple[int]]) -> list[tuple[object, ...]]:
    columns = (JudgedSeat.game_id, JudgedSeat.seat, JudgedSeat.judged, JudgedSeat.marks)
    query = sa.select(*columns).where(JudgedSeat.game_id.in_(games))
    return [tuple(row) for row in session.execute(query.order_by(*columns[:2]))]


LOOPS_IN_C = "import sys; print(sys.argv[1] + '\\nnoise', flush=True); sum(iter(int, 1))"
DIES = "import os, sys; print(sys.argv[1], flush=True); os.abort()"


@pytest.mark.parametrize(
    ("program", "words"),
    [(LOOPS_IN_C, "its rules did not end within"), (DIES, "ended twice with it")],
    ids=["loops in C", "dies"],
)
def test_a_game_that_cannot_be_judged_is_set_aside(
    clobber: tuple[Site, int], tmp_path: Path, program: str, words: str
) -> None:
    """The process that stands still at it is killed, and the operator told; all others go on."""
    site, ladder = clobber
    (tmp_path / "new.truth").touch()  # so that something is to be done
    with site.database.read() as session:
        its = sa.select(sa.func.max(PlayedGame.id)).where(PlayedGame.competition_id == ladder)
        game = session.scalars(its).one()
        command = (sys.executable, "-c", program, str(game))
        judging, ends = Judging({}, tmp_path, command, patience_seconds=0.5), time.monotonic() + 60
        while game not in set_aside(session) and time.monotonic() < ends:
            judging.look(session)
            time.sleep(0.02)
        judging.close()
        told = session.get_one(Mark, health.JUDGING_MARK).value
        assert words in told
        assert f"game {game} of" in told
        aside = session.get_one(Mark, ASIDE_MARK).value
        one = sa.select(PlayedGame.id).where(PlayedGame.id == game)
        before, last = _rows(session, one), last_judged(session)
        session.rollback()
    for mark, rows in ((aside, []), ("{}", before)):
        with site.database.begin() as session:
            session.merge(Mark(key=ASIDE_MARK, value=mark))
            session.merge(Mark(key=JUDGED_MARK, value=str(game - 1)))
            session.execute(sa.delete(JudgedSeat).where(JudgedSeat.game_id == game))
        while Judge(Path("none")).go_on(site.database):
            pass
        with site.database.read() as session:
            assert last_judged(session) == last
            assert _rows(session, one) == rows


def test_a_game_shows_what_was_given_away(clobber: tuple[Site, int]) -> None:
    """It stands at the move, with what would have kept it; and how many moves were judged."""
    site, _ = clobber
    with site.database.read() as session:
        row = session.scalars(
            sa.select(JudgedSeat)
            .join(PlayedGame, PlayedGame.id == JudgedSeat.game_id)
            .where(PlayedGame.competition_id == clobber[1], JudgedSeat.kept < JudgedSeat.judged)
            .limit(1)
        ).one()
        found = marks_of(session, row.game_id)
        record = unpack(
            session.scalars(sa.select(PlayedGame.record).where(PlayedGame.id == row.game_id)).one()
        )
    assert found is not None
    truth = record.variant.truth()
    assert truth is not None
    assert list(found.marks) == [one for one in judged(truth, record) if one.lost]
    page = site.page(f"/games/{row.game_id}")
    assert page.count("turned a win into a loss; better: ") == len(found.marks)
    assert f"{found.kept} of the {found.judged} moves of which it is certain" in page
    assert "perfect play" not in site.page("/games/{trio}")


def test_a_bot_and_a_ladder_show_accuracy(clobber: tuple[Site, int]) -> None:
    """And the table can be had as JSON; a game that nobody has solved says so."""
    site, ladder = clobber
    with site.database.read() as session:
        (best, *_) = found = accuracies(session, session.get_one(Ladder, ladder))
        name = session.get_one(Ladder, ladder).name
    told = site.client.get(f"/ladders/{name}/accuracy.json").get_json()
    assert [one["bot"] for one in told] == [one.bot for one in found]
    assert told[0]["accuracy"] == best.share
    board = site.client.get(f"/api/v1/ladders/{name}/accuracy").get_json()
    assert (board["ladder"], board["solved"], board["bots"]) == (name, True, told)
    of_bot = f"/api/v1/bots/{best.bot}/ladders/{name}?version={best.version}"
    assert site.client.get(of_bot).get_json()["accuracy"] == told[0]
    board = site.client.get("/api/v1/ladders/ladder-1/accuracy").get_json()
    assert (board["solved"], board["bots"]) == (False, [])
    page = site.page(f"/ladders/{name}/accuracy")
    assert f"{100 * best.share:.1f} %" in page
    assert f"/ladders/{name}/accuracy" in site.page(f"/ladders/{name}")
    assert "Accuracy</span>" in site.page(f"/bots/{best.bot}?ladder={name}")
    assert "nobody has solved it here" in site.page("/ladders/ladder-1/accuracy")
    assert "accuracy" not in site.page("/ladders/ladder-1")
    assert site.client.get("/ladders/nothing/accuracy").status_code == 404


@pytest.mark.parametrize(
    ("game", "judgement", "words"),
    [
        ("clobber", Judgement(3, 0, 1, -1, ("a1a2",)), "turned a win into a loss; better: a1a2"),
        ("clobber", Judgement(3, 1, -1, 1), "turned a win into a loss"),
        ("oxono", Judgement(3, 1, 0, 1, ("Xd5c5",)), "turned a draw into a loss; better: Xd5c5"),
        ("oxono", Judgement(3, 1, -1, 0), "turned a win into a draw"),
        (
            "mijnlieff",
            Judgement(3, 0, 3, 1, ("a1+", "b1x")),
            "gave away 2 points; better: a1+, b1x",
        ),
        ("mijnlieff", Judgement(3, 1, 1, 2), "gave away 1 point"),
        ("puzzle", Judgement(3, 0, 1, 0), "after this it can't be solved"),
    ],
)
def test_what_is_given_away_is_said(game: str, judgement: Judgement, words: str) -> None:
    """It is said by which seat, whichever it is."""
    assert mark_words(judgement, find_variant(game)) == words
