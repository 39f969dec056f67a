"""A bot's feed, read as a feed reader reads it."""

from __future__ import annotations

from datetime import datetime
from xml.etree import ElementTree as ET

import pytest
import sqlalchemy as sa

from arena import audit
from arena.audit import ARENA
from arena.bots.lost_bundles import LOST
from arena.bots.suspension import SUSPEND
from arena.competitions import strength_plans, strength_tests
from arena.competitions.players import NamedPlayer
from arena.competitions.strength_deeds import StopTest
from arena.models import (
    Bot,
    BotVersion,
    Check,
    Competition,
    CompetitionState,
    Entrant,
    FormerName,
    JobStatus,
    Ladder,
    Tournament,
)
from tests.arena.doing import do
from tests.arena.web.conftest import Site
from tests.arena.web.signing_in import now

ATOM = "{http://www.w3.org/2005/Atom}"
HOME = "http://localhost/bots/bot-1"


def read(site: Site, name: str) -> ET.Element:
    """The feed of a bot, which has what RFC 4287 (4.1.1, 4.1.2) wants of every feed and entry."""
    answer = site.client.get(f"/bots/{name}/feed.atom")
    assert answer.status_code == 200
    assert answer.mimetype == "application/atom+xml"
    feed = ET.fromstring(answer.text)
    assert feed.tag == f"{ATOM}feed"
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    for one in (feed, *feed.iter(f"{ATOM}entry")):
        assert one.findtext(f"{ATOM}id")
        assert one.findtext(f"{ATOM}title")
        # RFC 3339 wants a zone.
        assert datetime.fromisoformat(one.findtext(f"{ATOM}updated") or "").tzinfo is not None
    ids = [entry.findtext(f"{ATOM}id") for entry in feed.iter(f"{ATOM}entry")]
    assert len(set(ids)) == len(ids)
    return feed


def told(feed: ET.Element) -> dict[str, tuple[str, str]]:
    """The titles of a feed's entries, and of each its summary and its address, in their order."""
    return {
        entry.findtext(f"{ATOM}title") or "": (
            entry.findtext(f"{ATOM}summary") or "",
            entry.find(f"{ATOM}link").get("href") or "",  # type: ignore[union-attr]
        )
        for entry in feed.iter(f"{ATOM}entry")
    }


def test_a_feed_tells_what_happened_to_a_bot(site: Site) -> None:
    """Checks, suspensions, and the ends of competitions; the newest first; of this bot alone."""
    began = now()
    with site.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.name == "ladder-0")).one()
        version, rival = (
            session.scalars(
                sa.select(BotVersion).join(Bot).where(Bot.name == name, BotVersion.number == 1)
            ).one()
            for name in ("bot-1", "bot-2")
        )
        finding = {"clause": "start", "kept": False, "words": "it said <b>\x01</b> & ended"}
        session.add(
            Check(
                version=version,
                ladder=ladder,
                status=JobStatus.FIXED,
                created=began,
                findings=[finding, {"clause": "play", "kept": True, "words": "kept"}],
            )
        )
        session.flush()
        why = "version 1, ladder-0: 6 of its last 10 games ended by its own fault"
        audit.note(session, ARENA, SUSPEND, "bot bot-1", why, now=now())
        audit.note(session, ARENA, SUSPEND, "bot bot-11", "another bot's", now=now())
        audit.note(session, ARENA, "enter", "bot bot-1", "no suspension", now=now())
        plan = strength_plans.StrengthPlan.on(ladder)
        test = strength_tests.create(
            session, plan, NamedPlayer(version), NamedPlayer(rival), now(), ARENA
        )
        number, title = test.id, test.title
    running = told(read(site, "bot-1"))
    assert not [one for one in running if one.startswith(f"Strength test {number} ")]
    with site.database.begin() as session:
        do(session, StopTest(number), now())
    found = told(read(site, "bot-1"))
    assert list(found.items())[:3] == [
        (
            f"Strength test {number} stopped: {title}",
            ("by arena", f"http://localhost/tests/{number}"),
        ),
        ("bot-1 was suspended", (why, HOME)),
        (
            "bot-1 v1 did not pass its check for clobber size=4x3",
            ("broke start (1 of 2)", f"{HOME}#versions"),
        ),
    ]
    with site.database.begin() as session:
        session.scalars(sa.select(Bot).where(Bot.name == "bot-1")).one().open_source = True
    opened = told(read(site, "bot-1"))["bot-1 v1 did not pass its check for clobber size=4x3"]
    assert opened == (
        "broke start (1 of 2); start: it said <b>\\x01</b> & ended",
        f"{HOME}#versions",
    )
    with site.database.begin() as session:
        session.scalars(sa.select(Bot).where(Bot.name == "bot-1")).one().open_source = False
    assert f"Strength test {number} stopped: {title}" in told(read(site, "bot-2"))
    assert "bot-1 was suspended" not in told(read(site, "bot-2"))


def test_a_feed_tells_suspensions_where_its_reader_sees_the_bot(site: Site) -> None:
    """By the name that a ladder had then, and those of all ladders at once, too."""
    notes = {
        "version 1, once: 6 of its last 10 games ended by its own fault": True,
        "version 1, ladder-9: 7 of its last 10 games ended by its own fault": False,
        f"version 1: {LOST}": True,
    }
    with site.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.name == "ladder-0")).one()
        session.add(FormerName(kind="competition", lower_name="once", competition_id=ladder.id))
        for note in notes:
            audit.note(session, ARENA, SUSPEND, "bot bot-1", note, now=now())
    feed = ET.tostring(read(site, "bot-1"), encoding="unicode")
    assert {note: note in feed for note in notes} == notes


@pytest.mark.parametrize(("reason", "end"), [(None, "is over"), ("no room", "was called off")])
def test_a_feed_tells_the_ends_of_tournaments(site: Site, reason: str | None, end: str) -> None:
    """It has each that a version of the bot was in, and no other."""
    with site.database.begin() as session:
        cup = session.scalars(sa.select(Tournament)).first()
        assert cup is not None
        entered = {entrant.version.bot.name for entrant in _entrants(session, cup)}
        others = set(session.scalars(sa.select(Bot.name))) - entered
        state, finished = cup.state, cup.finished
        cup.state, cup.finished, cup.reason = CompetitionState.CLOSED, now(), reason
        title, address = cup.title, f"http://localhost/tournaments/{cup.name}"
    try:
        assert entered
        for name in entered:
            assert told(read(site, name))[f"The tournament {title} {end}"] == (
                reason or "",
                address,
            )
        for name in others:
            assert f"The tournament {title} {end}" not in told(read(site, name))
    finally:
        with site.database.begin() as session:
            cup = session.scalars(sa.select(Tournament)).first()
            assert cup is not None
            cup.state, cup.finished, cup.reason = state, finished, None


def _entrants(session: sa.orm.Session, competition: Competition) -> list[Entrant]:
    query = sa.select(Entrant).where(Entrant.competition_id == competition.id)
    return list(session.scalars(query))


def test_who_has_a_feed_already_is_told_only_that(site: Site) -> None:
    """Feed readers ask each hour, mostly for nothing."""
    first = site.client.get("/bots/bot-1/feed.atom")
    again = site.client.get(
        "/bots/bot-1/feed.atom", headers={"If-None-Match": first.headers["ETag"]}
    )
    assert (again.status_code, again.data) == (304, b"")
    assert site.client.get("/bots/nobody/feed.atom").status_code == 404
    page = site.page("/bots/bot-1")
    assert page.count('href="/bots/bot-1/feed.atom"') == 2


@pytest.mark.parametrize(
    ("page", "path", "words"),
    [
        ("/ladders/ladder-0", "/ladders/ladder-0/feed.atom", " entered "),
        ("/tournaments/cup", "/tournaments/cup/feed.atom", "The tournament cup was made"),
        ("/tests", "/tests/feed.atom", "Strength test "),
    ],
)
def test_competitions_have_feeds(site: Site, page: str, path: str, words: str) -> None:
    """Their pages name them; each has what RFC 4287 wants, and its newest entry first."""
    assert 'type="application/atom+xml"' in site.page(page)
    assert f'href="{path}"' in site.page(page)
    answer = site.client.get(path)
    assert answer.mimetype == "application/atom+xml"
    feed = ET.fromstring(answer.text)
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    entries = list(feed.iter(f"{ATOM}entry"))
    assert words in (entries[0].findtext(f"{ATOM}title") or "")
    moments = [datetime.fromisoformat(one.findtext(f"{ATOM}updated") or "") for one in entries]
    assert moments == sorted(moments, reverse=True)
    assert all(one.tzinfo is not None for one in moments)
    assert (
        site.client.get(path, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    )
