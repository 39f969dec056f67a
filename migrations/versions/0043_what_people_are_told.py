"""Keeps what people follow and are told, the mail that is to be sent, and hooks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def _one_of(table: str, column: str, *values: str) -> tuple[sa.Column[str], sa.CheckConstraint]:
    listed = ", ".join(f"'{value}'" for value in values)
    check = sa.CheckConstraint(f"{column} IN ({listed})", name=f"ck_{table}_{column}")
    return sa.Column(column, sa.String(20), nullable=False), check


def _refers(
    column: str, table: str, to: str, ondelete: str | None = None, **more: bool
) -> sa.Column[int]:
    key = sa.ForeignKey(f"{to}.id", name=f"fk_{table}_{column}_{to}", ondelete=ondelete)
    return sa.Column(column, sa.Integer(), key, **more)


def upgrade() -> None:
    op.add_column("user", sa.Column("language", sa.String(20), nullable=True))
    op.add_column("competition", sa.Column("told", sa.DateTime(), nullable=True))
    # What is over was told of by nobody, and is no news any more.
    op.execute("UPDATE competition SET told = finished")
    untold = sa.text("finished IS NOT NULL AND (told IS NULL OR told <> finished)")
    op.create_index(
        "ix_competition_untold", "competition", ["id"], sqlite_where=untold, postgresql_where=untold
    )
    op.create_table(
        "follow",
        sa.Column("id", sa.Integer(), nullable=False),
        _refers("user_id", "follow", "user", nullable=False),
        _refers("bot_id", "follow", "bot", nullable=True, index=True),
        _refers("competition_id", "follow", "competition", nullable=True, index=True),
        sa.Column("muted", sa.Boolean(), nullable=False),
        sa.Column("since", sa.DateTime(), nullable=False),
        sa.CheckConstraint(
            "(bot_id IS NULL) <> (competition_id IS NULL)", name="ck_follow_subject"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_follow"),
        sa.UniqueConstraint("user_id", "bot_id", name="uq_follow_user_id_bot_id"),
        sa.UniqueConstraint("user_id", "competition_id", name="uq_follow_user_id_competition_id"),
    )
    op.create_table(
        "wishes",
        _refers("user_id", "wishes", "user", nullable=False),
        *_one_of("wishes", "mail", "never", "at once", "daily"),
        sa.Column("silenced", sa.JSON(), nullable=False),
        sa.Column("mailed", sa.DateTime(), nullable=True),
        sa.Column("feed_digest", sa.String(64), nullable=True),
        sa.PrimaryKeyConstraint("user_id", name="pk_wishes"),
        sa.UniqueConstraint("feed_digest", name="uq_wishes_feed_digest"),
    )
    op.create_table(
        "notification",
        sa.Column("id", sa.Integer(), nullable=False),
        _refers("user_id", "notification", "user", nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False, index=True),
        sa.Column("topic", sa.String(20), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("places", sa.JSON(), nullable=False),
        sa.Column("address", sa.String(500), nullable=False),
        sa.Column("read", sa.DateTime(), nullable=True),
        sa.Column("mail_waits", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_notification"),
    )
    op.create_index("ix_notification_user_id_id", "notification", ["user_id", "id"])
    for name, words in (("unread", "read IS NULL"), ("mail_waits", "mail_waits")):
        which = sa.text(words)
        op.create_index(
            f"ix_notification_{name}",
            "notification",
            ["user_id"],
            sqlite_where=which,
            postgresql_where=which,
        )
    op.create_table(
        "mail",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(254), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("unsubscribe", sa.String(500), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("due", sa.DateTime(), nullable=False, index=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_mail"),
    )
    op.create_table(
        "hook",
        sa.Column("id", sa.Integer(), nullable=False),
        _refers("user_id", "hook", "user", nullable=False, index=True),
        sa.Column("url", sa.String(500), nullable=False),
        *_one_of("hook", "format", "json", "discord"),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("disabled", sa.Text(), nullable=False),
        sa.Column("rests_until", sa.DateTime(), nullable=True),
        sa.Column("failing_since", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_hook"),
    )
    op.create_table(
        "delivery",
        sa.Column("id", sa.Integer(), nullable=False),
        _refers("hook_id", "delivery", "hook", "CASCADE", nullable=False, index=True),
        _refers("notification_id", "delivery", "notification", nullable=True, index=True),
        sa.Column("created", sa.DateTime(), nullable=False, index=True),
        *_one_of("delivery", "state", "waits", "arrived", "given up"),
        sa.Column("due", sa.DateTime(), nullable=False),
        sa.Column("expires", sa.DateTime(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("tried", sa.DateTime(), nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("milliseconds", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_delivery"),
    )
    waits = sa.text("state = 'waits'")
    op.create_index(
        "ix_delivery_waits", "delivery", ["due"], sqlite_where=waits, postgresql_where=waits
    )
