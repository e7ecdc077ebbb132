"""Domain space: an aligned space of the words in two texts, learned from them, and from a general space.

Vectors are trained on each text and aligned: by the surest translations that a general space has of its
words, or, without one, as `muse align` does without pairs.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from muse.api.run import run
from muse.api.settings import settings_of
from muse.embedding.config import EmbedConfig
from muse.embedding.corpus import Corpus
from muse.embedding.training import embed
from muse.files.space_folder import folder_name
from muse.progress import Progress
from muse.ranking.ranker import translate_words
from muse.space import Space, load_space

SUREST = 0.5  # the least probability of a translation that is learned from
DIM = 200  # of vectors
# In all, if that takes as many EPOCHS; four of two million tokens instead of six lose 4 points of P@1.
TOKENS_TO_READ = 10_000_000
EPOCHS = (5, 15)  # at least, at most
FEWEST = 200  # pairs to learn from: with fewer, the alignment starts without any


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
    for out, (language, corpus) in zip(files, corpora.items(), strict=True):
        epochs = min(max(EPOCHS[0], round(TOKENS_TO_READ / corpus.tokens)), EPOCHS[1])
        config = EmbedConfig(dim=DIM, epochs=epochs, threads=torch.get_num_threads())
        embed(corpus, out, language=language, config=config, progress=progress)
    pairs = {*known} if general is None else {*known, *_surest(general, direction, files)}
    more: dict[str, Any] = {}
    if pairs:
        more = {"dictionary": folder / "pairs.txt", "init": "dictionary" if len(pairs) >= FEWEST else "auto"}
        text = "".join(f"{one}\t{two}\n" for one, two in sorted(pairs))
        more["dictionary"].write_text(text, encoding="utf-8")
    settings = settings_of(
        None, src=direction[0], tgt=direction[1], src_emb=files[0], tgt_emb=files[1], out=folder / "space",
        **more,
    )  # fmt: skip
    run(settings, device="cpu", progress=progress)
    return load_space(folder / "space", progress=progress)


def _surest(general: Space, direction: tuple[str, str], files: Sequence[Path]) -> list[tuple[str, str]]:
    """The surest translations of words in the first file of vectors by words in the second."""
    words, others = (
        [line.rsplit(" ", DIM)[0] for line in file.read_text(encoding="utf-8").splitlines()[1:]]
        for file in files
    )
    known = {*others}
    found = translate_words(general, words, source=direction[0], target=direction[1], top=1)
    return [
        (one.word, one[0].target) for one in found
        if one and (one[0].probability or 0) >= SUREST and one[0].target in known
    ]  # fmt: skip
