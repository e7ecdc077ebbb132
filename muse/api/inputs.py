"""Inputs of a run: the vectors of every language, a dictionary, and what others know of translations.

Vectors are read from files or arrays, or are those of a saved space, and are normalised. The surest
translations by a space of general text are learned from as those of a dictionary are. Translations are
also known to an encoder, by its vectors of the words, or to a program, by pairs with scores. Their scores
help to choose the answers (`muse.ranking.external_scores`), and their surest pairs are a candidate for the
mapping (`AlignConfig.pseudo_dictionary`). A pair spelled alike is not in it: an encoder that
does not know a language finds these too, and they are no fair sample of the others.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from muse.api.settings import OF_ROWS, given_for, source_of
from muse.errors import BadSetting, Contradiction, Mismatch, MuseError, reworded
from muse.files import read_lexicon, read_vectors
from muse.files.plain_text import read_lines
from muse.files.space_manifest import read_manifest
from muse.learn.bilingual import check_pair, normalise_in_place
from muse.learn.settings import AlignConfig, HeldPairs, VectorSource
from muse.lexicon import Lexicon, Pair, held_lexicon
from muse.optional import load
from muse.orthography import plain
from muse.progress import Progress
from muse.ranking.external_scores import ExternalScores
from muse.ranking.lookup import lookup_entry
from muse.ranking.ranker import translate_words
from muse.ranking.spelling import LetterSimilarity
from muse.space import SideToSave, Space, check_language, load_space
from muse.vectors import Matrix, Numbers, Vectors

log = logging.getLogger(__name__)

SPELLED_ALIKE = 0.45  # of edit similarity
MOST_HINTS, LEAST_HINTS = 5_000, 50
SUREST = 0.5  # the least probability of a translation by a space that helps
FIRST = 1_000  # words by which one file is known that was given twice
FEW_KNOWN = 0.2  # the share of words with a vector below which a warning says so


@dataclass(frozen=True, eq=False)
class RunInputs:
    """The vectors read: the languages to map, the target, and languages for detours only."""

    sources: dict[str, SideToSave]
    target: SideToSave
    via: dict[str, SideToSave]

    def learned_from(self) -> Iterator[Vectors]:
        """Yields the vectors of the languages to map, and then those of the target."""
        yield from (side.vectors for side in (*self.sources.values(), self.target))

    def words(self) -> dict[str, int]:
        """The number of words of each language."""
        return {side.language: len(side) for side in self.learned_from()}


def read_inputs(config: AlignConfig, progress: Progress) -> RunInputs:
    """Every language, read and checked; the target first."""
    if config.into:
        space = load_space(config.into)
        side = space.side(space.pivot)
        # A copy: the folder with the memory-mapped rows may be replaced while they are in use.
        vectors = replace(side.vectors, matrix=np.array(side.vectors.matrix))
        target = SideToSave(vectors, side.normalisation)
    else:
        target = read_side(config, config.pivot, source_of(config, config.pivot), progress)
    sources, via = dict[str, SideToSave](), dict[str, SideToSave]()
    for found, languages, lexicon in ((sources, config.src, config.lexicon), (via, config.via, None)):
        for language in languages:
            found[language] = read_side(config, language, source_of(config, language), progress)
            check_pair(found[language].vectors, target.vectors, lexicon)
            if _are_the_same(found[language].vectors, target.vectors):
                log.warning(
                    "%s and %s: the same words with the same vectors; were two files meant, not one twice?",
                    language, config.pivot,
                )  # fmt: skip
    return RunInputs(sources, target, via)


def _are_the_same(one: Vectors, two: Vectors) -> bool:
    """Whether the first words and rows of both are equal, as where one file was given twice."""
    words = one.words[:FIRST] == two.words[:FIRST]
    return len(one) == len(two) and words and np.array_equal(one.matrix[:FIRST], two.matrix[:FIRST])


def read_side(config: AlignConfig, language: str, given: VectorSource, progress: Progress) -> SideToSave:
    """The vectors of a language, normalised, with the files that they were read from.

    Words whose vectors are all zeros are left out, with a warning: nothing can be learned of them. Unlabelled
    vectors keep their numbers, and no search finds those that are all zeros.
    """
    listed, texts, column, ids = (given_for(config, language, what) for what in (*OF_ROWS, "column", "id"))
    vectors = read_vectors(
        given, language=language, max_vocab=config.max_vocab, lowercase=config.lower,
        words=None if listed is None else [word for word in read_lines(listed) if word], texts=texts,
        column=column, id_column=ids, progress=progress,
    )  # fmt: skip
    name, files = Path("the array"), tuple[Path, ...]()  # without files: the digest stands for them
    if isinstance(given, Path):
        name, files = given, tuple(file for file in (given, listed, texts) if file is not None)
    check_language(language, vectors.words)
    if vectors.repeated:
        log.warning("%s: dropped %d duplicate %s (%s)", name, vectors.repeated, vectors.noun, language)
    kept = vectors.nonzero()
    if zeros := len(vectors) - len(kept):
        action = "left out" if vectors.frequency_ordered else "no counterpart will be found for"
        log.warning(
            "%s: %s %d of %d %s (%s), with vectors of zeros",
            name, action, zeros, len(vectors), vectors.noun, vectors.language,
        )  # fmt: skip
    vectors = kept if vectors.frequency_ordered else vectors
    return SideToSave(*normalise_in_place(vectors, config.normalise), files=files)


def check_helper(config: AlignConfig) -> None:
    """Raise BadSetting unless the space of --help-from, if there is one, knows words of both languages."""
    if config.help_from is None:
        return
    manifest, languages = read_manifest(config.help_from), (config.src[0], config.pivot)
    for language in languages:
        if language not in manifest.languages or not manifest.language(language).ranked:
            raise BadSetting(
                f"--help-from must be a space of words of {' and '.join(languages)}, got {config.help_from} "
                f"of {', '.join(manifest.languages)}; give another, or rename --src or --tgt"
            )
    if manifest.verdict_on(*languages).label == "failed":
        raise BadSetting(
            f"--help-from must be an aligned space, got {config.help_from}, judged failed; give another"
        )


def with_helper(config: AlignConfig, inputs: RunInputs) -> AlignConfig:
    """The config with the surest translations by the space of --help-from, if there is one, among its pairs.

    Of a word that the dictionary has, its translations there alone count.
    """
    if config.help_from is None:
        return config
    source, target = inputs.learned_from()
    if not (source.frequency_ordered and target.frequency_ordered):
        raise BadSetting("--help-from needs words, got unlabelled vectors; leave it out")
    space = load_space(config.help_from).without_units()
    back = {(one, two): share for (two, one), share in _surest(space, target, source).items()}
    found = _surest(space, source, target) | back
    log.log(
        logging.INFO if found else logging.WARNING,
        "%s: knows %d sure translations of words with words that the vectors have", config.help_from,
        len(found),
    )  # fmt: skip
    if not found:
        return config
    given = config.lexicon or Lexicon(())
    known = given.translations()
    pairs = {pair: share for pair, share in found.items() if pair[0] not in known}
    weights = (*(given.weights or (1.0,) * len(given)), *pairs.values())
    return replace(config, lexicon=Lexicon((*given.pairs, *pairs), probabilities=weights))


def _surest(space: Space, own: Vectors, other: Vectors) -> dict[Pair, float]:
    """The probability of each sure translation by a space of a word of `own` with one of `other`."""
    found = dict[Pair, float]()
    every = translate_words(space, own.words, source=own.language, target=other.language, top=1)
    for one in every:
        if one and (share := one[0].probability or 0) >= SUREST:
            entry = lookup_entry(one[0].target, other)
            if entry is not None:
                found[one.word, entry] = share
    return found


def read_dictionary(
    given: Path | HeldPairs, languages: tuple[str, str] | None = None, form: str | None = None
) -> Lexicon:
    """The pairs of a dictionary, a file or what Python holds; says on the log how scores are read.

    `languages` are those of its words where the file names them, the source first; `form` is its format.
    """
    if isinstance(given, HeldPairs):
        lexicon = held_lexicon(given.pairs)
    else:
        lexicon = read_lexicon(given, languages=languages, form=form)
    for side, name in enumerate(("source", "target")):
        if len(lexicon) > 1 and len({pair[side] for pair in lexicon.pairs}) == 1:
            log.warning(
                "%s: all %d pairs have the same %s word, %r; that teaches and tests next to nothing: give "
                "pairs of different words, a few dozen or more",
                given, len(lexicon), name, lexicon.pairs[0][side],
            )  # fmt: skip
    # Whether scores are weights depends on their range, which their author may not have had in mind.
    if lexicon.scores is None or lexicon.probabilities is not None:
        return lexicon
    read = "from 0 to 1, is read as the weights of the pairs"
    none = "is no weight, since it is not from 0 to 1: all pairs count alike"
    log.info("%s: the third column%s", given, f" {none}" if lexicon.weights is None else f", {read}")
    return lexicon


# What others know


def check_outside(config: AlignConfig) -> None:
    """Raise Contradiction unless there are vectors of both languages, an error for what is no encoder."""
    if config.encoder_emb and len(config.encoder_emb) != 2:
        raise Contradiction(
            "--encoder-emb must be given twice, the vectors of --src and of --tgt, got "
            f"{len(config.encoder_emb)}; if one file has both, give it twice"
        )
    if config.encoder is not None:
        _encoder(config).check()
    if config.text_pairs is not None and config.answers == "csls":
        raise Contradiction(
            "--text-pairs helps to choose answers by all evidence, got --answers csls; leave one of them out"
        )


def _encoder(config: AlignConfig) -> Any:
    return load("embedding.pretrained").PretrainedEncoder(config.encoder, config.encoder_template)


def outside_scores(
    config: AlignConfig, source: Vectors, target: Vectors, *, device: str, progress: Progress
) -> ExternalScores:
    """The scores by what the settings name; BadSetting for unlabelled vectors, whose ids say nothing."""
    if not (source.frequency_ordered and target.frequency_ordered):
        raise BadSetting(
            "--encoder, --encoder-emb and --evidence need words, got unlabelled vectors; leave them out"
        )
    if config.scored is not None:
        return _of_pairs(config.scored, config.evidence, source, target)
    sides = source, target
    if config.encoder is not None:
        encoder = _encoder(config)
        home = config.folder.resolve()  # of "." the name is empty
        words = {one.language: one.words for one in sides}
        rows = encoder.encode(
            words, cache=home.with_name(f".{home.name}.encoded"), device=device, progress=progress
        )
        named = [config.encoder] * 2
    else:
        rows = [
            _rows_of(path, one, config, progress) for path, one in zip(config.encoder_emb, sides, strict=True)
        ]
        if rows[0].shape[1] != rows[1].shape[1]:
            raise Mismatch(
                f"--encoder-emb must be two files of comparable vectors, got {rows[0].shape[1]} and "
                f"{rows[1].shape[1]} numbers a word; take both from one model"
            )
        named = [*config.encoder_emb]
    for own, path, side in zip(rows, named, sides, strict=True):
        _check_known(own, path, side)
    return ExternalScores.of_vectors(rows[0], rows[1])


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
    return rows


def _check_known(rows: Matrix, path: Path, side: Vectors) -> None:
    """Raise Mismatch if the rows (n, d) of a side say nothing, which are zeros for unknown words."""
    known = rows.any(axis=1)
    count = int(known.sum())
    if not count or (count > 1 and not np.ptp(rows[known], axis=0).any()):
        got = "the same vector for all" if count else f"none for any of its {len(side)} {side.noun}"
        raise Mismatch(
            f"{path}: expected vectors of the words of {side.language}, got {got}; check the language and "
            "the letters' case (--lower)"
        )
    if count < FEW_KNOWN * len(side):
        log.warning(
            "%s: only %d of %d %s of %s have a vector; check the language and the letters' case (--lower)",
            path, count, len(side), side.noun, side.language,
        )  # fmt: skip


def read_evidence(path: Path, languages: tuple[str, str] | None = None, form: str | None = None) -> Lexicon:
    """The translations of a program, with its scores; `languages` and `form` as for `read_dictionary`."""
    try:
        lexicon = read_lexicon(path, languages=languages, form=form)
    except MuseError as error:  # here another option names the format
        raise reworded(error, str(error).replace("--dictionary-format", "--evidence-format")) from None
    if lexicon.scores is None and lexicon.probabilities is None:
        log.info(
            "%s: no scores are given, all translations count alike; a third column, score, would be read",
            path,
        )
    return lexicon


def _of_pairs(lexicon: Lexicon, path: Path | None, source: Vectors, target: Vectors) -> ExternalScores:
    """The scores by a program; the log says how many pairs are known, and if more would be otherwise."""
    scores = lexicon.probabilities or lexicon.scores or (1.0,) * len(lexicon)
    rows = [
        (source.index.lookup_row(word), target.index.lookup_row(translation))
        for word, translation in lexicon.pairs
    ]
    known = [place for place, pair in enumerate(rows) if None not in pair]
    languages = f"{source.language} and {target.language}"
    if not known:
        raise Mismatch(
            f"{path}: at least one pair must be of words of {languages}, got 0 of {len(lexicon)}; check the "
            "order of the languages and the letters' case (--lower)"
        )
    found = f"{len(known)} of {len(lexicon)} pairs of words of {languages}"
    if lexicon.looks_swapped(source.index, target.index):
        other = lexicon.known(target.index, source.index)
        log.warning("%s: %s, but %d with its columns swapped; swap them", path, found, other)
    elif more := lexicon.in_another_case(len(known), source.words, target.words):
        log.warning("%s: %s, and %d more in another case; try --lower", path, found, more)
    else:
        log.info("%s: %s", path, found)
    pairs = np.array([rows[place] for place in known], np.int64)
    values, counts = np.array([scores[place] for place in known]), (len(source), len(target))
    outside = ExternalScores.of_pairs(pairs, values, counts)
    alike = _edit_similarity(source, target, pairs) > SPELLED_ALIKE
    outside.warn_of_distances(pairs[:, 0], pairs[:, 1], alike, "pairs that are spelled alike")
    return outside


def pseudo_dictionary(scores: ExternalScores, source: Vectors, target: Vectors) -> Lexicon | None:
    """The surest half of the mutual pairs that are not spelled alike, frequent first; None for too few."""
    pairs = scores.surest()
    pairs = pairs[np.argsort(pairs.max(axis=1, initial=0), kind="stable")]
    pairs = pairs[_edit_similarity(source, target, pairs) <= SPELLED_ALIKE]
    kept = [(source.words[row], target.words[column]) for row, column in pairs.tolist()]
    return Lexicon(tuple(kept[:MOST_HINTS])) if len(kept) >= LEAST_HINTS else None


def _edit_similarity(source: Vectors, target: Vectors, pairs: Numbers) -> Matrix:
    """The edit similarity (p,) of the words of pairs (p, 2)."""
    sides = zip((source, target), pairs.T, strict=True)
    left, right = (np.array([plain(one.words[row]) for row in rows], object) for one, rows in sides)
    return LetterSimilarity.of(left, right).edit if len(pairs) else np.zeros(0, np.float32)
