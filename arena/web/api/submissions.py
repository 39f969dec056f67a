"""Operations on submissions: a bot's files are taken in, and their check is watched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import sqlalchemy as sa
from flask import abort, request, url_for
from pydantic import Field
from spectree.model_adapter.pydantic_adapter import BaseFile
from sqlalchemy.orm import Session, joinedload

from arena.bots import entries
from arena.bots.forges import Commit, https_address
from arena.competitions.strength_plans import MAX_GAMES, MOST_GAMES
from arena.models import BotVersion, Check, Scope
from arena.strength.terms import StrengthTerms
from arena.web import submissions, uploads
from arena.web.api.bot_shapes import CheckList, CheckShape
from arena.web.api.paging import Pages, page
from arena.web.api.shapes import Line, Name, Shape
from arena.web.api.specification import operation
from arena.web.lookup import find_ladder, reading
from engine.translation import gettext

TAG = "submissions"


class Submission(Shape):
    """A bot's files, and what is said of them."""

    file: Annotated[
        BaseFile,
        Field(
            description="A program, an archive, or each file of a folder with its path as its name."
        ),
    ]
    ladder: Name
    name: Annotated[
        str | None,
        Field(
            # Told in words and refused in words, by the one who takes the bot in.
            description="The bot's, of 1 to 40 letters, digits, '_', '.' and '-', a letter or "
            "digit first; by default as its file or manifest has it.",
        ),
    ] = None
    team: Annotated[
        Name, Field(description="The team of one's own whose bot it is to be; empty for none.")
    ] = ""
    note: Line = ""
    commit: Annotated[
        str,
        Field(
            # An empty one is what a form sends that leaves it out.
            pattern="^([0-9a-f]{40}|[0-9a-f]{64}|)$",
            description="The commit that the files are of, by its name in full.",
        ),
    ] = ""
    commit_subject: Annotated[Line, Field(description="The first line of its message.")] = ""
    commit_repository: Annotated[
        Line, Field(description="The https address of its repository, without a password.")
    ] = ""
    commit_dirty: Annotated[
        bool, Field(description="Whether files were changed since that commit.")
    ] = False
    test_first: Annotated[
        bool,
        Field(description="Whether it is to pass a strength test before it enters."),
    ] = False
    enters: Annotated[
        bool,
        Field(
            description="Whether it enters when it has passed; one that does not is only tried, "
            "and so many may be a day. It enters at once by the operation of entering."
        ),
    ] = True
    elo0: Annotated[float, Field(ge=-1000, le=1000)] = 0.0
    elo1: Annotated[float, Field(ge=-1000, le=1000)] = 10.0
    max_games: Annotated[int, Field(ge=1, le=MOST_GAMES)] = MAX_GAMES


@operation(
    "POST /submissions", CheckShape, tag=TAG, status=201, scope=Scope.SUBMIT, errors=[404, 409, 503]
)
def submit_bot(form: Submission) -> tuple[CheckShape, int, dict[str, str]]:
    """Takes a bot in, as a new one or as the next version of one's own.

    It is checked at once, and enters the ladder when it has passed, unless it is only tried.
    """
    if form.test_first and not form.enters:
        abort(
            409,
            gettext("What is only tried enters nothing: leave out test_first, or enters=false."),
        )
    with reading() as session:
        ladder = find_ladder(session, form.ladder)
    terms = StrengthTerms.from_json(form.model_dump()) if form.test_first else None
    taken = uploads.take_files(request.files.getlist("file"), ladder)
    name = form.name or taken.name
    number = uploads.store(
        name,
        taken,
        ladder,
        form.note,
        test_first=terms,
        enters=form.enters,
        commit=_commit(form),
        team=form.team,
    )
    with reading() as session:
        found = submissions.find_check(session, number)
        (made,) = _told(session, [found])
    return made, 201, {"Location": url_for("api.get_check", number=number)}


def _commit(form: Submission) -> Commit | None:
    """What is said of the commit; of an address that is none of a page, nothing."""
    if not form.commit:
        return None
    repository = https_address(form.commit_repository)
    return Commit(form.commit, form.commit_subject, repository, form.commit_dirty)


@operation("GET /checks/<int:number>", CheckShape, tag=TAG, scope=Scope.SUBMIT)
def get_check(number: int) -> CheckShape:
    """The check of a bot of one's own: what is found, as it is found."""
    with reading() as session:
        found = submissions.find_check(session, number)
        return _told(session, [found])[0]


@operation("GET /bots/<name>/checks", CheckList, tag=TAG, scope=Scope.SUBMIT)
def list_checks(name: str, query: Pages) -> CheckList:
    """The checks of a bot of one's own."""
    version = joinedload(Check.version).joinedload(BotVersion.bot)
    with reading() as session:
        bot = submissions.own_bot(session, name)
        wanted = sa.select(Check).join(Check.version).where(BotVersion.bot_id == bot.id)
        wanted = wanted.options(version, joinedload(Check.ladder))
        return page(CheckList, session, wanted, Check.id, query, told=_told)


def _told(session: Session, checks: Sequence[Check]) -> list[CheckShape]:
    """Checks with what became of those that passed, and why those wait that do."""
    fates = entries.fates(session, checks)
    return [
        CheckShape.of(
            one,
            fate=fates[one.id].word if one.id in fates else None,
            test=fates[one.id].test if one.id in fates else None,
            waits=submissions.why_check_waits(session, one),
        )
        for one in checks
    ]
