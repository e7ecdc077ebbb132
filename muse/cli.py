"""The command line: parse, call one function, print. Commands import what they need, so help is quick."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from muse.errors import MuseError
from muse.version import __version__

if TYPE_CHECKING:
    from muse.retrieval import Retrieval

FAILED, INTERRUPTED = 3, 130  # exit codes: aligned but judged failed; stopped by Ctrl-C
OF_WORDS = " (not unsupervised)"
INITS = ("auto", "gromov", "adversarial", "similarity", "identical", "dictionary")

F = TypeVar("F", bound=Callable[..., Any])


def main() -> None:
    """Run the command line; every error of the user's making becomes one line and exit code 1."""
    try:
        sys.exit(commands.main(prog_name="muse", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(_fail("interrupted; muse align goes on with --resume", INTERRUPTED))
    except MemoryError:
        sys.exit(_fail("error: there must be memory for the vectors, found too little; lower --max-vocab"))
    except (MuseError, OSError) as error:
        sys.exit(_fail(f"error: {error}"))


def _fail(message: str, code: int = 1) -> int:
    click.echo(" ".join(message.splitlines()), err=True)
    return code


def common(command: F) -> F:
    """The options that every command has."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout."),
        click.option(
            "--seed", default=0, show_default=True, type=click.IntRange(0), help="Of all that is random."
        ),
        click.option(
            "--device", default="auto", show_default=True, type=click.Choice(["auto", "cpu", "cuda"])
        ),
        click.option("--threads", type=click.IntRange(1), help="CPU threads.  [default: all]"),
        click.option("-q", "--quiet", is_flag=True, help="Nothing on stderr but errors."),
        click.option("-v", "--verbose", is_flag=True, help="More on stderr."),
    ):
        command = option(command)

    @wraps(command)
    def run(*, quiet: bool, verbose: bool, threads: int | None, **options: Any) -> Any:
        level = logging.ERROR if quiet else logging.DEBUG if verbose else logging.INFO
        logging.basicConfig(level=level, format="%(message)s", stream=sys.stderr, force=True)
        _set_threads(threads)
        try:
            return command(quiet=quiet, **options)
        except BrokenPipeError:  # caught here, since click would exit with 1
            # The reader has gone (| head): say nothing, also not when Python flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0

    return run  # type: ignore[return-value]


def direction(command: F) -> F:
    """The options that choose two languages of a space and how neighbours are looked up."""
    from_to = (
        click.option("--src", "source", metavar="LANG", help="From.  [default: the space's source]"),
        click.option("--tgt", "target", metavar="LANG", help="To.  [default: the space's target]"),
        click.option(
            "--retrieval", "methods", default=("csls",), multiple=True, show_default=True,
            type=click.Choice(["csls", "nn", "isf"]),
        ),
        click.option("--backend", default="auto", type=click.Choice(["auto", "torch", "faiss"])),
    )  # fmt: skip
    for option in reversed(from_to):
        command = option(command)
    return command


def _set_threads(threads: int | None) -> None:
    if threads is None:
        return
    import faiss
    import torch

    torch.set_num_threads(threads)
    faiss.omp_set_num_threads(threads)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="muse")
def commands() -> None:
    """Aligns the words of two languages without parallel data, and uses what comes of it."""


@commands.command()
@click.option("--src", "source", required=True, metavar="LANG", help="The language to map.")
@click.option(
    "--tgt", "target", required=True, metavar="LANG", help="The language to map into; it stays put."
)
@click.option(
    "--src-emb", type=Path, metavar="FILE", help="Vectors of --src.  [default: looked up in embeddings/]"
)
@click.option(
    "--tgt-emb", type=Path, metavar="FILE", help="Vectors of --tgt.  [default: looked up in embeddings/]"
)
@click.option("--init", default="auto", show_default=True, type=click.Choice(INITS), help="The way in.")
@click.option(
    "--dictionary", type=Path, metavar="FILE", help="Translations to learn from: --init dictionary."
)
@click.option("--no-identical", is_flag=True, help="Keep auto from falling back on identical strings.")
@click.option("--max-vocab", type=click.IntRange(1), metavar="N", help="Read the N most frequent words only.")
@click.option("--lower", is_flag=True, help="Lower all words; the first spelling of a word wins.")
@click.option("--normalise", default="unit,centre,unit", show_default=True, metavar="STEPS")
@click.option(
    "--refine/--no-refine", default=True, show_default=True, help="Procrustes on induced pairs, repeated."
)
@click.option("--reweight", is_flag=True, help="Re-weight at the end, if it pays; moves the target too.")
@click.option("--out", type=Path, metavar="DIR", help="The space.  [default: embeddings/aligned/SRC-TGT]")
@click.option("--resume", is_flag=True, help="Go on where a killed run of the same settings stopped.")
@common
def align(**options: Any) -> int:
    """Learn one space for two languages, from vectors alone.

    Ends with a verdict that needs no dictionary; the exit code is 3 where it is "failed".
    """
    from muse.api import run
    from muse.progress import Progress

    report = run(_request(options), device=options["device"], progress=Progress(quiet=options["quiet"]))
    fields = report.as_json()
    if options["as_json"]:
        click.echo(json.dumps(fields, ensure_ascii=False))
    else:
        click.echo(f"space       {fields['space']}")
        click.echo(
            f"way in      {report.learned.alignment.method}{'' if fields['unsupervised'] else OF_WORDS}"
        )
        click.echo(f"criterion   {fields['criterion']}")
        click.echo(f"verdict     {fields['verdict']} (confidence {fields['confidence']:.2f})")
        click.echo(f"time        {fields['seconds']['total']:.1f} s, {fields['peak_memory_mb'] or 0:.0f} MB")
        click.echo(f"signature   {fields['signature']}")
    return FAILED if fields["verdict"] == "failed" else 0


def _request(options: dict[str, Any]) -> Any:
    from muse.align import AlignConfig
    from muse.api import Request
    from muse.auto import Plan, check_init
    from muse.refine import RefineConfig
    from muse.self_learning import SelfLearningConfig

    init = "dictionary" if options["dictionary"] and options["init"] == "auto" else options["init"]
    check_init(init, options["dictionary"] is not None)
    refined = options["refine"]
    plan = Plan(
        "auto" if init == "dictionary" else init,
        identical=not options["no_identical"],
        self_learning=SelfLearningConfig() if refined and init != "dictionary" else None,
    )
    config = AlignConfig(
        plan,
        steps=tuple(step.strip() for step in options["normalise"].split(",")),
        refine=RefineConfig() if refined else None,
        reweight=options["reweight"],
        seed=options["seed"],
    )
    return Request(
        options["source"], options["target"], options["src_emb"], options["tgt_emb"], options["dictionary"],
        options["out"], options["max_vocab"], options["lower"], options["resume"], config,
    )  # fmt: skip


@commands.command()
@click.argument("space", type=Path)
@click.option(
    "--dictionary", required=True, type=Path, metavar="FILE", help="Gold translations, a pair a line."
)
@direction
@common
def evaluate(
    space: Path, dictionary: Path, methods: tuple[str, ...], as_json: bool, seed: int, **options: Any
) -> None:
    """Word translation accuracy of a SPACE: P@1, P@5, P@10 against a gold dictionary."""
    import numpy as np

    from muse.api import pick_device
    from muse.evaluation.score import gold_name
    from muse.evaluation.words import evaluate_words
    from muse.files import read_lexicon
    from muse.space import load_space

    lexicon = read_lexicon(dictionary)
    loaded = load_space(space, device=pick_device(options["device"]))
    scores = {}
    for retrieval in _retrievals(methods, options["backend"]):
        scores[retrieval.method] = evaluate_words(
            loaded, lexicon, rng=np.random.default_rng(seed),
            source=options["source"], target=options["target"],
            retrieval=retrieval, gold=gold_name(dictionary),
        )  # fmt: skip
    if as_json:
        shown = {name: score.as_json() for name, score in scores.items()}
        click.echo(json.dumps(next(iter(shown.values())) if len(shown) == 1 else shown, ensure_ascii=False))
        return
    for score in scores.values():
        click.echo(f"{score.score}")
        click.echo(
            f"P@5 = {score.p_at_5:.1f}, P@10 = {score.p_at_10:.1f}, P@1 over all {score.queries} queries = "
            f"{score.p_at_1_all:.1f}, coverage {score.covered}/{score.queries}"
        )


@commands.command()
@click.argument("space", type=Path)
@click.option("--out", required=True, type=Path, metavar="FILE", help="The dictionary to write.")
@click.option(
    "--top", default=1, show_default=True, type=click.IntRange(1), help="Translations of each word."
)
@click.option("--mutual", is_flag=True, help="Keep a pair only if it is among the best both ways.")
@click.option("--max-vocab", type=click.IntRange(1), metavar="N", help="Of the N most frequent words only.")
@click.option(
    "--format", "form", default="muse", show_default=True, type=click.Choice(["muse", "tsv", "jsonl"])
)
@direction
@common
def induce(
    space: Path, out: Path, form: str, methods: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Write a bilingual dictionary from a SPACE."""
    from muse.api import pick_device
    from muse.files.lexicon_formats import write_dictionary
    from muse.induce import induce as induced
    from muse.space import load_space

    loaded = load_space(space, device=pick_device(options["device"]))
    lexicon = induced(
        loaded, source=options["source"], target=options["target"],
        top=options["top"], mutual=options["mutual"],
        max_vocab=options["max_vocab"], retrieval=_retrievals(methods, options["backend"])[0],
    )  # fmt: skip
    write_dictionary(out, lexicon, form=form)
    click.echo(
        json.dumps({"pairs": len(lexicon), "out": str(out)}) if as_json else f"{len(lexicon)} pairs in {out}"
    )


@commands.command()
@click.argument("space", type=Path)
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@click.option(
    "--top", default=10, show_default=True, type=click.IntRange(1), help="Translations of each word."
)
@direction
@common
def translate(
    space: Path, words: tuple[str, ...], top: int, methods: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """The best translations of each WORD, with their scores."""
    from muse.api import pick_device
    from muse.space import load_space
    from muse.translate import translate_words

    loaded = load_space(space, device=pick_device(options["device"]))
    found = translate_words(
        loaded, words, source=options["source"], target=options["target"], top=top,
        retrieval=_retrievals(methods, options["backend"])[0],
    )  # fmt: skip
    if as_json:
        click.echo(json.dumps({"translations": found}, ensure_ascii=False))
        return
    for word, candidates in found.items():
        click.echo(f"{word}\t" + "  ".join(f"{target} {score:.3f}" for target, score in candidates))


def _retrievals(methods: tuple[str, ...], backend: str) -> list[Retrieval]:
    from muse.retrieval import Retrieval

    return [Retrieval(method, backend=backend) for method in dict.fromkeys(methods)]
