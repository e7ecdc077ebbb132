"""The tasks of muse evaluate that classify sentences: transfer, probe and nli."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from muse.commands.command import command
from muse.commands.options import open_space, this_task
from muse.commands.outputs import Report
from muse.options import Common, OneSpace, OptionSet, Seed, Threads, option
from muse.sentences.commands import encoders

if TYPE_CHECKING:
    import numpy as np

    from muse.sentences.evaluation.classifier import Labels, Parts
    from muse.sentences.evaluation.probing import Probe
    from muse.space import Space

    Task = tuple[Probe, str, Parts | None]  # with a name for its files, and its split if it is given

LABELS = "labels.txt"
ProbeName = Literal["length", "content", "order", "language", "first-sign", "signs", "gender"]


class ClassifierOptions(OptionSet):
    """What is trained on the vectors."""

    classifier: Literal["logistic", "mlp"] = option(
        "logistic", section="Learning", help="Logistic regression or a multi-layer perceptron."
    )


class TransferOptions(encoders.EncoderOptions, ClassifierOptions, Seed, Threads, Common):
    data: Path = option(
        section="Input", metavar="FOLDER",
        help="LANG.txt for each language, a sentence on each line, and labels.txt. --fit task learns from "
        "these sentences, without their labels.",
    )  # fmt: skip
    src: str | None = option(
        None, section="Input", metavar="LANG", help="Language to train in.  [default: the pivot]"
    )
    tgt: str | None = option(
        None, section="Input", metavar="LANG", help="Language to test in.  [default: all others in --data]"
    )
    runs: int = option(20, section="Learning", least=2, most=1_000, help="Number of random subsamples.")


@command(
    "muse evaluate transfer embeddings/aligned/fr-en --data topics",
    "muse evaluate transfer SPACE --data topics --encoder sif --fit task --src en --tgt fr",
)
def transfer(options: TransferOptions) -> Report:
    """Accuracy of a classifier in languages it was not trained in.

    Macro-F1 and accuracy in each language, of a classifier trained in one on sentence vectors.
    """
    import hashlib

    import numpy as np

    from muse.files.space_folder import with_checksum
    from muse.sentences.evaluation.classifier import ClassifierConfig
    from muse.sentences.evaluation.transfer import TransferConfig, evaluate_transfer
    from muse.sentences.files.sentence_text import read_aligned

    space = open_space(options.space, "cpu", options.quiet)
    languages = _languages(space, options)
    files = [options.data / name for name in (*(f"{language}.txt" for language in languages), LABELS)]
    *sides, labels = read_aligned(*files)
    texts = dict(zip(languages, sides, strict=True))
    opened = encoders.open_encoder(options, space=space, own=texts)
    rows = {language: opened.rows(text, language) for language, text in texts.items()}
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    gold = with_checksum(options.data.resolve().name, digest)
    more = (f"runs:{options.runs}", f"drawn:{options.seed}")
    signatures = {
        other: opened.signature((languages[0], other), options.classifier, gold, *more)
        for other in languages[1:]
    }
    scores = evaluate_transfer(
        rows, [label.strip() for label in labels], signatures,
        rng=np.random.default_rng(options.seed), progress=space.progress,
        config=TransferConfig(options.runs, ClassifierConfig(options.classifier, seed=options.seed)),
    )  # fmt: skip
    tested: dict[str, Any] = {}
    for score in scores:
        tested.setdefault(score.language, {})[score.measure] = score.as_json()
    return {"learned": languages[0], "tested": tested}, [str(score) for score in scores]


class ProbeOptions(encoders.EncoderOptions, ClassifierOptions, Seed, Threads, Common):
    text: tuple[str, ...] = option(
        (), section="Input", metavar="LANG=FILE",
        help="Sentences in a language, one on each line; may be repeated.",
    )  # fmt: skip
    labelled: tuple[Path, ...] = option(
        (), section="Input", needs="lang",
        help="Sentences of --lang with a class each, in SentEval's columns (tr, va or te; class; sentence); "
        "may be repeated.",
    )  # fmt: skip
    lang: str | None = encoders.language_option("Language of --labelled.", default=None, needs="labelled")
    probe: tuple[ProbeName, ...] = option(
        (), section="What it measures", needs="text",
        help="What to predict; may be repeated.  [default: length, content, order; language, of several]",
    )  # fmt: skip
    size: int = option(5_000, section="What it measures", least=50, needs="text", help="Number of sentences.")
    folds: int | None = option(
        None, section="Learning", least=3, most=100, needs="text",
        help="Nested cross-validation: every sentence of --text is tested once.  [default: one split]",
    )  # fmt: skip


@command(
    "muse evaluate probe embeddings/aligned/fr-en --text fr=test.fr --text en=test.en",
    "muse evaluate probe SPACE --text fr=test.fr --probe length --size 1000 --encoder idf",
)
def probe(options: ProbeOptions) -> Report:
    """What a classifier can predict from sentence vectors.

    Length, words and word order of a sentence, its language, its punctuation, and whether articles agree.
    """
    import numpy as np

    from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, folds
    from muse.sentences.evaluation.probing import evaluate_probe

    if not options.text and not options.labelled:
        raise click.UsageError(f"{this_task()} needs --text LANG=FILE or --labelled FILE.")
    space = open_space(options.space, "cpu", options.quiet)
    rng = np.random.default_rng(options.seed)
    tasks = list(_tasks(space, options, rng))
    opened = encoders.open_encoder(options, space=space)
    config = ClassifierConfig(options.classifier, seed=options.seed)
    fields: dict[str, Any] = {}
    lines = []
    for asked, gold, given in tasks:
        labels = np.array(asked.labels)
        by_folds = options.folds if given is None else None
        split: Parts | Labels | None = folds(labels, by_folds, rng) if by_folds else given
        languages = sorted(set(asked.languages), key=asked.languages.index)
        more = (f"drawn:{options.seed}", *([f"folds:{by_folds}"] if by_folds else []))
        signature = opened.signature(languages, options.classifier, gold, *more)
        of = [(one, [*compress(asked.sentences, map(one.__eq__, asked.languages))]) for one in languages]
        rows = np.concatenate([opened.rows(text, language) for language, text in of])  # in the same order
        task = Labelled(rows, labels)
        score = evaluate_probe(asked.name, task, signature, config=config, rng=rng, split=split)
        if len(languages) > 1:
            fields[asked.name] = score.as_json()
        else:
            fields.setdefault(asked.name, {})[languages[0]] = score.as_json()
        lines.append(str(score))
    return fields, lines


class NliOptions(OneSpace, Seed, Threads, Common):
    pairs: Path = option(
        section="Input", more_flags=("--data",), once=True,
        help="Labelled pairs of sentences, in the columns of SICK or SNLI; those of the test part are used.",
    )  # fmt: skip
    lang: str = encoders.language_option("Language of the sentences.")
    encoder: str = encoders.encoder_option("mean")
    also: tuple[Path, ...] = ()  # what a trained classifier reads is fixed
    fit: tuple[str, ...] = ()


@command(
    "muse evaluate nli embeddings/aligned/fr-en --pairs nli.txt --lang en --encoder xlm-nli",
    "muse evaluate nli SPACE --pairs nli.fr.txt --lang fr --encoder xlm-nli --json",
)
def nli(options: NliOptions) -> Report:
    """Accuracy of natural language inference.

    The encoder needs a classifier: train it with muse train --nli.
    """
    import numpy as np

    from muse.evaluation.score import gold_name
    from muse.sentences.evaluation.classifier import evaluate_inference
    from muse.sentences.files.nli import read_nli
    from muse.sentences.systems.nli.pair_classes import classify

    text = read_nli(options.pairs).part("test")
    opened = encoders.open_encoder(options, options.lang)
    signature = opened.signature([options.lang], "classifier", gold_name(options.pairs))
    found = classify(
        opened.encoder, text.premises, text.hypotheses, options.lang, progress=opened.space.progress
    )
    rng = np.random.default_rng(options.seed)
    score = evaluate_inference(found, np.array(text.labels), signature, rng=rng)
    return score.as_json(), [str(score)]


def _tasks(space: Space, options: ProbeOptions, rng: np.random.Generator) -> Iterator[Task]:
    # The tasks of --labelled, with a name for the file and its own split; and those of --probe, by default
    # all of meaning and form that the texts allow. `gender` leaves out languages that have none.
    import numpy as np

    from muse.evaluation.score import gold_name
    from muse.sentences.evaluation.classifier import Parts
    from muse.sentences.evaluation.probing import ONE_LANGUAGE, STYLE, Probe, has_genders, language_probe
    from muse.sentences.files.sentence_text import PARTS, read_probe_text, read_sentences

    if options.lang is not None:
        space.side(options.lang)
        for path in options.labelled:
            text = read_probe_text(path)
            labels = np.unique(text.labels, return_inverse=True)[1].tolist()
            split = Parts(*(np.flatnonzero(np.array(text.parts) == part) for part in PARTS))
            languages = [options.lang] * len(labels)
            yield Probe(path.stem, text.sentences, languages, labels), gold_name(path), split
    files = encoders.by_language(options.text, "--text")
    for language, _ in files:
        space.side(language)
    texts = {language: read_sentences(path) for language, path in files}
    wanted: tuple[str, ...] = options.probe or (*ONE_LANGUAGE, *(["language"] if len(texts) > 1 else []))
    if "language" in wanted and len(texts) < 2:
        raise click.UsageError("--probe language needs --text LANG=FILE of two languages or more.")
    names = {language: gold_name(path) for language, path in files}
    for name in dict.fromkeys(wanted):
        if name == "language":
            yield language_probe(texts, options.size, rng), "+".join(names.values()), None
            continue
        gendered = [language for language in texts if has_genders(language)] if name == "gender" else []
        for language in gendered or texts:
            made = {**ONE_LANGUAGE, **STYLE}[name](texts[language], language, options.size, rng)
            yield made, names[language], None


def _languages(space: Space, options: TransferOptions) -> list[str]:
    # The language to train in and those to test: the given ones, or all that space and folder share.
    from muse.errors import BadFile, Contradiction, Mismatch

    folder, source = options.data, options.src or space.pivot
    if not folder.is_dir():
        raise BadFile(f"{folder}: expected a folder with LANG.txt and {LABELS}, got none; check its name")
    tested = [options.tgt] if options.tgt else [*space.languages]
    for language in (source, *tested):
        space.side(language)
    if options.tgt is None:
        tested = [name for name in tested if name != source and (folder / f"{name}.txt").is_file()]
    elif source in tested:
        raise Contradiction(f"transfer needs two languages, got {source} twice; change --src or --tgt")
    if not tested:
        found = ", ".join(sorted(path.name for path in folder.glob("*.txt"))) or "no .txt"
        raise Mismatch(
            f"{folder}: expected LANG.txt for a language of the space other than {source} "
            f"({', '.join(space.languages)}), got {found}; rename the files"
        )
    return [source, *tested]
