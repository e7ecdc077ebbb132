"""muse align: learn an aligned space, save it, print the verdict.

For languages that have only text (--src-text, --tgt-text), vectors are trained first.
"""

from __future__ import annotations

import json
import logging
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from muse.commands.options import backend, common, dictionary_format, evidence_format, typed
from muse.commands.outputs import echo
from muse.commands.sections import PackageOption, RenamedOption, SectionedCommand
from muse.learn.initialise import INITIALISATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from muse.learn.settings import AlignConfig

FAILED = 3  # the exit code of an alignment judged failed


def text_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that name texts."""
    for option in (
        click.option(
            "--tgt-text", cls=PackageOption, package="embedding", type=Path, metavar="FILE",
            help="Instead of --tgt-emb: text, on which muse embed trains embeddings/LANG.vec first.",
        ),
        click.option(
            "--src-text", cls=PackageOption, package="embedding", type=Path, multiple=True, metavar="FILE",
            help="Instead of --src-emb: texts of --src, in the same order, on which muse embed trains "
            "embeddings/LANG.vec first.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command(
    context_settings={"allow_extra_args": True},
    cls=SectionedCommand,
    sections={
        "Input": (
            *("--src", "--tgt", "--into", "--src-emb", "--tgt-emb", "--src-text", "--tgt-text"),
            *("--max-vocab", "--lower"),
        ),
        "Learning": (
            "--init",
            "--no-identical",
            "--dictionary",
            "--dictionary-format",
            "--via",
            "--via-emb",
            "--joint",
        ),
        "Help": ("--encoder", "--encoder-template", "--encoder-emb", "--evidence", "--evidence-format"),
        "Output": ("--out", "--force", "--resume"),
        "Advanced": (
            *("--recipe", "--normalise", "--refine", "--no-refine", "--reweight", "--answers", "--backend"),
            *("--src-words", "--tgt-words", "--src-captions", "--tgt-captions"),
            *("--src-column", "--tgt-column"),
        ),
    },
    examples=(
        "muse align --src fr --tgt en",
        "muse align --src fr --tgt en --src-emb wiki.fr.vec --tgt-emb wiki.en.vec --out fr-en",
    ),
)
@click.option(
    "--src",
    multiple=True,
    metavar="LANG",
    help="Language to map; repeat it to map several into one space.",
)
@click.option(
    "--tgt",
    metavar="LANG",
    help="Language to map into (the pivot). Its vectors are never rotated.",
)
@click.option(
    "--into",
    type=Path,
    metavar="SPACE",
    help="Instead of --tgt: add --src to this saved space, without changing the languages in it.",
)
@click.option(
    "--src-emb",
    type=Path,
    multiple=True,
    metavar="FILE",
    help="Word vectors of --src, in the same order: a file, or a spaCy pipeline's name, folder or wheel.  "
    "[default: found in embeddings/]",
)
@click.option(
    "--via",
    multiple=True,
    metavar="LANG",
    help="If mapping --src directly fails, try going through this language too. Repeatable.",
)
@click.option(
    "--via-emb",
    type=Path,
    multiple=True,
    metavar="FILE",
    help="Word vectors of --via, in the same order.  [default: found in embeddings/]",
)
@click.option(
    "--tgt-emb", type=Path, metavar="FILE", help="Word vectors of --tgt.  [default: found in embeddings/]"
)
@click.option(
    "--src-words", type=Path, metavar="FILE",
    help="Words of --src, most frequent first, if their vectors are composed of n-grams: a spaCy pipeline "
    "in mode floret, or a fastText .bin.",
)  # fmt: skip
@click.option("--tgt-words", type=Path, metavar="FILE", help="Words of --tgt, if composed likewise.")
@click.option(
    "--src-captions", "--src-texts", "src_captions", cls=RenamedOption, type=Path, metavar="FILE",
    help="Texts to show beside the ids of --src, if these are unlabelled vectors: one a line, in their "
    "order.  [default: the column text or sentence of a .parquet]",
)  # fmt: skip
@click.option(
    "--tgt-captions", "--tgt-texts", "tgt_captions", cls=RenamedOption, type=Path, metavar="FILE",
    help="Texts to show beside the ids of --tgt.",
)  # fmt: skip
@click.option(
    "--src-column", metavar="NAME",
    help="The column, or the named vector, of --src to read, where several have vectors.",
)  # fmt: skip
@click.option("--tgt-column", metavar="NAME", help="The column, or the named vector, of --tgt to read.")
@text_options
@click.option(
    "--init", default="auto", show_default=True, type=click.Choice(INITIALISATIONS),
    help="Initialisation. auto tries gromov, features, identical strings and similarity until one is judged "
    "aligned; with a --dictionary of 2,000 source words or more, none. adversarial is slow and depends on "
    "--seed. clusters is for unlabelled vectors.",
)  # fmt: skip
@click.option(
    "--dictionary",
    type=Path,
    metavar="FILE",
    help="Translations to learn from; --init dictionary skips the initialisations that need none.",
)
@dictionary_format
@click.option(
    "--encoder", cls=PackageOption, package="embedding", type=Path, metavar="FOLDER",
    help="A multilingual encoder that helps: the folder of a sentence-transformers, Hugging Face or "
    "model2vec model.",
)  # fmt: skip
@click.option(
    "--encoder-template", cls=PackageOption, package="embedding", default="{word}", show_default=True,
    metavar="TEXT", help="What the encoder reads for a word.",
)  # fmt: skip
@click.option(
    "--encoder-emb", type=Path, multiple=True, metavar="FILE",
    help="Comparable vectors of the words, made by any encoder: give it twice, for --src and for --tgt.",
)  # fmt: skip
@click.option(
    "--evidence", type=Path, metavar="FILE",
    help="Translations by another program, which may be wrong: source word, target word, score.",
)  # fmt: skip
@evidence_format
@click.option("--no-identical", is_flag=True, help="Do not let auto fall back on identical strings.")
@click.option("--max-vocab", type=click.IntRange(1), metavar="N", help="Read only the N most frequent words.")
@click.option("--lower", is_flag=True, help="Lowercase words; of words that become equal, keep the first.")
@click.option(
    "--recipe", type=click.Choice(["muse"]),
    help="The recipe of Conneau et al. (2018) in place of muse's own: --normalise none "
    "--init adversarial-paper --refine plain --no-reweight --answers csls --backend faiss. An option given "
    "beside it replaces that part. It takes hours on a CPU.",
)  # fmt: skip
@click.option(
    "--normalise", default="unit,centre,unit", show_default=True, metavar="STEPS",
    help="Steps that normalise the vectors, in order: unit (length 1) and centre (mean 0); or none. Words "
    "are compared at unit length in any case.",
)  # fmt: skip
@click.option(
    "--refine", is_flag=False, flag_value="full", default="full", show_default=True,
    type=click.Choice(["full", "plain"]),
    help="Repeat Procrustes on induced word pairs: cross-fitted and weighted, or plain, as in the paper.",
)  # fmt: skip
@click.option("--no-refine", is_flag=True, help="Leave refinement out.")
@click.option(
    "--reweight/--no-reweight",
    default=None,
    help="Weight dimensions by canonical correlation at the end, if that helps (one --src only and no "
    "--into: it changes the target).  [default: reweight if possible]",
)
@click.option(
    "--answers", type=click.Choice(["all", "csls"]), default="all", show_default=True,
    help="Choose translations by all evidence (spelling, frequency, both directions, pairs), or by CSLS "
    "alone, as in the papers.",
)  # fmt: skip
@click.option(
    "--joint",
    is_flag=True,
    help="With several --src: refine all mappings jointly, if no pair of languages gets worse.",
)
@click.option(
    "--out",
    type=Path,
    metavar="FOLDER",
    help="Folder for the space.  [default: embeddings/aligned/SRC-TGT, or --into]",
)
@click.option(
    "--force", is_flag=True,
    help="Replace a space that was made with other settings or inputs; one made with the same is replaced "
    "anyway.",
)  # fmt: skip
@click.option("--resume", is_flag=True, help="Resume an interrupted run with the same settings.")
@backend
@common
def align(**options: Any) -> int:
    """Align word vectors of two or more languages in one space.

    No parallel data is needed. Each alignment gets a verdict, which needs no dictionary either; if one is
    "failed", the exit code is 3. Words such as pivot, gromov or isf are explained by muse --glossary.
    """
    if unexpected := click.get_current_context().args:
        raise click.UsageError(
            f"Languages are options, such as --src fr --tgt en; got {shlex.join(unexpected)} without one."
        )
    if not options["src"]:
        raise click.UsageError("Missing option '--src'.")
    if options["tgt"] is None and options["into"] is None:
        raise click.UsageError("Missing option '--tgt', or '--into SPACE' in its place.")
    from muse.api.run import run
    from muse.api.settings import untrained_of
    from muse.progress import Progress, message
    from muse.run.memory import keep_freed_memory

    config = _settings(options)
    keep_freed_memory()
    quiet = options["quiet"]
    untrained = untrained_of(config, options["src_text"], options["tgt_text"], quiet=quiet)
    report = run(config, device=options["device"], progress=Progress(quiet=quiet), untrained=untrained)
    fields = report.as_json()
    lines = report.lines(methods=logging.getLogger("muse").isEnabledFor(logging.DEBUG))
    shown = json.dumps(fields, ensure_ascii=False) if options["as_json"] else "\n".join(lines)
    echo(shown)
    if not (options["as_json"] or quiet):
        from muse.commands.align_advice import advice  # reports are slow to load

        click.echo(message("\n".join(advice(report, options))), err=True)
    return FAILED if fields["verdict"] == "failed" else 0


def _settings(options: dict[str, Any]) -> AlignConfig:
    from muse.api.settings import KNOWN, settings_of

    # What is left at its default gives way to the recipe.
    source = click.get_current_context().get_parameter_source
    typed_in = {name: value for name, value in options.items() if source(name) is not ParameterSource.DEFAULT}
    if options["no_refine"]:
        if "refine" in typed_in:
            raise click.UsageError("--refine and --no-refine exclude each other; leave one of them out.")
        typed_in["refine"] = False
    known = {name: value for name, value in typed_in.items() if name in KNOWN and value != ()}
    return settings_of(options["src"], options["tgt"], known | {"command": typed()})
