"""The schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "mark",
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_mark")),
    )
    op.create_table(
        "user",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("lower_name", sa.String(length=80), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column(
            "role",
            sa.Enum(
                "participant",
                "organiser",
                "administrator",
                name="role",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("password", sa.String(length=255), nullable=True),
        sa.Column("must_change", sa.Boolean(), nullable=False),
        sa.Column("session_key", sa.String(length=32), nullable=False),
        sa.Column("last_sign_in", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user")),
        sa.UniqueConstraint("lower_name", name=op.f("uq_user_lower_name")),
        sa.UniqueConstraint("name", name=op.f("uq_user_name")),
        sa.UniqueConstraint("session_key", name=op.f("uq_user_session_key")),
    )
    op.create_table(
        "worker",
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("last_seen", sa.DateTime(), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("isolation", sa.String(length=20), nullable=False),
        sa.Column("languages", sa.JSON(), nullable=False),
        sa.Column("format", sa.Integer(), nullable=False),
        sa.Column("failed", sa.JSON(), nullable=False),
        sa.Column("set_aside", sa.DateTime(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_worker")),
    )
    op.create_table(
        "api_token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("last_used", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_api_token_user_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_token_digest")),
    )
    with op.batch_alter_table("api_token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_api_token_user_id"), ["user_id"], unique=False)

    op.create_table(
        "audit_entry",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("actor_id", sa.Integer(), nullable=True),
        sa.Column("actor", sa.String(length=40), nullable=False),
        sa.Column("origin", sa.String(length=60), nullable=False),
        sa.Column("action", sa.String(length=60), nullable=False),
        sa.Column("subject", sa.String(length=120), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["actor_id"], ["user.id"], name=op.f("fk_audit_entry_actor_id_user")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entry")),
    )
    with op.batch_alter_table("audit_entry", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_entry_action"), ["action"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_entry_actor_id"), ["actor_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_entry_subject"), ["subject"], unique=False)

    op.create_table(
        "bot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("lower_name", sa.String(length=40), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("open_source", sa.Boolean(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["user.id"], name=op.f("fk_bot_owner_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot")),
        sa.UniqueConstraint("lower_name", name=op.f("uq_bot_lower_name")),
        sa.UniqueConstraint("name", name=op.f("uq_bot_name")),
    )
    with op.batch_alter_table("bot", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_bot_owner_id"), ["owner_id"], unique=False)

    op.create_table(
        "competition",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "ladder",
                "tournament",
                "test",
                name="competitionkind",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("title", sa.String(length=120), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("creator_id", sa.Integer(), nullable=True),
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column(
            "openings",
            sa.Enum(
                "random",
                "empty",
                name="openingpolicy",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("time_ms", sa.Integer(), nullable=True),
        sa.Column("inc_ms", sa.Integer(), nullable=False),
        sa.Column("move_ms", sa.Integer(), nullable=True),
        sa.Column("charge", sa.String(length=4), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=False),
        sa.Column("threads", sa.Integer(), nullable=False),
        sa.Column("bundle_bytes", sa.BigInteger(), nullable=False),
        sa.Column("log_bytes", sa.Integer(), nullable=False),
        sa.Column(
            "state",
            sa.Enum(
                "open",
                "paused",
                "frozen",
                "closed",
                name="competitionstate",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("matches_made", sa.Integer(), nullable=False),
        sa.Column("last_match", sa.DateTime(), nullable=True),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("worker_seconds", sa.Double(), nullable=False),
        sa.Column("head_start", sa.Double(), nullable=False),
        sa.Column("neighbours", sa.Integer(), nullable=False),
        sa.Column("ties", sa.Integer(), nullable=False),
        sa.Column("last_game", sa.DateTime(), nullable=True),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("finished", sa.DateTime(), nullable=True),
        sa.Column("rebuild_due", sa.Boolean(), nullable=False),
        sa.Column("checked", sa.DateTime(), nullable=True),
        sa.Column("alarm", sa.Text(), nullable=False),
        sa.Column("draw_probability", sa.Double(), nullable=True),
        sa.Column("format", sa.String(length=20), nullable=True),
        sa.Column("settings", sa.JSON(), nullable=True),
        sa.Column("elo0", sa.Double(), nullable=True),
        sa.Column("elo1", sa.Double(), nullable=True),
        sa.Column("alpha", sa.Double(), nullable=True),
        sa.Column("beta", sa.Double(), nullable=True),
        sa.Column("elo_model", sa.String(length=10), nullable=True),
        sa.Column("max_games", sa.Integer(), nullable=True),
        sa.Column(
            "verdict",
            sa.Enum(
                "running",
                "passed",
                "failed",
                "undecided",
                "stopped",
                name="testverdict",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=True,
        ),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("ladder_id", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "(kind = 'ladder') = (draw_probability IS NOT NULL)",
            name=op.f("ck_competition_draw_probability"),
        ),
        sa.CheckConstraint(
            "(kind = 'test') = (elo0 IS NOT NULL AND elo1 IS NOT NULL)",
            name=op.f("ck_competition_elo"),
        ),
        sa.CheckConstraint(
            "(kind = 'test') = (verdict IS NOT NULL)", name=op.f("ck_competition_verdict")
        ),
        sa.CheckConstraint(
            "(kind = 'tournament') = (format IS NOT NULL)", name=op.f("ck_competition_format")
        ),
        sa.CheckConstraint(
            "(state = 'closed') = (verdict <> 'running')", name=op.f("ck_competition_decided")
        ),
        sa.CheckConstraint(
            "(time_ms IS NULL) <> (move_ms IS NULL)", name=op.f("ck_competition_time")
        ),
        sa.CheckConstraint("weight > 0", name=op.f("ck_competition_weight")),
        sa.ForeignKeyConstraint(
            ["creator_id"], ["user.id"], name=op.f("fk_competition_creator_id_user")
        ),
        sa.ForeignKeyConstraint(
            ["ladder_id"], ["competition.id"], name=op.f("fk_competition_ladder_id_competition")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_competition")),
        sa.UniqueConstraint("name", name=op.f("uq_competition_name")),
    )
    with op.batch_alter_table("competition", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_competition_game"), ["game"], unique=False)
        batch_op.create_index("ix_competition_kind_state", ["kind", "state"], unique=False)

    op.create_table(
        "link",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "invitation",
                "reset",
                name="linkkind",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column(
            "role",
            sa.Enum(
                "participant",
                "organiser",
                "administrator",
                name="role",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("expires", sa.DateTime(), nullable=False),
        sa.CheckConstraint("(kind = 'reset') = (user_id IS NOT NULL)", name=op.f("ck_link_user")),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_link_user_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_link")),
        sa.UniqueConstraint("digest", name=op.f("uq_link_digest")),
    )
    with op.batch_alter_table("link", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_link_user_id"), ["user_id"], unique=False)

    op.create_table(
        "bot_version",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(length=40), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column(
            "status",
            sa.Enum(
                "checking",
                "ready",
                "refused",
                name="versionstatus",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_bot_version_bot_id_bot")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot_version")),
        sa.UniqueConstraint("bot_id", "number", name=op.f("uq_bot_version_bot_id_number")),
    )
    with op.batch_alter_table("bot_version", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_bot_version_digest"), ["digest"], unique=False)

    op.create_table(
        "match",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=True),
        sa.Column("leg", sa.Integer(), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("requester_id", sa.Integer(), nullable=True),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("opening", sa.JSON(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("progress", sa.JSON(), nullable=True),
        sa.Column("seq", sa.Integer(), nullable=True),
        sa.Column("fixed", sa.DateTime(), nullable=True),
        sa.Column("played_by", sa.String(length=120), nullable=True),
        sa.Column(
            "status",
            sa.Enum(
                "open",
                "issued",
                "fixed",
                "set aside",
                "void",
                name="jobstatus",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("ticket", sa.String(length=64), nullable=True),
        sa.Column("lease_ends", sa.DateTime(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("worker", sa.String(length=120), nullable=True),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.CheckConstraint(
            "(status = 'issued') = (lease_ends IS NOT NULL AND ticket IS NOT NULL)",
            name=op.f("ck_match_lease"),
        ),
        sa.CheckConstraint("status = 'issued' OR worker IS NULL", name=op.f("ck_match_worker")),
        sa.CheckConstraint(
            "status = 'void' OR (status = 'fixed') = (seq IS NOT NULL)", name=op.f("ck_match_seq")
        ),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competition.id"], name=op.f("fk_match_competition_id_competition")
        ),
        sa.ForeignKeyConstraint(
            ["requester_id"], ["user.id"], name=op.f("fk_match_requester_id_user")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_match")),
        sa.UniqueConstraint("seq", name=op.f("uq_match_seq")),
    )
    with op.batch_alter_table("match", schema=None) as batch_op:
        batch_op.create_index("ix_match_competition_id_id", ["competition_id", "id"], unique=False)
        batch_op.create_index(
            "ix_match_competition_status_seq", ["competition_id", "status", "seq"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_match_requester_id"), ["requester_id"], unique=False)
        batch_op.create_index("ix_match_status_id", ["status", "id"], unique=False)

    op.create_table(
        "sitting",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("guest", sa.String(length=64), nullable=True),
        sa.Column("form", sa.String(length=64), nullable=False),
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("game", sa.JSON(), nullable=False),
        sa.Column("plies", sa.Integer(), nullable=False),
        sa.Column("moved", sa.DateTime(), nullable=False),
        sa.Column("finished", sa.DateTime(), nullable=True),
        sa.Column(
            "status",
            sa.Enum(
                "open",
                "issued",
                "fixed",
                "set aside",
                "void",
                name="jobstatus",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("ticket", sa.String(length=64), nullable=True),
        sa.Column("lease_ends", sa.DateTime(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("worker", sa.String(length=120), nullable=True),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.CheckConstraint(
            "(status = 'issued') = (lease_ends IS NOT NULL AND ticket IS NOT NULL)",
            name=op.f("ck_sitting_lease"),
        ),
        sa.CheckConstraint(
            "finished IS NULL OR status IN ('fixed', 'void')", name=op.f("ck_sitting_finished")
        ),
        sa.CheckConstraint("status = 'issued' OR worker IS NULL", name=op.f("ck_sitting_worker")),
        sa.CheckConstraint("(user_id IS NULL) <> (guest IS NULL)", name=op.f("ck_sitting_person")),
        sa.ForeignKeyConstraint(
            ["ladder_id"], ["competition.id"], name=op.f("fk_sitting_ladder_id_competition")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_sitting_user_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sitting")),
        sa.UniqueConstraint("form", name=op.f("uq_sitting_form")),
    )
    with op.batch_alter_table("sitting", schema=None) as batch_op:
        batch_op.create_index("ix_sitting_finished_moved", ["finished", "moved"], unique=False)
        batch_op.create_index("ix_sitting_guest_id", ["guest", "id"], unique=False)
        batch_op.create_index("ix_sitting_status_id", ["status", "id"], unique=False)
        batch_op.create_index("ix_sitting_user_id_id", ["user_id", "id"], unique=False)

    op.create_table(
        "test_tally",
        sa.Column("test_id", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=120), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("candidate_faults", sa.JSON(), nullable=False),
        sa.Column("baseline_faults", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["test_id"], ["competition.id"], name=op.f("fk_test_tally_test_id_competition")
        ),
        sa.PrimaryKeyConstraint("test_id", "worker", name=op.f("pk_test_tally")),
    )
    op.create_table(
        "check",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("test_first", sa.JSON(), nullable=True),
        sa.Column(
            "status",
            sa.Enum(
                "open",
                "issued",
                "fixed",
                "set aside",
                "void",
                name="jobstatus",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("ticket", sa.String(length=64), nullable=True),
        sa.Column("lease_ends", sa.DateTime(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("worker", sa.String(length=120), nullable=True),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.CheckConstraint(
            "(status = 'issued') = (lease_ends IS NOT NULL AND ticket IS NOT NULL)",
            name=op.f("ck_check_lease"),
        ),
        sa.CheckConstraint("status = 'issued' OR worker IS NULL", name=op.f("ck_check_worker")),
        sa.ForeignKeyConstraint(
            ["ladder_id"], ["competition.id"], name=op.f("fk_check_ladder_id_competition")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["bot_version.id"], name=op.f("fk_check_version_id_bot_version")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_check")),
    )
    with op.batch_alter_table("check", schema=None) as batch_op:
        batch_op.create_index("ix_check_status_id", ["status", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_check_version_id"), ["version_id"], unique=False)

    op.create_table(
        "entrant",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column(
            "state",
            sa.Enum(
                "active",
                "retired",
                "suspended",
                name="entrantstate",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("predecessor_id", sa.Integer(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("entered", sa.DateTime(), nullable=False),
        sa.Column("entered_after", sa.Integer(), nullable=False),
        sa.Column("mu", sa.Double(), nullable=False),
        sa.Column("sigma", sa.Double(), nullable=False),
        sa.Column(
            "conservative",
            sa.Double(),
            sa.Computed("mu - 3 * sigma", persisted=True),
            nullable=False,
        ),
        sa.Column("trend", sa.JSON(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("best_rank", sa.Integer(), nullable=True),
        sa.Column("best_rank_at", sa.DateTime(), nullable=True),
        sa.Column("last_game", sa.DateTime(), nullable=True),
        sa.Column("returned", sa.DateTime(), nullable=True),
        sa.CheckConstraint(
            "(best_rank IS NULL) = (best_rank_at IS NULL)", name=op.f("ck_entrant_best_rank")
        ),
        sa.CheckConstraint("games = wins + draws + losses", name=op.f("ck_entrant_games")),
        sa.CheckConstraint("sigma > 0", name=op.f("ck_entrant_sigma")),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competition.id"],
            name=op.f("fk_entrant_competition_id_competition"),
        ),
        sa.ForeignKeyConstraint(
            ["predecessor_id"], ["entrant.id"], name=op.f("fk_entrant_predecessor_id_entrant")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["bot_version.id"], name=op.f("fk_entrant_version_id_bot_version")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entrant")),
        sa.UniqueConstraint(
            "competition_id", "version_id", name=op.f("uq_entrant_competition_id_version_id")
        ),
    )
    with op.batch_alter_table("entrant", schema=None) as batch_op:
        batch_op.create_index(
            "ix_entrant_board", ["competition_id", "state", "conservative"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_entrant_version_id"), ["version_id"], unique=False)

    op.create_table(
        "game",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("match_id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column(
            "termination",
            sa.Enum(
                "normal",
                "repetition",
                "plylimit",
                "illegal",
                "timeout",
                "crash",
                "memory",
                "protocol",
                "start",
                "resign",
                "void",
                name="termination",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("plies", sa.Integer(), nullable=False),
        sa.Column("finished", sa.DateTime(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competition.id"], name=op.f("fk_game_competition_id_competition")
        ),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_game_match_id_match")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_game")),
        sa.UniqueConstraint("match_id", "number", name=op.f("uq_game_match_id_number")),
    )
    with op.batch_alter_table("game", schema=None) as batch_op:
        batch_op.create_index("ix_game_competition_id_id", ["competition_id", "id"], unique=False)

    op.create_table(
        "sitting_seat",
        sa.Column("sitting_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["sitting_id"], ["sitting.id"], name=op.f("fk_sitting_seat_sitting_id_sitting")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["bot_version.id"], name=op.f("fk_sitting_seat_version_id_bot_version")
        ),
        sa.PrimaryKeyConstraint("sitting_id", "seat", name=op.f("pk_sitting_seat")),
    )
    with op.batch_alter_table("sitting_seat", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_sitting_seat_version_id"), ["version_id"], unique=False
        )

    op.create_table(
        "game_seat",
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column(
            "fault",
            sa.Enum(
                "normal",
                "repetition",
                "plylimit",
                "illegal",
                "timeout",
                "crash",
                "memory",
                "protocol",
                "start",
                "resign",
                "void",
                name="termination",
                native_enum=False,
                create_constraint=True,
                length=20,
            ),
            nullable=True,
        ),
        sa.Column("cpu_us", sa.BigInteger(), nullable=False),
        sa.Column("mu_before", sa.Double(), nullable=True),
        sa.Column("sigma_before", sa.Double(), nullable=True),
        sa.Column("mu_after", sa.Double(), nullable=True),
        sa.Column("sigma_after", sa.Double(), nullable=True),
        sa.Column("log", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["entrant_id"], ["entrant.id"], name=op.f("fk_game_seat_entrant_id_entrant")
        ),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_game_seat_game_id_game")),
        sa.PrimaryKeyConstraint("game_id", "seat", name=op.f("pk_game_seat")),
    )
    with op.batch_alter_table("game_seat", schema=None) as batch_op:
        batch_op.create_index(
            "ix_game_seat_entrant_id_game_id", ["entrant_id", "game_id"], unique=False
        )

    op.create_table(
        "meeting",
        sa.Column("first_id", sa.Integer(), nullable=False),
        sa.Column("second_id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.CheckConstraint("first_id < second_id", name=op.f("ck_meeting_order")),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competition.id"],
            name=op.f("fk_meeting_competition_id_competition"),
        ),
        sa.ForeignKeyConstraint(
            ["first_id"], ["entrant.id"], name=op.f("fk_meeting_first_id_entrant")
        ),
        sa.ForeignKeyConstraint(
            ["second_id"], ["entrant.id"], name=op.f("fk_meeting_second_id_entrant")
        ),
        sa.PrimaryKeyConstraint("first_id", "second_id", name=op.f("pk_meeting")),
    )
    with op.batch_alter_table("meeting", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_meeting_competition_id"), ["competition_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_meeting_second_id"), ["second_id"], unique=False)

    op.create_table(
        "place",
        sa.Column("match_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["entrant_id"], ["entrant.id"], name=op.f("fk_place_entrant_id_entrant")
        ),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_place_match_id_match")),
        sa.PrimaryKeyConstraint("match_id", "number", name=op.f("pk_place")),
    )
    with op.batch_alter_table("place", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_place_entrant_id"), ["entrant_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("place", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_place_entrant_id"))

    op.drop_table("place")
    with op.batch_alter_table("meeting", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_meeting_second_id"))
        batch_op.drop_index(batch_op.f("ix_meeting_competition_id"))

    op.drop_table("meeting")
    with op.batch_alter_table("game_seat", schema=None) as batch_op:
        batch_op.drop_index("ix_game_seat_entrant_id_game_id")

    op.drop_table("game_seat")
    with op.batch_alter_table("sitting_seat", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sitting_seat_version_id"))

    op.drop_table("sitting_seat")
    with op.batch_alter_table("game", schema=None) as batch_op:
        batch_op.drop_index("ix_game_competition_id_id")

    op.drop_table("game")
    with op.batch_alter_table("entrant", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_entrant_version_id"))
        batch_op.drop_index("ix_entrant_board")

    op.drop_table("entrant")
    with op.batch_alter_table("check", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_check_version_id"))
        batch_op.drop_index("ix_check_status_id")

    op.drop_table("check")
    op.drop_table("test_tally")
    with op.batch_alter_table("sitting", schema=None) as batch_op:
        batch_op.drop_index("ix_sitting_user_id_id")
        batch_op.drop_index("ix_sitting_status_id")
        batch_op.drop_index("ix_sitting_guest_id")
        batch_op.drop_index("ix_sitting_finished_moved")

    op.drop_table("sitting")
    with op.batch_alter_table("match", schema=None) as batch_op:
        batch_op.drop_index("ix_match_status_id")
        batch_op.drop_index(batch_op.f("ix_match_requester_id"))
        batch_op.drop_index("ix_match_competition_status_seq")
        batch_op.drop_index("ix_match_competition_id_id")

    op.drop_table("match")
    with op.batch_alter_table("bot_version", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_bot_version_digest"))

    op.drop_table("bot_version")
    with op.batch_alter_table("link", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_link_user_id"))

    op.drop_table("link")
    with op.batch_alter_table("competition", schema=None) as batch_op:
        batch_op.drop_index("ix_competition_kind_state")
        batch_op.drop_index(batch_op.f("ix_competition_game"))

    op.drop_table("competition")
    with op.batch_alter_table("bot", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_bot_owner_id"))

    op.drop_table("bot")
    with op.batch_alter_table("audit_entry", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_audit_entry_subject"))
        batch_op.drop_index(batch_op.f("ix_audit_entry_actor_id"))
        batch_op.drop_index(batch_op.f("ix_audit_entry_action"))

    op.drop_table("audit_entry")
    with op.batch_alter_table("api_token", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_api_token_user_id"))

    op.drop_table("api_token")
    op.drop_table("worker")
    op.drop_table("user")
    op.drop_table("mark")
