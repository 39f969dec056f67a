"""What must hold after a crowd: all comes to its end, and all that is kept fits together."""

from __future__ import annotations

import json
import re
import time
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.competitions import ladder_settings
from arena.competitions.strength_deeds import StopTest
from arena.competitions.tournament_deeds import ChangeTournament
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    BotVersion,
    Competition,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Sitting,
    StrengthTest,
    Tournament,
)
from arena.models import Check as BotCheck
from arena.operation.archives import PartReader
from arena.recorder.rebuild import rebuild
from arena.signing import ARENA_MARK
from tests.arena.doing import do
from tests.arena.running import arena
from tests.drills.checks import Check, fixed_once, torn
from tests.drills.drill import PATIENCE_SECONDS, Clock

JOBS: tuple[type[Match | BotCheck | Sitting], ...] = (Match, BotCheck, Sitting)
BAD_WORDS = re.compile(
    r"traceback|deadlock|\berror\b|critical|(resource|deprecation)warning", re.IGNORECASE
)
SHOWN = 5
"""So many of what is wrong in the same way."""


def wind_up(database: Database) -> None:
    """Has everything end that would go on for ever or waits for somebody."""
    now, running = datetime.now(UTC), Competition.state != CompetitionState.CLOSED
    with database.read() as session:
        numbers = session.scalars(sa.select(Competition.id).where(running)).all()
    for number in numbers:
        # Each may have ended meanwhile.
        with suppress(Refusal), database.begin() as session:
            one = session.get_one(Competition, number)
            if isinstance(one, Ladder) and one.state is CompetitionState.OPEN:
                ladder_settings.change(session, ARENA, one, {"state": "paused"}, now)
            elif isinstance(one, Tournament) and one.state is CompetitionState.PAUSED:
                do(session, ChangeTournament(one.name, "open"), now)
            elif isinstance(one, StrengthTest):
                do(session, StopTest(one.id), now)


def left(session: Session) -> list[str]:
    """What is not over yet."""
    found = []
    for kind in JOBS:
        waiting = sa.select(kind.id).where(kind.status.in_([JobStatus.OPEN, JobStatus.ISSUED]))
        found += [f"{kind.__name__} {number}".lower() for number in session.scalars(waiting)]
    for kind_of in (Tournament, StrengthTest):
        running = kind_of.state != CompetitionState.CLOSED
        found += session.scalars(sa.select(kind_of.name).where(running)).all()
    due = sa.select(Competition.name).where(Competition.rebuild_due)
    return found + [f"the rebuild of {name}" for name in session.scalars(due)]


def ended(database: Database, say: Clock) -> Check:
    """Waits until all is over."""
    deadline = say.seconds + PATIENCE_SECONDS
    while True:
        wind_up(database)
        with database.read() as session:
            waits = left(session)
        if not waits or say.seconds > deadline:
            return none("everything comes to its end", waits)
        say(f"{len(waits)} things go on: {', '.join(waits[:SHOWN])}")
        time.sleep(3)


def looked_at(session: Session, bundles: Path) -> list[Check]:
    """What the database says, when all is over.

    Args:
        bundles: the folder of the bots' files.
    """
    aside = [
        f"{kind.__name__.lower()} {number}: {problem}"
        for kind in JOBS
        for number, problem in session.execute(
            sa.select(kind.id, kind.problem).where(kind.status == JobStatus.SET_ASIDE)
        )
    ]
    alarmed = session.scalars(sa.select(Competition).where(Competition.alarm != "")).all()
    active = Counter(
        session.execute(
            sa.select(Ladder.name, BotVersion.bot_id)
            .join(Entrant, Entrant.competition_id == Ladder.id)
            .join(BotVersion, BotVersion.id == Entrant.version_id)
            .where(Entrant.state == EntrantState.ACTIVE)
        )
    )
    made = sa.select(Match.competition_id, sa.func.count()).group_by(Match.competition_id)
    matches = dict(session.execute(made).all())
    competitions = session.scalars(sa.select(Competition).order_by(Competition.id)).all()
    miscounted = [
        f"{one.name}: {one.matches_made}, and there are {matches.get(one.id, 0)}"
        for one in competitions
        if one.matches_made != matches.get(one.id, 0)
    ]
    digests = session.scalars(sa.select(BotVersion.digest).distinct())
    lost = [digest for digest in digests if not (bundles / digest).is_file()]
    different = [
        f"{one.name}: {line}"
        for one in competitions
        for line in rebuild(session, one, write=False).differences
    ]
    return [
        none("nothing was set aside", aside),
        none("no alarm", [f"{one.name}: {one.alarm}" for one in alarmed]),
        none(
            "one version of a bot plays on a ladder",
            [f"{n} of bot {bot} on {name}" for (name, bot), n in active.items() if n > 1],
        ),
        fixed_once(session),
        none("every match has all its games", [f"match {number}" for number in torn(session)]),
        none("every match was counted when it was made", miscounted),
        none("every bot's files are there", lost),
        none("ratings and counters equal a rebuild", different),
    ]


def restored(data: Path, folder: Path, variables: Mapping[str, str]) -> list[Check]:
    """A backup can be made, and what is restored of it is the same, on SQLite.

    Args:
        data: the arena's data folder.
        folder: where there is room.
        variables: the arena's.
    """
    tars, again = [folder / "whole.tar", folder / "again.tar"], folder / "again"
    elsewhere = {key: value for key, value in variables.items() if key != "ARENA_DATABASE"}
    for words, own in (
        (["backup", str(tars[0]), "--data", str(data)], variables),
        (["restore", str(tars[0]), "--data", str(again)], elsewhere),
        (["backup", str(tars[1]), "--data", str(again)], elsewhere),
    ):
        done = arena(*words, cwd=None, **own)
        if done.returncode:
            return [Check(False, f"arena {words[0]}", _line(done.stderr))]
    return [none("a backup restored is the same", unlike(*tars))]


def unlike(backup: Path, of_restored: Path) -> list[str]:
    """The tables that are not the same in a backup and in one of what was restored of it.

    That is to be another arena beside the first one, and without what people were sending.
    """
    first, second = map(_tables, (backup, of_restored))
    first["sent_file"], first["mark"] = [], [one for one in first["mark"] if not _is_own(one)]
    return [name for name in first | second if first.get(name) != second.get(name)]


def _is_own(mark: bytes) -> bool:
    return bool(json.loads(mark)[0] == ARENA_MARK)


def _tables(file: Path) -> dict[str, list[bytes]]:
    """The rows of each table of a backup, in whatever order the database had them."""
    with ExitStack() as ends:
        parts = PartReader(file, ends)
        found = {
            name: sorted(
                line
                for one in its
                for line in zlib.decompress(parts.open(f"rows/{one.digest}").read()).splitlines()
            )
            for name, its in parts.contents.tables.items()
        }
    assert found["user"], "there are people in an arena"
    return found


def quiet(texts: Mapping[str, str]) -> Check:
    """No process wrote of a fault.

    Args:
        texts: the logs by their names.
    """
    lines = [f"{name}: {line}" for name, text in texts.items() for line in text.splitlines()]
    return none("no log tells of a fault", [line for line in lines if BAD_WORDS.search(line)])


def none(what: str, wrong: Sequence[str]) -> Check:
    """A check that holds if nothing is wrong."""
    more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    return Check(not wrong, what, "; ".join(map(_line, wrong[:SHOWN])) + more or "all fine")


def _line(text: str) -> str:
    """The beginning and the end of a text, on one line."""
    words = " ".join(text.split())
    return words if len(words) < 500 else f"{words[:200]} [...] {words[-280:]}"
