"""Parts of open pages that browsers ask for again and again."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import event
from werkzeug.test import TestResponse

from arena import audit
from arena.audit import ARENA
from arena.competitions import members
from arena.fake.fill import fill
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    Bot,
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
from arena.web import live_parts, traces
from arena.web.app import create_app
from arena.web.live_parts import LEAST_SECONDS, KeptParts, LivePart
from arena.web.traces import Looked, Trace, TraceState, TraceStates
from tests.arena.recorder.test_rebuild import NOW
from tests.arena.web.signing_in import person, signed_in

POLL = {"HX-Request": "true"}
BOARD = "/ladders/{ladder}/board"


@pytest.fixture
def app(sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """The pages of a ladder on which games were played, where a part is good until it changes."""
    monkeypatch.setattr(live_parts, "GOOD_SECONDS", 1e12)
    monkeypatch.setattr(live_parts, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(traces, "MOMENT_SECONDS", 0.0)
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
    "a game that was played": (play_another_game, {BOARD, "/now"}),
    "a bot's new name": (
        lambda s: (
            s.execute(sa.update(Bot).values(name=Bot.name + "x")),
            audit.note(s, ARENA, "rename", "bot x", now=NOW),
        ),
        {BOARD, "/now", "/watch"},
    ),
    "a deed that changes nothing here": (
        lambda s: audit.note(s, ARENA, "sign in", "user x", now=NOW),
        set(),
    ),
    "nothing": (lambda s: None, set()),
}


@pytest.mark.long
@pytest.mark.parametrize(("change", "changed"), CHANGES.values(), ids=list(CHANGES))
def test_what_happens_is_told_at_once(
    app: Flask,
    sqlite_database: Database,
    change: Callable[[sa.orm.Session], object],
    changed: set[str],
) -> None:
    """And who has what holds still is told only that, by the application and before it."""
    name, client = name_of(sqlite_database), app.test_client()
    parts = (BOARD, "/now", "/watch")
    before = {one: client.get(one.format(ladder=name), headers=POLL) for one in parts}
    with sqlite_database.begin() as session:
        change(session)
    for one in parts:
        its = {"If-None-Match": before[one].headers["ETag"]}
        for how in (POLL, {}, POLL):
            after = client.get(one.format(ladder=name), headers=its | how)
            assert (after.status_code == 200) == (one in changed), one
            assert (after.text != "") == (one in changed)
            again = client.get(one.format(ladder=name), headers=how)
            assert after.headers["ETag"] == again.headers["ETag"]


def headers_of(answer: TestResponse) -> dict[str, str]:
    return {name: value for name, value in answer.headers if name != "Date"}


def test_what_is_told_again_is_what_the_application_said(
    app: Flask, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is so to the last header, compressed or not; and without a statement, for a moment,
    whoever asks: a stranger, or somebody who is signed in."""
    monkeypatch.setattr(traces, "MOMENT_SECONDS", 600.0)
    address = BOARD.format(ladder=name_of(sqlite_database))
    person(sqlite_database, "mara")
    mara, stranger = signed_in(app, "mara").client, app.test_client()
    gzip = {"Accept-Encoding": "gzip", "Sec-Fetch-Site": "same-origin"}
    for how in ({}, gzip, gzip | {"Sec-Fetch-Site": "cross-site"}, {"Accept-Encoding": "br"}):
        first = stranger.get(address, headers=how)  # no page that asks again: not told before
        for etag in ("", first.headers["ETag"]):
            its = how | ({"If-None-Match": etag} if etag else {})
            said = stranger.get(address, headers=its)
            stranger.get(address, headers=POLL | how)
            with statements(app.extensions["arena.database"]) as told:
                again = stranger.get(address, headers=POLL | its)
                hers = mara.get(address, headers=POLL | its)
                assert told == []
            assert headers_of(again) == headers_of(said)
            assert again.status_code == said.status_code
            assert (again.data, hers.status_code) == (said.data, said.status_code)
        if "gzip" in how.values():
            cross = how["Sec-Fetch-Site"] == "cross-site"
            packed = "Content-Encoding" in mara.get(address, headers=POLL | how).headers
            assert packed == (not cross)
    other = stranger.get(address, headers=POLL | {"Accept-Language": "it"})
    assert other.headers["ETag"] != first.headers["ETag"]
    assert stranger.get(address + "?sort=games", headers=POLL).data != first.data
    assert first.cache_control.no_cache
    assert not first.cache_control.public


def test_what_is_asked_for_again_is_counted(app: Flask, sqlite_database: Database) -> None:
    """It is in /metrics, whether the application was asked or not."""
    address, client = BOARD.format(ladder=name_of(sqlite_database)), app.test_client()
    for _ in range(3):
        etag = client.get(address, headers=POLL).headers["ETag"]
        client.get(address, headers=POLL | {"If-None-Match": etag})
    lines = client.get("/metrics").text.splitlines()
    its = 'arena_page_seconds_count{endpoint="ladders.leaderboard_part",status="%s"} 3.0'
    assert {its % "200", its % "304"} <= set(lines)


def make_private(session: sa.orm.Session) -> None:
    ladder = session.scalars(sa.select(Ladder)).one()
    ladder.visibility = Visibility.PRIVATE


def test_nobody_is_told_what_they_do_not_see(app: Flask, sqlite_database: Database) -> None:
    """A member of a private ladder sees it, and what was made for them is kept for them alone; who
    is no member any more gets nothing of what is kept, nor does who had it before it was private.
    """
    address = BOARD.format(ladder=name_of(sqlite_database))
    mara = person(sqlite_database, "mara")
    stranger, other = app.test_client(), app.test_client()
    assert stranger.get(address, headers=POLL).status_code == 200
    with sqlite_database.begin() as session:
        make_private(session)
        ladder = session.scalars(sa.select(Ladder)).one()
        members.add(session, ARENA, ladder, session.merge(mara), MemberRole.MEMBER, NOW)
    assert stranger.get(address, headers=POLL).status_code == 404
    browser = signed_in(app, "mara").client
    hers = browser.get(address, headers=POLL)
    assert hers.status_code == 200
    assert hers.cache_control.private
    known = {"If-None-Match": hers.headers["ETag"]}
    for _ in range(2):
        assert browser.get(address, headers=POLL | known).status_code == 304
        assert other.get(address, headers=POLL | known).status_code == 404
    with sqlite_database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        members.remove(session, ARENA, ladder, session.merge(mara), NOW)
    assert browser.get(address, headers=POLL | known).status_code == 404


def test_a_public_ladder_takes_no_look_at_who_asks(
    app: Flask, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though something is hidden elsewhere: one part is for all, as strangers see it."""
    monkeypatch.setattr(traces, "MOMENT_SECONDS", 600.0)
    fill(sqlite_database, bots=4, ladders=1, games=8, seed=2, now=NOW)
    with sqlite_database.begin() as session:
        shown, hidden = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()
        hidden.visibility = Visibility.PRIVATE
        address = BOARD.format(ladder=shown.name)
    person(sqlite_database, "mara")
    mara, stranger = signed_in(app, "mara").client, app.test_client()
    first = mara.get(address, headers=POLL)
    assert first.status_code == 200
    assert "Cookie" not in first.vary
    with statements(app.extensions["arena.database"]) as told:
        assert stranger.get(address, headers=POLL).data == first.data
        assert mara.get(address, headers=POLL).data == first.data
    assert told == []


def state(deeds: int, its: int) -> TraceState:
    return TraceState((deeds,), (its,))


TOLD = {
    # its state, seconds since it was made, whether another makes it: whether the old one is told
    "the same": (state(1, 1), 0.5, False, True),
    "the same, but it was long ago": (state(1, 1), 20.0, False, False),
    "something happened, just now": (state(1, 2), 1.9, False, True),
    "something happened": (state(1, 2), 2.1, False, False),
    "something happened, and another sees to it": (state(1, 2), 9.9, True, True),
    "something happened, and another takes too long": (state(1, 2), 10.1, True, False),
    "somebody did something, just now": (state(2, 1), 0.1, False, False),
    "somebody did something, and another sees to it": (state(2, 1), 0.1, True, False),
}


@pytest.mark.parametrize(("now_is", "after", "waits", "told"), TOLD.values(), ids=list(TOLD))
def test_a_part_from_before_is_told_for_so_long(
    now_is: TraceState, after: float, waits: bool, told: bool
) -> None:
    """A part is made at most each two seconds, is good for about ten, and as old at most while
    another makes it; after a deed it is told no more."""
    its = LivePart(0.5)
    made = its.of(state(1, 1), lambda: "a part")
    assert (its.good(now_is, made.at + after, waits=waits) is made) == told


def test_parts_do_not_all_come_due_at_once() -> None:
    """Those of a hundred addresses come due within the five seconds about ten, evenly."""
    kept = KeptParts()
    its = [kept.part((f"/ladders/{number}/board",)).of(state(1, 1), str) for number in range(100)]
    last = sorted(made.until - made.at for made in its)
    assert 7.5 <= last[0] < 8.5 < 9.0 < last[50] < 11.0 < 11.5 < last[-1] <= 12.5


def test_of_several_who_ask_at_once_one_makes_it() -> None:
    """The others wait for the first one, and get the same; what can't be made is tried by the next
    who asks. Where there is one from before, they get that."""
    its, made, entered = LivePart(0.5), list[int](), threading.Event()
    leave = threading.Event()

    def make() -> str:
        made.append(threading.get_ident())
        entered.set()
        leave.wait(60)
        if len(made) == 1:
            raise ValueError
        return "a part"

    def ask() -> None:
        try:
            got.append(its.of(state(1, 1), make).text)
        except ValueError:
            got.append(b"")

    got = list[bytes]()
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert entered.wait(60)
    leave.set()
    for thread in threads:
        thread.join()
    assert (len(made), sorted(got)) == (2, [b"", *[b"a part"] * 7])
    entered.clear()
    leave.clear()
    its.made = replace(its.made, at=its.made.at - LEAST_SECONDS)  # type: ignore[arg-type, union-attr]
    another = threading.Thread(target=lambda: its.of(state(1, 2), make))
    another.start()
    assert entered.wait(60)
    assert its.of(state(1, 2), make).state == state(1, 1)
    leave.set()
    another.join()
    assert its.made.state == state(1, 2)  # type: ignore[union-attr]


def test_what_was_asked_for_long_ago_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a process keeps only so many."""
    monkeypatch.setattr(live_parts, "MOST", 3)
    kept = KeptParts()
    its = {tag: kept.part((tag,)) for tag in ("a", "b", "c", "a", "d")}
    assert [kept.part((tag,)) is its[tag] for tag in "acd"] == [True, True, True]
    assert kept.part(("b",)) is not its["b"]


@pytest.mark.long
def test_addresses_that_somebody_makes_up_keep_no_parts(
    app: Flask, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was answered is remembered of more addresses than parts are kept."""
    monkeypatch.setattr(live_parts, "MOST", 3)
    client, board = app.test_client(), BOARD.format(ladder=name_of(sqlite_database))
    made = {id(one) for one in gc.get_objects() if isinstance(one, LivePart)}
    tags = {client.get(f"{board}?made-up={n}", headers=POLL).headers["ETag"] for n in range(8)}
    gc.collect()
    now = {id(one) for one in gc.get_objects() if isinstance(one, LivePart)}
    assert (len(tags), len(now - made)) == (1, 3)
    for number in (0, 7):
        known = POLL | {"If-None-Match": next(iter(tags))}
        again = client.get(f"{board}?made-up={number}", headers=known)
        assert again.status_code == 304


def test_a_state_is_read_by_one_of_those_who_ask(sqlite_database: Database) -> None:
    """Once a moment; meanwhile others take what was read before, and wait only for the first. What
    was read by a session that is older than that is not taken for it."""
    states, trace = TraceStates(lambda: sqlite_database), Trace(Looked.SITE)
    with statements(sqlite_database) as told:
        found = {states.now(trace) for _ in range(5)}
    assert (len(found), sum("audit_entry" in one for one in told)) == (1, 1)
    later = state(5, 5)
    states.note(trace, later, time.monotonic() - 60)
    assert states.now(trace) != later
    states.note(trace, later, time.monotonic())
    assert states.now(trace) == later
