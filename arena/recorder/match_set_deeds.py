"""What can be changed about many matches at once: they are chosen, and then decided on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self
from urllib.parse import urlencode

from sqlalchemy.orm import Session

from arena import audit
from arena.deeds import LONGEST_NOTE, By, Deed, Done, asked
from arena.ground import locks, texts
from arena.ground.db import count_rows
from arena.ground.refusals import NotThere, Refusal
from arena.lists.selection_deeds import LONGEST, read_words
from arena.models import (
    MatchOfSet,
    MatchSet,
    MemberState,
    Scope,
    SetState,
    SetVerdict,
)
from arena.recorder.outlooks import is_small, look_at_once
from arena.schedule.match_sets import BATCH, carry_out, choose, keep
from engine.translation import gettext, ngettext

PLAYED, ASIDE = "played", "set aside"
"""How matches stand that are chosen."""


@dataclass(frozen=True)
class ChooseMatches(Deed):
    """Choose many matches by a filter, to decide about all of them at once.

    Nothing is done to them yet: it is found what the decision would change, and which matches the
    set has is kept. What comes in later is none of it.
    """

    scope = Scope.ORGANISE
    address = "POST /match-sets"
    subject = "games"
    answers = MatchSet
    makes = True

    verdict: str = asked(
        "What is to be decided: void, replay (void, and played again) or requeue (tried again)",
        label="What is to be decided",
        choices=tuple(SetVerdict),
    )
    filter: str = asked(
        "Which matches, by their games: the filter as an address has it behind its question mark, "
        "worker=box-3&since=2026-05-01&bot=greedy:2&ending=timeout",
        label="Filter",
        default="",
        most=LONGEST,
    )
    stand: str = asked(
        "How they stand; those to be tried again are set aside",
        label="How they stand",
        default=PLAYED,
        choices=(PLAYED, ASIDE),
    )
    note: str = asked(
        "Why, for everybody to read; needed unless they are tried again",
        label="Why, for everybody to read",
        default="",
        most=LONGEST_NOTE,
    )

    numbers: ClassVar[Sequence[int] | None] = None
    """Those of the matches, where they are found already."""

    def ahead(self, session: Session, by: By) -> Self:
        found = replace(self)
        object.__setattr__(found, "numbers", self._find(session))
        return found

    def _find(self, session: Session) -> Sequence[int]:
        verdict = SetVerdict(self.verdict)
        if not texts.typed(self.note) and verdict is not SetVerdict.REQUEUE:
            raise Refusal(gettext("say why the matches are to be void"))
        aside = self.stand == ASIDE or verdict is SetVerdict.REQUEUE
        return choose(session, read_words(self.filter), aside=aside)

    def do(self, session: Session, by: By) -> Done:
        verdict, note = SetVerdict(self.verdict), texts.typed(self.note)
        wanted = read_words(self.filter)
        numbers = self._find(session) if self.numbers is None else self.numbers
        made = MatchSet(
            verdict=verdict,
            words=urlencode(wanted.words),
            note=note,
            made=by.now,
            maker_id=by.actor.id,
            maker=by.actor.name,
            state=SetState.LOOKING,
            matches=len(numbers),
            games=0,
        )
        keep(session, made, numbers)
        if is_small(session, made):
            look_at_once(session, made)
        chosen = ngettext(
            "set %(set)s has %(number)s match",
            "set %(set)s has %(number)s matches",
            made.matches,
            set=made.id,
            number=made.matches,
        )
        detail = f"{verdict}, {made.matches} matches: {made.words or 'all'}"
        audit.note(session, by.actor, "choose matches", f"match set {made.id}", detail, now=by.now)
        return Done(chosen, made)


@dataclass(frozen=True)
class DecideMatches(Deed):
    """Do to all matches of a set what it was chosen for.

    A set of many is carried out by the recorder, batch by batch, whatever ends meanwhile.
    """

    scope = Scope.ORGANISE
    address = "POST /match-sets/<int:number>/decide"
    command = "match decide NUMBER"
    example = "5"
    subject = "games"
    answers = MatchSet
    lasting = (
        "What is void counts for nothing any more, its games stay to be seen, and ratings are made "
        "anew without it. This can't be undone."
    )

    number: int = asked("The set's number")

    def do(self, session: Session, by: By) -> Done:
        found = find_set(session, self.number, to_change=True)
        if found.state is SetState.LOOKING:
            raise Refusal(
                gettext(
                    "it is still being found what set %(number)s would change: wait for that",
                    number=found.id,
                )
            )
        if found.state is not SetState.READY:
            raise Refusal(gettext("set %(number)s is decided already", number=found.id))
        its = MatchOfSet.set_id == found.id
        able = count_rows(session, MatchOfSet, its, MatchOfSet.state == MemberState.WAITS)
        if not able:
            raise Refusal(
                gettext("nothing can be done to any match of set %(number)s", number=found.id)
            )
        found.state, found.decided = SetState.DECIDED, by.now
        found.decider, found.origin = by.actor.name, by.actor.origin
        detail = f"{able} of {found.matches} matches: {found.words or 'all'}"
        if found.note:
            detail += f"; {found.note}"
        audit.note(
            session,
            by.actor,
            f"{found.verdict} matches",
            f"match set {found.id}",
            detail,
            now=by.now,
        )
        session.flush()
        if able < BATCH:
            carry_out(session, found.id, by.now)
        return Done(said_of(found, able), found)


def said_of(found: MatchSet, able: int) -> str:
    """What is said of a set that was decided on."""
    its = {"set": found.id, "number": able}
    if found.verdict is SetVerdict.REQUEUE:
        return ngettext(
            "%(number)s match of set %(set)s is tried again",
            "%(number)s matches of set %(set)s are tried again",
            able,
            **its,
        )
    if found.verdict is SetVerdict.REPLAY:
        return ngettext(
            "%(number)s match of set %(set)s is void and played again",
            "%(number)s matches of set %(set)s are void and played again",
            able,
            **its,
        )
    return ngettext(
        "%(number)s match of set %(set)s is void",
        "%(number)s matches of set %(set)s are void",
        able,
        **its,
    )


def find_set(session: Session, number: int, *, to_change: bool = False) -> MatchSet:
    """The set of a number.

    Raises:
        NotThere: there is none, or nobody decided on it for long.
    """
    found = locks.find(session, MatchSet, number, to_change=to_change)
    if found is None:
        raise NotThere(gettext("there is no set of matches %(number)s", number=number))
    return found
