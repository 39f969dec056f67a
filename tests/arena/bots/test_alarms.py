"""What a check came to in words, and what owners are told to look at."""

from __future__ import annotations

import re
from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.bots.alarms import alarms_of
from arena.bots.entries import bots_of
from arena.ground.db import Database
from arena.models import Check, Entrant, EntrantState, JobStatus
from arena.people import accounts
from engine.translation import speaking
from tests.arena.bots.test_entries import NOW, version
from tests.marked import END, MARK, MARKED

UNTRIED = {"kept": True, "clause": "end", "words": "not tried: the bot failed before", "lines": []}


def broken(*clauses: str) -> list[dict[str, Any]]:
    its = {"kept": False, "words": "it said api-key", "lines": []}
    return [{**its, "clause": clause} for clause in clauses]


KEPT = [{"kept": True, "clause": "quit", "words": "it went", "lines": []}]
OUTCOMES: list[tuple[dict[str, Any], str]] = [
    ({"status": JobStatus.OPEN}, "not begun"),
    ({"status": JobStatus.ISSUED}, "under way"),
    ({"status": JobStatus.ISSUED, "findings": broken("move")}, "under way"),
    ({"status": JobStatus.SET_ASIDE}, "could not be checked"),
    ({"status": JobStatus.VOID}, "cancelled"),
    ({"status": JobStatus.OPEN, "cancelled": "ada cancelled it"}, "cancelled"),
    ({"findings": KEPT}, "passed"),
    ({"findings": [*KEPT, {**UNTRIED, "words": "it has no options"}]}, "passed"),
    ({"findings": []}, "did not pass"),
    ({"findings": broken("")}, "did not pass"),
    ({"findings": [*broken("hello"), *[UNTRIED] * 16]}, "stopped at hello, 16 not tried"),
    ({"findings": [*KEPT * 3, *broken("move", "seed")]}, "broke move, seed (2 of 5)"),
    ({"findings": [*broken("move", "seed"), UNTRIED]}, "broke move, seed (1 not tried)"),
]


@pytest.mark.parametrize(("its", "words"), OUTCOMES)
def test_a_check_tells_its_outcome(its: dict[str, Any], words: str) -> None:
    """With no word of the bot's, which is its owners' to show."""
    made = {"status": JobStatus.FIXED, "findings": [], "cancelled": "", "log": "api-key"} | its
    assert Check(**made).outcome == words
    with speaking(MARKED):
        assert Check(**made).outcome == words, "programs read it in English"
        told = re.sub(r"\b(hello|move|seed)\b", rf"{MARK}\1{END}", words)
        assert Check(**made).outcome_told == f"{MARK}{told}{END}"


def test_owners_are_told_what_does_not_play(sqlite_database: Database) -> None:
    """A suspended version, and a newest one that did not enter; what was mended is told no more."""
    with sqlite_database.begin() as session:
        owner, eve = (accounts.add(session, ARENA, name, now=NOW) for name in ("ada", "eve"))
        first = version(session, owner, "mine")
        entrant = session.scalars(sa.select(Entrant)).one()
        ladder = entrant.competition

        def told() -> list[str]:
            session.flush()
            assert alarms_of(session, bots_of(session, eve.id)) == []
            return [alarm.words for alarm in alarms_of(session, bots_of(session, owner.id))]

        assert told() == []
        entrant.state, entrant.reason = EntrantState.SUSPENDED, "it crashed in 9 of 10 games"
        (suspended,) = told()
        assert suspended == (
            f"mine v1 is suspended from {ladder.title}: it crashed in 9 of 10 games."
        )
        check = session.scalars(sa.select(Check).where(Check.version_id == first.id)).one()
        check.findings = [*broken("hello"), UNTRIED]
        assert told() == [suspended], "of one ladder one thing is told"
        entrant.state = EntrantState.RETIRED
        failed = "mine v1 did not pass its check for"
        assert told() == [f"{failed} {ladder.title}: stopped at hello, 1 not tried."]
        check.status = JobStatus.SET_ASIDE
        assert "could not be checked" in told()[0]
        check.status, check.findings, check.problem = JobStatus.FIXED, KEPT, "version 2 came after"
        assert "passed its check, but did not enter" in told()[0]
        # It plays again: what its check said before is over.
        entrant.state = EntrantState.ACTIVE
        assert told() == []
        check.problem, check.findings = "", broken("move")
        entrant.state = EntrantState.RETIRED
        assert len(told()) == 1
        version(session, owner, "mine", "b")
        assert told() == []
