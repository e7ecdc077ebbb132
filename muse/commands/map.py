"""muse map: map words that were not in training into a space, or a file of rows of any length."""

from pathlib import Path

from muse.commands.command import command
from muse.commands.options import open_space
from muse.commands.outputs import Report, echo
from muse.errors import BadSetting, Contradiction, counted
from muse.options import Common, OneSpace, Threads, given_only, option

NEW_WORDS, ROWS = "new words", "unlabelled vectors"


class MapOptions(OneSpace, Common, Threads):
    """The options of `muse map`; the `only` of some says what they are for."""

    lang: str = option(section="Input", metavar="LANG", help="Language of the words or rows.")
    vectors: Path = option(section="Input", help="Vectors of the words, or rows, in any format.")
    words: Path | None = option(
        None, section="Input", only=NEW_WORDS,
        help="Map only these words, one on each line.  [default: all new words]",
    )  # fmt: skip
    column: str | None = option(
        None, section="Input", metavar="NAME", only=ROWS,
        help="Of unlabelled vectors: the column or the named vector to read, where several have vectors.",
    )  # fmt: skip
    id: str | None = option(
        None, section="Input", metavar="NAME", only=ROWS,
        help="Of unlabelled vectors: the column of their ids, where it is not called id, _id, uuid or alike.",
    )  # fmt: skip
    among: str | None = option(
        None, section="What it does", metavar="LANG", only=ROWS,
        help="Map unlabelled vectors among the unchanged ones of this language, to search those where they "
        "are.",
    )  # fmt: skip
    fit: bool = option(
        False, section="What it does", only=NEW_WORDS,
        help="The vectors come from another model: fit them to the space first.",
    )  # fmt: skip
    out: Path | None = option(
        None, section="Output", written=True,
        help="A .vec, .vec.gz or .npz file of new words; or a .npy, .parquet, .jsonl, .csv or .faiss file of "
        "all rows, which are mapped block by block.  [default: text on stdout]",
    )  # fmt: skip
    vectors_only: bool = option(
        False, section="Output", only=ROWS,
        help="Write ids and vectors alone, without the texts and other columns of a store.",
    )  # fmt: skip
    float16: bool = option(False, section="Output", only=ROWS, help="Write all rows in half precision.")


@command(
    "muse map embeddings/aligned/fr-en --lang fr --vectors new.vec --out new-mapped.vec",
    "muse map SPACE --lang fr --vectors wiki.fr.bin --words new.txt",
    name="map",
)
def map_words(options: MapOptions) -> Report | None:
    """Map words that were not in training into a SPACE.

    With a fastText .bin or a spaCy pipeline in mode floret, --words may list any strings, whose vectors are
    composed of n-grams. Unlabelled vectors go to a .npy, .parquet, .jsonl, .csv or .faiss file, however many
    there are, with the ids that they had.
    """
    from muse.files import write_npz, write_vectors_text
    from muse.files.plain_text import read_lines
    from muse.files.row_writers import STORE_ENDINGS, ending_of
    from muse.files.vectors.formats import holds_items
    from muse.files.writing import check_place, check_text_name, vectors_text
    from muse.space.new_words import load_new_words, map_new_words

    out = options.out
    if options.as_json and out is None:
        raise Contradiction("--json needs --out FILE for the vectors, got none; add it or leave --json out")
    if out is not None and ending_of(out) in STORE_ENDINGS:
        return _stream(options, out)
    endings = f"{', '.join(STORE_ENDINGS[:-1])} or {STORE_ENDINGS[-1]}"
    if holds_items(options.vectors):
        raise BadSetting(
            f"{options.vectors}: unlabelled vectors are mapped to a {endings} file; give it as --out"
        )
    for flag in given_only(options, ROWS):
        raise Contradiction(
            f"{flag} is for unlabelled vectors, which are mapped to a {endings} file; leave it out"
        )
    if out is not None:
        if out.suffix != ".npz":
            check_text_name(out, "vectors", ".vec, .vec.gz, .npz, .npy, .parquet, .jsonl, .csv or .faiss")
        check_place(out)
    asked = None if options.words is None else list(read_lines(options.words))
    loaded = open_space(options.space, "cpu", options.quiet)
    new = load_new_words(loaded, options.lang, options.vectors, fit=options.fit)
    mapped = map_new_words(loaded, new, asked)
    if out is None:
        for block in vectors_text(mapped.words, mapped.matrix):
            echo(block, end="")
        return None
    write = write_npz if out.suffix == ".npz" else write_vectors_text
    write(out, mapped.words, mapped.matrix)
    return {"words": len(mapped), "out": str(out)}, [f"{counted(len(mapped), 'word')} in {out}"]


def _stream(options: MapOptions, out: Path) -> Report:
    from muse.files.row_writers import STORE_ENDINGS, check_row_file
    from muse.progress import Progress
    from muse.space.new_words import StoreFiles, map_rows

    for flag in given_only(options, NEW_WORDS):
        raise Contradiction(f"{flag} is for new words, written to a .vec or .npz file; leave it out")
    if options.among == options.lang:
        raise Contradiction(
            f"--among needs another language than --lang, got {options.lang!r} twice; change one"
        )
    files = StoreFiles(
        options.vectors, out, options.column, options.float16, options.among, options.vectors_only, options.id
    )
    check_row_file(out, STORE_ENDINGS, half=files.half)
    loaded = open_space(options.space, "cpu", options.quiet)
    count = map_rows(loaded, options.lang, files, progress=Progress(quiet=options.quiet))
    return {"rows": count, "out": str(out)}, [f"{counted(count, 'row')} in {out}"]
