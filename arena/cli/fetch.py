"""The process that asks git repositories for what is new, and hands it in; then it ends.

The recorder starts it when something is due (`arena.operation.fetching`), and waits for nothing
that is done here. A few are asked at once, of one person one at a time. What a repository has is
asked for by `arena.bots.git_protocol`, unpacked by git in a box (`workers.checkouts`), and then
goes the way of an upload.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Set
from contextlib import closing
from pathlib import Path
from threading import Thread

from sqlalchemy.orm import Session

from arena.bots import repositories, sending
from arena.bots.forges import Commit
from arena.bots.git_protocol import Remote, RepositoryError
from arena.bots.repositories import WantedRepository
from arena.cli.bundle_intake import BundleIntake
from arena.ground.config import Settings, load
from arena.ground.db import FAILED, Database, database_time
from arena.ground.logs import begin_log
from arena.ground.outside import OutsideError, connected, read_address
from arena.ground.refusals import Refusal
from workers.bundles import write_files
from workers.checkouts import Checkout, CheckoutError, check_out
from workers.program import BoxError
from workers.sandbox import Sandbox

AT_ONCE = 4
LOOK_SECONDS = 0.5
RUN_SECONDS = 1200.0
"""How long it runs until it ends, and is begun again if there is more."""
SECONDS = 60.0
"""How long a host may take to give a commit."""

log = logging.getLogger("arena.fetch")


class Fetching:
    """What asks repositories, until none is due."""

    def __init__(self, settings: Settings, database: Database, parent: int) -> None:
        """Prepares to ask; it asks no repository yet.

        Args:
            parent: the process without which this one ends.
        """
        self._settings, self._database, self._parent = settings, database, parent
        self._intake = BundleIntake(settings.bundles)
        self._lock = threading.Lock()
        self._busy: set[int] = set()
        self._box: Sandbox | BoxError | None = None
        self._ends = time.monotonic() + RUN_SECONDS

    def run(self) -> None:
        """Asks all that is due."""
        threads = [Thread(target=self._go_on, daemon=True) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _go_on(self) -> None:
        while os.getppid() == self._parent and time.monotonic() < self._ends:
            wanted = self._take()
            if wanted is None and not self._busy:
                return
            if wanted is None:
                time.sleep(LOOK_SECONDS)  # others may get theirs while somebody's are slow
                continue
            try:
                self._ask(wanted)
            except FAILED as error:
                log.warning("it waits for the database: %s", str(error).splitlines()[0])
                return
            except Exception:
                log.exception("%s of %s can't be fetched", wanted.address, wanted.bot)
            finally:
                with self._lock:
                    self._busy.discard(wanted.user_id)

    def _take(self) -> WantedRepository | None:
        with self._lock:
            busy: Set[int] = frozenset(self._busy)
            found = self._database.run(
                lambda session: repositories.take_due(session, busy, database_time(session))
            )
            if found:
                self._busy.add(found.user_id)
            return found

    def _ask(self, wanted: WantedRepository) -> None:
        """Asks a repository, hands in what is new, and keeps what came of it."""
        commit, problem = "", wanted.problem
        if not problem:
            try:
                commit, problem = self._fetch(wanted)
            except (OutsideError, CheckoutError, BoxError, Refusal) as error:
                problem = str(error)
            except OSError as error:
                log.exception("%s of %s can't be fetched", wanted.address, wanted.bot)
                problem = f"the arena can't keep it now: {error.strerror}"
        if problem:
            log.info("%s of %s: %s", wanted.address, wanted.bot, problem)
        self._database.run(
            lambda session: repositories.conclude(
                session, wanted, problem, self._settings, database_time(session), commit=commit
            )
        )

    def _fetch(self, wanted: WantedRepository) -> tuple[str, str]:
        """The commit that a repository has, and what is wrong with it, in a line.

        Raises:
            OutsideError: the host does not give it.
            BoxError: no box can be built here.
        """
        place = read_address(wanted.address)
        with (
            tempfile.TemporaryDirectory(prefix="arena-fetch-") as made,
            connected(place, seconds=SECONDS, inside=self._settings.inside_hosts) as connection,
        ):
            remote = Remote(connection, place, wanted.token)
            tip = remote.find(wanted.revision)
            if tip.commit == wanted.commit:
                return tip.commit, ""
            box, pack = self._sandbox(), Path(made, "pack")
            with pack.open("wb") as file:
                remote.fetch(tip, file)
            try:
                found = check_out(box, pack, tip.object, tip.object_format, wanted.folder)
                return tip.commit, self._hand_in(wanted, found, Path(made))
            except (CheckoutError, Refusal) as error:
                # It is not asked for again before there is another commit, or somebody says so.
                return tip.commit, f"commit {tip.commit[:10]}: {error}"

    def _hand_in(self, wanted: WantedRepository, found: Checkout, above: Path) -> str:
        """Hands files in to all ladders; what those say that take nothing."""
        if not found.files:
            raise RepositoryError("there are no files in it")
        # By the folder's name the bot is called, if it says no other; it has one already.
        folder = above / wanted.bot
        folder.mkdir()
        write_files(folder, found.files)
        settings = self._settings
        sender = sending.sender_of(
            self._database,
            settings.bundles,
            wanted.user_id,
            wanted.most_bytes,
            settings.quota_bytes,
        )
        taken = self._intake(folder, sender)
        commit = Commit(found.commit, found.subject, wanted.address)
        refusals = []

        def take_in(ladder: int) -> Callable[[Session], None]:
            return lambda session: repositories.take_in(
                session, wanted, ladder, taken, commit, settings
            )

        for ladder in wanted.ladders:
            try:
                self._database.run(take_in(ladder))
            except Refusal as error:
                refusals.append(error)
        return repositories.problems_of(refusals)

    def _sandbox(self) -> Sandbox:
        """The boxes of this machine, found out once.

        Raises:
            BoxError: none of the operator's minimum can be built.
        """
        with self._lock:
            if self._box is None:
                try:
                    self._box = Sandbox(
                        self._settings.minimum_isolation, _box_folder(), maximum="full"
                    )
                except BoxError as error:
                    self._box = error
        if isinstance(self._box, BoxError):
            raise self._box
        return self._box


def _box_folder() -> Path | None:
    """Where the operator has boxes find what they need, as for workers."""
    named = os.environ.get("ARENA_BOX_FOLDER", "")
    return Path(named) if named else None


def main(settings: Settings | None = None) -> int:
    """Asks until nothing is due, or the recorder that started it is gone."""
    settings = settings or load()
    parent = os.getppid()
    os.nice(10)
    begin_log(settings)
    with closing(Database(settings.database_url)) as database:
        try:
            Fetching(settings, database, parent).run()
        except FAILED as error:
            log.warning("it waits for the database: %s", str(error).splitlines()[0])
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
