"""The systems that muse trains, in their small presets, and published models, measured by the suite.

    python -m benchmarks.sentences.suite_systems --space SPACE --out FILE.csv --work FOLDER
        [--systems "InferSent, inferences;sp;..."]
        [--published minilm,use,e5] [--pairs 40000] [--bgt-epochs 10] [--seeds 0-2] [--tasks MR,CR,...]
        [--shared ../shared]

What learns from translations learns from the same --pairs of Tatoeba's training text, drawn at random; what
learns from inferences, from SICK's train part, whose dev part chooses its epoch; CMLM and the masked language
model (MLM) of its size, in as many steps, from novels; XLM from plain text and translations of captions and
Tatoeba (inference_text.py). Nothing is chosen by the suite. A trained encoder stays in --work and is used
again. X-CBOW is not here: it leaves English as it is, and so is the mean of words.

The published models are those of any_space_encoders.py, measured where they are installed.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.rows import any_space_encoders
from benchmarks.rows.any_space_rows import encoded
from benchmarks.sentences.senteval import COLUMNS, KEY, ORDER, fill_suite, options, scored, show
from benchmarks.support.kept_rows import append, read_rows
from benchmarks.support.sentence_sets import sample
from benchmarks.support.sick import official
from benchmarks.support.tables import muse
from benchmarks.systems.inference_text import written
from muse.progress import Progress
from muse.sentences.evaluation.suite import SuiteConfig, evaluate_suite
from muse.sentences.files.suite_folder import read_suite

# Of each system the options of muse train; PAIRS, SICK and the like stand for its texts (`text`).
_BGT = ("bgt", "PAIRS", "EPOCHS", "ANNEALING")
_DETECTION = ("infersent", "PAIRS", "--set", "objective=td", "--epochs", "4", "--set", "steps=200")
SYSTEMS: Mapping[str, Sequence[str]] = {
    "InferSent, untrained": ("infersent", "SICK", "--epochs", "0"),
    "InferSent, inferences": ("infersent", "SICK"), "InferSent, detection": _DETECTION,
    "lens, inferences": ("lens", "SICK"), "lens, translations": ("lens", "PAIRS"), "sp": ("sp", "PAIRS"),
    "lens over MiniLM": ("lens", "SICK", "MINILM"),
    "gated lens over MiniLM": ("lens", "SICK", "MINILM", "--set", "kind=gated"),
    "BGT": _BGT, "BGT without prior": ("bgt", "PAIRS", "EPOCHS", "--set", "prior=0"),
    "BGT without language latents": (*_BGT, "--set", "reconstruction=0", "--set", "translates=sample"),
    "BilingualTrans": ("bgt", "PAIRS", "EPOCHS", "--set", "reconstruction=0"), "CMLM": ("cmlm", "NOVELS"),
    "MLM": ("cmlm", "NOVELS", "--set", "objective=mlm"), "CMLM and inferences": ("cmlm", "NOVELS", "SICK"),
    "XLM": ("xlm", "CAPTIONS"),
    # The networks of the thesis (table 3.6) beside InferSent: a BiLSTM and the maximum of its states.
    **{
        name: ("infersent", "SICK", *(part for one in settings.split() for part in ("--set", one)))
        for name, settings in (
            ("LSTM, last", "network=lstm pooling=last"), ("GRU, last", "network=gru pooling=last"),
            ("BiGRU, last", "network=bigru pooling=last"), ("BiLSTM, mean", "pooling=mean"),
            ("BiLSTM, attention", "pooling=attention"), ("hierarchical convolution", "network=convolution"),
        )
    },
}  # fmt: skip
LANGUAGE_LATENTS = "BGT, language latents"


def text(name: str, asked: argparse.Namespace) -> list[str | Path]:
    """The options that a name in capitals stands for: of a text, or of BGT's training."""
    data = asked.shared / "data"
    if name == "EPOCHS":
        return ["--epochs", str(asked.bgt_epochs)]
    if name == "ANNEALING":  # of fewer steps, the share of the prior that they reach
        return ["--set", f"annealing={250 * asked.bgt_epochs}"]
    if name == "PAIRS":
        return ["--parallel", sample(data / "parallel/tatoeba.en-fr.train.tsv.gz", asked.pairs, asked.work)]
    if name == "SICK":
        return ["--nli", official(data)]
    if name == "MINILM":
        return ["--backbone", any_space_encoders.minilm_files(asked.work)]
    if name == "NOVELS":
        novels = (f"{one}={data / f'text/novels.{one}.tsv.gz'}" for one in ("en", "fr"))
        return [part for one in novels for part in ("--text", one)]
    found = written(data, asked.work / "captions", asked.pairs)
    plain = (part for one in ("en", "fr") for part in ("--text", f"{one}={found.plain[one]}"))
    return [*plain, "--parallel", found.parallel["fr"]]


TEXTS = ("PAIRS", "SICK", "NOVELS", "CAPTIONS", "EPOCHS", "ANNEALING", "MINILM")


def trained(name: str, asked: argparse.Namespace, seed: int) -> str:
    """The folder of an encoder, trained if it is not there."""
    if name == LANGUAGE_LATENTS:
        return f"{trained('BGT', asked, seed)}+language"
    folder: Path = asked.work / f"{name.replace(', ', '-').replace(' ', '-')}.{seed}"
    if not folder.exists():
        system, *rest = SYSTEMS[name]
        words = [part for one in rest for part in (text(one, asked) if one in TEXTS else [one])]
        muse(
            "train", asked.space, "--encoder", system, "--lang", "en" if rest[0] == "SICK" else "fr", *words,
            "--seed", str(seed), "--threads", "1", "--out", folder,
        )  # fmt: skip
    return str(folder)


def fill_published(names: Sequence[str], asked: argparse.Namespace) -> None:
    """Makes the rows of published models that the file lacks, with the first seed alone: nothing is drawn."""
    wanted = [task for task in asked.tasks.split(",") if task in ORDER]
    for name in names:
        done = {tuple(one[key] for key in KEY) for one in read_rows(asked.out)}
        seed = asked.seeds[0]
        left = [task for task in wanted if (name, task, str(seed)) not in done]
        if not left:
            continue
        encode = partial(encoded, getattr(any_space_encoders, name)(asked.work))
        config = SuiteConfig(folds=asked.folds, seed=seed)
        for task in left:
            part = read_suite(asked.shared / "data", names=[task])
            scores = evaluate_suite(part, encode, config, Progress(quiet=True))
            found = {score.name: score.as_json() for score in scores}
            append(asked.out, scored(found, name, seed), COLUMNS)


def main() -> None:
    """Trains what is missing, makes the rows that are missing, and prints the table."""
    asked = options(
        __doc__, systems=(";".join((*SYSTEMS, LANGUAGE_LATENTS)), "with ; between"), pairs=40_000,
        published=("", "with commas: minilm,use,e5"), bgt_epochs=10, tasks=",".join(ORDER),
    )  # fmt: skip
    if not asked.table:
        asked.work.mkdir(parents=True, exist_ok=True)
        of_seed: dict[str, Callable[[int], str]] = {
            name: partial(trained, name, asked) for name in filter(None, asked.systems.split(";"))
        }
        fill_suite(of_seed, asked.tasks.split(","), asked)
        fill_published(list(filter(None, asked.published.split(","))), asked)
    show(read_rows(asked.out))


if __name__ == "__main__":
    main()
