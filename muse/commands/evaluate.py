"""muse evaluate: scores of a space, and of sentence encoders on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from muse.commands.encoders import OWN, encoder_options
from muse.commands.options import backend, common, given, languages, search

Report = tuple[dict[str, Any], list[str]]  # the fields of --json, and the lines to print without
# Each task: the module that does it, its function, and the options that it cannot do without.
TASKS = {
    "words": ("evaluate_words", "words", ("dictionary",)),
    "similarity": ("evaluate_words", "similarity", ("pairs",)),
    "sentences": ("evaluate_sentences", "sentences", ()),
    "sts": ("evaluate_sentences", "sts", ("pairs", "src")),
    "relatedness": ("evaluate_sentences", "relatedness", ("pairs", "src", "train-pairs")),
    "rows": ("evaluate_rows", "rows", ()),
    "nli": ("evaluate_inference", "inference", ("pairs", "src")),
    "transfer": ("evaluate_classifiers", "transfer", ("data",)),
    "probe": ("evaluate_classifiers", "probe", ()),
}
# The options that only some tasks use, and which tasks these are.
USED_BY = {
    ("dictionary", "against", "hubness"): ("words",),
    ("backend",): ("words", "rows"),
    ("search",): ("words",),
    ("pairs",): ("similarity", "sts", "relatedness", "nli", "rows"),
    ("train_pairs",): ("relatedness",),
    ("methods",): ("words", "sentences", "rows"),
    ("source_file", "target_file"): ("sentences", "rows"),
    ("parallel", "both_ways", "neighbours"): ("sentences",),
    ("target_pairs",): ("sts",),
    ("data",): ("transfer", "nli"),
    ("runs",): ("transfer",),
    ("lang",): ("nli",),
    ("text", "labelled", "probes", "size", "folds"): ("probe",),
    ("classifier",): ("transfer", "probe"),
    ("also",): ("sentences", "sts", "relatedness", "transfer", "probe"),
    ("encoder",): ("sentences", "sts", "relatedness", "nli", "transfer", "probe"),
    ("fit_files",): ("sentences", "sts", "relatedness", "transfer", "probe"),
    ("target",): ("words", "similarity", "sentences", "sts", "rows", "transfer"),
}
PROBES = ["length", "content", "order", "language", "first-sign", "signs", "gender"]
FILE: dict[str, Any] = {"type": Path, "metavar": "FILE"}


@click.command()
@click.argument("space", type=Path)
@click.option(
    "--task", default="words", show_default=True, type=click.Choice(list(TASKS)),
    help="What to evaluate; see above.",
)  # fmt: skip
@click.option("--dictionary", **FILE, help="words: gold translations, a pair on each line.")
@click.option(
    "--pairs", **FILE,
    help="similarity: two words and a rating, separated by tabs. sts, relatedness: two sentences and a "
    "rating, as .csv or .tsv. nli: labelled pairs of sentences, in the columns of SICK or SNLI; those of the "
    "test part. rows: two ids, separated by a tab.",
)  # fmt: skip
@click.option(
    "--against",
    type=Path,
    metavar="SPACE",
    help="words: another space; test whether SPACE is significantly better or worse.",
)
@click.option("--hubness", is_flag=True, help="words: also measure hubness, with nn and with csls.")
@click.option(
    "--source",
    "source_file",
    **FILE,
    help="sentences: a sentence on each line. rows: new rows of --src, which are mapped.",
)
@click.option(
    "--target",
    "target_file",
    **FILE,
    help="sentences: the translations of --source, line by line. rows: new rows of --tgt.",
)
@click.option(
    "--parallel", **FILE,
    help="sentences: instead of --source and --target, one file with pivot<TAB>sentence on each line.",
)  # fmt: skip
@click.option("--both-ways", is_flag=True, help="sentences: also search from --tgt to --src.")
@click.option("--train-pairs", **FILE, help="relatedness: rated pairs to learn from, in the same columns.")
@click.option("--target-pairs", **FILE, help="sts: the same pairs in --tgt, to compare across languages.")
@click.option(
    "--data", type=Path, metavar="PATH",
    help="nli: the same as --pairs. transfer: a folder with LANG.txt for each language, a sentence on each "
    "line, and labels.txt. --fit task learns from these sentences, without their labels.",
)  # fmt: skip
@click.option(
    "--runs",
    default=20,
    show_default=True,
    type=click.IntRange(2, 1_000),
    metavar="N",
    help="transfer: number of random subsamples.",
)
@click.option(
    "--text", multiple=True, metavar="LANG=FILE",
    help="probe: sentences in a language, one on each line; may be repeated.",
)  # fmt: skip
@click.option(
    "--labelled", multiple=True, type=Path, metavar="FILE",
    help="probe: sentences of --src with a class each, in SentEval's columns (tr, va or te; class; "
    "sentence); may be repeated.",
)  # fmt: skip
@click.option(
    "--probe", "probes", multiple=True, type=click.Choice(PROBES),
    help="probe: what to predict; may be repeated.  [default: length, content, order; language, of several]",
)  # fmt: skip
@click.option(
    "--size", default=5_000, show_default=True, type=click.IntRange(50), metavar="N",
    help="probe: number of sentences.",
)  # fmt: skip
@click.option(
    "--folds", type=click.IntRange(3, 100), metavar="N",
    help="probe: nested cross-validation, so that every sentence of --text is tested once.  "
    "[default: one split]",
)  # fmt: skip
@click.option(
    "--classifier", default="logistic", show_default=True, type=click.Choice(["logistic", "mlp"]),
    help="transfer, probe: logistic regression or a multi-layer perceptron.",
)  # fmt: skip
@click.option(
    "--retrieval", "methods", default=("csls",), multiple=True, show_default=True,
    type=click.Choice(["csls", "nn", "isf", "margin"]),
    help="words, sentences, rows: search by CSLS, nearest neighbour, inverted softmax or, for sentences "
    "only, margin; may be repeated.",
)  # fmt: skip
@click.option(
    "--neighbours", type=click.IntRange(1), metavar="K",
    help="sentences: neighbourhood size.  [default: 10 for csls, 4 for margin]",
)  # fmt: skip
@click.option("--lang", metavar="LANG", help="nli: the same as --src, as in muse train.")
@languages
@backend
@search
@encoder_options("mean")  # the baseline of every table
@common
def evaluate(space: Path, task: str, as_json: bool, **options: Any) -> None:
    """Evaluate a SPACE, or an encoder on it, with gold data.

    \b
    words        P@1, P@5, P@10, MRR and MAP of word translation
    similarity   correlation of cosines with rated word pairs
    sentences    P@1, P@5 and P@10 of sentence retrieval
    sts          correlation of cosines with rated sentence pairs
    relatedness  correlation of a regression learned from rated sentence pairs
    rows         P@1, mean rank and mean cosine of unlabelled vectors
    nli          accuracy of an encoder trained with --nli
    transfer     a classifier trained in --src, tested in other languages
    probe        what a classifier can predict from sentence vectors
    """  # noqa: D301 - click reads \b as the character
    module, function, needed = TASKS[task]
    if task == "nli":
        for name, other in (("pairs", "data"), ("source", "lang")):
            if options[name] and options[other]:
                raise click.UsageError(f"{' and '.join(given(name, other))} are the same; leave one.")
            options[name] = options[name] or options[other]
    for name in needed:
        if not options["source" if name == "src" else name.replace("-", "_")]:
            what = {"src": "LANG", "data": "FOLDER"}.get(name, "FILE")
            raise click.UsageError(f"--task {task} needs --{name} {what}.")
    _check_options(task, options)
    run: Callable[[Path, dict[str, Any]], Report] = getattr(
        import_module(f"muse.commands.{module}"), function
    )
    fields, lines = run(space, options)
    click.echo(json.dumps(fields, ensure_ascii=False) if as_json else "\n".join(lines))


def _either(names: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _check_options(task: str, options: dict[str, Any]) -> None:
    """Raise UsageError if an option has no effect on the task."""
    for names, tasks in USED_BY.items():
        if task not in tasks and (idle := given(*names)):
            raise click.UsageError(f"{idle[0]} is for --task {_either(tasks)}, not for {task}.")
    if given("neighbours") and not {"csls", "margin"} & set(options["methods"]):
        methods = " and ".join(options["methods"])
        raise click.UsageError(f"--neighbours is for --retrieval csls or margin, not for {methods}.")
    if OWN in options["fit_files"] and task != "transfer":
        raise click.UsageError(f"--fit {OWN} is for --task transfer; --fit needs LANG=FILE.")
