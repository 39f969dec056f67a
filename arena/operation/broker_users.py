"""The broker's own list of users (ACL), for a Redis or Valkey that workers elsewhere reach.

One user for the arena's own processes, and one for each worker. A worker may take jobs from the
queue ``matches``, put messages on ``results`` (as on ``results.1`` and the like of other shards)
and into the fields of ``signs``, and tell of matches under way whoever listens. It can't read what
waits there, listen, see what others were given, or put jobs on a queue; nor can it do anything to
the broker itself.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from engine.jobs import MATCHES_QUEUE, RESULTS_QUEUE, SIGNS
from engine.live import CHANNELS
from engine.translation import gettext

ARENA_USER = "arena"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,62}", re.ASCII)
"""A worker's, as host names are."""
# Not client|setinfo, which 7.0 does not know: the client only tells its name by it.
CONNECTION = "+auth +hello +ping +select +client|setname"
OF_WORKER = (
    f"resetchannels {CONNECTION} (~{MATCHES_QUEUE}* +brpop) "
    f"(%W~{RESULTS_QUEUE} %W~{RESULTS_QUEUE}.[0-9] %W~{RESULTS_QUEUE}.[0-9][0-9] +lpush) "
    f"(%W~{SIGNS} +hset) (resetchannels &{CHANNELS}* +publish)"
)
OF_ARENA = f"~* resetchannels &{CHANNELS}* +@all -@admin -@dangerous +keys +info +acl|load"
"""Nobody is the broker's administrator; so it may have the file of users read again."""


class BrokerUserError(ValueError):
    """A name that can't be a user's; one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class BrokerUser:
    """A login of the broker, with its password in the clear: to be told once."""

    name: str
    password: str
    rules: str

    @property
    def line(self) -> str:
        """Its line in the broker's file of users, with no more than the password's digest."""
        digest = hashlib.sha256(self.password.encode()).hexdigest()
        return f"user {self.name} reset on #{digest} {self.rules}"


def users_for(workers: Sequence[str], known: Collection[str] = ()) -> list[BrokerUser]:
    """The user of the arena's own processes, then those of workers, with fresh passwords.

    Args:
        workers: what they call themselves (``ARENA_WORKER_NAME``, or their host's name).
        known: users whom the broker has already; the arena is left out if it is one.

    Raises:
        BrokerUserError: a name that won't do, is given twice, or is known.
    """
    for name in workers:
        if not NAME.fullmatch(name):
            raise BrokerUserError(
                gettext("%(name)r is no worker's name: write letters, digits, - .", name=name[:80])
            )
        if f"worker-{name}" in known:
            raise BrokerUserError(
                gettext("worker-%(name)s is in it already: take out its line first", name=name)
            )
    if len(set(workers)) < len(workers):
        raise BrokerUserError(gettext("every worker needs a name of its own"))
    rules = [(f"worker-{name}", OF_WORKER) for name in workers]
    if ARENA_USER not in known:
        rules.insert(0, (ARENA_USER, OF_ARENA))
    return [BrokerUser(name, secrets.token_urlsafe(24), words) for name, words in rules]


def file_of(users: Sequence[BrokerUser]) -> str:
    """The whole of the broker's file of users; whoever has no login can do nothing."""
    return f"user default off\n{lines_of(users)}"


def lines_of(users: Sequence[BrokerUser]) -> str:
    """What a file of users says of these."""
    return "".join(f"{user.line}\n" for user in users)


def users_in(text: str) -> set[str]:
    """The users of such a file.

    Raises:
        BrokerUserError: it is none.
    """
    lines = [line.split() for line in text.splitlines()]
    if not lines or any(line[:1] != ["user"] or len(line) < 2 for line in lines):
        raise BrokerUserError(gettext("it is no file of a broker's users"))
    return {line[1] for line in lines}
