"""What others than the vectors know of translations: an encoder's vectors of the words, or pairs with scores.

Its scores help to choose the answers (`muse.answers.outside`), and its surest pairs are a candidate for the
mapping (`AlignConfig.hints`). A pair spelled alike is no hint: an encoder that does not know a language finds
these too, and they are no fair sample of the others.
"""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from muse.answers.outside import OutsideScores
from muse.answers.spelling import LetterSimilarity, plain
from muse.embedding.pretrained import PretrainedEncoder
from muse.errors import BadSetting, Contradiction, Mismatch, MuseError
from muse.files import read_lexicon, read_vectors
from muse.learn.settings import AlignConfig
from muse.lexicon import Lexicon
from muse.progress import Progress
from muse.vectors import Matrix, Vectors

log = logging.getLogger(__name__)

SPELLED_ALIKE = 0.45  # of edit similarity
MOST_HINTS, LEAST_HINTS = 5_000, 50
FEW_KNOWN = 0.2  # the share of words with a vector below which a warning says so


def is_given(config: AlignConfig) -> bool:
    """Whether the settings name an encoder, vectors of one, or scored pairs."""
    return bool(config.encoder or config.encoder_emb or config.evidence)


def check_outside(config: AlignConfig) -> None:
    """Raise Contradiction for settings that exclude each other, an error for a folder that is no encoder."""
    if not is_given(config):
        return
    named = {
        "--encoder": config.encoder, "--encoder-emb": config.encoder_emb, "--evidence": config.evidence,
    }  # fmt: skip
    given = [name for name, value in named.items() if value]
    if len(given) > 1:
        raise Contradiction(f"{' and '.join(given)} cannot be used together; leave out all but one")
    if config.encoder_emb and len(config.encoder_emb) != 2:
        raise Contradiction(
            "--encoder-emb must be given twice, the vectors of --src and of --tgt, got "
            f"{len(config.encoder_emb)}; if one file has both, give it twice"
        )
    if config.encoder is not None:
        PretrainedEncoder(config.encoder, config.encoder_template).check()


def outside_scores(
    config: AlignConfig, source: Vectors, target: Vectors, *, device: str, progress: Progress
) -> OutsideScores:
    """The scores by what the settings name; BadSetting for unlabelled vectors, whose ids say nothing."""
    if not (source.ranked and target.ranked):
        raise BadSetting(
            "--encoder, --encoder-emb and --evidence need words, got unlabelled vectors; leave them out"
        )
    if config.evidence is not None:
        return _of_pairs(config.evidence, config.evidence_format, source, target)
    sides = source, target
    if config.encoder is not None:
        encoder = PretrainedEncoder(config.encoder, config.encoder_template)
        cache = config.folder.with_name(f".{config.folder.name}.encoded")
        words = {one.language: one.words for one in sides}
        rows = encoder.encode(words, cache=cache, device=device, progress=progress)
    else:
        rows = [
            _rows_of(path, one, config, progress) for path, one in zip(config.encoder_emb, sides, strict=True)
        ]
        if rows[0].shape[1] != rows[1].shape[1]:
            raise Mismatch(
                f"--encoder-emb must be two files of comparable vectors, got {rows[0].shape[1]} and "
                f"{rows[1].shape[1]} numbers a word; take both from one model"
            )
    return OutsideScores.of_vectors(rows[0], rows[1])


def _rows_of(path: Path, side: Vectors, config: AlignConfig, progress: Progress) -> Matrix:
    """The rows (n, d) of the words of a side; zeros for a word that the file lacks."""
    found = read_vectors(path, language=side.language, lowercase=config.lower, progress=progress)
    rows = np.zeros((len(side), found.dimension), np.float32)
    index, key = found.index, f"/c/{side.language}/"  # the keys of ConceptNet Numberbatch
    for place, word in enumerate(side.words):
        row = index.get(word)
        if row is None:
            row = index.get(key + word.replace(" ", "_"))
        if row is not None:
            rows[place] = found.matrix[row]
    known = int(rows.any(axis=1).sum())
    if known < FEW_KNOWN * len(side):
        log.warning(
            "%s: only %d of %d %s of %s have a vector; check the language and the letters' case (--lower)",
            path, known, len(side), side.noun, side.language,
        )  # fmt: skip
    return rows


def _of_pairs(path: Path, form: str | None, source: Vectors, target: Vectors) -> OutsideScores:
    try:
        lexicon = read_lexicon(path, languages=(source.language, target.language), form=form)
    except MuseError as error:  # here another option names the format
        message = str(error).replace("--dictionary-format", "--evidence-format")
        raise type(error)(message) from error
    scores = lexicon.probabilities or lexicon.scores or (1.0,) * len(lexicon)
    known = [
        (row, column, score)
        for (word, translation), score in zip(lexicon.pairs, scores, strict=True)
        if (row := source.index.locate(word)) is not None
        and (column := target.index.locate(translation)) is not None
    ]
    if not known:
        raise Mismatch(
            f"{path}: at least one pair must be of words of {source.language} and {target.language}, got 0 "
            f"of {len(lexicon)}; check the order of the languages and the letters' case (--lower)"
        )
    pairs = np.array([one[:2] for one in known], np.int64)
    return OutsideScores.of_pairs(pairs, np.array([one[2] for one in known]), (len(source), len(target)))


def hints(scores: OutsideScores, source: Vectors, target: Vectors) -> Lexicon | None:
    """The surest half of the mutual pairs that are not spelled alike, frequent first; None for too few."""
    pairs = scores.surest()
    pairs = pairs[np.argsort(pairs.max(axis=1, initial=0), kind="stable")]
    named = [(source.words[row], target.words[column]) for row, column in pairs.tolist()]
    left, right = (np.array([plain(pair[side]) for pair in named], object) for side in (0, 1))
    alike = LetterSimilarity.of(left, right).edit if named else np.zeros(0)
    kept = [pair for pair, edit in zip(named, alike.tolist(), strict=True) if edit <= SPELLED_ALIKE]
    return Lexicon(tuple(kept[:MOST_HINTS])) if len(kept) >= LEAST_HINTS else None
