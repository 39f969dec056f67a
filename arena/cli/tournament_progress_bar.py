"""How far a tournament is, for whoever waits for it."""

from __future__ import annotations

import time as wall
from collections.abc import Callable, Mapping
from typing import Any

from arena.cli.client import ServerFault
from arena.cli.progress_bar import ProgressBar
from arena.models import SIGNING_UP, JobStatus
from engine.plurals import counted
from engine.translation import gettext

LOOK_SECONDS = 0.5


class TournamentProgressBar:
    """Looks at a tournament now and then, and tells a bar how far it is.

    Args:
        look: gives what stands in it, as the API has it.
    """

    def __init__(self, look: Callable[[], Mapping[str, Any]], bar: ProgressBar) -> None:
        self._look, self._bar = look, bar
        self._due = 0.0
        self._over = False

    def follow(self) -> None:
        """Waits until it is over, with a server that is away in between, too.

        Raises:
            ServerFault: the server was not there at first.
        """
        over, away = self.is_over(), ""
        while not over:
            wall.sleep(LOOK_SECONDS)
            try:
                over, away = self.is_over(), ""
            except ServerFault as fault:
                # It goes on there, whatever hinders us from hearing of it.
                if fault.message != away:
                    away = fault.message
                    self._bar.say(gettext("%(problem)s; asking again", problem=away))

    def is_over(self) -> bool:
        """Whether all is played, or nothing more can be for now; looked up now and then."""
        now = wall.monotonic()
        if self._over or now < self._due:
            return self._over
        found = self._look()
        self._tell(found)
        goes_on = "open", SIGNING_UP
        self._over = found["state"] not in goes_on or found["held_up"]
        # The tables of a large field take a while, and whoever plays needs the time more.
        self._due = now + max(LOOK_SECONDS, 20 * (wall.monotonic() - now))
        return self._over

    def _tell(self, found: Mapping[str, Any]) -> None:
        leader = next(iter(found["standings"]), None)
        words = found["title"]
        if leader is not None and leader["points"]:
            words = gettext(
                "%(tournament)s: %(bot)s leads with %(points)s",
                tournament=words,
                bot=label(leader),
                points=counted(leader["points"], "point"),
            )
        self._bar.show(found["matches"], total=found["planned"], words=words)


def label(standing: Mapping[str, Any]) -> str:
    """An entrant's name: ``greedy v2``."""
    return f"{standing['bot']} v{standing['version']}"


def why_held_up(found: Mapping[str, Any]) -> str:
    """Why nothing more is played until somebody decides, of a tournament that is held up."""
    name = found["tournament"]
    for one in found["standings"]:
        if one["suspended"] is not None:
            return gettext(
                "%(tournament)s is held up: %(bot)s is suspended, %(reason)s",
                tournament=name,
                bot=label(one),
                reason=one["suspended"],
            )
    numbers = (
        str(pair["match"])
        for each in found["rounds"]
        for pair in each["matches"]
        if pair["status"] == JobStatus.SET_ASIDE
    )
    return gettext(
        "%(tournament)s is held up: matches failed too often, through no bot's fault; try them "
        "again with: %(command)s",
        tournament=name,
        command=f"arena match requeue {' '.join(numbers)}",
    )
