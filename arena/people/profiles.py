"""What is said of bots and people by who has them: a description, links, and a bot's tags."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from arena import audit, naming
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground.refusals import NotAllowed, NotThere, Refusal
from arena.models import Scope, User
from arena.people import accounts
from arena.people.accounts import PeopleError
from engine.translation import gettext

LONGEST_DESCRIPTION = 4000
MOST_LINKS, LONGEST_LINK = 8, 200
MOST_TAGS, LONGEST_TAG = 8, 30
SCHEMES = ("https", "http", "mailto")
_TAG = re.compile(r"[^\W_][\w+.#-]*")
DESCRIPTION = "A description in Markdown, without pictures; nothing for none"
LINKS = "Addresses that begin with https:, http: or mailto:"


def read_description(text: str) -> str:
    """A description as it is kept: with plain ends of lines, and none around it."""
    return "\n".join(text.splitlines()).strip()


def read_links(links: Iterable[str]) -> list[str]:
    """Links as they are kept, each once.

    Raises:
        Refusal: one is none that a page may have.
    """
    for link in links:
        if len(link) > LONGEST_LINK or not is_link(link):
            words = gettext(
                "%(link)r is no link: an address that begins with https:, http: or mailto:, of at "
                "most %(most)s characters",
                link=link[:60],
                most=LONGEST_LINK,
            )
            raise Refusal(words)
    return list(dict.fromkeys(links))


def is_link(address: str) -> bool:
    """Whether a page may have a link to this address, which is somebody's."""
    if not address.isprintable() or any(map(str.isspace, address)) or "\\" in address:
        return False
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return False
    if parts.scheme == "mailto":
        return "@" in parts.path
    # What stands before an @ could be taken for the server's name.
    return parts.scheme in SCHEMES and bool(host) and "@" not in parts.netloc


def read_tags(tags: Iterable[str]) -> list[str]:
    """Tags as they are kept: in small letters, each once, by the alphabet.

    Raises:
        Refusal: one is none.
    """
    found = {tag.strip().lower() for tag in tags}
    for tag in sorted(found):
        if len(tag) > LONGEST_TAG or not _TAG.fullmatch(tag):
            words = gettext(
                "%(tag)r is no tag: a word of at most %(most)s letters, digits, '+', '.', '#', "
                "'-', a letter or digit first",
                tag=tag[:60],
                most=LONGEST_TAG,
            )
            raise Refusal(words)
    return sorted(found)


def own_account(session: Session, by: By, name: str) -> User:
    """The account of a name, if it is one's own; any for administrators.

    Raises:
        NotThere: there is none.
        NotAllowed: it is another's.
    """
    try:
        user = accounts.get(session, name)
    except PeopleError as error:
        raise NotThere(str(error)) from None
    if not (by.at_machine or user.id == by.actor.id or by.may(Scope.ADMIN)):
        raise NotAllowed(gettext("the account %(user)s is not yours", user=user.name))
    naming.note(name, user)
    return user


@dataclass(frozen=True)
class AccountDeed(Deed):
    """Changes one's own account; answers its user."""

    scope = Scope.SUBMIT
    subject = "people"
    answers: ClassVar[type | None] = User
    personal = True

    name: str = asked("The user's name")


@dataclass(frozen=True)
class DescribeUser(AccountDeed):
    """Say anew what one's page tells of oneself: a description and links.

    What is not said is gone. Administrators may do so for others.
    """

    address = "POST /people/<name>/describe"
    command = "user describe NAME"
    example = "ada --description 'I write **small** bots.' --links https://example.org"

    description: str = asked(DESCRIPTION, label="Description", default="", most=LONGEST_DESCRIPTION)
    links: tuple[str, ...] = asked(LINKS, label="Links", default=(), most=MOST_LINKS)

    def do(self, session: Session, by: By) -> Done:
        user = own_account(session, by, self.name)
        before = user.description, tuple(user.links)
        user.description, user.links = (
            read_description(self.description),
            read_links(self.links),
        )
        undo: tuple[Deed, ...] = ()
        if before != (user.description, tuple(user.links)):
            undo = (DescribeUser(user.name, *before),)
            audit.note(session, by.actor, "describe", f"user {user.name}", now=by.now)
        return Done(gettext("the page of %(user)s says so now", user=user.name), user, undo)


def name_anew(session: Session, user: User, to: str) -> str:
    """Gives an account or a team another name, and gives the one before.

    Raises:
        Refusal: it is no name, or another's.
    """
    name = accounts.typed(to)
    holder = accounts.find(session, name)
    if (words := accounts.refusal(session, name)) and holder is not user:
        raise Refusal(words)
    if user.name == name:
        raise Refusal(gettext("it is called so already"))
    return naming.rename(session, user, name)


@dataclass(frozen=True)
class RenameUser(AccountDeed):
    """Give one's account another name; by the one before it is found, too.

    Administrators may do so for others.
    """

    address = "POST /people/<name>/rename"
    command = "user rename NAME TO"
    example = "ada lovelace"
    lasting = (
        "The name of before leads to this account as long as it is there, and nobody else can "
        "have it. What was written down until now, such as in the audit log, keeps it."
    )

    to: str = asked("What it is to be called", label="New name", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        user = own_account(session, by, self.name)
        before = name_anew(session, user, self.to)
        subject = f"user {before}"
        audit.note(session, by.actor, "rename", subject, f"to {user.name}", now=by.now)
        said = gettext("the user %(before)s is called %(name)s now", before=before, name=user.name)
        return Done(said, user)
