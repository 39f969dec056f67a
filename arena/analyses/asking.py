"""Bots are asked what they would play: a job of its own, in the box, within a quota.

An answer is known by the moves that led to its position, and by nothing else: whoever comes there
by the same moves sees it, whoever asked. So a link to an analysis shows what bots said of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena import audit
from arena.analyses.analysis_deeds import grown
from arena.deeds import By, Deed, Done, asked
from arena.ground import bot_names, locks
from arena.ground.db import LOOKED_UP, is_lately
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    AT_HOME,
    HOUSE,
    Bot,
    BotAnswer,
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Question,
    Scope,
    User,
    VersionStatus,
)
from arena.schedule import leases, workers
from arena.schedule.leases import Fate
from engine import reporting
from engine.analysis import MOST_CHARACTERS, Tree
from engine.asking import Opinion, confirm
from engine.clock import TimeControl
from engine.game import CHANCE, GameError
from engine.protocol import demand_sayable
from engine.record import GameRecord, Ply, RecordError
from engine.referee import RESIGN
from engine.translation import gettext, ngettext

DAY = timedelta(hours=24)
MOST_BOTS = 8
"""The most bots that are asked at once."""
LONGEST_MS, USUAL_MS = 10_000, 1000
"""The longest, and the usual time that a bot may think about a position."""
OFFERED = 12


class Questions(NamedTuple):
    """How many bots are asked."""

    asked: Annotated[int, "How many are asked now"]
    known: Annotated[int, "How many others have answered all of it before"]


@dataclass(frozen=True)
class AskBots(Deed):
    """Ask bots what they would play in a position, or in every position that led to it."""

    scope = Scope.SUBMIT
    address = "POST /questions"
    subject = "analysis"
    answers = Questions
    makes = True

    game: str = asked("The game with its options, as pages have it", most=1000)
    bots: tuple[str, ...] = asked(
        "Who is asked, each as greedy, or greedy:2 for a version", most=MOST_BOTS
    )
    moves: str = asked(
        "The moves that lead to the position; empty for the first", default="", most=MOST_CHARACTERS
    )
    position: str = asked("A position that they begin at", default="", most=1000)
    whole: bool = asked("Whether every position on the way is asked about, too", default=False)
    move_ms: int = asked(
        "How long each may think about a position, in milliseconds",
        default=USUAL_MS,
        least=10,
        most=LONGEST_MS,
    )

    def do(self, session: Session, by: By) -> Done:
        tree = self._tree()
        here = len(tree.nodes)
        try:
            game = tree.game(here, TimeControl(move_ms=self.move_ms))
        except GameError as error:
            raise Refusal(str(error)) from None
        # A seat that left is no ply of a game.
        nodes = [0, *(one.number for one in tree.nodes)]
        key_of = dict(zip(_plies_of(tree), (tree.keys[one] for one in nodes), strict=True))
        to_move = {
            ply: tree.states[one].to_move for ply, one in zip(_plies_of(tree), nodes, strict=True)
        }
        wanted = [ply for ply, seat in to_move.items() if seat not in (None, CHANCE)]
        if not self.whole:
            wanted = [ply for ply in wanted if ply == len(game.plies)]
        if not wanted:
            raise Refusal(gettext("nobody is to move there"))
        if by.actor.id is not None:
            # Two at once would each find room for both.
            locks.find(session, User, by.actor.id, to_change=True)
        made, known = [], 0
        for version, ladder in _asked_bots(session, tree, self.bots, by):
            there = _answered(session, version.id, [key_of[one] for one in wanted], self.move_ms)
            plies = [ply for ply in wanted if key_of[ply] not in there]
            if not plies:
                known += 1
                continue
            made.append(
                Question(
                    user_id=by.actor.id,
                    version=version,
                    ladder=ladder,
                    game=game.to_json(),
                    plies=plies,
                    keys=[key_of[ply] for ply in plies],
                    asked_ms=self.move_ms * len(plies),
                    status=JobStatus.OPEN,
                    created=by.now,
                )
            )
        _demand_quota(session, by, sum(one.asked_ms for one in made))
        session.add_all(made)
        session.flush()
        for one in made:
            what = one.version.label
            audit.note(session, by.actor, "ask bot", f"question {one.id}", what, now=by.now)
        said = gettext("all of this was answered before")
        if made:
            said = ngettext(
                "%(number)s bot is asked when a worker is free",
                "%(number)s bots are asked when a worker is free",
                len(made),
                number=len(made),
            )
        return Done(said, Questions(len(made), known))

    def _tree(self) -> Tree:
        """The line that is asked about."""
        tree = grown(self.game, self.position, self.moves)
        if any(one.parent != one.number - 1 for one in tree.nodes):
            raise Refusal(gettext("give the moves of one line, without variations"))
        return tree


def _plies_of(tree: Tree) -> list[int]:
    """How many plies were played before the beginning of a line, and after each of its nodes.

    Where a seat leaves, what comes before has the same number as what comes after, which counts.
    """
    plies = [0]
    for node in tree.nodes:
        plies.append(plies[-1] + (node.move != RESIGN))
    return plies


def _asked_bots(
    session: Session, tree: Tree, names: Sequence[str], by: By
) -> list[tuple[BotVersion, Ladder]]:
    """The versions that are asked, each with the ladder by whose limits it runs.

    Raises:
        NotThere: there is none of a name that may be asked.
    """
    found = []
    for name in dict.fromkeys(names):
        named = bot_names.read(name)
        which = Bot.named(named.name)
        which &= (
            Entrant.state == EntrantState.ACTIVE
            if named.version is None
            else BotVersion.number == named.version
        )
        entrant = session.scalar(_entrants(tree.variant.game, which).limit(1))
        may = entrant is not None and (
            entrant.state is EntrantState.ACTIVE or by.owns(entrant.version.bot)
        )
        if entrant is None or not may:
            raise NotThere(
                gettext(
                    "no bot %(name)r that may be asked plays %(game)s here",
                    name=name[:60],
                    game=tree.variant.game,
                )
            )
        ladder = session.get(Ladder, entrant.competition_id)
        assert ladder is not None
        found.append((entrant.version, ladder))
    return found


def _entrants(game: str, which: sa.ColumnElement[bool]) -> sa.Select[Entrant]:
    """Those on open ladders of a game whose bots are started by workers, the best first."""
    return (
        sa.select(Entrant)
        .join(Ladder, Ladder.id == Entrant.competition_id)
        .join(Entrant.version)
        .join(BotVersion.bot)
        .join(Bot.owner)
        .where(
            Ladder.game == game,
            Ladder.state != CompetitionState.CLOSED,
            BotVersion.status == VersionStatus.READY,
            BotVersion.language != AT_HOME,
            which,
        )
        .order_by(
            (Entrant.state == EntrantState.ACTIVE).desc(), Entrant.conservative.desc(), Entrant.id
        )
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
        .execution_options(**LOOKED_UP)
    )


def bots_for(session: Session, game: str) -> list[str]:
    """The bots that are offered to be asked about a game: those of the house, then the best."""
    active = Entrant.state == EntrantState.ACTIVE
    house = session.scalars(_entrants(game, active & (User.name == HOUSE)).limit(OFFERED))
    best = session.scalars(_entrants(game, active & (User.name != HOUSE)).limit(OFFERED))
    names = [entrant.version.bot.name for entrant in (*house, *best)]
    return list(dict.fromkeys(names))


def _answered(session: Session, version: int, keys: Collection[str], move_ms: int) -> set[str]:
    """The positions that a version has answered already, with as much time or more."""
    its = sa.select(BotAnswer.key).where(
        BotAnswer.version_id == version, BotAnswer.key.in_(keys), BotAnswer.move_ms >= move_ms
    )
    return set(session.scalars(its))


def asked_lately(session: Session, user: int, now: datetime) -> float:
    """The seconds that bots were asked to think by somebody within the last day."""
    lately = is_lately(Question.created, DAY, now)
    query = sa.select(sa.func.sum(Question.asked_ms)).where(Question.user_id == user, lately)
    return (session.scalar(query) or 0) / 1000


def _demand_quota(session: Session, by: By, asked_ms: int) -> None:
    if by.asked_seconds_a_day is None or by.actor.id is None or not asked_ms:
        return
    left = by.asked_seconds_a_day - asked_lately(session, by.actor.id, by.now)
    if asked_ms / 1000 > left:
        raise Refusal(
            gettext(
                "bots may think %(most)s s for you within 24 hours, of which %(left)s s are left, "
                "and this takes %(seconds)s s: ask fewer bots, about less, or with less time",
                most=f"{by.asked_seconds_a_day:g}",
                left=f"{max(0.0, left):g}",
                seconds=f"{asked_ms / 1000:g}",
            )
        )


def record_answers(session: Session, report: reporting.AnswersReport, now: datetime) -> Fate:
    """Keeps what a bot answered, if this attempt is the one that counts."""
    found = leases.find_issued(session, report.lease)
    if not isinstance(found, Question):
        return Fate.STALE
    game = GameRecord.from_json(found.game)
    try:
        said = tuple(answer for _, answer in report.answers if isinstance(answer, Ply))
        demand_sayable(replace(game, plies=said))
        confirm(game, found.plies, report.answers, is_part=report.is_part)
    except RecordError as error:
        problem = f"its answers are refuted by the rules: {error}"
        name = found.worker or report.worker
        workers.note_falsehood(session, name, workers.label(found), problem, now)
        leases.roll_back(found, f"{report.worker}: {problem}", failed=True)
        return Fate.REFUSED
    key_of = dict(zip(found.plies, found.keys, strict=True))
    # It told some of them while it was asked, or another attempt did.
    its_own = sa.select(BotAnswer.ply).where(BotAnswer.question_id == found.id)
    known = set(session.scalars(its_own))
    for ply, answer in report.answers:
        if ply in known:
            continue
        its = Opinion.of(ply, answer)
        session.add(
            BotAnswer(
                question_id=found.id,
                ply=ply,
                key=key_of[ply],
                version_id=found.version_id,
                seat=its.seat,
                move=its.move,
                fault=its.fault,
                detail=its.detail,
                text=its.text,
                share=its.share,
                depth=its.depth,
                pv=list(its.pv),
                numbers=dict(its.numbers),
                cpu_us=its.cpu_us,
                move_ms=game.time.move_ms or 0,
                answered=now,
            )
        )
    if report.is_part:
        return Fate.NOTED
    workers.note_success(session, found, found.worker or report.worker)
    leases.fix(found)
    return Fate.FIXED


def answers_to(session: Session, keys: Collection[str]) -> list[BotAnswer]:
    """The answers to positions, of each version the one with the most time, the newest of these."""
    query = (
        sa.select(BotAnswer)
        .where(BotAnswer.key.in_(keys))
        .order_by(BotAnswer.move_ms, BotAnswer.question_id)
        .options(joinedload(BotAnswer.version).joinedload(BotVersion.bot))
    )
    best = {(one.key, one.version_id): one for one in session.scalars(query)}
    return sorted(best.values(), key=lambda one: (one.version.bot.name.lower(), one.version_id))


def unanswered(session: Session, user: int, now: datetime) -> list[Question]:
    """What somebody asked within the last day that is not answered yet, or can't be."""
    query = (
        sa.select(Question)
        .where(
            Question.user_id == user,
            Question.status.in_([JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE]),
            is_lately(Question.created, DAY, now),
        )
        .order_by(Question.id.desc())
        .limit(MOST_BOTS)
        .options(joinedload(Question.version).joinedload(BotVersion.bot))
    )
    return list(session.scalars(query))
