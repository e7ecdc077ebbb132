"""The settings of a run of `muse align`, from Python or the command line, checked before any work."""

import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from muse.errors import BadFile, BadSetting, Contradiction
from muse.files.source import cannot_open, is_stream
from muse.files.vectors.locate import locate_vectors
from muse.files.vectors.spacy import find_vectors
from muse.files.writing import check_place
from muse.held_vectors import HeldVectors
from muse.learn.bilingual import MINIMUM_WORDS
from muse.learn.settings import NO_PIVOT, ONE_SOURCE, OWN_TARGET, AlignConfig, VectorSource
from muse.optional import load
from muse.options import given_only, preset_of
from muse.progress import Progress
from muse.space import check_apart, check_language

log = logging.getLogger(__name__)

OF_ROWS = ("words", "captions")  # files that --src- and --tgt- name beside that of the vectors


def settings_of(config: AlignConfig | None = None, **options: Any) -> AlignConfig:
    """The settings with these options; one that is None is not given. They replace those of `config`.

    Raise BadSetting for an unknown name and a value of another kind.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if config is None:
        return AlignConfig(**given)
    if not isinstance(config, AlignConfig):
        raise BadSetting(f"config must be a muse.AlignConfig, got {config!r}")
    return replace(config, **{**preset_of(AlignConfig, given.get("recipe", "")), **given})


def check(config: AlignConfig) -> None:
    """Raise BadSetting or Contradiction for settings that cannot be, as far as that shows without files."""
    for contradiction in chain(_of_options(config), _of_languages(config), _of_sides(config)):
        raise Contradiction(contradiction)
    most = config.max_vocab
    if config.dictionary is None and most is not None and most < MINIMUM_WORDS:
        raise BadSetting(
            f"--max-vocab must be at least {MINIMUM_WORDS}, with fewer words nothing is aligned "
            f"without a dictionary; got {most}; raise it, or give --dictionary FILE"
        )


def _of_options(config: AlignConfig) -> Iterator[str]:
    """Yields what is wrong with options that exclude one another."""
    init, pairs = config.init, config.dictionary
    if init == "identical" and config.no_identical:
        yield "--no-identical forbids --init identical; leave one of them out"
    if config.reweight and config.refine is False:
        yield "--reweight follows refinement, which --no-refine leaves out; leave one of them out"
    if config.reweight and not config.moves_target:
        yield "--reweight moves the target, which several languages share; give one --src and no --into"
    if pairs is None and init == "dictionary":
        yield "--init dictionary needs the pairs to learn from, got none; give --dictionary FILE"
    if pairs is not None and config.refine is False and init not in ("auto", "dictionary"):
        yield (
            "--no-refine with --dictionary is Procrustes on the pairs, which needs no initialisation, "
            f"got --init {init}; leave out one of the three"
        )


def _of_languages(config: AlignConfig) -> Iterator[str]:
    """Yields what is wrong with the languages beside one another; BadSetting for one that cannot be."""
    sources = config.src
    if not sources:
        raise BadSetting("at least one --src is needed, got none")
    every = (*sources, *config.via, *([] if config.tgt is None else [config.tgt]))
    for language in every:
        check_language(language)
    check_apart(every)
    for language in sources:
        if sources.count(language) > 1:
            yield f"every --src must be a different language, got {language!r} twice"
    if config.tgt in sources:
        yield f"--src and --tgt must be different languages, got {config.tgt!r} twice; change one"
    for language in config.via:
        if every.count(language) > 1:
            yield (
                f"every --via must be a language besides --src and --tgt, given once; got {language!r} "
                "again; leave it out: the languages of --src serve as detours anyway"
            )


def _of_sides(config: AlignConfig) -> Iterator[str]:
    """Yields what is wrong with the options of one side or of several; BadSetting without a target."""
    sources = config.src
    for option, files, languages in (
        ("--src", config.src_emb, sources),
        ("--via", config.via_emb, config.via),
    ):
        if files and len(files) != len(languages):
            yield (
                f"{option}-emb must be given once for each {option}, in the same order: got {len(files)} "
                f"files for {len(languages)} languages; give one for each, or none to search for them"
            )
    if config.into is not None:  # a space that grows has a target already
        for flag in given_only(config, OWN_TARGET):
            yield f"--into uses the target's vectors in the space; omit {flag}"
        if config.keeps_lengths:
            yield (
                "--into has the target's vectors at unit length, so those of --src need it too; got "
                f"--normalise {','.join(config.normalise) or 'none'}; let it end with unit"
            )
    elif config.tgt is None:
        raise BadSetting(NO_PIVOT)
    for flag in given_only(config, ONE_SOURCE) if len(sources) > 1 else ():
        yield (
            f"{flag} needs a single --src, got {len(sources)}; align that language first, then add the "
            "others with --into"
        )
    if config.joint and (len(sources) < 2 or config.into is not None):
        yield "--joint needs at least two --src and no --into: it moves every language but the target"


def check_files(config: AlignConfig, *, besides: Collection[str] = ()) -> None:
    """Raise BadFile for a file that is missing; the vectors of the languages `besides` may be.

    The dictionary is not among them: it is read before the vectors.
    """
    lists = (given_for(config, side, what) for side in (config.src[0], config.tgt) for what in OF_ROWS)
    files = [*lists, *map(find_vectors, config.encoder_emb), config.evidence, config.text_pairs]
    read = (*config.via, *config.src, *([] if config.into else [config.pivot]))
    files += [source_of(config, language) for language in read if language not in besides]
    for file in files:
        if isinstance(file, Path):
            try:
                file.stat()
            except OSError as error:
                raise BadFile(cannot_open(file, error)) from error


def given_for(config: AlignConfig, language: str | None, what: str) -> Any:
    """What was given for a language by the option of its side with this name; None if nothing was."""
    if language == config.tgt:
        return getattr(config, f"tgt_{what}")
    return getattr(config, f"src_{what}") if language in config.src else None


def source_of(config: AlignConfig, language: str) -> VectorSource:
    """The vectors of a language: as given, or found by its name; BadFile if there are none."""
    tgt = () if config.tgt_emb is None else (config.tgt_emb,)
    sides = (
        ((config.pivot,), tgt, "--tgt-emb"),
        (config.src, config.src_emb, "--src-emb"),
        (config.via, config.via_emb, "--via-emb"),
    )
    languages, given, option = next(side for side in sides if language in side[0])
    if not given:
        return locate_vectors(language, option)
    one = given[languages.index(language)]
    return one if isinstance(one, HeldVectors) else find_vectors(one)


def files_of(config: AlignConfig, language: str) -> list[Path] | None:
    """The files that the words of a language come from; None for arrays and pipes, which are read once."""
    vectors = source_of(config, language)
    found = [vectors, *(given_for(config, language, what) for what in OF_ROWS)]
    files = [one for one in found if isinstance(one, Path)]
    return None if isinstance(vectors, HeldVectors) or any(map(is_stream, files)) else files


def checked_texts(config: AlignConfig) -> dict[str, Path]:
    """The text of each language that has one in place of vectors: `--src-text`, `--tgt-text`.

    Raise Contradiction or BadFile where the texts contradict other settings or files.
    """
    src_text, tgt_text = config.src_text, config.tgt_text
    given = (("--src", src_text, config.src_emb), ("--tgt", tgt_text, config.tgt_emb))
    for side, text, vectors in given:
        if text and vectors:
            raise Contradiction(f"{side}-text replaces {side}-emb, got both; leave one of them out")
    if src_text and len(src_text) != len(config.src):
        raise Contradiction(
            f"--src-text must be given once for each --src, got {len(src_text)} for {len(config.src)}; give "
            "all of them, in the same order"
        )
    if tgt_text and config.tgt is None:
        raise Contradiction("--tgt-text needs --tgt LANG; --into has the target's vectors in its space")
    texts = dict(zip(config.src, src_text, strict=False))
    if tgt_text is not None:
        texts[str(config.tgt)] = tgt_text
    for language, text in texts.items():
        if not text.exists():
            raise BadFile(f"{text}: expected the text of {language!r}, found no such file; check its name")
        if vectors_of(language).exists():
            raise BadFile(
                f"{vectors_of(language)} is there already: expected to write the vectors of {text} to it; "
                "if they are the same, leave --src-text and --tgt-text out, else move the file away"
            )
        check_place(vectors_of(language))
        load("embedding.corpus").check_text(text, language)
    return texts


def checked_corpora(config: AlignConfig) -> dict[str, list[Path]]:
    """The text of each language in which units of several words are to be found; Contradiction or BadFile."""
    corpora = config.src_corpus, config.tgt_corpus
    if not any(corpora):
        return {}
    if len(config.src_corpus) != len(config.src) or config.tgt_corpus is None:
        raise Contradiction(
            "--src-corpus must be given once for each --src, and --tgt-corpus beside it, got "
            f"{len(config.src_corpus)} for {len(config.src)}, and {'one' if config.tgt_corpus else 'none'} "
            "of --tgt; give a text of each language"
        )
    if config.into is not None:
        raise Contradiction("--src-corpus needs --tgt; add the units to the grown space with muse terms")
    texts = {**dict(zip(config.src, config.src_corpus, strict=True)), config.pivot: config.tgt_corpus}
    for language, text in texts.items():
        load("embedding.corpus").check_text(text, language)
    return {language: [text] for language, text in texts.items()}


def train_vectors(texts: Mapping[str, Path], seed: int, progress: Progress) -> None:
    """Trains vectors on the text of each language."""
    for language, text, following in zip(texts, texts.values(), [*texts, ""][1:], strict=True):
        made = load("embedding.training").embed(
            [text], vectors_of(language), language=language, progress=progress,
            config=load("embedding.config").EmbedConfig(seed=seed, threads=torch.get_num_threads()),
        )  # fmt: skip
        log.info("%s%s", made, f"; {following} follows" if following else "")


def vectors_of(language: str) -> Path:
    """The file of the vectors that are trained, where they are looked for by their language."""
    return Path("embeddings", f"{language}.vec")
