"""What bots, people and competitions are found by, kept in step with them.

Theory of operation. Each of them has one row with the words of its texts, which a flush of a
session that changes one of these writes anew. A database keeps its own full text of those words:
PostgreSQL an index, SQLite a table of FTS5 that triggers fill (migration 0040). Both take the words
as they are here, so that they find the same; who asks is `arena.bots.directory`. So nothing
changes such texts past a session.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy import UniqueConstraint, event
from sqlalchemy.orm import Mapped, Session, UOWTransaction, mapped_column

from arena.models.base import Base
from arena.models.bots import Bot
from arena.models.competitions import Competition
from arena.models.people import HOUSE, User

LONGEST_WORD = 40
"""Characters of a word by which it is found; no index takes a word of any length."""
MOST_WORDS = 1000
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
KINDS: tuple[tuple[str, Any], ...] = (
    ("bot", Bot),
    ("user", User),
    ("competition", Competition),
)
_TEXTS = ("name", "title", "description", "note", "tags", "deleted")
"""The columns of any kind that it is found by, or that say whether it is."""


class SearchEntry(Base):
    """The words that one thing is found by."""

    __tablename__ = "search_entry"
    __table_args__ = (UniqueConstraint("kind", "subject_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(sa.String(20))
    """One of `KINDS`."""
    subject_id: Mapped[int]
    """Its id there."""
    words: Mapped[str] = mapped_column(sa.Text)
    """The words as `words_of` gives them, with spaces between them."""


def lexemes(words: sa.SQLColumnExpression[str]) -> sa.ColumnElement[Any]:
    """PostgreSQL's full text of a column of words, as its index has it."""
    apart = sa.func.string_to_array(words, sa.literal_column("' '"))
    return sa.func.array_to_tsvector(apart)


FULL_TEXT = "search_words"
"""How the names of the tables begin that SQLite has for it; they are made of the entries alone."""
FULL_TEXT_INDEX = "ix_search_entry_words"
"""What PostgreSQL has for it: of `lexemes`."""


def words_of(*texts: str, parts: bool = True) -> list[str]:
    """The words of some texts, each once, without regard to the size of letters and accents.

    Args:
        parts: whether those of one that is written together, as names are, are words, too:
            ``GreedyKnight2``.
    """
    plain = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", "\n".join(texts))
        if not unicodedata.combining(letter)
    )
    found: dict[str, None] = {}
    for word in _WORD.findall(plain):
        its = (word, *_PART.findall(word)) if parts else (word,)
        found.update(dict.fromkeys(one.casefold()[:LONGEST_WORD] for one in its))
    return [*found][:MOST_WORDS]


def _said(one: Any) -> list[str]:
    """The words by which something is found; none if it is not."""
    if isinstance(one, Competition):
        return words_of(one.name, one.title, one.note)
    if one.deleted or one.name == HOUSE:
        return []
    tags = [its.tag for its in one.tags] if isinstance(one, Bot) else []
    return words_of(one.name, " ".join(tags), one.description)


def _enter(session: Session, kind: str, those: Iterable[Any]) -> None:
    """Makes the rows of some of a kind anew."""
    rows = {one.id: " ".join(_said(one)) for one in those}
    its = SearchEntry.kind == kind, SearchEntry.subject_id.in_(rows)
    forget = sa.delete(SearchEntry).where(*its)
    session.execute(forget, execution_options={"synchronize_session": False})
    entries = [
        {"kind": kind, "subject_id": number, "words": words}
        for number, words in rows.items()
        if words
    ]
    if entries:
        session.execute(sa.insert(SearchEntry), entries)


@event.listens_for(Session, "after_flush")
def _keep_in_step(session: Session, _: UOWTransaction) -> None:
    for kind, its in KINDS:
        gone = [one.id for one in session.deleted if isinstance(one, its)]
        if gone:
            forget = sa.delete(SearchEntry).where(
                SearchEntry.kind == kind, SearchEntry.subject_id.in_(gone)
            )
            session.execute(forget, execution_options={"synchronize_session": False})
        changed = [one for one in session.new if isinstance(one, its)]
        changed += [one for one in session.dirty if isinstance(one, its) and _is_told_anew(one)]
        if changed:
            _enter(session, kind, changed)


def _is_told_anew(one: Any) -> bool:
    state = sa.inspect(one)
    return any(state.attrs[text].history.has_changes() for text in _TEXTS if text in state.attrs)
