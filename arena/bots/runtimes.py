"""The runtimes that an arena offers: how one is taken in, found, and no longer offered.

Theory of operation. A runtime is made by a command on the arena's machine (`arena.cli.runtime`),
and its file lies beside the bundles, named by its digest. Whoever hands in a bot that names one
gets that which is offered then, and the version keeps it: so its games can be played again as they
were, whatever is offered later. A file that no version has and nobody can get is removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.deeds import By, Deed, Done, asked
from arena.ground.config import Settings
from arena.ground.refusals import NotThere
from arena.models import BotVersion, Runtime, Scope
from engine.guesses import instead
from engine.translation import gettext, ngettext

LONGEST_NAME = 40


def add(
    session: Session,
    name: str,
    digest: str,
    size: int,
    card: Mapping[str, Any],
    language: str,
    now: datetime,
    actor: Actor,
) -> Runtime:
    """Offers a runtime whose file is kept, in place of what was offered by that name.

    Args:
        card: what it says of itself.
        language: that of the bots it is for.
    """
    before = _offered(session, name)
    if before is not None:
        if before.digest == digest:
            return before
        before.withdrawn = now
        session.flush()
    found = Runtime(
        name=name,
        digest=digest,
        size=size,
        kind=card["kind"],
        interpreter=card["interpreter"],
        language=language,
        platform=card["platform"],
        packages=list(card["packages"]),
        lock=card["lock"],
        start_seconds=card["start_seconds"],
        creator=actor.name[:80],
        created=now,
    )
    session.add(found)
    session.flush()
    detail = f"{found.interpreter}, {len(found.packages)} packages, {digest[:12]}"
    audit.note(session, actor, "add runtime", f"runtime {name}", detail, now=now)
    return found


def _offered(session: Session, name: str) -> Runtime | None:
    return session.scalar(
        sa.select(Runtime).where(Runtime.name == name, Runtime.withdrawn.is_(None))
    )


def offered(session: Session) -> Sequence[Runtime]:
    """All that can be had, by name."""
    query = sa.select(Runtime).where(Runtime.withdrawn.is_(None)).order_by(Runtime.name)
    return session.scalars(query).all()


def find(session: Session, name: str) -> Runtime:
    """The one that is offered by a name.

    Raises:
        NotThere: there is none; it says which there are.
    """
    found = _offered(session, name)
    if found is None:
        known = instead(name[:60], (one.name for one in offered(session)))
        raise NotThere(
            gettext("there is no runtime %(name)r here; %(instead)s", name=name[:60], instead=known)
        )
    return found


def sweep(session: Session, settings: Settings) -> int:
    """Removes the files of runtimes that nobody can get and no version has; says how many.

    What the database does not know is left alone: it may be just being added.
    """
    kept = sa.select(BotVersion.runtime_id).where(BotVersion.runtime_id.is_not(None))
    needed = sa.or_(Runtime.withdrawn.is_(None), Runtime.id.in_(kept))
    wanted = set(session.scalars(sa.select(Runtime.digest).where(needed)))
    count = 0
    for digest in set(session.scalars(sa.select(Runtime.digest))) - wanted:
        file = settings.runtimes / digest
        if file.is_file():
            file.unlink()
            count += 1
    return count


def lost(session: Session, settings: Settings) -> list[tuple[Runtime, int]]:
    """Those whose file is not there, though versions have them, and how many do."""
    counts = sa.select(BotVersion.runtime_id, sa.func.count())
    counts = counts.where(BotVersion.runtime_id.is_not(None)).group_by(BotVersion.runtime_id)
    found = [(session.get_one(Runtime, id_), count) for id_, count in session.execute(counts)]
    return [(one, count) for one, count in found if not (settings.runtimes / one.digest).is_file()]


@dataclass(frozen=True)
class RemoveRuntime(Deed):
    """Offer a runtime no longer: bots that have it keep it, and no other bot gets it."""

    scope = Scope.ORGANISE
    address = "POST /runtimes/<name>/remove"
    command = "runtime remove NAME"
    example = "scientific"
    subject = "runtimes"
    lasting = (
        "The runtime is offered no longer: bots that have it keep it, and no other bot gets it. "
        "This can't be undone; whoever runs the arena can install it again."
    )

    name: str = asked("The runtime's name", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        found = find(session, self.name)
        found.withdrawn = by.now
        audit.note(session, by.actor, "remove runtime", f"runtime {found.name}", now=by.now)
        its = sa.select(sa.func.count()).select_from(BotVersion)
        count = session.scalar(its.where(BotVersion.runtime_id == found.id)) or 0
        if not count:
            return Done(gettext("the runtime %(runtime)s is offered no longer", runtime=found.name))
        return Done(
            ngettext(
                "the runtime %(runtime)s is offered no longer; %(number)s version of a bot keeps "
                "it",
                "the runtime %(runtime)s is offered no longer; %(number)s versions of bots keep it",
                count,
                runtime=found.name,
                number=count,
            )
        )
