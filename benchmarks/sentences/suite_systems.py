"""The systems that muse trains, in their small presets, and published models, measured by the suite.

    python -m benchmarks.sentences.suite_systems --space SPACE --out FILE.csv --work FOLDER
        [--systems "InferSent, inferences;sp;..."] [--published minilm,use,e5] [--minilm simple,gated]
        [--pairs 40000] [--bgt-epochs 10] [--seeds 0-2] [--tasks MR,CR,...] [--shared ../shared]

What learns from translations learns from the same --pairs of Tatoeba's training text, drawn at random; what
learns from inferences, from SICK's train part, whose dev part chooses its epoch; CMLM and the masked language
model (MLM) of its size, in as many steps, from novels; XLM from plain text and translations of captions and
Tatoeba (inference_text.py). Nothing is chosen by the suite. A trained encoder stays in --work and is used
again. X-CBOW is not here: it leaves English as it is, and so is the mean of words.

The published models are those of any_space_encoders.py, measured where they are installed; --minilm trains
lenses of SICK's inferences over one of them.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from benchmarks.rows import any_space_encoders
from benchmarks.rows.any_space_encoders import Encode
from benchmarks.rows.any_space_rows import encoded
from benchmarks.sentences.senteval import COLUMNS, KEY, ORDER, fill_suite, options, scored, show
from benchmarks.support.kept_rows import append, read_rows
from benchmarks.support.sentence_sets import PIVOT, sample
from benchmarks.support.sick import official
from benchmarks.support.tables import muse
from benchmarks.systems.inference_text import written
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Reader
from muse.sentences.evaluation.suite import SuiteConfig, evaluate_suite
from muse.sentences.files.suite_folder import read_suite
from muse.sentences.systems.backbone import Backbone, Matrices, open_backbone
from muse.sentences.systems.lens import LENS
from muse.sentences.systems.system import Job, TrainingRequest
from muse.space import load_space

# Of each system the options of muse train; PAIRS, SICK and the like stand for its texts (`text`).
_BGT = ("bgt", "PAIRS", "EPOCHS", "ANNEALING")
_DETECTION = ("infersent", "PAIRS", "--set", "objective=td", "--epochs", "4", "--set", "steps=200")
SYSTEMS: Mapping[str, Sequence[str]] = {
    "InferSent, untrained": ("infersent", "SICK", "--epochs", "0"),
    "InferSent, inferences": ("infersent", "SICK"), "InferSent, detection": _DETECTION,
    "lens, inferences": ("lens", "SICK"), "lens, translations": ("lens", "PAIRS"), "sp": ("sp", "PAIRS"),
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
    if name == "NOVELS":
        novels = (f"{one}={data / f'text/novels.{one}.tsv.gz'}" for one in ("en", "fr"))
        return [part for one in novels for part in ("--text", one)]
    found = written(data, asked.work / "captions", asked.pairs)
    plain = (part for one in ("en", "fr") for part in ("--text", f"{one}={found.plain[one]}"))
    return [*plain, "--parallel", found.parallel["fr"]]


TEXTS = ("PAIRS", "SICK", "NOVELS", "CAPTIONS", "EPOCHS", "ANNEALING")


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


class Remembered(Backbone):
    """A backbone that computes the matrix of a sentence once, however many lenses and epochs read it."""

    def __init__(self, backbone: Backbone) -> None:
        self._backbone, self._known = backbone, dict[tuple[int, ...], Tensor]()
        self.name, self.settings, self.longest = backbone.name, backbone.settings, backbone.longest
        self.dimension = backbone.dimension

    def reader(self, language: str) -> Reader:
        """The reader of the backbone."""
        return self._backbone.reader(language)

    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The matrices of sentences, those that are new computed together."""
        keys = [tuple(part.tolist()) for part in torch.tensor_split(batch.ids, batch.offsets[1:-1])]
        if new := [place for place, key in enumerate(keys) if key not in self._known]:
            found = self._backbone.matrices(batch.take(torch.tensor(new)), language)
            for place, rows in zip(new, found.rows, strict=True):
                self._known[keys[place]] = rows[: len(keys[place])].clone()
        return Matrices(
            pad_sequence([self._known[key] for key in keys], batch_first=True), batch.padded().mask
        )


def lens_over(backbone: Backbone, kind: str, asked: argparse.Namespace, seed: int) -> Encode:
    """A lens of SICK's inferences, as `muse train --encoder lens --backbone FOLDER` has it; rows (s, d)."""
    request = TrainingRequest(
        load_space(asked.space), PIVOT, asked.work / "lens", nli=official(asked.shared / "data"),
        settings={"kind": kind}, seed=seed,
    )  # fmt: skip
    preset, runtime = request.chosen_preset(LENS), Runtime(progress=Progress(quiet=True))
    job = Job(request, preset.config, preset.trainer, runtime, backbone, {"system": LENS.name})
    encoder = LENS.train(job).encoder
    return lambda sentences: encoder.encode(sentences, PIVOT).matrix


def lenses_over_minilm(asked: argparse.Namespace) -> dict[str, Callable[[int], Encode]]:
    """What makes each kind of lens that is asked for, of a seed; MiniLM reads every sentence once for all."""
    folder = any_space_encoders.minilm_files(asked.work)
    backbone, kinds = Remembered(open_backbone(load_space(asked.space), folder)), asked.minilm.split(",")
    return {f"lens over MiniLM, {kind}": partial(lens_over, backbone, kind, asked) for kind in kinds}


def fill_here(
    encoders: Mapping[str, Callable[[int], Encode]], seeds: Sequence[int], asked: argparse.Namespace
) -> None:
    """Makes the rows that the file lacks of encoders that run in this process, each made for a seed."""
    wanted = [task for task in asked.tasks.split(",") if task in ORDER]
    for seed, (name, make) in product(seeds, encoders.items()):
        done = {tuple(one[key] for key in KEY) for one in read_rows(asked.out)}
        left = [task for task in wanted if (name, task, str(seed)) not in done]
        if not left:
            continue
        encode, config = make(seed), SuiteConfig(folds=asked.folds, seed=seed)
        for task in left:
            part = read_suite(asked.shared / "data", names=[task])
            scores = evaluate_suite(part, encode, config, Progress(quiet=True))
            found = {score.name: score.as_json() for score in scores}
            append(asked.out, scored(found, name, seed), COLUMNS)


def published(name: str, asked: argparse.Namespace, seed: int) -> Encode:
    """A published model, whatever the seed."""
    return partial(encoded, getattr(any_space_encoders, name)(asked.work))


def main() -> None:
    """Trains what is missing, makes the rows that are missing, and prints the table."""
    asked = options(
        __doc__, systems=(";".join((*SYSTEMS, LANGUAGE_LATENTS)), "with ; between"), pairs=40_000,
        published=("", "with commas: minilm,use,e5"), minilm=("", "lenses over it: simple,gated"),
        bgt_epochs=10, tasks=",".join(ORDER),
    )  # fmt: skip
    if not asked.table:
        asked.work.mkdir(parents=True, exist_ok=True)
        of_seed: dict[str, Callable[[int], str]] = {
            name: partial(trained, name, asked) for name in filter(None, asked.systems.split(";"))
        }
        fill_suite(of_seed, asked.tasks.split(","), asked)
        names = filter(None, asked.published.split(","))
        fill_here({name: partial(published, name, asked) for name in names}, asked.seeds[:1], asked)
        if asked.minilm:
            fill_here(lenses_over_minilm(asked), asked.seeds, asked)
    show(read_rows(asked.out))


if __name__ == "__main__":
    main()
