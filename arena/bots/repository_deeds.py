"""What the owner of a bot can change about the git repository that it follows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.bots import repositories
from arena.bots.bot_deeds import BotDeed, own_bot
from arena.bots.submissions import demand_admission
from arena.competitions.founding import find_named
from arena.competitions.masks import demand_no_mask
from arena.deeds import By, Deed, Done, asked
from arena.ground.outside import LONGEST, OutsideError, read_address
from arena.ground.refusals import NotThere, WrongField
from arena.models import Bot, Ladder, Repository
from arena.signing import seal
from engine.plurals import listed
from engine.translation import gettext

LONGEST_WORD = 200
MOST_LADDERS = 20
_REVISION = re.compile(r"[A-Za-z0-9_][\w./+@#=-]*", re.ASCII)
"""What stands for a branch or a tag: no word that git takes for something else."""
_FOLDER = re.compile(r"(?!-)[^\\:*?\"<>|]+")
_TOKEN = re.compile(r"[!-~]+", re.ASCII)


def the_repository(session: Session, bot: Bot) -> Repository:
    """The repository that a bot follows, to change it.

    Raises:
        NotThere: it follows none.
    """
    found = repositories.find(session, bot, to_change=True)
    if found is None:
        raise NotThere(gettext("the bot %(bot)s follows no git repository", bot=bot.name))
    return found


@dataclass(frozen=True)
class FollowRepository(BotDeed):
    """Have a bot of one's own follow a git repository: each new commit is handed in.

    The repository is asked now and then, and when it tells of a push. Where it is followed
    already, this changes how; a token that was given is kept for as long as the address stays the
    same, unless another is given.
    """

    address = "POST /bots/<name>/repository"
    answers: ClassVar[type | None] = Repository

    repository: str = asked(
        "Its https address, as git takes it to clone", label="Address", most=LONGEST
    )
    ladders: tuple[str, ...] = asked(
        "The ladders that new commits are handed in to", label="Ladders", most=MOST_LADDERS
    )
    revision: str = asked(
        "A branch or a tag; by default the branch that the repository itself begins with",
        label="Branch or tag",
        default="",
        most=LONGEST_WORD,
    )
    folder: str = asked(
        "The bot's folder in it, if it is not all of it",
        label="Folder",
        default="",
        most=LONGEST_WORD,
    )
    token: str = asked(
        "What opens it if it is private: a token that may only read, or USER:TOKEN; nobody is "
        "shown it again",
        label="Token",
        default="",
        most=LONGEST_WORD,
    )
    test_first: bool = asked(
        "Whether versions are to pass a strength test against the active one before they enter",
        label="Test against the active version first",
        default=False,
    )

    def asks(self, session: Session, by: By) -> str:
        self._demand()
        before = repositories.find(session, own_bot(session, by, self.name))
        if before is not None and before.sealed and not self._keeps(before):
            return gettext("The token that was given before is forgotten; nothing brings it back.")
        return ""

    def _keeps(self, before: Repository) -> bool:
        """Whether the token that was given before is still to be used: for no other repository,
        which a co-owner could name who has no token for it.
        """
        return not self.token and read_address(before.address) == read_address(self.repository)

    def _demand(self) -> None:
        _demand(self.repository, self.revision, self.folder, self.token)

    def do(self, session: Session, by: By) -> Done:
        self._demand()
        bot = own_bot(session, by, self.name)
        demand_no_mask(bot)
        ladders = [find_named(session, Ladder, name) for name in dict.fromkeys(self.ladders)]
        for ladder in ladders:
            demand_admission(ladder, at_home=False)
        found = repositories.find(session, bot, to_change=True)
        undo: tuple[Deed, ...] = (UnfollowRepository(bot.name),)
        if found is None:
            found = Repository(bot_id=bot.id, sealed="")
        elif found.sealed and not self._keeps(found):
            undo = ()
        else:
            undo = (_as_it_is(session, bot, found),)
        if self.token or (found.sealed and not self._keeps(found)):
            found.sealed = seal(session, self.token) if self.token else ""
        # In the name of a person: whoever runs the arena does it for the owner.
        found.user_id = bot.person_id if by.actor.id is None else by.actor.id
        found.address, found.revision = self.repository, self.revision
        found.folder, found.test_first = self.folder.strip("/"), self.test_first
        found.ladders = [ladder.id for ladder in ladders]
        # The same commit may be another bot now, or for another ladder.
        found.commit_hash, found.problem, found.failures = "", "", 0
        found.due = by.now
        session.add(found)
        session.flush()
        words = f"{_words(found)} for {', '.join(ladder.name for ladder in ladders)}"
        subject = f"bot {bot.name}"
        audit.note(session, by.actor, "follow repository", subject, words, now=by.now)
        said = gettext(
            "the bot %(bot)s follows %(repository)s: new commits are handed in to %(ladders)s",
            bot=bot.name,
            repository=found.address,
            ladders=listed([ladder.name for ladder in ladders]),
        )
        return Done(said, found, undo)


def _demand(repository: str, revision: str, folder: str, token: str) -> None:
    """Refuses what names no repository, or no part of one.

    Raises:
        WrongField: it does not.
    """
    try:
        place = read_address(repository)
    except OutsideError as error:
        raise WrongField("repository", str(error)) from None
    if "?" in repository or "#" in repository or place.path == "/":
        raise WrongField(
            "repository", gettext("give the address as git takes it, https://HOST/PATH")
        )
    is_odd = ".." in revision or "//" in revision or revision.endswith(("/", ".lock", "."))
    if revision and (is_odd or not _REVISION.fullmatch(revision)):
        raise WrongField("revision", gettext("this is no name of a branch or a tag"))
    parts = folder.strip("/").split("/")
    if folder and (not _FOLDER.fullmatch(folder) or {"", ".", "..", ".git"} & {*parts}):
        raise WrongField("folder", gettext("this is no folder of a repository"))
    if token and not _TOKEN.fullmatch(token):
        raise WrongField("token", gettext("a token has no spaces, and plain letters alone"))


def _as_it_is(session: Session, bot: Bot, found: Repository) -> FollowRepository:
    """What makes a repository be followed as it is now."""
    named = sa.select(Ladder.name).where(Ladder.id.in_(found.ladders)).order_by(Ladder.id)
    return FollowRepository(
        bot.name,
        found.address,
        tuple(session.scalars(named)),
        found.revision,
        found.folder,
        test_first=found.test_first,
    )


def _words(found: Repository) -> str:
    """A repository in the audit log."""
    return f"{found.address}#{found.revision}{found.folder and ':'}{found.folder}".rstrip("#")


@dataclass(frozen=True)
class UnfollowRepository(BotDeed):
    """Have a bot of one's own follow its git repository no more; its versions stay."""

    address = "POST /bots/<name>/repository/leave"
    command = "bot unfollow NAME"
    example = "mybot"

    def asks(self, session: Session, by: By) -> str:
        found = repositories.find(session, own_bot(session, by, self.name))
        if found is None or found.fetched is None:
            return ""
        return gettext(
            "New commits of %(repository)s are handed in no more. Its token, and the address at "
            "which pushes are told of, are forgotten; nothing brings them back.",
            repository=found.address,
        )

    def do(self, session: Session, by: By) -> Done:
        bot = own_bot(session, by, self.name)
        found = the_repository(session, bot)
        session.delete(found)
        subject = f"bot {bot.name}"
        audit.note(session, by.actor, "leave repository", subject, _words(found), now=by.now)
        said = gettext(
            "the bot %(bot)s follows %(repository)s no more",
            bot=bot.name,
            repository=found.address,
        )
        return Done(said, bot)


@dataclass(frozen=True)
class FetchRepository(BotDeed):
    """Ask the git repository that a bot of one's own follows now, and not only when it is due.

    Its last commit is looked at again if what came of it was refused.
    """

    address = "POST /bots/<name>/repository/fetch"
    command = "bot fetch NAME"
    example = "mybot"
    answers: ClassVar[type | None] = Repository
    adds = True

    def do(self, session: Session, by: By) -> Done:
        bot = own_bot(session, by, self.name)
        found = the_repository(session, bot)
        if found.problem:
            found.commit_hash = ""
        repositories.want(found, by.now)
        subject = f"bot {bot.name}"
        audit.note(session, by.actor, "fetch repository", subject, found.address, now=by.now)
        said = gettext(
            "%(repository)s is asked in a moment: what is new there is handed in as %(bot)s",
            bot=bot.name,
            repository=found.address,
        )
        return Done(said, found)
