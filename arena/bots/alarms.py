"""What somebody should look at who has bots: what of theirs does not play, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, defer, joinedload

from arena.bots.entries import bots_of
from arena.competitions.players import handed_in
from arena.models import (
    BotVersion,
    Check,
    Entrant,
    EntrantState,
    JobStatus,
    StrengthTest,
    TestVerdict,
)
from arena.models.matches import NOT_PASSED


class BotAlarm(NamedTuple):
    """Something about a bot that its owner should look at."""

    bot: str
    words: str
    """A whole sentence."""
    check: int | None = None
    """The check that tells more."""
    test: int | None = None
    """The strength test that does."""
    ladder: str | None = None
    """The ladder on which its page does."""


def alarms_of(session: Session, user_id: int) -> list[BotAlarm]:
    """The alarms of somebody's own and shared bots, by the bots' names.

    Of checks and tests only those of the newest version that was handed in are told: what came
    after it mended the others, or was to.
    """
    mine = bots_of(session, user_id)
    handed = _handed_in(session, [bot.id for bot, _, _ in mine])
    newest = [version.id for version in handed.values()]
    checks = sa.select(Check).where(Check.version_id.in_(newest), Check.enters).order_by(Check.id)
    checks = checks.options(defer(Check.log), joinedload(Check.ladder))
    last: dict[int, dict[int, Check]] = {}
    for check in session.scalars(checks):
        last.setdefault(check.version_id, {})[check.ladder_id] = check
    tests = _failed_tests(session, newest)
    found = []
    for bot, _, entrants in mine:
        for entrant in entrants:
            if entrant.state is EntrantState.SUSPENDED:
                words = (
                    f"{entrant.version.label} is suspended from {entrant.competition.title}: "
                    f"{entrant.reason}."
                )
                found.append(BotAlarm(bot.name, words, ladder=entrant.competition.name))
        version = handed.get(bot.id)
        if version is None:
            continue
        active = {one.competition_id for one in entrants if one.version_id == version.id}
        its = [one for one in last.get(version.id, {}).values() if one.ladder_id not in active]
        found += [alarm for check in its for alarm in _of_check(version, check)]
        for test in tests.get(version.id, ()):
            words = f"{version.label} did not pass test {test}, so it did not enter."
            found.append(BotAlarm(bot.name, words, test=test))
    return found


def _handed_in(session: Session, bots: list[int]) -> dict[int, BotVersion]:
    """The newest versions of bots that were handed in, by the bots' ids."""
    query = sa.select(BotVersion).where(BotVersion.bot_id.in_(bots), handed_in())
    query = query.options(joinedload(BotVersion.bot)).order_by(BotVersion.number)
    return {version.bot_id: version for version in session.scalars(query)}


def _of_check(version: BotVersion, check: Check) -> Iterator[BotAlarm]:
    """What is wrong about a check of a version that is not on its ladder."""
    if check.status is JobStatus.FIXED and not check.passed:
        words = f"{version.label} did not pass its check for {check.ladder.title}"
        words += "." if check.outcome == NOT_PASSED else f": {check.outcome}."
    elif check.status is JobStatus.SET_ASIDE and not check.cancelled:
        words = (
            f"{version.label} could not be checked for {check.ladder.title}, through no fault of "
            "the bot; whoever runs the arena sees it, too."
        )
    elif check.passed and check.problem:
        words = (
            f"{version.label} passed its check, but did not enter {check.ladder.title}: "
            f"{check.problem}."
        )
    else:
        return
    yield BotAlarm(version.bot.name, words, check=check.id)


def _failed_tests(session: Session, versions: list[int]) -> dict[int, list[int]]:
    """The numbers of the tests that versions were to pass before they entered, and did not."""
    query = (
        sa.select(Entrant.version_id, StrengthTest.id)
        .select_from(Entrant)
        .join(StrengthTest, StrengthTest.id == Entrant.competition_id)
        .where(
            Entrant.version_id.in_(versions),
            Entrant.number == 1,
            StrengthTest.ladder_id.is_not(None),
            StrengthTest.verdict.in_([TestVerdict.FAILED, TestVerdict.UNDECIDED]),
        )
        .order_by(StrengthTest.id)
    )
    other = aliased(Entrant)
    there = sa.exists().where(
        other.version_id == Entrant.version_id,
        other.competition_id == StrengthTest.ladder_id,
        ~other.is_tried,
    )
    found: dict[int, list[int]] = {}
    for version, test in session.execute(query.where(~there)):
        found.setdefault(version, []).append(test)
    return found
