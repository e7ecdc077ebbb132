"""The tasks of muse evaluate that classify sentences: transfer, probe and nli."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.evaluate_tasks import (
    FILE,
    Report,
    language_option,
    prints_scores,
    require,
    single,
    this_task,
)
from muse.commands.options import common_without, given, open_space
from muse.commands.sections import RenamedOption, SectionedCommand
from muse.sentences.commands.encoders import (
    by_language,
    encoded,
    encoder_name,
    encoder_options,
    made_by,
    open_encoder,
)

if TYPE_CHECKING:
    import numpy as np

    from muse.evaluation.score import Signature
    from muse.progress import Progress
    from muse.sentences.encoders.encoder import SentenceEncoder
    from muse.sentences.evaluation.classifier import Labels, Parts
    from muse.sentences.evaluation.probing import Probe
    from muse.space import Space

    Task = tuple[Probe, str, Parts | None]  # with a name for its files, and its split if it is given
log = logging.getLogger(__name__)

LABELS = "labels.txt"
PROBES = ("length", "content", "order", "language", "first-sign", "signs", "gender")
ENCODER = ("--encoder", "--also", "--fit")


def classifier_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that chooses what is trained on the vectors."""
    return click.option(
        "--classifier", default="logistic", show_default=True, type=click.Choice(["logistic", "mlp"]),
        help="Logistic regression or a multi-layer perceptron.",
    )(command)  # fmt: skip


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--data", "--src", "--tgt"),
        "Encoder": ENCODER,
        "Learning": ("--classifier", "--runs"),
    },
    examples=(
        "muse evaluate transfer embeddings/aligned/fr-en --data topics",
        "muse evaluate transfer SPACE --data topics --encoder sif --fit task --src en --tgt fr",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option(
    "--data", type=Path, metavar="FOLDER",
    help="LANG.txt for each language, a sentence on each line, and labels.txt. --fit task learns from these "
    "sentences, without their labels.  [required]",
)  # fmt: skip
@click.option(
    "--runs", default=20, show_default=True, type=click.IntRange(2, 1_000), metavar="N",
    help="Number of random subsamples.",
)  # fmt: skip
@click.option("--src", "source", metavar="LANG", help="Language to train in.  [default: the pivot]")
@click.option("--tgt", "target", metavar="LANG", help="Language to test in.  [default: all others in --data]")
@classifier_option
@encoder_options("mean")
@common_without("device")
@prints_scores
def transfer(space: Path, options: dict[str, Any]) -> Report:
    """Accuracy of a classifier in languages it was not trained in.

    Macro-F1 and accuracy in each language, of a classifier trained in one on sentence vectors.
    """
    require(options, "--data FOLDER")
    import numpy as np

    from muse.sentences.evaluation.classifier import ClassifierConfig, require_sklearn
    from muse.sentences.evaluation.transfer import TransferConfig, evaluate_transfer

    require_sklearn()  # report a missing package before the work, not after it
    loaded = open_space(space, "cpu", options["quiet"])
    languages = _languages(loaded, options)
    texts, labels = _labelled(options["data"], languages)
    encoder = open_encoder(loaded, options, dict(zip(languages, texts, strict=True)))
    made = made_by(encoder, options)
    rows = {
        language: encoded(encoder, text, language, loaded.progress)
        for language, text in zip(languages, texts, strict=True)
    }
    config = TransferConfig(options["runs"], ClassifierConfig(options["classifier"], seed=options["seed"]))
    gold = _folder_name(options["data"], languages)
    parts = (options["classifier"], f"runs:{config.runs}", f"drawn:{options['seed']}")
    signatures = {
        other: _signature(loaded, made, (languages[0], other), gold, parts) for other in languages[1:]
    }
    scores = evaluate_transfer(
        rows, labels, signatures, config=config, rng=np.random.default_rng(options["seed"]),
        progress=loaded.progress,
    )  # fmt: skip
    tested: dict[str, Any] = {}
    for score in scores:
        tested.setdefault(score.language, {})[score.measure] = score.as_json()
    return {"learned": languages[0], "tested": tested}, [str(score) for score in scores]


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--text", "--labelled", "--lang"),
        "Encoder": ENCODER,
        "What it measures": ("--probe", "--size"),
        "Learning": ("--classifier", "--folds"),
    },
    examples=(
        "muse evaluate probe embeddings/aligned/fr-en --text fr=test.fr --text en=test.en",
        "muse evaluate probe SPACE --text fr=test.fr --probe length --size 1000 --encoder idf",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option(
    "--text", multiple=True, metavar="LANG=FILE",
    help="Sentences in a language, one on each line; may be repeated.",
)  # fmt: skip
@click.option(
    "--labelled", multiple=True, type=Path, metavar="FILE",
    help="Sentences of --lang with a class each, in SentEval's columns (tr, va or te; class; sentence); may "
    "be repeated.",
)  # fmt: skip
@language_option("Language of --labelled.")
@click.option(
    "--probe", "probes", multiple=True, type=click.Choice(PROBES),
    help="What to predict; may be repeated.  [default: length, content, order; language, of several]",
)  # fmt: skip
@click.option(
    "--size", default=5_000, show_default=True, type=click.IntRange(50), metavar="N",
    help="Number of sentences.",
)  # fmt: skip
@click.option(
    "--folds", type=click.IntRange(3, 100), metavar="N",
    help="Nested cross-validation, so that every sentence of --text is tested once.  [default: one split]",
)  # fmt: skip
@classifier_option
@encoder_options("mean")
@common_without("device")
@prints_scores
def probe(space: Path, options: dict[str, Any]) -> Report:
    """What a classifier can predict from sentence vectors.

    Length, words and word order of a sentence, its language, its punctuation, and whether articles agree.
    """
    import numpy as np

    from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, folds, require_sklearn
    from muse.sentences.evaluation.probing import evaluate_probe

    require_sklearn()
    _check_texts(options)
    loaded = open_space(space, "cpu", options["quiet"])
    rng = np.random.default_rng(options["seed"])
    tasks = [*_given(loaded, options), *_probes(loaded, options, rng)]
    encoder = open_encoder(loaded, options)
    made = made_by(encoder, options)
    config = ClassifierConfig(options["classifier"], seed=options["seed"])
    fields: dict[str, Any] = {}
    lines = []
    for task, gold, own in tasks:
        labels = np.array(task.labels)
        split: Parts | Labels | None = own
        if own is None and options["folds"]:
            split = folds(labels, options["folds"], rng)
        languages = sorted(set(task.languages), key=task.languages.index)
        parts = (options["classifier"], f"drawn:{options['seed']}", *_folds_named(own, options["folds"]))
        score = evaluate_probe(
            task.name, Labelled(_rows(encoder, task, loaded.progress), labels),
            _signature(loaded, made, (languages[0], languages[-1]), gold, parts),
            config=config, rng=rng, split=split,
        )  # fmt: skip
        name = task.name if len(languages) > 1 else languages[0]
        (fields if len(languages) > 1 else fields.setdefault(task.name, {}))[name] = score.as_json()
        lines.append(str(score))
    return fields, lines


@click.command(
    cls=SectionedCommand,
    sections={"Input": ("--pairs", "--lang"), "Encoder": ("--encoder",)},
    examples=(
        "muse evaluate nli embeddings/aligned/fr-en --pairs nli.txt --lang en --encoder xlm-nli",
        "muse evaluate nli SPACE --pairs nli.fr.txt --lang fr --encoder xlm-nli --json",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option(
    "--pairs", "--data", "pairs", cls=RenamedOption, multiple=True, callback=single, **FILE,
    help="Labelled pairs of sentences, in the columns of SICK or SNLI; those of the test part are used.  "
    "[required]",
)  # fmt: skip
@language_option("Language of the sentences.  [required]")
@encoder_name("mean")
@common_without("device")
@prints_scores
def nli(space: Path, options: dict[str, Any]) -> Report:
    """Accuracy of natural language inference.

    The encoder needs a classifier: train it with muse train --nli.
    """
    require(options, "--pairs FILE", "--lang LANG")
    options = {**options, "fit_files": (), "also": ()}  # what a trained classifier reads is fixed
    import numpy as np

    from muse.evaluation.score import gold_name, space_signature
    from muse.sentences.evaluation.classifier import evaluate_inference
    from muse.sentences.files.nli import read_nli
    from muse.sentences.systems.nli.pair_classes import classify

    text = read_nli(options["pairs"]).part("test")
    loaded = open_space(space, "cpu", options["quiet"])
    language = options["source"]
    loaded.side(language)
    encoder = open_encoder(loaded, options)
    signature = space_signature(
        loaded, language, language, retrieval="classifier", gold=gold_name(options["pairs"]),
        more=made_by(encoder, options),
    )  # fmt: skip
    found = classify(encoder, text.premises, text.hypotheses, language, progress=loaded.progress)
    score = evaluate_inference(
        found, np.array(text.labels), signature, rng=np.random.default_rng(options["seed"])
    )
    return score.as_json(), [str(score)]


def _check_texts(options: dict[str, Any]) -> None:
    if not options["text"]:
        if not options["labelled"]:
            raise click.UsageError(f"{this_task()} needs --text LANG=FILE or --labelled FILE.")
        if idle := given("probes", "folds", "size"):
            raise click.UsageError(f"{idle[0]} needs --text LANG=FILE.")
    if bool(options["labelled"]) != bool(options["source"]):
        raise click.UsageError("--labelled FILE needs --lang LANG, its language, and --lang needs it.")


def _folds_named(own: Parts | None, folds: int | None) -> list[str]:
    return [f"folds:{folds}"] if folds and own is None else []


def _given(space: Space, options: dict[str, Any]) -> Iterator[Task]:
    # The tasks of --labelled, with a name for the file and its own split.
    import numpy as np

    from muse.evaluation.score import gold_name
    from muse.files.sentence_text import PARTS, read_probe_text
    from muse.sentences.evaluation.classifier import Parts
    from muse.sentences.evaluation.probing import Probe

    if options["source"]:
        space.side(options["source"])
    for path in options["labelled"]:
        text = read_probe_text(path)
        classes = sorted(set(text.labels))
        labels = [classes.index(label) for label in text.labels]
        split = Parts(*(np.flatnonzero(np.array(text.parts) == part) for part in PARTS))
        languages = [options["source"]] * len(labels)
        yield Probe(path.stem, text.sentences, languages, labels), gold_name(path), split


def _rows(encoder: SentenceEncoder, task: Probe, progress: Progress) -> Any:
    # The rows (n, d) of the task's sentences, each encoded in its language.
    import numpy as np

    places = np.array(task.languages)
    found = np.empty((len(places), encoder.dimension), np.float32)
    for language in dict.fromkeys(task.languages):
        mine = np.flatnonzero(places == language).tolist()
        chosen = [task.sentences[place] for place in mine]
        found[mine] = encoded(encoder, chosen, language, progress)
    return found


def _probes(space: Space, options: dict[str, Any], rng: np.random.Generator) -> Iterator[Task]:
    # The tasks of --probe, by default all of meaning and form that the texts allow, with a name for the files
    # of each. Of several languages, those without genders are left out of `gender`.
    from muse.evaluation.score import gold_name
    from muse.files.sentence_text import read_sentences
    from muse.sentences.evaluation.probing import ONE_LANGUAGE, STYLE, has_genders, language_probe

    files = by_language(options["text"], "--text")
    for language, _ in files:
        space.side(language)
    texts = {language: read_sentences(path) for language, path in files}
    wanted = options["probes"] or (*ONE_LANGUAGE, *(["language"] if len(texts) > 1 else []))
    if "language" in wanted and len(texts) < 2:
        raise click.UsageError("--probe language needs --text LANG=FILE of two languages or more.")
    names = {language: gold_name(path) for language, path in files}

    for name in dict.fromkeys(wanted):
        if name == "language":
            yield language_probe(texts, options["size"], rng), "+".join(names.values()), None
            continue
        make = {**ONE_LANGUAGE, **STYLE}[name]
        gendered = [language for language in texts if has_genders(language)] if name == "gender" else []
        for language in gendered or texts:
            text = texts[language]
            yield make(text, language, options["size"], rng), names[language], None


def _languages(space: Space, options: dict[str, Any]) -> list[str]:
    # The language to train in and those to test: the given ones, or all that space and folder share.
    from muse.errors import BadFile, Contradiction, Mismatch

    folder, source = options["data"], options["source"] or space.pivot
    if not folder.is_dir():
        raise BadFile(f"{folder}: expected a folder with LANG.txt and {LABELS}, got none; check its name")
    tested = [options["target"]] if options["target"] else [*space.languages]
    for language in (source, *tested):
        space.side(language)
    if options["target"] is None:
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


def _labelled(folder: Path, languages: list[str]) -> tuple[list[list[str]], list[str]]:
    from muse.files.sentence_text import read_aligned

    *texts, labels = read_aligned(*(folder / f"{language}.txt" for language in languages), folder / LABELS)
    return texts, [label.strip() for label in labels]


def _folder_name(folder: Path, languages: list[str]) -> str:
    # The folder's name with the checksum of the files used.
    from muse.files.space_folder import with_checksum

    digest = hashlib.sha256()
    for name in (*(f"{language}.txt" for language in languages), LABELS):
        digest.update((folder / name).read_bytes())
    return with_checksum(folder.resolve().name, digest.hexdigest())


def _signature(
    space: Space,
    made: tuple[str, ...],
    direction: tuple[str, str],
    gold: str,
    parts: tuple[str, ...],
) -> Signature:
    from muse.evaluation.score import space_signature

    return space_signature(space, *direction, retrieval=parts[0], gold=gold, more=(*made, *parts[1:]))
