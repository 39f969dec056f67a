"""Why nothing is played in a competition, in a sentence for whoever looks at it."""

from __future__ import annotations

import json
from datetime import datetime
from itertools import combinations

from sqlalchemy.orm import Session

from arena.competitions.kinds import kind_of
from arena.competitions.platforms import wanted_by
from arena.ground.config import ISOLATION, Settings
from arena.models import Check, Competition, CompetitionState, Mark, Match
from arena.present import maintenance
from arena.schedule import workers
from arena.schedule.jobs import variant_of
from arena.schedule.needs import Needs, met_by, needs_of, needs_of_job, unfit
from engine import jobs
from engine.game import Variant
from engine.games import GAMES
from engine.plurals import capitalized, listed
from engine.shelf import Missing, UnknownGameError
from engine.translation import N_, gettext, ngettext, translated

TAKEN_OFF_MARK = "games that the recorder lacks"
MAINTAINED = N_("The arena is under maintenance, so nothing is begun.")
ELSEWHERE = N_("The workers play elsewhere; its turn will come.")


def why_idle(
    session: Session, competition: Competition, settings: Settings, now: datetime
) -> str | None:
    """Why no match of a competition is being played at this moment; None if it is over."""
    kind = kind_of(competition)
    words = kind.why_idle(session, competition, now, settings.trickle_seconds)
    if words or competition.state is not CompetitionState.OPEN:
        return words
    if maintenance(session) is not None:
        return translated(MAINTAINED)
    if settings.only not in ("", competition.name):
        return gettext("This arena plays %(competition)s alone.", competition=settings.only)
    nobody = why_nobody_works(session, settings.minimum_isolation, now)
    needs = needs_of(competition)
    return (
        nobody
        or why_nobody_can(session, needs, settings, now)
        or why_not_made(competition.variant)
        or why_nobody_keeps(session, needs, settings, now)
        or translated(ELSEWHERE)
    )


def why_it_waits(
    session: Session, job: Match | Check, settings: Settings, now: datetime
) -> str | None:
    """Why no worker is given an open match or check, in a sentence; None if it is only a matter of
    its turn, or of a bot at home."""
    if maintenance(session) is not None:
        return translated(MAINTAINED)
    if isinstance(job, Match):
        variant, versions = variant_of(job), [place.entrant.version for place in job.places]
    else:
        variant, versions = job.ladder.variant, [job.version]
    words = why_not_made(variant)
    if words or job.at_home:
        return words
    needs = needs_of_job(job)
    nobody = why_nobody_works(session, settings.minimum_isolation, now)
    if words := nobody or why_nobody_can(session, needs, settings, now):
        return words
    platforms = {one.runtime.platform for one in versions if one.runtime}
    hands = workers.Hands.of(session, settings.minimum_isolation, now)
    if platforms and not hands.slots_for(needs.words, platforms):
        return gettext(
            "No worker with this game keeps runtimes for %(platforms)s.",
            platforms=listed(sorted(platforms)),
        )
    return None


def why_not_made(variant: Variant) -> str | None:
    """Why a variant can't be made, although its game is here; None if it can."""
    if not isinstance(variant, Missing) or variant.game not in GAMES:
        return None
    rules = GAMES.rules(variant.game)
    return gettext(
        "Matches of %(variant)s wait for other rules than those of %(rules)s: %(reason)s.",
        variant=variant,
        rules=rules,
        reason=variant.reason,
    )


def why_nobody_can(session: Session, needs: Needs, settings: Settings, now: datetime) -> str | None:
    """Why none of the workers can play what has these needs; None if one can."""
    game = needs.game
    try:
        rules = str(GAMES.edition(game))
    except UnknownGameError as error:
        return f"{capitalized(str(error))}."
    if reason := taken_off(session).get(game):
        return gettext(
            "Matches of %(game)s wait until the arena is started again: %(reason)s.",
            game=game,
            reason=reason,
        )
    met = workers.Hands.of(session, settings.minimum_isolation, now).by_needs
    if needs.words in met:
        return None
    if needs.clocked and needs.but_the_clock.words in met:
        return why_nobody_is_fit(session, needs.but_the_clock, settings, now)
    if rules in met:
        return gettext(
            "No worker has boxes for bots of several processes, which take the level %(level)s: "
            "its matches wait for one.",
            level=ISOLATION[0],
        )
    return gettext(
        "No worker has the game %(game)s by the rules of %(rules)s: its matches wait for one.",
        game=game,
        rules=rules,
    )


def why_nobody_is_fit(
    session: Session, needs: Needs, settings: Settings, now: datetime
) -> str | None:
    """Why none of the workers that meet some needs plays by the reference machine's clock; None if
    one does."""
    told = ""
    for worker in workers.living(session, now):
        if worker.slots and workers.may_play(worker, settings.minimum_isolation):
            if needs.words not in met_by(worker):
                continue
            if not (its := unfit(worker)):
                return None
            one = gettext("%(worker)s, since %(reason)s", worker=worker.name, reason=its)
            told = gettext("%(workers)s; nor %(worker)s", workers=told, worker=one) if told else one
    return gettext(
        "No worker plays by the reference machine's clock, and its matches wait for one: not "
        "%(workers)s.",
        workers=told,
    )


def why_nobody_keeps(
    session: Session, needs: Needs, settings: Settings, now: datetime
) -> str | None:
    """Why bots of what has these needs wait for their runtimes; None if none does."""
    wanted = wanted_by(session, needs.game, several=needs.several)
    if not wanted:
        return None
    hands = workers.Hands.of(session, settings.minimum_isolation, now)
    found = [
        ngettext(
            "No worker with this game keeps runtimes for %(platform)s: %(bots)s waits for one.",
            "No worker with this game keeps runtimes for %(platform)s: %(bots)s wait for one.",
            len(bots),
            platform=platform,
            bots=", ".join(bots),
        )
        for platform, bots in wanted.items()
        if not hands.slots_for(needs.words, (platform,))
    ]
    kept = [one for one in wanted if hands.slots_for(needs.words, (one,))]
    found += [
        gettext(
            "No worker with this game keeps runtimes for both %(one)s and %(other)s: %(its)s and "
            "%(others)s do not meet before there is one.",
            one=one,
            other=other,
            its=", ".join(wanted[one]),
            others=", ".join(wanted[other]),
        )
        for one, other in combinations(kept, 2)
        if not hands.slots_for(needs.words, (one, other))
    ]
    return " ".join(found) or None


def note_taken_off(session: Session) -> None:
    """Keeps for other processes which games this one, the recorder, can't make matches of."""
    session.merge(Mark(key=TAKEN_OFF_MARK, value=json.dumps(dict(GAMES.faults))))


def taken_off(session: Session) -> dict[str, str]:
    """What `note_taken_off` kept: games, each with the reason."""
    mark = session.get(Mark, TAKEN_OFF_MARK)
    return json.loads(mark.value) if mark else {}


def why_nobody_works(session: Session, minimum_isolation: str, now: datetime) -> str | None:
    """Why no worker is given jobs; None if one is."""
    living = [worker for worker in workers.living(session, now) if worker.slots]
    if any(workers.may_play(worker, minimum_isolation) for worker in living):
        return None
    if not living:
        return gettext("No worker is there to play.")
    if all(worker.set_aside is not None for worker in living):
        return gettext("Every worker is set aside, since it failed again and again.")
    if all(worker.format != jobs.FORMAT for worker in living):
        return gettext(
            "The workers are of another release than this arena, and do not know its jobs."
        )
    if all(workers.is_too_weak(worker, minimum_isolation) for worker in living):
        levels = ", ".join(sorted({worker.isolation for worker in living}))
        return gettext(
            "The boxes of the workers are too weak (%(levels)s): this arena asks for %(minimum)s "
            "isolation.",
            levels=levels,
            minimum=minimum_isolation,
        )
    return gettext("None of the workers that are there may play.")
