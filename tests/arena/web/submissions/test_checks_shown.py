"""What the pages tell of a bot's check, and what comes of it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from arena.ground.db import Database
from arena.models import Bot, Build, Check, Entrant, JobStatus, Ladder
from tests.arena.simulator import give_sign
from tests.arena.web.signing_in import Browser, now
from tests.arena.web.submissions.conftest import (
    BOT,
    LADDER,
    OTHER_LADDER,
    end_checks,
    states,
    submit,
)


def test_a_check_tells_what_it_finds(ada: Browser, database: Database) -> None:
    """Line by line with what was exchanged; then it renews itself no more."""
    submit(ada, (BOT, "mine.py"))
    before = ada.get_renewed("/checks/1").text
    assert "hx-get" in before
    assert "Nothing yet." in before
    end_checks(database)
    after = ada.get_renewed("/checks/1").text
    assert "hx-get" not in after
    assert "It passed." in after
    assert "&gt; hello" in after
    assert "<script>alert" not in after
    assert f'value="{OTHER_LADDER}"' in after


def test_the_last_version_stays_though_its_check_ended_first(
    ada: Browser, database: Database
) -> None:
    """The older one's check of two may take longer, with two workers."""
    submit(ada, (BOT, "mine.py"))
    submit(ada, (BOT + b"#2", "mine.py"))
    end_checks(database, backwards=True)
    assert states(database) == {f"mine v2 on {LADDER}": "active"}
    told = ada.get("/checks/1").text
    assert "It passed." in told
    assert "</a>: version 2 came after it." in told
    # An older version comes all the same if that is asked for.
    ada.post("/bots/mine/enter", {"version": 1, "ladder": LADDER}, page="/bots/mine")
    end_checks(database)
    assert states(database) == {
        f"mine v1 on {LADDER}": "active",
        f"mine v2 on {LADDER}": "retired",
    }


def test_a_check_tells_what_became_of_the_bot(ada: Browser, database: Database) -> None:
    """That it was entered, that it waits for a test, that it left, that it was not taken."""

    def told(check: int) -> str:
        page = ada.get(f"/checks/{check}").text
        words = page.rpartition('role="status">')[2].partition("</p>")[0]
        return " ".join(re.sub("<[^>]*>", "", words).split())

    submit(ada, (BOT, "mine.py"))
    end_checks(database)
    entered = "It is entered on Clobber 6x7, and has played no game there yet."
    alone = "A match takes 2 active bots, and there is one."
    assert told(1) == f"It passed. {entered} {alone} See the bot."
    with database.begin() as session:
        session.execute(sa.update(Entrant).values(games=7, wins=7, points=7.0))
    played = "It plays on Clobber 6x7, and had 7 games there so far."
    assert told(1) == f"It passed. {played} See the bot."
    submit(ada, (BOT + b"#2", "mine.py"), test_first="y")
    end_checks(database)
    assert "It enters Clobber 6x7 once it passes test " in told(2)
    assert f'value="{LADDER}"' not in ada.get("/checks/2").text, "it is offered no second way there"
    (test,) = set(re.findall(r'href="(/tests/\d+)"', ada.get("/checks/2").text))
    assert "If it passes, the candidate enters its ladder." in ada.get(test).text
    ada.post("/bots/mine/withdraw", page="/bots/mine")
    assert "It was entered on Clobber 6x7, and is retired now." in told(1)
    assert "The candidate did not enter its ladder by it" in ada.get(test).text
    submit(ada, (BOT + b"#3", "mine.py"))
    with database.begin() as session:
        session.execute(sa.update(Ladder).where(Ladder.name == LADDER).values(state="frozen"))
    end_checks(database)
    assert "It is entered on Clobber 6x7, and has played no game there yet." in told(3)
    with database.begin() as session:
        session.execute(sa.update(Ladder).where(Ladder.name == LADDER).values(state="open"))
    submit(ada, (BOT + b"#4", "mine.py"))
    with database.begin() as session:
        session.execute(sa.update(Ladder).where(Ladder.name == LADDER).values(state="closed"))
    end_checks(database)
    words = "the ladder was closed by then, and its table is final"
    assert f"It is not entered on Clobber 6x7: {words}. See the bot." in told(4)


def test_a_check_is_cancelled(ada: Browser, database: Database) -> None:
    """A button on its page does it, once; its version enters nothing and can be handed in again."""
    submit(ada, (BOT, "mine.py"))
    assert "Cancel the check" in ada.get("/checks/1").text
    ada.post("/checks/1/cancel", page="/checks/1")
    told = ada.get_renewed("/checks/1").text
    assert "It was cancelled</strong>: ada cancelled it." in told
    assert "hx-get" not in told
    assert "Cancel the check" not in told
    assert "heck 1 is over" in ada.post("/checks/1/cancel", page="/bots/mine").text
    submit(ada, (BOT, "mine.py"))
    end_checks(database)
    assert states(database) == {f"mine v1 on {LADDER}": "active"}


def test_a_check_tells_that_it_waits_for_builds(ada: Browser, database: Database) -> None:
    """Its owner alone is told: those of an hour count, 900 s of them by default."""
    with database.begin() as session:
        give_sign(session, "w", now(), slots=1)
    submit(ada, (BOT, "mine.py"))
    end_checks(database)
    submit(ada, (BOT + b"#2", "mine.py"))
    for seconds, minutes, waits in ((899, 1, False), (901, 1, True), (901, 61, False)):
        with database.begin() as session:
            ended = now() - timedelta(minutes=minutes)
            session.merge(Build(ticket="ticket", version_id=1, seconds=seconds, ended=ended))
        told = ada.get_renewed("/checks/2").text
        words = "bots of this owner were built for more than 15 minutes within the last hour"
        assert (words in told, "Waiting for a worker." in told) == (waits, not waits)


def test_a_check_is_found_again(ada: Browser, app: Flask, database: Database) -> None:
    """The bot's versions, the account, the feed and commands lead to it, by its outcome."""
    submit(ada, (BOT, "mine.py"))
    end_checks(database, kept=False)
    submit(ada, (BOT, "mine.py"), ladder=OTHER_LADDER)
    first, last = 'href="/checks/1"', 'href="/checks/2"'
    bot, account = ada.get("/bots/mine").text, ada.get("/account").text
    assert first in bot
    assert last in bot
    assert last in account
    assert "mine v1 did not pass its check for Clobber 6x7: broke hello (1 of 1)." in account
    assert 'href="/checks/1">See check 1' in account
    assert 'href="http://localhost/checks/1"' in ada.get("/bots/mine/feed.atom").text
    assert "/checks/" not in Browser(app).get("/bots/mine").text, "it is its owners' to look at"
    (version,) = ada.get("/api/v1/bots/mine/versions").json["items"]
    assert version["check"] == {
        "number": 2, "page": "/checks/2", "ladder": OTHER_LADDER, "outcome": "not begun"
    }  # fmt: skip


def test_a_wait_tells_how_many_wait(ada: Browser, database: Database) -> None:
    """But no place: owners take turns, whoever was there first."""
    with database.begin() as session:
        give_sign(session, "w", now(), slots=1)
    submit(ada, (BOT + b"#0", "bot0.py"))
    assert "It is the only one that waits." in ada.get("/checks/1").text
    for number in range(1, 5):
        submit(ada, (BOT + b"#%d" % number, f"bot{number}.py"))
    for number in (1, 5):
        assert "5 checks wait in all." in ada.get(f"/checks/{number}").text
    with database.begin() as session:
        for number in (1, 2, 3):
            session.get_one(Check, number).status = JobStatus.FIXED
    assert "2 checks wait in all." in ada.get("/checks/5").text


def test_lines_are_shown_of_what_was_tried(ada: Browser, database: Database) -> None:
    """Though there were none; of what was not tried there is nothing more to say."""
    submit(ada, (BOT, "mine.py"))
    end_checks(database)
    with database.begin() as session:
        session.scalars(sa.select(Check)).one().findings = [
            {"kept": True, "clause": "one process", "words": "no other", "lines": []},
            {"kept": True, "clause": "quit", "words": "not tried", "lines": [], "applies": False},
            {"kept": True, "clause": "seed", "words": "it", "lines": ["> go"], "applies": False},
        ]
    found = re.findall(r'<pre class="lines"[^>]*>(.*?)</pre>', ada.get("/checks/1").text)
    assert found == ["no lines were exchanged", "&gt; go"]


SAID = "expected 'ready NAME' after 'hello', got 'api-key-1234'"


@pytest.mark.parametrize("aside", [False, True])
def test_what_a_check_found_is_its_owners_to_read(
    app: Flask, ada: Browser, database: Database, aside: bool
) -> None:
    """Others read which clause was broken: the words may quote what the bot printed.

    As public reports have it of judges whose verdicts told others what a program had written.
    """
    submit(ada, (BOT, "mine.py"))
    end_checks(database)  # of a bot that was only refused others see nothing at all
    submit(ada, (BOT, "mine.py"))
    end_checks(database, kept=False)
    with database.begin() as session:
        check = session.get_one(Check, 2)
        finding = {"kept": False, "clause": "hello", "words": SAID, "lines": [f"< {SAID}"]}
        if aside:
            check.status, check.findings, check.problem = JobStatus.SET_ASIDE, [], SAID
        else:
            check.findings = [finding]
    reader = Browser(app)
    addresses = [
        "/", "/bots/mine", "/bots/mine/feed.atom", f"/ladders/{LADDER}", "/checks/2",
        "/checks/2/live", "/api/v1/bots", "/api/v1/bots/mine", "/api/v1/bots/mine/checks",
        "/api/v1/checks/2",
    ]  # fmt: skip
    for address in addresses:
        assert "api-key" not in reader.get(address).text, address
    assert "api-key" in ada.get("/bots/mine").text
    assert "api-key" in ada.get("/checks/2").text
    if not aside:
        assert "<strong>hello</strong>" in reader.get("/bots/mine").text
        assert "broke hello (1 of 1)<" in reader.get("/bots/mine/feed.atom").text
    with database.begin() as session:
        session.scalars(sa.select(Bot)).one().open_source = True
    assert "api-key" in reader.get("/bots/mine").text


def test_who_plays_already_stays_though_a_later_check_fails(
    ada: Browser, database: Database
) -> None:
    """As where the same files are handed in once more, and the machine is short of memory then."""
    submit(ada, (BOT, "mine.py"))
    end_checks(database)
    submit(ada, (BOT, "mine.py"))
    end_checks(database, kept=False)
    assert "It did not pass</strong>, but stays on " in ada.get("/checks/2").text
    assert states(database) == {f"mine v1 on {LADDER}": "active"}


def test_a_check_that_failed_leads_to_the_next_try(ada: Browser, database: Database) -> None:
    """With the name and the ladder filled in; a refused version enters nowhere."""
    submit(ada, (BOT, "mine.py"))
    end_checks(database, kept=False)
    text = ada.get_renewed("/checks/1").text
    assert "It did not pass</strong>, so it does not enter " in text
    assert f"/submit?bot=mine&amp;ladder={LADDER}" in text
    form = ada.get(f"/submit?bot=mine&ladder={OTHER_LADDER}").text
    assert 'value="mine"' in form
    assert f'<option selected value="{OTHER_LADDER}">' in form
    again = ada.post("/bots/mine/enter", {"version": 1, "ladder": OTHER_LADDER}, page="/bots/mine")
    assert again.status_code == 409
    assert "submit a mended version" in again.text


@pytest.mark.parametrize("wish", [{}, {"test_first": "y"}])
def test_a_test_may_come_first(ada: Browser, database: Database, wish: dict[str, str]) -> None:
    """Its owner's wish is kept with the check."""
    assert submit(ada, (BOT, "mine.py"), **wish).status_code == 302
    with database.read() as session:
        kept = session.scalars(sa.select(Check)).one().test_first
    # What arena submit --test-first asks for if nothing else is said (docs/strength-tests.md).
    asked = {
        "elo0": 0.0, "elo1": 10.0, "alpha": 0.05, "beta": 0.05, "model": "normalized",
        "max_games": 20_000, "games": None, "allow_faults": False, "against": None,
    }  # fmt: skip
    assert kept == (asked if wish else None)
