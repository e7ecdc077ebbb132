"""Domain space: an aligned space of the words in two texts, learned from them, and from a general space.

Vectors are trained on each text and aligned: by the surest translations that a general space has of its
words, or, without one, as `muse align` does without pairs.
"""

import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch

from muse.api.run import run
from muse.api.settings import settings_of
from muse.embedding.config import EmbedConfig
from muse.embedding.corpus import Corpus
from muse.embedding.training import embed
from muse.errors import BadFile
from muse.files.space_folder import folder_name
from muse.files.vectors.locate import locate_vectors
from muse.progress import Progress
from muse.space import Space, load_space

log = logging.getLogger(__name__)

DIM = 200  # of vectors
# In all, if that takes as many EPOCHS; four of two million tokens instead of six lose 4 points of P@1.
TOKENS_TO_READ = 10_000_000
EPOCHS = (5, 15)  # at least, at most


def general_space(direction: tuple[str, str], folder: Path, progress: Progress) -> Space | None:
    """A space, saved in `folder`, of the vectors of both languages that `muse align` finds; None without."""
    try:
        source, target = map(locate_vectors, direction)
    except BadFile:
        return None
    log.info("no SPACE is given: aligning %s and %s first, to help the texts", source, target)
    return _aligned(direction, (source, target), folder / "general", progress)


def learn_space(
    corpora: Mapping[str, Corpus],
    folder: Path,
    general: Space | None,
    *,
    known: Collection[tuple[str, str]] = (),
    progress: Progress,
) -> Space:
    """A space of the words in the texts of two languages, saved in `folder` with the vectors.

    Its verdict may be any. It learns from the `known` pairs of words, and from the surest of a general space.
    Raise BadFile where there is too little text.
    """
    source, target = corpora
    direction = source, target
    files = [folder / f"{folder_name(language)}.vec" for language in direction]
    then = f"{target} follows", "both are aligned next"
    for out, (language, corpus), after in zip(files, corpora.items(), then, strict=True):
        epochs = min(max(EPOCHS[0], round(TOKENS_TO_READ / corpus.tokens)), EPOCHS[1])
        config = EmbedConfig(dim=DIM, epochs=epochs, threads=torch.get_num_threads())
        made = embed(corpus, out, language=language, config=config, progress=progress)
        log.info("%s: vectors of %s words are learned; %s", language, f"{made.words:,}", after)
    failed = general is None or general.manifest.verdict_on(*direction).label == "failed"
    help_from = None if failed or general is None else general.folder
    more = {"dictionary": sorted(known) or None, "help_from": help_from}
    return _aligned(direction, (files[0], files[1]), folder / "space", progress, **more)


def _aligned(
    direction: tuple[str, str], files: tuple[Path, Path], out: Path, progress: Progress, **more: Any
) -> Space:
    """The space, saved in `out`, that `muse align` makes of the vectors of both languages."""
    (src, tgt), (src_emb, tgt_emb) = direction, files
    settings = settings_of(None, src=src, tgt=tgt, src_emb=src_emb, tgt_emb=tgt_emb, out=out, **more)
    run(settings, device="cpu", progress=progress)
    return load_space(out, progress=progress)
