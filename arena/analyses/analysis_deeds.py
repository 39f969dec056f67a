"""What can be changed about analyses: one is kept, kept anew with what was added, or removed."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground import locks, texts
from arena.ground.db import count_rows
from arena.ground.refusals import NotAllowed, NotThere, Refusal
from arena.models import Analysis, BotAnswer, PlayedGame, Scope, User
from arena.models.analyses import IS_SWEPT
from engine.analysis import MOST_CHARACTERS, Tree, checked_comments
from engine.game import GameError
from engine.games import find_variant
from engine.translation import gettext

MOST = 200
"""Analyses that one person may keep."""


@dataclass(frozen=True)
class KeepAnalysis(Deed):
    """Keep an analysis under a name; one of one's own of that name is kept as it is now."""

    scope = Scope.SUBMIT
    address = "POST /analyses"
    subject = "analysis"
    answers = Analysis
    makes = True

    name: str = asked("What you call it", label="Keep it as", most=LONGEST_NAME)
    game: str = asked("The game with its options, as pages have it", most=1000)
    moves: str = asked("The tree, as an address has it", default="", most=MOST_CHARACTERS)
    position: str = asked("A position that it begins at", default="", most=1000)
    comments: Mapping[str, str] = asked(
        "Comments by the numbers of the moves that they are on", default={}
    )
    shared: bool = asked("Whether whoever has its address may see it", default=True)
    of_game: int = asked("The number of the game that it begins with; 0 for none", default=0)

    def do(self, session: Session, by: By) -> Done:
        name = texts.typed(self.name, LONGEST_NAME)
        tree = grown(self.game, self.position, self.moves)
        comments = _comments(tree, self.comments)
        if self.of_game and session.get(PlayedGame, self.of_game) is None:
            raise NotThere(gettext("there is no game %(number)s", number=self.of_game))
        if by.actor.id is not None:
            # Two at once would each find room for one more.
            locks.find(session, User, by.actor.id, to_change=True)
        own = Analysis.owner_id == by.actor.id
        found = session.scalar(sa.select(Analysis).where(own, Analysis.name == name))
        if found is None:
            if count_rows(session, Analysis, own) >= MOST:
                raise Refusal(
                    gettext(
                        "you keep %(number)s analyses, as many as one may: remove one first",
                        number=MOST,
                    )
                )
            code = secrets.token_hex(12)
            found = Analysis(code=code, owner_id=by.actor.id, name=name, created=by.now)
            session.add(found)
        found.game, found.position = str(tree.variant), tree.position
        found.moves, found.comments = tree.text(), comments
        found.shared, found.changed = self.shared, by.now
        found.game_number = self.of_game or None
        session.flush()
        # What bots have said of its positions by now is as much a part of it.
        said = sa.update(BotAnswer).where(BotAnswer.key.in_(tree.keys), IS_SWEPT)
        session.execute(said.values(kept=True), execution_options={"synchronize_session": False})
        audit.note(session, by.actor, "keep analysis", f"analysis {found.id}", name, now=by.now)
        return Done(gettext("the analysis is kept as %(name)s", name=name), found)


@dataclass(frozen=True)
class RemoveAnalysis(Deed):
    """Remove an analysis of one's own."""

    scope = Scope.SUBMIT
    address = "POST /analyses/<code>/remove"
    subject = "analysis"
    lasting = (
        "The analysis is gone for good, with its comments, and its address leads nowhere. This "
        "can't be undone."
    )

    code: str = asked("By which its address names it", most=32)

    def do(self, session: Session, by: By) -> Done:
        query = sa.select(Analysis).where(Analysis.code == self.code)
        found = session.scalar(locks.locking(query, Analysis))
        mine = by.at_machine or (found is not None and found.owner_id == by.actor.id)
        if found is None or not (mine or found.shared):
            raise NotThere(gettext("there is no analysis %(code)s", code=self.code[:40]))
        if not mine:
            raise NotAllowed(gettext("the analysis %(name)s is somebody else's", name=found.name))
        what = f"analysis {found.id}"
        audit.note(session, by.actor, "remove analysis", what, found.name, now=by.now)
        session.delete(found)
        return Done(gettext("the analysis %(name)s is removed", name=found.name))


def grown(game: str, position: str, moves: str) -> Tree:
    """The tree that an analysis's words say, every move of it proved.

    Raises:
        NotThere: there is no such game or variant of it.
        Refusal: there is no such position, or a move is not legal.
    """
    name, *options = game.split() or [""]
    try:
        variant = find_variant(name, options)
    except GameError as error:
        raise NotThere(str(error)) from None
    try:
        return Tree.begin(variant, position).reading(moves)
    except GameError as error:
        raise Refusal(str(error)) from None


def _comments(tree: Tree, said: Mapping[str, str]) -> dict[str, str]:
    try:
        numbers = {int(number): text for number, text in said.items()}
        return {str(number): text for number, text in checked_comments(tree, numbers).items()}
    except GameError as error:
        raise Refusal(str(error)) from None
    except ValueError:
        raise Refusal(
            gettext("a comment is on the number of a move, and on nothing else")
        ) from None


def own_analyses(session: Session, owner: int) -> list[Analysis]:
    """Those that somebody keeps, the last changed first."""
    query = sa.select(Analysis).where(Analysis.owner_id == owner)
    return list(session.scalars(query.order_by(Analysis.changed.desc(), Analysis.id.desc())))
