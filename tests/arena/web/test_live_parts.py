"""Parts of open pages that browsers ask for again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import event

from arena.audit import ARENA
from arena.competitions import members
from arena.fake.fill import fill
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    Competition,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    MemberRole,
    PlayedGame,
    Visibility,
)
from arena.web import live_parts
from arena.web.app import create_app
from arena.web.live_parts import KeptParts
from tests.arena.recorder.test_rebuild import NOW
from tests.arena.web.signing_in import person, signed_in

POLL = {"HX-Request": "true"}
BOARD = "/ladders/{ladder}/board"


@pytest.fixture
def app(sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """The pages of a ladder on which games were played, where a part is good until it changes."""
    monkeypatch.setattr(live_parts, "GOOD_SECONDS", 1e12)
    fill(sqlite_database, bots=4, ladders=1, games=8, seed=1, now=NOW)
    return create_app(Settings(data=tmp_path, database=sqlite_database.url))


def name_of(database: Database) -> str:
    with database.read() as session:
        return session.scalars(sa.select(Ladder.name)).one()


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """The statements that reach a database meanwhile, but for the beginnings of transactions."""
    told: list[str] = []

    def note(*its: object) -> None:
        told.append(str(its[2]))

    event.listen(database.engine, "before_cursor_execute", note)
    yield told
    event.remove(database.engine, "before_cursor_execute", note)


def begin_a_match(session: sa.orm.Session) -> None:
    match = session.scalars(sa.select(Match).order_by(Match.id)).first()
    assert match is not None
    match.status, match.seq, match.fixed, match.worker = JobStatus.ISSUED, None, None, "w"
    match.ticket, match.lease_ends = "t", NOW


def play_another_game(session: sa.orm.Session) -> None:
    last = session.scalars(sa.select(PlayedGame).order_by(PlayedGame.id.desc())).first()
    assert last is not None
    same = ("match_id", "competition_id", "termination", "plies", "finished", "digest", "record")
    session.add(PlayedGame(number=9, **{name: getattr(last, name) for name in same}))


CHANGES: dict[str, tuple[Callable[[sa.orm.Session], object], set[str]]] = {
    "a rating": (lambda s: s.execute(sa.update(Entrant).values(mu=Entrant.mu + 1)), {BOARD}),
    "who is in it": (
        lambda s: s.execute(
            sa.update(Entrant).where(Entrant.id == 1).values(state=EntrantState.RETIRED)
        ),
        {BOARD},
    ),
    "its state": (
        lambda s: s.execute(sa.update(Competition).values(state=CompetitionState.CLOSED)),
        {BOARD},
    ),
    "an alarm": (lambda s: s.execute(sa.update(Competition).values(alarm="!")), {BOARD}),
    "a match that begins": (begin_a_match, {BOARD, "/now", "/watch"}),
    "a game that was played": (play_another_game, {BOARD, "/now", "/watch"}),
    "nothing": (lambda s: None, set()),
}


@pytest.mark.parametrize(("change", "changed"), CHANGES.values(), ids=list(CHANGES))
def test_what_happens_is_told_at_once(
    app: Flask,
    sqlite_database: Database,
    change: Callable[[sa.orm.Session], object],
    changed: set[str],
) -> None:
    """And who has what holds still is told only that."""
    name, client = name_of(sqlite_database), app.test_client()
    parts = (BOARD, "/now", "/watch")
    before = {one: client.get(one.format(ladder=name)) for one in parts}
    with sqlite_database.begin() as session:
        change(session)
    for one in parts:
        its = {"If-None-Match": before[one].headers["ETag"]}
        after = client.get(one.format(ladder=name), headers=its)
        assert (after.status_code == 200) == (one in changed), one
        assert after.headers["ETag"] == client.get(one.format(ladder=name)).headers["ETag"]
        assert (after.text != "") == (one in changed)


def test_a_part_is_made_once(app: Flask, sqlite_database: Database) -> None:
    """Whoever asks: a stranger, or somebody who is signed in. For a moment strangers' pages are not
    even looked after."""
    address = BOARD.format(ladder=name_of(sqlite_database))
    person(sqlite_database, "mara")
    mara, stranger = signed_in(app, "mara").client, app.test_client()
    first = stranger.get(address, headers=POLL)
    with statements(app.extensions["arena.database"]) as told:
        again = stranger.get(address, headers=POLL)
        same = stranger.get(address, headers=POLL | {"If-None-Match": first.headers["ETag"]})
        assert told == []
        its = mara.get(address, headers=POLL)
        assert not any("FROM game_seat" in one for one in told)
    assert (again.data, same.data, its.data) == (first.data, b"", first.data)
    assert same.status_code == 304
    assert its.headers["ETag"] == first.headers["ETag"]
    assert its.cache_control.no_cache
    assert not its.cache_control.public
    other = stranger.get(address, headers=POLL | {"Accept-Language": "it"})
    assert other.headers["ETag"] != first.headers["ETag"]
    assert stranger.get(address + "?sort=games", headers=POLL).data != first.data


def test_nobody_is_told_what_they_do_not_see(app: Flask, sqlite_database: Database) -> None:
    """A member of a private ladder sees it, and what was made for them is kept for them alone; who
    is no member any more gets nothing of what is kept."""
    address = BOARD.format(ladder=name_of(sqlite_database))
    mara = person(sqlite_database, "mara")
    stranger, other = app.test_client(), app.test_client()
    assert stranger.get(address, headers=POLL).status_code == 200
    with sqlite_database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.visibility = Visibility.PRIVATE
        members.add(session, ARENA, ladder, session.merge(mara), MemberRole.MEMBER, NOW)
    browser = signed_in(app, "mara").client
    hers = browser.get(address, headers=POLL)
    assert hers.status_code == 200
    assert hers.cache_control.private
    known = {"If-None-Match": hers.headers["ETag"]}
    assert browser.get(address, headers=POLL | known).status_code == 304
    assert other.get(address, headers=known).status_code == 404


def test_of_several_who_ask_at_once_one_makes_it() -> None:
    """The others wait, and get the same; what can't be made is tried by the next who asks."""
    kept, made = KeptParts(), []

    def make() -> str:
        made.append(threading.get_ident())
        begun.wait(0.05)
        if len(made) == 1:
            raise ValueError
        return "a part"

    def ask() -> None:
        try:
            part = kept.part("tag", make)
        except ValueError:
            return
        assert part is not None
        got.append(part.text)

    begun, got = threading.Event(), list[bytes | None]()
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), got) == (2, [b"a part"] * 7)


def test_what_was_asked_for_long_ago_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a process keeps only so many."""
    monkeypatch.setattr(live_parts, "MOST", 3)
    kept = KeptParts()
    for tag in ("a", "b", "c", "a", "d"):
        kept.part(tag, lambda: "text")
        kept.tell(("host", tag, "en"), tag)
    assert [kept.part(tag) is not None for tag in "abcd"] == [True, False, True, True]
    assert [kept.told(("host", tag, "en")) for tag in "abcd"] == ["a", None, "c", "d"]
