"""Corpus: the tokens of texts in one file, a line each, as fastText reads them, and a sample of the lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from muse.errors import BadFile
from muse.files.parquet import is_parquet
from muse.files.source import is_packed, is_stream
from muse.files.space_folder import folder_name
from muse.files.text_slices import text_files, text_lines
from muse.orthography import lowercase
from muse.progress import Progress
from muse.text.segmentation import is_spaced
from muse.text.surface import grouped, joined
from muse.text.tokens import Tokeniser

SAMPLE = 2_000  # lines at least, or all
TOGETHER = 1_000  # lines written at once
LETTERS = 0.1  # of all characters but spaces: any text has more
RESERVED = "</s>"  # fastText's mark of the end of a line


@dataclass(frozen=True)
class Corpus:
    """A file of tokens: its lines, its tokens, and lines of the texts at even distances."""

    path: Path
    lines: int
    tokens: int
    sample: tuple[str, ...]


def write_corpus(
    texts: Sequence[Path],
    out: Path,
    *,
    language: str,
    keep_case: bool = False,
    column: str | None = None,
    progress: Progress | None = None,
) -> Corpus:
    """Writes the tokens of all texts to `out`, separated by spaces, in lower case unless `keep_case`.

    A text is a file with sentences or paragraphs on lines, compressed or not, a .tsv (its last column),
    Parquet or JSON lines (their `column`), what else `muse.files.corpora` reads, or a folder of these. It is
    read a few lines at a time. Raise BadFile if there are no words, BadSetting for a `column` that none has.
    """
    files, progress = text_files(texts, column), progress or Progress(quiet=True)
    read = text_lines(files, column, language)
    first = list(islice(read, TOGETHER))
    tokeniser = Tokeniser(language, spaced=is_spaced(first, language))
    sample, distance, written = list[str](), 1, list[str]()
    lines = tokens = letters = 0
    unknown = any(is_stream(file) or is_parquet(file) or is_packed(file) for file in files)
    most = 0 if unknown else sum(file.stat().st_size for file in files)  # letters that there may be
    shown = progress.stage(f"reading text ({language})", most, "letters")
    with shown as tick, out.open("w", encoding="utf-8") as file:
        for line in chain(first, read):
            letters += len(line) + 1
            separate = [token for token in tokeniser.tokens(line) if token != RESERVED]
            # As one token an expression has a vector of its own: hui, which follows aujourd' alone, has none.
            found = [joined(group, "_") for group in grouped(separate, language)]
            if not found:
                continue
            if lines % distance == 0:  # at most twice SAMPLE, whatever the length of the text
                sample.append(line)
            if len(sample) == 2 * SAMPLE:
                sample, distance = sample[::2], 2 * distance
            lines, tokens = lines + 1, tokens + len(found)
            text = " ".join(found)
            written.append(text if keep_case else lowercase(text, language))
            if len(written) == TOGETHER:
                file.write("".join(f"{one}\n" for one in written))
                written.clear()
                if lines == TOGETHER:  # before the whole of a large file is read
                    _check_letters(sample, texts)
                tick(letters)
        file.write("".join(f"{one}\n" for one in written))
    _check_letters(sample, texts)
    return Corpus(out, lines, tokens, tuple(sample))


def write_corpora(
    texts: Mapping[str, Sequence[Path]], folder: Path, progress: Progress | None = None
) -> dict[str, Corpus]:
    """The corpora of texts by language, in a folder."""
    return {
        one: write_corpus(files, folder / f"{folder_name(one)}.tokens", language=one, progress=progress)
        for one, files in texts.items()
    }


def check_text(text: Path, language: str) -> None:
    """Raise BadFile if the first lines are no text; a pipe, which can be read only once, passes."""
    files = text_files([text])
    if not any(map(is_stream, files)):
        _check_letters([*islice(filter(str.strip, text_lines(files, None, language)), TOGETHER)], [text])


def _check_letters(lines: Sequence[str], texts: Sequence[Path]) -> None:
    """Raise BadFile if lines with words are none or no text, as those of a file of vectors."""
    named, text = ", ".join(map(str, texts)), "".join("".join(lines).split())
    if not text:
        raise BadFile(f"{named}: expected text, got no line with a word; check the name")
    if sum(map(str.isalpha, text)) < LETTERS * len(text):
        raise BadFile(f"{named}: expected text, got mostly numbers; give vectors to muse align instead")
