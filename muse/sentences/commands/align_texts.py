"""muse align-texts: two whole texts aligned sentence by sentence, in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from muse.commands.command import command
from muse.commands.options import choose_direction, open_space
from muse.commands.outputs import Report, echo
from muse.options import Common, Languages, Threads, option
from muse.sentences.commands.encoders import EncoderOptions, encoder_option, open_encoder


class AlignTextsOptions(EncoderOptions, Languages, Threads, Common):
    # Chosen on draws in it and ru (benchmarks/results/sentences/texts.md).
    encoder: str = encoder_option("idf")
    source: Path = option(section="Input", help="Text in --src, a sentence on each line.")
    target: Path = option(section="Input", help="Text in --tgt, a sentence on each line.")
    split: bool = option(
        False, section="Input", help="Cut running text into sentences, within each line of the files."
    )
    paragraphs: bool = option(
        False, section="Input",
        help="The texts have the same paragraphs, with empty lines between; no block crosses one.",
    )  # fmt: skip
    out: Path | None = option(
        None, section="Output", written=True,
        help="A .tsv, .csv, .xlsx, .parquet, .jsonl, .tmx or .ladder (hunalign's).  [default: tsv on stdout]",
    )  # fmt: skip
    form: Literal["tsv", "csv", "xlsx", "parquet", "jsonl", "tmx", "ladder"] | None = option(
        None, section="Output", flags=("--format",), needs="out",
        help="Format of --out.  [default: by its ending]",
    )  # fmt: skip
    min_probability: float = option(
        0.0, section="Output", more_flags=("--min-score",), metavar="P", least=0, most=1,
        help="Leave out blocks with a lower probability.",
    )  # fmt: skip
    largest: int = option(
        3, section="Advanced", metavar="K", least=1, most=8,
        help="Number of sentences that a block may have on each side.",
    )  # fmt: skip


@command(
    "muse align-texts SPACE --src fr --source a.fr --tgt en --target a.en --out a.tsv",
    "muse align-texts SPACE --src fr --source book.fr --tgt en --target book.en --split --out book.tmx",
)
def align_texts(options: AlignTextsOptions) -> Report | None:
    """Align two whole texts, sentence by sentence.

    A block has up to three sentences on each side, and none on one where a sentence has no counterpart. The
    encoder, the lengths, and the names, numbers and signs of both texts decide. Empty lines are skipped.
    """
    from muse.errors import Contradiction, Mismatch
    from muse.sentences.files import text_blocks
    from muse.sentences.text_alignment import align_texts, text_vectors

    form = None if options.out is None else text_blocks.check_text_blocks(options.out, options.form)
    if form == "ladder" and (options.split or options.min_probability):
        other = "--split" if options.split else "--min-probability"
        raise Contradiction(f"a ladder has the lines of the files, and all of them; leave out {other}")
    space = open_space(options.space, "cpu", options.quiet)
    direction, files = choose_direction(space, options.src, options.tgt), (options.source, options.target)
    one, two = texts = tuple(
        text_blocks.read_text(path, language, split=options.split)
        for path, language in zip(files, direction, strict=True)
    )
    counts = [text.paragraphs[-1] + 1 for text in texts]
    if options.paragraphs and counts[0] != counts[1]:
        raise Mismatch(
            f"--paragraphs needs texts with the same paragraphs, got {counts[0]} in {files[0]} and "
            f"{counts[1]} in {files[1]}; put the empty lines at the same places, or leave it out"
        )
    opened = open_encoder(options, *direction, space=space)
    if not options.fit:
        encoder = opened.encoder
        for path, text in zip(files, texts, strict=True):
            try:
                encoder = encoder.fit(text.sentences, text.language)
            except Mismatch as error:
                raise Mismatch(f"{path}: {error}; is it in {text.language}?") from error
        opened = opened._replace(encoder=encoder)
    rows = [
        opened.rows(text.sentences, text.language, space.progress.part(number, 3))
        for number, text in enumerate(texts, 1)
    ]
    vectors, lengths = text_vectors((rows.pop(0), rows.pop()), (one.sentences, two.sentences))
    borders = (one.paragraphs, two.paragraphs) if options.paragraphs else None
    found = align_texts(
        *vectors, lengths, borders, largest=options.largest, progress=space.progress.part(3, 3)
    )
    blocks = [block for block in found if block.probability >= options.min_probability]
    fields: dict[str, Any] = {
        "source_sentences": len(one.sentences), "target_sentences": len(two.sentences),
        "blocks": len(blocks), "pairs": sum(i < k and j < n for (i, k), (j, n), _ in blocks),
        "out": None if options.out is None else str(options.out), "encoder": opened.encoder.name,
    }  # fmt: skip
    if options.out is not None and form is not None:
        text_blocks.write_text_blocks(options.out, form, (one, two), blocks)
        shown = "{pairs} pairs of {source_sentences} and {target_sentences} sentences in {out} | {encoder}"
        return fields, [shown.format(**fields)]
    if options.as_json:
        return {**fields, "aligned": [text_blocks.as_fields((one, two), block) for block in blocks]}, []
    for source, target, probability in text_blocks.table_rows((one, two), blocks):
        echo(f"{source}\t{target}\t{probability:.4f}")
    return None
