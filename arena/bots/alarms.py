"""What somebody should look at who has bots: what of theirs does not play, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, contains_eager, defer, joinedload

from arena.bots.entries import OwnBot, newest
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
from engine.translation import gettext, translated


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


def alarms_of(session: Session, mine: Sequence[OwnBot]) -> list[BotAlarm]:
    """The alarms of somebody's bots, in their order.

    Of checks and tests only those of the newest version that was handed in are told: what came
    after it mended the others, or was to.
    """
    handed = _handed_in(session, [bot.id for bot, _, _ in mine])
    last_ones = [version.id for version in handed.values()]
    its = Check.version_id.in_(last_ones), Check.enters
    checks = sa.select(Check).where(*its).order_by(Check.id)
    checks = checks.options(defer(Check.log), joinedload(Check.ladder))
    last: dict[int, dict[int, Check]] = {}
    for check in session.scalars(checks):
        last.setdefault(check.version_id, {})[check.ladder_id] = check
    tests = _failed_tests(session, last_ones)
    found = []
    for bot, _, entrants in mine:
        for entrant in entrants:
            if entrant.state is EntrantState.SUSPENDED:
                words = gettext(
                    "%(bot)s is suspended from %(ladder)s: %(reason)s.",
                    bot=entrant.version.label,
                    ladder=entrant.competition.title,
                    reason=entrant.reason,
                )
                found.append(BotAlarm(bot.name, words, ladder=entrant.competition.name))
        version = handed.get(bot.id)
        if version is None:
            continue
        active = {one.competition_id for one in entrants if one.version_id == version.id}
        away = [one for one in last.get(version.id, {}).values() if one.ladder_id not in active]
        found += [alarm for check in away for alarm in _of_check(version, check)]
        for test in tests.get(version.id, ()):
            words = gettext(
                "%(bot)s did not pass test %(number)s, so it did not enter.",
                bot=version.label,
                number=test,
            )
            found.append(BotAlarm(bot.name, words, test=test))
    return found


def _handed_in(session: Session, bots: list[int]) -> dict[int, BotVersion]:
    """The newest versions of bots that were handed in, by the bots' ids."""
    query = newest(BotVersion.bot_id.in_(bots), handed_in())
    versions = session.scalars(query.options(contains_eager(BotVersion.bot)))
    return {version.bot_id: version for version in versions}


def _of_check(version: BotVersion, check: Check) -> Iterator[BotAlarm]:
    """What is wrong about a check of a version that is not on its ladder."""
    its = {"bot": version.label, "ladder": check.ladder.title}
    if check.status is JobStatus.FIXED and not check.passed:
        if check.outcome == translated(NOT_PASSED):
            words = gettext("%(bot)s did not pass its check for %(ladder)s.", **its)
        else:
            words = gettext(
                "%(bot)s did not pass its check for %(ladder)s: %(outcome)s.",
                **its,
                outcome=check.outcome_told,
            )
    elif check.status is JobStatus.SET_ASIDE and not check.cancelled:
        words = gettext(
            "%(bot)s could not be checked for %(ladder)s, through no fault of the bot; whoever "
            "runs the arena sees it, too.",
            **its,
        )
    elif check.passed and check.problem:
        words = gettext(
            "%(bot)s passed its check, but did not enter %(ladder)s: %(problem)s.",
            **its,
            problem=check.problem,
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
