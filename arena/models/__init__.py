"""What the arena knows: people, bots, competitions, matches, games.

The database holds matches and their results; ratings and counters on entrants and competitions
are kept beside them to be read fast, and can be made anew from the games
(`arena.recorder.recording`).
"""

from __future__ import annotations

from arena.models.analyses import Analysis, BotAnswer, Question
from arena.models.audit import AuditEntry
from arena.models.base import Base, Mark, UtcTime
from arena.models.books import OpeningBook
from arena.models.bots import (
    AT_HOME,
    Bot,
    BotTag,
    BotVersion,
    CoOwner,
    DiscardedFile,
    LargeFile,
    Picture,
    Presence,
    SentFile,
    VersionStatus,
    owners_of_bots,
    sharers_of_bots,
)
from arena.models.changes import ChangedPart, Epoch
from arena.models.checkpoints import CheckedChapter, Checkpoint
from arena.models.competitions import (
    USUAL_LIMITS,
    Approval,
    Competition,
    CompetitionLimits,
    CompetitionState,
    OpeningPolicy,
    Visibility,
)
from arena.models.courses import ReadCode, TaughtCourse
from arena.models.dates import CompetitionDate, DateKind
from arena.models.entrants import (
    BARRED,
    BARRED_AWAY,
    TRIED,
    Entrant,
    EntrantState,
    Meeting,
    own_words,
    player_label,
)
from arena.models.judged import JudgedSeat
from arena.models.keeping import DayFile, Dictionary
from arena.models.kinds import (
    CALLED_OFF,
    SIGNING_UP,
    WAITS,
    BotTuning,
    Comparison,
    HomeRule,
    Ladder,
    SignUp,
    StrengthTest,
    TestPreset,
    TestTally,
    TestVerdict,
    Tournament,
)
from arena.models.lines import GameLine, LineBranch
from arena.models.listed import (
    GameDay,
    GameDayCount,
    GameTag,
    GameValue,
    ListedSeat,
    SeatResult,
    Selection,
)
from arena.models.match_sets import MatchOfSet, MatchSet, MemberState, SetState, SetVerdict
from arena.models.matches import (
    ALIVE_SECONDS,
    COMPLETED,
    Build,
    Check,
    GameSeat,
    JobStatus,
    Leasable,
    Match,
    Place,
    PlayedGame,
    Worker,
)
from arena.models.members import MemberRole, Membership
from arena.models.naming import FormerName
from arena.models.notifications import (
    Delivery,
    DeliveryState,
    Follow,
    Hook,
    HookFormat,
    Mail,
    MailChoice,
    Notification,
    Topic,
    Wishes,
)
from arena.models.people import (
    GUEST,
    HOUSE,
    PERSON,
    RESERVED,
    SCOPES,
    TEAM,
    AccountLink,
    ApiToken,
    BrowserSession,
    FormerMember,
    Identity,
    LinkKind,
    Passkey,
    RecoveryCode,
    Role,
    Scope,
    Team,
    TeamMember,
    User,
)
from arena.models.repositories import Repository
from arena.models.rounds import DivisionPlace, LadderRound
from arena.models.runtimes import Runtime
from arena.models.searching import SearchEntry
from arena.models.settings import ChangedSetting
from arena.models.sittings import Sitting, SittingSeat
from arena.models.speeds import SpeedTally
from arena.models.spent_quotas import SpentKind, SpentQuota
