"""Sharing a bot with others: a team's bot is everybody's in it."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import Blueprint, abort, flash, redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as Answer

from arena.bots import sharing
from arena.bots.submissions import SubmissionError
from arena.models import Bot, Scope, User
from arena.people.accounts import PeopleError
from arena.web.identity import needs, signed_in
from arena.web.lookup import find_bot
from arena.web.transactions import changing

co_owners = Blueprint("co_owners", __name__)


@co_owners.post("/bots/<name>/share")
@needs(Scope.SUBMIT)
def share(name: str) -> Answer:
    """Makes somebody a co-owner of one's own bot."""
    with changing(PeopleError, SubmissionError) as session:
        user = share_own(session, find_bot(session, name), request.form.get("user", ""))
    flash(f"{name} is {user.name}'s as well now.")
    return redirect(url_for("pages.bot", name=name))


@co_owners.post("/bots/<name>/unshare")
@needs(Scope.SUBMIT)
def unshare(name: str) -> Answer:
    """Makes somebody a co-owner of one's own bot no more, or leaves a bot."""
    with changing(PeopleError, SubmissionError) as session:
        user = unshare_own(session, find_bot(session, name), request.form.get("user", ""))
    flash(f"{name} is not {user.name}'s any more.")
    return redirect(url_for("pages.bot", name=name))


def share_own(session: Session, bot: Bot, user: str) -> User:
    """Shares a bot, if it is the asker's own.

    Raises:
        PeopleError, SubmissionError: as `arena.bots.sharing.share`.
    """
    who = signed_in()
    if bot.owner_id != who.id:
        abort(403, f"Only {bot.owner.name} can share {bot.name}.")
    return sharing.share(session, who.actor, bot, user.strip(), datetime.now(UTC))


def unshare_own(session: Session, bot: Bot, user: str) -> User:
    """Ends somebody's share in a bot, if the bot or the share is the asker's own.

    Raises:
        PeopleError, SubmissionError: as `arena.bots.sharing.unshare`.
    """
    who = signed_in()
    if bot.owner_id != who.id and user.strip().lower() != who.name.lower():
        abort(403, f"Only {bot.owner.name} can end what others share of {bot.name}.")
    return sharing.unshare(session, who.actor, bot, user.strip(), datetime.now(UTC))
