"""What can be changed about tournaments: one is made, paused, opened again and called off, and
bots enter it and leave it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from arena import audit
from arena.competitions import tournament_fields, tournaments
from arena.competitions.date_deeds import DATES, set_dates
from arena.competitions.dates import demand_entries_open, moment_words
from arena.competitions.drawn_fields import draw
from arena.competitions.fields import (
    MOST_ENTRANTS,
    entrants_of,
    field_of,
    seeded_by,
)
from arena.competitions.founding import come_back, find_named
from arena.competitions.organised import OrganisedDeed
from arena.competitions.players import NamedPlayer, named_players
from arena.competitions.rules import CreateByRules
from arena.competitions.sign_ups import (
    LONGEST_CHECK_IN,
    SEEDINGS,
    Conditions,
    closes,
    most_places,
)
from arena.competitions.tournament_ends import demand_not_over
from arena.competitions.tournament_forecasts import TournamentForecast, of_new
from arena.competitions.tournament_notifications import tell_taken_out
from arena.competitions.tournament_progress import new_frame
from arena.competitions.tournaments import (
    TournamentPlan,
    call_off,
)
from arena.competitions.visibility import demand_shown
from arena.deeds import LONGEST_NAME, LONGEST_NOTE, By, Deed, Done, asked
from arena.formats.catalogue import FORMATS, settings_for
from arena.formats.standings import TIE_BREAKS
from arena.ground import texts
from arena.ground.bot_names import LONGEST_PLAYER
from arena.ground.locks import lock
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import (
    CompetitionState,
    DateKind,
    Entrant,
    Ladder,
    Scope,
    Tournament,
    Visibility,
)
from arena.models.competitions import LONGEST_TITLE
from engine.game import Variant
from engine.translation import N_, gettext, ngettext, translated

SETTINGS = "; ".join(
    f"{name}: " + ", ".join(f"{key} ({setting.words})" for key, setting in kind.settings.items())
    for name, kind in FORMATS.items()
    if kind.settings
)


@dataclass(frozen=True)
class CreateTournament(CreateByRules):
    """Make a tournament, which begins as soon as a worker is free.

    The versions that it is made of stay in it, whatever is submitted later.
    """

    scope = Scope.ORGANISE
    address = "POST /tournaments"
    subject = "tournaments"
    answers = Tournament

    name: str = asked("What addresses and commands call it", label="Name", most=LONGEST_NAME)
    format: str = asked(
        f"By what it is decided who meets whom, one of {', '.join(FORMATS)}",
        label="Format",
        choices=tuple(FORMATS),
    )
    title: str = asked(
        "For people; by default the name", label="Title", default="", most=LONGEST_TITLE
    )
    bots: tuple[str, ...] | None = asked(
        "The field, each as greedy, greedy:2 or greedy:2:depth=8; by default all that are active "
        "on the ladder",
        label="Bots",
        default=None,
        most=MOST_ENTRANTS,
    )
    as_given: bool = asked(
        "Seed the bots in this order, not by their ratings",
        label="Seed them in this order, not by their ratings",
        default=False,
    )
    top: int | None = asked(
        "Only the first so many by seeding",
        label="Only the first so many",
        default=None,
        least=2,
        most=1000,
    )
    no_options: bool = asked(
        "Take no bots with options, as greedy:depth=8",
        label="Take no bots with options, as greedy:depth=8",
        default=False,
    )
    settings: Mapping[str, int] = asked(f"The format's. {SETTINGS}", default={})
    tie_breaks: tuple[str, ...] | None = asked(
        f"In their order, from {', '.join(TIE_BREAKS)}; a lot is last", default=None, most=10
    )
    memory: int | None = asked(
        "MiB for each bot; by default the ladder's", default=None, least=16, most=65_536
    )
    openings: str = asked(
        "random: a balanced one for each match; empty: the game's start; or the name of a book; by "
        "default the ladder's",
        label="Openings",
        default="",
        most=LONGEST_NAME,
    )
    seed: int = asked(
        "Of pairings, openings and lots", label="Seed", default=0, least=0, most=2**48 - 1
    )
    visibility: str | None = asked(
        "public (everybody), unlisted (who has its address) or private (members alone); by default "
        "who sees all of its bots",
        label="Who sees it",
        default=None,
        choices=tuple(map(str, Visibility)),
    )
    anonymous: bool = asked(
        "Show made-up names instead of bots' and owners' until it is over",
        label="Anonymous until it is over: made-up names for bots and people",
        default=False,
    )
    paused: bool = asked(
        "Make no match until it is opened: its field can change so long",
        label="Let it wait: its field can change until you open it",
        default=False,
    )
    dates: Mapping[str, str] = asked(DATES, default={})
    sign_up: bool = asked(
        "Bots sign up until its entries close (--dates entries-close=...), and then it begins",
        label="Bots sign up for it",
        default=False,
    )
    places: int | None = asked(
        "How many of those that sign up play; by default as many as the format can have",
        label="Places",
        default=None,
        least=2,
        most=MOST_ENTRANTS,
    )
    rated_games: int = asked(
        "How many rated games a bot that signs up must have had on the ladder",
        label="Rated games on the ladder",
        default=0,
        least=0,
        most=1_000_000,
    )
    each_person: int = asked(
        "How many bots of one person may sign up",
        label="Bots a person",
        default=1,
        least=1,
        most=MOST_ENTRANTS,
    )
    check_in: int = asked(
        "For how many minutes before it begins those that signed up are to be confirmed; 0 for not "
        "at all",
        label="Check-in, minutes before it begins",
        default=0,
        least=0,
        most=LONGEST_CHECK_IN,
    )
    seeding: str = asked(
        "How those that signed up are seeded: by their ratings on the ladder, by lots, or in the "
        "order in which they signed up",
        label="Seeding",
        default="",
        choices=SEEDINGS,
    )

    def do(self, session: Session, by: By) -> Done:
        ladder, variant, time, limits = self.rules(session)
        paused = self.paused or DateKind.OPENS in self.dates
        if self.memory is not None:
            limits = replace(limits, memory_bytes=self.memory * 2**20)
        usual = "random" if ladder is None else ladder.openings_words
        plan = TournamentPlan(
            self.name,
            variant,
            time,
            self.format,
            title=self.title,
            settings=self.settings,
            tie_breaks=self.tie_breaks,
            openings=self.openings or usual,
            limits=limits,
            seed=self.seed,
            note=self.note,
            allows_options=not self.no_options,
            paused=paused,
            visibility=Visibility(self.visibility) if self.visibility else None,
            anonymous=self.anonymous,
        )
        if self.sign_up:
            return self._open_to_sign_ups(session, by, ladder, plan)
        field = self._field(session, by, ladder)[: self.top]
        if plan.visibility is not None:
            try:
                demand_shown(session, self.name, [player.version for player in field], by)
            except NotAllowed:
                if plan.visibility is not Visibility.PRIVATE:
                    raise
                # Those see it who see its bots, and it does not become public before these are.
                plan = replace(plan, visibility=None)
        made = tournaments.create(session, plan, field, by.now, by.actor)
        set_dates(session, made, self.dates, by)
        form = translated(FORMATS[self.format].title).lower()
        what = gettext("%(format)s of %(bots)s bots", format=form, bots=len(field))
        expected = self._expected(session, by, ladder, variant, len(field))
        what = f"{what}, {expected.words}"
        then = (
            N_("the tournament %(name)s waits until you open it: %(what)s")
            if paused
            else N_("the tournament %(name)s begins as soon as a worker is free: %(what)s")
        )
        return Done(gettext(then, name=made.name, what=what), made)

    def _open_to_sign_ups(
        self, session: Session, by: By, ladder: Ladder | None, plan: TournamentPlan
    ) -> Done:
        if self.bots is not None or self.top is not None or self.as_given:
            raise Refusal(
                gettext("bots sign up for it: leave out bots, top and as_given, or sign_up")
            )
        if DateKind.ENTRIES_CLOSE not in self.dates:
            raise Refusal(
                gettext("say until when bots sign up: the date %(date)s", date="entries-close")
            )
        if ladder is None and (self.rated_games or self.seeding == "rating"):
            raise Refusal(
                gettext("rated games and seeding by rating are those of a ladder: name one")
            )
        usual = "order" if ladder is None else "rating"
        if plan.anonymous and ladder is not None and not ladder.anonymous:
            usual = "order"
            if self.seeding == "rating":
                raise Refusal(
                    gettext(
                        "an anonymous tournament is seeded by lots or in the order in which bots "
                        "sign up: ratings on %(ladder)s would tell who is who",
                        ladder=ladder.name,
                    )
                )
        most = most_places(
            plan.format, lambda size: new_frame(plan.variant, size, plan.seed), plan.settings
        )
        conditions = Conditions(
            self.places or most,
            self.rated_games,
            self.each_person,
            self.check_in,
            self.seeding or usual,
            dict(plan.settings),
        )
        its_ladder = None if ladder is None else ladder.id
        plan = replace(plan, sign_up=conditions.to_json(), ladder_id=its_ladder)
        made = tournaments.create(session, plan, [], by.now, by.actor)
        set_dates(session, made, self.dates, by)
        words = moment_words(closes(session, made) or by.now)
        return Done(
            gettext(
                "bots sign up for the tournament %(name)s until %(moment)s",
                name=made.name,
                moment=words,
            ),
            made,
        )

    def expected(self, session: Session, by: By) -> TournamentForecast:
        """What it would take, before it is made.

        Raises:
            Refusal: it can't be made so.
        """
        ladder, variant, _, _ = self.rules(session)
        size = len(self._field(session, by, ladder)[: self.top])
        return self._expected(session, by, ladder, variant, size)

    def _expected(
        self, session: Session, by: By, ladder: Ladder | None, variant: Variant, size: int
    ) -> TournamentForecast:
        frame = new_frame(variant, size, self.seed)
        form = FORMATS[self.format].build(frame, settings_for(self.format, frame, self.settings))
        return of_new(session, form, size, ladder, by.now)

    def _field(self, session: Session, by: By, ladder: Ladder | None) -> list[NamedPlayer]:
        """Who plays, the first of the seeding first."""
        if self.bots is not None:
            named = named_players(session, self.bots, by)
            if ladder is None or self.as_given:
                return named
            return seeded_by(session, ladder, named)
        if ladder is None:
            raise Refusal(gettext("say by whom it is played: without a ladder the bots are named"))
        return field_of(session, ladder)


@dataclass(frozen=True)
class TournamentDeed(OrganisedDeed):
    """Changes a tournament; answers it."""

    kind = Tournament
    subject = "tournaments"
    answers = Tournament

    name: str = asked("The tournament's name")


@dataclass(frozen=True)
class ChangeTournament(TournamentDeed):
    """Pause a tournament, or open it again.

    While it is paused no more of its matches are made; those under way are played to their end.
    One for which bots sign up is opened by drawing its field at once.
    """

    address = "PATCH /tournaments/<name>"

    state: str = asked("How it is to be", choices=("open", "paused"))

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Tournament, self.name)
        lock(session, found)  # the recorder may be closing it
        demand_not_over(found)
        undo: tuple[Deed, ...] = ()
        if found.signing_up and self.state == CompetitionState.OPEN:
            if not draw(session, found, by.now, by.now, by.actor):
                its = {"name": self.name, "reason": found.reason}
                return Done(gettext("%(name)s was called off: %(reason)s", **its), found)
        elif found.state != self.state:
            undo = (ChangeTournament(self.name, str(found.state)),)
            found.state = CompetitionState(self.state)
            if found.state is CompetitionState.OPEN:
                come_back(session, found)
            action = "resume" if found.state is CompetitionState.OPEN else "pause"
            subject = f"tournament {found.name}"
            audit.note(session, by.actor, f"{action} tournament", subject, now=by.now)
        is_so = (
            N_("the tournament %(name)s is open")
            if found.state is CompetitionState.OPEN
            else N_("the tournament %(name)s is paused")
        )
        return Done(gettext(is_so, name=self.name), found, undo)


@dataclass(frozen=True)
class EnterTournament(TournamentDeed):
    """Enter bots in a tournament that has not begun; they come last in the seeding.

    To have time for that, make it paused.
    """

    address = "POST /tournaments/<name>/enter"
    command = "tournament enter NAME BOTS..."
    example = "cup mybot:2 greedy"
    adds = True

    bots: tuple[str, ...] = asked(
        "Bots, as greedy, greedy:2 for one of its versions, or greedy:2:depth=8 with options",
        label="Bots",
        most=MOST_ENTRANTS,
    )

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Tournament, self.name)
        demand_entries_open(session, found, by.now)
        players = named_players(session, self.bots, by)
        demand_shown(session, self.name, [one.version for one in players], by, found)
        tournament_fields.enter(session, found, players, by.now, by.actor)
        size = len(entrants_of(session, found))
        labels = ", ".join(one.label for one in players)
        return Done(
            gettext(
                "in the tournament %(name)s, of %(size)s bots now: %(labels)s",
                name=self.name,
                size=size,
                labels=labels,
            ),
            found,
        )


def may_withdraw(by: By, entrant: Entrant) -> bool:
    """Whether it is for somebody to take an entrant out of its tournament."""
    return by.organises(entrant.competition) or by.owns(entrant.version.bot)


@dataclass(frozen=True)
class WithdrawFromTournament(TournamentDeed):
    """Take a bot out of a tournament: any for organisers, one's own for everybody else.

    Until its first match is made it is as if the bot had never been in it. After that its
    results stand, that of a match under way, too, and what it has not begun it forfeits; that
    can't be undone.
    """

    scope = Scope.SUBMIT
    address = "POST /tournaments/<name>/withdraw"
    command = "tournament withdraw NAME BOT"
    example = 'cup mybot --note "its owner asked for it"'
    lasting = (
        "If the tournament has begun, the bot's results stand, and what it has not begun it "
        "forfeits; else it is as if it had never been in the field. This can't be undone."
    )

    bot: str = asked("The bot, as greedy, or greedy:2 for one of its versions", most=LONGEST_PLAYER)
    note: str = asked(
        "Why, for everybody to read; needed once it has begun", default="", most=LONGEST_NOTE
    )

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Tournament, self.name)
        entrant = tournament_fields.find_entrant(session, found, self.bot)
        label = entrant.label
        if not may_withdraw(by, entrant):
            raise NotAllowed(
                gettext("%(label)s is for its owner or an organiser to withdraw", label=label)
            )
        bot = entrant.version.bot
        begun = tournament_fields.withdraw(session, found, entrant, self.note, by.now, by.actor)
        tell_taken_out(session, found, bot, texts.typed(self.note), by)
        is_so = (
            N_("the bot %(label)s is withdrawn from the tournament %(name)s")
            if begun
            else N_("the bot %(label)s is no more in the tournament %(name)s")
        )
        return Done(gettext(is_so, label=label, name=self.name), found)


@dataclass(frozen=True)
class CallOffTournament(TournamentDeed):
    """Call a tournament off for ever.

    What is not played yet never is, matches under way included; the results so far stay to be
    read, and there is no winner. It can't be undone.
    """

    address = "POST /tournaments/<name>/call-off"
    command = "tournament call-off NAME"
    example = 'cup --note "too few bots"'
    lasting = (
        "What is not played yet never is, matches under way included. The results so far stay to "
        "be read, and there is no winner. This can't be undone."
    )

    note: str = asked("Why, for everybody to read", most=LONGEST_NOTE)

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Tournament, self.name)
        withdrawn = call_off(session, found, self.note, by.now, by.actor)
        if not withdrawn:
            return Done(gettext("the tournament %(name)s is called off", name=self.name), found)
        return Done(
            ngettext(
                "the tournament %(name)s is called off; %(count)s match withdrawn",
                "the tournament %(name)s is called off; %(count)s matches withdrawn",
                withdrawn,
                name=self.name,
                count=withdrawn,
            ),
            found,
        )
