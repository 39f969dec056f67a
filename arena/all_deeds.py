"""Everything that can be changed, by pages, API and commands alike: a deed is known by its line."""

from __future__ import annotations

from arena.analyses.analysis_deeds import KeepAnalysis, RemoveAnalysis
from arena.analyses.asking import AskBots
from arena.bots.account_deletion import DeleteUser
from arena.bots.bar_deeds import BarBot, UnbarBot
from arena.bots.bot_deeds import (
    CancelCheck,
    ChangeBot,
    EnterBot,
    RetireBot,
    ShareBot,
    UnshareBot,
    WithdrawBot,
)
from arena.bots.deletion import DeleteBot
from arena.bots.follow_deeds import (
    FollowBot,
    FollowCompetition,
    UnfollowBot,
    UnfollowCompetition,
)
from arena.bots.home_deeds import ConnectBot
from arena.bots.member_deeds import (
    AddMember,
    ChangeVisibility,
    ImportMembers,
    JoinCompetition,
    LeaveCompetition,
    RemoveMember,
    RenewJoinCode,
)
from arena.bots.profile_deeds import DescribeBot, PictureBot, RenameBot
from arena.bots.repository_deeds import FetchRepository, FollowRepository, UnfollowRepository
from arena.bots.runtimes import RemoveRuntime
from arena.bots.team_deeds import (
    DescribeTeam,
    DissolveTeam,
    FoundTeam,
    GiveBot,
    HandOverTeam,
    JoinTeam,
    LeaveTeam,
    RemoveTeamMember,
    RenameTeam,
    RenewTeamCode,
)
from arena.competitions.book_deeds import AddBook, RemoveBook
from arena.competitions.comparisons import ApproveComparison
from arena.competitions.date_deeds import RemoveDate, SetDate
from arena.competitions.gauntlet_deeds import CreateGauntlet, StopGauntlet
from arena.competitions.ladder_deeds import ChangeLadder, CreateLadder
from arena.competitions.mask_deeds import LookBehindMasks, RevealCompetition
from arena.competitions.presets import KeepPreset, RemovePreset
from arena.competitions.renaming import RenameCompetition
from arena.competitions.round_deeds import NameBoss
from arena.competitions.sign_up_deeds import CheckInBot, SignOffBot, SignUpBot
from arena.competitions.strength_deeds import (
    CloneTest,
    CreateTest,
    ExtendTest,
    PrioritiseTest,
    StopTest,
)
from arena.competitions.strength_exclusions import ExcludeWorker, IncludeWorker
from arena.competitions.tournament_deeds import (
    CallOffTournament,
    ChangeTournament,
    CreateTournament,
    EnterTournament,
    WithdrawFromTournament,
)
from arena.competitions.tuning_deeds import (
    CreateTuning,
    ExtendTuning,
    PauseTuning,
    ResumeTuning,
    StopTuning,
)
from arena.courses.course_deeds import ChooseHandIn, MarkCourse, PublishMarks, SetCourse
from arena.deeds import Deed
from arena.lists.selection_deeds import KeepSelection, RemoveSelection
from arena.operation.maintenance import SetMaintenance
from arena.operation.notice import GiveNotice
from arena.operation.settings import ChangeSetting
from arena.people.hooks import AddHook, RemoveHook, SendAgain, TryHook
from arena.people.notification_deeds import ChooseTold, ReadNotifications
from arena.people.profiles import DescribeUser, RenameUser
from arena.people.user_deeds import (
    ActivateUser,
    ChangeRole,
    DeactivateUser,
    ResetSecondFactor,
    SetQuota,
)
from arena.recorder.match_set_deeds import ChooseMatches, DecideMatches
from arena.schedule.requests import RequestUnratedMatch
from arena.schedule.verdicts import RequeueChecks, RequeueMatch, VoidMatch
from arena.schedule.workers import ForgetWorker, ReadmitWorker

DEEDS: tuple[type[Deed], ...] = (
    RequestUnratedMatch,
    VoidMatch,
    RequeueMatch,
    RequeueChecks,
    ChooseMatches,
    DecideMatches,
    KeepSelection,
    RemoveSelection,
    AskBots,
    KeepAnalysis,
    RemoveAnalysis,
    AddBook,
    RemoveBook,
    CreateLadder,
    ChangeLadder,
    RenameCompetition,
    BarBot,
    UnbarBot,
    CreateTournament,
    ChangeTournament,
    EnterTournament,
    WithdrawFromTournament,
    CallOffTournament,
    SignUpBot,
    SignOffBot,
    CheckInBot,
    SetDate,
    RemoveDate,
    NameBoss,
    SetCourse,
    MarkCourse,
    PublishMarks,
    ChooseHandIn,
    CreateTest,
    ApproveComparison,
    StopTest,
    ExtendTest,
    PrioritiseTest,
    CloneTest,
    CreateTuning,
    PauseTuning,
    StopTuning,
    ResumeTuning,
    ExtendTuning,
    ExcludeWorker,
    IncludeWorker,
    CreateGauntlet,
    StopGauntlet,
    KeepPreset,
    RemovePreset,
    ChangeVisibility,
    RenewJoinCode,
    AddMember,
    RemoveMember,
    ImportMembers,
    LookBehindMasks,
    RevealCompetition,
    JoinCompetition,
    LeaveCompetition,
    EnterBot,
    ConnectBot,
    RetireBot,
    WithdrawBot,
    ChangeBot,
    DescribeBot,
    PictureBot,
    RenameBot,
    DeleteBot,
    ShareBot,
    UnshareBot,
    GiveBot,
    FoundTeam,
    DescribeTeam,
    RenameTeam,
    RenewTeamCode,
    JoinTeam,
    LeaveTeam,
    RemoveTeamMember,
    HandOverTeam,
    DissolveTeam,
    FollowRepository,
    FetchRepository,
    UnfollowRepository,
    CancelCheck,
    FollowBot,
    UnfollowBot,
    FollowCompetition,
    UnfollowCompetition,
    ReadNotifications,
    ChooseTold,
    AddHook,
    RemoveHook,
    TryHook,
    SendAgain,
    RemoveRuntime,
    ReadmitWorker,
    ForgetWorker,
    GiveNotice,
    ChangeSetting,
    SetMaintenance,
    ChangeRole,
    DeactivateUser,
    ActivateUser,
    SetQuota,
    ResetSecondFactor,
    DescribeUser,
    RenameUser,
    DeleteUser,
)
