"""Ladders are made and changed by texts, refused in one line each."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.competitions.ladder_settings import SETTINGS, change, create, in_words
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import AuditEntry, CompetitionState, Ladder, OpeningPolicy
from engine.games import GAMES
from tests.arena.simulator import START

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
VARIANT = GAMES["clobber"].variant(size="5x6")
CLOCK = "time is seconds a game, from 0.001 to 86400, and more a move, such as 10+0.1"


def made(session: sa.orm.Session, **chosen: str) -> Ladder:
    return create(session, ARENA, "blitz", VARIANT, chosen, START)


def test_a_ladder_is_open_with_what_is_usual(database: Database) -> None:
    """And with what was chosen; the audit log has both."""
    with database.begin() as session:
        ladder = made(session, time="5+0.05", title="Blitz", openings="empty", memory="512M")
        assert (ladder.state, ladder.variant) == (CompetitionState.OPEN, VARIANT)
        assert (ladder.time_ms, ladder.inc_ms, ladder.move_ms) == (5000, 50, None)
        assert (ladder.title, ladder.openings) == ("Blitz", OpeningPolicy.EMPTY)
        assert (ladder.memory_bytes, ladder.threads) == (512 * 2**20, 16)
        assert (ladder.draw_probability, ladder.weight) == (0.05, 1.0)
        shown = {key: setting.show(ladder) for key, setting in SETTINGS.items()}
        assert shown == {
            "title": "Blitz", "note": "", "visibility": "public", "anonymous": "no",
            "state": "open", "draws": "0.05", "weight": "1",
            "openings": "empty", "time": "5+0.05", "move": "", "charge": "cpu", "home": "no",
            "options": "yes", "approval": "no", "machine": "own",
            "each": "any", "active": "any", "uploads": "any",
            "memory": "512M", "threads": "16", "processes": "1", "bundle": "16M", "log": "64k",
        }  # fmt: skip
        noted = session.scalars(sa.select(AuditEntry)).one()
        assert (noted.action, noted.subject) == ("create ladder", "ladder blitz")
        assert "clobber size=5x6, time=5+0.05" in noted.detail


def test_defaults_are_those_of_a_ladder_without_choices(database: Database) -> None:
    """Each setting reads what it shows."""
    with database.begin() as session:
        ladder = made(session)
        assert ladder.title == "blitz"
        for key, setting in SETTINGS.items():
            if text := setting.show(ladder):
                for column, value in setting.read(text).items():
                    assert getattr(ladder, column) == value, key


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"speed": "fast"}, "a ladder has no 'speed'; it has title, note, visibility, "),
        ({"state": "shut"}, "state=shut can't be: state is one of open, paused, frozen, closed"),
        ({"draws": "0"}, "draws=0 can't be: draws is a number from 0.001 to 0.95"),
        ({"draws": "often"}, "draws=often can't be: draws is a number from 0.001 to 0.95"),
        ({"draws": "nan"}, "draws=nan can't be: draws is a number from 0.001 to 0.95"),
        ({"weight": "-1"}, "weight=-1 can't be: weight is a number from 0.01 to 100"),
        ({"threads": "2.5"}, "threads=2.5 can't be: threads is a number from 1 to 1024"),
        ({"processes": "0"}, "processes=0 can't be: processes is a number from 1 to 64"),
        ({"processes": "65"}, "processes=65 can't be: processes is a number from 1 to 64"),
        ({"memory": "1M"}, "memory=1M can't be: memory is bytes such as 512k or 256M, from 16M"),
        ({"memory": "lots"}, "memory=lots can't be: memory is bytes such as 512k or 256M"),
        ({"log": "1T"}, "log=1T can't be: log is bytes such as 512k or 256M, from 0 to 16M"),
        ({"time": "soon"}, f"time=soon can't be: {CLOCK}"),
        ({"time": "-1+1"}, f"time=-1+1 can't be: {CLOCK}"),
        ({"time": "0+0"}, f"time=0+0 can't be: {CLOCK}"),
        ({"time": "86401"}, f"time=86401 can't be: {CLOCK}"),
        ({"time": "5", "move": "100"}, "choose time or move, not both"),
        ({"move": "0"}, "move=0 can't be: move is a number from 1 to 600000"),
        ({"openings": "book"}, "openings=book can't be: openings is random, empty, or"),
        ({"title": " "}, "the title is empty"),
        (
            {"title": "a\nb"},
            "title=a\nb can't be: title is a line of 120 printable characters at most",
        ),
        ({"title": "x" * 121}, f"title={'x' * 60} can't be: title is a line of 120 printable"),
    ],
)
def test_what_a_ladder_cannot_be(database: Database, chosen: Mapping[str, str], words: str) -> None:
    """Neither at first nor later."""
    with database.begin() as session:
        with pytest.raises(Refusal) as refused:
            made(session, **chosen)
        assert str(refused.value).startswith(words)
        ladder = made(session)
        with pytest.raises(Refusal) as refused:
            change(session, ARENA, ladder, chosen, START)
        assert str(refused.value).startswith(words)
        assert session.scalars(sa.select(AuditEntry.action)).all() == ["create ladder"]


@pytest.mark.parametrize("name", ["", "Blitz", "a b", "x" * 81, "-a", "ä"])
def test_what_is_no_name(database: Database, name: str) -> None:
    """Names stand in addresses."""
    with database.begin() as session, pytest.raises(Refusal, match="is no name for a ladder"):
        create(session, ARENA, name, VARIANT, {}, START)


def test_the_longest_title_and_no_log(database: Database) -> None:
    """Each is just allowed."""
    with database.begin() as session:
        ladder = made(session, title="x" * 120, log="0")
        assert (ladder.title, ladder.log_bytes) == ("x" * 120, 0)


def test_a_name_is_taken_once(database: Database) -> None:
    with database.begin() as session:
        made(session)
        with pytest.raises(Refusal, match="there is a competition blitz already"):
            made(session)


def test_changes_are_told_and_noted(database: Database) -> None:
    """What is different, in words; what was so before is nothing."""
    with database.begin() as session:
        ladder = made(session)
        told = change(session, ARENA, ladder, {"threads": "4", "move": "100"}, START)
        assert told == ["threads: 16 → 4"]
        assert change(session, ARENA, ladder, {"threads": "4"}, START) == []
        told = change(session, ARENA, ladder, {"time": "10+0.1"}, START)
        assert told == ["time: none → 10+0.1"]
        assert (ladder.time_ms, ladder.move_ms) == (10_000, None)
        notes = session.scalars(sa.select(AuditEntry.detail).order_by(AuditEntry.id)).all()
        assert notes[1:] == ["threads: 16 → 4", "time: none → 10+0.1"]


@pytest.mark.parametrize("chosen", [{"move": "200"}, {"openings": "empty"}, {"charge": "wall"}])
def test_what_games_are_played_by_stays(database: Database, chosen: dict[str, str]) -> None:
    """Once there are matches; the rest may change, and a draw probability has all made anew."""
    (key,) = chosen
    with database.begin() as session:
        ladder = made(session)
        assert change(session, ARENA, ladder, chosen, START)
        ladder = create(session, ARENA, "other", VARIANT, {}, START)
        ladder.matches_made = 1
        with pytest.raises(Refusal, match=f"has matches by its {key}, which therefore stays"):
            change(session, ARENA, ladder, chosen, START)
        assert change(session, ARENA, ladder, {"memory": "64M"}, START) == ["memory: 256M → 64M"]
        assert not ladder.rebuild_due
        assert change(session, ARENA, ladder, {"draws": "0.2"}, START) == ["draws: 0.05 → 0.2"]
        assert ladder.rebuild_due


def test_closed_is_for_ever(database: Database) -> None:
    """Only its name for people can change then."""
    with database.begin() as session:
        ladder = made(session)
        for state in ("paused", "frozen", "open", "closed"):
            assert change(session, ARENA, ladder, {"state": state}, START)
        assert ladder.finished == START
        with pytest.raises(Refusal, match="is closed, and its table final: its state stays"):
            change(session, ARENA, ladder, {"state": "open"}, START)
        assert change(session, ARENA, ladder, {"title": "Blitz of 2026"}, START)


def test_who_comes_late_does_not_have_the_workers_to_itself(database: Database) -> None:
    """A new ladder, or one that was paused, begins with the share of who had least."""
    with database.begin() as session:
        first = made(session)
        first.worker_seconds = 500.0
        second = create(session, ARENA, "second", VARIANT, {"weight": "2"}, START)
        assert second.head_start + second.worker_seconds == 1000.0
        change(session, ARENA, second, {"state": "paused"}, START)
        first.worker_seconds = 900.0
        change(session, ARENA, second, {"state": "open"}, START)
        assert second.head_start + second.worker_seconds == 1800.0


@pytest.mark.parametrize(("weight", "had"), [("4", 3600.0), ("0.5", 450.0)])
def test_another_weight_counts_from_now_on(database: Database, weight: str, had: float) -> None:
    """It neither has the workers to itself until it has caught up, nor waits for the others."""
    with database.begin() as session:
        ladder = made(session)
        ladder.worker_seconds, ladder.head_start = 800.0, 100.0
        change(session, ARENA, ladder, {"weight": weight}, START)
        assert ladder.head_start + ladder.worker_seconds == had
        assert had / ladder.weight == 900.0


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("time", "86399.999+0.001"),
        ("time", "60+0"),
        ("draws", "0.12345678"),
        ("weight", "12.345678"),
    ],
)
def test_what_was_chosen_is_shown(database: Database, key: str, text: str) -> None:
    """With every digit: a form that is sent back as it came changes nothing."""
    with database.begin() as session:
        ladder = create(session, ARENA, "ladder", VARIANT, {key: text}, START)
        assert SETTINGS[key].show(ladder) == text
        assert change(session, ARENA, ladder, {key: text}, START) == []


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0"), (1000, "1000"), (1024, "1k"), (3 * 2**29, "1536M")]
)
def test_sizes_in_words(database: Database, size: int, words: str) -> None:
    """The largest unit in which it is whole."""
    assert in_words(size) == words
