"""muse embed: train word vectors on text, for alignment."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import common_without
from muse.commands.outputs import echo
from muse.commands.sections import SectionedCommand

if TYPE_CHECKING:
    from muse.embedding.training import EmbedConfig

log = logging.getLogger(__name__)


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--lang", "--column"),
        "Output": ("--out", "--model", "--max-vocab"),
        "Learning": ("--dim", "--epochs", "--min-count", "--keep-case"),
        "Advanced": ("--window", "--negatives", "--ngrams"),
    },
    examples=(
        "muse embed wiki.fr.txt --lang fr --out embeddings/fr.vec",
        "muse embed a.txt b.txt.gz --lang sw --out embeddings/sw.vec --model sw.bin",
    ),
)
@click.argument("texts", nargs=-1, required=True, type=Path, metavar="TEXT...")
@click.option("--lang", required=True, metavar="LANG", help="Language of the text.")
@click.option(
    "--out", required=True, type=Path, metavar="FILE.vec", help="File for the vectors; may end in .vec.gz."
)
@click.option(
    "--model", type=Path, metavar="FILE.bin",
    help="Also save the fastText model, which composes vectors for words that the text lacks.",
)  # fmt: skip
@click.option("--dim", default=300, show_default=True, metavar="N", help="Number of dimensions.")
@click.option(
    "--epochs", type=click.IntRange(1), metavar="N",
    help="Number of passes over the text.  [default: 5 to 15, more if it is short]",
)  # fmt: skip
@click.option("--window", default=5, show_default=True, metavar="N", help="Words of context on either side.")
@click.option("--negatives", default=10, show_default=True, metavar="N", help="Negatives for each example.")
@click.option(
    "--min-count", default=5, show_default=True, metavar="N", help="Leave out words that occur less often."
)
@click.option(
    "--ngrams", default="3-6", show_default=True, metavar="MIN-MAX", help="Lengths of subwords; 0-0: none."
)
@click.option(
    "--max-vocab", default=200_000, show_default=True, metavar="N", help="Write the N most frequent words."
)
@click.option("--keep-case", is_flag=True, help="Keep capitals; by default, words are lowercased.")
@click.option("--column", metavar="NAME", help="Column with the text in Parquet.  [default: the only one]")
@common_without("device")
def embed(texts: tuple[Path, ...], quiet: bool, as_json: bool, **options: Any) -> None:
    """Train word vectors on TEXT with fastText.

    A TEXT has a sentence or a paragraph on each line. It may be compressed, a .tsv with the text in its last
    column, Parquet, or a folder of such files. It is tokenised, and lowercased. Give text of the same kind in
    both languages, and as much as you have: vectors of fewer than 5 million tokens are noisy. With
    --threads 1 the same text gives the same vectors; with more, similar ones.
    """
    from muse.embedding.training import embed
    from muse.progress import Progress

    made = embed(
        texts, options["out"], language=options["lang"], config=_config(options), column=options["column"],
        model=options["model"], progress=Progress(quiet=quiet),
    )  # fmt: skip
    if as_json:
        echo(json.dumps(made.as_json(), ensure_ascii=False))
        return
    echo(f"{made.words:,} words in {made.out}, from {made.tokens:,} tokens, read {_times(made.epochs)}")
    log.info("next: muse align --src %s --tgt LANG --src-emb %s", options["lang"], made.out)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _config(options: dict[str, Any]) -> EmbedConfig:
    import torch

    from muse.embedding.training import EmbedConfig
    from muse.errors import BadSetting

    shortest, _, longest = options["ngrams"].partition("-")
    if not (shortest.isdigit() and longest.isdigit()):
        raise BadSetting(f"--ngrams must be MIN-MAX, such as 3-6, got {options['ngrams']!r}")
    return EmbedConfig(
        dimension=options["dim"], epochs=options["epochs"], window=options["window"],
        negatives=options["negatives"], least_count=options["min_count"],
        ngrams=(int(shortest), int(longest)), most_words=options["max_vocab"],
        keep_case=options["keep_case"], threads=torch.get_num_threads(), seed=options["seed"],
    )  # fmt: skip
