"""Lets bots and people be described, found, renamed and deleted.

What is searched is one table of words, kept by the program (`arena.models.searching`); the database
makes its own full text of it, SQLite by triggers.
"""

from __future__ import annotations

import re
import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

FULL_TEXT = """
CREATE VIRTUAL TABLE search_words USING fts5(
    words, content='search_entry', content_rowid='id',
    tokenize="unicode61 remove_diacritics 0", prefix='2 3 4'
);
CREATE TRIGGER search_entry_comes AFTER INSERT ON search_entry BEGIN
    INSERT INTO search_words (rowid, words) VALUES (new.id, new.words);
END;
CREATE TRIGGER search_entry_goes AFTER DELETE ON search_entry BEGIN
    INSERT INTO search_words (search_words, rowid, words) VALUES ('delete', old.id, old.words);
END;
CREATE TRIGGER search_entry_changes AFTER UPDATE ON search_entry BEGIN
    INSERT INTO search_words (search_words, rowid, words) VALUES ('delete', old.id, old.words);
    INSERT INTO search_words (rowid, words) VALUES (new.id, new.words);
END
"""
TEXTS = {
    "bot": "SELECT id, name FROM bot",
    "user": "SELECT id, name FROM \"user\" WHERE name <> 'arena'",
    "competition": "SELECT id, name || ' ' || title || ' ' || note FROM competition",
}


def upgrade() -> None:
    for table in ("bot", "user"):
        op.add_column(table, sa.Column("description", sa.Text(), nullable=False, server_default=""))
        op.add_column(table, sa.Column("links", sa.JSON(), nullable=False, server_default="[]"))
        op.add_column(table, sa.Column("deleted", sa.DateTime(), nullable=True))
    op.add_column("bot", sa.Column("picture", sa.String(length=64), nullable=True))
    op.create_index(op.f("ix_bot_picture"), "bot", ["picture"])
    op.create_table(
        "bot_tag",
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("tag", sa.String(length=30), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_bot_tag_bot_id_bot")),
        sa.PrimaryKeyConstraint("bot_id", "tag", name=op.f("pk_bot_tag")),
    )
    op.create_index(op.f("ix_bot_tag_tag"), "bot_tag", ["tag"])
    op.create_table(
        "picture",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_picture")),
    )
    op.create_table(
        "discarded_file",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("after", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_discarded_file")),
    )
    _make_former_names()
    _make_search()


def _make_former_names() -> None:
    kinds = ("bot", "user", "competition")
    table = "former_name"
    op.create_table(
        table,
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("lower_name", sa.String(length=80), nullable=False),
        *(sa.Column(f"{kind}_id", sa.Integer(), nullable=True) for kind in kinds),
        *(
            sa.CheckConstraint(
                f"(kind = '{kind}') = ({kind}_id IS NOT NULL)", name=op.f(f"ck_{table}_{kind}")
            )
            for kind in kinds
        ),
        *(
            sa.ForeignKeyConstraint(
                [f"{kind}_id"], [f"{kind}.id"], name=op.f(f"fk_{table}_{kind}_id_{kind}")
            )
            for kind in kinds
        ),
        sa.PrimaryKeyConstraint("kind", "lower_name", name=op.f(f"pk_{table}")),
    )
    for kind in kinds:
        op.create_index(op.f(f"ix_{table}_{kind}_id"), table, [f"{kind}_id"])


def _make_search() -> None:
    entry = op.create_table(
        "search_entry",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("subject_id", sa.Integer(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_entry")),
        sa.UniqueConstraint("kind", "subject_id", name=op.f("uq_search_entry_kind_subject_id")),
    )
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        for statement in re.split(r";\n(?=CREATE)", FULL_TEXT.strip()):
            connection.exec_driver_sql(statement)
    else:
        op.execute(
            "CREATE INDEX ix_search_entry_words ON search_entry"
            " USING gin (array_to_tsvector(string_to_array(words, ' ')))"
        )
    for kind, query in TEXTS.items():
        rows = [
            {"kind": kind, "subject_id": number, "words": _words(text)}
            for number, text in connection.execute(sa.text(query))
        ]
        if rows:
            op.bulk_insert(entry, rows)


def _words(text: str) -> str:
    """The words of a text, as `arena.models.searching` made them then."""
    plain = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(letter)
    )
    found: dict[str, None] = {}
    for word in re.findall(r"[^\W_]+", plain):
        parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+", word)
        found.update(dict.fromkeys(one.casefold()[:40] for one in (word, *parts)))
    return " ".join([*found][:1000])
