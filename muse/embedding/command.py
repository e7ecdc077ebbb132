"""muse embed: train word vectors on text, for alignment."""

import json
import logging
from dataclasses import replace
from pathlib import Path

from muse.commands.command import command
from muse.commands.outputs import echo
from muse.embedding.config import EmbedConfig
from muse.options import Common, option, part

log = logging.getLogger(__name__)


class EmbedOptions(EmbedConfig, Common):
    texts: tuple[Path, ...] = option(argument=True, metavar="TEXT...")
    lang: str = option(section="Input", metavar="LANG", help="Language of the text.")
    column: str | None = option(
        None,
        section="Input",
        metavar="NAME",
        help="Column with the text in Parquet.  [default: the only one]",
    )
    out: Path = option(
        section="Output", metavar="FILE.vec", written=True, help="File for the vectors; may end in .vec.gz."
    )
    model: Path | None = option(
        None, section="Output", metavar="FILE.bin", written=True,
        help="Also save the fastText model, which composes vectors for words that the text lacks.",
    )  # fmt: skip


@command(
    "muse embed wiki.fr.txt --lang fr --out embeddings/fr.vec",
    "muse embed a.txt b.txt.gz --lang sw --out embeddings/sw.vec --model sw.bin",
)
def embed(options: EmbedOptions) -> None:
    """Train word vectors on TEXT with fastText.

    A TEXT has a sentence or a paragraph on each line. It may be compressed, a .tsv with the text in its last
    column, Parquet, or a folder of such files. It is tokenised, and lowercased. Give text of the same kind in
    both languages, and as much as you have: vectors of fewer than 5 million tokens are noisy. With
    --threads 1 the same text gives the same vectors; with more, similar ones.
    """
    import torch

    from muse.embedding.training import embed
    from muse.progress import Progress

    made = embed(
        options.texts, options.out, language=options.lang,
        config=replace(part(options, EmbedConfig), threads=torch.get_num_threads()), column=options.column,
        model=options.model, progress=Progress(quiet=options.quiet),
    )  # fmt: skip
    if options.as_json:
        echo(json.dumps(made.as_json(), ensure_ascii=False))
        return
    echo(str(made))
    log.info("next: muse align --src %s --tgt LANG --src-emb %s", options.lang, made.out)
