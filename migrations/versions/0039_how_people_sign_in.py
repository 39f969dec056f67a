"""Keeps the sessions of browsers one by one, and more ways in than a password: identities at
providers, passkeys, codes; and people's mail addresses."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

BEFORE, AFTER = "uq_user_session_key", "uq_user_handle"


def upgrade() -> None:
    _make_tables()
    # Who is signed in stays so: that was one key for all browsers of a person.
    op.execute(
        "INSERT INTO browser_session (user_id, key, created, last_used, address, browser) "
        "SELECT id, session_key, last_sign_in, last_sign_in, '', '' FROM \"user\" "
        "WHERE last_sign_in IS NOT NULL"
    )
    op.execute('ALTER TABLE "user" RENAME COLUMN session_key TO handle')
    if op.get_bind().dialect.name == "sqlite":
        _rename_on_sqlite(op.get_bind())
    else:
        op.execute(f'ALTER TABLE "user" RENAME CONSTRAINT {BEFORE} TO {AFTER}')
    op.add_column("user", sa.Column("mail", sa.String(254), nullable=True))
    op.add_column("user", sa.Column("mail_wanted", sa.String(254), nullable=True))
    op.add_column("user", sa.Column("totp_secret", sa.String(64), nullable=True))
    op.add_column("user", sa.Column("totp_counter", sa.BigInteger(), nullable=True))
    op.create_index("ix_user_mail", "user", ["mail"])


def _make_tables() -> None:
    op.create_table(
        "browser_session",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(32), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("last_used", sa.DateTime(), nullable=False),
        sa.Column("address", sa.String(60), nullable=False),
        sa.Column("browser", sa.String(80), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_browser_session_user_id_user"),
        sa.PrimaryKeyConstraint("id", name="pk_browser_session"),
        sa.UniqueConstraint("key", name="uq_browser_session_key"),
    )
    op.create_table(
        "identity",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("issuer", sa.String(300), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("label", sa.String(120), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("last_used", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_identity_user_id_user"),
        sa.PrimaryKeyConstraint("id", name="pk_identity"),
        sa.UniqueConstraint("issuer", "subject", name="uq_identity_issuer_subject"),
    )
    op.create_table(
        "passkey",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("credential", sa.String(1400), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("last_used", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_passkey_user_id_user"),
        sa.PrimaryKeyConstraint("id", name="pk_passkey"),
        sa.UniqueConstraint("credential", name="uq_passkey_credential"),
    )
    op.create_table(
        "recovery_code",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_recovery_code_user_id_user"),
        sa.PrimaryKeyConstraint("id", name="pk_recovery_code"),
        sa.UniqueConstraint("digest", name="uq_recovery_code_digest"),
    )
    for table in ("browser_session", "identity", "passkey", "recovery_code"):
        op.create_index(f"ix_{table}_user_id", table, ["user_id"])


def _rename_on_sqlite(connection: sa.Connection) -> None:
    """Gives the constraint the name that a fresh database gives it, as 0027 changed one."""
    schema = sa.table("sqlite_master", sa.column("name"), sa.column("sql"))
    its = schema.c.name == "user"
    words: str = connection.scalars(sa.select(schema.c.sql).where(its)).one()
    if words.count(BEFORE) != 1:
        raise RuntimeError("the table user is not as release 0036 had it")
    version = connection.scalar(sa.text("PRAGMA schema_version"))
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    connection.execute(sa.update(schema).where(its).values(sql=words.replace(BEFORE, AFTER)))
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
