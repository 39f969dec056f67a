"""The daily check of ratings, which goes on from where the last one ended."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.competitions.ladder_settings import change
from arena.fake.fill import fill
from arena.ground.db import Database
from arena.models import (
    CheckedChapter,
    Checkpoint,
    Entrant,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    PlayedGame,
)
from arena.recorder import checkpoints, fold, rebuild
from arena.recorder.claim import Claims
from arena.recorder.fold import Fold
from arena.recorder.rebuild import Rebuilt, Upkeep, rebuild_in_parts
from arena.schedule import verdicts
from engine.game import Termination
from tests.arena.recorder.test_rebuild import NOW

DAY = timedelta(days=1)


@pytest.fixture
def small_chapters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chapters of four matches, of which three are read again by each check."""
    monkeypatch.setattr(fold, "CHAPTER", 4)
    monkeypatch.setattr(checkpoints, "TURNS", 2)


@pytest.fixture
def played(sqlite_database: Database) -> Database:
    """A ladder of six bots on which thirty matches of two games were played."""
    fill(sqlite_database, bots=6, ladders=1, games=60, seed=1, now=NOW)
    return sqlite_database


def checked(database: Database) -> Rebuilt:
    """What the check of a later day finds."""
    with database.read() as session:
        now = (the_ladder(session).checked or NOW) + 2 * DAY
    upkeep = Upkeep(DAY.total_seconds())
    return next(found for _ in range(100) if (found := upkeep.go_on(database, now)))


def check_some(database: Database, matches: int) -> None:
    """Makes the checkpoint of a moment when so many matches had been played."""
    with database.begin() as session:
        ladder = the_ladder(session)
        one = Fold.of(ladder)
        one.go_on(session, ladder, lambda _: None, matches)
        checkpoints.keep(session, ladder, one)


def the_ladder(session: Session) -> Ladder:
    return session.scalars(sa.select(Ladder)).one()


def folded(database: Database) -> int:
    """How many games a check folds now."""
    told: list[int] = []
    with database.read() as session:
        number = the_ladder(session).id
    parts = rebuild_in_parts(
        database, number, write=False, advance=told.append, from_checkpoint=True
    )
    for _ in parts:
        pass
    return sum(told)


def state(one: Fold) -> dict[str, Any]:
    """All that a fold is, but for what was not kept yet."""
    its = {each.name: getattr(one, each.name) for each in fields(one) if each.name != "kept"}
    ratings = its.pop("book").ratings
    trends = its.pop("trends")
    return its | {"ratings": dict(ratings), "trends": {each: trends[each] for each in ratings}}


def test_a_check_leaves_the_recorder_its_connection(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between all parts of what is read as of one moment; a second one that claims would wait."""
    fill(database, bots=6, ladders=1, games=60, seed=1, now=NOW)
    for name in ("ENTRANTS", "MEETINGS"):
        monkeypatch.setattr(rebuild, name, 1)
    upkeep, parts = Upkeep(DAY.total_seconds()), 0
    with closing(Database(database.url)) as claimed:
        Claims(claimed, patience=0)
        while (found := upkeep.go_on(claimed, NOW)) is None:
            with claimed.begin() as session:
                assert the_ladder(session)
            parts += 1
    assert found.equal
    assert parts > found.entrants


@pytest.mark.long
def test_a_fold_goes_on_from_a_checkpoint_as_if_it_had_never_stopped(
    database: Database, small_chapters: None
) -> None:
    """It is the same to the last bit; beside a void match, and a bot that comes back twice."""
    fill(database, bots=6, ladders=1, games=60, seed=1, now=NOW)
    with database.begin() as session:
        match = session.scalars(sa.select(Match.id).where(Match.seq == 3)).one()
        verdicts.void(session, ARENA, match, "a mistake", now=NOW)
        one = session.scalars(sa.select(Entrant).order_by(Entrant.id)).first()
        assert one is not None
        one.returned_after = [10, 20]
        session.flush()
        rebuild.rebuild(session, the_ladder(session), write=True)
        assert checkpoints.resumed(session, the_ladder(session)) is not None
    with database.begin() as session:
        ladder = the_ladder(session)
        whole, by_steps = Fold.of(ladder), Fold.of(ladder)
        whole.go_on(session, ladder, lambda _: None)
        assert len(whole.games_before) == 1
        assert len(whole.chapters) > 5
        more, kept = True, 0
        while more:
            more = by_steps.go_on(session, ladder, lambda _: None, 1 + kept % 3)
            checkpoints.keep(session, ladder, by_steps)
            kept += 1
            resumed = checkpoints.resumed(session, ladder)
            assert resumed is not None
            by_steps = resumed
        chapters = session.scalars(sa.select(CheckedChapter).order_by(CheckedChapter.after)).all()
        assert [(one.after, one.last, one.matches, one.digest) for one in chapters] == [
            (one.after, one.last, one.matches, one.digest) for one in whole.chapters
        ]
        assert [fold.as_stored(session, ladder, one) for one in whole.chapters] == whole.chapters
        assert state(by_steps) == state(whole) | {"chapters": whole.chapters[-1:]}


def test_a_check_folds_what_is_new(played: Database) -> None:
    """And nothing where nothing was played."""
    check_some(played, 21)
    assert [folded(played) for _ in range(2)] == [18, 0]


def test_a_long_check_that_is_broken_off_goes_on_where_it_was(
    played: Database, monkeypatch: pytest.MonkeyPatch, small_chapters: None
) -> None:
    """Whoever began it; and what comes out is the same."""
    monkeypatch.setattr(rebuild, "KEEP", 8)
    with played.read() as session:
        number = the_ladder(session).id
    parts = rebuild_in_parts(played, number, write=False, matches=2, from_checkpoint=True)
    for _ in range(5):
        next(parts)
    parts.close()
    assert folded(played) == 60 - 16
    assert checked(played).equal


def _swap_ranks(session: Session, match: Match) -> None:
    for seat in match.games[0].seats:
        seat.rank = 3 - seat.rank


def _add_to_mu(session: Session, match: Match) -> None:
    seat = match.games[0].seats[0]
    assert seat.mu_after is not None
    seat.mu_after += 1e-12


def _blame(session: Session, match: Match) -> None:
    match.games[0].seats[1].fault = Termination.CRASH


def _lose_a_match(session: Session, match: Match) -> None:
    match.status, match.seq, match.fixed = JobStatus.OPEN, None, None


def _give_to_another(session: Session, match: Match) -> None:
    seats = match.games[0].seats
    others = sa.select(Entrant.id).where(Entrant.id.not_in([seat.entrant_id for seat in seats]))
    seats[0].entrant_id = session.scalars(others.limit(1)).one()


SPOILT: dict[str, Callable[[Session, Match], None]] = {
    "two ranks are the other way round": _swap_ranks,
    "a rating is a little other": _add_to_mu,
    "there is a fault": _blame,
    "a match is lost": _lose_a_match,
    "a seat is another's": _give_to_another,
}


@pytest.mark.long
@pytest.mark.parametrize("spoil", SPOILT.values(), ids=list(SPOILT))
def test_what_is_old_and_changed_is_found_in_its_turn(
    played: Database, small_chapters: None, spoil: Callable[[Session, Match], None]
) -> None:
    """Within as many checks as there are turns. It is then checked from the beginning, which says
    what differs; made anew from what is stored there is nothing more to find."""
    assert [checked(played).equal for _ in range(3)] == [True] * 3
    with played.begin() as session:
        spoil(session, session.scalars(sa.select(Match).where(Match.seq == 6)).one())
    found = [checked(played) for _ in range(2)]
    assert [one.equal for one in found].count(False) >= 1
    first = next(one for one in found if not one.equal)
    assert "matches 5 to 8 is not as it was" in first.differences[0]
    with played.read() as session:
        assert the_ladder(session).alarm
    again = checked(played)
    assert not again.equal
    assert "came out" in again.differences[0] or "game " in again.differences[0]
    with played.begin() as session:
        the_ladder(session).rebuild_due = True
    assert not checked(played).equal, "which made it anew"
    assert [checked(played).equal for _ in range(3)] == [True] * 3
    with played.read() as session:
        assert not the_ladder(session).alarm


@pytest.mark.long
@pytest.mark.parametrize(
    ("what", "said"),
    [
        (sa.update(Meeting).values(draws=Meeting.draws + 1), "who met whom is not what it was"),
        (sa.delete(Meeting).where(Meeting.first_id == 1), "who met whom is not what it was"),
        (sa.update(Entrant).values(mu=Entrant.mu + 1e-9), "came out"),
        (sa.update(Entrant).values(trend=[1500.0]), "came out"),
        (sa.update(Entrant).values(faults=1), "came out"),
        (sa.update(Ladder).values(games=1), "games 1 is stored"),
    ],
)  # fmt: skip
def test_counters_are_found_at_once(played: Database, what: sa.Update, said: str) -> None:
    """They are compared by every check, though nothing was played since the last one."""
    assert checked(played).equal
    with played.begin() as session:
        session.execute(what)
    assert any(said in one for one in checked(played).differences)
    assert not checked(played).equal, "from the beginning"


def test_what_is_new_and_changed_is_found_at_once(played: Database) -> None:
    """Be it of a single digit."""
    check_some(played, 29)
    with played.begin() as session:
        last = sa.select(PlayedGame.id).join(Match).order_by(Match.seq.desc()).limit(1)
        of_last = GameSeat.game_id == last.scalar_subquery()
        session.execute(
            sa.update(GameSeat).where(of_last).values(sigma_after=GameSeat.sigma_after + 1e-12)
        )
    assert len(checked(played).differences) == 2


def _void(session: Session) -> None:
    match = session.scalars(sa.select(Match.id).where(Match.seq == 2)).one()
    verdicts.void(session, ARENA, match, "a mistake", now=NOW)
    the_ladder(session).rebuild_due = False


def _draws(session: Session) -> None:
    change(session, ARENA, the_ladder(session), {"draws": "0.5"}, NOW)
    the_ladder(session).rebuild_due = False


def _spoil_checkpoint(session: Session) -> None:
    session.execute(sa.update(Checkpoint).values(state=b"?"))


@pytest.mark.parametrize("change_it", [_void, _draws, _spoil_checkpoint])
def test_a_checkpoint_that_does_not_hold_is_none(
    played: Database, change_it: Callable[[Session], None]
) -> None:
    """As history is another, or it can't be read: all is folded, though nobody asked for it."""
    assert checked(played).equal
    assert folded(played) == 0
    with played.begin() as session:
        change_it(session)
    with played.read() as session:
        count = sa.select(sa.func.count()).select_from(PlayedGame).join(Match)
        games = session.scalar(count.where(Match.status == JobStatus.FIXED))
    assert folded(played) == games


def test_what_was_made_anew_has_a_checkpoint(played: Database) -> None:
    """So that the check after it need not go over all of it again; chapters are those of now."""
    assert checked(played).equal
    with played.begin() as session:
        change(session, ARENA, the_ladder(session), {"draws": "0.5"}, NOW)
    assert not checked(played).equal, "it was made anew"
    assert folded(played) == 0
    assert checked(played).equal
