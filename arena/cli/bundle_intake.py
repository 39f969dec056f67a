"""Packs and stores bots, for the pages and for what is fetched, which know nothing of workers."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Collection, Mapping
from pathlib import Path

from arena.bots.intake import FirstFiles, Sender, TakenIn
from arena.bots.submissions import SubmissionError
from arena.cli.new import TEMPLATES, contents, name_refusal, program
from arena.ground.refusals import Refusal
from engine.game import Variant
from engine.timers import Every
from workers import bundles
from workers.archives import LEFT_OUT, LEFT_OUT_WITH, MAX_BYTES, BundleError
from workers.files import File
from workers.large_files import Aside
from workers.manifest import read_manifest

ENDING = re.compile(r"(\.tar)?\.\w+$")
MOST_TEXT_BYTES = 256 * 1024
"""The most that a bundle may have whose texts are read, for forms."""
TIDY_SECONDS = 24 * 60 * 60
"""How often the store of bundles is rid of what was not finished, when one is taken in."""


class BundleIntake:
    """Packs what is uploaded, and keeps it in the folder of bundles."""

    largest = MAX_BYTES
    left_out: Collection[str] = LEFT_OUT
    left_out_with: Collection[str] = LEFT_OUT_WITH

    languages: Mapping[str, str] = {key: one.name for key, one in TEMPLATES.items()}

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tidying = Every(TIDY_SECONDS)

    def starter(self, name: str, language: str, variant: Variant) -> FirstFiles:
        """The bot that `arena new` writes.

        Raises:
            Refusal: it can't be called so.
        """
        if words := name_refusal(name):
            raise Refusal(words)
        of = name, TEMPLATES[language], variant
        files, made = contents(*of), program(*of)
        return FirstFiles(made, {path: files[path] for path in files if path not in made})

    def texts(self, digest: str) -> dict[str, str] | None:
        """The files of a stored bundle with their texts, the one to start first; None if some are
        no texts of this size.

        Raises:
            OSError: it is not stored here.
        """
        stored, files = self._folder / digest, dict[str, File]()
        if stored.stat().st_size > MOST_TEXT_BYTES:
            return None
        with tarfile.open(stored) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isreg() else None
                if file is None:  # a link to a large one
                    return None
                files[member.name] = File(file.read())
        main = read_manifest(files).main
        try:
            texts = {path: file.content.decode() for path, file in files.items()}
        except UnicodeDecodeError:
            return None
        return dict(sorted(texts.items(), key=lambda one: one[0] != main))

    def __call__(self, path: Path, sender: Sender) -> TakenIn:
        """Takes in a file, folder or archive.

        Raises:
            SubmissionError: it is no bot.
            Refusal: there is no room for it.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = Aside(self._folder, sender.given)
        try:
            bundle = bundles.pack(path, max_bytes=max(MAX_BYTES, sender.most_bytes), aside=aside)
        except BundleError as error:
            # Where it lay on this server is nobody's business.
            raise SubmissionError(str(error).replace(f"{path.parent}/", "")) from None
        if self._tidying.is_due():
            bundles.sweep_store(self._folder)
        large = {one.digest: one.size for one in bundle.large}
        if large:
            sender.claim(large)
        bundles.store(self._folder, bundle)
        # By what was sent: the file in an archive or a folder is often called bot or main.
        sent = path.name if path.is_dir() else ENDING.sub("", path.name)
        name = bundle.manifest.name or sent
        runtime = bundle.manifest.runtime
        sizes = bundle.size, bundle.files_bytes
        return TakenIn(bundle.digest, *sizes, bundle.language, name, large, runtime)
